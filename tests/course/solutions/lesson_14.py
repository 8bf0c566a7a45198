from __future__ import annotations

import math

from softlab.course.syllabus.lesson_14 import merged, unscaled, upside_down
from tests.course.answers import Answers, kernel


def without_infinity(a_max, a_sum, b_max, b_sum):
    """-inf - -inf."""
    largest = max(a_max, b_max)
    return largest, a_sum * math.exp(a_max - largest) + b_sum * math.exp(b_max - largest)


def by_reference(a_max, a_sum, b_max, b_sum):
    """Everything is relative to the maximum, or to 0 where there is none."""
    largest = max(a_max, b_max)
    reference = 0.0 if largest == -math.inf else largest
    return largest, sum(s * math.exp(m - reference) for m, s in ((a_max, a_sum), (b_max, b_sum)))


def by_logarithms(a_max, a_sum, b_max, b_sum):
    """Ignores the maxima of the sums, and overflows."""
    total = a_sum * math.exp(a_max) + b_sum * math.exp(b_max)
    largest = max(a_max, b_max)
    return largest, total / math.exp(largest) if total else 0.0


SCALED = "other_sum * weight(other_largest, larger)"
READ = "  cluster.sync();\n  for (int block"
LEAVE = "  cluster.sync();\n  if (threadIdx.x == 0) y"
QUARTER = "int col = rank * cols / 4 + threadIdx.x; col < (rank + 1) * cols / 4;"

ANSWERS = (
    Answers(
        "14-bytes-of-a-block",
        right=(65_536,),
        wrong=((1_048_576, "whole row"), (32_768, "counts numbers"), (131_072, "2 bytes"), (64, "in KiB")),
    ),
    Answers(
        "14-packs-a-thread",
        right=(4,),
        wrong=((32, "counts numbers"), (16, "There are four"), (8, "how many fill 16"), (2, "whole cluster")),
    ),
    Answers(
        "14-who-writes-to-me",
        right=(128,),
        wrong=((64, "two values"), (16, "seven other"), (1024, "all eight blocks"), (7, "sends its maximum")),
    ),
    Answers(
        "14-merge",
        right=(merged, by_reference),
        wrong=(
            (unscaled, "different maxima"),
            (upside_down, "scaled *down*"),
            (without_infinity, "-inf - -inf is NaN"),
            (by_logarithms, "raises OverflowError"),
        ),
    ),
    Answers(
        "14-pairs-of-a-warp",
        right=(kernel("14-pairs-of-a-warp"),),
        wrong=(
            (kernel("14-pairs-of-a-warp", (SCALED, "other_sum")), "a factor of its own"),
            (kernel("14-pairs-of-a-warp", ("from == to ? 1.0f : __expf(from - to)", "__expf(from - to)")), "-inf"),
            (kernel("14-pairs-of-a-warp", ("mask > 0", "mask > 1")), "merges two pairs"),
            (kernel("14-pairs-of-a-warp", ("col < cols; col += 32", "cols > col; col += 1")), "y[0, 1]"),
        ),
    ),
    Answers(
        "14-ask-the-cluster",
        right=(kernel("14-ask-the-cluster"),),
        wrong=(
            (
                kernel("14-ask-the-cluster", (READ, READ.replace("cluster.sync();", ""))),
                "it takes a barrier of the cluster",
            ),
            (kernel("14-ask-the-cluster", (LEAVE, LEAVE.replace("cluster.sync();", ""))), "ended"),
            (kernel("14-ask-the-cluster", (QUARTER, "int col = threadIdx.x; col < cols;")), "its own quarter"),
            (
                kernel("14-ask-the-cluster", ("map_shared_rank(&found, block)", "map_shared_rank(&found, rank)")),
                "maximum of",
            ),
        ),
    ),
)
