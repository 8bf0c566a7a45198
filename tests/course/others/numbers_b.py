"""Numbers of lessons 06 to 17."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from tests.course.measured_set import ATOMICS, ATOMICS_SHOWN, ERRORS, LARGE, NEAR, TOO_LONG, apart, atomics
from tests.course.others import Others, whole

OTHERS = (
    Others(
        "06-how-many-blocks",
        (*whole(40), 20 * 2**20 / (131_072 * 4)),
        (
            (160, "elements for bytes", "4 bytes|bytes|float32|512"),
            (38, "20 million bytes", "MiB|2\\^20|1024|1 ?048"),
            (120, "the whole L2", "20|L2|60"),
            (20, "rows of 1 MiB", "4 bytes|512|KiB|half"),
            (264, "all blocks that fit", "20|half|MiB|flight"),
            (80, "2 bytes per element", "4 bytes|float32|512"),
        ),
    ),
    Others(
        "06-bigger-and-faster",
        (*whole(10), sum([True] * 10)),
        (
            (13, "the least traffic", "traffic|time|microsecond|read"),
            (3, "where they are not the fastest", "not|other|where.*1024|slower"),
            (10 / 13, "a share", "number|share|how many|whole"),
            (2, "where blocks of 512 win", "1024|512"),
        ),
    ),
    Others(
        "06-there-and-back",
        (*whole(1400), 1000 + 200 + 200),
        (
            (3000, "nothing is found, as if all went forwards", "back|last|still|newest|just|one direction"),
            (1200, "the third pass is free", "third|again|forwards|each|both"),
            (400, "the first pass is free", "first|1000|empty"),
            (1000, "only the first pass misses", "800|room|200|fit"),
            (1.4, "misses per line", "line|1000|how many|number of"),
            (2600, "the room added", "room|800|200|found|hit"),
        ),
    ),
    Others(
        "07-room-for-five",
        (*whole(45568), 233472 // 5 // 128 * 128 - 1024),
        (
            (46694, "neither unit nor the driver's part", "1024|driver|128|unit"),
            (46592, "the driver's part forgotten", "1024|driver|keeps"),
            (45670, "the unit forgotten", "128|unit|round"),
            (44.5, "KiB", "KiB|in bytes|unit"),
            (45569, "one byte too many", "128|unit|at most|more|last"),
            (37888, "room for six", "five|six|more"),
        ),
    ),
    Others(
        "07-blocks-of-768",
        (*whole(80), 16384 // 6 // 256 * 256 // 32),
        (
            (85, "registers shared out one by one", "warp|unit|256|multiple of 8|quarter|step"),
            (84, "rounded to 4", "warp|unit|256|multiple of 8|quarter|step"),
            (255, "the most that a thread may have", "768|65 ?536|SM|block|all"),
            (64, "as for blocks of 1024", "768|1024|more"),
            (88, "rounded up", "round|down|fit|quarter|too many|12"),
            (61440, "registers of the block", "thread|block"),
        ),
    ),
    Others(
        "08-the-first-step",
        (*whole(4370), 4369 + 1),
        (
            (6194, "an H200", "A100|H200"),
            (4368, "the last length with blocks of 128", "last|from|first|still"),
            (4978, "after the notch", "notch|earlier|first|before"),
            (2674, "a V100", "A100|GPU|menu"),
            (4369, "odd", "even"),
            (1024, "the first row of the kernel", "256|first|128"),
        ),
    ),
    Others(
        "08-another-gpu",
        (*whole(256), 1 << 8),
        (
            (128, "the H200's answer", "as many|256|T4|32|warp|an H200"),
            (512, "one step too far", "512|as many|fewer|two|2"),
            (1024, "the largest", "1024|as many|fewer|one|only"),
            (768, "what three blocks have", "128|size|block"),
            (3, "the number of blocks", "size|threads|block"),
        ),
    ),
    Others(
        "09-blocks",
        (*whole(938), math.ceil(30_000 / 32)),
        (
            (937, "rounded down", "round|left|rest|last|more"),
            (937.5, "not rounded", "whole|round"),
            (1875, "one row at a time", "two|2 rows"),
            (30_000, "a block per row", "128|group|rows"),
            (469, "groups of 4 lanes", "8 lanes|eight|lanes|pack"),
            (7500, "a warp per row", "lanes|group|few|8|two"),
        ),
    ),
    Others(
        "09-sixteen-lanes",
        (*whole(9), min(range(9, 17, 2))),
        (
            (18, "packs of 2 only", "odd|packs? of 1|pack of 1"),
            (17, "more than 16", "odd|packs? of 1|pack of 1"),
            (16, "an element per lane", "8 lanes|packs? of 2|even|eight|few"),
            (32, "the longest with packs of 2", "short|long|other end"),
            (8, "one too few", "8 lanes|eight|9|packs? of 1|lanes"),
            (10, "the next even one", "even|odd|pack"),
        ),
    ),
    Others(
        "10-how-fast",
        (
            *(2 * 16_384 * 4096 * 2 / 98e-6 / 1e9, np.float32(2739.14), Fraction(268_435_456, 98_000), 2739, 2740),
            Decimal("2739.1"),
            np.array([2739.137]),
        ),
        (
            (1370, "only the read", "read.*writ|both|twice|writ"),
            (5478, "4 bytes per element", "float16|2 bytes|half"),
            (2.739, "TB/s", "GB|unit|TB|thousand"),
            (2551, "GiB/s", "10\\^9|GiB|2\\^30|1e9|billion"),
            (2739137, "MB/s", "GB|unit|thousand|10\\^9|microsecond"),
            (0.002739, "microseconds taken for milliseconds", "GB|unit|thousand|10\\^9|microsecond"),
        ),
    ),
    Others(
        "11-where-cudnn-wins",
        (*whole(17), np.count_nonzero([1] * 17 + [0] * 27)),
        (
            (27, "where the planned kernel is faster", "other|planned|slower|cuDNN is|exchang|where softlab"),
            (0, "float16", "float32|float16"),
            (44, "all lengths", "all|faster|compare|44"),
            (5632, "a length, not a number of them", "how many|count|number of|length"),
            (17 / 44, "a share", "how many|count|share|number|whole"),
        ),
    ),
    Others(
        "11-rows-in-flight",
        (49.5, np.float32(49.5), Fraction(99, 2), Decimal("49.5"), 4 * 132 * 24_576 * 4 / 2**20),
        (
            (12.375, "one block per SM", "four|4 blocks|blocks per SM|holds|several"),
            (0.375, "one SM", "132|SMs"),
            (51.9, "millions of bytes", "MiB|2\\^20"),
            (24.75, "two blocks per SM", "four|4 |512|2048"),
            (99, "2 x", "four|4 |512|2048|8 blocks"),
            (49.5 * 2**20, "bytes", "MiB|2\\^20"),
        ),
    ),
    Others(
        "11-a-claim-of-your-own",
        (*whole(6), sum(ratio >= 1.15 for ratio in (1.11, 1.05, 1.08, 1.17, 1.22, 1.21, 1.24, 1.14, 1.39, 1.2))),
        (
            (8, "10 % faster", "15|1.15"),
            (3, "packs of 8 against packs of 1", "packs? of 2|packs? of 1"),
            (4, "where it is false", "not|false|true|other"),
            (0.6, "a share", "how many|count|share|number"),
            (1, "packs of 4", "packs? of 8|packs? of 4"),
            (10, "wherever they are faster", "15|1.15"),
        ),
    ),
    Others(
        "12-four-kernels",
        (*whole(33), (4 + 4) + (4 + 1 + 4) + (4 + 4) + (4 + 4)),
        (
            (25, "dropout forgotten", "dropout|fourth|four"),
            (9, "one kernel", "apart|four|one kernel|tempor|each"),
            (32, "the mask forgotten", "mask"),
            (36, "a mask of 4 bytes", "one byte|1 byte|a byte"),
            (34, "dropout reads a mask, too", "dropout|count|no mask"),
            (17, "2 bytes per element", "float32|4 bytes|float16"),
        ),
    ),
    Others(
        "12-half-a-matrix",
        (0.53125, np.float16(0.53125), Fraction(17, 32), 1088 / 2048, 0.531),
        (
            (0.5, "no sectors, no diagonal", "sector|diagonal|whole"),
            (129 / 256, "elements, not sectors", "sector|8"),
            (53.125, "percent", "1 is all|percent|share|between 0 and 1"),
            (1088, "sectors", "1 is all|share|of the matrix|divide"),
            (0.5625, "64 x 64", "128|64"),
            (1, "all of it", "diagonal|causal|mask|half"),
        ),
    ),
    Others(
        "14-bytes-of-a-block",
        (*whole(65536), 2**16),
        (
            (32768, "elements", "bytes|element"),
            (131072, "4 bytes per element", "float16|2 bytes"),
            (1048576, "the whole row", "16|share|each|block"),
            (64, "KiB", "KiB|in bytes|unit"),
            (8192, "bytes divided once too often", "2 bytes|float16|bytes|element"),
        ),
    ),
    Others(
        "14-packs-a-thread",
        (*whole(4), 65_536 * 2 / 16 / (4 * 512)),
        (
            (32, "elements", "pack|8|eight"),
            (8, "4 elements per pack", "float16|8|eight|2 bytes"),
            (16, "one block", "four blocks|4 blocks|2048|share|There are four"),
            (8192, "packs of the row", "thread|2048|share"),
            (2048, "threads", "thread|pack|row"),
        ),
    ),
    Others(
        "14-who-writes-to-me",
        (*whole(128), 8 * (256 // 32) * 2),
        (
            (64, "one value per warp", "two|pair|maximum and|sum"),
            (112, "without its own", "own"),
            (16, "one warp per block", "warp"),
            (1024, "the whole cluster", "one block|each block|eight|all blocks"),
            (512, "bytes", "bytes|values"),
            (4096, "every thread sends", "warp|thread"),
        ),
    ),
    Others(
        "15-a-chain",
        (*whole(4000), 1e3 * 4),
        (
            (1000, "one per cycle", "4 cycles|latency|result|before|depend|wait"),
            (250, "four schedulers", "depend|alone|before|one after|result|scheduler"),
            (4, "one instruction", "1000|each|one"),
            (128_000, "each lane by itself", "lanes|together|warp"),
            (690_700, "the latency of DRAM", "DRAM|FFMA|memory|register"),
            (2000, "two cycles each", "4 cycles|four|latency"),
        ),
    ),
    Others(
        "15-the-second-wait",
        (*whole(5), len("float")),
        (
            (4, "the load of the first wait", "first|line 6|FFMA|w|already"),
            (6, "where s is computed", "load|s "),
            (7, "where it waits", "load|belong|which|wait"),
            (3, "counted from 0", "first line|from 1|count|load"),
            ("float w = x[i + n];", "the line as a text", "number"),
        ),
    ),
    Others(
        "15-enough-warps",
        (*whole(25), math.ceil(690.7 * 2364 / 132 / 512)),
        (
            (24, "rounded down", "round|up|enough"),
            (690.7 * 2364 / 132 / 512, "not rounded", "whole|round"),
            (3190, "the whole GPU", "132|per SM|one SM|whole GPU|SMs"),
            (97, "4 bytes per lane", "16 bytes|512|of 4 bytes"),
            (774, "one lane, not 32", "32|lanes|512"),
            (64, "as many as fit", "law|few|less|bytes|enough"),
        ),
    ),
    Others(
        "15-loads-on-the-way",
        (*whole(4), math.ceil(12_370 / (32 * 32 * 4))),
        (
            (3, "rounded down", "round|up|enough"),
            (3.02, "not rounded", "whole|round"),
            (97, "one warp", "32 warps|warps|for one warp"),
            (1, "16 bytes per lane", "4 bytes|128"),
            (399, "the whole GPU", "132|per SM|one SM|SMs"),
        ),
    ),
    Others(
        "16-atomics",
        (
            ATOMICS_SHOWN,
            np.float32(ATOMICS_SHOWN),
            Fraction(round(10 * ATOMICS), 10),
            Decimal(str(ATOMICS_SHOWN)),
            round(ATOMICS, 2),
        ),
        (
            *apart(
                ATOMICS,
                NEAR,
                (round(ATOMICS / 100, 3), "a share", "percent|100"),
                (round(atomics("H200", "warm"), 1), "a warm cache", "cold|warm"),
                (round(atomics("H100", "cold"), 1), "an H100", "H200|H100"),
                (round(atomics(quantile=0.9), 1), "the 90th percentile", "median|90th"),
            ),
            (f"{ATOMICS_SHOWN} %", "a text", "number|text|quote"),
        ),
    ),
    Others(
        "16-too-long",
        (*whole(TOO_LONG), 2 * TOO_LONG // 2),
        apart(
            TOO_LONG,
            0,
            (len(LARGE), "all misses", "too long|short|all|half"),
            (int((ERRORS > 0).sum()), "all launches that are too long", "20|error above|only"),
            (round(TOO_LONG / len(LARGE), 2), "a share", "how many|count|share|number|whole"),
            (int((ERRORS < 0).sum()), "all launches that are too short", "20|error above|only|short|too long"),
        ),
    ),
    Others(
        "17-two-columns-more",
        (*whole(2), math.gcd(34, 32)),
        (
            (1, "as with 33", "even|33|bank|lane 16|two"),
            (34, "the columns", "bank|lane|34"),
            (32, "as with 32", "bank|32|lane"),
            (16, "the lanes per wavefront", "lane|wavefront|bank|16"),
            (4, "twice too many", "bank|lane|16"),
        ),
    ),
    Others(
        "17-three-floats-apart",
        (*whole(12), 3 * 32 * 4 / 32),
        (
            (4, "neighbouring floats", "3|12 bytes|three|384"),
            (32, "a sector per lane", "share|12 bytes|sector|384"),
            (1, "banks of shared memory", "bank|global|sector|odd"),
            (3, "the stride", "bytes|384|sector|lane"),
            (384, "bytes", "bytes|32|sector"),
            (13, "one sector more", "begin|last|first|align|384"),
        ),
    ),
)
