"""Faults that an estimate meets: they name the argument and the element as those of a run do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import softlab

SOURCE = """
#include <cassert>
struct Part { float* data; int first; };
__device__ float kept[16];
__global__ void beyond(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void before(float* a) { a[(int)threadIdx.x - 1] = 1; }
__global__ void added(int* a, int n) { if (threadIdx.x == 0) atomicAdd(&a[n], 1); }
__global__ void of_part(Part part) { part.data[threadIdx.x + part.first] = 1; }
__global__ void of_table(float** rows) { rows[1][threadIdx.x + 4] = 1; }
__global__ void of_variable(int n) { kept[threadIdx.x * n] = 1; }
__global__ void null(const int* order, float* a) { a[threadIdx.x] = order[threadIdx.x]; }
__global__ void before_null(float* a) { a[(int)threadIdx.x - 1] = 1; }
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
__device__ __noinline__ int deep(int* held, int n) {
  held[n] += 1;
  return n > 1000000 ? deep(held, n - 1) : held[0];
}
__global__ void recursive(const int* order, int* a, int n) {
  int held[8];
  for (int i = 0; i < 8; i++) held[i] = a[i & 3];
  a[0] = deep(held, n);
}
__global__ void misaligned_shared(const int* order, float* a, int n) {
  __shared__ float held[16];
  for (int i = 0; i < 16; i++) held[i] = a[i & 3];
  __syncthreads();
  *(float4*)a = *(float4*)(held + n);
}
__device__ __forceinline__ float loaded(const float* a, int i) {
  return a[i];  // global-out-of-bounds
}
__device__ __forceinline__ float loaded_next(const float* a, int i) {
  return loaded(a, i + 1);
}
__device__ __noinline__ float of_call(const float* a, int i) {
  return a[i];  // global-out-of-bounds
}
__global__ void inlined(const float* a, float* out) {
  out[threadIdx.x] = loaded(a, threadIdx.x);
}
__global__ void inlined_twice(const float* a, float* out) {
  out[threadIdx.x] = loaded_next(a, threadIdx.x);
}
__global__ void called(const float* a, float* out) {
  out[threadIdx.x] = of_call(a, threadIdx.x);
}
__device__ __forceinline__ void stop(int i) {
  if (i == 35) __trap();  // trap
}
__global__ void stopped_inside(int* a) {
  a[threadIdx.x] = 1;
  stop(threadIdx.x);
}
__device__ __forceinline__ void fail(int i) {
  assert(i != 35);  // assert
}
__global__ void failed_inside(int* a) {
  a[threadIdx.x] = 1;
  fail(threadIdx.x);
}
__device__ __forceinline__ void put_four(float* a, int i) {
  *(float4*)(a + i) = make_float4(1, 2, 3, 4);  // misaligned
}
__global__ void misaligned_inside(float* a) {
  put_four(a, threadIdx.x);
}
__device__ __forceinline__ void wait_for_all() {
  asm volatile("barrier.sync 1, 64;");  // barrier-divergence
}
__global__ void waits_inside(int* a) {
  if (threadIdx.x < 32) wait_for_all();
  a[threadIdx.x] = 1;
  asm volatile("barrier.sync 2, 64;");  // barrier-divergence
}
__device__ __forceinline__ void wait_for(volatile int* a, int i) {
  while (a[i] == 0) {}  // infinite-loop
}
__global__ void loops_inside(volatile int* a) {
  wait_for(a, threadIdx.x);
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
        ("before_null", 1, 1, (None,), "a[-1], but a is a null pointer"),
        ("misaligned", 1, 4, (floats(64), floats(64)), "a[1], byte 4 of argument 0, which has 256 bytes"),
    ],
)
def test_the_fault_names_the_array_as_that_of_a_run(name, grid, block, args, place):
    expected, found = faults(name, grid, block, args)
    assert f"\n  That address is {place}. " in str(found)
    for field in ("kind", "line", "thread", "block", "address", "argument", "symbol", "file"):
        assert getattr(found, field) == getattr(expected, field), field


@pytest.mark.parametrize(
    ("name", "args"), [("of_part", ((None, 4),)), ("of_table", ([floats(4), None],))], ids=["a struct", "a table"]
)
def test_a_null_pointer_in_a_struct_or_a_table_is_one(name, args):
    expected, found = faults(name, 1, 1, args)
    assert "That address is 16: the access goes through a null pointer. Let the pointer point to" in str(found)
    assert "null pointer" in str(expected)
    assert (found.kind, found.line, found.thread) == (expected.kind, expected.line, expected.thread)


def test_shared_memory_counts_from_its_own_beginning():
    expected, found = faults("shared", 1, 32, (floats(32), 8), smem=128)
    assert "That address is byte 128 of the block's shared memory, which has 128 bytes. Check the index" in str(found)
    assert (found.kind, found.address, found.thread) == (expected.kind, expected.address, expected.thread)


def test_an_address_that_no_array_has_is_left_as_it_is():
    _, found = faults("far", 1, 1, (floats(4), 1 << 28))
    assert "That address is" not in str(found)
    assert (found.argument, found.symbol) == (None, None)


@pytest.mark.parametrize(
    ("name", "args"),
    [("local", (None, floats(32), 7)), ("recursive", (None, np.zeros(4, np.int32), 40_000))],
    ids=["beyond the stack", "a stack that grows"],
)
def test_local_memory_is_named_although_there_is_a_null_pointer(name, args):
    expected, found = faults(name, 1, 1, args)
    assert "of the thread's local memory. Check the index against the size of the array" in str(found)
    assert (found.kind, found.line) == (expected.kind, expected.line) == ("local-out-of-bounds", found.line)
    assert (found.thread, found.block, found.argument, found.symbol) == ((0, 0, 0), (0, 0, 0), None, None)


def test_a_misaligned_address_of_shared_memory_is_not_one_of_a_null_pointer():
    expected, found = faults("misaligned_shared", 1, 1, (None, floats(4), 1))
    assert "That address is byte 4 of the block's shared memory, which has 64 bytes" in str(found)
    for field in ("kind", "line", "thread", "block", "address", "argument", "symbol"):
        assert getattr(found, field) == getattr(expected, field), field


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("inlined", (floats(32), floats(64))),
        ("inlined_twice", (floats(32), floats(64))),
        ("stopped_inside", (np.zeros(64, np.int32),)),
        ("failed_inside", (np.zeros(64, np.int32),)),
        ("misaligned_inside", (floats(256),)),
        ("waits_inside", (np.zeros(64, np.int32),)),
        ("loops_inside", (np.zeros(64, np.int32),)),
    ],
)
def test_a_fault_in_a_function_names_its_line_and_its_callers_as_that_of_a_run(name, args):
    expected, found = faults(name, 1, 64, args)
    assert (found.kind, found.line, found.file) == (expected.kind, expected.line, expected.file)
    assert f"// {expected.kind}" in SOURCE.splitlines()[found.line - 1]
    places = [re.search(r"at (line \d+ of my.cu(, called from line \d+)*)", str(one))[1] for one in (expected, found)]
    assert places[0] == places[1]
    assert str(found).startswith(f"{found.kind}: ")
    if found.kind != "infinite-loop":
        assert (found.thread, found.block) == (expected.thread, expected.block)


def test_a_fault_in_a_function_that_is_called_names_its_own_line():
    expected, found = faults("called", 1, 64, (floats(32), floats(64)))
    for field in ("kind", "line", "file", "thread", "block", "address", "argument", "symbol"):
        assert getattr(found, field) == getattr(expected, field), field
    assert "return a[i];" in SOURCE.splitlines()[found.line - 1]


def test_a_trap_that_no_thread_reaches_is_no_fault():
    kernel = softlab.Kernel(SOURCE, "stopped")
    assert kernel.estimate(1, 32, (np.ones(4, np.int32),)).microseconds > 0


def test_a_part_of_an_array_counts_from_its_own_beginning():
    whole = floats(256)
    expected, found = faults("beyond", 4, 64, (whole[64:], floats(256)))
    assert (found.symbol, found.address) == (expected.symbol, expected.address) == ("in[192]", 768)


def test_a_trap_is_the_fault_of_the_kernel():
    expected, found = faults("stopped", 1, 32, (np.zeros(4, np.int32),))
    assert str(found).partition(", machine code")[0] == str(expected).partition(", PTX")[0]
    assert (found.kind, found.line, found.thread) == (expected.kind, expected.line, expected.thread)
    assert type(found) is softlab.KernelFault


def test_an_instruction_without_an_estimate_says_what_there_is_instead():
    kernel = softlab.Kernel(SOURCE, "textured")
    args = softlab.Texture(np.zeros((4, 64), np.float32)), floats(32)
    with pytest.raises(softlab.UnsupportedInstruction, match=r"does not know 'TEX.* \(line ") as caught:
        kernel.estimate(1, 32, args)
    assert str(caught.value).endswith(". It has no estimate. The counters and checks of a run do not need it.")
    assert caught.value.instruction.startswith("TEX")
    assert kernel.run(1, 32, args).counters
