"""What the watch of global memory takes from one access, lane by lane: cells, words, flags, objects, the order.

Each part beside a slow loop that says the same.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, Box, Lanes, lanes_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.findings import FaultSink
from softlab.instruments import global_hazards
from softlab.instruments.global_hazards import GlobalHazards
from softlab.instruments.global_shadow import IN_BLOCK, ONE_CELL, STRONG, TIME_SHIFT, VOLATILE
from softlab.instruments.native_order import KeyedAccess, mbarrier_keys, shared_keys
from softlab.instruments.strong_access import StrongAccess

ROWS, THREADS = 3, 96


def watch(shift: int = 2, keyed: bool = False) -> GlobalHazards:
    made = GlobalHazards(FaultSink(collects=True))
    made._granule_shift, made._keyed = shift, keyed
    made._all_lanes = np.arange(ROWS * THREADS)
    return made


def site(text: str, dtype: str, elements: int = 1, **more: Any) -> Site:
    opcode, *modifiers = text.split(".")
    return Site(0, Instruction(opcode, tuple(modifiers), (), text=text), "global", np.dtype(dtype), elements, **more)


def some_lanes(random: np.random.Generator, kind: str) -> Lanes:
    rows, columns = random.random(ROWS) < 0.6, random.random(THREADS) < 0.4
    rows[random.integers(ROWS)] = columns[random.integers(THREADS)] = True
    full = np.ones((ROWS, THREADS), bool)
    return lanes_of({"all": full, "box": full & rows[:, None] & columns, "any": random.random(full.shape) < 0.3}[kind])


def numbers(lanes: Lanes) -> list[int]:
    return [row * THREADS + column for row, column in np.argwhere(lanes.mask).tolist()]


@pytest.mark.parametrize("shift", [0, 1, 2, 4])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_the_cells_of_an_access(shift: int, cells: int) -> None:
    random = np.random.default_rng(cells)
    offset, lane = random.integers(0, 900, 41), random.permutation(ROWS * THREADS)[:41]
    made, flags = watch(shift), STRONG | 3 * ONE_CELL
    stamps = made._stamps(offset, lane, 9, flags, cells)
    each = [
        (at // 2**shift + k, who) for at, who in zip(offset.tolist(), lane.tolist(), strict=True) for k in range(cells)
    ]
    assert list(zip(stamps.cell.tolist(), stamps.lane.tolist(), strict=True)) == each
    assert stamps.stamp.tolist() == [who + 9 * 2**TIME_SHIFT + flags for _, who in each]
    nbytes = random.integers(0, (cells << shift) + 2, 41)
    kept = [one for n, one in enumerate(each) if (n % cells) * 2**shift < nbytes[n // cells]]
    first = made._first_bytes(stamps, nbytes, cells)
    assert list(zip(first.cell.tolist(), first.lane.tolist(), strict=True)) == kept


@pytest.mark.parametrize(
    ("text", "dtype", "more", "strong", "flags", "releases", "scope", "read_only"),
    [
        ("ld.global.f32", "f4", {}, False, 0, False, "gpu", False),
        ("ld.global.nc.f32", "f4", {}, False, 0, False, "gpu", True),
        ("ld.relaxed.gpu.global.u32", "u4", {}, True, STRONG | 2 * ONE_CELL, False, "gpu", False),
        ("ld.acquire.cta.global.u64", "u8", {}, True, STRONG | IN_BLOCK | 4 * ONE_CELL, False, "cta", False),
        ("st.release.gpu.global.u16", "u2", {"store": True}, True, STRONG | ONE_CELL, True, "gpu", False),
        ("st.volatile.global.u8", "u1", {"store": True}, True, STRONG | VOLATILE | ONE_CELL, False, "gpu", False),
        ("ld.volatile.global.u32", "u4", {}, True, STRONG | 2 * ONE_CELL, False, "gpu", False),
        ("atom.acq_rel.gpu.global.add.u32", "u4", {"store": True, "operation": "add"}, True, STRONG | 2 * ONE_CELL,
         True, "gpu", False),
        ("red.global.cta.add.u64", "u8", {"store": True, "operation": "add"}, True, STRONG | IN_BLOCK | 4 * ONE_CELL,
         False, "cta", False),
        ("atom.global.add.noftz.f16x2", "u4", {"store": True, "operation": "add"}, True, STRONG | ONE_CELL, False,
         "gpu", False),
        ("ld.global.cg.f32", "f4", {"elements": 4}, True, STRONG | 2 * ONE_CELL, False, "gpu", False),
    ],
)  # fmt: skip
def test_what_is_known_of_an_instruction(
    text: str, dtype: str, more: dict, strong: bool, flags: int, releases: bool, scope: str, read_only: bool
) -> None:
    """The width of one element counts in cells of two bytes; two numbers in one register count as two accesses."""
    made, one = watch(shift=1), site(text, dtype, **more)
    assert made._facts(one) == (strong, flags, releases, scope, read_only)
    assert made._facts(one) is made._facts(one)


@pytest.mark.parametrize("shift", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_how_many_cells_and_words_a_lane_accesses(shift: int, width: int) -> None:
    one = site("ld.global.b", f"V{width}") if width == 16 else site("ld.global.b", f"u{width}")
    assert watch(shift)._cells(one) == max(1, width // 2**shift)
    address, lane = np.array([64, 132, 64, 200]), np.array([3, 33, 35, 70])
    words = [at // 4 + k for at in address.tolist() for k in range(max(1, width // 4))]
    who = [one for one in lane.tolist() for _ in range(max(1, width // 4))]
    for keyed, kind in ((False, StrongAccess), (True, KeyedAccess)):
        found = watch(keyed=keyed)._meeting(one, address, lane)
        assert isinstance(found, kind)
        assert (list(found.words), found.lane.tolist()) == (words, who)


@pytest.mark.parametrize("keyed", [False, True])
def test_runs_of_lanes_that_meet_at_one_word(keyed: bool) -> None:
    lane, keys = np.array([0, 1, 2, 31, 32, 33, 64, 65]), np.array([5, 5, 6, 6, 6, 6, 5, 6])
    found = watch(keyed=keyed)._words_of(lane, keys)
    if keyed:
        assert found == KeyedAccess(keys, lane, as_runs=True)
        return
    assert list(zip(found.words, found.lane.tolist(), strict=True)) == [(5, 0), (6, 2), (6, 32), (5, 64), (6, 65)]
    assert found.every is lane


@pytest.mark.parametrize("kind", ["all", "box", "any"])
@pytest.mark.parametrize("seed", range(3))
def test_lanes_and_the_object_of_their_block(kind: str, seed: int) -> None:
    """One object at the same offset of each block is one word per block, for all lanes that use it."""
    random = np.random.default_rng(seed)
    made, lanes, phase = watch(), some_lanes(random, kind), np.array([int(random.integers(0, 9))])
    assert lanes.numbers.tolist() == numbers(lanes)
    offset = np.full(lanes.count, 24)
    owner = lanes.positions.rows
    found = made._own_words(lanes, owner, offset, phase)
    if not isinstance(lanes, Box):
        assert found is None
        return
    assert found is not None
    rows = sorted({row for row, _ in np.argwhere(lanes.mask).tolist()})
    assert found.rows == tuple(rows)
    parity = int(phase[0]) % 2
    assert found.words == tuple(mbarrier_keys(np.array(rows), np.full(len(rows), 24), parity).tolist())
    assert found.before == tuple(mbarrier_keys(np.array(rows), np.full(len(rows), 24), 1 - parity).tolist())
    assert found.lanes.reshape(-1).tolist() == numbers(lanes)
    warps = [sorted({who // WARP for who in numbers(lanes) if who // THREADS == row}) for row in rows]
    assert found.warps.tolist() == warps
    assert made._own_words(lanes, owner, offset, phase + 2) is found, "the parity is the same"
    assert made._own_words(lanes, owner, offset, phase + 1) is not found
    again = made._own_words(lanes, owner, offset.copy() + 8, phase)
    assert again is not None
    assert again.words != found.words


def test_objects_that_differ_are_no_words_of_all_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    made, lanes = watch(), lanes_of(np.ones((ROWS, THREADS), bool))
    owner, offset, phase = lanes.positions.rows, np.full(lanes.count, 24), np.zeros(lanes.count, int)
    assert made._own_words(lanes, owner.copy(), offset, phase) is None, "blocks of others"
    assert made._own_words(lanes, owner, np.where(np.arange(lanes.count) == 5, 32, offset), phase) is None
    assert made._own_words(lanes, owner, offset, (np.arange(lanes.count) == 5) * 1) is None
    assert made._own_words(lanes, owner, offset, (np.arange(lanes.count) == 5) * 2) is not None
    monkeypatch.setattr(global_hazards, "_MOST_KNOWN", 3)
    kept = [np.full(lanes.count, 8 * number) for number in range(4)]
    made._known_words.clear()
    sizes = []
    for one in kept:
        made._own_words(lanes, owner, one, phase)
        sizes.append(len(made._known_words))
    assert sizes == [1, 2, 3, 1]


def test_lanes_come_after_what_their_warp_read_before_an_exchange() -> None:
    """Reads of other warps take an order of events."""
    made = watch()

    class Order:
        def ordered(self, time: np.ndarray, other: np.ndarray, mine: np.ndarray, *, reads: bool) -> np.ndarray:
            assert reads
            return mine == 200

    made._orders = [Order()]  # type: ignore[list-item]
    made._exchanged = np.arange(ROWS * 3).reshape(ROWS, 3) * 10
    other, mine = np.array([40, 40, 40, 40, 95, 130]), np.array([33, 33, 64, 200, 64, 128])
    time = np.array([9, 10, 0, 99, 19, 40])
    assert made._reads_ordered(time, other, mine).tolist() == [True, False, False, True, True, False]


def test_a_flag_in_shared_memory_is_a_word_of_its_block() -> None:
    """A release comes with a fence of its scope."""
    made, told = watch(), list[tuple]()
    made._batch = SimpleNamespace(compiled="none")

    class Order:
        def fence(self, lane: np.ndarray, now: int, scope: str) -> None:
            told.append(("fence", lane.tolist(), scope))

        def write(self, access: StrongAccess, scope: str, now: int) -> None:
            told.append(("write", list(access.words), access.lane.tolist(), scope))

    made._orders = [Order()]  # type: ignore[list-item]
    mask = np.zeros((ROWS, THREADS), bool)
    mask[1, [3, 40]] = True
    lanes = lanes_of(mask)
    one = site("st.release.gpu.shared.u32", "u4", store=True)
    made._strong_shared = frozenset()
    made.shared_access(one, lanes, np.uint64(20), ())
    assert not told
    made._strong_shared = frozenset({0})
    made.shared_access(one, lanes, np.uint64(20), ())
    keys = shared_keys(np.array([1, 1]), np.array([5, 5])).tolist()
    assert told == [("fence", [99, 136], "gpu"), ("write", keys, [99, 136], "cta")]
    told.clear()
    made.cluster_access(site("st.relaxed.cluster.shared::cluster.u32", "u4", store=True), lanes, np.array([2, 0]),
                        np.uint64(20), ())  # fmt: skip
    keys = shared_keys(np.array([2, 0]), np.array([5, 5])).tolist()
    assert told == [("write", keys, [99, 136], "cta")]


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ([104], {100: None}), ([104, 100, 196], {100: None}), ([900, 996], {900: None}),
        ([104, 900, 108], {100: [0, 2], 900: [1]}), ([900, 104, 996], {100: [1], 900: [0, 2]}),
        ([104, 900], {100: [0], 900: [1]}), ([904, 100], {100: [1], 900: [0]}),
    ],
)  # fmt: skip
def test_lanes_that_access_several_arrays_are_looked_at_array_by_array(
    monkeypatch: pytest.MonkeyPatch, address: list[int], parts: dict[int, list[int] | None]
) -> None:
    arrays = [SimpleNamespace(base=base, end=base + 100) for base in (100, 900)]
    memory = SimpleNamespace(nearest=lambda at: next(one for one in arrays if one.base <= at < one.end))
    found: dict[int, list[int] | None] = {}

    def of_array(array: Any, *given: Any) -> None:
        *_, at, lane, _, part = given
        chosen = range(len(address)) if part is None else part.tolist()
        assert (at.tolist(), lane.tolist()) == ([address[n] for n in chosen], [7 * n for n in chosen])
        found[array.base] = None if part is None else part.tolist()

    made = watch()
    monkeypatch.setattr(made, "_batch", SimpleNamespace(memory=memory), raising=False)
    monkeypatch.setattr(made, "_in_pieces", of_array)
    lanes = lanes_of(np.ones((ROWS, THREADS), bool))
    made._access(site("ld.global.f32", "f4"), lanes, np.array(address), 7 * np.arange(len(address)), ())
    assert found == parts


class Told:
    """An order that keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[tuple[Any, ...]] = []

    def read(self, meeting: Any) -> None:
        self.said.append(("read", keys_of(meeting)))

    def publish(self, meeting: Any, now: int, earlier: Any) -> None:
        self.said.append(("publish", keys_of(meeting), now, np.asarray(earlier).tolist()))

    def read_own(self, own: Any) -> None:
        self.said.append(("read own", own.words))

    def publish_own(self, own: Any, now: int) -> None:
        self.said.append(("publish own", own.words, now, own.before))


def keys_of(meeting: Any) -> list[int]:
    return (meeting.keys if isinstance(meeting, KeyedAccess) else np.asarray(meeting.words)).tolist()


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("of_own", [False, True])
@pytest.mark.parametrize("phase", [0, 1, 2, 5])
def test_arrivals_publish_in_the_word_of_their_phase_and_take_over_the_other(
    phase: int, of_own: bool, keyed: bool
) -> None:
    """Lanes of two blocks; each at an mbarrier of its own block, or all at one of block 0."""
    made = watch(keyed=keyed)
    made._orders = [Told(), Told()]  # type: ignore[list-item]
    made._unread = frozenset({3})
    made._events.now = 70
    mask = np.zeros((ROWS, THREADS), bool)
    mask[[0, 2], :WARP] = True
    lanes = lanes_of(mask)
    owner = lanes.positions.rows if of_own else np.zeros(2 * WARP, np.int64)  # type: ignore[union-attr]
    offset = np.full(2 * WARP, 24, np.int64)
    one = site("mbarrier.arrive", "u8")
    for action in ("arrive", "wait", "init", "inval"):
        for order in made._orders:
            order.said.clear()  # type: ignore[attr-defined]
        made.mbarrier(one, lanes, owner, offset, action, np.full((1, 1), phase))
        rows = np.array([0, 2])
        if of_own:
            words, before = (
                tuple(mbarrier_keys(rows, np.full(2, 24), of).tolist()) for of in (phase & 1, 1 - (phase & 1))
            )
            wanted: Any = {"arrive": [("publish own", words, 70, before)], "wait": [("read own", words)]}
        else:
            word, other = (int(mbarrier_keys(np.zeros(1, int), np.full(1, 24), of)[0])
                           for of in (phase & 1, 1 - (phase & 1)))  # fmt: skip
            times = 2 * WARP if keyed else 2  # each run of lanes of a warp at one word
            wanted = {"arrive": [("publish", [word] * times, 70, [other] * times)], "wait": [("read", [word] * times)]}
        for order in made._orders:
            assert order.said == wanted.get(action, [])  # type: ignore[attr-defined]
    # A wait whose answer decides nothing tells nothing.
    for order in made._orders:
        order.said.clear()  # type: ignore[attr-defined]
    quiet = Site(3, Instruction("mbarrier", ("test_wait",), ()), "shared", np.dtype("u8"))
    made.mbarrier(quiet, lanes, owner, offset, "wait", np.full((1, 1), phase))
    assert not any(order.said for order in made._orders)  # type: ignore[attr-defined]


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_two_numbers_in_a_register_are_two_accesses_of_half_its_bytes(shift: int) -> None:
    for text, width in (
        ("red.global.add.noftz.f16x2", 2),
        ("red.global.add.noftz.bf16x2", 2),
        ("red.global.add.u32", 4),
    ):
        one = site(text, "u4", store=True, operation="add")
        assert watch(shift)._facts(one).flags == STRONG | max(1, width >> shift) * ONE_CELL
