"""Strips that blocks all over the GPU share: the shapes of ``fast_strip_grid.cuh``, and what each costs.

The cost is in the unit of :func:`softlab.plans.strip_shapes.cost`, so that the plan can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from softlab.plans.fast_limits import MAILBOX_HEADER_WORDS
from softlab.plans.instantiations import WIDEST_PACK_BYTES
from softlab.plans.planner import PlanRequest

STRIP_GRID = "fast_strip_grid"
#: Threads of each of the two roles, threads that merge and read statistics, and strips that a block has at once.
ROLE_THREADS, MAILBOX_THREADS, STAGES = 384, 128, (6, 4)
LINE_BYTES, SECTOR_BYTES = 128, 32
#: Rows of a strip at most: a lane reads the merged statistics of 8 of them.
MOST_WIDTH = 512
#: Packs of each input that a thread has at once, and warps of a block that merge.
CHUNK, MERGING_WARPS = 4, 2
#: What a strip costs, in bytes that an SM moves meanwhile when all SMs move all that memory gives. Fitted to 320
#: launches at 63 arrays on an H100 (kernels/FAST.md, "Other axes"). Per moved byte: one byte, and what pieces of lines
#: cost where strips are not whole lines of 128 bytes, as a part that is one for pieces of a sector.
BYTE, PIECE = 1.12, 1.52
#: Per pack of a thread that takes statistics, used or not, and more per 16-bit element of a forward operator.
PACK, HALF = 1.9, 0.54
#: Per row of a strip that a merging warp waits for, and per strip with fewer stages than the most.
MERGED_ROW, FEWER_STAGES = 7_700, 10_700
#: Per launch, until the first statistics are merged: 5 us, the median of what 18 arrays of 1 to 48 MB take beyond the
#: rest.
START = 120_000
#: Packs of forward 16-bit elements: with 8, the statistics of the pack's rows do not fit the registers.
HALVES_OF_A_PACK = 4


@dataclass(frozen=True)
class StripGridShape:
    """``blocks_per_strip`` blocks share a strip of ``width`` rows, and ``groups`` strips run at once.

    ``shifted``: 16 bytes do not divide the stride. ``block_size``: threads of each role.
    """

    pack_size: int
    width: int
    blocks_per_strip: int
    groups: int
    shifted: bool
    stages: int = STAGES[0]
    block_size: int = ROLE_THREADS

    @property
    def numbers(self) -> tuple[int | str, ...]:
        """The template arguments."""
        shape = self.pack_size, self.width, self.stages, self.block_size, self.blocks_per_strip
        return *shape, str(self.shifted).lower()

    def pitch(self, itemsize: int) -> int:
        """Bytes of a line of a strip in shared memory."""
        return -(-self.width * itemsize // 16) * 16 + 16 * self.shifted

    def strips(self, request: PlanRequest) -> int:
        """Strips of the whole array."""
        return request.rows // request.stride * -(-request.stride // self.width)

    def smem_bytes(self, request: PlanRequest) -> int:
        """Dynamic shared memory of a block: mbarriers, partial statistics, results, and the lines of all stages."""
        inputs, itemsize = request.operator.rows_kept, request.element.itemsize
        statistic = 8 if inputs == 1 else 4
        result = {(2, 1): 12, (4, 1): 8, (2, 2): 4, (4, 2): 4}[itemsize, inputs]
        depth = self.block_size // (self.width // self.pack_size)
        exchange = self.width * (2 * depth * statistic + self.stages * result) + 3 * 8 * self.stages
        share = -(-request.cols // self.blocks_per_strip)
        return -(-exchange // 128) * 128 + self.stages * inputs * share * self.pitch(itemsize)

    @property
    def workspace_bytes(self) -> int:
        """The two mailboxes of all groups: words of 8 bytes, two for each partial and for each merged statistic."""
        words = 2 * MAILBOX_HEADER_WORDS + 2 * self.stages * self.width * (self.blocks_per_strip + 1)
        return 8 * self.groups * words


def shapes(request: PlanRequest) -> Iterator[StripGridShape]:
    """For each number of blocks that share a strip the widest strip, and those of whole lines and sectors."""
    itemsize, device = request.element.itemsize, request.device
    if device.compute_capability < (9, 0) or itemsize == 8 or request.pack_size:
        return
    widest_pack = WIDEST_PACK_BYTES // itemsize
    if itemsize == 2 and request.operator.rows_kept == 1:
        widest_pack = HALVES_OF_A_PACK
    pack = next(size for size in (8, 4, 2, 1) if size <= widest_pack and request.stride % size == 0)
    shifted = request.stride * itemsize % WIDEST_PACK_BYTES != 0
    for groups in range(1, device.sm_count // 2 + 1):
        blocks = device.sm_count // groups
        if groups > 1 and device.sm_count // (groups - 1) == blocks:
            continue
        groups = device.sm_count // blocks
        for stages in STAGES:
            shape = StripGridShape(pack, 0, blocks, groups, shifted, stages)
            yield from (replace(shape, width=width) for width in _widths(request, shape))


def _widths(request: PlanRequest, shape: StripGridShape) -> list[int]:
    """Widths of strips that fit shared memory."""
    itemsize, pack = request.element.itemsize, shape.pack_size
    unit = max(pack, 2) if shape.shifted else WIDEST_PACK_BYTES // itemsize
    most = min(MOST_WIDTH, ROLE_THREADS * pack, -(-request.stride // unit) * unit) // unit * unit

    def fits(width: int) -> bool:
        return replace(shape, width=width).smem_bytes(request) <= request.device.smem_per_block_optin

    line = shape.stages * request.operator.rows_kept * -(-request.cols // shape.blocks_per_strip) * itemsize
    most = min(most, request.device.smem_per_block_optin // line // unit * unit)
    widest = next((width for width in range(most, 0, -unit) if fits(width)), 0)
    if not widest:
        return []
    even = -(-request.stride // -(-request.stride // widest))  # strips of one width
    found = {-(-even // unit) * unit}
    if not shape.shifted:
        found |= {widest * itemsize // size * size // itemsize for size in (LINE_BYTES, 2 * SECTOR_BYTES, SECTOR_BYTES)}
    return sorted(width for width in found if width and fits(width))


def cost(request: PlanRequest, shape: StripGridShape) -> float:
    """What an SM does for the whole array, in bytes that it could have moved in that time."""
    itemsize, inputs = request.element.itemsize, request.operator.rows_kept
    strips = shape.strips(request)
    rounds = -(-strips // shape.groups)
    share = -(-request.cols // shape.blocks_per_strip)
    rows = request.rows / strips  # of a strip, in the mean
    moved = rounds * share * rows * itemsize * (inputs + 1)
    whole_lines = shape.width * itemsize % LINE_BYTES == request.stride * itemsize % LINE_BYTES == 0
    per_byte = BYTE + PIECE * (not whole_lines) * min(1.0, SECTOR_BYTES / (rows * itemsize))
    depth = shape.block_size // (shape.width // shape.pack_size)
    packs = rounds * -(-share // (depth * CHUNK)) * CHUNK * shape.block_size
    per_pack = PACK + HALF * shape.pack_size * (itemsize == 2 and inputs == 1)
    merged = -(-shape.width // (MERGING_WARPS * shape.blocks_per_strip))
    fewer = FEWER_STAGES * (shape.stages != STAGES[0])
    return per_byte * moved + per_pack * packs + rounds * (MERGED_ROW * merged + fewer) + START
