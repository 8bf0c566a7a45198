"""A seventh set of launches for the timing model: other kernels than those of the six sets before it, predicted and
committed before a GPU measures them. At most a third of them are bound by DRAM. The kinds of kernels were drawn by lot:
45 of a list of 66, ``random.Random(20261124).sample``. 43 of them are here: the stack of a recursive function is
unknown to the interpreter, and nobody wrote the table in shared memory. No GPU has measured them yet (2026-11-24)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import TimingCase, i, zeros
from tests.hardware.validation_cases import SERIES, numbers

SOURCE = Path(__file__).parent / "kernels" / "seventh.cu"
FILE = "seventh.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


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
    for grid, block, steps in ((5, 64, 220), (132, 192, 90), (290, 160, 60)):
        n = grid * block
        case("latency", "root_chain", grid, block, numbers(n, 99, "f4"), zeros(n), i(steps))
    for grid, block, steps in ((9, 96, 60), (160, 64, 40)):
        case("fp64", "double_quotients", grid, block, zeros(grid * block, "f8"), i(steps))
    for grid, block, steps in ((20, 128, 260), (264, 224, 150)):
        n = grid * block
        case("latency", "brain_decay", grid, block, numbers(n, 9, "f4"), zeros(n), i(steps))
        case("latency", "passed_around", grid, block, numbers(n, 999, "u4"), zeros(n, "u4"), i(steps // 2))
    for grid, block, steps in ((12, 64, 200), (200, 320, 110)):
        case("shared", "shared_ring", grid, block, numbers(512, 512), zeros(grid * block, "i4"), i(steps))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 288, 70), (430, 160, 40)):
        n = grid * block
        case("fma", "complex_cubes", grid, block, numbers(n, 5, "f4"), zeros(n), i(turns))
        case("fma", "half_squares", grid, block, numbers(n, 5, "f4"), zeros(n), i(turns))
    for grid, block, turns in ((100, 224, 50), (480, 192, 24)):
        n = grid * block
        case("sfu", "log_mix", grid, block, numbers(n, 9, "f4"), zeros(n), i(turns))


def _integers(case: Any) -> None:
    for grid, block, turns in ((132, 384, 80), (410, 128, 60)):
        n = grid * block
        case("alu", "crossed_hash", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
        case("alu", "dealt_bytes", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
    for grid, block, turns in ((90, 160, 90), (300, 256, 40)):
        n = grid * block
        case("alu", "wide_sums", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
        case("alu", "next_subset", grid, block, numbers(n, 1 << 28, "u4"), zeros(n, "u4"), i(turns // 2))
    for grid, block, turns in ((132, 224, 50), (350, 96, 40)):
        n = grid * block
        case("alu", "calendar", grid, block, numbers(n, 1 << 20), zeros(n, "i4"), i(turns))
        case("alu", "quantised", grid, block, numbers(n, 999, "f4"), zeros(n, "i4"), i(turns))


def _shared(case: Any) -> None:
    for grid, block, turns in ((70, 160, 12), (400, 256, 6)):
        n = grid * block
        case("latency", "segment_starts", grid, block, numbers(n, 6), numbers(n, 9, "f4"), zeros(n), i(turns))
    for grid, block, turns in ((132, 512, 8), (350, 192, 10)):
        n = grid * block
        case("barrier", "merge_step", grid, block, numbers(n, 90), zeros(n, "i4"), i(turns), smem=4 * block)
    for grid, rounds in ((132, 60), (528, 30)):
        case("barrier", "two_buffers", grid, 256, numbers(256 * grid, 99, "f4"), zeros(256 * grid), i(rounds))
    for apart in (1, 3, 6, 16):
        case("shared", f"apart_in_banks<{apart}>", 198, 256, numbers(1536, 9, "f4"), zeros(198 * 256), i(90))


def _matrices(case: Any) -> None:
    for rows, cols in ((1_300, 300), (7_001, 77)):
        case("reduction", "greatest_of_rows", -(-rows // 5), 160, numbers(rows * cols, 999, "f4"), zeros(rows), i(rows),
             i(cols))  # fmt: skip
    for rows, cols, each in ((900, 501, 30), (2_000, 333, 125)):
        case("matrix", "sums_of_columns", (-(-cols // 96), -(-rows // each)), 96, numbers(rows * cols, 9, "f4"),
             zeros(-(-rows // each) * cols), i(rows), i(cols), i(each))  # fmt: skip
    for n, block in ((611, 64), (1_501, 256)):
        case("matrix", "lower_product", -(-n // (block // 32)), block, numbers(n * n, 9, "f4"), numbers(n, 9, "f4"),
             zeros(n), i(n))  # fmt: skip
    for nx, ny, nz in ((101, 90, 30), (181, 150, 60)):
        case("cache", "seven_points", (-(-nx // 32), -(-ny // 6), nz), (32, 6), numbers(nx * ny * nz, 9, "f4"),
             zeros(nx * ny * nz), i(nx), i(ny), i(nz))  # fmt: skip
    for width, height in ((500, 301), (1_701, 801)):
        case("cache", "down_filter", (-(-width // 224), height), 224, numbers(width * height, 9, "f4"),
             numbers(11, 9, "f4"), zeros(width * height), i(width), i(height))  # fmt: skip
    for n, wide in ((90_001, 9), (700_001, 21)):
        case("cache", "moving_mean", -(-n // 2_560), 160, numbers(n, 9, "f4"), zeros(n), i(n), i(wide))


def _indirect(case: Any) -> None:
    for n, size in ((60_001, 20_011), (500_009, 150_001)):
        case("gather", "chosen_packs", -(-n // 192), 192, numbers(n, size), numbers(4 * size, 9, "f4"), zeros(4 * n),
             i(n))  # fmt: skip
    for n, size in ((80_021, 5_003), (600_011, 300_007)):
        case("gather", "two_tables", -(-n // 224), 224, numbers(n, size), numbers(size, size), numbers(size, 9, "f4"),
             zeros(n), i(n))  # fmt: skip
    for n in (50_021, 800_011):
        case("scatter", "put_pairs", -(-n // 160), 160, numbers(n, n), numbers(2 * n, 9, "f4"), zeros(2 * n), i(n))
    for n, nodes, most in ((20_011, 9_001, 20), (90_001, 400_009, 12)):
        case("gather", "walk_chains", -(-n // 128), 128, numbers(nodes, nodes), numbers(n, nodes), zeros(n, "i4"),
             i(n), i(most))  # fmt: skip


def _atomics(case: Any) -> None:
    for grid, n in ((132, 150_001), (264, 900_001)):
        case("atomics", "levels_flushed", grid, 288, numbers(n, 1 << 20, "u4"), zeros(128, "u4"), i(n))
    for grid, n in ((66, 80_021), (264, 600_011)):
        case("atomics", "least_of_all", grid, 192, numbers(n, 1 << 30), zeros(1, "i4"), i(n))
    for n, keys in ((60_013, 4_001), (250_007, 120_011)):
        case("atomics", "weights_of", -(-n // 224), 224, numbers(n, keys), numbers(n + 1, 9, "f4"), zeros(keys), i(n))
    for grid, each in ((100, 6), (264, 4)):
        n = grid * 160 * each
        case("atomics", "packed_maxima", grid, 160, numbers(n, 1 << 20), numbers(n + 1, 1 << 30, "u4"),
             zeros(64 * grid, "u8"), i(each))  # fmt: skip


def _control(case: Any) -> None:
    for n, longest in ((30_011, 120), (150_001, 50)):
        case("divergence", "own_turns", -(-n // 192), 192, numbers(n, longest), zeros(n), i(n))
    for n, turns in ((20_011, 30), (100_003, 14)):
        case("divergence", "five_ways", -(-n // 160), 160, numbers(n, 5), zeros(n), i(n), i(turns))
    for n in (16_001, 120_011):
        case("divergence", "cube_root_until", -(-n // 224), 224, numbers(n, 99_999, "f4"), zeros(n), i(n))


def _rows(case: Any) -> None:
    for rows, block, cols in ((160, 96, 433), (380, 288, 1_999)):
        case("rows", "masked_softmax", rows, block, numbers(rows * cols, 9, "f4"), numbers(rows * cols, 2, "u1"),
             zeros(rows * cols), i(cols))  # fmt: skip
    for rows, cols in ((3_001, 60), (9_001, 130)):
        case("rows", "distances_of_rows", -(-rows // 10), 160, numbers(rows * cols, 9, "f4"),
             numbers(rows * cols, 8, "f4"), zeros(rows), i(rows), i(cols))  # fmt: skip
    for rows, cols in ((700, 511), (4_001, 190)):
        case("rows", "best_two", -(-rows // 4), 128, numbers(rows * cols, 9_999, "f4"), zeros(2 * rows), i(rows),
             i(cols))  # fmt: skip


def _few_and_uneven(case: Any) -> None:
    case("tiny", "root_chain", 1, 32, numbers(32, 99, "f4"), zeros(32), i(12))
    case("tiny", "masked_softmax", 2, 64, numbers(400, 9, "f4"), numbers(400, 2, "u1"), zeros(400), i(200))
    case("tiny", "put_pairs", 4, 128, numbers(500, 500), numbers(1_000, 9, "f4"), zeros(1_000), i(500))
    case("tail", "crossed_hash", 1_060, 256, numbers(1_060 * 256, 1 << 30, "u4"), zeros(1_060 * 256, "u4"), i(60))
    case("tail", "complex_cubes", 265, 1024, numbers(265 * 1024, 5, "f4"), zeros(265 * 1024), i(40))
    for smem in (110 << 10, 50 << 10):
        case("occupancy", "log_mix", 396, 128, numbers(396 * 128, 9, "f4"), zeros(396 * 128), i(50), smem=smem)
        case("occupancy", "two_tables", 300, 128, numbers(38_400, 60_013), numbers(60_013, 60_013),
             numbers(60_013, 9, "f4"), zeros(38_400), i(38_400), smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for grid, n in ((264, 500_009), (396, 6_000_011)):
        case("stream", "three_to_one", grid, 384, zeros(n), zeros(n), zeros(n), zeros(n), i(n))
    for width, height in ((901, 500), (3_001, 2_001)):
        case("stream", "rows_reversed", (-(-width // 192), height), 192, zeros(width * height), zeros(width * height),
             i(width), i(height))  # fmt: skip
    for grid, n in ((198, 800_011), (396, 9_000_011)):
        case("stream", "sum_of_differences", grid, 256, zeros(4 * n, "u1"), zeros(4 * n, "u1"), zeros(grid * 256, "u4"),
             i(n))  # fmt: skip
    for n in (2_000_003, 20_000_033):
        case("stream", "every_seventh", -(-n // 1_792), 256, zeros(n), zeros(n // 7 + 1), i(n))
    for width, height in ((801, 600), (3_203, 2_405)):
        case("stream", "small_tiles_turned", (-(-width // 32), -(-height // 8)), (32, 8), zeros(width * height),
             zeros(width * height), i(width), i(height))  # fmt: skip


def _block_sizes(case: Any) -> None:
    n = 135_168
    for block in SERIES:
        case("rows", "masked_softmax", 440, block, numbers(440 * 900, 9, "f4"), numbers(440 * 900, 2, "u1"),
             zeros(440 * 900), i(900), series="masked_softmax")  # fmt: skip
        case("alu", "wide_sums", n // block, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(50),
             series="wide_sums")  # fmt: skip
        case("gather", "walk_chains", n // block, block, numbers(60_013, 60_013), numbers(n, 60_013), zeros(n, "i4"),
             i(n), i(10), series="walk_chains")  # fmt: skip
        case("barrier", "merge_step", n // block, block, numbers(n, 90), zeros(n, "i4"), i(7), smem=4096,
             series="merge_step")  # fmt: skip
        case("stream", "three_to_one", 2 * n // block, block, *(zeros(4_000_037) for _ in range(4)), i(4_000_037),
             series="three_to_one")  # fmt: skip
