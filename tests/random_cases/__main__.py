"""Run random cases again, or more of them: ``python -m tests.random_cases --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.random_cases.cases import ROWS, Case, drawn, parsed, shrunk
from tests.random_cases.check import CaseExecutor, Emulator, run
from tests.random_cases.few_sms import MANY_ROWS, plan_for


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status is 1 where a case fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_cases", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("number", type=int, nargs="?", help="this case alone")
    parser.add_argument("--count", type=int, default=100, help="run the first COUNT cases of the seed")
    parser.add_argument("--case", help="a case as it was printed")
    parser.add_argument("--most", type=int, default=20_000, help="elements of an array at most")
    parser.add_argument("--gpu", action="store_true", help="on the GPU, not in the emulator")
    parser.add_argument("--sms", type=int, default=0, help="number of SMs to plan for, with more rows; 0: all")
    given = parser.parse_args(arguments)
    executor = _executor(given.gpu)
    if given.sms:
        plan_for(given.sms)
    if given.case:
        cases = [parsed(given.case)]
    else:
        numbers = range(given.count) if given.number is None else [given.number]
        rows = MANY_ROWS if given.sms else ROWS
        cases = [drawn(given.seed, number, most=given.most, rows=rows) for number in numbers]
    failed = [case for case in cases if _failed(case, executor)]
    print(f"{len(cases)} cases, {len(failed)} failed")
    return 1 if failed else 0


def _executor(gpu: bool) -> CaseExecutor:
    if not gpu:
        return Emulator()
    from tests.hardware.random_cases import Gpu

    return Gpu()


def _failed(case: Case, executor: CaseExecutor) -> bool:
    """Run it; a failing case is printed, and the plainest one that fails alike."""
    outcome = run(case, executor)
    if not outcome.problem:
        return False
    print(f"{case}\n  {outcome.problem}", flush=True)
    small = shrunk(case, lambda other: bool(run(other, executor).problem))
    print(f"  plainest: python -m tests.random_cases --case '{small}'\n  {run(small, executor).problem}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
