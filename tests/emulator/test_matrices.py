"""Matrix instructions: fragments, products, and what the checks say of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.cuda.compile import kernel_folder
from softlab.emulator.opcodes.matrix_unit import registers_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.matrix_rows import accessors_of_rows

MOVES = r"""
#define ADDRESS (unsigned)__cvta_generic_to_shared(tile + offset[threadIdx.x] / 2)
#define LOAD(NAME, FORM, COUNT, REGISTERS, ...)                                                       \
  extern "C" __global__ void NAME(const unsigned short* in, const int* offset, unsigned* out) {       \
    __shared__ __align__(16) unsigned short tile[1024];                                               \
    for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = in[i];                                     \
    __syncwarp();                                                                                     \
    unsigned r[4] = {};                                                                               \
    asm volatile("ldmatrix.sync.aligned.m8n8." FORM ".shared.b16 {" REGISTERS "}, [%" #COUNT "];"     \
                 : __VA_ARGS__ : "r"(ADDRESS));                                                       \
    for (int i = 0; i < COUNT; ++i) out[i * 32 + threadIdx.x] = r[i];                                 \
  }
LOAD(load1, "x1", 1, "%0", "=r"(r[0]))
LOAD(load2, "x2", 2, "%0, %1", "=r"(r[0]), "=r"(r[1]))
LOAD(load4, "x4", 4, "%0, %1, %2, %3", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))
LOAD(load4t, "x4.trans", 4, "%0, %1, %2, %3", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))
extern "C" __global__ void store4t(const unsigned* in, const int* offset, unsigned short* out) {
  __shared__ __align__(16) unsigned short tile[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = 0;
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(ADDRESS),
               "r"(in[threadIdx.x]), "r"(in[32 + threadIdx.x]), "r"(in[64 + threadIdx.x]), "r"(in[96 + threadIdx.x]));
  __syncwarp();
  for (int i = threadIdx.x; i < 1024; i += 32) out[i] = tile[i];
}
extern "C" __global__ void move(const unsigned* in, unsigned* out) {
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out[threadIdx.x]) : "r"(in[threadIdx.x]));
}
extern "C" __global__ void unsynchronised(unsigned* out) {
  __shared__ __align__(16) unsigned tile[256];
  tile[threadIdx.x] = threadIdx.x;
  unsigned r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 4)));
  out[threadIdx.x] = r;
}
// Each lane writes the row whose address it gives, but other lanes get the row's elements.
extern "C" __global__ void own_rows(unsigned* out, int synchronised, int again) {
  __shared__ __align__(16) uint4 tile[8];
  if (threadIdx.x < 8) tile[threadIdx.x] = make_uint4(threadIdx.x, 1, 2, 3);
  if (synchronised) __syncwarp();
  unsigned r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8)));
  if (again == 1) __syncwarp();
  if (again && threadIdx.x < 8) tile[threadIdx.x] = make_uint4(r, 5, 6, 7);
  out[blockIdx.x * 32 + threadIdx.x] = r;
}
extern "C" __global__ void stored_rows(unsigned* out, int synchronised) {
  __shared__ __align__(16) uint4 tile[8];
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
               :: "r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8)), "r"(threadIdx.x) : "memory");
  if (synchronised) __syncwarp();
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x % 8].z;
}
// A row is read by its address's lane twice, then written.
extern "C" __global__ void read_rows(unsigned* out, int synchronised) {
  __shared__ __align__(16) uint4 tile[8];
  const unsigned at = __cvta_generic_to_shared(tile + threadIdx.x % 8);
  if (threadIdx.x < 8) tile[threadIdx.x] = make_uint4(threadIdx.x, 1, 2, 3);
  __syncwarp();
  unsigned r, s;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(s) : "r"(at) : "memory");
  if (synchronised) __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at), "r"(r + s + 1) : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = r;
}
extern "C" __global__ void part_of_a_warp(unsigned* out) {
  __shared__ __align__(16) unsigned tile[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] = i;
  __syncthreads();
  unsigned r = 0;
  if (threadIdx.x < 40)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 4)));
  out[threadIdx.x] = r;
}
extern "C" __global__ void no_value(const unsigned* in, float* out) {
  unsigned a = in[threadIdx.x], b = in[threadIdx.x + 32];
  float d[4];
  asm volatile("{ .reg .f32 c; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
               " {%0, %1, %2, %3}, {%4, %4}, {%5}, {c, c, c, c}; }"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a), "r"(b));
  out[threadIdx.x] = d[0];
}
#include <cuda_fp8.h>
extern "C" __global__ void narrow(const float2* in, unsigned short* e4m3, unsigned short* e5m2, float2* back) {
  const int i = threadIdx.x;
  e4m3[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
  e5m2[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E5M2);
  back[i] = __half22float2(__nv_cvt_fp8x2_to_halfraw2(e4m3[i], __NV_E4M3));
}
"""


def kernel(name: str) -> softlab.Kernel:
    return softlab.Kernel(MOVES, name)


def matrices(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(shared memory, the offset in bytes that each lane gives, the matrices (count, 8, 8))."""
    rng = np.random.default_rng(count)
    tile = rng.integers(0, 1 << 16, 1024).astype(np.uint16)
    offset = (rng.permutation(128)[:32] * 16).astype(np.int32)
    rows = np.stack([tile[start // 2 : start // 2 + 8] for start in offset[: 8 * count]])
    return tile, offset, rows.reshape(count, 8, 8)


@pytest.mark.parametrize(
    ("name", "count", "trans"), [("load1", 1, 0), ("load2", 2, 0), ("load4", 4, 0), ("load4t", 4, 1)]
)
def test_ldmatrix_gives_each_lane_two_neighbours_of_a_row(name: str, count: int, trans: int) -> None:
    tile, offset, expected = matrices(count)
    out = np.zeros((count, 32), np.uint32)
    kernel(name).run(1, 32, (tile, offset, out))
    found = out.view(np.uint16).reshape(count, 8, 8)
    np.testing.assert_array_equal(found.swapaxes(1, 2) if trans else found, expected)


def test_stmatrix_is_the_inverse_of_ldmatrix() -> None:
    tile, offset, _ = matrices(4)
    registers, back = np.zeros((4, 32), np.uint32), np.zeros(1024, np.uint16)
    kernel("load4t").run(1, 32, (tile, offset, registers))
    kernel("store4t").run(1, 32, (registers, offset, back))
    touched = (offset[:, None] // 2 + np.arange(8)).reshape(-1)
    np.testing.assert_array_equal(back[touched], tile[touched])
    assert np.count_nonzero(back) == np.count_nonzero(tile[touched])


def test_movmatrix_transposes() -> None:
    values = np.random.default_rng(1).integers(0, 1 << 32, 32).astype(np.uint32)
    out = np.zeros(32, np.uint32)
    kernel("move").run(1, 32, (values, out))
    np.testing.assert_array_equal(out.view(np.uint16).reshape(8, 8), values.view(np.uint16).reshape(8, 8).T)


def test_a_row_out_of_bounds_or_misaligned_is_a_fault() -> None:
    tile, offset, _ = matrices(4)
    for bad, kind in ((2048, "shared-out-of-bounds"), (24, "misaligned")):
        wrong = offset.copy()
        wrong[9] = bad
        with pytest.raises(softlab.KernelFault) as raised:
            kernel("load4").run(1, 32, (tile, wrong, np.zeros((4, 32), np.uint32)))
        assert (raised.value.kind, raised.value.thread) == (kind, (9, 0, 0))
        # x1 takes the addresses of the first 8 lanes alone.
        kernel("load1").run(1, 32, (tile, wrong, np.zeros((1, 32), np.uint32)))


def test_ldmatrix_races_with_stores_of_the_warp() -> None:
    with pytest.raises(softlab.KernelFault) as raised:
        kernel("unsynchronised").run(1, 32, (np.zeros(32, np.uint32),))
    assert raised.value.kind == "race"


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_rows_race_with_the_lanes_that_get_their_elements(compiled: str) -> None:
    def findings(name: str, *numbers: int) -> list[tuple[str, str, Any]]:
        arguments = np.zeros(64, np.uint32), *map(np.int32, numbers)
        run = kernel(name).run(2, 32, arguments, check="collect", compiled=compiled)
        return [(one.kind, one.severity, one.other_thread != one.thread) for one in run.findings]

    race = [("race", "error", True)]
    assert findings("own_rows", 1, 0) == []
    assert findings("own_rows", 1, 1) == []
    assert findings("own_rows", 0, 0) == race
    assert findings("own_rows", 1, 2) == race
    assert findings("stored_rows", 1) == []
    assert findings("stored_rows", 0) == race
    assert findings("read_rows", 1) == []
    assert findings("read_rows", 0) == race


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [4, 16])
def test_the_lanes_that_get_a_word_are_those_of_the_emulator(trans: bool, count: int) -> None:
    """A matrix whose elements are their own numbers tells who gets what."""
    matrix = np.arange(64, dtype=np.uint16).reshape(1, 8, 8)
    words = registers_of(matrix, trans).view(np.uint16).reshape(32, 2)
    site = Site(0, Instruction("ldmatrix", ("trans",) if trans else (), ()), "shared", np.dtype(np.uint32), 4)
    rows = np.arange(8 * count).reshape(8, count)
    _, word, thread = accessors_of_rows(site, np.zeros(8, np.int64), rows, np.arange(32, 40))
    found = set(zip(word[:, 0].tolist(), thread.tolist(), strict=True))
    per_word = 8 / count  # elements
    expected = {(int(e // 8 * count + e % 8 // per_word), 32 + lane) for lane in range(32) for e in words[lane]}
    expected |= {
        (int(e // 8 * count + (e % 8 + 0.5) // per_word), 32 + lane) for lane in range(32) for e in words[lane]
    }
    givers = {(w, 32 + giver) for giver in range(8) for w in rows[giver].tolist()}
    assert found == expected | givers


def test_a_part_of_a_warp_cannot_load_a_matrix() -> None:
    run = kernel("part_of_a_warp").run(1, 64, (np.zeros(64, np.uint32),), check="collect")
    assert {"inactive-lane", "barrier-divergence"} & {finding.kind for finding in run.findings}
    with pytest.raises(softlab.KernelFault, match="all 32 lanes"):
        kernel("part_of_a_warp").run(1, 40, (np.zeros(64, np.uint32),))


def test_an_accumulator_without_a_value_is_told() -> None:
    with pytest.raises(softlab.KernelFault) as raised:
        kernel("no_value").run(1, 32, (np.zeros(65, np.uint32), np.zeros(32, np.float32)))
    assert raised.value.kind == "uninitialized-local"


def test_floats_of_8_bits() -> None:
    rng = np.random.default_rng(3)
    values = (rng.standard_normal((64, 2)) * 10.0 ** rng.uniform(-6, 6, (64, 2))).astype(np.float32)
    e4m3, e5m2, back = np.zeros(64, np.uint16), np.zeros(64, np.uint16), np.zeros((64, 2), np.float32)
    kernel("narrow").run(1, 64, (values, e4m3, e5m2, back))
    for found, dtype, most in ((e4m3, ml_dtypes.float8_e4m3fn, 448), (e5m2, ml_dtypes.float8_e5m2, 57344)):
        expected = np.clip(values, -most, most).astype(dtype)
        np.testing.assert_array_equal(found.view(np.uint8), expected.reshape(-1).view(np.uint8))
    np.testing.assert_array_equal(back, np.clip(values, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32))


@lru_cache
def product_of_128() -> tuple[softlab.Run, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    source = (kernel_folder() / "gallery" / "tensor_product.cu").read_text()
    run = softlab.Kernel(source, "tensor_product").run((2, 2), 128, (a, b, c, 128, 128))
    return run, c, a.astype(np.float64) @ b.astype(np.float64)


def test_the_product_of_the_gallery() -> None:
    run, found, expected = product_of_128()
    # Each of the 128 products of a sum is cut to 2**-25 of the greatest, and each of 8 sums to 24 bits.
    np.testing.assert_allclose(found, expected, rtol=0, atol=128 * 2.0**-20)
    assert not run.findings
    assert run.counters["bank_conflicts"] == 0
