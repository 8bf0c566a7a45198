"""Atomics of which some lanes are at fault, in a run that collects: the others are done, and each finding says how
often."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

#: C++ of an atomic on the integer at ``p``, and what 40 of them leave there.
OPERATIONS = {
    "red": ("atomicAdd(p, 1)", 40),
    "with a result": ("out[1] = atomicAdd(p, 1)", 40),
    "largest": ("out[1] = atomicMax(p, 7)", 7),
    "compare and swap": ("out[1] = atomicCAS(p, 0, 5)", 5),
}
#: Where the memory lies -> (its declaration, the address of a word beyond it, the kind of finding).
SPACES = {
    "shared": ("__shared__ int words[64];", "words + 20000", "shared-out-of-bounds"),
    "global": ("int* words = out + 2;", "words + 20000", "global-out-of-bounds"),
}


@pytest.mark.parametrize("turns", [1, 60], ids=["once", "often"])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("space", SPACES)
def test_lanes_at_fault_do_not_stop_the_others(space, operation, turns):
    """The atomic is hot, and so compiled, after some turns."""
    atomic, expected = OPERATIONS[operation]
    declaration, beyond, kind = SPACES[space]
    source = f"""extern "C" __global__ void k(int* out, int turns) {{
{declaration}
if (threadIdx.x < 64) words[threadIdx.x] = 0;
for (int turn = 0; turn < turns; ++turn) {{
__syncthreads();
if (threadIdx.x == 0) words[5] = 0;
__syncthreads();
int* p = threadIdx.x % 32 < 12 ? {beyond} : words + 5;
{atomic};
}}
__syncthreads();
if (threadIdx.x == 0) out[0] = words[5];
}}"""
    out = np.zeros(66, np.int32)
    run = Kernel(source, "k").run(1, 64, (out, turns), check="collect")
    found = [one for one in run.findings if one.kind == kind]
    assert [one.count for one in found] == [24 * turns], run.findings
    assert (out[0], {one.line for one in found}) == (expected, {9})


def test_a_lane_at_fault_in_another_blocks_memory():
    source = """#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) k(int* out) {
  __shared__ int words[64];
  auto cluster = cooperative_groups::this_cluster();
  words[threadIdx.x] = 0;
  cluster.sync();
  int* theirs = cluster.map_shared_rank(words, cluster.block_rank() ^ 1);
  atomicAdd(threadIdx.x == 3 ? theirs + 50000 : theirs + threadIdx.x % 2, 1);
  cluster.sync();
  if (threadIdx.x < 2) out[2 * blockIdx.x + threadIdx.x] = words[threadIdx.x];
}"""
    out = np.zeros(4, np.int32)
    run = Kernel(source, "k").run(2, 64, (out,), check="collect")
    assert out.tolist() == [32, 31, 32, 31]
    assert [one.line for one in run.findings if "out-of-bounds" in one.kind] == [8], run.findings


@pytest.mark.parametrize(("first", "bad"), [(0, 0), (4, 0), (2, 8)])
def test_an_atomic_on_a_vector_begins_at_a_multiple_of_the_vector(first: int, bad: int) -> None:
    source = """extern "C" __global__ void k(float* sums, int first) {
  atomicAdd(reinterpret_cast<float4*>(sums + first), make_float4(1, 2, 3, 4));
}"""
    sums = np.zeros(8, np.float32)
    run = Kernel(source, "k").run(1, 8, (sums, first), check="collect")
    assert [(one.kind, one.line, one.count) for one in run.findings] == ([("misaligned", 2, bad)] if bad else [])
    assert bad or sums[first : first + 4].tolist() == [8, 16, 24, 32]
