"""Moves, choices, and registers that are read by name."""

from __future__ import annotations

import numpy as np

from softlab.sass.form import PREDICATE, SINK, U32, U64, Form
from softlab.sass.lanes import first_lane, unpack
from softlab.sass.machine import Machine
from softlab.sass.registry import Action, effect, pure
from softlab.sass.specials import special


@pure("MOV", "UMOV")
def _move(form: Form) -> Action:
    form.only()
    if len(form.operands) > 2 and form.constant(2) != 0xF:
        raise NotImplementedError("a move of some bytes")
    destination, a = form.destination(0), form.u32(1)

    def step(r: list) -> None:
        r[destination] = a(r)

    return step


@pure("SEL", "USEL")
def _select(form: Form) -> Action:
    form.only()
    destination, a, b, p = form.destination(0), form.u32(1), form.u32(2), form.predicate(3)

    def step(r: list) -> None:
        which = p(r)
        if isinstance(which, np.ndarray):
            r[destination] = np.where(which, a(r), b(r))
        else:
            r[destination] = a(r) if which else b(r)

    return step


@pure("FSEL")
def _select_float(form: Form) -> Action:
    form.only("FTZ")
    destination, a, b, p = form.destination(0), form.f32(1), form.f32(2), form.predicate(3)

    def step(r: list) -> None:
        which = p(r)
        if isinstance(which, np.ndarray):
            r[destination] = np.where(which, a(r).view(U32), b(r).view(U32))
        else:
            r[destination] = (a(r) if which else b(r)).view(U32)

    return step


@effect("R2UR")
def _to_uniform(form: Form, machine: Machine) -> Action:
    """The value of the first lane that executes it, for the whole warp.

    A predicate as the first result says which lanes hold another value (.OR: or had the predicate before). So a loop
    can serve one value each turn: the code for an array of surfaces does it, whose lanes without the predicate are
    done. Lanes that do not execute the instruction keep their predicate.
    """
    form.only("OR")
    number = 1 if form.operands[0].kind == "UR" else 2
    destination, a, guard = form.destination(number - 1), form.u32(number), form.guard
    apart = form.destination(0) if number == 2 else SINK
    form.reads.update(k for k in (destination, apart) if k != SINK)
    keeps = form.has("OR")

    def step(r: list) -> None:
        now = machine.now
        value = a(r)
        masks = now.masks if guard is None else now.truth(guard(r))
        if apart == SINK and not isinstance(value, np.ndarray) and (masks == now.masks).all():
            r[destination] = value
            return
        some = masks != 0
        rows = now.spread(value)
        found = rows[np.arange(now.count), first_lane(np.where(some, masks, U32(1)))]
        if apart != SINK:
            before = now.spread(r[apart])
            differs = rows != found[:, None]
            r[apart] = now.collect(np.where(unpack(masks), differs | before if keeps else differs, before))
        if destination != SINK:
            old = now.spread(r[destination])[np.arange(now.count), first_lane(now.masks)]
            r[destination] = now.collect(np.where(some, found, old)[:, None])

    return step


_CLOCKS = ("SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI", "SR_CLOCK")


@effect("S2R", "S2UR", "CS2R")
def _read_special(form: Form, machine: Machine) -> Action:
    name = form.operands[1].name
    guard = form.guard
    wide = form.instruction.opcode == "CS2R" and not form.has("32")
    put = form.destination64(0) if wide else None
    destination = form.destination(0)
    writes = tuple(sorted(form.writes))
    if guard is not None:
        form.reads.update(writes)
    is_clock = name in _CLOCKS
    if not is_clock and special(name, machine.setup) is None:
        raise NotImplementedError(f"the special register {name}")

    def step(r: list) -> None:
        before = [r[k] for k in writes] if guard is not None else []
        found = U32(machine.issued & 0xFFFFFFFF) if is_clock else machine.now.take(machine.special(name))
        if put is not None:
            put(r, found.astype(U64))
        else:
            r[destination] = found
        if guard is not None:
            g = guard(r)
            for k, old in zip(writes, before, strict=True):
                r[k] = np.where(g, r[k], old)[()]

    return step


@pure("P2R")
def _from_predicates(form: Form) -> Action:
    """The predicates that the mask names, in the bits of a register (.B1: of its second byte, and so on)."""
    form.only("B0", "B1", "B2", "B3")
    destination, a = form.destination(0), form.u32(2)
    mask = form.constant(3)
    if mask is None or form.operands[1].kind != "PR":
        raise NotImplementedError("P2R of this form")
    shift = next((8 * int(m[1]) for m in form.modifiers), 0)
    chosen = [k for k in range(7) if mask >> k & 1]
    form.reads.update(PREDICATE + k for k in chosen)
    keep = U32(~(mask << shift) & 0xFFFFFFFF)

    def step(r: list) -> None:
        value = a(r) & keep
        for k in chosen:
            value = value | np.multiply(r[PREDICATE + k], U32(1 << k + shift))
        if mask & 0x80:  # PT
            value = value | U32(0x80 << shift)
        r[destination] = value

    return step


@pure("R2P")
def _to_predicates(form: Form) -> Action:
    form.only("B0", "B1", "B2", "B3")
    number = next(k for k, o in enumerate(form.operands) if o.kind == "R")
    mask = form.constant(number + 1)
    if mask is None:
        raise NotImplementedError("R2P of this form")
    shift = next((8 * int(m[1]) for m in form.modifiers), 0)
    a = form.u32(number)
    chosen = [k for k in range(7) if mask >> k & 1]
    form.writes.update(PREDICATE + k for k in chosen)

    def step(r: list) -> None:
        value = a(r)
        for k in chosen:
            r[PREDICATE + k] = (value & U32(1 << k + shift)) != 0

    return step
