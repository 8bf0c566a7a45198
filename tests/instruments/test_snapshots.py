"""Snapshots of a timeline: the state of each warp at a clock, and how long warps wait."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.instruments.snapshots import BarrierWaits, IssueLog, barrier_waits, group_warps
from softlab.instruments.timeline import timeline
from tests.views.test_timeline import hand_made

# Warp 0 goes through shared memory alone while the three others wait.
ALONE = """
extern "C" __global__ void alone(float* y) {
  __shared__ float part[128];
  part[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 128; ++k) sum += part[k];
    part[0] = sum;
  }
  __syncthreads();
  y[threadIdx.x] = part[0];
}
"""


@pytest.fixture(scope="module")
def alone():
    return timeline(softlab.Kernel(ALONE, "alone"), 1, 128, (np.ones(128, np.float32),))


def test_every_clock_of_a_hand_made_timeline():
    """Written down from the rows of ``hand_made``: 'w' waits, '.' done, else the instruction."""
    issued = IssueLog.of(hand_made())
    texts = {0: "ab" + "cB" + "ww" + "de", 1: "abab" + "cB" + ".."}
    for clock in range(8):
        for warp, doing in enumerate(issued.at(clock)):
            wanted = texts[warp][clock]
            state = {"w": "waits", ".": "done"}.get(wanted, "issues")
            assert (warp, clock, doing.state) == (warp, clock, state)
            if state == "issues":
                assert doing.text == {"B": "bar;"}.get(wanted, f"{wanted};")
            if state == "waits":
                assert doing.line == 12


@pytest.mark.parametrize("warps", [1, 2, 3, 4])
def test_any_number_of_warps(warps):
    issued = IssueLog.of(timeline(softlab.Kernel(ALONE, "alone"), 1, 32 * warps, (np.ones(128, np.float32),)))
    assert issued.start.tolist() == [*(int((issued.warp < warp).sum()) for warp in range(warps)), len(issued.warp)]
    assert [doing.state for doing in issued.at(0)] == ["issues"] * warps
    assert [doing.state for doing in issued.at(10**6)] == ["done"] * warps


def test_lanes_and_lines_of_a_snapshot():
    first, second = IssueLog.of(hand_made()).at(3)
    assert (first.kind, first.line, first.lanes) == ("barrier", 12, 16)
    assert (second.kind, second.line, second.lanes) == ("global load", 2, 32)


def test_instructions_add_up_to_those_of_the_run(alone):
    """The emulator's counter, which knows nothing of timelines, has the same sum; and so has each warp."""
    counters = softlab.Kernel(ALONE, "alone").run(1, 128, (np.ones(128, np.float32),)).counters
    issued = IssueLog.of(alone)
    assert len(issued.clock) == counters["ptx_instructions"] == barrier_waits(alone).issued
    for warp in range(4):
        clocks = issued.clock[issued.warp == warp]
        assert (np.diff(clocks) > 0).all()


def test_three_warps_wait_for_one(alone):
    busy = next(stop for stop in alone.passes if stop.number == 1)
    middle = (min(busy.arrived) + busy.at) // 2
    doings = IssueLog.of(alone).at(middle)
    assert [doing.state for doing in doings] == ["issues", "waits", "waits", "waits"]
    assert doings[0].lanes == 1
    assert ALONE.splitlines()[doings[1].line - 1].strip() == "__syncthreads();"
    assert [warps for warps, _ in group_warps(doings)] == [(0,), (1, 2, 3)]
    found = barrier_waits(alone)
    assert found.passes == 2
    assert found.waited == sum(busy.at - arrived for arrived in busy.arrived[1:])
    assert found.share == pytest.approx(found.waited / (found.waited + found.issued))


def test_the_end(alone):
    assert {doing.state for doing in IssueLog.of(alone).at(alone.length)} == {"done"}


def test_the_share_of_waiting() -> None:
    assert BarrierWaits(issued=30, waited=10, length=50, passes=1).share == 0.25
    assert BarrierWaits(issued=0, waited=0, length=0, passes=0).share == 0
