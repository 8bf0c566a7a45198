"""Bulk copies that reduce, and red.async: in global memory, and in another block's shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.emulator.test_tensor_copies import PRELUDE

TO_GLOBAL = """
#include <cuda_fp16.h>
extern "C" __global__ void k(TYPE* y, const TYPE* x) {
  __shared__ __align__(16) TYPE part[64]; part[threadIdx.x] = x[64 * blockIdx.x + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.OPERATION [%1], [%0], %2;"
                 :: "r"(address_of(part)), "l"(y), "r"((int)sizeof(part)) : "memory");
    COMMIT_AND_WAIT; } }
"""


@pytest.mark.parametrize(
    ("operation", "dtype", "name"),
    [("add.f32", np.float32, "float"), ("add.noftz.f16", np.float16, "__half"), ("max.s64", np.int64, "long long")],
)
def test_into_global_memory(operation, dtype, name):
    rng = np.random.default_rng(1)
    x, y = rng.integers(-50, 50, (3, 64)).astype(dtype), rng.integers(-50, 50, 64).astype(dtype)
    rows = [y.copy(), *x]
    Kernel(PRELUDE + TO_GLOBAL.replace("TYPE", name).replace("OPERATION", operation), "k").run(3, 64, (y, x))
    assert (y == (np.max if "max" in operation else np.sum)(rows, axis=0)).all()


TO_BLOCK = """
extern "C" __global__ void __cluster_dims__(4) k(int* y) {
  __shared__ __align__(16) int mine[32], sum[32]; __shared__ u64 bar; u32 rank, there, at;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  mine[threadIdx.x] = 10 * rank + threadIdx.x; sum[threadIdx.x] = 1000;
  if (threadIdx.x == 0) begin(&bar, rank == 0 ? 4 * 128 : 0);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address_of(sum)));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(address_of(&bar)));
  SEND
  if (rank == 0) { await(&bar); y[threadIdx.x] = sum[threadIdx.x]; }
  asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory"); }
"""
SENDS = {
    "a bulk copy": """if (threadIdx.x == 0)
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
                 "[%0], [%1], 128, [%2];" :: "r"(there), "r"(address_of(mine)), "r"(at) : "memory");""",
    "each thread": """asm volatile(
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
    :: "r"(there + 4 * threadIdx.x), "r"(mine[threadIdx.x]), "r"(at) : "memory");""",
    "all threads to one word": """asm volatile(
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
    :: "r"(there), "r"(1), "r"(at) : "memory");""",
}


@pytest.mark.parametrize("send", SENDS)
def test_into_the_memory_of_another_block(send):
    y = np.zeros(32, np.int32)
    Kernel(PRELUDE + TO_BLOCK.replace("SEND", SENDS[send]), "k").run(4, 32, (y,))
    sums = 1000 + 60 + 4 * np.arange(32) if send != "all threads to one word" else [1128, *[1000] * 31]
    assert (y == sums).all()


def test_a_plain_store_beside_copies_that_add_is_a_race():
    body = TO_BLOCK.replace("SEND", SENDS["each thread"] + " if (rank == 0) sum[threadIdx.x] = 5;")
    with pytest.raises(KernelFault, match="asynchronous copy") as caught:
        Kernel(PRELUDE + body, "k").run(4, 32, (np.zeros(32, np.int32),))
    assert caught.value.kind == "race"
