"""The record of an estimate: how long a launch takes, what bounds it and what each line waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from softlab.hardware.devices import with_article
from softlab.timing.journal import SmTimeline

#: What a launch can be bound by. "launch": starting the kernel and its blocks takes most of the time. "latency": no
#: unit is busy, the warps wait for results. "barrier": they wait for each other. The rest is the unit in use most.
BOUNDS = (
    "dram", "l2", "l1", "shared", "issue", "fma", "alu", "fp64", "sfu", "uniform", "tensor", "atomics", "latency",
    "barrier", "launch",
)  # fmt: skip
_LINES = 6
_STALLS = 6


@dataclass(frozen=True)
class LineTime:
    """One line of the source: ``cycles`` that a warp spent there on average, and their ``share`` of all; the stall
    ``reason`` that took most of them ("" if it never stalled); ``waits_for``: the line whose result it waits for;
    ``states``: Nsight Compute's name of a warp state -> cycles of ``cycles`` in it."""

    line: int
    cycles: float
    share: float
    reason: str
    waits_for: int | None
    states: Mapping[str, float] = field(default_factory=dict, repr=False, hash=False)


@dataclass(frozen=True)
class Estimate:
    """How long a launch takes on a GPU, from its machine code.

    ``microseconds`` and ``cycles``: of the kernel on the GPU, from its start to the end of its last block, without the
    host's overhead; ``launch_microseconds`` of them are what an empty kernel takes. ``bound``: one of ``BOUNDS``.
    ``stalls``: Nsight Compute's name of a warp state -> its share of the warps' cycles, largest first; without "drain",
    the wait of a warp at its end for its stores. ``use``: unit -> share of its peak in the simulated time.
    ``occupancy``: share of an SM's warps that the blocks fill. ``dram_bytes`` of the launch; ``l1_hit_rate`` and
    ``l2_hit_rate`` of its loads, by sectors (0 without any). ``validated``: how far the model was off on launches like
    this one, and on which GPU, or why that is not known. ``notes``: what the model could not see. ``blocks``: how many
    were simulated. An estimate looks for no races.
    ``instructions`` and ``fp32_operations`` of the launch: those of warps, and additions and multiplications in single
    precision of lanes (FFMA is two), both from the sampled blocks.
    ``what_if``: what was changed about the GPU or the kernel (:mod:`softlab.timing.what_if`); "" for nothing.
    ``timeline``: what each warp of the simulated SM did when, if it was asked for.
    """

    kernel: str
    device: str
    cache: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    microseconds: float
    cycles: float
    launch_microseconds: float
    bound: str
    stalls: Mapping[str, float]
    use: Mapping[str, float]
    occupancy: float
    dram_bytes: float
    l1_hit_rate: float
    l2_hit_rate: float
    instructions: float
    blocks: int
    validated: str
    notes: tuple[str, ...] = ()
    fp32_operations: float = 0.0
    what_if: str = ""
    timeline: SmTimeline | None = field(default=None, repr=False, compare=False)
    _lines: Mapping[int, LineTime] = field(default_factory=dict, repr=False)

    def by_line(self) -> dict[int, LineTime]:
        """Line of the kernel's source -> its time, in order of the lines."""
        return dict(sorted(self._lines.items()))

    @property
    def _name(self) -> str:
        return self.kernel + (f", what if: {self.what_if}" if self.what_if else "")

    def _costly(self) -> list[LineTime]:
        return sorted(self._lines.values(), key=lambda one: -one.cycles)[:_LINES]

    def _rows(self) -> list[tuple[str, str]]:
        stalls = ", ".join(f"{name} {share:.0%}" for name, share in list(self.stalls.items())[:_STALLS])
        where = f"{with_article(self.device)}, {self.cache} cache"
        rows = [
            ("time", f"{self.microseconds:.2f} us on {where}; {self.cycles:.0f} cycles"),
            ("bound by", f"{self.bound} ({_uses(self.use)})"),
            ("warps", stalls),
            ("occupancy", f"{self.occupancy:.0%}"),
            ("DRAM", f"{self.dram_bytes / 1e6:.2f} MB; hits: L1 {self.l1_hit_rate:.0%}, L2 {self.l2_hit_rate:.0%}"),
            ("validated", self.validated),
        ]
        return rows + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        simulated = "1 block" if self.blocks == 1 else f"{self.blocks} blocks"
        head = f"Estimate of {self._name}: grid {self.grid}, block {self.block}, {simulated} simulated"
        rows = [f"  {name:<10} {value}" for name, value in self._rows()]
        lines = [f"  line {one.line:<5} {one.cycles:8.0f} cycles per warp{_why(one)}" for one in self._costly()]
        return "\n".join([head, *rows, *lines])

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self._rows()]
        rows += [(f"line {one.line}", f"{one.cycles:.0f} cycles per warp{_why(one)}") for one in self._costly()]
        body = "\n".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
        return f"<table>\n<caption>Estimate of {escape(self._name)}</caption>\n{body}\n</table>"


def _uses(use: Mapping[str, float]) -> str:
    top = sorted(use.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{name} {share:.0%}" for name, share in top)


def _why(one: LineTime) -> str:
    if not one.reason:
        return ""
    behind = f", waits for line {one.waits_for}" if one.waits_for else ""
    return f" ({one.share:.0%}): {one.reason}{behind}"
