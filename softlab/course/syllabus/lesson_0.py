"""Notebook 0: the first kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number, Slip
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.values import spaced
from softlab.course.variants import Varied


def doubles() -> Iterator[LaunchCase]:
    """Numbers that fill their blocks, and numbers that do not."""
    random = np.random.default_rng(0)
    for n, about in ((256, "256 numbers"), (100, "100 numbers"), (1, "1 number")):
        x = random.standard_normal(n, dtype=np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan), "n": np.int32(n)}
        yield LaunchCase(-(-n // 64), 64, args, {"y": 2 * x}, about=about)


def whose(number: float) -> str:
    """Which thread has a number, with 64 threads per block."""
    block, thread = divmod(number, 64)
    return f"Number {number:g} belongs to thread {thread:g} of block {block:g}." if number.is_integer() else ""


def threads_of(numbers: int, blocks: float) -> str:
    """What that many blocks of 128 threads are for the numbers of the exercise."""
    threads = blocks * 128
    said = f"{spaced(blocks)} block{'s' * (blocks != 1)} of 128 have {spaced(threads)} threads"
    if threads < numbers:
        return f"{said}, and {spaced(numbers - threads)} of the {numbers} numbers have none."
    return f"{said}. Is the last block needed, or would fewer do?"


def number_exercise(block: int) -> Number:
    """Which number thread 5 of that block has, with 64 threads per block."""
    return Number(
        id="0-which-number",
        answer=lambda: block * 64 + 5,
        means=whose,
        formula=Formula(
            "block * size + thread",
            {
                "block": Quantity("the number of the block", block),
                "size": Quantity(
                    "the threads of a block",
                    64,
                    ((32, "as many as a warp has"), (128, "as many as the blocks of another exercise have")),
                ),
                "thread": Quantity("the number of the thread", 5),
            },
        ),
        slips=(
            (block + 5 * 64, f"That takes the block for the thread. How many threads stand before block {block}?"),
            ((block - 1) * 64 + 5, f"The first block has the number 0. So {block} blocks stand before block {block}."),
            (block * 32 + 5, "A warp has 32 threads. This block has 64."),
            (block * 64 + 6, "Threads count from 0, too: thread 0 is the first one of its block."),
            (block * 64 + 4, "Threads count from 0: five threads stand before thread 5."),
        ),
        further=(
            "The formula is `i = blockIdx.x * blockDim.x + threadIdx.x`. Which of the three numbers is which here?",
            f"`blockIdx.x` is {block} and `blockDim.x` is 64, so {block} * 64 threads stand before the block. Add "
            "`threadIdx.x`.",
            "A similar one: thread 7 of block 2, blocks of 32 threads. 2 * 32 + 7 = 71.",
        ),
        hint=f"Before block {block} stand {block} blocks of 64 threads. Then count on to thread 5.",
    )


def blocks_slips(numbers: int) -> tuple[Slip, ...]:
    """Typical wrong numbers of blocks for that many numbers."""
    full = numbers // 128
    return (
        (
            full,
            f"{full} blocks have {128 * full} threads. Rounded down, some of the {numbers} numbers are left out.",
        ),
        (numbers / 128, "A grid has whole blocks. The last one may have threads without a number."),
        (numbers, f"{numbers} threads have a number. How many blocks of 128 threads is that?"),
        (128, "That is how many threads a block has. How many blocks are there?"),
        (
            128 * -(-numbers // 128),
            "That is how many threads the launch has, in all of its blocks. How many blocks are there?",
        ),
        (128 * -(-numbers // 128) - numbers, "That many threads have no number. How many blocks are there?"),
        (numbers - 128 * full, f"That many numbers are left when {full} blocks are full. They need a block, too."),
    )


def blocks_exercise(numbers: int) -> Number:
    """How many blocks of 128 threads that many numbers need."""
    return Number(
        id="0-how-many-blocks",
        answer=lambda: -(-numbers // 128),
        means=partial(threads_of, numbers),
        formula=Formula(
            "ceil(numbers / size)",
            {
                "numbers": Quantity("the numbers", numbers),
                "size": Quantity(
                    "the threads of a block",
                    128,
                    (
                        (32, "as many as a warp has"),
                        (64, "as many as other blocks have"),
                        (256, "as many as other blocks have"),
                        (1024, "the most that a block may have"),
                    ),
                ),
            },
        ),
        slips=blocks_slips(numbers),
        further=(
            "Divide the numbers by the threads of a block. If a rest is left, one more block takes it.",
            f"{numbers} / 128 is {numbers / 128:.1f}: {numbers // 128} blocks are full, and some numbers are left for "
            "one more.",
            "A similar one: 300 numbers in blocks of 64. 300 / 64 is 4.7, so 5 blocks, with 20 idle threads.",
        ),
        hint=f"Each block brings 128 threads, and each of the {numbers} numbers needs one.",
    )


LESSON = Lesson(
    number="0",
    notebook="0-first-kernel.ipynb",
    title="Your first kernel: threads, warps, blocks and a grid",
    minutes=10,
    objectives=(
        "say what a launch is, and what a thread, a warp, a block and a grid are",
        "compute which thread works on which number",
        "write a kernel and run it",
    ),
    exercises=(
        number_exercise(3),
        blocks_exercise(1000),
        WriteKernel(
            id="0-double",
            kernel="twice",
            parameters="const float* x, float* y, int n",
            launches=doubles,
            further=(
                "A thread first finds its number: the threads of all blocks before, plus its index in the block.",
                "Three steps: compute `i`, ask whether `i` is less than `n`, and only then read `x[i]` and write "
                "`y[i]`.",
                "A similar one, solved: `int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1;`",
            ),
            slips=(
                KernelSlip(
                    "`threadIdx.x` is the place in the block. Count the threads of the blocks before, too.",
                    "result",
                    r"^(?!.*blockIdx).*threadIdx",
                ),
                KernelSlip(
                    "How many threads has a block of this launch? `blockDim.x` says it.",
                    "result",
                    r"blockIdx\.x\s*\*\s*\d|\d\s*\*\s*blockIdx",
                ),
            ),
            hint="Each i below n has a thread, and that one reads x[i] and writes twice its value to y[i].",
            because="Each thread finds its number by its position in the grid, and those past the end do nothing.",
            fault_hints={
                "global-out-of-bounds": "Thread i touches x[i] and y[i] alone, and a thread "
                "past the end touches none: what must it ask first?"
            },
        ),
    ),
    predictions=(
        Question(
            id="0-past-the-end",
            question="100 numbers, blocks of 32 threads. How many threads does the launch need?",
            answers={
                "100": "A launch has whole blocks. Three blocks have 96 threads, which is too few.",
                "96": "Three blocks have 96 threads, and the last four numbers would have none.",
                "128": "Three blocks have 96 threads, so there are four. 28 threads find no number and end.",
            },
        ),
    ),
    varied={
        "0-how-many-blocks": Varied(
            (1000, 1200, 1500, 2000, 2500),
            (
                "1000 numbers, one thread for each, blocks of 128 threads.",
                "{n} numbers, one thread for each, blocks of 128 threads.",
            ),
            blocks_exercise,
        ),
        "0-which-number": Varied(
            (3, 4, 6, 7, 9),
            ("Which number `i` has thread 5 of block 3?", "Which number `i` has thread 5 of block {n}?"),
            number_exercise,
        ),
    },
)
