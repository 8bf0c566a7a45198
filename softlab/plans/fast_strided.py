"""Rows along another axis than the last in the policy "fast": fast_columns.cuh, fast_strided.cuh, fast_shifted.cuh and
fast_strip_grid.cuh.

A block, a cluster of blocks, or blocks all over the GPU take a strip of neighbouring rows. The plan takes the shape of
a strip that costs the least (:mod:`softlab.plans.strip_shapes` and :mod:`softlab.plans.strip_grid`).
"""

from __future__ import annotations

from softlab.plans import strip_grid, strip_shapes
from softlab.plans.fast_rows import WHICH, kernel_of, whole_grid
from softlab.plans.instantiations import WIDEST_PACK_BYTES
from softlab.plans.planner import Choice, PlanRequest, StepLog
from softlab.plans.strip_grid import MAILBOX_THREADS, STRIP_GRID, StripGridShape
from softlab.plans.strip_shapes import COLUMNS, SHIFTED, STRIDED, StripShape

#: The kernels where a strip's rows are read twice.
STRIDED_STREAM, SHIFTED_STREAM = f"{STRIDED}_stream", f"{SHIFTED}_stream"
KERNELS = (COLUMNS, STRIDED, SHIFTED, STRIDED_STREAM, SHIFTED_STREAM, STRIP_GRID)


def strided(request: PlanRequest, log: StepLog) -> Choice:
    """The strips for a request whose rows have neighbours ``stride`` elements apart.

    Raises:
        PlanError: the grid would be too large.
    """
    held = min(strip_shapes.shapes(request), key=lambda shape: strip_shapes.cost(request, shape), default=None)
    shape, once = held or strip_shapes.longest(request), held is not None
    if (shared := _shared_by_grid(request, log, shape, once)) is not None:
        return _across_grid(request, log, shared)
    if once:
        shape = strip_shapes.clearly_better(request, shape)
    log.note("Does a cluster hold the rows of a strip?", once, "else they are read twice", cols=request.cols)
    kernel = shape.kernel if once else f"{shape.kernel}_stream"
    rule = "a thread has whole rows, or threads below each other share them, where need be with shifted packs"
    log.note(WHICH, kernel, rule, KERNELS, stride=request.stride)
    least = "the strip that costs the least"
    log.note("How many rows are in a pack?", shape.pack_size, least)
    log.note("How many threads stand side by side?", shape.lanes, least)
    log.note("How many threads has a block?", shape.block_size, least)
    log.note("How many blocks share a strip?", shape.cluster, least)
    log.note("How many packs does a thread hold?", shape.packs, "as few as hold the row")
    log.note("In how many places of a line?", shape.across, least)
    log.note("How many blocks is an SM to hold?", shape.resident, "as many as its registers and shared memory allow")
    strips = strip_shapes.strips(request, shape)
    blocks = whole_grid(request, log, strips * shape.cluster, "one cluster per strip", strips=strips)
    instantiation = kernel_of(request, shape.kernel, shape.numbers(once), None)
    return Choice(kernel, shape.pack_size, (shape.block_size, 1), blocks, instantiation, cluster=shape.cluster)


def _shared_by_grid(request: PlanRequest, log: StepLog, shape: StripShape, once: bool) -> StripGridShape | None:
    """The strip of blocks all over the GPU, if it costs less than ``shape``."""
    best = min(strip_grid.shapes(request), key=lambda other: strip_grid.cost(request, other), default=None)
    if best is None:
        return None
    shared, cluster = strip_grid.cost(request, best), strip_shapes.cost_of_long(request, shape, once)
    less = log.note(
        "Does a strip cost less where blocks all over the GPU share it?", shared < cluster,
        "a cluster has room for narrow strips of long rows, or reads them twice; costs are bytes that an SM could move",
        shared=round(shared), cluster=round(cluster), cols=request.cols,
    )  # fmt: skip
    return best if less else None


def _across_grid(request: PlanRequest, log: StepLog, shape: StripGridShape) -> Choice:
    """Blocks all over the GPU share the strips."""
    sms, least = request.device.sm_count, "the strip that costs the least"
    log.note(WHICH, STRIP_GRID, "blocks all over the GPU share a strip", KERNELS, stride=request.stride)
    log.note("Do 16 bytes divide the stride?", not shape.shifted, "else lines begin at any element")
    log.note("How many rows are in a pack?", shape.pack_size, "as many as divide the stride, and registers hold")
    log.note("How many rows has a strip?", shape.width, least)
    log.note("How many blocks share a strip?", shape.blocks_per_strip, least, sms=sms)
    groups = log.note("How many strips at once?", shape.groups, "the SMs divided by the blocks of a strip", sms=sms)
    log.note("How many strips does a block have in shared memory?", shape.stages, least)
    blocks = log.note("How many blocks?", groups * shape.blocks_per_strip, "all of them at once, one per SM")
    kernel = kernel_of(request, STRIP_GRID, shape.numbers, None)
    copied = WIDEST_PACK_BYTES // request.element.itemsize
    return Choice(
        STRIP_GRID, copied, (2 * shape.block_size + MAILBOX_THREADS, 1), blocks, kernel, shape.smem_bytes(request),
        cooperative=True, workspace_bytes=shape.workspace_bytes,
    )  # fmt: skip
