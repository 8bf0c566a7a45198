"""Accesses that leave their array: what is said of them, and what a run that collects does."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.structs import Struct
from softlab.errors import KernelFault
from softlab.instruments.address_names import _nearest
from softlab.instruments.source_names import declared_sizes, local_arrays_of_line
from softlab.instruments.variables import Variable
from softlab.kernel import Kernel

_TILE = """extern "C" __global__ void k(float* y, int shift) {
  __shared__ float tile[4][8];
  __shared__ float other[32];
  int t = threadIdx.x;
  tile[t / 8][t % 8] = t;
  other[t] = 0.5f * shift;
  __syncthreads();
  y[t] = tile[t / 8 + shift][t % 8] + 2.0f * other[31 - t];
}"""


def test_a_matrix_is_named_by_row_and_column():
    kernel = Kernel(_TILE, "k")
    with pytest.raises(KernelFault, match=r"reads tile\[4\]\[0\], beyond the end of tile, .* is other\[0\]") as caught:
        kernel.run(1, 32, (np.zeros(32, np.float32), 1))
    fault = caught.value
    assert (fault.kind, fault.line, fault.thread, fault.address) == ("shared-out-of-bounds", 8, (24, 0, 0), 128)
    assert fault.symbol == "tile[4][0]"


def test_a_run_that_collects_reads_zero_there():
    y = np.zeros(32, np.float32)
    run = Kernel(_TILE, "k").run(1, 32, (y, 1), check="collect")
    assert [(f.kind, f.line, f.symbol, f.count) for f in run.findings] == [("shared-out-of-bounds", 8, "tile[4][0]", 8)]
    assert y.tolist() == [*range(9, 33), *[1] * 8]


def test_without_checks_nothing_is_said():
    y = np.zeros(32, np.float32)
    Kernel(_TILE, "k").run(1, 32, (y, 1), check=False)
    assert y[24:].tolist() == [1.5] * 8


def test_the_only_array_is_named_at_the_end_of_shared_memory():
    source = _TILE.replace("  other[t] = 0.5f * shift;\n", "").replace(" + 2.0f * other[31 - t]", "")
    with pytest.raises(KernelFault, match=r"tile\[4\]\[0\], beyond the end of tile, which has 128 bytes") as caught:
        Kernel(source, "k").run(1, 32, (np.zeros(32, np.float32), 1))
    assert caught.value.symbol == "tile[4][0]"


def test_a_bulk_copy_stays_in_its_array():
    source = """extern "C" __global__ void k(const float* x, float* y, int bytes) {
  __shared__ alignas(16) float row[32];
  __shared__ alignas(16) float next[32];
  int t = threadIdx.x;
  row[t] = t; next[t] = 0.0f;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(__cvta_generic_to_global(y)), "r"((unsigned)__cvta_generic_to_shared(row)), "r"(bytes));
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
  }
  __syncthreads();
  if (t == 1) y[63] = next[0] + x[0];
}"""
    kernel = Kernel(source, "k")
    arguments = (np.ones(1, np.float32), np.zeros(64, np.float32))
    assert kernel.run(1, 32, (*arguments, 128), check="collect").findings == ()
    with pytest.raises(KernelFault, match=r"copy reads 144 bytes from byte 0 .* row\[\d+\], beyond the end") as caught:
        kernel.run(1, 32, (*arguments, 144))
    assert (caught.value.kind, caught.value.line) == ("shared-out-of-bounds", 10)


def test_a_trap_that_the_source_does_not_have():
    source = 'extern "C" __global__ void k(int* x) {\n  int* p = nullptr;\n  *p = 1;\n  x[0] = 1;\n}'
    with pytest.raises(KernelFault, match=r"The source has no trap in this line.*null pointer"):
        Kernel(source, "k").run(1, 1, (np.zeros(1, np.int32),))


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("int a[4], b[8];\nx[i] = a[j] + b[j];", ("a", "b")),
        ("float4 a[4] = {};\nx[i] = a[j].x;", ("a",)),
        ("const unsigned char a[4] = {1, 2};\nx[i] = a[j];", ("a",)),
        ("__shared__ int a[4]; int b[3];\nx[i] = a[j] + b[j];", ("b",)),
        ("__shared__ int a[4]; int a[3], b[2];\nx[i] = a[j] + b[j];", ("b",)),
        ("int a[4]; int* p = a;\nx[i] = p[j] + a[j];", ()),
        ("// int a[4];\nx[i] = a[j];", ()),
        ("return a[4];\nx[i] = a[j];", ()),
    ],
)
def test_local_arrays_of_a_line(lines, found):
    assert local_arrays_of_line(lines, 2, ["x"]) == found


def test_declared_sizes():
    assert declared_sizes("__shared__ float tile[32][33];", "tile") == (32, 33)
    assert declared_sizes("__shared__ int a[4], tile[7];", "tile") == (7,)
    assert declared_sizes("__shared__ float tile[N];", "tile") == ()
    assert declared_sizes("float tile[32];", "tile") == ()


def test_an_access_out_of_an_argument_names_the_element() -> None:
    source = """
    struct Pair { float* a; int n; };
    extern "C" __global__ void k(double* x, Pair p) { 
      x[(int)threadIdx.x - 1] = 1;
      p.a[threadIdx.x + 2] = 1;
    }
    """
    arrays = np.zeros(8, np.float64), Struct(np.zeros(2, np.float32), np.int32(2))
    findings = Kernel(source, "k").run(1, 1, arrays, check="collect").findings
    assert [(f.argument, f.address, f.symbol) for f in findings] == [(0, -8, "x[-1]"), (1, 8, None)]


_LOCAL = """extern "C" __global__ void k(float* y, int n, int at) {
  float kept[32];
  for (int i = 0; i < n; ++i) kept[i] = i;
  y[threadIdx.x] = kept[at];
}"""


@pytest.mark.parametrize(("at", "where"), [(33, "beyond the end"), (-1, "before the beginning")])
def test_an_element_of_a_local_array(at, where):
    with pytest.raises(KernelFault, match=rf"reads kept\[{at}\], {where} of the array") as caught:
        Kernel(_LOCAL, "k").run(1, 32, (np.zeros(32, np.float32), 32, at))
    assert (caught.value.symbol, caught.value.address) == (f"kept[{at}]", 4 * at)


def test_one_of_two_local_arrays():
    """Where a line indexes several, the message names them all."""
    source = _LOCAL.replace("float kept[32];", "float kept[32], next[32];").replace(
        "kept[i] = i;", "kept[i] = next[i] = i;"
    )
    with pytest.raises(KernelFault, match=r"element 40 of a local array \(kept or next\), beyond the end") as caught:
        Kernel(
            source.replace("kept[at];", "kept[at] * next[n - 1 - i0];").replace("int at)", "int at, int i0)"), "k"
        ).run(1, 32, (np.zeros(32, np.float32), 32, 40, 0))
    assert caught.value.symbol is None


def test_a_local_array_gives_no_name_to_shared_memory():
    """It has the same addresses, and a name that comes later."""
    source = """extern "C" __global__ void k(int* y, int n) {
  __shared__ int s[64];
  int kept[20];
  for (int i = 0; i < n; ++i) kept[i] = i;
  s[threadIdx.x] = kept[n / 2];
  y[threadIdx.x] = s[threadIdx.x ^ 32];
}"""
    run = Kernel(source, "k").run(1, 64, (np.zeros(64, np.int32), 20), check="collect")
    assert [(f.kind, f.symbol) for f in run.findings] == [("race", "s[32]")]


def test_the_nearest_array():
    arrays = (Variable("first", 0, 16), Variable("second", 16, 32), Variable("third", 64, 80))
    near = {-4: "first", 32: "second", 44: "second", 56: "third", 84: "third"}
    assert {address: _nearest(arrays, address).symbol for address in near} == near
