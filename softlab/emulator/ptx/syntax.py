"""PTX as frozen records: what the parser makes and what the opcodes and the machine read.

Source for the names: NVIDIA, PTX ISA (instruction operands, state spaces, types).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: PTX scalar type -> NumPy dtype of the arrays that hold it. f16x2, bf16x2 and bf16 stay raw bits.
DTYPES: dict[str, np.dtype] = {
    "pred": np.dtype(np.bool_),
    **{f"{kind}{bits}": np.dtype(f"u{bits // 8}") for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(np.uint16),
    "f16x2": np.dtype(np.uint32),
    "bf16x2": np.dtype(np.uint32),
}
#: Types of registers that the parser takes and that no instruction of the emulator does.
REFUSED_TYPES = ("b128",)
#: Parts of a 32-bit register that video instructions name, "%r1.b2": bits of the lowest one, bits. The parser notes the
#: part of operand n as a modifier "n.b2", and "n.minus" for "-%r1".
REGISTER_PARTS = {f"b{k}": (8 * k, 8) for k in range(4)} | {f"h{k}": (16 * k, 16) for k in range(2)}


@dataclass(frozen=True, slots=True)
class Frame:
    """One location in a source file. ``line`` counts from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Register:
    """A register operand; ``name`` is unique in its function (scopes are resolved by the parser)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant. ``value`` is an int, or a float for ``0f`` and ``0d`` literals (``0f``: the float32's value)."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, a label, or a function."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """A special register: ``tid.x``, ``laneid``, ``clock64``, ..."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + offset]``; base is a Register, a Symbol or None (absolute)."""

    base: Register | Symbol | None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b, ...}``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """``a|b``: two destinations; either may be None where PTX has ``_``."""

    first: Register | None
    second: Register | None


Operand = Register | Immediate | Symbol | Special | Address | Vector | Pair | None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One PTX instruction.

    ``opcode`` is the first word (``"setp"``); ``modifiers`` all that follow it, without dots (``("lt", "s32")``);
    ``guard`` the predicate register of ``@p`` and ``negated`` whether it was ``@!p``; ``frames`` its source location,
    innermost call first, empty when the PTX has no ``.loc``; ``line`` its line of the PTX, from 1 (0: made
    by the parser); ``used_bytes`` is a mask of the bytes of a load that are used, None where the PTX does not say it
    (the pragma ``used_bytes_mask``); ``vector_bytes`` says of an atomic that is the first element of an atomic on a
    vector how long the vector is, else 0.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None = None
    negated: bool = False
    frames: tuple[Frame, ...] = ()
    text: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    used_bytes: int | None = field(default=None, compare=False)
    vector_bytes: int = 0

    @property
    def is_packed(self) -> bool:
        """Whether its type is two numbers in one register, such as f16x2.

        An access to memory then counts as one access to each (PTX ISA, "Packed Data Types").
        """
        return any(modifier.endswith("x2") for modifier in self.modifiers[-1:])

    @property
    def types(self) -> tuple[str, ...]:
        """The PTX types among the modifiers, in order: ``cvt.rn.f32.s64`` gives ``("f32", "s64")``."""
        return tuple(m for m in self.modifiers if m in DTYPES)

    def has(self, *names: str) -> bool:
        """Whether it has any of these modifiers."""
        return any(name in self.modifiers for name in names)


@dataclass(frozen=True, slots=True)
class Relocation:
    """A pointer in an initialiser: the address of ``symbol`` plus ``addend`` is at byte ``offset``.

    ``generic`` says whether it is a generic address (``generic(symbol)``) or one of the symbol's own space.
    """

    offset: int
    symbol: str
    addend: int = 0
    generic: bool = False
    size: int = 8


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory or a parameter.

    ``space`` is "global", "const", "shared", "local" or "param"; ``size`` in bytes, None for ``.extern .shared x[]``
    (the launch's dynamic shared memory); ``type`` is the element's; ``data`` the initial bytes (the rest is zero).
    """

    name: str
    space: str
    type: str
    align: int
    size: int | None
    data: bytes = b""
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True)
class Function:
    """A kernel (``entry``) or a device function.

    ``registers`` maps register names to types; ``variables`` are those declared in the body (shared, local, param);
    ``labels`` maps a label to the index of the instruction after it; ``tables`` maps a ``.branchtargets`` label
    to its labels. ``instructions`` is None for a function declared elsewhere (``vprintf``). ``cluster`` is what
    ``.reqnctapercluster`` says (``__cluster_dims__``), None without it.
    """

    name: str
    entry: bool
    params: tuple[Variable, ...]
    results: tuple[Variable, ...]
    registers: dict[str, str]
    variables: tuple[Variable, ...]
    instructions: tuple[Instruction, ...] | None
    labels: dict[str, int]
    tables: dict[str, tuple[str, ...]]
    cluster: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Module:
    """A PTX file: ``version`` of the language, ``target`` architecture, module variables and functions by name.

    ``file`` is the name that the main source file has in the frames, None where it was not given.
    """

    version: str
    target: str
    variables: dict[str, Variable]
    functions: dict[str, Function]
    file: str | None = None
