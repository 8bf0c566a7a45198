"""The picture of a sweep: marks at their numbers, the same bytes twice."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from softlab.views.sweep import SweptCell, sweep_picture

CELLS = (
    SweptCell("float32", "softmax", 1, 0.5),
    SweptCell("float32", "softmax", 4096, 1.0),
    SweptCell("float16", "softmax_backward", 1 << 24, 0.25),
)
SVG = "{http://www.w3.org/2000/svg}"


def test_marks_lie_at_their_numbers() -> None:
    text = sweep_picture(CELLS, title="t", words="w", stamp="s " * 200)
    assert text == sweep_picture(CELLS, title="t", words="w", stamp="s " * 200)
    root = ElementTree.fromstring(text)
    dots = {c.find(f"{SVG}title").text: (float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")}
    low, high = dots["softmax, float32 x 1: 0.500"], dots["softmax, float32 x 4096: 1.000"]
    cross = next(p for p in root.iter(f"{SVG}path") if p.find(f"{SVG}title").text.startswith("softmax_backward"))
    x, y = map(float, cross.get("d")[1:].partition("l")[0].split())
    assert (high[0] - low[0]) / (x + 2.5 - low[0]) == pytest.approx(0.5, abs=0.001)
    assert (y + 2.5 - high[1]) / (low[1] - high[1]) == pytest.approx(1.5, abs=0.01)


def test_no_cell_is_no_picture() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        sweep_picture((), title="", words="", stamp="")
