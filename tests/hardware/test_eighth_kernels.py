"""The kernels of the eighth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs. ``matrix_powers``, ``four_tables`` and ``chacha_blocks`` have no reference.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from itertools import permutations
from statistics import NormalDist

import numpy as np
import pytest

from tests.hardware import eighth_cases
from tests.hardware.eighth_cases import offsets
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import Array, f, i, zeros
from tests.hardware.validation_cases import numbers
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("queens", "moments", "likely_states", "rows_ahead", "listed_forces", "splat_points")
small = SmallLaunches(eighth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in eighth_cases.cases()}


# Chains.
@small("kahan_orbit", 2, 64, numbers(128, 99, "f4"), zeros(128), i(30), tolerance=1e-5)
def _(x, out, steps):
    x, total = x.astype("f8"), 0.0
    for _ in range(steps):
        total, x = total + x, x * 0.875 + 0.01
    return total


@small("atan2_chain", 2, 64, numbers(128, 99, "f4"), zeros(128), i(20), tolerance=1e-5)
def _(x, out, steps):
    x, y = x * 0.01, 1.0
    for _ in range(steps):
        x = np.arctan2(x + 0.3, y)
        y = x * 0.5 + 1
    return x


@small("two_fingers", 2, 64, Array("ring", "i4", 1024, 33), zeros(128, "i4"), i(9), i(1024))
def _(ring, out, steps, size):
    start = np.arange(128) * 77 % size
    return (start + 33 * 18) % size - (start + 33 * 9) % size


@small("double_means", 2, 64, zeros(128, "f8"), i(3), output=0, tolerance=1e-12)
def _(out, turns):
    total = np.zeros(128)
    for k in range(turns):
        a, b = np.ones(128), 0.1 + np.arange(128) * 1e-3 + k
        for _ in range(4):
            a, b = 0.5 * (a + b), np.sqrt(a * b)
        total += a
    return total


@small("double_filter", 2, 64, numbers(100 * 9, 99, "f8"), zeros(100, "f8"), i(100), i(9), tolerance=1e-12)
def _(x, out, n, length):
    a = b = np.zeros(n)
    for row in x.reshape(length, n):
        a, b = 0.25 * row + 1.2 * a - 0.5 * b, a
    return a


# Arithmetic.
@small("bezier_points", 2, 64, numbers(128, 9, "f4"), zeros(128), i(70), tolerance=1e-3)
def _(p, out, turns):
    p = p.astype("f8")
    q, r = p * 0.5, p + 1
    s, t = q - 1, (np.arange(turns) % 64 / 64)[:, None]
    return ((1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * q + 3 * (1 - t) * t**2 * r + t**3 * s).sum(axis=0)


small("matrix_powers", 2, 64, numbers(128, 9, "f4"), zeros(128), i(5))(None)


@small("nearest_town", 2, 64, numbers(100, 150, "f4"), numbers(101, 300, "f4"), numbers(24, 3, "f4"), zeros(100),
       i(100), i(12), output=3, tolerance=2e-3)  # fmt: skip
def _(lat, lon, towns, out, n, count):
    a, b, (x, y) = lat[:, None] * 0.01, lon[:100, None] * 0.01, towns.reshape(-1, 2).T
    h = np.sin((a - x) / 2) ** 2 + np.cos(a) * np.cos(x) * np.sin((b - y) / 2) ** 2
    return (2 * np.arcsin(np.sqrt(np.minimum(h, 1)))).min(axis=1)


@small("mixture_density", 2, 64, numbers(200, 8, "f4"), zeros(200), i(200), tolerance=1e-3)
def _(x, out, n):
    table = small.source.partition("components[16][3] = {")[2].partition("};")[0]
    weight, middle, sharp = np.array(re.findall(r"([\d.]+)f", table), float).reshape(16, 3).T
    return np.log((weight * np.exp(-(((x[:, None] - middle) * sharp) ** 2))).sum(axis=1) + 1e-6)


@small("normal_walk", 2, 32, numbers(64, 1 << 30, "u4"), zeros(64), i(5), tolerance=1e-4)
def _(v, out, turns):
    total = np.zeros(64)
    for _ in range(turns):
        v = v * np.uint32(1664525) + np.uint32(1013904223)
        total += [NormalDist().inv_cdf(((int(one) >> 9) + 0.5) / 2**23) for one in v]
    return total


@small("montgomery_powers", 2, 32, numbers(64, 1 << 30, "u4"), zeros(64, "u4"), i(7))
def _(v, out, turns):
    n = 998244353
    inverse, powers = pow(1 << 32, -1, n), []
    for one in v:
        x = base = int(one) % n
        for k in range(turns):
            x = x * (x if k % 3 else base) * inverse % n
        powers.append(x)
    return powers


@small("splitmix_sums", 2, 32, numbers(64, 1 << 30, "u4"), zeros(64, "u8"), i(5))
def _(v, out, turns):
    state, total = v.astype("u8"), np.zeros(64, "u8")
    for _ in range(turns):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        total = total + (z ^ z >> np.uint64(31))
    return total


@small("hilbert_codes", 2, 64, Array("ring", "u4", 256, 0), zeros(256, "u4"), i(256), i(16))
def _(cells, out, n, side):
    """A curve: each cell once, and its next one is a neighbour. Checked by the codes themselves."""
    after = np.argsort(small.run("hilbert_codes")[1][1])
    x, y = after % side, after // side
    assert (np.abs(np.diff(x)) + np.abs(np.diff(y)) == 1).all()
    assert (x[0], y[0]) == (0, 0)
    codes = np.empty(n, "u4")
    codes[after] = np.arange(n)
    return codes


@small("halton_points", 2, 64, zeros(200), i(200), i(5), output=0, tolerance=1e-5)
def _(out, n, first):
    def mirrored(k, base):
        total, share = 0.0, 1.0
        while k:
            share /= base
            total, k = total + share * (k % base), k // base
        return total

    return [sum(mirrored(first + k, base) for base in (2, 3, 5)) for k in range(n)]


@small(
    "myers_distance", 1, 32, numbers(64, 4, "u1"), numbers(20 * 70, 4, "u1"), zeros(20, "i4"), i(20), i(70), output=2
)
def _(pattern, texts, out, n, length):
    best = []
    for text in texts.reshape(length, n).T:
        column = list(range(65))
        least = 64
        for letter in text:
            before, column = column, [0]
            for k in range(1, 65):
                column.append(min(before[k - 1] + int(pattern[k - 1] != letter), before[k] + 1, column[k - 1] + 1))
            least = min(least, column[64])
        best.append(least)
    return best


small("chacha_blocks<8>", 2, 32, numbers(64, 1 << 30, "u4"), zeros(64, "u4"), i(2))(None)


# Long code.
@small("keccak_words<1>", 2, 32, numbers(50, 1 << 40, "u8"), zeros(50, "u8"), i(50))
def _(words, out, n):
    return [int.from_bytes(hashlib.sha3_256(int(word).to_bytes(8, "little")).digest()[:8], "little") for word in words]


@small("registers_sorted<16>", 2, 32, numbers(50, 1 << 30, "u4"), zeros(50, "u4"), i(50))
def _(v, out, n):
    total = np.zeros(n, "u4")
    for column in np.sort((v[:, None] + np.arange(16, dtype="u4")) * np.uint32(2654435761), axis=1).T:
        total = total * np.uint32(31) + column
    return total


@small("many_terms<750>", 1, 32, numbers(32, 999, "f4"), zeros(32), i(1), tolerance=1e-4)
def _(x, out, turns):
    x, total = (x * np.float32(0.001)).astype("f8"), 1.0
    for k in range(1, 751):
        total = total * (x - 1 / k) + 0.125 * k / (k + 3)
    return total - np.floor(total)


# Shared memory.
@small("rows_in_shared<33>", 2, 128, numbers(4096, 9, "f4"), zeros(256), i(40), tolerance=1e-5)
def _(x, out, turns):
    total = np.zeros((2, 128))
    for block in range(2):
        for k in range(turns):
            total[block] = total[block] * 0.5 + x.reshape(128, 32)[:, (k + block) % 32]
    return total.ravel()


small("four_tables", 2, 64, numbers(128, 1 << 30, "u4"), numbers(1024, 1 << 30, "u4"), zeros(128, "u4"), i(3))(None)


@small("records_in_shared<5>", 1, 256, numbers(1280, 9, "f4"), zeros(256), i(6))
def _(x, out, turns):
    a, b, c, d, _ = x.reshape(256, 5).T
    return sum(np.roll(a * b - c * d, -5 * k) for k in range(turns))


@small("crc_by_table", 2, 64, numbers(300, 1 << 30, "u4"), zeros(100, "u4"), i(100), i(3))
def _(x, out, n, words):
    return [zlib.crc32(row.tobytes()) for row in x.reshape(n, words)]


# Barriers.
@small("fft_256", 2, 128, numbers(1024, 9, "f4"), zeros(1024), i(1), tolerance=2e-2)
def _(x, out, turns):
    return np.fft.fft(x.view("c8").reshape(2, 256)).astype("c8").view("f4").ravel()


@small("split_sort", 2, 96, numbers(192, 1 << 10, "u4"), zeros(192, "u4"), i(10), smem=384)
def _(x, out, bits):
    return np.sort(x.reshape(2, 96)).ravel()


@small("knapsacks", 2, 64, numbers(20, 40), numbers(20, 41), zeros(2, "i4"), i(10), i(150), smem=1208, output=2)
def _(weights, values, out, items, capacity):
    found = []
    for w, v in zip(weights.reshape(2, items) + 1, values.reshape(2, items), strict=True):
        best = np.zeros(capacity + 1, int)
        for weight, value in zip(w, v, strict=True):
            best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
        found.append(best[capacity])
    return found


@small("shortest_paths", 2, (32, 8), numbers(2048, 999), zeros(2048, "i4"))
def _(x, out):
    d = x.reshape(2, 32, 32) + 1
    d[:, range(32), range(32)] = 0
    for k in range(32):
        d = np.minimum(d, d[:, :, k : k + 1] + d[:, k : k + 1, :])
    return d.ravel()


@small("tridiagonal", 2, 64, numbers(128, 99, "f4"), zeros(128), i(6), smem=1024, tolerance=1e-4)
def _(right, out, steps):
    t = np.arange(64)
    m = np.diag(4.0 + t % 3) - np.eye(64, k=-1) - 1.5 * np.eye(64, k=1)
    return np.linalg.solve(m, right.reshape(2, 64).T).T.ravel()


@small(
    "likely_states", 2, 64, numbers(4096, 90), numbers(512, 40), numbers(10, 8, "u1"), zeros(128, "i4"), i(5), output=3
)
def _(moves, signs, seen, out, length):
    found = []
    for row in seen.reshape(2, length):
        score = np.zeros(64, int)
        for sign in row:
            score = (score[:, None] + moves.reshape(64, 64)).min(axis=0) + signs.reshape(8, 64)[sign]
        found.append(score)
    return np.concatenate(found)


@small("option_tree", 2, 32, numbers(2, 150, "f4"), zeros(2), i(100), tolerance=1e-3)
def _(prices, out, steps):
    k = np.arange(steps + 1)
    chance = np.array([math.comb(steps, int(j)) * 0.55**j * 0.45 ** (steps - j) for j in k])
    value = np.maximum(prices[:, None] * 1.01 ** (2.0 * k - steps) - 100, 0)
    return 0.999**steps * (value * chance).sum(axis=1)


# Atomics.
@small("colour_counts", 2, 64, numbers(1200, 256, "u1"), zeros(768, "u4"), i(300))
def _(x, counts, n):
    return np.concatenate([np.bincount(x.reshape(n, 4)[:, k], minlength=256) for k in range(3)])


@small("joint_counts", 2, 64, numbers(300, 256, "u1"), numbers(301, 200, "u1"), zeros(1024, "u4"), i(300), output=2)
def _(a, b, counts, n):
    return np.bincount(a.astype(int) // 8 * 32 + b[:n] // 8, minlength=1024)


@small("copies_of_bins<4>", 2, 96, numbers(300, 1 << 30, "u4"), zeros(128, "u4"), i(300))
def _(x, counts, n):
    return np.bincount(x & x >> 7 & x >> 14 & 127, minlength=128)


@small("grouped_by_match", 2, 64, numbers(300, 7), zeros(7, "u4"), i(300))
def _(keys, counts, n):
    return np.bincount(keys, minlength=7)


@small("pushed_ranks", 2, 64, offsets(100, 4), numbers(400, 100), numbers(100, 1 << 20, "u4"), zeros(100, "u4"), i(100),
       output=3)  # fmt: skip
def _(first, to, rank, after, nodes):
    many = np.diff(first)
    np.add.at(after, to, np.repeat(rank // (many + 1).astype("u4"), many))
    return after


@small("wallets", 2, 64, numbers(100, 9), numbers(100, 999, "u4"), zeros(9, "u8"), i(100), output=2)
def _(who, amount, money, n):
    np.add.at(money, who, amount.astype("u8") << np.uint64(8))
    return money


@small("tallest_in_bins", 2, 64, numbers(384, 64), numbers(384, 1 << 20), zeros(128, "i4"), i(3), output=2)
def _(keys, heights, out, each):
    top = np.zeros((2, 64), int)
    block = np.arange(384) % 128 // 64
    np.maximum.at(top, (block, keys), heights)
    return top.ravel()


@small("splat_points", 2, 64, numbers(200, 100, "f4"), zeros(900, "i4"), i(100), i(30))
def _(points, grid, n, side):
    p = points.reshape(n, 2) * np.float32(0.01) * np.float32(side - 2)
    at = p.astype(int)
    fx, fy = ((p - at) * 16).astype(int).T
    first = at[:, 1] * side + at[:, 0]
    for by, share in ((0, (16 - fx) * (16 - fy)), (1, fx * (16 - fy)), (side, (16 - fx) * fy), (side + 1, fx * fy)):
        np.add.at(grid, first + by, share)
    return grid


@small("two_dice", 2, 32, numbers(64, 1 << 30, "u4"), zeros(13, "u4"), i(6))
def _(seeds, counts, throws):
    for state in map(int, seeds):
        for _ in range(throws):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            mixed, turn = ((state >> 18 ^ state) >> 27) % 2**32, state >> 59
            v = (mixed >> turn | mixed << (32 - turn)) % 2**32
            counts[2 + v % 6 + (v >> 16) % 6] += 1
    return counts


# Control flow.
@small("parsed_numbers", 2, 64, numbers(1200, 12, "u1"), zeros(100, "i4"), i(100))
def _(text, out, n):
    found = []
    for row in text.reshape(n, 12):
        value = 0
        for digit in row[:9]:
            if digit > 9:
                break
            value = value * 10 + int(digit)
        found.append(value)
    return found


@small("places_of_word", 2, 64, numbers(312, 2, "u1"), numbers(12, 2, "u1"), zeros(300, "i4"), i(300), i(12), output=2)
def _(text, word, out, n, length):
    same = np.lib.stride_tricks.sliding_window_view(text, length)[:n] == word
    return np.cumprod(same, axis=1).sum(axis=1)


@small("skipping_search", 1, 64, numbers(2_000, 2, "u1"), numbers(4, 2, "u1"), zeros(64, "i4"), i(2_000), i(4), i(40),
       output=2)  # fmt: skip
def _(text, word, out, n, length, each):
    found = (np.lib.stride_tricks.sliding_window_view(text, length) == word).all(axis=1)[: n - length]
    return np.bincount(np.flatnonzero(found) // each, minlength=64)


@small("queens", 1, 64, zeros(64, "i4"), i(6), output=0)
def _(out, n):
    boards = [p for p in permutations(range(n)) if len({a + k for k, a in enumerate(p)}) == n]
    boards = [p for p in boards if len({a - k for k, a in enumerate(p)}) == n]
    return [sum(p[:2] == (k % n, k // n % n) for p in boards) for k in range(64)]


@small("marched_rays", (2, 2), (16, 8), zeros(30 * 12), i(30), i(12), i(20), output=0, tolerance=2e-2)
def _(out, width, height, most):
    found = []
    for y in range(height):
        for x in range(width):
            d = np.array([(x - width / 2) / width, (y - height / 2) / width, 1])
            d, t, k = d / np.linalg.norm(d), 0.0, 0
            while k < most:
                p = t * d + [0, 0.2, -3]
                ground = p[1] + 1 + 0.1 * math.sin(4 * p[0]) * math.sin(4 * p[2])
                near = min(np.linalg.norm(p) - 1, ground)
                if near < 1e-3 or t > 20:
                    break
                t, k = t + near, k + 1
            found.append(t + k)
    return found


@small("totients", 2, 64, zeros(100, "i4"), i(100), i(1), output=0)
def _(out, n, first):
    return [sum(math.gcd(k, v) == 1 for k in range(1, v + 1)) for v in range(first, first + n)]


@small(
    "binary_gcd", 2, 64, numbers(200, 1 << 20, "u4"), numbers(201, 1 << 20, "u4"), zeros(200, "u4"), i(200), output=2
)
def _(a, b, out, n):
    return np.gcd(a + 1, b[:n] + 1)


# Images.
def _windows(image, reach):
    padded = np.pad(image, reach, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1))


@small("bilateral_5x5", (2, 3), (32, 4), numbers(40 * 10, 256, "f4"), zeros(400), i(40), i(10), tolerance=1e-3)
def _(x, out, width, height):
    image = x.reshape(height, width).astype("f8")
    near, (dy, dx) = _windows(image, 2), np.mgrid[-2:3, -2:3]
    weight = np.exp(-0.1 * (dx * dx + dy * dy) - 0.01 * (near - image[..., None, None]) ** 2)
    return ((weight * near).sum(axis=(2, 3)) / weight.sum(axis=(2, 3))).ravel()


@small("median_3x3", (2, 2), (32, 8), numbers(40 * 10, 256, "u1"), zeros(400, "u1"), i(40), i(10))
def _(x, out, width, height):
    found = np.zeros((height, width))
    found[1:-1, 1:-1] = np.median(_windows(x.reshape(height, width), 1), axis=(2, 3))[1:-1, 1:-1]
    return found.ravel()


@small("box_by_sums", (2, 10), 32, numbers(400, 1 << 20), zeros(400, "i4"), i(40), i(10), i(3))
def _(x, out, width, height, radius):
    sums, found = x.reshape(height, width), np.zeros((height, width), int)
    for y in range(height):
        for x in range(width):
            left, right = max(x - radius, 0), min(x + radius, width - 1)
            top, end = max(y - radius, 0), min(y + radius, height - 1)
            total = sums[end, right] - sums[end, left] - sums[top, right] + sums[top, left]
            found[y, x] = int(total / max((right - left) * (end - top), 1))
    return found.ravel()


@small("all_27_points", (2, 2, 6), (32, 4), numbers(40 * 7 * 6, 9, "f4"), zeros(40 * 7 * 6), i(40), i(7), i(6),
       tolerance=1e-5)  # fmt: skip
def _(x, out, nx, ny, nz):
    cells, found = x.reshape(nz, ny, nx), np.zeros((nz, ny, nx))
    c, b, a = np.mgrid[-1:2, -1:2, -1:2]
    near = np.lib.stride_tricks.sliding_window_view(cells, (3, 3, 3))
    found[1:-1, 1:-1, 1:-1] = (near * 0.5 ** (a * a + b * b + c * c)).sum(axis=(3, 4, 5))
    return found.ravel()


@small("sharpened", (2, 1), (16, 16), numbers(300, 256, "f4"), zeros(300), i(25), i(12), tolerance=1e-4)
def _(x, out, width, height):
    image = x.reshape(height, width)
    return (1.5 * image - 0.5 * _windows(image, 2).mean(axis=(2, 3))).ravel()


@small("turned_image", (2, 2), (32, 8), numbers(400, 256, "u1"), zeros(400, "u1"), i(40), i(10), f(0), f(1))
def _(x, out, width, height, c, s):
    image, found = x.reshape(height, width), np.zeros((height, width), "u1")
    for y in range(height):
        for x in range(width):
            u, v = int(width / 2 - (y - height / 2)), int(height / 2 + x - width / 2)
            if 0 <= u < width and 0 <= v < height:
                found[y, x] = image[v, u]
    return found.ravel()


# Matrices.
def _product(a, b, c, n):
    return (a.reshape(n, n) @ b.reshape(n, n)).ravel()


small("product_2x2", (2, 2), (16, 16), numbers(1600, 9, "f4"), numbers(1600, 7, "f4"), zeros(1600), i(40), output=2)(
    _product
)
small("copied_product", (3, 3), (16, 16), numbers(9216, 9, "f4"), numbers(9216, 7, "f4"), zeros(9216), i(96),
      output=2)(_product)  # fmt: skip


@small("bytes_product", (1, 5), (32, 4), numbers(100, 1 << 30), numbers(100, 1 << 29), zeros(400, "i4"), i(20), i(5),
       output=2)  # fmt: skip
def _(a, b, c, n, words):
    left = a.view("i1").reshape(n, words * 4).astype(int)
    right = b.reshape(words, n).T.copy().view("i1").reshape(n, words * 4).astype(int)
    return (left @ right.T).ravel()


@small(
    "half_rows_by_vector", 3, 64, numbers(2 * 5 * 40, 2, "f2"), numbers(80, 3, "f2"), zeros(5), i(5), i(40), output=2
)
def _(m, x, y, rows, pairs):
    return m.reshape(rows, -1).astype("f4") @ x.astype("f4")


@small("sparse_by_dense", 5, (64, 4), offsets(18, 4), numbers(72, 18), numbers(72, 9, "f4"), numbers(64 * 18, 9, "f4"),
       zeros(64 * 18), i(18), output=4)  # fmt: skip
def _(first, cols, values, dense, out, rows):
    found = np.zeros((rows, 64))
    np.add.at(found, np.repeat(np.arange(rows), np.diff(first)), values[:, None] * dense.reshape(rows, 64)[cols])
    return found.ravel()


# Warps and rows.
@small("warp_sorted", 2, 64, numbers(384, 1 << 20), zeros(384, "i4"), i(3))
def _(x, out, each):
    return np.sort(x.reshape(-1, 32)).ravel()


@small("running_rows", 2, 64, numbers(210, 9), zeros(210, "i4"), i(3), i(70))
def _(x, out, rows, cols):
    return x.reshape(rows, cols).cumsum(axis=1).ravel()


@small("moments", 2, 96, numbers(700, 999), zeros(3, "u8"), i(700))
def _(x, out, n):
    return [(x.astype("u8") ** np.uint64(k)).sum() for k in (1, 2, 3)]


@small("cross_entropies", 3, 96, numbers(210, 9, "f4"), numbers(3, 70), zeros(3), i(70), output=2, tolerance=1e-4)
def _(x, labels, out, cols):
    rows = x.reshape(3, cols).astype("f8")
    return np.log(np.exp(rows).sum(axis=1)) - rows[range(3), labels]


@small("welford_rows", 2, 64, numbers(210, 99, "f4"), zeros(210), i(3), i(70), tolerance=1e-4)
def _(x, out, rows, cols):
    x = x.reshape(rows, cols).astype("f8")
    return ((x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)).ravel()


@small("gradient_rows", 3, 96, numbers(210, 2, "f4"), numbers(210, 9, "f4"), zeros(210), i(70), output=2)
def _(y, dy, dx, cols):
    y, dy = y.reshape(3, cols), dy.reshape(3, cols)
    return (y * (dy - (y * dy).sum(axis=1, keepdims=True))).ravel()


@small("best_four", 1, 64, numbers(210, 1 << 20), zeros(28, "i4"), i(7), i(30))
def _(x, out, rows, cols):
    return np.sort(x.reshape(rows, cols))[:, :-5:-1].ravel()


# Indices.
@small("pulled_ranks", 2, 64, offsets(100, 4), numbers(400, 100), numbers(100, 9, "f4"), zeros(100), i(100), output=3,
       tolerance=1e-5)  # fmt: skip
def _(first, source, rank, after, nodes):
    return 0.15 + 0.85 * np.add.reduceat(rank[source], first[:-1])


@small(
    "next_level", 2, 64, offsets(100, 4), numbers(400, 100), numbers(100, 8), zeros(100, "i4"), i(100), i(3), output=3
)
def _(first, source, level, out, nodes, now):
    reached = np.add.reduceat((level[source] == now).astype(int), first[:-1]) > 0
    return np.where((level > now) & reached, now + 1, level)


@small("padded_rows", 2, 64, numbers(400, 100), numbers(400, 9, "f4"), numbers(100, 9, "f4"), zeros(100), i(100), i(4),
       output=3)  # fmt: skip
def _(cols, values, x, y, rows, width):
    return (np.where(cols >= 8, values * x[cols], 0)).reshape(width, rows).sum(axis=0)


@small("listed_forces", 2, 64, numbers(400, 50, "f4"), numbers(300, 100), zeros(400), i(100), i(3), output=2,
       tolerance=1e-4)  # fmt: skip
def _(bodies, near, out, n, each):
    p = bodies.reshape(n, 4)[:, :3].astype("f8")
    apart = p[near.reshape(each, n)] - p
    t = 1 / ((apart**2).sum(axis=2) + 0.5) ** 3
    return np.dstack([(t * (1 - 0.5 * t))[..., None] * apart, t]).sum(axis=0).ravel()


@small("common_friends", 1, 64, offsets(399, 3), Array("ring", "i4", 400, 0), zeros(50, "i4"), i(50), i(8), output=2)
def _(a, b, out, n, each):
    return [len({*p} & {*q}) for p, q in zip(a.reshape(n, each), b.reshape(n, each), strict=True)]


# Copies in the background, streams.
@small("staged_sums", 2, 128, numbers(2 * 5 * 512, 9, "f4"), zeros(256), i(5))
def _(x, out, tiles):
    tile = x.reshape(2, tiles, 128, 4)
    return (tile * tile[:, :, ::-1, ::-1]).sum(axis=(1, 3)).ravel()


@small("rows_ahead", (2, 2), 32, numbers(40 * 11, 9, "f4"), zeros(320), i(40), i(4), smem=512)
def _(x, out, width, height):
    rows = x.reshape(-1, width)
    return (0.25 * (rows[:-3] + 2 * rows[1:-2] + rows[2:-1])).ravel()


@small("adam_step", 2, 64, numbers(300, 99, "f4"), numbers(300, 999, "f4"), zeros(300), zeros(300), i(300), output=0,
       tolerance=1e-5)  # fmt: skip
def _(w, g, m, v, n):
    return w - 0.001 * 0.1 * g / (np.sqrt(0.001 * g.astype("f8") ** 2) + 1e-8)


@small("colour_planes", 2, 64, numbers(1200, 256, "u1"), zeros(900), i(300), tolerance=1e-6)
def _(x, out, n):
    return (x.reshape(n, 4)[:, :3] / 255).T.ravel()


@small("to_short_floats", 2, 64, numbers(400, 256, "f4"), zeros(400, "u2"), i(100))
def _(x, out, n):
    return x.view("u4") >> 16


@small("pooled_2x2", (2, 5), 32, numbers(800, 99, "f4"), zeros(200), i(40), i(5))
def _(x, out, width, height):
    return x.reshape(height, 2, width, 2).max(axis=(1, 3)).ravel()


@small("lengths_of_points", 2, 64, numbers(300, 99, "f4"), zeros(100), i(100), tolerance=1e-6)
def _(x, out, n):
    return np.linalg.norm(x.reshape(n, 3), axis=1)


@small("parts_of_list", 1, 64, numbers(200, 2, "f8"), numbers(200, 99, "f8"), zeros(200, "f8"), i(200), output=2)
def _(a, b, out, n):
    return np.where(a > 0, a * b, b)


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)
