"""How a lesson's cells are shared out among slides, by the lines that each of them takes."""

from __future__ import annotations

from typing import Any

import pytest

from softlab.course.slides import _lines, _lines_of_output, _parts, _pieces, _shown, grouped, with_mathml

WIDGET = "application/vnd.jupyter.widget-view+json"


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def code(lines: int, *outputs: int | dict[str, Any]) -> dict[str, Any]:
    """A code cell, and its outputs, with these numbers of lines."""
    made = [stream(one) if isinstance(one, int) else one for one in outputs]
    return {"cell_type": "code", "source": "\n".join(["x"] * lines), "outputs": made, "metadata": {}}


def stream(lines: int) -> dict[str, Any]:
    return {"output_type": "stream", "text": "\n".join(["y"] * lines)}


def shown(kind: str, data: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {kind: data}}


def picture(height: float) -> dict[str, Any]:
    return shown("image/svg+xml", f'<svg width="9" viewBox="0 0 640 {height}">')


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (stream(1), 1), (stream(5), 5), (picture(260), 10), (picture(52.5), 2), (picture(300), 12),
        (shown("image/svg+xml", "<svg>"), 14), (shown("image/png", "AAAA"), 14), (shown("text/plain", "a\nb"), 2),
        (shown("text/html", "<tr><td><tr ><p>"), 2), (shown("text/html", "<p>"), 1), ({"output_type": "x"}, 1),
        ({**shown("text/html", "<tr><tr>"), "text": "a\nb\nc"}, 2),
    ],
)  # fmt: skip
def test_how_many_lines_an_output_takes(output: dict[str, Any], lines: int):
    """A picture by its height, a table by its rows."""
    assert _lines_of_output(output) == lines


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        (text("a"), 2), (text("a\nb\nc"), 4), (text("a" * 89), 2), (text("a" * 90), 3), (text("a" * 200), 4),
        (code(1), 2), (code(5), 6), (code(5, 3, 4), 13), (code(1, picture(260)), 12),
    ],
)  # fmt: skip
def test_how_many_lines_a_cell_takes(cell: dict[str, Any], lines: int):
    assert _lines(cell) == lines


def sizes(pieces: Any) -> list[tuple[int, list[int]]]:
    """(lines of code, those of its outputs) of each piece."""
    return [
        (len(piece["source"].split()), [one["text"].count("\n") + 1 for one in piece["outputs"]]) for piece in pieces
    ]


@pytest.mark.parametrize(
    ("cell", "pieces"),
    [
        (code(0), []), (code(3), [(3, [])]), (code(3, 4), [(3, [4])]), (code(10, 15), [(10, [15])]),
        (code(10, 16), [(10, []), (0, [16])]), (code(10, 5, 10), [(10, [5, 10])]),
        (code(10, 5, 11), [(10, [5]), (0, [11])]), (code(0, 3, 4), [(0, [3, 4])]),
        (code(10, 20, 4, 2), [(10, []), (0, [20, 4]), (0, [2])]), (code(40, 1), [(40, []), (0, [1])]),
    ],
)  # fmt: skip
def test_a_cell_is_cut_where_a_slide_is_full(cell: dict[str, Any], pieces: list[tuple[int, list[int]]]):
    assert sizes(_pieces(cell)) == pieces


def test_code_stands_behind_its_text_as_long_as_there_is_room():
    groups = grouped([code(2), text("# A\nb"), code(10), code(10), code(1), text("c"), code(0), code(3, 2)])
    assert [[cell["source"][:3] for cell in group] for group in groups] == [
        ["x\nx"], ["# A", "x\nx", "x\nx"], ["x"], ["c", "x\nx"],
    ]  # fmt: skip
    full = [text("a"), code(22), code(1)]
    assert [len(group) for group in grouped(full)] == [2, 1], "26 lines are a slide"
    assert [len(group) for group in grouped([text("a"), code(23), code(24)])] == [2, 1]
    assert [len(group) for group in grouped([text("a"), code(24)])] == [1, 1]
    assert grouped([]) == []


@pytest.mark.parametrize(("length", "slides"), [(699, 1), (700, 3)])
def test_a_long_text_is_one_slide_per_heading(length: int, slides: int):
    """Only headings of the first two levels begin one; blanks before the first are none."""
    source = "\n# One\na\n### still\n## Two\nb\n#no heading\n# Three\n"
    whole = text(source + "c" * (length - len(source)))
    parts = _parts(whole)
    assert len(parts) == slides
    assert "".join(part["source"] for part in parts) == (whole["source"] if slides == 1 else whole["source"][1:])
    begin = text("before\n" + "d" * 700 + "\n# One")
    assert [part["source"][:6] for part in _parts(begin)] == ["before", "# One"]
    assert _parts(text("e" * 900)) == [text("e" * 900)], "no heading"
    assert len(grouped([whole, code(1)])) == slides


def test_what_a_slide_shows_of_a_cell():
    plot = {"output_type": "x", "data": {WIDGET: "w", "image/svg+xml": "<svg>", "text/html": "<p>"}}
    page = {"output_type": "x", "data": {WIDGET: "w", "text/html": "<p>"}}
    cell = {**code(1, plot, page, 2), "metadata": {"tags": ["t"]}}
    found = _shown(cell)
    assert found["outputs"] == [
        {"output_type": "x", "data": {"image/svg+xml": "<svg>"}},
        {"output_type": "x", "data": {"text/html": "<p>"}},
        stream(2),
    ]
    assert (found["metadata"], found["source"]) == ({}, "x")
    assert len(cell["outputs"][0]["data"]) == 3, "the notebook stays as it is"
    hidden = {**cell, "metadata": {"jupyter": {"source_hidden": True}}}
    assert _shown(hidden)["source"] == ""
    exercise = {**cell, "source": ["answer = 1\n", "exercise('00-a').grade(answer)"]}
    assert len(_shown(exercise)["outputs"]) == 1, "the verdict is enough"
    assert _shown({**text("a"), "source": ["b", "c"]})["source"] == "bc"


def test_formulas_are_mathml_and_code_is_none():
    found = with_mathml("so $a$, `b $c$ d`\n```\n$e$\n```\n$$f$$ and $5")
    assert found.count("<math") == 2
    assert found.index('display="inline"') < found.index('display="block"')
    assert "`b $c$ d`\n```\n$e$\n```\n" in found
    assert found.endswith(" and $5")
    assert "<mi>a</mi>" in found
    assert "<mi>f</mi>" in found
