"""How an opcode states its meaning: by operand type, every modifier accounted for, nothing tested while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from softlab.emulator.opcodes.emitter import NativeForm
from softlab.emulator.opcodes.registry import PURE, OpcodeTable, Semantics
from softlab.emulator.ptx.syntax import DTYPES, Immediate, Instruction, Operand, Pair, Vector

SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
BITS = ("b16", "b32", "b64")
#: Two 16-bit integers in 32 bits. Their registers are plain 32-bit ones.
INTEGER_PAIRS = ("s16x2", "u16x2")
#: Types among the modifiers that name a format but no register type.
_FORMATS = ("tf32", "e4m3x2", "e5m2x2", *INTEGER_PAIRS)


class Form:
    """One instruction's modifiers, taken one by one; a modifier that is left is not supported.

    ``types`` are the type modifiers in order, ``type`` is the last of them.
    """

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction
        self.opcode = instruction.opcode
        self.types = tuple(m for m in instruction.modifiers if m in DTYPES or m in _FORMATS)
        self._left = [m for m in instruction.modifiers if m not in self.types]

    @property
    def type(self) -> str:
        """The last type modifier: the one that says how the sources are read."""
        return self.types[-1] if self.types else ""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The instruction's operands, destinations first."""
        return self.instruction.operands

    def operand(self, index: int) -> Operand:
        """One of the operands; an instruction with fewer is not of this form."""
        if index >= len(self.operands):
            raise NotImplementedError(f"{self.opcode} with {len(self.operands)} operands")
        return self.operands[index]

    @property
    def paired(self) -> bool:
        """Whether the destination is a pair ``p|q``."""
        return bool(self.operands) and isinstance(self.operands[0], Pair)

    def flag(self, name: str) -> bool:
        """Take a modifier that may be there or not."""
        found = name in self._left
        if found:
            self._left.remove(name)
        return found

    def one_of(self, *names: str, default: str | None = None) -> str:
        """Take the one modifier of these that is there; ``default`` where none is."""
        for name in names:
            if self.flag(name):
                return name
        if default is None:
            raise NotImplementedError(f"{self.opcode}: one of {', '.join(names)} is needed")
        return default

    def one_type(self) -> str:
        """The only type modifier; an instruction with more or fewer is not of this form."""
        if len(self.types) != 1:
            raise NotImplementedError(f"{self.opcode}: one type is needed, not {self.types}")
        return self.types[0]

    def constant(self, index: int) -> int | None:
        """The integer value of operand ``index`` where it is an immediate, else None."""
        operand = self.operands[index] if index < len(self.operands) else None
        return operand.value if isinstance(operand, Immediate) and isinstance(operand.value, int) else None

    def finish(self) -> None:
        """Raise ``NotImplementedError`` where modifiers are left."""
        if self._left:
            raise NotImplementedError(f"{self.opcode} with .{', .'.join(self._left)}")


Meaning = Callable[[Form], Semantics]


class TypedOpcodes:
    """Registers meanings by opcode and operand type in an :class:`OpcodeTable`: ``add.s32`` and ``add.f32`` differ."""

    def __init__(self, table: OpcodeTable) -> None:
        self._table = table
        self._meanings: dict[str, dict[str, Meaning]] = {}

    def __call__(self, *opcodes: str, types: Iterable[str] = ("",)) -> Callable[[Meaning], Meaning]:
        """Register the decorated meaning for these opcodes where the last type modifier is one of ``types``."""
        types = tuple(types)

        def register(meaning: Meaning) -> Meaning:
            for opcode in opcodes:
                self._add(opcode, types, meaning)
            return meaning

        return register

    def _add(self, opcode: str, types: tuple[str, ...], meaning: Meaning) -> None:
        if opcode not in self._meanings:
            self._meanings[opcode] = {}
            self._table.opcode(opcode)(self._lower)
        meanings = self._meanings[opcode]
        for name in types:
            if name in meanings:
                raise ValueError(f"{opcode}.{name} is registered twice: {meanings[name]} and {meaning}")
            meanings[name] = meaning

    def _lower(self, instruction: Instruction) -> Semantics:
        form = Form(instruction)
        meaning = self._meanings[form.opcode].get(form.type)
        if meaning is None:
            raise NotImplementedError(f"{form.opcode} of the type {form.type!r}")
        semantics = meaning(form)
        form.finish()
        return semantics

    def forms(self) -> dict[str, tuple[str, ...]]:
        """Opcode -> the types it is registered for."""
        return {opcode: tuple(meanings) for opcode, meanings in sorted(self._meanings.items())}


#: The decorator that each module of this package registers its opcodes with.
pure = TypedOpcodes(PURE)


def unary(function: Callable, source: str, result: str | None = None, native: NativeForm | None = None) -> Semantics:
    """Semantics of one source; ``result`` is its type too unless given."""
    return Semantics(function, (source,), (result or source,), native=native)


def binary(function: Callable, source: str, result: str | None = None, native: NativeForm | None = None) -> Semantics:
    """Semantics of two sources of one type."""
    return Semantics(function, (source, source), (result or source,), native=native)


def ternary(function: Callable, source: str, result: str | None = None, native: NativeForm | None = None) -> Semantics:
    """Semantics of three sources of one type."""
    return Semantics(function, (source, source, source), (result or source,), native=native)


def bits_type(name: str) -> str:
    """The untyped register of the same width: "s32" and "f32" give "b32".

    Integer operations that do not look at the sign are stated in it, so that the machine needs no reinterpretation
    between them.
    """
    return f"b{width(name)}"


def width(name: str) -> int:
    """Bits of a register of this type."""
    return _dtype(name).itemsize * 8


def dtype_of(name: str) -> type[np.generic]:
    """The NumPy scalar type of a PTX type, which also makes constants: ``dtype_of("s32")(-1)``."""
    return _dtype(name).type


def _dtype(name: str) -> np.dtype:
    if name not in DTYPES:
        raise NotImplementedError(f"the type {name}")
    return DTYPES[name]


def is_scalar(value) -> bool:
    """Whether all lanes share this value."""
    return np.ndim(value) == 0


def select(mask, yes, no):
    """``yes`` where ``mask``, else ``no``; ``mask`` is bool, ``yes`` and ``no`` of one dtype; scalars give a scalar.

    A blend of bits: NumPy's ``where`` branches on every lane, which costs six times more on a random mask.
    """
    if is_scalar(mask):
        return yes if mask else no
    dtype = no.dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    no_bits = no.view(unsigned)
    return (np.multiply(no_bits ^ yes.view(unsigned), mask) ^ no_bits).view(dtype)


def vector_elements(operand: Operand) -> int:
    """How many registers an operand has."""
    return len(operand.elements) if isinstance(operand, Vector) else 1
