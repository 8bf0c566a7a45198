"""What ``%%cuda --compare`` shows: the run of the cell beside an earlier one, with the results of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from softlab.magics.command import UsageError
from softlab.traces import Run, Trace
from softlab.workbench import Comparison, compare

#: Cells often write to the same arrays, so copies of what each run left are kept, up to this size per run.
_MOST_BYTES = 64 << 20
_results: WeakKeyDictionary[Run, tuple[np.ndarray | None, ...]] = WeakKeyDictionary()


def keep_results(run: Run, after: Sequence[np.ndarray | None]) -> None:
    """Keep the arrays of a run as it left them, for a later comparison. Large ones are not kept."""
    if sum(array.nbytes for array in after if array is not None) <= _MOST_BYTES:
        _results[run] = tuple(after)


def earlier_run(name: str, names: Mapping[str, Any]) -> Run:
    """The run that a variable of the notebook holds.

    Raises:
        UsageError: there is none.
    """
    found = names.get(name)
    if isinstance(found, Trace):
        found = found.run
    if not isinstance(found, Run):
        raise UsageError(
            f"%%cuda: --compare {name}: {name} is no run. Name a run before the change: %%cuda --out {name} ..."
        )
    return found


def comparison(old: Run, new: Run) -> Comparison:
    """Both runs side by side, with the results that were kept.

    Raises:
        UsageError: a run without counters.
    """
    kept = (_results.get(old), _results.get(new))
    try:
        if kept[0] is None or kept[1] is None:
            return compare(old, new)
        return compare(old, new, results=(kept[0], kept[1]))
    except ValueError as error:
        raise UsageError(f"%%cuda: --compare: {error}") from None
