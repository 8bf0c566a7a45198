"""What is known about the model's error: measured launches beside predictions that were made before.

``python -m tests.hardware.record_timing collect SET`` writes the errors to ``data/validated.json``: for each
device and state of L2 the relative errors of all launches, by the unit that bounds them, and the version of the model
that predicted them (``MODEL``). The launches are those of the latest set in ``tests/hardware``, which that version
had not seen. Whoever changes the model's results raises ``MODEL``; an estimate then says that its errors are
those of an earlier version, until launches that nobody has measured yet are predicted and measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.hardware.devices import Device
from softlab.timing.parameters import DEVICES, Parameters

#: The version of the model: raised with every change of its results.
MODEL = 22
RECORD = Path(__file__).resolve().parent / "data" / "validated.json"
#: Fewer launches with the same bound say too little: then all launches of the device count.
_ENOUGH = 5


@lru_cache(maxsize=1)
def _record() -> Mapping[str, Any]:
    return json.loads(RECORD.read_text()) if RECORD.is_file() else {}


def validated(device: Device, bound: str, cache: str, figures: Parameters) -> str:
    """One sentence: the error on launches with that bound on that GPU, or why it is not known."""
    if device.name not in DEVICES:
        return f"not validated: no launch was measured on this GPU, only on {' and '.join(DEVICES)}"
    found = _record().get(f"{device.name}.{cache}")
    if found:
        return sentence(found, device.name, bound, cache)
    reason = "no launch has been measured against the model's predictions yet"
    if not figures.atlas:
        reason += "; its figures are provisional, since there is no atlas of this GPU"
    return f"not validated: {reason}"


def sentence(found: Mapping[str, Any], device: str, bound: str, cache: str) -> str:
    """What the errors of one device and state of L2 say: ``found`` has "date", "model" and "errors", bound ->
    relative ones."""
    errors: Mapping[str, Sequence[float]] = found["errors"]
    chosen, which = errors.get(bound, ()), f"bound by {bound}"
    if len(chosen) < _ENOUGH:
        chosen, which = [one for several in errors.values() for one in several], "of all kinds"
    older = "" if found.get("model") == MODEL else ", by an earlier version of the model"
    median, tenth = _quantiles(tuple(chosen))
    return (
        f"on an {device} ({cache} cache, {found['date']}) the model was off by {median:.0%} in the median and by "
        f"{tenth:.0%} at the 90th percentile of {len(chosen)} launches {which}, predicted before they were "
        f"measured{older}"
    )


@lru_cache(maxsize=64)
def _quantiles(errors: tuple[float, ...]) -> tuple[float, float]:
    """The median and the 90th percentile of their sizes."""
    median, tenth = np.quantile(np.abs(errors), (0.5, 0.9))
    return float(median), float(tenth)
