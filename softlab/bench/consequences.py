"""How long a plan takes by a recording: the time of that launch, or of the nearest that was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.bench.cases import ITEM_BYTES
from softlab.bench.recordings import Recording, Table, select
from softlab.plans import Plan

#: A measured row length within this factor of the asked one may speak for it.
NEAR = 1.3


@dataclass(frozen=True)
class Measured:
    """A recorded launch: on rows of ``cols``, ``gb_per_second`` counting one read and one write, and its share of a
    device copy's. ``exact``: measured on rows of just the length that was asked for."""

    cols: int
    microseconds: float
    gb_per_second: float
    of_copy: float
    exact: bool


def measured(recording: Recording, plan: Plan) -> Measured | None:
    """The recorded launch of the plan's kernel, block, pack and layout at the nearest row length; None for none.

    A recording is of one GPU and of softmax, on a matrix so large that the number of rows no longer matters.
    """
    if plan.op != "softmax" or not plan.grid or plan.device.name != recording.device.removeprefix("NVIDIA "):
        return None
    rows = select(
        recording.tables["timings"], kernel=plan.kernel, block_size=plan.block_size, pack_size=plan.pack_size,
        layout=plan.layout or "", dtype=plan.dtype,
    )  # fmt: skip
    if not len(rows["cols"]):
        return None
    k = int(np.argmin(np.abs(np.log(rows["cols"] / plan.cols))))
    cols = int(rows["cols"][k])
    if not 1 / NEAR <= cols / plan.cols <= NEAR:
        return None
    speed = float(gb_per_second(rows)[k])
    return Measured(
        cols, float(seconds(rows)[k] * 1e6), speed, speed / copy_gb_per_second(recording), cols == plan.cols
    )


def seconds(timings: Table) -> np.ndarray:
    """Of each row of a timings table: the mean of the two passes, in seconds."""
    return (timings["microseconds"] + timings["again"]) / 2e6


def gb_per_second(timings: Table) -> np.ndarray:
    """Of each row: 10^9 bytes per second, counting each element once in and once out."""
    sizes = np.array([ITEM_BYTES[dtype] for dtype in timings["dtype"]])
    return 2 * timings["rows"] * timings["cols"] * sizes / seconds(timings) / 1e9


def copy_gb_per_second(recording: Recording) -> float:
    """The ceiling: the median device copy of the same run, 10^9 bytes per second, read and written."""
    copies = recording.tables["copies"]
    return float(np.median(copies["bytes"] / copies["microseconds"])) / 1e3
