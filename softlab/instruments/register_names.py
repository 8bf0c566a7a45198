"""What the registers of a PTX kernel hold: the type to show them in, and what the source calls them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Register, Special, Symbol
from softlab.instruments.source_names import Parameter, variable_name

#: Special registers, and what CUDA C++ calls them.
_SPECIALS = {
    f"{ptx}.{axis}": f"{cuda}.{axis}"
    for ptx, cuda in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))
    for axis in "xyz"
}
#: Opcodes that only move bits, from the second operand to the first.
_MOVES = ("mov", "shfl")


def special_name(name: str) -> str:
    """A special register as CUDA C++ calls it: "threadIdx.x"; the others as PTX does."""
    return _SPECIALS.get(name, f"%{name}")


def shown_types(image: Image) -> dict[str, np.dtype]:
    """For each register the type that says most of its bits: that of the instructions that compute with it.

    PTX moves and exchanges floats as raw bits (``.b32``), so such a register has the type of what it comes from or
    goes to.
    """
    votes: dict[str, Counter[np.dtype]] = {name: Counter() for name in image.registers}
    moved: list[tuple[str, str]] = []
    for instruction in image.instructions:
        kinds = [kind for kind in instruction.types if kind[0] != "b" and kind != "pred"]
        uses, definitions = uses_and_definitions(instruction)
        if instruction.opcode in _MOVES and (pair := _moved(instruction)):
            moved.append(pair)
        if not kinds:
            continue
        for names, kind in ((definitions, kinds[0]), (uses, kinds[-1])):
            for name in names:
                votes[name][DTYPES[kind]] += 2 if kind[0] == "f" else 1
    found = {name: _chosen(image.registers[name], votes[name]) for name in image.registers}
    raw = {name for name in found if not any(d.itemsize == found[name].itemsize for d in votes[name])}
    changed = True
    while changed:  # each turn gives at least one register its type
        changed = False
        for a, b in moved:
            for one, other in ((a, b), (b, a)):
                if one in raw and other not in raw and found[one].itemsize == found[other].itemsize:
                    found[one] = found[other]
                    raw.discard(one)
                    changed = True
    return found


def _chosen(kind: str, votes: Counter[np.dtype]) -> np.dtype:
    declared = DTYPES.get(kind, DTYPES["b64"])
    if kind[0] != "b" or kind in ("bf16", "bf16x2"):
        return declared
    return next((d for d, _ in votes.most_common() if d.itemsize == declared.itemsize), declared)


def _moved(instruction: Instruction) -> tuple[str, str] | None:
    """The registers between which an instruction moves bits."""
    first, *others = instruction.operands
    first = getattr(first, "first", first)  # of "a|p"
    if isinstance(first, Register) and others and isinstance(others[0], Register):
        return first.name, others[0].name
    return None


def source_names(image: Image, parameters: Sequence[Parameter]) -> dict[str, str]:
    """Register -> its name in the source, where PTX itself shows that: parameters, ``threadIdx.x``, shared arrays.

    The compiler keeps no names of local variables in optimised code, so most registers have none.
    """
    written = Counter(name for i in image.instructions for name in set(uses_and_definitions(i)[1]))
    numbers = {variable.name: number for number, (variable, _) in enumerate(image.params)}
    found: dict[str, str] = {}
    for instruction in image.instructions:
        if len(instruction.operands) < 2 or instruction.guard is not None:
            continue
        target, source = instruction.operands[:2]
        if not isinstance(target, Register) or written[target.name] != 1:
            continue
        if instruction.opcode == "ld" and instruction.has("param") and isinstance(source, Address):
            symbol = source.base.name if isinstance(source.base, Symbol) else ""
            number = numbers.get(symbol, len(parameters))
            if number < len(parameters):
                found[target.name] = parameters[number].name + (f"+{source.offset}" if source.offset else "")
        elif instruction.opcode == "mov" and isinstance(source, Special):
            found[target.name] = special_name(source.name)
        elif instruction.opcode == "mov" and isinstance(source, Symbol) and image.spaces.get(source.name) == "shared":
            found[target.name] = variable_name(source.name)
        elif instruction.opcode in ("cvta", "mov") and isinstance(source, Register) and source.name in found:
            found[target.name] = found[source.name]
    return found
