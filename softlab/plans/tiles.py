"""Tiles of short rows: how the kernel ``fast_tile`` lays lanes over rows, what that costs, and when it pays.

A warp moves a tile of 32 rows, or of a multiple, as one piece of memory (kernels/fast_tile.cuh). The costs are in the
unit of :mod:`softlab.plans.short_rows`. The constants were counted in the machine code, or measured on an H200
(kernels/FAST.md, "Short rows").
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from softlab.plans.instantiations import GROUP_WIDTHS, WARP_SIZE, WIDEST_PACK_BYTES
from softlab.plans.short_rows import Cost, Problem

#: The longest row: a warp's tile of one input then takes 16 KiB of shared memory, and an SM holds about 14 of them.
MOST_ROW_BYTES = 512
#: Static shared memory of a block.
MOST_STATIC_BYTES = 48 * 1024
BLOCK_SIZES = (128, 64, 32)
#: Bytes that 32 lanes have in flight together. With 32 warps on an SM that is 64 KiB per SM, three times what the speed
#: of memory times its latency asks for: a warp also computes and writes, and has no load in flight then.
TILE_BYTES = 64 * WARP_SIZE
#: Warps on an SM, and 32-bit registers of a lane that its part of a row may take. The exponential of a double takes
#: more registers than the values themselves.
WARPS, WARPS_OF_DOUBLES, ROW_WORDS = 32, 24, 16
#: If shared memory holds fewer warps than this, a lane may as well have more registers: with these, an SM has
#: ``LONG_WARPS`` warps.
FEW_WARPS, LONG_WARPS, LONG_ROW_WORDS = 24, 20, 32
#: Warps of a GPU that is not full: each SM has one block of four before a tile grows beyond 32 rows.
FILLING_WARPS = 4
#: Instructions of a warp in one unit of time: 7.5 cycles x 4 per cycle, of which a kernel uses 0.7.
INSTRUCTIONS_PER_UNIT = 21
#: Instructions of a tile beside its rows, and of a pack: its copy to shared memory, then from there to global memory.
TILE_INSTRUCTIONS, PACK_INSTRUCTIONS = 70, 2
#: A row of whole packs on more than MOST_FULL_LANES lanes must fill this part of them, or memory waits for them.
ENOUGH_FILL, MOST_FULL_LANES = 0.8, 8
#: Units of time between a warp's first load and its last store that no other warp hides: per tile, and per element of a
#: row. Measured with few rows of 16-bit elements, 1 to 61 columns.
LATENCY, LATENCY_PER_ELEMENT = 30, 3


@dataclass(frozen=True)
class TileShape:
    """The template arguments of ``fast_tile``.

    A lane takes ``vectors`` vectors of ``vector_size`` elements of a row, and the single element that remains if
    ``odd``. ``width`` lanes share a row. A tile is ``slabs`` times 32 rows.
    """

    vector_size: int
    vectors: int
    odd: bool
    width: int
    slabs: int
    block_size: int
    blocks_per_sm: int

    @property
    def rows(self) -> int:
        """Rows of a tile."""
        return WARP_SIZE * self.slabs

    @property
    def row_elements(self) -> int:
        """Elements of a row that a lane holds at most."""
        return self.vectors * self.vector_size + self.odd


@dataclass(frozen=True)
class _Weights:
    """Instructions of a lane: per row, per element, and per step of the butterflies between lanes."""

    row: int
    element: float
    step: int


_FORWARD, _BACKWARD = _Weights(8, 10.5, 4), _Weights(9, 12, 2)
_DOUBLE, _DOUBLE_LOG = _Weights(20, 42, 8), _Weights(95, 42, 8)
_DOUBLE_BACKWARD, _DOUBLE_LOG_BACKWARD = _Weights(10, 18, 4), _Weights(10, 50, 4)


@dataclass(frozen=True)
class Room:
    """``warps`` on an SM, and ``words``: registers of a lane that its part of a row may take. ``long_words``: the same
    if shared memory holds fewer than ``FEW_WARPS``. ``beside``: bytes of a tile beside each element of its inputs."""

    warps: int = WARPS
    words: int = ROW_WORDS
    long_words: int = LONG_ROW_WORDS
    beside: int = 0


def shape(problem: Problem, rows: int, sm_count: int, smem_per_sm: int, room: Room = Room()) -> TileShape | None:
    """How lanes lie over ``rows`` rows; None if a row is too long."""
    itemsize, cols = problem.itemsize, problem.cols
    if cols * itemsize > MOST_ROW_BYTES:
        return None
    nbytes = itemsize * problem.inputs + room.beside
    slab_bytes, tile_bytes = WARP_SIZE * cols * nbytes, TILE_BYTES * WARPS // room.warps
    warps, words = min(room.warps, WARPS_OF_DOUBLES) if itemsize == 8 else room.warps, room.words
    if smem_per_sm // slab_bytes < FEW_WARPS:
        warps, words = LONG_WARPS, room.long_words
    odd = _is_odd(cols, itemsize)
    vector_size = vector_size_of(cols, itemsize)
    most = words * 4 // max(4, itemsize) // problem.inputs
    parts = cols // vector_size
    width = next(w for w in GROUP_WIDTHS if -(-parts // w) * vector_size <= max(most, vector_size))
    vectors = -(-parts // width)
    slabs = 1
    while slabs * slab_bytes < tile_bytes and 2 * slabs * WARP_SIZE * FILLING_WARPS * sm_count <= rows:
        slabs *= 2
    warp_bytes = WARP_SIZE * slabs * width * (vectors * vector_size + odd) * nbytes
    fitting = (size for size in BLOCK_SIZES if size // WARP_SIZE * warp_bytes <= MOST_STATIC_BYTES)
    if (block_size := next(fitting, None)) is None:
        return None
    return TileShape(vector_size, vectors, odd, width, slabs, block_size, warps * WARP_SIZE // block_size)


def vector_size_of(cols: int, itemsize: int) -> int:
    """Elements of a row that a lane takes from shared memory at once."""
    return 2 if _is_odd(cols, itemsize) else gcd(cols, WIDEST_PACK_BYTES // itemsize)


def _is_odd(cols: int, itemsize: int) -> bool:
    """Whether a single element remains beside pairs of 16 bits."""
    return itemsize == 2 and cols % 2 == 1 and cols > 1


def cost(problem: Problem, tile: TileShape, pack_size: int) -> Cost:
    """What 32 rows cost in ``fast_tile``."""
    weights = _weights(problem)
    steps = tile.width.bit_length() - 1
    rows = tile.width * (weights.row + tile.row_elements * weights.element + weights.step * steps)
    packs = (problem.inputs + 1) * problem.cols / pack_size * PACK_INSTRUCTIONS
    # Rows of whole packs over many lanes: a lane has one vector of a row or none, and the rows follow one another.
    many = tile.vector_size * problem.itemsize == WIDEST_PACK_BYTES and tile.width > MOST_FULL_LANES
    fill = problem.cols / (tile.width * tile.row_elements) if many else 1.0
    memory = problem.memory * max(1.0, ENOUGH_FILL / fill)
    return Cost((rows + packs + TILE_INSTRUCTIONS / tile.slabs) / INSTRUCTIONS_PER_UNIT, 0.0, memory)


def latency(problem: Problem) -> float:
    """Units of time that ``fast_tile`` needs more than the other kernels, whatever the number of rows."""
    return LATENCY + LATENCY_PER_ELEMENT * problem.cols * max(1, problem.itemsize // 4)


def _weights(problem: Problem) -> _Weights:
    log = problem.op.startswith("log_softmax")
    if problem.inputs > 1:
        return (_DOUBLE_LOG_BACKWARD if log else _DOUBLE_BACKWARD) if problem.itemsize == 8 else _BACKWARD
    return (_DOUBLE_LOG if log else _DOUBLE) if problem.itemsize == 8 else _FORWARD
