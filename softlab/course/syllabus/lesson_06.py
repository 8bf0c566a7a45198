"""Notebook 06: the kernel that reads a row three times, and the cache that may answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.bench import caches
from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number, Slip
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import EXP_OF_X, at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.hardware.devices import Device

COLS, L2_THIRD = 131_072, 20


def most_blocks(cols: int) -> int:
    """Blocks that keep at most 20 MiB of rows of that many float32 in flight."""
    return L2_THIRD * 2**20 // (cols * 4)


def fastest_blocks() -> list[int]:
    """The block size that took the least time, at each recorded row length, on the grid of the dispatcher."""
    best: dict[int, caches.Reread] = {}
    for point in caches.recorded():
        if not point.by_hand and (point.cols not in best or point.microseconds < best[point.cols].microseconds):
            best[point.cols] = point
    return [best[cols].block_size for cols in sorted(best)]


def misses_forth_and_back(lines: int = 1000, capacity: int = 800) -> int:
    """Misses of a least-recently-used cache when lines are read forth, back, and forth again."""
    walk = [*range(lines), *reversed(range(lines)), *range(lines)]
    cache: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for line in walk:
        misses += line not in cache
        cache[line] = None
        cache.move_to_end(line)
        if len(cache) > capacity:
            cache.popitem(last=False)
    return misses


def closest_lengths(count: float) -> str:
    """The row lengths at which 1024 and the best other block size are closest."""
    speeds: dict[int, dict[int, float]] = {}
    for point in caches.recorded():
        if not point.by_hand:
            speeds.setdefault(point.cols, {})[point.block_size] = point.microseconds
    if count > len(speeds):
        return f"Only {len(speeds)} row lengths were recorded on the dispatcher's grid."
    off = {cols: abs(min(each[256], each[512]) / each[1024] - 1) for cols, each in speeds.items()}
    one, other = sorted(sorted(off, key=off.__getitem__)[:2])
    return f"It is closest at {spaced(one)} and {spaced(other)} columns: which size is the fastest there?"


def in_flight(cols: int, blocks: float) -> str:
    """How many MiB of rows that many blocks have in flight."""
    mib = blocks * cols * 4 / 2**20
    more = "which is too many" if mib > L2_THIRD else f"and {L2_THIRD} are allowed"
    return f"{spaced(blocks)} blocks have rows of {spaced(mib)} MiB in flight, {more}."


def misses_of_passes(misses: float) -> str:
    """What that many misses leave for the second and the third pass."""
    if misses > 3000:
        return "Three passes of 1000 lines have at most 3000 misses."
    if misses < 1000:
        return "The first pass begins with an empty cache: it alone misses all 1000 lines."
    return f"The first pass misses all 1000. That leaves {spaced(misses - 1000)} for the two others: which lines?"


def long_rows() -> Iterator[LaunchCase]:
    """Rows that are longer and shorter than the block; some so large that exp(x) without the maximum overflows."""
    for rows, cols, block, shift in ((2, 3000, 256, 0.0), (1, 1000, 128, 500.0), (3, 100, 512, -300.0)):
        x = (np.random.default_rng(cols).standard_normal((rows, cols)) * 4 + shift).astype(np.float32)
        x[:, [0, -1]] -= 200  # neither may stand for the maximum
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        right = (e / e.sum(axis=1, keepdims=True)).astype(np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan), "cols": cols}
        about = f"{rows} rows of {cols} around {shift:g}"
        # __expf is off by some units in the last place, more so for larger arguments.
        yield LaunchCase(rows, block, args, {"y": right}, relative=1e-4, about=about)


def two_reads(launch: LaunchCase) -> int:
    """Sectors of all rows, twice: where rows begin within a sector, each load of 32 numbers touches one more."""
    assert isinstance(launch.grid, int)
    cols = launch.args["cols"]
    between = -(-cols // 32) if cols % 8 else 0
    return 2 * launch.grid * (-(-cols * 4 // 32) + between)


def flight_exercise(cols: int) -> Number:
    """How many blocks keep at most 20 MiB of rows of that many float32 in flight."""
    return Number(
        id="06-how-many-blocks",
        answer=lambda: most_blocks(cols),
        means=partial(in_flight, cols),
        formula=Formula(
            "room * MiB // (cols * size)",
            {
                "room": Quantity(
                    "the MiB that may be in flight", L2_THIRD, ((60, "the whole L2"), (50, "an H100's L2"))
                ),
                "MiB": Quantity("the bytes of a MiB", 2**20, ((10**6, "a million"),)),
                "cols": Quantity("the columns", cols),
                "size": Quantity("the bytes of an element", 4, ((2, "those of a float16"), (8, "those of a double"))),
            },
        ),
        slips=(
            (lambda: 4 * most_blocks(cols), f"That would be right for rows of {cols} bytes. A float32 has 4 bytes."),
            (lambda: 2 * most_blocks(cols), "That would be right for elements of 2 bytes. A float32 has 4."),
            (
                lambda: int((Device.named("H200").l2_bytes or 0) // (cols * 4)),
                "These rows fill the whole L2. Where does the recorded curve begin to rise?",
            ),
            (lambda: 20 * 10**6 // (cols * 4), "A MiB has 2**20 bytes."),
            (
                lambda: 20 * 2**20 // (132 * cols * 4),
                "That is the share of one SM, rounded down. The 20 MiB are those of the whole GPU.",
            ),
            (
                lambda: 20 * 2**20 // (132 * cols),
                "That is the share of one SM, and a number counts as one byte. The 20 MiB are those of the whole GPU.",
            ),
            (264, "That is how many blocks the GPU holds. How many of their rows are 20 MiB?"),
        ),
        hint=f"A block works on one row at a time, of {cols} times 4 bytes. 20 MiB are 20 * 2**20 bytes.",
    )


def walk_slips(room: int) -> tuple[Slip, ...]:
    """Typical wrong numbers of misses. With some rooms one of them is right."""
    new = 1000 - room
    return (
        (3000, "Right if all passes go in one direction. Which lines are in the cache when the first pass ends?"),
        (1000, f"That is right if the cache holds all of them. It holds {room}."),
        (1000 + new, "That is the first and the second pass. What is in the cache when the third begins?"),
        (1000 + room, f"A pass that finds {room} lines misses the others. And two passes follow the first one."),
        (2 * room, "So often a line is found. Asked is how often it is not."),
        (1000 + 2 * room, f"A later pass finds {room} lines, and misses the others. Those are what is asked for."),
        (2000 + new, "One of the later passes misses them all? Each begins where the one before has ended."),
        (2000, f"Which {room} lines are in the cache when the second pass begins: the first, or the last?"),
        (2 * new, f"The second and the third pass miss {2 * new}. And the first?"),
        (1 + 2 * new / 1000, "That is how often a line is fetched. How many misses are that, of 1000 lines?"),
    )


def walk_exercise(room: int) -> Number:
    """How many misses a walk forth, back and forth over 1000 lines makes, with room for ``room``."""
    return Number(
        id="06-there-and-back",
        answer=lambda: misses_forth_and_back(capacity=room),
        means=misses_of_passes,
        formula=Formula(
            "lines + passes * (lines - room)",
            {
                "lines": Quantity("the lines", 1000),
                "passes": Quantity(
                    "the passes that find some lines in the cache", 2, ((1, "one of them"), (3, "all three"))
                ),
                "room": Quantity("the room of the cache", room),
            },
        ),
        slips=tuple(slip for slip in walk_slips(room) if slip[0] != misses_forth_and_back(capacity=room)),
        hint=f"After the first pass the cache holds the last {room} lines, and the second pass begins with just those. "
        "Count the misses of each pass by itself.",
        because="The straight walk has 3000: a cache likes a walk that turns round.",
    )


LESSON = Lesson(
    number="06",
    notebook="06-uncached-kernel-and-the-cache.ipynb",
    title="The uncached kernel and the cache",
    minutes=35,
    objectives=(
        "tell requests from traffic: what a kernel asks for, and what reaches DRAM",
        "work out how many bytes of rows a GPU has in flight, and compare them with its L2",
        "say where bigger blocks help the cache, where they do not, and why fewer re-reads need not be faster",
        "write a softmax that reads a row twice instead of three times",
    ),
    exercises=(
        flight_exercise(COLS),
        Number(
            id="06-bigger-and-faster",
            answer=lambda: fastest_blocks().count(1024),
            means=closest_lengths,
            slips=(
                (
                    lambda: len(fastest_blocks()),
                    "There they read the least. At 12 288 columns they were not the fastest: see above.",
                ),
                (
                    lambda: fastest_blocks().count(512),
                    "That is where blocks of 512 are the fastest. Asked is for 1024.",
                ),
                (
                    lambda: fastest_blocks().count(256),
                    "That is where blocks of 256 are the fastest. Asked is for 1024.",
                ),
                (
                    lambda: len(fastest_blocks()) - 1,
                    "12 288 columns are not the only exception, nor are 256 the only other size. Ask for every length.",
                ),
                (
                    lambda: len(fastest_blocks()) - fastest_blocks().count(1024),
                    "That counts the lengths where another size is the fastest.",
                ),
            ),
            hint="For each `cols`, take the point with the least `microseconds`, and look at its `block_size`.",
            because="Ask also by how much: where nothing fits into L2, the three sizes hardly differ at most lengths.",
        ),
        walk_exercise(800),
        WriteKernel(
            id="06-read-it-twice",
            kernel="softmax",
            parameters="const float* x, float* y, int cols",
            launches=long_rows,
            requirements=(
                at_most(
                    "global_load_sectors",
                    two_reads,
                    "Let the first pass find the maximum and the sum together: what must become of a sum when a larger "
                    "maximum is found?",
                ),
            ),
            slips=(
                KernelSlip("A share is divided by the sum of the row.", "result", r"\*\s*row_sum"),
                KernelSlip(
                    "Each thread divides by the sum of the whole row: block_sum.", "result", r"/\s*(sum|s|mine\.s)\s*;"
                ),
                *(
                    KernelSlip(
                        "A power is taken of a number as it is: subtract the maximum first, in the sum and in the "
                        "result.",
                        when,
                        EXP_OF_X,
                    )
                    for when in ("overflow", "result")
                ),
                KernelSlip(
                    "All threads need the maximum of the whole row: block_max.",
                    "result",
                    r"^(?!.*block_max.*block_max)",
                ),
                KernelSlip(
                    "An exponent is above 0: the maximum so far must follow the numbers, and the factor of the sum is "
                    "e^(old - new).",
                    "overflow",
                ),
                KernelSlip("Begin the maximum with -3.4e38f: who has no number brings it, too.", "-inf"),
            ),
            hint="When the maximum grows from `old` to `new`, the sum so far is multiplied by `__expf(old - new)`. "
            "And each thread's sum belongs to its own maximum: before block_sum it moves to row_max in the same way.",
            fault_hints={
                "race": "Between two uses of the same words stands a barrier.",
                "barrier-divergence": "All threads come to every call of `block_max` and `block_sum`, those without "
                "numbers, too.",
            },
        ),
    ),
    predictions=(
        Question(
            id="06-three-reads",
            question="Rows of 65 536 float32 in blocks of 1024. How often does an H200 read each byte from DRAM?",
            answers={
                "once: L2 serves the rest": (
                    "One row of 256 KiB would fit the L2. But 264 blocks work on 264 rows at once: 66 MiB."
                ),
                "about twice": (
                    "The rows in flight have 66 MiB, more than the L2. A row is gone before its block comes back to it."
                ),
                "three times: L2 is no help": (
                    "264 rows are in flight at once, 66 MiB in all. The L2 has 60 MiB, so each row is pushed out "
                    "before it is read again."
                ),
            },
        ),
    ),
    varied={
        "06-there-and-back": Varied(
            (800, 600, 700, 750, 900),
            ("The LRU cache from above has room for 800 lines.", "The LRU cache from above has room for {n} lines."),
            walk_exercise,
        ),
        "06-how-many-blocks": Varied(
            (131_072, 65_536, 163_840, 262_144),
            ("Take rows of 131 072 `float32`.", "Take rows of {n} `float32`."),
            flight_exercise,
        ),
    },
)
