from __future__ import annotations

from tests.course.answers import Answers, kernel

TWICE = "06-read-it-twice"
ONE_PASS = """    float larger = fmaxf(most, x[col]);
    sum = sum * __expf(most - larger) + __expf(x[col] - larger);
    most = larger;
"""
#: As the notebook has it.
THREE_READS = kernel(
    TWICE,
    ("  float sum = 0;\n  for (int col", "  for (int col"),
    (ONE_PASS, "    most = fmaxf(most, x[col]);\n"),
    (
        "  float row_sum = block_sum(sum * __expf(most - row_max));",
        "  float sum = 0;\n"
        "  for (int col = threadIdx.x; col < cols; col += blockDim.x) sum += __expf(x[col] - row_max);\n"
        "  float row_sum = block_sum(sum);",
    ),
)


ANSWERS = (
    Answers(
        "06-how-many-blocks",
        right=(40,),
        wrong=((160, "4 bytes"), (120, "fill the whole L2"), (38, "2**20"), (132, "one row at a time")),
    ),
    Answers(
        "06-bigger-and-faster",
        right=(10,),
        wrong=((13, "12 288 columns"), (12, "not the only"), (3, "another size"), (11, "least `microseconds`")),
    ),
    Answers(
        "06-there-and-back",
        right=(1400,),
        wrong=(
            (3000, "in one direction"),
            (1000, "It holds 800"),
            (1200, "third"),
            (2000, "the last"),
            (400, "the first"),
            (1800, "misses the others"),
        ),
    ),
    Answers(
        TWICE,
        right=(
            kernel(TWICE),
            # The larger of the two exponentials is 1: take only the other one.
            kernel(
                TWICE,
                (
                    ONE_PASS,
                    "    float value = x[col];\n"
                    "    if (value > most) { sum = sum * __expf(most - value) + 1; most = value; }\n"
                    "    else sum += __expf(value - most);\n",
                ),
            ),
        ),
        wrong=(
            (THREE_READS, "global load sectors, "),
            # The sum is not brought to the new maximum.
            (kernel(TWICE, ("sum * __expf(most - larger) + ", "sum + ")), "the sum so far is multiplied"),
            # Each thread's sum belongs to another maximum.
            (kernel(TWICE, ("sum * __expf(most - row_max)", "sum")), "belongs to its own maximum"),
            # No maximum at all: it works around 0, and nowhere else.
            (
                kernel(
                    TWICE,
                    (ONE_PASS, "    sum += __expf(x[col]);\n"),
                    ("sum * __expf(most - row_max)", "sum"),
                    ("__expf(x[col] - row_max) / row_sum", "__expf(x[col]) / row_sum"),
                ),
                "around 500, y[0, 0] is nan",
            ),
            (kernel(TWICE, ("float most = -3.4e38f;", "float most = 0;")), "around -300"),
            (
                kernel(
                    TWICE,
                    (
                        "  float row_max = block_max(most);\n",
                        "  if (threadIdx.x >= cols) return;\n  float row_max = block_max(most);\n",
                    ),
                ),
                "inactive-lane",
            ),
        ),
    ),
)
