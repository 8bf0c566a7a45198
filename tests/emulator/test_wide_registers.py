"""Registers of 128 bits: loads, stores, moves, and the atomics that exchange 16 bytes."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

SWAP = """
extern "C" __global__ void k(ulonglong2* x, ulonglong2* old, ulonglong2* copy) {
  unsigned long long low = threadIdx.x, high = 100 + threadIdx.x, a, b, c, d;
  asm volatile("{ .reg .b128 v, w, r; mov.b128 v, {%4, %5}; ld.global.b128 w, [%6];\\n"
               "  atom.global.EXCH r, [%6]CMP, v; mov.b128 {%0, %1}, r; mov.b128 {%2, %3}, w; st.global.b128 [%7], w; }"
               : "=l"(a), "=l"(b), "=l"(c), "=l"(d) : "l"(low), "l"(high), "l"(x), "l"(copy + threadIdx.x) : "memory");
  old[threadIdx.x] = make_ulonglong2(a, b); x[1 + threadIdx.x] = make_ulonglong2(d, c); }
"""


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_exchange_takes_turns_and_compare_and_swap_compares_both_halves(compiled):
    for operation, compare in (("exch.b128", ""), ("cas.b128", ", w")):
        x = np.zeros((33, 2), np.uint64)
        x[0] = 7, 8
        old, copy = np.zeros((32, 2), np.uint64), np.zeros((32, 2), np.uint64)
        source = SWAP.replace("EXCH", operation).replace("CMP", compare)
        Kernel(source, "k").run(1, 32, (x, old, copy), compiled=compiled, check=False)
        mine = np.stack([np.arange(32), 100 + np.arange(32)], axis=1)
        assert (copy == [7, 8]).all()
        assert (x[1:] == [8, 7]).all()
        if compare:  # the first lane swaps, the others find what it has put there
            assert (old[0].tolist(), x[0].tolist()) == ([7, 8], mine[0].tolist())
            assert (old[1:] == mine[0]).all()
        else:
            assert (old[0].tolist(), x[0].tolist()) == ([7, 8], mine[31].tolist())
            assert (old[1:] == mine[:-1]).all()
