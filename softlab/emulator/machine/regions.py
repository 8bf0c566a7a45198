"""Loops of several basic blocks: many steps in one compiled call.

Where lanes part in a loop, each step runs a block for some lanes, and the calls of Python per step are most of the
cost. A region is such a loop, with pure opcodes and weak loads of global memory only: nothing in it changes memory or
waits, so that it can run to its end before any other lanes go on. The lowest block goes first, as in the schedule, and
the steps, counters and results are those of single steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from softlab.emulator.machine.code import CompiledBlock
from softlab.emulator.machine.loop_facts import LoopFacts
from softlab.emulator.machine.loop_records import LoopCode
from softlab.emulator.machine.native import started
from softlab.emulator.machine.native_region import RegionBlock, RegionFunction
from softlab.emulator.opcodes.effects import space_of
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.errors import UnsupportedInstruction

_SPACES = ("global", "const", "generic")
#: Loads that another lane's store may change meanwhile: lanes that poll must let others run.
_STRONG = ("volatile", "relaxed", "acquire", "mmio")
_MOST_BLOCKS, _MOST_INDEX, _WIDEST = 64, (1 << 15) - 1, 8
#: Seconds of one step in Python, of one load in it, of compiling an opcode and of loading LLVM: a loop is compiled when
#: its steps have cost as much as compiling it.
_STEP, _LOAD, _COMPILE, _COMPILE_OPCODE, _START = 3e-5, 3e-5, 5e-2, 3e-3, 1e-1


class RegionProgram(Protocol):
    """What a region asks of the kernel's program."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The basic blocks."""

    @property
    def registers(self) -> Mapping[str, int]:
        """Name -> number of each register."""

    @property
    def loops(self) -> LoopFacts:
        """What decides where lanes go."""

    def block(self, index: int) -> CompiledBlock:
        """The code of a block."""

    def dtype(self, register: str) -> np.dtype:
        """The dtype of a register between blocks."""


@dataclass(frozen=True)
class RegionCode:
    """A region as it is compiled: its function, the numbers of its registers, and what observers ask of it.

    ``written``: the positions in ``registers`` of those that it writes; ``deciding``: of those that decide where lanes
    go. ``load_blocks``: for each load, the position of its block.
    """

    function: RegionFunction
    registers: tuple[int, ...]
    dtypes: tuple[np.dtype, ...]
    written: tuple[int, ...]
    deciding: tuple[int, ...]
    loop: LoopCode
    load_blocks: np.ndarray


class Region:
    """The blocks ``first`` to ``last``: a loop whose lanes leave it to later blocks only."""

    def __init__(self, program: RegionProgram, instructions: Sequence[Instruction], first: int, last: int) -> None:
        self._program = program
        self.first = first
        self.last = last
        self.blocks = program.blocks[first : last + 1]
        self.names = frozenset(name for block in self.blocks for name in (*block.reads, *block.writes))
        opcodes = sum(block.stop - block.start for block in self.blocks)
        self._loads = [
            sum(instructions[index].opcode in ("ld", "ldu") for index in range(block.start, block.stop))
            for block in self.blocks
        ]
        self._cost = _COMPILE + _COMPILE_OPCODE * opcodes
        self._spent = 0.0

    def warm(self, block: int) -> bool:
        """A block of it runs once more; whether the loop is hot."""
        self._spent += _STEP + _LOAD * self._loads[block - self.first]
        return self._spent >= self._cost + (0 if started() else _START)

    @cached_property
    def code(self) -> RegionCode | None:
        """The compiled form; None where an opcode has none."""
        try:
            codes = [self._program.block(block.index) for block in self.blocks]
        except UnsupportedInstruction:
            return None
        sites: list[Site] = []
        owners: list[int] = []
        numbers = {name: position for position, name in enumerate(sorted(self.names))}
        blocks = []
        for position, compiled in enumerate(codes):
            block, code = compiled.block, compiled.code
            loads = []
            for operation in code.operations:
                if operation.load is None and operation.native is None:
                    return None
                if operation.load is not None:
                    if operation.load.space not in _SPACES or operation.load.dtype.itemsize > _WIDEST:
                        return None
                    loads.append(len(sites))
                    sites.append(operation.load)
                    owners.append(position)
            reads, writes = (tuple(numbers[name] for name in names) for names in (block.reads, block.writes))
            taken = block.targets[0] if block.end == "branch" else block.index + 1
            blocks.append(RegionBlock(block.index, block.stop - block.start, code, reads, writes, taken, tuple(loads)))
        names = sorted(self.names)
        if any(self._program.dtype(name).itemsize > _WIDEST for name in names):
            return None
        dtypes = tuple(self._program.dtype(name) for name in names)
        written = tuple(sorted({number for block in blocks for number in block.writes}))
        control = {*self._program.loops.control}
        registers = tuple(self._program.registers[name] for name in names)
        deciding = tuple(number for number in written if registers[number] in control)
        function = RegionFunction(blocks, dtypes, deciding)
        indices = np.array([site.index for site in sites], np.int64)
        loop = LoopCode(self.blocks, tuple(sites), indices)
        return RegionCode(function, registers, dtypes, written, deciding, loop, np.array(owners, np.int64))


def regions_of(program: RegionProgram, instructions: Sequence[Instruction]) -> dict[int, Region]:
    """Block -> the region that it is in. Of nested loops the outermost that can be one counts."""
    blocks = program.blocks
    able = [_able(block, instructions) for block in blocks]
    found: dict[int, Region] = {}
    for first, last in sorted(_loops(blocks), key=lambda loop: loop[0] - loop[1]):
        fits = last - first < _MOST_BLOCKS and last < min(_MOST_INDEX, len(blocks) - 1)
        if not fits or any(index in found for index in range(first, last + 1)) or not all(able[first : last + 1]):
            continue
        if all(target >= first for block in blocks[first : last + 1] for target in block.targets):
            region = Region(program, instructions, first, last)
            found.update(dict.fromkeys(range(first, last + 1), region))
    return found


def _loops(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """First and last block of each loop: from where a branch goes back to, to the last branch that does."""
    last: dict[int, int] = {}
    for block in blocks:
        for target in block.targets if block.end == "branch" else ():
            if target <= block.index:
                last[target] = max(block.index, last.get(target, 0))
    yield from last.items()


def _able(block: Block, instructions: Sequence[Instruction]) -> bool:
    if block.end not in ("branch", "fall") or block.warp_synchronous or block.waits:
        return False
    stop = block.stop - (block.end == "branch")
    return all(_is_able(instructions[index]) for index in range(block.start, stop))


def _is_able(instruction: Instruction) -> bool:
    opcode = OPCODES.find(instruction)
    if opcode is None:
        return False
    if instruction.opcode in ("ld", "ldu"):
        return instruction.guard is None and space_of(instruction) in _SPACES and not instruction.has(*_STRONG)
    return opcode.kind == "pure"
