"""Dispatch of the policy "fast": who keeps a row, in how many pieces, each question written down.

The question is always the same: the fewest threads, blocks and SMs that keep a row on the chip in a few packs of 16
bytes a thread, so that an SM holds many rows at different stages. Thresholds are counted in packs, since a pack costs
the same whatever its type: :mod:`softlab.fast_limits` has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlab import occupancies
from softlab.devices import Device
from softlab.dispatches import Choice, Request, nothing_to_do
from softlab.errors import PlanError
from softlab.fast_limits import (
    BLOCK_SIZES,
    EXCHANGE_BYTES,
    FEW_ROWS,
    FEW_ROWS_A_SM,
    FEW_ROWS_PACKS,
    FULL,
    GRID_BLOCK,
    GRID_LETTER_WRITERS,
    GRID_STATIC_BYTES,
    GROUP_WIDTHS,
    LETTER_HEADER_WORDS,
    LIMITS,
    MOST_BLOCKS,
    MOST_PACKS,
    RING_PACKS,
    RING_REGISTER_PACKS,
    SIXTEEN_BLOCKS,
    STREAM_PACKS,
    WARP_BLOCK,
    Cut,
    Limits,
)
from softlab.instantiations import WIDEST_PACK_BYTES, Instantiation, WarpShape

WARP, BLOCK, CLUSTER, GRID, RING, STREAM = KERNELS = (
    "fast_warp", "fast_block", "fast_cluster", "fast_grid", "fast_ring", "fast_stream",
)  # fmt: skip


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
    if share := _shares(request, row, few):
        rule = "SMs all over the GPU hold it, with others behind it"
        request.ask(which, GRID, rule, KERNELS, packs=row.packs, beyond=row.limits.shared.beyond)
        return _grid_of_shares(request, row, share)
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
    room = request.device.smem_per_block_optin - EXCHANGE_BYTES
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


@dataclass(frozen=True)
class _Share:
    """A row in ``shares``, ``groups`` rows at once; ``packs`` a thread of each input, ``ring`` places for such, and
    ``lag`` rows that wait for an answer."""

    shares: int
    groups: int
    packs: int
    ring: int
    lag: int


def _shares(request: Request, row: _Row, few: bool) -> _Share | None:
    """None if the row is not for the grid kernel, or too long for it."""
    device, limits = request.device, row.limits.shared
    width = row.pack_size * request.element.itemsize
    if device.compute_capability < (9, 0) or row.packs <= limits.beyond or width < WIDEST_PACK_BYTES:
        return None
    room = (device.smem_per_block_optin - GRID_STATIC_BYTES) // (row.inputs * GRID_BLOCK * width)
    most = limits.packs + 1 if few and row.inputs == 1 else limits.packs
    groups = 1
    while (
        groups < min(request.rows, device.sm_count) and _packs_of_a_thread(row, device.sm_count // (groups + 1)) <= most
    ):
        groups += 1
    shares = device.sm_count // groups
    packs = _packs_of_a_thread(row, shares)
    if packs > room or packs * row.inputs > RING_PACKS:
        return None
    # More rows that wait for an answer are better as long as a row more, or in long rows a pack, is on its way.
    lag = min(limits.lag, max((room - packs) // packs - 1, min(2, (room - 1) // packs - 1)))
    turns = -(-request.rows // groups)
    lag = max(0, min(lag, turns - 1))
    # Whole rows, where that costs little: then each pack takes the place of the same pack of an earlier row.
    ring = room // packs * packs if room // packs > lag + 1 else room
    return _Share(shares, groups, packs, min(ring, packs * turns), lag)


def _packs_of_a_thread(row: _Row, shares: int) -> int:
    return Cut(shares, GRID_BLOCK, RING_PACKS).taken(row.packs)


def _grid_of_shares(request: Request, row: _Row, share: _Share) -> Choice:
    rows, sms = request.rows, request.device.sm_count
    groups = request.ask(
        "How many rows at once?", share.groups, "as many as leave a thread few packs of its row", rows=rows, sms=sms
    )
    shares = request.ask("How many blocks share a row?", share.shares, "the SMs over the rows", sms=sms, groups=groups)
    packs = request.ask("How many packs does a thread hold?", share.packs, "as few as hold the row")
    rule = "as many as its shared memory holds with the next row's packs on their way"
    lag = request.ask("How many rows wait for an answer?", share.lag, rule, packs=packs, places=share.ring)
    arguments = (row.pack_size, packs, share.ring, lag, GRID_BLOCK, shares)
    kernel = _kernel(request, GRID, arguments, row.ragged)
    itemsize = request.element.itemsize
    words = max(2, (1 if row.inputs > 1 else 2) * max(4, itemsize) // 4)
    letters = LETTER_HEADER_WORDS + 2 * (lag + 1) * (shares + row.ragged) * words
    blocks = request.ask("How many blocks?", groups * shares, "all of them at once, one an SM", rows=rows)
    return Choice(
        GRID, row.pack_size, (GRID_BLOCK + GRID_LETTER_WRITERS, 1), blocks, kernel,
        share.ring * row.inputs * GRID_BLOCK * row.pack_size * itemsize, cooperative=True,
        workspace_bytes=8 * groups * letters,
    )  # fmt: skip


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
