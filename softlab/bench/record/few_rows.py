"""Few rows: policy "fast" beside its peers at sizes drawn at random.

    python -m softlab.bench.record.few_rows OUT.json [--cells 100] [--seed 18]

A cell has 1 to 512 rows of 512 to 524 288 columns, both log-uniform. It is timed twice: with inputs in the L2 cache
(all launches use one buffer) and with inputs in device memory (launches take turns on buffers of 256 MiB, and other
memory of that size is read before each replay: small arrays would stay in the L2 cache from replay to replay).
"""

from __future__ import annotations

import argparse
import datetime
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from softlab.bench import recordings
from softlab.bench.record import fast, fast_peers
from softlab.bench.record.describing import driver
from softlab.bench.record.fast_workloads import INPUT_BYTES, Workload
from softlab.cuda.compile import nvrtc_version, sources_digest
from softlab.dtypes import element_type

MOST_ROWS, LEAST_COLS, MOST_COLS = 512, 512, 1 << 19
DTYPES = ("float32", "float16", "bfloat16")
OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
PEERS = ("fast", "torch", "triton", "liger", "quack", "flashinfer", "inductor")
#: Peers that compile for seconds are measured in one cell of this number.
SLOW_SHARE = 10
#: "Behind" is more than this part slower than the best peer.
BEHIND = 0.03
METHOD = (
    f"Median of {fast.REPEATS} replays of a CUDA graph of {fast.FEW_LAUNCHES} launches. Rows and columns are drawn "
    f"log-uniformly from 1 to {MOST_ROWS} and from {LEAST_COLS} to {MOST_COLS}, operator and type at random. memory "
    "'L2': all launches use one buffer; 'device': they take turns on buffers of 256 MiB, and before each replay other "
    "memory of 256 MiB is read. Results agree with higher "
    f"precision. Peers that compile for seconds ({', '.join(fast.SLOW)}) are measured in one cell of {SLOW_SHARE}."
)
TABLE_KEYS = {"cells": ("op", "dtype", "memory", "peer")}


class OneBuffer:
    """Buffers of which all launches use the first, so that it stays in the L2 cache."""

    def __init__(self, buffers: fast.Buffers) -> None:
        self.buffers = buffers

    def views(self, work: Workload, iteration: int) -> list[Any]:
        """Inputs and output, whatever the iteration."""
        return self.buffers.views(work, 0)


def drawn(count: int, seed: int) -> list[Workload]:
    """The cells, those of one type and number of inputs together."""
    numbers = random.Random(seed)
    found: dict[Workload, None] = {}
    while len(found) < count:
        rows = round(2 ** numbers.uniform(0, MOST_ROWS.bit_length() - 1))
        cols = round(LEAST_COLS * (MOST_COLS / LEAST_COLS) ** numbers.random())
        op, dtype = numbers.choice(OPS), numbers.choice(DTYPES)
        if rows * cols * element_type(dtype).itemsize <= INPUT_BYTES:
            found.setdefault(Workload("few", op, dtype, rows, cols))
    return sorted(found, key=lambda work: (DTYPES.index(work.dtype), work.inputs, work.cols))


def other_memory_read() -> Callable[[], Any]:
    """What reads 256 MiB that no launch uses, so that nothing of a launch stays in the L2 cache."""
    import torch

    other = torch.zeros(INPUT_BYTES // 4, device="cuda")
    return other.sum


def timed(cells: Sequence[Workload], report: Any) -> list[dict[str, Any]]:
    """A row for each cell, memory and peer."""
    import torch

    found, missing = [], set()
    buffers: fast.Buffers | None = None
    emptied = other_memory_read()
    for number, work in enumerate(cells):
        if buffers is None or (buffers.dtype, buffers.inputs) != (work.dtype, work.inputs):
            buffers = None
            torch.cuda.empty_cache()
            buffers = fast.Buffers(work.dtype, work.inputs)
        buffers.fit_to(work)
        truth = fast.expected(work, buffers.views(work, 0)[:-1])
        for name in PEERS:
            if name in missing or (name in fast.SLOW and number % SLOW_SHARE):
                continue
            for memory, used, before in (("L2", OneBuffer(buffers), None), ("device", buffers, emptied)):
                try:
                    spent = fast.measured(work, name, used, truth, before)
                except fast_peers.Refused:
                    break
                except ImportError as error:
                    missing.add(name)
                    report(f"{name} is not here: {error}")
                    break
                except Exception as error:
                    torch.cuda.synchronize()
                    report(f"{name} fails on {work}: {type(error).__name__}: {str(error)[:200]}")
                    break
                found.append({
                    "op": work.op, "dtype": work.dtype, "memory": memory, "peer": name, "rows": work.rows,
                    "cols": work.cols, "microseconds": round(spent, 3),
                })  # fmt: skip
    return found


def behind(rows: Sequence[dict[str, Any]]) -> tuple[int, list[str]]:
    """How many cells have a peer, and those where "fast" is more than ``BEHIND`` slower than the best one."""
    cells: dict[tuple, dict[str, float]] = {}
    for row in rows:
        key = row["op"], row["dtype"], row["rows"], row["cols"], row["memory"]
        cells.setdefault(key, {})[row["peer"]] = row["microseconds"]
    found = []
    compared = {key: times for key, times in cells.items() if "fast" in times and len(times) > 1}
    for key, times in compared.items():
        peer = min((name for name in times if name != "fast"), key=lambda name: times[name])
        if times["fast"] > (1 + BEHIND) * times[peer]:
            ratio = times["fast"] / times[peer]
            op, dtype, count, cols, memory = key
            spent = f"{times['fast']:.2f} us, {peer} {times[peer]:.2f} ({ratio:.2f})"
            found.append(f"{op} {dtype} {count} x {cols}, {memory}: {spent}")
    return len(compared), found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.record.few_rows", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT.json")
    parser.add_argument("--cells", type=int, default=100)
    parser.add_argument("--seed", type=int, default=18)
    given = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available():
        parser.error(f"measuring takes a GPU, and PyTorch {torch.__version__} sees none")
    began = time.perf_counter()
    cells = drawn(given.cells, given.seed)
    fast.compiled(cells, "fast")
    print(f"compiled after {time.perf_counter() - began:.0f} s", flush=True)
    rows = timed(cells, lambda line: print(line, file=sys.stderr, flush=True))
    count, slower = behind(rows)
    print("\n".join(slower))
    print(f"{count} cells have a peer; {len(slower)} are more than {BEHIND:.0%} behind the best one")
    recording = recordings.Recording(
        name=given.out.stem,
        about='Few rows: policy "fast" beside its peers at sizes drawn at random.',
        device=torch.cuda.get_device_name(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=f"python -m softlab.bench.record.few_rows {given.out.name} --cells {given.cells} --seed {given.seed}",
        method=METHOD,
        versions={"driver": driver(), "NVRTC": nvrtc_version(), **fast_peers.versions()},
        sources=sources_digest(),
        tables={"cells": recordings.table_of(rows)},
    )
    recordings.write(given.out, recording, TABLE_KEYS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
