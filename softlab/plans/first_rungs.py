"""Plans for the first kernels of the ladder, which no policy chooses: a caller forces them.

"naive_row" gives each row to a thread, "naive_block" each row to a block with one element per thread, "online_warp"
each row to a warp that finds the maximum and the sum in one pass. They take the forward softmax of every type.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.plans.instantiations import WARP_SIZE, Instantiation
from softlab.plans.planner import Choice, PlanRequest, StepLog, nothing_to_do

#: Threads per block of naive_row and online_warp.
BLOCK_SIZE = 128
#: The most threads per block, so the longest row of naive_block.
MOST_THREADS = 1024
#: The most blocks of a grid along x (CUDA C++ Programming Guide, "Compute Capabilities").
MOST_BLOCKS = 2**31 - 1
#: How often a kernel reads each element.
READS = MappingProxyType({"naive_row": 3, "naive_block": 1, "online_warp": 2})


def choose(request: PlanRequest, log: StepLog) -> Choice:
    """The launch of the kernel that the request names; ``log`` records how.

    Raises:
        PlanError: the kernel does not take this operator, these packs, this block size or rows of this length.
    """
    kernel = request.kernel or ""
    if request.operator.name != "softmax":
        raise PlanError(f"{kernel} computes softmax alone, not {request.operator.name}; use another kernel")
    if request.pack_size not in (None, 1):
        raise PlanError(f"{kernel} moves one element at a time, not packs of {request.pack_size}")
    if nothing_to_do(request, log):
        return Choice("none", 0, (0, 0), 0, None)
    log.note("Which kernel?", kernel, "asked for", KERNELS)
    return _LAUNCHES[kernel](request, log)


def _naive_row(request: PlanRequest, log: StepLog) -> Choice:
    return _launch(request, log, "naive_row", BLOCK_SIZE, rows_per_block=BLOCK_SIZE)


def _online_warp(request: PlanRequest, log: StepLog) -> Choice:
    return _launch(request, log, "online_warp", BLOCK_SIZE, rows_per_block=BLOCK_SIZE // WARP_SIZE)


def _naive_block(request: PlanRequest, log: StepLog) -> Choice:
    if request.cols > MOST_THREADS:
        raise PlanError(
            f"naive_block has one thread per element, at most {MOST_THREADS} in a block; a row of {request.cols} "
            f"columns has {request.cols - MOST_THREADS} too many. Use kernel='online_warp'."
        )
    block_size = 1 << (request.cols - 1).bit_length()
    smem_bytes = block_size * element_type(request.element.compute).itemsize
    return _launch(request, log, "naive_block", block_size, rows_per_block=1, smem_bytes=smem_bytes)


def _launch(
    request: PlanRequest, log: StepLog, kernel: str, block_size: int, *, rows_per_block: int, smem_bytes: int = 0
) -> Choice:
    if request.block_size not in (None, block_size):
        raise PlanError(f"{kernel} has blocks of {block_size} threads here, not {request.block_size}")
    rule = "the smallest power of two that holds the row" if kernel == "naive_block" else "always"
    log.note("Which block size?", block_size, rule, cols=request.cols)
    blocks = -(-request.rows // rows_per_block)
    if blocks > MOST_BLOCKS:
        raise PlanError(f"{kernel} needs {blocks} blocks for {request.rows} rows; a grid has at most {MOST_BLOCKS}")
    log.note("How many blocks?", blocks, f"{rows_per_block} rows per block", rows=request.rows)
    name = f"{kernel}<{request.element.cuda}>"
    return Choice(kernel, 1, (block_size, 1), blocks, Instantiation(f"{kernel}.cuh", name), smem_bytes)


_LAUNCHES: MappingProxyType[str, Callable[[PlanRequest, StepLog], Choice]] = MappingProxyType(
    {"naive_row": _naive_row, "naive_block": _naive_block, "online_warp": _online_warp}
)
KERNELS = tuple(_LAUNCHES)
