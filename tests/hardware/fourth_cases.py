"""A fourth set of launches for the timing model: other kernels than those of the three sets before it, with odd sizes,
predicted and committed before the GPUs measured them. At most a third of them are bound by DRAM. Whoever changes the
model after their measurement needs new launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "fourth.cu"
FILE = "fourth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Kernel -> why its launches are not measured. They were predicted with the others.
NOT_MEASURED = {"append_where": "each launch on the same arrays appends behind the one before, and leaves its array"}


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
            _rows,
            _matrices,
            _indirect,
            _atomics,
            _control,
            _caches,
            _small_and_uneven,
            _streams,
            _block_sizes,
        )
    )


def _latency(case: Any) -> None:
    for grid, block, steps in ((7, 96, 700), (211, 160, 230)):
        case("latency", "logistic", grid, block, zeros(grid * block), i(steps))
    for grid, block, turns in ((3, 64, 90), (137, 128, 35)):
        case("latency", "digit_sums", grid, block, zeros(grid * block, "u4"), i(turns))
    for grid, size, steps in ((5, 3001, 45), (90, 150_001, 24), (132, 5_000_011, 12)):
        case("latency", "hops", grid, 64, numbers(size, size), zeros(grid * 64, "i4"), i(steps), i(size))
    case("latency", "fibonacci", 61, 96, zeros(61 * 96, "u4"), i(310), u(1_000_003))
    for grid, block, turns in ((29, 128, 130), (132, 512, 48)):
        case("latency", "cordic", grid, block, zeros(grid * block, "i4"), i(turns))
    case("latency", "shuffled_sums", 132, 96, numbers(132 * 96, 99, "f4"), zeros(132 * 96), i(75))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 224, 90), (613, 256, 33)):
        case("fma", "mat4", grid, block, numbers(4 * grid * block, 9, "f4"), zeros(4 * grid * block), i(turns))
    for grid, block, rounds in ((132, 384, 70), (419, 192, 45)):
        case("alu", "philox", grid, block, zeros(grid * block, "u4"), i(rounds))
    for grid, block, turns in ((132, 128, 150), (300, 512, 37)):
        case("alu", "wide_products", grid, block, zeros(grid * block, "u8"), i(turns))
    case("alu", "popcounts", 131, 256, numbers(131 * 256 * 7, 1 << 40, "u8"), zeros(131 * 256, "i4"),
         i(131 * 256 * 7 - 99), i(7))  # fmt: skip
    for grid, block, turns in ((75, 128, 140), (528, 256, 52)):
        n = grid * block
        case("alu", "clamped", grid, block, numbers(n, 9999), zeros(n, "i4"), i(turns))
    for grid, block, turns in ((132, 160, 44), (462, 256, 21)):
        n = grid * block
        case("sfu", "box_muller", grid, block, numbers(2 * n, 9, "f4"), zeros(2 * n), i(turns))
    for n, turns in ((30_011, 38), (211_111, 17)):
        case("sfu", "sigmoids", -(-n // 192), 192, numbers(n, 5, "f4"), zeros(n), i(n), i(turns))
    for grid, block, turns in ((66, 128, 22), (305, 256, 9)):
        n = grid * block
        case("fp64", "kepler", grid, block, numbers(n, 99, "f8"), zeros(n, "f8"), i(turns))


def _shared(case: Any) -> None:
    for grid, block in ((132, 256), (450, 128)):
        case("barrier", "fourier", grid, block, numbers(4 * grid * block, 9, "f4"), zeros(4 * grid * block),
             smem=16 * block)  # fmt: skip
    for grid, block, steps in ((132, 736, 55), (390, 192, 80)):
        n = grid * block
        case("barrier", "rotate_ring", grid, block, numbers(n, 999), zeros(n, "i4"), i(steps), smem=4 * block)
    for grid, block in ((132, 1024), (777, 320)):
        n = grid * block
        case("barrier", "prefix_max", grid, block, numbers(n, 99_999), zeros(n, "i4"), smem=128)
    for grid, block in ((132, 192), (290, 416)):
        n = grid * block
        case("shared", "rank_sort", grid, block, numbers(n, 9_999), zeros(n, "i4"), smem=4 * block)
    for grid, block, steps in ((132, 128, 85), (264, 512, 40)):
        case("shared", "shared_walk", grid, block, numbers(2048, 2048), zeros(grid * block, "i4"), i(steps))
    for apart in (1, 4, 16):
        case("shared", f"strided_sums<{apart}>", 264, 224, numbers(544, 3, "f4"), zeros(264 * 224), i(110))
    for grid, block in ((132, 96), (200, 160)):
        n = grid * block
        case("barrier", "edit_distance", grid, block, numbers(n, 4, "u1"), numbers(n + 1, 4, "u1"), zeros(n, "i4"),
             smem=12 * (block + 1))  # fmt: skip
    for grid, n in ((132, 410_003), (528, 1_234_567)):
        case("shared", "key_counts", grid, 256, numbers(n, 99_999, "u4"), zeros(128, "u4"), i(n))


def _rows(case: Any) -> None:
    for rows, block, cols in ((97, 128, 333), (310, 256, 777), (132, 512, 2501)):
        case("rows", "standardise", rows, block, numbers(rows * cols, 9, "f4"), zeros(rows * cols), i(cols))
    for rows, cols in ((501, 217), (2900, 96)):
        case("rows", "norms_l1", -(-rows // 8), 256, numbers(rows * cols, 9, "f4"), zeros(rows), i(rows), i(cols))
    for rows, cols in ((333, 401), (3001, 130)):
        a, b = numbers(rows * cols, 9, "f4"), numbers(rows * cols, 8, "f4")
        case("rows", "cosines", -(-rows // 4), 128, a, b, zeros(rows), i(rows), i(cols))
    for rows, cols in ((90, 1111), (400, 450)):
        case("reduction", "entropies", rows, 192, numbers(rows * cols, 9, "f4"), zeros(rows), i(cols))
    for grid, n in ((132, 350_003), (396, 1_500_001)):
        case("reduction", "range_of", grid, 256, numbers(n, 999, "f4"), zeros(2 * grid), i(n))


def _matrices(case: Any) -> None:
    for n, depth in ((176, 208), (432, 112)):
        case("matrix", "gemm_transposed", (n // 16, n // 16), (16, 16), numbers(n * depth, 9, "f4"),
             numbers(n * depth, 8, "f4"), zeros(n * n), i(n), i(depth))  # fmt: skip
    for rows, cols in ((300, 2000), (70, 30_011)):
        case("matrix", "vector_by_columns", -(-cols // 128), 128, numbers(rows * cols, 9, "f4"), numbers(rows, 9, "f4"),
             zeros(cols), i(rows), i(cols))  # fmt: skip
    for n in (9_001, 100_003):
        case("matrix", "invert_3x3", -(-n // 128), 128, numbers(9 * n, 9, "f4"), zeros(9 * n), i(n))
    for n, width in ((50_021, 33), (300_007, 12)):
        case("matrix", "filter_1d", -(-n // 256), 256, numbers(n, 9, "f4"), numbers(width, 9, "f4"), zeros(n), i(n),
             i(width), smem=4 * (256 + width))  # fmt: skip
    for n, dims in ((210, 40), (700, 11)):
        case("matrix", "pair_distances", (-(-n // 32), -(-n // 8)), (32, 8), numbers(n * dims, 9, "f4"), zeros(n * n),
             i(n), i(dims))  # fmt: skip


def _indirect(case: Any) -> None:
    for n, size in ((60_013, 9_001), (500_009, 2_000_003)):
        case("gather", "edge_sums", -(-n // 256), 256, numbers(n, size), numbers(n + 1, size), numbers(size, 9, "f4"),
             zeros(n), i(n))  # fmt: skip
    for n, depth in ((20_011, 11), (150_001, 17)):
        case("gather", "tree_descent", -(-n // 128), 128, numbers(1 << (depth + 1), 1 << 20), numbers(n, 1 << 20),
             zeros(n, "i4"), i(n), i(depth))  # fmt: skip
    for n, width in ((40_009, 130), (300_017, 1400)):
        case("gather", "bilinear", -(-n // 192), 192, numbers(width * width, 9, "f4"),
             numbers(2 * n, width - 2, "f4"), zeros(n), i(n), i(width))  # fmt: skip
    for n in (70_001, 600_011):
        case("gather", "place_by", -(-n // 256), 256, numbers(n, n), numbers(n + 1, 9, "f4"), zeros(n), i(n))
    case("gather", "word_rows", 1700, 96, numbers(1700, 9_000), zeros(4 * 9_000 * 192), zeros(4 * 1700 * 192),
         i(1700), i(192))  # fmt: skip


def _atomics(case: Any) -> None:
    for grid, each, m in ((132, 4, 17), (132, 9, 1201), (300, 6, 40_009), (264, 5, 700_001)):
        case("atomics", "count_modulo", grid, 160, zeros(m, "u4"), i(each), u(m))
    for n, keys in ((150_001, 300), (250_007, 20_011), (400_009, 600_011)):
        case("atomics", "least_of_key", 264, 192, numbers(n, keys), numbers(n + 1, 1 << 20), zeros(keys, "i4"), i(n))
    for n, above in ((100_003, 90), (240_001, 20)):
        case("atomics", "append_where", 198, 256, numbers(n, 100), zeros(n, "i4"), zeros(1, "u4"), i(n), i(above))
    for n, mask in ((130_003, 0xFFFF), (210_011, 0xFFFFFF)):
        case("atomics", "mark_bits", 330, 128, numbers(n, 1 << 30, "u4"), zeros((mask + 1) // 32, "u4"), i(n), u(mask))
    case("atomics", "fold_words", 264, 256, numbers(500_009, 1 << 30, "u4"), zeros(8, "u4"), i(500_009))
    for n, bins in ((90_001, 61), (220_009, 9_973)):
        case("atomics", "weighted_bins", 231, 256, numbers(n, 99_999, "f4"), zeros(bins), i(n), i(bins))


def _control(case: Any) -> None:
    for width, high, most in ((320, 240, 60), (640, 200, 35)):
        case("divergence", "burning_ship", (width // 32, high // 4), (32, 4), zeros(width * high, "i4"), i(width),
             i(most))  # fmt: skip
    for n in (9_973, 60_013):
        case("divergence", "integer_roots", -(-n // 128), 128, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(n))
    for n, cols in ((16_411, 90), (100_003, 40)):
        case("divergence", "first_above", -(-n // 256), 256, numbers(n * cols, 100, "f4"), zeros(n, "i4"), i(n),
             i(cols), f(90.0))  # fmt: skip
    for grid, turns in ((132, 66), (410, 31)):
        case("divergence", "parities", grid, 128, numbers(grid * 128, 1 << 30, "u4"), zeros(grid * 128, "u4"),
             i(turns))  # fmt: skip
    case("divergence", "quadrants", 280, 192, numbers(2 * 280 * 192, 9, "f4"), zeros(280 * 192, "i4"), i(14))
    for lines, grid, block in ((120, 132, 224), (500, 264, 96), (1800, 31, 128)):
        case("code", f"long_chain<{lines}>", grid, block, numbers(grid * block, 1 << 30, "u4"))


def _caches(case: Any) -> None:
    for width, height in ((480, 270), (1312, 800)):
        case("cache", "blur_5x5", (-(-width // 32), -(-height // 8)), (32, 8), numbers(width * height, 9, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip
        case("cache", "heat_2d", (-(-width // 64), -(-height // 4)), (64, 4), numbers(width * height, 9, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for n in (120_011, 900_001):
        case("cache", "gamma_table", 396, 256, numbers(n, 256, "u1"), numbers(256, 99, "f4"), zeros(n), i(n))
    for grid, states, steps in ((99, 510, 42), (264, 9_001, 25)):
        case("cache", "transitions", grid, 128, numbers(8 * states, states), zeros(grid * 128, "i4"), i(states),
             i(steps))  # fmt: skip
    for grid, count in ((120, 111), (396, 260)):
        case("cache", "charges", grid, 128, numbers(4 * grid * 128, 9, "f4"), zeros(grid * 128), i(count))
    for height, width in ((5_003, 64), (20_011, 100)):
        case("cache", "down_columns", -(-height // 128), 128, zeros(height * width), zeros(height), i(width), i(height))


def _small_and_uneven(case: Any) -> None:
    case("tiny", "count_up", 3, 96, zeros(999, "u4"), i(999))
    case("tiny", "neighbour_sums", 41, 128, numbers(10_001, 9, "f4"), zeros(5_000), i(5_000))
    case("tiny", "edge_sums", 9, 64, numbers(501, 77), numbers(502, 77), numbers(77, 9, "f4"), zeros(501), i(501))
    case("tiny", "quadrants", 1, 32, numbers(64, 9, "f4"), zeros(32, "i4"), i(6))
    case("tail", "box_muller", 135, 1024, numbers(2 * 135 * 1024, 9, "f4"), zeros(2 * 135 * 1024), i(26))
    case("tail", "clamped", 1063, 256, numbers(1063 * 256, 9999), zeros(1063 * 256, "i4"), i(45))
    case("tail", "mat4", 271, 512, numbers(4 * 271 * 512, 9, "f4"), zeros(4 * 271 * 512), i(60))
    for smem in (90 << 10, 44 << 10):
        case("occupancy", "wide_products", 264, 128, zeros(264 * 128, "u8"), i(70), smem=smem)
        case("occupancy", "hops", 264, 64, numbers(40_009, 40_009), zeros(264 * 64, "i4"), i(20), i(40_009), smem=smem)


def _streams(case: Any) -> None:
    for grid, n in ((528, 410_003), (1056, 3_000_001)):
        case("stream", "scale_bias", grid, 256, zeros(4 * n), zeros(4 * n), f(2), f(3), i(n))
    for half in (333_333, 4_100_003):
        case("stream", "swap_halves", -(-half // 256), 256, zeros(2 * half), zeros(2 * half), i(half))
    for n in (250_007, 2_100_001):
        case("stream", "pack_bytes", -(-n // 128), 128, zeros(4 * n), zeros(4 * n, "u1"), i(n))
    for n in (700_001, 5_000_003):
        case("stream", "zip_three", 792, 256, zeros(n), zeros(n), zeros(n), zeros(4 * n), i(n))
    for n in (900_001, 8_000_003):
        case("stream", "neighbour_sums", -(-n // 512), 512, zeros(2 * n), zeros(n), i(n))
    case("stream", "count_up", 660, 256, zeros(9_000_001, "u4"), i(9_000_001))
    for n in (1_000_003, 6_000_011):
        case("stream", "momentum", -(-n // 256), 256, zeros(n), zeros(n), zeros(n), f(0.1), i(n))
    case("stream", "wide_maxima", 264, 512, zeros(4 * 4_000_001, "i4"), zeros(264 * 512, "i4"), i(4_000_001))
    case("stream", "down_columns", 782, 256, zeros(200_003 * 40), zeros(200_003), i(40), i(200_003))


def _block_sizes(case: Any) -> None:
    for block in SERIES:
        case("rows", "standardise", 460, block, zeros(460 * 1000), zeros(460 * 1000), i(1000), series="standardise")
        case("sfu", "box_muller", 270336 // block, block, numbers(2 * 270336, 9, "f4"), zeros(2 * 270336), i(15),
             series="box_muller")  # fmt: skip
        case("divergence", "burning_ship", (512 // 32, 256 * 32 // block), (32, block // 32), zeros(512 * 256, "i4"),
             i(512), i(45), series="burning_ship")  # fmt: skip
        case("atomics", "mark_bits", 67584 // block, block, numbers(260_003, 1 << 30, "u4"), zeros(1 << 15, "u4"),
             i(260_003), u(0xFFFFF), series="mark_bits")  # fmt: skip
        case("stream", "zip_three", 135168 // block, block, zeros(3_000_001), zeros(3_000_001), zeros(3_000_001),
             zeros(12_000_004), i(3_000_001), series="zip_three")  # fmt: skip
