"""Numbers of lessons 0 to 05."""

import math

import numpy as np

from tests.course.others import Others, whole

NAN = float("nan")
OTHERS = (
    Others(
        "0-which-number",
        (*whole(197), np.arange(256).reshape(4, 64)[3, 5]),
        (
            (8, "block and thread added, no block size", "64|blockDim|threads of a block|each block"),
            (133, "blocks counted from 1", "from 0|block 0|begins? at|three blocks|blocks before|3 blocks"),
            (323, "block and thread exchanged", "swap|exchang|other way|place in|for the thread"),
            (101, "32 threads per block, a warp", "64|warp"),
            (198, "threads counted from 1", "from 0|thread 0|counts? from"),
            ("197", "a text", "number|text|quote"),
        ),
    ),
    Others(
        "0-how-many-blocks",
        (*whole(8), math.ceil(1000 / 128), -(-1000 // 128)),
        (
            (7, "rounded down", "left|rest|last|round"),
            (1000 / 128, "not rounded", "whole|round"),
            (32, "a warp per block", "128"),
            (1000, "a block per number", "128|threads per block"),
            (NAN, "no number", "number|NaN"),
        ),
    ),
    Others(
        "00-half-the-bytes",
        (*whole(2**24), 2 * np.zeros((4096, 1024), np.float16).nbytes, 1.6777216e7),
        (
            (2**23, "only the read", "read|writ|twice|both"),
            (2**25, "4 bytes per element", "float16|2 bytes|half"),
            (2**22, "elements, not bytes", "bytes|element"),
            (2**27, "bits", "bit"),
            (16.777216, "megabytes", "MB|million|in bytes|unit"),
            (16, "MiB", "MB|MiB|in bytes|unit"),
        ),
    ),
    Others(
        "00-where-shared-memory-ends",
        (*whole(12272), (48 * 1024 - 64) / 4),
        (
            (24544, "2 bytes per element in shared memory", "float32|4 bytes"),
            (12288, "the reductions' 64 bytes forgotten", "reduc|64|partial|itself|few"),
            (12273, "the first row that does not fit", "longest|still|one more|first|no longer|too long"),
            (49152, "bytes, not elements", "bytes|element"),
            (1023, "where the warp kernel ends", "warp|begin|shortest|register|other end"),
        ),
    ),
    Others(
        "01-largest-power",
        (*whole(11), math.floor(math.log(65504))),
        (
            (88, "the limit of float32", "float16|65504|float32"),
            (12, "one too many", "65504|162|too large|overflow"),
            (15, "powers of 2", r"e\^|2\^|power of 2|base|e is|logarithm"),
            (65504, "the largest number, not its exponent", "exponent|logarithm|power|for which|ln"),
            (math.log(65504), "not whole", "whole"),
            (10, "one too few", r"larg|e\^11|59|still"),
        ),
    ),
    Others(
        "01-where-it-stops",
        (*whole(256), 2**8),
        (
            (2048, "float16", "bfloat16|8 bits|float16"),
            (128, "one bit too few", "8 bits|2\\^8|hidden|twice|leading|next one is"),
            (255, "one too few", "256|next|\\+ 1|last"),
            (65536, "all 16 bits are digits", "digits|8 bits|mantissa|exponent"),
            (512, "where the step is 4", "256|2\\^8|8 bits|rounded|step|distance"),
            (math.inf, "it never stops", "8 bits|digits|round|next"),
        ),
    ),
    Others(
        "01-sectors-of-the-uncached",
        (*whole(1536), 3 * 4 * 2048 * np.dtype(np.float16).itemsize // 32),
        (
            (512, "one read", "three|3"),
            (3072, "4 bytes per element", "float16|2 bytes|half"),
            (384, "one row", "rows|4 "),
            (2048, "the write counted, too", "read|writ"),
            (24576, "elements, not sectors", "sector|32"),
            (49152, "bytes, not sectors", "sector|32"),
        ),
    ),
    Others(
        "02-how-many-loads",
        (*whole(8), math.ceil(1000 / 4 / 32)),
        (
            (7, "rounded down", "round|left|rest|last|remain"),
            (7.8125, "not rounded", "whole|round"),
            (250, "packs, not loads of a warp", "32|lane|warp|together"),
            (32, "packs of 1", "pack|4 "),
            (16, "packs of 2", "pack|4 "),
            (63, "sectors", "sector|load|instruction"),
        ),
    ),
    Others(
        "02-one-sector-more",
        (*whole(17), len({(16 + 16 * lane + byte) // 32 for lane in range(32) for byte in range(16)})),
        (
            (16, "as if they began at a sector", "begin|middle|offset|inside|half|one more|shift"),
            (5, "4 bytes per lane", "16 bytes|512|4 bytes"),
            (32, "a sector per lane", "share|two lanes|sector|neighb|once"),
            (18, "both ends count twice", "once|last|first|17|end"),
            (528, "bytes", "bytes|sector|32"),
        ),
    ),
    Others(
        "02-rows-that-begin-right",
        (*whole(1008), math.ceil(2000 / 32) * 32 / 2),
        (
            (1000, "no padding", "sector|32|2000|multiple"),
            (1024, "a cache line or a power of 2", "sector|32|few|less|least|line|smaller"),
            (8, "only the appended ones", "with the 1000|together|append|whole row|in all"),
            (2016, "bytes", "column|byte|element"),
            (1004, "a multiple of 8 bytes", "sector|32|16"),
            (1001, "one more", "sector|32|16"),
        ),
    ),
    Others(
        "03-stopped-half-way",
        (*whole(68), sum({5, 5 ^ 16, 5 ^ 8, 5 ^ 24})),
        (
            (26, "only one step", "two|second|both|8|four"),
            (496, "all five steps", "stop|five|all|two|16 and 8"),
            (39, "the partner's first number in step two", "partner|already|four|29|holds"),
            (29, "the partner's number alone", "sum|add|four|own"),
            (18, "lane 5 and lane 13", "16|21|four|both"),
            (10, "masks 4 and 1", "16|mask|bit|four"),
        ),
    ),
    Others(
        "03-shuffles-of-a-group",
        (*whole(8), 2 * 2 * int(math.log2(4))),
        (
            (4, "one row at a time", "two rows|2 rows|each row|both rows"),
            (2, "only the maximum, one row", "sum|maximum|two"),
            (20, "five steps", "4 lanes|group|two steps|log|mask"),
            (64, "times the eight groups", "one instruction|all groups|warp|serve|same instruction|at once"),
            (12, "three steps, groups of 8", "4 lanes|two steps|2 steps|log|mask"),
            (16, "four steps", "4 lanes|two steps|2 steps|log|mask"),
        ),
    ),
    Others(
        "03-name-the-lanes",
        (*whole(0xFF0000), 0b111111110000000000000000, ((1 << 8) - 1) << 16, np.uint32(0xFF0000)),
        (
            (0xFF000000, "the fourth group", "third|16|fourth|lanes 24"),
            (0xFF00, "the second group", "third|second|16"),
            (0xFF, "not shifted", "shift|first|begin|lanes 0 to 7"),
            (0xFFFFFFFF, "the whole warp", "own|8 lanes|eight|only|others|all lanes"),
            ("0xff0000", "a text", "number|text|quote"),
            (0x7F0000, "seven lanes", "8|seven|eight"),
            (16, "the number of the first lane", "bit|mask|ones"),
        ),
    ),
    Others(
        "04-odd-strides",
        (*whole(1), max(np.bincount(3 * np.arange(32) % 32))),
        (
            (3, "the stride", "bank|modulo|32|odd|multiple"),
            (2, "93 words lie in more than one round of banks", "bank|modulo|32|odd|multiple"),
            (32, "each lane meets all others", "bank|modulo|32|odd|multiple"),
            (4, "the sectors of global memory", "bank|modulo|32|odd|sector|shared"),
            (True, "a truth value", "number"),
        ),
    ),
    Others(
        "04-packs-of-four",
        (*whole(4), max(np.bincount(4 * np.arange(32) % 32))),
        (
            (1, "as the column layout", "column|word|bank|lane 8|4 l|four"),
            (2, "packs of 2", "4|four|lane 8"),
            (8, "lanes per wavefront", "lanes|wavefront|four|8"),
            (16, "all four stores", "one store|one of|each store|per store|instruction"),
            (32, "all lanes in one bank", "lane 8|bank|eight|8"),
        ),
    ),
    Others(
        "05-barriers-of-a-tree",
        (*whole(11), int(np.log2(1024)) + 1),
        (
            (10, "the last barrier forgotten", "last|final|every|first|one more|result|total|before"),
            (5, "the levels of a warp", "warp|block|1024|log|levels|half"),
            (9, "256 threads", "1024|levels|half|double"),
            (352, "times the warps", "each warp|per warp|a warp|one warp"),
            (1023, "one per addition", "level|half|halv|log|step"),
        ),
    ),
)
