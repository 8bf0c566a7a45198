"""What each function returns while plans are made, as digests.

    python -m tests.plans.returned_plans    # record it as it is now, after a change that is meant

See :mod:`tests.returned`. Unlike the recorded plans these have the words of each step, too.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.plans import numbers
from tests.plans.recorded import cells, columns, plan_of
from tests.returned import digests, returned

RECORD = Path(__file__).parents[1] / "data" / "returned_plans.json"
FOLDERS = ("softlab/plans", "softlab/hardware/occupancies.py")
#: Of the recorded plans, one list in so many.
EVERY = 40


def _plans(part: int) -> None:
    for number, (_, rows, arguments) in list(enumerate(cells()))[part::EVERY]:
        for cols in columns(number, arguments):
            plan_of(rows, cols, arguments)


def _all_of(make: Callable) -> None:
    deque(make(), maxlen=0)


#: What runs: name -> a function.
WORK: dict[str, Callable[[], None]] = {
    make.__name__: partial(_all_of, make)
    for make in (numbers.rings, numbers.short, numbers.strips, numbers.fused, numbers.occupied)
}
WORK |= {f"plans {part}": partial(_plans, part) for part in (0, 17)}


def results(name: str) -> dict[str, str]:
    """Function -> a digest of what it returns while this runs."""
    with returned(*FOLDERS) as found:
        WORK[name]()
    return digests(found)


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: results(name) for name in WORK}, indent=0) + "\n")
