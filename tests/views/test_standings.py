"""The pictures of standings: lines at their numbers, names apart and inside, the same bytes twice."""

from __future__ import annotations

import math
from itertools import combinations
from xml.etree import ElementTree

import pytest

from softlab.views import style
from softlab.views.standings import Subplot, standings_chart, standings_picture

NAMES = ("softlab, fast", "softlab, oneflow", "PyTorch", "Inductor", "cuDNN", "Triton", "Liger", "QuACK", "JAX", "CuPy")
PANEL = Subplot(
    "softmax, float32", "columns", "device copy",
    # A third of the lines end early.
    {name: [(32, 0.9 - 0.01 * k, 5.0, "kernel"), (64, 0.5, 7.5, "other"), (1024, 1.0 - 0.001 * k, 9.0, "third")][
        : 2 if k % 3 == 2 else 3] for k, name in enumerate(NAMES)},
)  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*panels: Subplot) -> ElementTree.Element:
    text = standings_picture(panels, title="Row <softmax>", words="words", stamp="recorded on a GPU, " * 30)
    assert text == standings_picture(panels, title="Row <softmax>", words="words", stamp="recorded on a GPU, " * 30)
    return ElementTree.fromstring(text)


def curves(root: ElementTree.Element) -> dict[str, list[tuple[float, float]]]:
    return {
        line.get("data-curve"): [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        for line in root.iter(f"{SVG}polyline")
    }


def test_lines_lie_at_their_numbers():
    root = drawn(PANEL)
    texts = {t.text: (float(t.get("x")), float(t.get("y"))) for t in root.iter(f"{SVG}text")}
    line = curves(root)["softlab, fast"]
    for (x, y), (cols, part, *_) in zip(line, PANEL.lines["softlab, fast"], strict=True):
        left, right = texts["32"][0], texts["1Ki"][0]
        assert x == pytest.approx(left + (right - left) * math.log2(cols / 32) / 5, abs=0.1)
        zero, one = texts["0.00"][1], texts["1.00"][1]
        assert y == pytest.approx(zero + (one - zero) * part - 4, abs=0.1), "a text's base line is 4 pixels lower"
    assert "device copy" in texts


def test_names_are_apart_and_inside():
    root = drawn(PANEL)
    names = {t.text: (float(t.get("x")), float(t.get("y"))) for t in root.iter(f"{SVG}text") if t.text in NAMES}
    assert set(names) == set(NAMES)
    for (a, (x1, y1)), (b, (x2, y2)) in combinations(names.items(), 2):
        assert abs(y1 - y2) >= 12 or x1 + 6 * len(a) <= x2 or x2 + 6 * len(b) <= x1, (a, b)
    left, top, wide, tall = map(float, root.get("viewBox").split())
    for text in root.iter(f"{SVG}text"):
        x, width = float(text.get("x")), len(text.text) * 0.54 * float(text.get("font-size"))
        x -= {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
        assert left <= x
        assert x + width <= left + wide, text.text
        assert top < float(text.get("y")) < top + tall


def test_no_two_lines_look_alike_and_ours_is_the_thickest():
    lines = list(drawn(PANEL).iter(f"{SVG}polyline"))
    assert {line.get("stroke") for line in lines} <= set(style.SERIES)
    looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}
    assert len(looks) == len(NAMES)
    width = {line.get("data-curve"): float(line.get("stroke-width")) for line in lines}
    assert width["softlab, fast"] > width["softlab, oneflow"] > max(width[name] for name in NAMES[2:])
    assert lines[-1].get("data-curve") == "softlab, fast", "the last is above the others"
    assert lines[-1].get("stroke") == style.SERIES[style.series_index("softlab, fast", 0)]


def test_text_can_be_read_on_the_background_that_the_file_brings():
    rule = drawn(PANEL).find(f"{SVG}style").text
    for theme in rule.split("@media (prefers-color-scheme:dark)"):
        colour = {name: value[:7] for name, value in (pair.split(":") for pair in theme.strip("svg{}").split(";"))}
        page = luminance(colour["--jp-layout-color0"])
        for ink in ("--jp-content-font-color1", "--jp-content-font-color2"):
            light, dark = sorted((page, luminance(colour[ink])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 4.5


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_one_point_alone_and_a_part_above_the_ceiling_are_drawn():
    root = drawn(
        Subplot("t", "rows", "sum of two arrays", {"softlab, fast": [(8, 1.3, 1.0, "k")], "x": [(8, 0.1, 2.0, "k")]})
    )
    assert all(math.isfinite(value) for line in curves(root).values() for point in line for value in point)
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"8", "1.25", "rows", "sum of two arrays"} <= set(texts)


def test_the_chart_says_microseconds_and_kernel():
    other = Subplot(
        "softmax, float16", "columns", "sum of two arrays", {"softlab, fast": [(32, 0.5, 8.0, "fast_warp")]}
    )
    figure = standings_chart([PANEL, other], title="t", stamp="recorded on a GPU")
    assert [trace.name for trace in figure.data] == [*NAMES[2:], "softlab, oneflow", "softlab, fast", "softlab, fast"]
    *_, first, second = figure.data
    assert (list(second.x), list(second.y), list(second.customdata[0])) == ([32], [0.5], [8.0, "fast_warp"])
    assert "of a sum of two arrays" in second.hovertemplate
    assert (first.showlegend, second.showlegend) == (True, False)
    assert second.line.color == first.line.color == style.SERIES[style.series_index("softlab, fast", 0)]
    assert [shape.y0 for shape in figure.layout.shapes] == [1.0, 1.0]
    assert figure.layout.xaxis2.type == "log"
    assert "recorded on a GPU" in [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize("draw", [standings_chart, standings_picture])
def test_nothing_to_draw_is_an_error(draw):
    more = {} if draw is standings_chart else {"words": ""}
    with pytest.raises(ValueError, match="nothing to draw"):
        draw([], title="t", stamp="s", **more)
