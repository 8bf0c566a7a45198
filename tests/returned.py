"""What the functions of some modules return while other code runs, as digests: no result changes unseen.

A wrong share or a wrong count often changes no plan and no sentence of those that a test asks for. Here it is seen
where it is returned. A digest says nothing of what is right: other tests do. It says which function returns something
else than before a change that was meant to change nothing.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
#: How deep records lie in records.
DEPTH = 4


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
    """Forget kept results, so that each function runs here whatever ran before."""
    for module in list(sys.modules.values()):
        if (getattr(module, "__file__", None) or "").startswith(places):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


@contextmanager
def returned(*folders: str) -> Iterator[dict[str, set[str]]]:
    """Collect what functions in these files or folders return: name of the function -> its results as texts."""
    places = tuple(str(ROOT / folder) for folder in folders)
    _forget(places)
    found: dict[str, set[str]] = {}
    names: dict[Any, str] = {}

    def name_of(code: Any) -> str:
        own = "<" not in code.co_name and code.co_filename.startswith(places)
        return f"{Path(code.co_filename).relative_to(ROOT).as_posix()} {code.co_qualname}" if own else ""

    def note(frame: FrameType, event: str, result: Any) -> None:
        if event != "return":
            return
        code = frame.f_code
        if (name := names.get(code)) is None:
            name = names[code] = name_of(code)
        # A generator that is closed returns None, whenever the garbage collector comes.
        if name and not (result is None and code.co_flags & inspect.CO_GENERATOR):
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
        name: hashlib.sha256("\n".join(sorted(results)).encode()).hexdigest()[:8]
        for name, results in sorted(found.items())
    }


def changed(record: Path, key: str, now: dict[str, str]) -> str:
    """What a test says of functions that return something else than recorded; nothing where none does."""
    recorded = json.loads(record.read_text())[key]
    names = sorted(name for name in now.keys() | recorded.keys() if now.get(name) != recorded.get(name))
    return f"{len(names)} functions return something else, or are new or no more: {names[:8]}" if names else ""
