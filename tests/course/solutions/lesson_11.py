from __future__ import annotations

from tests.course.answers import Answers


def judge(mine, others, times, *, enough=lambda a, b: a >= b):
    true = [bool(enough(a, times * b)) for a, b in zip(mine, others, strict=True)]
    if all(true):
        return "holds"
    return "holds partly" if any(true) else "does not hold"


ANSWERS = (
    Answers(
        "11-where-cudnn-wins",
        right=(17,),
        wrong=((0, "claim 1"), (44, "all the recorded"), (27, "planned kernel"), (5, "count")),
    ),
    Answers(
        "11-rows-in-flight",
        right=(49.5, 49.55),
        wrong=((12.4, "more than one"), (51.9, "2^20"), (99.0, "4096 threads"), (50, "Blocks per SM")),
    ),
    Answers(
        "11-a-claim-of-your-own", right=(6,), wrong=((9, "pack_speeds"), (0, "a good deal faster"), (10, "and more"))
    ),
    Answers(
        "11-write-the-judge",
        right=(judge,),
        wrong=(
            (lambda *a: judge(*a, enough=lambda x, y: x > y), "fast enough"),
            (lambda m, o, t: "holds" if sum(m) >= t * sum(o) else "does not hold", "A mean hides"),
            (lambda m, o, t: "holds" if judge(m, o, t) != "does not hold" else "does not hold", "'holds partly'"),
            (lambda m, o, t: m >= t * o, "raises TypeError on line"),
        ),
    ),
)
