"""The kernels of the twenty-first set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from tests.hardware import twenty_first_cases
from tests.hardware.in_python import by_thread, in_halves, rows_of
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, skewed, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twenty_first_cases import WORD, Given
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("crossing_jams", "shortest_nets", "decoded_range_bits", "long_squares", "prefix_code_costs", "page_sums")
small = SmallLaunches(twenty_first_cases, SAMPLE)


def blended(x):
    """The kernels' mixed words, of a whole number or of an array of them: uint64."""
    x = np.asarray(x).astype("u8") % WORD
    x = (x ^ x >> 17) * 0xED5AD4BB % WORD
    x = (x ^ x >> 11) * 0xAC4C1B51 % WORD
    return x ^ x >> 15


class Draws:
    """The kernels' random numbers of a thread."""

    def __init__(self, thread, seed):
        self.state = int(blended(thread + 1 ^ int(seed) * 0x9E3779B1 % WORD)) | 1

    def word(self):
        self.state ^= self.state << 13 & WORD - 1
        self.state ^= self.state >> 17
        self.state ^= self.state << 5 & WORD - 1
        return self.state * 0x2545F491 % WORD

    def below(self, limit):
        return self.word() * int(limit) >> 32

    def part(self):
        return ((self.word() >> 9) + 0.5) / 2**23


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twenty_first_cases.cases()}


# A problem per block.
@small("perfect_riffles", 2, 32, numbers(2 * 45, 1_000), zeros(90, "i4"), i(45), i(5), smem=360)
def _(decks, out, cards, turns):
    found = []
    for deck in decks.reshape(-1, cards):
        for _ in range(turns):
            halves = deck[: cards // 2 + 1], deck[cards // 2 + 1 :]
            deck = np.empty_like(deck)
            deck[::2], deck[1::2] = halves
        found += [*deck]
    return found


@small("crossing_jams", 2, 64, Given("cars", "u1", 2 * 11**2, 10), zeros(2, "i4"), i(11), i(6), smem=242)
def _(streets, out, side, turns):
    found = []
    for town in streets.reshape(-1, side, side).astype(int):
        moves = 0
        for kind, axis in ((1, 1), (2, 0)) * int(turns):
            goes = (town == kind) & (np.roll(town, -1, axis) == 0)
            moves += goes.sum()
            town = np.where(goes, 0, town) + kind * np.roll(goes, 1, axis)
        found.append(moves)
    return found


@small("implicit_heat", 2, 32, normal(2 * 13**2), zeros(2 * 13**2), i(13), i(3), f(0.4), smem=4 * 13**2, tolerance=1e-4)
def _(squares, out, side, turns, r):
    step = np.linalg.inv((1 + 2 * r) * np.eye(side) - r * (np.eye(side, k=1) + np.eye(side, k=-1)))
    power = np.linalg.matrix_power(step, int(turns))
    return (power @ squares.reshape(-1, side, side) @ power).ravel()


@small("string_v_cycles", 2, 64, normal(2 << 5), zeros(2 << 5), i(5), i(9), smem=12 * (64 + 6), tolerance=2e-2)
def _(loads, out, levels, turns):
    n = 1 << levels
    matrix = 2 * np.eye(n - 1) - np.eye(n - 1, k=1) - np.eye(n - 1, k=-1)
    found = np.zeros((2, n))
    found[:, 1:] = np.linalg.solve(matrix, loads.reshape(2, n)[:, 1:].T).T
    return found.ravel()


@small("shortest_nets", 2, 64, unit(2 * 2 * 80), zeros(2), i(80), smem=960, tolerance=1e-4)
def _(points, out, n):
    found = []
    for cloud in points.reshape(2, n, 2).astype("f8"):
        apart = np.linalg.norm(cloud[:, None] - cloud, axis=-1)
        label, length = np.arange(n), 0
        for a, b in sorted(combinations(range(n), 2), key=lambda pair: apart[pair]):
            if label[a] != label[b]:
                label[label == label[a]] = label[b]
                length += apart[a, b]
        found.append(length)
    return found


@small("project_ends", 2, 64, numbers(3 * 2 * 90, WORD, "u4"), numbers(180, 60, "u1"), zeros(180, "i4"), i(90),
       smem=720, output=2)  # fmt: skip
def _(before, days, out, tasks):
    found = []
    for earlier, own in zip(before.reshape(2, 3, tasks), days.reshape(2, tasks).tolist(), strict=True):
        ends = own[:1]
        for j in range(1, int(tasks)):
            ends.append(own[j] + max(ends[k % j] for k in earlier[:, j]))
        found += ends
    return found


@small("order_gradients", 6, 32, skewed(6, 20), normal(120), numbers(120, 1_000), zeros(120), output=3, tolerance=1e-3)
def _(starts, scores, grades, out):
    found = []
    for a, b in pairwise(starts):
        s, g = scores[a:b].astype("f8"), grades[a:b] % 5
        steps = g[:, None] - g
        found += [*(steps / (1 + np.exp(np.sign(steps) * (s[:, None] - s)))).sum(axis=1)]
    return found


@small("thinned_tracks", 5, 32, skewed(5, 40), Given("tracks", "f4", 400, 1), zeros(200, "u1"), f(1.5), output=2)
def _(starts, points, kept, limit):
    stays = np.zeros(200, bool)
    track = points.reshape(-1, 2).astype("f8")
    todo = [(a, b - 1) for a, b in pairwise(starts)]
    while todo:
        a, b = todo.pop()
        stays[[a, b]] = True
        if b - a > 1:
            way, off = track[b] - track[a], track[a + 1 : b] - track[a]
            far = abs(way[0] * off[:, 1] - way[1] * off[:, 0]) / np.hypot(*way)
            middle = a + 1 + far.argmax()
            todo += [(a, middle), (middle, b)] if far.max() > limit else []
    assert 20 < stays.sum() < 150
    return stays


@small("particle_waves", 2, 64, unit(2 * 90), zeros(180), i(90), i(7), f(0.2), smem=1_080, tolerance=1e-3)
def _(potentials, out, n, turns, dt):
    found = []
    for b, v in enumerate(potentials.reshape(-1, n).astype("f8")):
        x = np.arange(n) - n // 3
        a = np.exp(-((0.1 * x) ** 2)) * np.exp(0.05j * (b + 1) * x)
        real, imaginary = a.real, a.imag
        for _ in range(turns):
            near = np.roll(imaginary, 1) + np.roll(imaginary, -1)
            real = real + float(dt) * (imaginary * (1 + v) - near / 2)
            near = np.roll(real, 1) + np.roll(real, -1)
            imaginary = imaginary - float(dt) * (real * (1 + v) - near / 2)
        found += [*real**2 + imaginary**2]
    return found


@small("reservoir_states", 2, 32, Given("moves", "f4", 400, 4), normal(10), zeros(40), i(20), i(5), smem=160, output=2,
       tolerance=1e-4)  # fmt: skip
def _(weights, signals, out, units, steps):
    state = np.zeros((2, units))
    for t in range(steps):
        taken = signals.reshape(2, steps)[:, t, None] * np.resize([-0.5, 1], units)
        state = 0.7 * state + 0.3 * np.tanh(state @ weights.reshape(units, units) + taken)
    return state.ravel()


@small("guess_partitions", 3, 64, Given("words", "u4", 3, 5), Given("words", "u4", 200, 6), zeros(6, "i4"), i(200),
       output=2)  # fmt: skip
def _(guesses, words, out, n):
    def letters(word):
        return [int(word) >> 5 * j & 31 for j in range(5)]

    found = []
    for guess in map(letters, guesses):
        answers = []
        for word in map(letters, words):
            answer = [2 * (a == b) for a, b in zip(guess, word, strict=True)]
            left = [b for a, b in zip(guess, word, strict=True) if a != b]
            for j, letter in enumerate(guess):
                if not answer[j] and letter in left:
                    left.remove(letter)
                    answer[j] = 1
            answers.append(tuple(answer))
        counts = [answers.count(one) for one in set(answers)]
        found += [len(counts), sum(c * c for c in counts)]
    return found


# Atomics.
@small("hue_wheel", 2, 64, numbers(300, WORD, "u4"), zeros(72, "u4"), i(300))
def _(pixels, wheel, n):
    found = [0] * 72
    for r, g, b, _ in pixels.view("u1").reshape(n, 4).tolist():
        most, least = max(r, g, b), min(r, g, b)
        if most - least >= 8:
            first, a, b = (0, g, b) if most == r else (24, b, r) if most == g else (48, r, g)
            part = first + Fraction(12 * (a - b), most - least)
            found[math.floor(part) % 72] += most - least
    return found


@small("mixed_cells", 2, 64, numbers(200, WORD, "u4"), zeros(60, "u4"), zeros(60, "u4"), zeros(60, "u8"), i(200), i(60),
       output=(1, 2, 3))  # fmt: skip
def _(keys, counts, mixed, checks, n, cells):
    counts, mixed, checks = [0] * 60, [0] * 60, [0] * 60
    for key in keys.tolist():
        h = int(blended(key))
        for j in range(3):
            cell = 20 * j + int(blended(key + j * 0x3C6EF372)) % 20
            counts[cell] += 1
            mixed[cell] ^= key
            checks[cell] ^= int(blended(h)) << 32 | int(blended(h ^ 0x55555555))
    return counts, mixed, np.array(checks, "u8")


@small("corner_forces", 2, 64, numbers(400, 30), numbers(300, 1_000), zeros(90, "f8"), i(100), output=2)
def _(corners, forces, sums, n):
    found = np.zeros((30, 3))
    for places, force in zip(corners.reshape(n, 4), forces.reshape(3, n).T / 256, strict=True):
        for place, sign in zip(places, (1, 1, -1, -1), strict=True):
            found[place] += sign * force
    return found.ravel()


@small("heaviest_offers", 20, 64, *lists(40, 9), zeros(40, "u8"), i(40), output=2)
def _(starts, members, best, n):
    found = [0] * 40
    for own, others in enumerate(rows_of(starts, members)):
        for other in set(others) - {own}:
            weight = int(blended(own + other) ^ blended(own * other))
            found[other] = max(found[other], weight << 32 | own)
    return np.array(found, "u8")


@small("photon_layers", 2, 64, zeros(10, "u4"), i(300), i(8), f(0.9), u(3), smem=40, output=0, absolute=2)
def _(tally, photons, layers, albedo, seed):
    found = [0] * 10
    for k in range(photons):
        draws, depth, down = Draws(k, seed), 0, 1
        while True:
            depth -= down * math.log(draws.part())
            place = 0 if depth < 0 else min(layers + 1, 1 + int(depth))
            if place in (0, layers + 1) or draws.part() > albedo:
                break
            turn, around = 1.8 * draws.part() - 0.8, 2 * math.pi * draws.part()
            down = turn * down + math.sqrt(max((1 - turn**2) * (1 - down**2), 0)) * math.cos(around)
        found[place] += 1
    return found


# Paths and functions.
@small("adaptive_orbits", 2, 32, unit(100), zeros(200), i(50), f(0.5), f(1e-4), tolerance=2e-2)
def _(places, out, n, until, allowed):
    m = 0.012277471

    def slope(s):
        x, y, u, v = s
        a, b = (1 - m) / ((x + m) ** 2 + y**2 + 1e-3) ** 1.5, m / ((x - 1 + m) ** 2 + y**2 + 1e-3) ** 1.5
        return np.array([u, v, x + 2 * v - a * (x + m) - b * (x - 1 + m), y - 2 * u - (a + b) * y])

    x, y = places.reshape(n, 2).T.astype("f8")
    s, dt = np.stack([0.6 + 0.5 * x, 0.3 + 0.3 * y, np.full(n, -0.1), np.full(n, 0.4)]), 1e-3
    for _ in range(500):
        a = slope(s)
        b = slope(s + dt / 2 * a)
        c = slope(s + dt / 2 * b)
        s = s + dt / 6 * (a + 2 * b + 2 * c + slope(s + dt * c))
    return s.T.ravel()


@small("ladder_voices", 2, 32, normal(50 * 9), zeros(450), i(50), i(9), f(1.5), tolerance=1e-4)
def _(voices, out, n, samples, resonance):
    g, stages, found = 0.05 + 0.4 * np.arange(n) / 97, np.zeros((4, n)), []
    for sample in voices.reshape(samples, n):
        before = np.tanh(sample - float(resonance) * stages[3])
        for stage in stages:
            stage += g * (before - np.tanh(stage))
            before = np.tanh(stage)
        found += [*stages[3]]
    return found


@small("bessel_downwards", 2, 32, unit(50), zeros(50), i(50), i(4), tolerance=1e-4)
def _(places, out, n, order):
    turns = (np.arange(2_000) + 0.5) * math.pi / 2_000
    x = 0.5 + 12 * places.astype("f8")[:, None]
    return np.cos(order * turns - x * np.sin(turns)).mean(axis=1)


@small("ellipsoid_distances", 2, 32, unit(200), zeros(50), i(50), tolerance=2e-3, absolute=0.5)
def _(pairs, out, n):
    found = []
    for a, b, c, d in pairs.reshape(n, 4).astype("f8"):
        # Along the ellipsoid in short pieces would need the way itself; so this is Vincenty's iteration in doubles.
        flat, across = 1 / 298.257, 3 * (b - d)
        u, v = (math.atan((1 - flat) * math.tan(2.4 * (x - 0.5))) for x in (a, c))
        turn = across
        for _ in range(50):
            sin = math.hypot(math.cos(v) * math.sin(turn),
                             math.cos(u) * math.sin(v) - math.sin(u) * math.cos(v) * math.cos(turn))  # fmt: skip
            cos = math.sin(u) * math.sin(v) + math.cos(u) * math.cos(v) * math.cos(turn)
            sigma, alpha = math.atan2(sin, cos), math.cos(u) * math.cos(v) * math.sin(turn) / sin
            square = 1 - alpha**2
            middle = cos - 2 * math.sin(u) * math.sin(v) / square
            k = flat / 16 * square * (4 + flat * (4 - 3 * square))
            turn = across + (1 - k) * flat * alpha * (sigma + k * sin * (middle + k * cos * (2 * middle**2 - 1)))
        w = square * ((1 / (1 - flat)) ** 2 - 1)
        wide, deep = 1 + w / 256 * (64 + w * (5 * w - 12)), w / 512 * (128 + w * (37 * w - 64))
        found.append(6356.752 * wide * (sigma - deep * sin * (middle + deep / 4 * cos * (2 * middle**2 - 1))))
    return found


@small("colour_differences", 2, 32, unit(200, high=90), unit(200, high=80), zeros(50), i(50), output=2, tolerance=1e-3)
def _(first, second, out, n):
    found = []
    for p, q in zip(first.reshape(n, 4)[:, :3].astype("f8"), second.reshape(n, 4)[:, :3].astype("f8"), strict=True):
        mean = (math.hypot(*p[1:]) + math.hypot(*q[1:])) / 2
        grey = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
        (pc, ph), (qc, qh) = ((math.hypot(grey * a, b), math.degrees(math.atan2(b, grey * a))) for _, a, b in (p, q))
        turn = (qh % 360 - ph % 360 + 180) % 360 - 180
        hue, c, light = (ph % 360 + turn / 2) % 360, (pc + qc) / 2, (p[0] + q[0]) / 2 - 50
        t = 1 + sum(
            by * math.cos(math.radians(k * hue + more))
            for by, k, more in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
        )
        by_l = (q[0] - p[0]) / (1 + 0.015 * light**2 / math.sqrt(20 + light**2))
        by_c = (qc - pc) / (1 + 0.045 * c)
        by_h = 2 * math.sqrt(pc * qc) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * c * t)
        twist = -2 * math.sqrt(c**7 / (c**7 + 25**7))
        twist *= math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
        found.append(math.sqrt(by_l**2 + by_c**2 + by_h**2 + twist * by_c * by_h))
    return found


# Pictures.
@small("matern_pairs", (2, 2), (16, 8), unit(6 * 20), unit(6 * 13), zeros(260), i(20), i(13), output=2, tolerance=1e-4)
def _(first, second, out, width, height):
    apart = first.reshape(6, 1, width).astype("f8") - second.reshape(6, height, 1)
    r = np.sqrt(5 * (apart**2).sum(axis=0))
    return ((1 + r + r**2 / 3) * np.exp(-r)).ravel()


@small("vessel_strengths", (2, 2), (16, 8), unit(260, high=50), zeros(260), i(20), i(13), i(3), f(0.002),
       tolerance=1e-3)  # fmt: skip
def _(picture, out, width, height, step, c):
    p = np.pad(picture.reshape(height, width).astype("f8"), step, "edge")

    def moved(y, x):
        return p[step + y : step + y + height, step + x : step + x + width]

    s, found = int(step), []
    xx, yy = (moved(0, -s) + moved(0, s) - 2 * moved(0, 0)), (moved(-s, 0) + moved(s, 0) - 2 * moved(0, 0))
    xy = (moved(-s, -s) + moved(s, s) - moved(-s, s) - moved(s, -s)) / 4
    for bends in np.moveaxis(np.array([[xx, xy], [xy, yy]]), (0, 1), (2, 3)).reshape(-1, 2, 2):
        weak, strong = sorted(np.linalg.eigvalsh(bends), key=abs)
        shape = math.exp(-2 * (weak / strong) ** 2) * (1 - math.exp(-(weak**2 + strong**2) * float(c)))
        found.append(shape if strong < 0 else 0)
    return found


@small("shifted_means", (2, 2), (16, 8), Given("smooth levels", "u1", 260, 9), zeros(260, "u1"), i(20), i(13), i(20))
def _(picture, out, width, height, near):
    p, found = picture.reshape(height, width).astype(int), []
    for start in np.ndindex(int(height), int(width)):
        at, level = start, p[start]
        for _ in range(8):
            top, left = max(at[0] - 2, 0), max(at[1] - 2, 0)
            part = p[top : at[0] + 3, left : at[1] + 3]
            ys, xs = np.nonzero(abs(part - level) <= near)
            if not ys.size:
                break
            levels = part[ys, xs]
            now = at, level
            at, level = (
                tuple((int(x.sum()) + x.size // 2) // x.size for x in (ys + top, xs + left)),
                (int(levels.sum()) + levels.size // 2) // levels.size,
            )
            if now == (at, level):
                break
        found.append(level)
    return found


@small("foretold_blocks", (1, 1), (16, 8), numbers(44 * 21, 256, "u1"), zeros(50, "i4"), i(10), i(5))
def _(picture, out, across, down):
    p, found = picture.reshape(21, 44).astype(int), []
    for y in range(1, 21, 4):
        for x in range(4, 44, 4):
            own, above, left = p[y : y + 4, x : x + 4], p[y - 1, x : x + 4], p[y : y + 4, x - 1, None]
            ways = above, left, (above.sum() + left.sum() + 4) // 8
            sums = [int(abs(own - way).sum()) for way in ways]
            found.append(min(sums) << 2 | sums.index(min(sums)))
    return found


# Codes and numbers.
@small("decoded_range_bits", 2, 32, numbers(8 * 50, WORD, "u4"), zeros(50, "u4"), i(50), i(8), i(70))
def _(streams, out, n, words, count):
    found = []
    for stream in by_thread(streams, n):
        data = b"".join(word.to_bytes(4, "little") for word in stream)
        code, data = int.from_bytes(data[:4], "big"), iter(data[4:])
        chances, size, before, mixed = [1024] * 16, WORD - 1, 0, 0
        for _ in range(count):
            bound = (size >> 11) * chances[before]
            bit = int(code >= bound)
            code, size = (code - bound, size - bound) if bit else (code, bound)
            chances[before] += -(chances[before] >> 5) if bit else 2048 - chances[before] >> 5
            before = (2 * before + bit) % 16
            mixed = (31 * mixed + bit + 1) % WORD
            while size < 1 << 24:
                code, size = code << 8 | next(data), size << 8
        found.append(mixed)
    return found


@small("table_digests", 2, 32, Given("shuffled bytes", "u1", 256, 256), numbers(50 * 6, WORD, "u4"), zeros(50, "u1"),
       i(50), i(6), output=2)  # fmt: skip
def _(table, texts, out, n, words):
    assert sorted(table) == [*range(256)]
    h = np.arange(n)
    for letters in texts.reshape(words, n).view("u1").reshape(words, n, 4).transpose(0, 2, 1).reshape(-1, n):
        h = table[h ^ letters].astype(int)
    return h


@small("digits_in_base", 2, 32, numbers(200, WORD, "u4"), zeros(50 * 22, "u1"), i(50), u(58), i(22))
def _(words, out, n, base, digits):
    found = np.zeros((22, 50))
    for k, four in enumerate(words.reshape(n, 4).tolist()):
        number = sum(word << 32 * j for j, word in enumerate(four))
        for d in range(digits):
            number, found[d, k] = divmod(number, 58)
        assert number == 0
    return found.ravel()


@small("unescaped_rows", 10, 64, Given("escapes", "u1", 20 * 75, 2), zeros(1_500, "u1"), zeros(20, "i4"), i(20), i(75),
       output=(1, 2))  # fmt: skip
def _(texts, out, lengths, rows, length):
    found, sizes = np.zeros((rows, length)), []
    for row, text in zip(found, texts.reshape(rows, length), strict=True):
        pieces = bytes(text).split(b"%")
        plain = pieces[0] + b"".join(bytes([int(one[:2], 16)]) + one[2:] for one in pieces[1:])
        row[: len(plain)] = [*plain]
        sizes.append(len(plain))
    return found.ravel(), sizes


@small("mirror_sums", 2, 32, zeros(50, "u1"), i(50), u(150), i(24), output=0)
def _(out, n, first, most):
    found = []
    for x in range(first, first + n):
        for turns in range(most + 1):
            if (turns and str(x) == str(x)[::-1]) or x > 9e17:
                break
            x += int(str(x)[::-1])
        found.append(turns)
    assert most in found
    return found


@small("factor_digits", 2, 32, zeros(64, "u1"), i(64), u(620), output=0)
def _(out, n, first):
    found = []
    for x in range(first, first + n):
        rest, digits, factors = x, "", 0
        for p in range(2, x + 1):
            while rest % p == 0:
                rest, digits, factors = rest // p, digits + str(p), factors + 1
        found.append(factors > 1 and sum(map(int, digits)) == sum(map(int, str(x))))
    assert sum(found) == 8
    return found


@small("repeated_axes", 2, 64, normal(420), normal(5 * 6), zeros(420), i(420), i(5), i(2), i(6), i(1), i(0), i(5), i(0),
       output=2, tolerance=1e-6)  # fmt: skip
def _(a, b, out, n, w, z, y, *steps):
    return (a.reshape(-1, y, z, w) + b.reshape(1, y, 1, w)).ravel()


ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
ONES = [*ONES.split(), "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def below_1000(x):
    """A number from 1 to 999 in words."""
    hundreds, last = divmod(x, 100)
    tens = ONES[last] if last < 20 else TENS[last // 10] + (ONES[last % 10] if last % 10 else "")
    return (ONES[hundreds] + "hundred" + ("and" if last else "") if hundreds else "") + (tens if last else "")


@small("letters_of_numbers", 2, 64, numbers(300, WORD, "u4"), zeros(300, "i4"), i(300))
def _(values, out, n):
    found = []
    for x in values.tolist():
        parts = zip(("", "thousand", "million", "billion"), (x // 1000**k % 1000 for k in range(4)), strict=True)
        found.append(len("".join(below_1000(part) + scale for scale, part in parts if part) or "zero"))
    return found


# Warps and rows.
@small("long_sums", 2, 64, numbers(128, WORD, "u4"), zeros(128, "u4"), i(9))
def _(words, out, turns):
    found = []
    for row in words.reshape(-1, 32):
        a = int.from_bytes(row.tobytes(), "little")
        b = (1 << 1024) - 1 - a
        for _ in range(turns):
            a, b = b, (a + b) % (1 << 1024)
        found += [*np.frombuffer(b.to_bytes(128, "little"), "u4")]
    return found


@small("long_squares", 2, 64, numbers(128, WORD, "u4"), zeros(128, "u4"), i(3))
def _(words, out, turns):
    found = []
    for row in words.reshape(-1, 32):
        x = int.from_bytes(row.tobytes(), "little")
        for _ in range(turns):
            x = (x * x + 1) % (1 << 1024)
        found += [*np.frombuffer(x.to_bytes(128, "little"), "u4")]
    return found


@small("compound_balances", 2, 64, unit(3 * 75), normal(3 * 75), zeros(225), i(3), i(75), output=2, tolerance=1e-4)
def _(rates, payments, out, rows, months):
    balance, found = np.zeros(rows), []
    for rate, paid in zip(rates.reshape(rows, months).T, payments.reshape(rows, months).T, strict=True):
        balance = balance * (1 + 0.01 * rate.astype("f8")) + paid
        found.append(balance)
    return np.stack(found, axis=1).ravel()


# Local memory and low occupancy.
@small("private_merges", 2, 32, numbers(50 * 13, 100, "u2"), zeros(650, "u2"), i(50), i(13))
def _(values, out, n, count):
    return np.sort(values.reshape(count, n), axis=0).ravel()


@small("bumped_tableaux", 2, 32, numbers(50 * 12, 30, "u1"), zeros(100, "i4"), i(50), i(12))
def _(values, out, n, count):
    found = []
    for own in by_thread(values, n):
        rows = []
        for x in own:
            for row in rows:
                at = sum(y <= x for y in row)
                if at == len(row):
                    row.append(x)
                    break
                row[at], x = x, row[at]
            else:
                rows.append([x])
        found += [sum(len(row) ** 2 for row in rows[:8]), len(rows[0])]
    return found


@small("prefix_code_costs", 2, 32, numbers(16 * 50, 5_000, "u4"), zeros(50, "u4"), i(50), smem=2_048)
def _(counts, out, n):
    found = []
    for left in by_thread(counts, n):
        cost = 0
        while len(left) > 1:
            a, b, *left = sorted(left)
            left.append(a + b)
            cost += a + b
        found.append(cost)
    return found


@small("lamp_switches", 2, 32, numbers(9 * 50, WORD, "u4"), numbers(50, WORD, "u4"), zeros(50, "i4"), i(50), i(9),
       output=2)  # fmt: skip
def _(wires, lit, out, n, lamps):
    found = []
    for rows, on in zip(by_thread(wires, n), lit.tolist(), strict=True):
        rows = [(row | 1 << r) % 512 for r, row in enumerate(rows)]
        ways = [w for w in range(512) if all((row & w).bit_count() % 2 == on >> r & 1 for r, row in enumerate(rows))]
        # Of several ways, elimination leaves the free switches alone: none of them can take an earlier one's place.
        free = {c for c in range(9) if _depends(rows, c)}
        found.append(next((w.bit_count() for w in ways if not any(w >> c & 1 for c in free)), -1))
    assert -1 in found
    return found


def _depends(rows, column):
    """Whether a column of bits is a sum of the columns before it."""
    columns = [sum((row >> c & 1) << r for r, row in enumerate(rows)) for c in range(column + 1)]
    sums = {0}
    for one in columns[:-1]:
        sums |= {one ^ other for other in sums}
    return columns[-1] in sums


# Games.
@small("opened_fields", 2, 32, Given("long words", "u8", 90), Given("long words", "u8", 91), zeros(90, "u1"), i(90),
       output=2)  # fmt: skip
def _(first, second, out, n):
    def around(k):
        return {8 * y + x for y in range(8) for x in range(8) if max(abs(y - k // 8), abs(x - k % 8)) <= 1}

    found = []
    for k, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=False)):
        bits = a & b & (a >> 7 ^ b >> 11)
        start = k % 64
        mines = {c for c in range(64) if bits >> c & 1} - around(start)
        opened, todo = {start}, [start]
        while todo:
            near = around(todo.pop())
            if not near & mines:
                todo += near - opened
                opened |= near
        found.append(len(opened))
    assert max(found) > 9
    return found


@small("dropped_discs", 2, 32, zeros(40, "i4"), i(40), i(3), u(5), output=0)
def _(out, n, games, seed):
    def wins(cells):
        return any(
            all((x + k * a, y + k * b) in cells for k in range(4))
            for x, y in cells
            for a, b in ((0, 1), (1, 0), (1, 1), (1, -1))
        )

    found = []
    for k in range(n):
        draws, won = Draws(k, seed), 0
        for _ in range(games):
            heights, players = [0] * 7, (set(), set())
            for move in range(42):
                column = draws.below(7)
                while heights[column] == 6:
                    column = (column + 1) % 7
                players[move % 2].add((column, heights[column]))
                heights[column] += 1
                if wins(players[move % 2]):
                    won += -1 if move % 2 else 1
                    break
        found.append(won)
    assert len(set(found)) > 2
    return found


#: Where the ladders and the snakes begin, and where they end.
LADDERS = {1: 38, 4: 14, 9: 31, 21: 42, 28: 84, 36: 44, 51: 67, 71: 91, 80: 100}
SNAKES = {16: 6, 47: 26, 49: 11, 56: 53, 62: 19, 64: 60, 87: 24, 93: 73, 95: 75, 98: 78}


@small("ladder_games", 2, 32, zeros(50, "i4"), i(50), i(2), u(6), output=0)
def _(out, n, games, seed):
    found = []
    for k in range(n):
        draws, throws = Draws(k, seed), 0
        for _ in range(games):
            at = 0
            while at < 100:
                after = at + 1 + draws.below(6)
                at = (LADDERS | SNAKES).get(after, after) if after <= 100 else at
                throws += 1
        found.append(throws)
    return found


# Search, geometry and doubles.
@small("valley_floors", 2, 32, normal(100), zeros(100), i(50), i(200), tolerance=2e-2)
def _(valleys, out, n, most):
    x, y = valleys.reshape(n, 2).T.astype("f8")
    return np.stack([x, y + x**2 / 2], axis=1).ravel()


@small("curve_distances", 2, 32, normal(8 * 6), normal(100, high=2), zeros(50), i(50), i(6), smem=192, output=2,
       tolerance=2e-2)  # fmt: skip
def _(curves, points, out, n, count):
    t = np.linspace(0, 1, 2_001)
    weights = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    lines = np.einsum("kt,ckx->ctx", weights, curves.reshape(count, 4, 2).astype("f8")).reshape(-1, 2)
    return np.linalg.norm(points.reshape(n, 1, 2) - lines, axis=-1).min(axis=1)


@small("circle_sides", 2, 32, unit(8 * 60, high=5), zeros(60, "i1"), i(60))
def _(corners, out, n):
    found = []
    for p in by_thread(np.floor(corners).astype(int), n):
        rows = [(p[j] - p[6], p[j + 1] - p[7]) for j in (0, 2, 4)]
        (a, b, s), (c, d, t), (e, g, v) = ((x, y, x * x + y * y) for x, y in rows)
        sum_ = s * (c * g - d * e) - t * (a * g - b * e) + v * (a * d - b * c)
        found.append((sum_ > 0) - (sum_ < 0))
    assert 0 in found
    return found


@small("zonal_pulls", 2, 32, normal(9, "f8"), unit(100, "f8"), zeros(50, "f8"), i(50), i(9), output=2, tolerance=1e-10)
def _(zones, places, out, n, count):
    near = 1 / (1.05 + places[n:])
    factors = np.append(1, zones[1:])[:, None] * near ** np.arange(1, count + 1)[:, None]
    return np.polynomial.legendre.legval(2 * places[:n] - 1, factors, tensor=False)


@small("exact_products", 2, 64, normal(3 * 75, "f8"), normal(3 * 75, "f8", high=2), zeros(3, "f8"), i(3), i(75),
       output=2, tolerance=1e-16)  # fmt: skip
def _(a, b, out, rows, columns):
    pairs = zip(a.reshape(rows, columns), b.reshape(rows, columns), strict=True)
    return [float(sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(*pair, strict=True))) for pair in pairs]


# Halves.
@small("nearest_by_blocks", 2, 32, normal(32 * 70, "f2"), normal(32 * 50, "f2", high=2), zeros(50, "i4"), i(50), i(70),
       output=2)  # fmt: skip
def _(rows, queries, out, n, count):
    own = queries.reshape(16, n, 2).transpose(1, 0, 2)
    found = []
    for query in own:
        apart = abs(query - rows.reshape(count, 16, 2))
        sums = apart[:, 0]
        for j in range(1, 16):
            sums = sums + apart[:, j]
        found.append(sums.astype("f4").sum(axis=1).argmin())
    return found


@small("laid_over", 2, 32, Given("unit halves", "u4", 180, 1), Given("unit halves", "u4", 180, 2), zeros(180, "u4"),
       i(90), output=2, tolerance=2e-3, seen=in_halves)  # fmt: skip
def _(front, back, out, n):
    first, second = (in_halves(x).reshape(n, 4) for x in (front, back))
    return (first + (1 - first[:, 3:]) * second).ravel()


# Long code.
@small("trees_as_code<5>", 2, 32, unit(8 * 50), zeros(50), i(50))
def _(features, out, n):
    found = np.zeros(n, int)
    for tree in range(1, 6):
        at = np.ones(n, int)
        for _ in range(5):
            h = blended(tree * 64 + at).astype(int)
            left = features.reshape(8, n)[h % 8, np.arange(n)] < (h >> 8 & 1023) / 1024
            at = 2 * at + ~left
        found += blended(tree * 64 + at).astype(int) % 256 - 128
    return found


@small("layers_as_code<6>", 2, 32, normal(16 * 50), zeros(50), i(50), i(2), tolerance=1e-4)
def _(values, out, n, turns):
    h = blended(np.arange(6)[:, None] * 32 + np.arange(32)).astype(int)
    weights = (h & 511) - 255
    x = values.reshape(16, n).astype("f8")
    for _ in range(turns):
        x = weights[:, 16:].T / 2048 @ np.maximum(weights[:, :16] / 1024 @ x, 0)
    return x.sum(axis=0)


# Caches and graphs.
@small("forest_votes", 2, 32, numbers(3 << 4, WORD, "u4"), numbers(800, 256, "u1"), zeros(50, "i4"), i(50), i(3), i(4),
       output=2)  # fmt: skip
def _(nodes, samples, out, n, trees, depth):
    found = []
    for sample in samples.reshape(n, 16):
        votes = 0
        for t, tree in enumerate(nodes.reshape(trees, -1)):
            at = 1
            for _ in range(depth):
                at = 2 * at + int(sample[tree[at] % 16] > (tree[at] >> 8) % 256)
            votes += int(blended(at * 64 + t)) % 2
        found.append(votes)
    return found


@small("least_between", 2, 32, Given("least ones", "i4", 7 * 100, 100), numbers(90, 100, "u4"), numbers(91, 100, "u4"),
       zeros(90, "i4"), i(90), i(100), output=3)  # fmt: skip
def _(table, one, other, out, n, size):
    values = table[:100]
    return [values[min(a, b) : max(a, b) + 1].min() for a, b in zip(one.tolist(), other[:90].tolist(), strict=True)]


@small("first_sums", 2, 32, numbers(128, 100), numbers(90, 128, "u4"), zeros(90, "i4"), i(90), output=2)
def _(tree, places, out, n):
    values = [0] * 128
    for at in range(1, 128):
        values[at] = int(tree[at]) - sum(values[at - (at & -at) + 1 : at])
    return np.cumsum(values)[places]


@small("near_walks", 2, 32, *lists(30, 6), zeros(50, "u4"), i(50), i(30), i(7), u(8), output=2)
def _(starts, members, out, n, places, steps, seed):
    rows, found = rows_of(starts, members), []
    for k in range(n):
        draws, before, own, mixed = Draws(k, seed), None, k % places, 0
        for _ in range(steps):
            if not rows[own]:
                break
            for _ in range(8):
                after = rows[own][draws.below(len(rows[own]))]
                chance = 64
                if after == before:
                    chance = 20
                elif before is not None and after in rows[before]:
                    chance = 128
                if draws.below(128) < chance:
                    break
            before, own = own, after
            mixed = mixed * 0x01000193 % WORD ^ own
        found.append(mixed)
    return found


@small("triangles_by_squares", 9, 64, Given("graph", "u2", 48 * 48, 3), zeros(1, "u4"), i(48))
def _(matrix, total, n):
    connected = in_halves(matrix).reshape(n, n)
    assert (connected == connected.T).all()
    found = np.trace(np.linalg.matrix_power(connected, 3))
    assert found > 0
    return [found]


# Finance.
@small("two_sales", 2, 32, Given("prices", "f4", 50 * 12, 5), zeros(50), i(50), i(12), tolerance=1e-5)
def _(prices, out, n, days):
    found = []
    for own in by_thread(prices.astype("f8"), n):
        gains = {(a, b): own[b] - own[a] for a, b in combinations(range(days), 2)}
        best = max(0, *gains.values())
        two = max(x + y for (_, b), x in gains.items() for (c, _), y in gains.items() if b <= c)
        found.append(max(best, two))
    return found


@small("shared_risks", 2, 32, Given("covariances", "f4", 64, 60), unit(8 * 50), zeros(400), i(50), i(40), output=2,
       tolerance=1e-3)  # fmt: skip
def _(covariances, wishes, out, n, turns):
    c, wish = covariances.reshape(8, 8).astype("f8"), 0.05 + wishes.reshape(8, n)
    x = np.ones((8, n))
    for _ in range(60):
        # A step of Newton's way to the least x c x / 2 - sum of wish * log x.
        for k in range(n):
            slope = c @ x[:, k] - wish[:, k] / x[:, k]
            step = np.linalg.solve(c + np.diag(wish[:, k] / x[:, k] ** 2), slope)
            x[:, k] -= step / max(1, 2 * (abs(step) / x[:, k]).max())
    parts = x * (c @ x)
    np.testing.assert_allclose(parts / parts.sum(axis=0), wish / wish.sum(axis=0), atol=1e-6)
    return (x / x.sum(axis=0)).ravel()


# Copies on their way and clusters.
@small("means_of_seven", (2, 2), (16, 8), normal(20 * 13 * 9), zeros(20 * 13 * 9), i(20), i(13), i(9),
       smem=20 * 18 * 10, tolerance=1e-5)  # fmt: skip
def _(field, out, width, height, depth):
    p = np.pad(field.reshape(depth, height, width).astype("f8"), 1, "edge")
    here = p[1:-1, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1]
    return ((here + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]) / 7).ravel()


@small("page_sums", 2, 64, numbers(128 * 3 * 6, WORD, "u4"), zeros(6, "u4"), i(3), i(6), smem=4_096)
def _(pages, out, n, pieces):
    found = []
    for page in pages.reshape(3, -1).tolist():
        first = second = 0
        for word in page:
            first += word % 65_536 + word // 65_536
            second += first
        found += [first % WORD, second % WORD]
    return found


@small("sorted_by_clusters", 8, 64, numbers(512, WORD, "u4"), zeros(512, "u4"))
def _(keys, out):
    return np.sort(keys.reshape(2, 256), axis=1).ravel()


@small("spread_chances", 8, 32, Given("moves", "f4", 40 * 40, 3), unit(80), zeros(80), i(40), i(3), smem=320, output=2,
       tolerance=1e-4)  # fmt: skip
def _(moves, first, out, states, steps):
    matrix = moves.reshape(40, 40).astype("f8")
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-6)
    return (first.reshape(2, 40) @ np.linalg.matrix_power(matrix, int(steps))).ravel()


# First programs and streams.
@small("body_masses", 2, 32, unit(50, high=90), unit(50, high=2), zeros(50), i(50), output=2, tolerance=1e-5)
def _(weights, heights, out, n):
    return weights / heights.astype("f8") ** 2


@small("wind_chills", 2, 32, unit(50, high=9), unit(50, high=40), zeros(50), i(50), output=2, tolerance=1e-4)
def _(degrees, wind, out, n):
    fast = wind.astype("f8") ** 0.16
    return 13.12 + 0.6215 * degrees - 11.37 * fast + 0.3965 * degrees * fast


@small("opened_nibbles", 2, 32, numbers(90, WORD, "u4"), unit(6), zeros(720), i(90), output=2, tolerance=1e-6)
def _(words, factors, out, n):
    bytes_ = words.view("u1").astype(int)
    parts = np.stack([bytes_ % 16, bytes_ // 16], axis=1).ravel() - 8
    return parts * np.repeat(factors, 128)[:720]


@small("daily_changes", 2, 32, Given("prices", "f4", 97, 4), zeros(90), i(7), i(90), tolerance=1e-5)
def _(values, out, columns, n):
    return values[7:].astype("f8") / values[:90] - 1


# END
@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twenty_first_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twenty_first_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_four_to_six_block_sizes():
    assert {len(names) for names in by_series(twenty_first_cases.cases()).values()} <= {4, 5, 6}
