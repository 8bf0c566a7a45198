"""What the wrong elements of a kernel's result have in common: a sentence that points to the kind of the mistake."""

from __future__ import annotations

import numpy as np

from softlab.course.exercises import different
from softlab.emulator.lanes import WARP

#: Constant factors and differences are told from chance by this relative error.
_CLOSE = 1e-4
#: The share of elements from which a rule holds for the wrong ones.
_MOST = 0.9
#: How far apart the right ones may be.
_STEPS = (WARP, 16, 8, 4)


def pattern(got: np.ndarray, wanted: np.ndarray, threads: int, relative: float = 0.0) -> str:
    """What the wrong elements have in common, "" for nothing that is known.

    threads: how many a block has; relative: the tolerance of a number.
    """
    wrong = different(got, wanted, relative)
    return _places(wrong, threads) or (_values(got[wrong], wanted[wrong]) if wrong.mean() > _MOST else "")


def unwritten(got: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Where an array has the very bits with which it began: bool, in its shape."""
    bits = f"u{got.dtype.itemsize}"
    return np.asarray(np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(start).view(bits))


def _places(wrong: np.ndarray, threads: int) -> str:
    """A sentence about where the right elements lie."""
    flat = wrong.reshape(-1)
    size, first = flat.size, int(np.argmax(flat))
    if size < 4 or flat.all():
        return ""
    if wrong.ndim == 2 and len(wrong) > 1 and not wrong[0].any() and wrong[1:].any(axis=1).all():
        return "Only the first row is right: does each row begin at its own place?"
    if first and flat[first:].all():
        if first == size - 1:
            return "All but the last one are right: where does the test or the loop end?"
        alike = ", as many as a block has threads: does each block take its own?" if first == threads else "."
        return f"Right are only the first {first}{alike}" if first > 1 else "Only the first one is right."
    steps = [step for step in _STEPS if size > step and not flat[::step].any()]
    shares = {step: float(flat[np.arange(size) % step != 0].mean()) for step in steps}
    step = max(shares, key=shares.__getitem__, default=0)
    if not step or shares[step] <= _MOST:
        return ""
    lane = "the first lane of each warp" if step == WARP else f"the first of {step} neighbours"
    return f"Only 1 of {step} is right: {lane} has the result. Do the others have it?"


def _values(got: np.ndarray, wanted: np.ndarray) -> str:
    """A sentence about values that are all wrong in the same way."""
    a, b = got.astype(np.float64).reshape(-1), wanted.astype(np.float64).reshape(-1)
    use = np.isfinite(a) & np.isfinite(b) & (b != 0)
    if use.sum() < 4 or np.ptp(b[use]) == 0:
        return ""
    ratio = a[use] / b[use]
    if np.ptp(ratio) <= _CLOSE * abs(ratio).max() and ratio[0]:
        factor = float(np.median(ratio))
        return (
            "Each has the wrong sign." if abs(factor + 1) < _CLOSE else f"Each is {factor:.4g} times what it should be."
        )
    off = a[use] - b[use]
    if np.ptp(off) <= _CLOSE * abs(b[use]).max() and abs(off).min() > _CLOSE * abs(b[use]).max():
        return f"Each is too {'large' if off[0] > 0 else 'small'} by about {abs(float(np.median(off))):.4g}."
    return ""
