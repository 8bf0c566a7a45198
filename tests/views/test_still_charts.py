"""Still pictures of charts: the same data as the chart, in shapes that GitHub keeps."""

from __future__ import annotations

import itertools
import json
import re
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from softlab.views import counter_bars, error_chart, grouped_bars, speed_lines, traffic_points
from softlab.views.still_charts import chart
from softlab.views.stills import still
from softlab.views.style import SERIES, layout

STAMP = "recorded on a GPU"


def drawn(figure: go.Figure) -> ElementTree.Element:
    return ElementTree.fromstring(still([chart(json.loads(figure.to_json()))], title="t"))


def boxes(picture: ElementTree.Element, colour: str) -> list[tuple[float, ...]]:
    """x, y, width, height of the bars of a colour; the first one is the sample in the legend, if there is a legend."""
    paths = [node.get("d", "") for node in picture.iter() if node.tag.endswith("path") and node.get("fill") == colour]
    found = re.findall(r"M([-.\d]+) ([-.\d]+)h([-.\d]+)v([-.\d]+)", "".join(paths))
    return [tuple(map(float, box)) for box in found]


def words(picture: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in picture.iter() if node.tag.endswith("text")]


def test_bars_are_as_high_as_their_values_and_a_gap_stays():
    values = {"one": [10, 20, float("nan")], "two": [5, 40, 30]}
    picture = drawn(grouped_bars((1, 2, 3), values, title="t", x="columns", y="percent", stamp=STAMP))
    one, two = boxes(picture, SERIES[0])[1:], boxes(picture, SERIES[1])[1:]
    assert len(one) == 2
    assert [box[3] / one[0][3] for box in (*one, *two)] == pytest.approx([1, 2, 0.5, 4, 3], rel=0.02)
    # Side by side, on one line.
    assert all(a[0] + a[2] == pytest.approx(b[0], abs=0.2) for a, b in zip(one, two, strict=False))
    assert len({round(box[1] + box[3]) for box in (*one, *two)}) == 1
    assert {"one", "two", "1", "2", "3", "columns", "percent", STAMP} <= set(words(picture))


def test_lines_have_their_points_on_logarithmic_axes_and_a_line_for_the_copy():
    picture = drawn(speed_lines({"softlab": ([64, 128, 1024], [100, 300, 200])}, 400, title="t", stamp=STAMP))
    (line,) = (node for node in picture.iter() if node.tag.endswith("polyline"))
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in line.get("points", "").split())
    assert (x2 - x1) / (x1 - x0) == pytest.approx(3, rel=0.01)
    assert (y0 - y2) / (y0 - y1) == pytest.approx(0.5, abs=0.01)
    assert {"64", "128", "256", "1024", "device copy, 400 GB/s"} <= set(words(picture))
    assert any(node.get("stroke-dasharray") for node in picture.iter() if node.tag.endswith("line"))


def test_every_chart_is_of_shapes_that_github_keeps_and_the_same_twice():
    counters = {"a": {"barriers": 3}, "b": {"barriers": 0}}
    figures = (
        counter_bars(counters, ["barriers"], title="t"),
        error_chart({"expf": ([0.0, 1.0], [0.5, 1.5])}, title="t", source=STAMP),
        traffic_points({"blocks of 128": ([2**20, 2**25], [1.0, 3.0])}, 2**24, title="t", stamp=STAMP),
    )
    for figure in figures:
        picture = ElementTree.tostring(drawn(figure), encoding="unicode")
        assert picture == ElementTree.tostring(drawn(figure), encoding="unicode")
        tags = {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(picture).iter()}
        assert tags <= {"svg", "g", "rect", "line", "text", "path", "polyline", "polygon", "circle"}
        assert not re.search(r"style=|var\(|url\(|href|class=|rgba", picture)
        assert re.search("From a run in the emulator|recorded on a GPU", picture)


def test_labels_that_have_no_room_are_left_out_and_none_overlap():
    cols = [512 * k for k in range(1, 24)]
    picture = drawn(grouped_bars(cols, {"one": cols}, title="t", x="columns", y="percent", stamp=STAMP))
    shown = [
        node for node in picture.iter() if node.tag.endswith("text") and "".join(node.itertext()) in map(str, cols)
    ]
    places = [float(node.get("x", "0")) for node in shown if node.get("text-anchor") == "middle"]
    assert 10 < len(places) < 23
    assert min(b - a for a, b in itertools.pairwise(places)) > 5 * 6.6


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        (go.Figure(go.Pie(values=[1, 2]), layout("t", "x", "y")), "pie"),
        (go.Figure(go.Bar(y=[1, 2])), "layout"),
        (go.Figure(go.Bar(x=[1, 2], y=[1, 2]), layout("t", "x", "y")), "axis of numbers"),
        (go.Figure(go.Bar(x=["a"], y=[1], marker={"color": ["red"]}), layout("t", "x", "y")), "colour for each"),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_refused(figure, problem):
    with pytest.raises(ValueError, match=problem):
        drawn(figure)
