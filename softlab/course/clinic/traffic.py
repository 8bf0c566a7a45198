"""Traffic of a kernel that is right: which lanes meet in a bank, how far neighbours are apart, who stores twice."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from softlab.course.kernels import BUDGET, Attempt, Requirement
from softlab.course.launch_cases import LaunchCase
from softlab.instruments.banks import BANK_BYTES, BANKS, WARP
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.kernel import Kernel
from softlab.traces.records import Accesses

#: Lanes that a sentence names.
_NAMED = 4


def with_lanes(requirement: Requirement, space: str) -> Requirement:
    """The requirement, and behind what is lacking the lanes of the worst access: "shared", "load" or "store"."""

    def lack(attempt: Attempt) -> str:
        said = requirement(attempt)
        if not said:
            return ""
        run = attempt.run
        return f"{said.strip()} {_meeting(run.shared) if space == 'shared' else _apart(run.global_, space)}".strip()

    return lack


def _meeting(accesses: Accesses) -> str:
    """The lanes that want different words of one bank, in the access that has most of them."""
    worst: tuple[int, int, list[int], list[int]] = (0, 0, [], [])
    for row in np.flatnonzero(accesses.width == BANK_BYTES):
        lanes = np.flatnonzero(accesses.active[row])
        words = accesses.address[row][lanes].astype(np.int64) // BANK_BYTES
        banks = words % BANKS
        for bank in np.unique(banks):
            there = banks == bank
            meet = len(np.unique(words[there]))
            if meet > worst[0]:
                worst = (meet, int(bank), lanes[there].tolist(), words[there].tolist())
    meet, bank, lanes_there, words_there = worst
    if meet < 2:
        return ""
    few = lanes_there if meet <= _NAMED else [*lanes_there[: _NAMED - 1], lanes_there[-1]]
    shown = " and ".join([", ".join(map(str, few[:-1])), str(few[-1])])
    return (
        f"{meet} lanes meet in bank {bank}: lanes {shown} want its words, the first two of them words {words_there[0]} "
        f"and {words_there[1]}, which are {words_there[1] - words_there[0]} apart."
    )


def _apart(accesses: Accesses, space: str) -> str:
    """How far the lanes of the access with the most sectors are apart."""
    worst, at = 0, -1
    for row in np.flatnonzero(accesses.store == (space == "store")):
        sectors = len(np.unique(accesses.address[row][accesses.active[row]] // SECTOR_BYTES))
        if sectors > worst:
            worst, at = sectors, int(row)
    if at < 0:
        return ""
    lanes = np.flatnonzero(accesses.active[at])
    gaps = np.diff(accesses.address[at][lanes].astype(np.int64))
    width = int(accesses.width[at])
    far = np.flatnonzero(gaps != width)
    if not len(far):
        return ""
    lane = int(lanes[far[0]])
    return (
        f"A warp touches {worst} sectors with {len(lanes) * width} bytes: lanes {lane} and {lane + 1} are "
        f"{int(gaps[far[0]])} bytes apart, where {width} would be next to each other."
    )


def one_block_per_element(attempt: Attempt) -> str:
    """Two blocks that store to one element, even if it is the same value."""
    launch = attempt.launch
    by: dict[int, int] = {}
    for line, block, _, addresses in stores(attempt.kernel, launch):
        for address in addresses:
            other = by.setdefault(address, block)
            if other != block:
                return (
                    f"blocks {other} and {block} both store to one element, on line {line}. The value is the same, but "
                    "nothing orders the two: it is a race. Each element belongs to one thread."
                )
    return ""


def stores(kernel: Kernel, launch: LaunchCase) -> Iterator[tuple[int, int, list[int], list[int]]]:
    """The stores to global memory: line, block, the threads in the block, and the address of each."""
    blocks = launch.grid if isinstance(launch.grid, int) else prod(launch.grid)
    args = tuple(launch.fresh().values())
    run = kernel.run(
        *(launch.grid, launch.block, args, launch.smem),
        check=False, budget=BUDGET, blocks=range(blocks),
    )  # fmt: skip
    accesses = run.global_
    for row in np.flatnonzero(accesses.store):
        lanes = np.flatnonzero(accesses.active[row])
        threads = (int(accesses.warp[row]) * WARP + lanes).tolist()
        yield int(accesses.line[row]), int(accesses.block[row]), threads, accesses.address[row][lanes].tolist()
