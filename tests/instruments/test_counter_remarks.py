"""What the counters cannot know, or leave out, they say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlab.emulator.ptx.blocks import Block
from softlab.instruments.counter_remarks import _in_a_loop
from softlab.kernel import Kernel
from softlab.traces import Run

CLUSTER = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* x) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  int* other = cluster.map_shared_rank(&s, 0);
  atomicAdd(other, 1);
  cluster.sync();
  x[blockIdx.x] = s;
}"""
SWAP = """extern "C" __global__ void k(int* y) {
  int old = *(volatile int*)y, was;
  do {
    was = old;
    old = atomicCAS(y, was, was + 2);
  } while (old != was);
}"""


def cluster_run() -> Run:
    x = np.zeros(2, np.int32)
    run = Kernel(CLUSTER, "k").run(2, 64, (x,))
    assert x.tolist() == [128, 0]
    return run


def test_atomics_on_distributed_shared_memory_are_said_not_to_be_counted() -> None:
    run = cluster_run()
    assert run.counters["shared_atomic_instructions"] == 0
    assert run.remarks == ("line 9: 4 atomics on distributed shared memory are not counted",)
    assert f"  {run.remarks[0]}" in repr(run).splitlines()
    assert run.remarks[0] in run._repr_html_()


def test_turns_of_a_compare_and_swap_loop_follow_the_emulators_order() -> None:
    y = np.zeros(1, np.int32)
    run = Kernel(SWAP, "k").run(1, 64, (y,))
    assert y[0] == 128
    requests = run.counters["global_atomic_requests"]
    assert requests > 2, "the lanes that lose go round again, and count"
    assert run.remarks == (
        f"line 5: {requests} compare-and-swaps in a loop are counted in the emulator's order of threads; on a GPU the "
        "number of turns depends on timing",
    )


@pytest.mark.parametrize(
    "body",
    [
        "atomicCAS(y, 0, 1);",  # in no loop
        "atomicAdd(y, 1);",
        "for (int i = 0; i < 3; ++i) atomicAdd(y + i, 1);",
        "if (*y > 5) { int old = 1; while (old) old = atomicCAS(y, 0, 1); }",  # not reached
    ],
)
def test_no_remark_without_need(body: str) -> None:
    run = Kernel(f'extern "C" __global__ void k(int* y) {{ {body} }}', "k").run(1, 64, (np.zeros(4, np.int32),))
    assert run.remarks == ()


def test_remarks_are_saved(tmp_path: Path) -> None:
    run = cluster_run()
    run.save(tmp_path / "run.npz")
    assert Run.load(tmp_path / "run.npz").remarks == run.remarks


def test_without_counters_there_is_nothing_to_remark() -> None:
    assert Kernel(SWAP, "k").run(1, 64, (np.zeros(1, np.int32),), record=False).remarks == ()


@pytest.mark.parametrize("seed", range(20))
def test_which_instructions_are_in_a_loop(seed: int) -> None:
    """Random blocks of three instructions, beside a table of who reaches whom."""
    draw, count = random.Random(seed), 6
    follow: list[set[int]] = []
    blocks = []
    for index in range(count):
        end = draw.choice(["fall", "barrier", "assert", "branch", "exit"])
        guarded = end in ("branch", "exit") and draw.random() < 0.5
        targets = (draw.randrange(count),) if end == "branch" else ()
        terminator: Any = None
        if end != "fall":
            terminator = type("Terminator", (), {"guard": "p" if guarded else None})
        blocks.append(Block(index, 3 * index, 3 * index + 3, end, terminator, targets, False, False, "", (), ()))
        goes_on = end in ("fall", "barrier", "assert") or guarded
        follow.append({*targets, *([index + 1] if goes_on and index + 1 < count else [])})
    reaches = np.array([[other in after for other in range(count)] for after in follow])
    for _ in range(count):
        reaches |= (reaches.astype(int) @ reaches.astype(int)) > 0
    for instruction in range(3 * count):
        assert _in_a_loop(blocks, instruction) == reaches[instruction // 3, instruction // 3]
