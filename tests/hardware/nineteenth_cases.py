"""A nineteenth set of launches for the timing model: other kernels than those of the eighteen sets before it, as
learners and engineers write them, by an author who saw neither the model nor an estimate. Sizes and block sizes are
drawn at random, by seeds from names; nearly every kernel runs with the same work in blocks of four to six sizes. At
most a third of the launches are bound by DRAM. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import halves, lists, normal, skewed, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "nineteenth.cu"
FILE = "nineteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What block sizes are drawn from: half of the series take powers of two, as most programs do.
POWERS = (32, 64, 128, 256, 512, 1_024)
BLOCKS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 640, 768, 1_024)
#: What shapes of blocks are drawn from.
SHAPES = ((8, 8), (32, 2), (16, 8), (32, 4), (64, 2), (16, 16), (32, 8), (128, 2), (32, 16), (64, 8), (32, 32))


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"nineteenth, {name}").random())


def _how_many(rng: Random) -> int:
    return rng.choice((4,) * 14 + (5, 6))


def sizes(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Four to six block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"nineteenth, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 4 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, min(_how_many(rng), len(pool)))))


def shapes(name: str, most: int = 1_024) -> tuple[tuple[int, int], ...]:
    """Four to six shapes of blocks at random, of ``most`` threads at most, by a seed from ``name``."""
    rng = Random(f"nineteenth, shapes of {name}")
    return tuple(sorted(rng.sample([s for s in SHAPES if s[0] * s[1] <= most], _how_many(rng))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"nineteenth, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def scrambled(x: Any) -> np.ndarray:
    """The kernels' scrambled words, of whole numbers: uint64."""
    x = np.asarray(x).astype("u8") & 0xFFFFFFFF
    x = (x ^ x >> 16) * 0x21F0AAAD & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x735A2D97 & 0xFFFFFFFF
    return x ^ x >> 15


def jagged_counts(diagonals: int, rows: int) -> np.ndarray:
    """How many of ``rows`` rows have a first, a second, ... element: few rows have many."""
    return np.maximum((rows * (1 - np.arange(diagonals) / diagonals) ** 2).astype(int), 1)


#: Places of a table of keys behind the homes of all keys.
BEHIND = 256


def _robin_hood(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A table of the keys 1 to ``high`` in the order of their homes, each as near behind its home as it can be.

    Homes are the first ``size`` - ``BEHIND`` places. 0 is an empty place."""
    table, keys = np.zeros(size, "u4"), np.arange(1, high + 1)
    homes = (scrambled(keys) * np.uint64(size - BEHIND) >> 32).astype(int)
    keys = keys[np.argsort(homes, kind="stable")]
    turn = np.arange(high)
    table[turn + np.maximum.accumulate(np.sort(homes) - turn)] = keys
    return table


def robin_hood(homes: int, keys: int) -> Given:
    """The table of the keys 1 to ``keys`` with as many ``homes``."""
    return Given("robin hood", "u4", homes + BEHIND, keys)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "sorted columns": lambda size, high, rng: np.sort(rng.integers(0, 10_000, (size // high, high)), axis=0),
    "robin hood": _robin_hood,
    "popular": lambda size, high, rng: 1 + high * rng.random(size) ** 2,
    "letters": lambda size, high, rng: rng.choice([*b"abcdefghijklmnopqrstuvwxyz"[:high]], size),
    "words of text": lambda size, high, rng: rng.choice([*b"azAZ,. 09mQ@[`{"], 4 * size).astype("u1").view("u4"),
    "spaced text": lambda size, high, rng: rng.choice([*b"stone wall    "], size),
    "hex digits": lambda size, high, rng: rng.choice([*b"0123456789abcdefABCDEF"], 4 * size).astype("u1").view("u4"),
    "mostly ones": lambda size, high, rng: rng.integers(0, 1 << 32, size) | 0xFFFF00,
    "few ones": lambda size, high, rng: rng.integers(0, high, size) == 0,
    "other sorted columns": lambda size, high, rng: np.sort(
        rng.integers(0, 10_000, (2, size // high, high))[1], axis=0
    ),
    "changes": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "jagged starts": lambda size, high, rng: np.append(0, jagged_counts(size - 1, high).cumsum()),
}


class Given(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _reductions,
            _scans_and_bins,
            _stencils,
            _products,
            _tensors,
            _sparse,
            _sorts,
            _texts,
            _graphs,
            _tables,
            _chances,
            _bodies,
            _pictures,
            _codes,
            _network_rows,
            _bits,
            _primes_and_leaps,
            _hashes_and_queues,
            _groups_and_clusters,
            _copies,
            _doubles_and_waves,
            _much_and_little,
            _first_programs,
        )
    )


def _reductions(case: Any) -> None:
    rows, columns = drawn("rows of harmonic_means", 200, 2_000), drawn("columns of harmonic_means", 500, 4_000)
    within(case, "reduce", "harmonic_means", rows, sizes("harmonic_means"), unit(rows * columns), zeros(rows),
           i(columns))  # fmt: skip
    n, threads = drawn("total_variation", 500_000, 3_000_000), drawn("threads of total_variation", 30_000, 200_000)
    spread(case, "reduce", "total_variation", threads, sizes("total_variation"), normal(n), zeros(1), i(n))
    case("stream", "total_variation", 1_056, 256, normal(24_000_001), zeros(1), i(24_000_001))
    rows, length = drawn("rows of signal_crests", 150, 1_200), drawn("length of signal_crests", 600, 6_000)
    for block in POWERS[1:]:
        case("reduce", "signal_crests", rows, block, normal(rows * length), zeros(rows), i(length), smem=8 * block,
             series="signal_crests")  # fmt: skip
    case("stream", "signal_crests", 300, 512, normal(300 * 60_000), zeros(300), i(60_000), smem=4_096)
    case("blocks", "signal_crests", 1, 1_024, normal(30_000), zeros(1), i(30_000), smem=8_192)


def _scans_and_bins(case: Any) -> None:
    rows, length = drawn("rows of running_parity", 100, 700), drawn("length of running_parity", 800, 8_000)
    within(case, "scan", "running_parity", rows, sizes("running_parity"), numbers(rows * length, 1 << 32, "u4"),
           zeros(rows * length, "u4"), i(length))  # fmt: skip
    rows, quads = drawn("rows of tank_levels", 120, 700), drawn("quads of tank_levels", 500, 3_000)
    within(case, "scan", "tank_levels", rows, sizes("tank_levels"), Given("changes", "i4", 4 * rows * quads, 50),
           zeros(4 * rows * quads, "i4"), i(quads), i(300))  # fmt: skip
    n, threads = drawn("wind_roses", 200_000, 2_000_000), drawn("threads of wind_roses", 40_000, 130_000)
    spread(case, "atomics", "wind_roses", threads, sizes("wind_roses"), normal(2 * n), zeros(128, "i4"), i(n))
    n = drawn("latency_buckets", 80_000, 600_000)
    spread(case, "atomics", "latency_buckets", n, one("latency_buckets"), numbers(n, 1 << 17, "u4"),
           zeros(232, "i4"), i(n))  # fmt: skip


def _stencils(case: Any) -> None:
    rings, cells = drawn("rings of species_fronts", 100, 600), drawn("cells of species_fronts", 700, 2_500)
    within(case, "barrier", "species_fronts", rings, sizes("species_fronts"), unit(rings * cells),
           zeros(rings * cells), i(cells), i(drawn("steps of species_fronts", 40, 300)), smem=8 * cells)  # fmt: skip
    width, height = drawn("width of steepest_neighbours", 300, 1_500), drawn("rows of steepest_neighbours", 300, 1_500)
    in_shapes(case, "cache", "steepest_neighbours", width, height, shapes("steepest_neighbours"),
              normal(width * height), zeros(width * height, "i1"), i(width), i(height))  # fmt: skip
    in_shapes(case, "stream", "steepest_neighbours", 5_001, 3_007, ((32, 8),), normal(5_001 * 3_007),
              zeros(5_001 * 3_007, "i1"), i(5_001), i(3_007))  # fmt: skip
    width, height = drawn("width of alloy_step", 300, 1_500), drawn("height of alloy_step", 300, 1_500)
    for x, y in ((16, 4), (16, 8), (16, 16), (32, 16), (32, 32)):
        case("shared", "alloy_step", (up(width, x), up(height, y)), (x, y), normal(width * height),
             zeros(width * height), i(width), i(height), f(0.01), smem=4 * ((x + 4) * (y + 4) + (x + 2) * (y + 2)),
             series="alloy_step")  # fmt: skip


def _products(case: Any) -> None:
    for category, low, high in (("shared", 15, 50), ("stream", 90, 120)):
        across, down = drawn(f"across {category}", low, high), drawn(f"down {category}", low, high)
        n = 1_024 * across * down
        blocks = tuple((32, y) for y in (2, 4, 8, 16, 32)) if category == "shared" else ((32, 8),)
        within(case, category, "swizzled_transpose", (across, down), blocks, normal(n), zeros(n), i(32 * across),
               i(32 * down))  # fmt: skip
    a, b, c = (drawn(f"axis {axis} of axes_rotated", 30, 150) for axis in "abc")
    spread(case, "division", "axes_rotated", a * b * c, one("axes_rotated"), normal(a * b * c), zeros(a * b * c),
           i(a), i(b), i(c))  # fmt: skip
    rows, inner = drawn("rows of tall_by_eight", 20_000, 80_000), 4 * drawn("inner of tall_by_eight", 10, 60)
    spread(case, "cache", "tall_by_eight", rows, sizes("tall_by_eight"), normal(rows * inner), normal(8 * inner),
           zeros(8 * rows), i(rows), i(inner), smem=32 * inner)  # fmt: skip
    n = drawn("products_6x6", 15_000, 80_000)
    spread(case, "cache", "products_6x6", n, sizes("products_6x6", most=512), normal(36 * n), normal(36 * n, high=2),
           zeros(36 * n), i(n))  # fmt: skip
    rows, pairs, inner = (drawn(f"{what} of half_four_rows", 90, 500) for what in ("rows", "pairs", "inner"))
    rows *= 4
    spread(case, "half", "half_four_rows", rows * pairs // 4, sizes("half_four_rows"), normal(rows * inner, "f2"),
           normal(2 * pairs * inner, "f2"), zeros(2 * rows * pairs, "f2"), i(rows), i(pairs), i(inner))  # fmt: skip
    rows, columns = drawn("rows of complex_gemv", 500, 3_000), drawn("columns of complex_gemv", 300, 1_500)
    spread(case, "shuffle", "complex_gemv", 32 * rows, sizes("complex_gemv"), normal(2 * rows * columns),
           normal(2 * columns), zeros(2 * rows), i(rows), i(columns))  # fmt: skip
    n = drawn("rank_two_update", 500, 1_500)
    in_shapes(case, "cache", "rank_two_update", n, n, ((32, 8), (16, 16)), normal(n * n), normal(n),
              normal(n, high=2), zeros(n * n), i(n))  # fmt: skip
    in_shapes(case, "stream", "rank_two_update", 4_321, 4_321, ((64, 4),), normal(4_321**2), normal(4_321),
              normal(4_321, high=2), zeros(4_321**2), i(4_321))  # fmt: skip


def _tensors(case: Any) -> None:
    n, size = 16 * drawn("mma_distances", 40, 150), 16 * drawn("size of mma_distances", 6, 32)
    spread(case, "tensor", "mma_distances", n * n // 8, sizes("mma_distances"), halves(n * size // 2), unit(n),
           zeros(n * n), i(n), i(size // 2))  # fmt: skip
    rows, columns = 16 * drawn("rows of mma_byte_scores", 10, 60), 32 * drawn("columns of mma_byte_scores", 10, 40)
    words = 8 * drawn("words of mma_byte_scores", 8, 40)
    spread(case, "tensor", "mma_byte_scores", rows * columns // 16, sizes("mma_byte_scores"),
           numbers(rows * words, 1 << 32, "u4"), numbers(columns * words, 1 << 31, "u4"),
           zeros(rows * columns, "i4"), i(rows), i(columns), i(words))  # fmt: skip


def _sparse(case: Any) -> None:
    rows, diagonals = drawn("rows of jagged_diagonals", 20_000, 140_000), drawn("jagged diagonals", 20, 120)
    elements = int(jagged_counts(diagonals, rows).sum())
    spread(case, "cache", "jagged_diagonals", rows, sizes("jagged_diagonals"),
           Given("jagged starts", "i4", diagonals + 1, rows), numbers(elements, rows), normal(elements), normal(rows),
           zeros(rows), i(rows), i(diagonals))  # fmt: skip
    columns, mean = drawn("columns of column_scatter", 2_000, 20_000), drawn("mean of column_scatter", 10, 60)
    spread(case, "atomics", "column_scatter", 32 * columns, sizes("column_scatter"), *lists(columns, mean),
           normal(columns), zeros(columns), i(columns))  # fmt: skip
    n, mean = drawn("shared_with_next", 10_000, 70_000), drawn("mean of shared_with_next", 8, 40)
    spread(case, "divergence", "shared_with_next", n, sizes("shared_with_next"), *lists(n, mean), zeros(n, "i4"), i(n))
    rows, words = drawn("rows of masked_rows", 2_000, 10_000), drawn("words of masked_rows", 8, 40)
    spread(case, "shuffle", "masked_rows", 32 * rows, sizes("masked_rows"), numbers(rows * words, 1 << 32, "u4"),
           normal(rows * words * 32), normal(words * 32), zeros(rows), i(rows), i(words))  # fmt: skip


def _sorts(case: Any) -> None:
    n = 3_072 * drawn("radix_step", 60, 400)
    for block in sizes("radix_step"):
        if n % block == 0:
            case("votes", "radix_step", n // block, block, numbers(n, 1 << 32, "u4"), zeros(n, "u4"), i(8),
                 series="radix_step")  # fmt: skip
    n, length = drawn("zipper_merges", 15_000, 140_000), drawn("length of zipper_merges", 15, 60)
    spread(case, "divergence", "zipper_merges", n, sizes("zipper_merges"), Given("sorted columns", "i4", n * length, n),
           Given("other sorted columns", "i4", n * length, n), zeros(2 * n * length, "i4"), i(n),
           i(length))  # fmt: skip
    pieces, length = drawn("dutch_flags", 100, 600), drawn("length of dutch_flags", 900, 6_000)
    within(case, "votes", "dutch_flags", pieces, sizes("dutch_flags"), numbers(pieces * length, 9),
           zeros(pieces * length, "i4"), i(length), i(4))  # fmt: skip
    n = drawn("pancake_sorts", 20_000, 250_000)
    spread(case, "local", "pancake_sorts", n, sizes("pancake_sorts"), numbers(12 * n, 1_000), zeros(n, "i4"), i(n))


def _texts(case: Any) -> None:
    for category, words in (("alu", drawn("swapped_cases", 200_000, 900_000)), ("stream", 14_000_003)):
        blocks = sizes("swapped_cases") if category == "alu" else 512
        spread(case, category, "swapped_cases", drawn(f"threads of {category} swapped_cases", 50_000, 200_000), blocks,
               Given("words of text", "u4", words), zeros(words, "u4"), i(words))  # fmt: skip
    n = drawn("hex_numbers", 60_000, 700_000)
    spread(case, "alu", "hex_numbers", n, one("hex_numbers"), Given("hex digits", "u4", 2 * n), zeros(n, "u4"), i(n))
    n, threads = drawn("vigenere_letters", 500_000, 3_000_000), drawn("threads of vigenere_letters", 50_000, 300_000)
    spread(case, "constant", "vigenere_letters", threads, sizes("vigenere_letters"), Given("letters", "u1", n, 26),
           zeros(n, "u1"), i(n))  # fmt: skip
    packets, mean = drawn("packet_checksums", 3_000, 20_000), drawn("mean of packet_checksums", 60, 500)
    spread(case, "shuffle", "packet_checksums", 32 * packets, sizes("packet_checksums"),
           numbers(packets * mean, 1 << 16, "u2"), skewed(packets, mean), zeros(packets, "u2"), i(packets))  # fmt: skip
    n = drawn("other_strands", 40_000, 300_000)
    spread(case, "cache", "other_strands<8>", n, sizes("other_strands"), numbers(8 * n, 1 << 32, "u4"),
           zeros(8 * n, "u4"), i(n))  # fmt: skip
    case("stream", "other_strands<4>", up(3_000_000, 128), 128, numbers(12_000_000, 1 << 32, "u4"),
         zeros(12_000_000, "u4"), i(3_000_000))  # fmt: skip
    n = drawn("damerau_distances", 15_000, 250_000)
    spread(case, "local", "damerau_distances", n, sizes("damerau_distances"), Given("letters", "u1", 12 * n, 4),
           Given("letters", "u1", 12 * n, 5), zeros(n, "u1"), i(n))  # fmt: skip
    lines, length = drawn("squeezed_lines", 150, 900), drawn("length of squeezed_lines", 800, 6_000)
    within(case, "votes", "squeezed_lines", lines, sizes("squeezed_lines"), Given("spaced text", "u1", lines * length),
           zeros(lines * length, "u1"), zeros(lines, "i4"), i(length))  # fmt: skip


def _graphs(case: Any) -> None:
    n = drawn("widest_ways", 500, 2_800)
    in_shapes(case, "cache", "widest_ways", n, n, shapes("widest_ways"), numbers(n * n, 10_000), zeros(n * n, "i4"),
              i(n), i(n // 3))  # fmt: skip
    nodes, mean = drawn("closed_samples", 15_000, 100_000), drawn("mean of closed_samples", 8, 40)
    spread(case, "divergence", "closed_samples", nodes, sizes("closed_samples"), *lists(nodes, mean),
           zeros(nodes, "i4"), i(nodes), i(drawn("samples", 8, 60)))  # fmt: skip
    nodes, mean = drawn("degree_products", 10_000, 60_000), drawn("mean of degree_products", 8, 40)
    spread(case, "cache", "degree_products", nodes, one("degree_products"), *lists(nodes, mean), zeros(1, "u8"),
           i(nodes))  # fmt: skip


def _tables(case: Any) -> None:
    n = drawn("chain_costs", 15_000, 150_000)
    spread(case, "local", "chain_costs", n, sizes("chain_costs"), numbers(9 * n, 100), zeros(n, "i4"), i(n))
    n, length = drawn("rod_cuts", 8_000, 120_000), drawn("length of rod_cuts", 18, 32)
    spread(case, "local", "rod_cuts", n, sizes("rod_cuts"), numbers(length * n, 1_000), zeros(n, "i4"), i(n), i(length))
    trees, keys = drawn("search_tree_costs", 100, 800), drawn("keys of search_tree_costs", 40, 100)
    within(case, "barrier", "search_tree_costs", trees, sizes("search_tree_costs", most=256),
           numbers(trees * keys, 100), zeros(trees, "i4"), i(keys), smem=4 * (keys + 1) * (keys + 2))  # fmt: skip
    case("few", "search_tree_costs", 20, 64, numbers(20 * 150, 100), zeros(20, "i4"), i(150), smem=4 * 151 * 152)


def _chances(case: Any) -> None:
    n, throws = drawn("buffon_needles", 20_000, 150_000), drawn("throws of buffon_needles", 80, 900)
    spread(case, "sfu", "buffon_needles", n, sizes("buffon_needles"), zeros(n, "i4"), i(n), i(throws), f(0.8), u(1))
    n = drawn("shared_birthdays", 40_000, 300_000)
    spread(case, "divergence", "shared_birthdays", n, sizes("shared_birthdays"), zeros(n, "i4"), i(n), u(2))
    n, paths = drawn("basket_options", 10_000, 100_000), drawn("paths of basket_options", 40, 400)
    spread(case, "sfu", "basket_options", n, sizes("basket_options"), zeros(n), i(n), i(paths), f(1), u(3))
    n, steps = drawn("two_wells", 1_000, 20_000), drawn("steps of two_wells", 200, 1_500)
    spread(case, "latency", "two_wells", n, sizes("two_wells"), zeros(n), i(n), i(steps), f(0.3), u(4))
    n, pictures = drawn("sticker_albums", 20_000, 200_000), drawn("pictures of sticker_albums", 15, 60)
    spread(case, "divergence", "sticker_albums", n, sizes("sticker_albums"), zeros(n, "i4"), i(n), i(pictures), u(5))
    case("tail", "buffon_needles", 1_060, 256, zeros(271_000, "i4"), i(271_000), i(150), f(0.7), u(6))
    case("blocks", "two_wells", 1, 256, zeros(256), i(256), i(700), f(0.2), u(7))


def _bodies(case: Any) -> None:
    n = drawn("whirl_speeds", 5_000, 24_000)
    spread(case, "shared", "whirl_speeds", n, sizes("whirl_speeds"), normal(3 * n), zeros(2 * n), i(n), f(0.01),
           smem=lambda block: 12 * block)  # fmt: skip
    n = drawn("screened_charges", 3_000, 15_000)
    spread(case, "sfu", "screened_charges", n, sizes("screened_charges"), normal(4 * n), zeros(n), i(n), f(0.7))
    n, count = drawn("double_gravity", 2_000, 20_000), drawn("bodies of double_gravity", 150, 1_500)
    spread(case, "fp64", "double_gravity", n, sizes("double_gravity"), normal(4 * count, "f8"), normal(3 * n, "f8"),
           zeros(n, "f8"), i(n), i(count))  # fmt: skip


def _pictures(case: Any) -> None:
    def side(name: str, low: int, high: int) -> tuple[int, int]:
        return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)

    width, height = side("embossed", 400, 2_500)
    in_shapes(case, "constant", "embossed", width, height, shapes("embossed"), numbers(width * height, 256, "u1"),
              zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    width, height = side("vignette", 300, 1_800)
    in_shapes(case, "sfu", "vignette", width, height, shapes("vignette"), numbers(width * height, 1 << 32, "u4"),
              zeros(width * height, "u4"), i(width), i(height), f(1.3))  # fmt: skip
    words, height = drawn("words of eroded_words", 60, 300), drawn("height of eroded_words", 1_500, 9_000)
    in_shapes(case, "cache", "eroded_words", words, height, shapes("eroded_words"),
              Given("mostly ones", "u4", words * height), zeros(words * height, "u4"), i(words), i(height))  # fmt: skip
    in_shapes(case, "stream", "eroded_words", 1_000, 12_000, ((32, 4),), Given("mostly ones", "u4", 12_000_000),
              zeros(12_000_000, "u4"), i(1_000), i(12_000))  # fmt: skip
    width, height = drawn("width of row_distances", 60, 250), drawn("height of row_distances", 1_500, 9_000)
    spread(case, "latency", "row_distances", height, sizes("row_distances"), Given("few ones", "u1", width * height, 9),
           zeros(width * height, "i4"), i(width), i(height))  # fmt: skip
    side_, angles, radii = drawn("side of polar_picture", 400, 2_000), 720, drawn("radii of polar_picture", 150, 900)
    in_shapes(case, "sfu", "polar_picture", angles, radii, shapes("polar_picture"), normal(side_ * side_),
              zeros(angles * radii), i(side_), i(angles), i(radii))  # fmt: skip
    width, height = side("oil_paint", 300, 1_600)
    in_shapes(case, "local", "oil_paint", width, height, shapes("oil_paint"), numbers(width * height, 256, "u1"),
              zeros(width * height, "u1"), i(width), i(height))  # fmt: skip


def _codes(case: Any) -> None:
    groups = drawn("packed_int4_groups", 10_000, 90_000)
    spread(case, "half", "packed_int4_groups", 8 * groups, sizes("packed_int4_groups"), normal(32 * groups, "f2"),
           zeros(4 * groups, "u4"), zeros(groups), i(groups), i(4))  # fmt: skip
    for category, n in (("alu", drawn("rounded_by_chance", 300_000, 2_000_000)), ("stream", 20_000_003)):
        name = f"rounded_by_chance {category}"
        spread(case, category, "rounded_by_chance", drawn(name, 60_000, 200_000), one(name), normal(n), zeros(n, "u2"),
               i(n), u(9))  # fmt: skip
    n, threads = drawn("codebook_scores", 100_000, 900_000), drawn("threads of codebook_scores", 30_000, 130_000)
    spread(case, "shared", "codebook_scores", threads, sizes("codebook_scores", least=64), normal(2_048),
           numbers(2 * n, 1 << 32, "u4"), zeros(n), i(n))  # fmt: skip
    tokens, pages = 16 * drawn("pages of paged_scores", 200, 3_000), drawn("paged_scores", 1_000, 4_000)
    for block in (64, one("paged_scores", least=128)):
        spread(case, "shuffle", "paged_scores", 32 * drawn("warps of paged_scores", 1_000, 5_000), block,
               normal(64, "f2"), normal(1_024 * pages, "f2"), numbers(tokens // 16, pages), zeros(tokens),
               i(tokens))  # fmt: skip


def _network_rows(case: Any) -> None:
    planes, size = drawn("instance_norm", 100, 900), drawn("size of instance_norm", 900, 9_000)
    within(case, "reduce", "instance_norm", planes, sizes("instance_norm"), normal(planes * size),
           zeros(planes * size), i(size))  # fmt: skip
    case("stream", "instance_norm", 500, 512, normal(500 * 36_000), zeros(500 * 36_000), i(36_000))
    rows, columns = drawn("softcapped_rows", 1_500, 12_000), drawn("columns of softcapped_rows", 100, 800)
    spread(case, "sfu", "softcapped_rows", 32 * rows, sizes("softcapped_rows"), normal(rows * columns, high=20),
           zeros(rows * columns), i(rows), i(columns), f(30))  # fmt: skip
    for category, tokens, quads in (("cache", drawn("expert_mix", 300, 3_000), 128), ("stream", 8_000, 256)):
        blocks = sizes("expert_mix") if category == "cache" else 256
        spread(case, category, "expert_mix", tokens * quads, blocks, normal(8 * tokens * quads),
               numbers(2 * tokens, 2 * tokens), unit(2 * tokens), zeros(4 * tokens * quads), i(tokens),
               i(quads))  # fmt: skip
    for category, pairs in (("half", drawn("silu_slopes", 100_000, 900_000)), ("stream", 9_000_001)):
        spread(case, category, "silu_slopes", pairs, one(f"silu_slopes {category}"), normal(2 * pairs, "f2"),
               normal(2 * pairs, "f2", high=2), zeros(2 * pairs, "f2"), i(pairs))  # fmt: skip
    points, channels = drawn("pointwise_conv", 4_000, 30_000), drawn("channels of pointwise_conv", 48, 256)
    eighths = drawn("eighths of pointwise_conv", 6, 32)
    for block in sizes("pointwise_conv"):
        case("shared", "pointwise_conv", (up(points, block), eighths), block, normal(points * channels),
             normal(8 * eighths * channels), zeros(8 * eighths * points), i(points), i(channels), smem=32 * channels,
             series="pointwise_conv")  # fmt: skip
    rows, classes = drawn("smoothed_labels", 500, 4_000), drawn("classes of smoothed_labels", 150, 2_000)
    spread(case, "sfu", "smoothed_labels", 32 * rows, sizes("smoothed_labels"), normal(rows * classes, high=3),
           numbers(rows, classes), zeros(rows), i(rows), i(classes), f(0.1))  # fmt: skip


def _bits(case: Any) -> None:
    n = drawn("nth_set_bits", 300_000, 2_000_000)
    spread(case, "int64", "nth_set_bits", drawn("threads of nth_set_bits", 50_000, 200_000), one("nth_set_bits"),
           numbers(n, 1 << 63, "u8"), numbers(n, 30, "u1"), zeros(n, "i1"), i(n))  # fmt: skip
    for category, groups in (("alu", drawn("carry_save_counts", 100_000, 600_000)), ("stream", 2_000_000)):
        name = f"carry_save_counts {category}"
        spread(case, category, "carry_save_counts", drawn(name, 30_000, 130_000), one(name),
               numbers(8 * groups, 1 << 32, "u4"), zeros(1, "u8"), i(groups))  # fmt: skip
    n = drawn("field_256_powers", 30_000, 200_000)
    spread(case, "alu", "field_256_powers", n, sizes("field_256_powers"), numbers(n, 1 << 32, "u4"), zeros(n, "u4"),
           i(n), i(drawn("turns of field_256_powers", 20, 150)))  # fmt: skip


def _primes_and_leaps(case: Any) -> None:
    n = drawn("lehmer_leaps", 10_000, 90_000)
    spread(case, "int64", "lehmer_leaps", n, one("lehmer_leaps"), zeros(n, "u8"), i(n),
           i(drawn("draws of lehmer_leaps", 50, 600)))  # fmt: skip
    n = drawn("goldbach_splits", 8_000, 90_000)
    spread(case, "division", "goldbach_splits", n, sizes("goldbach_splits"), zeros(n, "i4"), i(n), i(60_002))
    case("few", "goldbach_splits", 3, 128, zeros(380, "i4"), i(380), i(900_000))
    grid, count = drawn("dealt_primes", 100, 600), drawn("numbers of dealt_primes", 100_000, 900_000)
    within(case, "queue", "dealt_primes", grid, sizes("dealt_primes"), zeros(2, "i4"), zeros(1, "i4"), i(count))


def _hashes_and_queues(case: Any) -> None:
    keys, n = drawn("keys of robin_hood_lookup", 40_000, 300_000), drawn("robin_hood_lookup", 60_000, 500_000)
    spread(case, "cache", "robin_hood_lookup", n, sizes("robin_hood_lookup"), robin_hood(keys * 4 // 3, keys),
           numbers(n, 2 * keys, "u4"), zeros(n, "i1"), i(n), i(keys * 4 // 3))  # fmt: skip
    keys, n = drawn("keys of dictionary_counts", 4_000, 60_000), drawn("dictionary_counts", 100_000, 900_000)
    spread(case, "atomics", "dictionary_counts", drawn("threads of dictionary_counts", 30_000, 200_000),
           sizes("dictionary_counts"), robin_hood(2 * keys, keys), Given("popular", "u4", n, keys),
           zeros(2 * keys + BEHIND, "i4"), i(n), i(2 * keys))  # fmt: skip
    n = drawn("bright_pixels", 200_000, 2_000_000)
    spread(case, "queue", "bright_pixels", n, sizes("bright_pixels"), numbers(n, 256, "u1"), zeros(1 << 20, "i4"),
           zeros(1, "u4"), i(n), i(180), u((1 << 20) - 1))  # fmt: skip


def _groups_and_clusters(case: Any) -> None:
    rows, columns = drawn("tile_least_places", 3_000, 30_000), drawn("columns of tile_least_places", 40, 300)
    spread(case, "groups", "tile_least_places<16>", 16 * rows, sizes("tile_least_places"),
           numbers(rows * columns, 1 << 32, "u4"), zeros(rows, "i4"), i(rows), i(columns))  # fmt: skip
    for tile, block in ((4, 128), (32, 256)):
        case("groups", f"tile_least_places<{tile}>", up(tile * 9_001, block), block, numbers(9_001 * 77, 1 << 32, "u4"),
             zeros(9_001, "i4"), i(9_001), i(77))  # fmt: skip
    for name, block in (("few", 128), ("some", 256), ("more", 512)):
        grid, part = 4 * drawn(f"clusters, {name}", 8, 90), drawn(f"part of a cluster's table, {name}", 1_000, 9_000)
        case("clusters", "cluster_table", grid, block, numbers(4 * part, 1 << 20, "u4"), zeros(grid * block, "u4"),
             i(part), i(drawn(f"turns, {name}", 50, 500)), smem=4 * part)  # fmt: skip


def _copies(case: Any) -> None:
    for across, down, inner in ((16, 12, 512), (23, 23, 320), (40, 30, 736), (61, 58, 1_024)):
        case("async", "async_tile_product", (across, down), (16, 16), normal(1_024 * down * (inner // 32)),
             normal(1_024 * across * (inner // 32), high=2), zeros(1_024 * across * down), i(32 * across),
             i(inner))  # fmt: skip
    rows, quads = drawn("async_row_variances", 150, 1_500), drawn("quads of async_row_variances", 300, 3_000)
    for block in sizes("async_row_variances"):
        case("async", "async_row_variances", rows, block, normal(4 * rows * quads), zeros(rows), i(quads),
             smem=32 * block, series="async_row_variances")  # fmt: skip
    case("stream", "async_row_variances", 900, 256, normal(900 * 24_000), zeros(900), i(6_000), smem=8_192)


def _doubles_and_waves(case: Any) -> None:
    n = drawn("double_romberg", 8_000, 100_000)
    spread(case, "fp64", "double_romberg", n, sizes("double_romberg"), unit(n, "f8", high=3), zeros(n, "f8"), i(n),
           i(6))  # fmt: skip
    for category, rows, columns in (("fp64", drawn("double_line_slopes", 500, 4_000), 500), ("stream", 3_000, 4_000)):
        spread(case, category, "double_line_slopes", 32 * rows, one(f"double_line_slopes {category}"),
               normal(rows * columns, "f8"), zeros(rows, "f8"), i(rows), i(columns))  # fmt: skip
    n, count = drawn("radio_phasors", 15_000, 120_000), drawn("senders of radio_phasors", 60, 400)
    spread(case, "sfu", "radio_phasors", n, one("radio_phasors"), unit(4 * count, high=9), zeros(n), i(n), i(count),
           f(40))  # fmt: skip
    case("tail", "radio_phasors", 265, 1_024, unit(800, high=9), zeros(271_000), i(271_000), i(200), f(25))


def _much_and_little(case: Any) -> None:
    for block in (128, 512, 1_024):
        size, lookups = drawn(f"large table, {block}", 20_000, 56_000), drawn(f"lookups, {block}", 8_000, 60_000)
        case("occupancy", "large_table_lookups", drawn(f"large tables, {block}", 100, 300), block,
             numbers(size, 1 << 32, "u4"), zeros(300, "u4"), i(size), i(lookups), smem=4 * size)  # fmt: skip
    n = drawn("cross_vectors", 100_000, 500_000)
    case("tiny", "cross_vectors", up(n, 32), 32, normal(3 * n), normal(3 * n, high=2), zeros(3 * n), i(n))
    case("tiny", "cross_vectors", 40, 64, normal(7_500), normal(7_500, high=2), zeros(7_500), i(2_500))
    case("stream", "cross_vectors", up(4_000_000, 256), 256, normal(12_000_000), normal(12_000_000, high=2),
         zeros(12_000_000), i(4_000_000))  # fmt: skip
    n = drawn("held_columns", 20_000, 150_000)
    spread(case, "local", "held_columns<80>", n, sizes("held_columns"), normal(80 * n), zeros(n), i(n))
    case("local", "held_columns<40>", up(30_000, 192), 192, normal(40 * 30_000), zeros(30_000), i(30_000))
    for category, n in (("cache", drawn("order_values", 60_000, 600_000)), ("stream", 2_000_000)):
        name = f"order_values {category}"
        spread(case, category, "order_values", drawn(name, 60_000, 260_000), one(name), numbers(10 * n, 5),
               zeros(n), i(n), i(2))  # fmt: skip
    rows, columns = drawn("lane_filters", 1_500, 9_000), drawn("columns of lane_filters", 100, 1_500)
    spread(case, "shuffle", "lane_filters", 32 * rows, sizes("lane_filters"), normal(rows * columns),
           zeros(rows * columns), i(rows), i(columns))  # fmt: skip


def _first_programs(case: Any) -> None:
    n = drawn("celsius_readings", 20_000, 900_000)
    spread(case, "beginner", "celsius_readings", n, (64, 256), normal(n, high=60), zeros(n), i(n))
    spread(case, "stream", "celsius_readings", 20_000_000, 256, normal(20_000_000, high=60), zeros(20_000_000),
           i(20_000_000))  # fmt: skip
    width, height = drawn("width of times_tables", 200, 2_000), drawn("height of times_tables", 200, 2_000)
    in_shapes(case, "beginner", "times_tables", width, height, ((1, 256), (16, 16), (32, 32), (256, 1)),
              zeros(width * height, "i4"), i(width), i(height))  # fmt: skip
