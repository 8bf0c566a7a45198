"""Instructions that synchronise threads, and what follows from them for the order of a kernel's accesses.

An access is strong if it is an atomic, volatile or qualified, such as ``relaxed`` (PTX ISA, "Memory Consistency Model":
strong operations). Accesses that go around the first-level cache are written for the same purpose in older code.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.global_shadow import IN_BLOCK, STRONG, VOLATILE

#: The opcodes of atomics.
ATOMICS = ("atom", "red")
_STRONG = ("relaxed", "acquire", "release", "acq_rel", "mmio", "volatile", "cv", "cg", "wt")
_RELEASE = ("release", "acq_rel")
_FENCES = ("membar", "fence")


class StrongInstructions(NamedTuple):
    """Of a kernel.

    ``volatile_stores``: whether it has any. ``reads_apart``: whether reads come before later writes by other rules than
    other accesses do: it has strong loads or stores, and a strong store or an atomic with no fence before it.
    ``words_grow``: nobody stores to a word that synchronises, so that it tells all that it was ever told.
    ``synchronising``: the indices of the instructions that synchronise.
    """

    volatile_stores: bool
    reads_apart: bool
    words_grow: bool
    synchronising: frozenset[int]


def strong_instructions(image: Image) -> StrongInstructions:
    """Of a kernel's image."""
    instructions = image.instructions
    volatile = any(i.opcode == "st" and i.has("volatile") for i in instructions)
    strong = any(i.opcode in ("ld", "st") and is_strong(i) for i in instructions)
    grow = not any(is_strong(i) and i.opcode not in ("ld", *ATOMICS, *_FENCES) for i in instructions)
    apart = strong and not _are_all_fenced(image)
    fences = any(i.opcode in _FENCES or makes_fence(i) for i in instructions)
    if not (fences or strong):
        return StrongInstructions(volatile, apart, grow, frozenset())
    found = frozenset(n for n, i in enumerate(instructions) if is_strong(i) or i.opcode in ATOMICS)
    return StrongInstructions(volatile, apart, grow, found)


def is_strong(instruction: Instruction) -> bool:
    """Whether an access is strong by its qualifiers."""
    return instruction.has(*_STRONG)


def makes_fence(instruction: Instruction) -> bool:
    """Whether an access makes a fence first."""
    return instruction.has(*_RELEASE)


def scope_of(instruction: Instruction) -> str:
    """The scope of a fence or of a strong access; a volatile access and an atomic without one have the GPU's."""
    return "cta" if instruction.has("cta") else "gpu"


def fence_scope(instruction: Instruction) -> str:
    """The scope of a fence, "" for those that order no threads."""
    return "" if instruction.has("proxy") else scope_of(instruction)


def stamp_flags(instruction: Instruction, strong: bool) -> int:
    """The flags of an access in stamps."""
    if not strong:
        return 0
    return (
        STRONG
        | (VOLATILE if instruction.has("volatile") and instruction.opcode == "st" else 0)
        | (IN_BLOCK if scope_of(instruction) == "cta" else 0)
    )


def _are_all_fenced(image: Image) -> bool:
    """Whether the lanes of each strong store and atomic have read nothing since a fence, whose scope is as wide.

    Then what they have read before comes before what they tell by the rules of all accesses.
    """
    starts = set(image.labels.values())
    return all(
        instruction.opcode in ("st", *ATOMICS) and (makes_fence(instruction) or _follows_fence(image, index, starts))
        for index, instruction in enumerate(image.instructions)
        if instruction.opcode in ATOMICS or (is_strong(instruction) and instruction.opcode not in ("ld", *_FENCES))
    )


def _follows_fence(image: Image, index: int, starts: Set[int]) -> bool:
    """Whether a fence of all lanes comes before an instruction, with only arithmetic between the two."""
    scope = scope_of(image.instructions[index])
    while index not in starts and index > 0:
        index -= 1
        before = image.instructions[index]
        if before.opcode in _FENCES:
            return before.guard is None and fence_scope(before) in ("gpu", scope)
        opcode = OPCODES.find(before)
        if (opcode is None or opcode.kind != "pure") and not before.has("param"):
            return False
    return False
