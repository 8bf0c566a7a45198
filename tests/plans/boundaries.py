"""Where plans of the policy "fast" change: the lengths, and the numbers of rows, at which another kernel begins.

    python -m tests.plans.boundaries    # record them as they are now, after a change that is meant

Recorded plans (:mod:`tests.plans.recorded`) see a threshold only if it passes a length of theirs. Here a search by
halves finds the exact place, so that a threshold that moves by one is seen. Between two problems of the coarse grid one
change is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

from softlab import plans
from softlab.errors import PlanError
from tests.plans.recorded import DEVICES, DTYPES, FUSED, OPS, taken

RECORD = Path(__file__).parents[1] / "data" / "plan_boundaries.json"

#: Both grids: three numbers per two powers of two.
GRID = sorted({round(2 ** (k / 1.5)) for k in range(42)})
#: Columns that move: those of whole packs, and odd ones.
STEPS = ((8, 0), (2, 1))
#: What is fixed while the other one moves.
ROWS, COLS = (1, 9, 70, 132, 700, 5000, 300_000), (6, 40, 200, 1000, 1536, 6000, 24_000, 50_257, 300_000, 4_000_000)
#: What a plan decides, without the numbers that follow from each length.
DECIDED = ("kernel", "pack_size", "block", "name", "thread_group_width", "rows_per_access", "cluster", "cooperative",
           "read_again")  # fmt: skip
MORE: dict[str, dict[str, Any]] = {"alone": {}, **FUSED, "stride 8": {"stride": 8}, "stride 384": {"stride": 384}}


def decided(rows: int, cols: int, arguments: dict[str, Any]) -> str:
    """What the plan decides, as text; the kind of the error where there is none."""
    rows *= arguments.get("stride", 1)
    try:
        plan = plans.forced(rows, cols, policy="fast", lookup=taken, **arguments)
    except (PlanError, ValueError) as error:
        return type(error).__name__
    return str([getattr(plan, name) for name in DECIDED])


def boundaries(decides: Callable[[int], str]) -> list[int]:
    """The numbers at which another decision begins: one per two neighbours of the grid that differ."""
    found, before = [], decides(GRID[0])
    for low, high in pairwise(GRID):
        after = decides(high)
        if after != before:
            least, most = low, high
            while most - least > 1:
                middle = (least + most) // 2
                least, most = (middle, most) if decides(middle) == before else (least, middle)
            found.append(most)
        before = after
    return found


def cells() -> Iterator[tuple[str, Callable[[int], str]]]:
    """(key, what is decided at a number k) of each search."""
    problems = list(product(DTYPES, OPS))
    for number, (name, more) in enumerate(MORE.items()):
        fixed = [*product(STEPS, ROWS), *(((0, 0), cols) for cols in COLS)]
        for turn, ((step, first), value) in enumerate(fixed, 5 * number):
            dtype, op = problems[turn % len(problems)]
            device = list(DEVICES)[turn // 2 % len(DEVICES)]
            given = {"device": DEVICES[device], "dtype": dtype, "op": op, **more}
            what = f"{value} rows of {step}k + {first} columns" if step else f"{value} columns"
            yield f"{name}, {device}, {dtype}, {op}, {what}", partial(of_problem, value, step, first, given)


def of_problem(value: int, step: int, first: int, given: dict[str, Any], at: int) -> str:
    """What is decided of ``value`` rows and ``step * at + first`` columns; with step 0 of ``at`` rows and the columns.

    ``value`` is what does not move.
    """
    return decided(value, step * at + first, given) if step else decided(at, value, given)


def all_boundaries(part: int = 0, parts: int = 1) -> dict[str, list[int]]:
    """Key -> where another decision begins; of ``parts`` parts of the searches that one."""
    return {key: boundaries(decides) for key, decides in islice(cells(), part, None, parts)}


if __name__ == "__main__":
    lines = (f"{json.dumps(key)}: {found}" for key, found in all_boundaries().items())
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
