"""What softlab says of a case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlab.errors import KernelFault
from softlab.findings import Finding
from softlab.kernel import Kernel
from tests.faults.registry import BUDGET, Case


@dataclass(frozen=True)
class Outcome:
    """``found``: the fault is reported with its kind and severity. ``in_place``: at a line to blame.

    ``raised``: so it is with check=True, too, where it is an error. ``findings``: all that check="collect" gives.
    ``said``: the first finding in short.
    """

    found: bool
    in_place: bool
    raised: bool
    findings: tuple[Finding, ...]
    said: str


def outcome(case: Case) -> Outcome:
    """Run the case with check="collect" and with check=True."""
    if case.refusal is not None:
        return _refused(case)
    kernel = Kernel.from_program(case.compile())
    options: dict = {"cooperative": case.cooperative, "record": False}
    if case.kind is not None:
        options["budget"] = BUDGET
    findings = kernel.run(case.grid, case.block, case.arguments(), case.smem, check="collect", **options).findings
    right = [f for f in findings if f.kind == case.kind and f.severity == case.severity]
    in_place = any(_at(case, f.line, f.other_line) for f in right)
    raised = _raised(case, kernel, options)
    said = f"{findings[0].kind}, line {findings[0].line}" if findings else ""
    return Outcome(bool(right), in_place, raised, findings, said)


def _at(case: Case, line: int | None, other: int | None) -> bool:
    return line in case.lines and (other is None or other in case.lines or not case.both_lines)


def _raised(case: Case, kernel: Kernel, options: dict) -> bool:
    """Whether check=True raises what it must: the fault, or nothing for a warning and a good kernel."""
    kernel.reset()  # variables keep what a launch leaves, such as a count of blocks
    try:
        kernel.run(case.grid, case.block, case.arguments(), case.smem, check=True, **options)
    except KernelFault as fault:
        return case.severity == "error" and fault.kind == case.kind and _at(case, fault.line, fault.other_line)
    return case.kind is None or case.severity == "warning"


def _refused(case: Case) -> Outcome:
    refusal = case.refusal
    assert refusal is not None
    kernel = Kernel.from_program(refusal.compile())
    try:
        kernel.run(case.grid, case.block, case.arguments(), case.smem, cooperative=case.cooperative)
    except Exception as error:
        right = isinstance(error, refusal.error) and re.search(refusal.says, str(error)) is not None
        return Outcome(right, right, right, (), f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return Outcome(False, False, False, (), "runs")
