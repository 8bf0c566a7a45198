"""Parameter sweeps: one function over many cases, in this process, in several, or on a cluster.

joblib runs them, so that ``joblib.parallel_config`` decides where: ``parallel_config(n_jobs=-1)`` for all cores,
``parallel_config(backend="dask")`` with a ``dask.distributed.Client`` for a cluster. The functions are plain, their
arguments and results are plain data or softlab's records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np

from softlab.hardware.devices import Device, resolve
from softlab.plans import Plan, plan

__all__ = ["Change", "Interval", "cases", "changes", "columns", "intervals", "plan_columns", "sweep"]

#: Seconds until a sweep shows a progress bar.
PROGRESS_AFTER = 1.0
#: What a sweep keeps of each plan.
PLAN_COLUMNS = (
    "cols", "kernel", "pack_size", "block_size", "grid", "registers", "static_smem_bytes", "smem_bytes",
    "thread_group_width", "cols_per_thread", "rows_per_access", "padding", "global_bytes",
)  # fmt: skip


def cases(**axes: Any) -> list[dict[str, Any]]:
    """All combinations: ``cases(cols=[32, 64], dtype="float16")`` is two cases. A str or a number is one entry."""
    lists = [[v] if isinstance(v, str) or not isinstance(v, Iterable) else list(v) for v in axes.values()]
    return [dict(zip(axes, values, strict=True)) for values in product(*lists)]


def sweep(
    function: Callable[..., Any],
    over: Iterable[Mapping[str, Any]],
    *,
    jobs: int | None = None,
    chunk: int = 64,
    progress: bool = True,
) -> list[Any]:
    """``[function(**case) for case in over]``, in parallel, with a progress bar if it takes longer than a second.

    Arguments:
        function: called with each case's entries by name; for several processes it must be importable or picklable.
        over: the cases.
        jobs: processes, -1 for all cores; None for what ``joblib.parallel_config`` says, by default one. With one
            process, or on a cluster of a single thread, joblib calls the function in this process.
        chunk: cases handed to a process at once.
        progress: whether a bar may appear.

    Raises:
        ValueError: ``chunk`` is less than 1. Whatever the function raises, with a note that names the case.
    """
    from joblib import Parallel, delayed
    from tqdm.auto import tqdm

    if chunk < 1:
        raise ValueError(f"chunk = {chunk}: a process takes 1 case or more at a time")
    listed = [dict(case) for case in over]
    chunks = [listed[start : start + chunk] for start in range(0, len(listed), chunk)]
    found: list[Any] = []
    with tqdm(total=len(listed), unit="case", delay=PROGRESS_AFTER, disable=not progress) as bar:
        # One call of joblib's at a time keeps the order; a generator, so that the bar moves as results come in.
        for results in Parallel(n_jobs=jobs, return_as="generator")(delayed(_run)(function, part) for part in chunks):
            found += results
            bar.update(len(results))
    return found


def _run(function: Callable[..., Any], part: Sequence[dict[str, Any]]) -> list[Any]:
    found = []
    for case in part:
        try:
            found.append(function(**case))
        except Exception as error:
            error.add_note(f"in the case {', '.join(f'{name}={value!r}' for name, value in case.items())}")
            raise
    return found


def plan_columns(
    cols: Iterable[int],
    *,
    rows: int = 65_536,
    dtype: Any = "float32",
    op: str = "softmax",
    device: Device | str | None = None,
    jobs: int | None = None,
    progress: bool = True,
    **keywords: Any,
) -> dict[str, np.ndarray]:
    """The plans of many row lengths as columns (n,), ready for a picture or ``pandas.DataFrame``.

    The columns are ``PLAN_COLUMNS``, blocks_per_sm, warps_per_sm, fraction (of the SM's warps) and limiters. A column
    holds None where the kernel has no such value. ``keywords`` go to :func:`softlab.plan`.
    """
    device = resolve(device)
    fixed = {"rows": rows, "dtype": dtype, "op": op, "device": device, **keywords}
    found = sweep(_plan_row, ({**fixed, "cols": c} for c in cols), jobs=jobs, progress=progress)
    return columns(found)


def _plan_row(**case: Any) -> dict[str, Any]:
    made: Plan = plan(**case)
    row = {name: getattr(made, name) for name in PLAN_COLUMNS}
    if not made.grid:
        return {**row, "blocks_per_sm": 0, "warps_per_sm": 0, "fraction": 0.0, "limiters": ""}
    held = made.occupancy
    return {
        **row,
        "blocks_per_sm": held.blocks_per_sm,
        "warps_per_sm": held.warps_per_sm,
        "fraction": held.fraction,
        "limiters": " ".join(held.limiters),
    }


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Records with the same names -> name -> array (n,); object arrays where a value is None."""
    names = list(rows[0]) if rows else []
    lists = {name: [row[name] for row in rows] for name in names}
    return {n: np.array(v, dtype=object if any(x is None for x in v) else None) for n, v in lists.items()}


@dataclass(frozen=True)
class Change:
    """From ``at`` on, a value of what is swept, ``column`` is ``after`` and no longer ``before``."""

    at: Any
    column: str
    before: Any
    after: Any


def changes(table: Mapping[str, np.ndarray], column: str, *, along: str = "cols") -> tuple[Change, ...]:
    """Where a column of a sweep changes: the thresholds that a design really has, as data."""
    values, swept = table[column], table[along]
    return tuple(
        Change(_plain(swept[k]), column, _plain(values[k - 1]), _plain(values[k]))
        for k in range(1, len(values))
        if values[k] != values[k - 1]
    )


@dataclass(frozen=True)
class Interval:
    """Neighbouring cases, from ``first`` to ``last``, for which the columns hold the same ``answers``."""

    first: Any
    last: Any
    answers: tuple[Any, ...]


def intervals(table: Mapping[str, np.ndarray], columns: Sequence[str], *, along: str = "cols") -> tuple[Interval, ...]:
    """A sweep as intervals: a new one begins where one of the columns changes."""
    swept = table[along]
    answers = list(zip(*(table[name] for name in columns), strict=True))
    found = []
    for together, group in groupby(range(len(swept)), key=lambda k: answers[k]):
        first, *rest = group
        found.append(Interval(_plain(swept[first]), _plain(swept[(rest or [first])[-1]]), tuple(map(_plain, together))))
    return tuple(found)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
