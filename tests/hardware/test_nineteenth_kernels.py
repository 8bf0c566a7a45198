"""The kernels of the nineteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
import operator
import re
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import nineteenth_cases
from tests.hardware.in_python import by_thread, in_halves, rows_of
from tests.hardware.launch_sets import by_series
from tests.hardware.nineteenth_cases import Given, jagged_counts, robin_hood, scrambled
from tests.hardware.ninth_cases import halves, lists, normal, skewed, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("tank_levels", "alloy_step", "mma_distances", "dutch_flags", "harmonic_means", "zipper_merges")
WORD = 1 << 32
small = SmallLaunches(nineteenth_cases, SAMPLE)


class Dice:
    """The kernels' random numbers, for one thread or for an array of threads."""

    def __init__(self, thread, seed):
        self.at = scrambled(np.asarray(thread).astype("u8") + int(seed) * 0x9E3779B9)

    def bits(self):
        self.at = (self.at + 0x9E3779B9) % WORD
        return scrambled(self.at)

    def face(self, faces):
        return (self.bits() * int(faces)) >> 32

    def fraction(self):
        return ((self.bits() >> 8) + 0.5) / 2**24


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in nineteenth_cases.cases()}


# Reductions, scans and bins.
@small("harmonic_means", 3, 96, unit(3 * 75), zeros(3), i(75), tolerance=1e-4)
def _(matrix, out, columns):
    return columns / (1 / (matrix.reshape(-1, columns) + 0.25)).sum(axis=1)


@small("total_variation", 2, 64, normal(301), zeros(1), i(301), tolerance=1e-4)
def _(values, out, n):
    return abs(np.diff(values.astype("f8"))).sum()


@small("signal_crests", 3, 64, normal(3 * 150), zeros(3), i(150), smem=512, tolerance=1e-4)
def _(signals, out, length):
    s = signals.reshape(-1, length).astype("f8")
    return abs(s).max(axis=1) / np.sqrt((s**2).mean(axis=1))


@small("running_parity", 2, 64, numbers(2 * 150, WORD, "u4"), zeros(300, "u4"), i(150))
def _(words, out, length):
    return np.bitwise_xor.accumulate(words.reshape(-1, length), axis=1).ravel()


@small("tank_levels", 2, 64, Given("changes", "i4", 2 * 4 * 90, 50), zeros(720, "i4"), i(90), i(70))
def _(changes, levels, quads, size):
    found = []
    for row in changes.reshape(-1, 4 * quads).tolist():
        level = 0
        for change in row:
            level = min(max(level + change, 0), size)
            found.append(level)
    return found


@small("wind_roses", 2, 64, normal(600), zeros(128, "i4"), i(300), output=1)
def _(winds, rose, n):
    x, y = winds.reshape(n, 2).astype("f8").T
    direction = np.floor(np.arctan2(y, x) * 8 / math.pi + 0.5).astype(int) % 16
    strength = np.minimum(2 * np.hypot(x, y), 7).astype(int)
    return np.bincount(8 * direction + strength, minlength=128)


@small("latency_buckets", 4, 64, numbers(250, 5_000, "u4"), zeros(232, "i4"), i(250))
def _(times, buckets, n):
    found = np.zeros(232, int)
    for t in times.tolist():
        power = (t | 8).bit_length() - 4
        found[8 * power + ((t | 8) >> power) - 8] += 1
    return found


# Stencils.
@small("species_fronts", 2, 64, unit(2 * 75), zeros(150), i(75), i(7), smem=600, tolerance=1e-4)
def _(rings, out, cells, steps):
    now = rings.reshape(-1, cells).astype("f8")
    for _ in range(steps):
        now = now + 0.2 * (np.roll(now, 1, 1) + np.roll(now, -1, 1) - 2 * now) + 0.1 * now * (1 - now)
    return now.ravel()


@small("steepest_neighbours", (2, 2), (16, 8), normal(20 * 13), zeros(260, "i1"), i(20), i(13))
def _(height, out, width, rows):
    padded = np.pad(height.reshape(rows, width), 1, constant_values=np.inf)
    own = padded[1:-1, 1:-1]
    ways = [own - padded[j // 3 : j // 3 + rows, j % 3 : j % 3 + width] for j in range(9)]
    drops = np.stack([d * (np.float32(0.70710678) if j in (0, 2, 6, 8) else 1) for j, d in enumerate(ways)])
    return np.where(drops.max(axis=0) > 0, drops.argmax(axis=0), -1).ravel()


@small("alloy_step", (2, 2), (16, 8), normal(20 * 13), zeros(260), i(20), i(13), f(0.1), smem=4 * (20 * 12 + 18 * 10),
       tolerance=1e-3)  # fmt: skip
def _(alloy, out, width, height, step):
    def bent(p):
        return p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * p[1:-1, 1:-1]

    c = np.pad(alloy.reshape(height, width).astype("f8"), 2, "edge")
    inner = c[1:-1, 1:-1]
    return (c[2:-2, 2:-2] + step * bent(inner**3 - inner - bent(c))).ravel()


# Transposes and products.
@small("swizzled_transpose", (3, 2), (32, 4), normal(96 * 64), zeros(96 * 64), i(96), i(64))
def _(matrix, out, width, height):
    return matrix.reshape(height, width).T.ravel()


@small("axes_rotated", 3, 64, normal(5 * 6 * 5), zeros(150), i(5), i(6), i(5))
def _(values, out, a, b, c):
    return values.reshape(a, b, c).transpose(2, 0, 1).ravel()


@small("tall_by_eight", 2, 32, normal(50 * 12), normal(96), zeros(400), i(50), i(12), smem=384, output=2,
       tolerance=1e-4)  # fmt: skip
def _(tall, weights, out, rows, inner):
    return (tall.reshape(rows, inner).astype("f8") @ weights.reshape(inner, 8)).ravel()


@small("products_6x6", 2, 32, normal(36 * 50), normal(36 * 50, high=2), zeros(1_800), i(50), output=2, tolerance=1e-4)
def _(a, b, out, n):
    return (a.reshape(n, 6, 6).astype("f8") @ b.reshape(n, 6, 6)).ravel()


@small("half_four_rows", 2, 32, normal(8 * 10, "f2"), normal(40 * 10, "f2"), zeros(320, "f2"), i(8), i(20), i(10),
       output=2, tolerance=2e-2)  # fmt: skip
def _(a, b, c, rows, pairs, inner):
    return (a.reshape(rows, inner).astype("f8") @ b.reshape(inner, 2 * pairs)).ravel()


@small("complex_gemv", 2, 64, normal(2 * 3 * 75), normal(150), zeros(6), i(3), i(75), output=2, tolerance=1e-4)
def _(matrix, x, out, rows, columns):
    return (matrix.astype("f8").view("c16").reshape(rows, columns) @ x.astype("f8").view("c16")).view("f8")


@small("rank_two_update", (2, 3), (32, 8), normal(400), normal(20), normal(20, high=2), zeros(400), i(20), output=3,
       tolerance=1e-4)  # fmt: skip
def _(matrix, a, b, out, n):
    return (matrix.reshape(n, n) - np.outer(a, b) - np.outer(b, a)).ravel()


@small("mma_distances", 5, 64, halves(48 * 16), unit(48), zeros(48 * 48), i(48), i(16), output=2, tolerance=1e-2)
def _(points, norms, out, n, words):
    p = in_halves(points).reshape(n, 2 * words)
    return (norms[:, None] + norms - 2 * p @ p.T).ravel()


@small("mma_byte_scores", 2, 64, numbers(32 * 16, WORD, "u4"), numbers(64 * 16, WORD // 2, "u4"), zeros(32 * 64, "i4"),
       i(32), i(64), i(16), output=2)  # fmt: skip
def _(a, b, out, rows, columns, words):
    return (a.view("i1").reshape(rows, -1).astype(int) @ b.view("i1").reshape(columns, -1).astype(int).T).ravel()


# Sparse matrices, sorts and merges.
@small("jagged_diagonals", 2, 32, Given("jagged starts", "i4", 8, 50),
       numbers(int(jagged_counts(7, 50).sum()), 50), normal(int(jagged_counts(7, 50).sum())), normal(50), zeros(50),
       i(50), i(7), output=4, tolerance=1e-4)  # fmt: skip
def _(starts, columns, values, x, out, rows, diagonals):
    found = np.zeros(rows)
    for a, b in pairwise(starts):
        found[: b - a] += values[a:b] * x[columns[a:b]]
    return found


@small("column_scatter", 10, 64, *lists(20, 9), normal(20), zeros(20), i(20), output=3, tolerance=1e-4)
def _(starts, rows, x, out, columns):
    return np.bincount(rows, np.repeat(x, np.diff(starts)), minlength=columns)


@small("shared_with_next", 2, 32, *lists(40, 12), zeros(40, "i4"), i(40), output=2)
def _(starts, members, out, n):
    found, rows = [], rows_of(starts, members)
    for a, b in pairwise(rows):
        found.append(sum(min(a.count(x), b.count(x)) for x in set(a)))
    assert sum(found) > 5
    return [*found, 0]


@small("masked_rows", 2, 64, numbers(9, WORD, "u4"), normal(9 * 32), normal(96), zeros(3), i(3), i(3), output=3,
       tolerance=1e-4)  # fmt: skip
def _(masks, values, x, out, rows, words):
    bits = (masks[:, None] >> np.arange(32, dtype="u4") & 1).reshape(rows, 32 * words).astype(bool)
    return [v[: b.sum()].astype("f8") @ x[b] for v, b in zip(values.reshape(rows, -1), bits, strict=True)]


@small("radix_step", 3, 96, numbers(288, WORD, "u4"), zeros(288, "u4"), i(8))
def _(keys, out, shift):
    tiles = keys.reshape(-1, 96)
    return np.take_along_axis(tiles, np.argsort(tiles >> np.uint32(shift) & 15, axis=1, kind="stable"), 1).ravel()


@small("zipper_merges", 2, 32, Given("sorted columns", "i4", 350, 50), Given("other sorted columns", "i4", 350, 50),
       zeros(700, "i4"), i(50), i(7), output=2)  # fmt: skip
def _(a, b, out, n, length):
    return np.sort(np.concatenate([a.reshape(length, n), b.reshape(length, n)]), axis=0).ravel()


@small("dutch_flags", 2, 64, numbers(2 * 150, 9), zeros(300, "i4"), i(150), i(4))
def _(values, out, length, pivot):
    pieces = values.reshape(-1, length)
    return np.take_along_axis(pieces, np.argsort(np.sign(pieces - pivot), axis=1, kind="stable"), 1).ravel()


@small("pancake_sorts", 2, 32, numbers(12 * 50, 1_000), zeros(50, "i4"), i(50))
def _(stacks, out, n):
    found = []
    for own in by_thread(stacks, n):
        turns = 0
        for size in range(12, 1, -1):
            most = own.index(max(own[:size]))
            if most < size - 1:
                own[: most + 1] = own[most::-1]
                own[:size] = own[size - 1 :: -1]
                turns += 1 + (most > 0)
        assert own == sorted(own)
        found.append(turns)
    return found


# Bytes and texts.
@small("swapped_cases", 2, 32, Given("words of text", "u4", 50), zeros(50, "u4"), i(50), seen=lambda a: a.view("u1"))
def _(text, out, words):
    return [*text.tobytes().swapcase()]


@small("hex_numbers", 2, 32, Given("hex digits", "u4", 100), zeros(50, "u4"), i(50))
def _(text, out, n):
    whole = text.tobytes()
    return [int(whole[8 * k : 8 * k + 8], 16) for k in range(n)]


@small("vigenere_letters", 2, 32, Given("letters", "u1", 150, 26), zeros(150, "u1"), i(150))
def _(text, out, n):
    key = np.resize(small.constants("vigenere_key"), n)
    return (text - 97 + key) % 26 + 97


@small("packet_checksums", 2, 96, numbers(5 * 40, 1 << 16, "u2"), skewed(5, 40), zeros(5, "u2"), i(5), output=2)
def _(values, starts, out, packets):
    found = []
    for row in rows_of(starts, values):
        total = sum(row)
        while total > 65535:
            total = total % 65536 + total // 65536
        found.append(65535 - total)
    return found


@small("other_strands<4>", 2, 32, numbers(200, WORD, "u4"), zeros(200, "u4"), i(50))
def _(reads, out, n):
    bases = (reads[:, None] >> np.arange(0, 32, 2, dtype="u4") & 3).reshape(n, -1)
    turned = (3 - bases[:, ::-1]).reshape(-1, 16).astype("u8")
    return (turned << np.arange(0, 32, 2, dtype="u8")).sum(axis=1)


@small("damerau_distances", 2, 32, Given("letters", "u1", 600, 3), Given("letters", "u1", 600, 4), zeros(50, "u1"),
       i(50), output=2)  # fmt: skip
def _(first, second, out, n):
    found = []
    for a, b in zip(by_thread(first, n), by_thread(second, n), strict=True):
        t = np.add.outer(np.arange(13), np.arange(13))
        for y, x in np.ndindex(12, 12):
            t[y + 1, x + 1] = min(t[y, x] + (a[y] != b[x]), t[y, x + 1] + 1, t[y + 1, x] + 1)
            if y and x and a[y] == b[x - 1] and a[y - 1] == b[x]:
                t[y + 1, x + 1] = min(t[y + 1, x + 1], t[y - 1, x - 1] + 1)
        found.append(t[12, 12])
    return found


@small("squeezed_lines", 2, 64, Given("spaced text", "u1", 300), zeros(300, "u1"), zeros(2, "i4"), i(150),
       output=(1, 2))  # fmt: skip
def _(lines, out, lengths, length):
    rows = [re.sub(b" +", b" ", line.tobytes()) for line in lines.reshape(-1, length)]
    return [*b"".join(row.ljust(length, b"\0") for row in rows)], [len(row) for row in rows]


# Graphs.
@small("widest_ways", (2, 3), (16, 8), numbers(400, 1_000), zeros(400, "i4"), i(20), i(7))
def _(ways, out, n, by):
    w = ways.reshape(n, n)
    return np.maximum(w, np.minimum(w[:, by, None], w[by])).ravel()


@small("closed_samples", 2, 32, *lists(40, 9), zeros(40, "i4"), i(40), i(8), output=2)
def _(starts, members, out, nodes, samples):
    rows, found = rows_of(starts, members), []
    for node, row in enumerate(rows):
        dice, closed = Dice(node, 3), 0
        for _ in range(samples if len(row) > 1 else 0):
            a, b = row[int(dice.face(len(row)))], row[int(dice.face(len(row)))]
            closed += b in rows[a]
        found.append(closed)
    assert sum(found) > 5
    return found


@small("degree_products", 1, 64, *lists(100, 9), zeros(1, "u8"), i(100), output=2)
def _(starts, members, out, nodes):
    degrees = np.diff(starts).astype(int)
    return np.repeat(degrees, degrees) @ degrees[members]


# Tables.
@small("chain_costs", 2, 32, numbers(450, 100), zeros(50, "i4"), i(50))
def _(sizes_, out, n):
    found = []
    for side in by_thread(sizes_, n):
        cost = {(a, a): 0 for a in range(8)}
        for span in range(1, 8):
            for a in range(8 - span):
                ways = range(a, a + span)
                of = [cost[a, m] + cost[m + 1, a + span] + side[a] * side[m + 1] * side[a + span + 1] for m in ways]
                cost[a, a + span] = min(of)
        found.append(cost[0, 7])
    return found


@small("rod_cuts", 2, 32, numbers(600, 1_000), zeros(50, "i4"), i(50), i(12))
def _(prices, out, n, length):
    found = []
    for own in by_thread(prices, n):
        best = [0]
        for size in range(1, length + 1):
            best.append(max(own[cut - 1] + best[size - cut] for cut in range(1, size + 1)))
        found.append(best[-1])
    return found


@small("search_tree_costs", 2, 32, numbers(80, 100), zeros(2, "i4"), i(40), smem=4 * 41 * 42)
def _(weights, out, keys):
    found = []
    for own in weights.reshape(-1, keys).tolist():
        cost = {(a, a): 0 for a in range(keys + 1)}
        for span in range(1, keys + 1):
            for a in range(keys + 1 - span):
                roots = range(a, a + span)
                cost[a, a + span] = sum(own[a : a + span]) + min(cost[a, r] + cost[r + 1, a + span] for r in roots)
        found.append(cost[0, keys])
    return found


# At random.
@small("buffon_needles", 2, 32, zeros(50, "i4"), i(50), i(20), f(0.8), u(1), output=0)
def _(out, n, throws, length, seed):
    dice, crossed = Dice(np.arange(n), seed), np.zeros(n, int)
    for _ in range(throws):
        middle = dice.fraction()
        reach = length / 2 * np.sin(math.pi * dice.fraction())
        crossed += (middle < reach) | (middle > 1 - reach)
    return crossed


@small("shared_birthdays", 2, 32, zeros(50, "i4"), i(50), u(2), output=0)
def _(out, n, seed):
    found = []
    for k in range(n):
        dice, taken, day = Dice(k, seed), [], -1
        while day not in taken:
            taken.append(day)
            day = int(dice.face(365))
        found.append(len(taken))
    return found


@small("basket_options", 2, 32, zeros(50), i(50), i(9), f(1), u(3), output=0, tolerance=1e-4)
def _(out, n, paths, strike, seed):
    dice, total = Dice(np.arange(n), seed), 0
    roots = np.zeros((4, 4))
    roots[np.tril_indices(4)] = small.constants("basket_roots")
    for _ in range(paths):
        z = []
        for _ in range(2):
            radius = np.sqrt(-2 * np.log(dice.fraction()))
            angle = 2 * math.pi * dice.fraction()
            z += [radius * np.cos(angle), radius * np.sin(angle)]
        total = total + np.maximum(np.exp(roots @ z).mean(axis=0) - strike, 0)
    return total / paths


@small("two_wells", 2, 32, zeros(50), i(50), i(30), f(0.3), u(4), output=0, tolerance=1e-4)
def _(out, n, steps, heat, seed):
    dice, x, energy, total = Dice(np.arange(n), seed), np.ones(n), np.zeros(n), 0
    for _ in range(steps):
        next_ = x + dice.fraction() - 0.5
        higher = (next_**2 - 1) ** 2
        taken = dice.fraction() < np.exp((energy - higher) / heat)
        x, energy = np.where(taken, next_, x), np.where(taken, higher, energy)
        total = total + x
    return total / steps


@small("sticker_albums", 2, 32, zeros(50, "i4"), i(50), i(12), u(5), output=0)
def _(out, n, pictures, seed):
    found = []
    for k in range(n):
        dice, held, bought = Dice(k, seed), set(), 0
        while len(held) < pictures:
            held.add(int(dice.face(pictures)))
            bought += 1
        found.append(bought)
    return found


# Bodies.
@small("whirl_speeds", 2, 64, normal(300), zeros(200), i(100), f(0.01), smem=768, tolerance=1e-3)
def _(whirls, out, n, core):
    x, y, strength = whirls.reshape(n, 3).astype("f8").T
    dx, dy = np.subtract.outer(x, x), np.subtract.outer(y, y)
    shares = strength / (dx**2 + dy**2 + core)
    return np.stack([-(shares * dy).sum(axis=1), (shares * dx).sum(axis=1)], axis=1).ravel()


@small("screened_charges", 2, 64, normal(400), zeros(100), i(100), f(0.7), tolerance=1e-3)
def _(charges, out, n, reach):
    c = charges.reshape(n, 4).astype("f8")
    far = np.sqrt(((c[:, None, :3] - c[:, :3]) ** 2).sum(axis=2) + 0.01)
    return np.exp(-reach * far) / far @ c[:, 3]


@small("double_gravity", 2, 32, normal(80, "f8"), normal(150, "f8"), zeros(50, "f8"), i(50), i(20), output=2,
       tolerance=1e-9)  # fmt: skip
def _(bodies, points, out, n, count):
    b = bodies.reshape(count, 4)
    square = ((points.reshape(3, n).T[:, None] - b[:, :3]) ** 2).sum(axis=2)
    return -(b[:, 3] / np.sqrt(square + 0.001)).sum(axis=1)


# Pictures.
def windows(picture, width, height, reach):
    """The square around each point of a picture whose edges go on."""
    padded = np.pad(picture.reshape(height, width).astype(int), reach, "edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1))


@small("embossed", (2, 2), (16, 8), numbers(260, 256, "u1"), zeros(260, "u1"), i(20), i(13))
def _(picture, out, width, height):
    weights = np.reshape(small.constants("emboss_weights"), (3, 3))
    return np.clip((windows(picture, width, height, 1) * weights).sum(axis=(2, 3)), 0, 255).ravel()


@small("vignette", (2, 2), (16, 8), numbers(260, WORD, "u4"), zeros(260, "u4"), i(20), i(13), f(1.3),
       seen=lambda a: a.view("u1"), absolute=1)  # fmt: skip
def _(picture, out, width, height, power):
    y, x = np.indices((height, width))
    square = (2 * x / width - 1) ** 2 + (2 * y / height - 1) ** 2
    light = 1 / (1 + 0.4 * square**power)
    found = picture.view("u1").reshape(height, width, 4).astype("f8")
    found[..., :3] *= light[..., None]
    return found.astype("u1").ravel()


@small("eroded_words", (2, 2), (2, 16), Given("mostly ones", "u4", 60), zeros(60, "u4"), i(3), i(20))
def _(picture, out, words, height):
    bits = np.unpackbits(picture.view("u1"), bitorder="little").reshape(height, 32 * words)
    padded = np.pad(bits, 1, constant_values=1)
    kept = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).min(axis=(2, 3))
    assert kept.sum() > 100
    return np.packbits(kept, bitorder="little").view("u4")


@small("row_distances", 2, 32, Given("few ones", "u1", 40 * 35, 9), zeros(1_400, "i4"), i(35), i(40))
def _(picture, out, width, height):
    found = np.full((height, width), 999)
    for y, x in np.argwhere(picture.reshape(height, width)):
        found[y] = np.minimum(found[y], abs(np.arange(width) - x))
    assert found.max() < width
    return found.ravel()


@small("polar_picture", (3, 2), (16, 8), normal(30 * 30), zeros(40 * 16), i(30), i(40), i(16), tolerance=1e-3)
def _(picture, out, side, angles, radii):
    p, middle = picture.reshape(side, side).astype("f8"), (side - 1) / 2
    r, a = np.indices((radii, angles))
    far, angle = middle * 0.98 * r / radii, 2 * math.pi * a / angles
    x, y = middle + far * np.cos(angle), middle + far * np.sin(angle)
    left, top = x.astype(int), y.astype(int)
    s, t = x - left, y - top
    above = (1 - s) * p[top, left] + s * p[top, left + 1]
    below = (1 - s) * p[top + 1, left] + s * p[top + 1, left + 1]
    return ((1 - t) * above + t * below).ravel()


@small("oil_paint", (2, 2), (16, 8), numbers(260, 256, "u1"), zeros(260, "u1"), i(20), i(13))
def _(picture, out, width, height):
    found = []
    for around in windows(picture, width, height, 2).reshape(-1, 25):
        best = np.bincount(around // 16, minlength=16).argmax()
        found.append(int(around[around // 16 == best].mean()))
    return found


# Codes and networks.
@small("packed_int4_groups", 2, 64, normal(320, "f2"), zeros(40, "u4"), zeros(10), i(10), i(3), output=(1, 2),
       tolerance=1e-6)  # fmt: skip
def _(values, codes, factors, groups, each):
    v = values.reshape(groups, 32).astype("f4")
    most = abs(v).max(axis=1)
    found = (np.round(v * np.float32(7) / most[:, None]) + 8).astype("u8").reshape(-1, 8)
    return (found << np.arange(0, 32, 4, dtype="u8")).sum(axis=1), most / 7


@small("rounded_by_chance", 2, 32, normal(150), zeros(150, "u2"), i(150), u(9))
def _(values, out, n, seed):
    words = values.view("u4").astype("u8") + scrambled(np.arange(n) ^ int(seed)) % 65_536
    below = values.view("u4") >> 16
    assert set((words // 65_536 - below).tolist()) == {0, 1}
    return words // 65_536


@small("codebook_scores", 2, 64, normal(2_048), numbers(300, WORD, "u4"), zeros(150), i(150), output=2, tolerance=1e-4)
def _(table, codes, out, n):
    return table.reshape(8, 256)[np.arange(8), codes.view("u1").reshape(n, 8)].sum(axis=1)


@small("instance_norm", 2, 64, normal(300), zeros(300), i(150), tolerance=1e-4)
def _(planes, out, size):
    p = planes.reshape(-1, size).astype("f8")
    return ((p - p.mean(axis=1, keepdims=True)) / p.std(axis=1, keepdims=True)).ravel()


@small("paged_scores", 2, 64, normal(64, "f2"), normal(7 * 1_024, "f2"), numbers(3, 7), zeros(48), i(48), output=3,
       tolerance=1e-3)  # fmt: skip
def _(query, keys, pages, out, tokens):
    return (keys.reshape(-1, 16, 64).astype("f8")[pages] @ query / 8).ravel()


@small("softcapped_rows", 2, 64, normal(3 * 75, high=20), zeros(225), i(3), i(75), f(30), tolerance=1e-3)
def _(scores, out, rows, columns, cap):
    weights = np.exp(cap * np.tanh(scores.reshape(rows, columns).astype("f8") / cap))
    return (weights / weights.sum(axis=1, keepdims=True)).ravel()


@small(
    "expert_mix", 2, 64, normal(8 * 40), numbers(20, 20), unit(20), zeros(160), i(10), i(4), output=3, tolerance=1e-4
)
def _(found, places, weights, out, tokens, quads):
    of_experts = found.reshape(-1, 4 * quads)[places.reshape(tokens, 2)]
    return (of_experts * weights.reshape(tokens, 2, 1)).sum(axis=1).ravel()


@small("silu_slopes", 2, 32, normal(100, "f2"), normal(100, "f2", high=2), zeros(100, "f2"), i(50), output=2,
       tolerance=1e-2)  # fmt: skip
def _(x, gradient, out, pairs):
    silu = lambda v: v / (1 + np.exp(-v))  # noqa: E731
    x = x.astype("f8")
    return gradient * (silu(x + 1e-5) - silu(x - 1e-5)) / 2e-5


@small("pointwise_conv", (2, 2), 32, normal(500), normal(160), zeros(800), i(50), i(10), smem=320, output=2,
       tolerance=1e-4)  # fmt: skip
def _(picture, weights, out, points, channels):
    return (weights.reshape(-1, channels).astype("f8") @ picture.reshape(channels, points)).ravel()


@small("smoothed_labels", 2, 64, normal(3 * 75, high=3), numbers(3, 75), zeros(3), i(3), i(75), f(0.1), output=2,
       tolerance=1e-4)  # fmt: skip
def _(scores, labels, out, rows, classes, part):
    s = scores.reshape(rows, classes).astype("f8")
    logs = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
    return -(1 - part) * logs[np.arange(rows), labels] - part * logs.mean(axis=1)


# Numbers and bits.
@small("nth_set_bits", 2, 32, numbers(90, 1 << 63, "u8"), numbers(90, 40, "u1"), zeros(90, "i1"), i(90), output=2)
def _(words, ranks, out, n):
    places = [[j for j in range(64) if word >> j & 1] for word in words.tolist()]
    return [own[rank] if rank < len(own) else -1 for own, rank in zip(places, ranks, strict=True)]


@small("carry_save_counts", 2, 32, numbers(8 * 150, WORD, "u4"), zeros(1, "u8"), i(150))
def _(words, out, groups):
    return np.unpackbits(words.view("u1")).sum()


@small("field_256_powers", 2, 32, numbers(50, WORD, "u4"), zeros(50, "u4"), i(50), i(5), seen=lambda a: a.view("u1"))
def _(words, out, n, turns):
    def product(a, b):
        whole = reduce(operator.xor, (a << j for j in range(8) if b >> j & 1), 0)
        for j in range(14, 7, -1):
            whole ^= (0x11B << j - 8) if whole >> j & 1 else 0
        return whole

    return [reduce(product, [b] * int(turns)) for b in words.view("u1").tolist()]


@small("lehmer_leaps", 2, 32, zeros(50, "u8"), i(50), i(20), output=0)
def _(out, n, draws):
    state, found = 12345, []
    for _ in range(n):
        total = 0
        for _ in range(draws):
            state = state * 48271 % (2**31 - 1)
            total += state
        found.append(total)
    return found


def is_prime(x):
    return x > 1 and all(x % d for d in range(2, math.isqrt(int(x)) + 1))


@small("goldbach_splits", 2, 32, zeros(50, "i4"), i(50), i(4), output=0)
def _(out, n, first):
    wholes = range(first, first + 2 * n, 2)
    return [next(p for p in range(2, m) if is_prime(p) and is_prime(m - p)) for m in wholes]


# Hashes and queues.
@small("robin_hood_lookup", 4, 32, robin_hood(130, 100), numbers(120, 200, "u4"), zeros(120, "i1"), i(120), i(130),
       output=2)  # fmt: skip
def _(table, keys, out, n, homes):
    places = {key: place for place, key in enumerate(table.tolist()) if key}
    assert set(places) == set(range(1, 101))
    found = [places.get(k, -1) - int(scrambled(k)) * int(homes) // WORD if k in places else -1 for k in keys.tolist()]
    assert max(found) > 1
    return found


@small("dictionary_counts", 2, 32, robin_hood(60, 30), Given("popular", "u4", 150, 40), zeros(316, "i4"), i(150), i(60),
       output=2)  # fmt: skip
def _(table, words, counts, n, homes):
    return np.bincount(words, minlength=99)[table] * (table > 0)


@small("dealt_primes", 2, 64, zeros(2, "i4"), zeros(1, "i4"), i(300), output=(0, 1))
def _(queue, count, numbers_):
    return [0, 0], sum(map(is_prime, range(numbers_)))


@small("bright_pixels", 4, 64, numbers(250, 256, "u1"), zeros(256, "i4"), zeros(1, "u4"), i(250), i(200), u(255),
       seen=np.sort)  # fmt: skip
def _(picture, places, count, n, limit, mask):
    return np.sort(np.resize(np.append(np.flatnonzero(picture >= limit), np.zeros(256, int)), 256))


# Groups, clusters and copies.
@small("tile_least_places<16>", 2, 64, numbers(7 * 45, WORD, "u4"), zeros(7, "i4"), i(7), i(45))
def _(values, out, rows, columns):
    return values.reshape(rows, columns).argmin(axis=1)


@small("cluster_table", 4, 32, numbers(120, 1_000, "u4"), zeros(128, "u4"), i(30), i(9), smem=120)
def _(table, out, part, turns):
    found = []
    for k in range(128):
        at, mixed = k * 37 % 120, 0
        for _ in range(turns):
            mixed = (mixed * 31 + int(table[at])) % WORD
            at = (at + int(table[at])) % 120
        found.append(mixed)
    return found


@small("async_tile_product", (2, 1), (16, 16), normal(32 * 96), normal(64 * 96), zeros(64 * 32), i(64), i(96), output=2,
       tolerance=1e-3)  # fmt: skip
def _(a, b, c, n, inner):
    return (a.reshape(-1, inner).astype("f8") @ b.reshape(inner, n)).ravel()


@small("async_row_variances", 2, 64, normal(2 * 600), zeros(2), i(150), smem=2_048, tolerance=1e-3)
def _(matrix, out, quads):
    return matrix.reshape(-1, 4 * quads).astype("f8").var(axis=1)


# Doubles, waves, much and little.
@small("double_romberg", 2, 32, unit(50, "f8", high=3), zeros(50, "f8"), i(50), i(6), tolerance=1e-8)
def _(factors, out, n, levels):
    return [math.sqrt(math.pi / a) / 2 * math.erf(math.sqrt(a)) for a in factors]


@small("double_line_slopes", 2, 64, normal(3 * 75, "f8"), zeros(3, "f8"), i(3), i(75), tolerance=1e-10)
def _(matrix, out, rows, columns):
    return np.polyfit(np.arange(columns), matrix.reshape(rows, columns).T, 1)[0]


@small("radio_phasors", 2, 32, unit(40), zeros(50), i(50), i(10), f(9), tolerance=1e-3)
def _(senders, out, n, count, waves):
    s = senders.reshape(count, 4).astype("f8")
    far = np.sqrt((0.01 * np.arange(n)[:, None] - s[:, 0]) ** 2 + s[:, 1] ** 2 + 0.1)
    return abs((s[:, 2] * np.exp(1j * (waves * far + s[:, 3])) / far).sum(axis=1)) ** 2


@small("large_table_lookups", 2, 64, numbers(200, WORD, "u4"), zeros(2, "u4"), i(200), i(150), smem=800)
def _(table, out, size, lookups):
    places = scrambled(np.arange(2 * lookups)) * np.uint64(size) >> 32
    return np.bitwise_xor.reduce(table[places.astype(int)].reshape(2, lookups), axis=1)


@small("cross_vectors", 2, 32, normal(150), normal(150, high=2), zeros(150), i(50), output=2, tolerance=1e-4)
def _(a, b, out, n):
    return np.cross(a.reshape(n, 3), b.reshape(n, 3)).ravel()


@small("held_columns<40>", 2, 32, normal(2_000), zeros(50), i(50), tolerance=1e-3)
def _(columns, out, n):
    c = columns.reshape(40, n).astype("f8")
    return (((c - c.mean(axis=0)) / c.std(axis=0)) ** 3).mean(axis=0)


@small("order_values", 2, 32, numbers(1_000, 5), zeros(100), i(100), i(2), tolerance=1e-6)
def _(orders, out, n, shop):
    o = orders.reshape(n, 10)
    return np.where(o[:, 5] == shop, o[:, 3].copy().view("f4") * o[:, 4], 0)


@small("lane_filters", 2, 64, normal(3 * 75), zeros(225), i(3), i(75), tolerance=1e-4)
def _(rows_, out, rows, columns):
    taps = small.constants("fir_taps")
    return np.ravel([np.convolve(row, taps)[:columns] for row in rows_.reshape(rows, columns)])


@small("celsius_readings", 2, 32, normal(50, high=60), zeros(50), i(50), tolerance=1e-6)
def _(readings, out, n):
    return (readings.astype("f8") - 32) * 5 / 9


@small("times_tables", (2, 2), (16, 8), zeros(260, "i4"), i(20), i(13), output=0)
def _(out, width, height):
    return np.outer(np.arange(1, height + 1), np.arange(1, width + 1)).ravel()


# END
@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in nineteenth_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == nineteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_four_to_six_block_sizes():
    assert {len(names) for names in by_series(nineteenth_cases.cases()).values()} <= {4, 5, 6}
