"""How long each warp would take by itself: what it issues, what it waits for, and loads that L1 cannot have.

It says which of the interpreted blocks take longest, before one SM is simulated. Blocks of as many instructions may
take different times: where rays go along the rows of a table each sector serves eight steps, and where they go across
the rows it serves one.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Floats, Int32s, Int64s
from softlab.timing.columns import Columns
from softlab.timing.parameters import Parameters
from softlab.timing.traits import CodeTraits

#: What NumPy takes for an instruction, in units of 100 microseconds.
_INSTRUCTION = 0.0001


def longest_of_blocks(columns: Columns, code: CodeTraits, p: Parameters) -> dict[int, float]:
    """Block -> the cycles of its longest warp: its stall counts, a hit in L1 for each instruction that waits for a
    scoreboard, and instead of it the time of L2 where the warp waits for a sector that it loads for the first time."""
    if not len(columns.instructions):
        return {}
    asked = id(code), p.l1_latency, p.l2_latency
    if asked not in columns.lengths_known:
        columns.lengths_known[asked] = _longest(columns, code, p)
    return columns.lengths_known[asked]


def _longest(columns: Columns, code: CodeTraits, p: Parameters) -> dict[int, float]:
    stalls, waits = code.stalls, code.waits
    places = columns.places[columns.first_loads]
    each, waited = walked(columns.instructions, columns.lengths, stalls + p.l1_latency * waits, waits, places)
    each += (p.l2_latency - p.l1_latency) * _misses(columns, waited)
    if columns.further is not None:  # what is not here takes as long as what is
        each *= columns.executed / np.maximum(columns.lengths, 1)
    return columns.by_block(each, np.maximum)


def walk(
    instructions: Int32s, lengths: Int64s, warps: int, cycles: Floats, waits: Int64s,
    places: Int64s, loads: int, each: Floats, waited: Int64s,
) -> int:  # fmt: skip
    """Write what :func:`walked` gives to ``each`` and ``waited``. cycles, waits: of each instruction of the code."""
    time, waiting, at, load = 0.0, 0, 0, 0
    for warp in range(warps):
        begin = time
        for place in range(at, at + lengths[warp]):
            time += cycles[instructions[place]]
            waiting += waits[instructions[place]]
            while load < loads and places[load] == place:
                waited[load] = waiting
                load += 1
        at += lengths[warp]
        each[warp] = time - begin
    return 0


_WALK = CompiledFunction(walk)


def walked(
    instructions: np.ndarray, lengths: np.ndarray, cycles: np.ndarray, waits: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The cycles of each warp, float64, and how many instructions have waited at each of the ``places``, int64.

    Arguments:
        instructions: int32, of all warps. lengths: int64 (warps,), how many each has.
        cycles: float64, of each instruction of the code. waits: bool, whether it waits.
        places: int64, in ``instructions``, ascending.
    """
    if not _WALK.ready(compiled_blocks(), _INSTRUCTION * len(instructions)):
        return by_numpy(instructions, lengths, cycles, waits, places)
    each, waited = np.empty(len(lengths)), np.empty(len(places), np.int64)
    given = (instructions, lengths, cycles, waits.astype(np.int64), places)
    one, many, table, flags, where = map(np.ascontiguousarray, given)
    _WALK.call(
        id(one), id(many), len(lengths), id(table), id(flags), id(where), len(places), id(each), id(waited)
    )  # fmt: skip
    return each, waited


def by_numpy(
    instructions: np.ndarray, lengths: np.ndarray, cycles: np.ndarray, waits: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`walked`, by sums of all."""
    ends = np.cumsum(lengths)
    time = np.concatenate(([0.0], np.cumsum(cycles[instructions])))
    return time[ends] - time[ends - lengths], np.cumsum(waits[instructions])[places]


def most_instructions(columns: Columns) -> dict[int, float]:
    """Block -> the instructions of its longest warp."""
    return columns.by_block(columns.executed.astype(float), np.maximum)


def _misses(columns: Columns, waits: np.ndarray) -> np.ndarray:
    """How often each warp waits for loads of global memory that have a sector which it loads for the first time.

    Arguments:
        waits: of each of these loads, how many instructions of all warps have waited until then.
    """
    owner = columns.owner[columns.first_loads]
    new = np.ones(len(owner), bool)
    new[1:] = (np.diff(owner) != 0) | (np.diff(waits) != 0)
    return np.bincount(owner[new], minlength=len(columns.streams)).astype(float)
