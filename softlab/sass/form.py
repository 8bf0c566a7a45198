"""What an opcode's function gets: readers of the operands and destinations, for one instruction.

Registers of one set of lanes are a list: R0 to R254, RZ, UR0 to UR62, URZ, P0 to P6, PT, UP0 to UP6, UPT, and a slot
that takes what nobody reads. Behind them stand what all lanes of a launch share: the pairs of registers that are known,
the constant banks, and the constants that the code names. So a step knows nothing of the launch. A reader is a function
of that list that gives a value: a NumPy scalar where all lanes share it, else an array (:mod:`softlab.sass.lanes`).
Registers hold uint32, predicates bool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softlab.sass.decode import TRUE, UNIFORM_ZERO, ZERO, Instruction, Operand
from softlab.sass.lanes import Value

UNIFORM, PREDICATE, UNIFORM_PREDICATE = 256, 320, 328
#: Where results for RZ and PT go.
SINK = 336
REGISTERS = 337
#: Where the pairs and the constant banks stand; behind them constants.
PAIRS, BANKS = 337, 338
_NAMED = 339
_FIRST = {"R": 0, "UR": UNIFORM, "P": PREDICATE, "UP": UNIFORM_PREDICATE}
#: The first of the registers in which a called function finds its arguments and leaves its result.
_ARGUMENT = 4
_CONSTANTS = {"R": ZERO, "UR": UNIFORM_ZERO, "P": TRUE, "UP": TRUE}
U32, U64, S32, S64 = np.uint32, np.uint64, np.int32, np.int64
F32, F64 = np.float32, np.float64
_SIGN = U32(0x80000000)
_MAGNITUDE = U32(0x7FFFFFFF)
_LOW = U64(0xFFFFFFFF)
_HALF = U64(32)
Reader = Callable[[list], Value]
#: Pairs of registers that one 64-bit result filled: number -> (low, high, both).
Pairs = dict[int, tuple[Value, Value, Value]]
#: A constant that the code names: bank, offset, bytes.
Named = tuple[int, int, int]


class Slots:
    """Where the constants that a code names stand behind the registers."""

    def __init__(self) -> None:
        self._known: dict[Named, int] = {}

    def of(self, constant: Named) -> int:
        """The place of a constant in the list of registers."""
        return self._known.setdefault(constant, _NAMED + len(self._known))

    @property
    def end(self) -> int:
        """How long the list of registers is."""
        return _NAMED + len(self._known)


def fresh_registers() -> list[Any]:
    """All registers as they are at first: zeros that all lanes share, and the two constants."""
    zero, false, true = U32(0), np.False_, np.True_
    registers: list[Any] = [zero] * PREDICATE + [false] * (SINK - PREDICATE) + [zero]
    registers[PREDICATE + TRUE] = registers[UNIFORM_PREDICATE + TRUE] = true
    return registers


def is_per_warp(number: int) -> bool:
    """Whether a warp has this register once."""
    return UNIFORM <= number < PREDICATE or UNIFORM_PREDICATE <= number < SINK


def join(low: Value, high: Value) -> Value:
    """Two halves as uint64."""
    if isinstance(low, np.ndarray) or isinstance(high, np.ndarray):
        return low | np.left_shift(high, _HALF, dtype=U64)
    return U64(int(low) | int(high) << 32)


def split(value: Value) -> tuple[Value, Value]:
    """uint64 -> its two halves."""
    if not isinstance(value, np.ndarray):
        return U32(int(value) & 0xFFFFFFFF), U32(int(value) >> 32)
    if type(value) is not np.ndarray:
        return value.halves()  # type: ignore[attr-defined]
    if value.dtype != U64:
        value = value.view(U64)
    halves = np.ascontiguousarray(value).view(U32).reshape(*value.shape, 2)
    return halves[..., 0], halves[..., 1]


class Form:
    """One instruction. ``reads``, ``writes`` and ``constants`` (those that it names) grow with each reader and
    destination asked for."""

    def __init__(self, instruction: Instruction, slots: Slots) -> None:
        self.instruction = instruction
        self.operands = instruction.operands
        self.modifiers = instruction.modifiers
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.constants: list[Named] = []
        self._slots = slots

    def has(self, *names: str) -> bool:
        """Whether it has one of these modifiers."""
        return any(name in self.modifiers for name in names)

    def one_of(self, *names: str, default: str | None = None) -> str:
        """The one modifier of these that it has."""
        found = next((m for m in self.modifiers if m in names), default)
        if found is None:
            raise NotImplementedError(f"one of {', '.join(names)} is needed")
        return found

    def only(self, *names: str) -> None:
        """Refuse modifiers other than these."""
        other = [m for m in self.modifiers if m not in names]
        if other:
            raise NotImplementedError(f"the modifier {other[0]}")

    # Destinations

    def destination(self, number: int) -> int:
        """The index of the register that operand ``number`` names, which is written."""
        operand = self.operands[number]
        if operand.kind not in _FIRST:
            raise NotImplementedError(f"operand {number} is no register")
        if operand.index == _CONSTANTS[operand.kind]:
            return SINK
        index = _FIRST[operand.kind] + operand.index
        self.writes.add(index)
        return index

    def destination64(self, number: int) -> Callable[[list, Value], None]:
        """A function of (registers, uint64 or float64) that writes the pair."""
        low = self.destination(number)
        if low == SINK:
            return lambda r, value: None
        return self._put_pair(low)

    def _put_pair(self, low: int) -> Callable[[list, Value], None]:
        high = low + 1
        self.writes.update((low, high))

        def put(r: list, value: Value) -> None:
            value = value.view(U64)
            r[low], r[high] = halves = split(value)
            r[PAIRS][low] = (*halves, value)

        return put

    def destinations(self, number: int, count: int) -> tuple[int, ...]:
        """The indices of ``count`` neighbouring registers."""
        first = self.destination(number)
        if first == SINK:
            return (SINK,) * count
        self.writes.update(range(first, first + count))
        return tuple(range(first, first + count))

    def argument_and_result(self) -> tuple[Reader, Callable[[list, Value], None]]:
        """R4 and R5 as uint64, and a function that writes them: a called function finds its first argument there, and
        leaves its result."""
        return self._pair(_ARGUMENT), self._put_pair(_ARGUMENT)

    # Readers

    def register_after(self, number: int, count: int) -> Reader:
        """The register ``count`` behind the one that operand ``number`` names; zero if that is RZ."""
        return self.after_of(self.operands[number], count)

    def after_of(self, operand: Operand, count: int) -> Reader:
        """The register ``count`` behind the one that an operand names; zero if that is RZ."""
        index = _FIRST[operand.kind] + operand.index + count
        if operand.index == _CONSTANTS[operand.kind]:
            zero = U32(0)
            return lambda r: zero
        self.reads.add(index)
        return lambda r: r[index]

    @property
    def guard(self) -> Reader | None:
        """The guard as bool, None without one."""
        return None if self.instruction.guard is None else self.predicate_of(self.instruction.guard)

    def predicate(self, number: int) -> Reader:
        """Operand ``number``, a predicate, as bool."""
        return self.predicate_of(self.operands[number])

    def predicate_of(self, operand: Operand) -> Reader:
        """An operand that is a predicate, as bool."""
        if operand.kind not in ("P", "UP"):
            raise NotImplementedError("an operand is no predicate")
        index = _FIRST[operand.kind] + operand.index
        if operand.index == TRUE:
            constant = np.False_ if operand.inverted else np.True_
            return lambda r: constant
        self.reads.add(index)
        if operand.inverted:
            return lambda r: ~r[index]
        return lambda r: r[index]

    def predicates(self) -> list[Reader]:
        """The predicates among the operands that may not hold."""
        return [
            self.predicate_of(operand)
            for operand in self.operands
            if operand.kind in ("P", "UP") and not (operand.index == TRUE and not operand.inverted)
        ]

    def condition(self) -> Reader:
        """The guard, and the predicates among the operands: True where all hold."""
        parts = [*([] if self.guard is None else [self.guard]), *self.predicates()]
        if not parts:
            return lambda r: np.True_
        if len(parts) == 1:
            return parts[0]
        return lambda r: np.logical_and(parts[0](r), parts[1](r))

    def is_zero(self, number: int) -> bool:
        """Whether the operand is RZ, URZ or 0, without a sign."""
        operand = self.operands[number]
        if operand.kind in ("R", "UR"):
            return operand.index == _CONSTANTS[operand.kind] and not operand.negated and not operand.inverted
        return operand.kind == "integer" and operand.value == 0 and not operand.inverted

    def constant(self, number: int) -> int | None:
        """The value of an immediate integer or of RZ; None for others."""
        operand = self.operands[number]
        if operand.kind == "integer":
            return operand.value
        return 0 if self.is_zero(number) else None

    def bits(self, number: int) -> Reader:
        """The 32 bits of the operand, without its signs."""
        return self.bits_of(self.operands[number])

    def bits_of(self, operand: Operand) -> Reader:
        """The 32 bits of an operand, without its signs."""
        if operand.kind in ("R", "UR"):
            index = _FIRST[operand.kind] + operand.index
            if operand.index == _CONSTANTS[operand.kind]:
                zero = U32(0)
                return lambda r: zero
            self.reads.add(index)
            return lambda r: r[index]
        if operand.kind in ("integer", "float"):
            value = U32(operand.value & 0xFFFFFFFF)
            return lambda r: value
        if operand.kind == "constant":
            return self.constant_reader(operand, 4)
        raise NotImplementedError(f"the operand {operand.name or operand.kind}")

    def constant_reader(self, operand: Operand, width: int) -> Reader:
        """A constant of ``width`` bytes, as an unsigned integer of that width."""
        bank, offset = operand.index, operand.value
        registers = [self.bits_of(o) for o in (operand.base, operand.uniform) if o is not None]
        registers = [
            reader
            for reader, o in zip(registers, [o for o in (operand.base, operand.uniform) if o is not None], strict=True)
            if o.index != _CONSTANTS[o.kind]
        ]
        instruction = self.instruction
        if not registers:
            constant = (bank, offset, width)
            self.constants.append(constant)
            slot = self._slots.of(constant)
            return lambda r: r[slot]

        def read(r: list) -> Value:
            where = registers[0](r)
            for more in registers[1:]:
                where = where + more(r)
            return r[BANKS].gather(instruction, bank, where, offset, width)

        return read

    def u32(self, number: int) -> Reader:
        """An integer, its two's complement where negated."""
        operand = self.operands[number]
        read = self.bits(number)
        if operand.absolute:
            return _signed(lambda r: np.abs(read(r).view(S32)).view(U32), operand)
        return _signed(read, operand)

    def s32(self, number: int) -> Reader:
        """An integer, signed."""
        read = self.u32(number)
        return lambda r: read(r).view(S32)

    def u64(self, number: int) -> Reader:
        """A pair of registers, or a constant, as uint64 without its signs."""
        operand = self.operands[number]
        if operand.kind in ("R", "UR"):
            if operand.index == _CONSTANTS[operand.kind]:
                zero = U64(0)
                return lambda r: zero
            return self._pair(_FIRST[operand.kind] + operand.index)
        if operand.kind == "constant":
            return self.constant_reader(operand, 8)
        if operand.kind == "float":  # the upper half of a double
            value = U64(operand.value << 32)
            return lambda r: value
        if operand.kind == "integer":
            value = U64(operand.value & 0xFFFFFFFFFFFFFFFF)
            return lambda r: value
        raise NotImplementedError(f"the operand {operand.name or operand.kind}")

    def _pair(self, low: int) -> Reader:
        high = low + 1
        self.reads.update((low, high))

        def read(r: list) -> Value:
            pairs = r[PAIRS]
            found = pairs.get(low)
            a, b = r[low], r[high]
            if found is not None and a is found[0] and b is found[1]:
                return found[2]
            both = join(a, b)
            pairs[low] = (a, b, both)
            return both

        return read

    def f32(self, number: int) -> Reader:
        """A float32 with its signs."""
        operand = self.operands[number]
        read = self.bits(number)
        if operand.absolute and operand.negated:
            return lambda r: (read(r) | _SIGN).view(F32)
        if operand.absolute:
            return lambda r: (read(r) & _MAGNITUDE).view(F32)
        if operand.negated:
            return lambda r: (read(r) ^ _SIGN).view(F32)
        return lambda r: read(r).view(F32)

    def f64(self, number: int) -> Reader:
        """A float64 with its signs."""
        operand = self.operands[number]
        read = self.u64(number)
        sign, magnitude = U64(1 << 63), U64((1 << 63) - 1)
        if operand.absolute and operand.negated:
            return lambda r: (read(r) | sign).view(F64)
        if operand.absolute:
            return lambda r: (read(r) & magnitude).view(F64)
        if operand.negated:
            return lambda r: (read(r) ^ sign).view(F64)
        return lambda r: read(r).view(F64)

    # Addresses

    def address(self, number: int) -> tuple[Reader, int]:
        """(registers of an address operand as uint64, the offset in bytes that is added)."""
        operand = self.operands[number]
        if operand.kind != "address":
            raise NotImplementedError(f"operand {number} is no address")
        base, uniform, offset = operand.base, operand.uniform, operand.value
        reads: list[Reader] = []
        for register in (base, uniform):
            if register is None or register.index == _CONSTANTS[register.kind]:
                continue
            wide = "64" in register.suffixes or (
                # Without a descriptor an address of 64 bits has no mark.
                self.has("E") and "U32" not in register.suffixes and (register.kind == "UR" or uniform is None)
            )
            reader = self._pair(_FIRST[register.kind] + register.index) if wide else self.bits_of(register)
            scale = next((int(s[1:]) for s in register.suffixes if s in ("X4", "X8", "X16")), 1)
            if scale != 1:
                reads.append(_scaled(reader, scale))
            else:
                reads.append(reader)
        if not reads:
            zero = U64(0)
            return (lambda r: zero), offset
        if len(reads) == 1:
            only = reads[0]
            return (lambda r: only(r).astype(U64)), offset
        first, second = reads
        if self.has("E"):
            return (lambda r: first(r).astype(U64) + second(r)), offset
        return (lambda r: (first(r) + second(r)).astype(U64)), offset


def _scaled(reader: Reader, scale: int) -> Reader:
    factor = U32(scale)
    return lambda r: reader(r) * factor


def _signed(read: Reader, operand: Operand) -> Reader:
    if operand.inverted:
        return lambda r: ~read(r)
    if operand.negated:
        return lambda r: np.negative(read(r))
    return read
