"""Blocks that stand for others, and warps that are long by what they wait for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from softlab.cuda.control_codes import ControlCode
from softlab.cuda.machine_instructions import MachineInstruction
from softlab.hardware.devices import resolve
from softlab.sass.streams import Accesses, WarpStream
from softlab.timing.code import THERE, CodeCaches, fetch
from softlab.timing.columns import Columns
from softlab.timing.lengths import longest_of_blocks, most_instructions
from softlab.timing.memory import Memory
from softlab.timing.parameters import parameters
from softlab.timing.sampling import Sample, slowest
from softlab.timing.sharing import Region, Sharing
from softlab.timing.stand_ins import with_own_data
from softlab.timing.traits import CodeTraits
from softlab.timing.work import BlockWork, WarpWork
from tests.timing.hand_made import BARE, access, load, request

#: An array of which each of ten blocks has 80 sectors, and a table that all of them read.
_OWN = Region(800, 1599, 1.0, 1.0, 800.0)
_TABLE = Region(1600, 1663, 10.0, 10.0, 64.0)


def _block(number: int, first: int) -> BlockWork:
    return BlockWork.of(number, (WarpWork([0], [load(0, range(first, first + 4)), load(0, range(1600, 1604))]),))


def test_a_block_that_comes_again_has_data_of_its_own_and_the_same_table():
    order = [_block(3, 960), _block(3, 960), _block(9, 1592), _block(9, 1592)]
    found = list(with_own_data(order, Sharing((_OWN, _TABLE), 0.0, 0.0), 10))
    own = [work.warps[0].requests[0][4] for work in found]
    assert own[0] == (960, 961, 962, 963)
    assert not set(own[0]) & set(own[1])
    assert own[1][0] - own[0][0] == pytest.approx(80, abs=8)
    assert all(_OWN.first <= one[0] and one[-1] <= _OWN.last and one[0] % 8 == 0 for one in own)
    assert {work.warps[0].requests[1][4] for work in found} == {(1600, 1601, 1602, 1603)}


def _instruction(stall: int, waits: tuple[int, ...]) -> MachineInstruction:
    control = ControlCode(stall, False, None, None, sum(1 << number for number in waits), 0)
    return MachineInstruction(0, "FFMA", "FFMA", (), "", False, (), (), 0, (), control=control)


def _stream(block: int, sectors: list[int]) -> WarpStream:
    """A warp that loads a sector and waits for it, in turn."""
    count = len(sectors)
    accesses = Accesses(
        np.arange(0, 2 * count, 2, dtype=np.int32), np.zeros(count, np.uint8), np.zeros(count, np.uint8),
        np.ones(count, np.int32), np.arange(count + 1), np.array(sectors, np.int64),
    )  # fmt: skip
    return WarpStream(block, 0, np.tile(np.array([0, 1], np.int32), count), np.full(2 * count, 1, np.uint32), accesses)


def test_a_warp_whose_loads_are_new_takes_longer_than_one_of_as_many_instructions():
    columns = Columns.of([_stream(0, [5] * 8), _stream(1, list(range(8)))])
    code = (_instruction(2, ()), _instruction(4, (0,)))
    known = longest_of_blocks(columns, CodeTraits.of(code), BARE)
    far = BARE.l2_latency - BARE.l1_latency
    assert known == {0: 8 * (6 + BARE.l1_latency) + far, 1: 8 * (6 + BARE.l1_latency) + 8 * far}
    assert most_instructions(columns) == {0: 16, 1: 16}


def test_the_sm_with_the_longest_warp_is_looked_at_where_all_blocks_have_as_many_instructions():
    sample, counts, alike = Sample((0,), 1, 1, 8), dict.fromkeys(range(8), 100), dict.fromkeys(range(8), 900.0)
    assert slowest(sample, counts, 8, 132, alike | {2: 2000.0}).longest == (2,)
    assert slowest(sample, counts, 8, 132, alike) == sample


def test_l1_has_places_for_the_lines_that_come():
    """Each load wants 32 lines. L1 has 64 of them, and L2 takes far longer than the load and store unit."""
    figures = replace(BARE, l1_capacity=64 * 128)
    few = Memory(figures, Sharing.none(), 132, 1.0, 0)
    many = Memory(replace(BARE, l1_capacity=1 << 20), Sharing.none(), 132, 1.0, 0)
    starts = [
        [access(memory, 0.0, load(k, range(128 * k, 128 * k + 128, 4)))[0] for k in range(4)] for memory in (few, many)
    ]
    assert starts[1][3] < BARE.l2_latency
    assert starts[0][2] - starts[0][0] > BARE.l2_latency


@pytest.mark.parametrize(("active", "lines", "cycles"), [(1, 8, 8 + 32), (132, 8, 2 * 8 + 3 * 32), (132, 32, 160)])
def test_local_memory_that_is_stored_in_part_takes_its_lines_and_its_sectors(active: int, lines: int, cycles: float):
    memory = Memory(
        replace(BARE, local_in_part=((1.0, 1.0), (2.0, 3.0)), local_line=(4.0, 20.0)), Sharing.none(), active, 1.0, 0
    )
    sectors = [4 * (k % lines) + k // lines for k in range(32)]
    access(memory, 0.0, request(1, sorted(sectors), space=2))
    assert memory.l2_write_busy == pytest.approx(cycles)


#: Of a microbenchmark of an H200 (2026-11-29): lanes that change words or halves of their own, and lanes together at
#: one word; 132 SMs with 1 to 32 warps. Lines that a warp has, warps, sectors and lines per store, whether they are
#: stored in part, and cycles per store and warp of the slowest SM.
_SLOWEST = (
    (16, 1, 26, 14, True, 174), (16, 4, 26, 14, True, 124), (16, 8, 26, 14, True, 117),
    (8, 1, 21, 8, True, 178), (8, 4, 21, 8, True, 90), (8, 8, 21, 8, True, 88),
    (16, 16, 26, 14, True, 90), (16, 32, 26, 14, True, 91), (64, 4, 32, 8, True, 94), (16, 16, 32, 8, True, 91),
    (20, 4, 4, 1, False, 13.7), (20, 8, 4, 1, False, 11.1), (20, 16, 4, 1, False, 9.4), (64, 16, 4, 1, False, 7.8),
)  # fmt: skip


@pytest.mark.parametrize(("own", "warps", "sectors", "lines", "partial", "measured"), _SLOWEST)
def test_the_slowest_sm_stores_local_memory_later_than_the_mean_one(own, warps, sectors, lines, partial, measured):
    memory = Memory(parameters(resolve("H200")), Sharing.none(), 132, 1.0, 0, warps=warps, local_lines=own)
    assert memory._local_line(sectors, lines, partial) == pytest.approx(measured, rel=0.25)


def test_few_sms_that_store_local_memory_are_in_nobodys_way():
    memory = Memory(parameters(resolve("H200")), Sharing.none(), 4, 1.0, 0, warps=4, local_lines=16)
    assert memory._local_line(26, 14, True) == 40
    assert memory._local_line(4, 1, False) == pytest.approx(32 * 4 / memory.p.l2_sm_write_bytes)


def test_code_that_no_cache_holds_comes_from_dram_once_where_l2_is_cold():
    figures = replace(BARE, icache_line_l2=40.0, icache_bytes=1024, icache_again=((1.0, 0.0),))
    cold, warm = (CodeCaches(figures, 4096, late) for late in (44.0, 0.0))
    times = [_fetched(caches, range(11)) for caches in (cold, warm)]
    assert times[0][10] - times[1][10] == pytest.approx(10 * 44)
    assert times[0][2] - times[0][1] == pytest.approx(84)
    small = CodeCaches(replace(figures, icache_again=((1.0, 65536.0),)), 512, 44.0)
    assert _fetched(small, range(3)) == [0.0, 0.0, 0.0]  # there from the launch before


def test_the_first_cache_keeps_the_lines_that_were_used_last():
    figures = replace(BARE, icache_line=2.0, icache_line_l2=40.0, icache_bytes=1024, icache_again=((1.0, 0.0),))
    rounds = [*range(8), 0, 9, *range(2, 8), 0, 1]  # line 9 takes the place of line 1
    for cache in (CodeCaches(figures, 4096), CodeCaches(figures, 512)):
        times = _fetched(cache, rounds)
        assert times[8] == times[16] == 0.0
        assert times[10:16] == times[2:8]
        assert times[17] > times[9] > times[7]


def _fetched(caches: CodeCaches, lines: Iterable[int]) -> list[float]:
    """When each line is there, for warps that come to all of them at cycle 0."""
    whole, real = (np.array(table) for table in caches.tables(16))
    times = []
    for line in lines:
        fetch(whole, real, 0, 0, line, 0.0)
        times.append(float(real[THERE]))
    return times
