"""The widgets' JavaScript: one module each, without imports, so that it runs offline in JupyterLab and in Voila."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from softlab.explorers.diagrams import ButterflyDiagram, GridDiagram
from softlab.explorers.row import RowPicture
from softlab.explorers.source import SourcePanes
from softlab.explorers.stepper import StepperPanes

SOFTLAB = Path(__file__).resolve().parents[2] / "softlab"
WIDGETS = (GridDiagram, ButterflyDiagram, RowPicture, SourcePanes, StepperPanes)


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_widget_is_one_module_that_needs_no_other(widget):
    module = str(widget._esm)
    assert not re.search(r"^\s*import\b|\bimport\(|https?://(?!www\.w3\.org)", module, re.MULTILINE)
    assert module.count("export default") == 1
    defined = re.findall(r"^(?:function|const|let) (\w+)", module, re.MULTILINE)
    assert len(defined) == len(set(defined)), "a name is defined once"


def test_lines_of_javascript_fit_on_a_page():
    files = sorted(SOFTLAB.glob("*/static/*.js"))
    long = [
        f"{path.name}:{n}"
        for path in files
        for n, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 120
    ]
    assert files
    assert long == []
