"""What a warp waits for behind instructions at which its lanes part, from the code that the compiler makes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel.estimation import sample_launch
from softlab.timing.model import machine_function
from softlab.timing.traits import CodeTraits
from softlab.timing.work import Split, block_work

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")


def parted(source: str, *args: Any) -> tuple[list[str], Counter[tuple[str, Split]]]:
    """The instructions that one warp executes, and how often it waits behind which of them, by kind."""
    sampled = sample_launch(softlab.Kernel(source, "kernel"), (1,), (32,), args, 0, "H100")
    code = machine_function(sampled.launch.program).instructions
    (warp,) = block_work(sampled.streams, CodeTraits.of(code))[0].warps
    executed = [code[index].text for index in warp.code]
    names = [code[index].opcode for index in warp.code]
    return executed, Counter((names[at], Split(kind)) for at, kind in warp.splits.items())


def test_lanes_of_each_mask_go_on_by_themselves_behind_warpsync_exclusive():
    # An H100 executed the vote 7.3 times per turn of a loop whose warps had 7.3 groups left in the mean.
    source = """
extern "C" __global__ void kernel(const int* in, int* out, int n) {
  const int lane = threadIdx.x;
  const unsigned mask = 0xfu << (lane & ~3);
  int found = n;
  for (int k = 0; k < n; k++) {
    const unsigned over = __ballot_sync(mask, in[32 * k + lane] > 0);
    if (over) { found = k; break; }
  }
  out[lane] = found;
}"""
    values = np.zeros((6, 32), np.int32)
    values[2, 5] = values[4, 17] = values[4, 30] = 1
    expected = np.full(32, 6, np.int32)
    expected[4:8], expected[16:20], expected[28:32] = 2, 4, 4
    kernel, out = softlab.Kernel(source, "kernel"), np.zeros(32, np.int32)
    kernel.run(1, 32, [values, out, np.int32(6)])
    np.testing.assert_array_equal(out, expected)
    executed, splits = parted(source, values, np.zeros(32, np.int32), np.int32(6))
    turns = sum("WARPSYNC.EXCLUSIVE" in text for text in executed)
    votes = sum(text.startswith("VOTE") for text in executed)
    # Eight tiles in three turns, seven in two and five in one.
    assert (turns, votes) == (6, 3 * 8 + 2 * 7 + 5)
    assert sum(count for (_, kind), count in splits.items() if kind == Split.APART) == votes - turns


def test_a_loop_with_two_exits_yields_and_gives_way_to_lanes_that_wait():
    source = """
extern "C" __global__ void kernel(const int* in, int* out, const int* turns) {
  int at = threadIdx.x, left = turns[threadIdx.x];
  while (true) {
    const int next = ((volatile const int*)in)[at];
    if (next < 0) break;
    at = next;
    if (--left <= 0) break;
  }
  out[threadIdx.x] = at;
}"""
    turns = np.full(32, 5, np.int32)
    turns[7] = 2
    _, splits = parted(source, np.arange(32, dtype=np.int32), np.zeros(32, np.int32), turns)
    assert (splits["YIELD", Split.YIELDED], splits["YIELD", Split.GIVEN_WAY]) == (2, 3)


def test_a_third_set_of_lanes_is_told_from_a_second_one():
    source = """
extern "C" __global__ void kernel(int* out, int ways) {
  unsigned x = threadIdx.x, which = threadIdx.x % ways;
#define SIDE(n) case n: for (int k = 0; k < 9; k++) x = x * x + n * n + 3; break;
  switch (which) { SIDE(0) SIDE(1) SIDE(2) SIDE(3) SIDE(4) SIDE(5) SIDE(6) SIDE(7) }
  out[threadIdx.x] = x;
}"""
    found = [parted(source, np.zeros(32, np.int32), np.int32(ways))[1] for ways in (1, 2, 8)]
    further = [sum(n for (_, kind), n in splits.items() if kind == Split.FURTHER) for splits in found]
    assert not found[0]
    assert further[0] == further[1] == 0 < further[2]
