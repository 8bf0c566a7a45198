"""Where a value comes from, for each kind of instruction and of memory: who gave it, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import Kernel
from softlab.emulator.ptx.syntax import Pair, Register, Vector
from softlab.instruments.step_record import StepRecord
from softlab.instruments.value_origins import Origin, Source, memory_source, origin, register_source

SOURCE = """
__constant__ int table[4] = {5, 6, 7, 8};
extern "C" __global__ void whence(const int* x, int* y, int n, float f) {
  __shared__ int part[64];
  __shared__ int empty[4];
  int i = threadIdx.x;
  part[i] = i * 3;
  if (blockIdx.x == 0 && i == 0) ((volatile int*)y)[200] = 7;
  __syncthreads();
  int v = x[i];
  int near = __shfl_up_sync(~0u, v, 1);
  int votes = 0;
  if (i % 32 < 20) votes = __ballot_sync(0xfffff, v > 2);
  int most = __reduce_max_sync(~0u, v);
  int there = ((volatile int*)y)[200];
  y[i] = part[63 - i] + near + votes + most + table[i & 3] + n + there + empty[n];
  y[64 + i] = f * 0.5f;
}"""
X, LANE = np.arange(64, dtype=np.int32) + 1, 5


@pytest.fixture(scope="module")
def record() -> StepRecord:
    """Warp 1 of block 1 of two."""
    return Kernel(SOURCE, "whence").steps(2, 64, (X, np.zeros(264, np.int32), 3, 2.5), of=1, warp=1)


def result(record: StepRecord, text: str, lane: int = LANE) -> tuple[Origin, list[tuple]]:
    """The origin of what the first instruction that begins so gives to a lane, and (kind, name, lane) of its inputs."""
    step = next(step for step in range(len(record)) if record.text(step).startswith(text))
    first = record.image.instructions[int(record.steps["instruction"][step])].operands[0]
    first = first.first if isinstance(first, Pair) else first.elements[0] if isinstance(first, Vector) else first
    assert isinstance(first, Register)
    whence = origin(record, register_source(record, first.name, lane, step + 1))
    assert (whence.step, whence.lane) == (step, lane)
    return whence, [(one.kind, one.name, one.lane) for one in whence.inputs if not one.role]


@pytest.mark.parametrize(
    ("text", "kind", "name", "note"),
    [
        ("ld.param.f32", "parameter", "f", "The launch gave it as an argument."),
        ("ld.param.u32", "parameter", "n", "The launch gave it as an argument."),
        ("mov.u32 ", "special", "threadIdx.x", "The hardware knows it of each thread."),
        ("mov.u64", "constant", "the address of part", "It stands in the instruction."),
        ("mul.lo.s32", "constant", "3", "It stands in the instruction."),
        ("mul.f32", "constant", "0.5", "It stands in the instruction."),
    ],
)
def test_what_comes_from_nowhere_else(record, text, kind, name, note):
    whence, inputs = result(record, text)
    assert inputs[-1] == (kind, name, LANE)
    end = origin(record, whence.inputs[-1])
    assert (end.note, end.step, end.inputs, end.thread) == (note, None, (), None)
    assert whence.note == ""


def test_a_shuffle_names_the_lane_that_gave(record):
    for lane in (1, LANE, 31):
        whence, ((kind, _, giver),) = result(record, "shfl", lane)
        assert (whence.note, kind, giver) == (f"Lane {lane} took it from lane {lane - 1}.", "register", lane - 1)
        assert whence.inputs[0].bits == X[32 + lane - 1]
    whence, ((_, _, giver),) = result(record, "shfl", 0)
    assert (whence.note, giver, whence.inputs[0].bits) == ("Lane 0 kept its own.", 0, X[32])


@pytest.mark.parametrize(("text", "lanes"), [("vote", 20), ("redux", 32)])
def test_what_all_lanes_give_comes_from_those_that_took_part(record, text, lanes):
    whence, inputs = result(record, text)
    assert whence.note == "Its result depends on all lanes that took part."
    assert [lane for _, _, lane in inputs] == [*range(lanes)]
    assert [one.bits for one in whence.inputs] == (X[32:] > 2 if text == "vote" else X[32:])[:lanes].tolist()


@pytest.mark.parametrize(
    ("text", "kind", "name", "bits", "note"),
    [
        ("ld.global", "global", "x[37]", 38, "No thread of this block wrote it: it is as it was before the launch."),
        ("ld.volatile.global", "global", "y[200]", 7,
         "No thread of this block wrote it. Before the launch it was another value: another block wrote it."),
        ("ld.shared", "shared", "part[26]", 78, "Thread 26, lane 26 of warp 0, stored it in line 7."),
        ("ld.const", "const", "const memory at 0x500000000004", 6,
         "A kernel cannot write it: it is as it was before the launch."),
    ],
)  # fmt: skip
def test_a_load_leads_to_its_memory_and_that_to_who_wrote_it(record, text, kind, name, bits, note):
    whence, _ = result(record, text)
    cell, address = whence.inputs
    assert whence.note == f"It was loaded from {name}."
    assert (cell.kind, cell.name, cell.bits, cell.width, address.role) == (kind, name, bits, 4, "address")
    assert cell.address in (address.bits, address.bits + 800)
    there = origin(record, cell)
    assert (there.note, there.step, there.inputs) == (note, None, ())
    assert there.thread == (26 if kind == "shared" else None)


def test_memory_without_a_value_and_beyond_the_record(record):
    step = next(s for s in reversed(range(len(record))) if record.text(s).startswith("ld.shared"))
    name = record.image.instructions[int(record.steps["instruction"][step])].operands[0].name
    cell = origin(record, register_source(record, name, LANE, step + 1)).inputs[0]
    assert cell.name == "empty[3]"
    assert origin(record, cell).note == "Nobody has written it: the kernel reads memory without a value."
    far = memory_source(record, "global", 1 << 40, 4, LANE, step)
    assert (far.name, far.bits) == ("global memory at 0x10000000000", None)
    assert origin(record, far).note == "No thread of this block wrote it. The record has no other block."
    assert memory_source(record, "local", 12, 4, LANE, step).name == "the thread's stack at 12"


def test_what_a_thread_of_this_warp_stored_leads_to_its_step(record):
    y0 = next(array.base for array in record.mapped if array.index == 1)
    for byte in range(4):
        cell = memory_source(record, "global", y0 + 4 * (32 + LANE) + byte, 1, 0, len(record))
        whence = origin(record, cell)
        assert (cell.name, whence.note, whence.lane) == (f"y[{32 + LANE}]", f"Lane {LANE} stored it.", LANE)
        assert record.text(whence.step).startswith("st.global")
        assert [one.lane for one in whence.inputs] == [LANE]
    before = memory_source(record, "global", y0 + 4 * (32 + LANE), 4, 0, whence.step)
    assert origin(record, before).note == "No thread of this block wrote it: it is as it was before the launch."
    beside = memory_source(record, "global", y0 + 4 * 200, 4, 0, len(record))
    assert origin(record, beside).step is None


def test_a_register_before_its_first_write_has_no_value(record):
    name = record.registers[0]
    none = register_source(record, name, LANE, 0)
    assert none.bits is None
    assert origin(record, none) == Origin(none, None, LANE, (), "No step has written it: it has no value yet.")
    for lane in (-1, 32):
        with pytest.raises(ValueError, match=f"register '{name}' of lane {lane}: the kernel has .*{name}"):
            register_source(record, name, lane, 0)
    assert register_source(record, name, 31, 0).lane == 31
    with pytest.raises(ValueError, match="register '%none'"):
        register_source(record, "%none", 0, 0)


def test_widths_without_a_type_are_words(record):
    assert [memory_source(record, "global", 0, width, 0, 0).dtype.itemsize for width in (1, 2, 4, 8, 16)] == [
        1, 2, 4, 8, 4,
    ]  # fmt: skip
    assert Source("constant", "", 0, 0).dtype == np.uint32


@pytest.mark.parametrize("warp", [0, 1])
@pytest.mark.parametrize(("lane", "value"), [(2, 9), (5, 7), (6, 4)])
def test_a_threads_stack_is_its_own(warp: int, lane: int, value: int) -> None:
    """Lanes store to the same place of their stacks, one after the other."""
    source = """extern "C" __global__ void k(const int* x, int* y) {
      volatile int own[4]; int i = threadIdx.x % 32, at = x[0];
      own[at] = 4;
      if (i == 5) own[at] = 7;
      if (i == 2) own[at] = 9;
      y[threadIdx.x] = own[at]; }"""
    kernel = Kernel(source, "k")
    record = kernel.steps(1, 64, (np.ones(1, np.int32), np.zeros(64, np.int32)), warp=warp)
    step = next(s for s in reversed(range(len(record))) if record.text(s).startswith("ld.local"))
    name = record.image.instructions[int(record.steps["instruction"][step])].operands[0].name
    cell = origin(record, register_source(record, name, lane, step + 1)).inputs[0]
    whence = origin(record, cell)
    assert (cell.kind, cell.bits, whence.lane, whence.note) == ("local", value, lane, f"Lane {lane} stored it.")
    stored = [s for s in range(len(record)) if record.text(s).startswith("st.local")]
    assert whence.step == stored[{4: 0, 7: 1, 9: 2}[value]]


_SHUFFLE = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  add.s32 %r2, %r1, 100;
  shfl.sync.up.b32 %r3|%p1, %r2, 3, 0, -1;
  shfl.sync.down.b32 _|%p2, %r2, 5, 31, -1;
  selp.b32 %r4, 1, 0, %p1;
  selp.b32 %r5, 2, 0, %p2;
  add.s32 %r6, %r3, %r4;
  add.s32 %r6, %r6, %r5;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
"""


@pytest.mark.parametrize(("lane", "giver"), [(0, 0), (2, 2), (3, 0), (31, 28)])
def test_both_results_of_a_shuffle(lane: int, giver: int) -> None:
    """The value comes from a lane, and the predicate from the distance that was asked for."""
    y = np.zeros(32, np.int32)
    record = Kernel.from_ptx(_SHUFFLE, "k").steps(1, 32, (y,))
    value = origin(record, register_source(record, "%r3", lane, len(record)))
    (given,) = value.inputs
    assert (given.kind, given.name, given.lane, given.bits) == ("register", "%r2", giver, 100 + giver)
    assert value.note == (f"Lane {lane} kept its own." if lane < 3 else f"Lane {lane} took it from lane {giver}.")
    for name, distance in (("%p1", 3), ("%p2", 5)):
        inside = origin(record, register_source(record, name, lane, len(record)))
        (asked,) = inside.inputs
        assert (asked.kind, asked.name, asked.lane) == ("constant", str(distance), lane)
        assert inside.note == "It says whether the lane that was asked for is in range."
