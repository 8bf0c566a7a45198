"""The kernels of the tenth set compute what they say, and the emulator finds no fault in a small launch of each.

Of a template one instance runs.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from tests.hardware import tenth_cases
from tests.hardware.eighth_cases import offsets
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.small_launches import SmallLaunches
from tests.hardware.tenth_cases import Shaped
from tests.hardware.timing_cases import f, i, zeros
from tests.hardware.validation_cases import numbers, u
from tests.sampled import sampled

#: What `.ci/run` runs.
SAMPLE = ("winograd_input", "flood_tiles", "find_roots", "ctc_alpha", "bucket_by_splitters", "lms_filter")
small = SmallLaunches(tenth_cases, SAMPLE)


def test_every_kernel_of_the_set_has_a_small_launch():
    assert set(small.launches) == {case.kernel.partition("<")[0] for case in tenth_cases.cases()}


# Numerics.
@small("adaptive_steps", 2, 32, unit(40, high=3), zeros(80), zeros(40, "i4"), i(40), f(2), f(1e-5), tolerance=3e-3)
def _(stiffness, state, used, n, span, tolerance):
    def slope(s):
        return np.stack([s[1], stiffness * (1 - s[0] ** 2) * s[1] - s[0]])

    s, h = np.stack([np.full(n, 2.0), np.zeros(n)]), 0.002
    for _ in range(1_000):
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        s = s + h / 6 * (a + 2 * b + 2 * c + slope(s + h * c))
    return s.T.ravel()


@small("log_gammas", 2, 32, Shaped("above half", "f8", 100, 30), zeros(100, "f8"), i(100), tolerance=1e-12)
def _(x, y, n):
    return [math.lgamma(v) for v in x]


@small("eigen_3x3", 2, 64, normal(600), zeros(300), i(100), i(5), tolerance=1e-4)
def _(entries, out, n, sweeps):
    xx, yy, zz, xy, xz, yz = entries.reshape(6, n).astype("f8")
    return np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)).T.ravel()


@small("gram_schmidt<4>", 2, 64, normal(512), zeros(512), tolerance=1e-4)
def _(a, q):
    basis, triangle = np.linalg.qr(a.reshape(2, 64, 4).astype("f8"))
    return (basis * np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None]).ravel()


@small("restrict_grid", (2, 2), (8, 4), unit(24 * 14), zeros(12 * 7), i(24), i(14), tolerance=1e-5)
def _(fine, coarse, width, height):
    around = np.pad(fine.reshape(height, width).astype("f8"), 1, mode="edge")
    along = around[:, :-2] / 4 + around[:, 1:-1] / 2 + around[:, 2:] / 4
    return (along[:-2] / 4 + along[1:-1] / 2 + along[2:] / 4)[::2, ::2].ravel()


@small("red_black_sor", (1, 3), (16, 4), normal(21 * 12, "f8"), normal(21 * 12, "f8", 2), i(21), i(12), i(1),
       ("f8", 1.6), output=0, tolerance=1e-12)  # fmt: skip
def _(u, rhs, width, height, colour, omega):
    grid, b = u.reshape(height, width), rhs.reshape(height, width)
    found = grid.copy()
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            if (x + y + colour) % 2:
                mean = (grid[y - 1, x] + grid[y + 1, x] + grid[y, x - 1] + grid[y, x + 1] + b[y, x]) / 4
                found[y, x] = (1 - omega) * grid[y, x] + omega * mean
    return found.ravel()


@small("elliptic_agm", 2, 32, Shaped("below one", "f8", 60), zeros(60, "f8"), i(60), tolerance=1e-10)
def _(m, k, n):
    squares = np.sin(np.pi * np.arange(4096) / 4096) ** 2
    return np.pi / 2 * (1 / np.sqrt(1 - m[:, None] * squares)).mean(axis=1)


# Pictures.
@small("flood_tiles", 2, (32, 8), numbers(2_048, 2, "u1"), zeros(2_048, "i4"))
def _(ink, labels):
    found = np.full((2, 32, 32), 1 << 20)
    for tile, picture in zip(found, ink.reshape(2, 32, 32), strict=True):
        for start in range(1024):
            waiting = [divmod(start, 32)]
            while waiting:
                y, x = waiting.pop()
                if 0 <= y < 32 and 0 <= x < 32 and picture[y, x] and tile[y, x] == 1 << 20:
                    tile[y, x] = start
                    waiting += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return found.ravel()


@small("thin_edges", (2, 4), (16, 4), numbers(25 * 14, 256, "u1"), zeros(25 * 14, "i4"), i(25), i(14))
def _(grey, edges, w, h):
    p = grey.reshape(h, w).astype(int)
    gx, gy = p[1:-1, 2:] - p[1:-1, :-2], p[2:, 1:-1] - p[:-2, 1:-1]
    gx, gy = np.pad(gx, 2, mode="edge"), np.pad(gy, 2, mode="edge")
    power, found = gx**2 + gy**2, np.zeros((h, w), int)
    for y in range(h):
        for x in range(w):
            a, b = gx[y + 1, x + 1], gy[y + 1, x + 1]
            flat, steep = abs(a) > 2 * abs(b), abs(b) > 2 * abs(a)
            dy = 0 if flat else -1 if (a < 0) != (b < 0) and not steep else 1
            dx = 0 if steep else 1
            # The edge repeats from the last place that has a gradient, so a neighbour may be the pixel itself.
            ways = [power[y + 1 + s * dy, x + 1 + s * dx] for s in (1, -1)]
            here = power[y + 1, x + 1]
            found[y, x] = here if here > 900 and here >= max(ways) else 0
    return found.ravel()


@small("van_herk<3, 512>", (2, 3), 64, numbers(700 * 3, 999), zeros(700 * 3, "i4"), i(700))
def _(rows, out, width):
    padded = np.pad(rows.reshape(3, width), ((0, 0), (3, 3)), mode="edge")
    return np.min([padded[:, k : k + width] for k in range(7)], axis=0).ravel()


@small("equalise_tiles", 2, 64, numbers(8_192, 200, "u1"), zeros(8_192, "u1"))
def _(pixels, out):
    found = []
    for tile in pixels.reshape(2, 4096):
        found.append(np.bincount(tile, minlength=256).cumsum()[tile] * 255 // 4096)
    return np.ravel(found)


@small("distance_columns", (2, 20), 32, numbers(40 * 20, 9), zeros(800, "i4"), i(40), i(20))
def _(in_row, out, width, height):
    y = np.arange(height)
    return ((y[:, None] - y)[..., None] ** 2 + in_row.reshape(height, width) ** 2).min(axis=1).ravel()


@small("nlm_denoise", (2, 2), (16, 16), unit(25 * 20), zeros(500), i(25), i(20), f(2), tolerance=1e-5)
def _(picture, out, width, height, k):
    p = np.pad(picture.reshape(height, width).astype("f8"), 3, mode="edge")
    total, weights = np.zeros((height, width)), np.zeros((height, width))
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            moved = np.roll(p, (-dy, -dx), (0, 1))
            squares = (p - moved) ** 2
            apart = sum(np.roll(squares, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1))
            w = np.exp(-k * apart)[3:-3, 3:-3]
            weights += w
            total += w * moved[3:-3, 3:-3]
    return (total / weights).ravel()


@small("hough_votes", 3, 32, unit(160, high=30), Shaped("circle", "f4", 64), zeros(100 * 32, "u4"), i(80), i(30),
       i(100), output=2)  # fmt: skip
def _(points, directions, votes, n, each, rhos):
    found = np.zeros((32, rhos), int)
    for angle, (c, s) in enumerate(directions.reshape(32, 2)):
        rho = points[::2] * c + points[1::2] * s
        np.add.at(found[angle], np.clip(np.trunc(rho).astype(int) + rhos // 2, 0, rhos - 1), 1)
    return found.ravel()


@small("seam_costs", 2, 40, numbers(2 * 40 * 15, 99), zeros(80, "i4"), i(15), smem=320)
def _(energy, out, rows):
    costs = np.zeros((2, 40), int)
    for line in energy.reshape(2, rows, 40).transpose(1, 0, 2):
        padded = np.pad(costs, ((0, 0), (1, 1)), mode="edge")
        costs = line + np.minimum(costs, np.minimum(padded[:, :-2], padded[:, 2:]))
    return costs.ravel()


# Rendering.
@small("raster_tiles", (3, 3), (16, 16), Shaped("triangles", "i4", 8 * 90, 48), zeros(48 * 48, "i4"), i(90), i(48))
def _(triangles, picture, n, width):
    y, x = np.mgrid[:width, :width]
    found = np.full((width, width), -1)
    for record in sorted(triangles.reshape(n, 8).tolist(), key=lambda one: -one[6]):
        corners = [record[k : k + 2] for k in (0, 2, 4, 0)]
        sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for (ax, ay), (bx, by) in pairwise(corners)]
        inside = (np.min(sides, axis=0) >= 0) | (np.max(sides, axis=0) <= 0)
        box = [(v >= min(c)) & (v <= max(c)) for v, c in zip((x, y), zip(*corners, strict=True), strict=True)]
        found[inside & box[0] & box[1]] = record[7]
    return found.ravel()


@small("integrate_rays", (2, 3), (16, 4), numbers(8**3, 200, "u1"), unit(256), zeros(20 * 12), i(8), i(20), i(40_000),
       output=2, tolerance=1e-5)  # fmt: skip
def _(volume, opacity, picture, side, width, slope):
    found = np.zeros((12, width))
    for y in range(12):
        for x in range(width):
            px, py, through = (x * side * 256 // width) << 8, (y * side * 256 // 12) << 8, 1.0
            for z in range(side):
                if through <= 0.05:
                    break
                density = volume.reshape(side, side, side)[z, (py >> 16) % side, (px >> 16) % side]
                found[y, x] += through * opacity[density] * density
                through *= 1 - float(opacity[density])
                px, py = px + slope, py + slope // 2
    return found.ravel()


@small("perlin_fbm<3>", (2, 5), 32, Shaped("permutation", "i4", 256), zeros(50 * 5), i(50), f(0.31), tolerance=1e-4)
def _(permutation, out, width, scale):
    def hashed(ix, iy):
        return permutation[(permutation[ix % 256] + iy) % 256]

    def slope(h, x, y):
        first, second = np.where(h & 4, y, x), np.where(h & 4, x, y)
        return np.where(h & 1, -1, 1) * first + np.where(h & 2, -2, 2) * second

    y, x = np.mgrid[:5, :width].astype("f4") * np.float32(scale)
    total = np.zeros((5, width))
    for octave in range(3):
        fx, fy = x.astype("f8") * 2**octave, y.astype("f8") * 2**octave
        ix, iy = np.floor(fx).astype(int), np.floor(fy).astype(int)
        dx, dy = fx - ix, fy - iy
        sx, sy = (6 * d**5 - 15 * d**4 + 10 * d**3 for d in (dx, dy))
        for a in (0, 1):
            for b in (0, 1):
                weight = (sx if a else 1 - sx) * (sy if b else 1 - sy)
                total += 0.5**octave * weight * slope(hashed(ix + a, iy + b), dx - a, dy - b)
    return total.ravel()


# Graphs.
@small("boruvka_lightest", 4, 64, numbers(200, 50), numbers(201, 50), numbers(200, 1 << 32, "u4"), numbers(50, 9),
       zeros(9, "u8"), i(200), output=4)  # fmt: skip
def _(tails, heads, weight, component, best, edges):
    found = [0] * 9
    for e in range(edges):
        ends = {int(component[tails[e]]), int(component[heads[e]])}
        for c in ends if len(ends) == 2 else ():
            found[c] = max(found[c], (1 << 64) - 1 - (int(weight[e]) << 32 | e))
    return np.array(found, "u8")


@small("find_roots", 2, 32, Shaped("parents", "i4", 150, 3), zeros(300, "i4"), i(150))
def _(parent, out, n):
    found = []
    for node in range(n):
        depth = 0
        while parent[node] != node:
            node, depth = parent[node], depth + 1
        found += [node, depth]
    return found


@small("modes_of_neighbours", 2, 64, *lists(100, 9), numbers(100, 4), zeros(100, "i4"), i(100), output=3)
def _(starts, members, labels, out, nodes):
    found = []
    for node in range(nodes):
        counts = Counter(labels[members[starts[node] : starts[node + 1]][:16]].tolist())
        found.append(min(counts, key=lambda label: (-counts[label], label)) if counts else labels[node])
    return found


# Physics.
@small("yee_magnetic", (2, 3), (16, 4), normal(25 * 10), normal(250, high=2), normal(250, high=3), i(25), i(10), f(0.5),
       output=(1, 2), tolerance=1e-5)  # fmt: skip
def _(ez, hx, hy, width, height, courant):
    e, x, y = (a.reshape(height, width).astype("f8") for a in (ez, hx, hy))
    x[:-1, :-1] -= courant * np.diff(e, axis=0)[:, :-1]
    y[:-1, :-1] += courant * np.diff(e, axis=1)[:-1]
    return x.ravel(), y.ravel()


@small("element_products<8>", 2, 64, numbers(800, 90), unit(90), normal(64), zeros(800), i(100), output=3,
       tolerance=1e-4)  # fmt: skip
def _(nodes, u, matrix, out, elements):
    return (matrix.reshape(8, 8).astype("f8") @ u[nodes.reshape(8, elements)]).ravel()


@small("hll_fluxes", 2, 32, Shaped("gases", "f4", 300), zeros(300), i(100), tolerance=1e-4)
def _(q, flux, n):
    cells = q.reshape(3, n).astype("f8")
    speed = cells[1] / cells[0]
    pressure = 0.4 * (cells[2] - cells[1] * speed / 2)
    sound = np.sqrt(1.4 * pressure / cells[0])
    own = cells * speed + np.stack([0 * speed, pressure, pressure * speed])
    low = np.minimum(np.minimum((speed - sound)[:-1], (speed - sound)[1:]), 0)
    high = np.maximum(np.maximum((speed + sound)[:-1], (speed + sound)[1:]), 0)
    found = (high * own[:, :-1] - low * own[:, 1:] + low * high * np.diff(cells)) / (high - low)
    return np.pad(found, ((0, 0), (0, 1))).ravel()


@small("bond_angles", 3, 32, unit(160, high=9), numbers(240, 40), zeros(40), i(80), f(1.9), output=2, tolerance=1e-3)
def _(atoms, triples, energy, n, rest):
    a, b, c = atoms.reshape(40, 4)[triples.reshape(n, 3).T].astype("f8")
    p, q = (a - b)[:, :3], (c - b)[:, :3]
    norms = (p**2).sum(axis=1) * (q**2).sum(axis=1)
    bent = np.arccos(np.clip((p * q).sum(axis=1) / np.sqrt(norms + 1e-12), -0.999, 0.999)) - rest
    found = np.zeros(40)
    np.add.at(found, triples.reshape(n, 3), (b[:, 3] * bent**2 / 3)[:, None])
    return found


@small("neutron_walks", 2, 32, zeros(60, "i4"), i(60), f(3), f(0.1), u(5), output=0)
def _(collisions, n, thickness, absorbed, seed):
    def numbers_of(state):
        while True:
            state = (state * 747796405 + 2891336453) % 2**32
            yield ((state >> 9) + 0.5) / 2**23

    found = []
    for thread in range(n):
        luck = numbers_of(thread * 2654435761 % 2**32 ^ int(seed))
        next(luck)
        depth, way, count = 0.0, 1.0, 0
        while 0 <= (depth := depth - way * math.log(next(luck))) <= thickness:
            count += 1
            if next(luck) < absorbed:
                break
            way = 2 * next(luck) - 1
        found.append(count)
    return found


# Machine learning.
@small("route_tokens", 3, 64, normal(64 * 5), zeros(10, "i4"), zeros(10), zeros(64, "i4"), i(5), output=(1, 2, 3),
       tolerance=1e-5)  # fmt: skip
def _(logits, experts, shares, counts, tokens):
    rows = logits.reshape(tokens, 64).astype("f8")
    best = np.argsort(-rows, axis=1)[:, :2]
    powers = np.exp(np.take_along_axis(rows, best, 1))
    share = powers / powers.sum(axis=1, keepdims=True)
    return best.ravel(), share.ravel(), np.bincount(best.ravel(), minlength=64)


@small("lion_step", 2, 32, normal(160), normal(160, high=2), normal(160, high=3), i(40), f(0.01), output=(0, 1),
       tolerance=1e-5)  # fmt: skip
def _(weights, momentum, gradient, n, rate):
    way = np.sign(0.9 * momentum.astype("f8") + 0.1 * gradient)
    return weights - rate * (way + 0.01 * weights), 0.99 * momentum + 0.01 * gradient


@small("channel_stats", 5, 64, normal(3 * 5 * 90), zeros(10), i(3), i(5), i(90), tolerance=1e-4)
def _(x, stats, batch, channels, pixels):
    values = x.reshape(batch, channels, pixels).astype("f8")
    return np.stack([values.mean(axis=(0, 2)), values.var(axis=(0, 2))], axis=1).ravel()


@small("lstm_cell", 3, 64, normal(600), normal(150), zeros(150), i(3), i(50), output=(1, 2), tolerance=1e-5)
def _(gates, cell, hidden, rows, size):
    enter, forget, new, leave = gates.reshape(rows, 4, size).transpose(1, 0, 2).astype("f8")
    found = cell.reshape(rows, size) / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-enter))
    return found.ravel(), (np.tanh(found) / (1 + np.exp(-leave))).ravel()


@small("im2col_3x3", 3, 64, normal(3 * 9 * 7), zeros(27 * 63), i(3), i(9), i(7))
def _(x, cols, channels, width, height):
    padded = np.pad(x.reshape(channels, height, width), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return windows.transpose(0, 3, 4, 1, 2).ravel()


@small("winograd_input", 2, 32, normal(2 * 12 * 8), zeros(16 * 30), i(2), i(12), i(8), tolerance=1e-5)
def _(x, out, channels, width, height):
    change = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    planes = x.reshape(channels, height, width).astype("f8")
    tiles = np.lib.stride_tricks.sliding_window_view(planes, (4, 4), (1, 2))[:, ::2, ::2]
    return np.einsum("ri,cyxij,kj->rkcyx", change, tiles, change).ravel()


@small("nms_masks", (2, 2), 64, Shaped("whole boxes", "f4", 400, 60), zeros(200, "u8"), i(100))
def _(boxes, masks, n):
    b = boxes.reshape(n, 4)
    low, high = b[:, :2], b[:, :2] + b[:, 2:]
    common = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low)).clip(0).prod(axis=2)
    size = b[:, 2] * b[:, 3]
    over = np.triu(common > (size[:, None] + size - common) / 2, 1)
    return np.packbits(np.pad(over, ((0, 0), (0, 28))), axis=1, bitorder="little").view("u8").ravel()


@small("roi_align", 4, 64, normal(2 * 20 * 15), unit(8, high=9), zeros(196), i(2), i(20), i(15), i(2), output=2,
       tolerance=1e-4)  # fmt: skip
def _(maps, regions, out, channels, width, height, n):
    planes, found = maps.reshape(channels, height, width).astype("f8"), np.zeros((n, channels, 7, 7))
    for region, (left, top, across, down) in enumerate(regions.reshape(n, 4).astype("f8")):
        for by, bx, sy, sx in np.ndindex(7, 7, 2, 2):
            x = np.clip(left + across / 7 * (bx + (1 + 2 * sx) / 4), 0, width - 1.001)
            y = np.clip(top + down / 7 * (by + (1 + 2 * sy) / 4), 0, height - 1.001)
            for dy, dx in np.ndindex(2, 2):
                weight = abs(1 - dx - x % 1) * abs(1 - dy - y % 1)
                found[region, :, by, bx] += weight / 4 * planes[:, int(y) + dy, int(x) + dx]
    return found.ravel()


@small("ctc_alpha", 2, 9, normal(2 * 12 * 5), Shaped("from one", "i4", 8, 5), zeros(18), i(12), i(5), smem=72, output=2,
       seen=lambda found: np.exp(found), tolerance=1e-3, absolute=0)  # fmt: skip
def _(scores, labels, out, steps, letters):
    found = []
    for rows, label in zip(np.exp(scores.reshape(2, steps, letters).astype("f8")), labels.reshape(2, 4), strict=True):
        states = np.zeros(9, int)
        states[1::2] = label
        alpha = np.zeros(9)
        alpha[:2] = rows[0, states[:2]]
        for row in rows[1:]:
            before = alpha
            alpha = before.copy()
            alpha[1:] += before[:-1]
            for s in range(3, 9, 2):
                alpha[s] += before[s - 2] * (states[s] != states[s - 2])
            alpha *= row[states]
        found.append(alpha)
    return np.ravel(found)


@small("nf4_unpack", 2, 32, numbers(80, 1 << 32, "u4"), unit(10), zeros(320, "u4"), i(80), output=2, tolerance=1e-3,
       seen=lambda found: found.view("f2"))  # fmt: skip
def _(words, scales, out, n):
    half = [0.0, 0.079580, 0.160930, 0.246112, 0.337915, 0.440710, 0.562617, 0.722956, 1.0]
    other = [-1.0, -0.696193, -0.525073, -0.394917, -0.284441, -0.184773, -0.091050]
    digits = words[:, None] >> (4 * np.arange(8, dtype="u4")) & 15
    return (np.array(other + half)[digits] * np.repeat(scales, 8)[:, None]).ravel()


# Databases.
@small("radix_partition<16, 4>", 2, 64, numbers(400, 1 << 32, "u4"), zeros(16, "u4"), zeros(16 * 64, "u4"), i(400),
       i(64), output=(1, 2), seen=lambda found: np.sort(found.reshape(16, -1)))  # fmt: skip
def _(keys, heads, out, n, room):
    parts = [np.sort(keys[keys % 16 == part]) for part in range(16)]
    return [[len(part)] for part in parts], [np.append(np.zeros(room - len(part), "u4"), part) for part in parts]


@small("filtered_revenue", 2, 64, numbers(300, 2_000), numbers(300, 11, "u1"), numbers(300, 50, "u1"),
       numbers(300, 99_999), zeros(1, "u8"), i(300), i(100), i(1_500), i(40), output=4)  # fmt: skip
def _(day, discount, quantity, price, total, n, first, last, most):
    kept = (day >= first) & (day < last) & (abs(discount.astype(int) - 6) <= 1) & (quantity < most)
    return [(price[kept].astype(int) * discount[kept]).sum()]


@small("unpack_bits<5>", 4, 64, numbers(33, 1 << 32, "u4"), numbers(2, 1 << 20), zeros(200, "i4"), i(200), output=2)
def _(words, bases, out, n):
    bits = np.unpackbits(words.view("u1"), bitorder="little")[: 5 * n].reshape(n, 5)
    return bits @ (1 << np.arange(5)) + np.repeat(bases, 128)[:n]


@small("like_rows", 4, 64, numbers(250 * 12, 3, "u1"), zeros(250, "u1"), i(250), i(12), u(0x020100), u(0x0102))
def _(text, matches, rows, width, first, second):
    found = []
    for row in text.reshape(rows, width):
        _, here, after = bytes(row).partition(b"\0\1\2")
        found.append(bool(here) and b"\2\1" in after)
    assert 0 < sum(found) < rows
    return found


@small("expand_runs", 2, 32, offsets(30, 8), numbers(30, 999), zeros(240, "i4"), i(30), i(240), output=2)
def _(starts, values, out, runs, n):
    return np.repeat(values, np.diff(starts))


# Signals.
@small("biquad_bank<2>", 2, 32, normal(50 * 20), unit(10), zeros(1_000), i(50), i(20), output=2, tolerance=1e-4)
def _(x, coefficients, y, channels, length):
    signal = x.reshape(length, channels).astype("f8")
    for b0, b1, b2, a1, a2 in coefficients.reshape(2, 5).astype("f8"):
        filtered = np.zeros((length + 2, channels))
        padded = np.pad(signal, ((2, 0), (0, 0)))
        for t in range(2, length + 2):
            filtered[t] = b0 * padded[t] + b1 * padded[t - 1] + b2 * padded[t - 2]
            filtered[t] -= 0.4 * (a1 * filtered[t - 1] + a2 * filtered[t - 2])
        signal = filtered[2:]
    return signal.ravel()


@small("goertzel_bins", 2, 32, normal(2 * 60), zeros(64), i(60), smem=240, tolerance=1e-3)
def _(x, power, length):
    angles = np.pi * (np.arange(32) + 0.5) / 32
    waves = np.exp(-1j * angles[:, None] * np.arange(length))
    return (abs(x.reshape(2, length) @ waves.T) ** 2).ravel()


@small("polyphase<3, 2, 16>", 2, 32, normal(60), normal(48), zeros(90), i(60), i(90), output=2, tolerance=1e-4)
def _(x, taps, y, n, m):
    stuffed = np.zeros(3 * n)
    stuffed[::3] = x
    return np.convolve(stuffed, taps)[: 2 * m : 2]


@small("ldpc_checks<6>", 2, 32, normal(100), numbers(300, 100), zeros(300), i(50), output=2, tolerance=1e-6)
def _(bits, places, out, checks):
    values = bits[places.reshape(6, checks)]
    found = []
    for k in range(6):
        others = np.delete(values, k, axis=0)
        found.append(0.75 * np.sign(others).prod(axis=0) * abs(others).min(axis=0))
    return np.ravel(found)


@small("lms_filter", 2, 64, normal(3 * 50), normal(150, high=2), zeros(150), i(3), i(50), f(0.02), output=2,
       tolerance=1e-4)  # fmt: skip
def _(x, wanted, errors, channels, length, rate):
    found = []
    for signal, goal in zip(x.reshape(channels, length), wanted.reshape(channels, length), strict=True):
        weights, padded = np.zeros(32), np.append(np.zeros(31), signal)
        for t in range(length):
            window = padded[t : t + 32][::-1]
            found.append(goal[t] - weights @ window)
            weights += rate * found[-1] * window
    return found


# Finance.
@small("sobol_integrals", 2, 32, Shaped("directions", "u4", 256), zeros(2), i(9), tolerance=1e-4)
def _(directions, out, each):
    total = []
    for point in range(64 * each):
        x = np.zeros(8, "u4")
        for bit in range(32):
            if (point ^ point >> 1) >> bit & 1:
                x ^= directions[bit::32]
        total.append(np.prod((abs(4 * (x >> 8) / 2**24 - 2) + np.arange(8)) / (1 + np.arange(8))))
    return np.reshape(total, (2, -1)).mean(axis=1)


@small("bond_yields", 2, 32, Shaped("above half", "f4", 50, 1), unit(50), Shaped("from one", "i4", 50, 30), zeros(50),
       i(50), output=3, tolerance=1e-4)  # fmt: skip
def _(prices, coupons, years, yields, n):
    low, high = np.zeros(n), np.full(n, 0.5)
    for _ in range(20):
        rate = (low + high) / 2
        value = (1 + rate) ** -years.astype("f8")
        for year in range(1, 30):
            value += np.where(year <= years, coupons * (1 + rate) ** -year, 0)
        low, high = np.where(value > prices, rate, low), np.where(value > prices, high, rate)
    return (low + high) / 2


# Bioinformatics.
@small("minimizers<11, 20>", 3, 64, numbers(150, 4, "u1"), zeros(150, "u4"), i(150))
def _(letters, out, n):
    words = np.lib.stride_tricks.sliding_window_view(letters, 11) @ (4 ** np.arange(10, -1, -1))
    h = words.astype("u4") * np.uint32(0x9E3779B1)
    h = (h ^ h >> np.uint32(15)) * np.uint32(0x85EBCA77)
    h ^= h >> np.uint32(13)
    least = np.lib.stride_tricks.sliding_window_view(h, 20).min(axis=1)
    return np.append(least, np.zeros(n - len(least), "u4"))


@small("motif_scan", 2, 64, numbers(100, 4, "u1"), normal(4 * 3 * 7), zeros(100), i(100), i(3), i(7), smem=336,
       output=2, tolerance=1e-5)  # fmt: skip
def _(letters, weights, best, n, motifs, length):
    table, found = weights.reshape(motifs, length, 4), np.zeros(n)
    for place in range(n - length + 1):
        found[place] = table[:, np.arange(length), letters[place : place + length]].sum(axis=1).max()
    return found


@small("linked_variants", (2, 2), (16, 16), numbers(32 * 32, 1 << 32, "u4"), zeros(1_024, "i4"), i(32), i(32))
def _(people, both, variants, words):
    bits = np.unpackbits(people.view("u1")).reshape(variants, -1).astype(int)
    return (bits @ bits.T).ravel()


# Codes and compression.
@small("match_lengths", 2, 64, numbers(300, 2, "u1"), numbers(300, 40), zeros(300, "u1"), i(300), output=2)
def _(text, distances, out, n):
    found = []
    for at in range(n):
        start, length = at - 1 - distances[at], 0
        while start >= 0 and length < 32 and at + length < n and text[start + length] == text[at + length]:
            length += 1
        found.append(length)
    return found


@small("rans_decode", 2, 32, numbers(22 * 50, 1 << 16, "u2"), Shaped("slots", "u4", 4_096, 60), zeros(1_000, "u1"),
       i(50), i(20), output=2)  # fmt: skip
def _(streams, table, out, n, symbols):
    found = np.zeros((symbols, n), int)
    for stream, words in enumerate(streams.reshape(-1, n).T.tolist()):
        state, following = words[0] << 16 | words[1], iter(words[2:])
        for k in range(symbols):
            entry = int(table[state % 4096])
            found[k, stream] = entry >> 24
            state = (entry >> 12) % 4096 * (state // 4096) + entry % 4096
            if state < 1 << 16:
                state = state << 16 | next(following)
    return found.ravel()


@small("adler_pieces", 3, 64, numbers(900, 256, "u1"), zeros(3, "u4"), i(300))
def _(data, sums, piece):
    return [zlib.adler32(part.tobytes()) for part in data.reshape(-1, piece)]


@small("raid_parity<4>", 2, 32, numbers(200, 1 << 32, "u4"), zeros(150, "u4"), i(50))
def _(data, parity, n):
    def times(a, b):
        product = 0
        for bit in range(8):
            product ^= a << bit if b >> bit & 1 else 0
        for bit in range(14, 7, -1):
            product ^= 0x11D << (bit - 8) if product >> bit & 1 else 0
        return product

    found = np.zeros((3, 4 * n), int)
    for k, disk in enumerate(data.view("u1").reshape(4, 4 * n).tolist()):
        for row, base in enumerate((1, 2, 4)):
            factor = 1
            for _ in range(3 - k):
                factor = times(factor, base)
            found[row] ^= [times(factor, byte) for byte in disk]
    return found.astype("u1").view("u4").ravel()


# Sorting and searching.
@small("bucket_by_splitters", 2, 64, numbers(300, 1 << 30), Shaped("splitters", "i4", 256, 1 << 30), zeros(300, "u1"),
       zeros(256, "i4"), i(300), output=(2, 3))  # fmt: skip
def _(keys, splitters, buckets, counts, n):
    found = np.searchsorted(splitters[:255], keys, side="right")
    return found, np.bincount(found, minlength=256)


@small("comb_sort<16>", 2, 32, numbers(16 * 50, 999), zeros(800, "i4"), i(50))
def _(values, out, rows):
    return np.sort(values.reshape(16, rows), axis=0).ravel()


@small("first_failed", 2, 64, numbers(60, 64), zeros(100, "i4"), i(20), i(100), u(77))
def _(clauses, failed, count, n, seed):
    found = []
    for thread in range(n):
        h = thread ^ int(seed)
        h = (h ^ h >> 16) * 0x7FEB352D % 2**32
        h = (h ^ h >> 15) * 0x846CA68B % 2**32
        h ^= h >> 16
        held = [any((h >> (v >> 1) & 1) != v & 1 for v in clause) for clause in clauses.reshape(count, 3).tolist()]
        found.append([*held, False].index(False))
    return found


@pytest.mark.parametrize("name", sampled(small.launches, lambda name: name in SAMPLE))
def test_a_small_launch_is_right_and_without_a_finding(name):
    small.check(name)


def test_an_array_has_its_size():
    made = {a for case in tenth_cases.cases() for a in case.arguments if isinstance(a, Shaped) and a.size < 300_000}
    assert {a.kind for a in made} >= tenth_cases.RECIPES.keys() - {"gases"}
    assert [a for a in made if a.make().shape != (a.size,)] == []


def test_the_slots_of_a_decoder_are_those_of_frequencies_that_fill_the_table():
    table = Shaped("slots", "u4", 4_096, 60).make()
    symbols, counts = np.unique(table >> 24, return_counts=True)
    assert symbols.tolist() == list(range(60))
    assert all(set(table[table >> 24 == s] >> 12 & 4095) == {count} for s, count in zip(symbols, counts, strict=True))
    assert (np.diff(table & 4095)[np.diff(table >> 24) == 0] == 1).all()


def test_every_node_of_a_forest_comes_to_one_of_its_roots():
    parent = Shaped("parents", "i4", 500, 4).make()
    found = np.arange(500)
    for _ in range(500):
        found = parent[found]
    assert len(set(found)) == (parent == np.arange(500)).sum() == 4
