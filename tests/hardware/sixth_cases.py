"""A sixth set of launches for the timing model: other kernels than those of the five sets before it, predicted and
committed before a GPU measured them. At most a third of them are bound by DRAM. The kinds of kernels were drawn by lot:
44 of a list of 55, ``random.Random(20261123).sample``. They were measured on an H200 on 2026-11-23. Whoever changes
the model since then needs new launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers, u

SOURCE = Path(__file__).parent / "kernels" / "sixth.cu"
FILE = "sixth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Kernel -> why it is not measured.
NOT_MEASURED = {"highest_bid": "its first launch leaves the maxima, so that later ones have nothing to store"}


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_latency, _arithmetic, _integers, _shared, _matrices, _indirect, _atomics, _control, _rows, _few_and_uneven,
         _streams, _block_sizes)
    )  # fmt: skip


def _latency(case: Any) -> None:
    for grid, block, steps in ((3, 96, 170), (132, 160, 70), (301, 224, 40)):
        case("latency", "babylonian", grid, block, numbers(grid * block, 99, "f4"), zeros(grid * block), i(steps))
    for grid, block, steps in ((7, 64, 230), (150, 96, 110)):
        case("fp64", "damped_double", grid, block, zeros(grid * block, "f8"), i(steps))
    for grid, block, steps in ((11, 128, 300), (200, 288, 120)):
        case("latency", "half_orbit", grid, block, zeros(grid * block, "f2"), i(steps))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 352, 110), (470, 224, 50)):
        n = grid * block
        case("fma", "four_polynomials", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns))
        case("fma", "turn_vectors", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns), f(0.8), f(0.6))
    for grid, block, turns in ((60, 96, 30), (330, 192, 22)):
        n = grid * block
        case("divergence", "ratios", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns))
    for grid, block, turns in ((132, 224, 60), (520, 160, 36)):
        n = grid * block
        case("sfu", "decibels", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns))
    for grid, block, degree in ((44, 160, 60), (280, 192, 24)):
        n = grid * block
        case("fp64", "legendre", grid, block, numbers(n, 99, "f8"), zeros(n, "f8"), i(degree))


def _integers(case: Any) -> None:
    for grid, block, turns in ((132, 416, 90), (500, 160, 60)):
        n = grid * block
        case("alu", "three_mixers", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
        case("alu", "limited_bytes", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
    for grid, block, turns in ((132, 256, 20), (300, 96, 16)):
        n = grid * block
        case("alu", "bits_turned", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
    for grid, block, turns in ((20, 128, 150), (264, 320, 60)):
        n = grid * block
        case("alu", "products_of_64", grid, block, numbers(n, 1 << 30, "u8"), zeros(n, "u8"), i(turns))
        case("alu", "hours_of", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), u(86_399), u(3_601),
             i(turns // 4))  # fmt: skip


def _shared(case: Any) -> None:
    for grid, block, turns in ((132, 544, 26), (420, 192, 30)):
        n = grid * block
        case("barrier", "waves_in_block", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns), smem=8 * (block + 2))
    for grid, block, rounds in ((132, 352, 60), (290, 160, 80)):
        n = grid * block
        case("barrier", "brick_sort", grid, block, numbers(n, 9_999), zeros(n, "i4"), i(rounds))
    for grid, rounds in ((132, 80), (600, 40)):
        n = 256 * grid
        case("barrier", "two_stages", grid, 256, numbers(n, 99, "f4"), zeros(n), i(rounds))
    for n in (70_003, 900_001):
        case("reduction", "sums_of_segments", -(-n // 192), 192, numbers(n, 6), numbers(n + 1, 9, "f4"), zeros(n), i(n))
    for grid, n in ((132, 250_007), (264, 900_017)):
        case("shared", "levels_of", grid, 320, numbers(n, (1 << 31) - 1, "u4"), zeros(256, "u4"), i(n))
    for pad in (0, 1, 4):
        case("shared", f"turned_again<{pad}>", 264, (32, 8), numbers(264 * 1024, 9, "f4"), zeros(264 * 1024), i(18))


def _matrices(case: Any) -> None:
    for rows, cols, block in ((210, 700, 96), (900, 1_100, 224)):
        case("matrix", "vector_by_rows", rows, block, numbers(rows * cols, 9, "f4"), numbers(cols, 9, "f4"),
             zeros(rows), i(rows), i(cols))  # fmt: skip
    for n in (350, 1_111):
        case("matrix", "table_of_products", (-(-n // 160), -(-n // 4)), 160, numbers(n, 9, "f4"),
             numbers(n + 1, 9, "f4"), zeros(n * n), i(n))  # fmt: skip
    for n in (60_011, 900_019):
        case("cache", "seven_taps", -(-n // 896), 224, numbers(n, 9, "f4"), zeros(n), i(n), f(0.1), f(0.2),
             f(0.3))  # fmt: skip
    for n in (5_003, 60_013):
        case("matrix", "squares_of_5x5", -(-n // 96), 96, numbers(25 * n, 9, "f4"), zeros(25 * n), i(n))


def _indirect(case: Any) -> None:
    for n, points in ((50_021, 9_001), (400_009, 200_003)):
        case("gather", "springs", -(-n // 160), 160, numbers(2 * n, points), numbers(2 * points, 99, "f4"), zeros(n),
             i(n))  # fmt: skip
    for n, levels in ((30_011, 11), (150_011, 18)):
        case("gather", "find_in_tree", -(-n // 224), 224, numbers(n, 1 << 20), numbers(1 << levels, 1 << 20),
             zeros(n, "i4"), i(n), i(levels))  # fmt: skip
    for n, length in ((90_019, 12), (1_300_021, 6)):
        case("divergence", "word_at", -(-n // 256), 256, numbers(n, 3, "u1"), numbers(length, 3, "u1"), zeros(n, "i4"),
             i(n), i(length))  # fmt: skip
    for n in (60_013, 700_027):
        case("scatter", "send_by", -(-n // 192), 192, numbers(n, n), numbers(2 * n, 9, "f4"), zeros(2 * n), i(n))
    for n, each, size in ((20_021, 9, 3_001), (80_021, 14, 600_011)):
        case("gather", "random_means", -(-n // 128), 128, numbers(n * each, size), numbers(size, 9, "f4"), zeros(n),
             i(n), i(each))  # fmt: skip


def _atomics(case: Any) -> None:
    for n, pages in ((90_001, 37), (200_003, 3_001), (450_007, 260_017)):
        case("atomics", "visits", 264, 160, numbers(n, pages), zeros(pages, "u4"), i(n))
    for n, items in ((110_017, 501), (300_017, 90_001)):
        case("atomics", "highest_bid", 198, 192, numbers(n, items), numbers(n + 1, 1 << 20), zeros(items, "i4"), i(n))
    for n, places in ((40_009, 2_003), (150_001, 100_003)):
        case("atomics", "locked_product", 132, 224, numbers(n, 9, "f4"), zeros(places), i(n), i(places))
    for grid, block, each in ((66, 96, 12), (264, 192, 5)):
        case("atomics", "take_numbers", grid, block, zeros(1, "u4"), zeros(grid * block, "u4"), i(each))


def _control(case: Any) -> None:
    for n, limit in ((40_013, 300.0), (500_009, 960.0)):
        case("divergence", "leave_early", -(-n // 192), 192, numbers(n, 999, "f4"), zeros(n), i(n), f(limit))
    for n, longest in ((15_013, 90), (120_011, 40)):
        case("divergence", "own_lengths", -(-n // 160), 160, numbers(n, longest), zeros(n, "i4"), i(n))
    for length, grid, block in ((120, 264, 224), (600, 132, 160), (2000, 66, 128)):
        case("code", f"straight<{length}>", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block))


def _rows(case: Any) -> None:
    for rows, block, cols in ((140, 128, 611), (400, 352, 1_501), (132, 832, 5_003)):
        case("rows", "warm_softmax", rows, block, numbers(rows * cols, 9, "f4"), zeros(rows * cols), i(cols), f(0.7))
    for rows, packs in ((901, 50), (7_003, 18)):
        case("rows", "lengths_of_rows", -(-rows // 20), 160, numbers(4 * rows * packs, 9, "f4"), zeros(rows), i(rows),
             i(packs))  # fmt: skip


def _few_and_uneven(case: Any) -> None:
    case("tiny", "warm_softmax", 3, 96, numbers(900, 9, "f4"), zeros(900), i(300), f(1.5))
    case("tiny", "send_by", 6, 96, numbers(550, 550), numbers(1_100, 9, "f4"), zeros(1_100), i(550))
    case("tiny", "brick_sort", 1, 96, numbers(96, 999), zeros(96, "i4"), i(20))
    case("tiny", "babylonian", 2, 32, numbers(64, 99, "f4"), zeros(64), i(9))
    case("tail", "three_mixers", 1_057, 256, numbers(1_057 * 256, 1 << 30, "u4"), zeros(1_057 * 256, "u4"), i(70))
    case("tail", "four_polynomials", 265, 1024, numbers(265 * 1024, 9, "f4"), zeros(265 * 1024), i(80))
    case("tail", "decibels", 133, 1024, numbers(133 * 1024, 9, "f4"), zeros(133 * 1024), i(30))
    for smem in (100 << 10, 60 << 10):
        case("occupancy", "find_in_tree", 264, 128, numbers(264 * 128, 1 << 20), numbers(1 << 14, 1 << 20),
             zeros(264 * 128, "i4"), i(264 * 128), i(14), smem=smem)  # fmt: skip
        case("occupancy", "turn_vectors", 396, 96, numbers(396 * 96, 9, "f4"), zeros(396 * 96), i(90), f(0.8), f(0.6),
             smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for grid, n in ((264, 300_007), (396, 3_000_017)):
        case("stream", "sums_of_packs", grid, 320, zeros(4 * n, "i4"), zeros(grid * 320, "i4"), i(n))
    for n in (150_001, 1_600_003):
        case("stream", "drift", -(-n // 160), 160, zeros(8 * n), i(n), f(0.1))
    for width, height in ((701, 450), (2_303, 1_501)):
        case("stream", "with_border", (-(-(width + 6) // 64), -(-(height + 6) // 4)), (64, 4), zeros(width * height),
             zeros((width + 6) * (height + 6)), i(width), i(height), i(3))  # fmt: skip
    for n, apart in ((6_000_011, 5), (20_000_003, 17)):
        case("stream", "every_nth", 528, 256, zeros(n), zeros(528 * 256), i(n), i(apart))
    case("stream", "table_of_products", (20, 801), 160, numbers(3_201, 9, "f4"), numbers(3_202, 9, "f4"),
         zeros(3_201 * 3_201), i(3_201))  # fmt: skip
    case("stream", "squares_of_5x5", 4_167, 96, zeros(25 * 400_009), zeros(25 * 400_009), i(400_009))
    case("stream", "vector_by_rows", 3_001, 256, zeros(3_001 * 4_003), zeros(4_003), zeros(3_001), i(3_001), i(4_003))


def _block_sizes(case: Any) -> None:
    n = 135_168
    for block in SERIES:
        case("rows", "warm_softmax", 440, block, numbers(440 * 1_000, 9, "f4"), zeros(440 * 1_000), i(1_000), f(0.9),
             series="warm_softmax")  # fmt: skip
        case("fma", "four_polynomials", n // block, block, numbers(n, 9, "f4"), zeros(n), i(60),
             series="four_polynomials")  # fmt: skip
        case("gather", "find_in_tree", n // block, block, numbers(n, 1 << 20), numbers(1 << 13, 1 << 20),
             zeros(n, "i4"), i(n), i(13), series="find_in_tree")  # fmt: skip
        case("barrier", "brick_sort", n // block, block, numbers(n, 9_999), zeros(n, "i4"), i(24), series="brick_sort")
        case("stream", "every_nth", 2 * n // block, block, zeros(4_000_037), zeros(2 * n), i(4_000_037), i(3),
             series="every_nth")  # fmt: skip
