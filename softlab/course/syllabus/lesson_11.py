"""Notebook 11: what is said of the design, and what a recording says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from softlab.bench import claims, recordings
from softlab.bench.recordings import Recording
from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.functions import Call, WriteFunction
from softlab.course.predictions import Question
from softlab.plans import forced


@cache
def recording() -> Recording:
    """The recorded H200."""
    return recordings.load()


def cudnn_wins() -> int:
    """Row lengths of float32 at which cuDNN is faster than the planned kernel."""
    cudnn = dict(zip(*claims.peer_speeds(recording(), "cudnn", "float32"), strict=True))
    return sum(cudnn[p.cols] > claims.speed(recording(), p) for p in claims.planned(recording(), "float32"))


def mib_in_flight(blocks_per_sm: int | None = None) -> float:
    """MiB of rows of 24 576 float32 that an H200 works on, in blocks of 512."""
    made = forced(2730, 24_576, kernel="block_uncached", block_size=512, device="H200")
    held = made.occupancy.blocks_per_sm if blocks_per_sm is None else blocks_per_sm
    return held * 132 * 24_576 * 4 / 2**20


def faster_eights() -> int:
    """Row lengths of float16 at which packs of 8 are at least 15 % faster than packs of 2."""
    found = claims.pack_speeds(recording(), "float16")
    return sum(eight >= 1.15 * two for two, eight in zip(found[2], found[8], strict=True))


def comparisons() -> Iterator[Call]:
    """Speeds to be judged: made up, some at the very edge, and recorded."""
    yield Call(([2.0, 3.0, 4.0], [1.0, 1.0, 1.0], 1.5), "holds")
    yield Call(([2.0, 1.0, 4.0], [1.0, 1.0, 1.0], 1.5), "holds partly")
    yield Call(([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 1.5), "does not hold")
    yield Call(([1.5, 3.0], [1.0, 2.0], 1.5), "holds")
    yield Call(([9.0, 1.0], [1.0, 1.0], 2.0), "holds partly")
    yield Call(([2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 1.5), "holds partly")
    yield Call(([1.0, 1.4, 1.4], [1.0, 1.0, 1.0], 1.5), "does not hold")
    packs = claims.pack_speeds(recording(), "float16")
    words = {0: "does not hold", len(packs[8]): "holds"}
    yield Call((packs[8], packs[2], 1.15), words.get(faster_eights(), "holds partly"))


def by_mean(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: one number for all cases."""
    return "holds" if sum(mine) >= times * sum(others) else "does not hold"


def strictly(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: just ``times`` as fast is not enough."""
    true = [a > times * b for a, b in zip(mine, others, strict=True)]
    return "holds" if all(true) else "holds partly" if any(true) else "does not hold"


def in_any(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: one case is enough."""
    return "holds" if any(a >= times * b for a, b in zip(mine, others, strict=True)) else "does not hold"


LESSON = Lesson(
    number="11",
    notebook="11-claims-ledger.ipynb",
    title="The claims ledger",
    minutes=30,
    objectives=(
        "turn a sentence about speed into an experiment with a number and a verdict",
        "say of six claims about this design where each of them holds",
        "name what a claim loses on its way: the GPU, the compiler, the library, the shape",
    ),
    exercises=(
        Number(
            id="11-where-cudnn-wins",
            answer=cudnn_wins,
            slips=(
                (0, "Look at the picture of claim 1, from 5632 columns on."),
                (lambda: len(claims.planned(recording(), "float32")), "That is all the recorded row lengths."),
                (
                    lambda: len(claims.planned(recording(), "float32")) - cudnn_wins(),
                    "That counts the lengths where the planned kernel is the faster one.",
                ),
            ),
            hint="Put both into one list by row length, and count.",
        ),
        Number(
            id="11-rows-in-flight",
            answer=mib_in_flight,
            absolute=0.1,
            slips=(
                (lambda: mib_in_flight(1), "An SM holds more than one such block."),
                (lambda: mib_in_flight() * 2**20 / 1e6, "That is in megabytes of 10^6 bytes; a MiB has 2^20."),
                (lambda: mib_in_flight(8), "That would be 8 blocks per SM: their 4096 threads are twice its slots."),
            ),
            hint="Blocks per SM, times SMs, times bytes of a row, over 2**20; one digit after the point.",
        ),
        Number(
            id="11-a-claim-of-your-own",
            answer=faster_eights,
            hint="claims.pack_speeds(recording, 'float16') gives the speeds by pack, at each of PACK_COLS.",
            slips=(
                (0, "At some row lengths packs of 8 are a good deal faster: look at the last picture."),
                (10, "At 10 lengths they are faster. By 15 % and more?"),
            ),
        ),
        WriteFunction(
            id="11-write-the-judge",
            calls=comparisons,
            slips=(
                (by_mean, "A mean hides the cases. Ask each of them."),
                (strictly, "Just `times` as fast is fast enough."),
                (in_any, "In some cases, not in all: that is 'holds partly'."),
            ),
            hint="It holds if it is true in every case, partly if in some, and does not hold if in none.",
        ),
    ),
    predictions=(
        Question(
            id="11-six-claims",
            question="How many of the six claims hold in every case that was run?",
            answers={
                "none": "One does: that of shuffles without shared memory. The code shows it in every case.",
                "1": "One holds throughout, four hold in a part of the cases, one in none.",
                "3": "Five claims are true in some case. A claim that holds *everywhere* is rarer.",
                "all 6": "Each was true of a GPU, a compiler and a shape. Few are true of all.",
            },
        ),
    ),
)
