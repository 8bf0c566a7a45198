"""A lesson as slides: one HTML file that needs no network, with the stored outputs of the notebook.

nbconvert's own slides load reveal.js, require.js and MathJax from other hosts. So nbconvert makes the HTML of the cells
here, and a page of our own shows one slide at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from softlab.course.grading import asked

_WIDGET = "application/vnd.jupyter.widget-view+json"
_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)
_FORMULA = re.compile(r"(?P<code>```.*?```|`[^`]*`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$", re.DOTALL)
#: Characters of Markdown from which a heading inside a cell begins a slide of its own.
_LONG_TEXT = 700
#: Lines of code that a slide has room for; units of an SVG picture's height per line;
#: lines of a picture that is no SVG.
_MOST_LINES, _UNITS_PER_LINE, _PICTURE_LINES = 26, 26, 14
_HEIGHT = re.compile(r'<svg[^>]* viewBox="\S+ \S+ \S+ (?P<height>[\d.]+)"')
#: The tag of a code cell without code, of which the outputs alone are shown.
_NO_CODE = "no-code"
_PAGE = Path(__file__).with_name("slides.html")


def slides(notebook: Mapping[str, Any], title: str) -> str:
    """The page. notebook: as JSON has it (format 4), executed.

    A slide is a Markdown cell with the code that follows it. Arrow keys, Space and Page keys turn; a click on the
    number at the bottom shows all slides.
    """
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import TagRemovePreprocessor
    from pygments.formatters import HtmlFormatter

    exporter = HTMLExporter(template_name="basic")
    exporter.register_preprocessor(TagRemovePreprocessor(remove_input_tags={_NO_CODE}), enabled=True)
    sections = []
    for group in grouped([_shown(cell) for cell in notebook["cells"]]):
        body, _ = exporter.from_notebook_node(_node(group))
        sections.append(f"<section><div>{body}</div></section>")
    style = HtmlFormatter().get_style_defs(".highlight")
    page = _PAGE.read_text("utf-8")
    parts = {"TITLE": escape(title), "HIGHLIGHT": style, "SLIDES": "\n".join(sections)}
    return re.sub(r"<!--(TITLE|HIGHLIGHT|SLIDES)-->", lambda found: parts[found[1]], page)


def grouped(cells: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The cells of each slide: a Markdown cell, and as many of the code cells behind it as a slide has room for."""
    groups: list[list[Mapping[str, Any]]] = []
    for cell in cells:
        if cell["cell_type"] == "markdown":
            groups += [[part] for part in _parts(cell)]
            continue
        for piece in _pieces(cell):
            if not groups or sum(map(_lines, groups[-1])) + _lines(piece) > _MOST_LINES:
                groups.append([piece])
            else:
                groups[-1].append(piece)
    return groups


def _pieces(cell: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """A code cell that one slide has no room for: its code, then its outputs, as many together as a slide has room for.
    An empty cell has no piece.
    """
    if not cell["source"] and not cell["outputs"]:
        return []
    pieces = [{**cell, "outputs": []}] if cell["source"] else []
    for output in cell["outputs"]:
        alone = {**cell, "source": "", "outputs": [output]}
        if pieces and _lines(pieces[-1]) + _lines_of_output(output) <= _MOST_LINES:
            pieces[-1] = {**pieces[-1], "outputs": [*pieces[-1]["outputs"], output]}
        else:
            pieces.append(alone)
    return pieces


def _lines(cell: Mapping[str, Any]) -> int:
    """About how many lines of a slide a cell takes."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text.count("\n") + len(text) // 90 + 2
    return text.count("\n") + 2 + sum(map(_lines_of_output, cell["outputs"]))


def _lines_of_output(output: Mapping[str, Any]) -> int:
    data = output.get("data", {})
    if "image/svg+xml" in data or "image/png" in data:
        height = _HEIGHT.search("".join(data.get("image/svg+xml", "")))
        return round(float(height["height"]) / _UNITS_PER_LINE) if height else _PICTURE_LINES
    rows = "".join(data.get("text/html", ())).count("<tr")
    return rows or "".join(output.get("text", data.get("text/plain", ()))).count("\n") + 1


def _parts(cell: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A long text is one slide per heading."""
    text = "".join(cell["source"])
    starts = [found.start() for found in _HEADING.finditer(text)]
    if len(text) < _LONG_TEXT or not starts:
        return [cell]
    bounds = sorted({0, *starts, len(text)})
    return [{**cell, "source": text[a:b]} for a, b in pairwise(bounds) if text[a:b].strip()]


def _shown(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The cell without widgets, of which the picture beside them is shown, and without source that is folded away."""
    shown = {**cell, "metadata": {}}
    if cell["cell_type"] != "code":
        return {**shown, "source": with_mathml("".join(cell["source"]))}
    # Of an exercise the verdict is enough; the card of its run comes after it.
    outputs = cell["outputs"][:1] if asked("".join(cell["source"])) else cell["outputs"]
    shown["outputs"] = [_still(output) for output in outputs]
    if cell["metadata"].get("jupyter", {}).get("source_hidden"):
        shown["source"] = ""
    return shown


def with_mathml(text: str) -> str:
    """Markdown whose formulas, between dollar signs, are MathML, which a browser draws by itself."""
    from latex2mathml.converter import convert

    def formula(found: re.Match[str]) -> str:
        if found["code"]:
            return found["code"]
        block = found["block"] is not None
        return convert(found["block"] if block else found["inline"], display="block" if block else "inline")

    return _FORMULA.sub(formula, text)


def _still(output: Mapping[str, Any]) -> dict[str, Any]:
    kept = {kind: data for kind, data in output.get("data", {}).items() if kind != _WIDGET}
    if "image/svg+xml" in kept:
        kept.pop("text/html", None)
    return {**output, "data": kept} if "data" in output else dict(output)


def _node(cells: Sequence[Mapping[str, Any]]) -> Any:
    import nbformat

    tagged = [cell if cell["source"] else {**cell, "metadata": {"tags": [_NO_CODE]}} for cell in cells]
    # As text, since only a reader joins the lines of outputs.
    text = json.dumps({"cells": tagged, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return nbformat.reads(text, as_version=4)
