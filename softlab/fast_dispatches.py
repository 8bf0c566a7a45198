"""Dispatch of the policy "fast": who keeps a row, in how many pieces, each question written down.

The question is always the same: the fewest threads, blocks and SMs that keep a row on the chip in a few packs of 16
bytes a thread, so that an SM holds many rows at different stages. Thresholds are counted in packs, since a pack costs
the same whatever its type. They were measured on an H200 (kernels/FAST.md has the table); other GPUs take the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlab import occupancies
from softlab.devices import Device
from softlab.dispatches import Choice, Request, nothing_to_do
from softlab.errors import PlanError
from softlab.instantiations import WIDEST_PACK_BYTES, Instantiation, WarpShape

WARP, BLOCK, CLUSTER, RING, STREAM = KERNELS = (
    "fast_warp", "fast_block", "fast_cluster", "fast_ring", "fast_stream",
)  # fmt: skip
WARP_BLOCK = 128
GROUP_WIDTHS = (1, 2, 4, 8, 16, 32)
BLOCK_SIZES = (64, 128, 256, 512, 1024)
#: The largest block that takes a row alone where the GPU has clusters: two blocks of 512 beat one of 1024.
BLOCK_BEFORE_CLUSTERS = 512
#: The most that a thread's registers keep where there are no clusters.
MOST_PACKS = 8
#: Blocks of a grid along x, in whole clusters (CUDA C++ Programming Guide, "Compute Capabilities": 2^31 - 1).
MOST_BLOCKS = 2**31 - 16
#: Few rows: not even every second SM would have one.
FEW_ROWS_A_SM = 0.5
#: Rows of fewer packs are not worth a cluster, even if they are few: 16 KiB are read in the time of one exchange.
FEW_ROWS_PACKS = 1024
#: Clusters of more than 8 blocks are not portable; these compute capabilities grant 16.
SIXTEEN_BLOCKS = ((9, 0), (10, 0), (10, 3))
#: 1 KiB of an SM's shared memory belongs to the driver for each block; the exchange takes up to 9 KiB of a block's.
_EXCHANGE_BYTES = 9 * 1024
#: The ring kernel: packs of a thread, all together, and those of them that registers can keep beside.
RING_PACKS, RING_REGISTER_PACKS = 16, 3
#: Packs of a thread and pass in the stream kernel.
STREAM_PACKS = 4


@dataclass(frozen=True)
class Cut:
    """How a cluster cuts a row: ``cluster`` blocks of ``block_size`` threads, at most ``packs`` packs of each input a
    thread."""

    cluster: int
    block_size: int
    packs: int

    @property
    def most(self) -> int:
        """The longest row in packs. Shares are multiples of 8 packs: whole lines of 128 bytes."""
        return self.cluster * (self.packs * self.block_size // 8 * 8)

    def taken(self, packs: int) -> int:
        """Packs a thread that a row of so many takes."""
        share = -(-packs // self.cluster)
        share = -(-share // 8) * 8 if self.cluster > 1 else share
        return max(1, -(-share // self.block_size))

    def fill(self, packs: int) -> float:
        """How much of what the threads then hold is the row."""
        return packs / (self.cluster * self.block_size * self.taken(packs))


@dataclass(frozen=True)
class Limits:
    """How far each kernel goes, in packs of each input, for elements of one size and one or two inputs.

    ``lane`` packs a lane of the warp kernel takes before the group of lanes is made wider, ``warp`` is its longest row;
    ``thread`` packs a thread takes before the block is made larger, ``largest`` before a cluster takes the row, and
    ``block`` is the largest block that takes a row alone where the GPU has clusters. Fewer packs a thread are more
    threads and more rows in flight; more are fewer instructions for each byte, which double precision needs (its
    exponential takes some thirty). ``cuts``: see :func:`_cut`. ``rings``: see :func:`_ring_cut`; of a thread's packs
    registers keep one there, but of more than ``ring_one`` packs ``RING_REGISTER_PACKS``.
    """

    lane: int
    warp: int
    thread: int
    largest: int
    cuts: tuple[Cut, ...]
    rings: tuple[Cut, ...]
    block: int = BLOCK_BEFORE_CLUSTERS
    ring_one: int = RING_PACKS


#: Beyond 128 KiB more blocks of fewer threads: all of a cluster wait for the slowest.
_LONG_CUTS = (Cut(16, 128, 10), Cut(8, 256, 8), Cut(16, 256, 10), Cut(16, 512, 8), Cut(8, 512, 8))
_FORWARD_CUTS = (Cut(2, 512, 4), Cut(2, 256, 8), Cut(4, 512, 4), Cut(4, 256, 8), *_LONG_CUTS)
#: 16-bit elements: twice the blocks of half the threads. Where registers bound an SM it then holds more of them.
_HALF_CUTS = (Cut(4, 256, 4), Cut(8, 256, 4), Cut(4, 256, 8), *_LONG_CUTS)
_BACKWARD_CUTS = (
    Cut(2, 512, 2), Cut(2, 256, 4), Cut(4, 512, 2), Cut(4, 256, 4), Cut(8, 512, 2), Cut(8, 256, 4), Cut(16, 256, 5),
    Cut(16, 512, 5), Cut(8, 512, 5),
)  # fmt: skip
#: 20480 to 28672 packs: with heads and tails, 4 packs of each input take more than 64 registers a thread, and an SM
#: then holds one block of 512; of those of 256 with 7 packs it holds two or three.
_DOUBLE_BACKWARD_CUTS = (*_BACKWARD_CUTS[:-2], Cut(16, 256, 7), *_BACKWARD_CUTS[-2:])
#: The smaller block, two an SM, if it suffices.
_RINGS = (Cut(8, 512, RING_PACKS), Cut(16, 512, RING_PACKS), Cut(16, 1024, RING_PACKS), Cut(8, 1024, RING_PACKS))
#: Double precision: every thread merges the statistics of all warps that share a row, an exponential for each 32 of
#: them, beside 2 a pack of its own; so few warps with many packs each. In shared memory these cost no registers, and an
#: SM holds 24 to 64 warps: up to 128 KiB one block has the row to itself, up to 512 KiB clusters of small blocks.
_DOUBLE_RINGS = (
    Cut(1, 256, 10), Cut(1, 512, RING_PACKS), Cut(8, 128, RING_PACKS), Cut(8, 256, 13), Cut(16, 128, RING_PACKS),
    *_RINGS,
)  # fmt: skip
#: (bytes of an element, inputs) -> limits. Gradients have no rings: up to 151936 doubles reading twice was faster.
LIMITS = {
    (2, 1): Limits(lane=2, warp=96, thread=3, largest=4, cuts=_HALF_CUTS, rings=_RINGS),
    (4, 1): Limits(lane=2, warp=96, thread=3, largest=3, cuts=_FORWARD_CUTS, rings=_RINGS),
    (8, 1): Limits(lane=2, warp=128, thread=4, largest=4, cuts=(), rings=_DOUBLE_RINGS, block=256, ring_one=8),
    (2, 2): Limits(lane=1, warp=96, thread=2, largest=2, cuts=_BACKWARD_CUTS, rings=()),
    (4, 2): Limits(lane=1, warp=96, thread=2, largest=2, cuts=_BACKWARD_CUTS, rings=()),
    (8, 2): Limits(lane=1, warp=96, thread=2, largest=2, cuts=_DOUBLE_BACKWARD_CUTS, rings=()),
}
#: A cut is taken if its threads are so full; in a fuller one fewer lanes idle while the others wait for memory.
FULL = 0.85
#: The same for few rows: as many SMs as can help, and few packs a thread, since what counts is the time of one row.
FEW_ROWS = {
    1: (Cut(8, 128, 2), Cut(8, 256, 2), Cut(8, 256, 4), Cut(16, 256, 4), Cut(16, 256, 8), Cut(16, 512, 8)),
    2: (Cut(8, 128, 2), Cut(8, 256, 2), Cut(16, 256, 2), Cut(16, 256, 4), Cut(16, 512, 5)),
}


def choose(request: Request) -> Choice:
    """Decide; the steps are left in ``request.steps``.

    Raises:
        PlanError: the request insists on a kernel or a block size of the policy "oneflow".
    """
    if request.kernel or request.block_size:
        raise PlanError("kernel= and block_size= force the policy 'oneflow'; policy='fast' takes pack_size=1 alone")
    if nothing_to_do(request):
        return Choice("none", 0, (0, 0), 0, None)
    row = _row(request)
    which = "Who keeps the row?"
    if row.packs <= row.limits.warp:
        rule = "a few lanes of a warp hold it"
        request.ask(which, WARP, rule, KERNELS, packs=row.packs, most=row.limits.warp)
        return _warp(request, row)
    cuts = _cuts(request)
    few = bool(cuts) and row.packs >= FEW_ROWS_PACKS and request.rows <= FEW_ROWS_A_SM * request.device.sm_count
    if cuts and row.packs >= FEW_ROWS_PACKS:
        question = "Are there so few rows that SMs would have none?"
        request.ask(question, few, "at most one for every second SM", rows=request.rows, sms=request.device.sm_count)
    alone = _block_size(request, row)
    if alone and not few:
        rule = "a block's registers hold it, and an SM holds several such blocks"
        request.ask(which, BLOCK, rule, KERNELS, packs=row.packs)
        return _block(request, row, alone)
    if cut := _cut(row, cuts, FEW_ROWS[row.inputs] if few else row.limits.cuts):
        rule = "a row for several SMs" if few else "the registers of the blocks of a cluster hold it"
        request.ask(which, CLUSTER, rule, KERNELS, packs=row.packs)
        return _cluster(request, row, cut)
    if ring := _ring_cut(request, row, cuts):
        rule = f"registers and shared memory of a {'cluster' if ring.cluster > 1 else 'block'} hold it"
        request.ask(which, RING, rule, KERNELS, packs=row.packs, most=ring.most)
        return _ring(request, row, ring)
    request.ask(which, STREAM, "nothing on the chip holds it: it is read twice", KERNELS, packs=row.packs)
    return _stream(request, row, Cut(cuts or 1, 512 if cuts else 1024, STREAM_PACKS))


@dataclass(frozen=True)
class _Row:
    """A row as the kernels see it: ``packs`` whole packs of ``pack_size`` elements, ``ragged`` if there is more."""

    pack_size: int
    packs: int
    ragged: bool
    inputs: int
    limits: Limits


def _row(request: Request) -> _Row:
    inputs = request.operator.rows_kept
    limits = LIMITS[request.element.itemsize, inputs]
    widest = WIDEST_PACK_BYTES // request.element.itemsize
    question = "How many elements does a thread move at once?"
    if request.pack_size:
        pack_size = request.ask(question, request.pack_size, "asked for")
        if request.cols % pack_size:
            raise PlanError(f"packs of {pack_size} do not divide a row of {request.cols} columns; use a pack of 1")
        return _Row(pack_size, request.cols // pack_size, False, inputs, limits)
    pack_size = request.ask(
        question, widest, "16 bytes, the most that one instruction moves", itemsize=request.element.itemsize
    )
    question = "Do rows begin and end at a multiple of 16 bytes?"
    whole = request.ask(question, request.cols % pack_size == 0, "else each has a head and a tail", cols=request.cols)
    return _Row(pack_size, max(1, request.cols // pack_size), not whole, inputs, limits)


def _cuts(request: Request) -> int:
    """How many blocks a cluster may have; 0 where the GPU has none."""
    capability = request.device.compute_capability
    if capability < (9, 0):
        return 0
    return 16 if capability in SIXTEEN_BLOCKS else 8


def _warp(request: Request, row: _Row) -> Choice:
    # Heads and tails are up to 22 elements, of which each lane takes its part one by one.
    a_lane, fewest = (2, 4) if row.ragged and row.packs > 1 else (row.limits.lane, 1)
    width = next((w for w in GROUP_WIDTHS if w >= fewest and row.packs <= w * a_lane), GROUP_WIDTHS[-1])
    rule = f"as few as hold it in {a_lane} packs each, if a warp suffices"
    width = request.ask("How many lanes own a row?", width, rule, GROUP_WIDTHS, packs=row.packs, ragged=row.ragged)
    packs = request.ask("How many packs does a lane hold?", -(-row.packs // width), "as few as hold the row")
    shape = WarpShape(row.pack_size, packs * row.pack_size, width, 1, row.ragged or packs * width != row.packs)
    rows_a_block = WARP_BLOCK // width
    arguments = (row.pack_size, packs, width, 1)
    kernel = _kernel(request, WARP, arguments, row.ragged)
    blocks = _grid(request, -(-request.rows // rows_a_block), "a warp for each of its rows")
    return Choice(WARP, row.pack_size, (WARP_BLOCK, 1), blocks, kernel, warp=shape)


def _block_size(request: Request, row: _Row) -> int | None:
    """The smallest block that holds the row in a few packs a thread; None where a cluster should."""
    clusters = request.device.compute_capability >= (9, 0)
    largest = row.limits.block if clusters else BLOCK_SIZES[-1]
    most = row.limits.largest if clusters else MOST_PACKS // row.inputs
    fitting = [size for size in BLOCK_SIZES if size <= largest and row.packs <= size * row.limits.thread]
    return fitting[0] if fitting else largest if row.packs <= largest * most else None


def _block(request: Request, row: _Row, block_size: int) -> Choice:
    rule = f"the smallest that holds the row in {row.limits.thread} packs a thread, or the largest there is"
    request.ask("Which block size?", block_size, rule, BLOCK_SIZES, packs=row.packs)
    packs = request.ask("How many packs does a thread hold?", -(-row.packs // block_size), "as few as hold the row")
    kernel = _kernel(request, BLOCK, (row.pack_size, packs, block_size), row.ragged)
    blocks = _grid(request, request.rows, "one a row")
    return Choice(BLOCK, row.pack_size, (block_size, 1), blocks, kernel)


def _cut(row: _Row, cuts: int, table: tuple[Cut, ...]) -> Cut | None:
    """The first cut that the row fills well, else the fullest of those that are not more than twice too large."""
    fitting = [cut for cut in table if cut.cluster <= cuts and row.packs <= cut.most]
    near = [cut for cut in fitting if 2 * row.packs > cut.most] or fitting[:1]
    return next((cut for cut in near if cut.fill(row.packs) >= FULL), None) or max(
        near, key=lambda cut: cut.fill(row.packs), default=None
    )


def _cluster(request: Request, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, cut)
    packs = request.ask("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    kernel = _kernel(request, CLUSTER, (row.pack_size, packs, cut.block_size, cut.cluster), row.ragged)
    blocks = _grid(request, request.rows * cut.cluster, "a cluster a row")
    return Choice(CLUSTER, row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _ring_cut(request: Request, row: _Row, cuts: int) -> Cut | None:
    """The first that holds the row; a block has it alone only if there is a row for every SM. cp.async copies 4 bytes
    or more."""
    width = row.pack_size * request.element.itemsize
    if width < 4:
        return None
    room = request.device.smem_per_block_optin - _EXCHANGE_BYTES
    fewest = 1 if request.rows >= request.device.sm_count else 2
    fitting = (cut for cut in row.limits.rings if fewest <= cut.cluster <= cuts and row.packs <= cut.most)
    return next((cut for cut in fitting if _shelved(row, cut) * cut.block_size * width <= room), None)


def _shelved(row: _Row, cut: Cut) -> int:
    """Packs of a thread that lie in shared memory: all but one or three, as far as two blocks of 512 fit an SM."""
    packs = cut.taken(row.packs)
    kept = 1 if packs <= row.limits.ring_one else RING_REGISTER_PACKS
    return min(packs - kept, RING_PACKS - RING_REGISTER_PACKS)


def _ring(request: Request, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, cut)
    packs = request.ask("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    rule = f"at most {RING_PACKS - RING_REGISTER_PACKS}; the rest in registers"
    on_shelf = request.ask("How many of them in shared memory?", _shelved(row, cut), rule, packs=packs)
    arguments = (row.pack_size, packs - on_shelf, on_shelf, cut.block_size, cut.cluster)
    kernel = _kernel(request, RING, arguments, row.ragged)
    smem_bytes = row.inputs * on_shelf * cut.block_size * row.pack_size * request.element.itemsize
    taken = request.resources(kernel)
    held = occupancies.occupancy(
        request.device, threads=cut.block_size, registers=taken.registers, smem=taken.static_smem_bytes + smem_bytes
    )
    # Two blocks an SM keep memory busy for each other; one alone must ask for its next row while it writes this one.
    several = request.ask("Does an SM hold several blocks?", held.blocks_per_sm > 1, limits=held.limits)
    if several:
        blocks = _grid(request, request.rows * cut.cluster, "a cluster a row")
    else:
        resident = clusters_of(request.device, cut.cluster)
        blocks = request.ask(
            "How many blocks?", min(request.rows, resident) * cut.cluster,
            "as many clusters as the GPU holds at once; they stride over the rows",
            rows=request.rows, clusters=resident,
        )  # fmt: skip
    return Choice(RING, row.pack_size, (cut.block_size, 1), blocks, kernel, smem_bytes, cluster=cut.cluster)


def _stream(request: Request, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, cut)
    kernel = _kernel(request, STREAM, (row.pack_size, cut.packs, cut.block_size, cut.cluster), row.ragged)
    blocks = _grid(request, request.rows * cut.cluster, "a cluster a row")
    return Choice(STREAM, row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _ask_cut(request: Request, cut: Cut) -> None:
    request.ask("How many blocks share a row?", cut.cluster, "as measured for rows of this length", (1, 2, 4, 8, 16))
    request.ask("Which block size?", cut.block_size, "as measured for rows of this length", BLOCK_SIZES)


def clusters_of(device: Device, cluster: int) -> int:
    """Clusters that lie side by side on a GPU with one block an SM.

    A cluster stays within one of the GPU's processing clusters, each of 16 or 18 SMs, so some SMs are left over: an
    H200 (132 SMs) holds 66, 31, 15 and 7 clusters of 2, 4, 8 and 16, by cuOccupancyMaxActiveClusters. Other GPUs are
    taken to lose as many.
    """
    left_over = {1: 0, 2: 0, 4: 8, 8: 12, 16: 20}[cluster]
    return max(1, (device.sm_count - left_over) // cluster)


def _grid(request: Request, blocks: int, rule: str) -> int:
    """All rows at once, as far as a grid can be; 16 divides the most."""
    return request.ask("How many blocks?", min(blocks, MOST_BLOCKS), rule, rows=request.rows)


def _kernel(request: Request, kernel: str, numbers: tuple[int, ...], ragged: bool) -> Instantiation:
    operator = request.operator
    template = f"{kernel}_backward" if operator.backward else kernel
    listed = ", ".join(
        (request.element.cuda, f"Algorithm::{operator.algorithm}", *map(str, numbers), str(ragged).lower())
    )
    return Instantiation(f"{kernel}.cuh", f"{template}<{listed}>")
