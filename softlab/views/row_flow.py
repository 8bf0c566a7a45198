"""The plain data of a row on its way through a warp: from DRAM by sectors into lanes, through shuffles, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlab.instruments.shuffles import ShuffleStep
from softlab.views import still_diagrams, stills
from softlab.views.reduction import short_number
from softlab.views.style import ROLES, ink_on

#: The places of the row, in order, with the sentence of each. ``{...}`` are numbers of the run.
_SENTENCES = {
    "DRAM": "A row of 32 numbers lies in DRAM, the large memory of the GPU. Move the slider: it goes through a kernel.",
    "sectors": "32 threads ask for the row with one instruction. Memory answers in sectors of 32 bytes: {sectors}"
    " sectors, with 8 numbers each.",
    "lanes": "Now each of the 32 lanes has one number in a register of its own. No lane can read another's register.",
    "max": "Shuffle {number} of 5: each lane gets the value of the lane {far} away and keeps the larger one. Now it"
    " knows the largest of {known} numbers.",
    "exp": "All lanes know the largest number, {largest}. Each takes it from its own and computes the exponential.",
    "sum": "Shuffle {number} of 5, for the sum: each lane adds what the lane {far} away has. Now it has the sum of"
    " {known} numbers.",
    "divide": "Each lane divides its exponential by the sum, {sum}. The results add up to 1: this is softmax.",
    "result": "One instruction writes the row back, in {sectors} sectors. The kernel has moved {nbytes} bytes, and no"
    " kernel for this row can move fewer.",
}


def row_flow(
    x: np.ndarray, y: np.ndarray, largest: Sequence[ShuffleStep], total: Sequence[ShuffleStep],
    loaded: np.ndarray, stored: np.ndarray,
) -> dict[str, Any]:  # fmt: skip
    """The data of the picture, from a run.

    Arguments:
        x, y: (32,) the row and its softmax.
        largest, total: the shuffles of the maximum and of the sum, in the order they ran.
        loaded, stored: (32,) the sector in which each lane's number lies, counted from 0.

    Returns:
        ``frames``: [{stage, sentence, own (texts of the lanes, None before they have any), heights (0 to 1), gathered
        (texts or None), share (how much of the row is in each gathered value, 0 to 1), edges [[giver, taker], ...]}];
        ``x``, ``y``: texts; ``loaded``, ``stored``: sectors; ``fills``, ``inks``: colours.
    """
    sums = np.add(total[-1].given, total[-1].received)
    facts = {
        "sectors": len(set(loaded.tolist())),
        "largest": short_number(largest[-1].received.max()),
        "sum": short_number(sums[0]),
        "nbytes": int(x.nbytes + y.nbytes),
    }
    fills = {"global": ROLES["global"], "own": ROLES["served"], "shuffle": ROLES["shuffle"]}
    return {
        "frames": _frames(facts, x, y, largest, total, sums),
        "x": _texts(x),
        "y": _texts(y),
        "loaded": loaded.tolist(),
        "stored": stored.tolist(),
        "fills": fills,
        "inks": {name: ink_on(fill) for name, fill in fills.items()},
    }


def _frames(
    facts: dict[str, Any], x: np.ndarray, y: np.ndarray, largest: Sequence[ShuffleStep], total: Sequence[ShuffleStep],
    sums: np.ndarray,
) -> list[dict[str, Any]]:  # fmt: skip
    """One frame per stage, and one per shuffle."""
    exponentials = total[0].given
    numbers, powers, shares = (_texts(values) for values in (x, exponentials, y))
    low, high = float(x.min()), float(x.max())
    bars = [(float(value) - low) / (high - low) * 0.9 + 0.1 for value in x]
    return [
        _frame("DRAM", facts),
        _frame("sectors", facts),
        _frame("lanes", facts, own=numbers, heights=bars, gathered=numbers),
        *_shuffled("max", largest, np.maximum, facts, numbers, bars),
        _frame("exp", facts, own=powers, heights=_scaled(exponentials), gathered=powers),
        *_shuffled("sum", total, np.add, facts, powers, _scaled(exponentials)),
        _frame("divide", facts, own=shares, heights=_scaled(y), gathered=_texts(sums), share=1),
        _frame("result", facts, own=shares, heights=_scaled(y), gathered=_texts(sums), share=1),
    ]


def _texts(values: np.ndarray) -> list[str]:
    return [_text(float(value) + 0.0) for value in values]


def _text(value: float) -> str:
    """A number with two digits, in as few characters as there are."""
    text = f"{value:.2g}".replace("e-0", "e-")
    return text.replace("0.", ".", 1) if len(text) > 4 or text.startswith("-0.") else text


def _scaled(values: np.ndarray) -> list[float]:
    return [max(0.02, float(value / values.max())) for value in values]


def _frame(
    stage: str, facts: dict[str, Any], *, own: Sequence[str] | None = None, heights: Sequence[float] | None = None,
    gathered: Sequence[str] | None = None, share: float = 1 / 32, edges: Sequence[list[int]] = (),
) -> dict[str, Any]:  # fmt: skip
    return {
        "stage": stage, "sentence": _SENTENCES[stage].format(**facts), "own": own, "heights": heights,
        "gathered": gathered, "share": share, "edges": list(edges),
    }  # fmt: skip


def _shuffled(
    stage: str, steps: Sequence[ShuffleStep], combine: Any, facts: dict[str, Any], own: Sequence[str],
    heights: Sequence[float],
) -> list[dict[str, Any]]:  # fmt: skip
    """A frame per shuffle: what the lanes have gathered after it, and who gave to whom."""
    frames = []
    for number, step in enumerate(steps, 1):
        known = 2**number
        told = {**facts, "number": number, "far": step.distance, "known": known}
        edges = [[giver, taker] for giver, taker, _ in step.exchanges()]
        gathered = _texts(combine(step.given, step.received))
        frames.append(_frame(stage, told, own=own, heights=heights, gathered=gathered, share=known / 32, edges=edges))
    return frames


def still_parts(data: dict[str, Any], position: float) -> tuple[stills.Part, ...]:
    """A still picture: the sentence, what each lane holds, and the row's place on its way."""
    frame = data["frames"][min(round(position), len(data["frames"]) - 1)]
    rows = [("the row in DRAM", data["x"], "global")]
    rows += [("own number", frame["own"], "own"), ("gathered", frame["gathered"], "shuffle")] if frame["own"] else []
    panel = {
        "title": "", "columns": 32, "columnTitle": "lane", "columnLabels": [str(lane) for lane in range(32)],
        "bands": [],
        "rows": [{"label": label, "mark": ""} for label, _, _ in rows],
        "cells": [
            {
                "row": number, "column": lane, "span": 1, "text": text, "role": "served", "lanes": [lane],
                "fill": data["fills"][look], "ink": data["inks"][look],
            }
            for number, (_, texts, look) in enumerate(rows)
            for lane, text in enumerate(texts)
        ],
    }  # fmt: skip
    stages = " > ".join(dict.fromkeys(one["stage"] for one in data["frames"]))
    return (
        stills.lines([stages], bold=[0]),
        stills.lines([frame["sentence"]]),
        still_diagrams.grid({"title": "", "legend": [], "panels": [panel]}),
    )
