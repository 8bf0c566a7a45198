"""What if: the same launch on a GPU, or of a kernel, that lacks one cause of waiting. Which wait goes away?

Each change acts on what the simulation takes, and on nothing else: the instructions of the warps stay as they are. So
the answer is what the cause itself costs. It does not say how to remove it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.hardware.devices import Device, with_article
from softlab.sass.streams import Kind, Space, WarpStream
from softlab.timing.estimates import Estimate
from softlab.timing.parameters import Parameters
from softlab.timing.traits import access_width

#: Name -> what it means.
CHANGES: Mapping[str, str] = {
    "no bank conflicts": "each load and store of shared memory takes the wavefronts that its bytes need, and no more",
    "twice the occupancy": "an SM has twice the registers, shared memory, threads and block slots",
    "infinite L2": "L2 holds all of the launch's memory before it starts, and keeps what is stored",
    "free barriers": "a barrier lets its warps go at once when the last one has arrived",
}
#: Bytes that shared memory moves in one wavefront: 32 banks of 4 bytes.
_WAVEFRONT_BYTES = 128
_INFINITE = 1 << 50


@dataclass(frozen=True)
class WhatIf:
    """A launch as it is and with each change: ``base``, and ``changed``: name of the change -> estimate."""

    base: Estimate
    changed: Mapping[str, Estimate] = field(default_factory=dict)

    def speedup(self, change: str) -> float:
        """How many times as fast the kernel is with a change."""
        return self.base.microseconds / self._with(change).microseconds

    def removed(self, change: str) -> dict[str, float]:
        """State of warps -> the cycles of a warp in it that go away with a change (negative: more), largest first."""
        before, after = cycles_by_state(self.base), cycles_by_state(self._with(change))
        gone = {name: before.get(name, 0.0) - after.get(name, 0.0) for name in {**before, **after}}
        return dict(sorted(gone.items(), key=lambda item: -item[1]))

    def _with(self, change: str) -> Estimate:
        if change not in self.changed:
            raise ValueError(f"change = {change!r}: there are {', '.join(map(repr, self.changed)) or 'none'}")
        return self.changed[change]

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [("as it is", f"{self.base.microseconds:.2f} us", f"bound by {self.base.bound}")]
        return rows + [(name, f"{e.microseconds:.2f} us", f"bound by {e.bound}") for name, e in self.changed.items()]

    def __repr__(self) -> str:
        rows = "\n".join(f"  {name:<20} {time:>12}  {bound}" for name, time, bound in self._rows())
        return f"What if, {self.base.kernel} on {with_article(self.base.device)}, {self.base.cache} cache:\n{rows}"

    def _repr_html_(self) -> str:
        body = "\n".join(
            f"<tr><th>{escape(name)}</th><td>{time}</td><td>{bound}</td></tr>" for name, time, bound in self._rows()
        )
        return f"<table>\n<caption>What if: {escape(self.base.kernel)}</caption>\n{body}\n</table>"


def cycles_by_state(found: Estimate) -> dict[str, float]:
    """State of warps -> cycles that a warp spends in it on average, over all lines."""
    sums: dict[str, float] = {}
    for line in found.by_line().values():
        for name, cycles in line.states.items():
            sums[name] = sums.get(name, 0.0) + cycles
    return sums


def checked(change: str) -> str:
    """The name of a change.

    Raises:
        ValueError: there is no such change.
    """
    if change not in CHANGES:
        raise ValueError(f"what_if = {change!r}: there are {', '.join(map(repr, CHANGES))}")
    return change


def changed_device(device: Device, change: str) -> Device:
    """The GPU with twice of what limits occupancy, if that is the change."""
    if change != "twice the occupancy":
        return device
    return replace(
        device,
        max_threads_per_sm=2 * device.max_threads_per_sm,
        max_blocks_per_sm=2 * device.max_blocks_per_sm,
        smem_per_sm=2 * device.smem_per_sm,
        registers_per_sm=2 * device.registers_per_sm,
    )


def changed_figures(figures: Parameters, change: str) -> Parameters:
    """The figures of the GPU with the change."""
    if change == "infinite L2":
        return replace(figures, l2_capacity=_INFINITE)
    if change == "free barriers":
        return replace(figures, barrier_latency=0.0, barrier_stagger=0.0)
    return figures


def changed_cache(cache: str, change: str) -> str:
    """The state of L2 before the launch with the change."""
    return "warm" if change == "infinite L2" else cache


def changed_streams(
    streams: Sequence[WarpStream], code: Sequence[MachineInstruction], change: str
) -> tuple[WarpStream, ...]:
    """The streams with the change."""
    if change != "no bank conflicts":
        return tuple(streams)
    widths = np.array([access_width(one) for one in code])
    return tuple(_without_conflicts(one, widths) for one in streams)


def _without_conflicts(stream: WarpStream, widths: np.ndarray) -> WarpStream:
    accesses = stream.accesses
    kinds = (Kind.LOAD, Kind.STORE, Kind.ASYNC_COPY)
    which = (accesses.space == Space.SHARED) & np.isin(accesses.kind, kinds)
    lanes = np.bitwise_count(stream.active[accesses.position]).astype(np.int64)
    least = -(-lanes * widths[stream.instructions[accesses.position]] // _WAVEFRONT_BYTES)
    wavefronts = np.where(which, np.minimum(accesses.wavefronts, np.maximum(least, 1)), accesses.wavefronts)
    return replace(stream, accesses=replace(accesses, wavefronts=wavefronts.astype(accesses.wavefronts.dtype)))
