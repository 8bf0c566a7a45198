"""Speeds on the GPU of this machine, measured as the recordings were."""

from __future__ import annotations

from collections.abc import Iterable

from softlab.bench import cases
from softlab.bench.record.case_buffers import CaseBuffers, kernel_launch
from softlab.bench.record.timing import microseconds
from softlab.hardware.devices import Device
from softlab.plans import Plan


def speeds(plans: Iterable[Plan]) -> list[float]:
    """GB/s of each plan, then of a device copy; [] where there is no GPU.

    A plan has ``cases.rows_of(cols, dtype)`` rows at most and is made for the GPU present (``device=None``). Results
    are checked before they are timed.

    Raises:
        WrongResult: a kernel's result is not softmax.
    """
    if Device.present() is None:
        return []
    bench = CaseBuffers()
    found = []
    for made in plans:
        case = cases.case_of(made)
        launch = kernel_launch(bench, cases.prepared(case, made))
        bench.check(case, launch)
        found.append(case.nbytes / microseconds(launch) / 1e3)
    bench.copy()
    return [*found, 2 * bench.targets[0].nbytes / bench.copies[-1] / 1e3]
