"""What the functions of some modules return while other code runs, as digests: no result changes unseen.

    python -m tests.returned             # record all as they are now, after a change that is meant

A wrong share or a wrong count often changes no plan and no sentence of those that a test asks for. Here it is seen
where it is returned. A digest says nothing of what is right: other tests do. It says which function returns something
else than before a change that was meant to change nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
#: How deep records lie in records.
DEPTH = 4
#: In place of a digest: the function does not return the same each time, such as a time or a folder; it does not run.
VARIES, NOT_RUN = "varies", "-"
#: The name of a record -> the module that has it.
RECORDS = {
    "plans": "tests.plans.returned_plans",
}


def text(value: Any, depth: int = DEPTH) -> str:
    """A result as text: floats to six digits, records by their fields, and of other objects the type alone.

    Of numbers with fewer than 53 bits only the kind counts, because their last bits differ between processors.
    """
    if value is None or isinstance(value, bool | int | str | bytes):
        return repr(value)
    if isinstance(value, float):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray | np.generic):
        return _of_array(np.asarray(value))
    if depth and isinstance(value, tuple | list):
        return f"[{', '.join(text(one, depth - 1) for one in value)}]"
    if depth and isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{text(k, depth - 1)}: {text(v, depth - 1)}' for k, v in value.items()))}}}"
    if depth and isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(text(one, depth - 1) for one in value))}}}"
    if depth and is_dataclass(value) and not isinstance(value, type):
        own = (text(getattr(value, field.name, None), depth - 1) for field in fields(value))
        return f"{type(value).__name__}({', '.join(own)})"
    return type(value).__name__


def _of_array(array: np.ndarray) -> str:
    what = f"{array.dtype} {array.shape} "
    if array.dtype.kind in "biu":
        return what + hashlib.sha256(array.tobytes()).hexdigest()
    if array.dtype == np.float64:
        return what + ",".join(f"{number:.6g}" for number in array.reshape(-1).tolist())
    if array.dtype.kind == "f":
        kinds = np.where(np.isnan(array), 2, np.sign(array, where=~np.isnan(array), out=np.zeros_like(array)))
        return what + hashlib.sha256(kinds.astype(np.int8).tobytes()).hexdigest()
    return what


def _forget(places: tuple[str, ...]) -> None:
    """Forget kept results, so that each function runs here whatever ran before.

    Not those of modules that compile: NumPy points to machine code that they keep.
    """
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(places) and not Path(file).name.startswith("native"):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


@contextmanager
def returned(*folders: str) -> Iterator[dict[str, set[str]]]:
    """Collect what functions in these files or folders return: name of the function -> its results as texts."""
    places = tuple(str(ROOT / folder) for folder in folders)
    _forget(places)
    found: dict[str, set[str]] = {}
    names: dict[CodeType, str] = {}

    def name_of(code: CodeType) -> str:
        # The body of a class seems to be a function that runs at import; it has no fast locals.
        function = "<" not in code.co_name and code.co_flags & inspect.CO_OPTIMIZED
        own = function and code.co_filename.startswith(places)
        return f"{Path(code.co_filename).relative_to(ROOT).as_posix()} {code.co_qualname}" if own else ""

    def note(frame: FrameType, event: str, result: Any) -> None:
        # A function that raises seems to return None, and so does a generator when it is closed, whenever that is.
        if event != "return" or result is None:
            return
        if (name := names.get(code := frame.f_code)) is None:
            name = names[code] = name_of(code)
        if name:
            found.setdefault(name, set()).add(text(result))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def digests(found: dict[str, set[str]]) -> dict[str, str]:
    """Name -> a digest of its results."""
    return {
        name: hashlib.sha256("\n".join(sorted(results)).encode()).hexdigest()[:6]
        for name, results in sorted(found.items())
    }


@dataclass(frozen=True)
class Recorded:
    """Files or folders whose functions are seen, what runs (name -> function), and where the digests are kept."""

    folders: tuple[str, ...]
    work: Mapping[str, Callable[[], object]]
    path: Path

    def results(self, name: str) -> dict[str, str]:
        """Function -> a digest of what it returns while this runs."""
        with returned(*self.folders) as found:
            self.work[name]()
        return digests(found)

    def write(self, kept: Mapping[str, Mapping[str, str]]) -> None:
        """Keep the digests: one line per function, with one digest for each of what runs."""
        names = sorted(set().union(*kept.values()))
        rows = {one: " ".join(found.get(one, NOT_RUN) for found in kept.values()) for one in names}
        self.path.write_text(json.dumps({"work": [*kept], "functions": rows}, indent=0) + "\n")

    def read(self) -> dict[str, dict[str, str]]:
        """Name of what runs -> function -> digest."""
        record = json.loads(self.path.read_text())
        rows = {one: row.split(" ") for one, row in record["functions"].items()}
        return {
            work: {one: row[number] for one, row in rows.items() if row[number] != NOT_RUN}
            for number, work in enumerate(record["work"])
        }

    def changed(self, name: str) -> str:
        """What a test says of functions that return something else than recorded; nothing where none does."""
        recorded, now = self.read()[name], self.results(name)
        # A function that is new is seen from the next record on.
        names = [one for one, digest in sorted(recorded.items()) if digest not in (VARIES, now.get(one))]
        if not names:
            return ""
        return (
            f"{len(names)} functions return something else, or do not run: {names[:8]}. "
            "`python -m tests.returned` records them anew, after a change that is meant."
        )


def _record(name: str) -> None:
    """Write the digests of two processes where they agree; what differs from run to run varies.

    A function that runs in one of them alone runs once per process, and varies wherever it runs.
    """
    answers = []
    for how in ("cold", "warm"):
        command = [sys.executable, "-m", "tests.returned", name, how]
        run = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": str(len(answers))},
                             capture_output=True, check=True)  # fmt: skip
        answers.append(json.loads(run.stdout))
    first, second = answers
    once = {one for work in first for one in first[work].keys() ^ second[work].keys()}
    kept = {
        work: {
            one: VARIES if one in once or found.get(one) != second[work].get(one) else found[one]
            for one in sorted(found.keys() | second[work].keys())
        }
        for work, found in first.items()
    }
    recorded_of(name).write(kept)


def _now(name: str, how: str) -> None:
    """Print the digests as they are now; with "warm", after all that runs has run once, in the other order.

    What an object keeps is then there already, as it may be where other tests ran before.
    """
    found, names = recorded_of(name), list(recorded_of(name).work)
    if how == "warm":
        names.reverse()
        for work in names:
            found.work[work]()
    print(json.dumps({work: found.results(work) for work in names}))


def recorded_of(name: str) -> Recorded:
    """The record of that name."""
    return importlib.import_module(RECORDS[name]).RECORDED


def main(arguments: list[str]) -> None:
    """Record all or one; with "cold" or "warm" print the digests."""
    if len(arguments) > 1:
        _now(*arguments)
        return
    for name in arguments or RECORDS:
        _record(name)


if __name__ == "__main__":
    main(sys.argv[1:])
