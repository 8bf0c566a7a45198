"""Which arrays each instruction of a kernel may access, from the pointers that reach its address.

Arrays that no instruction may write need no watching for races. The analysis is one fixed point over all registers: an
array reaches a register if any instruction computes the register from a pointer to the array. The order of the
instructions does not matter, so too many arrays may be found, never too few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Operand, Register, Symbol, Vector

_POINTER_TYPES = ("u64", "s64", "b64")
_LOADS = ("ld", "ldu", "atom")
_STORES = ("st", "atom", "red")
_WATCHED = (*_LOADS, *_STORES, "cp")
#: A pointer that was loaded from memory: it may point to any array.
_ANY = -1
_SPACES = ("global", "shared", "local", "param", "const")
_ARITHMETIC = ("add", "sub", "mad", "fma")


@dataclass(frozen=True)
class PointerAnalysis:
    """What is known of the accesses to global memory of one launch.

    ``quiet``: indices of the instructions that access only arrays that no instruction may write.
    """

    quiet: frozenset[int]


def analyse(image: Image, array_at: Callable[[int], int | None], parameters: bytes) -> PointerAnalysis:
    """The analysis for one launch.

    Arguments:
        array_at: a number for the array or variable that has this address; None if there is none.
        parameters: the bytes of the launch's parameters.
    """
    found = _Reaching(image, array_at, parameters)
    accesses = {
        index: found.address_of(instruction)
        for index, instruction in enumerate(image.instructions)
        if _may_access_global(instruction)
    }
    written: set[int] = set()
    for index, arrays in accesses.items():
        if _writes_global(image.instructions[index]):
            written |= arrays or {_ANY}
    if _ANY in written:
        return PointerAnalysis(frozenset())
    return PointerAnalysis(
        frozenset(i for i, arrays in accesses.items() if arrays and _ANY not in arrays and not arrays & written)
    )


def narrowest(image: Image) -> int:
    """Bytes of the narrowest access to global memory, by a global or a generic address; at most 16."""
    widths = [16]
    for instruction in image.instructions:
        if _may_access_global(instruction):
            kind = instruction.modifiers[-1]
            count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
            widths.append(DTYPES[kind].itemsize * count if kind in DTYPES else 4)
    return min(widths)


def _spaces(instruction: Instruction) -> list[str]:
    return [m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in _SPACES]


def _may_access_global(instruction: Instruction) -> bool:
    """Whether an instruction accesses memory by a global or a generic address."""
    if instruction.opcode not in _WATCHED:
        return False
    spaces = _spaces(instruction)
    return not spaces or "global" in spaces


def _writes_global(instruction: Instruction) -> bool:
    if instruction.opcode == "cp":
        return _spaces(instruction)[:1] == ["global"]
    return instruction.opcode in _STORES


class _Reaching:
    """The arrays that reach each register."""

    def __init__(self, image: Image, array_at: Callable[[int], int | None], parameters: bytes) -> None:
        self._image = image
        self._array_at = array_at
        self._parameters = parameters
        self._arrays: dict[str, frozenset[int]] = {}
        steps = [(self._sources(i), *self._registers(i), i.opcode in _ARITHMETIC) for i in image.instructions]
        changed = True
        while changed:
            changed = False
            for start, uses, definitions, arithmetic in steps:
                reaching = start
                for name in uses:
                    reaching = reaching | self._arrays.get(name, frozenset())
                if arithmetic and len(reaching) > 1:  # a pointer plus a loaded integer
                    reaching = reaching - {_ANY}
                for name in definitions:
                    before = self._arrays.get(name, frozenset())
                    if not reaching <= before:
                        self._arrays[name] = before | reaching
                        changed = True

    def address_of(self, instruction: Instruction) -> frozenset[int]:
        """The arrays that reach the global address of an access."""
        addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
        if not addresses:
            return frozenset()
        from_global = instruction.opcode == "cp" and not _writes_global(instruction) and len(addresses) > 1
        return self._of(addresses[from_global].base)

    def _of(self, operand: Operand) -> frozenset[int]:
        if isinstance(operand, Register):
            return self._arrays.get(operand.name, frozenset())
        if isinstance(operand, Symbol) and self._image.spaces.get(operand.name) in ("global", "const"):
            return self._array(self._image.addresses[operand.name])
        return frozenset()

    def _array(self, address: int) -> frozenset[int]:
        number = self._array_at(address)
        return frozenset() if number is None else frozenset((number,))

    def _sources(self, instruction: Instruction) -> frozenset[int]:
        """The arrays that an instruction brings in: by symbols, parameters, and pointers in memory."""
        found: frozenset[int] = frozenset()
        if instruction.opcode not in _LOADS:
            for operand in instruction.operands:
                parts = operand.elements if isinstance(operand, Vector) else (operand,)
                for part in parts:
                    found |= self._of(part if isinstance(part, Symbol) else None)
            return found
        if instruction.modifiers[-1] not in _POINTER_TYPES:
            return found
        address = next((o for o in instruction.operands if isinstance(o, Address)), None)
        if address is None or not isinstance(address.base, Symbol):
            return frozenset((_ANY,))
        if self._image.spaces.get(address.base.name) != "kernel-param":
            return frozenset((_ANY,))
        offset = self._image.addresses[address.base.name] - _parameter_base(self._image) + address.offset
        count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4")), 1)
        for i in range(count):
            raw = self._parameters[offset + 8 * i : offset + 8 * i + 8]
            found |= self._array(int.from_bytes(raw, "little"))
        return found

    @staticmethod
    def _registers(instruction: Instruction) -> tuple[list[str], list[str]]:
        """The registers whose arrays reach the result, and the result. A load gives nothing of its address."""
        uses, definitions = uses_and_definitions(instruction)
        return ([] if instruction.opcode in _LOADS else uses), definitions


def _parameter_base(image: Image) -> int:
    variable, offset = image.params[0]
    return image.addresses[variable.name] - offset
