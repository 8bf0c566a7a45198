"""The kernels of the twelfth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import twelfth_cases
from tests.hardware.eighth_cases import offsets
from tests.hardware.eleventh_cases import Formed
from tests.hardware.in_python import rows_of
from tests.hardware.ninth_cases import lists, normal, skewed, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twelfth_cases import Built, half_numbers, letters
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("gat_softmax", "mma_half", "specialised_norms", "lookback_max", "scrypt_mix", "heat_persistent")
WORD = 1 << 32
small = SmallLaunches(twelfth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twelfth_cases.cases()}


def scrambled(h):
    h = (h ^ h >> 17) * 0xED5AD4BB % WORD
    h = (h ^ h >> 11) * 0xAC4C1B51 % WORD
    return h ^ h >> 15


def chances(state):
    """Numbers between 0 and 1 from a state, without an end."""
    while True:
        state = (state * 1664525 + 1013904223) % WORD
        yield ((state >> 9) + 0.5) / 2**23


def turned_left(word, by):
    word %= WORD
    return (word << by | word >> (32 - by)) % WORD


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


# Graphs.
@small("gat_softmax", 10, 64, *lists(20, 30), normal(20), normal(20, high=2), normal(640), zeros(640), i(20), output=5,
       tolerance=1e-4)  # fmt: skip
def _(starts, members, sources, targets, features, out, nodes):
    found = np.zeros((nodes, 32))
    for v, row in enumerate(rows_of(starts, members)):
        if row:
            scores = sources[row].astype("f8") + targets[v]
            found[v] = softmax(np.where(scores > 0, scores, 0.2 * scores)) @ features.reshape(-1, 32)[row]
    return found.ravel()


@small("peel_core", 2, 32, *lists(60, 6), numbers(50, 60), numbers(60, 9), zeros(60, "i4"), zeros(1, "i4"), i(50), i(2),
       output=(3, 4, 5), seen=np.sort)  # fmt: skip
def _(starts, members, removed, degrees, following, count, n, k):
    rows = rows_of(starts, members)
    lost = np.bincount([u for v in removed for u in rows[v]], minlength=60)
    fallen = np.flatnonzero((degrees > k) & (degrees - lost <= k))
    assert len(fallen)
    return np.sort(degrees - lost), np.sort(np.append(fallen, [0] * (60 - len(fallen)))), [len(fallen)]


@small("brandes_back", 2, 64, *lists(100, 6), numbers(100, 4, "u1"), Built("from 1", "f4", 100, 9), unit(100),
       zeros(100), i(100), output=5, tolerance=1e-5)  # fmt: skip
def _(starts, members, depths, paths, before, out, nodes):
    rows = rows_of(starts, members)
    return [paths[v] * sum((1 + before[w]) / paths[w] for w in rows[v] if depths[w] == depths[v] + 1)
            for v in range(nodes)]  # fmt: skip


@small("ell_times_four", 2, 32, numbers(350, 50), normal(350), normal(200), zeros(200), i(50), i(7), output=3,
       tolerance=1e-4)  # fmt: skip
def _(columns, values, x, y, rows, width):
    picked = x.reshape(50, 4)[columns.reshape(width, rows)]
    return (values.reshape(width, rows, 1) * picked).sum(axis=0).ravel()


# Language models.
@small("q8_dot_rows", 2, 64, numbers(3 * 5 * 8, WORD, "u4"), unit(15), numbers(40, WORD, "u4"), unit(5), zeros(3),
       i(3), i(5), output=4, tolerance=1e-4)  # fmt: skip
def _(matrix, scales, x, x_scales, y, rows, groups):
    a, b = (part.view("i1").astype(int).reshape(-1, 32) for part in (matrix, x))
    sums = (a.reshape(rows, groups, 32) * b).sum(axis=2)
    return (sums * scales.reshape(rows, groups) * x_scales).sum(axis=1)


@small("norm_backward", 2, 64, normal(7 * 50), normal(350, high=2), normal(50), zeros(350), zeros(50), i(7), i(50),
       smem=200, output=(3, 4), tolerance=1e-3)  # fmt: skip
def _(gradients, x, weights, dx, dweights, rows, width):
    up, x = gradients.reshape(rows, width).astype("f8"), x.reshape(rows, width).astype("f8")
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    normed = (x - x.mean(axis=1, keepdims=True)) * scale
    g = up * weights
    along = (g * normed).mean(axis=1, keepdims=True)
    return (scale * (g - g.mean(axis=1, keepdims=True) - normed * along)).ravel(), (up * normed).sum(axis=0)


@small("wkv_scan", (2, 2), 32, normal(40), normal(40, high=2), normal(2 * 12 * 40), normal(2 * 12 * 40, high=2),
       zeros(2 * 12 * 40), i(12), i(40), output=4, tolerance=1e-4)  # fmt: skip
def _(decays, bonuses, keys, values, out, tokens, channels):
    k, v = (part.reshape(2, tokens, channels).astype("f8") for part in (keys, values))
    found = []
    for t in range(tokens):
        ages = np.append(t - 1.0 - np.arange(t), 0)[:, None]
        logs = np.where(np.arange(t + 1)[:, None] < t, -np.exp(decays) * ages, bonuses)
        weights = np.exp(logs + k[:, : t + 1])
        found.append((weights * v[:, : t + 1]).sum(axis=1) / weights.sum(axis=1))
    return np.stack(found, axis=1).ravel()


@small("flash_rows", (2, 2), 32, normal(1_600), normal(1_600, high=2), normal(1_600, high=3), zeros(1_600), i(50),
       output=3, tolerance=1e-4)  # fmt: skip
def _(q, k, v, out, length):
    q, k, v = (part.reshape(2, length, 16).astype("f8") for part in (q, k, v))
    return (softmax(q @ k.transpose(0, 2, 1) / 4) @ v).ravel()


@small("nucleus_draw", 3, 64, normal(3 * 500, high=2), zeros(6), i(500), f(0.9), tolerance=1e-4, absolute=1)
def _(logits, out, vocabulary, share):
    found = []
    for row in softmax(logits.reshape(3, vocabulary).astype("f8")):
        sums = np.sort(row)[::-1].cumsum()
        kept = np.searchsorted(sums, share) + 1
        found += [kept, sums[kept - 1]]
    return found


@small("mma_half", (2, 1), 128, half_numbers(64 * 48), half_numbers(128 * 48, 2), zeros(64 * 128), i(128), i(48),
       output=2, tolerance=1e-3)  # fmt: skip
def _(a, b, c, n, depth):
    return (a.view("f2").astype("f8").reshape(64, depth) @ b.view("f2").astype("f8").reshape(depth, n)).ravel()


@small("mma_bytes", 4, 64, numbers(32 * 16, WORD, "u4"), numbers(32 * 16 + 1, WORD, "u4"), zeros(1_024, "i4"), i(32),
       i(16), output=2)  # fmt: skip
def _(a, b, c, n, words):
    left, right = (part[: n * words].view("i1").astype(int).reshape(n, 4 * words) for part in (a, b))
    return (left @ right.T).ravel()


@small("unpack_e4m3", 2, 32, numbers(50, WORD, "u4"), half_numbers(2), zeros(100, "u4"), i(50), output=2,
       seen=lambda words: words.view("f2").astype("f4"), tolerance=2e-3)  # fmt: skip
def _(words, scales, out, n):
    codes, scale = words.view("u1").astype(int), np.repeat(scales.view("f2").astype("f4"), 128)[: 4 * n]
    exponent, mantissa = codes >> 3 & 15, codes & 7
    size = np.where(exponent, (8 + mantissa) * 2.0 ** (exponent - 10), mantissa * 2.0**-9)
    return np.where(codes & 128, -size, size) * scale


# Physics.
@small("hermite_forces", 2, 64, normal(400), normal(400, high=2), zeros(400), zeros(400), i(100), output=(2, 3),
       tolerance=2e-3)  # fmt: skip
def _(places, speeds, pulls, jerks, n):
    p, v = (part.reshape(n, 4).astype("f8") for part in (places, speeds))
    d, w = p[None, :, :3] - p[:, None, :3], v[None, :, :3] - v[:, None, :3]
    squared = (d**2).sum(axis=2, keepdims=True) + 0.01
    pull = p[None, :, 3:] / squared**1.5
    jerk = pull * (w - 3 * (d * w).sum(axis=2, keepdims=True) / squared * d)
    pad = np.zeros((n, 1))
    return (np.append((pull * d).sum(axis=1), pad, axis=1).ravel(), np.append(jerk.sum(axis=1), pad, axis=1).ravel())


@small("boris_push", 2, 32, unit(200), normal(400), zeros(200), i(50), i(10), f(0.02), output=2, tolerance=1e-4)
def _(states, fields, out, n, side, step):
    found = []
    for x, y, ux, uy in states.reshape(n, 4).astype("f8"):
        gx, gy = x * (side - 1), y * (side - 1)
        a, b = int(gx), int(gy)
        corners = fields.reshape(side, side, 4)[b : b + 2, a : a + 2].astype("f8")
        ex, ey, m, _ = np.einsum("y,x,yxk->k", [b + 1 - gy, gy - b], [a + 1 - gx, gx - a], corners)
        velocity = complex(ux, uy) + step / 2 * complex(ex, ey)
        turn = step / 2 * m
        velocity = velocity * (1 - 1j * turn) / (1 + 1j * turn) + step / 2 * complex(ex, ey)
        found.append(((x + step * velocity.real) % 1, (y + step * velocity.imag) % 1, velocity.real, velocity.imag))
    return np.ravel(found)


@small("potts_heat_bath", (1, 3), (32, 4), numbers(40 * 12, 8, "u1"), i(40), i(12), i(1), f(1.2), u(77), output=0)
def _(spins, width, height, colour, beta, seed):
    found = spins.reshape(height, width).copy()
    for y in range(height):
        for x in range((y + colour) % 2, width, 2):
            around = [found[y, x - 1], found[y, (x + 1) % width], found[y - 1, x], found[(y + 1) % height, x]]
            sums = np.exp(beta * np.bincount(around, minlength=8)).cumsum()
            wanted = next(chances(scrambled((y * int(width) + x) ^ int(seed)))) * sums[-1]
            found[y, x] = (sums[:7] <= wanted).sum()
    return found.ravel()


@small("weno5_flux", 2, 64, unit(100), zeros(100), i(100), f(0.3), tolerance=1e-4)
def _(values, out, n, ratio):
    a, b, c, d, e = (np.roll(values.astype("f8"), k) for k in (2, 1, 0, -1, -2))
    smooth = (13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4,
              13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4,
              13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4)  # fmt: skip
    weights = np.array([share / (s + 1e-4) ** 2 for share, s in zip((0.1, 0.6, 0.3), smooth, strict=True)])
    guesses = np.array([2 * a - 7 * b + 11 * c, -b + 5 * c + 2 * d, 2 * c + 5 * d - e]) / 6
    flux = (weights * guesses).sum(axis=0) / weights.sum(axis=0)
    return values - ratio * (flux - np.roll(flux, 1))


@small("torsion_energies", 2, 32, Built("near", "i4", 200, 40), normal(160), unit(32, high=3), zeros(50), i(50),
       output=3, tolerance=2e-3)  # fmt: skip
def _(bonds, atoms, kinds, out, n):
    p = atoms.reshape(-1, 4)[bonds.reshape(n, 4), :3].astype("f8")
    first, axis, last = p[:, 1] - p[:, 0], p[:, 2] - p[:, 1], p[:, 3] - p[:, 2]
    m, k = np.cross(first, axis), np.cross(axis, last)
    angle = np.arctan2(np.linalg.norm(axis, axis=1) * (first * k).sum(axis=1), (m * k).sum(axis=1))
    size, start = kinds.reshape(16, 2)[np.arange(n) % 16].T
    return size * (1 + np.cos(3 * angle - start))


@small("qubit_gate", 2, 32, normal(256), zeros(256), normal(8), i(64), i(3), tolerance=1e-4)
def _(state, out, gate, pairs, bit):
    parts = state.view("c8").reshape(-1, 2, 1 << bit)
    return np.einsum("ij,ajk->aik", gate.view("c8").reshape(2, 2), parts).ravel().view("f4")


@small("robertson_implicit", 2, 32, unit(40, "f8"), zeros(80, "f8"), i(40), i(12), tolerance=1e-8)
def _(rates, out, n, steps):
    a, b, step = np.ones(n), np.zeros(n), 1e-4
    slow, fast, middle = 0.04 * (0.5 + rates), 3e7, 1e4
    for _ in range(steps):
        state = np.stack([a, b], axis=1)
        for _ in range(4):
            c = 1 - a - b
            wrong = np.stack([a - state[:, 0] + step * (slow * a - middle * b * c),
                              b - state[:, 1] - step * (slow * a - middle * b * c - fast * b * b)], axis=1)  # fmt: skip
            per_a, per_b = step * (slow + middle * b), step * middle * (c - b)
            slopes = np.array([[1 + per_a, -per_b], [-per_a, 1 + per_b + step * 2 * fast * b]])
            change = np.linalg.solve(slopes.transpose(2, 0, 1), wrong[..., None])[..., 0]
            a, b = a - change[:, 0], b - change[:, 1]
        step *= 1.3
    return np.append(a, b)


@small("tet_stiffness", 2, 32, Built("near", "i4", 200, 40), normal(160), zeros(500), i(50), output=2, tolerance=1e-3,
       absolute=1e-2)  # fmt: skip
def _(elements, nodes, out, n):
    p = nodes.reshape(-1, 4)[elements.reshape(n, 4), :3].astype("f8")
    a, b, c = (p[:, k] - p[:, 0] for k in (1, 2, 3))
    g = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    volume = np.maximum(abs((a * g[:, 0]).sum(axis=1)), 1e-3)
    g = np.concatenate([-g.sum(axis=1, keepdims=True), g], axis=1)
    products = np.einsum("nrk,nsk->nrs", g, g) / (6 * volume[:, None, None])
    return products[:, *np.tril_indices(4)].T.ravel()


# Finance.
@small("barrier_bridge", 1, 32, zeros(32), i(2), i(12), f(0.8), f(1), u(2_021), output=0, tolerance=2e-3)
def _(out, paths, days, barrier, strike, seed):
    found = []
    for thread in range(32):
        luck, total, dt = chances(scrambled(thread ^ int(seed))), 0, 1 / days
        for _ in range(paths):
            now, alive = 0.0, 1.0
            for _ in range(days):
                if alive <= 1e-4:
                    break
                radius = math.sqrt(-2 * math.log(next(luck)))
                after = now - 0.03125 * dt + 0.25 * math.sqrt(dt) * radius * math.cos(2 * math.pi * next(luck))
                near, far = now - math.log(barrier), after - math.log(barrier)
                alive *= 1 - math.exp(-2 * near * far / (0.0625 * dt)) if near > 0 and far > 0 else 0
                now = after
            total += alive * max(math.exp(now) - strike, 0)
        found.append(total / paths)
    return found


@small("sabr_vols", 2, 32, Built("quotes", "f4", 400), zeros(100), i(100), f(0.3), f(0.6), tolerance=2e-3)
def _(quotes, out, n, alpha, beta):
    forward, strike, rho, nu = quotes.reshape(n, 4).T.astype("f8")
    log, rest = np.log(forward / strike), 1 - float(beta)
    mean = (forward * strike) ** (rest / 2)
    z = nu / alpha * mean * log
    ratio = z / np.log((np.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    below = mean * (1 + (rest * log) ** 2 / 24 + (rest * log) ** 4 / 1_920)
    later = (rest * alpha / mean) ** 2 / 24 + rho * beta * nu * alpha / mean / 4 + (2 - 3 * rho**2) * nu**2 / 24
    return alpha / below * ratio * (1 + later)


# Biology.
@small("gotoh_warp", 2, 64, numbers(96, 4, "u1"), numbers(150, 4, "u1"), zeros(3, "i4"), i(3), i(50), output=2)
def _(queries, texts, out, n, length):
    found = []
    for query, text in zip(queries.reshape(n, 32), texts.reshape(n, length), strict=True):
        h, down = np.zeros((33, length + 1), int), np.full(length + 1, -1_000)
        for r, letter in enumerate(query, 1):
            along = -1_000
            for c, other in enumerate(text, 1):
                along = max(along - 1, h[r, c - 1] - 4)
                down[c] = max(down[c] - 1, h[r - 1, c] - 4)
                h[r, c] = max(0, h[r - 1, c - 1] + (2 if letter == other else -1), along, down[c])
        found.append(h.max())
    return found


@small("pair_hmm", 2, 32, numbers(500, 4, "u1"), numbers(800, 4, "u1"), zeros(40), i(40), i(12), i(20), output=2,
       tolerance=1e-4)  # fmt: skip
def _(reads, texts, out, n, read_length, text_length):
    found = []
    for read, text in zip(reads[: n * 12].reshape(12, n).T, texts.reshape(20, n).T, strict=True):
        m, x, y = (np.zeros((13, 21)) for _ in range(3))
        y[0] = 1 / text_length
        for r, letter in enumerate(read, 1):
            for c, other in enumerate(text, 1):
                likely = 0.97 if letter == other else 0.01
                m[r, c] = likely * (0.9 * m[r - 1, c - 1] + 0.8 * (x[r - 1, c - 1] + y[r - 1, c - 1]))
                x[r, c] = 0.05 * m[r - 1, c] + 0.2 * x[r - 1, c]
                y[r, c] = 0.05 * m[r, c - 1] + 0.2 * y[r, c - 1]
        found.append(math.log((m[-1] + x[-1])[1:].sum()))
    return found


@small("nussinov_fold", 2, 32, numbers(48, 4, "u1"), zeros(2, "i4"), i(24), smem=600)
def _(strands, out, length):
    found = []
    for strand in strands.reshape(2, length).astype(int):
        best = np.zeros((length + 1, length + 1), int)
        for wide in range(4, length):
            for a in range(length - wide):
                b = a + wide
                inner = best[a + 1, b - 1] + (strand[a] + strand[b] == 3)
                best[a, b] = max([inner, *(best[a, k] + best[k + 1, b] for k in range(a, b))])
        found.append(best[0, length - 1])
    return found


@small("tanimoto_best", 2, 32, numbers(1_600, WORD, "u4"), numbers(256, WORD, "u4"), zeros(50), i(50), output=2,
       tolerance=1e-6)  # fmt: skip
def _(prints, sought, out, n):
    bits = np.unpackbits(np.ascontiguousarray(prints.reshape(32, n).T).view("u1"), axis=1).astype(int)
    wanted = np.unpackbits(sought.view("u1").reshape(8, 128), axis=1).astype(int)
    both = bits @ wanted.T
    return (both / (bits.sum(axis=1)[:, None] + wanted.sum(axis=1) - both)).max(axis=1)


# Ciphers.
def salsa8(block):
    x = list(block)
    quarters = [(0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
                (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14)]  # fmt: skip
    for _ in range(4):
        for a, b, c, d in quarters:
            x[b] ^= turned_left(x[a] + x[d], 7)
            x[c] ^= turned_left(x[b] + x[a], 9)
            x[d] ^= turned_left(x[c] + x[b], 13)
            x[a] ^= turned_left(x[d] + x[c], 18)
    return [(p + q) % WORD for p, q in zip(x, block, strict=True)]


@small("scrypt_mix", 1, 32, numbers(16 * 20, WORD, "u4"), zeros(16 * 20 * 8, "u4"), zeros(320, "u4"), i(20), i(8),
       output=2)  # fmt: skip
def _(data, memory, out, n, blocks):
    found = np.zeros((4, n, 4), "u4")
    for thread in range(n):
        x, seen = data.reshape(4, n, 4)[:, thread].ravel().tolist(), []
        for _ in range(blocks):
            seen.append(x)
            x = salsa8(x)
        for _ in range(blocks):
            x = salsa8([p ^ q for p, q in zip(x, seen[x[0] % int(blocks)], strict=True)])
        found[:, thread] = np.reshape(x, (4, 4))
    return found.ravel()


@small("curve_squares", 2, 32, numbers(400, WORD, "u4"), zeros(400, "u4"), i(50), i(5))
def _(values, out, n, times):
    found = np.zeros((8, n), "u4")
    for thread, words in enumerate(values.reshape(8, n).T.tolist()):
        value = pow(sum(word << 32 * k for k, word in enumerate(words)), 1 << int(times), 2**255 - 19)
        found[:, thread] = [value >> 32 * k & (WORD - 1) for k in range(8)]
    return found.ravel()


@small("xtea_chains", 2, 32, numbers(300, WORD, "u4"), numbers(4, WORD, "u4"), zeros(300, "u4"), i(50), i(3), output=2)
def _(data, keys, out, n, length):
    key, found = keys.tolist(), np.zeros((length, n, 2), "u4")
    for thread in range(n):
        a = b = 0
        for k in range(length):
            p, q = data.reshape(length, n, 2)[k, thread].tolist()
            a, b, total = a ^ p, b ^ q, 0
            for _ in range(32):
                a = (a + (((b << 4 ^ b >> 5) + b) ^ (total + key[total & 3]))) % WORD
                total = (total + 0x9E3779B9) % WORD
                b = (b + (((a << 4 ^ a >> 5) + a) ^ (total + key[total >> 11 & 3]))) % WORD
            found[k, thread] = a, b
    return found.ravel()


# Databases.
@small("asof_join", 2, 32, offsets(10, 12), Built("times", "i4", 120, 12), unit(120), numbers(80, 10),
       numbers(80, 1 << 30), zeros(80), i(80), output=5)  # fmt: skip
def _(starts, times, prices, papers, trades, out, n):
    found = []
    for paper, when in zip(papers, trades, strict=True):
        here = slice(starts[paper], starts[paper + 1])
        before = np.flatnonzero(times[here] <= when)
        found.append(prices[here][before[-1]] if len(before) else -1)
    return np.array(found, "f4")


@small("quoted_regions", 2, 64, letters(800), zeros(200, "u2"), i(100))
def _(text, out, words):
    odd = (text.view("u1").reshape(2, -1) == ord('"')).cumsum(axis=1) % 2
    return np.packbits(odd.astype("u1"), axis=1, bitorder="little").view("u2").ravel()


@small("delta_unpack", 2, 64, Built("heads", "i4", 6, 16), numbers(192, WORD, "u4"), zeros(384, "i4"), i(3), output=2)
def _(heads, packed, out, frames):
    found = []
    for (first, bits), words in zip(heads.reshape(frames, 2).tolist(), packed.reshape(frames, 64), strict=True):
        stream = sum(word << 32 * k for k, word in enumerate(words.tolist()))
        found.append(first + np.cumsum([stream >> k * bits & ((1 << bits) - 1) for k in range(128)]))
    return np.ravel(found)


@small("gradient_bins", (2, 3), 64, numbers(600, 200, "u1"), normal(400), zeros(1_536), i(200), output=2,
       tolerance=1e-4)  # fmt: skip
def _(bins, gradients, out, rows):
    g = gradients.reshape(rows, 2)
    return np.ravel([[np.bincount(row, g[:, k], minlength=256) for k in (0, 1)] for row in bins.reshape(3, rows)])


@small("linear_insert", 2, 64, numbers(150, 120, "u4"), zeros(256, "u4"), i(150), u(255), seen=np.sort)
def _(keys, table, n, mask):
    different = np.unique(keys) + 1
    return np.append(np.zeros(256 - len(different)), different)


# Graphics.
@small("bounce_paths", 2, 64, Built("balls", "f4", 80), zeros(100), i(10), i(100), i(20), i(2), u(5), tolerance=2e-3)
def _(balls, out, width, n, count, bounces, seed):
    ball, found = balls.reshape(count, 4).astype("f8"), []
    for ray in range(n):
        luck, start, light = chances(scrambled(ray ^ int(seed))), np.array([0, 0, -4.0]), 1.0
        way = np.array([ray % width * 2 / width - 1, ray // width * 2 / width - 1, 2.0])
        for bounce in range(bounces + 1):
            way = way / np.linalg.norm(way)
            to = ball[:, :3] - start
            along = to @ way
            inside = ball[:, 3] ** 2 - (to**2).sum(axis=1) + along**2
            distances = np.where(inside > 0, along - np.sqrt(np.maximum(inside, 0)), np.inf)
            distances[distances <= 1e-3] = np.inf
            which = int(distances.argmin())
            if np.isinf(distances[which]):
                light *= 0.5 + 0.5 * way[1]
                break
            light = 0 if bounce == bounces else light * (0.4 + 0.05 * (which % 8))
            start = start + distances[which] * way
            up, around = 2 * next(luck) - 1, 2 * math.pi * next(luck)
            flat = math.sqrt(1 - up * up)
            way = (start - ball[which, :3]) / ball[which, 3]
            way = way + np.array([flat * math.cos(around), flat * math.sin(around), up])
        found.append(light)
    return found


@small("ambient_occlusion", (2, 2), (16, 16), unit(30 * 20), zeros(600), i(30), i(20), f(4), tolerance=1e-4)
def _(depths, out, width, height, radius):
    picture, found = depths.reshape(height, width).astype("f8"), np.ones((height, width))
    y, x = np.mgrid[:height, :width]
    for k in range(12):
        angle = 0.3 + 0.7853982 * (x % 4 + 4 * (y % 4)) + 2.3999632 * k
        length = radius * (k + 1) / 12
        sx = np.clip(x + np.floor(length * np.cos(angle)).astype(int), 0, width - 1)
        sy = np.clip(y + np.floor(length * np.sin(angle)).astype(int), 0, height - 1)
        nearer = picture - picture[sy, sx]
        found -= np.where(nearer > 0.02, 1 / (1 + 4 * nearer**2), 0) / 12
    return found.ravel()


@small("mesh_rays", 2, 64, Built("triangles", "f4", 9 * 40, 2), Built("ways", "f4", 300), zeros(100), i(100), i(40),
       output=2, tolerance=1e-3)  # fmt: skip
def _(triangles, ways, out, n, count):
    t, found = triangles.reshape(count, 3, 3).astype("f8"), []
    for way in ways.reshape(n, 3).astype("f8"):
        sides = np.stack([t[:, 1], t[:, 2], np.broadcast_to(-way, (count, 3))], axis=2)
        u, v, distance = np.linalg.solve(sides, -t[:, 0, :, None])[..., 0].T
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0)
        found.append(distance[hit].min() if hit.any() else 1e30)
    assert len(set(found)) > 20
    return found


@small("splat_tiles", (2, 2), (16, 16), skewed(4, 300), unit(4 * 1_200), zeros(1_024), i(32), output=2, tolerance=1e-3)
def _(starts, dots, out, width):
    found = np.zeros((32, 32))
    y, x = np.mgrid[:16, :16]
    for tile, (begin, end) in enumerate(pairwise(starts)):
        through, colour = np.ones((16, 16)), np.zeros((16, 16))
        for k, (dx, dy, wide, share) in enumerate(dots.reshape(-1, 4)[begin:end].astype("f8")):
            power = ((x - 16 * dx) ** 2 + (y - 16 * dy) ** 2) / (2 + 30 * wide)
            covered = np.where((power <= 6) & (through > 0.001), np.minimum(0.99, share * np.exp(-power)), 0)
            colour += through * covered * (0.2 + 0.1 * (k % 256 % 8))
            through *= 1 - covered
        found[tile // 2 * 16 :, tile % 2 * 16 :][:16, :16] = colour
    return found.ravel()


# Pictures.
def _paeth(a, b, c):
    apart = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
    return (a, b, c)[apart.index(min(apart))]


@small("png_filters", 5, 64, Built("smooth bytes", "u1", 500, 6), zeros(505, "u1"), i(100))
def _(picture, out, width):
    padded, found = np.pad(picture.reshape(5, width).astype(int), ((1, 0), (1, 0))), []
    for above, line in pairwise(padded):
        places = [(line[k - 1], above[k], above[k - 1]) for k in range(1, width + 1)]
        guesses = [[0, a, b, (a + b) // 2, _paeth(a, b, c)] for a, b, c in places]
        rests = (line[1:, None] - guesses).T % 256
        best = int(np.minimum(rests, 256 - rests).sum(axis=1).argmin())
        found.append([best, *rests[best]])
    return np.ravel(found)


@small("bc1_blocks", 2, 32, numbers(800, WORD, "u4"), zeros(100, "u4"), i(50))
def _(pixels, out, n):
    parts = pixels.reshape(4, n, 4).transpose(1, 0, 2).reshape(n, 16)[:, :, None] >> np.array([0, 8, 16], "u4") & 255
    shifts, found = np.array([3, 2, 3]), []
    for block in parts.astype(int):
        low, high = block.min(axis=0) >> shifts, block.max(axis=0) >> shifts
        ends = high << shifts, low << shifts
        colours = np.array([*ends, (2 * ends[0] + ends[1]) // 3, (ends[0] + 2 * ends[1]) // 3])
        nearest = ((block[:, None] - colours) ** 2).sum(axis=2).argmin(axis=1)
        words = [int(c[0]) << 11 | int(c[1]) << 5 | int(c[2]) for c in (high, low)]
        found.append([words[0] | words[1] << 16, sum(int(which) << 2 * k for k, which in enumerate(nearest))])
    return np.ravel(found)


@small("jump_flood", (1, 4), (32, 8), Built("seeds", "i4", 30 * 25, 9), zeros(750, "i4"), i(30), i(25), i(4),
       seen=lambda seeds: _distances(seeds))  # fmt: skip
def _(seeds, out, width, height, step):
    picture, found = seeds.reshape(height, width), []
    for y in range(height):
        for x in range(width):
            places = [(b, a) for b in (y - step, y, y + step) for a in (x - step, x, x + step)]
            near = [picture[b, a] for b, a in places if 0 <= b < height and 0 <= a < width and picture[b, a] >= 0]
            found.append(min([(s % width - x) ** 2 + (s // width - y) ** 2 for s in near], default=-1))
    return found


def _distances(seeds):
    place = np.arange(750)
    return np.where(seeds < 0, -1, (seeds % 30 - place % 30) ** 2 + (seeds // 30 - place // 30) ** 2)


@small("lucas_kanade", 1, 32, Built("soft picture", "f4", 1_200, 40), Built("soft picture", "f4", 1_201, 40), unit(40),
       zeros(40), i(20), i(40), i(30), i(3), output=3, tolerance=5e-3)  # fmt: skip
def _(first, second, places, out, n, width, height, turns):
    pictures = [part[: width * height].reshape(height, width).astype("f8") for part in (first, second)]

    def between(p, x, y):
        a, b = math.floor(x), math.floor(y)
        return np.array([b + 1 - y, y - b]) @ p[b : b + 2, a : a + 2] @ np.array([a + 1 - x, x - a])

    found = []
    for px, py in places.reshape(n, 2).astype("f8"):
        x, y, moved = 4 + px * (width - 9), 4 + py * (height - 9), np.zeros(2)
        for _ in range(turns):
            matrix, right = 0.001 * np.eye(2), np.zeros(2)
            for dy in range(-2, 3):
                for dx in range(-2, 3):
                    a, b = x + dx, y + dy
                    slope = np.array([between(pictures[0], a + 1, b) - between(pictures[0], a - 1, b),
                                      between(pictures[0], a, b + 1) - between(pictures[0], a, b - 1)])  # fmt: skip
                    change = between(pictures[1], a + moved[0], b + moved[1]) - between(pictures[0], a, b)
                    matrix += np.outer(slope, slope)
                    right += slope * change
            moved = np.clip(moved - 2 * np.linalg.solve(matrix, right), -1, 1)
        found.append(moved)
    return np.ravel(found)


# Robots.
@small("mppi_rollouts", 2, 32, normal(40), zeros(50), i(50), i(20), f(0.4), u(1_234), tolerance=2e-3)
def _(plan, costs, n, steps, noise, seed):
    found = []
    for thread in range(n):
        luck, x, y, heading, speed, cost = chances(scrambled(thread ^ int(seed))), 0.0, 0.0, 0.0, 1.0, 0.0
        for wish_push, wish_steer in plan.reshape(steps, 2).tolist():
            radius = noise * math.sqrt(-2 * math.log(next(luck)))
            angle = 2 * math.pi * next(luck)
            push = wish_push + radius * math.cos(angle)
            steer = min(max(wish_steer + radius * math.sin(angle), -0.5), 0.5)
            x, y = x + 0.05 * speed * math.cos(heading), y + 0.05 * speed * math.sin(heading)
            heading += 0.05 * speed * math.tan(steer) / 0.3
            speed = max(speed + 0.05 * push, 0)
            off = math.hypot(x, y) - 2
            cost += off**2 + 0.1 * (speed - 1.5) ** 2 + 0.01 * steer**2 + (10 if off > 1.5 else 0)
        found.append(cost)
    return found


@small("icp_sums", 1, 64, normal(9 * 150), zeros(27), i(150), tolerance=1e-3)
def _(pairs, out, n):
    point, target, way = pairs.reshape(3, 3, n).astype("f8").transpose(0, 2, 1)
    rows = np.append(np.cross(point, way), way, axis=1)
    off = ((target - point) * way).sum(axis=1)
    rows, off = rows[abs(off) <= 2], off[abs(off) <= 2]
    return np.append((rows.T @ rows)[np.tril_indices(6)], rows.T @ off)


@small("lidar_carve", 2, 32, numbers(100, 21), zeros(441, "i4"), i(50), i(21))
def _(ends, grid, n, side):
    found = np.zeros((side, side), int)
    for ex, ey in ends.reshape(n, 2).tolist():
        x = y = 10
        dx, dy, sx, sy = abs(ex - x), abs(ey - y), (ex > x) - (ex < x), (ey > y) - (ey < y)
        error = dx - dy
        while (x, y) != (ex, ey):
            found[y, x] -= 1
            twice = 2 * error
            if twice >= -dy:
                error, x = error - dy, x + sx
            if twice <= dx:
                error, y = error + dx, y + sy
        found[ey, ex] += 5
    return found.ravel()


@small("arm_jacobian", 2, 32, Formed("angles", "f4", 600), unit(24), zeros(1_800), i(100), output=2, tolerance=1e-4)
def _(angles, links, out, n):
    """By differences: how the hand moves when a joint turns a little."""
    length, lift, twist, _ = links.reshape(6, 4).T.astype("f8")

    def hands(turns):
        place = np.broadcast_to(np.eye(4), (n, 4, 4))
        for k, turn in enumerate(turns):
            c, s, ca, sa, one = np.cos(turn), np.sin(turn), math.cos(twist[k]), math.sin(twist[k]), np.ones(n)
            place = place @ np.array([[c, -s * ca, s * sa, length[k] * c], [s, c * ca, -c * sa, length[k] * s],
                                      [0 * one, sa * one, ca * one, lift[k] * one],
                                      [0 * one, 0 * one, 0 * one, one]]).transpose(2, 0, 1)  # fmt: skip
        return place[:, :3, 3].T

    turns, found = angles.reshape(6, n).astype("f8"), []
    for k in range(6):
        little = np.zeros((6, 1))
        little[k] = 1e-5
        found.append((hands(turns + little) - hands(turns - little)) / 2e-5)
    return np.ravel(found)


@small("ant_tours", 2, 64, unit(4_096), zeros(192, "u1"), i(3), u(3))
def _(trails, tours, ants, seed):
    found = []
    for ant in range(ants):
        state = scrambled(ant ^ int(seed))
        luck, tour = chances(state), [state >> 26]
        while len(tour) < 64:
            weights = trails.reshape(64, 64)[tour[-1]].astype("f8")
            weights[tour] = 0
            order = np.arange(64).reshape(2, 32).T.ravel()
            sums = weights[order].cumsum()
            tour.append(order[np.searchsorted(sums, next(luck) * sums[-1])])
        found.append(tour)
    return np.ravel(found)


# Matrices.
@small("lu_pivot", 2, 32, normal(256 * 3), zeros(3), i(3), tolerance=1e-2)
def _(matrices, out, n):
    return np.linalg.det(matrices.reshape(n, 16, 16).astype("f8"))


@small("syrk_tiles", 3, (16, 16), normal(128 * 32), zeros(128 * 128), i(128), i(32), tolerance=1e-4)
def _(a, c, n, depth):
    full = (a.reshape(n, depth) @ a.reshape(n, depth).T).reshape(2, 64, 2, 64)
    full[0, :, 1] = 0
    return full.ravel()


# Signals.
@small("async_correlate", 2, 96, normal(2_560), normal(64), zeros(2), i(1_280), output=2, tolerance=1e-4)
def _(signals, pattern, best, length):
    return [np.correlate(signal[: 256 * 3 + 319], pattern).max() for signal in signals.reshape(2, length)]


@small("specialised_norms", 2, 160, normal(1_024 * 10), zeros(40), i(5), tolerance=1e-5)
def _(vectors, out, rounds):
    return np.linalg.norm(vectors.reshape(-1, 256).astype("f8"), axis=1)


@small("stockham<5>", 3, 32, normal(192), zeros(192), tolerance=1e-4)
def _(signals, out):
    return np.fft.fft(signals.view("c8").reshape(3, 32)).ravel().astype("c8").view("f4")


@small("viterbi_k7", 2, 32, Built("soft bits", "i1", 120, 20), zeros(60, "u8"), zeros(60, "u1"), i(2), i(30), output=2)
def _(symbols, choices, out, frames, length):
    found = []
    for pairs in symbols.reshape(frames, length, 2).tolist():
        best = {0: (0, [])}
        for a, b in pairs:
            following = {}
            for state, (metric, bits) in best.items():
                for bit in (0, 1):
                    path = state << 1 | bit
                    signs = [1 if (path & mask).bit_count() % 2 else -1 for mask in (0x4F, 0x6D)]
                    reached = metric + signs[0] * a + signs[1] * b
                    if path & 63 not in following or reached > following[path & 63][0]:
                        following[path & 63] = reached, [*bits, bit]
            best = following
        found.append(max(best.items(), key=lambda one: (one[1][0], -one[0]))[1][1])
    return np.ravel(found)


@small("rs_syndromes", 1, 32, numbers(255 * 20, 256, "u1"), Built("field tables", "u1", 512), zeros(80, "u1"), i(20),
       i(4), output=2)  # fmt: skip
def _(words, tables, out, n, count):
    powers, logs = tables[:255].astype(int), tables[256:].astype(int)
    found = np.zeros((count, n), int)
    for s in range(count):
        for k, row in enumerate(words.reshape(255, n)):
            found[s] ^= np.where(row, powers[(logs[row] + s * (254 - k)) % 255], 0)
    return found.ravel()


# Sorting.
@small("merge_block_sort<4>", 2, 64, numbers(512, 300), zeros(512, "i4"), smem=1_024)
def _(keys, out):
    return np.sort(keys.reshape(2, 256)).ravel()


@small("bitonic_pass", 2, 64, numbers(256, 1_000), zeros(256, "i4"), i(256), i(32), i(8))
def _(keys, out, n, run, apart):
    found = keys.copy()
    for low in [k for k in range(n) if not k & apart]:
        pair = sorted(keys[[low, low + apart]], reverse=bool(low & run))
        found[low], found[low + apart] = pair
    return found


@small("digit_histograms", 2, 64, numbers(300, WORD, "u4"), zeros(1_024, "i4"), i(300))
def _(keys, out, n):
    return np.ravel([np.bincount(part, minlength=256) for part in keys.view("u1").reshape(n, 4).T])


@small("lookback_max", 5, 64, numbers(300, 1 << 30), zeros(300, "i4"), zeros(5, "u8"), zeros(2, "i4"), i(300),
       output=(1, 2, 3))  # fmt: skip
def _(values, out, states, tickets, n):
    return np.maximum.accumulate(values), np.zeros(5), np.zeros(2)


@small("heat_persistent", 3, 64, unit(300), zeros(300), zeros(1, "u4"), i(300), i(6), output=(0, 2), tolerance=1e-5)
def _(a, b, arrived, n, steps):
    found = a.astype("f8")
    for _ in range(steps):
        found = 0.5 * found + 0.25 * (np.roll(found, 1) + np.roll(found, -1))
    return found, [3 * steps]


# Code.
@small("gate_network<200>", 2, 32, numbers(800, WORD, "u4"), zeros(800, "u4"), i(50))
def _(words, out, n):
    w, plan = list(words.reshape(16, n)), 12345
    for _ in range(200):
        plan = (plan * 1103515245 + 12345) % WORD
        a, b, c, kind = w[plan >> 16 & 15], w[plan >> 20 & 15], plan >> 24 & 15, plan >> 28 & 3
        shifted = a << np.uint32(7) ^ b >> np.uint32(9)
        w[c] = (w[c] ^ (a & b), w[c] + (a | b), (a ^ b) - w[c], w[c] ^ shifted)[kind]
    return np.concatenate(w)


@small("postfix_programs", (2, 3), 32, Built("formulas", "u1", 90), normal(200), zeros(150), i(30), i(50), output=2,
       tolerance=1e-3)  # fmt: skip
def _(codes, points, out, length, n):
    operators = {
        4: np.add, 5: np.subtract, 6: np.multiply, 7: lambda a, b: a / (1 + b * b), 8: np.minimum,
        9: lambda a, b: a * np.cos(b), 10: lambda a, b: np.sqrt(abs(a)) - b,
    }  # fmt: skip
    found = []
    for formula in codes.reshape(3, length).tolist():
        stack = []
        for op in formula:
            if len(stack) < 2 or (op < 4 and len(stack) < 16):
                stack.append(points.reshape(4, n)[op & 3].astype("f8"))
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(operators[op](a, b) if op in operators else np.where(a > 0, b, -b))
        found.append(stack[-1])
    return np.ravel(found)


@small("rolling_cuts", 2, 32, numbers(50 * 90, 256, "u1"), numbers(256, WORD, "u4"), zeros(50, "i4"), i(50), i(90),
       u(15), output=2)  # fmt: skip
def _(text, table, cuts, n, part, mask):
    found = []
    for line in text.reshape(n, part):
        count = 0
        for k in range(16, part):
            value = 0
            for letter in line[k - 15 : k + 1]:
                value = turned_left(value, 1) ^ int(table[letter])
            count += value & int(mask) == 0
        found.append(count)
    assert any(found)
    return found


@small("hamiltonian_chain", 1, 32, zeros(64), i(32), i(6), f(0.1), u(271), output=0, tolerance=5e-3)
def _(out, n, proposals, step, seed):
    found = []
    for thread in range(n):
        luck, x, y = chances(scrambled(thread ^ int(seed))), 0.0, 0.0
        for _ in range(proposals):
            radius, angle = math.sqrt(-2 * math.log(next(luck))), 2 * math.pi * next(luck)
            px, py, nx, ny = radius * math.cos(angle), radius * math.sin(angle), x, y
            before = (px**2 + py**2 + x**2) / 2 + 2 * (y - x * x) ** 2
            for _ in range(8):
                px, py = px - step / 2 * (nx - 8 * (ny - nx * nx) * nx), py - step / 2 * 4 * (ny - nx * nx)
                nx, ny = nx + step * px, ny + step * py
                px, py = px - step / 2 * (nx - 8 * (ny - nx * nx) * nx), py - step / 2 * 4 * (ny - nx * nx)
            after = (px**2 + py**2 + nx**2) / 2 + 2 * (ny - nx * nx) ** 2
            if next(luck) < math.exp(before - after):
                x, y = nx, ny
        found += [x, y]
    return found


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    made = {a for case in twelfth_cases.cases() for a in case.arguments if isinstance(a, Built) and a.size < 2_000_000}
    assert {a.kind for a in made} == twelfth_cases.RECIPES.keys()
    assert [a for a in made if a.make().shape != (a.size,)] == []


def test_the_times_rise_within_each_part():
    times, starts = Built("times", "i4", 600, 20).make(), offsets(30, 20).make()
    assert all((np.diff(times[a:b]) >= 0).all() for a, b in pairwise(starts))
    assert (np.diff(times) < 0).sum() > 20


def test_the_powers_of_two_reach_every_element_of_the_field():
    tables = Built("field tables", "u1", 512).make()
    assert sorted(tables[:255]) == list(range(1, 256))
    assert tables[255] == 1
    assert tables[256 + 0x1D] == 8


def test_four_near_numbers_are_different():
    rows = Built("near", "i4", 4_000, 50).make().reshape(-1, 4)
    assert all(len(set(row)) == 4 for row in rows.tolist())
    assert rows.min() >= 0
    assert 8 > np.ptp(rows, axis=1).max() > 3
    assert rows.max() < 50
