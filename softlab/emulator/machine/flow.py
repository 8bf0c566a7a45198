"""Instructions -> basic blocks, with what each reads and which of its results live on after it.

The registration of an opcode says what it does to the flow of control (:mod:`softlab.emulator.opcodes.registry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_

import numpy as np

# Importing these modules registers all opcodes.
from softlab.emulator.opcodes import (  # noqa: F401 - importing registers
    asynchronous,
    bulk,
    control_flow,
    effects,
    hopper,
    matrices,
    textures,
    wgmma,
    wmma,
)
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Operand, Pair, Register, Symbol, Vector
from softlab.errors import Error

#: Ends after which the next block may always run.
_GOES_ON = ("fall", "barrier", "assert")


def is_warp_synchronous(instruction: Instruction) -> bool:
    """Whether the lanes of a warp that are named in its mask must execute it together."""
    opcode = OPCODES.find(instruction)
    return opcode is not None and opcode.warp_synchronous


def mask_of(instruction: Instruction) -> Operand:
    """The operand that names the lanes of a warp-synchronous instruction; None where all are meant."""
    opcode = OPCODES.find(instruction)
    return instruction.operands[-1] if opcode is not None and opcode.masked and instruction.operands else None


def waits(instruction: Instruction) -> str:
    """How its lanes wait for an event (``Block.waits``), "" where they do not."""
    opcode = OPCODES.find(instruction)
    return opcode.waits if opcode is not None else ""


def ends_block(instruction: Instruction) -> str:
    """How it ends a block (``Block.end``), "" where it does not."""
    opcode = OPCODES.find(instruction)
    return opcode.ends if opcode is not None else ""


def synchronises(instruction: Instruction) -> bool:
    """Whether other threads may be told something by it, or learn something: an atomic, a fence, a strong access."""
    strong = instruction.has("volatile", "relaxed", "acquire", "release", "mmio")
    return instruction.opcode in ("atom", "red", "membar", "fence") or (instruction.opcode in ("ld", "st") and strong)


def is_cluster_barrier(instruction: Instruction) -> bool:
    """Whether it is one half of the barrier of a cluster."""
    return instruction.opcode == "barrier" and instruction.has("cluster")


def uses_and_definitions(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The registers that it reads and those that it writes. A guarded write reads too: it may leave the old value."""
    uses: list[str] = []
    definitions: list[str] = []
    opcode = OPCODES.find(instruction)
    writes_first = opcode is None or opcode.has_result
    for position, operand in enumerate(instruction.operands):
        _registers(operand, definitions if position == 0 and writes_first else uses, uses)
    if instruction.guard is not None:
        uses.append(instruction.guard.name)
    if instruction.guard is not None or (opcode is not None and opcode.updates):
        uses += definitions
    return uses, definitions


def _registers(operand: Operand, into: list[str], uses: list[str]) -> None:
    """Append the registers of an operand; the base of an address is always a use."""
    if isinstance(operand, Register):
        into.append(operand.name)
    elif isinstance(operand, Address):
        _registers(operand.base, uses, uses)
    elif isinstance(operand, Vector):
        for element in operand.elements:
            _registers(element, into, uses)
    elif isinstance(operand, Pair):
        _registers(operand.first, into, uses)
        _registers(operand.second, into, uses)


@dataclass(frozen=True)
class _Draft:
    """A block before it is known which registers live on."""

    start: int
    stop: int
    end: str
    targets: tuple[int, ...]
    instructions: tuple[Instruction, ...]

    @property
    def terminator(self) -> Instruction | None:
        return self.instructions[-1] if self.end != "fall" else None

    def successors(self, index: int) -> set[int]:
        """The blocks that may run next; one beyond the last block is the kernel's end."""
        follow = set(self.targets)
        if self.end in _GOES_ON or self.instructions[-1].guard is not None:
            follow.add(index + 1)
        return follow


def blocks_of(image: Image, *, in_turns: bool = False) -> tuple[Block, ...]:
    """Cut the image into blocks; also at barriers and before instructions at which lanes wait for each other.

    ``in_turns``: cut also before atomics, fences and strong accesses, so that other warps can run in between.

    Raises:
        Error: a branch to a label that is not there.
    """
    drafts = _drafts(image, in_turns)
    reads, writes, live_out = _liveness(drafts)
    blocks = []
    for index, draft in enumerate(drafts):
        first = draft.instructions[0]
        blocks.append(
            Block(
                index,
                draft.start,
                draft.stop,
                draft.end,
                draft.terminator,
                draft.targets,
                is_warp_synchronous(first),
                _names_one_mask(first),
                waits(first),
                tuple(sorted(reads[index])),
                tuple(sorted(writes[index] & live_out[index])),
            )
        )
    return tuple(blocks)


def _names_one_mask(instruction: Instruction) -> bool:
    """Whether its last operand, the mask of a warp-synchronous instruction, is a constant, and all lanes execute it."""
    return instruction.guard is None and not isinstance(mask_of(instruction), Register)


def _drafts(image: Image, in_turns: bool) -> list[_Draft]:
    instructions = image.instructions
    leaders = {0, *image.labels.values()}
    for index, instruction in enumerate(instructions):
        if ends_block(instruction):
            leaders.add(index + 1)
        if is_warp_synchronous(instruction) or waits(instruction) or (in_turns and synchronises(instruction)):
            leaders.add(index)
    starts = sorted(leader for leader in leaders if leader < len(instructions))
    number = {start: index for index, start in enumerate(starts)}
    number[len(instructions)] = len(starts)  # falling off the end: an exit
    drafts = []
    for start, stop in zip(starts, [*starts[1:], len(instructions)], strict=True):
        end = ends_block(instructions[stop - 1]) or "fall"
        targets = tuple(number[_label(image, name)] for name in _target_names(image, instructions[stop - 1], end))
        drafts.append(_Draft(start, stop, end, targets, instructions[start:stop]))
    return drafts


def _target_names(image: Image, terminator: Instruction, end: str) -> tuple[str | None, ...]:
    """The labels that a terminator may jump to; None for one that is not there."""
    symbols = [o.name for o in terminator.operands if isinstance(o, Symbol)]
    if end == "branch":
        return (symbols[0] if symbols else None,)
    if end == "table":
        return image.tables.get(symbols[-1] if symbols else "", (None,))
    return ()


def _label(image: Image, name: str | None) -> int:
    if name not in image.labels:
        raise Error(f"PTX branches to {name!r}, which is no label of {image.name}")
    return image.labels[name]


def _liveness(drafts: list[_Draft]) -> tuple[list[set[str]], list[set[str]], list[set[str]]]:
    """(registers read from before, written, live at the end) of each block."""
    reads: list[set[str]] = []
    writes: list[set[str]] = []
    for draft in drafts:
        read: set[str] = set()
        written: set[str] = set()
        for instruction in draft.instructions:
            uses, definitions = uses_and_definitions(instruction)
            read |= set(uses) - written
            written |= set(definitions)
        reads.append(read)
        writes.append(written)
    follow = [{f for f in draft.successors(index) if f < len(drafts)} for index, draft in enumerate(drafts)]
    return reads, writes, _live_at_ends(reads, writes, follow)


def _live_at_ends(reads: Sequence[set[str]], writes: Sequence[set[str]], follow: Sequence[set[int]]) -> list[set[str]]:
    """The registers live at the end of each block. Sets are integers of one bit each: recursion has many."""
    number = {name: bit for bit, name in enumerate(dict.fromkeys(chain(*reads, *writes)))}
    read, written = ([sum(1 << number[name] for name in one) for one in sets] for sets in (reads, writes))
    live_in, live_out = list(read), [0] * len(read)
    changed = True
    while changed:
        changed = False
        for index in range(len(read) - 1, -1, -1):
            live_out[index] = reduce(or_, (live_in[one] for one in follow[index]), 0)
            into = read[index] | (live_out[index] & ~written[index])
            if into != live_in[index]:
                live_in[index] = into
                changed = True
    names, size = np.array(list(number), object), len(number) // 8 + 1
    masks = (np.frombuffer(one.to_bytes(size, "little"), np.uint8) for one in live_out)
    return [set(names[np.unpackbits(mask, bitorder="little")[: len(number)].astype(bool)]) for mask in masks]
