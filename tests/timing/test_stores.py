"""Stores that an SM merges: the lines that its warps have begun."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.hardware.atlas import load
from softlab.hardware.devices import resolve
from softlab.timing.memory import Memory
from softlab.timing.parameters import parameters
from softlab.timing.sharing import Sharing
from softlab.timing.stores import BegunLines
from tests.timing.hand_made import BARE, access, store


def stored_in_turn(warps: int, lines: int, words: int) -> tuple[int, int]:
    """Sectors that leave the SM, and those that are filled. Each warp stores ``words`` words of each sector of
    its lines one by one, and the warps take turns, since all have issued their stores at once."""
    begun, sums = BegunLines(16), [0, 0]
    for _ in range(words):
        for warp in range(warps):
            sectors = range(4 * lines * warp, 4 * lines * (warp + 1))
            new, _, filled = begun.store(sectors, 32 / words, warp, warp % 4, 0.0, 1.0)
            sums[0] += new
            sums[1] += filled
    return sums[0], sums[1]


@pytest.mark.parametrize(
    ("warps", "lines", "merged"),
    [(1, 8, True), (1, 16, True), (2, 8, True), (4, 4, True), (4, 8, False), (2, 16, False)],
)
def test_sixteen_lines_are_merged_as_the_atlas_says(warps, lines, merged):
    left, filled = stored_in_turn(warps, lines, 8)
    each = 4 * lines * warps
    if merged:
        assert (left, filled) == (each, each)
    else:  # the first round meets schedulers that have not stored yet
        assert left > 7 * each


@pytest.mark.parametrize(("apart", "merged"), [(100.0, True), (0.0, False)])
def test_warps_that_come_one_after_the_other_have_all_lines(apart, merged):
    """Four warps of four schedulers store to nine lines each, 8 words of each sector."""
    begun, filled = BegunLines(16), 0
    for warp in range(4) if merged else [warp for _ in range(8) for warp in range(4)]:
        sectors = range(36 * warp, 36 * (warp + 1))
        for word in range(8 if merged else 1):
            issued = apart * warp
            filled += begun.store(sectors, 4.0, warp, warp, issued, issued + word + 1)[2]
    assert filled == (4 * 36 if merged else 0)


def test_no_more_lines_are_begun_than_there_are_places():
    begun = BegunLines(16)
    for warp in range(4):  # 12 lines each, one warp after the other
        begun.store(range(48 * warp, 48 * warp + 48), 4.0, warp, warp, 100.0 * warp, 100.0 * warp + 1)
    new, lines, _ = begun.store(range(48 * 2, 48 * 2 + 48), 4.0, 2, 2, 400.0, 401.0)
    assert (new, lines) == (48, 12)  # the last warp's 12 lines have left places for 4, which that warp passes through
    assert begun.store(range(48 * 3 + 32, 48 * 3 + 48), 4.0, 3, 3, 500.0, 501.0)[1] == 0


def test_the_rows_of_the_atlas_agree():
    atlas = load("H100")
    for warps, lines, merged in ((1, 8, True), (2, 8, True), (4, 8, False)):
        rate = atlas[f"bandwidth.L2.words.{lines}.of.{lines}.turns.1.warps.{warps}"]
        assert (rate > 1000) == merged
    assert parameters(resolve("H100")).store_lines == 16


def test_stores_of_other_warps_to_the_same_line_are_not_merged():
    begun = BegunLines(16)
    assert begun.store(range(4), 16.0, 0, 0, 0.0, 1.0) == (4, 1, 0)
    assert begun.store(range(4), 16.0, 4, 0, 0.0, 1.0) == (4, 1, 0)
    assert begun.store(range(4), 16.0, 0, 0, 0.0, 1.0) == (0, 0, 4)


def test_the_line_that_was_stored_to_longest_ago_goes():
    begun = BegunLines(2)
    for sector in (0, 4, 0, 8):
        begun.store((sector,), 4.0, 0, 0, 0.0, 1.0)
    assert begun.store((0,), 4.0, 0, 0, 0.0, 1.0) == (0, 0, 0)
    assert begun.store((4,), 4.0, 0, 0, 0.0, 1.0) == (1, 1, 0)


def test_merged_words_cost_l2_and_dram_no_more_than_one_store():
    figures = replace(BARE, partial_store=1.25)

    def busy(requests: int, width: int) -> tuple[float, float]:
        memory = Memory(figures, Sharing((), 1.0, 0.0), 132, 0.0, 0)
        for _ in range(requests):
            access(memory, 0.0, store(0, range(16), width=width))
        return memory.l2_write_busy, memory.dram.written

    assert busy(4, 4) == pytest.approx(busy(1, 16))
