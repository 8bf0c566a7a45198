"""Branches, calls, and where paths part, join and end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from softlab.sass.calls import check_targets, is_of_driver
from softlab.sass.decode import INSTRUCTION_BYTES, Code, Instruction
from softlab.sass.faults import machine_fault
from softlab.sass.form import S64, U64, Form, Reader
from softlab.sass.lanes import any_true, equal, first_lane, pack, unpack
from softlab.sass.machine import Machine
from softlab.sass.registry import Action, effect, end, pure


def _target(form: Form) -> int:
    if len(form.instruction.targets) != 1:
        raise NotImplementedError("a branch without one known target")
    return form.instruction.targets[0]


@end("BRA", "JMP")
def _branch(form: Form, machine: Machine) -> Action:
    target, behind = _target(form), form.instruction.index + 1
    if form.has("DIV"):
        return _branch_if_divergent(form, machine, target, behind)
    form.only("U", "UNI", "CONV", "ANY")
    taken = form.condition()
    if form.has("ANY"):  # all go where one goes

        def any_lane(r: list) -> None:
            now = machine.now
            machine.branch(now.collect((now.truth(taken(r)) != 0)[:, None]), target, behind)

        return any_lane
    if form.guard is None or form.predicates():
        return lambda r: machine.branch(taken(r), target, behind)

    def held(r: list) -> None:
        assert machine.held is not None
        machine.branch_of(machine.held, target, behind)

    return held


def _branch_if_divergent(form: Form, machine: Machine, target: int, behind: int) -> Action:
    """BRA.DIV: the whole warp, where lanes that the mask names are not on this path with the guard.

    The guard names lanes that may go on together. REDUX has one mask: of lanes with several, those with another mask
    than the first lane do not meet it (:func:`softlab.sass.opcodes.moves._to_uniform`), and all take the branch.
    """
    mask = next(form.bits(k) for k, o in enumerate(form.operands) if o.kind in ("R", "UR"))
    guard = form.guard

    def step(r: list) -> None:
        now = machine.now
        wanted = now.members(mask(r)).max(axis=1) & machine.live[now.warps]
        here = now.masks if guard is None else now.truth(guard(r))
        apart = ((wanted & ~here) != 0)[:, None]
        machine.branch(now.collect(apart), target, behind)

    return step


def _to_addresses(
    form: Form, machine: Machine, address: Reader, base: int,
    check: Callable[[Code, np.ndarray, Instruction], None] | None = None,
) -> Action:  # fmt: skip
    """The lanes go to the instruction at their address, in bytes from ``base`` on, if ``check`` lets them.

    Where lanes of a warp have several, the instruction is issued again for each: those with the address of the lowest
    lane go, and the others come back to it. The counts of a jump through a table on an H200 say so.
    """
    guard, here, behind = form.guard, form.instruction.index, form.instruction.index + 1

    def step(r: list) -> None:
        value = address(r).view(S64)
        targets = base + value // INSTRUCTION_BYTES
        now = machine.now
        if guard is not None:
            condition = guard(r)
            lanes, others = machine.part(condition)
            if others is not None:
                machine.push(behind, others)
            if lanes is None:
                return
        if check is not None:
            wanted = now.masks if guard is None else now.truth(guard(r))
            check(machine.code, now.spread(targets)[unpack(wanted)], form.instruction)
        if not isinstance(targets, np.ndarray) and guard is None:
            machine.push(int(targets), now)
            return
        addresses = now.spread(targets)
        masks = now.masks if guard is None else now.truth(guard(r))
        some = masks != 0
        warps, masks, addresses = now.warps[some], masks[some], addresses[some]
        first = addresses[np.arange(len(warps)), first_lane(masks)]
        going = pack(addresses == first[:, None]) & masks
        for target in np.unique(first):
            machine.push(int(target), machine.lanes(warps[first == target], going[first == target]))
        if not equal(going, masks):
            machine.push(here, machine.lanes(warps, masks & ~going))

    return step


@end("BRX", "BRXU")
def _branch_by_register(form: Form, machine: Machine) -> Action:
    """To its own end + an offset + a register pair."""
    if form.operands[0].kind not in ("R", "UR"):
        raise NotImplementedError("BRX with a predicate")
    register = form.u64(0)
    offset = U64((form.constant(1) or 0) & 0xFFFFFFFFFFFFFFFF)
    return _to_addresses(form, machine, lambda r: register(r) + offset, form.instruction.index + 1)


@effect("BPT")
def _trap(form: Form, machine: Machine) -> Action:
    form.only("TRAP")
    taken = form.condition()

    def step(r: list) -> None:
        now = machine.now
        masks = now.truth(taken(r))
        if any_true(masks):
            where = machine.setup.first_place(now.warps, masks)
            raise machine_fault("trap", "the thread executes a trap", form.instruction, where)

    return step


@end("CALL")
def _call(form: Form, machine: Machine) -> Action:
    if is_of_driver(form.instruction):
        return _call_driver(form, machine)
    label = next((o.name for o in form.operands if o.name in machine.code.starts), None)
    if form.operands[0].kind in ("R", "UR"):
        if not form.has("REL") or label is None:
            raise NotImplementedError("a call by address of this form")
        return _to_addresses(form, machine, form.u64(0), machine.code.starts[label], check_targets)
    target = _target(form) if label is None else machine.code.starts[label]
    taken, behind = form.condition(), form.instruction.index + 1
    return lambda r: machine.branch(taken(r), target, behind)


def _call_driver(form: Form, machine: Machine) -> Action:
    """What the function gives is there at once."""
    argument, put = form.argument_and_result()
    address, taken, behind = form.u64(0), form.condition(), form.instruction.index + 1

    def step(r: list) -> None:
        now = machine.now
        active = unpack(now.truth(taken(r)))
        old = now.spread(argument(r))
        result, called = np.array(old), now.spread(address(r))
        for one in np.unique(called[active]).tolist():
            here = active & (called == one)
            where = partial(machine.setup.first_place, now.warps, pack(here))
            result[here] = machine.setup.driver.call(int(one), old[here], form.instruction, where)
        put(r, now.collect(result))
        machine.push(behind, now)

    return step


@pure("LEPC")
def _address_of_code(form: Form) -> Action:
    """The address of an instruction: where a function of the driver returns to."""
    put, target = form.destination64(0), U64(_target(form) * INSTRUCTION_BYTES)
    return lambda r: put(r, target)


@end("RET")
def _return(form: Form, machine: Machine) -> Action:
    """To an address in the function that it names."""
    label = next((o.name for o in form.operands if o.kind == "label"), "")
    if not form.has("REL") or label not in machine.code.starts:
        raise NotImplementedError("a return to an absolute address")
    return _to_addresses(form, machine, form.u64(0), machine.code.starts[label])


@end("EXIT")
def _exit(form: Form, machine: Machine) -> Action:
    ends, behind = form.condition(), form.instruction.index + 1

    def step(r: list) -> None:
        gone, others = machine.part(ends(r))
        if others is not None:
            machine.push(behind, others)
        if gone is not None:
            machine.finish(gone)

    return step


def _barrier(form: Form) -> int:
    operand = next((o for o in form.operands if o.kind == "B"), None)
    if operand is None:
        raise NotImplementedError("a convergence barrier in a register")
    return operand.index


@effect("BSSY")
def _begin(form: Form, machine: Machine) -> Action:
    barrier = _barrier(form)
    if form.guard is not None:
        raise NotImplementedError("BSSY with a guard")
    return lambda r: machine.convergence.begin(barrier, machine.now)


@end("BSYNC")
def _meet(form: Form, machine: Machine) -> Action:
    barrier, pc, arrives = _barrier(form), form.instruction.index, form.condition()

    def step(r: list) -> None:
        lanes, others = machine.part(arrives(r))
        if others is not None:
            machine.push(pc + 1, others)
        if lanes is not None:
            machine.convergence.arrive(barrier, pc, lanes)

    return step


@effect("BREAK")
def _leave(form: Form, machine: Machine) -> Action:
    barrier, leaves = _barrier(form), form.condition()

    def step(r: list) -> None:
        lanes, _ = machine.part(leaves(r))
        if lanes is not None:
            machine.convergence.leave(barrier, lanes)

    return step


@effect("BMOV")
def _move_barrier(form: Form, machine: Machine) -> Action:
    """A convergence barrier to a register or back: code that calls a function saves it so."""
    to, source = form.operands[0], form.operands[1]
    if form.guard is not None:
        raise NotImplementedError("BMOV with a guard")
    if source.kind == "B" and to.kind == "R":
        destination, barrier = form.destination(0), source.index

        def save(r: list) -> None:
            r[destination] = machine.convergence.read(barrier, machine.now)

        return save
    if to.kind == "B" and source.kind == "R":
        number, value = to.index, form.u32(1)
        return lambda r: machine.convergence.write(number, machine.now, value(r))
    raise NotImplementedError("BMOV of these registers")
