"""An eighth set of launches for the timing model: other kernels than those of the seven sets before it, written without
a look at the model or at an estimate. At most a third of them are bound by DRAM. They are predicted and committed
before a GPU measures them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import Array, TimingCase, f, i, zeros
from tests.hardware.validation_cases import SERIES, numbers

SOURCE = Path(__file__).parent / "kernels" / "eighth.cu"
FILE = "eighth.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


def offsets(rows: int, mean: int) -> Array:
    """Where each of ``rows`` rows begins, and the end of the last; a row has ``mean`` elements in the mean."""
    return Array("offsets", "i4", rows + 1, mean)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (_latency, _arithmetic, _integers, _code, _shared, _barriers, _atomics, _control, _images, _matrices, _warps,
         _indirect, _pipelines, _few_and_uneven, _streams, _block_sizes)
    )  # fmt: skip


def _latency(case: Any) -> None:
    for grid, block, steps in ((6, 64, 900), (400, 160, 300)):
        case("latency", "kahan_orbit", grid, block, numbers(grid * block, 99, "f4"), zeros(grid * block), i(steps))
    for grid, block, steps in ((9, 96, 150), (264, 128, 60)):
        case("latency", "atan2_chain", grid, block, numbers(grid * block, 99, "f4"), zeros(grid * block), i(steps))
    for grid, block, size, apart, steps in ((4, 64, 1 << 16, 4160, 40), (132, 64, 1 << 22, 65600, 24)):
        case("latency", "two_fingers", grid, block, Array("ring", "i4", size, apart), zeros(grid * block, "i4"),
             i(steps), i(size))  # fmt: skip
    for grid, block, turns in ((7, 96, 24), (200, 128, 10)):
        case("fp64", "double_means", grid, block, zeros(grid * block, "f8"), i(turns))
    for n, length in ((8_000, 100), (33_001, 30)):
        case("fp64", "double_filter", -(-n // 96), 96, numbers(n * length, 99, "f8"), zeros(n, "f8"), i(n), i(length))


def _arithmetic(case: Any) -> None:
    for grid, block, turns in ((132, 512, 200), (500, 192, 150)):
        case("fma", "bezier_points", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), i(turns))
    for grid, block, turns in ((132, 256, 150), (600, 128, 60)):
        case("fma", "matrix_powers", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), i(turns))
    for n, count in ((33_001, 100), (120_007, 40)):
        case("sfu", "nearest_town", -(-n // 224), 224, numbers(n, 150, "f4"), numbers(n, 300, "f4"),
             numbers(2 * count, 3, "f4"), zeros(n), i(n), i(count))  # fmt: skip
    for grid, block, n in ((264, 192, 300_007), (528, 256, 2_000_003)):
        case("sfu", "mixture_density", grid, block, numbers(n, 8, "f4"), zeros(n), i(n))
    for grid, block, turns in ((132, 256, 80), (450, 128, 50)):
        n = grid * block
        case("sfu", "normal_walk", grid, block, numbers(n, 1 << 30, "u4"), zeros(n), i(turns))


def _integers(case: Any) -> None:
    for grid, block, turns in ((132, 384, 200), (300, 128, 150)):
        n = grid * block
        case("alu", "montgomery_powers", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(turns))
    for grid, block, turns in ((132, 256, 150), (500, 160, 60)):
        n = grid * block
        case("alu", "splitmix_sums", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u8"), i(turns))
    for grid, block, n, side in ((264, 256, 700_001, 1 << 12), (528, 192, 2_000_003, 1 << 10)):
        case("alu", "hilbert_codes", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(n), i(side))
    for grid, block, n, first in ((132, 224, 200_003, 1), (528, 256, 900_001, 5_000)):
        case("alu", "halton_points", grid, block, zeros(n), i(n), i(first))
    for n, length in ((30_011, 96), (100_003, 48)):
        case("alu", "myers_distance", -(-n // 160), 160, numbers(64, 4, "u1"), numbers(n * length, 4, "u1"),
             zeros(n, "i4"), i(n), i(length))  # fmt: skip
    for rounds, grid, block, blocks in ((20, 132, 256, 4), (8, 400, 128, 6)):
        n = grid * block
        case("alu", f"chacha_blocks<{rounds}>", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(blocks))


def _code(case: Any) -> None:
    for unrolled, n in ((1, 20_011), (24, 20_011), (24, 70_001)):
        case("code", f"keccak_words<{unrolled}>", -(-n // 128), 128, numbers(n, 1 << 40, "u8"), zeros(n, "u8"), i(n))
    for size, n in ((16, 400_009), (32, 200_003)):
        case("code", f"registers_sorted<{size}>", -(-n // 192), 192, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(n))
    for places, grid, block, turns in ((750, 132, 256, 8), (5_000, 132, 256, 2), (5_000, 7, 64, 1)):
        n = grid * block
        case("code", f"many_terms<{places}>", grid, block, numbers(n, 999, "f4"), zeros(n), i(turns))


def _shared(case: Any) -> None:
    for pitch in (32, 33, 36, 40):
        case("shared", f"rows_in_shared<{pitch}>", 264, 128, numbers(4096, 9, "f4"), zeros(264 * 128), i(400))
    for grid, block, rounds in ((132, 256, 40), (396, 128, 20)):
        n = grid * block
        case("shared", "four_tables", grid, block, numbers(n, 1 << 30, "u4"), numbers(1024, 1 << 30, "u4"),
             zeros(n, "u4"), i(rounds))  # fmt: skip
    for words in (4, 5, 6, 8):
        case("shared", f"records_in_shared<{words}>", 198, 256, numbers(256 * words, 9, "f4"), zeros(198 * 256), i(150))
    for n, words in ((50_003, 16), (200_003, 12)):
        case("shared", "crc_by_table", -(-n // 256), 256, numbers(n * words, 1 << 30, "u4"), zeros(n, "u4"), i(n),
             i(words))  # fmt: skip


def _barriers(case: Any) -> None:
    for grid, turns in ((200, 6), (1_000, 3)):
        case("barrier", "fft_256", grid, 128, numbers(512 * grid, 9, "f4"), zeros(512 * grid), i(turns))
    for grid, block, bits in ((132, 512, 24), (600, 128, 16)):
        n = grid * block
        case("barrier", "split_sort", grid, block, numbers(n, 1 << bits, "u4"), zeros(n, "u4"), i(bits), smem=4 * block)
    for grid, block, items, capacity in ((132, 256, 40, 1_000), (300, 128, 25, 600)):
        case("barrier", "knapsacks", grid, block, numbers(grid * items, 90), numbers(grid * items, 99),
             zeros(grid, "i4"), i(items), i(capacity), smem=8 * (capacity + 1))  # fmt: skip
    for grid in (132, 700):
        case("barrier", "shortest_paths", grid, (32, 8), numbers(1024 * grid, 999), zeros(1024 * grid, "i4"))
    for grid, block, steps in ((264, 512, 9), (1_200, 128, 7)):
        n = grid * block
        case("barrier", "tridiagonal", grid, block, numbers(n, 99, "f4"), zeros(n), i(steps), smem=16 * block)
    for grid, length in ((132, 30), (500, 20)):
        case("barrier", "likely_states", grid, 64, numbers(4096, 90), numbers(64 * 8, 40),
             numbers(grid * length, 8, "u1"), zeros(64 * grid, "i4"), i(length))  # fmt: skip
    for grid, block, steps in ((66, 128, 200), (264, 64, 120)):
        case("barrier", "option_tree", grid, block, numbers(grid, 150, "f4"), zeros(grid), i(steps))


def _atomics(case: Any) -> None:
    for grid, block, n in ((132, 256, 400_009), (264, 512, 2_000_003)):
        case("atomics", "colour_counts", grid, block, numbers(4 * n, 256, "u1"), zeros(768, "u4"), i(n))
    for grid, n in ((132, 500_009), (528, 3_000_017)):
        case("atomics", "joint_counts", grid, 256, numbers(n, 256, "u1"), numbers(n + 1, 200, "u1"), zeros(1024, "u4"),
             i(n))  # fmt: skip
    for copies in (1, 4):
        case("atomics", f"copies_of_bins<{copies}>", 264, 256, numbers(500_003, 1 << 30, "u4"), zeros(128, "u4"),
             i(500_003))  # fmt: skip
    for grid, block, n, keys in ((264, 256, 1_500_007, 40), (528, 128, 1_200_011, 5_000)):
        case("atomics", "grouped_by_match", grid, block, numbers(n, keys), zeros(keys, "u4"), i(n))
    for nodes, mean in ((20_011, 8), (100_003, 6)):
        case("atomics", "pushed_ranks", -(-nodes // 192), 192, offsets(nodes, mean), numbers(nodes * mean, nodes),
             numbers(nodes, 1 << 20, "u4"), zeros(nodes, "u4"), i(nodes))  # fmt: skip
    for n, keys in ((120_011, 700), (400_009, 150_001)):
        case("atomics", "wallets", -(-n // 224), 224, numbers(n, keys), numbers(n, 999, "u4"), zeros(keys, "u8"), i(n))
    for grid, block, each in ((132, 256, 30), (528, 128, 20)):
        n = grid * block * each
        case("atomics", "tallest_in_bins", grid, block, numbers(n, 64), numbers(n, 1 << 20), zeros(64 * grid, "i4"),
             i(each))  # fmt: skip
    for n, side in ((80_021, 200), (300_007, 1_500)):
        case("atomics", "splat_points", -(-n // 160), 160, numbers(2 * n, 100, "f4"), zeros(side * side, "i4"), i(n),
             i(side))  # fmt: skip
    for grid, block, throws in ((132, 256, 80), (300, 128, 100)):
        case("atomics", "two_dice", grid, block, numbers(grid * block, 1 << 30, "u4"), zeros(13, "u4"), i(throws))


def _control(case: Any) -> None:
    for n in (600_011, 2_000_003):
        case("divergence", "parsed_numbers", -(-n // 192), 192, numbers(12 * n, 12, "u1"), zeros(n, "i4"), i(n))
    for grid, block, n in ((264, 256, 400_009), (528, 224, 2_000_003)):
        case("divergence", "places_of_word", grid, block, numbers(n + 12, 2, "u1"), numbers(12, 2, "u1"),
             zeros(n, "i4"), i(n), i(12))  # fmt: skip
    for n, block, each in ((1_500_007, 128, 96), (6_000_011, 256, 200)):
        grid = -(-n // (block * each))
        case("divergence", "skipping_search", grid, block, numbers(n, 4, "u1"), numbers(8, 4, "u1"),
             zeros(grid * block, "i4"), i(n), i(8), i(each))  # fmt: skip
    for grid, block, n in ((20, 96, 9), (264, 128, 8)):
        case("divergence", "queens", grid, block, zeros(grid * block, "i4"), i(n))
    for width, height, most in ((480, 270, 64), (1_021, 601, 48)):
        case("divergence", "marched_rays", (-(-width // 16), -(-height // 8)), (16, 8), zeros(width * height), i(width),
             i(height), i(most))  # fmt: skip
    for n, first in ((20_011, 10_000), (60_013, 1_000)):
        case("divergence", "totients", -(-n // 160), 160, zeros(n, "i4"), i(n), i(first))
    for grid, block, n in ((264, 224, 200_003), (528, 256, 900_007)):
        case("divergence", "binary_gcd", grid, block, numbers(n, 1 << 30, "u4"), numbers(n + 1, 1 << 30, "u4"),
             zeros(n, "u4"), i(n))  # fmt: skip


def _images(case: Any) -> None:
    for width, height in ((601, 400), (1_920, 1_080)):
        grid = (-(-width // 32), -(-height // 4))
        case("cache", "bilateral_5x5", grid, (32, 4), numbers(width * height, 256, "f4"), zeros(width * height),
             i(width), i(height))  # fmt: skip
    for width, height in ((1_001, 700), (2_001, 1_503)):
        case("cache", "median_3x3", (-(-width // 32), -(-height // 8)), (32, 8), numbers(width * height, 256, "u1"),
             zeros(width * height, "u1"), i(width), i(height))  # fmt: skip
    for width, height, radius in ((1_000, 701, 9), (1_501, 1_001, 40)):
        case("cache", "box_by_sums", (-(-width // 192), height), 192, numbers(width * height, 1 << 20),
             zeros(width * height, "i4"), i(width), i(height), i(radius))  # fmt: skip
    for nx, ny, nz in ((151, 120, 50), (200, 161, 70)):
        case("cache", "all_27_points", (-(-nx // 32), -(-ny // 4), nz), (32, 4), numbers(nx * ny * nz, 9, "f4"),
             zeros(nx * ny * nz), i(nx), i(ny), i(nz))  # fmt: skip
    for width, height in ((901, 703), (1_901, 1_001)):
        case("cache", "sharpened", (-(-width // 16), -(-height // 16)), (16, 16), numbers(width * height, 256, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for width, height in ((1_400, 1_101), (3_001, 2_001)):
        case("cache", "turned_image", (-(-width // 32), -(-height // 8)), (32, 8), numbers(width * height, 256, "u1"),
             zeros(width * height, "u1"), i(width), i(height), f(0.8), f(0.6))  # fmt: skip


def _matrices(case: Any) -> None:
    for kernel, sizes in (("product_2x2", (300, 517)), ("copied_product", (256, 480))):
        for n in sizes:
            case("matrix", kernel, (-(-n // 32), -(-n // 32)), (16, 16), numbers(n * n, 9, "f4"),
                 numbers(n * n, 7, "f4"), zeros(n * n), i(n))  # fmt: skip
    for n, words in ((300, 100), (801, 64)):
        case("matrix", "bytes_product", (-(-n // 32), -(-n // 4)), (32, 4), numbers(n * words, 1 << 30),
             numbers(n * words, 1 << 29), zeros(n * n, "i4"), i(n), i(words))  # fmt: skip
    for rows, pairs in ((3_001, 300), (6_001, 400)):
        case("matrix", "half_rows_by_vector", -(-rows // 4), 128, numbers(2 * rows * pairs, 2, "f2"),
             numbers(2 * pairs, 3, "f2"), zeros(rows), i(rows), i(pairs))  # fmt: skip
    for rows, mean in ((9_001, 10), (20_011, 6)):
        case("matrix", "sparse_by_dense", -(-rows // 4), (64, 4), offsets(rows, mean), numbers(rows * mean, rows),
             numbers(rows * mean, 9, "f4"), numbers(64 * rows, 9, "f4"), zeros(64 * rows), i(rows))  # fmt: skip


def _warps(case: Any) -> None:
    for grid, block, each in ((132, 512, 16), (600, 128, 10)):
        n = grid * block * each
        case("reduction", "warp_sorted", grid, block, numbers(n, 1 << 20), zeros(n, "i4"), i(each))
    for rows, cols in ((1_001, 700), (5_003, 200)):
        case("reduction", "running_rows", -(-rows // 5), 160, numbers(rows * cols, 9), zeros(rows * cols, "i4"),
             i(rows), i(cols))  # fmt: skip
    for grid, block, n in ((132, 256, 600_011), (264, 512, 3_000_017)):
        case("reduction", "moments", grid, block, numbers(n, 999), zeros(3, "u8"), i(n))
    for rows, block, cols in ((300, 128, 1_501), (900, 256, 2_001)):
        case("rows", "cross_entropies", rows, block, numbers(rows * cols, 9, "f4"), numbers(rows, cols), zeros(rows),
             i(cols))  # fmt: skip
    for rows, cols in ((1_501, 400), (6_007, 150)):
        case("rows", "welford_rows", -(-rows // 6), 192, numbers(rows * cols, 99, "f4"), zeros(rows * cols), i(rows),
             i(cols))  # fmt: skip
    for rows, block, cols in ((500, 160, 1_000), (2_000, 96, 601)):
        case("rows", "gradient_rows", rows, block, numbers(rows * cols, 2, "f4"), numbers(rows * cols, 9, "f4"),
             zeros(rows * cols), i(cols))  # fmt: skip
    for rows, cols in ((10_007, 90), (20_011, 61)):
        case("rows", "best_four", -(-rows // 16), 128, numbers(rows * cols, 1 << 20), zeros(4 * rows, "i4"), i(rows),
             i(cols))  # fmt: skip


def _indirect(case: Any) -> None:
    for nodes, mean in ((80_021, 8), (200_003, 7)):
        case("gather", "pulled_ranks", -(-nodes // 224), 224, offsets(nodes, mean), numbers(nodes * mean, nodes),
             numbers(nodes, 9, "f4"), zeros(nodes), i(nodes))  # fmt: skip
    for nodes, mean in ((60_013, 9), (250_007, 6)):
        case("gather", "next_level", -(-nodes // 160), 160, offsets(nodes, mean), numbers(nodes * mean, nodes),
             numbers(nodes, 8), zeros(nodes, "i4"), i(nodes), i(3))  # fmt: skip
    for rows, width in ((30_011, 16), (100_003, 12)):
        case("gather", "padded_rows", -(-rows // 128), 128, numbers(rows * width, rows),
             numbers(rows * width, 9, "f4"), numbers(rows, 9, "f4"), zeros(rows), i(rows), i(width))  # fmt: skip
    for n, each in ((30_011, 20), (90_001, 14)):
        case("gather", "listed_forces", -(-n // 192), 192, numbers(4 * n, 50, "f4"), numbers(n * each, n), zeros(4 * n),
             i(n), i(each))  # fmt: skip
    for n, each in ((20_011, 24), (80_021, 16)):
        case("gather", "common_friends", -(-n // 128), 128, offsets(n * each - 1, 3), offsets(n * each - 1, 3),
             zeros(n, "i4"), i(n), i(each))  # fmt: skip


def _pipelines(case: Any) -> None:
    for grid, tiles in ((100, 30), (396, 12)):
        case("pipeline", "staged_sums", grid, 128, numbers(grid * tiles * 512, 9, "f4"), zeros(grid * 128), i(tiles))
    for width, parts, height, block in ((2_001, 9, 24, 96), (4_001, 16, 16, 256)):
        case("pipeline", "rows_ahead", (-(-width // block), parts), block,
             numbers(width * (parts * height + 3), 9, "f4"), zeros(width * parts * height), i(width), i(height),
             smem=16 * block)  # fmt: skip


def _few_and_uneven(case: Any) -> None:
    case("tiny", "knapsacks", 1, 64, numbers(20, 40), numbers(20, 41), zeros(1, "i4"), i(20), i(200), smem=1_608)
    case("tiny", "cross_entropies", 3, 96, numbers(3 * 900, 9, "f4"), numbers(3, 900), zeros(3), i(900))
    case("tiny", "atan2_chain", 2, 32, numbers(64, 99, "f4"), zeros(64), i(40))
    for grid, block in ((133, 1024), (266, 1024)):
        n = grid * block
        case("tail", "montgomery_powers", grid, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(150))
    case("tail", "four_tables", 1_190, 256, numbers(1_190 * 256, 1 << 30, "u4"), numbers(1024, 1 << 30, "u4"),
         zeros(1_190 * 256, "u4"), i(12))  # fmt: skip
    for smem in (110 << 10, 48 << 10):
        n = 39_937 - smem // 1024
        case("occupancy", "nearest_town", -(-n // 128), 128, numbers(n, 150, "f4"), numbers(n, 300, "f4"),
             numbers(120, 3, "f4"), zeros(n), i(n), i(60), smem=smem)  # fmt: skip
        case("occupancy", "pulled_ranks", -(-n // 128), 128, offsets(n, 9), numbers(9 * n, n), numbers(n, 9, "f4"),
             zeros(n), i(n), smem=smem)  # fmt: skip
        case("occupancy", "splitmix_sums", 396, 96, numbers(396 * 96, 1 << 30, "u4"), zeros(396 * 96, "u8"),
             i(100 + (smem >> 14)), smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for grid, n in ((264, 500_009), (396, 5_000_011)):
        case("stream", "adam_step", grid, 256, numbers(n, 99, "f4"), numbers(n, 999, "f4"), zeros(n), zeros(n), i(n))
    for grid, n in ((264, 700_001), (528, 6_000_011)):
        case("stream", "colour_planes", grid, 192, numbers(4 * n, 256, "u1"), zeros(3 * n), i(n))
    for n in (400_009, 3_000_017):
        case("stream", "to_short_floats", -(-n // 256), 256, numbers(4 * n, 999, "f4"), zeros(4 * n, "u2"), i(n))
    for width, height in ((801, 600), (2_501, 1_201)):
        case("stream", "pooled_2x2", (-(-width // 224), height), 224, numbers(4 * width * height, 99, "f4"),
             zeros(width * height), i(width), i(height))  # fmt: skip
    for n in (800_011, 8_000_009):
        case("stream", "lengths_of_points", -(-n // 320), 320, numbers(3 * n, 99, "f4"), zeros(n), i(n))
    for n in (300_007, 3_000_017):
        case("stream", "parts_of_list", -(-n // 512), 128, numbers(n, 2, "f8"), numbers(n, 99, "f8"), zeros(n, "f8"),
             i(n))  # fmt: skip


def _block_sizes(case: Any) -> None:
    n = 135_168
    for block in SERIES:
        case("rows", "cross_entropies", 440, block, numbers(440 * 1_203, 9, "f4"), numbers(440, 1_203), zeros(440),
             i(1_203), series="cross_entropies")  # fmt: skip
        case("sfu", "normal_walk", n // block, block, numbers(n, 1 << 30, "u4"), zeros(n), i(30),
             series="normal_walk")  # fmt: skip
        case("gather", "pulled_ranks", n // block, block, offsets(n, 8), numbers(8 * n, n), numbers(n, 9, "f4"),
             zeros(n), i(n), series="pulled_ranks")  # fmt: skip
        case("barrier", "knapsacks", 400, block, numbers(400 * 30, 90), numbers(400 * 30, 99), zeros(400, "i4"), i(30),
             i(1_500), smem=8 * 1_501, series="knapsacks")  # fmt: skip
        case("alu", "chacha_blocks<20>", n // block, block, numbers(n, 1 << 30, "u4"), zeros(n, "u4"), i(2),
             series="chacha_blocks")  # fmt: skip
        case("reduction", "warp_sorted", n // block, block, numbers(n * 6, 1 << 20), zeros(n * 6, "i4"), i(6),
             series="warp_sorted")  # fmt: skip
        case("atomics", "colour_counts", n // block, block, numbers(4 * 1_000_003, 256, "u1"), zeros(768, "u4"),
             i(1_000_003), series="colour_counts")  # fmt: skip
        case("stream", "adam_step", n // block, block, numbers(3_500_017, 99, "f4"), numbers(3_500_017, 999, "f4"),
             zeros(3_500_017), zeros(3_500_017), i(3_500_017), series="adam_step")  # fmt: skip
