"""What the policy "fast" chooses over many lengths, as a table that a test compares.

    python -m tests.plans.plan_table          # show which plans have changed
    python -m tests.plans.plan_table write    # and keep the new ones, where the change is meant

The thresholds were measured on GPUs, so no formula gives them. The table makes each change of a choice visible.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import softlab
from softlab.plans import Plan

TABLE = Path(__file__).parents[1] / "data" / "fast_plans.json"
#: Of this GPU softlab knows what each kernel takes without compiling it.
DEVICES, ROWS = ("H200",), (1, 100, 10_000)
DTYPES, OPS = ("float16", "float32", "float64"), ("softmax", "softmax_backward")
#: Short rows, odd ones, and such around powers of two.
COLS = (1, 2, 3, 5, 8, 13, 24, 33, 48, 65, 96, 127, 200, 257, 384, 511, 768, 1024, 1537, 2048, 3071, 4096, 6144, 8192,
        12_289, 16_384, 24_576, 49_152, 65_535, 131_072, 262_144, 524_289, 1_048_576, 4_194_304,
        16_777_216)  # fmt: skip


def cases() -> Iterator[tuple[str, str, str, int]]:
    """(device, operator, dtype, rows) of each line of the table."""
    return product(DEVICES, OPS, DTYPES, ROWS)


def signature(plan: Plan) -> str:
    """What a launch depends on, in 6 characters. What is said about it does not count, nor do a kernel's registers."""
    chosen = (plan.kernel, plan.name, plan.grid, plan.block, plan.smem_bytes, plan.cluster, plan.cooperative,
              plan.workspace_bytes, plan.pack_size, plan.thread_group_width, plan.cols_per_thread,
              plan.rows_per_access, plan.padding)  # fmt: skip
    return hashlib.sha256(repr(chosen).encode()).hexdigest()[:6]


def line(device: str, op: str, dtype: str, rows: int) -> str:
    """The signatures of all lengths."""
    plans = (softlab.plan(rows, cols, dtype, op=op, policy="fast", device=device) for cols in COLS)
    return " ".join(map(signature, plans))


def name(case: tuple[str, str, str, int]) -> str:
    """A case as a key of the table."""
    return ", ".join(map(str, case))


def changes(case: tuple[str, str, str, int], kept: str) -> list[str]:
    """A sentence for each length whose plan is not that of the table."""
    device, op, dtype, rows = case
    pairs = zip(COLS, line(*case).split(), kept.split(), strict=True)
    return [
        f"{rows} x {cols}: now {softlab.plan(rows, cols, dtype, op=op, policy='fast', device=device)!r}"
        for cols, now, before in pairs
        if now != before
    ]


if __name__ == "__main__":
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for case in cases():
        if name(case) in table:
            print(*changes(case, table[name(case)]), sep="\n", end="")
    if "write" in sys.argv[1:]:
        TABLE.write_text(json.dumps({name(case): line(*case) for case in cases()}, indent=0) + "\n")
