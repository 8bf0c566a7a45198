"""Files that come with softlab and are no Python: the kernels, the lessons, the glossary, the documents.

In a checkout they lie beside the package, in an installed softlab in its folder ``share``.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from softlab.errors import Error


@lru_cache(maxsize=64)
def shipped(name: str) -> Path:
    """A file or folder of softlab by its path in the checkout, such as ``kernels`` or ``GLOSSARY.md``.

    Raises:
        Error: this installation does not have it.
    """
    package = Path(str(files("softlab"))).resolve()
    for folder in (package / "share", package.parent):
        if (folder / name).exists():
            return folder / name
    raise Error(f"{name} is missing: it is neither beside {package} nor in its folder share. Reinstall softlab.")
