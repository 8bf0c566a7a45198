"""Matrices between registers and shared memory, by several warps of several blocks, of which some take no part."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.opcodes import matrix_unit
from softlab.kernel import Kernel

BLOCKS, WARPS = 2, 3
SOURCE = r"""
extern "C" __global__ void moves(const unsigned short* in, unsigned* out, unsigned short* back, int without) {
  __shared__ __align__(16) unsigned short tile[3][256], other[3][256];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, all = blockIdx.x * 3 + warp;
  for (int i = lane; i < 256; i += 32) tile[warp][i] = in[all * 256 + i], other[warp][i] = 0;
  __syncwarp();
  if (warp == without) return;
  unsigned r[4], t[2], moved, from = (unsigned)__cvta_generic_to_shared(&tile[warp][lane * 8]);
  unsigned to = (unsigned)__cvta_generic_to_shared(&other[warp][lane * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(t[0]), "=r"(t[1]) : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(r[3]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r[0]), "r"(t[1]),
               "r"(moved), "r"(r[2]));
  __syncwarp();
  for (int i = 0; i < 4; ++i) out[(all * 7 + i) * 32 + lane] = r[i];
  for (int i = 0; i < 2; ++i) out[(all * 7 + 4 + i) * 32 + lane] = t[i];
  out[(all * 7 + 6) * 32 + lane] = moved;
  for (int i = lane; i < 256; i += 32) back[all * 256 + i] = other[warp][i];
}
"""


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize("without", [-1, 0, 1, 2])
def test_each_warp_moves_its_own_matrices(without: int, compiled: str) -> None:
    """A lane has two elements side by side of a row: of row lane // 4, or of that column where it is transposed."""
    assert matrix_unit.Matrices
    count = BLOCKS * WARPS
    tiles = np.random.default_rng(2).integers(0, 2**16, (count, 4, 8, 8), dtype=np.uint16)
    out, back = np.zeros((count, 7, 32), np.uint32), np.zeros((count, 4, 8, 8), np.uint16)
    Kernel(SOURCE, "moves").run(BLOCKS, 32 * WARPS, (tiles, out, back, without), compiled=compiled)  # type: ignore[arg-type]
    for number, tile in enumerate(tiles):
        if number % WARPS == without:
            assert not out[number].any()
            assert not back[number].any()
            continue
        turned = tile.transpose(0, 2, 1)
        wanted = [*tile, turned[0], turned[1], turned[3]]
        for one, found in zip(wanted, out[number], strict=True):
            assert found.tolist() == np.ascontiguousarray(one).view(np.uint32).reshape(-1).tolist()
        np.testing.assert_array_equal(back[number], [tile[0], turned[1], turned[3], tile[2]])
