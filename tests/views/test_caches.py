"""The picture of the cache: bars as long as they say, points where they were recorded, a step at the cache's size."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from softlab.views.caches import Point, cache_picture


def drawn(mib=33.0):
    points = [
        Point(16.0, 1.0, "blocks of 512", False, False, "first"),
        Point(64.0, 3.0, "blocks of 1024", False, False, "second"),
        Point(33.0, 1.5, "blocks of 1024", True, True, "third"),
    ]
    return ElementTree.fromstring(
        cache_picture(mib, 60.0, points, sentence="264 rows at a time", stamp="recorded on GPU & co")
    )


def tips(root) -> dict[str, ElementTree.Element]:
    return {g.find("title").text: g for g in root.iter("g") if g.find("title") is not None}


def corners(group) -> tuple[float, float]:
    pairs = [pair.split(",") for pair in group.find("polygon").get("points").split()]
    return tuple(sum(float(pair[k]) for pair in pairs) / len(pairs) for k in (0, 1))


def test_bars_are_as_long_as_their_numbers():
    found = tips(drawn())
    cache = found["L2: 60 MiB"].find("rect")
    flight = found["33.0 MiB of rows in flight, L2 has 60 MiB: fits into L2"].find("rect")
    assert float(flight.get("width")) / float(cache.get("width")) == pytest.approx(33 / 60)
    assert "120.0 MiB of rows in flight, L2 has 60 MiB: 2.0 times L2" in tips(drawn(120.0))


def test_points_lie_where_they_were_recorded():
    found = tips(drawn())
    (x1, y1), (x2, y2), (x3, _) = (corners(found[name]) for name in ("first", "second", "third"))
    # Logarithmic along, even upwards: y grows downwards.
    assert (x3 - x1) / (x2 - x1) == pytest.approx(math.log(33 / 16) / math.log(4), abs=0.01)
    assert y1 - y2 == pytest.approx(2 * 190 / 2.4, abs=2)
    now = next(
        line for line in drawn().iter("line") if line.get("stroke-width") == "2" and line.get("x1") == line.get("x2")
    )
    assert float(now.get("x1")) == pytest.approx(x3, abs=0.2)


def test_the_model_is_a_step_at_the_size_of_the_cache():
    found = tips(drawn())
    model = found["the model: once if it fits into L2, else three times"].find("polyline")
    points = [tuple(map(float, pair.split(","))) for pair in model.get("points").split()]
    assert points[1][0] == points[2][0], "upright"
    assert points[0][1] == points[1][1] > points[2][1] == points[3][1]
    assert corners(found["first"])[1] == pytest.approx(points[0][1], abs=2)


def test_what_is_shown_stands_out_and_series_have_shapes():
    found = tips(drawn())
    assert found["third"].get("data-here") == "1"
    assert (
        float(found["third"].find("polygon").get("fill-opacity"))
        < 0.5
        < float(found["second"].find("polygon").get("fill-opacity"))
    )
    texts = ["".join(text.itertext()) for text in drawn().iter("text")]
    assert {"blocks of 512", "blocks of 1024", "fewer blocks", "recorded on GPU & co"} <= set(texts)
