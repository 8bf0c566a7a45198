from __future__ import annotations

from tests.course.answers import Answers


def dispatch(op, cols, dtype, *, softmax_ends=1023, log_softmax_ends=1024, bytes_in_shared=4, double=True):
    if dtype == "float64" and double:
        return "block_uncached"
    if cols <= (softmax_ends if op == "softmax" else log_softmax_ends):
        return "warp"
    return "block_smem" if 64 + cols * bytes_in_shared <= 49_152 else "block_uncached"


ANSWERS = (
    Answers(
        "09-blocks",
        right=(938,),
        wrong=(
            (1875, "two rows"),
            (3750, "32 lanes"),
            (469, "4 lanes"),
            (937, "Rounded down"),
            (30_000, "more than one group"),
            (1, "6 packs"),
        ),
    ),
    Answers(
        "09-sixteen-lanes",
        right=(9,),
        wrong=((17, "shorter row"), (18, "packs of 1"), (16, "eight lanes"), (10, "eight lanes")),
    ),
    Answers(
        "09-beat-the-plan",
        right=(("block_uncached", 256),),
        wrong=(
            (("block_uncached", 512), "58%"),
            (("block_uncached", 1024), "41%"),
            (("warp", 128), "warp"),
            (("block_smem", 4096), "block size"),
            (7, "Give a kernel and a block size"),
        ),
    ),
    Answers(
        "09-write-the-dispatch",
        right=(dispatch,),
        wrong=(
            (lambda *a: dispatch(*a, softmax_ends=1024), "less than 1024"),
            (lambda *a: dispatch(*a, log_softmax_ends=1023), "1024 itself"),
            (lambda *a: dispatch(*a, bytes_in_shared={"float16": 2, "float32": 4, "float64": 8}[a[2]]), "computed in"),
            (lambda *a: dispatch(*a, double=False), "Double precision"),
            (lambda *a: "warp", "is 'warp' and should be"),
        ),
    ),
)
