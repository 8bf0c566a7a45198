"""The still picture beside each explorer: what pages without widgets, such as GitHub's, show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from softlab.explorers import LaunchExplorer, OccupancyExplorer, PlanExplorer, Prediction, ShuffleExplorer
from softlab.explorers.diagrams import GridDiagram
from softlab.explorers.gallery import catalogue
from softlab.explorers.stills import MIME
from softlab.views import svg
from softlab.views.stills import LEFT_OUT, parts_of, still


def words(picture: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(picture).iter() if node.tag.endswith("text")]


def bundle(shown) -> dict:
    found = shown._repr_mimebundle_()
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("title", catalogue())
def test_each_explorer_has_a_still_picture_that_github_can_show(title):
    """GitHub takes out scripts, style sheets, references and styles; what is left must say the same."""
    explorer = catalogue()[title].example()
    data = bundle(explorer)
    picture = data[MIME]
    assert picture == explorer.still()
    tags = {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(picture).iter()}
    assert tags <= {"svg", "g", "rect", "line", "text", "tspan", "path", "polyline", "polygon", "circle", "ellipse"}
    assert not re.search(r"style=|var\(|url\(|href|class=|data-", picture)
    assert len(picture) < 60_000
    # More than its title, state and note: it has the picture, too.
    assert picture.count("<rect") + picture.count("<text") > 12
    assert words(picture)[0].endswith(("explorer", title))


def test_the_picture_is_that_of_the_state_when_it_was_shown():
    explorer = OccupancyExplorer(threads=256, registers=32)
    before = bundle(explorer)[MIME]
    assert "device H200, threads 256, registers 32, smem 0" in words(before)
    explorer.registers = 33
    after = bundle(explorer)[MIME]
    assert "device H200, threads 256, registers 33, smem 0" in words(after)
    assert any("holds 6" in line for line in words(after))
    assert any("holds 8" in line for line in words(before))


def test_a_butterfly_shows_the_values_that_the_step_has_reached():
    explorer = ShuffleExplorer()
    assert words(explorer.still()).count("95") == 1
    explorer.step = 5
    assert words(explorer.still()).count("95") == 32 + 2 + 4 + 8 + 16 + 1  # the largest spreads


def test_a_diagram_alone_has_one_too():
    explorer = LaunchExplorer(numbers=100, block=32, thread=40)
    assert bundle(GridDiagram(data=explorer.diagram.data))[MIME].count("<rect") > 100


def test_a_question_shows_its_answers():
    asked = Prediction("How many banks?", ["16", "32"])
    asked.choice = "16"
    assert {"How many banks?", "\N{BLACK CIRCLE} 16", "\N{WHITE CIRCLE} 32"} <= set(words(asked.still()))


def test_text_and_tables_of_html_are_lines():
    html = "<p>First.</p><table><tr><th>a</th><td>1 &lt; 2</td></tr></table><pre>if (x)\n  y;</pre><style>p{}</style>"
    assert words(still(parts_of(html), title="t"))[:6] == [
        "t", "First.", "a", "1 < 2", "if\N{NO-BREAK SPACE}(x)", "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}y;",
    ]  # fmt: skip


def test_estimates_are_left_out_and_the_picture_says_so():
    html = svg.drawing(40, [svg.text(0, 14, "141 us")], title="How long?", estimated=True)
    assert words(still(parts_of(html), title="t")).count(LEFT_OUT) == 1
    assert "141" not in still(parts_of(html), title="t")
    shown = words(PlanExplorer().still())
    assert "rows 4096, cols 1024, dtype float32, op softmax, policy oneflow, device H200" in shown
