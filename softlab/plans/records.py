"""A plan as frozen data: what was decided, the tree of its questions, and the alternatives to it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.hardware import occupancies
from softlab.hardware.devices import Device
from softlab.hardware.occupancies import Occupancy
from softlab.plans import fast, first_rungs, oneflow
from softlab.plans.fast_strided import SHIFTED, SHIFTED_STREAM, STRIDED_STREAM
from softlab.plans.instantiations import BLOCK_SIZES, WARP_BLOCK, WarpShape
from softlab.plans.planner import OPERATORS, Lookup, PlanRequest, Step, StepLog, compiled, shown
from softlab.plans.resources import Resources
from softlab.plans.strip_grid import STRIP_GRID

#: Policy -> the function that decides by it.
_CHOOSERS = MappingProxyType({"oneflow": oneflow.choose, "fast": fast.choose, "invariant": fast.choose})
POLICIES = tuple(_CHOOSERS)


@dataclass(frozen=True)
class Plan:
    """One launch, decided.

    ``kernel`` is "warp", "block_smem" or "block_uncached". For an empty input it is "none" and ``grid`` is 0: nothing
    is launched. ``block`` is (x, y) threads, ``grid`` the number of blocks. ``smem_bytes`` is the dynamic shared memory
    per block. ``static_smem_bytes`` (per block) and ``registers`` (per thread) are the compiled kernel's on ``arch``.
    Only the warp kernel has ``thread_group_width``, ``cols_per_thread``, ``rows_per_access`` and ``padding``, and only
    the shared-memory kernel has ``layout``; otherwise they are None. ``file`` and ``name`` say what to compile with
    ``options``: the file under ``kernels/`` and NVRTC's name expression. ``steps`` holds every choice in order.

    A plan can be forced to the first rungs of the ladder, "naive_row", "naive_block" and "online_warp".

    The policy "fast" takes "warp" for a few of the shortest rows. Its own kernels are "fast_tile" (many short rows),
    "fast_warp" (which has the fields of the warp kernel), "fast_block", "fast_cluster", "fast_grid", "fast_ring",
    "fast_pipeline" and "fast_stream". The cluster, pipeline and stream kernels have ``cluster``, the blocks that share
    a row. If ``cooperative``, blocks wait for others anywhere in the grid, so that the GPU must hold all of them at
    once. If ``workspace_bytes`` is not 0, the blocks exchange values in that many bytes of global memory. The kernel
    takes a pointer to them after its output. ``read_again`` are the elements of a row that "fast_ring" reads twice,
    because the ring does not hold them.

    Where ``stride`` is not 1, neighbours of a row are ``stride`` elements apart, and the policy "fast" takes
    "fast_columns" (rows of a few elements), "fast_strided", "fast_shifted" (strides that no pack divides), for long
    rows "fast_strip_grid", "fast_strided_stream" or "fast_shifted_stream". The kernel takes the stride after the
    columns.

    The policy "invariant" takes "invariant_tile", "invariant_warp", "invariant_block", "invariant_cluster" and
    "invariant_stream": those kernels with sums that have the same bits in any order.
    """

    rows: int
    cols: int
    dtype: str
    op: str
    policy: str
    device: Device
    kernel: str
    pack_size: int
    block: tuple[int, int]
    grid: int
    smem_bytes: int
    static_smem_bytes: int
    registers: int
    file: str
    name: str
    options: tuple[str, ...] = ()
    thread_group_width: int | None = None
    cols_per_thread: int | None = None
    rows_per_access: int | None = None
    padding: bool | None = None
    layout: str | None = None
    cluster: int | None = None
    cooperative: bool = False
    workspace_bytes: int = 0
    read_again: int = 0
    stride: int = 1
    steps: tuple[Step, ...] = ()

    @property
    def arch(self) -> str:
        """The architecture to compile for: "sm_90"."""
        return self.device.arch

    @property
    def block_size(self) -> int:
        """Threads per block."""
        return self.block[0] * self.block[1]

    @property
    def occupancy(self) -> Occupancy:
        """What an SM of the device holds of this kernel.

        Raises:
            PlanError: the plan of an empty input launches nothing.
        """
        if not self.grid:
            raise PlanError(f"no occupancy: an input of {self.rows} x {self.cols} launches nothing")
        return occupancies.occupancy(self)

    @property
    def waves(self) -> float:
        """How many times the grid fills the GPU: blocks / (blocks per SM x SMs)."""
        return self.grid / (self.occupancy.blocks_per_sm * self.device.sm_count)

    @property
    def global_bytes(self) -> int:
        """Bytes that the kernel requests from global memory: every read and the write of each element.

        A kernel that does not keep a row reads it two or three times. Only a measurement shows how much of that the
        caches serve. A gradient has two inputs.
        """
        operator = OPERATORS[self.op]
        again = {
            "block_uncached": operator.uncached_reads,
            fast.STREAM: 2 * operator.rows_kept,
            STRIDED_STREAM: 2 * operator.rows_kept,
            SHIFTED_STREAM: 2 * operator.rows_kept,
            "invariant_stream": 3 * operator.rows_kept,
            **first_rungs.READS,
        }
        reads = again.get(self.kernel, operator.rows_kept)
        moved = (reads + 1) * self.cols + operator.rows_kept * self.read_again
        return moved * self.rows * element_type(self.dtype).itemsize

    @property
    def in_place(self) -> bool:
        """Whether the result may take the memory of an input.

        In the kernels "fast_shifted" and "fast_shifted_stream" a block reads elements that its neighbour writes. In
        "fast_strip_grid" it does so where packs do not divide the stride.
        """
        whole_packs = self.kernel == STRIP_GRID and self.stride % self.pack_size == 0
        return whole_packs or self.kernel not in (SHIFTED, SHIFTED_STREAM, STRIP_GRID)

    def alternatives(self, *, lookup: Lookup | None = None) -> tuple[Alternative, ...]:
        """Each kernel of the reference at each block size for the same problem, and this plan among them.

        The dispatcher makes the other choices for each, such as the pack. ``lookup`` is that of :func:`plan`. An empty
        input has no alternatives.
        """
        choices = [("warp", WARP_BLOCK)]
        if self.kernel not in oneflow.KERNELS:
            choices.insert(0, (self.kernel, self.block_size))
        choices += [(kernel, size) for kernel in ("block_smem", "block_uncached") for size in BLOCK_SIZES]
        return tuple(self._alternative(kernel, size, lookup) for kernel, size in choices) if self.grid else ()

    def _alternative(self, kernel: str, block_size: int, lookup: Lookup | None) -> Alternative:
        if (kernel, block_size) == (self.kernel, self.block_size):
            return Alternative(kernel, block_size, True, self)
        request = PlanRequest(
            rows=self.rows,
            cols=self.cols,
            element=element_type(self.dtype),
            operator=OPERATORS[self.op],
            device=self.device,
            options=self.options,
            lookup=lookup or compiled,
            kernel=kernel,
            block_size=block_size,
            layout=self.layout or "column",
        )
        try:
            other = decided(request)
        except PlanError as error:
            return Alternative(kernel, block_size, False, None, str(error))
        return Alternative(kernel, block_size, False, other)

    def tree(self) -> Node:
        """The dispatch as a tree: each question with all its answers. The plan's own answers are lit."""
        node = Node(f"{self.kernel}, {self.grid} blocks", True)
        for step in reversed(self.steps):
            answers = step.choices if step.answer in step.choices else (step.answer,)
            node = Node(
                step.question,
                True,
                tuple(Node(shown(a), a == step.answer, (node,) if a == step.answer else ()) for a in answers),
            )
        return Node(f"{self.op}, {self.rows} x {self.cols} {self.dtype}, {self.device.name}", True, (node,))

    def record(self) -> dict[str, Any]:
        """The plan as plain data for JSON: the device by name, the steps as dicts."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        steps = [{f.name: getattr(step, f.name) for f in fields(step)} for step in self.steps]
        return {**plain, "device": self.device.name, "arch": self.arch, "block": list(self.block),
                "options": list(self.options), "steps": steps}  # fmt: skip

    def __str__(self) -> str:
        head = f"{self.op} of {self.rows} x {self.cols} {self.dtype} on {self.device.name} ({self.arch}): {self.kernel}"
        return "\n".join([head, *(f"{k:3d}. {step}" for k, step in enumerate(self.steps, 1))])

    def __repr__(self) -> str:
        return (
            f"<Plan {self.op} {self.rows} x {self.cols} {self.dtype} on {self.device.name}: {self.kernel}, "
            f"pack {self.pack_size}, block {self.block}, grid {self.grid}>"
        )


@dataclass(frozen=True)
class Node:
    """One node in the tree of a plan. The children of a question are its answers. The child of the plan's answer is the
    next question. ``lit`` marks the questions and answers of the plan."""

    label: str
    lit: bool
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """The plan with another kernel or block size, or the ``reason`` why there is none."""

    kernel: str
    block_size: int
    chosen: bool
    plan: Plan | None
    reason: str = ""


def decided(request: PlanRequest) -> Plan:
    """The plan that the request's policy makes.

    Raises:
        PlanError: the policy finds nothing that can be launched.
    """
    log = StepLog()
    forced = request.policy == "oneflow" and request.kernel in first_rungs.KERNELS
    choice = (first_rungs.choose if forced else _CHOOSERS[request.policy])(request, log)
    kernel = choice.instantiation
    taken = request.resources(kernel) if kernel else Resources(0, 0, 0, 0, "")
    return Plan(
        rows=request.rows,
        cols=request.cols,
        dtype=request.element.name,
        op=request.operator.name,
        policy=request.policy,
        device=request.device,
        kernel=choice.kernel,
        pack_size=choice.pack_size,
        block=choice.block,
        grid=choice.grid,
        smem_bytes=choice.smem_bytes,
        static_smem_bytes=taken.static_smem_bytes,
        registers=taken.registers,
        file=kernel.file if kernel else "",
        name=kernel.name if kernel else "",
        options=request.options,
        layout=choice.layout,
        cluster=choice.cluster,
        cooperative=choice.cooperative,
        workspace_bytes=choice.workspace_bytes,
        read_again=choice.read_again,
        stride=request.stride,
        steps=log.steps,
        **_warp_fields(choice.warp),
    )


def _warp_fields(shape: WarpShape | None) -> dict[str, Any]:
    names = ("thread_group_width", "cols_per_thread", "rows_per_access", "padding")
    return {name: getattr(shape, name) for name in names} if shape else {}
