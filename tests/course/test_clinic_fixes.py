"""Fixes of the clinic's bugs by another author: right ones are taken, wrong ones are refused, most with their cause."""

from __future__ import annotations

import pytest

from softlab import course
from tests.course.clinic_fixes import Fix, fixes
from tests.sampled import sampled

FIRST = fixes("first")
#: Wrong fixes that are taken still, with the reason.
TAKEN = {"row-of-minus-infinity-wrong-5": "the result is what the exercise asks for"}


def test_each_bug_has_eight_wrong_fixes_and_three_right_ones():
    names = {bug.name for bug in course.bugs()}
    assert {fix.bug for fix in FIRST} == names
    for name in names:
        kinds = [fix.right for fix in FIRST if fix.bug == name]
        assert kinds.count(False) >= 8
        assert kinds.count(True) >= 3


@pytest.mark.parametrize("fix", sampled(FIRST, lambda fix: FIRST.index(fix) % 60 == 7), ids=lambda fix: fix.name)
def test_the_verdict_is_right(fix: Fix):
    """`.ci/run` takes each 60th."""
    verdict = course.bug(fix.bug).exercise.judge(fix.source)
    assert (verdict.state == "right") == (fix.right or fix.name in TAKEN), f"{fix.why}\n{fix.source}\n{verdict.message}"
    assert fix.hint in verdict.message


CLOSED = ("smooth-in-place-wrong-0", "one-past-the-end-wrong-0")


@pytest.mark.parametrize("name", CLOSED)
def test_a_fix_that_only_works_on_the_compiled_program_is_refused(name: str):
    """A barrier in a branch whose other threads end; a load that the compiler moves behind the test."""
    fix = next(fix for fix in FIRST if fix.name == name)
    verdict = course.bug(fix.bug).exercise.judge(fix.source)
    assert verdict.state == "wrong"
    assert ("stands under `if (i > 0 && i < n - 1)`" if "smooth" in name else "does not optimise") in verdict.message
