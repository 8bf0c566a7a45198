"""Notebook 17: bring your own kernel, see what it costs, change it, and keep it that way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import Limit, at_most
from softlab.course.syllabus.lesson_04 import of_one_bank
from softlab.course.values import spaced
from softlab.course.variants import Varied
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


def ends_of_sectors(apart: int, sectors: float) -> str:
    """Where that many sectors end, beside where the last float begins."""
    last = f"The float of lane 31 begins at byte {31 * 4 * apart}"
    if sectors * 32 <= 31 * 4 * apart:
        return f"{last}, and {spaced(sectors)} sectors end before byte {spaced(32 * sectors)}."
    return f"{last}, and the last of {spaced(sectors)} sectors would begin at byte {spaced(32 * (sectors - 1))}."


def columns_exercise(words: int) -> Number:
    """How many wavefronts one read down a column of rows of ``words`` words takes."""
    return Number(
        id="17-two-columns-more",
        answer=lambda: wavefronts(words),
        means=partial(of_one_bank, words),
        formula=Formula(
            "gcd(words, banks)",
            {
                "words": Quantity(
                    "the words of a row",
                    words,
                    (
                        (33, "one word of padding"),
                        (36, "another padding"),
                        (40, "another padding"),
                        (48, "another padding"),
                    ),
                ),
                "banks": Quantity("the banks", 32),
            },
        ),
        slips=(
            (1, f"The rows are shifted by {words - 32} banks now. Which lanes meet in bank 0?"),
            (32, "That is without padding."),
            (16, "That is how many banks the lanes use."),
            (
                64,
                "A load of a warp reads 32 words, one per lane, and not twice as many. So it takes at most 32 "
                "wavefronts.",
            ),
            (2 * words, "That counts the words of two rows. A warp reads one word per lane, of 32 rows."),
        ),
        hint=f"Lane i reads word {words} * i, which is in bank {words} * i modulo 32. How often does a bank occur?",
    )


def floats_exercise(apart: int) -> Number:
    """How many sectors a load of floats that lie ``apart`` floats apart touches."""
    return Number(
        id="17-three-floats-apart",
        answer=lambda: sectors(apart),
        means=partial(ends_of_sectors, apart),
        formula=Formula(
            "lanes * apart * size / sector",
            {
                "lanes": Quantity("the lanes of a warp", 32),
                "apart": Quantity(
                    "the floats from one lane to the next", apart, ((2, "points of two"), (4, "points of four"))
                ),
                "size": Quantity("the bytes of a float", 4, ((2, "those of a float16"), (8, "those of a double"))),
                "sector": Quantity(
                    "the bytes of a sector",
                    32,
                    ((128, "those of a cache line"), (64, "those of two sectors"), (16, "those of a pack")),
                ),
            },
        ),
        slips=(
            (4, f"That is for neighbouring floats. Here they lie {4 * apart} bytes apart."),
            (32, "A sector of 32 bytes has more than one of the floats."),
            (128 * apart, "That is a number of bytes. A sector has 32."),
            (4 * apart + 1, "One too many: the array begins where a sector begins, so no sector is cut."),
            (1, "That would be right for banks of shared memory. Global memory moves sectors."),
            (32 * apart, f"That is how many floats 32 records of {apart} have. A sector has 8 floats."),
        ),
        hint=f"The 32 lanes span 32 * {4 * apart} bytes, and each sector in that range is touched.",
    )


_TWO = "Two more columns.** How many wavefronts would one read of a warp take with `tile[32][34]`?"
_COLUMNS = (_TWO, _TWO.replace("Two more", "More").replace("34", "{n}"))
_POINTS = (
    "An array holds points as `x, y, z, x, y, z, ...`. Lane `i` reads the `x` of point `i`, so its float has index "
    "`3 * i`.",
    "An array holds records of {n} floats. Lane `i` reads the first float of record `i`, so its index is `{n} * i`.",
)
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
        columns_exercise(34),
        floats_exercise(3),
        WriteKernel(
            id="17-neighbours-together",
            kernel="twice",
            parameters="const float* x, float* y, int rows, int cols",
            launches=matrices,
            requirements=(
                at_most("global_load_sectors", _LEAST, _HINT),
                at_most("global_store_sectors", _LEAST, _HINT),
            ),
            hint="y has twice each element of x, at the same place: in the same row and the same column.",
            fault_hints={
                "global-out-of-bounds": "Element row * cols + col exists for rows below `rows` and "
                "columns below `cols` alone."
            },
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
    varied={
        "17-two-columns-more": Varied((34, 36, 38, 40, 44), _COLUMNS, columns_exercise),
        "17-three-floats-apart": Varied((3, 5, 6, 7), _POINTS, floats_exercise),
    },
)
