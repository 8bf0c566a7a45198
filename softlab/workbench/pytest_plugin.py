"""pytest collects the checks of kernels in files ``*.softlab.toml``: one test per check (:mod:`.checks`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

if TYPE_CHECKING:
    from softlab.workbench.checks import Check

#: How the name of a file with checks ends.
ENDING = ".softlab.toml"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file with checks."""
    return KernelFile.from_parent(parent, path=file_path) if file_path.name.endswith(ENDING) else None


class KernelFile(pytest.File):
    """A TOML file with checks."""

    @override
    def collect(self) -> Iterator[pytest.Item]:
        from softlab.workbench.checks import read_checks

        try:
            checks = read_checks(self.path)
        except ValueError as error:
            raise self.CollectError(str(error)) from None
        for check in checks:
            yield KernelTest.from_parent(self, name=check.name, check=check)


class Failed(Exception):
    """A check that failed, with its problems."""


class KernelTest(pytest.Item):
    """One launch with all checks, and what is required of it."""

    def __init__(self, *, check: Check, **given: Any) -> None:
        super().__init__(**given)
        self._check = check

    @override
    def runtest(self) -> None:
        from softlab.workbench.checks import run_check

        result = run_check(self._check)
        for problem in result.problems:
            if problem.severity == "warning":
                self.add_report_section("call", "warning", str(problem))
        if not result.passed:
            raise Failed("\n".join(map(str, result.problems)))

    @override
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    @override
    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.name}::{self.name}"
