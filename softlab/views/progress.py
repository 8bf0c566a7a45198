"""Verdicts on exercises and a learner's progress as HTML that follows JupyterLab's theme."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Protocol

from softlab.views.style import BLUE, GREEN, INK, MONOSPACE, RULE, VERMILLION

_TEXT = "font-size:13px;line-height:20px;color:var(--jp-content-font-color1,inherit)"
#: State of a verdict -> its colour and its mark; the mark has the same meaning without colour.
_LOOKS = {"right": (GREEN, "✓"), "wrong": (VERMILLION, "✗"), "unanswered": (INK, "○")}


class Part(Protocol):
    """``done`` of ``of`` things called ``name``."""

    @property
    def name(self) -> str:
        """What they are."""

    @property
    def done(self) -> int:
        """How many are done."""

    @property
    def of(self) -> int:
        """How many there are."""


def verdict_html(state: str, message: str, parts: Iterable[Part] = ()) -> str:
    """A verdict ("right", "wrong", "unanswered") with its message; below it a bar for each part, such as a notebook.

    Backquotes in the message mark code.
    """
    colour, mark = _LOOKS[state]
    line = f'<b style="color:{colour}">{mark}</b> {_with_code(message)}'
    drawn = "".join(f'<span style="margin-right:24px;white-space:nowrap">{_bar(part)}</span>' for part in parts)
    below = f'<div style="margin-top:4px">{drawn}</div>' if drawn else ""
    return (
        f'<div class="softlab-verdict softlab-{state}" style="{_TEXT};border-left:4px solid {colour};'
        f'padding:2px 10px;margin:4px 0">{line}{below}</div>'
    )


def overview_html(parts: Iterable[Part], whole: Part) -> str:
    """A table: a line with a bar for each part, and one for the whole."""
    cell = 'style="padding:1px 16px 1px 0;text-align:left"'
    rows = "".join(
        f"<tr><td {cell}>{escape(part.name)}</td><td {cell}>{_bar(part, named=False)}</td></tr>" for part in parts
    )
    last = f"<tr><th {cell}>{escape(whole.name)}</th><th {cell}>{_bar(whole, named=False)}</th></tr>"
    return f'<table class="softlab-progress" style="border-collapse:collapse;{_TEXT}">{rows}{last}</table>'


def _bar(part: Part, *, named: bool = True) -> str:
    share = part.done / part.of if part.of else 0
    colour = GREEN if part.of and part.done == part.of else BLUE
    bar = "height:8px;border-radius:4px"
    drawn = (
        f'<span style="display:inline-block;width:90px;margin-right:8px;{bar};background:{RULE}">'
        f'<span style="display:block;width:{share:.0%};{bar};background:{colour}"></span></span>'
    )
    return f"{drawn}{part.done} of {part.of}{' ' + escape(part.name) if named else ''}"


def _with_code(message: str) -> str:
    font = escape(MONOSPACE, quote=True)
    return re.sub(r"`([^`]+)`", rf'<code style="font-family:{font};font-size:12px">\1</code>', escape(message))
