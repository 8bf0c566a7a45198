from __future__ import annotations

from math import ceil

from softlab.hardware import atlas
from tests.course.answers import Answers

ATLAS = atlas.load("H200")
#: Bytes per SM: the right answers follow from the shipped atlas, and change with it.
WANTED = max(ATLAS.series("bandwidth.DRAM.read")[1]) * ATLAS["latency.DRAM"] / 132
WARPS, LOADS = ceil(WANTED / (32 * 16)), ceil(WANTED / (32 * 32 * 4))

ANSWERS = (
    Answers(
        "15-a-chain", right=(4000, 3996), wrong=((1000, "one per cycle"), (4, "one of them"), (32_000, "32 lanes"))
    ),
    Answers("15-the-second-wait", right=(5,), wrong=((4, "FFMA of line 6"), (6, "fixed time"), (7, "that waits"))),
    Answers(
        "15-enough-warps",
        right=(WARPS,),
        wrong=(
            (ceil(WANTED / (32 * 4)), "4 bytes"),
            (WARPS - 1, "Round up"),
            (WARPS * 132, "whole GPU"),
            (1, "each of its 32 lanes"),
            (64, "bandwidth"),
        ),
    ),
    Answers(
        "15-loads-on-the-way",
        right=(LOADS,),
        wrong=(
            (1, "4096 bytes"),
            (ceil(WANTED / (32 * 32)), "4 bytes per lane"),
            (ceil(WANTED / (32 * 4)), "There are 32"),
            (LOADS + 4, "law asks"),
        ),
    ),
)
