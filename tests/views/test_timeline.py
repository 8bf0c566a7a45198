"""The timeline's chart: bars where the pieces are, a line at each barrier, waits of the right length."""

from __future__ import annotations

import numpy as np

from softlab.instruments.timeline import BarrierPass, Timeline
from softlab.views import timeline as view
from softlab.views.timeline import timeline_chart

KINDS = ("other", "global load", "shared store", "barrier", "other", "global store")


def hand_made() -> Timeline:
    """Two warps. Warp 1 runs instructions 0-1 twice, warp 0 once; both 2-3 (a barrier), then 4-5, warp 1 not."""
    rows = [(0, 0, 0, 2, 32, 0), (1, 0, 0, 2, 32, 0), (1, 2, 0, 2, 32, 0),
            (0, 2, 2, 4, 16, 0), (1, 4, 2, 4, 32, 0), (0, 6, 4, 6, 1, 1)]  # fmt: skip
    columns = dict(
        zip(("warp", "clock", "first", "last", "lanes", "interval"), np.array(rows).T.astype("i4"), strict=True)
    )
    passes = (BarrierPass(0, 12, 6, (0, 1), (4, 6)),)
    text = ("a;", "b;", "c;", "bar;", "d;", "e;")
    return Timeline(5, 2, "kernel.cu", text, (1, 2, 3, 12, 20, 21), KINDS, passes=passes, **columns)


def bars(figure) -> dict[str, list[tuple[str, int, int]]]:
    return {bar.name: list(zip(bar.y, bar.base, bar.x, strict=True)) for bar in figure.data}


def test_bars_are_the_pieces():
    found = bars(timeline_chart(hand_made()))
    assert found["global load"] == [("warp 0", 1, 1), ("warp 1", 1, 1), ("warp 1", 3, 1)]
    assert found["shared store"] == [("warp 0", 2, 1), ("warp 1", 4, 1)]
    assert found["barrier"] == [("warp 0", 3, 1), ("warp 1", 5, 1)]
    assert found["global store"] == [("warp 0", 7, 1)]
    assert found["other"] == [("warp 0", 0, 1), ("warp 0", 6, 1), ("warp 1", 0, 1), ("warp 1", 2, 1)]


def test_who_waits():
    figure = timeline_chart(hand_made())
    assert bars(figure)["waits at a barrier"] == [("warp 0", 4, 2)]
    (stop,) = figure.layout.shapes
    assert (stop.x0, stop.x1) == (6, 6)
    assert hand_made().length == 8


def test_words_for_a_piece():
    by_name = {bar.name: list(bar.customdata) for bar in timeline_chart(hand_made()).data}
    assert by_name["shared store"] == [
        "1 shared store instruction, line 3, 16 lanes",
        "1 shared store instruction, line 3, 32 lanes",
    ]
    assert by_name["waits at a barrier"] == ["waits at the barrier of line 12 while another warp issues 2 more"]


def test_it_claims_no_time():
    figure = timeline_chart(hand_made())
    assert "no time" in figure.layout.xaxis.title.text
    assert figure.layout.title.text == "Block 5: what each warp issues between barriers, in the emulator"


def test_too_many_pieces_are_sorted_by_kind(monkeypatch):
    monkeypatch.setattr(view, "MOST_PIECES", 3)
    figure = timeline_chart(hand_made())
    found = bars(figure)
    # Warp 1 before the barrier: 2 global loads, a shared store, a barrier, 2 others.
    assert [(base, x) for warp, base, x in found["global load"] if warp == "warp 1"] == [(0, 2)]
    assert [(base, x) for warp, base, x in found["other"] if warp == "warp 1"] == [(4, 2)]
    assert "sorted by kind" in figure.layout.xaxis.title.text
