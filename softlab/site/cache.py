"""What a build made before, kept as long as the code and the kernels are the same."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from softlab.cuda.compile import kernel_folder

T = TypeVar("T")
_KINDS = {".py", ".js", ".css", ".json", ".npz", ".cu", ".cuh"}
#: Files of this package that decide what a store holds, and those that decide what a lesson's page says.
STATES = ("grids.py", "packing.py", "scenes.py", "stores.py", "sweeps.py")
PAGES = (*STATES, "answers.py", "course_pages.py", "lessons.py", "links.py")


@dataclass(frozen=True)
class Cache:
    """Results in files of a folder. folder: None keeps nothing."""

    folder: Path | None = None

    def of(self, what: Any, by: tuple[str, ...], make: Callable[[], T]) -> T:
        """What ``make`` gives for ``what``, from the folder if it is there. by: files of this package that it uses."""
        if self.folder is None:
            return make()
        name = hashlib.sha256(repr((what, code_digest(by))).encode()).hexdigest()[:24]
        path = self.folder / f"{name}.pickle"
        if path.is_file():
            found: T = pickle.loads(path.read_bytes())
            return found
        made = make()
        self.folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(made))
        part.replace(path)
        return made


@lru_cache(maxsize=4)
def code_digest(by: tuple[str, ...]) -> str:
    """The digest of all that a lesson or an explorer runs: softlab and its kernels, and of this package ``by``."""
    package, here = Path(str(files("softlab"))), Path(__file__).parent
    paths = [path for path in package.rglob("*") if here not in path.parents] + [here / name for name in by]
    found = hashlib.sha256()
    for path in (*sorted(paths), *sorted(kernel_folder().rglob("*"))):
        if path.suffix in _KINDS and path.is_file():
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
