"""Which numbers of an input a wrong result is made from, found by changing them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlab.course.clinic.seen import Seen, element
from softlab.course.exercises import different
from softlab.emulator.lanes import WARP

#: Shares of an input that are changed, at most; elements that are changed one at a time.
_SHARES, _SINGLE = 40, 256
#: Sources and shares that a sentence names.
_SOURCES, _SPANS = 8, 4
#: By how much the elements of a share are changed: less and more, and not all alike.
_CHANGES = (40, -40)


def shares(seen: Seen) -> str:
    """The shares of an input, each as many numbers as a warp has lanes or a row has, that change nothing."""
    if not (seen.wrong & ~seen.unwritten).any():
        return ""
    for name, array in seen.inputs.items():
        if name == seen.name:
            continue
        size = min(WARP, array.shape[-1])
        if array.size // size > _SHARES or array.size <= size:
            continue
        starts = list(range(0, array.size, size))
        dead = [start for start in starts if _changes_nothing(seen, name, start, size)]
        if not dead:
            if said := _of_one_share(seen, name, size):
                return said
            continue
        if len(dead) == len(starts):
            return f"No number of {name} changes {seen.name}."
        said = " and ".join(_ranges(name, array, dead, size))
        return f"{said} change nothing in {seen.name}. The others do."
    return ""


def _changes_nothing(seen: Seen, name: str, start: int, size: int) -> bool:
    for by in _CHANGES:
        array = seen.inputs[name].copy()
        part = array.reshape(-1)[start : start + size]
        part[:] = np.where(np.isfinite(part), part, 0) + by + by // 8 * (np.arange(len(part)) % 5)
        found = seen.run({name: array})
        if found is None or different(found, seen.got).any():
            return False
    return True


def _of_one_share(seen: Seen, name: str, size: int) -> str:
    """A maximum that is that of one share."""
    array = seen.inputs[name]
    if seen.got.size != 1 or array.size % size or array.dtype.kind != "f" or array.max() != seen.wanted.reshape(-1)[0]:
        return ""
    most = array.reshape(-1, size).max(axis=1)
    own = np.flatnonzero(most == seen.got.reshape(-1)[0])
    if not len(own):
        return ""
    (said,) = _ranges(name, array, [int(own[0]) * size], size)
    kind = "the smallest" if seen.got.reshape(-1)[0] == most.min() else "only one"
    return f"{seen.name} is the maximum of {said}, {kind} of the warps' maxima, and not the largest."


def _ranges(name: str, array: np.ndarray, starts: Sequence[int], size: int) -> list[str]:
    """ "x[32] to x[63]": neighbouring shares as one; the first three and the last one of many."""
    spans: list[list[int]] = []
    for start in starts:
        if spans and spans[-1][1] == start:
            spans[-1][1] = min(start + size, array.size)
        else:
            spans.append([start, min(start + size, array.size)])
    shown = spans if len(spans) <= _SPANS else [*spans[:2], spans[-1]]
    said = [f"{element(name, array, first)} to {element(name, array, end - 1)}" for first, end in shown]
    return said if len(spans) <= _SPANS else [*said[:2], f"so on up to {said[2]}"]


def sources(seen: Seen) -> str:
    """From which elements of an input two wrong elements of the result are made."""
    for name, array in seen.inputs.items():
        if array.size > _SINGLE or seen.got.size < WARP // 2:
            continue
        changed = np.zeros((array.size, seen.got.size), bool)
        for index in range(array.size):
            for by in _CHANGES:
                other = array.copy()
                flat = other.reshape(-1)
                flat[index] = (flat[index] if np.isfinite(flat[index]) else 0) + by
                found = seen.run({name: other})
                if found is None:
                    return ""
                changed[index] |= different(found, seen.got).reshape(-1)
        made = [index for index in np.flatnonzero(seen.wrong.reshape(-1)) if changed[:, index].any()]
        said = []
        for place in dict.fromkeys(made[index] for index in (0, len(made) // 2) if made):
            made_from = np.flatnonzero(changed[:, place])
            if len(made_from) > _SOURCES:
                return ""
            *some, last = (element(name, array, int(source)) for source in made_from)
            names = f"{', '.join(some)} and {last}" if some else last
            said.append(f"{element(seen.name, seen.got, int(place))} is made from {names}")
        return f"{', and '.join(said)}." if said else ""
    return ""
