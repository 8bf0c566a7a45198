"""The course: JupyterLab on the notebooks, the explorers as an app, a learner's progress, the grades of a class."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import softlab
from softlab.app import LAB_EXTENSIONS
from softlab.cli.output import print_json, print_table
from softlab.cli.registry import command, rest_option
from softlab.errors import Error
from softlab.shipped import shipped

FIRST_NOTEBOOK = "0-first-kernel.ipynb"


def _lab_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--notebook", default=FIRST_NOTEBOOK, help=f"opens first: a file or a number, 3 (default: {FIRST_NOTEBOOK})"
    )
    parser.add_argument(
        "--folder", type=Path, help="your copies of the lessons (default: softlab-course in the current folder)"
    )
    parser.add_argument("--copy-only", action="store_true", help="write or update your copies, and start nothing")
    rest_option(parser)


@command("lab", "Start JupyterLab on your copies of the lessons (127.0.0.1, with a token).", _lab_arguments)
def _lab(options: argparse.Namespace) -> int:
    from softlab.course import copies

    lessons = shipped("notebooks")
    notebook = _notebook_named(options.notebook, lessons)
    folder = options.folder or copies.learners_folder(Path.cwd())
    changes = copies.update(folder, lessons)
    for change in changes:
        if change.kind != "new":
            print(change)
    print(f"Your copies of the lessons are in {folder}. softlab updates them and keeps what you change.", flush=True)
    return 0 if options.copy_only else served(lab_command(folder, notebook, options.rest))


def _notebook_named(name: str, folder: Path) -> str:
    """The file that ``--notebook`` means: a name, or the number of a lesson. A name that a lesson had earlier counts.

    Raises:
        ValueError: there is no such lesson.
    """
    names = sorted(path.name for path in folder.glob("*.ipynb"))
    if name in names:
        return name
    number = name.partition("-")[0] if name.endswith(".ipynb") else name
    for found in names:
        if number.isdigit() and found.partition("-")[0] in (number, number.zfill(2)):
            return found
    raise ValueError(f"--notebook {name}: no such file in {folder}. There are {', '.join(names) or 'none'}")


@command("explore", "Open the explorers without code, as a page in the browser (127.0.0.1, with a token).", rest_option)
def _explore(options: argparse.Namespace) -> int:
    from softlab import app

    return served(app.command(options.rest), app.environment())


def served(server: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a server until it ends, and return its exit status.

    The server ends its own kernels when it gets a signal, so that this process must outlive it. A terminal sends Ctrl-C
    to both processes. SIGTERM reaches this one alone, which hands it on.
    """
    process = subprocess.Popen(list(server), env=environment)
    handlers = {signal.SIGINT: lambda *_: None, signal.SIGTERM: lambda *_: process.terminate()}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _progress_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--export", metavar="FILE", help="write it as JSON, for a teacher; - is standard output")
    parser.add_argument("--reset", action="store_true", help="forget all answers that are stored on this machine")
    parser.add_argument("--yes", action="store_true", help="with --reset: do not ask")


@command("progress", "Show which exercises of the course are solved on this machine.", _progress_arguments)
def _progress(options: argparse.Namespace) -> int:
    from softlab import course

    if options.reset and not _reset(options.yes):
        return 1
    learner, seen = course.Progress.load(), course.progress()
    if not options.export:
        print_table("Exercises", ("lesson", "solved", "of"), [(b.name, b.done, b.of) for b in (*seen.bars, seen.whole)])
        return 0
    record = {"softlab": softlab.__version__, "right": seen.whole.done, "of": seen.whole.of, **learner.record()}
    if options.export == "-":
        return print_json(record)
    try:
        Path(options.export).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise Error(f"{options.export} cannot be written: {error.strerror}") from None
    print(f"{options.export}: {seen.whole.done} of {seen.whole.of} exercises solved")
    return 0


def _reset(yes: bool) -> bool:
    """Forget the progress, after a question unless ``yes``; whether it was forgotten."""
    from softlab import course

    if not yes:
        solved = course.progress().whole
        print(f"This deletes {course.progress_file()}: {solved.done} of {solved.of} exercises are solved.")
        try:
            answer = input("Delete it? [y/N] ")
        except EOFError:
            raise ValueError("--reset asks first, and nothing can answer here: add --yes") from None
        if answer.strip().lower() not in ("y", "yes"):
            print("Nothing was deleted.")
            return False
    course.reset()
    return True


def lab_command(root: Path, notebook: str, rest: Sequence[str]) -> list[str]:
    """The command that starts JupyterLab there, as ``make lab`` does. notebook: its path below ``root``.

    The root is the learner's folder (``softlab.course.copies``), so that its file browser shows the lessons alone.
    """
    made = [sys.executable, "-m", "jupyterlab", str(root), "--ServerApp.ip=127.0.0.1"]
    made += [f"--LabApp.default_url=/lab/tree/{notebook}"]
    made += [f"--LabApp.extra_labextensions_path={LAB_EXTENSIONS}"]
    # Kernels are reached over TCP: encrypted where they can be, and without a warning for each kernel.
    made += ["--KernelManager.transport_encryption=auto"]
    if os.name == "posix" and os.getuid() == 0:  # JupyterLab refuses to run as root unless told
        made += ["--allow-root"]
    return [*made, *(option for option in rest if option != "--")]
