"""The kernels of the twenty-fifth set compute what they say.

The emulator finds no fault in a small launch of each.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache, reduce
from operator import xor

import numpy as np
import pytest

from tests.hardware import twenty_fifth_cases
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, from_bf16, rows_of
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twenty_fifth_cases import WORD, Given
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("streamed_slopes", "product_row_sizes", "dct_by_mma", "spike_lag_counts", "kth_in_tree")
PRIME = 998_244_353
small = SmallLaunches(twenty_fifth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel for case in twenty_fifth_cases.cases()}


# A problem per block.
@small("hysteresis_edges", 2, 96, numbers(2_048, 256, "u1"), zeros(2_048, "u1"), i(140), i(250))
def _(pictures, out, weak, strong):
    value, stay = pictures.reshape(2, 32, 32), pictures.reshape(2, 32, 32) >= strong
    rounds = 0
    while True:
        e = np.pad(stay, ((0, 0), (1, 1), (1, 1)))
        near = np.lib.stride_tricks.sliding_window_view(e, (3, 3), axis=(1, 2)).any(axis=(3, 4))
        more = near & (value >= weak)
        if (more == stay).all():
            break
        stay, rounds = more, rounds + 1
    assert rounds > 4
    return stay.ravel()


@small("flame_fronts", 2, 32, unit(100), zeros(100), i(50), i(9), f(0.02), smem=400, tolerance=1e-5)
def _(rings, out, points, steps, dt):
    x = rings.reshape(2, points).astype("f8")
    for _ in range(steps):
        bend = np.roll(x, 1, 1) - 2 * x + np.roll(x, -1, 1)
        fourth = np.roll(bend, 1, 1) - 2 * bend + np.roll(bend, -1, 1)
        x = x - 0.02 * (x * (np.roll(x, -1, 1) - np.roll(x, 1, 1)) / 2 + bend + fourth)
    return x.ravel()


@small("superset_totals", 2, 32, numbers(256, 900), zeros(256, "i4"), i(7), smem=512)
def _(costs, out, bits):
    masks = np.arange(128)
    held = (masks[:, None] & masks) == masks[:, None]
    return (costs.reshape(2, 128) @ held.T).ravel()


@small("burst_balloons", 2, 64, numbers(22, 100, "u1"), zeros(2, "i4"), i(11), smem=676)
def _(balloons, out, count):
    found = []
    for own in balloons.reshape(2, count).tolist():

        @lru_cache(None)
        def most(left, own=own):
            best = 0
            for k, balloon in enumerate(left):
                before, after = own[left[k - 1]] if k else 1, own[left[k + 1]] if k + 1 < len(left) else 1
                best = max(best, before * own[balloon] * after + most(left[:k] + left[k + 1 :]))
            return best

        found.append(most(tuple(range(count))))
    return found


@small("face_features", 2, 96, numbers(2 * 16_384, 256, "u1"), zeros(400, "i4"), i(200), smem=66_048)
def _(pictures, out, features):
    found = []
    for picture in pictures.reshape(2, 128, 128).astype(int):
        for word in hashes(np.arange(200)).tolist():
            x, y, half, high = 1 + word % 64, 1 + (word >> 8) % 96, 1 + (word >> 16) % 31, 1 + (word >> 24) % 31
            rows = picture[y : y + high]
            found.append(rows[:, x : x + half].sum() - rows[:, x + half : x + 2 * half].sum())
    return found


@small("rank_directory", 3, 96, numbers(250, WORD, "u4"), zeros(250, "i4"), zeros(3, "i4"), i(250), output=(1, 2))
def _(words, before, whole, n):
    ones = np.zeros((3, 96), int)
    ones.ravel()[:250] = [word.bit_count() for word in words.tolist()]
    return (ones.cumsum(axis=1) - ones).ravel()[:250], ones.sum(axis=1)


@small("ordered_peaks", 1, 64, numbers(250, 90), zeros(250, "i4"), zeros(1, "i4"), i(250), output=(1, 2))
def _(values, out, found, n):
    middle = values[1:-1]
    places = 1 + np.flatnonzero((middle > values[:-2]) & (middle > values[2:]))
    return np.pad(places, (0, 250 - len(places))), [len(places)]


@small("streamed_slopes", 2, 96, unit(2 * 3 * 1_024), zeros(2), i(3), tolerance=1e-3)
def _(points, out, tiles):
    return [np.polyfit(*line.T.astype("f8"), 1)[0] for line in points.reshape(2, -1, 2)]


# A problem per warp.
def _bits(words):
    return words[..., None] >> np.arange(32, dtype="u4") & 1


@small("bit_matrix_squares", 2, 64, numbers(96, WORD, "u4"), zeros(96, "u4"), i(3), i(6))
def _(matrices, out, n, rounds):
    x = _bits(matrices.reshape(3, 32))
    for r in range(rounds):
        x = x @ x % 2 ^ _bits(np.uint32(r))
    return (x.astype("u8") << np.arange(32, dtype="u8")).sum(axis=2).ravel()


@small("weighted_medians", 2, 64, numbers(96, 1 << 20), numbers(96, 256, "u1"), zeros(3, "i4"), i(3), output=2)
def _(values, weights, out, n):
    found = []
    for own, heavy in zip(values.reshape(3, 32), weights.reshape(3, 32).astype(int), strict=True):
        total, half = 0, heavy.sum() / 2
        for k in np.lexsort((heavy, own)):
            total += heavy[k]
            if total >= half:
                found.append(own[k])
                break
    return found


@small("shared_exponents", 2, 64, normal(96), zeros(96, "i1"), zeros(3, "u1"), i(3), output=(1, 2))
def _(values, out, exponents, n):
    x = values.reshape(3, 32).astype("f8")
    most = np.frexp(np.abs(x).max(axis=1))[1] - 1
    return np.clip(np.rint(np.ldexp(x, 6 - most[:, None])), -127, 127).ravel(), most + 127


@small("combined_splits", 2, 64, normal(3 * 5 * 64), normal(15), zeros(192), i(3), i(5), i(64), output=2,
       tolerance=1e-5)  # fmt: skip
def _(parts, logs, out, rows, splits, depth):
    weights = np.exp(logs.reshape(3, 5).astype("f8"))
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights[:, :, None] * parts.reshape(3, 5, 64)).sum(axis=1).ravel()


@small("product_row_sizes", 20, 64, *lists(40, 4), zeros(40, "i4"), i(40), output=2, smem=4_096)
def _(starts, members, out, n):
    rows = rows_of(starts, members)
    return [len({column for middle in row for column in rows[middle]}) for row in rows]


@small("patient_alarms", 9, 32, numbers(288, 256, "u1"), zeros(9, "i4"))
def _(values, out):
    off = np.abs(values.reshape(9, 32) - np.array(small.constants("normal_values")))
    return 10_000 * off.max(axis=1) + off.sum(axis=1)


@small("dct_by_mma", 2, 64, normal(768, "f2"), normal(256, "f2"), zeros(768), i(3), output=2, tolerance=5e-3,
       absolute=0.05)  # fmt: skip
def _(squares, cosines, out, n):
    c = cosines.reshape(16, 16).astype("f8")
    return (c @ squares.reshape(3, 16, 16).astype("f8") @ c.T).ravel()


# Atomics.
@small("spike_lag_counts", 2, 32, Given("sorted", "u4", 60, 3_000), zeros(7, "i4"), i(60), u(500), i(7), smem=28)
def _(times, out, n, window, bins):
    lags = [b - a for k, a in enumerate(times.tolist()) for b in times[k + 1 :].tolist()]
    return np.bincount([lag * 7 // 500 for lag in lags if lag < 500], minlength=7)


@small("trained_counts", 2, 32, numbers(50, WORD, "u4"), zeros(320, "i4"), i(50))
def _(records, out, n):
    found = np.zeros((4, 10, 8), int)
    for record in records.tolist():
        for feature in range(10):
            found[record >> 30, feature, record >> 3 * feature & 7] += 1
    return found.ravel()


@small("radon_shadows", 4, 32, unit(100), zeros(20 * 9 + 1), i(10), i(9), tolerance=1e-4)
def _(picture, out, side, angles):
    y, x = (axis.ravel() - 5 for axis in np.mgrid[:10, :10])
    found = np.zeros(20 * 9 + 1)
    for a in range(9):
        at = x * np.cos(np.pi * a / 48) + y * np.sin(np.pi * a / 48) + 10
        # Each point lights the screen like a tent of the width 2.
        found[20 * a : 20 * a + 20] = np.maximum(1 - np.abs(at - np.arange(20)[:, None]), 0) @ picture
    return found


@small("stripe_parities", 2, 64, numbers(32 * 23, WORD, "u4"), zeros(3, "u4"), i(23), i(3))
def _(words, out, groups, stripes):
    rows = words.reshape(23, 32)
    return [reduce(xor, rows[s::3].ravel().tolist()) for s in range(3)]


@small("touching_discs", 3, 64, numbers(450, 1 << 10), zeros(2_000, "u4"), zeros(1, "i4"), i(150), i(2_000),
       output=(1, 2), seen=np.sort)  # fmt: skip
def _(discs, pairs, count, n, room):
    discs = [(x, y, r % 64) for x, y, r in discs.reshape(150, 3).tolist()]
    found = [
        k << 16 | j
        for k, (x, y, r) in enumerate(discs)
        for j, (a, b, s) in enumerate(discs[:k])
        if math.dist((x, y), (a, b)) <= r + s
    ]
    assert len(found) > 50
    return np.sort(np.pad(found, (0, 2_000 - len(found)))), [len(found)]


@small("close_birthdays", 2, 64, numbers(100, 365, "u2"), zeros(1, "i4"), i(100))
def _(days, out, n):
    apart = (days[:, None].astype(int) - days) % 365
    return [np.triu((apart <= 1) | (apart == 364), 1).sum()]


# Texts and integers.
@small("lyndon_factors", 2, 32, numbers(40 * 12, 2, "u1"), zeros(40, "i4"), i(40), i(12))
def _(text, out, n, length):
    # A factor begins where the rest of the line is less than the line from any place before.
    rests = [[line[j:] for j in range(length)] for line in by_thread(text, n)]
    return [sum(all(rest < r for r in line[:j]) for j, rest in enumerate(line)) for line in rests]


@small("cascading_gems", 2, 32, numbers(40 * 30, 3, "u1"), zeros(40, "i4"), i(40), i(30))
def _(gems, out, n, moves):
    found = []
    for own in by_thread(gems, n):
        pile = ""
        for gem in own:
            pile = (pile + str(gem)).removesuffix(3 * str(gem))
        found.append(1_000 * len(pile) + moves - len(pile))
    return found


@small("lychrel_steps", 2, 25, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40), i(9))
def _(values, out, n, most):
    found = []
    for x in (values % 100_000).tolist():
        steps = 0
        while str(x) != str(x)[::-1] and steps < most:
            x, steps = x + int(str(x)[::-1]), steps + 1
        found.append(steps)
    assert len(set(found)) > 4
    return found


def _root(x):
    """The lesser square root of ``x`` modulo PRIME by Cipolla's way, or 0."""
    if pow(x, PRIME // 2, PRIME) != 1:
        return 0
    a = next(a for a in range(PRIME) if pow(a * a - x, PRIME // 2, PRIME) == PRIME - 1)
    squared = (a * a - x) % PRIME
    # (p, q) stands for p + q w, w w = squared.
    found, base, left = (1, 0), (a, 1), (PRIME + 1) // 2
    while left:
        for_found = base if left % 2 else (1, 0)
        found, base = (
            ((p[0] * q[0] + p[1] * q[1] * squared) % PRIME, (p[0] * q[1] + p[1] * q[0]) % PRIME)
            for p, q in ((found, for_found), (base, base))
        )
        left //= 2
    return min(found[0], PRIME - found[0])


@small("modular_roots", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40))
def _(values, out, n):
    found = [_root(x % PRIME) for x in values.tolist()]
    assert 9 < sum(map(bool, found)) < 31
    return found


@small("remedians", 2, 25, numbers(125 * 40, 256, "u1"), zeros(40, "u1"), i(40))
def _(marks, out, n):
    x = marks.reshape(5, 5, 5, 40)
    for _ in range(3):
        x = np.median(x, axis=-2)
    return x


@small("fenced_pastures", 3, 32, numbers(180, 1_024, "u2"), zeros(90, "u1"), i(90))
def _(cows, out, n):
    fences = np.array(small.constants("fences")).reshape(12, 6, 3)
    found = []
    for x, y in cows.reshape(90, 2).tolist():
        inside = (fences @ [x, y, -1] <= 0).all(axis=1)
        found.append(inside.argmax() if inside.any() else 255)
    assert len(set(found)) > 5
    return found


@small("hashed_gates", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40))
def _(words, out, n):
    gates = hashes(np.arange(7, 807)).tolist()
    found = []
    for x in words.tolist():
        y = WORD - 1 - x
        for s, gate in enumerate(gates):
            x = ((x ^ gate) * (gate | 1) + y) % WORD
            y = y & gate ^ x >> 3 + s % 11
        found.append(x ^ y)
    return found


# Graphs.
@small("many_source_step", 2, 32, *lists(40, 6), numbers(40, WORD, "u4"), numbers(40, 1 << 31, "u4"), zeros(40, "u4"),
       i(40), output=4)  # fmt: skip
def _(starts, members, front, seen, out, n):
    rows = rows_of(starts, members)
    return [np.bitwise_or.reduce(front[row]) & ~before if row else 0 for row, before in zip(rows, seen, strict=True)]


@small("kth_in_tree", 2, 32, Given("search tree", "i4", 400, 1 << 30), numbers(40, WORD, "u4"), zeros(40, "i4"), i(40),
       output=2)  # fmt: skip
def _(tree, asked, out, n):
    return np.sort(tree.reshape(100, 4)[:, 3])[asked % 100]


# Chance and physics.
@small("secretary_hires", 2, 32, zeros(40, "i4"), i(40), i(6), i(20), i(7), u(25), output=0)
def _(out, n, games, comers, looked, seed):
    found = []
    for k in range(n):
        luck, won = Rolled(k, seed), 0
        for _ in range(games):
            best = max(luck.word() for _ in range(looked))
            # Nobody asks for more after the one who is hired and the first better one.
            rest = (luck.word() for _ in range(comers - looked))
            hired = next((word for word in rest if word > best), None)
            won += hired is not None and all(word <= hired for word in rest)
        found.append(won)
    assert len(set(found)) > 3
    return found


@small("rasch_abilities", 2, 32, numbers(40, WORD, "u4"), zeros(40), i(40), i(9), tolerance=1e-4)
def _(answers, out, n, turns):
    hardness, right = np.array(small.constants("hardness")), _bits(answers).sum(axis=1)
    low, high = np.full(40, -9.0), np.full(40, 9.0)
    for _ in range(60):
        able = (low + high) / 2
        more = right - (1 / (1 + np.exp(hardness - able[:, None]))).sum(axis=1) - able / 4 > 0
        low, high = np.where(more, able, low), np.where(more, high, able)
    return low


@small("dipole_fields", 2, 32, unit(160), normal(160), zeros(120), i(40), output=2, smem=1_024, tolerance=1e-4,
       absolute=0.02)  # fmt: skip
def _(places, dipoles, out, n):
    p, m = (a.reshape(40, 4)[:, :3].astype("f8") for a in (places, dipoles))
    d = p[:, None] - p
    far = np.sqrt((d**2).sum(axis=2, keepdims=True) + 0.01)
    along = (m * d).sum(axis=2, keepdims=True)
    return (3 * along * d / far**5 - m / far**3).sum(axis=1).ravel()


@small("double_van_der_pol", 2, 32, unit(40, "f8"), zeros(40, "f8"), i(40), i(30), ("f8", 1.5), ("f8", 0.01),
       tolerance=1e-8)  # fmt: skip
def _(starts, out, n, steps, mu, dt):
    state = np.array([starts, np.zeros(40)])

    def change(s):
        return np.array([s[1], mu * (1 - s[0] ** 2) * s[1] - s[0]])

    # Steps of a tenth, so that this is nearer to the true curve.
    for _ in range(10 * steps):
        h = dt / 10
        a = change(state)
        b = change(state + h / 2 * a)
        c = change(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + change(state + h * c))
    return state[0]


# Pictures and networks.
@small("guided_upsampling", (2, 3), (16, 8), unit(8 * 6), unit(630), zeros(630), i(30), i(21), output=2,
       tolerance=1e-5)  # fmt: skip
def _(depths, grey, out, width, height):
    depth, g = depths.reshape(6, 8).astype("f8"), grey.reshape(21, 30).astype("f8")
    found = np.zeros((21, 30))
    for y in range(21):
        for x in range(30):
            total = weights = 0
            for b in (-1, 0, 1):
                for a in (-1, 0, 1):
                    i_, j = np.clip(x // 4 + a, 0, 7), np.clip(y // 4 + b, 0, 5)
                    apart = (x - 4 * i_) ** 2 + (y - 4 * j) ** 2
                    w = np.exp(-apart / 20 - 8 * (g[y, x] - g[4 * j, 4 * i_]) ** 2)
                    total, weights = total + w * depth[j, i_], weights + w
            found[y, x] = total / weights
    return found.ravel()


@small("curvature_flow", (2, 3), (16, 8), unit(630), zeros(630), i(30), i(21), f(0.1), tolerance=1e-4)
def _(heights, out, width, height, dt):
    e = np.pad(heights.reshape(21, 30).astype("f8"), 1, mode="edge")
    dy, dx = np.gradient(e)
    xx, yy = (np.diff(e, 2, axis=axis) for axis in (1, 0))
    xx, yy, own, gx, gy = xx[1:-1], yy[:, 1:-1], e[1:-1, 1:-1], dx[1:-1, 1:-1], dy[1:-1, 1:-1]
    xy = (e[2:, 2:] - e[2:, :-2] - e[:-2, 2:] + e[:-2, :-2]) / 4
    up = xx * gy**2 - 2 * gx * gy * xy + yy * gx**2
    return (own + 0.1 * up / (gx**2 + gy**2 + 1e-3)).ravel()


@small("transposed_in_place", (2, 2), (32, 4), unit(2_500), i(50), output=0)
def _(matrix, n):
    return matrix.reshape(50, 50).T.ravel()


@small("response_norms", (2, 7), 64, normal(630, high=3), zeros(630), i(7), i(90), tolerance=1e-5)
def _(values, out, channels, points):
    x = values.reshape(7, 90).astype("f8")
    e = np.pad(x**2, ((2, 2), (0, 0)))
    return (x * (2 + 0.1 * sum(e[j : j + 7] for j in range(5))) ** -0.75).ravel()


@small("bf16_pooled", 5, 32, numbers(2 * 81 * 9, 0x4000, "u2"), zeros(288, "u2"), i(9), i(9), seen=from_bf16)
def _(pictures, out, side, pairs):
    x = from_bf16(pictures).reshape(9, 9, 18)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
    return windows[::2, ::2].max(axis=(3, 4)).ravel()


@small("half_complex_walks", 2, 25, unit(80, "f2"), unit(80, "f2"), zeros(80, "f2"), i(40), i(9), output=2,
       tolerance=1e-2)  # fmt: skip
def _(starts, turns, out, n, steps):
    z, turn = (a.astype("f4").view("c8") for a in (starts, turns))
    for _ in range(steps):
        z = z * turn * 0.6 + 0.25 - 0.125j
    return z.view("f4")


@small("chi_square_pairs", (3, 3), (16, 16), unit(40 * 25), zeros(1_600), i(40), i(25), tolerance=1e-5)
def _(histograms, out, rows, bins):
    p = histograms.reshape(40, 25).astype("f8")
    return ((p[:, None] - p) ** 2 / (p[:, None] + p + 1e-6)).sum(axis=2).ravel()


# Streams.
@small("log_returns", 3, 25, unit(71), zeros(70), i(70), tolerance=1e-5)
def _(prices, out, n):
    return np.diff(np.log1p(prices.astype("f8")))


@small("adagrad_step", 1, 32, normal(90), unit(90), normal(90, high=2), i(90), f(0.01), output=(0, 1), tolerance=1e-5)
def _(weights, squares, slopes, n, rate):
    total = squares.astype("f8") + slopes.astype("f8") ** 2
    return weights - 0.01 * slopes / np.sqrt(total + 1e-8), total


@small("dequantised_rows", 3, 32, numbers(600, 128, "i1"), unit(3), zeros(600), i(50), output=2, tolerance=1e-6)
def _(values, scales, out, quads):
    return (values.reshape(3, 200) * scales[:, None]).ravel()


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twenty_fifth_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twenty_fifth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_no_row_of_a_product_fills_its_slots():
    """A warp of ``product_row_sizes`` has 512 slots."""
    for arguments in {case.arguments for case in twenty_fifth_cases.cases() if case.kernel == "product_row_sizes"}:
        rows = rows_of(*(a.make() for a in arguments[:2]))
        assert max(len({column for middle in row for column in rows[middle]}) for row in rows) < 400


def test_a_series_has_five_block_sizes_and_the_same_arguments():
    found = by_series(twenty_fifth_cases.cases()).values()
    assert {len(names) for names in found} == {5}
    assert len(found) >= 8
    given = Counter((case.series, case.arguments) for case in twenty_fifth_cases.cases() if case.series)
    assert set(given.values()) == {5}


def test_at_most_a_third_of_the_launches_are_streams():
    cases = twenty_fifth_cases.cases()
    assert 3 * sum(case.category in twenty_fifth_cases.DRAM for case in cases) <= len(cases)


def test_every_kernel_has_launches_whose_stalls_are_recorded():
    kernels = [case.kernel for case in twenty_fifth_cases.profiled()]
    assert set(kernels) == {case.kernel for case in twenty_fifth_cases.cases()}
    assert len(kernels) >= 44
