"""The record of a basic block."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.emulator.ptx.syntax import Instruction


@dataclass(frozen=True)
class Block:
    """Instructions ``start`` to ``stop`` (not included), run without a branch.

    ``end`` is "fall", or what the opcode of its last instruction is registered with: "branch", "table", "exit", "trap",
    "assert" or "barrier". ``terminator`` is that instruction, None for "fall". ``targets`` are the blocks it may jump
    to (for "branch" the one jumped to); the block after it is ``index + 1``.

    ``warp_synchronous`` says that its first instruction needs the lanes that it names; ``one_mask`` that all lanes
    that arrive at it name the same ones. ``waits`` says what the first instruction does while its event has not
    occurred: "blocks" (lanes stay), "polls" (lanes stay while others can run, then get the answer "not yet"), or ""
    where it does not wait.

    ``reads`` are the registers needed from before, ``writes`` those that it changes and that are read after it.
    """

    index: int
    start: int
    stop: int
    end: str
    terminator: Instruction | None
    targets: tuple[int, ...]
    warp_synchronous: bool
    one_mask: bool
    waits: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
