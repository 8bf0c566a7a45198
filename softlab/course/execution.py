"""The cells of a submission, run in a kernel, a folder and an environment of their own.

A submission finds an empty folder as its working directory and as its home. So it cannot shadow a module for another
one, and what it writes by relative paths is gone when it ends. It still runs with the rights of whoever grades it.
"""

from __future__ import annotations

import logging
import os
import site
import tempfile
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async, run_sync
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from softlab.course.confinement import Confinement
from softlab.course.learners import Progress
from softlab.cuda.compile import cache_folder

#: How long an interrupted cell may take to end before its kernel is killed.
_GRACE_SECONDS = 5
#: Kernels per submission: each cell that blocks or kills one costs another run of the cells before it.
_MOST_KERNELS = 4
_LONGEST_PROBLEM = 300
#: The longest file of answers that is read.
_MOST_BYTES = 1 << 24
#: Folders that programs take from the environment, each empty for a submission.
_FOLDERS = ("HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR")
_LOG = logging.Logger("softlab.course.execution", logging.CRITICAL)


@dataclass(frozen=True)
class Execution:
    """What a submission's kernel stored as its progress, and the first problem; "" for none.

    answers: what it wrote for :func:`softlab.course.answering.handed_over`, "" for nothing.
    """

    progress: Progress
    problem: str = ""
    answers: str = ""


def execute(cells: Sequence[str], seconds: int, confinement: Confinement | None = None) -> Execution:
    """Run the cells in order, whatever they raise. confinement: what their kernels may use; None: no limit.

    A cell that takes longer than ``seconds`` is interrupted, and the next one runs. If that does not help, or the
    kernel dies, the other cells run again in a new kernel.
    """
    problems: list[str] = []
    fatal: set[int] = set()
    # What a killed kernel still writes must not stop the clean-up.
    with tempfile.TemporaryDirectory(prefix="softlab-grade-", ignore_cleanup_errors=True) as root:
        environment = _environment(Path(root))
        for attempt in range(_MOST_KERNELS):
            work = Path(root) / f"work{attempt}"
            work.mkdir()
            kernels = _Kernels.confined(confinement or Confinement(), Path(root), attempt)
            found = _run(cells, fatal, seconds, work, environment, problems, kernels)
            if found is None:
                break
            fatal.add(found)
        with warnings.catch_warnings():  # odd contents are the submission's
            warnings.simplefilter("ignore")
            stored = Path(root) / "XDG_STATE_HOME" / "softlab"
            progress = Progress.load(stored / "progress.json")
            answers = _text(stored / "answers.json")
    return Execution(progress, problems[0] if problems else "", answers)


def _text(path: Path) -> str:
    """The text of a submission's file; "" where there is none, or it is too long or odd."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _environment(root: Path) -> dict[str, str]:
    """The grader's environment with folders of the submission's own, and the grader's compiled kernels."""
    own = {name: root / name for name in _FOLDERS}
    for folder in own.values():
        folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONSTARTUP", "IPYTHONSTARTUP")}
    packages = {"PYTHONUSERBASE": site.getuserbase(), "XDG_CACHE_HOME": str(cache_folder().parent)}
    return {**kept, **packages, **{name: str(folder) for name, folder in own.items()}}


class _Kernels(AsyncKernelManager):
    """Starts a kernel behind the command of a confinement."""

    settings: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def confined(cls, confinement: Confinement, root: Path, number: int) -> type[_Kernels]:
        """A class whose kernels are confined. In a sandbox they have no network, and are reached by sockets."""
        settings: dict[str, Any] = {"command": confinement.command(root)}
        if confinement.sandbox:
            settings |= {"connection_file": str(root / f"kernel{number}.json"), "transport": "ipc"}
        return type("_Confined", (cls,), {"settings": settings})

    def __init__(self, *args: Any, **options: Any) -> None:
        own = {name: value for name, value in self.settings.items() if name != "command"}
        super().__init__(*args, **{**options, **own})
        if own and self.kernel_spec is not None:
            # bubblewrap would end by the signal.
            self.kernel_spec.interrupt_mode = "message"

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """The command of the confinement, then that of the kernel."""
        return [*self.settings.get("command", ()), *super().format_kernel_cmd(extra_arguments)]


class _Client(NotebookClient):
    """A client that keeps the first line of each error and no output: a cell may print without end."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.errors: list[str] = []

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> None:
        """Take note of an error, and of the end of the cell."""
        content = msg["content"]
        if msg["msg_type"] == "error" and not self.errors:
            text = f"cell {cell_index + 1}: {content.get('ename')}: {content.get('evalue')}"
            self.errors.append(text[:_LONGEST_PROBLEM].splitlines()[0])
        if msg["msg_type"] == "status" and content["execution_state"] == "idle":
            raise CellExecutionComplete()


def _run(
    cells: Sequence[str],
    left_out: Collection[int],
    seconds: int,
    folder: Path,
    environment: Mapping[str, str],
    problems: list[str],
    kernels: type[_Kernels] = _Kernels,
) -> int | None:
    """Run the cells in one kernel. Returns the index of a cell after which the kernel was of no more use."""
    client = _Client(
        new_notebook(cells=[new_code_cell(source) for source in cells]),
        kernel_name="python3",
        kernel_manager_class=kernels,
        timeout=seconds,
        allow_errors=True,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(folder)}},
        config=Config(KernelManager={"transport_encryption": "auto"}),
        log=_LOG,
    )
    with client.setup_kernel(env=dict(environment)):
        for index, cell in enumerate(client.nb.cells):
            if index in left_out:
                continue
            try:
                client.execute_cell(cell, index)
            except CellTimeoutError:
                problems.append(f"a cell took more than {seconds} s")
                if not _interrupted(client, seconds):
                    return index
            except DeadKernelError:
                problems.append("its kernel died")
                return index
            problems += client.errors
            client.errors.clear()
    return None


def _interrupted(client: _Client, seconds: int) -> bool:
    """Interrupt the running cell; whether the kernel takes the next one soon after."""
    if client.km is None:
        return False
    run_sync(ensure_async)(client.km.interrupt_kernel())
    client.timeout = _GRACE_SECONDS
    try:
        client.execute_cell(new_code_cell("pass"), 0)
    except (CellTimeoutError, DeadKernelError):
        return False
    finally:
        client.timeout = seconds
        client.errors.clear()
    return True
