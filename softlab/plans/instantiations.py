"""The shipped kernels by name: which template arguments make the kernel that a plan wants, in NVRTC's spelling.

A name such as ``softmax_warp<float, Algorithm::softmax, 2, 4, 32, 1, true>`` is what NVRTC compiles and what the table
of registers is keyed by. The order of the arguments is the kernels' own (``kernels/*.cuh``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from softlab.dtypes import ELEMENT_TYPES

WARP_SIZE = 32
#: Threads per block of the warp kernel, for every group width.
WARP_BLOCK = 128
#: The block sizes that the shared-memory kernel is compiled for, in ascending order.
BLOCK_SIZES = (128, 256, 512, 1024)
LAYOUTS = ("column", "row", "row_scalar")
GROUP_WIDTHS = (1, 2, 4, 8, 16, 32)
#: Columns that a thread of the warp kernel can hold in registers.
MAX_COLS_PER_THREAD = 32
WIDEST_PACK_BYTES = 16

ALGORITHMS = ("softmax", "log_softmax")


@dataclass(frozen=True)
class Instantiation:
    """One kernel to compile: ``file`` under ``kernels/``, ``name`` NVRTC's name expression."""

    file: str
    name: str


@dataclass(frozen=True)
class WarpShape:
    """How the warp kernel divides a row: the template arguments that decide its speed.

    ``thread_group_width`` lanes own ``rows_per_access`` rows at a time, each lane ``cols_per_thread`` columns in packs
    of ``pack_size``. With ``padding`` some of those columns are beyond the end of the row.
    """

    pack_size: int
    cols_per_thread: int
    thread_group_width: int
    rows_per_access: int
    padding: bool


def warp(cuda_type: str, algorithm: str, shape: WarpShape, *, backward: bool = False) -> Instantiation:
    """The warp kernel: a group of lanes owns a row and keeps it in registers."""
    numbers = (shape.pack_size, shape.cols_per_thread, shape.thread_group_width, shape.rows_per_access)
    return _instantiation("warp", backward, cuda_type, algorithm, *numbers, "true" if shape.padding else "false")


def block_smem(
    cuda_type: str, algorithm: str, pack_size: int, block_size: int, layout: str, *, backward: bool = False
) -> Instantiation:
    """The block kernel that keeps a row in shared memory."""
    return _instantiation("block_smem", backward, cuda_type, algorithm, pack_size, block_size, f"Layout::{layout}")


def block_uncached(
    cuda_type: str, algorithm: str, pack_size: int, block_size: int, *, backward: bool = False
) -> Instantiation:
    """The block kernel that reads a row three times."""
    return _instantiation("block_uncached", backward, cuda_type, algorithm, pack_size, block_size)


def _instantiation(kernel: str, backward: bool, cuda_type: str, algorithm: str, *arguments: int | str) -> Instantiation:
    template = f"softmax_{'backward_' if backward else ''}{kernel}"
    listed = ", ".join((cuda_type, f"Algorithm::{algorithm}", *map(str, arguments)))
    return Instantiation(f"{template}.cuh", f"{template}<{listed}>")


def fused(plain: Instantiation, load: str, store: str) -> Instantiation:
    """The kernel with other loads and stores: C++ types of function objects (``kernels/fused_load.cuh``).

    >>> plain = Instantiation("softmax_warp.cuh", "softmax_warp<float, Algorithm::softmax, 2, 4, 32, 1, true>")
    >>> fused(plain, "L", "S").name
    'softmax_warp_fused<float, Algorithm::softmax, L, S, 2, 4, 32, 1, true>'
    """
    template, _, arguments = plain.name.removesuffix(">").partition("<")
    cuda_type, algorithm, rest = arguments.split(", ", 2)
    return Instantiation(plain.file, f"{template}_fused<{cuda_type}, {algorithm}, {load}, {store}, {rest}>")


def tabulated() -> Iterator[Instantiation]:
    """Every instantiation whose registers ship in the table: all that packs of 1 and 2 can need.

    The dispatcher takes about half of them. A lesson may force the others, and an array that is not aligned to a pack
    needs them. Layouts that only a lesson takes are tabulated for the forward kernel alone.
    """
    arguments = product((False, True), ELEMENT_TYPES.values(), ALGORITHMS, (1, 2))
    for backward, element, algorithm, pack_size in arguments:
        if element.compute != "float64":
            for shape in warp_shapes(pack_size):
                yield warp(element.cuda, algorithm, shape, backward=backward)
            for block_size, layout in product(BLOCK_SIZES, LAYOUTS[:1] if backward else LAYOUTS):
                yield block_smem(element.cuda, algorithm, pack_size, block_size, layout, backward=backward)
        for block_size in BLOCK_SIZES:
            yield block_uncached(element.cuda, algorithm, pack_size, block_size, backward=backward)


def warp_shapes(pack_size: int) -> Iterator[WarpShape]:
    """All shapes of the warp kernel for one pack size: short rows (one pack per lane), then rows of a whole warp."""
    for width in GROUP_WIDTHS:
        for rows_per_access, padding in product((1, 2), (False, True)):
            if not (padding and width == 1):  # one lane pads a row only with a pack that is wider than the row
                yield WarpShape(pack_size, pack_size, width, rows_per_access, padding)
    for cols_per_thread, padding in product(range(2 * pack_size, MAX_COLS_PER_THREAD + 1, pack_size), (False, True)):
        yield WarpShape(pack_size, cols_per_thread, WARP_SIZE, 1, padding)
