"""How the lengths of rows are dealt out among tests."""

from __future__ import annotations

from itertools import product

from tests.kernels.cases import COLS, DTYPES, OPS, dealt
from tests.kernels.test_gradients import COLS as BACKWARD_COLS
from tests.kernels.test_gradients import OPS as BACKWARD


def test_each_length_meets_every_type_and_every_operator() -> None:
    for lengths, ops in ((COLS, OPS), (BACKWARD_COLS, BACKWARD)):
        taken = {(dtype, op): set(dealt(lengths, dtype, op)) for dtype, op in product(DTYPES, ops)}
        for dtype in DTYPES:
            assert set().union(*(taken[dtype, op] for op in ops)) == set(lengths)
        for op in ops:
            assert set().union(*(taken[dtype, op] for dtype in DTYPES)) == set(lengths)
        for some in taken.values():
            assert len(some) < 0.6 * len(lengths)
            assert {lengths[0], lengths[-1]} <= some
            assert {cols % 2 for cols in some if cols < 70} == {0, 1}


def test_both_layouts_of_a_lesson_see_all_lengths() -> None:
    first, second = (dealt(BACKWARD_COLS, "float32", "softmax_backward", further) for further in (0, 1))
    assert {*first, *second} == set(BACKWARD_COLS)
