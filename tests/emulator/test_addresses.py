"""Addresses that no array has, and what a fault says of them; parameters and shared variables of functions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import softlab
from softlab.emulator.ptx.linker import (
    ALLOCATION_ALIGN,
    ARGUMENT_BASE,
    FUNCTION_BASE,
    GUARD_BYTES,
    LOCAL_WINDOW,
    MODULE_BASE,
    PARAMETER_BASE,
    RANK_SHIFT,
    SHARED_WINDOW,
    WINDOW_BYTES,
    link,
)
from softlab.emulator.ptx.parser import parse
from softlab.errors import Error, KernelFault

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"


def test_no_two_state_spaces_meet() -> None:
    starts = [PARAMETER_BASE, FUNCTION_BASE, MODULE_BASE, ARGUMENT_BASE, SHARED_WINDOW, LOCAL_WINDOW]
    assert starts == sorted(starts)
    assert all(start % 2**32 == 0 for start in starts), "the low bits of a shared address are its place"
    assert all(later - start >= WINDOW_BYTES for start, later in pairwise(starts))
    assert WINDOW_BYTES == 2**32, "addresses of shared and local memory have 32 bits"
    assert 1 << RANK_SHIFT >= 227 * 1024, "the shared memory of a block ends before the bits of a rank"
    assert 17 << RANK_SHIFT < WINDOW_BYTES, "sixteen blocks of a cluster have place in the window"
    assert GUARD_BYTES % ALLOCATION_ALIGN == 0


@pytest.mark.parametrize(
    ("load", "reads"),
    [
        ("ld.param.u32 %r, [n];", 7),
        ("ld.param.u32 %r, [n+4];", None),
        ("ld.param.u32 %r, [n+-12];", None),
        ("ld.param.u64 %wide, [n]; cvt.u32.u64 %r, %wide;", None),
        ("ld.param.u16 %half, [n+2]; cvt.u32.u16 %r, %half;", 0),
        ("ld.param.u32 %r, [x+4];", 0),
    ],
)
def test_a_load_beyond_the_parameters_is_refused(load: str, reads: int | None) -> None:
    text = f"""{HEADER}.visible .entry k(.param .u64 x, .param .u32 n)
    {{ .reg .u64 %p, %wide; .reg .u32 %r; .reg .u16 %half;
      ld.param.u64 %p, [x]; {load} shr.u32 %r, %r, {16 if "[x+4]" in load else 0}; st.global.u32 [%p], %r; ret; }}"""
    kernel, out = softlab.Kernel.from_ptx(text, "k"), np.full(1, 99, np.uint32)
    if reads is None:
        with pytest.raises(Error, match="reads beyond the kernel's parameters"):
            kernel.run(1, 1, (out, np.uint32(7)))
        assert out[0] == 99
    else:
        kernel.run(1, 1, (out, np.uint32(7)))
        assert out[0] == reads


@pytest.mark.parametrize(
    ("address", "byte"), [(0xFFFFFFF0, -16), (256, 256), (0x80000000, -(2**31)), (0x7FFFFFFC, 2**31 - 4)]
)
def test_a_byte_before_shared_memory_is_negative(address: int, byte: int) -> None:
    text = f"""{HEADER}.visible .entry k(.param .u64 x)
    {{ .reg .u32 %r, %a; mov.u32 %a, {address}; ld.shared.u32 %r, [%a]; ret; }}"""
    with pytest.raises(KernelFault) as caught:
        softlab.Kernel.from_ptx(text, "k").run(1, 32, (np.zeros(1, np.uint32),), smem=256)
    assert f"at byte {byte} of the block's shared memory, which has 256 bytes" in str(caught.value)


def test_a_shared_variable_of_a_function_is_one_for_all_calls() -> None:
    """Registers and local variables are each call's own."""
    source = """
    __device__ __noinline__ int& counter() { __shared__ int count; return count; }
    __device__ __noinline__ int own(int n) { volatile int local[4]; local[n & 3] = n; return local[n & 3]; }
    extern "C" __global__ void k(int* x) {
      if (threadIdx.x == 0) counter() = 5;
      __syncthreads();
      x[threadIdx.x] = counter() * 100 + own(threadIdx.x) + own(threadIdx.x + 1);
    }"""
    x = np.zeros(64, np.int32)
    softlab.Kernel(source, "k").run(1, 64, (x,))
    assert x.tolist() == [500 + 2 * thread + 1 for thread in range(64)]
    image = link(parse(softlab.Kernel(source, "k").program.ptx), "k")
    assert image.static_shared_bytes == 4
    assert list(image.spaces.values()).count("shared") == 1
    assert image.local_bytes >= 32, "each call of own() has its array"
