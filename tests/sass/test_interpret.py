"""The interpreter of machine code against the PTX emulator and against Nsight Compute's counts."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.errors import KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.sass import Kind, Space, interpret
from tests.hardware.cases import all_cases
from tests.hardware.machine_cases import machine_cases
from tests.hardware.record import recording
from tests.hardware.record_machine import recording as recording_of_machine
from tests.sampled import each
from tests.sass.recorded import held_to_both

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

MACHINE_CASES = {case.name: case for case in machine_cases()}
CASES = {case.name: case for case in all_cases()}
#: A few of each kind: calls, jumps through a table, divergent loops, tails, atomics, shuffles, doubles.
QUICK = (
    "calls 7", "seven cases", "collatz", "odd and even lanes", "warps apart", "divisions 6",
    "functions", "product with edges 40", "sum of rows 1000", "online softmax 13", "last block",
    "generic atomic to shared", "global atomic result add int random of 7",
    "shared atomic compare_and_swap int one bank", "global atomic compare_and_swap int random of 7",
    "global atomic add __half2 random of 7", "grid stride 1000",
    "fast softmax float16 64x100", "fast softmax float32 33x5", "fast softmax float32 4x20000",
)  # fmt: skip


@pytest.mark.parametrize("name", each(2, QUICK))
def test_results_are_those_of_the_ptx_and_counts_those_of_the_hardware(name):
    held_to_both(MACHINE_CASES[name], recording_of_machine()["cases"][name]["instructions"])


def test_sampled_blocks_give_the_streams_of_the_whole_launch():
    case = CASES["transpose plain"]
    how = case.launch()
    kernel = Kernel.from_program(how.compile())
    whole = interpret(kernel, how.grid, how.block, case.arguments(), smem=how.smem)
    part = interpret(kernel, how.grid, how.block, case.arguments(), smem=how.smem, blocks=[4, 1])
    assert part.blocks == (1, 4)
    wanted = [stream for stream in whole.streams if stream.block in (1, 4)]
    assert len(part.streams) == len(wanted)
    for found, expected in zip(part.streams, wanted, strict=True):
        assert (found.block, found.warp) == (expected.block, expected.warp)
        for field in ("instructions", "active"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
        for field in ("position", "space", "kind", "wavefronts", "offsets", "sectors"):
            np.testing.assert_array_equal(getattr(found.accesses, field), getattr(expected.accesses, field))


_AGAIN = r"""
__constant__ int step[2] = {1, 2};
extern "C" __global__ void again(const int* x, int* y, int n, int most) {
  int sum = 0;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += step[1] * gridDim.x) {
    if (x[k] > most) sum += x[k] * most;
    else sum -= most + n;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum + gridDim.x * threadIdx.x;
}
"""


def test_a_later_launch_has_its_own_shape_and_arguments():
    """The steps of a code are made once. A later launch, another program's first one, and one with a fault between."""
    x = np.random.default_rng(5).integers(0, 100, 5000).astype(np.int32)

    def run(kernel: Kernel, grid: int, block: int, n: int, most: int):
        return interpret(kernel, grid, block, [x[:n], np.zeros(grid * block, np.int32), n, most])

    kernel = Kernel(_AGAIN, "again")
    launches = [(3, 64, 4000, 50), (7, 32, 900, 12), (2, 128, 5000, 80)]
    found = [run(kernel, *launch) for launch in launches]
    with pytest.raises(KernelFault):
        interpret(kernel, 2, 64, [x[:10], np.zeros(5, np.int32), 10, 3])
    found.append(run(kernel, *launches[0]))
    for launch, one in zip([*launches, launches[0]], found, strict=True):
        other = run(Kernel(_AGAIN + f"// {launch}", "again"), *launch)
        np.testing.assert_array_equal(one.output(1), other.output(1))
        for name in ("instructions", "active", "limits", "position", "wavefronts", "offsets", "sectors", "block"):
            np.testing.assert_array_equal(getattr(one.streams, name), getattr(other.streams, name))


def test_requests_are_those_that_the_hardware_counted():
    name = "transpose plain"
    case, recorded = CASES[name], recording()["cases"][name]
    how = case.launch()
    found = interpret(Kernel.from_program(how.compile()), how.grid, how.block, case.arguments(), smem=how.smem)
    counted = {}
    for space, label in ((Space.GLOBAL, "global"), (Space.SHARED, "shared")):
        for kind, verb in ((Kind.LOAD, "load"), (Kind.STORE, "store")):
            requests = sectors = wavefronts = 0
            for stream in found.streams:
                a = stream.accesses
                here = (a.space == space) & (a.kind == kind)
                requests += int(here.sum())
                sectors += int(np.diff(a.offsets)[here].sum())
                wavefronts += int(a.wavefronts[here].sum())
                assert (np.diff(a.position) >= 0).all()
                assert all(found.code[stream.instructions[p]].machine.space for p in a.position)
            counted[f"{label}_{verb}"] = (requests, sectors if space == Space.GLOBAL else wavefronts)
    assert counted == {
        "global_load": (recorded["global_load_requests"], recorded["global_load_sectors"]),
        "global_store": (recorded["global_store_requests"], recorded["global_store_sectors"]),
        "shared_load": (recorded["shared_load_instructions"], recorded["shared_load_wavefronts"]),
        "shared_store": (recorded["shared_store_instructions"], recorded["shared_store_wavefronts"]),
    }


_FAMILIES = r"""
__constant__ unsigned char family[256] = {FAMILIES};
extern "C" __global__ void families(unsigned* x) {
  unsigned a = x[threadIdx.x];
  x[threadIdx.x] = family[a & 255] + 3 * family[(a >> 8) & 255] + family[(a >> 16) & 255];
}
""".replace("FAMILIES", ", ".join(str(k // 4 % 2) for k in range(256)))


def test_a_constant_load_has_its_address_from_before_it_wrote_it():
    """The lanes want 32 words, whose values are two. The compiler gives an address and its value one register."""
    kernel = Kernel(_FAMILIES, "families")
    lanes = np.arange(32)
    found = interpret(kernel, 1, 32, ((4 * lanes * 0x10101).astype(np.uint32),))
    assert found.output(0).tolist() == (lanes % 2 * 5).tolist()
    loads = [one.text for one in found.code if one.opcode == "LDC" and "c[0x3]" in one.text]
    assert any(re.search(r" (R\d+), c\[0x3\]\[\1\]", text) for text in loads), loads
    counted = [
        int(a.wavefronts[k])
        for a in (stream.accesses for stream in found.streams)
        for k in np.flatnonzero(a.space == Space.CONSTANT)
    ]
    assert counted == [32, 32, 32]


def test_lanes_that_a_guard_turns_off_are_not_active():
    kernel = Kernel('extern "C" __global__ void some(int* x) { if (threadIdx.x < 5) x[threadIdx.x] = 7; }', "some")
    x = np.zeros(64, np.int32)
    found = interpret(kernel, 1, 64, (x,))
    assert found.output(0).tolist() == [7] * 5 + [0] * 59
    assert x.tolist() == [0] * 64
    stores = [
        int(active)
        for stream in found.streams
        for place, active in zip(stream.instructions, stream.active, strict=True)
        if found.code[place].opcode == "STG"
    ]
    assert stores == [0b11111]


def test_an_access_outside_of_the_arrays_is_a_fault_with_its_line():
    kernel = Kernel('extern "C" __global__ void far(int* x) {\n  x[threadIdx.x] = 1;\n}', "far")
    with pytest.raises(KernelFault, match="global-out-of-bounds") as caught:
        interpret(kernel, 1, 64, (np.zeros(40, np.int32),))
    assert caught.value.line == 2
    assert caught.value.thread == (40, 0, 0)


def test_an_instruction_that_is_not_known_is_named():
    source = """extern "C" __global__ void stop(int* x) {
  int width = 1;
  if (x[0] == 3) asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(0ll));
  x[0] = width;
}"""
    kernel = Kernel(source, "stop")
    assert interpret(kernel, 1, 1, (np.zeros(1, np.int32),)).output(0).tolist() == [1]
    with pytest.raises(UnsupportedInstruction, match=r"TXQ.*\(line 3 of kernel.cu\)"):
        interpret(kernel, 1, 1, (np.full(1, 3, np.int32),))


def test_a_block_that_waits_for_one_that_is_not_interpreted_is_a_named_error():
    source = """
extern "C" __global__ void wait(volatile int* flag) {
  if (blockIdx.x == 1) *flag = 1;
  else for (int k = 1; *flag == 0; ++k) flag[1] = k;
}"""
    kernel = Kernel(source, "wait")
    assert len(interpret(kernel, 2, 1, (np.zeros(2, np.int32),)).streams) == 2
    with pytest.raises(KernelFault, match="issued 10000 instructions and have not ended") as caught:
        interpret(kernel, 2, 1, (np.zeros(2, np.int32),), blocks=[0], budget=10_000)
    assert caught.value.kind == "infinite-loop"
    assert "Check what should end the loop. If it is right and only long, a launch with less work has an " in str(
        caught.value
    )


REMAINDERS = """
__global__ void squares(const unsigned* a, const unsigned* b, unsigned* y, int steps) {
  unsigned f = a[threadIdx.x];
  for (int k = 0; k < steps; k++) f = (unsigned)(((unsigned long long)f * f + k) % b[threadIdx.x]);
  y[threadIdx.x] = f;
}
__global__ void halves(const unsigned long long* a, const unsigned long long* b, unsigned long long* y, int signed_) {
  const unsigned long long x = a[threadIdx.x], m = b[threadIdx.x];
  y[threadIdx.x] = signed_ ? (long long)x % (long long)m : x / m + __umul64hi(x, m) * (x % m);
}
"""


@pytest.mark.parametrize("bits", each(2, [4, 17, 24, 32]))
def test_remainders_of_squares_one_after_the_other(bits):
    """A lane takes the function for 64 bits or the path for 32, and what a carry was before says nothing."""
    random = np.random.default_rng(bits)
    a, b = (random.integers(1, 1 << bits, 64, np.uint64).astype(np.uint32) for _ in range(2))
    y = np.zeros(64, np.uint32)
    kernel = Kernel(REMAINDERS, "squares")
    run = kernel.run(1, 64, (a, b, y, 9))
    found = interpret(kernel, 1, 64, (a, b, np.zeros(64, np.uint32), 9))
    np.testing.assert_array_equal(found.output(2), y)
    assert found.instructions == run.counters["instructions"]
    expected = a.astype(object)
    for k in range(9):
        expected = (expected * expected + k) % b
    np.testing.assert_array_equal(y, expected.astype(np.uint32))


@pytest.mark.parametrize("signed", [0, 1])
def test_divisions_and_products_of_64_bits(signed):
    random = np.random.default_rng(signed)
    size = random.integers(1, 64, (2, 256)).astype(np.uint64)
    a, b = (random.integers(1, 1 << 63, (2, 256), np.uint64) >> size) + np.uint64(1)
    y = np.zeros(256, np.uint64)
    kernel = Kernel(REMAINDERS, "halves")
    kernel.run(1, 256, (a, b, y, signed))
    np.testing.assert_array_equal(interpret(kernel, 1, 256, (a, b, np.zeros_like(y), signed)).output(2), y)


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 5, 8, 1023, 1030])
def test_a_part_of_an_array_is_read_and_written_where_it_lies(offset):
    kernel = Kernel("__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }", "k")
    whole = np.arange(2048, dtype=np.float32)
    out = np.zeros(2048, np.float32)
    found = interpret(kernel, 1, 300, (whole[offset : offset + 300], out[offset : offset + 300]))
    np.testing.assert_array_equal(found.output(1), 2 * whole[offset : offset + 300])
    assert not out.any()


def test_a_part_of_an_array_has_the_alignment_of_its_address():
    source = "__global__ void k(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }"
    kernel, x, y = Kernel(source, "k"), np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    np.testing.assert_array_equal(interpret(kernel, 1, 8, (x[4:36], y)).output(1), x[4:36])
    with pytest.raises(KernelFault, match="misaligned"):
        interpret(kernel, 1, 8, (x[1:33], y))


@pytest.mark.parametrize("outside", [-1, 300])
def test_beyond_a_part_of_an_array_is_outside(outside):
    kernel = Kernel("__global__ void k(const float* x, float* y, int i) { y[0] = x[i]; }", "k")
    x = np.zeros(512, np.float32)[3:303]
    with pytest.raises(KernelFault, match=r"outside|out-of-bounds"):
        interpret(kernel, 1, 1, (x, np.zeros(1, np.float32), outside))


ADDED = """extern "C" __global__ void added(const int* place, float* y) {
  __shared__ float sums[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) sums[k] = 0;
  __syncthreads();
  atomicAdd(&sums[place[threadIdx.x]], 1.0f);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) y[k] = sums[k];
}"""


@pytest.mark.parametrize(
    ("place", "turns"),
    [
        (np.arange(64), 1),
        (np.arange(64) % 32, 1),  # warps that are not in step do not make each other try again
        (np.arange(64) * 2, 2),  # one lane per bank and turn
        (np.arange(64) // 4, 4),
        (np.arange(64) * 32 % 1024, 32),
    ],
)
def test_a_loop_of_compare_and_swap_serves_one_lane_per_bank(place, turns):
    found = interpret(Kernel(ADDED, "added"), 1, 64, (place.astype(np.int32), np.zeros(1024, np.float32)))
    assert (found.output(1) == np.bincount(place, minlength=1024)).all()
    swaps = [n for n, one in enumerate(found.code) if one.opcode == "ATOMS" and "CAST" in one.modifiers]
    assert [np.isin(stream.instructions, swaps).sum() for stream in found.streams] == [turns, turns]
    atomics = found.streams[0].accesses.kind == Kind.ATOMIC
    assert found.streams[0].accesses.wavefronts[atomics].tolist() == [1] * turns
    sectors = found.streams[0].accesses.sectors[np.repeat(atomics, np.diff(found.streams[0].accesses.offsets))]
    assert len(set(sectors.tolist())) == len(np.unique(place[:32]))  # of an atomic the words


OWN_WORDS = """extern "C" __global__ void own_words(const int* at, int4* y) {
  int4 own[64];
  for (int k = 0; k < 64; k++) own[k] = make_int4(k, k + at[k], k + 2, k + 3);
  own[at[threadIdx.x]].y += 4;
  y[threadIdx.x] = own[at[threadIdx.x + 1]];
}"""


def test_a_wide_access_to_local_memory_has_a_request_for_each_of_its_words():
    at = np.full(64, 3, np.int32)
    found = interpret(Kernel(OWN_WORDS, "own_words"), 1, 32, (at, np.zeros((32, 4), np.int32)))
    assert found.output(1).tolist() == [[3, 10, 5, 6]] * 32
    stream = found.streams[0]
    accesses, local = stream.accesses, stream.accesses.space == Space.LOCAL
    opcodes = [found.code[stream.instructions[k]] for k in accesses.position[local]]
    wide = np.array(["128" in one.modifiers for one in opcodes])
    assert wide.any()
    _, words = np.unique(accesses.position[local][wide], return_counts=True)
    assert (words == 4).all()
    assert (np.diff(accesses.offsets)[local][wide] == 4).all()


SHUFFLES = """extern "C" __global__ void shuffles(const int* x, int* y) {
  const int v = x[threadIdx.x], all = 0xffffffff;
  int sum = __shfl_xor_sync(all, v, 5) + 3 * __shfl_down_sync(all, v, 3, 16) + 5 * __shfl_up_sync(all, v, 2, 8);
  sum += 7 * __shfl_sync(all, v, 9) + 11 * __shfl_sync(all, v, v, 8) + 13 * __shfl_down_sync(all, v, v & 7);
  if (threadIdx.x & 1) sum += 17 * __shfl_xor_sync(0xaaaaaaaa, v, 2);
  y[threadIdx.x] = sum;
}"""


def test_shuffles_by_a_number_and_by_a_register():
    """All four modes; the lane is in the code, or each lane has its own."""
    x = np.random.default_rng(3).integers(0, 1 << 20, 96).astype(np.int32)
    kernel, y = Kernel(SHUFFLES, "shuffles"), np.zeros(96, np.int32)
    found = interpret(kernel, 1, 96, (x, y))
    assert sum(one.opcode == "SHFL" for one in found.code) >= 7
    kernel.run(1, 96, (x, y), check=False)
    assert found.output(1).tolist() == y.tolist()


MATCHED = """extern "C" __global__ void matched(const int* values, unsigned* y) {
  const int value = values[threadIdx.x];
  if (threadIdx.x % 32 < 24) y[threadIdx.x] = __match_any_sync(0xffffff, value);
}"""


@pytest.mark.parametrize("different", [1, 3, 24])
def test_a_match_takes_a_pass_per_value_of_the_lanes_that_execute_it(different):
    values = (np.arange(64) % 32 % different).astype(np.int32)
    found = interpret(Kernel(MATCHED, "matched"), 1, 64, (values, np.zeros(64, np.uint32)))
    assert found.output(1)[0] == sum(1 << lane for lane in range(0, 24, different))
    for stream in found.streams:
        matches = stream.accesses.space == Space.VALUES
        assert stream.accesses.wavefronts[matches].tolist() == [different]


def test_a_loop_without_end_is_given_up_the_sooner_the_fewer_warps_there_are(monkeypatch):
    source = 'extern "C" __global__ void on(volatile int* x) {\n  while (true) x[0] = x[0] + 1;\n}'
    kernel, budgets = Kernel(source, "on"), []
    module = import_module("softlab.sass.interpret")
    monkeypatch.setattr(module, "BUDGET", 8_000)
    monkeypatch.setattr(module, "_OF_WARP", 3_000)
    for threads in (32, 64, 128):
        with pytest.raises(KernelFault, match="have not ended") as caught:
            kernel.estimate(1, threads, (np.zeros(1, np.int32),))
        assert (caught.value.kind, caught.value.line) == ("infinite-loop", 2)
        budgets.append(int(str(caught.value).split(" instructions")[0].split()[-1]))
    assert budgets == [3_000, 6_000, 8_000]


#: Parameters that the assembler aligns in the constant bank, which begins at no multiple of 32 itself; the address of
#: one; and how a kernel is given a struct.
ALIGNED = """struct alignas(ALIGN) Wide { int first; char rest[40]; int last; };
__device__ __noinline__ int of(const Wide* wide, int place) { return wide->rest[place] + wide->last; }
extern "C" __global__ void aligned(int* y, int scale, const __grid_constant__ Wide wide, int added) {
  y[threadIdx.x] = scale * of(&wide, threadIdx.x) + wide.first + added;
}"""


@pytest.mark.parametrize("align", each(2, [4, 32, 64, 128]))
def test_aligned_parameters_are_where_the_machine_code_reads_them(align):
    kernel = Kernel(ALIGNED.replace("ALIGN", str(align)), "aligned")
    fields = np.dtype([("first", "i4"), ("rest", "i1", 40), ("last", "i4")])
    wide = np.zeros(1, fields)
    wide["first"], wide["rest"], wide["last"] = 5, np.arange(40), 700
    raw = wide.tobytes().ljust(-(-wide.nbytes // align) * align, b"\0")
    found = interpret(kernel, 1, 32, (np.zeros(32, np.int32), 3, np.void(raw), 11))
    assert found.output(0).tolist() == [3 * (lane + 700) + 5 + 11 for lane in range(32)]
