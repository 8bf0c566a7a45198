"""Do the tests bite? Changes of softlab, one at a time, each with the tests that run the changed line.

    python -m tests.mutation cover               # once: which test runs which line; about 15 minutes of CPU time
    python -m tests.mutation run --count 200     # 200 mutants, drawn at random; a mutant takes some seconds

cosmic-ray makes the mutants (``pip install "softlab[mutation]"``). For each, the tests that run the changed line run:
first those in the file for its module, then those in its folder of tests, the quick ones first, and at the end some
slow ones (:mod:`tests.mutation.covering`). A mutant is killed when one of them fails, or takes far more time than
without the change. One that only a left-out test would kill counts as a survivor. A recorded test that is no more is
said and left out. Each survivor is printed with its change. Two kinds of changes are left out, since they change no
behaviour: those of annotations, by rule, and those in ``equivalent.json``, each with a reason. The exit status is 1
where fewer than 95 % are killed.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.mutation.covering import GROUPS, NEWER, Selection, cover
from tests.mutation.mutants import AREAS, ROOT, Mutant, difference, sample
from tests.mutation.trees import Tree, checkout

#: The share of mutants that the tests must kill.
GOAL = 0.95
#: A test of a mutant may take that many CPU seconds, and that many times those that it takes without the change.
START, FACTOR = 30.0, 4.0


def run(asked: argparse.Namespace) -> int:
    """Judge a sample of mutants and print the survivors; the exit status."""
    start, score = time.perf_counter(), Counter[tuple[str, bool]]()
    selection = Selection()
    drawn = sample(asked.area or sorted(AREAS), asked.count, asked.seed, asked.only or [""])
    killers: set[str] = set()

    def limits(tests: Sequence[str]) -> dict[str, float]:
        return {test: START + FACTOR * selection.times[test] for test in tests}

    with tempfile.TemporaryDirectory(prefix="softlab-mutation-") as parent, ExitStack() as opened:
        trees = [Tree(checkout(ROOT, Path(parent) / str(number))) for number in range(asked.processes)]
        free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for tree in trees:
            opened.callback(tree.close)
            free.put(tree)
        # Where pytest itself cannot run, it would seem to kill each mutant.
        quickest = min(selection.times, key=selection.times.__getitem__)
        if (unsound := trees[0].failure(limits([quickest]), START)) is not None:
            print(f"Nothing can be shown: without a change, {quickest} ends with: {unsound}")
            return 2

        def judge(pair: tuple[Mutant, str]) -> str | None:
            """The test that kills the mutant, or None."""
            (mutant, code), tree = pair, free.get()
            target = tree.folder / mutant.path
            before = target.read_text()
            try:
                target.write_text(code)
                tests = selection.tests(mutant)
                return tree.failure(limits(tests), START) if tests else None
            finally:
                target.write_text(before)
                free.put(tree)

        with ThreadPoolExecutor(asked.processes) as pool:
            for (mutant, code), killer in zip(drawn, pool.map(judge, drawn), strict=True):
                score[mutant.area, killer is not None] += 1
                before, after = difference((ROOT / mutant.path).read_text(), code)
                where = f"{mutant.path}:{mutant.start[0]} {mutant.operator}"
                if killer is None:
                    tests = len(selection.tests(mutant))
                    print(f"SURVIVED {tests} tests: {where}\n  - {before}\n  + {after}", flush=True)
                else:
                    killers.add(killer)
                    if asked.verbose:
                        print(f"killed {where} by {killer}\n  + {after}", flush=True)
        # A test that fails without a change, too, has killed nothing.
        proof = sorted(killer for killer in killers if "::" in killer)
        unsound = trees[0].failure(limits(proof), START) if proof else None
    if unsound is not None:
        print(f"Nothing is shown: without a change, {unsound} fails")
        return 2
    for area in sorted({area for area, _ in score}):
        print(f"{area:12} {score[area, True]:4} of {score[area, True] + score[area, False]:4} killed")
    killed = sum(times for (_, dead), times in score.items() if dead)
    print(f"{killed} of {len(drawn)} killed, seed {asked.seed}, {time.perf_counter() - start:.0f} s")
    return int(killed < GOAL * len(drawn))


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    covering = commands.add_parser("cover", help="run the tests and record which lines each runs")
    covering.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; default: all; or {NEWER}: the tests that "
                          "no record has")  # fmt: skip
    running = commands.add_parser("run", help="judge a sample of mutants")
    running.add_argument("--count", type=int, default=100, help="mutants, drawn evenly from the areas")
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--area", choices=sorted(AREAS), action="append", help="default: all")
    running.add_argument(
        "--only", action="append", help="only mutants whose path:line contains this, such as rows.py:86"
    )
    running.add_argument("--verbose", action="store_true", help="print the mutants that are killed, too")
    running.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args(arguments)
    return cover(asked.groups or list(GROUPS)) if asked.command == "cover" else run(asked)


if __name__ == "__main__":
    sys.exit(main())
