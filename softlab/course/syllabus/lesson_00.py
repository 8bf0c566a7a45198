"""Notebook 00: what a softmax costs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.plans import plan

ROWS, COLS = 4096, 1024
#: The longest row that is asked of the planner.
_LONGEST = 100_000


def longest_halves() -> int:
    """The longest row of float16 that goes to block_smem on an H200."""
    return max(c for c in range(12_000, 13_000) if plan(4096, c, "float16", device="H200").kernel == "block_smem")


def kernel_of(cols: float) -> str:
    """The kernel of a row of that many halves."""
    if not cols.is_integer() or cols > _LONGEST:
        return ""
    kernel = plan(4096, int(cols), "float16", device="H200").kernel
    longer = " Is there a longer one?" if kernel == "block_smem" else ""
    return f"A row of {spaced(cols)} takes {spaced(4 * cols)} bytes as float32, and it goes to {kernel}.{longer}"


def bytes_of_an_element(elements: int, moved: float) -> str:
    """What that many bytes are for each element."""
    return (
        f"That is {spaced(moved / elements)} bytes for each of the {spaced(elements)} elements. How many move for one?"
    )


def copies() -> Iterator[LaunchCase]:
    """1024 numbers, copied by 256 threads."""
    x = np.random.default_rng(0).standard_normal(1024, dtype=np.float32)
    yield LaunchCase(1, 256, {"x": x, "y": np.full_like(x, np.nan)}, {"y": x}, about="1024 numbers")


def floor_exercise(rows: int) -> Number:
    """The floor of that many rows of 1024 halves."""
    elements = rows * COLS
    return Number(
        id="00-half-the-bytes",
        answer=lambda: 2 * elements * np.dtype("float16").itemsize,
        means=partial(bytes_of_an_element, elements),
        formula=Formula(
            "rows * cols * size * moves",
            {
                "rows": Quantity("the rows", rows),
                "cols": Quantity("the columns", COLS),
                "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"), (8, "those of a double"))),
                "moves": Quantity(
                    "the moves of each element",
                    2,
                    (
                        (1, "the read or the write"),
                        (3, "as the cached kernel does not need"),
                        (4, "those of a kernel that reads three times"),
                    ),
                ),
            },
        ),
        unit="bytes",
        slips=(
            (elements * 2, "That counts the read alone. Each element is read once and written once."),
            (2 * elements * 4, "That is the floor in float32. An element of float16 has 2 bytes."),
            (2 * elements, "That is the number of elements that move. How many bytes has each of them?"),
            (elements, "That is the number of elements. Each has 2 bytes, and moves twice."),
        ),
        further=(
            "The floor is two moves of the whole matrix: one read and one write.",
            f"The matrix has {rows} * 1024 elements of 2 bytes: {2 * elements:,} bytes. How often do they "
            f"move?".replace(",", " "),
            "A similar one: 100 rows of 50 columns in float32. 5000 elements of 4 bytes are 20 000 bytes; "
            "both ways 40 000.",
        ),
        hint="An element of float16 has 2 bytes; it is read once and written once.",
    )


LESSON = Lesson(
    number="00",
    notebook="00-start-here.ipynb",
    title="Start here: what a softmax costs",
    minutes=20,
    objectives=(
        "say how many bytes a softmax has to move at least, and what a kernel moves beyond that",
        "tell the three kernels apart by who owns a row and where it stays",
        "read a plan: which question decided what",
    ),
    exercises=(
        floor_exercise(ROWS),
        Number(
            id="00-where-shared-memory-ends",
            answer=longest_halves,
            means=kernel_of,
            formula=Formula(
                "(room - reductions) // size",
                {
                    "room": Quantity(
                        "the shared memory of a block", 49152, ((48000, "thousands of bytes and not KiB"),)
                    ),
                    "reductions": Quantity("what the reductions take", 64),
                    "size": Quantity(
                        "the bytes of an element there", 4, ((2, "those of a float16"), (8, "those of a double"))
                    ),
                },
            ),
            slips=(
                (24_576, "48 KiB hold 24 576 elements of 2 bytes. But in which type is the row kept?"),
                (
                    12_288,
                    "48 KiB hold 12 288 elements of 4 bytes. But the block's reductions need some of the 48 KiB, too.",
                ),
                (lambda: longest_halves() + 2, "That one is the first to go elsewhere."),
                (
                    lambda: longest_halves() + 1,
                    "That one no longer fits: the longest row that does is a little shorter.",
                ),
                (1023, "Up to there a warp takes the row. Where does block_smem end?"),
                (1024, "There block_smem begins. Where does it end?"),
                (48 * 1024, "Those are the bytes of 48 KiB. How many elements of 4 bytes do they hold?"),
                (lambda: 2 * longest_halves(), "In shared memory the row is float32: an element takes 4 bytes, not 2."),
            ),
            further=(
                "A block gets 48 KiB, and the block's reductions take a little of that. The rest is for the row, "
                "in float32.",
                "Set the explorer to float16 and move `cols` near 12 288: where does the kernel change?",
                "A similar one: double is kept as double, 8 bytes each. Its longest row is about half as long as "
                "that of float32.",
            ),
            hint="What counts is the size of the element in shared memory, 4 bytes for float32, not in the array.",
        ),
        WriteKernel(
            id="00-copy",
            kernel="copy",
            parameters="const float* x, float* y",
            launches=copies,
            requirements=(
                at_most("global_load_sectors", 128, "Which elements do lanes 0 and 1 read in the same instruction?"),
                at_most("global_store_sectors", 128, "Which elements do lanes 0 and 1 write in the same instruction?"),
            ),
            further=(
                "A request is what 32 lanes do in the same instruction, so in the same turn of the loop.",
                "In turn 0, lane 0 has k = 0 and lane 1 has k = 4: neighbours lie 16 bytes apart. They should "
                "lie 4 bytes apart.",
                "A similar one: 64 numbers and 32 threads, two each. Thread t takes t and t + 32, not 2 * t and "
                "2 * t + 1.",
            ),
            fault_hints={
                "global-out-of-bounds": "The largest index is 1023: which one does thread 255 have in its last turn?"
            },
            hint="256 threads copy four numbers each, so no number may be left out, and none copied twice. Which four "
            "does thread 0 copy?",
            because="Neighbouring lanes touch neighbouring numbers, so each sector comes once, and whole.",
        ),
    ),
    predictions=(
        Question(
            id="00-three-reads",
            question=(
                "The uncached kernel reads a row three times. How much does it ask of global memory, compared "
                "with the floor?"
            ),
            answers={
                "1.5 times the floor": (
                    "That would be one read too many. There are two: three reads and one write are four moves."
                ),
                "2 times the floor": "Three reads and one write are four moves, and the floor has two.",
                "3 times the floor": (
                    "That counts the reads alone. The floor is a read and a write, so four moves are compared with two."
                ),
            },
        ),
    ),
    varied={
        "00-half-the-bytes": Varied(
            (4096, 2048, 3000, 5000, 8192),
            ("over 4096 rows of 1024 columns in `float16`?", "over {n} rows of 1024 columns in `float16`?"),
            floor_exercise,
        ),
    },
)
