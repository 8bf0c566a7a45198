"""The course at its edges: the last number within a limit and the first beyond it, and what it does after a failure."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab import course
from softlab.course import (
    behaviour,
    copies,
    differences,
    editions,
    execution,
    grading,
    learners,
    marks,
    mutants,
    operations,
    origins,
    relations,
    slides,
    submissions,
    variants,
)
from softlab.course.confinement import Confinement
from softlab.course.exercises import first_difference
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Answered, Asked, Call, WriteFunction, answered
from softlab.course.kernels import WriteKernel
from softlab.course.launch_cases import LaunchCase
from softlab.course.places import visits
from softlab.course.probes import Seen
from softlab.errors import Error

WRITTEN = [one for lesson in course.lessons() for one in (*lesson.exercises, *lesson.further)]
KERNELS = [one for one in WRITTEN if isinstance(one, WriteKernel)]

# Functions of a learner

CALLS = tuple(Call((n,), n * n) for n in (2, 3, 5))
SQUARE = WriteFunction(
    id="99-square", calls=lambda: list(CALLS), hint="Multiply.",
    slips=((lambda n: 1 / (n - 2), "the first slip"), (lambda n: n + n, "That is twice.")),
)  # fmt: skip


@pytest.mark.parametrize("results", [(), (4,), (4, 9), (4, 9, 25, 49), (4, 9, 25, None)])
def test_a_function_has_one_result_per_call(results: tuple[Any, ...]) -> None:
    verdict = SQUARE.judged(Asked(CALLS, 3), Answered("f", False, results, None))
    assert verdict.state == "wrong"
    assert f"f was to be called 3 times, and there are {len(results)} results." in verdict.message
    assert SQUARE.judged(Asked(CALLS, 3), Answered("f", False, (4, 9, 25), None)).right


def test_a_slip_that_cannot_take_an_argument_is_passed_over() -> None:
    """The first slip divides by 0."""
    assert "That is twice." in SQUARE.judge(lambda n: n + n).message


def test_a_function_without_end_does_not_keep_the_process() -> None:
    """It runs in a thread that ends with the process."""
    found = answered(lambda: (threading.current_thread().daemon, threading.current_thread().name), [()])
    assert found.returned[0][0] is True
    assert found.returned[0][1] != threading.current_thread().name


@pytest.mark.parametrize("model", [len, builtins.max, eval("lambda a: a")])
def test_a_model_without_a_source_has_no_mutants(model: Any) -> None:
    exec("def model(a):\n    return a + 1\n", names := {})
    assert mutants.one_slip({"": names["model"]}, lambda one: True) == ""
    assert mutants.two_slips(names["model"], lambda one: True) == ""


@pytest.mark.parametrize(("name", "words"), [("x", "`x`"), ("ab", "ab"), ("a_b", "a b"), ("lanes", "lanes")])
def test_a_single_letter_is_marked(name: str, words: str) -> None:
    assert mutants._plainly(name) == words


# Numbers

COUNT = Formula("rows * size", {"rows": Quantity("the rows", 11), "size": Quantity("the bytes", 7)})


@pytest.mark.parametrize(("times", "words"), [(0.5, ""), (2, "twice"), (3, "three times"), (4, "four times"), (5, "")])
def test_all_of_a_number_counts_several_times(times: float, words: str) -> None:
    said = COUNT.slips(77 * times, lambda one, other: one == other)
    assert (f"if all of it counts {words}" in said) if words else "three times" not in said
    assert said.count("counts") == bool(words) or times == 0.5


def test_what_is_no_array_differs_in_words() -> None:
    said = first_difference("y", [[1, 2], [3]], np.zeros((2, 2)))
    assert said.startswith("y is not an array: ")
    assert differences._array([[1, 2], [3]]) is None
    assert differences._array(["a"]) is None
    assert differences._array([True, False]) is None
    assert differences._array((1, 2)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("number", [-5.0, 0.0, 3.0])
def test_a_row_of_one_number_is_not_scaled(number: float) -> None:
    """Not even of 0; a line through all the same numbers has no meaning."""
    assert relations.scaled_and_shifted(2, np.full(6, number), np.arange(6.0)) == ""


def test_a_row_is_scaled_from_a_ten_thousandth_on() -> None:
    """Of its largest number; 10000 has 1 as that."""
    wanted = np.linspace(0, 1, 5)
    at, beyond = 9999 + wanted, 9998 + 2 * wanted
    assert relations.scaled_and_shifted(2, at, 2 * wanted) == ""
    assert "each number is 2 times the right one plus 9998" in relations.scaled_and_shifted(2, beyond, wanted)


# Kernels


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda one: one.id)
def test_the_first_line_of_a_kernel(exercise: WriteKernel) -> None:
    assert exercise.declaration == f"__global__ void {exercise.kernel}({exercise.parameters})"


def test_a_run_with_other_inputs_has_a_bounded_number_of_instructions() -> None:
    """Other inputs may make a loop endless; a launch whose accesses are kept has the same bound."""
    given: list[dict[str, Any]] = []

    def run(*place: Any, **options: Any) -> Any:
        given.append(options)
        raise Error("it does not end")

    x = np.ones(8, np.float32)
    kernel, launch = SimpleNamespace(run=run), LaunchCase(2, 32, {"x": x, "y": x}, {"y": x})
    assert Seen(kernel, launch, "y", x).run({"x": x}) is None
    assert visits(kernel, launch, "x") == []
    assert [one["budget"] for one in given] == [200_000, 200_000]
    assert list(given[1]["blocks"]) == [0, 1]


@pytest.mark.parametrize(("elements", "blocks", "kept"), [(16_384, 64, True), (16_385, 1, False), (1, 65, False)])
def test_accesses_are_kept_of_small_launches(elements: int, blocks: int, kept: bool) -> None:
    ran = []

    def run(*place: Any, **options: Any) -> Any:
        ran.append(place)
        raise Error("as if")

    launch = LaunchCase(blocks, 32, {"x": np.ones(elements, np.int8)}, {})
    assert visits(SimpleNamespace(run=run), launch, "x") == []
    assert bool(ran) == kept


class Steps:
    """Stands for a warp's record: ``length`` sums, each of the one before, of which the last one is stored.

    ``bad``: the step from which on the register is infinite.
    """

    registers = ("%f1",)

    def __init__(self, length: int, bad: int) -> None:
        self.length, self.bad = length, bad
        add = SimpleNamespace(opcode="add", types=("f32",), text="add.f32 %f1, %f1, %f1")
        store = SimpleNamespace(opcode="st", types=("f32",), text="st.global.f32 [%rd1], %f1")
        self.image = SimpleNamespace(instructions=[add, store])
        self.steps = {"instruction": np.array([0] * length + [1]), "executed": np.full(length + 1, 0xFFFFFFFF)}

    def __len__(self) -> int:
        return self.length + 1

    def at(self, step: int) -> Any:
        number = np.float32(np.inf if step > self.bad else 1).view(np.uint32)
        return SimpleNamespace(values=np.full((1, 32), number, np.uint64))

    def last_write(self, register: int, lane: int, step: int) -> int | None:
        return step - 1 if step else None

    def line(self, step: int) -> int:
        return 100 + step


@pytest.mark.parametrize(("length", "bad", "lines"), [(5, 2, {102}), (299, 0, {100}), (300, 0, {100}), (301, 0, set())])
def test_the_way_back_to_an_infinity_has_300_steps(
    length: int, bad: int, lines: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "uses_and_definitions", lambda one: (["%rd1", "%f1"], ["%f1"]))
    assert origins.origins(Steps(length, bad)) == lines  # type: ignore[arg-type]


def test_no_operation_of_two_numbers_makes_a_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "uses_and_definitions", lambda one: (["%f1"], ["%f1"]))
    assert operations.nan_operation(Steps(3, 0), 101, 0) == ""  # type: ignore[arg-type]


# What the process of a submission has


def test_a_process_that_keeps_answers_has_no_right_ones() -> None:
    code = """
from softlab import course
from softlab.course import answering, catalogue
answering.only_answers()
course.exercise("00-any").grade(5)
catalogue.exercise("00-any", "ada").grade("x")
assert answering._answers == {"00-any": [5, "x"]}
assert course.progress.anything().show() is course.progress
assert course.prediction("none") is course.prediction
for look in (lambda: __import__("softlab.course.syllabus.lesson_00"), catalogue.lessons):
    try:
        look()
    except ImportError as error:
        assert "is not there while a submission is graded" in str(error), error
    else:
        raise AssertionError("it is there")
import softlab.views
print("done")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "done\n", run.stderr


def test_a_sandboxed_kernel_is_reached_by_sockets(tmp_path: Path) -> None:
    """It has no network, and each kernel of a submission has a file of its own."""
    confined = execution._Kernels.confined(Confinement(sandbox="bwrap"), tmp_path, 3)
    assert confined.settings["transport"] == "ipc"
    assert confined.settings["connection_file"] == str(tmp_path / "kernel3.json")
    assert confined.settings["command"][0] == "bwrap"
    free = execution._Kernels.confined(Confinement(), tmp_path, 3)
    assert free.settings == {"command": []}


def test_a_client_without_a_kernel_cannot_be_interrupted() -> None:
    assert execution._interrupted(SimpleNamespace(km=None), 5) is False  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [Answered("f", False, (4, 9, 25), None), 16_777_216, 5, None])
def test_a_value_is_no_function_and_a_function_no_value(answer: Any) -> None:
    number = course.exercise("00-half-the-bytes")
    assert grading._right_here(number, None, answer) == (answer == 16_777_216)
    asked = Asked(CALLS, 3)
    assert grading._right_here(SQUARE, asked, answer) == isinstance(answer, Answered)
    assert not grading._right_here(SQUARE, None, answer)


# Files


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"cells": [1]}', '{"cells": 5}', '{"cells": [{"id": 1}]}', "5"])
def test_a_file_that_is_no_notebook_has_no_cells(text: str) -> None:
    assert copies._digests(text) == {}


def test_a_record_of_files_is_read_again(tmp_path: Path) -> None:
    """One line per file and digest, so that two of them can be compared."""
    (tmp_path / "lessons").mkdir()
    copies.update(tmp_path / "mine", tmp_path / "lessons")
    text = (tmp_path / "mine" / copies.MANIFEST).read_text()
    assert text == json.dumps(json.loads(text), indent=1) + "\n"
    assert copies._manifest(tmp_path / "mine" / copies.MANIFEST)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    """Of each message the reason is the system's, and no number of an error."""
    (folder := tmp_path / "folder").mkdir()
    with pytest.raises(Error, match=r"none cannot be read: No such file or directory$"):
        editions._read(tmp_path / "none")
    with pytest.raises(Error, match=r"folder cannot be written: Is a directory$"):
        editions._write(folder, "x")
    with pytest.raises(Error, match=r"folder cannot be written: Is a directory$"):
        marks.write_rows(folder, [["a"]])
    with pytest.raises(Error, match=r"--roster .*folder cannot be read: "):
        marks.read_roster(folder)
    (odd := tmp_path / "odd.csv").write_text('folder,name\na,"' + "x" * 140_000 + '"\n')
    with pytest.raises(Error, match=r"--roster .*odd\.csv cannot be read: field larger than"):
        marks.read_roster(odd)


def test_a_progress_that_cannot_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    learners.reset(tmp_path / "none.json")
    (tmp_path / "progress.json").write_text("{}")
    monkeypatch.setattr(Path, "unlink", fails)
    with pytest.raises(Error, match=r"the progress is not forgotten: .*Permission denied"):
        learners.reset(tmp_path / "progress.json")


def test_a_notebook_that_cannot_be_read_has_no_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.ipynb").write_text("{}")

    def fails(path: Path) -> bytes:
        raise PermissionError(13, "no")

    assert submissions.digests(tmp_path)["a.ipynb"]
    monkeypatch.setattr(Path, "read_bytes", fails)
    assert submissions.digests(tmp_path) == {"a.ipynb": ""}


def test_an_unknown_prediction_names_those_there_are() -> None:
    known = [question.id for lesson in course.lessons() for question in lesson.predictions]
    with pytest.raises(ValueError, match="no prediction 'x': there are ") as raised:
        course.prediction("x")
    assert str(raised.value).endswith(", ".join(known))
    assert course.prediction(known[0]) is not None


def test_no_points_are_points(tmp_path: Path) -> None:
    (tmp_path / "points.toml").write_text('"00-half-the-bytes" = 0\n"00-where-shared-memory-ends" = 0.0')
    assert marks.read_points(tmp_path / "points.toml") == {"00-half-the-bytes": 0, "00-where-shared-memory-ends": 0}


@pytest.mark.parametrize("kind", ["0", "2", "null", '"1"', "[1]", "-1"])
def test_a_progress_of_another_format_is_none(tmp_path: Path, kind: str) -> None:
    (tmp_path / "progress.json").write_text(f'{{"format": {kind}, "exercises": {{}}}}')
    assert learners._read(tmp_path / "progress.json")[1] == "is no progress of the format 1"


def test_an_answer_of_an_exercise_by_its_name() -> None:
    found = learners.Progress().with_answer(exercise="a", right=True, message="m")
    assert found.solved(["a"]) == 1
    with pytest.raises(TypeError):
        learners.Progress().with_answer("a", True)  # type: ignore[misc]


# Editions


def test_an_edition_for_nbgrader_has_a_folder_per_lesson(tmp_path: Path) -> None:
    shipped, wanted = tmp_path / "shipped", course.lessons()[:2]
    shipped.mkdir()
    cell = {"cell_type": "code", "id": "a", "source": 'course.exercise("00-x").grade(1)', "outputs": [], "metadata": {}}
    for one in wanted:
        text = json.dumps({"cells": [{**cell, "execution_count": None}], "metadata": {}, "nbformat": 4})
        (shipped / one.notebook).write_text(text)
    made = editions.nbgrader_edition(tmp_path / "for", shipped, wanted, {"00-x": 4})
    assert made == [tmp_path / "for" / "source" / f"lesson_{one.number}" / one.notebook for one in wanted]
    for path in made:
        marked = [one["metadata"]["nbgrader"] for one in json.loads(path.read_text())["cells"]
                  if "nbgrader" in one["metadata"]]  # fmt: skip
        assert [mark.get("points") for mark in marked] == [None, 4]
    config = (tmp_path / "for" / "nbgrader_config.py").read_text()
    assert config.splitlines() == ["c = get_config()", 'c.CourseDirectory.course_id = "softlab"']


def test_a_page_of_slides_has_the_text_the_code_and_the_outputs() -> None:
    """Of a cell whose code is folded away the outputs alone."""
    output = {"output_type": "stream", "name": "stdout", "text": ["the ", "output\n"]}
    code = {"cell_type": "code", "id": "b", "metadata": {}, "source": "seen = 1", "outputs": [output],
            "execution_count": 1}  # fmt: skip
    folded = {**code, "id": "d", "source": "folded = 2", "metadata": {"jupyter": {"source_hidden": True}}}
    heading = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# One\n$a$"}
    page = slides.slides({"cells": [heading, code, {**heading, "id": "c", "source": "# Two"}, folded]}, "a <b>")
    assert page.count("<section>") == 2
    assert "a &lt;b&gt;" in page
    assert "<!--" not in page
    assert page.count("the output") == 2
    assert "seen" in page
    assert "folded" not in page
    assert ".highlight" in page
    assert "<math" in page


# Cells that are neither code nor Markdown, and types beside the floats


def notebook_of(*kinds: str) -> dict[str, Any]:
    text = "See [the kernel](../kernels/a.cuh), 16 rows."
    source = {"code": ['course.exercise("00-x")', ".grade(1)"], "markdown": [text], "raw": [text], "zoo": [text]}
    code = {"outputs": [{"output_type": "stream", "name": "stdout", "text": "1"}], "execution_count": 3}
    more = {"code": code}
    cells = [
        {"cell_type": kind, "id": f"c{at}", "metadata": {}, "source": source[kind], **more.get(kind, {})}
        for at, kind in enumerate(kinds)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_raw_cells_stay_as_they_are() -> None:
    """In a learner's copy, with solutions, for nbgrader; a submission's are not run."""
    notebook = notebook_of("raw", "code", "markdown", "zoo")
    raw, code, markdown, zoo = copies.working_copy(notebook)["cells"]
    for cell in (raw, zoo):
        assert cell["source"] == "See [the kernel](../kernels/a.cuh), 16 rows."
        assert "outputs" not in cell
    assert (code["outputs"], code["execution_count"]) == ([], None)
    assert "outputs" not in markdown
    assert markdown["source"] == "See [the kernel](kernels/a.cuh), 16 rows."
    solved = editions.with_solutions(notebook, {})["cells"]
    assert [cell["source"] for cell in solved[2:]] == [markdown["source"], zoo["source"]]
    marked = editions.for_nbgrader(notebook, {})["cells"]
    assert [cell["id"] for cell in marked] == ["softlab-afresh", "c0", "c1", "test-00-x", "c2", "c3"]
    named = notebook_of("raw", "code", "zoo")
    for cell in named["cells"]:
        cell["source"] = ['course.exercise("00-x").grade(1)']
    asked = [cell["id"] for cell in editions.for_nbgrader(named, {})["cells"]]
    assert asked == ["softlab-afresh", "c0", "c1", "test-00-x", "c2"]
    assert [number for number, _ in submissions._cells(notebook)] == [2]
    assert editions._headings({"cells": [{**raw, "source": "## no"}, {**zoo, "source": "## no"}]}) == ["the notebook"]


def test_raw_cells_of_slides_are_shown_as_they_are() -> None:
    raw = {"cell_type": "raw", "id": "r", "metadata": {"tags": ["x"]}, "source": "a $b$"}
    assert slides._shown(raw)["source"].startswith("a <math")
    assert slides._shown(raw)["metadata"] == {}


def test_a_student_has_numbers_in_markdown_and_a_name_in_code() -> None:
    exercise = SimpleNamespace(text=("16 rows", "{n} rows"), number=lambda id, student: 24)
    cells = variants.for_student(notebook_of("markdown", "code"), {"00-x": exercise}, "ada")["cells"]  # type: ignore
    assert cells[0]["source"].endswith("24 rows.")
    assert cells[1]["source"] == "course.exercise(\"00-x\", 'ada').grade(1)"
    assert not cells[0]["source"].endswith("16 rows.")


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float64])
def test_a_float_is_changed_by_more_than_an_integer(kind: type) -> None:
    """A step of 3 shows in each count, and one of 40 in each float."""

    def run(grid: Any, block: Any, args: tuple[Any, ...], *more: Any, **options: Any) -> None:
        args[1][...] = np.trunc(args[0][0] / 20)

    x = np.array([110, 1], kind)
    launch = LaunchCase(1, 32, {"x": x, "y": np.full(1, np.nan, np.float32)}, {"y": np.ones(1, np.float32)})
    seen = Seen(SimpleNamespace(run=run), launch, "y", np.full(1, 5, np.float32))
    assert behaviour._changed(seen, "x", 0).tolist() == [kind is not np.int32]  # type: ignore[union-attr]


def test_an_integer_is_no_half() -> None:
    """A float that is cut would be one; with integers 5 / 2 is 2.5 and not 2."""
    x = np.arange(3, 15)
    assert relations.of_elements("y", x // 2, np.ones(12, bool), {"x": x}) == ""
    assert relations.of_elements("y", 2 * x, np.ones(12, bool), {"x": x}) == "y[i] is 2 * x[i]."
    large = np.array([1e38, 2e38, 3e38, 1.5e38, 1.0, 2.0], np.float32)
    with np.errstate(over="ignore"):
        twice = 2 * large
    assert relations.of_elements("y", twice, np.ones(6, bool), {"x": large}) == "y[i] is 2 * x[i]."


@pytest.mark.parametrize("library", ["<a library>", "<z library>", "<m>"])
def test_a_failure_stands_on_a_line_of_the_learner(library: str) -> None:
    """Not on one of a library; where the learner's own functions call each other, on the innermost line."""
    names: dict[str, Any] = {}
    exec(compile("\n\n\n\ndef fails(n):\n    return 1 // (n - n)\n", library, "exec"), names)
    exec(compile("def answer(n):\n    some = n\n    return fails(some)\n", "<m>", "exec"), names)
    line = 6 if library == "<m>" else 3
    assert answered(names["answer"], [(5,)]).failure == (
        f"raises ZeroDivisionError on line {line}: integer division or modulo by zero"
    )
