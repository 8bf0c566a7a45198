"""A twenty-sixth set of launches for the timing model: other kernels than those of the twenty-five sets before it, as
students and engineers write them, by an author who saw neither the model nor an estimate. Most launches belong to a
series: the same work in blocks of five sizes. Sizes and block sizes are drawn at random, by seeds from names. At most a
third of the launches are bound by DRAM. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from tests.hardware import twenty_fifth_cases
from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import halves, lists, normal, unit
from tests.hardware.timing_cases import TimingCase, f, i, zeros
from tests.hardware.twenty_fifth_cases import drawn, five, round_size, some
from tests.hardware.twenty_first_cases import SHAPES, WORD
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twenty_sixth.cu"
FILE = "twenty_sixth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Kernels whose launches cannot be measured, and why.
NOT_MEASURED = {"ocean_floats": "a second launch on the same arrays takes points for parts of the map and leaves it"}


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    parts = (_reductions, _scans, _stencils, _atomics, _shared, _clusters, _threads, _functions, _halves, _tensor)
    return launches((*parts, _sparse, _streams))


def profiled() -> list[TimingCase]:
    """The launches whose stalls are recorded: of each kernel every second one, or its only one."""
    return twenty_fifth_cases.every_second(cases())


def _reductions(case: Any) -> None:
    grid, side = drawn("mass_centres", 150, 1_500), drawn("side of mass_centres", 40, 120)
    within(case, "reduce", "mass_centres", grid, five("mass_centres"), numbers(side * side * grid, 256, "u1"),
           zeros(2 * grid), i(side))  # fmt: skip
    grid, length = drawn("modulo_tree_dot", 200, 2_000), drawn("length of modulo_tree_dot", 500, 3_000)
    within(case, "reduce", "modulo_tree_dot", grid, five("modulo_tree_dot"), numbers(grid * length, 900),
           numbers(grid * length, 800), zeros(grid, "i4"), i(length))  # fmt: skip
    n, strips = drawn("trapezoid_areas", 5_000, 60_000), drawn("strips of trapezoid_areas", 10, 60)
    spread(case, "atomics", "trapezoid_areas", n, five("trapezoid_areas"), zeros(1), i(n), i(strips),
           f(10 / (n * strips)))  # fmt: skip
    grid, count = drawn("serial_finish", 200, 1_500), drawn("count of serial_finish", 1_000, 4_000)
    within(case, "reduce", "serial_finish", grid, some("serial_finish", 2), unit(grid * count), zeros(grid), i(count))
    grid, count = drawn("cloud_boxes", 100, 600), drawn("count of cloud_boxes", 300, 2_000)
    within(case, "reduce", "cloud_boxes", grid, some("cloud_boxes"), normal(3 * grid * count), zeros(6 * grid, "i4"),
           i(count))  # fmt: skip


def _scans(case: Any) -> None:
    grid, words = drawn("added_numbers", 60, 400), drawn("words of added_numbers", 1_000, 5_000)
    within(case, "scan", "added_numbers", grid, five("added_numbers"), numbers(grid * words, WORD, "u4"),
           numbers(grid * words, WORD - 1, "u4"), zeros(grid * words, "u4"), i(words))  # fmt: skip
    grid, count = drawn("composed_permutations", 60, 400), drawn("count of composed_permutations", 1_000, 3_000)
    within(case, "scan", "composed_permutations", grid, five("composed_permutations"),
           numbers(grid * count, WORD, "u4"), zeros(grid * count, "u4"), i(count))  # fmt: skip


def _stencils(case: Any) -> None:
    n = drawn("trapezoid_steps", 50_000, 400_000)
    spread(case, "stencil", "trapezoid_steps", n, five("trapezoid_steps"), unit(n), zeros(n), i(n), f(0.2),
           smem=lambda block: 8 * (block + 16))  # fmt: skip
    width, height = drawn("width of hexagon_life", 300, 1_200), drawn("height of hexagon_life", 300, 1_200)
    shapes = tuple(sorted(Random("twenty-sixth, shapes of hexagon_life").sample(SHAPES, 5)))
    in_shapes(case, "stencil", "hexagon_life", width, height, shapes, numbers(width * height, 2, "u1"),
              zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    grid, points = drawn("half_rods", 60, 400), drawn("points of half_rods", 200, 800)
    within(case, "half", "half_rods", grid, five("half_rods"), unit(2 * grid * points, "f2"),
           zeros(2 * grid * points, "f2"), i(points), i(drawn("steps of half_rods", 40, 160)), f(0.2),
           smem=8 * points)  # fmt: skip


def _atomics(case: Any) -> None:
    grid, count = drawn("daily_extremes", 60, 400), drawn("count of daily_extremes", 1_000, 5_000)
    within(case, "atomics", "daily_extremes", grid, five("daily_extremes"), numbers(grid * count, 24, "u1"),
           numbers(grid * count, 9_000), zeros(96 * grid, "i4"), i(count))  # fmt: skip
    n, goods = drawn("sold_out_items", 20_000, 150_000), drawn("goods of sold_out_items", 300, 5_000)
    spread(case, "atomics", "sold_out_items", n, five("sold_out_items"), numbers(n, WORD, "u4"), zeros(goods, "i4"),
           zeros(50, "i4"), zeros(goods, "i4"), i(n), i(goods),
           i(drawn("stock of sold_out_items", 10, 40)))  # fmt: skip
    n, films = drawn("film_ratings", 20_000, 150_000), drawn("films of film_ratings", 200, 3_000)
    people = drawn("people of film_ratings", 5_000, 50_000)
    spread(case, "atomics", "film_ratings", n, some("film_ratings", 2), numbers(n, WORD, "u4"), zeros(films, "i4"),
           zeros(films, "i4"), zeros(people, "i4"), i(n), i(films), i(people))  # fmt: skip
    n = drawn("league_tables", 5_000, 40_000)
    spread(case, "atomics", "league_tables", n, some("league_tables", 2), numbers(n, WORD, "u4"), zeros(18, "i4"),
           zeros(18, "i4"), i(n))  # fmt: skip
    n = drawn("pythagorean_triples", 1_000, 4_000)
    spread(case, "tail", "pythagorean_triples", n, round_size("pythagorean_triples"), zeros(1, "i4"), i(n))


def _shared(case: Any) -> None:
    n = drawn("records_to_columns", 30_000, 150_000)
    spread(case, "shared", "records_to_columns", n, five("records_to_columns"), unit(5 * n), zeros(5 * n), i(n),
           smem=lambda block: 20 * block)  # fmt: skip
    tiles = drawn("transposed_shorts", 5, 16)
    within(case, "shared", "transposed_shorts", (tiles, tiles), five("transposed_shorts"),
           numbers(2_048 * tiles * tiles, WORD, "u4"), zeros(2_048 * tiles * tiles, "u4"), i(64 * tiles))  # fmt: skip
    grid, size = drawn("shared_interpolations", 132, 600), drawn("size of shared_interpolations", 11_000, 16_000)
    count = drawn("count of shared_interpolations", 3_000, 12_000)
    within(case, "occupancy", "shared_interpolations", grid, five("shared_interpolations"), unit(size),
           zeros(grid * count), i(size), i(count), smem=4 * size)  # fmt: skip
    n, rows = drawn("blocked_paths", 4_000, 40_000), drawn("rows of blocked_paths", 20, 60)
    spread(case, "occupancy", "blocked_paths", n, five("blocked_paths"), numbers(n * rows, WORD, "u4"), zeros(n, "u4"),
           i(n), i(rows), smem=lambda block: 120 * block)  # fmt: skip
    grid, count = drawn("cross_moments", 60, 264), drawn("count of cross_moments", 300, 1_500)
    within(case, "occupancy", "cross_moments", grid, five("cross_moments"), normal(8 * grid * count), zeros(36 * grid),
           i(count))  # fmt: skip
    n = drawn("toda_lattices", 5_000, 60_000)
    spread(case, "occupancy", "toda_lattices", n, five("toda_lattices"), unit(18 * n), zeros(n), i(n),
           i(drawn("steps of toda_lattices", 20, 100)), f(0.05))  # fmt: skip
    grid, units = drawn("trained_maps", 60, 300), drawn("units of trained_maps", 100, 500)
    count = drawn("count of trained_maps", 30, 120)
    within(case, "barrier", "trained_maps", grid, five("trained_maps"), numbers(4 * grid * count, 1_024),
           zeros(grid * units, "i4"), i(units), i(count), smem=12 * units)  # fmt: skip
    grid, tiles = drawn("streamed_cosines", 60, 200), drawn("tiles of streamed_cosines", 2, 6)
    within(case, "async", "streamed_cosines", grid, some("streamed_cosines", 2), unit(1_024 * grid * tiles),
           normal(1_024 * grid * tiles), zeros(grid), i(tiles))  # fmt: skip


def _clusters(case: Any) -> None:
    grid, piece = 8 * drawn("cluster_quantiles", 8, 80), drawn("piece of cluster_quantiles", 200, 1_200)
    within(case, "clusters", "cluster_quantiles<8>", grid, some("cluster_quantiles", 2),
           numbers(grid * piece, WORD, "u4"), zeros(grid // 8, "u4"), i(piece), smem=4 * piece)  # fmt: skip
    grid, piece = 4 * drawn("split_bins", 10, 100), drawn("piece of split_bins", 1_000, 6_000)
    part = drawn("part of split_bins", 100, 1_000)
    within(case, "clusters", "split_bins<4>", grid, some("split_bins", 2), numbers(grid * piece, WORD, "u4"),
           zeros(grid * part, "i4"), i(piece), i(part), smem=4 * part)  # fmt: skip


def _threads(case: Any) -> None:
    n = drawn("lift_rides", 5_000, 60_000)
    spread(case, "divergence", "lift_rides", n, five("lift_rides"), zeros(n, "i4"), i(n),
           i(drawn("steps of lift_rides", 60, 250)), u(26))  # fmt: skip
    n = drawn("narcissistic_numbers", 20_000, 300_000)
    spread(case, "int64", "narcissistic_numbers", n, round_size("narcissistic_numbers"), zeros(n, "u1"), i(n), i(100))
    n = drawn("shell_sorted_own", 5_000, 40_000)
    spread(case, "local", "shell_sorted_own", n, five("shell_sorted_own"), numbers(40 * n, 1 << 16, "u2"),
           zeros(n, "i4"), i(n))  # fmt: skip
    n = drawn("interval_merges", 4_000, 40_000)
    spread(case, "local", "interval_merges", n, some("interval_merges", 2), numbers(24 * n, 1 << 16, "u2"),
           zeros(n, "i4"), i(n))  # fmt: skip
    n, size = drawn("tortoise_and_hare", 40, 120), drawn("size of tortoise_and_hare", 2_000, 20_000)
    spread(case, "few", "tortoise_and_hare", n, 32, numbers(size, size), zeros(n, "i4"), i(n), i(size))


def _functions(case: Any) -> None:
    n = drawn("slit_patterns", 10_000, 100_000)
    spread(case, "sfu", "slit_patterns", n, five("slit_patterns"), zeros(n), i(n),
           i(drawn("slits of slit_patterns", 20, 80)), f(0.01), f(4 / n))  # fmt: skip
    n, nodes = drawn("double_barycentres", 3_000, 30_000), drawn("nodes of double_barycentres", 12, 40)
    spread(case, "fp64", "double_barycentres", n, five("double_barycentres"), unit(nodes, "f8"), unit(n, "f8"),
           zeros(n, "f8"), i(n), i(nodes))  # fmt: skip


def _halves(case: Any) -> None:
    quads = drawn("block_floats", 10_000, 150_000) // 4 * 4
    spread(case, "warps", "block_floats", quads, five("block_floats"), normal(4 * quads), zeros(4 * quads, "i1"),
           zeros(quads // 4, "u1"), i(quads))  # fmt: skip
    lanes = drawn("nibble_groups", 10_000, 100_000) // 4 * 4
    spread(case, "half", "nibble_groups", lanes, some("nibble_groups", 2), halves(4 * lanes), zeros(lanes, "u4"),
           zeros(lanes // 4, "u1"), i(lanes))  # fmt: skip
    rows, quads = drawn("unscaled_groups", 300, 3_000), 8 * drawn("quads of unscaled_groups", 8, 64)
    spread(case, "half", "unscaled_groups", 32 * rows, some("unscaled_groups", 2), numbers(4 * rows * quads, 128, "i1"),
           numbers(rows * quads // 8, 5, "u1"), unit(4 * quads, "f2"), zeros(rows, "f2"), i(rows),
           i(quads))  # fmt: skip


def _tensor(case: Any) -> None:
    rows, columns = 16 * drawn("rows of wmma_strips", 10, 40), 32 * drawn("columns of wmma_strips", 6, 24)
    depth = 16 * drawn("depth of wmma_strips", 8, 40)
    spread(case, "tensor", "wmma_strips", rows * columns // 16, five("wmma_strips"), normal(rows * depth, "f2"),
           normal(depth * columns, "f2"), zeros(rows * columns), i(rows), i(columns), i(depth))  # fmt: skip
    n = drawn("squared_by_wmma", 500, 5_000)
    spread(case, "tensor", "squared_by_wmma", 32 * n, some("squared_by_wmma"), unit(256 * n, "f2"), zeros(256 * n),
           i(n), i(drawn("rounds of squared_by_wmma", 2, 5)), smem=lambda block: 48 * block)  # fmt: skip
    rows, outputs = 16 * drawn("rows of biased_product_mma", 8, 60), 32 * drawn("outputs of biased_product_mma", 6, 30)
    depth = 16 * drawn("depth of biased_product_mma", 8, 40)
    spread(case, "tensor", "biased_product_mma", rows * outputs // 16, some("biased_product_mma", 2),
           numbers(rows * depth, 0x4000, "u2"), numbers(outputs * depth, 0x3f80, "u2"), normal(outputs),
           zeros(rows * outputs, "u2"), i(rows), i(outputs), i(depth))  # fmt: skip


def _sparse(case: Any) -> None:
    side, n = drawn("side of ocean_floats", 200, 900), drawn("ocean_floats", 5_000, 80_000)
    spread(case, "cache", "ocean_floats", n, five("ocean_floats"), normal(2 * side * side), unit(2 * n), i(n), i(side),
           i(drawn("steps of ocean_floats", 10, 40)))  # fmt: skip
    n, mean = drawn("gustavson_rows", 400, 2_000), drawn("mean of gustavson_rows", 6, 16)
    within(case, "sparse", "gustavson_rows", n, five("gustavson_rows"), *lists(n, mean), unit(n * mean),
           zeros(n, "i4"), zeros(n), i(n), smem=4 * n)  # fmt: skip
    n = drawn("likeliest_friends", 1_000, 8_000)
    spread(case, "sparse", "likeliest_friends", 32 * n, some("likeliest_friends", 2), *lists(n, 8), zeros(n, "i4"),
           i(n), smem=lambda block: 32 * block)  # fmt: skip


def _streams(case: Any) -> None:
    n = drawn("fizz_buzz", 200_000, 1_500_000)
    spread(case, "division", "fizz_buzz", n, some("fizz_buzz"), zeros(n, "i4"), i(n))
    n = drawn("shares_of_total", 4_000_000, 10_000_000)
    spread(case, "stream", "shares_of_total", n, round_size("shares_of_total"), unit(n), unit(1), zeros(n), i(n))
    n = drawn("saturated_adds", 3_000_000, 8_000_000)
    spread(case, "stream", "saturated_adds", drawn("threads of saturated_adds", 100_000, 270_000),
           some("saturated_adds"), numbers(n, WORD, "u4"), numbers(n, WORD - 1, "u4"), zeros(n, "u4"),
           i(n))  # fmt: skip
