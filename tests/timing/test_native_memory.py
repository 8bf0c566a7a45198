"""The compiled memory system gives what Python's gives, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.hardware.devices import resolve
from softlab.sass.streams import Kind, Space
from softlab.timing.blocks import BlockClock
from softlab.timing.company import Company
from softlab.timing.memory import Memory
from softlab.timing.memory_arrays import Asked, MemoryArrays, numbered
from softlab.timing.order import Order
from softlab.timing.parameters import parameters
from softlab.timing.program import Action, Pipe, TimedProgram
from softlab.timing.sharing import Region, Sharing
from softlab.timing.sm import SmRun, simulate
from softlab.timing.work import BlockWork, MemoryRequest, WarpWork
from tests.sampled import each, sampled
from tests.timing.hand_made import END, request, row

_ROUNDS, _BLOCKS, _WARPS = 24, 6, 6
_ORDER = Order((0, 4, 9), (0.0, 0.5, 0.9), ((12, 3 << 20, (3 << 20) + 99),), 0.6)
#: Arrays that blocks share and that each has for itself, and one that blocks load in an order; sectors beside them.
_REGIONS = (
    Region(1 << 20, (1 << 20) + 4000, 1.0, 1.0, 4000.0),
    Region(1 << 21, (1 << 21) + 90, 132.0, 132.0, 90.0, 3.0, at_once=60.0),
    Region(3 << 20, (3 << 20) + 60000, 40.0, 3.0, 60000.0, 8.0, _ORDER),
    Region(1 << 22, (1 << 22) + 900, 4.0, 3.0, 900.0, 7.0, Order((0, 2), (0.1, 0.3)), at_once=2.5),
)  # fmt: skip
_FIGURES = (
    "l1_hits", "l1_requests", "l2_hits", "l2_requests", "l2_free", "l2_write_free", "l2_busy", "l2_write_busy",
    "last_store", "answered", "lsu_free", "lsu_busy", "shared_busy", "atomics",
)  # fmt: skip


def _rows() -> list[Any]:
    """Accesses whose results and sources the next ones wait for, a copy, a fence and a barrier."""
    access = row(Pipe.LG, action=Action.MEMORY, write=0, read=1, latency=30, interval=2)
    return [
        access, row(Pipe.MIO, action=Action.MEMORY, write=2, latency=25, interval=2), row(wait=(0, 1)),
        row(Pipe.LG, action=Action.MEMORY, write=3, latency=30, interval=2),
        row(Pipe.MIO, action=Action.COMMIT, write=4), row(Pipe.NONE, action=Action.DEPBAR),
        row(Pipe.MIO, action=Action.FENCE, write=5), row(wait=(2, 3, 4, 5)),
        row(Pipe.MIO, action=Action.BARRIER, interval=1), END,
    ]  # fmt: skip


def _made(random: np.random.Generator, space: int, kinds: Sequence[int], position: int) -> MemoryRequest:
    kind = int(random.choice(np.array(kinds)))
    lanes, width = int(random.integers(1, 33)), int(random.choice([4, 8]))
    if space == Space.SHARED:
        if kind != Kind.ATOMIC:
            return request(kind, (), position=position, space=space, wavefronts=int(random.integers(1, 9)), lanes=lanes)
        words, code = sorted(random.integers(0, 40, 5).tolist()), int(random.integers(0, 4))
        return request(kind, words, position=position, space=space, wavefronts=3, lanes=lanes, bypass=code)
    if space == Space.DISTRIBUTED_SHARED:
        words = np.unique(random.integers(0, 400, int(random.integers(1, lanes + 1)))).tolist()
        passes, many = int(random.integers(1, 5)), max(lanes, len(words))  # fewer lanes would be a bulk copy
        return request(kind, words, position=position, space=space, wavefronts=passes, lanes=many, width=width)
    if space == Space.VALUES:
        return request(kind, (1, 2), position=position, space=space, wavefronts=3, width=width)
    region = _REGIONS[int(random.integers(len(_REGIONS)))]
    first, size = (0, 200) if space == Space.LOCAL else (region.first, region.last - region.first)
    if space == Space.GLOBAL and random.random() < 0.1:
        first, size = 1 << 30, 1 << 20
    sectors = random.integers(0, size, int(random.integers(1, lanes + 1))) + first
    if random.random() < 0.5:
        sectors = sectors[0] + np.arange(len(sectors))
    once = kind not in (Kind.ATOMIC, Kind.REDUCTION)
    found = np.unique(sectors) if once else np.sort(sectors)
    past = int(random.integers(0, 5)) if not once else int(random.random() < 0.3)
    return request(
        kind, found.tolist(), position=position, space=space, wavefronts=int(random.integers(1, 5)) if once else
        len(found), lanes=lanes, width=width, bypass=past,
    )  # fmt: skip


def _requests(random: np.random.Generator, atomics: bool) -> list[MemoryRequest]:
    """Those of one warp."""
    found, rows = [], len(_rows()) - 1
    adds = (Kind.ATOMIC, Kind.REDUCTION) if atomics else ()
    for turn in range(_ROUNDS):
        at = turn * rows
        space = Space.LOCAL if random.random() < 0.3 else Space.GLOBAL
        moves = (Kind.LOAD, Kind.LOAD, Kind.STORE)
        found.append(_made(random, space, moves if space == Space.LOCAL else (*moves, *adds), at))
        near = random.choice(np.array([Space.SHARED, Space.DISTRIBUTED_SHARED, Space.VALUES]), p=[0.7, 0.2, 0.1])
        near_kinds = (Kind.LOAD, Kind.STORE, *(() if near == Space.VALUES else (Kind.ATOMIC,)))
        found.append(_made(random, int(near), near_kinds, at + 1))
        if random.random() < 0.7:
            found.append(_made(random, Space.GLOBAL, (Kind.ASYNC_COPY,), at + 3))
            found.append(_made(random, Space.SHARED, (Kind.LOAD,), at + 3))
    return found


def _launch(seed: int, *, cold: bool, atomics: bool, figures: Any = None) -> tuple[SmRun, Memory]:
    random = np.random.default_rng(seed)
    rows = _rows()
    code = [*list(range(len(rows) - 1)) * _ROUNDS, len(rows) - 1]
    program = TimedProgram((), tuple(rows), {5: (4, 0), 6: (1, 0), 8: (0, 0)}, tuple(range(1, len(rows) + 1)))
    blocks = [
        BlockWork.of(b, tuple(WarpWork(code, _requests(random, atomics)) for _ in range(_WARPS)))
        for b in range(_BLOCKS)
    ]
    p = figures or parameters(resolve("H200"))
    wanted = {(1 << 21) + k: 0.5 for k in range(0, 90, 2)}
    sharing = Sharing(_REGIONS, 0.6, 1e6, 5.0, 0.9 if seed % 2 else 1.0, wanted)
    company = Company(120.0, 60, 30.0, 80.0, 90)
    evened = {key: 1.3 for k in range(50) for key in ((1 << 19) + k, ~((1 << 19) + k // 2))}
    memory = Memory(
        p, sharing, 132, 0.0 if cold else 0.6, 200_000, cold, 6e7, 110.0, 90.0, 2 * _WARPS, 60, company, evened
    )
    return simulate(program, blocks, p, memory, BlockClock(p, 2, 132)), memory


def _compared(seed: int, **options: Any) -> None:
    found = []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(_launch(seed, **options))
    (run, memory), (other, others) = found
    assert np.array_equal(run.states, other.states)
    assert replace(run, states=other.states) == other
    assert [getattr(memory, name) for name in _FIGURES] == [getattr(others, name) for name in _FIGURES]
    for name in ("free", "moved", "busy", "read", "written"):
        assert getattr(memory.dram, name) == getattr(others.dram, name)
    assert (memory.units.busy, memory.units.done) == (others.units.busy, others.units.done)
    assert memory.slowest.later(132.0) == others.slowest.later(132.0)
    assert memory.served == others.served


@pytest.mark.skipif(not available(), reason="without a compiler Python has the memory system")
@pytest.mark.parametrize("cold", [True, False])
@pytest.mark.parametrize("atomics", [True, False])
@pytest.mark.parametrize("seed", sampled(range(4), lambda seed: seed == 0))
def test_compiled_and_python_give_the_same(seed: int, atomics: bool, cold: bool) -> None:
    """`.ci/run` takes one of the seeds, `make test` all."""
    _compared(seed, cold=cold, atomics=atomics)


@pytest.mark.skipif(not available(), reason="without a compiler Python has the memory system")
@pytest.mark.parametrize(
    "changed",
    each(2, [{"l1_capacity": 210_000}, {"l2_capacity": 132 * 32 * 300}, {"store_lines": 4}, {"dram_new_page": 0.0}]),
    ids=["few lines of L1", "a small L2", "few begun lines", "no new pages"],
)
def test_caches_that_are_full(changed: dict[str, float]) -> None:
    p = replace(parameters(resolve("H200")), **changed)  # type: ignore[arg-type]
    _compared(7, cold=True, atomics=True, figures=p)


def _arrays(one: MemoryRequest, action: Action = Action.MEMORY) -> MemoryArrays | None:
    program = TimedProgram((), (row(Pipe.LG, action=action), END), {}, (1, 2))
    memory = Memory(parameters(resolve("H200")), Sharing.none(), 132, 0.0, 0)
    return MemoryArrays.of(program, Asked([BlockWork.of(0, (WarpWork([0, 1], [one]),))]), memory)


def test_what_the_compiled_loop_does_not_know_is_pythons() -> None:
    assert _arrays(request(Kind.LOAD, range(4))) is not None
    assert _arrays(request(Kind.LOAD, range(4), space=Space.DISTRIBUTED_SHARED)) is not None
    assert _arrays(request(Kind.STORE, range(4), lanes=1)) is None  # a bulk copy
    assert _arrays(request(Kind.STORE, range(4), lanes=1, space=Space.DISTRIBUTED_SHARED)) is None
    assert _arrays(request(Kind.LOAD, range(4)), Action.BULK) is None


def test_pairs_and_their_units_have_the_same_numbers_in_both_forms():
    random = np.random.default_rng(4)
    counts, far = random.integers(0, 33, 200), random.random(200) < 0.7
    keys = random.integers(1 << 30, (1 << 30) + (1 << 18), int(counts.sum()))
    keys[::7] = ~keys[::7]  # local memory
    found = []
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            found += [numbered(keys, counts, one) for one in (far, far | True, far & False)]
    for (pairs, units, slots), other in zip(found, found[3:], strict=False):
        for one, two in zip((pairs, units, slots), other, strict=True):
            np.testing.assert_array_equal(one, two)
    pairs, (lines, *_), slots = found[0]
    of_far = far.repeat(counts)
    np.testing.assert_array_equal(pairs[slots[of_far] >> 1], keys[of_far] >> 1)
    np.testing.assert_array_equal(slots[of_far] & 1, keys[of_far] & 1)
    np.testing.assert_array_equal(np.diff(lines), np.diff(pairs >> 1) != 0)
    assert not slots[~of_far].any()
