"""Submissions of a class: graded by what their own run says, whatever is wrong with them."""

from __future__ import annotations

import csv
import io
import json
import os
from fractions import Fraction
from random import Random

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from softlab import course
from softlab.course import answering, grading
from softlab.course.learners import Record
from tests.course.answers import kernel
from tests.sampled import each
from tests.tools.notebooks import NOTEBOOKS

IMPORTS = "from softlab import course\n\n%load_ext softlab"
HALF = 'answer = {}\ncourse.exercise("00-half-the-bytes").grade(answer)'
ENDS = 'answer = {}\ncourse.exercise("00-where-shared-memory-ends").grade(answer)'
AS_FOUND = next(
    cell.source
    for cell in nbformat.read(NOTEBOOKS / "00-start-here.ipynb", as_version=4).cells
    if cell.source.startswith("%%exercise 00-copy")
)


#: It writes where the next submission might look for a module or a notebook, and changes its environment.
MEDDLES = """
import os
for name in ("numpy.py", "softlab.py", "added.ipynb", "hal.ipynb"):
    for folder in (".", "..", os.path.expanduser("~")):
        with open(os.path.join(folder, name), "w") as stream:
            stream.write("raise SystemExit('wrong')")
os.makedirs(os.path.expanduser("~/.ipython/profile_default/startup"), exist_ok=True)
with open(os.path.expanduser("~/.ipython/profile_default/startup/00.py"), "w") as stream:
    stream.write("raise SystemExit('wrong')")
os.environ["PYTHONPATH"] = os.getcwd()
"""
#: It does not end by an interrupt.
STUBBORN = """
while True:
    try:
        while True:
            print("x" * 1000)
    except BaseException:
        pass
"""


def hand_in(folder, name, *sources):
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in (IMPORTS, *sources)]), folder / name)


class Graded(dict):
    """Each submission, graded when it is asked for."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self._handed_in = folder, {one.file: one for one in grading.handed_in(folder)}

    def __missing__(self, file):
        self[file] = grading.graded(self._handed_in[file], shipped=NOTEBOOKS, seconds=6)
        return self[file]


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    course.exercise("00-where-shared-memory-ends").judge(12_272)  # compiles what a cell would wait for
    solved = f"%%exercise 00-copy\n{kernel('00-copy')}"
    hand_in(folder, "ada.ipynb", HALF.format(16_777_216), ENDS.format(12_272), solved)
    hand_in(folder, "bob.ipynb", HALF.format(5), "1 / 0", ENDS.format(None), AS_FOUND)
    hand_in(folder / "late", "cyd.ipynb", HALF.format("answr"), ENDS.format(12_272))
    hand_in(folder, "dan.ipynb", HALF.format(16_777_216), "while True: pass", ENDS.format(12_272))
    hand_in(folder, "eve.ipynb", "print('nothing of the course')")
    (folder / "=fay.ipynb").write_text("not a notebook")
    hand_in(folder, "gil.ipynb", MEDDLES, HALF.format(16_777_216))
    hand_in(folder, "hal.ipynb", "import numpy, os\nassert not os.listdir()", ENDS.format(12_272))
    (folder / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    hand_in(folder, "ian.ipynb", "import os\nos._exit(1)", ENDS.format(12_272))
    hand_in(folder, "jan.ipynb", HALF.format(16_777_216), STUBBORN, ENDS.format(12_272))
    return Graded(folder)


def states(submission):
    return tuple(submission.states[name] for name in course.lesson("00").ids)


def test_a_submission_that_is_right(submissions):
    assert states(submissions["ada.ipynb"]) == ("right", "right", "right")
    assert submissions["ada.ipynb"].sentence == "3 of 3 right"


def test_wrong_unanswered_and_untouched(submissions):
    """What comes after an error is graded, too; a kernel as it was found is no answer."""
    assert states(submissions["bob.ipynb"]) == ("wrong", "not answered", "not answered")
    assert "ZeroDivisionError: division by zero" in submissions["bob.ipynb"].problem


@pytest.mark.further
def test_a_cell_that_is_gone_and_one_that_raises(submissions):
    assert states(submissions["late/cyd.ipynb"]) == ("not answered", "right", "missing")
    assert "NameError: name 'answr' is not defined" in submissions["late/cyd.ipynb"].problem


def test_an_endless_cell(submissions):
    """What comes after it counts."""
    assert states(submissions["dan.ipynb"]) == ("right", "right", "missing")
    assert submissions["dan.ipynb"].problem == "a cell took more than 6 s"


@pytest.mark.further
def test_a_cell_that_does_not_end_by_an_interrupt(submissions):
    assert states(submissions["jan.ipynb"]) == ("right", "right", "missing")
    assert submissions["jan.ipynb"].problem == "a cell took more than 6 s"


def test_a_cell_that_ends_its_kernel(submissions):
    assert states(submissions["ian.ipynb"]) == ("missing", "right", "missing")
    assert submissions["ian.ipynb"].problem == "its kernel died"


@pytest.mark.further
def test_a_submission_does_not_reach_the_next_one(submissions):
    assert submissions["gil.ipynb"].problem == ""
    assert states(submissions["gil.ipynb"])[0] == "right"
    assert not any((submissions.folder / name).exists() for name in ("added.ipynb", "softlab.py"))
    assert submissions["hal.ipynb"].problem == ""
    assert states(submissions["hal.ipynb"])[1] == "right"


def test_what_is_no_submission(submissions):
    assert submissions["eve.ipynb"].sentence == "0 of 0 right (no exercise of the course is in it)"
    assert submissions["=fay.ipynb"].problem.startswith("no notebook: ")


def test_the_graders_own_progress_is_left_alone(submissions):
    assert submissions["ada.ipynb"].states
    assert not course.progress_file().exists()


def written(*submissions):
    stream = io.StringIO()
    rows = grading.CsvRows(stream, [name for submission in submissions for name in submission.states])
    for submission in submissions:
        rows.write(submission)
    return stream.getvalue()


def test_as_csv(submissions):
    head, ada, fay = written(submissions["ada.ipynb"], submissions["=fay.ipynb"]).splitlines()
    assert head == "file,right,of,problem,00-copy,00-half-the-bytes,00-where-shared-memory-ends"
    assert ada == "ada.ipynb,3,3,,right,right,right"
    assert fay.startswith("'=fay.ipynb,0,0,no notebook")


@pytest.mark.parametrize("start", ["", " ", "\t", "\r", "\n", "\x1b", "\u202e", "\u00a0", "\udc80", " \r\t "])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
def test_a_name_is_no_formula_and_no_command(start, sign):
    text = written(grading.Submission(f"{start}{sign}1+1\r\n,b.ipynb", {}, f"{start}{sign}2"))
    _, (file, *_, problem) = csv.reader(io.StringIO(text))
    assert file.startswith("'")
    assert problem.startswith("'")
    assert file.endswith(f"{sign}1+1\\r\\n,b.ipynb")
    assert all(character == "\n" or character.isprintable() or character == "\u00a0" for character in text)
    text.encode()


def test_other_names_stay_as_they_are():
    assert "\nJos\u00e9 \u738b - a+b.ipynb,0,0,," not in written(grading.Submission("a", {}))
    assert written(grading.Submission("Jos\u00e9 \u738b - a+b.ipynb", {})).endswith(
        "\nJos\u00e9 \u738b - a+b.ipynb,0,0,\n"
    )


CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is empty"),
        (b"hello", "it is not JSON (line 1)"),
        (b"\xff\xfe{}", "it is not UTF-8 text"),
        (b"{}", "it has no list of cells"),
        (b"[]", "it has no list of cells"),
        (b'{"cells": {}, "nbformat": 4}', "it has no list of cells"),
        (b"[" * 100_000, "it is nested too deeply or too large"),
        (b" " * (33 << 20), "it has more than 32 MiB"),
    ],
)
def test_what_is_no_notebook(tmp_path, content, problem):
    (tmp_path / "a.ipynb").write_bytes(content)
    (found,) = grading.handed_in(tmp_path)
    assert grading.graded(found) == grading.Submission("a.ipynb", {}, f"no notebook: {problem}")


def test_a_folder_and_a_pipe_are_no_notebooks(tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "broken.ipynb").symlink_to(tmp_path / "nothing")
    assert [found.problem for found in grading.handed_in(tmp_path)] == [
        "no notebook: it is no regular file",
        "no notebook: it is a folder",
        "no notebook: it is no regular file",
    ]


@pytest.mark.parametrize("cell", [{**CELL, "source": 5}, {**CELL, "source": ["a", 5]}, CELL, 7, None, {"source": "x"}])
def test_an_odd_cell_leaves_the_others(tmp_path, cell):
    good = {**CELL, "source": ["a = 1\n", HALF.format(5)]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell, good], "nbformat": 4, "nbformat_minor": 5}))
    (found,) = grading.handed_in(tmp_path)
    assert found.problem == "cell 1 of the file has no text"
    assert grading.wanted(found) == course.lesson("00").ids


ODD = (None, 5, "x", [], {}, True, -1, 1e308, float("nan"), ["a"], {"a": 1}, "\ud800", 10**30, "code", "markdown")
NAMES = ("cells", "cell_type", "source", "worksheets", "input", "nbformat", "metadata")


def odd_content(random, depth=0):
    """Nested lists and objects with the names that a notebook has."""
    if depth > 4 or random.random() < 0.3:
        return random.choice(ODD)
    parts = [odd_content(random, depth + 1) for _ in range(random.randrange(5))]
    return parts if random.random() < 0.4 else {random.choice(NAMES): part for part in parts}


def test_whatever_a_file_has_it_is_read_or_is_a_problem(tmp_path):
    random = Random(13)
    path = tmp_path / "a.ipynb"
    shipped = (NOTEBOOKS / "00-start-here.ipynb").read_bytes()
    read = 0
    for number in range(1000):
        if number % 10:
            path.write_text(json.dumps(odd_content(random)))
        else:
            start = random.randrange(len(shipped))
            path.write_bytes(shipped[:start] + random.randbytes(3) + shipped[start + random.randrange(50) :])
        (found,) = grading.handed_in(tmp_path)
        grading.wanted(found)
        read += not found.problem
    assert 0 < read < 1000


def test_the_format_of_before_is_read(tmp_path):
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a\n", "b"]}, {"cell_type": "markdown"}]}]}
    (tmp_path / "a.ipynb").write_text(json.dumps({**old, "nbformat": 3, "nbformat_minor": 0}), encoding="utf-8-sig")
    assert grading.handed_in(tmp_path) == (grading.HandedIn("a.ipynb", ("a\nb",)),)


def test_a_notebook_that_cannot_be_run_is_a_row(monkeypatch):
    def fails(cells, seconds, confinement):
        raise RuntimeError("no kernel")

    monkeypatch.setattr("softlab.course.execution.execute", fails)
    found = grading.graded(grading.HandedIn("a.ipynb", (HALF.format(1),)))
    assert set(found.states.values()) == {"not answered", "missing"}
    assert found.problem == "it could not be graded: RuntimeError: no kernel"
    with pytest.raises(ValueError, match="seconds = 0"):
        grading.graded(grading.HandedIn("a.ipynb"), seconds=0)


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        ("%%exercise 00-copy\n__global__ ...", ("00-copy",)),
        ("x = course.exercise('00-a').grade(1)\nexercise( \"00-b\" ).grade(f)", ("00-a", "00-b")),
        ("course.exercise('00-a')", ()),
        ("print('%%exercise 00-a')", ()),
    ],
)
def test_which_exercises_a_cell_asks(source, ids):
    assert grading.asked(source) == ids


GRADE = 'course.exercise("00-a").grade({})'


@pytest.mark.parametrize(
    ("source", "alone", "value"),
    [
        ("%%exercise 00-copy\n__global__", True, None), ("x = 1\n%%exercise 00-copy\n", False, None),
        ("answer = 5\n" + GRADE.format("answer"), True, 5),
        ("a, b = 'x', -2\n" + GRADE.format("(a, b)"), True, ("x", -2)),
        ("answer = 2 ** 5\n" + GRADE.format("answer"), True, None), (GRADE.format("7 + 1"), True, 8),
        ("answer = rows\n" + GRADE.format("answer"), False, None),
        ("def f(): return 1\n" + GRADE.format("f"), False, None),
        ("answer = open('x')\n" + GRADE.format("answer"), False, None),
        ("course.exercise('00-a').answer = 5\n" + GRADE.format(5), False, None),
        ("course = 5\n" + GRADE.format(5), False, None), ("answer = course.x\n" + GRADE.format("answer"), False, None),
        ("answer = 1 / 0\n" + GRADE.format("answer"), True, None), ("answer = (", False, None),
    ],
)  # fmt: skip
def test_which_cells_say_the_whole_answer(source, alone, value):
    """Names of other cells, calls and attributes need the rest of the notebook."""
    assert grading.judged_alone(source) is alone
    if alone:
        assert grading.plain_answer(source) == value


@pytest.mark.further
def test_what_only_its_own_record_calls_right_is_wrong():
    forged = "from softlab.course.learners import Progress\n" + "\n".join(
        f'Progress.answered("{name}", right=True)' for name in course.lesson("00").ids
    )
    cells = (IMPORTS, HALF.format(5), AS_FOUND, ENDS.format(12_272), forged)
    found = grading.graded(grading.HandedIn("a.ipynb", cells))
    assert states(found) == ("wrong", "right", "wrong")
    assert found.problem == "right only by its own record: 00-half-the-bytes, 00-copy"


def test_checkpoints_are_no_submissions(tmp_path):
    hand_in(tmp_path, "a.ipynb")
    hand_in(tmp_path / ".ipynb_checkpoints", "a-checkpoint.ipynb")
    assert [path.name for path in grading.notebooks(tmp_path)] == ["a.ipynb"]


@pytest.mark.parametrize(
    ("present", "unchanged", "attempts", "solved", "state"),
    [
        (False, False, 3, "2026-01-01", "missing"), (True, False, 3, "2026-01-01", "right"),
        (True, True, 1, "2026-01-01", "right"), (True, False, 2, "", "wrong"), (True, True, 2, "", "not answered"),
        (True, False, 0, "", "not answered"), (False, True, 0, "", "missing"),
    ],
)  # fmt: skip
def test_the_state_of_an_exercise(present: bool, unchanged: bool, attempts: int, solved: str, state: str) -> None:
    """A cell that is gone is missing, a right answer counts, and a shipped cell as it was is no answer."""
    assert grading._state(Record(attempts, solved), present, unchanged) == state


def test_shipped_cells_are_those_of_the_lessons_that_are_asked_for() -> None:
    found = grading._shipped_cells(NOTEBOOKS, ["00-half-the-bytes", "10-write-the-summary"])
    assert {name.partition("-")[0] for name in found} == {"00", "10"}
    assert found["00-copy"] == AS_FOUND.strip()
    assert grading._shipped_cells(None, ["00-half-the-bytes"]) == {}


SUMMARY = "10-write-the-summary"
RIGHT_SUMMARY = """import numpy as np
warm = slice(0, None)
def speed_of(times, nbytes, warm_up):
    return nbytes / np.median(times[warm_up:][warm]) / 1000"""
#: Cells that set out to deceive: each of them makes its own process say "right".
CHEATS = {
    "asks the right answers": """def speed_of(times, nbytes, warm_up):
    from softlab.course.syllabus import lesson_10
    calls = [*lesson_10.series()]
    import inspect
    return next(value for name, value in vars(lesson_10).items() if name == "median_speed")(times, nbytes, warm_up)""",
    "changes the comparison": """from softlab.course import functions
functions.first_difference = lambda *given, **named: ""
def speed_of(times, nbytes, warm_up): return 1.0""",
    "changes the verdict": """from softlab.course.functions import WriteFunction
WriteFunction.judge = lambda self, answer: self.verdict("")
WriteFunction.judged = lambda self, asked, answer: self.verdict("")
def speed_of(times, nbytes, warm_up): return 1.0""",
    "knows the calls that are always the same": """from softlab.course import catalogue
known = {repr(call.args): call.expected for call in catalogue.exercise("10-write-the-summary").calls()}
def speed_of(times, nbytes, warm_up): return known.get(repr((times, nbytes, warm_up)), 0.0)""",
    "writes the file of answers": """import json, os
from softlab.course import answering, functions
functions.first_difference = lambda *given, **named: ""
answering._said = lambda answer, calls: {"name": "f", "prints": False, "returned": {"list": []}, "failure": None}
def speed_of(times, nbytes, warm_up): return 1.0""",
}


def summary_states(source):
    grade = f'course.exercise("{SUMMARY}").grade(speed_of)'
    found = grading.graded(grading.HandedIn("a.ipynb", (IMPORTS, source, grade)))
    return found.states[SUMMARY], found.problem


def test_a_function_is_judged_outside_of_its_process():
    assert summary_states(RIGHT_SUMMARY) == ("right", "")


@pytest.mark.parametrize("name", each(3, CHEATS))
def test_a_function_that_deceives_its_own_process_is_wrong(name):
    state, _ = summary_states(CHEATS[name])
    assert state != "right"


VALUES = [
    None, True, "a\x00\ud7ff", 10**30, -0.0, float("inf"), (1, [2.5, "x"], (None,)), [], np.arange(6.0).reshape(2, 3),
    np.array([True, False]), Fraction(1, 3),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_that_is_handed_over_is_the_same(value):
    got = answering.decoded(json.loads(json.dumps(answering.encoded(value))))
    assert type(got) is type(value)
    assert np.array_equal(got, value) if isinstance(value, np.ndarray) else got == value


def test_what_no_answer_is_comes_as_its_kind():
    assert repr(answering.decoded(answering.encoded({1: 2}))) == "<dict>"
    nan = answering.decoded(answering.encoded(np.float32("nan")))
    assert nan != nan


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "{}", '{"a": 1}', '{"a": [1]}', '{"a": [{"value": {"float": "x"}}]}', "[" * 100_000,
     '{"a": [{"value": {"array": "<f8", "shape": [9], "bytes": "00"}}]}', '{"a": [{"name": 1}]}'],
)  # fmt: skip
def test_a_file_of_answers_may_hold_anything(text):
    assert answering.handed_over(text) == {}


def test_options_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        grading.graded(None, None)
