"""A twentieth set of launches for the timing model: other kernels than those of the nineteen sets before it, as
learners and engineers write them, by an author who saw neither the model nor an estimate. Sizes and block sizes are
drawn at random, by seeds from names; most kernels run with the same work in blocks of three to five sizes. At most a
third of the launches are bound by DRAM. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hardware.launch_sets import by_series, in_shapes, launches, spread, within
from tests.hardware.ninth_cases import Made, lists, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twentieth.cu"
FILE = "twentieth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: What block sizes are drawn from: two of three series take powers of two, as most programs do.
POWERS = (32, 64, 128, 256, 512, 1_024)
BLOCKS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1_024)
#: What shapes of blocks are drawn from.
SHAPES = (
    (8, 8),
    (32, 2),
    (16, 8),
    (32, 4),
    (64, 2),
    (128, 1),
    (16, 16),
    (32, 8),
    (64, 4),
    (32, 16),
    (128, 4),
    (32, 32),
)
WORD = 1 << 32


def drawn(name: str, low: int, high: int) -> int:
    """A number from ``low`` to ``high`` at random, evenly on a logarithmic scale, by a seed from ``name``."""
    return round(low * (high / low) ** Random(f"twentieth, {name}").random())


def _how_many(rng: Random) -> int:
    return rng.choice((3,) * 8 + (4, 4))


def sizes(name: str, least: int = 32, most: int = 1_024) -> tuple[int, ...]:
    """Three or four block sizes from ``least`` to ``most`` at random, by a seed from ``name``."""
    rng = Random(f"twentieth, blocks of {name}")
    pool = [b for b in rng.choice((POWERS, POWERS, BLOCKS)) if least <= b <= most]
    pool = pool if len(pool) >= 5 else [b for b in BLOCKS if least <= b <= most]
    return tuple(sorted(rng.sample(pool, _how_many(rng))))


def shapes(name: str, most: int = 1_024) -> tuple[tuple[int, int], ...]:
    """Three or four shapes of blocks at random, of ``most`` threads at most, by a seed from ``name``."""
    rng = Random(f"twentieth, shapes of {name}")
    return tuple(sorted(rng.sample([s for s in SHAPES if s[0] * s[1] <= most], _how_many(rng))))


def one(name: str, least: int = 32, most: int = 1_024) -> int:
    """A block size from ``least`` to ``most`` at random, by a seed from ``name``."""
    return Random(f"twentieth, block of {name}").choice([b for b in BLOCKS if least <= b <= most])


def side(name: str, low: int, high: int) -> tuple[int, int]:
    """Width and height of a picture at random, by seeds from ``name``."""
    return drawn(f"width of {name}", low, high), drawn(f"height of {name}", low, high)


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "letters": lambda size, high, rng: rng.choice([*b"etaoinshrdlucmfwypvbgkqjxz"[:high]], size),
    "smooth bytes": lambda size, high, rng: 128 + np.clip(np.cumsum(rng.integers(-high, high + 1, size)), -127, 127),
    "towers": lambda size, high, rng: high * rng.random(size) ** 4,
    "places of a tensor": lambda size, high, rng: rng.integers(0, high, size) ** 2 // high,
    "shifted halves": lambda size, high, rng: rng.random(2 * size).astype("f2").view("u4"),
    "boards": lambda size, high, rng: rng.integers(0, high, 4 * size, "u1").view("u4"),
    "long words": lambda size, high, rng: rng.integers(0, 1 << 64, size, "u8"),
    "steps": lambda size, high, rng: rng.choice([0, 0, 1, 2, high, high // 2], size),
}


class Given(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def rows_of_keys(size: int, high: int) -> Made:
    """Sorted numbers below ``high``."""
    return Made("sorted", "i4", size, high)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _rows,
            _relaxed,
            _counts,
            _sums_by_atomics,
            _pictures,
            _sound_and_stripes,
            _physics,
            _geometry,
            _doubles,
            _products,
            _keys,
            _texts,
            _codes,
            _numbers,
            _chances,
            _stacks,
            _chains_and_programs,
            _clusters_and_copies,
            _streams,
            _first_programs,
        )
    )


def _rows(case: Any) -> None:
    rows, columns = drawn("rows of mean_bearings", 200, 2_000), drawn("columns of mean_bearings", 600, 6_000)
    within(case, "reduce", "mean_bearings", rows, sizes("mean_bearings"), unit(rows * columns, high=3),
           zeros(2 * rows), i(columns))  # fmt: skip
    case("stream", "mean_bearings", 1_800, 256, unit(1_800 * 12_000, high=3), zeros(3_600), i(12_000))
    rows, columns = drawn("rows of mean_differences", 150, 900), drawn("columns of mean_differences", 400, 1_000)
    within(case, "shared", "mean_differences", rows, sizes("mean_differences", most=512), normal(rows * columns),
           zeros(rows), i(columns), smem=4 * columns)  # fmt: skip
    case("few", "mean_differences", 6, 128, normal(6 * 500), zeros(6), i(500), smem=2_000)
    rows, length = drawn("rows of trapped_rain", 150, 1_200), drawn("length of trapped_rain", 1_000, 4_500)
    within(case, "scan", "trapped_rain", rows, sizes("trapped_rain"), Given("towers", "i4", rows * length, 1_000),
           zeros(rows, "i4"), i(length), smem=8 * length)  # fmt: skip


def _relaxed(case: Any) -> None:
    beams, nodes = drawn("beam_relaxation", 100, 700), drawn("nodes of beam_relaxation", 300, 1_200)
    within(case, "barrier", "beam_relaxation", beams, sizes("beam_relaxation"), normal(beams * nodes),
           zeros(beams * nodes), i(nodes), i(drawn("steps of beam_relaxation", 60, 200)), smem=8 * nodes)  # fmt: skip
    paths, days = drawn("storage_values", 100, 900), drawn("days of storage_values", 100, 365)
    levels = drawn("levels of storage_values", 90, 600)
    within(case, "barrier", "storage_values", paths, sizes("storage_values"), unit(paths * days), zeros(paths),
           i(days), i(levels), smem=8 * levels)  # fmt: skip
    case("few", "storage_values", 2, 256, unit(2 * 250), zeros(2), i(250), i(500), smem=4_000)
    elements = drawn("nodal_derivatives", 1_000, 4_000)
    within(case, "shared", "nodal_derivatives", elements, sizes("nodal_derivatives", most=256),
           normal(216 * elements), normal(36), zeros(648 * elements))  # fmt: skip
    pairs, points = drawn("linking_numbers", 150, 1_000), drawn("points of linking_numbers", 96, 320)
    within(case, "fma", "linking_numbers", pairs, sizes("linking_numbers", most=384), normal(8 * pairs * points),
           zeros(pairs), i(points), smem=32 * points)  # fmt: skip


def _counts(case: Any) -> None:
    rows, length = drawn("trigram_profiles", 120, 900), drawn("length of trigram_profiles", 2_000, 20_000)
    within(case, "atomics", "trigram_profiles", rows, sizes("trigram_profiles"),
           Given("letters", "u1", rows * length, 26), zeros(1_024 * rows, "u4"), i(length))  # fmt: skip
    width, height = side("texture_pairs", 500, 2_500)
    within(case, "atomics", "texture_pairs", drawn("texture_pairs", 132, 700), one("texture_pairs"),
           Given("smooth bytes", "u1", width * height, 12), zeros(256, "u4"), i(width), i(height), i(2))  # fmt: skip
    n, threads = drawn("pairwise_ballots", 50_000, 600_000), drawn("threads of pairwise_ballots", 20_000, 130_000)
    spread(case, "atomics", "pairwise_ballots", threads, sizes("pairwise_ballots"), numbers(2 * n, WORD, "u4"),
           zeros(64, "u4"), i(n))  # fmt: skip
    width, height = side("video_waveform", 500, 2_000)
    in_shapes(case, "atomics", "video_waveform", width, height, shapes("video_waveform"),
              numbers(width * height, WORD, "u4"), zeros(256 * width, "u4"), i(width), i(height))  # fmt: skip


def _sums_by_atomics(case: Any) -> None:
    n, mean = drawn("synapse_deliveries", 4_000, 30_000), drawn("mean of synapse_deliveries", 30, 120)
    starts, targets = lists(n, mean)
    spread(case, "atomics", "synapse_deliveries", 32 * n, sizes("synapse_deliveries"), starts, targets,
           numbers(targets.size, 16, "u1"), numbers(n, 3, "u1"), zeros(16 * n), i(n))  # fmt: skip
    elements, length = drawn("tensor_mode_sums", 20_000, 150_000), drawn("length of tensor_mode_sums", 300, 5_000)
    spread(case, "atomics", "tensor_mode_sums", drawn("threads of tensor_mode_sums", 60_000, 260_000),
           sizes("tensor_mode_sums"), Given("places of a tensor", "i4", 3 * elements, length), normal(elements),
           normal(32 * length), normal(32 * length, high=2), zeros(32 * length), i(elements))  # fmt: skip
    n = drawn("gridded_peaks", 100_000, 900_000)
    spread(case, "atomics", "gridded_peaks", drawn("threads of gridded_peaks", 60_000, 200_000), one("gridded_peaks"),
           unit(4 * n), zeros(300 * 300, "i4"), i(n), i(300))  # fmt: skip
    spread(case, "atomics", "gridded_peaks", 80_000, 256, unit(4 * 90_000), zeros(16, "i4"), i(90_000), i(4))


def _pictures(case: Any) -> None:
    width, height = side("dendrite_growth", 300, 1_000)
    in_shapes(case, "sfu", "dendrite_growth", width, height, shapes("dendrite_growth"), unit(width * height),
              unit(width * height, high=2), zeros(width * height), i(width), i(height))  # fmt: skip
    words, height = drawn("words of lattice_gas_words", 60, 250), drawn("height of lattice_gas_words", 1_500, 6_000)
    in_shapes(case, "cache", "lattice_gas_words", words, height, shapes("lattice_gas_words"),
              numbers(4 * words * height, WORD, "u4"), zeros(4 * words * height, "u4"), i(words),
              i(height))  # fmt: skip
    in_shapes(case, "stream", "lattice_gas_words", 500, 8_000, ((64, 4),), numbers(16_000_000, WORD, "u4"),
              zeros(16_000_000, "u4"), i(500), i(8_000))  # fmt: skip


def _sound_and_stripes(case: Any) -> None:
    width, height, depth = *side("seismic_march", 150, 320), drawn("depth of seismic_march", 24, 64)
    n = width * height * depth
    for x, y in ((16, 8), (32, 4), (16, 16), (32, 8), (32, 16)):
        case("shared", "seismic_march", (up(width, x), up(height, y)), (x, y), normal(n), zeros(n), i(width),
             i(height), i(depth), f(0.05), smem=4 * (x + 8) * (y + 8), series="seismic_march")  # fmt: skip
    width, height = side("gabor_responses", 300, 1_200)
    in_shapes(case, "fma", "gabor_responses", width, height, shapes("gabor_responses"), normal(width * height),
              normal(196), zeros(width * height), i(width), i(height))  # fmt: skip


def _physics(case: Any) -> None:
    n, steps = drawn("chua_circuits", 8_000, 60_000), drawn("steps of chua_circuits", 60, 150)
    spread(case, "latency", "chua_circuits", n, sizes("chua_circuits", most=256), unit(n), zeros(3 * n), i(n), i(steps),
           f(0.01))  # fmt: skip
    case("few", "chua_circuits", 4, 64, unit(256), zeros(768), i(256), i(300), f(0.01))
    n = drawn("meteor_trails", 20_000, 120_000)
    spread(case, "divergence", "meteor_trails", n, sizes("meteor_trails", most=512), unit(2 * n), zeros(n), i(n),
           f(0.08))  # fmt: skip
    n, count = drawn("lomb_powers", 4_000, 30_000), drawn("samples of lomb_powers", 150, 320)
    spread(case, "sfu", "lomb_powers", n, sizes("lomb_powers", most=512), unit(2 * count, high=9), zeros(n), i(n),
           i(count), f(0.001))  # fmt: skip
    case("tail", "lomb_powers", 265, 1_024, unit(400, high=9), zeros(271_000), i(271_000), i(200), f(0.0001))


def _geometry(case: Any) -> None:
    n = drawn("overlap_areas", 1_300, 2_600)
    spread(case, "divergence", "overlap_areas", n, (32, 64, 96, 128), normal(4 * n), zeros(n), i(n),
           smem=lambda block: 16 * block)  # fmt: skip
    n, triangles = drawn("solid_angles", 6_000, 40_000), drawn("triangles of solid_angles", 40, 100)
    spread(case, "sfu", "solid_angles", n, sizes("solid_angles", most=256), normal(12 * triangles),
           normal(4 * n, high=2), zeros(n), i(n), i(triangles))  # fmt: skip
    spread(case, "sfu", "solid_angles", 300_000, 128, normal(12 * 90), normal(4 * 300_000, high=2), zeros(300_000),
           i(300_000), i(90))  # fmt: skip


def _doubles(case: Any) -> None:
    n = drawn("double_determinants", 20_000, 120_000)
    spread(case, "fp64", "double_determinants", n, one("double_determinants", most=512), unit(25 * n, "f8"),
           zeros(n, "f8"), i(n))  # fmt: skip
    n, size = drawn("sturm_counts", 4_000, 40_000), drawn("size of sturm_counts", 100, 300)
    spread(case, "fp64", "sturm_counts", n, sizes("sturm_counts", most=512), normal(size, "f8"),
           normal(size, "f8", high=2), zeros(n, "i4"), i(n), i(size), f(-5), f(10 / n))  # fmt: skip
    n = drawn("annuity_values", 20_000, 150_000)
    spread(
        case,
        "fp64",
        "annuity_values",
        n,
        sizes("annuity_values", most=512),
        unit(n, "f8"),
        zeros(n, "f8"),
        i(n),
        f(0.03),
    )
    n = 1_200_000
    spread(case, "fp64", "annuity_values", n, 192, unit(n, "f8"), zeros(n, "f8"), i(n), f(0.02))
    n = drawn("divided_differences", 20_000, 150_000)
    spread(case, "local", "divided_differences", n, sizes("divided_differences", most=512), unit(20 * n),
           normal(20 * n), zeros(n), i(n), i(20))  # fmt: skip


def _products(case: Any) -> None:
    n = drawn("mma_mixing", 1_000, 6_000)
    spread(case, "tensor", "mma_mixing", 32 * n, (64, 256), Given("shifted halves", "u4", 128 * n),
           unit(256, "f2"), zeros(128 * n, "u4"), i(n), i(drawn("turns of mma_mixing", 60, 300)), f(0.125))  # fmt: skip
    for across, down, inner in ((6, 5, 512), (20, 13, 1_024), (33, 24, 768), (64, 60, 1_024)):
        case("tensor", "mma_tile_product", (across, down), 128, normal(64 * down * inner, "f2"),
             normal(64 * across * inner, "f2", high=2), zeros(4_096 * across * down), i(64 * across),
             i(inner))  # fmt: skip


def _keys(case: Any) -> None:
    n = drawn("bit_neighbours", 20_000, 120_000)
    spread(case, "cache", "bit_neighbours", n, sizes("bit_neighbours"), numbers(1 << 17, WORD, "u4"),
           numbers(n, 1 << 22, "u4"), zeros(n, "i4"), i(n), i(22))  # fmt: skip
    spread(case, "cache", "bit_neighbours", 400_000, 256, numbers(1 << 17, WORD, "u4"), numbers(400_000, 1 << 22, "u4"),
           zeros(400_000, "i4"), i(400_000), i(22))  # fmt: skip
    n, size = drawn("guessed_places", 60_000, 400_000), drawn("size of guessed_places", 20_000, 900_000)
    spread(case, "cache", "guessed_places", n, sizes("guessed_places"), rows_of_keys(size, 1 << 30),
           numbers(n, 1 << 30), zeros(n, "i4"), i(n), i(size))  # fmt: skip
    n = drawn("zobrist_boards", 60_000, 300_000)
    spread(case, "shared", "zobrist_boards", drawn("threads of zobrist_boards", 40_000, 200_000),
           sizes("zobrist_boards"), Given("boards", "u4", 16 * n, 13), Given("long words", "u8", 832), zeros(n, "u8"),
           i(n))  # fmt: skip
    n = drawn("fingerprint_filter", 200_000, 900_000)
    spread(case, "cache", "fingerprint_filter", drawn("threads of fingerprint_filter", 100_000, 260_000),
           sizes("fingerprint_filter"), numbers(1 << 20, WORD, "u4"), numbers(n, WORD, "u4"), zeros(n, "u1"), i(n),
           u((1 << 20) - 1))  # fmt: skip
    n, threads = drawn("spline_values", 200_000, 900_000), drawn("threads of spline_values", 60_000, 200_000)
    spread(case, "cache", "spline_values", threads, sizes("spline_values"), normal(4 * 4_000), unit(n), zeros(n), i(n),
           i(4_000))  # fmt: skip
    spread(case, "stream", "spline_values", 1_000_000, 256, normal(4 * 6_000_000), unit(3_000_000), zeros(3_000_000),
           i(3_000_000), i(6_000_000))  # fmt: skip


def _texts(case: Any) -> None:
    pieces, piece = drawn("horspool_hits", 20_000, 90_000), drawn("piece of horspool_hits", 80, 300)
    spread(case, "divergence", "horspool_hits", pieces, sizes("horspool_hits"),
           Given("letters", "u1", pieces * piece, 9), Given("letters", "u1", 5, 8), zeros(pieces, "i4"), i(pieces),
           i(piece), i(5))  # fmt: skip
    n = drawn("stamped_times", 60_000, 500_000)
    spread(case, "division", "stamped_times", n, sizes("stamped_times"), numbers(n, 1 << 31, "u4"),
           zeros(5 * n, "u4"), i(n))  # fmt: skip


def _codes(case: Any) -> None:
    n, quads = drawn("chaskey_macs", 20_000, 120_000), drawn("quads of chaskey_macs", 3, 12)
    spread(case, "alu", "chaskey_macs", n, sizes("chaskey_macs"), numbers(4 * n * quads, WORD, "u4"),
           zeros(2 * n, "u4"), i(n), i(quads))  # fmt: skip
    n = drawn("ascon_states", 20_000, 100_000)
    spread(case, "int64", "ascon_states", n, sizes("ascon_states", most=512), Given("long words", "u8", 5 * n),
           zeros(5 * n, "u8"), i(n), i(drawn("turns of ascon_states", 2, 6)))  # fmt: skip
    n = drawn("selector_words", 100_000, 700_000)
    spread(case, "int64", "selector_words", n, one("selector_words"), Given("long words", "u8", n), zeros(n, "u8"),
           i(n))  # fmt: skip
    n, length = drawn("xor_series_bits", 6_000, 40_000), drawn("length of xor_series_bits", 60, 250)
    spread(case, "latency", "xor_series_bits", n, sizes("xor_series_bits"), Given("steps", "u4", n * length, 5_000),
           zeros(n, "i4"), i(n), i(length))  # fmt: skip


def _numbers(case: Any) -> None:
    n = drawn("pisano_periods", 20_000, 90_000)
    spread(case, "divergence", "pisano_periods", n, sizes("pisano_periods"), zeros(n, "i4"), i(n), i(20), i(190))
    n = drawn("korselt_flags", 30_000, 200_000)
    spread(case, "division", "korselt_flags", n, sizes("korselt_flags"), zeros(n, "u1"), i(n), i(90_001))
    n = drawn("fraction_depths", 60_000, 300_000)
    spread(case, "divergence", "fraction_depths", n, one("fraction_depths"), numbers(n, 900, "u4"),
           numbers(n, 1_100, "u4"), zeros(n, "u2"), i(n), i(120))  # fmt: skip
    n = drawn("lane_polynomials", 3_000, 20_000)
    spread(case, "shuffle", "lane_polynomials", 32 * n, (64, one("lane_polynomials", least=128)),
           numbers(32 * n, 12_289), numbers(32 * n, 12_288), zeros(32 * n, "i4"), i(n))  # fmt: skip


def _chances(case: Any) -> None:
    n, deals = drawn("bridge_points", 15_000, 90_000), drawn("deals of bridge_points", 3, 12)
    spread(case, "local", "bridge_points", n, sizes("bridge_points", most=640), zeros(n, "i4"), i(n), i(deals), u(1))
    n, paths = drawn("cliquet_payoffs", 15_000, 90_000), drawn("paths of cliquet_payoffs", 8, 30)
    spread(
        case,
        "sfu",
        "cliquet_payoffs",
        n,
        one("cliquet_payoffs", most=256),
        zeros(n),
        i(n),
        i(paths),
        i(12),
        f(0.08),
        u(2),
    )
    case("tail", "cliquet_payoffs", 1_060, 256, zeros(271_000), i(271_000), i(30), i(8), f(0.05), u(3))
    for category, n in (("constant", drawn("scenario_losses", 30_000, 200_000)), ("stream", 1_000_001)):
        spread(case, category, "scenario_losses", n, one(f"scenario_losses {category}"), normal(24 * n), zeros(n),
               zeros(1, "i4"), i(n), f(-0.4), f(-25))  # fmt: skip


def _stacks(case: Any) -> None:
    n = drawn("ackermann_values", 15_000, 70_000)
    spread(case, "occupancy", "ackermann_values", n, sizes("ackermann_values"), numbers(n, 13), zeros(n, "i4"), i(n),
           smem=lambda block: 64 * block)  # fmt: skip
    n = drawn("pitched_sorts", 20_000, 120_000)
    for pitch, blocks in ((25, sizes("pitched_sorts", most=512)), (32, 128), (24, 192)):
        spread(case, "shared", "pitched_sorts", n, blocks, numbers(24 * n, 1_000), zeros(24 * n, "i4"), i(n), i(pitch),
               smem=lambda block, pitch=pitch: 4 * pitch * block)  # fmt: skip


def _chains_and_programs(case: Any) -> None:
    for grid, block, turns in ((1, 32, 300), (132, 64, 500), (66, 512, 150)):
        case("latency", "nested_radicals", grid, block, unit(grid * block), zeros(grid * block), i(grid * block),
             i(turns))  # fmt: skip
    for kernel, grid, block, turns in (("<70>", 132, 256, 15), ("<1000>", 132, 128, 2), ("<1000>", 500, 256, 1)):
        case("fetch", f"spelled_out{kernel}", grid, block, numbers(grid * block, WORD, "u4"), zeros(grid * block, "u4"),
             i(grid * block), i(turns))  # fmt: skip
    n, turns = drawn("dispatched_cases", 20_000, 90_000), drawn("turns of dispatched_cases", 8, 16)
    spread(case, "fetch", "dispatched_cases", n, (64, 512), zeros(n, "u4"), i(n), i(turns))


def _clusters_and_copies(case: Any) -> None:
    for grid, block, part in ((32, 256, 300), (128, 128, 700), (256, 512, 200)):
        case("clusters", "cluster_nearest", grid, block, normal(8 * part), normal(2 * grid * block, high=2),
             zeros(grid * block), i(part), smem=8 * part)  # fmt: skip
    for grid, block, each in ((64, 256, 7), (320, 128, 16)):
        case("clusters", "cluster_running_sums", grid, block, numbers(grid * block * each, 100),
             zeros(grid * block * each, "i4"), i(each))  # fmt: skip
    n, each = drawn("async_bags", 1_500, 9_000), drawn("each of async_bags", 12, 60)
    spread(case, "async", "async_bags", 32 * n, sizes("async_bags", most=640), normal(128 * 8_000),
           numbers(n * each, 8_000), zeros(128 * n), i(n), i(each), smem=lambda block: 64 * block)  # fmt: skip
    spread(case, "stream", "async_bags", 32 * 6_000, 128, normal(128 * 200_000), numbers(6_000 * 40, 200_000),
           zeros(128 * 6_000), i(6_000), i(40), smem=8_192)  # fmt: skip


def _streams(case: Any) -> None:
    for category, n in (("tiny", 3_000), ("stream", 900_000), ("stream", 2_500_000)):
        name = f"leapfrog_update, {n}"
        spread(case, category, "leapfrog_update", n, one(name), normal(4 * n), normal(4 * n, high=2),
               normal(4 * n, high=3), zeros(4 * n), zeros(4 * n), i(n), f(0.01))  # fmt: skip
    for category, n in (("alu", drawn("byte_thresholds", 60_000, 300_000)), ("stream", 5_000_000)):
        spread(case, category, "byte_thresholds", drawn(f"threads of byte_thresholds, {category}", 60_000, 300_000),
               one(f"byte_thresholds {category}"), numbers(4 * n, WORD, "u4"), zeros(n, "u2"), i(n), u(77))  # fmt: skip
    n = 9_000_000
    spread(case, "stream", "complex_magnitudes", drawn("complex_magnitudes", 100_000, 300_000), (128, 1_024),
           normal(4 * n), zeros(2 * n), i(n))  # fmt: skip
    for category, n, turns in (("half", drawn("half_smoothsteps", 100_000, 600_000), 60), ("stream", 20_000_000, 2)):
        spread(case, category, "half_smoothsteps", n, one(f"half_smoothsteps {category}"), unit(2 * n, "f2"),
               zeros(2 * n, "f2"), i(n), i(turns))  # fmt: skip


def _first_programs(case: Any) -> None:
    n = drawn("leap_years", 20_000, 700_000)
    spread(case, "beginner", "leap_years", n, (32, 256), numbers(n, 4_000), zeros(n, "i4"), i(n))
    n = drawn("hypotenuses", 20_000, 300_000)
    spread(case, "beginner", "hypotenuses", n, (64, 1_024), normal(n), normal(n, high=2), zeros(n), i(n))
    case("tiny", "hypotenuses", 1, 128, normal(128), normal(128, high=2), zeros(128), i(128))
    spread(case, "stream", "leap_years", 12_000_000, 256, numbers(12_000_000, 4_000), zeros(12_000_000, "i4"),
           i(12_000_000))  # fmt: skip
