"""A twenty-first set of launches for the timing model: other kernels than those of the twenty sets before it, as
learners and engineers write them, by an author who saw neither the model nor an estimate. Sizes and block sizes are
drawn at random, by seeds from names; most kernels run with the same work in blocks of four to six sizes. At most a
third of the launches are bound by DRAM. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import lists, normal, skewed, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twenty_first.cu"
FILE = "twenty_first.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What block sizes are drawn from: two of three series take powers of two, as most programs do.
POWERS = (32, 64, 128, 256, 512, 1_024)
BLOCKS = (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 448, 480, 512, 576, 640, 736, 768, 896, 960, 1_024)
#: What shapes of blocks are drawn from.
SHAPES = (
    (8, 4),
    (8, 8),
    (16, 4),
    (16, 8),
    (16, 16),
    (32, 1),
    (32, 2),
    (32, 4),
    (32, 6),
    (32, 8),
    (32, 16),
    (32, 32),
    (64, 2),
    (64, 4),
    (64, 8),
    (128, 1),
    (128, 2),
    (256, 1),
)
WORD = 1 << 32


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twenty-first, {name}").random())


def _how_many(rng: Random) -> int:
    return rng.choice((4,) * 14 + (5, 6))


def sizes(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Four to six block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"twenty-first, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 6 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, _how_many(rng))))


def shapes(name: str) -> tuple[tuple[int, int], ...]:
    """Four to six shapes of blocks at random, by a seed from ``name``."""
    rng = Random(f"twenty-first, shapes of {name}")
    return tuple(sorted(rng.sample(SHAPES, _how_many(rng))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"twenty-first, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def side(name: str, low: int, high: int) -> tuple[int, int]:
    """Width and height of a picture at random, by seeds from ``name``."""
    return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)


def _escapes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Digits and letters to "f"; at one of ``high`` places that multiples of 3 have, a % sign stands."""
    found = rng.choice([*b"0123456789abcdef"], size)
    starts = 3 * rng.choice(size // 3, size // (3 * high), replace=False)
    found[starts] = ord("%")
    return found


def _least_ones(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The least ones of stretches of 1, 2, 4.. of ``high`` numbers; a row per length, the last places are repeated."""
    rows = [rng.integers(0, 1 << 20, high)]
    for level in range(size // high - 1):
        far = 1 << level
        rows.append(np.minimum(rows[-1], np.append(rows[-1][far:], np.repeat(rows[-1][-1:], min(far, high)))[:high]))
    return np.stack(rows)


def _graph(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The matrix of a graph as bits of halves; one of ``high`` pairs is connected."""
    n = round(size**0.5)
    edges = np.triu(rng.integers(0, high, (n, n)) == 0, 1)
    return (edges | edges.T) * 0x3C00


def _moves(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A square matrix of chances, whose rows sum up to 1; the higher ``high``, the fewer large ones."""
    n = round(size**0.5)
    found = rng.random((n, n)) ** high
    return found / found.sum(axis=1, keepdims=True)


def _covariances(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A covariance matrix from ``high`` days."""
    n = round(size**0.5)
    days = rng.normal(size=(high, n)) + 0.5 * rng.normal(size=(high, 1))
    return days.T @ days / high


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "cars": lambda size, high, rng: (rng.integers(0, high, size) < 4) * rng.integers(1, 3, size),
    "tracks": lambda size, high, rng: np.cumsum(rng.normal(0, high, (size // 2, 2)), axis=0),
    "words": lambda size, high, rng: rng.zipf(1.4, (size, 5)) % high @ (1 << 5 * np.arange(5)),
    "shuffled bytes": lambda size, high, rng: rng.permutation(high),
    "smooth levels": lambda size, high, rng: 128 + np.clip(np.cumsum(rng.integers(-high, high + 1, size)), -120, 120),
    "long words": lambda size, high, rng: rng.integers(0, 1 << 64, size, "u8"),
    "unit halves": lambda size, high, rng: (high * rng.random(2 * size)).astype("f2").view("u4"),
    "prices": lambda size, high, rng: np.exp(rng.normal(0, 0.01 * high, size)),
    "escapes": _escapes,
    "least ones": _least_ones,
    "graph": _graph,
    "moves": _moves,
    "covariances": _covariances,
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
            _decks_and_streets,
            _implicit,
            _nets_and_projects,
            _uneven,
            _waves,
            _colours,
            _sums_by_atomics,
            _paths,
            _functions,
            _pictures,
            _codes,
            _numbers,
            _warps,
            _private,
            _games,
            _geometry,
            _doubles,
            _halves,
            _programs,
            _gathers,
            _finance,
            _copies,
            _clusters,
            _first_programs,
        )
    )


def _decks_and_streets(case: Any) -> None:
    rows, cards = drawn("perfect_riffles", 150, 1_500), drawn("cards of perfect_riffles", 300, 2_400)
    within(case, "shared", "perfect_riffles", rows, sizes("perfect_riffles"), numbers(rows * cards, 1_000),
           zeros(rows * cards, "i4"), i(cards), i(drawn("turns of perfect_riffles", 15, 50)),
           smem=8 * cards)  # fmt: skip
    case("few", "perfect_riffles", 3, 192, numbers(3 * 900, 1_000), zeros(2_700, "i4"), i(900), i(40), smem=7_200)
    rows, width = drawn("crossing_jams", 200, 1_500), drawn("side of crossing_jams", 20, 56)
    within(case, "barrier", "crossing_jams", rows, sizes("crossing_jams"), Given("cars", "u1", rows * width**2, 10),
           zeros(rows, "i4"), i(width), i(drawn("turns of crossing_jams", 8, 24)), smem=2 * width**2)  # fmt: skip


def _implicit(case: Any) -> None:
    rows, width = drawn("implicit_heat", 130, 900), drawn("side of implicit_heat", 30, 90)
    within(case, "shared", "implicit_heat", rows, sizes("implicit_heat", most=256), normal(rows * width**2),
           zeros(rows * width**2), i(width), i(drawn("turns of implicit_heat", 3, 8)), f(0.4),
           smem=4 * width**2)  # fmt: skip
    case("shared", "implicit_heat", 264, 64, normal(264 * 64**2), zeros(264 * 64**2), i(64), i(4), f(0.4), smem=16_384)
    rows, levels = drawn("string_v_cycles", 130, 1_500), 9
    within(case, "barrier", "string_v_cycles", rows, sizes("string_v_cycles"), normal(rows << levels),
           zeros(rows << levels), i(levels), i(drawn("turns of string_v_cycles", 3, 8)),
           smem=12 * ((2 << levels) + levels + 1))  # fmt: skip
    case("few", "string_v_cycles", 1, 512, normal(1 << 10), zeros(1 << 10), i(10), i(4), smem=12 * (2_048 + 11))


def _nets_and_projects(case: Any) -> None:
    rows, n = drawn("shortest_nets", 130, 1_200), drawn("points of shortest_nets", 50, 200)
    within(case, "barrier", "shortest_nets", rows, sizes("shortest_nets", most=512), unit(2 * rows * n), zeros(rows),
           i(n), smem=12 * n)  # fmt: skip
    case("few", "shortest_nets", 7, 128, unit(2 * 7 * 300), zeros(7), i(300), smem=3_600)
    rows, tasks = drawn("project_ends", 130, 1_500), drawn("tasks of project_ends", 300, 1_400)
    within(case, "division", "project_ends", rows, sizes("project_ends"), numbers(3 * rows * tasks, WORD, "u4"),
           numbers(rows * tasks, 60, "u1"), zeros(rows * tasks, "i4"), i(tasks), smem=8 * tasks)  # fmt: skip


def _uneven(case: Any) -> None:
    rows, mean = drawn("order_gradients", 300, 2_500), drawn("mean of order_gradients", 30, 80)
    within(case, "tail", "order_gradients", rows, sizes("order_gradients", most=640), skewed(rows, mean),
           normal(rows * mean), numbers(rows * mean, 1_000), zeros(rows * mean))  # fmt: skip
    rows, mean = drawn("thinned_tracks", 100, 900), drawn("mean of thinned_tracks", 60, 200)
    within(case, "tail", "thinned_tracks", rows, sizes("thinned_tracks", most=640), skewed(rows, mean),
           Given("tracks", "f4", 2 * rows * mean, 1), zeros(rows * mean, "u1"), f(2.0))  # fmt: skip


def _waves(case: Any) -> None:
    rows, n = drawn("particle_waves", 132, 1_200), drawn("length of particle_waves", 200, 800)
    within(case, "barrier", "particle_waves", rows, sizes("particle_waves"), unit(rows * n), zeros(rows * n), i(n),
           i(drawn("turns of particle_waves", 20, 60)), f(0.2), smem=12 * n)  # fmt: skip
    case("few", "particle_waves", 5, 320, unit(5 * 640), zeros(5 * 640), i(640), i(100), f(0.2), smem=7_680)
    rows, units = drawn("reservoir_states", 130, 1_200), drawn("units of reservoir_states", 60, 180)
    steps = drawn("steps of reservoir_states", 8, 25)
    within(case, "cache", "reservoir_states", rows, sizes("reservoir_states", most=384),
           Given("moves", "f4", units**2, 4), normal(rows * steps), zeros(rows * units), i(units), i(steps),
           smem=8 * units)  # fmt: skip


def _colours(case: Any) -> None:
    rows, n = drawn("guess_partitions", 200, 2_000), drawn("words of guess_partitions", 800, 3_000)
    within(case, "atomics", "guess_partitions", rows, sizes("guess_partitions"), Given("words", "u4", rows, 20),
           Given("words", "u4", n, 26), zeros(2 * rows, "i4"), i(n))  # fmt: skip
    n = drawn("hue_wheel", 300_000, 2_000_000)
    spread(case, "atomics", "hue_wheel", drawn("threads of hue_wheel", 30_000, 130_000), sizes("hue_wheel"),
           numbers(n, WORD, "u4"), zeros(72, "u4"), i(n))  # fmt: skip
    n, threads = drawn("photon_layers", 100_000, 800_000), drawn("threads of photon_layers", 20_000, 130_000)
    layers = drawn("layers of photon_layers", 20, 60)
    spread(case, "divergence", "photon_layers", threads, sizes("photon_layers"), zeros(layers + 2, "u4"), i(n),
           i(layers), f(0.9), u(4), smem=4 * (layers + 2))  # fmt: skip


def _sums_by_atomics(case: Any) -> None:
    n, cells = drawn("mixed_cells", 80_000, 500_000), 3 * drawn("cells of mixed_cells", 2_000, 60_000)
    spread(case, "atomics", "mixed_cells", drawn("threads of mixed_cells", 20_000, 150_000), sizes("mixed_cells"),
           numbers(n, WORD, "u4"), zeros(cells, "u4"), zeros(cells, "u4"), zeros(cells, "u8"), i(n),
           i(cells))  # fmt: skip
    n = 40_000
    spread(case, "atomics", "mixed_cells", n, 128, numbers(n, WORD, "u4"), zeros(60, "u4"), zeros(60, "u4"),
           zeros(60, "u8"), i(n), i(60))  # fmt: skip
    n = drawn("corner_forces", 60_000, 400_000)
    spread(case, "atomics", "corner_forces", n, one("corner_forces"), numbers(4 * n, n // 2), numbers(3 * n, 1_000),
           zeros(3 * n // 2, "f8"), i(n))  # fmt: skip
    n, mean = drawn("heaviest_offers", 6_000, 40_000), drawn("mean of heaviest_offers", 20, 80)
    spread(case, "atomics", "heaviest_offers", 32 * n, sizes("heaviest_offers"), *lists(n, mean), zeros(n, "u8"), i(n))


def _paths(case: Any) -> None:
    n = drawn("adaptive_orbits", 8_000, 80_000)
    spread(case, "divergence", "adaptive_orbits", n, sizes("adaptive_orbits", most=512), unit(2 * n), zeros(4 * n),
           i(n), f(3.0), f(0.001))  # fmt: skip
    n, samples = drawn("ladder_voices", 8_000, 60_000), drawn("samples of ladder_voices", 20, 60)
    spread(case, "latency", "ladder_voices", n, sizes("ladder_voices", most=512), normal(n * samples),
           zeros(n * samples), i(n), i(samples), f(1.5))  # fmt: skip
    case("few", "ladder_voices", 2, 64, normal(128 * 60), zeros(128 * 60), i(128), i(60), f(1.5))


def _functions(case: Any) -> None:
    n = drawn("bessel_downwards", 30_000, 300_000)
    spread(case, "latency", "bessel_downwards", n, sizes("bessel_downwards"), unit(n), zeros(n), i(n),
           i(drawn("order of bessel_downwards", 2, 9)))  # fmt: skip
    case("tiny", "bessel_downwards", 1, 32, unit(32), zeros(32), i(32), i(3))
    n = drawn("ellipsoid_distances", 60_000, 400_000)
    spread(case, "sfu", "ellipsoid_distances", n, one("ellipsoid_distances"), unit(4 * n), zeros(n), i(n))
    case("tail", "ellipsoid_distances", 133, 1_024, unit(4 * 133 * 1_024), zeros(133 * 1_024), i(133 * 1_024))
    n = drawn("colour_differences", 100_000, 600_000)
    spread(case, "sfu", "colour_differences", n, one("colour_differences"), unit(4 * n, high=90),
           unit(4 * n, high=80), zeros(n), i(n))  # fmt: skip


def _pictures(case: Any) -> None:
    width, height = side("matern_pairs", 300, 1_500)
    in_shapes(case, "sfu", "matern_pairs", width, height, ((32, 8), (8, 32)), unit(6 * width), unit(6 * height),
              zeros(width * height), i(width), i(height))  # fmt: skip
    width, height = side("vessel_strengths", 300, 1_200)
    in_shapes(case, "sfu", "vessel_strengths", width, height, shapes("vessel_strengths"),
              unit(width * height, high=50), zeros(width * height), i(width), i(height), i(3), f(0.002))  # fmt: skip
    width, height = side("shifted_means", 150, 600)
    in_shapes(case, "cache", "shifted_means", width, height, shapes("shifted_means"),
              Given("smooth levels", "u1", width * height, 9), zeros(width * height, "u1"), i(width), i(height),
              i(20))  # fmt: skip
    across, down = side("foretold_blocks", 150, 700)
    in_shapes(case, "alu", "foretold_blocks", across, down, ((16, 8),), numbers((4 * across + 4) * (4 * down + 1), 256,
              "u1"), zeros(across * down, "i4"), i(across), i(down))  # fmt: skip


def _codes(case: Any) -> None:
    n, count = drawn("decoded_range_bits", 6_000, 60_000), drawn("bits of decoded_range_bits", 100, 220)
    spread(case, "local", "decoded_range_bits", n, sizes("decoded_range_bits"), numbers(8 * n, WORD, "u4"),
           zeros(n, "u4"), i(n), i(8), i(count))  # fmt: skip
    n, words = drawn("table_digests", 20_000, 200_000), drawn("words of table_digests", 20, 80)
    spread(case, "shared", "table_digests", n, sizes("table_digests"), Given("shuffled bytes", "u1", 256, 256),
           numbers(n * words, WORD, "u4"), zeros(n, "u1"), i(n), i(words))  # fmt: skip
    n = drawn("digits_in_base", 10_000, 80_000)
    spread(case, "division", "digits_in_base", n, one("digits_in_base"), numbers(4 * n, WORD, "u4"),
           zeros(22 * n, "u1"), i(n), u(58), i(22))  # fmt: skip
    rows, length = drawn("unescaped_rows", 4_000, 40_000), 3 * drawn("length of unescaped_rows", 30, 100)
    spread(case, "warps", "unescaped_rows", 32 * rows, one("unescaped_rows"), Given("escapes", "u1", rows * length, 4),
           zeros(rows * length, "u1"), zeros(rows, "i4"), i(rows), i(length))  # fmt: skip


def _numbers(case: Any) -> None:
    n = drawn("mirror_sums", 40_000, 300_000)
    spread(case, "int64", "mirror_sums", n, sizes("mirror_sums"), zeros(n, "u1"), i(n), u(10_000), i(24))
    n = drawn("factor_digits", 30_000, 300_000)
    spread(case, "division", "factor_digits", n, one("factor_digits"), zeros(n, "u1"), i(n), u(1_000_003))
    case("tail", "factor_digits", 265, 512, zeros(265 * 512, "u1"), i(265 * 512), u(10_001))
    w, z, y, x = (drawn(f"axis {axis} of repeated_axes", 16, 48) for axis in "wzyx")
    n = w * z * y * x
    spread(case, "division", "repeated_axes", drawn("threads of repeated_axes", 30_000, 260_000),
           one("repeated_axes"), normal(n), normal(w * y), zeros(n), i(n), i(w), i(z), i(y), i(1), i(0), i(w),
           i(0))  # fmt: skip
    n = drawn("letters_of_numbers", 200_000, 1_500_000)
    spread(case, "constant", "letters_of_numbers", drawn("threads of letters_of_numbers", 30_000, 200_000),
           one("letters_of_numbers"), numbers(n, WORD, "u4"), zeros(n, "i4"), i(n))  # fmt: skip


def _warps(case: Any) -> None:
    threads = 32 * drawn("long_sums", 500, 5_000)
    spread(case, "latency", "long_sums", threads, one("long_sums"), numbers(threads + 1_024, WORD, "u4"),
           zeros(threads + 1_024, "u4"), i(drawn("turns of long_sums", 100, 600)))  # fmt: skip
    threads = 32 * drawn("long_squares", 500, 6_000)
    spread(case, "warps", "long_squares", threads, sizes("long_squares"), numbers(threads + 1_024, WORD, "u4"),
           zeros(threads + 1_024, "u4"), i(drawn("turns of long_squares", 2, 8)))  # fmt: skip
    rows, months = drawn("compound_balances", 1_500, 6_000), drawn("months of compound_balances", 120, 400)
    spread(case, "warps", "compound_balances", 32 * rows, sizes("compound_balances"), unit(rows * months),
           normal(rows * months), zeros(rows * months), i(rows), i(months))  # fmt: skip


def _private(case: Any) -> None:
    n, count = drawn("private_merges", 8_000, 60_000), drawn("count of private_merges", 24, 64)
    spread(case, "local", "private_merges", n, sizes("private_merges"), numbers(n * count, 1 << 16, "u2"),
           zeros(n * count, "u2"), i(n), i(count))  # fmt: skip
    n = drawn("bumped_tableaux", 10_000, 80_000)
    spread(case, "local", "bumped_tableaux", n, one("bumped_tableaux"), numbers(20 * n, 200, "u1"),
           zeros(2 * n, "i4"), i(n), i(20))  # fmt: skip
    n = drawn("prefix_code_costs", 10_000, 60_000)
    spread(case, "occupancy", "prefix_code_costs", n, sizes("prefix_code_costs", most=640),
           numbers(16 * n, 5_000, "u4"), zeros(n, "u4"), i(n), smem=lambda block: 64 * block)  # fmt: skip
    n = drawn("lamp_switches", 10_000, 80_000)
    spread(case, "local", "lamp_switches", n, sizes("lamp_switches"), numbers(20 * n, WORD, "u4"),
           numbers(n, WORD, "u4"), zeros(n, "i4"), i(n), i(drawn("lamps of lamp_switches", 10, 20)))  # fmt: skip


def _games(case: Any) -> None:
    n = drawn("opened_fields", 200_000, 1_000_000)
    spread(case, "int64", "opened_fields", drawn("threads of opened_fields", 30_000, 200_000), one("opened_fields"),
           Given("long words", "u8", n), Given("long words", "u8", n + 1), zeros(n, "u1"), i(n))  # fmt: skip
    n = drawn("dropped_discs", 10_000, 80_000)
    spread(case, "divergence", "dropped_discs", n, sizes("dropped_discs"), zeros(n, "i4"), i(n),
           i(drawn("games of dropped_discs", 3, 8)), u(5))  # fmt: skip
    n = drawn("ladder_games", 10_000, 80_000)
    spread(case, "constant", "ladder_games", n, one("ladder_games"), zeros(n, "i4"), i(n),
           i(drawn("games of ladder_games", 2, 8)), u(6))  # fmt: skip
    case("tail", "ladder_games", 134, 1_024, zeros(134 * 1_024, "i4"), i(134 * 1_024), i(4), u(7))


def _geometry(case: Any) -> None:
    n = drawn("valley_floors", 10_000, 80_000)
    spread(case, "divergence", "valley_floors", n, sizes("valley_floors"), normal(2 * n), zeros(2 * n), i(n), i(60))
    n, count = drawn("curve_distances", 5_000, 50_000), drawn("curves of curve_distances", 12, 40)
    spread(case, "fma", "curve_distances", n, sizes("curve_distances"), normal(8 * count), normal(2 * n, high=2),
           zeros(n), i(n), i(count), smem=32 * count)  # fmt: skip
    spread(case, "fma", "curve_distances", 1_200_000, 256, normal(8 * 40), normal(2_400_000, high=2),
           zeros(1_200_000), i(1_200_000), i(40), smem=1_280)  # fmt: skip
    n = drawn("circle_sides", 100_000, 800_000)
    spread(case, "fp64", "circle_sides", n, one("circle_sides"), unit(8 * n, high=60), zeros(n, "i1"), i(n))
    spread(case, "stream", "circle_sides", 2_000_000, 224, unit(16_000_000, high=3_000), zeros(2_000_000, "i1"),
           i(2_000_000))  # fmt: skip


def _doubles(case: Any) -> None:
    n, count = drawn("zonal_pulls", 20_000, 200_000), drawn("zones of zonal_pulls", 20, 60)
    spread(case, "fp64", "zonal_pulls", n, sizes("zonal_pulls", most=768), normal(count, "f8"), unit(2 * n, "f8"),
           zeros(n, "f8"), i(n), i(count))  # fmt: skip
    for category, rows, columns in (("fp64", 1_200, 500), ("stream", 6_000, 1_200)):
        spread(case, category, "exact_products", 32 * rows, one(f"exact_products {category}"),
               normal(rows * columns, "f8"), normal(rows * columns, "f8", high=2), zeros(rows, "f8"), i(rows),
               i(columns))  # fmt: skip


def _halves(case: Any) -> None:
    n, count = drawn("nearest_by_blocks", 10_000, 100_000), drawn("rows of nearest_by_blocks", 60, 200)
    spread(case, "half", "nearest_by_blocks", n, sizes("nearest_by_blocks"), normal(32 * count, "f2"),
           normal(32 * n, "f2", high=2), zeros(n, "i4"), i(n), i(count))  # fmt: skip
    spread(case, "half", "nearest_by_blocks", 400_001, 192, normal(32 * 250, "f2"), normal(32 * 400_001, "f2", high=2),
           zeros(400_001, "i4"), i(400_001), i(250))  # fmt: skip
    n = 2_500_000
    spread(case, "stream", "laid_over", drawn("threads of laid_over", 100_000, 500_000), (256, 768),
           Given("unit halves", "u4", 2 * n, 1), Given("unit halves", "u4", 2 * n, 2), zeros(2 * n, "u4"),
           i(n))  # fmt: skip


def _programs(case: Any) -> None:
    for trees in (12, 60):
        n = drawn(f"trees_as_code<{trees}>", 60_000, 400_000)
        spread(case, "fetch", f"trees_as_code<{trees}>", n, one(f"trees_as_code<{trees}>", most=640), unit(8 * n),
               zeros(n), i(n))  # fmt: skip
    for units, n, turns in ((24, 60_000, 4), (100, 33_792, 2), (200, 16_896, 3)):
        spread(case, "fetch", f"layers_as_code<{units}>", n, one(f"layers_as_code<{units}>", most=256), normal(16 * n),
               zeros(n), i(n), i(turns))  # fmt: skip


def _gathers(case: Any) -> None:
    n, trees = drawn("forest_votes", 40_000, 250_000), drawn("trees of forest_votes", 10, 40)
    spread(case, "cache", "forest_votes", n, sizes("forest_votes"), numbers(trees << 10, WORD, "u4"),
           numbers(16 * n, 256, "u1"), zeros(n, "i4"), i(n), i(trees), i(10))  # fmt: skip
    n, size = drawn("least_between", 200_000, 1_200_000), drawn("size of least_between", 20_000, 120_000)
    threads = drawn("threads of least_between", 40_000, 300_000)
    spread(case, "cache", "least_between", threads, sizes("least_between"),
           Given("least ones", "i4", size.bit_length() * size, size), numbers(n, size, "u4"),
           numbers(n + 1, size, "u4"), zeros(n, "i4"), i(n), i(size))  # fmt: skip
    n = drawn("first_sums", 100_000, 1_000_000)
    spread(case, "cache", "first_sums", n, one("first_sums"), numbers(1 << 20, 100), numbers(n, 1 << 20, "u4"),
           zeros(n, "i4"), i(n))  # fmt: skip
    places, mean = drawn("places of near_walks", 3_000, 20_000), drawn("mean of near_walks", 12, 40)
    n = drawn("near_walks", 20_000, 120_000)
    spread(case, "cache", "near_walks", n, sizes("near_walks"), *lists(places, mean), zeros(n, "u4"), i(n), i(places),
           i(drawn("steps of near_walks", 10, 30)), u(8))  # fmt: skip
    n = drawn("triangles_by_squares", 24, 64) * 16
    spread(case, "tensor", "triangles_by_squares", n * n // 4, (64, 256),
           Given("graph", "u2", n * n, 12), zeros(1, "u4"), i(n))  # fmt: skip


def _finance(case: Any) -> None:
    n, days = drawn("two_sales", 5_000, 20_000), drawn("days of two_sales", 50, 120)
    spread(case, "latency", "two_sales", n, one("two_sales"), Given("prices", "f4", n * days, 5), zeros(n), i(n),
           i(days))  # fmt: skip
    n, days = 60_000, 130
    spread(case, "stream", "two_sales", n, 128, Given("prices", "f4", n * days, 4), zeros(n), i(n), i(days))
    n = drawn("shared_risks", 8_000, 60_000)
    spread(case, "sfu", "shared_risks", n, sizes("shared_risks", most=512), Given("covariances", "f4", 64, 60),
           unit(8 * n), zeros(8 * n), i(n), i(drawn("turns of shared_risks", 10, 30)))  # fmt: skip


def _copies(case: Any) -> None:
    width, height, depth = *side("means_of_seven", 100, 300), drawn("depth of means_of_seven", 12, 32)
    n = width * height * depth
    for x, y in ((16, 8), (32, 4), (32, 8), (64, 4), (32, 24)):
        case("async", "means_of_seven", (up(width, x), up(height, y)), (x, y), normal(n), zeros(n), i(width), i(height),
             i(depth), smem=20 * (x + 2) * (y + 2), series="means_of_seven")  # fmt: skip
    n, pieces = drawn("page_sums", 400, 3_000), drawn("pieces of page_sums", 6, 16)
    spread(case, "async", "page_sums", 32 * n, sizes("page_sums", most=640), numbers(128 * n * pieces, WORD, "u4"),
           zeros(2 * n, "u4"), i(n), i(pieces), smem=lambda block: 64 * block)  # fmt: skip
    spread(case, "stream", "page_sums", 32 * 8_000, 256, numbers(128 * 8_000 * 20, WORD, "u4"), zeros(16_000, "u4"),
           i(8_000), i(20), smem=16_384)  # fmt: skip


def _clusters(case: Any) -> None:
    for grid, block in ((64, 1_024), (264, 256), (1_000, 64)):
        case("clusters", "sorted_by_clusters", grid, block, numbers(grid * block, WORD, "u4"),
             zeros(grid * block, "u4"))  # fmt: skip
    starts, states = drawn("spread_chances", 8, 66), 4 * drawn("states of spread_chances", 32, 90)
    within(case, "clusters", "spread_chances", 4 * starts, sizes("spread_chances", most=256),
           Given("moves", "f4", states**2, 3), unit(starts * states), zeros(starts * states), i(states),
           i(drawn("steps of spread_chances", 5, 12)), smem=8 * states)  # fmt: skip


def _first_programs(case: Any) -> None:
    for category, n in (("tiny", drawn("body_masses", 500, 9_000)), ("stream", 9_000_000)):
        spread(case, category, "body_masses", n, one(f"body_masses {category}"), unit(n, high=90), unit(n, high=2),
               zeros(n), i(n))  # fmt: skip
    n = drawn("wind_chills", 200_000, 1_500_000)
    spread(case, "beginner", "wind_chills", n, (64, 1_024), unit(n, high=9), unit(n, high=40), zeros(n), i(n))
    for category, n in (("cache", drawn("opened_nibbles", 20_000, 120_000)), ("stream", 1_200_000)):
        spread(case, category, "opened_nibbles", drawn(f"threads of opened_nibbles, {category}", 20_000, 200_000),
               one(f"opened_nibbles {category}"), numbers(n, WORD, "u4"), unit(up(n, 16)), zeros(8 * n),
               i(n))  # fmt: skip
    columns = drawn("columns of daily_changes", 100, 9_000)
    for block in (128, 512):
        spread(case, "stream", "daily_changes", drawn("threads of daily_changes", 60_000, 300_000), block,
               Given("prices", "f4", 5_000_000 + columns, 4), zeros(5_000_000), i(columns), i(5_000_000))  # fmt: skip
