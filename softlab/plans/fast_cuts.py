"""Rows beyond one block in the policy "fast": clusters, pipelines, the whole grid, and the stream."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.hardware import occupancies
from softlab.hardware.devices import Device
from softlab.plans.fast_limits import (
    BLOCK_SIZES,
    EXCHANGE_BYTES,
    FEW_ROWS,
    FEW_ROWS_BLOCKS_PER_SM,
    FULL,
    GRID_BLOCK,
    GRID_MAILBOX_THREADS,
    GRID_STATIC_BYTES,
    MAILBOX_HEADER_WORDS,
    PIPELINE_PACKS,
    PIPELINE_REGISTER_PACKS,
    SIXTEEN_BLOCKS,
    Cut,
)
from softlab.plans.fast_rows import CLUSTER, GRID, PIPELINE, STREAM, Row, grid_of, kernel_of, name_of, whole_grid
from softlab.plans.instantiations import WIDEST_PACK_BYTES
from softlab.plans.planner import Choice, PlanRequest, StepLog


def cut_of(row: Row, cuts: int, table: tuple[Cut, ...]) -> Cut | None:
    """The first cut that the row fills well, else the fullest of those that are not more than twice too large."""
    fitting = [cut for cut in table if cut.cluster <= cuts and row.packs <= cut.most]
    near = [cut for cut in fitting if 2 * row.packs > cut.most] or fitting[:1]
    return next((cut for cut in near if cut.fill(row.packs) >= FULL), None) or max(
        near, key=lambda cut: cut.fill(row.packs), default=None
    )


def few_rows_cut(request: PlanRequest, row: Row, cuts: int) -> Cut | None:
    """The cut for few rows: clusters that leave at most two blocks on an SM, where such a cluster holds the row."""
    table = FEW_ROWS[row.inputs]
    room = FEW_ROWS_BLOCKS_PER_SM * request.device.sm_count // max(1, request.rows)
    sparse = tuple(cut for cut in table if cut.cluster <= room)
    return cut_of(row, cuts, sparse) or cut_of(row, cuts, table)


def cluster(request: PlanRequest, log: StepLog, row: Row, cut: Cut) -> Choice:
    """A cluster holds the row in the registers of its blocks."""
    _ask_cut(request, log, cut)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    if cut.resident:
        rule = "the compiler keeps to the registers that this leaves; else it takes more, or orders them worse"
        log.note("How many blocks must an SM hold?", cut.resident, rule, packs=packs)
    more = (cut.resident,) if cut.resident else ()
    kernel = kernel_of(request, CLUSTER, (row.pack_size, packs, cut.block_size, cut.cluster), row.unaligned, more)
    blocks = whole_grid(request, log, request.rows * cut.cluster, "one cluster per row")
    return Choice(name_of(request, CLUSTER), row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def pipeline_cut(request: PlanRequest, row: Row, cuts: int, table: tuple[Cut, ...]) -> Cut | None:
    """The first cut of a table that holds the row; a cluster of one block only if there is a row for every SM.

    None for packs of less than 4 bytes: cp.async does not copy them.
    """
    width = row.pack_size * request.element.itemsize
    if width < 4:
        return None
    capacity = request.device.smem_per_block_optin - EXCHANGE_BYTES
    fewest = 1 if request.rows >= request.device.sm_count else 2
    fitting = (cut for cut in table if fewest <= cut.cluster <= cuts and row.packs <= cut.most)
    return next((cut for cut in fitting if _stage_packs(row, cut) * cut.block_size * width <= capacity), None)


def _stage_packs(row: Row, cut: Cut) -> int:
    """Packs of a thread in shared memory: all but one or three, but no more than let two blocks of 512 fit an SM."""
    packs = cut.taken(row.packs)
    kept = 1 if packs <= row.limits.one_register_pack else PIPELINE_REGISTER_PACKS
    return min(packs - kept, PIPELINE_PACKS - PIPELINE_REGISTER_PACKS)


def pipeline(request: PlanRequest, log: StepLog, row: Row, cut: Cut) -> Choice:
    """A block or a cluster holds the row in registers and shared memory, and loads the next one meanwhile."""
    _ask_cut(request, log, cut)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    rule = f"at most {PIPELINE_PACKS - PIPELINE_REGISTER_PACKS}; the rest in registers"
    stage_packs = log.note("How many of them in shared memory?", _stage_packs(row, cut), rule, packs=packs)
    arguments = (row.pack_size, packs - stage_packs, stage_packs, cut.block_size, cut.cluster)
    kernel = kernel_of(request, PIPELINE, arguments, row.unaligned)
    smem_bytes = row.inputs * stage_packs * cut.block_size * row.pack_size * request.element.itemsize
    taken = request.resources(kernel)
    held = occupancies.occupancy(
        request.device, threads=cut.block_size, registers=taken.registers, smem=taken.static_smem_bytes + smem_bytes
    )
    # Two blocks on an SM keep memory busy in turn. One alone must load its next row while it writes this one.
    several = log.note("Does an SM hold several blocks?", held.blocks_per_sm > 1, limits=held.limits)
    if several:
        blocks = grid_of(request, log, request.rows * cut.cluster, "one cluster per row")
    else:
        resident = clusters_of(request.device, cut.cluster)
        blocks = log.note(
            "How many blocks?", min(request.rows, resident) * cut.cluster,
            "as many clusters as the GPU holds at once; they stride over the rows",
            rows=request.rows, clusters=resident,
        )  # fmt: skip
    return Choice(PIPELINE, row.pack_size, (cut.block_size, 1), blocks, kernel, smem_bytes, cluster=cut.cluster)


@dataclass(frozen=True)
class GridShape:
    """How the grid kernel lies over the rows.

    ``blocks_per_row`` blocks share a row, and ``groups`` rows run at once. A thread holds ``packs`` packs of each input
    per row, in a pipeline of ``stages`` packs. ``rows_in_flight`` rows wait for their statistic.
    """

    blocks_per_row: int
    groups: int
    packs: int
    stages: int
    rows_in_flight: int


def grid_shape(request: PlanRequest, row: Row, few: bool, most: int | None = None) -> GridShape | None:
    """None if the row is not for the grid kernel, or too long for it.

    As many rows run at once as leave a thread ``most`` packs of its row; without this number those of ``GridLimits``.
    """
    device, limits = request.device, row.limits.grid
    width = row.pack_size * request.element.itemsize
    if device.compute_capability < (9, 0) or row.packs <= limits.beyond or width < WIDEST_PACK_BYTES:
        return None
    capacity = (device.smem_per_block_optin - GRID_STATIC_BYTES) // (row.inputs * GRID_BLOCK * width)
    if most is None:
        most = limits.packs + 1 if few and row.inputs == 1 else limits.packs
    groups = 1
    while (
        groups < min(request.rows, device.sm_count) and packs_per_thread(row, device.sm_count // (groups + 1)) <= most
    ):
        groups += 1
    blocks_per_row = device.sm_count // groups
    packs = packs_per_thread(row, blocks_per_row)
    if packs > capacity or packs * row.inputs > PIPELINE_PACKS:
        return None
    # More rows in flight are better, if the pipeline also loads one more row, or one more pack where rows are long.
    most_in_flight = max((capacity - packs) // packs - 1, min(2, (capacity - 1) // packs - 1))
    rows_in_flight = min(limits.rows_in_flight, most_in_flight)
    iterations = -(-request.rows // groups)
    rows_in_flight = max(0, min(rows_in_flight, iterations - 1))
    # Whole rows, where that costs little: then a pack takes the stage of the same pack of an earlier row.
    stages = capacity // packs * packs if capacity // packs > rows_in_flight + 1 else capacity
    return GridShape(blocks_per_row, groups, packs, min(stages, packs * iterations), rows_in_flight)


def packs_per_thread(row: Row, blocks_per_row: int) -> int:
    """Packs of each input that a thread of the grid kernel holds per row."""
    return Cut(blocks_per_row, GRID_BLOCK, PIPELINE_PACKS).taken(row.packs)


def across_grid(request: PlanRequest, log: StepLog, row: Row, shape: GridShape) -> Choice:
    """Blocks on all SMs hold the row."""
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
    kernel = kernel_of(request, GRID, arguments, row.unaligned)
    itemsize = request.element.itemsize
    words = max(2, (1 if row.inputs > 1 else 2) * max(4, itemsize) // 4)
    mailbox = MAILBOX_HEADER_WORDS + 2 * (rows_in_flight + 1) * (blocks_per_row + row.unaligned) * words
    blocks = log.note("How many blocks?", groups * blocks_per_row, "all of them at once, one per SM", rows=rows)
    return Choice(
        GRID, row.pack_size, (GRID_BLOCK + GRID_MAILBOX_THREADS, 1), blocks, kernel,
        shape.stages * row.inputs * GRID_BLOCK * row.pack_size * itemsize, cooperative=True,
        workspace_bytes=8 * groups * mailbox,
    )  # fmt: skip


def stream(request: PlanRequest, log: StepLog, row: Row, cut: Cut) -> Choice:
    """Nothing holds the row: it is read twice."""
    _ask_cut(request, log, cut)
    kernel = kernel_of(request, STREAM, (row.pack_size, cut.packs, cut.block_size, cut.cluster), row.unaligned)
    blocks = grid_of(request, log, request.rows * cut.cluster, "one cluster per row")
    return Choice(name_of(request, STREAM), row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _ask_cut(request: PlanRequest, log: StepLog, cut: Cut) -> None:
    log.note(
        "How many blocks share a row?", cut.cluster, "as few as bring enough bytes in flight on an SM", (1, 2, 4, 8, 16)
    )
    log.note("Which block size?", cut.block_size, "the largest that does", BLOCK_SIZES)


def most_blocks(device: Device) -> int:
    """How many blocks a cluster may have; 0 where the GPU has none."""
    if device.compute_capability < (9, 0):
        return 0
    return 16 if device.compute_capability in SIXTEEN_BLOCKS else 8


def clusters_of(device: Device, cluster: int) -> int:
    """Clusters that a GPU holds at once, with one block per SM.

    A cluster stays within one of the GPU's processing clusters, each of 16 or 18 SMs, so some SMs are left over: an
    H200 (132 SMs) holds 66, 31, 15 and 7 clusters of 2, 4, 8 and 16, by cuOccupancyMaxActiveClusters. For other GPUs
    this function assumes the same loss.
    """
    left_over = {1: 0, 2: 0, 4: 8, 8: 12, 16: 20}[cluster]
    return max(1, (device.sm_count - left_over) // cluster)
