"""The compiled count of wavefronts and sectors gives what NumPy gives, and so does its source in Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass import native_requests
from softlab.sass.lanes import pack, unpack
from softlab.sass.log import counted_by_numpy
from softlab.sass.memory import interleaved
from softlab.sass.native_requests import Kept
from softlab.sass.streams import Kind, Space

_KINDS = [(space, kind) for space in Space for kind in Kind]


def _requests(random: np.random.Generator, width: int, low: int = 0) -> list[Kept]:
    """Requests of several instructions: neighbours, a few addresses, any addresses, steps, one address."""
    made = []
    for number, rows in enumerate(random.integers(1, 9, 5).tolist()):
        base = random.integers(low, 1 << 40, (rows, 1)) // width * width
        anywhere = random.integers(low, 1 << 45, (rows, 32)) // width * width
        address = (
            base + np.arange(32) * width,
            base + random.integers(0, 64, (rows, 32)) * width,
            anywhere,
            base + np.arange(32) // random.integers(1, 9) * width * random.integers(1, 40),
            np.broadcast_to(base, (rows, 32)),
        )[number]
        active = random.random((rows, 32)) < random.choice([0, 0.05, 0.5, 1])
        made.append((100 * number, int(random.integers(20)), address.astype(np.int64), active))
    return made


def _widths(space: Space, kind: Kind) -> tuple[int, ...]:
    if kind in (Kind.ATOMIC, Kind.REDUCTION):
        return 4, 8, 16
    return (1, 2, 4, 8) if space == Space.CONSTANT else (1, 2, 4, 8, 16)


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize(("space", "kind"), _KINDS)
def test_the_compiled_count_is_that_of_numpy(space, kind):
    random = np.random.default_rng(int(space) * 5 + int(kind))
    unit = 4 if space == Space.SHARED and kind == Kind.ATOMIC else 32
    for width in _widths(space, kind):
        for of_matrices in (False, True):
            requests = _requests(random, width)
            with compiling("all"):
                rule = native_requests.rule_of(space, kind, of_matrices)
                found = native_requests.counted(requests, rule, width, unit)
            wanted = counted_by_numpy(requests, space, kind, width, of_matrices)
            assert found is not None
            for one, other in zip(found, wanted, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


def _alike(random: np.random.Generator, width: int) -> list[Kept]:
    """Requests of warps whose lanes lie as those of the warp before: lines, or parts of lines, further on or back, one
    lane elsewhere, or with other lanes."""
    rows, made = 12, []
    step = np.arange(rows)[:, None]
    base = (1 << 30) + random.integers(0, 1 << 12, (1, 32)) * width
    for number, by in enumerate((128, -128, 0, 128 * random.integers(-50, 50, (rows, 1)), 64, width)):
        address = base + step * by
        active = np.broadcast_to(random.random((1, 32)) < random.choice([0.2, 1]), (rows, 32)).copy()
        address[7, 5] += 128
        active[4] = False
        active[9, random.integers(32)] ^= True
        made.append((100 * number, number, address.astype(np.int64), active))
    return made


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize(("space", "kind"), _KINDS)
def test_requests_like_the_last_one_count_as_each_for_itself(space, kind):
    random = np.random.default_rng(int(space) * 7 + int(kind))
    unit = 4 if space == Space.SHARED and kind == Kind.ATOMIC else 32
    for width in _widths(space, kind):
        requests = _alike(random, width)
        with compiling("all"):
            found = native_requests.counted(requests, native_requests.rule_of(space, kind, False), width, unit)
        assert found is not None
        for one, other in zip(found, counted_by_numpy(requests, space, kind, width, False), strict=True):
            np.testing.assert_array_equal(one, other)


def _in_turn(random: np.random.Generator, width: int) -> list[Kept]:
    """Requests whose patterns come again after one to six warps, each time some lines further on; and a warp or two
    without a lane among them."""
    made = []
    for period in range(1, 7):
        rows = 4 * period + 3
        turn = np.arange(rows) % period
        base = (1 << 30) + random.integers(0, 1 << 12, (period, 32)) * width
        active = (random.random((period, 32)) < random.choice([0.3, 1]))[turn]
        active[random.integers(rows, size=2)] = False
        address = base[turn] + 128 * random.integers(-40, 40, (rows, 1))
        made.append((100 * period, period, address.astype(np.int64), active))
    return made


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize(("space", "kind"), _KINDS)
def test_requests_like_one_of_the_last_count_as_each_for_itself(space, kind):
    random = np.random.default_rng(int(space) * 11 + int(kind))
    unit = 4 if space == Space.SHARED and kind == Kind.ATOMIC else 32
    for width in _widths(space, kind):
        requests = _in_turn(random, width)
        with compiling("all"):
            found = native_requests.counted(requests, native_requests.rule_of(space, kind, False), width, unit)
        assert found is not None
        for one, other in zip(found, counted_by_numpy(requests, space, kind, width, False), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize("kind", [Kind.LOAD, Kind.STORE])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_lanes_in_a_row_count_as_any_others(width, kind):
    """Neighbouring items of all lanes, of lanes in a row and with a gap, from any item of a line on; one lane
    elsewhere; and misaligned ones, which are left to NumPy."""
    lanes, rows = np.arange(32), 40
    base = (1 << 33) + 128 * 7 * np.arange(rows)[:, None] + width * (3 * np.arange(rows)[:, None] % 32)
    first, end = np.sort(np.random.default_rng(width).integers(0, 33, (2, rows, 1)), axis=0)
    parts = (lanes >= first) & (lanes < end)
    every, gap = np.ones((rows, 32), bool), parts & (lanes != 9)
    address = base + lanes * width
    apart = address.copy()
    apart[np.arange(rows), np.arange(rows) % 32] += width
    requests = [(k * rows, k, a, m) for k, (a, m) in enumerate(product((address, apart), (every, parts, gap)))]
    rule = native_requests.rule_of(Space.SHARED, kind, False)
    with compiling("all"):
        found = native_requests.counted(requests, rule, width, 32)
        odd = native_requests.counted([(0, 0, address + 1, every)], rule, width, 32)
    assert found is not None
    assert (odd is None) == (width > 1)
    for one, other in zip(found, counted_by_numpy(requests, Space.SHARED, kind, width, False), strict=True):
        np.testing.assert_array_equal(one, other)


def test_which_lanes_are_in_a_row():
    address = np.arange(64, dtype=np.int64) * 4
    for mask, lane in ((0xFFFFFFFF, 0), (0b111000, 3), (1 << 31, 31), (0b101, -1), (0, -1)):
        assert native_requests.in_row(address, mask, 32, 4) == lane
        assert native_requests.in_row(address, mask, 32, 8) == (lane if mask == 1 << 31 else -1)


def test_how_far_requests_lie_apart():
    address = np.arange(96, dtype=np.int64) * 4  # three warps, one line each
    every = 0xFFFFFFFF
    assert native_requests.moved(address, every, 0, 64) == 256
    assert native_requests.moved(address, every, 64, 0) == -256
    far = native_requests._NONE
    address[40] += 128
    assert native_requests.moved(address, every, 0, 32) == far
    assert native_requests.moved(address, every & ~(1 << 8), 0, 32) == 128  # whoever is not active may lie anywhere
    assert native_requests.moved(address, 0, 0, 32) == far
    assert native_requests.moved(address + np.repeat([0, 4, 0], 32), every, 64, 32) == far


def test_requests_of_other_lanes_are_not_alike():
    """The second request has a lane more than the first."""
    address, masks = np.tile(np.arange(32, dtype=np.int64) * 32, 2), np.array([7, 15], np.uint32)
    rows, wavefronts, counts = np.zeros((3, 2), np.int64)
    sectors, scratch = np.zeros(64, np.int64), np.zeros(native_requests.SCRATCH, np.int64)
    out = rows, wavefronts, counts, sectors, scratch
    filled = native_requests.count(address, masks, np.array([5, 1, 0]), 1, 2, native_requests.LOADS, 4, 5, *out, 0, 0)
    assert (filled, rows.tolist(), counts.tolist()) == (7, [1, 0], [4, 3])
    assert sectors[:7].tolist() == [0, 1, 2, 3, 0, 1, 2]


def _asked(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Requests of three accesses, in any order: loads of shared memory, sums in global memory, doubles of lanes."""
    kinds = (Space.SHARED, Kind.LOAD, 8, 1), (Space.GLOBAL, Kind.REDUCTION, 4, 1), (Space.LOCAL, Kind.STORE, 4, 2)
    about = [
        (native_requests.rule_of(space, kind, False), width, 5, pieces, space == Space.LOCAL)
        for space, kind, width, pieces in kinds
    ]
    address = random.integers(0, 99, (40, 32)) * 8
    asked = np.stack([np.arange(40), random.integers(0, 3, 40), random.integers(0, 1 << 32, 40)], axis=1)
    return address, asked, np.array(about, np.int64)


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_requests_of_a_loop_count_as_requests_of_their_own():
    address, asked, about = _asked(np.random.default_rng(3))
    masks = asked[:, 2].astype(np.uint32)
    wanted: list[list[np.ndarray]] = []
    with compiling("all"):
        found = native_requests.counted_loop(address.copy(), asked, about)
        for number, (rule, width, _, pieces, local) in enumerate(about.tolist()):
            here = np.flatnonzero(asked[:, 1] == number)
            lies = interleaved(address[here]) if local else address[here]
            for piece in range(pieces):
                one = native_requests.counted([(0, 0, lies + 128 * piece, unpack(masks[here]))], rule, width, 32)
                wanted.append([here[one[0]], *one[2:]])
    for ours, theirs in zip(found, (np.concatenate(parts) for parts in zip(*wanted, strict=True)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_source_of_a_loops_count_is_what_is_compiled():
    address, asked, about = _asked(np.random.default_rng(8))
    masks, order, ends = np.zeros(40, np.uint32), np.zeros(40, np.int64), np.zeros(3, np.int64)
    rows, wavefronts, counts = np.zeros((3, 80), np.int64)
    out = rows, wavefronts, counts, np.zeros(80 * 32, np.int64), np.zeros(native_requests.SCRATCH, np.int64)
    flat = address.copy().reshape(-1)
    given = flat, asked.reshape(-1), 40, about.reshape(-1), 3, masks, order, ends
    filled = native_requests.count_loop(*given, *out, 80)
    assert order.tolist() == np.argsort(asked[:, 1], kind="stable").tolist()
    assert filled == counts.sum()
    if available():
        with compiling("all"):
            found = native_requests.counted_loop(address, asked, about)
        kept = int(out[-1][native_requests.KEPT])
        for ours, theirs in zip(found, (rows[:kept], wavefronts[:kept], counts[:kept], out[3][:filled]), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert native_requests.count_loop(*given, *out, 30) == native_requests.UNKNOWN  # no room


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_a_request_that_is_moved_below_zero_is_left_to_numpy():
    address = np.array([[128], [0], [-128]]) + 4 * np.arange(32)
    request = (0, 0, address.astype(np.int64), np.ones((3, 32), bool))
    with compiling("all"):
        assert native_requests.counted([request], native_requests.LOADS, 4, 32) is None


@pytest.mark.parametrize("rule", range(5))
def test_the_source_in_python_is_what_is_compiled(rule):
    (_, _, address, active), *_ = _requests(np.random.default_rng(rule), 8)
    chosen = np.arange(len(address))[::-1].copy()
    given = address.reshape(-1), pack(active), chosen, 0, len(address), rule, 8, 5

    def outputs():
        sizes = (len(address),) * 3 + (32 * len(address), native_requests.SCRATCH)
        return [np.zeros(size, np.int64) for size in sizes]

    made = outputs()
    native_requests.count(*given, *made, 0, 0)
    if available():
        compiled = outputs()
        places = [id(one) if isinstance(one, np.ndarray) else one for one in (*given, *compiled)]
        native_requests.COUNT.call(*places, 0, 0)
        for one, other in zip(made, compiled, strict=True):
            np.testing.assert_array_equal(one, other)


def test_numpy_counts_what_the_loop_does_not_know():
    requests = [(0, 0, np.full((1, 32), -64), np.ones((1, 32), bool))]
    with compiling("all" if available() else "none"):
        assert native_requests.counted(requests, native_requests.LOADS, 4, 32) is None
    misaligned = [(0, 0, np.full((1, 32), 2), np.ones((1, 32), bool))]
    with compiling("all" if available() else "none"):
        assert native_requests.counted(misaligned, native_requests.LOADS, 4, 32) is None
    with compiling("none"):
        assert native_requests.counted([(0, 0, np.zeros((1, 32), int), np.ones((1, 32), bool))], 3, 4, 32) is None


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_requests_counted_at_once_are_as_those_counted_one_by_one(monkeypatch):
    random = np.random.default_rng(7)
    requests = [*_requests(random, 4), *_requests(random, 4)]
    for rule in range(5):
        counted = []
        for small in (0, 256):
            monkeypatch.setattr(native_requests, "_SMALL", small)
            with compiling("all"):
                counted.append(native_requests.counted(requests, rule, 4, 32))
        for one, other in zip(*counted, strict=True):
            np.testing.assert_array_equal(one, other)
