"""The kernels of the eighteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import heapq
import math
import operator
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import eighteenth_cases
from tests.hardware.eighteenth_cases import Drawn
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, from_bf16, rows_of, turned
from tests.hardware.ninth_cases import Made, lists, normal, skewed, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import Array, f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("pool_with_places", "split_k_product", "lcs_by_words", "ballot_bins", "quick_select_rows")
WORD = 1 << 32
small = SmallLaunches(eighteenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in eighteenth_cases.cases()}


# Reductions and scans.
@small("halving_sums<128>", 3, 128, normal(3 * 4 * 150), zeros(3), i(150), tolerance=1e-3)
def _(numbers_, out, quads):
    return numbers_.reshape(-1, 4 * quads).astype("f8").sum(axis=1)


@small("double_column_norms", (2, 3), 32, normal(40 * 50, "f8"), zeros(50, "f8"), i(40), i(50), i(15), tolerance=1e-10)
def _(matrix, out, rows, columns, slab):
    return (matrix.reshape(rows, columns) ** 2).sum(axis=0)


@small("log_sum_exp_columns", 2, (32, 4), normal(23 * 45), zeros(45), i(23), i(45), tolerance=1e-4)
def _(matrix, out, rows, columns):
    return np.log(np.exp(matrix.reshape(rows, columns).astype("f8")).sum(axis=0))


@small("cumulative_rows", 3, 64, numbers(3 * 605, 1_000), zeros(3 * 605, "i4"), i(605))
def _(rows, out, length):
    return rows.reshape(-1, length).cumsum(axis=1).ravel()


@small("advantage_traces", 2, 32, normal(50 * 11), normal(50 * 12), zeros(550), i(50), i(11), f(0.99), f(0.9), output=2,
       tolerance=1e-4)  # fmt: skip
def _(rewards, values, out, games, steps, discount, trace):
    values = values.reshape(steps + 1, games).astype("f8")
    errors = rewards.reshape(steps, games) + discount * values[1:] - values[:-1]
    powers = (discount * trace) ** np.arange(steps)
    return np.concatenate([powers[: steps - t] @ errors[t:] for t in range(steps)])


# Pieces of networks.
@small("contrastive_losses", 20, 96, normal(20 * 64), normal(20 * 64), zeros(20), i(20), f(0.1), output=2,
       tolerance=1e-3)  # fmt: skip
def _(anchors, others, out, n, scale):
    scores = scale * anchors.reshape(n, 64).astype("f8") @ others.reshape(n, 64).T
    return np.log(np.exp(scores).sum(axis=1)) - scores.diagonal()


@small("windowed_attention", 5, 64, normal(10 * 64), normal(10 * 64, high=2), normal(10 * 64), zeros(640), i(10), i(4),
       output=3, tolerance=1e-3)  # fmt: skip
def _(queries, keys, values, out, n, window):
    q, k, v = (a.reshape(n, 64).astype("f8") for a in (queries, keys, values))
    weights = np.exp(q @ k.T / 8) * np.tri(n) * np.tri(n, k=window - 1).T
    return (weights / weights.sum(axis=1, keepdims=True) @ v).ravel()


@small("ternary_products", 2, 64, numbers(3 * 40, WORD, "u4"), normal(640), zeros(3), i(3), i(40), output=2,
       tolerance=1e-3)  # fmt: skip
def _(weights, x, out, rows, words):
    codes = weights[:, None] >> np.arange(0, 32, 2, dtype="u4") & 3
    return np.array([0.0, 1, -1, 0])[codes].reshape(rows, -1) @ x


BF16 = Made("bf16", "u2", 200, 1)


@small("geglu_gradients", 2, 32, BF16, BF16, Made("bf16", "u2", 200, 2), zeros(200, "u2"), zeros(200, "u2"), i(100),
       output=(3, 4), seen=from_bf16, tolerance=2e-2)  # fmt: skip
def _(gradients, a, b, to_a, to_b, pairs):
    g, x, y = map(from_bf16, (gradients, a, b))
    gelu = lambda v: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))  # noqa: E731
    return g * gelu(y), g * x * (gelu(y + 1e-5) - gelu(y - 1e-5)) / 2e-5


@small("pool_with_places", (1, 2), (16, 4), numbers(21 * 12, 10_000), zeros(50, "i4"), zeros(50, "i4"), i(21), i(12),
       output=(1, 2))  # fmt: skip
def _(picture, out, places, width, height):
    windows = np.lib.stride_tricks.sliding_window_view(picture.reshape(height, width), (3, 3))[::2, ::2]
    windows = windows.reshape(*windows.shape[:2], 9)
    y, x = np.indices(windows.shape[:2]) * 2
    best = windows.argmax(axis=2)
    return windows.max(axis=2).ravel(), ((y + best // 3) * width + x + best % 3).ravel()


@small("unpool_add", 2, 64, numbers(100, 1_000), numbers(100, 30), zeros(30, "i4"), i(100), output=2)
def _(gradients, places, out, n):
    return np.bincount(places, gradients, 30)


@small("causal_taps", (2, 3), 32, normal(40 * 20), normal(4 * 40), zeros(800), i(40), i(20), i(8), output=2,
       tolerance=1e-3)  # fmt: skip
def _(signal, taps, out, channels, length, piece):
    padded = np.pad(signal.reshape(length, channels).astype("f8"), ((3, 0), (0, 0)))
    sums = sum(taps.reshape(channels, 4)[:, j] * padded[j : j + length] for j in range(4))
    return (sums / (1 + np.exp(-sums))).ravel()


@small(
    "nesterov_step",
    2,
    32,
    normal(100, "f2"),
    normal(100),
    normal(100, high=2),
    zeros(100, "f2"),
    i(50),
    f(0.1),
    f(0.9),
    output=(1, 2),
    tolerance=1e-4,
)
def _(gradients, weights, speeds, short_weights, pairs, rate, kept):
    g, v = gradients.astype("f8"), kept * speeds.astype("f8")
    return weights - rate * (g + kept * (v + g)), v + g


@small("additive_scores", 3, 64, normal(5 * 45), normal(45), normal(45), zeros(5), i(5), i(45), output=3,
       tolerance=1e-4)  # fmt: skip
def _(keys, query, weights, out, n, size):
    return np.tanh(keys.reshape(n, size).astype("f8") + query) @ weights


@small("delta_rule_heads", 2, 64, unit(3 * 7 * 32), normal(3 * 7 * 32), normal(3 * 7 * 32), zeros(672), i(3), i(7),
       f(0.05), output=3, tolerance=1e-3)  # fmt: skip
def _(keys, queries, values, out, heads, steps, rate):
    k, q, v = (a.reshape(heads, steps, 32).astype("f8") for a in (keys, queries, values))
    found, memory = np.zeros_like(k), np.zeros((heads, 32, 32))
    for t in range(steps):
        known = np.einsum("hi,hij->hj", k[:, t], memory)
        memory += rate * k[:, t, :, None] * (v[:, t] - known)[:, None]
        found[:, t] = np.einsum("hi,hij->hj", q[:, t], memory)
    return found.ravel()


@small("triplet_margins", 3, 64, normal(20 * 64, "f2"), numbers(15, 20), zeros(5), i(5), f(9), output=2, tolerance=0.3)
def _(table, triplets, out, n, margin):
    a, b, c = table.astype("f8").reshape(-1, 64)[triplets.reshape(n, 3)].swapaxes(0, 1)
    return np.maximum(0, ((a - b) ** 2).sum(axis=1) - ((a - c) ** 2).sum(axis=1) + margin)


@small("spline_edges", 2, 64, unit(12 * 7), normal(7 * 9 * 8), zeros(108), i(12), i(7), i(9), output=2, tolerance=1e-4)
def _(x, coefficients, out, samples, inputs, outputs):
    def bump(t):
        t = abs(t)
        return np.where(t < 1, 2 / 3 - t**2 + t**3 / 2, np.where(t < 2, (2 - t) ** 3 / 6, 0))

    weights = bump(x.reshape(samples, inputs, 1).astype("f8") * 5 - np.arange(-1, 7))
    return np.einsum("sjc,joc->so", weights, coefficients.reshape(inputs, outputs, 8)).ravel()


@small("low_rank_updates", 3, 96, normal(3 * 101), normal(8 * 101), normal(8 * 101, high=2), zeros(303), i(101),
       output=3, tolerance=1e-3)  # fmt: skip
def _(x, down, up_, out, width):
    x = x.reshape(-1, width).astype("f8")
    return (x + x @ down.reshape(8, width).T @ up_.reshape(8, width)).ravel()


@small(
    "causal_scores_mma",
    9,
    64,
    Drawn("bf16 pairs", "u4", 48 * 16, 1),
    Drawn("bf16 pairs", "u4", 48 * 16, 2),
    zeros(48 * 48),
    i(48),
    i(32),
    output=2,
    tolerance=1e-3,
)
def _(queries, keys, out, n, size):
    shown = np.kron(np.tri(n // 16), np.ones((16, 16)))
    return (
        from_bf16(queries.view("u2")).reshape(n, size) @ from_bf16(keys.view("u2")).reshape(n, size).T * shown
    ).ravel()


# Linear algebra.
@small("split_k_product", (2, 2, 3), (16, 16), numbers(20 * 50, 9, "f4"), numbers(50 * 25, 9, "f4"), zeros(500), i(20),
       i(25), i(50), i(18), output=2)  # fmt: skip
def _(a, b, c, m, n, inner, slice_):
    return (a.reshape(m, inner) @ b.reshape(inner, n)).ravel()


@small("kronecker_apply", 2, 64, normal(81), normal(81, high=2), normal(2 * 81), zeros(162), i(9), smem=648, output=3,
       tolerance=1e-3)  # fmt: skip
def _(a, b, vectors, out, size):
    whole = np.kron(a.reshape(size, size).astype("f8"), b.reshape(size, size))
    return (vectors.reshape(-1, size * size) @ whole.T).ravel()


@small("toeplitz_apply", 2, 32, normal(2 * 50 - 1), normal(50), zeros(50), i(50), smem=128, output=2, tolerance=1e-3)
def _(terms, vector, out, n):
    k = np.arange(n)
    return terms.astype("f8")[k[:, None] - k + n - 1] @ vector


# Sparse matrices and graphs.
@small("balanced_spmv", 2, 32, *lists(60, 5), numbers(300, 9, "f4"), numbers(60, 9, "f4"), zeros(60), i(60), i(300),
       i(7), output=4)  # fmt: skip
def _(starts, members, values, x, out, rows, size, each):
    return [values[a:b] @ x[members[a:b]] for a, b in pairwise(starts)]


@small("symbolic_widths", 8, 64, Array("offsets", "i4", 16, 4), numbers(60, 15), zeros(15, "i4"), i(15), smem=4_096,
       output=2)  # fmt: skip
def _(starts, members, out, rows):
    near = rows_of(starts, members)
    return [len({c for m in row for c in near[m]}) for row in near]


@small("neighbour_means", 8, 64, *lists(15, 4), normal(15 * 32), zeros(480), i(15), output=3, tolerance=1e-4)
def _(starts, members, features, out, nodes):
    features = features.reshape(nodes, 32).astype("f8")
    return np.concatenate([features[row].sum(axis=0) / max(len(row), 1) for row in rows_of(starts, members)])


@small("sampled_neighbours", 3, 32, *lists(15, 4), zeros(90, "i4"), i(15), i(6), u(3), output=2)
def _(starts, members, out, nodes, draws, seed):
    near = rows_of(starts, members)
    found = []
    for k in range(nodes * draws):
        row = near[k // draws]
        found.append(row[Rolled(k, seed).below(len(row))] if row else -1)
    return found


@small("union_edges", 2, 32, numbers(2 * 100, 80), zeros(160, "i4"), i(80), i(50), smem=320)
def _(edges, out, nodes, each):
    found = []
    for own in edges.reshape(-1, each, 2).tolist():
        parts = {k: {k} for k in range(nodes)}
        for a, b in own:
            parts[a] |= parts[b]
            parts.update(dict.fromkeys(parts[a], parts[a]))
        found += [min(parts[k]) for k in range(nodes)]
    return found


# Strings and hashing.
@small("kmp_counts", 2, 32, numbers(500, 2, "u1"), Drawn("pattern", "u1", 5, 2), Drawn("backs", "i4", 5, 2),
       zeros(50, "i4"), i(500), i(5), i(10), output=3)  # fmt: skip
def _(text, pattern, backs, out, size, length, piece):
    same = (np.lib.stride_tricks.sliding_window_view(np.append(text, [9] * 4), length) == pattern).all(axis=1)
    return same.reshape(-1, piece).sum(axis=1)


@small("bitap_changed", 2, 32, numbers(50 * 40, 4, "u1"), Drawn("masks", "u4", 256, 7), zeros(50, "i4"), i(50), i(40),
       u(64), output=2)  # fmt: skip
def _(texts, masks, out, n, length, last):
    pattern = [next(c for c in range(256) if masks[c] >> j & 1) for j in range(7)]
    # A place before the text matches nothing, so it counts as changed.
    texts = np.pad(texts.reshape(n, length), ((0, 0), (6, 0)), constant_values=9)
    windows = np.lib.stride_tricks.sliding_window_view(texts, 7, axis=1)
    return ((windows != pattern).sum(axis=2) <= 2).sum(axis=1)


@small("lcs_by_words", 2, 32, numbers(50 * 64, 4, "u1"), numbers(50 * 30, 4, "u1"), zeros(50, "i4"), i(50), i(30),
       output=2)  # fmt: skip
def _(firsts, seconds, out, n, length):
    found = []
    for a, b in zip(firsts.reshape(n, 64).tolist(), by_thread(seconds, n), strict=True):
        best = [0] * 65
        for letter in b:
            before, best = best, [0]
            for j, other in enumerate(a):
                best.append(before[j] + 1 if other == letter else max(before[j + 1], best[j]))
        found.append(best[64])
    return found


@small("wide_mix_records", 2, 32, numbers(50 * 6, 1 << 63, "u8"), skewed(50, 6), zeros(50, "u8"), i(50), output=2)
def _(words, starts, out, n):
    found = []
    for a, b in pairwise(starts.tolist()):
        state = 0x9E3779B97F4A7C15 ^ b - a
        for word in words[a:b].tolist():
            product = (word ^ 0xA0761D6478BD642F) * (state ^ 0xE7037ED1A0B428DB)
            state = product % 2**64 ^ product >> 64
        found.append(state ^ state >> 32)
    return np.array(found, "u8")


# Sorting and counting.
@small("heap_sorted_rows", 2, 32, numbers(50 * 37, 1_000, "u2"), zeros(50 * 37, "u2"), i(50), i(37))
def _(rows, out, n, length):
    return np.sort(rows.reshape(length, n), axis=0).ravel()


@small("quick_select_rows", 2, 32, numbers(50 * 45, 60), zeros(50, "i4"), i(50), i(45), i(17))
def _(rows, out, n, length, rank):
    return np.sort(rows.reshape(n, length), axis=1)[:, rank]


@small("kth_by_halving", 3, 64, numbers(3 * 333, 1 << 20), zeros(3, "i4"), i(333), i(100))
def _(rows, out, length, rank):
    return np.sort(rows.reshape(-1, length), axis=1)[:, rank]


@small("key_value_bitonic", 2, 128, numbers(2_048, 900, "u4"), zeros(2_048, "u4"), zeros(2_048, "u4"), output=(1, 2))
def _(keys, out, places):
    keys = keys.reshape(2, 1_024)
    return np.sort(keys, axis=1).ravel(), np.argsort(keys, axis=1, kind="stable").ravel()


@small("ballot_bins", 2, 64, numbers(500, 8, "u1"), zeros(8, "i4"), i(500), i(133))
def _(kinds, out, n, each):
    return np.bincount(kinds, minlength=8)


@small("exponent_bins", 2, 64, normal(500, high=50), zeros(256, "u4"), i(500))
def _(values, out, n):
    return np.bincount(np.frexp(values)[1] + 126, minlength=256)


# Simulations.
@small("membrane_step", (3, 2), (16, 8), normal(37 * 13), normal(37 * 13, high=2), zeros(37 * 13), i(37), i(13), f(0.3),
       smem=720, output=2, tolerance=1e-4)  # fmt: skip
def _(now, before, out, width, height, speed):
    u = np.pad(now.reshape(height, width).astype("f8"), 1)
    bent = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return 2.0 * now - before + speed * bent.ravel()


@small("burgers_lines", 2, 32, unit(2 * 75), zeros(150), i(75), i(9), f(0.4), smem=600, tolerance=1e-4)
def _(lines, out, cells, steps, step):
    v = lines.reshape(-1, cells).astype("f8")
    for _ in range(steps):
        v = v - step * (v**2 - np.roll(v, 1, axis=1) ** 2) / 2
    return v.ravel()


@small("forest_fires", (2, 2), (16, 8), numbers(20 * 13, 3, "u1"), zeros(260, "u1"), i(20), i(13), u(5))
def _(forest, out, width, height, seed):
    rolls = hashes(np.arange(width * height) ^ int(seed)).reshape(height, width)
    woods = forest.reshape(height, width)
    near = np.any([np.roll(woods == 2, d, axis) for d in (1, -1) for axis in (0, 1)], axis=0)
    burns = near | (rolls % 5_000 == 0)
    return np.where(woods == 0, rolls % 100 < 5, np.where(woods == 1, 1 + burns, 0)).ravel()


@small("mirrored_rotors", 2, 64, unit(100, high=6), zeros(100), i(10), i(1), seen=lambda a: np.exp(1j * a),
       tolerance=1e-4)  # fmt: skip
def _(angles, out, side, odd):
    way = np.exp(1j * angles.astype("f8")).reshape(side, side)
    sums = sum(np.roll(way, d, axis) for d in (1, -1) for axis in (0, 1))
    mirrored = (sums / abs(sums)) ** 2 * way.conj()
    return np.where(np.indices((side, side)).sum(axis=0) % 2 == odd, mirrored, way).ravel()


@small("minmod_transport", 3, 64, normal(3 * 50), zeros(150), i(3), i(50), f(0.4), tolerance=1e-4)
def _(density, out, rows, cells, share):
    u = density.reshape(rows, cells).astype("f8")
    steps = u - np.roll(u, 1, axis=1)
    after = np.roll(steps, -1, axis=1)
    slopes = np.where(steps * after > 0, np.sign(steps) * np.minimum(abs(steps), abs(after)), 0)
    edges = u + (1 - share) / 2 * slopes
    return (u - share * (edges - np.roll(edges, 1, axis=1))).ravel()


@small("residual_norm", (2, 3), (16, 4), normal(30 * 12, "f8"), normal(30 * 12, "f8", 2), zeros(1, "f8"), i(30), i(12),
       output=2, tolerance=1e-9)  # fmt: skip
def _(u_, right, out, width, height):
    v = u_.reshape(height, width)
    bent = 4 * v[1:-1, 1:-1] - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]
    return ((right.reshape(height, width)[1:-1, 1:-1] - bent) ** 2).sum()


@small("outbreaks", 2, 32, zeros(50, "i4"), i(50), i(40), u(15), u(6), output=0)
def _(out, n, people, contagion, seed):
    found = []
    for k in range(n):
        random, healthy, ill = Rolled(k, seed), int(people) - 1, 1
        while ill:
            catching = int(contagion) * healthy
            caught = random.below(catching + 10 * int(people)) < catching
            healthy, ill = healthy - caught, ill + (1 if caught else -1)
        found.append(people - healthy)
    return found


@small("knock_out_options", 2, 32, zeros(50), i(50), i(12), f(0.01), f(0.1), f(0.3), u(9), output=0, tolerance=1e-3)
def _(out, n, steps, drift, spread, barrier, seed):
    found = []
    for k in range(n):
        random, price, most = Rolled(k, seed), 0.0, -1.0
        for _ in range(steps):
            a, b = random.part(), random.part()
            price += drift + spread * math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
            most = max(most, price)
        found.append(max(math.exp(price) - 1, 0) if most < barrier else 0)
    assert len(set(found)) > 5
    return found


@small("ruined_players", 2, 32, zeros(50, "i4"), i(50), i(4), i(9), u(2), output=0)
def _(out, n, coins, goal, seed):
    found = []
    for k in range(n):
        random, held, throws, bits = Rolled(k, seed), int(coins), 0, 0
        while 0 < held < goal:
            bits = random.word() if throws % 32 == 0 else bits >> 1
            held += 1 if bits & 1 else -1
            throws += 1
        found.append(throws if held else -throws)
    return found


@small("combined_recurrences", 2, 32, zeros(50, "u8"), i(50), i(20), output=0)
def _(out, n, draws):
    m, p, found = 4294967087, 4294944443, []
    for k in range(n):
        words = hashes(6 * k + np.arange(6)).tolist()
        a, b, total = [w % m for w in words[:3]], [w % p for w in words[3:]], 0
        for _ in range(draws):
            a = [*a[1:], (1403580 * a[1] - 810728 * a[0]) % m]
            b = [*b[1:], (527612 * b[2] - 1370589 * b[0]) % p]
            total += (a[2] - b[2]) % m
        found.append(total)
    return found


@small("four_word_streams", 2, 32, zeros(50, "u8"), i(50), i(20), output=0)
def _(out, n, draws):
    def turn(x, by):
        return (x << by | x >> 64 - by) % 2**64

    found = []
    for k in range(n):
        a, b, c, d = hashes(k + np.arange(4)).tolist()
        a, total = a | 1, 0
        for _ in range(draws):
            total += turn(b * 5 % 2**64, 7) * 9
            shifted = (b << 17) % 2**64
            c, d = c ^ a, d ^ b
            b, a = b ^ c, a ^ d
            c, d = c ^ shifted, turn(d, 45)
        found.append(total % 2**64)
    return np.array(found, "u8")


@small("lagged_draws", 2, 32, zeros(50, "u4"), i(50), i(70), output=0)
def _(out, n, draws):
    found = []
    for k in range(n):
        words, folded = hashes(55 * k + np.arange(55)).tolist(), 0
        for _ in range(draws):
            words.append((words[-55] + words[-24]) % WORD)
            folded = folded * 33 % WORD ^ words[-1]
        found.append(folded)
    return found


@small("orbit_leaps", 2, 32, unit(50, "f8"), zeros(50, "f8"), i(50), i(30), ("f8", 0.02), tolerance=1e-9)
def _(starts, out, n, steps, step):
    place, speed = 1 + starts + 0j, 1j
    for _ in range(steps):
        place = place + step / 2 * speed
        speed = speed - step * place / abs(place) ** 3
        place = place + step / 2 * speed
    return abs(place)


@small("dimer_swings", 2, 32, unit(50), zeros(50), i(50), i(30), f(0.1), tolerance=1e-3)
def _(starts, out, n, steps, step):
    apart, speed, held = starts.astype("f8"), 0, 0
    for _ in range(steps):
        apart = apart + step * speed
        lack = 1 - np.exp(-apart)
        speed, held = speed - 2 * step * lack * (1 - lack), held + lack**2
    return held


# Small matrices.
@small("matrix_exponentials", 2, 32, normal(9 * 50, "f8"), zeros(450, "f8"), i(50), i(6), tolerance=1e-8)
def _(matrices, out, n, halvings):
    found = []
    for row in by_thread(matrices, n):
        values, vectors = np.linalg.eig(np.reshape(row, (3, 3)))
        found.append((vectors * np.exp(values) @ np.linalg.inv(vectors)).real)
    return np.reshape(found, (n, 9)).T.ravel()


@small("polar_rotations", 2, 32, unit(450), zeros(450), i(50), i(8), tolerance=1e-4)
def _(matrices, out, n, turns):
    left, _, right = np.linalg.svd(matrices.reshape(n, 3, 3).astype("f8") + 2 * np.eye(3))
    return (left @ right).ravel()


@small("outer_tiles<2>", (2, 2), 256, numbers(64 * 24, 9, "f4"), numbers(64 * 24, 8, "f4"), zeros(4_096), i(64), i(24),
       output=2)  # fmt: skip
def _(a, b, c, n, inner):
    return (a.reshape(n, inner) @ b.reshape(inner, n)).ravel()


@small("coupled_lanes", 2, 64, unit(96), unit(96, high=-1), normal(96), zeros(96), i(3), output=3, tolerance=1e-3)
def _(lower, upper, right, out, n):
    found = []
    for a, c, d in zip(*(x.reshape(n, 32).astype("f8") for x in (lower, upper, right)), strict=True):
        found.append(np.linalg.solve(2.5 * np.eye(32) - np.diag(a[1:], -1) - np.diag(c[:-1], 1), d))
    return np.ravel(found)


# Pictures and spectra.
@small("median_by_counts", (2, 2), (16, 8), numbers(20 * 13, 64, "u1"), zeros(260, "u1"), i(20), i(13))
def _(picture, out, width, height):
    padded = np.pad(picture.reshape(height, width), 2, "edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, (5, 5)), axis=(2, 3)).ravel()


@small("homography_view", (2, 2), (16, 8), numbers(20 * 13, 256, "u1"), Drawn("view", "f4", 9, 20), zeros(260), i(20),
       i(13), output=2, tolerance=1e-2)  # fmt: skip
def _(picture, turn, out, width, height):
    p, found = picture.reshape(height, width).astype("f8"), np.zeros((height, width))
    for y, x in np.ndindex(height, width):
        a, b, w = turn.reshape(3, 3).astype("f8") @ (x, y, 1)
        u_, v = a / w, b / w
        if 0 <= u_ < width - 1 and 0 <= v < height - 1:
            s, t = u_ % 1, v % 1
            found[y, x] = (1 - t, t) @ p[int(v) : int(v) + 2, int(u_) : int(u_) + 2] @ (1 - s, s)
    assert 0 < (found > 0).sum() < found.size
    return found.ravel()


@small("packed_565", 2, 32, numbers(150, 256, "u1"), zeros(50, "u2"), i(50))
def _(picture, out, n):
    return (picture.reshape(n, 3) // (8, 4, 8)) @ (2_048, 32, 1)


@small("mosaic_means", (3, 2), (8, 8), numbers(20 * 13, 256, "u1"), zeros(260, "u1"), i(20), i(13))
def _(picture, out, width, height):
    found = picture.reshape(height, width).astype(int)
    for y in range(0, height, 8):
        for x in range(0, width, 8):
            found[y : y + 8, x : x + 8] = found[y : y + 8, x : x + 8].mean()
    return found.ravel()


@small("tone_mapped", 2, 32, unit(150, high=9), zeros(150, "u1"), i(50), f(0.3), f(4), absolute=1)
def _(picture, out, n, key, white):
    colours = picture.reshape(n, 3).astype("f8")
    light = colours @ (0.2126, 0.7152, 0.0722)
    mapped = key * light * (1 + key * light / white**2) / (1 + key * light)
    return np.round(255 * np.minimum(colours * (mapped / light)[:, None], 1) ** (1 / 2.2)).ravel()


@small("local_contrasts", (2, 2), (16, 8), numbers(20 * 13, 256, "u1"), zeros(260), i(20), i(13), smem=308,
       tolerance=1e-3)  # fmt: skip
def _(picture, out, width, height):
    p = picture.reshape(height, width).astype("f8")
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(p, 3, "edge"), (7, 7))
    return ((p - windows.mean(axis=(2, 3))) / windows.std(axis=(2, 3))).ravel()


@small("real_halves", 2, 64, normal(2 * 3 * 32), zeros(192), i(3), i(32), tolerance=1e-3)
def _(spectra, out, signals, half):
    points = np.fft.ifft(spectra.astype("f8").view("c16").reshape(signals, half))
    whole = np.stack([points.real, points.imag], axis=2).reshape(signals, 2 * half)
    return np.fft.fft(whole)[:, :half].ravel().view("f8")


@small("fourier_of_12", 2, 32, normal(24 * 50), zeros(24 * 50), i(50), tolerance=1e-3)
def _(points, out, n):
    return np.fft.fft(points.astype("f8").view("c16").reshape(12, n), axis=0).ravel().view("f8")


@small("hartley_rows", 2, 64, normal(150), zeros(150), i(75), smem=600, tolerance=1e-3)
def _(rows, out, length):
    spectra = np.fft.fft(rows.reshape(-1, length))
    return (spectra.real - spectra.imag).ravel()


# Warps, groups and clusters.
@small("tile_prefix<8>", 2, 64, numbers(100, 1_000), zeros(100, "i4"), i(100))
def _(values, out, n):
    return np.maximum.accumulate(np.pad(values, (0, 4)).reshape(-1, 8), axis=1).ravel()[:n]


@small("lanes_transposed", 2, 64, numbers(3 * 1_024, WORD, "u4"), zeros(3 * 1_024, "u4"), i(3))
def _(squares, out, n):
    return squares.reshape(n, 32, 32).swapaxes(1, 2).ravel()


@small("redux_digests", 2, 64, numbers(3 * 75, WORD, "u4"), zeros(9, "u4"), i(3), i(75))
def _(words, out, rows, length):
    found = []
    for row in words.reshape(rows, length).tolist():
        mixed = 0
        for j in range(0, length, 32):
            mixed = (mixed * 5 + reduce(operator.xor, row[j : j + 32])) % WORD
        found += [sum(row) % WORD, max(row), mixed]
    return found


@small("smoothed_rings", 8, 32, normal(8 * 45), zeros(360), i(45), i(7), smem=360, tolerance=1e-4)
def _(rings, out, part, steps):
    points = rings.reshape(-1, 4 * part).astype("f8")
    for _ in range(steps):
        points = points / 2 + (np.roll(points, 1, axis=1) + np.roll(points, -1, axis=1)) / 4
    return points.ravel()


@small("async_similar", 2, 32, numbers(50 * 16, 90, "f4"), numbers(192 * 16, 91, "f4"), zeros(50, "i4"), i(50), i(3),
       output=2)  # fmt: skip
def _(queries, rows, out, n, tiles):
    return np.argmax(queries.reshape(n, 16) @ rows.reshape(-1, 16).T, axis=1)


@small("async_transposed", (3, 2), 128, normal(96 * 64), zeros(96 * 64), i(96), i(64))
def _(matrix, out, width, height):
    return matrix.reshape(height, width).T.ravel()


# More atomics.
@small("labelled_extents", 2, 64, numbers(200, 1_000), numbers(100, 7), zeros(14, "i4"), zeros(14, "i4"), i(100),
       output=(2, 3))  # fmt: skip
def _(points, labels, low, high, n):
    own = [points.reshape(n, 2)[labels == label] for label in range(7)]
    return np.minimum(0, [o.min(axis=0) for o in own]).ravel(), np.ravel([o.max(axis=0) for o in own])


@small("seats_in_turn", 2, 64, numbers(100, 3), zeros(3, "u4"), zeros(15, "i4"), i(100), i(5), output=2)
def _(doors, turns, tables, n, each):
    guests = np.bincount(doors, minlength=3)[:, None]
    return ((guests + each - 1 - np.arange(each)) // each).ravel()


@small("distinct_keys", 2, 64, numbers(100, 50, "u4"), zeros(128, "u4"), zeros(1, "i4"), i(100), u(127), output=2)
def _(keys, table, out, n, mask):
    return len(set(keys.tolist()))


# More of networks.
@small("factor_machine", 3, 64, normal(20 * 32), numbers(5 * 4, 20), zeros(5), i(5), i(4), output=2, tolerance=1e-3)
def _(table, fields, out, samples, count):
    rows = table.reshape(-1, 32).astype("f8")[fields.reshape(samples, count)]
    pairs = np.einsum("sif,sjf->sij", rows, rows)
    return np.triu(pairs, 1).sum(axis=(1, 2))


@small("gated_units", (2, 3), 32, normal(3 * 40), normal(3 * 1_600), zeros(120), i(3), i(40), output=2, tolerance=1e-3)
def _(states, weights, out, samples, units):
    h = states.reshape(samples, units).astype("f8")
    update, reset, fresh = (h @ weights.reshape(units, 3, units)[:, j] for j in range(3))
    update, reset = 1 / (1 + np.exp(-update)), 1 / (1 + np.exp(-reset))
    return (update * h + (1 - update) * np.tanh(reset * fresh)).ravel()


@small("row_scaled_steps", 3, 64, normal(3 * 75), normal(3 * 75, high=2), unit(3), i(75), f(0.1), output=(1, 2),
       tolerance=1e-4)  # fmt: skip
def _(gradients, weights, memory, columns, rate):
    g = gradients.reshape(-1, columns).astype("f8")
    kept = 0.9 * memory + 0.1 * (g**2).mean(axis=1)
    return weights - (rate * g / np.sqrt(kept)[:, None]).ravel(), kept


@small("sphere_colours", 2, 32, normal(150), normal(27 * 50), zeros(150), i(50), output=2, tolerance=1e-4)
def _(directions, numbers_, out, n):
    d = directions.reshape(n, 3).astype("f8")
    x, y, z = (d / np.linalg.norm(d, axis=1, keepdims=True)).T
    pi = math.pi
    first, second = math.sqrt(3 / (4 * pi)), math.sqrt(15 / (4 * pi))
    shapes = [np.full(n, math.sqrt(1 / (4 * pi))), first * y, first * z, first * x, second * x * y, second * y * z]
    shapes += [math.sqrt(5 / (16 * pi)) * (3 * z**2 - 1), second * x * z, second / 2 * (x**2 - y**2)]
    sums = np.einsum("jn,cjn->nc", shapes, numbers_.reshape(3, 9, n))
    return np.maximum(sums + 0.5, 0).ravel()


# Long code and local memory.
@small("written_rounds<200>", 2, 32, numbers(50, WORD, "u4"), zeros(50, "u4"), i(50), i(2))
def _(words, out, n, turns):
    found = []
    for a in words.tolist():
        b = a ^ WORD - 1
        for r in [*range(200)] * int(turns):
            a = (a + (turned(b, 5) ^ 0x9E3779B9 * (r + 1) % WORD)) % WORD
            b ^= a * (2 * r + 3) % WORD
        found.append(a ^ b)
    return found


@small("tape_machines", 2, 32, numbers(500, 21, "u1"), zeros(50, "i4"), i(50), i(60))
def _(rules, out, n, limit):
    found = []
    for own in by_thread(rules, n):
        tape, at, state, steps = [0] * 64, 32, 0, 0
        while state < 5 and steps < limit:
            rule = own[2 * state + tape[at]]
            tape[at], state, steps = rule % 2, rule // 4, steps + 1
            at = (at + (1 if rule & 2 else -1)) % 64
        found.append(steps * 100 + sum(tape))
    return found


@small("event_heaps", 2, 32, zeros(50, "u4"), i(50), i(9), i(30), u(4), output=0)
def _(out, n, waiting, events, seed):
    found = []
    for k in range(n):
        random, times, mixed = Rolled(k, seed), [1_000 * j for j in range(waiting)], 0
        for _ in range(events):
            first = heapq.heappop(times)
            heapq.heappush(times, first + random.below(50_000))
            mixed = (mixed * 31 + first) % WORD
        found.append(mixed)
    return found


# First programs.
@small("distance_table", (2, 3), (32, 8), normal(2 * 40), zeros(1_600), i(40), seen=lambda a: a[: 24 * 40],
       tolerance=1e-4)  # fmt: skip
def _(points, out, n):
    p = points.astype("f8").view("c16")
    return abs(p - p[:, None])[:24].ravel()


@small("count_vowels", 2, 32, Drawn("letters", "u1", 200), zeros(1, "i4"), i(200))
def _(text, out, n):
    return sum(chr(c) in "aeiouAEIOU" for c in text)


@small("divisor_sums", 2, 32, zeros(50, "i4"), i(50), i(470), output=0)
def _(out, n, first):
    return [sum(d for d in range(1, m) if m % d == 0) for m in range(first, first + n)]


@small("segment_distances", 2, 32, normal(100), normal(4 * 75), zeros(50), i(50), i(75), smem=512, output=2,
       tolerance=1e-3)  # fmt: skip
def _(points, segments, out, n, count):
    p, s = points.astype("f8").view("c16")[:, None], segments.astype("f8").view("c16").reshape(count, 2)
    way = s[:, 1] - s[:, 0]
    along = np.clip(((p - s[:, 0]) * way.conj()).real / abs(way) ** 2, 0, 1)
    return (abs(p - s[:, 0] - along * way) ** 2).min(axis=1)


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in eighteenth_cases.cases() for a in case.arguments if isinstance(a, Drawn)}
    assert {a.kind for a in launched} == eighteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []
