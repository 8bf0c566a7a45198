"""The public surface: estimates of kernels, plans, traces and runs."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.bench.record.atlas.jobs import sources
from softlab.hardware.atlas import load as load_atlas
from softlab.timing.estimates import BOUNDS
from softlab.timing.stalls import REASONS
from softlab.timing.validation import validated

COPY = """extern "C" __global__ void copy(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
extern "C" __global__ void chain(float* out, float a) {
  float x = threadIdx.x;
#pragma unroll 16
  for (int k = 0; k < 4096; k++)
    x = x * a + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
extern "C" __global__ void special(float* out, float a) {
  float x = threadIdx.x * a, y = x + a, z = x - a, w = a;
#pragma unroll 4
  for (int k = 0; k < 256; k++) {
    x = exp2f(x * a); y = exp2f(y * a); z = exp2f(z * a); w = exp2f(w * a);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}
"""

#: Each warp has its own number of turns.
TURNS = """
__global__ void turns(const int* turns, float* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float x = thread;
#pragma unroll 1
  for (int k = turns[thread / 32]; k > 0; --k) x = x * x + 0.5f;
  out[thread] = x;
}
"""


COUNTDOWN = """
__device__ int taken;
extern "C" __global__ void count_down(float* out, int* left) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int k = left[threadIdx.x]; k > 0; --k) x = x * x + 0.5f;
  out[threadIdx.x] = x;
  left[threadIdx.x] = 0;
}
extern "C" __global__ void counts(float* out, const int* left) {
  out[threadIdx.x] = left[threadIdx.x];
}
extern "C" __global__ void takes(int* out) {
  out[threadIdx.x] = atomicAdd(&taken, 1);
}
"""


def copied(n: int, **how):
    kernel = softlab.Kernel(COPY, "copy")
    arrays = np.zeros(4 * n, np.float32), np.ones(4 * n, np.float32)
    return kernel.estimate(-(-n // 256), 256, (*arrays, n), **how), arrays


def test_a_large_copy_is_bound_by_dram_and_takes_its_bytes_over_the_bandwidth():
    e, arrays = copied(1 << 22)
    assert e.bound == "dram"
    assert e.dram_bytes == pytest.approx(2 * arrays[0].nbytes, rel=0.01)
    assert 4.3e6 > e.dram_bytes / e.microseconds > 3.5e6
    assert next(iter(e.stalls)) == "long_scoreboard"
    assert (arrays[1] == 1).all()


@pytest.mark.further
def test_a_chain_of_remainders_takes_as_long_as_in_the_atlas():
    """The kernel of the row latency.REM.U32: conversions, products of 64 bits and what their results wait for."""
    source = sources()["remainders"]
    kernel = softlab.Kernel(source.text, source.entry)
    given = np.zeros((1 << 20) + 64, np.uint32), np.zeros(64, np.uint8), np.zeros(64, np.uint8)
    short, long = (kernel.estimate(1, 32, (*given, rounds, 0, 0x7FFFFFFF, 7), cache="warm") for rounds in (4, 12))
    assert (long.cycles - short.cycles) / (8 * 4) == pytest.approx(load_atlas("H200")["latency.REM.U32"], rel=0.02)


def test_an_sm_has_one_block_of_a_cluster_that_is_alone():
    """One row on 16 blocks of one cluster: 3.3 us are recorded for it ("few" in fast_h200)."""
    found = softlab.estimate(softlab.plan(1, 128256, "bfloat16", policy="fast", device="H200"), cache="warm")
    assert found.blocks == 1
    assert found.microseconds == pytest.approx(3.3, rel=0.4)


def test_a_smaller_copy_is_faster_when_l2_holds_it():
    cold, _ = copied(1 << 18)
    warm, _ = copied(1 << 18, cache="warm")
    assert warm.microseconds < cold.microseconds
    assert warm.dram_bytes == 0
    assert warm.l2_hit_rate == 1
    assert cold.l2_hit_rate < 1


def test_a_chain_takes_its_latency_and_names_its_line():
    kernel = softlab.Kernel(COPY, "chain")
    e = kernel.estimate(1, 32, (np.zeros(32, np.float32), 0.5))
    assert e.bound == "latency"
    assert e.cycles == pytest.approx(4 * 4096, rel=0.15)
    lines = e.by_line()
    assert max(lines, key=lambda line: lines[line].cycles) in (8, 9)
    assert max(lines.values(), key=lambda line: line.cycles).reason == "wait"


@pytest.mark.further
def test_special_functions_bound_what_has_enough_warps():
    kernel = softlab.Kernel(COPY, "special")
    e = kernel.estimate(132, 1024, (np.zeros(132 * 1024, np.float32), 0.5))
    assert e.bound == "sfu"
    assert e.cycles > 8 * 256 * 4 * 8


def test_an_estimate_is_a_record():
    e, _ = copied(1 << 16)
    assert e.bound in BOUNDS
    assert set(e.stalls) <= set(REASONS)
    assert sum(e.stalls.values()) == pytest.approx(1)
    assert 0 < e.occupancy <= 1
    assert e.microseconds > e.launch_microseconds
    assert len(repr(e).splitlines()) <= 25
    assert f"{e.blocks} block{'s' if e.blocks > 1 else ''} simulated" in repr(e)
    assert "1 block simulated" in repr(replace(e, blocks=1))
    assert e._repr_html_().startswith("<table>")
    assert "validated" in e.validated or "predicted before" in e.validated
    with pytest.raises(AttributeError):
        e.bound = "l2"


def test_long_estimates_show_their_progress(monkeypatch, capsys):
    monkeypatch.setattr("softlab.kernel.progress.PROGRESS_AFTER", 0.0)
    turns = np.repeat(np.arange(1, 9) * 100, 8).astype(np.int32)
    softlab.Kernel(TURNS, "turns").estimate(8, 256, (turns, np.zeros(8 * 256, np.float32)))
    assert "interpreting machine code" in capsys.readouterr().err


def test_the_same_launch_has_the_same_estimate():
    assert copied(1 << 16)[0] == copied(1 << 16)[0]


def test_runs_traces_and_plans_have_estimates():
    kernel = softlab.Kernel(COPY, "copy")
    a, b = np.zeros(1024, np.float32), np.zeros(1024, np.float32)
    run = kernel.run(1, 256, (a, b, 256))
    assert softlab.estimate(run).microseconds == kernel.estimate(1, 256, (a, b, 256)).microseconds
    trace = softlab.trace(np.zeros((8, 256), np.float32))
    assert softlab.estimate(trace).microseconds == softlab.estimate(trace.plan).microseconds
    with pytest.raises(TypeError, match="plan, a trace or a run"):
        softlab.estimate(kernel)


def test_an_estimate_of_a_run_says_where_its_arrays_are_no_longer_those_of_the_run():
    kernel = softlab.Kernel(COUNTDOWN, "count_down")
    given = np.zeros(32, np.float32), np.full(32, 200, np.int32)
    before = kernel.estimate(1, 32, given)
    run = kernel.run(1, 32, given)
    after = softlab.estimate(run)
    assert after.cycles < before.cycles / 4  # nothing is left to be done
    assert any("as the run left them" in note for note in after.notes)
    assert any("as the run left them" in note for note in softlab.what_if(run).base.notes)
    for other in (before, softlab.estimate(kernel.sibling("counts").run(1, 32, given))):
        assert not any("as the run left them" in note for note in other.notes)


def test_a_counter_of_the_kernel_counts_as_an_array_of_the_run():
    kernel = softlab.Kernel(COUNTDOWN, "takes")
    out = np.zeros(32, np.int32)
    assert any("as the run left them" in note for note in softlab.estimate(kernel.run(1, 32, (out,))).notes)


@pytest.mark.usefixtures("nothing_before_is_collected")
def test_a_run_keeps_no_array_alive(tmp_path):
    kernel = softlab.Kernel(COPY, "copy")
    run = kernel.run(1, 256, (np.zeros(1024, np.float32), np.zeros(1024, np.float32), 256))
    gc.collect()
    with pytest.raises(softlab.EstimateError, match="array of argument 0 is gone"):
        softlab.estimate(run)
    run.save(tmp_path / "run.npz")
    with pytest.raises(softlab.EstimateError, match="from a file"):
        softlab.estimate(softlab.Run.load(tmp_path / "run.npz"))


def test_other_gpus_are_refused_or_not_validated():
    with pytest.raises(ValueError, match=r"capability 9\.0"):
        copied(1 << 10, device="A100")
    e, _ = copied(1 << 10, device="H100 PCIe")
    assert "not validated: no launch was measured on this GPU" in e.validated
    with pytest.raises(ValueError, match="cold"):
        copied(1 << 10, cache="hot")
    assert validated is not None
    e, _ = copied(1 << 10, device="GH200")
    assert "us on a GH200, cold cache" in repr(e)


def test_code_for_another_architecture_is_refused_by_name():
    plan = softlab.plan(4, 256, "float32", device="A100")
    for device in (None, "H200"):
        with pytest.raises(softlab.EstimateError, match=r"compiled for sm_80.*plan for device=.H200"):
            softlab.estimate(plan, device=device)
    kernel = softlab.Kernel(COPY, "chain", arch="sm_86")
    with pytest.raises(softlab.EstimateError, match=r'no estimate of chain.*arch="sm_90"'):
        kernel.estimate(1, 32, (np.zeros(32, np.float32), 0.5))


def test_the_sample_is_named_and_can_be_chosen():
    e, _ = copied(1 << 20, sample=8)
    assert e.blocks == 8
    assert any("8 of the" in note for note in e.notes)
    with pytest.raises(ValueError, match="name blocks from 0"):
        copied(1 << 20, sample=[10**9])


def test_the_longest_warp_of_the_grid_counts_although_its_block_has_little_to_do():
    kernel = softlab.Kernel(TURNS, "turns")
    turns = np.repeat(np.where(np.arange(132) % 2, 200, 300), 8).astype(np.int32)
    alike = kernel.estimate(132, 256, (turns, np.zeros(132 * 256, np.float32)), cache="warm")
    turns[8 * 65 : 8 * 66] = (1500, *[0] * 7)
    longest = kernel.estimate(132, 256, (turns, np.zeros(132 * 256, np.float32)), cache="warm")
    assert longest.cycles > 2 * alike.cycles


ADDS = """
extern "C" __global__ void add(float* sums) { atomicAdd(&sums[threadIdx.x % 64], 1.0f); }
"""


def test_warps_that_end_before_their_atomics_say_that_stalls_has_no_drain():
    notes = softlab.Kernel(ADDS, "add").estimate(528, 256, (np.zeros(64, np.float32),)).notes
    (note,) = (one for one in notes if "drain" in one)
    assert re.match(r"the last stores and atomics arrive \d+\.\d us after the warps have come to their end", note)
    assert not any("drain" in one for one in copied(1 << 16)[0].notes)


def test_all_notes_are_shown():
    e, _ = copied(1 << 12)
    shown = repr(replace(e, notes=tuple(f"number {k}" for k in range(6))))
    assert all(f"number {k}" in shown for k in range(6))


def test_what_other_blocks_load_counts_where_the_simulated_ones_load_nothing():
    """The first blocks of many alone have work, and no block of the sample is among them."""
    kernel = softlab.Kernel(COPY, "copy")
    given = np.zeros(4 * 64, np.float32), np.zeros(4 * 64, np.float32), 64
    cold = kernel.estimate(100_000, 32, given)
    assert cold.l2_hit_rate == 0
    assert cold.dram_bytes == 16 * 32  # the first block of two; the other one is not interpreted
    assert any("the simulated blocks load nothing" in note for note in cold.notes)
    warm = kernel.estimate(100_000, 32, given, cache="warm")
    assert warm.dram_bytes == 0
    assert not any("load nothing" in note for note in (*warm.notes, *copied(1 << 16)[0].notes))


def test_the_list_of_bounds_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "estimates.md").read_text()
    table = text.partition("BOUNDS`:\n\n")[2].partition("\n\n")[0]
    cells = " ".join(line.split("|")[1] for line in table.splitlines()[2:])
    assert sorted(re.findall(r"`(\w+)`", cells)) == sorted(BOUNDS)
