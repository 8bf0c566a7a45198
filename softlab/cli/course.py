"""The course: JupyterLab on the notebooks, the explorers as an app, a learner's progress, a class graded."""

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
from softlab.cli.output import print_json, print_table
from softlab.cli.registry import command, json_option, rest_option
from softlab.errors import Error

FIRST_NOTEBOOK = "00-start-here.ipynb"


def _lab_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--notebook", default=FIRST_NOTEBOOK, help=f"the one to open first (default: {FIRST_NOTEBOOK})")
    rest_option(parser)


@command("lab", "JupyterLab on the tutorials (127.0.0.1, token on).", _lab_arguments)
def _lab(options: argparse.Namespace) -> int:
    folder = notebook_folder()
    return _served(lab_command(folder.parent, f"{folder.name}/{options.notebook}", options.rest))


@command("explore", "The explorers without code, as a page in the browser (127.0.0.1, token on).", rest_option)
def _explore(options: argparse.Namespace) -> int:
    from softlab import app

    return _served(app.command(options.rest), app.environment())


def _served(server: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a server until it ends. Ctrl-C is its to answer: it shuts its kernels down. Without this, call() would kill
    it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(list(server), env=environment)
    finally:
        signal.signal(signal.SIGINT, before)


def _progress_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--export", metavar="FILE", help="write it as JSON, for a teacher; - is standard output")
    parser.add_argument("--reset", action="store_true", help="forget all answers that are stored on this machine")


@command("progress", "Which exercises of the course are solved on this machine.", _progress_arguments)
def _progress(options: argparse.Namespace) -> int:
    from softlab import course

    if options.reset:
        course.reset()
    learner, seen = course.Progress.load(), course.progress()
    if options.export:
        record = {"softlab": softlab.__version__, "right": seen.whole.done, "of": seen.whole.of, **learner.record()}
        if options.export == "-":
            return print_json(record)
        try:
            Path(options.export).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise Error(f"{options.export} cannot be written: {error.strerror}") from None
        print(f"{options.export}: {seen.whole.done} of {seen.whole.of} exercises solved")
        return 0
    rows = [(bar.name, bar.done, bar.of) for bar in (*seen.bars, seen.whole)]
    print_table("Exercises", ("lesson", "solved", "of"), rows)
    return 0


def _grade_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="the submitted notebooks, in this folder and those below it")
    parser.add_argument("--csv", metavar="FILE", help="write the result there, a line for each notebook")
    parser.add_argument("--seconds", type=int, default=120, help="the most that one cell may take (default: 120)")
    json_option(parser)


@command("grade", "Run submitted notebooks here, without a GPU, and say which exercises are right.", _grade_arguments)
def _grade(options: argparse.Namespace) -> int:
    from softlab.course import grading

    try:
        shipped = notebook_folder()
    except ValueError:
        shipped = None
    found = []
    for path in grading.notebooks(options.folder):
        found.append(grading.graded(path, options.folder, shipped=shipped, seconds=options.seconds))
        print(f"{found[-1].file}: {found[-1].sentence}", file=sys.stderr)
    if options.csv:
        try:
            with open(options.csv, "w", newline="", encoding="utf-8") as stream:
                grading.write_csv(found, stream)
        except OSError as error:
            raise Error(f"{options.csv} cannot be written: {error.strerror}") from None
    if options.json:
        return print_json([vars(submission) for submission in found])
    if not options.csv:
        grading.write_csv(found, sys.stdout)
    return 0


def notebook_folder() -> Path:
    """The tutorials: in the current folder, or of the checkout that softlab runs from.

    Raises:
        ValueError: neither has them.
    """
    for folder in (Path.cwd() / "notebooks", Path(softlab.__file__).resolve().parents[1] / "notebooks"):
        if folder.is_dir():
            return folder
    raise ValueError(f"no folder 'notebooks' in {Path.cwd()}: run it in a checkout of softlab")


def lab_command(root: Path, notebook: str, rest: Sequence[str]) -> list[str]:
    """The command that starts JupyterLab there, as ``make lab`` does. notebook: its path below ``root``.

    The root is the checkout, not its notebooks: their links to the kernels lead somewhere.
    """
    made = [sys.executable, "-m", "jupyterlab", str(root), "--ServerApp.ip=127.0.0.1"]
    made += [f"--LabApp.default_url=/lab/tree/{notebook}"]
    # Kernels are talked to over TCP; where they can, in cipher, and without a warning about it for each kernel.
    made += ["--KernelManager.transport_encryption=auto"]
    if os.name == "posix" and os.getuid() == 0:  # JupyterLab refuses to run as root unless told
        made += ["--allow-root"]
    return [*made, *(option for option in rest if option != "--")]
