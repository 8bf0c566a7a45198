"""What each function returns while operators run on NumPy arrays: see :mod:`tests.returned`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.returned import Recorded, of_tests

#: Quick tests that need no optional package.
_FILES = ("fast_paths", "functors", "array_models", "rows", "recipes", "executors",
          "estimates", "broadcast_layout")  # fmt: skip
RECORDED = Recorded(
    ("softlab/operators",),
    {name: partial(of_tests, f"tests/operators/test_{name}.py") for name in _FILES}
    | {"prepared": partial(of_tests, "tests/operators/test_prepared.py", "not general_path and not threads")},
    Path(__file__).parents[1] / "data" / "returned_operators.json",
)
