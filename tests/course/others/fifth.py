"""A fifth batch: numbers, words and functions, written and committed before any reply to them was seen.

Each cause is what a student may have thought. The kernels of this batch are in ``fifth_kernels.py``. Afterwards 3
labels of right and wrong were turned, where the grader was right, and the words were set by a strict reading of the
first replies.
"""

import math
import statistics
from fractions import Fraction

import numpy as np

from tests.course.measured_set import (
    ATOMICS,
    ATOMICS_SHOWN,
    COUNTS,
    LARGE,
    NEAR,
    RANKED,
    TOO_LONG,
    WORST,
    apart,
    atomics,
)
from tests.course.others import NOT_NAMED, Others


def by_identity(x):
    return x - np.log(np.exp(x).sum())


def log_of_shares(x):
    e = np.exp(x - x.max())
    return np.log(e / e.sum())


def maximum_only_inside(x):
    m = x.max()
    return x - np.log(np.exp(x - m).sum())


def largest_magnitude(x):
    m = np.abs(x).max()
    return (x - m) - np.log(np.exp(x - m).sum())


def with_a_floor(x):
    e = np.exp(x - x.max())
    return np.log(e / e.sum() + 1e-30)


def most_threads(blocks):
    return max(blocks, key=lambda size: size * blocks[size])


def small_ones_first(blocks):
    for size in (256, 512, 1024):
        if blocks[size] == blocks[128]:
            return size
    return 128


def biggest_that_fits(blocks):
    for size in (1024, 512, 256, 128):
        if blocks[size] > 0:
            return size


def first_of_a_tie(blocks):
    return max(blocks, key=blocks.get)


def in_its_own_type(op, cols, dtype):
    if dtype == "float64":
        return "block_uncached"
    if cols < 1024 or (op == "log_softmax" and cols == 1024):
        return "warp"
    size = {"float16": 2, "bfloat16": 2, "float32": 4}[dtype]
    return "block_smem" if cols * size + 64 <= 48 * 1024 else "block_uncached"


def both_up_to_1024(op, cols, dtype):
    if dtype == "float64":
        return "block_uncached"
    if cols <= 1024:
        return "warp"
    return "block_smem" if cols * 4 + 64 <= 48 * 1024 else "block_uncached"


def short_doubles_in_registers(op, cols, dtype):
    if cols < 1024 or (op == "log_softmax" and cols == 1024):
        return "warp"
    if dtype == "float64":
        return "block_uncached"
    return "block_smem" if cols * 4 + 64 <= 48 * 1024 else "block_uncached"


def shorter_than_the_room(op, cols, dtype):
    if dtype == "float64":
        return "block_uncached"
    if cols < 1024 or (op == "log_softmax" and cols <= 1024):
        return "warp"
    if 4 * cols < 49152 - 64:
        return "block_smem"
    return "block_uncached"


def the_mean(times, nbytes, warm_up):
    counted = times[warm_up:]
    return nbytes / (sum(counted) / len(counted) * 1e-6) / 1e9


def without_the_slowest(times, nbytes, warm_up):
    counted = sorted(times)[: len(times) - warm_up]
    return nbytes / (np.median(counted) * 1e-6) / 1e9


def middle_of_the_list(times, nbytes, warm_up):
    counted = times[warm_up:]
    return nbytes / (counted[len(counted) // 2] * 1e-6) / 1e9


def per_microsecond(times, nbytes, warm_up):
    return nbytes / np.median(times[warm_up:])


def more_than(mine, others, times):
    won = [m > times * o for m, o in zip(mine, others, strict=True)]
    return "holds" if all(won) else "holds partly" if any(won) else "does not hold"


def partly_asked_first(mine, others, times):
    won = [m / o >= times for m, o in zip(mine, others, strict=True)]
    if any(won):
        return "holds partly"
    if all(won):
        return "holds"
    return "does not hold"


def factor_at_mine(mine, others, times):
    won = sum(m * times >= o for m, o in zip(mine, others, strict=True))
    if won == len(mine):
        return "holds"
    return "holds partly" if won else "does not hold"


def more_than_half(mine, others, times):
    share = np.mean(np.array(mine) >= times * np.array(others))
    return "holds" if share > 0.5 else "holds partly" if share > 0 else "does not hold"


def sums_as_they_are(a_max, a_sum, b_max, b_sum):
    return max(a_max, b_max), a_sum + b_sum


def sign_turned(a_max, a_sum, b_max, b_sum):
    largest = max(a_max, b_max)
    if largest == -math.inf:
        return largest, 0.0
    return largest, a_sum * math.exp(largest - a_max) + b_sum * math.exp(largest - b_max)


def without_care(a_max, a_sum, b_max, b_sum):
    m = np.maximum(a_max, b_max)
    return m, a_sum * np.exp(a_max - m) + b_sum * np.exp(b_max - m)


def b_as_it_is(a_max, a_sum, b_max, b_sum):
    if a_max == -math.inf:
        return b_max, b_sum
    largest = max(a_max, b_max)
    return largest, a_sum * math.exp(a_max - largest) + b_sum


def of_the_prediction(predicted, measured):
    p, m = np.asarray(predicted), np.asarray(measured)
    return np.mean(np.abs(p - m) <= 0.2 * p)


def only_too_long(predicted, measured):
    good = [(p - m) / m <= 0.2 for p, m in zip(predicted, measured, strict=True)]
    return sum(good) / len(good)


def how_many(predicted, measured):
    return sum(abs(p - m) <= 0.2 * m for p, m in zip(predicted, measured, strict=True))


def larger_ratio(predicted, measured):
    good = 0
    for p, m in zip(predicted, measured, strict=True):
        if max(p / m, m / p) <= 1.2:
            good += 1
    return good / len(measured)


def logaddexp_reduce(x):
    return x - np.logaddexp.reduce(x)


def largest_pair(blocks):
    return max((count, size) for size, count in blocks.items())[1]


def exact_median(times, nbytes, warm_up):
    return Fraction(nbytes) / Fraction(statistics.median(list(times)[warm_up:])) / 1000


def by_logaddexp(a_max, a_sum, b_max, b_sum):
    with np.errstate(divide="ignore"):
        whole = np.logaddexp(a_max + np.log(a_sum), b_max + np.log(b_sum))
    largest = np.maximum(a_max, b_max)
    return np.array([largest, np.exp(whole - largest) if largest > -np.inf else 0.0])


def counted_exactly(predicted, measured):
    good = [abs(p - m) * 5 <= m * (1 + 1e-12) for p, m in zip(predicted, measured, strict=True)]
    return Fraction(good.count(True), len(good))


#: Rarer slips: no batch before this one has these numbers.
RARER = (
    Others(
        "0-which-number",
        (),
        ((4 * 64 + 5, "Block 3 is the fourth, so four blocks come before it.", "3 blocks|before"),),
    ),
    Others(
        "00-half-the-bytes",
        (),
        ((3 * 4096 * 1024 * 2, "The three passes each read the row: three reads, no write.", "three|once|written"),),
    ),
    Others("00-where-shared-memory-ends", (), ((48_000 // 4, "48 KB are 48 000 bytes.", NOT_NAMED),)),
    Others(
        "01-sectors-of-the-uncached",
        (),
        ((2 * 4 * 2048 * 2 // 32, "One pass finds maximum and sum, so it reads twice.", "twice\\?"),),
    ),
    Others("02-one-sector-more", (), ((64, "Each lane's bytes lie across two sectors.", "in vain|counted twice"),)),
    Others(
        "02-rows-that-begin-right",
        (),
        ((1016, "The rest of 2000 by 32 is 16, so 16 columns are appended.", "2 bytes|bytes|columns"),),
    ),
    Others(
        "03-stopped-half-way",
        (),
        ((21 + 13 + 29, "The three lanes that are met, without the own number.", "lane itself"),),
    ),
    Others(
        "03-name-the-lanes",
        (),
        (
            (2**24 - 1, "All lanes up to the third group's end.", "eight ones"),
            (0xFF << 8 >> 4, "The groups are four bits apart, as a digit in hexadecimal is.", "8|lanes"),
        ),
    ),
    Others("04-odd-strides", (), ((11, "32 banks over 3, rounded up: so many banks are in use.", "bank"),)),
    Others(
        "05-barriers-of-a-tree", (), ((512, "The threads halve from 1024, so there are 512 rounds.", "first level"),)
    ),
    Others(
        "06-how-many-blocks",
        (),
        (
            (39, "One row less than fits, to be safe.", "off by one|19\\.5"),
            (20 * 2**20 // (132 * 131072), "The rows of one SM: 20 MiB over 132 of them.", "share of one SM"),
        ),
    ),
    Others("06-bigger-and-faster", (), ((12, "Compared with blocks of 256 alone.", NOT_NAMED),)),
    Others(
        "06-there-and-back",
        (),
        ((1800, "800 lines are missed on the way back: hits and misses are swapped.", "hit|800|200"),),
    ),
    Others(
        "07-room-for-five",
        (),
        (
            (46592 + 1024, "The driver's 1024 bytes are added.", "driver|less|subtract|keep"),
            (227 * 1024 // 5, "The 227 KiB that a block may have at most, by five.", "SM|233|228"),
        ),
    ),
    Others("08-the-first-step", (), ((4970, "The second step, where it goes back to 128.", "first|back|128"),)),
    Others(
        "10-how-fast", (), ((2 * 16_384 * 4096 * 2 * 8 / 98e-6 / 1e9, "Gigabits: eight bits per byte.", "gigabits"),)
    ),
    Others(
        "11-where-cudnn-wins",
        (),
        ((14, "From 5632 up to where shared memory ends: 12 272.", NOT_NAMED),),
    ),
    Others("11-a-claim-of-your-own", (), ((5, "At least 20 %, as in the claim about columns.", "15|20"),)),
    Others("14-who-writes-to-me", (), ((14, "Seven blocks, one pair each.", "warp"),)),
    Others("15-loads-on-the-way", (), ((25, "The warps of exercise 3, not the loads.", "how many warps"),)),
    Others(
        "16-atomics",
        (),
        apart(
            ATOMICS,
            NEAR,
            (round(ATOMICS), "Rounded, as the lesson prints it.", "digit|point"),
            (COUNTS["atomics"], "The number of launches of the line.", "how many launches"),
        ),
    ),
    Others("16-too-long", (), ((TOO_LONG + 1, "One was counted too many.", NOT_NAMED),)),
    Others("17-three-floats-apart", (), ((96, "96 floats are touched.", "float|8|sector"),)),
)

OTHERS = (
    *RARER,
    Others(
        "0-how-many-blocks",
        (),
        (
            (7, "1000 / 128 is 7.8, and only 7 whole blocks fit into the numbers.", "round|rest|last block"),
            (32, "A block is a warp of 32 threads: 1000 / 32, rounded up.", "warp|32"),
        ),
    ),
    Others(
        "0-which-number",
        (197.0,),
        (
            (
                5 * 64 + 3,
                "The thread's number times the size of the block, plus the block's number: both are swapped.",
                "block for the thread",
            ),
            (2 * 64 + 5, "Blocks count from 1, so two blocks come before block 3.", "number 0"),
        ),
    ),
    Others(
        "00-half-the-bytes",
        (np.float64(2) ** 24,),
        (
            (4096 * 1024 * 2, "Each element moves once: the write of the result is forgotten.", "written|write|once"),
            (32 / 2, "The answer in MiB, where bytes are asked for.", "MiB|bytes"),
        ),
    ),
    Others(
        "00-where-shared-memory-ends",
        (Fraction(49_152 - 64, 4),),
        (
            (
                (48 * 1024 - 64) // 2,
                "float16 takes two bytes in shared memory: 49152 - 64 bytes hold twice as many.",
                "computed|float32|four bytes",
            ),
            (48 * 1024 // 4, "All 48 KiB are for the row: the words of the reductions are forgotten.", "reduction|64"),
        ),
    ),
    Others(
        "01-largest-power",
        (),
        (
            (15, "log2 in place of ln: 2^15 is the last power of two below 65504.", "log2|base|power of 2|2\\^"),
            (
                12,
                "The first power that overflows, as the cell above printed it for float32.",
                "162 755",
            ),
        ),
    ),
    Others(
        "01-log-softmax",
        (),
        (
            (
                logaddexp_reduce,
                "The sum of exponentials is safe, and then two large numbers are subtracted, which keeps few digits.",
                "few digits",
            ),
            (
                by_identity,
                "The identity log(e^x) = x spares the exponential of the numerator, and the sum needs no maximum.",
                "overflow|maximum",
            ),
            (log_of_shares, "A stable softmax has a stable logarithm.", "log|0|inf"),
            (
                maximum_only_inside,
                "The maximum leaves the exponent, but it need not be taken from x outside of it.",
                "x - |maximum|subtract",
            ),
            (
                largest_magnitude,
                "The number with the largest magnitude is the dangerous one: that is subtracted.",
                "size|sign",
            ),
            (
                with_a_floor,
                "A small number beside the share keeps the logarithm from minus infinity.",
                "small number|smaller",
            ),
        ),
    ),
    Others(
        "01-sectors-of-the-uncached",
        (),
        (
            (
                3 * 4 * 2048 * 4 // 32,
                "An element has four bytes, as in the lesson's table.",
                "float16|two bytes|2 bytes",
            ),
            (4 * 4 * 2048 * 2 // 32, "The writes count as well: three reads and one write.", "read|writ"),
            (3 * 2048 * 2 // 32, "The sectors of one row, three times: the other three rows are forgotten.", "row"),
        ),
    ),
    Others(
        "01-where-it-stops",
        (np.int16(256),),
        (
            (
                2**7,
                "bfloat16 stores 7 bits of the digits, so it counts up to 2^7: the leading 1 is forgotten.",
                "first 1",
            ),
            (
                257,
                "The first number that a bfloat16 cannot hold, not the one at which the sum stands.",
                "hold|next|stay",
            ),
        ),
    ),
    Others(
        "02-how-many-loads",
        (),
        (
            (250, "Each lane's load counts by itself: 1000 / 4.", "warp|lane"),
            (1000 // 128, "1000 / 128 is 7.8, and the rest is left out.", "rest|round|last"),
        ),
    ),
    Others(
        "02-one-sector-more",
        (),
        (
            (5, "A load of a warp is 128 bytes, as in the experiment: 4 sectors and one more.", "4 bytes per lane"),
            (
                32,
                "Each lane begins in the middle of a sector, so each of the 32 lanes has a sector of its own.",
                "lane|sector",
            ),
        ),
    ),
    Others(
        "02-rows-that-begin-right",
        (),
        (
            (1024, "A row must begin at a cache line of 128 bytes.", "128 bytes"),
            (1000, "2000 bytes are a multiple of 16, which is enough for the widest load.", "sector|32"),
        ),
    ),
    Others(
        "03-name-the-lanes",
        (np.uint32(0xFF) << np.uint32(16),),
        (
            (0xFF << 24, "The third group is number 3, so 24 lanes come before it.", "last group"),
            (0b100, "One bit per group: the third bit.", "eight|8"),
        ),
    ),
    Others(
        "03-shuffles-of-a-group",
        (),
        (
            (
                16 * 4,
                "Every row needs its own shuffles: 16 rows with 2 steps for the maximum and 2 for the sum.",
                "warp|one instruction|all groups",
            ),
            (
                4,
                "Two rows at a time share their shuffles: 2 steps for the maximum, 2 for the sum.",
                "two rows|rows at a time",
            ),
        ),
    ),
    Others(
        "03-stopped-half-way",
        (),
        (
            (
                5 + 21 + 13,
                "Lane 13 gives its first number, 13, in the second step, and not the sum that it has by then.",
                "more than its own",
            ),
            (5 + 16 + 8, "The masks themselves are added.", "not the masks"),
        ),
    ),
    Others(
        "04-odd-strides",
        (),
        ((3, "The words span three rounds of the 32 banks, so three wavefronts.", "stride|bank|different"),),
    ),
    Others(
        "04-packs-of-four",
        (),
        (
            (
                1,
                "A pack of 4 is one store of 16 bytes, and the compiler takes care of it.",
                "compiler",
            ),
            (
                8,
                "16 bytes per lane times 32 lanes, two wavefronts as before for each half: twice 4.",
                "half of the warp",
            ),
        ),
    ),
    Others(
        "05-barriers-of-a-tree",
        (),
        (
            (10, "log2 of 1024 levels, one barrier each; the last thread's result needs no more.", "total|end|read"),
            (20, "Each level has a barrier before its reads and one after its writes.", "level|one barrier"),
        ),
    ),
    Others(
        "05-which-barrier-may-go",
        (),
        (
            ("B", "B stands between a read and a write, where no number is passed on.", "read|write|word"),
            (
                "A",
                "The first writes go to the thread's own word, so nobody has to wait for them.",
                "other|thread|right",
            ),
        ),
    ),
    Others(
        "06-bigger-and-faster",
        (),
        (
            (
                13,
                "Counted by the bytes read from DRAM, not by the time: blocks of 1024 read least at all 13.",
                "time|fastest|microseconds",
            ),
        ),
    ),
    Others(
        "06-how-many-blocks",
        (),
        (
            (
                20 * 2**20 // 131072,
                "20 MiB hold 20 * 2^20 / 131072 rows: the four bytes of an element are forgotten.",
                "bytes|four|4",
            ),
            (120, "The whole L2 of 60 MiB, not the 20 MiB of the question.", "20 MiB|L2|curve"),
        ),
    ),
    Others(
        "06-there-and-back",
        (np.array(1400),),
        (
            (
                3000,
                "A cache with too little room finds nothing, so each pass misses all 1000.",
                "one direction",
            ),
            (
                1200,
                "200 lines miss on the way back, and on the third pass all that it needs is there.",
                "third|forwards again|last pass",
            ),
        ),
    ),
    Others(
        "07-blocks-of-768",
        (),
        (
            (65536 // 768, "65536 registers divided among 768 threads.", "unit|warp|256"),
            (
                40,
                "The SM has room for 2048 threads, which are two blocks of 768, and both must fit.",
                "two blocks",
            ),
        ),
    ),
    Others(
        "07-room-for-five",
        (),
        (
            (
                233472 // 5,
                "The SM's bytes divided by five: neither the unit of 128 bytes nor the driver's 1024 bytes.",
                "128|1024|unit",
            ),
            (
                233472 // 5 // 128 * 128,
                "In units of 128 bytes, but without the 1024 bytes of the driver.",
                "driver|1024|keeps",
            ),
        ),
    ),
    Others(
        "08-another-gpu",
        (),
        (
            (128, "As on the H200, rows of 4096 get blocks of 128.", "on an H200"),
            (
                512,
                "Two blocks of 512 fill all 32 warps, and the biggest block that fills the SM wins.",
                "fill these slots",
            ),
        ),
    ),
    Others(
        "08-the-first-step",
        (),
        (
            (6194, "The step of the H200, printed in the lesson.", "A100|H200"),
            (4368, "The last row length that still gets 128.", "still holds"),
        ),
    ),
    Others(
        "08-write-the-rule",
        (largest_pair,),
        (
            (most_threads, "The most threads per SM win.", "Threads come second"),
            (
                small_ones_first,
                "The sizes are asked from small to large, and the first that holds as many as 128 is taken.",
                "1024|largest|first",
            ),
            (biggest_that_fits, "The biggest block that fits at all is taken.", "as many|128"),
            (
                first_of_a_tie,
                "max() with a tie gives the biggest block; it gives the first.",
                "1024|bigger|larger|equal",
            ),
        ),
    ),
    Others(
        "09-beat-the-plan",
        (["block_uncached", np.int64(256)],),
        (
            (("block_uncached", 1024), "More threads read faster: 1024 is the biggest block.", NOT_NAMED),
            (
                ("block_smem", 128),
                "The kernel that reads the row once must be faster than the one that reads it three times.",
                "fit|shared",
            ),
            (
                ("warp", 128),
                "The answer of the neighbouring line of the lesson, which is about float32's 12 272 columns.",
                "warp|1024|registers",
            ),
        ),
    ),
    Others(
        "09-blocks",
        (),
        (
            (1875, "One row at a time in each group: 16 rows per block.", "two rows|rows at a time"),
            (-(-30_000 // 128), "One thread per row.", "lanes|row"),
        ),
    ),
    Others(
        "09-sixteen-lanes",
        (),
        (
            (17, "Packs of 2 for every length: 8 lanes hold up to 16 numbers.", "odd|packs of 1"),
            (18, "Row lengths are even, and 8 lanes hold 16: the next one is 18.", "odd|packs of 1"),
        ),
    ),
    Others(
        "09-write-the-dispatch",
        (),
        (
            (
                in_its_own_type,
                "Shared memory holds the row in its own type, so float16 takes two bytes.",
                "float32|computed",
            ),
            (both_up_to_1024, "Both operators ask the same question.", "softmax|1023|1024"),
            (
                short_doubles_in_registers,
                "Only the long rows of doubles go to block_uncached; the short ones fit into registers.",
                "float64|double",
            ),
            (
                shorter_than_the_room,
                "The row must be shorter than what is left of 48 KiB; just as long does not fit.",
                "just as many",
            ),
        ),
    ),
    Others(
        "10-how-fast",
        (),
        (
            (16_384 * 4096 * 2 / 98e-6 / 1e9, "Only the read counts.", "writ|twice|both"),
            (2 * 16_384 * 4096 * 2 / 98e-6 / 2**30, "1 GB is 2^30 bytes.", "10\\^9|GB|2\\^30"),
        ),
    ),
    Others(
        "10-which-is-honest",
        (),
        (
            (
                "C",
                "The fastest launch is the undisturbed one, and events are the GPU's own clock.",
                "fastest|median|cache|8 MiB",
            ),
            ("D", "D measures as carefully as B, and the data do not matter.", "zeros|chosen|row length"),
        ),
    ),
    Others(
        "10-write-the-summary",
        (exact_median,),
        (
            (the_mean, "The average of the launches that count.", "median|mean"),
            (
                without_the_slowest,
                "The slowest launches are the warm-up, so they are sorted out first.",
                "first|order|warm",
            ),
            (
                middle_of_the_list,
                "The middle element of the list is the median, and the list is in order already.",
                "sort|median",
            ),
            (per_microsecond, "Bytes per microsecond are GB/s.", "microsecond|10\\^|1e-6|1000|factor"),
        ),
    ),
    Others("11-a-claim-of-your-own", (), ((3, "Compared with packs of 1, not with packs of 2.", "packs of 2|pack"),)),
    Others(
        "11-rows-in-flight",
        (Fraction(99, 2),),
        (
            (132 * 24_576 * 4 / 2**20, "One block per SM.", "more than one such"),
            (4 * 132 * 24_576 * 4 / 1e6, "MB of 10^6 bytes in place of MiB.", "MiB|2\\^20"),
        ),
    ),
    Others(
        "11-where-cudnn-wins",
        (),
        (
            (27, "Counted where softlab is faster: the comparison is the wrong way round.", "faster|cuDNN|the other"),
            (
                16,
                "Read off the text: the lengths from 5632 to 16 384, without the longer ones.",
                "last one in it|262 144",
            ),
        ),
    ),
    Others(
        "11-write-the-judge",
        (),
        (
            (more_than, "'At least' was read as 'more than'.", "fast enough"),
            (
                partly_asked_first,
                "'Holds partly' is asked first, and a claim that is true everywhere is true somewhere.",
                "all|every|holds",
            ),
            (
                factor_at_mine,
                "The factor stands on the wrong side: mine times the factor against the others.",
                "wrong side",
            ),
            (more_than_half, "A claim that is true in more than half of the cases holds.", "every|all|some"),
        ),
    ),
    Others(
        "12-four-kernels",
        (),
        (
            (34, "Dropout reads a mask of one byte, too.", "counting|reads no mask|dropout"),
            (
                9,
                "The bytes of the fused kernel, in which the temporaries are gone.",
                "four kernels|separate|each kernel",
            ),
        ),
    ),
    Others(
        "12-half-a-matrix",
        (Fraction(17, 32),),
        ((129 / 256, "The elements up to the diagonal, not whole sectors.", "sector"),),
    ),
    Others(
        "12-memory-of-dropout",
        (),
        (
            (
                "the mask of dropout",
                "The gradient must know which elements were dropped, so the mask is kept.",
                "seed|position|scramble",
            ),
            ("nothing", "Everything can be computed again from the seed.", "y|softmax"),
        ),
    ),
    Others(
        "14-bytes-of-a-block",
        (),
        (
            (
                524_288 // 16 * 4,
                "The kernel computes in float32, so it keeps four bytes per element.",
                "float16|two bytes|2 bytes|packed",
            ),
        ),
    ),
    Others(
        "14-merge",
        (by_logaddexp,),
        (
            (sums_as_they_are, "The sums of two parts add up as they are.", "different maxima"),
            (
                sign_turned,
                "The exponent has the wrong sign: the sum is carried from the maximum down to its own.",
                "sign|exponent|overflow|larger",
            ),
            (
                without_care,
                "The formula as it stands: two parts of minus infinity were forgotten.",
                "nan|-inf|infinity",
            ),
            (
                b_as_it_is,
                "Only one of the two sums is carried over, as if b always had the larger maximum.",
                "factor|scale|both|b",
            ),
        ),
    ),
    Others(
        "14-packs-a-thread",
        (),
        (
            (32, "The elements of a thread, not its packs.", "16 bytes|elements|pack"),
            (8, "A pack of 16 bytes has four elements, as in float32.", "float16|eight|8"),
        ),
    ),
    Others(
        "14-who-writes-to-me",
        (),
        (
            (7 * 8 * 2, "The own block's warps do not send.", "own"),
            (8 * 2, "Each block sends one pair, as after a block reduction.", "pair per block"),
        ),
    ),
    Others(
        "15-a-chain",
        (4e3, 999 * 4),  # at 999 * 4 the last one begins
        (
            (1000, "A warp issues one instruction per cycle.", "depend on each other"),
            (250, "Four schedulers share the work of the SM.", "one warp|alone|chain"),
        ),
    ),
    Others(
        "15-enough-warps",
        (),
        (
            (24, "Rounded down: 24.2 warps.", "round|up"),
            (3190, "The bandwidth of the whole GPU, not of one SM.", "SM|132"),
        ),
    ),
    Others("15-loads-on-the-way", (), ((3, "3.02 is rounded to the nearest number.", "round|up"),)),
    Others(
        "15-the-second-wait", (), ((4, "It waits for the load of line 4, as the FFMA does.", "FFMA|line 6|other load"),)
    ),
    Others(
        "16-atomics",
        (np.float32(ATOMICS_SHOWN),),
        apart(
            ATOMICS,
            NEAR,
            (round(atomics("H100", "cold"), 1), "The H100's launches.", "H200|H100"),
            (round(atomics(quantile=0.9)), "The 90th percentile of the line, not the median.", "90th"),
        ),
    ),
    Others(
        "16-too-long",
        (),
        apart(
            TOO_LONG,
            0,
            (
                len(LARGE) - TOO_LONG,
                "Those that were predicted too short: a ratio below 1 was taken for too long.",
                "predicted too short",
            ),
        ),
    ),
    Others(
        "16-trust-it-least",
        (np.str_(WORST),),
        (
            (
                next(name for name in RANKED[-2::-1] if COUNTS[name] > 3),
                "The lowest line, without the last one, that has more than three launches.",
                "median",
            ),
            (RANKED[1], "The list was read from its other end.", "median|largest"),
        ),
    ),
    Others(
        "16-within-a-fifth",
        (counted_exactly,),
        (
            (of_the_prediction, "The error is divided by the prediction.", "measured|divid"),
            (
                only_too_long,
                "Only predictions that are too long are errors: the sign stayed.",
                "short|abs|sign|negative|below",
            ),
            (how_many, "The number of launches, not their share.", "share|number|divide"),
            (
                larger_ratio,
                "Half the time is as wrong as twice the time, so the larger ratio counts: at most 1.2.",
                "half|difference|measured",
            ),
        ),
    ),
    Others(
        "17-three-floats-apart",
        (),
        (
            (4, "Only a third of the data is read: 128 bytes are 4 sectors.", "sector|third|12"),
            (32, "The lanes lie apart, so each one has its own sector.", "12 bytes|share|sector"),
        ),
    ),
    Others("17-two-columns-more", (), ((1, "One more column repaired it, and two do as well.", "bank|2|two"),)),
)
