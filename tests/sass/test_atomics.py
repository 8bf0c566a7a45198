"""Atomics of shared memory: compiled and in NumPy they give the same words, registers and streams."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.emulator.machine.native import available, compiling
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from softlab.sass import interpret

pytestmark = pytest.mark.skipif(
    not (available() and find_nvdisasm()), reason="needs llvmlite and nvdisasm (nvidia-cuda-nvdisasm)"
)
SOURCE = """extern "C" __global__ void bins(const int* x, int* out, int n, int last) {
  __shared__ float sums[32];
  __shared__ unsigned counts[32];
  __shared__ unsigned long long most[32];
  const int t = threadIdx.x;
  if (t < 32) { sums[t] = 0; counts[t] = 0; most[t] = 0; }
  __syncthreads();
  int got = -1;
  if (t < n) {
    const int bin = x[blockIdx.x * blockDim.x + t];
    atomicAdd(&sums[bin], 0.5f * t);
    got = atomicInc(&counts[bin + last], 1000);
    atomicMax(&most[bin], (unsigned long long)t << 33);
    if (bin & 1) got += atomicAdd(&counts[bin], 1);
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = got;
  if (t < 32) out[blockIdx.x * blockDim.x + t] += 3 * (int)sums[t] + 5 * counts[t] + (int)(most[t] >> 30);
}"""


def _interpreted(last: int, choice: str):
    x = np.random.default_rng(3).integers(0, 9, 4 * 96).astype(np.int32)
    with compiling(choice):
        return interpret(Kernel(SOURCE, "bins", arch="sm_90"), 4, 96, (x, np.zeros_like(x), 77, last))


def test_compiled_atomics_are_those_of_numpy():
    one, other = (_interpreted(0, choice) for choice in ("none", "all"))
    np.testing.assert_array_equal(one.output(1), other.output(1))
    for name in ("instructions", "active", "position", "space", "kind", "wavefronts", "sectors"):
        np.testing.assert_array_equal(getattr(one.streams, name), getattr(other.streams, name))


@pytest.mark.parametrize("choice", ["none", "all"])
def test_an_atomic_outside_of_shared_memory_is_a_fault(choice: str):
    with pytest.raises(KernelFault, match=r"(?s)shared-out-of-bounds: the thread accesses 4 bytes.*ATOMS"):
        _interpreted(1 << 16, choice)
