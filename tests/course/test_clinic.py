"""The bug clinic: the checks find each bug at its lines, say nothing of its fixes, and the hints are complete."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from softlab import course
from softlab.course import clinic
from softlab.errors import FAULT_KINDS
from softlab.instruments.numbers import number_findings
from softlab.kernel import Kernel
from tests.course.answers import all_answers
from tests.sampled import each, one_of

NAMES = [bug.name for bug in course.bugs()]
DATA = tomllib.loads((Path(clinic.__file__).parent / "bugs.toml").read_text())


def kernel(source: str, bug: course.Bug) -> Kernel:
    return Kernel(source, bug.exercise.kernel, arch=bug.exercise.arch, file="cell.cu")


def test_there_are_25_bugs_and_each_has_its_texts():
    assert len(NAMES) == 25
    assert set(DATA["bug"]) == set(NAMES)
    assert [name for name in NAMES if "BUG" in course.bug(name).source] == []


@pytest.mark.parametrize("name", each(2, NAMES))
def test_the_checks_find_the_bug_at_its_lines(name):
    """Of a race both lines; the first finding is the bug."""
    bug = course.bug(name)
    first = bug.report()[0]
    # Numbers that go wrong come from somewhere, which is no line to blame.
    other = first.other_line if first.kind in FAULT_KINDS else None
    assert {first.line, other} - {None} == set(bug.lines)


@pytest.mark.parametrize("name", one_of(12, NAMES, lambda name: ""))
def test_the_checks_say_nothing_of_the_fix(name):
    bug = course.bug(name)
    fixed = kernel(all_answers()[f"18-{name}"].right[0], bug)
    found = [finding for launch in bug.exercise.launches() for finding in clinic.checked(fixed, launch)]
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_no_hint_looks_at_the_text_of_an_answer(name):
    hints = course.bug(name).exercise.slips
    assert {hint.when for hint in hints} <= {"result", "counter", *FAULT_KINDS}
    assert all(hint.says.endswith((".", "?")) and not hint.seen for hint in hints)
    assert len(all_answers()[f"18-{name}"].wrong) > 3


def test_a_bug_shows_its_kernel_and_the_report():
    shown = str(course.bug("18-last-block"))
    assert "  6     part[blockIdx.x] = v;\n" in shown
    assert "error: race, 3 times, line 12 and line 6" in shown
    with pytest.raises(ValueError, match="no bug 'x': there are one-slot, tile-in-use"):
        course.bug("x")


LOSES = """__global__ void k(const float* x, float* y) {
  float v = x[threadIdx.x];
  y[threadIdx.x] = v * v;
}"""


@pytest.mark.parametrize(
    ("value", "kinds"), [(1e30, ["overflow"]), (np.inf, []), (-np.inf, []), (np.nan, []), (1e-30, []), (2.0, [])]
)
def test_only_arithmetic_that_makes_infinity_of_numbers_is_an_overflow(value, kinds):
    x = np.ones(32, np.float32)
    x[7] = value
    record = Kernel(LOSES, "k").steps(1, 32, (x, np.zeros_like(x)))
    found = number_findings(record)
    assert [(one.kind, one.line, one.other_line, one.thread) for one in found] == [(k, 3, 2, (7, 0, 0)) for k in kinds]


@pytest.mark.parametrize(
    ("buffers", "rest", "said"),
    [(4, 3, "No thread comes to ring[3]: of the 4 buffers of ring, 3 are in use."), (3, 3, ""),
     (6, 3, "No thread comes to ring[3]: of the 6 buffers of ring, 3 are in use.")],
)  # fmt: skip
def test_buffers_that_a_ring_leaves_out(buffers, rest, said):
    exercise = course.bug("one-tile-too-far").exercise
    answer = exercise.start.replace("ring[3]", f"ring[{buffers}]").replace("% 3", f"% {rest}")
    message = exercise.judge(answer).message
    assert said in message
    assert bool(said) == ("No thread comes to" in message)


def test_a_ring_whose_buffers_are_all_in_use_may_have_any_number():
    exercise = course.bug("one-tile-too-far").exercise
    assert exercise.judge(exercise.start.replace("ring[3]", "ring[4]").replace("% 3", "% 4")).right
