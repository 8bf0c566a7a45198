"""The choice of a block size: each query of the occupancy arithmetic, the alternatives, and where it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from softlab.plans import Alternative, Plan
from softlab.plans.planner import Step
from softlab.views import svg
from softlab.views.style import ROLES, SERIES
from softlab.views.tables import limits, shown, table

#: Answers from the bottom of the picture to its top: other kernels, then the block sizes.
LEVELS = ("warp", 128, 256, 512, 1024, "block_uncached")
_TOP, _LEVEL, _LEFT, _TICK = 34, 24, 130, 2048


@dataclass(frozen=True)
class Stretch:
    """Row lengths from ``first`` to ``last`` that all get one answer: a block size, or the name of another kernel."""

    first: int
    last: int
    answer: int | str


def queries(plan: Plan) -> list[Step]:
    """The questions about block sizes, in the order in which they were asked."""
    return [step for step in plan.steps if "block_size" in step.values]


def query_table(plan: Plan) -> str:
    """HTML: one row per query: what was asked, the answer, what it was compared with, what followed."""
    rows, marked = [], []
    for number, step in enumerate(queries(plan), 1):
        values = step.values
        size, wanted = values["block_size"], values.get("wanted")
        chosen = plan.kernel == "block_smem" and size == plan.block_size
        rows.append(
            (
                number,
                f"blocks of {size}",
                f"{values['registers']} registers",
                f"{shown(values['static_smem_bytes'])} + {shown(values['smem_bytes'])} bytes",
                step.answer,
                limits(values["limiters"]),
                "the number to match" if wanted is None else f"as many as {wanted}?",
                _verdict(step, chosen),
            )
        )
        if chosen:
            marked.append((number - 1, 1))
    head = ["", "asked about", "per thread", "shared memory", "held", "limited by", "compared", "so"]
    if not rows:
        why = next(step for step in plan.steps if step.question.startswith("Which kernel"))
        return table(["", ""], [("no block size to choose", why.rule or plan.kernel)], caption="What was asked")
    return table(
        head, rows, caption="How many blocks does an SM hold? Asked in this order", marked=marked, mark="choice"
    )


def _verdict(step: Step, chosen: bool) -> str:
    wanted = step.values.get("wanted")
    if chosen:
        return "taken"
    if wanted is None:
        return "now the largest first" if step.answer else "does not fit: block_uncached"
    return "taken" if step.answer == wanted else f"no: {step.answer} is not {wanted}"


def size_bars(alternatives: Sequence[Alternative], recorded: Mapping[int, float], where: str = "") -> str:
    """SVG: for each block size of the shared-memory kernel the warps an SM holds, and its recorded share of a copy.

    ``recorded``: block size -> share (1.0 is as fast as a device copy); ``where`` says of what.
    """
    sizes = [other for other in alternatives if other.kernel == "block_smem"]
    parts = [svg.text(0, 14, "Every block size, taken or not", bold=True, size=13)]
    half = 300
    parts += [
        svg.text(_LEFT, 32, "warps per SM", fill=svg.FAINT, size=11),
        svg.text(_LEFT + half + 110, 32, where or "no time recorded for this", fill=svg.FAINT, size=11),
    ]
    for row, other in enumerate(sizes):
        y = 38 + row * 26
        words = f"blocks of {other.block_size}" + (" \N{CHECK MARK}" if other.chosen else "")
        parts.append(svg.text(_LEFT - 8, y + 15, words, anchor="end", bold=other.chosen))
        if other.plan is None:
            parts.append(svg.text(_LEFT, y + 15, f"does not fit: {_short(other.reason)}", fill=svg.FAINT, size=11))
            continue
        held = other.plan.occupancy
        fill = ROLES["choice"] if other.chosen else SERIES[0]
        tip = f"{held.blocks_per_sm} blocks of {other.block_size} threads: {held.warps_per_sm} warps"
        parts += [
            svg.box(_LEFT, y, half, 20, "", outline=True),
            svg.box(
                _LEFT, y, half * held.fraction, 20, fill, tip,
                marked=other.chosen, size=other.block_size, warps=held.warps_per_sm, chosen=int(other.chosen),
            ),
            svg.text(_LEFT + half + 6, y + 15, f"{held.warps_per_sm} in {held.blocks_per_sm} blocks"),
        ]  # fmt: skip
        if (share := recorded.get(other.block_size)) is not None:
            parts += [
                svg.box(
                    _LEFT + half + 110, y, 230 * share, 20, SERIES[1], f"{share:.1%} of a device copy",
                    marked=other.chosen, size=other.block_size, share=f"{share:.3f}",
                ),
                svg.text(_LEFT + half + 116 + 230 * share, y + 15, f"{share:.0%}"),
            ]  # fmt: skip
    return svg.drawing(40 + 26 * len(sizes), parts, title="block sizes side by side")


@dataclass(frozen=True)
class _AnswerAxes:
    """Where the chart draws a row length and an answer."""

    first: int
    last: int
    bottom: float = _TOP + _LEVEL * len(LEVELS)
    right: float = svg.WIDTH - 20

    def x(self, cols: float) -> float:
        return _LEFT + (self.right - _LEFT) * (cols - self.first) / (self.last - self.first)

    def y(self, answer: int | str) -> float:
        return _TOP + _LEVEL * (len(LEVELS) - LEVELS.index(answer) - 0.5)


def stretches_chart(stretches: Sequence[Stretch], cols: int, *, title: str) -> str:
    """SVG: the answer over the row length, as steps; ``cols`` is the row length that the explorer shows."""
    axes = _AnswerAxes(stretches[0].first, stretches[-1].last)
    parts = [svg.text(0, 14, title, bold=True, size=13), *_levels(axes)]
    before: float | None = None
    for stretch in stretches:
        start, stop, y = axes.x(stretch.first), axes.x(min(stretch.last + 1, axes.last)), axes.y(stretch.answer)
        here = stretch.first <= cols <= stretch.last
        if before is not None:
            parts.append(svg.line(start, before, start, y, stroke=SERIES[0], width=2))
        parts.append(
            svg.box(
                start, y - 5, max(stop - start, 2), 10, ROLES["choice"] if here else SERIES[0],
                f"{shown(stretch.first)} to {shown(stretch.last)} columns: {stretch.answer}",
                marked=here, first=stretch.first, last=stretch.last, answer=stretch.answer,
            )
        )  # fmt: skip
        before = y
    parts += [*_marker(axes, cols), *_ticks(axes)]
    return svg.drawing(axes.bottom + 22, parts, title=title)


def _levels(axes: _AnswerAxes) -> list[str]:
    """A line and a label for each answer."""
    parts = []
    for level in reversed(LEVELS):
        y = axes.y(level)
        words = f"blocks of {level}" if isinstance(level, int) else level
        parts += [svg.line(_LEFT, y, axes.right, y), svg.text(_LEFT - 8, y + 4, words, anchor="end")]
    return parts


def _marker(axes: _AnswerAxes, cols: int) -> list[str]:
    """A dashed line at the row length that the explorer shows."""
    x = axes.x(min(max(cols, axes.first), axes.last))
    anchor: svg.Anchor = "end" if x > svg.WIDTH - 120 else "start"
    return [
        svg.line(x, _TOP - 8, x, axes.bottom, stroke=svg.INK, width=1.5, dashed=True),
        svg.text(x + (-5 if anchor == "end" else 5), _TOP - 2, f"{shown(cols)} columns", anchor=anchor),
    ]


def _ticks(axes: _AnswerAxes) -> list[str]:
    parts = []
    for tick in range(-(-axes.first // _TICK) * _TICK, axes.last + 1, _TICK):
        parts += [
            svg.line(axes.x(tick), axes.bottom, axes.x(tick), axes.bottom + 4),
            svg.text(axes.x(tick), axes.bottom + 16, shown(tick), anchor="middle", fill=svg.FAINT, size=11),
        ]
    return [*parts, svg.text(0, axes.bottom + 16, "columns", fill=svg.FAINT, size=11)]


def _short(reason: str) -> str:
    """The limit that is broken: the words between "does not fit in blocks of ...:" and the advice."""
    return (reason.partition(": ")[2].partition(";")[0] or reason).replace("smem:", "shared memory:")
