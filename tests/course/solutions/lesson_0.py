from __future__ import annotations

from tests.course.answers import Answers, kernel

BODY = "if (i < n) y[i] = 2 * x[i];"


def twice(body: str) -> str:
    return kernel("0-double", (BODY, body))


ANSWERS = (
    Answers(
        "0-which-number",
        right=(197, 197.0),
        wrong=((323, "takes the block for the thread"), (133, "has the number 0"), (101, "has 64"), (1, "count on")),
    ),
    Answers(
        "0-how-many-blocks",
        right=(8,),
        wrong=((7, "896 threads"), (7.8125, "whole blocks"), (1000, "blocks of 128"), (3, "needs one")),
    ),
    Answers(
        "0-double",
        right=(twice(BODY), twice("if (i >= n) return; y[i] = x[i] + x[i];")),
        wrong=(
            (twice("y[i] = 2 * x[i];"), "what must it ask first"),
            (twice("if (i < n) y[i] = x[i];"), "Each is 0.5 times"),
            (twice("if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];"), "is nan (not written?)"),
            (twice("if (i < n) y[i] = 2 * x[i]"), "does not compile"),
        ),
    ),
)
