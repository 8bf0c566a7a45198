"""Calls by address, of functions that call themselves, and of the driver's functions: against the PTX emulator."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from softlab.sass import interpret
from tests.emulator.test_calls import SOURCE

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
SIZES = np.array([1, 5, 1000, 3_000_000, 7], np.int32)


@pytest.mark.parametrize(
    ("name", "args", "called", "stack"),
    [
        ("pointers", (np.array([0, 1, 1, 0, 1], np.int32), np.arange(-3, 2, dtype=np.float32)), (), 0),
        ("virtuals", (np.arange(1, 6, dtype=np.float32),), ("malloc", "free"), 0),
        ("twice", (np.array([9, 2, 5, 0, 1], np.int32),), (), 216),
        ("once", (np.array([0, 3, 100, 6, 1], np.int32),), (), None),
        ("mutual", (np.arange(5, dtype=np.int32),), (), None),
        ("heap", (SIZES, np.zeros(5, np.int32)), ("malloc", "free"), 0),
    ],
)
def test_results_are_those_of_the_ptx(name, args, called, stack):
    kernel, expected = Kernel(SOURCE, name), [array.copy() for array in args]
    kernel.run(1, 5, expected, record=False)
    found = interpret(kernel, 1, 5, args, variables=kernel.variables)
    for number, array in enumerate(expected):
        np.testing.assert_array_equal(found.output(number), array)
    assert found.driver_calls == called
    assert stack is None or found.stack_bytes == stack, "nine calls of 24 bytes"
    assert kernel.estimate(1, 5, args).microseconds > 0


LONE = """
typedef float (*Function)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ Function table[2] = {add, multiply};
extern "C" __global__ void alone(const int* which, float* x) {
  x[threadIdx.x] = table[which[threadIdx.x]](x[threadIdx.x], 10.0f);
}"""


@pytest.mark.parametrize("runs", [0, 1])
def test_the_only_kernel_of_a_source_calls_by_address(runs):
    """Such a kernel has no table of functions: an address is a place in its code."""
    which, x = np.array([0, 1, 1, 0, 1], np.int32), np.arange(5, dtype=np.float32)
    kernel, expected = Kernel(LONE, "alone"), np.where(which == 1, x * 10, x + 10)
    for _ in range(runs):  # then the emulator has written its own addresses into the variable
        kernel.run(1, 5, (which, x.copy()), record=False)
    assert interpret(kernel, 1, 5, (which, x), variables=kernel.variables).output(1).tolist() == expected.tolist()
    assert kernel.estimate(1, 5, (which, x)).microseconds > 0


def test_a_deep_recursion_says_what_stack_it_needs():
    source = """
__device__ __noinline__ int down(int n) { volatile int own[8] = {n}; return n ? down(n - 1) + own[n % 8] : 0; }
extern "C" __global__ void deep(int* x) { x[threadIdx.x] = down(x[threadIdx.x]); }"""
    kernel = Kernel(source, "deep")
    notes = [kernel.estimate(1, 32, (np.full(32, depth, np.int32),)).notes for depth in (3, 100)]
    assert notes[0] == ()
    assert any("cudaLimitStackSize" in note for note in notes[1])


def test_a_recursion_without_end_is_a_fault():
    source = """
__device__ __noinline__ int down(volatile int* x, int n) { volatile int own[1024]; own[n % 1024] = n;
  return x[0] ? down(x, n + 1) + own[0] : n; }
extern "C" __global__ void endless(int* x) { x[1] = down(x, 0); }"""
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "endless").estimate(1, 1, (np.ones(2, np.int32),))
    assert caught.value.line == 2


def test_an_address_that_is_no_function_is_a_fault():
    with pytest.raises(KernelFault, match="trap: the thread calls an address where no function is") as caught:
        interpret(Kernel(SOURCE, "wild"), 1, 1, (np.zeros(1, np.float32), np.uint64(12345)))
    assert caught.value.kind == "trap"


def test_the_time_of_printf_is_not_in_the_estimate_and_it_says_so():
    source = """
#include <stdio.h>
#include <assert.h>
extern "C" __global__ void say(int* x) {
  assert(x[threadIdx.x] >= 0);
  if (threadIdx.x % 3 == 0) printf("%d %s\\n", x[threadIdx.x], "x");
  x[threadIdx.x] += 1;
}"""
    kernel, x = Kernel(source, "say"), np.arange(64, dtype=np.int32)
    assert interpret(kernel, 1, 64, (x,)).output(0).tolist() == list(range(1, 65))
    said = kernel.estimate(1, 64, (x,)).validated
    assert said.startswith("not validated: the threads call printf, whose time was not measured")
    with pytest.raises(KernelFault, match="line 5") as caught:
        kernel.estimate(1, 64, (x - 5,))
    assert caught.value.kind == "assert"
