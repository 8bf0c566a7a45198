"""A ninth set of launches for the timing model: other kernels than those of the eight sets before it, as programs have
them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM. They are
predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.eighth_cases import offsets
from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import Array, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "ninth.cu"
FILE = "ninth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: The prime of ``ntt_shared``; 3 is a generator.
NTT_PRIME = 998244353


def mixed(h: Any) -> np.ndarray:
    """The hash of the kernels, of whole numbers: uint32."""
    h = np.asarray(h).astype("u4")
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return h ^ h >> np.uint32(16)


@dataclass(frozen=True)
class Made(Array):
    """An array by the recipe ``kind`` below: a function of ``size``, ``high`` and a generator of random numbers."""

    def make(self) -> np.ndarray:
        """The array, of shape (size,)."""
        found = RECIPES[self.kind](self.size, self.high, np.random.default_rng(self.size + self.high))
        return found.astype(self.dtype).ravel()


def _cycle(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Records of four numbers. The first ones lead through all records, in a random order."""
    order = rng.permutation(size // 4)
    found = rng.integers(0, high, (size // 4, 4))
    found[order, 0] = np.roll(order, -1)
    return found


def _skewed(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Where each of ``size`` - 1 rows begins, and the end; ``high`` elements per row in the mean, few rows are long."""
    weights = np.minimum(rng.pareto(1.5, size - 1) + 0.2, 8)
    return np.floor(np.append(0, weights.cumsum() / weights.sum() + 1e-12) * high * (size - 1))


def _row_numbers(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The row of each of ``size`` elements in ``high`` rows of ``skewed``."""
    return np.repeat(np.arange(high), np.diff(skewed(high, size // high).make()))


def _members(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """For each element of ``high`` rows of ``skewed`` a number below ``high``; they rise within a row."""
    found = rng.integers(0, high, size)
    return found[np.lexsort((found, _row_numbers(size, high, rng)))]


def letters(text: int) -> np.ndarray:
    """Letters 0 to 3 in blocks of 64, with one block more than ``text`` letters fill."""
    found = np.zeros((text // 64 + 1, 64), int)
    found.ravel()[:text] = np.random.default_rng(text).integers(0, 4, text)
    return found


def _letter_counts(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Before each block of 64 letters: how often each letter came. Four numbers per block."""
    here = (letters(high)[:, :, None] == np.arange(4)).sum(axis=1)
    return here.cumsum(axis=0) - here


def _letter_planes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Two words of 64 bits per block of letters: the low bits of the letters, and the high bits."""
    bits = np.stack([letters(high) & 1, letters(high) >> 1], axis=1).astype("u1")
    return np.packbits(bits, axis=2, bitorder="little").view("u8")


def _tree(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The levels of a tree of 16 keys per node, the root first; the keys of the last level are below ``high``."""
    levels = 1
    while 16 * (16**levels - 1) // 15 < size:
        levels += 1
    keys = np.sort(rng.choice(high, 16**levels, replace=False))
    keys[0] = 0
    return np.concatenate([keys[:: 16 ** (levels - 1 - k)] for k in range(levels)])


def _cuckoo(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A table of the keys 1 to ``high``, each in one of its two places; some keys find none."""
    table, keys = np.full(size, 2**32 - 1), np.arange(1, high + 1)
    table[mixed(keys ^ 0x9E3779B9) & (size - 1)] = keys
    table[mixed(keys) & (size - 1)] = keys
    return table


def _boxes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A tree of boxes (left, top, right, bottom), ``size`` / 8 leaves: node k has the children 2 k and 2 k + 1."""
    leaves = size // 8
    corner = rng.random((leaves, 2))
    rank = np.zeros(leaves, int)
    for bit in range(8):
        for axis in range(2):
            rank |= ((corner[:, axis] * 256).astype(int) >> bit & 1) << (2 * bit + axis)
    corner = corner[np.argsort(rank, kind="stable")]
    nodes = np.zeros((2 * leaves, 4))
    nodes[leaves:] = np.concatenate([corner, corner + 0.004 * rng.random((leaves, 2))], axis=1)
    while leaves > 1:
        pairs = nodes[leaves : 2 * leaves].reshape(-1, 2, 4)
        leaves //= 2
        nodes[leaves : 2 * leaves] = np.append(pairs[..., :2].min(axis=1), pairs[..., 2:].max(axis=1), axis=1)
    return nodes


def _in_cells(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Points (x, y) sorted by their cell, of ``high`` x ``high`` cells; ``offsets`` says where each cell begins."""
    cells = high * high
    of = np.repeat(np.arange(cells), np.diff(offsets(cells, size // 2 // cells).make()))
    return np.stack([of % high, of // high], axis=1) + 0.999 * rng.random((size // 2, 2))


def _odd_primes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The first ``size`` odd primes; the last one is below ``high``."""
    whole = np.arange(high)
    return whole[[k > 2 and all(k % d for d in range(2, int(k**0.5) + 1)) for k in whole]][:size]


def _roots(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The first ``size`` powers of a root of unity of the order 2 * ``size``, modulo the prime of the transform."""
    root = pow(3, (NTT_PRIME - 1) // (2 * size), NTT_PRIME)
    return np.array([pow(root, k, NTT_PRIME) for k in range(size)])


RECIPES: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "unit": lambda size, high, rng: high * rng.random(size),
    "normal": lambda size, high, rng: rng.normal(0, high, size),
    "halves": lambda size, high, rng: rng.normal(0, high, 2 * size).astype("f2").view("u4"),
    "bf16": lambda size, high, rng: rng.normal(0, high, size).astype("f4").view("u4") >> np.uint32(16),
    "sorted": lambda size, high, rng: np.sort(rng.integers(0, high, size)),
    "cycle": _cycle,
    "skewed": _skewed,
    "row numbers": _row_numbers,
    "members": _members,
    "letter counts": _letter_counts,
    "letter planes": _letter_planes,
    "tree": _tree,
    "cuckoo": _cuckoo,
    "boxes": _boxes,
    "in cells": _in_cells,
    "odd primes": _odd_primes,
    "roots": _roots,
}


def unit(size: int, dtype: str = "f4", high: int = 1) -> Made:
    """Numbers from 0 to ``high``, evenly distributed."""
    return Made("unit", dtype, size, high)


def normal(size: int, dtype: str = "f4", high: int = 1) -> Made:
    """Numbers around 0 with the standard deviation ``high``."""
    return Made("normal", dtype, size, high)


def halves(words: int, high: int = 1) -> Made:
    """Two half numbers per word of 32 bits, around 0 with the standard deviation ``high``."""
    return Made("halves", "u4", words, high)


def skewed(rows: int, mean: int) -> Made:
    """Where each of ``rows`` rows of very different lengths begins, and the end of the last."""
    return Made("skewed", "i4", rows + 1, mean)


def lists(rows: int, mean: int) -> tuple[Made, Made]:
    """The starts of ``skewed`` rows, and numbers below ``rows`` that rise within each row."""
    return skewed(rows, mean), Made("members", "i4", rows * mean, rows)


def tree(levels: int, high: int) -> Made:
    """A tree of ``levels`` levels, 16 keys per node."""
    return Made("tree", "i4", 16 * (16**levels - 1) // 15, high)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_chasing, _physics, _chance, _precision, _integers, _texts, _code, _shared, _barriers, _scans, _images, _video,
         _matrices, _pipelines, _sparse, _graphs, _hashes, _searches, _uneven, _recurrences, _streams, _few,
         _block_sizes)
    )  # fmt: skip


def up(n: int, block: int) -> int:
    """Blocks of ``block`` for ``n``."""
    return -(-n // block)


def _chasing(case: Any) -> None:
    for grid, block, steps, count in ((4, 64, 60, 1 << 16), (264, 128, 40, 1 << 20)):
        case("latency", "walk_nodes", grid, block, Made("cycle", "i4", 4 * count, 1 << 30), zeros(grid * block, "i4"),
             i(steps), i(count))  # fmt: skip
    for n, length, text in ((20_011, 12, 1 << 18), (150_001, 16, 5_000_000)):
        blocks = text // 64 + 1
        case("latency", "fm_search", up(n, 192), 192, Made("letter counts", "i4", 4 * blocks, text),
             Made("letter planes", "u8", 2 * blocks, text), numbers(n * length, 4, "u1"), zeros(2 * n, "i4"), i(n),
             i(length), i(text))  # fmt: skip
    for n, levels in ((30_011, 4), (300_007, 5)):
        case("latency", "btree_lookup", up(16 * n, 256), 256, tree(levels, 1 << 25), numbers(n, 1 << 25),
             zeros(n, "i4"), i(n), i(levels))  # fmt: skip


def _physics(case: Any) -> None:
    for bodies, n, steps in ((3, 60_013, 60), (6, 20_011, 50)):
        case("physics", f"little_systems<{bodies}>", up(n, 128), 128, unit(4 * bodies * n), zeros(4 * bodies * n), i(n),
             i(steps), f(0.01))  # fmt: skip
    for tile, n in ((128, 3_001), (64, 9_001)):
        case("fp64", f"lennard_jones_tiles<{tile}>", up(n, tile), tile, unit(2 * n, "f8", 50), zeros(2 * n, "f8"), i(n))
    for points, width, height in ((1, 700, 333), (4, 1_024, 600)):
        case("physics", f"coulomb_slab<{points}>", (up(width, 32 * points), up(height, 4)), (32, 4),
             zeros(width * height), i(width), i(height), f(0.1))  # fmt: skip
    for category, width, height in (("physics", 512, 301), ("stream", 1_501, 1_000)):
        case(category, "lbm_d2q9", (up(width, 64), up(height, 4)), (64, 4), unit(9 * width * height, high=2),
             zeros(9 * width * height), i(width), i(height), f(0.8))  # fmt: skip
    for side, mean in ((64, 12), (120, 6)):
        n = side * side * mean
        case("physics", "sph_density", up(n, 128), 128, offsets(side * side, mean), Made("in cells", "f4", 2 * n, side),
             zeros(n), i(n), i(side))  # fmt: skip
    for grid, n, side in ((264, 200_003, 64), (528, 1_000_003, 700)):
        case("atomics", "pic_deposit", grid, 256, unit(2 * n), zeros(side * side), i(n), i(side))
    for colour, width, height in ((0, 1_024, 700), (1, 3_000, 2_002)):
        case("physics", f"ising_sweep<{colour}>", (up(width // 2, 64), up(height, 4)), (64, 4),
             numbers(width * height, 2, "u1"), i(width), i(height), f(0.4), i(99))  # fmt: skip


def _chance(case: Any) -> None:
    for threads, grid, steps, paths in ((128, 264, 64, 4), (256, 132, 100, 6)):
        case("montecarlo", f"asian_paths<{threads}>", grid, threads, numbers(grid * threads, 1 << 31, "u4"),
             zeros(grid), i(steps), i(paths))  # fmt: skip
    for rows, cols in ((1_001, 3_001), (6_007, 500)):
        case("montecarlo", "gumbel_rows", up(rows, 4), 128, normal(rows * cols), zeros(rows, "i4"), i(rows), i(cols),
             i(7))  # fmt: skip
    for n in (50_021, 400_009):
        case("sfu", "implied_vol", up(n, 160), 160, unit(n), unit(n + 1), zeros(n), i(n))
    for n in (300_007, 900_001):
        case("sfu", "srgb_encode", up(n, 256), 256, unit(4 * n), zeros(4 * n, "u1"), i(n))


def _precision(case: Any) -> None:
    for grid, block, n in ((132, 256, 500_009), (264, 512, 1_500_007)):
        case("fp64", "compensated_dot", grid, block, normal(n, "f8"), normal(n, "f8", 2),
             zeros(grid * block // 16, "f8"), i(n))  # fmt: skip
    for category, threads, packs, rows in (("half", 128, 1, 900), ("stream", 256, 2, 2_001)):
        size = 4 * threads * packs
        case(category, f"add_layer_norm_half<{threads}, {packs}>", rows, threads, halves(rows * size),
             halves(rows * size, 2), halves(size, 3), zeros(rows * size, "u4"))  # fmt: skip
    for head, warps, heads, sequences, tokens in ((64, 4, 8, 16, 500), (128, 8, 8, 12, 1_200)):
        each = up(tokens, 16)
        size = sequences * each * heads * 16 * head
        case("half", f"paged_decode<{head}, {warps}>", (heads, sequences), 32 * warps,
             normal(sequences * heads * head, "f2"), normal(size, "f2"), unit(size, "f2"),
             numbers(sequences * each, sequences * each), zeros(sequences * heads * head), i(tokens),
             i(each))  # fmt: skip
    for rows, words in ((4_096, 512), (3_001, 1_376)):
        case("half", "int4_gemv", up(rows, 4), 128, numbers(rows * words, 1 << 32, "u4"), unit(rows * words // 8, "f2"),
             normal(8 * words, "f2"), zeros(rows), i(rows), i(words))  # fmt: skip
    for threads, rows, packs in ((128, 600, 300), (256, 1_201, 700)):
        case("convert", f"quantise_rows<{threads}>", rows, threads, normal(4 * rows * packs),
             zeros(4 * rows * packs, "i1"), zeros(rows), i(packs))  # fmt: skip
    for grid, n in ((264, 400_009), (528, 3_000_017)):
        case("convert", "pcm_mix", grid, 256, numbers(2 * n, 1 << 16, "i2"), numbers(2 * n, 60_000, "i2"),
             zeros(2 * n, "i2"), i(n), f(0.8))  # fmt: skip


def _integers(case: Any) -> None:
    for n in (40_009, 300_007):
        case("alu", "sha256_words", up(n, 128), 128, numbers(8 * n, 1 << 32, "u4"), zeros(n, "u4"), i(n))
    for limbs, n, rounds in ((8, 60_013, 20), (16, 20_011, 8)):
        case("alu", f"wide_multiply<{limbs}>", up(n, 128), 128, numbers(limbs * n, 1 << 32, "u4"),
             numbers(limbs * n, (1 << 32) - 1, "u4"), zeros(limbs * n, "u4"), i(n), i(rounds))  # fmt: skip
    for log, grid in ((8, 600), (11, 200)):
        case("alu", f"ntt_shared<{log}>", grid, 1 << (log - 1), numbers(grid << log, NTT_PRIME, "u4"),
             Made("roots", "u4", 1 << (log - 1)), zeros(grid << log, "u4"))  # fmt: skip
    for grid, block in ((100, 256), (260, 512)):
        case("atomics", "sieve_bits", grid, block, Made("odd primes", "i4", 573, 4_200), zeros(grid, "i4"), i(573))


def _texts(case: Any) -> None:
    for n in (300_007, 1_500_001):
        case("bytes", "base64_encode", up(n, 192), 192, numbers(3 * n, 1 << 32, "u4"), zeros(4 * n, "u4"), i(n))
    for category, grid, n in (("bytes", 264, 400_009), ("stream", 528, 4_000_037)):
        case(category, "count_separators", grid, 256, numbers(4 * n, 1 << 32, "u4"), zeros(2, "i4"), i(n))
    for lines, mean in ((40_009, 30), (150_001, 60)):
        case("bytes", "dfa_lines", up(lines, 160), 160, offsets(lines, mean), numbers(lines * mean, 256, "u1"),
             numbers(512, 16, "u1"), zeros(lines, "u1"), i(lines))  # fmt: skip
    for chunks, length in ((40_009, 64), (200_003, 41)):
        case("bytes", "varint_sums", up(chunks, 128), 128, numbers(chunks * length, 256, "u1"), zeros(chunks, "u8"),
             i(chunks), i(length))  # fmt: skip
    for k, n, each, bits in ((12, 500_009, 16, 16), (21, 2_000_003, 32, 22)):
        case("bytes", f"kmer_counts<{k}>", up(n, 128 * each), 128, numbers(n, 4, "u1"), zeros(1 << bits, "u4"), i(n),
             i(each), u((1 << bits) - 1))  # fmt: skip


def _code(case: Any) -> None:
    for unrolled, n in ((1, 40_009), (10, 40_009), (10, 250_007)):
        case(
            "code", f"blake2s_words<{unrolled}>", up(n, 128), 128, numbers(16 * n, 1 << 32, "u4"), zeros(n, "u4"), i(n)
        )
    for n in (50_021, 200_003):
        case("code", "fft16_batch", up(n, 96), 96, normal(32 * n), zeros(32 * n), i(n))
    for kinds, grid, block, jobs in ((8, 264, 256, 12_000), (48, 264, 256, 12_000), (48, 60, 128, 2_000)):
        case("code", f"kernels_by_kind<{kinds}>", grid, block, numbers(jobs, kinds, "u1"), unit(32 * jobs),
             zeros(32 * jobs), i(jobs))  # fmt: skip
    for size, n in ((4, 100_003), (8, 50_021)):
        case("code", f"solve_in_registers<{size}>", up(n, 128), 128, unit(size * size * n), unit(size * n, high=3),
             zeros(size * n), i(n))  # fmt: skip
    for n, length in ((33_001, 500), (150_001, 150)):
        case("code", "register_vm", up(n, 128), 128, numbers(length, 1 << 12, "u4"), numbers(n, 1 << 32, "u4"),
             zeros(n, "u4"), i(length), i(n))  # fmt: skip


def _shared(case: Any) -> None:
    for grid, words in ((264, 48), (1_200, 60)):
        case("shared", "thread_bins", grid, 64, numbers(grid * words * 64, 1 << 32, "u4"), zeros(64 * grid, "u4"),
             i(words))  # fmt: skip
    for threads, pad, grid in ((256, "false", 1_000), (256, "true", 1_000), (64, "false", 3_000)):
        case("shared", f"scan_gems<{threads}, {pad}>", grid, threads, numbers(2 * grid * threads, 99),
             zeros(2 * grid * threads, "i4"))  # fmt: skip
    for width, height in ((2_048, 1_024), (4_096, 3_072)):
        for swizzle in ("false", "true"):
            case("shared", f"transpose_bytes<{swizzle}>", (width // 64, height // 64), (16, 16),
                 numbers(width * height // 4, 1 << 32, "u4"), zeros(width * height // 4, "u4"), i(width),
                 i(height))  # fmt: skip
    for n, entries in ((500_009, 8_000), (500_009, 24_000), (1_500_007, 50_000)):
        case("shared", "lookup_in_table", 132, 512, unit(entries), unit(n), zeros(n), i(n), i(entries),
             smem=4 * entries)  # fmt: skip


def _barriers(case: Any) -> None:
    for size, grid in ((16, 1_000), (32, 400)):
        case("barrier", f"batched_cholesky<{size}>", grid, (size, size), unit(size * size * grid),
             zeros(size * size * grid))  # fmt: skip
    for grid, most in ((132, 8), (500, 6)):
        case("barrier", "sandpile_tiles", grid, (32, 32), numbers(1_024 * grid, most), zeros(1_024 * grid, "i4"))
    for grid, block in ((132, 128), (400, 512)):
        case("barrier", "dtw_pairs", grid, block, unit(grid * block), unit(grid * block, high=2), zeros(grid),
             smem=4 * (4 * block + 3))  # fmt: skip
    for pairs, length in ((2_001, 300), (12_007, 120)):
        case("shuffle", "smith_waterman", up(pairs, 4), 128, numbers(32 * pairs, 4, "u1"),
             numbers(pairs * length, 4, "u1"), zeros(pairs, "i4"), i(pairs), i(length))  # fmt: skip
    for threads, items, grid, bits in ((128, 8, 400, 16), (256, 4, 800, 32)):
        n = threads * items * grid
        case("sort", f"radix_sort_tiles<{threads}, {items}>", grid, threads, numbers(n, 1 << bits, "u4"),
             zeros(n, "u4"), i(bits))  # fmt: skip
    for rows, block, cols, k in ((300, 256, 5_001, 50), (2_000, 128, 1_000, 10)):
        case("sort", "radix_select_rows", rows, block, numbers(rows * cols, 1 << 32, "u4"), zeros(rows, "u4"), i(cols),
             i(k))  # fmt: skip


def _scans(case: Any) -> None:
    for threads, items, grid in ((128, 8, 500), (256, 16, 700)):
        n = threads * items * grid
        case("scan", f"scan_tiles<{threads}, {items}>", grid, threads, numbers(n, 9), zeros(n, "i4"),
             zeros(grid, "i4"))  # fmt: skip
    for grid, block, each in ((264, 256, 320), (600, 128, 200)):
        n = grid * block // 32 * each
        case("scan", "segmented_sums", grid, block, numbers(n, 99), numbers(n, 40, "u1"), zeros(n, "i4"), i(each))
    for threads, rounds, n in ((256, 4, 400_009), (128, 8, 2_000_003)):
        grid = up(n, threads * rounds)
        case("scan", f"compact_tiles<{threads}, {rounds}>", grid, threads, numbers(n, 999), zeros(n, "i4"),
             zeros(grid, "i4"), i(n))  # fmt: skip
    for threads, items, n in ((128, 7, 200_003), (256, 11, 1_500_007)):
        case("sort", f"merge_path_tiles<{threads}, {items}>", up(2 * n, threads * items), threads,
             Made("sorted", "i4", n, 1 << 30), Made("sorted", "i4", n, 1 << 29), zeros(2 * n, "i4"), i(n))  # fmt: skip
    for grid, n in ((264, 20_011), (400, 100_003)):
        case("shuffle", "fft32_shuffle", grid, 256, normal(64 * n), zeros(64 * n), i(n))


def _images(case: Any) -> None:
    for reach, nx, ny, nz in ((2, 128, 64, 40), (4, 256, 128, 60)):
        size = (nx + 2 * reach) * (ny + 2 * reach) * (nz + 2 * reach)
        case("stencil", f"fd3d_march<{reach}>", (nx // 32, ny // 8), (32, 8), unit(size), zeros(nx * ny * nz), i(nx),
             i(ny), i(nz))  # fmt: skip
    for reach, steps, width, height in ((4, 4, 1_001, 701), (8, 8, 2_001, 1_203)):
        case("stencil", f"gauss_rows<{reach}, {steps}>", (up(width, 32 * steps), up(height, 4)), (32, 4),
             unit(width * height), zeros(width * height), i(width), i(height))  # fmt: skip
    for width, height in ((1_001, 801), (3_000, 2_000)):
        case("image", "bayer_rgb", (up(width, 32), up(height, 8)), (32, 8), numbers(width * height, 256, "u1"),
             zeros(4 * width * height, "u1"), i(width), i(height))  # fmt: skip
    for width, height in ((800, 601), (2_001, 1_201)):
        case("image", "bicubic_affine", (up(width, 32), up(height, 4)), (32, 4), unit(width * height),
             zeros(width * height), i(width), i(height), f(0.7), f(0.4))  # fmt: skip
    for side, n in ((17, 300_007), (33, 1_000_003)):
        case("cache", f"lut3d_grade<{side}>", up(n, 256), 256, numbers(4 * n, 256, "u1"), unit(4 * side**3),
             zeros(4 * n), i(n))  # fmt: skip
    for width, height in ((640, 480), (1_921, 1_081)):
        case("image", "ray_spheres", (up(width, 16), up(height, 8)), (16, 8), zeros(width * height), i(width),
             i(height))  # fmt: skip


def _video(case: Any) -> None:
    for width, height in ((640, 480), (3_840, 2_160)):
        category = "stream" if width > 1_000 else "image"
        case(category, "yuv420_rgba", (up(width // 2, 160), height), 160, numbers(width * height, 256, "u1"),
             numbers(width * height // 4, 256, "u1"), numbers(width * height // 4, 255, "u1"),
             zeros(width * height, "u4"), i(width // 2), i(height))  # fmt: skip
    for width, height in ((512, 512), (1_920, 1_080)):
        squares = width * height // 64
        case("image", "jpeg_dct", up(squares, 32), 256, numbers(width * height // 4, 1 << 32, "u4"),
             zeros(width * height, "i2"), i(width), i(squares))  # fmt: skip
    for width, height in ((320, 240), (1_280, 720)):
        case("image", "sad_search", (width // 8, height // 8), (16, 16), numbers(width * height // 4, 1 << 32, "u4"),
             numbers((width + 16) * (height + 16) // 4, 1 << 32, "u4"), zeros(width * height // 64, "u4"),
             i(width))  # fmt: skip
    for width, height, packs, rows in ((56, 56, 32, 4), (112, 112, 16, 8)):
        case("stencil", "depthwise_nhwc", (up(width, rows), height), (packs, rows), unit(4 * width * height * packs),
             normal(36 * packs), zeros(4 * width * height * packs), i(width), i(height), i(packs))  # fmt: skip


def _matrices(case: Any) -> None:
    for shape, m, n, k in (
        (("float", 64, 64, 16, 4, 4), 300, 411, 200),
        (("float", 128, 64, 8, 8, 4), 1_001, 700, 333),
        (("float", 32, 32, 32, 2, 2), 150, 150, 600),
        (("double", 32, 32, 16, 2, 2), 203, 210, 190),
        (("double", 64, 64, 8, 4, 4), 500, 601, 300),
    ):
        kind, bm, bn, _, tm, tn = shape
        dtype = "f4" if kind == "float" else "f8"
        case("matrix" if kind == "float" else "fp64", f"gemm_micro<{', '.join(map(str, shape))}>",
             (up(n, bn), up(m, bm)), bm // tm * bn // tn, unit(m * k, dtype), unit(k * n, dtype, 2),
             zeros(m * n, dtype), i(m), i(n), i(k))  # fmt: skip


def _pipelines(case: Any) -> None:
    for stages, m, n, k in ((3, 512, 512, 512), (4, 1_024, 768, 640), (2, 320, 256, 1_024)):
        case("pipeline", f"gemm_stages<{stages}>", (n // 64, m // 64), 256, unit(m * k), unit(k * n, high=2),
             zeros(m * n), i(n), i(k))  # fmt: skip
    for threads, taps, grid, tiles in ((128, 33, 264, 4_001), (256, 65, 396, 5_003)):
        case("pipeline", f"fir_ahead<{threads}, {taps}>", grid, threads, unit(tiles * threads + taps - 1), normal(taps),
             zeros(tiles * threads), i(tiles))  # fmt: skip
    for warps, bags, mean, rows in ((4, 3_001, 20, 20_011), (8, 9_001, 12, 80_021)):
        case("pipeline", f"embedding_bags<{warps}>", up(bags, warps), 32 * warps, unit(128 * rows), skewed(bags, mean),
             numbers(bags * mean, rows), zeros(128 * bags), i(bags))  # fmt: skip


def _sparse(case: Any) -> None:
    for lanes, rows, mean in ((2, 60_013, 6), (8, 20_011, 20), (32, 5_003, 100)):
        case("sparse", f"csr_subwarp<{lanes}>", up(rows * lanes, 128), 128, skewed(rows, mean),
             numbers(rows * mean, rows), unit(rows * mean), unit(rows), zeros(rows), i(rows))  # fmt: skip
    for rows, mean in ((5_003, 8), (16_001, 6)):
        case("sparse", "bsr4_rows", up(rows, 4), 128, offsets(rows, mean), numbers(rows * mean, rows),
             unit(16 * rows * mean), unit(4 * rows), zeros(4 * rows), i(rows))  # fmt: skip
    for each, rows, mean in ((4, 20_011, 10), (16, 100_003, 6)):
        n = rows * mean
        case("sparse", f"coo_segments<{each}>", up(n, 128 * each), 128, Made("row numbers", "i4", n, rows),
             numbers(n, rows), unit(n), unit(rows), zeros(rows), i(n))  # fmt: skip
    for depth, rows, mean in ((32, 10_007, 10), (64, 30_011, 12)):
        n = rows * mean
        case("sparse", f"sampled_products<{depth}>", up(8 * n, 256), 256, Made("row numbers", "i4", n, rows),
             numbers(n, rows), unit(depth * rows), unit(depth * rows, high=2), zeros(n), i(n))  # fmt: skip


def _graphs(case: Any) -> None:
    for nodes, mean, count in ((60_013, 10, 8_009), (200_003, 8, 70_001)):
        case("graph", "expand_frontier", up(count, 4), 128, numbers(count, nodes), *lists(nodes, mean),
             numbers(nodes, 3, "u1"), zeros(1, "u4"), zeros(1 << 20, "i4"), i(count), u((1 << 20) - 1))  # fmt: skip
    for nodes, mean in ((3_001, 20), (12_007, 10)):
        case("graph", "count_triangles", up(nodes, 4), 128, *lists(nodes, mean), zeros(nodes, "i4"), i(nodes))
    for nodes, mean in ((80_021, 8), (300_007, 5)):
        case("graph", "colour_round", up(nodes, 192), 192, *lists(nodes, mean), zeros(nodes, "i4"), i(nodes), i(3))


def _hashes(case: Any) -> None:
    for grid, n, bits, keys in ((132, 300_007, 16, 30_000), (264, 1_000_003, 22, 1_500_000)):
        case("hash", "cuckoo_lookup", grid, 256, Made("cuckoo", "u4", 1 << bits, keys), numbers(n, 2 * keys, "u4"),
             zeros(n, "u1"), i(n), u((1 << bits) - 1))  # fmt: skip
    for n, bits in ((200_003, 15), (600_011, 20)):
        case("atomics", "bloom_add", up(n, 256), 256, numbers(n, 1 << 32, "u4"), zeros(1 << bits, "u4"), i(n),
             u((1 << bits) - 1))  # fmt: skip
    for n, bits in ((300_007, 14), (1_200_007, 21)):
        case("hash", "bloom_query", up(n, 192), 192, numbers(n, 1 << 32, "u4"), numbers(1 << bits, 1 << 32, "u4"),
             zeros(n, "u1"), i(n), u((1 << bits) - 1))  # fmt: skip
    for slots, grid, block, n, keys in ((1_024, 132, 256, 500_009, 300), (2_048, 264, 512, 1_200_007, 1_500)):
        case("hash", f"group_by_shared<{slots}>", grid, block, numbers(n, keys), numbers(n, 99), zeros(keys, "i4"),
             i(n))  # fmt: skip
    for n, levels, bits in ((40_009, 8, 14), (90_001, 12, 18)):
        case("hash", "hash_grid_encode", (up(n, 256), levels), 256, unit(3 * n), normal(2 * levels << bits, "f2"),
             zeros(2 * n * levels), i(n), u((1 << bits) - 1))  # fmt: skip


def _searches(case: Any) -> None:
    for n, leaves in ((50_021, 1 << 12), (100_003, 1 << 16)):
        case("divergence", "bvh_overlaps", up(n, 128), 128, Made("boxes", "f4", 8 * leaves), unit(4 * n),
             zeros(n, "i4"), i(n), i(leaves))  # fmt: skip
    for k, n, count in ((4, 20_011, 1_000), (16, 33_001, 1_501)):
        case("divergence", f"knn_insertion<{k}>", up(n, 96), 96, unit(2 * count), unit(2 * n, high=2), zeros(k * n),
             i(n), i(count))  # fmt: skip
    for clusters, grid, n in ((16, 264, 200_003), (64, 132, 150_001)):
        case("atomics", f"kmeans_step<{clusters}>", grid, 256, unit(4 * n), unit(4 * clusters), zeros(4 * clusters),
             zeros(clusters, "i4"), i(n))  # fmt: skip


def _uneven(case: Any) -> None:
    for n in (4_001, 12_007):
        case("tail", "pair_distances_binned", up(n, 128), 128, unit(3 * n), zeros(64, "u4"), i(n))
    for n in (2_001, 7_001):
        case("tail", "two_opt", up(n, 64), 64, unit(2 * n), zeros(1, "u8"), i(n))
    for grid, block, tiles in ((264, 128, 3_000), (132, 512, 1_501)):
        case("tail", "persistent_tiles", grid, block, unit(tiles * block), zeros(tiles * block), zeros(1, "u4"),
             i(tiles))  # fmt: skip
    case("tail", "sha256_words", 1_057, 256, numbers(8 * 1_057 * 256, 1 << 32, "u4"), zeros(1_057 * 256, "u4"),
         i(1_057 * 256))  # fmt: skip
    case("tail", "gemm_stages<3>", (17, 8), 256, unit(512 * 768), unit(768 * 1_088, high=2), zeros(512 * 1_088),
         i(1_088), i(768))  # fmt: skip


def _recurrences(case: Any) -> None:
    for systems, n in ((6_007, 64), (30_011, 60)):
        case("latency", "thomas_interleaved", up(systems, 64), 64, unit(systems * n), unit(systems * n, high=2),
             zeros(systems * n), zeros(systems * n), i(systems), i(n))  # fmt: skip
    for state, channels, length in ((8, 2_048, 200), (16, 16_384, 60)):
        case("latency" if state == 8 else "sfu", f"selective_scan<{state}>", up(channels, 64), 64,
             normal(channels * length), unit(channels * length), normal(state * length), normal(state * length, high=2),
             zeros(channels * length), i(channels), i(length))  # fmt: skip


def _streams(case: Any) -> None:
    for rows, pairs in ((300, 1_376), (1_501, 2_752)):
        case("stream", "swiglu_half", (up(pairs, 512), rows), 256, normal(4 * rows * pairs, "f2"),
             zeros(2 * rows * pairs, "f2"), i(pairs))  # fmt: skip
    for grid, n in ((264, 1_000_003), (396, 10_000_019)):
        case("stream", "ema_bf16", grid, 512, Made("bf16", "u2", 2 * n, 1), Made("bf16", "u2", 2 * n, 2), i(n))
    for tokens, heads in ((1_001, 12), (8_000, 16)):
        case("stream", "heads_first", up(8 * tokens * heads, 256), 256, numbers(32 * tokens * heads, 1 << 32, "u4"),
             zeros(32 * tokens * heads, "u4"), i(tokens), i(heads))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "dtw_pairs", 1, 64, unit(64), unit(64, high=2), zeros(1), smem=4 * 259)
    case("tiny", "radix_select_rows", 2, 128, numbers(1_600, 1 << 32, "u4"), zeros(2, "u4"), i(800), i(9))
    case("tiny", "csr_subwarp<8>", 5, 64, skewed(40, 30), numbers(1_200, 40), unit(1_200), unit(40), zeros(40), i(40))
    for smem in (100 << 10, 40 << 10):
        n = 40_961 - smem // 1_024
        case("occupancy", "implied_vol", up(n, 128), 128, unit(n), unit(n + 1), zeros(n), i(n), smem=smem)
        case("occupancy", "btree_lookup", up(16 * n, 128), 128, tree(4, 1 << 25), numbers(n, 1 << 25), zeros(n, "i4"),
             i(n), i(4), smem=smem)  # fmt: skip
        case("occupancy", "sha256_words", up(n, 64), 64, numbers(8 * n, 1 << 32, "u4"), zeros(n, "u4"), i(n), smem=smem)


def _block_sizes(case: Any) -> None:
    n = 131_072
    for block in SERIES:
        case("sparse", "csr_subwarp<8>", n // block, block, skewed(n // 8, 16), numbers(2 * n, n // 8), unit(2 * n),
             unit(n // 8), zeros(n // 8), i(n // 8), series="csr_subwarp")  # fmt: skip
        case("shuffle", "smith_waterman", n // block, block, numbers(n, 4, "u1"), numbers(n // 32 * 150, 4, "u1"),
             zeros(n // 32, "i4"), i(n // 32), i(150), series="smith_waterman")  # fmt: skip
        case("sort", "radix_select_rows", 500, block, numbers(500 * 2_003, 1 << 32, "u4"), zeros(500, "u4"), i(2_003),
             i(40), series="radix_select_rows")  # fmt: skip
        case("hash", "group_by_shared<1024>", n // block, block, numbers(800_003, 500), numbers(800_003, 99),
             zeros(500, "i4"), i(800_003), series="group_by_shared")  # fmt: skip
        case("code", "register_vm", n // block, block, numbers(300, 1 << 12, "u4"), numbers(n, 1 << 32, "u4"),
             zeros(n, "u4"), i(300), i(n), series="register_vm")  # fmt: skip
        case("latency", "fm_search", n // block, block, Made("letter counts", "i4", 4 * 31_251, 2_000_000),
             Made("letter planes", "u8", 2 * 31_251, 2_000_000), numbers(14 * n, 4, "u1"), zeros(2 * n, "i4"), i(n),
             i(14), i(2_000_000), series="fm_search")  # fmt: skip
        case("atomics", "pic_deposit", n // block, block, unit(2 * 300_007), zeros(200 * 200), i(300_007), i(200),
             series="pic_deposit")  # fmt: skip
