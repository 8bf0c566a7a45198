"""Faults that an estimate meets: they name the argument and the element as those of a run do."""

from __future__ import annotations

import numpy as np
import pytest

import softlab

SOURCE = """
struct Part { float* data; int first; };
__device__ float kept[16];
__global__ void beyond(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void before(float* a) { a[(int)threadIdx.x - 1] = 1; }
__global__ void added(int* a, int n) { if (threadIdx.x == 0) atomicAdd(&a[n], 1); }
__global__ void of_part(Part part) { part.data[threadIdx.x + part.first] = 1; }
__global__ void of_variable(int n) { kept[threadIdx.x * n] = 1; }
__global__ void null(const int* order, float* a) { a[threadIdx.x] = order[threadIdx.x]; }
__global__ void misaligned(const float* a, float4* out) { out[0] = *(const float4*)(a + 1 + threadIdx.x); }
__global__ void far(float* a, int n) { a[n] = 1; }
__global__ void shared(float* a, int n) {
  extern __shared__ float held[];
  held[threadIdx.x + n] = a[0];
  __syncthreads();
  a[1] = held[0];
}
__global__ void stopped(const int* x) { if (x[0] == 0) __trap(); }
__global__ void textured(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x, 0); }
__global__ void local(const int* order, float* a, int n) {
  float held[8];
  for (int i = 0; i < 8; i++) held[i] = a[i];
  for (int i = 0; i < n; i++) held[i * n] += 1;
  a[0] = held[n & 7];
}
"""


def floats(n: int) -> np.ndarray:
    return np.zeros(n, np.float32)


def faults(name: str, grid, block, args, smem: int = 0) -> tuple[softlab.KernelFault, softlab.KernelFault]:
    """The fault of a run, and that of the estimate."""
    kernel = softlab.Kernel(SOURCE, name, file="my.cu")
    with pytest.raises(softlab.KernelFault) as of_run:
        kernel.run(grid, block, args, smem)
    with pytest.raises(softlab.KernelFault) as of_estimate:
        kernel.estimate(grid, block, args, smem=smem)
    return of_run.value, of_estimate.value


@pytest.mark.parametrize(
    ("name", "grid", "block", "args", "place"),
    [
        ("beyond", 4, 64, (floats(200), floats(256)), "in[200], byte 800 of argument 0, which has 800 bytes"),
        ("before", 1, 32, (floats(32),), "a[-1], byte -4 of argument 0, which has 128 bytes"),
        ("added", 1, 32, (np.zeros(32, np.int32), 33), "a[33], byte 132 of argument 0, which has 128 bytes"),
        ("of_part", 1, 32, ((floats(32), 4),), "byte 128 of argument 0, which has 128 bytes"),
        ("of_variable", 1, 32, (1,), "byte 64 of variable kept, which has 64 bytes"),
        ("null", 1, 32, (np.zeros(32, np.int32), None), "a[0], but a is a null pointer"),
        ("misaligned", 1, 4, (floats(64), floats(64)), "a[1], byte 4 of argument 0, which has 256 bytes"),
    ],
)
def test_the_fault_names_the_array_as_that_of_a_run(name, grid, block, args, place):
    expected, found = faults(name, grid, block, args)
    assert f"\n  That address is {place}. " in str(found)
    for field in ("kind", "line", "thread", "block", "address", "argument", "symbol", "file"):
        assert getattr(found, field) == getattr(expected, field), field


def test_shared_memory_counts_from_its_own_beginning():
    expected, found = faults("shared", 1, 32, (floats(32), 8), smem=128)
    assert "That address is byte 128 of the block's shared memory, which has 128 bytes. Check the index" in str(found)
    assert (found.kind, found.address, found.thread) == (expected.kind, expected.address, expected.thread)


@pytest.mark.parametrize(
    ("name", "args"),
    [("far", (floats(4), 1 << 28)), ("local", (None, floats(32), 7))],
    ids=["far from all arrays", "local memory, with a null pointer that is not at fault"],
)
def test_an_address_that_no_array_has_is_left_as_it_is(name, args):
    _, found = faults(name, 1, 1, args)
    assert "That address is" not in str(found)
    assert (found.argument, found.symbol) == (None, None)


def test_a_part_of_an_array_counts_from_its_own_beginning():
    whole = floats(256)
    expected, found = faults("beyond", 4, 64, (whole[64:], floats(256)))
    assert (found.symbol, found.address) == (expected.symbol, expected.address) == ("in[192]", 768)


def test_a_trap_is_the_fault_of_the_kernel():
    expected, found = faults("stopped", 1, 32, (np.zeros(4, np.int32),))
    assert str(found) == f"trap: a thread executes a trap (line {expected.line})"
    assert (found.kind, found.line) == (expected.kind, expected.line)


def test_an_instruction_without_an_estimate_says_what_there_is_instead():
    kernel = softlab.Kernel(SOURCE, "textured")
    args = softlab.Texture(np.zeros((4, 64), np.float32)), floats(32)
    with pytest.raises(softlab.UnsupportedInstruction, match=r"does not know 'TEX.* \(line ") as caught:
        kernel.estimate(1, 32, args)
    assert str(caught.value).endswith(". It has no estimate. The counters and checks of a run do not need it.")
    assert caught.value.instruction.startswith("TEX")
    assert kernel.run(1, 32, args).counters
