"""Compiled blocks give what blocks in NumPy give: results, counters, records, findings and faults."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from softlab import KernelFault
from softlab.emulator.machine import fusing, looping, machine, native
from softlab.emulator.machine.native import available, compiled_blocks, compiling
from softlab.emulator.machine.operations import Operation
from softlab.errors import Error
from softlab.kernel import Kernel
from softlab.traces import Run
from tests.emulator.opcodes.cases import lower
from tests.sampled import each

needs_llvm = pytest.mark.skipif(not available(), reason="llvmlite is not installed")

ALU = """
extern "C" __global__ void alu(float* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[i];
  unsigned u = y[i];
  #pragma unroll 1
  for (int k = 0; k < n; ++k) {
    a = a * 1.0001f + 0.5f;
    u = u * 1664525u + 1013904223u;
    u ^= u >> 13;
    a = a - (float)(u & 255u) * 0.001f;
  }
  x[i] = a;
  y[i] = u;
}
"""
TILED = """
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
"""
VECTORS = """
extern "C" __global__ void vectors(const float4* x, float4* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float4 v = x[i];
    v.x = fmaxf(v.x, v.y) * 2.0f;  v.z = fminf(v.z, -v.w);
    if (i % 3 == 0) v.w = v.x - v.z;
    y[i] = v;
  }
}
"""
DIVERGENT = """
extern "C" __global__ void divergent(const int* x, int* y) {
  int i = threadIdx.x, steps = 0;
  long long value = x[i];
  while (value != 1 && steps < 200) { value = value & 1 ? 3 * value + 1 : value >> 1; ++steps; }
  y[i] = steps + (int)__popcll(value);
}
"""
QUOTIENTS = """
extern "C" __global__ void quotients(const float* x, float* y) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float by = x[blockIdx.x], sum = 0.0f;
  for (int k = 0; k < 3; ++k) sum += __fdividef(exp2f(x[i + k]), by) + __fdividef(x[i], by);
  y[i] = sum;
}
"""


def results(source: str, name: str, grid: Any, block: Any, args: list, how: str, **options: Any) -> tuple[Run, list]:
    kernel = Kernel(source, name)
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    for _ in range(2):  # the second run finds the blocks compiled
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        run = kernel.run(grid, block, given, compiled=how, **options)
        copies = given
    return run, copies


def assert_same(a: Run, b: Run) -> None:
    assert a.counters == b.counters
    assert a.lane_instructions == b.lane_instructions
    np.testing.assert_array_equal(a.instructions.counts, b.instructions.counts)
    for kind in ("shared", "global_", "shuffles"):
        one, two = getattr(a, kind), getattr(b, kind)
        for field in fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name), err_msg=field.name)
    assert [(f.kind, f.line, f.count) for f in a.findings] == [(f.kind, f.line, f.count) for f in b.findings]


RANDOM = np.random.default_rng(5)
CASES = {
    "one warp": (ALU, "alu", 1, 32, [RANDOM.random(32, "f4"), RANDOM.integers(0, 2**32, 32, "u4"), 6000]),
    "half a warp": (ALU, "alu", 2, 16, [RANDOM.random(32, "f4"), RANDOM.integers(0, 2**32, 32, "u4"), 77]),
    "many lanes": (ALU, "alu", 40, 64, [RANDOM.random(2560, "f4"), RANDOM.integers(0, 2**32, 2560, "u4"), 50]),
    "tiled": (TILED, "tiled", (3, 3), (16, 16), [*(RANDOM.random((48, 48), "f4") for _ in range(3)), 48]),
    "vectors": (VECTORS, "vectors", 1, 96, [RANDOM.standard_normal(4 * 500).astype("f4") for _ in range(2)] + [500]),
    "quotients": (QUOTIENTS, "quotients", 3, 64, [RANDOM.standard_normal(200).astype("f4"), np.zeros(192, "f4")]),
    "divergent": (DIVERGENT, "divergent", 1, 128, [np.arange(1, 129, dtype="i4"), np.zeros(128, "i4")]),
}


@needs_llvm
@pytest.mark.parametrize("case", each(2, CASES))
def test_a_run_is_the_same_with_compiled_blocks(case: str) -> None:
    source, name, grid, block, args = CASES[case]
    run, expected = results(source, name, grid, block, args, "none", check="collect")
    compiled, got = results(source, name, grid, block, args, "all", check="collect")
    for one, two in zip(got, expected, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one.view("u4"), two.view("u4"))
    assert_same(compiled, run)


def test_quotients_with_one_divisor_share_its_reciprocal() -> None:
    program = Kernel(QUOTIENTS, "quotients")._emulated.program
    first = lower("div.approx.f32 d, a, b").shared.first.function
    made = {
        block.index: sum(program.block(block.index).code.variables.namespace.get(o.expression.split("(")[0]) is first
                         for o in program.block(block.index).code.operations)
        for block in program.blocks
    }  # fmt: skip
    divisions = sum(i.opcode == "div" for i in program.image.instructions)
    assert divisions >= 4
    assert sum(made.values()) == sum(map(bool, made.values())) < divisions


@needs_llvm
def test_faults_are_the_same() -> None:
    source = """
    extern "C" __global__ void beyond(float* x, int n) {
      float a = threadIdx.x;
      for (int k = 0; k < 9; ++k) a = a * 1.5f - k;
      x[threadIdx.x * n] = a;
    }
    """
    faults = []
    for how in ("none", "all"):
        with pytest.raises(KernelFault) as caught:
            Kernel(source, "beyond").run(1, 32, (np.zeros(64, np.float32), 3), compiled=how)
        faults.append((str(caught.value), caught.value.line, caught.value.thread))
    assert faults[0] == faults[1]


@needs_llvm
@pytest.mark.parametrize("budget", [1000, 1001, 1007, 60_000])
def test_a_loop_ends_at_the_same_budget(budget: int) -> None:
    told = []
    for how in ("none", "all"):
        x, y = np.ones(32, np.float32), np.arange(32, dtype=np.uint32)
        with pytest.raises(KernelFault, match="instructions") as caught:
            Kernel(ALU, "alu").run(1, 32, (x, y, 1 << 30), budget=budget, compiled=how)
        told.append(str(caught.value))
    assert told[0] == told[1]


@needs_llvm
def test_a_budget_ends_in_the_loop_or_behind_it() -> None:
    """A launch of 20 turns, with each budget that ends in the last turns or behind them."""
    kernel, told = Kernel(ALU, "alu"), {}
    for how in ("none", "all"):
        for budget in range(150, 400):
            x, y = np.ones(32, np.float32), np.arange(32, dtype=np.uint32)
            try:
                kernel.run(1, 32, (x, y, 20), budget=budget, compiled=how, record=False)
            except KernelFault as fault:
                told[how, budget] = fault.line
    faults = {budget: line for (how, budget), line in told.items() if how == "none"}
    assert len(set(faults.values())) > 1, "in the loop, and behind it"
    assert len(faults) < 250, "the last budgets are enough"
    assert {budget: line for (how, budget), line in told.items() if how == "all"} == faults


@needs_llvm
def test_many_turns_of_a_loop_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    original = fusing.Fused.__call__

    def counted(self: fusing.Fused, *values: Any) -> Any:
        nonlocal calls
        calls += 1
        return original(self, *values)

    monkeypatch.setattr(fusing.Fused, "__call__", counted)
    run, _ = results(*CASES["one warp"], "all")
    assert run.lane_instructions > 6000 * 32 * 5
    assert calls < 100


SWAPS = """
extern "C" __global__ void swaps(unsigned* x, const unsigned* y, int n) {
  unsigned a = y[threadIdx.x], b = threadIdx.x, turns = n;
  #pragma unroll 1
  for (unsigned k = 0; k < n; ++k) { unsigned next = a; a = b; b = next; }
  x[threadIdx.x] = a;
  #pragma unroll 1
  while (turns * b < 1000 + y[threadIdx.x] * 97) { b += 3; a ^= b; ++turns; }
  x[threadIdx.x + 64] = a * turns + b;
}
"""


@pytest.mark.parametrize("turns", [0, 1, 2, 63, 64, 65, 201])
def test_turns_of_a_loop_in_numpy_are_those_of_single_steps(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers that change places, lanes that part, and more turns than one call makes."""
    kernel, y = Kernel(SWAPS, "swaps"), np.arange(64, dtype=np.uint32) * 7 % 31
    runs, given = [], []
    for most in (1, 64):
        monkeypatch.setattr(looping, "_MOST_TURNS_IN_NUMPY", most)
        x = np.zeros(128, np.uint32)
        runs.append(kernel.run(1, 64, (x, y, turns), compiled="none"))
        given.append(x)
    assert given[0].tobytes() == given[1].tobytes()
    np.testing.assert_array_equal(given[0][:64], np.arange(64) if turns % 2 else y)
    assert_same(*runs)


def test_many_turns_of_a_loop_are_one_call_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    original = machine._Run._execute
    monkeypatch.setattr(
        machine._Run, "_execute", lambda self, *given: steps.append(given[0].block.index) or original(self, *given)
    )
    x, y = np.ones(32, np.float32), np.arange(32, dtype=np.uint32)
    run = Kernel(ALU, "alu").run(1, 32, (x, y, 640), compiled="none")
    assert run.lane_instructions > 640 * 32 * 5
    assert len(steps) <= 10 + 4


@needs_llvm
def test_a_block_is_compiled_when_it_is_hot() -> None:
    kernel = Kernel(ALU, "alu")
    x, y = np.ones(32, np.float32), np.arange(32, dtype=np.uint32)
    kernel.run(1, 32, (x, y, 2), compiled="hot")
    heat = max(kernel._emulated.program.heat)
    assert 0 < heat < 1
    kernel.run(1, 32, (x, y, 20_000), compiled="hot")
    assert max(kernel._emulated.program.heat) >= 1


@needs_llvm
def test_shapes_that_come_seldom_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hot block meets its shapes one after the other: the first is compiled, the second when it is hot as well."""
    made: list[tuple[int, ...]] = []
    original = fusing.Fused._make
    monkeypatch.setattr(fusing.Fused, "_make", lambda self, kinds: made.append(len(made)) or original(self, kinds))
    operations = lower("fma.rn.f32 d, a, b, c"), lower("ex2.approx.f32 d, a")
    steps = [Operation(("r",), "fma(a, b, c)", ("a", "b", "c"), operations[0].native),
             Operation(("s",), "ex2(r)", ("r",), operations[1].native, weight=10)]  # fmt: skip
    namespace = {"fma": operations[0].function, "ex2": operations[1].function}
    dtypes = dict.fromkeys("abcrs", np.dtype(np.float32))
    found = {}
    for patient in (True, False):
        (line,) = fusing.fused(steps, ["s"], fusing.Variables(dtypes, {}, namespace), patient=patient)
        function = namespace[line.split("= ")[1].split("(")[0]]
        a, b, c = (RANDOM.random((4, 32), np.float32) for _ in range(3))
        made.clear()
        found[patient] = [function(a, b, c)]
        assert len(made) == 1
        for _ in range(3):
            found[patient].append(function(a[:1], b[:, :1], c[0, 0]))
        assert len(made) == (1 if patient else 2)
        np.testing.assert_array_equal(found[patient][1], namespace["ex2"](namespace["fma"](a[:1], b[:, :1], c[0, 0])))
        while patient and len(made) == 1 and len(found[patient]) < 5000:
            found[patient].append(function(a[:1], b[:, :1], c[0, 0]))
        assert len(made) == 2
        assert all(np.array_equal(value, found[patient][1]) for value in found[patient][1:])


def test_the_choice_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "available", lambda: True)
    with compiling("auto"):
        assert compiled_blocks() == "hot"
        assert compiled_blocks("none") == "none"
        with compiling("all"):
            assert compiled_blocks() == "all"
    monkeypatch.setattr(native, "available", lambda: False)
    with compiling("auto"):
        assert compiled_blocks() == "none"
    with pytest.raises(Error, match=re.escape("softlab[fast]")):
        compiled_blocks("hot")
    with pytest.raises(ValueError, match='"none", "hot" or "all"'):
        Kernel(ALU, "alu").run(1, 32, (), compiled=True)


STEPPING = """
extern "C" __global__ void stepping(const unsigned* n, unsigned* y, long long* t) {
  unsigned v = threadIdx.x + 1;
  long long start = clock64();
  for (unsigned k = 0; k < n[0]; ++k) { v = v * 1664525u + 1013904223u; v ^= v >> 7; }
  y[threadIdx.x] = v;
  t[threadIdx.x] = clock64() - start;
}
"""


@needs_llvm
@pytest.mark.parametrize("turns", [8, 40, 4000])
def test_compiled_loops_issue_as_many_instructions(turns: int) -> None:
    """The clock counts them, and a launch comes to its end with a budget of exactly these."""
    kernel, clocks = Kernel(STEPPING, "stepping"), []
    for how in ("none", "all"):
        y, t = np.zeros(32, np.uint32), np.zeros(32, np.int64)
        kernel.run(1, 32, (np.array([turns], np.uint32), y, t), record=False, compiled=how)
        clocks.append(int(t[0]))
    assert clocks[0] == clocks[1] > turns
    whole = clocks[0] + next(more for more in range(40) if ends(kernel, turns, clocks[0] + more, "none"))
    assert ends(kernel, turns, whole, "all")
    assert not ends(kernel, turns, whole - 1, "all")


def ends(kernel: Kernel, turns: int, budget: int, how: str) -> bool:
    """Whether a launch comes to its end with this budget."""
    arguments = np.array([turns], np.uint32), np.zeros(32, np.uint32), np.zeros(32, np.int64)
    try:
        kernel.run(1, 32, arguments, record=False, compiled=how, budget=budget)
    except KernelFault:
        return False
    return True
