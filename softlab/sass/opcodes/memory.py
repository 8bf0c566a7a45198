"""Loads and stores, asynchronous copies of a warp, and constants with a register in the address."""

from __future__ import annotations

import numpy as np

from softlab.sass.access import Access, Part, keep
from softlab.sass.form import Form
from softlab.sass.lanes import all_true
from softlab.sass.machine import Machine
from softlab.sass.memory import ITEMS
from softlab.sass.registry import Action, effect, pure
from softlab.sass.streams import Kind, Space
from softlab.sass.widths import SIGNED, constant_load, width_of


@effect("LDG", "LDS", "LDL", "LD")
def _load(form: Form, machine: Machine) -> Action:
    if form.has("256", "U128"):
        raise NotImplementedError("a load of more than 16 bytes per lane")
    # LDG may have a predicate in front of the address that turns lanes off, and one in front of the result.
    number = next(k for k, o in enumerate(form.operands) if o.kind == "address")
    first = next(k for k, o in enumerate(form.operands) if o.kind == "R")
    if form.operands[0].kind == "P" and form.destination(0) < 336:
        raise NotImplementedError("a load with a predicate as its result")
    access = Access(form, machine, number, Kind.LOAD)
    width = access.width
    destinations = form.destinations(first, max(1, width // 4))
    form.reads.update(p for p in destinations)  # lanes that do not load keep what they have
    signed = next((SIGNED[m] for m in form.modifiers if m in SIGNED), None)

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        now = machine.now
        items = access.load_all(r, active)
        for destination, column in zip(destinations, _columns(items, width, signed), strict=True):
            if len(column) == active.size:
                r[destination] = now.collect(column.reshape(active.shape))
            else:
                out = keep(machine, r[destination], active)
                out[active] = column
                r[destination] = now.collect(out)

    return step


def _columns(items: np.ndarray, width: int, signed: type | None) -> list[np.ndarray]:
    """The words of loaded items, by register."""
    if width < 4:
        return [items.view(signed).astype(np.int32).view(np.uint32) if signed else items.astype(np.uint32)]
    words = np.ascontiguousarray(items).view(np.uint32).reshape(-1, width // 4)
    return [words[:, k] for k in range(width // 4)]


@effect("STG", "STS", "STL", "ST")
def _store(form: Form, machine: Machine) -> Action:
    number = next(k for k, o in enumerate(form.operands) if o.kind == "address")
    access = Access(form, machine, number, Kind.STORE)
    width = access.width
    item = ITEMS[width]
    operand = form.operands[number + 1]
    count = max(1, width // 4)
    if operand.kind in ("R", "UR"):
        readers = [form.register_after(number + 1, k) for k in range(count)]
    else:
        readers = [form.bits(number + 1)]

    def step(r: list) -> None:
        active = access.active(r)
        if active is None:
            return
        at_once = access.cells_at_once(r, active)
        if at_once is not None:
            memory, index = at_once
            machine.changes += 1
            memory.view(width)[index] = items_of(r, active)
            return
        for part in access.parts(r, active):
            access.store(part, items_of(r, part.active))

    def items_of(r: list, active: np.ndarray) -> np.ndarray:
        now = machine.now
        whole = (active is now.active and now.all_active) or all_true(active)
        values = [now.spread(read(r)) for read in readers]
        flat = [v.reshape(-1) if whole else v[active] for v in values]
        if width < 4:
            return flat[0].astype(item)
        return flat[0] if count == 1 else np.stack(flat, axis=1).view(item)[:, 0]

    return step


@effect("LDGSTS")
def _copy(form: Form, machine: Machine) -> Action:
    """From global to shared memory. It is done at once: the code waits for it before it reads."""
    numbers = [k for k, o in enumerate(form.operands) if o.kind == "address"]
    to = Access(form, machine, numbers[0], Kind.ASYNC_COPY)
    source = Access(form, machine, numbers[1], Kind.ASYNC_COPY)
    to.space, source.space = Space.SHARED, Space.GLOBAL
    live = form.predicate(len(form.operands) - 1) if form.operands[-1].kind == "P" else None
    uniform = form.operands[numbers[0]].uniform
    if uniform is not None and uniform.index == 0 and form.operands[numbers[1]].name == "desc[UR1]":
        raise NotImplementedError("a copy with a hint for the cache, whose registers nvdisasm does not print")
    if form.has("ZFILL"):
        source.align = to.width

    def step(r: list) -> None:
        active = to.active(r)
        if active is None:
            return
        reads = active
        if live is not None:  # lanes without the predicate write zeros
            reads = active & np.broadcast_to(machine.now.spread(live(r)), active.shape)
        items = np.zeros(active.shape, ITEMS[to.width])
        if reads.any():
            for part in source.parts(r, reads):
                cut = source.cut[reads] if source.align > 1 else np.zeros(1, np.int64)
                items[reads] = _with_tails(source, part, cut) if cut.any() else source.load(part)
        for part in to.parts(r, active):
            to.store(part, items[active])

    return step


def _with_tails(source: Access, part: Part, cut: np.ndarray) -> np.ndarray:
    """The items of a part's lanes, each with zeros instead of its last bytes: as many as were ``cut`` off its address.

    These bytes are not read: they may lie behind the array.
    """
    data = np.zeros((len(part.address), source.width), np.uint8)
    for byte in range(source.width):
        some = byte < source.width - cut
        if some.any():
            data[some, byte] = source.machine.setup.memory.load(part.address[some] + byte, 1)
    return data.view(ITEMS[source.width])[:, 0]


@pure("ULDC")
def _uniform_constant(form: Form) -> Action:
    return constant_load(form)


@effect("LDC")
def _constant(form: Form, machine: Machine) -> Action:
    operand = form.operands[1]
    guard = form.guard
    inner = constant_load(form)
    writes = tuple(sorted(form.writes))
    if guard is not None:
        form.reads.update(writes)
    base = operand.base
    register = form.bits_of(base) if base is not None and base.index != 255 else None
    width = width_of(form)

    def step(r: list) -> None:
        now = machine.now
        # The load may write its own address register, so the addresses are read first.
        addresses = None if register is None else now.spread(register(r)).astype(np.int64) + operand.value
        if guard is None:
            inner(r)
        else:
            g = guard(r)
            masks = now.truth(g)
            if not masks.any():
                return
            before = [r[k] for k in writes]
            inner(r)
            for k, old in zip(writes, before, strict=True):
                r[k] = np.where(g, r[k], old)[()]
        if addresses is not None:
            active = now.active if guard is None else (now.spread(guard(r)) & now.active)
            machine.log.request(machine.offset, Space.CONSTANT, Kind.LOAD, min(width, 8), addresses, active)

    return step
