"""Pictures of the block-size choice show the queries of the plan, and its alternatives."""

from __future__ import annotations

from itertools import pairwise

import pytest

from softlab.plans import plan
from softlab.views.block_size import Stretch, query_table, size_bars, stretches_chart
from tests.views.drawn import cells, marks, words


def test_queries_in_the_order_in_which_they_were_asked():
    rows = cells(query_table(plan(4096, 8192, device="H200")))
    assert [row[1] for row in rows] == [f"blocks of {size}" for size in (128, 1024, 512, 256)]
    assert [row[4] for row in rows] == ["6", "2", "4", "6"]
    assert [row[7] for row in rows] == ["now the largest first", "no: 2 is not 6", "no: 4 is not 6", "taken"]


def test_the_search_ends_with_the_first_that_is_as_good():
    rows = cells(query_table(plan(4096, 12_000, device="H200")))
    assert [row[1] for row in rows] == ["blocks of 128", "blocks of 1024", "blocks of 512"]
    assert rows[-1][7] == "taken"


def test_the_smallest_is_taken_where_no_other_is_as_good():
    rows = cells(query_table(plan(4096, 4096, device="H200")))
    assert [row[7] for row in rows] == ["taken", "no: 2 is not 13", "no: 4 is not 13", "no: 8 is not 13"]


def test_no_choice_is_said():
    assert "no shared memory, no barrier" in query_table(plan(4096, 64, device="H200"))
    assert "does not fit" in query_table(plan(4096, 20_000, device="H200"))


def test_bars_of_the_sizes():
    made = plan(4096, 12_250, device="H200")
    drawn = size_bars(made.alternatives(), {128: 0.5, 256: 0.75}, "somewhere")
    bars = marks(drawn, warps=None)
    fitting = {
        a.block_size: a.plan.occupancy.warps_per_sm for a in made.alternatives() if a.kernel == "block_smem" and a.plan
    }
    assert {int(bar["size"]): int(bar["warps"]) for bar in bars} == fitting
    assert [int(bar["size"]) for bar in bars if bar["chosen"] == "1"] == [made.block_size]
    shares = marks(drawn, share=None)
    assert [float(bar["share"]) for bar in shares] == [0.5, 0.75]
    assert float(shares[1]["width"]) == pytest.approx(1.5 * float(shares[0]["width"]))
    assert any("does not fit" in text and "at most 49152" in text for text in words(drawn))


def test_steps_touch_and_the_one_we_are_on_is_marked():
    stretches = (
        Stretch(256, 1023, "warp"),
        Stretch(1024, 6193, 128),
        Stretch(6194, 8191, 256),
        Stretch(8192, 9000, "block_uncached"),
    )
    bars = marks(stretches_chart(stretches, 6194, title="t"), answer=None)
    assert [bar["answer"] for bar in bars] == ["warp", "128", "256", "block_uncached"]
    assert [bar["answer"] for bar in bars if bar["marked"] == "True"] == ["256"]
    for left, right in pairwise(bars):
        assert float(left["x"]) + float(left["width"]) == pytest.approx(float(right["x"]), abs=0.01)
    levels = [float(bar["y"]) for bar in bars]
    assert levels == sorted(levels, reverse=True), "larger blocks are higher"
