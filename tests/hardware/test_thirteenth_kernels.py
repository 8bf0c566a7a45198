"""The kernels of the thirteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

from tests.hardware import thirteenth_cases
from tests.hardware.in_python import in_halves, rows_of
from tests.hardware.ninth_cases import halves, lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.thirteenth_cases import Composed
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("tf32_product", "hmm_forward", "join_parts", "cloth_relax", "tree_likelihoods", "few_groups")
WORD = 1 << 32
small = SmallLaunches(thirteenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in thirteenth_cases.cases()}


def scrambled(h):
    h = int(h) % WORD
    h = (h ^ h >> 16) * 0x7FEB352D % WORD
    h = (h ^ h >> 15) * 0x846CA68B % WORD
    return h ^ h >> 16


def states(state):
    """The states of the kernels' random numbers, without an end."""
    state = int(state)
    while True:
        state = (state * 1664525 + 1013904223) % WORD
        yield state


def chances(state):
    """Numbers between 0 and 1 from a state, without an end."""
    return (((state >> 9) + 0.5) / 2**23 for state in states(state))


def edges(picture, by):
    """A picture with ``by`` more pixels on each side that repeat its edge."""
    return np.pad(picture, by, mode="edge")


def bilinear(picture, x, y):
    """A picture between its pixels, at places within it."""
    a, b = np.floor(x).astype(int), np.floor(y).astype(int)
    wx, wy = x - a, y - b
    upper = picture[b, a] * (1 - wx) + picture[b, a + 1] * wx
    return upper * (1 - wy) + (picture[b + 1, a] * (1 - wx) + picture[b + 1, a + 1] * wx) * wy


# Tensor cores.
@small("tf32_product", (2, 1), 128, normal(64 * 48), normal(48 * 64, high=2), zeros(64 * 64), i(64), i(48), output=2,
       tolerance=2e-2, absolute=5e-2)  # fmt: skip
def _(a, b, c, n, depth):
    return (a.reshape(64, depth).astype("f8") @ b.reshape(depth, n)).ravel()


@small("attend_mma", (2, 2), 64, halves(2 * 64 * 16), halves(2 * 64 * 16, 2), halves(2 * 64 * 16, 3), zeros(4_096),
       i(64), output=3, tolerance=1e-2)  # fmt: skip
def _(q, k, v, out, length):
    q, k = (in_halves(part).reshape(2, length, 32) for part in (q, k))
    v = in_halves(v).reshape(2, 32, length).transpose(0, 2, 1)
    shares = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(32))
    return (shares / shares.sum(axis=2, keepdims=True) @ v).ravel()


@small("hmm_forward", 2, 64, Composed("moves", "u4", 128), unit(128), numbers(64 * 12, 8, "u1"), zeros(64), i(64),
       i(12), output=3, tolerance=1e-2)  # fmt: skip
def _(moves, emits, symbols, out, n, length):
    moves, state, logs = in_halves(moves).reshape(16, 16).T, np.full((n, 16), 1 / 16), np.zeros(n)
    for row in symbols.reshape(length, n):
        state = state @ moves * emits.reshape(8, 16)[row]
        logs += np.log(state.sum(axis=1))
        state /= state.sum(axis=1, keepdims=True)
    return logs


@small("double_product", 2, 64, normal(32 * 24, "f8"), normal(32 * 24, "f8", 2), zeros(1_024, "f8"), i(32), i(24),
       output=2, tolerance=1e-12)  # fmt: skip
def _(a, b, c, n, depth):
    return (a.reshape(n, depth) @ b.reshape(n, depth).T).ravel()


# Machine learning.
@small("elman_cells<64>", 2, 64, normal(2 * 10 * 64), Composed("small", "f4", 4_096, 8), zeros(128), i(10), output=2,
       tolerance=1e-4)  # fmt: skip
def _(inputs, weights, out, steps):
    hidden = np.zeros((2, 64))
    for row in inputs.reshape(2, steps, 64).transpose(1, 0, 2):
        hidden = np.tanh(row + hidden @ weights.reshape(64, 64))
    return hidden.ravel()


@small("deconv_twice", (1, 3), (32, 4), normal(9 * 6 * 3), normal(48), zeros(4 * 54), i(9), i(6), i(3), output=2,
       tolerance=1e-4)  # fmt: skip
def _(pictures, weights, out, width, height, channels):
    found = np.zeros((2 * height + 4, 2 * width + 4))
    for plane, taps in zip(pictures.reshape(channels, height, width), weights.reshape(-1, 4, 4), strict=True):
        for y, x in np.ndindex(height, width):
            found[2 * y : 2 * y + 4, 2 * x : 2 * x + 4] += plane[y, x] * taps
    return found[1 : 2 * height + 1, 1 : 2 * width + 1].ravel()


@small("focal_gradients", 2, 32, normal(100, high=2), numbers(100, 2, "u1"), zeros(100), i(100), f(2.5), output=2,
       tolerance=1e-4)  # fmt: skip
def _(logits, labels, out, n, gamma):
    sign = 2.0 * labels - 1
    right = 1 / (1 + np.exp(-sign * logits))
    return sign * (1 - right) ** gamma * (gamma * right * np.log(right) + right - 1)


@small("deform_sample", 2, 32, normal(2 * 60), normal(120, high=4), zeros(120), i(10), i(6), i(2), output=2,
       tolerance=1e-4)  # fmt: skip
def _(pictures, moves, out, width, height, channels):
    y, x = np.divmod(np.arange(width * height), width)
    places = moves.reshape(-1, 2) + np.stack([x, y], axis=1) + 20
    return np.ravel([bilinear(np.pad(plane, 20), *places.T) for plane in pictures.reshape(channels, height, width)])


@small("embed_backward", 2, 64, Composed("few words", "i4", 50, 20), normal(50 * 6), zeros(120), i(50), i(6), output=2,
       tolerance=1e-4)  # fmt: skip
def _(tokens, gradients, table, n, width):
    found = np.zeros((20, width))
    np.add.at(found, tokens, gradients.reshape(n, width))
    return found.ravel()


@small("sinkhorn_plans", 2, 32, unit(2 * 100), zeros(200), i(10), i(6), f(0.2), smem=4 * 10 * 13, tolerance=1e-4)
def _(costs, out, n, turns, blur):
    plans = np.exp(-costs.reshape(2, n, n) / float(blur))
    for _ in range(turns):
        plans /= plans.sum(axis=2, keepdims=True)
        plans /= plans.sum(axis=1, keepdims=True)
    return plans.ravel()


def baked(*shape, first):
    k = np.arange(first, first + math.prod(shape)).reshape(shape)
    return ((k * 2654435761 % WORD >> 16 & 255) - 128) / 256


@small("baked_network<16>", 2, 32, normal(8 * 50), zeros(50), i(50), tolerance=1e-3)
def _(values, out, n):
    first = np.maximum(baked(16, first=0)[:, None] + baked(16, 8, first=1_000) @ values.reshape(8, n), 0)
    second = np.maximum(baked(16, first=100)[:, None] + baked(16, 16, first=5_000) @ first, 0)
    return baked(16, first=200) @ second


# Images.
@small("clahe_map", (2, 3), (32, 8), numbers(50 * 20, 256, "u1"), numbers(256 * 4 * 2, 256, "u1"),
       zeros(1_000, "u1"), i(50), i(20), i(16), output=2)  # fmt: skip
def _(picture, curves, out, width, height, tile):
    curves = curves.reshape(2, 4, 256).astype(int)
    found = []
    for k, grey in enumerate(picture):
        x, y = max((k % width + 0.5) / tile - 0.5, 0), max((k // width + 0.5) / tile - 0.5, 0)
        a, b = int(x), int(y)
        (p, q), (r, s) = curves[np.ix_([min(b, 1), min(b + 1, 1)], [min(a, 3), min(a + 1, 3)], [grey])][..., 0]
        upper, lower = p + (q - p) * (x - a), r + (s - r) * (x - a)
        found.append(int(upper + (lower - upper) * (y - b)))
    return found


@small("lens_undistort", (2, 3), (32, 8), numbers(50 * 20, 256, "u1"), zeros(1_000), i(50), i(20), f(-0.15), f(0.03),
       tolerance=1e-2)  # fmt: skip
def _(picture, out, width, height, k1, k2):
    y, x = np.divmod(np.arange(width * height), width)
    u, v = (x - width / 2) * 2 / width, (y - height / 2) * 2 / width
    factor = 1 + k1 * (u**2 + v**2) + k2 * (u**2 + v**2) ** 2
    sx, sy = (np.clip(w * factor * width / 2 + n / 2, 0, n - 1.001) for w, n in ((u, width), (v, height)))
    return bilinear(picture.reshape(height, width).astype("f8"), sx, sy)


@small("harris_response", (3, 2), (16, 8), unit(40 * 15), zeros(600), i(40), i(15), tolerance=1e-3)
def _(picture, out, width, height):
    wide = edges(picture.reshape(height, width).astype("f8"), 1)
    gx, gy = wide[1:-1, 2:] - wide[1:-1, :-2], wide[2:, 1:-1] - wide[:-2, 1:-1]
    xx, yy, xy = (
        sum(np.roll(edges(part, 1), (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1))[1:-1, 1:-1]
        for part in (gx * gx, gy * gy, gx * gy)
    )
    return (xx * yy - xy**2 - 0.04 * (xx + yy) ** 2).ravel()


@small("kuwahara", (2, 3), (32, 8), unit(50 * 20), zeros(1_000), i(50), i(20), tolerance=1e-5)
def _(picture, out, width, height):
    wide = edges(picture.reshape(height, width).astype("f8"), 2)
    found = []
    for y, x in np.ndindex(height, width):
        windows = [wide[y + a : y + a + 3, x + b : x + b + 3] for a in (0, 2) for b in (0, 2)]
        found.append(min(windows, key=np.var).mean())
    return found


@small("rle_rows", 2, 64, Composed("runs", "u1", 3 * 75, 6), zeros(225, "u4"), zeros(3, "i4"), i(3), i(75),
       output=(1, 2))  # fmt: skip
def _(picture, runs, counts, lines, width):
    found = np.zeros((lines, width), int)
    number = []
    for line, row in zip(found, picture.reshape(lines, width).astype(int), strict=True):
        starts = np.flatnonzero(np.append(True, np.diff(row) != 0))
        line[: len(starts)] = starts << 8 | row[starts]
        number.append(len(starts))
    return found.ravel(), number


@small("ssim_squares", 3, 64, unit(64 * 6), unit(64 * 6, high=2), zeros(6), i(3), i(6), output=2, tolerance=1e-4)
def _(a, b, out, across, squares):
    p, q = (part.reshape(-1, 8, across, 8).transpose(0, 2, 1, 3).reshape(squares, 64).astype("f8") for part in (a, b))
    mp, mq = p.mean(axis=1), q.mean(axis=1)
    both = (p * q).mean(axis=1) - mp * mq
    return (2 * mp * mq + 1e-4) * (2 * both + 9e-4) / ((mp**2 + mq**2 + 1e-4) * (p.var(axis=1) + q.var(axis=1) + 9e-4))


@small("brief_codes", 2, 64, numbers(60 * 50, 256, "u1"), numbers(6, 18), numbers(512, 1_024, "u2"), zeros(24, "u4"),
       i(3), i(60), output=3)  # fmt: skip
def _(picture, points, pairs, out, n, width):
    found = []
    for x, y in points.reshape(n, 2):
        square = picture.reshape(-1, width)[y : y + 32, x : x + 32].ravel()
        less = square[pairs[::2]] < square[pairs[1::2]]
        found.append(np.packbits(less, bitorder="little").view("u4"))
    return np.ravel(found)


@small("back_project", (2, 3), (16, 8), normal(7 * 25), Composed("ways", "f4", 14), zeros(400), i(20), i(7), i(25),
       output=2, tolerance=1e-3)  # fmt: skip
def _(seen, ways, out, side, angles, detectors):
    y, x = np.divmod(np.arange(side * side), side) - np.array(side / 2)
    found = np.zeros(side * side)
    for row, (c, s) in zip(seen.reshape(angles, detectors), ways.reshape(angles, 2), strict=True):
        at = x * c + y * s + detectors / 2
        found += np.interp(at, np.arange(detectors), row, left=0, right=0)
    return found


# Physics.
@small("cloth_relax", 2, 32, Composed("cloth", "f4", 150, 5), zeros(150), i(5), i(4), smem=24 * 25, tolerance=1e-4)
def _(points, out, side, turns):
    p = points.reshape(2, 3, side, side).astype("f8")
    for _ in range(turns):
        moved = np.zeros_like(p)
        for axis in (2, 3):
            apart = np.diff(p, axis=axis)
            pull = 0.2 * apart * (1 - 1 / np.sqrt((apart**2).sum(axis=1, keepdims=True) + 1e-6))
            pads = [(0, 0)] * 4
            pads[axis] = (0, 1)
            moved += np.pad(pull, pads)
            pads[axis] = (1, 0)
            moved -= np.pad(pull, pads)
        moved[:, 2] -= 0.01
        moved[:, :, 0] = 0
        p = p + moved
    return p.ravel()


@small("conjugate_rows", 2, 64, unit(200), normal(200), zeros(200), i(100), i(60), smem=1_600, output=2, tolerance=1e-3)
def _(extra, right, out, n, turns):
    rows = -np.eye(n, k=1) - np.eye(n, k=-1)
    return np.ravel([np.linalg.solve(rows + np.diag(2 + d), b)
                     for d, b in zip(extra.reshape(2, n), right.reshape(2, n), strict=True)])  # fmt: skip


@small("eikonal_tiles", (2, 2), (16, 16), unit(20 * 30, high=60), unit(600), zeros(600), i(20), i(30), i(5), output=2,
       tolerance=1e-4)  # fmt: skip
def _(times, slowness, out, width, height, turns):
    slow, now, start = (part.reshape(height, width).astype("f8") for part in (slowness, times, times))
    tile = np.indices((height, width)) // 16
    for _ in range(turns):
        following = now.copy()
        for y, x in np.ndindex(height, width):
            around = []
            for dy, dx in ((0, -1), (0, 1), (-1, 0), (1, 0)):
                inside = 0 <= y + dy < height and 0 <= x + dx < width
                same = inside and (tile[:, y, x] == tile[:, y + dy, x + dx]).all()
                around.append((now if same else start)[y + dy, x + dx] if inside else 1e6)
            a, b, s = min(around[:2]), min(around[2:]), slow[y, x]
            better = (a + b + math.sqrt(2 * s * s - (a - b) ** 2)) / 2 if abs(a - b) < s else min(a, b) + s
            following[y, x] = min(now[y, x], better)
        now = following
    return now.ravel()


def turned(q, v):
    """A vector, turned by a unit quaternion (w, x, y, z): the rows of a turn's matrix."""
    w, x, y, z = q
    rows = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
    return np.einsum("ij...,j...->i...", rows, v)


@small("imu_attitudes", 2, 32, normal(6 * 40 * 8), zeros(160), i(40), i(8), f(0.01), tolerance=1e-4)
def _(readings, out, n, steps, dt):
    q = np.zeros((4, n))
    q[0] = 1
    for row in readings.reshape(steps, 6, n).astype("f8"):
        pull = row[3:] / np.linalg.norm(row[3:], axis=0)
        w, x, y, z = q
        down = np.array([x * z - w * y, w * x + y * z, w * w - 0.5 + z * z])
        rate = row[:3] + 2 * np.cross(pull, down, axis=0)
        q = q + dt / 2 * np.array([-(q[1:] * rate).sum(axis=0), *(w * rate + np.cross(q[1:], rate, axis=0))])
        q /= np.linalg.norm(q, axis=0)
    return q.ravel()


@small("gas_collisions", 1, 32, normal(4 * 6 * 20), i(20), i(6), i(5), f(4), u(9), output=0, tolerance=1e-3)
def _(speeds, cells, each, tries, fastest, seed):
    found = speeds.reshape(cells, each, 4).astype("f8")
    for c in range(cells):
        luck = chances(scrambled(c ^ int(seed)))
        for _ in range(tries):
            a, b = int(next(luck) * each), int(next(luck) * each)
            v, w = found[c, a, :3].copy(), found[c, b, :3].copy()
            apart = np.linalg.norm(v - w)
            if a == b or next(luck) * fastest > apart:
                continue
            up, angle = 2 * next(luck) - 1, 2 * math.pi * next(luck)
            flat = math.sqrt(1 - up * up)
            way = apart / 2 * np.array([flat * math.cos(angle), flat * math.sin(angle), up])
            found[c, a, :3], found[c, b, :3] = (v + w) / 2 + way, (v + w) / 2 - way
    return found.ravel()


@small("tree_forces", 2, 32, Composed("squares", "f4", 84), Composed("skips", "i4", 21), unit(100), zeros(100), i(50),
       i(21), f(0.5), output=3, tolerance=1e-3)  # fmt: skip
def _(nodes, skips, bodies, out, n, count, opening):
    nodes = nodes.reshape(count, 4).astype("f8")

    def pull(k, p):
        """What a node and all below it add."""
        away = nodes[k, :2] - p
        squared = away @ away + 1e-4
        if skips[k] == k + 1 or nodes[k, 3] ** 2 < opening * squared:
            return nodes[k, 2] * away / squared**1.5
        found, below = 0, k + 1
        while below < skips[k]:
            found, below = found + pull(below, p), skips[below]
        return found

    return np.ravel([pull(0, p) for p in bodies.reshape(n, 2).astype("f8")])


@small("bent_light", 2, 32, unit(50, "f8"), zeros(50, "f8"), i(50), i(20), ("f8", 1.0), ("f8", 0.02), tolerance=1e-12)
def _(nearness, out, n, steps, mass, h):
    def change(state):
        return np.array([state[1], 3 * mass * state[0] ** 2 - state[0]])

    state = np.array([np.full(n, 0.02), nearness])
    for _ in range(steps):
        a = change(state)
        b = change(state + h / 2 * a)
        c = change(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + change(state + h * c))
        state[0] = np.minimum(state[0], 0.5)
    return state[0]


@small("harmonic_light", 2, 32, normal(150), normal(27 * 3), zeros(150), i(50), i(3), output=2, tolerance=1e-3)
def _(normals, probes, out, n, count):
    x, y, z = normals.reshape(3, n).astype("f8")
    one, two = math.sqrt(3 / (4 * math.pi)), math.sqrt(15 / (4 * math.pi))
    basis = [np.full(n, math.sqrt(1 / (4 * math.pi))), one * y, one * z, one * x, two * x * y, two * y * z,
             math.sqrt(5 / (16 * math.pi)) * (3 * z * z - 1), two * x * z, two / 2 * (x * x - y * y)]  # fmt: skip
    return (probes.reshape(count, 3, 9).sum(axis=0) @ np.array(basis)).ravel()


@small("magnets_by_bits", (1, 3), (32, 4), numbers(40 * 12, WORD, "u4"), i(40), i(12), i(1), u(2_000_000_000),
       u(900_000_000), u(5), output=0)  # fmt: skip
def _(spins, width, height, colour, one, none, seed):
    bits = np.unpackbits(spins.view("u1"), bitorder="little").reshape(height, width, 32)
    against = sum((np.roll(bits, by, axis) != bits).astype(int) for by in (-1, 1) for axis in (0, 1))
    for y in range(height):
        for x in range((y + colour) % 2, width, 2):
            luck = scrambled(scrambled((y * int(width) + x) ^ int(seed)) + 0x9E3779B9)
            least = 0 if luck < none else 1 if luck < one else 2
            bits[y, x] ^= (against[y, x] >= least).astype("u1")
    return np.packbits(bits, bitorder="little").view("u4")


@small("nerve_cells", 2, 32, unit(50, high=12), zeros(50), i(50), i(30), f(0.01), tolerance=1e-3)
def _(currents, out, n, steps, dt):
    v, m, h, g = np.full(n, -65.0), 0.05, 0.6, 0.32
    for _ in range(steps):
        am, bm = (v + 40) / 10 / (1 - np.exp(-(v + 40) / 10)), 4 * np.exp(-(v + 65) / 18)
        ah, bh = 0.07 * np.exp(-(v + 65) / 20), 1 / (1 + np.exp(-(v + 35) / 10))
        an, bn = (v + 55) / 100 / (1 - np.exp(-(v + 55) / 10)), np.exp(-(v + 65) / 80) / 8
        m, h, g = m + dt * (am - (am + bm) * m), h + dt * (ah - (ah + bh) * h), g + dt * (an - (an + bn) * g)
        v = v + dt * (currents - 120 * m**3 * h * (v - 50) - 36 * g**4 * (v + 77) - 0.3 * (v + 54.4))
    return v


@small("born_radii", 3, 32, unit(320, high=3), zeros(80), i(80), tolerance=1e-3)
def _(atoms, out, n):
    p, size = atoms.reshape(n, 4)[:, :3].astype("f8"), atoms.reshape(n, 4)[:, 3].astype("f8")
    r = np.linalg.norm(p[:, None] - p, axis=2) + np.eye(n)
    s, mine = 0.8 * size, size[:, None]
    low, high = 1 / np.maximum(mine, abs(r - s)), 1 / (r + s)
    parts = low - high + (r - s * s / r) * (high**2 - low**2) / 4 + np.log(high / low) / (2 * r)
    counted = (mine < r + s) & ~np.eye(n, dtype=bool)
    return 1 / np.maximum(1 / size - np.where(counted, parts, 0).sum(axis=1) / 2, 0.05)


@small("dock_poses", 2, 32, normal(200), unit(150, high=6), normal(20, high=2), normal(6**3), zeros(50), i(50), i(5),
       i(6), output=4, tolerance=1e-3)  # fmt: skip
def _(turns, moves, atoms, energies, out, n, count, side):
    q = turns.reshape(n, 4).T.astype("f8")
    q /= np.linalg.norm(q, axis=0)
    energies, found = energies.reshape(side, side, side).astype("f8"), np.zeros(n)
    for *place, weight in atoms.reshape(count, 4).astype("f8"):
        p = np.clip(turned(q, np.tile(np.array(place)[:, None], n)) + moves.reshape(3, n), 0, side - 1.001)
        for k in range(n):
            x, y, z = p[:, k]
            low, high = (bilinear(energies[int(z) + up], x, y) for up in (0, 1))
            found[k] += weight * (low + (z - int(z)) * (high - low))
    return found


# Graphs and choices.
@small("join_parts", 2, 64, numbers(2 * 2 * 50, 80, "u2"), zeros(160, "u2"), i(80), i(50), smem=640)
def _(pairs, out, nodes, count):
    found = []
    for graph in pairs.reshape(2, count, 2):
        names = np.arange(nodes)
        for a, b in graph:
            low, high = sorted((names[a], names[b]))
            names[names == high] = low
        found.append(names)
    return np.ravel(found)


@small("many_searches", 2, 32, *lists(50, 4), Composed("words", "u8", 50, 3), Composed("words", "u8", 50, 1),
       zeros(50, "u8"), i(50), output=4, seen=lambda words: words.view("u4"))  # fmt: skip
def _(starts, members, frontier, reached, following, nodes):
    return np.array([np.bitwise_or.reduce(frontier[row], initial=np.uint64(0)) & ~reached[v]
                     for v, row in enumerate(rows_of(starts, members))]).view("u4")  # fmt: skip


@small("community_moves", 10, 64, *lists(20, 30), numbers(20, 7), unit(7, high=40), zeros(20, "i4"), i(20), f(0.05),
       output=4)  # fmt: skip
def _(starts, members, communities, sizes, out, nodes, share):
    found = []
    for v, row in enumerate(rows_of(starts, members)):
        counts = Counter(communities[row].tolist())
        gains = {name: count - share * sizes[name] for name, count in counts.items()}
        found.append(max(gains, key=gains.get) if gains else communities[v])
    return found


@small("auction_bids", 4, 64, unit(8 * 70), unit(70), zeros(70, "u8"), i(8), i(70), f(0.01), output=2,
       seen=lambda bids: np.append(bids & np.uint64(WORD - 1), (bids >> np.uint64(32)).astype("u4").view("f4")),
       tolerance=1e-5)  # fmt: skip
def _(worths, prices, bids, bidders, goods, least):
    names, highest = np.zeros(goods), np.zeros(goods)
    for k, gains in enumerate(worths.reshape(bidders, goods) - prices):
        second, best = np.sort(gains)[-2:]
        which = gains.argmax()
        bid = prices[which] + best - second + least
        if bid > highest[which]:
            names[which], highest[which] = k, bid
    return np.append(names, highest)


@small("subset_sums", 2, 64, numbers(30, 1_024), zeros(3, "i4"), i(3), i(10))
def _(weights, out, n, count):
    found = []
    for row in weights.reshape(n, count).tolist():
        sums = {0}
        for weight in row:
            sums |= {s + weight for s in sums if s + weight < 4_096}
        found.append(len(sums))
    return found


@small("sliding_pieces", 2, 32, Composed("words", "u8", 50, 1), zeros(50, "u2"), i(50), i(6))
def _(boards, out, n, pieces):
    found = []
    for occupied in boards.tolist():
        state, reach = occupied % WORD ^ occupied >> 32, 0
        for k in range(pieces):
            state = scrambled(state + k)
            straight = state & 64
            for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0)) if straight else ((1, 1), (-1, -1), (1, -1), (-1, 1)):
                x, y = (state & 7) + dx, (state >> 3 & 7) + dy
                while 0 <= x < 8 and 0 <= y < 8:
                    reach += 1
                    if occupied >> (8 * y + x) & 1:
                        break
                    x, y = x + dx, y + dy
        found.append(reach)
    return found


@small("cube_turns", 2, 32, Composed("cube moves", "u1", 972), zeros(50, "u1"), i(50), i(3), u(44))
def _(turns, out, n, length, seed):
    turns, found = turns.reshape(18, 54), []
    for k in range(n):
        luck, cube = states(scrambled(k ^ int(seed))), np.arange(54) // 9
        for _ in range(length):
            cube = cube[turns[(next(luck) >> 16) % 18]]
        found.append((cube == np.arange(54) // 9).sum())
    return found


@small("cooled_places", 1, 32, Composed("workshops", "i4", 512, 20), zeros(20, "i4"), i(20), i(15), f(300), u(31))
def _(tables, out, n, turns, heat, seed):
    apart, flows = tables.reshape(2, 16, 16)
    found = []
    for k in range(n):
        luck, places, warm = states(scrambled(k ^ int(seed))), np.arange(16), float(heat)
        cost = (flows * apart[np.ix_(places, places)]).sum() // 2
        for _ in range(turns):
            state, other = next(luck), places.copy()
            a, b = state >> 28, state >> 24 & 15
            other[[a, b]] = places[[b, a]]
            change = (flows * apart[np.ix_(other, other)]).sum() // 2 - cost
            if change <= 0 or ((next(luck) >> 9) + 0.5) / 2**23 < math.exp(-change / warm):
                places, cost = other, cost + change
            warm *= 0.97
        found.append(cost)
    return found


# Codes and texts.
def tags(limbs):
    """The tags that five limbs each say: 100 bits, as two numbers."""
    whole = [sum(int(limb) << 26 * k for k, limb in enumerate(row)) % (2**130 - 5) for row in limbs.reshape(5, -1).T]
    return [part for tag in whole for part in divmod(tag % 2**100, 2**50)]


@small("poly1305_tags", 2, 32, numbers(4 * 50 * 3, WORD, "u4"), numbers(4, WORD, "u4"), zeros(250, "u4"), i(50), i(3),
       output=2, seen=tags)  # fmt: skip
def _(messages, secret, out, n, blocks):
    r = int.from_bytes(secret.tobytes(), "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    found = [0] * n
    for block in messages.reshape(blocks, 4, n):
        for k in range(n):
            number = int.from_bytes(np.append(block[:, k], np.uint32(1)).tobytes(), "little")
            found[k] = (found[k] + number) * r % (2**130 - 5)
    return tags(np.array([[tag >> 26 * k & 0x3FFFFFF for tag in found] for k in range(5)]))


BOX = (0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2)


@small("present_slices<3>", 1, 32, numbers(64 * 20, WORD, "u4"), numbers(6, WORD, "u4"), zeros(64 * 20, "u4"), i(20),
       output=2)  # fmt: skip
def _(words, keys, out, n):
    bits = np.unpackbits(words.view("u1"), bitorder="little").reshape(64, 32 * n)
    for key in keys.reshape(3, 2):
        bits = bits ^ np.unpackbits(key.view("u1"), bitorder="little")[:, None]
        codes = np.array(BOX)[np.einsum("bkn,k->bn", bits.reshape(16, 4, -1).astype(int), [1, 2, 4, 8])]
        bits = (codes >> np.arange(4)[:, None, None] & 1).astype("u1").reshape(64, -1)
    return np.packbits(bits, bitorder="little").view("u4")


@small("turbo_bits", 1, 32, normal(2 * 3 * 9), zeros(8 * 27), zeros(27), i(3), i(9), output=2, tolerance=1e-3)
def _(seen, kept, out, frames, length):
    found = []
    for frame in seen.reshape(frames, length, 2).astype("f8"):
        likely = np.zeros((length, 2))
        for way in range(1 << length):
            state, total, bits = 0, 0.0, [way >> t & 1 for t in range(length)]
            for bit, (x, y) in zip(bits, frame, strict=True):
                low = bit ^ (state & 5).bit_count() & 1
                check = low ^ (state & 6).bit_count() & 1
                total += (x if bit else -x) + (y if check else -y)
                state = (2 * state | low) & 7
            likely[range(length), bits] += math.exp(total)
        found.append(np.log(likely[:, 1] / likely[:, 0]))
    return np.ravel(found)


@small("skip_list_find", 2, 32, Composed("links", "i4", 6 * 50, 50), Composed("skip keys", "i4", 50, 1_000),
       numbers(60, 1_100), zeros(60, "i4"), i(60), i(50), i(6), output=3)  # fmt: skip
def _(links, keys, queries, out, n, nodes, levels):
    return [keys[keys <= query].max() for query in queries]


@small("rice_decode", 2, 32, numbers(50 * 12, WORD, "u4"), zeros(50, "u4"), i(50), i(12), i(30), i(3))
def _(streams, out, n, words, count, low):
    found = []
    for stream in streams.reshape(words, n).T:
        text = "".join(f"{word:032b}" for word in stream.tolist()) + "1" * 200
        total = at = 0
        for _ in range(count):
            one = text.index("1", at)
            total += one - at << low | int(text[one + 1 : one + 1 + low], 2)
            at = one + 1 + low
        assert at <= 32 * words
        found.append(total)
    return found


@small("utf8_letters", 2, 32, Composed("utf8", "u1", 40 * 20), zeros(80, "u4"), i(40), i(20), i(800))
def _(text, out, n, piece, size):
    found, at = np.zeros((n, 2), int), 0
    for letter in text.tobytes().decode():
        found[at // piece] += (1, ord(letter))
        at += len(letter.encode())
    return found.ravel()


@small("iso_minutes", 2, 32, Composed("dates", "u4", 400), zeros(100, "i4"), i(100))
def _(texts, out, n):
    return texts.view("S16").astype("U16").astype("datetime64[m]").astype(int)


# Biology.
@small("tree_likelihoods", 2, 32, numbers(250, 4, "u1"), Composed("species", "i4", 9), Composed("changes", "f4", 128),
       zeros(50), i(50), i(9), output=3, tolerance=1e-3)  # fmt: skip
def _(letters, program, matrices, out, n, length):
    letters, stack, matrices = letters.reshape(-1, n), [], iter(matrices.reshape(-1, 2, 4, 4).astype("f8"))
    for step in program:
        if step >= 0:
            stack.append(np.eye(4)[letters[step]].T)
        else:
            (left, right), b, a = next(matrices), stack.pop(), stack.pop()
            stack.append((left @ a) * (right @ b))
    return np.log(stack[0].mean(axis=0))


@small("translate_codons", 2, 64, numbers(12 * 100, 4, "u1"), numbers(64, 26, "u1"), zeros(400, "u1"), i(100), output=2)
def _(dna, code, out, n):
    return code[dna.reshape(-1, 3) @ [16, 4, 1]]


@small("spectrum_matches", 2, 32, Composed("sorted rows", "i4", 50 * 20, 20), unit(1_000),
       Composed("sorted rows", "i4", 40, 40), unit(40), zeros(50), i(50), i(20), i(40), i(300), output=4,
       tolerance=1e-4)  # fmt: skip
def _(places, heights, query, query_heights, out, n, peaks, length, near_by):
    found = np.zeros(n)
    for k, (row, tall) in enumerate(zip(places.reshape(n, peaks), heights.reshape(n, peaks), strict=True)):
        free = 0
        for place, height in zip(row, tall, strict=True):
            fits = [b for b in range(free, length) if abs(place - query[b]) <= near_by]
            if fits:
                found[k] += math.sqrt(height * query_heights[fits[0]])
                free = fits[0] + 1
    return found


@small("common_letters<33>", 2, 32, Composed("words", "u8", 50, 1), Composed("words", "u8", 51, 1),
       zeros(50, "i4"), i(50), i(12), smem=4 * 33 * 32, output=2)  # fmt: skip
def _(first, second, out, n, length):
    found = []
    for a, b in zip(first.tolist(), second[:n].tolist(), strict=True):
        table = np.zeros((length + 1, length + 1), int)
        for r, c in np.ndindex(int(length), int(length)):
            same = a >> 2 * r & 3 == b >> 2 * c & 3
            table[r + 1, c + 1] = table[r, c] + 1 if same else max(table[r, c + 1], table[r + 1, c])
        found.append(table[-1, -1])
    return found


# Finance.
@small("garch_likelihoods", 2, 32, normal(40), Composed("risks", "f4", 150), zeros(50), i(50), i(40), output=2,
       tolerance=1e-3)  # fmt: skip
def _(returns, models, out, n, days):
    base, recent, lasting = models.reshape(3, n).astype("f8")
    variance, found = base / (1 - recent - lasting), 0
    for r in returns.astype("f8"):
        found = found - (np.log(variance) + r * r / variance) / 2
        variance = base + recent * r * r + lasting * variance
    return found


@small("cosine_densities", 2, 32, Composed("models", "f4", 200), zeros(50), i(50), i(20), f(3), tolerance=2e-3)
def _(models, out, n, terms, half):
    drift, spread, unrest, place = models.reshape(n, 4).T.astype("f8")
    u = np.pi * np.arange(terms)[:, None] / (2 * half)
    waves = (1 - 1j * drift * unrest * u + 0.5 * spread**2 * unrest * u**2) ** (-1 / unrest)
    parts = (waves * np.exp(1j * u * half)).real * np.cos(u * (place + half))
    return (parts.sum(axis=0) - 0.5) / half


@small("order_books", 2, 32, numbers(50 * 30, 1 << 20, "u4"), zeros(100, "u4"), i(50), i(30))
def _(orders, out, n, length):
    found = []
    for row in orders.reshape(length, n).T.tolist():
        waiting, traded, worth = ([0] * 16, [0] * 16), 0, 0
        for order in row:
            price, amount, buys = order >> 4 & 15, 1 + (order >> 8 & 63), order & 1
            for p in range(price + 1) if buys else range(15, price - 1, -1):
                part = min(amount, waiting[1 - buys][p])
                waiting[1 - buys][p] -= part
                amount, traded, worth = amount - part, traded + part, worth + part * p
            waiting[buys][price] += amount
        found += [traded, worth]
    return found


@small("copula_losses", 2, 32, Composed("limits", "f4", 12), zeros(128, "i4"), i(60), i(12), f(0.4), u(17))
def _(limits, bins, worlds, debtors, common, seed):
    found, place = np.zeros(128, int), NormalDist().inv_cdf
    for k in range(worlds):
        luck = chances(scrambled(k ^ int(seed)))
        shared = common * place(next(luck))
        own = math.sqrt(1 - common * common)
        found[sum(shared + own * place(next(luck)) < limit for limit in limits)] += 1
    return found


# Signals.
@small("cic_filter", 2, 32, Composed("samples", "i2", 50 * 6 * 4, 2_000), zeros(300, "i4"), i(50), i(6), i(4))
def _(samples, out, n, frames, rate):
    sums = samples.reshape(-1, n).astype(int)
    for _ in range(3):
        sums = sums.cumsum(axis=0)
    found = sums[rate - 1 :: rate]
    for _ in range(3):
        found = np.diff(found, axis=0, prepend=0)
    return found.ravel()


@small("cfar_echoes", 2, 64, normal(600), zeros(600, "u1"), i(300), i(8), i(2), f(4), smem=1_200)
def _(lines, out, length, wide, guard, factor):
    found = []
    for line in lines.reshape(2, length).astype("f8") ** 2:
        padded = np.pad(line, 10, mode="edge")
        sums = np.convolve(padded, np.ones(8), "valid")
        found.append(line * wide > factor * np.maximum(sums[:length], sums[13 : 13 + length]))
    return np.ravel(found)


@small("satellite_sums", 3, 64, Composed("samples", "i1", 500, 7), numbers(96, WORD, "u4"), numbers(12, 1 << 31, "u4"),
       zeros(18, "i4"), i(500), output=3)  # fmt: skip
def _(samples, codes, tunes, out, length):
    found, k = [], np.arange(length)
    wave = np.rint(7 * np.cos(np.pi * np.arange(16) / 8)).astype(int)
    for code, (a, b, c, d) in zip(codes.reshape(-1, 32), tunes.reshape(-1, 4).astype(int), strict=True):
        chips = np.unpackbits(code.view("u1"), bitorder="little").astype(int) * 2 - 1
        turn, place = (a + b * k) % WORD, (c + d * k) % WORD
        for tap in (-1, 0, 1):
            signs = chips[(place + tap * 0x200000) % WORD >> 22]
            found += [(samples * signs * wave[(turn + by) % WORD >> 28]).sum() for by in (0, 0x40000000)]
    return found


@small("limit_loudness", 2, 32, normal(50 * 20), zeros(1_000), i(50), i(20), f(1), f(0.98), f(0.3), tolerance=1e-4)
def _(values, out, n, length, limit, release, attack):
    loud, gain, found = np.zeros(n), np.ones(n), []
    for row in values.reshape(length, n).astype("f8"):
        loud = np.maximum(abs(row), release * loud)
        goal = np.minimum(1, limit / loud)
        gain = gain + np.where(goal < gain, attack, 0.01) * (goal - gain)
        found.append(gain * row)
    return np.ravel(found)


@small("mel_bands", 2, 64, normal(2 * 2 * 80), Composed("bands", "i4", 10, 80), zeros(16), i(80), i(8), smem=320,
       output=2, tolerance=1e-3)  # fmt: skip
def _(spectra, edges, out, size, bands):
    powers = (spectra.reshape(2, size, 2).astype("f8") ** 2).sum(axis=2)
    hats = [np.interp(np.arange(size), edges[b : b + 3], [0, 1, 0]) for b in range(bands)]
    return np.log(powers @ np.transpose(hats) + 1e-6).ravel()


# Databases.
@small("count_by_bitmaps", 2, 64, numbers(400, WORD, "u4"), numbers(401, WORD, "u4"), numbers(402, WORD, "u4"),
       zeros(1, "i4"), i(100), output=3)  # fmt: skip
def _(a, b, c, count, n):
    return [np.bitwise_count(a & (b[:400] | ~c[:400])).sum()]


@small("few_groups", 2, 64, numbers(300, 6, "u1"), numbers(600, 10_000), zeros(18, "u8"), i(300), output=2)
def _(flags, rows, totals, n):
    amounts, prices = rows.reshape(n, 2).T.astype(int)
    return np.transpose([np.bincount(flags, w, 6) for w in (amounts, amounts * prices, np.ones(n))]).ravel()


@small("merge_eight", 2, 32, numbers(8 * 50 * 4, 1 << 30), zeros(1_600, "i4"), i(50), i(4))
def _(runs, out, n, length):
    found = []
    for run in runs.reshape(8, length, n).transpose(2, 0, 1).tolist():
        merged = []
        for _ in range(8 * length):
            lead = min((row for row in run if row), key=lambda row: row[0])
            merged.append(lead.pop(0))
        found.append(merged)
    return np.transpose(found).ravel()


# Geometry.
@small("points_in_polygon", 3, 32, unit(160), Composed("polygon", "f4", 2 * 150), zeros(80, "u1"), i(80), i(150),
       output=2)  # fmt: skip
def _(points, corners, out, n, count):
    (px, py), (ax, ay) = points.reshape(n, 2).T[:, :, None].astype("f8"), corners.reshape(count, 2).T.astype("f8")
    bx, by = np.roll(ax, -1), np.roll(ay, -1)
    met = ((ay > py) != (by > py)) & (px < (bx - ax) * (py - ay) / (by - ay) + ax)
    return met.sum(axis=1) % 2


@small("clip_triangles", 2, 32, normal(300), zeros(50), i(50), tolerance=1e-3)
def _(triangles, out, n):
    def area(points):
        x, y = np.transpose(points) if points else np.zeros((2, 1))
        return abs((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()) / 2

    found = []
    for corners in triangles.reshape(3, 2, n).transpose(2, 0, 1).astype("f8"):
        points = list(corners)
        for axis, sign, limit in ((0, 1, 0), (0, -1, -1), (1, 1, 0), (1, -1, -1)):
            kept = []
            for a, b in zip(points, points[1:] + points[:1], strict=True):
                in_a, in_b = sign * a[axis] - limit, sign * b[axis] - limit
                kept += [a] if in_a >= 0 else []
                kept += [a + in_a / (in_a - in_b) * (b - a)] if (in_a >= 0) != (in_b >= 0) else []
            points = kept
        found.append(area(points))
    return found


@small("in_circles", 2, 32, Composed("circles", "f4", 8 * 50, 3), zeros(50, "i1"), i(50), f(1e-3))
def _(points, out, n, sure):
    found = []
    for p in points.reshape(4, 2, n).transpose(2, 0, 1).astype("f8"):
        d = p[:3] - p[3]
        found.append(np.sign(np.linalg.det(np.column_stack([d, (d**2).sum(axis=1)]))))
    return found


@small("turned_boxes", 2, 32, Composed("boxes", "f4", 100, 3), numbers(100, 10), zeros(50, "u1"), i(50), i(10),
       output=2)  # fmt: skip
def _(boxes, pairs, out, n, count):
    boxes = boxes.reshape(10, count).astype("f8")
    q = boxes[6:] / np.linalg.norm(boxes[6:], axis=0)
    axes = np.array([turned(q, np.tile(e[:, None], count)) for e in np.eye(3)]).transpose(2, 0, 1)
    found = []
    for a, b in pairs.reshape(n, 2):
        tried = [*axes[a], *axes[b], *(np.cross(p, q) for p in axes[a] for q in axes[b])]
        reach = [sum(abs(axes[k] @ t) @ boxes[3:6, k] for k in (a, b)) for t in tried]
        found.append(all(abs((boxes[:3, b] - boxes[:3, a]) @ t) <= r + 1e-5 for t, r in zip(tried, reach, strict=True)))
    return found


@small("voxel_rays", 2, 32, Composed("sparse bits", "u4", 8_192, 5), Composed("rays", "i4", 400), zeros(50, "i4"),
       i(50), output=2)  # fmt: skip
def _(room, rays, out, n):
    full = np.unpackbits(room.view("u1"), bitorder="little").reshape(64, 64, 64)
    found = []
    for start, signs, *walls in rays.reshape(8, n).T.tolist():
        cell, following, between = [start & 63, start >> 6 & 63, start >> 12 & 63], walls[:3], walls[3:]
        steps = 0
        while min(cell) >= 0 and max(cell) < 64 and not full[tuple(cell[::-1])]:
            axis = following.index(min(following))
            cell[axis] += 1 if signs >> axis & 1 else -1
            following[axis] += between[axis]
            steps += 1
        found.append(steps)
    return found


@small("view_lines", 2, 32, normal(40 * 40, high=9), Composed("sights", "i4", 100), zeros(50, "i4"), i(50), i(40),
       f(20), output=2)  # fmt: skip
def _(heights, ways, out, n, side, eye):
    heights, found = heights.reshape(side, side), []
    ground = heights[side // 2, side // 2] + eye
    for way in ways.reshape(n, 2).astype(int):
        seen, steepest = 0, -1e30
        for k in range(1, 100):
            x, y = (65536 * (side // 2) + 32768 + k * way) >> 16
            if not (0 <= x < side and 0 <= y < side):
                break
            slope = (heights[y, x] - ground) / np.float32(k)
            seen, steepest = (seen + 1, slope) if slope > steepest else (seen, steepest)
        found.append(seen)
    return found


@small("surface_cells", 6, 64, Composed("bubbles", "f4", 512, 8), Composed("cases", "u1", 256), zeros(512, "u4"),
       zeros(2, "u4"), i(8), u(511), f(1.1), output=(2, 3), seen=np.sort)  # fmt: skip
def _(field, table, places, counts, side, mask, level):
    less, found, triangles = (field < level).reshape(side, side, side), [], 0
    for k in range((side - 1) ** 3):
        x, y, z = k % 7, k // 7 % 7, k // 49
        kind = int(less[z : z + 2, y : y + 2, x : x + 2].ravel() @ 2 ** np.arange(8))
        triangles += int(table[kind])
        found += [k << 8 | kind] if table[kind] else []
    assert len(found) > 50
    return np.sort(np.append(found, [0] * (512 - len(found)))), sorted([len(found), triangles])


@small("shaded_pixels<6>", 2, 32, numbers(50, 6, "u1"), unit(100), zeros(50), i(50), output=2, tolerance=1e-3)
def _(kinds, places, out, n):
    found = []
    for kind, (x, y) in zip(kinds.astype(int), places.reshape(n, 2).astype("f8"), strict=True):
        v = x
        for k in range(12):
            v = v * (0.5 + (kind * 7 + k * 3) % 16 / 32) + y * (0.25 + (kind * 5 + k) % 8 / 16)
            v = (lambda w: math.sqrt(abs(w)), lambda w: w % 1, lambda w: w / (1 + w * w), float)[(kind + k) % 4](v)
        found.append(v)
    return found


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in thirteenth_cases.cases() for a in case.arguments if isinstance(a, Composed)}
    assert {a.kind for a in launched} == thirteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 1_000_000 and a.make().shape != (a.size,)] == []


def test_a_skip_list_leads_through_all_its_nodes():
    links, keys = Composed("links", "i4", 6 * 50, 50).make().reshape(6, 50), Composed("skip keys", "i4", 50, 999).make()
    for level, row in enumerate(links):
        at, seen = 0, [keys[0]]
        while at := row[at]:
            seen.append(keys[at])
        assert seen == sorted(keys)[:: 1 << level]


def test_a_walk_down_a_tree_of_squares_skips_what_is_below():
    nodes, skips = Composed("squares", "f4", 4 * 85).make().reshape(85, 4), Composed("skips", "i4", 85).make()
    assert (skips > np.arange(85)).all()
    assert (skips == np.arange(1, 86)).sum() == 64
    assert skips[0] == 85
    leaves = nodes[skips == np.arange(1, 86)]
    assert leaves[:, 2].sum() == pytest.approx(1)
    assert len({tuple(row) for row in np.floor(8 * leaves[:, :2]).tolist()}) == 64


def test_a_program_joins_all_species():
    for count in (2, 5, 20, 60):
        program, depth = Composed("species", "i4", 2 * count - 1).make().tolist(), []
        for step in program:
            depth.append((depth[-1] if depth else 0) + (1 if step >= 0 else -1))
        assert sorted(step for step in program if step >= 0) == list(range(count))
        assert depth[-1] == 1
        assert max(depth) <= 12


def test_a_text_has_letters_of_all_lengths():
    text = Composed("utf8", "u1", 4_000).make().tobytes().decode()
    assert {len(letter.encode()) for letter in text} == {1, 2, 3, 4}


def test_bands_get_wider():
    edges = Composed("bands", "i4", 42, 513).make()
    assert np.diff(edges).min() >= 2
    assert edges[0] == 0
    assert edges[-1] <= 513
