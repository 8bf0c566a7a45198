"""Rows along another axis than the last in the policy "fast": fast_columns.cuh, fast_strided.cuh and fast_shifted.cuh.

A block, or a cluster of blocks, takes a strip of neighbouring rows. The plan takes the shape of a strip that costs the
least (:mod:`softlab.plans.strip_shapes`).
"""

from __future__ import annotations

from softlab.errors import PlanError
from softlab.plans import strip_shapes
from softlab.plans.fast_limits import MOST_BLOCKS
from softlab.plans.fast_rows import WHICH, kernel_of
from softlab.plans.planner import Choice, PlanRequest, StepLog
from softlab.plans.strip_shapes import COLUMNS, SHIFTED, STRIDED

#: The kernels where a strip's rows are read twice.
STRIDED_STREAM, SHIFTED_STREAM = f"{STRIDED}_stream", f"{SHIFTED}_stream"
KERNELS = (COLUMNS, STRIDED, SHIFTED, STRIDED_STREAM, SHIFTED_STREAM)


def strided(request: PlanRequest, log: StepLog) -> Choice:
    """The strips for a request whose rows have neighbours ``stride`` elements apart.

    Raises:
        PlanError: the grid would be too large.
    """
    held = min(strip_shapes.shapes(request), key=lambda shape: strip_shapes.cost(request, shape), default=None)
    shape, once = held or strip_shapes.longest(request), held is not None
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
    blocks = log.note("How many blocks?", strips * shape.cluster, "one cluster per strip", strips=strips)
    if blocks > MOST_BLOCKS:
        raise PlanError(f"a grid has at most {MOST_BLOCKS} blocks; these rows take {blocks}")
    instantiation = kernel_of(request, shape.kernel, shape.numbers(once), None)
    return Choice(kernel, shape.pack_size, (shape.block_size, 1), blocks, instantiation, cluster=shape.cluster)
