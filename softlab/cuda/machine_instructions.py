"""Records of machine code: an instruction, a function, and all functions of a program.

What an access moves is read from its mnemonic: ``LDS.64``, ``STS.U16``, ``LDG.E.128`` (4 bytes per lane where no width
is named). The mnemonics are those of NVIDIA's *CUDA Binary Utilities*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlab.cuda.control_codes import ControlCode

#: Opcode -> (space, whether it stores).
_ACCESSES = {
    "LDS": ("shared", False),
    "STS": ("shared", True),
    "LDSM": ("shared", False),
    "STSM": ("shared", True),
    "LDG": ("global", False),
    "STG": ("global", True),
    "LDL": ("local", False),
    "STL": ("local", True),
    "LD": ("generic", False),
    "ST": ("generic", True),
    "LDC": ("constant", False),
    "LDCU": ("constant", False),
    "ULDC": ("constant", False),
}
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
_ADDRESS = re.compile(r"\[([^\[\]]*)\]$")
_NUMBER = re.compile(r"-?0x[0-9a-f]+|-?\d+")


@dataclass(frozen=True, slots=True)
class MachineInstruction:
    """One SASS instruction.

    ``address`` in its function, in bytes; ``text`` as printed, guard included; ``opcode`` the first word ("LDS") and
    ``modifiers`` what follows it ("64"); ``guard`` the predicate register of ``@P0`` ("" for none) and ``negated`` for
    ``@!P0``; ``operands`` as printed; ``targets`` the addresses that a branch names; ``ptx_line`` the line of the PTX
    it was made from, from 1 (0: not known); ``frames`` its lines in the source, innermost call first, as (file, line);
    ``encoding`` its 128 bits (None: not printed); ``control`` its control code, None if the encoding is not known or
    the architecture's layout is not confirmed (:mod:`softlab.cuda.control_codes`).
    """

    address: int
    text: str
    opcode: str
    modifiers: tuple[str, ...]
    guard: str
    negated: bool
    operands: tuple[str, ...]
    targets: tuple[int, ...]
    ptx_line: int
    frames: tuple[tuple[str, int], ...]
    encoding: int | None = None
    control: ControlCode | None = None

    @property
    def space(self) -> str:
        """ "shared", "global", "local", "generic" or "constant" for a load or store, else ""."""
        return _ACCESSES.get(self.opcode, ("", False))[0]

    @property
    def idle(self) -> bool:
        """Whether no lane ever executes it, though warps issue it: its guard is ``@!PT``."""
        return self.negated and not self.guard

    @property
    def store(self) -> bool:
        """Whether it is a store."""
        return _ACCESSES.get(self.opcode, ("", False))[1]

    @property
    def width(self) -> int:
        """Bytes per lane that a load or store moves; 0 for other instructions."""
        if not self.space:
            return 0
        return next((_WIDTHS[m] for m in self.modifiers if m in _WIDTHS), 4)

    @property
    def base(self) -> str:
        """The registers of its address as printed ("R4", "R2.64", "UR5"), "" where there is none."""
        return self._address[0]

    @property
    def offset(self) -> int:
        """The constant that is added to them, in bytes."""
        return self._address[1]

    @property
    def _address(self) -> tuple[str, int]:
        address = next((found for o in self.operands if (found := _ADDRESS.search(o))), None)
        if address is None:
            return "", 0
        parts = address.group(1).split("+")
        numbers = [part for part in parts if _NUMBER.fullmatch(part)]
        return "+".join(part for part in parts if part not in numbers), sum(int(n, 0) for n in numbers)


@dataclass(frozen=True, slots=True)
class MachineFunction:
    """A kernel or device function of the cubin, with its instructions in order of address."""

    name: str
    instructions: tuple[MachineInstruction, ...]


@dataclass(frozen=True, slots=True)
class Disassembly:
    """The machine code of a program: every function of its cubin; ``entry`` is the kernel's name among them."""

    arch: str
    entry: str
    functions: tuple[MachineFunction, ...]

    @property
    def kernel(self) -> MachineFunction:
        """The kernel itself."""
        return next(f for f in self.functions if f.name == self.entry)
