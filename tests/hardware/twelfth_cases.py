"""A twelfth set of launches for the timing model: other kernels than those of the eleven sets before it, as programs
have them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM, and most
sizes are drawn by lot. They are predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.eighth_cases import offsets
from tests.hardware.eleventh_cases import Formed, drawn
from tests.hardware.launch_sets import by_series, launches
from tests.hardware.ninth_cases import lists, normal, skewed, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "twelfth.cu"
FILE = "twelfth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def _near(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 4 rows of four different numbers below ``high`` that lie within eight."""
    offset = rng.random((size // 4, 8)).argsort(axis=1)[:, :4]
    return rng.integers(0, high - 8, (size // 4, 1)) + offset


def _times(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers that rise within each of ``size`` / ``high`` parts, which have ``high`` elements in the mean."""
    starts = offsets(size // high, high).make()
    found = rng.integers(0, 1 << 30, size)
    return found[np.lexsort((found, np.repeat(np.arange(size // high), np.diff(starts))))]


def _heads(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 2 pairs of a first number and a number of bits from 1 to ``high``."""
    return np.stack([rng.integers(0, 1 << 20, size // 2), rng.integers(1, high + 1, size // 2)], axis=1)


def _balls(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 4 balls around 0: three coordinates and a radius."""
    return np.append(rng.uniform(-2, 2, (size // 4, 3)), rng.uniform(0.2, 0.6, (size // 4, 1)), axis=1)


def _triangles(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 9 triangles in front of 0: a corner and two sides, the size of which falls with ``high``."""
    corners = rng.uniform(-1, 1, (size // 9, 3)) + np.array([0, 0, 3])
    return np.concatenate([corners, rng.normal(0, 1 / high, (size // 9, 6))], axis=1)


def _ways(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 3 directions to the front."""
    found = rng.uniform(-1, 1, (size // 3, 3))
    found[:, 2] = 2
    return found


def _seeds(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Places of a picture: one of ``high`` is a seed and has its own number, all others -1."""
    return np.where(rng.integers(0, high, size) == 0, np.arange(size), -1)


def _soft_picture(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A picture of ``high`` pixels per line with waves; the same ones, moved a little, for each ``size``."""
    y, x = np.divmod(np.arange(size), high)
    moved = 0.3 * rng.random(2)
    return np.sin(0.31 * (x + moved[0])) * np.cos(0.23 * (y + moved[1])) + 0.5 * np.sin(0.12 * (x + y) + moved[0])


def _field_tables(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The 255 powers of 2 in the field of 256 elements by 0x11D, the first one again, then the 256 logarithms."""
    powers = [1]
    while len(powers) < 256:
        powers.append(powers[-1] << 1 ^ (0x11D if powers[-1] & 0x80 else 0))
    logs = np.zeros(256, int)
    logs[powers[:255]] = np.arange(255)
    return np.append(powers, logs)


def _formulas(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of formulas: four variables and eight operators, each kind half of the time."""
    return np.where(rng.random(size) < 0.5, rng.integers(0, 4, size), rng.integers(4, 12, size))


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "near": _near,
    "times": _times,
    "heads": _heads,
    "balls": _balls,
    "triangles": _triangles,
    "ways": _ways,
    "seeds": _seeds,
    "soft picture": _soft_picture,
    "field tables": _field_tables,
    "formulas": _formulas,
    "from 1": lambda size, high, rng: rng.integers(1, high + 1, size),
    "soft bits": lambda size, high, rng: rng.integers(-high, high + 1, size),
    "smooth bytes": lambda size, high, rng: rng.integers(-high, high + 1, size).cumsum() & 255,
    "half numbers": lambda size, high, rng: rng.normal(0, high, size).astype("f2").view("u2"),
    "letters": lambda size, high, rng: rng.integers(0, high, 4 * size).astype("u1").view("u4"),
    "quotes": lambda size, high, rng: np.column_stack(
        [rng.uniform(0.5, 1.5, size // 4), rng.uniform(0.5, 1.5, size // 4), rng.uniform(-0.7, 0.7, size // 4),
         rng.uniform(0.1, 0.8, size // 4)]
    ),
}  # fmt: skip


class Built(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def half_numbers(size: int, high: int = 1) -> Built:
    """Half numbers around 0 with the standard deviation ``high``."""
    return Built("half numbers", "u2", size, high)


def letters(words: int) -> Built:
    """Four letters per word of 32 bits, of which one in 64 is a quote."""
    return Built("letters", "u4", words, 64)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_graphs, _models, _tensors, _bodies, _grids, _elements, _finance, _alignments, _ciphers, _tables, _rays,
         _pictures, _robots, _matrices, _signals, _sorting, _together, _code, _few, _uneven, _crowded, _graph_series,
         _model_series, _science_series, _table_series, _other_series)
    )  # fmt: skip


def _graphs(case: Any) -> None:
    block, mean = 96, 40
    (nodes,) = drawn(101, 1, 2_000, 40_000)
    case("graph", "gat_softmax", up(32 * nodes, block), block, *lists(nodes, mean), normal(nodes),
         normal(nodes, high=2), normal(32 * nodes), zeros(32 * nodes), i(nodes))  # fmt: skip
    block, nodes, mean = 512, 200_003, 6
    n = nodes // 5
    case("atomics", "peel_core", up(n, block), block, *lists(nodes, mean), numbers(n, nodes),
         numbers(nodes, 9), zeros(nodes, "i4"), zeros(1, "i4"), i(n), i(4))  # fmt: skip
    block, mean = 192, 14
    (nodes,) = drawn(102, 1, 20_000, 300_000)
    case("graph", "brandes_back", up(nodes, block), block, *lists(nodes, mean), numbers(nodes, 6, "u1"),
         Built("from 1", "f4", nodes, 30), unit(nodes), zeros(nodes), i(nodes))  # fmt: skip
    for category, block, rows, width in (("sparse", 64, 5_003, 90), ("stream", 256, 500_009, 16)):
        case(category, "ell_times_four", up(rows, block), block, numbers(rows * width, rows), normal(rows * width),
             normal(4 * rows), zeros(4 * rows), i(rows), i(width))  # fmt: skip


def _models(case: Any) -> None:
    for category, block, rows, groups in (("quantised", 64, 333, 128), ("stream", 256, 11_008, 128)):
        case(category, "q8_dot_rows", up(32 * rows, block), block, numbers(8 * rows * groups, 1 << 32, "u4"),
             unit(rows * groups), numbers(8 * groups, 1 << 32, "u4"), unit(groups), zeros(rows), i(rows),
             i(groups))  # fmt: skip
    grid, block, rows, width = 264, 128, 9_001, 200
    case("atomics", "norm_backward", grid, block, normal(rows * width), normal(rows * width, high=2),
         normal(width), zeros(rows * width), zeros(width), i(rows), i(width), smem=4 * width)  # fmt: skip
    for block, batch, tokens, channels in ((32, 8, 150, 768), (64, 2, 500, 1_024)):
        n = batch * tokens * channels
        case("latency", "wkv_scan", (up(channels, block), batch), block, normal(channels), normal(channels, high=2),
             normal(n), normal(n, high=2), zeros(n), i(tokens), i(channels))  # fmt: skip
    heads, block, length = 40, 128, 1_000
    n = 16 * heads * length
    case("fma", "flash_rows", (up(length, block), heads), block, normal(n), normal(n, high=2), normal(n, high=3),
         zeros(n), i(length))  # fmt: skip
    block, rows, vocabulary = 1_024, 64, 32_000
    case("barrier", "nucleus_draw", rows, block, normal(rows * vocabulary, high=2), zeros(2 * rows),
         i(vocabulary), f(0.9))  # fmt: skip
    for category, block, n in (("convert", 128, 300_007), ("stream", 256, 9_000_001)):
        case(category, "unpack_e4m3", up(n, block), block, numbers(n, 1 << 32, "u4"), half_numbers(n // 32 + 1),
             zeros(2 * n, "u4"), i(n))  # fmt: skip


def _tensors(case: Any) -> None:
    for rows, n, depth in ((512, 512, 512), (128, 1_024, 2_048), (1_024, 2_048, 256)):
        case("tensor", "mma_half", (n // 64, rows // 64), 128, half_numbers(rows * depth),
             half_numbers(n * depth, 2),
             zeros(rows * n), i(n), i(depth))  # fmt: skip
    for block, n, words in ((256, 512, 96), (64, 768, 32)):
        case("tensor", "mma_bytes", up(n * n // 4, block), block, numbers(n * words, 1 << 32, "u4"),
             numbers(n * words + 1, 1 << 32, "u4"), zeros(n * n, "i4"), i(n), i(words))  # fmt: skip


def _bodies(case: Any) -> None:
    block = 96
    (n,) = drawn(103, 1, 1_500, 12_000)
    case("fma", "hermite_forces", up(n, block), block, normal(4 * n), normal(4 * n, high=2), zeros(4 * n),
         zeros(4 * n), i(n))  # fmt: skip
    for category, block, n, side in (("physics", 96, 250_007, 64), ("stream", 256, 3_000_001, 256)):
        case(category, "boris_push", up(n, block), block, unit(4 * n), normal(4 * side * side), zeros(4 * n), i(n),
             i(side), f(0.02))  # fmt: skip
    for width, height, shape in ((640, 480, (32, 8)), (1_502, 1_100, (64, 2))):
        case("montecarlo", "potts_heat_bath", (up(width // 2, shape[0]), up(height, shape[1])), shape,
             numbers(width * height, 8, "u1"), i(width), i(height), i(1), f(1.2), u(77))  # fmt: skip
    for grid, block, bits, bit in ((132, 256, 18, 3), (528, 128, 20, 17)):
        case("cache", "qubit_gate", grid, block, normal(2 << bits), zeros(2 << bits), normal(8), i(1 << (bits - 1)),
             i(bit))  # fmt: skip
    case("stream", "qubit_gate", 1_056, 256, normal(2 << 23), zeros(2 << 23), normal(8), i(1 << 22), i(12))


def _grids(case: Any) -> None:
    for category, block, n in (("fma", 192, 200_003), ("stream", 256, 8_000_009)):
        case(category, "weno5_flux", up(n, block), block, unit(n), zeros(n), i(n), f(0.3))
    for width, height, step, every in ((512, 384, 1, 50), (1_000, 700, 64, 400)):
        case("stencil", "jump_flood", (up(width, 32), up(height, 8)), (32, 8),
             Built("seeds", "i4", width * height, every), zeros(width * height, "i4"), i(width), i(height),
             i(step))  # fmt: skip
    for grid, block, n, steps in ((66, 128, 30_011, 30), (132, 512, 200_003, 12)):
        case("gridsync", "heat_persistent", grid, block, unit(n), zeros(n), zeros(1, "u4"), i(n), i(steps))


def _elements(case: Any) -> None:
    block, atoms = 128, 100_003
    (n,) = drawn(104, 1, 100_000, 500_000)
    case("physics", "torsion_energies", up(n, block), block, Built("near", "i4", 4 * n, atoms),
         normal(4 * atoms), unit(32, high=3), zeros(n), i(n))  # fmt: skip
    for category, block, n, nodes in (("cache", 64, 20_011, 4_001), ("stream", 128, 1_500_007, 300_007)):
        case(category, "tet_stiffness", up(n, block), block, Built("near", "i4", 4 * n, nodes), normal(4 * nodes),
             zeros(10 * n), i(n))  # fmt: skip
    block, n, steps = 64, 3_001, 40
    case("fp64", "robertson_implicit", up(n, block), block, unit(n, "f8"), zeros(2 * n, "f8"), i(n),
         i(steps))  # fmt: skip


def _finance(case: Any) -> None:
    grid, block, paths, days = 400, 64, 2, 252
    case("montecarlo", "barrier_bridge", grid, block, zeros(grid * block), i(paths), i(days), f(0.8), f(1),
         u(2_021))  # fmt: skip
    grid, block = 264, 128
    (n,) = drawn(105, 1, 50_000, 700_000)
    case("sfu", "sabr_vols", grid, block, Built("quotes", "f4", 4 * n), zeros(n), i(n), f(0.3), f(0.6))


def _alignments(case: Any) -> None:
    for block, pairs, length in zip((64, 256), drawn(106, 2, 500, 20_000), drawn(107, 2, 60, 400), strict=True):
        case("shuffle", "gotoh_warp", up(32 * pairs, block), block, numbers(32 * pairs, 4, "u1"),
             numbers(pairs * length, 4, "u1"), zeros(pairs, "i4"), i(pairs), i(length))  # fmt: skip
    for block, n, read, text in ((64, 5_003, 30, 40), (128, 40_009, 12, 25)):
        case("local", "pair_hmm", up(n, block), block, numbers(read * n, 4, "u1"), numbers(text * n, 4, "u1"),
             zeros(n), i(n), i(read), i(text))  # fmt: skip
    block, strands, length = 96, 132, 90
    case("barrier", "nussinov_fold", strands, block, numbers(strands * length, 4, "u1"), zeros(strands, "i4"),
         i(length), smem=length * (length + 1))  # fmt: skip
    category, block, n = "stream", 128, 1_000_003
    case(category, "tanimoto_best", up(n, block), block, numbers(32 * n, 1 << 32, "u4"),
         numbers(256, 1 << 32, "u4"), zeros(n), i(n))  # fmt: skip


def _ciphers(case: Any) -> None:
    for block, n, blocks in ((64, 4_001, 64), (32, 1_500, 128)):
        case("crypto", "scrypt_mix", up(n, block), block, numbers(16 * n, 1 << 32, "u4"),
             zeros(16 * n * blocks, "u4"), zeros(16 * n, "u4"), i(n), i(blocks))  # fmt: skip
    block, n, times = 64, 8_009, 60
    case("crypto", "curve_squares", up(n, block), block, numbers(8 * n, 1 << 32, "u4"), zeros(8 * n, "u4"), i(n),
         i(times))  # fmt: skip
    block, length = 96, 20
    (n,) = drawn(108, 1, 5_000, 200_000)
    case("alu", "xtea_chains", up(n, block), block, numbers(2 * n * length, 1 << 32, "u4"),
         numbers(4, 1 << 32, "u4"), zeros(2 * n * length, "u4"), i(n), i(length))  # fmt: skip


def _tables(case: Any) -> None:
    grid, block, papers, mean, n = 132, 64, 4_000, 60, 40_009
    case("latency", "asof_join", grid, block, offsets(papers, mean), Built("times", "i4", papers * mean, mean),
         unit(papers * mean), numbers(n, papers), numbers(n, 1 << 30), zeros(n), i(n))  # fmt: skip
    for category, block, rows, words in (("scan", 128, 700, 300), ("stream", 512, 1_500, 2_000)):
        case(category, "quoted_regions", rows, block, letters(4 * rows * words),
             zeros(rows * words, "u2"), i(words))  # fmt: skip
    for block, frames, bits in zip((64, 256), drawn(109, 2, 3_000, 40_000), (7, 16), strict=True):
        case("codec", "delta_unpack", up(32 * frames, block), block, Built("heads", "i4", 2 * frames, bits),
             numbers(64 * frames, 1 << 32, "u4"), zeros(128 * frames, "i4"), i(frames))  # fmt: skip
    parts, features, block, rows, bins = 33, 8, 512, 200_003, 16
    case("atomics", "gradient_bins", (parts, features), block, numbers(rows * features, bins, "u1"),
         normal(2 * rows), zeros(512 * features), i(rows))  # fmt: skip
    grid, block, n, bits = 132, 128, 40_009, 16
    case("hash", "linear_insert", grid, block, numbers(n, 1 << 31, "u4"), zeros(1 << bits, "u4"), i(n),
         u((1 << bits) - 1))  # fmt: skip


def _rays(case: Any) -> None:
    block, width, n, count, bounces = 256, 600, 180_001, 16, 2
    case("divergence", "bounce_paths", up(n, block), block, Built("balls", "f4", 4 * count), zeros(n), i(width),
         i(n), i(count), i(bounces), u(606))  # fmt: skip
    for width, height, radius in ((480, 270, 4), (1_280, 720, 24)):
        case("image", "ambient_occlusion", (up(width, 16), up(height, 16)), (16, 16), unit(width * height),
             zeros(width * height), i(width), i(height), f(radius))  # fmt: skip
    block, n, count = 64, 8_009, 500
    case("fma", "mesh_rays", up(n, block), block, Built("triangles", "f4", 9 * count, 4),
         Built("ways", "f4", 3 * n), zeros(n), i(n), i(count))  # fmt: skip
    for wide, high, mean in ((40, 34, 40), (16, 9, 900)):
        case("graphics", "splat_tiles", (wide, high), (16, 16), skewed(wide * high, mean),
             unit(4 * wide * high * mean), zeros(256 * wide * high), i(16 * wide))  # fmt: skip


def _pictures(case: Any) -> None:
    for block, width, lines in ((256, 4_000, 1_000), (64, 300, 1_500)):
        case("image", "png_filters", lines, block, Built("smooth bytes", "u1", width * lines, 6),
             zeros((width + 1) * lines, "u1"), i(width))  # fmt: skip
    for block, n in zip((64, 256), drawn(110, 2, 9_000, 200_000), strict=True):
        case("codec", "bc1_blocks", up(n, block), block, numbers(16 * n, 1 << 32, "u4"), zeros(2 * n, "u4"), i(n))
    for block, n, width, height, turns in ((64, 2_000, 640, 480, 5), (128, 30_011, 1_280, 720, 3)):
        case("cache", "lucas_kanade", up(n, block), block, Built("soft picture", "f4", width * height, width),
             Built("soft picture", "f4", width * height + 1, width), unit(2 * n), zeros(2 * n), i(n), i(width),
             i(height), i(turns))  # fmt: skip


def _robots(case: Any) -> None:
    block, n, steps = 64, 4_096, 100
    case("montecarlo", "mppi_rollouts", up(n, block), block, normal(2 * steps), zeros(n), i(n), i(steps), f(0.4),
         u(1_234))  # fmt: skip
    grid, block, n = 264, 256, 100_003
    case("reduce", "icp_sums", grid, block, normal(9 * n), zeros(27 * grid), i(n))
    for block, n, side in ((32, 1_081, 400), (128, 16_001, 1_000), (256, 60_013, 128)):
        case("atomics", "lidar_carve", up(n, block), block, numbers(2 * n, side), zeros(side * side, "i4"), i(n),
             i(side))  # fmt: skip
    grid, block = 132, 512
    (n,) = drawn(111, 1, 60_000, 200_000)
    case("sfu", "arm_jacobian", grid, block, Formed("angles", "f4", 6 * n), unit(24), zeros(18 * n), i(n))
    for block, ants in ((64, 1_000), (128, 5_003)):
        case("shuffle", "ant_tours", up(32 * ants, block), block, unit(4_096), zeros(64 * ants, "u1"), i(ants), u(3))


def _matrices(case: Any) -> None:
    for block, n in ((64, 3_001), (128, 60_013)):
        case("shuffle", "lu_pivot", up(16 * n, block), block, normal(256 * n), zeros(n), i(n))
    for tiles, depth in ((16, 128), (5, 1_024)):
        n = 64 * tiles
        case("matrix", "syrk_tiles", tiles * (tiles + 1) // 2, (16, 16), normal(n * depth), zeros(n * n), i(n),
             i(depth))  # fmt: skip


def _signals(case: Any) -> None:
    for block, signals, length in ((96, 132, 9_000), (256, 300, 20_480)):
        case("pipeline", "async_correlate", signals, block, normal(signals * length), normal(64), zeros(signals),
             i(length))  # fmt: skip
    for grid, rounds in ((132, 40), (400, 12), (1_000, 30)):
        case("stream" if grid == 1_000 else "pipeline", "specialised_norms", grid, 160, normal(1_024 * grid * rounds),
             zeros(4 * grid * rounds), i(rounds))  # fmt: skip
    log, block, signals = 7, 64, 3_000
    case("shared", f"stockham<{log}>", signals, block, normal(signals << (log + 1)),
         zeros(signals << (log + 1)))  # fmt: skip
    for block, frames, length in ((128, 4_000, 80), (32, 132, 600)):
        case("latency", "viterbi_k7", up(32 * frames, block), block, Built("soft bits", "i1", 2 * frames * length, 20),
             zeros(frames * length, "u8"), zeros(frames * length, "u1"), i(frames), i(length))  # fmt: skip
    for block, n, count in ((64, 2_000, 8), (128, 30_011, 4)):
        case("shared", "rs_syndromes", up(n, block), block, numbers(255 * n, 256, "u1"),
             Built("field tables", "u1", 512), zeros(n * count, "u1"), i(n), i(count))  # fmt: skip


def _sorting(case: Any) -> None:
    for items, block, tiles in ((2, 1_024, 100), (8, 128, 600)):
        n = items * block * tiles
        case("sort", f"merge_block_sort<{items}>", tiles, block, numbers(n, 1 << 30), zeros(n, "i4"),
             smem=4 * items * block)  # fmt: skip
    for category, grid, block, bits, run, apart in (("cache", 264, 256, 18, 6, 2), ("cache", 1_056, 128, 20, 19, 17),
                                                    ("stream", 1_056, 256, 24, 20, 11)):  # fmt: skip
        case(category, "bitonic_pass", grid, block, numbers(1 << bits, 1 << 30), zeros(1 << bits, "i4"), i(1 << bits),
             i(1 << run), i(1 << apart))  # fmt: skip
    grid, block, n, kind = 264, 128, 1_000_003, 5_000
    case("atomics", "digit_histograms", grid, block, numbers(n, kind, "u4"), zeros(1_024, "i4"), i(n))


def _together(case: Any) -> None:
    for block, n in ((128, 30_011), (512, 400_009)):
        grid = up(n, block)
        case("scan", "lookback_max", grid, block, numbers(n, 1 << 30), zeros(n, "i4"), zeros(grid, "u8"),
             zeros(2, "i4"), i(n))  # fmt: skip


def _code(case: Any) -> None:
    for gates, block, n in ((200, 128, 100_003), (4_000, 128, 20_011), (4_000, 64, 40_009)):
        case("code", f"gate_network<{gates}>", up(n, block), block, numbers(16 * n, 1 << 32, "u4"),
             zeros(16 * n, "u4"), i(n))  # fmt: skip
    for block, formulas, length, n in ((256, 20, 200, 9_001), (128, 200, 90, 1_000)):
        case("local", "postfix_programs", (up(n, block), formulas), block,
             Built("formulas", "u1", formulas * length), normal(4 * n), zeros(formulas * n), i(length),
             i(n))  # fmt: skip
    for block, n, part in ((64, 5_003, 256), (256, 40_009, 100)):
        case("string", "rolling_cuts", up(n, block), block, numbers(n * part, 256, "u1"), numbers(256, 1 << 32, "u4"),
             zeros(n, "i4"), i(n), i(part), u(63))  # fmt: skip
    for block, n, proposals in ((32, 2_000, 40), (128, 50_021, 12)):
        case("montecarlo", "hamiltonian_chain", up(n, block), block, zeros(2 * n), i(n), i(proposals), f(0.1),
             u(271))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "lu_pivot", 1, 32, normal(256 * 2), zeros(2), i(2))
    case("tiny", "nussinov_fold", 2, 64, numbers(2 * 48, 4, "u1"), zeros(2, "i4"), i(48), smem=48 * 49)
    case("tiny", "stockham<10>", 4, 256, normal(4 << 11), zeros(4 << 11))
    case("tiny", "viterbi_k7", 1, 32, Built("soft bits", "i1", 240, 20), zeros(120, "u8"), zeros(120, "u1"), i(1),
         i(120))  # fmt: skip
    case("tiny", "merge_block_sort<4>", 3, 512, numbers(6_144, 1 << 30), zeros(6_144, "i4"), smem=8_192)
    case("tiny", "arm_jacobian", 3, 128, Formed("angles", "f4", 6 * 384), unit(24), zeros(18 * 384), i(384))
    case("tiny", "async_correlate", 8, 128, normal(8 * 2_048), normal(64), zeros(8), i(2_048))


def _uneven(case: Any) -> None:
    case("tail", "hermite_forces", 133, 256, normal(4 * 2_000), normal(4 * 2_000, high=2), zeros(4 * 34_048),
         zeros(4 * 34_048), i(2_000))  # fmt: skip
    case("tail", "barrier_bridge", 270, 1_024, zeros(270 * 1_024), i(1), i(40), f(0.7), f(1), u(8))
    case("tail", "nucleus_draw", 265, 1_024, normal(265 * 5_000, high=2), zeros(2 * 265), i(5_000), f(0.8))
    case("tail", "curve_squares", 1_100, 128, numbers(8 * 140_800, 1 << 32, "u4"), zeros(8 * 140_800, "u4"),
         i(140_800), i(6))  # fmt: skip
    case("blocks", "rolling_cuts", 12_000, 32, numbers(384_000 * 24, 256, "u1"), numbers(256, 1 << 32, "u4"),
         zeros(384_000, "i4"), i(384_000), i(24), u(31))  # fmt: skip
    case("blocks", "stockham<5>", 15_000, 32, normal(15_000 * 64), zeros(15_000 * 64))


def _crowded(case: Any) -> None:
    for smem in (100 << 10, 45 << 10):
        n = 50_021 + smem // 1_024
        case("occupancy", "boris_push", up(n, 128), 128, unit(4 * n), normal(4 * 300 * 300), zeros(4 * n), i(n),
             i(300), f(0.01), smem=smem)  # fmt: skip
        case("occupancy", "torsion_energies", up(n, 256), 256, Built("near", "i4", 4 * n, 20_011),
             normal(4 * 20_011), unit(32, high=3), zeros(n), i(n), smem=smem)  # fmt: skip
        case("occupancy", "sabr_vols", 264, 192, Built("quotes", "f4", 4 * n), zeros(n), i(n), f(0.3), f(0.6),
             smem=smem)  # fmt: skip


def _at_blocks(
    case: Any, category: str, kernel: str, threads: int, blocks: tuple[int, ...], *arguments: Any, smem: int = 0
) -> None:
    """A series: the same work in blocks of different sizes."""
    name = kernel.partition("<")[0]
    for block in blocks:
        case(category, kernel, up(threads, block), block, *arguments, smem=smem, series=name)


def _graph_series(case: Any) -> None:
    nodes = 15_013
    _at_blocks(case, "graph", "gat_softmax", 32 * nodes, (64, 256, 512), *lists(nodes, 16), normal(nodes),
               normal(nodes, high=2), normal(32 * nodes), zeros(32 * nodes), i(nodes))  # fmt: skip
    nodes = 120_011
    _at_blocks(case, "graph", "brandes_back", nodes, (32, 128, 512), *lists(nodes, 8), numbers(nodes, 5, "u1"),
               Built("from 1", "f4", nodes, 9), unit(nodes), zeros(nodes), i(nodes))  # fmt: skip
    _at_blocks(case, "atomics", "peel_core", 20_011, (64, 256, 1_024), *lists(60_013, 10), numbers(20_011, 60_013),
               numbers(60_013, 9), zeros(60_013, "i4"), zeros(1, "i4"), i(20_011), i(3))  # fmt: skip
    rows = 40_009
    _at_blocks(case, "sparse", "ell_times_four", rows, (64, 256, 1_024), numbers(rows * 20, rows), normal(rows * 20),
               normal(4 * rows), zeros(4 * rows), i(rows), i(20))  # fmt: skip


def _model_series(case: Any) -> None:
    _at_blocks(case, "quantised", "q8_dot_rows", 32 * 2_001, (64, 256, 1_024),
               numbers(8 * 2_001 * 64, 1 << 32, "u4"), unit(2_001 * 64), numbers(8 * 64, 1 << 32, "u4"), unit(64),
               zeros(2_001), i(2_001), i(64))  # fmt: skip
    for block in (64, 128, 256):
        n = 16 * 24 * 512
        case("fma", "flash_rows", (up(512, block), 24), block, normal(n), normal(n, high=2), normal(n, high=3),
             zeros(n), i(512), series="flash_rows")  # fmt: skip
    for block in (128, 256, 512):
        case("barrier", "nucleus_draw", 132, block, normal(132 * 8_000, high=2), zeros(2 * 132), i(8_000), f(0.95),
             series="nucleus_draw")  # fmt: skip
        case("atomics", "norm_backward", 132, block, normal(3_000 * 384), normal(3_000 * 384, high=2), normal(384),
             zeros(3_000 * 384), zeros(384), i(3_000), i(384), smem=4 * 384, series="norm_backward")  # fmt: skip


def _science_series(case: Any) -> None:
    n = 8_192
    _at_blocks(case, "fma", "hermite_forces", n, (64, 128, 512), normal(4 * n), normal(4 * n, high=2),
               zeros(4 * n), zeros(4 * n), i(n))  # fmt: skip
    n = 100_003
    _at_blocks(case, "physics", "boris_push", n, SERIES, unit(4 * n), normal(4 * 400 * 400), zeros(4 * n), i(n),
               i(400), f(0.01))  # fmt: skip
    _at_blocks(case, "fma", "weno5_flux", n, (64, 256, 1_024), unit(n), zeros(n), i(n), f(0.2))
    _at_blocks(case, "physics", "torsion_energies", n, (64, 256, 1_024), Built("near", "i4", 4 * n, 30_011),
               normal(4 * 30_011), unit(32, high=3), zeros(n), i(n))  # fmt: skip
    _at_blocks(case, "fp64", "robertson_implicit", 16_384, (32, 128, 256), unit(16_384, "f8"),
               zeros(2 * 16_384, "f8"), i(16_384), i(15))  # fmt: skip
    _at_blocks(case, "montecarlo", "barrier_bridge", 65_536, (64, 256, 1_024), zeros(65_536), i(2), i(100), f(0.9),
               f(1), u(4_242))  # fmt: skip
    _at_blocks(case, "sfu", "sabr_vols", 300_007, SERIES, Built("quotes", "f4", 4 * 300_007), zeros(300_007),
               i(300_007), f(0.25), f(0.5))  # fmt: skip
    for block in (32, 64, 128):
        case("barrier", "nussinov_fold", 264, block, numbers(264 * 64, 4, "u1"), zeros(264, "i4"), i(64),
             smem=64 * 65, series="nussinov_fold")  # fmt: skip
    _at_blocks(case, "alu", "tanimoto_best", 60_013, (64, 128, 512), numbers(32 * 60_013, 1 << 32, "u4"),
               numbers(256, 1 << 32, "u4"), zeros(60_013), i(60_013))  # fmt: skip


def _table_series(case: Any) -> None:
    n = 33_792
    _at_blocks(case, "crypto", "curve_squares", n, (64, 128, 256), numbers(8 * n, 1 << 32, "u4"), zeros(8 * n, "u4"),
               i(n), i(20))  # fmt: skip
    _at_blocks(case, "alu", "xtea_chains", n, SERIES, numbers(2 * n * 8, 1 << 32, "u4"), numbers(4, 1 << 32, "u4"),
               zeros(2 * n * 8, "u4"), i(n), i(8))  # fmt: skip
    _at_blocks(case, "latency", "asof_join", 150_001, (64, 256, 1_024), offsets(1_000, 300),
               Built("times", "i4", 300_000, 300), unit(300_000), numbers(150_001, 1_000), numbers(150_001, 1 << 30),
               zeros(150_001), i(150_001))  # fmt: skip
    for block in (64, 128, 512):
        case("scan", "quoted_regions", 264, block, letters(4 * 264 * 1_000), zeros(264 * 1_000, "u2"),
             i(1_000), series="quoted_regions")  # fmt: skip
        case("atomics", "gradient_bins", (6, 40), block, numbers(50_021 * 40, 64, "u1"), normal(2 * 50_021),
             zeros(512 * 40), i(50_021), series="gradient_bins")  # fmt: skip
    _at_blocks(case, "hash", "linear_insert", 100_003, (64, 256, 1_024), numbers(100_003, 1 << 31, "u4"),
               zeros(1 << 18, "u4"), i(100_003), u((1 << 18) - 1))  # fmt: skip
    _at_blocks(case, "atomics", "digit_histograms", 67_584, SERIES, numbers(500_009, 1 << 32, "u4"),
               zeros(1_024, "i4"), i(500_009))  # fmt: skip


def _other_series(case: Any) -> None:
    n = 60_013
    _at_blocks(case, "divergence", "bounce_paths", n, (64, 128, 512), Built("balls", "f4", 4 * 40), zeros(n), i(300),
               i(n), i(40), i(3), u(99))  # fmt: skip
    _at_blocks(case, "fma", "mesh_rays", 32_768, (64, 128, 256), Built("triangles", "f4", 9 * 300, 4),
               Built("ways", "f4", 3 * 32_768), zeros(32_768), i(32_768), i(300))  # fmt: skip
    _at_blocks(case, "montecarlo", "mppi_rollouts", 32_768, (64, 256, 512), normal(2 * 60), zeros(32_768), i(32_768),
               i(60), f(0.3), u(55))  # fmt: skip
    _at_blocks(case, "sfu", "arm_jacobian", 40_009, (64, 128, 256), Formed("angles", "f4", 6 * 40_009), unit(24),
               zeros(18 * 40_009), i(40_009))  # fmt: skip
    for block in (128, 256, 512):
        case("reduce", "icp_sums", 132, block, normal(9 * 300_007), zeros(27 * 132), i(300_007), series="icp_sums")
    for block in (128, 256, 1_024):
        case("shared", "stockham<11>", 264, block, normal(264 << 12), zeros(264 << 12), series="stockham")
    _at_blocks(case, "sort", "merge_block_sort<4>", 131_072, (128, 512, 1_024), numbers(524_288, 1 << 30),
               zeros(524_288, "i4"), smem=4 * 4_096)  # fmt: skip
    _at_blocks(case, "code", "gate_network<1000>", n, (64, 128, 256), numbers(16 * n, 1 << 32, "u4"),
               zeros(16 * n, "u4"), i(n))  # fmt: skip
