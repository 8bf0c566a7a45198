"""Atomic operations against one lane after the other."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.emulator.memory.atomics import atomic_function, atomic_table
from softlab.emulator.memory.turns import take_turns
from softlab.kernel import Kernel

THREADS = 160


def wrap(value: int, kind: str) -> int:
    bits = 64 if "long" in kind else 32
    value %= 1 << bits
    return value - (1 << bits) if kind == "int" and value >> (bits - 1) else value


OPERATIONS = {
    "atomicAdd": lambda old, v: old + v,
    "atomicSub": lambda old, v: old - v,
    "atomicExch": lambda old, v: v,
    "atomicMin": min,
    "atomicMax": max,
    "atomicAnd": lambda old, v: old & v,
    "atomicOr": lambda old, v: old | v,
    "atomicXor": lambda old, v: old ^ v,
    "atomicInc": lambda old, v: 0 if old >= v else old + 1,
    "atomicDec": lambda old, v: v if old == 0 or old > v else old - 1,
}
DTYPES = {"int": np.int32, "unsigned": np.uint32, "unsigned long long": np.uint64}


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", DTYPES)
def test_lanes_take_turns(kind, space):
    """Each operation twice, on a row of memory of its own: with the old value asked for, and without."""
    missing = {"unsigned": (), "int": ("atomicInc", "atomicDec")}.get(kind, ("atomicInc", "atomicDec", "atomicSub"))
    names = [name for name in OPERATIONS if name not in missing]
    rows = 2 * len(names)
    statements = "".join(
        f"old[{2 * n} * {THREADS} + t] = {name}(m + {2 * n} * 8 + where[t], values[t]);\n"
        f"{name}(m + {2 * n + 1} * 8 + where[t], values[t]);\n"
        for n, name in enumerate(names)
    )
    copy_in = f"__shared__ T m[{rows * 8}]; for (int i = t; i < {rows * 8}; i += {THREADS}) m[i] = memory[i];"
    copy_out = f"__syncthreads(); for (int i = t; i < {rows * 8}; i += {THREADS}) memory[i] = m[i];"
    kernel = Kernel(
        f"""typedef {kind} T;
        extern "C" __global__ void k(T* memory, const T* values, const int* where, T* old) {{
          int t = threadIdx.x;
          {copy_in if space == "shared" else "T* m = memory;"} __syncthreads();
          {statements}
          {copy_out if space == "shared" else ""} }}""",
        "k",
    )
    random = np.random.default_rng(7)
    dtype = DTYPES[kind]
    values = random.integers(0, 50, THREADS).astype(dtype)
    where = random.integers(0, 8, THREADS).astype(np.int32)
    memory = random.integers(0, 50, (rows, 8)).astype(dtype)
    expected, expected_old = [[int(v) for v in row] for row in memory], np.zeros((rows, THREADS), dtype)
    old = np.zeros_like(expected_old)
    kernel.run(1, THREADS, (memory, values, where, old))
    for n, name in enumerate(names):
        for row in (2 * n, 2 * n + 1):
            for t in range(THREADS):
                previous = expected[row][where[t]]
                expected[row][where[t]] = wrap(OPERATIONS[name](previous, int(values[t])), kind)
                if row % 2 == 0:
                    expected_old[row][t] = previous
            assert memory[row].tolist() == expected[row], name
            assert old[row].tolist() == expected_old[row].tolist(), name


def test_compare_and_swap_is_won_by_one():
    kernel = Kernel(
        'extern "C" __global__ void k(int* x, int* won) {'
        " int t = blockIdx.x * blockDim.x + threadIdx.x; won[t] = atomicCAS(x + t % 3, -1, t) == -1; }",
        "k",
    )
    x, won = np.full(3, -1, np.int32), np.zeros(256, np.int32)
    kernel.run(4, 64, (x, won))
    assert won.sum() == 3
    assert [won[x[i]] for i in range(3)] == [1, 1, 1]
    assert [x[i] % 3 for i in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_sums(dtype):
    name = {np.float32: "float", np.float64: "double"}[dtype]
    kernel = Kernel(
        f'extern "C" __global__ void k({name}* sums, const {name}* x) {{'
        " int t = blockIdx.x * blockDim.x + threadIdx.x; atomicAdd(sums + t % 5, x[t]); }",
        "k",
    )
    x = np.random.default_rng(0).integers(-1000, 1000, 1024).astype(dtype)  # exact in any order
    sums = np.zeros(5, dtype)
    kernel.run(8, 128, (sums, x))
    assert sums.tolist() == [x[i::5].sum() for i in range(5)]


#: Old value, what is added, the sum in global memory and in shared memory.
SUBNORMAL = [
    (1e-40, 0.0, 0.0, 1e-40), (-1e-40, -0.0, -0.0, -1e-40), (2.0**-126, 1e-40, 2.0**-126, 2.0**-126 + 1e-40),
    (2.0**-126, -(2.0**-127), 2.0**-126, 2.0**-127), (1.5 * 2.0**-126, -(2.0**-126), 0.0, 2.0**-127),
    (2.0**-126, -1.5 * 2.0**-126, -0.0, -(2.0**-127)), (1.0, 2.0, 3.0, 3.0), (np.inf, 1e-40, np.inf, np.inf),
]  # fmt: skip


@pytest.mark.parametrize("how", ["all", "none"])
@pytest.mark.parametrize(
    "form", ["atom.{space}add.f32 %0, [%1], %2;", "red.{space}add.f32 [%1], %2; mov.f32 %0, 0f00000000;"]
)
@pytest.mark.parametrize("space", ["global", "shared", "generic", "generic, some shared"])
def test_sums_of_subnormal_floats(space: str, form: str, how: str) -> None:
    """Global memory takes them for zeros, shared memory does not: as on an H100 (k12042 of tests.fuzz.differential)."""
    named = "" if "generic" in space else f"{space}."
    place = '"r"((unsigned)__cvta_generic_to_shared(own + t))' if space == "shared" else '"l"(place + t)'
    source = f"""extern "C" __global__ void k(float* x, const float* y, float* old, const int* shared) {{
      __shared__ float own[64];
      int t = threadIdx.x;
      own[t] = x[t];
      __syncwarp();
      float* place = shared[t] ? own : x;
      asm volatile("{form.format(space=named)}" : "=f"(old[t]) : {place}, "f"(y[t]) : "memory");
      if (shared[t]) x[t] = own[t]; }}"""
    given = np.tile(np.array(SUBNORMAL, np.float32), (8, 1))
    where = np.zeros(64, np.int32)
    where[{"shared": slice(None), "generic, some shared": slice(0, 64, 3)}.get(space, slice(0, 0))] = 1
    x, old = given[:, 0].copy(), np.zeros(64, np.float32)
    Kernel(source, "k").run(1, 64, (x, given[:, 1].copy(), old, where), compiled=how)
    assert x.tobytes() == np.where(where == 1, given[:, 3], given[:, 2]).tobytes()
    if form.startswith("atom"):
        assert old.tobytes() == given[:, 0].tobytes()


def test_packed_half_sum():
    kernel = Kernel(
        """#include <cuda_fp16.h>
        extern "C" __global__ void k(__half2* sum, const __half2* x) { atomicAdd(sum, x[threadIdx.x]); }""",
        "k",
    )
    x = np.random.default_rng(0).integers(-8, 8, (64, 2)).astype(np.float16)
    total = np.zeros(2, np.float16)
    kernel.run(1, 64, (total, x))
    assert total.tolist() == x.astype(np.float64).sum(axis=0).tolist()


def one_after_the_other(memory, index, values, function):
    """Each lane's old value, by a loop over the lanes."""
    old = np.empty(len(index), memory.dtype)
    for lane, cell in enumerate(index):
        old[lane] = memory[cell]
        memory[cell] = function(memory[cell : cell + 1], *(v[lane : lane + 1] for v in values))[0]
    return old


@pytest.mark.parametrize("few_values", [True, False])
@pytest.mark.parametrize(
    ("operation", "dtype"),
    [("add.u32", "u4"), ("add.f32", "f4"), ("add.f64", "f8"), ("add.f16", "f2"), ("add.f16x2", "u4"),
     ("add.bf16", "u2"), ("add.ftz.f32", "f4"), ("min.s32", "i4"),
     ("max.u64", "u8"), ("and.b32", "u4"), ("or.b64", "u8"), ("xor.b32", "u4"), ("exch.b64", "u8"),
     ("cas.b32", "u4"), ("inc.u32", "u4"), ("dec.u32", "u4")],
)  # fmt: skip
def test_tables_of_turns_equal_a_loop_over_the_lanes(operation, dtype, few_values):
    """Old values and the end, bit for bit: of one cell, of some, of cells with very different numbers of lanes."""
    random, dtype = np.random.default_rng(3), np.dtype(dtype)

    def numbers(count):
        if dtype.kind == "f" or "f16" in operation:
            raw = (random.standard_normal(count * 2) * (1 if few_values else 300)).astype(np.float16)
            return raw.view(dtype)[:count] if dtype.kind == "u" else raw[:count].astype(dtype) / dtype.type(3)
        return random.integers(0, 4 if few_values else 2**31, count).astype(dtype)

    for cells, lanes in [(1, 1), (1, 100), (1, 3), (5, 200), (64, 200), (1000, 64)]:
        index = (
            random.integers(0, cells, lanes) if lanes != 200 else np.minimum(random.geometric(0.4, lanes), cells) - 1
        )
        memory = numbers(cells)
        values = [numbers(lanes) for _ in range(1 + operation.startswith("cas"))]
        if operation[:3] in ("inc", "dec") and lanes == 100:
            values[0][:] = 7  # one limit
        expected = memory.copy()
        with np.errstate(all="ignore"):
            by_loop = one_after_the_other(expected, index, values, atomic_function(operation))
            by_table = take_turns(memory, index, values, atomic_function(operation), atomic_table(operation))
        assert by_table.tobytes() == by_loop.tobytes(), (cells, lanes)
        assert memory.tobytes() == expected.tobytes(), (cells, lanes)


def test_turns_at_one_cell_cost_no_call_each():
    def one_turn(old, value):
        raise AssertionError("a call for one turn")

    memory = np.zeros(1, np.uint32)
    old = take_turns(memory, np.zeros(2048, int), [np.ones(2048, np.uint32)], one_turn, atomic_table("add.u32"))
    assert old.tolist() == list(range(2048))
    assert memory[0] == 2048


def test_atomics_on_vectors() -> None:
    source = """
#include <cuda_fp16.h>
extern "C" __global__ void k(float4* x, float2* y, float2* old, unsigned* h) {
  atomicAdd(x, make_float4(1, 2, 3, threadIdx.x));
  if (threadIdx.x % 2) old[threadIdx.x] = atomicAdd(y + 1, make_float2(1, 10));
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" :: "l"(h), "r"(0x3c003c00), "r"(0x40003c00));
}"""
    x, y, old = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros((32, 2), np.float32)
    h = np.zeros(4, np.float16)
    run = softlab.Kernel(source, "k").run(1, 32, (x, y, old, h.view(np.uint32)))
    assert x.tolist() == [32, 64, 96, 496]
    assert y.tolist() == [0, 0, 16, 160]
    assert sorted(old[1::2, 0]) == list(range(16))
    assert h.tolist() == [32, 32, 32, 64]
    assert "an atomic on a vector is counted as one atomic per element" in run.remarks


def test_compiled_atomics_at_an_offset_tell_their_addresses() -> None:
    """The compiler adds the 12 bytes in the instruction; the address itself comes from memory."""
    source = """extern "C" __global__ void k(const int* where, int* out) {
      __shared__ int bins[48];
      int t = threadIdx.x;
      bins[t] = 0; if (t < 16) bins[32 + t] = 0;
      __syncthreads();
      atomicAdd(bins + where[t] + 3, 1);
      __syncthreads();
      out[t] = bins[t]; }"""
    where = np.random.default_rng(3).integers(0, 32, 32).astype(np.int32)
    out = np.zeros(32, np.int32)
    found = [Kernel(source, "k").run(1, 32, (where, out), compiled=how).shared.address for how in ("all", "none")]
    assert np.array_equal(*found)
    assert np.array_equal(out[3:], np.bincount(where, minlength=32)[:29])
    assert any(np.array_equal(np.ravel(line) - np.min(line), 4 * (where - where.min())) for line in found[0])


@pytest.mark.parametrize("memory", ["own", "global", "each lane's"])
def test_compiled_atomics_of_generic_addresses(memory: str) -> None:
    """All reach shared memory, or all global memory, or some the one and some the other; with 12 bytes added."""
    source = """extern "C" __global__ void k(const int* where, const int* shared, int* bins, int* out) {
      __shared__ int own[48];
      int t = threadIdx.x;
      for (int i = t; i < 48; i += 64) own[i] = 100 * i;
      __syncthreads();
      int* place = shared[t] ? own : bins;
      out[t] = atomicAdd(place + where[t] + 3, t + 1);
      __syncthreads();
      if (t < 48) out[64 + t] = own[t]; }"""
    random = np.random.default_rng(4)
    where = random.integers(0, 45, 64).astype(np.int32)
    shared = {"own": np.ones, "global": np.zeros}.get(memory, lambda n, dtype: random.integers(0, 2, n, dtype))(
        64, np.int32
    )
    found = []
    for how in ("all", "none"):
        bins, out = np.arange(48, dtype=np.int32), np.zeros(112, np.int32)
        Kernel(source, "k").run(1, 64, (where, shared, bins, out), compiled=how, record=False)
        found.append((bins, out))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    for cells, start, here in (
        (found[0][0], np.arange(48), shared == 0),
        (found[0][1][64:], 100 * np.arange(48), shared == 1),
    ):
        added = np.bincount(where[here] + 3, np.flatnonzero(here) + 1, minlength=48)
        assert cells.tolist() == (start + added).tolist()


@pytest.mark.parametrize("how", ["all", "none"])
@pytest.mark.parametrize("offset", [12, -8, 0])
@pytest.mark.parametrize("grid", [1, 2])
def test_observers_hear_where_an_atomic_of_a_loaded_address_reaches(grid: int, offset: int, how: str) -> None:
    """The whole address comes from memory, in each block another one, and the instruction adds an offset to it."""
    source = f"""extern "C" __global__ void k(const unsigned* where, unsigned* out) {{
      __shared__ unsigned bins[32];
      unsigned t = threadIdx.x, i = 32 * blockIdx.x + t, base = __cvta_generic_to_shared(bins), old;
      bins[t] = 0;
      __syncthreads();
      asm volatile("atom.shared.add.u32 %0, [%1+{offset}], 1;" : "=r"(old) : "r"(base + where[i]) : "memory");
      __syncthreads();
      out[i] = bins[t]; }}"""
    where = (4 * np.random.default_rng(3).integers(2, 29, (grid, 32))).astype(np.uint32)
    out = np.zeros((grid, 32), np.uint32)
    run = Kernel(source, "k").run(grid, 32, (where, out), compiled=how, blocks=range(grid))
    reached = where.astype(int) + offset
    assert out.tolist() == [np.bincount(row // 4, minlength=32).tolist() for row in reached]
    atomics = [np.ravel(line).tolist() for line in run.shared.address]
    assert all(row.tolist() in atomics for row in reached)
