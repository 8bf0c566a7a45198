"""The explorers as an app without code. The page is ``explore.ipynb``; this module makes the command that serves it."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from softlab.errors import Error

_HERE = Path(__file__).parent
PAGE = _HERE / "explore.ipynb"
#: Extensions of JupyterLab: C++ colours for the CUDA cells.
LAB_EXTENSIONS = _HERE / "jupyter" / "labextensions"


def command(rest: Sequence[str] = ()) -> list[str]:
    """The command that serves the page on 127.0.0.1, with a new token that it prints. ``rest``: more options for Voilà.

    Raises:
        Error: Voilà is not installed.
    """
    if importlib.util.find_spec("voila") is None:
        raise Error("the app needs Voilà, which is not installed: pip install 'softlab[lab]'")
    made = [sys.executable, "-m", "voila", str(PAGE), "--Voila.ip=127.0.0.1", "--template=softlab"]
    if not any(option.startswith(("--token", "--Voila.token")) for option in rest):
        made.append("--token")
    made.append("--KernelManager.transport_encryption=auto")  # as ``softlab lab`` has it
    return [*made, *(option for option in rest if option != "--")]


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for :func:`command`: Voilà then finds softlab's template as well as those of the machine."""
    given = os.environ if given is None else given
    folders = [str(_HERE / "jupyter"), *filter(None, [given.get("JUPYTER_PATH")])]
    return {**given, "JUPYTER_PATH": os.pathsep.join(folders)}
