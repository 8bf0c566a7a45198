"""A lesson executed in this process, so that the explorers that it shows are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softlab.errors import Error

#: The type of an output that stands for an object: its number in ``Shown.objects``.
OBJECT = "application/x-softlab-object"


@dataclass(frozen=True)
class LessonCell:
    """A cell: its kind ("markdown", "code"), source, whether the source is hidden at first, and its outputs: type ->
    data each."""

    kind: str
    source: str
    hidden: bool = False
    outputs: tuple[dict[str, Any], ...] = ()


@dataclass
class Executed:
    """A lesson after its run. objects: the explorers, predictions and pictures that it showed, each with its state."""

    cells: list[LessonCell] = field(default_factory=list)
    objects: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)


def executed(notebook: Path) -> Executed:
    """Run a notebook from top to bottom.

    Raises:
        Error: a cell raised.
    """
    content = json.loads(notebook.read_text(encoding="utf-8"))
    made = Executed()
    with _folder(notebook.parent), _shell(made) as shell:
        for cell in content["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "code":
                made.cells.append(LessonCell("markdown", source))
                continue
            hidden = bool(cell["metadata"].get("jupyter", {}).get("source_hidden"))
            made.cells.append(LessonCell("code", source, hidden, tuple(_outputs(shell, source, notebook.name))))
    return made


def _outputs(shell: Any, source: str, name: str) -> Iterator[dict[str, Any]]:
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        result = shell.run_cell(source, store_history=False)
    if not result.success:
        raise Error(f"{name}: a cell raised {result.error_in_exec or result.error_before_exec!r}:\n{source}")
    # As in a notebook: what was printed, then what was shown.
    if captured.stdout:
        yield {"text/plain": captured.stdout}
    for output in captured.outputs:
        yield dict(output.data)


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _shell(made: Executed) -> Iterator[Any]:
    """IPython with nobody's settings. What a cell shows of ours goes to ``made.objects``."""
    from anywidget import AnyWidget
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.display import publish_display_data
    from traitlets.config import Config

    from softlab.explorers.explorer import Explorer
    from softlab.explorers.questions import Prediction, Verdict
    from softlab.site.stores import start_of

    class Shown(DisplayHook):
        """The value of a cell's last line is shown as if by ``display``."""

        def __call__(self, result: Any = None) -> None:
            if result is not None:
                data, metadata = shell.display_formatter.format(result)
                publish_display_data(data, metadata)

    config = Config()
    config.HistoryManager.enabled = False
    shell: Any = InteractiveShell(config=config, displayhook_class=Shown)
    InteractiveShell._instance = shell  # type: ignore[assignment]

    def kept(shown: Any, **options: Any) -> dict[str, Any]:
        state = start_of(shown)
        if isinstance(shown, Explorer):
            shown._repr_mimebundle_()  # as in a notebook, it notes that it was displayed
        made.objects.append((shown, state))
        return {OBJECT: len(made.objects) - 1}

    bundles = shell.display_formatter.mimebundle_formatter
    for cls in (Explorer, AnyWidget, Verdict, Prediction):
        bundles.for_type(cls, kept)
    try:
        yield shell
    finally:
        InteractiveShell.clear_instance()
