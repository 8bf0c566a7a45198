"""Forms of machine instructions that few kernels have, against the PTX emulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.bench.record.atlas.patching import patched
from softlab.cuda.disassembly import disassemble, find_nvdisasm, printed
from softlab.emulator.opcodes.rounding import scaled_mul_f32
from softlab.kernel import Kernel
from softlab.sass import interpret
from tests.sampled import each, one_of

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
TILES = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* in, int* out, int rows, int length) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  if (row >= rows) return;
  int before = 0, lowest = 0;
  for (int first = 0; first < length; first += 16) {
    const int j = first + tile.thread_rank();
    const int sum = before + cg::inclusive_scan(tile, j < length ? in[row * length + j] : 0);
    lowest = min(lowest, cg::reduce(tile, sum, cg::less<int>()));
    before = tile.shfl(sum, 15);
  }
  if (tile.thread_rank() == 0) out[row] = lowest;
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


@pytest.mark.parametrize("cols", each(3, [249, 250, 252]))
def test_an_asynchronous_copy_that_fills_with_zeros_reads_nothing_behind_the_array(cols):
    kernel = Kernel.from_file(KERNELS / "asynchronous.cu", "padded_rows")
    x = RANDOM.standard_normal(252 + cols).astype(np.float32)
    _same(kernel, 2, 64, (x, np.zeros(512, np.float32), cols))


def test_a_block_arrives_at_the_mbarrier_of_another_block():
    kernel = Kernel.from_file(KERNELS / "cluster.cu", "message")
    _same(kernel, 4, 64, (RANDOM.standard_normal(256).astype(np.float32), np.zeros(128, np.float32)))


def test_the_results_of_two_tiles_stay_apart():
    kernel = Kernel(TILES, "k")
    assert "R2UR P" in printed(kernel.program)
    for rows, length in ((24, 48), (19, 37)):
        numbers = RANDOM.integers(-1000, 1000, rows * length, dtype=np.int32)
        _same(kernel, 6, 64, (numbers, np.zeros(24, np.int32), np.int32(rows), np.int32(length)))


def test_where_an_address_lies_and_what_the_driver_tells_a_launch():
    places = (np.arange(64) % 3).astype(np.int32)
    _same(Kernel(PLACES, "k"), 1, 64, (places, np.zeros((64, 8), np.int32)), smem=48)


#: Modifier -> the power of two behind a product. The compiler writes no M2: it adds a doubled product to itself.
SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M4": 4.0, "M8": 8.0}
SCALED = """extern "C" __global__ void k(const float* x, const float* y, float* out) {
  out[threadIdx.x] = x[threadIdx.x] * y[threadIdx.x] * %sf;
}"""


@pytest.mark.parametrize("options", one_of(2, [(), ("-use_fast_math",)], lambda _: 0), ids=["plain", "fast math"])
@pytest.mark.parametrize("modifier", each(2, SCALES))
def test_a_product_with_a_power_of_two(modifier, options):
    kernel = Kernel(SCALED % SCALES[modifier], "k", options=options)
    texts = [one.text for one in disassemble(kernel.program, alone=True).kernel.instructions]
    assert any(f".{modifier} " in text for text in texts)
    x, y = (RANDOM.standard_normal(64).astype(np.float32) * np.float32(10.0**power) for power in (12, -9))
    x[:6], y[:6] = (np.nan, np.inf, np.inf, -0.0, 0, 1), (1, 0, -2, 3, -np.inf, 2.0**-126)
    _same(kernel, 1, 64, (x, y, np.zeros(64, np.float32)))


def test_a_product_that_is_doubled():
    """The compiler writes no FMUL.M2: it is patched into a product with M4, in bits 84 to 86."""
    kernel = Kernel(SCALED % 4.0, "k")
    doubled = patched(kernel.program, lambda one: one.encoding ^ (0b011 << 84) if one.opcode == "FMUL" else None)
    x, y = (RANDOM.standard_normal(64).astype(np.float32) for _ in range(2))
    found = interpret(Kernel.from_program(doubled), 1, 64, (x, y, np.zeros(64, np.float32)))
    assert any("FMUL.M2 " in one.text for one in found.code)
    np.testing.assert_array_equal(found.output(2), x * y * 2)


@pytest.mark.parametrize(("mode", "units"), [("rn", 1), ("rz", 1), ("rm", 1), ("rp", 2)])
def test_a_scaled_product_is_rounded_once(mode, units):
    """Half of 2.75 units of the last place, which is 3 rounded, and half of 3 is 2 rounded."""
    unit = np.float32(2.0**-149)
    found = scaled_mul_f32(mode, 0.5)(np.float32([2.75, 2.0**127]), np.float32([unit, 2]))
    assert list(found / unit.astype(np.float64)) == [units, 2.0**127 / 2.0**-149]
