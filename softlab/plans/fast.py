"""Dispatch of the policy "fast": which kernel holds a row, in how many pieces, with every question recorded.

The question is always the same: which are the fewest threads, blocks and SMs that hold a row on the chip, in a few
packs of 16 bytes per thread? Then an SM holds many rows at different stages. Thresholds are counted in packs, because a
pack costs the same for every type: :mod:`softlab.plans.fast_limits` has them. Many short rows move as tiles where that
costs less (:mod:`softlab.plans.tiles`), and a few of the shortest go to the reference's warp kernel
(:mod:`softlab.plans.short_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass

from softlab.errors import PlanError
from softlab.hardware import occupancies
from softlab.hardware.devices import Device
from softlab.plans import oneflow, short_rows, tiles
from softlab.plans.fast_limits import (
    BLOCK_SIZES,
    EXCHANGE_BYTES,
    FEW_ROWS,
    FEW_ROWS_PACKS,
    FEW_ROWS_PER_SM,
    FULL,
    GRID_BLOCK,
    GRID_MAILBOX_THREADS,
    GRID_STATIC_BYTES,
    GROUP_WIDTHS,
    LIMITS,
    MAILBOX_HEADER_WORDS,
    MOST_BLOCKS,
    MOST_PACKS,
    PIPELINE_PACKS,
    PIPELINE_REGISTER_PACKS,
    SIXTEEN_BLOCKS,
    STREAM_PACKS,
    WARP_BLOCK,
    Cut,
    Limits,
)
from softlab.plans.instantiations import WARP_SIZE, WIDEST_PACK_BYTES, Instantiation, WarpShape
from softlab.plans.planner import Choice, PlanRequest, StepLog, nothing_to_do

TILE, WARP, BLOCK, CLUSTER, GRID, PIPELINE, STREAM = KERNELS = (
    "fast_tile", "fast_warp", "fast_block", "fast_cluster", "fast_grid", "fast_pipeline", "fast_stream",
)  # fmt: skip
#: The kernels that a caller can ask for.
FORCED = (TILE, WARP)
#: The reference's kernel that this policy takes for the shortest rows.
REFERENCE = "warp"
#: What every policy asks.
WHICH = "Which kernel?"


def choose(request: PlanRequest, log: StepLog) -> Choice:
    """Decide; ``log`` records how.

    Raises:
        PlanError: the request insists on a kernel or a block size of the policy "oneflow", or on ``fast_warp`` or
            ``fast_tile`` for a row that is too long for it.
    """
    if request.block_size or request.kernel not in (None, *FORCED):
        raise PlanError(
            "kernel= and block_size= force the policy 'oneflow'; policy='fast' takes kernel='fast_warp' or "
            "'fast_tile', and pack_size=1"
        )
    if nothing_to_do(request, log):
        return Choice("none", 0, (0, 0), 0, None)
    if request.kernel == TILE or (request.kernel is None and _tile_is_cheaper(request, log)):
        return _tile(request, log)
    if request.kernel is None and _reference_is_cheaper(request, log):
        return oneflow.warp(request, log)
    row = _row(request, log)
    if row.packs <= row.limits.warp:
        rule = "a few lanes of a warp hold the row"
        log.note(WHICH, WARP, rule, KERNELS, packs=row.packs, most=row.limits.warp)
        return _warp(request, log, row)
    if request.kernel:
        raise PlanError(
            f"fast_warp holds rows of at most {row.limits.warp} packs; {request.cols} columns are {row.packs}"
        )
    return _beyond_a_warp(request, log, row)


def _beyond_a_warp(request: PlanRequest, log: StepLog, row: _Row) -> Choice:
    """The first kernel that holds the row: a block, the whole grid, a cluster, a pipeline. If none does: the stream."""
    cuts = _cuts(request)
    few = bool(cuts) and row.packs >= FEW_ROWS_PACKS and request.rows <= FEW_ROWS_PER_SM * request.device.sm_count
    if cuts and row.packs >= FEW_ROWS_PACKS:
        question = "Are there at most half as many rows as SMs?"
        log.note(question, few, "then several SMs share a row", rows=request.rows, sms=request.device.sm_count)
    alone = _block_size(request, row)
    if alone and not few:
        rule = "the registers of a block hold the row, and an SM holds several such blocks"
        log.note(WHICH, BLOCK, rule, KERNELS, packs=row.packs)
        return _block(request, log, row, alone)
    if shape := _grid_shape(request, row, few):
        rule = "blocks on all SMs hold the row, with more rows in flight"
        log.note(WHICH, GRID, rule, KERNELS, packs=row.packs, beyond=row.limits.grid.beyond)
        return _across_grid(request, log, row, shape)
    if cut := _cut(row, cuts, FEW_ROWS[row.inputs] if few else row.limits.cuts):
        rule = "several SMs work on one row" if few else "the registers of a cluster's blocks hold the row"
        log.note(WHICH, CLUSTER, rule, KERNELS, packs=row.packs)
        return _cluster(request, log, row, cut)
    if cut := _pipeline_cut(request, row, cuts):
        rule = f"registers and shared memory of a {'cluster' if cut.cluster > 1 else 'block'} hold the row"
        log.note(WHICH, PIPELINE, rule, KERNELS, packs=row.packs, most=cut.most)
        return _pipeline(request, log, row, cut)
    log.note(WHICH, STREAM, "no kernel holds the row: it is read twice", KERNELS, packs=row.packs)
    return _stream(request, log, row, Cut(cuts or 1, 512 if cuts else 1024, STREAM_PACKS))


def _tile_is_cheaper(request: PlanRequest, log: StepLog) -> bool:
    """Whether tiles save more time than they take to start: asked for rows that a warp can hold."""
    row, shape = _row(request, StepLog()), _tile_shape(request)
    if shape is None or row.packs > row.limits.warp:
        return False
    problem = _problem(request)
    tile = tiles.cost(problem, shape, row.pack_size)
    # Where lanes hold no whole packs, memory and instructions hide one another only in part.
    padded = _lanes(request, row).padding
    now = min(cost.blended if padded else cost.most for cost in _of_warps(request, row).values())
    saved = (now - (tile.blended if padded else tile.most)) * request.rows / WARP_SIZE / request.device.sm_count
    needed = tiles.latency(problem)
    return log.note(
        "Do tiles of many rows save more of an SM's time than they need to start?", saved > needed,
        "the costs of all rows, in units of 7.5 cycles; else a few lanes take a row",
        saved=round(saved, 1), needed=round(needed, 1),
    )  # fmt: skip


def _reference_is_cheaper(request: PlanRequest, log: StepLog) -> bool:
    """Whether the reference's warp kernel takes the row."""
    row = _row(request, StepLog())
    costs = _of_warps(request, row)
    if REFERENCE not in costs:
        return False
    ours, reference = costs[WARP].most, costs[REFERENCE].most
    cheaper = log.note(
        "Which kernel needs less of an SM's time for 32 rows?",
        REFERENCE if reference < ours else WARP,
        "the most of instructions, touched sectors and bytes of memory; if both cost the same, fast_warp",
        (WARP, REFERENCE), fast_warp=round(ours, 1), warp=round(reference, 1),
    )  # fmt: skip
    return cheaper == REFERENCE


def _of_warps(request: PlanRequest, row: _Row) -> dict[str, short_rows.Cost]:
    """Kernel -> what 32 rows cost, for the kernels in which lanes read their own rows.

    Without the reference's where a whole warp takes one row in it: then it has no advantage over ours.
    """
    problem = _problem(request)
    costs = {WARP: short_rows.of_fast(problem, _lanes(request, row), unaligned=row.unaligned)}
    theirs = oneflow.warp(request, StepLog()).warp if request.cols <= oneflow.WARP_COLS else None
    if theirs and theirs.thread_group_width != WARP_SIZE and row.packs <= row.limits.warp:
        costs[REFERENCE] = short_rows.of_reference(problem, theirs)
    return costs


def _problem(request: PlanRequest) -> short_rows.Problem:
    operator = request.operator
    return short_rows.Problem(request.cols, request.element.itemsize, operator.rows_kept, operator.name)


def _tile_shape(request: PlanRequest) -> tiles.TileShape | None:
    """None if the row is too long for a tile, or the GPU has no cp.async."""
    if request.device.compute_capability < (8, 0):
        return None
    return tiles.shape(_problem(request), request.rows, request.device.sm_count, request.device.smem_per_sm)


def _tile(request: PlanRequest, log: StepLog) -> Choice:
    row, shape = _row(request, log), _tile_shape(request)
    if shape is None:
        raise PlanError(
            f"fast_tile needs compute capability 8.0 and rows of at most {tiles.MOST_ROW_BYTES} bytes; this is "
            f"{request.device.name}, and a row has {request.cols * request.element.itemsize} bytes"
        )
    log.note("How many lanes share a row?", shape.width, "as few as hold it in their registers", GROUP_WIDTHS)
    rule = f"as few as bring {tiles.TILE_BYTES} bytes in flight per warp, while there are tiles for all SMs"
    log.note("How many rows does a warp move at once?", shape.rows, rule, rows=request.rows)
    numbers = (row.pack_size, shape.vector_size, shape.vectors)
    more = (shape.width, shape.slabs, shape.block_size, shape.blocks_per_sm)
    kernel = _kernel(request, TILE, numbers, shape.odd, more)
    per_block = shape.block_size // WARP_SIZE * shape.rows
    blocks = _grid(request, log, -(-request.rows // per_block), "one tile per warp")
    return Choice(TILE, row.pack_size, (shape.block_size, 1), blocks, kernel)


@dataclass(frozen=True)
class _Row:
    """A row as the kernels see it: ``packs`` whole packs of ``pack_size`` elements, ``unaligned`` if there is more."""

    pack_size: int
    packs: int
    unaligned: bool
    inputs: int
    limits: Limits


def _row(request: PlanRequest, log: StepLog) -> _Row:
    inputs = request.operator.rows_kept
    limits = LIMITS[request.element.itemsize, inputs]
    widest = WIDEST_PACK_BYTES // request.element.itemsize
    question = "How many elements does a thread move at once?"
    if request.pack_size:
        pack_size = log.note(question, request.pack_size, "asked for")
        if request.cols % pack_size:
            raise PlanError(f"packs of {pack_size} do not divide a row of {request.cols} columns; use a pack of 1")
        return _Row(pack_size, request.cols // pack_size, False, inputs, limits)
    pack_size = log.note(
        question, widest, "16 bytes, the most that one instruction moves", itemsize=request.element.itemsize
    )
    question = "Do rows begin and end at a multiple of 16 bytes?"
    whole = log.note(question, request.cols % pack_size == 0, "else each has a head and a tail", cols=request.cols)
    return _Row(pack_size, max(1, request.cols // pack_size), not whole, inputs, limits)


def _cuts(request: PlanRequest) -> int:
    """How many blocks a cluster may have; 0 where the GPU has none."""
    capability = request.device.compute_capability
    if capability < (9, 0):
        return 0
    return 16 if capability in SIXTEEN_BLOCKS else 8


def _warp(request: PlanRequest, log: StepLog, row: _Row) -> Choice:
    shape = _lanes(request, row)
    width, packs = shape.thread_group_width, shape.cols_per_thread // row.pack_size
    rule = f"as few as hold it in {_most_packs(row)} packs each, if a warp suffices"
    log.note("How many lanes own a row?", width, rule, GROUP_WIDTHS, packs=row.packs, unaligned=row.unaligned)
    log.note("How many packs does a lane hold?", packs, "as few as hold the row")
    kernel = _kernel(request, WARP, (row.pack_size, packs, width, 1), row.unaligned)
    blocks = _grid(request, log, -(-request.rows // (WARP_BLOCK // width)), "one group of lanes per row")
    return Choice(WARP, row.pack_size, (WARP_BLOCK, 1), blocks, kernel, warp=shape)


def _lanes(request: PlanRequest, row: _Row) -> WarpShape:
    """How the lanes of ``fast_warp`` lie over the packs of a row. Head and tail come on top."""
    # A head and a tail have up to 22 elements, which the lanes share. One lane with two packs touches each sector
    # twice; a second lane would double the arithmetic of doubles, which costs more.
    if row.packs == 1:
        fewest = 1
    elif row.unaligned:
        fewest = 4
    else:
        fewest = 1 if request.element.itemsize == 8 else 2
    width = next((w for w in GROUP_WIDTHS if w >= fewest and row.packs <= w * _most_packs(row)), GROUP_WIDTHS[-1])
    packs = -(-row.packs // width)
    return WarpShape(row.pack_size, packs * row.pack_size, width, 1, row.unaligned or packs * width != row.packs)


def _most_packs(row: _Row) -> int:
    """Packs of a lane before more lanes share the row."""
    return 2 if row.unaligned and row.packs > 1 else row.limits.lane


def _block_size(request: PlanRequest, row: _Row) -> int | None:
    """The smallest block that holds the row in a few packs per thread; None where a cluster takes the row."""
    clusters = request.device.compute_capability >= (9, 0)
    largest = row.limits.block if clusters else BLOCK_SIZES[-1]
    most = row.limits.largest if clusters else MOST_PACKS // row.inputs
    fitting = [size for size in BLOCK_SIZES if size <= largest and row.packs <= size * row.limits.thread]
    return fitting[0] if fitting else largest if row.packs <= largest * most else None


def _block(request: PlanRequest, log: StepLog, row: _Row, block_size: int) -> Choice:
    rule = f"the smallest that holds the row in {row.limits.thread} packs per thread, or the largest there is"
    log.note("Which block size?", block_size, rule, BLOCK_SIZES, packs=row.packs)
    packs = log.note("How many packs does a thread hold?", -(-row.packs // block_size), "as few as hold the row")
    kernel = _kernel(request, BLOCK, (row.pack_size, packs, block_size), row.unaligned)
    blocks = _grid(request, log, request.rows, "one block per row")
    return Choice(BLOCK, row.pack_size, (block_size, 1), blocks, kernel)


def _cut(row: _Row, cuts: int, table: tuple[Cut, ...]) -> Cut | None:
    """The first cut that the row fills well, else the fullest of those that are not more than twice too large."""
    fitting = [cut for cut in table if cut.cluster <= cuts and row.packs <= cut.most]
    near = [cut for cut in fitting if 2 * row.packs > cut.most] or fitting[:1]
    return next((cut for cut in near if cut.fill(row.packs) >= FULL), None) or max(
        near, key=lambda cut: cut.fill(row.packs), default=None
    )


def _cluster(request: PlanRequest, log: StepLog, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, log, cut)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    kernel = _kernel(request, CLUSTER, (row.pack_size, packs, cut.block_size, cut.cluster), row.unaligned)
    blocks = _grid(request, log, request.rows * cut.cluster, "one cluster per row")
    return Choice(CLUSTER, row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _pipeline_cut(request: PlanRequest, row: _Row, cuts: int) -> Cut | None:
    """The first cut that holds the row; a cluster of one block only if there is a row for every SM.

    None for packs of less than 4 bytes: cp.async does not copy them.
    """
    width = row.pack_size * request.element.itemsize
    if width < 4:
        return None
    capacity = request.device.smem_per_block_optin - EXCHANGE_BYTES
    fewest = 1 if request.rows >= request.device.sm_count else 2
    fitting = (cut for cut in row.limits.pipelines if fewest <= cut.cluster <= cuts and row.packs <= cut.most)
    return next((cut for cut in fitting if _stage_packs(row, cut) * cut.block_size * width <= capacity), None)


def _stage_packs(row: _Row, cut: Cut) -> int:
    """Packs of a thread in shared memory: all but one or three, but no more than let two blocks of 512 fit an SM."""
    packs = cut.taken(row.packs)
    kept = 1 if packs <= row.limits.one_register_pack else PIPELINE_REGISTER_PACKS
    return min(packs - kept, PIPELINE_PACKS - PIPELINE_REGISTER_PACKS)


def _pipeline(request: PlanRequest, log: StepLog, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, log, cut)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    rule = f"at most {PIPELINE_PACKS - PIPELINE_REGISTER_PACKS}; the rest in registers"
    stage_packs = log.note("How many of them in shared memory?", _stage_packs(row, cut), rule, packs=packs)
    arguments = (row.pack_size, packs - stage_packs, stage_packs, cut.block_size, cut.cluster)
    kernel = _kernel(request, PIPELINE, arguments, row.unaligned)
    smem_bytes = row.inputs * stage_packs * cut.block_size * row.pack_size * request.element.itemsize
    taken = request.resources(kernel)
    held = occupancies.occupancy(
        request.device, threads=cut.block_size, registers=taken.registers, smem=taken.static_smem_bytes + smem_bytes
    )
    # Two blocks on an SM keep memory busy in turn. One alone must load its next row while it writes this one.
    several = log.note("Does an SM hold several blocks?", held.blocks_per_sm > 1, limits=held.limits)
    if several:
        blocks = _grid(request, log, request.rows * cut.cluster, "one cluster per row")
    else:
        resident = clusters_of(request.device, cut.cluster)
        blocks = log.note(
            "How many blocks?", min(request.rows, resident) * cut.cluster,
            "as many clusters as the GPU holds at once; they stride over the rows",
            rows=request.rows, clusters=resident,
        )  # fmt: skip
    return Choice(PIPELINE, row.pack_size, (cut.block_size, 1), blocks, kernel, smem_bytes, cluster=cut.cluster)


@dataclass(frozen=True)
class _GridShape:
    """How the grid kernel lies over the rows.

    ``blocks_per_row`` blocks share a row, and ``groups`` rows run at once. A thread holds ``packs`` packs of each input
    per row, in a pipeline of ``stages`` packs. ``rows_in_flight`` rows wait for their statistic.
    """

    blocks_per_row: int
    groups: int
    packs: int
    stages: int
    rows_in_flight: int


def _grid_shape(request: PlanRequest, row: _Row, few: bool) -> _GridShape | None:
    """None if the row is not for the grid kernel, or too long for it."""
    device, limits = request.device, row.limits.grid
    width = row.pack_size * request.element.itemsize
    if device.compute_capability < (9, 0) or row.packs <= limits.beyond or width < WIDEST_PACK_BYTES:
        return None
    capacity = (device.smem_per_block_optin - GRID_STATIC_BYTES) // (row.inputs * GRID_BLOCK * width)
    most = limits.packs + 1 if few and row.inputs == 1 else limits.packs
    groups = 1
    while (
        groups < min(request.rows, device.sm_count) and _packs_per_thread(row, device.sm_count // (groups + 1)) <= most
    ):
        groups += 1
    blocks_per_row = device.sm_count // groups
    packs = _packs_per_thread(row, blocks_per_row)
    if packs > capacity or packs * row.inputs > PIPELINE_PACKS:
        return None
    # More rows in flight are better, if the pipeline also loads one more row, or one more pack where rows are long.
    most_in_flight = max((capacity - packs) // packs - 1, min(2, (capacity - 1) // packs - 1))
    rows_in_flight = min(limits.rows_in_flight, most_in_flight)
    iterations = -(-request.rows // groups)
    rows_in_flight = max(0, min(rows_in_flight, iterations - 1))
    # Whole rows, where that costs little: then a pack takes the stage of the same pack of an earlier row.
    stages = capacity // packs * packs if capacity // packs > rows_in_flight + 1 else capacity
    return _GridShape(blocks_per_row, groups, packs, min(stages, packs * iterations), rows_in_flight)


def _packs_per_thread(row: _Row, blocks_per_row: int) -> int:
    return Cut(blocks_per_row, GRID_BLOCK, PIPELINE_PACKS).taken(row.packs)


def _across_grid(request: PlanRequest, log: StepLog, row: _Row, shape: _GridShape) -> Choice:
    rows, sms = request.rows, request.device.sm_count
    groups = log.note(
        "How many rows at once?", shape.groups, "as many as leave a thread few packs of its row", rows=rows, sms=sms
    )
    rule = "the SMs divided by the rows at once"
    blocks_per_row = log.note("How many blocks share a row?", shape.blocks_per_row, rule, sms=sms, groups=groups)
    packs = log.note("How many packs does a thread hold?", shape.packs, "as few as hold the row")
    rule = "as many as shared memory holds, beside the packs that are loaded"
    question = "How many rows are in flight, waiting for their statistic?"
    rows_in_flight = log.note(question, shape.rows_in_flight, rule, packs=packs, stages=shape.stages)
    arguments = (row.pack_size, packs, shape.stages, rows_in_flight, GRID_BLOCK, blocks_per_row)
    kernel = _kernel(request, GRID, arguments, row.unaligned)
    itemsize = request.element.itemsize
    words = max(2, (1 if row.inputs > 1 else 2) * max(4, itemsize) // 4)
    mailbox = MAILBOX_HEADER_WORDS + 2 * (rows_in_flight + 1) * (blocks_per_row + row.unaligned) * words
    blocks = log.note("How many blocks?", groups * blocks_per_row, "all of them at once, one per SM", rows=rows)
    return Choice(
        GRID, row.pack_size, (GRID_BLOCK + GRID_MAILBOX_THREADS, 1), blocks, kernel,
        shape.stages * row.inputs * GRID_BLOCK * row.pack_size * itemsize, cooperative=True,
        workspace_bytes=8 * groups * mailbox,
    )  # fmt: skip


def _stream(request: PlanRequest, log: StepLog, row: _Row, cut: Cut) -> Choice:
    _ask_cut(request, log, cut)
    kernel = _kernel(request, STREAM, (row.pack_size, cut.packs, cut.block_size, cut.cluster), row.unaligned)
    blocks = _grid(request, log, request.rows * cut.cluster, "one cluster per row")
    return Choice(STREAM, row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _ask_cut(request: PlanRequest, log: StepLog, cut: Cut) -> None:
    log.note("How many blocks share a row?", cut.cluster, "as measured for rows of this length", (1, 2, 4, 8, 16))
    log.note("Which block size?", cut.block_size, "as measured for rows of this length", BLOCK_SIZES)


def clusters_of(device: Device, cluster: int) -> int:
    """Clusters that a GPU holds at once, with one block per SM.

    A cluster stays within one of the GPU's processing clusters, each of 16 or 18 SMs, so some SMs are left over: an
    H200 (132 SMs) holds 66, 31, 15 and 7 clusters of 2, 4, 8 and 16, by cuOccupancyMaxActiveClusters. For other GPUs
    this function assumes the same loss.
    """
    left_over = {1: 0, 2: 0, 4: 8, 8: 12, 16: 20}[cluster]
    return max(1, (device.sm_count - left_over) // cluster)


def _grid(request: PlanRequest, log: StepLog, blocks: int, rule: str) -> int:
    """The blocks for all rows, or the most that a grid can have. 16 divides that number."""
    return log.note("How many blocks?", min(blocks, MOST_BLOCKS), rule, rows=request.rows)


def _kernel(
    request: PlanRequest, kernel: str, numbers: tuple[int, ...], flag: bool, more: tuple[int, ...] = ()
) -> Instantiation:
    operator = request.operator
    template = f"{kernel}_backward" if operator.backward else kernel
    listed = ", ".join(
        (
            request.element.cuda,
            f"Algorithm::{operator.algorithm}",
            *map(str, numbers),
            str(flag).lower(),
            *map(str, more),
        )
    )
    return Instantiation(f"{kernel}.cuh", f"{template}<{listed}>")
