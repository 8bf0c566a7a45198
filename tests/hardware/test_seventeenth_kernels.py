"""The kernels of the seventeenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.hardware import seventeenth_cases
from tests.hardware.in_python import by_thread, turned
from tests.hardware.ninth_cases import unit
from tests.hardware.seventeenth_cases import Drawn
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("mu_law_codes", "otsu_levels", "two_stacks", "simon_blocks", "fitch_scores", "cash_flow_rates")
WORD = 1 << 32
small = SmallLaunches(seventeenth_cases)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in seventeenth_cases.cases()}


# Sound and pictures.
@small("mu_law_codes", 2, 64, Drawn("samples", "i2", 100, 9_000), zeros(100, "u1"), i(100))
def _(samples, out, n):
    found = []
    for v in samples.tolist():
        size = min(abs(v), 32_635) + 132
        exponent = size.bit_length() - 8
        found.append(255 - ((v < 0) * 128 + exponent * 16 + (size >> exponent + 3) % 16))
    return found


@small("lattice_voices", 2, 32, unit(8 * 50), zeros(50), i(50), i(45), f(1), tolerance=1e-3)
def _(reflections, out, n, steps, pulse):
    r = 0.8 * reflections.reshape(8, n).astype("f8") - 0.4
    back, loud = np.zeros((9, n)), 0
    for t in range(steps):
        ahead = np.full(n, 0.0 if t % 20 else 1.0)
        for j in reversed(range(8)):
            ahead = ahead - r[j] * back[j]
            back[j + 1] = back[j] + r[j] * ahead
        back[0] = ahead
        loud = loud + ahead**2
    return loud


@small("hampel_filter", 2, 64, numbers(100, 1_000), zeros(100, "i4"), i(100), i(3))
def _(readings, out, n, limit):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(readings, 3, "edge"), 7)
    median = np.median(windows, axis=1).astype(int)
    spread = np.median(abs(windows - median[:, None]), axis=1)
    return np.where(abs(readings - median) > limit * spread, median, readings)


@small("jpeg_pieces", (2, 2), 128, numbers(24 * 16, 256, "u1"), zeros(384), i(24), smem=1_024, tolerance=1e-2)
def _(picture, out, width):
    waves = np.cos(np.outer(np.arange(8), 2 * np.arange(8) + 1) * np.pi / 16) / 2
    waves[0] /= np.sqrt(2)
    pieces = picture.reshape(2, 8, 3, 8).swapaxes(1, 2) - 128.0
    return (waves @ pieces @ waves.T).swapaxes(1, 2).ravel()


@small("otsu_levels", 3, 64, numbers(3 * 200, 200, "u1"), zeros(3, "i4"), i(200))
def _(pictures, out, size):
    found = []
    for own in pictures.reshape(3, size).astype("f8"):
        parts = [(own[own <= t], own[own > t]) for t in range(255)]
        between = [a.size * b.size * (a.mean() - b.mean()) ** 2 if a.size and b.size else -1 for a, b in parts]
        found.append(np.argmax(np.round(between, 3)))
    return found


@small("sepia", (2, 2), (16, 8), numbers(3 * 20 * 12, 256, "u1"), zeros(720, "u1"), i(20), i(12), absolute=1)
def _(picture, out, width, height):
    mix = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    return np.minimum(picture.reshape(-1, 3) @ mix.T, 255).astype(int).ravel()


@small("kirsch_edges", (2, 2), (16, 8), numbers(20 * 12, 256, "u1"), zeros(240, "u2"), i(20), i(12))
def _(picture, out, width, height):
    p, found = picture.reshape(height, width).astype(int), np.zeros((height, width), int)
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    for y, x in np.ndindex(height - 2, width - 2):
        around = np.array([p[y + 1 + dy, x + 1 + dx] for dy, dx in ring])
        sums = [8 * np.roll(around, d)[:3].sum() - 3 * around.sum() for d in range(8)]
        found[y + 1, x + 1] = max(max(sums), 0) * 8 + np.argmax(sums)
    return found.ravel()


# Secrets.
@small("salsa20_blocks", 2, 32, numbers(8, WORD, "u4"), zeros(16 * 50, "u4"), i(50), i(20))
def _(key, out, n, rounds):
    key, found = key.tolist(), []
    for k in range(n):
        start = [0x61707865, *key[:4], 0x3320646E, 7, 9, k, 0, 0x79622D32, *key[4:], 0x6B206574]
        x = np.array(start, dtype=object).reshape(4, 4)
        for _ in range(rounds):
            for j in range(4):
                for step, by in enumerate((7, 9, 13, 18), 1):
                    at = (j + step) % 4, j
                    x[at] ^= turned((x[(j + step + 3) % 4, j] + x[(j + step + 2) % 4, j]) % WORD, by)
            x = x.T.copy()
        found += [(a + b) % WORD for a, b in zip(x.ravel(), start, strict=True)]
    return found


@small("simon_blocks", 2, 32, numbers(44, WORD, "u4"), numbers(100, WORD, "u4"), zeros(100, "u4"), i(50), i(44),
       output=2)  # fmt: skip
def _(keys, pairs, out, n, rounds):
    found = []
    for x, y in pairs.reshape(n, 2).tolist():
        for key in keys.tolist():
            x, y = y ^ (turned(x, 1) & turned(x, 8)) ^ turned(x, 2) ^ key, x
        found += [x, y]
    return found


def below_prime(words):
    """Numbers of four words of 64 bits, modulo 2^255 - 19."""
    whole = [int.from_bytes(row.tobytes(), "little") % (2**255 - 19) for row in words.reshape(-1, 4)]
    return np.array([[w >> 64 * j & 2**64 - 1 for j in range(4)] for w in whole], "u8").ravel()


@small("field_25519_squares", 2, 32, numbers(200, 1 << 62, "u8"), zeros(200, "u8"), i(50), i(5), seen=below_prime)
def _(numbers_, out, n, turns):
    prime, found = 2**255 - 19, []
    for row in numbers_.reshape(n, 4):
        w = pow(int.from_bytes(row.tobytes(), "little"), 2**5, prime)
        found += [w >> 64 * j & 2**64 - 1 for j in range(4)]
    return np.array(found, "u8")


@small("majority_streams", 2, 32, numbers(50, 1 << 63, "u8"), zeros(50, "u4"), i(50), i(2))
def _(keys, out, n, words):
    found = []
    for key in keys.tolist():
        state = [key % 2**19, (key >> 19) % 2**22, (key >> 41) % 2**23]
        size, taps, middle = (19, 22, 23), ((18, 17, 16, 13), (21, 20), (22, 21, 20, 7)), (8, 10, 10)
        hashed = 0
        for _ in range(words):
            bits = 0
            for _ in range(32):
                clock = [s >> m & 1 for s, m in zip(state, middle, strict=True)]
                for j in range(3):
                    if clock[j] == (sum(clock) > 1):
                        new = sum(state[j] >> t & 1 for t in taps[j]) % 2
                        state[j] = (state[j] << 1 | new) % 2 ** size[j]
                bits = bits << 1 | sum(s >> z - 1 & 1 for s, z in zip(state, size, strict=True)) % 2
            hashed = (hashed * 31 + bits) % WORD
        found.append(hashed)
    return found


# Texts and biology.
@small("ipv4_words", 2, 32, Drawn("addresses", "u1", 800, 5), zeros(50, "u4"), i(50))
def _(texts, out, n):
    found = []
    for row in texts.reshape(n, 16):
        parts = [int(p) for p in bytes(row).rstrip(b"\0").split(b".")]
        found.append(int.from_bytes(bytes(parts), "big") if max(parts) < 256 else 0)
    assert 0 in found
    return found


@small("two_stacks", 2, 32, Drawn("expressions", "u1", 50 * 30, 30), zeros(50, "u4"), i(50), i(30))
def _(texts, out, n, pitch):
    return [eval(bytes(row).rstrip(b"\0").decode()) % WORD for row in texts.reshape(n, pitch)]


@small("quality_trims", 2, 32, Drawn("qualities", "u1", 50 * 40, 40), zeros(50, "i4"), i(50), i(40), i(20))
def _(qualities, out, n, length, limit):
    found = []
    for own in qualities.reshape(n, length).astype(int):
        sums = np.cumsum(limit - own[::-1])
        sums = sums[: np.argmax(sums < 0)] if (sums < 0).any() else sums
        found.append(length - 1 - np.argmax(sums) if sums.size and sums.max() > 0 else length)
    return found


@small("fitch_scores", 2, 32, numbers(12 * 50, 4, "u1"), Drawn("joins", "u1", 22, 12), zeros(50, "u1"), i(50), i(12),
       output=2)  # fmt: skip
def _(leaves, joins, out, sites, count):
    found = []
    for row in by_thread(leaves, sites):
        sets, changes = [{v} for v in row], 0
        for a, b in joins.reshape(-1, 2).tolist():
            changes += not sets[a] & sets[b]
            sets[a] = sets[a] & sets[b] or sets[a] | sets[b]
        found.append(changes)
    return found


@small("melting_temperatures", 2, 32, numbers(50 * 20, 4, "u1"), zeros(50), i(50), i(20), tolerance=1e-3)
def _(letters, out, n, length):
    heats, disorders = (np.array(small.constants(name)) for name in ("heats", "disorders"))
    pairs = 4 * letters.reshape(length, n)[:-1] + letters.reshape(length, n)[1:]
    disorder = disorders[pairs].sum(axis=0) - 5.7 + 1.987 * np.log(1e-7)
    return 1000 * (heats[pairs].sum(axis=0) + 0.2) / disorder - 273.15


# Finance.
@small("drawdowns", 2, 32, unit(50 * 30), zeros(100), i(50), i(30), tolerance=1e-5)
def _(prices, out, n, days):
    prices, found = 1 + prices.reshape(days, n), []
    highs = np.maximum.accumulate(prices, axis=0)
    for price, high in zip(prices.T, highs.T, strict=True):
        since = longest = 0
        for p, h in zip(price, high, strict=True):
            since = since + 1 if p < h else 0
            longest = max(longest, since)
        found += [((high - price) / high).max(), longest]
    return found


@small("cash_flow_rates", 2, 32, unit(50 * 9, "f8"), zeros(50, "f8"), i(50), i(9), tolerance=1e-8)
def _(flows, out, n, years):
    found = []
    for row in by_thread(flows, n):
        low, high = -0.5, 5.0
        for _ in range(80):
            middle = (low + high) / 2
            value = sum((0.5 + v) / (1 + middle) ** (y + 1) for y, v in enumerate(row))
            low, high = (middle, high) if value > 0.4 * years else (low, middle)
        found.append(low)
    return found


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    launched = {a for case in seventeenth_cases.cases() for a in case.arguments if isinstance(a, Drawn)}
    assert {a.kind for a in launched} == seventeenth_cases.RECIPES.keys()
    assert [a for a in launched if a.size < 300_000 and a.make().shape != (a.size,)] == []
