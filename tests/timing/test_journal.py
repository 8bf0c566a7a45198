"""The timeline of the simulated SM: its stretches are the states that the simulation counts, one after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import softlab
from softlab.kernel.estimation import sample_launch
from softlab.timing import model
from softlab.timing.blocks import BlockClock
from softlab.timing.columns import Columns
from softlab.timing.journal import Journal, SmTimeline
from softlab.timing.memory import Memory
from softlab.timing.program import Action, Pipe, TimedProgram
from softlab.timing.sharing import Sharing
from softlab.timing.sm import simulate
from softlab.timing.work import BlockWork, WarpWork
from tests.timing.hand_made import BARE, END, load, row

SOURCE = """extern "C" __global__ void turn(const float* in, float* out, int n) {
  __shared__ float tile[256];
  for (int k = 0; k < 4; ++k) {
    tile[threadIdx.x] = in[(blockIdx.x * 4 + k) * 256 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 4 + k) * 256 + threadIdx.x] = __expf(tile[255 - threadIdx.x]);
    __syncthreads();
  }
}
"""


@pytest.fixture(scope="module")
def estimate():
    kernel = softlab.Kernel(SOURCE, "turn")
    n = 600 * 1024
    return kernel.estimate(600, 256, (np.zeros(n, np.float32), np.zeros(n, np.float32), n), timeline=True)


def test_the_stretches_of_a_warp_follow_each_other_without_a_gap(estimate):
    timeline = estimate.timeline
    for warp in range(timeline.warps):
        found = list(timeline.stretches(warp))
        assert "selected" in (one.state for one in found)
        assert all(a.stop == b.start for a, b in pairwise(found))
        assert all(one.stop > one.start for one in found)
        assert sum(one.state == "selected" for one in found) > 60


def test_the_states_add_up_to_the_stalls_of_the_estimate(estimate):
    sums = estimate.timeline.cycles_by_state()
    total = sum(sums.values())
    assert set(sums) == set(estimate.stalls)
    for name, share in estimate.stalls.items():
        assert sums[name] / total == pytest.approx(share, abs=1e-3)


def test_a_barrier_has_its_line_and_ends_at_once_for_no_two_warps(estimate):
    waits = [one for w in range(8) for one in estimate.timeline.stretches(w) if one.state == "barrier"]
    assert {one.line for one in waits} & {5, 6, 7, 8, 3, 4}
    assert len({one.stop for one in waits}) > 4


def test_blocks_have_their_warps(estimate):
    timeline = estimate.timeline
    assert timeline.complete
    assert timeline.warps == 8 * estimate.blocks
    assert [timeline.blocks.count(block) for block in dict.fromkeys(timeline.blocks)] == [8] * estimate.blocks
    assert "cycles" in repr(timeline)


def test_without_a_wish_there_is_no_timeline_and_the_estimate_is_the_same(estimate):
    kernel = softlab.Kernel(SOURCE, "turn")
    n = 600 * 1024
    plain = kernel.estimate(600, 256, (np.zeros(n, np.float32), np.zeros(n, np.float32), n))
    assert plain.timeline is None
    assert plain == estimate


def test_by_hand_a_load_and_what_waits_for_it():
    """A load, then an instruction that waits for its scoreboard, behind a stall of 4."""
    rows = [
        row(Pipe.LG, action=Action.MEMORY, write=0, stall=4),
        row(Pipe.FMA, wait=(0,), stall=2),
        row(Pipe.FMA),
    ]
    journal = Journal()
    program = TimedProgram((), (*rows, END), {}, (11, 12, 13, 14))
    blocks = [BlockWork.of(7, (WarpWork([0, 1, 2, 3], [load(0, range(4))]),))]
    memory = Memory(BARE, Sharing.none(), 132, 0.0, 0)
    simulate(program, blocks, BARE, memory, BlockClock(BARE, 1, 132), journal=journal)
    found = list(SmTimeline.of(journal, blocks, program.lines).stretches(0))
    assert [(one.state, one.line) for one in found] == [
        ("selected", 11), ("wait", 12), ("long_scoreboard", 12), ("selected", 12), ("wait", 13), ("selected", 13),
        ("selected", 14),
    ]  # fmt: skip
    assert [one.stop - one.start for one in found[:2]] == [1, 3]
    assert found[2].stop - found[2].start > 600
    assert found[4].stop - found[4].start == 1


def test_estimates_of_one_sample_are_those_of_fresh_ones():
    n = 16 * 1024
    args = (np.zeros(n, np.float32), np.zeros(n, np.float32), n)
    kernel = softlab.Kernel(SOURCE, "turn")
    sampled = sample_launch(kernel, 16, 256, args, 0, "H200")
    for device, cache in (("H200", "cold"), ("H200", "warm"), ("H100", "cold"), ("H200", "cold")):
        fresh = sample_launch(kernel, 16, 256, args, 0, "H200")
        assert sampled.estimate(device, cache) == fresh.estimate(device, cache)


def test_a_full_journal_says_that_it_is_not_the_end():
    n = 600 * 1024
    args = (np.zeros(n, np.float32), np.zeros(n, np.float32), n)
    sampled = sample_launch(softlab.Kernel(SOURCE, "turn"), 600, 256, args, 0, "H200")
    journal, gpu = Journal(most=2000), model.device_of("H200")
    found = model.estimate(sampled.launch, Columns.of(sampled.streams), sampled.sample, gpu, journal=journal)
    assert found.timeline is not None
    assert not found.timeline.complete
    assert "not to the end" in repr(found.timeline)
