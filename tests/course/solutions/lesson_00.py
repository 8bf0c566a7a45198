from __future__ import annotations

from tests.course.answers import Answers, kernel

INDEX = "i * 256 + threadIdx.x"


def copy(index: str) -> str:
    return kernel("00-copy", (INDEX, index))


ANSWERS = (
    Answers(
        "00-half-the-bytes",
        right=(16_777_216, 16_777_216.0),
        wrong=((8_388_608, "written once"), (33_554_432, "float32"), (1, "2 bytes"), ("16 MB", "a number")),
    ),
    Answers(
        "00-where-shared-memory-ends",
        right=(12_272,),
        wrong=((24_576, "in which type"), (12_288, "reductions"), (12_274, "elsewhere"), (1024, "Where does it end")),
    ),
    Answers(
        "00-copy",
        right=(copy(INDEX), copy("i * 256 + (threadIdx.x ^ 5)")),
        wrong=(
            (copy("threadIdx.x * 4 + i"), "512 global load sectors, 128 possible, most on line 4"),
            (copy("threadIdx.x * 4"), "y[1] is nan"),
            (copy("i * 256 + threadIdx.x / 2"), "y[128] is nan"),
            (copy("i * 256 + threadIdx.x + 1"), "global-out-of-bounds on line 4"),
            (copy("i * 256 + threadId.x"), 'Line 3: identifier "threadId"'),
            (copy(INDEX).replace("copy(", "copied("), "no kernel 'copy'"),
            (copy(INDEX).replace("float* y", "float* y, int n"), "3 arguments"),
        ),
    ),
)
