"""Notebook 14: from the reference design to the speed of a copy, rung by rung."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.functions import Call, WriteFunction
from softlab.course.kernels import FIVE_STEPS, KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import MAXIMUM_FROM_ZERO, at_most, no_shared_memory
from softlab.course.values import spaced
from softlab.course.variants import Varied

INF = math.inf
CLUSTER = 4


def packs_per_thread(pack_size: int = 8, cluster: int = 4) -> float:
    """Packs per thread of a row of 65 536, with 512 threads per block."""
    return 65_536 / pack_size / (cluster * 512)


def values_received(threads: int, *, cluster: int = 8, values: int = 2, receivers: int = 1) -> int:
    """Values that come to one block in an exchange: from each warp of each block of the cluster."""
    return cluster * threads // 32 * values * receivers


def bytes_of_a_number(blocks: int, share: float) -> str:
    """How many bytes of each number of the row that many blocks with that share keep."""
    kept = spaced(share * blocks / 524_288)
    return f"{blocks} blocks with {spaced(share)} bytes each keep {kept} bytes for each of the row's 524 288 numbers."


def bytes_in_packs(packs: float) -> str:
    """How many bytes of each number of the row the threads keep with that many packs."""
    kept = packs * 16 * 4 * 512 / 65_536
    count = f"{spaced(kept)} byte{'s' * (kept != 1)}"
    return f"2048 threads with {spaced(packs)} packs of 16 bytes keep {count} for each of the row's numbers."


def from_each_block(threads: int, received: float) -> str:
    """How many values each of eight blocks sends."""
    each = spaced(received / 8)
    return f"That is {each} from each of the eight blocks. A block has {threads // 32} warps: what does each send?"


def merged(a_max: float, a_sum: float, b_max: float, b_sum: float) -> tuple[float, float]:
    """The pair of two parts together."""
    the_greater_maximum = max(a_max, b_max)
    if the_greater_maximum == -INF:
        return the_greater_maximum, 0.0
    what_a_adds = a_sum * math.exp(a_max - the_greater_maximum)
    what_b_adds = b_sum * math.exp(b_max - the_greater_maximum)
    return the_greater_maximum, what_a_adds + what_b_adds


def unscaled(a_max: float, a_sum: float, b_max: float, b_sum: float) -> tuple[float, float]:
    """Slip: sums of different references are added."""
    return max(a_max, b_max), a_sum + b_sum


def upside_down(a_max: float, a_sum: float, b_max: float, b_sum: float) -> tuple[float, float]:
    """Slip: scaled up where it should be scaled down."""
    largest = max(a_max, b_max)
    if largest == -INF:
        return largest, 0.0
    up = [s * math.exp(min(largest - m, 700.0)) if s else 0.0 for m, s in ((a_max, a_sum), (b_max, b_sum))]
    return largest, sum(up)


def pairs() -> Iterator[Call]:
    """Either the greater, both alike, far apart, and parts that are -inf throughout."""
    for given in (
        (0.0, 1.0, 0.0, 1.0), (0.0, 1.0, 1.0, 1.0), (1.0, 2.0, 3.0, 4.0),
        (3.0, 4.0, 1.0, 2.0), (2.0, 1.5, 2.0, 2.5), (-800.0, 7.0, 800.0, 1.25),
        (-INF, 0.0, 2.0, 3.0), (2.0, 3.0, -INF, 0.0), (-INF, 0.0, -INF, 0.0),
    ):  # fmt: skip
        yield Call(given, merged(*given))


def random_pairs(rng: np.random.Generator) -> Iterator[Call]:
    """Maxima near and far, some of them -inf."""
    for _ in range(40):
        a, b = (float(one) for one in (rng.normal(0, rng.choice([1, 10, 300]), 2)).round(3))
        given = (a, float(rng.uniform(1, 9)), b, float(rng.uniform(1, 9)))
        if rng.random() < 0.2:
            given = (-INF, 0.0, *given[2:])
        yield Call(given, merged(*given))


def turned(a_max: float, a_sum: float, b_max: float, b_sum: float) -> tuple[float, float]:
    """Slip: the total comes first."""
    largest, total = merged(a_max, a_sum, b_max, b_sum)
    return total, largest


def rows_of_pairs() -> Iterator[LaunchCase]:
    """Rows with large numbers, shorter than a warp, and with lanes that see -inf alone."""
    for rows, cols, shift in ((4, 256, 0.0), (3, 100, 800.0), (2, 20, -5.0), (2, 64, 0.0)):
        x = (np.random.default_rng(cols).standard_normal((rows, cols)) * 3 + shift).astype(np.float32)
        about = f"{rows} rows of {cols} around {shift:g}"
        if cols == 64:
            x[:, 5::16] = -np.inf  # all that lanes 5 and 21 see, which merge their pairs
            about += ", -inf among them"
        largest = x.max(axis=1, keepdims=True).astype(np.float64)
        sums = np.exp(x - largest).sum(axis=1, keepdims=True)
        right = np.concatenate([largest, sums], axis=1).astype(np.float32)
        args = {"x": x, "y": np.full_like(right, np.nan), "cols": cols}
        yield LaunchCase(rows, 32, args, {"y": right}, relative=1e-5, about=about)


def maxima() -> Iterator[LaunchCase]:
    """Rows of whole numbers, a cluster each; the maximum lies with another block each time."""
    for rows, cols in ((1, 512), (4, 1024), (2, 4096)):
        x = np.random.default_rng(cols).integers(-99, 99, (rows, cols)).astype(np.float32)
        for row in range(rows):
            x[row, (2 * row + 1) * cols // 8 % cols] = 100 + row
        y = np.repeat(x.max(axis=1), CLUSTER)
        args = {"x": x, "y": np.full_like(y, np.nan), "cols": cols}
        yield LaunchCase(rows * CLUSTER, 128, args, {"y": y}, about=f"{rows} rows of {cols}")


def _once(launch: LaunchCase) -> int:
    """Sectors of x, each touched by one load; where rows begin inside a sector, by two loads of 32 lanes."""
    x = launch.args["x"]
    between = 0 if x.shape[1] % 8 == 0 else x.shape[0] * -(-x.shape[1] // 32)
    return x.nbytes // 32 + between


_EIGHTH = "The bytes were divided by 8 as if they were bits."


def share_exercise(blocks: int) -> Number:
    """How many bytes of a row of 524 288 halves each of that many blocks keeps."""
    row = 524_288 * 2
    return Number(
        id="14-bytes-of-a-block",
        answer=lambda: row // blocks,
        means=partial(bytes_of_a_number, blocks),
        formula=Formula(
            "numbers * size / blocks",
            {
                "numbers": Quantity("the numbers of the row", 524288),
                "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"), (8, "those of a double"))),
                "blocks": Quantity(
                    "the blocks of the cluster", blocks, ((8, "a smaller cluster"), (4, "a smaller cluster"))
                ),
            },
        ),
        unit="bytes",
        slips=(
            (row, f"That is the whole row. {blocks} blocks share it."),
            (row // 2 // blocks, "That counts numbers, not bytes. A float16 has 2 bytes."),
            (row * 2 // blocks, "A float16 has 2 bytes."),
            (
                row // 2,
                f"That counts the numbers of the whole row{' or the bits of a share' * (blocks == 16)}. {blocks} "
                "blocks share the row, and a float16 has 2 bytes.",
            ),
            (row // blocks // 8, f"{_EIGHTH} That is an eighth of it."),
            (row // 2 // blocks // 8, f"{_EIGHTH} And a float16 has 2 bytes."),
        ),
        hint="Divide the bytes of the row by the blocks that share it. An element has 2 bytes.",
        because="They stay in registers: 64 KiB are a quarter of those that an SM has.",
    )


def values_exercise(threads: int) -> Number:
    """How many values come to a block of that many threads, in a cluster of eight."""
    values = partial(values_received, threads=threads)
    return Number(
        id="14-who-writes-to-me",
        answer=values,
        means=partial(from_each_block, threads),
        formula=Formula(
            "blocks * (threads / lanes) * values",
            {
                "blocks": Quantity("the blocks of the cluster", 8, ((7, "the other ones"), (4, "another cluster"))),
                "threads": Quantity("the threads of a block", threads),
                "lanes": Quantity("the lanes of a warp", 32),
                "values": Quantity(
                    "the values of a statistic", 2, ((1, "the maximum or the sum"), (4, "two statistics"))
                ),
            },
        ),
        slips=(
            (lambda: values(values=1), "A statistic is two values: a maximum and a sum."),
            (
                lambda: values(cluster=1),
                "Those are from its own warps, or a pair per block. There are seven other blocks, and each warp sends.",
            ),
            (lambda: values(cluster=7), "The block's own warps send to it, too."),
            (lambda: values(receivers=8), "That is what all eight blocks receive together. Asked is for one."),
            (
                lambda: 2 * values(),
                "That is twice as much. Are the values that the block sends counted with those that it receives? Asked "
                "is for what comes to it: a maximum and a sum from each warp.",
            ),
            (lambda: 4 * values(), "That counts bytes. A value has 4."),
            (lambda: values() * 32, "Not each thread sends: a warp has one maximum and one sum."),
            (16, "Each warp sends for itself; blocks do not add up first."),
        ),
        hint="Each warp of each block of the cluster sends its maximum and its sum to each block.",
        because="Every warp then merges all pairs for itself.",
    )


LESSON = Lesson(
    number="14",
    notebook="14-the-ladder-to-the-speed-of-light.ipynb",
    title="The ladder to the speed of light",
    minutes=45,
    objectives=(
        "say for each rung of the ladder what it saves, and show it by the counters of a run",
        "merge partial maxima and sums, and say why one exchange per row is enough",
        "read who writes to whom in a cluster, and write such an exchange",
        "hold a prediction against a measurement, and say where it failed",
    ),
    exercises=(
        share_exercise(16),
        Number(
            id="14-packs-a-thread",
            answer=packs_per_thread,
            means=bytes_in_packs,
            formula=Formula(
                "numbers / pack / (blocks * threads)",
                {
                    "numbers": Quantity("the numbers of the row", 65536),
                    "pack": Quantity(
                        "the numbers of a pack",
                        8,
                        ((4, "those of a pack of float32"), (16, "the bytes of a pack"), (2, "the bytes of a number")),
                    ),
                    "blocks": Quantity(
                        "the blocks of the cluster", 4, ((8, "another cluster"), (16, "another cluster"))
                    ),
                    "threads": Quantity(
                        "the threads of a block",
                        512,
                        ((32, "those of a warp"), (256, "another block"), (1024, "another block")),
                    ),
                },
            ),
            slips=(
                (lambda: packs_per_thread(pack_size=1), "That counts numbers. A pack of 16 bytes has several."),
                (lambda: packs_per_thread(cluster=1), "That is for one block alone. There are four."),
                (
                    1,
                    "A thread would have one pack if a pack had 64 bytes, or if the cluster had 16 blocks. A pack has "
                    "16 bytes, and the cluster has 4 blocks.",
                ),
                (64, "That is the number of bytes that a thread holds. How many packs of 16 bytes is that?"),
                (65_536 // 8, "Those are the packs of the whole row. 2048 threads share them."),
                (4 * 512, "That is the number of threads. How many packs does each hold?"),
                (lambda: packs_per_thread(pack_size=4), "A number of float16 has 2 bytes: how many fill 16?"),
            ),
            hint="Divide the numbers of the row by the numbers per pack, and then by the threads of the whole cluster.",
            because="That is 64 bytes. They take 16 registers, since they stay packed.",
        ),
        values_exercise(256),
        WriteFunction(
            id="14-merge",
            parameters=("a_max", "a_sum", "b_max", "b_sum"),
            models={"": merged},
            calls=pairs,
            drawn=random_pairs,
            relative=1e-12,
            slips=(
                (
                    unscaled,
                    "The two sums were taken relative to different maxima. What is each relative to the greater?",
                ),
                (turned, "The order is (largest, total)."),
                (upside_down, "A sum relative to a smaller maximum is scaled *down* to a greater one."),
            ),
            returns="no pair",
            hint="Return the greater maximum, and both sums, each scaled by e^(its own maximum - the greater "
            "maximum). And "
            "-inf - -inf is NaN: what is the sum of a part that is all -inf?",
            because="The order of the merges does not matter. That is why warps and blocks may merge.",
        ),
        WriteKernel(
            id="14-pairs-of-a-warp",
            kernel="statistic",
            parameters="const float* x, float* y, int cols",
            launches=rows_of_pairs,
            requirements=(
                at_most(
                    "global_load_sectors", _once, "Let each lane find the maximum and the sum of its part together."
                ),
                at_most(
                    "shuffle_instructions",
                    lambda launch: 10 * launch.args["x"].shape[0],
                    "Five steps of a butterfly, two values each.",
                ),
                no_shared_memory(),
            ),
            slips=(
                KernelSlip("A lane may have seen nothing but -inf, or nothing at all.", "-inf"),
                KernelSlip(
                    "All numbers may be negative: the maximum begins with minus infinity.", "result", MAXIMUM_FROM_ZERO
                ),
                KernelSlip("Asked is for the sum, not for its logarithm.", "result", r"log"),
                FIVE_STEPS,
            ),
            hint="Where the maximum grows, the sum so far is scaled by e^(old - new), with the old maximum: do not "
            "change it first. Each step merges two pairs: each sum has a factor of its own, then they are added.",
            because="This is what a thread and a warp of the stream kernel do.",
            fault_hints={"inactive-lane": "All 32 lanes go to every shuffle, also those beyond the row."},
        ),
        WriteKernel(
            id="14-ask-the-cluster",
            kernel="row_max",
            parameters="const float* x, float* y, int cols",
            launches=maxima,
            requirements=(
                at_most(
                    "global_load_sectors",
                    _once,
                    "Each block reads its own quarter, and tells the others what it found.",
                ),
            ),
            slips=(
                KernelSlip(
                    "A block knows the maximum of its own quarter. The others' have to come to it, by map_shared_rank.",
                    "result",
                    "^(?!.*map_shared_rank)",
                ),
                KernelSlip(
                    "Blocks form a cluster where the kernel asks for one: `__cluster_dims__(4)`.",
                    "shared-out-of-bounds",
                    "^(?!.*__cluster_dims__)",
                ),
            ),
            hint="y[blockIdx.x] is the maximum of the whole row, in each of its four blocks. Each block writes "
            "into the memory of the others, at the place of its own rank.",
            because="Four values went between the SMs. That replaced three more reads of the row.",
            fault_hints={
                "uninitialized-shared": "All blocks must have written before one reads: cluster.sync(). And each place "
                "of an inbox is written by the block of that rank.",
                "global-out-of-bounds": "A quarter has cols / 4 numbers, and begins at rank * cols / 4 of its row; the "
                "rank is 0 to 3.",
            },
        ),
    ),
    predictions=(
        Question(
            id="14-one-read",
            question="How often must a kernel read such a row?",
            answers={
                "three times": (
                    "The reference's kernel does that. But several blocks together have room to keep the row."
                ),
                "twice: maximum and sum can be found together": (
                    "That saves one read. But nobody has to read a row again that is kept somewhere."
                ),
                "once": "Blocks of a cluster share the row: together their registers and shared memory hold it.",
            },
        ),
    ),
    varied={
        "14-who-writes-to-me": Varied(
            (256, 128, 512, 1024),
            ("Eight blocks of 256 threads share a row", "Eight blocks of {n} threads share a row"),
            values_exercise,
        ),
        "14-bytes-of-a-block": Varied(
            (16, 8, 4),
            (
                "A cluster of 16 blocks keeps a row of 524 288 `float16` in registers.",
                "A cluster of {n} blocks keeps a row of 524 288 `float16`.",
            ),
            share_exercise,
        ),
    },
)
