"""Checks of kernels for CI: launches in a TOML file, what they must not do, and what their counters must be.

    [[check]]
    file = "transpose.cu"             # beside the TOML file; not needed where the command names the file
    kernel = "transpose"              # not needed for the only kernel of the file
    grid = [4, 4]
    block = [32, 8]
    args = "x=random((128, 128)), y=zeros((128, 128)), n=128"
    require = ["bank_conflicts == 0", "global_load_sectors <= 1.02 * ideal"]

Other keys: ``name``, ``smem`` (bytes), ``device`` (default "H200"), ``options`` (for NVRTC), ``constants`` (such as
``["c_filter=random(9)"]``), ``warnings`` ("fail", or "allow", the default).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softlab.errors import CompileError, Error
from softlab.findings import Finding, sentence, without_repetitions
from softlab.hardware.devices import resolve
from softlab.kernel import Kernel
from softlab.traces import Run
from softlab.workbench.launches import FileLaunch, LaunchRequest, file_launch, recorded
from softlab.workbench.requirements import Requirement

_KEYS = {
    "file": str, "kernel": str, "name": str, "grid": (int, list), "block": (int, list), "smem": int, "args": str,
    "require": list, "device": str, "options": list, "constants": list, "warnings": str,
}  # fmt: skip
#: Names of the options of the command line in a message.
_OPTION = re.compile(r"--(grid|block|smem|args|constant|kernel)\b")


@dataclass(frozen=True)
class Problem:
    """Why a check fails: its ``rule`` (a finding's kind, "requirement", "compile" or "launch"), its ``severity``
    ("error" or "warning"), the sentence, and where: ``file``, ``line`` (None: the whole launch).
    """

    rule: str
    severity: str
    message: str
    file: str
    line: int | None = None

    def __str__(self) -> str:
        """As compilers write it, on one line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {' '.join(self.message.split())} [{self.rule}]"


@dataclass(frozen=True)
class Check:
    """One launch, what is required of it, and whether warnings fail it."""

    name: str
    request: LaunchRequest
    requirements: tuple[Requirement, ...] = ()
    device: str = "H200"
    strict: bool = False


@dataclass(frozen=True)
class CheckResult:
    """What came of a check: all that was found, and its run (None: there was none)."""

    check: Check
    problems: tuple[Problem, ...]
    run: Run | None

    @property
    def passed(self) -> bool:
        """Whether nothing failed it. A warning does where the check is strict."""
        return not any(one.severity == "error" or self.check.strict for one in self.problems)


def read_checks(path: str | Path, file: str | None = None) -> tuple[Check, ...]:
    """The checks in a TOML file. ``file``: the .cu file, for checks that name none.

    Raises:
        ValueError: the file cannot be read, or a check is wrong; the message says which and why.
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    entries = table.get("check")
    if set(table) != {"check"} or not isinstance(entries, list) or not entries:
        raise ValueError(f"{path}: write one [[check]] for each launch, and nothing else at the top")
    checks = []
    for number, entry in enumerate(entries, 1):
        try:
            checks.append(_check(entry, number, path, file))
        except ValueError as error:
            raise ValueError(f"{path}, check {number}: {error}") from None
    names = [check.name for check in checks]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path}: two checks have the name {min(doubled)!r}")
    return tuple(checks)


def _check(entry: Mapping[str, Any], number: int, path: Path, file: str | None) -> Check:
    for key, value in entry.items():
        if key not in _KEYS:
            raise ValueError(f"{key} is no key; there are {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise ValueError(f"{key} = {value!r} is of the wrong type")
    for key in ("require", "options", "constants"):
        if not all(isinstance(one, str) for one in entry.get(key, ())):
            raise ValueError(f"{key} = {entry[key]!r}: write a list of strings")
    if entry.get("warnings", "allow") not in ("allow", "fail"):
        raise ValueError(f'warnings = {entry["warnings"]!r}: "allow" or "fail"')
    source = str(path.parent / entry["file"]) if "file" in entry else file
    if source is None:
        raise ValueError("the key file is missing")
    resolve(entry.get("device", "H200"))
    request = LaunchRequest(
        source, entry.get("kernel"), _sizes(entry.get("grid")), _sizes(entry.get("block")), entry.get("smem"),
        entry.get("args", ""), tuple(entry.get("options", ())), tuple(entry.get("constants", ())),
    )  # fmt: skip
    return Check(
        entry.get("name") or f"{entry.get('kernel') or Path(source).stem}-{number}",
        request,
        tuple(Requirement.parse(text) for text in entry.get("require", ())),
        entry.get("device", "H200"),
        entry.get("warnings") == "fail",
    )


def _sizes(value: int | Sequence[Any] | None) -> str | None:
    return None if value is None else ",".join(map(str, value if isinstance(value, list) else [value]))


def run_check(check: Check) -> CheckResult:
    """Launch the kernel in the emulator with all checks. Whatever goes wrong is a problem of the result."""
    file = check.request.file
    try:
        launch = file_launch(check.request, resolve(check.device).arch)
        run = recorded(launch, check="collect")
        problems = [_of_finding(one, file, run) for one in without_repetitions(run.findings)]
        problems += _unmet(check, launch, run)
    except CompileError as error:
        return CheckResult(check, (_of_compiler(error, file),), None)
    except Error as error:  # an instruction that is not supported, a launch that cannot run
        line = getattr(error, "line", None)
        return CheckResult(check, (Problem("launch", "error", str(error), file, line),), None)
    except (ValueError, TypeError) as error:
        words = _OPTION.sub(r"\1", str(error))
        return CheckResult(check, (Problem("launch", "error", words, file),), None)
    return CheckResult(check, tuple(problems), run)


def _of_finding(found: Finding, file: str, run: Run) -> Problem:
    own = found.file in (None, run.file)
    other = f" The other line is {found.other_line}." if found.other_line not in (None, found.line) else ""
    times = f" ({found.count} times)" if found.count > 1 else ""
    return Problem(
        found.kind, found.severity, f"{found.kind}: {sentence(found)}{other}{times}", file if own else str(found.file),
        found.line,
    )  # fmt: skip


def _of_compiler(error: CompileError, file: str) -> Problem:
    """The first line of the log that has a place."""
    for text in error.log.splitlines():
        if found := re.match(r"(?P<file>[^()\s]+)\((?P<line>\d+)\): error: (?P<words>.*)", text.strip()):
            own = Path(found["file"]).name == Path(file).name
            return Problem("compile", "error", found["words"], file if own else found["file"], int(found["line"]))
    return Problem("compile", "error", str(error), file)


def _unmet(check: Check, launch: FileLaunch, run: Run) -> list[Problem]:
    microseconds = None
    if any("microseconds" in one.names for one in check.requirements):
        microseconds = _estimated(launch.kernel, launch, check.device)
    unmet = [(one.unmet(run, microseconds), one) for one in check.requirements]
    file = check.request.file
    return [Problem("requirement", "error", words, file, _most(one, run)) for words, one in unmet if words]


def _most(requirement: Requirement, run: Run) -> int | None:
    """The line that adds most to the counters of a requirement."""
    lines = {line: sum(counters.get(name, 0) for name in requirement.names) for line, counters in run.by_line().items()}
    return max(lines, key=lines.__getitem__) if any(lines.values()) else None


def _estimated(kernel: Kernel, launch: FileLaunch, device: str) -> float:
    found = kernel.estimate(launch.grid, launch.block, launch.args, smem=launch.smem, device=device)
    return found.microseconds
