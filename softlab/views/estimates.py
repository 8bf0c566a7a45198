"""An estimate of a launch's time in words: how long, what bounds it, and which line costs most."""

from __future__ import annotations

from softlab.timing.estimates import Estimate, LineTime

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
    "mio_throttle": "a place in the queue of shared memory, shuffles and special functions",
    "lg_throttle": "a place in the queue of global memory",
    "math_pipe_throttle": "an arithmetic unit that is busy",
    "dispatch_stall": "the dispatcher",
    "not_selected": "its turn, since the scheduler issues another warp",
    "no_instruction": "its next instruction, which is not in the instruction cache yet",
    "imc_miss": "a constant, such as a parameter of the kernel, that is not in the cache yet",
    "branch_resolve": "a branch",
    "sleeping": "the end of a sleep",
}
#: Lines longer than this are cut where a sentence quotes them.
_QUOTED = 60


def estimate_sentences(found: Estimate, source: str = "") -> tuple[str, ...]:
    """The estimate in sentences: time and bound; the line that costs most; the model's error; what it could not see.

    ``source``: the text that the lines belong to; without it they are not quoted.
    """
    head = (
        f"Estimated {duration(found.microseconds)} on an {found.device} with a {found.cache} L2 cache, bound by "
        f"{BOUND_WORDS[found.bound]}."
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
