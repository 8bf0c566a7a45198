"""A third batch: wrong answers alone, two per exercise, written and committed before any reply to them was seen.

The words of the hints are a guess at what a hint to the cause has to say. ``docs/teaching.md`` says what a strict
reading of the first replies gave.
"""

import numpy as np

from tests.course.answers import changed
from tests.course.others import Others, functions
from tests.course.others import kernels_a as a
from tests.course.others import kernels_b as b


def two(exercise, *wrong):
    """An exercise with wrong answers: (answer, its cause, words of a hint)."""
    return Others(exercise, (), wrong)


def last_maximum(x):
    d = x - x[-1]
    return d - np.log(np.exp(d).sum())


def mean_of_powers(x):
    d = x - x.max()
    return d - np.log(np.exp(d).mean())


def smallest_alike(blocks):
    return min(size for size in blocks if blocks[size] == blocks[128] and size > 128)


def more_than_half(blocks):
    return max(size for size in blocks if 2 * blocks[size] > blocks[128])


def last_half(times, nbytes, warm_up):
    rest = sorted(times[warm_up:])
    return nbytes / rest[-1] / 1000


def one_warm_up_too_many(times, nbytes, warm_up):
    return nbytes / np.median(times[warm_up + 1 :]) / 1000


def majority(mine, others, times):
    count = sum(m >= times * o for m, o in zip(mine, others, strict=True))
    return "holds" if count > len(mine) / 2 else "holds partly" if count else "does not hold"


def differences(mine, others, times):
    good = [m - o >= times for m, o in zip(mine, others, strict=True)]
    return "holds" if all(good) else "holds partly" if any(good) else "does not hold"


def minus_for_plus(a_max, a_sum, b_max, b_sum):
    m = max(a_max, b_max)
    return m, abs(a_sum * np.exp(a_max - m) - b_sum * np.exp(b_max - m))


def scaled_by_powers(a_max, a_sum, b_max, b_sum):
    return max(a_max, b_max), a_sum * np.exp(a_max) + b_sum * np.exp(b_max)


def root_of_squares(predicted, measured):
    p, m = np.array(predicted), np.array(measured)
    return float(np.sqrt(np.mean(((p - m) / m) ** 2)) <= 0.2)


def within_a_tenth(predicted, measured):
    p, m = np.array(predicted), np.array(measured)
    return float((np.abs(p - m) <= 0.1 * m + 1e-12).mean())


def edge_of_two_packs(op, cols, dtype):
    return functions.dispatched(op, cols, dtype, edge=2048)


def never_warp(op, cols, dtype):
    return functions.dispatched(op, max(cols, 2000), dtype)


OTHERS = (
    two(
        "0-double",
        (
            changed(a.DOUBLE, ("blockIdx.x * blockDim.x", "blockIdx.x * gridDim.x")),
            "grid for block",
            "number of blocks",
        ),
        (
            changed(a.DOUBLE, ("y[i] = 2 * x[i]", "y[i] = x[2 * i]")),
            "the index doubled",
            "made from|index|twice|2 \\* x",
        ),
    ),
    two(
        "00-copy",
        (changed(a.COPY, ("i < 4", "i < 3")), "three rounds for four", "never stored|256|four"),
        (changed(a.COPY, ("y[k] = x[k]", "y[k] = x[threadIdx.x]")), "always the first piece", "does not change"),
    ),
    two(
        "01-log-sum-exp",
        (changed(a.LOG, ("i = 0; i < cols; ++i) sum", "i = 1; i < cols; ++i) sum")), "first number not in sum", "x\\["),
        (changed(a.LOG, ("x[row * cols + i] - m", "x[row + i] - m")), "row not times cols", "row|cols"),
    ),
    two(
        "01-one-pass",
        (
            changed(a.ONE, ("s = s * __expf(m - v) + 1", "s = s * __expf(v - m) + 1")),
            "factor turned round",
            "old maximum - new maximum",
        ),
        (
            changed(a.ONE, ("s = s * __expf(m - v) + 1", "s = s * __expf(m - v)")),
            "the new number not added",
            "1|own|new",
        ),
    ),
    two(
        "02-copy-in-packs",
        (changed(a.PACKS, ("i += threads", "i += blockDim.x")), "blocks copy the same", "requests"),
        (changed(a.PACKS, ("to[i] = from[i]", "to[i] = from[n / 4 - 1 - i]")), "backwards", "revers|other places"),
    ),
    two(
        "02-add-halves",
        (changed(a.HALVES, ("k < 8; ++k", "k < 7; ++k")), "the eighth not added", "8|eight|nothing"),
        (changed(a.HALVES, ("p.elem[k] + q.elem[k]", "p.elem[k] + q.elem[0]")), "first of b's pack", "b\\["),
    ),
    two(
        "03-write-the-butterfly",
        (
            changed(a.WINGS, ("mask = 16; mask > 0", "mask = 16; mask > 1")),
            "the step over 1 is missing",
            "step|mask|five",
        ),
        (changed(a.WINGS, ("fmaxf(v, __shfl", "fmaxf(0, __shfl")), "0 for v", "0|begin|own"),
    ),
    two(
        "03-softmax-of-eight",
        (
            changed(a.EIGHT, ("float e = __expf(v - m), sum = e", "float e = __expf(v - m), sum = 0")),
            "sum of 0",
            "sum|0",
        ),
        (changed(a.EIGHT, ("y[i] = e / sum", "y[i] = e / (sum + e)")), "own power twice", "add up|divided|sum"),
    ),
    two(
        "04-turn-a-tile",
        (
            changed(a.TURN, ("= tile[threadIdx.x][threadIdx.y]", "= tile[threadIdx.y][threadIdx.x]")),
            "not turned",
            "turn|row",
        ),
        (changed(a.TURN, ("  __syncthreads();\n", "  __syncwarp();\n")), "a warp's barrier", "warp"),
    ),
    two(
        "05-call-it-twice",
        (changed(b.TWICE, ("centred * rsqrtf", "x[i] * rsqrtf")), "not centred at the end", "centred|mean"),
        (changed(b.TWICE, ("one[32], two[32]", "one[32], two[3]")), "too small", "two|bounds|elements"),
    ),
    two(
        "05-below-the-maximum",
        (changed(b.BELOW, ("y[i] = x[i] - most", "y[i] = x[i] - part[0]")), "the first warp's maximum", "warp|part"),
        (changed(b.BELOW, ("warp < blockDim.x / 32", "warp <= blockDim.x / 32")), "one warp too many", "written|warp"),
    ),
    two(
        "06-read-it-twice",
        (changed(b.READ, ("sum * __expf(most - row_max)", "sum")), "sums not scaled", "scale|maxim"),
        (
            changed(b.READ, ("__expf(x[col] - row_max) / row_sum", "__expf(x[col] - most) / row_sum")),
            "own most",
            "row_max|row",
        ),
    ),
    two(
        "07-give-registers-back",
        (
            changed(b.GIVE, ("i * 256 + threadIdx.x", "i + 48 * threadIdx.x")),
            "neighbouring numbers",
            "i \\* 256|x\\[|made",
        ),
        (changed(b.GIVE, ("m + __logf(s)", "__logf(s)")), "the maximum not added", "maximum"),
    ),
    two(
        "10-make-it-read",
        (changed(b.MAKE, ("i += gridDim.x * blockDim.x", "i += blockDim.x")), "blocks read the same", "grid"),
        (changed(b.MAKE, ("sum += part[warp]", "sum = part[warp]")), "last warp alone", "warp|nothing"),
    ),
    two(
        "12-your-own-load",
        (changed(b.LOAD, (b.CAPPED, "destination[i] = tanhf(destination[i] / cap);")), "not times cap", "cap"),
        (changed(b.LOAD, (b.CAPPED, "destination[i] = fminf(destination[i], cap);")), "clamped", "tanh"),
    ),
    two(
        "13-mend-the-difference",
        (changed(b.DIFFERENCE, ("x[i + 1] - x[i]", "x[i] - x[i + 1]")), "the sign", "sign"),
        (changed(b.DIFFERENCE, ("i < n - 1", "i < n - 2")), "the last difference left out", "last|n - 1"),
    ),
    two(
        "13-find-what-is-missing",
        (changed(b.FIND, ("part[255 - threadIdx.x]", "part[256 - threadIdx.x]")), "256 for 255", "255|bounds|256"),
        (changed(b.FIND, ("int first = blockIdx.x * 256;", "int first = 0;")), "all blocks the first piece", "block"),
    ),
    # The first of these was meant to be wrong: after a butterfly every lane has the sum, so lane 1 may store it.
    Others(
        "13-let-all-lanes-help",
        (changed(b.HELP, ("threadIdx.x % 32 == 0", "threadIdx.x % 32 == 1")),),
        ((changed(b.HELP, ("i < 4096; i += 256", "i < 4096; i += 255")), "steps of 255", "255|256|twice|count"),),
    ),
    two(
        "14-pairs-of-a-warp",
        (changed(b.PAIRS, ("y[2 * blockIdx.x] = m", "y[2 * blockIdx.x] = s")), "the sum twice", "maximum|y\\[0\\]"),
        (
            changed(b.PAIRS, ("col = threadIdx.x; col < cols", "col = threadIdx.x; col < cols - 1")),
            "the last number",
            "x\\[",
        ),
    ),
    two(
        "14-ask-the-cluster",
        (changed(b.ASK, ("y[blockIdx.x] = largest", "y[rank] = largest")), "rank for block", "stored|blockIdx|race"),
        (changed(b.ASK, (" + rank * quarter", "")), "all read the first quarter", "nothing|quarter"),
    ),
    two(
        "17-neighbours-together",
        (
            changed(b.NEAR, ("i / cols, col = i % cols", "i % rows, col = i / rows")),
            "down the columns",
            "next|neighbour|sector",
        ),
        (
            changed(b.NEAR, ("2 * x[row * cols + col]", "2 * x[col * rows + row]")),
            "transposed",
            "same place|places|made",
        ),
    ),
    two(
        "01-log-softmax",
        (last_maximum, "the last number for the maximum", "maximum|max"),
        (mean_of_powers, "the mean of the powers for the sum", "sum"),
    ),
    two(
        "08-write-the-rule",
        (smallest_alike, "the smallest alike, and none raises", "largest|min"),
        (more_than_half, "more than half of the blocks are enough", "exactly|as many"),
    ),
    two(
        "09-write-the-dispatch",
        (edge_of_two_packs, "warps up to 2048", "1024"),
        (never_warp, "short rows go to a block", "1024|warp"),
    ),
    two(
        "10-write-the-summary",
        (last_half, "the slowest", "middle|median"),
        (one_warm_up_too_many, "one time too many left out", "warm_up"),
    ),
    two(
        "11-write-the-judge",
        (majority, "most cases", "every case|each|all"),
        (differences, "a difference for a factor", "times"),
    ),
    two(
        "14-merge",
        (minus_for_plus, "the difference of the sums", "both sums|add"),
        (scaled_by_powers, "scaled by e^max, not by a difference", "greater maximum|relative"),
    ),
    two(
        "16-within-a-fifth",
        (root_of_squares, "one number for all: the mean error", "launch by launch|each|count"),
        (within_a_tenth, "a tenth", "0.2"),
    ),
    two(
        "00-half-the-bytes",
        (2**24 + 2**22, "float16 read, float32 written... a quarter too many", "read once|2 bytes"),
        (2**23 + 1, "one way, and one too many", "way|once"),
    ),
    two(
        "03-name-the-lanes",
        (0xFF, "the first eight", "lane 16|lanes"),
        (0xFF00, "the second eight", "lane 16|lanes"),
    ),
)
