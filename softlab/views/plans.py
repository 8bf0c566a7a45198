"""A plan as a table: what was decided. (The questions that led to it: ``dispatch``.)"""

from __future__ import annotations

from softlab.plans import Plan
from softlab.views.tables import table


def plan_summary(plan: Plan) -> str:
    """HTML: the launch, one line per fact."""
    rows: list[tuple[str, object]] = [("kernel", plan.kernel)]
    if plan.grid:
        rows += [
            ("elements that a thread moves at once", plan.pack_size),
            ("threads per block", plan.block_size),
            ("blocks", plan.grid),
            *([("blocks that share a row", plan.cluster)] if plan.cluster else []),
            *([("all of them on the GPU at once", True)] if plan.cooperative else []),
            *([("workspace in global memory, bytes", plan.workspace_bytes)] if plan.workspace_bytes else []),
            ("registers per thread", plan.registers),
            ("shared memory per block, bytes", plan.smem_bytes + plan.static_smem_bytes),
            ("blocks per SM", plan.occupancy.blocks_per_sm),
            ("bytes requested from global memory", plan.global_bytes),
        ]
    title = f"{plan.op} of {plan.rows} x {plan.cols} {plan.dtype} on {plan.device.name}"
    return table(["", ""], rows, caption=title)
