"""A second batch, written after the first repair: about one wrong and one right answer per exercise."""

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np

from tests.course.answers import changed
from tests.course.measured_set import ATOMICS_ROOFLINE, ATOMICS_SHOWN, ERRORS, LARGE, RANKED, TOO_LONG, WORST
from tests.course.others import Others, functions
from tests.course.others import kernels_a as a
from tests.course.others import kernels_b as b


def one(exercise, right, wrong, cause, words):
    """An exercise with one answer of each sort."""
    return Others(exercise, (right,), ((wrong, cause, words),))


def log_shares(values):
    m = -math.inf
    s = 0.0
    for v in map(float, values):
        m, s = (v, s * math.exp(m - v) + 1) if v > m else (m, s + math.exp(v - m))
    return tuple(float(v) - m - math.log(s) for v in values)


def minimum_subtracted(x):
    d = x - x.min()
    return d - np.log(np.exp(d).sum())


def by_groups(blocks):
    return list(itertools.takewhile(lambda size: blocks[size] == blocks[128], sorted(blocks)))[-1]


def not_fewer_than_two(blocks):
    return max([size for size in blocks if blocks[size] >= min(2, blocks[128])])


class Dispatch:
    def __call__(self, op, cols, dtype):
        if "64" in dtype:
            return "block_uncached"
        if cols - (op == "log_softmax") < 1024:
            return "warp"
        return f"block_{'smem' if cols <= 12_272 else 'uncached'}"


def in_bytes_of_kib(op, cols, dtype):
    return functions.dispatched(op, cols, dtype, room=12_016)


def quantile(times, nbytes, warm_up):
    return np.float64(nbytes) / np.quantile(np.asarray(times)[warm_up:], 0.5) * 1e6 / 1e9


def from_milliseconds(times, nbytes, warm_up):
    return nbytes / np.median(times[warm_up:]) / 1e6


def by_counter(mine, others, times):
    count = Counter(m / o >= times for m, o in zip(mine, others, strict=True))
    return "does not hold" if not count[True] else "holds" if not count[False] else "holds partly"


def only_first(mine, others, times):
    return "holds" if mine[0] >= times * others[0] else "does not hold"


def by_log(a_max, a_sum, b_max, b_sum):
    parts = [m + math.log(s) for m, s in ((a_max, a_sum), (b_max, b_sum)) if s]
    top = max(a_max, b_max)
    return np.float64(top), sum(math.exp(part - top) for part in parts)


def smaller_maximum(a_max, a_sum, b_max, b_sum):
    _m, s = functions.merged(a_max, a_sum, b_max, b_sum)
    return min(a_max, b_max), s


def by_mask(predicted, measured):
    p, m = np.array(predicted), np.array(measured)
    return float(((p <= 1.2 * m + 1e-9) & (p >= 0.8 * m - 1e-9)).mean())


def factor_both_ways(predicted, measured):
    return sum(max(p / m, m / p) <= 1.2 for p, m in zip(predicted, measured, strict=True)) / len(measured)


NUMBERS = (
    one("0-which-number", Decimal(197), 37, "blocks of 32, one block too few... 32 + 5", "block|64"),
    one("0-how-many-blocks", np.array([[8]]), 9, "one block too many", "128|needs|idle|enough"),
    one("00-half-the-bytes", Fraction(2**25, 2), 2**26, "float64", "2 bytes|float16"),
    one("00-where-shared-memory-ends", np.int32(12272), 6136, "8 bytes per element", "4 bytes|float32"),
    one("01-largest-power", np.float64(11), 127, "the largest exponent of base 2", "65 504|float16|power"),
    one("01-where-it-stops", np.int16(256), 512.5, "not whole", "whole"),
    one("01-sectors-of-the-uncached", 1536.0, 48, "sectors of 1 KiB", "32"),
    one("02-how-many-loads", Decimal("8"), 4, "packs of 8", "32|pack"),
    one("02-one-sector-more", np.uint8(17), 34, "each lane's bytes lie across two sectors", "sector|byte"),
    one("02-rows-that-begin-right", Fraction(2016, 2), 1005, "odd", "32|sector"),
    one("03-stopped-half-way", np.float32(68), 52, "lanes 5, 21 and 26", "16|21|13"),
    one("03-shuffles-of-a-group", np.array([8.0]), 40, "a whole warp for two rows", "4 lanes|steps"),
    one("03-name-the-lanes", int("ff0000", 16), 0b111 << 16, "three lanes", "eight|lanes 16"),
    one("04-odd-strides", math.gcd(3, 32), 93, "the last word", "bank|word"),
    one("04-packs-of-four", np.int8(4), 128, "words of a warp", "word|bank|lanes"),
    one("05-barriers-of-a-tree", 11.0 + 1e-12, 32, "the warps", "level|halv"),
    one("06-how-many-blocks", 20 / 0.5, 5, "rows of 4 MiB", "4 bytes|2\\*\\*20"),
    one("06-bigger-and-faster", np.array([10]), 11, "one too many", "microseconds|fastest|every|only"),
    one("06-there-and-back", Decimal(1400), 600, "what was found, not missed", "800|misses|pass"),
    one("07-room-for-five", 44.5 * 1024, 48128, "a KiB too many", "128|1024|233|fifth"),
    one("07-blocks-of-768", np.float32(80), 2560, "registers of a warp", "warp|thread"),
    one("08-the-first-step", 4370.0, 4096, "a power of 2", "power of 2"),
    one("08-another-gpu", Decimal(256), "128 threads", "a text", "none of|answers"),
    one("09-blocks", Fraction(938), 1876, "twice too many", "rows|two|8"),
    one("09-sixteen-lanes", np.int64(9), 31, "the longest odd one?", "fewest|pack|odd|short"),
    one("10-how-fast", 2.7391e3, 2739e9, "bytes per second", "GB/s|bytes per second"),
    one("11-where-cudnn-wins", 17.0, 18, "one too many", "count|cuDNN"),
    one("11-rows-in-flight", 49.5 + 1e-3, 148.5, "three reads", "SMs|row"),
    one("11-a-claim-of-your-own", Decimal(6), 7, "14 % taken for 15", "1.15|15"),
    one("12-four-kernels", np.float32(33), 264, "bits", "bytes|4 bytes|numbers"),
    one("12-half-a-matrix", np.array(0.53125), 0.469, "what is not read", "column|diagonal|sector"),
    one("14-bytes-of-a-block", Decimal(65536), 524288, "bits", "bits|numbers"),
    one("14-packs-a-thread", np.array([4]), 1, "packs of 64 bytes", "pack|numbers"),
    one("14-who-writes-to-me", 2**7, 2, "one warp's pair", "warp|each"),
    one("15-a-chain", np.float64(4000), 23_000, "the latency of shared memory", "latency|before|FFMA"),
    one("15-the-second-wait", np.array([5]), 2, "the index", "load|FADD|line"),
    one("15-enough-warps", Decimal(25), 26, "one too many", "bytes|round"),
    one("15-loads-on-the-way", 4.0, 5, "one too many", "bytes|law"),
    one("16-atomics", np.array([ATOMICS_SHOWN]), round(ATOMICS_ROOFLINE, 1), "the roofline", "roofline"),
    one(
        "16-too-long",
        Fraction(TOO_LONG),
        len(ERRORS) - len(LARGE),
        "the launches that are near",
        "error|p\\.|misses|short",
    ),
    one("17-two-columns-more", np.array([2]), 64, "twice the words", "bank|lane"),
    one("17-three-floats-apart", Decimal(12), 6, "two points per sector... half", "12|bytes|sector"),
    one("05-which-barrier-may-go", ["barrier", "C"][1], "none", "no barrier", "one of|none of"),
    one("10-which-is-honest", "B.", "C", "the fastest", "fastest|L2"),
    one("12-memory-of-dropout", "Y WITHOUT DROPOUT AND THE SEED", "y", "half the answer", "none of|answers|dropout"),
    one("16-trust-it-least", f"'{WORST}'", RANKED[len(RANKED) // 2], "not the worst", "median"),
    one(
        "09-beat-the-plan", [*np.array(["block_uncached", "256"]).tolist()[:1], 256], ("block_uncached", 0), "0", "128"
    ),
    one("01-log-softmax", log_shares, minimum_subtracted, "the minimum subtracted", "maximum|overflow"),
    one("08-write-the-rule", by_groups, not_fewer_than_two, "two are enough", "exactly|as many|come second"),
    one("09-write-the-dispatch", Dispatch(), in_bytes_of_kib, "1 KiB kept for the reductions", "64 bytes"),
    one("10-write-the-summary", quantile, from_milliseconds, "milliseconds", "1000|microsecond"),
    one("11-write-the-judge", by_counter, only_first, "only the first case", "case"),
    one("14-merge", by_log, smaller_maximum, "the smaller maximum", "greater|larger"),
    one("16-within-a-fifth", by_mask, factor_both_ways, "a factor of 1.2 both ways", "0.2 x measured|measured"),
)


KERNELS = (
    one(
        "0-double",
        changed(a.DOUBLE, ("2 * x[i]", "fmaf(x[i], 1.0f, x[i])")),
        changed(a.DOUBLE, ("threadIdx.x;", "threadIdx.x + 1;")),
        "from 1 on",
        "first|index 0|Each i|begin",
    ),
    one(
        "00-copy",
        changed(a.COPY, ("i * 256 + threadIdx.x", "threadIdx.x | i << 8")),
        changed(a.COPY, ("i * 256 + threadIdx.x", "i * 255 + threadIdx.x")),
        "255 for 256",
        "256|left out|twice",
    ),
    one(
        "01-log-sum-exp",
        changed(a.LOG, ("m + __logf(sum)", "fmaf(__log2f(sum), 0.69314718f, m)")),
        changed(a.LOG, ("i < cols; ++i) m", "i < cols - 1; ++i) m")),
        "the last number is not compared",
        "largest|row",
    ),
    one(
        "01-one-pass",
        changed(a.ONE_BRANCHLESS, ("while (p != end)", "#pragma unroll 2\n    while (p < end)")),
        changed(a.ONE, ("s += __expf(v - m)", "s += v - m")),
        "no exponential",
        "e\\^|exp",
    ),
    one(
        "02-copy-in-packs",
        changed(a.PACKS, ("to[i] = from[i]", "__stcs(to + i, __ldg(from + i))")),
        changed(a.PACKS, ("i < n / 4", "4 * i + 4 < n")),
        "the last pack is left out",
        "last|n / 4",
    ),
    one(
        "02-add-halves",
        changed(a.HALVES_BY_TWO, ("__hadd2(p[k], q[k])", "p[k] + q[k]")),
        changed(a.HALVES, ("reinterpret_cast<const uint4*>(b)[i]", "reinterpret_cast<const uint4*>(b)[0]")),
        "always the first pack of b",
        "pack i|8 \\* i",
    ),
    one(
        "03-write-the-butterfly",
        changed(a.WINGS, ("mask = 16; mask > 0; mask /= 2", "bit = 0; bit < 5; ++bit"), ("v, mask)", "v, 1 << bit)")),
        changed(a.WINGS, ("fmaxf", "fminf")),
        "the smallest",
        "larg|fmaxf",
    ),
    one(
        "03-softmax-of-eight",
        changed(a.EIGHT_OWN, ("v = exp2f((v - m) * 1.4426950408889634f)", "v = expf(v - m)")),
        changed(a.EIGHT, ("i / 8 < rows", "i / 8 <= rows")),
        "one row too many",
        "rows|last block",
    ),
    one(
        "04-turn-a-tile",
        changed(a.TURN, ("[33]", "[65]")),
        changed(a.TURN, ("[33]", "[48]")),
        "16 columns more",
        "odd|bank|16-way|2-way",
    ),
    one(
        "05-call-it-twice",
        changed(
            b.TWICE,
            ("one[32], two[32]", "both[64]"),
            ("x[i], one", "x[i], both"),
            ("centred, two", "centred, both + 32"),
        ),
        changed(b.TWICE, ("centred, two) / blockDim.x", "centred, two)")),
        "not divided by the number",
        "mean",
    ),
    one(
        "05-below-the-maximum",
        changed(b.BELOW, ("most = fmaxf(most, part[warp])", "if (part[warp] > most) most = part[warp]")),
        changed(b.BELOW, ("y[i] = x[i] - most", "y[i] = most - x[i]")),
        "the sign",
        "sign|minus|less|sign",
    ),
    one(
        "06-read-it-twice",
        changed(b.READ, ("float now = fmaxf(most, v);", "float now = v > most ? v : most;")),
        changed(b.READ, ("/ row_sum;", "* row_sum;")),
        "multiplied by the sum",
        "divi|/|divided",
    ),
    one(
        "07-give-registers-back",
        changed(b.GIVE, ("#pragma unroll 1", "#pragma unroll 2")),
        changed(b.GIVE, ("i < 48", "i < 47")),
        "47 numbers",
        "48",
    ),
    one(
        "10-make-it-read",
        changed(b.MAKE, ("if (threadIdx.x % 32 == 0) part", "if (!(threadIdx.x % warpSize)) part")),
        changed(b.MAKE, ("int far = 16", "int far = 8")),
        "four steps",
        "all threads|16|steps|five",
    ),
    one(
        "12-your-own-load",
        changed(b.LOAD, ("destination[i] / cap)", "__fdividef(destination[i], cap))")),
        changed(b.LOAD, ("tanhf(destination[i] / cap)", "atanf(destination[i] / cap)")),
        "the arc tangent",
        "tanh",
    ),
    one(
        "13-mend-the-difference",
        changed(b.DIFFERENCE, ("i < n - 1", "i + 2 <= n")),
        changed(b.DIFFERENCE, ("i < n - 1", "i > 0 && i < n - 1")),
        "the first is left out",
        "first|each i",
    ),
    one(
        "13-find-what-is-missing",
        changed(b.FIND, ("__syncthreads();", "__syncthreads_or(0);")),
        changed(b.FIND, ("255 - threadIdx.x", "threadIdx.x ^ 31")),
        "turned within a warp",
        "255",
    ),
    one(
        "13-let-all-lanes-help",
        changed(b.HELP, ("sum += part[warp]", "sum = part[warp] + sum")),
        changed(b.HELP, ("warp < 8", "warp < 7")),
        "the last warp left out",
        "eight",
    ),
    one(
        "14-pairs-of-a-warp",
        changed(b.PAIRS_ONCE, ("m, most);\n", "m, most), m = most;\n")),
        changed(b.PAIRS, ("y[2 * blockIdx.x + 1] = s", "y[2 * blockIdx.x + 1] = s * __expf(m)")),
        "the sum of e^x",
        "maximum|scale",
    ),
    one(
        "14-ask-the-cluster",
        changed(b.ASK, ("blockIdx.x / 4 * cols", "blockIdx.x / cluster.num_blocks() * cols")),
        changed(b.ASK, ("k < 4; ++k", "k < 3; ++k")),
        "one block not asked",
        "four|whole row|quarter|each",
    ),
    one(
        "17-neighbours-together",
        changed(b.NEAR, ("2 * x[", "2.0f * x[")),
        changed(b.NEAR, ("= 2 * x[row * cols + col]", "= 2 * x[row * cols + cols - 1 - col]")),
        "each row turned",
        "same place|same column",
    ),
)
OTHERS = NUMBERS + KERNELS
