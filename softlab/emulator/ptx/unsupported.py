"""The error for PTX that the emulator cannot run."""

from __future__ import annotations

from softlab.emulator.ptx.places import place_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.errors import UnsupportedInstruction

_ADVICE = "Compile for another architecture, write the operation differently, or run it on a GPU"


def unsupported(
    instruction: Instruction, why: str = "", *, file: str | None = None, advice: str = _ADVICE,
    who: str = "the emulator",
) -> UnsupportedInstruction:  # fmt: skip
    """The error for an instruction that the emulator cannot run. It names the instruction and its place in the source.

    ``why`` says what of the instruction is not known; nothing is added where it is the instruction's own text.
    ``file`` is the kernel's own source file; ``advice`` says what to do instead; ``who`` does not know it.
    """
    place = place_of(instruction.frames, file)
    where = f" ({place})" if place.line else ""
    reason = f": {why}" if why and why != instruction.text else ""
    return UnsupportedInstruction(
        f"{who} does not know the PTX instruction `{instruction.text}`{where}{reason}. {advice}.",
        instruction=instruction.text,
        line=place.line,
        file=place.file or None,
        header=place.header,
    )
