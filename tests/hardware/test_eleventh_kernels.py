"""The kernels of the eleventh set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from tests.hardware import eleventh_cases
from tests.hardware.eighth_cases import offsets
from tests.hardware.eleventh_cases import Formed, drawn
from tests.hardware.in_python import rows_of
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("kd_nearest", "lz_expand", "stable_matches", "join_shared", "rank_list", "perona_malik")
small = SmallLaunches(eleventh_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in eleventh_cases.cases()}


def mixed(h):
    h = (h ^ h >> 16) * 0x7FEB352D % 2**32
    h = (h ^ h >> 15) * 0x846CA68B % 2**32
    return h ^ h >> 16


def luck_of(state):
    """Numbers between 0 and 1 from a state, without an end."""
    while True:
        state = (state * 747796405 + 2891336453) % 2**32
        yield ((state >> 9) + 0.5) / 2**23


def is_set(words, k):
    return bool(words[k // 32] >> np.uint32(k % 32) & 1)


# Searches.
@small("longest_prefix", 2, 32, Formed("routes", "i4", 8 * 200, 99), numbers(100, 1 << 32, "u4"), zeros(100, "i4"),
       i(100), output=2)  # fmt: skip
def _(nodes, addresses, out, n):
    entries, found = nodes.reshape(-1, 4, 2).tolist(), []
    for address in addresses.tolist():
        node, route = 0, -1
        for shift in range(30, -1, -2):
            node, here = entries[node][address >> shift & 3]
            route = here if here >= 0 else route
            if node < 0:
                break
        found.append(route)
    return found


@small("eytzinger_search", 2, 64, Formed("eytzinger", "i4", 64, 500), numbers(100, 520), zeros(100, "i4"), i(64),
       i(100), output=2, seen=lambda places: _keys_at(places))  # fmt: skip
def _(tree, keys, out, size, n):
    ordered = np.append(np.sort(tree[1:]), -1)
    return ordered[np.searchsorted(ordered[:-1], keys)]


def _keys_at(places):
    tree = Formed("eytzinger", "i4", 64, 500).make()
    return np.where(places, tree[places], -1)


@small("kd_nearest", 2, 64, Formed("kd tree", "f4", 256), unit(200), zeros(100), i(128), i(100), output=2,
       tolerance=1e-5)  # fmt: skip
def _(tree, queries, out, size, n):
    points = tree.reshape(-1, 2)[1:].astype("f8")
    return ((queries.reshape(n, 1, 2) - points) ** 2).sum(axis=2).min(axis=1)


# Codecs.
@small("huffman_decode", 2, 32, numbers(50 * 9, 1 << 32, "u4"), Formed("code book", "i4", 48 + 20),
       zeros(50 * 20, "u1"), i(50), i(20), i(20), output=2)  # fmt: skip
def _(streams, book, out, n, symbols, letters):
    codes, code, at = {}, 0, 48
    for length in range(1, 16):
        for _ in range(book[16 + length]):
            codes[f"{code:0{length}b}"] = book[at]
            code, at = code + 1, at + 1
        code <<= 1
    found = np.zeros((symbols, n), int)
    for stream in range(n):
        bits, word = iter("".join(f"{w:032b}" for w in streams.reshape(-1, n)[:, stream])), ""
        for k in range(symbols):
            while word not in codes:
                word += next(bits)
            found[k, stream], word = codes[word], ""
    return found.ravel()


@small("lz_expand", 2, 64, numbers(90, 1 << 32, "u4"), zeros(3 * 30 * 64, "u1"), zeros(3, "i4"), i(3), i(30), i(1_920),
       output=(1, 2))  # fmt: skip
def _(tokens, out, lengths, streams, count, room):
    found, sizes = out.reshape(streams, room).copy(), []
    for stream, row in enumerate(tokens.reshape(streams, count).tolist()):
        text = []
        for token in row:
            if text:
                distance = 1 + (token >> 16) % len(text)
                for _ in range(token >> 8 & 63):
                    text.append(text[-distance])
            text.append(token & 255)
        found[stream, : len(text)] = text
        sizes.append(len(text))
    return found.ravel(), sizes


@small("error_diffusion", 2, 32, numbers(64 * 50, 256, "u1"), zeros(100, "u4"), i(50), i(2))
def _(grey, out, lines, words):
    found, errors = np.zeros((words, lines), "u4"), np.zeros(lines, int)
    for x, values in enumerate(grey.reshape(32 * words, lines)):
        wanted = values + errors
        found[x // 32] |= (wanted > 127).astype("u4") << np.uint32(x % 32)
        errors = (wanted - 255 * (wanted > 127)) * 7 >> 3
    return found.ravel()


@small("wavelet_53<3>", 2, 32, numbers(128, 1_000), zeros(128, "i4"))
def _(rows, out):
    found = rows.reshape(2, 64).astype(int)
    for size in (64, 32, 16):
        even, odd = found[:, :size:2], found[:, 1:size:2]
        high = odd - (even + np.append(even[:, 1:], even[:, -1:], axis=1) >> 1)
        low = even + (np.append(high[:, :1], high[:, :-1], axis=1) + high + 2 >> 2)
        found[:, :size] = np.append(low, high, axis=1)
    return found.ravel()


@small("aes_ctr", 2, 32, numbers(400, 1 << 32, "u4"), Formed("aes tables", "u4", 512), numbers(44, 1 << 32, "u4"),
       zeros(400, "u4"), i(100), output=3)  # fmt: skip
def _(data, tables, keys, out, n):
    """By the standard's steps on bytes: the state has 4 rows and 4 columns."""
    box, schedule = tables[256:].astype(int), keys.astype(">u4").view("u1").reshape(11, 4, 4).transpose(0, 2, 1)
    counters = np.tile(np.array([0x01020304, 0x05060708, 0, 0], ">u4"), (n, 1))
    counters[:, 3] = np.arange(n)
    state = counters.view("u1").reshape(n, 4, 4).transpose(0, 2, 1) ^ schedule[0]
    for turn in range(1, 11):
        state = np.stack([np.roll(box[state][:, row], -row, axis=1) for row in range(4)], axis=1)
        if turn < 10:
            double = state << 1 & 0xFF ^ 0x1B * (state >> 7)
            once, twice, thrice = (np.roll(state, -k, axis=1) for k in (1, 2, 3))
            state = double ^ np.roll(double, -1, axis=1) ^ once ^ twice ^ thrice
        state = state ^ schedule[turn]
    return data ^ state.transpose(0, 2, 1).astype("u1").reshape(n, 16).view(">u4").ravel()


@small("rc4_keystream", 1, 32, numbers(80, 1 << 32, "u4"), zeros(60, "u4"), i(20), i(3))
def _(keys, out, n, words):
    found = np.zeros((words, n), "u4")
    for thread in range(n):
        key, state, b = keys.reshape(4, n)[:, thread].astype("u4").tobytes(), list(range(256)), 0
        for a in range(256):
            b = (b + state[a] + key[a % 16]) % 256
            state[a], state[b] = state[b], state[a]
        a, b, stream = 0, 0, []
        for _ in range(4 * words):
            a = (a + 1) % 256
            b = (b + state[a]) % 256
            state[a], state[b] = state[b], state[a]
            stream.append(state[(state[a] + state[b]) % 256])
        found[:, thread] = np.array(stream, "u1").view("u4")
    return found.ravel()


@small("md5_chains", 2, 32, numbers(160, 1 << 32, "u4"), zeros(160, "u4"), i(40), i(3))
def _(messages, out, n, times):
    found = [row.tobytes() for row in messages.reshape(n, 4)]
    for _ in range(times):
        found = [hashlib.md5(text, usedforsecurity=False).digest() for text in found]
    return np.frombuffer(b"".join(found), "u4")


# Strings.
@small("write_decimals", 3, 32, Formed("magnitudes", "i4", 90, 9), zeros(270, "u4"), i(90))
def _(values, text, n):
    return np.frombuffer("".join(f"{value:12}" for value in values.tolist()).encode(), "u4")


@small("gather_strings", 2, 64, offsets(30, 20), numbers(600, 256, "u1"), numbers(4, 30), zeros(4 * 33, "u1"), i(4),
       i(33), output=3)  # fmt: skip
def _(starts, letters, chosen, out, n, width):
    rows = rows_of(starts, letters)
    return np.ravel([(rows[which] + [0] * width)[:width] for which in chosen])


@small("bracket_depths", 2, 64, numbers(300, 4, "u1"), zeros(300, "i2"), zeros(2, "i4"), i(150), output=(1, 2))
def _(text, depths, lowest, length):
    steps = (text == 0).astype(int) - (text == 1)
    found = steps.reshape(2, length).cumsum(axis=1)
    return found.ravel(), np.minimum(found.min(axis=1), 0)


@small("cyk_bits", 2, 64, numbers(24, 50, "u1"), Formed("few bits", "u4", 50, 3), numbers(70, 1 << 24, "u4"),
       zeros(2, "u4"), i(12), i(70), smem=4 * 214, output=3)  # fmt: skip
def _(words, lexicon, rules, out, length, count):
    parts = [(r & 31, r >> 8 & 31, r >> 16 & 31) for r in rules.tolist()]
    found = []
    for sentence in words.reshape(2, length):
        spans = {(k, k): {b for b in range(32) if lexicon[word] >> b & 1} for k, word in enumerate(sentence)}
        for wide in range(1, length):
            for a in range(length - wide):
                pairs = [(spans[a, m], spans[m + 1, a + wide]) for m in range(a, a + wide)]
                spans[a, a + wide] = {p for left, right in pairs for x, y, p in parts if x in left and y in right}
        found.append(sum(1 << symbol for symbol in spans[0, length - 1]))
    assert any(found)
    return found


# Graphs.
@small("graph_walks", 2, 32, *lists(50, 4), zeros(40, "i4"), i(40), i(50), i(30), u(8_191), output=2)
def _(starts, members, ends, walks, nodes, steps, seed):
    rows, found = rows_of(starts, members), []
    for walk in range(walks):
        state = mixed(walk ^ int(seed))
        node = state % int(nodes)
        for _ in range(steps):
            state = (state * 747796405 + 2891336453) % 2**32
            node = rows[node][(state >> 8) % len(rows[node])] if rows[node] else (state >> 8) % int(nodes)
        found.append(node)
    return found


@small("bottom_up_bfs", 2, 64, *lists(100, 5), Formed("few bits", "u4", 4, 5), Formed("few bits", "u4", 4, 3),
       zeros(4, "u4"), zeros(100, "i4"), i(100), output=(4, 5))  # fmt: skip
def _(starts, members, frontier, visited, following, parents, nodes):
    found, bits = np.zeros(nodes, int), np.zeros(128, "u1")
    for node, row in enumerate(rows_of(starts, members)):
        reached = [] if is_set(visited, node) else [other for other in row if is_set(frontier, other)]
        if reached:
            found[node], bits[node] = reached[0] + 1, 1
    assert bits.any()
    return np.packbits(bits, bitorder="little").view("u4"), found


@small("rank_list", 2, 64, Formed("chains", "i4", 128, 64), zeros(128, "i4"))
def _(following, ranks):
    found = np.zeros((2, 64), int)
    for row, links in zip(found, following.reshape(2, 64), strict=True):
        node, order = (set(range(64)) - set(links)).pop(), []
        while node >= 0:
            order.append(node)
            node = links[node]
        row[order[::-1]] = range(64)
    return found.ravel()


@small("warshall_bits", 2, 64, Formed("few bits", "u4", 256, 60), zeros(256, "u4"), smem=4 * 64 * 3)
def _(edges, reached):
    bits = np.unpackbits(edges.view("u1"), bitorder="little").reshape(2, 64, 64) > 0
    for _ in range(6):
        bits = bits | ((bits.astype(int) @ bits) > 0)
    return np.packbits(bits, bitorder="little").view("u4")


@small("stable_matches", 2, 32, Formed("permutations", "i4", 2_048, 32), Formed("permutations", "i4", 2_048, 32),
       zeros(64, "i4"), smem=128, output=2)  # fmt: skip
def _(wishes, ranks, found):
    for town in range(2):
        want, rank = wishes.reshape(2, 32, 32)[town], ranks.reshape(2, 32, 32)[town]
        asked, holders, free = [0] * 32, {}, list(range(32))
        while free:
            man = free.pop()
            who = want[man, asked[man]]
            asked[man] += 1
            held = holders.get(who)
            if held is None or rank[who, man] < rank[who, held]:
                holders[who] = man
                free += [] if held is None else [held]
            else:
                free.append(man)
        for who, man in holders.items():
            found[32 * town + man] = who
    return found


# Tables.
@small("join_shared", 2, 64, Formed("keys of parts", "u4", 200, 100), numbers(200, 1 << 20, "u4"),
       numbers(300, 200, "u4"), zeros(2, "u4"), i(100), i(150), i(256), smem=2_048, output=3)  # fmt: skip
def _(build, values, probe, sums, built, probed, capacity):
    found = []
    for part in range(2):
        here = slice(part * built, (part + 1) * built)
        table = dict(zip(build[here].tolist(), values[here].tolist(), strict=True))
        found.append(sum(table.get(key + 1, 0) for key in probe[part * probed : (part + 1) * probed].tolist()))
    return found


@small("minhash_rows", 3, 32, offsets(3, 20), numbers(60, 1 << 20, "u4"), zeros(96, "u4"), output=2)
def _(starts, words, out):
    found = []
    for row in rows_of(starts, words):
        for function in range(32):
            hashes = [((mixed(function) | 1) * word + mixed(function + 4_096)) % 2**32 for word in row]
            found.append(min((h ^ h >> 15) * 0x2C1B3C6D % 2**32 for h in hashes))
    return found


@small("hyperloglog<4>", 2, 64, numbers(400, 1 << 31, "u4"), zeros(16, "i4"), i(400))
def _(keys, registers, n):
    found = np.zeros(16, int)
    for key in keys.tolist():
        bits = f"{mixed(key):032b}"
        found[int(bits[:4], 2)] = max(found[int(bits[:4], 2)], (bits[4:] + "1").index("1") + 1)
    return found


@small("count_min_sketch", 2, 64, Formed("skewed keys", "u4", 300, 40), zeros(256, "u4"), i(300), u(63))
def _(keys, counters, n, mask):
    rows = [[mixed(key + 77 * row) & 63 for key in keys.tolist()] for row in range(4)]
    return np.ravel([np.bincount(row, minlength=64) for row in rows])


@small("link_cells", 3, 64, unit(300), zeros(16, "i4"), zeros(150, "i4"), i(150), i(4), output=(1, 2),
       seen=lambda links: (links > 0).sum())  # fmt: skip
def _(points, heads, following, n, side):
    cells = (points.reshape(n, 2) * side).astype(int)
    occupied = len({(x, y) for x, y in cells.tolist()})
    return occupied, n - occupied


@small("pack_frames", 2, 64, numbers(32 * 5, 3_000), zeros(10, "i4"), zeros(160, "u4"), i(5), output=(1, 2))
def _(values, heads, planes, frames):
    rows = values.reshape(frames, 32)
    least = rows.min(axis=1)
    bits = [int(v).bit_length() for v in rows.max(axis=1) - least]
    votes = (rows - least[:, None])[:, None] >> np.arange(32)[:, None] & 1
    return np.stack([least, bits], axis=1).ravel(), np.packbits(votes, axis=2, bitorder="little").view("u4").ravel()


@small("transpose_bits", 2, 64, numbers(32 * 6, 1 << 32, "u4"), zeros(32 * 6, "u4"), i(32 * 6))
def _(words, out, n):
    bits = np.unpackbits(words.view("u1"), bitorder="little").reshape(-1, 32, 32)
    return np.packbits(bits.transpose(0, 2, 1), bitorder="little").view("u4")


# Pictures.
@small("rgb_to_hsv", 2, 32, numbers(200, 256, "u1"), zeros(200, "u1"), i(50))
def _(pixels, out, n):
    found = []
    for r, g, b, alpha in pixels.reshape(n, 4).tolist():
        most, apart = max(r, g, b), max(r, g, b) - min(r, g, b)
        if not apart:
            hue = 0
        elif most == r:
            hue = (42 * (g - b) + 252 * apart) // apart % 252
        else:
            hue = 84 + math.trunc(42 * (b - r) / apart) if most == g else 168 + math.trunc(42 * (r - g) / apart)
        found += [hue, 255 * apart // most if most else 0, most, alpha]
    return found


@small("lbp_cells", (2, 2), (16, 16), numbers(32 * 32, 9, "u1"), zeros(1_024, "u4"), i(32))
def _(picture, counts, width):
    p = np.pad(picture.reshape(32, 32), 1, mode="edge")
    around = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
    codes = sum((p[1 + y : 33 + y, 1 + x : 33 + x] > p[1:33, 1:33]) << k for k, (y, x) in enumerate(around))
    cells = codes.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(4, 256)
    return np.ravel([np.bincount(cell, minlength=256) for cell in cells])


@small("perona_malik", (2, 4), (16, 4), unit(25 * 14), zeros(350), i(25), i(14), f(9), f(0.2), tolerance=1e-5)
def _(picture, out, width, height, edge, rate):
    p = np.pad(picture.reshape(height, width).astype("f8"), 1, mode="edge")
    here = p[1:-1, 1:-1]
    apart = np.stack([p[1:-1, :-2], p[1:-1, 2:], p[:-2, 1:-1], p[2:, 1:-1]]) - here
    return (here + rate * (apart * np.exp(-edge * apart**2)).sum(axis=0)).ravel()


@small("mip_trilinear", 2, 32, unit(341), unit(180), zeros(60), i(16), i(60), output=2, tolerance=1e-4)
def _(pyramid, places, out, side, n):
    levels, at = [], 0
    for size in (16, 8, 4, 2, 1):
        levels.append(pyramid[at : at + size * size].reshape(size, size).astype("f8"))
        at += size * size

    def sample(level, across, down):
        size = len(levels[level])
        x, y = across * size - 0.5, down * size - 0.5
        left, top = math.floor(x), math.floor(y)
        rows = levels[level][[top % size, (top + 1) % size]][:, [left % size, (left + 1) % size]]
        return np.array([top + 1 - y, y - top]) @ rows @ np.array([left + 1 - x, x - left])

    found = []
    for across, down, depth in places.reshape(3, n).T.tolist():
        level = int(depth * 3)
        near, far = sample(level, across, down), sample(level + 1, across, down)
        found.append(near + (depth * 3 - level) * (far - near))
    return found


@small("disparities", (2, 5), 32, numbers(50 * 5, 1 << 32, "u4"), numbers(251, 1 << 32, "u4"), zeros(250, "u1"), i(50),
       i(9), smem=12 * 41, output=2)  # fmt: skip
def _(left, right, out, width, reach):
    a, b = left.reshape(5, width), right[:-1].reshape(5, width)
    costs = []
    for d in range(reach):
        moved = b[:, np.maximum(np.arange(width) - d, 0)]
        apart = np.pad(np.bitwise_count(a ^ moved).astype(int), ((1, 1), (0, 0)), mode="edge")
        costs.append(apart[:-2] + apart[1:-1] + apart[2:])
    return np.argmin(costs, axis=0).ravel()


# Geometry.
@small("haversine_pairs", 2, 32, Formed("angles", "f4", 400), zeros(200), i(100), tolerance=1e-4, absolute=0.1,
       seen=lambda out: np.where(np.arange(200) % 2, np.exp(1j * out), out))  # fmt: skip
def _(pairs, out, n):
    """Distances, and directions as complex numbers."""
    north, west, south, east = pairs.reshape(n, 4).astype("f8").T
    a = np.stack([np.cos(north) * np.cos(west), np.cos(north) * np.sin(west), np.sin(north)])
    b = np.stack([np.cos(south) * np.cos(east), np.cos(south) * np.sin(east), np.sin(south)])
    distance = 12_742 * np.arcsin(np.sqrt(((a - b) ** 2).sum(axis=0)) / 2)
    to_north = np.stack([-np.sin(north) * np.cos(west), -np.sin(north) * np.sin(west), np.cos(north)])
    to_east = np.stack([-np.sin(west), np.cos(west), 0 * west])
    way = (b * to_north).sum(axis=0) + 1j * (b * to_east).sum(axis=0)
    return np.stack([distance, way / abs(way)], axis=1).ravel()


@small("slerp_poses", 2, 32, normal(160), normal(160, high=2), unit(40), zeros(160), i(40), output=3, tolerance=1e-4)
def _(start, end, when, out, n):
    a, b = (q.reshape(n, 4).astype("f8") for q in (start, end))
    a, b = (q / np.linalg.norm(q, axis=1, keepdims=True) for q in (a, b))
    b = np.where((a * b).sum(axis=1, keepdims=True) < 0, -b, b)
    angle, t = np.arccos((a * b).sum(axis=1, keepdims=True)), when[:, None]
    return ((np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)).ravel()


@small("skin_vertices", 2, 32, normal(150), numbers(200, 7, "u1"), Formed("shares", "f4", 200), normal(84), zeros(150),
       i(50), output=4, tolerance=1e-4)  # fmt: skip
def _(rest, bones, weights, matrices, out, n):
    points = np.append(rest.reshape(3, n).T, np.ones((n, 1)), axis=1)
    blended = (weights.reshape(n, 4, 1, 1) * matrices.reshape(7, 3, 4).astype("f8")[bones.reshape(n, 4)]).sum(axis=1)
    return (blended @ points[..., None])[..., 0].T.ravel()


# Signals.
@small("pll_track", 2, 32, normal(40 * 60), zeros(80), i(40), i(60), f(0.05), f(0.001), tolerance=1e-3)
def _(signal, out, channels, length, alpha, beta):
    phase, speed = np.zeros(channels), np.full(channels, 0.1)
    for values in signal.reshape(length, channels):
        error = values * np.cos(phase)
        speed = speed + beta * error
        phase = phase + speed + alpha * error
        phase = np.where(phase > np.pi, phase - 2 * np.pi, phase)
    return np.stack([phase, speed], axis=1).ravel()


@small("kalman_4", 2, 32, normal(2 * 40 * 9), zeros(160), i(40), i(9), f(0.01), f(0.5), tolerance=1e-3)
def _(measured, out, tracks, steps, process, noise):
    move, look = np.eye(4) + np.eye(4, k=2), np.eye(2, 4)
    state, spread = np.zeros((tracks, 4, 1)), 10 * np.eye(4)
    for seen in measured.reshape(steps, tracks, 2, 1).astype("f8"):
        state, spread = move @ state, move @ spread @ move.T + process * np.eye(4)
        gain = spread @ look.T @ np.linalg.inv(look @ spread @ look.T + noise * np.eye(2))
        state, spread = state + gain @ (seen - look @ state), spread - gain @ look @ spread
    return state.ravel()


@small("string_waves", 2, 64, normal(128), zeros(128), i(20), f(0.4), tolerance=1e-3)
def _(start, out, steps, courant):
    now = start.reshape(2, 64).astype("f8")
    before = now
    for _ in range(steps):
        later = np.zeros_like(now)
        later[:, 1:-1] = (2 * now - before)[:, 1:-1] + courant * np.diff(now, 2, axis=1)
        before, now = now, later
    return now.ravel()


@small("autocorrelations", 2, 32, normal(200), zeros(64), i(100), smem=400, tolerance=1e-4)
def _(frames, out, length):
    rows = frames.reshape(2, length).astype("f8")
    return np.ravel([[row[: length - lag] @ row[lag:] for lag in range(32)] for row in rows])


@small("levinson", 2, 64, Formed("correlations", "f4", 96), zeros(96), i(3), i(12), tolerance=1e-3)
def _(correlations, out, frames, order):
    """The coefficients solve the equations of Yule and Walker."""
    found = np.zeros((frames, 32))
    for row, r in zip(found, correlations.reshape(frames, 32).astype("f8"), strict=True):
        k = np.arange(order)
        row[: order + 1] = np.append(1, np.linalg.solve(r[abs(k[:, None] - k)], -r[1 : order + 1]))
    return found.ravel()


@small("beamformer", 3, 32, normal(2 * 5 * 32), normal(2 * 5 * 21), zeros(32 * 21), i(5), i(21), smem=320, output=2,
       tolerance=1e-3)  # fmt: skip
def _(weights, samples, power, microphones, length):
    w = weights.astype("f8").view("c16").reshape(microphones, 32)
    x = samples.astype("f8").view("c16").reshape(microphones, length)
    return (abs(x.T @ w) ** 2).ravel()


@small("affine_scan<4>", 2, 64, unit(1_200), normal(1_200), zeros(1_200), i(600), output=2, tolerance=1e-4)
def _(a, b, y, length):
    found = np.zeros((2, length))
    for row, factors, summands in zip(found, a.reshape(2, length), b.reshape(2, length), strict=True):
        value = 0.0
        for k in range(length):
            row[k] = value = float(factors[k]) * value + float(summands[k])
    return found.ravel()


# Machine learning.
@small("tiny_mlp<8>", 2, 32, normal(200), normal(129), zeros(50), i(50), output=2, tolerance=1e-3)
def _(inputs, weights, out, n):
    w = weights.astype("f8")
    first, second, third = w[:40].reshape(8, 5), w[40:112].reshape(8, 9), w[112:]
    hidden = np.maximum(inputs.reshape(n, 4) @ first[:, :4].T + first[:, 4], 0)
    hidden = np.maximum(hidden @ second[:, :8].T + second[:, 8], 0)
    return hidden @ third[:8] + third[8]


@small("rmsprop_step", 2, 32, normal(160), unit(160), normal(160, high=3), i(40), f(0.01), f(0.9), output=(0, 1),
       tolerance=1e-5)  # fmt: skip
def _(weights, squares, gradients, n, rate, decay):
    later = decay * squares + (1 - decay) * gradients.astype("f8") ** 2
    return weights - rate * gradients / (np.sqrt(later) + 1e-6), later


@small("compiled_forest<2, 5>", 2, 32, unit(400), zeros(50), i(50), tolerance=1e-6)
def _(rows, out, n):
    found = []
    for x in rows.reshape(8, n).T:
        total = 0.0
        for tree in (1, 2):
            node = tree << 5
            for _ in range(5):
                h = mixed(node)
                node = 2 * node + int(x[h & 7] >= (h >> 16) / 65_536)
                node %= 2**32
            total += (mixed(node) >> 16) / 65_536
        found.append(total)
    return found


# Chemistry and physics.
@small("arrhenius_rates<20>", 2, 32, Formed("from 300", "f4", 50, 1_500), unit(400), zeros(400), i(50), output=2,
       tolerance=1e-3)  # fmt: skip
def _(temperatures, species, out, n):
    t, y, change = temperatures.astype("f8"), species.reshape(8, n).astype("f8"), np.zeros((8, n))
    for reaction in range(20):
        h = mixed(reaction + 1)
        rate = np.exp((h >> 27) * 0.1 + (h >> 24 & 7) * 0.05 * np.log(t) - (h >> 16 & 255) * 4 / t)
        a, b, c = h & 7, h >> 3 & 7, h >> 6 & 7
        for k, share in ((a, -1), (b, -1), (c, 2)):
            change[k] += share * rate * y[a] * y[b]
    return change.ravel()


@small("structure_factors", 2, 32, normal(200, high=3), unit(4 * 90), zeros(100), i(50), i(90), output=2,
       tolerance=1e-3)  # fmt: skip
def _(directions, atoms, out, n, count):
    a, k = atoms.reshape(count, 4).astype("f8"), directions.reshape(n, 4)[:, :3].astype("f8")
    return (np.exp(1j * k @ a[:, :3].T) @ a[:, 3]).view("f8")


@small("gray_scott_tiles<4>", (2, 2), (32, 8), unit(40 * 30), unit(1_201), zeros(1_200), zeros(1_200), i(40), i(30),
       output=(2, 3), tolerance=1e-4)  # fmt: skip
def _(u, v, new_u, new_v, width, height):
    def spread(grid):
        return sum(np.roll(grid, step, axis) for step in (1, -1) for axis in (0, 1)) - 4 * grid

    p, q = u.reshape(height, width).astype("f8"), v[:-1].reshape(height, width).astype("f8")
    for _ in range(4):
        both = p * q * q
        p, q = p + 0.16 * spread(p) - both + 0.035 * (1 - p), q + 0.08 * spread(q) + both - 0.095 * q
    return p.ravel(), q.ravel()


@small("biharmonic_13", (2, 3), (16, 4), unit(25 * 14), zeros(350), i(25), i(14), tolerance=1e-3)
def _(grid, out, width, height):
    p, found = grid.reshape(height, width).astype("f8"), np.zeros((height, width))

    def laplace(a):
        return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]

    found[2:-2, 2:-2] = laplace(laplace(p))
    return found.ravel()


@small("shallow_water", (2, 4), (16, 4), Formed("water", "f4", 3 * 350), zeros(3 * 350), i(25), i(14), f(0.05),
       tolerance=1e-4)  # fmt: skip
def _(q, out, width, height, ratio):
    h, hu, hv = np.pad(q.reshape(3, height, width).astype("f8"), ((0, 0), (1, 1), (1, 1)), mode="edge")
    cells, push = np.stack([h, hu, hv]), 9.81 / 2 * h * h
    east = np.stack([hu, hu * hu / h + push, hu * hv / h])
    south = np.stack([hv, hu * hv / h, hv * hv / h + push])
    mean = (cells[:, 1:-1, :-2] + cells[:, 1:-1, 2:] + cells[:, :-2, 1:-1] + cells[:, 2:, 1:-1]) / 4
    flow = east[:, 1:-1, 2:] - east[:, 1:-1, :-2] + south[:, 2:, 1:-1] - south[:, :-2, 1:-1]
    return (mean - ratio * flow).ravel()


@small("three_bodies", 2, 32, normal(240, "f8"), zeros(240, "f8"), i(40), i(20), ("f8", 0.01), tolerance=1e-11)
def _(start, out, n, steps, step):
    places = start.reshape(3, n, 2)
    speeds = np.zeros_like(places)
    for _ in range(steps):
        apart = places[None] - places[:, None]
        squared = (apart**2).sum(axis=3, keepdims=True) + 0.25
        speeds = speeds + step * (apart / squared**1.5).sum(axis=1)
        places = places + step * speeds
    return places.ravel()


# Numerics.
@small("tanh_sinh", 2, 32, Formed("from half", "f8", 40, 3), zeros(40, "f8"), i(40), i(40), tolerance=1e-9)
def _(powers, out, n, points):
    return 1 / (powers + 1)


@small("cubic_roots", 2, 64, normal(300, "f8", 3), zeros(100, "f8"), i(100), tolerance=1e-7)
def _(coefficients, out, n):
    roots = [np.roots([1, *row]) for row in coefficients.reshape(3, n).T]
    assert len({np.isreal(three).all() for three in roots}) == 2
    return [three[np.isreal(three)].real.max() for three in roots]


@small("adaptive_simpson", 2, 32, unit(50), unit(51), zeros(50), i(50), f(0.001), output=2, tolerance=2e-3)
def _(centres, widths, out, n, tolerance):
    width = 0.02 + widths[:-1].astype("f8")
    return (np.arctan((1 - centres) / width) + np.arctan(centres / width)) / width


@small("pollard_rho", 1, 32, Formed("prime products", "u4", 30, 500), zeros(30, "u4"), i(30))
def _(products, out, n):
    return [next(k for k in range(3, 500) if product % k == 0) for product in products.tolist()]


@small("unrank_permutations<6>", 2, 32, numbers(50, 479_001_600, "u4"), zeros(300, "u1"), i(50))
def _(ranks, out, n):
    found = np.zeros((6, n), int)
    for column, rank in enumerate(ranks.tolist()):
        left, digits = list(range(6)), []
        for base in range(1, 7):
            rank, digit = divmod(rank, base)
            digits.append(digit)
        found[:, column] = [left.pop(digit) for digit in digits[::-1]]
    return found.ravel()


@small("shear_sort", 2, (32, 4), numbers(2_048, 5_000), zeros(2_048, "i4"))
def _(values, out):
    found = np.sort(values.reshape(2, 1_024), axis=1).reshape(2, 32, 32)
    found[:, 1::2] = found[:, 1::2, ::-1].copy()
    return found.ravel()


# Chance.
@small("heston_paths", 2, 32, zeros(2), i(12), f(1), f(0.95), u(1_618), output=0, tolerance=1e-3)
def _(means, steps, years, strike, seed):
    dt, found = years / steps, []
    for thread in range(64):
        draws, price, variance = luck_of(mixed(thread ^ int(seed))), 0.0, 0.04
        for _ in range(steps):
            length = math.sqrt(-2 * math.log(next(draws)))
            angle = 2 * math.pi * next(draws)
            one = length * math.cos(angle)
            two = -0.7 * one + math.sqrt(0.51) * length * math.sin(angle)
            positive = max(variance, 0)
            price += -positive * dt / 2 + math.sqrt(positive * dt) * one
            variance += 1.5 * (0.04 - positive) * dt + 0.3 * math.sqrt(positive * dt) * two
        found.append(max(math.exp(price) - strike, 0))
    return np.reshape(found, (2, 32)).mean(axis=1)


@small("gillespie", 1, 32, zeros(40, "i4"), i(20), i(150), f(3), u(31), output=0)
def _(out, n, events, until, seed):
    found = []
    for thread in range(n):
        draws, hares, lynxes, time = luck_of(mixed(thread ^ int(seed))), 50, 20, 0.0
        for _ in range(events):
            births, meals = hares, 0.02 * hares * lynxes
            total = births + meals + 0.8 * lynxes
            time -= math.log(next(draws)) / total
            if time > until:
                break
            which = next(draws) * total
            hares += 1 if which < births else -1 if which < births + meals else 0
            lynxes += 0 if which < births else 1 if which < births + meals else -1
            if not hares or not lynxes:
                break
        found += [hares, lynxes]
    return found


@small("connect_playouts", 1, 32, zeros(20, "i4"), i(20), i(3), u(4), output=0)
def _(balance, n, games, seed):
    lines = [
        [(x + k * dx, y + k * dy) for k in range(4)]
        for x in range(7)
        for y in range(6)
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        if x + 3 * dx < 7 and 0 <= y + 3 * dy < 6
    ]
    found = []
    for thread in range(n):
        state, total = mixed(thread ^ int(seed)), 0
        for _ in range(games):
            board, heights = {}, [0] * 7
            for ply in range(42):
                state = (state * 747796405 + 2891336453) % 2**32
                column = (state >> 16) % 7
                while heights[column] == 6:
                    column = (column + 1) % 7
                board[column, heights[column]] = player = 1 - 2 * (ply % 2)
                heights[column] += 1
                if any(all(board.get(place) == player for place in line) for line in lines):
                    total += player
                    break
        found.append(total)
    return found


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    made = {a for case in eleventh_cases.cases() for a in case.arguments if isinstance(a, Formed) and a.size < 500_000}
    assert {a.kind for a in made} == eleventh_cases.RECIPES.keys()
    assert [a for a in made if a.make().shape != (a.size,)] == []


def test_drawn_sizes_lie_between_their_bounds_and_are_the_same_each_time():
    found = drawn(3, 200, 10, 1_000)
    assert found == drawn(3, 200, 10, 1_000) != drawn(4, 200, 10, 1_000)
    assert min(found) >= 10
    assert max(found) <= 1_000
    assert 60 < sum(size < 100 for size in found) < 140


def test_every_node_of_the_routes_but_the_root_is_the_child_of_one():
    children = Formed("routes", "i4", 8 * 500, 9).make().reshape(-1, 2)[:, 0]
    assert sorted(children[children >= 0]) == list(range(1, 500))


def test_the_substitutions_of_aes_are_those_of_the_standard():
    box = Formed("aes tables", "u4", 512).make()[256:].tolist()
    assert (box[0x00], box[0x01], box[0x53], box[0xFF]) == (0x63, 0x7C, 0xED, 0x16)
    assert sorted(box) == list(range(256))
