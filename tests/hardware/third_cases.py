"""A third set of launches for the timing model: other kernels than those of ``timing_cases`` and ``validation_cases``,
predicted and committed before the GPUs measured them. At most a third of them are bound by DRAM. Whoever changes the
model after their measurement needs new launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import Array, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "third.cu"
FILE = "third.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _latency,
            _arithmetic,
            _shared,
            _reductions,
            _matrices,
            _indirect,
            _atomics,
            _control,
            _caches,
            _streams,
            _block_sizes,
        )
    )


def _latency(case: Any) -> None:
    for grid, block, terms in ((9, 64, 150), (300, 128, 40)):
        n = grid * block
        case("latency", "continued_fraction", grid, block, zeros(n), i(n), i(terms))
    for grid, block, steps in ((1, 32, 60), (80, 96, 30)):
        n = grid * block
        case("latency", "automaton", grid, block, numbers(16384, 1024), numbers(n * steps, 200, "u1"),
             zeros(n, "i4"), i(steps))  # fmt: skip
    for grid, block, turns in ((60, 64, 30), (400, 128, 16)):
        n = grid * block
        case("fp64", "cube_roots", grid, block, numbers(n, 99, "f8"), zeros(n, "f8"), i(turns))
    for grid, block, steps in ((2, 64, 500), (132, 256, 250)):
        n = grid * block
        case("latency", "leaky", grid, block, numbers(n, 9, "f4"), zeros(n), i(steps))
    case("latency", "lfsr", 20, 128, zeros(2560, "u8"), i(200))
    for grid, block, steps in ((4, 128, 60), (132, 128, 40)):
        n = grid * block
        case("latency", "dependent_rows", grid, block, numbers(4096 * steps, 9, "f4"), zeros(n), i(4096), i(steps))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 128, 120), (500, 256, 40)):
        case("fma", "quaternions", grid, block, numbers(4 * grid * block, 3, "f4"), i(turns))
    for grid, block, rounds in ((30, 128, 120), (700, 256, 50)):
        n = grid * block
        case("alu", "murmur", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(rounds))
    for grid, n in ((132, 132 * 1024), (400, 250_000)):
        case("sfu", "softplus", grid, 256, numbers(n, 99, "f4"), zeros(n), i(n))
    for grid, block, turns in ((70, 96, 80), (396, 256, 60)):
        case("sfu", "unit_vectors", grid, block, numbers(4 * grid * block, 9, "f4"), i(turns))
    for grid, block, terms in ((132, 192, 60), (530, 128, 80)):
        case("sfu", "tones", grid, block, zeros(grid * block), i(terms))
    case("fp64", "double_sums", 132, 128, *[numbers(132 * 128 * 12, 9, "f8")] * 2, zeros(132 * 128, "f8"), i(12))
    for grid, block, turns in ((40, 64, 100), (264, 256, 60)):
        case("alu", "bit_tricks", grid, block, zeros(grid * block, "u4"), i(turns))
    case("alu", "fixed_point", 200, 128, numbers(25600, 999), zeros(25600, "i4"), i(90))


def _shared(case: Any) -> None:
    for grid, block in ((132, 512), (600, 128)):
        case("barrier", "hadamard", grid, block, numbers(2 * grid * block, 9, "f4"), smem=8 * block)
    for grid, block, rounds in ((132, 256, 60), (300, 512, 24)):
        case("barrier", "odd_even_sort", grid, block, numbers(2 * grid * block, 9999), i(rounds))
    case("barrier", "life", 132, (32, 32), numbers(132 * 1024, 2, "u1"), i(20))
    for pitch in (32, 33, 40):
        case("shared", f"tile_rows<{pitch}>", 264, 256, numbers(264 * 1024, 9, "f4"), zeros(264 * 256), i(96))
    for grid, n in ((132, 300_000), (700, 700_000)):
        case("shared", "count_letters", grid, 256, numbers(n, 200, "u1"), zeros(64, "u4"), i(n))
    for grid, block in ((140, 1024), (500, 256)):
        case("barrier", "hillis_scan", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), smem=4 * block)
    case("shared", "rows_by_vector", 100, 128, numbers(4 * 12800 * 20, 9, "f4"), numbers(80, 9, "f4"), zeros(12800),
         i(20), smem=320)  # fmt: skip


def _reductions(case: Any) -> None:
    for grid, block, n in ((132, 256, 400_000), (528, 128, 1 << 20)):
        case("reduction", "variances", grid, block, numbers(n, 9, "f4"), zeros(2 * grid), i(n))
    for rows, quads, block in ((80, 300, 128), (400, 512, 256), (132, 2000, 512)):
        case("rows", "group_norm", rows, block, numbers(4 * rows * quads, 9, "f4"), zeros(4 * rows * quads), i(quads))
    for rows, cols in ((500, 300), (2640, 128)):
        case(
            "rows", "arg_min", -(-rows // 8), 256, numbers(rows * cols, 9999, "f4"), zeros(rows, "i4"), i(rows), i(cols)
        )
    for grid, n in ((66, 100_000), (528, 900_000)):
        case("reduction", "dot_products", grid, 256, *[numbers(n, 9, "f4")] * 2, zeros(1), i(n))
    case("rows", "rotary", 512, 128, numbers(2 * 65536, 9, "f4"), i(64), i(1024))


def _matrices(case: Any) -> None:
    case("matrix", "outer_product", (16, 64), (32, 8), numbers(512, 9, "f4"), numbers(512, 8, "f4"), zeros(1 << 18),
         i(512))  # fmt: skip
    for n, k in ((256, 256), (512, 128)):
        case("matrix", "gram_tiles", (n // 16, n // 16), (16, 16), numbers(n * k, 9, "f4"), zeros(n * n), i(n), i(k))
    for width, height, channels in ((256, 128, 8), (640, 320, 3)):
        case("matrix", "conv_3x3", (width // 32, height // 8), (32, 8), numbers(width * height * channels, 9, "f4"),
             numbers(9 * channels, 5, "f4"), zeros(width * height), i(width), i(height), i(channels))  # fmt: skip
    for blocks in (100, 400):
        case("matrix", "lower_solve", blocks, 128, numbers(blocks * 128 * 128, 3, "f4"), numbers(blocks * 128, 5, "f4"),
             i(128))  # fmt: skip


def _indirect(case: Any) -> None:
    for n in (20_000, 120_000):
        case("gather", "relax", -(-n // 128), 128, numbers(32 * n, n), numbers(n, 99), zeros(n, "i4"), i(n))
    for size in (1 << 14, 1 << 19):
        case("gather", "probe", 264, 256, numbers(size, 1 << 20, "u4"), numbers(200_000, 1 << 30, "u4"),
             zeros(200_000, "u4"), i(200_000), u(size - 1))  # fmt: skip
    for blocks, per in ((300, 8), (1000, 3)):
        case("gather", "bags", blocks, 64, numbers(4 * 64 * 4000, 9, "f4"), numbers(blocks * per, 4000),
             zeros(4 * 64 * blocks), i(64), i(per))  # fmt: skip
    for n in (1 << 15, 1 << 18):
        case("gather", "polyline", 132, 256, numbers(2 * n, 99, "f4"), Array("ring", "i4", n, 30011), zeros(n), i(n))


def _atomics(case: Any) -> None:
    n = 200_000
    for size in (32, 2048, 1 << 18):
        case("atomics", "bucket_slots", 264, 256, numbers(n, 1 << 30, "u4"), zeros(size, "u4"), zeros(n, "u4"), i(n),
             u(size - 1))  # fmt: skip
    for size in (500, 100_000):
        case("atomics", "scatter_add", 264, 256, numbers(n, size), numbers(n, 9, "f4"), zeros(size), i(n))
    for rows in (4, 132):
        case("atomics", "row_peaks", 396, 256, numbers(396 * 1024, 9999), zeros(rows, "i4"), i(rows), i(1024))
    for grid, size in ((33, 1024), (132, 1 << 16)):
        case("atomics", "swap_in", grid, 128, zeros(size, "u4"), zeros(grid * 128, "u4"), i(10), u(size - 1))
    for size in (256, 8192):
        case("atomics", "double_bins", 132, 256, numbers(100_000, 1 << 30, "u4"), zeros(size, "f8"), i(100_000),
             u(size - 1))  # fmt: skip


def _control(case: Any) -> None:
    case("divergence", "newton_fractal", (20, 40), (16, 8), zeros(320 * 320, "i4"), i(320), i(40))
    for n in (10_000, 80_000):
        case("divergence", "smallest_factor", -(-n // 128), 128, numbers(n, 40_000, "u4"), zeros(n, "u4"), i(n))
    case("divergence", "run_lengths", 400, 128, numbers(51200, 256, "u1"), zeros(51200, "i4"), i(51200))
    for grid, steps in ((132, 80), (500, 40)):
        case("divergence", "choose", grid, 128, numbers(128, 200, "u1"), numbers(grid * 128, 9, "f4"), i(steps))
    for lines, grid, block in ((150, 132, 128), (600, 132, 256), (2500, 40, 64)):
        case("code", f"straight_line<{lines}>", grid, block, numbers(grid * block, 1 << 30, "u4"),
             zeros(grid * block, "u4"))  # fmt: skip


def _caches(case: Any) -> None:
    for width, height in ((512, 256), (1920, 1080)):
        case("cache", "sobel", (width // 32, height // 8), (32, 8), numbers(width * height, 255, "u1"),
             zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    case("cache", "median_rows", 1200, 256, numbers(307_200, 999, "f4"), zeros(307_200), i(307_200))
    case("cache", "upsample", (16, 64), (32, 8), numbers(256 * 256, 99, "f4"), zeros(512 * 512), i(256), i(256))
    for grid, count in ((132, 128), (264, 400)):
        case("cache", "forces", grid, 128, numbers(4 * grid * 128, 9, "f4"), zeros(4 * grid * 128), i(count))
    for size in (2000, 200_000):
        case("cache", "table_mix", 264, 128, numbers(size, 9, "f4"), zeros(264 * 128), i(size), i(40))
    case("tiny", "every_other", 2, 64, numbers(1000, 9, "f4"), zeros(128), i(100), i(5))
    case("tiny", "axpby", 20, 128, numbers(4 * 2560, 9, "f4"), zeros(4 * 2560), f(2), f(3), i(2500))
    case("tiny", "signs", 64, 256, numbers(16384, 2, "f4"), zeros(512, "u4"), i(16384))
    case("tiny", "softplus", 1, 32, numbers(32, 9, "f4"), zeros(32), i(32))
    for grid, block in ((133, 1024), (270, 512)):
        case("tail", "unit_vectors", grid, block, numbers(4 * grid * block, 9, "f4"), i(30))
    case("tail", "murmur", 1060, 256, numbers(1060 * 256, 1 << 30, "u4"), zeros(1060 * 256, "u4"), i(80))
    for smem in (100 << 10, 40 << 10):
        case("occupancy", "tones", 396, 128, zeros(396 * 128), i(40), smem=smem)
        case("occupancy", "dependent_rows", 264, 64, numbers(4096 * 30, 9, "f4"), zeros(264 * 64), i(4096), i(30),
             smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for n in (300_000, 4_000_000):
        case("stream", "axpby", -(-n // 256), 256, zeros(4 * n), zeros(4 * n), f(2), f(3), i(n))
    for n in (1_000_000, 10_000_000):
        case("stream", "interleave", 1056, 256, zeros(n), zeros(n), zeros(2 * n), i(n))
    for grid, n in ((132, 500_000), (528, 6_000_000)):
        case("stream", "square_sums", grid, 512, zeros(4 * n), zeros(grid * 512), i(n))
    case("stream", "signs", 40_000, 256, zeros(10_240_000), zeros(320_000, "u4"), i(10_240_000))
    for pitch in (2, 8):
        case("stream", "every_other", 6000, 256, zeros(1_536_000 * pitch), zeros(1_536_000), i(1_536_000), i(pitch))
    case("stream", "outer_product", (128, 256), (32, 8), numbers(2048, 9, "f4"), numbers(4096, 8, "f4"), zeros(1 << 23),
         i(4096))  # fmt: skip
    case("stream", "group_norm", 6000, 256, zeros(4 * 6000 * 512), zeros(4 * 6000 * 512), i(512))
    case("stream", "variances", 528, 256, zeros(15_000_000), zeros(2 * 528), i(15_000_000))
    case("stream", "bags", 20_000, 64, zeros(4 * 64 * 100_000), numbers(60_000, 100_000), zeros(4 * 64 * 20_000),
         i(64), i(3))  # fmt: skip
    case("stream", "median_rows", 40_000, 256, zeros(10_240_000), zeros(10_240_000), i(10_240_000))


def _block_sizes(case: Any) -> None:
    for block in SERIES:
        case("rows", "group_norm", 500, block, zeros(4 * 500 * 800), zeros(4 * 500 * 800), i(800), series="group_norm")
        case("sfu", "unit_vectors", 135168 // block, block, numbers(4 * 135168, 9, "f4"), i(40), series="unit_vectors")
        case("divergence", "newton_fractal", (512 // 32, 512 * 32 // block), (32, block // 32), zeros(1 << 18, "i4"),
             i(512), i(30), series="newton_fractal")  # fmt: skip
        case("atomics", "scatter_add", 67584 // block, block, numbers(300_000, 30_000), numbers(300_000, 9, "f4"),
             zeros(30_000), i(300_000), series="scatter_add")  # fmt: skip
        case("barrier", "hadamard", 135168 // block // 2, block, numbers(135168, 9, "f4"), smem=8 * block)  # fmt: skip
        case("stream", "interleave", 264 * 1024 // block, block, zeros(5_000_000), zeros(5_000_000), zeros(10_000_000),
             i(5_000_000), series="interleave")  # fmt: skip
