"""A fourteenth set of launches for the timing model: other kernels than those of the thirteen sets before it, as
programs have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM.
They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import Made, halves, lists, normal, unit, up
from tests.hardware.timing_cases import Array, ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "fourteenth.cu"
FILE = "fourteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def hashes(x: Any) -> np.ndarray:
    """The hash of the kernels, of whole numbers: uint32."""
    x = np.asarray(x).astype("u8")
    x = (x ^ x >> 17) * 0xED5AD4BB & 0xFFFFFFFF
    x = (x ^ x >> 11) * 0xAC4C1B51 & 0xFFFFFFFF
    return (x ^ x >> 15).astype("u4")


def _table_keys(count: int) -> np.ndarray:
    """``count`` different keys below 2 * ``count``."""
    return np.random.default_rng(count).permutation(2 * count)[:count]


@cache
def _chains(count: int, buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the chain of each bucket begins, and what follows on each key; -1 is the end."""
    heads, links = np.full(buckets, -1), np.full(count, -1)
    for at, bucket in enumerate((hashes(_table_keys(count)) & np.uint32(buckets - 1)).tolist()):
        links[at], heads[bucket] = heads[bucket], at
    return heads, links


@cache
def _parents(nodes: int) -> np.ndarray:
    """The node above each node of a deep tree; the root is above itself."""
    k = np.arange(nodes)
    return np.maximum(k - 1 - np.random.default_rng(nodes).integers(0, 40, nodes), 0)


def _ancestors(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """What is 1, 2, 4, ... steps above each of ``high`` nodes."""
    levels = [_parents(high)]
    while len(levels) * high < size:
        levels.append(levels[-1][levels[-1]])
    return np.stack(levels)


def _depths(size: int, high: int, rng: np.random.Generator) -> list[int]:
    """How far each node is below the root."""
    found = [0]
    for above in _parents(size).tolist()[1:]:
        found.append(found[above] + 1)
    return found


def _suffixes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The sorted suffixes of the text ``numbers(size, high, "u1")``."""
    rank, step = numbers(size, high, "u1").make().astype(int), 1
    while step < size:
        behind = np.append(rank[step:], np.full(step, -1))
        order = np.lexsort((behind, rank))
        change = (np.diff(rank[order]) != 0) | (np.diff(behind[order]) != 0)
        rank[order] = np.append(0, change.cumsum())
        step *= 2
    return np.argsort(rank)


@cache
def _intervals(count: int, high: int) -> np.ndarray:
    """Starts, which rise, ends, and the greatest end of what lies below the middle of each part."""
    rng = np.random.default_rng(count)
    starts = np.sort(rng.integers(0, high, count))
    ends = starts + 1 + np.minimum(rng.pareto(1.2, count) * high / count, high / 4).astype(int)
    latest = np.zeros(count, int)

    def fill(low: int, end: int) -> int:
        if low >= end:
            return 0
        middle = (low + end) // 2
        latest[middle] = max(ends[middle], fill(low, middle), fill(middle + 1, end))
        return int(latest[middle])

    fill(0, count)
    return np.stack([starts, ends, latest])


def _energies(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A grid of energies from 0 to 1."""
    found = np.sort(rng.random(size))
    found[[0, -1]] = 0, 1
    return found


def _beside(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Four neighbours of each cell at most ``high`` away; -1 where there is none."""
    n = size // 4
    found = np.arange(n) + rng.integers(-high, high + 1, (4, n))
    return np.where((found < 0) | (found >= n), -1, found)


def _walks(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Prices of ``high`` series, day by day."""
    return 100 * np.exp(rng.normal(0, 0.02, (size // high, high)).cumsum(axis=0))


def _globs(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Patterns of the letters a to c, * and ?, with ``high`` bytes each, which end with a zero."""
    found = rng.choice(np.frombuffer(b"aaabbbccc*?", "u1"), (size // high, high))
    found[:, 0] = rng.choice(np.frombuffer(b"a*", "u1"), len(found))
    lengths = rng.integers(3, min(12, high - 1), len(found))
    return np.where(np.arange(high) < lengths[:, None], found, 0)


def _names(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Names of the letters a to c, with ``high`` bytes each, which end with a zero."""
    found = rng.choice(np.frombuffer(b"aaabbc", "u1"), (size // high, high))
    return np.where(np.arange(high) < rng.integers(1, high, len(found))[:, None], found, 0)


def _point_sets(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``high`` sets of points, each sorted by x, then y: the first points of all sets, then the second ones."""
    found = rng.normal(0, 60, (size // 2 // high, high, 2)).round().clip(-99, 99)
    order = np.argsort(1_000 * found[..., 0] + found[..., 1], axis=0)
    return np.take_along_axis(found, order[..., None], axis=0)


def _sudokus(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Puzzles with ``high`` open cells: the first cells of all puzzles, then the second ones."""
    row, column = np.divmod(np.arange(81), 9)
    found = np.zeros((81, size // 81), int)
    for puzzle in found.T:
        rows = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
        columns = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
        puzzle[:] = 1 + rng.permutation(9)[(3 * rows[row] + rows[row] // 3 + columns[column]) % 9]
        puzzle[rng.choice(81, high, replace=False)] = 0
    return found


def _programs(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Tableaux of linear programs with ``high`` unknowns and as many limits; the last row holds what is to be small."""
    count = size // ((high + 1) * (2 * high + 1))
    found = np.zeros((count, high + 1, 2 * high + 1))
    found[:, :high, :high] = rng.uniform(0.1, 1, (count, high, high)) * (rng.random((count, high, high)) < 0.7)
    found[:, :high, :high] += 0.2 * np.eye(high)
    found[:, :high, high : 2 * high] = np.eye(high)
    found[:, :high, -1] = rng.uniform(1, 2, (count, high))
    found[:, high, :high] = -rng.uniform(0.5, 1, (count, high))
    return found


def _three_diagonals(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Systems of ``high`` rows: the diagonals below, at and above the middle, and the right sides."""
    found = rng.uniform(-1, 1, (size // 4 // high, 4, high))
    found[:, 1] = 3 + abs(found[:, 1])
    found[:, 0, 0] = found[:, 2, -1] = 0
    return found


def _symmetric(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Symmetric matrices of ``high`` x ``high``."""
    found = rng.normal(0, 1, (size // high // high, high, high))
    return found + found.transpose(0, 2, 1)


def _lower(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Lower triangles of ``high`` x ``high``."""
    return np.tril(rng.uniform(-0.5, 0.5, (size // high // high, high, high))) + 1.5 * np.eye(high)


def _gas(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Density, momentum and energy in tubes of ``high`` cells, with a jump in the middle."""
    tubes = size // 3 // high
    left = (np.arange(high) < high // 2) * rng.uniform(0.3, 1, (tubes, 1)) + 0.3
    return np.stack([left, 0.1 * left, 2.5 * left], axis=1)


def _orbits(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Amplitudes, phases and frequencies."""
    terms = size // 3
    return np.stack([1 / np.arange(1, terms + 1), rng.uniform(0, 6, terms), rng.uniform(0, 90, terms)], axis=1)


def _surfaces(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Surfaces of a lens: gap, radius, ratio of the indices, square of the opening."""
    k = np.arange(size // 4)
    return np.stack([2 + k % 3, np.where(k % 2, -1, 1) * (30 + 7 * (k % 4)), np.where(k % 2, 1.5, 1 / 1.5),
                     np.full(len(k), 90)], axis=1)  # fmt: skip


def _wing(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The corners of a wing, closed."""
    angles = 2 * np.pi * np.arange(size // 2) / (size // 2 - 1)
    return np.stack([np.cos(angles), 0.12 * np.sin(angles) * (1 - np.cos(angles)) + 0.05 * np.sin(angles)], axis=1)


def _sorted_boxes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Boxes (left, right, top, bottom), sorted; the left side of about ``high`` others is within a box."""
    left, n = np.sort(rng.random(size // 4)), size // 4
    top = rng.random(n)
    return np.stack([left, left + rng.uniform(0, 2 * high / n, n), top, top + rng.uniform(0, 0.1, n)], axis=1)


def _heights(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Ranges between 0 and 2."""
    low = rng.random(size // 2)
    return np.stack([low, low + rng.random(size // 2)], axis=1)


def _clicks(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Times that rise, most by less than ``high`` and some by much more."""
    return np.minimum(1 + rng.pareto(1.1, size) * high / 6, 20 * high).astype(int).cumsum()


@cache
def _zone_rows(zones: int, each: int) -> np.ndarray:
    """Numbers of ``zones`` zones; a zone has numbers from a narrow part of all of them."""
    rng = np.random.default_rng(zones)
    return rng.integers(0, 900_000, (zones, 1)) + rng.integers(0, 60_000, (zones, each))


def _zones(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The least and the greatest number of each zone of ``high`` numbers."""
    rows = _zone_rows(size // 2, high)
    return np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1)


def _popular(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers below ``high``; small ones come more often, by the law of Zipf."""
    return (high ** rng.random(size)).astype(int) - 1


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "table keys": lambda size, high, rng: _table_keys(size),
    "heads": lambda size, high, rng: _chains(high, size)[0],
    "links": lambda size, high, rng: _chains(size, high)[1],
    "ancestors": _ancestors,
    "depths": _depths,
    "suffixes": _suffixes,
    "starts": lambda size, high, rng: _intervals(size, high)[0],
    "ends": lambda size, high, rng: _intervals(size, high)[1],
    "latest": lambda size, high, rng: _intervals(size, high)[2],
    "energies": _energies,
    "beside": _beside,
    "walks": _walks,
    "globs": _globs,
    "names": _names,
    "point sets": _point_sets,
    "sudokus": _sudokus,
    "programs": _programs,
    "three diagonals": _three_diagonals,
    "symmetric": _symmetric,
    "lower": _lower,
    "gas": _gas,
    "orbits": _orbits,
    "surfaces": _surfaces,
    "wing": _wing,
    "sorted boxes": _sorted_boxes,
    "heights": _heights,
    "clicks": _clicks,
    "zone rows": lambda size, high, rng: _zone_rows(size // high, high),
    "zones": _zones,
    "popular": _popular,
    "squares": lambda size, high, rng: (_centres(size, high).make().reshape(size, 16) ** 2).sum(axis=1),
    "skewed bits": lambda size, high, rng: np.bitwise_and.reduce(rng.integers(0, 1 << 32, (high, size)), axis=0),
    "temperatures": lambda size, high, rng: rng.uniform(1_000, high, size),
    "within": lambda size, high, rng: rng.uniform(-0.01 * high, 0.01 * high, size),
    "factors": lambda size, high, rng: np.exp(rng.normal(0, 0.01, size)),
    "maps": lambda size, high, rng: rng.uniform(-0.45, 0.45, size) * np.resize([1, 1, 3], size),
}


class Arranged(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_tensors, _tables, _trees, _graphs, _lookups, _chains_in_time, _codes, _hashes, _divisions, _lights,
         _surfaces_and_maps, _doubles, _reversed, _systems, _matrices, _sorts, _worlds, _orders, _counts, _groups,
         _puzzles, _strings, _small_sets, _games, _straight, _votes, _copied, _rows, _samples, _pictures, _fields,
         _streams, _few, _uneven, _crowded)
    )  # fmt: skip


def _centres(count: int, high: int = 40) -> Array:
    """Centres of 16 whole numbers."""
    return numbers(16 * count, high, "f4")


def _tensors(case: Any) -> None:
    def linear(rows: int, columns: int, depth: int) -> tuple[Any, ...]:
        return (halves(rows * depth // 2), halves(depth * columns // 2, 2), normal(columns), zeros(rows * columns),
                i(rows), i(columns), i(depth))  # fmt: skip

    spread(case, "tensor", "linear_relu_wmma", 1_024 * 1_024 // 8, (32, 64, 256), *linear(1_024, 1_024, 512))
    spread(case, "tensor", "linear_relu_wmma", 128 * 1_024 // 8, 128, *linear(128, 1_024, 768))
    for n, depth in ((512, 128), (1_536, 64)):
        case("tensor", "bf16_scores", (n // 64, n // 64), 128, Made("bf16", "u2", n * depth, 1),
             Made("bf16", "u2", n * depth, 2), zeros(n * n), i(n), i(depth), f(depth**-0.5))  # fmt: skip
    for n, taps, blocks in ((40_000, 9, (64, 128, 512)), (8_000, 25, 64)):
        spread(case, "tensor", "conv_bytes_mma", 2 * n, blocks, numbers(8 * (n + taps + 15), 1 << 32, "u4"),
               numbers(256 * taps, 1 << 32, "u4"), zeros(32 * n, "i1"), i(n), i(taps), i(9))  # fmt: skip
    n, count, blocks = 30_000, 256, (64, 128, 256)
    spread(case, "tensor", "assign_tf32", 2 * n, blocks, numbers(16 * n, 40, "f4"), _centres(count),
           Arranged("squares", "f4", count, 40), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    for rows in (3_001, 60_013):
        case("stream" if rows > 9_000 else "tensor", "scan_by_mma", up(32 * rows, 128), 128,
             halves(128 * rows), zeros(256 * rows), i(rows))  # fmt: skip


def _tables(case: Any) -> None:
    for n, keys, buckets, blocks in ((100_003, 40_009, 16_384, (64, 256, 1_024)), (200_003, 500_009, 65_536, 128)):
        spread(case, "latency", "chained_lookup", n, blocks, Arranged("heads", "i4", buckets, keys),
               Arranged("links", "i4", keys, buckets), Arranged("table keys", "i4", keys),
               numbers(keys, 1 << 30), numbers(n, 2 * keys), zeros(n, "i4"), i(n), u(buckets - 1))  # fmt: skip
    n, size, length, blocks = 20_011, 50_021, 12, (64, 128, 512)
    spread(case, "latency", "suffix_search", n, blocks, numbers(size, 4, "u1"),
           Arranged("suffixes", "i4", size, 4), numbers(n * length, 4, "u1"), zeros(n, "i4"), i(n), i(size),
           i(length))  # fmt: skip


def _trees(case: Any) -> None:
    n, nodes, levels, blocks = 300_007, 100_003, 15, 192
    spread(case, "latency", "lca_lifting", n, blocks, Arranged("ancestors", "i4", levels * nodes, nodes),
           Arranged("depths", "i4", nodes), numbers(2 * n, nodes), zeros(n, "i4"), i(n), i(nodes),
           i(levels))  # fmt: skip
    for n, count, blocks in ((16_384, 5_003, (64, 128, 256)), (120_011, 30_011, 128)):
        spread(case, "local", "interval_stabs", n, blocks,
               *(Arranged(kind, "i4", count, 1_000_000) for kind in ("starts", "ends", "latest")),
               numbers(n, 1_000_000), zeros(n, "i4"), i(n), i(count))  # fmt: skip


def _graphs(case: Any) -> None:
    for nodes, mean, blocks in ((60_013, 12, (64, 256, 1_024)), (8_009, 30, 128)):
        spread(case, "graph", "luby_round", nodes, blocks, *lists(nodes, mean), numbers(nodes, 2, "u1"),
               zeros(nodes, "u1"), i(nodes), u(5))  # fmt: skip
    for n, nodes, mean, block in ((10_007, 20_011, 10, 128), (50_021, 50_021, 4, 256)):
        spread(case, "atomics", "token_firings", n, block, *lists(nodes, mean), numbers(nodes, 7, "u1"),
               numbers(n, nodes), zeros(nodes, "i4"), zeros(1 << 17, "i4"), zeros(1, "i4"), i(n),
               i((1 << 17) - 1))  # fmt: skip
    for n, nodes, grid in ((400_009, 50_021, 264), (1_500_007, 3_001, 528)):
        case("atomics", "edge_degrees", grid, 256, Arranged("popular", "i4", 2 * n, nodes), zeros(nodes, "i4"),
             zeros(nodes, "i4"), i(n))  # fmt: skip


def _lookups(case: Any) -> None:
    for n, points, nuclides, blocks in ((20_011, 6_007, 120, (64, 128, 512)), (60_013, 60_013, 12, 128)):
        spread(case, "cache", "cross_sections", n, blocks, Arranged("energies", "f4", points),
               unit(points * nuclides), unit(nuclides), unit(n), zeros(n), i(n), i(points), i(nuclides))  # fmt: skip
    for n, words, samples, blocks in ((8_009, 10_007, 5, 128), (30_011, 30_011, 10, 256)):
        spread(case, "cache", "negative_samples", 32 * n, blocks, normal(128 * words),
               Arranged("within", "f4", 128 * words, 20), Arranged("popular", "i4", 2 * n, words), zeros(n),
               i(n), i(words), i(samples), u(3))  # fmt: skip
    for category, n, far, blocks in (("cache", 200_003, 50_000, 128), ("stream", 1_500_007, 1_000, 256)):
        spread(case, category, "mesh_gradients", n, blocks, normal(n), Arranged("beside", "i4", 4 * n, far),
               normal(8 * n), zeros(2 * n), i(n))  # fmt: skip


def _chains_in_time(case: Any) -> None:
    for n, customers, blocks in ((16_384, 150, (32, 128, 512)), (1_001, 800, 64)):
        spread(case, "sfu", "lindley_waits", n, blocks, zeros(2 * n), i(n), i(customers), f(0.8), u(11))
    for n, days, blocks in ((2_001, 500, 32), (120_011, 60, 256)):
        spread(case, "stream" if n > 90_000 else "latency", "rsi_series", n, blocks,
               Arranged("walks", "f4", n * days, n), zeros(2 * n), i(n), i(days), i(14))  # fmt: skip


def _codes(case: Any) -> None:
    n, words, blocks = 8_192, 6, (32, 64, 256)
    spread(case, "codec", "adaptive_bits", n, blocks, Arranged("skewed bits", "u4", n * words, 3),
           zeros(4 * words * n, "u1"), zeros(n, "i4"), i(n), i(words), i(4 * words),
           smem=32 * 256)  # fmt: skip
    for n, words, blocks in ((2_001, 100, 64), (60_013, 12, 256)):
        spread(case, "codec", "adpcm_decode", n, blocks, numbers(n * words, 1 << 32, "u4"),
               zeros(8 * n * words, "i2"), i(n), i(words))  # fmt: skip


def _hashes(case: Any) -> None:
    for n, count, blocks in ((20_011, 4, (64, 256, 512)), (1_001, 16, 64)):
        spread(case, "crypto", "ghash_blocks", n, blocks, numbers(4 * n * count, 1 << 32, "u4"),
               zeros(2 * n, "u8"), i(n), i(count), ("u8", 0x66E94BD4EF8A2C3B), ("u8", 0x884CFA59CA342B2E))  # fmt: skip
    grid, rounds, blocks = 132, 8, (64, 128, 256)
    within(case, "barrier", "twister_blocks", grid, blocks, numbers(grid, 1 << 32, "u4"),
           zeros(624 * rounds * grid, "u4"), i(rounds))  # fmt: skip
    for n, mean, blocks in ((5_003, 120, 64), (200_003, 30, 256)):
        spread(case, "stream" if n > 90_000 else "string", "xxhash_strings", n, blocks,
               numbers(n * mean, 1 << 32, "u4"), Array("offsets", "i4", n + 1, mean), zeros(n, "u4"), i(n),
               u(2_026))  # fmt: skip


def _divisions(case: Any) -> None:
    n, blocks = 400_009, 128
    spread(case, "division", "modular_inverses", n, blocks, numbers(n, 1 << 30), zeros(n, "i4"), i(n),
           i(1_000_000_007))  # fmt: skip
    for n, blocks in ((60_013, (64, 128, 512)), (150_001, 256)):
        spread(case, "division", "miller_rabin", n, blocks, numbers(n, 1 << 32, "u4"), zeros(n, "u1"), i(n))
    for n, people, blocks in ((16_384, 1_500, (64, 128, 512)), (3_001, 3_000, 32)):
        spread(case, "division", "josephus_last", n, blocks, numbers(2 * n, people), zeros(n, "i4"), i(n))
    n, most, blocks = 9_001, 90, (32, 128, 512)
    spread(case, "local", "big_factorials", n, blocks, numbers(n, most), zeros(n, "i4"), i(n))
    for n, grid, block in ((4_000, 132, 32), (12_000, 264, 128)):
        case("atomics", "repetend_lengths", grid, block, zeros(n, "i4"), zeros(2, "i4"), i(n))


def _lights(case: Any) -> None:
    for n, terms, blocks in ((16_384, 60, 128), (2_001, 300, 64)):
        spread(case, "sfu", "zeta_line", n, blocks, zeros(2 * n), i(n), i(terms), f(10), f(0.01))
    n, steps, blocks = 30_011, 81, (64, 256, 1_024)
    spread(case, "sfu", "planck_colours", n, blocks, Arranged("temperatures", "f4", n, 12_000), zeros(2 * n), i(n),
           i(steps))  # fmt: skip
    for width, height, samples, shapes in ((320, 200, 16, ((16, 4),)), (800, 450, 8, ((32, 8),))):
        in_shapes(case, "sfu", "sky_pixels", width, height, shapes, zeros(width * height), i(width), i(height),
                  i(samples), f(0.5), f(0.2))  # fmt: skip
    width, height, most, shapes = 256, 192, 60, ((8, 8), (16, 16), (32, 32))
    in_shapes(case, "divergence", "knot_depths", width, height, shapes, zeros(width * height), i(width), i(height),
              i(most), f(1.5))  # fmt: skip
    for n, count, blocks in ((20_011, 12, 64), (200_003, 6, 256)):
        spread(case, "fma", "lens_rays", n, blocks, normal(2 * n, high=6), Arranged("surfaces", "f4", 4 * count),
               zeros(2 * n), i(n), i(count))  # fmt: skip


def _surfaces_and_maps(case: Any) -> None:
    for threads, jumps, side, blocks in ((16_384, 120, 512, 256), (60_013, 60, 128, 128)):
        spread(case, "atomics", "flame_points", threads, blocks, Arranged("maps", "f4", 36), zeros(side * side, "u4"),
               i(threads), i(jumps), i(side), i(6), u(8))  # fmt: skip
    for n, shape in ((300, (16, 16)), (1_200, (32, 8))):
        in_shapes(case, "sfu", "panel_influences", n, n, (shape,), Arranged("wing", "f4", 2 * n + 2), zeros(n * n),
                  i(n))  # fmt: skip
    for width, height, turns, shapes in ((200, 150, 200, ((8, 8),)), (640, 480, 60, ((16, 16),))):
        in_shapes(case, "sfu", "winding_numbers", width, height, shapes, zeros(width * height), i(width), i(height),
                  i(turns))  # fmt: skip


def _doubles(case: Any) -> None:
    n, blocks = 60_013, (64, 128, 512)
    spread(case, "fp64", "hypergeometric", n, blocks, Arranged("within", "f8", n, 80), zeros(n, "f8"), i(n),
           ("f8", 0.5), ("f8", 1.25), ("f8", 2.5))  # fmt: skip
    for n, blocks in ((50_021, 64), (300_007, 128)):
        spread(case, "fp64", "lambert_w", n, blocks, unit(n, "f8", 50), zeros(n, "f8"), i(n))
    n, terms, blocks = 8_192, 80, (32, 128, 256)
    spread(case, "fp64", "planet_places", n, blocks, Arranged("orbits", "f8", 3 * terms), zeros(n, "f8"), i(n),
           i(terms), ("f8", -2.0), ("f8", 0.001))  # fmt: skip
    for n, count, blocks in ((32, 264, 32), (40, 1_000, 64)):
        within(case, "fp64", "triangular_inverse", count, blocks, Arranged("lower", "f8", n * n * count, n),
               zeros(n * n * count, "f8"), i(n), smem=16 * n * n)  # fmt: skip


def _reversed(case: Any) -> None:
    for bits, rows, blocks in ((12, 400, (128, 256, 1_024)), (10, 3_001, 128)):
        within(case, "shared", "bit_reversed_rows", rows, blocks, normal(rows << bits), zeros(rows << bits), i(bits),
               smem=4 << bits)  # fmt: skip
    for n, systems, blocks in ((512, 264, (64, 128, 256)), (2_048, 132, 512)):
        within(case, "barrier", "cyclic_reduction", systems, blocks,
               Arranged("three diagonals", "f4", 4 * n * systems, n), zeros(n * systems), i(n),
               smem=16 * n)  # fmt: skip


def _systems(case: Any) -> None:
    for n, count, blocks in ((16, 264, (32, 64, 256)), (40, 132, 256)):
        within(case, "barrier", "simplex_tableaux", count, blocks,
               Arranged("programs", "f4", count * (n + 1) * (2 * n + 1), n), zeros(count), i(n + 1), i(2 * n + 1),
               smem=4 * (n + 1) * (2 * n + 2))  # fmt: skip
    for n, count, blocks in ((32, 400, (64, 128, 256)), (64, 132, 512), (48, 1, 128)):
        within(case, "barrier" if count > 1 else "tiny", "householder_qr", count, blocks, normal(count * n * n),
               zeros(count * n * n), i(n), smem=4 * n * (n + 1))  # fmt: skip


def _matrices(case: Any) -> None:
    n, sweeps, blocks = 2_001, 5, (32, 64, 128)
    spread(case, "shared", "jacobi_rotations", 32 * n, blocks, Arranged("symmetric", "f4", 256 * n, 16),
           zeros(16 * n), i(n), i(sweeps), smem=36 * 128)  # fmt: skip
    for width, height, radius, shapes in ((640, 480, 4, ((16, 8), (16, 16), (32, 16))), (300, 200, 9, ((32, 8),))):
        smem = max((x + 2 * radius) * (y + 2 * radius) for x, y in shapes)
        in_shapes(case, "shared", "dilate_disc", width, height, shapes, numbers(width * height, 256, "u1"),
                  zeros(width * height, "u1"), i(width), i(height), i(radius), smem=smem)  # fmt: skip


def _sorts(case: Any) -> None:
    for n, parts, blocks in ((1_024, 264, (128, 256, 512)), (256, 2_000, 128)):
        within(case, "sort", "batcher_pairs", parts, blocks, numbers(n * parts, 1 << 32, "u4"),
               numbers(n * parts, 1 << 31, "u4"), zeros(2 * n * parts, "u4"), i(n), smem=8 * n)  # fmt: skip
    n, rows, blocks = 5_000, 264, (256, 512, 1_024)
    within(case, "sort", "counting_sort_rows", rows, blocks, numbers(n * rows, 200, "u1"), zeros(n * rows, "u1"),
           i(n))  # fmt: skip


def _worlds(case: Any) -> None:
    worlds, turns, blocks = 132, 20, 256
    within(case, "barrier", "excitable_cells", worlds, blocks, numbers(4_096 * worlds, 6, "u1"),
           zeros(4_096 * worlds, "u1"), i(6), i(turns), i(1))  # fmt: skip
    tubes, cells, steps, blocks = 132, 400, 30, (64, 128, 448)
    within(case, "barrier", "hll_tubes", tubes, blocks, Arranged("gas", "f4", 3 * cells * tubes, cells),
           zeros(3 * cells * tubes), i(cells), i(steps), f(0.2), smem=24 * cells)  # fmt: skip


def _orders(case: Any) -> None:
    count, n, blocks = 132, 64, (32, 64, 128)
    within(case, "barrier", "chain_orders", count, blocks, numbers(count * (n + 1), 50, "u1"), zeros(count, "i4"),
           i(n), smem=4 * (n * n + n + 1))  # fmt: skip


def _counts(case: Any) -> None:
    for width, height in ((640, 480), (1_920, 1_080)):
        case("atomics", "hog_cells", (up(width, 32), up(height, 8)), (32, 8), numbers(width * height, 256, "u1"),
             zeros(9 * up(width, 8) * up(height, 8)), i(width), i(height))  # fmt: skip
    for n, groups, blocks in ((60_013, 20_011, 256), (5_003, 300, 64)):
        spread(case, "atomics", "cas_products", n, blocks, numbers(n, groups), Arranged("factors", "f4", n),
               zeros(groups, "i4"), i(n))  # fmt: skip
    for n, side, blocks in ((60_013, 24, (64, 256, 1_024)), (500_009, 40, 256)):
        spread(case, "atomics", "voxel_centroids", n, blocks, unit(3 * n), zeros(4 * side**3), i(n), i(side), f(side))


def _groups(case: Any) -> None:
    for n, near, blocks in ((40_009, 60, (64, 128, 512)), (300_007, 12, 256)):
        spread(case, "divergence", "sweep_and_prune", n, blocks, Arranged("sorted boxes", "f4", 4 * n, near),
               Arranged("heights", "f4", 2 * n), zeros(n, "i4"), i(n))  # fmt: skip


def _puzzles(case: Any) -> None:
    for n, blank, blocks in ((4_096, 36, (32, 64, 128)), (500, 38, 32)):
        spread(case, "local", "sudoku_fill", n, blocks, Arranged("sudokus", "u1", 81 * n, blank),
               zeros(81 * n, "u1"), i(n))  # fmt: skip
    for n, blocks in ((20_011, 64), (100_003, 128)):
        spread(case, "local", "self_avoiding_walks", n, blocks, zeros(n, "i4"), i(n), u(77))


def _strings(case: Any) -> None:
    for n, pitch, blocks in ((30_011, 32, 64), (200_003, 24, 128)):
        spread(case, "string", "glob_matches", n, blocks, Arranged("globs", "u1", 40 * pitch, pitch),
               Arranged("names", "u1", n * pitch, pitch), zeros(n, "u1"), i(n), i(40), i(pitch))  # fmt: skip
    for n, blocks in ((60_013, 256), (300_007, 128)):
        spread(case, "string", "roman_numerals", n, blocks, numbers(n, 4_000), zeros(16 * n, "i1"), i(n))
    n, names, blocks = 20_011, 2_001, (64, 128, 256)
    spread(case, "string", "jaro_pairs", n, blocks, numbers(32 * names, 6, "u1"), numbers(names, 33),
           numbers(2 * n, names), zeros(n), i(n))  # fmt: skip
    for n, size, drop, blocks in ((40_009, 100_003, 30, (64, 256, 1_024)), (200_003, 1_000_003, 15, 128)):
        spread(case, "divergence", "xdrop_extend", n, blocks, numbers(size, 4, "u1"), numbers(size + 1, 4, "u1"),
               numbers(2 * n, size), zeros(n, "i4"), i(n), i(size), i(size), i(drop))  # fmt: skip


def _small_sets(case: Any) -> None:
    n, count, blocks = 16_384, 32, (32, 128, 256)
    spread(case, "local", "hull_sizes", n, blocks, Arranged("point sets", "i2", 2 * n * count, n),
           zeros(2 * n, "i4"), i(n), i(count))  # fmt: skip
    n, blocks = 10_007, 128
    spread(case, "local", "dijkstra_small", n, blocks, numbers(256 * n, 100, "u1"), zeros(n, "i4"), i(n))
    for n, length, blocks in ((16_384, 120, (64, 128, 512)), (2_001, 500, 32)):
        spread(case, "local", "k_smallest_heaps", n, blocks, numbers(n * length, 1 << 30), zeros(16 * n, "i4"), i(n),
               i(length))  # fmt: skip


def _games(case: Any) -> None:
    hands, grid, blocks = 200_003, 132, (128, 256, 512)
    within(case, "montecarlo", "poker_hands", grid, blocks, zeros(9, "i4"), i(hands), u(14))
    for n, blocks in ((60_013, 64), (400_009, 256)):
        spread(case, "alu", "reversi_moves", n, blocks, numbers(n, 1 << 62, "u8"), numbers(n + 1, 1 << 62, "u8"),
               zeros(n, "u8"), i(n))  # fmt: skip


def _straight(case: Any) -> None:
    for size, n, blocks in ((16, 200_003, 128), (32, 30_011, (64, 128, 256)), (64, 8_009, 64)):
        spread(case, "stream" if size == 16 else "code", f"fft_registers<{size}>", n, blocks, normal(2 * size * n),
               zeros(2 * size * n), i(n))  # fmt: skip
    for reactions, n, steps, blocks in ((48, 30_011, 12, 256), (200, 16_384, 10, (32, 64, 128)), (800, 9_001, 6, 128)):
        spread(case, "code", f"mass_action<{reactions}>", n, blocks, unit(12 * n), unit(reactions), zeros(12 * n),
               i(n), i(steps), f(0.002))  # fmt: skip


def _votes(case: Any) -> None:
    groups, words, blocks = 300, 64, (64, 256, 1_024)
    spread(case, "votes", "bundle_hypervectors", 32 * groups * words, blocks,
           numbers(32 * groups * words, 1 << 32, "u4"), zeros(groups * words, "u4"), i(groups),
           i(words))  # fmt: skip
    for users, mean, blocks in ((6_007, 60, 256), (1_001, 400, 128)):
        spread(case, "votes", "session_lengths", 32 * users, blocks, Arranged("clicks", "i4", users * mean, 600),
               Array("offsets", "i4", users + 1, mean), zeros(2 * users, "i4"), i(users), i(600))  # fmt: skip


def _copied(case: Any) -> None:
    for rows, columns, blocks in ((2_048, 1_024, (64, 128, 256)), (300, 8_192, 128), (8_192, 4_096, 256)):
        spread(case, "stream" if rows > 4_000 else "async", "async_gemv", 32 * rows, blocks, normal(rows * columns),
               normal(columns), zeros(rows), i(rows), i(columns // 4),
               smem=64 * 256)  # fmt: skip
    for tiles, grid, block in ((3_000, 264, 256), (500, 132, 128), (4_001, 396, 512)):
        case("atomics", "async_byte_bins", grid, block, numbers(4 * tiles * block, 1 << 32, "u4"), zeros(256, "u4"),
             i(tiles), smem=32 * block)  # fmt: skip


def _rows(case: Any) -> None:
    rows, blocks = 6_007, (64, 128, 512)
    spread(case, "shuffle", "sparsemax_rows", 32 * rows, blocks, normal(128 * rows), zeros(128 * rows), i(rows))
    for length, count, blocks in ((500, 2_000, 128), (20_000, 16, 1_024)):
        within(case, "reduce", "best_runs", count, blocks, Arranged("within", "i4", length * count, 10_000),
               zeros(count, "i4"), i(length))  # fmt: skip


def _samples(case: Any) -> None:
    n, size, blocks = 16_384, 300, (64, 256, 512)
    spread(case, "montecarlo", "bootstrap_means", n, blocks, normal(size), zeros(n), i(n), i(size), u(6),
           smem=4 * size)  # fmt: skip
    n, blocks = 10_007, 512
    spread(case, "alu", "kendall_counts", n, blocks, numbers(2 * n, n), zeros(1, "i4"), i(n), smem=8 * 512)
    for n, apart, blocks in ((20_011, 4, 256), (4_001, 64, 128)):
        spread(case, "fma", "dilated_conv", 4 * n, blocks, normal(32 * n), Arranged("within", "f4", 3_072, 20),
               zeros(32 * n), i(n), i(apart))  # fmt: skip


def _pictures(case: Any) -> None:
    for category, width, height, shapes in (("cache", 512, 384, ((16, 16),)),
                                            ("stream", 2_048, 1_200, ((32, 8),))):  # fmt: skip
        in_shapes(case, category, "advect_field", width, height, shapes, normal(width * height),
                  normal(2 * width * height, high=3), zeros(width * height), i(width), i(height), f(1.5))  # fmt: skip


def _fields(case: Any) -> None:
    for category, width, height, shape in (("stencil", 400, 300, (32, 8)), ("stream", 1_500, 1_100, (64, 4))):
        n = width * height
        in_shapes(case, category, "elastic_stress", width, height, (shape,), normal(n), normal(n, high=2),
                  normal(3 * n), zeros(3 * n), i(width), i(height), f(0.3), f(0.2))  # fmt: skip
    for width, height, channels, times in ((64, 48, 12, 2), (160, 120, 24, 3)):
        grid = (up(width * times, 32), up(height * times, 8), channels)
        size = width * height * channels * times * times
        case("stream" if channels > 12 else "cache", "pixel_shuffle", grid, (32, 8), normal(size), zeros(size),
             i(width), i(height), i(times))  # fmt: skip


def _streams(case: Any) -> None:
    for n, grid, block in ((500_009, 528, 256), (2_000_003, 1_056, 512), (60_013, 132, 128)):
        case("stream", "dropout_add", grid, block, normal(4 * n), normal(4 * n, high=2), zeros(4 * n), i(n), u(230),
             f(1.11), u(4))  # fmt: skip
    for zones, each, block, low, high in ((3_000, 2_000, 128, 300_000, 340_000), (9_001, 1_024, 256, 0, 100_000)):
        case("stream" if low == 0 else "early", "zone_filter", zones, block,
             Arranged("zone rows", "i4", zones * each, each), Arranged("zones", "i4", 2 * zones, each), zeros(1, "i4"),
             i(each), i(low), i(high))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "lindley_waits", 1, 32, zeros(64), i(32), i(400), f(0.9), u(2))
    case("tiny", "twister_blocks", 1, 256, numbers(1, 1 << 32, "u4"), zeros(1_248, "u4"), i(2))
    case("tiny", "simplex_tableaux", 2, 64, Arranged("programs", "f4", 2 * 25 * 49, 24), zeros(2), i(25), i(49),
         smem=4 * 25 * 50)  # fmt: skip
    case("tiny", "cyclic_reduction", 3, 128, Arranged("three diagonals", "f4", 12 * 256, 256), zeros(768), i(256),
         smem=4_096)  # fmt: skip
    case("tiny", "best_runs", 1, 256, Arranged("within", "i4", 10_000, 5_000), zeros(1, "i4"), i(10_000))
    case("tiny", "jacobi_rotations", 1, 64, Arranged("symmetric", "f4", 512, 16), zeros(32), i(2), i(6), smem=2_304)
    case("tiny", "batcher_pairs", 1, 512, numbers(1_024, 1 << 32, "u4"), numbers(1_024, 1 << 31, "u4"),
         zeros(2_048, "u4"), i(1_024), smem=8_192)  # fmt: skip
    case("tiny", "ghash_blocks", 2, 32, numbers(4 * 64 * 10, 1 << 32, "u4"), zeros(128, "u8"), i(64), i(10),
         ("u8", 0x0123456789ABCDEF), ("u8", 0xFEDCBA9876543210))  # fmt: skip


def _uneven(case: Any) -> None:
    case("tail", "josephus_last", 133, 256, numbers(2 * 133 * 256, 400), zeros(133 * 256, "i4"), i(133 * 256))
    n = 140 * 1_024
    case("tail", "planck_colours", 140, 1_024, Arranged("temperatures", "f4", n, 9_000), zeros(2 * n), i(n), i(60))
    case("tail", "hll_tubes", 270, 512, Arranged("gas", "f4", 3 * 512 * 270, 512), zeros(3 * 512 * 270), i(512), i(15),
         f(0.2), smem=24 * 512)  # fmt: skip
    n = 150 * 512
    case("tail", "lambert_w", 150, 512, unit(n, "f8", 9), zeros(n, "f8"), i(n))
    n = 8_000 * 32
    case("blocks", "modular_inverses", 8_000, 32, numbers(n, 1 << 20), zeros(n, "i4"), i(n), i(65_537))
    case("blocks", "bit_reversed_rows", 9_001, 32, normal(9_001 * 128), zeros(9_001 * 128), i(7), smem=512)


def _crowded(case: Any) -> None:
    for smem in (100 << 10, 36 << 10):
        n = 30_011 + smem // 1_024
        case("occupancy", "rsi_series", up(n, 128), 128, Arranged("walks", "f4", n * 50, n), zeros(2 * n), i(n), i(50),
             i(10), smem=smem)  # fmt: skip
        case("occupancy", "cross_sections", up(n, 192), 192, Arranged("energies", "f4", 4_001), unit(4_001 * 20),
             unit(20), unit(n), zeros(n), i(n), i(4_001), i(20), smem=smem)  # fmt: skip
        case("occupancy", "zeta_line", up(n, 128), 128, zeros(2 * n), i(n), i(30), f(20), f(0.001), smem=smem)
