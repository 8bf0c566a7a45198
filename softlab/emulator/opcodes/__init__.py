"""The pure PTX opcodes. Importing this package fills :data:`PURE`."""

from softlab.emulator.opcodes import (  # noqa: F401 - importing registers
    approximate,
    bits,
    carry,
    compare,
    convert,
    floats,
    halves,
    integer,
    logic,
    move,
    video,
)
from softlab.emulator.opcodes.registry import PURE

__all__ = ["PURE"]
