"""Waiting for other lanes, warps and blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlab.sass.form import U32, Form
from softlab.sass.lanes import Lanes, Value, first_lane
from softlab.sass.machine import Machine
from softlab.sass.registry import Action, effect, end


@end("WARPSYNC")
def _warp_sync(form: Form, machine: Machine) -> Action:
    form.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    pc = form.instruction.index
    everyone = U32(0xFFFFFFFF)
    mask = (lambda r: everyone) if form.has("ALL") else form.bits(0)
    guard = form.guard
    apart = form.has("EXCLUSIVE") or form.has("COLLECTIVE")  # what is behind it has one mask

    def step(r: list) -> None:
        lanes, others = (machine.now, None) if guard is None else machine.part(guard(r))
        if others is not None:
            machine.push(pc + 1, others)
        if lanes is None:
            return
        named = mask(r)
        if others is not None:
            rows = np.searchsorted(machine.now.warps, lanes.warps)
            named = lanes.collect(np.ascontiguousarray(machine.now.spread(named)[rows]))
        machine.warp_sync.arrive(pc, lanes, named, apart=apart)

    return step


@end("ENDCOLLECTIVE")
def _end_collective(form: Form, machine: Machine) -> Action:
    behind = form.instruction.index + 1
    return lambda r: machine.warp_sync.end_collective(behind, machine.now)


@end("BAR")
def _barrier(form: Form, machine: Machine) -> Action:
    pc = form.instruction.index
    form.only("SYNC", "DEFER_BLOCKING", "ARV", "RED", "POPC", "AND", "OR")
    number = form.bits(0)
    threads, packed = _threads(form)
    vote = form.predicate(len(form.operands) - 1) if form.has("RED") else None
    guard, waits, named = form.guard, not form.has("ARV"), form.operands[0].kind != "integer"

    def step(r: list) -> None:
        lanes, others = (machine.now, None) if guard is None else machine.part(guard(r))
        if others is not None:
            machine.push(pc + 1, others)
        if named:
            there = np.isin(machine.now.warps, [] if lanes is None else lanes.warps)
            value = machine.now.spread(number(r)).astype(np.int64)
            value = value[np.arange(len(value)), first_lane(machine.now.masks)]
            machine.log.barrier(machine.now.warps, np.where(there, value, -1))
        if lanes is None:
            return
        yes = None
        if vote is not None:
            yes = machine.now.truth(vote(r))
            if lanes is not machine.now:
                yes = yes[np.searchsorted(machine.now.warps, lanes.warps)]
            yes = yes & lanes.masks
        value = number(r)
        if not np.ndim(value) and not packed:
            machine.barriers.arrive(int(value) & 15, pc, lanes, threads=threads, wait=waits, vote=yes)
            return
        for one, here in _by_number(machine, lanes, value):
            arriving = lanes if here.all() else machine.lanes(lanes.warps[here], lanes.masks[here])
            count = one >> 16 & 0xFFF if packed else threads
            voted = None if yes is None else yes[here]
            machine.barriers.arrive(one & 15, pc, arriving, threads=count, wait=waits, vote=voted)

    return step


def _by_number(machine: Machine, lanes: Lanes, value: Value) -> Iterator[tuple[int, np.ndarray]]:
    """The numbers that ``lanes``, some of those that execute, name by a register's value, and of each its warps: bool,
    one per warp."""
    value = machine.now.spread(value).astype(np.int64)
    first = value[np.arange(len(value)), first_lane(machine.now.masks)]
    first = first[np.searchsorted(machine.now.warps, lanes.warps)]
    for one in np.unique(first).tolist():
        yield one, first == one


def _threads(form: Form) -> tuple[int, bool]:
    """(threads that complete the barrier, 0 for all; whether a register has them beside the barrier's number)."""
    operands = form.operands
    if len(operands) < 2 or operands[1].kind == "P":
        return 0, False
    if operands[1].kind == "integer":
        return operands[1].value, False
    if operands[1].kind == "R" and operands[1].index == operands[0].index:
        return 0, True
    raise NotImplementedError("a barrier whose number of threads is in a register of its own")


@effect("B2R")
def _barrier_result(form: Form, machine: Machine) -> Action:
    """What BAR.RED of the last barrier gave: the number of lanes, or whether all or any said yes."""
    if not form.has("RESULT"):
        raise NotImplementedError("the state of a barrier")
    destination = form.destination(0)
    predicate = form.destination(1) if len(form.operands) > 1 else None
    if form.guard is not None:
        raise NotImplementedError("B2R with a guard")
    operation = _operation_before(form, machine)

    def step(r: list) -> None:
        now = machine.now
        count, everyone = (part.copy() for part in machine.barriers.result)
        r[destination] = now.take(count.astype(np.uint32)[:, None])
        if predicate is not None:
            r[predicate] = now.take((everyone if operation == "AND" else count != 0)[:, None])

    return step


def _operation_before(form: Form, machine: Machine) -> str:
    """The operation of the BAR.RED in front of it."""
    for k in range(form.instruction.index - 1, -1, -1):
        found = machine.code.instructions[k]
        if found.opcode == "BAR" and "RED" in found.modifiers:
            return next(m for m in found.modifiers if m in ("POPC", "AND", "OR"))
    raise NotImplementedError("no BAR.RED in front of it")


@effect("UCGABAR_ARV")
def _arrive_in_cluster(form: Form, machine: Machine) -> Action:
    return lambda r: machine.cluster.arrive(machine.now)


@end("UCGABAR_WAIT")
def _wait_in_cluster(form: Form, machine: Machine) -> Action:
    pc = form.instruction.index
    return lambda r: machine.cluster.wait(pc, machine.now)
