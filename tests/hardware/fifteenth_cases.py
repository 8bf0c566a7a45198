"""A fifteenth set of launches for the timing model: other kernels than those of the fourteen sets before it, as
programs have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM.
They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import Made, halves, lists, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "fifteenth.cu"
FILE = "fifteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def _links(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers that lead through all of them, in a random order."""
    order, found = rng.permutation(size), np.zeros(size, int)
    found[order] = np.roll(order, -1)
    return found


def _decimals(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Thirteen digits, four bits each."""
    return (rng.integers(0, 10, (size, 13)) << 4 * np.arange(13)).sum(axis=1)


def _byte_powers(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The powers of 2 in the field of 256 elements whose polynomial is 0x11d."""
    found = [1]
    while len(found) < size:
        found.append(2 * found[-1] ^ (0x11D if found[-1] > 127 else 0))
    return np.array(found)


def _byte_logs(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The logarithms of the elements of that field; 0 has none."""
    found = np.zeros(256, int)
    found[_byte_powers(255, high, rng)] = np.arange(255)
    return found


def _pegs(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of four colours below ``high``, one per byte."""
    return (rng.integers(0, high, (size, 4)) << 8 * np.arange(4)).sum(axis=1)


def _low_ranks(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Matrices of ``high`` x ``high`` numbers below 101; the rows of most of them depend on each other."""
    count = size // high**2
    rows = rng.integers(0, 101, (count, high, high))
    for matrix, rank in zip(rows, rng.integers(high // 2, high + 1, count), strict=True):
        matrix[rank:] = rng.integers(0, 101, (high - rank, rank)) @ matrix[:rank] % 101
    return rows[:, rng.permutation(high)]


def _positive(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Symmetric positive matrices of ``high`` x ``high``, whose greatest eigenvalue is well apart."""
    found = rng.random((size // high**2, high, high))
    return found @ found.transpose(0, 2, 1) / high + 0.5 * np.eye(high)


def _forest(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The node above each node, which has a smaller number; ``high`` nodes are above themselves."""
    k = np.arange(size)
    return np.where(k < high, k, (k * rng.random(size)).astype(int))


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "links": _links,
    "decimals": _decimals,
    "byte powers": _byte_powers,
    "byte logs": _byte_logs,
    "pegs": _pegs,
    "decays": lambda size, high, rng: 0.1 * 1.6 ** np.arange(size),
    "signs": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "sparse bits": lambda size, high, rng: rng.integers(0, 1 << 32, size) & rng.integers(0, 1 << 32, size),
    "low ranks": _low_ranks,
    "positive": _positive,
    "forest": _forest,
    "nothing": lambda size, high, rng: np.full(size, -1),
    "small halves": lambda size, high, rng: rng.integers(-3, 4, size),
    "shuffled": lambda size, high, rng: rng.permutation(size),
    "chances": lambda size, high, rng: rng.dirichlet(np.ones(16), 16).T.astype("f2").ravel().view("u4"),
    "shares": lambda size, high, rng: rng.dirichlet(np.ones(16), size // 8).astype("f2").ravel().view("u4"),
    "blobs": lambda size, high, rng: np.convolve(rng.random(size + 2), np.ones(3) / 3, "valid") > 0.42,
    "within": lambda size, high, rng: rng.uniform(-0.01 * high, 0.01 * high, size),
}


class Prepared(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _chains,
            _more_chains,
            _walks,
            _integers,
            _codes,
            _texts,
            _puzzles,
            _dynamic,
            _eliminations,
            _rows,
            _neighbours,
            _groups,
            _queues,
            _scatters,
            _chances,
            _tensors,
            _copies,
            _pictures,
            _places,
            _learning,
            _finance,
            _codes_in_one_piece,
            _kinds,
            _few,
            _uneven,
            _crowded,
        )
    )


def _chains(case: Any) -> None:
    n, steps, blocks = 30_011, 60, (32, 64, 128, 256, 512)
    spread(case, "latency", "double_pendulum", n, blocks, normal(4 * n), zeros(4 * n), i(n), i(steps), f(0.005))
    n, steps, blocks = 16_384, 120, (64, 128, 512, 1_024)
    spread(case, "sfu", "henon_exponents", n, blocks, zeros(n), i(n), i(steps), f(0.3))
    n, days, blocks = 20_011, 40, (64, 128, 256, 512)
    spread(case, "constant", "illness_groups", n, blocks, unit(n), zeros(n), i(n), i(days))


def _more_chains(case: Any) -> None:
    n, blocks = 60_013, 192
    spread(case, "fp64", "decay_chains", n, blocks, Prepared("decays", "f8", 8), zeros(n, "f8"), i(n),
           ("f8", 0.001))  # fmt: skip
    n, fuel, blocks = 20_011, 60, (32, 64, 256, 512)
    spread(case, "divergence", "rocket_stages", n, blocks, numbers(3 * n, fuel), zeros(2 * n), i(n), f(0.05))
    n, dt, blocks = 30_011, 0.1, 128
    spread(case, "divergence", "shell_ranges", n, blocks, unit(2 * n), zeros(2 * n), i(n), f(0.002), f(dt))
    n, places, blocks = 20_011, 20, 128
    spread(case, "fp64", "incomplete_gamma", n, blocks, unit(n, "f8", 9), unit(n, "f8", places), zeros(n, "f8"),
           i(n))  # fmt: skip
    n, blocks = 100_003, 64
    spread(case, "divergence", "normal_quantiles", n, blocks, unit(n), zeros(n), i(n))


def _walks(case: Any) -> None:
    n, steps, blocks = 2_000, 80, 32
    spread(case, "latency", "langton_ants", n, blocks, numbers(1_024 * n, 2, "u1"), zeros(n, "i4"), i(n), i(steps))
    for size, n, length, blocks in ((1 << 15, 16_384, 40, (32, 128, 256, 512)), (1 << 22, 8_192, 24, 128)):
        spread(case, "cache", "inverse_bwt", n, blocks, numbers(size, 100, "u1"), Prepared("links", "i4", size),
               numbers(n, size), zeros(n * length, "u1"), i(n), i(length))  # fmt: skip


def _integers(case: Any) -> None:
    n, blocks = 30_011, (32, 64, 256, 1_024)
    spread(case, "int64", "lucas_lehmer", n, blocks, numbers(n, 59), zeros(n, "u8"), i(n))
    n, first, blocks = 8_009, 50_000, (32, 64, 128, 256)
    spread(case, "division", "pell_periods", n, blocks, zeros(n, "i4"), zeros(n, "u8"), i(n), i(first))
    digits, n, turns, blocks = 8, 30_011, 10, 128
    spread(case, "division", f"kaprekar_steps<{digits}>", n, blocks, numbers(n, 10**digits), zeros(n, "i4"), i(n),
           i(turns))  # fmt: skip
    side, n, blocks = 8, 8_192, (32, 64, 128, 256)
    spread(case, "int64", f"ryser_permanents<{side}>", n, blocks, Prepared("signs", "i1", side * side * n, 9),
           zeros(n, "i8"), i(n))  # fmt: skip


def _codes(case: Any) -> None:
    for category, n, count, blocks in (("int64", 60_013, 12, 256), ("stream", 200_003, 8, 128)):
        spread(case, category, "packed_decimals", n, blocks, Prepared("decimals", "u8", n * count), zeros(n, "u8"),
               i(n), i(count))  # fmt: skip
    n, degree, shares, blocks = 30_011, 4, 10, 256
    spread(case, "shared", "secret_shares", n, blocks, Prepared("byte logs", "u1", 256),
           Prepared("byte powers", "u1", 256), numbers(n * (degree + 1), 256, "u1"), zeros(n * shares, "u1"),
           i(n), i(degree), i(shares))  # fmt: skip
    for n, blocks in ((60_013, 128), (400_009, 512)):
        spread(case, "crypto", "speck_blocks", n, blocks, numbers(2 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n),
               u(0x03020100), u(0x0B0A0908), u(0x13121110), u(0x1B1A1918))  # fmt: skip
    grid, n, blocks = 132, 60_013, (64, 128, 256, 512)
    within(case, "shared", "blowfish_words", grid, blocks, numbers(1_024, 1 << 32, "u4"),
           numbers(18, 1 << 32, "u4"), numbers(2 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n))  # fmt: skip
    n, count, blocks = 16_384, 16, (32, 64, 128, 512)
    spread(case, "divergence", "elias_decode", n, blocks, Prepared("sparse bits", "u4", n * count),
           zeros(2 * n, "u4"), i(n), i(count))  # fmt: skip


def _texts(case: Any) -> None:
    for n, blocks in ((300_007, 256), (50_021, 96)):
        spread(case, "stream" if n > 100_000 else "string", "luhn_checks", n, blocks, numbers(16 * n, 10, "u1"),
               zeros(n, "u1"), i(n))  # fmt: skip
    n, pitch, blocks = 200_003, 9, 128
    spread(case, "string", "soundex_codes", n, blocks, numbers(n * pitch, 26, "u1"), zeros(n, "u4"), i(n),
           i(pitch))  # fmt: skip
    n, letters, blocks = 200_003, 2, 256
    spread(case, "string", "palindrome_radii", n, blocks, numbers(n, letters, "u1"), zeros(n, "i4"), i(n))
    n, length, blocks = 2_003, 300, (32, 64, 256, 1_024)
    spread(case, "string", "caesar_breaks", 32 * n, blocks, numbers(n * length, 26, "u1"), numbers(26, 100),
           zeros(n, "i4"), i(n), i(length))  # fmt: skip
    n, length, blocks = 8_192, 24, 64
    spread(case, "local", "move_to_front", n, blocks, numbers(n * length, 64, "u1"), zeros(n * length, "u1"),
           i(n), i(length))  # fmt: skip


def _puzzles(case: Any) -> None:
    n, heaps, blocks = 20_011, 60, 128
    spread(case, "local", "grundy_counts", n, blocks, numbers(6 * n, 30, "u1"), zeros(n, "i4"), i(n), i(heaps))
    n, count, blocks = 16_384, 60, (32, 64, 128, 256)
    spread(case, "shared", "mastermind_worst", n, blocks, Prepared("pegs", "u4", n, 6),
           Prepared("pegs", "u4", count, 6), zeros(n, "i4"), i(n), i(count),
           smem=lambda block: 50 * block)  # fmt: skip
    n, blocks = 4_096, 64
    spread(case, "divergence", "knight_tours", n, blocks, zeros(n, "i4"), i(n), u(21))
    n, hands, blocks = 30_011, 12, (64, 128, 512, 1_024)
    spread(case, "montecarlo", "blackjack_hands", n, blocks, zeros(1, "i4"), i(n), i(hands), u(17))
    n, count, blocks = 8_192, 60, 128
    spread(case, "local", "elo_seasons", n, blocks, numbers(n * count, 256, "u1"), zeros(16 * n), i(n), i(count))
    for cells, n, blocks in ((30, 30_011, 128), (60, 16_384, 64)):
        spread(case, "alu", f"nonogram_ways<{cells}>", n, blocks, numbers(4 * n, 4, "u1"), zeros(n, "u4"), i(n))


def _dynamic(case: Any) -> None:
    grid, kinds, most, blocks = 264, 8, 2_000, (32, 64, 128, 256)
    within(case, "barrier", "coin_ways", grid, blocks, numbers(grid * kinds, 150), zeros(grid * (most + 1), "u4"),
           i(kinds), i(most), smem=4 * (most + 1))  # fmt: skip
    n, length, blocks = 16_384, 48, 128
    spread(case, "local", "longest_rising", n, blocks, numbers(n * length, 1 << 20), zeros(n, "i4"), i(n),
           i(length))  # fmt: skip
    for grid, width, blocks in ((264, 300, (64, 128, 256, 320)), (1, 500, 256)):
        within(case, "barrier" if grid > 1 else "tiny", "pascal_rows", grid, blocks, numbers(grid, 10_000),
               zeros(grid * width, "i4"), i(width), smem=8 * width)  # fmt: skip
    for n, tiles in ((400, (8, 16, 24, 32)), (130, (16,))):
        for tile in tiles:
            grid, name = (up(n, tile), up(n, tile)), "minplus_tiles" if len(tiles) > 1 else ""
            case("shared", f"minplus_tiles<{tile}>", grid, (tile, tile), numbers(n * n, 10_000),
                 numbers(n * n, 9_000), zeros(n * n, "i4"), i(n), series=name)  # fmt: skip


def _eliminations(case: Any) -> None:
    grid, n, blocks = 264, 24, (32, 64, 128, 256)
    within(case, "division", "ranks_modulo", grid, blocks, Prepared("low ranks", "u4", grid * n * n, n),
           zeros(grid, "i4"), i(n), u(101), smem=4 * n * n)  # fmt: skip
    for grid, n, blocks in ((264, 32, (32, 64, 128, 256)), (2, 48, 128)):
        within(case, "barrier" if grid > 2 else "tiny", "cholesky_blocks", grid, blocks,
               Prepared("positive", "f4", grid * n * n, n), zeros(grid * n * n), i(n),
               smem=4 * n * (n + 1))  # fmt: skip
    for grid, n, turns, blocks in ((132, 96, 12, (64, 128, 256, 512)), (4, 200, 20, 1_024)):
        within(case, "reduce" if grid > 4 else "tiny", "power_iterations", grid, blocks,
               Prepared("positive", "f4", grid * n * n, n), zeros(grid), i(n), i(turns))  # fmt: skip


def _rows(case: Any) -> None:
    for category, n, blocks in (("shuffle", 60_032, 128), ("stream", 2_000_000, 256), ("shuffle", 320, 32)):
        spread(case, category, "haar_rows", n, blocks, normal(n), zeros(n), i(n))
    for frames, n, blocks in ((132, 256, (64, 128, 256, 512)), (1_000, 64, 64)):
        within(case, "shared", "mdct_frames", frames, blocks, normal(n * (frames + 1)), zeros(n * frames), i(n),
               smem=40 * n)  # fmt: skip
    n, length, blocks = 8_192, 40, (32, 64, 128, 256)
    spread(case, "shared", "shell_columns", n, blocks, numbers(n * length, 1 << 20), zeros(n * length, "i4"), i(n),
           i(length), smem=lambda block, length=length: 4 * length * block)  # fmt: skip
    for pad in (0, 1, 2, 4):
        case("shared", f"row_walks<{pad}>", 132, 128, normal(132 * 128 * 32), unit(132 * 128), zeros(132 * 128),
             i(132 * 128), i(8), series="row_walks")  # fmt: skip
    case("shared", "row_walks<1>", 528, 64, normal(528 * 64 * 32), unit(528 * 64), zeros(528 * 64), i(528 * 64), i(3))


def _neighbours(case: Any) -> None:
    n, blocks = 5_003, (32, 64, 128, 256, 512)
    spread(case, "sfu", "tsne_forces", n, blocks, normal(2 * n), zeros(4 * n), i(n), smem=lambda block: 8 * block)
    grid, count, blocks = 1_000, 900, 128
    within(case, "cache", "map_winners", grid, blocks, normal(16 * grid), normal(16 * count, high=2),
           zeros(grid, "i4"), i(count))  # fmt: skip


def _groups(case: Any) -> None:
    n, labels, blocks = 100_003, 4, (64, 128, 256, 1_024)
    spread(case, "groups", "labelled_sums", n, blocks, numbers(n, labels, "u1"), numbers(n, 1_000),
           zeros(labels, "i4"), i(n))  # fmt: skip
    for tile in (4, 8, 16, 32):
        case("groups", f"tile_dots<{tile}>", up(4_001 * tile, 128), 128, normal(4_001 * 96),
             normal(4_001 * 96, high=2), zeros(4_001), i(4_001), i(96), series="tile_dots")  # fmt: skip
    case("stream", "tile_dots<32>", up(9_001 * 32, 256), 256, normal(9_001 * 300), normal(9_001 * 300, high=2),
         zeros(9_001), i(9_001), i(300))  # fmt: skip
    for grid, n, blocks in ((264, 300_007, (128, 256, 512, 1_024)), (1_000, 3_000_017, 256), (20, 5_003, 64)):
        within(case, "stream" if grid == 1_000 else "reduce", "last_block_extremes", grid, blocks,
               numbers(n, 1 << 30), zeros(2 * grid, "i4"), zeros(1, "u4"), zeros(2, "i4"), i(n))  # fmt: skip


def _queues(case: Any) -> None:
    for n, high, grid, blocks in ((30_011, 20_000, 132, (64, 128, 256, 512)), (400, 1_000_000, 4, 128)):
        within(case, "queue", "drawn_factors", grid, blocks, numbers(n, high), zeros(n, "i4"), zeros(2, "i4"), i(n))
    for grid, each, high, bits, blocks in ((264, 1_500, 900, 11, (64, 128, 256, 512)), (132, 4_000, 20, 6, 1_024)):
        within(case, "atomics", "distinct_in_blocks", grid, blocks, numbers(grid * each, high, "u4"),
               zeros(grid, "i4"), i(each), u((1 << bits) - 1), smem=4 << bits)  # fmt: skip
    n, nodes, blocks = 100_003, 5_000, 256
    spread(case, "atomics", "push_to_lists", n, blocks, numbers(n, nodes), Prepared("nothing", "i4", nodes),
           zeros(n, "i4"), i(n))  # fmt: skip
    n, high, blocks = 200_003, 1 << 20, 256
    spread(case, "atomics", "fresh_by_bitmap", n, blocks, numbers(n, high, "u4"), zeros(up(high, 32), "u4"),
           zeros(up(n, 32), "u4"), i(n))  # fmt: skip


def _scatters(case: Any) -> None:
    n, corners, blocks = 20_011, 10_007, (32, 128, 256, 512)
    spread(case, "atomics", "corner_normals", n, blocks, normal(3 * corners), numbers(3 * n, corners),
           zeros(3 * corners), i(n))  # fmt: skip
    for grid, n, rows, block in ((264, 5_003, 2_000, 256), (132, 3_001, 10, 128)):
        case("atomics", "half_scatter", grid, block, numbers(n, rows), Prepared("small halves", "f2", 64 * n),
             zeros(64 * rows, "f2"), i(n), i(32))  # fmt: skip
    for grid, n, count, blocks in ((132, 60_013, 64, (64, 128, 256, 512)), (264, 200_003, 2_000, 256)):
        within(case, "atomics", "energy_bins", grid, blocks, unit(n, "f8"), zeros(count, "f8"), i(n), i(count),
               smem=8 * count)  # fmt: skip
    n, nodes, block = 200_003, 50_000, 256
    spread(case, "atomics", "least_label_round", n, block, numbers(2 * n, nodes),
           Prepared("shuffled", "i4", nodes), Prepared("shuffled", "i4", nodes), i(n))  # fmt: skip
    for n, roots, block in ((200_003, 100, 256), (20_011, 1, 64)):
        spread(case, "cache", "jump_to_roots", n, block, Prepared("forest", "i4", n, roots), zeros(n, "i4"), i(n))


def _chances(case: Any) -> None:
    n, draws, blocks = 16_384, 12, (32, 64, 256, 1_024)
    spread(case, "montecarlo", "gamma_draws", n, blocks, unit(n, high=3), zeros(n), i(n), i(draws), u(40))
    n, mean, blocks = 5_003, 60, 64
    spread(case, "montecarlo", "poisson_draws", n, blocks, unit(n, high=mean), zeros(n, "i4"), i(n), i(6), u(12))


def _tensors(case: Any) -> None:
    n, count, blocks = 8_192, 512, (32, 64, 128, 256)
    spread(case, "tensor", "hamming_mma", 2 * n, blocks, numbers(8 * n, 1 << 32, "u4"),
           numbers(8 * count, (1 << 32) - 1, "u4"), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    n, steps, blocks = 8_192, 60, 128
    spread(case, "tensor", "markov_half", 4 * n, blocks, Prepared("chances", "u4", 128),
           Prepared("shares", "u4", 8 * n), zeros(8 * n, "u4"), i(n), i(steps))  # fmt: skip
    for category, grid, n, block in (("tensor", 132, 16_384, 128), ("stream", 528, 200_000, 256)):
        case(category, "mahalanobis_mma", grid, block, normal(8 * n, "f8"), normal(64, "f8", 2), zeros(n, "f8"), i(n))


def _copies(case: Any) -> None:
    for width, height, rows, blocks in ((1_000, 600, 30, (64, 128, 256, 512)), (200, 150, 150, 64)):
        for block in blocks if isinstance(blocks, tuple) else (blocks,):
            case("async", "async_row_stencil", (up(width, block), up(height, rows)), block, normal(width * height),
                 zeros(width * height), i(width), i(height), i(rows), smem=16 * (block + 2),
                 series="async_row_stencil" if width == 1_000 else "")  # fmt: skip
    for category, grid, rows, columns, blocks in (("async", 264, 1_200, 2_000, (64, 128, 256, 512)),
                                                  ("stream", 528, 6_007, 1_024, 256),
                                                  ("tiny", 2, 20, 8_000, 1_024)):  # fmt: skip
        within(case, category, "bulk_scaled_rows", grid, blocks, normal(rows * columns), zeros(rows * columns),
               i(rows), i(columns), smem=4 * columns)  # fmt: skip


def _pictures(case: Any) -> None:
    for quads, height, shapes in ((480, 1_080, ((32, 8),)), (60, 100, ((16, 4),))):
        in_shapes(case, "stream" if quads > 100 else "tiny", "ordered_dither", quads, height, shapes,
                  numbers(4 * quads * height, 256, "u1"), zeros(4 * quads * height, "u1"), i(quads),
                  i(height))  # fmt: skip
    width, height, shapes = 640, 480, ((16, 8), (32, 8), (32, 16), (64, 16))
    in_shapes(case, "divergence", "zhang_thin", width, height, shapes, Prepared("blobs", "u1", width * height),
              zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    width, height, shapes = 320, 240, ((16, 8),)
    in_shapes(case, "sfu", "panorama_views", width, height, shapes, unit(1_024 * 512), zeros(width * height),
              i(width), i(height), i(1_024), i(512), f(1.5), f(0.4))  # fmt: skip
    width, height, steps, shapes = 400, 300, 24, ((16, 4), (16, 16), (32, 8), (64, 1))
    in_shapes(case, "cache", "zoom_blur", width, height, shapes, numbers(width * height, 256, "u1"),
              zeros(width * height, "u1"), i(width), i(height), i(steps))  # fmt: skip
    for width, height, shapes in ((1_600, 1_200, ((32, 8),)), (300, 200, ((64, 4),))):
        size = (width // 2 + 1) * (height // 2 + 1)
        in_shapes(case, "stream", "prolong_grid", width, height, shapes, normal(size), zeros(width * height), i(width),
                  i(height))  # fmt: skip


def _places(case: Any) -> None:
    for category, n, block in (("votes", 60_013, 128), ("stream", 500_009, 256)):
        spread(case, category, "frustum_flags", n, block, normal(4 * n), zeros(up(n, 32), "u4"), zeros(1, "i4"), i(n))
    n, count, blocks = 20_011, 24, (32, 64, 128, 256)
    spread(case, "divergence", "triangle_distances", n, blocks, normal(3 * n), normal(9 * count, high=2), zeros(n),
           i(n), i(count))  # fmt: skip
    for category, n, block in (("int64", 50_021, 128), ("stream", 800_011, 256)):
        spread(case, category, "morton_cells", n, block, unit(3 * n), zeros(n, "u8"), i(n))
    for side, n, steps, blocks in ((24, 30_011, 20, (64, 128, 256, 1_024)), (160, 30_011, 12, 128)):
        spread(case, "cache", f"table_ways<{side}>", n, blocks, unit(side**3), unit(3 * n), zeros(n), i(n), i(steps))


def _learning(case: Any) -> None:
    for category, grid, pairs, block in (("half", 132, 100_003, 256), ("stream", 1_056, 1_500_007, 256)):
        case(category, "mish_pairs", grid, block, Made("bf16", "u2", 2 * pairs, 2), zeros(2 * pairs, "u2"), i(pairs))
    for rows, blocks in ((4_001, 128), (20_011, 256)):
        spread(case, "half" if rows < 5_000 else "stream", "alibi_rows", 32 * rows, blocks, halves(128 * rows, 2),
               zeros(128 * rows, "u4"), i(rows), f(0.02))  # fmt: skip
    for n, fields, features, blocks in ((5_003, 20, 1_000, 128), (2_001, 39, 100_000, 128)):
        spread(case, "cache", "machine_scores", 32 * n, blocks, numbers(n * fields, features),
               Prepared("within", "f4", 32 * features, 20), normal(features), zeros(n), i(n), i(fields))  # fmt: skip
    n, mean, block = 20_011, 12, 128
    spread(case, "cache", "bayes_classes", n, block, *lists(n, mean), normal(16 * n), zeros(n, "i4"), i(n))


def _finance(case: Any) -> None:
    n, quarters, blocks = 30_011, 40, (64, 128, 256, 512)
    spread(case, "sfu", "default_spreads", n, blocks, unit(n), unit(n, high=2), numbers(n, quarters), zeros(n),
           i(n))  # fmt: skip
    n, count, blocks = 16_384, 8, 64
    spread(case, "sfu", "return_rates", n, blocks, unit(n * count), numbers(n * count, 1_500), zeros(n), i(n),
           i(count))  # fmt: skip
    n, block = 100_003, 256
    spread(case, "division", "easter_dates", n, block, zeros(n, "i4"), i(n), i(1_583))


def _codes_in_one_piece(case: Any) -> None:
    for rounds, n, turns, blocks in (
        (1_000, 16_384, 4, (32, 64, 128, 256)),
        (3_000, 5_003, 2, 64),
        (3_000, 60_013, 1, 256),
    ):
        spread(case, "code", f"unrolled_rounds<{rounds}>", n, blocks, zeros(n, "u4"), i(n), i(turns))
    for taps, n, blocks in ((400, 30_011, 128), (1_500, 8_009, 128)):
        spread(case, "code" if taps > 100 else "fma", f"constant_taps<{taps}>", n, blocks, normal(n + taps - 1),
               zeros(n), i(n))  # fmt: skip
    for terms, n, block in ((8, 16_384, 128), (12, 4_096, 64)):
        spread(case, "local", f"matrix_exponentials<{terms}>", n, block, Prepared("within", "f4", 36 * n, 40),
               zeros(36 * n), i(n))  # fmt: skip
    size, n, blocks = 24, 16_384, (32, 64, 128, 256)
    spread(case, "local", f"quicksort_local<{size}>", n, blocks, numbers(n * size, 1 << 20),
           zeros(n * size, "i4"), i(n))  # fmt: skip


def _kinds(case: Any) -> None:
    n, blocks = 60_013, (64, 128, 512, 1_024)
    spread(case, "divergence", "mixed_outlines", n, blocks, numbers(n, 6), unit(2 * n), zeros(n), i(n))
    rows, columns, blocks = 8_192, 100, (32, 64, 256, 512)
    spread(case, "cache", "sums_along_rows", rows, blocks, normal(rows * columns), zeros(rows), i(rows),
           i(columns))  # fmt: skip
    for category, grid, n, block in (("stream", 528, 1_000_003, 256), ("string", 132, 30_011, 128)):
        case(category, "hex_dump", grid, block, numbers(n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n))


def _few(case: Any) -> None:
    case("tiny", "double_pendulum", 1, 32, normal(128), zeros(128), i(32), i(300), f(0.004))
    case("tiny", "lucas_lehmer", 1, 64, numbers(64, 59), zeros(64, "u8"), i(64))
    case("tiny", "langton_ants", 1, 32, numbers(32 * 1_024, 2, "u1"), zeros(32, "i4"), i(32), i(200))
    case("tiny", "coin_ways", 1, 128, numbers(10, 150), zeros(3_001, "u4"), i(10), i(3_000), smem=12_004)
    case("tiny", "mdct_frames", 3, 128, normal(4 * 512), zeros(3 * 512), i(512), smem=40 * 512)
    case("tiny", "tsne_forces", 1, 256, normal(512), zeros(1_024), i(256), smem=2_048)
    case("tiny", "ranks_modulo", 1, 64, Prepared("low ranks", "u4", 400, 20), zeros(1, "i4"), i(20), u(101), smem=1_600)
    case("tiny", "hamming_mma", 1, 32, numbers(128, 1 << 32, "u4"), numbers(8 * 256, (1 << 32) - 1, "u4"),
         zeros(16, "i4"), i(16), i(256))  # fmt: skip
    case("tiny", "blowfish_words", 1, 64, numbers(1_024, 1 << 32, "u4"), numbers(18, 1 << 32, "u4"),
         numbers(1_024, 1 << 32, "u4"), zeros(1_024, "u4"), i(512))  # fmt: skip
    case("tiny", "energy_bins", 1, 1_024, unit(4_096, "f8"), zeros(16, "f8"), i(4_096), i(16), smem=128)
    case("tiny", "quicksort_local<24>", 2, 32, numbers(64 * 24, 1 << 20), zeros(64 * 24, "i4"), i(64))
    case("tiny", "return_rates", 1, 32, unit(32 * 40), numbers(32 * 40, 1_500), zeros(32), i(32), i(40))
    case("tiny", "bulk_scaled_rows", 1, 128, normal(4_000), zeros(4_000), i(4), i(1_000), smem=4_000)


def _uneven(case: Any) -> None:
    n = 133 * 512
    case("tail", "henon_exponents", 133, 512, zeros(n), i(n), i(60), f(0.3))
    n = 140 * 1_024
    case("tail", "normal_quantiles", 140, 1_024, unit(n), zeros(n), i(n))
    case("tail", "default_spreads", 140, 1_024, unit(n), unit(n, high=2), numbers(n, 30), zeros(n), i(n))
    case("tail", "cholesky_blocks", 270, 512, Prepared("positive", "f4", 270 * 1_600, 40), zeros(270 * 1_600), i(40),
         smem=4 * 40 * 41)  # fmt: skip
    n = 150 * 256
    case("tail", "incomplete_gamma", 150, 256, unit(n, "f8", 9), unit(n, "f8", 15), zeros(n, "f8"), i(n))
    n = 8_000 * 32
    case("blocks", "easter_dates", 8_000, 32, zeros(n, "i4"), i(n), i(1_600))
    case("blocks", "haar_rows", 9_001, 32, normal(9_001 * 32), zeros(9_001 * 32), i(9_001 * 32))
    case("blocks", "distinct_in_blocks", 6_007, 64, numbers(6_007 * 100, 80, "u4"), zeros(6_007, "i4"), i(100), u(255),
         smem=1_024)  # fmt: skip
    case("blocks", "map_winners", 7_001, 32, normal(16 * 7_001), normal(16 * 64, high=2), zeros(7_001, "i4"), i(64))


def _crowded(case: Any) -> None:
    for smem in (100 << 10, 40 << 10):
        n = 30_011 + smem // 1_024
        case("occupancy", "double_pendulum", up(n, 128), 128, normal(4 * n), zeros(4 * n), i(n), i(30), f(0.005),
             smem=smem)  # fmt: skip
        case("occupancy", "return_rates", up(n, 192), 192, unit(n * 6), numbers(n * 6, 1_500), zeros(n), i(n), i(6),
             smem=smem)  # fmt: skip
        case("occupancy", "bayes_classes", up(n, 128), 128, *lists(n, 10), normal(16 * n), zeros(n, "i4"), i(n),
             smem=smem)  # fmt: skip
        case("occupancy", "speck_blocks", up(n, 256), 256, numbers(2 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n),
             u(1), u(2), u(3), u(4), smem=smem)  # fmt: skip
