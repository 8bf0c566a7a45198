"""Calls that are no plain calls: function pointers, virtual functions, recursion; and the heap of device code."""

from __future__ import annotations

import numpy as np
import pytest

import softlab

SOURCE = """
typedef float (*Function)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float never(float a, float b, float c) { return a * b * c; }
__device__ Function table[2] = {add, multiply};
__device__ float (*other)(float, float, float) = never;
extern "C" __global__ void pointers(const int* which, float* x) {
  int i = threadIdx.x;
  Function f = table[which[i]];
  if (x[i] > 0) x[i] = f(x[i], 10.0f);
}
extern "C" __global__ void wild(float* x, unsigned long long where) { *x = ((Function)where)(1.0f, 2.0f); }
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float a, float b) : a(a), b(b) {}
  __device__ float area() const override { return a * b; }
};
extern "C" __global__ void virtuals(float* x) {
  Shape* s;
  if (threadIdx.x % 2) s = new Square(x[threadIdx.x]); else s = new Box(x[threadIdx.x], 100);
  x[threadIdx.x] = s->area();
  delete s;
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int depth(int n) { int own[4] = {n, 1, 2, 3}; return n ? depth(n - 1) + own[n % 4] : 0; }
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
extern "C" __global__ void twice(int* x) { x[threadIdx.x] = fibonacci(x[threadIdx.x]); }
extern "C" __global__ void once(int* x) { x[threadIdx.x] = depth(x[threadIdx.x]); }
extern "C" __global__ void mutual(int* x) { x[threadIdx.x] = even(x[threadIdx.x]); }
extern "C" __global__ void heap(const int* sizes, int* x) {
  int n = sizes[threadIdx.x];
  int* p = (int*)malloc(n * sizeof(int));
  if (!p) { x[threadIdx.x] = -1; return; }
  for (int i = 0; i < n; i += 1 + n / 8) p[i] = i;
  x[threadIdx.x] = p[0] + (n > 1 ? p[1 + n / 8] : 0);
  free(p);
}
extern "C" __global__ void beyond() { int* p = new int[4]; p[4] = 1; delete[] p; }
extern "C" __global__ void after() { int* volatile p = new int[4]; int* q = p; delete[] q; p[1] = 1; }
extern "C" __global__ void again() { void* volatile p = malloc(4); free(p); free(p); }
"""


def kernel(name: str) -> softlab.Kernel:
    return softlab.Kernel(SOURCE, name)


def test_function_pointers() -> None:
    which, x = np.array([0, 1, 1, 0, 1] * 8, np.int32), np.arange(-3, 37, dtype=np.float32)
    expected = np.where(x > 0, np.where(which == 1, x * 10, x + 10), x)
    kernel("pointers").run(1, 40, (which, x))
    np.testing.assert_array_equal(x, expected)


def test_an_address_that_is_no_function() -> None:
    x = np.zeros(1, np.float32)
    with pytest.raises(softlab.KernelFault, match="calls an address where no function with such") as caught:
        kernel("wild").run(1, 1, (x, np.uint64(12345)))
    assert caught.value.line == next(n for n, line in enumerate(SOURCE.splitlines(), 1) if " wild(" in line)


def test_virtual_functions_of_objects_on_the_heap() -> None:
    x = np.arange(1, 9, dtype=np.float32)
    kernel("virtuals").run(1, 8, (x,))
    assert x.tolist() == [100, 4, 300, 16, 500, 36, 700, 64]


def test_recursion() -> None:
    x = np.arange(10, dtype=np.int32)
    kernel("twice").run(1, 10, (x,))
    assert x.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    x = np.array([0, 3, 100, 6], np.int32)
    kernel("once").run(1, 4, (x,))
    assert x.tolist() == [sum((n if n % 4 == 0 else n % 4) for n in range(1, top + 1)) for top in (0, 3, 100, 6)]
    x = np.arange(8, dtype=np.int32)
    kernel("mutual").run(1, 8, (x,))
    assert x.tolist() == [1, 0] * 4


def test_recursion_that_is_too_deep_is_an_error_where_it_is_reached() -> None:
    with pytest.raises(softlab.UnsupportedInstruction, match="recursion that is this deep") as caught:
        kernel("twice").run(1, 1, (np.array([400], np.int32),))
    assert caught.value.line == next(n for n, line in enumerate(SOURCE.splitlines(), 1) if "int fibonacci" in line)


BRANCHING = """
struct Three { float x, y, z; };
__device__ __noinline__ int nested(int n) { return n <= 0 ? 1 : nested(n - nested(n - 1)) + 1; }
__device__ __noinline__ void quick(float* a, int from, int to) {
  if (from >= to) return;
  int at = from;
  for (int i = from; i < to; ++i)
    if (a[i] < a[to]) { float kept = a[at]; a[at] = a[i]; a[i] = kept; ++at; }
  float kept = a[at]; a[at] = a[to]; a[to] = kept;
  quick(a, from, at - 1);
  quick(a, at + 1, to);
}
__device__ __noinline__ Three turned(Three v, int depth) {
  float own[3] = {v.x, v.y, v.z};
  if (!depth) return {own[(int)v.x % 3], 1, 2};
  Three a = turned({v.y, v.z, v.x}, depth - 1), b = a;
  if ((int)v.x % 2) b = turned({v.x + 1, v.y, v.z}, depth - 1);
  Three c = turned({v.z, b.y, own[depth % 3]}, depth - 1);
  return {a.x + c.z, b.y + own[1], c.x};
}
extern "C" __global__ void inner(int* x) { x[threadIdx.x] = nested(x[threadIdx.x]); }
extern "C" __global__ void sort(float* a, int n) { quick(a + n * threadIdx.x, 0, n - 1); }
extern "C" __global__ void turn(float* y, int depth) {
  Three v = turned({(float)threadIdx.x, 2, 3}, depth);
  float* own = y + 3 * threadIdx.x;
  own[0] = v.x; own[1] = v.y; own[2] = v.z;
}
"""


def test_a_function_that_calls_itself_in_several_places() -> None:
    """The depth counts, not the number of calls: 40 numbers that are sorted already make a depth of 40."""
    a = np.stack([np.arange(40), np.random.default_rng(0).permutation(40), np.arange(40)[::-1]]).astype(np.float32)
    assert softlab.Kernel(BRANCHING, "sort").run(1, 3, (a, 40)).findings == ()
    np.testing.assert_array_equal(a, np.sort(a, axis=1))
    x = np.arange(12, dtype=np.int32)
    softlab.Kernel(BRANCHING, "inner").run(1, 12, (x,))

    def nested(n: int) -> int:
        return 1 if n <= 0 else nested(n - nested(n - 1)) + 1

    assert x.tolist() == [nested(n) for n in range(12)]


@pytest.mark.further
def test_structs_of_a_function_that_calls_itself_in_several_places() -> None:
    y = np.zeros((8, 3), np.float32)
    softlab.Kernel(BRANCHING, "turn").run(1, 8, (y, 4))

    def turned(v: tuple[float, ...], depth: int) -> tuple[float, ...]:
        if not depth:
            return v[int(v[0]) % 3], 1, 2
        a = turned((v[1], v[2], v[0]), depth - 1)
        b = turned((v[0] + 1, v[1], v[2]), depth - 1) if int(v[0]) % 2 else a
        c = turned((v[2], b[1], v[depth % 3]), depth - 1)
        return a[0] + c[2], b[1] + v[1], c[0]

    assert y.tolist() == [list(turned((float(k), 2.0, 3.0), 4)) for k in range(8)]


def test_the_heap() -> None:
    sizes, x = np.array([1, 5, 1000, 3_000_000, 7], np.int32), np.zeros(5, np.int32)
    kernel("heap").run(1, 5, (sizes, x))
    assert x.tolist() == [0, 1, 126, -1, 1], "12 MB do not fit in the heap of 8 MiB"


@pytest.mark.parametrize(
    ("name", "message"),
    [("beyond", "byte 16 of memory of malloc"), ("after", "global-out-of-bounds"), ("again", "free already")],
)
def test_misuse_of_the_heap(name: str, message: str) -> None:
    with pytest.raises(softlab.KernelFault, match=message) as caught:
        kernel(name).run(1, 1)
    assert caught.value.kind == "global-out-of-bounds"


def test_the_heap_has_eight_mebibytes() -> None:
    """A piece takes whole units of 16 bytes and one more. What is freed can be given again."""
    source = """extern "C" __global__ void fill(int nbytes, int* given) {
  void* pieces[20];
  for (int round = 0; round < 2; ++round) {
    int count = 0;
    while (count < 20 && (pieces[count] = malloc(nbytes))) ++count;
    given[round] = count;
    for (int i = 0; i < count; ++i) free(pieces[i]);
  }
}"""
    fill = softlab.Kernel(source, "fill")
    for nbytes, count in ((1_000_000, 8), (2**20 - 16, 8), (2**20 - 15, 7), (2**23 - 16, 1), (2**23, 0), (0, 0)):
        given = np.full(2, -1, np.int32)
        fill.run(1, 1, (nbytes, given), record=False)
        assert given.tolist() == [count, count], nbytes
