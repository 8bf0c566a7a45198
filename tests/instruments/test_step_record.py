"""The record of a warp's steps: against the emulator's own registers, a walk, and kernels whose data flow is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from softlab import Kernel
from softlab.emulator.machine import machine
from softlab.emulator.machine.observers import Observer
from softlab.emulator.machine.prepare import prepare
from softlab.instruments import step_record as module
from softlab.instruments.step_record import StepRecord
from softlab.instruments.value_origins import Source, memory_source, origin, register_source
from softlab.kernel.emulation import EmulatedKernel

#: The sum of a block by shuffles and shared memory, with a branch, a loop and lanes that leave early.
SOURCE = """
__device__ float scale = 2.0f;
extern "C" __global__ void block_sum(const float* x, float* y, int n) {
  __shared__ float part[2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.f;
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  float w = part[0] + part[1];
  #pragma unroll 1
  for (int k = 0; k < threadIdx.x % 3; ++k) w = w * scale + k;
  y[i] = w;
}
extern "C" __global__ void touch(int* out, const int* indices, int n) {
  __shared__ int count[4];
  __shared__ int4 packs[32];
  if (threadIdx.x < 4) count[threadIdx.x] = 100;
  int stack[8];
  for (int k = 0; k < 8; ++k) stack[k] = k + threadIdx.x;
  __syncthreads();
  int before = atomicAdd(&count[threadIdx.x % 4], 1);
  stack[indices[threadIdx.x]] = before;
  packs[threadIdx.x] = make_int4(1, 2, before, 4);
  __syncthreads();
  out[threadIdx.x] = packs[31 - threadIdx.x].z + stack[indices[threadIdx.x] ^ n];
}
extern "C" __global__ void wrong(float* y) { float v = y[threadIdx.x] + 1; y[threadIdx.x + 1000000] = v; }
extern "C" __global__ void forever(volatile int* y) { while (*y < 1000) *y = *y + 1; }
"""


def kernel(name: str) -> Kernel:
    return Kernel(SOURCE, name)


@pytest.fixture(scope="module")
def sums() -> tuple[StepRecord, np.ndarray]:
    """Warp 1 of block 1 of two, and the input."""
    x = np.random.default_rng(3).random(128, dtype=np.float32)
    return kernel("block_sum").steps(2, 64, (x, np.zeros(128, np.float32), 120), of=1, warp=1), x


def shown(record: StepRecord, name: str, position: int) -> np.ndarray:
    """A register in its own type."""
    number = record.registers.index(name)
    kind = record.types[number]
    bits = record.at(position).values[number]
    return bits.astype(bool) if kind.kind == "b" else bits.astype(f"u{kind.itemsize}").view(kind)


def step_of(record: StepRecord, text: str, number: int = -1) -> int:
    """A step whose instruction begins so."""
    return [step for step in range(len(record)) if record.text(step).startswith(text)][number]


class _Registers(Observer):
    """Keeps the registers of some lanes at each basic block, as the machine has them."""

    def __init__(self, block: int, warp: int) -> None:
        self.block_number, self.warp, self.seen = block, warp, []
        self.machine = None

    def block(self, block, lanes) -> None:
        mask = lanes.mask[self.block_number, self.warp * 32 : self.warp * 32 + 32]
        if mask.any():
            values = {}
            for name in block.reads:
                value = np.broadcast_to(
                    self.machine.registers[self.machine.batch.program.registers[name]], lanes.mask.shape
                )
                raw = np.ascontiguousarray(value[self.block_number, self.warp * 32 : self.warp * 32 + 32])
                values[name] = raw if raw.dtype == bool else raw.view(f"u{raw.itemsize}")
            self.seen.append((block.start, block.stop, mask.copy(), values))


def test_the_registers_are_those_of_the_emulator(sums, monkeypatch):
    record, x = sums
    watcher, begin = _Registers(1, 1), machine._Run.__init__

    def watched(run, batch) -> None:
        begin(run, batch)
        watcher.machine = run

    monkeypatch.setattr(machine._Run, "__init__", watched)
    plain = EmulatedKernel(record.program).program
    launch, _ = prepare(
        plain,
        (2, 1, 1),
        (64, 1, 1),
        [x, np.zeros(128, np.float32), np.int32(120)],
        observers=[watcher],
        compiled="none",
    )
    machine.run(launch)
    position, compared = 0, 0
    for start, stop, mask, values in watcher.seen:
        assert record.steps["instruction"][position] == start
        assert record.steps["active"][position] == np.packbits(mask, bitorder="little").view("<u4")[0]
        state = record.at(position)
        for name, value in values.items():
            number = record.registers.index(name)
            np.testing.assert_array_equal(state.values[number][mask], value[mask])
            compared += int(mask.sum())
        position += stop - start
    assert position == len(record) > 70
    assert compared > 1000


def test_a_jump_gives_what_a_walk_gives_in_either_direction(sums):
    record, _ = sums
    values = np.zeros((len(record.registers), 32), np.uint64)
    known, walked, row = np.zeros(len(record.registers), np.uint32), [], 0
    last = np.full(values.shape, -1)
    for position in range(len(record) + 1):
        while row < len(record.writes["step"]) and record.writes["step"][row] < position:
            register, lanes = record.writes["register"][row], record.writes["lanes"][row]
            wrote = (lanes >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
            values[register][wrote] = record.writes["values"][row][wrote]
            known[register] |= lanes
            last[register][wrote] = record.writes["step"][row]
            row += 1
        walked.append((values.copy(), known.copy(), last.copy()))
    jumps = [*range(len(record), -1, -1), *np.random.default_rng(0).integers(0, len(record), 20)]
    for position in jumps:
        state = record.at(int(position))
        written = (walked[position][1][:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
        np.testing.assert_array_equal(state.known, walked[position][1])
        np.testing.assert_array_equal(state.values[written], walked[position][0][written])
        np.testing.assert_array_equal(state.step, walked[position][2].max(axis=1))
    for position in jumps[::9]:
        found = [[record.last_write(register, lane, int(position)) for lane in range(0, 32, 3)]
                 for register in range(len(record.registers))]  # fmt: skip
        expected = [[None if step < 0 else step for step in row] for row in walked[position][2][:, ::3].tolist()]
        assert found == expected


def test_shuffles_accesses_and_results_are_those_of_a_run(sums):
    record, x = sums
    y = np.zeros(128, np.float32)
    run = kernel("block_sum").run(2, 64, (x, y, 120), blocks=(1,))
    mine = run.shuffles.warp == 1
    exchanges = [step for step in range(len(record)) if record.text(step).startswith("shfl")]
    for number, step in enumerate(exchanges):
        given = run.shuffles.given[mine][number]
        taken = record.image.instructions[record.steps["instruction"][step]].operands
        received = shown(record, taken[0].first.name, step + 1)
        np.testing.assert_array_equal(shown(record, taken[1].name, step).view(np.uint32), given.view(np.uint32))
        np.testing.assert_array_equal(received.view(np.uint32), run.shuffles.received[mine][number].view(np.uint32))
        np.testing.assert_array_equal(record.shuffles["source"][number], run.shuffles.source[mine][number])
    assert len(exchanges) == 5
    stored = step_of(record, "st.global")
    name = record.image.instructions[record.steps["instruction"][stored]].operands[1].name
    np.testing.assert_array_equal(shown(record, name, stored), y[96:])
    loads = (record.accesses["space"] == 1) & ~record.accesses["store"]
    base = next(array.base for array in record.mapped if array.index == 0)
    first = int(np.flatnonzero(loads)[0])
    assert (record.accesses["address"][first][:24] - base).tolist() == [4 * (96 + lane) for lane in range(24)]
    assert record.accesses["lanes"][first] == (1 << 24) - 1  # n = 120


def leaves(record: StepRecord, source: Source) -> set[str]:
    """All that a value depends on in the end, without guards and addresses."""
    found, left, seen = set(), [source], set()
    while left:
        one = left.pop()
        if (key := (one.kind, one.name, one.lane, one.position)) in seen:
            continue
        seen.add(key)
        whence = origin(record, one)
        inputs = [i for i in whence.inputs if not i.role]
        left += inputs
        if not inputs:
            found.add(one.name if whence.thread is None else f"thread {whence.thread}")
    return found


def test_a_sum_comes_from_all_numbers_that_were_added(sums):
    record, x = sums
    store = step_of(record, "st.shared")
    value = record.image.instructions[record.steps["instruction"][store]].operands[1].name
    source = register_source(record, value, 0, store)
    assert np.uint32(source.bits).view(np.float32) == pytest.approx(x[96:120].sum(), rel=1e-6)
    assert leaves(record, source) - {"0"} == {f"x[{i}]" for i in range(96, 120)}
    inputs = origin(record, register_source(record, loaded(record), 5, store)).inputs
    x5 = next(i for i in inputs if not i.role)
    assert (x5.kind, x5.name, np.uint32(x5.bits).view(np.float32)) == ("global", "x[101]", x[101])
    assert "as it was before the launch" in origin(record, x5).note


def loaded(record: StepRecord) -> str:
    """The register into which x is loaded."""
    step = step_of(record, "ld.global", 0)
    return record.image.instructions[record.steps["instruction"][step]].operands[0].name


def test_a_value_of_shared_memory_leads_to_the_store_in_this_warp_or_in_another(sums):
    record, _ = sums
    own, other = (memory_source(record, "shared", address, 4, 7, len(record)) for address in (4, 0))
    assert (own.name, other.name) == ("part[1]", "part[0]")
    mine, theirs = origin(record, own), origin(record, other)
    assert record.text(mine.step).startswith("st.shared")
    assert (mine.lane, mine.inputs[0].bits) == (0, own.bits)
    assert (theirs.step, theirs.thread) == (None, 0)
    assert "lane 0 of warp 0" in theirs.note
    there = kernel("block_sum").steps(2, 64, (np.zeros(128, np.float32), np.zeros(128, np.float32), 120), of=1, warp=0)
    assert there.text(there.position_at(theirs.tick)).startswith("st.shared")
    before = origin(record, replace(own, position=mine.step))
    assert "Nobody has written it" in before.note


def test_a_loop_asks_each_lane_for_its_own_turns(sums):
    record, _ = sums
    end = len(record)
    store = step_of(record, "st.global")
    name = record.image.instructions[record.steps["instruction"][store]].operands[1].name
    lanes = {lane: origin(record, register_source(record, name, lane, store)).step for lane in (2, 3, 4)}
    # Threads 34, 35, 36 of the block take 1, 2 and 0 turns: lane 4 has its value from before the loop.
    assert lanes[4] < lanes[2] < lanes[3] < end
    assert (record.steps["executed"] < 2**32 - 1).any()


def test_registers_have_the_names_that_the_source_gives_and_floats_are_shown_as_such(sums):
    record, _ = sums
    names = set(record.names.values())
    assert {"x", "y", "n", "threadIdx.x", "blockIdx.x", "blockDim.x"} <= names
    taken = record.image.instructions[record.steps["instruction"][step_of(record, "shfl")]].operands
    assert record.types[record.registers.index(taken[1].name)] == np.float32  # moved as raw bits


def test_atomics_packs_and_the_stack_of_a_thread():
    indices = np.arange(32, dtype=np.int32) % 8
    out = np.zeros(32, np.int32)
    record = kernel("touch").steps(1, 32, (out, indices, 0))
    assert not out.any()
    assert not record.fault
    assert not record.truncated
    shared = record.shared(len(record))
    assert shared.data[:16].view(np.int32).tolist() == [108] * 4
    assert (shared.store[:16] >= 0).all()
    packs = shared.data[16:].view(np.int32).reshape(32, 4)
    assert packs[:, 3].tolist() == [4] * 32
    third = memory_source(record, "shared", 16 + 16 * 5 + 8, 4, 0, len(record))
    whence = origin(record, third)
    assert (whence.lane, whence.inputs[0].bits, third.bits) == (5, int(packs[5, 2]), int(packs[5, 2]))
    for byte in range(16):  # a byte comes from the element that holds it
        one = memory_source(record, "shared", 16 + 16 * 5 + byte, 1, 0, len(record))
        assert origin(record, one).inputs[0].bits == int(packs[5, byte // 4])
    atomic = origin(record, whence.inputs[0])
    assert record.text(atomic.step).startswith("atom.shared")
    assert atomic.inputs[0].name == "count[1]"
    assert "atomic" in origin(record, memory_source(record, "shared", 0, 4, 0, len(record))).note
    load = step_of(record, "ld.local")
    value = record.image.instructions[record.steps["instruction"][load]].operands[0].name
    stack = origin(record, register_source(record, value, 3, len(record))).inputs[0]
    assert stack.kind == "local"
    whence = origin(record, stack)
    assert record.text(whence.step).startswith("st.local")
    assert whence.inputs[0].bits == stack.bits


def test_shared_memory_is_the_same_with_many_keyframes_and_with_one(monkeypatch):
    record = kernel("touch").steps(1, 32, (np.zeros(32, np.int32), np.arange(32, dtype=np.int32) % 8, 0))
    one = [record.shared(position) for position in range(0, len(record) + 1, 5)]
    monkeypatch.setattr(module, "_KEYFRAME_BYTES", 1)
    many = replace(record)
    assert len(many._keyframes) > 1
    for state in one:
        again = many.shared(state.position)
        np.testing.assert_array_equal(again.data, state.data)
        np.testing.assert_array_equal(again.store, state.store)


def test_a_limit_and_a_fault_end_the_record_and_are_said():
    record = kernel("forever").steps(1, 1, (np.zeros(1, np.int32),), limit=50)
    assert len(record) == 50
    assert record.truncated == "the record has 50 steps, as many as were asked for, and the warp does more"
    faulty = kernel("wrong").steps(1, 4, (np.zeros(4, np.float32),))
    assert faulty.fault.startswith("global-out-of-bounds: the thread writes 4 bytes")
    assert faulty.text(len(faulty) - 1).startswith("add")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"warp": 2}, "warp 2: a block of 40 threads has the warps 0 to 1"),
        ({"warp": -1}, "has the warps 0 to 1"),
        ({"of": 3}, r"block 3: the grid \(3, 1, 1\) has the blocks 0 to 2"),
        ({"of": -1}, "has the blocks 0 to 2"),
        ({"limit": 0}, "limit = 0: a record has at least one step"),
        ({"warp": 1, "of": 2, "limit": 1}, ""),
    ],
)
def test_a_warp_or_a_block_that_is_not_there(asked, words):
    given = kernel("block_sum"), (np.zeros(120, np.float32), np.zeros(120, np.float32), 120)
    if words:
        with pytest.raises(ValueError, match=words):
            given[0].steps(3, 40, given[1], **asked)
    else:
        assert len(given[0].steps(3, 40, given[1], **asked)) == 1


REMOTE = """#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) swap(int* y) {
  __shared__ int box[64];
  cg::cluster_group cluster = cg::this_cluster();
  int* other = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
  box[threadIdx.x] = -1;
  cluster.sync();
  if (threadIdx.x < 48) other[63 - threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  cluster.sync();
  y[64 * blockIdx.x + threadIdx.x] = box[threadIdx.x];
}
extern "C" __global__ void fetch(const int* x, int* y) {
  __shared__ int box[64];
  __pipeline_memcpy_async(&box[63 - threadIdx.x], &x[64 * blockIdx.x + threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[64 * blockIdx.x + threadIdx.x] = box[threadIdx.x];
}
extern "C" __global__ void arrive(int* y) {
  __shared__ unsigned long long bar;
  unsigned at = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0)
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at) : "memory");
  y[64 * blockIdx.x + threadIdx.x] = 1;
}
"""


def last_shared(record: StepRecord) -> tuple[list[int], np.ndarray]:
    """The 64 words of shared memory at the end, and the row of ``stores`` that wrote each."""
    state = record.shared(len(record))
    return state.data.view(np.int32)[:64].tolist(), state.store[: 4 * 64 : 4]


@pytest.mark.parametrize("of", [0, 1])
def test_what_another_block_of_the_cluster_writes_is_in_shared_memory(of: int):
    record = Kernel(REMOTE, "swap").steps(2, 64, (np.zeros(128, np.int32),), of=of, warp=1)
    data, store = last_shared(record)
    assert data == [-1] * 16 + [100 * (1 - of) + 63 - k for k in range(16, 64)]
    assert record.stores["block"][store].tolist() == [of] * 16 + [1 - of] * 48
    assert record.stores["thread"][store].tolist() == [*range(16), *(63 - k for k in range(16, 64))]
    assert record.shared(0).store.tolist() == [-1] * 256


@pytest.mark.parametrize("of", [0, 1])
def test_what_an_asynchronous_copy_writes_is_in_shared_memory(of: int):
    x = np.arange(1000, 1128, dtype=np.int32)
    record = Kernel(REMOTE, "fetch").steps(2, 64, (x, np.zeros(128, np.int32)), of=of, warp=1)
    data, store = last_shared(record)
    assert data == x[64 * of : 64 * of + 64][::-1].tolist()
    assert record.stores["thread"][store].tolist() == list(range(63, -1, -1))
    assert record.stored_type(int(store[0])) == np.float32, "a copy does not say what it copies"


def test_mbarriers_are_said_not_to_be_recorded():
    words = "The state of mbarriers is not recorded: their words in shared memory stand as they were."
    assert Kernel(REMOTE, "arrive").steps(2, 64, (np.zeros(128, np.int32),), of=1).notes == (words,)
    assert Kernel(REMOTE, "fetch").steps(1, 64, (np.zeros(64, np.int32),) * 2).notes == ()


@pytest.mark.parametrize(
    ("declared", "constraint", "bits", "kind"),
    [
        ("float v = 1.5f", "f", 32, np.float32),
        ("double v = 1.5", "d", 64, np.float64),
        ("unsigned v = 7", "r", 32, np.uint32),
    ],
)
def test_bits_are_read_as_the_register_that_is_stored(declared: str, constraint: str, bits: int, kind: type):
    source = f"""extern "C" __global__ void k() {{
  __shared__ double box[32];
  unsigned at = __cvta_generic_to_shared(&box[threadIdx.x]);
  {declared};
  asm volatile("st.shared.b{bits} [%0], %1;" :: "r"(at), "{constraint}"(v) : "memory");
}}"""
    record = Kernel(source, "k").steps(1, 32, ())
    row = int(record.shared(len(record)).store[0])
    assert record.stored_type(row) == kind
    assert record.stored_type(-1) == np.float32
