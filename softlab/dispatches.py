"""Dispatch: the reference design's choice of kernel, pack, group, block and grid, each question written down.

The rules are those of OneFlow's ``oneflow/core/cuda/softmax.cuh``. Thresholds and their reasons stand here once; the
block-size choice asks the occupancy arithmetic for the compiled kernel just as the original asks the CUDA runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from softlab import instantiations, occupancies
from softlab.devices import Device
from softlab.dtypes import ElementType, element_type
from softlab.errors import PlanError
from softlab.instantiations import BLOCK_SIZES, WARP_BLOCK, Instantiation, WarpShape
from softlab.occupancies import Occupancy
from softlab.resources import Resources

KERNELS = ("warp", "block_smem", "block_uncached")
COMPUTE_TYPES = ("float32", "float64")
#: What a plan can be forced to; the dispatcher itself takes 1 or 2.
PACK_SIZES = (1, 2, 4, 8)
#: Columns that the registers of a warp can keep.
WARP_COLS = instantiations.MAX_COLS_PER_THREAD * instantiations.WARP_SIZE
#: Threads a block of the uncached kernel: the largest there is, so that few rows compete for the caches.
UNCACHED_BLOCK = 1024
#: The grid is at most so many times what the GPU's threads could hold at once.
WAVES = 32
#: Up to so many columns the gradient's uncached kernel takes no packs.
GRADIENT_PACK_COLS = 32

#: (instantiation, architecture, options) -> its registers and shared memory.
Lookup = Callable[[Instantiation, str, tuple[str, ...]], Resources]


@dataclass(frozen=True)
class Operator:
    """What dispatch has to know of an operator.

    ``algorithm`` names it in the kernels; ``warp_cols`` is the longest row that goes to the warp kernel (the reference
    asks cols < 1024 for softmax, cols <= 1024 for the others); ``rows_kept`` the rows that a block keeps in shared
    memory (a gradient needs y and dy); ``uncached_reads`` the elements that the uncached kernel reads for each that it
    writes. (A gradient has no maximum to find: two passes. log_softmax's sums dy alone, so y is read in the second.)
    """

    name: str
    algorithm: str
    backward: bool
    warp_cols: int
    rows_kept: int
    uncached_reads: int


OPERATORS = {
    operator.name: operator
    for operator in (
        Operator("softmax", "softmax", False, 1023, 1, 3),
        Operator("log_softmax", "log_softmax", False, 1024, 1, 3),
        Operator("softmax_backward", "softmax", True, 1024, 2, 4),
        Operator("log_softmax_backward", "log_softmax", True, 1024, 2, 3),
    )
}


@dataclass(frozen=True)
class Step:
    """One choice: the ``question``, the ``values`` it was decided by (name -> value), the ``answer``, and the rule.

    ``choices`` are the answers that there could have been, in the order in which they are tried; empty where the answer
    is a number that was found, not chosen.
    """

    question: str
    values: dict[str, Any]
    answer: Any
    rule: str = ""
    choices: tuple[Any, ...] = ()

    def __str__(self) -> str:
        values = ", ".join(f"{name} {shown(value)}" for name, value in self.values.items())
        return f"{self.question} {shown(self.answer)}" + (f"  ({values})" if values else "")


@dataclass(frozen=True)
class Request:
    """What is asked, checked; None leaves a choice to the dispatcher. ``steps`` gathers the choices made."""

    rows: int
    cols: int
    element: ElementType
    operator: Operator
    device: Device
    options: tuple[str, ...]
    lookup: Lookup
    kernel: str | None = None
    pack_size: int | None = None
    block_size: int | None = None
    layout: str = "column"
    policy: str = "oneflow"
    steps: list[Step] = field(default_factory=list)

    def ask(self, question: str, answer: Any, rule: str = "", choices: tuple[Any, ...] = (), /, **values: Any) -> Any:
        """Note a choice, and hand its answer on. A yes or no needs no ``choices``."""
        if isinstance(answer, bool):
            choices = (True, False)
        self.steps.append(Step(question, values, answer, rule, choices))
        return answer

    def resources(self, instantiation: Instantiation) -> Resources:
        """Registers and static shared memory of a kernel, compiled as this request compiles it."""
        return self.lookup(instantiation, self.device.arch, self.options)


@dataclass(frozen=True)
class Choice:
    """What dispatch decided: see :class:`softlab.plans.Plan` for the fields that it shares with it."""

    kernel: str
    pack_size: int
    block: tuple[int, int]
    grid: int
    instantiation: Instantiation | None
    smem_bytes: int = 0
    warp: WarpShape | None = None
    layout: str | None = None
    cluster: int | None = None
    cooperative: bool = False
    workspace_bytes: int = 0


def choose(request: Request) -> Choice:
    """Decide; the steps are left in ``request.steps``.

    Raises:
        PlanError: a kernel or block size that the request insists on does not fit.
    """
    if nothing_to_do(request):
        return Choice("none", 0, (0, 0), 0, None)
    return _TRIES[_kernel(request)](request) or _block_uncached(request)


def nothing_to_do(request: Request) -> bool:
    """Whether the input is empty; a step says so."""
    if request.rows and request.cols:
        return False
    request.ask("Is there anything to do?", False, rows=request.rows, cols=request.cols)
    return True


def _kernel(request: Request) -> str:
    """The kernel to try first; shared memory may turn out too small."""
    which = "Which kernel?"
    if request.kernel:
        return request.ask(which, request.kernel, "asked for", KERNELS)
    compute = request.ask(
        "Which type is the arithmetic done in?",
        request.element.compute,
        "half and bfloat16 compute in float",
        COMPUTE_TYPES,
        dtype=request.element.name,
    )
    if compute == "float64":
        return request.ask(which, "block_uncached", "double precision is always uncached", KERNELS, compute=compute)
    most = request.operator.warp_cols
    short = request.ask(
        "Do a warp's registers keep the row?",
        request.cols <= most,
        "the reference asks cols < 1024 for softmax, cols <= 1024 for log_softmax and the gradients",
        cols=request.cols,
        most=most,
    )
    if short:
        return request.ask(which, "warp", "no shared memory, no barrier", KERNELS)
    return request.ask(which, "block_smem", "if shared memory keeps the row; else block_uncached", KERNELS)


def _pack_size(request: Request, *, above: int = 0) -> int:
    question = "How many elements does a thread move at once?"
    if request.pack_size:
        return request.ask(question, request.pack_size, "asked for", PACK_SIZES)
    rule = f"2 when cols is even{f' and more than {above}' if above else ''}, else 1"
    pack_size = 2 if request.cols % 2 == 0 and request.cols > above else 1
    return request.ask(question, pack_size, rule, (2, 1), cols=request.cols)


def _warp(request: Request) -> Choice:
    if request.cols > WARP_COLS:
        raise PlanError(
            f"the registers of a warp keep a row of at most {WARP_COLS} columns; {request.cols} are "
            f"{request.cols - WARP_COLS} too many. Use kernel='block_smem' or 'block_uncached'."
        )
    if request.block_size not in (None, WARP_BLOCK):
        raise PlanError(f"the warp kernel has blocks of {WARP_BLOCK} threads, not {request.block_size}")
    shape = _warp_shape(request, _pack_size(request))
    groups_a_block = WARP_BLOCK // shape.thread_group_width
    row_groups = request.rows // shape.rows_per_access
    return Choice(
        "warp",
        shape.pack_size,
        (shape.thread_group_width, groups_a_block),
        _grid(request, -(-row_groups // groups_a_block), WARP_BLOCK),
        instantiations.warp(
            request.element.cuda, request.operator.algorithm, shape, backward=request.operator.backward
        ),
        warp=shape,
    )


def _warp_shape(request: Request, pack_size: int) -> WarpShape:
    cols, lanes, widths = request.cols, "How many lanes own a row?", instantiations.GROUP_WIDTHS
    width = next((w for w in widths if cols <= w * pack_size), None)
    if width is not None:
        request.ask(lanes, width, "the fewest that hold it with one pack each", widths, cols=cols, pack_size=pack_size)
        cols_per_thread = pack_size
        rows_per_access = 2 if request.rows % 2 == 0 else 1
        rule = "2 when rows is even, else 1"
    else:
        width = request.ask(lanes, instantiations.WARP_SIZE, "a whole warp", widths, cols=cols, pack_size=pack_size)
        cols_per_thread = pack_size * -(-cols // (width * pack_size))
        rows_per_access, rule = 1, "1 for rows of more than one pack a lane"
    request.ask("How many rows at a time?", rows_per_access, rule, (2, 1), rows=request.rows)
    whole_packs = tuple(range(pack_size, instantiations.MAX_COLS_PER_THREAD + 1, pack_size))
    rule = "the fewest packs that reach the row's end"
    held = "How many columns does a lane hold?"
    request.ask(held, cols_per_thread, rule, whole_packs, cols=cols, lanes=width, pack_size=pack_size)
    padding = request.ask(
        "Do lanes hold columns beyond the row?",
        cols_per_thread * width != cols,
        held=cols_per_thread * width,
        cols=cols,
    )
    return WarpShape(pack_size, cols_per_thread, width, rows_per_access, padding)


def _block_smem(request: Request) -> Choice | None:
    """None where shared memory is too small and the request leaves the kernel open."""
    pack_size = _pack_size(request)
    compute = element_type(request.element.compute)
    smem_bytes = request.operator.rows_kept * request.cols * compute.itemsize
    block_size = _smem_block_size(request, pack_size, smem_bytes)
    if block_size is None:
        return None
    return Choice(
        "block_smem",
        pack_size,
        (block_size, 1),
        _grid(request, request.rows, block_size),
        _smem_kernel(request, pack_size, block_size),
        smem_bytes=smem_bytes,
        layout=request.layout,
    )


def _smem_kernel(request: Request, pack_size: int, block_size: int) -> Instantiation:
    return instantiations.block_smem(
        request.element.cuda,
        request.operator.algorithm,
        pack_size,
        block_size,
        request.layout,
        backward=request.operator.backward,
    )


def _smem_block_size(request: Request, pack_size: int, smem_bytes: int) -> int | None:
    """As many blocks an SM as there can be, then as many threads a block; None where not one block fits."""
    which, largest_first = "Which block size?", BLOCK_SIZES[::-1]
    smallest, *larger = (request.block_size,) if request.block_size else BLOCK_SIZES
    rule = "asked for" if request.block_size else "the smallest block is asked about first"
    first = _held(request, pack_size, smem_bytes, smallest, rule)
    if not first.blocks_per_sm:
        if request.kernel:
            raise PlanError(f"the shared-memory kernel does not fit in blocks of {smallest}: {first.reason}")
        request.ask("Which kernel?", "block_uncached", f"shared memory does not keep the row: {first.reason}", KERNELS)
        return None
    wanted = first.blocks_per_sm
    for block_size in reversed(larger):
        rule = f"the largest block that still lets an SM hold {wanted}"
        if _held(request, pack_size, smem_bytes, block_size, rule, wanted=wanted).blocks_per_sm == wanted:
            return request.ask(
                which, block_size, "the largest with as many blocks an SM as the smallest", largest_first
            )
    rule = "asked for" if request.block_size else "no larger one leaves an SM as many blocks"
    return request.ask(which, smallest, rule, largest_first)


def _held(request: Request, pack_size: int, smem_bytes: int, block_size: int, rule: str, **compared: int) -> Occupancy:
    """One query of the occupancy arithmetic, noted as a step."""
    taken = request.resources(_smem_kernel(request, pack_size, block_size))
    held = occupancies.occupancy(
        request.device,
        threads=block_size,
        registers=taken.registers,
        smem=taken.static_smem_bytes + smem_bytes,
        opt_in=False,
    )
    request.ask(
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


def _block_uncached(request: Request) -> Choice:
    backward = request.operator.backward
    pack_size = _pack_size(request, above=GRADIENT_PACK_COLS if backward else 0)
    block_size = request.block_size or UNCACHED_BLOCK
    rule = "asked for" if request.block_size else "the largest: fewer rows in flight, more of each in the caches"
    request.ask("Which block size?", block_size, rule, BLOCK_SIZES[::-1])
    return Choice(
        "block_uncached",
        pack_size,
        (block_size, 1),
        _grid(request, request.rows, block_size),
        instantiations.block_uncached(
            request.element.cuda, request.operator.algorithm, pack_size, block_size, backward=backward
        ),
    )


def _grid(request: Request, needed: int, block_size: int) -> int:
    """In integers and left to right, as the reference computes it."""
    at_most = request.device.sm_count * request.device.max_threads_per_sm // block_size * WAVES
    return request.ask(
        "How many blocks?",
        max(1, min(needed, at_most)),
        f"as many as the rows need, at most {WAVES} times what the GPU's threads fill",
        needed=needed,
        at_most=at_most,
    )


_TRIES: dict[str, Callable[[Request], Choice | None]] = {
    "warp": _warp,
    "block_smem": _block_smem,
    "block_uncached": _block_uncached,
}


def shown(value: Any) -> str:
    """A value or answer of a step as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {entry}" for name, entry in value.items()) + "}"
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
