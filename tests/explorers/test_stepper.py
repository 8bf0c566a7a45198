"""The stepper without a browser: steps, lines, questions, other warps, and what it says where the record ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from softlab import Kernel
from softlab.explorers import StepperExplorer

SOURCE = """extern "C" __global__ void pair(const float* x, float* y, double* z) {
  __shared__ float part[2];
  __shared__ double wide[300];
  float v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffffffff, v, 1);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  wide[threadIdx.x + 200] = v;
  __syncthreads();
  y[threadIdx.x] = v / part[1 - threadIdx.x / 32];
  z[threadIdx.x] = wide[threadIdx.x + 200];
}
"""


@pytest.fixture
def explorer() -> StepperExplorer:
    x = np.arange(1, 65, dtype=np.float32)
    made = StepperExplorer.of(Kernel(SOURCE, "pair"), 1, 64, (x, np.zeros_like(x), np.zeros(64)))
    x[:] = 0  # the explorer has copies
    return made


def go(explorer: StepperExplorer, text: str) -> None:
    """To the first step whose instruction begins so."""
    record = explorer.record
    explorer.step = next(step for step in range(len(record)) if record.text(step).startswith(text))


def written(explorer: StepperExplorer) -> tuple[str, list[str]]:
    """The first register that the step writes, and its values."""
    return next(iter(explorer.summary["writes"].items()))


def test_a_step_shows_what_it_writes_and_moves_both_ways(explorer):
    go(explorer, "ld.global.f32")
    register, values = written(explorer)
    assert values == [str(lane) for lane in range(1, 33)]
    assert (explorer.summary["line"], len(explorer.summary["lanes"])) == (4, 32)
    at = explorer.step
    for message, there in (("forward", at + 1), ("back", at), ("back", at - 1), ("forward", at)):
        explorer._pressed({"move": message})
        assert explorer.step == there
    assert written(explorer) == (register, values)
    explorer.step = 10**9
    assert explorer.step == len(explorer.record) - 1
    explorer.step = -5
    assert explorer.step == 0


def test_lines_are_gone_through_forwards_and_backwards(explorer):
    forwards, backwards = [], []
    explorer.step = 0
    while not forwards or explorer.step != forwards[-1]:
        forwards.append(explorer.step)
        explorer._pressed({"move": "line forward"})
    while not backwards or explorer.step != backwards[-1]:
        backwards.append(explorer.step)
        explorer._pressed({"move": "line back"})
    assert forwards == backwards[::-1]
    lines = [explorer.record.line(step) for step in forwards]
    assert all(a != b for a, b in pairwise(lines))
    assert {4, 5, 6, 8, 9} <= set(lines)


def test_a_question_is_followed_through_a_shuffle_to_the_array(explorer):
    go(explorer, "shfl")
    register, _ = written(explorer)
    explorer._pressed({"ask": [register, 6]})
    assert explorer.panes.chosen == ["register", register, 6]
    assert explorer.summary["chain"][0]["note"] == "Lane 6 took it from lane 7."
    while explorer.panes.chain[-1]["inputs"] and explorer.panes.chain[-1]["kind"] != "global":
        explorer._pressed({"follow": [len(explorer.panes.chain) - 1, 0]})
    last = explorer.panes.chain[-1]
    assert (last["name"], last["value"], last["step"]) == ("x[7]", "8.0", -1)
    explorer._pressed({"follow": [0, 0]})
    assert len(explorer.panes.chain) == 2, "another question at an earlier link takes the place of what came after it"
    explorer._pressed({"ask": []})
    assert (explorer.panes.chain, explorer.panes.chosen[0]) == ([], "")


def test_a_value_of_another_warp_leads_to_its_step_there(explorer):
    explorer.step = len(explorer.record) - 1
    explorer._pressed({"memory": [4, 4]})
    link = explorer.panes.chain[0]
    assert (link["name"], link["warp"], link["value"]) == ("part[1]", 1, "67.0")
    explorer._pressed({"visit": 0})
    assert explorer.warp == 1
    assert explorer.summary["text"].startswith("st.shared.f32")
    explorer.ask_shared(4)
    assert explorer.summary["chain"][0]["note"] == "Lane 0 stored it."


def test_shared_memory_shows_who_wrote_it_and_follows_the_step(explorer):
    go(explorer, "st.shared.f64")
    shared = explorer.panes.shared
    cells = {cell["address"]: cell for cell in shared["cells"]}
    touched = [cell for cell in cells.values() if cell["touched"]]
    assert len(touched) == 32, "the doubles of this warp, each over two banks"
    assert {(cell["span"], cell["fresh"]) for cell in touched} == {(2, True)}
    assert touched[5]["who"] == "t5"
    assert "written by thread 5, lane 5 of warp 0 in line 7" in touched[5]["tip"]
    assert explorer.summary["shared_row"] > 0
    explorer.shared_row = 0
    first = explorer.panes.shared["cells"][0]
    assert (first["text"], first["who"], first["fresh"]) == ("3", "t0", False)


def test_a_lane_without_a_value_shows_none(explorer):
    go(explorer, "st.shared.f32")
    rows = [row for group in explorer.panes.state["groups"] for row in group["rows"]]
    only = [row for row in rows if row["texts"][1:] == [""] * 31]
    assert only
    assert all(row["values"][1] == "no value yet" for row in only)
    assert explorer.summary["lanes"] == [0]
    assert "lane 0; lanes 1-31 not here" in explorer.panes.state["sentence"]


def test_the_end_of_a_record_is_said():
    endless = Kernel('extern "C" __global__ void k(volatile int* y) { while (*y < 1000) *y = *y + 1; }', "k")
    explorer = StepperExplorer.of(endless, 1, 1, (np.zeros(1, np.int32),), limit=40)
    assert "the record has 40 steps, as many as were asked for" in explorer.message.value
    assert explorer.summary["remarks"][0].startswith("The record is not complete")
    beyond = Kernel('extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1; }', "k")
    faulty = StepperExplorer.of(beyond, 1, 32, (np.zeros(8, np.float32),))
    assert "The run ended with a fault: global-out-of-bounds" in faulty.message.value
    whole = np.zeros(64, np.float32)
    with pytest.raises(ValueError, match="share memory"):
        StepperExplorer.of(beyond, 1, 32, (whole[:40], whole[20:]))
