"""Loops that run in one compiled function do what the machine does run by run."""

from __future__ import annotations

import dataclasses
import sys
from itertools import count

import numpy as np
import pytest

import softlab.sass.interpret  # noqa: F401 - looked up below: the package has a function of this name
from softlab.cuda.disassembly import find_nvdisasm
from softlab.emulator.machine import native
from softlab.emulator.machine.native import available, compiling
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from softlab.sass import compiled, interpret, loops, native_loops
from softlab.sass.loop_frames import Frame
from softlab.sass.loop_runner import runner
from softlab.sass.native_loops import ARRAY, BLOCK, DONE, FALLS, FULL, STATE
from softlab.sass.streams import Space
from tests.compilers import another_compiler

needs_machine_code = pytest.mark.skipif(
    not available() or not find_nvdisasm(), reason="needs llvmlite and nvdisasm (nvidia-cuda-nvdisasm)"
)
_SOURCE = """
extern "C" __global__ void k(const unsigned* a, const float* x, unsigned* out, float* y, int n) {
  __shared__ unsigned kept[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = a[i], count = 0;
  unsigned long long wide = (unsigned long long)v * v + 7;
  float f = x[i];
  kept[threadIdx.x] = v;
  __syncthreads();
  for (int turn = 0; turn < 24 + (int)(v % 9); ++turn) {
    unsigned w = a[(v + turn) % n];
    if (w & 1) {
      f += __ull2float_ru(wide) * 1e-20f + __ll2float_rd((long long)wide) * 1e-21f;
      while (w > 3 && (w & 5)) { w = w / 3 - 1; ++count; }
    } else if (turn % 5 == 2) {
      wide = wide % (w + 1) * 0x9E3779B97F4A7C15ull + __float2ull_rz(fabsf(f) * 1e6f);
    }
    f = f / (1.0f + x[w % n]) + (float)__float2int_rn(f * 3.0f) * 0.125f;
    out[i] = count ^ (unsigned)turn;
    kept[(threadIdx.x + turn) & 31 | threadIdx.x & 96] = kept[threadIdx.x] + (w & 3);
    v = v * 1664525u + out[i] + kept[threadIdx.x];
  }
  out[i] = v ^ (unsigned)wide ^ count;
  y[i] = f;
}
extern "C" __global__ void reads(const int* next, int* out, int turns) {
  int at = threadIdx.x;
  #pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) at = next[at];
  out[threadIdx.x] = at;
}
extern "C" __global__ void seen(volatile unsigned* a, volatile unsigned* out, int turns) {
  while (a[0] != turns) {
    out[threadIdx.x] += a[0] + a[1 + (threadIdx.x ^ 32)];
    a[1 + threadIdx.x] = out[threadIdx.x];
    __threadfence();
    if (threadIdx.x == 0) a[0] += 1;
  }
}
extern "C" __global__ void keeps(const unsigned* a, unsigned* out) {
  unsigned kept[24];
  unsigned short small[40];
  uint4 wide[6];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = a[i];
  for (int k = 0; k < 24; ++k) { kept[k] = v + k; small[k] = v; wide[k % 6] = make_uint4(k, v, 0, 1); }
  for (int k = 24; k < 40; ++k) small[k] = k;
  #pragma unroll 1
  for (int turn = 0; turn < 30 + (int)(v % 5); ++turn) {
    unsigned at = (v >> 3) % 24;
    if (v & 4) { kept[at] += small[at + 7] + __clz(v); wide[at % 6].z ^= v; }
    small[at * 5 % 40] = kept[v % 24] + (31 - __clz((int)(v ^ turn)));
    uint4 w = wide[(v >> 5) % 6];
    v = v * 1664525u + w.x + w.y * w.z + (short)small[turn % 40];
  }
  out[i] = v;
}"""
_N = 200


def _arguments():
    random = np.random.default_rng(5)
    a = random.integers(0, 1 << 32, _N, dtype=np.uint64).astype(np.uint32)
    a[:4] = 0, 1, 1 << 31, (1 << 32) - 1
    x = random.standard_normal(_N).astype(np.float32)
    x[5], x[9] = np.inf, -0.0
    return a, x, np.zeros(_N, np.uint32), np.zeros(_N, np.float32), _N


@pytest.fixture
def entered(monkeypatch):
    """The runs that compiled loops did; a loop is compiled soon."""
    runs: list[int] = []
    run = Frame.run

    def counted(self, loop, most):
        runs.append(0)
        runs[-1] = run(self, loop, most)
        return runs[-1]

    monkeypatch.setattr(Frame, "run", counted)
    monkeypatch.setattr(loops, "_LOOK", 6)
    return runs


def assert_equal_streams(one, other):
    for field in dataclasses.fields(one.streams):
        if field.name != "barriers":
            ours, theirs = (getattr(each.streams, field.name) for each in (one, other))
            if field.name == "further":
                assert ours is theirs is None
                continue
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name)


@needs_machine_code
def test_a_kernel_is_the_same(entered):
    """Lanes that part in nested loops, calls and returns, loads and stores of both memories, conversions."""
    kernel, found = Kernel(_SOURCE, "k"), []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(interpret(kernel, 2, 100, _arguments()))
        assert (sum(entered) > 100) == (choice == "all")
    one, other = found
    for number in (2, 3):
        assert one.output(number).tobytes() == other.output(number).tobytes()
    assert_equal_streams(one, other)
    given = _arguments()
    kernel.run(2, 100, given, check=False)
    assert given[2].tobytes() == other.output(2).tobytes()


@needs_machine_code
def test_local_memory_is_the_same(entered):
    """Items of 2, 4 and 16 bytes in arrays of a thread, and the highest bit of a number."""
    kernel, found = Kernel(_SOURCE, "keeps"), []
    opcodes = {one.opcode for one in sys.modules["softlab.sass.interpret"]._compiled(kernel.program).code.instructions}
    assert {"LDL", "STL", "FLO"} <= opcodes
    a = _arguments()[0]
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(interpret(kernel, 2, 100, (a, np.zeros_like(a))))
        assert (sum(entered) > 50) == (choice == "all")
    machine = sys.modules["softlab.sass.interpret"]._compiled(kernel.program).idle[-1]
    spaces = {access.space for loop in machine._loops.at.values() for access in loop.accesses}
    assert Space.LOCAL in spaces  # some of the loads and stores were compiled
    one, other = found
    assert one.output(1).tobytes() == other.output(1).tobytes()
    assert_equal_streams(one, other)
    given = a.copy(), np.zeros_like(a)
    kernel.run(2, 100, given, check=False)
    assert given[1].tobytes() == other.output(1).tobytes()


@needs_machine_code
def test_accesses_that_others_see_in_order_are_the_same(entered):
    """Volatile ones and fences, of two warps that load what the other one stores."""
    kernel, found = Kernel(_SOURCE, "seen"), []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(interpret(kernel, 1, 64, (np.zeros(65, np.uint32), np.ones(64, np.uint32), 60)))
        assert (sum(entered) > 100) == (choice == "all")
    one, other = found
    assert one.output(1).tobytes() == other.output(1).tobytes()
    assert_equal_streams(one, other)


@pytest.mark.further
@needs_machine_code
def test_nearly_all_of_a_volatile_loop_is_compiled(entered):
    """Such a loop may never end: it is given up after 20 million instructions, which take minutes one by one."""
    kernel = Kernel(_SOURCE, "seen")
    with compiling("all"), pytest.raises(KernelFault, match="have not ended"):
        interpret(kernel, 1, 32, (np.zeros(65, np.uint32), np.ones(64, np.uint32), 1 << 30), budget=100_000)
    assert sum(entered) > 15_000


def test_local_memory_ends_where_a_threads_does():
    row, bits = 1000 + 3 * 64, native_loops.LOCAL_OFFSET
    assert native_loops.find_in_row((5 << 32) + 56, 4, row, 60, bits) == row + 56
    for outside in (60, 54, -4):
        assert native_loops.find_in_row(outside, 4, row, 60, bits) == 0


@needs_machine_code
def test_a_bad_address_is_named_as_without(entered):
    """Also behind many turns of a compiled loop."""
    kernel, told = Kernel(_SOURCE, "reads"), []
    chain, out = (np.arange(96, dtype=np.int32) + 1) % 96, np.zeros(32, np.int32)
    bad = chain.copy()
    bad[60] = 1 << 20
    for choice in ("none", "all"):
        with compiling(choice):
            interpret(kernel, 1, 32, (chain, out, 60))  # the loop is known then
            entered.clear()
            with pytest.raises(KernelFault) as fault:
                interpret(kernel, 1, 32, (bad, out, 60))
        told.append(str(fault.value))
    assert entered  # then again without
    assert told[0] == told[1]
    assert "out-of-bounds" in told[0]


@needs_machine_code
def test_a_loop_that_is_known_is_found_on_the_disk(entered, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernel = Kernel(_SOURCE, "reads")
    chain, out = (np.arange(96, dtype=np.int32) + 1) % 96, np.zeros(32, np.int32)
    machines = sys.modules["softlab.sass.interpret"]._compiled(kernel.program).idle
    made = []
    text = loops.LoopCode.text
    monkeypatch.setattr(loops.LoopCode, "text", lambda self: made.append(self) or text(self))
    for _ in range(2):
        machines.clear()  # as in another process
        another_compiler(monkeypatch)
        entered.clear()
        with compiling("all"):
            interpret(kernel, 1, 32, (chain, out, 40))
        assert sum(entered) > 5
    assert len(made) == 1


@pytest.fixture
def processes(tmp_path, monkeypatch):
    """``run(folder, turns)``: a new process executes a loop of ``turns`` turns, with this folder as its cache.

    The machine takes 1.5 ms for each turn. The loop is compiled after 50.
    """
    clock = count(0, 0.0015)
    monkeypatch.setattr(sys.modules["softlab.sass.machine"], "thread_time", lambda: next(clock))
    for name, value in (("_LOOK", 32), ("_BLOCK", 0.05), ("_INSTRUCTION", 0.0), ("_START", 0.0)):
        monkeypatch.setattr(loops, name, value)
    runner()  # it stays with the compiler of all tests
    kernel = Kernel(_SOURCE, "reads")
    chain, out = (np.arange(96, dtype=np.int32) + 1) % 96, np.zeros(32, np.int32)

    def run(folder, turns):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
        sys.modules["softlab.sass.interpret"]._compiled(kernel.program).idle.clear()
        another_compiler(monkeypatch)
        with compiling("hot"):
            return interpret(kernel, 1, 32, (chain, out, turns))

    return run


@needs_machine_code
def test_a_loop_for_which_a_process_before_took_long_is_compiled_at_once(entered, processes):
    """Neither takes as long as the loop has to take, but both together do."""
    found = []
    for folder, turns in (("one", 34), ("one", 12), ("other", 12)):
        entered.clear()
        processes(folder, turns)
        found.append(sum(entered))
    assert (found[0], found[2]) == (0, 0)
    assert found[1] in (3, 4)  # of twelve turns those behind the first eight


@needs_machine_code
def test_after_a_change_of_softlab_a_loop_is_traced_again_and_not_compiled(entered, processes, monkeypatch):
    """LLVM is asked where the assembly is another one, and only there."""
    traced, optimised, turns = [], [], []
    text, optimise = loops.LoopCode.text, native._Compiler._optimised
    more = ""
    monkeypatch.setattr(loops.LoopCode, "text", lambda self: traced.append(0) or text(self) + more)
    monkeypatch.setattr(native._Compiler, "_optimised", lambda *given: optimised.append(0) or optimise(*given))
    for meaning, more in (("a", ""), ("a", "; changed"), ("b", ""), ("c", "; changed")):  # noqa: B007 - read above
        monkeypatch.setattr(compiled, "_meaning", lambda meaning=meaning: meaning)
        entered.clear()
        found = processes("one", 80)
        turns.append((len(traced), len(optimised), sum(entered) > 10, found.output(1).tobytes()))
    out = turns[0][-1]
    assert turns == [(1, 1, True, out), (1, 1, True, out), (2, 1, True, out), (3, 2, True, out)]


@needs_machine_code
def test_a_loop_that_does_not_pay_is_not_entered():
    kernel = Kernel(_SOURCE, "reads")
    compiled = sys.modules["softlab.sass.interpret"]._compiled(kernel.program)
    describer = loops.Loops(compiled.code, frozenset(), compiled.steps, "all")._describer
    block = next(one for start in range(9) if (one := describer.block(start, "all")) is not None)
    loop = loops.Loop([block], compiled.steps, lambda start: (5e-6, 5e-7))
    for seconds, pays in ((1e-3, True), (1e-2, False)):
        for _ in range(loops._CALLS):
            loop.note(seconds, np.zeros(200, np.int64), np.full(200, 10))
        assert loop.pays == pays
    fresh = loops.Loop([block], compiled.steps, lambda start: (5e-6, 5e-7))
    fresh.note(1.0, np.zeros(1, np.int64), np.ones(1, np.int64))
    assert fresh.pays  # one call says little


def test_the_seconds_of_runs_are_a_line_over_their_warps():
    line, other = loops.Line(), loops.Line()
    assert line.found == (0.0, 0.0)
    for warps in (1, 10, 40):
        line.add(warps, 3e-5 + 2e-6 * warps)
    np.testing.assert_allclose(line.found, (3e-5, 2e-6))
    other.add(40, 11e-5)
    np.testing.assert_allclose(other.found, (11e-5, 0.0))  # of one number of warps nobody knows
    other.join(line)
    np.testing.assert_allclose(other.found, (3e-5, 2e-6))
    for seconds in ((2e-4, 1e-4), (1e-5, 9e-4)):  # more warps take no less, and no warps no less than nothing
        falling = loops.Line()
        for warps, one in zip((1, 30), seconds, strict=True):
            falling.add(warps, one)
        assert min(falling.found) >= 0


# The functions, in Python


def _run(monkeypatch, blocks, paths, most=100, lowest=99, warps=3, execute=None, issued=1000):
    """Run blocks of ``(start, length, end, target)`` from these paths ``(block, warp, mask)``: why it stopped, the
    entries of the log and the paths at the end."""
    calls = []

    def step(part, warp, mask, *_):
        calls.append((part, warp, mask))
        return execute(part, warp, mask) if execute is not None else 0

    monkeypatch.setattr(native_loops, "execute", step)
    about = np.zeros((len(blocks), BLOCK), np.int64)
    about[:, :4], about[:, native_loops.BEGINS] = blocks, -1
    about[:, native_loops.FIRST], about[:, native_loops.PARTS] = np.arange(len(blocks)), 1
    block_of = np.full(100, -1, np.int64)
    block_of[about[:, 0]] = np.arange(len(blocks))
    state, ends = np.zeros(STATE, np.int64), np.full((len(blocks), 2), -1, np.int64).reshape(-1)
    room = np.zeros((32 * warps + 1, 3), np.int64)
    room[:, 0] = np.arange(1, len(room) + 1)
    room = room.reshape(-1)
    state[native_loops.MOST], state[native_loops.LOWEST], state[native_loops.ENTRY_ROOM] = most, lowest, 1000
    state[native_loops.CODE], state[native_loops.LAST_ISSUED] = 100, issued
    for block, warp, mask in paths:
        native_loops.push(block, warp, mask, ends, room, state)
    gone = np.zeros(len(room), np.int64)
    lanes = np.zeros(16 * warps * 32, np.uint32), np.zeros(16 * warps, np.uint32), np.zeros(16 * warps * 32, np.int64)
    entries = np.zeros(1000, np.int64), np.zeros(1000, np.uint32), *np.zeros((2, 256), np.int64)
    none = np.zeros(ARRAY * 32, np.int64)
    why = native_loops.run(
        about.reshape(-1), len(blocks), block_of, warps, state, ends, room, gone, np.full(warps, -1, np.int64),
        np.zeros(2 * warps, np.int64), np.zeros(warps, np.int64), np.full(warps, 15, np.uint32), *lanes, *entries,
        none, none, none, none, none, none, none,
    )  # fmt: skip
    left = gone[: 3 * state[native_loops.GONE]].reshape(-1, 3)
    return why, calls, [tuple(one) for one in left.tolist()]


def test_the_lowest_block_goes_first_and_one_path_of_a_warp_at_a_time(monkeypatch):
    """A warp whose lanes stand in two paths at a block executes it twice, one after the other."""
    why, calls, left = _run(
        monkeypatch, [(10, 5, FALLS, 15), (15, 2, FALLS, 17)], [(1, 0, 8), (0, 1, 15), (0, 0, 1), (0, 0, 6)]
    )
    assert why == DONE
    assert calls == [(0, 1, 15), (0, 0, 1), (0, 0, 6), (1, 0, 8), (1, 1, 15), (1, 0, 1), (1, 0, 6)]
    assert left == [(17, 0, 8), (17, 1, 15), (17, 0, 1), (17, 0, 6)]


def test_it_stops_where_a_lower_path_is_outside_and_where_no_more_runs_are_allowed(monkeypatch):
    blocks = [(10, 5, native_loops.BRANCHES, 3), (15, 2, FALLS, 17)]
    why, calls, left = _run(monkeypatch, blocks, [(0, 0, 3)], execute=lambda part, warp, mask: 1)
    assert (why, calls) == (DONE, [(0, 0, 3)])
    assert left == [(3, 0, 1), (15, 0, 2)]
    why, calls, left = _run(monkeypatch, blocks, [(0, 0, 3)], most=1)
    assert (why, len(calls), left) == (FULL, 1, [(15, 0, 3)])
    straight = [(10, 5, FALLS, 15), (15, 2, FALLS, 17)]
    for issued, wanted in ((4, (FULL, 1, 15)), (5, (DONE, 2, 17))):  # the first run issues five instructions
        why, calls, left = _run(monkeypatch, straight, [(0, 0, 3)], issued=issued)
        assert (why, len(calls), left[0][0]) == wanted


def test_warps_that_store_go_in_their_order():
    chosen, masks = np.array([4, 1, 0, 2, 2, 3, 9, 9]), np.zeros(5, np.int64)
    native_loops.sort(chosen, 3, masks, 5)
    assert chosen.tolist() == [0, 2, 2, 3, 4, 1, 9, 9]
    assert not masks.any()


def test_lanes_with_another_target_come_back(monkeypatch):
    targets = np.zeros(32, np.int64)
    targets[1:4] = 7, 5, 7
    state, gone = np.zeros(STATE, np.int64), np.zeros(60, np.int64)
    state[native_loops.CODE] = 10
    block_of = np.full(11, -1, np.int64)
    native_loops.part_by_target(2, 0b1110, 9, targets, block_of, gone, gone, gone, state)
    assert gone[:6].tolist() == [7, 2, 0b1010, 9, 2, 0b0100]
    targets[1] = 10
    native_loops.part_by_target(2, 0b1110, 9, targets, block_of, gone, gone, gone, state)
    assert state[native_loops.WRONG] == 1
