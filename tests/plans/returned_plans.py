"""What each function returns while plans are made: see :mod:`tests.returned`.

Unlike the recorded plans these have the words of each step, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.plans import numbers
from tests.plans.recorded import cells, columns, plan_of
from tests.returned import Recorded

#: Every fortieth list of the recorded plans is taken.
EVERY = 40


def _plans(part: int) -> None:
    for number, (_, rows, arguments) in list(enumerate(cells()))[part::EVERY]:
        for cols in columns(number, arguments):
            plan_of(rows, cols, arguments)


def _all_of(make: Callable) -> None:
    deque(make(), maxlen=0)


_WORK: dict[str, Callable[[], None]] = {
    make.__name__: partial(_all_of, make)
    for make in (
        numbers.rings,
        numbers.short,
        numbers.strips,
        numbers.fused,
        numbers.occupied,
        numbers.invented,
    )
}
_WORK |= {f"plans {part}": partial(_plans, part) for part in (0, 17)}
RECORDED = Recorded(
    ("softlab/plans", "softlab/hardware/occupancies.py"), _WORK,
    Path(__file__).parents[1] / "data" / "returned_plans.json",
)  # fmt: skip
