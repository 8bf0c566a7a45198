"""The workbench: what each line of a kernel moves, what to change, two runs side by side, and a check for CI."""

from __future__ import annotations

from softlab.workbench.advice import Advice, advice
from softlab.workbench.checks import Check, CheckResult, Problem, read_checks, run_check
from softlab.workbench.comparison import Comparison, compare
from softlab.workbench.figures import AccessFigures, access_figures

__all__ = [
    "AccessFigures",
    "Advice",
    "Check",
    "CheckResult",
    "Comparison",
    "Problem",
    "access_figures",
    "advice",
    "compare",
    "read_checks",
    "run_check",
]
