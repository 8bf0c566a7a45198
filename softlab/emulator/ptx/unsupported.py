"""The error for PTX that the emulator cannot run."""

from __future__ import annotations

from softlab.emulator.ptx.syntax import Instruction
from softlab.errors import UnsupportedInstruction


def unsupported(instruction: Instruction, why: str = "") -> UnsupportedInstruction:
    """The error for an instruction that the emulator cannot run. It names the instruction and its CUDA source line."""
    line = instruction.frames[0].line if instruction.frames else None
    where = f" (CUDA source line {line})" if line else ""
    return UnsupportedInstruction(
        f"the emulator does not know the PTX instruction `{instruction.text}`{where}{': ' + why if why else ''}. "
        "Compile for another architecture, write the operation differently, or run it on a GPU.",
        instruction=instruction.text,
        line=line,
    )
