"""Rows along another axis than the last in the policy "fast": the shape of kernels/fast_strided.cuh.

A block takes a strip of neighbouring rows. A strip is at least a DRAM access wide, and better a line of the caches.
Wider strips use more of a DRAM page, and narrower ones make more blocks. So the plan takes as few blocks per strip as
hold the rows, then the widest strips that still give work to all SMs. kernels/FAST.md, "Other axes", has the
measurements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product

from softlab.errors import PlanError
from softlab.plans.fast_limits import CLUSTERS, MOST_BLOCKS, SIXTEEN_BLOCKS, WARP_BLOCK
from softlab.plans.fast_rows import WHICH, kernel_of
from softlab.plans.instantiations import WARP_SIZE, WIDEST_PACK_BYTES
from softlab.plans.planner import Choice, PlanRequest, StepLog

STRIDED, STRIDED_STREAM = "fast_strided", "fast_strided_stream"
FILE_KERNEL = "fast_strided"
#: Bytes of a strip at least: what DRAM gives at once. Where they hold the rows, strips have a line of the caches.
SEGMENT_BYTES, LINE_BYTES = 64, 128
#: Blocks of several warps exchange a statistic per row of the strip: with more lanes they need too much shared memory.
WIDEST_EXCHANGE = {128: 32, 256: 32, 512: 16}
#: Packs of each input that a thread keeps at most, by (bytes of an element, inputs). Each thread also has a statistic
#: per row of a pack, which costs the same for any number of packs. With 128 registers an SM keeps 512 threads.
PACKS = {(2, 1): 16, (4, 1): 16, (8, 1): 8, (2, 2): 8, (4, 2): 8, (8, 2): 4}
#: With fewer packs of a thread a cluster costs more than it saves.
FEWEST_PACKS = 2
#: Blocks per SM that are enough.
BLOCKS_PER_SM = 2


@dataclass(frozen=True)
class StripShape:
    """``lanes`` threads stand side by side in a block, and ``cluster`` blocks share a strip.

    A thread has ``packs`` packs of each input at a time.
    """

    lanes: int
    block_size: int
    cluster: int
    packs: int

    @property
    def elements(self) -> int:
        """Elements of a row that the cluster holds."""
        return self.block_size // self.lanes * self.packs * self.cluster


def strided(request: PlanRequest, log: StepLog) -> Choice:
    """The strips for a request whose rows have neighbours ``stride`` elements apart.

    Raises:
        PlanError: the grid would be too large.
    """
    element, stride = request.element, request.stride
    widest = WIDEST_PACK_BYTES // element.itemsize
    pack_size = request.pack_size or next(size for size in (8, 4, 2, 1) if size <= widest and stride % size == 0)
    log.note("How many rows are in a pack?", pack_size, "as many as 16 bytes hold, if that divides the stride",
             stride=stride)  # fmt: skip
    shapes = list(_shapes(request, pack_size))
    enough = BLOCKS_PER_SM * request.device.sm_count
    shape = next((shape for shape in shapes if _blocks(request, pack_size, shape) >= enough), None)
    shape = shape or max(shapes, key=lambda shape: _blocks(request, pack_size, shape))
    once = shape.elements >= request.cols
    log.note("Does a cluster hold the rows of a strip?", once, "else they are read twice", cols=request.cols)
    kernel = STRIDED if once else STRIDED_STREAM
    log.note(WHICH, kernel, "it reads rows where they lie, without a copy of the array", (STRIDED, STRIDED_STREAM))
    log.note("How many threads stand side by side?", shape.lanes, "as many as leave strips for all SMs")
    log.note("How many blocks share a strip?", shape.cluster, "as few as hold it")
    log.note("How many packs does a thread hold?", shape.packs, "as few as hold the row")
    blocks = log.note("How many blocks?", _blocks(request, pack_size, shape), "one cluster per strip")
    if blocks > MOST_BLOCKS:
        raise PlanError(f"a grid has at most {MOST_BLOCKS} blocks; these rows take {blocks}")
    numbers = (pack_size, shape.packs, shape.lanes, shape.block_size)
    instantiation = kernel_of(request, FILE_KERNEL, numbers, None, (shape.cluster,))
    return Choice(kernel, pack_size, (shape.block_size, 1), blocks, instantiation, cluster=shape.cluster)


def _blocks(request: PlanRequest, pack_size: int, shape: StripShape) -> int:
    strips = request.rows // request.stride * -(-request.stride // (shape.lanes * pack_size))
    return strips * shape.cluster


def _shapes(request: PlanRequest, pack_size: int) -> Iterator[StripShape]:
    """The shapes that hold the rows: by blocks per strip, then by lanes, the widest first. Else the largest, in chunks.

    Shapes with whole lines come before all others.
    """
    itemsize, inputs = request.element.itemsize, request.operator.rows_kept
    most = PACKS[itemsize, inputs]
    narrowest = min(WARP_SIZE, max(1, SEGMENT_BYTES // (pack_size * itemsize)))
    lanes_of_stride = 1 << (request.stride // pack_size - 1).bit_length()
    narrowest = min(narrowest, lanes_of_stride)
    capability = request.device.compute_capability
    clusters = (1, *(c for c in CLUSTERS if capability >= (9, 0) and (c <= 8 or capability in SIXTEEN_BLOCKS)))
    widths = [lanes for lanes in (WARP_BLOCK, 64, 32, 16, 8, 4, 2, 1) if narrowest <= lanes <= lanes_of_stride]
    line = min(LINE_BYTES // (pack_size * itemsize), widths[0])
    orders = (
        product(clusters, [lanes for lanes in widths if lanes >= line], WIDEST_EXCHANGE.items()),
        product(clusters, [lanes for lanes in widths if lanes < line], WIDEST_EXCHANGE.items()),
    )
    found = False
    for cluster, lanes, (block_size, widest) in chain(*orders):
        packs = -(-request.cols // (block_size // lanes * cluster))
        worth = cluster == 1 or packs >= FEWEST_PACKS
        alone = cluster == 1 and lanes == block_size  # nothing to exchange
        if packs <= most and worth and (alone or lanes <= widest):
            found = True
            yield StripShape(lanes, block_size, cluster, packs)
    if not found:
        yield StripShape(narrowest, 512, clusters[-1], most)
