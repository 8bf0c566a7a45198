"""The kernels of the seventeenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import seventeenth_cases
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, in_halves, turned
from tests.hardware.ninth_cases import halves, lists, normal, skewed, unit
from tests.hardware.seventeenth_cases import Drawn
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("otsu_levels", "two_stacks", "simon_blocks", "fitch_scores", "cash_flow_rates")
WORD = 1 << 32
small = SmallLaunches(seventeenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in seventeenth_cases.cases()}


# Sound and pictures.
@small("mu_law_codes", 2, 64, Drawn("samples", "i2", 100, 9_000), zeros(100, "u1"), i(100))
def _(samples, out, n):
    found = []
    for v in samples.tolist():
        size = min(abs(v), 32_635) + 132
        exponent = size.bit_length() - 8
        found.append(255 - ((v < 0) * 128 + exponent * 16 + (size >> exponent + 3) % 16))
    return found


@small("lattice_voices", 2, 32, unit(8 * 50), zeros(50), i(50), i(45), f(1), tolerance=1e-3)
def _(reflections, out, n, steps, pulse):
    r = 0.8 * reflections.reshape(8, n).astype("f8") - 0.4
    back, loud = np.zeros((9, n)), 0
    for t in range(steps):
        ahead = np.full(n, 0.0 if t % 20 else 1.0)
        for j in reversed(range(8)):
            ahead = ahead - r[j] * back[j]
            back[j + 1] = back[j] + r[j] * ahead
        back[0] = ahead
        loud = loud + ahead**2
    return loud


@small("hampel_filter", 2, 64, numbers(100, 1_000), zeros(100, "i4"), i(100), i(3))
def _(readings, out, n, limit):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(readings, 3, "edge"), 7)
    median = np.median(windows, axis=1).astype(int)
    spread = np.median(abs(windows - median[:, None]), axis=1)
    return np.where(abs(readings - median) > limit * spread, median, readings)


@small("jpeg_pieces", (2, 2), 128, numbers(24 * 16, 256, "u1"), zeros(384), i(24), smem=1_024, tolerance=1e-2)
def _(picture, out, width):
    waves = np.cos(np.outer(np.arange(8), 2 * np.arange(8) + 1) * np.pi / 16) / 2
    waves[0] /= np.sqrt(2)
    pieces = picture.reshape(2, 8, 3, 8).swapaxes(1, 2) - 128.0
    return (waves @ pieces @ waves.T).swapaxes(1, 2).ravel()


@small("otsu_levels", 3, 64, numbers(3 * 200, 200, "u1"), zeros(3, "i4"), i(200))
def _(pictures, out, size):
    found = []
    for own in pictures.reshape(3, size).astype("f8"):
        parts = [(own[own <= t], own[own > t]) for t in range(255)]
        between = [a.size * b.size * (a.mean() - b.mean()) ** 2 if a.size and b.size else -1 for a, b in parts]
        found.append(np.argmax(np.round(between, 3)))
    return found


@small("sepia", (2, 2), (16, 8), numbers(3 * 20 * 12, 256, "u1"), zeros(720, "u1"), i(20), i(12), absolute=1)
def _(picture, out, width, height):
    mix = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    return np.minimum(picture.reshape(-1, 3) @ mix.T, 255).astype(int).ravel()


@small("kirsch_edges", (2, 2), (16, 8), numbers(20 * 12, 256, "u1"), zeros(240, "u2"), i(20), i(12))
def _(picture, out, width, height):
    p, found = picture.reshape(height, width).astype(int), np.zeros((height, width), int)
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    for y, x in np.ndindex(height - 2, width - 2):
        around = np.array([p[y + 1 + dy, x + 1 + dx] for dy, dx in ring])
        sums = [8 * np.roll(around, d)[:3].sum() - 3 * around.sum() for d in range(8)]
        found[y + 1, x + 1] = max(max(sums), 0) * 8 + np.argmax(sums)
    return found.ravel()


# Secrets.
@small("salsa20_blocks", 2, 32, numbers(8, WORD, "u4"), zeros(16 * 50, "u4"), i(50), i(20))
def _(key, out, n, rounds):
    key, found = key.tolist(), []
    for k in range(n):
        start = [0x61707865, *key[:4], 0x3320646E, 7, 9, k, 0, 0x79622D32, *key[4:], 0x6B206574]
        x = np.array(start, dtype=object).reshape(4, 4)
        for _ in range(rounds):
            for j in range(4):
                for step, by in enumerate((7, 9, 13, 18), 1):
                    at = (j + step) % 4, j
                    x[at] ^= turned((x[(j + step + 3) % 4, j] + x[(j + step + 2) % 4, j]) % WORD, by)
            x = x.T.copy()
        found += [(a + b) % WORD for a, b in zip(x.ravel(), start, strict=True)]
    return found


@small("simon_blocks", 2, 32, numbers(44, WORD, "u4"), numbers(100, WORD, "u4"), zeros(100, "u4"), i(50), i(44),
       output=2)  # fmt: skip
def _(keys, pairs, out, n, rounds):
    found = []
    for x, y in pairs.reshape(n, 2).tolist():
        for key in keys.tolist():
            x, y = y ^ (turned(x, 1) & turned(x, 8)) ^ turned(x, 2) ^ key, x
        found += [x, y]
    return found


def below_prime(words):
    """Numbers of four words of 64 bits, modulo 2^255 - 19."""
    whole = [int.from_bytes(row.tobytes(), "little") % (2**255 - 19) for row in words.reshape(-1, 4)]
    return np.array([[w >> 64 * j & 2**64 - 1 for j in range(4)] for w in whole], "u8").ravel()


@small("field_25519_squares", 2, 32, numbers(200, 1 << 62, "u8"), zeros(200, "u8"), i(50), i(5), seen=below_prime)
def _(numbers_, out, n, turns):
    prime, found = 2**255 - 19, []
    for row in numbers_.reshape(n, 4):
        w = pow(int.from_bytes(row.tobytes(), "little"), 2**5, prime)
        found += [w >> 64 * j & 2**64 - 1 for j in range(4)]
    return np.array(found, "u8")


@small("majority_streams", 2, 32, numbers(50, 1 << 63, "u8"), zeros(50, "u4"), i(50), i(2))
def _(keys, out, n, words):
    found = []
    for key in keys.tolist():
        state = [key % 2**19, (key >> 19) % 2**22, (key >> 41) % 2**23]
        size, taps, middle = (19, 22, 23), ((18, 17, 16, 13), (21, 20), (22, 21, 20, 7)), (8, 10, 10)
        hashed = 0
        for _ in range(words):
            bits = 0
            for _ in range(32):
                clock = [s >> m & 1 for s, m in zip(state, middle, strict=True)]
                for j in range(3):
                    if clock[j] == (sum(clock) > 1):
                        new = sum(state[j] >> t & 1 for t in taps[j]) % 2
                        state[j] = (state[j] << 1 | new) % 2 ** size[j]
                bits = bits << 1 | sum(s >> z - 1 & 1 for s, z in zip(state, size, strict=True)) % 2
            hashed = (hashed * 31 + bits) % WORD
        found.append(hashed)
    return found


# Texts and biology.
@small("ipv4_words", 2, 32, Drawn("addresses", "u1", 800, 5), zeros(50, "u4"), i(50))
def _(texts, out, n):
    found = []
    for row in texts.reshape(n, 16):
        parts = [int(p) for p in bytes(row).rstrip(b"\0").split(b".")]
        found.append(int.from_bytes(bytes(parts), "big") if max(parts) < 256 else 0)
    assert 0 in found
    return found


@small("two_stacks", 2, 32, Drawn("expressions", "u1", 50 * 30, 30), zeros(50, "u4"), i(50), i(30))
def _(texts, out, n, pitch):
    return [eval(bytes(row).rstrip(b"\0").decode()) % WORD for row in texts.reshape(n, pitch)]


@small("quality_trims", 2, 32, Drawn("qualities", "u1", 50 * 40, 40), zeros(50, "i4"), i(50), i(40), i(20))
def _(qualities, out, n, length, limit):
    found = []
    for own in qualities.reshape(n, length).astype(int):
        sums = np.cumsum(limit - own[::-1])
        sums = sums[: np.argmax(sums < 0)] if (sums < 0).any() else sums
        found.append(length - 1 - np.argmax(sums) if sums.size and sums.max() > 0 else length)
    return found


@small("fitch_scores", 2, 32, numbers(12 * 50, 4, "u1"), Drawn("joins", "u1", 22, 12), zeros(50, "u1"), i(50), i(12),
       output=2)  # fmt: skip
def _(leaves, joins, out, sites, count):
    found = []
    for row in by_thread(leaves, sites):
        sets, changes = [{v} for v in row], 0
        for a, b in joins.reshape(-1, 2).tolist():
            changes += not sets[a] & sets[b]
            sets[a] = sets[a] & sets[b] or sets[a] | sets[b]
        found.append(changes)
    return found


@small("melting_temperatures", 2, 32, numbers(50 * 20, 4, "u1"), zeros(50), i(50), i(20), tolerance=1e-3)
def _(letters, out, n, length):
    heats, disorders = (np.array(small.constants(name)) for name in ("heats", "disorders"))
    pairs = 4 * letters.reshape(length, n)[:-1] + letters.reshape(length, n)[1:]
    disorder = disorders[pairs].sum(axis=0) - 5.7 + 1.987 * np.log(1e-7)
    return 1000 * (heats[pairs].sum(axis=0) + 0.2) / disorder - 273.15


# Finance.
@small("drawdowns", 2, 32, unit(50 * 30), zeros(100), i(50), i(30), tolerance=1e-5)
def _(prices, out, n, days):
    prices, found = 1 + prices.reshape(days, n), []
    highs = np.maximum.accumulate(prices, axis=0)
    for price, high in zip(prices.T, highs.T, strict=True):
        since = longest = 0
        for p, h in zip(price, high, strict=True):
            since = since + 1 if p < h else 0
            longest = max(longest, since)
        found += [((high - price) / high).max(), longest]
    return found


@small("cash_flow_rates", 2, 32, unit(50 * 9, "f8"), zeros(50, "f8"), i(50), i(9), tolerance=1e-8)
def _(flows, out, n, years):
    found = []
    for row in by_thread(flows, n):
        low, high = -0.5, 5.0
        for _ in range(80):
            middle = (low + high) / 2
            value = sum((0.5 + v) / (1 + middle) ** (y + 1) for y, v in enumerate(row))
            low, high = (middle, high) if value > 0.4 * years else (low, middle)
        found.append(low)
    return found


# Graphs and sparse matrices.
@small("relaxed_edges", 2, 64, numbers(200, 20), numbers(100, 1_000, "u4"), numbers(20, 5_000, "u4"),
       Drawn("most", "u4", 20), i(100), output=3)  # fmt: skip
def _(edges, lengths, before, after, n):
    for (a, b), length in zip(edges.reshape(n, 2), lengths, strict=True):
        if before[a] + length < before[b]:
            after[b] = min(after[b], before[a] + length)
    return after


@small("strewn_columns", 2, 32, *lists(50, 4), unit(200), unit(50), zeros(50), i(50), output=4, tolerance=1e-4)
def _(starts, rows, values, x, out, columns):
    matrix = np.zeros((columns, columns))
    np.add.at(matrix, (rows, np.repeat(np.arange(columns), np.diff(starts))), values)
    return matrix @ x


@small("sliced_rows", 2, 64, Drawn("slices", "i4", 4, 5), numbers(480, 96), unit(480), unit(96), zeros(96), i(96),
       output=4, tolerance=1e-4)  # fmt: skip
def _(starts, columns, values, x, out, rows):
    products = values * x[columns]
    return np.concatenate([products[a:b].reshape(-1, 32).sum(axis=0) for a, b in pairwise(starts)])


@small("merged_cosines", 2, 32, *lists(50, 6), unit(300), zeros(50), i(50), output=3, tolerance=1e-4)
def _(starts, columns, values, out, rows):
    found = []
    for r in range(rows - 1):
        parts = [slice(starts[r + j], starts[r + j + 1]) for j in range(2)]
        (a, x), (b, y) = ((columns[p].tolist(), values[p].astype("f8")) for p in parts)
        both = j = m = 0
        while j < len(a) and m < len(b):
            both += x[j] * y[m] if a[j] == b[m] else 0
            j, m = j + (a[j] <= b[m]), m + (b[m] <= a[j])
        found.append(both / np.sqrt(((x @ x) + 1e-9) * ((y @ y) + 1e-9)))
    return [*found, 0]


@small("alias_draws", 2, 32, numbers(60, 30, "u4"), zeros(50, "u4"), i(50), i(30), i(6), u(17))
def _(table, out, n, places, draws, seed):
    found = []
    for k in range(n):
        dice, total = Rolled(k, seed), 0
        for _ in range(draws):
            place = dice.below(places)
            total += place if dice.word() < table[2 * place] else table[2 * place + 1]
        found.append(total)
    return found


@small("small_graph_ways", 2, 64, numbers(2 * 144, 1_000), zeros(288, "i4"), i(12), smem=576)
def _(lengths, out, n):
    ways = lengths.reshape(-1, n, n).copy()
    for v in range(n):
        through = ways[:, :, v, None] + ways[:, None, v]
        through[:, v] = through[:, :, v] = 1 << 20
        ways = np.minimum(ways, through)
    return ways.ravel()


# Atomics.
@small("nearest_points", 2, 64, unit(300), Drawn("most", "u8", 8 * 6), i(100), i(8), i(6))
def _(points, screen, n, width, height):
    depth = 1 + points[2 * n :]
    x, y = (points[:n] / depth * width).astype(int), (points[n : 2 * n] / depth * height).astype(int)
    np.minimum.at(screen, y * width + x, depth.view("u4").astype("u8") << np.uint64(32) | np.arange(n).astype("u8"))
    return screen


@small("packed_counters", 2, 64, numbers(600, 512, "u2"), zeros(1024, "u2"), i(300))
def _(rows, out, length):
    return np.concatenate([np.bincount(row, minlength=512) for row in rows.reshape(-1, length)])


@small("modular_totals", 2, 64, numbers(100, 9), numbers(100, 1_003, "u4"), zeros(9, "u4"), i(100), u(1_003), output=2)
def _(places, weights, totals, n, prime):
    return np.bincount(places, weights, 9) % 1_003


# Simulations.
@small("sand_squares", 2, 64, numbers(2 * 100, 6, "u1"), zeros(200, "u1"), i(10), i(500), smem=800)
def _(grains, out, side, limit):
    found = []
    for sand in grains.reshape(-1, side, side).astype(int):
        while (over := (sand >= 4).astype(int)).any():
            wide = np.pad(over, 1)
            sand = sand - 4 * over + wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2]
        found.append(sand.ravel())
    return np.concatenate(found)


@small("traffic_rings", 2, 32, zeros(2, "i4"), i(60), i(9), u(5), smem=120, output=0)
def _(moved, cells, steps, seed):
    cells, found = int(cells), []
    for road in range(2):
        cars = {c: 0 for c in range(cells) if hashes((road * cells + c) ^ 5) % 100 < 22}
        way = 0
        for t in range(steps):
            after = {}
            for c, speed in cars.items():
                gap = next(g for g in range(cells) if (c + g + 1) % cells in cars)
                speed = min(speed + 1, 5, gap)
                if speed and hashes((t * 2 + road) * cells + c + 77 * 5) % 8 == 0:
                    speed -= 1
                after[(c + speed) % cells] = speed
                way += speed
            cars = after
        found.append(way)
    return found


@small("coupled_clocks", 3, 32, unit(80, high=6), unit(80), zeros(80), i(80), f(2), smem=128, output=2, tolerance=1e-4)
def _(phases, speeds, out, n, pull):
    return speeds + pull * np.sin(phases - phases[:, None].astype("f8")).mean(axis=1)


@small("roessler_peaks", 2, 32, unit(50, high=4), zeros(50), i(50), i(60), f(0.02), tolerance=1e-3)
def _(parameters, out, n, steps, dt):
    def slope(s):
        return np.stack([-s[1] - s[2], s[0] + 0.2 * s[1], 0.2 + s[2] * (s[0] - 2 - parameters)])

    s, peak = np.stack([np.ones(n), np.ones(n), np.zeros(n)]), 0
    for _ in range(steps):
        s = s + 0.02 * slope(s + 0.01 * slope(s))
        peak = np.maximum(peak, s[2])
    return peak


@small("bouncing_balls", 2, 32, numbers(50, 3_000), zeros(50, "i4"), i(50), i(300))
def _(heights, out, n, limit):
    found = []
    for height in (heights + 1_000).tolist():
        speed = touches = 0
        for _ in range(limit):
            speed -= 10
            height += speed
            if height <= 0:
                touches, height, speed = touches + 1, -height, -speed * 7 // 8
                if speed < 20:
                    break
        found.append(touches)
    return found


@small("cart_poles", 2, 32, unit(100), zeros(50, "i4"), i(50), i(30), absolute=1)
def _(starts, out, n, steps):
    angle, turn = 0.1 * starts.reshape(2, n).astype("f8") - 0.05
    x, dx, found = np.zeros(n), np.zeros(n), np.zeros(n, int)
    up = np.ones(n, bool)
    for _ in range(steps):
        up &= (abs(angle) < 0.21) & (abs(x) < 2.4)
        found += up
        s, c = np.sin(angle), np.cos(angle)
        part = (np.where(angle + 0.5 * turn > 0, 10, -10) + 0.05 * turn**2 * s) / 1.1
        faster = (9.8 * s - c * part) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        x, dx = x + 0.02 * dx, dx + 0.02 * (part - 0.05 * faster * c / 1.1)
        angle, turn = angle + 0.02 * turn, turn + 0.02 * faster
    return found


@small("oldest_out", 2, 32, zeros(50, "i4"), i(50), i(40), i(20), u(3), output=0)
def _(out, n, requests, pages, seed):
    found = []
    for k in range(n):
        dice, held, misses = Rolled(k, seed), [], 0
        for _ in range(requests):
            page = min(dice.below(pages), dice.below(pages))
            misses += page not in held
            held = [page, *(p for p in held if p != page)][:8]
        found.append(misses)
    return found


# Geometry.
@small("circumcircles", 2, 32, unit(300, "f8"), zeros(150, "f8"), i(50), tolerance=1e-6)
def _(corners, out, n):
    corners = corners.reshape(n, 3, 2)
    sides = 2 * (corners[:, 1:] - corners[:, :1])
    squares = (corners**2).sum(axis=2)
    middle = np.linalg.solve(sides, (squares[:, 1:] - squares[:, :1])[..., None])[..., 0]
    return np.concatenate([*middle.T, np.linalg.norm(middle - corners[:, 0], axis=1)])


@small("crossed_segments", 3, 32, numbers(320, 20_000), zeros(80, "i4"), i(80), smem=512)
def _(segments, out, n):
    a, b = segments.reshape(n, 2, 2).swapaxes(0, 1).astype(int)

    def side(p):
        u, v = (b - a)[:, None], p - a[:, None]
        return np.sign(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    apart = side(a) * side(b) < 0
    return (apart & apart.T).sum(axis=1)


@small("shown_lines", 2, 32, unit(200), zeros(50), i(50), tolerance=1e-4)
def _(lines, out, n):
    found = []
    for x, y, to_x, to_y in lines.reshape(n, 4).astype("f8").tolist():
        low, high = 0.0, 1.0
        for at, by in ((x, to_x - x), (y, to_y - y)):
            ends = sorted(((0.25 - at) / by, (0.75 - at) / by))
            low, high = max(low, ends[0]), min(high, ends[1])
        found.append(max(high - low, 0) * np.hypot(to_x - x, to_y - y))
    return found


@small("polygon_areas", 2, 32, skewed(50, 6), numbers(600, 5_000), zeros(50, "i8"), i(50), output=2)
def _(starts, corners, out, n):
    corners, found = corners.reshape(-1, 2).astype(int), []
    for a, b in pairwise(starts):
        own = corners[a:b]
        last = np.roll(own, 1, axis=0)
        found.append(abs((last[:, 0] * own[:, 1] - last[:, 1] * own[:, 0]).sum()))
    return found


# Tensor cores.
@small("nearest_codes_mma", 2, 64, halves(16 * 48), halves(16 * 24, 2), unit(24, high=40), zeros(48, "i4"), i(48),
       i(24), output=3)  # fmt: skip
def _(rows, codes, squares, out, n, count):
    products = in_halves(rows).reshape(n, 32) @ in_halves(codes).reshape(count, 32).T
    return (squares - 2 * products).argmin(axis=1)


@small("deep_layers_mma", 2, 64, halves(8 * 48), Drawn("small halves", "u4", 128 * 3), zeros(8 * 48, "u4"), i(48),
       i(3), output=2, seen=in_halves, tolerance=2e-2)  # fmt: skip
def _(rows, weights, out, n, layers):
    x = in_halves(rows).reshape(n, 16)
    for layer in in_halves(weights).reshape(layers, 16, 16):
        x = np.maximum(x @ layer.T, 0)
    assert x.any()
    return x.ravel()


# Cooperative groups and clusters.
@small("row_ranges<8>", 2, 64, numbers(14 * 30, 1 << 30), zeros(28, "i4"), i(14), i(30))
def _(rows, out, n, length):
    rows = rows.reshape(n, length)
    return np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1).ravel()


@small("lowest_balances", 2, 64, Drawn("bookings", "i4", 7 * 40, 99), zeros(7, "i4"), i(7), i(40))
def _(bookings, out, n, length):
    return np.minimum(bookings.reshape(n, length).cumsum(axis=1).min(axis=1), 0)


@small("kept_by_block", 2, 64, numbers(2 * 150, 1_000), zeros(300, "i4"), zeros(2, "i4"), i(150), i(700), output=(1, 2),
       seen=np.sort)  # fmt: skip
def _(values, kept, counts, each, limit):
    above = values * (values >= limit)
    return np.sort(above), np.sort((above.reshape(2, -1) > 0).sum(axis=1))


@small("cluster_bins", 8, 64, numbers(8 * 300, 4_096, "u2"), zeros(8_192, "i4"), i(300))
def _(values, out, each):
    return np.concatenate([np.bincount(own, minlength=4_096) for own in values.reshape(2, -1)])


@small("cluster_unit_rows", 4, 64, unit(4 * 150), zeros(600), i(150), tolerance=1e-4)
def _(rows, out, half_length):
    rows = rows.reshape(2, -1).astype("f8")
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).ravel()


# Copies on their way.
@small("async_filter", 2, 64, unit(5 * 1_024 + 16), unit(16), zeros(5 * 1_024), i(5), output=2, tolerance=1e-4)
def _(samples, taps, out, pieces):
    return np.convolve(samples, taps[::-1], "valid")[:-1]


@small("async_dots", 2, 64, unit(4 * 3 * 50), unit(4 * 3 * 50, high=2), zeros(3), i(3), i(50), smem=6_144, output=2,
       tolerance=1e-4)  # fmt: skip
def _(left, right, out, n, quads):
    return (left * right).reshape(n, -1).sum(axis=1)


@small("bulk_row_peaks", 2, 64, normal(5 * 72), zeros(360), i(5), i(72), smem=288, tolerance=1e-5)
def _(values, out, rows, columns):
    values = values.reshape(rows, columns)
    return (values / abs(values).max(axis=1, keepdims=True)).ravel()


# Codes and numbers.
@small("straight_rounds<300>", 2, 32, numbers(50, WORD, "u4"), zeros(50, "u4"), i(50), i(2))
def _(values, out, n, turns):
    found = []
    for b, a in enumerate(values.tolist()):
        for r in [*range(300)] * int(turns):
            a = (a ^ b >> r % 7 + 3) + (r * 40503 ^ 0x5BD1E995) & WORD - 1
            b = turned(b, r % 13 + 1) * (2 * r + 5) % WORD ^ a
        found.append(a ^ b)
    return found


@small("fibonacci_codes", 2, 32, numbers(50, 1 << 30, "u4"), zeros(50, "u8"), i(50))
def _(values, out, n):
    line, found = [1, 2], []
    while line[-1] <= 1 << 30:
        line.append(line[-1] + line[-2])
    for v in (values + 1).tolist():
        code = top = 0
        for j in reversed(range(len(line))):
            if line[j] <= v:
                v, code, top = v - line[j], code | 1 << j, max(top, j)
        found.append(code | 2 << top)
    return found


@small("xor_bits", 2, 32, Drawn("sensor", "u4", 50 * 20, 50), zeros(50, "i4"), i(50), i(20))
def _(series, out, n, length):
    found = []
    for row in by_thread(series, n):
        bits, lead, trail = 32, 33, 33
        for differ in (a ^ b for a, b in pairwise(row)):
            if not differ:
                bits += 1
                continue
            before, behind = 32 - differ.bit_length(), (differ & -differ).bit_length() - 1
            fits = before >= lead and behind >= trail
            lead, trail = (lead, trail) if fits else (before, behind)
            bits += (2 if fits else 12) + 32 - lead - trail
        found.append(bits)
    return found


@small("thirteen_bits", 2, 64, numbers(32 * 3, 8_192, "u2"), zeros(39, "u4"), i(3))
def _(values, out, groups):
    bits = (values.reshape(groups, 32, 1) >> np.arange(13) & 1).astype("u1")
    return np.packbits(bits.ravel(), bitorder="little").view("u4")


@small("gnome_rows", 2, 32, numbers(50 * 12, 100, "u1"), zeros(50, "i4"), i(50), i(12))
def _(rows, out, n, length):
    return [sum(a > b for j, a in enumerate(row) for b in row[j:]) for row in by_thread(rows, n)]


@small("permutation_cycles", 2, 32, zeros(100, "i4"), i(50), i(20), u(9), output=0)
def _(out, n, size, seed):
    found = []
    for k in range(n):
        dice, to, seen, lengths = Rolled(k, seed), list(range(size)), set(), []
        for j in range(size - 1, 0, -1):
            other = dice.below(j + 1)
            to[j], to[other] = to[other], to[j]
        for j in range(size):
            before, at = len(seen), j
            while at not in seen:
                seen.add(at)
                at = to[at]
            lengths.append(len(seen) - before)
        found += [max(lengths), sum(x > 0 for x in lengths)]
    return found


# First programs.
@small("is_prime_plain", 2, 32, zeros(50, "i4"), i(50), i(1_000), output=0)
def _(out, n, first):
    return [all(v % d for d in range(2, v)) for v in range(first, first + n)]


@small("darts", 2, 32, zeros(50, "i4"), i(50), i(20), u(4), output=0)
def _(out, n, throws, seed):
    found = []
    for k in range(n):
        dice = Rolled(k, seed)
        places = [(dice.word() >> 17, dice.word() >> 17) for _ in range(throws)]
        found.append(sum(x * x + y * y < 32_768**2 for x, y in places))
    return found


@small("smeared", 2, 64, unit(100), unit(31), zeros(100), i(100), i(31), output=2, tolerance=1e-4)
def _(values, filter_, out, n, taps):
    return np.convolve(values, filter_[::-1], "same")


@small("particle_energies", 2, 64, unit(700), zeros(100), i(100), tolerance=1e-4)
def _(particles, out, n):
    p = particles.reshape(n, 7)
    return p[:, 3] * (0.5 * (p[:, 4:] ** 2).sum(axis=1) + 9.81 * p[:, 2])


# More of these.
@small("boxed_rounds", 2, 32, numbers(8, WORD, "u4"), numbers(100, WORD, "u4"), zeros(100, "u4"), i(50), output=2)
def _(keys, pairs, out, n):
    boxes, keys, found = np.array(small.constants("swap_boxes"), int).reshape(8, 16).tolist(), keys.tolist(), []
    for x, y in pairs.reshape(n, 2).tolist():
        for key in keys * 3 + keys[::-1]:
            total = (x + key) % WORD
            x, y = y ^ turned(sum(boxes[b][total >> 4 * b & 15] << 4 * b for b in range(8)), 11), x
        found += [x, y]
    return found


@small("three_branches", 3, 32, unit(3), zeros(3), i(20), f(0.02), smem=328, tolerance=1e-4)
def _(strikes, out, steps, up):
    found = []
    for strike in 50 + 100 * strikes.astype("f8"):
        worth = np.maximum(strike - 100 * np.exp(0.02 * np.arange(-steps, steps + 1.0)), 0)
        for t in range(steps - 1, -1, -1):
            held = 0.999 * (0.16 * worth[:-2] + 0.67 * worth[1:-1] + 0.17 * worth[2:])
            worth = np.maximum(held, strike - 100 * np.exp(0.02 * np.arange(-t, t + 1.0)))
        found.append(worth[0])
    return found


@small("sun_heights", 2, 32, unit(100, "f8"), zeros(50, "f8"), i(50), i(24), tolerance=1e-8)
def _(places, out, n, hours):
    latitude, day = np.array([[1.2], [365]]) * places.reshape(n, 2).T
    tilt = 0.4093 * np.sin(0.0172142 * (day - 81))
    turn = 2 * np.pi * np.arange(24)[:, None] / 24 - np.pi
    height = np.arcsin(np.sin(latitude) * np.sin(tilt) + np.cos(latitude) * np.cos(tilt) * np.cos(turn))
    light = height > 0
    return np.degrees((height * light).sum(axis=0) / np.maximum(light.sum(axis=0), 1))


@small("free_tops", 2, 32, unit(150, "f8"), zeros(150, "f8"), i(50), i(20), ("f8", 0.01), tolerance=1e-9)
def _(starts, out, n, steps, dt):
    s = starts.reshape(3, n) + np.array([[0], [0.1], [0]])
    for _ in range(steps):
        middle = s + 0.005 * np.stack([-0.5 * s[1] * s[2], s[2] * s[0], -1.5 * s[0] * s[1]])
        s = s + 0.01 * np.stack([-0.5 * middle[1] * middle[2], middle[2] * middle[0], -1.5 * middle[0] * middle[1]])
    return s.ravel()


@small("held_loudness", 2, 32, Drawn("samples", "i2", 50 * 40, 9_000), zeros(2_000, "i2"), i(50), i(40))
def _(sound, out, n, length):
    found, gain = [], np.full(n, 4_096)
    for row in sound.reshape(length, n).astype(int):
        v = row * gain >> 12
        gain = np.where(abs(v) > 12_000, gain - (gain >> 4), gain + np.where(gain < 32_768, (gain >> 10) + 1, 0))
        found.append(v.clip(-32_768, 32_767))
    return np.concatenate(found)


@small("zero_crossings", 2, 64, Drawn("samples", "i2", 3 * 96, 900), zeros(3, "i4"), i(3), i(96))
def _(sound, out, frames, length):
    return (np.diff(sound.reshape(frames, length) < 0, axis=1)).sum(axis=1)


@small("parts_minus_holes", 3, 64, numbers(3 * 12 * 9, 2, "u1"), zeros(3, "i4"), i(12), i(9))
def _(pictures, out, width, height):
    found = []
    for picture in pictures.reshape(3, height, width):
        wide = np.pad(picture, 1).astype(bool)
        corners = wide[1:, 1:] | wide[:-1, 1:] | wide[1:, :-1] | wide[:-1, :-1]
        across, down = wide[:, 1:] | wide[:, :-1], wide[1:] | wide[:-1]
        joined = corners.sum() - across.sum() - down.sum() + wide.sum()
        apart = (wide[1:, 1:] & wide[:-1, :-1] & ~wide[1:, :-1] & ~wide[:-1, 1:]).sum()
        apart += (wide[1:, :-1] & wide[:-1, 1:] & ~wide[1:, 1:] & ~wide[:-1, :-1]).sum()
        found.append(joined + apart)
    return found


@small("rolled_out", (2, 2), (16, 8), numbers(40 * 40, 256, "u1"), zeros(20 * 12, "u1"), i(40), i(20), i(12),
       absolute=1)  # fmt: skip
def _(picture, out, size, width, height):
    picture = picture.reshape(size, size).astype("f8")
    angle, far = 2 * np.pi * np.arange(width) / width, 0.49 * size * (np.arange(height)[:, None] + 0.5) / height
    x, y = size / 2 + far * np.cos(angle), size / 2 + far * np.sin(angle)
    left, top = x.astype(int), y.astype(int)
    dx, dy = x - left, y - top
    upper = picture[top, left] * (1 - dx) + picture[top, left + 1] * dx
    lower = picture[top + 1, left] * (1 - dx) + picture[top + 1, left + 1] * dx
    return np.floor(upper * (1 - dy) + lower * dy + 0.5).ravel()


@small("genotype_tests", 2, 32, numbers(150, 60), zeros(50), i(50), tolerance=1e-4)
def _(counts, out, n):
    found = []
    for row in by_thread(counts + 1.0, n):
        p = (row[0] + row[1] / 2) / sum(row)
        expected = sum(row) * np.array([p * p, 2 * p * (1 - p), (1 - p) ** 2])
        found.append(math.erfc(math.sqrt(((row - expected) ** 2 / expected).sum() / 2)))
    return found


@small("packed_genotypes", 2, 64, numbers(3 * 50, WORD, "u4"), zeros(12, "i4"), i(3), i(50))
def _(words, out, n, each):
    found = []
    for own in words.reshape(n, each, 1) >> 2 * np.arange(16, dtype="u4") & 3:
        counts = np.bincount(own.ravel(), minlength=4)
        found += [counts[3], counts[2], counts[1], 2 * counts[3] + counts[2]]
    return found


@small("volume_prices", 2, 64, numbers(2 * 14 * 20, 9_999), zeros(14), i(14), i(20), tolerance=1e-5)
def _(trades, out, bars, each):
    price, volume = trades.reshape(bars, each, 2).transpose(2, 0, 1)
    return (price * volume.astype("f8")).sum(axis=1) / volume.sum(axis=1)


@small("turned_overlaps", 2, 32, unit(250), zeros(50, "u1"), i(50))
def _(boxes, out, n):
    x, y, w, h, turn = boxes.reshape(n, 5).T.astype("f8")
    w, h, axes = 0.1 + 0.4 * w, 0.1 + 0.4 * h, np.stack([np.cos(3 * turn), np.sin(3 * turn)])
    across = np.stack([-axes[1], axes[0]])
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    corners = np.stack([np.stack([x, y]) + a * w * axes + b * h * across for a, b in signs])
    apart = np.zeros(n - 1, bool)
    for axis in (axes[:, :-1], across[:, :-1], axes[:, 1:], across[:, 1:]):
        first, second = ((part * axis).sum(axis=1) for part in (corners[..., :-1], corners[..., 1:]))
        apart |= (first.max(axis=0) < second.min(axis=0)) | (second.max(axis=0) < first.min(axis=0))
    assert 0 < apart.sum() < n - 1
    return np.append(~apart, 0)


@small("happy_steps", 2, 32, numbers(50, 1 << 31, "u4"), zeros(50, "i4"), i(50))
def _(values, out, n):
    found = []
    for v in (values + 1).tolist():
        steps = 0
        while v not in (1, 4):
            v, steps = sum(int(c) ** 2 for c in str(v)), steps + 1
        found.append(-steps if v == 1 else steps)
    return found


@small("rule_110_rings", 2, 64, numbers(96, WORD, "u4"), zeros(96, "u4"), i(3), i(9))
def _(rings, out, n, steps):
    cells = np.unpackbits(rings.view("u1"), bitorder="little").reshape(n, -1)
    for _ in range(steps):
        cells = 110 >> 4 * np.roll(cells, -1, axis=1) + 2 * cells + np.roll(cells, 1, axis=1) & 1
        cells = cells.astype("u1")
    return np.packbits(cells, bitorder="little").view("u4")


@small("half_maps", 2, 32, Drawn("half parts", "u4", 50), zeros(50, "u4"), i(50), i(9), f(3.4), seen=in_halves,
       tolerance=2e-2)  # fmt: skip
def _(starts, out, n, steps, growth):
    x = in_halves(starts)
    x, total = x / (1 + x), 0
    for _ in range(steps):
        x = 3.4 * x * (1 - x)
        total = total + 0.01 * x
    return total


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in seventeenth_cases.cases() for a in case.arguments if isinstance(a, Drawn)}
    assert {a.kind for a in launched} == seventeenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []
