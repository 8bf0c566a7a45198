"""Recorded accesses: of lanes of any set, and of a loop that runs as one function, up to the limit."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, Box, lanes_of
from softlab.instruments.machine_code import MachineCode
from softlab.instruments.recorder import Recorder

WARPS_PER_BLOCK, BLOCKS = 3, 3
#: The linear index of each block of the batch.
LINEAR = np.array([7, 4, 9])
SITES = tuple(
    SimpleNamespace(index=index, store=False, width=width, space="global", instruction=SimpleNamespace(frames=()))
    for index, width in ((5, 4), (11, 16))
)


def recorder(limit: int, blocks: tuple[int, ...] = (4, 9)) -> Recorder:
    machine = SimpleNamespace(access=lambda site, address, known=None: (site, address), lines={})
    made = Recorder("file.cu", blocks, limit, machine)  # type: ignore[arg-type]
    batch: Any = SimpleNamespace(
        shared=SimpleNamespace(known=None),
        geometry=SimpleNamespace(linear=lambda rows: LINEAR[rows]),
        blocks=BLOCKS,
        threads=WARPS_PER_BLOCK * WARP,
    )
    made.batch(batch)
    return made


def loop_rows(random: np.random.Generator, count: int) -> np.ndarray:
    """Accesses of one to three warps each, out of order: (rows, 36) uint64."""
    number = np.repeat(np.arange(count), random.integers(1, 4, count))
    rows = np.zeros((len(number), 4 + WARP), np.uint64)
    rows[:, 0], rows[:, 1] = number, number % len(SITES)
    rows[:, 2] = random.integers(WARPS_PER_BLOCK, BLOCKS * WARPS_PER_BLOCK, len(number))
    rows[:, 3] = random.integers(1, 1 << 32, len(number))
    rows[:, 4:] = random.integers(0, 1 << 40, (len(number), WARP))
    return rows[random.permutation(len(rows))]


@pytest.mark.parametrize("limit", [*range(12), 25, 1000])
def test_the_loads_of_two_loops(limit: int) -> None:
    """The access that passes the limit is kept, with all its warps."""
    random = np.random.default_rng(limit)
    made, wanted, before = recorder(limit), [], 0
    for accesses in (6, 9):
        rows = loop_rows(random, accesses)
        made.loop(SimpleNamespace(rows=rows, accesses=accesses, code=SimpleNamespace(loads=SITES)))  # type: ignore[arg-type]
        for number in range(accesses):
            if len(wanted) >= limit:
                break
            wanted += [(before + number + 1, row) for row in rows if row[0] == number]
        before += accesses
        assert made.loop_rows().most == max(0, limit - len(wanted))
    found = made.global_()
    assert found.step.tolist() == [step for step, _ in wanted]
    assert found.instruction.tolist() == [SITES[int(row[1])].index for _, row in wanted]
    assert found.width.tolist() == [SITES[int(row[1])].width for _, row in wanted]
    assert not found.store.any()
    assert found.block.tolist() == [int(LINEAR[int(row[2]) // WARPS_PER_BLOCK]) for _, row in wanted]
    assert found.warp.tolist() == [int(row[2]) % WARPS_PER_BLOCK for _, row in wanted]
    if wanted:
        assert found.active.tolist() == [[bool(int(row[3]) >> lane & 1) for lane in range(WARP)] for _, row in wanted]
        assert found.address.tolist() == [row[4:].tolist() for _, row in wanted]


@pytest.mark.parametrize("blocks", [(), (7,), (9, 4, 4), (100,)])
def test_which_blocks_of_a_loop_are_asked_for(blocks: tuple[int, ...]) -> None:
    wanted = recorder(10, blocks).loop_rows()
    assert wanted.blocks.tolist() == [int(number) in blocks for number in LINEAR]
    assert wanted.most == 10


def test_accesses_beyond_the_limit_count_for_the_other_log() -> None:
    """Only those that the machine has."""
    made, lanes = recorder(1), Box(BLOCKS, WARPS_PER_BLOCK * WARP, None, None)
    removed = SimpleNamespace(index=12, space="global", width=4)
    site = SimpleNamespace(index=5, space="global", width=4, store=False, instruction=SimpleNamespace(frames=()))
    made._machine = MachineCode({12: SimpleNamespace(width=0)})  # type: ignore[dict-item]
    for one in (site, removed, site, removed, site):
        made.global_access(one, lanes, np.uint64(64), ())  # type: ignore[arg-type]
    made.shared_access(site, lanes, np.uint64(64), ())  # type: ignore[arg-type]
    assert set(made.global_().step.tolist()) == {1}
    assert set(made.shared().step.tolist()) == {4}


def recorded_slowly(mask: np.ndarray, addresses: np.ndarray) -> list[tuple[int, int, list[bool], list[int]]]:
    """(block, warp, active lanes, their addresses) of the recorded blocks; ``addresses`` (blocks, threads)."""
    found = []
    for row, block in enumerate(LINEAR.tolist()):
        for warp in range(WARPS_PER_BLOCK):
            lanes = slice(warp * WARP, warp * WARP + WARP)
            active = mask[row, lanes]
            if block in (4, 9) and active.any():
                found.append((block, warp, active.tolist(), np.where(active, addresses[row, lanes], 0).tolist()))
    return found


def sets(random: np.random.Generator) -> np.ndarray:
    """The lanes of some blocks and columns, of whole warps, or any."""
    threads = WARPS_PER_BLOCK * WARP
    kind = random.integers(4)
    rows = random.random(BLOCKS) < 0.6
    columns = random.random(threads) < 0.5 if kind % 2 else np.repeat(random.random(WARPS_PER_BLOCK) < 0.6, WARP)
    mask = rows[:, None] & columns if kind < 3 else random.random((BLOCKS, threads)) < 0.2
    mask[random.integers(BLOCKS), random.integers(threads)] |= not mask.any()
    return mask


def test_accesses_of_any_lanes() -> None:
    """Also of sets that come again."""
    random, boxes = np.random.default_rng(3), Counter[str]()
    for _ in range(40):
        made, wanted = recorder(1000), []
        masks = [sets(random) for _ in range(4)]
        known = [lanes_of(mask) for mask in masks]
        for number in random.integers(0, 4, 7).tolist():
            lanes, mask = known[number], masks[number]
            shape = lanes.extent if len(lanes.extent) == 1 or random.random() < 0.6 else (1, lanes.extent[1])
            address = random.integers(1, 1 << 40, shape).astype(np.uint64)
            made.global_access(SITES[0], lanes, address, ())  # type: ignore[arg-type]
            whole = np.zeros(mask.shape, np.uint64)
            whole[mask] = np.broadcast_to(address, lanes.extent).reshape(-1)
            wanted += recorded_slowly(mask, whole)
            boxes[type(lanes).__name__] += 1
        if wanted:
            found = made.global_()
            columns = (found.block, found.warp, found.active, np.where(found.active, found.address, 0))
            assert list(zip(*(column.tolist() for column in columns), strict=True)) == wanted
    assert min(boxes.values()) > 40, boxes
