"""The lab for a class: right solutions, a plan of 90 minutes, slides without a network, nbgrader's metadata."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from softlab import course
from softlab.cli import main
from softlab.course import editions
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.grading import asked
from softlab.course.kernels import WriteKernel
from softlab.course.slides import _lines_of_output, grouped, slides, with_mathml
from softlab.course.solutions import misconceptions, solved_cell
from tests.course.answers import all_answers
from tests.sampled import each
from tests.tools.notebooks import NOTEBOOKS

LESSONS = {lesson.number: lesson for lesson in course.lessons()}


def notebook(number):
    return json.loads((NOTEBOOKS / LESSONS[number].notebook).read_text("utf-8"))


def graded_cells(number):
    sources = ["".join(cell["source"]) for cell in notebook(number)["cells"] if cell["cell_type"] == "code"]
    return [source for source in sources if asked(source)]


@pytest.mark.parametrize("number", LESSONS)
def test_each_exercise_has_its_solution_in_its_cell(number):
    for source in graded_cells(number):
        solved = solved_cell(source, all_answers())
        assert solved != source
        assert asked(solved) == asked(source)
        assert "return None" not in solved


@pytest.mark.parametrize(
    "name",
    each(3, ["01-log-softmax", "09-beat-the-plan", "09-write-the-dispatch", "10-write-the-summary",
             "11-write-the-judge", "16-within-a-fifth", "05-which-barrier-may-go"]),
)  # fmt: skip
def test_a_solved_cell_is_right_when_it_runs_by_itself(name):
    (source,) = [source for source in graded_cells(name.partition("-")[0]) if name in asked(source)]
    given = []

    class Exercises:
        @staticmethod
        def exercise(asked):
            return type("", (), {"grade": staticmethod(given.append)})

    exec(compile(solved_cell(source, all_answers()), name, "exec"), {"course": Exercises})
    assert course.exercise(name).judge(given[0]).right


@pytest.mark.parametrize("number", LESSONS)
def test_a_plan_has_90_minutes(number):
    text = editions.plan(LESSONS[number], notebook(number))
    spans = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) to (\d+) \|", text, re.MULTILINE)]
    assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
    assert spans[-1][1] == 90
    assert all(name in text for name in LESSONS[number].ids)


@pytest.mark.parametrize("number", LESSONS)
def test_a_plan_shares_the_time_out(number):
    """Half of what predictions, opening and closing leave is for the lesson, the other half for exercises by weight."""
    one = LESSONS[number]
    rows = re.findall(r"^\| (\d+) to (\d+) \| (.*) \|$", editions.plan(one, notebook(number)), re.MULTILINE)
    steps = [(int(end) - int(start), what) for start, end, what in rows]
    assert (steps[0], steps[-1][0]) == ((5, f"The question of the lesson (slide 1): {one.title}"), 10)
    predicted = [minutes for minutes, what in steps if what.startswith("Each learner predicts: ")]
    assert predicted == [3] * len(one.predictions)
    together = [minutes for minutes, what in steps if what.startswith("Together, on the slides: ")]
    alone = [minutes for minutes, what in steps if what.startswith("Alone or in pairs: ")]
    rest = 75 - 3 * len(one.predictions)
    assert sum(together) + sum(alone) == rest
    assert abs(sum(together) - sum(alone)) <= 1
    assert max(together) - min(together) <= 1
    weights = [3 if isinstance(e, WriteKernel) else 1 if isinstance(e, Number | MultipleChoice) else 2
               for e in one.exercises]  # fmt: skip
    for minutes, weight in zip(alone, weights, strict=True):
        assert abs(minutes - sum(alone) * weight / sum(weights)) <= 1
    assert "What to read next" not in str(steps)
    assert ("For at home" in editions.plan(one, notebook(number))) == bool(one.further)


@pytest.mark.parametrize(("minutes", "weights"), [(7, [1.0, 1, 1]), (30, [3.0, 1, 2, 2, 1]), (0, [1.0, 2]), (5, [1.0])])
def test_shares_are_whole_and_add_up(minutes, weights):
    shares = editions._shares(minutes, weights)
    assert sum(shares) == minutes
    assert all(abs(share - minutes * w / sum(weights)) < 1 for share, w in zip(shares, weights, strict=True))


def picture(height):
    svg = f'<svg width="9" viewBox="0 0 880 {height}"></svg>'
    return {"data": {"image/svg+xml": svg}, "output_type": "display_data"}


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (picture(520), 20), (picture("65.0"), 2), ({"data": {"image/png": "x"}}, 14),
        ({"data": {"image/svg+xml": "<svg></svg>"}}, 14), ({"text": "a\nb\n"}, 3), ({"text": ["a\n", "b"]}, 2),
        ({"data": {"text/plain": "a\nb\nc"}}, 3), ({}, 1),
        ({"data": {"text/html": "<tr><td>1</tr><tr></tr>", "text/plain": "a"}}, 2),
        ({"data": {"text/html": "<b>1</b>", "text/plain": "a\nb"}}, 2),
    ],
)  # fmt: skip
def test_a_slide_counts_the_lines_of_outputs(output, lines):
    """A slide has 26 lines. A code cell takes two beside the ends of its lines, and its outputs."""
    assert _lines_of_output(output) == lines
    cells = [{"cell_type": "code", "source": "\n" * (rows - lines), "outputs": [output]} for rows in (24, 25)]
    assert [len(grouped([cell])) for cell in cells] == [1, 2]


def test_texts_are_split_at_headings_where_they_are_long():
    text = "# One\n" + "a" * 400 + "\n## Two\n" + "b" * 400 + "\n### Three\nc"
    parts = [group[0]["source"] for group in grouped([{"cell_type": "markdown", "source": text}])]
    assert [part[:6] for part in parts] == ["# One\n", "## Two"]
    assert "".join(parts) == text
    before = "x" * 300 + "\n" + text
    assert len(grouped([{"cell_type": "markdown", "source": before}])) == 3
    for length, count in ((699, 1), (700, 2)):
        exact = "# One\n## Two\n".ljust(length, "a")
        assert len(grouped([{"cell_type": "markdown", "source": exact}])) == count
    assert len(grouped([{"cell_type": "markdown", "source": "x" * 900}])) == 1


@pytest.mark.parametrize(("length", "rows"), [(0, 22), (89, 22), (90, 21), (180, 20)])
def test_a_text_takes_a_line_for_90_characters(length, rows):
    """A slide of 26 lines: the text takes two lines and one for each 90 characters, the code two beside its own."""
    text = {"cell_type": "markdown", "source": "a" * length}
    code = {"cell_type": "code", "outputs": []}
    assert len(grouped([text, {**code, "source": "x" + "\n" * rows}])) == 1
    assert len(grouped([text, {**code, "source": "x" + "\n" * (rows + 1)}])) == 2


def test_slides_ask_nothing_of_the_network():
    page = slides(notebook("0"), "<b>")
    assert "<title>&lt;b&gt;</title>" in page
    assert re.findall(r"""(?:src|srcset|action|data)\s*=\s*["']?https?:|<link|@import|url\(\s*["']?http""", page) == []
    assert page.count("<section>") > 10
    assert "widget-view" not in page


def test_a_slide_has_room_for_its_cells():
    text = {"cell_type": "markdown", "source": "a"}
    code = {"cell_type": "code", "source": "x\n" * 12, "outputs": []}
    assert [len(group) for group in grouped([text, code, code, text, code])] == [2, 1, 2]
    assert grouped([text, {**code, "source": ""}]) == [[text]]


def test_a_cell_with_several_pictures_is_several_slides():
    picture = {
        "data": {"image/svg+xml": '<svg width="880" viewBox="0 0 880 440"></svg>'},
        "output_type": "display_data",
    }
    cell = {"cell_type": "code", "source": "x\n" * 3, "outputs": [picture, picture]}
    (first,), (second,) = grouped([cell])
    assert (first["source"], len(first["outputs"])) == (cell["source"], 1)
    assert (second["source"], second["outputs"]) == ("", [picture])


def test_outputs_without_room_beside_the_code_share_a_slide():
    texts = [{"output_type": "stream", "name": "stdout", "text": f"{number}\n" * 8} for number in range(5)]
    cell = {"cell_type": "code", "source": "x\n" * 12, "outputs": texts}
    (first,), (second,), (third,) = grouped([cell])
    assert (first["source"], first["outputs"]) == (cell["source"], texts[:1])
    assert (second["source"], second["outputs"]) == ("", texts[1:3])
    assert (third["source"], third["outputs"]) == ("", texts[3:])


def test_an_output_without_code_has_no_box_for_code():
    output = {"output_type": "stream", "name": "stdout", "text": "one\n"}
    cell = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [output], "execution_count": 1, "id": "a"}
    page = slides({"cells": [cell]}, "t")
    assert "one" in page
    assert "highlight hl-" not in page
    assert "highlight hl-" in slides({"cells": [{**cell, "source": "1"}]}, "t")


def test_formulas_are_mathml_and_code_stays():
    assert with_mathml("cost `$x$` and $n^2$").startswith("cost `$x$` and <math")
    assert 'display="block"' in with_mathml("$$y_i$$")


@pytest.mark.further
def test_misconceptions_name_each_wrong_answer_and_the_reply():
    text = misconceptions(LESSONS["00"], all_answers())
    assert "`8388608`" in text
    assert "> Not yet: it is not 8 388 608." in text


def test_nbgrader_finds_a_locked_test_behind_each_exercise():
    found = nbformat.from_dict(editions.for_nbgrader(notebook("13"), {"13-let-all-lanes-help": 3}))
    nbformat.validate(found)
    marks = [cell.metadata["nbgrader"] for cell in found.cells if "nbgrader" in cell.metadata]
    assert [mark["grade_id"] for mark in marks] == ["softlab-afresh", *(f"test-{name}" for name in LESSONS["13"].ids)]
    assert [mark.get("points") for mark in marks] == [None, 1, 1, 3]
    assert all(mark["locked"] and not mark["solution"] for mark in marks)
    assert [mark["grade"] for mark in marks] == [False, True, True, True]
    assert {(mark["schema_version"], mark["task"]) for mark in marks} == {(3, False)}
    tests = [cell for cell in found.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    before = [found.cells[found.cells.index(cell) - 1] for cell in tests]
    assert [asked(cell.source) for cell in before] == [(name,) for name in LESSONS["13"].ids]
    assert all(f'solved(["{name}"])' in cell.source for cell, name in zip(tests, LESSONS["13"].ids, strict=True))
    assert all(len(cell.id) <= 64 for cell in found.cells)


@pytest.mark.further
def test_the_command_writes_all_three(tmp_path, capsys):
    options = [f"--{name}={tmp_path / name}" for name in ("student", "teacher", "nbgrader")]
    assert main(["course", "export", *options, "--lesson", "00"]) == 0
    teacher = tmp_path / "teacher" / "00"
    assert sorted(path.name for path in teacher.iterdir()) == [
        "00-start-here.ipynb", "misconceptions.md", "plan.md", "slides.html"
    ]  # fmt: skip
    student = (tmp_path / "student" / "00-start-here.ipynb").read_text()
    assert "16777216" not in student
    assert "16777216" in (teacher / "00-start-here.ipynb").read_text()
    assert (tmp_path / "nbgrader" / "source" / "lesson_00" / "00-start-here.ipynb").is_file()
    capsys.readouterr()
    assert main(["course", "export"]) == 2
    assert "add --student DIR" in capsys.readouterr().err


def test_the_edition_of_a_student_has_numbers_of_its_own(tmp_path):
    for name in ("", "ada", "bob"):
        editions.student_edition(tmp_path / f"of {name}", NOTEBOOKS, name)
    for lesson in course.lessons():
        of_all, ada, bob = (json.loads((tmp_path / f"of {name}" / lesson.notebook).read_text("utf-8"))
                            for name in ("", "ada", "bob"))  # fmt: skip
        assert (of_all["cells"] != ada["cells"]) == (ada["cells"] != bob["cells"]) == bool(lesson.varied)
