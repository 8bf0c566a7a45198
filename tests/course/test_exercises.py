"""The kinds of exercises: what counts as an answer, which hint is given, and how progress is kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from filelock import FileLock

from softlab import course
from softlab.course import learners
from softlab.course.catalogue import Lesson, lessons
from softlab.course.exercises import Judged, MultipleChoice, Number, _value, first_difference
from softlab.course.functions import Call, WriteFunction, _shown_call
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.learners import Progress, Record
from softlab.course.requirements import at_least, no_shared_memory
from softlab.course.values import as_float, spaced
from tests.sampled import each


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A learner of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return course.progress_file()


PI = Number(
    id="99-pi", answer=lambda: 3.14159, relative=0.01, slips=((6.28, "twice"), (lambda: 9.87, "squared")), hint="h"
)


@pytest.mark.parametrize("answer", [3.14, 3.15, np.float32(3.14), np.array(3.14), Fraction(22, 7), 3.14159])
def test_numbers_near_enough(answer):
    assert PI.judge(answer).right


@pytest.mark.parametrize(
    ("answer", "words"),
    [(3, "not 3. h"), (6.3, "twice"), (9.9, "squared"), (float("nan"), "h"), (float("inf"), "h"), (10**400, "h"),
     (True, "True"), ("3.14", "'3.14'"), ([3.14], "[3.14]"), (3.14j, "the answer must be a number")],
)  # fmt: skip
def test_numbers_that_are_not(answer, words):
    verdict = PI.judge(answer)
    assert verdict.state == "wrong"
    assert words in verdict.message


def test_a_slip_far_below_the_right_number_has_a_small_tolerance():
    wide = Number(id="99-w", answer=lambda: 50, absolute=0.1, slips=((0.05, "a thousandth"),), hint="h")
    assert "a thousandth" in wide.judge(0.051).message
    assert "a thousandth" not in wide.judge(0.09).message


@pytest.mark.parametrize(("slip", "most"), [(0.05, 0.05 / 4), (-0.05, 0.05 / 4), (0.4, 0.1), (40.0, 0.1)])
def test_a_slip_is_known_as_far_as_the_answer_or_a_quarter_of_the_slip(slip: float, most: float) -> None:
    exercise = Number(id="99-q", answer=lambda: 50, absolute=0.1, slips=((slip, "that slip"),), hint="h")
    for side in (1, -1):
        assert "that slip" in exercise.judge(slip + side * 0.99 * most).message
        assert "that slip" not in exercise.judge(slip + side * 1.01 * most).message


def test_what_a_wrong_number_means():
    squares = Number(id="99-s", answer=lambda: 7, means=lambda n: f"{n:g} * {n:g} is {n * n:g}.", hint="49")
    assert squares.judge(6).message == "Not yet: it is not 6. 6 * 6 is 36. 49"
    assert squares.judge(2.5).message == "Not yet: it is not 2.5. The answer is a whole number. 49"
    assert "looks like a share" in squares.judge(0.5).message
    small = Number(id="99-t", answer=lambda: -7, hint="Seven less.")
    for share in (-0.5, 0.0, 1.5):
        assert "looks like a share" not in small.judge(share).message
    assert squares.judge(-7).message.endswith("The answer is above 0. 49")


@pytest.mark.parametrize(
    ("right", "given", "told"),
    [(50, 51, True), (50, 49, True), (50, 53, False), (50, 50.5, False), (8, 9, True), (7, 8, False), (7, 70, False)],
)
def test_a_count_that_is_off_by_one(right, given, told):
    """Of a count of few things the hint would say nothing."""
    said = Number(id="99-o", answer=lambda: right, hint="Count.").judge(given).message
    assert ("Off by one: where does the count begin" in said) == told
    near = Number(id="99-o", answer=lambda: right, absolute=0.01, hint="Count.").judge(given).message
    assert "Off by one" not in near, "what is measured is no count"


def test_the_digits_of_a_right_number():
    assert "the power of ten is not" in PI.judge(3141.6).message
    assert "the power of ten is not" in PI.judge(0.0314159).message
    assert "the power of ten" not in PI.judge(31).message
    assert "the power of ten" not in PI.judge(0).message
    assert "the power of ten" not in Number(id="99-n", answer=lambda: 7, hint="h").judge(70).message, "of a count"


NUMBERS = [one for lesson in lessons() for one in lesson.exercises if isinstance(one, Number)]


@pytest.mark.parametrize("exercise", each(6, NUMBERS), ids=lambda one: one.id)
def test_no_hint_says_the_number(exercise):
    """A number below 12 may stand in a hint for another reason."""
    right = float(exercise.answer())
    guesses = {0.5, 1, 3, 7.25, 11, 1000, 12_345, 10**9, 1e20, 2 * right, right / 2, right + 1, right - 1, right + 16}
    for guess in guesses - {right, *(as_float(_value(slip)) for slip, _ in exercise.typical())}:
        verdict = exercise.judge(guess)
        if not verdict.right and right >= 12:
            said = verdict.message.partition(". ")[2].replace(exercise.hint, "")
            assert spaced(right) not in re.findall(r"\d[\d .]*\d", said), (guess, said)


def test_a_choice():
    choice = MultipleChoice(
        id="99-c", answers=("a", "b", "c"), right=lambda: "b", slips={"a": "as if"}, hint="hm", because="So."
    )
    assert str(choice.judge("b")) == "Right. So."
    assert choice.judge("a").message == "Not yet: it is not 'a'. as if"
    assert choice.judge("c").message == "Not yet: it is not 'c'. hm"
    assert "'a', 'b', 'c'" in choice.judge("d").message
    assert "'a', 'b', 'c'" in choice.judge(None).message


def test_what_a_judge_cannot_work_with_is_wrong():
    def problem(answer):
        return "" if int(answer) == 3 else "no"

    judged = Judged(id="99-j", problem=problem, hint="Give 3.")
    assert judged.judge("3").right
    assert judged.judge("4").message == "Not yet: no"
    assert "invalid literal" in judged.judge("four").message
    assert judged.judge((None, None)).state == "unanswered"


def square_all(x):
    for k in range(len(x)):
        x[k] *= x[k]
    return x


SQUARES = WriteFunction(
    id="99-squares",
    calls=lambda: [Call((np.arange(3.0),), np.float64([0, 1, 4])), Call((np.float64([-2]),), np.float64([4]))],
    slips=((abs, "that is the absolute value"),),
    hint="x * x",
)


@pytest.mark.parametrize(
    ("function", "state", "words"),
    [
        (lambda x: x * x, "right", ""),
        (square_all, "right", ""),  # it may change its argument: each call has its own
        (lambda x: [k * k for k in x], "right", ""),
        (abs, "wrong", "[2] is 2.0 and should be 4.0 (1 of 3 are wrong). that is the absolute value"),
        (lambda x: x + x, "wrong", "x * x"),
        (lambda x: x[:1], "wrong", "the shape (1,) and should have (3,)"),
        (lambda x: 1 / 0, "wrong", "raises ZeroDivisionError on line"),
        (lambda: 1, "wrong", "raises TypeError: "),
        (lambda x: None, "unanswered", "returns None"),
        (5, "wrong", "the answer must be a function"),
    ],
)
def test_a_function(function, state, words):
    verdict = SQUARES.judge(function)
    assert verdict.state == state
    assert words in verdict.message


@pytest.mark.parametrize("known", [1, 2, 3])
def test_a_slip_before_a_call_that_fails_shows_in_two_calls_at_least(known: int) -> None:
    """One wrong result may have many reasons."""

    def answer(n: int) -> int:
        return 2 * n if n < 3 + known else 1 // 0

    exercise = WriteFunction(
        id="99-twice", hint="Square.", slips=((lambda n: 2 * n, "That is twice."),),
        calls=lambda: [Call((n,), n * n) for n in range(3, 8)],
    )  # fmt: skip
    assert ("That is twice." in exercise.judge(answer).message) == (known >= 2)


@pytest.mark.parametrize("returns", ["", "a whole number"])
@pytest.mark.parametrize(
    ("function", "other_type"), [(lambda n: str(n), True), (lambda n: [n], True), (lambda n: n + n * n, False)]
)
def test_a_result_of_another_type_is_told_where_the_exercise_names_its_own(function, other_type, returns):
    exercise = WriteFunction(
        id="99-whole", hint="Square.", returns=returns, calls=lambda: [Call((n,), n * n + 1) for n in range(2, 7)]
    )
    verdict = exercise.judge(function)
    assert verdict.state == "wrong"
    assert verdict.message.endswith("It returns a whole number. Square.") == (other_type and bool(returns))


def test_how_many_are_wrong_is_told_of_several():
    assert first_difference("y", np.float64([2]), np.float64([3])) == "y[0] is 2.0 and should be 3.0"
    assert first_difference("y", np.float64(2), np.array(3.0)) == "y is 2.0 and should be 3.0"
    assert first_difference("y", [2, 2], [3, 2]) == "y[0] is 2 and should be 3 (1 of 2 are wrong)"
    assert first_difference("y", [2, 2], (2, 2)) == ""
    assert first_difference("y", ["a", "b", "c"], ["a", "x", "c"]) == "y[1] is b and should be x (1 of 3 are wrong)"
    assert first_difference("y", ["a", "b"], ["a", "b"]) == ""


def test_first_difference_of_arrays():
    want = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = want.copy()
    assert first_difference("y", got, want) == ""
    got[1, 2] = np.nan
    assert first_difference("y", got, want) == "y[1, 2] is nan (not written?) and should be 5.0 (1 of 6 are wrong)"
    assert first_difference("y", np.float32([np.nan]), np.float32([np.nan])) == ""
    assert first_difference("y", np.float32([1.00001]), np.float64([1]), 1e-4) == ""
    assert first_difference("y", np.float32([1.1]), np.float64([1]), 1e-4) == "y[0] is 1.1 and should be 1.0"


SUM = WriteKernel(
    id="99-sum",
    kernel="sum",
    parameters="const float* x, float* y",
    launches=lambda: [
        LaunchCase(
            1, 32, {"x": np.ones(32, np.float32), "y": np.zeros(1, np.float32)}, {"y": np.float32([32])}, about="ones"
        )
    ],
    requirements=(no_shared_memory(), at_least("shuffle_instructions", 5, "Five steps.")),
    hint="The sum of all 32.",
)
BODY = 'extern "C" __global__ void sum(const float* x, float* y) {{\n{}\n}}'


@pytest.mark.parametrize(
    ("body", "words"),
    each(2, [
        ("float v = x[threadIdx.x]; for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k); *y = v;", ""),
        ("*y = 32;", "0 shuffle instructions, 5 expected. Five steps."),
        ("volatile __shared__ float s[32]; s[threadIdx.x] = 1; *y = 32;", "uses shared memory: 128 bytes per block"),
        ("while (true) *(volatile float*)y = 1;", "infinite-loop on line 2"),
        ("*y = x[32];", "global-out-of-bounds on line 2, with ones: the thread reads 4 bytes at byte 128 of x"),
        ("float v = x[0]; if (threadIdx.x < 16) v = __shfl_xor_sync(~0u, v, 16); *y = v;", "inactive-lane on line 2"),
        ("*y = 31;", "y[0] is 31.0 and should be 32.0. With x all 0, y is 31: something is added that no number"),
        ("*y = 32", 'Line 3: expected a ";"'),
    ]),
)  # fmt: skip
def test_a_kernel(body, words):
    verdict = SUM.judge(BODY.format(body))
    assert verdict.right == (not words), verdict.message
    assert words in verdict.message
    assert verdict.launch is not None


@pytest.mark.parametrize("block", [96, (32, 3)])
@pytest.mark.parametrize("any_order", [False, True])
def test_a_kernel_whose_result_depends_on_the_order_of_the_warps(block, any_order):
    """Each warp stores its number: the last one to come counts."""
    launches = [LaunchCase(1, block, {"y": np.zeros(1, np.float32)}, {"y": np.float32([2])}, about="warps")] * 2
    exercise = WriteKernel(
        id="99-last", kernel="last", parameters="float* y", launches=lambda: launches, any_order=any_order, hint="h"
    )
    body = "int t = threadIdx.x + 32 * threadIdx.y; if (t % 32 == 0) atomicExch(y, t / 32);"
    verdict = exercise.judge(f"__global__ void last(float* y) {{ {body} }}")
    assert verdict.right != any_order
    if any_order:
        assert "with warps, and the last warp first, y[0] is 0.0 and should be 2.0." in verdict.message


def test_a_kernel_from_something_else():
    assert "CUDA C++ is asked for" in SUM.judge(5).message
    assert SUM.judge("  \n").state == "unanswered"
    assert "no kernel 'sum'" in SUM.judge("__global__ void summed(float* x) {}").message


def test_ids_belong_to_their_lesson():
    with pytest.raises(ValueError, match="98-some-words"):
        Lesson("98", "98-x.ipynb", "X", 1, (), (PI,))
    with pytest.raises(ValueError, match="99-some-words"):
        Lesson("99", "99-x.ipynb", "X", 1, (), (PI, PI))


def test_an_unknown_exercise_names_those_there_are():
    with pytest.raises(ValueError, match="00-half-the-bytes"):
        course.exercise("00-half")
    with pytest.raises(ValueError, match="there are exercises in 0, 00"):
        course.exercise("77-x")
    with pytest.raises(ValueError, match="no lesson '77'"):
        course.lesson("77")


# Progress


def test_a_question_says_the_same_whatever_was_answered_elsewhere(stored):
    first, second, *_ = course.lesson("00").exercises
    before = second.grade(None)
    assert first.grade(16_777_216).standing is not None
    assert second.grade(None) == before, "nbval compares the cell, and notebooks run one after the other"


def test_nothing_is_stored_and_nothing_shown_before_an_answer(stored):
    verdict = course.exercise("00-half-the-bytes").grade(None)
    assert str(verdict) == "Not answered yet."
    assert verdict.standing is None
    assert not stored.exists()


def test_what_is_solved_stays_solved(stored):
    exercise = course.exercise("00-half-the-bytes")
    assert exercise.grade(1).standing is None
    assert "1 of 3 in this notebook" in str(exercise.grade(16_777_216))
    assert "1 of 3 in this notebook" in str(exercise.grade(1))
    assert "solved it before" in str(exercise.grade(None))
    (record,) = Progress.load().records.values()
    assert (record.attempts, record.state, bool(record.solved)) == (3, "wrong", True)
    whole = course.progress().whole
    assert (whole.done, whole.of) == (1, sum(len(lesson.ids) for lesson in course.lessons()))
    course.reset()
    assert course.progress().whole.done == 0
    course.reset()  # nothing to forget is no error


def test_further_wrong_answers_get_more_help(stored):
    """A nudge first; then an explanation, a worked step, and a similar exercise with its solution."""
    exercise = course.exercise("00-half-the-bytes")
    said = [exercise.grade(1).message for _ in range(5)]
    assert said[0].endswith(exercise.hint)
    assert said[1:] == [f"{said[0]} {exercise.further[k]}" for k in (0, 1, 2, 2)]
    assert exercise.grade(16_777_216).right
    assert exercise.grade(1).message == said[0], "who has solved it tries other things"


def test_an_error_of_the_compiler_stands_alone(stored):
    exercise = course.exercise("00-copy")
    assert not exercise.grade("this is no C(").right
    broken = exercise.grade('extern "C" __global__ void copy(const float* x, float* y) { y[0] = x[0] }')
    assert "does not compile" in broken.message
    assert not any(text in broken.message for text in exercise.further)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 0}', '{"format": 1, "exercises": {"x": {"colour": 1}}}', '{"format": 1}', "null"],
)
def test_a_file_that_cannot_be_read_is_no_progress(stored, text):
    stored.parent.mkdir(parents=True)
    stored.write_text(text)
    with pytest.warns(UserWarning, match=r"progress\.json .*; the next answer moves it aside to progress\.old "):
        assert Progress.load() == Progress()
    with pytest.warns(UserWarning, match="moves it aside"):
        assert course.exercise("00-half-the-bytes").grade(16_777_216).right
    assert json.loads(stored.read_text())["format"] == learners.FORMAT
    assert stored.with_suffix(".old").read_text() == text


def test_a_folder_where_nothing_can_be_written(tmp_path, monkeypatch):
    """A file where the folder should be: it cannot be made, by root neither."""
    (tmp_path / "state").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.warns(UserWarning, match=r"the answer is not stored: .*progress\.json cannot be written"):
        verdict = course.exercise("00-half-the-bytes").grade(16_777_216)
    assert verdict.right
    assert "1 of 3 in this notebook" in str(verdict)
    with pytest.warns(UserWarning, match="the progress is not stored"):
        assert not Progress().save()


def test_a_write_that_fails_leaves_the_old_file(stored, monkeypatch):
    assert Progress({"00-a": Record(1)}).save()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("full")))
    with pytest.warns(UserWarning, match=r"cannot be written \(full\)"):
        assert not Progress({"00-b": Record(2)}).save()
    monkeypatch.undo()
    assert list(Progress.load(stored).records) == ["00-a"]
    assert sorted(path.name for path in stored.parent.iterdir()) == [stored.name, f"{stored.name}.lock"]


MANY_ANSWERS = """
import sys
from softlab.course.learners import Progress
for number in range(10):
    Progress.answered(f"00-{sys.argv[1]}-{number}", right=True)
    Progress.answered("00-shared", right=False)
"""


@pytest.mark.further
def test_answers_of_several_notebooks_at_once_are_kept(stored):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", MANY_ANSWERS, str(number)], env=environment) for number in range(6)
    ]
    assert [process.wait() for process in processes] == [0] * 6
    records = Progress.load().records
    assert len(records) == 61
    assert records["00-shared"].attempts == 60


def test_a_save_keeps_what_others_stored(stored):
    Progress({"00-a": Record(3, "2026-01-02", "wrong", "later"), "00-b": Record(1)}).save()
    assert Progress({"00-a": Record(1, "2026-01-01", "right"), "00-c": Record(1)}).save()
    records = Progress.load().records
    assert records["00-a"] == Record(3, "2026-01-01", "wrong", "later")
    assert set(records) == {"00-a", "00-b", "00-c"}


def test_a_lock_that_is_held_is_named(stored, monkeypatch):
    monkeypatch.setattr(learners, "_WAIT_SECONDS", 0)
    stored.parent.mkdir(parents=True)
    with FileLock(f"{stored}.lock"), pytest.warns(UserWarning, match=r"another process held .*progress\.json\.lock"):
        assert not Progress({"00-a": Record(1)}).save()


@pytest.mark.parametrize(
    "entry",
    [{"attempts": "3"}, {"attempts": -1}, {"attempts": True}, {"attempts": 10**400}, {"solved": 5}, {"state": "great"},
     {"message": ["x"]}, {"colour": 1}, [], None, 5],
)  # fmt: skip
def test_an_odd_entry_leaves_the_others(stored, entry):
    stored.parent.mkdir(parents=True)
    text = json.dumps({"format": 1, "exercises": {"00-a": {"attempts": 2}, "00-b": entry}})
    stored.write_text(text)
    with pytest.warns(UserWarning, match="has odd entries: '00-b'"):
        assert Progress.load().records == {"00-a": Record(2)}
    Progress({"00-c": Record(1)}).save()
    assert set(Progress.load().records) == {"00-a", "00-c"}
    assert stored.with_suffix(".old").read_text() == text


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe", b"\0" * 100, b'{"format": 1' + b"0" * 5000 + b"}"])
def test_damaged_bytes_are_kept_aside_each_time(stored, content):
    stored.parent.mkdir(parents=True)
    for name in ("progress.old", "progress.old2"):
        stored.write_bytes(content)
        with pytest.warns(UserWarning, match=name):
            assert Progress.load() == Progress()
        Progress({"00-a": Record(1)}).save()
        assert (stored.parent / name).read_bytes() == content
    assert Progress.load().records == {"00-a": Record(1)}


def test_a_folder_where_the_file_should_be(stored):
    stored.mkdir(parents=True)
    with pytest.warns(UserWarning, match="is no file"):
        assert course.exercise("00-half-the-bytes").grade(16_777_216).right
    assert stored.is_file()
    assert stored.with_suffix(".old").is_dir()
    stored.unlink()
    stored.mkdir()
    course.reset()
    assert not stored.exists()


def test_verdicts_and_progress_as_html(stored):
    exercise = course.exercise("00-half-the-bytes")
    assert "in this notebook" not in exercise.grade("<b>")._repr_mimebundle_()["text/html"]
    exercise.grade(16_777_216)
    html = exercise.grade("<b>")._repr_mimebundle_()["text/html"]
    assert "softlab-wrong" in html
    assert "&lt;b&gt;" in html
    assert "1 of 3 in this notebook" in html
    html = course.progress()._repr_mimebundle_()["text/html"]
    assert html.count("<tr>") == len(course.lessons()) + 1


def test_further_help_has_three_levels_and_never_the_answer():
    found = [exercise for lesson in course.lessons() for exercise in lesson.exercises if exercise.further]
    assert len(found) >= 13
    for exercise in found:
        assert len(exercise.further) == 3, exercise.id
        assert exercise.further[2].startswith("A similar one"), exercise.id
        if isinstance(exercise, Number):
            right = int(exercise.answer())
            numbers = re.findall(r"(?<![\d.])\d+(?: \d{3})*", " ".join(exercise.further))
            # Small numbers are steps of the way as well.
            assert right < 20 or str(right) not in [number.replace(" ", "") for number in numbers], exercise.id


@pytest.mark.parametrize(
    ("value", "expected", "same"),
    [
        ("warp", "warp", True), ("warp", "block", False), (7, "7", False), (True, True, True), (1, True, False),
        (True, 1, False), (None, False, False), (None, None, True), (1.0, 1, True), (Fraction(1, 2), 0.5, True),
        ("1", 1, False), (1.001, 1, False),
    ],
)  # fmt: skip
def test_a_value_has_the_type_that_is_expected(value: object, expected: object, same: bool) -> None:
    """A truth value is no number, and no number is a text."""
    wanted = "" if same else f"f() is {value!r} and should be {expected!r}"
    assert first_difference("f()", value, expected, 1e-6) == wanted


def test_a_list_and_its_first_wrong_element() -> None:
    assert first_difference("f()", [1, 2, 3], (1, 2, 3)) == ""
    assert first_difference("f()", [1, 5, 7], [1, 2, 3]) == "f()[1] is 5 and should be 2 (2 of 3 are wrong)"
    assert first_difference("f()", [1, 2], [1, 2, 3]) == "f() has the shape (2,) and should have (3,)"


def test_a_long_call_is_shown_to_its_120th_character() -> None:
    for length, shown in ((118, f"f({'x' * 118!r})"), (119, f"f('{'x' * 116}...)"), (4_000, f"f('{'x' * 116}...)")):
        assert _shown_call("f", Call(("x" * length,), None)) == shown
