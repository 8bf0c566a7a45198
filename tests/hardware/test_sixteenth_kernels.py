"""The kernels of the sixteenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest

from tests.hardware import sixteenth_cases
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, from_bf16, in_halves, turned
from tests.hardware.ninth_cases import Made, halves, normal, unit
from tests.hardware.sixteenth_cases import Drawn
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("similar_rows_mma", "seat_claims", "givens_blocks", "bulk_column_sums")
WORD = 1 << 32
small = SmallLaunches(sixteenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in sixteenth_cases.cases()}


# Chains and series.
@small("predator_prey", 2, 32, unit(100, high=4), zeros(100), i(50), i(20), f(0.05), tolerance=1e-3)
def _(start, out, n, steps, dt):
    s = start.reshape(n, 2).astype("f8") + 1
    for _ in range(steps * 10):
        middle = s
        for part in (0.5, 1):
            x, y = middle.T
            middle = s + part * dt / 10 * np.stack([x * (1.1 - 0.4 * y), y * (0.1 * x - 0.4)], axis=1)
        s = middle
    return s.ravel()


@small("isoelectric_points", 2, 32, numbers(8 * 50, 30, "u1"), zeros(50), i(50), i(20), tolerance=1e-3)
def _(counts, out, n, turns):
    steps, found = small.constants("acid_steps"), []
    for row in by_thread(counts, n):
        low, high = 0.0, 14.0
        for _ in range(40):
            middle = (low + high) / 2
            acids = sum((c + 1) / (1 + 10 ** (s - middle)) for c, s in zip(row[:5], steps[:5], strict=True))
            bases = sum((c + 1) / (1 + 10 ** (middle - s)) for c, s in zip(row[5:], steps[5:], strict=True))
            low, high = (middle, high) if bases > acids else (low, middle)
        found.append(low)
    return found


@small("mortgage_tables", 2, 32, unit(50, "f8"), numbers(50, 60), zeros(100, "f8"), i(50), output=2, tolerance=1e-8)
def _(rates, months, out, n):
    rate, count = (0.01 + 0.05 * rates) / 12, months + 12
    pay = 1000 * rate / (1 - (1 + rate) ** -count.astype("f8"))
    return np.stack([pay * count - 1000, 0 * pay], axis=1).ravel()


@small("geodetic_heights", 2, 32, unit(100, "f8"), zeros(100, "f8"), i(50), tolerance=1e-6)
def _(points, out, n):
    p, z = 4000 + 3000 * points[::2], 5000 * points[1::2]
    a, e2 = 6378.137, 0.00669437999014
    low, high = np.zeros(n), np.full(n, math.pi / 2)
    for _ in range(60):
        middle = (low + high) / 2
        radius = a / np.sqrt(1 - e2 * np.sin(middle) ** 2)
        below = (z + e2 * radius * np.sin(middle)) * np.cos(middle) > p * np.sin(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.stack([low, p / np.cos(low) - a / np.sqrt(1 - e2 * np.sin(low) ** 2)], axis=1).ravel()


@small("orbit_elements", 2, 32, unit(300, "f8"), zeros(150, "f8"), i(50), tolerance=1e-6)
def _(states, out, n):
    r, v = states.reshape(2, 3, n) + np.array([[[1]], [[-0.5]]])
    h, size = np.cross(r.T, v.T), np.linalg.norm(r, axis=0)
    eccentric = np.cross(v.T, h) - (r / size).T
    return np.concatenate(
        [
            1 / (2 / size - (v * v).sum(axis=0)),
            np.linalg.norm(eccentric, axis=1),
            np.arccos(h[:, 2] / np.linalg.norm(h, axis=1)),
        ]
    )


@small("tide_tables", 2, 32, zeros(50), i(50), i(6), f(0.5), output=0, tolerance=1e-3)
def _(out, n, hours, apart):
    speeds, heights = (np.array(small.constants(name)) for name in ("tide_speeds", "tide_heights_of"))
    times = (np.arange(n)[:, None, None] + np.arange(hours)[:, None]) * float(apart)
    return (heights * np.cos(speeds * times + 0.7 * np.arange(12))).sum(axis=2).max(axis=1)


@small("tax_years", 2, 32, numbers(50, 300_000), zeros(50, "i4"), i(50), i(9))
def _(incomes, out, n, years):
    limits, rates = (np.array(small.constants(name), int) for name in ("tax_limits", "tax_rates"))
    incomes, paid = incomes.astype(int), 0
    for _ in range(years):
        parts = np.clip(incomes[:, None] - limits, 0, np.append(np.diff(limits), 10**9)) * rates
        paid = paid + parts.sum(axis=1) // 1000
        incomes = incomes + incomes // 20 + np.arange(n) % 256
    return paid


@small("peptide_masses", 2, 32, numbers(50 * 30, 20, "u1"), zeros(100, "i4"), i(50), i(30))
def _(letters, out, n, length):
    masses = np.array(small.constants("residue_masses"), int)[letters.reshape(length, n)].cumsum(axis=0) + 18_011
    return np.stack([masses[-1], (masses % 57_021 < 4_000).sum(axis=0)], axis=1).ravel()


# Whole numbers.
@small("egyptian_fractions", 2, 32, numbers(100, 60), zeros(50, "u8"), i(50))
def _(fractions, out, n):
    found = []
    for x, y in fractions.reshape(n, 2).tolist():
        above, below, terms = x + 1, x + y + 2, []
        while above and below < 1 << 31:
            terms.append(-(-below // above))
            above, below = above * terms[-1] - below, below * terms[-1]
        found.append((sum(terms) * 16 + len(terms)) % 2**64)
    return np.array(found, "u8")


@small("digit_persistence", 2, 32, numbers(50, 1 << 62, "u8"), zeros(50, "i4"), i(50))
def _(values, out, n):
    found = []
    for v in values.tolist():
        turns = 0
        while v > 9:
            v, turns = math.prod(map(int, str(v))), turns + 1
        found.append(16 * turns + v)
    return found


@small("amicable_sums", 2, 32, zeros(50, "u4"), i(50), u(1_180), output=0)
def _(out, n, first):
    def total(v):
        return sum(d for d in range(1, v) if v % d == 0)

    found = [total(total(int(first) + k)) for k in range(n)]
    assert found[1184 - 1180] == 1184
    return found


@small("jacobi_symbols", 2, 32, numbers(100, 10_000), zeros(50, "i1"), i(50))
def _(pairs, out, n):
    found = []
    for a, y in pairs.reshape(n, 2).tolist():
        sign, rest, p = 1, 2 * y + 3, 3
        while rest > 1:
            if rest % p:
                p += 2
                continue
            rest //= p
            symbol = pow(a, (p - 1) // 2, p)
            sign *= symbol if symbol < 2 else -1
        found.append(sign)
    return found


@small("garner_mix", 2, 32, Drawn("four primes", "u4", 4), numbers(200, 65_479, "u4"), zeros(50, "u8"), i(50), output=2)
def _(primes, left, out, n):
    primes, product = primes.tolist(), math.prod(primes.tolist())
    parts = [product // p * pow(product // p, -1, p) for p in primes]
    found = [sum(p * r for p, r in zip(parts, row, strict=True)) % product for row in by_thread(left, n)]
    return np.array(found, "u8")


@small("discrete_logs", 2, 64, numbers(90, 10_006), zeros(90, "i4"), i(90), i(10_007), i(5), i(101))
def _(values, out, n, prime, base, stride):
    logs = {pow(5, k, 10_007): k for k in range(10_006)}
    return [logs[v + 1] for v in values.tolist()]


@small("durand_kerner", 2, 32, unit(250), zeros(100), i(50), i(40), tolerance=2e-2)
def _(factors, out, n, turns):
    found = []
    for row in by_thread(2 * factors.astype("f8") - 1, n):
        sizes = abs(np.roots([1, *row[::-1]])) ** 2
        found += [sizes.sum(), sizes.max()]
    return found


@small("sigma_delta", 2, 32, numbers(50, 1_024), zeros(100, "u4"), i(50), i(40))
def _(levels, out, n, steps):
    found = []
    for level in (levels - 512).tolist():
        first = second = ones = hashed = 0
        for _ in range(steps):
            back = 1024 if second >= 0 else -1024
            first += level - back
            second += first - back
            ones, hashed = ones + (back > 0), (hashed * 31 + (back > 0)) % WORD
        found += [ones, hashed]
    return found


# Sound, light and networks.
@small("fm_voices", 2, 32, unit(20), zeros(200), i(50), i(5), output=1, tolerance=2e-3)
def _(voices, out, n, count):
    pitch, ratio, depth, loud = voices.reshape(count, 4).T.astype("f8")
    turns = (110 + 440 * pitch) * np.arange(4 * n)[:, None] / 44_100
    return (loud * np.sin(2 * np.pi * (turns + depth * np.sin(2 * np.pi * (1 + ratio) * turns)))).sum(axis=1)


@small("mandelbulb_turns", (2, 2), (16, 8), zeros(240, "u1"), i(20), i(12), i(3), f(0.3), output=0)
def _(out, width, height, turns, depth):
    y, x = np.indices((height, width))
    start = np.stack([2.6 * x / width - 1.3, 2.6 * y / height - 1.3, np.full(x.shape, float(depth))])
    point, found = start, np.zeros(x.shape, int)
    for _ in range(turns):
        size = np.sqrt((point**2).sum(axis=0))
        found += size <= 2
        theta, phi = 8 * np.arccos(point[2] / size), 8 * np.arctan2(point[1], point[0])
        turned_point = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
        point = np.where(size <= 2, size**8 * turned_point + start, point)
    return found.ravel()


@small("ggx_lobes", 2, 32, unit(50), unit(50), unit(24), zeros(50), i(50), i(12), output=3, tolerance=1e-3)
def _(slopes, roughness, lamps, out, n, count):
    view, a2 = 0.1 + 0.9 * slopes[:, None].astype("f8"), (0.05 + 0.9 * roughness[:, None].astype("f8")) ** 4
    light, half = 0.1 + 0.9 * lamps[::2], 0.2 + 0.8 * lamps[1::2]
    spread, g = a2 / (np.pi * (half**2 * (a2 - 1) + 1) ** 2), np.sqrt(a2) / 2
    shadow = 1 / ((view * (1 - g) + g) * (light * (1 - g) + g))
    mirror = 0.9 + 0.1 * 2 ** ((-5.55 * (1 - half) - 6.98) * (1 - half))
    return (light * spread * shadow * mirror / np.sqrt(light + view)).sum(axis=1) / 4


@small("cubic_windows", 1, 32, unit(24), zeros(24), i(24), i(60), u(9), tolerance=1e-3)
def _(chances, out, n, steps, seed):
    found = []
    for k, chance in enumerate(chances.tolist()):
        dice, window, most, t, sent = Rolled(k, seed), 10.0, 10.0, 0.0, 0.0
        wait = 0.0
        for _ in range(steps):
            if dice.part() < 0.02 + 0.2 * chance:
                most, window, t = window, 0.7 * window, 0.0
                wait = (most * 0.75) ** (1 / 3)
            else:
                t += 0.1
                window = max(0.4 * (t - wait) ** 3 + most, 1)
            sent += window
        found.append(sent / steps)
    return found


@small("dubins_lengths", 2, 32, unit(150), zeros(50), i(50), tolerance=1e-2)
def _(places, out, n):
    d, a, b = 1 + 8 * places[:n].astype("f8"), 6.28 * places[n : 2 * n], 6.28 * places[2 * n :]
    found = []
    for first in (1, -1):
        for last in (1, -1):
            # The circles that the car leaves and enters: centres beside it, the way around them by their side.
            start = np.stack([-first * np.sin(a), first * np.cos(a)])
            end = np.stack([d - last * np.sin(b), last * np.cos(b)])
            apart, heading = np.hypot(*(end - start)), np.arctan2(*(end - start)[::-1])
            if first != last:
                with np.errstate(invalid="ignore"):
                    line = np.sqrt(apart**2 - 4)
                heading = heading + first * np.arctan2(2, line)
            else:
                line = apart
            bends = (first * (heading - a)) % (2 * np.pi) + (last * (b - heading)) % (2 * np.pi)
            found.append(np.where(np.isnan(line), np.inf, line + bends))
    return np.min(found, axis=0)


# Secret codes.
@small("sha1_blocks", 2, 32, numbers(16 * 50, WORD, "u4"), zeros(250, "u4"), i(50))
def _(words, out, n):
    found = []
    for w in by_thread(words, n):
        for r in range(16, 80):
            w.append(turned(w[r - 3] ^ w[r - 8] ^ w[r - 14] ^ w[r - 16], 1))
        start = a, b, c, d, e = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0
        for r in range(80):
            mix = (b & c | ~b & d, b ^ c ^ d, b & c | b & d | c & d, b ^ c ^ d)[r // 20] % WORD
            add = (0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6)[r // 20]
            a, b, c, d, e = (turned(a, 5) + mix + e + add + w[r]) % WORD, a, turned(b, 30), c, d
        found.append([(x + y) % WORD for x, y in zip(start, (a, b, c, d, e), strict=True)])
    return np.transpose(found).ravel()


@small("threefish_blocks", 2, 32, numbers(4, 1 << 62, "u8"), numbers(200, 1 << 62, "u8"), zeros(200, "u8"), i(50),
       output=2)  # fmt: skip
def _(keys, blocks, out, n):
    long, by = 1 << 64, np.array(small.constants("fish_turns"), int).reshape(8, 2).tolist()
    keys = keys.tolist()
    keys.append(keys[0] ^ keys[1] ^ keys[2] ^ keys[3] ^ 0x1BD11BDAA9FC1A22)

    def with_key(v, s):
        return [(x + keys[(s + j) % 5] + (s if j == 3 else 0)) % long for j, x in enumerate(v)]

    found = []
    for v in by_thread(blocks, n):
        for r in range(72):
            a, b, c, d = with_key(v, r // 4) if r % 4 == 0 else v
            left, right = (a + b) % long, (c + d) % long
            b, d = ((x << t | x >> 64 - t) % long for x, t in zip((b, d), by[r % 8], strict=True))
            v = [left, d ^ right, right, b ^ left]
        found.append(with_key(v, 18))
    return np.array(found, "u8").T.ravel()


@small("nonce_search", (2, 3), 32, numbers(3, WORD, "u4"), Drawn("most", "u4", 3), u(1 << 26), i(8))
def _(heads, least, limit, tries):
    found = []
    for head in heads.tolist():
        for nonce in range(2 * 32 * tries):
            found_hash = head
            for r in range(4):
                found_hash = int(hashes(found_hash ^ nonce * (2 * r + 1) % WORD))
            if found_hash < limit:
                break
        else:
            nonce = WORD - 1
        found.append(nonce)
    assert min(found) < WORD - 1
    return found


# Games.
@small("chess_attacks", 2, 32, Drawn("few bits", "u8", 100), zeros(50, "u8"), i(50))
def _(boards, out, n):
    def squares(board):
        return {(k % 8, k // 8) for k in range(64) if board >> k & 1}

    found, straight, diagonal = [], ((0, 1), (1, 0), (0, -1), (-1, 0)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
    for rooks, others in boards.reshape(n, 2).tolist():
        rooks, bishops, reached = squares(rooks), squares(others & ~rooks), set()
        for pieces, ways in ((rooks, straight), (bishops, diagonal)):
            for x, y in pieces:
                for dx, dy in ways:
                    for s in range(1, 8):
                        place = x + s * dx, y + s * dy
                        if not (0 <= place[0] < 8 and 0 <= place[1] < 8):
                            break
                        reached.add(place)
                        if place in rooks | bishops:
                            break
        found.append(sum(1 << 8 * y + x for x, y in reached))
    return np.array(found, "u8")


@small("falling_pieces", 1, 32, zeros(24, "i4"), i(24), i(60), u(5), output=0)
def _(out, n, pieces, seed):
    kinds, found = [int(x) for x in small.constants("piece_rows")], []
    for k in range(n):
        dice, rows, lines, games = Rolled(k, seed), [0] * 24, 0, 0
        for _ in range(pieces):
            kind = dice.below(7)
            low, high = kinds[2 * kind : 2 * kind + 2]
            column, y = dice.below(11 - (low | high).bit_length()), 20
            low, high = low << column, high << column
            while y > 0 and not (rows[y - 1] & low or rows[y] & high):
                y -= 1
            rows[y], rows[y + 1] = rows[y] | low, rows[y + 1] | high
            if y > 16:
                rows, games = [0] * 24, games + 1
                continue
            kept = [row for row in rows if row != 1023]
            lines += 24 - len(kept)
            rows = kept + [0] * (24 - len(kept))
        found.append(100 * games + lines)
    return found


@small("board_values", 1, 32, Drawn("opened boards", "u4", 30, 4), zeros(30, "i4"), i(30))
def _(boards, out, n):
    rows = [int(x) for x in small.constants("three_in_a_row")]

    def search(mine, theirs):
        best, tried = None, 0
        for cell in range(9):
            if (mine | theirs) >> cell & 1:
                continue
            tried += 1
            if any((mine | 1 << cell) & row == row for row in rows):
                return 1, tried
            value, below = search(theirs, mine | 1 << cell)
            best, tried = max(-value, -2 if best is None else best), tried + below
        return best or 0, tried

    found = [search(board & 511, board >> 9) for board in boards.tolist()]
    return [4 * tried + value + 1 for value, tried in found]


@small("sown_pits", 1, 32, zeros(30, "i4"), i(30), i(40), u(6), output=0)
def _(out, n, turns, seed):
    found = []
    for k in range(n):
        dice, pits, side = Rolled(k, seed), [4, 4, 4, 4, 4, 4, 0] * 2, 0
        for _ in range(turns):
            first = dice.below(6)
            full = [p % 6 for p in range(first, first + 6) if pits[7 * side + p % 6]]
            if not full:
                break
            at = 7 * side + full[0]
            hand, pits[at] = pits[at], 0
            while hand:
                at = (at + 1) % 14
                if at != (13, 6)[side]:
                    pits[at], hand = pits[at] + 1, hand - 1
            if at == 7 * side + 6:
                continue
            if at // 7 == side and pits[at] == 1:
                pits[7 * side + 6] += pits[12 - at] + 1
                pits[at] = pits[12 - at] = 0
            side = 1 - side
        found.append(pits[6] - pits[13])
    return found


@small("five_dice_scores", 1, 64, zeros(50, "i4"), i(50), i(20), u(3), output=0)
def _(out, n, throws, seed):
    found = []
    for k in range(n):
        dice, total = Rolled(k, seed), 0
        for _ in range(throws):
            faces = sorted(dice.below(6) + 1 for _ in range(5))
            kinds, counts = set(faces), sorted(faces.count(face) for face in set(faces))
            score = sum(faces)
            if len(kinds) == 1:
                score = 50
            elif kinds in ({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}):
                score = 40
            elif any(set(range(a, a + 4)) <= kinds for a in (1, 2, 3)):
                score = max(score, 30)
            elif counts == [2, 3]:
                score = max(score, 25)
            total += score
        found.append(total)
    return found


@small("go_liberties", 2, 32, Drawn("stones", "u8", 19 * 50), numbers(50, 361), zeros(50, "i4"), i(50), output=2)
def _(boards, points, out, n):
    found = []
    for board, point in zip(by_thread(boards, n), points.tolist(), strict=True):
        own = {(x, y) for y in range(19) for x in range(19) if board[y] >> x & 1}
        taken = own | {(x, y) for y in range(19) for x in range(19) if board[y] >> 32 + x & 1}
        group, edge = set(), {(point % 19, point // 19)} & own
        around = set()
        while edge:
            group |= edge
            around = {(x + dx, y + dy) for x, y in group for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))}
            edge = (around & own) - group
        free = {(x, y) for x, y in around - taken if 0 <= x < 19 and 0 <= y < 19}
        found.append(1000 * len(group) + len(free))
    assert max(found) > 4000
    return found


# Local memory.
@small(
    "folded_chains", 2, 32, numbers(50, 1 << 40, "u8"), numbers(50, WORD, "u4"), zeros(50, "i4"), i(50), i(12), output=2
)
def _(folds, sticky, out, n, length):
    found = []
    for ways, beads in zip(folds.tolist(), sticky.tolist(), strict=True):
        place, way, places = 0j, 1 + 0j, []
        for _ in range(length):
            places.append(place)
            way *= (-1j, 1, 1j)[ways % 3]
            ways //= 3
            place += way
        pairs = [(a, b) for a in range(length) for b in range(a + 3, length) if abs(places[a] - places[b]) == 1]
        found.append(-sum(beads >> a & beads >> b & 1 for a, b in pairs) if len(set(places)) == length else 100)
    assert min(found) < 0
    return found


@small("bank_queues", 1, 32, unit(24), zeros(24), i(24), i(5), i(40), u(8), tolerance=1e-3)
def _(loads, out, n, counters, people, seed):
    found = []
    for k, load in enumerate(0.5 + 0.6 * loads.astype("f8")):
        dice, free, now, waited = Rolled(k, seed), [0.0] * counters, 0.0, 0.0
        for _ in range(people):
            now -= math.log(dice.part())
            free.sort()
            start = max(now, free[0])
            waited += start - now
            free[0] = start - load * counters * math.log(dice.part())
        found.append(waited / people)
    return found


@small("reaching_arms", 2, 32, unit(100), zeros(50), i(50), i(6), tolerance=2e-3)
def _(points, out, n, turns):
    found = []
    for x, y in points.reshape(n, 2).astype("f8"):
        point, angles, apart = complex(6 * x - 1, 4 * y + 1), np.full(6, 0.3), 1.0
        for _ in range(turns):
            for j in range(5, -1, -1):
                joints = np.append(0, np.exp(1j * angles.cumsum()).cumsum())
                angles[j] += 0.5 * np.angle((point - joints[j]) / (joints[6] - joints[j]))
                apart = abs(point - joints[6])
            if apart < 0.01:
                break
        found.append(apart)
    return found


# Texts.
@small("anagram_keys", 2, 32, numbers(50 * 9, 26, "u1"), zeros(50, "u4"), i(50), i(9))
def _(words, out, n, pitch):
    found = []
    for word in words.reshape(n, pitch):
        key = 2166136261
        for count in np.bincount(word, minlength=26).tolist():
            key = (key ^ count) * 16777619 % WORD
        found.append(key)
    return found


@small("account_checks", 2, 32, numbers(22 * 50, 36, "u1"), zeros(50, "u1"), i(50), i(22))
def _(accounts, out, n, length):
    return [int("".join(map(str, row[4:] + row[:4]))) % 97 for row in by_thread(accounts, n)]


@small("base85_words", 2, 64, numbers(100, WORD, "u4"), zeros(500, "u1"), i(100))
def _(words, out, n):
    return np.frombuffer(b"".join(base64.a85encode(v.to_bytes(4, "big")) for v in words.tolist()), "u1")


@small("morse_times", 2, 32, numbers(50 * 12, 36, "u1"), zeros(100, "u4"), i(50), i(12))
def _(letters, out, n, length):
    codes, found = [f"{int(c):b}"[:0:-1] for c in small.constants("morse_codes")], []
    assert codes[ord("S") - 65] == "000"
    assert codes[ord("A") - 65] == "01"
    for row in by_thread(letters, n):
        signals = "".join(codes[letter] for letter in row)
        found += [2 * len(signals) + 2 * signals.count("1") + 2 * length, int(signals, 3) % WORD]
    return found


@small("rolling_hits", 2, 32, numbers(50 * 20 + 4, 2, "u1"), numbers(4, 2, "u1"), zeros(50, "i4"), i(50), i(20), i(4),
       output=2)  # fmt: skip
def _(text, pattern, out, n, pieces, length):
    text, pattern = text.tobytes(), pattern.tobytes()
    hits = [text[at : at + length] == pattern for at in range(n * pieces)]
    return np.reshape(hits, (n, pieces)).sum(axis=1)


@small("geohash_letters", 2, 32, unit(100), zeros(50, "u8"), i(50))
def _(places, out, n):
    letters, found = "0123456789bcdefghjkmnpqrstuvwxyz", []
    for x, y in (places.reshape(n, 2) * np.float32(1 << 20)).astype(int).tolist():
        bits = "".join(a + b for a, b in zip(f"{x:020b}", f"{y:020b}", strict=True))
        found.append(int.from_bytes(bytes(ord(letters[int(bits[5 * j : 5 * j + 5], 2)]) for j in range(8)), "little"))
    return np.array(found, "u8")


@small("trie_words", 2, 32, Drawn("trie", "i4", 4 * 400), numbers(50, WORD, "u4"), zeros(100, "i4"), i(50), output=2)
def _(nodes, words, out, n):
    nodes, found = nodes.reshape(-1, 4), []
    for word in words.tolist():
        at, depth = 0, 0
        while depth < 16 and nodes[at, word & 3] >= 0:
            at, word, depth = nodes[at, word & 3], word >> 2, depth + 1
        found += [depth, at]
    return found


# Code in one piece.
@small("credit_rules<60>", 2, 32, numbers(400, 1_000), zeros(50, "i4"), i(50))
def _(facts, out, n):
    found = []
    for x in by_thread(facts, n):
        score = 0
        for r in range(60):
            held = x[r * 5 % 8] * (r % 7 + 1) > x[(r * 3 + r // 8 + 1) % 8] + r * 37 % 1009
            score = score + r % 13 + 1 if held else score ^ r * 11 % 251
        found.append(score)
    return found


@small("thermo_curves<40>", 2, 32, unit(50), zeros(50), i(50), i(3), tolerance=1e-4)
def _(heats, out, n, turns):
    c, t, found = np.arange(40)[:, None], heats.astype("f8"), 0
    for _ in range(turns):
        h = c * 7 % 31 * 0.01 * t**4 - c * 5 % 29 * 0.02 * t**3 + c * 3 % 23 * 0.03 * t**2 - 0.5 * t
        found = found + abs(h + c % 11 * 0.1 - 0.4).mean(axis=0)
        t = 0.9 * t + 0.05
    return found


# Land and tables.
@small("rain_paths", (2, 2), (16, 8), Drawn("basin", "i4", 30 * 12, 30), zeros(720, "i4"), i(30), i(12))
def _(heights, out, width, height):
    land = np.pad(heights.reshape(height, width), 1, constant_values=1 << 30)
    found = []
    for y, x in np.ndindex(height, width):
        steps = 0
        while True:
            dy, dx = np.unravel_index(land[y : y + 3, x : x + 3].argmin(), (3, 3))
            if land[y + dy, x + dx] == land[y + 1, x + 1]:
                break
            y, x, steps = y + dy - 1, x + dx - 1, steps + 1
        found += [steps, y * width + x]
    assert max(found[::2]) > 3
    return found


@small(
    "band_join", 2, 32, Drawn("sorted", "i4", 90, 500), numbers(50, 500), zeros(100, "i4"), i(50), i(90), i(9), output=2
)
def _(ordered, values, out, n, count, width):
    first, last = (np.searchsorted(ordered, values + edge) for edge in (-width, width + 1))
    return np.stack([last - first, np.append(-1, ordered)[first]], axis=1).ravel()


@small("skyline_points", 3, 32, unit(240), zeros(80, "u1"), i(80), smem=12 * 32)
def _(offers, out, n):
    offers = offers.reshape(n, 3)
    return ~(offers < offers[:, None]).all(axis=2).any(axis=1)


@small("row_group_stats", 2, 64, numbers(3 * 96, 50), zeros(12, "i4"), i(3), i(96))
def _(values, out, groups, each):
    found = []
    for row in values.reshape(groups, each):
        kept = row[row > 0]
        found += [kept.min(), kept.max(), np.bitwise_or.reduce(kept)]
        found.append((row == 0).sum())
    return found


@small("bit_sliced_below", 2, 32, numbers(90 * 10, WORD, "u4"), zeros(90, "u4"), i(90), i(10), u(345))
def _(planes, out, words, bits, limit):
    rows = np.unpackbits(planes.view("u1").reshape(bits, 4 * words), axis=1, bitorder="little").astype(int)
    return np.packbits((1 << np.arange(bits)[::-1]) @ rows < int(limit), bitorder="little").view("u4")


@small("market_baskets", (3, 3), 64, numbers(3 * 90, WORD, "u4"), zeros(9, "i4"), i(90))
def _(bought, out, words):
    bought = bought.reshape(3, 1, words)
    return np.bitwise_count(bought & bought.swapaxes(0, 1)).sum(axis=2, dtype=int).ravel()


# Barriers in each step.
@small("ring_roads", 3, 64, numbers(3 * 80, 3, "u1"), zeros(3, "i4"), i(80), i(12), smem=160)
def _(start, out, cells, steps):
    found = []
    for b, road in enumerate(start.reshape(-1, cells)):
        cars, driven = {c: 0 for c in range(cells) if not road[c]}, 0
        for step in range(steps):
            after = {}
            for c, speed in cars.items():
                gap = next((g for g in range(5) if (c + g + 1) % cells in cars), 5)
                speed = min(speed + 1, gap)
                if speed and hashes(b * 7919 + step * cells + c) % 8 == 0:
                    speed -= 1
                after[(c + speed) % cells] = speed
                driven += speed
            cars = after
        found.append(driven)
    return found


@small("solitons", 2, 64, unit(2 * 100), zeros(200), i(100), i(50), f(0.002), f(0.01), smem=1200, tolerance=1e-4)
def _(start, out, cells, steps, steep, wide):
    before = now = start.reshape(-1, cells).astype("f8")
    for _ in range(steps):
        ll, left, right, rr = (np.roll(now, by, axis=1) for by in (2, 1, -1, -2))
        bend = steep * (right + now + left) * (right - left) + wide * (rr - 2 * right + 2 * left - ll)
        before, now = now, before - bend
    return now.ravel()


@small("lattice_clusters", 2, 128, numbers(64, WORD, "u4"), zeros(2, "i4"))
def _(rows, out):
    found = []
    for lattice in rows.reshape(-1, 32).tolist():
        left, count = {(x, y) for y in range(32) for x in range(32) if lattice[y] >> x & 1}, 0
        while left:
            edge, count = [left.pop()], count + 1
            while edge:
                x, y = edge.pop()
                near = left & {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}
                left -= near
                edge += near
        found.append(count)
    return found


@small("merkle_roots", 2, 32, numbers(256, WORD, "u4"), zeros(2, "u4"), i(128), smem=1024)
def _(leaves, out, count):
    nodes = hashes(leaves).astype("u8")
    while len(nodes) > 2:
        left, right = nodes[::2], nodes[1::2]
        for _ in range(6):
            left = hashes(left + right & WORD - 1).astype("u8")
            right = (right << 7 | right >> 25) & WORD - 1 ^ left
        nodes = left + right & WORD - 1
    return nodes


@small("givens_blocks", 2, 32, normal(2 * 144), zeros(288), i(12), smem=4 * 12 * 13, seen=np.abs, tolerance=1e-3)
def _(matrices, out, n):
    return abs(np.linalg.qr(matrices.reshape(-1, n, n).astype("f8"))[1]).ravel()


@small("page_ranks", 2, 64, numbers(2 * 8 * 70, 70), zeros(140), i(70), i(10), smem=12 * 70, tolerance=1e-4)
def _(links, out, pages, turns):
    found = []
    for web in links.reshape(-1, 8, pages):
        shares, ranks = 1 / np.maximum(np.bincount(web.ravel(), minlength=pages), 1), np.full(pages, 1 / pages)
        for _ in range(turns):
            ranks = 0.15 / pages + 0.85 * (ranks * shares)[web].sum(axis=0)
        found.append(ranks)
    return np.concatenate(found)


@small("recalled_patterns", 2, 32, Drawn("between", "i1", 40 * 40, 9), numbers(80, 2, "u1"), zeros(80, "i1"), i(40),
       i(5), smem=80, output=2)  # fmt: skip
def _(weights, start, out, units, turns):
    state = 2 * start.reshape(-1, units).astype(int) - 1
    for _ in range(turns):
        sums = state @ weights.reshape(units, units).astype(int)
        state = np.where(sums, np.sign(sums), state)
    return state.ravel()


@small("fictitious_play", 2, 64, Drawn("between", "i4", 2 * 400, 50), zeros(4, "i4"), i(20), i(15), smem=160)
def _(payoffs, out, moves, rounds):
    found = []
    for pay in payoffs.reshape(-1, moves, moves):
        rows, columns, played = np.zeros(moves, int), np.zeros(moves, int), np.zeros(2, int)
        for _ in range(rounds):
            row, column = rows.argmax(), columns.argmax()
            rows, columns = rows + pay[:, column], columns - pay[row]
            played += row, column
        found += played.tolist()
    return found


@small("maze_depths", 2, 64, numbers(2 * 144, 10, "u1"), zeros(288, "i4"), i(12), smem=8 * 144)
def _(walls, out, side):
    found = []
    for maze in walls.reshape(-1, side, side):
        depths = np.where(maze < 3, -2, -1)
        depths[0, 0], edge, depth = 0, [(0, 0)], 0
        while edge:
            depth, after = depth + 1, []
            for x, y in edge:
                for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                    if 0 <= nx < side and 0 <= ny < side and depths[ny, nx] == -1:
                        depths[ny, nx] = depth
                        after.append((nx, ny))
            edge = after
        found.append(depths.ravel())
    assert max(map(max, found)) > 10
    return np.concatenate(found)


# Warps that exchange.
@small("perceptron_passes", 2, 64, Drawn("between", "i1", 3 * 20 * 32, 5), numbers(60, 2, "u1"), zeros(96, "i4"), i(3),
       i(20), i(2), output=2)  # fmt: skip
def _(samples, labels, out, n, count, passes):
    found = []
    for rows, signs in zip(samples.reshape(n, count, 32), 2 * labels.reshape(n, count).astype(int) - 1, strict=True):
        weights, wrong = np.zeros(32, int), 0
        for _ in range(passes):
            for row, sign in zip(rows, signs, strict=True):
                if weights @ row * sign <= 0:
                    weights, wrong = weights + sign * row, wrong + 1
        found.append(weights * 1024 + wrong)
    return np.concatenate(found)


@small("hanging_ropes", 2, 64, unit(3), zeros(192), i(3), i(12), tolerance=1e-3)
def _(winds, out, ropes, steps):
    found = []
    for wind in winds.astype("f8"):
        now = before = np.stack([np.arange(32.0), np.zeros(32)], axis=1)
        for _ in range(steps):
            now, before = 1.99 * now - 0.99 * before + [0.001 * wind, -0.002], now
            now[0] = 0
            for _ in range(4):
                apart = now[:-1] - now[1:]
                pulls = 0.4 * (1 - 1 / np.linalg.norm(apart, axis=1, keepdims=True)) * apart
                now = now + np.pad(pulls, ((1, 0), (0, 0))) - np.pad(pulls, ((0, 1), (0, 0)))
                now[0] = 0
        found.append(now.ravel())
    return np.concatenate(found)


@small("spent_budgets<8>", 2, 64, numbers(14 * 30, 10), zeros(14, "i4"), i(14), i(30), i(120))
def _(fares, out, n, rides, budget):
    sums = fares.reshape(n, rides).cumsum(axis=1)
    return (sums <= budget).sum(axis=1)


@small("rare_sums", 2, 64, numbers(300, 1_000), zeros(2, "u8"), i(300), i(900))
def _(values, totals, n, limit):
    return values[values >= limit].sum(), (values >= limit).sum()


# Shared memory.
@small("channel_rows<8>", 2, 128, unit(2 * 128 * 8), zeros(2048), i(2048), i(2), tolerance=1e-5)
def _(mixed, out, n, turns):
    frames = mixed.reshape(-1, 8).astype("f8")
    for _ in range(turns):
        carried = frames[:, 7].copy()
        for c in range(8):
            frames[:, c] = carried = 0.25 * carried + 0.75 * frames[:, c]
    return frames.T.ravel()


@small("complex_tiles<8>", (2, 2), (8, 8), normal(512), normal(512, high=2), zeros(512), i(16), output=2,
       seen=lambda found: found.view("c8"), tolerance=1e-4)  # fmt: skip
def _(a, b, out, n):
    return (a.view("c8").reshape(n, n) @ b.view("c8").reshape(n, n)).ravel()


@small("flock_turns", 3, 32, unit(4 * 80), zeros(160), i(80), f(0.05), smem=512, tolerance=1e-3)
def _(birds, out, n, near_by):
    birds = birds.reshape(n, 4).astype("f8")
    apart = birds[:, :2] - birds[:, None, :2]
    square = (apart**2).sum(axis=2)
    near = (square < near_by)[..., None]
    push = (near * apart / (square + 0.01)[..., None]).sum(axis=1)
    steer = (near * (birds[:, 2:] + 0.5 * apart)).sum(axis=1) / near.sum(axis=1)
    return (steer - 0.1 * push).ravel()


@small("ambiguities", 4, 32, normal(120), normal(2 * 63, high=2), zeros(160), i(60), i(40), smem=960, output=2,
       tolerance=1e-3)  # fmt: skip
def _(sent, heard, out, length, shifts):
    sent, heard = sent.view("c8"), heard.view("c8")
    turns = np.exp(2j * np.pi * np.outer(np.arange(shifts), np.arange(length)) / length)
    return np.concatenate([abs(turns @ (sent * heard[d : d + length].conj())) for d in range(4)])


@small("pitch_lags", 3, 32, Drawn("tones", "i2", 220, 23), zeros(3, "i4"), i(50), i(60), smem=4 * 180)
def _(sound, out, hop, lags):
    found = []
    for k in range(3):
        frame = sound[k * hop : k * hop + 2 * lags].astype(int)
        apart = [((frame[:lags] - frame[lag : lag + lags]) ** 2).sum() for lag in range(lags)]
        found.append(next((lag for lag in range(1, lags) if 10 * apart[lag] * lag < sum(apart[1 : lag + 1])), 0))
    assert 0 not in found
    return found


@small("ring_products", 2, 32, numbers(128, 3_329, "u2"), numbers(128, 3_328, "u2"), zeros(128, "u2"), i(64), smem=512,
       output=2)  # fmt: skip
def _(a, b, out, n):
    found = []
    for left, right in zip(a.reshape(-1, n).astype(int), b.reshape(-1, n).astype(int), strict=True):
        product = np.append(np.convolve(left, right), 0)
        found.append((product[:n] - product[n:]) % 3_329)
    return np.concatenate(found)


# Atomics.
@small("latest_prices", 2, 64, numbers(100, 7), numbers(100, 5_000, "u4"), zeros(7, "u8"), i(100), output=2)
def _(shares, prices, latest, n):
    keys = (hashes(np.arange(n)) >> 8).astype("u8") << 32 | prices
    return [keys[shares == share].max() for share in range(7)]


@small("room_changes", 2, 32, numbers(200, 40), zeros(40, "i4"), i(100), i(40))
def _(stays, change, n, days):
    start, end = stays[::2], stays[::2] + stays[1::2] % 14 + 1
    return np.bincount(start, minlength=60)[:days] - np.bincount(end, minlength=60)[:days]


@small("gift_totals", 2, 64, numbers(100, 5), numbers(100, 9_999), zeros(5, "f8"), i(100), output=2)
def _(causes, cents, totals, n):
    return np.bincount(causes, cents, 5)


@small("parking_places", 2, 64, numbers(100, 4), zeros(4, "u4"), zeros(24, "u4"), i(100), i(6), output=(1, 2))
def _(lots, after, taken, n, places):
    cars = np.bincount(lots, minlength=4)
    return cars % 6, (cars[:, None] // 6 + (np.arange(6) < cars[:, None] % 6)).ravel()


@small("seat_claims", 3, 64, zeros(3, "i4"), i(90), i(4), i(6), smem=24, output=0)
def _(out, people, shows, words):
    seats = hashes(np.arange(3 * shows * people)).astype("u8") * 32 * np.uint64(words) >> np.uint64(32)
    refused = [int(people) - len(set(show.tolist())) for show in seats.reshape(-1, people)]
    return np.reshape(refused, (3, shows)).sum(axis=1)


@small("sales_cube", 2, 64, numbers(300, 8, "u1"), numbers(300, 16, "u1"), numbers(300, WORD, "u4"), zeros(152, "u8"),
       i(300), output=3)  # fmt: skip
def _(regions, products, amounts, totals, n):
    both = np.zeros((8, 16), "u8")
    np.add.at(both, (regions, products), amounts)
    return np.concatenate([both.sum(axis=1), both.sum(axis=0), both.ravel()])


@small("phoenix_queue", 2, 64, zeros(4 * 256, "u1"), zeros(2, "i4"), i(32), i(4), i(12), output=(0, 1))
def _(out, counts, width, pieces, turns):
    y, x = np.indices((32, 32))
    z, before, found = (3 * x / 32 - 1.5) + 1j * (3 * y / 32 - 1.5), 0, 0
    for _ in range(turns):
        inside = abs(z) < 2
        found = found + inside
        z, before = np.where(inside, z * z + 0.5667 - 0.5 * before, z), z
    return found.ravel(), [0, 0]


@small("mean_and_variance", 3, 64, numbers(500, 10_000), zeros(2, "u8"), zeros(1, "u4"), zeros(2, "f8"), i(500),
       output=(1, 2, 3), tolerance=1e-9)  # fmt: skip
def _(values, sums, done, out, n):
    return [0, 0], [0], [values.mean(), values.var()]


# Tensor cores.
@small(
    "similar_rows_mma", 2, 64, halves(32 * 48), halves(32 * 24, 2), zeros(48), i(48), i(24), output=2, tolerance=1e-3
)
def _(wanted, known, out, n, count):
    return (in_halves(wanted).reshape(n, 64) @ in_halves(known).reshape(count, 64).T).max(axis=1)


@small("byte_layer_mma", 2, 32, Drawn("between", "i1", 64 * 48, 127), Drawn("between", "i1", 64 * 64, 99),
       zeros(64 * 48, "i1"), i(48), i(3), output=2)  # fmt: skip
def _(rows, weights, out, n, scale):
    sums = rows.reshape(n, 64).astype(int) @ weights.reshape(64, 64).T.astype(int)
    return np.clip(sums * int(scale) >> 8, 0, 127).ravel()


@small("spectra_mma", 2, 64, halves(8 * 40), zeros(640), i(40), tolerance=2e-2)
def _(signals, out, n):
    return (abs(np.fft.fft(in_halves(signals).reshape(n, 16))) ** 2).ravel()


@small("gram_bf16_mma", 2, 64, Made("bf16", "u2", 2 * 64 * 128), zeros(2 * 4096), i(128), tolerance=1e-2)
def _(rows, out, columns):
    rows = from_bf16(rows).reshape(-1, 64, columns)
    return (rows @ rows.swapaxes(1, 2)).ravel()


@small("two_step_ways_mma", (2, 4), 128, Drawn("road map", "u1", 64 * 64, 64), zeros(4096, "i4"), i(64))
def _(roads, out, n):
    roads = roads.reshape(n, n).astype(int)
    return (roads @ roads).ravel()


# Copies on their way.
@small("async_row_maxima", 3, 32, normal(256 * 20), numbers(30, 20), zeros(768), i(10), smem=2048, output=2)
def _(table, lists, out, each):
    return table.reshape(-1, 256)[lists.reshape(-1, each)].max(axis=1).ravel()


@small("async_near_words", 2, 64, Drawn("letters", "u1", 5 * 2048 + 16, 4), zeros(2, "i4"), i(5),
       u(int.from_bytes(b"abca", "little")))  # fmt: skip
def _(text, out, pieces, word):
    wanted = np.frombuffer(b"abca", "u1")
    same = (np.lib.stride_tricks.sliding_window_view(text, 4)[: 5 * 2048] == wanted).sum(axis=1)
    counts = (same >= 3).reshape(5, -1).sum(axis=1)
    return counts[::2].sum(), counts[1::2].sum()


@small("calibrated_values", 2, 64, Drawn("rising", "f4", 64, 3), unit(200), zeros(200), i(200), i(64), smem=256,
       output=2, tolerance=1e-4)  # fmt: skip
def _(table, values, out, n, lines):
    return np.interp(values * np.float32(63), np.arange(64), table)


@small("bulk_column_sums", 3, 32, normal(3 * 4 * 8 * 72), zeros(216), i(4), i(72), smem=64 * 72, tolerance=1e-4)
def _(values, out, groups, columns):
    return values.reshape(3, -1, columns).sum(axis=1).ravel()


# Pictures and learning.
@small("circle_corners", (2, 2), (16, 8), Drawn("blocks", "u1", 30 * 16, 30), zeros(480, "u1"), i(30), i(16), i(40))
def _(picture, out, width, height, apart):
    picture, found = picture.reshape(height, width).astype(int), np.zeros((height, width), int)
    ring = np.array(small.constants("circle"), int).reshape(16, 2)
    for y, x in np.ndindex(height - 6, width - 6):
        values = picture[y + 3 + ring[:, 1], x + 3 + ring[:, 0]] - picture[y + 3, x + 3]
        for side in (values > apart, values < -apart):
            found[y + 3, x + 3] |= any(np.roll(side, -s)[:9].all() for s in range(16))
    assert 0 < found.sum() < found.size / 2
    return found.ravel()


@small("census_shifts", (2, 2), (16, 8), Drawn("pairs of pictures", "u1", 26 * 14, 26),
       Drawn("pictures", "u1", 26 * 14, 26), zeros(364, "u1"), i(26), i(14), i(6), output=2)  # fmt: skip
def _(left, right, out, width, height, most):
    windows = [np.lib.stride_tricks.sliding_window_view(p.reshape(height, width), (5, 5)) for p in (left, right)]
    left, right = (w < w[..., 2:3, 2:3] for w in windows)
    found = np.zeros((height, width), int)
    for y, x in np.ndindex(left.shape[:2]):
        costs = [(left[y, x] != right[y, x - s]).sum() for s in range(min(most, x + 1))]
        found[y + 2, x + 2] = np.argmin(costs)
    return found.ravel()


@small("soft_shadows", 2, 64, unit(40 * 40), unit(300), zeros(100), i(100), i(40), output=2)
def _(depths, points, out, n, size):
    x, y = (points[: 2 * n].reshape(2, n) * np.float32(size - 8)).astype(int) + 4
    steps = np.array(small.constants("taps"), int).reshape(16, 2)
    around = depths.reshape(size, size)[y[:, None] + steps[:, 1], x[:, None] + steps[:, 0]]
    return (around > points[2 * n :, None]).mean(axis=1)


@small("cell_noise", (2, 2), (16, 8), zeros(240), i(20), i(12), f(0.3), u(7), output=0, tolerance=1e-4)
def _(out, width, height, scale, seed):
    cells_y, cells_x = np.indices((8, 12)) - 1
    strewn = hashes(((cells_y + 1) * 4096 + cells_x + 1) ^ 7).astype(int)
    x, y = (cells_x + strewn % 65536 / 65536).ravel(), (cells_y + (strewn >> 16) / 65536).ravel()
    rows, columns = np.indices((height, width))[..., None] * float(scale)
    return np.hypot(columns - x, rows - y).min(axis=2).ravel()


@small("green_screen", 2, 64, numbers(400, 256, "u1"), numbers(400, 255, "u1"), zeros(400, "u1"), i(100), output=2)
def _(people, behind, out, n):
    p, b = people.reshape(n, 4).astype(int), behind.reshape(n, 4).astype(int)
    red_or_blue = np.maximum(p[:, 0], p[:, 2])
    green = np.clip(4 * (p[:, 1] - red_or_blue), 0, 255)[:, None]
    p[:, 1] = np.minimum(p[:, 1], red_or_blue)
    found = (p * (255 - green) + b * green) // 255
    found[:, 3:] = 255 - green
    return found.ravel()


@small("hill_shades", (2, 2), (16, 8), normal(20 * 14), zeros(280), i(20), i(14), f(0.04), tolerance=1e-4)
def _(heights, out, width, height, steep):
    land, found = heights.reshape(height, width).astype("f8"), np.zeros((height, width))
    across = land[:, 2:] - land[:, :-2]
    dx = across[:-2] + 2 * across[1:-1] + across[2:]
    down = land[2:] - land[:-2]
    dy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    light = (0.7 + 0.1 * (dx - dy)) / np.sqrt(1 + steep * (dx**2 + dy**2))
    found[1:-1, 1:-1] = np.maximum(light, 0)
    return found.ravel()


def unfolded(words):
    """Directions of length 1 from two numbers of 16 bits."""
    u, v = words.view("i2").reshape(-1, 2).T / 32_767
    z = 1 - abs(u) - abs(v)
    below = np.maximum(-z, 0)
    found = np.stack([u - np.copysign(below, u), v - np.copysign(below, v), z])
    return found / np.linalg.norm(found, axis=0)


@small("folded_directions", 2, 64, normal(300), zeros(100, "u4"), i(100), seen=unfolded, tolerance=3e-4)
def _(directions, out, n):
    directions = directions.reshape(n, 3).T.astype("f8")
    return directions / np.linalg.norm(directions, axis=0)


@small("gelu_gradients", 2, 64, halves(100), halves(100, 2), zeros(100, "u4"), i(100), output=2, seen=in_halves,
       tolerance=4e-3)  # fmt: skip
def _(inputs, gradients, out, pairs):
    def gelu(x):
        return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))

    x = in_halves(inputs)
    return in_halves(gradients) * (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5


@small("sign_sketches", 2, 64, Drawn("between", "i1", 3 * 64, 9), Drawn("between", "f4", 64 * 64, 7), zeros(6, "u4"),
       i(3), i(64), output=2)  # fmt: skip
def _(vectors, planes, out, n, length):
    sides = vectors.reshape(n, length).astype(int) @ planes.reshape(length, 64).astype(int) > 0
    return np.packbits(sides, bitorder="little").view("u4")


@small("wire_world", (2, 2), (16, 8), numbers(20 * 12, 4, "u1"), zeros(240, "u1"), i(20), i(12))
def _(world, out, width, height):
    world = world.reshape(height, width)
    heads = np.pad(world == 1, 1).astype(int)
    around = sum(heads[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3))
    return np.where(world == 3, np.where((around == 1) | (around == 2), 1, 3), np.array([0, 2, 3, 0])[world]).ravel()


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in sixteenth_cases.cases() for a in case.arguments if isinstance(a, Drawn)}
    assert {a.kind for a in launched} == sixteenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []
