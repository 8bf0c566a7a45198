"""The looks at a wrong result one by one, where a Python function stands for the kernel."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import behaviour
from softlab.course.launch_cases import LaunchCase
from softlab.course.probes import NAMED, Seen, listed, places_to_change

RANDOM = np.random.default_rng(3)


def seen(got: Any, wanted: Any, relative: float = 0.0, work: Callable | None = None, **inputs: np.ndarray) -> Seen:
    """A wrong result ``y``; ``work`` gives it from the inputs, in their order."""
    got, wanted = np.asarray(got, np.float32), np.asarray(wanted, np.float32)

    def run(grid: Any, block: Any, given: tuple, smem: int, **how: Any) -> None:
        assert work is not None
        given[-1][...] = work(*given[:-1])

    launch = LaunchCase(2, 32, {**inputs, "y": np.full(got.shape, np.nan, np.float32)}, {"y": wanted}, 0, relative)
    return Seen(SimpleNamespace(run=run), launch, "y", got)  # type: ignore[arg-type]


def order_by_hand(words: str, at: int, shape: tuple[int, ...]) -> int:
    """Which element's number the element ``at`` has where an order has these words."""
    size, cols = int(np.prod(shape)), shape[-1]
    row, col = divmod(at, cols)
    number = next((int(word) for word in words.split() if word.isdigit()), 0)
    if "further on" in words:
        return at + number
    if "before it" in words and "element" in words:
        return at - number
    if words == "the order of all is reversed":
        return size - 1 - at
    if "within groups" in words:
        return next(first + number - 1 - (at - first) for first in range(0, size + number, number)
                    if first <= at < first + number)  # fmt: skip
    if "apart" in words:
        return at - number if at // number % 2 else at + number
    return {
        "each row has the numbers of row 0": col,
        "each row is reversed": row * cols + (cols - col - 1),
        "the order of the rows is reversed": (shape[0] - row - 1) * cols + col,
        "rows and columns have changed places": col * cols + row,
        "each row has the numbers of the next one": (row + 1) * cols + col,
        "each row has the numbers of the one before it": (row - 1) * cols + col,
    }[words]


@pytest.mark.parametrize("shape", [(7,), (300,), (5, 40), (40, 5), (12, 12)])
def test_each_order_by_hand(shape: tuple[int, ...]) -> None:
    index = np.arange(int(np.prod(shape)))
    found = dict(behaviour._orders(shape, index))
    assert len(found) == 18 + (len(shape) == 2) * 5 + (shape == (12, 12))
    for words, source in found.items():
        assert source.tolist() == [order_by_hand(words, at, shape) for at in index.tolist()], words


ORDERS = [words for words, _ in behaviour._orders((12, 12), np.arange(144))]


@pytest.mark.parametrize("words", ORDERS)
def test_numbers_in_other_places_are_said_with_their_order(words: str) -> None:
    """Also where some of them are wrong in another way, or have no number in that order."""
    wanted = RANDOM.permutation(144).astype(np.float32).reshape(12, 12)
    source = dict(behaviour._orders((12, 12), np.arange(144)))[words]
    there = (source >= 0) & (source < 144)
    got = np.where(there, wanted.reshape(-1)[np.clip(source, 0, 143)], wanted.reshape(-1)).reshape(12, 12)
    assert behaviour._moved(seen(got, wanted)) == f"y has the right numbers in other places: {words}."
    assert behaviour._moved(seen(got * 1.0001, wanted, 1e-3)) == f"y has the right numbers in other places: {words}."


@pytest.mark.parametrize(("wrong", "said"), [(3, False), (4, True), (20, True)])
def test_how_many_numbers_make_an_order(wrong: int, said: bool) -> None:
    wanted = np.arange(100, 140, dtype=np.float32)
    got = wanted.copy()
    got[:wrong] = wanted[1 : wrong + 1]
    words = "y has the right numbers in other places: each element has that of the one 1 further on."
    assert behaviour._moved(seen(got, wanted)) == (words if said else "")
    assert behaviour._moved(seen(np.full(40, 100), wanted)) == "", "all have one number"
    assert behaviour._moved(seen(got, wanted // 50)) == "", "few numbers are wanted"


@pytest.mark.parametrize("known", range(14, 21))
def test_numbers_in_places_of_no_order_are_said_one_by_one(known: int) -> None:
    """At least 85 % of the wrong ones are wanted elsewhere: 17 of 20."""
    wanted = np.arange(100, 123, dtype=np.float32)
    source = (np.arange(20) * 7 + 3) % 20
    got = wanted.copy()
    got[:20] = np.where(np.arange(20) < known, wanted[source], -1 - np.arange(20))
    last = known - 1
    pairs = [(0, 3), (1, 10), (last, int(source[last]))]
    words = "y has the right numbers in other places: " + ", ".join(f"y[{a}] has that of y[{b}]" for a, b in pairs)
    assert (got != wanted).sum() == 20
    assert behaviour._moved(seen(got, wanted)) == (f"{words}." if known >= 17 else "")
    assert behaviour._moved(seen(got, wanted, 1e-9)) == "", "numbers that may be off have no place"
    twice = wanted.copy()
    twice[22] = twice[21]
    assert behaviour._moved(seen(np.where(np.arange(23) < 20, got, twice), twice)) == "", "a number is wanted twice"


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("size", [2, 4, 5, 6, 64])
def test_pairs_that_have_one_number(lost: int, size: int) -> None:
    wanted = np.arange(3, 3 + size, dtype=np.float32)
    got = wanted.copy()
    got[lost::2] = wanted[1 - lost :: 2][: len(got[lost::2])] if size % 2 == 0 else -1
    words = (
        f"y[0] and y[1] both have the number of y[{1 - lost}], and so on: the number of y[{lost}] is stored nowhere."
    )
    assert behaviour._said_twice(seen(got, wanted)) == (words if size >= 4 and size % 2 == 0 else "")
    for at in (0, size - 1):
        other = got.copy()
        other[at] += 10
        assert behaviour._said_twice(seen(other, wanted)) == ""


@pytest.mark.parametrize("factor", [0.5, 1.5, 2, 3, 64, 65, -2])
@pytest.mark.parametrize("size", [1, 2, NAMED, NAMED + 1])
def test_results_that_are_a_whole_factor_too_large(factor: float, size: int) -> None:
    wanted = np.arange(1, 1 + size, dtype=np.float32)
    whole = factor >= 2 and factor == int(factor) and (size > 1 or factor <= 64) and size <= NAMED
    words = f"y is {factor:g} times what it should be: something is added {factor:g} times."
    assert behaviour._times_too_much(seen(factor * wanted, wanted)) == (words if whole else "")
    if size > 1:
        assert behaviour._times_too_much(seen(factor * wanted + np.arange(size), wanted)) == ""
    assert behaviour._times_too_much(seen(np.full(size, np.inf), wanted)) == ""
    assert behaviour._times_too_much(seen(factor * wanted, np.zeros(size))) == ""


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("seed", range(6))
def test_elements_that_a_sum_counts_otherwise(monkeypatch: pytest.MonkeyPatch, axis: int | None, seed: int) -> None:
    """Each tried element is said with how often it counts, those that count least first."""
    monkeypatch.setattr(behaviour, "read", lambda kernel, launch, name: "")
    random = np.random.default_rng(seed)
    x = random.integers(1, 9, (4, 16)).astype(np.float32)
    weights = np.ones((4, 16), np.float32)
    weights.reshape(-1)[random.integers(0, 64, 20)] = random.choice([0, 2, 3, 0.5], 20)
    weights[0, 0] = 3  # one that is tried in any case

    def work(given: np.ndarray) -> np.ndarray:
        return (given * weights).sum(axis=axis, keepdims=axis is None).reshape(-1)

    wanted = x.sum(axis=axis, keepdims=axis is None).reshape(-1)
    of = seen(work(x), wanted, work=work, x=x)
    off: dict[float, list[int]] = {}
    for place in places_to_change(x, of.wrong):
        if (times := float(weights.reshape(-1)[place])) != 1:
            off.setdefault(times, []).append(place)
    words = {0.0: "count nothing", 2.0: "count twice"}
    parts = [f"{listed('x', x, off[times])} {words.get(times, f'count {times:g} times')}" for times in sorted(off)]
    assert behaviour._of_sums(of) == f"In the sum {', '.join(parts)}, where each number counts once."
    plus = seen(work(x) + 5, wanted, work=lambda given: work(given) + 5, x=x)
    assert behaviour._of_sums(plus).startswith("With x all 0, y is 5: something is added that no number of x is, or")


@pytest.mark.parametrize(("rows", "repeated"), [(False, False), (True, False), (True, True)])
def test_a_maximum(rows: bool, repeated: bool) -> None:
    x = RANDOM.integers(1, 900, (3, 8)).astype(np.float32)
    axis = -1 if rows else None

    def made(of: np.ndarray) -> np.ndarray:
        return np.broadcast_to(of, x.shape).copy() if repeated else of

    most, least = made(x.max(axis, keepdims=True)), made(x.min(axis, keepdims=True))
    among = "its row of x" if rows else "x"
    words = f"y is the smallest number of {among}, and not the largest one."
    assert behaviour._of_maxima(seen(least, most, x=x)) == words

    def from_zero(given: np.ndarray) -> np.ndarray:
        return made(np.maximum(given.max(axis, keepdims=True), 0))

    wrong = most + 1
    found = behaviour._of_maxima(seen(wrong, most, work=from_zero, x=x))
    assert found.startswith("With each number of x 1000 less, y is 0 somewhere: the maximum begins too high")
    right = seen(wrong, most, work=lambda given: made(given.max(axis, keepdims=True)), x=x)
    assert behaviour._of_maxima(right) == ""
    nothing = seen(wrong, most, work=lambda given: np.full(most.shape, np.nan), x=x)
    assert behaviour._of_maxima(nothing) == ""


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ((3, 1), (3, 4), True), ((1, 4), (3, 4), True), ((1, 1), (3, 4), True), ((3, 4), (3, 4), True),
        ((2, 1), (3, 4), False), ((3,), (3, 4), False), ((3, 4), (3, 1), False), ((12,), (3, 4), True),
    ],
)  # fmt: skip
def test_numbers_that_repeat_along_rows(one: tuple[int, ...], other: tuple[int, ...], fits: bool) -> None:
    array = np.arange(np.prod(one), dtype=np.float32).reshape(one)
    if not fits:
        assert not behaviour._fits(array, np.zeros(other))
        return
    repeated = array.reshape(other).copy() if array.size == np.prod(other) else np.broadcast_to(array, other).copy()
    assert behaviour._fits(array, repeated)
    repeated.reshape(-1)[-1] += 1
    assert not behaviour._fits(array, repeated)


@pytest.mark.parametrize("large", [50, 100, 1000])
@pytest.mark.parametrize("own", [-30.0, 0.0, 2.0, np.inf])
def test_which_results_an_element_changes(large: float, own: float) -> None:
    """Also where it shows only beside the largest number of all."""
    x = np.array([[own, -20, large], [3, 4, 5]], np.float32)
    right = np.where(np.isfinite(x), x, 0)
    of = seen([large, 5], [large, 4], work=lambda given: np.where(np.isfinite(given), given, 0).max(axis=1), x=x)
    assert right.max() == large
    for place, changed in ((0, [True, False]), (1, [True, False]), (2, [True, False]), (3, [False, True])):
        found = behaviour._changed(of, "x", place)
        assert found is not None
        assert found.tolist() == changed
    nothing = seen([0, 0], [1, 1], work=lambda given: np.zeros(2), x=x)
    assert behaviour._changed(nothing, "x", 0).tolist() == [False, False]


def test_a_small_number_beside_a_far_larger_one_shows_where_it_is_no_integer() -> None:
    """A count of integers hears of each step; the largest of floats hears of a number that is larger than all."""
    for kind, heard in ((np.int32, False), (np.float32, True)):
        x = np.array([5, 1000, 7, 9], kind)
        made = seen([1000], [999], work=lambda x: x.max(), x=x)
        assert behaviour._changed(made, "x", 0).tolist() == [heard]  # type: ignore[union-attr]
        assert behaviour._changed(made, "x", 1).tolist() == [True]  # type: ignore[union-attr]


@pytest.mark.parametrize(("kind", "source", "told"), [(np.float32, "expf(v)", True), (np.float32, "v * v", False),
                                                      (np.int32, "expf(v)", False)])  # fmt: skip
def test_powers_are_of_floats(kind: type, source: str, told: bool) -> None:
    made = seen([0], [1], work=lambda x: 0 * x[0, 0], x=np.array([[1, 5, 2]], kind))
    object.__setattr__(made.kernel, "program", SimpleNamespace(source=source))
    assert behaviour._no_addend(made, "x", 0) == told
    assert not behaviour._no_addend(made, "x", 1), "it is the largest already"
