"""Dispatch of the policy "fast": which kernel holds a row, in how many pieces, with every question recorded.

The question is always the same: which are the fewest threads, blocks and SMs that hold a row on the chip, in a few
packs of 16 bytes per thread? Then an SM holds many rows at different stages. Thresholds are counted in packs, because a
pack costs the same for every type: :mod:`softlab.plans.fast_limits` has them. Many short rows move as tiles where that
costs less (:mod:`softlab.plans.tiles`), and a few of the shortest go to the reference's warp kernel
(:mod:`softlab.plans.short_rows`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from softlab.errors import PlanError
from softlab.plans import fast_doubles, fast_fused, few_rows, flight, long_rows, oneflow, short_rows, tiles
from softlab.plans.fast_cuts import (
    across_grid,
    cluster,
    cut_of,
    few_rows_cut,
    grid_shape,
    most_blocks,
    pipeline,
    pipeline_cut,
    stream,
)
from softlab.plans.fast_limits import (
    BLOCK_SIZES,
    CLUSTERS,
    EXACT_HALVES_OF_A_WARP,
    FEW_ROWS_PACKS,
    GROUP_WIDTHS,
    LIMITS,
    MOST_PACKS,
    STREAM_PACKS,
    UNALIGNED_HALVES_OF_A_WARP,
    WARP_BLOCK,
    Cut,
)
from softlab.plans.fast_ring import RingShape, around_ring, fitted, is_faster, ring_shape
from softlab.plans.fast_rows import (
    BLOCK,
    CLUSTER,
    GRID,
    INVARIANT,
    PIPELINE,
    RING,
    STREAM,
    TILE,
    WARP,
    Row,
    grid_of,
    is_wide,
    kernel_of,
    name_of,
    row_of,
    take,
    whole_grid,
)
from softlab.plans.fast_strided import strided
from softlab.plans.instantiations import WARP_SIZE, WarpShape
from softlab.plans.planner import Choice, PlanRequest, StepLog, nothing_to_do

#: The kernels that a caller can ask for.
FORCED = (TILE, WARP)
#: The reference's kernel that this policy takes for the shortest rows.
REFERENCE = "warp"
#: The longest row whose sum fits the integers of kernels/exact_operator.cuh.
MOST_EXACT_COLS = 1 << 26


def choose(request: PlanRequest, log: StepLog) -> Choice:
    """Decide; ``log`` records how. Under the policy "invariant" only kernels that have exact sums are taken.

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
    if request.fused:
        return fast_fused.choose(request, log)
    if request.stride > 1:
        return strided(request, log)
    if request.policy == INVARIANT and request.cols > MOST_EXACT_COLS:
        raise PlanError(f"policy='invariant' adds at most 2^26 elements exactly; a row has {request.cols}")
    if request.kernel is None and (quickest := _quickest_of_few(request, log)):
        return _few(request, log, *quickest)
    if request.kernel == TILE or (request.kernel is None and _tile_is_cheaper(request, log)):
        return _tile(request, log)
    if request.kernel is None and _reference_is_cheaper(request, log):
        return oneflow.warp(request, log)
    row = row_of(request, log)
    if row.packs <= (most := _packs_of_a_warp(request, row)):
        rule = "a few lanes of a warp hold the row"
        take(request, log, WARP, rule, packs=row.packs, most=most)
        rule = f"as few as hold it in {_most_packs(row)} packs each, if a warp suffices"
        few = _lanes(request, row)
        shape = _beside_memory(request, row, few)
        if shape != few:
            rule = "the most whose instructions memory hides; if none, those that cost the least"
        return _warp(request, log, row, shape, rule)
    if request.kernel:
        raise PlanError(f"fast_warp holds rows of at most {most} packs; {request.cols} columns are {row.packs}")
    return _beyond_a_warp(request, log, row)


def _quickest_of_few(request: PlanRequest, log: StepLog) -> tuple[Row, str, Cut] | None:
    """What holds a row of few in the least time; None where rows are not few, or a row is too long."""
    schedulers = flight.SCHEDULERS * request.device.sm_count
    question = "Are there at most as many rows as schedulers?"
    rule = "then the time of one row decides, not the bytes in flight"
    few = log.note(question, few_rows.are_few(request), rule, rows=request.rows, schedulers=schedulers)
    return few_rows.quickest(request) if few else None


def _few(request: PlanRequest, log: StepLog, row: Row, kernel: str, cut: Cut) -> Choice:
    """A kernel of few rows, in which the threads of a cut share each."""
    if row.pack_size == row_of(request, StepLog()).pack_size:
        row_of(request, log)
    else:
        rule = "of the packs that divide the row those with which it takes the least time: no head, no tail"
        log.note("How many elements does a thread move at once?", row.pack_size, rule, cols=request.cols)
    where = {WARP: "in lanes of a warp", BLOCK: "in a block of this size", CLUSTER: "in blocks on several SMs"}[kernel]
    rule = f"a row takes the least time {where}, by the instructions of a thread, the exchange and an SM's bytes"
    time = round(few_rows.time_of(request, row, kernel, cut), 1)
    take(request, log, kernel, rule, packs=row.packs, time=time)
    if kernel == WARP:
        return _warp(request, log, row, _over(row, cut.block_size), rule)
    return _block(request, log, row, cut, rule) if kernel == BLOCK else cluster(request, log, row, cut)


def _beyond_a_warp(request: PlanRequest, log: StepLog, row: Row) -> Choice:
    """The first that holds the row: a block, the grid or the ring, a cluster, a pipeline. If none does: the stream."""
    cuts, exact = most_blocks(request.device), request.policy == INVARIANT
    few = few_rows.have_several_sms(request, row)
    if cuts and row.packs >= FEW_ROWS_PACKS:
        question = "Are there at most half as many rows as SMs?"
        log.note(question, few, "then several SMs share a row", rows=request.rows, sms=request.device.sm_count)
    alone = _alone(request, row, cuts)
    if alone and not few:
        if lanes := _beside_block(request, row, alone):
            rule = "memory does not hide the instructions of a block: too many of its threads have nothing to do"
            take(request, log, WARP, rule, packs=row.packs, block_size=alone.block_size)
            return _warp(request, log, row, lanes, "a whole warp")
        rule = "the registers of a block hold the row, and an SM holds several such blocks"
        take(request, log, BLOCK, rule, packs=row.packs)
        rule = "one that brings enough bytes of rows in flight on an SM, with as few packs per thread as possible"
        return _block(request, log, row, alone, rule)
    shape = None if exact else grid_shape(request, row, few, fast_doubles.grid_packs(request, row))
    ring = None if exact or row.packs <= row.limits.grid.beyond else ring_shape(request, row)
    ring_is_faster = fast_doubles.ring_is_faster if fast_doubles.are_timed(request) else is_faster
    if ring and ring_is_faster(ring, shape, request, row):
        return _quickest_of_long(request, log, row, fitted(request, row, ring))
    if shape:
        rule = "blocks on all SMs hold the row, with more rows in flight"
        take(request, log, GRID, rule, packs=row.packs, beyond=row.limits.grid.beyond)
        return across_grid(request, log, row, shape)
    if few and (cut := few_rows_cut(request, row, cuts)):
        take(request, log, CLUSTER, "several SMs work on one row", packs=row.packs)
        return cluster(request, log, row, cut)
    if not few and (cut := _cluster_cut(request, row, cuts)):
        return _quickest_of_long(request, log, row, cut)
    if not exact and (cut := pipeline_cut(request, row, cuts, fast_doubles.pipelines(request, row))):
        rule = f"registers and shared memory of a {'cluster' if cut.cluster > 1 else 'block'} hold the row"
        take(request, log, PIPELINE, rule, packs=row.packs, most=cut.most)
        return pipeline(request, log, row, cut)
    again = "twice" if request.policy != INVARIANT else "three times"
    take(request, log, STREAM, f"no kernel holds the row: it is read {again}", packs=row.packs)
    return stream(
        request, log, row, Cut(cuts or 1, 512 if cuts else 1024, STREAM_PACKS[request.element.itemsize, row.inputs])
    )


def _quickest_of_long(request: PlanRequest, log: StepLog, row: Row, found: Cut | RingShape) -> Choice:
    """The cluster or the ring that was found, or another of either that takes less time."""
    taken = long_rows.quickest(request, row, found)
    if isinstance(taken, Cut):
        rule = "the registers of a cluster's blocks hold the row"
        take(request, log, CLUSTER, rule, packs=row.packs)
        return cluster(request, log, row, taken)
    rule = "a ring in the shared memory of all SMs holds the row"
    take(request, log, RING, rule, packs=row.packs, beyond=row.limits.grid.beyond)
    return around_ring(request, log, row, taken)


def _tile_is_cheaper(request: PlanRequest, log: StepLog) -> bool:
    """Whether tiles save more time than they take to start: asked for rows that a warp can hold."""
    row, shape = row_of(request, StepLog()), _tile_shape(request)
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
    row = row_of(request, StepLog())
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


def _of_warps(request: PlanRequest, row: Row) -> dict[str, short_rows.Cost]:
    """Kernel -> what 32 rows cost, for the kernels in which lanes read their own rows.

    Without the reference's where a whole warp takes one row in it: then it has no advantage over ours. The policy
    "invariant" cannot take it.
    """
    problem = _problem(request)
    costs = {WARP: short_rows.of_fast(problem, _lanes(request, row), unaligned=row.unaligned)}
    if request.policy == INVARIANT:
        return costs
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
    row, shape = row_of(request, log), _tile_shape(request)
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
    kernel = kernel_of(request, TILE, numbers, shape.odd, more)
    per_block = shape.block_size // WARP_SIZE * shape.rows
    blocks = grid_of(request, log, -(-request.rows // per_block), "one tile per warp")
    return Choice(name_of(request, TILE), row.pack_size, (shape.block_size, 1), blocks, kernel)


def _warp(request: PlanRequest, log: StepLog, row: Row, shape: WarpShape, rule: str) -> Choice:
    width, packs = shape.thread_group_width, shape.cols_per_thread // row.pack_size
    log.note("How many lanes own a row?", width, rule, GROUP_WIDTHS, packs=row.packs, unaligned=row.unaligned)
    log.note("How many packs does a lane hold?", packs, "as few as hold the row")
    kernel = kernel_of(request, WARP, (row.pack_size, packs, width, 1), row.unaligned)
    blocks = whole_grid(request, log, -(-request.rows // (WARP_BLOCK // width)), "one group of lanes per row")
    return Choice(name_of(request, WARP), row.pack_size, (WARP_BLOCK, 1), blocks, kernel, warp=shape)


def _packs_of_a_warp(request: PlanRequest, row: Row) -> int:
    """The longest row of ``fast_warp`` in packs."""
    if request.policy == INVARIANT and request.element.itemsize == 2:
        return EXACT_HALVES_OF_A_WARP
    if row.unaligned and row.limits is LIMITS[2, 1]:
        return UNALIGNED_HALVES_OF_A_WARP
    return fast_doubles.packs_of_a_warp(request, row) if request.element.itemsize == 8 else row.limits.warp


def _lanes(request: PlanRequest, row: Row) -> WarpShape:
    """How the lanes of ``fast_warp`` lie over the packs of a row. Head and tail come on top."""
    fewest = _fewest_lanes(request, row)
    width = next((w for w in GROUP_WIDTHS if w >= fewest and row.packs <= w * _most_packs(row)), GROUP_WIDTHS[-1])
    row_bytes = request.cols * request.element.itemsize
    if request.element.itemsize == 8 and (timed := fast_doubles.lanes(request, row)):
        return _over(row, timed[0])
    if row_bytes > tiles.MOST_ROW_BYTES:
        itemsize, exact = request.element.itemsize, request.policy == INVARIANT
        most = flight.EXACT_WARP_PACKS if exact and itemsize == 2 else flight.WARP_PACKS
        shapes = [(w, -(-row.packs // w)) for w in reversed(GROUP_WIDTHS) if w <= width]
        if exact and (itemsize, row.inputs) == (2, 2):
            few = [shape for shape in shapes if shape[1] <= flight.EXACT_PACKS_OF_FULL_LANES]
            shapes = sorted(few, key=lambda shape: shape[0] * shape[1]) + [s for s in shapes if s not in few]
        fitting = ((w, packs) for w, packs in shapes if w == width or packs <= most)
        candidates = (
            (flight.of_warps(request.device, w, packs, row_bytes * row.inputs, itemsize, row.inputs, exact),
             Cut(1, w, packs))
            for w, packs in fitting
        )  # fmt: skip
        chosen = flight.best(_with_instructions(request, row, candidates))
        width = chosen.block_size if chosen else width
    return _over(row, width)


def _beside_memory(request: PlanRequest, row: Row, lanes: WarpShape) -> WarpShape:
    """Short rows of 16-bit elements: these lanes if memory hides their instructions; else the most that it hides.

    17 packs in 16 lanes take as many instructions as 32. If memory hides none, the lanes of the least cost. Of a row
    with a head and a tail always the most that memory hides: more lanes share these elements. Whether tiles take a row
    was measured beside ``lanes``, so their cost decides that.
    """
    halves = request.element.itemsize == 2 and is_wide(request, row)
    if not halves or request.policy == INVARIANT or request.cols * 2 > tiles.MOST_ROW_BYTES:
        return lanes
    problem, width = _problem(request), lanes.thread_group_width
    widths = [w for w in GROUP_WIDTHS if w >= _fewest_lanes(request, row) and row.packs <= w * flight.WARP_PACKS]
    costs = {w: short_rows.of_fast(problem, _over(row, w), unaligned=row.unaligned).blended for w in widths}
    hidden = [w for w in widths if costs[w] <= short_rows.HIDDEN * problem.memory]
    if row.unaligned or width not in hidden:
        width = hidden[-1] if hidden else min(widths, key=costs.__getitem__)
    return _over(row, width)


def _fewest_lanes(request: PlanRequest, row: Row) -> int:
    """The fewest lanes that share a row.

    A head and a tail have up to 22 elements, which the lanes share. One lane with two packs touches each sector twice;
    a second lane would double the arithmetic of doubles, which costs more.
    """
    if row.packs == 1:
        return 1
    return 4 if row.unaligned else 1 if request.element.itemsize == 8 else 2


def _over(row: Row, width: int) -> WarpShape:
    """This number of lanes, with as few packs each as hold the row."""
    packs = -(-row.packs // width)
    return WarpShape(row.pack_size, packs * row.pack_size, width, 1, row.unaligned or packs * width != row.packs)


def _most_packs(row: Row) -> int:
    """Packs of a lane before more lanes share the row."""
    return 2 if row.unaligned and row.packs > 1 else row.limits.lane


def _alone(request: PlanRequest, row: Row, cuts: int) -> Cut | None:
    """The block that holds the row with enough bytes in flight on an SM; None where a cluster takes the row.

    Without clusters, or with narrow packs, the smallest block that holds the row in a few packs per thread, or the
    largest there is.
    """
    if cuts and fast_doubles.are_many(request, row):
        return fast_doubles.block(request, row)
    largest = row.limits.block if cuts else BLOCK_SIZES[-1]
    most = row.limits.largest if cuts else MOST_PACKS // row.inputs
    if row.packs > largest * most:
        return None
    if cuts and is_wide(request, row):
        return flight.best(_with_instructions(request, row, _with_flight(request, row, _block_cuts(request, row))))
    sizes = [size for size in BLOCK_SIZES if size <= largest and row.packs <= size * row.limits.thread]
    return Cut(1, sizes[0] if sizes else largest, MOST_PACKS)


def _block_cuts(request: PlanRequest, row: Row) -> Iterator[Cut]:
    """The blocks that hold the row: first the one that held it in a few packs per thread, then by packs per thread."""
    most = flight.most_packs(request.element.itemsize, row.inputs, request.policy == INVARIANT)
    cuts = [Cut(1, size, most) for size in BLOCK_SIZES if size <= row.limits.block and row.packs <= size * most]
    few = [cut for cut in cuts if cut.taken(row.packs) <= row.limits.thread]
    yield from few[:1]
    yield from sorted(cuts, key=lambda cut: cut.taken(row.packs))


def _cluster_cut(request: PlanRequest, row: Row, cuts: int) -> Cut | None:
    """The cluster that holds the row with enough bytes in flight on an SM.

    First the measured one for rows of about this length, then as few blocks as possible.
    """
    if not row.limits.cuts and request.policy != INVARIANT:
        return None
    measured = cut_of(row, cuts, row.limits.cuts)
    if not is_wide(request, row):
        return measured
    most = flight.most_packs(request.element.itemsize, row.inputs, request.policy == INVARIANT)
    halves = row.unaligned and (request.element.itemsize, row.inputs) == (2, 1)
    largest = flight.BLOCK_OF_UNALIGNED_HALVES if halves else row.limits.block
    table = [Cut(c, size, most) for c in CLUSTERS for size in reversed(BLOCK_SIZES) if 128 <= size <= largest]
    fitting = [cut for cut in table if cut.cluster <= cuts and row.packs <= cut.most]
    if request.policy == INVARIANT and request.element.itemsize == 2:
        fitting = [cut for cut in fitting if cut.block_size <= flight.BLOCK_OF_EXACT_HALVES] or fitting
        measured = _with_smaller_blocks(measured, cuts) if measured and row.unaligned else measured
    enough = flight.ENOUGH_OF_UNALIGNED_HALVES if halves else flight.ENOUGH
    return flight.best(_with_flight(request, row, [measured, *fitting] if measured else fitting), enough)


def _with_smaller_blocks(cut: Cut, cuts: int) -> Cut:
    """A cut with as many threads, in blocks of BLOCK_OF_EXACT_HALVES threads where a cluster may have these blocks."""
    while cut.block_size > flight.BLOCK_OF_EXACT_HALVES and 2 * cut.cluster <= cuts:
        cut = replace(cut, cluster=2 * cut.cluster, block_size=cut.block_size // 2)
    return cut


def _with_flight(request: PlanRequest, row: Row, cuts: Iterable[Cut]) -> Iterator[tuple[float, Cut]]:
    itemsize = request.element.itemsize
    row_bytes = request.cols * itemsize * row.inputs
    packs, inputs, exact = row.packs, row.inputs, request.policy == INVARIANT
    shared = sorted(cuts, key=lambda cut: not flight.shared_by_few(cut, packs, itemsize, inputs, row.unaligned))
    for cut in shared:
        x = flight.of_block(request.device, cut, packs, row_bytes, itemsize, inputs, row.unaligned, exact)
        yield x, cut


def _with_instructions(
    request: PlanRequest, row: Row, candidates: Iterable[tuple[float, Cut]]
) -> Iterator[tuple[float, Cut]]:
    """Candidates of one block or group of lanes, bounded also by their instructions.

    Those of exact sums and of doubles were not measured beside memory.
    """
    memory = _problem(request).memory
    for x, cut in candidates:
        if request.policy == INVARIANT or request.element.itemsize == 8:
            yield x, cut
        else:
            enough = flight.enough_time(request.element, cut.block_size)
            yield flight.bounded(x, memory, _issue(request, row, cut), enough), cut


def _issue(request: PlanRequest, row: Row, cut: Cut) -> float:
    """What the instructions of 32 rows take, of which each has a block of its own, or a group of lanes."""
    packs = cut.taken(row.packs)
    return short_rows.issue(_problem(request), row.pack_size, packs, cut.block_size, unaligned=row.unaligned)


def _beside_block(request: PlanRequest, row: Row, block: Cut) -> WarpShape | None:
    """A warp for the row, where memory hides its instructions, but not those of the block."""
    known = request.element.itemsize < 8 and is_wide(request, row)
    if not known or row.packs > WARP_SIZE * flight.WARP_PACKS:
        return None
    memory, warp = _problem(request).memory, Cut(1, WARP_SIZE, flight.WARP_PACKS)
    hides = [
        memory >= flight.enough_time(request.element, cut.block_size) * _issue(request, row, cut)
        for cut in (block, warp)
    ]
    return _over(row, WARP_SIZE) if hides == [False, True] else None


def _block(request: PlanRequest, log: StepLog, row: Row, cut: Cut, rule: str) -> Choice:
    block_size = cut.block_size
    log.note("Which block size?", block_size, rule, BLOCK_SIZES, packs=row.packs)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    kernel = kernel_of(request, BLOCK, (row.pack_size, packs, block_size), row.unaligned)
    blocks = whole_grid(request, log, request.rows, "one block per row")
    return Choice(name_of(request, BLOCK), row.pack_size, (block_size, 1), blocks, kernel)
