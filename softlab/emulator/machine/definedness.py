"""Which registers may be read before they have a value: what is known before the kernel runs.

The compiler makes a register without a value of a C++ variable that is not written on every path to its use. It drops
many such variables, and nothing can be said of those. A register is suspect if a path leads from the kernel's beginning
to a read of it without a write. What is computed from a suspect register, or loaded from local memory, is tracked while
the kernel runs (:mod:`softlab.instruments.undefined`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.opcodes.effects import space_of
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Symbol

_GOES_ON = ("fall", "barrier", "assert")
#: Opcodes that are not pure and pass on what has no value.
_PROPAGATE = ("shfl", "mma", "movmatrix", "wmma.mma")


@dataclass(frozen=True)
class Tracked:
    """``suspects``: registers that may be read without a value; ``registers``: these and all that depend on them, or on
    local memory; ``probes``: instructions whose predicate decides which value a tracked register gets, or which lanes
    use it.
    """

    suspects: frozenset[str]
    registers: frozenset[str]
    probes: frozenset[int]


def reads_and_writes(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The registers that an instruction reads, its guard included, and those that it writes."""
    if instruction.guard is None:
        return uses_and_definitions(instruction)
    uses, definitions = uses_and_definitions(replace(instruction, guard=None))
    return [*uses, instruction.guard.name], definitions


def propagates(instruction: Instruction) -> bool:
    """Whether the result has no value where a source has none: pure opcodes, shuffles and products of matrices."""
    opcode = OPCODES.find(instruction)
    return opcode is not None and (opcode.kind == "pure" or opcode.name in _PROPAGATE)


def loads_local(instruction: Instruction, image: Image) -> bool:
    """Whether an instruction may load from local memory."""
    if instruction.opcode != "ld":
        return False
    space = space_of(instruction)
    if space == "param":  # of a call: a variable on the stack
        address = instruction.operands[1]
        name = address.base.name if isinstance(address, Address) and isinstance(address.base, Symbol) else ""
        return image.spaces.get(name) == "local"
    return space in ("local", "generic")


def tracked_registers(image: Image, blocks: Sequence[Block]) -> Tracked:
    """The analysis of a kernel."""
    suspects = _suspects(image, blocks)
    has_stack = any(name.startswith("__local_depot") for name in image.spaces)
    if not suspects and not has_stack:
        return Tracked(frozenset(), frozenset(), frozenset())
    found, instructions = set(suspects), image.instructions
    steps = []
    for instruction in instructions:
        uses, definitions = reads_and_writes(instruction)
        of_a_call = space_of(instruction) == "param"  # a function may get what has no value, and give it back
        if (has_stack or of_a_call) and loads_local(instruction, image):
            found.update(definitions)
        elif propagates(instruction):
            steps.append((uses, definitions))
    changed = True
    while changed:
        before = len(found)
        for uses, definitions in steps:
            if not found.isdisjoint(uses):
                found.update(definitions)
        changed = len(found) > before
    probes = set()
    for index, instruction in enumerate(instructions):
        uses, definitions = reads_and_writes(instruction)
        here = not found.isdisjoint((*uses, *definitions))
        if here and _is_choice(instruction):
            probes.add(index)
    return Tracked(frozenset(suspects), frozenset(found), frozenset(probes))


def _is_choice(instruction: Instruction) -> bool:
    opcode = OPCODES.find(instruction)
    ends = opcode is None or bool(opcode.ends)
    return instruction.opcode == "selp" or (instruction.guard is not None and not ends)


def _suspects(image: Image, blocks: Sequence[Block]) -> set[str]:
    """Registers that are read on some path on which nothing has written them. Sets are integers of one bit each."""
    number = {name: i for i, name in enumerate(image.registers)}
    written, exposed = [], []
    for block in blocks:
        writes = reads = 0
        for instruction in image.instructions[block.start : block.stop]:
            uses, definitions = reads_and_writes(instruction)
            for name in uses:
                reads |= (1 << number[name] if name in number else 0) & ~writes
            if instruction.guard is None:
                for name in definitions:
                    writes |= 1 << number[name] if name in number else 0
        written.append(writes)
        exposed.append(reads)
    before = [0, *[(1 << len(number)) - 1] * (len(blocks) - 1)]
    reached, pending = {0}, [0]
    while pending:
        index = pending.pop()
        after = before[index] | written[index]
        for follow in successors(blocks[index]):
            if follow < len(blocks) and (follow not in reached or before[follow] & ~after):
                before[follow] &= after
                reached.add(follow)
                pending.append(follow)
    found = 0
    for index in range(len(blocks)):
        found |= exposed[index] & ~before[index]
    return {name for name, i in number.items() if found >> i & 1}


def successors(block: Block) -> tuple[int, ...]:
    """The blocks that may run next; one beyond the last block is the kernel's end."""
    guarded = block.terminator is not None and block.terminator.guard is not None
    return (*block.targets, block.index + 1) if block.end in _GOES_ON or guarded else block.targets
