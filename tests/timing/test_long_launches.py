"""Launches that execute much: what warps do is kept for the first part alone, and some blocks are given up."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.emulator.machine.native import compiling
from softlab.kernel import Kernel, estimation
from softlab.kernel.estimation import sample_launch
from softlab.sass import interpret
from softlab.timing.columns import Columns
from softlab.timing.lengths import most_instructions
from softlab.timing.sampling import Sample, first_wave
from softlab.timing.sm import BUDGET

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

_SOURCE = """
extern "C" __global__ void steps(const unsigned* a, unsigned* out, int turns, int more, int n) {
  __shared__ unsigned kept[64];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
  kept[threadIdx.x] = i;
  __syncthreads();
  #pragma unroll 1
  for (int turn = 0; turn < turns + more * (int)blockIdx.x; ++turn) {
    v = v * 1664525u + a[(v >> 9) % n] + kept[(threadIdx.x + turn) & 63];
    if (v & 64) out[i] = v;
  }
  out[i] = v;
}
extern "C" __global__ void one_by_one(unsigned* out, int turns) {
  unsigned v = threadIdx.x;
  #pragma unroll 1
  for (int warp = 0; warp < 4; ++warp) {
    if (threadIdx.x / 32 == warp) {
      #pragma unroll 1
      for (int turn = 0; turn < turns; ++turn) v = v * 1664525u + turn;
    }
    __syncthreads();
  }
  out[threadIdx.x] = v;
}"""
_N = 4096


def _arguments(grid: int, turns: int, more: int = 0) -> list:
    a = np.random.default_rng(3).integers(0, 1 << 32, _N, dtype=np.uint64).astype(np.uint32)
    return [a, np.zeros(64 * grid, np.uint32), turns, more, _N]


@pytest.mark.parametrize("choice", ["none", "all"])
def test_behind_a_number_of_instructions_the_others_are_counted(choice):
    """What is kept is the same, whether loops are compiled or not, and results and numbers are those of all."""
    kernel, given = Kernel(_SOURCE, "steps"), _arguments(5, 60, 7)
    with compiling(choice):
        every = interpret(kernel, 5, 64, given)
        some = interpret(kernel, 5, 64, given, logged=4000)
    assert np.array_equal(some.output(1), every.output(1))
    assert every.streams.further is None
    assert some.instructions == every.instructions > 8000
    kept = [len(stream) for stream in some.streams]
    assert 4000 < sum(kept) < 4400
    for one, other in zip(some.streams, every.streams, strict=True):
        assert len(one) + one.further == len(other)
    with compiling("none"):
        same = interpret(kernel, 5, 64, given, logged=4000)
    for one, other in zip(some.streams, same.streams, strict=True):
        assert np.array_equal(one.instructions, other.instructions)
        assert np.array_equal(one.active, other.active)
        assert np.array_equal(one.accesses.sectors, other.accesses.sectors)


def test_lanes_that_go_together_have_their_beginning():
    """Of warps whose lanes never part, what is kept is the first part of what they did."""
    kernel = Kernel(_SOURCE.replace("if (v & 64) out[i] = v;", ""), "steps")
    every, some = (interpret(kernel, 3, 64, _arguments(3, 50), logged=logged) for logged in (None, 2500))
    for one, other in zip(some.streams, every.streams, strict=True):
        assert 0 < len(one) < len(other)
        assert np.array_equal(one.instructions, other.instructions[: len(one)])
        requests = len(one.accesses)
        assert np.array_equal(one.accesses.position, other.accesses.position[:requests])
        assert np.array_equal(one.accesses.sectors, other.accesses.sectors[: other.accesses.offsets[requests]])
    columns, whole = Columns.of(some.streams), Columns.of(every.streams)
    assert columns.instructions_of_blocks == whole.instructions_of_blocks
    assert most_instructions(columns) == most_instructions(whole)
    assert columns.part == pytest.approx(2500 / every.instructions, rel=0.05)
    assert (whole.part, whole.least) == (1.0, 1.0)
    assert Columns.of(list(some.streams)).instructions_of_blocks == whole.instructions_of_blocks


def test_spare_blocks_are_given_up_if_all_have_done_as_much():
    kernel = Kernel(_SOURCE, "steps")
    every = interpret(kernel, 6, 64, _arguments(6, 60))
    some = interpret(kernel, 6, 64, _arguments(6, 60), logged=3000, spare=(1, 2, 4))
    assert some.blocks == (0, 3, 5)
    assert sorted({stream.block for stream in some.streams}) == [0, 3, 5]
    results = [one.output(1).reshape(6, 64)[[0, 3, 5]] for one in (some, every)]
    assert np.array_equal(*results)
    assert some.instructions == sum(len(one) for one in every.streams if one.block in some.blocks)


def test_where_a_block_has_done_less_all_are_interpreted():
    """How blocks differ is what the spare ones are interpreted for."""
    kernel = Kernel(_SOURCE, "steps")
    found = interpret(kernel, 4, 64, _arguments(4, 1, 60), logged=3000, spare=(1, 2))
    assert found.blocks == (0, 1, 2, 3)
    assert found.streams.further is not None


def test_an_estimate_of_the_first_part_is_near_that_of_all(monkeypatch):
    kernel, given = Kernel(_SOURCE, "steps"), _arguments(264, 3000)
    whole = sample_launch(kernel, 264, 64, given, 0, "H200")
    assert whole.columns.further is None
    monkeypatch.setattr(estimation, "_LOGGED", int(whole.columns.executed.sum()) // 4)
    monkeypatch.setattr(estimation, "_SIMULATED", 0)
    part = sample_launch(kernel, 264, 64, given, 0, "H200")
    assert part.columns.part == pytest.approx(0.25, rel=0.02)
    assert part.launch.left_out == len(whole.columns.blocks) - len(part.columns.blocks) > 0
    assert {*part.sample.blocks, 0, 263} == set(part.columns.blocks.tolist())
    one, other = part.estimate(), whole.estimate()
    assert one.microseconds == pytest.approx(other.microseconds, rel=0.03)
    assert one.instructions == pytest.approx(other.instructions, rel=0.01)
    assert one.bound == other.bound
    assert one.dram_bytes <= sum(a.nbytes for a in given if isinstance(a, np.ndarray)) + 64
    assert any("known of the first 25%" in note for note in one.notes)
    assert any(note.startswith(f"{part.launch.left_out} blocks that had executed as many") for note in one.notes)
    assert not any("known of the first" in note or "had executed" in note for note in other.notes)


def test_all_is_kept_where_the_first_part_lacks_a_warp(monkeypatch):
    """Warps that come one after the other: of the last one the first part has next to nothing."""
    kernel, given = Kernel(_SOURCE, "one_by_one"), [np.zeros(128, np.uint32), 400]
    monkeypatch.setattr(estimation, "_LOGGED", 1500)
    found = sample_launch(kernel, 1, 128, given, 0, "H200")
    assert found.columns.further is None


def test_all_is_kept_where_the_sm_is_simulated_to_its_end(monkeypatch):
    """Only blocks that show how others differ are given up: what they say of the longest warp of all is missing."""
    kernel, given = Kernel(_SOURCE, "steps"), _arguments(264, 300)
    whole = sample_launch(kernel, 264, 64, given, 0, "H200")
    monkeypatch.setattr(estimation, "_LOGGED", int(whole.columns.executed.sum()) // 4)
    part = sample_launch(kernel, 264, 64, given, 0, "H200")
    assert part.columns.further is None
    assert part.launch.left_out > 0
    assert part.sample == whole.sample
    assert part.estimate().microseconds == pytest.approx(whole.estimate().microseconds, rel=0.03)


def test_what_is_simulated_and_what_shows_differences_is_kept():
    assert 2 * BUDGET == estimation._LOGGED == 8_000_000


def test_the_first_wave_comes_from_all_of_the_sample():
    assert first_wave(Sample(tuple(range(100, 132)), 40, 8, 132)) == tuple(range(100, 132, 4))
    assert first_wave(Sample((3, 9), 2, 2, 132)) == (3, 9)
