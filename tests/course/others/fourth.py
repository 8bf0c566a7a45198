"""A fourth batch: two wrong answers to each of 30 exercises, written and committed before any reply to them was seen.

At the end stand right answers in unusual form. The words of the hints are a guess at what a hint to the cause has to
say. ``docs/teaching.md`` says what a strict reading of the first replies gave.
"""

import math

import numpy as np

from tests.course.answers import changed
from tests.course.others import Others, functions
from tests.course.others import kernels_a as a
from tests.course.others import kernels_b as b
from tests.course.others.third import two


def eight_or_128(blocks):
    return max([size for size in blocks if blocks[size] >= 8], default=128)


def one_block_less(blocks):
    for size in (1024, 512, 256):
        if blocks[size] >= blocks[128] - 1:
            return size
    return 128


def halves_have_room(op, cols, dtype):
    if dtype == "float16" and cols <= 2048:
        return "warp"
    return functions.dispatched(op, cols, dtype)


def doubles_fit_half(op, cols, dtype):
    if dtype == "float64":
        return "block_smem" if cols * 8 + 64 <= 49_152 else "block_uncached"
    return functions.dispatched(op, cols, dtype)


def all_launches_together(times, nbytes, warm_up):
    return nbytes / sum(times[warm_up:]) / 1e3


def cut_at_the_end(times, nbytes, warm_up):
    return nbytes / np.median(times[: len(times) - warm_up]) / 1e3


def only_a_is_scaled(a_max, a_sum, b_max, b_sum):
    m = max(a_max, b_max)
    if m == -math.inf:
        return m, 0.0
    return m, a_sum * math.exp(a_max - m) + b_sum


def averaged(a_max, a_sum, b_max, b_sum):
    m, s = functions.merged(a_max, a_sum, b_max, b_sum)
    return m, s / 2


def in_double(x):
    wide = x.astype(np.float64)
    return (wide - wide.max() - np.log(np.exp(wide - wide.max()).sum())).astype(np.float32)


def by_sorting(blocks):
    return np.int64(sorted((held == blocks[128], size) for size, held in blocks.items())[-1][1])


def by_two_halves(times, nbytes, warm_up):
    counted = sorted(times[warm_up:])
    middle = (counted[(len(counted) - 1) // 2] + counted[len(counted) // 2]) / 2
    return np.float64(nbytes / middle * 1e-3)


def by_logarithms(a_max, a_sum, b_max, b_sum):
    m = max(a_max, b_max)
    return [m, sum(s * math.exp(u - m) for u, s in ((a_max, a_sum), (b_max, b_sum)) if s)]


def of_arrays(predicted, measured):
    p, m = np.array(predicted), np.array(measured)
    return np.mean(abs(p - m) <= 0.2 * m)


OTHERS = (
    two("01-largest-power", (4, "powers of 10", "10|e"), (710, "a double", "double|float16|65")),
    two(
        "02-one-sector-more",
        (33, "a sector per lane, and one more", "two lanes|lanes|bytes of a lane"),
        (15, "one less for one more", "more|16"),
    ),
    two("03-shuffles-of-a-group", (6, "added for multiplied", "times|multipl"), (3, "three for two rows", "steps")),
    two(
        "05-barriers-of-a-tree",
        (12, "one before and one after", "last|level"),
        (20, "two per level", "level|twice|one"),
    ),
    two("07-blocks-of-768", (72, "one unit too few", "unit|256"), (24, "the warps", "warps")),
    two("09-sixteen-lanes", (15, "the longest odd row", "shortest|shorter"), (20, "packs of 2, and even", "odd|pack")),
    two("11-rows-in-flight", (0.09375, "one row", "row|block"), (198, "16 blocks per SM", "16|blocks")),
    two("12-four-kernels", (66, "all of it twice", "twice|read"), (29, "one move left out", "read|write|each")),
    two("14-who-writes-to-me", (256, "sent and received", "twice|one|receive"), (8, "a value per block", "warp|block")),
    two("15-the-second-wait", (1, "the first line", "no number|first line|load"), (8, "the end", "line 7|load")),
    two(
        "08-write-the-rule",
        (eight_or_128, "eight blocks are enough", "as many|128"),
        (one_block_less, "one block less is as good", "exactly|as many"),
    ),
    two(
        "09-write-the-dispatch",
        (halves_have_room, "halves up to 2048", "float16"),
        (doubles_fit_half, "doubles in shared memory", "float64|double"),
    ),
    two(
        "10-write-the-summary",
        (all_launches_together, "the time of all launches", "median"),
        (cut_at_the_end, "the last ones left out, not the first", "first|warm_up"),
    ),
    two(
        "14-merge",
        (only_a_is_scaled, "b never scaled", "both|b_max|b_sum"),
        (averaged, "the average", "0.5|half|add|both sums"),
    ),
    two(
        "0-double",
        (changed(a.DOUBLE, ("2 * x[i]", "2 * x[n - 1 - i]")), "backwards", "revers|other places"),
        (changed(a.DOUBLE, ("2 * x[i]", "2 + x[i]")), "2 is added", "\\+|twice"),
    ),
    two(
        "00-copy",
        (changed(a.COPY, ("i * 256 + threadIdx.x", "threadIdx.x + i")), "a step of one", "never stored|twice"),
        (changed(a.COPY, ("y[k] = x[k]", "if (k % 2 == 0) y[k] = x[k]")), "the odd ones left out", "2nd|never stored"),
    ),
    two(
        "01-log-sum-exp",
        (changed(a.LOG, ("sum += __expf", "sum = __expf")), "the last power alone", "sum|nothing"),
        (changed(a.LOG, ("m + __logf", "m * __logf")), "multiplied", "times|add|\\+"),
    ),
    two(
        "01-one-pass",
        (changed(a.ONE, ("      m = v;\n", "")), "the maximum stays", "maximum|above 0"),
        (changed(a.ONE, ("s = s * __expf(m - v) + 1", "s = 1")), "the sum so far forgotten", "sum so far|left out"),
    ),
    two(
        "02-copy-in-packs",
        (changed(a.PACKS, ("to[i] = from[i]", "to[i] = from[0]")), "always the first pack", "nothing|other places"),
        (changed(a.PACKS, ("i < n / 4", "i < n / 8")), "half of the packs", "never stored|n / 4"),
    ),
    two(
        "02-add-halves",
        (changed(a.HALVES, ("q.elem[k]", "q.elem[7 - k]")), "b's pack backwards", "b\\[|made"),
        (changed(a.HALVES, ("p.elem[k] + q", "p.elem[k] * q")), "multiplied", "\\*|a \\+ b"),
    ),
    two(
        "03-write-the-butterfly",
        (changed(a.WINGS, ("mask /= 2", "mask /= 4")), "every second step", "16, 8, 4|five"),
        (
            changed(a.WINGS, ("y[i] = v", "y[threadIdx.x] = v")),
            "each block stores to the same place",
            "block|stored|race",
        ),
    ),
    two(
        "03-softmax-of-eight",
        (changed(a.EIGHT, ("mask > 0; mask /= 2) m", "mask > 2; mask /= 2) m")), "one step for the maximum", "maximum"),
        (changed(a.EIGHT, ("__expf(v - m)", "__expf(m - v)")), "the sign of the exponent", "sign|exponent|power"),
    ),
    two(
        "05-call-it-twice",
        (
            changed(b.TWICE, ("block_sum(x[i], one) / blockDim.x", "block_sum(x[i], one)")),
            "the sum, not the mean",
            "mean",
        ),
        (
            changed(b.TWICE, ("sum += part[warp]", "sum += part[0]")),
            "the first warp's sum each time",
            "warp|sum|nothing|shifted",
        ),
    ),
    two(
        "05-below-the-maximum",
        (
            changed(b.BELOW, ("i += blockDim.x) most", "i += 2 * blockDim.x) most")),
            "half of the numbers compared",
            "nothing|left out|too large|less x",
        ),
        (changed(b.BELOW, ("x[i] - most", "x[i] + most")), "added", "\\+|less|sign"),
    ),
    two(
        "06-read-it-twice",
        (changed(b.READ, ("+ __expf(v - now)", "+ __expf(v)")), "the maximum left in the sum", "divided|maxim"),
        (
            changed(b.READ, ("col += blockDim.x) y[col]", "col += 2 * blockDim.x) y[col]")),
            "half stored",
            "never stored",
        ),
    ),
    two(
        "10-make-it-read",
        (
            changed(b.MAKE, ("int i = blockIdx.x * blockDim.x + threadIdx.x", "int i = threadIdx.x")),
            "all blocks begin at 0",
            "count|nothing|two blocks",
        ),
        (changed(b.MAKE, ("y[blockIdx.x] = sum", "y[blockIdx.x] = sum / 32")), "a mean", "times|divided|sum"),
    ),
    two(
        "13-mend-the-difference",
        (changed(b.DIFFERENCE, ("x[i + 1] - x[i]", "x[i + 1] + x[i]")), "the sum", "\\+|x\\[i \\+ 1\\] - x"),
        (changed(b.DIFFERENCE, ("x[i + 1] - x[i]", "(x[i + 1] - x[i]) / 2")), "half", "0.5|half"),
    ),
    two(
        "13-find-what-is-missing",
        (
            changed(b.FIND, ("part[threadIdx.x] = x", "part[255 - threadIdx.x] = x")),
            "turned twice",
            "turned|order|place",
        ),
        (changed(b.FIND, ("t[first + threadIdx.x]", "t[threadIdx.x]")), "all blocks to one place", "block|stored"),
    ),
    two(
        "14-pairs-of-a-warp",
        (changed(b.PAIRS, ("others * __expf(other - now)", "others")), "the other sum not scaled", "factor|scaled"),
        (changed(b.PAIRS, ("col += 32", "col += 64")), "every second piece", "nothing|left out"),
    ),
    two(
        "17-neighbours-together",
        (changed(b.NEAR, ("i >= rows * cols", "i >= rows")), "a thread per row", "never stored|stored"),
        (changed(b.NEAR, ("col = i % cols", "col = i % rows")), "the column modulo the rows", "stored|column"),
    ),
    Others("01-log-softmax", (in_double,), ()),
    Others("08-write-the-rule", (by_sorting,), ()),
    Others("10-write-the-summary", (by_two_halves,), ()),
    Others("14-merge", (by_logarithms,), ()),
    Others("16-within-a-fifth", (of_arrays,), ()),
    Others("0-double", (changed(a.DOUBLE, ("2 * x[i]", "x[i] + x[i]")),), ()),
)
