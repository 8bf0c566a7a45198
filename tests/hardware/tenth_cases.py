"""A tenth set of launches for the timing model: other kernels than those of the nine sets before it, as programs have
them, written without a look at the model or at an estimate. At most a third of them are bound by DRAM. They are
predicted and committed before a GPU measures them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.eighth_cases import offsets
from tests.hardware.launch_sets import by_series, launches
from tests.hardware.ninth_cases import lists, normal, unit, up
from tests.hardware.timing_cases import ByRecipe, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "tenth.cu"
FILE = "tenth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def _parents(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """The parent of each node of a forest with ``high`` roots, which are their own parents; numbers are shuffled."""
    order, found = rng.permutation(size), np.zeros(size, int)
    places = np.arange(size)
    found[order] = order[np.where(places < high, places, (rng.random(size) * places).astype(int))]
    return found


def _directions(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` / 32 rows of 32 direction numbers: number b is odd before its shift by 31 - b bits."""
    bits = np.arange(32)
    return (rng.integers(0, 1 << bits, (size // 32, 32)) * 2 + 1) << (31 - bits)


def _slots(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """A decoder's slots: symbol << 24 | frequency << 12 | offset, of ``high`` symbols of different frequencies."""
    cuts = np.sort(rng.choice(np.arange(1, size), high - 1, replace=False))
    starts = np.append(0, cuts)
    counts = np.diff(np.append(starts, size))
    symbol = np.repeat(np.arange(high), counts)
    return symbol << 24 | counts[symbol] << 12 | (np.arange(size) - starts[symbol])


def _triangles(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Records of a triangle: three corners in a picture of ``high`` x ``high`` pixels, a depth, a colour."""
    n = size // 8
    found = np.zeros((n, 8), int)
    found[:, :6] = np.tile(rng.integers(0, high, (n, 2)), 3) + rng.integers(-40, 41, (n, 6))
    found[:, 6], found[:, 7] = rng.permutation(n), np.arange(n)
    return found


def _whole_boxes(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Boxes (left, top, width, height) of whole numbers, in clusters of eight that overlap."""
    places = np.repeat(rng.integers(0, high, (up(size, 32), 2)), 8, axis=0)[: size // 4]
    return np.append(places + rng.integers(0, 9, places.shape), rng.integers(12, 40, places.shape), axis=1)


def _gases(size: int, high: int, rng: np.random.Generator) -> np.ndarray:
    """Density, momentum and energy of ``size`` / 3 cells, one after the other."""
    n = size // 3
    return np.stack([0.5 + rng.random(n), rng.random(n) - 0.5, 2 + 2 * rng.random(n)])


RECIPES: dict[str, Callable[[int, int, np.random.Generator], Any]] = {
    "parents": _parents,
    "directions": _directions,
    "slots": _slots,
    "triangles": _triangles,
    "whole boxes": _whole_boxes,
    "gases": _gases,
    "permutation": lambda size, high, rng: rng.permutation(size),
    "circle": lambda size, high, rng: np.exp(2j * np.pi * np.arange(size // 2) / size).view(float),
    "splitters": lambda size, high, rng: np.sort(rng.integers(0, high, size)),
    "from one": lambda size, high, rng: rng.integers(1, high, size),
    "below one": lambda size, high, rng: rng.random(size) * (1 - 1e-6),
    "above half": lambda size, high, rng: 0.5 + high * rng.random(size),
}


class Shaped(ByRecipe):
    """An array of this set."""

    recipes = RECIPES


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_numerics, _doubles, _pictures, _windows, _votes, _rendering, _graphs, _fields, _particles, _training,
         _inference, _detection, _speech, _tables, _columns, _signals, _finance, _genomes, _codes, _sorting, _few,
         _uneven, _crowded, _block_sizes)
    )  # fmt: skip


def _numerics(case: Any) -> None:
    for block, n, span in ((64, 6_001, 6.0), (128, 50_021, 4.0), (256, 120_007, 2.0)):
        case("divergence", "adaptive_steps", up(n, block), block, unit(n, high=4), zeros(2 * n), zeros(n, "i4"), i(n),
             f(span), f(1e-4))  # fmt: skip
    for block, n, sweeps in ((96, 30_011, 4), (256, 400_009, 3)):
        case("sfu", "eigen_3x3", up(n, block), block, normal(6 * n), zeros(3 * n), i(n), i(sweeps))
    for cols, block, grid in ((4, 256, 600), (8, 64, 1_000), (12, 128, 300)):
        case("barrier", f"gram_schmidt<{cols}>", grid, block, normal(cols * block * grid), zeros(cols * block * grid))
    for category, width, height in (("stencil", 512, 400), ("stream", 4_096, 2_050)):
        case(category, "restrict_grid", (up(width // 2, 32), up(height // 2, 8)), (32, 8), unit(width * height),
             zeros(width * height // 4), i(width), i(height))  # fmt: skip


def _doubles(case: Any) -> None:
    for grid, block, n in ((132, 128, 60_013), (400, 224, 500_009)):
        case("fp64", "log_gammas", grid, block, Shaped("above half", "f8", n, 30), zeros(n, "f8"), i(n))
    for block, width, height in ((32, 300, 257), (64, 2_000, 1_300)):
        case("fp64" if width < 1_000 else "stream", "red_black_sor", (up(width // 2, block), up(height, 4)), (block, 4),
             normal(width * height, "f8"), normal(width * height, "f8", 2), i(width), i(height), i(1),
             ("f8", 1.6))  # fmt: skip
    for block, n in ((32, 3_001), (160, 200_003)):
        case("fp64", "elliptic_agm", up(n, block), block, Shaped("below one", "f8", n), zeros(n, "f8"), i(n))


def _pictures(case: Any) -> None:
    for rows, grid, ink in ((8, 300, 3), (16, 132, 4), (32, 500, 2)):
        case("barrier", "flood_tiles", grid, (32, rows), numbers(1_024 * grid, ink, "u1"), zeros(1_024 * grid, "i4"))
    for width, height in ((500, 333), (2_560, 1_440)):
        case("image", "thin_edges", (up(width, 64), up(height, 4)), (64, 4), numbers(width * height, 256, "u1"),
             zeros(width * height, "i4"), i(width), i(height))  # fmt: skip
    for grid, high in ((264, 256), (2_000, 200), (264, 6)):
        case("atomics", "equalise_tiles", grid, 256, numbers(4_096 * grid, high, "u1"), zeros(4_096 * grid, "u1"))
    for block, width, height, high in ((64, 640, 400, 30), (128, 1_500, 1_000, 12)):
        case("divergence", "distance_columns", (up(width, block), height), block, numbers(width * height, high),
             zeros(width * height, "i4"), i(width), i(height))  # fmt: skip


def _windows(case: Any) -> None:
    for radius, tile, block, width, rows in ((3, 512, 128, 2_000, 300), (10, 1_024, 128, 4_000, 400),
                                             (7, 256, 64, 1_500, 200)):  # fmt: skip
        case("shared", f"van_herk<{radius}, {tile}>", (up(width, tile), rows), block, numbers(width * rows, 9_999),
             zeros(width * rows, "i4"), i(width))  # fmt: skip
    for width, height in ((200, 150), (900, 701)):
        case("image", "nlm_denoise", (up(width, 16), up(height, 16)), (16, 16), unit(width * height),
             zeros(width * height), i(width), i(height), f(3))  # fmt: skip
    for width, pictures, rows in ((256, 132, 150), (800, 200, 80), (96, 20, 300)):
        case("barrier", "seam_costs", pictures, width, numbers(width * pictures * rows, 255),
             zeros(width * pictures, "i4"), i(rows), smem=8 * width)  # fmt: skip


def _votes(case: Any) -> None:
    for angles, n, each in ((128, 20_011, 60), (192, 60_013, 150), (64, 3_001, 30)):
        case("atomics", "hough_votes", up(n, each), angles, unit(2 * n, high=500), Shaped("circle", "f4", 2 * angles),
             zeros(1_500 * angles, "u4"), i(n), i(each), i(1_500))  # fmt: skip


def _rendering(case: Any) -> None:
    for side, n in ((256, 1_000), (800, 400)):
        case("divergence", "raster_tiles", (side // 16, side // 16), (16, 16), Shaped("triangles", "i4", 8 * n, side),
             zeros(side * side, "i4"), i(n), i(side))  # fmt: skip
    for side, width, height, slope in ((64, 400, 304, 9_000), (192, 800, 600, 30_000)):
        case("cache", "integrate_rays", (up(width, 32), height // 4), (32, 4), numbers(side**3, 200, "u1"),
             unit(256), zeros(width * height), i(side), i(width), i(slope))  # fmt: skip
    for octaves, block, width, rows in ((3, 256, 500, 200), (6, 128, 1_280, 500)):
        case("fma", f"perlin_fbm<{octaves}>", (up(width, block), rows), block, Shaped("permutation", "i4", 256),
             zeros(width * rows), i(width), f(0.043))  # fmt: skip


def _graphs(case: Any) -> None:
    for edges, nodes, components in ((60_013, 10_007, 500), (800_003, 100_003, 60_000), (300_007, 50_021, 7)):
        case("atomics", "boruvka_lightest", up(edges, 256), 256, numbers(edges, nodes), numbers(edges + 1, nodes),
             numbers(edges, 1 << 32, "u4"), numbers(nodes, components), zeros(components, "u8"), i(edges))  # fmt: skip
    for grid, block, n, roots in ((33, 128, 20_011, 3), (264, 256, 400_009, 50), (1_000, 96, 2_000_003, 9)):
        case("latency", "find_roots", grid, block, Shaped("parents", "i4", n, roots), zeros(2 * n, "i4"), i(n))
    for block, nodes, mean, labels in ((128, 20_011, 8, 20_000), (192, 150_001, 6, 12), (64, 60_013, 12, 300)):
        case("graph", "modes_of_neighbours", up(nodes, block), block, *lists(nodes, mean), numbers(nodes, labels),
             zeros(nodes, "i4"), i(nodes))  # fmt: skip


def _fields(case: Any) -> None:
    for category, width, height in (("stencil", 700, 500), ("stream", 3_001, 2_000)):
        case(category, "yee_magnetic", (up(width, 128), up(height, 2)), (128, 2), normal(width * height),
             normal(width * height, high=2), normal(width * height, high=3), i(width), i(height), f(0.5))  # fmt: skip
    for size, block, n, nodes in ((8, 128, 30_011, 9_001), (20, 128, 20_011, 20_000), (64, 64, 30_011, 30_000)):
        case("fma", f"element_products<{size}>", up(n, block), block, numbers(size * n, nodes), unit(nodes),
             normal(size * size), zeros(size * n), i(n))  # fmt: skip
    for category, grid, block, n in (("physics", 132, 256, 100_003), ("stream", 1_056, 128, 4_000_037)):
        case(category, "hll_fluxes", grid, block, Shaped("gases", "f4", 3 * n), zeros(3 * n), i(n))


def _particles(case: Any) -> None:
    for block, n, atoms in ((128, 40_009, 9_001), (256, 500_009, 200_003)):
        case("physics", "bond_angles", up(n, block), block, unit(4 * atoms, high=9), numbers(3 * n, atoms),
             zeros(atoms), i(n), f(1.9))  # fmt: skip
    for block, n, thickness, absorbed in ((64, 20_011, 4.0, 0.1), (192, 200_003, 10.0, 0.03), (512, 99_991, 1.0, 0.3)):
        case("montecarlo", "neutron_walks", up(n, block), block, zeros(n, "i4"), i(n), f(thickness), f(absorbed),
             u(4_711))  # fmt: skip


def _training(case: Any) -> None:
    for block, n in ((256, 100_003), (512, 3_000_017)):
        case("stream", "lion_step", up(n, block), block, normal(4 * n), normal(4 * n, high=2), normal(4 * n, high=3),
             i(n), f(0.001))  # fmt: skip
    for batch, channels, pixels, block in ((4, 96, 784, 256), (16, 264, 3_136, 512), (32, 40, 196, 128)):
        case("stream" if batch == 16 else "cache", "channel_stats", channels, block, normal(batch * channels * pixels),
             zeros(2 * channels), i(batch), i(channels), i(pixels))  # fmt: skip
    for rows, size in ((64, 500), (300, 512), (2_000, 1_024)):
        case("stream" if rows > 1_000 else "sfu", "lstm_cell", up(rows * size, 192), 192, normal(4 * rows * size),
             normal(rows * size), zeros(rows * size), i(rows), i(size))  # fmt: skip


def _inference(case: Any) -> None:
    for block, tokens in ((64, 500), (256, 9_001), (128, 60_013)):
        case("shuffle", "route_tokens", up(tokens, block // 32), block, normal(64 * tokens), zeros(2 * tokens, "i4"),
             zeros(2 * tokens), zeros(64, "i4"), i(tokens))  # fmt: skip
    for grid, channels, width, height in ((264, 8, 60, 45), (1_056, 32, 113, 112)):
        case("alu", "im2col_3x3", grid, 256, normal(channels * width * height), zeros(9 * channels * width * height),
             i(channels), i(width), i(height))  # fmt: skip
    for channels, width, height in ((16, 58, 58), (64, 226, 226)):
        tiles = (width // 2 - 1) * (height // 2 - 1) * channels
        case("stream" if tiles > 500_000 else "stencil", "winograd_input", up(tiles, 128), 128,
             normal(channels * width * height), zeros(16 * tiles), i(channels), i(width), i(height))  # fmt: skip
    for grid, block, n in ((132, 256, 100_000), (528, 512, 2_000_000)):
        case("convert", "nf4_unpack", grid, block, numbers(n, 1 << 32, "u4"), unit(n // 8), zeros(4 * n, "u4"), i(n))


def _detection(case: Any) -> None:
    for n in (500, 3_001):
        case("divergence", "nms_masks", (up(n, 64), up(n, 64)), 64, Shaped("whole boxes", "f4", 4 * n, 600),
             zeros(n * up(n, 64), "u8"), i(n))  # fmt: skip
    for regions, channels, width, height in ((20, 64, 50, 38), (128, 100, 100, 76)):
        case("cache", "roi_align", up(regions * channels * 49, 192), 192, normal(channels * width * height),
             unit(4 * regions, high=30), zeros(49 * regions * channels), i(channels), i(width), i(height),
             i(regions))  # fmt: skip


def _speech(case: Any) -> None:
    for states, grid, steps, letters in ((65, 16, 200, 30), (201, 264, 120, 40), (129, 600, 60, 100)):
        case("barrier", "ctc_alpha", grid, states, normal(grid * steps * letters),
             Shaped("from one", "i4", grid * (states // 2), letters), zeros(grid * states), i(steps), i(letters),
             smem=8 * states)  # fmt: skip


def _tables(case: Any) -> None:
    for parts, items, block, n in ((64, 8, 256, 300_007), (256, 16, 256, 2_000_003), (16, 4, 512, 100_003)):
        room = 1 << (n // parts * 5 // 4).bit_length()
        case("database", f"radix_partition<{parts}, {items}>", up(n, block * items), block, numbers(n, 1 << 32, "u4"),
             zeros(parts, "u4"), zeros(parts * room, "u4"), i(n), i(room))  # fmt: skip
    for block, rows, width in ((128, 30_011, 40), (256, 100_003, 64)):
        case("database", "like_rows", up(rows, block), block, numbers(rows * width, 4, "u1"), zeros(rows, "u1"),
             i(rows), i(width), u(0x020103), u(0x0300))  # fmt: skip
    for grid, runs, mean in ((132, 3_001, 50), (400, 200_003, 6)):
        case("latency" if runs > 9_999 else "database", "expand_runs", grid, 256, offsets(runs, mean),
             numbers(runs, 1 << 30), zeros(runs * mean, "i4"), i(runs), i(runs * mean))  # fmt: skip


def _columns(case: Any) -> None:
    for category, grid, block, n in (("database", 264, 128, 200_003), ("stream", 528, 512, 6_000_011)):
        case(category, "filtered_revenue", grid, block, numbers(n, 2_000), numbers(n, 11, "u1"), numbers(n, 50, "u1"),
             numbers(n, 99_999), zeros(1, "u8"), i(n), i(365), i(730), i(24))  # fmt: skip
    for bits, block, n in ((5, 128, 200_000), (11, 256, 1_000_000), (17, 256, 8_000_000)):
        case("stream" if n > 5_000_000 else "database", f"unpack_bits<{bits}>", up(n, block), block,
             numbers(n * bits // 32 + 2, 1 << 32, "u4"), numbers(up(n, 128), 1 << 20), zeros(n, "i4"),
             i(n))  # fmt: skip


def _signals(case: Any) -> None:
    for stages, block, channels, length in ((2, 64, 2_001, 200), (20, 128, 20_011, 40), (4, 32, 300, 300)):
        case("latency", f"biquad_bank<{stages}>", up(channels, block), block, normal(channels * length),
             unit(5 * stages), zeros(channels * length), i(channels), i(length))  # fmt: skip
    for bins, grid, length in ((128, 264, 400), (256, 132, 1_000), (96, 1_500, 256)):
        case("fma", "goertzel_bins", grid, bins, normal(grid * length), zeros(grid * bins), i(length), smem=4 * length)
    for shape, grid, n in (((3, 2, 16), 264, 200_003), ((160, 147, 24), 528, 500_009), ((2, 5, 32), 132, 900_001)):
        m = n * shape[0] // shape[1]
        case("signal", f"polyphase<{', '.join(map(str, shape))}>", grid, 256, normal(n), normal(shape[0] * shape[2]),
             zeros(m), i(n), i(m))  # fmt: skip
    for degree, block, checks in ((6, 128, 6_001), (8, 256, 200_003), (20, 128, 20_011)):
        case("signal", f"ldpc_checks<{degree}>", up(checks, block), block, normal(2 * checks),
             numbers(degree * checks, 2 * checks), zeros(degree * checks), i(checks))  # fmt: skip
    for block, channels, length in ((128, 500, 120), (256, 4_001, 80)):
        case("shuffle", "lms_filter", up(channels, block // 32), block, normal(channels * length),
             normal(channels * length, high=2), zeros(channels * length), i(channels), i(length), f(0.01))  # fmt: skip


def _finance(case: Any) -> None:
    for block, grid, each in ((128, 132, 64), (256, 500, 40), (512, 264, 100)):
        case("alu", "sobol_integrals", grid, block, Shaped("directions", "u4", 256), zeros(grid), i(each))
    for block, n in ((96, 20_011), (256, 250_007)):
        case("sfu", "bond_yields", up(n, block), block, Shaped("above half", "f4", n, 1), unit(n),
             Shaped("from one", "i4", n, 30), zeros(n), i(n))  # fmt: skip


def _genomes(case: Any) -> None:
    for shape, block, n in (((15, 10), 256, 300_007), ((11, 20), 128, 900_001)):
        case("alu", f"minimizers<{shape[0]}, {shape[1]}>", up(n, block), block, numbers(n, 4, "u1"), zeros(n, "u4"),
             i(n))  # fmt: skip
    for block, n, motifs, length in ((128, 60_013, 8, 12), (256, 150_001, 20, 16)):
        case("shared", "motif_scan", up(n, block), block, numbers(n, 4, "u1"), normal(4 * motifs * length), zeros(n),
             i(n), i(motifs), i(length), smem=16 * motifs * length)  # fmt: skip
    for variants, words in ((192, 64), (800, 128)):
        case("alu", "linked_variants", (variants // 16, variants // 16), (16, 16),
             numbers(variants * words, 1 << 32, "u4"), zeros(variants * variants, "i4"), i(variants),
             i(words))  # fmt: skip


def _codes(case: Any) -> None:
    for grid, block, n, letters, window in ((132, 128, 100_003, 2, 30_000), (528, 256, 1_000_003, 3, 500)):
        case("divergence", "match_lengths", grid, block, numbers(n, letters, "u1"), numbers(n, window), zeros(n, "u1"),
             i(n))  # fmt: skip
    for block, n, symbols in ((32, 500, 200), (128, 20_011, 60), (64, 60_013, 40)):
        case("latency", "rans_decode", up(n, block), block, numbers((symbols + 2) * n, 1 << 16, "u2"),
             Shaped("slots", "u4", 4_096, 60), zeros(symbols * n, "u1"), i(n), i(symbols))  # fmt: skip
    for block, grid, piece in ((128, 200, 4_096), (256, 1_500, 3_001)):
        case("alu", "adler_pieces", grid, block, numbers(grid * piece, 256, "u1"), zeros(grid, "u4"), i(piece))
    for disks, block, n in ((4, 128, 60_013), (10, 256, 500_009), (6, 512, 2_000_003)):
        case("stream" if n > 300_000 else "alu", f"raid_parity<{disks}>", up(n, block), block,
             numbers(disks * n, 1 << 32, "u4"), zeros(3 * n, "u4"), i(n))  # fmt: skip


def _sorting(case: Any) -> None:
    for grid, block, n in ((132, 256, 200_003), (264, 512, 1_500_007)):
        case("sort", "bucket_by_splitters", grid, block, numbers(n, 1 << 30), Shaped("splitters", "i4", 256, 1 << 30),
             zeros(n, "u1"), zeros(256, "i4"), i(n))  # fmt: skip
    for size, block, n in ((16, 128, 60_013), (40, 64, 20_011), (24, 256, 100_003)):
        case("sort", f"comb_sort<{size}>", up(n, block), block, numbers(size * n, 1 << 20), zeros(size * n, "i4"), i(n))
    for block, n, clauses in ((128, 60_013, 150), (256, 800_003, 300)):
        case("divergence", "first_failed", up(n, block), block, numbers(3 * clauses, 64), zeros(n, "i4"), i(clauses),
             i(n), u(77))  # fmt: skip


def _few(case: Any) -> None:
    case("tiny", "seam_costs", 1, 64, numbers(64 * 40, 255), zeros(64, "i4"), i(40), smem=512)
    case("tiny", "route_tokens", 2, 64, normal(64 * 4), zeros(8, "i4"), zeros(8), zeros(64, "i4"), i(4))
    case("tiny", "elliptic_agm", 1, 32, Shaped("below one", "f8", 30), zeros(30, "f8"), i(30))
    case("tiny", "gram_schmidt<4>", 3, 32, normal(4 * 96), zeros(4 * 96))
    case("tiny", "adler_pieces", 1, 256, numbers(5_000, 256, "u1"), zeros(1, "u4"), i(5_000))
    case("tiny", "lstm_cell", 4, 128, normal(2_048), normal(512), zeros(512), i(2), i(256))


def _uneven(case: Any) -> None:
    n = 1_057 * 256
    case("tail", "sobol_integrals", 397, 1_024, Shaped("directions", "u4", 256), zeros(397), i(60))
    case("tail", "bond_yields", 1_057, 256, Shaped("above half", "f4", n, 1), unit(n), Shaped("from one", "i4", n, 30),
         zeros(n), i(n))  # fmt: skip
    case("tail", "goertzel_bins", 133, 1_024, normal(133 * 300), zeros(133 * 1_024), i(300), smem=1_200)
    case("blocks", "unpack_bits<5>", 20_000, 32, numbers(100_002, 1 << 32, "u4"), numbers(5_000, 1 << 20),
         zeros(640_000, "i4"), i(640_000))  # fmt: skip


def _crowded(case: Any) -> None:
    for smem in (100 << 10, 50 << 10):
        n = 50_021 - smem // 1_024
        case("occupancy", "find_roots", 396, 128, Shaped("parents", "i4", n, 5), zeros(2 * n, "i4"), i(n), smem=smem)
        case("occupancy", "eigen_3x3", up(n, 128), 128, normal(6 * n), zeros(3 * n), i(n), i(3), smem=smem)
        case("occupancy", "ldpc_checks<8>", up(n, 64), 64, normal(2 * n), numbers(8 * n, 2 * n), zeros(8 * n), i(n),
             smem=smem)  # fmt: skip


def _block_sizes(case: Any) -> None:
    n = 131_072
    for block in SERIES:
        grid, warps = n // block, n // 32
        case("sfu", "eigen_3x3", grid, block, normal(6 * n), zeros(3 * n), i(n), i(4), series="eigen_3x3")
        case("fp64", "log_gammas", grid, block, Shaped("above half", "f8", n + 5, 30), zeros(n + 5, "f8"), i(n + 5),
             series="log_gammas")  # fmt: skip
        case("atomics", "equalise_tiles", 300, block, numbers(4_096 * 300, 256, "u1"), zeros(4_096 * 300, "u1"),
             series="equalise_tiles")  # fmt: skip
        case("montecarlo", "neutron_walks", grid, block, zeros(n, "i4"), i(n), f(6), f(0.05), u(99),
             series="neutron_walks")  # fmt: skip
        case("shuffle", "lms_filter", grid, block, normal(64 * warps), normal(64 * warps, high=2), zeros(64 * warps),
             i(warps), i(64), f(0.01), series="lms_filter")  # fmt: skip
        case("shared", "motif_scan", grid, block, numbers(n, 4, "u1"), normal(4 * 10 * 12), zeros(n), i(n), i(10),
             i(12), smem=16 * 120, series="motif_scan")  # fmt: skip
        case("cache", "channel_stats", 128, block, normal(8 * 128 * 1_500), zeros(256), i(8), i(128), i(1_500),
             series="channel_stats")  # fmt: skip
        case("latency", "rans_decode", grid // 4, block, numbers(52 * (n // 4), 1 << 16, "u2"),
             Shaped("slots", "u4", 4_096, 60), zeros(50 * (n // 4), "u1"), i(n // 4), i(50),
             series="rans_decode")  # fmt: skip
        case("shuffle", "route_tokens", grid, block, normal(64 * warps), zeros(2 * warps, "i4"), zeros(2 * warps),
             zeros(64, "i4"), i(warps), series="route_tokens")  # fmt: skip
        case("sort", "comb_sort<24>", grid // 2, block, numbers(24 * (n // 2), 1 << 20), zeros(24 * (n // 2), "i4"),
             i(n // 2), series="comb_sort")  # fmt: skip
        case("sort", "bucket_by_splitters", grid, block, numbers(500_009, 1 << 30),
             Shaped("splitters", "i4", 256, 1 << 30), zeros(500_009, "u1"), zeros(256, "i4"), i(500_009),
             series="bucket_by_splitters")  # fmt: skip
        case("physics", "hll_fluxes", grid, block, Shaped("gases", "f4", 3 * 300_007), zeros(3 * 300_007), i(300_007),
             series="hll_fluxes")  # fmt: skip
        case("database", "expand_runs", grid, block, offsets(20_000, 20), numbers(20_000, 1 << 30),
             zeros(400_000, "i4"), i(20_000), i(400_000), series="expand_runs")  # fmt: skip
        case("alu", "adler_pieces", 264, block, numbers(264 * 6_000, 256, "u1"), zeros(264, "u4"), i(6_000),
             series="adler_pieces")  # fmt: skip
