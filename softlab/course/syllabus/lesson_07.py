"""Notebook 07: how many warps an SM can hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number, Slip
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import LOG_SUM_SLIPS, blocks_per_sm, no_spills
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.hardware.occupancies import occupancy


@cache
def most_smem() -> int:
    """The most shared memory of which five blocks of 256 threads with 32 registers fit, in bytes per block."""
    held = {s: occupancy("H200", threads=256, registers=32, smem=s).blocks_per_sm for s in range(30_000, 49_153)}
    return max(s for s, blocks in held.items() if blocks >= 5)


def most_registers(threads: int) -> int:
    """The most registers per thread with which a block of that many threads can be launched."""
    return max(r for r in range(1, 256) if occupancy("H200", threads=threads, registers=r).blocks_per_sm)


def held_with(smem: float) -> str:
    """How many blocks an SM holds with that many bytes of shared memory each."""
    if not smem.is_integer() or smem > 232_448:
        return "No block may have so much." if smem > 232_448 else ""
    held = occupancy("H200", threads=256, registers=32, smem=int(smem)).blocks_per_sm
    more = " May they have more each?" if held >= 5 else ""
    return f"With {spaced(smem)} bytes each, an SM holds {held} such block{'s' * (held != 1)}.{more}"


def registers_of(threads: int, registers: float) -> str:
    """What that many registers per thread take of an SM."""
    if registers > 255:
        return f"A thread has at most 255 registers. Are {spaced(registers)} those of a warp, or of the block?"
    warps = threads // 32
    of_a_warp = -(-int(-(-registers // 1)) * 32 // 256) * 256
    more = "More than there are." if of_a_warp * warps > 65_536 else "Is there room for more?"
    return f"With {spaced(registers)} a warp gets {of_a_warp}, and {warps} warps {spaced(of_a_warp * warps)}. {more}"


def sums() -> Iterator[LaunchCase]:
    """48 numbers a thread; far from 0 the exponentials overflow unless the largest is taken away."""
    for middle in (0, 200):
        x = (middle + np.random.default_rng(middle).standard_normal((48, 256))).astype(np.float32)
        x[0, ::2] -= 200  # neither the first nor the last number may stand for the largest
        x[-1, 1::2] -= 200
        top = x.max(axis=0).astype(np.float64)
        right = top + np.log(np.exp(x - top).sum(axis=0))
        y = np.full(256, np.nan, np.float32)
        yield LaunchCase(1, 256, {"x": x, "y": y}, {"y": right}, relative=1e-5, about=f"numbers around {middle}")


#: Five blocks share what an SM has, which is more than what one of them may have.
_OF_ONE = "That is a fifth of the 227 KiB that one block may have at most. The SM has 228 KiB."


def registers_slips(threads: int) -> tuple[Slip, ...]:
    """Typical wrong numbers of registers per thread."""
    warps, share = threads // 32, 65_536 // threads
    return (
        (65_536 / warps, "That is the share of a warp. How many has each of its 32 threads?"),
        (65_536 // warps, "That is the share of a warp. How many has each of its 32 threads?"),
        (65_536 // warps // 256 * 256, "That is for a warp. How many has each of its 32 threads?"),
        (255, f"That is the most a thread can name. But {threads} threads share 65 536 registers."),
        (64, "That is right for 1024 threads. Here there are fewer, so each may have more."),
        (
            65_536 // (2 * warps) // 256 * 8,
            f"That is for two blocks of {threads} threads on the SM. Asked is for one block.",
        ),
        (share, f"65 536 divided by {threads}. But registers are handed out to a warp, in units of 256."),
        (share // 4 * 4, "Registers are handed out to a warp, in units of 256: what does a warp of yours get?"),
        (
            lambda: most_registers(threads) + 8,
            f"One unit of 256 per warp too many: {warps} warps do not fit then. Round down.",
        ),
        (lambda: most_registers(threads) * threads, "That is for the whole block. How many has a thread?"),
        (lambda: most_registers(threads) * 32, "That is for a warp. How many has a thread?"),
    )


def registers_exercise(threads: int) -> Number:
    """How many registers a thread may have at most in a block of that size."""
    warps = threads // 32
    return Number(
        id="07-blocks-of-768",
        answer=lambda: most_registers(threads),
        means=partial(registers_of, threads),
        formula=Formula(
            "registers / warps // unit * unit / lanes",
            {
                "registers": Quantity("the registers of an SM", 65536, ((64000, "thousands"),)),
                "warps": Quantity(
                    "the warps of the block", warps, ((32, "those of a block of 1024"), (64, "those of a full SM"))
                ),
                "unit": Quantity("the unit", 256, ((512, "twice as much"), (128, "shared memory's unit"))),
                "lanes": Quantity("the lanes of a warp", 32),
            },
        ),
        slips=registers_slips(threads),
        hint=f"Such a block has {warps} warps, which share 65 536 registers; a warp gets them in units of 256.",
        because="One register more, and each warp gets a unit of 256 more, which is more than there are.",
    )


LESSON = Lesson(
    number="07",
    notebook="07-occupancy.ipynb",
    title="Occupancy: how many warps an SM can hold",
    minutes=25,
    objectives=(
        "work out how many blocks fit on an SM, and which resource runs out first",
        "explain why achieved occupancy stays below the theoretical one",
        "say when more warps help, and when they do not",
    ),
    exercises=(
        Number(
            id="07-room-for-five",
            answer=most_smem,
            means=held_with,
            formula=Formula(
                "sm / blocks // unit * unit - driver",
                {
                    "sm": Quantity(
                        "the shared memory of an SM",
                        233472,
                        (
                            (228000, "thousands of bytes and not KiB"),
                            (232448, "the most that a single block may have"),
                            (49152, "what a block has without asking"),
                        ),
                    ),
                    "blocks": Quantity("the five blocks", 5, ((4, "four"), (6, "six"), (8, "eight"))),
                    "unit": Quantity("the unit", 128, ((1024, "the driver's part"), (256, "the registers' unit"))),
                    "driver": Quantity("the driver's part", 1024),
                },
            ),
            unit="bytes",
            slips=(
                (233_472 // 5, "That is a fifth of it. The driver keeps 1024 bytes of each block for itself."),
                (
                    233_472 // 5 - 1024,
                    "Nearly: the 1024 bytes and yours are handed out together, in units of 128 bytes.",
                ),
                (49_152, "So much may one block take without asking. Five of them are 240 KiB."),
                (232_448 // 5, f"{_OF_ONE} In units of 128, and 1024 of them are the driver's."),
                (232_448 // 5 // 128 * 128, f"{_OF_ONE} The driver keeps 1024 bytes of each block for itself."),
                (232_448 // 5 - 1024, f"{_OF_ONE} And they are handed out in units of 128 bytes."),
                (232_448 // 5 // 128 * 128 - 1024, _OF_ONE),
                (28_160, "With that, eight fit."),
                (lambda: 233_472 // 6 // 128 * 128 - 1024, "With that, six fit. Five blocks may have more each."),
                (
                    233_472 // 5 // 128 * 128,
                    "In units of 128 bytes, and yet: the driver keeps 1024 of them for itself.",
                ),
                (lambda: most_smem() + 1, "One byte less: shared memory is handed out in units of 128 bytes."),
            ),
            hint="A fifth of an SM's 233 472 bytes, in units of 128; and the driver takes 1024 of them.",
        ),
        registers_exercise(768),
        WriteKernel(
            id="07-give-registers-back",
            kernel="log_sum_exp",
            parameters="const float* x, float* y",
            launches=sums,
            requirements=(
                no_spills("What does not fit into registers is spilled to memory, and read back from there."),
                blocks_per_sm(8, "Must a thread hold the numbers? It can read them again."),
            ),
            slips=LOG_SUM_SLIPS,
            hint="y[t] is the largest of x[i * 256 + t] over all 48 i, plus the logarithm of the sum of "
            "e^(x - largest). Where the largest so far grows, the sum so far is rescaled by e^(old - new).",
        ),
    ),
    predictions=(
        Question(
            id="07-one-register-more",
            question="Blocks of 256 threads with 33 registers each: how many does an SM of an H200 hold?",
            answers={
                "8 blocks": "That is with 32 registers. One register more, and eight blocks need more than the SM has.",
                "7 blocks": "Registers are given out in steps of 8 per thread: 33 count as 40.",
                "6 blocks": (
                    "33 registers are rounded up to 40 per thread. 65 536 registers are enough for six such blocks."
                ),
                "4 blocks": "That would be the case with 64 registers per thread. 33 are rounded up to 40.",
            },
        ),
    ),
    varied={
        "07-blocks-of-768": Varied(
            (768, 640, 832, 576),
            (
                "so that an H200 can launch a block of 768 threads?",
                "so that an H200 can launch a block of {n} threads?",
            ),
            registers_exercise,
        ),
    },
)
