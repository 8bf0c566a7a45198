"""More of the random cases than the tests run: ``python -m tests.fuzz programs|ptx|straight|loops|kernels --count N``.

``programs``: random programs with control flow, held to NumPy (:mod:`tests.fuzz.structured`).
``straight``: random straight-line PTX of all pure opcodes: the same bits with checks and without.
``loops``: random loops, compiled and step by step (:mod:`tests.fuzz.loops`); it needs llvmlite.
``kernels``: random kernels of CUDA C++, compiled and step by step (:mod:`tests.fuzz.kernels`); a case is a module of
twelve. ``ptx``: damaged PTX; each ends with a result or with an error of softlab (:mod:`tests.fuzz.damaged`).

Each failure is a line with its number. The exit status is 1 where one failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from tests.fuzz import damaged, differential, kernels, loops, programs, structured

#: Cases that a process takes at a time.
CHUNK = 50


def _program(number: int) -> str:
    found = structured.differences(number)
    assert not found, "; ".join(found)
    return "as NumPy has it"


def _straight(number: int) -> str:
    assert (found := programs.unequal(number)) == "", found
    return "the same bits"


def _loops(number: int) -> str:
    assert not (found := loops.differences(number)), "; ".join(found)
    return "the same both ways"


def _kernels(number: int) -> str:
    group = kernels.group(number)
    module = differential.compiled(group)
    for kernel in group:
        same = differential.same_both_ways(kernel, module)
        assert same, f"{kernel.name} has other results when it is compiled"
    return "the same both ways"


CASES: dict[str, Callable[[int], str]] = {
    "programs": _program,
    "straight": _straight,
    "loops": _loops,
    "kernels": _kernels,
    "ptx": damaged.outcome,
}


def attempt(kind: str, number: int) -> tuple[str, str, float]:
    """(outcome, what went wrong or "", CPU seconds) of one case."""
    start = time.process_time()
    outcome, failure = _attempt(kind, number)
    return outcome, failure, time.process_time() - start


def _attempt(kind: str, number: int) -> tuple[str, str]:
    try:
        with np.errstate(all="ignore"):
            return CASES[kind](number), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        message = " ".join(str(error).split())[:300]
        return f"FAILED {type(error).__name__}", f"{kind} {number}: {type(error).__name__} at {where}: {message}"


def _chunk(kind: str, first: int, count: int) -> list[tuple[str, str, float]]:
    return [attempt(kind, number) for number in range(first, first + count)]


def main(arguments: list[str] | None = None) -> int:
    """Run the cases and print what failed; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=sorted(CASES))
    parser.add_argument("--count", type=int, default=1000, help="cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args(arguments)
    start, outcomes = time.perf_counter(), Counter[str]()
    slowest, spent = (0.0, asked.first), 0.0
    chunk = max(1, min(CHUNK, -(-asked.count // asked.processes)))
    with ProcessPoolExecutor(asked.processes) as pool:
        firsts = range(asked.first, asked.first + asked.count, chunk)
        counts = [min(chunk, asked.first + asked.count - first) for first in firsts]
        chunks = pool.map(_chunk, [asked.kind] * len(firsts), firsts, counts)
        for first, results in zip(firsts, chunks, strict=True):
            for number, (outcome, failure, seconds) in enumerate(results, first):
                outcomes[outcome] += 1
                slowest, spent = max(slowest, (seconds, number)), spent + seconds
                if failure:
                    print(failure, flush=True)
            if sys.stderr.isatty():
                done = first + len(results) - asked.first
                print(f"\r{done} of {asked.count} cases", end="", file=sys.stderr, flush=True)
    for outcome, times in outcomes.most_common():
        print(f"{times:7} {outcome}")
    print(f"{asked.count} cases, {time.perf_counter() - start:.0f} s, {spent:.0f} s of CPU time; "
          f"the longest is {slowest[1]}, {slowest[0]:.1f} s of CPU time")  # fmt: skip
    return int(any(outcome.startswith("FAILED") for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
