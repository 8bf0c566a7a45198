"""Times as bars and copies as curves: in one scale, and what is not there is said."""

from __future__ import annotations

import pytest

from softlab.views.times import TimeRow, copy_curves, time_bars
from tests.views.drawn import marks, words

ROWS = [
    TimeRow("column", 100.0, 80.0, "dram", "long_scoreboard", chosen=True),
    TimeRow("row", 50.0, None, "issue", "wait"),
    TimeRow("other"),
]


def test_bars_have_one_scale_and_an_edge_where_chosen():
    bars = {(one["label"], one["kind"]): one for one in marks(time_bars(ROWS, title="T"), kind=None)}
    assert set(bars) == {("column", "estimated"), ("column", "recorded"), ("row", "estimated")}
    wide = {key: float(one["width"]) for key, one in bars.items()}
    assert wide["row", "estimated"] == pytest.approx(wide["column", "estimated"] / 2)
    assert wide["column", "recorded"] == pytest.approx(wide["column", "estimated"] * 0.8)
    assert bars["column", "estimated"]["marked"] == "True"
    assert bars["row", "estimated"]["tip"] == "row: 50.0 us estimated, bound by issue, wait"


def test_what_is_not_there_is_said():
    shown = words(time_bars(ROWS, title="T", notes=["made up"]))
    assert shown.count("not recorded") == 2
    assert shown.count("not estimated") == 1
    assert shown[-1] == "made up"
    assert "T" in words(time_bars([], title="T"))


def test_curves_points_and_the_line_of_the_kernel():
    curves = {"16 bytes": ([4, 64], [1000.0, 4000.0]), "4 bytes": ([4, 64], [250.0, 2000.0])}
    picture = copy_curves(curves, ([8.0, 16.0, 128.0], [1500.0, 2500.0, 4000.0]), 24, title="T", notes=["N"])
    points = marks(picture, point=None)
    assert [one["point"] for one in points] == ["8", "16"], "beyond the axis is not drawn"
    assert float(points[0]["y"]) > float(points[1]["y"])
    assert {"yours: 24", "4 TB/s", "N", "16 bytes", "4 bytes"} <= set(words(picture))
    assert 'data-curve="16 bytes"' in picture
