"""Grade all answers of others, and say how many verdicts are right: ``python -m tests.course.others [MODULE ...]``."""

from __future__ import annotations

import sys
import time

from tests.course.others import all_others
from tests.course.others.graded import graded


def main(modules: list[str]) -> None:
    begin = time.monotonic()
    found = []
    for others in all_others(*modules):
        for one in graded(others):
            print(one, flush=True)
            found.append(one)
    right, wrong = ([one for one in found if one.cause == ""], [one for one in found if one.cause])
    refused = [one for one in wrong if one.state != "right"]
    print(f"right answers taken: {sum(one.state == 'right' for one in right)} of {len(right)}")
    print(f"wrong answers refused: {len(refused)} of {len(wrong)}")
    print(f"the reply has words of the cause: {sum(one.named for one in refused)} of {len(wrong)}")
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
