"""What is known about the model's error: measured launches beside predictions that were made before."""

from __future__ import annotations

from softlab.hardware.devices import Device
from softlab.timing.parameters import DEVICES, Parameters


def validated(device: Device, bound: str, cache: str, figures: Parameters) -> str:
    """One sentence: the error on launches with that bound on that GPU, or why it is not known."""
    if device.name not in DEVICES:
        return f"not validated: no launch was measured on this GPU, only on {' and '.join(DEVICES)}"
    reason = "no launch has been measured against the model's predictions yet"
    if not figures.atlas:
        reason += "; its figures are provisional, since there is no atlas of this GPU"
    return f"not validated: {reason}"
