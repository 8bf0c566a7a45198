"""All-reduce of a warp as a diagram: what each lane holds before and after each shuffle, and which lane gave it.

The diagram's data is a dict of JSON values: ``title``; ``bands`` [{first, lanes, text}]: neighbouring lanes that reduce
among themselves; ``levels`` [{label, cells}], one more than ``steps`` [{title, note, edges [[giver, taker], ...]}]. A
cell per lane: text, tip, lanes (those whose first values are in it), idle (takes no part).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlab.instruments.banks import WARP
from softlab.instruments.shuffles import ShuffleStep
from softlab.views.diagrams import ranges
from softlab.views.style import ORANGE, ROLES, ink_on

Band = tuple[int, int, str]
#: What is drawn -> (colour, whether text is written on it): a lane's own value, the result, lines to lanes.
_LOOKS = {
    "own": (ROLES["served"], True),
    "done": (ROLES["served-odd"], True),
    "lower": (ROLES["shuffle"], False),
    "higher": (ORANGE, False),
}


def reduction_diagram(
    reduction: Sequence[ShuffleStep],
    held: np.ndarray,
    *,
    title: str,
    verb: str,
    first: str,
    bands: Sequence[Band] = (),
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The diagram of one reduction.

    Arguments:
        reduction: its steps; none for lanes that keep to themselves.
        held: (steps + 1, 32): what the lanes hold before each step and after the last (``instruments.shuffles``).
        title: of the picture; verb: "maximum" or "sum"; first: what the lanes hold to begin with.
        bands: (first lane, lanes, name) of lanes that belong together; notes: a sentence to each step.
    """
    levels, steps = _levels_and_steps(reduction, held, verb, first, notes)
    return {
        "title": title,
        "bands": [{"first": start, "lanes": lanes, "text": text} for start, lanes, text in bands],
        "levels": levels,
        "steps": steps,
        "fills": {role: colour for role, (colour, _) in _LOOKS.items()},
        "inks": {role: ink_on(colour) for role, (colour, written) in _LOOKS.items() if written},
    }


def _levels_and_steps(
    reduction: Sequence[ShuffleStep], held: np.ndarray, verb: str, first: str, notes: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of lanes, and what is between them."""
    contributors: list[set[int]] = [{lane} for lane in range(WARP)]
    active = reduction[0].active if reduction else np.ones(WARP, bool)
    levels = [_level(first, held[0], contributors, active, verb) if len(held) else _unknown(first)]
    steps = []
    for number, step in enumerate(reduction):
        edges = [[giver, taker] for giver, taker, _ in step.exchanges()]
        # A lane combines its own value with the one that it got.
        contributors = [
            contributors[lane] | contributors[int(step.source[lane])] if active[lane] else contributors[lane]
            for lane in range(WARP)
        ]
        steps.append({"title": step.title, "note": notes[number] if number < len(notes) else "", "edges": edges})
        joined = max(len(lanes) for lanes in contributors)
        levels.append(_level(f"{verb} of {joined}", held[number + 1], contributors, active, verb))
    return levels, steps


def _level(
    label: str, values: np.ndarray, contributors: Sequence[set[int]], active: np.ndarray, verb: str
) -> dict[str, Any]:
    cells = []
    for lane in range(WARP):
        mine = sorted(contributors[lane])
        of = f"the {verb} of lanes {ranges(mine)}" if len(mine) > 1 else "its own"
        told = f"lane {lane} holds {values[lane]}: {of}" if active[lane] else f"lane {lane} takes no part"
        text = short_number(values[lane]) if active[lane] else ""
        cells.append({"text": text, "tip": told, "lanes": mine, "idle": not active[lane]})
    return {"label": label, "cells": cells}


def _unknown(label: str) -> dict[str, Any]:
    """Lanes that exchange nothing: what they hold is in no record."""
    tips = (f"lane {lane} keeps to itself: no shuffle, and so no record of its value" for lane in range(WARP))
    return {
        "label": label,
        "cells": [{"text": "", "tip": tip, "lanes": [lane], "idle": False} for lane, tip in enumerate(tips)],
    }


def short_number(value: np.generic) -> str:
    """A value in about six characters, with two digits or more."""
    number = value.item()
    if isinstance(number, int):
        text = str(number)
        return text if len(text) <= 6 else f"{number:.1e}".replace("e+0", "e").replace("e+", "e")
    if not np.isfinite(number):
        return str(number)
    for digits in (5, 4, 3, 2):
        text = f"{number:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
        text = text.replace("-0.", "-.") if text.startswith("-0.") else text
        if len(text) <= 6:
            return text
    return text
