"""The choice of a block size: each query of the occupancy arithmetic, what else there was, and where it turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from softlab.dispatches import Step
from softlab.plans import Alternative, Plan
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
    """HTML: one row a query: what was asked, what the answer was, what it was compared with, what followed."""
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
                "the yardstick" if wanted is None else f"as many as {wanted}?",
                _verdict(step, chosen),
            )
        )
        if chosen:
            marked.append((number - 1, 1))
    head = ["", "asked about", "a thread", "shared memory", "held", "limited by", "compared", "so"]
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
        svg.text(_LEFT, 32, "warps an SM holds", fill=svg.FAINT, size=11),
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


def stretches_chart(stretches: Sequence[Stretch], cols: int, *, title: str) -> str:
    """SVG: the answer over the row length, as steps; ``cols`` is where we are."""
    first, last = stretches[0].first, stretches[-1].last
    wide = svg.WIDTH - _LEFT - 20

    def x(at: float) -> float:
        return _LEFT + wide * (at - first) / (last - first)

    height = _TOP + _LEVEL * len(LEVELS)
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    for k, level in enumerate(reversed(LEVELS)):
        y = _TOP + _LEVEL * (k + 0.5)
        words = f"blocks of {level}" if isinstance(level, int) else level
        parts += [svg.line(_LEFT, y, _LEFT + wide, y), svg.text(_LEFT - 8, y + 4, words, anchor="end")]
    before: float | None = None
    for stretch in stretches:
        y = _TOP + _LEVEL * (len(LEVELS) - LEVELS.index(stretch.answer) - 0.5)
        here = stretch.first <= cols <= stretch.last
        start, stop = x(stretch.first), x(min(stretch.last + 1, last))
        tip = f"{shown(stretch.first)} to {shown(stretch.last)} columns: {stretch.answer}"
        if before is not None:
            parts.append(svg.line(start, before, start, y, stroke=SERIES[0], width=2))
        fill = ROLES["choice"] if here else SERIES[0]
        parts.append(
            svg.box(
                start, y - 5, max(stop - start, 2), 10, fill, tip,
                marked=here, first=stretch.first, last=stretch.last, answer=stretch.answer,
            )
        )  # fmt: skip
        before = y
    here_x = x(min(max(cols, first), last))
    parts += [svg.line(here_x, _TOP - 8, here_x, height, stroke=svg.INK, width=1.5, dashed=True)]
    anchor: svg.Anchor = "end" if here_x > svg.WIDTH - 120 else "start"
    parts.append(svg.text(here_x + (-5 if anchor == "end" else 5), _TOP - 2, f"{shown(cols)} columns", anchor=anchor))
    for tick in range(0, last + 1, _TICK):
        if tick >= first:
            parts += [
                svg.line(x(tick), height, x(tick), height + 4),
                svg.text(x(tick), height + 16, shown(tick), anchor="middle", fill=svg.FAINT, size=11),
            ]
    parts.append(svg.text(0, height + 16, "columns", fill=svg.FAINT, size=11))
    return svg.drawing(height + 22, parts, title=title)


def _short(reason: str) -> str:
    """The limit that is broken: what stands between "does not fit in blocks of ...:" and the advice."""
    return (reason.partition(": ")[2].partition(";")[0] or reason).replace("smem:", "shared memory:")
