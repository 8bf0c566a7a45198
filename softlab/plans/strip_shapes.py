"""Strips of neighbouring rows for the kernels of other axes: which shapes hold the rows, and what each costs.

A strip's shape decides how many bytes an SM has in flight, how wide the pieces of a line are that it moves, and how
much the threads must exchange. :func:`cost` weighs these. kernels/FAST.md, "Other axes", has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from softlab.hardware.devices import Device
from softlab.plans.fast_limits import CLUSTERS, SIXTEEN_BLOCKS
from softlab.plans.instantiations import WARP_SIZE, WIDEST_PACK_BYTES
from softlab.plans.planner import PlanRequest

#: The kernels: a thread has whole rows; threads below each other share rows; and so with packs that are shifted from
#: line to line.
COLUMNS, STRIDED, SHIFTED = "fast_columns", "fast_strided", "fast_shifted"
STRIP_BLOCKS = (128, 256, 512)
LANES = (32, 16, 8, 4, 2, 1)
SHIFTED_LANES = (32, 16, 8)
#: Packs of a line that a thread of ``fast_columns`` takes.
ACROSS = (1, 2, 4, 8, 16)
#: The narrowest strip: what a sector has.
SECTOR_BYTES = 32
#: Registers of a thread beside its packs, by (bytes of an element, inputs). A bound of registers below that spills.
#: Doubles take as many as the compiler wants.
REGISTERS_BESIDE = {(2, 1): 36, (4, 1): 26, (2, 2): 24, (4, 2): 24}
#: Two kernels take more.
REGISTERS_MORE = {COLUMNS: 8, STRIDED: 0, SHIFTED: 12}
#: Registers for packs beside each other in ``fast_columns``.
MOST_WORDS_ACROSS = 48
#: Packs of a thread at most: the loops are unrolled.
MOST_PACKS = 32
#: 128 registers of a thread let an SM keep 512 threads.
MOST_REGISTERS = 128
#: Packs of each input that a thread takes of doubles, by inputs.
DOUBLE_PACKS = {1: 8, 2: 4}
#: Packs of each input that a thread takes at once where rows come in chunks, by (bytes of an element, inputs).
CHUNK_PACKS = {(2, 1): 16, (4, 1): 16, (8, 1): 8, (2, 2): 8, (4, 2): 8, (8, 2): 4}
MOST_STATIC_BYTES = 48 * 1024
#: With fewer packs of a thread a cluster costs more than it saves.
FEWEST_PACKS = 2


@dataclass(frozen=True)
class StripWeights:
    """What a strip costs, in bytes that an SM moves meanwhile when all SMs move all that memory gives.

    Per moved byte: ``byte``, ``sector`` for the part of a sector that a narrow strip leaves unused, and ``misaligned``
    for that part again if lines do not begin with a sector. ``work``: instructions per element of the registers, used
    or not, by (bytes of an element, inputs).

    Per round of a block, in which the SM's other blocks move on: ``round``, the wait for memory and the exchange, more
    in ``clusters`` of at least that many blocks, and ``exchange`` per byte of statistics that a thread sends to its
    cluster. Threads with whole rows exchange nothing: their round is ``columns_round``, and ``access`` for each load of
    a thread.

    ``single``: per element that the shifted kernel moves alone, those of the packs at both ends of a line.

    Per launch, what an SM could move in the time that the last block takes beside the others: ``last`` for each element
    behind the last whole pack of an array, which one thread of the shifted kernel reads one after the other, and
    ``warp`` for each warp of a block, whose statistics wait for one another.
    """

    byte: float
    sector: float
    misaligned: float
    work: Mapping[tuple[int, int], float]
    round: float
    clusters: tuple[tuple[int, float], ...]
    exchange: float
    columns_round: float
    access: float
    single: float
    last: float
    warp: float


#: Fitted to 3700 launches of 184 arrays of 256 MiB on an H100 (kernels/FAST.md, "Other axes"). Doubles were not
#: measured: they take the figures of floats.
WEIGHTS = StripWeights(
    byte=0.85, sector=0.15, misaligned=0.33,
    work={(2, 1): 0.45, (4, 1): 0.43, (8, 1): 0.43, (2, 2): 0.0, (4, 2): 0.0, (8, 2): 0.0},
    round=28_500, clusters=((2, 8_700), (8, 19_000), (16, 29_500)), exchange=0,
    columns_round=12_000, access=0, single=13.9, last=0, warp=0,
)  # fmt: skip
#: Fitted to 2091 launches of 210 arrays of 256 MiB on an H200, whose memory is faster: what an SM does beside moving
#: bytes counts for more of them. ``last`` and ``warp`` are fitted to 74 launches of 20 arrays of 0.08 to 16 MB: 0.42 us
#: and 18 ns.
FASTER_MEMORY = StripWeights(
    byte=0.81, sector=0.38, misaligned=0.39,
    work={(2, 1): 0.56, (4, 1): 0.70, (8, 1): 0.70, (2, 2): 0.13, (4, 2): 0.0, (8, 2): 0.0},
    round=23_800, clusters=((2, 15_500), (8, 10_600), (16, 16_900)), exchange=1_170,
    columns_round=2_600, access=680, single=19.5, last=13_000, warp=560,
)  # fmt: skip
#: The GPUs that were measured.
MEASURED = {"H100": WEIGHTS, "H200": FASTER_MEMORY}
#: How many times as much the strip must cost that :data:`WEIGHTS` prefer before another one takes its place. Of 163
#: other arrays of 256 MiB for which it costs less than that, 89 gained by a change, and 36 lost up to 41 %
#: (kernels/FAST.md).
CLEARLY = 1.08
#: Small arrays, of which any strip that costs less takes its place: the largest that were measured.
SMALL_BYTES = 1 << 24
#: More, for rows of thousands of elements, to compare them with strips that blocks all over the GPU share: the
#: weights say too little there. Fitted to the plans of 64 arrays of 1000 to 60 000 elements per row on an H100
#: (kernels/FAST.md). Per byte that is read a second time; per moved byte in pieces of a sector and per doubling of the
#: row beyond the length LONG, where lines lie far apart; per pack.
AGAIN, FAR, PACK, LONG = 1.5, 0.104, 4.1, 2000


@dataclass(frozen=True)
class StripShape:
    """``lanes`` threads stand side by side in a block, and ``cluster`` blocks share a strip.

    A thread has ``packs`` packs of each input at a time, in each of ``across`` places of a line. An SM is to hold
    ``resident`` blocks. ``kernel``: ``COLUMNS``, ``STRIDED`` or ``SHIFTED``.
    """

    kernel: str
    pack_size: int
    packs: int
    lanes: int
    block_size: int
    cluster: int = 1
    resident: int = 1
    across: int = 1

    @property
    def depth(self) -> int:
        """Lines that a block reads at once."""
        return self.block_size // self.lanes

    @property
    def elements(self) -> int:
        """Elements of a row that the cluster holds."""
        return self.depth * self.packs * self.cluster

    def width(self, itemsize: int) -> int:
        """Rows of a strip."""
        beside = lanes_beside(itemsize) if self.kernel == SHIFTED else 0
        return (self.lanes - beside) * self.pack_size * self.across

    def numbers(self, once: bool) -> tuple[int | str, ...]:
        """The template arguments. ``once``: the cluster holds the rows."""
        if self.kernel == COLUMNS:
            return self.pack_size, self.packs, self.across, self.block_size, self.resident
        shape = self.pack_size, self.packs, self.lanes, self.block_size, self.cluster, self.resident
        return *shape, str(once).lower()


def lanes_beside(itemsize: int) -> int:
    """Packs of a line that a cluster of the shifted kernel reads beside its strip."""
    return 2 if itemsize == 2 else 3


def strips(request: PlanRequest, shape: StripShape) -> int:
    """Strips of the whole array."""
    return request.rows // request.stride * -(-request.stride // shape.width(request.element.itemsize))


def shapes(request: PlanRequest) -> Iterator[StripShape]:
    """The shapes of which a cluster holds the rows."""
    for cut in _cuts(request):
        shape = fitted(request, replace(cut, packs=_packs(request, cut)))
        if shape and (shape.cluster == 1 or shape.packs >= FEWEST_PACKS):
            yield shape


def longest(request: PlanRequest) -> StripShape:
    """The shape for rows that no cluster holds: its threads take them in chunks, twice."""
    packs = CHUNK_PACKS[request.element.itemsize, request.operator.rows_kept]
    largest = [cut for cut in _cuts(request) if cut.kernel != COLUMNS and cut.block_size == STRIP_BLOCKS[-1]]
    fitting = [replace(cut, packs=packs) for cut in largest if static_bytes(request, cut) <= MOST_STATIC_BYTES]
    return min(fitting, key=lambda shape: cost(request, replace(shape, packs=_packs(request, shape))))


def fitted(request: PlanRequest, shape: StripShape) -> StripShape | None:
    """The shape with as many blocks per SM as its registers and shared memory allow; None if it spills."""
    if shape.packs * shape.across > MOST_PACKS or static_bytes(request, shape) > MOST_STATIC_BYTES:
        return None
    if request.element.itemsize == 8:
        return shape if shape.packs * shape.across <= DOUBLE_PACKS[request.operator.rows_kept] else None
    if shape.across > 1 and shape.across * shape.packs * _words(request, shape.pack_size) > MOST_WORDS_ACROSS:
        return None
    device = request.device
    registers = -(-_registers(request, shape) // 8) * 8
    if registers > MOST_REGISTERS:
        return None
    resident = min(
        device.registers_per_sm // (registers * shape.block_size),
        device.smem_per_sm // max(1, static_bytes(request, shape) + device.smem_reserved_per_block),
        device.max_threads_per_sm // shape.block_size,
    )
    return replace(shape, resident=resident) if resident else None


def _cuts(request: PlanRequest) -> Iterator[StripShape]:
    """The shapes that the kernels have, but for the packs of a thread."""
    itemsize, stride = request.element.itemsize, request.stride
    widest = WIDEST_PACK_BYTES // itemsize
    own = request.pack_size or next(size for size in (8, 4, 2, 1) if size <= widest and stride % size == 0)
    clusters = (1, *(c for c in CLUSTERS if _grants(request.device, c)))
    most = 1 << (stride // own - 1).bit_length()  # lanes that a line has packs for
    for block_size, across in product(STRIP_BLOCKS, ACROSS):
        if across == 1 or block_size * across <= most:
            yield StripShape(COLUMNS, own, 0, block_size, block_size, across=across)
    narrowest = min(WARP_SIZE, most, max(1, SECTOR_BYTES // (own * itemsize)))
    for lanes, block_size, cluster in product(LANES, STRIP_BLOCKS, clusters):
        if narrowest <= lanes <= most:
            yield StripShape(STRIDED, own, 0, lanes, block_size, cluster)
    if own == widest or request.pack_size:
        return
    for lanes, block_size, cluster in product(SHIFTED_LANES, STRIP_BLOCKS, clusters):
        if block_size // WARP_SIZE % widest == 0 and lanes <= max(2 * most * own // widest, SHIFTED_LANES[-1]):
            yield StripShape(SHIFTED, widest, 0, lanes, block_size, cluster)


def _packs(request: PlanRequest, shape: StripShape) -> int:
    """Packs of a thread for a whole row."""
    return -(-request.cols // (shape.depth * shape.cluster))


def _grants(device: Device, cluster: int) -> bool:
    capability = device.compute_capability
    return capability >= (9, 0) and (cluster <= 8 or capability in SIXTEEN_BLOCKS)


def _words(request: PlanRequest, pack_size: int) -> int:
    """Registers of one pack of each input."""
    return request.operator.rows_kept * max(1, pack_size * request.element.itemsize // 4)


def _registers(request: PlanRequest, shape: StripShape) -> int:
    beside = REGISTERS_BESIDE[request.element.itemsize, request.operator.rows_kept]
    return shape.across * shape.packs * _words(request, shape.pack_size) + beside + REGISTERS_MORE[shape.kernel]


def static_bytes(request: PlanRequest, shape: StripShape) -> int:
    """Shared memory of the exchange: partials, those of the blocks of a cluster, and results of each row."""
    if shape.kernel == COLUMNS:
        return 0
    compute = 8 if request.element.itemsize == 8 else 4
    parts = shape.block_size // WARP_SIZE
    result = {4: 12, 8: 16}[compute] if request.operator.rows_kept == 1 else compute
    blocks = shape.cluster if shape.cluster > 1 else 0
    ends = 2 * shape.depth * WIDEST_PACK_BYTES if shape.kernel == SHIFTED else 0
    return _exchanged(shape) * (_statistic_bytes(request) * (parts + 1 + blocks) + result) + ends


def _exchanged(shape: StripShape) -> int:
    """Rows of a block's exchange."""
    return (shape.lanes + (shape.kernel == SHIFTED)) * shape.pack_size


def _statistic_bytes(request: PlanRequest) -> int:
    """Of a row: a maximum and a sum, or a sum."""
    return (8 if request.element.itemsize == 8 else 4) * (2 if request.operator.rows_kept == 1 else 1)


@lru_cache(maxsize=64)
def weights_of(device: Device) -> StripWeights:
    """The weights of the measured GPU whose memory gives an SM most nearly as many bytes per second.

    Costs count bytes that an SM moves meanwhile, so this is what they depend on. A GPU whose bandwidth is not known
    takes those of the slower one.
    """

    def per_sm(gpu: Device) -> float:
        return (gpu.memory_bandwidth or 0.0) / gpu.sm_count

    return MEASURED[min(MEASURED, key=lambda name: abs(per_sm(Device.named(name)) - per_sm(device)))]


def clearly_better(request: PlanRequest, shape: StripShape) -> StripShape:
    """The shape, or one that clearly costs less with the weights of the request's GPU. Of small arrays any that does.

    The weights that prefer ``shape`` say nothing about the end of a launch, which counts for a small array.
    """
    weights = weights_of(request.device)
    if weights is WEIGHTS:
        return shape
    best = min(shapes(request), key=lambda other: cost(request, other, weights))
    small = request.rows * request.cols * request.element.itemsize <= SMALL_BYTES
    clearly = cost(request, shape, weights) > (1 if small else CLEARLY) * cost(request, best, weights)
    return best if clearly else shape


def cost(request: PlanRequest, shape: StripShape, weights: StripWeights = WEIGHTS) -> float:
    """What an SM does for the whole array, in bytes that it could have moved in that time.

    An SM takes ``resident`` blocks at once. All elements of the array are moved once per input and once as the result.
    """
    itemsize, inputs = request.element.itemsize, request.operator.rows_kept
    blocks = strips(request, shape) * shape.cluster
    moved = (inputs + 1) * request.rows * request.cols * itemsize / blocks
    narrow = SECTOR_BYTES / (shape.width(itemsize) * itemsize)
    misaligned = shape.kernel != SHIFTED and request.stride * itemsize % SECTOR_BYTES != 0
    per_byte = weights.byte + (weights.sector + weights.misaligned * misaligned) * narrow
    kept = shape.block_size * shape.across * shape.packs * shape.pack_size
    work = weights.work[itemsize, inputs] * kept
    if shape.kernel == SHIFTED:
        lines = min(request.cols, shape.elements) / shape.cluster
        work += weights.single * 2 * lines * shape.pack_size / -(-request.stride // shape.width(itemsize))
    each = -(-blocks // request.device.sm_count)
    behind = inputs * (request.rows * request.cols % shape.pack_size) if shape.kernel == SHIFTED else 0
    last = weights.last * behind + weights.warp * shape.block_size / WARP_SIZE
    return each * (per_byte * moved + work) + -(-each // shape.resident) * _round(request, shape, weights) + last


def _round(request: PlanRequest, shape: StripShape, weights: StripWeights) -> float:
    """What a round of a block costs beside moving its bytes."""
    if shape.kernel == COLUMNS:
        return weights.columns_round + weights.access * shape.across * shape.packs * request.operator.rows_kept
    sent = 0.0
    if shape.cluster > 1:
        sent = _exchanged(shape) * _statistic_bytes(request) * shape.cluster / shape.block_size  # by a thread
    more = sum(more for cluster, more in weights.clusters if shape.cluster >= cluster)
    return weights.round + more + weights.exchange * sent


def cost_of_long(request: PlanRequest, shape: StripShape, once: bool) -> float:
    """The cost where rows may be long. ``once``: the cluster holds them; else they are read twice."""
    itemsize, inputs = request.element.itemsize, request.operator.rows_kept
    whole = shape if once else replace(shape, packs=_packs(request, shape))
    blocks = strips(request, shape) * shape.cluster
    per_sm = -(-blocks // request.device.sm_count) / blocks
    elements = request.rows * request.cols * per_sm
    moved = (inputs + 1) * elements * itemsize
    narrow = min(1.0, SECTOR_BYTES / (min(shape.width(itemsize), request.stride) * itemsize))
    doublings = max(0.0, math.log2(request.cols / LONG))
    again = 0.0 if once else AGAIN * inputs * elements * itemsize
    packs = request.rows * request.cols / request.device.sm_count / shape.pack_size
    return cost(request, whole) + again + FAR * moved * narrow * doublings + PACK * packs
