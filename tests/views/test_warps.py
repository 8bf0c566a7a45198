"""The picture of a block's warps: marks are where the record says, in every part of it that can be shown."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from softlab.instruments.snapshots import BarrierWaits, IssueLog
from softlab.views import warps
from softlab.views.warps import Window, step_table, waiting_sentence, warps_picture
from tests.views.test_timeline import hand_made


def drawn(clock: int = 3, zoom: int = 1):
    line = hand_made()
    text = warps_picture(line, line.segments(), Window.around(clock, line.length, zoom), clock, title="A <title>")
    return ElementTree.fromstring(text)


def groups(root, kind: str):
    return [g for g in root.iter("g") if g.get("data-kind") == kind]


def span(group) -> tuple[float, float]:
    rect = next(group.iter("rect"))
    return float(rect.get("x")), float(rect.get("width"))


def test_each_piece_is_a_mark_with_its_sentence():
    root = drawn()
    loads = groups(root, "global load")
    assert [(g.get("data-warp"), next(g.iter("title")).text) for g in loads] == [
        ("0", "warp 0, step 1: 1 global load, line 2, 32 lanes"),
        ("1", "warp 1, step 1: 1 global load, line 2, 32 lanes"),
        ("1", "warp 1, step 3: 1 global load, line 2, 32 lanes"),
    ]
    # 8 steps side by side: the same instruction, two steps later, is a quarter of the picture further right.
    wide = (span(loads[2])[0] - span(loads[1])[0]) * 4
    assert span(loads[0])[1] == pytest.approx(wide / 8, abs=0.6)
    assert wide == pytest.approx(708, abs=1)


def test_waiting_is_a_mark_of_its_own_and_barriers_are_named():
    (wait,) = groups(drawn(), "waits")
    assert next(wait.iter("title")).text == (
        "warp 0, steps 4 to 5: waits at the barrier of line 12 while another warp issues 2 more"
    )
    (stop,) = groups(drawn(), "pass")
    assert stop.get("data-line") == "12"
    assert "passed by 2 warps at step 6" in next(stop.iter("title")).text


def test_zoom_shows_the_part_around_the_step():
    root = drawn(clock=7, zoom=4)  # steps 6 to 8
    assert [g.get("data-warp") for g in groups(root, "global store")] == ["0"]
    assert groups(root, "shared store") == []
    assert span(groups(root, "global store")[0])[0] == pytest.approx(70 + 708 / 2, abs=1)


@pytest.mark.parametrize(("clock", "zoom", "first"), [(0, 4, 0), (4, 4, 3), (7, 4, 6), (5, 1, 0)])
def test_windows_stay_inside(clock, zoom, first):
    window = Window.around(clock, 8, zoom)
    assert (window.first, window.last) == (first, first + 8 / zoom)


def test_many_pieces_become_one_shape_a_kind(monkeypatch):
    single = {g.get("data-kind") for g in drawn().iter("g") if g.get("data-warp")} - {"waits"}
    monkeypatch.setattr(warps, "MOST_TIPS", 3)
    root = drawn()
    shapes = [g for g in root.iter("g") if list(g.iter("path"))]
    assert {g.get("data-kind") for g in shapes} == single
    loads = next(g for g in shapes if g.get("data-kind") == "global load")
    assert len(re.findall("M", next(loads.iter("path")).get("d"))) == 3


def test_the_table_puts_warps_together_that_do_the_same():
    issued = IssueLog.of(hand_made())
    source = "\n".join(f"code {k};" for k in range(1, 30))
    html = step_table(issued.at(4), 4, source)
    assert "waits at a barrier" in html
    assert "line 12: code 12;" in html
    html = step_table(issued.at(1), 1, source)
    assert html.count("<tr>") == 2, "one row, under the head"
    assert "warps\N{NO-BREAK SPACE}0\N{NON-BREAKING HYPHEN}1" in html
    html = step_table(issued.at(7), 7, source)
    assert "1 lane of 32" in html
    assert "is done" in html


def test_the_sentence():
    assert waiting_sentence(BarrierWaits(300, 100, 50, 1)) == (
        "The block passes 1 barrier. Its warps issue 300 instructions, and could have issued 100 more while they waited"
        " for each other: 25% of the whole is waiting."
    )
