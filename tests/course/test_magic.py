"""``%%exercise``: the kernel in a cell is graded, and what it did is shown."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from softlab.course.verdicts import Verdict
from softlab.magics import load_ipython_extension
from softlab.views.reports import Report
from tests.course.answers import kernel


@pytest.fixture
def shell(monkeypatch):
    """A shell with softlab's magics, and what they display."""
    made, shown = InteractiveShell.instance(), []
    monkeypatch.setattr("IPython.display.display", lambda thing, **how: shown.append(thing))
    load_ipython_extension(made)
    yield made, shown
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


def test_a_right_kernel(shell):
    made, (verdict, report) = shell[0], exercised(shell, "00-copy", kernel("00-copy"))
    assert isinstance(verdict, Verdict)
    assert verdict.right
    assert isinstance(report, Report)
    assert [array.name for array in report.arrays] == ["x", "y"]
    assert made.user_ns["run"].counters["global_load_sectors"] == 128


def test_a_race_is_shown_at_its_line(shell):
    racy = kernel("13-find-what-is-missing", ("__syncthreads();", ""))
    verdict, report = exercised(shell, "13-find-what-is-missing", racy)
    assert "race on line 6" in verdict.message
    assert (report.state, report.notes[0][0]) == ("race", 6)
    assert shell[0].user_ns["run"] is None


def test_a_kernel_that_does_not_compile(shell):
    verdict, report = exercised(shell, "00-copy", kernel("00-copy", ("y[k] = x[k];", "y[k] = z[k];")))
    assert 'Line 4: identifier "z" is undefined' in verdict.message
    assert report.state == "does not compile"


def test_an_empty_cell(shell):
    (verdict,) = exercised(shell, "00-copy", "\n")
    assert verdict.state == "unanswered"


@pytest.mark.parametrize(
    ("line", "words"),
    [("00-copi", "no exercise '00-copi': 00-half-the-bytes"), ("00-half-the-bytes", "asks for no kernel")],
)
def test_a_wrong_line(shell, line, words):
    with pytest.raises(UsageError, match=words):
        shell[0].run_cell_magic("exercise", line, "x")


def exercised(shell, name, source):
    made, shown = shell
    made.run_cell_magic("exercise", name, source)
    return shown
