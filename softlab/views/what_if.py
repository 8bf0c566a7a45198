"""What if, as a picture: how long a launch takes as it is and with each change, stacked by what its warps wait for."""

from __future__ import annotations

from collections.abc import Sequence

from softlab.hardware.devices import with_article
from softlab.timing.estimates import Estimate
from softlab.timing.what_if import CHANGES, WhatIf
from softlab.views import svg
from softlab.views.estimates import BOUND_WORDS, GROUPS, STALL_WORDS, duration, group_legend

_LEFT, _RIGHT, _ROW = 150, 210, 34
#: A change that makes a launch faster by less than this changes nothing that the model could tell.
_LITTLE = 0.02
#: Gains and losses of less than this are said in percent.
_PERCENT = 0.8


def what_if_bars(found: WhatIf) -> str:
    """SVG: one bar per change, as long as the estimated time, stacked by the shares of the warps' cycles."""
    shown = {"as it is": found.base, **found.changed}
    scale = (svg.WIDTH - _LEFT - _RIGHT) / max(one.microseconds for one in shown.values())
    title = f"What if? {found.base.kernel} on {with_article(found.base.device)}, estimated"
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    legend, y = group_legend({name for one in shown.values() for name in one.stalls})
    parts += legend
    for name, one in shown.items():
        parts.append(svg.text(_LEFT - 8, y + 17, name, anchor="end", bold=one is found.base))
        parts += _bar(name, one, y, scale)
        x = _LEFT + one.microseconds * scale + 8
        parts.append(svg.text(x, y + 11, duration(one.microseconds), bold=True))
        parts.append(svg.text(x, y + 24, _end(found, name, one), fill=svg.FAINT, size=11))
        y += _ROW
    return svg.drawing(y + 2, parts, title=title, estimated=True)


def _bar(name: str, one: Estimate, y: float, scale: float) -> list[str]:
    parts, x = [], float(_LEFT)
    for group, (colour, states) in GROUPS.items():
        shares = {state: one.stalls[state] for state in states if one.stalls.get(state)}
        if width := sum(shares.values()) * one.microseconds * scale:
            words = ", ".join(f"{state} {share:.0%}" for state, share in shares.items())
            tip = f"{name}, {group}: {words} of the warps' cycles"
            parts.append(svg.box(x, y, width, _ROW - 10, colour, tip, change=name, group=group))
            x += width
    return parts


def _end(found: WhatIf, name: str, one: Estimate) -> str:
    if one is found.base:
        return f"bound by {one.bound}"
    gain = found.speedup(name)
    if abs(gain - 1) < _LITTLE:
        return f"no change; bound by {one.bound}"
    return f"{gain_words(gain)}; bound by {one.bound}"


def gain_words(gain: float) -> str:
    """How many times as fast, in words: "2.3 times as fast", "4 % faster", "7 % slower"."""
    if gain < 1:
        return f"{1 / gain:.2g} times as long" if gain < _PERCENT else f"{1 / gain - 1:.0%} slower"
    return f"{gain:.2g} times as fast" if gain > 1 / _PERCENT else f"{gain - 1:.0%} faster"


def what_if_sentences(found: WhatIf) -> Sequence[str]:
    """What each change gains, and which wait goes away, in words."""
    return [f"As it is: {duration(found.base.microseconds)}, bound by {BOUND_WORDS[found.base.bound]}."] + [
        _sentence(found, name) for name in found.changed
    ]


def _sentence(found: WhatIf, name: str) -> str:
    one, gain = found.changed[name], found.speedup(name)
    head = f"With {name} ({CHANGES[name]}): {duration(one.microseconds)}"
    if abs(gain - 1) < _LITTLE:
        return f"{head}, no change that the model can tell."
    state, cycles = next(iter(found.removed(name).items()), ("", 0.0))
    if gain > 1 and cycles > 0 and state in STALL_WORDS:
        return f"{head}, {gain_words(gain)}. What goes away is mostly the wait for {STALL_WORDS[state]} ({state})."
    return f"{head}, {gain_words(gain)}; bound by {BOUND_WORDS[one.bound]}."
