"""Loads of one word by many lanes, as generators of random numbers do with their tables."""

from __future__ import annotations

import numpy as np

from softlab.kernel import Kernel

#: A matrix over bits is multiplied by each thread's vector, as when XORWOW skips ahead. Lanes differ in their bits.
SKIP = """extern "C" __global__ void k(const unsigned* matrix, unsigned* state, int times) {
  unsigned v[3], r[3]; int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 3; ++i) v[i] = state[3 * t + i];
  for (int turn = 0; turn < (t + times) % 3; ++turn) {
    for (int i = 0; i < 3; ++i) r[i] = 0;
    for (int i = 0; i < 3; ++i) for (int j = 0; j < 8; ++j)
      if (v[i] & (1u << j)) for (int n = 0; n < 3; ++n) r[n] ^= __ldg(matrix + 3 * (8 * i + j) + n);
    for (int i = 0; i < 3; ++i) v[i] = r[i];
  }
  for (int i = 0; i < 3; ++i) state[3 * t + i] = v[i]; }"""


def test_a_matrix_over_bits():
    """The result, and the requests and sectors: a warp loads a word once if any of its lanes needs it."""
    random = np.random.default_rng(5)
    matrix = random.integers(0, 256, (24, 3)).astype(np.uint32)
    state = random.integers(0, 256, (160, 3)).astype(np.uint32)
    expected, wanted = state.copy(), 0
    for turn in range(2):
        turning = (np.arange(160) + 4) % 3 > turn
        bits = np.stack([expected[:, i] >> j & 1 for i in range(3) for j in range(8)], axis=1).astype(bool)
        bits &= turning[:, None]
        wanted += 3 * int(bits.reshape(5, 32, 24).any(axis=1).sum())
        product = np.bitwise_xor.reduce(np.where(bits[:, :, None], matrix, 0), axis=1)
        expected = np.where(turning[:, None], product, expected).astype(np.uint32)
    plain = Kernel(SKIP, "k").run(5, 32, (matrix, state, 4))
    assert (state == expected).all()
    # Beside the matrix each warp loads and stores 3 words of 12 bytes per lane: 12 sectors each.
    assert plain.counters["global_load_requests"] == wanted + 5 * 3
    assert plain.counters["global_load_sectors"] == wanted + 5 * 3 * 12
    loads = plain.global_.address[~plain.global_.store & (plain.global_.address.max(axis=1) < plain.buffers[1].base)]
    active = plain.global_.active[~plain.global_.store & (plain.global_.address.max(axis=1) < plain.buffers[1].base)]
    assert len(loads)
    assert (np.where(active, loads, loads.max(axis=1, keepdims=True)) == loads.max(axis=1, keepdims=True)).all()
    assert (loads[~active] == 0).all()
