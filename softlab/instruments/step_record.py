"""A record of all that one warp does, instruction by instruction, to be gone through forwards and backwards.

Only what changed is kept: the registers that a step writes with the lanes that wrote them, the bytes that the block
writes to memory, the addresses of the warp's accesses. The state at any step is found by search, not by replay, so a
jump costs the same wherever it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from softlab.cuda.compile import Program
from softlab.cuda.structs import arrays_of
from softlab.emulator import INSTRUCTION_BUDGET
from softlab.emulator.lanes import WARP
from softlab.emulator.machine.arguments import Mapped
from softlab.emulator.machine.faults import Index3, source_line
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.machine.machine import run
from softlab.emulator.machine.prepare import VariableValues, prepare
from softlab.emulator.machine.stepping import SteppedProgram, written
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import DTYPES
from softlab.errors import KernelFault
from softlab.instruments.address_names import AddressNames
from softlab.instruments.register_names import shown_types, source_names
from softlab.instruments.source_names import Parameter, parameters, shared_symbol
from softlab.instruments.step_recorder import SPACES, RecordFull, StepRecorder

#: Steps that a record has at most, unless asked otherwise: about 90 MB.
MOST_STEPS = 200_000
#: Bytes of stores between two keyframes of shared memory.
_KEYFRAME_BYTES = 1 << 18


@dataclass(frozen=True)
class RegisterState:
    """The registers of a warp after ``position`` steps; one row per register of the kernel.

    values: (registers, 32) uint64, the bits; known: (registers,) uint32, the lanes that have written it; step:
    (registers,) int64, the step that wrote it last, -1 for none.
    """

    position: int
    values: np.ndarray
    known: np.ndarray
    step: np.ndarray


@dataclass(frozen=True)
class SharedState:
    """The shared memory of the block as the warp sees it after ``position`` steps.

    data: (bytes,) uint8; store: (bytes,) int64, the row of ``StepRecord.stores`` that wrote each byte, -1 for none.
    """

    position: int
    data: np.ndarray
    store: np.ndarray


@dataclass(frozen=True)
class StepRecord:
    """What one warp of a run did. Steps count from 0; a position is a number of steps that have been made.

    block, warp: linear index of the block in the grid, and of the warp in the block; grid, threads: of the launch.
    truncated: why the record ends before the warp does, "" where it does not; fault: the fault that ended the run, "".
    notes: what the record cannot show. image: the PTX; lines: the line of each instruction in the kernel's own source,
    0 where there is none. registers: their names in PTX; types: dtype to show each in; names: register -> name in the
    source.
    steps: ``instruction``, ``active`` (lanes that are there, a mask), ``executed`` (those whose guard holds), ``tick``
    (a clock of the block: the same in the records of its other warps); (steps,) each.
    writes: ``step``, ``register``, ``lanes``, ``known`` (lanes that have ever written it) (n,), ``values`` (n, 32)
    uint64: the register as it is then, in all lanes.
    accesses: ``step``, ``space`` (index into ``SPACES``), ``width``, ``itemsize``, ``store``, ``lanes`` (n,),
    ``address`` (n, 32).
    stores: one row per thread of the block that wrote: ``at`` (the position from which the warp sees it), ``tick``,
    ``space``, ``instruction``, ``address``, ``width``, ``thread``, ``block``, ``atomic``, and for shared memory
    ``start``, where its bytes begin in ``stored``.
    shuffles: ``step`` (n,), ``source`` (n, 32), the lane that each lane reads.
    """

    program: Program
    block: int
    warp: int
    grid: Index3
    threads: int
    shared_bytes: int
    truncated: str
    fault: str
    notes: tuple[str, ...]
    image: Image
    lines: tuple[int, ...]
    registers: tuple[str, ...]
    types: tuple[np.dtype, ...]
    names: Mapping[str, str]
    steps: Mapping[str, np.ndarray]
    writes: Mapping[str, np.ndarray]
    accesses: Mapping[str, np.ndarray]
    stores: Mapping[str, np.ndarray]
    stored: np.ndarray
    shuffles: Mapping[str, np.ndarray]
    mapped: tuple[Mapped, ...]
    before: Mapping[int, np.ndarray]
    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.steps["instruction"])

    def text(self, step: int) -> str:
        """The PTX instruction of a step."""
        return self.image.instructions[int(self.steps["instruction"][step])].text

    def line(self, step: int) -> int:
        """The source line of a step, 0 where it has none."""
        return self.lines[int(self.steps["instruction"][step])]

    def at(self, position: int) -> RegisterState:
        """The registers after that many steps."""
        numbers = np.arange(len(self.registers))
        first, after = np.searchsorted(self._keys, numbers * self._stride + np.array([[0], [position]]))
        found = after > first
        rows = self._order[after[found] - 1]
        values = np.zeros((len(numbers), WARP), np.uint64)
        known, step = np.zeros(len(numbers), np.uint32), np.full(len(numbers), -1, np.int64)
        values[found], known[found] = self.writes["values"][rows], self.writes["known"][rows]
        step[found] = self.writes["step"][rows]
        return RegisterState(position, values, known, step)

    def last_write(self, register: int, lane: int, position: int) -> int | None:
        """The step before ``position`` that last wrote a register in a lane; None where none did."""
        first, last = np.searchsorted(self._keys, [register * self._stride, register * self._stride + position])
        rows = self._order[first:last]
        mine = np.flatnonzero(self.writes["lanes"][rows] >> np.uint32(lane) & 1)
        return int(self.writes["step"][rows[mine[-1]]]) if len(mine) else None

    def shared(self, position: int) -> SharedState:
        """Shared memory after that many steps."""
        stop = int(np.searchsorted(self._shared_at, position, "right"))
        number = int(np.searchsorted(self._keyframe_stops, stop, "right")) - 1
        start, data, store = self._keyframes[number]
        data, store = data.copy(), store.copy()
        self._apply(start, stop, data, store)
        return SharedState(position, data, store)

    def shared_name(self, address: int, width: int) -> str:
        """An address in shared memory as the source names it."""
        key = address, width
        if key not in self._shared_names:
            self._shared_names[key] = shared_symbol(self.image, address, width) or f"byte {address}"
        return self._shared_names[key]

    def stored_type(self, row: int) -> np.dtype:
        """How to read the bytes of a store: by its own type, else by that of the register that it stores.

        Float where neither is known: of asynchronous copies, and of bytes that nobody has written (``row`` -1).
        """
        instruction = self.image.instructions[int(self.stores["instruction"][row])] if row >= 0 else None
        if instruction is None or not instruction.types or instruction.opcode in ("cp", "stmatrix"):
            return np.dtype(np.float32)
        kind = DTYPES[instruction.types[-1]]
        if instruction.types[-1][0] != "b":
            return kind
        uses = uses_and_definitions(instruction)[0]
        shown = (self.types[self.registers.index(name)] for name in reversed(uses))
        return next((one for one in shown if one.itemsize == kind.itemsize), kind)

    def position_at(self, tick: int) -> int:
        """The steps that this warp has made when the block's clock shows ``tick``."""
        return int(np.searchsorted(self.steps["tick"], tick))

    # Search

    @property
    def _stride(self) -> int:
        """More than any position."""
        return len(self) + 2

    @cached_property
    def _order(self) -> np.ndarray:
        """The rows of ``writes`` by register and step."""
        return np.argsort(self.writes["register"], kind="stable")

    @cached_property
    def _keys(self) -> np.ndarray:
        register, step = (self.writes[name][self._order].astype(np.int64) for name in ("register", "step"))
        return register * self._stride + step

    @cached_property
    def _shared_rows(self) -> np.ndarray:
        """The rows of ``stores`` that are stores to shared memory."""
        return np.flatnonzero(self.stores["space"] == SPACES.index("shared"))

    @cached_property
    def _shared_at(self) -> np.ndarray:
        return self.stores["at"][self._shared_rows]

    @cached_property
    def _keyframes(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """(how many of the shared stores are in it, the bytes, the store of each byte)."""
        data, store = np.zeros(self.shared_bytes, np.uint8), np.full(self.shared_bytes, -1, np.int64)
        frames, total = [(0, data.copy(), store.copy())], len(self._shared_rows)
        ends = np.cumsum(self.stores["width"][self._shared_rows], dtype=np.int64)
        every = max(_KEYFRAME_BYTES, self.shared_bytes)
        while (start := frames[-1][0]) < total:
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + every, "right")))
            if stop >= total:
                break
            self._apply(start, stop, data, store)
            frames.append((stop, data.copy(), store.copy()))
        return frames

    @cached_property
    def _keyframe_stops(self) -> np.ndarray:
        return np.array([stop for stop, _, _ in self._keyframes])

    def _apply(self, start: int, stop: int, data: np.ndarray, store: np.ndarray) -> None:
        """Change shared memory as these of its stores do. Of several to one byte NumPy keeps the last."""
        rows = self._shared_rows[start:stop]
        if not len(rows):
            return
        width = self.stores["width"][rows].astype(np.int64)
        inside = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
        address = np.repeat(self.stores["address"][rows].astype(np.int64), width) + inside
        data[address] = self.stored[np.repeat(self.stores["start"][rows], width) + inside]
        store[address] = np.repeat(rows, width)

    @cached_property
    def _shared_names(self) -> dict[tuple[int, int], str]:
        return {}

    @cached_property
    def addresses(self) -> AddressNames:
        """The names of addresses."""
        return AddressNames(self.image, self.program.source, self.program.file, self.parameters)


class _Kept:
    """The variables of a kernel, of which the run gets copies."""

    def __init__(self, values: VariableValues) -> None:
        self._values = values

    @property
    def pointers(self) -> Mapping[str, Sequence[tuple[int, Any]]]:
        """Those of the kernel."""
        return self._values.pointers

    def data(self, symbol: str) -> np.ndarray | None:
        """A copy."""
        found = self._values.data(symbol)
        return None if found is None else found.copy()

    def keep(self, symbol: str, content: np.ndarray) -> None:
        """Nothing is kept."""


def record(
    program: Program,
    grid: Index3,
    block: Index3,
    args: Sequence[Any] = (),
    smem: int = 0,
    *,
    of: int = 0,
    warp: int = 0,
    limit: int = MOST_STEPS,
    cooperative: bool = False,
    variables: VariableValues | None = None,
    budget: int = INSTRUCTION_BUDGET,
) -> StepRecord:
    """Run a kernel in the emulator and record each step of one warp. The arrays and variables stay as they are.

    :meth:`softlab.Kernel.steps` is the same for a kernel, with its checks of the arguments.

    Arguments:
        of, warp: the linear index of the block, and the number of the warp in it.
        limit: steps that are recorded at most. Where the warp makes more, ``truncated`` says so.

    Raises:
        ValueError: the launch has no such block or warp. A fault of the kernel is not raised: the record has it.
    """
    _check_warp(grid, block, of, warp, limit)
    recorder: StepRecorder
    stepped = SteppedProgram(parse(program.ptx, file=program.file), program.entry, lambda *told: recorder.step(*told))
    numbers = stepped.registers
    destinations = [tuple(numbers[name] for name in written(one)) for one in stepped.image.instructions]
    recorder = StepRecorder(destinations, len(numbers), of, warp, limit)
    launch, mapped = prepare(
        *(stepped, grid, block, args, smem),
        file=program.file,
        budget=budget,
        cooperative=cooperative,
        compiled="none",
        observers=[recorder],
        variables=None if variables is None else _Kept(variables),
    )
    truncated, fault = "", ""
    with _restored(args) as before:
        try:
            run(launch)
        except RecordFull as full:
            truncated = full.reason
        except KernelFault as error:
            recorder.end()
            fault = str(error)
    named, types = parameters(program.source, program.name), shown_types(stepped.image)
    return StepRecord(
        program, of, warp, grid, prod(block), launch.shared_bytes, truncated, fault, tuple(recorder.notes),
        stepped.image,
        lines=tuple(source_line(i.frames, program.file) or 0 for i in stepped.image.instructions),
        registers=tuple(numbers),
        types=tuple(types[name] for name in numbers),
        names=source_names(stepped.image, named),
        steps=recorder.steps.arrays(),
        writes=recorder.writes.arrays(),
        accesses=recorder.accesses.arrays(),
        stores=recorder.stores.arrays(),
        stored=recorder.bytes.array(),
        shuffles=recorder.shuffles.arrays(),
        mapped=mapped,
        before={number: array for number, array in enumerate(before) if array is not None},
        parameters=named,
    )  # fmt: skip


def _check_warp(grid: Index3, block: Index3, of: int, warp: int, limit: int) -> None:
    blocks, threads = prod(grid), prod(block)
    warps = -(-threads // WARP)
    if not 0 <= of < blocks:
        raise ValueError(f"block {of}: the grid {grid} has the blocks 0 to {blocks - 1}")
    if not 0 <= warp < warps:
        raise ValueError(f"warp {warp}: a block of {threads} threads has the warps 0 to {warps - 1}")
    if limit < 1:
        raise ValueError(f"limit = {limit}: a record has at least one step")


@contextmanager
def _restored(args: Sequence[Any]) -> Iterator[list[np.ndarray | None]]:
    """Give the arrays of the arguments their contents back afterwards; the copies of those that are arguments."""
    saved = [(array, array.copy()) for array in _arrays(args)]
    of = {id(array): copy for array, copy in saved}
    try:
        yield [of.get(id(argument)) for argument in args]
    finally:
        for array, copy in saved:
            if array.flags.writeable:
                array[...] = copy


def _arrays(args: Sequence[Any]) -> Iterable[np.ndarray]:
    return (array for argument in args for array in arrays_of(argument) if isinstance(array, np.ndarray))
