"""Time fused operators under the policies "fast" and "oneflow", beside PyTorch, at lengths drawn at random.

    python -m softlab.bench.record.fused_policies OUT.json --cells 40 --seed 18
    python -m softlab.bench.record.fused_policies OUT.json --cells 100 --seed 18 --short  # rows of up to 256 bytes

Both policies must agree before they are timed. A share is that of the best copy of the run: the time that a copy of as
many bytes takes, over the time measured. Only the bytes that must move count. A causal row's columns beyond the
diagonal are not read, and an operand that matrices share counts once.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from softlab import fused
from softlab.bench.record.describing import driver, short
from softlab.cuda import compile as compiler
from softlab.cuda import gpu
from softlab.dtypes import ElementType, element_type
from softlab.hardware.devices import resolve
from softlab.operators.executors import program_of
from softlab.operators.functors import BroadcastLayout, Causal, Dropout, Fusion
from softlab.operators.rows import PlanKey
from softlab.plans import Plan

#: Bytes of x; buffers in turn; launches that queue up; how often, of which the median counts.
INPUT_BYTES, BUFFERS, LAUNCHES, REPLAYS = 1 << 27, 3, 6, 7
#: Cycles that the GPU waits, about 1 ms.
WAIT_CYCLES = 1 << 21
SCALE, DROPPED, SEED = 0.125, 0.1, 7
#: What stands around the softmax: "padding" is a mask of each matrix's columns, "mask" one of all elements, "bias" one
#: matrix for all, and "own bias" one for each.
PARTS = (
    ("scale",), ("scale", "padding"), ("scale", "mask"), ("scale", "bias"), ("scale", "bias", "mask"),
    ("scale", "causal"), ("scale", "causal", "dropout"), ("scale", "mask", "dropout"),
)  # fmt: skip
OWN_PARTS = (("mask",), ("scale", "own bias"), ("own bias", "mask"), ("own bias", "causal"))
#: The longest short row, in bytes, and the rows of its matrices.
SHORT_BYTES, SHORT_ROWS = 256, 64
POLICIES = ("fast", "oneflow")
#: Seconds after which no cell gets a kernel of torch.compile.
COMPILING_SECONDS = 40.0


@dataclass(frozen=True)
class FusedCell:
    """An operator on ``matrices`` matrices of rows x cols, with its parts."""

    op: str
    dtype: str
    matrices: int
    rows: int
    cols: int
    parts: tuple[str, ...]

    @property
    def element(self) -> ElementType:
        """The type of the elements."""
        return element_type(self.dtype)

    @property
    def backward(self) -> bool:
        """Whether it is a gradient."""
        return self.op.endswith("backward")

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of x."""
        return self.matrices, self.rows, self.cols

    def operands(self) -> dict[str, tuple[int, int, int]]:
        """The shapes of the bias and the mask."""
        one, columns = (1, self.rows, self.cols), (self.matrices, 1, self.cols)
        shapes = {"bias": one, "own bias": self.shape, "mask": self.shape, "padding": columns}
        return {"bias" if "bias" in part else "mask": shapes[part] for part in self.parts if part in shapes}

    def fusion(self) -> Fusion:
        """What is fused."""
        layouts: dict[str, Any] = {name: BroadcastLayout.of(own, self.shape) for name, own in self.operands().items()}
        return Fusion(
            scale=SCALE,
            causal=Causal(self.rows, 0) if "causal" in self.parts else None,
            dropout=Dropout(DROPPED, SEED) if "dropout" in self.parts else None,
            **layouts,
        )

    def plan(self, policy: str) -> Plan:
        """The plan of a policy."""
        problem = PlanKey(self.matrices * self.rows, self.cols, self.dtype, self.op, policy, resolve(None))
        return fused.plan(problem, fusion=self.fusion())

    def nbytes(self) -> int:
        """Bytes that must move."""
        whole = math.prod(self.shape) * self.element.itemsize
        read = whole * (2 if self.backward else 1)
        if "causal" in self.parts and not self.backward:
            read = self.matrices * sum(min(r + 1, self.cols) for r in range(self.rows)) * self.element.itemsize
        sizes = {"bias": self.element.itemsize, "mask": 1}
        beside = sum(math.prod(shape) * sizes[name] for name, shape in self.operands().items())
        return read + whole * (2 if "dropout" in self.parts and not self.backward else 1) + beside


def drawn(count: int, seed: int, short: bool = False) -> list[FusedCell]:
    """Cells drawn at random, with lengths log-uniform from 16 to 40 000, every other one a multiple of 8.

    With ``short`` from 1 to those of SHORT_BYTES; bias and mask may be the rows' own.
    """
    random, cells = np.random.default_rng(seed), []
    for number in range(count):
        place = random.uniform()
        dtype = str(random.choice(["float16", "bfloat16", "float32"]))
        itemsize = element_type(dtype).itemsize
        least, most = (1, SHORT_BYTES // itemsize + 1) if short else (16, 40_000)
        cols = int(np.exp(np.log(least) + place * np.log(most / least)))
        cols = cols if short or not number % 2 else cols // 8 * 8
        backward, parts = number % 3 == 2, PARTS + OWN_PARTS if short else PARTS
        chosen: Sequence[str] = parts[int(random.integers(len(parts)))]
        kept = tuple(part for part in chosen if not (backward and "bias" in part))
        rows = SHORT_ROWS if short else int(min(cols, 2048))
        matrices = max(1, INPUT_BYTES // (rows * cols * itemsize))
        cells.append(FusedCell("softmax_backward" if backward else "softmax", dtype, matrices, rows, cols, kept))
    return cells


class Memory:
    """The buffers of a cell, in PyTorch's memory."""

    def __init__(self, cell: FusedCell) -> None:
        import torch

        kind = getattr(torch, cell.dtype)
        make = partial(torch.randn, cell.shape, device="cuda", dtype=kind)
        self.inputs = [[make() for _ in range(2 if cell.backward else 1)] for _ in range(BUFFERS)]
        self.outputs = [[torch.empty_like(self.inputs[0][0]) for _ in range(2)] for _ in range(BUFFERS)]
        for _, *y in self.inputs:
            for one in y:
                one.uniform_(0, 2 / cell.cols)
        self.operands = {
            name: torch.randn(shape, device="cuda", dtype=kind)
            if name == "bias"
            else torch.rand(shape, device="cuda") < 0.9
            for name, shape in cell.operands().items()
        }
        if "mask" in self.operands:
            self.operands["mask"][..., 0] = True


def launches(cell: FusedCell, policy: str, memory: Memory) -> list[Callable[[], None]]:
    """Launches of a policy's kernel; the first one writes the first output."""
    import cupy
    import torch

    plan, fusion, element = cell.plan(policy), cell.fusion(), cell.element
    program = program_of(plan)

    def view(tensor: Any) -> Any:
        """CuPy has no bfloat16, and a kernel takes an address."""
        return cupy.from_dlpack(tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor.view(torch.int16))

    operands = {name: view(one) for name, one in memory.operands.items()}
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def given(turn: int) -> tuple[Any, ...]:
        inputs, outputs = ([view(one) for one in many[turn]] for many in (memory.inputs, memory.outputs))
        if cell.backward:
            load = fusion.gradient_load(element, cell.cols, inputs[0])
            store = fusion.gradient_store(element, cell.cols, outputs[0], **operands)
        else:
            load = fusion.load(element, cell.cols, inputs[0], **operands)
            store = fusion.store(element, cell.cols, *outputs[: 2 if fusion.dropout else 1])
        return load.struct, *inputs[1:], store.struct, np.int64(plan.rows), np.int64(plan.cols)

    ready = [given(turn) for turn in range(BUFFERS)]

    def launch(turn: int) -> None:
        with stream:
            gpu.launch(program, (plan.grid, 1, 1), (*plan.block, 1), ready[turn % BUFFERS], plan.smem_bytes)

    return [partial(launch, turn) for turn in range(LAUNCHES)]


def microseconds(calls: Sequence[Callable[[], Any]]) -> float:
    """Of one call: the median of several times through all calls, after one.

    The GPU waits before each time, so that all calls are in its queue before the first one starts. A launch takes the
    host up to 50 us, which some cells do not.
    """
    import torch

    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(REPLAYS + 1)]
    for start, stop in events:
        torch.cuda._sleep(WAIT_CYCLES)
        start.record()
        for call in calls:
            call()
        stop.record()
    torch.cuda.synchronize()
    return statistics.median(1000 * start.elapsed_time(stop) / len(calls) for start, stop in events[1:])


def torch_step(cell: FusedCell, memory: Memory) -> Callable[..., Any]:
    """The same in PyTorch's operators."""
    import torch

    operands = memory.operands
    causal = torch.ones(cell.shape[1:], device="cuda", dtype=torch.bool).tril() if "causal" in cell.parts else None

    def forward(x: Any) -> Any:
        x = x * SCALE
        x = x + operands["bias"] if "bias" in operands else x
        for kept in (operands.get("mask"), causal):
            x = x if kept is None else x.masked_fill(~kept, -math.inf)
        y = torch.softmax(x, -1)
        return (torch.dropout(y, DROPPED, True), y) if "dropout" in cell.parts else y

    def backward(dy: Any, y: Any) -> Any:
        dx = torch.ops.aten._softmax_backward_data(dy, y, -1, dy.dtype) * SCALE
        for kept in (operands.get("mask"), causal):
            dx = dx if kept is None else dx.masked_fill(~kept, 0)
        return dx

    return backward if cell.backward else forward


def agree(cell: FusedCell, memory: Memory) -> float:
    """The largest difference of the two policies' results, over the size of the largest result of its row.

    Raises:
        AssertionError: it is more than rounding.
    """
    import torch

    results = []
    for policy in POLICIES:
        for output in memory.outputs[0]:
            output.fill_(math.nan)
        launches(cell, policy, memory)[0]()
        torch.cuda.synchronize()
        written = memory.outputs[0][: 2 if "dropout" in cell.parts and not cell.backward else 1]
        results.append([output.float() for output in written])
    worst = 0.0
    for ours, theirs in zip(*results, strict=True):
        size = theirs.abs().amax(-1, keepdim=True).clamp_min(1e-20)
        limits = torch.finfo(getattr(torch, cell.dtype))  # its smallest difference of two numbers is rounding, too
        off = ((ours - theirs).abs() - limits.smallest_normal * limits.eps).clamp_min(0)
        worst = max(worst, float((off / size).nan_to_num(nan=1.0).max()))
    most = 1e-5 if cell.dtype == "float32" else 2.0**-7
    if worst > most:
        raise AssertionError(f"{cell}: the policies differ by {worst}")
    return worst


def timed(cell: FusedCell, began: float) -> dict[str, Any]:
    """A row of the table."""
    import torch

    memory = Memory(cell)
    row: dict[str, Any] = {**asdict(cell), "bytes": cell.nbytes(), "kernel": cell.plan("fast").name}
    row["difference"] = agree(cell, memory)
    for policy in POLICIES:
        row[policy] = short(microseconds(launches(cell, policy, memory)))
    step = torch_step(cell, memory)
    ways = {"torch": step}
    if time.perf_counter() - began < COMPILING_SECONDS:
        torch._dynamo.reset()
        ways["torch.compile"] = torch.compile(step, dynamic=False)
    for name, way in ways.items():
        try:
            way(*memory.inputs[0])
            torch.cuda.synchronize()
            calls = [partial(way, *memory.inputs[turn % BUFFERS]) for turn in range(LAUNCHES)]
            row[name] = short(microseconds(calls))
        except Exception as error:
            print(f"{name} on {cell}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    return row


def copy_speed() -> float:
    """GB/s of a copy."""
    import torch

    pairs = [torch.empty((2, INPUT_BYTES), device="cuda", dtype=torch.uint8) for _ in range(BUFFERS)]
    calls = [partial(pairs[turn % BUFFERS][0].copy_, pairs[turn % BUFFERS][1]) for turn in range(LAUNCHES)]
    return 2 * INPUT_BYTES / microseconds(calls) / 1e3


def compiled(cell: FusedCell) -> None:
    """Leave a cell's kernels in the disk cache."""
    for policy in POLICIES:
        program_of(cell.plan(policy))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.record.fused_policies", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--short", action="store_true", help=f"rows of up to {SHORT_BYTES} bytes")
    given = parser.parse_args(arguments)
    import torch

    cells, rows, failed, copies = drawn(given.cells, given.seed, given.short), [], [], [copy_speed()]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        list(pool.map(compiled, cells))
    began = time.perf_counter()
    for cell in cells:
        try:
            rows.append(timed(cell, began))
        except Exception as error:
            failed.append(f"{cell}: {type(error).__name__}: {str(error)[:300]}")
        torch.cuda.empty_cache()
    copies.append(copy_speed())
    best = max(copies)
    for row in rows:
        row["share"] = {name: round(row["bytes"] / row[name] / 1e3 / best, 3) for name in POLICIES}
        print(row["op"], row["dtype"], row["cols"], "+".join(row["parts"]), row["share"], flush=True)
    options = f"--cells {given.cells} --seed {given.seed}" + " --short" * given.short
    record = {
        "command": f"python -m softlab.bench.record.fused_policies {options}",
        "device": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(), "driver": driver(),
        "nvrtc": compiler.nvrtc_version(), "torch": torch.__version__, "sources": compiler.sources_digest(),
        "copies": copies, "rows": rows, "failed": failed,
    }  # fmt: skip
    given.out.write_text(json.dumps(record, indent=0) + "\n")
    print(f"{len(rows)} cells, {len(failed)} failed {failed[:3]}; copies {copies}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
