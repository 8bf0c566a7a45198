"""Notebook 04: where the elements of a pack are in shared memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number, Slip
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import no_bank_conflicts
from softlab.course.variants import Varied
from softlab.kernel import Kernel

#: 32 lanes read every ``stride``-th word of shared memory.
STRIDED = """
extern "C" __global__ void strided(float* y, int stride) {
  __shared__ float buffer[1024];
  for (int k = threadIdx.x; k < 1024; k += 32) buffer[k] = k;
  __syncwarp();
  y[threadIdx.x] = buffer[threadIdx.x * stride];
}
"""


def wavefronts(stride: int) -> int:
    """Of one load of a warp, as the emulator counts them."""
    run = Kernel(STRIDED, "strided").run(1, 32, (np.zeros(32, np.float32), stride))
    return run.counters["shared_load_wavefronts"]


def of_one_bank(stride: int, wavefronts: float) -> str:
    """What that many wavefronts would mean for lanes whose words are ``stride`` apart."""
    if wavefronts > 32:
        return "A warp has 32 lanes, and so a load of a word each takes at most 32 wavefronts."
    if not wavefronts.is_integer():
        return ""
    if 32 % wavefronts:
        return (
            f"That would be {wavefronts:g} lanes in one bank. But with one distance for all, the banks that are used "
            f"have equally many lanes, and {wavefronts:g} does not divide 32."
        )
    used = 32 // int(wavefronts)
    lane = "lane" if used == 1 else f"each {used}th lane" if used > 2 else "every second lane"
    where = "all lanes would meet" if used == 1 else f"{lane} would meet lane 0"
    return f"With {wavefronts:g}, {where} in its bank. In which banks are words {stride} and {stride * used}?"


def lanes_of_a_round(stride: int) -> Iterator[tuple[int, str]]:
    """What to say to 32 over the stride, rounded up and down, where 32 is no multiple of it."""
    if 32 % stride:
        first = -(-32 // stride)
        hint = (
            f"That is 32 banks over {stride}. But lane {first} does not come back to bank 0: its word {stride * first} "
            f"is in bank {stride * first % 32}."
        )
        yield from ((first, hint), (first - 1, hint))


def tiles() -> Iterator[LaunchCase]:
    """Matrices of 32 x 32 to be turned by 1024 threads."""
    for seed in range(2):
        x = np.random.default_rng(seed).standard_normal((32, 32), dtype=np.float32)
        yield LaunchCase(
            1, (32, 32), {"x": x, "y": np.full_like(x, np.nan)}, {"y": x.T.copy()}, about="a matrix of 32 x 32"
        )


_STRIDES = (
    (1, "neighbours"),
    (2, "every second word"),
    (4, "every fourth word"),
    (8, "every eighth word"),
    (16, "every sixteenth word"),
    (32, "all in one bank"),
)


def stride_slips(stride: int) -> tuple[Slip, ...]:
    """Typical wrong numbers of wavefronts."""
    return tuple(
        (value, hint)
        for value, hint in (
            (
                stride,
                f"The words are {stride} apart, and they span {stride} rounds of the 32 banks. Neither is how many "
                f"share a bank. Write down {stride} * lane % 32.",
            ),
            (
                2,
                "That was the stride of 2: every second bank is idle. Which banks are idle here? It does not "
                "matter how many rounds of the 32 banks the words span.",
            ),
            (
                4,
                "Neighbouring words of global memory take 4 sectors, and every fourth word of shared memory takes "
                "4 wavefronts. Which banks do the lanes use here?",
            ),
            # From 8 words on, each lane has a sector of its own.
            *(((4 * stride, "In global memory they lie in so many sectors. Shared memory has banks."),) * (stride < 8)),
            (32, f"That would be all lanes in one bank. Lane 0 is in bank 0, lane 1 in bank {stride}."),
            (1, f"That would be 32 different banks. Do {stride} and 32 share a factor?"),
            (31 * stride, "That is the last word. How many lanes share the fullest bank?"),
            *lanes_of_a_round(stride),
        )
        if value != math.gcd(stride, 32)
    )


def stride_exercise(stride: int) -> Number:
    """How many wavefronts a read of every ``stride``-th word takes."""
    return Number(
        id="04-odd-strides",
        answer=lambda: wavefronts(stride),
        means=partial(of_one_bank, stride),
        formula=Formula(
            "gcd(stride, banks)",
            {
                "stride": Quantity("the distance of the words", stride, _STRIDES),
                "banks": Quantity("the banks", 32),
            },
        ),
        slips=stride_slips(stride),
        further=(
            "A load takes as many wavefronts as the fullest bank has different words. Word i is in bank i % 32.",
            f"The lanes read words 0, {stride}, {2 * stride} and so on. Take each modulo 32: does any bank come twice?",
            "A similar one: every 10th word. Lanes 0 and 16 read words 0 and 160, both in bank 0: two wavefronts.",
        ),
        hint=f"Write down {stride} * lane % 32 for a few lanes: does a bank come up twice?",
        because=f"As many lanes share a bank as {stride} and 32 have in common as a factor.",
    )


LESSON = Lesson(
    number="04",
    notebook="04-column-major-shared-memory.ipynb",
    title="Column-major storage in shared memory",
    minutes=25,
    objectives=(
        "tell from an access pattern how many wavefronts a shared-memory access takes",
        "say what the compiler makes of two neighbouring stores, and why that settles the question",
        "write a kernel whose lanes never meet in a bank",
    ),
    exercises=(
        stride_exercise(3),
        Number(
            id="04-packs-of-four",
            answer=lambda: wavefronts(4),
            means=partial(of_one_bank, 4),
            formula=Formula(
                "gcd(stride, banks)",
                {
                    "stride": Quantity(
                        "the distance of the words",
                        4,
                        (
                            (1, "neighbours"),
                            (2, "every second word"),
                            (8, "every eighth word"),
                            (16, "every sixteenth word"),
                            (32, "all in one bank"),
                        ),
                    ),
                    "banks": Quantity("the banks", 32),
                },
            ),
            slips=(
                (
                    1,
                    "One wavefront serves one word of each bank. Lanes 0 and 8 write words 0 and 32. Four stores write "
                    "a pack, each of them one word of 4 bytes per lane: the compiler does not join them.",
                ),
                (2, "That would be packs of 2. Lane l now writes word 4 * l."),
                (
                    8,
                    "That is the number of banks in use. How many lanes share each of them? One store writes 4 bytes "
                    "per lane, and no half of the warp waits for the other one.",
                ),
                (16, "That is for all four stores of a pack. Asked is for one store."),
                (32, "That would be all lanes in one bank. Lane 1 writes word 4, in bank 4."),
                (128, "That is how many words a warp's packs have. Asked is for the wavefronts of one store."),
            ),
            further=(
                "One store writes word 4 * lane. Word i is in bank i % 32, so only every fourth bank is used.",
                "Lane 0 is in bank 0. So is each lane whose 4 * lane is a multiple of 32. Count these lanes.",
                "A similar one: packs of 8. Word 8 * lane is in bank 0 for lanes 0, 4, 8, ... 28: eight lanes.",
            ),
            hint="Lane l writes word 4 * l. Which lanes share bank 0?",
        ),
        WriteKernel(
            id="04-turn-a-tile",
            kernel="turn",
            parameters="const float* x, float* y",
            launches=tiles,
            requirements=(
                no_bank_conflicts("In which bank is tile[row][0], if a row has 32 words? And if it had one more?"),
            ),
            further=(
                "Writing or reading a column touches words that lie a row apart. With 32 words per row all are "
                "in one bank.",
                "Give each row of the tile one word more than it needs: then the words of a column lie 33 words apart.",
                "A similar one: a tile of 16 x 32 words is declared `tile[16][33]`, and the last word of each "
                "row stays unused.",
            ),
            fault_hints={"shared-out-of-bounds": "A row of the tile has 32 numbers, so it needs 32 words or more."},
            hint="y[row][column] is x[column][row]: the matrix is turned, so one side takes the indices exchanged.",
            because="With rows of an odd number of words, a column comes by every bank.",
        ),
    ),
    predictions=(
        Question(
            id="04-even-words",
            question="32 lanes write words 0, 2, 4, ..., 62. How many wavefronts does that store take?",
            answers={
                "1 wavefront": "Words 0 and 32 are both in bank 0, and a bank serves one word per wavefront.",
                "2 wavefronts": "Only the 16 even banks are used, and each has two words to take.",
                "16 wavefronts": (
                    "16 is how many banks are used. Each of them has two words, and the banks work at the same time."
                ),
                "32 wavefronts": (
                    "That would be the case if all 32 words were in one bank. Here each used bank has two."
                ),
            },
        ),
    ),
    varied={
        "04-odd-strides": Varied(
            (3, 6, 12, 20, 24),
            ("32 lanes read words `0, 3, 6, ..., 93`.", "Lane `i` of a warp reads word `{n} * i`."),
            stride_exercise,
        ),
    },
)
