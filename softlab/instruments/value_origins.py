"""Where a value comes from: the step that wrote it, and the values which that step read. One level at a time.

This is dynamic slicing (Korel and Laski, "Dynamic program slicing", 1988) along data only: a branch that led to a step
is no origin of its value, the guard of the step itself is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.opcodes.effects import space_of, without_policy
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.syntax import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from softlab.instruments.register_names import special_name
from softlab.instruments.source_names import variable_name
from softlab.instruments.step_record import StepRecord
from softlab.instruments.step_recorder import SPACES

#: Instructions whose result depends on all lanes that take part.
_OF_ALL_LANES = ("vote", "match", "redux", "elect", "barred")

_WORD = np.dtype(np.uint32)


@dataclass(frozen=True)
class Source:
    """A value at a place: a register of a lane, bytes of memory, or what the launch or the instruction itself gives.

    kind: "register", one of the spaces "shared", "global", "local", "const", or "parameter", "special", "constant"
    (the last three come from nowhere else). name: as PTX or the source has it. lane: whose register or stack it is.
    position: the state that is meant. bits: the value, None where the record does not know it; dtype: how to read it.
    address, width: in bytes, of memory. role: "" for data, "guard" or "address".
    """

    kind: str
    name: str
    lane: int
    position: int
    bits: int | None = None
    dtype: np.dtype = _WORD
    address: int = 0
    width: int = 0
    role: Literal["", "guard", "address"] = ""


@dataclass(frozen=True)
class Origin:
    """Where a value comes from.

    step: of this warp that wrote it, None where no recorded step did; lane: the one that did. inputs: what the step
    read. note: a sentence. thread, tick: of another warp's thread that wrote it, and the block's clock then; None.
    """

    source: Source
    step: int | None
    lane: int
    inputs: tuple[Source, ...]
    note: str
    thread: int | None = None
    tick: int | None = None


def register_source(record: StepRecord, name: str, lane: int, position: int, role: Any = "") -> Source:
    """A register of a lane after ``position`` steps.

    Raises:
        ValueError: the kernel has no such register, or a warp no such lane.
    """
    if name not in record.registers or not 0 <= lane < WARP:
        raise ValueError(f"register {name!r} of lane {lane}: the kernel has {', '.join(record.registers)}")
    number = record.registers.index(name)
    write = record.last_write(number, lane, position)
    bits = None if write is None else int(record.at(position).values[number, lane])
    return Source("register", name, lane, position, bits, record.types[number], role=role)


def origin(record: StepRecord, source: Source) -> Origin:
    """Where a value comes from; ``inputs`` can be asked in the same way."""
    if source.kind == "register":
        return _of_register(record, source)
    if source.kind in SPACES:
        return _of_memory(record, source)
    known = {"parameter": "The launch gave it as an argument.", "special": "The hardware knows it of each thread."}
    return Origin(source, None, source.lane, (), known.get(source.kind, "It stands in the instruction."))


def _of_register(record: StepRecord, source: Source) -> Origin:
    number = record.registers.index(source.name)
    step = record.last_write(number, source.lane, source.position)
    if step is None:
        return Origin(source, None, source.lane, (), "No step has written it: it has no value yet.")
    instruction = record.image.instructions[int(record.steps["instruction"][step])]
    reading = _Reading(record, step, instruction, source)
    return Origin(source, step, source.lane, reading.inputs(), reading.note)


class _Reading:
    """What one step read for one register of one lane."""

    def __init__(self, record: StepRecord, step: int, instruction: Instruction, source: Source) -> None:
        self.record, self.step, self.instruction, self.source = record, step, instruction, source
        self.lane, self.note = source.lane, ""

    def inputs(self) -> tuple[Source, ...]:
        """The values read, and the guard."""
        opcode, guard = self.instruction.opcode, self.instruction.guard
        if opcode == "shfl":
            found = self._shuffled()
        elif opcode in _OF_ALL_LANES:
            found = self._of_all_lanes()
        elif opcode in ("ld", "ldu", "atom"):
            found = self._loaded()
        else:
            if opcode in ("tex", "tld4", "suld"):
                self.note = "It was fetched from a texture or surface, whose contents are not recorded."
            found = self._operands(self._read())
        return (*found, *([self._register(guard.name, self.lane, "guard")] if guard is not None else []))

    def _read(self) -> tuple[Operand, ...]:
        """The operands that the instruction reads."""
        known = OPCODES.find(self.instruction)
        return self.instruction.operands[1 if known is None or known.has_result else 0 :]

    def _register(self, name: str, lane: int, role: str = "") -> Source:
        return register_source(self.record, name, lane, self.step, role)

    def _operands(self, operands: tuple[Operand, ...], role: str = "") -> list[Source]:
        return [source for operand in operands for source in self._operand(operand, role)]

    def _operand(self, operand: Operand, role: str) -> list[Source]:
        if isinstance(operand, Register):
            return [self._register(operand.name, self.lane, role)]
        if isinstance(operand, Vector):
            return self._operands(operand.elements, role)
        if isinstance(operand, Pair):
            return self._operands((operand.first, operand.second), role)
        if isinstance(operand, Address):
            return self._operand(operand.base, "address")
        fixed = Source("constant", "", self.lane, self.step, role=role)  # type: ignore[arg-type]
        if isinstance(operand, Immediate):
            return [
                replace(fixed, name=f"{operand.value:g}" if isinstance(operand.value, float) else str(operand.value))
            ]
        if isinstance(operand, Special):
            return [replace(fixed, kind="special", name=special_name(operand.name))]
        if isinstance(operand, Symbol):
            return [replace(fixed, name=f"the address of {variable_name(operand.name)}")]
        return []

    def _shuffled(self) -> list[Source]:
        rows = np.flatnonzero(self.record.shuffles["step"] == self.step)
        _, value, *others = self.instruction.operands
        first = self.instruction.operands[0]
        if isinstance(first, Pair) and first.second is not None and first.second.name == self.source.name:
            self.note = "It says whether the lane that was asked for is in range."
            return self._operands((others[0],))
        giver = int(self.record.shuffles["source"][rows[-1], self.lane])
        self.note = f"Lane {self.lane} " + ("kept its own." if giver == self.lane else f"took it from lane {giver}.")
        if isinstance(value, Register):
            return [self._register(value.name, giver)]
        return self._operands((value,))

    def _of_all_lanes(self) -> list[Source]:
        executed = int(self.record.steps["executed"][self.step])
        if not isinstance(value := next(iter(self._read()), None), Register):
            return []
        self.note = "Its result depends on all lanes that took part."
        return [self._register(value.name, lane) for lane in range(WARP) if executed >> lane & 1]

    def _loaded(self) -> list[Source]:
        destination, address, *values = without_policy(self.instruction)
        parts: tuple[Operand, ...] = destination.elements if isinstance(destination, Vector) else (destination,)
        names = [part.name if isinstance(part, Register) else "" for part in parts]
        number = names.index(self.source.name) if self.source.name in names else 0
        if space_of(self.instruction) == "param" and (found := self._parameter(address)):
            return found
        cell = _cell_of_step(self.record, self.step, self.lane, number, store=False)
        if cell is None:
            self.note = "It was loaded from where the record does not reach."
            return self._operand(address, "address")
        value = int(self.record.at(self.step + 1).values[self.record.registers.index(self.source.name), self.lane])
        atomic = self.instruction.opcode == "atom"
        cell = replace(cell, bits=value, dtype=self.source.dtype)
        self.note = f"It was {'the value before the atomic' if atomic else 'loaded from'} {'in ' * atomic}{cell.name}."
        return [cell, *self._operand(address, "address"), *self._operands(tuple(values))]

    def _parameter(self, address: Operand) -> list[Source]:
        """A parameter of the kernel; of a call inlined it is a variable on the stack."""
        base = address.base if isinstance(address, Address) else None
        params = [variable.name for variable, _ in self.record.image.params]
        if not isinstance(base, Symbol) or base.name not in params:
            return []
        number = params.index(base.name)
        named = self.record.parameters
        name = named[number].name if number < len(named) else f"argument {number}"
        return [Source("parameter", name, self.lane, self.step, self.source.bits, self.source.dtype)]


def _cell_of_step(record: StepRecord, step: int, lane: int, element: int, *, store: bool) -> Source | None:
    """The memory of one element that a lane accessed in a step, as it was before."""
    accesses = record.accesses
    first, last = np.searchsorted(accesses["step"], [step, step + 1])
    for row in range(first, last):
        if accesses["lanes"][row] >> np.uint32(lane) & 1:
            size = int(accesses["itemsize"][row])
            address = int(accesses["address"][row, lane]) + element * size
            space = SPACES[accesses["space"][row]]
            return memory_source(record, space, address, size, lane, step)
    return None


def memory_source(record: StepRecord, space: str, address: int, width: int, lane: int, position: int) -> Source:
    """Some bytes of memory after ``position`` steps; ``lane``: whose stack it is, and who asks."""
    bits, dtype = None, np.dtype(f"u{width}") if width in (1, 2, 4, 8) else _WORD
    if space == "shared" and width <= 8:
        state = record.shared(position)
        bits = int.from_bytes(state.data[address : address + width].tobytes(), "little")
        stored = record.stored_type(int(state.store[address : address + width].max()))
        dtype = stored if stored.itemsize == width else dtype
    name = _name(record, space, address, width)
    return Source(space, name, lane, position, bits, dtype, address, width)


def _name(record: StepRecord, space: str, address: int, width: int) -> str:
    if space == "shared":
        return record.shared_name(address, width)
    if space == "local":
        return f"the thread's stack at {address}"
    for array in record.mapped:
        if array.base <= address < array.base + array.nbytes:
            offset = address - array.base
            return record.addresses.argument_element(array.index, offset) or f"argument {array.index} at {offset}"
    return f"{space} memory at {address:#x}"


def _of_memory(record: StepRecord, source: Source) -> Origin:
    row = _last_store(record, source)
    if row is None:
        return Origin(source, None, source.lane, (), _never_stored(record, source))
    stores = record.stores
    thread, block, at = int(stores["thread"][row]), int(stores["block"][row]), int(stores["at"][row])
    instruction = record.image.instructions[int(stores["instruction"][row])]
    line = record.lines[int(stores["instruction"][row])]
    where = f" in line {line}" if line else ""
    if instruction.opcode in ("cp", "ldmatrix", "st.async"):
        note = f"An asynchronous copy, which thread {thread} began{where}, wrote it."
        return Origin(source, None, source.lane, (), note, thread)
    if block != record.block:
        return Origin(source, None, source.lane, (), f"Thread {thread} of block {block} stored it{where}.")
    if thread // WARP != record.warp:
        note = f"Thread {thread}, lane {thread % WARP} of warp {thread // WARP}, stored it{where}."
        return Origin(source, None, source.lane, (), note, thread, int(stores["tick"][row]))
    step, lane = at - 1, thread % WARP
    note = f"Lane {lane} stored it."
    if stores["atomic"][row]:
        note = f"Lane {lane} changed it by an atomic. Lanes of the same instruction may have done so before."
    reading = _Reading(record, step, instruction, replace(source, lane=lane))
    _, *values = without_policy(instruction)[1 if instruction.opcode == "atom" else 0 :]
    value: Operand = values[0] if values else None
    if isinstance(value, Vector):
        inside = max(0, source.address - int(stores["address"][row]))
        value = value.elements[inside * len(value.elements) // int(stores["width"][row])]
    inputs = reading._operands((value, *values[1:]))
    if stores["atomic"][row]:
        inputs.append(memory_source(record, source.kind, source.address, source.width, lane, step))
    if instruction.guard is not None:
        inputs.append(reading._register(instruction.guard.name, lane, "guard"))
    return Origin(source, step, lane, tuple(inputs), note)


def _last_store(record: StepRecord, source: Source) -> int | None:
    """The row of the last store to any of the bytes that the warp sees at the source's position."""
    if source.kind == "shared":
        found = int(record.shared(source.position).store[source.address : source.address + source.width].max())
        return found if found >= 0 else None
    stores = record.stores
    stop = int(np.searchsorted(stores["at"], source.position, "right"))
    address, width = stores["address"][:stop], stores["width"][:stop].astype(np.uint64)
    hit = (stores["space"][:stop] == SPACES.index(source.kind)) & (
        (address < np.uint64(source.address + source.width)) & (address + width > np.uint64(source.address))
    )
    if source.kind == "local":
        hit &= stores["thread"][:stop] == record.warp * WARP + source.lane
    rows = np.flatnonzero(hit)
    return int(rows[-1]) if len(rows) else None


def _never_stored(record: StepRecord, source: Source) -> str:
    if source.kind == "const":
        return "A kernel cannot write it: it is as it was before the launch."
    if source.kind != "global":
        return "Nobody has written it: the kernel reads memory without a value."
    for array in record.mapped:
        if array.base <= source.address < array.base + array.nbytes and array.index in record.before:
            raw = record.before[array.index].reshape(-1).view(np.uint8)
            offset = source.address - array.base
            was = int.from_bytes(raw[offset : offset + source.width].tobytes(), "little")
            if source.bits is not None and was != source.bits:
                return (
                    "No thread of this block wrote it. Before the launch it was another value: another block wrote it."
                )
            return "No thread of this block wrote it: it is as it was before the launch."
    return "No thread of this block wrote it. The record has no other block."
