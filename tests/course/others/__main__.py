"""Grade all answers of others, and say how many verdicts are right: ``python -m tests.course.others [MODULE ...]``.

With ``--answers`` each answer is printed above its reply, for a reader who judges the hints.
"""

from __future__ import annotations

import argparse
import inspect
import time
from typing import Any

from tests.course.others import MODULES, all_others
from tests.course.others.graded import graded


def shown(answer: Any) -> str:
    """The source of a function or kernel, and any other answer as Python writes it."""
    if callable(answer) and hasattr(answer, "__code__"):
        return inspect.getsource(answer).strip()
    return answer.strip() if isinstance(answer, str) else repr(answer)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.course.others", description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="MODULE", help=", ".join(MODULES))
    parser.add_argument("--answers", action="store_true", help="print each answer above its reply")
    options = parser.parse_args()
    begin = time.monotonic()
    found = []
    for others in all_others(*options.modules):
        for one in graded(others):
            if options.answers:
                print(f"\n{shown(one.answer)}")
            print(one, flush=True)
            found.append(one)
    right, wrong = ([one for one in found if one.cause == ""], [one for one in found if one.cause])
    refused = [one for one in wrong if one.state != "right"]
    print(f"right answers taken: {sum(one.state == 'right' for one in right)} of {len(right)}")
    print(f"wrong answers refused: {len(refused)} of {len(wrong)}")
    print(f"the reply has words of the cause: {sum(one.named for one in refused)} of {len(wrong)}")
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
