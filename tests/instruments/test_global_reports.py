"""What a report of a race in global memory says: all of its text and fields, for each kind and each pair of threads."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.memory.allocations import Allocation, ArgumentView
from softlab.emulator.ptx.syntax import Frame, Instruction
from softlab.emulator.sites import Site
from softlab.findings import FaultSink, Finding
from softlab.instruments.events import Events
from softlab.instruments.global_access import GlobalAccess
from softlab.instruments.global_reports import GlobalReports, _advice
from softlab.instruments.global_shadow import IN_BLOCK, LANE_MASK, STRONG, TIME_SHIFT, Clash, Stamps
from softlab.instruments.source_names import Parameter

#: Three blocks of three warps in a grid of 2 x 3; the batch before was the first half.
GEOMETRY, BEFORE = Geometry((2, 3, 1), (32, 3, 1), first=3), Geometry((2, 3, 1), (32, 3, 1))
ROWS, THREADS = 3, 96
FILE = "kernel.cu"


def instruction(text: str, line: int) -> Instruction:
    opcode, *modifiers = text.split(".")
    return Instruction(opcode, tuple(modifiers), (), frames=(Frame(FILE, line),), text=text)


def site(index: int, text: str, line: int, *, dtype: str = "u4", store: bool = False, operation: str = "") -> Site:
    return Site(index, instruction(text, line), "global", np.dtype(dtype), store=store, operation=operation)


LOAD, STORE = site(0, "ld.global.u32", 7), site(1, "st.global.u32", 9, store=True)
ATOMIC = site(2, "red.global.add.u32", 11, store=True, operation="add")


def clash(time: int, *lanes: int) -> Clash:
    """The accesses at the first positions clash with what these lanes did at a time."""
    return Clash(np.arange(len(lanes)), np.array(lanes) | time << TIME_SHIFT)


class Races:
    """The reports of one run, with what happened before in it."""

    def __init__(self, lead: int = 0, shift: int = 2, index: int | None = 1, *, collects: bool = True) -> None:
        self.sink = FaultSink(collects=collects)
        self.events = Events()
        self.exchanged = np.zeros((ROWS, THREADS // WARP), np.int64)
        self.reports = GlobalReports(self.sink, [Parameter("n", None), Parameter("x", 4), Parameter("y", 2)],
                                     self.events)  # fmt: skip
        self.memory = np.zeros(128, np.uint8)
        data = self.memory[lead:]
        self.array = Allocation(4096 + lead, data, name="variable table", index=index, itemsize=4, writeable=True)
        self.array.views.append(ArgumentView(1, 0, 40, 4))
        self.shift = shift
        self.events.begin_batch(BEFORE)
        self.events.access(STORE)
        self.events.begin_batch(GEOMETRY)
        batch = SimpleNamespace(geometry=GEOMETRY, threads=THREADS, file=FILE)
        self.reports.begin_batch(batch, shift, self.exchanged)

    def access(self, one: Site, cells: list[int], lanes: list[int], values: list[int] | None = None,
               flags: int = 0) -> GlobalAccess:  # fmt: skip
        """An access of each lane to one cell."""
        mask = np.zeros(ROWS * THREADS, bool)
        mask[lanes] = True
        stamps = Stamps(np.array(cells), np.array(lanes), self.events.now, flags)
        address = self.array.origin + (np.array(cells) << self.shift)
        stored = () if values is None else (np.array(values, one.dtype),)
        return GlobalAccess(self.array, one, lanes_of(mask.reshape(ROWS, THREADS)), address, stamps, stored, None, 1)

    def race(self, one: Site, what: str, lane: int, other: int, time: int = 1, cell: int = 3) -> Finding:
        """The report of lane's access to a cell that ``other`` accessed at that time."""
        self.reports.race(self.access(one, [cell], [lane]), clash(time, other), what)
        (found,) = self.sink.findings
        return found


MINE, WARP_MATE, BLOCK_MATE, STRANGER = 96 + 33, 96 + 63, 96 + 64, 33
WHOSE = {MINE: "it", WARP_MATE: "another thread of its warp", BLOCK_MATE: "another thread of its block",
         STRANGER: "a thread of another block"}  # fmt: skip
EXCHANGED = "The shuffle, vote, match or reduction of the warp between the two is no barrier of memory"


@pytest.mark.parametrize("other", WHOSE)
@pytest.mark.parametrize("what", ["wrote", "read"])
@pytest.mark.parametrize("exchanged", [False, True])
def test_a_race_of_two_threads(other: int, what: str, exchanged: bool) -> None:
    races = Races()
    time = races.events.access(STORE if what == "wrote" else LOAD)
    races.exchanged[1, 1] = time + exchanged
    races.exchanged[0] = races.exchanged[1, [0, 2]] = time + 5  # nobody asks of these warps
    found = races.race(LOAD if what == "wrote" else STORE, what, MINE, other, time)
    verb = "reads" if what == "wrote" else "writes"
    begin = f"the thread {verb} x[3], which {WHOSE[other]} {what}, with nothing that orders the two. "
    advice = {
        MINE: "Blocks run in any order. Use an atomic, give each block elements of its own, publish by "
        "__threadfence() and a flag, or split the kernel in two",
        WARP_MATE: "Put __syncthreads() between the two (__syncwarp() where no other warp comes to these elements), or "
        "give each thread an element of its own",
        BLOCK_MATE: "Put __syncthreads() between the two, or give each thread an element of its own",
    }
    advice[STRANGER] = advice[MINE]
    more = f". {EXCHANGED}" if other == WARP_MATE and what == "wrote" and exchanged else ""
    one, two = (LOAD, STORE) if what == "wrote" else (STORE, LOAD)
    thread, block = (
        (other % THREADS % 32, other % THREADS // 32, 0),
        (other // THREADS + 1 & 1, 2 if other > 95 else 1, 0),
    )
    assert found.message == (
        f"race: {begin}{advice[other]}{more}\n"
        f"  at line {one.instruction.frames[0].line} of kernel.cu, thread (1, 1, 0), block (0, 2, 0), "
        f"PTX `{one.instruction.text}`\n"
        f"  the other access is at line {two.instruction.frames[0].line} of kernel.cu, thread {thread}, "
        f"block {block}, PTX `{two.instruction.text}`"
    )
    assert (found.severity, found.count, found.address, found.symbol, found.argument) == ("error", 1, 12, "x[3]", 1)
    assert (found.other_thread, found.other_block) == (thread, block)


def test_the_same_lane_of_another_batch_is_another_thread() -> None:
    """Row 1 of the batch before is the block (1, 0, 0), whose threads are none of this block's."""
    found = Races().race(LOAD, "wrote", MINE, MINE, 1)
    assert "which a thread of another block wrote" in found.message
    assert (found.other_block, found.other_thread, found.block) == ((1, 0, 0), (1, 1, 0), (0, 2, 0))


@pytest.mark.parametrize(("what", "kind", "text"), [
    ("read-only", "restrict-alias", "the thread reads x[3] as read-only data (__ldg(), or __restrict__), and another "
     "thread of its warp wrote it in this launch: the cache of such loads may keep the old value. Read what the kernel "
     "writes by an ordinary load, through a pointer without __restrict__"),
    ("promised", "restrict-alias", "the thread writes x[3], which another thread of its warp read as read-only data "
     "(__ldg(), or __restrict__) in this launch: the compiler may read it once where the source reads it twice, and "
     "move the load past a barrier. Pass different arrays, or leave __restrict__ and __ldg() out"),
    *[(what, "race", f"the thread {{verb}} x[3], which an asynchronous copy may still be {what}. Wait for the copy "
       "first: cp.async.wait_group, the mbarrier that it is bound to, or of a copy to global memory "
       "cp.async.bulk.wait_group, without .read where a thread needs what the copy wrote")
      for what in ("reading", "writing", "adding to")],
])  # fmt: skip
@pytest.mark.parametrize("one", [LOAD, STORE], ids=["load", "store"])
def test_other_kinds(what: str, kind: str, text: str, one: Site) -> None:
    races = Races()
    found = races.race(one, what, MINE, WARP_MATE, races.events.access(STORE))
    said, _, _ = found.message.partition("\n")
    assert said == f"{kind}: {text.format(verb='writes' if one.store else 'reads')}"
    assert found.kind == kind


@pytest.mark.parametrize("lead", [0, 1, 4, 6])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_the_address_is_counted_from_the_array(lead: int, shift: int) -> None:
    for cell in (12, 13, 30):
        races = Races(lead, shift)
        found = races.race(LOAD, "wrote", MINE, STRANGER, races.events.access(STORE), cell)
        offset = cell * 2**shift - lead
        name = f"x[{offset // 4}]" if offset < 40 else f"variable table[{offset // 4}]"
        assert (found.address, found.symbol) == (offset, name)


def test_the_names_of_an_address() -> None:
    races = Races()
    races.array.views += [ArgumentView(2, 8, 9, 8), ArgumentView(3, 12, 4, 1), ArgumentView(4, 10, 30, 4),
                          ArgumentView(1, 0, 13, 4)]  # fmt: skip
    access = races.access(LOAD, [0], [0])
    names = {offset: races.reports._symbols(races.array, access.site, offset) for offset in (7, 8, 12, 15, 16, 17, 40)}
    assert names == {7: ["x[1]"], 8: ["x[2]", "y[0]"], 12: ["x[3]", "y[2]", "argument 3[0]", "argument 4[0]"],
                     15: ["x[3]", "y[3]", "argument 3[3]", "argument 4[1]"], 16: ["x[4]", "y[4]", "argument 4[1]"],
                     17: ["x[4]", "argument 4[1]"], 40: ["variable table[10]"]}  # fmt: skip
    time = races.events.access(STORE)
    found = races.race(LOAD, "wrote", MINE, STRANGER, time)
    assert "reads x[3] (the same memory as y[2] and argument 3[0] and argument 4[0]), which" in found.message


@pytest.mark.parametrize(("nbytes", "dtype", "offset", "name"),
                         [(4, "u4", 0, "table"), (4, "u2", 2, "table[1]"), (64, "u4", 12, "table[3]"),
                          (5, "u4", 4, "table[1]"), (64, "u1", 12, "table[12]")])  # fmt: skip
def test_a_variable_has_elements_where_it_is_longer_than_the_access(
    nbytes: int, dtype: str, offset: int, name: str
) -> None:
    variable = Allocation(4096, np.zeros(nbytes, np.uint8), name="variable table", index=None, itemsize=None,
                          writeable=True)  # fmt: skip
    one = site(0, "ld.global", 3, dtype=dtype)
    assert Races().reports._symbols(variable, one, offset) == [name]


def test_the_same_value_is_a_warning_of_a_run_that_collects() -> None:
    for collects in (False, True):
        races = Races(collects=collects)
        races.memory[16:24].view(np.uint32)[:] = 5, 6
        time = races.events.access(STORE)
        access = races.access(STORE, [4, 5, 4], [MINE, MINE + 1, BLOCK_MATE], [5, 6, 5])
        races.reports.race(access, Clash(np.array([0, 1, 2]), np.array([STRANGER] * 3) | time << TIME_SHIFT), "wrote")
        found = races.sink.findings
        assert len(found) == collects
        if collects:
            assert (found[0].severity, found[0].count, found[0].symbol) == ("warning", 3, "x[4]")
            assert found[0].message.startswith(
                "race: the thread writes x[4], to which a thread of another block writes the same value, with nothing "
                "that orders the two\n  at line 9"
            )


def test_values_tell_errors_from_warnings_and_lines_tell_findings() -> None:
    races = Races()
    races.memory[:40].view(np.uint32)[:] = range(10)
    first, second = races.events.access(STORE), races.events.access(ATOMIC)
    cells, values = [1, 2, 3, 4, 5, 6, 7], [1, 9, 3, 9, 5, 9, 9]
    times = [first, first, second, second, first, first, second]
    access = races.access(STORE, cells, [MINE + n for n in range(7)], values)
    races.reports.race(access, Clash(np.arange(7), np.array(times) << TIME_SHIFT | BLOCK_MATE), "wrote")
    assert [(f.severity, f.other_line, f.count, f.symbol) for f in races.sink.findings] == [
        ("warning", 9, 2, "x[1]"), ("warning", 11, 1, "x[3]"), ("error", 9, 2, "x[2]"), ("error", 11, 2, "x[4]")
    ]  # fmt: skip
    # What was there counts for a write behind a write alone.
    races = Races()
    time = races.events.access(LOAD)
    access = races.access(STORE, [1], [MINE], [0])
    races.reports.race(access, clash(time, BLOCK_MATE), "read")
    assert [f.severity for f in races.sink.findings] == ["error"]
    # Nor where nobody knows what is stored.
    races = Races()
    access = races.access(STORE, [1], [MINE])
    races.reports.race(access, clash(1, BLOCK_MATE), "wrote")
    assert [f.severity for f in races.sink.findings] == ["error"]


def test_what_a_thread_alone_did_is_a_warning() -> None:
    races = Races()
    time = races.events.access(LOAD)
    access = races.access(STORE, [3], [MINE])
    races.reports.race(access, Clash(np.array([], int), np.array([], int)), "promised", own=True)
    assert not races.sink.findings
    races.reports.race(access, clash(time, MINE), "promised", own=True)
    (found,) = races.sink.findings
    assert (found.severity, found.kind) == ("warning", "restrict-alias")
    assert found.message.startswith("restrict-alias: the thread writes x[3], which it read as read-only data")
    # A warning of this kind comes also where a run stops at its first error.
    races = Races(collects=False)
    time = races.events.access(LOAD)
    races.reports.race(races.access(STORE, [3], [MINE]), clash(time, MINE), "promised", own=True)
    assert [f.severity for f in races.sink.findings] == ["warning"]


TWO_KINDS = [("st.global.u32", ""), ("st.relaxed.gpu.global.u32", ""), ("st.release.cta.global.u32", ""),
             ("st.mmio.sys.global.u32", ""), ("st.volatile.global.u32", ""), ("red.global.add.u32", "add")]  # fmt: skip


@pytest.mark.parametrize(("text", "operation"), TWO_KINDS)
@pytest.mark.parametrize("flags", [0, STRONG, STRONG | IN_BLOCK])
def test_two_lanes_of_one_instruction(text: str, operation: str, flags: int) -> None:
    """Lanes of one block and of two, with equal and with other values."""
    one = site(1, text, 9, store=True, operation=operation)
    races = Races()
    time = races.events.access(one)
    lanes = [95, 96, 97, 100, 191, 192]
    stamps = Stamps(np.array([3, 3, 3, 3, 3, 3]), np.array(lanes), time, flags)
    access = races.access(one, [3] * 6, lanes, [8, 8, 7, 8, 7, 8], flags)
    access.stamps = stamps
    races.reports.two_lanes(access, np.array([0, 1, 2, 3, 5]), np.array([191] * 5))
    found = [(f.severity, f.count, f.thread, f.block, f.other_thread, f.other_block) for f in races.sink.findings]
    last = ((31, 2, 0), (0, 2, 0))  # the winner: thread 95 of row 1
    strong = operation or any(word in text for word in ("relaxed", "release", "mmio"))
    if not strong:
        assert found == [("error", 4, (31, 2, 0), (1, 1, 0), *last), ("warning", 1, (1, 0, 0), (0, 2, 0), *last)]
    else:
        assert found == ([("error", 2, (31, 2, 0), (1, 1, 0), *last)] if flags & IN_BLOCK else [])


def test_without_values_two_lanes_are_an_error() -> None:
    races = Races()
    time = races.events.access(STORE)
    access = races.access(STORE, [3, 3], [0, 1])
    access.stamps = Stamps(np.array([3, 3]), np.array([0, 1]), time, 0)
    races.reports.two_lanes(access, np.array([0]), np.array([1]))
    assert [(f.severity, f.count, f.other_thread) for f in races.sink.findings] == [("error", 1, (1, 0, 0))]


def test_the_winner_is_found_in_a_stamp_with_flags() -> None:
    """A lost lane's stamp gives the winner's: another lane, the same time."""
    races = Races()
    races.events.now = 70
    time = races.events.access(STORE)
    flags = STRONG | 1 << 24
    access = races.access(STORE, [3, 3], [287, 140], [1, 2], flags)
    access.stamps = Stamps(np.array([3, 3]), np.array([287, 140]), time, flags)
    said: list[Clash] = []
    races.reports._report = lambda access, clash, what, severity: said.append(clash)  # type: ignore[method-assign]
    races.reports.two_lanes(access, np.array([0]), np.array([140]))
    assert [c.stamp.tolist() for c in said if len(c)] == [[140 + (time << TIME_SHIFT | flags)]]
    assert said[0].stamp[0] & LANE_MASK == 140


WIDTHS = {"st.relaxed.gpu.global.b8": 1, "st.relaxed.gpu.global.b16": 2, "ld.acquire.gpu.global.u32": 4,
          "st.release.gpu.global.f64": 8, "atom.global.add.noftz.f16x2": 2, "atom.global.add.noftz.bf16x2": 2,
          "atom.global.exch.b128": 16,
    "atom.global.cas.b16": 2, "red.global.add.f32": 4, "red.global.v2.f32.add": 4}  # fmt: skip


def test_strong_accesses_of_different_widths() -> None:
    for one, other in product(WIDTHS, WIDTHS):
        said = _advice(instruction(one, 1), instruction(other, 2), "a thread of another block", 96)
        if sum(text.startswith(("atom", "red")) for text in (one, other)) == 1:
            begin = "One of the two is an atomic: make the other one an atomic, too, or put a barrier between them"
        elif WIDTHS[one] != WIDTHS[other]:
            begin = "They access words of different widths, so that they do not synchronise: give both the same width"
        else:
            begin = "Blocks run in any order. Use an atomic, give each block"
        assert said.startswith(begin), (one, other)


def test_widths_do_not_matter_where_one_access_is_ordinary() -> None:
    for one, other in (("st.global.u16", "ld.acquire.gpu.global.u32"), ("ld.relaxed.gpu.global.u64", "st.global.u32"),
                       ("st.volatile.global.u16", "ld.relaxed.gpu.global.u32")):  # fmt: skip
        assert _advice(instruction(one, 1), instruction(other, 2), "it", 32).startswith("Blocks run in any order.")
