"""An eleventh set of launches for the timing model: other kernels than those of the ten sets before it, as programs
have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM, and most
sizes are drawn by lot. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.eighth_cases import offsets
from tests.hardware.launch_sets import by_series, launches
from tests.hardware.ninth_cases import lists, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "eleventh.cu"
FILE = "eleventh.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def drawn(seed: int, count: int, low: int, high: int) -> list[int]:
    """``count`` whole numbers from ``low`` to ``high``, whose logarithms are evenly distributed."""
    return np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(high), count)).astype(int).tolist()


def _routes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A tree of ``size`` / 8 nodes with four entries each: (child or -1, route below ``high`` or -1). Node 0 is the
    root, a node has three children as long as there are nodes."""
    n = size // 8
    places = np.append(0, 1 + rng.permutation(n - 1))
    found = np.full((n, 4, 2), -1)
    found[..., 1] = np.where(rng.random((n, 4)) < 0.5, rng.integers(0, high, (n, 4)), -1)
    slots = rng.random((n, 4)).argsort(axis=1)
    children = 3 * np.arange(n)[:, None] + np.arange(1, 4)
    parent, which = np.nonzero(children < n)
    found[places[parent], slots[parent, which], 0] = places[children[parent, which]]
    return found


def _eytzinger(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` - 1 sorted numbers below ``high``, so that the children of element k are 2 k and 2 k + 1."""
    ordered = np.sort(rng.integers(0, high, size - 1))
    k = np.arange(1, size)
    level = np.floor(np.log2(k)).astype(int)
    rank = (2 * (k - (1 << level)) + 1) * (size >> (level + 1)) - 1
    return np.append(0, ordered[rank])


def _kd_tree(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 2 - 1 points (x, y) as a tree: each node is the median of its part, by x and by y in turn."""
    parts, found, axis = rng.random((1, size // 2 - 1, 2)), [np.zeros((1, 2))], 0
    while parts.shape[1]:
        order = parts[..., axis].argsort(axis=1)
        parts = np.take_along_axis(parts, order[..., None], axis=1)
        half = parts.shape[1] // 2
        found.append(parts[:, half])
        parts = np.stack([parts[:, :half], parts[:, half + 1 :]], axis=1).reshape(2 * len(parts), half, 2)
        axis = 1 - axis
    return np.concatenate(found)


def _code_book(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A canonical prefix code of ``size`` - 48 letters: 16 first codes, 16 counts and 16 starts by length, letters."""
    lengths = [1, 1]
    while len(lengths) < size - 48:
        at = int(rng.choice([k for k, length in enumerate(lengths) if length < 14]))
        lengths[at] += 1
        lengths.append(lengths[at])
    counts = np.bincount(lengths, minlength=16)
    first, starts = np.zeros(16, int), np.append(0, counts.cumsum()[:-1])
    for length in range(1, 16):
        first[length] = (first[length - 1] + counts[length - 1]) << 1
    return np.concatenate([first, counts, starts, rng.permutation(size - 48)])


def _aes_tables(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """AES's 256 words (2 s, s, s, 3 s) of each substitution s, then the 256 substitutions."""
    box, p, q = np.full(256, 0x63), 1, 1
    while True:
        p = (p ^ p << 1 ^ (0x11B if p & 0x80 else 0)) & 0xFF  # times 3
        for shift in (1, 2, 4):
            q = (q ^ q << shift) & 0xFF
        q ^= 0x09 if q & 0x80 else 0  # divided by 3
        twice = q << 8 | q
        box[p] = (q ^ twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4) & 0xFF ^ 0x63
        if p == 1:
            break
    double = box << 1 & 0xFF ^ 0x1B * (box >> 7)
    return np.append(double << 24 | box << 16 | box << 8 | double ^ box, box)


def _chains(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Lists of ``high`` elements in a random order: the next one of each element within its list, or -1."""
    order = rng.random((size // high, high)).argsort(axis=1)
    found = np.zeros_like(order)
    np.put_along_axis(found, order, np.append(order[:, 1:], np.full((len(order), 1), -1), axis=1), axis=1)
    return found


def _prime_products(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Products of two different odd primes below ``high``."""
    whole = np.arange(3, high, 2)
    primes = whole[[all(k % d for d in range(3, int(k**0.5) + 1, 2)) for k in whole]]
    first = rng.integers(0, len(primes), size)
    return primes[first] * primes[(first + rng.integers(1, len(primes), size)) % len(primes)]


def _correlations(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """32 autocorrelations of each of ``size`` / 32 signals: of one whose values follow each other, and of noise."""
    found = rng.uniform(-0.9, 0.9, (size // 32, 1)) ** np.arange(32)
    found[:, 0] += 0.1 + rng.random(size // 32)
    return found


def _water(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The height of water in ``size`` / 3 places, then its products with two speeds."""
    n = size // 3
    return np.stack([1 + 0.2 * rng.random(n), 0.1 * rng.normal(size=n), 0.1 * rng.normal(size=n)])


def _shares(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 4 rows of four numbers whose sum is one."""
    found = rng.random((size // 4, 4)) + 0.01
    return found / found.sum(axis=1, keepdims=True)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "routes": _routes,
    "eytzinger": _eytzinger,
    "kd tree": _kd_tree,
    "code book": _code_book,
    "aes tables": _aes_tables,
    "chains": _chains,
    "prime products": _prime_products,
    "correlations": _correlations,
    "water": _water,
    "shares": _shares,
    "permutations": lambda size, high, rng: rng.random((size // high, high)).argsort(axis=1),
    "keys of parts": lambda size, high, rng: 1 + rng.random((size // high, 2 * high)).argsort(axis=1)[:, :high],
    "few bits": lambda size, high, rng: np.packbits(rng.random((size, 32)) * high < 1, axis=1, bitorder="little").view(
        "u4"
    ),
    "skewed keys": lambda size, high, rng: rng.zipf(1.4, size) % high,
    "magnitudes": lambda size, high, rng: 10 ** rng.uniform(0, high, size) * rng.choice([-1, 1], size),
    "angles": lambda size, high, rng: rng.uniform(-1.5, 1.5, size),
    "from 300": lambda size, high, rng: 300 + high * rng.random(size),
    "from half": lambda size, high, rng: 0.5 + high * rng.random(size),
}


class Formed(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_searches, _codecs, _ciphers, _strings, _walks, _relations, _joins, _sketches, _bits, _pictures, _stereo,
         _geometry, _loops, _frames, _networks, _forests, _crystals, _stencils, _doubles, _numerics, _sorting, _chance,
         _few, _uneven, _crowded, _block_sizes)
    )  # fmt: skip


def _searches(case: Any) -> None:
    for grid, block, nodes, n in zip((264, 900), (256, 96), drawn(1, 2, 400, 300_000), drawn(2, 2, 20_000, 700_000),
                                     strict=True):  # fmt: skip
        case("latency", "longest_prefix", grid, block, Formed("routes", "i4", 8 * nodes, 99),
             numbers(n, 1 << 32, "u4"), zeros(n, "i4"), i(n))  # fmt: skip
    for block, levels, n in zip((128, 512), (17, 22), drawn(3, 2, 5_000, 900_000), strict=True):
        case("latency", "eytzinger_search", up(n, block), block, Formed("eytzinger", "i4", 1 << levels, 1 << 30),
             numbers(n, 1 << 30), zeros(n, "i4"), i(1 << levels), i(n))  # fmt: skip
    for block, levels, n in zip((32, 128), (8, 13), drawn(4, 2, 3_000, 300_000), strict=True):
        case("divergence", "kd_nearest", up(n, block), block, Formed("kd tree", "f4", 2 << levels), unit(2 * n),
             zeros(n), i(1 << levels), i(n))  # fmt: skip


def _codecs(case: Any) -> None:
    for block, letters, n, symbols in zip((32, 64, 128), (30, 256, 100), drawn(5, 3, 600, 60_000),
                                          drawn(6, 3, 50, 150), strict=True):  # fmt: skip
        case("latency", "huffman_decode", up(n, block), block, numbers(n * (symbols * 14 // 32 + 1), 1 << 32, "u4"),
             Formed("code book", "i4", 48 + letters), zeros(n * symbols, "u1"), i(n), i(symbols),
             i(letters))  # fmt: skip
    for block, streams, count in zip((128, 256), drawn(7, 2, 100, 9_000), drawn(8, 2, 40, 300), strict=True):
        case("codec", "lz_expand", up(streams, block // 32), block, numbers(streams * count, 1 << 32, "u4"),
             zeros(streams * count * 64, "u1"), zeros(streams, "i4"), i(streams), i(count), i(count * 64))  # fmt: skip
    for block, lines, words in zip((64, 128), drawn(9, 2, 500, 20_000), drawn(10, 2, 6, 40), strict=True):
        case("latency", "error_diffusion", up(lines, block), block, numbers(32 * words * lines, 256, "u1"),
             zeros(words * lines, "u4"), i(lines), i(words))  # fmt: skip
    for levels, block, rows in zip((1, 5), (1_024, 256), drawn(11, 2, 100, 6_000), strict=True):
        case("shared", f"wavelet_53<{levels}>", rows, block, numbers(2 * block * rows, 1_000),
             zeros(2 * block * rows, "i4"))  # fmt: skip


def _ciphers(case: Any) -> None:
    for grid, block, n in zip((132, 528), (256, 128), drawn(12, 2, 30_000, 1_500_000), strict=True):
        case("shared", "aes_ctr", grid, block, numbers(4 * n, 1 << 32, "u4"), Formed("aes tables", "u4", 512),
             numbers(44, 1 << 32, "u4"), zeros(4 * n, "u4"), i(n))  # fmt: skip
    for block, n, words in zip((64, 128), drawn(13, 2, 500, 20_000), drawn(14, 2, 8, 40), strict=True):
        case("local", "rc4_keystream", up(n, block), block, numbers(4 * n, 1 << 32, "u4"), zeros(n * words, "u4"),
             i(n), i(words))  # fmt: skip
    for block, n, times in ((96, 10_007, 60), (512, 1_000_000, 1)):
        case("alu", "md5_chains", up(n, block), block, numbers(4 * n, 1 << 32, "u4"), zeros(4 * n, "u4"), i(n),
             i(times))  # fmt: skip


def _strings(case: Any) -> None:
    for block, n, high in zip((128, 256), drawn(15, 2, 30_000, 1_000_000), (2, 9), strict=True):
        case("string", "write_decimals", up(n, block), block, Formed("magnitudes", "i4", n, high), zeros(3 * n, "u4"),
             i(n))  # fmt: skip
    for block, strings, mean, n, width in ((256, 60_013, 45, 50_021, 100), (128, 20_011, 150, 30_000, 256)):
        case("string", "gather_strings", up(n, block // 32), block, offsets(strings, mean),
             numbers(strings * mean, 256, "u1"), numbers(n, strings), zeros(n * width, "u1"), i(n),
             i(width))  # fmt: skip
    for block, documents, length in zip((512, 1_024), drawn(16, 2, 60, 1_200), drawn(17, 2, 900, 20_000), strict=True):
        case("scan", "bracket_depths", documents, block, numbers(documents * length, 4, "u1"),
             zeros(documents * length, "i2"), zeros(documents, "i4"), i(length))  # fmt: skip
    for block, sentences, length, rules in ((64, 132, 17, 60), (128, 300, 30, 90), (256, 100, 48, 120)):
        case("barrier", "cyk_bits", sentences, block, numbers(sentences * length, 50, "u1"),
             Formed("few bits", "u4", 50, 3), numbers(rules, 1 << 24, "u4"), zeros(sentences, "u4"), i(length),
             i(rules), smem=4 * (length * length + rules))  # fmt: skip


def _walks(case: Any) -> None:
    for block, nodes, walks, steps in zip((64, 128), drawn(18, 2, 5_000, 500_000), drawn(19, 2, 2_000, 200_000),
                                          (80, 40), strict=True):  # fmt: skip
        case("latency", "graph_walks", up(walks, block), block, *lists(nodes, 9), zeros(walks, "i4"), i(walks),
             i(nodes), i(steps), u(8_191))  # fmt: skip
    for block, nodes, mean, few in zip((256, 64), drawn(20, 2, 20_000, 300_000), (12, 20), (4, 200), strict=True):
        words = up(nodes, 32)
        case("graph", "bottom_up_bfs", up(nodes, block), block, *lists(nodes, mean),
             Formed("few bits", "u4", words, few), Formed("few bits", "u4", words, 3), zeros(words, "u4"),
             zeros(nodes, "i4"), i(nodes))  # fmt: skip


def _relations(case: Any) -> None:
    for block, count in zip((256, 1_024), drawn(22, 2, 60, 2_000), strict=True):
        case("barrier", "rank_list", count, block, Formed("chains", "i4", block * count, block),
             zeros(block * count, "i4"))  # fmt: skip
    for block, graphs, high in ((32, 500, 20), (128, 264, 60)):
        case("barrier", "warshall_bits", graphs, block, Formed("few bits", "u4", graphs * block * block // 32, high),
             zeros(graphs * block * block // 32, "u4"), smem=4 * block * (block // 32 + 1))  # fmt: skip
    for block, towns in ((32, 400), (96, 132)):
        case("atomics", "stable_matches", towns, block, Formed("permutations", "i4", towns * block * block, block),
             Formed("permutations", "i4", towns * block * block, block), zeros(towns * block, "i4"),
             smem=4 * block)  # fmt: skip


def _joins(case: Any) -> None:
    for block, parts, built, probed, capacity in ((512, 264, 3_001, 9_001, 8_192), (256, 100, 9_000, 30_000, 16_384)):
        case("database", "join_shared", parts, block, Formed("keys of parts", "u4", parts * built, built),
             numbers(parts * built, 1 << 20, "u4"), numbers(parts * probed, 2 * built, "u4"), zeros(parts, "u4"),
             i(built), i(probed), i(capacity), smem=8 * capacity)  # fmt: skip
    for block, docs, mean in ((64, 3_001, 40), (128, 1_500, 200)):
        case("hash", "minhash_rows", docs, block, offsets(docs, mean), numbers(docs * mean, 1 << 20, "u4"),
             zeros(docs * block, "u4"))  # fmt: skip


def _sketches(case: Any) -> None:
    for bits, grid, block, n in zip((4, 12), (132, 396), (256, 128), drawn(23, 2, 90_000, 3_000_000),
                                    strict=True):  # fmt: skip
        case("atomics", f"hyperloglog<{bits}>", grid, block, numbers(n, 1 << 31, "u4"), zeros(1 << bits, "i4"), i(n))
    for grid, block, n, high, width in zip((132, 264, 528), (128, 256, 256), drawn(24, 3, 20_000, 500_000),
                                           (50, 100_000, 3_000), (1 << 10, 1 << 18, 1 << 14), strict=True):  # fmt: skip
        case("atomics", "count_min_sketch", grid, block, Formed("skewed keys", "u4", n, high), zeros(4 * width, "u4"),
             i(n), u(width - 1))  # fmt: skip
    for block, n, side in zip((128, 64), drawn(25, 2, 20_000, 900_000), (300, 7), strict=True):
        case("atomics", "link_cells", up(n, block), block, unit(2 * n), zeros(side * side, "i4"), zeros(n, "i4"), i(n),
             i(side))  # fmt: skip


def _bits(case: Any) -> None:
    for grid, block, frames, high in ((528, 128, 90_001, 30_000), (264, 512, 40_009, 1 << 30)):
        case("shuffle", "pack_frames", grid, block, numbers(32 * frames, high), zeros(2 * frames, "i4"),
             zeros(32 * frames, "u4"), i(frames))  # fmt: skip
    for grid, block, tables in ((66, 128, 3_001), (528, 256, 60_013)):
        case("shuffle", "transpose_bits", grid, block, numbers(32 * tables, 1 << 32, "u4"), zeros(32 * tables, "u4"),
             i(32 * tables))  # fmt: skip


def _pictures(case: Any) -> None:
    for category, block, n in (("image", 256, 200_003), ("stream", 128, 12_000_007), ("stream", 512, 30_000_001)):
        case(category, "rgb_to_hsv", up(n, block), block, numbers(4 * n, 256, "u1"), zeros(4 * n, "u1"), i(n))
    for width, height, high in ((320, 192, 256), (1_600, 1_200, 256)):
        case("image", "lbp_cells", (width // 16, height // 16), (16, 16), numbers(width * height, high, "u1"),
             zeros(width * height, "u4"), i(width))  # fmt: skip
    for width, height, shape in ((517, 333, (32, 8)), (1_920, 1_080, (64, 4)), (800, 601, (16, 16))):
        case("stencil", "perona_malik", (up(width, shape[0]), up(height, shape[1])), shape, unit(width * height),
             zeros(width * height), i(width), i(height), f(9), f(0.2))  # fmt: skip
    for block, side, n in zip((128, 256), (256, 2_048), drawn(26, 2, 30_000, 900_000), strict=True):
        case("cache", "mip_trilinear", up(n, block), block, unit((4 * side * side - 1) // 3), unit(3 * n), zeros(n),
             i(side), i(n))  # fmt: skip


def _stereo(case: Any) -> None:
    for block, width, height, reach in ((64, 400, 300, 32), (128, 640, 480, 64), (256, 1_240, 376, 127)):
        case("alu", "disparities", (up(width, block), height), block, numbers(width * height, 1 << 32, "u4"),
             numbers(width * height + 1, 1 << 32, "u4"), zeros(width * height, "u1"), i(width), i(reach),
             smem=12 * (block + reach))  # fmt: skip


def _geometry(case: Any) -> None:
    for grid, block, n in zip((132, 528), (128, 256), drawn(27, 2, 20_000, 900_000), strict=True):
        case("sfu", "haversine_pairs", grid, block, Formed("angles", "f4", 4 * n), zeros(2 * n), i(n))
    for block, n in zip((64, 256, 512), drawn(28, 3, 9_000, 900_000), strict=True):
        case("stream" if n > 500_000 else "sfu", "slerp_poses", up(n, block), block, normal(4 * n),
             normal(4 * n, high=2), unit(n), zeros(4 * n), i(n))  # fmt: skip
    for block, n, bones in zip((256, 96), drawn(29, 2, 10_000, 400_000), (255, 100), strict=True):
        case("cache", "skin_vertices", up(n, block), block, normal(3 * n), numbers(4 * n, bones, "u1"),
             Formed("shares", "f4", 4 * n), normal(12 * bones), zeros(3 * n), i(n))  # fmt: skip


def _loops(case: Any) -> None:
    for block, channels, length in zip((64, 256), drawn(30, 2, 200, 60_000), drawn(31, 2, 60, 400), strict=True):
        case("latency", "pll_track", up(channels, block), block, normal(channels * length), zeros(2 * channels),
             i(channels), i(length), f(0.05), f(0.001))  # fmt: skip
    for block, tracks, steps in ((64, 3_001, 100), (256, 300_007, 8)):
        case("fma", "kalman_4", up(tracks, block), block, normal(2 * tracks * steps), zeros(4 * tracks), i(tracks),
             i(steps), f(0.01), f(0.5))  # fmt: skip
    for block, count, steps in ((64, 600, 300), (1_024, 264, 250)):
        case("barrier", "string_waves", count, block, normal(block * count), zeros(block * count), i(steps), f(0.4))


def _frames(case: Any) -> None:
    for block, frames, length in zip((64, 128, 512), drawn(32, 3, 100, 900), drawn(33, 3, 300, 4_000), strict=True):
        case("shared", "autocorrelations", frames, block, normal(frames * length), zeros(frames * block), i(length),
             smem=4 * length)  # fmt: skip
    for block, frames, order in zip((64, 256), drawn(34, 2, 300, 60_000), (10, 16), strict=True):
        case("shuffle", "levinson", up(frames, block // 32), block, Formed("correlations", "f4", 32 * frames),
             zeros(32 * frames), i(frames), i(order))  # fmt: skip
    for beams, microphones, length in zip((64, 128), (16, 40), drawn(35, 2, 600, 9_000), strict=True):
        case("fma", "beamformer", up(length, 8), beams, normal(2 * microphones * beams),
             normal(2 * microphones * length), zeros(beams * length), i(microphones), i(length),
             smem=64 * microphones)  # fmt: skip
    for items, block, rows, length in ((1, 256, 132, 9_001), (8, 512, 600, 20_000)):
        case("stream" if rows == 600 else "scan", f"affine_scan<{items}>", rows, block, unit(rows * length),
             normal(rows * length), zeros(rows * length), i(length))  # fmt: skip


def _networks(case: Any) -> None:
    for wide, grid, block, n in zip((8, 24, 48), (264, 264, 132), (128, 256, 128), drawn(36, 3, 20_000, 400_000),
                                    strict=True):  # fmt: skip
        case("fma", f"tiny_mlp<{wide}>", grid, block, normal(4 * n), normal(5 * wide + wide * (wide + 2) + wide + 1),
             zeros(n), i(n))  # fmt: skip
    for block, n in ((256, 20_000), (128, 2_000_003), (1_024, 600_000)):
        case("tiny" if n < 100_000 else "stream", "rmsprop_step", up(n, block), block, normal(4 * n),
             unit(4 * n), normal(4 * n, high=3), i(n), f(0.01), f(0.9))  # fmt: skip


def _forests(case: Any) -> None:
    for shape, block, n in (
        ((2, 5), 256, 300_007),
        ((8, 7), 128, 60_013),
        ((12, 8), 256, 200_003),
        ((8, 7), 64, 5_001),
    ):
        case("code", f"compiled_forest<{shape[0]}, {shape[1]}>", up(n, block), block, unit(8 * n), zeros(n), i(n))
    for reactions, block, n in ((20, 128, 100_003), (150, 256, 60_013), (500, 128, 30_011), (500, 256, 270_001)):
        case("code", f"arrhenius_rates<{reactions}>", up(n, block), block, Formed("from 300", "f4", n, 1_500),
             unit(8 * n), zeros(8 * n), i(n))  # fmt: skip


def _crystals(case: Any) -> None:
    for block, n, atoms in zip((64, 512), drawn(37, 2, 3_000, 90_000), drawn(38, 2, 100, 2_500), strict=True):
        case("sfu", "structure_factors", up(n, block), block, normal(4 * n, high=3), unit(4 * atoms), zeros(2 * n),
             i(n), i(atoms))  # fmt: skip


def _stencils(case: Any) -> None:
    for steps, width, height in ((1, 600, 450), (4, 700, 500), (8, 1_000, 803), (2, 2_600, 1_900)):
        grid = (up(width, 32 - 2 * steps), up(height, 32 - 2 * steps))
        case("stencil", f"gray_scott_tiles<{steps}>", grid, (32, 8), unit(width * height), unit(width * height + 1),
             zeros(width * height), zeros(width * height), i(width), i(height))  # fmt: skip
    for category, width, height, shape in (("stencil", 500, 380, (32, 8)), ("stencil", 1_301, 900, (128, 2)),
                                           ("stream", 5_000, 3_001, (64, 4))):  # fmt: skip
        case(category, "biharmonic_13", (up(width - 4, shape[0]), up(height - 4, shape[1])), shape,
             unit(width * height), zeros(width * height), i(width), i(height))  # fmt: skip
    for category, width, height, shape in (("stencil", 333, 250, (32, 4)), ("stream", 2_500, 1_999, (128, 2))):
        case(category, "shallow_water", (up(width, shape[0]), up(height, shape[1])), shape,
             Formed("water", "f4", 3 * width * height), zeros(3 * width * height), i(width), i(height),
             f(0.05))  # fmt: skip


def _doubles(case: Any) -> None:
    for block, n, steps in ((32, 2_001, 120), (128, 40_009, 60), (256, 200_003, 12)):
        case("fp64", "three_bodies", up(n, block), block, normal(6 * n, "f8"), zeros(6 * n, "f8"), i(n), i(steps),
             ("f8", 0.01))  # fmt: skip
    for grid, block, n, points in zip((132, 400), (128, 96), drawn(39, 2, 5_000, 90_000), (30, 20), strict=True):
        case("fp64", "tanh_sinh", grid, block, Formed("from half", "f8", n, 3), zeros(n, "f8"), i(n), i(points))
    for block, n in zip((64, 256), drawn(40, 2, 9_000, 900_000), strict=True):
        case("fp64", "cubic_roots", up(n, block), block, normal(3 * n, "f8", 3), zeros(n, "f8"), i(n))


def _numerics(case: Any) -> None:
    for block, n, tolerance in zip((64, 128), drawn(41, 2, 4_000, 200_000), (0.01, 0.1), strict=True):
        case("local", "adaptive_simpson", up(n, block), block, unit(n), unit(n + 1), zeros(n), i(n), f(tolerance))
    for block, n, high in zip((32, 128, 256), drawn(42, 3, 2_000, 30_000), (60_000, 2_000, 12_000), strict=True):
        case("divergence", "pollard_rho", up(n, block), block, Formed("prime products", "u4", n, high),
             zeros(n, "u4"), i(n))  # fmt: skip
    for size, block, n in ((6, 256, 400_009), (12, 128, 150_001)):
        case("local", f"unrank_permutations<{size}>", up(n, block), block, numbers(n, 479_001_600, "u4"),
             zeros(size * n, "u1"), i(n))  # fmt: skip


def _sorting(case: Any) -> None:
    for warps, tiles in ((8, 132), (4, 600), (32, 264), (16, 1_001)):
        case("sort", "shear_sort", tiles, (32, warps), numbers(1_024 * tiles, 1 << 30), zeros(1_024 * tiles, "i4"))


def _chance(case: Any) -> None:
    for block, grid, steps in ((64, 100, 250), (256, 528, 60), (512, 300, 25)):
        case("montecarlo", "heston_paths", grid, block, zeros(grid), i(steps), f(1), f(0.95), u(1_618))
    for block, n, events in ((64, 3_001, 1_500), (128, 30_011, 500), (256, 100_003, 150)):
        case("montecarlo", "gillespie", up(n, block), block, zeros(2 * n, "i4"), i(n), i(events), f(5), u(31))
    for block, n, games in ((64, 9_001, 12), (256, 120_007, 3)):
        case("montecarlo", "connect_playouts", up(n, block), block, zeros(n, "i4"), i(n), i(games), u(4))


def _few(case: Any) -> None:
    case("tiny", "rank_list", 1, 128, Formed("chains", "i4", 128, 128), zeros(128, "i4"))
    case("tiny", "levinson", 1, 32, Formed("correlations", "f4", 32), zeros(32), i(1), i(31))
    case("tiny", "cubic_roots", 1, 64, normal(150, "f8", 3), zeros(50, "f8"), i(50))
    case("tiny", "cyk_bits", 2, 96, numbers(24, 50, "u1"), Formed("few bits", "u4", 50, 3), numbers(70, 1 << 24, "u4"),
         zeros(2, "u4"), i(12), i(70), smem=4 * 214)  # fmt: skip
    case("tiny", "lz_expand", 1, 32, numbers(40, 1 << 32, "u4"), zeros(40 * 64, "u1"), zeros(1, "i4"), i(1), i(40),
         i(40 * 64))  # fmt: skip
    case("tiny", "write_decimals", 7, 128, Formed("magnitudes", "i4", 800, 9), zeros(2_400, "u4"), i(800))
    case("tiny", "wavelet_53<3>", 10, 256, numbers(5_120, 1_000), zeros(5_120, "i4"))


def _uneven(case: Any) -> None:
    case("tail", "heston_paths", 265, 1_024, zeros(265), i(80), f(2), f(1), u(5))
    case("tail", "string_waves", 140, 1_024, normal(140 * 1_024), zeros(140 * 1_024), i(200), f(0.3))
    n = 1_060 * 256
    case("tail", "md5_chains", 1_060, 256, numbers(4 * n, 1 << 32, "u4"), zeros(4 * n, "u4"), i(n), i(8))
    case("tail", "structure_factors", 530, 512, normal(4 * 530 * 512, high=3), unit(4 * 300), zeros(2 * 530 * 512),
         i(530 * 512), i(300))  # fmt: skip
    case("blocks", "write_decimals", 25_000, 32, Formed("magnitudes", "i4", 800_000, 4), zeros(2_400_000, "u4"),
         i(800_000))  # fmt: skip
    case("blocks", "transpose_bits", 30_000, 32, numbers(960_000, 1 << 32, "u4"), zeros(960_000, "u4"), i(960_000))


def _crowded(case: Any) -> None:
    for smem in (110 << 10, 56 << 10):
        n = 60_013 - smem // 1_024
        case("occupancy", "kd_nearest", up(n, 128), 128, Formed("kd tree", "f4", 2 << 12), unit(2 * n), zeros(n),
             i(1 << 12), i(n), smem=smem)  # fmt: skip
        case("occupancy", "slerp_poses", up(n, 64), 64, normal(4 * n), normal(4 * n, high=2), unit(n), zeros(4 * n),
             i(n), smem=smem)  # fmt: skip
        case("occupancy", "skin_vertices", up(n, 192), 192, normal(3 * n), numbers(4 * n, 60, "u1"),
             Formed("shares", "f4", 4 * n), normal(12 * 60), zeros(3 * n), i(n), smem=smem)  # fmt: skip


def _block_sizes(case: Any) -> None:
    n = 131_072
    for block in SERIES:
        grid = n // block
        case("sfu", "haversine_pairs", grid, block, Formed("angles", "f4", 4 * 300_007), zeros(2 * 300_007), i(300_007),
             series="haversine_pairs")  # fmt: skip
        case("sfu", "structure_factors", grid, block, normal(4 * n, high=3), unit(4 * 500), zeros(2 * n), i(n), i(500),
             series="structure_factors")  # fmt: skip
        case("fp64", "tanh_sinh", grid // 4, block, Formed("from half", "f8", 40_009, 3), zeros(40_009, "f8"),
             i(40_009), i(16), series="tanh_sinh")  # fmt: skip
        case("latency", "longest_prefix", grid, block, Formed("routes", "i4", 8 * 50_021, 99),
             numbers(400_009, 1 << 32, "u4"), zeros(400_009, "i4"), i(400_009), series="longest_prefix")  # fmt: skip
        case("divergence", "kd_nearest", grid, block, Formed("kd tree", "f4", 2 << 14), unit(2 * n), zeros(n),
             i(1 << 14), i(n), series="kd_nearest")  # fmt: skip
        case("atomics", "hyperloglog<10>", grid // 2, block, numbers(1_000_003, 1 << 31, "u4"), zeros(1 << 10, "i4"),
             i(1_000_003), series="hyperloglog")  # fmt: skip
        case("shared", "aes_ctr", grid // 2, block, numbers(4 * 200_003, 1 << 32, "u4"),
             Formed("aes tables", "u4", 512), numbers(44, 1 << 32, "u4"), zeros(4 * 200_003, "u4"), i(200_003),
             series="aes_ctr")  # fmt: skip
        case("scan", "affine_scan<4>", 300, block, unit(300 * 5_001), normal(300 * 5_001), zeros(300 * 5_001),
             i(5_001), series="affine_scan")  # fmt: skip
        case("scan", "bracket_depths", 264, block, numbers(264 * 8_192, 4, "u1"), zeros(264 * 8_192, "i2"),
             zeros(264, "i4"), i(8_192), series="bracket_depths")  # fmt: skip
        case("montecarlo", "connect_playouts", grid // 2, block, zeros(n // 2, "i4"), i(n // 2), i(4), u(9),
             series="connect_playouts")  # fmt: skip
        case("alu", "md5_chains", grid, block, numbers(4 * n, 1 << 32, "u4"), zeros(4 * n, "u4"), i(n), i(5),
             series="md5_chains")  # fmt: skip
        case("local", "unrank_permutations<9>", grid, block, numbers(n, 479_001_600, "u4"), zeros(9 * n, "u1"), i(n),
             series="unrank_permutations")  # fmt: skip
        case("database", "join_shared", 132, block, Formed("keys of parts", "u4", 132 * 2_000, 2_000),
             numbers(132 * 2_000, 1 << 20, "u4"), numbers(132 * 8_000, 4_000, "u4"), zeros(132, "u4"), i(2_000),
             i(8_000), i(4_096), smem=8 * 4_096, series="join_shared")  # fmt: skip
        case("fma", "kalman_4", grid // 2, block, normal(2 * (n // 2) * 20), zeros(4 * (n // 2)), i(n // 2), i(20),
             f(0.02), f(0.4), series="kalman_4")  # fmt: skip
