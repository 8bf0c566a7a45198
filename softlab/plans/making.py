"""``plan`` and ``forced``: they check their arguments, and the policy decides the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import index
from typing import Any

from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.hardware.devices import Device, resolve
from softlab.plans import fast, first_rungs, instantiations, oneflow
from softlab.plans.instantiations import BLOCK_SIZES
from softlab.plans.planner import OPERATORS, FusedSteps, Lookup, PlanRequest, compiled
from softlab.plans.records import POLICIES, Plan, decided

#: Bits of a kernel's ``long long`` without its sign.
_COUNT_BITS = 63


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
    stride: int = 1,
    fused: FusedSteps | None = None,
) -> Plan:
    """How the operator runs on rows x cols elements: kernel, pack, block, grid, and why.

    Arguments:
        rows, cols: the shape as the kernels see it: the product of the leading dimensions, and the last one.
        dtype: "float16", "bfloat16", "float32" or "float64", or NumPy's dtype.
        op: "softmax", "log_softmax", "softmax_backward" or "log_softmax_backward".
        policy: "oneflow", the reference design; "fast", the best for the GPU; "invariant", kernels whose results do not
            depend on how a row is divided.
        device: a name, an architecture or a Device; None for the GPU present, else the H200.
        options: NVRTC options to compile with, such as "-DSOFTLAB_ACCURATE".
        lookup: where registers and static shared memory come from; None for the kernels as compiled.
        stride: elements from one element of a row to the next; it divides rows. 1 for rows along the last axis. Along
            another axis it is the product of the dimensions behind that axis. Only policy "fast" has kernels for more
            than 1.
        fused: what fused steps add to a row, for :func:`softlab.fused.plan`: it also gives a ``lookup`` that knows the
            kernels with their loads and stores.

    Raises:
        TypeError: rows or cols no integer, dtype not one of the four.
        ValueError: rows or cols negative, an unknown op, policy or device.
        PlanError: nothing can be launched: the message says what is missing.
    """
    return decided(_request(rows, cols, dtype, op, policy, device, options, lookup, stride, fused))


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
    stride: int = 1,
    fused: FusedSteps | None = None,
) -> Plan:
    """As :func:`plan`, but with some choices made by the caller. The policy makes the others.

    Arguments:
        kernel: "warp", "block_smem" or "block_uncached"; with policy "fast" "fast_warp" or "fast_tile", for a
            short row. A first rung of the ladder, which no policy chooses: "naive_row", "naive_block" (at most 1024
            columns) or "online_warp", for op "softmax" alone.
        pack_size: 1, 2, 4 or 8 elements; it divides cols, and a pack is at most 16 bytes.
        block_size: 128, 256, 512 or 1024 for the block kernels; the warp kernel has 128.
        layout: "column", "row" or "row_scalar", for the shared-memory kernel.

    Raises:
        As :func:`plan`; ValueError for a value that no kernel has, PlanError where it does not fit this problem.
    """
    request = _request(rows, cols, dtype, op, policy, device, options, lookup, stride, fused)
    _check("kernel", kernel, (*oneflow.KERNELS, *first_rungs.KERNELS, *fast.FORCED))
    _check("pack_size", pack_size, oneflow.PACK_SIZES)
    _check("block_size", block_size, BLOCK_SIZES)
    _check("layout", layout, instantiations.LAYOUTS)
    choices: dict[str, Any] = {"kernel": kernel, "pack_size": pack_size, "block_size": block_size}
    return decided(_checked(replace(request, **choices, layout=layout or "column")))


def _check(name: str, value: Any, known: Sequence[Any]) -> None:
    if value is not None and value not in known:
        raise ValueError(f"{name} {value!r} is not one of {', '.join(map(str, known))}")


def _checked(request: PlanRequest) -> PlanRequest:
    """The request, if its choices fit its policy and its rows."""
    if request.kernel in fast.FORCED and request.policy != "fast":
        raise PlanError(f"kernel {request.kernel!r} belongs to policy='fast', not to policy={request.policy!r}")
    pack_size = request.pack_size or 1
    if request.stride > 1 and (request.kernel or request.stride % pack_size):
        raise PlanError(f"rows of stride {request.stride} take no kernel= and a pack that divides the stride")
    if request.stride == 1 and request.cols % pack_size:
        raise PlanError(f"packs of {pack_size} do not divide a row of {request.cols} columns; use a pack of 1")
    if (width := pack_size * request.element.itemsize) > instantiations.WIDEST_PACK_BYTES:
        raise PlanError(
            f"a pack of {pack_size} {request.element.name} is {width} bytes; a thread moves at most 16 at once"
        )
    return request


def _request(
    rows: int,
    cols: int,
    dtype: Any,
    op: str,
    policy: str,
    device: Any,
    options: Sequence[str],
    lookup: Lookup | None,
    stride: int,
    fused: FusedSteps | None,
) -> PlanRequest:
    if op not in OPERATORS:
        raise ValueError(f"op {op!r} is not one of {', '.join(OPERATORS)}")
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is not one of {', '.join(POLICIES)}")
    if stride != 1 and (policy != "fast" or _count("stride", stride) < 1 or rows % stride):
        raise PlanError(f"stride {stride}: policy='fast' takes one that divides the {rows} rows, other policies take 1")
    return PlanRequest(
        rows=_count("rows", rows),
        cols=_count("cols", cols),
        element=element_type(dtype),
        operator=OPERATORS[op],
        device=resolve(device),
        options=tuple(options),
        lookup=lookup or compiled,
        policy=policy,
        stride=stride,
        fused=fused,
    )


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    try:
        value = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if value.bit_length() > _COUNT_BITS:
        raise ValueError(
            f"{name} is an integer of {value.bit_length()} bits, and a kernel takes at most {_COUNT_BITS} (long long)"
        )
    if value < 0:
        raise ValueError(f"{name} = {value}: a shape has no negative size")
    return value
