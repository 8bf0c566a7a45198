from __future__ import annotations

from tests.course.answers import Answers, kernel

CAPPED = "destination[i] = cap * tanhf(destination[i] / cap);"

ANSWERS = (
    Answers(
        "12-four-kernels",
        right=(33,),
        wrong=((32, "reads the mask"), (25, "without dropout"), (13, "the one kernel"), (9, "one kernel")),
    ),
    Answers(
        "12-half-a-matrix",
        right=(0.53125, 0.53),
        wrong=((0.5, "whole sectors"), (1, "not read at all"), (0.5625, "64 columns"), (0.25, "sectors of 8")),
    ),
    Answers(
        "12-memory-of-dropout",
        right=("y without dropout, and the seed",),
        wrong=(("the mask of dropout", "why keep it"), ("x", "made of x"), ("nothing", "dy does not tell")),
    ),
    Answers(
        "12-your-own-load",
        right=(kernel("12-your-own-load"),),
        wrong=(
            (kernel("12-your-own-load", (CAPPED, "")), "y[0, 0]"),
            (kernel("12-your-own-load", (CAPPED, "destination[i] = fminf(destination[i], cap);")), "should be"),
            (kernel("12-your-own-load", (CAPPED, "destination[i] = cap * tanhf(destination[i])")), "does not compile"),
            (
                kernel("12-your-own-load", ("inner.load<pack_size>(destination, row, col);", "")),
                "variable that has no value",
            ),
        ),
    ),
)
