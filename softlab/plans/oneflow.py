"""The policy "oneflow": the reference design's choice of kernel, pack, group, block and grid, each one recorded.

The rules are those of OneFlow's ``oneflow/core/cuda/softmax.cuh``. Thresholds and their reasons are here alone; the
block-size choice asks the occupancy arithmetic for the compiled kernel just as the original asks the CUDA runtime.
"""

from __future__ import annotations

from collections.abc import Callable

from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.hardware import occupancies
from softlab.hardware.occupancies import Occupancy
from softlab.plans import instantiations
from softlab.plans.instantiations import BLOCK_SIZES, WARP_BLOCK, Instantiation, WarpShape
from softlab.plans.planner import Choice, PlanRequest, StepLog, nothing_to_do

KERNELS = ("warp", "block_smem", "block_uncached")
COMPUTE_TYPES = ("float32", "float64")
#: What a plan can be forced to; the dispatcher itself takes 1 or 2.
PACK_SIZES = (1, 2, 4, 8)
#: Columns that the registers of a warp can keep.
WARP_COLS = instantiations.MAX_COLS_PER_THREAD * instantiations.WARP_SIZE
#: Threads per block of the uncached kernel: the most there can be, so that few rows compete for the caches.
UNCACHED_BLOCK = 1024
#: The grid has at most this many times the blocks that the GPU's threads could hold at once.
WAVES = 32
#: For rows of at most this many columns, the gradient's uncached kernel takes no packs.
GRADIENT_PACK_COLS = 32


def choose(request: PlanRequest, log: StepLog) -> Choice:
    """Decide; ``log`` records how.

    Raises:
        PlanError: a kernel or block size that the request insists on does not fit.
    """
    if nothing_to_do(request, log):
        return Choice("none", 0, (0, 0), 0, None)
    return _TRIES[_kernel(request, log)](request, log) or _block_uncached(request, log)


def _kernel(request: PlanRequest, log: StepLog) -> str:
    """The kernel to try first; shared memory may turn out too small."""
    which = "Which kernel?"
    if request.kernel:
        return log.note(which, request.kernel, "asked for", KERNELS)
    compute = log.note(
        "Which type is the arithmetic done in?",
        request.element.compute,
        "half and bfloat16 compute in float",
        COMPUTE_TYPES,
        dtype=request.element.name,
    )
    if compute == "float64":
        return log.note(which, "block_uncached", "double precision always takes this kernel", KERNELS, compute=compute)
    most = request.operator.warp_cols
    short = log.note(
        "Do the registers of one warp hold the row?",
        request.cols <= most,
        "the reference asks cols < 1024 for softmax, cols <= 1024 for log_softmax and the gradients",
        cols=request.cols,
        most=most,
    )
    if short:
        return log.note(which, "warp", "no shared memory, no barrier", KERNELS)
    return log.note(which, "block_smem", "if shared memory holds the row; else block_uncached", KERNELS)


def _pack_size(request: PlanRequest, log: StepLog, *, above: int = 0) -> int:
    question = "How many elements does a thread move at once?"
    if request.pack_size:
        return log.note(question, request.pack_size, "asked for", PACK_SIZES)
    rule = f"2 when cols is even{f' and more than {above}' if above else ''}, else 1"
    pack_size = 2 if request.cols % 2 == 0 and request.cols > above else 1
    return log.note(question, pack_size, rule, (2, 1), cols=request.cols)


def warp(request: PlanRequest, log: StepLog) -> Choice:
    """The warp kernel for a request.

    Raises:
        PlanError: the row is longer than a warp's registers, or the request insists on another block size.
    """
    if request.cols > WARP_COLS:
        raise PlanError(
            f"the registers of a warp hold a row of at most {WARP_COLS} columns; {request.cols} are "
            f"{request.cols - WARP_COLS} too many. Use kernel='block_smem' or 'block_uncached'."
        )
    if request.block_size not in (None, WARP_BLOCK):
        raise PlanError(f"the warp kernel has blocks of {WARP_BLOCK} threads, not {request.block_size}")
    shape = _warp_shape(request, log, _pack_size(request, log))
    groups_per_block = WARP_BLOCK // shape.thread_group_width
    row_groups = request.rows // shape.rows_per_access
    return Choice(
        "warp",
        shape.pack_size,
        (shape.thread_group_width, groups_per_block),
        _grid(request, log, -(-row_groups // groups_per_block), WARP_BLOCK),
        instantiations.warp(
            request.element.cuda, request.operator.algorithm, shape, backward=request.operator.backward
        ),
        warp=shape,
    )


def _warp_shape(request: PlanRequest, log: StepLog, pack_size: int) -> WarpShape:
    cols, lanes, widths = request.cols, "How many lanes own a row?", instantiations.GROUP_WIDTHS
    width = next((w for w in widths if cols <= w * pack_size), None)
    if width is not None:
        log.note(lanes, width, "the fewest that hold it with one pack each", widths, cols=cols, pack_size=pack_size)
        cols_per_thread = pack_size
        rows_per_access = 2 if request.rows % 2 == 0 else 1
        rule = "2 when rows is even, else 1"
    else:
        width = log.note(lanes, instantiations.WARP_SIZE, "a whole warp", widths, cols=cols, pack_size=pack_size)
        cols_per_thread = pack_size * -(-cols // (width * pack_size))
        rows_per_access, rule = 1, "1 for rows of more than one pack per lane"
    log.note("How many rows at a time?", rows_per_access, rule, (2, 1), rows=request.rows)
    whole_packs = tuple(range(pack_size, instantiations.MAX_COLS_PER_THREAD + 1, pack_size))
    rule = "the fewest packs that hold the row"
    held = "How many columns does a lane hold?"
    log.note(held, cols_per_thread, rule, whole_packs, cols=cols, lanes=width, pack_size=pack_size)
    padding = log.note(
        "Do lanes hold columns beyond the row?",
        cols_per_thread * width != cols,
        held=cols_per_thread * width,
        cols=cols,
    )
    return WarpShape(pack_size, cols_per_thread, width, rows_per_access, padding)


def _block_smem(request: PlanRequest, log: StepLog) -> Choice | None:
    """None where shared memory is too small and the request does not name the kernel."""
    pack_size = _pack_size(request, log)
    compute = element_type(request.element.compute)
    smem_bytes = request.operator.rows_kept * request.cols * compute.itemsize
    block_size = _smem_block_size(request, log, pack_size, smem_bytes)
    if block_size is None:
        return None
    return Choice(
        "block_smem",
        pack_size,
        (block_size, 1),
        _grid(request, log, request.rows, block_size),
        _smem_kernel(request, pack_size, block_size),
        smem_bytes=smem_bytes,
        layout=request.layout,
    )


def _smem_kernel(request: PlanRequest, pack_size: int, block_size: int) -> Instantiation:
    return instantiations.block_smem(
        request.element.cuda,
        request.operator.algorithm,
        pack_size,
        block_size,
        request.layout,
        backward=request.operator.backward,
    )


def _smem_block_size(request: PlanRequest, log: StepLog, pack_size: int, smem_bytes: int) -> int | None:
    """The most blocks per SM, then the most threads per block; None where not one block fits."""
    which, largest_first = "Which block size?", BLOCK_SIZES[::-1]
    smallest, *larger = (request.block_size,) if request.block_size else BLOCK_SIZES
    rule = "asked for" if request.block_size else "the smallest block comes first"
    first = _held(request, log, pack_size, smem_bytes, smallest, rule)
    if not first.blocks_per_sm:
        if request.kernel:
            raise PlanError(f"the shared-memory kernel does not fit in blocks of {smallest}: {first.reason}")
        log.note("Which kernel?", "block_uncached", f"shared memory does not hold the row: {first.reason}", KERNELS)
        return None
    wanted = first.blocks_per_sm
    for block_size in reversed(larger):
        rule = f"the largest block size at which an SM still holds {wanted}"
        if _held(request, log, pack_size, smem_bytes, block_size, rule, wanted=wanted).blocks_per_sm == wanted:
            return log.note(which, block_size, "the largest with as many blocks per SM as the smallest", largest_first)
    rule = "asked for" if request.block_size else "with larger blocks an SM holds fewer"
    return log.note(which, smallest, rule, largest_first)


def _held(
    request: PlanRequest, log: StepLog, pack_size: int, smem_bytes: int, block_size: int, rule: str, **compared: int
) -> Occupancy:
    """One query of the occupancy arithmetic, noted as a step."""
    taken = request.resources(_smem_kernel(request, pack_size, block_size))
    held = occupancies.occupancy(
        request.device,
        threads=block_size,
        registers=taken.registers,
        smem=taken.static_smem_bytes + smem_bytes,
        opt_in=False,
    )
    log.note(
        f"How many blocks of {block_size} threads does an SM hold?",
        held.blocks_per_sm,
        rule,
        block_size=block_size,
        registers=taken.registers,
        static_smem_bytes=taken.static_smem_bytes,
        smem_bytes=smem_bytes,
        limits=held.limits,
        limiters=held.limiters,
        **compared,
    )
    return held


def _block_uncached(request: PlanRequest, log: StepLog) -> Choice:
    backward = request.operator.backward
    pack_size = _pack_size(request, log, above=GRADIENT_PACK_COLS if backward else 0)
    block_size = request.block_size or UNCACHED_BLOCK
    rule = "asked for" if request.block_size else "the largest: fewer rows compete for the caches"
    log.note("Which block size?", block_size, rule, BLOCK_SIZES[::-1])
    return Choice(
        "block_uncached",
        pack_size,
        (block_size, 1),
        _grid(request, log, request.rows, block_size),
        instantiations.block_uncached(
            request.element.cuda, request.operator.algorithm, pack_size, block_size, backward=backward
        ),
    )


def _grid(request: PlanRequest, log: StepLog, needed: int, block_size: int) -> int:
    """Integer arithmetic from left to right, as the reference computes it."""
    at_most = request.device.sm_count * request.device.max_threads_per_sm // block_size * WAVES
    return log.note(
        "How many blocks?",
        max(1, min(needed, at_most)),
        f"as many as the rows need, at most {WAVES} times as many as the GPU can hold by its threads",
        needed=needed,
        at_most=at_most,
    )


_TRIES: dict[str, Callable[[PlanRequest, StepLog], Choice | None]] = {
    "warp": warp,
    "block_smem": _block_smem,
    "block_uncached": _block_uncached,
}
