"""Plans: which kernel, pack, block and grid a softmax takes on a GPU, and every question asked on the way there.

A plan is made before anything runs, from the shape, the type and the device's limits alone. The policy "oneflow" is the
reference design's own dispatch (:mod:`softlab.dispatches`), "fast" is ours (:mod:`softlab.fast_dispatches`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from operator import index
from types import MappingProxyType
from typing import Any

from softlab import dispatches, fast_dispatches, instantiations, occupancies
from softlab import resources as shipped
from softlab.devices import Device, resolve
from softlab.dispatches import KERNELS, OPERATORS, PACK_SIZES, Lookup, Request, Step, shown
from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.instantiations import BLOCK_SIZES, WARP_BLOCK, Instantiation, WarpShape
from softlab.occupancies import Occupancy
from softlab.resources import Resources

__all__ = ["Alternative", "Node", "Plan", "Step", "forced", "plan"]

#: Policy -> what decides by it.
_CHOOSERS = MappingProxyType({"oneflow": dispatches.choose, "fast": fast_dispatches.choose})
POLICIES = tuple(_CHOOSERS)


@dataclass(frozen=True)
class Plan:
    """One launch, decided.

    ``kernel`` is "warp", "block_smem" or "block_uncached", or "none" for an empty input (``grid`` is then 0: nothing is
    launched). ``block`` is (x, y) threads, ``grid`` the number of blocks. ``smem_bytes`` is dynamic;
    ``static_smem_bytes`` and ``registers`` (a thread) are the compiled kernel's on ``arch``. The warp kernel alone has
    ``thread_group_width``, ``cols_per_thread``, ``rows_per_access`` and ``padding``, the shared-memory kernel alone
    ``layout``; they are None elsewhere. The kernels of the policy "fast" are "fast_warp" (which has the fields of
    the warp kernel), "fast_block", "fast_cluster", "fast_grid", "fast_ring" and "fast_stream"; of these the
    cluster, ring and stream kernels have ``cluster``, the blocks that share a row. Where ``cooperative``, blocks
    wait for others anywhere in the grid, so that the GPU must hold all of them at once. Where ``workspace_bytes``
    is not 0, they meet in so many bytes of global memory, and the kernel takes a pointer to these right behind its
    output. ``file`` and ``name`` say what to compile (under ``kernels/``, NVRTC's name expression), with
    ``options``. ``steps`` holds every choice in order.
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
    steps: tuple[Step, ...] = ()

    @property
    def arch(self) -> str:
        """The architecture to compile for: "sm_90"."""
        return self.device.arch

    @property
    def block_size(self) -> int:
        """Threads a block."""
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
        """How many times the grid fills the GPU: blocks / (blocks an SM holds x SMs)."""
        return self.grid / (self.occupancy.blocks_per_sm * self.device.sm_count)

    @property
    def global_bytes(self) -> int:
        """Bytes that the kernel asks of global memory: every read and the write of each element.

        The uncached kernel reads a row three times, a gradient's twice, the stream kernel every row twice; how much of
        that the caches serve is for a measurement to say. A gradient has two inputs.
        """
        operator = OPERATORS[self.op]
        again = {"block_uncached": operator.uncached_reads, fast_dispatches.STREAM: 2 * operator.rows_kept}
        reads = again.get(self.kernel, operator.rows_kept)
        return (reads + 1) * self.rows * self.cols * element_type(self.dtype).itemsize

    def alternatives(self, *, lookup: Lookup | None = None) -> tuple[Alternative, ...]:
        """Every way to run the same problem, this one among them: each kernel of the reference at each block size.

        What only the dispatcher can decide (the pack, the group of lanes) it decides for each. ``lookup`` as in
        :func:`plan`. Empty for an empty input.
        """
        choices = [] if self.policy == "oneflow" else [(self.kernel, self.block_size)]
        choices += [("warp", WARP_BLOCK)]
        choices += [(kernel, size) for kernel in ("block_smem", "block_uncached") for size in BLOCK_SIZES]
        return tuple(self._alternative(kernel, size, lookup) for kernel, size in choices) if self.grid else ()

    def _alternative(self, kernel: str, block_size: int, lookup: Lookup | None) -> Alternative:
        if (kernel, block_size) == (self.kernel, self.block_size):
            return Alternative(kernel, block_size, True, self)
        try:
            other = forced(
                self.rows,
                self.cols,
                self.dtype,
                kernel=kernel,
                block_size=block_size,
                layout=self.layout,
                op=self.op,
                device=self.device,
                options=self.options,
                lookup=lookup,
            )
        except PlanError as error:
            return Alternative(kernel, block_size, False, None, str(error))
        return Alternative(kernel, block_size, False, other)

    def tree(self) -> Node:
        """The way through the dispatch as a tree: each question with all its answers, the plan's own lit."""
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
    """A place in the tree of a plan: a question, whose children are its answers; or an answer, whose child is the next
    question on the way that the plan took. ``lit`` marks that way."""

    label: str
    lit: bool
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """A counterfactual: the plan with another kernel or block size, or the ``reason`` why there is none."""

    kernel: str
    block_size: int
    chosen: bool
    plan: Plan | None
    reason: str = ""


def plan(
    rows: int,
    cols: int,
    dtype: Any = "float32",
    *,
    op: str = "softmax",
    policy: str = "oneflow",
    device: Device | str | None = None,
    options: Sequence[str] = (),
    lookup: Lookup | None = None,
) -> Plan:
    """How the operator runs on rows x cols elements: kernel, pack, block, grid, and why.

    Arguments:
        rows, cols: the shape as the kernels see it: the product of the leading dimensions, and the last one.
        dtype: "float16", "bfloat16", "float32" or "float64", or NumPy's dtype.
        op: "softmax", "log_softmax", "softmax_backward" or "log_softmax_backward".
        policy: "oneflow", the reference design; "fast", the best for the GPU.
        device: a name, an architecture or a Device; None for the GPU present, else the H200.
        options: NVRTC options to compile with, such as "-DSOFTLAB_ACCURATE".
        lookup: where registers and static shared memory come from; None for the kernels as compiled.

    Raises:
        TypeError: rows or cols no integer, dtype not one of the four.
        ValueError: rows or cols negative, an unknown op, policy or device.
        PlanError: nothing can be launched: the message says what is missing.
    """
    return _made(_request(rows, cols, dtype, op, policy, device, options, lookup))


def forced(
    rows: int,
    cols: int,
    dtype: Any = "float32",
    *,
    kernel: str | None = None,
    pack_size: int | None = None,
    block_size: int | None = None,
    layout: str | None = None,
    op: str = "softmax",
    policy: str = "oneflow",
    device: Device | str | None = None,
    options: Sequence[str] = (),
    lookup: Lookup | None = None,
) -> Plan:
    """As :func:`plan`, with some choices taken out of the dispatcher's hands; the rest it makes as always.

    Arguments:
        kernel: "warp", "block_smem" or "block_uncached".
        pack_size: 1, 2, 4 or 8 elements; it divides cols, and a pack is at most 16 bytes.
        block_size: 128, 256, 512 or 1024 for the block kernels; the warp kernel has 128.
        layout: "column", "row" or "row_scalar", for the shared-memory kernel.

    Raises:
        As :func:`plan`; ValueError for a value that no kernel has, PlanError where it does not fit this problem.
    """
    request = _request(rows, cols, dtype, op, policy, device, options, lookup)
    for name, value, known in (
        ("kernel", kernel, KERNELS),
        ("pack_size", pack_size, PACK_SIZES),
        ("block_size", block_size, BLOCK_SIZES),
        ("layout", layout, instantiations.LAYOUTS),
    ):
        if value is not None and value not in known:
            raise ValueError(f"{name} {value!r} is not one of {', '.join(map(str, known))}")
    if pack_size and request.cols % pack_size:
        raise PlanError(f"packs of {pack_size} do not divide a row of {cols} columns; use a pack of 1")
    if pack_size and (width := pack_size * request.element.itemsize) > instantiations.WIDEST_PACK_BYTES:
        raise PlanError(
            f"a pack of {pack_size} {request.element.name} is {width} bytes; a thread moves at most 16 at once"
        )
    return _made(replace(request, kernel=kernel, pack_size=pack_size, block_size=block_size, layout=layout or "column"))


def _request(
    rows: int, cols: int, dtype: Any, op: str, policy: str, device: Any, options: Sequence[str], lookup: Lookup | None
) -> Request:
    if op not in OPERATORS:
        raise ValueError(f"op {op!r} is not one of {', '.join(OPERATORS)}")
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is not one of {', '.join(POLICIES)}")
    return Request(
        rows=_count("rows", rows),
        cols=_count("cols", cols),
        element=element_type(dtype),
        operator=OPERATORS[op],
        device=resolve(device),
        options=tuple(options),
        lookup=lookup or _compiled,
        policy=policy,
    )


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    try:
        value = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if value < 0:
        raise ValueError(f"{name} = {value}: a shape has no negative size")
    return value


def _compiled(instantiation: Instantiation, arch: str, options: tuple[str, ...]) -> Resources:
    """The kernels' real figures."""
    return shipped.resources(instantiation.file, instantiation.name, arch, options)


def _made(request: Request) -> Plan:
    choice = _CHOOSERS[request.policy](request)
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
        steps=tuple(request.steps),
        **_warp_fields(choice.warp),
    )


def _warp_fields(shape: WarpShape | None) -> dict[str, Any]:
    names = ("thread_group_width", "cols_per_thread", "rows_per_access", "padding")
    return {name: getattr(shape, name) for name in names} if shape else {}
