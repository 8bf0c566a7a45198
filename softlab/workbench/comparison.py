"""Two runs side by side: counters in total and per line, what the compiler made, the time, the results."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.textures import Surface
from softlab.errors import Error, first_line
from softlab.hardware.devices import Device, with_article
from softlab.kernel.c_types import declared_types
from softlab.traces import Run, Trace
from softlab.workbench.figures import occupancy_of

if TYPE_CHECKING:
    from softlab.timing.estimates import Estimate

#: Lines of the text.
_MOST_LINES = 24


@dataclass(frozen=True)
class LineComparison:
    """A line of either source: its numbers in both (None: it is not there), its text, and counter -> values of both."""

    old_line: int | None
    new_line: int | None
    text: str
    counters: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class ArrayComparison:
    """An array argument after both runs: ``different`` of ``size`` elements have other bits; ``largest`` is the largest
    difference (None: not numbers, or other shapes), ``at`` its index; ``note`` says why they were not compared.
    """

    argument: int
    size: int = 0
    different: int = 0
    largest: float | None = None
    at: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed from ``old`` to ``new``.

    totals: counter -> (old, new); facts: registers per thread, spilled bytes per thread, shared memory per block in
    bytes and occupancy, alike; lines: those with counters; arrays: how the results differ; estimates: (old, new) in
    microseconds, None where ``notes`` say why not; notes: what could not be compared.
    """

    old: Run
    new: Run
    totals: Mapping[str, tuple[int, int]]
    facts: Mapping[str, tuple[Any, Any]]
    lines: tuple[LineComparison, ...]
    arrays: tuple[ArrayComparison, ...]
    estimates: tuple[Estimate, Estimate] | None
    notes: tuple[str, ...]

    @property
    def same_results(self) -> bool | None:
        """Whether all arrays have the same bits; None where some could not be compared."""
        if any(one.note for one in self.arrays) or not self.arrays:
            return None
        return not any(one.different for one in self.arrays)

    def sentences(self) -> list[str]:
        """What changed in words: the results, the time, and what was not compared."""
        found = [_results(self)]
        if self.estimates is not None:
            old, new = (one.microseconds for one in self.estimates)
            found.append(
                f"Estimated time on {with_article(self.estimates[0].device)}: {old:.2f} us, then {new:.2f} us "
                f"({new / old - 1:+.0%}); bound by {self.estimates[0].bound}, then by {self.estimates[1].bound}."
            )
        return [*found, *self.notes]

    def changed_totals(self) -> dict[str, tuple[Any, Any]]:
        """The totals and facts that differ, in their order."""
        return {name: pair for name, pair in {**self.totals, **self.facts}.items() if pair[0] != pair[1]}

    def __repr__(self) -> str:
        head = f"{self.old.name}, then {self.new.name}" if self.old.name != self.new.name else self.new.name
        rows = [f"  {name}: {shown_change(*pair)}" for name, pair in self.changed_totals().items()]
        rows = rows or ["  No counter changed."]
        words = [f"  {one}" for one in self.sentences()]
        room = _MOST_LINES - len(words)
        if len(rows) > room:
            rows[room - 1 :] = [f"  and {len(rows) - room + 1} more in comparison.changed_totals()"]
        return "\n".join([f"Comparison of {head}:", *words, *rows])

    def _repr_html_(self) -> str:
        from softlab.views.comparison import comparison_html

        return comparison_html(self)


def compare(
    old: Run | Trace,
    new: Run | Trace,
    *,
    device: Device | str | None = "H200",
    results: tuple[Sequence[Any], Sequence[Any]] | None = None,
) -> Comparison:
    """Two runs side by side, such as of a kernel before and after a change.

    Arguments:
        old, new: runs of the emulator with counters, or traces.
        device: the GPU of the estimates, "H200" or "H100"; None makes none.
        results: for each run its arguments as the launch left them, None for those that are not to be compared. By
            default these are the arrays that the runs were launched on. They must be alive still, and each run must
            have had its own.

    Raises:
        TypeError: no run. ValueError: a run without counters.
    """
    runs = tuple(one.run if isinstance(one, Trace) else one for one in (old, new))
    for one in runs:
        if not isinstance(one, Run):
            raise TypeError(f"compare takes two runs or traces, not {type(one).__name__}")
        if one.instructions is None:
            raise ValueError(f"the run of {one.name} has no counters: run it in the emulator with record=True")
    a, b = runs
    totals = {name: (value, b.counters[name]) for name, value in a.counters.items()}
    arrays = tuple(_arrays(a, b)) if results is None else tuple(_compared(*results, frozenset()))
    estimates, notes = _estimates(old, new, device)
    if a.level != b.level:
        notes += (f"The old run counts by the {a.level}, the new one by the {b.level}.",)
    if (a.grid, a.block) != (b.grid, b.block):
        notes += (f"The launches differ: grid {a.grid}, block {a.block}, then grid {b.grid}, block {b.block}.",)
    return Comparison(a, b, totals, _facts(a, b), tuple(_lines(a, b)), arrays, estimates, notes)


def shown_change(old: Any, new: Any) -> str:
    """Such as "4096, then 1024 (x 0.25)"."""
    if old is None or new is None:
        return f"{'unknown' if old is None else old}, then {'unknown' if new is None else new}"
    if isinstance(old, float) or isinstance(new, float):
        return f"{old:.0%}, then {new:.0%}"
    return f"{old}, then {new}" + (f" (x {new / old:.3g})" if old else "")


def _results(comparison: Comparison) -> str:
    if not comparison.arrays:
        return "The results were not compared: the runs have no arrays of their own in this process."
    parts = []
    for one in comparison.arrays:
        if one.note:
            parts.append(f"Argument {one.argument} was not compared: {one.note}.")
        elif one.different:
            largest = f", by up to {one.largest:.3g} at {one.at}" if one.largest is not None else ""
            parts.append(f"Argument {one.argument} differs in {one.different} of {one.size} elements{largest}.")
    return " ".join(parts) or "The results are equal, bit for bit."


def _facts(a: Run, b: Run) -> dict[str, tuple[Any, Any]]:
    return {
        "registers per thread": (a.registers, b.registers),
        "bytes spilled per thread": (a.spill_bytes, b.spill_bytes),
        "shared memory per block": (a.static_smem_bytes + a.smem_bytes, b.static_smem_bytes + b.smem_bytes),
        "occupancy": (_occupancy(a), _occupancy(b)),
    }


def _occupancy(run: Run) -> float | None:
    held = occupancy_of(run)
    return None if held is None else held.fraction


def _lines(a: Run, b: Run) -> Iterator[LineComparison]:
    """Lines with counters in either run. The texts are aligned as a diff aligns them."""
    counters = a.by_line(), b.by_line()
    texts = a.source.splitlines(), b.source.splitlines()
    stripped = [[line.strip() for line in text] for text in texts]
    for _, first, last, start, stop in SequenceMatcher(None, stripped[0], stripped[1], autojunk=False).get_opcodes():
        for k in range(max(last - first, stop - start)):
            i, j = first + k, start + k
            x = counters[0].get(i + 1) if i < last else None
            y = counters[1].get(j + 1) if j < stop else None
            if x is None and y is None:
                continue
            names = dict.fromkeys([*(x or {}), *(y or {})])
            both = {name: ((x or {}).get(name, 0), (y or {}).get(name, 0)) for name in names}
            yield LineComparison(
                i + 1 if i < last else None,
                j + 1 if j < stop else None,
                (texts[1][j] if j < stop else texts[0][i]).strip(),
                {name: values for name, values in both.items() if any(values)},
            )


def _arrays(a: Run, b: Run) -> Iterator[ArrayComparison]:
    """The array arguments of both runs, by their position."""
    if a.launched is None or b.launched is None:
        return
    types = declared_types(b.launched.program) or ()
    constant = frozenset(n for n, one in enumerate(types) if one and one.pointers == 1 and "const" in one.text.split())
    old, new = ([_alive(one) for one in run.launched.kept] for run in (a, b))
    yield from _compared(old, new, constant)


def _compared(old: Sequence[Any], new: Sequence[Any], constant: frozenset[int]) -> Iterator[ArrayComparison]:
    """How the arrays differ. One array for both is skipped where it is among the ``constant`` arguments."""
    for number, (x, y) in enumerate(zip(old, new, strict=False)):
        if isinstance(x, _Gone) or isinstance(y, _Gone):
            if number not in constant:
                yield ArrayComparison(number, note="the array is gone; keep it until the runs are compared")
        elif isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
            if not np.may_share_memory(x, y):
                yield array_comparison(number, x, y)
            elif number not in constant:
                yield ArrayComparison(number, note="both runs had the same array; give each run its own")


def array_comparison(argument: int, x: np.ndarray, y: np.ndarray) -> ArrayComparison:
    """How two arrays differ."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return ArrayComparison(argument, note=f"{x.dtype} {x.shape} and {y.dtype} {y.shape} are not alike")
    width = x.dtype.itemsize
    bits = [np.ascontiguousarray(one).reshape(-1).view(np.uint8).reshape(-1, width) for one in (x, y)]
    other = (bits[0] != bits[1]).any(axis=1)
    if not other.any() or x.dtype.kind not in "biufV":
        return ArrayComparison(argument, x.size, int(other.sum()))
    try:
        wide = [np.ascontiguousarray(one).reshape(-1).astype(np.float64) for one in (x, y)]
    except (TypeError, ValueError):  # a struct
        return ArrayComparison(argument, x.size, int(other.sum()))
    with np.errstate(invalid="ignore"):
        apart = np.where(other, np.abs(wide[0] - wide[1]), 0.0)
    apart = np.where(np.isnan(apart), np.inf, apart)
    worst = int(apart.argmax())
    at = tuple(int(k) for k in np.unravel_index(worst, x.shape))
    return ArrayComparison(argument, x.size, int(other.sum()), float(apart[worst]), at)


class _Gone:
    """An array that no longer exists."""


def _alive(kept: Any) -> Any:
    if isinstance(kept, Surface):
        return kept.array  # a kernel writes it
    if not isinstance(kept, weakref.ref):
        return kept
    array = kept()
    return _Gone() if array is None else array


def _estimates(
    old: Any, new: Any, device: Device | str | None
) -> tuple[tuple[Estimate, Estimate] | None, tuple[str, ...]]:
    from softlab.operators import estimate

    if device is None:
        return None, ()
    try:
        return (estimate(old, device=device), estimate(new, device=device)), ()
    except (Error, ValueError) as error:
        return None, (f"No estimate: {first_line(error)}.",)
