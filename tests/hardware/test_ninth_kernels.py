"""The kernels of the ninth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import ninth_cases
from tests.hardware.eighth_cases import offsets
from tests.hardware.ninth_cases import NTT_PRIME, Made, halves, lists, mixed, normal, skewed, tree, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("fm_search", "lbm_d2q9", "radix_select_rows", "gemm_stages", "count_triangles", "register_vm")
small = SmallLaunches(ninth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in ninth_cases.cases()}


# Chains of loads.
@small("walk_nodes", 2, 64, Made("cycle", "i4", 400, 1 << 30), zeros(128, "i4"), i(20), i(100))
def _(nodes, out, steps, count):
    nodes, found = nodes.reshape(-1, 4).tolist(), []
    for thread in range(128):
        at, total = thread * 2654435761 % 2**32 % len(nodes), 0
        for _ in range(steps):
            following, a, b, c = nodes[at]
            total += (a & 255) - (b & 3 if total & 7 else c & 3)
            at = following
        found.append(total)
    return found


@small("fm_search", 2, 64, Made("letter counts", "i4", 4 * 11, 640), Made("letter planes", "u8", 22, 640),
       numbers(300, 4, "u1"), zeros(200, "i4"), i(100), i(3), i(640), output=3)  # fmt: skip
def _(counts, planes, queries, out, n, length, text):
    letters, found = ninth_cases.letters(text).ravel()[:text], []
    for query in queries.reshape(length, n).T[:, ::-1]:
        low, high = 0, text
        for letter in query:
            if low < high:
                low, high = ((letters < letter).sum() + (letters[:k] == letter).sum() for k in (low, high))
        found += [low, high]
    return found


@small("btree_lookup", 13, 128, tree(3, 100_000), numbers(100, 100_000), zeros(100, "i4"), i(100), i(3), output=2)
def _(keys, queries, out, n, levels):
    return np.searchsorted(keys[-(16**levels) :], queries, side="right") - 1


# Physics.
@small("little_systems<3>", 2, 32, unit(12 * 50), zeros(12 * 50), i(50), i(6), f(0.01), tolerance=1e-4)
def _(start, out, systems, steps, dt):
    bodies = start.reshape(3, systems, 4).astype("f8")
    at, mass, speed = bodies[..., :3].copy(), bodies[..., 3:], np.zeros((3, systems, 3))
    for _ in range(steps):
        for a in range(3):
            for b in range(3):
                way = at[b] - at[a]
                speed[a] += dt * mass[b] * way / ((way**2).sum(axis=1, keepdims=True) + 0.05) ** 1.5
        at += dt * speed
    return np.concatenate([at, mass], axis=2).ravel()


@small("lennard_jones_tiles<64>", 2, 64, unit(200, "f8", 9), zeros(200, "f8"), i(100), tolerance=1e-9)
def _(pos, force, n):
    way = pos.reshape(1, n, 2) - pos.reshape(n, 1, 2)
    inverse = 1 / ((way**2).sum(axis=2) + 0.5)
    return ((inverse**4 * (2 * inverse**3 - 1))[..., None] * way).sum(axis=1).ravel()


def _generated(seed):
    """The generator that the tables in constant memory are made with."""
    while True:
        seed = (seed * 1664525 + 1013904223) % 2**32
        yield seed


@small("coulomb_slab<4>", (2, 2), (8, 4), zeros(40 * 7), i(40), i(7), f(0.7), output=0, tolerance=1e-4)
def _(grid, width, height, spacing):
    values = _generated(12345)
    y, x = np.mgrid[:height, :width] * spacing
    total = np.zeros((height, width))
    for k in range(64):
        a, b, c = (next(values) >> 16 for _ in range(3))
        z = c % 80 * 0.1 + 0.5
        total += (1 if k % 2 else -0.75) / np.sqrt((x - a % 640 * 0.1) ** 2 + (y - b % 640 * 0.1) ** 2 + z * z)
    return total.ravel()


@small("lbm_d2q9", (2, 3), (16, 4), unit(9 * 20 * 10, high=2), zeros(9 * 20 * 10), i(20), i(10), f(0.8), tolerance=1e-4)
def _(cells, out, width, height, omega):
    ways = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    grids = cells.reshape(9, height, width).astype("f8")
    pulled = np.stack([np.roll(grid, (y, x), (0, 1)) for grid, (x, y) in zip(grids, ways, strict=True)])
    rho = pulled.sum(axis=0)
    speed = np.einsum("kyx,kd->dyx", pulled, np.array(ways)) / rho
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4).reshape(9, 1, 1)
    along = 3 * np.einsum("kd,dyx->kyx", np.array(ways), speed)
    calm = weights * rho * (1 + along + along**2 / 2 - 1.5 * (speed**2).sum(axis=0))
    return (pulled + omega * (calm - pulled)).ravel()


@small("sph_density", 2, 96, offsets(25, 7), Made("in cells", "f4", 350, 5), zeros(175), i(175), i(5), output=2,
       tolerance=1e-4)  # fmt: skip
def _(starts, pos, density, n, side):
    way = pos.reshape(1, n, 2).astype("f8") - pos.reshape(n, 1, 2)
    return 1.27324 * (np.maximum(1 - (way**2).sum(axis=2), 0) ** 3).sum(axis=1)


@small("pic_deposit", 2, 64, unit(400), zeros(81), i(200), i(9), tolerance=1e-4)
def _(particles, grid, n, side):
    place = particles.reshape(n, 2) * np.float32(side)
    cell = np.minimum(place.astype(int), side - 1)
    share, charge = place - cell, np.zeros((side, side))
    for dx in (0, 1):
        for dy in (0, 1):
            weight = abs(1 - dx - share[:, 0]) * abs(1 - dy - share[:, 1])
            np.add.at(charge, ((cell[:, 1] + dy) % side, (cell[:, 0] + dx) % side), weight)
    return charge.ravel()


@small("ising_sweep<1>", (2, 2), (8, 4), numbers(24 * 8, 2, "u1"), i(24), i(8), f(0.4), i(9), output=0)
def _(spins, width, height, beta, seed):
    grid = spins.reshape(height, width).astype(int)
    around = sum(np.roll(grid, *way) for way in ((1, 0), (-1, 0), (1, 1), (-1, 1)))
    places = np.arange(width * height, dtype="u4").reshape(height, width)
    luck = (mixed(places * np.uint32(2654435761) + np.uint32(seed)) >> np.uint32(8)) / 2**24
    turns = luck < np.exp(-beta * 2 * (2 * grid - 1) * (2 * around - 4))
    y, x = np.mgrid[:height, :width]
    return np.where(turns & ((x + y) % 2 == 1), 1 - grid, grid).ravel()


# Monte Carlo, special functions.
def _xorshift(state):
    for shift in (13, -17, 5):
        state = state ^ (state << np.uint32(shift) if shift > 0 else state >> np.uint32(-shift))
    return state


@small("asian_paths<64>", 2, 64, numbers(128, 1 << 31, "u4"), zeros(2), i(8), i(3), tolerance=2e-3)
def _(seeds, out, steps, paths):
    state, payoff = seeds | np.uint32(1), np.zeros(128)
    for _ in range(paths):
        price, total = np.full(128, 100.0), np.zeros(128)
        for _ in range(0, steps, 2):
            state = _xorshift(state)
            r = 0.02 * np.sqrt(-2 * np.log(((state >> np.uint32(8)) + 0.5) / 2**24))
            state = _xorshift(state)
            angle = 2 * np.pi * (state >> np.uint32(8)) / 2**24
            for part in (np.cos(angle), np.sin(angle)):
                price *= np.exp(0.0002 + r * part)
                total += price
        payoff += np.maximum(total / steps - 100, 0)
    return payoff.reshape(2, 64).mean(axis=1) / paths


@small("gumbel_rows", 2, 96, normal(5 * 70), zeros(5, "i4"), i(5), i(70), i(7))
def _(logits, picks, rows, cols, seed):
    hashes = mixed(np.arange(rows * cols, dtype="u4") ^ np.uint32(seed)) >> np.uint32(9)
    return (logits - np.log(-np.log((hashes + 0.5) / 2**23))).reshape(rows, cols).argmax(axis=1)


@small("implied_vol", 2, 64, unit(100), unit(101), zeros(100), i(100), output=2, tolerance=2e-3)
def _(places, vols, out, n):
    return 0.1 + 0.4 * vols[:n]


@small("srgb_encode", 2, 32, unit(4 * 50), zeros(200, "u1"), i(50), absolute=0.51)
def _(linear, out, n):
    colour = linear.reshape(n, 4).astype("f8")
    curve = np.where(colour <= 0.0031308, 12.92 * colour, 1.055 * colour ** (1 / 2.4) - 0.055)
    return 255 * np.append(curve[:, :3], colour[:, 3:], axis=1).ravel()


# Double, half, bfloat16 and bytes.
@small("compensated_dot", 2, 64, normal(1_000, "f8"), normal(1_000, "f8", 2), zeros(8, "f8"), i(1_000), output=2,
       tolerance=1e-14, seen=lambda pairs: pairs.reshape(-1, 2).sum(axis=1))  # fmt: skip
def _(a, b, out, n):
    products = np.zeros((8, 4, 32), "longdouble")
    products.ravel()[:n] = a.astype("longdouble") * b
    return products.sum(axis=(0, 2))


@small("add_layer_norm_half<64, 1>", 2, 64, halves(512), halves(512, 2), halves(256),
       zeros(512, "u4"), output=3, tolerance=4e-3, seen=lambda y: y.view("f2"))  # fmt: skip
def _(x, residual, gamma, y):
    rows = (x.view("f2") + residual.view("f2")).reshape(2, 512).astype("f8")
    rows -= rows.mean(axis=1, keepdims=True)
    return (rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-5) * gamma.view("f2")).ravel()


@small("paged_decode<64, 2>", (2, 2), 64, normal(256, "f2"), normal(6 * 2 * 16 * 64, "f2"),
       unit(6 * 2 * 16 * 64, "f2"), numbers(6, 6), zeros(256), i(40), i(3), output=4, tolerance=1e-3)  # fmt: skip
def _(q, keys, values, table, out, tokens, each):
    pages, found = table.reshape(2, each), []
    keys, values = (x.reshape(6, 2, 16, 64).astype("f8") for x in (keys, values))
    for (sequence, head), query in zip(np.ndindex(2, 2), q.reshape(4, 64), strict=True):
        k, v = (x[pages[sequence], head].reshape(-1, 64)[:tokens] for x in (keys, values))
        weights = np.exp(k @ query / 8)
        found.append(weights @ v / weights.sum())
    return np.ravel(found)


@small("int4_gemv", 2, 96, numbers(5 * 40, 1 << 32, "u4"), unit(5 * 5, "f2"), normal(320, "f2"), zeros(5), i(5), i(40),
       output=3, tolerance=1e-3)  # fmt: skip
def _(weights, scales, x, y, rows, words):
    parts = np.zeros((rows, words, 2), "f2")
    for j in range(4):
        pair = np.stack([weights >> np.uint32(4 * j), weights >> np.uint32(4 * j + 16)], axis=1) & np.uint32(15)
        products = (pair.reshape(rows, words, 2) - 8.0) * x.reshape(words, 4, 2)[:, j]
        parts = (parts + products).astype("f2")
    return (parts.sum(axis=2, dtype="f8") * np.repeat(scales.reshape(rows, -1), 8, axis=1)).sum(axis=1)


@small("swiglu_half", (1, 3), 64, normal(3 * 2 * 80, "f2"), zeros(240, "f2"), i(40), tolerance=2e-3)
def _(x, out, pairs):
    gate, up = x.reshape(3, 2, 2 * pairs).astype("f8").transpose(1, 0, 2)
    return (gate / (1 + np.exp(-gate)) * up).ravel()


@small("ema_bf16", 2, 32, Made("bf16", "u2", 200, 1), Made("bf16", "u2", 200, 2), i(100), output=0)
def _(average, fresh, n):
    a, b = ((x.astype("u4") << np.uint32(16)).view("f4") for x in (average, fresh))
    bits = (np.float32(0.75) * a + np.float32(0.25) * b).view("u4")
    return (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)


@small("quantise_rows<64>", 2, 64, normal(2 * 280), zeros(560, "i1"), zeros(2), i(70), output=(1, 2), tolerance=1e-6)
def _(x, q, scales, packs):
    rows = x.reshape(2, 4 * packs)
    top = abs(rows).max(axis=1, keepdims=True)
    return np.rint(rows * (np.float32(127) / top)).ravel(), top.ravel() / 127


@small("pcm_mix", 2, 32, numbers(200, 1 << 16, "i2"), numbers(200, 60_000, "i2"), zeros(200, "i2"), i(100), f(0.8),
       output=2)  # fmt: skip
def _(a, b, out, n, gain):
    return np.rint(np.clip(gain * (a.astype("f4") + b), -32768, 32767))


# Integers.
@small("sha256_words", 2, 32, numbers(8 * 50, 1 << 32, "u4"), zeros(50, "u4"), i(50))
def _(messages, out, n):
    rows = messages.reshape(8, n).T.astype(">u4")
    return [int.from_bytes(hashlib.sha256(row.tobytes()).digest()[:4], "big") for row in rows]


@small("blake2s_words<1>", 2, 32, numbers(16 * 50, 1 << 32, "u4"), zeros(50, "u4"), i(50))
def _(messages, out, n):
    rows = messages.reshape(16, n).T
    return [int.from_bytes(hashlib.blake2s(row.tobytes()).digest()[:4], "little") for row in rows]


@small("wide_multiply<8>", 2, 32, numbers(8 * 40, 1 << 32, "u4"), numbers(8 * 40, (1 << 32) - 1, "u4"),
       zeros(320, "u4"), i(40), i(3), output=2)  # fmt: skip
def _(a, b, out, n, rounds):
    found = []
    for x, y in zip(a.reshape(8, n).T, b.reshape(8, n).T, strict=True):
        x, y = (int.from_bytes(number.tobytes(), "little") for number in (x, y))
        for _ in range(rounds):
            x = x * y % 2**256 ^ x * y >> 256
        found.append(np.frombuffer(x.to_bytes(32, "little"), "u4"))
    return np.array(found).T.ravel()


@small("ntt_shared<6>", 2, 32, numbers(128, NTT_PRIME, "u4"), Made("roots", "u4", 32), zeros(128, "u4"), output=2)
def _(x, roots, out):
    powers = np.array([[pow(int(roots[1]), j * k, NTT_PRIME) for k in range(64)] for j in range(64)], object)
    return (x.reshape(2, 64).astype(object) @ powers % NTT_PRIME).astype("u4").ravel()


@small("sieve_bits", 2, 128, Made("odd primes", "i4", 80, 420), zeros(2, "i4"), i(80))
def _(primes, counts, count):
    odd = np.arange(1, 2 * 65_536, 2)
    prime = np.ones(odd.size, bool)
    for p in primes:
        prime &= (odd % p != 0) | (odd == p)
    return prime.reshape(2, -1).sum(axis=1)


# Bytes and strings.
@small("base64_encode", 2, 64, numbers(300, 1 << 32, "u4"), zeros(400, "u4"), i(100))
def _(x, out, n):
    return np.frombuffer(base64.b64encode(x.tobytes()), "u4")


@small("count_separators", 2, 32, numbers(400, 1 << 32, "u4"), zeros(2, "i4"), i(100))
def _(text, found, n):
    return [(text.view("u1") == letter).sum() for letter in b"\n,"]


@small("dfa_lines", 2, 64, offsets(100, 7), numbers(700, 256, "u1"), numbers(512, 16, "u1"), zeros(100, "u1"), i(100),
       output=3)  # fmt: skip
def _(starts, text, moves, last, lines):
    found = []
    for begin, end in pairwise(starts):
        state = 0
        for letter in text[begin:end]:
            state = int(moves[state * 32 + int(letter) % 32])
            if state == 15:
                break
        found.append(state)
    return found


@small("varint_sums", 1, 64, numbers(1_000, 256, "u1"), zeros(50, "u8"), i(50), i(20))
def _(stream, sums, chunks, length):
    found = []
    for chunk in stream.reshape(chunks, length).tolist():
        total = value = shift = 0
        for k, byte in enumerate(chunk):
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 35 or k == length - 1:
                total, value, shift = total + value, 0, 0
        found.append(total)
    return found


@small("kmer_counts<5>", 2, 32, numbers(900, 4, "u1"), zeros(64, "u4"), i(900), i(16), u(63))
def _(strand, table, n, each, mask):
    words = np.lib.stride_tricks.sliding_window_view(strand.astype("u4"), 5)
    place = 4 ** np.arange(5)[::-1]
    least = np.minimum(words @ place, (3 - words)[:, ::-1] @ place)
    return np.bincount(mixed(least) & mask, minlength=64)


# Long or mixed code.
@small("fft16_batch", 2, 32, normal(32 * 50), zeros(32 * 50), i(50), tolerance=1e-4)
def _(x, out, n):
    return np.fft.fft(x.view("c8").reshape(16, n), axis=0).astype("c8").view("f4").ravel()


@small("kernels_by_kind<5>", 2, 64, numbers(10, 5, "u1"), unit(320), zeros(320), i(10), output=2, tolerance=1e-5)
def _(kinds, x, out, jobs):
    x, kind = x.astype("f8"), np.repeat(kinds.astype("f8"), 32)
    total = x
    for k in range(40):
        total = total * (0.4 * x + kind * 0.001) + 1 / (k + kind + 1)
    return total


@small("solve_in_registers<4>", 2, 32, unit(16 * 50), unit(200, high=3), zeros(200), i(50), output=2, tolerance=1e-4)
def _(matrices, right, x, n):
    a = matrices.reshape(4, 4, n).transpose(2, 0, 1) + 4 * np.eye(4)
    return np.linalg.solve(a, right.reshape(4, n).T[..., None])[..., 0].T.ravel()


@small("register_vm", 2, 32, numbers(40, 1 << 12, "u4"), numbers(50, 1 << 32, "u4"), zeros(50, "u4"), i(40), i(50),
       output=2)  # fmt: skip
def _(program, x, out, length, n):
    r = [x + np.uint32(k * 0x9E3779B9 % 2**32) for k in range(8)]
    for code in program.tolist():
        a, b = r[code >> 3 & 7], r[code >> 6 & 7]
        shift = b & np.uint32(31)
        results = (
            a + b, a - b, a * b + np.uint32(1), a ^ b, np.minimum(a, b), a << shift, a >> shift,
            np.where(a & np.uint32(1), b, ~a),
        )  # fmt: skip
        r[code >> 9 & 7] = results[code & 7]
    return r[0] ^ r[3] ^ r[5]


# Shared memory.
@small("thread_bins", 2, 64, numbers(2 * 5 * 64, 1 << 32, "u4"), zeros(128, "u4"), i(5))
def _(data, partial, words):
    return np.ravel([np.bincount(block >> 2, minlength=64) for block in data.view("u1").reshape(2, -1)])


@small("scan_gems<64, true>", 2, 64, numbers(256, 99), zeros(256, "i4"))
def _(x, out):
    return (x.reshape(2, 128).cumsum(axis=1) - x.reshape(2, 128)).ravel()


@small("transpose_bytes<true>", (2, 1), (16, 16), numbers(2_048, 1 << 32, "u4"), zeros(2_048, "u4"), i(128), i(64))
def _(x, out, width, height):
    return x.view("u1").reshape(height, width).T.ravel().view("u4")


@small("lookup_in_table", 2, 64, unit(50), unit(200), zeros(200), i(200), i(50), smem=200, output=2, tolerance=1e-4)
def _(table, x, y, n, entries):
    return np.interp(x.astype("f8") * (entries - 1), np.arange(entries), table)


@small("jpeg_dct", 1, 256, numbers(160, 1 << 32, "u4"), zeros(640, "i2"), i(40), i(10), absolute=0.51)
def _(image, out, width, squares):
    n = np.arange(8)
    waves = np.cos((2 * n + 1) * n[:, None] * np.pi / 16) * np.where(n, 0.5, 0.5**1.5)[:, None]
    tiles = image.view("u1").reshape(2, 8, 5, 8).transpose(0, 2, 1, 3).reshape(10, 8, 8) - 128.0
    steps = np.array([16, 11, 12, 18, 24, 40, 51, 61])
    return (waves @ tiles @ waves.T / (steps + steps[:, None])).ravel()


# Barriers, diagonals, sorts.
@small("batched_cholesky<8>", 2, (8, 8), unit(128), zeros(128), tolerance=1e-4)
def _(x, out):
    low = np.tril(x.reshape(2, 8, 8).astype("f8"))
    return np.linalg.cholesky(low + np.tril(low, -1).transpose(0, 2, 1) + 32 * np.eye(8)).ravel()


@small("sandpile_tiles", 2, (32, 32), numbers(2_048, 5), zeros(2_048, "i4"))
def _(grains, out):
    piles = grains.reshape(2, 32, 32)
    while (piles > 3).any():
        falls = np.pad(piles // 4, ((0, 0), (1, 1), (1, 1)))
        piles = piles % 4 + falls[:, 2:, 1:-1] + falls[:, :-2, 1:-1] + falls[:, 1:-1, 2:] + falls[:, 1:-1, :-2]
    return piles.ravel()


@small("dtw_pairs", 2, 32, unit(64), unit(64, high=2), zeros(2), smem=4 * 131, output=2, tolerance=1e-4)
def _(a, b, out):
    found = []
    for x, y in zip(a.reshape(2, 32), b.reshape(2, 32), strict=True):
        cost = np.full((33, 33), np.inf)
        cost[0, 0] = 0
        for j, k in np.ndindex(32, 32):
            cost[j + 1, k + 1] = abs(x[j] - y[k]) + min(cost[j, k], cost[j, k + 1], cost[j + 1, k])
        found.append(cost[32, 32])
    return found


@small("smith_waterman", 2, 64, numbers(32 * 3, 4, "u1"), numbers(3 * 50, 4, "u1"), zeros(3, "i4"), i(3), i(50),
       output=2)  # fmt: skip
def _(queries, texts, scores, pairs, length):
    found = []
    for query, text in zip(queries.reshape(pairs, 32), texts.reshape(pairs, length), strict=True):
        h = np.zeros((33, length + 1), int)
        for j, k in np.ndindex(32, length):
            same = 3 if query[j] == text[k] else -2
            h[j + 1, k + 1] = max(0, h[j, k] + same, h[j, k + 1] - 4, h[j + 1, k] - 4)
        found.append(h.max())
    return found


@small("radix_sort_tiles<64, 4>", 2, 64, numbers(512, 1 << 8, "u4"), zeros(512, "u4"), i(8))
def _(x, out, bits):
    return np.sort(x.reshape(2, 256)).ravel()


@small("radix_select_rows", 3, 64, numbers(300, 1 << 32, "u4"), zeros(3, "u4"), i(100), i(7))
def _(x, out, cols, k):
    return np.sort(x.reshape(3, cols))[:, -k]


# Scans and merging.
@small("scan_tiles<64, 8>", 2, 64, numbers(1_024, 9), zeros(1_024, "i4"), zeros(2, "i4"), output=(1, 2))
def _(x, out, totals):
    tiles = x.reshape(2, 512)
    return (tiles.cumsum(axis=1) - tiles).ravel(), tiles.sum(axis=1)


@small("segmented_sums", 2, 64, numbers(4 * 70, 99), numbers(4 * 70, 40, "u1"), zeros(280, "i4"), i(70), output=2)
def _(x, flags, out, each):
    found = []
    for k, (value, flag) in enumerate(zip(x.tolist(), flags, strict=True)):
        found.append(value if flag == 0 or k % each == 0 else found[-1] + value)
    return found


@small("compact_tiles<64, 2>", 3, 64, numbers(300, 999), zeros(300, "i4"), zeros(3, "i4"), i(300), output=(1, 2))
def _(x, out, counts, n):
    found, kept = np.zeros(n), [x[first : first + 128][x[first : first + 128] % 3 == 0] for first in (0, 128, 256)]
    for tile, values in enumerate(kept):
        found[128 * tile : 128 * tile + values.size] = values
    return found, list(map(len, kept))


@small("merge_path_tiles<32, 3>", 4, 32, Made("sorted", "i4", 150, 999), Made("sorted", "i4", 150, 800),
       zeros(300, "i4"), i(150), output=2)  # fmt: skip
def _(a, b, out, n):
    return np.sort(np.append(a, b))


@small("fft32_shuffle", 2, 64, normal(64 * 7), zeros(64 * 7), i(7), tolerance=1e-4)
def _(x, out, n):
    return np.fft.fft(x.view("c8").reshape(n, 32)).astype("c8").view("f4").ravel()


# Stencils, images, video.
@small("fd3d_march<2>", (1, 1), (32, 8), unit(36 * 12 * 7), zeros(32 * 8 * 3), i(32), i(8), i(3), tolerance=1e-4)
def _(x, out, nx, ny, nz):
    cells = x.reshape(nz + 4, ny + 4, nx + 4).astype("f8")
    total = -3 * cells
    for r in (1, 2):
        total += 0.5 / r * sum(np.roll(cells, way, axis) for axis in range(3) for way in (r, -r))
    return total[2:-2, 2:-2, 2:-2].ravel()


@small("gauss_rows<4, 2>", (2, 2), (32, 4), unit(100 * 7), zeros(700), i(100), i(7), tolerance=1e-5)
def _(x, out, width, height):
    table = small.source.partition("gauss_taps[9] = {")[2].partition("};")[0]
    taps = [float(tap) for tap in re.findall(r"([\d.]+)f", table)[:5]]
    padded = np.pad(x.reshape(height, width).astype("f8"), ((0, 0), (4, 4)), mode="edge")
    return sum(taps[abs(r)] * padded[:, 4 + r : 4 + r + width] for r in range(-4, 5)).ravel()


@small("bayer_rgb", (2, 2), (16, 8), numbers(20 * 10, 256, "u1"), zeros(800, "u1"), i(20), i(10))
def _(raw, out, width, height):
    image, found = raw.reshape(height, width).astype(int), np.zeros((height, width, 4), int)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            near = image[y - 1 : y + 2, x - 1 : x + 2]
            here, across, down = near[1, 1], (near[1, 0] + near[1, 2]) // 2, (near[0, 1] + near[2, 1]) // 2
            corners, cross = near[::2, ::2].sum() // 4, (near[1, ::2].sum() + near[::2, 1].sum()) // 4
            found[y, x] = {
                (0, 0): (here, cross, corners, 255),
                (0, 1): (across, here, down, 255),
                (1, 0): (down, here, across, 255),
                (1, 1): (corners, cross, here, 255),
            }[y % 2, x % 2]
    return found.ravel()


@small("yuv420_rgba", (1, 6), 32, numbers(20 * 6, 256, "u1"), numbers(30, 256, "u1"), numbers(30, 255, "u1"),
       zeros(120, "u4"), i(10), i(6), output=3)  # fmt: skip
def _(luma, u_plane, v_plane, out, half_width, height):
    c = 298 * (luma.reshape(height, 2 * half_width).astype(int) - 16) + 128
    u, v = (p.reshape(3, 10).repeat(2, axis=0).repeat(2, axis=1).astype(int) - 128 for p in (u_plane, v_plane))
    r, g, b = (np.clip(x >> 8, 0, 255) for x in (c + 409 * v, c - 100 * u - 208 * v, c + 516 * u))
    return (r | g << 8 | b << 16 | 255 << 24).ravel()


@small("bicubic_affine", (1, 3), (32, 4), unit(24 * 10), zeros(240), i(24), i(10), f(0.7), f(0.4), tolerance=1e-4)
def _(x, out, width, height, a, b):
    padded, found = np.pad(x.reshape(height, width).astype("f8"), 40, mode="edge"), []

    def weights(t):
        near, far = abs(np.array([t, 1 - t])), np.array([1 + t, 2 - t])
        p, q = 1.5 * near**3 - 2.5 * near**2 + 1, -0.5 * far**3 + 2.5 * far**2 - 4 * far + 2
        return np.array([q[0], p[0], p[1], q[1]])

    for y, x in np.ndindex(height, width):
        place = np.array([b * x + a * y - 0.1 * height, a * x - b * y + 0.3 * width])
        row, col = np.floor(place).astype(int)
        taps = padded[40 + row - 1 : 40 + row + 3, 40 + col - 1 : 40 + col + 3]
        found.append(weights(place[0] - row) @ taps @ weights(place[1] - col))
    return found


@small("lut3d_grade<5>", 2, 32, numbers(200, 256, "u1"), unit(4 * 125), zeros(200), i(50), output=2, tolerance=1e-5)
def _(x, cube, out, n):
    pixels, cube = x.reshape(n, 4).astype(int), cube.reshape(5, 5, 5, 4).astype("f8")
    place = pixels[:, :3] * 4 / 256
    cell = place.astype(int)
    share, found = place - cell, np.zeros((n, 4))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(abs(1 - np.array(corner) - share), axis=1)
        r, g, b = (cell + corner).T
        found += weight[:, None] * cube[b, g, r]
    found[:, 3] = pixels[:, 3] / 255
    return found.ravel()


@small("sad_search", (2, 2), (16, 16), numbers(64, 1 << 32, "u4"), numbers(256, 1 << 32, "u4"), zeros(4, "u4"), i(16),
       output=2)  # fmt: skip
def _(frame, before, best, width):
    frame, before = frame.view("u1").reshape(16, 16).astype(int), before.view("u1").reshape(32, 32).astype(int)
    found = []
    for y, x in ((0, 0), (0, 8), (8, 0), (8, 8)):
        windows = np.lib.stride_tricks.sliding_window_view(before[y : y + 23, x : x + 23], (8, 8))
        sums = abs(windows - frame[y : y + 8, x : x + 8]).sum(axis=(2, 3)).ravel()
        found.append((sums << 8 | np.arange(256)).min())
    return found


@small("depthwise_nhwc", (3, 5), (4, 3), unit(16 * 8 * 5), normal(36 * 4), zeros(640), i(8), i(5), i(4), output=2,
       tolerance=1e-4)  # fmt: skip
def _(x, taps, out, width, height, packs):
    padded = np.pad(x.reshape(height, width, 16).astype("f8"), ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))
    return np.einsum("yxcab,abc->yxc", windows, taps.reshape(3, 3, 16)).ravel()


@small("ray_spheres", (3, 3), (8, 8), zeros(24 * 20), i(24), i(20), output=0, tolerance=1e-3)
def _(out, width, height):
    values = _generated(777)
    y, x = ((np.mgrid[:height, :width] + 0.5).T / [height, width] - 0.5).T
    nearest, light = np.full((height, width), np.inf), np.full((height, width), 0.1)
    for _ in range(20):
        a, b, c = (next(values) for _ in range(3))
        sx, sy, sz = ((v >> 16) % 1000 * 0.001 - 0.5 for v in (a, b, c))
        radius = 0.05 + (c >> 8) % 100 * 0.001
        rest = radius**2 - (x - sx) ** 2 - (y - sy) ** 2
        depth = np.sqrt(np.maximum(rest, 0))
        hit = (rest > 0) & (sz + 1.5 - depth < nearest)
        nearest = np.where(hit, sz + 1.5 - depth, nearest)
        light = np.where(hit, 0.2 + 0.8 * (depth / radius) ** 1.5, light)
    return light.ravel()


# Matrices and copies in the background.
@small("gemm_micro<float, 32, 32, 8, 4, 2>", (2, 2), 128, unit(40 * 20), unit(800, high=2), zeros(1_600), i(40), i(40),
       i(20), output=2, tolerance=1e-5)  # fmt: skip
def _(a, b, c, m, n, k):
    return (a.reshape(m, k).astype("f8") @ b.reshape(k, n)).ravel()


@small("gemm_stages<3>", (2, 1), 256, unit(64 * 80), unit(80 * 128, high=2), zeros(64 * 128), i(128), i(80), output=2,
       tolerance=1e-5)  # fmt: skip
def _(a, b, c, n, k):
    return (a.reshape(-1, k).astype("f8") @ b.reshape(k, n)).ravel()


@small("fir_ahead<64, 9>", 2, 64, unit(5 * 64 + 8), normal(9), zeros(320), i(5), output=2, tolerance=1e-5)
def _(x, taps, y, tiles):
    return np.correlate(x.astype("f8"), taps)


@small("embedding_bags<2>", 5, 64, unit(128 * 20), skewed(9, 4), numbers(36, 20), zeros(128 * 9), i(9), output=3,
       tolerance=1e-5)  # fmt: skip
def _(rows, starts, indices, out, bags):
    table = rows.reshape(-1, 128).astype("f8")
    return np.ravel([table[indices[begin:end]].sum(axis=0) for begin, end in pairwise(starts)])


# Sparse matrices and graphs.
def _times(starts, cols, values, x):
    found = np.zeros(len(starts) - 1)
    np.add.at(found, np.repeat(np.arange(found.size), np.diff(starts)), values.astype("f8") * x[cols])
    return found


@small("csr_subwarp<8>", 5, 64, skewed(35, 12), numbers(420, 35), unit(420), unit(35), zeros(35), i(35), output=4,
       tolerance=1e-5)  # fmt: skip
def _(starts, cols, values, x, y, rows):
    return _times(starts, cols, values, x)


@small("bsr4_rows", 3, 64, offsets(6, 3), numbers(18, 6), unit(16 * 18), unit(24), zeros(24), i(6), output=4,
       tolerance=1e-5)  # fmt: skip
def _(starts, cols, values, x, y, rows):
    parts = np.einsum("krc,kc->kr", values.reshape(-1, 4, 4).astype("f8"), x.reshape(-1, 4)[cols])
    return np.add.reduceat(parts, starts[:-1]).ravel()


@small("coo_segments<4>", 2, 64, Made("row numbers", "i4", 300, 30), numbers(300, 30), unit(300), unit(30), zeros(30),
       i(300), output=4, tolerance=1e-5)  # fmt: skip
def _(rows, cols, values, x, y, entries):
    return np.bincount(rows, values.astype("f8") * x[cols], minlength=30)


@small("sampled_products<32>", 5, 64, Made("row numbers", "i4", 36, 9), numbers(36, 9), unit(9 * 32),
       unit(9 * 32, high=2), zeros(36), i(36), output=4, tolerance=1e-5)  # fmt: skip
def _(rows, cols, left, right, out, places):
    return (left.reshape(9, 32)[rows].astype("f8") * right.reshape(9, 32)[cols]).sum(axis=1)


@small("expand_frontier", 3, 64, numbers(5, 60), *lists(60, 9), numbers(60, 3, "u1"), zeros(1, "u4"), zeros(256, "i4"),
       i(5), u(255), output=5, seen=np.sort)  # fmt: skip
def _(frontier, starts, cols, visited, tail, ring, count, mask):
    fresh = np.concatenate([cols[starts[node] : starts[node + 1]] for node in frontier])
    fresh = fresh[visited[fresh] == 0]
    assert 0 < fresh.size < 256
    return np.sort(np.append(fresh, np.zeros(256 - fresh.size)))


@small("count_triangles", 15, 64, *lists(30, 8), zeros(30, "i4"), i(30), output=2)
def _(starts, cols, out, nodes):
    near = [cols[begin:end].tolist() for begin, end in pairwise(starts)]
    return [sum(third in near[other] for other in mine for third in mine) for mine in near]


@small("colour_round", 2, 64, *lists(100, 4), zeros(100, "i4"), i(100), i(3), output=2)
def _(starts, cols, colour, nodes, turn):
    hashes = mixed(2 * np.arange(nodes) + turn)
    near = [cols[begin:end] for begin, end in pairwise(starts)]
    greatest = np.array([(hashes[others] <= mine).all() for others, mine in zip(near, hashes, strict=True)])
    assert 0 < greatest.sum() < nodes
    return np.where(greatest, turn, -1)


# Hash tables.
@small("cuckoo_lookup", 2, 64, Made("cuckoo", "u4", 128, 60), numbers(200, 120, "u4"), zeros(200, "u1"), i(200), u(127),
       output=2)  # fmt: skip
def _(table, queries, found, n, mask):
    return np.isin(queries, table)


def _bloom_bits(keys):
    """The four bits of each key, of shape (keys, 4)."""
    first = mixed(keys)
    return first[:, None] + np.arange(4, dtype="u4") * (mixed(first) | np.uint32(1))[:, None]


@small("bloom_add", 2, 64, numbers(100, 1 << 32, "u4"), zeros(32, "u4"), i(100), u(31))
def _(keys, words, n, mask):
    bits = np.zeros((32, 32), "u4")
    bits[_bloom_bits(keys) >> np.uint32(5) & mask, _bloom_bits(keys) % np.uint32(32)] = 1
    return (bits << np.arange(32, dtype="u4")).sum(axis=1)


@small("bloom_query", 2, 64, numbers(100, 1 << 32, "u4"), numbers(32, 1 << 32, "u4"), zeros(100, "u1"), i(100), u(31),
       output=2)  # fmt: skip
def _(keys, words, maybe, n, mask):
    bits = _bloom_bits(keys)
    return (words[bits >> np.uint32(5) & mask] >> bits % np.uint32(32) & np.uint32(1)).all(axis=1)


@small("group_by_shared<64>", 2, 64, numbers(500, 50), numbers(501, 99), zeros(50, "i4"), i(500), output=2)
def _(keys, amounts, sums, n):
    return np.bincount(keys, amounts[:n], minlength=50)


@small("hash_grid_encode", (2, 3), 32, unit(150), normal(2 * 3 * 64, "f2"), zeros(300), i(50), u(63), output=2,
       tolerance=1e-4)  # fmt: skip
def _(points, table, out, n, mask):
    found, entries = [], table.reshape(3, 64, 2).astype("f8")
    for level in range(3):
        place = points.reshape(n, 3) * np.float32(12 * 2**level)
        cell = place.astype("u4")
        share, total = place - cell, np.zeros((n, 2))
        for corner in np.ndindex(2, 2, 2):
            x, y, z = (cell + np.array(corner, "u4")).T
            weight = np.prod(abs(1 - np.array(corner) - share), axis=1)
            total += weight[:, None] * entries[level, (x ^ y * np.uint32(2654435761) ^ z * np.uint32(805459861)) & mask]
        found.append(total)
    return np.ravel(found)


# Searches and clusters.
@small("bvh_overlaps", 2, 32, Made("boxes", "f4", 8 * 256), unit(200), zeros(50, "i4"), i(50), i(256), output=2)
def _(boxes, queries, counts, n, leaves):
    left, top, right, bottom = boxes.reshape(-1, 4)[leaves:].T
    x, y, width, height = queries.reshape(n, 4, 1).astype("f8").transpose(1, 0, 2)
    apart = (left > x + 0.02 * width) | (right < x) | (top > y + 0.02 * height) | (bottom < y)
    return (~apart).sum(axis=1)


@small("knn_insertion<4>", 2, 64, unit(300), unit(200, high=2), zeros(400), i(100), i(150), output=2, tolerance=1e-5)
def _(points, queries, out, n, count):
    way = queries.reshape(n, 1, 2).astype("f8") - points.reshape(1, count, 2)
    return np.sort((way**2).sum(axis=2))[:, :4].T.ravel()


@small("kmeans_step<8>", 2, 64, unit(800), unit(32), zeros(32), zeros(8, "i4"), i(200), output=(2, 3), tolerance=1e-4)
def _(points, centres, sums, sizes, n):
    way = points.reshape(n, 1, 4).astype("f8") - centres.reshape(1, 8, 4)
    member = ((way**2).sum(axis=2).argmin(axis=1)[:, None] == np.arange(8)).astype("f8")
    return (member.T @ points.reshape(n, 4)).ravel(), member.sum(axis=0)


# Uneven work, recurrences, moves.
@small("pair_distances_binned", 2, 128, unit(3 * 200), zeros(64, "u4"), i(200))
def _(points, bins, n):
    way = points.reshape(3, n, 1).astype("f8") - points.reshape(3, 1, n)
    distances = np.sqrt((way**2).sum(axis=0))[np.tril_indices(n, -1)]
    return np.bincount(np.minimum((36 * distances).astype(int), 63), minlength=64)


@small("two_opt", 2, 64, unit(200), zeros(1, "u8"), i(100), tolerance=1e-4,
       seen=lambda found: (found >> np.uint64(32)).astype("u4").view("f4"))  # fmt: skip
def _(tour, best, n):
    p = tour.reshape(n, 2).astype("f8")
    apart = np.linalg.norm(p[:, None] - p, axis=2)
    edge = np.diagonal(apart, 1)
    return [(edge[:, None] + edge - apart[:-1, :-1] - apart[1:, 1:])[np.triu_indices(n - 1, 2)].max()]


@small("persistent_tiles", 2, 32, unit(320), zeros(320), zeros(1, "u4"), i(10), output=(1, 2), tolerance=1e-5)
def _(x, out, following, tiles):
    share = 0.96875 ** (8 + np.arange(tiles) % 7 * 16)[:, None]
    return (x.reshape(tiles, 32) * share + 16 * (1 - share)).ravel(), [tiles + 2]


@small("thomas_interleaved", 2, 32, unit(50 * 12), unit(600, high=2), zeros(600), zeros(600), i(50), i(12), output=3,
       tolerance=1e-4)  # fmt: skip
def _(diagonal, right, work, x, systems, n):
    found = []
    for d, b in zip(diagonal.reshape(n, systems).T, right.reshape(n, systems).T, strict=True):
        found.append(np.linalg.solve(np.diag(4.0 + d) - np.eye(n, k=1) - np.eye(n, k=-1), b))
    return np.array(found).T.ravel()


@small("selective_scan<4>", 2, 32, normal(50 * 9), unit(50 * 9), normal(36), normal(36, high=2), zeros(450), i(50),
       i(9), output=4, tolerance=1e-4)  # fmt: skip
def _(x, dt, b, c, y, channels, length):
    state, found = np.zeros((channels, 4)), []
    for t in range(length):
        step = 0.1 * dt.reshape(length, channels)[t, :, None].astype("f8")
        state = np.exp(-step * np.arange(1, 5)) * state
        state += step * x.reshape(length, channels)[t, :, None] * b[4 * t :][:4]
        found.append(state @ c[4 * t :][:4])
    return np.ravel(found)


@small("heads_first", 2, 64, numbers(32 * 15, 1 << 32, "u4"), zeros(480, "u4"), i(5), i(3))
def _(x, out, tokens, heads):
    return x.reshape(tokens, heads, 32).transpose(1, 0, 2).ravel()


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    made = {a for case in ninth_cases.cases() for a in case.arguments if isinstance(a, Made) and a.size < 300_000}
    assert {a.kind for a in made} >= ninth_cases.RECIPES.keys() - {"sorted", "bf16"}
    assert [a for a in made if a.make().shape != (a.size,)] == []


def test_the_cycle_of_records_goes_through_all_of_them():
    following, at, seen = Made("cycle", "i4", 4 * 300, 9).make()[::4], 0, set()
    while at not in seen:
        seen.add(at)
        at = int(following[at])
    assert len(seen) == 300


def test_skewed_rows_have_few_long_ones_and_their_members_rise():
    starts, members = (a.make() for a in lists(1_000, 6))
    lengths = np.diff(starts)
    assert (starts[0], starts[-1]) == (0, 6_000)
    assert lengths.min() >= 0
    assert np.quantile(lengths, 0.5) < 6 < 3 * 6 < lengths.max()
    assert all((np.diff(members[begin:end]) >= 0).all() for begin, end in pairwise(starts))
