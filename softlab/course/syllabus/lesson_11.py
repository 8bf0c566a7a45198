"""Notebook 11: what is said of the design, and what a recording says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from softlab.bench import claims, recordings
from softlab.bench.recordings import Recording
from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Call, WriteFunction
from softlab.course.predictions import Question
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.plans import forced


@cache
def recording() -> Recording:
    """The recorded H200."""
    return recordings.load()


def cudnn_wins() -> int:
    """Row lengths of float32 at which cuDNN is faster than the planned kernel."""
    cudnn = dict(zip(*claims.peer_speeds(recording(), "cudnn", "float32"), strict=True))
    return sum(cudnn[p.cols] > claims.speed(recording(), p) for p in claims.planned(recording(), "float32"))


def closest_to_cudnn(count: float) -> str:
    """The row lengths at which cuDNN and the planned kernel are closest, of each kind one."""
    cudnn = dict(zip(*claims.peer_speeds(recording(), "cudnn", "float32"), strict=True))
    off = {p.cols: cudnn[p.cols] / claims.speed(recording(), p) - 1 for p in claims.planned(recording(), "float32")}
    if count > len(off):
        return f"Only {len(off)} row lengths are recorded."
    won = min((cols for cols in off if off[cols] > 0), key=off.__getitem__)
    lost = max((cols for cols in off if off[cols] <= 0), key=off.__getitem__)
    return (
        f"It is closest at {spaced(won)} columns, where cuDNN is faster by {off[won]:.1%}, and at {spaced(lost)}, "
        f"where it is not. Does your count agree, and does it go up to {spaced(max(off))}?"
    )


def ratios_of_packs(count: float) -> str:
    """The row lengths at which the claim about packs is closest to the edge."""
    if count > len(claims.PACK_COLS):
        return "There are ten row lengths."
    found = claims.pack_speeds(recording(), "float16")
    ratio = {cols: fast / slow for cols, fast, slow in zip(claims.PACK_COLS, found[8], found[2], strict=True)}
    one, other = sorted(ratio, key=lambda cols: abs(ratio[cols] - 1.15))[:2]
    return (
        f"Nearest to 1.15 are {spaced(one)} columns with {ratio[one]:.3f} and {spaced(other)} with {ratio[other]:.3f}: "
        "does your count have the right one of the two?"
    )


def rows_of(cols: int, mib: float) -> str:
    """How many rows of a number of float32 are in that many MiB."""
    rows = mib * 2**20 / (cols * 4)
    return f"That is {spaced(round(rows, 1))} rows, {spaced(round(rows / 132, 2))} for each of the 132 SMs."


def mib_in_flight(cols: int, blocks_per_sm: int | None = None) -> float:
    """MiB of rows of that many float32 that an H200 works on, in blocks of 512."""
    made = forced(2730, cols, kernel="block_uncached", block_size=512, device="H200")
    held = made.occupancy.blocks_per_sm if blocks_per_sm is None else blocks_per_sm
    return held * 132 * cols * 4 / 2**20


def faster_eights(*, wide: int = 8, beside: int = 2, times: float = 1.15) -> int:
    """Row lengths of float16 at which packs of ``wide`` are at least ``times`` as fast as packs of ``beside``."""
    found = claims.pack_speeds(recording(), "float16")
    return sum(fast >= times * slow for slow, fast in zip(found[beside], found[wide], strict=True))


def comparisons() -> Iterator[Call]:
    """Speeds to be judged: made up, some at the very edge, and recorded."""
    yield Call(([2.0], [1.0], 1.5), "holds")
    yield Call(([1.25], [1.0], 1.5), "does not hold")
    yield Call(([2.0, 3.0, 4.0], [1.0, 1.0, 1.0], 1.5), "holds")
    yield Call(([2.0, 1.0, 4.0], [1.0, 1.0, 1.0], 1.5), "holds partly")
    yield Call(([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 1.5), "does not hold")
    yield Call(([1.5, 3.0], [1.0, 2.0], 1.5), "holds")
    yield Call(([9.0, 1.0], [1.0, 1.0], 2.0), "holds partly")
    yield Call(([2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 1.5), "holds partly")
    yield Call(([1.0, 1.4, 1.4], [1.0, 1.0, 1.0], 1.5), "does not hold")
    yield Call(([2.0, 2.0], [2.5, 4.0], 1.5), "does not hold")
    yield Call(([3.0, 2.0], [2.0, 2.0], 1.5), "holds partly")
    yield Call(([1.0, 5.0], [1.0, 1.0], 1.5), "holds partly")
    packs = claims.pack_speeds(recording(), "float16")
    words = {0: "does not hold", len(packs[8]): "holds"}
    yield Call((packs[8], packs[2], 1.15), words.get(faster_eights(), "holds partly"))


def exact_judge(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """The judgement."""
    true = [a >= times * b for a, b in zip(mine, others, strict=True)]
    return "holds" if all(true) else "holds partly" if any(true) else "does not hold"


def right_judge(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """A right answer."""
    the_cases = []
    for own, other in zip(mine, others):  # noqa: B905 - as a learner writes it
        needed = times * other
        the_cases.append(own >= needed)
    if all(the_cases):
        return "holds"
    if any(the_cases):
        return "holds partly"
    return "does not hold"


def random_comparisons(rng: np.random.Generator) -> Iterator[Call]:
    """Whole and half speeds, so that some are exactly ``times`` as fast, in one case to six."""
    for _ in range(40):
        count, times = int(rng.integers(1, 7)), float(rng.choice([1.0, 1.25, 1.5, 2.0]))
        others = rng.integers(1, 9, count).astype(float).tolist()
        high = [times * one for one in others]
        mine = [one + float(rng.choice([-0.5, 0, 0, 0.5])) for one in high]
        yield Call((mine, others, times), exact_judge(mine, others, times))


def exchanged(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: the two lists are exchanged."""
    return exact_judge(others, mine, times)


def without_times(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: the factor is forgotten."""
    return exact_judge(mine, others, 1.0)


def whole_ratio(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: division without the rest."""
    return exact_judge([a // b for a, b in zip(mine, others, strict=True)], [1.0] * len(mine), times)


def factor_at_mine(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: the factor stands on the other side."""
    return exact_judge([times * own for own in mine], others, 1.0)


def lists_compared(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: Python compares the lists, by the first place at which they differ."""
    return "holds" if list(mine) >= [times * other for other in others] else "does not hold"


def without_partly(mine: Sequence[float], others: Sequence[float], times: float) -> str:
    """Slip: what is true in some cases does not count."""
    return "holds" if exact_judge(mine, others, times) == "holds" else "does not hold"


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


_BLOCKS = (
    (1, "a single one"),
    (2, "as with 1024 threads"),
    (8, "as with 256 threads"),
    (16, "as with 128 threads"),
    (32, "as many as an SM can hold at most"),
)


def rows_exercise(cols: int) -> Number:
    """How many MiB of rows of that many float32 an H200 works on, in blocks of 512."""
    return Number(
        id="11-rows-in-flight",
        answer=lambda: mib_in_flight(cols),
        means=partial(rows_of, cols),
        formula=Formula(
            "per_sm * sms * cols * size / MiB",
            {
                "per_sm": Quantity("the blocks of an SM", 4, _BLOCKS),
                "sms": Quantity("the SMs", 132, ((108, "an A100's"), (80, "a V100's"), (144, "all that the chip has"))),
                "cols": Quantity("the columns", cols),
                "size": Quantity("the bytes of an element", 4, ((2, "those of a float16"),)),
                "MiB": Quantity(
                    "the bytes of a MiB", 2**20, ((10**6, "a million"), (2**10, "a KiB"), (2**30, "a GiB"))
                ),
            },
        ),
        absolute=0.1,
        unit="MiB",
        slips=(
            (lambda: mib_in_flight(cols, 1), "An SM holds more than one such block."),
            (
                lambda: mib_in_flight(cols, 2),
                "An SM has 64 warps' worth of slots: how many blocks of 16 warps is that?",
            ),
            (lambda: mib_in_flight(cols) * 2**20 / 1e6, "That is in megabytes of 10^6 bytes; a MiB has 2^20."),
            (
                lambda: mib_in_flight(cols, 8),
                "That would be 8 blocks per SM: their 4096 threads are twice its slots.",
            ),
            (lambda: mib_in_flight(cols) / 132, "That is one SM. There are 132."),
            (lambda: mib_in_flight(cols) / 4 * 3, "That would be three blocks per SM."),
        ),
        hint="Blocks per SM, times SMs, times bytes of a row, over 2**20; one digit after the point.",
    )


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
            means=closest_to_cudnn,
            slips=(
                (0, "In float16 there are none. Look at the picture of claim 1 for float32, from 5632 columns on."),
                (5632, "That is a row length. Asked is how many there are."),
                (lambda: len(claims.planned(recording(), "float32")), "That is all the recorded row lengths."),
                (
                    lambda: len(claims.planned(recording(), "float32")) - cudnn_wins(),
                    "That counts the lengths where the planned kernel is the faster one.",
                ),
            ),
            hint="Put both into one list by row length, for float32, and count the lengths at which cuDNN is faster.",
        ),
        rows_exercise(24_576),
        Number(
            id="11-a-claim-of-your-own",
            answer=faster_eights,
            means=ratios_of_packs,
            hint="claims.pack_speeds(recording, 'float16') gives the speeds by pack, at each of PACK_COLS. Divide "
            "those of "
            "packs of 8 by those of packs of 2, and count the ratios of 1.15 and more.",
            slips=(
                (0, "At some row lengths packs of 8 are a good deal faster: look at the last picture."),
                (10, "At 10 lengths they are faster. By 15 % and more?"),
                (lambda: faster_eights(times=1.1), "That many are 10 % faster. The claim says 15 %."),
                (lambda: faster_eights(times=1.2), "That many are 20 % faster. The claim says 15 %."),
                (lambda: faster_eights(beside=1), "That is beside packs of 1. The claim is about packs of 2."),
                (lambda: faster_eights(wide=4), "Those are packs of 4. The claim is about packs of 8."),
                (lambda: 10 - faster_eights(), "That is where the claim is false."),
            ),
        ),
        WriteFunction(
            id="11-write-the-judge",
            parameters=("mine", "others", "times"),
            models={"": right_judge},
            calls=comparisons,
            drawn=random_comparisons,
            slips=(
                (by_mean, "A mean hides the cases. Ask each of them."),
                (strictly, "Just `times` as fast is fast enough."),
                (in_any, "In some cases, not in all: that is 'holds partly'."),
                (exchanged, "That asks whether the others are faster: the two lists are exchanged."),
                (factor_at_mine, "The factor stands on the wrong side: it is mine that has to be `times` as fast."),
                (lists_compared, "`>=` compares two lists by the first place at which they differ. Go case by case."),
                (without_partly, "In some cases, not in all: that is 'holds partly'."),
                (without_times, "Faster is not enough: mine must be at least `times` as fast."),
                (whole_ratio, "`//` drops what follows the point: divide by `/`, or multiply."),
            ),
            returns="no text",
            hint="It holds if it is true in every case, partly if in some, and does not hold if in none. Case by case: "
            "is mine at least `times` the other's?",
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
    varied={
        "11-rows-in-flight": Varied(
            (24_576, 16_384, 20_480, 32_768),
            ("on rows of 24 576 `float32`. How many MiB", "on rows of {n} `float32`. How many MiB"),
            rows_exercise,
        ),
    },
)
