"""What atomics cost while they run, beside a model that takes warp after warp and lane after lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Box, Lanes, lanes_of
from softlab.emulator.machine.native import available
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments import atomic_counter
from softlab.instruments.atomic_counter import AtomicCounter
from softlab.instruments.atomics import MachineAtomic
from tests.sampled import each

BLOCKS, THREADS = 5, 96
NEEDS_COMPILER = pytest.mark.skipif(not available(), reason="needs llvmlite")
Totals = dict[int, Counter[str]]


def warps_of(lanes: Lanes, address: Any) -> Iterator[dict[int, int]]:
    """For each warp with a lane of the set: lane -> its address."""
    found: dict[tuple[int, int], dict[int, int]] = {}
    flat = np.broadcast_to(np.asarray(address), lanes.extent).reshape(-1)
    for (row, column), at in zip(np.argwhere(lanes.mask), flat, strict=True):
        found.setdefault((int(row), int(column) // 32), {})[int(column) % 32] = int(at)
    yield from found.values()


def most(keys: Any) -> int:
    return max(Counter(keys).values())


def in_global(warp: dict[int, int], atomic: MachineAtomic) -> dict[str, int]:
    """A sector counts once for each turn; lanes whose addresses are a multiple of 1024 bytes apart take turns."""
    turn, used = Counter[int](), set()
    for lane in sorted(warp):
        used.add((warp[lane] // 32, turn[warp[lane] % 1024]))
        turn[warp[lane] % 1024] += 1
    kind = "reduction" if atomic.reduction else "atomic"
    return {f"global_{kind}_requests": 1, f"global_{kind}_sectors": len(used)}


def in_shared(warp: dict[int, int], width: int, atomic: MachineAtomic, known: bool) -> dict[str, int]:
    """Lanes that meet in a bank go one after the other: 8 bytes per lane by half warps, with 16 pairs of banks."""
    halves = [[at for lane, at in warp.items() if lane // 16 == half] for half in (0, 1)] if width == 8 else [
        list(warp.values())]  # fmt: skip
    in_bank = [most(at // max(4, width) % (128 // max(4, width)) for at in half) for half in halves if half]
    found = {}
    if atomic.counts:
        found["shared_atomic_wavefronts"] = sum(most(word % (128 // width) for word in {at // width for at in half})
                                                for half in halves if half)  # fmt: skip
    elif atomic.loop:
        turns = max(*in_bank, most(warp.values()))
        found["shared_atomic_wavefronts"] = turns * 2 * len(in_bank)
        found |= {"turns": turns - 1, "shared_load_instructions": turns, "shared_load_wavefronts": turns}
    else:
        found["shared_atomic_wavefronts"] = sum(in_bank) * (2 if atomic.swaps else 1)
    if not known:
        found["shared_atomic_instructions"] = 1
    return found


def expected(site: Site, lanes: Lanes, address: Any, atomic: MachineAtomic, known: bool = True) -> Counter[str]:
    total = Counter[str]()
    for warp in warps_of(lanes, address):
        mine = {max(warp): warp[max(warp)]} if atomic.elected else warp
        total.update(in_global(mine, atomic) if site.space == "global" else in_shared(mine, site.width, atomic, known))
    return total


def site(index: int, space: str = "shared", kind: str = "u4", opcode: str = "atom", operation: str = "add") -> Site:
    return Site(index, Instruction(opcode, (), ()), space, np.dtype(kind), operation=operation)


#: Of each kind one, on shared and on global memory, with 4 and 8 bytes per lane.
ATOMICS = [MachineAtomic(), MachineAtomic(counts=True), MachineAtomic(swaps=True), MachineAtomic(loop=True),
           MachineAtomic(elected=True), MachineAtomic(reduction=True),
           MachineAtomic(reduction=True, elected=True)]  # fmt: skip
SITES = [
    site(index, space, kind)
    for index, (space, kind, _) in enumerate(
        (space, kind, a) for space in ("shared", "global") for kind in ("u4", "u8") for a in ATOMICS
    )
]
MACHINE = {one.index: ATOMICS[one.index % len(ATOMICS)] for one in SITES}


def any_lanes(random: np.random.Generator) -> Lanes:
    rows, columns = random.random(BLOCKS) < 0.8, random.random(THREADS) < random.choice([0.2, 0.7, 1])
    mask = (rows[:, None] & columns) & (random.random((BLOCKS, THREADS)) < random.choice([0.5, 1, 1]))
    mask[0, 3] = True
    return lanes_of(mask)


def any_address(random: np.random.Generator, lanes: Lanes, width: int) -> Any:
    """Shared by all lanes, by all blocks, or by none."""
    shapes: list[tuple[int, ...]] = [
        (),
        lanes.extent,
        (1, lanes.extent[-1]) if len(lanes.extent) == 2 else lanes.extent,
    ]
    shape = shapes[random.integers(3)]
    values = random.integers(0, random.choice([4, 40, 700]), shape, np.uint32) * np.uint32(width)
    return values if shape else np.uint32(values)


def tell(counter: AtomicCounter, where: Site, lanes: Lanes, address: Any, known: Any) -> None:
    (counter.global_ if where.space == "global" else counter.shared)(where, lanes, address, known)


@pytest.mark.parametrize("compiled", ["none", pytest.param("all", marks=NEEDS_COMPILER)])
@pytest.mark.parametrize("seed", each(4, range(10)))
@pytest.mark.parametrize("most_known", [3, 1024])
def test_each_warp_adds_what_it_costs(
    seed: int, most_known: int, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each access comes several times, as in a loop; the totals of a part do not come again in the next."""
    monkeypatch.setattr(atomic_counter, "_MOST_KNOWN", most_known)
    random, known, counter = np.random.default_rng(seed), KnownAddresses(), AtomicCounter(MACHINE)
    counter.begin(compiled)
    for _ in range(3):
        totals: Totals = {}
        for _ in range(12):
            lanes = any_lanes(random)
            where = SITES[random.integers(len(SITES))]
            address = any_address(random, lanes, where.width)
            others = [where, *(one for one in SITES if one.index % 7 == where.index % 7 and one.width == where.width)]
            for one in others[: random.integers(1, 4)]:
                tell(counter, one, lanes, address, known.of(address))
                totals.setdefault(one.index, Counter()).update(expected(one, lanes, address, MACHINE[one.index]))
        assert counter.take_totals() == totals
    assert counter.take_totals() == {}


@pytest.mark.parametrize("opcode", ["atom", "red"])
def test_atomics_of_ptx_where_the_machine_code_is_not_known(opcode: str) -> None:
    counter, lanes, known = AtomicCounter(None), lanes_of(np.ones((BLOCKS, THREADS), bool)), KnownAddresses()
    address = np.arange(0, 4 * THREADS, 4, np.uint32)[None] // np.uint32(8) * np.uint32(8)
    shared, global_ = site(3, opcode=opcode), site(9, "global", opcode=opcode)
    counter.shared(shared, lanes, address, known.of(address))
    counter.global_(global_, lanes, address, known.of(address))
    kind = "atomic" if opcode == "atom" else "reduction"
    warps = BLOCKS * THREADS // 32
    # Two lanes per address: two lanes per bank, and two turns of four sectors.
    assert counter.take_totals() == {
        3: {"shared_atomic_wavefronts": 2 * warps, "shared_atomic_instructions": warps},
        9: {f"global_{kind}_requests": warps, f"global_{kind}_sectors": 8 * warps},
    }


def test_what_is_no_atomic_of_the_machine_does_not_count() -> None:
    """The assembler removed it, or it is on an mbarrier."""
    counter, lanes = AtomicCounter({1: MachineAtomic()}), lanes_of(np.ones((BLOCKS, THREADS), bool))
    counter.shared(site(2), lanes, np.uint32(0), None)
    counter.shared(site(1, operation="mbarrier"), lanes, np.uint32(0), None)
    counter.global_(site(2, "global"), lanes, np.uint32(0), None)
    assert counter.take_totals() == {}
    counter.shared(site(1), lanes, np.uint32(0), None)
    assert counter.take_totals() == {1: {"shared_atomic_wavefronts": 32 * BLOCKS * THREADS // 32}}


def test_the_same_access_is_counted_once_for_all_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes again is noted with its blocks, and counted at the end; a full table is counted before."""
    counted: list[int] = []
    plain = atomic_counter.shared_atomic_wavefronts

    def counting(address: np.ndarray, *rest: Any) -> np.ndarray:
        counted.append(len(address))
        return plain(address, *rest)

    monkeypatch.setattr(atomic_counter, "shared_atomic_wavefronts", counting)
    monkeypatch.setattr(atomic_counter, "_MOST_KNOWN", 2)
    counter, known = AtomicCounter(MACHINE), KnownAddresses()
    lanes = Box(BLOCKS, THREADS, None, None)
    address = np.arange(0, 4 * THREADS, 4, np.uint32)[None]
    for _ in range(5):
        counter.shared(SITES[0], lanes, address, known.of(address))
        counter.shared(SITES[1], lanes, address, known.of(address))
    assert counted == []
    counter.shared(SITES[0], lanes, np.uint32(64), None)
    assert counted == [3, 3], "the warps of one block, for each of two kinds"
    totals = counter.take_totals()
    assert counted == [3, 3, 3]
    assert totals[0] == {"shared_atomic_wavefronts": 5 * BLOCKS * 3 + BLOCKS * 3 * 32}
    assert totals[1] == {"shared_atomic_wavefronts": 5 * BLOCKS * 3}
