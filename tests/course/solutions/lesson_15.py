from __future__ import annotations

from tests.course.answers import Answers

ANSWERS = (
    Answers(
        "15-a-chain", right=(4000, 3996), wrong=((1000, "one per cycle"), (4, "one of them"), (32_000, "32 lanes"))
    ),
    Answers("15-the-second-wait", right=(5,), wrong=((4, "FFMA of line 6"), (6, "fixed time"), (7, "that waits"))),
    Answers(
        "15-enough-warps",
        right=(23,),
        wrong=(
            (92, "4 bytes"),
            (22, "Round up"),
            (23 * 132, "whole GPU"),
            (1, "each of its 32 lanes"),
            (64, "bandwidth"),
        ),
    ),
    Answers(
        "15-loads-on-the-way",
        right=(3,),
        wrong=((1, "4096 bytes"), (12, "4 bytes per lane"), (92, "There are 32"), (7, "law asks")),
    ),
)
