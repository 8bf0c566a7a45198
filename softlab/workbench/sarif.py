"""The results of checks as SARIF 2.1.0, which code hosts show beside the source.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import softlab
from softlab.workbench.checks import CheckResult, Problem

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(results: Sequence[CheckResult]) -> dict[str, Any]:
    """The problems of all results as one run of one tool. A problem that two checks find at one place is one result."""
    problems = list(dict.fromkeys(problem for result in results for problem in result.problems))
    rules = sorted({problem.rule for problem in problems})
    driver = {
        "name": "softlab",
        "version": softlab.__version__,
        "rules": [{"id": rule, "shortDescription": {"text": rule.replace("-", " ")}} for rule in rules],
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one, rules.index(one.rule)) for one in problems]}],
    }


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
    if problem.line:
        place["region"] = {"startLine": problem.line}
    return {
        "ruleId": problem.rule,
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    """Relative to the working directory, where the file is below it."""
    path = Path(file)
    if path.is_absolute():
        try:
            path = path.relative_to(Path.cwd())
        except ValueError:
            return path.as_uri()
    from urllib.parse import quote

    return quote(str(PurePosixPath(*path.parts)))
