"""An estimate of a launch's time in words, and what each line waits for as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping

from softlab.hardware.devices import with_article
from softlab.timing.estimates import Estimate, LineTime
from softlab.views import svg
from softlab.views.style import BLUE, ORANGE, ROLES, SKY, VERMILLION, YELLOW

#: Mark of an output that shows an estimate: the model changes, so notebooks are stored without such outputs.
ESTIMATE = "softlab-estimate"
#: What bounds a launch, as the end of "it is bound by ...".
BOUND_WORDS = {
    "dram": "the bandwidth of DRAM",
    "l2": "the bandwidth of L2",
    "l1": "the load and store unit with L1",
    "shared": "the wavefronts of shared memory",
    "issue": "the schedulers: they issue in nearly every cycle",
    "fma": "the units for multiply and add",
    "alu": "the units for integers and logic",
    "fp64": "the units for double precision",
    "sfu": "the unit for special functions and conversions",
    "uniform": "the uniform datapath",
    "tensor": "the tensor cores",
    "atomics": "atomics on the same addresses",
    "latency": "latency: no unit is busy, the warps wait for results",
    "barrier": "barriers: the warps wait for each other",
    "launch": "starting the kernel, which takes longer than its work",
}
#: Nsight Compute's name of a warp state -> what a warp waits for, as the end of "a warp waits there for ...".
STALL_WORDS = {
    "wait": "the fixed latency of its last instruction",
    "long_scoreboard": "L1, L2 or DRAM",
    "short_scoreboard": "shared memory, a shuffle or a special function",
    "barrier": "other warps at a barrier",
    "membar": "a memory fence",
    "mio_throttle": "a free entry in the queue of shared memory, shuffles and special functions",
    "lg_throttle": "a free entry in the queue of global memory",
    "math_pipe_throttle": "an arithmetic unit that is busy",
    "dispatch_stall": "the dispatcher",
    "not_selected": "its turn, since the scheduler issues another warp",
    "no_instruction": "its next instruction, which is not in the instruction cache yet",
    "imc_miss": "a constant, such as a parameter of the kernel, that is not in the cache yet",
    "branch_resolving": "a branch",
    "sleeping": "the end of a sleep",
}
#: What a warp does or waits for -> its colour and Nsight Compute's states that belong to it, in the bars' order.
GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "issues": (BLUE, ("selected",)),
    "fixed latency": (SKY, ("wait", "branch_resolving", "dispatch_stall")),
    "arithmetic is busy": (VERMILLION, ("math_pipe_throttle",)),
    "L1, L2, DRAM": (ROLES["global"], ("long_scoreboard", "lg_throttle", "membar")),
    "shared memory, shuffles, special functions": (ROLES["shared"], ("short_scoreboard", "mio_throttle")),
    "barrier": (ORANGE, ("barrier", "sleeping")),
    "code and constants": (YELLOW, ("no_instruction", "imc_miss")),
    "another warp's turn": (ROLES["idle"], ("not_selected",)),
}
#: Lines that the bars show, and characters of their source.
MOST_LINES = 30
_SOURCE = 54
_ROW, _LEFT, _RIGHT = 22, 372, 150
#: Lines longer than this are cut where a sentence quotes them.
_QUOTED = 60


def estimate_sentences(found: Estimate, source: str = "") -> tuple[str, ...]:
    """The estimate in sentences: time and bound; the line that costs most; the model's error; what it could not see.

    ``source``: the text that the lines belong to; without it they are not quoted.
    """
    head = (
        f"Estimated {duration(found.microseconds)} on {with_article(found.device)} with a {found.cache} L2 cache, "
        f"bound by {BOUND_WORDS[found.bound]}."
    )
    error = found.validated[0].upper() + found.validated[1:] + "."
    return (head, *filter(None, (costliest_sentence(found, source),)), error, *(f"Note: {n}." for n in found.notes))


def costliest_sentence(found: Estimate, source: str = "") -> str:
    """The line on which a warp spends most of its time, and why; "" where no line is known."""
    lines = found.by_line().values()
    if not lines:
        return ""
    most = max(lines, key=lambda one: one.cycles)
    text = _quoted(source, most.line)
    return f"Line {most.line}{f' ({text})' if text else ''} takes {most.share:.0%} of a warp's time: {reason(most)}."


def reason(one: LineTime) -> str:
    """Why a line takes its time, as a clause."""
    if not one.reason:
        return "its instructions issue without a wait"
    behind = f", for the result of line {one.waits_for}" if one.waits_for and one.waits_for != one.line else ""
    return f"mostly a wait for {STALL_WORDS[one.reason]} ({one.reason}){behind}"


def duration(microseconds: float) -> str:
    """ "2.3 us", "45 us" or "1.2 ms": two or three digits, as many as the model deserves."""
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.1f} us" if microseconds < 100 else f"{microseconds:.0f} us"


def _quoted(source: str, line: int) -> str:
    lines = source.splitlines()
    text = lines[line - 1].strip() if 1 <= line <= len(lines) else ""
    return text if len(text) <= _QUOTED else text[: _QUOTED - 3].rstrip() + "..."


def stall_bars(found: Estimate, source: str) -> str:
    """SVG: for each line of ``source`` the cycles that a warp spends on it, as one bar stacked by what it waits for.

    Of many lines those are shown that cost most, in the order of the source. The text at the end of a bar is the first
    stall reason and the line whose result the warp waits for.
    """
    everything = sorted(found.by_line().values(), key=lambda one: -one.cycles)
    shown = sorted(everything[:MOST_LINES], key=lambda one: one.line)
    texts = source.splitlines()
    scale = (svg.WIDTH - _LEFT - _RIGHT) / max([one.cycles for one in shown], default=1.0)
    parts = [svg.text(0, 14, f"Cycles of a warp on each line of {found.kernel}, estimated", bold=True, size=13)]
    legend, y = group_legend({name for one in shown for name in one.states})
    parts += legend
    for one in shown:
        text = texts[one.line - 1].strip() if 1 <= one.line <= len(texts) else ""
        parts.append(svg.text(30, y + 15, one.line, anchor="end", fill=svg.FAINT, size=11))
        parts.append(svg.text(40, y + 15, text if len(text) <= _SOURCE else text[: _SOURCE - 3] + "...", size=11))
        x = float(_LEFT)
        for group, (colour, states) in GROUPS.items():
            cycles = {name: one.states[name] for name in states if one.states.get(name)}
            if width := sum(cycles.values()) * scale:
                words = ", ".join(f"{name} {value:.0f}" for name, value in cycles.items())
                tip = f"line {one.line}, {group}: {words} of {one.cycles:.0f} cycles"
                parts.append(svg.box(x, y + 3, width, _ROW - 6, colour, tip, line=one.line, group=group))
                x += width
        parts.append(svg.text(x + 6, y + 15, _end(one), fill=svg.FAINT, size=11))
        y += _ROW
    if hidden := everything[MOST_LINES:]:
        share = sum(one.share for one in hidden)
        parts.append(svg.text(40, y + 15, f"and {len(hidden)} more lines with {share:.1%} of the cycles", size=11))
        y += _ROW
    return svg.drawing(y + 4, parts, title=f"What each line of {found.kernel} waits for", estimated=True)


def _end(one: LineTime) -> str:
    behind = f", line {one.waits_for}" if one.waits_for and one.waits_for != one.line else ""
    return f"{one.share:.0%} {one.reason}{behind}".rstrip()


def group_legend(states: set[str]) -> tuple[list[str], float]:
    """The groups that occur, in as many rows as they need, and where the bars begin."""
    parts, x, y = [], 0.0, 26.0
    for group, (colour, names) in GROUPS.items():
        if not states & set(names):
            continue
        wide = 24 + 6.4 * len(group)
        if x + wide > svg.WIDTH:
            x, y = 0.0, y + 18
        parts += [svg.box(x, y, 12, 12, colour, ", ".join(names)), svg.text(x + 16, y + 10, group, size=11)]
        x += wide
    return parts, y + 20
