"""Sizes, places and lines beyond 256, each computed anew: two such numbers of Python are equal, and not the same."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import behaviour, causes, diagnosis, exponentials, places, probes, relations
from softlab.course.launch_cases import LaunchCase
from softlab.course.places import Visits
from softlab.course.probes import Seen
from softlab.errors import Error, FaultSite, KernelFault

SIZE = 300


def again(number: int) -> int:
    """The same number as another object."""
    return int(str(number))


def seen(got: Any, wanted: Any, work: Callable | None = None, source: str = "", **inputs: np.ndarray) -> Seen:
    """A wrong result ``y``; ``work`` gives it from the inputs, in their order."""
    got, wanted = np.asarray(got, np.float32), np.asarray(wanted, np.float32)

    def run(grid: Any, block: Any, given: tuple, smem: int, **how: Any) -> None:
        if work is None or "blocks" in how:
            raise Error("its accesses are not kept")
        given[-1][...] = work(*given[:-1])

    launch = LaunchCase(2, 32, {**inputs, "y": np.full(got.shape, np.nan, np.float32)}, {"y": wanted}, 0, 0.0)
    kernel = SimpleNamespace(run=run, program=SimpleNamespace(source=source))
    return Seen(kernel, launch, "y", got)  # type: ignore[arg-type]


COUNT = np.arange(SIZE, dtype=np.float32)


def test_a_square_of_many_rows_has_rows_and_columns_exchanged() -> None:
    for shape in ((SIZE, again(SIZE)), (SIZE, SIZE + 1)):
        words = dict(behaviour._orders(shape, np.arange(shape[0] * shape[1])))
        assert ("rows and columns have changed places" in words) == (shape[0] == shape[1])


def test_results_of_as_many_numbers_as_an_input() -> None:
    assert behaviour._as_it_is(seen(COUNT, COUNT[::-1], x=COUNT)) == (
        "y[i] is x[i]: each number stands where it stood before."
    )
    assert behaviour._fits(COUNT, COUNT.copy().reshape(3, 100))
    assert not behaviour._fits(COUNT, COUNT[:-1])
    rows = np.stack([COUNT, COUNT])
    assert behaviour._fits(rows.max(-1, keepdims=True), np.full((2, SIZE), SIZE - 1.0))
    assert relations.of_elements("y", 2 * COUNT, np.ones(SIZE, bool), {"x": COUNT}) == "y[i] is 2 * x[i]."
    matrix = np.random.default_rng(1).uniform(1, 3, (SIZE, 5))
    right = np.linspace(20, 40, SIZE)
    words = "is the right number plus the first number of its row of x."
    assert relations.of_rows("y", right + matrix[:, 0], right, {"x": matrix}) == f"y[i] {words}"
    two = np.stack((right + matrix[:, 0], right), axis=1)
    assert relations.of_rows("y", two, np.stack((right, right), axis=1), {"x": matrix}) == f"y[i, 0] {words}"


def test_sums_of_many_columns() -> None:
    x = np.ones((2, SIZE), np.float32)
    twice = seen(x.sum(axis=0) + x[0], x.sum(axis=0), work=lambda x: x.sum(axis=0) + x[0], x=x)
    assert "x[0, " in behaviour._of_sums(twice)
    assert "count twice" in behaviour._of_sums(twice)


def test_a_square_of_numbers_has_no_rows_of_its_own() -> None:
    changed = {0: np.arange(SIZE) == 5}
    for cols, said in ((SIZE, False), (again(SIZE) + 1, True)):
        made = seen(COUNT, COUNT + 1, x=np.zeros((SIZE, cols), np.float32))
        made.__dict__["inputs"] = made.launch.args
        assert bool(behaviour._elsewhere(made, "x", changed)) == said


@pytest.mark.parametrize("size", [SIZE, 40])
def test_numbers_of_a_long_row_that_count_as_those_before_them(size: int) -> None:
    """The sum so far is not scaled where the maximum grows."""

    def unscaled(x: np.ndarray) -> np.ndarray:
        total, most = np.zeros(len(x)), np.full(len(x), -np.inf)
        for column in x.T.astype(np.float64):
            most = np.maximum(most, column)
            total += np.exp(column - most)
        return (most + np.log(total)).astype(np.float32)

    x = (3 * np.random.default_rng(2).standard_normal((4, size))).astype(np.float32)
    right = exponentials._log_sum(x.astype(np.float64))
    wrong = seen(unscaled(x), right, unscaled, "expf(v)", x=x)
    assert "the sum so far is not scaled down when the maximum grows." in exponentials.counts(wrong)
    assert exponentials._alike(COUNT, again(1) * COUNT)
    assert not exponentials._alike(COUNT, COUNT[1:])


def test_threads_of_one_large_block() -> None:
    for threads, words in ((SIZE, "thread 299"), (2 * SIZE, "thread 299 of block 0")):
        line = Visits("y", 3, True, np.arange(threads)[None], 1, again(SIZE), (threads,))
        assert line.thread(SIZE - 1) == words


def stores(element: np.ndarray, block: int, *shape: int, width: int = 1, store: bool = True) -> str:
    return places._covered(Visits("y", again(SIZE), store, element, width, block, shape))


def test_many_threads_blocks_and_turns() -> None:
    threads = np.arange(SIZE)
    assert stores(threads[None], again(SIZE), 2 * SIZE) == (
        "On line 300 each of the 300 threads stores 1 element, which makes 300. There are 600: 2 per thread."
    )
    wide = stores(SIZE * threads[None, :4], 4, 2 * SIZE * 4, width=SIZE)
    assert wide == (
        "On line 300 each of the 4 threads stores 300 elements, which makes 1200. There are 2400: 600 per thread."
    )
    assert stores(threads[None], again(SIZE), SIZE) == "", "each element is stored"
    assert stores(SIZE * threads[None, :4], 4, 4 * SIZE, width=again(SIZE)) == ""
    firsts = np.repeat(np.arange(SIZE) * SIZE, SIZE + 10) + np.tile(np.arange(SIZE + 10), SIZE)
    assert stores(firsts[None], SIZE + 10, SIZE * SIZE * 2) == (
        "Block 0 begins with y[0] and block 1 with y[300]: blocks are 300 apart, which is the number of blocks, and a "
        "block has 310 threads."
    )
    square = np.arange(SIZE * SIZE)
    modulo = square // SIZE * 2 * SIZE + square % SIZE % 290
    assert stores(modulo[None], SIZE, SIZE, 2 * SIZE).startswith("Each row is stored in the columns 0 to 289 alone")
    rows = np.arange(SIZE * 310)
    by_rows = stores((rows // 310 * 310 + rows % 310 % SIZE)[None], 310, SIZE, 310)
    assert by_rows == (
        "Each row is stored in the columns 0 to 299 alone, and has 310: the column is taken modulo 300, the number of "
        "rows."
    )


def test_a_small_step_of_wide_reads() -> None:
    """Threads that read 300 elements each, and go on by fewer than they all read."""
    first = SIZE * np.arange(4)
    element = np.stack([first, first + SIZE * 2])
    said = stores(element, 4, 6 * SIZE, width=again(SIZE), store=False)
    assert said == (
        "y[600] is read by thread 2 and by thread 0. From turn to turn a thread goes 600 further, and a block has 4 "
        "threads that take 300 elements each, 1200 together."
    )
    gap = np.stack([first, first + SIZE * 5])
    assert stores(gap, 4, 9 * SIZE, width=again(SIZE), store=False).startswith("On line 300 nobody reads y[1200].")


def test_an_element_that_comes_in_many_turns() -> None:
    """Who comes first is told by the turn."""
    element = np.full((SIZE + 5, 3), -1)
    element[SIZE, 0] = element[again(SIZE), 2] = 7
    line = Visits("y", 3, True, element, 1, 3, (20,))
    assert places._again(line) == "y[7] is stored by thread 0 and by thread 2."
    same = np.zeros((4, 2), int)
    assert stores(same, 2, 1) == ""
    assert stores(same, 2, 2) == "y[0] is stored by thread 0 and by thread 1."


def test_a_matrix_of_as_many_rows_as_columns_is_split_in_no_wrong_way() -> None:
    number = np.arange(SIZE * SIZE)
    for cols, said in ((again(SIZE), False), (SIZE // 2, True)):
        element = (number // SIZE * cols + number % SIZE)[None]
        assert bool(places._of_rows(Visits("y", 3, True, element, 1, SIZE, (SIZE, cols)))) == said


def test_words_for_places_of_a_long_array() -> None:
    assert probes.elements("y", np.array([SIZE - 2, SIZE - 1]), again(SIZE)).endswith("y[299], the last one, are")
    wrong = np.arange(SIZE) == 277
    assert 277 in probes.places_to_change(COUNT, wrong)
    assert 277 not in probes.places_to_change(COUNT, wrong[1:])


@pytest.mark.parametrize("element", [1, 2])
def test_the_element_of_a_threads_own_number(element: int) -> None:
    launch = LaunchCase(8, 64, {"x": np.zeros(100, np.float64)}, {})
    site = FaultSite(thread=(12, 0, 0), block=(5, 0, 0), address=332 * element * 8, argument=0)
    fault = KernelFault("global-out-of-bounds", "beyond", site)
    said = causes.fault_cause(fault, "__global__ void k(const double* x) {}", launch)
    assert ("wants the element of its own number" in said) == (element == 1)


def test_a_line_far_down() -> None:
    code = "__global__ void k(float* y) {\n__shared__ float s[64];\n" + "\n" * SIZE + "  s[0] = 1;\n}"
    line = SIZE + 3
    site = FaultSite(line=line, other_line=again(line), thread=(5, 0, 0), other_thread=(40, 0, 0))
    said = causes.fault_cause(KernelFault("race", "two threads meet", site), code, LaunchCase(1, 64, {}, {}))
    assert said.startswith(f"One thread may store on line {line} while another one stores there, too")


def test_first_numbers_that_are_right() -> None:
    for first, threads in ((SIZE, again(SIZE)), (SIZE, SIZE + 1)):
        got = np.where(np.arange(2 * SIZE) < first, 1.0, 0.0) * np.arange(1, 2 * SIZE + 1)
        said = diagnosis.pattern(got, np.arange(1.0, 2 * SIZE + 1), threads)
        assert ("as many as a block has threads" in said) == (first == threads)


def test_powers_of_large_numbers_are_shares() -> None:
    """The largest number of each row is taken off first, so that none is infinite."""
    for size in (1.0, 600.0, 1e6):
        rows = size + np.array([[0.0, 1.0, -2.0], [3.0, 3.0, 3.0]])
        powers = np.array([[1.0, np.e, np.exp(-2.0)], [1.0, 1.0, 1.0]])
        assert np.allclose(exponentials._softmax(rows), powers / powers.sum(axis=1, keepdims=True))
        assert np.allclose(exponentials._log_sum(rows), size + np.log([powers[0].sum(), 3 * np.exp(3.0)]))
        most = size + np.array([1.0, 3.0])
        assert np.allclose(exponentials._pair(rows), np.stack([most, [powers[0].sum() / np.e, 3.0]], axis=1))


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize(("limit", "heard"), [(140, True), (140.5, False)])
def test_an_infinite_number_stands_for_0_where_one_above_all_is_tried(
    infinite: float, limit: float, heard: bool
) -> None:
    """With the largest other number 100, the number that is tried is 100 + 40."""
    x = np.array([infinite, 100], np.float32)

    def work(x: np.ndarray) -> float:
        return float(limit <= x[0] < np.inf)

    assert behaviour._changed(seen([0], [1], work, x=x), "x", 0).tolist() == [heard]  # type: ignore[union-attr]
