"""The butterfly: every exchange is one line between the right lanes, every value stands in its cell."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlab.instruments.shuffles import ShuffleStep
from softlab.views.shuffles import butterfly, short_number, shuffle_table

SVG = "{http://www.w3.org/2000/svg}"
LANE = np.arange(32)


def step(source, values, active=None, mode="bfly") -> ShuffleStep:
    active = np.ones(32, bool) if active is None else active
    given = np.where(active, np.asarray(values, np.float32), 0).astype(np.float32)
    source = np.asarray(source, np.int8)
    received = np.where(active, given[source], 0).astype(np.float32)
    return ShuffleStep(mode, 4, 7, 0, 2, 1, "float32", source, active, given, received)


def drawn(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html)


def test_a_line_for_each_exchange():
    picture = drawn(butterfly([step(LANE ^ 4, LANE), step(LANE ^ 1, LANE * 2)]))
    lines = [line.attrib for line in picture.iter(f"{SVG}line") if "data-from" in line.attrib]
    assert [(int(a["data-from"]), int(a["data-to"])) for a in lines] == [
        *((lane ^ 4, lane) for lane in range(32)),
        *((lane ^ 1, lane) for lane in range(32)),
    ]
    centre = {int(t.text): float(t.attrib["x"]) for t in list(picture.iter(f"{SVG}text"))[2:34]}
    assert centre.keys() == set(range(32))
    for a in lines:
        assert (float(a["x1"]), float(a["x2"])) == (centre[int(a["data-from"])], centre[int(a["data-to"])])
        assert float(a["y1"]) < float(a["y2"])


def test_cells_and_what_they_say():
    picture = drawn(butterfly([step(LANE ^ 4, LANE + 100)]))
    cells = [(g.attrib["data-lane"], g.find(f"{SVG}title").text, g.find(f"{SVG}text").text)
             for g in picture.iter(f"{SVG}g")]  # fmt: skip
    assert len(cells) == 64
    assert ("3", "lane 3 gives 103.0 to lane 7", "103") in cells
    assert ("3", "lane 3 gets 107.0 from lane 7", "107") in cells


def test_a_broadcast_and_lanes_without_a_part():
    active = LANE < 8
    html = butterfly([step(np.where(active, 2, LANE), LANE, active, mode="idx")])
    picture = drawn(html)
    titles = [t.text for t in picture.iter(f"{SVG}title")]
    assert "lane 2 gives 2.0 to lanes 0 to 7" in titles
    assert "lane 2 keeps 2.0" in titles
    assert titles.count("lane 9 takes no part") == 2
    assert sum("data-lane" in g.attrib for g in picture.iter(f"{SVG}g")) == 16


def test_direction_can_be_told_without_colour():
    picture = drawn(butterfly([step(LANE ^ 1, LANE)]))
    dashes = {
        (line.attrib["data-from"] < line.attrib["data-to"], line.attrib.get("stroke-dasharray", ""))
        for line in picture.iter(f"{SVG}line")
        if line.attrib.get("data-from") in ("0", "1")
    }
    assert len(dashes) == 2
    assert len({dash for _, dash in dashes}) == 2


def test_no_steps():
    with pytest.raises(ValueError, match="no shuffles to draw"):
        butterfly([])


def test_table_of_a_step():
    html = shuffle_table(step(LANE ^ 4, LANE))
    assert html.count("<tr>") == 33
    assert "xor 4, line 7 (float32)" in html


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_short_numbers_are_short_and_near(number):
    text = short_number(np.float32(number))
    assert len(text) <= 8
    assert float(text) == pytest.approx(number, rel=0.051, abs=1e-45)


@given(st.integers(-(2**31), 2**32 - 1))
def test_short_integers(number):
    value = np.uint32(number) if number >= 0 else np.int32(number)
    text = short_number(value)
    assert len(text) <= 7
    assert float(text) == pytest.approx(number, rel=0.051)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1.5, "1.5"), (-0.25, "-.25"), (float("-inf"), "-inf")])
def test_numbers_as_read(value, text):
    assert short_number(np.float32(value)) == text
