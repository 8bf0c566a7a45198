"""Which kernels do something else where an atomic brings another value."""

from __future__ import annotations

import pytest

from softlab.cuda.disassembly import disassemble, find_nvdisasm
from softlab.cuda.machine_instructions import MachineInstruction
from softlab.kernel import Kernel
from softlab.sass.decided import atomics_decide
from tests.sampled import each

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

#: The value says where something is written, or what.
FREE = {
    "ranks": "const int k = threadIdx.x; out[256 * in[k] + atomicAdd(&count[in[k]], 1)] = k;",
    "lists": "const int k = threadIdx.x; out[k] = atomicExch(&count[in[k]], k);",
    "sums": "int sum = 0; for (int k = threadIdx.x; k < n; k += 32) sum += atomicOr(&count[in[k]], k); out[n] = sum;",
    "registers used again": """
        int sum = 0;
        for (int k = threadIdx.x; k < n; k += 32) { out[atomicAdd(count, 1)] = k; sum += in[k] > 7 ? in[k + 1] : 1; }
        if (sum > 9) out[n] = sum;""",
    "nothing is brought": "atomicAdd(&count[threadIdx.x % 7], 1); if (in[threadIdx.x] > 3) out[threadIdx.x] = 1;",
    "a choice": "const int old = atomicAdd(count, 1); out[threadIdx.x] = old > n ? 5 : n;",
}
#: The value says what happens next.
DECIDED = {
    "a queue": "for (int k; (k = atomicAdd(count, 1)) < n;) out[k] = in[k];",
    "a queue of a block": """
        __shared__ int mine;
        while (true) {
          __syncthreads();
          if (threadIdx.x == 0) mine = atomicAdd(count, 1);
          __syncthreads();
          if (mine >= n) return;
          out[mine + threadIdx.x] = 1;
        }""",
    "room for some": "const int k = atomicAdd(count, 1); if (k < n) out[k] = threadIdx.x;",
    "the last block": """
        __shared__ bool last;
        out[blockIdx.x] = in[blockIdx.x];
        if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
        __syncthreads();
        if (last) for (int k = threadIdx.x; k < n; k += 32) out[n + k] = out[k];""",
    "tried again": "int a = *count, b; do { b = a; a = atomicCAS(count, a, a * 3 + 1); } while (a != b);",
    "by way of global memory": "out[threadIdx.x] = atomicAdd(count, 1); __threadfence(); if (count[9] > 5) out[n] = 1;",
    "places by way of global memory": "out[atomicAdd(count, 1)] = 1; __threadfence(); if (count[9] > 5) out[n] = 1;",
    "a length": "const int most = atomicAdd(count, 1); for (int k = 0; k < most; k++) out[k] += in[k];",
    "a vote": "if (__any_sync(~0u, atomicAdd(count, 1) > n)) out[threadIdx.x] = 1;",
    "what is asked for": "const int old = atomicAdd(count, 1); if (old > n) atomicAdd(&out[old], 1);",
}


def _code(body: str) -> tuple[MachineInstruction, ...]:
    source = f'extern "C" __global__ void k(const int* __restrict__ in, int* out, int* count, int n) {{ {body} }}'
    return disassemble(Kernel(source, "k").program, alone=True).kernel.instructions


@pytest.mark.parametrize("name", each(2, FREE))
def test_values_that_only_say_where_or_what_decide_nothing(name: str) -> None:
    assert not atomics_decide(_code(FREE[name]))


@pytest.mark.parametrize("name", each(2, DECIDED))
def test_values_that_branches_and_requests_depend_on_decide(name: str) -> None:
    assert atomics_decide(_code(DECIDED[name]))


def test_what_is_not_followed_decides() -> None:
    source = r"""
__device__ __noinline__ int twice(int a) { return a + a; }
extern "C" __global__ void k(int* count, int* out) { out[threadIdx.x] = twice(atomicAdd(count, 1)); }"""
    code = disassemble(Kernel(source, "k").program, alone=True).kernel.instructions
    assert any(one.opcode == "CALL" for one in code)
    assert atomics_decide(code)
