"""Tensor cores in the timing model: what the atlas measured comes out again, and what it did not measure is named."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.bench.record.atlas.memory_steps import SHARED_WORDS
from softlab.bench.record.atlas.tensor_jobs import tensor_sources
from softlab.cuda.disassembly import find_nvdisasm
from softlab.hardware.atlas import load
from softlab.hardware.devices import resolve
from softlab.timing.estimates import Estimate
from softlab.timing.parameters import parameters
from tests.hardware import thirteenth_cases
from tests.hardware.record_tensor import TensorCase, tensor_cases
from tests.sampled import each, one_of, sampled, turns

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

CASES = {case.name: case for case in tensor_cases()}
ATLAS = load("H100")
#: Steps of a chain per round, and by how many the long loop of a stream is longer than the short one.
_CHAIN, _STREAM = 200, 128
SOURCES = tensor_sources()
RECORDED = Path(__file__).parent.parent / "data" / "thirteenth_h100.json"


def _estimate(name: str, rounds: int, threads: int, mode: int = 0, pitch: int = 16, what_if: str = "") -> Estimate:
    """A kernel of the atlas on one SM. Its third array is not used."""
    out, given, memory = np.zeros(1 << 17, np.uint32), np.zeros(1 << 18, np.uint8), np.zeros(16, np.uint8)
    arguments = (out, given, memory, *map(np.uint32, (rounds, mode, pitch, 0)))
    kernel = softlab.Kernel(SOURCES[name].text, "k")
    return kernel.estimate(1, threads, arguments, smem=4 * SHARED_WORDS, device="H100", cache="warm", what_if=what_if)


def _interval(name: str, threads: int, pitch: int = 16, count: int = 1) -> float:
    """Cycles per instruction of a stream and warp, as the recorder takes them: the difference of its two loops.

    count: instructions per step.
    """
    rounds = 4
    short, long = (_estimate(name, rounds, threads, mode, pitch).cycles for mode in (0, 1))
    return (long - short) / (rounds * _STREAM * count * threads / 32)


_CHAINS = (
    "HMMA.16816.F32", "HMMA.16816.F32.operand", "HMMA.1688.F16", "IMMA.16832.S8.S8", "IMMA.8816.S8.S8", "DMMA.8x8x4",
    "DMMA.16x8x16", "MOVM.16.MT88", "LDSM.16.M88", "LDSM.16.MT88.4",
)  # fmt: skip


@pytest.mark.parametrize("name", one_of(6, _CHAINS, lambda name: name[:4]))
def test_a_chain_takes_what_the_atlas_has_measured(name: str) -> None:
    """`.ci/run` takes one of each kind of instruction, `make test` all."""
    one, two = (_estimate(f"chain.{name}", rounds, 32).cycles for rounds in (1, 2))
    assert (two - one) / _CHAIN == pytest.approx(ATLAS[f"latency.{name}"], rel=0.03)


_STREAMS = ("HMMA.16816.F32", "HMMA.1688.F32", "IMMA.16832.S8.S8", "DMMA.16x8x4", "MOVM.16.MT88")


@pytest.mark.parametrize(
    ("name", "threads"),
    sampled(product(_STREAMS, (128, 1024)), lambda name, threads: _STREAMS.index(name) == 2 * (threads == 128) + 1),
)
def test_streams_take_the_interval_of_the_pipe(name: str, threads: int) -> None:
    """`.ci/run` takes an instruction per number of threads, `make test` all."""
    expected = ATLAS[f"interval.{name}.warps.{threads // 128}"]
    assert 4 * _interval(f"stream.{name}", threads) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    each(2, [("HMMA.16816.F32.of.5.FFMA", 0.1), ("HMMA.16816.F32.of.3.LOP3", 0.1), ("IMMA.16832.S8.S8.of.5.LOP3", 0.1),
     ("HMMA.1688.F32.of.2.FFMA", 0.25), ("DMMA.8x8x4.of.3.DFMA", 0.1)]),
)  # fmt: skip
def test_products_hold_up_what_stands_beside_them(name: str, tolerance: float) -> None:
    """They read their registers through the ports that the others need; DMMA takes turns with DFMA."""
    count = int(name.partition(".of.")[2].partition(".")[0])
    found = 4 * _interval(f"stream.{name}", 1024, count=count)
    assert found == pytest.approx(ATLAS[f"interval.mixed.{name}"], rel=tolerance)


@pytest.mark.parametrize(
    ("name", "rows", "pitch"),
    turns(2, ["LDSM.16.M88", "LDSM.16.M88.4", "STSM.16.MT88.2"], [("", 16), (".conflict.8", 128)]),
)
def test_matrices_take_a_wavefront_each_and_more_where_rows_share_banks(name: str, rows: str, pitch: int) -> None:
    expected = ATLAS[f"interval_sm.{name}{rows}"]
    assert _interval(f"stream.{name}", 1024, pitch) == pytest.approx(expected, rel=0.03)


@pytest.mark.further
def test_a_launch_can_be_bound_by_the_tensor_cores() -> None:
    found = _estimate("stream.HMMA.16816.F32", 16, 1024)
    assert found.bound == "tensor"
    assert found.use["tensor"] > 0.9
    assert max(found.stalls, key=found.stalls.__getitem__) == "math_pipe_throttle"
    assert _estimate("stream.DMMA.16x8x4", 8, 1024).bound == "fp64"


def test_without_bank_conflicts_a_matrix_takes_one_wavefront() -> None:
    name = "stream.LDSM.16.M88.4"
    plain, free = (_estimate(name, 8, 1024, 0, 128, what_if) for what_if in ("", "no bank conflicts"))
    assert (plain.bound, free.bound) == ("shared", "shared")
    assert free.cycles < plain.cycles / 5


def test_an_h200_has_the_figures_of_an_h100() -> None:
    """No H200 has measured these rows; both have the same core."""
    one, other = (parameters(resolve(name)) for name in ("H200", "H100"))
    for name in ("HMMA.16816.F32", "IMMA.16832", "DMMA.8x8x4", "MOVM.16.MT88"):
        assert one.interval[name] == other.interval[name] > 0
    assert one.latency["LDSM.16.M88.4"] == other.latency["LDSM.16.M88.4"] == pytest.approx(23, abs=0.1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("tf32_product, 8x1 of 128, [256, 1024]", marks=pytest.mark.further),
        "hmm_forward, 512 of 32, [8192, 120]",
        "attend_mma, 16x3 of 128, [1024]",
        pytest.param("double_product, 1 of 32, [16, 256]", marks=pytest.mark.further),
    ],
)
def test_kernels_of_the_thirteenth_set_have_estimates(name: str) -> None:
    """Kernels that version 12 refused, beside what an H100 took."""
    case = next(case for case in thirteenth_cases.cases() if case.name == name)
    kernel = softlab.Kernel(thirteenth_cases.SOURCE.read_text(), case.kernel, file=thirteenth_cases.FILE)
    found = kernel.estimate(case.grid, case.block, case.make(), smem=case.smem, device="H100")
    measured = json.loads(RECORDED.read_text())["cases"][name]["cold"]
    assert found.microseconds - found.launch_microseconds == pytest.approx(measured, rel=0.25)


@pytest.mark.parametrize(
    ("name", "opcode"),
    [
        ("mma m16n8k256.row.col.s32.b1.b1.s32.and.popc", "BMMA"),
        ("wgmma m64n8k16.f32.f16.f16", "HGMMA|wgmma|WARPGROUP"),
        ("tensor map transpose", r"UTMALDG.*cp\.async\.bulk\.tensor"),
    ],
)
def test_an_estimate_names_what_is_not_modelled(name: str, opcode: str) -> None:
    case: TensorCase = CASES[name]
    arguments, _ = case.arguments(np.asarray)
    kernel = softlab.Kernel.from_program(case.compile())
    with pytest.raises(softlab.Error, match=opcode):
        kernel.estimate(case.grid, case.block, tuple(arguments), smem=case.smem)


#: A product of single bits, which no row of the atlas is about, as often as it is told.
PERHAPS_BITS = """
extern "C" __global__ void perhaps(unsigned* x, int times) {
  unsigned a = x[threadIdx.x], c[4] = {0, 0, 0, 0};
  for (int k = 0; k < times; ++k)
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                 "{%4, %4}, {%0, %1, %2, %3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a));
  x[threadIdx.x] = a + c[0] + c[1] + c[2] + c[3];
}"""


def test_what_is_not_modelled_is_refused_only_where_a_warp_executes_it() -> None:
    kernel, x = softlab.Kernel(PERHAPS_BITS, "perhaps"), np.arange(32, dtype=np.uint32)
    assert 0.5 < kernel.estimate(1, 32, (x, 0)).microseconds < 5
    refused = r"does not know 'BMMA[^']*' \(line 6\): the atlas has no row of it\. It has no estimate\. "
    with pytest.raises(softlab.EstimateError, match=refused):
        kernel.estimate(1, 32, (x, 1))


#: A copy by a tensor map, if it is told to.
PERHAPS_A_TILE = """
#include <cuda.h>
extern "C" __global__ void perhaps(const __grid_constant__ CUtensorMap map, float* x, int times) {
  __shared__ alignas(128) float tile[32 * 32];
  __shared__ unsigned long long arrived;
  unsigned to = (unsigned)__cvta_generic_to_shared(tile), barrier = (unsigned)__cvta_generic_to_shared(&arrived);
  if (times > 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], "
                 "[%3];" :: "r"(to), "l"(&map), "r"(0), "r"(barrier) : "memory");
  x[threadIdx.x] += tile[threadIdx.x];
}"""


def test_a_copy_by_a_tensor_map_is_refused_only_where_a_lane_executes_it() -> None:
    kernel, x = softlab.Kernel(PERHAPS_A_TILE, "perhaps"), np.zeros(32, np.float32)
    tiles = softlab.TensorMap(np.zeros((64, 64), np.float32), box=(32, 32))
    assert 0.5 < kernel.estimate(1, 32, (tiles, x, 0)).microseconds < 5
    refused = r"'UTMALDG[^']*' \(line 9 of kernel\.cu\): copies by a tensor map .* have not been measured\. It has no"
    with pytest.raises(softlab.UnsupportedInstruction, match=refused) as caught:
        kernel.estimate(1, 32, (tiles, x, 1))
    assert caught.value.line == 9
