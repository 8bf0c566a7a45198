"""Forms of machine instructions that few kernels have, against the PTX emulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel import Kernel
from softlab.sass import interpret

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
KERNELS = Path(__file__).parents[1] / "faults" / "kernels"
RANDOM = np.random.default_rng(0)
EIGHT_BITS = """
#include <cuda_fp8.h>
#include <cuda_fp16.h>
extern "C" __global__ void k(const float* x, float* y, __half* h) {
  int t = threadIdx.x;
  y[t] = float(__nv_fp8_e4m3(x[t])) + float(__nv_fp8_e5m2(x[t]));
  h[t] = __half(__nv_fp8_e4m3(h[t]));
  float4 four = float4(__nv_fp8x4_e4m3(make_float4(x[t], x[t + 1], x[t + 2], x[t + 3])));
  y[t + 64] = four.x + 3 * four.y + 5 * four.z + 7 * four.w;
}"""
PLACES = """extern "C" __global__ void k(const int* in, int* out) {
  __shared__ int one;
  int own[3] = {in[0], in[1], in[2]};
  int* p = in[threadIdx.x] == 0 ? &one : in[threadIdx.x] == 1 ? &own[in[2]] : out;
  unsigned warp, sms, dynamic;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
  int* mine = out + 8 * threadIdx.x;
  mine[0] = __isShared(p); mine[1] = __isLocal(p); mine[2] = __isGlobal(p);
  mine[3] = warp; mine[4] = sms; mine[5] = dynamic;
}"""


def _same(kernel: Kernel, grid: int, block: int, args, smem: int = 0) -> None:
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    kernel.run(grid, block, expected, smem=smem, record=False)
    found = interpret(kernel, grid, block, args, smem=smem)
    for number, array in enumerate(expected):
        if isinstance(array, np.ndarray):
            assert found.output(number).tobytes() == array.tobytes(), f"argument {number}"
    assert kernel.estimate(grid, block, args, smem=smem).microseconds > 0


def test_floats_of_eight_bits():
    x = (RANDOM.standard_normal(67) * 100).astype(np.float32)
    x[3:8] = np.nan, np.inf, -0.0, 1e-4, 460
    halves = (RANDOM.standard_normal(64) * 10).astype(np.float16)
    _same(Kernel(EIGHT_BITS, "k"), 1, 64, (x, np.zeros(128, np.float32), halves))


@pytest.mark.parametrize("cols", [249, 250, 252])
def test_an_asynchronous_copy_that_fills_with_zeros_reads_nothing_behind_the_array(cols):
    kernel = Kernel.from_file(KERNELS / "asynchronous.cu", "padded_rows")
    x = RANDOM.standard_normal(252 + cols).astype(np.float32)
    _same(kernel, 2, 64, (x, np.zeros(512, np.float32), cols))


def test_a_block_arrives_at_the_mbarrier_of_another_block():
    kernel = Kernel.from_file(KERNELS / "cluster.cu", "message")
    _same(kernel, 4, 64, (RANDOM.standard_normal(256).astype(np.float32), np.zeros(128, np.float32)))


def test_where_an_address_lies_and_what_the_driver_tells_a_launch():
    places = (np.arange(64) % 3).astype(np.int32)
    _same(Kernel(PLACES, "k"), 1, 64, (places, np.zeros((64, 8), np.int32)), smem=48)
