"""Notebook 08: the choice of a block size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.functions import Call, WriteFunction
from softlab.course.predictions import Question
from softlab.course.values import spaced
from softlab.plans import plan

BLOCK_SIZES = (128, 256, 512, 1024)


@cache
def first_of_256(device: str = "A100") -> int:
    """The shortest even row of float32 that gets blocks of 256."""
    return next(cols for cols in range(1024, 12_274, 2) if plan(4096, cols, device=device).block_size == 256)


def block_size_of(cols: float) -> str:
    """The block size of a row of that length on an A100."""
    if not cols.is_integer() or cols > 100_000:
        return ""
    made = plan(4096, int(cols), device="A100")
    if made.kernel != "block_smem":
        return f"A row of {spaced(cols)} goes to another kernel, {made.kernel}."
    size = made.block_size
    shorter = " Is there a shorter one?" if size == 256 else " Asked is for blocks of 256." if size != 128 else ""
    return f"A row of {spaced(cols)} gets blocks of {size}.{shorter}"


def choices() -> Iterator[Call]:
    """What an SM of an H200 holds at many row lengths, and the block size that the plan takes."""
    for cols in (*range(1024, 12_272, 246), 7020, 12_272):
        made = plan(4096, cols, device="H200")
        others = [other for other in made.alternatives() if other.kernel == "block_smem"]
        held = {other.block_size: other.plan.occupancy.blocks_per_sm if other.plan else 0 for other in others}
        yield Call((held,), made.block_size)


def random_choices(rng: np.random.Generator) -> Iterator[Call]:
    """Any numbers of blocks that do not grow with the block size, alike ones often."""
    for _ in range(40):
        held = sorted(rng.integers(0, 6, 4).tolist(), reverse=True)
        held[0] = max(held[0], 1)
        blocks = dict(zip(BLOCK_SIZES, held, strict=True))
        yield Call((blocks,), max(size for size in BLOCK_SIZES if blocks[size] == blocks[128]))


def rule(blocks: dict[int, int]) -> int:
    """A right answer."""
    smallest = 128
    the_blocks_of_128 = blocks[smallest]
    return max(size for size in blocks if blocks[size] == the_blocks_of_128)


def number_of_blocks(blocks: dict[int, int]) -> int:
    """Slip: the number of blocks."""
    return blocks[128]


def most_blocks(blocks: dict[int, int]) -> int:
    """Slip: as many blocks as can be, whatever their size."""
    return max(blocks, key=lambda size: blocks[size])


def most_threads(blocks: dict[int, int]) -> int:
    """Slip: as many threads on an SM as can be."""
    return max(blocks, key=lambda size: (blocks[size] * size, size))


def most_threads_or_smaller(blocks: dict[int, int]) -> int:
    """Slip: the same, and of sizes that are alike the smallest."""
    return max(blocks, key=lambda size: (blocks[size] * size, -size))


def largest_that_fits(blocks: dict[int, int]) -> int:
    """Slip: the largest size of which an SM holds any block."""
    return max((size for size in blocks if blocks[size]), default=128)


LESSON = Lesson(
    number="08",
    notebook="08-block-size-choice.ipynb",
    title="The choice of a block size",
    minutes=20,
    objectives=(
        "apply the reference's rule for the block size, and write it",
        "say at which row lengths its answer changes, and why there are notches",
        "judge the rule by recorded speeds: where it is right and what it does not compare",
    ),
    exercises=(
        Number(
            id="08-the-first-step",
            answer=first_of_256,
            means=block_size_of,
            slips=(
                (6194, "That is the H200's. An SM of an A100 has less shared memory: 164 KiB."),
                (lambda: first_of_256() - 2, "There an SM still holds one block of 128 more."),
                *(
                    (
                        power,
                        f"{block_size_of(float(power))} The step is at no power of 2: "
                        "it is where shared memory leaves room for at most 8 blocks.",
                    )
                    for power in (2048, 4096, 8192)
                ),
                (4978, "The answer turns to 256 there, too, but not for the first time."),
                (1024, "At 1024 columns the kernel begins, with blocks of 128."),
                (lambda: first_of_256("V100"), "That is a V100's. Asked is for an A100."),
                (lambda: first_of_256() - 1, "Asked is for an even row length, and this is odd."),
            ),
            hint="Let the explorer show it for an A100, or count: an SM holds at most 8 blocks of 256 threads.",
        ),
        MultipleChoice(
            id="08-another-gpu",
            answers=BLOCK_SIZES,
            right=lambda: plan(4096, 4096, device="T4").block_size,
            slips={
                128: "It would be so on an H200. How many blocks of 16 KiB do 64 KiB hold?",
                512: "Three blocks of 512 threads are 48 warps. There are slots for 32. Two blocks of 512 would fill "
                "these slots, but the plan wants as many blocks as shared memory has room for.",
                1024: "Three blocks of 1024 threads are 96 warps. There are slots for 32.",
            },
            hint="Asked is for the threads of one block, not of all that an SM holds. How many blocks of 16 KiB fit, "
            "and how many threads may each have then?",
        ),
        WriteFunction(
            id="08-write-the-rule",
            parameters=("blocks",),
            models={"": rule},
            calls=choices,
            drawn=random_choices,
            slips=(
                (most_blocks, "As many blocks as 128 gives: yes. Among those that do, the largest."),
                (number_of_blocks, "That is a number of blocks. Asked is for a size: 128, 256, 512 or 1024."),
                (
                    largest_that_fits,
                    "That is the largest size that fits at all. Threads come second: first comes the number of blocks.",
                ),
                (most_threads_or_smaller, "Threads come second. First comes the number of blocks, which 128 sets."),
                (most_threads, "Threads come second. First comes the number of blocks, which 128 sets."),
            ),
            returns="no number",
            hint="The largest size, 128 to 1024, of which an SM holds exactly as many blocks as of 128: ask 1024 "
            "first. If "
            "there is none, 128.",
        ),
    ),
    predictions=(
        Question(
            id="08-rows-of-4096",
            question="Which block size does the rule take for rows of 4096 float32?",
            answers={
                "128": (
                    "The rule wants the most blocks per SM first. Thirteen blocks of 128 threads fit, and eight of 256."
                ),
                "256": "Eight blocks of 256 threads fit. But thirteen of 128 do, and the rule counts blocks first.",
                "512": "Four blocks of 512 threads fit. But thirteen of 128 do, and the rule counts blocks first.",
                "1024": "Two blocks of 1024 threads fit. But thirteen of 128 do, and the rule counts blocks first.",
            },
        ),
    ),
)
