"""Launches whose time is predicted first and measured then: at most a third of them are bound by DRAM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

SOURCE = Path(__file__).parent / "kernels" / "timing.cu"
FILE = "timing.cu"
#: Categories whose launches are bound by DRAM, or close to it.
DRAM = ("stream",)


@dataclass(frozen=True)
class Array:
    """An array argument by its recipe, so that the machine with the GPU makes the same one.

    ``kind``: "zeros", "ones", "random" (whole numbers from 0 to ``high`` - 1), "ring" (a table of ``size`` indices that
    leads from each element to the one ``high`` elements further, around), or "offsets" (numbers that rise from 0 to
    ``high`` * (``size`` - 1) by 1 to 2 * ``high`` - 1: where each row of a sparse matrix begins).
    """

    kind: str
    dtype: str
    size: int
    high: int = 0

    def make(self) -> np.ndarray:
        """The array, of shape (size,)."""
        if self.kind == "zeros":
            return np.zeros(self.size, self.dtype)
        if self.kind == "ones":
            return np.ones(self.size, self.dtype)
        if self.kind == "ring":
            return ((np.arange(self.size, dtype=np.int64) + self.high) % self.size).astype(self.dtype)
        if self.kind == "offsets":
            found = self.high * np.arange(self.size)
            found[1:-1] += np.random.default_rng(self.size + self.high).integers(0, self.high, self.size - 2)
            return found.astype(self.dtype)
        return np.random.default_rng(self.size + self.high).integers(0, self.high, self.size).astype(self.dtype)


class ByRecipe(Array):
    """An array by the recipe ``kind`` of a set: a function of ``size``, ``high`` and a generator of random numbers."""

    recipes: ClassVar[Mapping[str, Callable[[int, int, np.random.Generator], Any]]]

    def make(self) -> np.ndarray:
        """The array, of shape (size,)."""
        found = self.recipes[self.kind](self.size, self.high, np.random.default_rng(self.size + self.high))
        return np.asarray(found).astype(self.dtype).ravel()


@dataclass(frozen=True)
class TimingCase:
    """One launch: ``arguments`` are Arrays and pairs (dtype, number).

    ``series``: the name of the launches that differ from this one only in their block size, or in their tile.
    """

    name: str
    category: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Any, ...]
    smem: int = 0
    series: str = ""

    @property
    def threads(self) -> int:
        """Threads of the grid."""
        return prod(self.grid) * prod(self.block)

    def make(self) -> list[Any]:
        """The arguments as NumPy arrays and scalars."""
        return [a.make() if isinstance(a, Array) else np.dtype(a[0]).type(a[1]) for a in self.arguments]


def f(value: float) -> tuple[str, float]:
    """A float argument."""
    return ("f4", value)


def i(value: int) -> tuple[str, int]:
    """An int argument."""
    return ("i4", value)


def zeros(size: int, dtype: str = "f4") -> Array:
    """An array of zeros."""
    return Array("zeros", dtype, size)


def cases() -> list[TimingCase]:
    """All launches; their names are different."""
    found: list[TimingCase] = []

    def case(category: str, kernel: str, grid: Any, block: Any, *arguments: Any, smem: int = 0) -> None:
        grid, block = (g if isinstance(g, tuple) else (g,) for g in (grid, block))
        shape = f"{'x'.join(map(str, grid))} of {'x'.join(map(str, block))}"
        name = f"{kernel}, {shape}" + (f", {smem} bytes" if smem else "")
        numbers = [a[1] for a in arguments if isinstance(a, tuple) and a[0] in ("i4", "u4")]
        name += f", {numbers}" if numbers else ""
        sizes = [a.size for a in arguments if isinstance(a, Array)]
        if any(one.name == name for one in found):
            name += f", {sizes}"
        found.append(TimingCase(name, category, kernel, grid, block, arguments, smem))

    _latency(case)
    _pipes(case)
    _shared(case)
    _control(case)
    _atomics(case)
    _caches(case)
    _launches(case)
    _streams(case)
    return found


def _latency(case: Any) -> None:
    for grid, block in ((1, 32), (132, 128), (264, 512)):
        case("latency", "chain_fma<2000>", grid, block, zeros(grid * block), f(0.5), f(1))
        case("latency", "chain_int<500>", grid, block, zeros(grid * block, "u4"), ("u4", 7))
    for grid, block in ((1, 32), (132, 64)):
        case("latency", "chain_double<1000>", grid, block, zeros(grid * block, "f8"), ("f8", 0.5), ("f8", 1))
        case("latency", "chain_sine<500>", grid, block, zeros(grid * block), f(0.5))
        case("latency", "chain_shuffle<500>", grid, block, zeros(grid * block))
        case("latency", "chain_divide<200>", grid, block, zeros(grid * block), f(2))
        case("latency", "chase_shared<500>", grid, block, Array("ring", "i4", 1024, 32), zeros(grid * block, "i4"))
    for size, step in ((1 << 12, 64), (1 << 20, 4160), (1 << 22, 65600)):
        case("latency", "chase<256>", 1, 1, Array("ring", "i4", size, step), zeros(1, "i4"), i(1))
    case("latency", "chase<64>", 132, 32, Array("ring", "i4", 1 << 22, 33344), zeros(132 * 32, "i4"), i(32))


def _pipes(case: Any) -> None:
    for chains, grid, block in ((1, 264, 1024), (4, 132, 256), (8, 132, 128), (8, 264, 256)):
        case("fma", f"flood_fma<512, {chains}>", grid, block, zeros(grid * block), f(0.5), f(1))
    for grid, block in ((132, 256), (264, 1024)):
        case("fma", "flood_registers<256>", grid, block, zeros(grid * block), f(0.5), f(0.25), f(1), f(2))
    for grid, block in ((132, 128), (132, 1024), (528, 256), (1000, 128)):
        case("sfu", "flood_exp<128>", grid, block, zeros(grid * block), f(0.5))
    for grid, block in ((132, 512), (396, 256)):
        case("sfu", "flood_root<128>", grid, block, zeros(grid * block), f(0.5))
    for grid, block in ((132, 128), (132, 1024), (528, 256)):
        case("fp64", "flood_double<256>", grid, block, zeros(grid * block, "f8"), ("f8", 0.5), ("f8", 1))
    for grid, block in ((132, 256), (264, 1024)):
        case("alu", "flood_multiply<256>", grid, block, zeros(grid * block, "u4"), ("u4", 3))
        case("alu", "flood_bits<256>", grid, block, zeros(grid * block, "u4"), ("u4", 3))
        case("alu", "mixed_pipes<256>", grid, block, zeros(grid * block), ("u4", 3), f(0.5))
        case("alu", "votes<256>", grid, block, zeros(grid * block, "u4"), ("u4", 3))


def _shared(case: Any) -> None:
    for stride in (1, 2, 4, 8, 32):
        case("shared", f"strided_shared<256, {stride}>", 132, 512, zeros(132 * 512))
    case("shared", "strided_shared<256, 1>", 264, 1024, zeros(264 * 1024))
    case("shared", "vector_shared<256>", 132, 512, zeros(4 * 132 * 512))
    case("shared", "vector_shared<256>", 132, 64, zeros(4 * 132 * 64))
    for stride in (1, 4, 32):
        case("shared", f"store_shared<256, {stride}>", 132, 512, zeros(132 * 512))
    case("shared", "sort_shared<1>", 264, 512, Array("ring", "u4", 264 * 1024))
    case("shared", "sort_shared<1>", 1000, 512, Array("ring", "u4", 1000 * 1024))
    for pad in (0, 1):
        case("shared", f"transpose_tile<{pad}>", (32, 32), (32, 8), zeros(1 << 20), zeros(1 << 20), i(1024))


def _control(case: Any) -> None:
    for block in (32, 256, 1024):
        case("barrier", "barriers<200>", 132, block, zeros(132 * block))
    case("barrier", "barriers<200>", 132 * 4, 512, zeros(132 * 4 * 512))
    case("barrier", "uneven_barriers<64>", 132, 256, zeros(132 * 256), f(0.5))
    case("barrier", "uneven_barriers<64>", 264, 1024, zeros(264 * 1024), f(0.5))
    for grid, block in ((132, 1024), (528, 256), (1500, 128)):
        case("barrier", "reduce_tree<4>", grid, block, Array("ones", "f4", grid * block * 4), zeros(grid * block))
    case("barrier", "scan_block", 264, 1024, Array("ones", "i4", 264 * 1024), zeros(264 * 1024, "i4"))
    case("barrier", "scan_block", 2000, 256, Array("ones", "i4", 2000 * 256), zeros(2000 * 256, "i4"))
    for ways in (1, 2, 4):
        case("divergence", f"diverge<32, {ways}>", 264, 256, zeros(264 * 256), f(0.5))
    case("divergence", "mandelbrot", (16, 32), (32, 8), zeros(512 * 256, "i4"), i(512), f(3.0 / 512))
    case("divergence", "mandelbrot", (64, 64), (16, 16), zeros(1024 * 1024, "i4"), i(1024), f(3.0 / 1024))
    case("divergence", "collatz", 264, 256, zeros(264 * 256, "i4"), i(1))
    case("divergence", "collatz", 2048, 128, zeros(2048 * 128, "i4"), i(100001))
    for length in (256, 2048, 8192):
        case("code", f"long_code<{length}>", 132, 128, zeros(132 * 128), f(0.5), f(1))
    case("code", "long_code<2048>", 1, 32, zeros(32), f(0.5), f(1))
    for length in (256, 1024, 4096):
        case("code", f"long_loop<{length}>", 132, 256, zeros(132 * 256), f(0.5), f(1), i(4))


def _atomics(case: Any) -> None:
    for grid, block in ((1, 32), (132, 32), (132, 256)):
        case("atomics", "count_one<8>", grid, block, zeros(1, "u4"))
    case("atomics", "count_float<4>", 132, 64, zeros(1))
    for mask in (31, 1023, (1 << 16) - 1):
        case("atomics", "count_spread<16>", 264, 256, zeros(1 << 16, "u4"), ("u4", mask))
    case("atomics", "count_returned<16>", 1, 32, zeros(64, "u4"), zeros(32, "u4"))
    case("atomics", "count_returned<16>", 132, 256, zeros(64, "u4"), zeros(132 * 256, "u4"))
    for high in (256, 4):
        numbers = Array("random", "u4", 264 * 256 * 16, high)
        case("atomics", "histogram_shared", 264, 256, numbers, zeros(256, "u4"), i(16))
    case("atomics", "fenced", 132, 128, zeros(132 * 128), i(10))


def _caches(case: Any) -> None:
    case("cache", "table_l1<256>", 132, 512, zeros(4096), zeros(132 * 512), i(4095))
    case("cache", "table_l1<256>", 264, 1024, zeros(16384), zeros(264 * 1024), i(16383))
    case("cache", "read_l2<32>", 132, 256, zeros(1 << 20), zeros(132 * 256), i((1 << 18) - 1))
    case("cache", "read_l2<32>", 264, 1024, zeros(1 << 22), zeros(264 * 1024), i((1 << 20) - 1))
    for size in (1 << 12, 1 << 20):
        where = Array("random", "i4", 264 * 256 * 16, size)
        case("cache", "gather<16>", 264, 256, zeros(size), where, zeros(264 * 256))
    for n in (258, 1026):
        case("cache", "stencil", ((n - 2) // 32, (n - 2) // 8), (32, 8), zeros(n * n), zeros(n * n), i(n))
    for tile, n in ((16, 256), (32, 512), (16, 1024)):
        case(
            "cache", f"multiply_tiled<{tile}>", (n // tile, n // tile), (tile, tile), *[zeros(n * n)] * 3, i(n)
        )  # fmt: skip
    case("cache", "multiply_plain", (16, 16), (16, 16), *[zeros(256 * 256)] * 3, i(256))
    for n in (1024, 8192):
        case("cache", "bodies", n // 256, 256, zeros(4 * n), zeros(3 * n), i(n))


def _launches(case: Any) -> None:
    for grid, block in ((1, 32), (1, 256), (20, 256), (132, 256), (500, 128)):
        n = grid * block
        case("tiny", "add", grid, block, *[zeros(n)] * 3, i(n))
    case("tiny", "rows_softmax", 32, 256, zeros(32 * 512), zeros(32 * 512), i(512))
    case("tiny", "rows_softmax", 132, 1024, zeros(132 * 4096), zeros(132 * 4096), i(4096))
    for grid in (4000, 40000):
        case("blocks", "fill", grid, 32, zeros(4 * grid * 32))
    case("blocks", "empty", 20000, 64)
    for grid, block in ((133, 1024), (265, 1024), (140, 512)):
        case("tail", "flood_exp<128>", grid, block, zeros(grid * block), f(0.5))
    case("tail", "chain_fma<2000>", 1100, 256, zeros(1100 * 256), f(0.5), f(1))
    for smem in (40 << 10, 100 << 10):
        case("occupancy", "flood_exp<128>", 528, 128, zeros(528 * 128), f(0.5), smem=smem)
        case("occupancy", "copy4", 4096, 256, zeros(4 * 4096 * 256), zeros(4 * 4096 * 256), smem=smem)
    case("occupancy", "read_l2<32>", 264, 128, zeros(1 << 20), zeros(264 * 128), i((1 << 18) - 1), smem=100 << 10)


def _streams(case: Any) -> None:
    for grid, block in ((4096, 256), (65536, 256)):
        n = grid * block
        case("stream", "copy", grid, block, zeros(n), zeros(n))
        case("stream", "add", grid, block, *[zeros(n)] * 3, i(n))
    for grid, block in ((2048, 128), (16384, 256), (4096, 1024)):
        n = grid * block
        case("stream", "copy4", grid, block, zeros(4 * n), zeros(4 * n))
    for grid, block in ((132, 1024), (264, 512), (1056, 256)):
        case("stream", "copy_loop", grid, block, zeros(1 << 24), zeros(1 << 24), i(1 << 22))
        case("stream", "sum_loop", grid, block, zeros(1 << 24), zeros(1), i(1 << 22))
    case("stream", "copy_bytes", 65536, 256, zeros(1 << 24, "i1"), zeros(1 << 24, "i1"))
    for stride in (2, 8, 32):
        n = 1 << 20
        case("stream", "copy_strided", n // 256, 256, zeros(n * stride), zeros(n), i(stride))
        case("stream", "scatter_strided", n // 256, 256, zeros(n), zeros(n * stride), i(stride))
    case("stream", "fill", 65536, 256, zeros(4 * 65536 * 256))
    case(
        "stream",
        "gather<16>",
        1056,
        256,
        zeros(1 << 26),
        Array("random", "i4", 1056 * 4096, 1 << 26),
        zeros(1056 * 256),
    )
    for rows, cols in ((4096, 4096), (16384, 1024), (2000, 16384)):
        case("stream", "rows_softmax", rows, 256, zeros(rows * cols), zeros(rows * cols), i(cols))
    for pad in (0, 1):
        case("stream", f"transpose_tile<{pad}>", (128, 128), (32, 8), zeros(1 << 24), zeros(1 << 24), i(4096))
