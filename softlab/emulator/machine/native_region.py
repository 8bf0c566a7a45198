"""Machine code for a loop of several basic blocks: it does with the lanes what the schedule does, step by step.

A step runs one block for all lanes that are at it, the lowest block first. Registers lie in memory, one array per
register. The function counts what observers would hear of, and stops before a step that it cannot do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.code import Code
from softlab.emulator.machine.native import compiled_function
from softlab.emulator.machine.native_loop import constant, memory_type
from softlab.emulator.machine.native_region_parts import Parts, Turns, Word, slot
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.emitter import Emitter


class Status(IntEnum):
    """Why the function returned: no lane is left in the loop, a limit, a bad address, or a state that came again."""

    DONE = 0
    LIMIT = 1
    BAD_ADDRESS = 2
    REPEATS = 3


@dataclass(frozen=True)
class RegionBlock:
    """A block of the loop: the registers that its code reads and writes, by number, and where its lanes go.

    ``taken``: the block that lanes go to where the condition holds, or all lanes where there is none; the others go to
    the next one. ``loads``: for each load of the code, its number in the loop.
    """

    index: int
    length: int
    code: Code
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    taken: int
    loads: tuple[int, ...]


class RegionFunction:
    """The function of a loop: ``run(registers, at, words)``.

    ``at``: (lanes,) int16, the block of each lane; those of other blocks do not move. ``deciding``: the registers,
    written in the loop, that decide where lanes go.
    """

    def __init__(self, blocks: Sequence[RegionBlock], dtypes: Sequence[np.dtype], deciding: Sequence[int]) -> None:
        text = _Writer(blocks, dtypes, deciding).text()
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        self._function = kind(compiled_function(text))

    def run(self, registers: Sequence[np.ndarray], at: np.ndarray, words: np.ndarray) -> Status:
        """Run steps; the arrays change in place."""
        pointers = np.array([register.ctypes.data for register in registers], np.uint64)
        return Status(self._function(pointers.ctypes.data, at.ctypes.data, at.size // WARP, words.ctypes.data))


class _Writer(Parts):
    """Writes the module."""

    def __init__(self, blocks: Sequence[RegionBlock], dtypes: Sequence[np.dtype], deciding: Sequence[int]) -> None:
        super().__init__()
        self._blocks = blocks
        self._dtypes = dtypes
        self._deciding = deciding

    def text(self) -> str:
        """The module in LLVM's assembly."""
        self._check = self._checker()
        steps = [self._step(number) for number in range(len(self._blocks))]
        self._main(steps)
        return str(self._module)

    # A step of a block

    def _step(self, number: int) -> Any:
        """``step(registers, at, warps, words)``: run a block for the lanes that are at it; gives how many took it."""
        ir, size, block = self._ir, self._size, self._blocks[number]
        function, b = self._function(f"step{number}", size, self._arguments)
        registers, at, warps, words = function.args
        arrays = {r: self._array(b, registers, r) for r in dict.fromkeys((*block.reads, *block.writes))}
        counts = b.inttoptr(self._word(b, words, Word.COUNTS), size.as_pointer())
        told = b.inttoptr(self._word(b, words, Word.TOLD), size.as_pointer())
        # An access is recorded for all warps or for none.
        room = b.icmp_signed("<", self._word(b, words, Word.ROWS), self._word(b, words, Word.MOST_ROWS))
        self._set(b, words, Word.RECORDS, b.zext(room, size))
        addresses = [b.alloca(size, WARP) for _ in block.loads]
        lanes, taken_lanes, taken_bits, rest, found = (b.alloca(size) for _ in range(5))
        for variable in (lanes, taken_lanes):
            b.store(size(0), variable)
        splat = ir.Constant(ir.VectorType(ir.IntType(16), WARP), [block.index] * WARP)
        with Turns(b, size, "warps", warps) as warp:
            first = b.mul(warp, size(WARP))
            vector = b.bitcast(b.gep(at, [first]), splat.type.as_pointer())
            here = b.icmp_signed("==", b.load(vector, align=2), splat)
            bits = b.zext(b.bitcast(here, self._lane_bits), size)
            with b.if_then(b.icmp_unsigned("!=", bits, size(0))):
                for variable, value in ((taken_bits, size(0)), (rest, bits), (found, size(0))):
                    b.store(value, variable)
                self._each_lane(b, block, arrays, at, words, first, addresses, taken_bits, rest, found)
                every, taken = b.load(found), b.load(taken_bits)
                b.store(b.add(b.load(lanes), every), lanes)
                taken_count = b.call(self._count, [b.gep(counts, [size(number * 3)]), bits, taken])
                b.store(b.add(b.load(taken_lanes), taken_count), taken_lanes)
                self._note_loads(b, block, words, counts, told, warp, bits, every, addresses)
        self._add(b, words, Word.LANES, b.load(lanes))
        self._add(b, words, Word.INSTRUCTIONS, size(block.length))
        self._add(b, words, Word.STEPS, size(1))
        self._add(b, words, Word.LANE_INSTRUCTIONS, b.mul(b.load(lanes), size(block.length)))
        for load in block.loads:
            self._add(b, words, Word.ACCESSES, self._word_at(b, told, size(2 * load)))
        b.ret(b.load(taken_lanes))
        return function

    def _array(self, builder: Any, registers: Any, number: int) -> Any:
        kind = memory_type(self._ir, self._dtypes[number]).as_pointer()
        return builder.bitcast(builder.load(builder.gep(registers, [self._size(number)])), kind)

    def _each_lane(
        self, b: Any, block: RegionBlock, arrays: Mapping[int, Any], at: Any, words: Any, first: Any,
        addresses: Sequence[Any], taken_bits: Any, rest: Any, found: Any,
    ) -> None:  # fmt: skip
        ir, size, code = self._ir, self._size, block.code
        body, end = b.append_basic_block("lane"), b.append_basic_block("lanes_end")
        b.branch(body)
        b.position_at_end(body)
        left, number = b.load(rest), b.load(found)
        in_warp = b.cttz(left, ir.IntType(1)(1))
        lane = b.add(first, in_warp)
        values: dict[str, Any] = {}
        for name, register in zip(code.arguments, block.reads, strict=True):
            value = b.load(b.gep(arrays[register], [lane]))
            values[name] = b.trunc(value, ir.IntType(1)) if code.variables.dtypes[name] == np.bool_ else value
        emitter, load = Emitter(b, ir), 0
        for operation in code.operations:
            sources = [self._value(code, values, name) for name in operation.sources]
            if operation.load is not None:
                made = self._load(b, operation, sources[0], words, b.gep(addresses[load], [number]))
                load += 1
            else:
                assert operation.native is not None
                made = operation.native(emitter, *sources)
            values.update(zip(operation.results, made if isinstance(made, tuple) else (made,), strict=True))
        for name, register in zip(code.results, block.writes, strict=True):
            value = self._value(code, values, name)
            wide = b.zext(value, ir.IntType(8)) if code.variables.dtypes[name] == np.bool_ else value
            b.store(wide, b.gep(arrays[register], [lane]))
        taken = self._value(code, values, code.decided[0]) if code.decided else ir.IntType(1)(1)
        target, following = ir.IntType(16)(block.taken), ir.IntType(16)(block.index + 1)
        b.store(b.select(taken, target, following), b.gep(at, [lane]))
        b.store(b.or_(b.load(taken_bits), b.shl(b.zext(taken, size), in_warp)), taken_bits)
        b.store(b.add(number, size(1)), found)
        left = b.and_(left, b.sub(left, size(1)))
        b.store(left, rest)
        b.cbranch(b.icmp_unsigned("!=", left, size(0)), body, end)
        b.position_at_end(end)

    def _value(self, code: Code, values: Mapping[str, Any], name: str) -> Any:
        return values[name] if name in values else constant(self._ir, code.variables.constants[name])

    def _load(self, b: Any, operation: Operation, base: Any, words: Any, note: Any) -> tuple[Any, ...]:
        """The elements at an address; nothing in particular where it is bad."""
        size, site = self._size, operation.load
        assert site is not None
        wide = b.zext(base, size) if base.type.width < 64 else base
        address = b.add(wide, size(site.offset & (1 << 64) - 1)) if site.offset else wide
        b.store(address, note)
        place = b.call(self._find, [address, size(site.width), words])
        bad = b.icmp_unsigned("==", place, size(0))
        place = b.select(bad, self._word(b, words, Word.NOTHING), place)
        self._set(b, words, Word.BAD, b.or_(self._word(b, words, Word.BAD), b.zext(bad, size)))
        kind = memory_type(self._ir, site.dtype)
        pointer = b.inttoptr(place, kind.as_pointer())
        return tuple(b.load(b.gep(pointer, [size(i)]), align=1) for i in range(site.elements))

    def _note_loads(
        self, b: Any, block: RegionBlock, words: Any, counts: Any, told: Any, warp: Any, bits: Any, every: Any,
        addresses: Sequence[Any],
    ) -> None:  # fmt: skip
        size = self._size
        access = self._word(b, words, Word.ACCESSES)
        for number, array in zip(block.loads, addresses, strict=True):
            place = b.gep(counts, [size(len(self._blocks) * 3 + number)])
            about = b.gep(told, [size(2 * number)])
            b.call(self._note, [words, place, about, array, warp, bits, every, size(number), access])
            access = b.add(access, b.load(about))

    # All steps

    def _main(self, steps: Sequence[Any]) -> None:
        size = self._size
        function, b = self._function("loop", size, self._arguments, internal=False)
        registers, at, warps, words = function.args
        lanes = b.alloca(size, len(self._blocks))
        for number, block in enumerate(self._blocks):
            b.store(self._lanes_at(b, at, warps, block.index), b.gep(lanes, [size(number)]))
        turn = function.append_basic_block("turn")
        b.branch(turn)
        b.position_at_end(turn)
        for number, block in enumerate(self._blocks):
            count = b.load(b.gep(lanes, [size(number)]))
            with b.if_then(b.icmp_signed(">", count, size(0))):
                ends = b.call(self._check, [registers, at, warps, words, size(block.index), size(block.length)])
                with b.if_then(b.icmp_unsigned("!=", ends, size(Status.DONE))):
                    b.ret(ends)
                taken = b.call(steps[number], [registers, at, warps, words])
                with b.if_then(b.icmp_unsigned("!=", self._word(b, words, Word.BAD), size(0))):
                    b.ret(size(Status.BAD_ADDRESS))
                b.store(size(0), b.gep(lanes, [size(number)]))
                for target, arriving in ((block.taken, taken), (block.index + 1, b.sub(count, taken))):
                    position = target - self._blocks[0].index
                    if 0 <= position < len(self._blocks):
                        place = b.gep(lanes, [size(position)])
                        b.store(b.add(b.load(place), arriving), place)
                b.branch(turn)
        b.ret(size(Status.DONE))

    def _lanes_at(self, b: Any, at: Any, warps: Any, index: int) -> Any:
        size, count = self._size, slot(b, self._size)
        b.store(size(0), count)
        with Turns(b, size, "lanes", b.mul(warps, size(WARP))) as lane:
            here = b.icmp_signed("==", b.load(b.gep(at, [lane])), self._ir.IntType(16)(index))
            b.store(b.add(b.load(count), b.zext(here, size)), count)
        return b.load(count)

    def _checker(self) -> Any:
        """``check(registers, at, warps, words, block, length)``: whether to stop before this step, as a status.

        Brent's algorithm finds a state that comes again: compare each state with one that is kept, and keep another
        one when the number of steps has doubled.
        """
        size = self._size
        function, b = self._function("check", size, [*self._arguments, size, size])
        registers, at, warps, words, index, length = function.args
        after = b.add(self._word(b, words, Word.INSTRUCTIONS), length)
        over = b.icmp_signed(">", after, self._word(b, words, Word.MOST_INSTRUCTIONS))
        for so_far, most in ((Word.LANES, Word.MOST_LANES), (Word.STEPS, Word.MOST_STEPS)):
            reached = b.icmp_signed(">=", self._word(b, words, so_far), self._word(b, words, most))
            over = b.or_(over, reached)
        with b.if_then(over):
            b.ret(size(Status.LIMIT))
        state = b.inttoptr(self._word(b, words, Word.STATE), size.as_pointer())
        parts = [(b.bitcast(at, size.as_pointer()), 2)]
        steps = self._word(b, words, Word.STEPS)
        with b.if_then(b.icmp_signed("==", self._word(b, words, Word.STATE_BLOCK), index)):
            same = self._each_part(b, self._same, state, parts, registers, warps)
            with b.if_then(b.icmp_unsigned("!=", same, size(0))):
                b.ret(size(Status.REPEATS))
        with b.if_then(b.icmp_signed(">=", steps, self._word(b, words, Word.NEXT_STATE))):
            self._each_part(b, self._copy, state, parts, registers, warps)
            self._set(b, words, Word.STATE_BLOCK, index)
            self._set(b, words, Word.NEXT_STATE, b.mul(b.add(steps, size(1)), size(2)))
        b.ret(size(Status.DONE))
        return function

    def _each_part(self, b: Any, function: Any, state: Any, parts: list, registers: Any, warps: Any) -> Any:
        """Call it for where the lanes are and for each register that decides; gives whether all calls gave 1."""
        size = self._size
        parts = list(parts)
        for number in self._deciding:
            array = b.bitcast(self._array(b, registers, number), size.as_pointer())
            parts.append((array, self._dtypes[number].itemsize))
        result = slot(b, size)
        b.store(size(1), result)
        position: Any = size(0)
        for array, itemsize in parts:
            count = b.mul(warps, size(WARP * itemsize // 8))
            with b.if_then(b.icmp_unsigned("!=", b.load(result), size(0))):
                b.store(b.call(function, [b.gep(state, [position]), array, count]), result)
            position = b.add(position, count)
        return b.load(result)


def state_words(dtypes: Sequence[np.dtype], deciding: Sequence[int], lanes: int) -> int:
    """How many words a kept state has."""
    return (2 + sum(dtypes[number].itemsize for number in deciding)) * lanes // 8
