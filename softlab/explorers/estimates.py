"""What the explorers say of a launch's time: estimates from the shipped table, beside recordings where there are some.

An explorer answers in less time than the model needs, so the estimates were made in advance
(:mod:`softlab.bench.estimated`). A launch that the table lacks gets no figure, and the picture says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from softlab.bench import consequences, estimated, recordings
from softlab.bench.fusing import PARTS, FusionCase
from softlab.errors import PlanError
from softlab.hardware import atlas
from softlab.plans import Plan, forced
from softlab.views import tables
from softlab.views.times import TimeRow, copy_curves, time_bars

_MIB = estimated.INPUT_BYTES >> 20
#: Bytes that a warp of a copy has in flight, by the bytes per thread that it moves.
_IN_FLIGHT = 32 * 16


@lru_cache(maxsize=512)
def launch(**choices: Any) -> Plan | None:
    """A forced plan for one row on an H200; None where no kernel is built for it."""
    try:
        return forced(1, choices.pop("cols"), choices.pop("dtype"), device=estimated.DEVICE, **choices)
    except PlanError:
        return None


def softmax_times(
    plans: Mapping[str, Plan | None], chosen: str, cols: int, about: str = ""
) -> tuple[str, dict[str, float]]:
    """The picture of some launches of softmax, label -> plan (None: it cannot be launched), and label -> estimate in
    microseconds. Each is for a matrix as large as in the recording, whatever the rows of its plan.

    ``about``: a note on what is shown, "" for none.
    """
    recording = recordings.load()
    rows, found, at = [], {}, {}
    for label, made in plans.items():
        guess = estimated.estimated(made) if made else None
        took = consequences.measured(recording, made) if made else None
        if guess:
            found[label] = guess.microseconds
            at[f"estimated for rows of {tables.shown(guess.cols)}"] = guess.cols
        if took:
            at[f"recorded for rows of {tables.shown(took.cols)}"] = took.cols
        rows.append(
            TimeRow(
                label, guess.microseconds if guess else None, took.microseconds if took else None,
                guess.bound if guess else "", guess.reason if guess else "", label == chosen,
            )
        )  # fmt: skip
    others = [words for words, length in at.items() if length != cols]
    notes = [about] if about else []
    notes += [f"The nearest row length that there is: {', '.join(others)}."] if others else []
    if not found:
        notes.append("No estimate: the table has H200 and softmax alone, at chosen kernels, packs and row lengths.")
    title = f"How long? {_MIB} MiB of such rows on an {estimated.DEVICE}"
    return time_bars(rows, title=title, notes=[*notes, estimated.stamp()]), found


def fusing_times(problem: FusionCase) -> tuple[str, dict[str, float]]:
    """The picture of one fused kernel beside the separate ones, and "fused" and "separate" -> microseconds."""
    title = f"How long? {estimated.FUSED_ELEMENTS >> 20} Mi elements in such matrices on an {estimated.DEVICE}"
    found = estimated.fused(problem)
    if found is None:
        return time_bars([], title=title, notes=["No estimate: the table has no such launch."]), {}
    one, apart = found
    total = sum(kernel.microseconds for kernel in apart.values())
    worst = max(apart.values(), key=lambda kernel: kernel.microseconds)
    took, cols = _fusing_recorded(problem)
    rows = [
        TimeRow(
            f"separate: {len(apart)} kernel{'s' * (len(apart) > 1)}", total, took.get("separate"), worst.bound,
            worst.reason,
        ),
        TimeRow("fused", one.microseconds, took.get("fused"), one.bound, one.reason, True),
    ]  # fmt: skip
    notes = [f"Estimated for rows of {tables.shown(one.cols)}."] if one.cols != problem.cols else []
    notes += [f"Recorded for rows of {tables.shown(cols)}."] if cols and cols != problem.cols else []
    times = {"fused": one.microseconds, "separate": round(total, 1)}
    return time_bars(rows, title=title, notes=[*notes, estimated.stamp()]), times


def _fusing_recorded(problem: FusionCase) -> tuple[dict[str, float], int]:
    """Way -> microseconds at the recorded row length that is nearest, and that length; 0 where there is none."""
    parts = "+".join(part for part in PARTS if part in problem.parts) or "nothing"
    rows = recordings.select(recordings.load("fusing_h200").tables["times"], dtype=problem.dtype, parts=parts)
    near = [cols for cols in set(rows["cols"].tolist()) if 0.5 <= cols / problem.cols <= estimated.NEAR]
    if not near:
        return {}, 0
    cols = min(near, key=lambda length: abs(length - problem.cols))
    some = recordings.select(rows, cols=cols)
    return dict(zip(some["way"].tolist(), some["microseconds"].tolist(), strict=True)), cols


def copy_picture(warps: int | None) -> str:
    """The picture of a copy's bandwidth against the warps that an SM holds. warps: None for a kernel on another GPU."""
    curves = {f"{size} bytes per thread": _lists(*estimated.copies(size)) for size in (16, 4)}
    recorded = atlas.load(estimated.DEVICE)
    in_flight, rate = recorded.series("bandwidth.DRAM.copy")
    points = ((in_flight / _IN_FLIGHT).tolist(), (rate * recorded.clocks["SM"] / 1000).tolist())
    notes = [
        f"Estimated: blocks of 128 threads, one access per thread, {_MIB} MiB; {estimated.stamp()}.",
        f"Recorded: a copy with as many bytes in flight, on {recorded.device}, {recorded.date}."
        + (f" Choose {estimated.DEVICE} to see your kernel here." if warps is None else ""),
    ]
    title = f"How the number of warps changes the time: a copy on an {estimated.DEVICE}"
    return copy_curves(curves, points, warps, title=title, notes=notes)


def _lists(at: Any, values: Any) -> tuple[list[float], list[float]]:
    return at.tolist(), values.tolist()
