"""The picture of speeds: marks at their numbers, ceilings at theirs, the stamp in every tip."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from softlab.views.speeds import Line, Roofs, speed_picture, speed_table

ROOFS = Roofs(4000.0, 5000.0)
LINES = [
    Line(0, "ours", [(32, 1000.0, "warp, blocks of 128", 9.0), (1024, 4000.0, "block_smem, blocks of 256", 3.0)]),
    Line(4, "theirs <fast>", [(32, 3000.0, "theirs", 4.0)]),
]


def drawn(**more):
    text = speed_picture(LINES, ROOFS, 32, title="Softmax", stamp="recorded on GPU; by a command", **more)
    return ElementTree.fromstring(text)


def position(group) -> tuple[float, float]:
    pairs = [tuple(map(float, pair.split(","))) for pair in group.find("polygon").get("points").split()]
    return (min(x for x, _ in pairs) + max(x for x, _ in pairs)) / 2, sum(y for _, y in pairs) / len(pairs)


def marks(root):
    return {(g.get("data-curve"), int(g.get("data-cols"))): g for g in root.iter("g") if g.get("data-curve")}


def test_marks_are_at_their_numbers():
    found = marks(drawn())
    (x1, y1), (x2, y2), (x3, y3) = (
        position(found[key]) for key in (("ours", 32), ("ours", 1024), ("theirs <fast>", 32))
    )
    assert x1 == pytest.approx(x3, abs=0.2)
    assert (y1 - y3) / (y1 - y2) == pytest.approx(2 / 3, abs=0.02), "2000 of 3000 GB/s"
    power = {
        round(math.log2(int(text.text))): float(text.get("x"))
        for text in drawn().iter("text")
        if text.text in ("32", "64")
    }
    assert (x2 - x1) == pytest.approx(5 * (power[6] - power[5]), abs=1), "a power of two is as wide as another"


def test_ceilings():
    roofs = {g.get("data-role"): float(g.find("line").get("y1")) for g in drawn().iter("g") if g.get("data-role")}
    assert roofs["copy"] == pytest.approx(position(marks(drawn())["ours", 1024])[1], abs=1), "both have 4000 GB/s"
    assert roofs["datasheet"] < roofs["copy"]


def test_tips_say_what_ran_and_where_it_was_recorded():
    tip = marks(drawn())["ours", 1024].find("title").text
    assert tip == (
        "ours: 1\u202f024 columns, 4000 GB/s, 100% of a copy, 3.0 microseconds (block_smem, blocks of 256);"
        " recorded on GPU; by a command"
    )
    texts = ["".join(text.itertext()) for text in drawn().iter("text")]
    assert {"recorded on GPU", "by a command", "theirs <fast>"} <= set(texts)


def test_live_points_are_rings_of_their_own():
    assert not [g for g in drawn().iter("g") if g.get("data-role") == "live"]
    root = drawn(live={64: 2000.0, 9999: 1.0})
    (ring,) = (g for g in root.iter("g") if g.get("data-role") == "live")
    assert ring.find("title").text == "live, on this machine: 64 columns, 2000 GB/s"
    assert "live, this machine" in ["".join(text.itertext()) for text in root.iter("text")]


def test_the_table_has_the_fastest_first():
    html = speed_table(LINES, 32, ROOFS, {32: 1500.0})
    assert html.index("theirs") < html.index("ours") < html.index("on this machine")
    assert "75%" in html
    assert "block_smem" not in html, "that is another row length"


def test_no_two_curves_look_alike():
    labels = ["softlab, fast", "softlab, oneflow", "PyTorch", "Inductor", "cuDNN", "Triton", "Liger", "QuACK", "JAX"]
    lines = [Line(number, label, [(32, 100.0, "a", 1.0)]) for number, label in enumerate(labels)]
    legend = speed_picture(lines, ROOFS, 32, title="t", stamp="s").rpartition("device copy")[2]
    marks = re.findall(r'<polygon points="([^"]+)" fill="([^"]+)"/>', legend)
    assert len(marks) == len(labels)
    looks = set()
    for points, colour in marks:
        points_of_mark = [tuple(map(float, pair.split(","))) for pair in points.split()]
        left, top = min(x for x, _ in points_of_mark), min(y for _, y in points_of_mark)
        looks.add((colour, tuple((round(x - left), round(y - top)) for x, y in points_of_mark)))
    assert len(looks) == len(labels)
