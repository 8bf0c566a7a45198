"""The kernels of the fifteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise, permutations
from statistics import NormalDist

import numpy as np
import pytest

from tests.hardware import fifteenth_cases
from tests.hardware.fifteenth_cases import Prepared
from tests.hardware.in_python import Rolled, by_thread, from_bf16, in_halves, rows_of, turned
from tests.hardware.ninth_cases import Made, halves, lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("lucas_lehmer", "hamming_mma", "distinct_in_blocks", "cholesky_blocks", "bulk_scaled_rows", "shell_columns")
WORD = 1 << 32
small = SmallLaunches(fifteenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in fifteenth_cases.cases()}


# Chains in time.
@small("double_pendulum", 2, 32, normal(4 * 50), zeros(4 * 50), i(50), i(12), f(0.01), tolerance=1e-3)
def _(start, out, n, steps, dt):
    a, b, p, q = start.reshape(n, 4).T.astype("f8")
    for _ in range(steps):
        apart, below = a - b, 3 - np.cos(2 * (a - b))
        below = 1 / below
        dp = -3 * 9.81 * np.sin(a) - 9.81 * np.sin(a - 2 * b)
        dp = (dp - 2 * np.sin(apart) * (q**2 + p**2 * np.cos(apart))) * below
        dq = 2 * np.sin(apart) * (2 * p**2 + 2 * 9.81 * np.cos(a) + q**2 * np.cos(apart)) * below
        p, q = p + dt * dp, q + dt * dq
        a, b = a + dt * p, b + dt * q
    return np.stack([a, b, p, q], axis=1).ravel()


@small("henon_exponents", 2, 32, zeros(50), i(50), i(12), f(0.3), output=0, tolerance=1e-2)
def _(out, n, steps, b):
    a, x, y = 1 + 0.4 * np.arange(n) / n, 0.1, 0.1
    product = np.stack([np.ones(n), np.zeros(n)])
    for _ in range(steps):
        product = np.stack([product[1] - 2 * a * x * product[0], b * product[0]])
        x, y = 1 - a * x * x + y, b * x
    return np.log(np.hypot(*product)) / steps


@small("illness_groups", 2, 32, unit(50), zeros(50), i(50), i(30), tolerance=1e-4)
def _(spread, out, n, days):
    met = np.array(small.constants("contacts")).reshape(8, 8)
    well, carries, ill = np.ones((8, n)), np.zeros((8, n)), np.full((8, n), 0.001)
    for _ in range(days):
        fresh = well * np.minimum(0.1 * spread * (met @ ill), 1)
        well, carries, ill = well - fresh, 0.8 * carries + fresh, 0.9 * ill + 0.2 * carries
    return well.sum(axis=0)


@small("decay_chains", 2, 32, Prepared("decays", "f8", 8), zeros(50, "f8"), i(50), ("f8", 0.2), tolerance=1e-6)
def _(rates, out, n, apart):
    found, amounts, step = [], np.eye(8)[0], float(apart)
    change = np.diag(-rates) + np.diag(rates[:-1], -1)
    turn = np.eye(8)
    for order in range(40, 0, -1):
        turn = np.eye(8) + change * (step / 16) @ turn / order
    turn = np.linalg.matrix_power(turn, 16)
    for _ in range(n):
        amounts = turn @ amounts
        found.append(amounts[7])
    return found


@small("rocket_stages", 2, 32, numbers(150, 40), zeros(100), i(50), f(0.1), tolerance=1e-3)
def _(tanks, out, n, dt):
    found = []
    for row in tanks.reshape(n, 3).tolist():
        height = speed = 0.0
        for s, tank in enumerate(row):
            for fuel in range(tank + 20, 0, -1):
                push = 3000 / (1 + s) - 0.02 * math.exp(-0.12 * height) * speed * abs(speed)
                speed += dt * (push / (60 / (1 + s) + fuel) - 9.81 / (1 + height * 1.57e-4) ** 2)
                height = max(height + dt * speed, 0)
        found += [height, speed]
    return found


@small("shell_ranges", 2, 32, unit(100), zeros(100), i(50), f(0.002), f(0.05), tolerance=0.02)
def _(shots, out, n, drag, dt):
    found = []
    for a, s in shots.reshape(n, 2).astype("f8"):
        place, speed, time = np.zeros(2), (20 + 60 * s) * np.array([math.cos(a + 0.3), math.sin(a + 0.3)]), 0
        while place[1] > 0 or not time:
            speed = speed - dt * (drag * np.hypot(*speed) * speed + [0, 9.81])
            place, time = place + dt * speed, time + dt
        found += [place[0], time]
    return found


@small("incomplete_gamma", 2, 32, unit(50, "f8", 9), unit(50, "f8", 12), zeros(50, "f8"), i(50), output=2,
       tolerance=2e-5)  # fmt: skip
def _(shapes, places, out, n):
    found = []
    for a, end in zip(shapes + 0.5, places + 0.01, strict=True):
        roots = (np.arange(20_000) + 0.5) / 20_000 * math.sqrt(end)
        found.append((2 * roots ** (2 * a - 1) * np.exp(-(roots**2))).mean() * math.sqrt(end) / math.gamma(a))
    return found


@small("normal_quantiles", 2, 32, unit(50), zeros(50), i(50), tolerance=1e-3)
def _(parts, out, n):
    return [NormalDist().inv_cdf(min(max(p, 1e-5), 0.99999)) for p in parts.tolist()]


@small("langton_ants", 2, 32, numbers(50 * 1024, 2, "u1"), zeros(50, "i4"), i(50), i(40), output=(0, 1))
def _(worlds, out, n, steps):
    worlds, found = worlds.reshape(n, 32, 32).copy(), []
    for k, world in enumerate(worlds):
        x, y, way = 16, 16, k % 4
        for _ in range(steps):
            way = (way + (3 if world[y, x] else 1)) % 4
            world[y, x] ^= 1
            x, y = (x + (0, 1, 0, -1)[way]) % 32, (y + (-1, 0, 1, 0)[way]) % 32
        found.append(32 * y + x)
    return worlds.ravel(), found


@small("inverse_bwt", 2, 32, numbers(300, 100, "u1"), Prepared("links", "i4", 300), numbers(50, 300),
       zeros(50 * 9, "u1"), i(50), i(9), output=3)  # fmt: skip
def _(letters, following, first, out, n, length):
    found, at = [], first
    for _ in range(length):
        found.append(letters[at])
        at = following[at]
    return np.concatenate(found)


# Whole numbers.
@small("lucas_lehmer", 2, 32, numbers(50, 59), zeros(50, "u8"), i(50))
def _(exponents, out, n):
    found = []
    for p in (exponents + 3).tolist():
        s = 4 % ((1 << p) - 1)
        for _ in range(p - 2):
            s = (s * s - 2) % ((1 << p) - 1)
        found.append(s)
    primes = {p for p, s in zip((exponents + 3).tolist(), found, strict=True) if s == 0}
    assert primes <= {3, 5, 7, 13, 17, 19, 31, 61}
    return np.array(found, "u8")


@small("pell_periods", 2, 32, zeros(50, "i4"), zeros(50, "u8"), i(50), i(1_000), output=(0, 1))
def _(periods, numerators, n, first):
    lengths, tops = [], []
    for d in range(first, first + n):
        root = math.isqrt(d)
        parts, m, q = [root], 0, 1
        while root * root != d and parts[-1] != 2 * root:
            m = q * parts[-1] - m
            q = (d - m * m) // q
            parts.append((root + m) // q)
        before, now = 1, root
        for part in parts[1:]:
            before, now = now, part * now + before
        lengths.append(len(parts) - 1)
        tops.append(before % 2**64)
    return lengths, np.array(tops, "u8")


@small("kaprekar_steps<6>", 2, 32, numbers(50, 1_000_000), zeros(50, "i4"), i(50), i(5))
def _(values, out, n, turns):
    for _ in range(turns):
        digits = np.sort(values[:, None] // 10 ** np.arange(6) % 10, axis=1)
        values = digits @ 10 ** np.arange(6) - digits[:, ::-1] @ 10 ** np.arange(6)
    return values


@small("ryser_permanents<5>", 2, 32, Prepared("signs", "i1", 25 * 50, 9), zeros(50, "i8"), i(50))
def _(matrices, out, n):
    ways = np.array(list(permutations(range(5))))
    return [np.reshape(m, (5, 5))[np.arange(5), ways].prod(axis=1).sum() for m in by_thread(matrices.astype(int), n)]


@small("packed_decimals", 2, 32, Prepared("decimals", "u8", 150), zeros(50, "u8"), i(50), i(3))
def _(values, out, n, count):
    return np.array([int(str(sum(int(f"{v:x}") for v in row)), 16) for row in by_thread(values, n)], "u8")


def byte_product(a, b):
    found = 0
    for bit in range(8):
        found ^= (a << bit) if b >> bit & 1 else 0
    for bit in range(14, 7, -1):
        found ^= 0x11D << bit - 8 if found >> bit & 1 else 0
    return found


@small("secret_shares", 2, 32, Prepared("byte logs", "u1", 256), Prepared("byte powers", "u1", 256),
       numbers(200, 256, "u1"), zeros(250, "u1"), i(50), i(3), i(5), output=3)  # fmt: skip
def _(logs, powers, factors, out, n, degree, shares):
    found = []
    for x in range(1, shares + 1):
        for row in by_thread(factors, n):
            total = 0
            for factor in row[::-1]:
                total = byte_product(total, x) ^ factor
            found.append(total)
    return found


@small("speck_blocks", 2, 32, numbers(100, WORD, "u4"), zeros(100, "u4"), i(50), u(3), u(77), u(99), u(1 << 30))
def _(blocks, out, n, *keys):
    a, *b = map(int, keys)
    rounds, found = [], []
    for r in range(27):
        rounds.append(a)
        b[r % 3] = (turned(b[r % 3], -8) + a) % WORD ^ r
        a = turned(a, 3) ^ b[r % 3]
    for y, x in blocks.reshape(n, 2).tolist():
        for key in rounds:
            x = (turned(x, -8) + y) % WORD ^ key
            y = turned(y, 3) ^ x
        found += [y, x]
    return found


@small("blowfish_words", 2, 32, numbers(1024, WORD, "u4"), numbers(18, WORD, "u4"), numbers(180, WORD, "u4"),
       zeros(180, "u4"), i(90), output=3)  # fmt: skip
def _(tables, keys, blocks, out, n):
    s, keys, found = tables.reshape(4, 256).tolist(), keys.tolist(), []
    for left, right in blocks.reshape(n, 2).tolist():
        for r in range(16):
            left ^= keys[r]
            a, b, c, d = left.to_bytes(4, "big")
            left, right = right ^ (((s[0][a] + s[1][b]) % WORD ^ s[2][c]) + s[3][d]) % WORD, left
        found += [right ^ keys[17], left ^ keys[16]]
    return found


@small("elias_decode", 2, 32, Prepared("sparse bits", "u4", 50 * 5), zeros(100, "u4"), i(50), i(5))
def _(words, out, n, count):
    found = []
    for row in by_thread(words, n):
        bits, at, values = "".join(f"{word:032b}" for word in row), 0, []
        while at < 32 * (int(count) - 1):
            zeros_before = min(len(bits[at:]) - len(bits[at:].lstrip("0")), 15)
            values.append(int(bits[at + zeros_before : at + 2 * zeros_before + 1], 2))
            at += 2 * zeros_before + 1
        found += [len(values), sum(values) % WORD]
    return found


# Texts and puzzles.
@small("luhn_checks", 2, 32, numbers(16 * 50, 10, "u1"), zeros(50, "u1"), i(50))
def _(digits, out, n):
    digits = digits.reshape(n, 16).astype(int)
    digits[:, ::2] = [[sum(map(int, str(2 * d))) for d in row] for row in digits[:, ::2]]
    return digits.sum(axis=1) % 10 == 0


@small("soundex_codes", 2, 32, numbers(50 * 9, 26, "u1"), zeros(50, "u4"), i(50), i(9))
def _(names, out, n, pitch):
    classes = re.search(r'sound_classes\[27\] = "(\d+)"', small.source)[1]
    found = []
    for name in names.reshape(n, pitch).tolist():
        sounds = [classes[letter] for letter in name]
        kept = [here for before, here in pairwise(sounds) if here not in ("0", before)]
        found.append(int.from_bytes((chr(65 + name[0]) + "".join(kept) + "000")[:4].encode(), "little"))
    return found


@small("palindrome_radii", 2, 32, numbers(60, 2, "u1"), zeros(60, "i4"), i(60))
def _(text, out, n):
    text, found = text.tolist(), []
    for k in range(n):
        radius = 0
        while radius < min(k, n - 1 - k) and text[k - radius - 1] == text[k + radius + 1]:
            radius += 1
        found.append(radius)
    return found


@small("caesar_breaks", 3, 64, numbers(5 * 90, 26, "u1"), numbers(26, 100), zeros(5, "i4"), i(5), i(90), output=2)
def _(texts, usual, out, n, length):
    found = []
    for text in texts.reshape(n, length):
        counts = np.bincount(text, minlength=26)
        found.append(np.argmax([usual @ np.roll(counts, -shift) for shift in range(26)]))
    return found


@small("move_to_front", 2, 32, numbers(50 * 12, 64, "u1"), zeros(50 * 12, "u1"), i(50), i(12))
def _(symbols, out, n, length):
    found = []
    for row in by_thread(symbols, n):
        symbols_left, places = list(range(64)), []
        for symbol in row:
            places.append(symbols_left.index(symbol))
            symbols_left.insert(0, symbols_left.pop(places[-1]))
        found.append(places)
    return np.transpose(found).ravel()


@small("grundy_counts", 2, 32, numbers(300, 30, "u1"), zeros(50, "i4"), i(50), i(60))
def _(moves, out, n, heaps):
    found = []
    for row in by_thread(moves, n):
        values = []
        for heap in range(heaps):
            seen = {values[heap - move - 1] for move in row if move < heap}
            values.append(min(set(range(8)) - seen))
        found.append(values.count(0))
    return found


@small("mastermind_worst", 2, 32, Prepared("pegs", "u4", 40, 6), Prepared("pegs", "u4", 70, 6), zeros(40, "i4"), i(40),
       i(70), smem=25 * 32 * 2, output=2)  # fmt: skip
def _(guesses, codes, out, n, count):
    found = []
    for guess in guesses.view("u1").reshape(n, 4).tolist():
        answers = {}
        for code in codes.view("u1").reshape(count, 4).tolist():
            black = sum(a == b for a, b in zip(guess, code, strict=True))
            both = sum(min(guess.count(colour), code.count(colour)) for colour in range(6))
            answers[black, both] = answers.get((black, both), 0) + 1
        found.append(max(answers.values()))
    return found


@small("knight_tours", 1, 32, zeros(30, "i4"), i(30), u(4), output=0)
def _(out, n, seed):
    jumps = [((2 if m & 1 else 1) * (1 if m & 2 else -1), (1 if m & 1 else 2) * (1 if m & 4 else -1)) for m in range(8)]
    found = []

    def onward(at, visited):
        places = [(at % 8 + dx, at // 8 + dy) for dx, dy in jumps]
        return [8 * y + x for x, y in places if 0 <= x < 8 and 0 <= y < 8 and 8 * y + x not in visited]

    for k in range(n):
        dice, visited = Rolled(k, seed), []
        visited.append(dice.below(64))
        while ways := onward(visited[-1], visited):
            ranked = [2 * len(onward(place, visited)) + (dice.word() & 1) for place in ways]
            visited.append(ways[ranked.index(min(ranked))])
        found.append(len(visited) - 1)
    return found


@small("blackjack_hands", 2, 32, zeros(1, "i4"), i(40), i(6), u(8), output=0)
def _(won, n, hands, seed):
    balance = 0
    for k in range(n):
        dice = Rolled(k, seed)
        for _ in range(hands):
            totals = []
            for least, bust in ((16, 0), (17, -1)):
                total = aces = 0
                while total < least:
                    card = min(dice.below(13) + 1, 10)
                    aces += card == 1
                    total += 11 if card == 1 else card
                    if total > 21 and aces:
                        total, aces = total - 10, aces - 1
                totals.append(bust if total > 21 else total)
            balance += int(np.sign(totals[0] - totals[1]))
    return [balance]


@small("elo_seasons", 2, 32, numbers(50 * 20, 256, "u1"), zeros(16 * 50), i(50), i(20), tolerance=1e-4)
def _(games, out, n, count):
    found = []
    for row in by_thread(games, n):
        ratings = [1500.0] * 16
        for loser, winner in (divmod(game, 16) for game in row):
            change = 24 * (1 - 1 / (1 + 10 ** ((ratings[loser] - ratings[winner]) / 400)))
            ratings[winner] += change
            ratings[loser] -= change
        found.append(ratings)
    return np.transpose(found).ravel()


@small("nonogram_ways<30>", 2, 32, numbers(200, 4, "u1"), zeros(50, "u4"), i(50))
def _(clues, out, n):
    return [math.comb(30 - sum(row) - 4 + 1, 4) for row in by_thread(clues, n)]


# Shared memory and barriers.
@small("coin_ways", 3, 64, numbers(12, 30), zeros(3 * 101, "u4"), i(4), i(100), smem=404)
def _(coins, out, kinds, most):
    found = []
    for row in coins.reshape(-1, kinds).tolist():
        ways = [1] + [0] * int(most)
        for coin in row:
            for amount in range(coin + 1, most + 1):
                ways[amount] += ways[amount - coin - 1]
        found += ways
    return np.array(found) % WORD


@small("longest_rising", 2, 32, numbers(50 * 20, 100), zeros(50, "i4"), i(50), i(20))
def _(values, out, n, length):
    found = []
    for row in by_thread(values, n):
        longest = []
        for k, v in enumerate(row):
            longest.append(1 + max((longest[j] for j in range(k) if row[j] < v), default=0))
        found.append(max(longest))
    return found


@small("pascal_rows", 3, 64, numbers(3, 1_000), zeros(240, "i4"), i(80), smem=640)
def _(moduli, out, width):
    return [math.comb(int(width) - 1, c) % (m + 2) for m in moduli.tolist() for c in range(width)]


@small("minplus_tiles<16>", (3, 3), (16, 16), numbers(40 * 40, 1_000), numbers(40 * 40, 999), zeros(1600, "i4"), i(40),
       output=2)  # fmt: skip
def _(a, b, out, n):
    return (a.reshape(n, n, 1) + b.reshape(1, n, n)).min(axis=1).ravel()


@small("ranks_modulo", 4, 64, Prepared("low ranks", "u4", 4 * 144, 12), zeros(4, "i4"), i(12), u(101), smem=576)
def _(matrices, out, n, prime):
    found = []
    for m in matrices.reshape(-1, n, n).astype(int):
        rank = 0
        for column in range(n):
            rows = [r for r in range(rank, n) if m[r, column] % 101]
            if rows:
                m[[rank, rows[0]]] = m[[rows[0], rank]]
                m[rank] = m[rank] * pow(int(m[rank, column]), -1, 101) % 101
                m[rank + 1 :] = (m[rank + 1 :] - np.outer(m[rank + 1 :, column], m[rank])) % 101
                rank += 1
        found.append(rank)
    assert len(set(found)) > 1
    return found


@small("cholesky_blocks", 2, 64, Prepared("positive", "f4", 2 * 400, 20), zeros(800), i(20), smem=1_680, tolerance=1e-3)
def _(matrices, out, n):
    return np.linalg.cholesky(matrices.reshape(-1, n, n).astype("f8")).ravel()


@small("power_iterations", 2, 64, Prepared("positive", "f4", 2 * 1600, 40), zeros(2), i(40), i(30), tolerance=1e-2)
def _(matrices, out, n, turns):
    return np.linalg.eigvalsh(matrices.reshape(-1, n, n))[:, -1]


@small("haar_rows", 2, 64, normal(96), zeros(96), i(96), tolerance=1e-5)
def _(values, out, n):
    found = values.reshape(-1, 32).astype("f8")
    for by in (1, 2, 4, 8, 16):
        low, high = found[:, :: 2 * by].copy(), found[:, by :: 2 * by].copy()
        found[:, :: 2 * by], found[:, by :: 2 * by] = (low + high) / 2, (low - high) / 2
    return found.ravel()


@small("mdct_frames", 2, 32, normal(16 * 3), zeros(32), i(16), smem=40 * 16, tolerance=1e-4)
def _(sound, out, n):
    e, k = np.arange(2 * n)[:, None], np.arange(n)
    turns = np.cos(np.pi / n * (e + 0.5 + n / 2) * (k + 0.5)) * np.sin(np.pi * (e + 0.5) / (2 * n))
    return np.concatenate([sound[:32] @ turns, sound[16:] @ turns])


@small("shell_columns", 2, 32, numbers(50 * 13, 1_000), zeros(650, "i4"), i(50), i(13), smem=13 * 128)
def _(values, out, n, length):
    return np.sort(values.reshape(length, n), axis=0).ravel()


@small("row_walks<1>", 1, 128, normal(96 * 32), unit(96), zeros(96), i(96), i(3), output=2, tolerance=1e-4)
def _(rows, places, out, n, times):
    rows, places = rows.reshape(n, 32).astype("f8"), places.astype("f8")
    return sum((rows * (places * 0.9**t)[:, None] ** np.arange(32)).sum(axis=1) for t in range(times))


@small("tsne_forces", 2, 64, normal(180), zeros(360), i(90), smem=512, tolerance=1e-4)
def _(points, out, n):
    points = points.reshape(n, 2).astype("f8")
    apart = points[:, None] - points
    weights = 1 / (1 + (apart**2).sum(axis=2))
    forces = (weights[..., None] ** 2 * apart).sum(axis=1)
    return np.column_stack([forces, weights.sum(axis=1), np.zeros(n)]).ravel()


@small("map_winners", 5, 64, normal(80), normal(16 * 90, high=2), zeros(5, "i4"), i(90), output=2)
def _(samples, prototypes, out, count):
    return ((samples.reshape(-1, 1, 16) - prototypes.reshape(count, 16)) ** 2).sum(axis=2).argmin(axis=1)


# Groups, queues and atomics.
@small("labelled_sums", 2, 64, numbers(100, 6, "u1"), numbers(100, 1_000), zeros(6, "i4"), i(100), output=2)
def _(labels, values, sums, n):
    return np.bincount(labels, values, 6)


@small("tile_dots<8>", 2, 64, normal(10 * 30), normal(300, high=2), zeros(10), i(10), i(30), output=2, tolerance=1e-4)
def _(a, b, out, rows, columns):
    return (a.astype("f8") * b).reshape(rows, columns).sum(axis=1)


@small("last_block_extremes", 4, 64, numbers(700, 1 << 30), zeros(8, "i4"), zeros(1, "u4"), zeros(2, "i4"), i(700),
       output=3)  # fmt: skip
def _(values, parts, done, out, n):
    return [values.min(), values.max()]


@small("drawn_factors", 2, 64, numbers(100, 2_000), zeros(100, "i4"), zeros(2, "i4"), i(100))
def _(values, out, queue, n):
    found = []
    for v in (values + 2).tolist():
        count, d = 0, 2
        while v > 1:
            while v % d == 0:
                v, count = v // d, count + 1
            d += 1
        found.append(count)
    return found


@small("distinct_in_blocks", 3, 64, numbers(300, 90, "u4"), zeros(3, "i4"), i(100), u(127), smem=512)
def _(values, out, each, mask):
    return [len(set(row)) for row in values.reshape(-1, each).tolist()]


@small("push_to_lists", 2, 64, numbers(100, 20), Prepared("nothing", "i4", 20), zeros(100, "i4"), i(100), output=(1, 2),
       seen=lambda found: found if len(found) == 20 else np.sort(found))  # fmt: skip
def _(nodes, heads, links, n):
    ends = [max(np.flatnonzero(nodes == node), default=-1) for node in range(20)]
    return ends, np.sort(np.append(np.setdiff1d(np.arange(n), ends), [-1] * sum(end >= 0 for end in ends)))


@small("fresh_by_bitmap", 3, 64, numbers(150, 100, "u4"), zeros(4, "u4"), zeros(5, "u4"), i(150), output=(1, 2),
       seen=lambda found: found if len(found) == 4 else np.bitwise_count(found).sum())  # fmt: skip
def _(values, bits, flags, n):
    seen = set(values.tolist())
    return [sum(1 << v % 32 for v in seen if v // 32 == w) for w in range(4)], len(seen)


@small("corner_normals", 2, 64, normal(90), numbers(270, 30), zeros(90), i(90), output=2, tolerance=1e-3)
def _(corners, triangles, normals, n):
    corners, triangles, found = corners.reshape(-1, 3).astype("f8"), triangles.reshape(n, 3), np.zeros((30, 3))
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    for k in range(3):
        np.add.at(found, triangles[:, k], np.cross(b - a, c - a))
    return found.ravel()


@small("half_scatter", 2, 64, numbers(30, 10), Prepared("small halves", "f2", 480), zeros(160, "f2"), i(30), i(8),
       output=2)  # fmt: skip
def _(rows, values, table, n, pairs):
    found = np.zeros((10, 2 * pairs))
    np.add.at(found, rows, values.reshape(n, 2 * pairs))
    return found.ravel()


@small("energy_bins", 2, 64, unit(300, "f8"), zeros(20, "f8"), i(300), i(20), smem=160, tolerance=1e-12)
def _(energies, bins, n, count):
    return np.bincount((energies * count).astype(int), energies**2, count)


@small("least_label_round", 2, 64, numbers(200, 60), Prepared("shuffled", "i4", 60), Prepared("shuffled", "i4", 60),
       i(100), output=2)  # fmt: skip
def _(edges, labels, fresh, n):
    found = labels.copy()
    for a, b in edges.reshape(n, 2):
        found[a], found[b] = min(found[a], labels[b]), min(found[b], labels[a])
    return found


@small("jump_to_roots", 2, 64, Prepared("forest", "i4", 100, 9), zeros(100, "i4"), i(100))
def _(above, out, n):
    for _ in range(n):
        above = above[above]
    return above


@small("gamma_draws", 1, 32, unit(24, high=3), zeros(24), i(24), i(5), u(5), tolerance=2e-3)
def _(shapes, out, n, draws, seed):
    found = []
    for k, shape in enumerate(shapes.tolist()):
        dice, total, d = Rolled(k, seed), 0.0, shape + 0.7
        for _ in range(draws):
            v = -1.0
            while True:
                x = math.sqrt(-2 * math.log(dice.part())) * math.cos(2 * math.pi * dice.part())
                v, part = (1 + x / math.sqrt(9 * d)) ** 3, dice.part()
                if v > 0 and math.log(part) < 0.5 * x * x + d - d * v + d * math.log(v):
                    break
            total += d * v
        found.append(total / draws)
    return found


@small("poisson_draws", 1, 64, unit(50, high=9), zeros(50, "i4"), i(50), i(4), u(3))
def _(means, out, n, draws, seed):
    found = []
    for k, mean in enumerate(means.tolist()):
        dice, total = Rolled(k, seed), 0
        for _ in range(draws):
            product = dice.part()
            while product > math.exp(-mean):
                product, total = product * dice.part(), total + 1
        found.append(total)
    return found


# Tensor cores and copies.
@small("hamming_mma", 2, 64, numbers(8 * 48, WORD, "u4"), numbers(8 * 24, WORD - 1, "u4"), zeros(48, "i4"), i(48),
       i(24), output=2)  # fmt: skip
def _(wanted, codes, out, n, count):
    return np.bitwise_count(wanted.reshape(n, 1, 8) ^ codes.reshape(count, 8)).sum(axis=2, dtype=int).min(axis=1)


@small("markov_half", 2, 32, Prepared("chances", "u4", 128), Prepared("shares", "u4", 128), zeros(128, "u4"), i(16),
       i(3), output=2, seen=in_halves, tolerance=5e-3)  # fmt: skip
def _(matrix, start, out, n, steps):
    moved = np.linalg.matrix_power(in_halves(matrix).reshape(16, 16), int(steps))
    return (in_halves(start).reshape(n, 16) @ moved.T).ravel()


@small("mahalanobis_mma", 2, 32, normal(8 * 40, "f8"), normal(64, "f8", 2), zeros(40, "f8"), i(40), output=2,
       tolerance=1e-9)  # fmt: skip
def _(rows, matrix, out, n):
    rows = rows.reshape(n, 8)
    return ((rows @ matrix.reshape(8, 8)) * rows).sum(axis=1)


@small("async_row_stencil", (2, 2), 32, normal(50 * 13), zeros(650), i(50), i(13), i(7), smem=16 * 34, tolerance=1e-5)
def _(values, out, width, height, rows):
    v = np.pad(values.reshape(height, width).astype("f8"), 1, mode="edge")
    sides = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    return (0.5 * v[1:-1, 1:-1] + 0.125 * sides).ravel()


@small("bulk_scaled_rows", 2, 64, normal(5 * 100), zeros(500), i(5), i(100), smem=400, tolerance=1e-6)
def _(values, out, rows, columns):
    values = values.reshape(rows, columns)
    return (values / abs(values).max(axis=1, keepdims=True)).ravel()


# Pictures and geometry.
@small("ordered_dither", (2, 2), (8, 8), numbers(4 * 10 * 12, 256, "u1"), zeros(480, "u1"), i(10), i(12))
def _(picture, out, quads, height):
    levels = np.array([[0]])
    for _ in range(3):
        levels = np.block([[4 * levels, 4 * levels + 2], [4 * levels + 3, 4 * levels + 1]])
    picture = picture.reshape(height, 4 * quads)
    return 255 * (picture > 4 * np.tile(levels, (2, 5))[:height, : 4 * quads]).ravel()


@small("zhang_thin", (2, 2), (16, 8), Prepared("blobs", "u1", 20 * 12), zeros(240, "u1"), i(20), i(12))
def _(picture, out, width, height):
    picture = picture.reshape(height, width)
    found = picture.copy()
    for y, x in np.argwhere(picture):
        if 0 < y < height - 1 and 0 < x < width - 1:
            ways = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
            ring = [picture[y + dy, x + dx] for dy, dx in ways]
            rises = sum(a < b for a, b in pairwise([*ring, ring[0]]))
            sides = ring[0] * ring[2] * ring[4] or ring[2] * ring[4] * ring[6]
            found[y, x] = not (2 <= sum(ring) <= 6 and rises == 1 and not sides)
    assert (found != picture).any()
    return found.ravel()


@small("panorama_views", (2, 2), (16, 8), unit(64 * 32), zeros(20 * 12), i(20), i(12), i(64), i(32), f(1.5), f(0.4),
       tolerance=1e-3)  # fmt: skip
def _(around, out, width, height, wide, high, turn, tilt):
    y, x = np.indices((height, width)).astype("f8")
    view = np.stack([(2 * x - width) / width, (2 * y - height) / width, np.ones((height, width))])
    s, c = math.sin(tilt), math.cos(tilt)
    a, down, ahead = np.tensordot([[1, 0, 0], [0, c, s], [0, -s, c]], view, 1)
    u = ((np.arctan2(a, ahead) + turn) / (2 * np.pi) + 0.5) * wide
    v = (np.arctan2(down, np.hypot(a, ahead)) / np.pi + 0.5) * (high - 1)
    column, row = np.floor(u).astype(int), np.clip(v.astype(int), 0, high - 2)
    picture, u, v = around.reshape(high, wide), u - column, v - row
    upper, lower = ((1 - u) * picture[r, column % wide] + u * picture[r, (column + 1) % wide] for r in (row, row + 1))
    return ((1 - v) * upper + v * lower).ravel()


@small("zoom_blur", (2, 2), (16, 8), numbers(240, 256, "u1"), zeros(240, "u1"), i(20), i(12), i(5))
def _(picture, out, width, height, steps):
    y, x = np.indices((height, width))
    picture, found = picture.reshape(height, width).astype(int), 0
    for s in range(steps):
        rows, columns = (np.trunc(a * s / (2 * steps)).astype(int) for a in (height // 2 - y, width // 2 - x))
        found = found + picture[y + rows, x + columns]
    return (found // steps).ravel()


@small("frustum_flags", 2, 64, normal(400), zeros(4, "u4"), zeros(1, "i4"), i(100), output=(1, 2))
def _(balls, flags, count, n):
    balls, sides = balls.reshape(n, 4).astype("f8"), np.array(small.constants("planes")).reshape(6, 4)
    seen = (balls[:, :3] @ sides[:, :3].T + sides[:, 3] > -0.1 * balls[:, 3:]).all(axis=1)
    return np.packbits(np.pad(seen, (0, 28)), bitorder="little").view("u4"), [seen.sum()]


@small(
    "triangle_distances", 2, 32, normal(150), normal(9 * 6, high=2), zeros(50), i(50), i(6), output=2, tolerance=1e-3
)
def _(points, triangles, out, n, count):
    points, found = points.reshape(n, 3).astype("f8"), []
    for a, b, c in triangles.reshape(count, 3, 3).astype("f8"):
        frame = np.stack([b - a, c - a], axis=1)
        parts = (points - a) @ np.linalg.pinv(frame).T
        inside = (parts >= 0).all(axis=1) & (parts.sum(axis=1) <= 1)
        away = [np.where(inside, np.linalg.norm(points - a - parts @ frame.T, axis=1), np.inf)]
        for p, q in ((a, b), (b, c), (c, a)):
            along = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            away.append(np.linalg.norm(points - p - along[:, None] * (q - p), axis=1))
        found.append(np.min(away, axis=0))
    return np.min(found, axis=0)


@small("morton_cells", 2, 32, unit(150), zeros(50, "u8"), i(50))
def _(points, out, n):
    cells = (points * np.float32(2097151)).astype(int).reshape(n, 3).tolist()
    return np.array([sum((v >> b & 1) << 3 * b + d for d, v in enumerate(cell) for b in range(21)) for cell in cells],
                    "u8")  # fmt: skip


@small("table_ways<8>", 2, 32, unit(512), unit(150), zeros(50), i(50), i(3), output=2, tolerance=1e-4)
def _(table, points, out, n, steps):
    table, place, found = table.reshape(8, 8, 8), points.reshape(3, n).astype("f8"), 0
    for _ in range(steps):
        cell = np.minimum((place * 7).astype(int), 6)
        parts = place * 7 - cell
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod([p if side else 1 - p for p, side in zip(parts, corner, strict=True)], axis=0)
            x, y, z = cell + np.array(corner)[:, None]
            found = found + weight * table[z, y, x]
        place = np.stack([0.95 * place[0], place[1] + 0.05 * (1 - place[1]), 0.98 * place[2] + 0.01])
    return found


@small("prolong_grid", (2, 2), (16, 8), normal(11 * 7), zeros(240), i(20), i(12), tolerance=1e-5)
def _(coarse, fine, width, height):
    coarse = coarse.reshape(-1, width // 2 + 1).astype("f8")
    rows = np.insert(coarse[:-1], np.arange(1, 7), (coarse[:-1] + coarse[1:]) / 2, axis=0)
    return np.insert(rows[:, :-1], np.arange(1, 11), (rows[:, :-1] + rows[:, 1:]) / 2, axis=1).ravel()


# Learning and finance.
@small("mish_pairs", 2, 32, Made("bf16", "u2", 200, 2), zeros(200, "u2"), i(100), seen=from_bf16, tolerance=5e-3)
def _(values, out, pairs):
    values = from_bf16(values)
    return values * np.tanh(np.log1p(np.exp(values)))


@small("alibi_rows", 2, 64, halves(3 * 128, 2), zeros(384, "u4"), i(3), f(0.02), seen=in_halves, tolerance=2e-2,
       absolute=1e-4)  # fmt: skip
def _(scores, out, rows, slope):
    scores = in_halves(scores).reshape(rows, 256) + slope * (np.arange(256) - 255)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).ravel()


@small("machine_scores", 3, 64, numbers(5 * 7, 40), Prepared("within", "f4", 1280, 20), normal(40), zeros(5), i(5),
       i(7), output=3, tolerance=1e-4)  # fmt: skip
def _(features, vectors, weights, out, n, fields):
    found = []
    for row in features.reshape(n, fields):
        table = vectors.reshape(-1, 32)[row].astype("f8")
        products = table @ table.T
        score = (products.sum() - np.trace(products)) / 2 + weights[row].sum()
        found.append(1 / (1 + math.exp(-score)))
    return found


@small("bayes_classes", 2, 64, *lists(80, 6), normal(80 * 16), zeros(80, "i4"), i(80), output=3)
def _(starts, words, logs, out, n):
    return [logs.reshape(n, 16)[row].sum(axis=0).argmax() for row in rows_of(starts, words)]


@small(
    "default_spreads", 2, 32, unit(50), unit(50, high=2), numbers(50, 40), zeros(50), i(50), output=3, tolerance=1e-3
)
def _(hazards, rates, terms, out, n):
    found = []
    for hazard, rate, term in zip(0.005 + 0.1 * hazards.astype("f8"), 0.05 * rates, terms + 1, strict=True):
        times = np.arange(term + 1) / 4
        alive, discounts = np.exp(-hazard * times), np.exp(-rate * times[1:])
        paid = 0.125 * discounts @ (alive[1:] + alive[:-1])
        found.append(-0.6 * discounts @ np.diff(alive) / paid)
    return found


@small("return_rates", 2, 32, unit(50 * 8), numbers(400, 1_500), zeros(50), i(50), i(8), output=2, tolerance=1e-3)
def _(payments, days, out, n, count):
    found = []
    for paid, day in zip(by_thread(payments, n), by_thread(days, n), strict=True):
        low, high = -0.9, 20.0
        for _ in range(60):
            rate = (low + high) / 2
            worth = sum((5 + 25 * p) * (1 + rate) ** -((d + 30) / 365) for p, d in zip(paid, day, strict=True))
            low, high = (rate, high) if worth > 100 else (low, rate)
        found.append(low)
    return found


@small("easter_dates", 2, 32, zeros(50, "i4"), i(50), i(1980), output=0)
def _(out, n, first):
    found = []
    for year in range(first, first + n):
        century = year // 100
        golden = year % 19
        epact = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
        epact -= epact == 29 or (epact == 28 and golden > 10)
        day = 28 + epact - (year + year // 4 + epact + 2 - century + century // 4) % 7
        found.append(32 * 3 + day if day < 32 else 32 * 4 + day - 31)
    assert found[44] == 32 * 3 + 31
    return found


# Long code, stacks and kinds.
@small("unrolled_rounds<40>", 2, 32, zeros(50, "u4"), i(50), i(2), output=0)
def _(out, n, turns):
    found = []
    for k in range(n):
        a, b = k, WORD - 1 - k
        for r in [*range(40)] * int(turns):
            a = ((a ^ b) * (2654435761 * (2 * r + 1)) + r) % WORD
            b = (turned(b, r % 31 + 1) + a) % WORD
        found.append(a ^ b)
    return found


@small("constant_taps<50>", 2, 32, normal(99), zeros(50), i(50), tolerance=1e-4)
def _(values, out, n):
    return np.convolve(values, ((np.arange(50) * 37 % 101 - 50) * 0.01)[::-1], "valid")


@small("matrix_exponentials<8>", 2, 32, Prepared("within", "f4", 36 * 50, 40), zeros(1800), i(50), tolerance=1e-4)
def _(matrices, out, n):
    matrices, term, found = matrices.reshape(6, 6, n).transpose(2, 0, 1).astype("f8"), np.eye(6), 0
    for t in range(1, 10):
        found, term = found + term, term @ matrices / t
    return found.transpose(1, 2, 0).ravel()


@small("quicksort_local<24>", 2, 32, numbers(50 * 24, 60), zeros(1200, "i4"), i(50))
def _(values, out, n):
    return np.sort(values.reshape(24, n), axis=0).ravel()


@small("mixed_outlines", 2, 32, numbers(50, 6), unit(100), zeros(50), i(50), output=2, tolerance=1e-4)
def _(kinds, sizes, out, n):
    a, b = sizes.reshape(n, 2).T + 0.5
    corners = 3 + (4 * b).astype(int)
    spiral = sum(0.1 * a * np.exp(-0.1 * b * s) * np.hypot(1, 0.1 * np.sqrt(b * b)) for s in range(40))
    ellipse = np.pi * (3 * (a + b) - np.sqrt((3 * a + b) * (a + 3 * b)))
    triangle = a + b + np.sqrt(a * a + b * b - 2 * a * b * np.cos(a + b))
    polygon = 2 * corners * a * np.sin(np.pi / corners)
    return np.choose(kinds, [2 * np.pi * a, ellipse, triangle, polygon, 2 * np.pi * a + 2 * b, spiral])


@small("sums_along_rows", 2, 32, normal(50 * 21), zeros(50), i(50), i(21), tolerance=1e-4)
def _(values, out, rows, columns):
    return values.reshape(rows, columns).sum(axis=1)


@small("hex_dump", 2, 32, numbers(100, WORD, "u4"), zeros(200, "u4"), i(100))
def _(values, out, n):
    return np.frombuffer(values.tobytes().hex().encode(), "u4")


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in fifteenth_cases.cases() for a in case.arguments if isinstance(a, Prepared)}
    assert {a.kind for a in launched} == fifteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []
