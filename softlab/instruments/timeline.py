"""Timeline of a block: what each warp did between barriers, in the order of the lock step.

Lengths are PTX instructions that a warp issued, not time. The emulator knows no latencies and no scheduler, so a
timeline does not show where a GPU would stall. It shows who waits for whom: at a barrier, every warp waits for the warp
of its block that has issued the most instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from softlab.cuda.compile import Program
from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.faults import source_line
from softlab.emulator.machine.flow import Block, is_warp_synchronous
from softlab.emulator.machine.machine import run
from softlab.emulator.machine.observers import Observer
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.ptx.parser import parsed
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site


class HasProgram(Protocol):
    """An object with a compiled program, such as a ``softlab.Kernel``."""

    @property
    def program(self) -> Program:
        """The compiled program."""


#: The kinds of instructions that a timeline distinguishes.
KINDS = (
    "global load",
    "global store",
    "shared load",
    "shared store",
    "shuffle",
    "barrier",
    "other",
)


@dataclass(frozen=True)
class BarrierPass:
    """Warps that passed a barrier of the block together, for the ``number``-th time in the block.

    line: of the kernel's CUDA file (0: unknown); at: the clock at which they continued, which is that of the last to
    arrive; warps: those that passed; arrived: the clock at which each of them arrived.
    """

    number: int
    line: int
    at: int
    warps: tuple[int, ...]
    arrived: tuple[int, ...]

    @property
    def waited(self) -> tuple[int, ...]:
        """How many instructions each warp waited for the last one to arrive."""
        return tuple(self.at - clock for clock in self.arrived)


@dataclass(frozen=True)
class Segment:
    """Consecutive instructions of one kind that one warp issued: ``count`` of them from the clock ``start`` on.

    lines: their source lines, ascending; lanes: the least and the most lanes that took part.
    """

    warp: int
    kind: str
    start: int
    count: int
    lines: tuple[int, ...]
    lanes: tuple[int, int]


@dataclass(frozen=True)
class Timeline:
    """What the warps of one block issued: one row per warp and execution of a basic block, in order.

    warp (n,) int32; clock (n,) int64: instructions that the warp had issued before; a barrier sets the clocks of all
    warps to the latest; first, last (n,) int32: instructions first to last - 1, indices into ``text``; lanes (n,)
    int32: how many took part; interval (n,) int32: barriers that the warp had passed.
    passes: the barriers; warps: of the block; text, lines, kinds: of each PTX instruction of the kernel (text "": the
    emulator inserted it, and it does not count); file: the kernel's own source.
    """

    block: int
    warps: int
    file: str
    text: tuple[str, ...]
    lines: tuple[int, ...]
    kinds: tuple[str, ...]
    warp: np.ndarray
    clock: np.ndarray
    first: np.ndarray
    last: np.ndarray
    lanes: np.ndarray
    interval: np.ndarray
    passes: tuple[BarrierPass, ...]

    @property
    def length(self) -> int:
        """The clock at the end of the block."""
        counts = self._issued()
        return max((int(c + n) for c, n in zip(self.clock, counts, strict=True)), default=0)

    def counts(self) -> np.ndarray:
        """(warps, intervals, len(KINDS)) int64: instructions of each kind that each warp issued between barriers."""
        intervals = int(self.interval.max()) + 1 if len(self.interval) else 1
        found = np.zeros((self.warps, intervals, len(KINDS)), np.int64)
        below = self._totals()
        rows = below[self.last] - below[self.first]
        np.add.at(found, (self.warp, self.interval), rows)
        return found

    def segments(self, warp: int | None = None) -> tuple[Segment, ...]:
        """The instructions as segments of one kind, by warp and clock; those of one ``warp`` if given."""
        numbers = [number for number in range(self.warps) if warp in (None, number)]
        return tuple(segment for number in numbers for segment in self._segments_of(number))

    def _totals(self) -> np.ndarray:
        """(instructions + 1, len(KINDS)): how many counted instructions of each kind stand before each instruction."""
        kinds = np.array([KINDS.index(kind) for kind in self.kinds], np.int64)
        counted = np.array([bool(text) for text in self.text])
        one = (kinds[:, None] == np.arange(len(KINDS))) & counted[:, None]
        return np.concatenate([np.zeros((1, len(KINDS)), np.int64), one.cumsum(axis=0)])

    def _issued(self) -> np.ndarray:
        below = self._totals().sum(axis=1)
        return below[self.last] - below[self.first]

    def _segments_of(self, warp: int) -> list[Segment]:
        found: list[Segment] = []
        for row in np.flatnonzero(self.warp == warp).tolist():
            clock, lanes = int(self.clock[row]), int(self.lanes[row])
            for index in range(int(self.first[row]), int(self.last[row])):
                if not self.text[index]:
                    continue
                _extend(found, Segment(warp, self.kinds[index], clock, 1, _known(self.lines[index]), (lanes, lanes)))
                clock += 1
        return found


def _known(line: int) -> tuple[int, ...]:
    return (line,) if line else ()


def _extend(segments: list[Segment], new: Segment) -> None:
    """Append a segment. Join it with the last one if that has the same kind and ends where it starts."""
    last = segments[-1] if segments else None
    if last is None or last.kind != new.kind or last.start + last.count != new.start or new.kind == "barrier":
        segments.append(new)
        return
    lines = last.lines if set(new.lines) <= set(last.lines) else tuple(sorted({*last.lines, *new.lines}))
    lanes = (min(last.lanes[0], new.lanes[0]), max(last.lanes[1], new.lanes[1]))
    segments[-1] = Segment(last.warp, last.kind, last.start, last.count + new.count, lines, lanes)


def timeline(
    kernel: HasProgram | Program,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any] = (),
    smem: int = 0,
    *,
    of: int = 0,
) -> Timeline:
    """Run a kernel in the emulator and record what the warps of one block did.

    >>> line = timeline(kernel, grid=2, block=256, args=(x, y, 1000))
    >>> line.counts()[0, 0]  # warp 0 before the first barrier, by KINDS
    array([...])

    Arguments:
        kernel: a ``softlab.Kernel``, or the compiled ``Program``.
        grid, block, args, smem: as ``Kernel.run`` takes them; the arrays are copied, so the caller's stay as they are.
        of: linear index of the block that is recorded.

    Raises:
        ValueError: the grid has no such block. KernelFault and others: as ``Kernel.run``, without its checks.
    """
    program = kernel if isinstance(kernel, Program) else kernel.program
    sizes, threads = _three(grid), _three(block)
    if not 0 <= of < sizes[0] * sizes[1] * sizes[2]:
        raise ValueError(f"of={of}: the grid {sizes} has the blocks 0 to {sizes[0] * sizes[1] * sizes[2] - 1}")
    module = parsed(program.ptx, program.file)
    emulated = EmulatedProgram(module, program.entry, fused=program.fuses_products)
    observer = _TimelineObserver(emulated.image.instructions, of, -(-threads[0] * threads[1] * threads[2] // WARP))
    launch, _ = prepare(emulated, sizes, threads, _copied(args), smem, file=program.file, observers=[observer])
    run(launch)
    return observer.result(program.file)


def _copied(args: Sequence[Any]) -> list[Any]:
    """The arguments with their arrays copied; one that is given twice is still one."""
    copies = {id(argument): argument.copy() for argument in args if isinstance(argument, np.ndarray)}
    return [copies.get(id(argument), argument) for argument in args]


def _three(size: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = [int(s) for s in size] if isinstance(size, tuple | list) else [int(size)]  # type: ignore[arg-type]
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def kind_of(instruction: Instruction) -> str:
    """The kind of an instruction, as far as its text shows it: "other" for an access by generic address."""
    if instruction.opcode == "shfl":
        return "shuffle"
    if instruction.opcode in ("bar", "barrier") and not is_warp_synchronous(instruction):
        return "barrier"
    verb = {"ld": "load", "st": "store", "red": "store", "atom": "store"}.get(instruction.opcode)
    if verb and instruction.has("shared", "shared::cta", "shared::cluster"):
        return f"shared {verb}"
    if verb and instruction.has("global"):
        return f"global {verb}"
    return "other"


class _TimelineObserver(Observer):
    """Records what the warps of one block run, and when they meet at barriers."""

    def __init__(self, instructions: Sequence[Instruction], block: int, warps: int) -> None:
        self._instructions = tuple(instructions)
        self._kinds = [kind_of(instruction) for instruction in self._instructions]
        counted = np.array([bool(instruction.text) for instruction in self._instructions])
        self._below = np.concatenate([[0], counted.cumsum()])
        self._block = block
        self._row: int | None = None
        self._clock = np.zeros(warps, np.int64)
        self._interval = np.zeros(warps, np.int64)
        self._rows: list[tuple[np.ndarray, ...]] = []
        self._passes: list[tuple[int, int, np.ndarray, np.ndarray]] = []

    def batch(self, batch: Any) -> None:
        """Find the block's row, if it is in this batch."""
        found = np.flatnonzero(batch.geometry.linear(np.arange(batch.blocks)) == self._block)
        self._row = int(found[0]) if len(found) else None

    def _active_lanes(self, lanes: Lanes) -> np.ndarray:
        """(warps,): how many lanes of each warp of the block are in the set."""
        if self._row is None:
            return np.zeros(len(self._clock), np.int64)
        return lanes.mask[self._row].reshape(-1, WARP).sum(axis=1)

    def block(self, block: Block, lanes: Lanes) -> None:
        """These warps issue the instructions of the block."""
        active = self._active_lanes(lanes)
        warps = np.flatnonzero(active)
        if not len(warps):
            return
        first, last = np.full(len(warps), block.start), np.full(len(warps), block.stop)
        self._rows.append((warps, self._clock[warps], first, last, active[warps], self._interval[warps]))
        self._clock[warps] += self._below[block.stop] - self._below[block.start]

    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        """These warps continue together: the clock of each becomes that of the last to arrive."""
        warps = np.flatnonzero(self._active_lanes(lanes))
        if not len(warps):
            return
        self._passes.append((instructions[0], int(self._clock[warps].max()), warps, self._clock[warps]))
        self._clock[warps] = self._clock[warps].max()
        self._interval[warps] += 1

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An access by generic address turns out to be one to global memory."""
        self._set_space(site, "global")

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An access by generic address turns out to be one to shared memory."""
        self._set_space(site, "shared")

    def _set_space(self, site: Site, space: str) -> None:
        if self._kinds[site.index] == "other" and site.space != "const":
            self._kinds[site.index] = f"{space} {'store' if site.store or site.operation else 'load'}"

    def result(self, file: str) -> Timeline:
        """The record."""
        dtypes = ("i4", "i8", "i4", "i4", "i4", "i4")
        columns = [
            np.concatenate([row[number] for row in self._rows]).astype(dtype) if self._rows else np.zeros(0, dtype)
            for number, dtype in enumerate(dtypes)
        ]
        lines = tuple(source_line(instruction.frames, file) or 0 for instruction in self._instructions)
        return Timeline(
            block=self._block,
            warps=len(self._clock),
            file=file,
            text=tuple(instruction.text for instruction in self._instructions),
            lines=lines,
            kinds=tuple(self._kinds),
            **dict(zip(("warp", "clock", "first", "last", "lanes", "interval"), columns, strict=True)),
            passes=tuple(
                BarrierPass(number, lines[index], at, tuple(warps.tolist()), tuple(arrived.tolist()))
                for number, (index, at, warps, arrived) in enumerate(self._passes)
            ),
        )
