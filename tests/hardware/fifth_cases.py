"""A fifth set of launches for the timing model: other kernels than those of the four sets before it, predicted and
committed before a GPU measured them. At most a third of them are bound by DRAM. Whoever changes the model after their
measurement needs new launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "fifth.cu"
FILE = "fifth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_latency, _arithmetic, _shared, _rows, _matrices, _indirect, _atomics, _control, _caches, _small_and_uneven,
         _streams, _block_sizes)
    )  # fmt: skip


def _latency(case: Any) -> None:
    for grid, block, steps in ((9, 64, 500), (190, 224, 160)):
        case("latency", "duffing", grid, block, zeros(grid * block), i(steps))
    for grid, block, turns in ((5, 128, 260), (143, 96, 120)):
        case("latency", "middle_square", grid, block, zeros(grid * block, "u4"), i(turns))
    for grid, size, steps in ((4, 2003, 50), (100, 70_001, 30), (132, 3_000_017, 14)):
        case("latency", "follow_twice", grid, 64, numbers(size, size), numbers(size + 1, size), zeros(grid * 64, "i4"),
             i(steps), i(size))  # fmt: skip
    for grid, block, turns in ((21, 96, 110), (264, 160, 50)):
        case("latency", "tangents", grid, block, zeros(grid * block), i(turns))
    for grid, block, turns in ((17, 160, 80), (132, 288, 45)):
        case("latency", "remainders_of", grid, block, zeros(grid * block, "u4"), i(turns), u(1_000_003))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 320, 80), (530, 224, 36)):
        case("fma", "spring_chain", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), i(turns))
    for grid, block, degree in ((132, 160, 150), (300, 384, 70)):
        case("fma", "chebyshev", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), i(degree))
    for grid, block, rounds in ((132, 416, 60), (350, 256, 40)):
        case("alu", "siphash_like", grid, block, zeros(grid * block, "u4"), i(rounds))
    for grid, block, turns in ((132, 192, 120), (401, 224, 60)):
        n = grid * block
        case("alu", "counted_compares", grid, block, numbers(n, 9999), zeros(n, "i4"), i(turns))
    for grid, block, turns in ((80, 256, 90), (420, 160, 50)):
        n = grid * block
        case("alu", "bytes_mixed", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
    for grid, block, turns in ((132, 288, 60), (611, 128, 40)):
        n = grid * block
        case("sfu", "gaussians", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns))
    for n, turns in ((25_013, 44), (190_021, 20)):
        case("sfu", "inverse_norms", -(-n // 160), 160, numbers(n, 9, "f4"), zeros(n), i(n), i(turns))
    for grid, block, terms in ((70, 96, 18), (270, 224, 9)):
        n = grid * block
        case("fp64", "bessel_series", grid, block, numbers(n, 99, "f8"), zeros(n, "f8"), i(terms))
    case("fp64", "double_dots", 200, 192, numbers(200 * 192, 9, "f8"), numbers(200 * 192, 8, "f8"),
         zeros(200 * 192, "f8"), i(40))  # fmt: skip


def _shared(case: Any) -> None:
    for grid, block, turns in ((132, 608, 30), (410, 224, 40)):
        n = grid * block
        case("barrier", "smooth_in_block", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns), smem=4 * block)
    for grid, block in ((132, 512), (620, 256)):
        case("barrier", "heap_sums", grid, block, numbers(grid * block, 999), zeros(grid * block, "i4"), smem=4 * block)
    for grid, block in ((132, 768), (700, 224)):
        case("barrier", "sum_scan", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), smem=128)
    for grid, block, rounds in ((132, 320, 50), (260, 544, 30)):
        case("barrier", "relay", grid, block, numbers(grid * block, 999), zeros(grid * block, "i4"), i(rounds))
    for grid, block in ((132, 288), (270, 352)):
        case("shared", "nearest_in_block", grid, block, numbers(grid * block, 9_999, "f4"), zeros(grid * block, "i4"),
             smem=4 * block)  # fmt: skip
    for apart in (1, 6, 24):
        case("shared", f"column_walk<{apart}>", 260, 192, numbers(32 * apart + 64, 3, "f4"), zeros(260 * 192), i(96))
    for grid, n in ((132, 300_007), (400, 1_000_003)):
        case("shared", "digits_of", grid, 256, numbers(n, 99_999, "u4"), zeros(64, "u4"), i(n))


def _rows(case: Any) -> None:
    for rows, block, cols in ((111, 96, 501), (290, 256, 901), (132, 640, 3001)):
        case("rows", "centre_rows", rows, block, numbers(rows * cols, 9, "f4"), zeros(rows * cols), i(cols))
    for rows, cols in ((700, 190), (2_501, 77)):
        case("rows", "log_sum_rows", -(-rows // 6), 192, numbers(rows * cols, 9, "f4"), zeros(rows), i(rows), i(cols))
    for rows, cols in ((601, 150), (5_003, 60)):
        a, b = numbers(2 * rows * cols, 9, "f4"), numbers(2 * rows * cols, 8, "f4")
        case("rows", "products_of_rows", -(-rows // 10), 160, a, b, zeros(rows), i(rows), i(cols))
    for grid, n in ((132, 290_011), (390, 1_300_003)):
        case("reduction", "count_above", grid, 288, numbers(n, 999, "f4"), zeros(grid * 9, "u4"), i(n), f(400.0))
    for grid, each in ((140, 700), (520, 450)):
        case("reduction", "block_means", grid, 128, numbers(4 * grid * each, 9, "f4"), zeros(grid), i(each))


def _matrices(case: Any) -> None:
    for n, depth in ((256, 150), (512, 90)):
        case("matrix", "gemm_8_columns", (n // 64, n // 16), (8, 16), numbers(n * depth, 9, "f4"),
             numbers(n * depth, 8, "f4"), zeros(n * n), i(n), i(depth))  # fmt: skip
    for n in (300, 1_100):
        case("matrix", "tiles_turned", (-(-n // 16), -(-n // 16)), (16, 16), numbers(n * n, 9, "f4"), zeros(n * n),
             i(n))  # fmt: skip
    for n, wide in ((40_009, 9), (160_001, 21)):
        case("matrix", "banded", -(-n // 192), 192, numbers(n * wide, 9, "f4"), numbers(n, 9, "f4"), zeros(n), i(n),
             i(wide))  # fmt: skip
    for width, height in ((500, 300), (1_400, 700)):
        case("cache", "laplace_9", (-(-width // 32), -(-height // 6)), (32, 6), numbers(width * height, 9, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for n, radius in ((90_001, 7), (700_003, 12)):
        case("cache", "box_rows", -(-n // 224), 224, numbers(n, 9, "f4"), zeros(n), i(n), i(radius))
    for width, height in ((300, 200), (900, 600)):
        case("matrix", "halve_image", (-(-width // 32), -(-height // 8)), (32, 8), numbers(4 * width * height, 9, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip


def _indirect(case: Any) -> None:
    for rows, cols in ((1_501, 96), (6_007, 160)):
        case("gather", "take_rows", -(-rows // 4), 128, numbers(rows, 8_000), numbers(8_000 * cols, 9, "f4"),
             zeros(rows * cols), i(rows), i(cols))  # fmt: skip
    for n in (80_021, 500_009):
        case("gather", "swap_by", -(-n // 256), 256, numbers(n, n), numbers(n + 1, 9, "f4"), zeros(n), i(n))
    for n, mask in ((70_001, 0xFFFF), (260_017, 0xFFFFF)):
        case("gather", "hash_find", -(-n // 160), 160, numbers(n, 1 << 30, "u4"), numbers(mask + 1, 1 << 20, "u4"),
             zeros(n, "u4"), i(n), u(mask))  # fmt: skip
    for n, pieces in ((110_003, 300), (800_011, 40_000)):
        case("gather", "piecewise", -(-n // 256), 256, numbers(pieces, 99, "f4"), numbers(n, 100, "f4"), zeros(n), i(n),
             i(pieces))  # fmt: skip
    for rows in (20_011, 90_001):
        case("gather", "sparse_rows", -(-rows // 24), 192, numbers(rows, 4), numbers(12 * rows, rows),
             numbers(rows + 1, 9, "f4"), zeros(rows), i(rows))  # fmt: skip


def _atomics(case: Any) -> None:
    for n, keys in ((120_011, 101), (260_003, 7_001), (350_003, 500_009)):
        case("atomics", "sums_by_key", 198, 224, numbers(n, keys), numbers(n + 1, 1 << 10), zeros(keys, "i4"), i(n))
    for n, cols in ((200_003, 50), (400_009, 1_000)):
        case("atomics", "greatest_by_row", 264, 256, numbers(n, 1 << 20), zeros(-(-n // cols), "i4"), i(n), i(cols))
    for n, places in ((300_007, 1), (500_009, 64)):
        case("atomics", "float_totals", 264, 192, numbers(n, 9, "f4"), zeros(places), i(n), i(places))
    for grid, turns, m in ((132, 6, 20_011), (280, 4, 9_000_011)):
        case("atomics", "toggles", grid, 192, zeros(m // 32 + 1, "u4"), i(turns), u(m))


def _control(case: Any) -> None:
    for width, high, most in ((288, 200, 70), (600, 320, 40)):
        case("divergence", "tricorn", (width // 24, high // 8), (24, 8), zeros(width * high, "i4"), i(width), i(most))
    for n in (12_007, 75_011):
        case("divergence", "bisect", -(-n // 160), 160, numbers(n, 9_999, "f4"), zeros(n), i(n), i(40))
    for grid, turns in ((132, 70), (390, 36)):
        case("divergence", "three_ways", grid, 192, numbers(grid * 192, 999), zeros(grid * 192, "i4"), i(turns))
    for n, most in ((15_013, 60), (90_001, 30)):
        case("divergence", "until_found", -(-n // 128), 128, numbers(n, 20), zeros(n, "i4"), i(n), i(most), i(7))
    for lines, grid, block in ((90, 132, 288), (400, 260, 128), (1500, 33, 96)):
        case("code", f"mixed_lines<{lines}>", grid, block, numbers(grid * block, 1 << 30, "u4"),
             zeros(grid * block, "u4"))  # fmt: skip


def _caches(case: Any) -> None:
    for grid, count in ((132, 18), (396, 12)):
        case("cache", "lagrange", grid, 160, numbers(grid * 160, 9, "f4"), numbers(count, 99, "f4"), zeros(grid * 160),
             i(count))  # fmt: skip
    for strip, count in ((24, 30_011), (52, 90_001), (33, 40_009)):
        case("cache", "own_strips", -(-count // 192), 192, numbers(strip * count, 9, "f4"), zeros(count), i(strip),
             i(count))  # fmt: skip


def _small_and_uneven(case: Any) -> None:
    case("tiny", "wide_marks", 4, 128, zeros(4 * 500, "u4"), i(500))
    case("tiny", "reversed", 30, 160, numbers(4_700, 9, "f4"), zeros(4_700), i(4_700))
    case("tiny", "piecewise", 11, 64, numbers(50, 99, "f4"), numbers(700, 100, "f4"), zeros(700), i(700), i(50))
    case("tiny", "three_ways", 2, 32, numbers(64, 99), zeros(64, "i4"), i(5))
    case("tail", "gaussians", 134, 1024, numbers(134 * 1024, 9, "f4"), zeros(134 * 1024), i(40))
    case("tail", "siphash_like", 1_059, 256, zeros(1_059 * 256, "u4"), i(30))
    case("tail", "spring_chain", 267, 768, numbers(267 * 768, 9, "f4"), zeros(267 * 768), i(50))
    for smem in (110 << 10, 50 << 10):
        case("occupancy", "middle_square", 264, 160, zeros(264 * 160, "u4"), i(60), smem=smem)
        case("occupancy", "follow_twice", 264, 64, numbers(30_011, 30_011), numbers(30_012, 30_011),
             zeros(264 * 64, "i4"), i(24), i(30_011), smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for n in (350_003, 2_500_001):
        a, b = zeros(4 * n), zeros(4 * n)
        case("stream", "blend", -(-n // 224), 224, a, b, zeros(4 * n), f(0.3), i(n))
    for n in (800_011, 6_000_007):
        case("stream", "clip_loop", 528, 320, zeros(2 * n), zeros(2 * n), f(-1), f(1), i(n))
    for n in (400_003, 4_000_037):
        case("stream", "split_planes", -(-n // 256), 256, zeros(4 * n, "u1"), zeros(4 * n, "u1"), i(n))
    for n in (600_011, 3_500_003):
        case("stream", "wide_marks", 660, 192, zeros(4 * n, "u4"), i(n))
    for n in (1_200_007, 9_000_011):
        case("stream", "reversed", -(-n // 256), 256, zeros(n), zeros(n), i(n))
    for grid, n in ((264, 700_001), (528, 4_500_003)):
        case("stream", "total_of", grid, 384, zeros(4 * n), zeros(grid * 384), i(n))
    case("stream", "tiles_turned", (190, 190), (16, 16), zeros(3_040 * 3_040), zeros(3_040 * 3_040), i(3_040))
    case("stream", "take_rows", 12_000, 128, numbers(48_000, 60_000), zeros(60_000 * 128), zeros(48_000 * 128),
         i(48_000), i(128))  # fmt: skip


def _block_sizes(case: Any) -> None:
    n = 135_168
    for block in SERIES:
        case("rows", "centre_rows", 420, block, zeros(420 * 1200), zeros(420 * 1200), i(1200), series="centre_rows")
        case("sfu", "gaussians", 2 * n // block, block, numbers(2 * n, 9, "f4"), zeros(2 * n), i(18),
             series="gaussians")  # fmt: skip
        case("divergence", "bisect", -(-n // block), block, numbers(n, 9_999, "f4"), zeros(n), i(n), i(30),
             series="bisect")  # fmt: skip
        case("atomics", "toggles", 67_584 // block, block, zeros(1 << 15, "u4"), i(4), u(1 << 20), series="toggles")
        case("stream", "clip_loop", 2 * n // block, block, zeros(6_000_002), zeros(6_000_002), f(-1), f(1),
             i(3_000_001), series="clip_loop")  # fmt: skip
