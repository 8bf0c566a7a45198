"""Instructions -> basic blocks, with what each reads and what lives on after it."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.emulator.linker import Image
from softlab.emulator.ptx import Address, Instruction, Operand, Pair, Register, Symbol, Vector
from softlab.errors import Error

#: Opcodes that end a block, and the kind of end that each is.
TERMINATORS = {
    "bra": "branch",
    "brx": "table",
    "ret": "exit",
    "exit": "exit",
    "trap": "trap",
    "bar": "barrier",
    "barrier": "barrier",
    "__assertfail": "assert",
}
#: Opcodes at which the lanes of a warp wait for each other. They begin a block.
WARP_SYNCHRONOUS = ("shfl", "vote", "match", "redux", "elect")
#: What begins the name of an instruction at which a lane may have to wait for others, and how: for the last thread of
#: its cluster, or for an mbarrier's phase. They begin a block.
WAITING = {
    ("barrier", "cluster", "wait"): "cluster",
    ("mbarrier", "try_wait"): "phase",
    ("mbarrier", "test_wait"): "phase",
}
#: Opcodes whose first operand is read, not written.
_NO_RESULT = (
    "st",
    "red",
    "bra",
    "brx",
    "bar",
    "barrier",
    "ret",
    "exit",
    "trap",
    "prefetch",
    "prefetchu",
    "cp",
    "vprintf",
    "nanosleep",
    "setmaxnreg",
)


@dataclass(frozen=True)
class Block:
    """Instructions ``start`` to ``stop`` (not included), run without a branch.

    ``end`` is "fall", "branch", "table", "exit", "trap", "assert" or "barrier"; ``targets`` the blocks it may jump to
    (for "branch" the one jumped to); the block after it is ``index + 1``. ``warp_synchronous`` says that its first
    instruction waits for the lanes that it names, ``waits`` for what it waits otherwise (a value of ``WAITING``, "" for
    nothing). ``reads`` are the registers needed from before, ``writes`` those that
    it changes and somebody reads after it.
    """

    index: int
    start: int
    stop: int
    end: str
    targets: tuple[int, ...]
    warp_synchronous: bool
    waits: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def is_warp_synchronous(instruction: Instruction) -> bool:
    """Whether the lanes of a warp that are named in its mask must execute it together."""
    if instruction.opcode in WARP_SYNCHRONOUS:
        return "sync" in instruction.modifiers
    return instruction.opcode in ("bar", "barrier") and instruction.has("warp")


def waits_for(instruction: Instruction) -> str:
    """What its lanes may have to wait for (a value of ``WAITING``), "" for nothing."""
    if instruction.opcode not in ("barrier", "mbarrier"):
        return ""
    name = (instruction.opcode, *instruction.modifiers)
    return WAITING.get(name[:3]) or WAITING.get(name[:2], "")


def ends_block(instruction: Instruction) -> bool:
    """Whether control may go elsewhere after it."""
    if instruction.opcode not in TERMINATORS or is_warp_synchronous(instruction):
        return False
    return not is_cluster_barrier(instruction)


def is_cluster_barrier(instruction: Instruction) -> bool:
    """Whether it is one half of the barrier of a cluster."""
    return instruction.opcode == "barrier" and instruction.has("cluster")


def uses_and_definitions(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The registers that it reads and those that it writes. A guarded write reads too: it may leave the old value."""
    uses: list[str] = []
    definitions: list[str] = []

    def walk(operand: Operand, into: list[str]) -> None:
        if isinstance(operand, Register):
            into.append(operand.name)
        elif isinstance(operand, Address):
            walk(operand.base, uses)
        elif isinstance(operand, Vector):
            for element in operand.elements:
                walk(element, into)
        elif isinstance(operand, Pair):
            walk(operand.first, into)
            walk(operand.second, into)

    operands = instruction.operands
    writes_first = instruction.opcode not in _NO_RESULT or (
        instruction.opcode in ("bar", "barrier") and instruction.has("red")
    )
    for position, operand in enumerate(operands):
        walk(operand, definitions if position == 0 and writes_first else uses)
    if instruction.guard is not None:
        uses.append(instruction.guard.name)
        uses += definitions
    return uses, definitions


def blocks_of(image: Image) -> tuple[Block, ...]:
    """Cut the image into blocks; also at barriers and before instructions at which lanes wait for each other.

    Raises:
        Error: a branch to a label that is not there.
    """
    instructions = image.instructions
    leaders = {0, *image.labels.values()}
    for index, instruction in enumerate(instructions):
        if ends_block(instruction):
            leaders.add(index + 1)
        if is_warp_synchronous(instruction) or waits_for(instruction):
            leaders.add(index)
    starts = sorted(leader for leader in leaders if leader < len(instructions))
    stops = [*starts[1:], len(instructions)]
    number = {start: index for index, start in enumerate(starts)}
    number[len(instructions)] = len(starts)  # falling off the end: an exit

    def target(name: str | None) -> int:
        if name not in image.labels:
            raise Error(f"PTX branches to {name!r}, which is no label of {image.name}")
        return number[image.labels[name]]

    drafts = []
    for start, stop in zip(starts, stops, strict=True):
        last = instructions[stop - 1]
        end = "fall"
        targets: tuple[int, ...] = ()
        if ends_block(last):
            end = TERMINATORS[last.opcode]
            symbols = [o.name for o in last.operands if isinstance(o, Symbol)]
            if end == "branch":
                targets = (target(symbols[0] if symbols else None),)
            elif end == "table":
                targets = tuple(target(label) for label in image.tables.get(symbols[-1] if symbols else "", (None,)))
        drafts.append((start, stop, end, targets))
    reads, writes, live_out = _liveness(instructions, drafts)
    return tuple(
        Block(
            index,
            start,
            stop,
            end,
            targets,
            is_warp_synchronous(instructions[start]),
            waits_for(instructions[start]),
            tuple(sorted(reads[index])),
            tuple(sorted(writes[index] & live_out[index])),
        )
        for index, (start, stop, end, targets) in enumerate(drafts)
    )


def _successors(index: int, count: int, end: str, targets: tuple[int, ...], guarded: bool) -> set[int]:
    follow = set(targets)
    if end in ("fall", "barrier", "assert") or (end in ("branch", "exit", "trap", "table") and guarded):
        follow.add(index + 1)
    return {f for f in follow if f < count}


def _liveness(
    instructions: tuple[Instruction, ...], drafts: list[tuple[int, int, str, tuple[int, ...]]]
) -> tuple[list[set[str]], list[set[str]], list[set[str]]]:
    """(registers read from before, written, live at the end) of each block."""
    reads: list[set[str]] = []
    writes: list[set[str]] = []
    follow: list[set[int]] = []
    for index, (start, stop, end, targets) in enumerate(drafts):
        read: set[str] = set()
        written: set[str] = set()
        for instruction in instructions[start:stop]:
            uses, definitions = uses_and_definitions(instruction)
            read |= set(uses) - written
            written |= set(definitions)
        reads.append(read)
        writes.append(written)
        guarded = instructions[stop - 1].guard is not None
        follow.append(_successors(index, len(drafts), end, targets, guarded))
    live_in = [set(r) for r in reads]
    live_out: list[set[str]] = [set() for _ in drafts]
    changed = True
    while changed:
        changed = False
        for index in range(len(drafts) - 1, -1, -1):
            out = set().union(*(live_in[f] for f in follow[index])) if follow[index] else set()
            if out != live_out[index]:
                live_out[index] = out
            into = reads[index] | (out - writes[index])
            if into != live_in[index]:
                live_in[index] = into
                changed = True
    return reads, writes, live_out
