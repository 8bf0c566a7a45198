"""Atomics on global memory that repeat others leave a shadow as it is where each lane is looked at."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.emulator.lanes import Box
from softlab.emulator.machine.native import available
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.sites import Site
from softlab.instruments.global_shadow import IN_BLOCK, STRONG, GlobalShadow, Stamps
from softlab.instruments.happens_before import HappensBefore
from softlab.instruments.repeated_atomics import CellsOfLanes, RepeatedAtomics
from tests.sampled import each

BLOCKS, THREADS, CELLS = 3, 96, 43
WAYS = ["none", pytest.param("all", marks=pytest.mark.skipif(not available(), reason="llvmlite is not installed"))]
SOURCE = """
extern "C" __global__ void k(unsigned* x, unsigned* y) {
  unsigned sum = 0;
  for (int turn = 0; turn < 12; ++turn) {
    sum += atomicAdd(x + threadIdx.x % 4, 1u);
    if (turn == 9 && threadIdx.x == 40) sum += x[0];
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("seed", each(4, range(12)))
def test_repeated_atomics_are_recorded_as_others_are(seed: int, compiled: str) -> None:
    random = np.random.default_rng(seed)
    ours, plain = (GlobalShadow(CELLS, THREADS) for _ in range(2))
    ordered = HappensBefore(BLOCKS, THREADS, {}).ordered
    instruction: Any = None
    site, lanes = Site(0, instruction, "global", np.dtype(np.uint32)), Box(BLOCKS, THREADS, None, None)
    lane, atomics = np.arange(BLOCKS * THREADS), RepeatedAtomics(KnownAddresses(), compiled)
    places = [np.uint64(4 * int(random.integers(0, 8))), *(
        (first + np.arange(THREADS) % count)[None].astype(np.uint64) * np.uint64(4)
        for first, count in random.integers(1, 20, (3, 2))
    )]  # fmt: skip
    taken = 0
    for now in range(1, 80):
        address = places[int(random.integers(0, len(places)))]
        cell = np.broadcast_to(address, (BLOCKS, THREADS)).reshape(-1).astype(np.int64) // 4
        stamps = Stamps(cell, lane, now, STRONG)
        cells, at = np.unique(cell[::-1], return_index=True)
        found = CellsOfLanes(ours, cells, lane[::-1][at], STRONG)
        if atomics.record(site, lanes, address, now, partial(lambda cells: cells, found)):
            taken += 1
            assert not len(plain.clashing_writes(stamps, 1, ordered))
            assert not len(plain.clashing_reads(stamps, 1, ordered))
        else:
            ours.write(stamps)
        plain.write(stamps)
        if random.random() < 0.1:  # what is no atomic of the whole GPU
            few = lane[: int(random.integers(1, 9))]
            kind = int(random.integers(0, 3))
            other = Stamps(few + int(random.integers(0, 20)), few, now, (0, 0, STRONG | IN_BLOCK)[kind])
            for shadow in (ours, plain):
                shadow.write(other) if kind else shadow.read(other, 1, ordered)
        for a, b in zip(ours.tables(), plain.tables(), strict=True):
            np.testing.assert_array_equal(a, b)
    assert taken > 5


@pytest.mark.parametrize("compiled", WAYS)
def test_a_plain_read_between_repeated_atomics_is_a_race_at_its_line(compiled: str) -> None:
    x, y = np.zeros(4, np.uint32), np.zeros(128, np.uint32)
    run = softlab.Kernel(SOURCE, "k").run(2, 64, (x, y), check="collect", compiled=compiled)
    # The read comes after atomics of others, and the atomics of the next turn after the read.
    assert {(f.kind, f.line, f.other_line) for f in run.findings} == {("race", 6, 5), ("race", 5, 6)}
    assert x.tolist() == [12 * 32] * 4
