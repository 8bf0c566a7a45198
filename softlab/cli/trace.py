"""``softlab trace``: run a softmax in the emulator and show its counters. A long run is announced before it starts."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import softlab
from softlab.cli.output import print_json, print_table
from softlab.cli.registry import command, json_option, problem_options

#: A problem of at most this many elements runs at once: it takes a second or two.
SHORT = 2**22
#: Elements of the run that an estimate is made from, and the least number of its rows.
_SAMPLE, _SAMPLE_ROWS = 2**20, 4
#: An estimate below this many seconds is not worth a line.
_WORTH_SAYING = 5.0


def _arguments(parser: argparse.ArgumentParser) -> None:
    problem_options(parser)
    json_option(parser)
    parser.add_argument("--by-line", action="store_true", help="also show the counters of each line of the kernel")


@command("trace", "Run a softmax of random numbers in the emulator and show what its warps did.", _arguments)
def _trace(options: argparse.Namespace) -> int:
    # A problem that has no plan is refused before anything is drawn.
    softlab.plan(options.rows, options.cols, options.dtype, op=options.op, policy=options.policy, device=options.device)
    if warning := announcement(options):
        print(warning, file=sys.stderr, flush=True)
    trace = _traced(options, options.rows)
    lines = trace.by_line() if options.by_line else {}
    if options.json:
        record = {"plan": trace.plan.record(), "counters": dict(trace.counters)}
        return print_json(record | ({"by_line": lines} if options.by_line else {}))
    print_table(repr(trace.plan).strip("<>"), ("counter", "value"), trace.counters.items())
    if lines:
        source = trace.run.source.splitlines()
        names = [name for name in trace.counters if any(counts[name] for counts in lines.values())]
        rows = [(n, source[n - 1].strip(), *(c[name] or "" for name in names)) for n, c in lines.items()]
        print_table(trace.run.file, ("line", "source", *(name.replace("_", " ") for name in names)), rows)
    return 0


def _traced(options: argparse.Namespace, rows: int) -> Any:
    import numpy as np

    from softlab.dtypes import element_type

    dtype = element_type(options.dtype).numpy
    # The counters do not depend on the values. Single precision needs half the memory of NumPy's default.
    drawn = np.random.default_rng(0).standard_normal((rows, options.cols), np.promote_types(dtype, np.float32))
    return softlab.trace(drawn.astype(dtype), op=options.op, policy=options.policy, device=options.device)


def announcement(options: argparse.Namespace) -> str:
    """How long the run will take on this machine, and how to take fewer rows; "" for a run of a few seconds.

    The estimate is measured: it runs a smaller problem of the same row length and takes the whole for as many times
    longer as it has more rows.
    """
    rows, cols = options.rows, options.cols
    few = max(_SAMPLE_ROWS, _SAMPLE // max(cols, 1))
    if rows <= few or rows * cols <= SHORT:
        return ""
    plan = softlab.plan(rows, cols, options.dtype, op=options.op, policy=options.policy, device=options.device)
    sampled = _traced(options, few)  # compiles the kernel, so that the measured run does not
    fewer = f"Fewer rows show the same accesses: softlab trace {few} {cols}. Ctrl-C ends this run."
    memory = f"It needs more than {plan.global_bytes / 1e9:.1f} GB of memory. " if plan.global_bytes > 1e9 else ""
    if sampled.plan.kernel != plan.kernel:
        return (
            f"No estimate of the time: {rows} rows take the kernel {plan.kernel}, {few} rows {sampled.plan.kernel}, "
            f"and {rows * cols} elements are many for the emulator. {memory}{fewer}"
        )
    start = time.perf_counter()
    _traced(options, few)
    measured = time.perf_counter() - start
    seconds = measured / few * rows
    if seconds < _WORTH_SAYING and not memory:
        return ""
    return (
        f"The emulator will take about {duration(seconds)} for {rows} rows "
        f"(measured just now: {few} rows in {measured:.2f} s). {memory}{fewer}"
    )


def duration(seconds: float) -> str:
    """ "7 s", "3 min" or "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
