"""Launches that the timing model has never seen: their times are predicted, the predictions are committed, and then the
GPUs measure them. At most a third of them are bound by DRAM. Nothing in the model is changed after their measurement
to suit them: whoever changes the model needs new launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hardware.launch_sets import by_series, launches
from tests.hardware.timing_cases import Array, TimingCase, f, i, zeros

SOURCE = Path(__file__).parent / "kernels" / "validation.cu"
FILE = "validation.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)
#: Series of launches that differ only in threads per block: name of the series -> (block sizes of its launches).
SERIES = (64, 128, 256, 512, 1024)


def numbers(size: int, high: int, dtype: str = "i4") -> Array:
    """Whole numbers at random, below ``high``."""
    return Array("random", dtype, size, high)


def u(value: int) -> tuple[str, int]:
    """An unsigned argument."""
    return ("u4", value)


def series() -> dict[str, list[str]]:
    """Name of a series -> the names of its launches, by threads per block."""
    return by_series(cases())


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    return launches(
        (
            _chains,
            _arithmetic,
            _shared,
            _reductions,
            _matrices,
            _indirect,
            _atomics,
            _control,
            _images,
            _streams,
            _block_sizes,
        )
    )


def _chains(case: Any) -> None:
    for grid, block, degree in ((7, 96, 300), (396, 128, 90)):
        n = grid * block - 5
        case("latency", "horner", grid, block, numbers(n, 999, "f4"), zeros(n), i(n), i(degree))
    case("latency", "newton_root", 50, 192, numbers(9600, 5000, "f4"), zeros(9600), i(9600))
    case("alu", "power_mod", 132, 128, numbers(16896, 1 << 30, "u4"), zeros(16896, "u4"), i(16896), u(1000003))
    for grid, block, size, step in ((1, 32, 1 << 14, 97), (66, 64, 1 << 19, 4099)):
        nodes = Array("ring", "i4", 2 * size, 2 * step)
        case("latency", "walk_list", grid, block, nodes, zeros(grid * block, "i4"), i(40))
    case("latency", "hash_bytes", 40, 64, numbers(2560 * 48, 200, "u1"), zeros(2560, "u4"), i(48))
    for grid, block, steps in ((3, 32, 400), (264, 256, 120)):
        case("latency", "lorenz", grid, block, numbers(3 * grid * block, 9, "f4"), i(steps), f(0.001))
    case("fp64", "pendulum", 100, 64, zeros(2 * 6400, "f8"), i(200), ("f8", 0.001))
    case("fp64", "pendulum", 528, 256, zeros(2 * 528 * 256, "f8"), i(60), ("f8", 0.001))


def _arithmetic(case: Any) -> None:
    case("fma", "complex_powers<1>", 300, 128, zeros(2 * 300 * 128), i(150))
    case("fma", "complex_powers<4>", 132, 160, zeros(2 * 4 * 132 * 160), i(100))
    case("fma", "complex_powers<6>", 400, 192, zeros(2 * 6 * 400 * 192), i(60))
    case("sfu", "gelu", 264, 256, numbers(264 * 256 * 4, 5, "f4"), zeros(264 * 256 * 4), i(264 * 256 * 4))
    case("sfu", "normal_density", 150, 224, numbers(150 * 224, 9, "f4"), zeros(150 * 224), i(96))
    case("sfu", "normal_density", 1056, 128, numbers(1056 * 128, 9, "f4"), zeros(1056 * 128), i(64))
    case("sfu", "waves", 132, 416, zeros(132 * 416), i(80), f(0.3))
    case("fp64", "mixed_precision", 132, 256, zeros(33792, "f8"), zeros(33792), i(33792), i(128))
    case("sfu", "black_scholes", 400, 256, numbers(102400, 100, "f4"), zeros(102400), i(102400), f(100), f(0.05))
    for grid, block, turns in ((5, 256, 300), (660, 256, 128)):
        case("alu", "xorshift_sum", grid, block, zeros(grid * block, "u4"), i(turns))
    case("alu", "hamming", 264, 128, numbers(264 * 128 * 24, 1 << 30, "u4"), numbers(24, 1 << 30, "u4"),
         zeros(264 * 128, "i4"), i(24))  # fmt: skip
    case("alu", "sha_like", 132, 512, zeros(132 * 512, "u4"), i(96))
    case("alu", "sha_like", 40, 128, zeros(40 * 128, "u4"), i(160))
    case("alu", "divide_ints", 198, 128, numbers(198 * 128, 1 << 30), zeros(198 * 128, "i4"), i(17), i(40))


def _shared(case: Any) -> None:
    for block, radius in ((128, 7), (256, 31)):
        n = 300 * block
        case("shared", "convolve", 300, block, numbers(n, 99, "f4"), zeros(2 * radius + 1), zeros(n), i(n), i(radius),
             smem=4 * (block + 2 * radius))  # fmt: skip
    for high in (256, 6):
        case("shared", "lookup_shared", 198, 256, numbers(198 * 256 * 32, high, "u1"), zeros(256), zeros(198 * 256),
             i(32))  # fmt: skip
    for pad in (0, 1):
        case("shared", f"column_sums_shared<{pad}>", 528, 128, numbers(528 * 1024, 9, "f4"), zeros(528 * 32))
    for grid, block in ((132, 512), (700, 128)):
        n = 2 * grid * block
        case("barrier", "blelloch", grid, block, numbers(n, 9), zeros(n, "i4"))
    case("barrier", "jacobi_shared", 132, (32, 32), numbers(132 * 1024, 9, "f4"), i(30))
    case("barrier", "gauss_solve", 200, (32, 32), numbers(200 * 1024, 9, "f4"), zeros(200 * 1024))
    for grid, block in ((132, 1024), (900, 256)):
        case("barrier", "bitonic_floats", grid, block, numbers(grid * block, 9999, "f4"), smem=4 * block)


def _reductions(case: Any) -> None:
    for grid, block, n in ((132, 512, 1 << 20), (1056, 256, 1 << 19)):
        case("reduction", "sum_atomic", grid, block, numbers(n, 9, "f4"), zeros(1), i(n))
    case("reduction", "sum_last_block", 264, 256, numbers(1 << 19, 9, "f4"), zeros(264), zeros(1), zeros(1, "u4"),
         i(1 << 19))  # fmt: skip
    case("reduction", "largest", 132, 256, numbers(300000, 1 << 20, "f4"), zeros(1, "u8"), i(300000))
    for grid, block in ((25, 512), (1200, 1024)):
        n = grid * block
        case("reduction", "scan_warps", grid, block, numbers(n, 9), zeros(n, "i4"), i(n))
    case("reduction", "column_means", 8, 128, numbers(200 * 1024, 9, "f4"), zeros(1024), i(200), i(1024))
    for rows, cols, block in ((60, 1024, 256), (528, 768, 128), (132, 6000, 512)):
        n = rows * cols
        case("rows", "layer_norm", rows, block, numbers(n, 9, "f4"), zeros(n), i(cols), f(1e-5))
    for rows, quads in ((2000, 64), (264, 512)):
        n = 4 * rows * quads
        case("rows", "rms_norm_warp", rows // 8, 256, numbers(n, 9, "f4"), zeros(n), i(quads), i(rows))
    for rows, cols, block in ((132, 2048, 256), (1000, 640, 128), (20, 9000, 1024)):
        n = rows * cols
        case("rows", "online_softmax", rows, block, numbers(n, 9, "f4"), zeros(n), i(cols))
    for heads, length in ((32, 256), (264, 128)):
        n = heads * length * 64
        case("rows", "attend_one", heads, 256, numbers(heads * 64, 3, "f4"), numbers(n, 3, "f4"), numbers(n, 4, "f4"),
             zeros(heads * 64), i(length), smem=4 * length)  # fmt: skip


def _matrices(case: Any) -> None:
    for n in (512, 1024):
        case("matrix", "gemm_64", (n // 64, n // 64), 256, *[numbers(n * n, 5, "f4")] * 2, zeros(n * n), i(n))
    case("matrix", "gemm_naive", (10, 20), (32, 8), numbers(160 * 200, 5, "f4"), numbers(200 * 320, 5, "f4"),
         zeros(160 * 320), i(160), i(320), i(200))  # fmt: skip
    for rows, cols, block in ((1000, 1000, 128), (264, 4096, 256)):
        case("matrix", "gemv_warp", -(-rows * 32 // block), block, numbers(rows * cols, 5, "f4"),
             numbers(cols, 5, "f4"), zeros(rows), i(rows), i(cols))  # fmt: skip
    case("matrix", "small_products", 500, 256, numbers(128000, 5, "f4"), numbers(128000, 6, "f4"), zeros(128000))
    case("matrix", "transpose_naive", (16, 64), (32, 8), numbers(512 * 512, 9, "f4"), zeros(512 * 512), i(512))
    case(
        "matrix", "transpose_shared", (50, 40), (16, 16), numbers(800 * 640, 9, "f4"), zeros(800 * 640), i(800), i(640)
    )


def _indirect(case: Any) -> None:
    for n, grid in ((1 << 17, 128), (1 << 20, 528)):
        case("gather", "permute", grid, 256, numbers(n, 9, "f4"), Array("ring", "i4", n, 40503), zeros(n), i(n))
    case(
        "gather", "permute", 264, 256, numbers(1 << 18, 9, "f4"), numbers(1 << 18, 1 << 18), zeros(1 << 18), i(1 << 18)
    )
    case(
        "gather", "scatter", 264, 256, numbers(1 << 18, 9, "f4"), numbers(1 << 18, 1 << 19), zeros(1 << 19), i(1 << 18)
    )
    case("gather", "embed", 512, 64, numbers(4 * 5000 * 128, 9, "f4"), numbers(512, 5000), zeros(4 * 512 * 128), i(128))
    for kernel, rows, per_row, block in (("spmv_rows", 20000, 12, 128), ("spmv_warps", 6000, 70, 256)):
        n = rows * per_row
        grid = -(-rows * (32 if "warps" in kernel else 1) // block)
        case("gather", kernel, grid, block, numbers(n, rows), numbers(n, 9, "f4"), numbers(rows, 9, "f4"), zeros(rows),
             i(rows), i(per_row))  # fmt: skip
    case("gather", "binary_search", 200, 128, Array("ring", "i4", 1 << 16, 1), numbers(25600, 1 << 16),
         zeros(25600, "i4"), i(1 << 16), i(25600))  # fmt: skip


def _atomics(case: Any) -> None:
    n = 1 << 18
    for size in (16, 4096, 1 << 20):
        case("atomics", "count_bins", 264, 256, numbers(n, 1 << 30, "u4"), zeros(size, "u4"), i(n), u(size - 1))
    for size in (64, 1000):
        case("atomics", "count_bins_shared", 132, 512, numbers(n, 1 << 30, "u4"), zeros(size, "u4"), i(n), i(size),
             smem=4 * size)  # fmt: skip
    case("atomics", "weigh_bins", 132, 256, numbers(1 << 17, 1 << 30, "u4"), numbers(1 << 17, 9, "f4"), zeros(512),
         i(1 << 17), u(511))  # fmt: skip
    case("atomics", "keep_positive", 1024, 256, numbers(n, 16), zeros(n, "i4"), zeros(1, "i4"), i(n))
    case("atomics", "highest_of_groups", 132, 256, numbers(n, 1 << 20), zeros(3000, "i4"), i(n), i(3000))
    case("atomics", "set_bits", 264, 256, numbers(n, 1 << 22, "u4"), zeros(1 << 17, "u4"), i(n))
    case("atomics", "add_doubles", 66, 128, zeros(1024, "f8"), i(8), u(1023))
    case("atomics", "tickets", 20, 64, zeros(8, "u4"), zeros(1280, "u4"), i(12))
    case("atomics", "publish", 132, 256, zeros(132 * 256, "i4"), zeros(132 * 32, "i4"), i(20))


def _control(case: Any) -> None:
    case("divergence", "julia", (40, 60), (16, 8), zeros(640 * 480, "i4"), i(640), i(120))
    case("divergence", "julia", (8, 32), (32, 4), zeros(256 * 128, "i4"), i(256), i(60))
    case("divergence", "greatest_divisor", 150, 128, numbers(19200, 1 << 24, "u4"), numbers(19200, 1 << 23, "u4"),
         zeros(19200, "u4"), i(19200))  # fmt: skip
    for steps in (64, 300):
        case("divergence", "machine", 132, 128, numbers(256, 200, "u1"), zeros(132 * 128, "i4"), i(steps))
    case("divergence", "accept_reject", 200, 160, zeros(32000, "u4"), i(40))
    for terms, grid in ((600, 132), (1500, 500), (5000, 132)):
        case("code", f"wide_polynomial<{terms}>", grid, 128, numbers(grid * 128, 9, "f4"), zeros(grid * 128))


def _images(case: Any) -> None:
    for width, height, radius in ((512, 256, 2), (1280, 720, 4)):
        n = width * height
        case("cache", "blur", (width // 32, height // 8), (32, 8), numbers(n, 255, "f4"), zeros(n), i(width), i(height),
             i(radius))  # fmt: skip
    case("cache", "heat_3d", (3, 24, 96), (32, 4), numbers(96**3, 9, "f4"), zeros(96**3), i(96))
    case("cache", "resize", (20, 60), (32, 8), numbers(1000 * 800, 255, "f4"), zeros(640 * 480), i(1000), i(800),
         f(1.5), i(640))  # fmt: skip
    for size in (1000, 500000):
        case("cache", "interpolate", 264, 256, numbers(size, 9, "f4"), numbers(1 << 19, 1 << 20, "f4"), zeros(1 << 19),
             i(1 << 19), i(size))  # fmt: skip
    for quads in (1 << 15, 1 << 18):
        case("cache", "many_passes", 132, 512, numbers(4 * quads, 9, "f4"), zeros(132 * 512), i(quads), i(6))
    case("cache", "nearest", 160, 128, numbers(2 * 160 * 128, 99, "f4"), numbers(400, 99, "f4"), zeros(20480, "i4"),
         i(200))  # fmt: skip
    for n, block in ((300, 128), (5000, 64), (40000, 512)):
        case("tiny", "saxpy", -(-n // block), block, i(n), f(2), numbers(n, 9, "f4"), zeros(n))
    case("tiny", "fill_value", 33, 96, zeros(3100), f(1), i(3100))
    for grid, block in ((134, 1024), (200, 768)):
        case("tail", "normal_density", grid, block, numbers(grid * block, 9, "f4"), zeros(grid * block), i(64))
    case("tail", "xorshift_sum", 1080, 256, zeros(1080 * 256, "u4"), i(200))
    for smem in (70 << 10, 30 << 10):
        case("occupancy", "lookup_shared", 264, 128, numbers(264 * 128 * 24, 200, "u1"), zeros(256), zeros(264 * 128),
             i(24), smem=smem)  # fmt: skip


def _streams(case: Any) -> None:
    for n, block in ((3_000_000, 256), (20_000_001, 128)):
        case("stream", "saxpy", -(-n // block), block, i(n), f(2), numbers(n, 9, "f4"), zeros(n))
    case("stream", "saxpy_loop", 528, 512, i(12_000_000), f(2), numbers(12_000_000, 9, "f4"), zeros(12_000_000))
    for grid in (3000, 20000):
        case("stream", "triad", grid, 256, *[zeros(4 * grid * 256)] * 3, f(3))
    case("stream", "grey", 20000, 256, numbers(4 * 5_120_000, 255, "u1"), zeros(5_120_000, "u1"), i(5_120_000))
    case("stream", "unzip", 12000, 256, zeros(3 * 3_072_000), *[zeros(3_072_000)] * 3, i(3_072_000))
    case("stream", "reverse", 40000, 192, zeros(7_680_000), zeros(7_680_000), i(7_680_000))
    case("stream", "fill_value", 60000, 256, zeros(15_360_000), f(1), i(15_360_000))
    case("stream", "column_means", 64, 256, zeros(900 * 16384), zeros(16384), i(900), i(16384))
    case("stream", "gemv_warp", 1250, 256, zeros(10000 * 2000), zeros(2000), zeros(10000), i(10000), i(2000))
    case("stream", "layer_norm", 8000, 256, zeros(8000 * 2048), zeros(8000 * 2048), i(2048), f(1e-5))
    case("stream", "permute", 1056, 256, zeros(1 << 24), numbers(1 << 21, 1 << 24), zeros(1 << 21), i(1 << 21))
    case("stream", "transpose_shared", (200, 150), (16, 16), zeros(3200 * 2400), zeros(3200 * 2400), i(3200), i(2400))


def _block_sizes(case: Any) -> None:
    for block in SERIES:
        n = 1 << 20
        case(
            "rows",
            "layer_norm",
            600,
            block,
            zeros(600 * 3000),
            zeros(600 * 3000),
            i(3000),
            f(1e-5),
            series="layer_norm",
        )
        case("sfu", "normal_density", 135168 // block, block, numbers(135168, 9, "f4"), zeros(135168), i(48),
             series="normal_density")  # fmt: skip
        case("atomics", "count_bins_shared", 67584 // block, block, numbers(n, 1 << 30, "u4"), zeros(256, "u4"), i(n),
             i(256), smem=1024, series="count_bins_shared")  # fmt: skip
        case("divergence", "julia", (1024 // 32, 512 * 32 // block), (32, block // 32), zeros(1 << 19, "i4"), i(1024),
             i(80), series="julia")  # fmt: skip
        case(
            "reduction", "sum_atomic", 135168 // block, block, numbers(n, 9, "f4"), zeros(1), i(n), series="sum_atomic"
        )
        case("stream", "saxpy", -(-6_000_000 // block), block, i(6_000_000), f(2), zeros(6_000_000), zeros(6_000_000),
             series="saxpy")  # fmt: skip
