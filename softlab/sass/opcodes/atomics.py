"""Atomics and reductions on global, shared and generic addresses.

Lanes that meet at one address take turns in the order of their numbers, as in the PTX emulator. ``ATOMS.CAST.SPIN``, a
compare-and-swap that a loop repeats, serves one lane per bank: the others have to try again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlab.sass.access import Access, Part, keep
from softlab.sass.atomic_forms import meaning
from softlab.sass.first_lanes import first_of_banks
from softlab.sass.form import SINK, Form
from softlab.sass.lanes import any_true
from softlab.sass.machine import Machine
from softlab.sass.native_turns import take_turns
from softlab.sass.registry import Action, effect
from softlab.sass.streams import Kind

#: Operations whose result NumPy gives for lanes that meet, in the order of the lanes.
_UNORDERED = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}


def _values(form: Form, first: int, count: int, dtype: np.dtype, machine: Machine):
    """A function that gives the operands of the lanes of a part."""
    words = dtype.itemsize // 4
    readers = [[form.register_after(first + k * 1, w) for w in range(words)] for k in range(count)]

    def values(r: list, active: np.ndarray) -> list[np.ndarray]:
        found = []
        for parts in readers:
            flat = [machine.now.spread(read(r))[active] for read in parts]
            item = flat[0] if words == 1 else np.stack(flat, axis=1).view(np.uint64)[:, 0]
            found.append(np.ascontiguousarray(item).view(dtype))
        return found

    return values


@effect("RED", "REDG", "REDS")
def _reduction(form: Form, machine: Machine) -> Action:
    dtype, name = meaning(form)
    number = next(k for k, o in enumerate(form.operands) if o.kind == "address")
    access = Access(form, machine, number, Kind.REDUCTION, dtype.itemsize)
    values = _values(form, number + 1, 1, dtype, machine)
    short = name.partition(".")[0]
    plain = _UNORDERED.get(short) if name.partition(".")[2] not in ("f16x2", "bf16x2") else None

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        machine.changes += 1
        for part in access.parts(r, active):
            operands = values(r, part.active)
            for memory, index, which in access.cells(part):
                view = memory.view(dtype)
                if plain is not None:
                    plain.at(view, index, operands[0][which])
                else:
                    take_turns(view, index, [o[which] for o in operands], name)

    return step


@effect("ATOM", "ATOMG", "ATOMS")
def _atomic(form: Form, machine: Machine) -> Action:
    number = next(k for k, o in enumerate(form.operands) if o.kind == "address")
    first = next(k for k, o in enumerate(form.operands) if o.kind == "R")
    flag = _done_flag(form)
    if form.has("POPC"):
        return _count_lanes(form, machine, number, first)
    dtype, name = meaning(form)
    access = Access(form, machine, number, Kind.ATOMIC, dtype.itemsize)
    swaps = name.startswith("cas")
    values = _values(form, number + 1, 2 if swaps else 1, dtype, machine)
    success, takes = form.has("CAST"), form.instruction.index in machine.takers
    destinations = form.destinations(first, dtype.itemsize // 4)
    form.reads.update(p for p in destinations if p != SINK)

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        old = np.zeros(active.shape, dtype)
        done = np.zeros(active.shape, np.dtype(f"u{dtype.itemsize}"))
        served = first_of_banks(access.addresses(r), active, dtype.itemsize) if success else active
        at_once = access.cells_at_once(r, served)
        if at_once is not None:
            memory, index = at_once
            operands = values(r, served)
            found = _taken_turns(machine, memory.view(access.width).view(dtype), index, operands, name)
            _keep(served, found, operands[0], old, done if success else None)
        for part in access.parts(r, served) if at_once is None else ():
            if flag != SINK and not _done_here(machine, r, flag, part):
                continue
            operands = _dealt(machine, part, values(r, part.active)) if takes else values(r, part.active)
            found = np.zeros(len(part.address), dtype)
            for items, index, which in access.cells(part):
                found[which] = _taken_turns(machine, items.view(dtype), index, [o[which] for o in operands], name)
            _keep(part.active, found, operands[0], old, done if success else None)
        if destinations[0] != SINK:
            _write(machine, r, destinations, done if success else old, active)

    return step


def _dealt(machine: Machine, part: Part, values: list[np.ndarray]) -> list[np.ndarray]:
    """What lanes add to a counter of work: more than they say where blocks take from it that are not interpreted."""
    dealing = machine.setup.dealing
    if dealing is None:
        return values
    return [one * dealing.steps(int(part.address.reshape(-1)[0]), len(one)).astype(one.dtype) for one in values]


def _taken_turns(
    machine: Machine, items: np.ndarray, index: np.ndarray, operands: Sequence[np.ndarray], name: str
) -> np.ndarray:
    """Each lane's old value, as :func:`take_turns` gives it; the machine is told whether a cell has changed."""
    before = items[index]
    found = take_turns(items, index, operands, name)
    machine.changes += any_true(items[index] != before)
    return found


def _keep(where: np.ndarray, found: np.ndarray, wanted: np.ndarray, old: np.ndarray, done: np.ndarray | None) -> None:
    """The old values of lanes, and in ``done`` one where a swap was made, of as many bits as the values."""
    old[where] = found
    if done is not None:
        done[where] = found == wanted


def _done_flag(form: Form) -> int:
    """The predicate that an atomic on a generic address writes: whether it is done. SINK where it has none."""
    flag = form.destination(0) if form.operands[0].kind == "P" else SINK
    if flag != SINK:
        if form.instruction.opcode != "ATOM":
            raise NotImplementedError("an atomic with a predicate as its result")
        form.reads.add(flag)
    return flag


def _done_here(machine: Machine, r: list, flag: int, part: Part) -> bool:
    """Whether an atomic on a generic address does this part; the predicate ``flag`` gets the answer.

    It does global memory. For shared memory the code behind it repeats a compare-and-swap.
    """
    is_global = part.row is None
    r[flag] = machine.now.collect(np.where(part.active, is_global, machine.now.spread(r[flag])))
    return is_global


def _write(machine: Machine, r: list, destinations: Sequence[int], result: np.ndarray, active: np.ndarray) -> None:
    """The active lanes' results, of one word or two, into their registers."""
    words = result.view(np.uint32)
    for k, destination in enumerate(destinations):
        out = keep(machine, r[destination], active)
        out[active] = words[:, k :: len(destinations)][active]
        r[destination] = machine.now.collect(out)


def _count_lanes(form: Form, machine: Machine, number: int, first: int) -> Action:
    """ATOMS.POPC.INC: each lane adds one; lanes that meet are counted in one pass."""
    if not form.has("INC"):
        raise NotImplementedError("this operation")
    access = Access(form, machine, number, Kind.REDUCTION, 4)  # no lane waits for another one's sum
    destination = form.destination(first)
    if destination != SINK:
        form.reads.add(destination)

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        old = np.zeros(active.shape, np.uint32)
        machine.changes += 1
        at_once = access.cells_at_once(r, active)
        if at_once is not None:
            memory, index = at_once
            old[active] = take_turns(memory.view(4), index, [np.ones(len(index), np.uint32)], "add.u32")
        for part in access.parts(r, active) if at_once is None else ():
            ones = np.ones(len(part.address), np.uint32)
            found = np.zeros(len(part.address), np.uint32)
            for items, places, which in access.cells(part):
                found[which] = take_turns(items, places, [ones[which]], "add.u32")
            old[part.active] = found
        if destination != SINK:
            out = keep(machine, r[destination], active)
            out[active] = old[active]
            r[destination] = machine.now.collect(out)

    return step
