"""The kernels of the twentieth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from tests.hardware import twentieth_cases
from tests.hardware.in_python import by_thread, rows_of, turned
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twentieth_cases import WORD, Given, rows_of_keys
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("lattice_gas_words", "sturm_counts", "stamped_times", "mma_mixing", "ackermann_values")
small = SmallLaunches(twentieth_cases, SAMPLE)


def stirred(x):
    """The kernels' stirred words, of whole numbers: uint64."""
    x = np.asarray(x).astype("u8") % WORD
    x = (x ^ x >> 15) * 0x2C9277B5 % WORD
    x = (x ^ x >> 13) * 0x5F356495 % WORD
    return x ^ x >> 16


class Chance:
    """The kernels' random numbers, for an array of threads."""

    def __init__(self, thread, seed):
        self.state = stirred(np.asarray(thread).astype("u8") * 2 + 1 ^ int(seed) * 0x632BE5AB % WORD)

    def word(self):
        self.state = (self.state * 1664525 + 1013904223) % WORD
        return stirred(self.state)

    def below(self, limit):
        return (self.word() * int(limit)) >> 32

    def part(self):
        return ((self.word() >> 9) + 0.5) / 2**23


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twentieth_cases.cases()}


# Rows of a block.
@small("mean_bearings", 3, 96, unit(3 * 150, high=3), zeros(6), i(150), tolerance=1e-3)
def _(angles, out, columns):
    mean = np.exp(1j * angles.reshape(-1, columns).astype("f8")).mean(axis=1)
    return np.stack([np.angle(mean), 1 - abs(mean)], axis=1).ravel()


@small("mean_differences", 2, 64, normal(2 * 90), zeros(2), i(90), smem=360, tolerance=1e-4)
def _(rows, out, columns):
    r = np.sort(rows.reshape(-1, columns).astype("f8"), axis=1)
    return (2 * np.arange(columns) + 1 - columns) @ r.T * 2 / columns**2


@small("trapped_rain", 3, 64, Given("towers", "i4", 3 * 150, 100), zeros(3, "i4"), i(150), smem=1_200)
def _(towers, out, length):
    t = towers.reshape(-1, length)
    water = np.minimum(np.maximum.accumulate(t, axis=1), np.maximum.accumulate(t[:, ::-1], axis=1)[:, ::-1])
    return (water - t).sum(axis=1)


@small("beam_relaxation", 2, 64, normal(2 * 90), zeros(180), i(90), i(9), smem=720, tolerance=1e-4)
def _(loads, out, nodes, steps):
    q, w = loads.reshape(-1, nodes).astype("f8"), np.zeros((2, nodes))
    stiff = np.array([1, -4, 6, -4, 1])
    for _ in range(steps):
        left = [np.convolve(row, stiff, "valid") for row in w]
        w[:, 2:-2] += 0.7 * (q[:, 2:-2] - left) / 6
    return w.ravel()


@small("storage_values", 2, 64, unit(2 * 15), zeros(2), i(15), i(80), smem=640, tolerance=1e-4)
def _(prices, out, days, levels):
    found = []
    for path in prices.reshape(-1, days).astype("f8"):
        worth = np.zeros(levels)
        for price in path[::-1]:
            filled = np.append(worth[1:] - 1.02 * price - 0.01, -np.inf)
            sold = np.append(-np.inf, worth[:-1] + 0.98 * price - 0.01)
            worth = 0.9998 * np.max([worth, filled, sold], axis=0)
        found.append(worth[0])
    assert max(found) > 0.1
    return found


@small("nodal_derivatives", 2, 64, normal(432), normal(36), zeros(1_296), output=2, tolerance=1e-4)
def _(values, matrix, out):
    v, d = values.reshape(-1, 6, 6, 6).astype("f8"), matrix.reshape(6, 6)
    ways = [np.einsum(how, d, v) for how in ("xj,ezyj->ezyx", "yj,ezjx->ezyx", "zj,ejyx->ezyx")]
    return np.stack(ways, axis=1).ravel()


@small("linking_numbers", 2, 64, normal(2 * 8 * 40), zeros(2), i(40), smem=1_280, tolerance=1e-3)
def _(curves, out, points):
    found = []
    for first, second in curves.reshape(-1, 2, points, 4)[..., :3].astype("f8"):
        a, b = np.roll(first, -1, 0) - first, np.roll(second, -1, 0) - second
        apart = first[:, None] - second
        triple = np.linalg.det(np.stack(np.broadcast_arrays(apart, a[:, None], b), axis=-1))
        found.append((triple / ((apart**2).sum(axis=-1) + 0.05) ** 1.5).sum() / (4 * math.pi))
    return found


# Counts and sums by atomics.
@small("trigram_profiles", 2, 64, Given("letters", "u1", 600, 5), zeros(2_048, "u4"), i(300))
def _(documents, out, length):
    a, b, c = (documents.reshape(2, length)[:, j : length - 2 + j].astype("u8") for j in range(3))
    places = stirred(a << 16 | b << 8 | c) % 1_024
    return np.ravel([np.bincount(row.astype(int), minlength=1_024) for row in places])


@small("texture_pairs", 2, 64, Given("smooth bytes", "u1", 150 * 7, 30), zeros(256, "u4"), i(150), i(7), i(3))
def _(picture, out, width, height, far):
    levels = picture.reshape(height, width).astype(int) // 16
    return np.bincount((16 * levels[:, :-far] + levels[:, far:]).ravel(), minlength=256)


@small("pairwise_ballots", 2, 64, numbers(2 * 200, WORD, "u4"), zeros(64, "u4"), i(200))
def _(ballots, tally, n):
    ranks = ballots.view("u1").reshape(n, 8)
    wins = np.zeros((8, 8), int)
    for a, b in combinations(range(8), 2):
        wins[a, b] = (ranks[:, a] < ranks[:, b]).sum()
        wins[b, a] = n - wins[a, b]
    return wins.ravel()


@small("video_waveform", (3, 3), (16, 8), numbers(40 * 20, WORD, "u4"), zeros(256 * 40, "u4"), i(40), i(20))
def _(picture, scope, width, height):
    luma = picture.view("u1").reshape(-1, 4).astype(int) @ [54, 183, 19, 0] // 256
    return np.bincount(luma * width + np.tile(np.arange(width), height), minlength=256 * width)


@small("synapse_deliveries", 10, 64, *lists(20, 9), numbers(180, 16, "u1"), numbers(20, 3, "u1"), zeros(320), i(20),
       output=4)  # fmt: skip
def _(starts, targets, delays, fired, later, n):
    counts = np.zeros((16, n))
    rows = zip(rows_of(starts, targets), rows_of(starts, delays), fired, strict=True)
    for own, waits, silent in rows:
        for target, delay in zip(own, waits, strict=True):
            counts[delay, target] += 0 if silent else 0.25
    assert counts.sum() > 5
    return counts.ravel()


@small("tensor_mode_sums", 2, 64, Given("places of a tensor", "i4", 3 * 50, 12), normal(50), normal(32 * 12),
       normal(32 * 12, high=2), zeros(32 * 12), i(50), output=4, tolerance=1e-4)  # fmt: skip
def _(places, values, b, c, out, elements):
    x, y, z = places.reshape(elements, 3).T
    tensor = np.zeros((12, 12, 12))
    np.add.at(tensor, (x, y, z), values)
    return np.einsum("ijk,jr,kr->ir", tensor, b.reshape(12, 32), c.reshape(12, 32)).ravel()


@small("gridded_peaks", 2, 64, unit(4 * 200), zeros(36, "i4"), i(200), i(6), seen=lambda a: a.view("f4"))
def _(points, peaks, n, side):
    x, y, z, _ = points.reshape(n, 4).T
    found = np.zeros((6, 6))
    np.maximum.at(found, ((y * side).astype(int), (x * side).astype(int)), z)
    return found.ravel()


# Grids and pictures.
@small("dendrite_growth", (2, 2), (16, 8), unit(20 * 13), unit(20 * 13, high=2), zeros(260), i(20), i(13), output=2,
       tolerance=1e-3)  # fmt: skip
def _(solid, heat, out, width, height):
    p = np.pad(solid.reshape(height, width).astype("f8"), 1, "edge")
    own, w, e, n, s = p[1:-1, 1:-1], p[1:-1, :-2], p[1:-1, 2:], p[:-2, 1:-1], p[2:, 1:-1]
    arms = 1 + 0.05 * np.cos(6 * np.arctan2(s - n, e - w))
    drive = 0.9 / math.pi * np.arctan(10 * (1 - heat.reshape(height, width)))
    return (own + 0.1 * (arms**2 * (w + e + n + s - 4 * own) + own * (1 - own) * (own - 0.5 + drive))).ravel()


@small("lattice_gas_words", (1, 2), (16, 8), numbers(4 * 5 * 13, WORD, "u4"), zeros(260, "u4"), i(5), i(13))
def _(gas, out, words, height):
    cells = np.unpackbits(gas.view("u1"), bitorder="little").reshape(4, height, 32 * words).astype(bool)
    after = np.zeros_like(cells)
    for y, x in np.ndindex(height, 32 * words):
        north, east, south, west = cells[:, y, x]
        if (north, east) == (south, west) and north != east:
            north, east, south, west = east, north, west, south
        after[0, y - 1, x], after[2, (y + 1) % height, x] = north, south
        after[1, y, (x + 1) % (32 * words)], after[3, y, x - 1] = east, west
    return np.packbits(after, bitorder="little").view("u4")


@small("seismic_march", (2, 2), (16, 8), normal(20 * 13 * 7), zeros(20 * 13 * 7), i(20), i(13), i(7), f(0.05),
       smem=4 * 24 * 16, tolerance=1e-4)  # fmt: skip
def _(field, out, width, height, depth, speed):
    p = np.pad(field.reshape(depth, height, width).astype("f8"), 4, "edge")
    weights = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
    ways = np.zeros((depth, height, width))
    for axis in range(3):
        for far in range(-4, 5):
            at = [slice(4, -4)] * 3
            at[axis] = slice(4 + far, 4 + far + (depth, height, width)[axis])
            ways += weights[abs(far)] * p[tuple(at)]
    return (p[4:-4, 4:-4, 4:-4] + speed * ways).ravel()


@small("gabor_responses", (2, 2), (16, 8), normal(20 * 13), normal(196), zeros(260), i(20), i(13), output=2,
       tolerance=1e-4)  # fmt: skip
def _(picture, bank, out, width, height):
    p = np.pad(picture.reshape(height, width).astype("f8"), 3, "edge")
    near = np.lib.stride_tricks.sliding_window_view(p, (7, 7))
    return abs(np.einsum("yxji,jif->yxf", near, bank.reshape(7, 7, 4))).max(axis=-1).ravel()


# Physics and geometry.
@small("chua_circuits", 2, 32, unit(50), zeros(150), i(50), i(12), f(0.02), tolerance=1e-3)
def _(factors, out, n, steps, dt):
    def slope(p):
        x, y, z = p
        bend = -0.714 * x - 0.2145 * (abs(x + 1) - abs(x - 1))
        return np.array([(15 + factors) * (y - x - bend), x - y + z, -28 * y])

    p, dt = np.zeros((3, n)), float(dt)
    p[0] = 0.7
    for _ in range(steps):
        a = slope(p)
        b = slope(p + dt / 2 * a)
        c = slope(p + dt / 2 * b)
        p = p + dt / 6 * (a + 2 * b + 2 * c + slope(p + dt * c))
    return p.T.ravel()


@small("meteor_trails", 2, 32, unit(100), zeros(50), i(50), f(0.08), tolerance=2e-2, absolute=0.5)
def _(meteors, out, n, dt):
    found = []
    for fast, heavy in meteors.reshape(n, 2).tolist():
        speed, mass, height, dt = 12 + 50 * fast, 0.02 + 30 * heavy**3, 110, float(dt)
        least = 0.01 * mass
        while mass > least and height > 0:
            pressure = math.exp(-height / 7.2) * speed**2 * math.cbrt(mass) ** 2
            speed = max(speed - dt * 12 * pressure / mass, 3)
            mass -= dt * 0.9 * pressure * speed
            height -= dt * 0.7 * speed
        found.append(max(height, 0))
    assert max(found) > 5
    return found


@small("overlap_areas", 2, 32, normal(200), zeros(50), i(50), smem=512, tolerance=1e-3)
def _(circles, out, n):
    c = circles.reshape(n, 4).astype("f8")
    radius = 0.1 * abs(c[:, 2]) + 0.01
    found = np.zeros(n)
    for k, j in combinations(range(n), 2):
        a, b, far = radius[k], radius[j], math.dist(c[k, :2], c[j, :2])
        if far >= a + b:
            continue
        # By strips along the line through both centres.
        x = np.linspace(max(-a, far - b), min(a, far + b), 20_001)
        inside = np.minimum(np.sqrt(np.maximum(a**2 - x**2, 0)), np.sqrt(np.maximum(b**2 - (x - far) ** 2, 0)))
        found[[k, j]] += np.trapezoid(2 * inside, x)
    assert found.sum() > 0.01
    return found


@small("solid_angles", 2, 32, normal(12 * 9), normal(200, high=2), zeros(50), i(50), i(9), tolerance=1e-3, output=2)
def _(corners, points, out, n, triangles):
    c, p = corners.reshape(triangles, 3, 4)[..., :3].astype("f8"), points.reshape(n, 4)[:, :3]
    a, b, c = np.moveaxis(c - p[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    ab, bc, ca = ((x * y).sum(axis=-1) for x, y in ((a, b), (b, c), (c, a)))
    volume = (a * np.cross(b, c)).sum(axis=-1)
    return np.angle(la * lb * lc + ab * lc + bc * la + ca * lb + 1j * volume).sum(axis=1) / (2 * math.pi)


@small("lomb_powers", 2, 32, unit(60, high=9), zeros(50), i(50), i(30), f(0.05), tolerance=5e-3)
def _(samples, out, n, count, step):
    t, y = samples.reshape(count, 2).astype("f8").T
    found = []
    for k in range(n):
        waves = np.stack([np.cos(step * (k + 1) * t), np.sin(step * (k + 1) * t)], axis=1)
        best = np.linalg.lstsq(waves, y)[0]
        found.append((y**2).sum() - ((y - waves @ best) ** 2).sum())
    return found


# Matrices and doubles.
@small("double_determinants", 2, 32, unit(25 * 50, "f8"), zeros(50, "f8"), i(50), tolerance=1e-10)
def _(matrices, out, n):
    return np.linalg.det(matrices.reshape(5, 5, n).transpose(2, 0, 1) + 4 * np.eye(5))


@small("sturm_counts", 2, 32, normal(30, "f8"), normal(30, "f8", high=2), zeros(50, "i4"), i(50), i(30), f(-6), f(0.25),
       output=2)  # fmt: skip
def _(diagonal, beside, out, n, size, first, step):
    matrix = np.diag(diagonal) + np.diag(beside[1:], 1) + np.diag(beside[1:], -1)
    return np.searchsorted(np.linalg.eigvalsh(matrix), float(first) + float(step) * np.arange(n))


@small("annuity_values", 2, 32, unit(50, "f8"), zeros(50, "f8"), i(50), f(0.03), tolerance=1e-6)
def _(ages, out, n, rate):
    found = []
    for age in 20 + 70 * ages:
        years = np.arange(math.ceil(110 - age))
        alive = np.cumprod(np.exp(-0.0002 - 0.00002 * np.exp(0.1 * (age + years))))
        found.append((alive / 1.03 ** (years + 1)).sum())
    return found


@small("divided_differences", 2, 32, unit(6 * 50), normal(6 * 50), zeros(50), i(50), i(6), output=2, tolerance=2e-3)
def _(xs, ys, out, n, count):
    found = []
    for x, y in zip(xs.reshape(count, n).T.astype("f8"), ys.reshape(count, n).T, strict=True):
        x = (np.arange(count) + 0.6 * x) / count
        others = [(0.3 - np.delete(x, j)) / (x[j] - np.delete(x, j)) for j in range(count)]
        found.append(np.prod(others, axis=1) @ y)
    return found


@small("mma_mixing", 2, 64, Given("shifted halves", "u4", 3 * 128), unit(256, "f2"), zeros(384, "u4"), i(3), i(4),
       f(0.125), output=2, tolerance=2e-2, seen=lambda a: a.view("f2").astype("f8"))  # fmt: skip
def _(states, mixer, out, n, turns, factor):
    mixed = np.linalg.matrix_power(mixer.reshape(16, 16).astype("f8") * factor, int(turns))
    return (states.view("f2").reshape(n, 16, 16) @ mixed).ravel()


@small("mma_tile_product", (2, 1), 128, normal(64 * 96, "f2"), normal(128 * 96, "f2", high=2), zeros(64 * 128), i(128),
       i(96), output=2, tolerance=1e-3)  # fmt: skip
def _(a, b, c, n, inner):
    return (a.reshape(-1, inner).astype("f8") @ b.reshape(inner, n)).ravel()


# Tables, keys and texts.
@small("bit_neighbours", 2, 32, numbers(32, WORD, "u4"), numbers(50, 1 << 10, "u4"), zeros(50, "i4"), i(50), i(10),
       output=2)  # fmt: skip
def _(members, keys, out, n, bits):
    known = np.flatnonzero(np.unpackbits(members.view("u1"), bitorder="little"))
    return [sum((key ^ other).bit_count() in (1, 2) for other in known.tolist()) for key in keys.tolist()]


@small("guessed_places", 2, 32, rows_of_keys(90, 5_000), numbers(50, 5_200), zeros(50, "i4"), i(50), i(90), output=2)
def _(table, keys, out, n, size):
    return np.searchsorted(table, keys)


@small("horspool_hits", 2, 32, Given("letters", "u1", 50 * 40, 3), Given("letters", "u1", 3, 3), zeros(50, "i4"),
       i(50), i(40), i(3), output=2)  # fmt: skip
def _(text, word, out, pieces, piece, letters):
    near = np.lib.stride_tricks.sliding_window_view(text.reshape(pieces, piece), letters, axis=1)
    found = (near == word).all(axis=-1).sum(axis=1)
    assert found.sum() > 5
    return found


@small("stamped_times", 4, 32, numbers(120, 1 << 31, "u4"), zeros(600, "u4"), i(120), seen=lambda a: a.view("u1"))
def _(seconds, out, n):
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return [*"".join(f"{start + timedelta(seconds=s):%Y-%m-%d %H:%M:%S}\n" for s in seconds.tolist()).encode()]


@small("zobrist_boards", 2, 32, Given("boards", "u4", 16 * 90, 13), Given("long words", "u8", 832), zeros(90, "u8"),
       i(90), output=2)  # fmt: skip
def _(boards, words, out, n):
    squares = boards.view("u1").reshape(16, n, 4).transpose(1, 0, 2).reshape(n, 64)
    return np.bitwise_xor.reduce(words.reshape(64, 13)[np.arange(64), squares], axis=1)


@small("fingerprint_filter", 2, 64, numbers(16, WORD, "u4"), numbers(200, WORD, "u4"), zeros(200, "u1"), i(200), u(15),
       output=2)  # fmt: skip
def _(buckets, keys, out, n, mask):
    prints, h = buckets.view("u1").reshape(-1, 4), stirred(keys)
    own, first = h >> 24, (h & 15).astype(int)
    second = first ^ (stirred(own) & 15).astype(int)
    found = ((prints[first] == own[:, None]) | (prints[second] == own[:, None])).any(axis=1)
    assert found.any()
    return found


@small("spline_values", 2, 32, normal(4 * 20), unit(90), zeros(90), i(90), i(20), output=2, tolerance=1e-3)
def _(pieces, places, out, n, count):
    at = places.astype("f8") * count
    powers = (at % 1)[:, None] ** np.arange(4)
    return (pieces.reshape(count, 4)[at.astype(int)] * powers).sum(axis=1)


# Bits and numbers.
@small("chaskey_macs", 2, 32, numbers(4 * 50 * 2, WORD, "u4"), zeros(100, "u4"), i(50), i(2))
def _(messages, out, n, quads):
    found = []
    for words in messages.reshape(quads, n, 4).transpose(1, 0, 2).tolist():
        v = [0x9E3779B9, 0x7F4A7C15, 0xF39CC060, 0x5CEDC834]
        for m in words:
            v = [x ^ y for x, y in zip(v, m, strict=True)]
            for _ in range(8):
                for x, y, by in ((0, 1, 5), (2, 3, 8), (0, 3, 13), (2, 1, 7)):
                    v[x] = (v[x] + v[y]) % WORD
                    v[y] = turned(v[y], by) ^ v[x]
                    if y == 1:
                        v[x] = turned(v[x], 16)
        found += [v[0] ^ v[2], v[1] ^ v[3]]
    return found


#: What five bits, one of each word, become.
ASCON_BOX = bytes.fromhex("040b1f141a1509021b0508121d03061c1e13070e000d1118100c0119160a0f17")


@small("ascon_states", 2, 32, Given("long words", "u8", 250), zeros(250, "u8"), i(50), i(2))
def _(states, out, n, turns):
    def right(bits, by):
        return np.roll(bits, by, axis=-1)

    # The highest bit first, as numbers are written.
    bits = np.unpackbits(states.astype(">u8").view("u1")).reshape(5, n, 64)
    box = np.unpackbits(np.frombuffer(ASCON_BOX, "u1")).reshape(32, 8)[:, 3:]
    for r in [*range(12)] * int(turns):
        bits[2] ^= np.unpackbits(np.array([0xF0 - 15 * r], ">u8").view("u1"))
        bits = np.moveaxis(box[np.tensordot([16, 8, 4, 2, 1], bits.astype(int), 1)], -1, 0)
        turns_ = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
        bits = np.array([x ^ right(x, a) ^ right(x, b) for x, (a, b) in zip(bits, turns_, strict=True)])
    return np.packbits(bits).view(">u8")


@small("selector_words", 4, 32, Given("long words", "u8", 120), zeros(120, "u8"), i(120))
def _(words, out, n):
    widths, found = [*map(int, small.constants("width_of"))], []
    for word in words.tolist():
        digits = f"{word:064b}"
        width = widths[int(digits[:4], 2)]
        parts = [digits[64 - at - width : 64 - at] for at in range(0, 60, width) if at + width <= 60] if width else []
        found.append(sum(int(part, 2) for part in parts))
    return found


@small("xor_series_bits", 2, 32, Given("steps", "u4", 50 * 40, 3_000), zeros(50, "i4"), i(50), i(40))
def _(values, out, n, length):
    found = []
    for own in by_thread(values, n):
        bits, window = 32, None
        for a, b in pairwise(own):
            digits = f"{a ^ b:032b}"
            if a == b:
                bits += 1
                continue
            lead = min(digits.index("1"), 15)
            trail = 31 - digits.rindex("1")
            if window and lead >= window[0] and trail >= window[1]:
                bits += 2
            else:
                bits, window = bits + 11, (lead, trail)
            bits += 32 - sum(window)
        found.append(bits)
    return found


@small("pisano_periods", 2, 32, zeros(50, "i4"), i(50), i(2), i(40), output=0)
def _(out, n, first, span):
    found = []
    for k in range(n):
        m, pairs = int(first + k % span), [(0, 1)]
        while len(pairs) == 1 or pairs[-1] != pairs[0]:
            a, b = pairs[-1]
            pairs.append((b, (a + b) % m))
        found.append(len(pairs) - 1)
    return found


@small("korselt_flags", 10, 32, zeros(310, "u1"), i(310), i(501), output=0)
def _(out, n, first):
    found = []
    for m in range(first, first + 2 * n, 2):
        prime = all(m % d for d in range(2, math.isqrt(m) + 1))
        found.append(not prime and all(pow(a, int(m), int(m)) == a for a in range(min(m, 60))))
    assert sum(found) == 2
    return found


@small("fraction_depths", 2, 32, numbers(50, 30, "u4"), numbers(50, 37, "u4"), zeros(50, "u2"), i(50), i(20), output=2)
def _(tops, bottoms, out, n, deepest):
    found = []
    for p, q in zip(tops.tolist(), bottoms.tolist(), strict=True):
        x, parts = Fraction(p + 1, q + 1), []
        while True:
            parts.append(x.numerator // x.denominator)
            if x == parts[-1]:
                break
            x = 1 / (x - parts[-1])
        found.append(min(sum(parts) - 1, deepest))
    assert len(set(found)) > 5
    return found


@small("lane_polynomials", 2, 64, numbers(96, 12_289), numbers(96, 12_288), zeros(96, "i4"), i(3), output=2)
def _(a, b, out, n):
    found = []
    for left, right in zip(a.reshape(n, 32).astype("i8"), b.reshape(n, 32), strict=True):
        whole = np.append(np.convolve(left, right), 0)
        found.append((whole[:32] - whole[32:]) % 12_289)
    return np.ravel(found)


# Chances and stacks.
@small("bridge_points", 2, 32, zeros(50, "i4"), i(50), i(3), u(4), output=0)
def _(out, n, deals, seed):
    chance, cards, best = Chance(np.arange(n), seed), np.tile(np.arange(52), (n, 1)), np.zeros(n, int)
    threads = np.arange(n)
    for _ in range(deals):
        for c in range(13):
            other = c + chance.below(52 - c).astype(int)
            cards[threads, other], cards[:, c] = cards[:, c].copy(), cards[threads, other].copy()
        best = np.maximum(best, np.maximum(cards[:, :13] % 13 - 8, 0).sum(axis=1))
    return best


@small("cliquet_payoffs", 2, 32, zeros(50), i(50), i(4), i(5), f(0.08), u(5), output=0, tolerance=1e-3)
def _(out, n, paths, quarters, risk, seed):
    chance, paid, risk = Chance(np.arange(n), seed), np.zeros(n), float(risk)
    for _ in range(paths):
        total = np.zeros(n)
        for _ in range(quarters):
            far = np.sqrt(-2 * np.log(chance.part()))
            draw = -far * np.cos(2 * math.pi * chance.part())
            total += np.clip(np.exp(risk * draw - risk**2 / 2) - 1, -0.03, 0.05)
        paid += np.maximum(total, 0)
    return paid / paths


@small("scenario_losses", 2, 64, normal(24 * 100), zeros(100), zeros(1, "i4"), i(100), f(-0.4), f(-12), output=(1, 2),
       tolerance=1e-4)  # fmt: skip
def _(moves, out, worse, n, bend, limit):
    m, held = moves.reshape(24, n).astype("f8"), np.array(small.constants("holdings"))
    change = held @ m + float(bend) * (m**2).sum(axis=0)
    assert (change < limit).any()
    return change, [(change < limit).sum()]


@small("ackermann_values", 2, 32, numbers(50, 8), zeros(50, "i4"), i(50), smem=64 * 32)
def _(values, out, n):
    return 2 * values + 3


@small("pitched_sorts", 2, 32, numbers(24 * 50, 90), zeros(24 * 50, "i4"), i(50), i(25), smem=100 * 32)
def _(values, out, n, pitch):
    return np.sort(values.reshape(24, n), axis=0).ravel()


# Long chains and long programs.
@small("nested_radicals", 2, 32, unit(50), zeros(50), i(50), i(9), tolerance=1e-5)
def _(values, out, n, turns):
    x = values.astype("f8")
    for t in range(turns, 0, -1):
        x = np.sqrt(1 + t * x)
    return x


@small("spelled_out<70>", 2, 32, numbers(50, WORD, "u4"), zeros(50, "u4"), i(50), i(2))
def _(values, out, n, turns):
    x = values.astype("u8")
    for j in [*range(210)] * int(turns):
        x = ((x ^ x >> np.uint64(j % 13 + 3)) * ((0x9E3779B1 + 2 * 0x01F351 * j) % WORD) + 77 * j) % WORD
    return x


@small("dispatched_cases", 2, 64, zeros(120, "u4"), i(120), i(3), output=0)
def _(out, n, turns):
    found = []
    for k in range(n):
        x, order = k, int(stirred(k // 32))
        for _ in range(turns):
            for j in range(40 * (order % 8), 40 * (order % 8) + 40):
                x = (x + (0x3C6EF35F ^ 0x10DCD * j)) * (2 * j + 1) % WORD ^ x >> 7
            order = int(stirred(order + 1))
        found.append(x)
    return found


# Clusters and copies.
@small("cluster_nearest", 4, 32, normal(2 * 80), normal(2 * 128, high=2), zeros(128), i(20), smem=160, output=2,
       tolerance=1e-4)  # fmt: skip
def _(points, queries, out, part):
    apart = queries.astype("f8").view("c16")[:, None] - points.astype("f8").view("c16")
    return abs(apart).min(axis=1)


@small("cluster_running_sums", 16, 64, numbers(16 * 64 * 3, 100), zeros(16 * 64 * 3, "i4"), i(3))
def _(values, out, each):
    return values.reshape(2, -1).cumsum(axis=1).ravel()


@small("async_bags", 2, 64, normal(128 * 20), numbers(3 * 7, 20), zeros(3 * 128), i(3), i(7), smem=4_096, output=2,
       tolerance=1e-4)  # fmt: skip
def _(table, places, out, n, each):
    return table.reshape(-1, 128)[places.reshape(n, each)].sum(axis=1, dtype="f8").ravel()


# Streams and first programs.
@small("leapfrog_update", 2, 32, normal(200), normal(200, high=2), normal(200, high=3), zeros(200), zeros(200), i(50),
       f(0.01), output=(3, 4), tolerance=1e-5)  # fmt: skip
def _(places, speeds, pulls, new_places, new_speeds, n, dt):
    free = np.resize([1, 1, 1, 0], 4 * n)
    speed = speeds + dt * pulls * free
    return places + dt * speed * free, speed


@small("byte_thresholds", 2, 32, numbers(4 * 90, WORD, "u4"), zeros(90, "u2"), i(90), u(77))
def _(words, out, n, limit):
    return np.packbits(words.view("u1") >= limit, bitorder="little").view("u2")


@small("complex_magnitudes", 2, 32, normal(360), zeros(180), i(90), tolerance=1e-5)
def _(values, out, n):
    return abs(values.astype("f8").view("c16"))


@small("half_smoothsteps", 2, 32, unit(100, "f2"), zeros(100, "f2"), i(50), i(3), tolerance=2e-2)
def _(values, out, n, turns):
    x = values.astype("f8")
    for _ in range(turns):
        x = 3 * x**2 - 2 * x**3
    return x


@small("leap_years", 4, 32, numbers(120, 4_000), zeros(120, "i4"), i(120))
def _(years, out, n):
    return [(y % 4 == 0 and y % 100 != 0) or y % 400 == 0 for y in years.tolist()]


@small("hypotenuses", 2, 32, normal(50), normal(50, high=2), zeros(50), i(50), output=2, tolerance=1e-6)
def _(a, b, out, n):
    return np.hypot(a.astype("f8"), b)


# END
@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twentieth_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twentieth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_three_to_five_block_sizes():
    assert {len(names) for names in by_series(twentieth_cases.cases()).values()} <= {3, 4, 5}
