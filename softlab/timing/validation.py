"""What is known about the model's error: measured launches beside predictions that were made before.

``python -m tests.hardware.record_timing collect SET`` writes ``data/launches.json``. For each device and state of L2 it
has the launches of the newest set of ``tests/hardware`` that this device has measured, and the version of the model
that predicted them (``MODEL``), which had not seen them. Whoever changes the model's results raises ``MODEL``; an
estimate then says that its errors are those of an earlier version, until launches that nobody has measured yet are
predicted and measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.hardware.devices import Device, with_article
from softlab.timing.parameters import DEVICES, Parameters

#: The version of the model: raised with every change of its results.
MODEL = 25
#: "measured": "H200.cold" -> "set", "model", "date", and the launches as (name, category, bound, predicted, measured,
#: roofline), in microseconds; "refused" and "unsettled" name those that have no prediction or no time. "sets": the
#: errors of all sets.
RECORD = Path(__file__).resolve().parent / "data" / "launches.json"
#: Fewer launches with the same bound say too little: then all launches of the device count.
_ENOUGH = 5


@lru_cache(maxsize=1)
def record() -> Mapping[str, Any]:
    """The shipped record; empty where there is none."""
    return json.loads(RECORD.read_text()) if RECORD.is_file() else {}


def validated(device: Device, bound: str, cache: str, figures: Parameters) -> str:
    """One sentence: the error on launches with that bound on that GPU, or why it is not known."""
    if device.name not in DEVICES:
        return f"not validated: no launch was measured on this GPU, only on {' and '.join(DEVICES)}"
    if found := _sentence_of(device.name, bound, cache):
        return found
    reason = "no launch has been measured against the model's predictions yet"
    if not figures.atlas:
        reason += "; its figures are provisional, since there is no atlas of this GPU"
    return f"not validated: {reason}"


@lru_cache(maxsize=64)
def _sentence_of(device: str, bound: str, cache: str) -> str:
    """The sentence by the shipped record, "" where it has no launch of the device and cache."""
    found = record().get("measured", {}).get(f"{device}.{cache}")
    return sentence(found, device, bound, cache) if found else ""


def sentence(found: Mapping[str, Any], device: str, bound: str, cache: str) -> str:
    """What the launches of one device and state of L2 say of a launch with that bound; ``found`` as in ``RECORD``."""
    launches: Sequence[Sequence[Any]] = found["launches"]
    chosen, which = [one for one in launches if one[2] == bound], f"bound by {bound}"
    if len(chosen) < _ENOUGH:
        chosen, which = [*launches], "of all kinds"
    sizes = np.abs([predicted / measured - 1 for *_, predicted, measured, _ in chosen])
    median, tenth = np.quantile(sizes, (0.5, 0.9))
    now = (
        f"; the model is version {MODEL} now, whose error was not measured on this GPU"
        if found["model"] != MODEL
        else ""
    )
    return (
        f"on {with_article(device)} ({cache} cache) version {found['model']} of the model was off by {median:.0%} in "
        f"the median and by {tenth:.0%} at the 90th percentile of {len(chosen)} launches {which}, predicted before "
        f"they were measured ({found['set']} set, {len(launches)} launches, {found['date']}){now}"
    )
