"""Barriers in shared memory (mbarrier), and stores to another block of the cluster that count on one.

The 64 bits of an mbarrier, as the code that makes one fills them and reads them: bits 1 to 20 are 2**20 less the number
of arrivals of a phase; bits 43 to 62 count up from there, so that they overflow with the last one; bit 63 is the phase.
Where the bytes that are still to come are kept is not known: here it is bits 21 to 42.
"""

from __future__ import annotations

import re

import numpy as np

from softlab.sass.access import RANK_SHIFT, Access
from softlab.sass.form import SINK, U32, Form, split
from softlab.sass.machine import Machine
from softlab.sass.memory import ITEMS
from softlab.sass.registry import Action, effect, gate
from softlab.sass.streams import Kind, Space

_COUNT_BITS, _BYTES_BITS = 20, 22
_RELOAD, _BYTES, _COUNT, _PHASE = 1, 21, 43, 63
_ARRIVALS = (1 << _COUNT_BITS) - 1
_MOST_BYTES = (1 << _BYTES_BITS) - 1
_OFFSET = (1 << RANK_SHIFT) - 1
_FORM = re.compile(r"A([01R])T([01RX])")


def update(
    machine: Machine, row: int, offset: int, arrivals: int, expected: int, arrived_bytes: int, dropped: int = 0
) -> int:
    """Count on the mbarrier of a block; its value before. A phase ends with its last arrival and its last byte.

    ``dropped``: arrivals that the next phases do not wait for.
    """
    machine.changes += 1
    memory = machine.shared.view(8)
    index = machine.shared.item_index(np.array([row]), np.array([offset]), 8)[0]
    before = int(memory[index])
    count, reload = before >> _COUNT & _ARRIVALS, before >> _RELOAD & _ARRIVALS
    reload = reload + dropped & _ARRIVALS
    left = (before >> _BYTES & _MOST_BYTES) + expected - arrived_bytes & _MOST_BYTES
    phase = before >> _PHASE
    # All have arrived and bytes are still to come: the count stands at 0 until they have.
    waits_for_bytes = count == 0
    count += arrivals
    if (count > _ARRIVALS or waits_for_bytes) and left == 0:
        count, phase = reload, phase ^ 1
    memory[index] = phase << _PHASE | reload << _RELOAD | left << _BYTES | (count & _ARRIVALS) << _COUNT | before & 1
    if phase != before >> _PHASE:
        machine.end_phase(row)
    return before


@effect("SYNCS")
def _synchronise(form: Form, machine: Machine) -> Action:
    if form.has("EXCH"):
        return _exchange(form, machine)
    if form.has("ARRIVE"):
        return _arrive(form, machine)
    raise NotImplementedError("this operation on an mbarrier")


def _exchange(form: Form, machine: Machine) -> Action:
    """A warp stores 64 bits: how an mbarrier is made, and how it is ended."""
    access = Access(form, machine, 1, Kind.ATOMIC, 8)
    access.space = Space.SHARED
    value = form.u64(2)

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        # One store per warp, though all its lanes execute it.
        for part in access.parts(r, active):
            items = machine.now.spread(value(r).astype(np.uint64))
            access.store(part, items[part.active])

    if form.destination(0) != SINK:
        raise NotImplementedError("an exchange with a result")
    return step


def _arrive(form: Form, machine: Machine) -> Action:
    # RED: without a result. OPTOUT: the next phases do not wait for these arrivals. TX: bytes that have come.
    form.only("ARRIVE", "TRANS64", "RED", "OPTOUT", *(m for m in form.modifiers if _FORM.fullmatch(m)))
    found = next((f for m in form.modifiers if (f := _FORM.fullmatch(m))), None)
    arrivals, expects = (found[1], found[2]) if found else ("1", "R")
    access = Access(form, machine, 1, Kind.ATOMIC, 8)
    access.space, access.names_block = Space.SHARED, True
    operand, drops = form.u32(2), form.has("OPTOUT")
    put = None if form.destination(0) == SINK else form.destination64(0)
    if put is not None:
        low = form.destination(0)
        form.reads.update((low, low + 1))

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        number = machine.now.spread(operand(r))
        before = np.zeros(active.shape, np.uint64)
        for part in access.parts(r, active):
            assert part.row is not None
            for k, (at, lane) in enumerate(zip(*np.nonzero(part.active), strict=True)):
                given = int(number[at, lane])
                count = given if arrivals == "R" else int(arrivals)
                before[at, lane] = update(
                    machine,
                    int(part.row[k]),
                    int(part.address[k]),
                    count,
                    0 if expects == "X" else given if expects == "R" else int(expects),
                    given if expects == "X" else 0,
                    count if drops else 0,
                )
        if put is not None:
            halves = split(before)
            for register, half in zip((low, low + 1), halves, strict=True):
                r[register] = machine.now.collect(np.where(active, half, machine.now.spread(r[register])))

    return step


@effect("ARRIVES")
def _arrive_behind_copies(form: Form, machine: Machine) -> Action:
    """ARRIVES.LDGSTSBAR: once the copies of each lane have come, which is at once here. TRANSCNT: as a byte."""
    form.only("LDGSTSBAR", "64", "TRANSCNT", "ARVCNT")
    access = Access(form, machine, 0, Kind.ATOMIC, 8)
    access.space = Space.SHARED
    counts_bytes = form.has("TRANSCNT")

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        for part in access.parts(r, active):
            assert part.row is not None
            for row, offset in zip(part.row, part.address, strict=True):
                update(machine, int(row), int(offset), not counts_bytes, 0, counts_bytes)

    return step


@gate("SYNCS")
def _phase(form: Form, machine: Machine) -> Action | None:
    """PHASECHK: whether the phase whose parity bit 31 of the operand has is over.

    With TRYWAIT hardware lets the warp sleep until it is. So it is executed once, when the phase is over.
    """
    if not form.has("PHASECHK"):
        return None
    form.only("PHASECHK", "TRANS64", "TRYWAIT")
    access = Access(form, machine, 1, Kind.LOAD, 8)
    access.space = Space.SHARED
    destination, parity = form.destination(0), form.u32(2)
    waits = form.has("TRYWAIT")
    form.reads.add(destination)

    def over(r: list) -> np.ndarray:
        now = machine.now
        active = access.active(r)
        ready = np.ones((now.count, 32), bool)
        if active is None:
            return ready
        for part in access.parts(r, active):
            ready[part.active] = (access.load(part) >> np.uint64(_PHASE)).astype(np.uint32) != (
                now.spread(parity(r))[part.active] >> U32(31)
            )
        return ready

    def step(r: list) -> None:
        ready = over(r)
        active = access.active(r)
        if active is not None:
            old = machine.now.spread(r[destination])
            r[destination] = machine.now.collect(np.where(active, ready, old))

    step.ready = (lambda r: machine.quiet(lambda: over(r))) if waits else None  # type: ignore[attr-defined]
    return step


@effect("STAS")
def _store_and_count(form: Form, machine: Machine) -> Action:
    """A store to shared memory of the cluster; its bytes count on an mbarrier of that block."""
    base = form.operands[0].base
    if base is None or form.operands[0].uniform is not None:
        raise NotImplementedError("this address")
    width = next((int(m) // 8 for m in form.modifiers if m in ("64", "128")), 4)
    address, barrier = form.bits_of(base), form.after_of(base, 1)
    offset = form.operands[0].value
    readers = [form.register_after(1, k) for k in range(width // 4)]
    guard = form.guard

    def step(r: list) -> None:
        now, setup = machine.now, machine.setup
        active = now.active if guard is None else now.active & now.spread(guard(r))
        if not active.any():
            return
        at, count_at = (now.spread(value(r)).astype(np.int64) for value in (address, barrier))
        at = at + offset
        rank = np.clip(at >> RANK_SHIFT, 0, setup.blocks_per_cluster - 1)
        rows = setup.row_of_rank[setup.cluster_of[now.warps][:, None], rank][active]
        machine.log.request(machine.offset, Space.DISTRIBUTED_SHARED, Kind.STORE, width, at & _OFFSET, active)
        values = np.stack([now.spread(read(r))[active] for read in readers], axis=1)
        items = np.ascontiguousarray(values).view(ITEMS[width])[:, 0]
        machine.shared.view(width)[machine.shared.item_index(rows, at[active] & _OFFSET, width)] = items
        for row, where in zip(rows, count_at[active] & _OFFSET, strict=True):
            update(machine, int(row), int(where), 0, 0, width)

    return step
