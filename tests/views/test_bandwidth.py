"""Charts of recordings hold the values they are given, and say where they come from."""

from __future__ import annotations

from softlab.views.bandwidth import grouped_bars, speed_lines, traffic_points
from softlab.views.style import STAMP_LETTERS

STAMP = "recorded on a GPU"


def notes(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_speed_lines():
    figure = speed_lines({"a": ([32, 64], [1000.0, 2000.0]), "b": ([32], [500.0])}, 4000, title="t", stamp=STAMP)
    assert [(line.name, list(line.x), list(line.y)) for line in figure.data] == [
        ("a", [32, 64], [1000, 2000]),
        ("b", [32], [500]),
    ]
    assert [row[0] for row in figure.data[0].customdata] == [0.25, 0.5]
    assert figure.layout.shapes[0].y0 == 4000
    assert STAMP in notes(figure)
    assert "GB/s" in figure.layout.yaxis.title.text
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol, "colour is not the only sign"


def test_grouped_bars_leave_out_what_there_is_not():
    nan = float("nan")
    figure = grouped_bars(
        [1, 2], {"a": [10.0, nan], "b": [nan, nan], "c": [1.0, 2.0]}, title="t", x="x", y="y", stamp=STAMP,
        line=5, line_text="five",
    )  # fmt: skip
    drawn = [(trace.name, list(trace.y)) for trace in figure.data]
    assert drawn == [("a", [10, None]), ("c", [1, 2]), ("five", [5, 5])]
    assert STAMP in notes(figure)


def test_traffic_points_in_mebibytes():
    figure = traffic_points({"a": ([2**20, 2**24], [1.0, 3.0])}, 2**25, title="t", stamp=STAMP)
    points, cache = figure.data
    assert list(points.x) == [1, 16]
    assert list(cache.x) == [32, 32]
    assert cache.name == "all of L2"
    assert STAMP in notes(figure)


def test_a_long_stamp_takes_several_lines():
    stamp = "recorded on a GPU of some name, with a driver and five libraries of many letters and digits " * 2
    (note,) = [text for text in notes(speed_lines({"a": ([1], [1.0])}, 1, title="t", stamp=stamp)) if "<br>" in text]
    assert note.replace("<br>", " ") == stamp.strip()
    assert max(map(len, note.split("<br>"))) <= STAMP_LETTERS
