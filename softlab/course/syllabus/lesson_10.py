"""Notebook 10: how a kernel's time is measured, and how one is fooled."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Call, WriteFunction
from softlab.course.kernels import FIVE_STEPS, ON_ONE_LINE, KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import at_least, at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied

ROWS, COLS = 16_384, 4096


def gb_per_second(microseconds: float, *, itemsize: int = 2, moves: int = 2, giga: float = 1e9) -> float:
    """Speed of a softmax of the exercise's shape that took that time."""
    return moves * ROWS * COLS * itemsize / (microseconds * 1e-6) / giga


def honest(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """GB/s by the median of the times, in microseconds, that come after the warm-up."""
    unit = 1000
    counted = times[warm_up:]
    return nbytes / statistics.median(counted) / unit


def with_warm_up(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: the warm-up counts, too."""
    return nbytes / statistics.median(times) / 1e3


def by_mean(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: the mean time."""
    return nbytes / statistics.fmean(times[warm_up:]) / 1e3


def by_best(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: the shortest time."""
    return nbytes / min(times[warm_up:]) / 1e3


def mean_speed(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: the mean of the speeds."""
    return statistics.fmean(nbytes / time / 1e3 for time in times[warm_up:])


def in_bytes(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: bytes a microsecond are MB/s."""
    return nbytes / statistics.median(times[warm_up:])


def series() -> Iterator[Call]:
    """Times as they come: slow at first, and now and then disturbed."""
    rng = np.random.default_rng(0)
    lists = [
        ([4890.0, 152.6, 144.0, 142.6, 143.7, 140.5, 139.6, 900.0, 138.7], 2),
        ([353.0, 158.0, 150.0, 149.0, 148.0, 151.0], 1),
        ([353.0, 158.0, 150.0, 149.0, 148.0, 151.0], 2),
        ([353.0, 158.0, 150.0, 149.0, 148.0, 151.0], 4),
        ([10.0, 20.0, 30.0, 45.0], 0),
        ((130 + rng.exponential(8, 40)).tolist(), 5),
    ]
    for times, warm_up in lists:
        nbytes = 2 * 65_536 * 1024 * 4
        yield Call((times, nbytes, warm_up), honest(times, nbytes, warm_up))


def random_series(rng: np.random.Generator) -> Iterator[Call]:
    """Times of odd and even number, with any warm-up and any bytes."""
    for _ in range(20):
        count, warm_up, nbytes = int(rng.integers(6, 30)), int(rng.integers(0, 3)), int(rng.integers(10**6, 10**9))
        times = (100 + rng.exponential(20, count)).round(1).tolist()
        yield Call((times, nbytes, warm_up), honest(times, nbytes, warm_up))


def in_gib(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: GiB of 2**30 bytes."""
    return nbytes / statistics.median(times[warm_up:]) * 1e6 / 2**30


def twice_moved(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: reading and writing are counted again."""
    return 2 * honest(times, nbytes, warm_up)


def one_fewer(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: one more time is left out."""
    return honest(times, nbytes, warm_up + 1)


def unsorted(times: Sequence[float], nbytes: int, warm_up: int) -> float:
    """Slip: the middle of times that are not sorted."""
    counted = times[warm_up:]
    return nbytes / counted[len(counted) // 2] / 1e3


def readings() -> Iterator[LaunchCase]:
    """Whole numbers, so that a sum is exact in any order. Block b reads the pieces b, b + grid, ... of a block each."""
    for n, grid, block in ((8192, 4, 256), (1000, 3, 128), (4097, 2, 1024)):
        x = np.random.default_rng(n).integers(-8, 9, n).astype(np.float32)
        owner = np.arange(n) // block % grid
        right = np.array([x[owner == b].sum() for b in range(grid)], np.float32)
        args = {"x": x, "y": np.full(grid, np.nan, np.float32), "n": n}
        yield LaunchCase(grid, block, args, {"y": right}, about=f"{n} numbers, {grid} blocks of {block}")


def _sectors(launch: LaunchCase) -> int:
    return -(-launch.args["n"] * 4 // 32)


def _blocks(launch: LaunchCase) -> int:
    assert isinstance(launch.grid, int)
    return launch.grid


def moved(microseconds: int, speed: float) -> str:
    """How many bytes of each element move in that time at a speed in GB/s."""
    share = spaced(speed * 1e3 * microseconds / (ROWS * COLS))
    return f"At {spaced(speed)} GB/s, {share} bytes of each of the {spaced(ROWS * COLS)} elements move in that time."


def speed_exercise(microseconds: int) -> Number:
    """How fast a softmax of the exercise's shape was that took that time."""
    speed = partial(gb_per_second, microseconds=microseconds)
    return Number(
        id="10-how-fast",
        answer=speed,
        means=partial(moved, microseconds),
        formula=Formula(
            "rows * cols * size * moves / time / 1000",
            {
                "rows": Quantity("the rows", ROWS),
                "cols": Quantity("the columns", COLS),
                "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"), (1, "one"))),
                "moves": Quantity(
                    "the moves of each element",
                    2,
                    ((1, "the read or the write"), (3, "one too many"), (4, "as if it were read three times")),
                ),
                "time": Quantity("the time", microseconds),
            },
        ),
        relative=0.005,
        unit="GB/s",
        slips=(
            (lambda: speed(moves=1), "Each element is read, and written, too."),
            (lambda: speed(itemsize=4), "An element of float16 has 2 bytes."),
            (lambda: speed(giga=2**30), "That is in GiB, of 2**30 bytes. A GB has 10**9."),
            (lambda: speed(giga=1e15), "A microsecond is a millionth of a second, and a GB has 10**9 bytes."),
            (lambda: speed(itemsize=1) / 2, "That counts one byte per element. A float16 has 2, and moves twice."),
            (lambda: speed() / 4181 * 100, "That is the share of a copy in percent. Asked is for GB/s."),
        ),
        hint=f"Bytes in and bytes out, over the time: {microseconds} microseconds are {microseconds}e-6 seconds, and "
        f"a GB "
        "has 10**9 bytes.",
    )


LESSON = Lesson(
    number="10",
    notebook="10-measuring-honestly.ipynb",
    title="Measuring honestly",
    minutes=40,
    objectives=(
        "turn a time into a speed, and compare it with a ceiling that was measured",
        "choose a stopwatch that times the kernel, and not the host, the launch or the cache",
        "say how a benchmark can be made to show anything, and ask the questions that stop it",
        "write a kernel whose reads the compiler cannot remove",
    ),
    exercises=(
        speed_exercise(98),
        MultipleChoice(
            id="10-which-is-honest",
            answers=("A", "B", "C", "D"),
            right="B",
            slips={
                "A": "The host's clock stops when the launch is handed over. What has the GPU done by then?",
                "C": "8 MiB in and 8 MiB out stay in L2 from one launch to the next. And why the fastest?",
                "D": "Who chose the row length, and what happens at the others? And who computes on zeros?",
            },
            hint="For each ask: does it time the GPU? Is the data in a cache? Is the case typical, is the number?",
        ),
        WriteFunction(
            id="10-write-the-summary",
            parameters=("times", "nbytes", "warm_up"),
            models={"": honest},
            calls=series,
            drawn=random_series,
            relative=1e-9,
            slips=(
                (with_warm_up, "The first `warm_up` times are not of a running machine: leave them out."),
                (by_mean, "One disturbed launch moves a mean as far as it likes. Which number stands in the middle?"),
                (by_best, "That is the luckiest launch. Which number stands in the middle?"),
                (mean_speed, "A mean of speeds is moved by the luckiest launches. Take one time, then divide."),
                (in_bytes, "Bytes a microsecond are MB a second."),
                (in_gib, "That is in GiB, of 2**30 bytes. A GB has 10**9."),
                (twice_moved, "`nbytes` is all that a launch moves: it is not counted twice."),
                (one_fewer, "`warm_up` times do not count, and not one more: times[warm_up:]."),
                (unsorted, "The median is the middle of the sorted times."),
            ),
            returns="no number",
            hint="The median of the times after the first `warm_up`, whatever that number is; of an even number of "
            "times it "
            "is the mean of the middle two. Bytes over microseconds, over 1000, are GB/s.",
        ),
        WriteKernel(
            id="10-make-it-read",
            kernel="read",
            parameters="const float* x, float* y, int n",
            launches=readings,
            requirements=(
                at_least("global_load_sectors", _sectors, "What nobody uses, the compiler does not read."),
                at_most(
                    "global_load_sectors",
                    lambda launch: _sectors(launch) + 8,
                    "Read each number once, 32 neighbours at a time.",
                ),
                at_most(
                    "global_store_sectors",
                    _blocks,
                    "A benchmark of reading should not write: let one thread per block.",
                ),
            ),
            slips=(
                FIVE_STEPS,
                KernelSlip(
                    "Every warp writes its word before any is read. 128 threads have four.",
                    "uninitialized-shared",
                    r"__shared__[^;]*\[",
                ),
                KernelSlip("Each block has a result of its own: y[blockIdx.x].", "race", r"y\[0\]|\*y\b"),
                KernelSlip(
                    "Nothing uses the numbers, so the compiler leaves the reads out.", "result", r"^(?!.*\by\s*[\[+])"
                ),
                KernelSlip(
                    "y does not begin with 0, and each atomic writes: add up within the block first.",
                    "result",
                    r"atomicAdd\(\s*(&\s*)?y",
                ),
                KernelSlip("`=` keeps only the last number: add each one, `+=`.", "result", r"[^+]=\s*x\["),
            ),
            hint="y[blockIdx.x] is the sum of all numbers that all threads of the block read, in the loop as it "
            "stands: it goes on through the whole array, in steps of the grid, and no number is read by two blocks.",
            fault_hints={
                ON_ONE_LINE: "Threads of a block may not write one word at the same time: reduce first (notebook 05).",
                "shared-out-of-bounds": "A block of 1024 threads has 32 warps, so there are 32 words.",
            },
        ),
    ),
    predictions=(
        Question(
            id="10-one-launch",
            question=(
                "CUDA events right before and right after one launch say 17 microseconds. How much of it does "
                "the GPU work?"
            ),
            answers={
                "all of it": (
                    "After the first event the GPU waits until the host has handed over the launch. Events count "
                    "this, too."
                ),
                "about half of it": "The handing over takes about 15 microseconds. Such a small kernel takes about 2.",
                "about a tenth of it": (
                    "The GPU works for 1.9 microseconds. For the rest it waits for the host's request."
                ),
            },
        ),
    ),
    varied={
        "10-how-fast": Varied(
            (98, 80, 90, 110, 120),
            ("of 4096 `float16` took 98 microseconds.", "of 4096 `float16` took {n} microseconds."),
            speed_exercise,
        ),
    },
)
