"""One kernel runs the cells of a submission: what happens after a cell that takes too long or ends the kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from softlab.course import execution

SECONDS = 7


class Kernel:
    """Stands for the client and its kernel: "endless" takes too long, "fatal" ends it, "wrong" is an error."""

    def __init__(self, notebook: Any, *, timeout: int, **_: Any) -> None:
        self.nb, self.timeout, self.km = notebook, timeout, self
        self.errors: list[str] = []
        made.append(self)
        self.ran: list[tuple[str, int]] = []

    stubborn = False

    @contextmanager
    def setup_kernel(self, env: dict[str, str]) -> Iterator[None]:
        yield

    def interrupt_kernel(self) -> None:
        self.ran.append(("interrupt", self.timeout))

    def execute_cell(self, cell: Any, index: int) -> None:
        self.ran.append((cell.source, self.timeout))
        if cell.source == "endless" or (cell.source == "pass" and self.stubborn):
            raise CellTimeoutError("late")
        if cell.source == "fatal":
            raise DeadKernelError("dead")
        if cell.source == "wrong":
            self.errors.append(f"cell {index + 1} is wrong")


made: list[Kernel] = []


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    made.clear()
    monkeypatch.setattr(execution, "_Client", Kernel)
    monkeypatch.setattr(Kernel, "stubborn", False)


def run(cells: list[str], left_out: Collection[int] = ()) -> tuple[int | None, list[str], list[str]]:
    problems: list[str] = []
    stopped = execution._run(cells, left_out, SECONDS, Path("."), {}, problems)
    return stopped, problems, [source for source, _ in made[-1].ran]


def test_after_a_cell_that_is_interrupted_the_same_kernel_goes_on() -> None:
    late = [f"a cell took more than {SECONDS} s"]
    assert run(["a", "endless", "b"]) == (None, late, ["a", "endless", "interrupt", "pass", "b"])
    grace = execution._GRACE_SECONDS
    assert [timeout for _, timeout in made[-1].ran] == [SECONDS, SECONDS, SECONDS, grace, SECONDS]


def test_a_kernel_that_cannot_be_interrupted_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "stubborn", True)
    assert run(["a", "endless", "b"])[0] == 1
    assert made[-1].timeout == SECONDS


def test_a_kernel_that_ended_is_given_up() -> None:
    assert run(["a", "b", "fatal", "c"]) == (2, ["its kernel died"], ["a", "b", "fatal"])


def test_errors_are_kept_once_and_cells_can_be_left_out() -> None:
    cells = ["wrong", "fatal", "a", "wrong"]
    assert run(cells, {1}) == (None, ["cell 1 is wrong", "cell 4 is wrong"], ["wrong", "a", "wrong"])


def test_which_files_of_a_submission_are_read(tmp_path: Path) -> None:
    """No link, nothing longer than 16 MiB, and only text."""
    file, link = tmp_path / "answers.json", tmp_path / "link.json"
    assert execution._text(file) == ""
    file.write_text("café", "utf-8")
    assert execution._text(file) == "café"
    link.symlink_to(file)
    assert execution._text(link) == ""
    assert execution._text(tmp_path) == ""
    for length in (2**24, 2**24 + 1):
        with file.open("wb") as opened:
            opened.truncate(length)
        assert len(execution._text(file)) == (length if length == 2**24 else 0)
    file.write_bytes(b"\xff\xfe\xff")
    assert execution._text(file) == ""
