"""Instructions that look at the other lanes of the warp."""

from __future__ import annotations

from functools import cache

import numpy as np

from softlab.sass.form import SINK, U32, Form, Reader
from softlab.sass.lanes import WARP, Value, any_true, pack, unpack
from softlab.sass.machine import Machine
from softlab.sass.registry import Action, effect
from softlab.sass.streams import Kind, Space

_LANE = np.arange(WARP)
#: The bits of a shuffle's last operand that count.
_CONTROL = 0x1F1F


def executing(form: Form, machine: Machine):
    """A function that gives the lanes (k,) that execute it."""
    guard = form.guard

    def masks(r: list) -> np.ndarray:
        return machine.now.masks if guard is None else machine.now.truth(guard(r))

    return masks


def writer(form: Form, machine: Machine, destination: int):
    """A function that writes a value of (k, 32) or (k, 1) where the guard holds."""
    guard = form.guard
    if guard is not None and destination != SINK:
        form.reads.add(destination)

    def write(r: list, value: np.ndarray) -> None:
        found = machine.now.collect(value)
        if guard is not None:
            g = guard(r)
            if isinstance(g, np.ndarray):
                found = np.where(g, found, r[destination])
            elif not g:
                return
        r[destination] = found

    return write


@effect("SHFL")
def _shuffle(form: Form, machine: Machine) -> Action:
    """A lane reads another one's register; out of its group of lanes it reads its own, and the predicate is false.

    The last operand: the farthest lane in bits 0 to 4, and in bits 8 to 12 those of the lane that stay. A lane that
    does not execute the instruction has no value to give: what PTX leaves open is the register's old value here.
    """
    mode = form.one_of("IDX", "UP", "DOWN", "BFLY")
    inside = form.destination(0)
    destination = form.destination(1)
    a, b, c = form.u32(2), form.u32(3), form.u32(4)
    masks = executing(form, machine)
    write, write_inside = writer(form, machine, destination), writer(form, machine, inside)

    @cache
    def same_for_all(by: int, control: int) -> tuple[np.ndarray, np.ndarray]:
        source, good = _sources(mode, np.int64(by), np.int64(control))
        return source[0], good

    def step(r: list) -> None:
        now, of_value, of_control = machine.now, b(r), c(r)
        value = now.members(a(r))
        if np.ndim(of_value) or np.ndim(of_control):
            by = np.asarray(now.spread(of_value)).astype(np.int64)
            source, good = _sources(mode, by, np.asarray(now.spread(of_control)).astype(np.int64))
            found = np.take_along_axis(value, np.broadcast_to(source, value.shape), axis=1)
        else:
            source, good = same_for_all(int(of_value) & 31, int(of_control) & _CONTROL)
            found = value.take(source, axis=1)
        if any_true(masks(r)):
            write(r, found)
            if inside != SINK:
                write_inside(r, np.broadcast_to(good, value.shape))

    return step


def _sources(mode: str, by: Value, control: Value) -> tuple[np.ndarray, np.ndarray]:
    """The lane from which each lane reads, and whether that is in its group. by, control: int64 (k, 32) or scalars;
    what it gives is (k, 32), or (1, 32) of scalars."""
    lane, by = _LANE[None, :], by & 31
    clamp, stays = control & 31, control >> 8 & 31
    first = lane & stays
    most = first | clamp & ~stays
    source = {"UP": lane - by, "DOWN": lane + by, "BFLY": lane ^ by, "IDX": first | by & ~stays}[mode]
    good = source >= most if mode == "UP" else source <= most
    return np.where(good, source, lane), good


@effect("VOTE", "VOTEU")
def _vote(form: Form, machine: Machine) -> Action:
    """Which lanes have a predicate (into a register), and whether all, any, or all alike (.EQ) have it."""
    mode = form.one_of("ANY", "ALL", "EQ")
    operands = form.operands
    ballot = form.destination(0) if operands[0].kind in ("R", "UR") else SINK
    number = 1 if operands[0].kind in ("R", "UR") else 0
    flag = form.destination(number)
    source: Reader = form.predicate(number + 1)
    masks = executing(form, machine)
    write, write_flag = writer(form, machine, ballot), writer(form, machine, flag)

    def step(r: list) -> None:
        now = machine.now
        lanes = masks(r)
        yes = now.truth(source(r)) & lanes
        if ballot != SINK:
            write(r, yes[:, None])
        if flag != SINK:
            every = yes == lanes
            found = {"ANY": yes != 0, "ALL": every, "EQ": every | (yes == 0)}[mode]
            write_flag(r, found[:, None])

    return step


@effect("MATCH")
def _match(form: Form, machine: Machine) -> Action:
    """The lanes that hold the same value; .ALL: all lanes or none, with a predicate."""
    mode = form.one_of("ANY", "ALL")
    predicate = form.destination(0) if form.operands[0].kind == "P" else SINK
    number = 1 if form.operands[0].kind == "P" else 0
    destination = form.destination(number)
    read = form.u64(number + 1) if form.has("U64") else form.u32(number + 1)
    masks = executing(form, machine)
    write, write_flag = writer(form, machine, destination), writer(form, machine, predicate)

    def step(r: list) -> None:
        now = machine.now
        lanes = masks(r)
        active = unpack(lanes)
        value = now.spread(read(r))
        same = (value[:, :, None] == value[:, None, :]) & active[:, None, :]
        if mode == "ANY":  # a word per value
            machine.log.request(machine.offset, Space.VALUES, Kind.LOAD, 4, 4 * same.argmax(axis=2), active)
        found = pack(same.reshape(-1, WARP)).reshape(-1, WARP)
        if mode == "ALL":
            every = ((found == lanes[:, None]) | ~active).all(axis=1)[:, None]
            found = np.where(every, lanes[:, None], U32(0))
            write_flag(r, every)
        write(r, found)

    return step


@effect("REDUX", "CREDUX")
def _reduce(form: Form, machine: Machine) -> Action:
    """One value of all lanes that execute it, in a uniform register."""
    name = form.one_of("SUM", "MIN", "MAX", "AND", "OR", "XOR", default="AND")
    signed = form.has("S32")
    destination, a = form.destination(0), form.u32(1)
    masks = executing(form, machine)
    form.reads.add(destination)
    kind = np.int32 if signed else np.uint32
    neutral = {
        "SUM": 0, "OR": 0, "XOR": 0, "AND": 0xFFFFFFFF,
        "MIN": 0x7FFFFFFF if signed else 0xFFFFFFFF, "MAX": 0x80000000 if signed else 0,
    }[name]  # fmt: skip
    function = {
        "SUM": np.add, "MIN": np.minimum, "MAX": np.maximum,
        "AND": np.bitwise_and, "OR": np.bitwise_or, "XOR": np.bitwise_xor,
    }[name]  # fmt: skip

    def step(r: list) -> None:
        now = machine.now
        active = unpack(masks(r))
        value = np.where(active, now.spread(a(r)), U32(neutral)).view(kind)
        r[destination] = now.collect(function.reduce(value, axis=1, dtype=kind).view(U32)[:, None])

    return step


@effect("ELECT")
def _elect(form: Form, machine: Machine) -> Action:
    """The lowest lane of the warp that executes it."""
    flag = form.destination(0)
    destination = form.destination(1) if len(form.operands) > 1 and form.operands[1].kind in ("R", "UR") else SINK
    masks = executing(form, machine)
    write_flag, write = writer(form, machine, flag), writer(form, machine, destination)

    def step(r: list) -> None:
        lanes = masks(r)
        lowest = lanes & (~lanes + U32(1))
        write_flag(r, unpack(lowest))
        if destination != SINK:
            write(r, np.bitwise_count(lowest - U32(1)).astype(U32)[:, None])

    return step
