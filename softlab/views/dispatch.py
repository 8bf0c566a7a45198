"""The dispatch as a ladder: every question from the Python call to the launch, its answers side by side, one lit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from softlab.plans import Alternative, Plan
from softlab.plans.planner import Step, shown
from softlab.views import svg
from softlab.views.style import ROLES, SERIES, ink_on
from softlab.views.tables import limits, table
from softlab.views.tables import shown as grouped

#: More answers than these are drawn from around the one taken.
MOST_ANSWERS = 9
_TAKEN = ROLES["choice"]
_STYLE = (
    "<style>.softlab-chip{display:inline-block;border-radius:10px;padding:0 9px;margin:1px 4px 1px 0;line-height:20px;"
    "border:1px solid var(--jp-border-color2,#ccc);color:var(--jp-content-font-color2,#666)}"
    f".softlab-chip.softlab-lit{{border-color:currentColor;background:{_TAKEN};color:{ink_on(_TAKEN)};font-weight:600}}"
    ".softlab-chip.softlab-tried{border-style:dashed}"
    # The answers go below their question where both have no room side by side.
    ".softlab-rung{display:flex;flex-wrap:wrap;align-items:baseline}"
    ".softlab-rung>:first-child{flex:0 0 350px;white-space:nowrap}"
    ".softlab-rung>:last-child{flex:1 1 240px}</style>"
)
_TEXT = "font-size:13px;line-height:22px;color:var(--jp-content-font-color1,inherit)"


def ladder(call: str, steps: Sequence[Step], plan: Plan) -> str:
    """HTML: every step from the Python call to the launch. The tip of an answer says what decided it.

    An answer that a later step takes back (the same question, another answer) is drawn as tried, not as taken.
    """
    last = {step.question: step.answer for step in steps}
    rungs = [_rung(number, step, step.answer == last[step.question]) for number, step in enumerate(steps, 1)]
    body = "".join(rungs)
    return (
        f'{_STYLE}<div style="{_TEXT}">'
        f'<div style="font-family:monospace;font-weight:600;overflow-wrap:anywhere">{escape(call)}</div>'
        f'<div style="border-left:2px solid {SERIES[0]};margin:2px 0 2px 10px;padding-left:12px">{body}</div>'
        f'<div style="font-weight:600">{escape(_launch(plan))}</div></div>'
    )


def _rung(number: int, step: Step, stays: bool) -> str:
    answers = _answers(step)
    taken = (
        f'<span class="softlab-chip softlab-lit" data-lit="1">\N{CHECK MARK} {escape(shown(step.answer))}</span>'
        if stays
        else f'<span class="softlab-chip softlab-tried">{escape(shown(step.answer))}: tried, and it does not fit</span>'
    )
    chips = "".join(
        taken
        if answer == step.answer
        else f'<span class="softlab-chip">{escape(answer if isinstance(answer, str) else shown(answer))}</span>'
        for answer in answers
    )
    why = "; ".join(
        filter(None, [step.rule, ", ".join(f"{name} {shown(value)}" for name, value in step.values.items())])
    )
    return (
        f'<div title="{escape(why, quote=True)}" data-step="{number}" class="softlab-rung">'
        f"<span>{escape(step.question)}</span><span>{chips}</span></div>"
    )


def _answers(step: Step) -> list[Any]:
    """The answers to draw: all of few, else the ends and the neighbours of the one taken."""
    if step.answer not in step.choices:
        return [step.answer]
    choices = list(step.choices)
    if len(choices) <= MOST_ANSWERS:
        return choices
    at = choices.index(step.answer)
    kept = sorted({0, len(choices) - 1, *(k for k in range(at - 2, at + 3) if 0 <= k < len(choices))})
    found: list[Any] = []
    for before, k in zip([-1, *kept], kept, strict=False):
        if k - before > 1:
            found.append("\N{HORIZONTAL ELLIPSIS}")
        found.append(choices[k])
    return found


def _launch(plan: Plan) -> str:
    if not plan.grid:
        return "nothing is launched"
    held = plan.occupancy
    waves = f"{plan.waves:.2f} times what the GPU holds at once" if held.blocks_per_sm else "more than an SM holds"
    return (
        f"{plan.kernel}: {grouped(plan.grid)} blocks of {plan.block[0]} x {plan.block[1]} threads,"
        f" {grouped(plan.smem_bytes)} bytes of dynamic shared memory; {waves}"
    )


def consequences_table(plans: Mapping[str, Plan], recorded: Mapping[str, str]) -> str:
    """HTML: one column per plan (label -> plan): what it moves, holds and takes. ``recorded``: label -> its time."""
    rows = [(name, *(fact(plan) for plan in plans.values())) for name, fact in _FACTS]
    rows.append(("recorded", *(recorded.get(label, "not recorded") for label in plans)))
    return table(["", *plans], rows, caption="What follows from it")


_FACTS: tuple[tuple[str, Callable[[Plan], str]], ...] = (
    ("kernel", lambda p: f"{p.kernel}, packs of {p.pack_size}"),
    ("launch", lambda p: f"{grouped(p.grid)} blocks of {p.block_size} threads, {p.waves:.2f} waves"),
    ("registers per thread", lambda p: f"{p.registers}"),
    ("shared memory per block", lambda p: f"{grouped(p.static_smem_bytes + p.smem_bytes)} bytes"),
    ("warps per SM", lambda p: f"{p.occupancy.warps_per_sm}, limited by {limits(p.occupancy.limiters)}"),
    ("requested from global memory", lambda p: f"{grouped(p.global_bytes)} bytes"),
)


def alternatives_bars(alternatives: Sequence[Alternative], shares: Mapping[tuple[str, int], float], where: str) -> str:
    """SVG: the recorded speed of every kernel at every block size, as a share of a device copy's.

    ``shares``: (kernel, block size) -> share. Alternatives that do not fit, or were not measured, say so.
    """
    parts = [svg.text(0, 14, f"Every kernel and block size, {where}", bold=True, size=13)]
    wide, left = 480, 210
    for row, other in enumerate(alternatives):
        y = 22 + row * 20
        words = f"{other.kernel}, blocks of {other.block_size}" + (" \N{CHECK MARK}" if other.chosen else "")
        parts.append(svg.text(left - 8, y + 12, words, anchor="end", bold=other.chosen))
        share = shares.get((other.kernel, other.block_size))
        if share is None:
            reason = "not recorded" if other.plan else other.reason.partition("; ")[0].partition(". ")[0][:90]
            parts.append(svg.text(left, y + 12, reason, fill=svg.FAINT, size=11))
            continue
        fill = ROLES["choice"] if other.chosen else SERIES[0]
        parts += [
            svg.box(
                left, y, wide * share, 15, fill, f"{words}: {share:.1%} of a device copy",
                marked=other.chosen, kernel=other.kernel, size=other.block_size, share=f"{share:.3f}",
            ),
            svg.text(left + wide * (share if share < 0.92 else 1) + 6, y + 12, f"{share:.0%}"),
        ]  # fmt: skip
    bottom = 22 + 20 * len(alternatives)
    parts += [
        svg.line(left + wide, 18, left + wide, bottom, stroke=svg.INK, dashed=True),
        svg.text(left + wide + 4, bottom + 12, "device copy", anchor="middle", fill=svg.FAINT, size=11),
    ]
    return svg.drawing(bottom + 18, parts, title="recorded speed of every alternative")
