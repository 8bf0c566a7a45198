"""Fixes of the clinic's bugs by another author: right ones are taken, wrong ones are refused, most with their cause."""

from __future__ import annotations

import pytest

from softlab import course
from tests.course.clinic_fixes import BATCHES, Fix, fixes
from tests.sampled import each, sampled

FIRST = fixes("first")
FOURTH = fixes("fourth")
ALL = [fix for batch in BATCHES for fix in fixes(batch)]
#: Wrong fixes that a run takes as right: what is wrong needs another run, or a look at all stores.
ONCE_TAKEN = ("last-warp-wrong-0", "one-past-the-end-wrong-1", "exp-of-a-hundred-wrong-0")


def test_each_bug_has_eight_wrong_fixes_and_three_right_ones():
    names = {bug.name for bug in course.bugs()}
    assert {fix.bug for fix in FIRST} == names
    for name in names:
        kinds = [fix.right for fix in FIRST if fix.bug == name]
        assert kinds.count(False) >= 8
        assert kinds.count(True) >= 3


@pytest.mark.parametrize(
    "fix", sampled(ALL, lambda fix: ALL.index(fix) % 140 == 7), ids=lambda fix: f"{fix.batch}-{fix.name}"
)
def test_the_verdict_is_right(fix: Fix):
    """`.ci/run` takes each 140th."""
    verdict = course.bug(fix.bug).exercise.judge(fix.source)
    assert (verdict.state == "right") == fix.right, f"{fix.why}\n{fix.source}\n{verdict.message}"
    assert fix.hint in verdict.message


@pytest.mark.parametrize("name", each(3, ONCE_TAKEN))
def test_a_fix_that_was_taken_is_refused(name: str):
    """A barrier for one warp alone; two blocks that store one value; a power that overflows in one row of three."""
    fix = next(fix for fix in FOURTH if fix.name == name)
    assert course.bug(fix.bug).exercise.judge(fix.source).state == "wrong"


CLOSED = ("smooth-in-place-wrong-0", "one-past-the-end-wrong-0")


@pytest.mark.parametrize("name", each(2, CLOSED))
def test_a_fix_that_only_works_on_the_compiled_program_is_refused(name: str):
    """A barrier in a branch whose other threads end; a load that the compiler moves behind the test."""
    fix = next(fix for fix in FIRST if fix.name == name)
    verdict = course.bug(fix.bug).exercise.judge(fix.source)
    assert verdict.state == "wrong"
    assert ("stands under `if (i > 0 && i < n - 1)`" if "smooth" in name else "does not optimise") in verdict.message
