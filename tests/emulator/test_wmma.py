"""wmma: loads, products and stores of fragments, beside NumPy's product of small whole numbers."""

from __future__ import annotations

import re
from typing import Literal

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.cuda.compile import has_header
from softlab.errors import KernelFault

#: Registers of A, B and C.
REGISTERS = {
    "f16": (8, 8), "bf16 m16n16k16": (4, 4), "bf16 m32n8k16": (8, 2), "bf16 m8n32k16": (2, 8), "tf32": (4, 4),
    "f64": (1, 1),
    "m16n16k16": (2, 2), "m32n8k16": (4, 1), "m8n32k16": (1, 4), "m8n8k32": (1, 1), "m8n8k128": (1, 1),
}  # fmt: skip
DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f64": np.float64, "f32": np.float32,
    "s8": np.int8, "u8": np.uint8, "s32": np.int32,
}  # fmt: skip
BIG = ("m16n16k16", "m32n8k16", "m8n32k16")
CASES = [
    *((shape, "f16", d, c, a, b) for shape, a, b in zip(BIG, ("row", "col", "row"), ("row", "row", "col"), strict=True)
      for d, c in (("f32", "f32"), ("f16", "f16"))),
    ("m16n16k16", "f16", "f32", "f16", "row", "col"), ("m16n16k16", "f16", "f16", "f32", "col", "col"),
    *((shape, "bf16", "f32", "f32", "col", "row") for shape in BIG),
    *((shape, kind, "s32", "s32", "row", b) for shape in BIG for kind, b in (("s8", "col"), ("u8", "row"))),
    ("m16n16k8", "tf32", "f32", "f32", "row", "row"), ("m16n16k8", "tf32", "f32", "f32", "col", "col"),
    ("m8n8k4", "f64", "f64", "f64", "col", "row"), ("m8n8k32", "s4", "s32", "s32", "row", "col"),
    ("m8n8k128", "b1", "s32", "s32", "row", "col"),
]  # fmt: skip


def name_of(case: tuple[str, ...]) -> str:
    return "_".join(case)


def sizes(shape: str) -> tuple[int, int, int]:
    m, n, k = (int(part) for part in shape[1:].replace("n", " ").replace("k", " ").split())
    return m, n, k


def source(case: tuple[str, ...]) -> str:
    """A kernel that multiplies matrices of which each row in memory has 8 elements (128 of b1) more than it needs."""
    shape, kind, d, c, a_order, b_order = case
    m, n, k = sizes(shape)
    counts = next(REGISTERS[key] for key in (f"{kind} {shape}", kind, shape) if key in REGISTERS)
    held = {key: 4 if kind_ == "f16" else 2 if m == 8 and n == 8 else 8 for key, kind_ in (("d", d), ("c", c))}
    letter = {"f32": "f", "f64": "d"}
    types = {"r": "unsigned", "f": "float", "d": "double"}
    in_letter = "d" if kind == "f64" else "r"
    pad = {"b1": 128, "s4": 32}.get(kind, 8)
    stride = {"a": (k if a_order == "row" else m) + pad, "b": (n if b_order == "row" else k) + pad}

    def names(prefix: str, count: int) -> str:
        return ", ".join(f"{prefix}{i}" for i in range(count))

    def vector(first: int, count: int) -> str:
        return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"

    def load(operand: str, order: str, type_: str, count: int, code: str, step: int) -> str:
        outs = ", ".join(f'"={code}"({operand}{i})' for i in range(count))
        text = f"wmma.load.{operand}.sync.aligned.{order}.{shape}.{type_} {vector(0, count)}, [%{count}], {step};"
        return f'{types[code]} {names(operand, count)}; asm volatile("{text}" : {outs} : "l"({operand}));'

    d_code, c_code = letter.get(d, "r"), letter.get(c, "r")
    kinds = f"{d}.{c}" if kind == "f16" else f"{d}.{kind}.{kind}.{c}"
    tail = ".and.popc" if kind == "b1" else ""
    total = [held["d"], counts[0], counts[1], held["c"]]
    first = np.cumsum([0, *total])
    groups = ", ".join(vector(int(first[i]), total[i]) for i in range(4))
    ins = [f'"{code}"({p}{i})' for p, code, count in (("a", in_letter, counts[0]), ("b", in_letter, counts[1]),
                                                      ("c", c_code, held["c"])) for i in range(count)]  # fmt: skip
    outs = ", ".join(f'"={d_code}"(d{i})' for i in range(held["d"]))
    product = f"wmma.mma{tail}.sync.aligned.{a_order}.{b_order}.{shape}.{kinds} {groups};"
    if kind == "b1":
        product = f"wmma.mma.and.popc.sync.aligned.row.col.{shape}.s32.b1.b1.s32 {groups};"
    store = f"wmma.store.d.sync.aligned.row.{shape}.{d} [%{held['d']}], {vector(0, held['d'])}, {n};"
    return f"""
extern "C" __global__ void {name_of(case)}(const void* a, const void* b, const void* c, void* d) {{
  {load("a", a_order, kind, counts[0], in_letter, stride["a"])}
  {load("b", b_order, kind, counts[1], in_letter, stride["b"])}
  {load("c", "col", c, held["c"], c_code, m)}
  {types[d_code]} {names("d", held["d"])};
  asm volatile("{product}" : {outs} : {", ".join(ins)});
  asm volatile("{store}" :: {", ".join(f'"{d_code}"(d{i})' for i in range(held["d"]))}, "l"(d) : "memory");
}}
"""


SOURCE = "".join(map(source, CASES))


def in_memory(matrix: np.ndarray, by_row: bool, kind: str) -> np.ndarray:
    """With rows (columns) of 8 elements more, of b1 128 and of s4 32."""
    matrix = matrix if by_row else matrix.T
    if kind == "b1":
        return np.ascontiguousarray(np.pad(np.packbits(matrix, axis=1, bitorder="little"), ((0, 0), (0, 16))))
    if kind == "s4":
        nibbles = (matrix & 15).astype(np.uint8)
        return np.ascontiguousarray(np.pad(nibbles[:, ::2] | nibbles[:, 1::2] << 4, ((0, 0), (0, 16))))
    return np.ascontiguousarray(np.pad(matrix, ((0, 0), (0, 8))).astype(DTYPES[kind]))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_product(case: tuple[str, ...]) -> None:
    shape, kind, d, c, a_order, b_order = case
    m, n, k = sizes(shape)
    rng = np.random.default_rng(7)
    low, high = {"b1": (0, 2), "u8": (0, 9)}.get(kind, (-8, 8))
    a, b = rng.integers(low, high, (m, k)), rng.integers(low, high, (k, n))
    before = rng.integers(-50, 50, (m, n))
    out = np.zeros((m, n), DTYPES[d])
    arrays = (in_memory(a, a_order == "row", kind), in_memory(b, b_order == "row", kind))
    kernel = softlab.Kernel(SOURCE, name_of(case))
    kernel.run(1, 32, (*arrays, np.ascontiguousarray(before.T.astype(DTYPES[c])), out), record=False)
    np.testing.assert_array_equal(out.astype(np.int64), a @ b + before)


@pytest.mark.parametrize("case", {case[1]: case for case in CASES}.values(), ids=name_of)
def test_without_a_stride_the_matrices_are_dense(case: tuple[str, ...]) -> None:
    shape, kind, d, c, a_order, b_order = case
    m, n, k = sizes(shape)
    ptx = softlab.Kernel(SOURCE, name_of(case)).program.ptx
    ptx, found = re.subn(r"(wmma\.(load|store)[^;]*[\]}]), *\d+;", r"\1;", ptx)
    assert found == 4 * len(CASES)
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 2, (m, k)), rng.integers(0, 2, (k, n))
    before, out = rng.integers(0, 9, (m, n)), np.zeros((m, n), DTYPES[d])
    padding = 16 if kind in ("b1", "s4") else 8
    padded = in_memory(a, a_order == "row", kind), in_memory(b, b_order == "row", kind)
    dense = [np.ascontiguousarray(array[:, :-padding]) for array in padded]
    kernel = softlab.Kernel.from_ptx(ptx, name_of(case))
    kernel.run(1, 32, (*dense, np.ascontiguousarray(before.T.astype(DTYPES[c])), out), record=False)
    np.testing.assert_array_equal(out.astype(np.int64), a @ b + before)


FROM_SHARED = """
typedef unsigned short u16;
extern "C" __global__ void shared_tiles(const u16* a, const u16* b, float* c) {
  __shared__ __align__(16) u16 left[256], right[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) { left[i] = a[i]; right[i] = b[i]; }
  BARRIER
  unsigned l0, l1, l2, l3, l4, l5, l6, l7, r0, r1, r2, r3, r4, r5, r6, r7;
  float s0, s1, s2, s3, s4, s5, s6, s7;
  if (threadIdx.x >= 32) return;
  LOAD(a, left, l) LOAD(b, right, r)
  asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
    "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "
    "{%24, %24, %24, %24, %24, %24, %24, %24};"
    : "=f"(s0), "=f"(s1), "=f"(s2), "=f"(s3), "=f"(s4), "=f"(s5), "=f"(s6), "=f"(s7)
    : "r"(l0), "r"(l1), "r"(l2), "r"(l3), "r"(l4), "r"(l5), "r"(l6), "r"(l7),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7), "f"(0.0f));
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, 16;"
    :: "l"(c), "f"(s0), "f"(s1), "f"(s2), "f"(s3), "f"(s4), "f"(s5), "f"(s6), "f"(s7) : "memory");
}
"""
LOAD = """#define LOAD(matrix, from, to) asm volatile("wmma.load." #matrix ".sync.aligned.row.m16n16k16.shared.f16 " \\
  "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;" : "=r"(to##0), "=r"(to##1), "=r"(to##2), "=r"(to##3), "=r"(to##4), \\
  "=r"(to##5), "=r"(to##6), "=r"(to##7) : "l"(__cvta_generic_to_shared(from)) : "memory");
"""


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_a_product_of_tiles_in_shared_memory(compiled: Literal["none", "all"]) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 8, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    arguments = (a.view(np.uint16), b.view(np.uint16), c)
    source = LOAD + FROM_SHARED.replace("BARRIER", "__syncthreads();")
    run = softlab.Kernel(source, "shared_tiles").run(1, 64, arguments, compiled=compiled)
    assert run.findings == ()
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_a_fragment_without_a_barrier_is_a_race() -> None:
    arguments = (np.zeros(256, np.uint16), np.zeros(256, np.uint16), np.zeros(256, np.float32))
    with pytest.raises(KernelFault) as caught:
        softlab.Kernel(LOAD + FROM_SHARED.replace("BARRIER", ""), "shared_tiles").run(1, 64, arguments)
    assert (caught.value.kind, caught.value.line) == ("race", 13)


MMA_H = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int depth) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < depth; k += 16) {
    wmma::load_matrix_sync(left, a + k, depth);
    wmma::load_matrix_sync(right, b + k, depth);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
"""


@pytest.mark.skipif(not has_header("crt/mma.h"), reason="needs nvidia-cuda-nvcc-cu12 or nvidia-cuda-crt")
def test_mma_h() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, (16, 64)) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    softlab.Kernel(MMA_H, "product").run(1, 32, (a.astype(np.float16), b.astype(np.float16), c, 64))
    np.testing.assert_array_equal(c, 2 * a @ b.T)
