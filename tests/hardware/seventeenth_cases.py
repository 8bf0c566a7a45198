"""A seventeenth set of launches for the timing model: other kernels than those of the sixteen sets before it, as
programs have them, written without a look at the model or at an estimate. Sizes and block sizes are drawn at random, by
seeds from names. At most a third of the launches are bound by DRAM. They are predicted and committed before a GPU
measures them."""

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

SOURCE = Path(__file__).parent / "kernels" / "seventeenth.cu"
FILE = "seventeenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What block sizes, and shapes of blocks, are drawn from.
BLOCKS = (32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1_024)
SHAPES = ((8, 4), (8, 8), (16, 8), (32, 4), (16, 16), (32, 8), (64, 4), (32, 16), (128, 4), (32, 32))


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"seventeenth, {name}").random())


def some(name: str, least: int = 32, most: int = 1_024, of: tuple[int, ...] = BLOCKS) -> tuple[int, ...]:
    """Three or four block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"seventeenth, blocks of {name}")
    return tuple(sorted(rng.sample([b for b in of if least <= b <= most], rng.choice((3, 4)))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"seventeenth, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def shapes(name: str, most: int = 1_024) -> tuple[tuple[int, int], ...]:
    """Three or four shapes of blocks at random, of ``most`` threads at most, by a seed from ``name``."""
    rng = Random(f"seventeenth, shapes of {name}")
    return tuple(sorted(rng.sample([s for s in SHAPES if s[0] * s[1] <= most], rng.choice((3, 4)))))


def _addresses(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Addresses as text, 16 letters each; one in ``high`` has a number that is too great."""
    parts = rng.integers(0, 256, (size // 16, 4))
    parts[rng.integers(0, high, len(parts)) == 0, 1] += 300
    texts = [".".join(map(str, row)).encode() for row in parts.tolist()]
    return np.array(texts, "S16").view("u1")


def _expressions(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Texts of ``high`` letters with a zero at the end: digits, + * and brackets that close."""
    found = np.zeros((size // high, high), "u1")
    for row in found:
        text, depth = "", 0
        while len(text) + depth < high - 8:
            if depth < 6 and rng.random() < 0.3:
                text, depth = text + "(", depth + 1
                continue
            text += str(rng.integers(10))
            if depth and rng.random() < 0.4:
                text, depth = text + ")", depth - 1
            text += "+*"[rng.integers(2)]
        text += "7" + ")" * depth
        row[: len(text)] = np.frombuffer(text.encode(), "u1")
    return found


def _joins(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of the ``high`` parts of a tree that join, until one is left: the second is in the first from then on."""
    left, pairs = list(range(high)), []
    while len(left) > 1:
        a, b = rng.choice(len(left), 2, replace=False)
        pairs.append((left[a], left[b]))
        del left[b]
    return np.array(pairs)


def _slices(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Where each slice of 32 rows begins, and the end: 1 to 2 * ``high`` - 1 columns each, ``high`` in the mean."""
    widths = rng.integers(1, 2 * high, (size - 1) // 2)
    widths = np.concatenate([widths, 2 * high - widths, [high] * ((size - 1) % 2)])
    return 32 * np.append(0, rng.permutation(widths).cumsum())


def _sensor(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The bits of ``high`` series of readings that change little, or not at all."""
    steps = rng.integers(-2, 3, (size // high, high)) * (rng.random((size // high, high)) < 0.6)
    return (20 + steps.cumsum(axis=0) / 4).astype("f4").view("u4")


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "samples": lambda size, high, rng: rng.normal(0, high, size).clip(-32_768, 32_767),
    "addresses": _addresses,
    "expressions": _expressions,
    "joins": _joins,
    "most": lambda size, high, rng: np.full(size, (1 << 32) - 1, "u8"),
    "slices": _slices,
    "small halves": lambda size, high, rng: rng.normal(0.05, 0.3, 2 * size).astype("f2").view("u4"),
    "bookings": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "sensor": _sensor,
    "half parts": lambda size, high, rng: rng.random(2 * size).astype("f2").view("u4"),
    "qualities": lambda size, high, rng: np.tile(np.linspace(40, 4, high), size // high) + rng.integers(-3, 4, size),
}


class Drawn(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _sound,
            _pictures,
            _secrets,
            _texts_and_biology,
            _finance,
            _graphs,
            _atomics,
            _simulations,
            _geometry,
            _tensor_cores,
            _groups,
            _copies,
            _codes,
            _first_programs,
            _more_numbers,
            _more_sound,
            _more_biology,
            _few,
            _uneven,
        )
    )


def _sound(case: Any) -> None:
    for category, low, high in (("alu", 20_000, 90_000), ("stream", 3_000_000, 9_000_000)):
        n = drawn(f"mu_law_codes {category}", low, high)
        spread(case, category, "mu_law_codes", n, one(f"mu_law_codes {category}"), Drawn("samples", "i2", n, 6_000),
               zeros(n, "u1"), i(n))  # fmt: skip
    n, steps = drawn("lattice_voices", 8_000, 60_000), drawn("steps of lattice_voices", 40, 160)
    spread(case, "latency", "lattice_voices", n, some("lattice_voices"), unit(8 * n), zeros(n), i(n), i(steps), f(1))
    n = drawn("hampel_filter", 30_000, 300_000)
    spread(case, "alu", "hampel_filter", n, some("hampel_filter"), numbers(n, 1_000), zeros(n, "i4"), i(n), i(3))


def _pictures(case: Any) -> None:
    width, height = 8 * drawn("width of jpeg_pieces", 40, 200), 8 * drawn("height of jpeg_pieces", 30, 120)
    for block in (64, 128, 256, 512):
        case("shared", "jpeg_pieces", (-(-width // (block // 8)), height // 8), block,
             numbers(width * height, 256, "u1"), zeros(width * height), i(width), smem=8 * block,
             series="jpeg_pieces")  # fmt: skip
    grid, size = drawn("otsu_levels", 60, 600), drawn("size of otsu_levels", 2_000, 9_000)
    within(case, "barrier", "otsu_levels", grid, some("otsu_levels"), numbers(grid * size, 200, "u1"),
           zeros(grid, "i4"), i(size))  # fmt: skip
    for category, low, high in (("beginner", 90, 400), ("stream", 1_500, 2_500)):
        width, height = (drawn(f"{side} of sepia {category}", low, high) for side in ("width", "height"))
        sizes = shapes("sepia") if category == "beginner" else ((16, 16),)
        in_shapes(case, category, "sepia", width, height, sizes, numbers(3 * width * height, 256, "u1"),
                  zeros(3 * width * height, "u1"), i(width), i(height))  # fmt: skip
    width, height = drawn("width of kirsch_edges", 200, 900), drawn("height of kirsch_edges", 200, 900)
    in_shapes(case, "constant", "kirsch_edges", width, height, shapes("kirsch_edges"),
              numbers(width * height, 256, "u1"), zeros(width * height, "u2"), i(width), i(height))  # fmt: skip


def _secrets(case: Any) -> None:
    for category, low, high in (("crypto", 10_000, 60_000), ("stream", 500_000, 900_000)):
        n, name = drawn(f"salsa20_blocks {category}", low, high), f"salsa20_blocks {category}"
        spread(case, category, "salsa20_blocks", n, some(name) if category == "crypto" else one(name),
               numbers(8, 1 << 32, "u4"), zeros(16 * n, "u4"), i(n), i(20))  # fmt: skip
    n = drawn("simon_blocks", 20_000, 200_000)
    spread(case, "crypto", "simon_blocks", n, some("simon_blocks"), numbers(44, 1 << 32, "u4"),
           numbers(2 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n), i(44))  # fmt: skip
    n, turns = drawn("field_25519_squares", 8_000, 50_000), drawn("turns of field_25519_squares", 10, 50)
    spread(case, "int64", "field_25519_squares", n, some("field_25519_squares"), numbers(4 * n, 1 << 62, "u8"),
           zeros(4 * n, "u8"), i(n), i(turns))  # fmt: skip
    n, words = drawn("majority_streams", 5_000, 40_000), drawn("words of majority_streams", 4, 12)
    spread(case, "alu", "majority_streams", n, some("majority_streams"), numbers(n, 1 << 63, "u8"), zeros(n, "u4"),
           i(n), i(words))  # fmt: skip


def _texts_and_biology(case: Any) -> None:
    n = drawn("ipv4_words", 20_000, 90_000)
    spread(case, "divergence", "ipv4_words", n, some("ipv4_words"), Drawn("addresses", "u1", 16 * n, 9),
           zeros(n, "u4"), i(n))  # fmt: skip
    n, pitch = drawn("two_stacks", 5_000, 20_000), drawn("pitch of two_stacks", 24, 44)
    spread(case, "local", "two_stacks", n, some("two_stacks"), Drawn("expressions", "u1", n * pitch, pitch),
           zeros(n, "u4"), i(n), i(pitch))  # fmt: skip
    n, length = drawn("quality_trims", 10_000, 60_000), drawn("length of quality_trims", 75, 251)
    spread(case, "divergence", "quality_trims", n, some("quality_trims"),
           Drawn("qualities", "u1", n * length, length), zeros(n, "i4"), i(n), i(length), i(20))  # fmt: skip
    sites, count = drawn("fitch_scores", 10_000, 60_000), drawn("leaves of fitch_scores", 12, 48)
    spread(case, "local", "fitch_scores", sites, some("fitch_scores"), numbers(count * sites, 4, "u1"),
           Drawn("joins", "u1", 2 * (count - 1), count), zeros(sites, "u1"), i(sites), i(count))  # fmt: skip
    n, length = drawn("melting_temperatures", 20_000, 90_000), drawn("length of melting_temperatures", 18, 40)
    spread(case, "constant", "melting_temperatures", n, some("melting_temperatures"),
           numbers(n * length, 4, "u1"), zeros(n), i(n), i(length))  # fmt: skip


def _finance(case: Any) -> None:
    for category, low, high, days in (("latency", 4_000, 20_000, 120), ("stream", 300_000, 500_000, 100)):
        n, name = drawn(f"drawdowns {category}", low, high), f"drawdowns {category}"
        spread(case, category, "drawdowns", n, some(name) if category == "latency" else one(name), unit(n * days),
               zeros(2 * n), i(n), i(days))  # fmt: skip
    n, years = drawn("cash_flow_rates", 5_000, 40_000), drawn("years of cash_flow_rates", 8, 30)
    spread(case, "fp64", "cash_flow_rates", n, some("cash_flow_rates"), unit(n * years, "f8"), zeros(n, "f8"), i(n),
           i(years))  # fmt: skip


def _graphs(case: Any) -> None:
    for name, low, high in (("few", 50_000, 300_000), ("many", 1_000_000, 3_000_000)):
        n, nodes = drawn(f"relaxed_edges {name}", low, high), drawn(f"nodes of relaxed_edges {name}", 2_000, 90_000)
        spread(case, "atomics", "relaxed_edges", n, some("relaxed_edges") if name == "few" else one("relaxed_edges"),
               numbers(2 * n, nodes), numbers(n, 1_000, "u4"), numbers(nodes, 5_000, "u4"),
               Drawn("most", "u4", nodes), i(n))  # fmt: skip
    rows, mean = drawn("strewn_columns", 5_000, 30_000), drawn("mean of strewn_columns", 4, 20)
    spread(case, "atomics", "strewn_columns", rows, some("strewn_columns"), *lists(rows, mean), unit(rows * mean),
           unit(rows), zeros(rows), i(rows))  # fmt: skip
    for category, low, high, mean in (("cache", 300, 2_000, 11), ("stream", 10_000, 16_000, 24)):
        name = f"sliced_rows {category}"
        slices = drawn(name, low, high)
        rows, size = 32 * slices, 32 * mean * slices
        spread(case, category, "sliced_rows", rows, some(name) if category == "cache" else one(name),
               Drawn("slices", "i4", slices + 1, mean), numbers(size, rows), unit(size), unit(rows), zeros(rows),
               i(rows))  # fmt: skip
    rows, mean = drawn("merged_cosines", 8_000, 40_000), drawn("mean of merged_cosines", 6, 24)
    spread(case, "divergence", "merged_cosines", rows, some("merged_cosines"), *lists(rows, mean), unit(rows * mean),
           zeros(rows), i(rows))  # fmt: skip
    for places in (drawn("places of alias_draws", 500, 5_000), drawn("more places of alias_draws", 500_000, 3_000_000)):
        n, draws = drawn(f"alias_draws {places}", 8_000, 60_000), drawn(f"draws of alias_draws {places}", 10, 40)
        spread(case, "cache", "alias_draws", n, some("alias_draws") if places < 9_000 else one("alias_draws"),
               numbers(2 * places, places, "u4"), zeros(n, "u4"), i(n), i(places), i(draws), u(17))  # fmt: skip
    grid, n = drawn("small_graph_ways", 100, 700), drawn("size of small_graph_ways", 20, 60)
    within(case, "barrier", "small_graph_ways", grid, some("small_graph_ways"), numbers(grid * n * n, 1_000),
           zeros(grid * n * n, "i4"), i(n), smem=4 * n * n)  # fmt: skip


def _atomics(case: Any) -> None:
    for name, width, height in (("small", 64, 48), ("large", 1_280, 960)):
        n = drawn(f"nearest_points {name}", 50_000, 500_000)
        spread(case, "atomics", "nearest_points", n, some("nearest_points") if name == "large" else one(name),
               unit(3 * n), Drawn("most", "u8", width * height), i(n), i(width), i(height))  # fmt: skip
    grid, length = drawn("packed_counters", 80, 600), drawn("length of packed_counters", 1_000, 20_000)
    within(case, "atomics", "packed_counters", grid, some("packed_counters"), numbers(grid * length, 512, "u2"),
           zeros(512 * grid, "u2"), i(length))  # fmt: skip
    for places in (drawn("places of modular_totals", 20, 90), drawn("more of modular_totals", 20_000, 200_000)):
        n = drawn(f"modular_totals {places}", *((3_000, 12_000) if places < 100 else (40_000, 300_000)))
        spread(case, "atomics", "modular_totals", n, some("modular_totals") if places < 100 else 256,
               numbers(n, places), numbers(n, 1_000_003, "u4"), zeros(places, "u4"), i(n), u(1_000_003))  # fmt: skip


def _simulations(case: Any) -> None:
    grid, side = drawn("sand_squares", 60, 500), drawn("side of sand_squares", 16, 60)
    within(case, "barrier", "sand_squares", grid, some("sand_squares"), numbers(grid * side * side, 6, "u1"),
           zeros(grid * side * side, "u1"), i(side), i(120), smem=8 * side * side)  # fmt: skip
    grid, cells = drawn("traffic_rings", 60, 500), drawn("cells of traffic_rings", 300, 1_500)
    within(case, "barrier", "traffic_rings", grid, some("traffic_rings"), zeros(grid, "i4"), i(cells), i(40), u(5),
           smem=2 * cells)  # fmt: skip
    n = drawn("coupled_clocks", 2_000, 12_000)
    spread(case, "sfu", "coupled_clocks", n, some("coupled_clocks"), unit(n, high=6), unit(n), zeros(n), i(n), f(2),
           smem=lambda block: 4 * block)  # fmt: skip
    n, steps = drawn("roessler_peaks", 5_000, 60_000), drawn("steps of roessler_peaks", 100, 400)
    spread(case, "latency", "roessler_peaks", n, some("roessler_peaks"), unit(n, high=4), zeros(n), i(n), i(steps),
           f(0.02))  # fmt: skip
    n = drawn("bouncing_balls", 10_000, 90_000)
    spread(case, "divergence", "bouncing_balls", n, some("bouncing_balls"), numbers(n, 30_000), zeros(n, "i4"), i(n),
           i(2_000))  # fmt: skip
    n, steps = drawn("cart_poles", 5_000, 50_000), drawn("steps of cart_poles", 60, 200)
    spread(case, "sfu", "cart_poles", n, one("cart_poles"), unit(2 * n), zeros(n, "i4"), i(n), i(steps))
    n, requests = drawn("oldest_out", 5_000, 40_000), drawn("requests of oldest_out", 40, 200)
    spread(case, "local", "oldest_out", n, some("oldest_out"), zeros(n, "i4"), i(n), i(requests), i(30), u(3))


def _geometry(case: Any) -> None:
    for category, low, high in (("fp64", 10_000, 60_000), ("stream", 500_000, 900_000)):
        n = drawn(f"circumcircles {category}", low, high)
        spread(case, category, "circumcircles", n, one(f"circumcircles {category}"), unit(6 * n, "f8"),
               zeros(3 * n, "f8"), i(n))  # fmt: skip
    n = drawn("crossed_segments", 2_000, 10_000)
    spread(case, "shared", "crossed_segments", n, some("crossed_segments"), numbers(4 * n, 20_000),
           zeros(n, "i4"), i(n), smem=lambda block: 16 * block)  # fmt: skip
    n = drawn("shown_lines", 20_000, 200_000)
    spread(case, "divergence", "shown_lines", n, some("shown_lines"), unit(4 * n), zeros(n), i(n))
    n, mean = drawn("polygon_areas", 5_000, 30_000), drawn("mean of polygon_areas", 6, 30)
    spread(case, "uneven", "polygon_areas", n, one("polygon_areas"), skewed(n, mean), numbers(2 * n * mean, 5_000),
           zeros(n, "i8"), i(n))  # fmt: skip


def _tensor_cores(case: Any) -> None:
    n, count = 16 * drawn("nearest_codes_mma", 200, 1_500), 8 * drawn("codes of nearest_codes_mma", 20, 120)
    spread(case, "tensor", "nearest_codes_mma", 2 * n, some("nearest_codes_mma"), halves(16 * n), halves(16 * count, 2),
           unit(count, high=40), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    n, count = 16 * drawn("more of nearest_codes_mma", 200, 1_500), 8 * drawn("more codes", 200, 600)
    spread(case, "tensor", "nearest_codes_mma", 2 * n, one("nearest_codes_mma"), halves(16 * n), halves(16 * count, 2),
           unit(count, high=40), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    n, layers = 16 * drawn("deep_layers_mma", 500, 4_000), drawn("layers of deep_layers_mma", 8, 60)
    spread(case, "tensor", "deep_layers_mma", 2 * n, some("deep_layers_mma"), halves(8 * n),
           Drawn("small halves", "u4", 128 * layers), zeros(8 * n, "u4"), i(n), i(layers))  # fmt: skip
    n = 16 * drawn("few of deep_layers_mma", 60, 130)
    spread(case, "tensor", "deep_layers_mma", 2 * n, 32, halves(8 * n), Drawn("small halves", "u4", 128 * 200),
           zeros(8 * n, "u4"), i(n), i(200))  # fmt: skip


def _groups(case: Any) -> None:
    n, length, block = drawn("row_ranges", 3_000, 20_000), drawn("length of row_ranges", 40, 200), one("row_ranges")
    for tile in (4, 8, 16, 32):
        case("groups", f"row_ranges<{tile}>", up(n * tile, block), block, numbers(n * length, 1 << 30),
             zeros(2 * n, "i4"), i(n), i(length), series="row_ranges")  # fmt: skip
    n, length = drawn("many of row_ranges", 30_000, 60_000), drawn("long of row_ranges", 400, 800)
    spread(case, "stream", "row_ranges<32>", 32 * n, one("many of row_ranges"), numbers(n * length, 1 << 30),
           zeros(2 * n, "i4"), i(n), i(length))  # fmt: skip
    n, length = drawn("lowest_balances", 3_000, 20_000), drawn("length of lowest_balances", 60, 300)
    spread(case, "groups", "lowest_balances", 16 * n, some("lowest_balances"), Drawn("bookings", "i4", n * length, 99),
           zeros(n, "i4"), i(n), i(length))  # fmt: skip
    grid, each = drawn("kept_by_block", 100, 1_000), drawn("each of kept_by_block", 1_000, 6_000)
    within(case, "groups", "kept_by_block", grid, some("kept_by_block"), numbers(grid * each, 1_000),
           zeros(grid * each, "i4"), zeros(grid, "i4"), i(each), i(700))  # fmt: skip
    grid, each = 4 * drawn("cluster_bins", 20, 120), drawn("each of cluster_bins", 2_000, 12_000)
    within(case, "clusters", "cluster_bins", grid, some("cluster_bins"), numbers(grid * each, 4_096, "u2"),
           zeros(1_024 * grid, "i4"), i(each))  # fmt: skip
    grid, length = 2 * drawn("cluster_unit_rows", 40, 300), drawn("length of cluster_unit_rows", 500, 5_000)
    within(case, "clusters", "cluster_unit_rows", grid, some("cluster_unit_rows"), unit(grid * length),
           zeros(grid * length), i(length))  # fmt: skip


def _copies(case: Any) -> None:
    for category, low, high in (("async", 200, 900), ("stream", 12_000, 30_000)):
        grid, pieces = (
            drawn(f"async_filter {category}", 100, 700),
            drawn(f"pieces of async_filter {category}", low, high),
        )
        within(case, category, "async_filter", grid,
               some("async_filter") if category == "async" else one("async_filter", most=512),
               unit(1_024 * pieces + 16), unit(16), zeros(1_024 * pieces), i(pieces))  # fmt: skip
    n, quads = drawn("async_dots", 400, 3_000), drawn("quads of async_dots", 200, 900)
    spread(case, "async", "async_dots", 32 * n, some("async_dots", most=384), unit(4 * n * quads),
           unit(4 * n * quads, high=2), zeros(n), i(n), i(quads), smem=lambda block: 96 * block)  # fmt: skip
    for category, low, high in (("async", 300, 2_000), ("stream", 9_000, 16_000)):
        grid, rows = (
            drawn(f"bulk_row_peaks {category}", 100, 500),
            drawn(f"rows of bulk_row_peaks {category}", low, high),
        )
        columns = 4 * drawn(f"columns of bulk_row_peaks {category}", 100, 900)
        within(case, category, "bulk_row_peaks", grid,
               some("bulk_row_peaks") if category == "async" else one("bulk_row_peaks", least=128),
               normal(rows * columns),
               zeros(rows * columns), i(rows), i(columns), smem=4 * columns)  # fmt: skip


def _codes(case: Any) -> None:
    for rounds, name in ((300, "shorter"), (1_800, "longer")):
        n, turns = drawn(f"straight_rounds {name}", 8_000, 60_000), drawn(f"turns of straight_rounds {name}", 2, 5)
        spread(case, "code", f"straight_rounds<{rounds}>", n, some(f"straight_rounds {name}"),
               numbers(n, 1 << 32, "u4"),
               zeros(n, "u4"), i(n), i(turns))  # fmt: skip
    n = drawn("fibonacci_codes", 30_000, 200_000)
    spread(case, "divergence", "fibonacci_codes", n, some("fibonacci_codes"), numbers(n, 1 << 30, "u4"),
           zeros(n, "u8"), i(n))  # fmt: skip
    n, length = drawn("xor_bits", 5_000, 30_000), drawn("length of xor_bits", 50, 200)
    spread(case, "latency", "xor_bits", n, some("xor_bits"), Drawn("sensor", "u4", n * length, n), zeros(n, "i4"), i(n),
           i(length))  # fmt: skip
    for category, low, high in (("shuffle", 2_000, 20_000), ("stream", 400_000, 900_000)):
        n, name = drawn(f"thirteen_bits {category}", low, high), f"thirteen_bits {category}"
        spread(case, category, "thirteen_bits", 32 * n, some(name) if category == "shuffle" else one(name),
               numbers(32 * n, 8_192, "u2"), zeros(13 * n, "u4"), i(n))  # fmt: skip
    n, length = drawn("gnome_rows", 3_000, 20_000), drawn("length of gnome_rows", 12, 32)
    spread(case, "local", "gnome_rows", n, some("gnome_rows"), numbers(n * length, 100, "u1"), zeros(n, "i4"), i(n),
           i(length))  # fmt: skip
    n, size = drawn("permutation_cycles", 5_000, 40_000), drawn("size of permutation_cycles", 20, 64)
    spread(case, "local", "permutation_cycles", n, one("permutation_cycles"), zeros(2 * n, "i4"), i(n), i(size), u(9))


def _first_programs(case: Any) -> None:
    n, first = drawn("is_prime_plain", 10_000, 90_000), drawn("first of is_prime_plain", 1_000, 5_000_000)
    spread(case, "beginner", "is_prime_plain", n, some("is_prime_plain"), zeros(n, "i4"), i(n), i(first))
    n, throws = drawn("darts", 5_000, 60_000), drawn("throws of darts", 50, 300)
    spread(case, "beginner", "darts", n, some("darts"), zeros(n, "i4"), i(n), i(throws), u(4))
    n, taps = drawn("smeared", 20_000, 90_000), drawn("taps of smeared", 31, 201)
    spread(case, "beginner", "smeared", n, some("smeared"), unit(n), unit(taps), zeros(n), i(n), i(taps))
    for category, low, high in (("beginner", 20_000, 90_000), ("stream", 2_000_000, 5_000_000)):
        n = drawn(f"particle_energies {category}", low, high)
        spread(case, category, "particle_energies", n, one(f"particle_energies {category}"), unit(7 * n), zeros(n),
               i(n))  # fmt: skip


def _more_numbers(case: Any) -> None:
    n = drawn("boxed_rounds", 20_000, 90_000)
    spread(case, "constant", "boxed_rounds", n, one("boxed_rounds"), numbers(8, 1 << 32, "u4"),
           numbers(2 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n))  # fmt: skip
    grid, steps = drawn("three_branches", 60, 500), drawn("steps of three_branches", 40, 200)
    within(case, "barrier", "three_branches", grid, some("three_branches"), unit(grid), zeros(grid), i(steps), f(0.02),
           smem=8 * (2 * steps + 1))  # fmt: skip
    n = drawn("sun_heights", 3_000, 20_000)
    spread(
        case, "fp64", "sun_heights", n, some("sun_heights", most=512), unit(2 * n, "f8"), zeros(n, "f8"), i(n), i(24)
    )
    n, steps = drawn("free_tops", 3_000, 30_000), drawn("steps of free_tops", 60, 200)
    spread(case, "fp64", "free_tops", n, one("free_tops"), unit(3 * n, "f8"), zeros(3 * n, "f8"), i(n), i(steps),
           ("f8", 0.01))  # fmt: skip
    n = drawn("happy_steps", 30_000, 200_000)
    spread(case, "division", "happy_steps", n, some("happy_steps"), numbers(n, 1 << 31, "u4"), zeros(n, "i4"), i(n))
    n, steps = drawn("half_maps", 20_000, 200_000), drawn("steps of half_maps", 60, 300)
    spread(case, "half", "half_maps", n, some("half_maps"), Drawn("half parts", "u4", n), zeros(n, "u4"), i(n),
           i(steps), f(3.4))  # fmt: skip


def _more_sound(case: Any) -> None:
    n, length = drawn("held_loudness", 3_000, 20_000), drawn("length of held_loudness", 60, 200)
    spread(case, "latency", "held_loudness", n, one("held_loudness"), Drawn("samples", "i2", n * length, 6_000),
           zeros(n * length, "i2"), i(n), i(length))  # fmt: skip
    frames, length = drawn("zero_crossings", 500, 5_000), 32 * drawn("length of zero_crossings", 8, 40)
    spread(case, "votes", "zero_crossings", 32 * frames, some("zero_crossings"),
           Drawn("samples", "i2", frames * length, 6_000), zeros(frames, "i4"), i(frames), i(length))  # fmt: skip
    grid, width, height = (drawn(f"{what} of parts_minus_holes", 50, 250) for what in ("grid", "width", "height"))
    within(case, "reduce", "parts_minus_holes", grid, one("parts_minus_holes"),
           numbers(grid * width * height, 2, "u1"), zeros(grid, "i4"), i(width), i(height))  # fmt: skip
    size, width, height = (drawn(f"{what} of rolled_out", 200, 1_200) for what in ("size", "width", "height"))
    in_shapes(case, "cache", "rolled_out", width, height, shapes("rolled_out"), numbers(size * size, 256, "u1"),
              zeros(width * height, "u1"), i(size), i(width), i(height))  # fmt: skip


def _more_biology(case: Any) -> None:
    for category, low, high in (("sfu", 30_000, 90_000), ("stream", 3_000_000, 6_000_000)):
        n = drawn(f"genotype_tests {category}", low, high)
        spread(case, category, "genotype_tests", n, one(f"genotype_tests {category}"), numbers(3 * n, 500), zeros(n),
               i(n))  # fmt: skip
    for category, low, high in (("alu", 1_000, 4_000), ("stream", 40_000, 90_000)):
        n, each = (
            drawn(f"packed_genotypes {category}", low, high),
            drawn(f"each of packed_genotypes {category}", 150, 400),
        )
        spread(case, category, "packed_genotypes", 32 * n, one(f"packed_genotypes {category}"),
               numbers(n * each, 1 << 32, "u4"), zeros(4 * n, "i4"), i(n), i(each))  # fmt: skip
    bars, each = drawn("volume_prices", 2_000, 20_000), drawn("each of volume_prices", 20, 120)
    spread(case, "shuffle", "volume_prices", 8 * bars, one("volume_prices"), numbers(2 * bars * each, 9_999),
           zeros(bars), i(bars), i(each))  # fmt: skip
    n = drawn("turned_overlaps", 20_000, 200_000)
    spread(case, "sfu", "turned_overlaps", n, one("turned_overlaps"), unit(5 * n), zeros(n, "u1"), i(n))
    n, steps = drawn("rule_110_rings", 1_000, 9_000), drawn("steps of rule_110_rings", 60, 300)
    spread(case, "shuffle", "rule_110_rings", 32 * n, one("rule_110_rings"), numbers(32 * n, 1 << 32, "u4"),
           zeros(32 * n, "u4"), i(n), i(steps))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "lattice_voices", 1, 32, unit(8 * 32), zeros(32), i(32), i(drawn("tiny voices", 100, 400)), f(1))
    case("tiny", "small_graph_ways", 1, one("tiny ways"), numbers(55 * 55, 1_000), zeros(55 * 55, "i4"), i(55),
         smem=4 * 55 * 55)  # fmt: skip
    case("tiny", "free_tops", 2, 64, unit(384, "f8"), zeros(384, "f8"), i(128), i(drawn("tiny tops", 100, 400)),
         ("f8", 0.01))  # fmt: skip
    case("tiny", "deep_layers_mma", 1, 64, halves(256), Drawn("small halves", "u4", 128 * 90), zeros(256, "u4"), i(32),
         i(90))  # fmt: skip
    case(
        "tiny", "sand_squares", 1, one("tiny sand"), numbers(900, 6, "u1"), zeros(900, "u1"), i(30), i(150), smem=7_200
    )
    case("tiny", "bulk_row_peaks", 2, 128, normal(9 * 1_000), zeros(9 * 1_000), i(9), i(1_000), smem=4_000)


def _uneven(case: Any) -> None:
    n = 133 * 1_024
    case("tail", "simon_blocks", 133, 1_024, numbers(44, 1 << 32, "u4"), numbers(2 * n, 1 << 32, "u4"),
         zeros(2 * n, "u4"), i(n), i(44))  # fmt: skip
    n = 140 * 1_024
    case("tail", "happy_steps", 140, 1_024, numbers(n, 1 << 31, "u4"), zeros(n, "i4"), i(n))
    grid = 8_000 + drawn("blocks of volume_prices", 5, 500)
    case("blocks", "volume_prices", grid, 32, numbers(2 * 4 * grid * 16, 9_999), zeros(4 * grid), i(4 * grid), i(16))
    for smem in (100 << 10, 40 << 10):
        n = drawn(f"low occupancy {smem}", 30_000, 90_000)
        case("occupancy", "darts", up(n, 128), 128, zeros(n, "i4"), i(n), i(100), u(4), smem=smem)
        n = drawn(f"low occupancy of codes {smem}", 30_000, 90_000)
        case("occupancy", "melting_temperatures", up(n, 96), 96, numbers(n * 30, 4, "u1"), zeros(n), i(n), i(30),
             smem=smem)  # fmt: skip
