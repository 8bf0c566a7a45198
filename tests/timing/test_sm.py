"""The simulated SM, on programs by hand whose time is known."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace

import numpy as np
import pytest

from softlab.bench.record.atlas.jobs import APART
from softlab.bench.record.atlas.patching import PATTERNS
from softlab.emulator.machine.native import available, compiling
from softlab.hardware.atlas import load as load_atlas
from softlab.hardware.devices import resolve
from softlab.sass.streams import Kind, Space
from softlab.timing.atomics import AtomicUnits
from softlab.timing.blocks import BlockClock
from softlab.timing.company import Company
from softlab.timing.dram import Dram
from softlab.timing.loads import Load, later
from softlab.timing.measured import RING_CARVED
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters, parameters
from softlab.timing.program import Action, Pipe, TimedProgram
from softlab.timing.sharing import Region, Sharing
from softlab.timing.sm import simulate
from softlab.timing.stalls import REASONS
from softlab.timing.work import BlockWork, MemoryRequest, Split, WarpWork
from tests.timing.hand_made import BARE, END, access, load, request, row, run, shared, store


def state(result, name: str) -> float:
    return sum(result.states[REASONS.index(name)])


@pytest.mark.parametrize("stall", [1, 4, 5, 13])
def test_a_chain_takes_its_stall_counts(stall):
    result, _ = run([row(Pipe.FMA, stall=stall)], repeat=100)
    assert result.cycles == pytest.approx(100 * stall, abs=stall)


def test_warps_fill_the_stalls_of_others_up_to_one_instruction_per_cycle():
    one, _ = run([row(Pipe.FMA, stall=4)], repeat=100, warps=4)
    four, _ = run([row(Pipe.FMA, stall=4)], repeat=100, warps=16)
    eight, _ = run([row(Pipe.FMA, stall=4)], repeat=100, warps=32)
    assert four.cycles == pytest.approx(one.cycles, rel=0.06)
    assert eight.cycles == pytest.approx(2 * one.cycles, rel=0.06)


@pytest.mark.parametrize(
    ("pipe", "interval"), [(Pipe.ALU, 2), (Pipe.FP64, 2), (Pipe.XU, 8), (Pipe.CONSTANT, 8), (Pipe.FMA_HEAVY, 2)]
)
def test_a_pipe_takes_one_instruction_per_interval(pipe, interval):
    queued = pipe in (Pipe.XU, Pipe.CONSTANT)
    action = Action.VARIABLE if queued else Action.FIXED
    result, _ = run([row(pipe, action=action, interval=interval, latency=18)], repeat=50, warps=16)
    assert result.cycles == pytest.approx(4 * 50 * interval, rel=0.02)
    refused = "mio_throttle" if queued else "math_pipe_throttle"
    assert state(result, refused) + state(result, "not_selected") > state(result, "selected")
    # Between two of the pipe's instructions others are refused, and in one cycle another warp is chosen, if any is.
    assert state(result, refused) >= (interval - 1) * state(result, "not_selected")


def test_three_registers_of_one_bank_take_three_cycles_and_reuse_saves_them():
    slow, _ = run([row(Pipe.FMA, banks=(3, 0))], repeat=100, warps=4)
    cached, _ = run([row(Pipe.FMA, banks=(3, 0), reused=(1, 0))], repeat=100, warps=4)
    assert slow.cycles == pytest.approx(300, abs=5)
    assert cached.cycles == pytest.approx(100, abs=8)


def _reads(key: str) -> list[tuple[int, int]]:
    """Registers of the even and of the odd bank that the instructions of a row read, in turn."""
    name = key.partition(".banks.")[2]
    if name in PATTERNS:
        return [(step.count("e"), step.count("o")) for step in PATTERNS[name].replace("*", "").split()]
    return [(int(name), int(name == "2") + int(name == "1"))]


@pytest.mark.parametrize("warps", [4, 32])
@pytest.mark.parametrize(
    "key", [f"{name}.banks.{n}" for name in ("FFMA", "IMAD", "LOP3") for n in (1, 2, 3)]
    + [f"FFMA.banks.{name}" for name in PATTERNS if name != "kept"] + ["IMAD.banks.turns"],
)  # fmt: skip
def test_register_banks_take_what_the_atlas_has_measured(key: str, warps: int) -> None:
    """All rows of streams whose registers are chosen."""
    pipe, interval = {"FFMA": (Pipe.FMA, 1), "IMAD": (Pipe.FMA_HEAVY, 2), "LOP3": (Pipe.ALU, 2)}[key.split(".")[0]]
    steps = [row(pipe, interval=interval, banks=one) for one in _reads(key)]
    repeat = 240 // len(steps)
    result, _ = run(steps, repeat=repeat, warps=warps)
    cycles = result.cycles / (repeat * len(steps) * warps / 4)
    assert cycles == pytest.approx(load_atlas("H100")[f"interval.{key}"], rel=0.03)


def test_a_warp_waits_for_the_scoreboard_of_a_result():
    special = row(Pipe.XU, action=Action.VARIABLE, interval=8, latency=18, write=0)
    result, _ = run([special, row(Pipe.ALU, interval=2, wait=(0,))], repeat=100)
    assert result.cycles == pytest.approx(1900, abs=5)
    assert state(result, "short_scoreboard") == pytest.approx(1700, abs=20)
    assert result.waits == {(1, 0): pytest.approx(1700, abs=20)}


@pytest.mark.parametrize("wavefronts", [1, 4, 32])
def test_shared_memory_moves_one_wavefront_per_cycle(wavefronts):
    access = row(Pipe.MIO, action=Action.MEMORY, latency=23, read=0)
    result, memory = run(
        [access], repeat=50, warps=16, requests=lambda b, w: [shared(k, wavefronts) for k in range(50)]
    )
    assert result.cycles == pytest.approx(50 * 16 * wavefronts, rel=0.05)
    assert memory.shared_busy == 50 * 16 * wavefronts
    if wavefronts > 1:
        assert state(result, "mio_throttle") > 0


def test_a_barrier_lets_its_warps_go_one_after_the_other():
    result, _ = run([row(Pipe.MIO, action=Action.BARRIER)], warps=8, repeat=10, details={0: (0, 0)})
    each = BARE.barrier_latency + 7 * BARE.barrier_stagger
    assert result.cycles == pytest.approx(10 * each, rel=0.06)
    assert state(result, "barrier") > 0


def test_a_warp_that_ends_lets_the_others_pass_the_barrier():
    rows = [row(Pipe.MIO, action=Action.BARRIER)]
    result, _ = run(rows, warps=4, repeat=1, details={0: (0, 0)})
    assert result.complete
    assert len(result.finished) == 1


def streaming(action: Action, kind, blocks: int = 8, sectors: int = 4):
    rows = [row(Pipe.LG, action=action, write=0, read=1), row(Pipe.FMA, wait=(0, 1))]

    def requests(block: int, warp: int):
        first = [sectors * (1000 * (16 * block + warp) + k) for k in range(50)]
        return [kind(2 * k, range(f, f + sectors), width=sectors) for k, f in enumerate(first)]

    return run(rows, warps=16, blocks=blocks, repeat=50, requests=requests)


def test_a_stream_from_memory_takes_its_bytes_over_the_bandwidth():
    result, memory = streaming(Action.MEMORY, load)
    size = 8 * 16 * 50 * 128
    assert memory.dram.moved == size
    assert result.cycles == pytest.approx(size / (BARE.dram_bytes / 132) + BARE.dram_latency, rel=0.02)
    assert state(result, "long_scoreboard") > 0.5 * result.warp_cycles * 0.5


def test_one_block_that_waits_for_each_load_takes_the_latency():
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0), row(Pipe.FMA, wait=(0,))]
    result, _ = run(rows, repeat=20, requests=lambda b, w: [load(2 * k, [64 * k]) for k in range(20)], active=1)
    assert result.cycles == pytest.approx(20 * BARE.dram_latency, rel=0.03)
    warm, memory = run(
        rows, repeat=20, requests=lambda b, w: [load(2 * k, [64 * k]) for k in range(20)], active=1, warm=1.0
    )
    assert warm.cycles == pytest.approx(20 * BARE.l2_latency, rel=0.03)
    assert memory.dram.moved == 0


def test_l1_answers_what_it_has():
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0), row(Pipe.FMA, wait=(0,))]
    result, memory = run(rows, repeat=100, requests=lambda b, w: [load(2 * k, [0, 1, 2, 3]) for k in range(100)])
    assert result.cycles == pytest.approx(BARE.dram_latency + 100 * BARE.l1_latency, rel=0.05)
    assert memory.l1_hits == 99 * 4


@pytest.mark.parametrize("apart", APART)
def test_a_load_takes_l1_as_long_as_its_busiest_bank_of_tags_or_data(apart):
    """The rows interval_sm.LDG.apart.N of the atlas: a word per lane, N bytes from lane to lane."""
    words = [apart * lane // 4 for lane in range(32)]
    passes = max(Counter(word % 32 for word in set(words)).values())
    sectors = tuple(sorted({word // 8 for word in words}))
    requests = [request(0, sectors, position=k, wavefronts=passes) for k in range(20)]
    rows = [row(Pipe.LG, action=Action.MEMORY, read=0)]
    _, memory = run(rows, repeat=20, warps=2, requests=lambda b, w: requests)
    assert memory.lsu_busy / 40 == pytest.approx(load_atlas("H200")[f"interval_sm.LDG.apart.{apart}"], rel=0.01)


def test_warps_of_a_block_share_a_pipe_and_blocks_take_it_in_their_order():
    """As on an H200: eight warps of a scheduler end about together if they are of one block, else one after the
    other."""
    rows = [row(Pipe.ALU, interval=2, stall=4)]
    one, _ = run(rows, repeat=200, warps=32)
    assert max(warp_ends(one)) - min(warp_ends(one)) < 0.15 * one.cycles
    many, _ = run(rows, repeat=200, warps=8, blocks=4)
    assert many.finished == pytest.approx([800, 1600, 2400, 3200], rel=0.1)


def test_warps_that_use_two_pipes_in_turn_lose_a_part_of_the_cycles():
    """The rows interval.mixed.FFMA+LOP3.banks.every.4 of the atlas: a warp that goes on by itself loses nothing."""
    key = "interval.mixed.FFMA+LOP3.banks.every.4"
    for stall, name in ((1, f"{key}.warps.8"), (2, f"{key}.stall.2.warps.8")):
        rows = [
            row(Pipe.FMA, stall=stall, banks=(2, 1)),
            row(Pipe.ALU, interval=2, stall=stall, banks=(0, 1)),
            row(Pipe.FMA, stall=stall, banks=(0, 1)),
            row(Pipe.ALU, interval=2, stall=stall, banks=(0, 1)),
        ]
        result, _ = run(rows, repeat=150, warps=32)
        assert result.cycles / (8 * 4 * 150) == pytest.approx(load_atlas("H100")[name], rel=0.08)


def test_a_load_finds_in_l1_what_a_warp_of_the_sm_has_stored():
    memory = Memory(BARE, Sharing.none(), 132, 1.0, 0)
    memory.access(0.0, 0, int(Kind.STORE), 1, (7,), 0.0, 1, 4, 0, 1, 1, 0)
    near, far = (
        memory.access(1000.0, 0, int(Kind.LOAD), 1, (one,), 0.0, 1, 4, 0, 1, 1, owner)[2] - 1000
        for one, owner in ((7, 1), (70, 0))
    )
    assert near == BARE.l1_latency < BARE.l2_latency < far


@pytest.mark.parametrize("lines", [8, 16, 32])
def test_a_load_finds_in_l1_what_lanes_have_stored_at_different_words(lines):
    """A turn of a store and a load took an H200 68 to 123 cycles (2026-11-29), and an answer of L2 takes 280."""
    memory = Memory(BARE, Sharing.none(), 132, 1.0, 0)
    local, sectors = int(Space.LOCAL), tuple(range(0, 4 * lines, 4))
    memory.access(0.0, local, int(Kind.STORE), lines, sectors, 0.0, lines, 4, 0, lines, 1, 0)
    for wanted in (sectors, sectors[:1]):
        done = memory.access(20.0, local, int(Kind.LOAD), 1, wanted, 0.0, len(wanted), 4, 0, len(wanted), 1, 0)[2]
        assert done - 20 < 123 < BARE.l2_latency


@pytest.mark.parametrize(
    ("kind", "apart", "measured"),
    [
        (Kind.LOAD, 32, 60.6),
        (Kind.STORE, 8, 25.8),
        (Kind.STORE, 32, 51.0),
        (Kind.STORE, 128, 49.8),
        (Kind.ATOMIC, 8, 27.6),
        (Kind.ATOMIC, 32, 108.6),
        (Kind.ATOMIC, 128, 103.3),
    ],
)
def test_shared_memory_of_another_sm_takes_what_an_h200_took(kind, apart, measured):
    """Lanes whose words lie ``apart`` bytes from each other (NVIDIA H200, 2026-11-28, parameters.py)."""
    memory = Memory(BARE, Sharing.none(), 132, 1.0, 0)
    sectors = sorted({apart * lane // 32 for lane in range(32)})
    asked = request(int(kind), sectors, space=int(Space.DISTRIBUTED_SHARED))
    began = memory.lsu_free
    access(memory, 0.0, asked)
    assert memory.lsu_free - began == pytest.approx(measured, rel=0.06)


def test_local_memory_of_lanes_at_different_words_is_written_as_lone_sectors():
    """The rows interval_sm.STL.apart.N of the atlas: 32 lanes in 32 lines, or in one."""
    atlas = load_atlas("H100")
    p = parameters(resolve("H100"))
    for lines, apart in ((32, 1), (1, 0)):
        sectors = [4 * n for n in range(32)] if lines == 32 else range(4)
        for sms, where in ((1, ""), (132, ".all_sms")):
            memory = Memory(p, Sharing.none(), sms, 0.0, 0)
            for k in range(50):
                access(memory, 1.0 * k, request(int(Kind.STORE), sectors, space=int(Space.LOCAL)))
            found = memory.l2_write_busy / 50
            assert found == pytest.approx(atlas[f"interval_sm.STL.apart.{apart}.words.64.warps.16{where}"], rel=0.08)


def warp_ends(result) -> list[float]:
    """The run of one block ends with its last warp; its warps' cycles say when the others ended, on average."""
    return [result.cycles, 2 * result.warp_cycles / 32 - result.cycles]


def test_dram_fetches_64_bytes():
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0)]
    _, memory = run(rows, repeat=10, requests=lambda b, w: [load(k, [64 * k]) for k in range(10)])
    assert memory.dram.moved == 10 * 64


def test_blocks_that_share_data_fetch_it_once():
    whole = Sharing((Region(0, 10**6, 4.0, 0.0, 10**6),), 0.0, 0.0)
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0)]
    _, memory = run(rows, repeat=10, requests=lambda b, w: [load(k, [64 * k]) for k in range(10)], sharing=whole)
    assert memory.dram.moved == pytest.approx(10 * 64 / 4)


def test_who_shares_a_sector_all_over_the_grid_finds_it_when_others_have_ended():
    spread = Region(0, 10**6, 20.0, 20.0, 10**6)
    near = Region(0, 10**6, 20.0, 1.0, 10**6)
    assert spread.seen(0.0) == 0.0
    assert spread.seen(0.5) == pytest.approx(1 - 0.5**19)
    assert near.seen(0.5) == 0.0


def test_a_sector_is_fetched_by_as_many_sms_as_want_it_at_the_same_time():
    near = Region(0, 10**6, 4.0, 1.0, 10**6)
    everyone = Region(0, 10**6, 1056.0, 1056.0, 10**6, at_once=1056.0)
    assert near.fetching(132) == pytest.approx(4)
    assert everyone.fetching(132) == pytest.approx(132, rel=0.01)


def test_l2_writes_what_comes_from_dram_when_it_comes():
    memory = Memory(replace(BARE, l2_write_bytes=1320.0), Sharing.none(), 132, 0.0, 0)
    access(memory, 0.0, load(0, range(4)))
    assert memory.l2_write_free == 0.0
    stored = access(memory, 1.0, store(0, range(1000, 1004)))
    assert stored[2] < BARE.dram_latency  # the data of the load is not there yet
    access(memory, 2000.0, store(0, range(2000, 2004)))
    assert memory.coming == deque()
    assert memory.comes == pytest.approx(0.0)


def test_stores_of_parts_of_sectors_take_longer():
    def time(width: int) -> float:
        rows = [row(Pipe.LG, action=Action.MEMORY, read=0)]
        _, memory = run(
            rows, warps=16, repeat=100, parameters=replace(BARE, l2_write_bytes=132.0, partial_store=1.5),
            requests=lambda b, w: [store(k, range(s, s + 4), width=width) for k, s in enumerate(range(0, 4000, 40))],
        )  # fmt: skip
        return memory.last_store

    assert time(2) == pytest.approx(1.5 * time(4), rel=0.05)


def test_a_part_of_a_sector_in_the_way_of_loads_takes_as_long_as_it_does_to_write():
    p = replace(BARE, l2_parts=((1.0, 2.0), (4.0, 8.0)), l2_passing_bytes=132.0, partial_store=1.5)
    for width, each in ((4, 4), (2, 8)):
        memory = Memory(p, Sharing.none(), 132, 1.0, 0)
        access(memory, 0.0, store(0, range(4), width=width))
        assert memory.l2_busy == each * 32  # one of 132 SMs gets a byte per cycle


def test_an_sm_that_loads_and_stores_takes_as_long_as_for_both():
    memory = Memory(replace(BARE, l2_sm_bytes=128.0, l2_sm_write_bytes=32.0), Sharing.none(), 1, 1.0, 0)
    for k in range(100):
        access(memory, 0.0, load(0, range(8 * k, 8 * k + 4)))
        access(memory, 0.0, store(0, range(1 << 20 | 8 * k, (1 << 20 | 8 * k) + 4)))
    assert memory.l2_busy == pytest.approx(100 * (1 + 4), rel=0.03)


def atomics(
    places, *, lanes: int = 1, code: int = 0, kind: int = 3, active: int = 1, nbytes: int = 128, wanted=None
) -> float:
    """Cycles until 8 warps have done 50 atomics each; ``places``: (warp, turn) -> sectors of an array of ``nbytes``,
    each once per pass; ``wanted``: sector -> the share of other blocks that want it, too."""
    figures = replace(
        BARE, atomic_lane=40.0, atomic_float_lane=100.0, atomic_pass=30.0, atomic_slow_pass=70.0,
        atomic_spread=((7.0, 1.0), (10.0, 8.0)),
    )  # fmt: skip
    array = Sharing((Region(0, nbytes // 32 - 1, 1.0, 0.0, nbytes // 32),), 0.0, 0.0, wanted=wanted or {})
    _, memory = run(
        [row(Pipe.LG, action=Action.MEMORY, read=0)], warps=8, repeat=50, active=active, warm=1.0, parameters=figures,
        sharing=array,
        requests=lambda b, w: [
            request(kind, places(w, k), position=k, wavefronts=len(places(w, k)), lanes=lanes, bypass=code)
            for k in range(50)
        ],
    )  # fmt: skip
    return memory.last_store


def test_atomics_on_one_word_wait_for_each_other():
    one = atomics(lambda w, k: [0])
    assert one == pytest.approx(8 * 50 * 40, rel=0.03)
    assert atomics(lambda w, k: [0] * 8, lanes=8) == pytest.approx(8 * one, rel=0.03)
    assert atomics(lambda w, k: [0], code=1) == pytest.approx(2.5 * one, rel=0.03)


def test_lanes_at_different_words_of_a_sector_pass_together():
    one = atomics(lambda w, k: [0])
    assert atomics(lambda w, k: [0], lanes=8) == pytest.approx(0.75 * one, rel=0.03)
    assert atomics(lambda w, k: [0], lanes=8, code=2) == pytest.approx(70 / 40 * one, rel=0.03)


def test_a_compare_alone_in_its_pass_is_as_fast_as_an_integer():
    assert atomics(lambda w, k: [0], code=2) == atomics(lambda w, k: [0])


def test_a_double_takes_its_unit_as_long_as_a_compare_and_waits_as_long_as_a_float():
    assert atomics(lambda w, k: [0], code=4) == atomics(lambda w, k: [0], code=1)
    many = [atomics(lambda w, k: [8 * n for n in range(8)], lanes=64, code=code, nbytes=2048) for code in (0, 2, 4)]
    assert many[0] < many[1] == many[2]


def test_a_line_is_in_one_unit_of_l2_and_more_bytes_are_in_more():
    line = atomics(lambda w, k: [0, 1, 2, 3], lanes=32)
    assert line == pytest.approx(4 * 8 * 50 * 30, rel=0.03)
    apart = atomics(lambda w, k: [4 * w + n for n in range(4)], lanes=32, nbytes=1024)
    assert line / 8 <= apart < line / 4
    hot = atomics(lambda w, k: [0, 1, 2, 3], lanes=32, nbytes=1024)
    assert hot == pytest.approx(line, rel=0.03)  # one line of the array is no quicker for the others


def test_all_sms_use_all_units_whether_or_not_they_want_the_same_lines():
    figures = {"lanes": 32, "nbytes": 1024}
    alone = atomics(lambda w, k: [4 * w + n for n in range(4)], **figures)
    together = atomics(lambda w, k: [4 * w + n for n in range(4)], active=8, **figures)
    assert together == pytest.approx(8 * 8 * 50 * 4 * 30 / 8, rel=0.05)
    assert together > 5 * alone


def test_the_word_that_many_lanes_and_many_blocks_want_decides():
    figures = {"lanes": 8, "nbytes": 1 << 10}
    spread = atomics(lambda w, k: [4 * n for n in range(8)], **figures)
    hot = atomics(lambda w, k: [0] * 5 + [4, 8, 12], **figures)
    assert hot == pytest.approx(5 * 8 * 50 * 40, rel=0.03)
    assert spread < hot / 3
    wanted = atomics(lambda w, k: [0] * 5 + [4, 8, 12], active=10, wanted={0: 0.5}, **figures)
    assert wanted == pytest.approx(5 * hot, rel=0.03)


def test_a_unit_does_other_atomics_while_dram_brings_a_sector():
    units = AtomicUnits(replace(BARE, atomic_spread=((7.0, 1.0), (10.0, 8.0))))
    array = Region(0, 3, 1.0, 0.0, 4.0)
    late = units.take(0.0, 600.0, 0, 10.0, 1.0, 1, array)
    other = units.take(0.0, 0.0, 4, 10.0, 1.0, 1, array)
    assert (late, other) == (610.0, 20.0)


@pytest.mark.parametrize(("hot", "lines"), [(0.1, 1), (0.5, 1), (0.25, 2)])
def test_the_unit_of_a_wanted_line_does_its_part_of_the_others_too(hot, lines):
    """Of 200 atomics, 10 cycles each, a share is on one line or on two neighbours, and the rest all over 8 units."""
    units = AtomicUnits(replace(BARE, atomic_spread=((7.0, 1.0), (18.0, 8.0))))
    array, last = Region(0, (1 << 13) - 1, 1.0, 0.0, 1.0), 0.0
    for k in range(200):
        wanted = k % round(1 / hot) == 0
        sector = 4 * (k // round(1 / hot) % lines) if wanted else 4096 + 4 * k
        last = max(last, units.take(0.0, 0.0, sector, 10.0, 1.0, 1, array))
    assert last == pytest.approx(2000 * hot + 2000 * (1 - hot) / 8, rel=0.04)


def test_two_small_arrays_lie_in_different_units():
    # An H200 took 11.9 cycles for reductions to 48 bytes, and 6.3 to 48 bytes of each of two arrays in turn.
    def time(apart: int) -> float:
        units = AtomicUnits(replace(BARE, atomic_spread=((7.0, 1.0), (18.0, 80.0))))
        arrays = [Region(first, first + 1, 1.0, 0.0, 2.0) for first in (0, apart)]
        return max(units.take(0.0, 0.0, arrays[k % 2].first, 10.0, 1.0, 1, arrays[k % 2]) for k in range(200))

    assert time(0) == pytest.approx(2000)
    assert time(1 << 20) == pytest.approx(1000, rel=0.02)


def test_two_large_arrays_lie_in_the_same_units():
    def time(apart: int) -> float:
        units = AtomicUnits(replace(BARE, atomic_spread=((7.0, 1.0), (18.0, 80.0))))
        arrays = [Region(first, first + (1 << 13) - 1, 1.0, 0.0, 1.0) for first in (0, apart)]
        return max(units.take(0.0, 0.0, arrays[k % 2].first + 4 * k, 80.0, 1.0, 1, arrays[k % 2]) for k in range(200))

    assert time(1 << 20) == pytest.approx(time(0)) == pytest.approx(200)


def test_the_units_have_the_atomics_that_all_sms_have_together():
    array = Sharing((Region(0, 31, 1.0, 0.0, 32.0),), 0.0, 0.0)

    def time(adding: float) -> float:
        memory = Memory(replace(BARE, atomic_lane=40.0), array, 100, 1.0, 0, adding=adding)
        for k in range(50):
            memory.access(0.0, 0, 3, 1, (k % 4,), 0.0, 1, 4, 0, 1, 1, 0)
        return memory.last_store

    assert time(50.0) == pytest.approx(0.5 * time(100.0), rel=0.03)


def test_a_hot_word_is_wanted_by_as_many_sms_as_all_atomics_of_the_launch_are_of():
    array = Sharing((Region(0, 31, 1.0, 0.0, 32.0),), 0.0, 0.0, wanted={0: 1.0})

    def time(adding: float) -> float:
        memory = Memory(replace(BARE, atomic_lane=40.0), array, 100, 1.0, 0, adding=adding)
        for _ in range(50):
            memory.access(0.0, 0, 3, 32, (0,) * 32, 0.0, 32, 4, 0, 1, 1, 0)
        return memory.last_store

    assert time(100.0) == pytest.approx(50 * 32 * 40 * 100, rel=0.03)
    assert time(60.0) == pytest.approx(0.6 * time(100.0), rel=0.03)


def test_an_sm_with_more_than_the_others_has_more_of_l2_and_of_dram():
    def time(alike: float, warm: float) -> float:
        memory = Memory(BARE, Sharing.none(), 132, warm, 0, alike=alike, company=Company(alike))
        sectors = (tuple(range(4 * k, 4 * k + 4)) for k in range(0, 8000, 2))
        done = [memory.access(0.0, 0, 0, 1, one, 0.0, 32, 4, 1, 1, 1, 0)[2] for one in sectors]
        return max(done)

    for warm in (0.0, 1.0):
        assert time(66.0, warm) == pytest.approx(time(132.0, warm) / 2, rel=0.05)


def swaps(warps: int, words, blocks: int = 1) -> float:
    """Cycles until warps have had a turn of a loop that swaps at these words: (block, warp) -> words."""
    result, _ = run(
        [row(Pipe.MIO, action=Action.MEMORY, write=0), row(wait=(0,))], warps=warps, blocks=blocks,
        parameters=replace(BARE, shared_swap=100.0, shared_swap_apart=50.0),
        requests=lambda b, w: [request(2, words(b, w), space=1, bypass=3)],
    )  # fmt: skip
    return result.cycles


def test_warps_at_one_word_of_shared_memory_swap_one_after_the_other():
    alone = swaps(1, lambda b, w: [0])
    assert swaps(4, lambda b, w: [w]) < alone + 20
    assert swaps(4, lambda b, w: [0]) > alone + 150
    assert swaps(1, lambda b, w: [0], blocks=4) < alone + 20  # each block has its own


def test_l2_writes_what_comes_from_dram_and_what_sms_store_one_after_the_other():
    figures = replace(BARE, l2_write_bytes=1320.0, l2_bytes=1e6, l2_passing_bytes=1e6, l2_sm_write_bytes=1e6)
    rows = [row(Pipe.LG, action=Action.MEMORY, read=0)]

    def cycles(*kinds) -> float:
        def requests(block: int, warp: int):
            first = [4 * (1000 * warp + k) for k in range(100)]
            return [kinds[k % len(kinds)](k, range(f, f + 4), width=4) for k, f in enumerate(first)]

        _, memory = run(rows, warps=16, repeat=100, requests=requests, parameters=figures)
        return memory.l2_write_busy

    assert cycles(load) == pytest.approx(16 * 100 * 128 / 10)
    assert [cycles(load, store), cycles(store)] == pytest.approx([cycles(load)] * 2)


def test_values_that_come_back_take_time_of_the_sm():
    def time(kind: int) -> float:
        figures = replace(BARE, atomic_lane=0.1, atomic_pass=0.1, atomic_sm=1.25, atomic_sm_return=0.3)
        _, memory = run(
            [row(Pipe.LG, action=Action.MEMORY, read=0)], warps=8, repeat=50, active=1, warm=1.0, parameters=figures,
            requests=lambda b, w: [request(kind, range(4), position=k, wavefronts=4) for k in range(50)],
        )  # fmt: skip
        return memory.l2_busy / 400

    assert time(3) == pytest.approx(5.0)
    assert time(2) == pytest.approx(9.6)


def test_a_sector_alone_takes_l2_as_long_as_two():
    def time(sectors: list[int]) -> float:
        figures = replace(BARE, l2_bytes=132.0, l2_line_least=2.0)
        rows = [row(Pipe.LG, action=Action.MEMORY, write=0)]
        _, memory = run(
            rows, warps=8, repeat=40, parameters=figures, warm=1.0,
            requests=lambda b, w: [load(k, [s + 4 * (40 * w + k) for s in sectors]) for k in range(40)],
        )  # fmt: skip
        return memory.l2_busy

    assert time([0]) == pytest.approx(time([0, 1]))
    assert time([0, 1, 2, 3]) == pytest.approx(2 * time([0, 2]))


def test_sectors_of_dram_without_their_neighbours_take_longer():
    figures = replace(BARE, dram_pieces=(0.0, 120.0, 160.0, 210.0, 256.0))

    def time(step: int, dense: float = 1.0) -> float:
        sharing = Sharing((Region(0, 10**6, 1.0, 0.0, 10**6, dense),), 0.0, 0.0)
        rows = [row(Pipe.LG, action=Action.MEMORY, write=0)]
        _, memory = run(
            rows, repeat=40, parameters=figures, sharing=sharing,
            requests=lambda b, w: [load(k, [step * k]) for k in range(40)],
        )  # fmt: skip
        return memory.dram.busy

    assert time(8) == pytest.approx(40 * 120)
    assert time(4) == pytest.approx(20 * 160)
    assert time(2) == pytest.approx(10 * 256)
    assert time(8, dense=8.0) == pytest.approx(40 * 64)


def test_the_first_load_of_a_page_waits_until_its_address_is_known():
    dram = Dram(replace(BARE, dram_new_page=100.0), 132)
    each = 64 / dram.rate
    assert dram.fetch(0.0, 0, 1.0, 8.0) == pytest.approx(each + 760)
    assert dram.fetch(50.0, 64, 1.0, 8.0) == pytest.approx(each + 760)  # it waits with the first one
    assert dram.fetch(500.0, 128, 1.0, 8.0) == pytest.approx(500 + each + 660)
    assert dram.fetch(900.0, 1 << 16, 1.0, 8.0) == pytest.approx(900 + each + 760)


def test_pairs_of_a_row_of_dram_come_together():
    dram = Dram(replace(BARE, dram_spread=(0.0, 100.0)), 132)
    first, *others = (dram.fetch(10.0 * k, 2 * k, 1.0, 8.0) - 10.0 * k for k in range(17))
    assert others[:15] == pytest.approx([first] * 15)
    assert others[15] != pytest.approx(first)


def test_what_a_busy_dram_takes_longer_has_the_wait_for_its_turn_in_it():
    figures = replace(BARE, loaded=((0.0, 0.0), (1.0, 300.0)), dram_spread=(0.0, 0.0))
    dram = Dram(figures, 132)
    each = 64 / dram.rate
    alone = [dram.fetch(each * k, 2 * k, 1.0, 8.0) - each * (k + 1) for k in range(2000)]
    assert alone[-1] == pytest.approx(960, abs=10)
    queued = [dram.fetch(each * 2000, 2 * k, 1.0, 8.0) - each * 2000 for k in range(100)]
    assert queued[50] == pytest.approx(max(960, 660 + 51 * each), abs=10)


def test_reads_among_the_writes_make_the_dram_slower():
    dram = Dram(replace(BARE, dram_write=1.0, dram_turn=0.25), 132)
    dram.write(0.0, 1000.0, 8.0, True)
    alone = dram.busy
    dram.read = dram.written = 1000.0
    dram.write(0.0, 1000.0, 8.0, True)
    assert dram.busy - alone == pytest.approx(1.125 * alone)


def test_sectors_stored_in_part_without_their_neighbours_take_the_dram_longer():
    def cost(together: float) -> float:
        dram = Dram(replace(BARE, dram_sparse_write=(9.0, 7.0, 3.0, 2.0)), 132)
        dram.write(0.0, 100.0, together, False)
        return dram.busy / 100

    assert [cost(n) for n in (1, 2, 4, 8)] == [9.0, 7.0, 3.0, 2.0]
    assert cost(3) == 5.0


def test_fences_of_an_sm_begin_one_after_the_other():
    figures = replace(
        BARE, membar_gpu=300.0, membar_stored=((1.0, 400.0), (132.0, 600.0)), membar_interval=50.0,
        membar_stored_interval=80.0,
    )  # fmt: skip
    fence = row(Pipe.LG, action=Action.FENCE)

    def time(warps: int, active: int, stored: bool) -> float:
        rows = [row(Pipe.LG, action=Action.MEMORY), fence] if stored else [fence]
        requests = (lambda b, w: [store(2 * k, [64 * w]) for k in range(10)]) if stored else None
        result, _ = run(
            rows, warps=warps, repeat=10, parameters=figures, active=active, requests=requests, details={1: (1, 0)},
        )  # fmt: skip
        return result.cycles / 10

    figures_of_cta = run([fence], repeat=10, parameters=figures, details={0: (0, 0)})[0].cycles
    assert figures_of_cta < 400
    assert time(1, 1, True) == pytest.approx(400, rel=0.03)
    assert time(1, 132, True) == pytest.approx(600, rel=0.03)
    assert time(16, 132, True) == pytest.approx(16 * 80, rel=0.06)


def test_a_fence_waits_for_the_atomics_of_other_warps():
    """One warp has 32 atomics on one word before its fence, and the other a single store."""
    figures = replace(
        BARE, membar_gpu=300.0, membar_stored=((1.0, 400.0),), membar_interval=1.0, membar_stored_interval=1.0,
        atomic_lane=100.0,
    )  # fmt: skip
    rows = [row(Pipe.LG, action=Action.MEMORY, stall=20), row(Pipe.LG, action=Action.FENCE), row(wait=())]

    def time(lanes: int) -> float:
        asked = [request(int(Kind.REDUCTION), (0,) * lanes, lanes=lanes, wavefronts=lanes), store(0, [1 << 10])]
        result, _ = run(
            rows, warps=2, parameters=figures, active=1, warm=1.0, requests=lambda b, w: [asked[w]], details={1: (1, 0)}
        )
        return result.warp_cycles

    # Both warps wait for the last of the atomics.
    assert time(32) - time(1) == pytest.approx(2 * (3200 + 280 - 400), rel=0.06)


@pytest.mark.parametrize(("width", "cold", "waits"), [(1, True, "dram"), (4, True, "l1"), (1, False, "l1")])
def test_bytes_of_local_memory_bring_the_rest_of_their_sectors_when_they_are_loaded(width, cold, waits):
    memory = Memory(BARE, Sharing.none(), 1, float(not cold), 0, cold)
    local, sectors = int(Space.LOCAL), range(4)
    access(memory, 0.0, request(int(Kind.STORE), sectors, space=local, width=width))
    took = [access(memory, at, request(int(Kind.LOAD), sectors, space=local, width=width))[2] - at for at in (1e4, 2e4)]
    least = {"dram": BARE.dram_latency, "l1": BARE.l1_latency}[waits]
    assert took[0] == pytest.approx(least, rel=0.03)
    assert took[1] == pytest.approx(BARE.l1_latency, rel=0.03)
    assert memory.dram.moved == (128 if waits == "dram" else 0)


def test_a_run_that_ends_with_its_last_instructions_beyond_the_budget_is_complete():
    rows, one = [row(Pipe.FMA)] * 99, [BlockWork.of(0, (WarpWork(list(range(100)), []),))]
    program = TimedProgram((), (*rows, END), {}, tuple(range(1, 101)))

    def ended(budget: int):
        memory, clock = Memory(BARE, Sharing.none(), 1, 0.0, 0), BlockClock(BARE, 1, 1)
        return simulate(program, one, BARE, memory, clock, budget=budget)

    assert ended(98).complete
    assert ended(98).cycles == ended(1000).cycles


def _jumps(places: int, lines: int) -> float:
    """Cycles per jump of a warp that goes round between places of code that lie ``lines`` lines apart."""
    apart = 8 * lines
    code = [apart * k for k in range(places)] * 200
    rows = [row(Pipe.FMA)] * (apart * places)
    program = TimedProgram((), (*rows, END), {}, tuple(range(1, len(rows) + 2)))
    blocks = [BlockWork.of(0, (WarpWork([*code, len(rows)], []),))]
    memory, clock = Memory(BARE, Sharing.none(), 1, 0.0, 0), BlockClock(BARE, 1, 1)
    return simulate(program, blocks, BARE, memory, clock).cycles / len(code)


def test_a_jump_waits_for_code_that_its_scheduler_does_not_keep():
    # An H200 took 11 and 20 cycles more for jumps of 4 and 8 lines to 32 places than to 8.
    kept = _jumps(8, 4)
    assert _jumps(8, 16) == pytest.approx(kept, abs=0.3)
    assert _jumps(32, 4) - kept == pytest.approx(11, abs=3)
    assert _jumps(32, 8) - kept == pytest.approx(20, abs=3)
    assert _jumps(30, 1) == pytest.approx(1 + BARE.branch_taken, abs=1)


def test_what_touches_memory_spends_more_of_the_budget():
    def issued(requests):
        rows = [row(Pipe.LG, action=Action.MEMORY)] + [row(Pipe.FMA)] * 9
        return run(rows, repeat=1000, warps=4, requests=requests, budget=5000)[0]

    few = issued(lambda b, w: [load(0, [w])])
    many = issued(lambda b, w: [load(10 * k, [w]) for k in range(1000)])
    assert not few.complete
    assert not many.complete
    assert 4900 < few.issued <= 5001
    assert many.issued < 0.5 * few.issued


def test_a_wait_for_a_copy_at_an_mbarrier_is_one_for_memory():
    wait = row(Pipe.MIO, action=Action.MBARRIER, latency=30, write=0)
    result, _ = run([wait, row(Pipe.ALU, interval=2, wait=(0,))], repeat=100)
    assert state(result, "long_scoreboard") == pytest.approx(2900, abs=100)
    assert state(result, "short_scoreboard") == 0


def test_waves_of_blocks_follow_each_other():
    figures = replace(BARE, block_turnarounds=((1.0, 300.0),))
    rows = [row(Pipe.FMA, stall=4)]
    one, _ = run(rows, repeat=100, blocks=2, resident=2, parameters=figures)
    three, _ = run(rows, repeat=100, blocks=6, resident=2, parameters=figures)
    assert three.cycles == pytest.approx(3 * one.cycles + 2 * 300, rel=0.02)
    assert len(three.finished) == 6


def test_blocks_start_one_after_the_other_on_the_whole_gpu():
    figures = replace(BARE, block_intervals=((1.0, 1.2),))
    result, _ = run([row(Pipe.FMA)], blocks=16, resident=16, parameters=figures)
    assert result.cycles == pytest.approx(16 * 132 * 1.2, rel=0.02)


def test_code_comes_line_after_line_from_the_second_cache():
    figures = replace(BARE, icache_line=16)
    result, _ = run([row(Pipe.FMA)] * 4095, parameters=figures)
    assert result.cycles == pytest.approx(511 * 16 + 8, rel=0.03)
    assert state(result, "no_instruction") == pytest.approx(511 * 8, abs=10)


def test_warps_at_different_places_of_long_code_do_not_wait_for_each_others_lines():
    figures = replace(BARE, icache_line=16, icache_miss=500)
    rows = [row(Pipe.FMA, stall=4)] * 4095
    alone, _ = run(rows, parameters=figures)
    late = replace(figures, block_intervals=((1.0, 9500 / 132),))  # the first cache has lost the first lines by then
    both, _ = run(rows, blocks=2, parameters=late)
    assert both.cycles == pytest.approx(alone.cycles + 19_000, rel=0.03)


def test_the_second_cache_gives_lines_to_warps_at_different_places_in_turn():
    """Four streams of lines, each too far behind the one before it for the first cache."""
    rows = [row(Pipe.FMA, stall=4)] * 6000
    late = replace(BARE, icache_line=16, block_intervals=((1.0, 9500 / 132),))
    together, _ = run(rows, blocks=4, parameters=late)
    assert together.cycles < 4 * 9500 + 24_000 * 1.4
    crowded, _ = run(rows, blocks=4, parameters=replace(late, icache_line=64))
    assert crowded.cycles > 1.5 * together.cycles


def test_code_that_fits_into_the_first_cache_is_there_from_the_launch_before():
    result, _ = run([row(Pipe.FMA)] * 255, parameters=replace(BARE, icache_line=16))
    assert result.cycles == pytest.approx(256, abs=2)
    assert not state(result, "no_instruction")


@pytest.mark.parametrize(("warps", "blocks", "busiest"), [(5, 1, 2), (5, 4, 5), (5, 8, 10), (3, 2, 2), (13, 3, 10)])
def test_the_warps_of_all_blocks_are_spread_over_the_schedulers(warps, blocks, busiest):
    """As the rows ``interval_sm.LOP3.blocks.B.warps.W`` of an H200: 2 cycles per warp of the busiest scheduler."""
    rows = [row(Pipe.ALU, interval=2)]
    result, _ = run(rows, warps=warps, blocks=blocks, repeat=200, parameters=BARE)
    assert result.cycles == pytest.approx(2 * busiest * 200, rel=0.05)
    measured = load_atlas("H200")[f"interval_sm.LOP3.blocks.{blocks}.warps.{warps}"]
    assert measured == pytest.approx(2 * busiest, rel=0.06)


def test_l1_has_room_for_lines_and_not_for_sectors_alone():
    """One sector of each of N lines, twice: from L1 the second time if the lines fit, as the rows latency.chase.N."""
    few, many = (_read_again(kib) for kib in (192, 320))
    assert few == 1
    assert many < 0.1


@pytest.mark.parametrize("kib", [192, 224, 256])
def test_lines_beyond_l1_miss_by_its_sets(kib):
    """The rows latency.chase.N: one sector of each line of a ring, again and again. Beyond 512 KiB L1 has none."""
    atlas = load_atlas("H200")
    near, far, here = (atlas[f"latency.chase.{n}"] for n in (128, 512, kib))
    hits = _read_again(kib, replace(BARE, l1_capacity=parameters(resolve("H200")).l1_capacity - RING_CARVED))
    assert 1 - hits == pytest.approx((here - near) / (far - near), abs=0.1)


def _read_again(kib: int, figures: Parameters = BARE) -> float:
    """The share of the second reading that L1 has."""
    sectors = list(range(0, kib << 5, 4))
    requests = [load(k, [sector]) for k, sector in enumerate([*sectors, *sectors])]
    _, memory = run(
        [row(Pipe.LG, action=Action.MEMORY)] * 2, repeat=len(sectors), requests=lambda b, w: requests,
        parameters=figures,
    )  # fmt: skip
    return 2 * memory.l1_hits / memory.l1_requests


@pytest.mark.parametrize("cold", [True, False])
def test_bytes_that_fill_their_sectors_of_local_memory_come_from_l2(cold: bool):
    def waits(stores: int, loaded_after: int) -> float:
        """Cycles of the last load, where each store has a byte of each word, and another load comes before."""
        memory = Memory(BARE, Sharing.none(), 132, 1.0, 0, cold=cold)
        local, sectors = int(Space.LOCAL), range(4)
        for k in range(stores):
            access(memory, 1e4 * k, request(int(Kind.STORE), sectors, space=local, width=1))
            if k + 1 == loaded_after:
                access(memory, 1e4 * k + 5e3, request(int(Kind.LOAD), sectors, space=local, width=1))
        at = 1e4 * stores
        return access(memory, at, request(int(Kind.LOAD), sectors, space=local, width=1))[2] - at

    assert waits(4, 0) == pytest.approx(BARE.l2_latency, abs=20)
    assert (waits(3, 0) > 650) is cold  # a byte is missing, and DRAM or the launch before has it
    assert waits(4, 1) < 60  # it is in L1 since it was loaded


def test_a_load_uses_the_units_of_the_array_that_most_of_its_sectors_lie_in():
    p = replace(BARE, l2_bytes=1320.0, atomic_spread=((7.0, 1.0), (20.0, 80.0)))
    small, large = (Region(first, last, 100.0, 100.0, 1.0) for first, last in ((0, 255), (1 << 20, 2 << 20)))

    def time(of_small: int) -> float:
        memory = Memory(p, Sharing((small, large), 0.0, 0.0), 132, 1.0, 0)
        sectors = [*(4 * k for k in range(of_small)), *(1 << 20 | 400 * k for k in range(32 - of_small))]
        access(memory, 0.0, load(0, sectors))
        return memory.l2_busy

    assert time(1) == time(8) == time(0)
    assert time(32) == time(24) > 1.5 * time(0)


def test_an_sm_that_waits_for_a_line_per_cycle_does_not_make_l2_busy():
    p = replace(BARE, l2_bytes=4000.0, l2_sm_bytes=1000.0, l2_loaded=((0.0, 0.0), (0.3, 0.0), (1.0, 500.0)))

    def latest(sms: int) -> float:
        memory = Memory(p, Sharing.none(), sms, 1.0, 0)
        ends = [access(memory, 32.0 * k, load(0, [400 * (32 * k + n) for n in range(32)]))[2] for k in range(50)]
        return ends[-1] - 32.0 * 49

    assert latest(8) < 400  # L2 could serve eight times as much
    assert latest(132) > 700


def _local(kind: int, count: int, local_bytes: float = 0.0, figures: Parameters = BARE) -> float:
    """Cycles per request of a whole line of local memory by one SM of 132; each is another line."""
    memory = Memory(figures, Sharing.none(), 132, 1.0, 0, local_bytes=local_bytes)
    for k in range(count):
        access(memory, 0.0, request(kind, range(4 * k, 4 * k + 4), space=2))
    return max(memory.l2_write_free, memory.l2_free, memory.dram.free) / count


def test_local_memory_is_written_to_l2_and_beyond_its_size_to_dram():
    assert _local(1, 200) == pytest.approx(max(BARE.local_line[0], 128 / BARE.l2_sm_write_bytes))
    quick = replace(BARE, local_line=(4.0, 8.0))
    assert _local(1, 200, 200e6, quick) == pytest.approx(128 * 132 / BARE.dram_bytes)
    memory = Memory(BARE, Sharing.none(), 132, 1.0, 0)
    access(memory, 0.0, request(1, range(4), space=2))
    _, _, there = access(memory, 500.0, request(0, range(4), space=2))
    assert there == pytest.approx(500 + BARE.l1_latency, abs=2)


def test_l2_answers_later_when_it_has_been_busy_and_not_in_a_burst():
    figures = replace(BARE, l2_loaded=((0.0, 0.0), (0.9, 300.0)))
    memory = Memory(figures, Sharing.none(), 132, 1.0, 0)
    each = memory.l2_cycles
    _, _, burst = access(memory, 0.0, request(0, range(1024), bypass=1))
    assert burst == pytest.approx(figures.l2_latency + 1024 * each, rel=0.01)
    _, _, busy = access(memory, 1024 * each, request(0, range(1024, 1028), bypass=1))
    assert busy - 1028 * each > figures.l2_latency + 250


def test_what_waits_in_front_of_a_server_is_not_yet_its_load():
    server = Load(1000.0)
    assert server.count(0.0, 300.0) == 0.0
    assert server.count(0.0, 5000.0) == 0.0
    assert server.count(300.0, 0.0) == pytest.approx(1 - np.exp(-0.3))
    assert server.count(8300.0, 0.0) == pytest.approx(np.exp(-3.0), rel=0.05)  # 5300 of work, then 3000 without


def test_steady_work_is_a_share_of_the_time():
    server, share = Load(1000.0), 0.0
    for turn in range(400):
        share = server.count(20.0 * turn, 12.0)
    assert share == pytest.approx(0.6, abs=0.01)


def test_a_load_from_dram_takes_longer_among_writes():
    assert later(((0.0, 0.0), (1.0, 100.0)), ((0.0, 0.0), (1.0, 500.0)), 0.5, 0.25) == pytest.approx(100)


def test_lines_of_a_small_array_keep_few_units_of_l2_at_work():
    figures = replace(BARE, atomic_spread=((7.0, 1.0), (13.0, 16.0), (22.0, 64.0)))
    scattered, together = (range(0, 4 * 32, 4), range(4))

    def took(nbytes: int, sectors) -> float:
        array = Region(0, nbytes // 32 - 1, 132.0, 0.0, nbytes / 32)
        memory = Memory(figures, Sharing((array,), 0.0, 0.0), 132, 1.0, 0)
        access(memory, 0.0, request(0, sectors, bypass=1))
        return memory.l2_free

    small, large = took(1 << 12 | 32, scattered), took(1 << 22, scattered)
    assert small == pytest.approx(4 * large, rel=0.01)
    assert took(1 << 12, scattered) == large  # no more lines than one request: all SMs want them at the same time
    assert took(1 << 12 | 32, together) == took(1 << 22, together)


@pytest.mark.parametrize(("lines", "active", "per_line"), [(200, 132, 8), (300, 132, 18), (1100, 132, 45)])
def test_a_loop_larger_than_an_instruction_cache_fetches_its_code_in_every_round(lines, active, per_line):
    figures = replace(BARE, icache_line=18, icache_line_l2=45)
    once, _ = run([row(Pipe.FMA)] * (8 * lines), parameters=figures, active=active)
    thrice, _ = run([row(Pipe.FMA)] * (8 * lines), repeat=3, parameters=figures, active=active)
    assert (thrice.cycles - once.cycles) / 2 == pytest.approx(lines * per_line, rel=0.03)


def test_code_that_the_second_cache_does_not_hold_is_there_in_part_from_the_launch_before():
    # An H200 took 35 and 41.5 cycles per line of straight code of 160 and 384 KiB, where a loop takes 45.
    figures = replace(BARE, icache_line=17.8, icache_line_l2=44.8)
    for kib, cycles in ((64, 18), (144, 33), (160, 35), (256, 39), (384, 41.5)):
        result, _ = run([row(Pipe.FMA)] * (64 * kib), parameters=figures)
        assert result.cycles / (8 * kib) == pytest.approx(cycles, rel=0.05), kib


def test_a_fence_begins_when_loads_of_the_sm_have_come():
    # An H200: a fence of one warp took 283 cycles beside warps that compute or load from shared memory, and 644 and 729
    # beside one and eight warps that load from L2 again and again (2026-11-29).
    rows = [row(Pipe.LG, action=Action.MEMORY), row(Pipe.LG, action=Action.FENCE), row(Pipe.NONE)]
    alone, _ = run(rows, details={1: (1, 0)})
    beside, _ = run(rows, details={1: (1, 0)}, requests=lambda b, w: [load(0, range(4))], warm=1.0)
    assert beside.cycles - alone.cycles == pytest.approx(BARE.l2_latency, abs=10)


def test_one_unit_serves_the_barriers_of_all_blocks():
    one, _ = run([row(Pipe.MIO, action=Action.BARRIER)], warps=16, repeat=50, details={0: (0, 0)})
    four, _ = run([row(Pipe.MIO, action=Action.BARRIER)], warps=16, blocks=4, repeat=50, details={0: (0, 0)})
    assert four.cycles == pytest.approx(50 * 64 * BARE.barrier_stagger, rel=0.1)
    assert four.cycles > 1.5 * one.cycles


def test_every_cycle_of_a_warp_has_one_reason():
    rows = [
        row(Pipe.LG, action=Action.MEMORY, write=0, stall=2),
        row(Pipe.ALU, interval=2, wait=(0,), stall=5),
        row(Pipe.XU, action=Action.VARIABLE, interval=8, latency=18, write=1),
        row(Pipe.MIO, action=Action.BARRIER, wait=(1,)),
    ]
    result, _ = run(
        rows, warps=12, repeat=10, details={3: (0, 0)},
        requests=lambda b, w: [load(4 * k, [4 * (100 * w + k)]) for k in range(10)],
    )  # fmt: skip
    spent = sum(map(sum, result.states))
    starts = sum(range(12))  # the warps of a block start one after the other
    assert spent == pytest.approx(result.warp_cycles - starts, rel=0.01)
    assert np.isfinite(spent)


def test_the_first_load_of_a_launch_takes_longer_and_later_ones_do_not():
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0), row(Pipe.FMA, wait=(0,))]

    def time(extra: float) -> float:
        figures = replace(BARE, first_load=(((1.0, 0.0),), ((1.0, extra),)))
        each = [load(2 * k, [64 * k]) for k in range(20)]
        result, _ = run(rows, repeat=20, requests=lambda b, w: each, active=1, warm=1.0, parameters=figures)
        return result.cycles

    assert time(200.0) == pytest.approx(time(0.0) + 200, abs=2)


def test_a_launch_ends_when_its_last_store_is_answered():
    rows = [row(Pipe.LG, action=Action.MEMORY, read=0)]

    def end(drain: float) -> float:
        figures = replace(BARE, drain=(((1.0, 0.0),), ((1.0, drain),)))
        return run(rows, repeat=5, parameters=figures, warm=1.0,
                   requests=lambda b, w: [store(k, [64 * k]) for k in range(5)])[0].drained  # fmt: skip

    assert end(500.0) == pytest.approx(end(0.0) + 500, abs=10)


def test_bsync_and_a_divergence_take_their_cycles():
    rows = [row(Pipe.BRANCH, latency=1), row(Pipe.FMA), row(Pipe.BRANCH, latency=11)]
    figures = replace(BARE, divergence=13.0)
    plain, _ = run(rows, repeat=10, parameters=figures)
    joined, _ = run(rows, repeat=10, parameters=figures, details={2: (0, 0)})
    # The loop's end is a taken branch for both: only the last of the ten comes before an instruction that follows.
    assert joined.cycles == pytest.approx(plain.cycles + 10, abs=1)
    parted, _ = run(rows, repeat=10, parameters=figures, splits=dict.fromkeys((0, 3, 6), Split.PARTED))
    assert parted.cycles == pytest.approx(plain.cycles + 3 * 13, abs=3)


@pytest.mark.parametrize("kind", list(Split))
def test_a_warp_waits_behind_an_instruction_by_the_kind_of_its_split(kind):
    rows = [row(Pipe.BRANCH, latency=1), row(Pipe.FMA), row(Pipe.FMA)]
    figures = replace(BARE, divergence=10.0, parted=(20.0, 30.0, 40.0), yielded=(50.0, 60.0))
    plain, _ = run(rows, repeat=10, parameters=figures)
    held, _ = run(rows, repeat=10, parameters=figures, splits=dict.fromkeys((0, 3, 6), kind))
    assert held.cycles == pytest.approx(plain.cycles + 3 * 10 * kind, abs=3)


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
def test_the_compiled_loop_does_what_the_loop_in_python_does():
    """Three blocks with loads, shared memory, a barrier, a branch and a queue that is full."""
    rows = [
        row(Pipe.LG, action=Action.MEMORY, write=0, latency=30), row(Pipe.FMA, wait=(0,), stall=4, banks=(2, 1)),
        row(Pipe.MIO, action=Action.MEMORY, write=1, read=2, latency=23.5), row(Pipe.ALU, interval=2),
        row(Pipe.XU, action=Action.VARIABLE, write=3, interval=8, latency=17.5), row(Pipe.FMA_HEAVY, wait=(1, 2, 3)),
        row(Pipe.MIO, action=Action.BARRIER), row(Pipe.BRANCH, interval=2, stall=5),
    ]  # fmt: skip

    def requests(block: int, warp: int) -> list[MemoryRequest]:
        loads = [load(8 * k, range(4 * (k + warp), 4 * (k + warp) + 4)) for k in range(20)]
        return sorted([*loads, *(shared(8 * k + 2, 1 + warp % 3) for k in range(20))])

    found = []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(run(rows, warps=9, blocks=3, repeat=20, resident=2, requests=requests)[0])
    assert found[0].issued == 27 * 161
    assert np.array_equal(found[0].states, found[1].states)
    assert replace(found[0], states=found[1].states) == found[1]


def test_constants_that_are_there_take_their_latency():
    constant = (*row(Pipe.CONSTANT, action=Action.VARIABLE, latency=28, write=0)[:-1], 7)
    rows = [constant, row(Pipe.ALU, wait=(0,), stall=100), constant, row(Pipe.ALU, wait=(0,))]
    once, _ = run(rows[:2], parameters=replace(BARE, constant_miss=70))
    twice, _ = run(rows, parameters=replace(BARE, constant_miss=70))
    assert twice.cycles - once.cycles == pytest.approx(28, abs=3)


@pytest.mark.parametrize(("code", "passes", "latency"), [(0, 1, 26), (0, 32, 88), (2, 1, 30), (2, 32, 154)])
def test_an_atomic_of_shared_memory_takes_its_passes_twice(code, passes, latency):
    # As the rows latency.ATOMS.ADD.lanes.N and latency.ATOMS.CAS.lanes.N of the atlas say.
    memory = Memory(BARE, Sharing.none(), 132, 0.0, 0)
    alone = 30.0 if code else 26.0
    made = request(2, (), space=1, wavefronts=passes, lanes=passes, bypass=code)
    assert access(memory, 0.0, made, alone)[2] == latency
    assert memory.lsu_free == passes * (2 if code else 1)


def test_a_shared_atomic_is_asked_of_the_memory_system():
    rows = [row(Pipe.MIO, action=Action.MEMORY, latency=26, write=0), row(Pipe.ALU, wait=(0,))]
    plain, _ = run(rows, requests=lambda b, w: [shared(0, 32)])
    found = [run(rows, requests=lambda b, w, c=code: [request(2, (), space=1, wavefronts=32, bypass=c)])[0].cycles
             for code in (0, 2)]  # fmt: skip
    # A sum takes the passes of a load, and a swap twice as many: the memory system knows which is which.
    assert found == [plain.cycles, pytest.approx(plain.cycles + 64, abs=3)]


@pytest.mark.parametrize(("name", "passes"), [("LDS", 1), ("LDS.64", 2), ("LDS.128", 4)])
def test_a_load_of_shared_memory_is_later_by_two_cycles_per_conflict(name, passes):
    atlas, latency = load_atlas("H200"), parameters(resolve("H200")).latency[name]
    for conflict in (1, 2, 4, 8):
        rows = [row(Pipe.MIO, action=Action.MEMORY, latency=latency, write=0), row(wait=(0,))]
        cycles = [run(rows, requests=lambda b, w, n=n: [shared(0, n)])[0].cycles for n in (1, passes * conflict)]
        assert cycles[1] - cycles[0] == 2 * (passes * conflict - 1)
        assert latency + cycles[1] - cycles[0] == pytest.approx(atlas[f"latency.{name}.conflict.{conflict}"], abs=3.1)


def test_a_warp_has_one_request_of_shared_memory_at_a_time_and_the_unit_two():
    # An H200 stored with 4, 8 and 32 passes: one warp alone took 8.1, 16.4 and 65.9 cycles per store, two warps of one
    # scheduler 4.1, 9.0 and 35.6 per store of any, and two of two schedulers 4.1, 8.2 and 33.0.
    def cycles(warps: int, passes: int, count: int) -> float:
        rows = [row(Pipe.MIO, action=Action.MEMORY, latency=23)] * count
        return run(rows, warps=warps, requests=lambda b, w: [shared(k, passes) for k in range(count)])[0].cycles

    took = {
        (warps, passes): (cycles(warps, passes, 80) - cycles(warps, passes, 40)) / 40 / warps
        for warps in (1, 2, 4) for passes in (8, 32)
    }  # fmt: skip
    measured = {(1, 8): 16.4, (1, 32): 65.9, (2, 8): 8.2, (2, 32): 33.0, (4, 8): 8.2, (4, 32): 33.0}
    assert took == {key: pytest.approx(cycles, rel=0.1) for key, cycles in measured.items()}


@pytest.mark.parametrize(("different", "name"), [(1, "ALL"), (32, "ANY")])
def test_a_match_takes_its_values_one_after_the_other(different, name):
    atlas, p = load_atlas("H100"), parameters(resolve("H100"))
    memory = Memory(p, Sharing.none(), 132, 0.0, 0)
    made = request(0, (), space=int(Space.VALUES), wavefronts=different)
    result = access(memory, 0.0, made, p.latency["MATCH.ANY"])[2]
    assert result == pytest.approx(atlas[f"latency.MATCH.{name}"])
    assert memory.lsu_free == pytest.approx(atlas[f"interval.MATCH.{name}"] / 4, rel=0.01)


def test_a_match_of_64_bits_takes_four_cycles_per_value():
    # An H100 took 4.0 cycles of the SM per value, and 13 more until the result for each further one.
    p = parameters(resolve("H100"))
    made = [request(0, (), space=int(Space.VALUES), wavefronts=n, width=8) for n in (1, 9)]
    ends = []
    for one in made:
        memory = Memory(p, Sharing.none(), 132, 0.0, 0)
        ends.append((access(memory, 0.0, one, 30.0)[2], memory.lsu_free))
    assert ends[0][1] == 4
    assert ends[1] == (ends[0][0] + 8 * 13, 9 * 4)


@pytest.mark.parametrize(("warps", "addresses", "cycles"), [(1, 8, 105), (1, 32, 369), (8, 32, 511), (32, 8, 512)])
def test_constants_at_different_addresses_follow_each_other(warps, addresses, cycles):
    # Cycles per load of a chain on an H100, by how many addresses a warp's lanes have.
    p = parameters(resolve("H100"))
    constant = row(Pipe.CONSTANT, action=Action.VARIABLE, interval=p.interval["LDC"], latency=28, write=0, wait=(0,))
    chain = [constant] * 40
    requests = [
        request(0, (0,), position=k, space=int(Space.CONSTANT), wavefronts=addresses) for k in range(len(chain))
    ]
    long, _ = run(chain, requests=lambda b, w: requests, warps=warps, parameters=replace(BARE, constant_miss=0))
    short, _ = run(
        chain[:20], requests=lambda b, w: requests[:20], warps=warps, parameters=replace(BARE, constant_miss=0)
    )
    assert (long.cycles - short.cycles) / 20 == pytest.approx(cycles, rel=0.03)


@pytest.mark.parametrize(("nbytes", "cycles"), [(64, 193), (1024, 215), (8000, 433), (32000, 1183)])
def test_a_bulk_store_is_read_from_shared_memory_at_32_bytes_per_cycle(nbytes, cycles):
    # Cycles of a store and the wait for it, by one thread of an H100.
    made = request(int(Kind.STORE), range(nbytes // 32), lanes=1)
    rows = [
        row(Pipe.MIO, action=Action.MEMORY), row(Pipe.MIO, action=Action.BULK, read=0), row(Pipe.ALU, wait=(0,))
    ]  # fmt: skip
    result, _ = run(rows, requests=lambda b, w: [made])
    without, _ = run(rows[1:])
    assert result.cycles - without.cycles == pytest.approx(cycles, rel=0.08)
