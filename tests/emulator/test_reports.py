"""What the faults of a batch say: who is named, addresses as the source has them, what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.host import BadLanes
from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.machine.faults import Described, Geometry
from softlab.emulator.machine.reports import FaultReports
from softlab.emulator.machine.schedule import Shortage
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.ptx.linker import RANK_SHIFT
from softlab.emulator.ptx.syntax import Frame, Instruction
from softlab.emulator.sites import Site
from softlab.errors import KernelFault

ROWS, THREADS, FIRST = 4, 64, 8
FILE = "k.cu"
STEP = Instruction("st", ("b32",), (), frames=(Frame(FILE, 7),), text="st.b32 [%r1], %r2;")
OTHER = Instruction("bar", ("sync",), (), frames=(Frame(FILE, 9),), text="bar.sync 1;")
SHARED_BYTES, LOCAL_BYTES, GRID = 100, 40, (20, 1, 1)


class Sink:
    """Keeps what is reported."""

    def __init__(self, collects: bool) -> None:
        self.collects, self.kept = collects, []

    def report(self, fault: KernelFault, *, severity: str = "error", count: int = 1) -> None:
        self.kept.append((fault, severity, count))


class Names:
    """Knows what a source calls things: what it is told to know."""

    def __init__(self, described: Described | None = None) -> None:
        self.known, self.asked = described, []

    def described(self, site: Site, address: int, parameters: bytes, shared_bytes: int) -> Described | None:
        self.asked.append((address, shared_bytes))
        return self.known

    def argument_element(self, number: int, offset: int) -> str | None:
        return f"x{number}[{offset / 4:g}]"

    def trap_hint(self, instruction: Instruction) -> str:
        return ": as the source says"


def reports(*, collects: bool = False, names: Any = None, cluster: tuple[int, int, int] = (1, 1, 1),
            cooperative: bool = False, blocks: int = ROWS) -> FaultReports:  # fmt: skip
    """Of blocks 8 to 11 of a grid of 20. Argument 1 points to 64 bytes of memory."""
    memory = Allocations()
    base = memory.add(np.zeros(64, np.uint8), name="argument 1", index=1, itemsize=4)
    image = SimpleNamespace(params=[(SimpleNamespace(size=4), 0), (SimpleNamespace(size=8), 8)],
                            local_bytes=LOCAL_BYTES)  # fmt: skip
    launch: Any = SimpleNamespace(
        file=FILE, sink=Sink(collects), names=names, memory=memory, shared_bytes=SHARED_BYTES, blocks=GRID[0],
        parameters=bytes(8) + base.to_bytes(8, "little"), program=SimpleNamespace(image=image),
        cooperative=cooperative, budget=12345,
    )  # fmt: skip
    return FaultReports(launch, blocks, Geometry(GRID, (16, 4, 1), FIRST, cluster))


def base_of(made: FaultReports) -> int:
    return made._launch.memory.all[0].base


def lanes(*threads: tuple[int, int]) -> Lanes:
    mask = np.zeros((ROWS, THREADS), bool)
    for row, column in threads:
        mask[row, column] = True
    return lanes_of(mask)


def site(space: str, *, store: bool = True, kind: str = "u4", vector: int = 0) -> Site:
    return Site(3, STEP, space, np.dtype(kind), store=store, vector_bytes=vector)


SOME = lanes((1, 5), (2, 5), (2, 20))


def test_a_fault_is_that_of_the_first_lane_where_it_holds() -> None:
    fault = reports().fault("race", "the thread races", STEP, SOME, np.array([False, True, True]), 8, 1)
    assert (fault.kind, fault.line, fault.thread, fault.block) == ("race", 7, (5, 0, 0), (10, 0, 0))
    assert (fault.address, fault.argument) == (8, 1)
    assert str(fault).startswith("race: the thread races\n  at ")
    fault = reports().fault("race", "the thread races", STEP, SOME, np.array([False, False, True]))
    assert fault.thread == (4, 1, 0), "20 is (4, 1) in rows of 16"


@pytest.mark.parametrize(
    ("kind", "what"),
    [("wgmma-misuse", "the other instruction"), ("uninitialized-local", "the use"), ("race", "the other barrier")],
)
def test_a_second_place_is_named(kind: str, what: str) -> None:
    fault = reports().fault(kind, "the thread is wrong", STEP, SOME, np.bool_(True), other=(OTHER, lanes((3, 33))))
    assert (fault.line, fault.other_line) == (7, 9)
    assert (fault.other_thread, fault.other_block) == ((1, 2, 0), (11, 0, 0))
    assert f"\n  {what} is at " in str(fault)


def test_what_is_said_of_a_trap() -> None:
    """The source's own words; of cooperative groups' barrier, that the launch is not cooperative."""
    in_groups = Instruction("trap", (), (), frames=(Frame("cooperative_groups/details/sync.h", 3), Frame(FILE, 7)))
    plain = Instruction("trap", (), (), frames=(Frame(FILE, 7),))

    def said(made: FaultReports, kind: str, instruction: Instruction) -> str:
        return str(made.fault(kind, "the thread stops", instruction, SOME, np.bool_(True))).partition("\n")[0]

    named = Names()
    assert said(reports(names=named), "trap", plain) == "trap: the thread stops: as the source says"
    assert said(reports(names=named), "assert", plain) == "assert: the thread stops"
    assert said(reports(), "trap", plain) == "trap: the thread stops"
    assert "grid.sync()) does not work in a launch that is not cooperative" in said(reports(), "trap", in_groups)
    assert said(reports(cooperative=True), "trap", in_groups) == "trap: the thread stops"
    assert said(reports(names=named), "race", in_groups) == "race: the thread stops"


def words(made: FaultReports, kind: str, where: Site, address: Any, bad: Any = True) -> KernelFault:
    found = made.memory_fault(kind, SOME, where, bad, address)
    assert isinstance(found, KernelFault)
    return found


@pytest.mark.parametrize(("store", "verb"), [(True, "writes"), (False, "reads")])
def test_an_access_beyond_an_array(store: bool, verb: str) -> None:
    made = reports(names=Names())
    address = np.array([0, base_of(made) + 68, 0], np.uint64)
    fault = words(made, "global-out-of-bounds", site("global", store=store), address, np.array([False, True, False]))
    assert f"the thread {verb} 4 bytes at byte 68 of argument 1, which has 64 bytes. Test the index" in str(fault)
    assert (fault.address, fault.argument, fault.thread, fault.block) == (68, 1, (5, 0, 0), (10, 0, 0))
    assert fault.symbol == "x1[17]"


def test_a_name_of_an_element_needs_a_pointer_to_its_array() -> None:
    made = reports(names=Names())
    launch: Any = made._launch
    where, address = site("global"), np.uint64(base_of(made) + 80)
    for pointer, symbol in ((0, None), (base_of(made) + 64, "x1[4]"), (base_of(made) + 65, None),
                            (base_of(made) - 1, None), (base_of(made) + 8, "x1[18]")):  # fmt: skip
        launch.parameters = bytes(8) + pointer.to_bytes(8, "little")
        assert words(made, "global-out-of-bounds", where, address).symbol == symbol
    launch.program.image.params[1] = SimpleNamespace(size=16), 8
    assert words(made, "global-out-of-bounds", where, address).symbol is None, "a structure"
    nameless = reports()
    assert words(nameless, "global-out-of-bounds", where, np.uint64(base_of(nameless) + 80)).symbol is None


def test_an_array_that_is_two_arguments() -> None:
    made = reports()
    (allocation,) = made._launch.memory.all
    allocation.views = [SimpleNamespace(index=i, offset=o, nbytes=n) for i, o, n in
                        ((1, 0, 64), (4, 0, 64), (3, 0, 64), (5, 4, 60), (6, 0, 32))]  # fmt: skip
    fault = words(made, "global-out-of-bounds", site("global"), np.uint64(base_of(made) + 64))
    said = "at byte 64 of argument 1, which is also argument 3 and is also argument 4 and has 64 bytes"
    assert said in str(fault)


def test_an_address_where_nothing_is() -> None:
    made = reports()
    made._launch.memory.all.clear()
    made._launch.memory.bases.clear()
    fault = words(made, "global-out-of-bounds", site("global"), np.uint64(0x1234))
    assert "at address 0x1234, where no array is" in str(fault)
    assert (fault.address, fault.argument) == (0x1234, None)
    assert made.located((5 << RANK_SHIFT) + 77) == (77, None), "an offset in shared memory"


def test_addresses_from_the_start_of_their_array() -> None:
    made = reports()
    base = base_of(made)
    assert [made.located(base + step) for step in (0, 63, 70)] == [(0, 1), (63, 1), (70, 1)]


@pytest.mark.parametrize(
    ("space", "address", "shown", "said"),
    [
        ("shared", 100, 100, "at byte 100 of the block's shared memory, which has 100 bytes. Check the index and the"),
        ("shared", (1 << 32) - 4, -4, "at byte -4 of the block's shared memory"),
        ("shared", 1 << 31, -(1 << 31), "at byte -2147483648 of the block's shared memory"),
        ("shared", (1 << 31) - 4, (1 << 31) - 4, "at byte 2147483644 of the block's shared memory"),
        ("cluster", (1 << 64) - 8, -8, "at byte -8 of the block's shared memory"),
        ("local", 40, 40, "at byte 40 of its local memory, which has 40 bytes. Check the index against the size"),
        ("local", (1 << 64) - 4, -4, "at byte -4 of its local memory"),
        ("local", 1 << 63, -(1 << 63), f"at byte {-(1 << 63)} of its local memory"),
        ("local", (1 << 63) - 1, (1 << 63) - 1, f"at byte {(1 << 63) - 1} of its local memory"),
    ],
)
def test_addresses_in_shared_and_local_memory(space: str, address: int, shown: int, said: str) -> None:
    """A negative index gives a large number; it is shown as what it was."""
    kind = "local-out-of-bounds" if space == "local" else "shared-out-of-bounds"
    fault = words(reports(), kind, site(space), np.uint64(address))
    assert f"the thread writes 4 bytes {said}" in str(fault)
    assert (fault.address, fault.argument, fault.symbol) == (shown, None, None)


def test_a_misaligned_address() -> None:
    made = reports(names=Names(Described("nothing")))
    where = site("global", kind="u8", vector=16)
    fault = words(made, "misaligned", where, np.uint64(base_of(made) + 4))
    assert "8 bytes at byte 4 of argument 1, which has 64 bytes, which is no multiple of 16. A vector" in str(fault)
    assert fault.symbol == "x1[1]"


@pytest.mark.parametrize(("hint", "said"), [(None, ". Test the index"), (". Do this", ". Do this")])
@pytest.mark.parametrize(("own", "argument"), [(None, 1), (3, 3)])
def test_the_source_names_an_address(hint: str | None, said: str, own: int | None, argument: int) -> None:
    names = Names(Described("row 3 of s", "s[3]", own, hint))
    made = reports(names=names)
    fault = words(made, "global-out-of-bounds", site("global"), np.uint64(base_of(made) + 68))
    assert f"the thread writes row 3 of s{said}" in str(fault)
    assert (fault.symbol, fault.argument, fault.address) == ("s[3]", argument, 68)
    assert names.asked == [(base_of(made) + 68, SHARED_BYTES)]


@pytest.mark.parametrize(("rank", "size", "mapped"), [(1, 2, True), (2, 2, True), (3, 2, False), (0, 2, False),
                                                      (1, 1, False)])  # fmt: skip
def test_addresses_of_other_blocks_of_the_cluster(rank: int, size: int, mapped: bool) -> None:
    """The source's names are of the own block's memory."""
    names = Names(Described("s[1]"))
    made = reports(names=names, cluster=(size, 1, 1))
    fault = words(made, "shared-out-of-bounds", site("shared"), np.uint64((rank << RANK_SHIFT) + 8))
    said = f"4 bytes at the address of block {rank - 1} of the cluster, which only shared::cluster and generic"
    assert (said in str(fault)) == mapped
    assert bool(names.asked) == (not mapped)


def test_a_run_that_collects_keeps_the_first_fault_of_each_access() -> None:
    """Later ones count for it; so do all lanes that are at fault."""
    made = reports(collects=True)
    where, other = site("global"), site("global")
    address = np.uint64(base_of(made) + 68)
    for bad in (np.array([True, False, True]), np.bool_(True)):
        found = made.memory_fault("global-out-of-bounds", SOME, where, bad, address)
        assert isinstance(found, BadLanes)
        assert np.array_equal(found.bad, bad)
    made.memory_fault("misaligned", SOME, where, np.bool_(True), address)
    made.memory_fault("global-out-of-bounds", SOME, other, np.bool_(True), address)
    kept = made._launch.sink.kept
    assert [count for _, _, count in kept] == [2, 3, 3, 3]
    assert kept[0][0] is kept[1][0]
    assert len({id(fault) for fault, _, _ in kept}) == 3


def test_a_report_goes_to_the_sink() -> None:
    made = reports()
    fault = made.not_aligned(OTHER, SOME, np.array([False, True, False]))
    made.report(fault, severity="warning", count=5)
    assert made._launch.sink.kept == [(fault, "warning", 5)]
    assert ".aligned barrier without the other threads of its warp" in str(fault)
    assert (fault.kind, fault.block, fault.thread) == ("barrier-divergence", (10, 0, 0), (5, 0, 0))


def test_loops_that_do_not_end() -> None:
    """Where blocks of the grid have not begun, that is what to think of."""
    made, all_run = reports(), reports(blocks=GRID[0] - FIRST)
    not_begun = "of the 20 blocks of the grid 4 run at a time, in order, and 8 have not begun"
    endless, all_begun = made.infinite_loop(SOME, STEP, "It waits. "), all_run.infinite_loop(SOME, STEP)
    assert not_begun in str(endless)
    assert "nothing else can change it. It waits. If it waits for another block" in str(endless)
    assert "Check what should end the loop" not in str(endless)
    assert "nothing else can change it. Check what should end the loop\n" in str(all_begun)
    for fault, ended in (
        (made.over_budget(SOME, STEP), all_run.over_budget(SOME, STEP)),
        (made.unchanged_for_long(SOME, STEP, 12345), all_run.unchanged_for_long(SOME, STEP, 12345)),
    ):
        assert fault.kind == "infinite-loop"
        assert "the kernel has issued 12345 instructions" in str(fault)
        assert f"raise budget=. If it waits for another block: {not_begun}" in str(fault)
        assert "raise budget=\n" in str(ended)


def test_barriers_that_threads_never_reach() -> None:
    made = reports()
    assert "other threads of its block never reach" in str(made.deadlock(OTHER, SOME))
    of_cluster = Instruction("barrier", ("cluster", "wait"), (), frames=(Frame(FILE, 9),))
    assert "other threads of its cluster never reach" in str(made.deadlock(of_cluster, SOME))
    short = str(made.deadlock(OTHER, SOME, Shortage(3, 96, 64)))
    assert "waits for ever at barrier 3, which is for 96 threads: only 64 have come, counted in whole warps" in short
    assert "never reach" not in short
    assert made.missing_lanes(STEP, SOME).kind == made.other_mask(STEP, SOME).kind == "inactive-lane"
    assert "that its mask names and that wait elsewhere" in str(made.missing_lanes(STEP, SOME))
    assert "came to this operation with another mask, and then ended" in str(made.other_mask(STEP, SOME))
    fault = made.barrier_fault("waits twice", OTHER, SOME, np.array([False, False, True]))
    assert "the thread waits twice. Each thread arrives once, then waits once" in str(fault)
    assert fault.thread == (4, 1, 0)


def test_accesses_to_other_blocks_of_a_cluster() -> None:
    """Clusters of two: rows 0 and 1, 2 and 3. A rank is counted from the first block of the thread's cluster."""
    made = reports(cluster=(2, 1, 1))
    bad, rows, offset = np.array([False, False, True]), np.array([0, 0, 5]), np.array([0, 4, 24])
    fault = made.cluster_fault("no-block", SOME, site("cluster"), bad, offset, rows)
    said = "the thread writes shared memory of the block of rank 3 of its cluster, which has 2 blocks. Map"
    assert said in str(fault)
    assert (fault.kind, fault.address, fault.thread) == ("shared-out-of-bounds", 24, (4, 1, 0))
    rows = np.array([0, 0, 3])
    fault = made.cluster_fault("ended", SOME, site("cluster", store=False), bad, offset, rows)
    assert "the thread reads shared memory of block (11, 0, 0), which has ended. Let the blocks" in str(fault)
    assert fault.block == (10, 0, 0)
