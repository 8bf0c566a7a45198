"""How long each warp would take by itself: what it issues, what it waits for, and loads that L1 cannot have.

It says which of the interpreted blocks take longest, before one SM is simulated. Blocks of as many instructions may
take different times: where rays go along the rows of a table each sector serves eight steps, and where they go across
the rows it serves one.
"""

from __future__ import annotations

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.timing.columns import Columns
from softlab.timing.parameters import Parameters


def longest_of_blocks(columns: Columns, code: tuple[MachineInstruction, ...], p: Parameters) -> dict[int, float]:
    """Block -> the cycles of its longest warp: its stall counts, a hit in L1 for each instruction that waits for a
    scoreboard, and instead of it the time of L2 where the warp waits for a sector that it loads for the first time."""
    stalls, waits = _of_code(code)
    if not len(columns.instructions):
        return {}
    ends = np.cumsum(columns.lengths)
    begins = ends - columns.lengths
    cycles = np.concatenate(([0.0], np.cumsum((stalls + p.l1_latency * waits)[columns.instructions])))
    each = cycles[ends] - cycles[begins]
    each += (p.l2_latency - p.l1_latency) * _misses(columns, np.cumsum(waits[columns.instructions]))
    return _largest(columns, each)


def most_instructions(columns: Columns) -> dict[int, float]:
    """Block -> the instructions of its longest warp."""
    return _largest(columns, columns.lengths)


def _largest(columns: Columns, each: np.ndarray) -> dict[int, float]:
    """Block -> the largest value of its warps."""
    largest: dict[int, float] = {}
    for stream, value in zip(columns.streams, each.tolist(), strict=True):
        largest[stream.block] = max(largest.get(stream.block, 0.0), float(value))
    return largest


def _of_code(code: tuple[MachineInstruction, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Of each instruction its stall count, and whether it waits for a scoreboard."""
    controls = [one.control for one in code]
    stalls = np.array([max(1, one.stall_cycles) if one else 1 for one in controls])
    return stalls, np.array([bool(one and one.waits) for one in controls])


def _misses(columns: Columns, waited: np.ndarray) -> np.ndarray:
    """How often each warp waits for loads of global memory that have a sector which it loads for the first time.

    Arguments:
        waited: of each instruction of all warps, how many instructions have waited until then.
    """
    missed = columns.first_loads
    owner, waits = columns.owner[missed], waited[columns.places[missed]]
    new = np.ones(len(missed), bool)
    new[1:] = (np.diff(owner) != 0) | (np.diff(waits) != 0)
    return np.bincount(owner[new], minlength=len(columns.streams)).astype(float)
