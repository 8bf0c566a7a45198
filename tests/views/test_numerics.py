"""Bars on a format's scale: heights are logarithms, and what is no number is said in words."""

from __future__ import annotations

import re

import pytest

from softlab.views.numerics import Format, error_chart, range_chart

TINY = Format("tiny", 16.0, 1 / 4, 1 / 16)


def heights(picture: str, kind: str) -> list[float]:
    return [
        float(h) for h in re.findall(rf'data-{kind}="[^"]*"><title>[^<]*</title><rect [^>]*height="([^"]*)"', picture)
    ]


def test_bars_are_logarithms():
    picture = range_chart([1 / 8, 1.0, 4.0, 16.0], [0.0, 0.1, 0.2, 0.7], TINY, named="e^x")
    one, four, two, full = (heights(picture, "power")[k] for k in (0, 1, 2, 3))
    # From 1/16 to 16 are eight doublings; 1/8 is one above the least.
    assert [one / full, four / full, two / full] == pytest.approx([1 / 8, 4 / 8, 6 / 8], rel=1e-3)
    shares = heights(picture, "share")
    assert shares == pytest.approx([0, 10, 20, 70], abs=0.01), "the largest share has the full height"


def test_what_is_no_number_is_said():
    picture = range_chart([float("inf"), 0.0, float("nan"), 1.0], [float("nan")] * 4, TINY, named="e^x")
    assert picture.count(">inf<") == 1
    assert picture.count(">NaN<") == 5, "one exponential, four shares"
    assert "lane 0: e^x is too large for tiny: infinity" in picture
    assert "lane 1: e^x is too small for tiny: 0" in picture


def test_the_scale_names_its_ends():
    picture = range_chart([1.0], [1.0], TINY, named="e^x")
    for words in ("largest 16", "least normal 0.25", "least 0.062"):
        assert words in picture


def test_errors_have_units_and_a_source():
    figure = error_chart({"one": ([0, 1], [0.5, 2]), "two": ([0, 1], [1, 1])}, title="Errors", source="a run")
    assert [trace.name for trace in figure.data] == ["one", "two"]
    assert "ulp" in figure.layout.yaxis.title.text
    assert figure.layout.annotations[0].text == "a run"
    assert len({trace.line.dash for trace in figure.data}) == 2, "told apart without colour"
