"""Notebook 09: dispatch, from the Python call to the launch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from softlab.bench import consequences, recordings
from softlab.course.catalogue import Lesson
from softlab.course.exercises import Judged, Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Call, WriteFunction
from softlab.course.predictions import Question
from softlab.course.values import is_number, plain, spaced
from softlab.course.variants import Varied
from softlab.plans import forced, plan

#: The share of a device copy that the plan is to be beaten by.
FAST_ENOUGH = 0.6


def shortest_of_sixteen() -> int:
    """The shortest row of float32 that the warp kernel gives to 16 lanes."""
    return min(cols for cols in range(1, 1024) if plan(4096, cols, device="H200").thread_group_width == 16)


def rows_per_block(rows: int, blocks: float) -> str:
    """How many rows each of that many blocks has."""
    return (
        f"{spaced(blocks)} blocks for {spaced(rows)} rows are about {spaced(rows / blocks)} rows each. How many groups "
        "of lanes has a block, and how many rows does a group take?"
    )


def lanes_of(cols: float) -> str:
    """How many lanes a row of that many columns gets."""
    if not cols.is_integer() or cols > 100_000:
        return ""
    made = plan(4096, int(cols), device="H200")
    if made.kernel != "warp":
        return f"A row of {cols:g} is too long for a warp."
    lanes, pack = made.thread_group_width or 1, made.pack_size
    other = "Is there a shorter one?" if lanes == 16 else ""
    return f"A row of {cols:g} has packs of {pack} and gets {lanes} lane{'s' * (lanes > 1)}. {other}".strip()


def beaten(answer: Any) -> str:
    """What (kernel, block size) lacks to reach the asked share of a device copy in the recording."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise ValueError("two things are asked for: the kernel's name and the block size")
    kernel, block_size = plain(answer[0]), plain(answer[1])
    if not is_number(block_size):
        raise TypeError(f"the block size must be a number, not {block_size!r}")
    kernel, block_size = str(kernel).strip(), int(block_size)
    mine = forced(10_935, 12_274, "float16", kernel=kernel, block_size=block_size, device="H200")
    measured = consequences.measured(recordings.load(), mine)
    if measured is None:
        return f"{kernel} in blocks of {block_size} was not recorded. Read the bars of the explorer."
    if measured.of_copy >= FAST_ENOUGH:
        return ""
    return f"it reaches {measured.of_copy:.0%} of a device copy. Set rows, cols and dtype in the explorer: other bars?"


def questions() -> Iterator[Call]:
    """Problems on both sides of each threshold, and the kernel that the plan takes."""
    for op in ("softmax", "log_softmax"):
        for dtype in ("float32", "float16", "float64"):
            for cols in (
                1,
                500,
                1023,
                1024,
                1025,
                6000,
                11_000,
                12_008,
                12_100,
                12_272,
                12_273,
                12_300,
                24_000,
                30_000,
            ):
                yield Call((op, cols, dtype), plan(4096, cols, dtype, op=op, device="H200").kernel)


def random_questions(rng: np.random.Generator) -> Iterator[Call]:
    """Problems of any length, most of them near a threshold, and the kernel that the plan takes."""
    for _ in range(40):
        op = str(rng.choice(["softmax", "log_softmax"]))
        dtype = str(rng.choice(["float32", "float16", "float64"]))
        cols = int(rng.choice([1024, 6_100, 12_272, 24_500]) + rng.integers(-60, 61))
        yield Call((op, cols, dtype), plan(4096, cols, dtype, op=op, device="H200").kernel)


def right_kernel(op: str, cols: int, dtype: str) -> str:
    """A right answer."""
    the_bytes_of_an_element = 4
    the_bytes_of_the_reductions = 64
    the_bytes_of_shared_memory = 49152
    the_end_of_softmax = 1023
    the_end_of_log_softmax = 1024
    the_longest_of_a_warp = the_end_of_softmax if op == "softmax" else the_end_of_log_softmax
    if dtype == "float64":
        return "block_uncached"
    if cols <= the_longest_of_a_warp:
        return "warp"
    what_a_row_needs = cols * the_bytes_of_an_element + the_bytes_of_the_reductions
    if what_a_row_needs <= the_bytes_of_shared_memory:
        return "block_smem"
    return "block_uncached"


def kernel_by_storage(op: str, cols: int, dtype: str) -> str:
    """The same with a slip: an element takes in shared memory what it takes in the array."""
    the_bytes_of_the_reductions = 64
    the_bytes_of_shared_memory = 49152
    the_end_of_softmax = 1023
    the_end_of_log_softmax = 1024
    the_longest_of_a_warp = the_end_of_softmax if op == "softmax" else the_end_of_log_softmax
    if dtype == "float64":
        return "block_uncached"
    if cols <= the_longest_of_a_warp:
        return "warp"
    what_a_row_needs = cols * np.dtype(dtype).itemsize + the_bytes_of_the_reductions
    if what_a_row_needs <= the_bytes_of_shared_memory:
        return "block_smem"
    return "block_uncached"


def exchanged(op: str, cols: int, dtype: str) -> str:
    """Slip: the lengths of the two operators are exchanged."""
    return dispatch(op, cols, dtype, ends={"softmax": 1024, "log_softmax": 1023})


def dispatch(
    op: str,
    cols: int,
    dtype: str,
    *,
    ends: dict[str, int],
    itemsize: int = 4,
    double: bool = True,
    reductions: int = 64,
) -> str:
    """The rule with parts that can be got wrong: where the warp kernel ends, what an element takes in shared memory,
    and whether double precision is asked for."""
    if double and dtype == "float64":
        return "block_uncached"
    if cols <= ends[op]:
        return "warp"
    return "block_smem" if cols * itemsize + reductions <= 48 * 1024 else "block_uncached"


def up_to_12_000(op: str, cols: int, dtype: str) -> str:
    """Slip: a round number of columns."""
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1024}, reductions=48 * 1024 - 4 * 12_000)


def without_a_kib(op: str, cols: int, dtype: str) -> str:
    """Slip: the reductions get 1 KiB."""
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1024}, reductions=1024)


def just_short(op: str, cols: int, dtype: str) -> str:
    """Slip: what fills the room to its last byte does not fit."""
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1024}, reductions=65)


def same_end(op: str, cols: int, dtype: str) -> str:
    """Slip: both operators end at the same length."""
    return dispatch(op, cols, dtype, ends={"softmax": 1024, "log_softmax": 1024})


def same_start(op: str, cols: int, dtype: str) -> str:
    """Slip: both operators ask for fewer than 1024."""
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1023})


def by_storage(op: str, cols: int, dtype: str) -> str:
    """Slip: shared memory in the type of the array."""
    size = {"float16": 2, "float32": 4, "float64": 8}[dtype]
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1024}, itemsize=size)


def no_double(op: str, cols: int, dtype: str) -> str:
    """Slip: double precision is like the others."""
    return dispatch(op, cols, dtype, ends={"softmax": 1023, "log_softmax": 1024}, double=False)


def grid_exercise(rows: int) -> Number:
    """How many blocks an H200 gets for that many rows of 12 columns."""
    full = rows // 32
    return Number(
        id="09-blocks",
        answer=lambda: plan(rows, 12, device="H200").grid,
        means=partial(rows_per_block, rows),
        formula=Formula(
            "ceil(rows / (threads / lanes * at_once))",
            {
                "rows": Quantity("the rows", rows),
                "threads": Quantity(
                    "the threads of a block",
                    128,
                    ((256, "a larger block"), (32, "those of a warp")),
                ),
                "lanes": Quantity(
                    "the lanes of a group",
                    8,
                    (
                        (4, "too few for 6 packs"),
                        (6, "no power of two"),
                        (16, "as if packs had one number"),
                        (32, "a warp per row"),
                    ),
                ),
                "at_once": Quantity("the rows that a group takes at once", 2, ((1, "one"),)),
            },
        ),
        slips=(
            (-(-rows // 16), "A group takes two rows at a time, not one."),
            (-(-rows // 8), "That is the number with groups of 32 lanes. How many packs of 2 does a row of 12 have?"),
            (-(-rows // 4), "Groups of 32 lanes, a row each? How many packs of 2 does a row of 12 have?"),
            (-(-rows // 64), "Six packs do not fit into 4 lanes with one pack per lane."),
            (full, f"These have {32 * full} rows. Rounded down, who takes the rest?"),
            (rows, "A block has more than one group of lanes, and each takes more than one row."),
        ),
        hint="A row of 12 has 6 packs of 2. How many lanes is that, how many groups a block, how many rows?",
        because="Groups of 8 lanes, 16 of them in a block, two rows each: 32 rows per block.",
    )


LESSON = Lesson(
    number="09",
    notebook="09-dispatch.ipynb",
    title="Dispatch: from a line of Python to a launch",
    minutes=25,
    objectives=(
        "follow a call through the dispatcher's questions, from the axis to the grid",
        "name the thresholds between the kernels, and the limit that each comes from",
        "find where the plan is not the best one, and say what it never asks",
    ),
    exercises=(
        grid_exercise(30_000),
        Number(
            id="09-sixteen-lanes",
            answer=shortest_of_sixteen,
            means=lanes_of,
            slips=(
                (16, "Sixteen columns have packs of 2: eight lanes are enough for them."),
                (17, "Packs of 1 need a lane each: is there a shorter row that eight lanes cannot hold so?"),
                (18, "That is the shortest with packs of 2. An odd row has packs of 1."),
                (32, "That is the longest with packs of 2. Asked is for the shortest, and an odd row has packs of 1."),
                (8, "Eight lanes are enough for 8 columns, even with packs of 1."),
                (10, "Ten columns have five packs of 2: eight lanes are enough for them."),
            ),
            hint="The fewest lanes that hold the row with one pack each. What is the pack of an odd row?",
        ),
        Judged(
            id="09-beat-the-plan",
            problem=beaten,
            hint="Give a kernel and a block size, such as 'block_uncached', 1024.",
        ),
        WriteFunction(
            id="09-write-the-dispatch",
            parameters=("op", "cols", "dtype"),
            models={"": right_kernel, "with the bytes of the array's type in shared memory": kernel_by_storage},
            calls=questions,
            drawn=random_questions,
            slips=(
                (same_end, "The two operators do not end at the same length: one asks for less than 1024."),
                (same_start, "The two operators do not end at the same length: one takes 1024 itself."),
                (by_storage, "The row is kept in the type it is computed in: float16 takes 4 bytes there."),
                (
                    up_to_12_000,
                    "12 000 columns are a round number. A KiB has 1024 bytes, and the reductions take 64 of all.",
                ),
                (without_a_kib, "The reductions take 64 bytes of the 48 KiB, not 1 KiB."),
                (just_short, "A row that needs just as many bytes as there are still fits."),
                (no_double, "Double precision always goes uncached."),
                (
                    exchanged,
                    "The two operators are exchanged: softmax asks for less than 1024, log_softmax takes 1024.",
                ),
            ),
            returns="no text",
            hint="First double precision (float64), then the registers of a warp (up to 1024 columns, or less than "
            "that), "
            "then 48 KiB less 64 bytes of the reductions. The names are 'warp', 'block_smem', 'block_uncached'.",
        ),
    ),
    predictions=(
        Question(
            id="09-rows-of-1024",
            question="Which kernels do rows of 1024 columns get?",
            answers={
                "both warp": "The rule for softmax is `cols < 1024`, so 1024 columns are one too many.",
                "both block_smem": "The rule for log_softmax is `cols <= 1024`, so 1024 columns are still taken.",
                "softmax block_smem, log_softmax warp": (
                    "The reference asks `cols < 1024` for one operator and `cols <= 1024` for the other."
                ),
                "softmax warp, log_softmax block_smem": (
                    "It is the other way round: `cols < 1024` for softmax, `cols <= 1024` for log_softmax."
                ),
            },
        ),
    ),
    varied={
        "09-blocks": Varied(
            (30_000, 21_000, 25_000, 41_000, 50_000),
            ("matrix of 30 000 rows of 12 columns?", "matrix of {n} rows of 12 columns?"),
            grid_exercise,
        ),
    },
)
