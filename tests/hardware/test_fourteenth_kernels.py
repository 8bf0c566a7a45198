"""The kernels of the fourteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import fourteenth_cases
from tests.hardware.fourteenth_cases import Arranged, hashes
from tests.hardware.in_python import Rolled, from_bf16, in_halves, rows_of
from tests.hardware.ninth_cases import Made, halves, lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import Array, f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("linear_relu_wmma", "conv_bytes_mma", "adaptive_bits", "simplex_tableaux", "sudoku_fill", "async_byte_bins")
WORD = 1 << 32
small = SmallLaunches(fourteenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in fourteenth_cases.cases()}


def pixels(width, height):
    """x and y of the middles of pixels, from 0 to 1."""
    y, x = np.indices((height, width)) + 0.5
    return x / width, y / height


def padded_rows(rows, width):
    """Rows of letters, each with zeros behind it."""
    return np.concatenate([np.pad(np.frombuffer(row, "u1"), (0, width - len(row))) for row in rows])


# Tensor cores.
@small("linear_relu_wmma", 2, 64, halves(512), halves(512, 2), normal(32), zeros(1_024), i(32), i(32), i(32), output=3,
       tolerance=1e-4)  # fmt: skip
def _(x, w, bias, out, rows, columns, depth):
    x, w = in_halves(x).reshape(rows, depth), in_halves(w).reshape(depth, columns)
    return np.maximum(x @ w + bias, 0).ravel()


@small("bf16_scores", (2, 2), 128, Made("bf16", "u2", 128 * 64, 1), Made("bf16", "u2", 128 * 64, 2),
       zeros(128 * 128), i(128), i(64), f(0.125), output=2, tolerance=1e-4)  # fmt: skip
def _(q, k, out, n, depth, scale):
    q, k = (from_bf16(a).reshape(n, depth) for a in (q, k))
    return (q @ k.T * scale).ravel()


@small("conv_bytes_mma", 2, 64, numbers(8 * 84, WORD, "u4"), numbers(256 * 5, WORD, "u4"), zeros(64 * 32, "i1"), i(64),
       i(5), i(9), output=2)  # fmt: skip
def _(inputs, weights, out, n, taps, shift):
    rows, weights = inputs.view("i1").reshape(-1, 32).astype(int), weights.view("i1").reshape(32, taps, 32)
    sums = sum(rows[tap : tap + n] @ weights[:, tap].T for tap in range(taps))
    return np.clip(sums >> shift, 0, 127).ravel()


@small("assign_tf32", 3, 32, numbers(16 * 48, 40, "f4"), numbers(16 * 24, 40, "f4"), Arranged("squares", "f4", 24, 40),
       zeros(48, "i4"), i(48), i(24), output=3)  # fmt: skip
def _(points, centres, squares, out, n, count):
    points, centres = points.reshape(n, 16).astype("f8"), centres.reshape(count, 16)
    return ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)


@small("scan_by_mma", 3, 64, halves(128 * 5), zeros(256 * 5), i(5), tolerance=1e-2, absolute=0.1)
def _(values, out, rows):
    return in_halves(values).reshape(rows, 256).cumsum(axis=1).ravel()


# Tables, trees and graphs.
@small("chained_lookup", 3, 32, Arranged("heads", "i4", 16, 60), Arranged("links", "i4", 60, 16),
       Arranged("table keys", "i4", 60), numbers(60, 1_000), numbers(80, 120), zeros(80, "i4"), i(80), u(15),
       output=5)  # fmt: skip
def _(heads, links, keys, values, wanted, out, n, mask):
    held = dict(zip(keys.tolist(), values.tolist(), strict=True))
    return [held.get(key, -1) for key in wanted.tolist()]


@small("lca_lifting", 3, 32, Arranged("ancestors", "i4", 8 * 200, 200), Arranged("depths", "i4", 200),
       numbers(160, 200), zeros(80, "i4"), i(80), i(200), i(8), output=3)  # fmt: skip
def _(ancestors, depths, pairs, out, n, nodes, levels):
    found = []
    for a, b in pairs.reshape(n, 2).tolist():
        while a != b:
            a, b = (ancestors[a], b) if depths[a] >= depths[b] else (a, ancestors[b])
        found.append(a)
    return found


@small("suffix_search", 3, 32, numbers(300, 4, "u1"), Arranged("suffixes", "i4", 300, 4), numbers(80 * 5, 4, "u1"),
       zeros(80, "i4"), i(80), i(300), i(5), output=3)  # fmt: skip
def _(text, suffixes, patterns, out, n, size, length):
    text = text.tobytes()
    ordered = sorted(text[k:] for k in range(size))
    return [bisect_left(ordered, pattern.tobytes()) for pattern in patterns.reshape(n, length)]


@small("interval_stabs", 3, 32, *(Arranged(kind, "i4", 70, 1_000) for kind in ("starts", "ends", "latest")),
       numbers(80, 1_000), zeros(80, "i4"), i(80), i(70), output=4)  # fmt: skip
def _(starts, ends, latest, points, out, n, count):
    return ((starts <= points[:, None]) & (points[:, None] < ends)).sum(axis=1)


@small("luby_round", 4, 32, *lists(100, 4), numbers(100, 2, "u1"), zeros(100, "u1"), i(100), u(5), output=3)
def _(starts, members, states, out, nodes, seed):
    ranks, found = hashes(np.arange(nodes) ^ int(seed)), states.copy()
    for v, row in enumerate(rows_of(starts, members)):
        rivals = [w for w in row if w != v and states[w] == 0]
        found[v] = states[v] or all(ranks[w] < ranks[v] for w in rivals)
    return found


@small("token_firings", 2, 32, *lists(60, 5), numbers(60, 7, "u1"), numbers(50, 60), zeros(60, "i4"), zeros(128, "i4"),
       zeros(1, "i4"), i(50), i(127), output=(4, 5, 6), seen=np.sort)  # fmt: skip
def _(starts, members, needs, ready, tokens, fired, count, n, mask):
    rows = rows_of(starts, members)
    arrived = np.bincount([w for v in ready for w in rows[v]], minlength=60)
    fires = np.repeat(np.arange(60), arrived // (needs + 1))
    assert len(fires) > 40
    return np.sort(arrived), np.sort(np.append(fires, [0] * (128 - len(fires)))), [len(fires)]


@small("cross_sections", 3, 32, Arranged("energies", "f4", 50), unit(50 * 6), unit(6), unit(80), zeros(80), i(80),
       i(50), i(6), output=4, tolerance=1e-3)  # fmt: skip
def _(grid, sections, shares, energies, out, n, points, nuclides):
    return sum(
        s * np.interp(energies, grid, row) for s, row in zip(shares, sections.reshape(nuclides, -1), strict=True)
    )


@small("negative_samples", 5, 64, normal(128 * 20), normal(128 * 20, high=2), numbers(20, 20), zeros(10), i(10), i(20),
       i(3), u(9), output=3, tolerance=1e-3)  # fmt: skip
def _(words, contexts, pairs, out, n, vocabulary, samples, seed):
    words, contexts = (a.reshape(vocabulary, 128).astype("f8") for a in (words, contexts))
    found = []
    for k, (word, right) in enumerate(pairs.reshape(n, 2)):
        wrong = [int(hashes(k * 31 + s ^ int(seed))) * int(vocabulary) >> 32 for s in range(1, samples + 1)]
        dots = np.append(-contexts[right] @ words[word], contexts[wrong] @ words[word])
        found.append(np.log1p(np.exp(dots)).sum())
    return found


@small("mesh_gradients", 3, 32, normal(80), Arranged("beside", "i4", 320, 9), normal(640), zeros(160), i(80), output=3,
       tolerance=1e-4)  # fmt: skip
def _(field, beside, normals, out, n):
    means = np.where(beside < 0, np.tile(field, 4), (np.tile(field, 4) + field[beside]) / 2)
    return (means[:, None] * normals.reshape(-1, 2)).reshape(4, n, 2).sum(axis=0).ravel()


# Chains in time.
@small("lindley_waits", 2, 32, zeros(100), i(50), i(30), f(0.8), u(11), output=0, tolerance=1e-3)
def _(out, n, customers, load, seed):
    found = []
    for k in range(n):
        dice, waits = Rolled(k, seed), [0.0]
        for _ in range(customers):
            served = -load * math.log(dice.part())
            waits.append(max(waits[-1] + served + math.log(dice.part()), 0))
        found += [sum(waits) / customers, max(waits)]
    return found


@small("adaptive_bits", 2, 32, Arranged("skewed bits", "u4", 50 * 3, 3), zeros(12 * 50, "u1"), zeros(50, "i4"), i(50),
       i(3), i(12), smem=1_024, output=(1, 2))  # fmt: skip
def _(words, out, sizes, n, count, room):
    codes = []
    for row in words.reshape(count, n).T.tolist():
        low, high, context, chances, code = 0, WORD - 1, 0, [2048] * 16, []
        for bit in (word >> b & 1 for word in row for b in range(32)):
            middle = low + (high - low >> 12) * chances[context]
            low, high = (low, middle) if bit else (middle + 1, high)
            chances[context] += 4096 - chances[context] >> 5 if bit else -(chances[context] >> 5)
            context = (2 * context + bit) % 16
            while low >> 24 == high >> 24:
                code.append(high >> 24)
                low, high = (low << 8) % WORD, (high << 8) % WORD + 255
        codes.append(code)
    rows = padded_rows([bytes(code[:room]) for code in codes], int(room)).reshape(n, room)
    return rows.T.ravel(), [len(code) for code in codes]


@small("adpcm_decode", 2, 32, numbers(50 * 4, WORD, "u4"), zeros(8 * 50 * 4, "i2"), i(50), i(4))
def _(words, out, n, count):
    table = re.search(r"adpcm_steps\[89\] = {([^}]*)}", small.source)[1]
    steps, found = [int(step) for step in table.split(",")], []
    for row in words.reshape(count, n).T.tolist():
        value, index, sound = 0, 0, []
        for code in (word >> 4 * s & 15 for word in row for s in range(8)):
            step = steps[index]
            change = (step >> 3) + sum(step >> by for by in range(3) if code & 4 >> by)
            value = min(max(value - change if code & 8 else value + change, -32768), 32767)
            index = min(max(index + (-1, -1, -1, -1, 2, 4, 6, 8)[code & 7], 0), 88)
            sound.append(value)
        found.append(sound)
    return np.transpose(found).ravel()


@small("rsi_series", 2, 32, Arranged("walks", "f4", 50 * 40, 50), zeros(100), i(50), i(40), i(5), tolerance=1e-3)
def _(prices, out, n, days, period):
    changes, gain, loss, above = np.diff(prices.reshape(days, n).astype("f8"), axis=0), 0, 0, 0
    for change in changes:
        gain = gain + (np.maximum(change, 0) - gain) / period
        loss = loss + (np.maximum(-change, 0) - loss) / period
        strength = 100 * gain / (gain + loss + 1e-9)
        above = above + (strength > 70)
    return np.stack([strength, above], axis=1).ravel()


# Whole numbers and hashes.
@small("ghash_blocks", 2, 32, numbers(4 * 50 * 3, WORD, "u4"), zeros(100, "u8"), i(50), i(3),
       ("u8", 0x66E94BD4EF8A2C3B), ("u8", 0x884CFA59CA342B2E))  # fmt: skip
def _(blocks, out, n, count, high, low):
    key, found = int(high) << 64 | int(low), []
    for row in blocks.view("u8").reshape(count, n, 2).transpose(1, 0, 2).tolist():
        tag = 0
        for a, b in row:
            x, v, tag = tag ^ (a << 64 | b), key, 0
            for bit in range(127, -1, -1):
                tag ^= v if x >> bit & 1 else 0
                v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        found += [tag >> 64, tag & (1 << 64) - 1]
    return np.array(found, "u8")


@small("twister_blocks", 2, 256, numbers(2, WORD, "u4"), zeros(2 * 624 * 2, "u4"), i(2))
def _(seeds, out, rounds):
    found = []
    for seed in seeds:
        twister = np.random.MT19937()
        twister._legacy_seeding(int(seed))
        found.append(twister.random_raw(624 * int(rounds)))
    return np.concatenate(found)


@small("xxhash_strings", 2, 32, numbers(50 * 7, WORD, "u4"), Array("offsets", "i4", 51, 7), zeros(50, "u4"), i(50),
       u(2_026), output=2)  # fmt: skip
def _(words, starts, out, n, seed):
    seed, found = int(seed), []

    def turned(x, by):
        return (x << by | x % WORD >> 32 - by) % WORD

    for row in rows_of(starts, words):
        lanes, whole = [seed + 2654435761 + 2246822519, seed + 2246822519, seed, seed - 2654435761], len(row) // 4 * 4
        for k, word in enumerate(row[:whole]):
            lanes[k % 4] = turned((lanes[k % 4] + word * 2246822519) % WORD, 13) * 2654435761 % WORD
        h = sum(turned(lane % WORD, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        h = (h if whole else seed + 374761393) + 4 * len(row)
        for word in row[whole:]:
            h = turned((h + word * 3266489917) % WORD, 17) * 668265263 % WORD
        h %= WORD
        h = (h ^ h >> 15) * 2246822519 % WORD
        h = (h ^ h >> 13) * 3266489917 % WORD
        found.append(h ^ h >> 16)
    return found


@small("modular_inverses", 3, 32, numbers(80, 1 << 30), zeros(80, "i4"), i(80), i(720_720 * 91))
def _(values, out, n, modulus):
    modulus = int(modulus)
    return [pow(a, -1, modulus) if math.gcd(a, modulus) == 1 else 0 for a in values.tolist()]


@small("miller_rabin", 3, 32, numbers(80, 3_000, "u4"), zeros(80, "u1"), i(80))
def _(values, out, n):
    return [p > 1 and all(p % d for d in range(2, math.isqrt(p) + 1)) for p in (values | 1).tolist()]


@small("josephus_last", 3, 32, numbers(160, 30), zeros(80, "i4"), i(80))
def _(circles, out, n):
    found = []
    for people, step in (circles.reshape(n, 2) + 1).tolist():
        circle, at = list(range(people)), 0
        while len(circle) > 1:
            at = (at + step - 1) % len(circle)
            del circle[at]
        found += circle
    return found


@small("big_factorials", 2, 32, numbers(50, 60), zeros(50, "i4"), i(50))
def _(values, out, n):
    return [sum(map(int, str(math.factorial(k)))) for k in values.tolist()]


@small("repetend_lengths", 2, 32, zeros(60, "i4"), zeros(2, "i4"), i(60), output=(0, 1))
def _(out, counter, n):
    primes_to_ten = [p for p in range(10 * n) if math.gcd(p, 10) == 1][:n]
    found = [next(k for k in range(1, p + 1) if (10**k - 1) % p == 0) if p > 1 else 0 for p in primes_to_ten]
    return found, [0, 0]


# Special functions.
@small("flame_points", 2, 32, Arranged("maps", "f4", 36), zeros(256, "u4"), i(50), i(25), i(16), i(6), u(8))
def _(maps, grid, threads, jumps, side, count, seed):
    found = np.zeros((side, side), int)
    for k in range(threads):
        dice = Rolled(k, seed)
        x, y = dice.part(), dice.part()
        for j in range(jumps):
            which = dice.below(count)
            m = maps.reshape(-1, 6)[which].astype("f8")
            p, q = m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]
            length = math.sqrt(1 + p * p + q * q)
            x, y = ((p, q), (math.sin(p), math.sin(q)), (p / length, q / length), (math.tanh(p), q))[which % 4]
            column, row = math.floor((x + 2) / 4 * side), math.floor((y + 2) / 4 * side)
            if j >= 10 and 0 <= column < side and 0 <= row < side:
                found[row, column] += 1
    assert found.sum() > 500
    return found.ravel()


@small("zeta_line", 2, 32, zeros(100), i(50), i(40), f(10), f(0.5), output=0, tolerance=1e-3)
def _(out, n, terms, first, step):
    m = np.arange(1, terms + 1)
    sums = (m ** -(0.5 + 1j * (first + step * np.arange(n)[:, None]))).sum(axis=1)
    return np.stack([sums.real, sums.imag], axis=1).ravel()


@small("planck_colours", 2, 32, Arranged("temperatures", "f4", 50, 12_000), zeros(100), i(50), i(40), tolerance=1e-3)
def _(temperatures, out, n, steps):
    wave = 380 + 400 * (np.arange(steps) + 0.5) / steps

    def lobe(centre, left, right):
        return np.exp(-0.5 * ((wave - centre) * np.where(wave < centre, left, right)) ** 2)

    light = (560 / wave) ** 5 / (np.exp(1.4387769e7 / temperatures[:, None].astype("f8") / wave) - 1)
    eyes = (1.056 * lobe(599.8, 0.0264, 0.0323) + 0.362 * lobe(442.0, 0.0624, 0.0374)
            - 0.065 * lobe(501.1, 0.049, 0.0382),
            0.821 * lobe(568.8, 0.0213, 0.0247) + 0.286 * lobe(530.9, 0.0613, 0.0322),
            1.217 * lobe(437.0, 0.0845, 0.0278) + 0.681 * lobe(459.0, 0.0385, 0.0725))  # fmt: skip
    x, y, z = (light @ eye for eye in eyes)
    return np.concatenate([x / (x + y + z), y / (x + y + z)])


@small("sky_pixels", (2, 2), (8, 4), zeros(12 * 7), i(12), i(7), i(5), f(0.5), f(0.2), output=0, tolerance=1e-3)
def _(out, width, height, samples, sun, thick):
    x, y = pixels(width, height)
    up = 0.05 + 0.95 * y
    cosine = np.sqrt(1 - up * up) * np.cos(3 * x) * np.cos(sun) + up * np.sin(sun)
    step, depth, light = 6 / up / samples, 0, 0
    for s in range(samples):
        air = np.exp(-6 * (s + 0.5) / samples)
        above = air * np.exp(-0.75 * (np.arange(8) + 0.5)).sum() * 0.75 / np.sin(sun)
        light = light + air * step * np.exp(-thick * (depth + 0.5 * air * step + above))
        depth = depth + air * step
    return (0.0597 * (1 + cosine**2) * thick * light).ravel()


@small("knot_depths", (2, 2), (8, 8), zeros(12 * 10), i(12), i(10), i(25), f(1.5), output=0, tolerance=2e-3)
def _(out, width, height, most, twist):
    x, y = pixels(width, height)
    way = np.stack([1.6 * (x - 0.5), 1.2 * (y - 0.5), np.ones_like(x)])
    way /= np.linalg.norm(way, axis=0)
    depth, open_ways = np.ones_like(x), np.ones_like(x, bool)
    for _ in range(most):
        a, b, c = depth * way - [[[0]], [[0]], [[4]]]
        ring, turn = np.hypot(a, b) - 1.2, np.exp(1j * twist * np.arctan2(b, a))
        p = abs(turn.real * ring + turn.imag * c) - 0.2
        away = np.hypot(p, turn.real * c - turn.imag * ring) - 0.15
        open_ways &= (away >= 1e-3) & (depth <= 7)
        depth = np.where(open_ways, depth + 0.5 * away, depth)
    assert (depth < 5).sum() > 10
    return np.minimum(depth, 7).ravel()


@small("panel_influences", (3, 5), (8, 4), Arranged("wing", "f4", 42), zeros(400), i(20), tolerance=1e-3)
def _(corners, out, n):
    z = corners[::2] + 1j * corners[1::2].astype("f8")
    length, way = abs(np.diff(z)), np.diff(z) / abs(np.diff(z))
    middles = (z[1:] + z[:-1]) / 2
    at = (middles[:, None] - z[:-1]) / way
    flow = np.log(abs(at) / abs(at - length)) + 1j * np.angle((at - length) / at)
    found = (np.conj(-1j * way[:, None]) * flow * way).real / (2 * np.pi)
    np.fill_diagonal(found, 0.5)
    return found.ravel()


@small("winding_numbers", (2, 2), (8, 8), zeros(12 * 10), i(12), i(10), i(40), output=0, tolerance=1e-4)
def _(out, width, height, turns):
    omega, strength = pixels(width, height)
    place = np.zeros_like(omega)
    for _ in range(turns):
        place = place + omega - 0.9 * strength / (2 * np.pi) * np.sin(2 * np.pi * place)
    return (place / turns).ravel()


@small("hypergeometric", 2, 32, Arranged("within", "f8", 50, 80), zeros(50, "f8"), i(50), ("f8", 0.5), ("f8", 1.25),
       ("f8", 2.5), tolerance=1e-12)  # fmt: skip
def _(values, out, n, a, b, c):
    m = np.arange(600)
    ratios = (a + m) * (b + m) / ((c + m) * (m + 1)) * values[:, None]
    return 1 + ratios.cumprod(axis=1).sum(axis=1)


@small("lambert_w", 2, 32, unit(50, "f8", 50), zeros(50, "f8"), i(50), tolerance=1e-12)
def _(values, out, n):
    w = np.log1p(values)
    for _ in range(60):
        w -= (w - values * np.exp(-w)) / (1 + w)
    return w


@small("planet_places", 2, 32, Arranged("orbits", "f8", 60), zeros(50, "f8"), i(50), i(20), ("f8", -2.0), ("f8", 0.05),
       tolerance=1e-11)  # fmt: skip
def _(table, out, n, terms, first, step):
    amplitudes, phases, speeds = table.reshape(terms, 3).T
    return np.cos(phases + speeds * (first + step * np.arange(n)[:, None])) @ amplitudes


@small("lens_rays", 2, 32, normal(100, high=8), Arranged("surfaces", "f4", 24), zeros(100), i(50), i(6), output=2,
       tolerance=1e-3)  # fmt: skip
def _(starts, surfaces, out, n, count):
    found = []
    for x, y in starts.reshape(n, 2).astype("f8"):
        place, way, stopped = np.array([x, y, 0]), np.array([0, 0, 1.0]), False
        for gap, radius, ratio, opening in surfaces.reshape(count, 4).astype("f8"):
            place[2] -= gap
            centre = np.array([0, 0, radius])
            along = way @ (place - centre)
            inside = along**2 - ((place - centre) ** 2).sum() + radius**2
            stopped = inside < 0
            if not stopped:
                place = place + (-along - math.copysign(math.sqrt(inside), radius)) * way
                stopped = place[:2] @ place[:2] > opening
            if stopped:
                break
            across = (place - centre) / radius
            cosine = -way @ across
            way = ratio * way + (ratio * cosine - math.sqrt(1 - ratio**2 * (1 - cosine**2))) * across
        found += [-1, -1] if stopped else [place[0], place[1]]
    assert 10 < found.count(-1) < 90
    return found


# Shared memory and barriers.
@small("bit_reversed_rows", 2, 32, normal(128), zeros(128), i(6), smem=256)
def _(values, out, bits):
    order = [int(f"{k:06b}"[::-1], 2) for k in range(64)]
    return values.reshape(-1, 64)[:, order].ravel()


@small("cyclic_reduction", 2, 32, Arranged("three diagonals", "f4", 4 * 64 * 2, 64), zeros(128), i(64), smem=1_024,
       tolerance=1e-4)  # fmt: skip
def _(systems, out, n):
    found = []
    for lower, middle, upper, right in systems.reshape(-1, 4, n).astype("f8"):
        found.append(np.linalg.solve(np.diag(lower[1:], -1) + np.diag(middle) + np.diag(upper[:-1], 1), right))
    return np.ravel(found)


@small("simplex_tableaux", 3, 64, Arranged("programs", "f4", 3 * 11 * 21, 10), zeros(3), i(11), i(21), smem=4 * 11 * 22,
       tolerance=1e-3)  # fmt: skip
def _(tableaux, out, rows, columns):
    found = []
    for tableau in tableaux.reshape(-1, rows, columns).astype("f8"):
        while (least := next(iter(np.flatnonzero(tableau[-1, :-1] < -1e-9)), None)) is not None:
            ratios = [row[-1] / row[least] if row[least] > 1e-9 else np.inf for row in tableau[:-1]]
            pivot = tableau[np.argmin(ratios)]
            pivot /= pivot[least]
            for row in tableau:
                if row is not pivot and not np.shares_memory(row, pivot):
                    row -= row[least] * pivot
        found.append(tableau[-1, -1])
    return found


@small("householder_qr", 2, 64, normal(2 * 20 * 20), zeros(800), i(20), smem=4 * 20 * 21, seen=np.abs, tolerance=1e-3)
def _(matrices, out, n):
    return abs(np.linalg.qr(matrices.reshape(-1, n, n).astype("f8"))[1]).ravel()


@small("jacobi_rotations", 2, 64, Arranged("symmetric", "f4", 256 * 3, 16), zeros(48), i(3), i(6), smem=36 * 64,
       tolerance=1e-3, seen=lambda a: np.sort(a.reshape(3, 16)))  # fmt: skip
def _(matrices, out, n, sweeps):
    return np.linalg.eigvalsh(matrices.reshape(n, 16, 16).astype("f8"))


@small("triangular_inverse", 2, 32, Arranged("lower", "f8", 800, 20), zeros(800, "f8"), i(20), smem=6_400,
       tolerance=1e-10)  # fmt: skip
def _(matrices, out, n):
    return np.linalg.inv(matrices.reshape(-1, n, n)).ravel()


@small("batcher_pairs", 2, 64, numbers(256, WORD, "u4"), numbers(256, 1 << 31, "u4"), zeros(512, "u4"), i(128),
       smem=1_024, output=2)  # fmt: skip
def _(keys, values, out, n):
    pairs = np.stack([keys, values], axis=1).reshape(-1, n, 2)
    return np.take_along_axis(pairs, pairs[..., :1].argsort(axis=1), axis=1).ravel()


@small("counting_sort_rows", 2, 256, numbers(800, 200, "u1"), zeros(800, "u1"), i(400))
def _(rows, out, n):
    return np.sort(rows.reshape(-1, n), axis=1).ravel()


@small("excitable_cells", 1, 256, numbers(4_096, 6, "u1"), zeros(4_096, "u1"), i(6), i(3), i(1))
def _(worlds, out, kinds, turns, least):
    world = worlds.reshape(64, 64).astype(int)
    for _ in range(turns):
        near = sum(np.roll(world == 1, by, axis) for axis in (0, 1) for by in (1, -1))
        world = np.where(world, (world + 1) % kinds, near >= least)
    return world.ravel()


@small("hll_tubes", 2, 32, Arranged("gas", "f4", 3 * 50 * 2, 50), zeros(300), i(50), i(6), f(0.2), smem=1_200,
       tolerance=1e-4)  # fmt: skip
def _(tubes, out, cells, steps, ratio):
    gas = tubes.reshape(-1, 3, cells).astype("f8").transpose(1, 0, 2)
    for _ in range(steps):
        density, moved, energy = gas
        speed = moved / density
        pressure = 0.4 * (energy - 0.5 * moved * speed)
        sound = np.sqrt(1.4 * pressure / density)
        flux = np.stack([moved, moved * speed + pressure, (energy + pressure) * speed])
        low, high = speed - sound, speed + sound
        low = np.minimum(np.minimum(low[:, 1:], low[:, :-1]), 0)
        high = np.maximum(np.maximum(high[:, 1:], high[:, :-1]), 0)
        across = high * flux[..., :-1] - low * flux[..., 1:] + low * high * np.diff(gas)
        gas = gas.copy()
        gas[..., 1:-1] -= float(ratio) * np.diff(across / (high - low))
    return gas.transpose(1, 0, 2).ravel()


@small("chain_orders", 2, 32, numbers(26, 50, "u1"), zeros(2, "i4"), i(12), smem=4 * (144 + 13))
def _(sides, out, n):
    found = []
    for row in (sides.reshape(-1, n + 1).astype(int) + 1).tolist():
        costs = {(k, k): 0 for k in range(n)}
        for apart in range(1, n):
            for a in range(n - apart):
                b = a + apart
                costs[a, b] = min(costs[a, m] + costs[m + 1, b] + row[a] * row[m + 1] * row[b + 1] for m in range(a, b))
        found.append(costs[0, n - 1])
    return found


# Atomics.
@small("hog_cells", (2, 3), (32, 8), numbers(40 * 20, 256, "u1"), zeros(9 * 5 * 3), i(40), i(20), tolerance=1e-3)
def _(picture, out, width, height):
    p = np.pad(picture.reshape(height, width).astype("f8"), 1, mode="edge")
    dx, dy = p[1:-1, 2:] - p[1:-1, :-2], p[2:, 1:-1] - p[:-2, 1:-1]
    size, angle = np.hypot(dx, dy), np.arctan2(dy, dx) / np.pi % 1 * 9
    low, (y, x) = np.minimum(angle.astype(int), 8), np.indices((height, width)) // 8
    found = np.zeros((3, 5, 9))
    np.add.at(found, (y, x, low), size * (1 - angle + low))
    np.add.at(found, (y, x, (low + 1) % 9), size * (angle - low))
    return found.ravel()


@small("edge_degrees", 2, 64, Arranged("popular", "i4", 600, 50), zeros(50, "i4"), zeros(50, "i4"), i(300),
       output=(1, 2))  # fmt: skip
def _(edges, ins, outs, n):
    return np.bincount(edges[1::2], minlength=50), np.bincount(edges[::2], minlength=50)


@small("cas_products", 2, 64, numbers(100, 30), Arranged("factors", "f4", 100), zeros(30, "i4"), i(100), output=2,
       seen=lambda a: a.view("f4"), tolerance=1e-5)  # fmt: skip
def _(groups, factors, products, n):
    return [np.prod(factors[groups == g]) if (groups == g).any() else 0 for g in range(30)]


@small("voxel_centroids", 2, 64, unit(300), zeros(4 * 27), i(100), i(3), f(3), tolerance=1e-4)
def _(points, cells, n, side, scale):
    points = points.reshape(3, n)
    x, y, z = (points * np.float32(scale)).astype(int).clip(0, side - 1)
    found = np.zeros((side**3, 4))
    np.add.at(found, (z * side + y) * side + x, np.append(points, np.ones((1, n)), axis=0).T)
    return found.ravel()


@small("sweep_and_prune", 3, 32, Arranged("sorted boxes", "f4", 320, 12), Arranged("heights", "f4", 160),
       zeros(80, "i4"), i(80), output=2)  # fmt: skip
def _(boxes, heights, out, n):
    rows = np.append(boxes.reshape(n, 4), heights.reshape(n, 2), axis=1)
    return [
        sum(all(a[d] <= b[d + 1] and b[d] <= a[d + 1] for d in (0, 2, 4)) for b in rows[k + 1 :])
        for k, a in enumerate(rows)
    ]


# Ways apart and local arrays.
@small("sudoku_fill", 1, 32, Arranged("sudokus", "u1", 81 * 6, 42), zeros(81 * 6, "u1"), i(6))
def _(puzzles, out, n):
    found = []
    for cells in puzzles.reshape(81, n).T.tolist():
        peers = [
            [
                p
                for p in range(81)
                if p // 9 == c // 9 or p % 9 == c % 9 or (p // 27, p % 9 // 3) == (c // 27, c % 9 // 3)
            ]
            for c in range(81)
        ]

        def filled(cells, peers=peers):
            if 0 not in cells:
                return cells
            c = cells.index(0)
            for digit in sorted({*range(1, 10)} - {cells[p] for p in peers[c]}):
                if full := filled([*cells[:c], digit, *cells[c + 1 :]]):
                    return full
            return None

        found.append(filled(cells))
    return np.transpose(found).ravel()


@small("glob_matches", 5, 64, Arranged("globs", "u1", 20 * 16, 16), Arranged("names", "u1", 300 * 16, 16),
       zeros(300, "u1"), i(300), i(20), i(16), output=2)  # fmt: skip
def _(patterns, names, out, n, kinds, pitch):
    patterns, names = ([row.tobytes().split(b"\0")[0] for row in a.reshape(-1, pitch)] for a in (patterns, names))
    rules = [p.replace(b"*", b".*").replace(b"?", b".") for p in patterns]
    found = [re.fullmatch(rules[k % kinds], name) is not None for k, name in enumerate(names)]
    assert 5 < sum(found) < 250
    return found


@small("roman_numerals", 3, 32, numbers(80, 4_000), zeros(16 * 80, "i1"), i(80))
def _(values, out, n):
    def digit(k, one, five, ten):
        return ["", one, 2 * one, 3 * one, one + five, five, five + one, five + 2 * one, five + 3 * one, one + ten][k]

    texts = [
        "M" * (v // 1000) + digit(v // 100 % 10, *"CDM") + digit(v // 10 % 10, *"XLC") + digit(v % 10, *"IVX")
        for v in values.tolist()
    ]
    return padded_rows([text.encode() for text in texts], 16)


@small("jaro_pairs", 3, 32, numbers(32 * 40, 6, "u1"), numbers(40, 33), numbers(160, 40), zeros(80), i(80), output=3,
       tolerance=1e-5)  # fmt: skip
def _(names, lengths, pairs, out, n):
    names = [name[:length].tolist() for name, length in zip(names.reshape(-1, 32), lengths, strict=True)]
    found = []
    for a, b in ((names[x], names[y]) for x, y in pairs.reshape(n, 2)):
        reach, taken = max(max(len(a), len(b)) // 2 - 1, 0), []
        for at, letter in enumerate(a):
            near = [j for j in range(max(at - reach, 0), min(at + reach + 1, len(b))) if j not in taken]
            taken += [next((j for j in near if b[j] == letter), None)]
        ours = [a[at] for at, j in enumerate(taken) if j is not None]
        theirs = [b[j] for j in sorted(j for j in taken if j is not None)]
        m, crossed = len(ours), sum(x != y for x, y in zip(ours, theirs, strict=True)) // 2
        found.append((m / len(a) + m / len(b) + (m - crossed) / m) / 3 if m else 0)
    return found


@small("hull_sizes", 2, 32, Arranged("point sets", "i2", 2 * 30 * 12, 30), zeros(60, "i4"), i(30), i(12))
def _(points, out, n, count):
    found = []
    for places in points.reshape(count, n, 2).transpose(1, 0, 2).astype(int):
        corners, area = set(), 0
        for a in {tuple(p) for p in places.tolist()}:
            # A corner's neighbour in the hull is the place that has all others on its left side.
            for b in {tuple(p) for p in places.tolist()} - {a}:
                d = np.subtract(b, a)
                side = d[0] * (places - a)[:, 1] - d[1] * (places - a)[:, 0]
                along = (places - a) @ d
                if ((side > 0) | ((side == 0) & (along >= 0) & (along <= d @ d))).all():
                    corners.add(a)
                    area += a[0] * b[1] - a[1] * b[0]
        found += [len(corners), area]
    return found


@small("dijkstra_small", 2, 32, numbers(256 * 50, 100, "u1"), zeros(50, "i4"), i(50))
def _(lengths, out, n):
    away = lengths.reshape(16, 16, n).astype(int) + 1
    for k in range(16):
        away = np.minimum(away, away[:, k : k + 1] + away[k : k + 1])
    return away[0, 1:].sum(axis=0)


@small("k_smallest_heaps", 2, 32, numbers(50 * 60, 1 << 30), zeros(16 * 50, "i4"), i(50), i(60),
       seen=lambda a: np.sort(a.reshape(16, -1), axis=0))  # fmt: skip
def _(values, out, n, length):
    return np.sort(values.reshape(length, n), axis=0)[:16]


@small("self_avoiding_walks", 2, 32, zeros(50, "i4"), i(50), u(77), output=0)
def _(out, n, seed):
    found = []
    for k in range(n):
        dice, at, seen = Rolled(k, seed), (16, 16), {(16, 16)}
        while min(at) > 0 and max(at) < 31:
            beside = [(at[0] + dx, at[1] + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
            free = [place for place in beside if place not in seen]
            if not free:
                break
            at = free[dice.below(len(free))]
            seen.add(at)
        found.append(len(seen) - 1)
    return found


@small("xdrop_extend", 2, 32, numbers(300, 4, "u1"), numbers(301, 4, "u1"), numbers(100, 300), zeros(50, "i4"), i(50),
       i(300), i(300), i(12), output=3)  # fmt: skip
def _(a, b, seeds, out, n, size_a, size_b, drop):
    found = []
    for x, y in seeds.reshape(n, 2).tolist():
        both = 0
        for p, q in ((a[x:], b[y:size_b]), (a[:x][::-1], b[:y][::-1])):
            score = best = 0
            for same in (s == t for s, t in zip(p, q, strict=False)):
                score += 5 if same else -4
                best = max(best, score)
                if score < best - drop:
                    break
            both += best
        found.append(both)
    return found


@small("poker_hands", 2, 64, zeros(9, "i4"), i(300), u(14), output=0)
def _(kinds, hands, seed):
    def straight(ranks):
        return any({(low + k) % 13 for k in range(5)} <= ranks for low in (12, *range(9)))

    found = np.zeros(9, int)
    for k in range(hands):
        dice, cards = Rolled(k, seed), []
        while len(cards) < 7:
            card = dice.below(52)
            cards += [card] if card not in cards else []
        equal = sorted(Counter(card % 13 for card in cards).values())[::-1]
        suits = [{card % 13 for card in cards if card // 13 == suit} for suit in range(4)]
        flush = next((suit for suit in suits if len(suit) >= 5), set())
        tests = (straight(flush), equal[0] == 4, equal[0] == 3 and equal[1] >= 2, len(flush) > 0,
                 straight({card % 13 for card in cards}), equal[0] == 3, equal[:2] == [2, 2],
                 equal[0] == 2)  # fmt: skip
        found[8 - [*tests, True].index(True)] += 1
    return found


@small("reversi_moves", 2, 32, numbers(50, 1 << 62, "u8"), numbers(51, 1 << 62, "u8"), zeros(50, "u8"), i(50), output=2)
def _(mine, theirs, out, n):
    found = []
    for own, other in zip(mine.tolist(), theirs[:n].tolist(), strict=True):
        own &= ~other
        moves = 0
        for start in (k for k in range(64) if own >> k & 1):
            for dx, dy in ((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y):
                x, y, run = start % 8 + dx, start // 8 + dy, 0
                while 0 <= x < 8 and 0 <= y < 8 and other >> 8 * y + x & 1:
                    x, y, run = x + dx, y + dy, run + 1
                if run and 0 <= x < 8 and 0 <= y < 8 and not own >> 8 * y + x & 1:
                    moves |= 1 << 8 * y + x
        found.append(moves)
    return np.array(found, "u8")


# Code.
@small("fft_registers<32>", 2, 32, normal(2 * 32 * 50), zeros(2 * 32 * 50), i(50), tolerance=1e-4)
def _(values, out, n):
    values = values.astype("f8").view("c16").reshape(32, n)
    return np.fft.fft(values, axis=0).ravel().view("f8")


@small("mass_action<200>", 2, 32, unit(12 * 50), unit(200), zeros(600), i(50), i(4), f(0.002), output=2, tolerance=1e-4)
def _(start, rates, out, n, steps, dt):
    amounts = start.reshape(12, n).astype("f8")
    for _ in range(steps):
        change = np.zeros_like(amounts)
        for r, rate in enumerate(rates.tolist()):
            a, b, c = (5 * r + 1) % 12, (7 * r + r // 12 + 3) % 12, (11 * r + r // 5 + 2) % 12
            flow = rate * amounts[a] * amounts[b]
            for species, share in ((a, -1), (b, -1), (c, 2)):
                change[species] += share * flow
        amounts = amounts + float(dt) * change
    return amounts.ravel()


# Rows, votes, copies.
@small("bundle_hypervectors", 3, 64, numbers(32 * 6, WORD, "u4"), zeros(6, "u4"), i(2), i(3))
def _(vectors, out, groups, words):
    vectors = vectors.reshape(groups, 32, words)
    return sum(((vectors >> b & 1).sum(axis=1) > 16).astype("u4") << b for b in range(32)).ravel()


@small("session_lengths", 3, 64, Arranged("clicks", "i4", 6 * 70, 60), Array("offsets", "i4", 7, 70), zeros(12, "i4"),
       i(6), i(60), output=2)  # fmt: skip
def _(times, starts, out, users, pause):
    found = []
    for row in rows_of(starts, times):
        begins = [0, *(k for k in range(1, len(row)) if row[k] - row[k - 1] > pause), len(row)]
        found += [len(begins) - 1, max(b - a for a, b in pairwise(begins))]
    return found


@small("async_gemv", 2, 64, normal(3 * 1_024), normal(1_024), zeros(3), i(3), i(256), smem=4_096, output=2,
       tolerance=1e-3)  # fmt: skip
def _(matrix, vector, out, rows, quads):
    return matrix.reshape(rows, -1).astype("f8") @ vector


@small("async_byte_bins", 2, 64, numbers(4 * 7 * 64, WORD, "u4"), zeros(256, "u4"), i(7), smem=2_048)
def _(words, bins, tiles):
    return np.bincount(words.view("u1"), minlength=256)


@small("sparsemax_rows", 2, 64, normal(128 * 3), zeros(128 * 3), i(3), tolerance=1e-4)
def _(values, out, rows):
    found = []
    for row in values.reshape(rows, 128).astype("f8"):
        ordered = np.sort(row)[::-1]
        shifts = (ordered.cumsum() - 1) / np.arange(1, 129)
        found.append(np.maximum(row - shifts[ordered > shifts][-1], 0))
    return np.ravel(found)


@small("best_runs", 3, 64, Arranged("within", "i4", 900, 10_000), zeros(3, "i4"), i(300))
def _(values, out, length):
    found = []
    for row in values.reshape(-1, length).tolist():
        best = here = 0
        for value in row:
            here = max(here + value, 0)
            best = max(best, here)
        found.append(best)
    return found


@small("bootstrap_means", 2, 32, normal(40), zeros(50), i(50), i(40), u(6), smem=160, tolerance=1e-4)
def _(sample, out, n, size, seed):
    return [np.mean([sample[dice.below(size)] for _ in range(size)]) for dice in (Rolled(k, seed) for k in range(n))]


@small("kendall_counts", 3, 32, numbers(160, 80), zeros(1, "i4"), i(80), smem=256)
def _(ranks, total, n):
    x, y = ranks.reshape(n, 2).T
    return [(np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).sum()]


# Pictures and fields.
@small("dilated_conv", 2, 64, normal(32 * 20), Arranged("within", "f4", 3_072, 20), zeros(640), i(20), i(3), output=2,
       tolerance=1e-4)  # fmt: skip
def _(values, weights, out, n, apart):
    rows, weights = values.reshape(n, 32).astype("f8"), weights.reshape(3, 32, 32)
    padded = np.append(np.zeros((2 * apart, 32)), rows, axis=0)
    sums = sum(padded[(2 - tap) * apart : (2 - tap) * apart + n] @ weights[tap] for tap in range(3))
    return np.tanh(sums).ravel()


@small("dilate_disc", (2, 2), (16, 8), numbers(20 * 12, 256, "u1"), zeros(240, "u1"), i(20), i(12), i(3),
       smem=22 * 14)  # fmt: skip
def _(picture, out, width, height, radius):
    padded = np.pad(picture.reshape(height, width), radius, mode="edge")
    return np.max(
        [
            padded[radius + y : radius + y + height, radius + x : radius + x + width]
            for y in range(-radius, radius + 1)
            for x in range(-radius, radius + 1)
            if x * x + y * y <= radius * radius
        ],
        axis=0,
    ).ravel()


@small("advect_field", (2, 2), (16, 8), normal(240), normal(480, high=3), zeros(240), i(20), i(12), f(1.5), output=2,
       tolerance=1e-3)  # fmt: skip
def _(field, flow, out, width, height, dt):
    (y, x), field = np.indices((height, width)), field.reshape(height, width)
    u, v = flow.reshape(height, width, 2).transpose(2, 0, 1).astype("f8")
    x, y = np.clip(x - dt * u, 0, width - 1.001), np.clip(y - dt * v, 0, height - 1.001)
    a, b = x.astype(int), y.astype(int)
    upper = field[b, a] * (1 - x + a) + field[b, a + 1] * (x - a)
    lower = field[b + 1, a] * (1 - x + a) + field[b + 1, a + 1] * (x - a)
    return (upper * (1 - y + b) + lower * (y - b)).ravel()


@small("elastic_stress", (2, 2), (16, 8), normal(240), normal(240, high=2), normal(720), zeros(720), i(20), i(12),
       f(0.3), f(0.2), output=3, tolerance=1e-4)  # fmt: skip
def _(vx, vy, stress, out, width, height, stiff, shear):
    vx, vy = (a.reshape(height, width).astype("f8") for a in (vx, vy))
    dx, dy = np.diff(vx, axis=1, prepend=vx[:, :1]), np.diff(vy, axis=0, prepend=vy[:1])
    turn = np.diff(vx, axis=0, append=vx[-1:]) + np.diff(vy, axis=1, append=vy[:, -1:])
    change = np.stack([stiff * (dx + dy) + 2 * shear * dx, stiff * (dx + dy) + 2 * shear * dy, shear * turn])
    return stress + change.ravel()


# Streams.
@small("dropout_add", 2, 32, normal(400), normal(400, high=2), zeros(400), i(100), u(200), f(1.11), u(4), output=2,
       tolerance=1e-5)  # fmt: skip
def _(residual, values, out, n, keep, scale, seed):
    kept = hashes(np.arange(n) ^ int(seed)).view("u1") < keep
    return residual + np.where(kept, scale * values, 0)


@small("zone_filter", 6, 64, Arranged("zone rows", "i4", 600, 100), Arranged("zones", "i4", 12, 100), zeros(1, "i4"),
       i(100), i(300_000), i(700_000), output=2)  # fmt: skip
def _(rows, zones, count, each, low, high):
    found = ((rows >= low) & (rows <= high)).sum()
    assert 0 < found < 600
    return [found]


@small("pixel_shuffle", (2, 2, 3), (8, 8), normal(12 * 35), zeros(12 * 35), i(7), i(5), i(2))
def _(values, out, width, height, times):
    return values.reshape(-1, times, times, height, width).transpose(0, 3, 1, 4, 2).ravel()


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in fourteenth_cases.cases() for a in case.arguments if isinstance(a, Arranged)}
    assert {a.kind for a in launched} == fourteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_chains_hold_all_keys_of_their_bucket():
    heads, links = (Arranged(kind, "i4", *sizes).make() for kind, sizes in (("heads", (8, 50)), ("links", (50, 8))))
    seen = []
    for at in heads.tolist():
        while at >= 0:
            seen.append(at)
            at = links[at]
    assert sorted(seen) == list(range(50))


def test_a_puzzle_comes_from_a_full_square():
    puzzle = Arranged("sudokus", "u1", 81, 0).make().reshape(9, 9)
    parts = [*puzzle, *puzzle.T, *puzzle.reshape(3, 3, 3, 3).transpose(0, 2, 1, 3).reshape(9, 9)]
    assert {tuple(sorted(part)) for part in parts} == {tuple(range(1, 10))}
    assert (Arranged("sudokus", "u1", 8_100, 30).make() == 0).sum() == 3_000
