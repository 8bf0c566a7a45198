"""Sets of lanes against plain boolean masks, lane by lane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlab.emulator import lanes as module
from softlab.emulator.lanes import Box, Scattered, lanes_of, one_mask, one_mask_per_warp

BLOCKS, THREADS = 3, 96
SHAPES = ((), (1, 1), (1, THREADS), (BLOCKS, 1), (BLOCKS, THREADS))


@st.composite
def masks(draw):
    """Masks of each form: all, some rows, some columns, rows x columns, scattered."""
    seed = draw(st.integers(0, 10_000))
    form = draw(st.sampled_from(["all", "rows", "columns", "box", "run", "scattered", "one"]))
    random = np.random.default_rng(seed)
    rows, columns = random.random(BLOCKS) < 0.5, random.random(THREADS) < 0.5
    rows[random.integers(BLOCKS)] = columns[random.integers(THREADS)] = True
    everything = np.ones((BLOCKS, THREADS), bool)
    start = random.integers(THREADS)
    return {
        "all": lambda: everything,
        "rows": lambda: everything & rows[:, None],
        "columns": lambda: everything & columns,
        "box": lambda: rows[:, None] & columns,
        "run": lambda: everything & (np.arange(THREADS) >= start),
        "scattered": lambda: random.random((BLOCKS, THREADS)) < 0.3,
        "one": lambda: (np.arange(THREADS) == start) & (np.arange(BLOCKS) == 1)[:, None],
    }[form]()


def value_of(shape, seed):
    random = np.random.default_rng(seed)
    return random.integers(0, 100, shape).astype(np.int32) if shape else np.int32(random.integers(100))


nonempty = masks().filter(lambda mask: mask.any())


@given(nonempty)
def test_the_set_is_the_mask(mask):
    lanes = lanes_of(mask)
    assert (lanes.mask == mask).all()
    assert lanes.count == mask.sum()
    assert lanes.full == mask.all()
    assert lanes.warps == mask.reshape(BLOCKS, -1, 32).any(axis=2).sum()
    rows, columns = np.nonzero(mask)
    assert (lanes.full_extent(lanes.row_index) == rows).all()
    assert (lanes.full_extent(lanes.column_index) == columns).all()


@given(nonempty, st.sampled_from(SHAPES), st.integers(0, 100))
def test_take_cuts_to_the_lanes(mask, shape, seed):
    lanes, value = lanes_of(mask), value_of(shape, seed)
    assert (lanes.full_extent(lanes.take(value)) == np.broadcast_to(value, mask.shape)[mask]).all()


@given(nonempty, st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.booleans(), st.integers(0, 100))
def test_put_changes_only_the_lanes(mask, shape, old_shape, whole, seed):
    lanes, old = lanes_of(mask), value_of(old_shape, seed + 1)
    new = lanes.take(value_of(shape, seed))
    out = np.broadcast_to(lanes.put(old, new, whole), mask.shape)
    assert (out[mask] == lanes.full_extent(new)).all()
    if not whole:
        assert (out[~mask] == np.broadcast_to(old, mask.shape)[~mask]).all()


@given(nonempty, st.sampled_from(SHAPES), st.integers(0, 1000))
def test_split_is_the_predicate_and_the_rest(mask, shape, seed):
    predicate = np.asarray(value_of(shape, seed) % 2 == 0)[()]
    lanes = lanes_of(mask)
    taken, rest = lanes.split(lanes.take(predicate))
    wanted = mask & np.broadcast_to(predicate, mask.shape)
    for part, expected in ((taken, wanted), (rest, mask & ~wanted)):
        assert (np.zeros_like(mask) if part is None else part.mask).tolist() == expected.tolist()


@given(nonempty, nonempty)
def test_union_and_difference(mask, other):
    a, b = lanes_of(mask), lanes_of(other)
    assert (a.unite(b).mask == (mask | other)).all()
    rest = a.without(b)
    assert (np.zeros_like(mask) if rest is None else rest.mask).tolist() == (mask & ~other).tolist()


@given(nonempty, st.sampled_from(SHAPES), st.integers(0, 100))
def test_spread_puts_lanes_at_their_positions_in_warps(mask, shape, seed):
    lanes, value = lanes_of(mask), value_of(shape, seed)
    spread = lanes.spread(lanes.take(value))
    local = np.broadcast_to(lanes.warp_mask, (spread.shape[0] if len(lanes.extent) == 2 else BLOCKS, THREADS // 32, 32))
    assert spread.shape[1:] == (THREADS // 32, 32)
    back = lanes.collect(spread)
    assert (lanes.full_extent(back) == np.broadcast_to(value, mask.shape)[mask]).all()
    assert (spread[~np.broadcast_to(local, spread.shape)] == 0).all() or lanes.mask.all(axis=0).all()


@given(nonempty, st.sampled_from(SHAPES), st.integers(0, 100))
def test_each_block_finds_its_row_of_what_is_spread(mask, shape, seed):
    lanes, value = lanes_of(mask), value_of(shape, seed) + 1
    spread = lanes.spread(lanes.take(value)).reshape(-1, THREADS)
    blocks = np.flatnonzero(mask.any(axis=1))
    rows = lanes.spread_rows
    assert rows.shape == (BLOCKS,)
    assert rows[blocks[-1]] == rows[-1], "the last is the last"
    at = rows[blocks] if len(spread) > 1 else np.zeros_like(blocks)
    wanted = np.broadcast_to(value, mask.shape)[blocks]
    assert spread[at][mask[blocks]].tolist() == wanted[mask[blocks]].tolist()


@given(nonempty, st.sampled_from(SHAPES), st.sampled_from(SHAPES))
def test_what_is_put_in_is_no_larger_than_it_has_to_be(mask, shape, old_shape):
    """A dimension stays 1 where neither value nor set needs it."""
    lanes = lanes_of(mask)
    if not isinstance(lanes, Box):
        return
    out = lanes.put(value_of(old_shape, 1), lanes.take(value_of(shape, 2)), False)
    old, new = (np.reshape(np.zeros(one), one or (1, 1)).shape for one in (old_shape, shape))
    cut = [not mask.any(axis=1).all(), not mask.any(axis=0).all()]
    kept = (1, 1) if lanes.full else old
    wide = [max(extent if cut[k] else 1, new[k], kept[k]) for k, extent in enumerate((BLOCKS, THREADS))]
    assert np.reshape(out, np.shape(out) or (1, 1)).shape == tuple(wide)


@given(nonempty, st.sampled_from(SHAPES), st.sampled_from(SHAPES))
def test_a_whole_value_is_as_small_as_the_one_that_is_put_in(mask, shape, old_shape):
    """Nobody reads the other lanes, so a value that all rows or all columns share stays as it is."""
    lanes, old = lanes_of(mask), value_of(old_shape, 1)
    if not isinstance(lanes, Box):
        return
    taken = lanes.take(value_of(shape, 2))
    out = lanes.put(old, taken, True)
    size = np.shape(taken) or (1, 1)
    cut = [not mask.any(axis=1).all() and size[0] > 1, not mask.any(axis=0).all() and size[1] > 1]
    if not any(cut):
        assert out is taken
        return
    assert out.shape == tuple(whole if one > 1 else 1 for whole, one in zip((BLOCKS, THREADS), size, strict=True))
    assert out.dtype == taken.dtype


def _where(rows: list[int] | None, columns: list[int] | None) -> np.ndarray:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[np.ix_(range(BLOCKS) if rows is None else rows, range(THREADS) if columns is None else columns)] = True
    return mask


@pytest.mark.parametrize("rows", [None, [0, 2], [1, 2], [2]])
@pytest.mark.parametrize("columns", [None, [3], [5, 6, 7], [0, 2, 40]])
def test_neighbours_are_cut_without_a_copy(rows: list[int] | None, columns: list[int] | None) -> None:
    box = lanes_of(_where(rows, columns))
    assert isinstance(box, Box)
    for selector, given_, size in ((box.row_selector, rows, BLOCKS), (box.column_selector, columns, THREADS)):
        wanted = list(range(size)) if given_ is None else given_
        assert list(np.arange(size)[selector]) == wanted
        assert isinstance(selector, slice) == (wanted[-1] - wanted[0] + 1 == len(wanted))
    assert box.column_key == (b"" if columns is None else _where(None, columns)[0].tobytes())
    assert np.array_equal(np.ones((BLOCKS, THREADS), int)[box.index], np.ones(box.extent, int))


@pytest.mark.parametrize(
    ("a", "b", "box"),
    [
        ((None, [1, 2]), (None, [7]), True), (([0], [1, 2]), ([0], [7]), True), (([0], [1]), ([2], [1]), True),
        (([0], None), ([2], None), True), (([0], [1]), ([2], [7]), False), (([0, 1], [1]), ([0, 2], [2]), False),
        ((None, None), ([1], [2]), True), (([1], [2]), (None, None), True), (([0], [1, 2]), ([0, 1], [1, 2]), True),
        ((None, [1, 2]), ([0], None), False),
    ],
)  # fmt: skip
def test_a_union_is_a_box_where_it_can_be_one(a: tuple, b: tuple, box: bool) -> None:
    both = lanes_of(_where(*a)).unite(lanes_of(_where(*b)))
    assert isinstance(both, Box) == box
    assert np.array_equal(both.mask, _where(*a) | _where(*b))


@pytest.mark.parametrize("of", ["rows", "columns", "both"])
@pytest.mark.parametrize("box", [(None, None), ([0, 2], None), (None, [4, 9, 10]), ([0, 2], [4, 9, 10])])
def test_a_predicate_that_is_the_same_along_an_axis_gives_boxes(box: tuple, of: str) -> None:
    lanes = lanes_of(_where(*box))
    height, width = lanes.extent
    predicate = np.zeros((height, width), bool)
    if of != "columns":
        predicate[0] = True
    if of != "rows":
        predicate[:, 1] = True
    parts = lanes.split(predicate)
    assert [isinstance(part, Box) for part in parts] == [of != "both"] * 2
    assert [part.count for part in parts] == [predicate.sum(), predicate.size - predicate.sum()]


@pytest.mark.parametrize("most_lanes", [9 * 96, 11 * 96])
def test_sets_of_many_lanes_are_not_kept(monkeypatch: pytest.MonkeyPatch, most_lanes: int) -> None:
    """Nor more sets than the most, or of more lanes together: then all are forgotten."""
    kept = module._KnownBoxes(3 if most_lanes > 9 * 96 else 99, most_lanes)
    monkeypatch.setattr(module, "_known_boxes", kept)
    Box(12, 96, None, None)
    assert not len(kept)
    counts = []
    for number in range(5):
        made = Box(3, 96, None, np.arange(96) <= number)
        assert made is Box(3, 96, None, np.arange(96) <= number)
        counts.append(len(kept))
    assert counts == [1, 2, 3, 1, 2]


def test_one_mask_for_all_lanes_or_for_a_warp() -> None:
    same, other = np.full((2, 3), 7, np.uint32), np.array([[7, 7, 7], [7, 7, 5]], np.uint32)
    assert one_mask(same) == 7
    assert not np.shape(one_mask(same))
    assert one_mask(other) is other
    assert one_mask(np.uint32(3)) == 3
    masks = np.zeros((1, 2, 32), np.uint32)
    masks[0, 0, :4], masks[0, 1, 5:] = 15, 9
    assert one_mask_per_warp(masks, masks != 0).tolist() == [[[15], [9]]]
    masks[0, 1, 6] = 8
    assert one_mask_per_warp(masks, masks != 0) is masks


def test_forms():
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[1:, 5:9] = True
    assert isinstance(lanes_of(mask), Box)
    mask[0, 0] = True
    assert isinstance(lanes_of(mask), Scattered)


def test_a_predicate_of_the_thread_index_keeps_the_box():
    everyone = lanes_of(np.ones((BLOCKS, THREADS), bool))
    predicate = np.broadcast_to(np.arange(THREADS) < 10, (BLOCKS, THREADS))
    taken, rest = everyone.split(predicate)
    assert isinstance(taken, Box)
    assert taken.extent == (BLOCKS, 10)
    assert rest.extent == (BLOCKS, THREADS - 10)


@pytest.mark.parametrize("shape", SHAPES)
def test_taking_all_lanes_copies_nothing(shape):
    everyone, value = lanes_of(np.ones((BLOCKS, THREADS), bool)), value_of(shape, 0)
    assert everyone.take(value) is value
    assert everyone.put(np.int32(0), value, False) is value


def test_equal_sets_of_few_lanes_are_one_object() -> None:
    columns = np.arange(64) % 3 == 0
    first, second = Box(2, 64, None, columns), Box(2, 64, None, columns.copy())
    assert first is second
    other = Box(2, 64, np.array([True, False]), columns)
    assert other.count == 22
    assert first.count == 44
    with pytest.raises(ValueError, match="read-only"):
        first.mask[0, 0] = False
