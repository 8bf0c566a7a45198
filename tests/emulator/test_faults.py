"""Planted faults: each is found, with its kind and its line. The corrected kernels are not reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel


@dataclass(frozen=True)
class Plant:
    """A kernel ``k(float* x, int n)`` with ``bad`` at ``@`` is at fault there; with ``good`` it is not."""

    name: str
    kind: str
    source: str
    bad: str
    good: str
    block: int = 64
    grid: int = 1
    smem: int = 0
    n: int = 64
    size: int = 128


PLANTS = [
    # Global memory
    Plant("grid too large", "global-out-of-bounds",
          "int i = blockIdx.x * blockDim.x + threadIdx.x;\n@", "x[i] = i;", "if (i < n) x[i] = i;", size=100, n=100,
          grid=2),
    Plant("one before the start", "global-out-of-bounds",
          "int i = threadIdx.x;\n@", "x[i - 1] += 1;", "if (i > 0) x[i - 1] += 1;", grid=1),
    Plant("one too many", "global-out-of-bounds",
          "float s = 0;\nfor (int i = 0; i @ 128; ++i)\ns += x[i];\n__syncthreads(); x[threadIdx.x] = s;", "<=", "<"),
    Plant("stride in elements of another type", "global-out-of-bounds",
          "double* d = (double*)x;\n@", "d[threadIdx.x] = 1;", "if (threadIdx.x < n / 2) d[threadIdx.x] = 1;", size=64),
    # Shared memory
    Plant("neighbour beyond the array", "shared-out-of-bounds",
          "__shared__ float s[64]; int t = threadIdx.x;\ns[t] = x[t]; __syncthreads();\nx[t] =\n@;",
          "s[t + 1]", "s[(t + 1) % 64]"),
    Plant("dynamic memory too small", "shared-out-of-bounds",
          "extern __shared__ float s[]; int t = threadIdx.x;\n@\n__syncthreads(); x[t] = s[t & 31];",
          "s[t] = x[t];", "if (t < 32) s[t] = x[t];", smem=128),
    Plant("wrong pitch", "shared-out-of-bounds",
          "__shared__ float s[8 * 8]; int t = threadIdx.x;\ns[t % 8 * @ + t / 8] = x[t];\n"
          "__syncthreads(); x[t] = s[t];",
          "9", "8"),
    # Alignment
    Plant("vector from an odd element", "misaligned",
          "int t = threadIdx.x;\nfloat2 v = *(float2*)(x + 2 * (t % 32) + @);\n__syncthreads(); x[t] = v.x + v.y;", "1",
          "2"),
    Plant("four from an even element", "misaligned",
          "int t = threadIdx.x;\n*(float4*)(x + @ * (t % 16)) = make_float4(n, n, n, n);", "2", "4"),
    Plant("vector in shared memory", "misaligned",
          "__shared__ __align__(16) float s[132]; int t = threadIdx.x;\n"
          "*(float2*)(s + 2 * t + @) = make_float2(t, t);\n__syncthreads(); x[t] = s[2 * t + 2];", "1", "2", grid=1),
    # Uninitialised shared memory
    Plant("last element not written", "uninitialized-shared",
          "__shared__ float s[64]; int t = threadIdx.x;\nif (t < @) s[t] = x[t];\n__syncthreads();\nx[t] = s[63 - t];",
          "63", "64"),
    Plant("halo not written", "uninitialized-shared",
          "__shared__ float s[66]; int t = threadIdx.x;\ns[t + 1] = x[t]; @\n__syncthreads();\n"
          "x[t] = s[t] + s[t + 2];", "", "if (t == 0) s[0] = s[65] = 0;"),
    Plant("histogram not cleared", "uninitialized-shared",
          "__shared__ int h[16]; int t = threadIdx.x;\n@\n__syncthreads();\natomicAdd(h + t % 16, 1);\n"
          "__syncthreads(); x[t] = h[t % 16];", "", "if (t < 16) h[t] = 0;"),
    Plant("only one block writes", "uninitialized-shared",
          "__shared__ float s[64]; int t = threadIdx.x; x += 64 * blockIdx.x;\nif (@) s[t] = x[t];\n__syncthreads();\n"
          "x[t] = s[63 - t];", "blockIdx.x == 0", "blockIdx.x >= 0", grid=2),
    # Races
    Plant("no barrier after the store", "race",
          "__shared__ float s[64]; int t = threadIdx.x;\ns[t] = x[t]; @\nx[t] = s[63 - t];", "", "__syncthreads();"),
    Plant("no barrier in a reduction", "race",
          "__shared__ float s[64]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();\n"
          "for (int h = 32; h > 0; h /= 2) {\nif (t < h) s[t] += s[t + h];\n@ }\nif (t == 0) x[0] = s[0];",
          "", "__syncthreads();", grid=1),
    Plant("write before all have read", "race",
          "__shared__ float s[64]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();\n"
          "for (int h = 1; h < 64; h *= 2) { float v = t >= h ? s[t - h] : 0; @\ns[t] += v;\n__syncthreads(); }\n"
          "x[t] = s[t];", "", "__syncthreads();", grid=1),
    Plant("all write one word", "race",
          "__shared__ float s; int t = threadIdx.x;\nif (@)\ns = t;\n__syncthreads(); x[t] = s;", "n", "t == 0"),
    Plant("lanes of one warp", "race",
          "__shared__ float s[64]; int t = threadIdx.x;\ns[t] = x[t]; @\nx[t] = s[t ^ 1];", "", "__syncwarp();"),
    Plant("result read before it is there", "race",
          "__shared__ float total; int t = threadIdx.x; total = 0; __syncthreads();\n"
          "if (t == 0) total = x[5]; @\nx[t] = total;",
          "", "__syncthreads();"),
    # Barriers
    Plant("barrier for half a block", "barrier-divergence",
          "int t = threadIdx.x;\nif (t < @)\n__syncthreads();\nx[t] += 1;", "32", "64"),
    Plant("barrier in a loop of uneven length", "barrier-divergence",
          "int t = threadIdx.x;\nfor (int i = t; i < @; i += 64) { x[i % n] = i;\n__syncthreads(); }\nx[t] += 1;",
          "100", "128", grid=1),
    Plant("two barriers in two branches", "barrier-divergence",
          "int t = threadIdx.x;\nif (@) { x[t] = 2;\n__syncthreads();\nx[t] *= 3; }\n"
          "else { x[t] = 5;\n__syncthreads();\nx[t] *= 7; }", "t % 2", "n"),
    # Warps
    Plant("shuffle in a branch", "inactive-lane",
          "int t = threadIdx.x, v = t;\nif (@) v =\n__shfl_xor_sync(0xffffffff, v, 1);\nelse v *= x[t];\nx[t] = v;",
          "t % 32 < 16", "n"),
    Plant("source not in the mask", "inactive-lane",
          "int t = threadIdx.x;\nif (t % 32 < 16) x[t] =\n__shfl_down_sync(0xffff, t, @);", "16, 32", "8, 16"),
    Plant("lane not in its own mask", "inactive-lane",
          "int t = threadIdx.x;\nif (t % 32 < @) x[t] =\n__shfl_sync(0xffff, t, 3, 16);", "20", "16"),
    Plant("vote with too large a mask", "inactive-lane",
          "int t = threadIdx.x;\nif (t % 32 < 8) x[t] =\n__ballot_sync(@, t > 3);\nelse x[t] = __activemask();",
          "0xffffffff", "0xff"),
    # Infinite loops
    Plant("waits for a flag that nobody sets", "infinite-loop",
          "volatile float* flag = x;\n@\nwhile (flag[0] == 0);\nx[1] = 2;", "", "if (threadIdx.x == 63) flag[0] = 1;"),
    Plant("index does not grow", "infinite-loop",
          "float s = 0; int i = 0;\nwhile (i < n) { s += x[i];\nif (x[i] @ 0) ++i; }\n"
          "__syncthreads(); x[threadIdx.x] = s;", ">", "=="),
    Plant("two wait for each other", "infinite-loop",
          "volatile float* f = x; int t = threadIdx.x;\nif (t == 0) { @\nwhile (f[1] == 0);\n f[0] = 1; }\n"
          "else if (t == 40) {\nwhile (f[0] == 0);\nf[1] = 1; }", "", "f[0] = 1;", grid=1),
]  # fmt: skip


def build(plant: Plant, text: str) -> Kernel:
    return Kernel(f'extern "C" __global__ void k(float* x, int n) {{\n{plant.source.replace("@", text)}\n}}', "k")


def launch(plant: Plant, text: str, **how) -> None:
    build(plant, text).run(plant.grid, plant.block, (np.zeros(plant.size, np.float32), plant.n), plant.smem, **how)


def wanted_lines(plant: Plant) -> set[int]:
    """The lines of the fault: that of the ``@``, or a neighbouring one, where the access itself may be."""
    line = 2 + plant.source[: plant.source.index("@")].count("\n")
    return set(range(line - 2, line + 5))


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_fault_is_found(plant):
    with pytest.raises(KernelFault) as caught:
        launch(plant, plant.bad)
    fault = caught.value
    assert fault.kind == plant.kind
    assert fault.line in wanted_lines(plant)
    assert fault.thread is not None
    assert fault.block is not None
    assert fault.thread[0] < plant.block
    message, _, location = str(fault).partition("\n  at ")
    assert f"line {fault.line} of kernel.cu" in location
    assert message.count(". ") >= 1  # what is wrong, and what to do


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_mended_kernel_is_not_reported(plant):
    launch(plant, plant.good)


ALWAYS_FOUND = ("global-out-of-bounds", "shared-out-of-bounds", "misaligned", "infinite-loop")


@pytest.mark.parametrize("plant", [p for p in PLANTS if p.kind not in ALWAYS_FOUND], ids=lambda plant: plant.name)
def test_without_checks_it_runs_as_on_a_gpu(plant):
    launch(plant, plant.bad, check=False)


@pytest.mark.parametrize("plant", [p for p in PLANTS if p.kind in ALWAYS_FOUND], ids=lambda plant: plant.name)
def test_memory_and_infinite_loops_are_watched_always(plant):
    with pytest.raises(KernelFault):
        launch(plant, plant.bad, check=False, record=False)


def test_exact_address_of_an_access_out_of_bounds():
    x = np.zeros(100, np.float32)
    source = """extern "C" __global__ void k(float* x) {
  int i = (blockIdx.y * gridDim.x + blockIdx.x) * 16 + threadIdx.y * 8 + threadIdx.x;
  x[i] = i;
}"""
    with pytest.raises(KernelFault, match="byte 400 of argument 0, which has 400 bytes") as caught:
        Kernel(source, "k").run((3, 4), (8, 2), (x,))
    fault = caught.value
    assert (fault.kind, fault.line, fault.thread, fault.block, fault.address) == (
        "global-out-of-bounds", 3, (4, 0, 0), (0, 2, 0), 400,
    )  # fmt: skip
    assert x[:96].tolist() == [0.0] * 96  # the instruction is refused as a whole


def test_addresses_out_of_every_array():
    kernel = Kernel('extern "C" __global__ void k(long long a, float* x) { x[0] = *(float*)a; }', "k")
    for address in (0, 8, -8, 0x7FFF_FFFF_FFFF, 2**63 - 4):
        words = "null pointer" if abs(address) < 9 else "where no array is"
        with pytest.raises(KernelFault, match=words) as caught:
            kernel.run(1, 1, (address, np.zeros(1, np.float32)))
        assert caught.value.kind == "global-out-of-bounds"


def test_negative_offsets_are_told_as_such():
    kernel = Kernel(
        'extern "C" __global__ void k(float* x) { __shared__ float s[8]; s[0] = 1; __syncthreads();\n'
        "x[0] = s[(int)x[1]]; }", "k",
    )  # fmt: skip
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 1, (np.float32([0, -3]),))
    assert (caught.value.kind, caught.value.address) == ("shared-out-of-bounds", -12)


def test_same_value_from_many_threads_is_no_race():
    kernel = Kernel(
        """extern "C" __global__ void k(int* x) { __shared__ int found; if (threadIdx.x == 0) found = 0;
        __syncthreads(); if (x[threadIdx.x] > 3) found = 1; __syncthreads(); x[threadIdx.x] = found; }""",
        "k",
    )
    x = np.arange(64, dtype=np.int32)
    kernel.run(1, 64, (x,))
    assert x.all()


def test_a_loop_over_the_budget():
    kernel = Kernel('extern "C" __global__ void k(int* x) { for (unsigned i = 9; i >= 0; --i) x[i % 8] = i; }', "k")
    with pytest.raises(KernelFault, match="has issued 20000 instructions") as caught:
        kernel.run(1, 1, (np.zeros(8, np.int32),), budget=20_000)
    assert caught.value.kind == "infinite-loop"


@pytest.mark.parametrize(("at", "symbol", "where"), [(20, "a[20]", 96), (-5, "a[-5]", -4)])
def test_an_element_is_counted_from_the_argument_in_memory_that_two_share(at: int, symbol: str, where: int):
    """The first argument begins at byte 16 of the second one."""
    shared = np.zeros(16, np.int32)
    kernel = Kernel('extern "C" __global__ void k(int* a, int* b, int at) { a[at] = b[0]; }', "k")
    with pytest.raises(KernelFault, match=f"at byte {where} of argument 0, which is also argument 1") as caught:
        kernel.run(1, 1, (shared[4:], shared, at))
    assert caught.value.symbol == symbol


@pytest.mark.parametrize("members", ["int* p; long long n;", "long long n; int* p;"])
def test_an_element_of_an_array_in_a_structure_is_not_one_of_the_structure(members: str):
    source = f'struct P {{ {members} }}; extern "C" __global__ void k(P s, int* y) {{ y[0] = s.p[s.n]; }}'
    with pytest.raises(KernelFault, match="at byte 64 of") as caught:
        Kernel(source, "k").run(1, 1, ({"p": np.zeros(16, np.int32), "n": 16}, np.zeros(1, np.int32)))
    assert caught.value.symbol is None
    assert caught.value.argument == 0
