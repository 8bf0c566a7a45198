"""Record on a GPU how policy "fast" compares with its peers and with a device copy.

    python -m softlab.bench.record.fast OUT.json [--slow-cols 1024,8192,...]        # some minutes of GPU time
    python -m softlab.bench.record.fast OUT.json --ops softmax --cols 777 --peers fast,torch     # seconds

Three tables: "forward" and "gradients" with 256 MiB of each input, "few" with few rows. Every result is compared with
the operator in float64 (float32 for 16-bit inputs) before it is timed.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from softlab.bench import recordings
from softlab.bench.record import fast_peers
from softlab.bench.record.fast_peers import PEERS, WITHOUT_GRAPH, Refused
from softlab.bench.record.fast_workloads import INPUT_BYTES, Workload, workloads
from softlab.bench.selections import EVERYTHING, TABLES, Selection
from softlab.cuda.compile import nvrtc_version, sources_digest
from softlab.dtypes import element_type
from softlab.errors import Error
from softlab.operators.executors import program_of
from softlab.plans import plan

#: Peers that compile for seconds: they can be measured at some columns alone.
SLOW = ("inductor", "quack")
#: Buffers that launches use in turn: three times 512 MiB are many times any L2.
BUFFERS = 3
REPEATS = 9
LAUNCHES, FEW_LAUNCHES = 6, 48
WITHOUT_GRAPH_TIMES = 4
#: Allowed relative error (root of the mean square) by rounding to the dtype, twice what it is.
TOLERANCE = {"float32": 2e-6, "float16": 1e-3, "bfloat16": 6e-3, "float64": 1e-14}
#: Half the smallest subnormal of float16, which results of long rows are rounded to.
SUBNORMAL = {"float16": 3e-8}
METHOD = (
    f"Median of {REPEATS} replays of a CUDA graph of {LAUNCHES} launches ({FEW_LAUNCHES} where rows are few), after "
    f"one; {', '.join(WITHOUT_GRAPH)} without a graph, by the host's clock around {WITHOUT_GRAPH_TIMES} times as many. "
    "Each launch reads and writes other memory than the last: normally distributed numbers, "
    f"{BUFFERS} buffers of {INPUT_BYTES >> 20} MiB, or slices of them where rows are few. Results agree with higher "
    "precision. 'copy' is a device copy, for gradients the sum of two arrays into a third. GB/s count each "
    "input read once and the result written once."
)
TABLE_KEYS = dict.fromkeys(TABLES, ("op", "dtype", "peer", "kernel"))
#: Up to this many problems are compiled in this process; more are worth starting processes.
COMPILED_HERE = 16


def compile_plan(work: Workload, policy: str) -> str:
    """Plan and compile what softlab launches, into the cache on disk; the kernel's name."""
    made = plan(work.rows, work.cols, work.dtype, op=work.op, policy=policy)
    program_of(made)
    return made.kernel


class Views(Protocol):
    """Where launches find inputs and outputs."""

    def views(self, work: Workload, iteration: int) -> list[Any]:
        """Inputs and output of an iteration, (rows, cols) each."""


class Buffers:
    """The buffers of inputs and outputs of one dtype."""

    def __init__(self, dtype: str, inputs: int, nbytes: int = INPUT_BYTES) -> None:
        import torch

        self.dtype, self.inputs = dtype, inputs
        kind = getattr(torch, dtype)
        count = nbytes // element_type(dtype).itemsize
        sets = [[torch.empty(count, dtype=kind, device="cuda") for _ in range(BUFFERS)] for _ in range(inputs + 1)]
        for buffer in (buffer for copies in sets[:-1] for buffer in copies):
            buffer.normal_()
        self.sets = sets

    def views(self, work: Workload, iteration: int) -> list[Any]:
        """Inputs and output of an iteration, (rows, cols) each."""
        size = work.rows * work.cols
        step = -(-size // 1024) * 1024
        positions = max(1, self.sets[0][0].numel() // step)
        start = iteration // BUFFERS % positions * step
        return [copies[iteration % BUFFERS][start : start + size].view(work.rows, work.cols) for copies in self.sets]

    def fit_to(self, work: Workload) -> None:
        """A gradient's y is a result of the operator: small numbers, or their logarithms."""
        if work.inputs == 2:
            for y in self.sets[1]:
                if work.op == "softmax_backward":
                    y.uniform_(0, 2 / work.cols)
                else:
                    y.normal_().sub_(float(np.log(work.cols)))


def expected(work: Workload, inputs: Sequence[Any]) -> Any:
    """The result in higher precision."""
    import torch

    wide = [x.double() if x.element_size() == 8 else x.float() for x in inputs]
    aten = torch.ops.aten
    return {
        "softmax": lambda: torch.softmax(wide[0], -1),
        "log_softmax": lambda: torch.log_softmax(wide[0], -1),
        "softmax_backward": lambda: aten._softmax_backward_data(*wide, -1, wide[0].dtype),
        "log_softmax_backward": lambda: aten._log_softmax_backward_data(*wide, -1, wide[0].dtype),
    }[work.op]()


def wrong(work: Workload, got: Any, truth: Any) -> bool:
    """Whether a result is further from the truth than rounding takes it."""
    error = float((got.to(truth.dtype) - truth).norm())
    allowed = TOLERANCE[work.dtype] * float(truth.norm()) + SUBNORMAL.get(work.dtype, 0) * truth.numel() ** 0.5
    return not error <= allowed


def microseconds(launches: Sequence[Callable[[], Any]], graph: bool, before: Callable[[], Any] | None = None) -> float:
    """The median time of one launch. ``before`` is called before each replay of the graph, and not timed."""
    import torch

    spans = []
    if not graph:
        for _ in range(3):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for launch in [*launches] * WITHOUT_GRAPH_TIMES:
                last = launch()
            getattr(last, "block_until_ready", torch.cuda.synchronize)()
            torch.cuda.synchronize()
            spans.append((time.perf_counter() - start) * 1e6)
        return statistics.median(spans) / len(launches) / WITHOUT_GRAPH_TIMES
    return statistics.median(replayed(launches, REPEATS, before))


def replayed(
    launches: Sequence[Callable[[], Any]], replays: int, before: Callable[[], Any] | None = None
) -> list[float]:
    """Microseconds of one launch in each replay of a CUDA graph of all launches, after one replay.

    ``before`` is called before each replay, and not timed.
    """
    import torch

    recorded = torch.cuda.CUDAGraph()
    # Threads of other libraries (JAX) may call CUDA meanwhile; by default that ends the recording.
    with torch.cuda.graph(recorded, capture_error_mode="thread_local"):
        for launch in launches:
            launch()
    recorded.replay()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(replays)]
    for start, stop in events:
        if before:
            before()
        start.record()
        recorded.replay()
        stop.record()
    torch.cuda.synchronize()
    return [1000 * start.elapsed_time(stop) / len(launches) for start, stop in events]


def measured(work: Workload, name: str, buffers: Views, truth: Any, before: Callable[[], Any] | None = None) -> float:
    """Microseconds of one launch of a peer. ``before``: as in :func:`replayed`.

    Raises:
        Refused: it does not take the problem. ValueError: its result is wrong.
    """
    import torch

    count = FEW_LAUNCHES if work.table == "few" else LAUNCHES
    launches = []
    for iteration in range(count):
        *inputs, output = buffers.views(work, iteration)
        launches.append(PEERS[name](work.op, inputs, output))
    *_, output = buffers.views(work, 0)
    output.fill_(float("nan"))
    result = launches[0]()
    torch.cuda.synchronize()
    if name != "copy":
        got = output if result is None or result is output else result[0] if isinstance(result, tuple) else result
        got = got if isinstance(got, torch.Tensor) else torch.from_dlpack(got)
        if wrong(work, got, truth):
            raise ValueError(f"{name} is wrong on {work}")
    graph = name not in WITHOUT_GRAPH
    if graph:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for launch in launches[:2]:
                launch()
        torch.cuda.synchronize()
    return microseconds(launches, graph, before)


def wanted(work: Workload, name: str, slow_cols: Sequence[int], selection: Selection = EVERYTHING) -> bool:
    """What is measured of a peer: of those that compile for long, what was asked for; of the slow ones, a part."""
    if not selection.takes_peer(name) or (selection.cols and work.cols not in selection.cols and name != "copy"):
        return False
    if name in SLOW and slow_cols and work.cols not in slow_cols:
        return False
    if name == "inductor" and work.table == "few":
        return False
    if name in WITHOUT_GRAPH and work.table == "few":
        return False
    return work.dtype != "float64" or name in ("copy", "fast", "oneflow", "torch")


def compiled(everything: Sequence[Workload], policy: str) -> dict[Workload, str]:
    """Plan and compile what softlab launches under a policy: problem -> the kernel's name."""
    make = partial(compile_plan, policy=policy)
    if len(everything) <= COMPILED_HERE:
        return {work: make(work) for work in everything}
    # A forked process could not use a GPU that this one has used already.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return dict(zip(everything, pool.map(make, everything), strict=True))


@dataclass
class _Session:
    """One run of the recorder: the kernels' names, the buffers in use, the missing peers, what was measured."""

    selection: Selection
    slow_cols: Sequence[int]
    report: Callable[[str], Any]
    kernels: dict[str, dict[Workload, str]]
    tables: dict[str, list[dict[str, Any]]]
    buffers: Buffers | None = None
    missing: set[str] = field(default_factory=set)

    def buffers_for(self, work: Workload) -> Buffers:
        """Buffers of the workload's dtype and number of inputs; those of another are freed first."""
        import torch

        if self.buffers is None or (self.buffers.dtype, self.buffers.inputs) != (work.dtype, work.inputs):
            self.buffers = None
            torch.cuda.empty_cache()
            self.buffers = Buffers(work.dtype, work.inputs)
        self.buffers.fit_to(work)
        return self.buffers

    def measure(self, work: Workload) -> None:
        """Time every wanted peer on a workload, as rows of its table and one line of the report."""
        buffers = self.buffers_for(work)
        truth = expected(work, buffers.views(work, 0)[:-1])
        line = [f"{work.op} {work.dtype} {work.rows} x {work.cols}:"]
        for name in PEERS:
            if name in self.missing or not wanted(work, name, self.slow_cols, self.selection):
                continue
            if (spent := self._time(work, name, buffers, truth)) is not None:
                row = self._row(work, name, spent)
                self.tables[work.table].append(row)
                few = work.table == "few"
                line.append(f"{name} {spent:.2f} us" if few else f"{name} {row['gigabytes_per_second']:.0f}")
        self.report(" ".join(line))

    def _time(self, work: Workload, name: str, buffers: Buffers, truth: Any) -> float | None:
        """Microseconds of a peer; None where it refuses the workload, is not installed or fails, which is reported."""
        import torch

        try:
            return measured(work, name, buffers, truth)
        except Refused:
            return None
        except ImportError as error:
            self.missing.add(name)
            self.report(f"{name} is not here: {error}")
        except Exception as error:
            torch.cuda.synchronize()
            self.report(f"{name} fails on {work}: {type(error).__name__}: {str(error)[:200]}")
        return None

    def _row(self, work: Workload, name: str, spent: float) -> dict[str, Any]:
        return {
            "op": work.op, "dtype": work.dtype, "peer": name, "kernel": self.kernels.get(name, {}).get(work, ""),
            "cols": work.cols, "rows": work.rows, "microseconds": round(spent, 2),
            "gigabytes_per_second": round(work.nbytes / spent / 1e3, 1),
        }  # fmt: skip


def record(
    selection: Selection, slow_cols: Sequence[int], report: Callable[[str], Any]
) -> dict[str, list[dict[str, Any]]]:
    """The wanted tables, as rows; a table without rows is left out. ``report`` gets a line for each problem.

    Raises:
        ValueError: nothing is to be measured.
    """
    everything = list(workloads(selection))
    if not everything:
        raise ValueError("no problem of that operator, dtype and table is measured")
    kernels = {
        policy: compiled([work for work in everything if wanted(work, policy, (), selection)], policy)
        for policy in ("fast", "oneflow")
    }
    report("compiled")
    session = _Session(selection, slow_cols, report, kernels, {name: [] for name in TABLE_KEYS})
    for work in everything:
        session.measure(work)
    return {name: rows for name, rows in session.tables.items() if rows}


def recorded(
    name: str, command: str, selection: Selection, slow_cols: Sequence[int], report: Callable[[str], Any]
) -> recordings.Recording:
    """Measure on the GPU of this machine.

    Raises:
        Error: PyTorch, whose streams and graphs time the launches, is missing or sees no GPU. ValueError: nothing is
        to be measured.
    """
    try:
        import torch
    except ImportError:
        raise Error("measuring takes PyTorch, which times the launches: pip install torch") from None
    if not torch.cuda.is_available():
        raise Error(f"measuring takes a GPU, and PyTorch {torch.__version__} sees none")
    rows = record(selection, slow_cols, report)
    return recordings.Recording(
        name=name,
        about='Policy "fast" beside its peers: softmax, log_softmax and their gradients.',
        device=torch.cuda.get_device_name(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=command,
        method=METHOD,
        versions={**_driver(), "NVRTC": nvrtc_version(), **fast_peers.versions()},
        sources=sources_digest(),
        tables={name: recordings.table_of(table) for name, table in rows.items()},
    )


def command_of(out: str, chosen: Mapping[str, str]) -> str:
    """The command that a recording names: every option that was given, under the parser's names."""
    options = (f"--{name.replace('_', '-')} {value}" for name, value in chosen.items())
    return " ".join(["python -m softlab.bench.record.fast", out, *options])


def _driver() -> dict[str, str]:
    """The driver's version, where its tool is on the path (in containers it need not be)."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return {"driver": subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]}
    except (OSError, subprocess.CalledProcessError):
        return {}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see the module's words."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.record.fast")
    parser.add_argument("out", type=Path, metavar="OUT.json")
    for name in ("tables", "ops", "dtypes", "cols", "peers"):
        parser.add_argument(
            f"--{name}", default="", metavar="A,B", help="only these, with commas between (default: all)"
        )
    parser.add_argument("--slow-cols", default="", help="columns for inductor and quack, as 32,1024 (default: all)")
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    chosen = {name: value for name, value in vars(given).items() if name != "out" and value}
    try:
        recording = recorded(
            given.out.stem,
            command_of(given.out.name, chosen),
            Selection.of(**{name: value for name, value in chosen.items() if name != "slow_cols"}),
            [int(cols) for cols in given.slow_cols.split(",") if cols],
            lambda line: print(f"{time.perf_counter() - began:6.1f} {line}", flush=True),
        )
    except (Error, ValueError) as error:
        parser.error(str(error))
    recordings.write(given.out, recording, TABLE_KEYS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
