"""The kernels of the twenty-second set compute what they say.

The emulator finds no fault in a small launch of each. Of a template one instance runs.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest

from tests.hardware import twenty_second_cases
from tests.hardware.in_python import by_thread, from_bf16, in_halves, rows_of
from tests.hardware.launch_sets import by_series
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.twenty_second_cases import FROZEN, PRODUCT, WORD, Given, symbols
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("runoff_rounds", "piped_signals", "cheapest_pairings", "next_job_sums", "polar_decoded", "window_patterns")
small = SmallLaunches(twenty_second_cases, SAMPLE)


def stirred(x):
    """The kernels' mixed words, of a whole number or of an array of them: uint64."""
    x = np.asarray(x).astype("i8").astype("u8") % WORD
    x = (x ^ x >> 16) * 0x21F0AAAD % WORD
    x = (x ^ x >> 15) * 0xD35A2D97 % WORD
    return x ^ x >> 15


class Luck:
    """The kernels' random numbers of a thread."""

    def __init__(self, thread, seed):
        self.at = int(stirred((thread + int(seed) * 0x9E3779B9) % WORD))

    def word(self):
        self.at = (self.at + 0x9E3779B9) % WORD
        return int(stirred(self.at))

    def below(self, limit):
        return self.word() * int(limit) >> 32

    def part(self):
        return ((self.word() >> 9) + 0.5) / 2**23


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in twenty_second_cases.cases()}


# A problem per block.
@small("runoff_rounds", 3, 64, Given("votes", "u4", 3 * 90, 1), zeros(3, "i4"), i(90))
def _(votes, out, voters):
    found = []
    for ballots in votes.reshape(-1, voters).tolist():
        orders = [[b >> 3 * j & 7 for j in range(8)] for b in ballots]
        standing, rounds = set(range(8)), 0
        while True:
            rounds += 1
            firsts = [next(c for c in order if c in standing) for order in orders]
            winner = max(standing, key=lambda c: (firsts.count(c), -c))
            if 2 * firsts.count(winner) > voters:
                break
            standing.remove(min(standing, key=lambda c: (firsts.count(c), c)))
        found.append(16 * winner + rounds)
    return found


@small("suffix_ranks", 2, 32, numbers(2 * 70, 3, "u1"), zeros(140, "i4"), i(70), smem=560)
def _(texts, out, n):
    found = []
    for text in texts.reshape(-1, n):
        ends = sorted(range(n), key=lambda j: text[j:].tobytes())
        found += [*np.argsort(ends)]
    return found


@small("held_karp_tours", 2, 64, numbers(2 * 36, 900), zeros(2, "i4"), i(6), smem=4 * 5 << 5)
def _(roads, out, cities):
    found = []
    for road in roads.reshape(-1, cities, cities):
        tours = ((5, *order, 5) for order in permutations(range(5)))
        found.append(min(sum(road[a, b] for a, b in pairwise(tour)) for tour in tours))
    return found


@small("sheet_cuts", 2, 32, numbers(2 * 12, 1_000), zeros(2, "i4"), i(13), i(9), i(4), smem=4 * 13 * 9)
def _(pieces, out, width, height, kinds):
    found = []
    for own in pieces.reshape(2, kinds, 3).tolist():
        price = {}
        for w, h, value in own:
            size = w % width + 1, h % height + 1
            price[size] = max(price.get(size, 0), value)

        @cache
        def worth(w, h, price=price):
            best = price.get((w, h), 0)
            best = max([best, *(worth(x, h) + worth(w - x, h) for x in range(1, w))])
            return max([best, *(worth(w, y) + worth(w, h - y) for y in range(1, h))])

        found.append(worth(int(width), int(height)))
    return found


@small("seamless_pastes", 2, 64, unit(2 * 144), unit(2 * 144, high=2), zeros(288), i(12), i(5), smem=8 * 144, output=2,
       tolerance=1e-5)  # fmt: skip
def _(patches, pictures, out, side, turns):
    p, x = (a.reshape(-1, side, side).astype("f8") for a in (patches, pictures))

    def near(a):
        return a[:, :-2, 1:-1] + a[:, 2:, 1:-1] + a[:, 1:-1, :-2] + a[:, 1:-1, 2:]

    for _ in range(turns):
        x = x.copy()
        x[:, 1:-1, 1:-1] = (near(x) + 4 * p[:, 1:-1, 1:-1] - near(p)) / 4
    return x.ravel()


@small("sprite_depths", 2, 64, numbers(2 * 40, WORD, "u4"), zeros(2_048, "u4"), i(40))
def _(sprites, out, count):
    y, x = np.mgrid[:32, :32]
    found = np.full((2, 32, 32), WORD - 1)
    for tile, own in zip(found, sprites.reshape(2, count).tolist(), strict=True):
        for k, s in enumerate(own):
            inside = (x - s % 32) ** 2 + (y - (s >> 5) % 32) ** 2 <= (1 + (s >> 10) % 4) ** 2
            tile[inside] = np.minimum(tile[inside], s >> 16 << 16 | k)
    return found.ravel()


@small("shadow_profiles", 4, 64, unit(17**2), zeros(4 * 34), i(17), smem=136, tolerance=1e-4)
def _(slice_, out, side):
    y, x = np.mgrid[:side, :side] - side / 2
    found = np.zeros((4, 2 * side))
    for angle, bins in enumerate(found):
        at = x * math.cos(math.pi * angle / 4) + y * math.sin(math.pi * angle / 4) + side
        place = at.astype(int)
        np.add.at(bins, place, (1 - at + place) * slice_.reshape(side, side))
        np.add.at(bins, place + 1, (at - place) * slice_.reshape(side, side))
    return found.ravel()


@small("korobov_integrals", 3, 64, unit(18), zeros(3), i(101), u(40), tolerance=1e-4)
def _(weights, out, points, step):
    at = np.array([[k * pow(int(step), d, int(points)) % points for d in range(6)] for k in range(points)])
    own = weights.reshape(3, 1, 6).astype("f8")
    return (1 + own * np.sin(2 * np.pi * at / points) + 0.1 * own).prod(axis=2).mean(axis=1)


@small("piped_signals", 2, 128, zeros(128), i(7), f(0.11), output=0, tolerance=1e-4)
def _(out, rounds, pitch):
    found = []
    for block in range(2):
        phase = float(pitch) * (1 + np.arange(64) % 7 + block)
        low = energy = 0
        for _ in range(rounds):
            sample = np.sin(phase) + 0.3 * np.cos(2 * phase)
            phase = np.where(phase < 3, phase + float(pitch), phase - 3)
            low = low + 0.2 * (sample - np.roll(sample, 1) - low)
            energy = energy + low**2
        found += [*energy]
    return found


@small("long_rods", 8, 32, unit(8 * 20), zeros(160), i(20), i(7), f(0.2), smem=160, tolerance=1e-5)
def _(rods, out, part, steps, r):
    x = rods.reshape(2, 4 * part).astype("f8")
    for _ in range(steps):
        p = np.pad(x, ((0, 0), (1, 1)), "edge")
        x = x + float(r) * (p[:, :-2] - 2 * x + p[:, 2:])
    return x.ravel()


@small("shared_ages", 8, 64, numbers(8 * 70, WORD, "u4"), zeros(2_048, "u4"), i(70))
def _(people, out, each):
    return np.concatenate([np.bincount(town % 1_024, minlength=1_024) for town in people.reshape(2, 4 * each)])


# A problem per warp.
@small("first_fit_vans", 2, 64, numbers(3 * 70, 900, "u2"), zeros(6, "i4"), i(3), i(70))
def _(parcels, out, n, count):
    found = []
    for own in parcels.reshape(n, count).tolist():
        vans = [1_000] * 64
        for size in own:
            vans[next(j for j in range(64) if vans[j] >= size)] -= size
        used = [left for left in vans if left < 1_000]
        found += [len(used), sum(used)]
    return found


@small("cheapest_pairings", 1, 96, numbers(3 * 49, 1_000), zeros(3, "i4"), i(3), i(7))
def _(prices, out, n, size):
    squares = prices.reshape(n, size, size)
    return [min(own[range(size), order].sum() for order in map(list, permutations(range(size)))) for own in squares]


@small("growth_fractions", 2, 64, normal(3 * 90), zeros(3), i(3), i(90), i(12), tolerance=2e-3)
def _(moves, out, n, days, turns):
    returns = 0.01 * moves.reshape(n, days).astype("f8") + 0.0004
    shares = np.linspace(0, 15, 30_001)
    return [shares[sum(np.log1p(shares * r) for r in own).argmax()] for own in returns]


@small("mobius_prefixes", 2, 64, numbers(3 * 64, WORD, "u4"), zeros(192, "u4"), i(3), i(64))
def _(maps, out, n, count):
    found = []
    for row in maps.reshape(n, count).tolist():
        product = np.eye(2, dtype=int)
        for m in row:
            product = product @ [[m % 256, (m >> 8) % 256], [(m >> 16) % 256, m >> 24]] % 65_521
            found.append(int(product[0, 0]) << 16 | int(product[1, 1]))
    return found


@small("cut_hyperedges", 20, 64, *lists(40, 9), numbers(40, 32, "u1"), zeros(40, "i4"), i(40), output=3)
def _(starts, members, parts, out, n):
    return [len({parts[m] for m in row}) for row in rows_of(starts, members)]


@small("four_cliques", 5, 64, Given("friends", "u4", 96 * 3, 2), numbers(2 * 9, 96), zeros(9, "i4"), i(9), i(3),
       output=2)  # fmt: skip
def _(rows, edges, out, n, words):
    knows = np.unpackbits(rows.view("u1"), bitorder="little").reshape(96, 96).astype(int)
    assert (knows == knows.T).all()
    commons = [knows[a] * knows[b] for a, b in edges.reshape(n, 2)]
    return [common @ knows @ common for common in commons]


@small("daubechies_rows", 2, 64, normal(3 * 256), zeros(768), i(3), smem=4_096, tolerance=1e-4)
def _(rows, out, n):
    root = math.sqrt(3)
    low = np.array([1 + root, 3 + root, 3 - root, 1 - root]) / (4 * math.sqrt(2))
    high = low[::-1] * [1, -1, 1, -1]
    found = []
    for row in rows.reshape(n, 256).astype("f8"):
        own, parts = row, []
        while len(own) > 8:
            fours = np.stack([np.roll(own, -j)[::2] for j in range(4)], axis=1)
            parts.insert(0, fours @ high)
            own = fours @ low
        found += [*own, *np.concatenate(parts)]
    return found


# Atomics.
@small("next_job_sums", 3, 64, *lists(40, 9), zeros(40, "u4"), zeros(2, "u4"), i(40), output=(2, 3))
def _(starts, members, out, counters, jobs):
    rows = rows_of(starts, members)
    return [int(stirred(np.array(row) ^ job).sum()) % WORD if row else 0 for job, row in enumerate(rows)], [0, 0]


@small("circle_votes", 2, 64, numbers(100, WORD, "u4"), zeros(30 * 20, "u4"), i(100), i(30), i(20), i(3), i(9))
def _(points, votes, n, width, height, least, most):
    turns = [a * math.pi / 8 for a in range(16)]
    table = np.array([(math.cos(a), math.sin(a)) for a in turns])
    table = np.round(64 * table).astype(int)
    found = np.zeros((height, width), int)
    for p in points.tolist():
        for r in range(least, most + 1):
            x, y = ([p % 4_096 % width, (p >> 12) % 4_096 % height] + (r * table[(p >> 24) % 16] + 32 >> 6)).tolist()
            if 0 <= x < width and 0 <= y < height:
                found[y, x] += 1
    return found.ravel()


@small("ledger_postings", 2, 64, numbers(400, WORD, "u4"), zeros(20, "u8"), zeros(20, "u4"), i(200), u(20),
       output=(1, 2))  # fmt: skip
def _(postings, accounts, uses, n, count):
    money, used = [0] * 20, [0] * 20
    for x, y in postings.reshape(n, 2).tolist():
        cents = 1 + (x ^ y) % 100_000
        money[(x * x >> 32) * 20 >> 32] -= cents
        money[y * 20 >> 32] += cents
        used[y * 20 >> 32] += 1
    return np.array([m % (1 << 64) for m in money], "u8"), used


@small("binned_sums", 2, 64, normal(4 * 300), zeros(1, "u8"), i(300))
def _(values, total, n):
    return np.array([sum(round(float(x) * 2**32) for x in values) % (1 << 64)], "u8")


# Physics, signals, finance.
@small("ikeda_orbits", 2, 32, unit(100), zeros(100), i(50), i(9), f(0.6), tolerance=1e-3)
def _(places, out, n, turns, gain):
    p = places.reshape(n, 2).astype("f8") @ [1, 1j]
    for _ in range(turns):
        p = 1 + float(gain) * p * np.exp(1j * (0.4 - 6 / (1 + abs(p) ** 2)))
    return np.stack([p.real, p.imag], axis=1).ravel()


@small("theis_drawdowns", 2, 32, unit(4 * 5), unit(100), zeros(50), i(50), i(5), output=2, tolerance=1e-3)
def _(wells, places, out, n, count):
    x, y, pumped, time = wells.reshape(count, 4).T.astype("f8")
    px, py = places.reshape(n, 2).T[:, :, None].astype("f8")
    at = ((px - x) ** 2 + (py - y) ** 2 + 1e-4) / (0.05 + time)
    assert at.max() > 1 > at.min()
    # The exponential integral as one of exp(-u / s) / s over s from 0 to 1, with s = exp(-t).
    steps = (np.arange(20_000) + 0.5) / 2_000
    return (pumped * np.exp(-at[..., None] * np.exp(steps)).sum(axis=-1) / 2_000).sum(axis=1)


@small("shock_pressures", 2, 32, unit(200), normal(50), zeros(50), i(50), output=2, tolerance=1e-3)
def _(gases, speeds, out, n):
    d, q = (0.1 + gases.reshape(n, 2, 2).astype("f8")).transpose(2, 1, 0)

    def value(p):
        shock = (p - q) * np.sqrt(2 / (2.4 * d) / (p + q / 6))
        rare = 5 * np.sqrt(1.4 * q / d) * ((p / q) ** (1 / 7) - 1)
        return np.where(p > q, shock, rare).sum(axis=0) + 0.5 * speeds

    low, high = np.full(n, 1e-4), np.full(n, 100.0)
    for _ in range(80):
        middle = np.sqrt(low * high)
        above = value(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


@small("pipe_frictions", 2, 32, unit(50), unit(51), zeros(50), i(50), i(20), output=2, tolerance=1e-4)
def _(flows, roughness, out, n, turns):
    flow, rough = flows.astype("f8"), roughness[:n].astype("f8")
    x = np.full(n, 7.0)
    for _ in range(60):
        x = -2 * np.log10(0.02 * rough / 3.7 + 2.51 * x / (4_000 + 96_000 * flow))
    return flow**2 / x**2


@small("josephson_steps", 2, 32, unit(50), zeros(50), i(50), i(30), f(0.3), tolerance=1e-3)
def _(currents, out, n, steps, damping):
    def slope(s):
        return np.stack([s[1], 2 * currents - np.sin(s[0]) - float(damping) * s[1]])

    s, dt = np.stack([np.full(n, 0.1), np.zeros(n)]), 0.005
    for _ in range(10 * steps):
        a = slope(s)
        b = slope(s + dt / 2 * a)
        c = slope(s + dt / 2 * b)
        s = s + dt / 6 * (a + 2 * b + 2 * c + slope(s + dt * c))
    return (s[0] - 0.1) / (steps * 0.05)


@small("held_gains", 2, 32, normal(50 * 9), zeros(450), i(50), i(9), tolerance=1e-4)
def _(signals, out, n, samples):
    gain, level, found = 0, 0.5, []
    for x in signals.reshape(samples, n).astype("f8"):
        y = x * 2.0**gain
        level = level + 0.1 * (abs(y) - level)
        gain = gain - 0.05 * np.log2(level + 1e-3)
        found += [*y]
    return found


@small("vocoder_phases", 2, 32, normal(100 * 6), zeros(300), i(50), i(6), tolerance=2e-3)
def _(bands, out, n, frames):
    b = bands.reshape(frames, n, 2).astype("f8") @ [1, 1j]
    hop = np.pi / 2 * (np.arange(n) % 64)
    before, total, found = np.zeros(n), np.zeros(n), []
    for frame in b:
        phase = np.angle(frame)
        moved = (phase - before - hop + np.pi) % (2 * np.pi) - np.pi
        before, total = phase, total + 2 * (hop + moved)
        found += [*abs(frame) * np.cos(total)]
    return found


@small("stable_draws", 2, 32, zeros(40), i(40), i(5), f(1.5), u(3), output=0, tolerance=2e-3)
def _(out, n, draws, alpha, seed):
    found = []
    for k in range(n):
        luck, total = Luck(k, seed), 0
        for _ in range(draws):
            v, w = math.pi * (0.98 * luck.part() - 0.49), -math.log(luck.part())
            x = math.sin(1.5 * v) / math.cos(v) ** (1 / 1.5) * (math.cos(-0.5 * v) / w) ** (-0.5 / 1.5)
            total += math.log(1 + min(abs(x), 100))
        found.append(total / draws)
    return found


@small("fermi_integrals", 2, 32, unit(40, "f8"), zeros(40, "f8"), i(40), i(200), tolerance=1e-6)
def _(potentials, out, n, points):
    t = (np.arange(20_000) + 0.5) * 6.5 / 20_000
    return (2 * t**2 / (1 + np.exp(t**2 - 4 * potentials[:, None]))).sum(axis=1) * 6.5 / 20_000


@small("ephemeris_series", 2, 32, Given("planets", "f8", 3 * 7, 2), unit(40, "f8"), zeros(40, "f8"), i(40), i(7),
       output=2, tolerance=1e-10)  # fmt: skip
def _(terms, days, out, n, count):
    size, phase, speed = terms.reshape(count, 3).T
    return (size * np.cos(phase + speed * 1_000 * days[:, None])).sum(axis=1)


@small("interval_polynomials", 2, 32, normal(5, "f8"), normal(40, "f8"), zeros(80, "f8"), i(40), i(5), ("f8", 1e-3),
       output=2, tolerance=1e-12)  # fmt: skip
def _(factors, middles, out, n, count, radius):
    found = []
    for middle in middles:
        ends, low, high = (middle - radius, middle + radius), 0.0, 0.0
        for factor in factors:
            products = [x * y for x in (low, high) for y in ends]
            low, high = min(products) + factor, max(products) + factor
        found += [low, high]
    return found


@small("voigt_spectra", 2, 32, unit(4 * 7), zeros(50), i(50), i(7), smem=112, tolerance=1e-4)
def _(lines, out, n, count):
    x, strength, a, b = lines.reshape(count, 4).T.astype("f8")
    x, a, b = 10 * (np.arange(n)[:, None] / n - x), 0.05 + a, 0.05 + b
    share = a / (a + b)
    return (strength * (share * a / (x**2 + a**2) + (1 - share) * np.exp(-((x / b) ** 2)))).sum(axis=1)


@small("levenberg_fits", 2, 32, Given("decays", "f4", 40 * 12, 12), zeros(80), i(40), i(12), i(15), tolerance=5e-3)
def _(measured, out, n, points, turns):
    times = 0.25 * np.arange(points)[:, None]
    rates = np.linspace(0.01, 5, 20_001)
    found = []
    for own in measured.reshape(points, n).T.astype("f8"):
        curves = np.exp(-rates * times)
        sizes = (own @ curves) / (curves**2).sum(axis=0)
        best = ((own[:, None] - sizes * curves) ** 2).sum(axis=0).argmin()
        found += [sizes[best], rates[best]]
    return found


@small("ice_flow_step", (2, 2), (16, 8), unit(20 * 13, high=3), unit(261, high=2), zeros(260), i(20), i(13), f(3.3),
       f(0.01), output=2, tolerance=1e-4)  # fmt: skip
def _(thickness, ground, out, width, height, power, dt):
    h, g = (a[:260].reshape(height, width).astype("f8") for a in (thickness, ground))
    change = np.zeros_like(h)
    for axis in (0, 1):
        a, b = ((slice(None),) * axis + (one,) for one in (slice(None, -1), slice(1, None)))
        slope = (h + g)[b] - (h + g)[a]
        flow = ((h[a] + h[b]) / 2) ** float(power) * slope * abs(slope)
        change[a] += flow
        change[b] -= flow
    return np.maximum(h + float(dt) * change, 0).ravel()


# Integers and codes.
@small("langford_pairings", 8, 512, zeros(4_000, "i4"), i(4_000), i(7), output=0)
def _(out, n, count):
    def fill(taken, number):
        if not number:
            return 1
        pairs = [(1 | 1 << number + 1) << p for p in range(2 * count - number - 1)]
        return sum(fill(taken | pair, number - 1) for pair in pairs if not taken & pair)

    found = []
    for k in range(n):
        taken, rest = 0, k
        for number in range(7, 2, -1):
            rest, place = divmod(rest, 13 - number)
            pair = (1 | 1 << number + 1) << place
            if taken & pair:
                break
            taken |= pair
        else:
            found.append(fill(taken, 2))
            continue
        found.append(0)
    assert sum(found) > 0
    return found


@small("postage_reaches", 2, 32, numbers(40, WORD, "u4"), zeros(40, "i4"), i(40), i(4))
def _(sheets, out, n, most):
    found = []
    for w in sheets.tolist():
        stamps = [1, 2 + w % 4]
        stamps.append(stamps[-1] + 1 + (w >> 2) % 8)
        stamps.append(stamps[-1] + 1 + (w >> 5) % 16)
        reached = {0}
        for _ in range(most):
            reached |= {a + b for a in reached for b in stamps}
        found.append(next(v for v in range(1, 1_000) if v not in reached))
    return found


@cache
def nim(bits, a, b):
    """The product of two heaps."""
    if bits == 1:
        return a & b
    half = bits // 2
    a1, a0, b1, b0 = a >> half, a % (1 << half), b >> half, b % (1 << half)
    top, low = nim(half, a1, b1), nim(half, a0, b0)
    return (nim(half, a1 ^ a0, b1 ^ b0) ^ low) << half | low ^ nim(half, top, 1 << half - 1)


def test_products_of_heaps_are_those_of_the_game():
    """By their definition: the least number that no smaller pair gives."""
    least = {}
    for a in range(16):
        for b in range(16):
            taken = {least[c, b] ^ least[a, d] ^ least[c, d] for c in range(a) for d in range(b)}
            least[a, b] = next(v for v in range(300) if v not in taken)
            assert nim(16, a, b) == least[a, b]


@small("nim_products<16>", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40), i(3))
def _(words, out, n, turns):
    found = []
    for w in words.tolist():
        x = (w >> 3) % 65_536
        for _ in range(turns):
            x = nim(16, x, (w | 2) % 65_536) ^ 1
        found.append(x)
    return found


@small("bits_compressed", 2, 32, Given("long words", "u8", 40), zeros(40, "u8"), i(40), i(3))
def _(words, out, n, turns):
    long, found = 1 << 64, []
    for x in words.tolist():
        mask = x * 0x9E3779B97F4A7C15 % long
        for _ in range(turns):
            y = sum((x >> j & 1) << (mask % (1 << j)).bit_count() for j in range(64) if mask >> j & 1)
            x ^= y * 0xD6E8FEB86659FD93 % long
            mask = (mask << 7 | mask >> 57) % long
        found.append(x)
    return np.array(found, "u8")


@small("folded_hashes", 2, 32, Given("long words", "u8", 40 * 5), zeros(40, "u8"), i(40), i(5))
def _(rows, out, n, words):
    found = []
    for row in by_thread(rows, n):
        h = 0x1D8E4E27C47D124F
        for word in row:
            product = (word ^ 0xE7037ED1A0B428DB) * (h ^ 0x8EBC6AF09C88C6E3)
            h = product >> 64 ^ product % (1 << 64)
        found.append(h)
    return np.array(found, "u8")


@small("blum_shub_bits", 2, 32, numbers(40, WORD, "u4"), zeros(40, "u4"), i(40), ("u8", PRODUCT))
def _(seeds, out, n, product):
    found = []
    for seed in seeds.tolist():
        x, bits = (seed | 3) % PRODUCT, 0
        for _ in range(32):
            x = pow(x, 2, PRODUCT)
            bits = bits << 1 | x & 1
        found.append(bits)
    return found


@small("cobs_frames", 2, 32, Given("sparse bytes", "u1", 40 * 21, 4), zeros(40 * 22, "u1"), i(40), i(21))
def _(frames, out, n, length):
    found = []
    for frame in frames.reshape(n, length):
        for part in frame.tobytes().split(b"\0"):
            found += [len(part) + 1, *part]
    return found


@small("branch_guesses", 2, 32, numbers(40 * 6, WORD, "u4"), zeros(40, "i4"), i(40), i(6))
def _(traces, out, n, words):
    found = []
    for trace in by_thread(traces, n):
        counters, history, wrong = [1] * 256, 0, 0
        for word in trace:
            for j in range(0, 32, 4):
                index, taken = (history ^ (word >> j) % 8 * 37) % 256, word >> j + 3 & 1
                wrong += (counters[index] > 1) != taken
                counters[index] = min(max(counters[index] + 2 * taken - 1, 0), 3)
                history = (history << 1 | taken) % WORD
        found.append(wrong)
    return found


@small("sankoff_costs", 2, 32, numbers(40 * 8, 4, "u1"), zeros(40, "i4"), i(40), i(8))
def _(bases, out, n, species):
    prices = np.array([[0, 4, 2, 5], [4, 0, 5, 2], [2, 5, 0, 4], [5, 2, 4, 0]])
    costs = np.where(bases.reshape(species, n, 1) == np.arange(4), 0, 100)
    while len(costs) > 1:
        moved = (costs[:, :, None] + prices).min(axis=3)
        costs = moved[::2] + moved[1::2]
    return costs[0].min(axis=1)


@small("polar_decoded", 2, 32, normal(32 * 40), zeros(40, "u4"), i(40), u(FROZEN))
def _(likely, out, n, frozen):
    def decode(own, known):
        """The bits that were sent, and the message in them."""
        if len(own) == 1:
            bit = int(own[0] < 0 and not known[0])
            return [bit], [bit]
        half = len(own) // 2
        a, b = own[:half], own[half:]
        first, message = decode(np.sign(a) * np.sign(b) * np.minimum(abs(a), abs(b)), known[:half])
        second, rest = decode(b + np.where(first, -a, a), known[half:])
        return [x ^ y for x, y in zip(first, second, strict=True)] + second, message + rest

    known = [FROZEN >> j & 1 for j in range(32)]
    messages = [decode(own, known)[1] for own in likely.reshape(32, n).T]
    return [sum(bit << j for j, bit in enumerate(message)) for message in messages]


@small("coalescent_trees", 2, 32, zeros(40), i(40), i(12), f(0.8), u(4), output=0, tolerance=1e-3)
def _(out, n, most, growth, seed):
    found = []
    for k in range(n):
        luck = Luck(k, seed)
        at = total = 0
        for lines in range(2 + luck.below(most), 1, -1):
            wait = -math.log(luck.part()) / math.comb(lines, 2)
            after = math.log(math.exp(0.8 * at) + 0.8 * wait) / 0.8
            total, at = total + lines * (after - at), after
        found.append(total)
    return found


@small("allele_drift", 2, 32, zeros(40, "i4"), i(40), i(8), i(20), u(5), output=0)
def _(out, n, carriers, most, seed):
    found = []
    for k in range(n):
        luck, count, age = Luck(k, seed), carriers // 2, 0
        while age < most and 0 < count < carriers:
            count = sum(luck.below(carriers) < count for _ in range(carriers))
            age += 1
        found.append(age)
    return found


@small("bandit_rewards", 2, 32, numbers(8, 100), zeros(40, "i4"), i(40), i(25), u(6))
def _(chances, out, n, pulls, seed):
    found = []
    for k in range(n):
        luck, won, tried, gain = Luck(k, seed), [1] * 8, [1] * 8, 0
        for _ in range(pulls):
            arm = luck.below(8)
            if luck.below(8):
                arm = max(range(8), key=lambda j: (won[j] / tried[j], -j))
            reward = luck.below(100) < chances[arm]
            won[arm] += reward
            tried[arm] += 1
            gain += reward
        found.append(gain)
    return found


@small("largest_rectangles", 2, 32, numbers(40 * 15, 9, "u1"), zeros(40, "i4"), i(40), i(15))
def _(heights, out, n, columns):
    parts = [(a, b) for a in range(columns) for b in range(a + 1, columns + 1)]
    return [max(min(own[a:b]) * (b - a) for a, b in parts) for own in by_thread(heights, n)]


@small("turtle_walks", 2, 32, numbers(40 * 30, 8, "u1"), zeros(160, "i4"), i(40), i(30), i(2))
def _(programs, out, n, length, turns):
    ways, found = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)], []
    for program in by_thread(programs, n):
        x = y = way = check = 0
        stack = []
        for command in program * int(turns):
            if command in (0, 3):
                for _ in range(1 if command == 0 else 5):
                    x, y = x + ways[way][0], y + ways[way][1]
                    check = (check * 31 + (x ^ y)) % WORD if command else check
            elif command in (1, 2):
                way = (way + (1 if command == 1 else 7)) % 8
            elif command == 4 and len(stack) < 8:
                stack.append((x, y, way))
            elif command == 5 and stack:
                x, y, way = stack.pop()
            elif command == 6:
                check = int(stirred(check ^ x * 4_099 % WORD ^ y % WORD))
            elif command == 7:
                way, x = way ^ 4, -x
        found += [x, y, way, check - WORD if check >= WORD // 2 else check]
    return found


@small("fare_zones", 2, 32, numbers(50, WORD, "u4"), zeros(50, "i4"), i(50))
def _(tickets, out, n):
    found = []
    for t in tickets.tolist():
        zones, age, hour, card = t % 8, (t >> 3) % 128, (t >> 10) % 32 % 24, (t >> 15) % 4
        fare = 240 + (110 * zones if zones < 3 else 220 + 90 * (zones - 2))
        fare = 0 if age < 6 else fare // 2 if age < 15 else fare * 7 // 10 if age > 64 and hour > 8 else fare
        fare += 100 if hour > 21 or hour < 5 else fare // 5 if hour in (7, 8, 16, 17) else 0
        fare = min(fare, 150) if card == 3 else fare - fare // 4 if card == 2 else fare
        found.append(fare - 25 * max(0, -(-(fare - 1_000) // 500)))
    return found


@small("two_square_ways", 2, 32, zeros(50, "i4"), i(50), u(300), output=0)
def _(out, n, limit):
    squares = [(a, a * a) for a in range(20)]
    return [sum(x + y == m for a, x in squares for b, y in squares if a <= b) for m in stirred(np.arange(n)) % 300]


@small("tile_word_scores", 2, 32, numbers(150, WORD, "u4"), zeros(150, "i4"), i(150))
def _(words, out, n):
    points = [*map(int, small.constants("tile_points"))]
    found = []
    for w in words.tolist():
        letters = [w >> 5 * j & 31 for j in (0, 1, 2, 2, 3, 4, 5)]
        found.append(sum(points[c] for c in letters) * (3 if w >> 30 == 3 else 1))
    return found


# Long code.
@small("harmonics_as_code<5>", 2, 32, unit(100), zeros(50), i(50), tolerance=1e-4)
def _(places, out, n):
    x, y = places.reshape(n, 2).T.astype("f8")
    z = 1.8 * x - 0.9
    found = np.zeros(n)
    for m in range(6):
        # Legendre's functions without their sign, over (2m - 1)!!
        row = [np.sqrt(1 - z * z) ** m]
        row.append((2 * m + 1) * z * row[0])
        for degree in range(m + 2, 6):
            row.append(((2 * degree - 1) * z * row[-1] - (degree + m - 1) * row[-2]) / (degree - m))
        for degree in range(m, 6):
            h = int(stirred(degree * 64 + m))
            a, b = (h % 256 - 127) / 128, ((h >> 8) % 256 - 127) / 128
            found += row[degree - m] * (a * np.cos(m * 2 * np.pi * y) + b * np.sin(m * 2 * np.pi * y))
    return found


# Pictures and gathers.
@small("superpixel_labels", (2, 2), (16, 8), unit(3 * 20 * 13), unit(5 * 20), zeros(260, "i4"), i(20), i(13), i(4),
       output=2)  # fmt: skip
def _(colours, centres, out, width, height, step):
    y, x = np.mgrid[:height, :width]
    j, ii = np.divmod(np.arange(20)[:, None, None], 5)
    dx, dy, *others = centres.reshape(5, 20, 1, 1).astype("f8")
    far = 0.01 * (((ii + dx) * step - x) ** 2 + ((j + dy) * step - y) ** 2)
    for own, other in zip(colours.reshape(3, height, width), others, strict=True):
        far = far + (other - own) ** 2
    near = (abs(j - y // step) < 2) & (abs(ii - x // step) < 2)
    return np.where(near, far, np.inf).argmin(axis=0).ravel()


@small("fast_corners", (2, 2), (16, 8), Given("grey steps", "u1", 28 * 15, 5), zeros(420, "u1"), i(28), i(15), i(8))
def _(picture, out, width, height, limit):
    p = picture.reshape(height, width).astype(int)
    ring = [(0, -3), (1, -3), (2, -2), (3, -1), (3, 0), (3, 1), (2, 2), (1, 3)]
    ring += [(-x, -y) for x, y in ring]
    found = np.zeros_like(p)
    for y in range(3, height - 3):
        for x in range(3, width - 3):
            for sign in (1, -1):
                on = [sign * (p[y + b, x + a] - p[y, x]) > limit for a, b in ring]
                # Without a point above or below that differs, there is no look at the ring.
                if any(all((on + on)[j : j + 9]) for j in range(16)):
                    found[y, x] = sum(on)
    assert 0 < (found > 0).sum() < found.size
    return found.ravel()


@small("barycentric_samples", 2, 32, numbers(6 * 20, 20), unit(80), numbers(50, 40, "u4"), unit(100), zeros(200), i(50),
       output=4, tolerance=1e-5)  # fmt: skip
def _(corners, colours, triangles, weights, out, n):
    a, b, c = colours.reshape(20, 4).astype("f8")[corners.reshape(40, 3)[triangles]].transpose(1, 0, 2)
    u_, v = weights.reshape(n, 2, 1).transpose(1, 0, 2).astype("f8")
    return (u_ * a + (1 - u_) * (v * b + (1 - v) * c)).ravel()


@small("routed_packets", 2, 32, Given("next hops", "u2", 30**2, 5), numbers(50, WORD, "u4"), zeros(50, "u4"), i(50),
       i(30), i(8), output=2)  # fmt: skip
def _(table, packets, out, n, routers, most):
    found = []
    for p in packets.tolist():
        goal, at, hops = (p >> 16) % routers, p % 65_536 % routers, 0
        while at != goal and hops < most:
            at, hops = int(table[at * routers + goal]), hops + 1
        found.append(at << 16 | hops)
    assert len({h % 65_536 for h in found}) > 4
    return found


@small("wavelet_ranks", 2, 32, Given("wavelet matrix", "u4", 8 * (300 // 32 + 1), 300), numbers(50, 300, "u4"),
       zeros(50, "i4"), i(50), i(300), i(4), output=2)  # fmt: skip
def _(matrix, places, out, n, length, levels):
    text = symbols(300, 4, np.random.default_rng(matrix.size + 300))
    return [np.sum(text[:place] == stirred(place) % 16) for place in places]


@small("turned_voxels<1>", (2, 2, 3), (32, 4), normal(40 * 3 * 37), zeros(40 * 3 * 37), i(40), i(3), i(37))
def _(volume, out, width, height, depth):
    return volume.reshape(depth, height, width).transpose(2, 1, 0).ravel()


@small("streamed_neighbours", 2, 64, unit(4 * 512), unit(4 * 90), zeros(90, "i4"), i(90), i(512), output=2)
def _(points, queries, out, n, count):
    p, q = points.reshape(count, 4).astype("f8"), queries.reshape(n, 1, 4).astype("f8")
    return (((p - q)[..., :3] ** 2).sum(axis=-1) + p[:, 3]).argmin(axis=1)


# Short floats and matrices.
@small("landmark_scores", 1, 64, numbers(32 * 64, 0x3F80, "u2"), numbers(24 * 64, 0x3F80, "u2"), zeros(32), i(32),
       i(24), output=2, tolerance=1e-4)  # fmt: skip
def _(rows, landmarks, out, n, count):
    a, b = from_bf16(rows).reshape(n, 64), from_bf16(landmarks).reshape(count, 64)
    return np.exp2(a @ b.T / 8).sum(axis=1)


@small("cosine_squares", 1, 64, Given("cosines", "u2", 256, 16), numbers(2 * 256, 0x3C00, "u2"), zeros(512), i(2),
       output=2, tolerance=2e-3)  # fmt: skip
def _(cosines, squares, out, n):
    d = in_halves(cosines).reshape(16, 16)
    np.testing.assert_allclose(d @ d.T, np.eye(16), atol=2e-3)
    return (d @ in_halves(squares).reshape(n, 16, 16) @ d.T).ravel()


@small("window_patterns", 1, 64, numbers(32 + 64 + 16, 127, "i1"), numbers(2 * 64, WORD, "u4"), zeros(32, "i4"), i(32),
       i(64), output=2)  # fmt: skip
def _(signal, patterns, out, n, length):
    windows = np.lib.stride_tricks.sliding_window_view(signal.astype(int), length)[:n]
    scores = windows @ patterns.view("i1").reshape(8, length).T.astype(int)
    return (8 * scores + np.arange(8)).max(axis=1)


@small("bent_guitars", 2, 32, normal(2 * 90, "f2"), zeros(180, "f2"), i(90), i(4), tolerance=5e-3)
def _(samples, out, n, stages):
    x = samples.astype("f8")
    for _ in range(stages):
        x = 1.5 * x / (1 + abs(1.5 * x))
    return x


@small("half_echoes", 2, 32, normal(2 * 50 * 7, "f2"), zeros(700, "f2"), i(50), i(7), tolerance=1e-2)
def _(samples, out, n, count):
    found = [np.zeros(2 * n), np.zeros(2 * n)]
    for x in samples.reshape(count, 2 * n).astype("f8"):
        found.append(0.5 * found[-1] - 0.3 * found[-2] + x)
    return np.concatenate(found[2:])


@small("bf16_curves", 2, 32, numbers(100, 0x3F80, "u2"), zeros(100, "u2"), i(50), i(5), tolerance=3e-2, seen=from_bf16)
def _(levels, out, n, turns):
    x = from_bf16(levels)
    for _ in range(turns):
        x = ((0.5 * x - 0.75) * x + 1) * x + 0.125
    return x


# First programs and streams.
@small("fuel_costs", 2, 32, unit(50), unit(51), unit(52), zeros(50), i(50), output=3, tolerance=1e-5)
def _(km, litres, price, out, n):
    return km.astype("f8") * litres[:50] / 100 * (1.2 + price[:50])


@small("stereo_sides", 2, 32, numbers(4 * 90, 30_000, "i2"), zeros(360, "i2"), i(90))
def _(samples, out, n):
    left, right = samples.reshape(-1, 2).T.astype(int)
    return np.stack([left + right >> 1, left - right], axis=1).ravel()


# END
@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in twenty_second_cases.cases() for a in case.arguments if isinstance(a, Given)}
    assert {a.kind for a in launched} == twenty_second_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []


def test_a_series_has_three_to_six_block_sizes():
    assert {len(names) for names in by_series(twenty_second_cases.cases()).values()} <= {3, 4, 5, 6}


def test_every_kernel_has_launches_whose_stalls_are_recorded():
    kernels = [case.kernel for case in twenty_second_cases.profiled()]
    assert set(kernels) == {case.kernel for case in twenty_second_cases.cases()}
    assert len(kernels) >= 100
