"""The notebooks and the syllabus say the same: files, titles, times, objectives, exercises."""

from __future__ import annotations

import re

import nbformat
import pytest

from softlab import course
from tests.tools.notebooks import NOTEBOOKS

LESSONS = {lesson.number: lesson for lesson in course.lessons()}
GRADED = re.compile(r'^%%exercise (\S+)$|course\.exercise\("([^"]+)"\)\.grade\(', re.MULTILINE)


def cells(lesson):
    return nbformat.read(NOTEBOOKS / lesson.notebook, as_version=4).cells


def test_every_notebook_is_a_lesson():
    assert sorted(lesson.notebook for lesson in LESSONS.values()) == sorted(p.name for p in NOTEBOOKS.glob("*.ipynb"))
    assert all(lesson.notebook.startswith(f"{number}-") for number, lesson in LESSONS.items())


@pytest.mark.parametrize("number", LESSONS)
def test_title_time_and_objectives_stand_at_the_head(number):
    lesson = LESSONS[number]
    head = cells(lesson)[0].source
    assert head.startswith(f"# {lesson.title}\n")
    assert lesson.head in head


@pytest.mark.parametrize("number", LESSONS)
def test_the_exercises_are_in_the_notebook_in_their_order(number):
    lesson = LESSONS[number]
    asked = [
        next(filter(None, found.groups()))
        for cell in cells(lesson)
        if cell.cell_type == "code"
        for found in GRADED.finditer(cell.source)
    ]
    assert tuple(asked) == lesson.ids
    assert len(asked) >= 3


@pytest.mark.parametrize("number", LESSONS)
def test_an_exercise_in_its_stored_form_is_not_solved(number):
    """What a learner finds is a question, not an answer."""
    for cell in cells(LESSONS[number]):
        if cell.cell_type == "code" and GRADED.search(cell.source):
            said = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
            assert said.startswith(("Not answered yet.", "Not yet: ")), cell.id


@pytest.mark.parametrize("number", LESSONS)
def test_links_lead_to_files(number):
    """Relative ones: JupyterLab shows the whole checkout, so those out of the folder work there, too."""
    text = "\n".join(cell.source for cell in cells(LESSONS[number]) if cell.cell_type == "markdown")
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]
    assert [target for target in targets if not (NOTEBOOKS / target).exists()] == []
    assert targets, "it says what to read next"


@pytest.mark.parametrize("number", LESSONS)
def test_each_explorer_is_stored_with_a_picture_of_its_own_state(number):
    """GitHub runs no widgets: it shows the picture beside them. Each control stands where the cell says."""
    shown = [output.data for cell in cells(LESSONS[number]) for output in cell.get("outputs", ()) if "data" in output]
    explorers = [data for data in shown if re.match(r"(\w+Explorer|Prediction)\(", data.get("text/plain", ""))]
    assert explorers, "it has an explorer or a question"
    for data in explorers:
        state = re.findall(r"(\w+)=([\w.]+|'[^']*')", data["text/plain"])
        words = set(", ".join(re.findall(r">([^<]*)</text>", data["image/svg+xml"])).split(", "))
        said = {"True": "yes", "False": "no"}
        named = {f"{name} {said.get(value, value.strip(chr(39)))}" for name, value in state if value != "''"}
        assert named <= words, data["text/plain"]
        shapes = sum(data["image/svg+xml"].count(f"<{shape}") for shape in ("rect", "line", "path", "poly", "text"))
        assert shapes > 12 or data["text/plain"].startswith("Prediction"), "more than its title, state and note"
    charts = [data for data in shown if "application/vnd.plotly.v1+json" in data]
    assert [data["text/plain"] for data in charts if "image/svg+xml" not in data] == []


@pytest.mark.parametrize("number", LESSONS)
def test_a_page_that_runs_no_widget_shows_the_picture(number):
    """nbconvert's choice among the types of each output: without a kernel's state, no widget and no plotly."""
    from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter

    book = nbformat.read(NOTEBOOKS / LESSONS[number].notebook, as_version=4)
    assert "widgets" not in book.metadata
    choose = WidgetsDataTypeFilter(notebook_metadata={"lesson.ipynb": book.metadata}, resources={})
    drawn = [output.data for cell in book.cells for output in cell.get("outputs", ()) if "data" in output]
    pictures = [data for data in drawn if "image/svg+xml" in data]
    assert pictures
    assert {tuple(choose(data)) for data in pictures} == {("image/svg+xml",)}


@pytest.mark.parametrize("number", LESSONS)
def test_the_predictions_are_in_the_notebook_in_their_order(number):
    source = "\n".join(cell.source for cell in cells(LESSONS[number]) if cell.cell_type == "code")
    asked = re.findall(r'(\w+) = course\.prediction\("([^"]+)"\)', source)
    assert [id for _, id in asked] == [question.id for question in LESSONS[number].predictions]
    assert all(f"{name}.compare(" in source for name, _ in asked)


@pytest.mark.parametrize("number", LESSONS)
def test_each_answer_of_a_prediction_has_its_reason(number):
    for question in LESSONS[number].predictions:
        widget = course.prediction(question.id)
        assert widget.answers == tuple(question.answers)
        assert all(why.endswith(".") and len(why) > 30 for why in question.answers.values())


def test_an_unknown_prediction_is_named():
    with pytest.raises(ValueError, match=r"no prediction '00-x': there are 0-past-the-end, 00-three-reads"):
        course.prediction("00-x")
