"""The kernels of the twenty-fourth set compute what they say.

The emulator finds no fault in a small launch of each. Of a template one instance runs.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from tests.hardware import twenty_fourth_cases
from tests.hardware.fourteenth_cases import hashes
from tests.hardware.in_python import Rolled, by_thread, from_bf16, in_halves, rows_of, turned
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twenty_fourth_cases import WORD, Given
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("long_ropes", "table_bills", "claimed_seats", "menu_orders", "survey_scores")
LONG = 1 << 64
small = SmallLaunches(twenty_fourth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twenty_fourth_cases.cases()}


# A problem per block.
@small("cooling_bars", 2, 32, unit(100), zeros(100), i(50), i(7), smem=416, tolerance=1e-5)
def _(bars, out, cells, steps):
    x = bars.reshape(2, 50).astype("f8")
    for _ in range(steps):
        e = np.pad(x, ((0, 0), (1, 1)))
        x = (e[:, :-2] + 2 * x + e[:, 2:]) / 4
    return x.ravel()


@small("pyramid_paths", 2, 32, numbers(2 * 40**2, 256, "u1"), zeros(2, "i4"), i(40), smem=320)
def _(stones, out, rows):
    found = []
    for own in stones.reshape(2, rows, rows).tolist():
        # From the top down: the best sum that ends at each stone.
        best = [own[0][0]]
        for row in range(1, rows):
            ways = [[best[j] for j in (k - 1, k) if 0 <= j < row] for k in range(row + 1)]
            best = [own[row][k] + max(w) for k, w in enumerate(ways)]
        found.append(max(best))
    return found


@small("trimmed_means", 2, 64, numbers(512, 90), zeros(2), tolerance=1e-6)
def _(marks, out):
    return np.sort(marks.reshape(2, 256), axis=1)[:, 32:224].mean(axis=1)


@small("longest_streaks", 3, 96, numbers(3 * 1_000, 4, "u1"), zeros(3, "i4"), i(1_000), smem=1_536)
def _(wins, out, games):
    seasons = (wins.reshape(3, games) > 0).tolist()
    return [max(len([*run]) for won, run in groupby(season) if won) for season in seasons]


@small("woven_tiles<1>", 2, 64, numbers(2_048, WORD, "u4"), zeros(2_048, "u4"), i(3))
def _(cloth, out, turns):
    x = cloth.reshape(2, 32, 32).astype("u8")
    for _ in range(turns):
        x = (x.transpose(0, 2, 1) + np.arange(1_024, dtype="u8").reshape(32, 32)) % WORD
    return x.ravel()


@small("locker_rounds<8>", 2, 64, numbers(2_048, WORD, "u4"), zeros(128, "u4"), i(9))
def _(lockers, out, rounds):
    x = np.array([lockers.astype("u8"), lockers.astype("u8") + 1])
    total = np.zeros((2, 64), "u8")
    for r in range(rounds):
        total = (total * 3 + x[:, (np.arange(64) * 8 + r) % 2_048]) % WORD
    return total.ravel()


@small("standard_scores", 3, 64, normal(270), zeros(270), i(90), tolerance=1e-4)
def _(rows, out, width):
    x = rows.reshape(3, width).astype("f8")
    return ((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)).ravel()


@small("tempered_softmax", 3, 64, normal(270), zeros(270), i(90), f(0.7), tolerance=1e-5)
def _(rows, out, width, heat):
    e = np.exp(0.7 * rows.reshape(3, width).astype("f8"))
    return (e / e.sum(axis=1, keepdims=True)).ravel()


@small("totals_so_far", 2, 96, numbers(500, 900), zeros(500, "i4"), i(250))
def _(payments, out, count):
    return np.cumsum(payments.reshape(2, count), axis=1).ravel()


@small("oven_plates", 2, 64, unit(2_048), zeros(2_048), i(4), tolerance=1e-5)
def _(plates, out, steps):
    x = plates.reshape(2, 32, 32).astype("f8")
    for _ in range(steps):
        e = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=1)
        x = (x + e[:, 1:-1, 2:] + e[:, 1:-1, :-2] + e[:, 2:, 1:-1] + e[:, :-2, 1:-1]) / 5
    return x.ravel()


@small("coldest_hours", 2, 96, numbers(2 * 3 * 96, 1 << 20), zeros(2, "i4"), i(3))
def _(hours, out, each):
    return hours.reshape(2, -1).min(axis=1)


# Clusters and asynchronous copies.
@small("team_means<2>", 6, 64, unit(6 * 90), zeros(6 * 90), i(90), tolerance=1e-5)
def _(rows, out, piece):
    x = rows.reshape(3, 180).astype("f8")
    return (x - x.mean(axis=1, keepdims=True)).ravel()


@small("long_ropes", 8, 32, unit(8 * 50), zeros(8 * 50), i(50), i(5), smem=400, tolerance=1e-5)
def _(ropes, out, part, steps):
    x = ropes.reshape(2, 200).astype("f8")
    for _ in range(steps):
        e = np.pad(x, ((0, 0), (1, 1)))
        x = 0.4 * x + 0.3 * (e[:, :-2] + e[:, 2:])
    return x.ravel()


@small("staged_energies", 2, 64, normal(2 * 2_048 * 4), zeros(2), i(4), tolerance=1e-5)
def _(sound, out, pieces):
    return (sound.reshape(2, -1).astype("f8") ** 2).sum(axis=1)


@small("staged_echoes", 2, 64, normal(2_080), normal(33), zeros(2_048), output=2, tolerance=1e-4)
def _(sound, taps, out):
    return np.correlate(sound.astype("f8"), taps.astype("f8"), "valid")


# A problem per warp.
@small("group_medians", 2, 64, numbers(96, 10_000), zeros(3, "i4"), i(3))
def _(values, out, n):
    return np.floor(np.median(values.reshape(3, 32), axis=1))


@small("jury_verdicts", 2, 64, numbers(32 * 3 * 9, 200, "u1"), zeros(3, "i4"), i(3), i(9))
def _(answers, out, n, questions):
    yes = answers.reshape(n, questions, 32) > 100
    agreed = yes[:, :, ::4].all(axis=2) | ~yes[:, :, ::3].any(axis=2)
    return (1_000 * (yes.sum(axis=2) > 16) + agreed).sum(axis=1)


@small("alike_to_query", 2, 64, normal(4 * 3 * 40), normal(160), zeros(3), i(3), i(40), output=2, tolerance=1e-4)
def _(rows, query, out, n, quads):
    x = rows.reshape(3, 160).astype("f8")
    return x @ query.astype("f8") / np.linalg.norm(x, axis=1)


@small("product_scans", 2, 64, numbers(96, WORD, "u4"), zeros(96, "u4"), i(3), i(5))
def _(values, out, n, rounds):
    x = (values % 65_521).astype("u8").reshape(n, 32)
    for r in range(rounds):
        for lane in range(1, 32):
            x[:, lane] = x[:, lane] * x[:, lane - 1] % 65_521
        x += np.uint64(r + 1)
    return x.ravel()


@small("village_clocks", 2, 64, unit(96), zeros(96), i(3), i(9), tolerance=1e-5)
def _(clocks, out, n, rounds):
    x = clocks.reshape(n, 32).astype("f8")
    return (x.mean(axis=1, keepdims=True) + 0.75**rounds * (x - x.mean(axis=1, keepdims=True))).ravel()


@small("rows_to_unit_peak", 2, 64, normal(3 * 70), zeros(3 * 70), i(3), i(70), tolerance=1e-6)
def _(rows, out, n, width):
    x = rows.reshape(n, width).astype("f8")
    return (x / abs(x).max(axis=1, keepdims=True)).ravel()


@small("table_bills", 2, 64, numbers(96, 12, "u1"), numbers(96, 9_000), zeros(96, "i4"), i(3), output=2)
def _(tables, prices, out, n):
    found = []
    for own, paid in zip(tables.reshape(n, 32), prices.reshape(n, 32), strict=True):
        first = {int(table): lane for lane, table in reversed([*enumerate(own)])}
        found += [paid[own == table].sum() if first[int(table)] == lane else 0 for lane, table in enumerate(own)]
    return found


# Atomics.
@small("price_bands", 4, 64, numbers(250, WORD, "u4"), zeros(9, "i4"), i(250), i(9))
def _(prices, counts, n, bands):
    return np.bincount(prices.astype("u8") * 9 >> np.uint64(32), minlength=9)


@small("price_bands_by_block", 2, 64, numbers(250, WORD, "u4"), zeros(9, "i4"), i(250), i(9), smem=36)
def _(prices, counts, n, bands):
    return np.bincount(prices.astype("u8") * 9 >> np.uint64(32), minlength=9)


@small("claimed_seats", 4, 64, numbers(250, 300, "u4"), zeros(512, "u4"), i(250), u(511), seen=np.sort)
def _(guests, seats, n, mask):
    came = sorted({*guests.tolist()})
    return [0] * (512 - len(came)) + [guest + 1 for guest in came]


@small("warmest_days", 4, 64, numbers(250, WORD, "u4"), zeros(9, "i4"), i(250), i(9))
def _(readings, warmest, n, stations):
    return [max(x >> 12 for x in readings.tolist() if x % 9 == s) for s in range(9)]


@small("posted_letters", 4, 64, numbers(250, 9, "u2"), zeros(9, "i4"), zeros(9 * 64, "i4"), i(250), i(64),
       output=(1, 2), seen=lambda x: x if x.size == 9 else np.sort(x.reshape(9, 64), axis=1))  # fmt: skip
def _(towns, counts, boxes, n, room):
    inside = np.zeros((9, 64), int)
    for town in range(9):
        letters = np.flatnonzero(towns == town) + 1
        inside[town, 64 - len(letters) :] = letters
    return np.bincount(towns, minlength=9), inside


@small("class_totals", 2, 64, numbers(250, 9, "u1"), numbers(250, 101, "u1"), zeros(9), zeros(9), i(250),
       output=(2, 3))  # fmt: skip
def _(classes, points, totals, counts, n):
    return np.bincount(classes, points, minlength=9), np.bincount(classes, minlength=9)


@small("seen_numbers", 4, 64, numbers(250, WORD, "u4"), zeros(10, "u4"), i(250), u(300))
def _(values, seen, n, high):
    bits = np.zeros(320, "u1")
    bits[values % 300] = 1
    return np.packbits(bits, bitorder="little").view("u4")


@small("passed_bound", 2, 64, unit(250), zeros(1, "i4"), i(250), f(0.4))
def _(values, count, n, bound):
    return [(values > np.float32(0.4)).sum()]


# Physics.
@small("harbour_tides", 2, 32, unit(50), zeros(50), i(50), i(6), tolerance=1e-4)
def _(phases, out, n, hours):
    speeds, sizes = (np.array(small.constants(name)) for name in ("tide_speeds", "tide_sizes"))
    h, j = np.arange(hours)[:, None, None], np.arange(1, 9)
    return (np.cos(speeds * h + 6 * phases[:, None].astype("f8") * j) @ sizes).max(axis=0)


@small("cooling_cups", 2, 32, unit(50), zeros(50), i(50), i(9), tolerance=1e-5)
def _(cups, out, n, turns):
    tea, room = 60 + 30 * cups.astype("f8"), 20.0
    for _ in range(turns):
        flow = -(tea - room) * np.expm1(-0.001 * (tea - room))
        tea, room = tea - 0.2 * flow, room + 0.002 * flow
    return tea


@small("thrown_balls", 2, 32, unit(80), zeros(40), i(40), tolerance=5e-3)
def _(throws, out, n):
    found = []
    for a, b in throws.reshape(n, 2).astype("f8").tolist():
        x, y, u_, v = 0.0, 0.0, 4 + 10 * a, 2 + 12 * b
        while True:
            drag = 0.02 * math.hypot(u_, v)
            u_, v = u_ - 0.01 * drag * u_, v - 0.01 * (9.81 + drag * v)
            x, y = x + 0.01 * u_, y + 0.01 * v
            if y <= 0:
                break
        found.append(x)
    return found


@small("comet_paths", 2, 32, unit(80), zeros(80), i(40), i(20), tolerance=1e-4)
def _(starts, out, n, steps):
    a, b = starts.reshape(n, 2).T.astype("f8")
    place, speed = (1 + a) + 0j, 1j * (0.6 + 0.4 * b)
    for _ in range(steps):
        speed = speed - 0.01 * place / (abs(place) ** 2 + 0.01) ** 1.5
        place = place + 0.01 * speed
    return np.stack([place.real, place.imag], axis=1).ravel()


@small("harbour_miles", 2, 32, unit(80), zeros(40), i(40), f(0.17), f(0.93), tolerance=1e-3)
def _(places, out, n, east, north):
    def towards(lat, lon):
        return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat) + 0 * lon])

    here, there = towards(*places.reshape(n, 2).T.astype("f8")), towards(0.93, np.array(0.17))
    return 6_371 * np.arccos(np.clip(there @ here, -1, 1))


@small("film_curves", 1, 32, unit(50), zeros(50), i(50), tolerance=1e-5)
def _(levels, out, n):
    x = levels.astype("f8") + 0.01
    return sum(part * x**power for part, power in ((0.4, 0.45), (0.3, 0.8), (0.2, 1.3), (0.1, 2.2)))


@small("fleet_wakes", 2, 32, normal(100), zeros(50), i(50), tolerance=1e-4)
def _(boats, out, n):
    x = boats.reshape(n, 2).astype("f8")
    return (1 / (1 + ((x[:, None] - x) ** 2).sum(axis=2))).sum(axis=1)


# Chance.
@small("table_walkers", 2, 32, zeros(40, "i4"), i(40), i(4), i(50), u(11), output=0)
def _(out, n, edge, most, seed):
    found = []
    for k in range(n):
        luck, at, steps = Rolled(k, seed), 0j, 0
        while abs(at) < edge and steps < most:
            at += (1, -1, 1j, -1j)[luck.below(4)]
            steps += 1
        found.append(steps)
    assert len(set(found)) > 9
    return found


@small("exploding_dice", 2, 32, zeros(40, "i4"), i(40), i(12), u(12), output=0)
def _(out, n, rounds, seed):
    found = []
    for k in range(n):
        dice, ended, total = Rolled(k, seed), 0, 0
        while ended < rounds:
            thrown = 1 + dice.below(6)
            total, ended = total + thrown, ended + (thrown < 6)
        found.append(total)
    return found


@small("rock_paper_rounds", 2, 32, zeros(40, "i4"), i(40), i(15), u(13), output=0)
def _(out, n, rounds, seed):
    found = []
    for k in range(n):
        luck, last, won = Rolled(k, seed), 0, 0
        for _ in range(rounds):
            word = luck.word()
            other = (word >> 16) % 3
            own = (last + 1) % 3 if word & 3 else (word >> 8 & 255) % 3
            won += {0: 0, 1: 1, 2: -1}[(own - other) % 3]
            last = other
        found.append(won)
    return found


@small("darts_under_bell", 2, 32, zeros(40, "i4"), i(40), i(15), u(14), output=0)
def _(out, n, throws, seed):
    found = []
    for k in range(n):
        luck, hits = Rolled(k, seed), 0
        for _ in range(throws):
            x, y = luck.word() >> 20, luck.word() >> 20
            hits += y / 4_096 < (4_096 - x) / (4_096 + x)
        found.append(hits)
    return found


# Pictures.
@small("mirrored_photos", (2, 3), (16, 8), numbers(630, WORD, "u4"), zeros(630, "u4"), i(30), i(21))
def _(photo, out, width, height):
    return photo.reshape(21, 30)[:, ::-1].ravel()


@small("dark_channels", (2, 3), (16, 8), numbers(2_520, 256, "u1"), zeros(630, "u1"), i(30), i(21))
def _(photo, out, width, height):
    least = np.pad(photo.reshape(21, 30, 4)[:, :, :3].min(axis=2), 3, constant_values=255)
    return np.lib.stride_tricks.sliding_window_view(least, (7, 7)).min(axis=(2, 3)).ravel()


@small("vignettes", (2, 3), (16, 8), unit(630), zeros(630), i(30), i(21), tolerance=1e-5)
def _(photo, out, width, height):
    y, x = np.mgrid[:21, :30]
    far = ((x - 15) ** 2 + (y - 10.5) ** 2) / 900
    return photo / (1 + far.ravel()) ** 2


@small("water_directions", (2, 3), (16, 8), numbers(630, 50), zeros(630, "u1"), i(30), i(21))
def _(heights, out, width, height):
    land = np.pad(heights.reshape(21, 30), 1, constant_values=1 << 20)
    ways = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
    around = np.array([land[1 + b : 22 + b, 1 + a : 31 + a] for b, a in ways])
    return np.where(around.min(axis=0) < land[1:-1, 1:-1], around.argmin(axis=0), 8).ravel()


# Walks and tables.
@small("station_hops", 2, 32, Given("tracks", "i4", 100, 1), zeros(40, "i4"), i(40), i(100), i(9), output=1)
def _(after, out, n, stations, hops):
    assert sorted(after) == [*range(100)]
    at = hashes(np.arange(40)) % 100
    for _ in range(hops):
        at = after[at]
    return at


@small("family_depths", 2, 32, Given("parents", "i4", 40, 1), zeros(40, "i4"), i(40))
def _(parents, out, n):
    found = [0]
    for parent in parents[1:].tolist():
        found.append(1 + found[parent])
    return found


@small("friends_of_friends", 2, 32, *lists(40, 6), zeros(40, "i4"), i(40), output=2)
def _(starts, members, out, n):
    rows = rows_of(starts, members)
    return [sum(len(rows[m]) for m in row) for row in rows]


@small("steam_table", 2, 32, unit(4_096), unit(80), zeros(40), i(40), output=2, tolerance=1e-4)
def _(table, asked, out, n):
    grid, (x, y) = table.reshape(64, 64).astype("f8"), 63 * asked.reshape(n, 2).T.astype("f8")
    rows = np.array([[np.interp(a, np.arange(64), row) for row in grid] for a in x])
    return [np.interp(b, np.arange(64), row) for b, row in zip(y, rows, strict=True)]


@small("sales_between", 2, 32, Given("sorted", "u4", 90, WORD), numbers(80, WORD, "u4"), zeros(40, "i4"), i(40), i(90),
       output=2)  # fmt: skip
def _(times, asked, out, n, count):
    ends = np.sort(asked.reshape(n, 2), axis=1)
    return [((times >= a) & (times < b)).sum() for a, b in ends]


@small("picked_cards", 2, 32, numbers(160, WORD, "u4"), numbers(40, 20), zeros(40, "u4"), i(40), output=2)
def _(box, order, out, n):
    return box.reshape(20, 8).astype("u8").sum(axis=1)[order] % WORD


@small("egg_floors", 2, 32, numbers(40, 256, "u1"), zeros(40, "i4"), i(40), i(9))
def _(eggs, out, n, throws):
    return [sum(math.comb(throws, j) for j in range(1, e + 1)) for e in (eggs % 12).tolist()]


@small("painted_houses", 2, 32, numbers(3 * 40 * 6, 256, "u1"), zeros(40, "i4"), i(40), i(6))
def _(prices, out, n, houses):
    p = prices.reshape(houses, 3, n).astype(int)
    ways = np.indices((3,) * houses).reshape(houses, -1).T
    ways = ways[(np.diff(ways, axis=1) != 0).all(axis=1)]
    return p[np.arange(houses), ways].sum(axis=1).min(axis=0)


# Texts.
@small("common_beginnings", 2, 32, Given("similar lines", "u1", 480, 12), zeros(40, "i4"), i(40), i(12))
def _(lines, out, n, length):
    text = [row.tobytes().decode() for row in lines.reshape(n, length)]
    pairs = [(text[k - 1], text[k]) for k in range(n)]
    found = [next((j for j in range(length) if a[j] != b[j]), length) for a, b in pairs]
    assert len(set(found)) > 5
    return found


@small("pattern_hits", 2, 32, numbers(48, 2, "u1"), zeros(40, "u1"), i(40))
def _(text, out, n):
    sought = [*map(int, small.constants("sought"))]
    return [next((j for j in range(8) if text[k + j] != sought[j]), 8) for k in range(n)]


@small("fnv_words", 2, 32, numbers(40 * 7, 256, "u1"), zeros(40, "u4"), i(40), i(7))
def _(letters, out, n, length):
    found = []
    for word in by_thread(letters, n):
        value = 2_166_136_261
        for letter in word:
            value = (value ^ letter) * 16_777_619 % WORD
        found.append(value)
    return found


@small("isbn_checks", 2, 32, Given("long", "u8", 40, 10**10), zeros(40, "u1"), i(40))
def _(books, out, n):
    return [sum((10 - j) * int(d) for j, d in enumerate(f"{book:010}")) % 11 for book in books.tolist()]


@small("title_letters", 1, 32, Given("text", "u1", 300, 6), zeros(300, "u1"), i(300))
def _(text, out, n):
    words = text.tobytes().decode().split(" ")
    assert len(words) > 30
    return [*" ".join(word[:1].upper() + word[1:] for word in words).encode()]


# Integers.
@small("xorshift_sums", 2, 32, Given("long", "u8", 40, 1 << 64), zeros(40, "u8"), i(40), i(9))
def _(seeds, out, n, turns):
    found = []
    for x in (seeds | np.uint64(1)).tolist():
        total = 0
        for _ in range(turns):
            x ^= x >> 12
            x ^= x << 25 & LONG - 1
            x ^= x >> 27
            total += x * 2_685_821_657_736_338_717
        found.append(total % LONG)
    return np.array(found, "u8")


@small("aliquot_walks", 2, 32, numbers(40, 400, "u2"), zeros(40, "i4"), i(40), i(3))
def _(values, out, n, most):
    found = []
    for x in (2 + values % 4_000).tolist():
        steps = 0
        while 1 < x < 20_000 and steps < most:
            x = sum(d for d in range(1, x // 2 + 1) if x % d == 0)
            steps += 1
        found.append(100_000 * steps + x)
    return found


@small("bit_fingerprints", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40), i(9))
def _(words, out, n, rounds):
    found = []
    for x in words.tolist():
        for r in range(rounds):
            bits = f"{x:032b}"
            zeros_ = 32 - x.bit_length()
            x = (int(bits[::-1], 2) + (bits.count("1") << 8) + zeros_ * 37 + ((x << 3) % WORD ^ r)) % WORD
        found.append(x)
    return found


@small("packed_taste", 2, 32, numbers(16 * 40, WORD, "u4"), numbers(48, WORD, "u4"), zeros(40, "i4"), i(40), i(3),
       output=2)  # fmt: skip
def _(rows, weights, out, n, again):
    v = rows.view("i1").reshape(4, n, 16).transpose(1, 0, 2).reshape(n, 64).astype(int)
    return v @ weights.view("i1").reshape(again, 64).astype(int).sum(axis=0)


@small("wheel_ciphers", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40), i(9))
def _(words, out, n, rounds):
    found = []
    for k, a in enumerate(words.tolist()):
        b, c = int(hashes(k)), 0x9E3779B9
        for _ in range(rounds):
            a = (turned(a, c % 32) + b) % WORD
            b = turned(b, 7) ^ c
            c = (turned(c, 19) + a) % WORD
        found.append(a ^ b ^ c)
    return found


@small("gear_teeth", 2, 25, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40))
def _(words, out, n):
    return [math.lcm(*(8 + (w >> by) % 1_000 for by in (0, 10, 20))) % WORD for w in words.tolist()]


# Long code and many ways.
@small("kitchen_steps<50>", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40))
def _(words, out, n):
    found = []
    for x in words.tolist():
        y = turned(x, 16)
        for h in hashes(np.arange(11, 61)).tolist():
            if h >> 30 == 0:
                x = (x * (h | 1) + y) % WORD
            elif h >> 30 == 1:
                y ^= ((x >> h % 13) + h) % WORD
            elif h >> 30 == 2:
                x = (min(x, y ^ h) + (y << h % 5)) % WORD
            else:
                y = ((y & h) + (x | h >> 7)) % WORD
        found.append(x ^ y)
    return found


@small("menu_orders", 2, 32, numbers(40 * 9, 256, "u1"), zeros(40), i(40), i(9), tolerance=1e-5)
def _(orders, out, n, each):
    dishes = [
        lambda p: p + 2.5,
        lambda p: 1.01 * p + 1,
        lambda p: math.sqrt(p) + 3,
        lambda p: max(p - 2, 1),
        lambda p: p / 1.19 + 0.5,
        lambda p: 4 + p / 2,
        lambda p: 0.9 * p if p > 9 else p + 1.5,
        lambda p: math.log1p(p) + 2,
    ]
    found = []
    for own in by_thread(orders, n):
        price = 1.0
        for order in own:
            price = dishes[order % 8](price)
        found.append(price)
    return found


# Double precision.
@small("basel_sums", 2, 32, zeros(40, "f8"), i(40), i(9), output=0, tolerance=1e-14)
def _(out, n, terms):
    return (1 / (np.arange(40)[:, None] + np.arange(1, terms + 1)) ** 2).sum(axis=1)


@small("double_cubic_maps", 2, 32, unit(40, "f8"), zeros(40, "f8"), i(40), i(9), tolerance=1e-11)
def _(starts, out, n, turns):
    path = [np.full(40, 0.3), starts]
    for _ in range(turns):
        path.append(1.9 * path[-1] - path[-1] ** 3 + 0.1 * path[-2])
    return path[-1]


@small("bell_areas", 2, 32, unit(40, "f8"), zeros(40, "f8"), i(40), i(20), tolerance=1e-5)
def _(ends, out, n, pieces):
    return [math.sqrt(math.pi) / 2 * math.erf(3 * end) for end in ends.tolist()]


@small("double_row_lengths", 2, 64, normal(2 * 3 * 40, "f8"), zeros(3, "f8"), i(3), i(40), tolerance=1e-13)
def _(rows, out, n, pairs):
    return np.linalg.norm(rows.reshape(n, -1), axis=1)


# Short floats and matrices.
@small("half_polynomials", 2, 32, unit(100, "f2"), normal(12, "f2"), zeros(100, "f2"), i(50), i(5), output=2,
       tolerance=1e-2)  # fmt: skip
def _(values, factors, out, n, degree):
    x, c = values.reshape(n, 2).astype("f8"), factors.reshape(degree + 1, 2).astype("f8")
    return sum(c[d] * x**d for d in range(degree + 1)).ravel()


@small("half_relu6_rows", 1, 32, normal(100, "f2"), normal(20, "f2"), zeros(100, "f2"), i(50), i(10), output=2,
       tolerance=2e-3)  # fmt: skip
def _(rows, bias, out, n, columns):
    return np.clip(rows.reshape(5, 20).astype("f8") + bias.astype("f8"), 0, 6).ravel()


@small("bf16_row_totals", 2, 64, numbers(2 * 3 * 40, 0x3F80, "u2"), zeros(3), i(3), i(40), tolerance=1e-5)
def _(rows, out, n, pairs):
    return from_bf16(rows).reshape(n, -1).sum(axis=1)


@small("room_mixes", 1, 64, numbers(512, 0x3C00, "u2"), numbers(128 * 3, 0x3C00, "u2"), zeros(256), i(2), i(3),
       output=2, tolerance=1e-4)  # fmt: skip
def _(desks, signals, out, n, groups):
    return (in_halves(desks).reshape(n, 16, 16) @ in_halves(signals).reshape(groups, 8, 16).sum(axis=0).T).ravel()


@small("survey_scores", 1, 64, numbers(32 * 24, 5, "f4"), numbers(8 * 24, 9, "f4"), zeros(256), i(32), i(24), output=2)
def _(answers, weights, out, rows, depth):
    return (answers.reshape(rows, depth) @ weights.reshape(8, depth).T).ravel()


@small("shared_rows_product", 2, 64, numbers(32 * 32, 0x3F80, "u2"), numbers(64 * 32, 0x3F80, "u2"), zeros(32 * 64),
       i(32), i(64), i(16), output=2, tolerance=1e-4)  # fmt: skip
def _(left, right, out, rows, columns, words):
    return (from_bf16(left).reshape(32, 32) @ from_bf16(right).reshape(64, 32).T).ravel()


# First programs and streams.
@small("museum_prices", 2, 50, numbers(90, 90), zeros(90), i(90))
def _(ages, prices, n):
    return np.array([0, 4.5, 9, 4.5])[np.searchsorted([6, 18, 65], ages, "right")]


@small("lonely_sum", 1, 1, numbers(50, 100), zeros(1, "i4"), i(50))
def _(values, out, n):
    return [values.sum()]


@small("naive_rows", 2, 32, normal(40 * 9), normal(9), zeros(40), i(40), i(9), output=2, tolerance=1e-5)
def _(matrix, column, out, n, width):
    return matrix.reshape(n, width).astype("f8") @ column.astype("f8")


@small("wind_speeds", 2, 32, unit(200), unit(201), zeros(200), i(50), output=2, tolerance=1e-6)
def _(east, north, out, n):
    return np.hypot(east, north[:200])


@small("mono_samples", 1, 32, numbers(100, 30_000, "i2"), zeros(50, "i2"), i(50))
def _(sound, out, n):
    return sound.reshape(n, 2).astype(int).sum(axis=1) // 2


@small("year_on_year", 2, 32, unit(59), zeros(50), i(50), i(9))
def _(sales, out, n, period):
    return sales[9:] - sales[:50]


@small("bytes_from_ints", 1, 32, numbers(200, 300), zeros(200, "u1"), i(50))
def _(values, out, n):
    return np.minimum(values, 255)


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twenty_fourth_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twenty_fourth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_five_block_sizes_and_the_same_arguments():
    found = by_series(twenty_fourth_cases.cases()).values()
    assert {len(names) for names in found} == {5}
    assert len(found) >= 30
    given = Counter((case.series, case.arguments) for case in twenty_fourth_cases.cases() if case.series)
    assert set(given.values()) == {5}


def test_at_most_a_third_of_the_launches_are_streams():
    cases = twenty_fourth_cases.cases()
    assert 3 * sum(case.category in twenty_fourth_cases.DRAM for case in cases) <= len(cases)


def test_every_kernel_has_launches_whose_stalls_are_recorded():
    kernels = [case.kernel for case in twenty_fourth_cases.profiled()]
    assert set(kernels) == {case.kernel for case in twenty_fourth_cases.cases()}
    assert len(kernels) >= 90
