from __future__ import annotations

import numpy as np

from tests.course.answers import Answers, kernel


def log_softmax(x):
    shifted = x - x.max()
    return shifted - np.log(np.exp(shifted).sum())


def by_parts(x):
    m = max(x)
    return [v - m - np.log(sum(np.exp(w - m) for w in x)) for v in x]


def naive(x):
    with np.errstate(all="ignore"):
        return np.log(np.exp(x) / np.exp(x).sum())


def of_softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max())
        return np.log(e / e.sum())


def maximum_left_in(x):
    with np.errstate(all="ignore"):
        return x - np.log(np.exp(x).sum())


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def two_passes(*edits: tuple[str, str]) -> str:
    return kernel("01-log-sum-exp", *edits)


def one_pass(*edits: tuple[str, str]) -> str:
    return kernel("01-one-pass", *edits)


SUM = "sum += __expf(mine[i] - largest);"
OUT = "y[row] = largest + __logf(sum);"
STEP = "sum = sum * __expf(largest - larger) + __expf(v - larger);"

ANSWERS = (
    Answers(
        "01-largest-power", right=(11,), wrong=((12, "162 755"), (88, "float32"), (16, "e is larger"), (9, "65 504"))
    ),
    Answers(
        "01-where-it-stops",
        right=(256, 256.0),
        wrong=((2048, "float16 stops"), (128, "129"), (257, "258"), (65504, "long before"), (1, "next larger")),
    ),
    Answers(
        "01-sectors-of-the-uncached",
        right=(1536,),
        wrong=((512, "keeps nothing"), (1024, "Twice?"), (3072, "2 bytes"), (2048, "it writes"), (64, "sectors of 32")),
    ),
    Answers(
        "01-log-softmax",
        right=(log_softmax, by_parts),
        wrong=(
            (naive, "The exponentials overflow: take"),
            (of_softmax, "log(0) is -inf"),
            (maximum_left_in, "still overflow"),
            (softmax, "log(e^a / s)"),
            (lambda x: x.missing, "raises AttributeError"),
        ),
    ),
    Answers(
        "01-log-sum-exp",
        right=(two_passes(), one_pass(), two_passes((SUM, "sum += expf(mine[i] - largest);"))),
        wrong=(
            (
                two_passes((SUM, "sum += __expf(mine[i]);"), (OUT, "y[row] = __logf(sum);")),
                "e^x overflows",
            ),
            (two_passes((OUT, "y[row] = __logf(sum);")), "add the maximum m again"),
            (two_passes(("float largest = mine[0];", "float largest = 0;")), "begin below every number"),
            (two_passes(("  if (row >= rows) return;\n", "")), "global-out-of-bounds on line 4, with 40 rows"),
            (two_passes(("blockIdx.x * blockDim.x + ", "")), "y[32] is nan (not written?)"),
            (two_passes(("int i = 0; i < cols", "int i = 1; i < cols")), "y[0] is"),
        ),
    ),
    Answers(
        "01-one-pass",
        right=(one_pass(), one_pass(("float v = x[row * cols + i];", "const float v = x[row * cols + i];"))),
        wrong=(
            (two_passes(), "48 global load requests, 24 possible"),
            (one_pass((STEP, "sum = sum + __expf(v - larger);")), "y[1] is"),
            (one_pass(("largest = -3.4e38f", "largest = __int_as_float(0xff800000)")), "y[1] is nan"),
            (one_pass((STEP, "sum = sum * __expf(larger - largest) + __expf(v - larger);")), "y[0] is"),
            (one_pass(("float largest = -3.4e38f", "float largest = 0")), "begin below every number"),
        ),
    ),
)
