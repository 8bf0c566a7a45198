"""What must hold where threads of a block pass one barrier from several places of the code.

PTX lets warps meet at a named barrier from different places if they give the same thread count. ``__syncthreads()`` is
barrier 0 for all threads, and CUDA C++ has a stricter rule for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, lanes_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.errors import KernelFault

#: (index of the instruction, thread count or None for all of the block, lanes).
Arrival = tuple[int, int | None, Lanes]
#: Lanes, a mask of (blocks, threads) bool, at an instruction.
Waiting = tuple[Instruction, np.ndarray]


@dataclass(frozen=True)
class Meeting:
    """Two places from which lanes passed one barrier, which is wrong in ``count`` blocks or warps."""

    fault: KernelFault
    severity: str
    count: int
    first: Waiting
    other: Waiting


_ONE_WARP = (
    "the thread waits at a barrier while other threads of its warp wait at another one. A warp comes to an aligned "
    "barrier as a whole. Move the barrier out of the branches"
)
_TWO_SYNCTHREADS = (
    "threads of the block meet here and at another __syncthreads(). A GPU lets them pass, since as many threads "
    'arrive. The CUDA C++ Programming Guide ("Synchronization Functions") allows a __syncthreads() in a branch only '
    "where all threads of the block take the same branch. Move it out of the branches"
)
_UNEVEN = (
    "threads of the block met here and at another __syncthreads(), and some of them came to fewer barriers than others "
    "in the end. Move the barrier out of the branches: all threads of the block must come to the same ones"
)
_VOTES = (
    "the thread votes at a barrier that others of its block reach without a vote. The result is unpredictable. Let all "
    "threads call the same function, such as __syncthreads_count"
)


def second_arrival(batch: Any, barrier: int, instruction: int, lanes: Lanes) -> KernelFault:
    """The fault of lanes that arrive twice at a barrier before it is complete (PTX ISA, "bar, barrier")."""
    sentence = (
        f"the thread arrives at barrier {barrier} twice before the barrier is complete. Let the warp wait at another "
        "barrier in between, until the other warps have passed this one"
    )
    fault: KernelFault = batch.faults.fault(
        "barrier-divergence", sentence, batch.program.image.instructions[instruction], lanes, np.bool_(True)
    )
    return fault


def uneven(batch: Any, meeting: Meeting) -> KernelFault:
    """The fault of threads that met at two places, of which some came to fewer barriers than others in the end."""
    return _fault(batch, _UNEVEN, meeting.first, meeting.other)


def meetings(batch: Any, barrier: int, arrivals: Sequence[Arrival]) -> Iterator[Meeting]:
    """What is wrong where lanes pass ``barrier`` with these arrivals."""
    for first, later in combinations(arrivals, 2):
        rows = np.asarray(first[2].mask.any(axis=1) & later[2].mask.any(axis=1))
        if rows.any():  # else they are of different blocks
            yield from _of_two(batch, barrier, _in_rows(first, rows), _in_rows(later, rows))


def _in_rows(arrival: Arrival, rows: np.ndarray) -> Arrival:
    return arrival[0], arrival[1], lanes_of(arrival[2].mask & rows[:, None])


def _of_two(batch: Any, barrier: int, first: Arrival, later: Arrival) -> Iterator[Meeting]:
    """What is wrong in the blocks whose lanes come from both of these places."""
    one, other = (batch.program.image.instructions[index] for index, _, _ in (first, later))
    counts = [count or batch.threads for _, count, _ in (first, later)]
    masks = [lanes.mask for _, _, lanes in (first, later)]
    here, there = (one, masks[0]), (other, masks[1])
    blocks = int(masks[0].any(axis=1).sum())
    if counts[0] != counts[1]:
        sentence = (
            f"warps come to barrier {barrier} with the thread counts {counts[0]} and {counts[1]}. Give all of them "
            "the same count"
        )
        yield _meeting(batch, sentence, here, there, blocks)
    if one.has("red") != other.has("red"):
        votes, without = (here, there) if one.has("red") else (there, here)
        yield _meeting(batch, _VOTES, votes, without, blocks)
    aligned = [is_aligned(one), is_aligned(other)]
    warps = [mask.reshape(len(mask), -1, WARP).any(axis=2) for mask in masks]
    torn = np.repeat(warps[0] & warps[1], WARP, axis=1)
    if one is not other and any(aligned) and torn.any():
        count = int(torn[:, ::WARP].sum())
        yield _meeting(batch, _ONE_WARP, (one, masks[0] & torn), (other, masks[1] & torn), count)
    elif one is not other and all(aligned) and barrier == 0 and first[1] is None and later[1] is None:
        yield _meeting(batch, _TWO_SYNCTHREADS, here, there, blocks, "warning")


def is_aligned(barrier: Instruction) -> bool:
    """Whether all threads of a warp must execute a barrier together: ``bar.sync`` is ``barrier.sync.aligned``."""
    return barrier.opcode == "bar" or barrier.has("aligned")


def _meeting(batch: Any, sentence: str, first: Waiting, other: Waiting, count: int, severity: str = "error") -> Meeting:
    return Meeting(_fault(batch, sentence, first, other), severity, count, first, other)


def _fault(batch: Any, sentence: str, first: Waiting, other: Waiting) -> KernelFault:
    """The fault of lanes at an instruction that meet others at another one."""
    (instruction, mask), (second, there) = first, other
    fault: KernelFault = batch.faults.fault(
        "barrier-divergence", sentence, instruction, lanes_of(mask), np.bool_(True), other=(second, lanes_of(there))
    )
    return fault
