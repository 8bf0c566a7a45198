"""Recorded results, and what they show of the kernels and of the claims about them.

Lessons use these modules: ``recordings`` (read a recording), ``claims`` (the claims and their verdicts), ``caches``,
``fusing`` and ``ladder`` (one recording each), ``claims_seen`` and ``predictions`` (the timing model beside
recordings), ``live`` (measure here); and the names in ``_EXPORTS``. What needs a GPU to run is in
``softlab.bench.record``: ``live`` and the recorders.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Name -> module.
_MODULES = {
    name: name for name in ("caches", "claims", "claims_seen", "fusing", "ladder", "predictions", "recordings")
} | {"live": "record.live"}
#: Name -> module of this package.
_EXPORTS = {"LAYOUT_COLS": "cases", "PACK_COLS": "cases", "rows_of": "cases", "select": "recordings"}

__all__ = [*_MODULES, *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"softlab.bench.{_MODULES[name]}")
    if name not in _EXPORTS:
        raise AttributeError(f"module 'softlab.bench' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"softlab.bench.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
