"""Notebook 17: bring your own kernel, see what it costs, change it, and keep it that way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import Limit, at_most
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import global_sectors

SECTOR_BYTES = 32


def matrices() -> Iterator[LaunchCase]:
    """Matrices whose elements are doubled, with 256 threads per block."""
    for rows, cols in ((64, 128), (96, 32), (40, 200)):
        x = np.random.default_rng(rows).standard_normal((rows, cols), dtype=np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan), "rows": rows, "cols": cols}
        yield LaunchCase(-(-x.size // 256), 256, args, {"y": 2 * x}, about=f"{rows} rows of {cols} columns")


def least_sectors(launch: LaunchCase) -> int:
    """Sectors of one pass over the matrix."""
    return -(-launch.args["x"].nbytes // SECTOR_BYTES)


def wavefronts(words: int, *, width: int = 4) -> float:
    """Wavefronts of one read down a column of a tile whose rows have ``words`` words."""
    address = (np.arange(32) * words * 4)[None]
    return float(wavefronts_and_conflicts(address, np.ones((1, 32), bool), width, store=False)[0][0])


def sectors(floats: int) -> float:
    """Sectors of a load in which lane ``i`` reads float ``floats * i``."""
    address = (np.arange(32) * floats * 4)[None]
    return float(global_sectors(address, np.ones((1, 32), bool), 4)[0])


_LEAST: Limit = least_sectors
_HINT = "Which element of the matrix does the neighbour of a lane access? It should be the next one in memory."

LESSON = Lesson(
    number="17",
    notebook="17-bring-your-own-kernel.ipynb",
    title="Bring your own kernel",
    minutes=25,
    objectives=(
        "run a .cu file as it is, and read what each line moves beside the least",
        "follow an advice, and compare the two versions line by line",
        "write a check that fails when a kernel gets worse",
    ),
    exercises=(
        Number(
            id="17-two-columns-more",
            answer=lambda: wavefronts(34),
            slips=(
                (1, "The rows are shifted by two banks now. Which lanes meet in bank 0?"),
                (32, "That is without padding."),
                (16, "That is how many banks the lanes use."),
            ),
            hint="Lane i reads word 34 * i, which is in bank 34 * i modulo 32. How often does a bank occur?",
        ),
        Number(
            id="17-three-floats-apart",
            answer=lambda: sectors(3),
            slips=(
                (4, "That is for neighbouring floats."),
                (32, "A sector of 32 bytes has more than one of the floats."),
                (96, "That is how many floats there are from the first lane's to the last one's."),
            ),
            hint="The 32 lanes span 32 * 12 bytes, and each sector in that range is touched.",
        ),
        WriteKernel(
            id="17-neighbours-together",
            kernel="twice",
            parameters="const float* x, float* y, int rows, int cols",
            launches=matrices,
            requirements=(
                at_most("global_load_sectors", _LEAST, _HINT),
                at_most("global_store_sectors", _LEAST, _HINT),
            ),
            hint="y has twice each element of x, at the same place.",
            fault_hints={"global-out-of-bounds": "There are more threads than elements where 256 does not divide."},
        ),
    ),
    predictions=(
        Question(
            id="17-which-line",
            question="The tile has 32 rows of 32 floats. Which line of the kernel is slow?",
            answers={
                "line 9: it loads x": "Neighbouring lanes load neighbouring floats: 4 sectors, the least.",
                "line 9: it stores the tile": "Neighbouring lanes store to neighbouring words, in 32 different banks.",
                "line 13: it reads the tile": "The lanes read a column, whose words lie 128 bytes apart: one bank.",
                "line 13: it stores y": "Neighbouring lanes store neighbouring floats: 4 sectors, the least.",
            },
        ),
    ),
)
