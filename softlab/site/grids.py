"""Which states of each explorer the site has: every combination where they are few, slices of them where they are many.

A slice gives some traits values; the others keep the values that the explorer is made with. Besides, each control
alone takes the values of ``every`` from each state that a lesson shows first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from softlab.explorers.bandwidth import SHOWN


@dataclass(frozen=True)
class Every:
    """All values that a control offers; of a slider the first ``most`` (0: all).

    control: the attribute of the explorer that is the control, where it is not bound to the trait.
    """

    most: int = 0
    control: str = ""


#: Values of a trait: these, all that its control offers, or what a function of the explorer says.
Values = Sequence[Any] | Every | Callable[[Any], Sequence[Any]]


@dataclass(frozen=True)
class Grid:
    """The states of one explorer.

    every: trait -> all values that it takes, in the order in which the traits are set; slices: trait -> values, each
    slice a product; moved_by: "attribute.slot" of a picture -> the trait that a click on it sets; switches: attribute
    with a dict of switches -> the trait that is the tuple of their labels.
    """

    every: Mapping[str, Values] = field(default_factory=dict)
    slices: tuple[Mapping[str, Values], ...] = ()
    moved_by: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)

    @property
    def traits(self) -> tuple[str, ...]:
        """The traits of a key, in the order in which they are set."""
        return tuple(self.every)


ALL = Every()
_COLS = (32, 256, 1000, 1023, 1024, 4096)
_PLANNED_COLS = (1, 32, 64, 128, 256, 512, 1000, 1023, 1024, 1025, 2048, 4096, 8192, 12_272, 12_273, 12_274, 16_384)
_LONG_COLS = (32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
_THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024)
_REGISTERS = (16, 24, 32, 33, 40, 41, 48, 56, 64, 65, 72, 80, 81, 89, 96, 128, 168, 255)
_SMEM = (0, 4096, 8192, 16_384, 28_160, 28_416, 32_768, 49_152, 65_536, 101_376, 116_224, 232_448)
_SIZED_COLS = (256, 512, 768, 1024, 1026, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 9216, 10_240, 11_264, 12_272,
               12_274, 14_336, 16_384)  # fmt: skip
#: Steps of a run that are shown of a long one.
_POSITIONS = 17


def evenly(explorer: Any) -> list[int]:
    """Positions over the whole length of a run, its first and last step among them."""
    last = explorer.step_slider.max
    return sorted({round(last * k / (_POSITIONS - 1)) for k in range(_POSITIONS)})


def few_cols(explorer: Any) -> tuple[int, ...]:
    """Row lengths of plans, as far as the slider goes."""
    return _PLANNED_COLS + (_LONG_COLS if explorer.cols_slider.max > _PLANNED_COLS[-1] else ())


def _rows_at_once(explorer: Any) -> Sequence[int]:
    return range(explorer.rows_per_access)


def _curves(explorer: Any) -> list[tuple[str, ...]]:
    """Every set of curves."""
    names = tuple(explorer.switches)
    return [found for count in range(len(names) + 1) for found in combinations(names, count)]


def _other_curves(explorer: Any) -> list[tuple[str, ...]]:
    """The sets that differ by one curve from the one that is shown first."""
    first = set(explorer._made_with[1].get("shown") or (name for name in SHOWN if name in explorer.switches))
    return [tuple(name for name in explorer.switches if name in first ^ {other}) for other in explorer.switches]


_PLAN_SHAPES: Mapping[str, Values] = {"rows": (1, 32, 1024, 4096, 8192), "cols": few_cols}
_PARTS = ("scale", "bias", "mask", "causal", "dropout")

GRIDS: Mapping[str, Grid] = {
    "RowExplorer": Grid(),
    "LaunchExplorer": Grid(
        {
            "numbers": (1, 2, 31, 32, 33, 50, 64, 65, 96, 97, 100, 127, 128, 129, 200, 255, 256),
            "block": ALL,
            "thread": ALL,
        },
        ({"numbers": (32, 64, 100, 200, 256), "block": ALL, "thread": ALL},),
        {"diagram.lane": "thread"},
    ),
    "PlanExplorer": Grid(
        {**_PLAN_SHAPES, "dtype": ALL, "op": ALL, "policy": ALL, "device": ALL},
        (
            {**_PLAN_SHAPES, "dtype": ALL, "policy": ALL},
            {"cols": (64, 1024, 4096, 8192, 16_384), "policy": ("oneflow", "fast"), "device": ALL},
            {"cols": few_cols, "op": ALL, "policy": ALL},
        ),
    ),
    "NumericsExplorer": Grid(
        {"shift": (*range(-120, 0, 10), -104, -103, -87, -88, 0, 5, 11, 12, *range(10, 121, 10), 88, 89),
         "dtype": ALL, "subtract": ALL},
        ({"shift": (*range(-120, 0, 10), -104, -103, -87, -88, 0, 5, 11, 12, *range(10, 121, 10), 88, 89),
          "dtype": ALL, "subtract": ALL},),
    ),
    "PackExplorer": Grid(
        {"dtype": ALL, "kernel": ALL, "offset": ALL, "pack": ALL, "cols": (*_COLS, 64, 128, 512, 2048), "access": ALL},
        (
            {"dtype": ALL, "kernel": ALL, "pack": ALL, "cols": _COLS, "access": Every(4)},
            {"offset": ALL, "pack": ALL, "cols": (256, 1024)},
        ),
    ),
    "ShuffleExplorer": Grid(
        {"width": ALL, "rows_per_access": ALL, "op": ALL, "row": _rows_at_once, "step": ALL},
        ({"width": ALL, "rows_per_access": ALL, "op": ALL, "row": _rows_at_once, "step": ALL},),
    ),
    "StepperExplorer": Grid(
        {"kernel": ALL, "block": ALL, "warp": ALL, "step": Every(100), "shared_row": ALL},
        ({"warp": ALL, "step": Every(100)},),
    ),
    "BankExplorer": Grid(
        {"dtype": ALL, "layout": ALL, "pack": ALL, "cols": (*_COLS, 64, 128, 512, 2048),
         "access_line": Every(control="line_menu"), "access": ALL},
        (
            {"dtype": ALL, "layout": ALL, "pack": ALL, "cols": (256, 1000, 1024),
             "access_line": Every(control="line_menu"), "access": Every(4)},
        ),
    ),
    "TimelineExplorer": Grid(
        {"kernel": ALL, "block_size": ALL, "axis": ALL, "zoom": ALL, "step": evenly},
        (
            {"kernel": ALL, "block_size": ALL, "axis": ALL, "step": evenly},
            {"kernel": ALL, "axis": ALL, "zoom": (4, 16), "step": evenly},
        ),
    ),
    "CacheExplorer": Grid(
        {"cols": ALL, "block_size": ALL, "blocks": ALL}, ({"cols": ALL, "block_size": ALL, "blocks": ALL},)
    ),
    "OccupancyExplorer": Grid(
        {"device": ALL, "threads": _THREADS, "registers": _REGISTERS, "smem": _SMEM},
        (
            {"threads": _THREADS, "registers": _REGISTERS, "smem": _SMEM},
            {"device": ALL, "threads": (128, 256, 512, 1024), "registers": (32, 40, 64, 128)},
        ),
    ),
    "BlockSizeExplorer": Grid(
        {"cols": _SIZED_COLS, "dtype": ALL, "device": ALL, "op": ALL},
        (
            {"cols": _SIZED_COLS, "dtype": ALL, "op": ALL},
            {"cols": (1024, 2048, 4096, 8192, 12_272, 16_384), "device": ALL},
        ),
    ),
    "DispatchExplorer": Grid(
        {"rows": (1, 32, 1024, 4096, 65_536), "cols": (1, 32, 64, 256, 1000, 1023, 1024, 2048, 4096, 8192, 16_384),
         "axis": ALL, "op": ALL, "dtype": ALL, "device": ALL, "kernel": ALL, "pack": ALL, "block": ALL},
        (
            {"rows": (1, 32, 4096), "cols": (1, 32, 64, 256, 1023, 1024, 2048, 4096, 8192, 16_384), "axis": ALL,
             "dtype": ALL},
            {"cols": (64, 1024, 4096, 8192, 16_384), "device": ALL},
            {"cols": (1024, 8192), "kernel": ALL, "pack": ALL, "block": ALL},
        ),
    ),
    "BandwidthExplorer": Grid(
        {"dtype": ALL, "cols": ALL, "shown": _curves},
        ({"dtype": ALL, "cols": ALL}, {"cols": ALL, "shown": _other_curves}),
        switches={"switches": "shown"},
    ),
    "FusingExplorer": Grid(
        {"cols": ALL, "dtype": ALL, **dict.fromkeys(_PARTS, ALL)},
        (dict.fromkeys(_PARTS, ALL), {"cols": ALL, "dtype": ALL}),
    ),
    "SourceExplorer": Grid(
        {"counter": ALL, "line": lambda explorer: range(len(explorer.listing.lines) + 1)},
        ({"counter": ALL, "line": lambda explorer: range(len(explorer.listing.lines) + 1)},),
        {"panes.line": "line"},
    ),
    "LittlesLawExplorer": Grid(
        {"warps": (1, 2, *range(4, 65, 4)), "loads": (1, 2, 3, 4, 6, 8, 12, 16), "bytes": ALL, "memory": ALL},
        ({"warps": (1, 2, *range(4, 65, 4)), "loads": (1, 2, 3, 4, 6, 8, 12, 16), "bytes": ALL, "memory": ALL},),
    ),
}  # fmt: skip
