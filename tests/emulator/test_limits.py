"""What a launch may take: memory, output, lines; each limit is kept, and one step more is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from softlab.emulator.machine import clocks, launch, output, prepare
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.memory import heap, mbarriers
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.source_locations import SourceLocations
from softlab.errors import Error, KernelFault
from softlab.kernel import Kernel

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"
X = (np.zeros(1, np.uint32),)


def program(before: str = "", uses: str = "") -> EmulatedProgram:
    """A kernel that begins with these instructions."""
    text = f"{HEADER}{before}\n.visible .entry k(.param .u64 x)\n{{ .reg .u64 %p; .reg .u32 %r; {uses} ret; }}\n"
    return EmulatedProgram(parse(text), "k")


def prepared(program: EmulatedProgram, grid: int = 1, shared: int = 0, *, cooperative: bool = False) -> launch.Launch:
    return prepare.prepare(program, (grid, 1, 1), (1, 1, 1), X, shared, cooperative=cooperative)[0]


def test_shared_memory_per_block() -> None:
    most = 227 * 1024
    assert prepared(program(), 1, most).shared_bytes == most
    with pytest.raises(Error, match="232449 bytes of shared memory per block; the emulator gives at most 232448"):
        prepared(program(), 1, most + 1)


def test_what_a_launch_is_where_nothing_is_asked() -> None:
    """Nothing is checked, all goes as in a first launch of one grid on 132 SMs, and the file is "kernel.cu"."""
    given = prepare.prepare(program(), (3, 1, 1), (64, 1, 1), X)[0]
    assert not given.check
    assert not given.cooperative
    assert (given.sm_count, given.file, given.shared_bytes, given.depth) == (132, "kernel.cu", 0, 0)
    assert (given.warp_order, given.random_order, given.observers) == ((), None, ())
    assert given.budget == launch.INSTRUCTION_BUDGET


def test_local_memory_per_thread() -> None:
    own = ".local .align 16 .b8 own[{}]; mov.u64 %p, own;"
    assert prepared(program(uses=own.format(512 * 1024))).program.image.local_bytes == 512 * 1024
    with pytest.raises(Error, match="524304 bytes of local memory per thread; the emulator gives at most 524288"):
        prepared(program(uses=own.format(512 * 1024 + 16)))


def test_module_variables() -> None:
    names = [(f".global .align 16 .b8 some[{size}]; .const .align 4 .b8 more[4];", size) for size in (2**20, 2**30)]
    uses = "mov.u64 %p, some; mov.u64 %p, more;"
    assert prepared(program(names[0][0], uses)).blocks == 1
    with pytest.raises(Error, match=r"1073741828 bytes of global and constant variables; .* at most 1073741824"):
        prepared(program(names[1][0], uses))


def test_all_blocks_of_a_cooperative_launch() -> None:
    most = 2**31 // (128 * 1024)
    assert prepared(program(), most, 128 * 1024, cooperative=True).batch == most
    message = r"all 16385 blocks at once, and they take 2147614720 bytes .*\(131072 each\); .* at most 2147483648"
    with pytest.raises(Error, match=message):
        prepared(program(), most + 1, 128 * 1024, cooperative=True)
    assert prepared(program(), most + 1, 128 * 1024).batch == 256, "others have some blocks at a time"


@pytest.mark.parametrize(
    ("shared", "batch"), [(48 * 1024, 512), (65 * 1024, 504), (128 * 1024, 256), (200 * 1024, 163), (227 * 1024, 144)]
)
def test_blocks_that_run_at_a_time_have_32_mib_together(shared: int, batch: int) -> None:
    assert prepared(program(), 5000, shared).batch == batch
    assert prepared(program(), 100, shared).batch == 100


def test_pieces_of_the_heap() -> None:
    """8 MiB, of which each piece takes 16 bytes more."""
    assert heap.HEAP_BYTES == 2**23
    source = """extern "C" __global__ void k(const unsigned long long* sizes, int* got) {
      for (int i = 0; i < 6; ++i) { void* p = malloc(sizes[i]); got[i] = p != nullptr; if (i != 3) free(p); } }"""
    most = 8 * 1024 * 1024 - 16
    sizes, got = np.array([most, most + 1, most, 1000, most, most - 1024], np.uint64), np.zeros(6, np.int32)
    Kernel(source, "k").run(1, 1, (sizes, got))
    assert got.tolist() == [1, 0, 1, 1, 0, 1]


def test_bytes_that_a_launch_prints() -> None:
    written: list[str] = []
    buffer = output.PrintBuffer(write=written.append)
    for text in ("a" * (2**20 - 3), "é", "b", "c", "d"):
        buffer(text)
    assert written[:3] == ["a" * (2**20 - 3), "é", "b"]
    assert written[3:] == ["\n[softlab: the launch prints more than 1048576 bytes; the rest is dropped]\n"]


@pytest.mark.parametrize("turns", [10**9, 10**13, 10**17])
def test_clocks_that_are_waited_for(turns: int) -> None:
    """Each time that lanes do nothing but look at a clock, it goes further on."""
    source = f"""extern "C" __global__ void k(int* x) {{
      long long start = clock64(); while (clock64() - start < {turns}ll) {{}} x[0] = 5; }}"""
    x = np.zeros(1, np.int32)
    Kernel(source, "k").run(1, 1, (x,), budget=20_000)
    assert x[0] == 5
    assert all(later == 3 * one for one, later in pairwise(clocks.WAITS))


@pytest.mark.parametrize(("count", "taken"), [(0, False), (1, True), (2**20 - 1, True), (2**20, False)])
def test_arrivals_at_an_mbarrier(count: int, taken: bool) -> None:
    assert mbarriers.MOST == 1048575
    source = f"""extern "C" __global__ void k(int* x) {{
      __shared__ unsigned long long bar;
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"({count})
                   : "memory");
      x[0] = 5; }}"""
    x = np.zeros(1, np.int32)
    if taken:
        Kernel(source, "k").run(1, 1, (x,))
        assert x[0] == 5
    else:
        with pytest.raises(KernelFault, match="for a count that is not 1 to 1048575"):
            Kernel(source, "k").run(1, 1, (x,))


@pytest.mark.parametrize(("line", "kept"), [(7, 7), (2**31 - 1, 2**31 - 1), (2**31, 2**31 - 1), (2**32 - 1, 2**31 - 1)])
def test_lines_are_numbers_of_31_bits(line: int, kept: int) -> None:
    text = f'{HEADER}.file 1 "a.cu"\n.visible .entry k()\n{{ .loc 1 {line} 0\n ret; }}\n'
    (instruction,) = parse(text).functions["k"].instructions or ()
    assert instruction.frames[0].line == kept
    assert SourceLocations(text, None).frames == ()
