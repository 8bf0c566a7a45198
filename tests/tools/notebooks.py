"""Notebooks whose stored outputs are the same, byte for byte, whoever executes them.

    python -m tests.tools.notebooks write [paths]   execute and store         (make notebooks)
    python -m tests.tools.notebooks check [paths]   execute and compare       (make check-notebooks)
    python -m tests.tools.notebooks lint [paths]    look only, execute nothing (part of make test)
    python -m tests.tools.notebooks words [paths]   write the links of words, execute nothing

Without paths: every notebook of the course. What would differ from run to run (widget ids, timing, the interpreter's
version), and the estimated times of %%cuda and of cells with the tag ``estimated-times``, which change with the model,
are taken out or made constant;
execution counts stay, since nbval compares nothing where they are missing.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlab.magics import ESTIMATE
from tests.tools.word_links import with_word_links

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
MODEL_ID = "0" * 32
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
#: The tag of a cell whose output nbval compares. The comment that nbval takes, too, becomes one: learners read cells.
CHECKED = "nbval-check-output"
#: The tag of a cell that prints estimated times. They change with the model, so they are not stored.
ESTIMATED = "estimated-times"
CHECKED_COMMENT = "# NBVAL_CHECK_OUTPUT"
#: One cell may take this long (a first compilation with CUB takes 3 s); a cell that hangs fails with its text.
CELL_SECONDS = 300
#: A notebook is read in a diff. Pictures are redrawn by running it.
MOST_BYTES = 400_000
#: Cell metadata that a front end or a run leaves behind and that says nothing about the cell.
RUN_METADATA = ("execution", "trusted", "collapsed", "scrolled", "ExecuteTime")
NOTEBOOK_METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """A copy, run from top to bottom in a new kernel whose working folder is ``folder``.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised; the message has the cell and the traceback.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    fresh = nbformat.from_dict(notebook)
    client = NotebookClient(
        fresh,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        # As `make lab` has it; without it each kernel warns of its plain connection.
        config=Config(KernelManager={"transport_encryption": "auto"}),
    )
    with tempfile.TemporaryDirectory() as state:
        # The kernel's own: a learner who has answered nothing, whatever the user of this machine has.
        return client.execute(env={**os.environ, "XDG_STATE_HOME": state})


def normalised(notebook: NotebookNode) -> NotebookNode:
    """A copy without what differs from run to run and machine to machine."""
    fresh = nbformat.from_dict(notebook)
    fresh.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    seen: set[str] = set()
    for number, cell in enumerate(fresh.cells):
        # An id that is there stays, so that a cell keeps it when others are put before it.
        if not cell.get("id") or cell.id in seen:
            cell.id = next(name for k in range(len(fresh.cells) + 1) if (name := f"cell-{number + k:02d}") not in seen)
        seen.add(cell.id)
        for name in RUN_METADATA:
            cell.metadata.pop(name, None)
        if CHECKED_COMMENT in cell.source.splitlines():
            cell.source = "\n".join(line for line in cell.source.splitlines() if line != CHECKED_COMMENT)
            cell.metadata["tags"] = [*cell.metadata.get("tags", ()), CHECKED]
        if cell.cell_type == "code":
            kept = [] if ESTIMATED in cell.metadata.get("tags", ()) else cell.outputs
            cell.outputs = [output for output in kept if ESTIMATE not in output.get("metadata", {})]
        for output in cell.get("outputs", ()):
            if WIDGET_VIEW in output.get("data", {}):
                output.data[WIDGET_VIEW]["model_id"] = MODEL_ID
    return fresh


def is_checked(cell: NotebookNode) -> bool:
    """Whether nbval compares the cell's output with the stored one."""
    return CHECKED in cell.metadata.get("tags", ())


def read(text: str) -> NotebookNode:
    """The notebook as it is written. (``nbformat.reads`` would give a cell without an id another one each time.)"""
    return nbformat.v4.reads(text)


def text_of(notebook: NotebookNode) -> str:
    """The notebook as it is stored."""
    return nbformat.v4.writes(notebook, indent=1, ensure_ascii=False).rstrip("\n") + "\n"


def problems(path: Path) -> list[str]:
    """What is wrong with a stored notebook, one sentence each; nothing is executed."""
    text = path.read_text(encoding="utf-8")
    notebook = read(text)
    found = []
    try:
        nbformat.validate(normalised(notebook))
    except nbformat.ValidationError as error:
        found.append(f"not a valid notebook: {error.message}")
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) < len(ids):
        found.append("a cell has no id, or the id of another")
    if "widgets" in notebook.metadata:
        found.append("widget state is saved in it")
    if len(text.encode()) > MOST_BYTES:
        found.append(f"{len(text.encode())} bytes, more than {MOST_BYTES}: a figure is stored that should be drawn")
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        found.append(f"not executed once from top to bottom: its execution counts are {counts}")
    if not any(is_checked(cell) for cell in code):
        found.append(f"no cell is compared: give those with fixed output the tag {CHECKED}")
    for cell in code:
        kinds = Counter(output.get("name", output.output_type) for output in cell.outputs)
        if kinds["stderr"] or kinds["error"]:
            found.append(f"cell {cell.id} stores a warning or an error")
        if is_checked(cell) and not cell.outputs:
            found.append(f"cell {cell.id} is marked to be compared and has no output")
    if not found and text != text_of(normalised(notebook)):
        found.append("not in the stored form")
    return found


def write(path: Path) -> list[str]:
    """Execute and store. The file stays as it is when a cell raises, and when nothing changed."""
    stored = path.read_text(encoding="utf-8")
    notebook = normalised(executed(normalised(read(stored)), path.parent))
    if path.parent == NOTEBOOKS:
        with_word_links(notebook)
    text = text_of(notebook)
    if text != stored:
        path.write_text(text, encoding="utf-8")
    return problems(path)


def check(path: Path) -> list[str]:
    """Execute and compare every output with the stored one."""
    stored = path.read_text(encoding="utf-8")
    fresh = text_of(normalised(executed(normalised(read(stored)), path.parent)))
    difference = difflib.unified_diff(stored.splitlines(), fresh.splitlines(), "stored", "executed", n=2, lineterm="")
    return [line if len(line) <= 200 else line[:200] + " ..." for line in difference]


def words(path: Path) -> list[str]:
    """Write the links of words."""
    stored = path.read_text(encoding="utf-8")
    notebook = read(stored)
    with_word_links(notebook)
    if text_of(notebook) != stored:
        path.write_text(text_of(notebook), encoding="utf-8")
    return []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; 1 when a notebook has problems."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=("write", "check", "lint", "words"))
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (default: all of the course)")
    options = parser.parse_args(arguments)
    command = {"write": write, "check": check, "lint": problems, "words": words}[options.command]
    failed = 0
    for path in options.paths or sorted(NOTEBOOKS.glob("*.ipynb")):
        start = time.perf_counter()
        try:
            found = command(path)
        except (CellExecutionError, CellTimeoutError) as error:
            found = [str(error)]
        print(f"{'FAILED' if found else 'ok':6} {path.name} ({time.perf_counter() - start:.1f} s)", *found, sep="\n  ")
        failed += bool(found)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
