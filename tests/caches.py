"""What functions of a package keep of their results, and how many: a cache without a bound grows for ever.

A function that lost its cache gives the same results, later. One with another bound does so too, until a program asks
for one more problem than fit. No result shows it, so the tests ask the functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import softlab

ROOT = Path(softlab.__file__).parents[1]


def bounds(*paths: str) -> dict[str, int | None]:
    """ "module.function" -> the most results that it keeps, None for any number, for these files and folders."""
    files = [ROOT / path for path in paths if path.endswith(".py")]
    files += sorted(file for path in paths if not path.endswith(".py") for file in (ROOT / path).rglob("*.py"))
    found: dict[str, int | None] = {}
    for file in files:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        for own, function in _functions(module):
            found[f"{name.removeprefix('softlab.')}.{own}"] = function.cache_parameters()["maxsize"]
    return found


def _functions(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a module that keep results, and the methods that do, with their names in it."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if hasattr(value, "cache_parameters"):
            yield name, value
        elif isinstance(value, type):
            kept = ((own, one) for own, one in vars(value).items() if hasattr(one, "cache_parameters")
                    and one.__qualname__.startswith(f"{name}."))  # fmt: skip
            yield from ((f"{name}.{own}", one) for own, one in kept)
