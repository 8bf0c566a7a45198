"""Notebook 01: the numbers of a softmax, and three kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import ml_dtypes
import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Call, WriteFunction
from softlab.course.kernels import KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import LOG_SUM_SLIPS, at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.operators import trace_plan
from softlab.plans import forced

#: Columns of the rows that a kernel is tried with.
COLS = 24


def largest_power(dtype: np.typing.DTypeLike) -> int:
    """The largest whole x whose e^x the type holds."""
    most = float(np.finfo(dtype).max)
    return max(x for x in range(200) if math.exp(x) <= most)


def power_of(exponent: float) -> str:
    """What e to that power is, beside the largest float16."""
    if exponent > math.log(np.finfo(np.float64).max):
        return f"e^{exponent:g} is beyond what even a double holds."
    power, most = math.exp(exponent), float(np.finfo(np.float16).max)
    return f"e^{exponent:g} is {power:.6g}: {'too large for a float16' if power > most else 'a float16 holds more'}."


def goes_on(total: float) -> str:
    """What a bfloat16 with that sum does with a further 1."""
    held = float(ml_dtypes.bfloat16(total))
    if not math.isfinite(held):
        return "That is beyond the largest bfloat16."
    apart = 2.0 ** (math.floor(math.log2(total)) - 7)
    if held != total:
        return f"A bfloat16 cannot hold {spaced(total)}: there its neighbours are {spaced(apart)} apart."
    if float(ml_dtypes.bfloat16(total + 1)) > total:
        return f"{spaced(total)} + 1 is {spaced(total + 1)}, which a bfloat16 holds: the sum still grows."
    return f"At {spaced(total)} the neighbours of a bfloat16 are {spaced(apart)} apart. Where are they 2 apart?"


def stops_at() -> float:
    """Where a bfloat16 stays when ones are added to it."""
    one, total = ml_dtypes.bfloat16(1), ml_dtypes.bfloat16(0)
    while total + one != total:
        total = total + one
    return float(total)


def sectors_read(kernel: str, cols: int) -> int:
    """Sectors that four rows of that many halves cost a kernel."""
    plan = forced(4, cols, "float16", kernel=kernel, device="H200")
    return trace_plan(plan, np.zeros((4, cols))).counters["global_load_sectors"]


def exact_log_softmax(row: np.ndarray) -> np.ndarray:
    """In float64, for rows of finite numbers."""
    wide = row.astype(np.float64)
    wide = wide - wide.max()
    return wide - math.log(np.exp(wide).sum())


def log_softmax(x: np.ndarray) -> np.ndarray:
    """A right answer in the plainest form."""
    wide = x.astype(np.float64)
    the_largest = np.max(wide)
    a = wide - the_largest
    the_sum = np.sum(np.exp(a))
    return np.asarray(a - np.log(the_sum))


def log_softmax_of_floats(x: np.ndarray) -> np.ndarray:
    """The same in the type of x."""
    the_largest = np.max(x)
    a = x - the_largest
    the_sum = np.sum(np.exp(a))
    return np.asarray(a - np.log(the_sum))


def log_rows() -> Iterator[Call]:
    """Rows of float32 that are harmless, far up, far down, and far apart."""
    for row in (
        [0, 0],
        [1, 2, 3],
        [1000, 1001, 1002],
        [-1000, -1001, -1003],
        [0, -200, 3],
        [0] * 40 + [150, 150],
        [150, 150, 0],
    ):
        x = np.array(row, np.float32)
        yield Call((x,), exact_log_softmax(x))


#: Logarithms nearer to 0 have few right digits in float32.
NEAR_ZERO = 0.05


def random_rows(rng: np.random.Generator) -> Iterator[Call]:
    """Rows of several lengths, around several numbers, near and far apart."""
    for length in (1, 2, 7, 33, 100):
        for middle, spread in ((0, 2), (500, 3), (-700, 5), (0, 60)):
            x = (middle + spread * rng.standard_normal(length)).astype(np.float32)
            right = exact_log_softmax(x)
            if length == 1 or abs(right).min() > NEAR_ZERO:
                yield Call((x,), right)


def base_two(x: np.ndarray) -> np.ndarray:
    """Slip: the logarithm of base 2."""
    away = x - x.max()
    return np.asarray(away - np.log2(np.exp(away).sum()))


def naive(x: np.ndarray) -> np.ndarray:
    """Slip: the formula without the maximum."""
    with np.errstate(all="ignore"):
        e = np.exp(x)
        return np.log(e / e.sum())


def of_softmax(x: np.ndarray) -> np.ndarray:
    """Slip: the logarithm of a good softmax."""
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max())
        return np.log(e / e.sum())


def with_a_floor(floor: float) -> Callable[[np.ndarray], np.ndarray]:
    """Slip: a small number is added to the share, or to the exponentials, so that no logarithm is that of 0."""

    def added(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - x.max())
        return np.asarray(np.log(e / e.sum() + floor))

    return added


def at_least(floor: float) -> Callable[[np.ndarray], np.ndarray]:
    """Slip: a share is at least that small number."""

    def cut(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - x.max())
        return np.asarray(np.log(np.maximum(e / e.sum(), floor)))

    return cut


def no_maximum(x: np.ndarray) -> np.ndarray:
    """Slip: x - log(sum), with the maximum left in."""
    with np.errstate(all="ignore"):
        return x - np.log(np.exp(x).sum())


def log_sums() -> Iterator[LaunchCase]:
    """Rows, a thread each, far up and far down, each of them less than the one before; one begins with -inf."""
    for rows, shift in ((32, 0), (40, 1000), (96, -1000)):
        middle = shift - 9 * np.arange(rows, dtype=np.float32)[:, None]
        x = middle + 3 * np.random.default_rng(rows).standard_normal((rows, COLS), dtype=np.float32)
        x[1, 0] = -np.inf
        x[2, -1] += 200  # the maximum is the last number, and far away
        x[3, -1] -= 200  # no number that may stand for the maximum, nor is the first one of the second row
        wide = x.astype(np.float64)
        most = wide.max(axis=1)
        right = most + np.log(np.exp(wide - most[:, None]).sum(axis=1))
        args = {"x": x, "y": np.full(rows, np.nan, np.float32), "rows": rows, "cols": COLS}
        about = f"{rows} rows from {shift} down"
        yield LaunchCase(-(-rows // 32), 32, args, {"y": right.astype(np.float32)}, relative=1e-5, about=about)


def _one_reading(launch: LaunchCase) -> int:
    """Each warp loads each column once, a number a lane."""
    return COLS * int(np.prod(launch.grid))


PARAMETERS = "const float* x, float* y, int rows, int cols"


def read_per_element(cols: int, sectors: float) -> str:
    """How many bytes of that many sectors fall to an element of four rows."""
    share = spaced(sectors * 32 / (4 * cols))
    return (
        f"{spaced(sectors)} sectors have {spaced(32 * sectors)} bytes, {share} for each element of the four rows. How "
        "many bytes has an element, and how often is it read?"
    )


def sectors_exercise(cols: int) -> Number:
    """How many sectors block_uncached reads for four rows of that many halves."""
    once = 4 * cols * 2 // 32
    return Number(
        id="01-sectors-of-the-uncached",
        answer=lambda: sectors_read("block_uncached", cols),
        means=partial(read_per_element, cols),
        formula=Formula(
            "rows * cols * size * reads / sector",
            {
                "rows": Quantity("the rows", 4),
                "cols": Quantity("the columns", cols),
                "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"),)),
                "reads": Quantity(
                    "the reads of a row",
                    3,
                    ((4, "the write among them"), (1, "as if the row were kept"), (2, "one too few")),
                ),
                "sector": Quantity(
                    "the bytes of a sector", 32, ((128, "those of a cache line"), (64, "those of two sectors"))
                ),
            },
        ),
        slips=(
            (once, "That is one read of the rows. This kernel keeps nothing, so it reads three times."),
            (2 * once, "Twice? For the maximum, for the sum, and for the result."),
            (6 * once, "An element of float16 has 2 bytes, not 4."),
            (4 * once, "It reads three times; the fourth time it writes."),
            (3 * once // 4, "That is for one of the four rows."),
            (3 * 4 * cols, "That counts elements. A sector has 32 bytes."),
            (3 * 4 * cols * 2, "That counts bytes. A sector has 32 of them."),
        ),
        hint=f"4 x {cols} elements of 2 bytes, in sectors of 32 bytes, as often as the kernel reads a row.",
    )


LESSON = Lesson(
    number="01",
    notebook="01-numerics-and-three-kernels.ipynb",
    title="The numbers of a softmax, and three kernels",
    minutes=40,
    objectives=(
        "say where the formula of softmax fails in float16 and in float32, and why subtracting the maximum repairs it",
        "tell why the kernels add in float32, why the order of a sum shows in its last digits, and what a fast "
        "exponential costs",
        "explain the three kernels by two questions: who owns the row, and where is it kept?",
        "write a sum of exponentials that never overflows",
    ),
    exercises=(
        Number(
            id="01-largest-power",
            answer=lambda: largest_power(np.float16),
            means=power_of,
            formula=Formula(
                "log(most) / log(base) // 1",
                {
                    "most": Quantity(
                        "the largest number",
                        65504,
                        (
                            (3.4e38, "that of float32"),
                            (1.797e308, "that of a double"),
                            (32768, "half of it"),
                            (2048, "where whole numbers end"),
                        ),
                    ),
                    "base": Quantity("the base of the power", math.e, ((2, "binary digits"), (10, "decimal digits"))),
                },
            ),
            slips=(
                (12, "e^12 is 162 755. The largest float16 is 65 504."),
                (88, "That is the answer for float32."),
                (16, "2^16 is just beyond float16. But the power is one of e, and e is larger than 2."),
                (15, "2^15 is the last power of 2 that fits. But the power is one of e."),
                (65504, "That is the largest float16 itself. Which power of e comes nearest below it?"),
                (10, "e^10 is 22 026: one more still fits."),
                (31, "The exponent of a float16 has 5 bits, but it is one of 2, and not all of them count up."),
                (30, "The exponent of a float16 goes up to 30 in its bits. But it is one of 2, and begins below 0."),
            ),
            hint="The largest float16 is 65 504. Which is the last power of e below it?",
        ),
        Number(
            id="01-where-it-stops",
            answer=stops_at,
            means=goes_on,
            formula=Formula(
                "base ** bits",
                {
                    "base": Quantity("the base of the digits", 2, ((10, "decimal digits"),)),
                    "bits": Quantity(
                        "the digits of a bfloat16",
                        8,
                        (
                            (7, "those that are stored"),
                            (9, "one too many"),
                            (11, "those of a float16"),
                            (10, "those that a float16 stores"),
                            (16, "all bits of it"),
                            (24, "those of a float32"),
                            (23, "those that a float32 stores"),
                        ),
                    ),
                },
            ),
            slips=(
                (2048, "That is where float16 stops, with 11 bits. A bfloat16 has 8."),
                (128, "At 128 neighbours are 1 apart: the next one is 129. A number's first 1 has no bit, and counts."),
                (512, "At 256 neighbours are 2 apart already."),
                (257, "bfloat16 cannot hold 257: the next number after 256 is 258."),
                (65504, "It stops long before it overflows."),
                (65536, "Not all 16 bits are digits: a bfloat16 has 8 bits for them."),
                (255, "255 + 1 is 256, and a bfloat16 holds that. And 256 + 1?"),
                (math.inf, "It stops long before that: with 8 bits for digits, 1 soon is too small beside the sum."),
            ),
            hint="A bfloat16 has 8 bits for its digits. A number stays as it is when the next larger one is 2 away, "
            "and the "
            "half of that rounds down.",
            because="A bfloat16 has 8 bits: it cannot hold 256 + 1, which rounds back to 256.",
        ),
        sectors_exercise(2048),
        WriteFunction(
            id="01-log-softmax",
            parameters=("x",),
            models={"": log_softmax, " ": log_softmax_of_floats},
            calls=log_rows,
            drawn=random_rows,
            relative=1e-5,
            slips=(
                (base_two, "That is the logarithm of base 2. np.log is the natural one."),
                (naive, "The exponentials overflow: take the maximum away first."),
                *(
                    (
                        slip(10.0**-digits),
                        f"A share may be smaller than 1e-{digits}: its logarithm is then that of the small number. "
                        "Take the logarithm apart, and no share is needed.",
                    )
                    for slip in (with_a_floor, at_least)
                    for digits in (5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 30, 38)
                ),
                (of_softmax, "A share too small for float32 becomes 0, and log(0) is -inf. Take the logarithm apart."),
                (
                    no_maximum,
                    "The exponentials still overflow. Subtract the maximum from x, inside the sum and outside of it.",
                ),
            ),
            hint="log(e^a / s) is a - log(s), with a = x - maximum and s the sum of all e^a, in float32 and for any "
            "length.",
            because="No number was divided, and none had to be small.",
        ),
        WriteKernel(
            id="01-log-sum-exp",
            kernel="log_sum_exp",
            parameters=PARAMETERS,
            launches=log_sums,
            slips=(
                *LOG_SUM_SLIPS,
                KernelSlip("Begin the maximum with -3.4e38f, so that it is a number from the start.", "-inf"),
            ),
            hint="log(sum e^x) is m + log(sum e^(x - m)), with m the largest number of that very row. The maximum "
            "begins below all numbers, and the sum with 0.",
            because="Two passes over the row. Can you do with one? That is the next exercise.",
            fault_hints={"global-out-of-bounds": "There may be more threads than rows."},
        ),
        WriteKernel(
            id="01-one-pass",
            kernel="log_sum_exp",
            parameters=PARAMETERS,
            launches=log_sums,
            requirements=(
                at_most(
                    "global_load_requests",
                    _one_reading,
                    "Each number may be loaded once. What happens to the sum so far when a larger number comes?",
                ),
            ),
            slips=(
                *LOG_SUM_SLIPS,
                KernelSlip(
                    "Begin the maximum with -3.4e38f, so that it is a number from the start.",
                    "-inf",
                ),
                KernelSlip(
                    "No exponent may be above 0: the sum so far is worth e^(old maximum - new maximum) times as much.",
                    "overflow",
                ),
            ),
            hint="When the maximum grows from m to M, the sum so far is worth e^(m - M) times as much, with the old m, "
            "and the new number adds 1. Each number of the row counts, also the first.",
            because="This is the online softmax (Milakov and Gimelshein, 2018): it saves a pass over the row.",
            fault_hints={"global-out-of-bounds": "There may be more threads than rows."},
        ),
    ),
    predictions=(
        Question(
            id="01-overflow",
            question="From which whole x on is e^x too large for a float32?",
            answers={
                "16": "e^16 is about nine million. Even float16 ends only at 65 504, which e^11 nearly reaches.",
                "89": "The largest float32 is about 3.4 * 10^38, and e^88.7 is as large.",
                "1000": "That is far beyond. A double overflows at 710, and a float32 much earlier.",
                "10^38": "So large may the result be, not x. The logarithm of 3.4 * 10^38 is about 88.7.",
            },
        ),
        Question(
            id="01-same-bits",
            question="Three kernels, one formula. Do they return the same 4096 numbers?",
            answers={
                "yes, to the last bit": (
                    "Each kernel adds the row's numbers in another order, and each addition rounds."
                ),
                "yes, but for the last digits": (
                    "The kernels add in different orders, so they round differently, and only the last digits show it."
                ),
                "no, they differ by some percent": (
                    "Rounding of a float32 is about one part in ten million. It does not grow to percents here."
                ),
            },
        ),
    ),
    varied={
        "01-sectors-of-the-uncached": Varied(
            (2048, 1536, 2560, 3072, 4096),
            ("for 4 rows of 2048 `float16`?", "for 4 rows of {n} `float16`?"),
            sectors_exercise,
        ),
    },
)
