"""Notebook 02: packs, from a lane to an address to a sector."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.instruments.coalescing import SECTOR_BYTES, global_sectors
from softlab.operators import trace_plan
from softlab.plans import forced


def loads(cols: int, dtype: str, pack: int) -> int:
    """Load instructions of a warp that reads one row."""
    plan = forced(1, cols, dtype, kernel="warp", pack_size=pack, device="H200")
    return trace_plan(plan, np.zeros((1, cols))).counters["global_load_requests"]


def sectors(bytes_a_lane: int, first_byte: int) -> int:
    """Sectors that a load of a whole warp moves, its lanes side by side."""
    address = first_byte + bytes_a_lane * np.arange(32)
    return int(global_sectors(address[None], np.ones((1, 32), bool), bytes_a_lane)[0])


def padded_cols(cols: int, itemsize: int) -> int:
    """The least row length, at least ``cols``, with which each row begins at a sector."""
    return next(c for c in range(cols, 2 * cols) if c * itemsize % SECTOR_BYTES == 0)


def row_of(least: int, cols: float) -> str:
    """Where row 1 begins if a row has that many halves and needs ``least`` of them."""
    if not cols.is_integer():
        return ""
    if cols < least:
        return f"A row of {spaced(cols)} columns has no room for {least}."
    first = 2 * int(cols)
    over = first % SECTOR_BYTES
    where = f"{over} bytes after the begin of a sector" if over else "at a sector. Is there a shorter row that does"
    return f"With {spaced(cols)} columns row 1 begins at byte {spaced(first)}, {where}{'.' if over else '?'}"


def brought(cols: int, loads: float) -> str:
    """How much of a row of halves that many loads in packs of 4 bring."""
    numbers = 128 * loads
    said = f"With packs of 4, {spaced(loads)} load{'s' * (loads != 1)} of 32 lanes bring"
    if numbers < cols:
        return f"{said} {spaced(numbers)} numbers, and the row has {cols}."
    return f"{said} up to {spaced(numbers)} numbers, and the row has {cols}: do fewer loads reach its end?"


def held_by_sectors(sectors: float) -> str:
    """What that many sectors hold, beside what the lanes load."""
    said = f"{spaced(sectors)} sector{'s' * (sectors != 1)} of 32 bytes hold {spaced(32 * sectors)} bytes. "
    if sectors < 16:
        return f"{said}32 lanes of 16 bytes load more."
    return f"{said}The lanes load 512, side by side: a sector is in vain in part at the two ends alone."


def copies() -> Iterator[LaunchCase]:
    """n numbers, a multiple of 4, with a thread for every four of them and a few threads over."""
    for n, blocks in ((1024, 1), (4000, 4), (4, 1)):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        yield LaunchCase(blocks, 256, {"x": x, "y": np.full_like(x, np.nan), "n": n}, {"y": x}, about=f"n = {n}")


def halves() -> Iterator[LaunchCase]:
    """n halves, a multiple of 8; whole numbers, so that no sum is rounded."""
    for n, blocks in ((2048, 2), (4000, 4), (8, 1)):
        random = np.random.default_rng(n)
        a, b = (random.integers(-500, 500, n).astype(np.float16) for _ in range(2))
        c = np.full(n, np.nan, np.float16)
        yield LaunchCase(blocks, 128, {"a": a, "b": b, "c": c, "n": n}, {"c": a + b}, about=f"n = {n}")


def _length(launch: LaunchCase) -> int:
    return int(launch.args["n"])


def loads_exercise(cols: int) -> Number:
    """How many loads a warp executes for a row of that many halves in packs of 4."""
    packs = cols / 4
    return Number(
        id="02-how-many-loads",
        answer=lambda: loads(cols, "float16", 4),
        means=partial(brought, cols),
        formula=Formula(
            "ceil(cols / pack / lanes)",
            {
                "cols": Quantity("the columns", cols),
                "pack": Quantity(
                    "the numbers of a pack", 4, ((8, "packs of 16 bytes"), (2, "packs of 4 bytes"), (1, "no packs"))
                ),
                "lanes": Quantity("the lanes of a warp", 32, ((16, "half a warp"),)),
            },
        ),
        slips=(
            (packs, "That is the number of packs. By one instruction, 32 lanes load a pack each."),
            (-(-cols // 32), "That is right for packs of 1. A pack has 4 numbers."),
            (
                cols // 128,
                f"{cols // 128} loads reach {cols // 128 * 128} columns. The rest needs a load, too, even if not all "
                "lanes take part.",
            ),
            (-(-cols // 64), "That would be packs of 2."),
            (-(-cols * 2 // 32), "That is the number of the row's sectors. How much does one load of a warp bring?"),
            (cols, "That is the number of elements. One load of a warp brings 32 packs of 4."),
        ),
        hint="One load brings 32 packs. How many numbers is that?",
        because="Only some of the lanes take part in the last load.",
    )


def pitch_exercise(cols: int) -> Number:
    """The least row length of halves, from ``cols`` on, with which each row begins at a sector."""
    right = padded_cols(cols, 2)
    return Number(
        id="02-rows-that-begin-right",
        answer=lambda: padded_cols(cols, 2),
        means=partial(row_of, cols),
        formula=Formula(
            "ceil(cols * size / sector) * sector / size",
            {
                "cols": Quantity("the columns", cols),
                "size": Quantity("the bytes of an element", 2, ((4, "those of a float32"),)),
                "sector": Quantity(
                    "the bytes of a sector",
                    32,
                    (
                        (128, "those of a cache line"),
                        (64, "those of two sectors"),
                        (16, "those of a pack"),
                        (8, "those of a smaller pack"),
                        (4, "those of a word"),
                    ),
                ),
            },
        ),
        slips=(
            (
                cols,
                f"{cols} halves are {2 * cols} bytes, and {2 * cols} is no multiple of 32: row 1 begins inside a "
                f"sector.",
            ),
            (-(-cols // 64) * 64, "Right, even for lines of 128 bytes. For sectors there is a smaller number."),
            (cols + 4, f"{cols + 4} halves are {2 * cols + 8} bytes. Is that a multiple of 32?"),
            (right * 2, "That is the number of bytes. How many columns is that?"),
            (right - cols, f"That is how many are appended. How many has a row together with the {cols}?"),
        ),
        hint="A sector has 32 bytes, so 16 halves. Row r begins r rows after the start of the matrix.",
        because="With some columns more each row begins at a sector. Such a padded row length is called the pitch.",
    )


LESSON = Lesson(
    number="02",
    notebook="02-pack-layout.ipynb",
    title="Packs: from a lane to a sector",
    minutes=30,
    objectives=(
        "say which bytes each lane of a warp asks for, and how many sectors that moves",
        "tell what a wider pack saves, and what it does not",
        "see where a row begins, and what it costs if that is in the middle of a sector",
        "write a kernel that moves 16 bytes per lane",
    ),
    exercises=(
        loads_exercise(1000),
        Number(
            id="02-one-sector-more",
            answer=lambda: sectors(16, 16),
            means=held_by_sectors,
            formula=Formula(
                "lanes * size / sector + cut",
                {
                    "lanes": Quantity("the lanes of a warp", 32),
                    "size": Quantity("the bytes of a lane", 16, ((4, "those of a float"), (8, "packs of 8 bytes"))),
                    "sector": Quantity(
                        "the bytes of a sector", 32, ((64, "two of them"), (128, "those of a cache line"))
                    ),
                    "cut": Quantity("the sector that is cut in two", 1, ((2, "as if both ends were further ones"),)),
                },
            ),
            slips=(
                (
                    16,
                    "16 sectors hold 512 bytes, if these begin where a sector begins. Here they begin 16 bytes later.",
                ),
                (18, "The first sector and the last are there in part. Count those between them."),
                (32, "Two lanes fit in a sector, and a sector moves once for both of them."),
                (9, "That is right for packs of 8 bytes. Here a lane loads 16."),
                (5, "That is right for 4 bytes per lane. Here a lane loads 16."),
                (512, "That is the number of bytes. A sector has 32."),
                (528, "That is a number of bytes. A sector has 32."),
                (4, "The whole warp needs 4 sectors if a lane loads 4 bytes. Here it loads 16."),
            ),
            hint="The first byte is number 16, the last one number 16 + 511. In which sector is each of them?",
        ),
        pitch_exercise(1000),
        WriteKernel(
            id="02-copy-in-packs",
            kernel="copy",
            parameters="const float* x, float* y, int n",
            launches=copies,
            requirements=(
                at_most(
                    "global_load_requests",
                    lambda launch: -(-_length(launch) // 128),
                    "A thread can load 16 bytes by one instruction: which type has 16 bytes?",
                ),
                at_most(
                    "global_store_requests",
                    lambda launch: -(-_length(launch) // 128),
                    "The loads are right. The stores can be as wide.",
                ),
                at_most(
                    "global_load_sectors",
                    lambda launch: -(-_length(launch) // 8),
                    "Which bytes do lanes 0 and 1 ask for in the same instruction?",
                ),
            ),
            hint="There are n / 4 packs of four numbers. Thread i of the whole grid moves pack i as one, if there is "
            "one.",
            because="A quarter of the instructions for the same sectors.",
            fault_hints={
                "global-out-of-bounds": "An array of n has n / 4 packs. The index of a float4 counts packs.",
                "misaligned": "A pack of 16 bytes begins at a multiple of 16: pack i begins at element 4 * i.",
            },
        ),
        WriteKernel(
            id="02-add-halves",
            kernel="add",
            parameters="const __half* a, const __half* b, __half* c, int n",
            launches=halves,
            requirements=(
                at_most(
                    "global_load_requests",
                    lambda launch: 2 * -(-_length(launch) // 256),
                    "16 bytes are 8 halves: one load of a pack from a, one from b.",
                ),
                at_most(
                    "global_store_requests",
                    lambda launch: -(-_length(launch) // 256),
                    "Gather the eight sums in a pack first, then store it as one.",
                ),
            ),
            slips=(
                KernelSlip(
                    "`word` moves the bytes. Numbers are added as `elem`: bits that are added as integers are no sum.",
                    "result",
                    r"word(\.\w)?\s*\+|\.[xyzw]\s*\+=",
                ),
            ),
            hint="Element k of pack i is number 8 * i + k, in a, in b and in c, for each k from 0 to 7; c is a + b.",
            because="Every load and store moves 512 bytes for its warp: on an H200 none moves more.",
            fault_hints={
                "global-out-of-bounds": "n / 8 packs, and perhaps more threads than that.",
                "misaligned": "A pack of 16 bytes begins at a multiple of 16: pack i begins at element 8 * i.",
            },
        ),
    ),
    predictions=(
        Question(
            id="02-wide-packs",
            question="A warp reads a row of 1024 float32. With packs of 4 instead of packs of 1, what does it take?",
            answers={
                "a quarter of the loads, a quarter of the sectors": (
                    "A sector has 32 bytes however it is asked for, and the row has the same bytes as before."
                ),
                "a quarter of the loads, as many sectors": (
                    "Each load moves four times the bytes. The bytes of the row, and so its sectors, stay the same."
                ),
                "as many loads, a quarter of the sectors": (
                    "It is the other way round: a pack changes how much one load moves, not how many bytes the row has."
                ),
            },
        ),
    ),
    varied={
        "02-rows-that-begin-right": Varied(
            (1000, 600, 1450, 2020, 2500),
            (
                "has rows of 1000 columns. You may append unused columns to every row. How many columns must a row "
                "have at least, with the 1000,",
                "has rows of {n} columns. You may append unused columns to every row. How many columns must a row "
                "have at least, with the {n},",
            ),
            pitch_exercise,
        ),
        "02-how-many-loads": Varied(
            (1000, 600, 840, 920, 700),
            (
                "A warp reads a row of 1000 `float16` in packs of 4.",
                "A warp reads a row of {n} `float16` in packs of 4.",
            ),
            loads_exercise,
        ),
    },
)
