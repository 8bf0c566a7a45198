"""The kernels of the twenty-third set compute what they say.

The emulator finds no fault in a small launch of each. Of a template one instance runs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

import numpy as np
import pytest

from tests.hardware import twenty_third_cases
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, from_bf16, in_halves, rows_of
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twenty_third_cases import WORD, Given
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("pond_levels", "above_their_mean", "bus_loads", "lot_records", "weather_chains")
LONG = 1 << 64
small = SmallLaunches(twenty_third_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twenty_third_cases.cases()}


# A problem per block.
@small("pond_levels", 2, 64, numbers(2 * 144, 100), zeros(288, "i4"), i(12), smem=1_152)
def _(land, out, side):
    found = []
    for own in land.reshape(-1, side, side).tolist():
        rim = {(y, x) for y in range(side) for x in range(side) if {x, y} & {0, side - 1}}
        level, todo = {at: own[at[0]][at[1]] for at in rim}, set(rim)
        while todo:
            y, x = min(todo, key=level.get)
            todo.remove((y, x))
            for at in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if at not in level and 0 <= at[0] < side and 0 <= at[1] < side:
                    level[at] = max(own[at[0]][at[1]], level[y, x])
                    todo.add(at)
        found += [level[y, x] for y in range(side) for x in range(side)]
    return found


@small("plucked_strings", 2, 32, unit(2 * 50), zeros(100), i(50), i(6), smem=400, tolerance=1e-5)
def _(plucks, out, length, periods):
    found = []
    for own in plucks.reshape(-1, length).astype("f8").tolist():
        sound = [0.0, *own]
        while len(sound) < length * (periods + 1) + 1:
            sound.append(0.4985 * (sound[-length] + sound[-length - 1]))
        found += sound[-length:]
    return found


@small("cup_winners", 2, 96, numbers(2_048, 20_000, "u2"), zeros(4, "i4"))
def _(strengths, out):
    found = []
    for own in strengths.reshape(2, 1_024).tolist():
        players, far = list(range(1_024)), 1
        while len(players) > 1:
            pairs = zip(players[::2], players[1::2], strict=True)
            lucks = [(a, b, int(hashes(a * 1_024 + b + far))) for a, b in pairs]
            players = [b if own[b] + (x >> 20) > own[a] + x % 4_096 else a for a, b, x in lucks]
            far *= 2
        found += [players[0], own[players[0]]]
    return found


@small("sheet_rows<1>", 2, 32, numbers(2_048 * 6, 2, "f4"), zeros(64 * 6), i(3))
def _(sheets, out, each):
    return sheets.reshape(-1, 32) @ np.arange(1, 33)


@small("pitch_classes<8>", 3, 64, numbers(3 * 100, 256, "u1"), zeros(36, "i4"), i(100))
def _(notes, out, count):
    return np.concatenate([np.bincount(song % 12, minlength=12) for song in notes.reshape(3, 100)])


@small("rows_at_length_one", 3, 64, normal(12 * 90), zeros(12 * 90), i(90), tolerance=1e-5)
def _(rows, out, quads):
    x = rows.reshape(3, -1).astype("f8")
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).ravel()


@small("ring_messages<8>", 16, 32, numbers(512, WORD, "u4"), zeros(512, "u4"), i(11))
def _(words, out, hops):
    x = words.astype("u8").reshape(2, 8, 32)
    for _ in range(hops):
        x = (np.roll(x, 1, axis=1) * 5 + np.arange(8, dtype="u8")[:, None]) % WORD
    return x.ravel()


@small("quarters_exchanged", 8, 64, unit(8 * 4 * 30), zeros(8 * 4 * 30), i(30), smem=480, tolerance=1e-6)
def _(rows, out, quarter):
    x = rows.reshape(2, 4, 4, quarter).astype("f8")
    return (x.transpose(0, 2, 1, 3) + 0.5 * x).ravel()


@small("streamed_peaks", 2, 64, normal(2 * 1_024 * 3), zeros(6), i(3))
def _(sound, out, stretches):
    return abs(sound).reshape(6, 1_024).max(axis=1)


@small("staged_dictionaries", 2, 64, numbers(1_024, WORD, "u4"), zeros(2_048, "u4"), i(9))
def _(pages, out, turns):
    found = []
    for page in pages.reshape(2, 512).tolist():
        for at in range(1_024):
            total = 0
            for t in range(turns):
                total += page[at % 512]
                at = page[at % 512] + t
            found.append(total % WORD)
    return found


# A problem per warp.
@small("torus_life", 2, 64, numbers(96, WORD, "u4"), zeros(96, "u4"), i(3), i(7))
def _(rows, out, n, turns):
    cells = np.unpackbits(rows.view("u1"), bitorder="little").reshape(n, 32, 32).astype(int)
    for _ in range(turns):
        near = sum(np.roll(cells, (a, b), (1, 2)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - cells
        cells = ((near == 3) | (near == 2) & (cells == 1)).astype(int)
    return np.packbits(cells.astype("u1"), bitorder="little").view("u4")


@small("card_twins", 2, 64, numbers(32 * 3 * 5, 52, "u1"), zeros(3, "i4"), i(3), i(5))
def _(cards, out, n, hands):
    found = []
    for own in (cards % 13).reshape(n, hands, 32).tolist():
        counts = [[hand.count(c) for c in hand] for hand in own]
        found.append(sum(32 * sum(c > 1 for c in c_) + len(set(h)) for c_, h in zip(counts, own, strict=True)))
    return found


@small("bus_loads", 2, 64, Given("changes", "i1", 3 * 96, 9), zeros(288, "i4"), i(3), i(96))
def _(changes, out, n, stops):
    found = []
    for own in changes.reshape(n, stops).tolist():
        load = 0
        for change in own:
            load = load + change if change else 0
            found.append(load)
    return found


@small("race_places", 2, 64, numbers(96, 40, "u2"), zeros(96, "u1"), i(3))
def _(times, out, n):
    return np.argsort(np.argsort(times.reshape(n, 32), axis=1, kind="stable"), axis=1).ravel()


@small("whispered_words", 2, 64, numbers(96, WORD, "u4"), zeros(96, "u4"), i(3), i(13))
def _(words, out, n, rounds):
    x = words.reshape(n, 32).astype("u8")
    for r in range(rounds):
        x = (np.take_along_axis(x, (x % 32).astype(int), axis=1) * 9 + (x >> 7) + r) % WORD
    return x.ravel()


@small("league_days", 2, 64, numbers(32 * 3 * 5, 9, "u1"), zeros(12, "u4"), i(3), i(5))
def _(goals, out, n, days):
    found = []
    for own in goals.reshape(n, days, 32).astype(int):
        scored = np.bitwise_or.reduce(own << np.arange(32) % 8, axis=1)
        found += [own.sum(), own.max(), (own.min(axis=1) + np.arange(days) % 3).min(), np.bitwise_xor.reduce(scored)]
    return found


@small("taste_pairs", 3, 64, normal(64 * 20), numbers(10, 20), zeros(5), i(5), output=2, tolerance=1e-5)
def _(tastes, pairs, out, n):
    a, b = tastes.reshape(20, 64).astype("f8")[pairs.reshape(5, 2)].transpose(1, 0, 2)
    return (a * b).sum(axis=1)


@small("above_their_mean", 20, 64, *lists(40, 9), unit(40), zeros(40, "i4"), i(40), output=3)
def _(starts, members, marks, out, n):
    return [np.sum(marks[row] > marks[row].mean()) if row else 0 for row in rows_of(starts, members)]


# Atomics.
@small("lot_records", 2, 64, numbers(300, WORD, "u4"), zeros(20, "u8"), i(300), i(20))
def _(bids, best, n, lots):
    lot = hashes(np.arange(n)) % lots
    return np.array([max((b << 32 | k for k, b in enumerate(bids.tolist()) if lot[k] == j)) for j in range(20)], "u8")


@small("tag_pairs", 4, 64, numbers(250, 250, "u1"), zeros(49, "i4"), i(250), i(7))
def _(tags, counts, n, kinds):
    return np.bincount(tags[:-1] % 7 * 7 + tags[1:] % 7, minlength=49)


@small("double_accounts", 4, 64, numbers(250, WORD, "u4"), zeros(9, "f8"), i(250), i(9))
def _(payments, accounts, n, count):
    return np.bincount(payments % 9, payments >> 20, minlength=9)


@small("rain_levels", 4, 64, numbers(250, WORD, "u4"), zeros(121), i(250), i(11))
def _(drops, levels, n, width):
    found = np.zeros((12, 12))
    for d in drops.tolist():
        x, y = d % 65_536 % width, (d >> 16) % width
        found[y, x] += 1
        found[y, x + 1] += 0.5
        found[y + 1, x] += 0.5
    return found[:11, :11].ravel()


@small("listed_divisors", 4, 64, zeros(250, "u4"), zeros(1, "i4"), i(250), u(3_603_600), output=(0, 1), seen=np.sort)
def _(list_, length, n, total):
    found = [k for k in range(1, 251) if total % k < 8]
    return [*[0] * (250 - len(found)), *found], [len(found)]


# Physics and signals.
@small("lyapunov_sums", 2, 32, unit(50), zeros(50), i(50), i(9), tolerance=1e-3)
def _(rates, out, n, turns):
    r, x, total = 2.5 + rates.astype("f8"), 0.5, 0
    for _ in range(turns):
        x = r * x * (1 - x)
        total = total + np.log(abs(r - 2 * r * x) + 1e-6)
    return total / turns


@small("clifford_points", 2, 32, unit(100), zeros(100), i(50), i(9), tolerance=1e-3)
def _(places, out, n, turns):
    x, y = places.reshape(n, 2).T.astype("f8")
    for _ in range(turns):
        x, y = np.sin(-1.4 * y) + 0.4 * np.cos(-1.4 * x), np.sin(0.5 * x) + 0.3 * np.cos(0.5 * y)
    return np.stack([x, y], axis=1).ravel()


@small("channel_depths", 2, 32, unit(50), unit(51), zeros(50), i(50), i(12), output=2, tolerance=1e-4)
def _(flows, slopes, out, n, turns):
    want = (1 + flows.astype("f8")) * 0.03 / np.sqrt(0.001 + 0.01 * slopes[:50])
    low, high = np.zeros(50), np.full(50, 50.0)
    for _ in range(80):
        d = (low + high) / 2
        area = d * (2 + d)
        less = area * (area / (2 + math.sqrt(8) * d)) ** (2 / 3) < want
        low, high = np.where(less, d, low), np.where(less, high, d)
    return low


@small("daylight_hours", 2, 32, unit(50), unit(51), zeros(50), i(50), output=2, tolerance=1e-3)
def _(days, latitudes, out, n):
    day, latitude = 365 * days.astype("f8"), 1.2 * latitudes[:50]
    tilt = np.arcsin(0.39795 * np.cos(0.2163108 + 2 * np.arctan(0.9671396 * np.tan(0.0086 * (day - 186)))))
    x = (0.0145439 + np.sin(latitude) * np.sin(tilt)) / (np.cos(latitude) * np.cos(tilt))
    return 24 - 24 / np.pi * np.arccos(np.clip(x, -1, 1))


@small("thin_layers", 2, 32, unit(2 * 6), zeros(50), i(50), i(6), smem=48, tolerance=1e-3)
def _(layers, out, n, count):
    found = []
    for k in range(50):
        product = np.eye(2, dtype=complex)
        for more, thick in layers.reshape(count, 2).tolist():
            index = 1.3 + more
            turn = 2 * np.pi / (0.4 + 0.3 * k / 50) * index * 0.2 * thick
            s, c = math.sin(turn), math.cos(turn)
            product = product @ [[c, 1j * s / index], [1j * s * index, c]]
        b, c = product @ [1, 1.5]
        found.append(abs((b - c) / (b + c)) ** 2)
    return found


@small("phased_tones", 2, 32, normal(50 * 7), zeros(350), i(50), i(7), tolerance=1e-4)
def _(samples, out, n, count):
    x = samples.reshape(count, n).astype("f8")
    for g in (0.6, 0.5, 0.4, 0.3):
        y, state = np.zeros_like(x), np.zeros(n)
        for t in range(count):
            y[t] = state - g * x[t]
            state = x[t] + g * y[t]
        x = y
    return x.ravel()


# Pictures.
@small("ripple_step", (2, 3), (16, 8), unit(30 * 21), unit(30 * 21), zeros(630), i(30), i(21), output=2, tolerance=1e-5)
def _(now, before, out, width, height):
    x, p = now.reshape(21, 30).astype("f8"), before.reshape(21, 30)
    e = np.pad(x, 1, "edge")
    near = e[:-2, 1:-1] + e[2:, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:]
    damp = np.full((21, 30), 0.9)
    damp[8:-8, 8:-8] = 0.999
    return (damp * (2 * x - p + 0.24 * (near - 4 * x))).ravel()


@small("log_polar_views", (2, 3), (16, 8), unit(1_600), zeros(630), i(30), i(21), i(40))
def _(picture, out, width, height, side):
    y, x = np.mgrid[:21, :30]
    r = 19 ** ((y + 1) / 21)
    at = [20 + r * part(2 * np.pi * (x + 0.25) / 30) for part in (np.sin, np.cos)]
    # No place lies on the edge of a point, where the last bit of a float decides.
    assert min(abs(a - np.round(a)).min() for a in at) > 1e-5
    return picture.reshape(40, 40)[at[0].astype(int), at[1].astype(int)].ravel()


@small("contour_squares", (2, 3), (16, 8), numbers(630, 9_000, "i2"), zeros(630, "i4"), i(30), i(21), i(4_000))
def _(heights, out, width, height, sea):
    p = heights.reshape(21, 30).astype(int) - sea
    corners = [p[:-1, :-1], p[:-1, 1:], p[1:, 1:], p[1:, :-1]]
    code = sum((c > 0) << j for j, c in enumerate(corners))
    found = np.zeros((21, 30), int)
    found[:-1, :-1] = np.where((code == 0) | (code == 15), 0, 16 * abs(sum(corners)) + code)
    return found.ravel()


# Games, puzzles, chance.
@small("snakes_and_ladders", 2, 32, zeros(40, "i4"), i(40), i(60), u(1), output=0)
def _(out, n, most, seed):
    jumps, found = [*map(int, small.constants("snakes"))], []
    for k in range(n):
        dice, at, rounds = Rolled(k, seed), 0, 0
        while at < 99 and rounds < most:
            to = at + 1 + dice.below(6)
            rounds += 1
            if to < 100:
                at = jumps[to // 7] if to % 7 == 3 else to
        found.append(rounds)
    assert len(set(found)) > 10
    return found


@small("craps_nights", 2, 32, zeros(40, "i4"), i(40), i(12), u(3), output=0)
def _(out, n, games, seed):
    found = []
    for k in range(n):
        dice, money = Rolled(k, seed), 0

        def throw(dice=dice):
            return 2 + dice.below(6) + dice.below(6)

        for _ in range(games):
            first = throw()
            if first in (7, 11):
                money += 1
            elif first in (2, 3, 12):
                money -= 1
            else:
                while (later := throw()) not in (first, 7):
                    pass
                money += 1 if later == first else -1
        found.append(money)
    return found


@small("tic_tac_toe_values", 2, 32, zeros(40, "i4"), i(40), u(4), output=0)
def _(out, n, seed):
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    @cache
    def value(own, other):
        if any(other.issuperset(line) for line in lines):
            return -1
        return max((-value(other, own | {m}) for m in set(range(9)) - own - other), default=0)

    found = []
    for k in range(n):
        luck, sides = Rolled(k, seed), [set(), set()]
        for m in range(4):
            while (at := luck.below(9)) in sides[0] | sides[1]:
                pass
            sides[m % 2].add(at)
        found.append(value(frozenset(sides[0]), frozenset(sides[1])))
    assert set(found) == {-1, 0, 1}
    return found


@small("look_and_say", 2, 32, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40))
def _(starts, out, n):
    found = []
    for start in starts.tolist():
        digits, said = str(start % 100_000)[::-1], 0
        while len(digits) <= 48 and said < 20:
            runs, at = "", 0
            while at < len(digits):
                rest = digits[at:]
                run = len(rest) - len(rest.lstrip(rest[0]))
                runs, at = f"{runs}{run}{rest[0]}", at + run
            digits, said = runs, said + 1
        found.append(said << 8 | len(digits))
    return found


@small("egg_throws", 2, 25, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40))
def _(houses, out, n):
    found = []
    for h in houses.tolist():
        eggs, floors = 1 + h % 8, 1 + (h >> 8) % 400
        found.append(next(t for t in range(401) if sum(math.comb(t, e) for e in range(1, eggs + 1)) >= floors))
    return found


@small("bracket_rows", 2, 32, zeros(40, "u4"), i(40), output=0)
def _(out, n):
    def rows(left, opened):
        """The rows of brackets that end closed, as bits, those that open first come first."""
        if left == 0:
            yield 0
            return
        if opened < left:
            for rest in rows(left - 1, opened + 1):
                yield 1 << left - 1 | rest
        if opened:
            yield from rows(left - 1, opened - 1)

    every = rows(24, 0)
    return [next(every) for _ in range(40)]


@small("hands_in_order", 2, 32, numbers(16 * 40, WORD, "u4"), zeros(640, "u4"), i(40))
def _(hands, out, n):
    return np.sort(hands.reshape(16, n), axis=0).ravel()


@small("hidden_palindromes", 2, 32, numbers(40 * 13, 4, "u1"), zeros(40, "u1"), i(40), i(13))
def _(words, out, n, length):
    @cache
    def longest(word):
        if len(word) < 2:
            return len(word)
        if word[0] == word[-1]:
            return 2 + longest(word[1:-1])
        return max(longest(word[1:]), longest(word[:-1]))

    return [longest(tuple(word)) for word in by_thread(words, n)]


@small("wandering_readers", 2, 32, *lists(30, 4), zeros(40, "u4"), i(40), i(30), i(9), u(5), output=2)
def _(starts, links, out, n, pages, steps, seed):
    rows, found = rows_of(starts, links), []
    for k in range(n):
        luck, at, trace = Rolled(k, seed), k % 30, 0
        for s in range(steps):
            at = rows[at][luck.below(len(rows[at]))] if rows[at] else int(hashes(at + s)) % 30
            trace = (trace * 31 + at) % WORD
        found.append(trace)
    return found


@small("downhill_walks", 2, 32, Given("hills", "i4", 400, 6), zeros(40, "i4"), i(40), i(20))
def _(heights, out, n, side):
    land, found, steps = np.pad(heights.reshape(20, 20), 1, constant_values=1 << 30), [], 0
    for start in (hashes(np.arange(40)) % 400).tolist():
        at = divmod(start, 20)
        while True:
            y, x = at
            near = [(y, x), (y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)]
            at = min(near, key=lambda p: land[p[0] + 1, p[1] + 1])
            if at == (y, x):
                break
            steps += 1
        found.append(20 * y + x)
    assert steps > 100
    return found


@small("treasure_hunts", 2, 32, numbers(100, WORD, "u4"), zeros(40, "u4"), i(40), u(50), i(9))
def _(clues, out, n, count, each):
    found = []
    for at in (hashes(np.arange(40)) % 50).tolist():
        worth = 0
        for _ in range(each):
            at, worth = int(clues[2 * at] % 50), worth + int(clues[2 * at + 1])
        found.append(worth % WORD)
    return found


# Tables and texts.
@small("rectangle_prices", 2, 32, numbers(400, WORD, "u4"), numbers(40, WORD, "u4"), zeros(40, "u4"), i(40), i(20),
       output=2)  # fmt: skip
def _(sums, corners, out, n, side):
    table, found = sums.reshape(20, 20).astype(int), []
    for a, b in zip((corners % 400).tolist(), (hashes(corners) % 400).tolist(), strict=True):
        (x0, x1), (y0, y1) = sorted((a % 20, b % 20)), sorted((a // 20, b // 20))
        found.append((table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]) % WORD)
    return found


@small("telephone_book", 2, 32, Given("telephone book", "u4", 4_097 + 6_000, 1 << 24), numbers(40, WORD, "u4"),
       zeros(40, "i4"), i(40), output=2)  # fmt: skip
def _(book, asked, out, n):
    entries, found = book[4_097:].tolist(), []
    for number in (asked % (1 << 24)).tolist():
        at = bisect_left(entries, number)
        found.append(at if at < len(entries) and entries[at] >> 12 == number >> 12 else -1)
    assert 0 < found.count(-1) < 40
    return found


@small("counted_tokens", 2, 32, numbers(40 * 30, 96, "u1"), zeros(160, "u1"), i(40), i(30))
def _(texts, out, n, length):
    found = []
    for text in by_thread(texts, n):
        counts, state = [0] * 4, "between"
        for c in (chr(x % 96 + 32) for x in text):
            if state == "quoted":
                state = "between" if c == '"' else state
            elif c == '"':
                counts[2], state = counts[2] + 1, "quoted"
            elif c.isdigit():
                counts[0] += state == "between"
                state = "number" if state == "between" else state
            elif c == "_" or (c.isascii() and c.isalpha()):
                counts[1] += state != "name"
                state = "name"
            else:
                counts[3] += c != " "
                state = "between"
        found += counts
    return found


@small("spoken_letters", 2, 32, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40))
def _(words, out, n):
    ones = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    ones = (ones + "seventeen eighteen nineteen").split()
    tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

    def spoken(x):
        if x >= 1_000:
            return spoken(x // 1_000) + "thousand" + (spoken(x % 1_000) if x % 1_000 else "")
        if x >= 100:
            return ones[x // 100] + "hundred" + (spoken(x % 100) if x % 100 else "")
        return tens[x // 10] + (ones[x % 10] if x % 10 else "") if x >= 20 else ones[x]

    return [len(spoken(w % 1_000_000)) for w in words.tolist()]


@small("melody_pitches", 2, 32, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40), i(4))
def _(words, out, n, bars):
    steps, found = [*map(int, small.constants("scale_steps"))], []
    for notes in words.tolist():
        total = 0
        for _ in range(bars):
            for j in range(8):
                total = total * 3 + steps[(notes >> 4 * j) % 16 % 12]
            notes = (notes * 1_664_525 + 1_013_904_223) % WORD
        found.append((total + WORD // 2) % WORD - WORD // 2)
    return found


# Integers.
@small("fibonacci_remainders", 2, 32, numbers(40, 500, "u4"), zeros(40, "u4"), i(40), u(4_294_967_291))
def _(places, out, n, modulus):
    row = [0, 1]
    while len(row) < 500:
        row.append((row[-1] + row[-2]) % 4_294_967_291)
    return [row[p] for p in places.tolist()]


@small("turned_generators", 2, 32, Given("long words", "u8", 40), zeros(40, "u8"), i(40), i(9))
def _(seeds, out, n, turns):
    found = []
    for state in seeds.tolist():
        total = 0
        for _ in range(turns):
            state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % LONG
            x, by = state ^ state >> 29, state >> 59
            total = (total + (x >> by | x << 64 - by)) % LONG
        found.append(total)
    return np.array(found, "u8")


@small("knight_reaches", 2, 32, Given("long words", "u8", 40), zeros(40, "i4"), i(40), i(5))
def _(boards, out, n, steps):
    jumps = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
    words, found = boards.tolist(), []
    for k in range(n):
        stones = words[k] & words[(k + 1) % n]
        reached, total = {(words[k] & -words[k]).bit_length() - 1}, 0
        for _ in range(steps):
            ways = [(at // 8 + a, at % 8 + b) for at in reached for a, b in jumps]
            ends = {8 * y + x for y, x in ways if 0 <= x < 8 and 0 <= y < 8}
            reached |= {at for at in ends if not stones >> at & 1}
            total = 3 * total + len(reached)
        found.append(total)
    return found


@small("bus_meetings", 2, 25, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40))
def _(words, out, n):
    found = []
    for w in words.tolist():
        a, b = 2 + w % 997, 2 + (w >> 10) % 991
        times = range(w % a, math.lcm(a, b), a)
        found.append(next((1 + t for t in times if t % b == (w >> 5) % b), 0))
    return found


# Long code.
@small("effect_stages<60>", 2, 32, unit(50), zeros(50), i(50), tolerance=1e-4)
def _(samples, out, n):
    x = samples.astype("f8")
    y = 1 - x
    for h in hashes(np.arange(1, 61)).tolist():
        a, b = 0.2 + h % 256 / 1_024, (h >> 8) % 256 / 512
        if h >> 30 == 0:
            x = a * x + b
            y = x - a * y
        elif h >> 30 == 1:
            x = np.minimum(abs(x - b), 2) + a * y
        elif h >> 30 == 2:
            y = x * a + y * b
            x = x * (1 - b) + 0.01
        else:
            x = np.maximum(x, a) - b * y
            y = np.minimum(y + a, 1.5)
    return x + y


# Double precision.
@small("lambert_metres", 2, 32, unit(160, "f8"), zeros(40, "f8"), i(40), tolerance=1e-9)
def _(places, out, n):
    flat = 1 / 298.257223563
    p1, l1, p2, l2 = places.reshape(40, 4).T * np.array([1, 3, 1, 3])[:, None]
    b1, b2 = (np.arctan((1 - flat) * np.tan(p - 0.5)) for p in (p1, p2))
    s = np.arccos(np.sin(b1) * np.sin(b2) + np.cos(b1) * np.cos(b2) * np.cos(l2 - l1))
    p, q = (b1 + b2) / 2, (b2 - b1) / 2
    x = (s - np.sin(s)) * (np.sin(p) * np.cos(q) / np.cos(s / 2)) ** 2
    y = (s + np.sin(s)) * (np.cos(p) * np.sin(q) / np.sin(s / 2)) ** 2
    return 6_378_137 * (s - flat / 2 * (x + y))


@small("deep_zooms", (2, 2), (8, 8), zeros(150, "i4"), i(15), i(10), i(60), ("f8", 0.05), output=0)
def _(out, width, height, most, size):
    y, x = np.mgrid[:10, :15]
    c = -0.7436438870371587 + 0.05 * (x - 7) + 1j * (0.1318259042053119 + 0.05 * (y - 5))
    z, turns = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(most):
        inside = abs(z) <= 2
        turns += inside
        z = np.where(inside, z * z + c, z)
    return turns.ravel()


@small("pension_pots", 2, 32, unit(40, "f8"), zeros(40, "f8"), i(40), i(30), tolerance=1e-12)
def _(rates, out, n, months):
    pot = np.zeros(40)
    for m in range(months):
        pot = (pot + 100 * 1.02 ** (m // 12)) * (1 + rates / 120) - 0.0004 * pot
    return pot


@small("posted_interest", 2, 32, normal(180, "f8"), zeros(180, "f8"), i(90), ("f8", 0.0125), tolerance=1e-14)
def _(balances, out, n, rate):
    return np.where(balances > 0, 1.0125 * balances, balances)


# Short floats and matrices.
@small("half_scorecards", 2, 32, normal(16 * 50, "f2"), normal(128, "f2"), zeros(50, "f2"), i(50), output=2,
       tolerance=3e-2)  # fmt: skip
def _(answers, weights, out, n):
    a = answers.reshape(8, 50, 2).transpose(1, 0, 2).reshape(50, 16).astype("f8")
    return (a @ weights.reshape(8, 16).T.astype("f8")).max(axis=1)


@small("half_dissolves", 2, 32, unit(100, "f2"), unit(102, "f2"), unit(104, "f2"), zeros(100, "f2"), i(50), output=3,
       tolerance=3e-3)  # fmt: skip
def _(a, b, c, out, n):
    w = np.repeat(np.arange(50) / 256, 2)
    a, b, c = (x[:100].astype("f8") for x in (a, b, c))
    return (a * w + b * (1 - w)) * (1 - w) + c * w


@small("half_gates", 2, 32, normal(100, "f2"), zeros(100, "f2"), i(50), i(4), tolerance=5e-3)
def _(levels, out, n, turns):
    x = levels.astype("f8")
    for _ in range(turns):
        x = 1 / (1 + 2 ** (-1.25 * x))
    return x


@small("bf16_columns", 2, 32, numbers(180, 0x3F80, "u2"), numbers(20, 0x3F80, "u2"), zeros(180, "u2"), i(90), i(10),
       output=2, tolerance=2e-2, seen=from_bf16)  # fmt: skip
def _(levels, scales, out, n, columns):
    by = np.tile(from_bf16(scales), 9)
    return np.minimum(from_bf16(levels) * (1 + by), 1)


@small("recipe_costs", 1, 64, numbers(32 * 48, 0x3C00, "u2"), numbers(16 * 48, 0x3C00, "u2"), zeros(512), i(32), i(16),
       i(48), output=2, tolerance=1e-4)  # fmt: skip
def _(amounts, prices, out, rows, columns, depth):
    return (in_halves(amounts).reshape(32, 48) @ in_halves(prices).reshape(16, 48).T).ravel()


@small("weather_chains", 1, 64, Given("odds", "u2", 256), numbers(256, 0x3F80, "u2"), zeros(256), i(2), i(3), output=2,
       tolerance=2e-2)  # fmt: skip
def _(odds, days, out, n, steps):
    a, x = from_bf16(odds).reshape(16, 16), from_bf16(days).reshape(2, 8, 16).transpose(0, 2, 1)
    np.testing.assert_allclose(a.sum(axis=0), 1, atol=2e-2)
    for _ in range(steps):
        x = a @ x
    return x.ravel()


@small("code_energies", 1, 64, numbers(16 * 32, WORD, "u4"), numbers(128 * 3, WORD, "u4"), zeros(32, "i4"), i(32), i(3),
       output=2)  # fmt: skip
def _(rows, others, out, n, groups):
    a, b = (x.view("i1").reshape(-1, 64).astype(int) for x in (rows, others))
    return ((a @ b.T >> 8) ** 2).sum(axis=1)


# First programs and streams.
@small("exam_marks", 2, 50, numbers(90, 101), zeros(90, "i1"), i(90))
def _(points, marks, n):
    return np.array([*b"FCBA"])[np.searchsorted([60, 75, 90], points, "right")]


@small("class_mean", 1, 64, unit(300), zeros(1), i(300), tolerance=1e-5)
def _(points, mean, n):
    return [points.astype("f8").mean()]


@small("receipts", 2, 25, numbers(40 * 7, 5_000), zeros(40, "i4"), i(40), i(7))
def _(cents, out, n, each):
    return cents.reshape(40, 7).sum(axis=1)


@small("premultiplied", 2, 32, numbers(200, 256, "u1"), zeros(200, "u1"), i(50))
def _(pixels, out, n):
    p = pixels.reshape(50, 4).astype(int)
    p[:, :3] = (p[:, :3] * p[:, 3:] + 127) // 255
    return p.ravel()


@small("log_steps", 2, 32, unit(51), zeros(50), i(50), tolerance=1e-5)
def _(prices, out, n):
    return np.diff(np.log1p(prices.astype("f8")))


@small("black_and_white", 2, 32, unit(320), zeros(10, "u4"), i(320), f(0.5))
def _(picture, out, n, limit):
    return np.packbits(picture > 0.5, bitorder="little").view("u4")


@small("planes_to_pixels", 2, 32, numbers(150, 256, "u1"), zeros(150, "u1"), i(50))
def _(planes, out, n):
    return planes.reshape(3, 50).T.ravel()


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twenty_third_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twenty_third_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_three_to_six_block_sizes():
    found = by_series(twenty_third_cases.cases()).values()
    assert {len(names) for names in found} <= {3, 4, 5, 6}
    assert len(found) >= 80


def test_every_kernel_has_launches_whose_stalls_are_recorded():
    kernels = [case.kernel for case in twenty_third_cases.profiled()]
    assert set(kernels) == {case.kernel for case in twenty_third_cases.cases()}
    assert len(kernels) >= 90
