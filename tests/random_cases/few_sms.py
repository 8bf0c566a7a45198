"""Plans for a GPU of few SMs, so that small arrays reach the kernels that otherwise take many rows."""

from __future__ import annotations

from dataclasses import replace

from softlab.hardware import devices

#: Numbers of rows, most of them more than the 256 rows per SM of four that tiles begin at.
MANY_ROWS = (1, 33, 257, 600, 1024, 1100, 1277, 1500, 2051)


def plan_for(sms: int) -> None:
    """From now on this process plans for its GPU, or without one for the default, as if it had ``sms`` SMs.

    A kernel runs on any GPU of the same architecture: its plan has a smaller grid there than it could have.
    """
    few = replace(devices.resolve(), sm_count=sms)
    if devices.Device.present():
        devices.Device.present = staticmethod(lambda: few)  # type: ignore[method-assign]
    else:
        devices._NAMED[devices.DEFAULT_NAME] = few
