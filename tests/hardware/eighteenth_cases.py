"""An eighteenth set of launches for the timing model: other kernels than those of the seventeen sets before it, as
programs have them, written without a look at the model or at an estimate. Sizes and block sizes are drawn at random, by
seeds from names. At most a third of the launches are bound by DRAM. They are predicted and committed before a GPU
measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.fourteenth_cases import hashes
from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import Made, lists, normal, skewed, unit, up
from tests.hardware.timing_cases import Array, ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "eighteenth.cu"
FILE = "eighteenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What block sizes, and shapes of blocks, are drawn from.
BLOCKS = (32, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1_024)
SHAPES = ((8, 8), (16, 4), (16, 8), (32, 2), (32, 4), (16, 16), (32, 8), (64, 2), (64, 8), (128, 2), (256, 2), (32, 32))


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"eighteenth, {name}").random())


def some(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Three, rarely four, block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"eighteenth, blocks of {name}")
    return tuple(sorted(rng.sample([b for b in BLOCKS if least <= b <= most], 3 + (rng.random() < 0.2))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"eighteenth, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def shapes(name: str, most: int = 1_024) -> tuple[tuple[int, int], ...]:
    """Three, rarely four, shapes of blocks at random, of ``most`` threads at most, by a seed from ``name``."""
    rng = Random(f"eighteenth, shapes of {name}")
    return tuple(sorted(rng.sample([s for s in SHAPES if s[0] * s[1] <= most], 3 + (rng.random() < 0.2))))


def pattern_of(length: int, kinds: int) -> list[int]:
    """A pattern of ``length`` letters of ``kinds`` kinds."""
    rng = Random(f"eighteenth, pattern, {length}, {kinds}")
    return [rng.randrange(kinds) for _ in range(length)]


def _backs(size: int, high: int, rng: np.random.Generator) -> list[int]:
    """For each start of the pattern: the length of its longest true end that is a start too."""
    pattern = pattern_of(size, high)
    return [max(k for k in range(j + 1) if pattern[:k] == pattern[j + 1 - k : j + 1]) for j in range(size)]


def _masks(size: int, high: int, rng: np.random.Generator) -> list[int]:
    """For each letter: in which places of a pattern of ``high`` letters of four kinds it stands."""
    pattern = pattern_of(high, 4)
    return [sum(1 << j for j in range(high) if pattern[j] == letter) for letter in range(size)]


def _full_table(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The table of ``distinct_keys`` with the keys 1 to ``high``: a launch that is repeated finds it like this."""
    table, keys = np.zeros(size, "u4"), np.arange(1, high + 1)
    places, step = hashes(keys).astype(int) % size, 1
    while keys.size:
        free = np.flatnonzero(table[places] == 0)
        taken = free[np.unique(places[free], return_index=True)[1]]
        table[places[taken]] = keys[taken]
        keys, places = np.delete(keys, taken), np.delete(places, taken)
        places, step = (places + step) % size, step + 1
    return table


def _view(size: int, high: int, rng: np.random.Generator) -> list[float]:
    """A projection that turns a picture ``high`` points wide a little and looks at it from the side."""
    return [0.9, 0.2, -0.05 * high, -0.15, 1.1, 0.04 * high, 0.3 / high, 0.1 / high, 0.9]


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "full table": _full_table,
    "pattern": lambda size, high, rng: pattern_of(size, high),
    "backs": _backs,
    "masks": _masks,
    "view": _view,
    "letters": lambda size, high, rng: rng.choice([*b"etaoinshrdlucm ETAOI"], size),
    "bf16 pairs": lambda size, high, rng: (
        (rng.normal(0, high, 2 * size).astype("f4").view("u4") >> 16).astype("u2").view("u4")
    ),
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
            _reductions,
            _attention,
            _layers,
            _linear_algebra,
            _sparse,
            _strings,
            _sorts_and_counts,
            _fields,
            _chances,
            _orbits_and_matrices,
            _views,
            _spectra,
            _groups,
            _copies,
            _more_atomics,
            _more_networks,
            _codes_and_tapes,
            _first_programs,
            _few,
            _uneven,
        )
    )


def _reductions(case: Any) -> None:
    for category, low, high in (("reduce", 200, 900), ("stream", 8_000, 30_000)):
        grid, quads = drawn(f"halving_sums {category}", 150, 600), drawn(f"quads of halving_sums {category}", low, high)
        for threads in (128, 256, 512, 1_024) if category == "reduce" else (256,):
            case(category, f"halving_sums<{threads}>", grid, threads, normal(4 * grid * quads), zeros(grid), i(quads),
                 series="halving_sums" if category == "reduce" else "")  # fmt: skip
    for category, high in (("fp64", 300), ("stream", 4_000)):
        rows, columns = (
            drawn(f"double_column_norms {category}", high // 2, high),
            drawn(f"columns {category}", 800, 3_000),
        )
        slab = drawn(f"slab {category}", 16, 80)
        for block in some("double_column_norms", most=512) if category == "fp64" else (128,):
            case(category, "double_column_norms", (up(columns, block), up(rows, slab)), block,
                 unit(rows * columns, "f8"), zeros(columns, "f8"), i(rows), i(columns), i(slab),
                 series="double_column_norms" if category == "fp64" else "")  # fmt: skip
    rows, columns = drawn("rows of log_sum_exp_columns", 60, 600), drawn("columns of log_sum_exp_columns", 700, 5_000)
    for y in (1, 4, 8, 16, 32):
        case("sfu", "log_sum_exp_columns", up(columns, 32), (32, y), normal(rows * columns), zeros(columns), i(rows),
             i(columns), series="log_sum_exp_columns")  # fmt: skip
    for category, low, high in (("scan", 700, 4_000), ("stream", 60_000, 120_000)):
        grid, length = drawn(f"cumulative_rows {category}", 120, 500), drawn(f"length {category}", low, high)
        within(case, category, "cumulative_rows", grid, some("cumulative_rows") if category == "scan" else 512,
               numbers(grid * length, 100), zeros(grid * length, "i4"), i(length))  # fmt: skip
    for category, low, high in (("latency", 2_000, 9_000), ("stream", 90_000, 200_000)):
        games, steps = drawn(f"advantage_traces {category}", low, high), drawn(f"steps {category}", 64, 256)
        name = f"advantage_traces {category}"
        spread(case, category, "advantage_traces", games, some(name) if category == "latency" else one(name),
               normal(games * steps), normal(games * (steps + 1)), zeros(games * steps), i(games), i(steps), f(0.99),
               f(0.95))  # fmt: skip


def _attention(case: Any) -> None:
    n = drawn("contrastive_losses", 150, 900)
    within(case, "shuffle", "contrastive_losses", n, some("contrastive_losses"), normal(64 * n),
           normal(64 * n, high=2), zeros(n), i(n), f(0.07))  # fmt: skip
    n, window = drawn("windowed_attention", 1_000, 6_000), drawn("window of windowed_attention", 16, 90)
    spread(case, "shuffle", "windowed_attention", 32 * n, some("windowed_attention"), normal(64 * n),
           normal(64 * n, high=2), normal(64 * n), zeros(64 * n), i(n), i(window))  # fmt: skip
    for category, low, high in (("alu", 500, 2_000), ("stream", 20_000, 40_000)):
        rows, words = drawn(f"ternary_products {category}", low, high), drawn(f"words {category}", 128, 512)
        name = f"ternary_products {category}"
        spread(case, category, "ternary_products", 32 * rows, some(name) if category == "alu" else one(name),
               numbers(rows * words, 1 << 32, "u4"), normal(16 * words), zeros(rows), i(rows), i(words))  # fmt: skip
    n, size = drawn("additive_scores", 1_000, 9_000), drawn("size of additive_scores", 60, 300)
    spread(case, "sfu", "additive_scores", 32 * n, some("additive_scores"), normal(n * size), normal(size),
           normal(size, high=2), zeros(n), i(n), i(size))  # fmt: skip
    for heads, steps, name in (
        (drawn("delta heads", 30, 120), 200, "few"),
        (drawn("more heads", 900, 3_000), 40, "more"),
    ):
        spread(
            case,
            "shuffle",
            "delta_rule_heads",
            32 * heads,
            64 if name == "few" else some("delta_rule_heads", most=512),
            unit(32 * heads * steps),
            normal(32 * heads * steps),
            normal(32 * heads * steps, high=2),
            zeros(32 * heads * steps),
            i(heads),
            i(steps),
            f(0.02),
        )
    n = 16 * drawn("causal_scores_mma", 12, 50)
    spread(
        case,
        "tensor",
        "causal_scores_mma",
        n * n // 4,
        some("causal_scores_mma"),
        Drawn("bf16 pairs", "u4", 64 * n, 1),
        Drawn("bf16 pairs", "u4", 64 * n, 2),
        zeros(n * n),
        i(n),
        i(128),
    )
    case("tensor", "causal_scores_mma", up(12 * 24, 2), 64, Drawn("bf16 pairs", "u4", 192 * 512, 1),
         Drawn("bf16 pairs", "u4", 192 * 512, 2), zeros(192 * 192), i(192), i(1_024))  # fmt: skip


def _layers(case: Any) -> None:
    for category, pairs, grid in (("half", drawn("geglu", 50_000, 200_000), 200), ("stream", 4_000_003, 1_056)):
        bf16 = Made("bf16", "u2", 2 * pairs, 1)
        within(
            case,
            category,
            "geglu_gradients",
            grid,
            some("geglu_gradients") if category == "half" else 256,
            bf16,
            bf16,
            Made("bf16", "u2", 2 * pairs, 2),
            zeros(2 * pairs, "u2"),
            zeros(2 * pairs, "u2"),
            i(pairs),
        )
    for category, low, high in (("cache", 150, 700), ("stream", 3_000, 5_000)):
        width, height = (drawn(f"{side} of pool_with_places {category}", low, high) for side in ("width", "height"))
        wide, high = (width - 1) // 2, (height - 1) // 2
        in_shapes(case, category, "pool_with_places", wide, high,
                  shapes("pool_with_places") if category == "cache" else ((32, 8),), numbers(width * height, 1 << 30),
                  zeros(wide * high, "i4"), zeros(wide * high, "i4"), i(width), i(height))  # fmt: skip
    for name, places in (
        ("narrow", drawn("narrow unpool", 200, 2_000)),
        ("wide", drawn("wide unpool", 200_000, 900_000)),
    ):
        n = drawn(f"{name} unpool_add", 60_000, 400_000)
        spread(case, "atomics", "unpool_add", n, some("unpool_add") if name == "wide" else 256, numbers(n, 1_000),
               numbers(n, places), zeros(places, "i4"), i(n))  # fmt: skip
    for category, channels, length in (("sfu", drawn("channels", 300, 1_500), 512), ("stream", 4_096, 4_001)):
        piece = 32 if category == "sfu" else 128
        for block in some("causal_taps", most=512) if category == "sfu" else (256,):
            case(category, "causal_taps", (up(channels, block), up(length, piece)), block, normal(channels * length),
                 normal(4 * channels), zeros(channels * length), i(channels), i(length), i(piece),
                 series="causal_taps" if category == "sfu" else "")  # fmt: skip
    for category, pairs in (("half", drawn("nesterov pairs", 20_000, 120_000)), ("stream", 5_000_001)):
        spread(
            case,
            category,
            "nesterov_step",
            pairs,
            one(f"nesterov_step {category}"),
            normal(2 * pairs, "f2"),
            normal(2 * pairs),
            normal(2 * pairs, high=2),
            zeros(2 * pairs, "f2"),
            i(pairs),
            f(0.01),
            f(0.9),
        )
    n, rows = drawn("triplet_margins", 3_000, 30_000), drawn("rows of triplet_margins", 2_000, 30_000)
    spread(
        case,
        "cache",
        "triplet_margins",
        32 * n,
        some("triplet_margins"),
        normal(64 * rows, "f2"),
        numbers(3 * n, rows),
        zeros(n),
        i(n),
        f(9),
    )
    samples, inputs, outputs = (drawn(f"{what} of spline_edges", 20, 150) for what in ("samples", "inputs", "outputs"))
    spread(case, "fma", "spline_edges", samples * outputs, some("spline_edges"), unit(samples * inputs),
           normal(inputs * outputs * 8), zeros(samples * outputs), i(samples), i(inputs), i(outputs))  # fmt: skip
    rows, width = drawn("low_rank_updates", 150, 1_500), drawn("width of low_rank_updates", 300, 2_000)
    within(case, "reduce", "low_rank_updates", rows, some("low_rank_updates"), normal(rows * width), normal(8 * width),
           normal(8 * width, high=2), zeros(rows * width), i(width))  # fmt: skip


def _linear_algebra(case: Any) -> None:
    m, n, inner = (drawn(f"{what} of split_k_product", 50, 300) for what in ("m", "n", "inner"))
    inner *= 5
    for slices in (1, 4, 16):
        slice_ = up(up(inner, slices), 16) * 16
        case("shared", "split_k_product", (up(n, 16), up(m, 16), up(inner, slice_)), (16, 16), unit(m * inner),
             unit(inner * n), zeros(m * n), i(m), i(n), i(inner), i(slice_))  # fmt: skip
    grid, size = drawn("kronecker_apply", 100, 900), drawn("size of kronecker_apply", 18, 48)
    within(case, "shared", "kronecker_apply", grid, some("kronecker_apply"), normal(size * size),
           normal(size * size, high=2), normal(grid * size * size), zeros(grid * size * size), i(size),
           smem=8 * size * size)  # fmt: skip
    n = drawn("toeplitz_apply", 2_000, 12_000)
    spread(case, "shared", "toeplitz_apply", n, some("toeplitz_apply"), normal(2 * n - 1), normal(n), zeros(n), i(n),
           smem=lambda block: 4 * block)  # fmt: skip


def _sparse(case: Any) -> None:
    for category, low, high in (("atomics", 8_000, 40_000), ("stream", 500_000, 900_000)):
        rows, mean = drawn(f"balanced_spmv {category}", low, high), drawn(f"mean of balanced_spmv {category}", 6, 20)
        size, each = rows * mean, 9
        spread(case, category, "balanced_spmv", up(size, each), some("balanced_spmv") if category == "atomics" else 192,
               *lists(rows, mean), unit(size), unit(rows), zeros(rows), i(rows), i(size), i(each))  # fmt: skip
    rows = drawn("symbolic_widths", 2_000, 15_000)
    spread(case, "atomics", "symbolic_widths", 32 * rows, some("symbolic_widths", most=512),
           Array("offsets", "i4", rows + 1, 8), numbers(8 * rows, rows), zeros(rows, "i4"), i(rows),
           smem=lambda block: 64 * block)  # fmt: skip
    for category, low, high in (("cache", 3_000, 20_000), ("stream", 300_000, 500_000)):
        nodes, mean = (
            drawn(f"neighbour_means {category}", low, high),
            drawn(f"mean of neighbour_means {category}", 5, 20),
        )
        spread(case, category, "neighbour_means", 32 * nodes, some("neighbour_means") if category == "cache" else 256,
               *lists(nodes, mean), unit(32 * nodes), zeros(32 * nodes), i(nodes))  # fmt: skip
    nodes, draws = drawn("sampled_neighbours", 5_000, 50_000), drawn("draws of sampled_neighbours", 4, 15)
    spread(case, "division", "sampled_neighbours", nodes * draws, some("sampled_neighbours"), *lists(nodes, 12),
           zeros(nodes * draws, "i4"), i(nodes), i(draws), u(8))  # fmt: skip
    grid, nodes = drawn("union_edges", 80, 500), drawn("nodes of union_edges", 900, 6_000)
    within(case, "atomics", "union_edges", grid, some("union_edges"), numbers(2 * grid * (nodes // 2), nodes),
           zeros(grid * nodes, "i4"), i(nodes), i(nodes // 2), smem=4 * nodes)  # fmt: skip


def _strings(case: Any) -> None:
    size, length = drawn("kmp_counts", 300_000, 2_000_000), drawn("length of kmp_counts", 5, 20)
    spread(case, "divergence", "kmp_counts", up(size, 40), some("kmp_counts"), numbers(size, 2, "u1"),
           Drawn("pattern", "u1", length, 2), Drawn("backs", "i4", length, 2), zeros(up(size, 40), "i4"), i(size),
           i(length), i(40))  # fmt: skip
    n, length = drawn("bitap_changed", 4_000, 30_000), drawn("length of bitap_changed", 60, 250)
    spread(case, "alu", "bitap_changed", n, some("bitap_changed"), numbers(n * length, 4, "u1"),
           Drawn("masks", "u4", 256, 19), zeros(n, "i4"), i(n), i(length), u(1 << 18))  # fmt: skip
    n, length = drawn("lcs_by_words", 5_000, 60_000), drawn("length of lcs_by_words", 60, 300)
    spread(case, "int64", "lcs_by_words", n, some("lcs_by_words"), numbers(n * 64, 4, "u1"),
           numbers(n * length, 4, "u1"), zeros(n, "i4"), i(n), i(length))  # fmt: skip
    for category, low, high in (("int64", 10_000, 50_000), ("stream", 900_000, 1_500_000)):
        n, mean = drawn(f"wide_mix_records {category}", low, high), drawn(f"mean of wide_mix {category}", 5, 30)
        spread(case, category, "wide_mix_records", n, some("wide_mix_records") if category == "int64" else 128,
               numbers(n * mean, 1 << 63, "u8"), skewed(n, mean), zeros(n, "u8"), i(n))  # fmt: skip


def _sorts_and_counts(case: Any) -> None:
    n, length = drawn("heap_sorted_rows", 3_000, 20_000), drawn("length of heap_sorted_rows", 20, 64)
    spread(case, "local", "heap_sorted_rows", n, some("heap_sorted_rows"), numbers(n * length, 60_000, "u2"),
           zeros(n * length, "u2"), i(n), i(length))  # fmt: skip
    n, length = drawn("quick_select_rows", 3_000, 20_000), drawn("length of quick_select_rows", 40, 96)
    spread(case, "local", "quick_select_rows", n, some("quick_select_rows"), numbers(n * length, 1 << 30),
           zeros(n, "i4"), i(n), i(length), i(length // 2))  # fmt: skip
    grid, length = drawn("kth_by_halving", 100, 600), drawn("length of kth_by_halving", 900, 9_000)
    within(case, "barrier", "kth_by_halving", grid, some("kth_by_halving"), numbers(grid * length, 1 << 20),
           zeros(grid, "i4"), i(length), i(length // 3))  # fmt: skip
    grid = drawn("key_value_bitonic", 100, 500)
    within(case, "barrier", "key_value_bitonic", grid, some("key_value_bitonic"), numbers(1_024 * grid, 1 << 32, "u4"),
           zeros(1_024 * grid, "u4"), zeros(1_024 * grid, "u4"))  # fmt: skip
    for category, n, each in (("votes", drawn("ballot_bins", 200_000, 900_000), 1_001), ("stream", 80_000_003, 9_000)):
        spread(case, category, "ballot_bins", 32 * up(n, each), some("ballot_bins") if category == "votes" else 256,
               numbers(n, 8, "u1"), zeros(8, "i4"), i(n), i(each))  # fmt: skip
    for category, n, grid in (
        ("atomics", drawn("exponent_bins", 200_000, 2_000_000), 264),
        ("stream", 16_000_001, 528),
    ):
        within(case, category, "exponent_bins", grid, some("exponent_bins") if category == "atomics" else 512,
               normal(n, high=50), zeros(256, "u4"), i(n))  # fmt: skip


def _fields(case: Any) -> None:
    for category, low, high in (("shared", 150, 700), ("stream", 3_000, 4_500)):
        width, height = (drawn(f"{side} of membrane_step {category}", low, high) for side in ("width", "height"))
        for x, y in shapes("membrane_step") if category == "shared" else ((32, 16),):
            case(category, "membrane_step", (up(width, x), up(height, y)), (x, y), normal(width * height),
                 normal(width * height, high=2), zeros(width * height), i(width), i(height), f(0.2),
                 smem=4 * (x + 2) * (y + 2), series="membrane_step" if category == "shared" else "")  # fmt: skip
    grid, cells = drawn("burgers_lines", 60, 600), drawn("cells of burgers_lines", 300, 3_000)
    within(case, "barrier", "burgers_lines", grid, some("burgers_lines"), unit(grid * cells), zeros(grid * cells),
           i(cells), i(60), f(0.2), smem=8 * cells)  # fmt: skip
    width, height = drawn("width of forest_fires", 200, 1_200), drawn("height of forest_fires", 200, 1_200)
    in_shapes(case, "divergence", "forest_fires", width, height, shapes("forest_fires"),
              numbers(width * height, 3, "u1"), zeros(width * height, "u1"), i(width), i(height), u(5))  # fmt: skip
    side = 2 * drawn("mirrored_rotors", 60, 400)
    spread(case, "sfu", "mirrored_rotors", side * side, some("mirrored_rotors"), unit(side * side, high=6),
           zeros(side * side), i(side), i(1))  # fmt: skip
    for category, low, high in (("division", 20_000, 90_000), ("stream", 5_000_000, 9_000_000)):
        n, rows = drawn(f"minmod_transport {category}", low, high), 7
        spread(case, category, "minmod_transport", rows * (n // rows), one(f"minmod_transport {category}"),
               normal(rows * (n // rows)), zeros(rows * (n // rows)), i(rows), i(n // rows), f(0.4))  # fmt: skip
    for category, low, high in (("fp64", 100, 500), ("stream", 1_500, 2_500)):
        width, height = (drawn(f"{side} of residual_norm {category}", low, high) for side in ("width", "height"))
        in_shapes(case, category, "residual_norm", width - 2, height - 2,
                  shapes("residual_norm") if category == "fp64" else ((64, 4),), unit(width * height, "f8"),
                  unit(width * height, "f8", 2), zeros(1, "f8"), i(width), i(height))  # fmt: skip


def _chances(case: Any) -> None:
    n, people = drawn("outbreaks", 5_000, 40_000), drawn("people of outbreaks", 100, 500)
    spread(case, "divergence", "outbreaks", n, some("outbreaks"), zeros(n, "i4"), i(n), i(people), u(15), u(6))
    n, steps = drawn("knock_out_options", 10_000, 90_000), drawn("steps of knock_out_options", 50, 250)
    spread(case, "sfu", "knock_out_options", n, some("knock_out_options"), zeros(n), i(n), i(steps), f(0.0005), f(0.02),
           f(0.25), u(9))  # fmt: skip
    n = drawn("ruined_players", 5_000, 40_000)
    spread(case, "divergence", "ruined_players", n, one("ruined_players"), zeros(n, "i4"), i(n), i(15), i(40), u(2))
    n, draws = drawn("combined_recurrences", 5_000, 50_000), drawn("draws of combined_recurrences", 20, 120)
    spread(case, "int64", "combined_recurrences", n, some("combined_recurrences"), zeros(n, "u8"), i(n), i(draws))
    n, draws = drawn("four_word_streams", 5_000, 50_000), drawn("draws of four_word_streams", 60, 400)
    spread(case, "int64", "four_word_streams", n, one("four_word_streams"), zeros(n, "u8"), i(n), i(draws))
    n, draws = drawn("lagged_draws", 4_000, 30_000), drawn("draws of lagged_draws", 60, 250)
    spread(case, "local", "lagged_draws", n, some("lagged_draws"), zeros(n, "u4"), i(n), i(draws))


def _orbits_and_matrices(case: Any) -> None:
    n, steps = drawn("orbit_leaps", 3_000, 30_000), drawn("steps of orbit_leaps", 40, 200)
    spread(case, "fp64", "orbit_leaps", n, some("orbit_leaps"), unit(n, "f8"), zeros(n, "f8"), i(n), i(steps),
           ("f8", 0.01))  # fmt: skip
    n, steps = drawn("dimer_swings", 10_000, 90_000), drawn("steps of dimer_swings", 100, 500)
    spread(case, "latency", "dimer_swings", n, one("dimer_swings"), unit(n), zeros(n), i(n), i(steps), f(0.05))
    for category, low, high in (("fp64", 5_000, 30_000), ("stream", 400_000, 700_000)):
        n = drawn(f"matrix_exponentials {category}", low, high)
        spread(case, category, "matrix_exponentials", n, one(f"matrix_exponentials {category}", most=512),
               normal(9 * n, "f8"), zeros(9 * n, "f8"), i(n), i(6 if category == "fp64" else 0))  # fmt: skip
    n, turns = drawn("polar_rotations", 10_000, 90_000), drawn("turns of polar_rotations", 4, 12)
    spread(case, "fma", "polar_rotations", n, some("polar_rotations"), unit(9 * n), zeros(9 * n), i(n), i(turns))
    n, inner = 128 * drawn("outer_tiles", 3, 9), 8 * drawn("inner of outer_tiles", 20, 90)
    for size in (1, 2, 4, 8):
        case("fma", f"outer_tiles<{size}>", (n // (16 * size), n // (16 * size)), 256, unit(n * inner), unit(inner * n),
             zeros(n * n), i(n), i(inner), series="outer_tiles")  # fmt: skip
    for category, low, high in (("shuffle", 2_000, 15_000), ("stream", 250_000, 500_000)):
        n = drawn(f"coupled_lanes {category}", low, high)
        spread(case, category, "coupled_lanes", 32 * n, some("coupled_lanes") if category == "shuffle" else 160,
               unit(32 * n), unit(32 * n, high=-1), normal(32 * n), zeros(32 * n), i(n))  # fmt: skip


def _views(case: Any) -> None:
    width, height = drawn("width of median_by_counts", 80, 400), drawn("height of median_by_counts", 80, 400)
    in_shapes(case, "local", "median_by_counts", width, height, shapes("median_by_counts"),
              numbers(width * height, 64, "u1"), zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    for category, low, high in (("cache", 200, 900), ("stream", 3_000, 5_000)):
        width, height = (drawn(f"{side} of homography_view {category}", low, high) for side in ("width", "height"))
        in_shapes(case, category, "homography_view", width, height,
                  shapes("homography_view") if category == "cache" else ((16, 16),),
                  numbers(width * height, 256, "u1"), Drawn("view", "f4", 9, width), zeros(width * height), i(width),
                  i(height))  # fmt: skip
    for category, low, high in (("beginner", 30_000, 300_000), ("stream", 8_000_000, 20_000_000)):
        n = drawn(f"packed_565 {category}", low, high)
        spread(case, category, "packed_565", n, some("packed_565") if category == "beginner" else 256,
               numbers(3 * n, 256, "u1"), zeros(n, "u2"), i(n))  # fmt: skip
    width, height = drawn("width of mosaic_means", 200, 1_500), drawn("height of mosaic_means", 200, 1_500)
    for x, y in ((8, 8), (16, 16), (32, 16)):
        case("atomics", "mosaic_means", (up(width, x), up(height, y)), (x, y), numbers(width * height, 256, "u1"),
             zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    for category, low, high in (("sfu", 20_000, 200_000), ("stream", 6_000_000, 9_000_000)):
        n = drawn(f"tone_mapped {category}", low, high)
        spread(case, category, "tone_mapped", n, some("tone_mapped") if category == "sfu" else 192, unit(3 * n, high=9),
               zeros(3 * n, "u1"), i(n), f(0.3), f(4))  # fmt: skip
    width, height = drawn("width of local_contrasts", 200, 900), drawn("height of local_contrasts", 200, 900)
    for x, y in shapes("local_contrasts"):
        case("shared", "local_contrasts", (up(width, x), up(height, y)), (x, y), numbers(width * height, 256, "u1"),
             zeros(width * height), i(width), i(height), smem=(x + 6) * (y + 6), series="local_contrasts")  # fmt: skip


def _spectra(case: Any) -> None:
    for category, low, high in (("sfu", 20_000, 200_000), ("stream", 6_000_000, 9_000_000)):
        signals, half = drawn(f"real_halves {category}", low, high) // 500, 500
        spread(case, category, "real_halves", signals * half, some("real_halves") if category == "sfu" else 320,
               normal(2 * signals * half), zeros(2 * signals * half), i(signals), i(half))  # fmt: skip
    for category, low, high in (("fma", 10_000, 90_000), ("stream", 700_000, 1_500_000)):
        n = drawn(f"fourier_of_12 {category}", low, high)
        spread(case, category, "fourier_of_12", n, some("fourier_of_12") if category == "fma" else 128, normal(24 * n),
               zeros(24 * n), i(n))  # fmt: skip
    grid, length = drawn("hartley_rows", 100, 900), drawn("length of hartley_rows", 100, 600)
    within(case, "shared", "hartley_rows", grid, some("hartley_rows"), normal(grid * length), zeros(grid * length),
           i(length), smem=8 * length)  # fmt: skip


def _groups(case: Any) -> None:
    n, block = drawn("tile_prefix", 50_000, 400_000), one("tile_prefix")
    for size in (4, 8, 16, 32):
        case("groups", f"tile_prefix<{size}>", up(n, block), block, numbers(n, 1 << 30), zeros(n, "i4"), i(n),
             series="tile_prefix")  # fmt: skip
    for category, low, high in (("shuffle", 500, 3_000), ("stream", 9_000, 20_000)):
        n = drawn(f"lanes_transposed {category}", low, high)
        spread(case, category, "lanes_transposed", 32 * n, some("lanes_transposed") if category == "shuffle" else 96,
               numbers(1_024 * n, 1 << 32, "u4"), zeros(1_024 * n, "u4"), i(n))  # fmt: skip
    rows, length = drawn("redux_digests", 2_000, 15_000), drawn("length of redux_digests", 100, 700)
    spread(case, "reduce", "redux_digests", 32 * rows, some("redux_digests"), numbers(rows * length, 1 << 32, "u4"),
           zeros(3 * rows, "u4"), i(rows), i(length))  # fmt: skip
    grid, part = 4 * drawn("smoothed_rings", 20, 120), drawn("part of smoothed_rings", 300, 2_500)
    within(case, "clusters", "smoothed_rings", grid, some("smoothed_rings"), normal(grid * part), zeros(grid * part),
           i(part), i(40), smem=8 * part)  # fmt: skip


def _copies(case: Any) -> None:
    n, tiles = drawn("async_similar", 3_000, 30_000), drawn("tiles of async_similar", 8, 60)
    spread(case, "async", "async_similar", n, some("async_similar", most=512), unit(16 * n), unit(1_024 * tiles),
           zeros(n, "i4"), i(n), i(tiles))  # fmt: skip
    for category, low, high in (("async", 8, 30), ("stream", 100, 160)):
        wide, high = (drawn(f"{side} of async_transposed {category}", low, high) for side in ("width", "height"))
        within(case, category, "async_transposed", (wide, high),
               some("async_transposed", most=512) if category == "async" else 256, normal(1_024 * wide * high),
               zeros(1_024 * wide * high), i(32 * wide), i(32 * high))  # fmt: skip


def _more_atomics(case: Any) -> None:
    for name, labels in (("few", 12), ("many", drawn("labels of labelled_extents", 5_000, 90_000))):
        n = drawn(f"labelled_extents {name}", 20_000, 200_000)
        spread(case, "atomics", "labelled_extents", n, some("labelled_extents") if name == "many" else 128,
               numbers(2 * n, 1_000_000), numbers(n, labels), zeros(2 * labels, "i4"), zeros(2 * labels, "i4"),
               i(n))  # fmt: skip
    n, doors = drawn("seats_in_turn", 20_000, 200_000), drawn("doors of seats_in_turn", 100, 2_000)
    spread(case, "atomics", "seats_in_turn", n, some("seats_in_turn"), numbers(n, doors), zeros(doors, "u4"),
           zeros(9 * doors, "i4"), i(n), i(9))  # fmt: skip
    for bits in (12, 20):
        n = round(0.7 * 2**bits)
        spread(
            case,
            "atomics",
            "distinct_keys",
            n if bits == 20 else 9 * n,
            some("distinct_keys") if bits == 20 else 192,
            numbers(n if bits == 20 else 9 * n, n, "u4"),
            Drawn("full table", "u4", 1 << bits, n),
            zeros(1, "i4"),
            i(n if bits == 20 else 9 * n),
            u((1 << bits) - 1),
        )


def _more_networks(case: Any) -> None:
    for name, rows in (("small", drawn("rows of factor_machine", 500, 9_000)), ("large", 1_500_000)):
        samples, count = drawn(f"factor_machine {name}", 3_000, 20_000), drawn(f"fields {name}", 8, 40)
        spread(case, "cache" if name == "small" else "stream", "factor_machine", 32 * samples,
               some("factor_machine") if name == "small" else 256, normal(32 * rows), numbers(samples * count, rows),
               zeros(samples), i(samples), i(count))  # fmt: skip
    samples, units = drawn("gated_units", 20, 120), drawn("units of gated_units", 100, 400)
    for block in some("gated_units", most=384):
        case("cache", "gated_units", (up(units, block), samples), block, normal(samples * units),
             normal(3 * units * units), zeros(samples * units), i(samples), i(units), series="gated_units")  # fmt: skip
    for category, rows, columns in (("reduce", drawn("row_scaled_steps", 200, 1_200), 1_501), ("stream", 3_000, 5_000)):
        within(case, category, "row_scaled_steps", rows, some("row_scaled_steps") if category == "reduce" else 512,
               normal(rows * columns), normal(rows * columns, high=2), unit(rows), i(columns), f(0.01))  # fmt: skip
    for category, low, high in (("constant", 20_000, 90_000), ("stream", 900_000, 1_500_000)):
        n = drawn(f"sphere_colours {category}", low, high)
        spread(case, category, "sphere_colours", n, some("sphere_colours") if category == "constant" else 128,
               normal(3 * n), normal(27 * n), zeros(3 * n), i(n))  # fmt: skip


def _codes_and_tapes(case: Any) -> None:
    for rounds in (200, 900, 3_000):
        n, turns = drawn(f"written_rounds {rounds}", 5_000, 60_000), drawn(f"turns of written_rounds {rounds}", 2, 6)
        spread(
            case,
            "code",
            f"written_rounds<{rounds}>",
            n,
            some("written_rounds") if rounds == 3_000 else one(f"{rounds}"),
            numbers(n, 1 << 32, "u4"),
            zeros(n, "u4"),
            i(n),
            i(turns),
        )
    n, limit = drawn("tape_machines", 5_000, 40_000), drawn("limit of tape_machines", 60, 300)
    spread(case, "local", "tape_machines", n, some("tape_machines"), numbers(10 * n, 21, "u1"), zeros(n, "i4"), i(n),
           i(limit))  # fmt: skip
    n, events = drawn("event_heaps", 3_000, 20_000), drawn("events of event_heaps", 40, 200)
    spread(case, "local", "event_heaps", n, some("event_heaps"), zeros(n, "u4"), i(n), i(27), i(events), u(4))


def _first_programs(case: Any) -> None:
    n = drawn("distance_table", 200, 900)
    in_shapes(case, "beginner", "distance_table", n, n, shapes("distance_table"), normal(2 * n), zeros(n * n), i(n))
    n = drawn("count_vowels", 30_000, 300_000)
    within(case, "beginner", "count_vowels", 64, some("count_vowels"), Drawn("letters", "u1", n), zeros(1, "i4"), i(n))
    n, first = drawn("divisor_sums", 10_000, 90_000), drawn("first of divisor_sums", 1_000, 90_000)
    spread(case, "beginner", "divisor_sums", n, some("divisor_sums"), zeros(n, "i4"), i(n), i(first))
    n, count = drawn("segment_distances", 2_000, 15_000), drawn("count of segment_distances", 200, 1_500)
    spread(case, "shared", "segment_distances", n, some("segment_distances"), normal(2 * n), normal(4 * count),
           zeros(n), i(n), i(count), smem=lambda block: 16 * block)  # fmt: skip


def _few(case: Any) -> None:
    case(
        "tiny", "cumulative_rows", 1, one("tiny sums", least=128), numbers(30_001, 100), zeros(30_001, "i4"), i(30_001)
    )
    case("tiny", "delta_rule_heads", 1, 32, *(unit(32 * 300, high=h) for h in (1, 2, 3)), zeros(32 * 300), i(1), i(300),
         f(0.02))  # fmt: skip
    case("tiny", "orbit_leaps", 2, 64, unit(128, "f8"), zeros(128, "f8"), i(128), i(250), ("f8", 0.01))
    case("tiny", "kth_by_halving", 3, 256, numbers(3 * 8_191, 1 << 20), zeros(3, "i4"), i(8_191), i(700))
    case("tiny", "event_heaps", 1, 64, zeros(50, "u4"), i(50), i(32), i(300), u(4))
    case("tiny", "key_value_bitonic", 1, 512, numbers(1_024, 1 << 32, "u4"), zeros(1_024, "u4"), zeros(1_024, "u4"))


def _uneven(case: Any) -> None:
    n = 134 * 1_024
    case("tail", "four_word_streams", 134, 1_024, zeros(n, "u8"), i(n), i(100))
    n = 265 * 1_024 - 700
    case("tail", "dimer_swings", 265, 1_024, unit(n), zeros(n), i(n), i(150), f(0.05))
    grid = 5_000 + drawn("blocks of packed_565", 5, 900)
    case("blocks", "packed_565", grid, 32, numbers(96 * grid, 256, "u1"), zeros(32 * grid, "u2"), i(32 * grid))
    for smem in (110 << 10, 60 << 10, 30 << 10):
        n = drawn(f"low occupancy {smem}", 30_000, 90_000)
        case(
            "occupancy",
            "knock_out_options",
            up(n, 128),
            128,
            zeros(n),
            i(n),
            i(60),
            f(0.0005),
            f(0.02),
            f(0.25),
            u(9),
            smem=smem,
        )
        n = drawn(f"low occupancy of rotations {smem}", 20_000, 60_000)
        case("occupancy", "polar_rotations", up(n, 192), 192, unit(9 * n), zeros(9 * n), i(n), i(5), smem=smem)
