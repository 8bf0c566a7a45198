"""A twenty-fifth set of launches for the timing model: other kernels than those of the twenty-four sets before it, as
students and engineers write them, by an author who saw neither the model nor an estimate. It is small, so that a GPU
measures it soon. Sizes and block sizes are drawn at random, by seeds from names. A series has the same work in blocks
of five sizes; the other kernels run in blocks of one or two sizes. At most a third of the launches are bound by DRAM.
They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import lists, normal, unit
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.twenty_first_cases import BLOCKS, POWERS, SHAPES, WORD
from tests.hardware.twenty_fourth_cases import ROUND
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twenty_fifth.cu"
FILE = "twenty_fifth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twenty-fifth, {name}").random())


def five(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Five block sizes from ``least`` to ``most`` at random, multiples of 32, by a seed from ``name``."""
    rng = Random(f"twenty-fifth, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 5 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, 5)))


def some(name: str, count: int = 1, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """``count`` block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"twenty-fifth, some blocks of {name}")
    return tuple(sorted(rng.sample([b for b in BLOCKS if least <= b <= most], count)))


def round_size(name: str) -> int:
    """A block size at random that is no multiple of 32, by a seed from ``name``."""
    return Random(f"twenty-fifth, round block of {name}").choice(ROUND)


def shape(name: str) -> tuple[tuple[int, int]]:
    """A shape of blocks at random, by a seed from ``name``."""
    return (Random(f"twenty-fifth, shape of {name}").choice(SHAPES),)


def _search_tree(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A search tree of ``size`` / 4 keys below ``high``, as keys in an order at random make it.

    A node has (left, right, how many nodes it and those below it are, key); -1 stands for no node. Number 0 is the
    root; all others lie in an order at random.
    """
    count = size // 4
    left, right, before, after = (np.full(count, fill) for fill in (-1, -1, -1, count))
    # Of all nodes of a part of the tree the first inserted one is the highest.
    inserted = rng.permutation(count)
    open_: list[int] = []
    for k, time in enumerate(inserted):
        while open_ and inserted[open_[-1]] > time:
            left[k] = open_.pop()
            after[left[k]] = k
        if open_:
            before[k] = open_[-1]
            right[open_[-1]] = k
        open_.append(k)
    place = rng.permutation(count)
    root, first = open_[0], int(np.flatnonzero(place == 0)[0])
    place[[root, first]] = place[[first, root]]
    found = np.empty((count, 4), "i4")
    found[place, 0] = np.where(left < 0, -1, place[left])
    found[place, 1] = np.where(right < 0, -1, place[right])
    found[place, 2] = after - before - 1
    found[place, 3] = np.sort(rng.integers(0, high, count))
    return found


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "search tree": _search_tree,
    "sorted": lambda size, high, rng: np.sort(rng.integers(0, high, size)),
}


class Given(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches((_blocks, _warps, _atomics, _texts, _integers, _graphs, _physics, _pictures, _networks, _streams))


def profiled() -> list[TimingCase]:
    """The launches whose stalls are recorded: of each kernel every second one, or its only one."""
    return every_second(cases())


def every_second(given: Iterable[TimingCase]) -> list[TimingCase]:
    """Of the launches of each kernel the second one, the fourth one and so on, or its only one."""
    by_kernel: dict[str, list[TimingCase]] = {}
    for case in given:
        by_kernel.setdefault(case.kernel, []).append(case)
    return [case for found in by_kernel.values() for case in found[1::2] or found]


def _blocks(case: Any) -> None:
    grid = drawn("hysteresis_edges", 100, 1_200)
    within(case, "barrier", "hysteresis_edges", grid, some("hysteresis_edges"), numbers(1_024 * grid, 256, "u1"),
           zeros(1_024 * grid, "u1"), i(140), i(250))  # fmt: skip
    grid, points = drawn("flame_fronts", 60, 600), drawn("points of flame_fronts", 250, 700)
    within(case, "barrier", "flame_fronts", grid, five("flame_fronts"), unit(grid * points), zeros(grid * points),
           i(points), i(drawn("steps of flame_fronts", 40, 160)), f(0.02), smem=8 * points)  # fmt: skip
    grid, bits = drawn("superset_totals", 100, 900), drawn("bits of superset_totals", 9, 11)
    within(case, "shared", "superset_totals", grid, five("superset_totals"), numbers(grid << bits, 1_000),
           zeros(grid << bits, "i4"), i(bits), smem=4 << bits)  # fmt: skip
    grid, count = drawn("burst_balloons", 60, 500), drawn("count of burst_balloons", 40, 64)
    within(case, "barrier", "burst_balloons", grid, some("burst_balloons", most=512), numbers(grid * count, 100, "u1"),
           zeros(grid, "i4"), i(count), smem=4 * (count + 2) ** 2)  # fmt: skip
    grid, features = drawn("face_features", 40, 400), drawn("features of face_features", 1_000, 8_000)
    within(case, "occupancy", "face_features", grid, some("face_features", 2), numbers(16_384 * grid, 256, "u1"),
           zeros(grid * features, "i4"), i(features), smem=129 * 128 * 4)  # fmt: skip
    n = drawn("rank_directory", 50_000, 500_000)
    spread(case, "scan", "rank_directory", n, some("rank_directory"), numbers(n, WORD, "u4"), zeros(n, "i4"),
           zeros(n // 32 + 1, "i4"), i(n))  # fmt: skip
    n = drawn("ordered_peaks", 5_000, 30_000)
    within(case, "few", "ordered_peaks", 1, some("ordered_peaks", least=128), numbers(n, 9_000), zeros(n, "i4"),
           zeros(1, "i4"), i(n))  # fmt: skip
    grid, tiles = drawn("streamed_slopes", 60, 200), drawn("tiles of streamed_slopes", 3, 8)
    within(case, "async", "streamed_slopes", grid, some("streamed_slopes"), unit(1_024 * grid * tiles), zeros(grid),
           i(tiles))  # fmt: skip


def _warps(case: Any) -> None:
    n = drawn("bit_matrix_squares", 1_000, 20_000)
    spread(case, "warps", "bit_matrix_squares", 32 * n, five("bit_matrix_squares"), numbers(32 * n, WORD, "u4"),
           zeros(32 * n, "u4"), i(n), i(drawn("rounds of bit_matrix_squares", 8, 40)))  # fmt: skip
    n = drawn("weighted_medians", 1_000, 15_000)
    spread(case, "warps", "weighted_medians", 32 * n, some("weighted_medians"), numbers(32 * n, 1 << 20),
           numbers(32 * n, 256, "u1"), zeros(n, "i4"), i(n))  # fmt: skip
    n = drawn("shared_exponents", 2_000, 12_000)
    spread(case, "warps", "shared_exponents", 32 * n, some("shared_exponents"), normal(32 * n), zeros(32 * n, "i1"),
           zeros(n, "u1"), i(n))  # fmt: skip
    rows, splits = drawn("combined_splits", 100, 800), drawn("splits of combined_splits", 4, 16)
    depth = 32 * drawn("depth of combined_splits", 2, 4)
    spread(case, "attention", "combined_splits", 32 * rows, some("combined_splits"), normal(rows * splits * depth),
           normal(rows * splits), zeros(rows * depth), i(rows), i(splits), i(depth))  # fmt: skip
    n = drawn("product_row_sizes", 800, 8_000)
    spread(case, "sparse", "product_row_sizes", 32 * n, some("product_row_sizes", 2, most=320), *lists(n, 4),
           zeros(n, "i4"), i(n), smem=lambda block: 64 * block)  # fmt: skip
    n = drawn("patient_alarms", 3_000, 30_000)
    case("blocks", "patient_alarms", n, 32, numbers(32 * n, 256, "u1"), zeros(n, "i4"))
    n = drawn("dct_by_mma", 500, 4_000)
    spread(case, "tensor", "dct_by_mma", 32 * n, some("dct_by_mma"), normal(256 * n, "f2"), normal(256, "f2"),
           zeros(256 * n), i(n))  # fmt: skip


def _atomics(case: Any) -> None:
    n, bins = drawn("spike_lag_counts", 30_000, 200_000), drawn("bins of spike_lag_counts", 20, 500)
    near = drawn("near of spike_lag_counts", 8, 40)
    spread(case, "atomics", "spike_lag_counts", n, five("spike_lag_counts"), Given("sorted", "u4", n, 50 * n),
           zeros(bins, "i4"), i(n), u(50 * near), i(bins), smem=4 * bins)  # fmt: skip
    n = drawn("trained_counts", 20_000, 120_000)
    spread(case, "atomics", "trained_counts", n, some("trained_counts", 2), numbers(n, WORD, "u4"), zeros(320, "i4"),
           i(n))  # fmt: skip
    side, angles = drawn("radon_shadows", 60, 200), drawn("angles of radon_shadows", 20, 48)
    spread(case, "atomics", "radon_shadows", side * side, some("radon_shadows"), unit(side * side),
           zeros(2 * side * angles + 1), i(side), i(angles))  # fmt: skip
    groups, stripes = drawn("stripe_parities", 5_000, 40_000), drawn("stripes of stripe_parities", 3, 60)
    spread(case, "atomics", "stripe_parities", drawn("threads of stripe_parities", 20_000, 100_000),
           some("stripe_parities"), numbers(32 * groups, WORD, "u4"), zeros(stripes, "u4"), i(groups),
           i(stripes))  # fmt: skip
    n = drawn("touching_discs", 2_000, 10_000)
    spread(case, "atomics", "touching_discs", n, some("touching_discs"), numbers(3 * n, 1 << 14),
           zeros(1 << 16, "u4"), zeros(1, "i4"), i(n), i(1 << 16))  # fmt: skip
    n = drawn("close_birthdays", 3_000, 10_000)
    spread(case, "tail", "close_birthdays", n, some("close_birthdays"), numbers(n, 365, "u2"), zeros(1, "i4"),
           i(n))  # fmt: skip


def _texts(case: Any) -> None:
    n, length = drawn("lyndon_factors", 5_000, 60_000), drawn("length of lyndon_factors", 30, 100)
    spread(case, "divergence", "lyndon_factors", n, five("lyndon_factors"), numbers(n * length, 2, "u1"),
           zeros(n, "i4"), i(n), i(length))  # fmt: skip
    n, moves = drawn("cascading_gems", 10_000, 150_000), drawn("moves of cascading_gems", 20, 63)
    spread(case, "local", "cascading_gems", n, some("cascading_gems"), numbers(n * moves, 3, "u1"), zeros(n, "i4"),
           i(n), i(moves))  # fmt: skip


def _integers(case: Any) -> None:
    n = drawn("lychrel_steps", 10_000, 100_000)
    spread(case, "int64", "lychrel_steps", n, round_size("lychrel_steps"), numbers(n, WORD, "u4"), zeros(n, "i4"),
           i(n), i(24))  # fmt: skip
    n = drawn("modular_roots", 5_000, 60_000)
    spread(case, "int64", "modular_roots", n, some("modular_roots"), numbers(n, WORD, "u4"), zeros(n, "u4"), i(n))
    n = drawn("remedians", 3_000, 30_000)
    spread(case, "bytes", "remedians", n, round_size("remedians"), numbers(125 * n, 256, "u1"), zeros(n, "u1"), i(n))
    n = drawn("fenced_pastures", 50_000, 600_000)
    spread(case, "constant", "fenced_pastures", n, some("fenced_pastures"), numbers(2 * n, 1_024, "u2"),
           zeros(n, "u1"), i(n))  # fmt: skip
    n = drawn("hashed_gates", 20_000, 200_000)
    spread(case, "fetch", "hashed_gates", n, some("hashed_gates"), numbers(n, WORD, "u4"), zeros(n, "u4"), i(n))


def _graphs(case: Any) -> None:
    n = drawn("many_source_step", 20_000, 200_000)
    spread(case, "cache", "many_source_step", n, five("many_source_step"),
           *lists(n, drawn("mean of many_source_step", 6, 20)), numbers(n, WORD, "u4"), numbers(n, 1 << 31, "u4"),
           zeros(n, "u4"), i(n))  # fmt: skip
    n, nodes = drawn("kth_in_tree", 5_000, 60_000), drawn("nodes of kth_in_tree", 10_000, 100_000)
    spread(case, "latency", "kth_in_tree", n, five("kth_in_tree"), Given("search tree", "i4", 4 * nodes, 1 << 30),
           numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))  # fmt: skip


def _physics(case: Any) -> None:
    n, comers = drawn("secretary_hires", 2_000, 40_000), drawn("comers of secretary_hires", 30, 100)
    spread(case, "chance", "secretary_hires", n, some("secretary_hires"), zeros(n, "i4"), i(n),
           i(drawn("games of secretary_hires", 5, 20)), i(comers), i(round(comers / 2.718)), u(25))  # fmt: skip
    n = drawn("rasch_abilities", 10_000, 150_000)
    spread(case, "sfu", "rasch_abilities", n, five("rasch_abilities"), numbers(n, WORD, "u4"), zeros(n), i(n),
           i(drawn("turns of rasch_abilities", 5, 12)))  # fmt: skip
    n = drawn("dipole_fields", 2_000, 7_000)
    for category, count, blocks in (("fma", n, some("dipole_fields")), ("tail", 133 * 64, (64,))):
        spread(case, category, "dipole_fields", count, blocks, unit(4 * count), normal(4 * count), zeros(3 * count),
               i(count), smem=lambda block: 32 * block)  # fmt: skip
    n = drawn("double_van_der_pol", 3_000, 60_000)
    spread(case, "fp64", "double_van_der_pol", n, some("double_van_der_pol"), unit(n, "f8"), zeros(n, "f8"), i(n),
           i(drawn("steps of double_van_der_pol", 20, 100)), ("f8", 1.5), ("f8", 0.01))  # fmt: skip


def _pictures(case: Any) -> None:
    width, height = drawn("width of guided_upsampling", 200, 900), drawn("height of guided_upsampling", 200, 900)
    in_shapes(case, "image", "guided_upsampling", width, height, shape("guided_upsampling"),
              unit(-(-width // 4) * -(-height // 4)), unit(width * height), zeros(width * height), i(width),
              i(height))  # fmt: skip
    width, height = drawn("width of curvature_flow", 200, 700), drawn("height of curvature_flow", 200, 700)
    in_shapes(case, "stencil", "curvature_flow", width, height, shape("curvature_flow"), unit(width * height),
              zeros(width * height), i(width), i(height), f(0.1))  # fmt: skip
    n = drawn("transposed_in_place", 400, 1_100)
    tiles = -(-n // 32)
    case("shared", "transposed_in_place", (tiles, tiles), (32, 8), unit(n * n), i(n))


def _networks(case: Any) -> None:
    channels, points = drawn("channels of response_norms", 16, 64), drawn("response_norms", 1_000, 8_000)
    (block,) = some("response_norms")
    case("sfu", "response_norms", (-(-points // block), channels), block, normal(channels * points, high=3),
         zeros(channels * points), i(channels), i(points))  # fmt: skip
    side, pairs = drawn("bf16_pooled", 20, 70), drawn("pairs of bf16_pooled", 32, 128)
    n = ((side - 1) // 2) ** 2 * pairs
    spread(case, "half", "bf16_pooled", n, some("bf16_pooled"), numbers(2 * side * side * pairs, 0x4000, "u2"),
           zeros(2 * n, "u2"), i(side), i(pairs))  # fmt: skip
    n = drawn("half_complex_walks", 20_000, 250_000)
    spread(case, "half", "half_complex_walks", n, round_size("half_complex_walks"), unit(2 * n, "f2"),
           unit(2 * n, "f2"), zeros(2 * n, "f2"), i(n), i(drawn("steps of half_complex_walks", 60, 300)))  # fmt: skip
    rows, bins = drawn("chi_square_pairs", 150, 500), drawn("bins of chi_square_pairs", 60, 250)
    tiles = -(-rows // 16)
    case("division", "chi_square_pairs", (tiles, tiles), (16, 16), unit(rows * bins), zeros(rows * rows), i(rows),
         i(bins))  # fmt: skip


def _streams(case: Any) -> None:
    n = drawn("log_returns", 4_000_000, 12_000_000)
    spread(case, "stream", "log_returns", n, round_size("log_returns"), unit(n + 1), zeros(n), i(n))
    n = drawn("adagrad_step", 2_000_000, 8_000_000)
    spread(case, "stream", "adagrad_step", drawn("threads of adagrad_step", 100_000, 270_000), some("adagrad_step"),
           normal(n), unit(n), normal(n, high=2), i(n), f(0.01))  # fmt: skip
    rows, quads = drawn("dequantised_rows", 2_000, 8_000), drawn("quads of dequantised_rows", 200, 1_000)
    within(case, "stream", "dequantised_rows", rows, some("dequantised_rows"), numbers(4 * rows * quads, 128, "i1"),
           unit(rows), zeros(4 * rows * quads), i(quads))  # fmt: skip
