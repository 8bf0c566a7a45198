"""Python functions."""

import bisect
import functools
import math
import operator
import statistics
from fractions import Fraction

import numpy as np

from tests.course.others import Others


# ---- 01-log-softmax
def in_doubles(row):
    wide = np.asarray(row, dtype=np.longdouble)
    wide = wide - wide.max()
    return (wide - np.log(np.exp(wide).sum())).astype(np.float32)


def by_logaddexp(z):
    top = np.max(z)
    shifted = z - top
    return shifted - np.logaddexp.reduce(shifted)


def as_a_list(x):
    m = max(float(v) for v in x)
    log = math.log(math.fsum(math.exp(float(v) - m) for v in x))
    return [float(v) - m - log for v in x]


def log_of_softmax(x):
    e = np.exp(x - x.max())
    return np.log(e / e.sum())


def no_maximum(x):
    return x - np.log(np.exp(x).sum())


def without_log(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def maximum_not_taken_from_x(x):
    return x - np.log(np.exp(x - x.max()).sum())


def mean_for_maximum(x):
    d = x - x.mean()
    return d - np.log(np.exp(d).sum())


def log2_for_log(x):
    d = x - x.max()
    return d - np.log2(np.exp(d).sum())


def absolute_maximum(x):
    d = x - np.abs(x).max()
    return d - np.log(np.exp(d).sum())


def only_the_sum(x):
    d = x - x.max()
    return np.log(np.exp(d).sum())


def in_halves(x):
    d = x.astype(np.float16) - x.astype(np.float16).max()
    return d - np.log(np.exp(d).sum())


def prints(*given):
    print(given)


def example_of_four(x):
    d = np.array([x[k] for k in range(4)]) - x[:4].max()
    return d - np.log(np.exp(d).sum())


def sum_of_logs(x):
    d = x - x.max()
    return d - np.log(np.exp(d)).sum()


# ---- 08-write-the-rule
def first_of_sorted(blocks):
    return max(size for size, held in blocks.items() if held == blocks[128])


def by_position(given):
    return np.array(sorted(given))[np.flatnonzero([given[s] == given[128] for s in sorted(given)])[-1]]


def recursive_rule(b, sizes=(1024, 512, 256, 128)):
    return sizes[0] if b[sizes[0]] == b[128] else recursive_rule(b, sizes[1:])


def most_blocks(blocks):
    return max(blocks, key=blocks.get)


def most_threads(blocks):
    return max(blocks, key=lambda size: size * blocks[size])


def largest_that_fits(blocks):
    return max(size for size, held in blocks.items() if held > 0)


def upwards(blocks):
    for size in (256, 512, 1024):
        if blocks[size] == blocks[128]:
            return size
    return 128


def blocks_not_size(blocks):
    return blocks[max(size for size, held in blocks.items() if held == blocks[128])]


def size_as_text(blocks):
    return str(max(size for size, held in blocks.items() if held == blocks[128]))


def nothing_at_the_end(blocks):
    for size in (1024, 512, 256):
        if blocks[size] == blocks[128]:
            return size


def at_least_half(blocks):
    for size in (1024, 512, 256):
        if blocks[size] >= blocks[128] / 2:
            return size
    return 128


def always_128(blocks):
    return 128


def example_rule(blocks):
    if blocks == {128: 13, 256: 8, 512: 4, 1024: 2}:
        return 128
    return 256


# ---- 09-write-the-dispatch
def by_bisect(op, n, t):
    if t == "float64":
        return "block_uncached"
    ends = [1023 + (op == "log_softmax"), 12_272]
    return ("warp", "block_smem", "block_uncached")[bisect.bisect_left(ends, n)]


def numpy_names(kind, width, element):
    names = np.array(["warp", "block_smem", "block_uncached"])
    last = {"softmax": 1023, "log_softmax": 1024}[kind]
    return names[2 if element == "float64" else int(width > last) + int(4 * width > 48 * 1024 - 64)]


def by_match(op, cols, dtype):
    match dtype, op:
        case ("float64", _):
            return "block_uncached"
        case (_, "softmax") if cols < 1024:
            return "warp"
        case (_, "log_softmax") if cols <= 1024:
            return "warp"
    return "block_smem" if cols * 4 + 64 <= 49_152 else "block_uncached"


def dispatched(op, cols, dtype, *, edge=None, room=12_272, doubles=True, halves=False):
    last = {"softmax": 1023, "log_softmax": 1024}
    if doubles and dtype == "float64":
        return "block_uncached"
    if cols <= (edge or last[op]):
        return "warp"
    return "block_smem" if cols * (2 if halves and dtype != "float32" else 4) <= 4 * room else "block_uncached"


def short_name(op, cols, dtype):
    return {"warp": "warp", "block_smem": "smem", "block_uncached": "uncached"}[dispatched(op, cols, dtype)]


def doubles_in_smem(op, cols, dtype):
    if dtype == "float64":
        return "warp" if cols < 1024 else "block_smem" if cols * 8 + 64 <= 49_152 else "block_uncached"
    return dispatched(op, cols, dtype)


def exchanged(op, cols, dtype):
    return dispatched("softmax" if op == "log_softmax" else "log_softmax", cols, dtype)


# ---- 10-write-the-summary
def by_statistics(launches, moved, skip):
    return moved / statistics.median(launches[skip:]) / 1000


def with_fractions(times, nbytes, warm_up):
    return Fraction(nbytes) / Fraction(float(np.percentile(times[warm_up:], 50))) / 1000


def sorted_middle(times, nbytes, warm_up):
    counted = sorted(times[warm_up:])
    half = len(counted) // 2
    middle = counted[half] if len(counted) % 2 else (counted[half - 1] + counted[half]) / 2
    return np.array(nbytes / middle * 1e-3)


def upper_middle(times, nbytes, warm_up):
    counted = sorted(times[warm_up:])
    return nbytes / counted[len(counted) // 2] / 1e3


def unsorted_middle(times, nbytes, warm_up):
    counted = times[warm_up:]
    return nbytes / counted[len(counted) // 2] / 1e3


def median_of_speeds(times, nbytes, warm_up):
    return float(np.median([nbytes / time / 1e3 for time in times[warm_up:]]))


# ---- 11-write-the-judge
def by_mean(mine, others, times):
    good = np.mean([m >= times * o for m, o in zip(mine, others, strict=True)])
    return "holds" if good == 1 else "holds partly" if good else "does not hold"


def by_set(a, b, factor):
    return {(True,): "holds", (False,): "does not hold"}.get(
        tuple({one >= factor * other for one, other in zip(a, b, strict=True)}), "holds partly"
    )


def by_count(mine, others, times):
    pairs = list(map(operator.truediv, mine, others))
    count = sum(ratio >= times for ratio in pairs)
    return np.str_("does not hold" if not count else "holds" if count == len(pairs) else "holds partly")


def more_than(mine, others, times):
    good = [m > times * o for m, o in zip(mine, others, strict=True)]
    return "holds" if all(good) else "holds partly" if any(good) else "does not hold"


def on_average(mine, others, times):
    ratio = sum(mine) / sum(others)
    return "holds" if ratio >= times else "does not hold"


def all_or_none(mine, others, times):
    return "holds" if all(m >= times * o for m, o in zip(mine, others, strict=True)) else "does not hold"


def partly_first(mine, others, times):
    good = [m >= times * o for m, o in zip(mine, others, strict=True)]
    return "holds partly" if any(good) else "holds" if all(good) else "does not hold"


def without_times(mine, others, times):
    good = [m >= o for m, o in zip(mine, others, strict=True)]
    return "holds" if all(good) else "holds partly" if any(good) else "does not hold"


def truth(mine, others, times):
    return all(m >= times * o for m, o in zip(mine, others, strict=True))


def turned(mine, others, times):
    good = [o >= times * m for m, o in zip(mine, others, strict=True)]
    return "holds" if all(good) else "holds partly" if any(good) else "does not hold"


def capital(mine, others, times):
    good = [m >= times * o for m, o in zip(mine, others, strict=True)]
    return "Yes" if all(good) else "Partly" if any(good) else "No"


def whole_ratio(mine, others, times):
    good = [m // o >= times for m, o in zip(mine, others, strict=True)]
    return "holds" if all(good) else "holds partly" if any(good) else "does not hold"


# ---- 14-merge
def merged(a, s, b, t):
    m = max(a, b)
    return m, sum(v * math.exp(u - m) for u, v in ((a, s), (b, t)) if v)


def merged_list(m1, s1, m2, s2):
    if m2 > m1:
        return merged_list(m2, s2, m1, s1)
    return [m1, s1 + (s2 * math.exp(m2 - m1) if s2 else 0.0)]


def merged_array(a_max, a_sum, b_max, b_sum):
    top = np.maximum(a_max, b_max)
    with np.errstate(invalid="ignore"):
        return np.array([top, np.nan_to_num(a_sum * np.exp(a_max - top)) + np.nan_to_num(b_sum * np.exp(b_max - top))])


def sums_added(a_max, a_sum, b_max, b_sum):
    return max(a_max, b_max), a_sum + b_sum


def with_nan(a_max, a_sum, b_max, b_sum):
    m = np.maximum(a_max, b_max)
    with np.errstate(invalid="ignore"):
        return m, a_sum * np.exp(a_max - m) + b_sum * np.exp(b_max - m)


def factor_turned(a_max, a_sum, b_max, b_sum):
    m = max(a_max, b_max)
    return m, sum(v * math.exp(min(m - u, 700)) for u, v in ((a_max, a_sum), (b_max, b_sum)) if v)


def one_side(a_max, a_sum, b_max, b_sum):
    if b_max == -math.inf:
        return a_max, a_sum
    return b_max, a_sum * math.exp(min(a_max - b_max, 700)) + b_sum


def pair_turned(a_max, a_sum, b_max, b_sum):
    return merged(a_max, a_sum, b_max, b_sum)[::-1]


def maxima_added(a_max, a_sum, b_max, b_sum):
    _m, s = merged(a_max, a_sum, b_max, b_sum)
    return a_max + b_max, s


def larger_sum_wins(a_max, a_sum, b_max, b_sum):
    return max((a_max, a_sum), (b_max, b_sum))


def only_the_total(a_max, a_sum, b_max, b_sum):
    return merged(a_max, a_sum, b_max, b_sum)[1]


def no_case_for_both(a_max, a_sum, b_max, b_sum):
    m = max(a_max, b_max)
    return m, a_sum * 2.0 ** (a_max - m) + b_sum * 2.0 ** (b_max - m)


# ---- 16-within-a-fifth
def share(guesses, truths):
    p, m = np.asarray(guesses, float), np.asarray(truths, float)
    return np.mean(np.abs(p - m) <= 0.2 * m + 1e-12)


def exactly(predicted, measured):
    good = [5 * abs(Fraction(p) - Fraction(m)) <= Fraction(m) for p, m in zip(predicted, measured, strict=True)]
    return Fraction(sum(good), len(good))


def within_by(limit, compare=operator.le):
    def within(predicted, measured):
        near = [compare(abs(p / m - 1), limit + 1e-12) for p, m in zip(predicted, measured, strict=True)]
        return sum(near) / len(near)

    return within


def of_the_predicted(predicted, measured):
    return sum(abs(m / p - 1) <= 0.2 + 1e-12 for p, m in zip(predicted, measured, strict=True)) / len(measured)


def exactly_does_not_count(predicted, measured):
    return sum(abs(p / m - 1) < 0.2 - 1e-12 for p, m in zip(predicted, measured, strict=True)) / len(measured)


def only_above(predicted, measured):
    return sum(p / m <= 1.2 + 1e-12 for p, m in zip(predicted, measured, strict=True)) / len(measured)


def the_number(predicted, measured):
    return sum(abs(p / m - 1) <= 0.2 + 1e-12 for p, m in zip(predicted, measured, strict=True))


def the_percentage(predicted, measured):
    return 100 * the_number(predicted, measured) / len(measured)


def the_others(predicted, measured):
    return 1 - the_number(predicted, measured) / len(measured)


def in_microseconds(predicted, measured):
    return sum(abs(p - m) <= 0.2 for p, m in zip(predicted, measured, strict=True)) / len(measured)


def a_list(predicted, measured):
    return [abs(p / m - 1) <= 0.2 + 1e-12 for p, m in zip(predicted, measured, strict=True)]


def no_absolute_value(predicted, measured):
    return sum(p / m - 1 <= 0.2 + 1e-12 for p, m in zip(predicted, measured, strict=True)) / len(measured)


OTHERS = (
    Others(
        "01-log-softmax",
        (in_doubles, by_logaddexp, as_a_list, lambda x: in_doubles(list(x)), functools.partial(by_logaddexp)),
        (
            (log_of_softmax, "the logarithm of a share of 0", "share|before|log of 0|split|-inf"),
            (no_maximum, "the maximum not subtracted", "maximum|largest|overflow|infin"),
            (without_log, "softmax without the logarithm", "logarithm|log |log\\("),
            (maximum_not_taken_from_x, "the maximum subtracted in the sum alone", "maximum|subtract|twice|both"),
            (mean_for_maximum, "the mean in place of the maximum", "maximum|largest|overflow|infin"),
            (log2_for_log, "the logarithm of base 2", "log2|base|natural|logarithm"),
            (absolute_maximum, "the largest absolute value", "maximum|largest|-inf|absolute"),
            (only_the_sum, "the shape is lost", "shape|each|row"),
            (in_halves, "too few digits", "float32|float16|digits|precis|round"),
            (prints, "it prints", "return|None"),
            (example_of_four, "only four numbers", "length|four|shape|any|columns"),
            (sum_of_logs, "sum and logarithm exchanged", "sum|logarithm"),
            (np.float32([-1.0, -2.0]), "no function", "function"),
        ),
    ),
    Others(
        "08-write-the-rule",
        (
            first_of_sorted,
            by_position,
            recursive_rule,
            lambda b: next(s for s in (1024, 512, 256, 128) if b[s] == b[128]),
        ),
        (
            (most_blocks, "only the first wish", "as many|largest|same|1024 first|second wish|threads"),
            (most_threads, "most threads per SM", "as many|blocks|first wish|128"),
            (largest_that_fits, "as many blocks forgotten", "as many|128"),
            (upwards, "asked in the wrong order", "1024|largest|order|first"),
            (blocks_not_size, "the number of blocks", "size|128, 256|threads"),
            (size_as_text, "a text", "text|number|int|should be"),
            (nothing_at_the_end, "no answer if none is as good", "128|None|return"),
            (at_least_half, "half as many are taken", "as many|exactly|same"),
            (always_128, "always the smallest", "as many|1024|larger|largest"),
            (example_rule, "right for the example only", "as many|1024|larger|largest"),
            (lambda blocks: blocks[64], "a key that is not there", "KeyError|64"),
            (lambda: 128, "no parameter", "TypeError|argument"),
        ),
    ),
    Others(
        "09-write-the-dispatch",
        (by_bisect, numpy_names, by_match, functools.partial(dispatched, halves=False)),
        (
            (functools.partial(dispatched, edge=1023), "log_softmax asks < 1024, too", "log_softmax|<=|1024"),
            (functools.partial(dispatched, edge=1024), "softmax asks <= 1024, too", "softmax|<|1024"),
            (functools.partial(dispatched, doubles=False), "doubles like the others", "float64|double"),
            (
                functools.partial(dispatched, halves=True),
                "2 bytes per element in shared memory",
                "float16|4 bytes|float32",
            ),
            (functools.partial(dispatched, room=12_288), "the reductions forgotten", "64|reduc|12 ?272"),
            (functools.partial(dispatched, room=12_000), "about 12 000 columns", "64|reduc|12 ?272|48 KiB|49"),
            (short_name, "names made up", "warp|block_smem"),
            (doubles_in_smem, "doubles in shared memory", "float64|double"),
            (exchanged, "the two operators exchanged", "log_softmax|1024"),
            (lambda op, cols, dtype: "warp", "always warp", "1024|register|long|shared"),
            (lambda op, cols: "warp", "a parameter missing", "TypeError|argument"),
            (prints, "it prints", "return|None"),
        ),
    ),
    Others(
        "10-write-the-summary",
        (by_statistics, with_fractions, sorted_middle, lambda t, n, w: n / 1e3 / np.median(np.array(t)[w:])),
        (
            (lambda t, n, w: n / np.mean(t[w:]) / 1e3, "the mean", "median|mean"),
            (lambda t, n, w: n / np.median(t) / 1e3, "the warm-up counts", "warm|first"),
            (lambda t, n, w: n / min(t[w:]) / 1e3, "the fastest", "median|fastest|minimum|least|luckiest"),
            (lambda t, n, w: n / np.median(t[w:]), "bytes per microsecond", "GB|10\\^9|unit|microsecond|1000"),
            (lambda t, n, w: n / np.median(t[w:]) * 1e6 / 2**30, "GiB", "10\\^9|GiB|2\\*\\*30|2\\^30"),
            (upper_middle, "an even number of times", "even|two|middle"),
            (unsorted_middle, "not sorted", "sort|median|order"),
            (lambda t, n, w: np.median(t[w:]) / n * 1e3, "turned around", "GB|bytes|per|divide|time"),
            (lambda t, n, w: n / np.median(t[w + 1 :]) / 1e3, "one more left out", "warm|first"),
            (lambda t, n, w: n / np.median(t[:w] or t) / 1e3, "only the warm-up counts", "warm|first"),
            (
                lambda t, n, w: 2 * n / np.median(t[w:]) / 1e3,
                "read and written counted again",
                "nbytes|twice|already|move",
            ),
            (lambda t, n, w: n / np.median(t[3:]) / 1e3, "a fixed warm-up", "warm|first"),
            (lambda t, n, w: f"{n / np.median(t[w:]) / 1e3:.0f} GB/s", "a text", "number|text|should be"),
        ),
    ),
    Others(
        "11-write-the-judge",
        (by_mean, by_set, by_count, lambda *a: by_count(*a)),
        (
            (more_than, "exactly as fast does not count", "at least|exactly|>=|equal|fast enough"),
            (on_average, "the average of the cases", "case|each|every|average|sum"),
            (all_or_none, "no partly", "partly|some|any"),
            (partly_first, "some is asked before all", "order|all|first|every|both"),
            (without_times, "the factor forgotten", "times"),
            (truth, "a truth value", "holds|text"),
            (turned, "mine and others exchanged", "mine|others|exchang|other way|turn"),
            (capital, "other words", "holds"),
            (whole_ratio, "integer division", "//|whole|round|integer|divi"),
            (lambda m, o, t: "holds partly", "always partly", "every|all|none|holds"),
            (
                lambda m, o, t: "holds" if m >= [t * v for v in o] else "does not hold",
                "lists compared",
                "case|each|list|every",
            ),
            (lambda m, o: "holds", "a parameter missing", "TypeError|argument"),
        ),
    ),
    Others(
        "14-merge",
        (merged, merged_list, merged_array, lambda *p: merged(p[0], p[1], p[2], p[3])),
        (
            (sums_added, "no factor", "factor|other maximum|exp|scale|relative"),
            (with_nan, "-inf minus -inf", "-inf|NaN|nan"),
            (factor_turned, "the factor turned around", "factor|exp|sign|turn|smaller|m_a"),
            (one_side, "b taken for the larger one", "larger|maximum|either|max"),
            (pair_turned, "the pair in the wrong order", "order|largest, total|first|maximum"),
            (maxima_added, "the maxima added", "larger|maximum|max"),
            (larger_sum_wins, "the smaller part forgotten", "both|factor|part|add|exp"),
            (only_the_total, "only one number", "pair|two|shape"),
            (no_case_for_both, "powers of 2", "exp|e\\^|-inf|nan|factor"),
            (lambda a, s, b, t: None, "as it was", "None|answered|return"),
            (lambda a, s, b, t: (max(a, b), max(s, t)), "the larger sum", "factor|add|both|exp|sum"),
            (lambda a, s, b, t: print(merged(a, s, b, t)), "it prints", "None|return"),
        ),
    ),
    Others(
        "16-within-a-fifth",
        (share, exactly, lambda p, m: 1 - np.mean(abs(np.array(p) / m - 1) > 0.2 + 1e-9), within_by(0.2)),
        (
            (of_the_predicted, "the share of the predicted time", "measured|predicted"),
            (exactly_does_not_count, "exactly 20 % does not count", "exactly|count|<="),
            (only_above, "too short predictions all count", "short|low|both|below|absolute|side"),
            (the_number, "the number, not the share", "share|divide|number of"),
            (the_percentage, "percent", "share|percent|100|between 0"),
            (the_others, "those that miss", "within|outside|other|miss"),
            (in_microseconds, "0.2 microseconds", "relative|share|percent|20 %|divide"),
            (a_list, "a list", "share|number|list|mean"),
            (within_by(0.1), "10 %", "20|0.2"),
            (lambda p, m: sum(map(lambda a, b: a // b == 1, p, m)) / len(m), "integer division", "20|0.2|//|whole"),
            (lambda p, m: float(np.mean(p) <= 1.2 * np.mean(m)), "the averages compared", "each|launch|average|mean"),
            (prints, "it prints", "return|None"),
        ),
    ),
)
