"""Plans of all policies over many problems, as digests: no plan changes unseen.

    python -m tests.plans.recorded             # record the plans as they are now, after a change that is meant
    python -m tests.plans.recorded show KEY    # print the plans of one key, to compare them with another checkout's

A threshold of a policy comes from a measurement (kernels/FAST.md). The digests hold no reason; they show that a change
of the code has moved one. The words of a step are left out: they may be said better.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from softlab import plans
from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.hardware.devices import Device
from softlab.plans import first_rungs, oneflow
from softlab.plans.fast_limits import BLOCK_SIZES, FEW_ROWS, LIMITS
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources

RECORD = Path(__file__).parents[1] / "data" / "plans.json"

#: GPUs of the two kinds of clusters, without clusters, without cp.async; and one with little shared memory.
DEVICES = {name: Device.named(name) for name in ("H200", "RTX 5090", "A100", "T4")}
DEVICES["H200, 64 KiB"] = replace(DEVICES["H200"], smem_per_block_optin=64 * 1024, smem_per_sm=66 * 1024)
ROWS = (0, 1, 2, 9, 66, 67, 131, 132, 1000, 4097, 300_001, 2**33)
DTYPES = ("float16", "float32", "float64")
OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
#: Each short row, powers of two and their neighbours, and six lengths per power of two between them.
COLS = sorted({
    *range(70), *(2**k + near for k in range(7, 25) for near in (-8, -1, 0, 1, 8)),
    *(round(64 * 2 ** (k / 6)) // 16 * 16 for k in range(110)), *(round(64 * 2 ** (k / 6)) | 1 for k in range(110)),
    1000, 50_257, 128_256, 151_936, 3_000_000, 2**26, 2**26 + 1,
})  # fmt: skip
#: A list takes every 13th length, and the next list begins at the next length. A list of fused operators takes every
#: third one: registers decide about them, and few lengths are near a threshold.
STRIDE, FUSED_STRIDE = 13, 3
#: Lengths that share a digest.
GROUP = 6

FORCED: dict[str, dict[str, Any]] = {
    "packs of 1": {"pack_size": 1},
    **{f"packs of {size}": {"pack_size": size} for size in (2, 4, 8)},
    **{kernel: {"kernel": kernel} for kernel in (*oneflow.KERNELS, *first_rungs.KERNELS, "fast_warp", "fast_tile")},
    **{f"{kernel} of {size}": {"kernel": kernel, "block_size": size}
       for kernel in ("block_smem", "block_uncached") for size in (128, 256, 512, 1024)},
    **{f"layout {name}": {"kernel": "block_smem", "layout": name} for name in ("row", "row_scalar")},
}  # fmt: skip
#: Steps of fused operators, and strides of rows along other axes: only the policy "fast" tells them apart.
FUSED: dict[str, dict[str, Any]] = {
    "fused, no step": {"fused": FusedSteps()},
    "fused, a mask": {"fused": FusedSteps((1,))},
    "fused, a bias and a mask that rows share": {"fused": FusedSteps((2, 1), shared=True)},
    "fused, causal": {"fused": FusedSteps(causal=True)},
    "fused, dropout": {"fused": FusedSteps((4,), drops=True)},
    "fused, packs of 1": {"fused": FusedSteps(), "pack_size": 1},
}  # fmt: skip
STRIDES = (2, 3, 8, 20, 64, 100, 384, 1000, 5000)
#: How many rows a fused operator has, and how many strips lie along another axis.
FUSED_ROWS, STRIPS = (1, 50, 131, 5000, 300_001), (1, 3, 40, 2000)
#: How many rows there are of the lengths at which a limit of the policy "fast" ends.
EDGE_ROWS = (9, 131, 4097)


def edges(dtype: str, op: str) -> list[int]:
    """The longest rows that each limit of the policy "fast" lets through, and those an element and a pack longer."""
    itemsize, inputs = element_type(dtype).itemsize, 1 + op.endswith("_backward")
    limits, pack = LIMITS[itemsize, inputs], 16 // itemsize
    packs = {limits.warp, limits.grid.beyond, *(cut.most for cut in (*limits.cuts, *limits.pipelines))}
    packs |= {count * block for count in (limits.thread, limits.largest) for block in BLOCK_SIZES}
    packs |= {cut.most for cut in FEW_ROWS[inputs]}
    return sorted({count * pack + more for count in packs for more in (0, 1, pack)})


def taken(*_: Any) -> Resources:
    """What every kernel takes here, so that nothing is compiled."""
    return Resources(64, 2048, 0, 0, "")


def cells() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """(key, rows, arguments of ``plans.forced``) of each list of plans."""
    problems = list(itertools.product(DEVICES, DTYPES, OPS))
    for number, (device, dtype, op) in enumerate(problems):
        more = {"device": DEVICES[device], "dtype": dtype, "op": op}
        for policy in ("fast", "oneflow", "invariant"):
            few = ROWS if policy == "fast" else ROWS[number % 3 :: 3]
            for rows in few:
                yield f"{policy}, {device}, {dtype}, {op}, {rows} rows", rows, {**more, "policy": policy}
        for name, choice in list(FORCED.items())[number % 2 :: 2]:
            rows = ROWS[number % len(ROWS)]
            policy = "fast" if name.startswith("fast") else ("fast", "oneflow")[number // 2 % 2]
            policy = "oneflow" if "kernel" in choice and not name.startswith("fast") else policy
            yield f"{policy}, {name}, {device}, {dtype}, {op}, {rows} rows", rows, {**more, **choice, "policy": policy}
    for number, (device, dtype, op) in enumerate(problems):
        more = {"device": DEVICES[device], "dtype": dtype, "op": op, "policy": "fast"}
        for turn, (name, choice) in enumerate(FUSED.items(), number):
            rows = FUSED_ROWS[turn % len(FUSED_ROWS)]
            yield f"{name}, {device}, {dtype}, {op}, {rows} rows", rows, {**more, **choice}
        for turn, stride in enumerate(STRIDES, number):
            rows = STRIPS[turn % len(STRIPS)] * stride
            yield f"stride {stride}, {device}, {dtype}, {op}, {rows} rows", rows, {**more, "stride": stride}
    for dtype, op, rows in itertools.product(DTYPES, OPS, EDGE_ROWS):
        more = {"device": DEVICES["H200"], "dtype": dtype, "op": op, "policy": "fast", "edges": edges(dtype, op)}
        yield f"edges, {dtype}, {op}, {rows} rows", rows, more


def plan_of(rows: int, cols: int, arguments: dict[str, Any]) -> str:
    """One plan as text, or the numbers of the error."""
    asked = {name: value for name, value in arguments.items() if name != "edges"}
    try:
        plan = plans.forced(rows, cols, lookup=taken, **asked)
    except (PlanError, ValueError) as error:
        return f"{type(error).__name__} {re.findall('[0-9]+', str(error))}"
    decided = {name: value for name, value in vars(plan).items() if name not in ("device", "steps")}
    return str([decided, *[(step.values, step.answer, step.choices) for step in plan.steps]])


def columns(number: int, arguments: dict[str, Any]) -> list[int]:
    """The lengths of a cell's rows."""
    if "edges" in arguments:
        return list(arguments["edges"])
    stride = FUSED_STRIDE if "fused" in arguments else STRIDE
    return COLS[number % stride :: stride]


def digests(part: int = 0, parts: int = 1) -> dict[str, str]:
    """Key -> the digests of groups of its plans; of ``parts`` parts of the keys that one."""
    found = {}
    for number, (key, rows, arguments) in itertools.islice(enumerate(cells()), part, None, parts):
        texts = [plan_of(rows, cols, arguments) for cols in columns(number, arguments)]
        groups = ["\n".join(texts[at : at + GROUP]).encode() for at in range(0, len(texts), GROUP)]
        found[key] = " ".join(hashlib.sha256(group).hexdigest()[:4] for group in groups)
    return found


def main(arguments: list[str]) -> None:
    """Record all, or show one."""
    if arguments:
        for number, (key, rows, more) in enumerate(cells()):
            if key == arguments[1]:
                print(*(f"{cols} columns: {plan_of(rows, cols, more)}" for cols in columns(number, more)), sep="\n")
    else:
        RECORD.write_text(json.dumps(digests(), indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
