"""Random cases (``tests/random_cases``) on the GPU, in as many processes as there are cores.

    python -m tests.hardware.random_cases --count 100000 --seed 1 --json tests/data/random_cases_h200.json
    python -m tests.hardware.random_cases --count 1000 --least 60000 --longest 5000000 --most 20000000 --fused 0
    python -m tests.hardware.random_cases --count 10000 --sms 4 --least 1 --longest 128 --most 150000 --fused 0.5
    python -m tests.hardware.random_cases --count 5000 --sms 4 --most 400000 --families all

With ``--families`` each case has a shape for which the plan takes one of these families of kernels, or of all.
Exit status 1 where a case fails, a process is lost, or a family that was asked for did not run; each failing case is
printed with the command that runs it again, alone. The cases are the same for any number of processes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from softlab.cuda import compile as compiler
from softlab.cuda import gpu
from softlab.hardware import devices
from tests.random_cases.cases import FUSED, ROWS, Case, drawn
from tests.random_cases.check import CaseExecutor, Outcome, judge, perform
from tests.random_cases.families import Aim, aimed, aims
from tests.random_cases.few_sms import MANY_ROWS, plan_for
from tests.random_cases.layouts import Layout
from tests.random_cases.prepare import prepare

#: Elements of an array at most: small, so that the oracle keeps up. A few rows are longer.
MOST, LONGEST = 60_000, 1_100_000
#: Cases that are launched before the first result is fetched, of as many elements at most; cases of one kernel that a
#: process takes at a time.
BATCH, BATCH_ELEMENTS, PORTION = 32, 4_000_000, 256


class Gpu:
    """CuPy's or PyTorch's arrays, on the current GPU."""

    aligns = False
    repeats = True

    def memory(self, host: np.ndarray, case: Case) -> Any:
        import cupy

        # PyTorch has no negative strides.
        layouts = {*case.memory, case.fusion.layout if case.fusion else "plain"}
        if case.lender != "torch" or {"reversed_axes", "anyhow"} & layouts:
            return cupy.asarray(host)
        import torch

        kind = getattr(torch, host.dtype.name)
        return torch.from_numpy(host.view(np.uint8).copy()).cuda().view(kind)

    def view(self, memory: Any, layout: Layout, shape: tuple[int, ...]) -> Any:
        import cupy

        if not isinstance(memory, cupy.ndarray):
            return memory.as_strided(shape, layout.strides, layout.offset)
        strides = tuple(stride * memory.itemsize for stride in layout.strides)
        start = memory.data + layout.offset * memory.itemsize
        return cupy.ndarray(shape, memory.dtype, start, strides)

    def fetch(self, array: Any) -> np.ndarray:
        if hasattr(array, "get"):
            return array.get()
        import torch

        host = array.cpu().contiguous()
        if host.dtype != torch.bfloat16:
            return host.numpy()
        import ml_dtypes

        return host.view(torch.int16).numpy().view(ml_dtypes.bfloat16)

    def cast(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        import cupy

        return cupy.asarray(array).astype(dtype).get()


@dataclass(frozen=True)
class Drawing:
    """How cases are drawn: all that a number needs to become a case.

    ``sms``: the SMs that plans are for; 0: all. ``families``: those of kernels that shapes are for, or "all"; none:
    shapes are for no kernel.
    """

    seed: int
    policies: tuple[str, ...]
    most: int = MOST
    least: int = 0
    longest: int = LONGEST
    fused: float = FUSED
    sms: int = 0
    families: tuple[str, ...] = ()

    @cached_property
    def aims(self) -> tuple[Aim, ...]:
        """Shapes for the families. A process gets them with the drawing, if they are known."""
        if not self.families:
            return ()
        device = devices.resolve()
        wanted = () if self.families == ("all",) else self.families
        return aims(replace(device, sm_count=self.sms or device.sm_count), self.most, wanted, self.policies)

    def case(self, number: int) -> Case:
        if self.families:
            return aimed(self.seed, number, self.aims)
        lengths: Any = {"most": self.most, "least": self.least, "longest": self.longest}
        rows = MANY_ROWS if self.sms else ROWS
        return drawn(self.seed, number, **lengths, policies=self.policies, fused=self.fused, rows=rows)

    @property
    def batch(self) -> int:
        """Cases that a process has in memory at once."""
        return max(1, min(BATCH, BATCH_ELEMENTS // self.most))

    @property
    def options(self) -> str:
        """The command's options that are not as they are by default."""
        plain = Drawing(self.seed, self.policies)
        names = ("most", "least", "longest", "fused", "sms")
        said = [f"--{name} {getattr(self, name)}" for name in names if getattr(self, name) != getattr(plain, name)]
        families = [f"--families {' '.join(self.families)}"] if self.families else []
        return " ".join([f"--seed {self.seed}", f"--policies {' '.join(self.policies)}", *said, *families])


def _group(job: tuple[Drawing, range]) -> list[tuple[tuple, int]]:
    """Each number with what decides its kernel, so that one process compiles and loads it."""
    drawing, numbers = job
    found = []
    for number in numbers:
        case = drawing.case(number)
        two_rows = case.rows % 2 if case.cols <= 64 else 0
        fusion = case.fusion.name if case.fusion else ""
        found.append(((case.op, case.result, case.policy, case.cols, case.stride, two_rows, fusion), number))
    return found


def _portion(job: tuple[Drawing, list[int]]) -> tuple[list[Outcome], set[str]]:
    """Run the cases of one kind; the outcomes, and the kernels that this process has loaded so far."""
    drawing, numbers = job
    executor, outcomes = Gpu(), []
    for start in range(0, len(numbers), drawing.batch):
        cases = [drawing.case(number) for number in numbers[start : start + drawing.batch]]
        performed = [perform(prepare(case), executor) for case in cases]
        outcomes += [_judged(one, executor) for one in performed]
    return outcomes, set(_loaded)


#: The kernels, without template arguments, that this process has loaded.
_loaded: set[str] = set()


def note_loaded_kernels() -> None:
    """From now on this process notes the kernels that it loads."""
    load = gpu._function

    def noted(program: Any, device: int) -> Any:
        _loaded.add(program.name.partition("<")[0])
        return load(program, device)

    gpu._function = noted


def _begin(sms: int) -> None:
    """How a process begins."""
    note_loaded_kernels()
    if sms:
        plan_for(sms)


def _judged(performed: Any, executor: CaseExecutor) -> Outcome:
    try:
        return judge(performed, executor)
    except Exception as error:  # a kernel's fault shows when its result is fetched
        return Outcome(performed.prepared.case, f"{type(error).__name__}: {error}")


def outcomes(
    drawing: Drawing, count: int, processes: int, seconds: float = np.inf, kernels: set[str] | None = None
) -> Iterator[Outcome]:
    """Run the first cases, in any order, until their number or the time is reached.

    Arguments:
        kernels: gets the names of all kernels that were loaded.

    Raises:
        BrokenProcessPool: a process was killed or crashed. Nobody knows then which case did it.
    """
    started = time.monotonic()
    with _pool(processes, drawing.sms) as pool:
        ranges = [(drawing, range(first, min(first + 500, count))) for first in range(0, count, 500)]
        groups: dict[tuple, list[int]] = defaultdict(list)
        for key, number in chain.from_iterable(pool.map(_group, ranges)):
            groups[key].append(number)
        portions = [
            (drawing, numbers[start : start + PORTION])
            for numbers in sorted(groups.values(), key=len, reverse=True)
            for start in range(0, len(numbers), PORTION)
        ]
        for ended in as_completed([pool.submit(_portion, portion) for portion in portions]):
            portion, loaded = ended.result()
            yield from portion
            if kernels is not None:
                kernels |= loaded
            if time.monotonic() - started > seconds:
                return


@contextmanager
def _pool(processes: int, sms: int) -> Iterator[ProcessPoolExecutor]:
    """Processes with a GPU context each. At the end of the block they end, too, whatever they do."""
    others = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")  # a process with a GPU context cannot be forked
    with ProcessPoolExecutor(processes, context, _begin, (sms,)) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for own in multiprocessing.active_children():
                if own not in others:
                    own.terminate()


def summary(done: Iterable[Outcome]) -> dict[str, Any]:
    """The number of cases per class, and how near they came to their bounds. A lost process is a failure."""
    counts: dict[str, Counter] = defaultdict(Counter)
    margins: dict[str, float] = defaultdict(float)
    failures, compared, undetermined = [], 0, 0
    try:
        for outcome in done:
            case = outcome.case
            for field, value in classes(outcome):
                counts[field][value] += 1
            fused = " fused" if case.fusion else ""
            kernel = f"{case.op} {case.result} {case.policy}{fused} {outcome.kernel}"
            margins[kernel] = max(margins[kernel], round(outcome.ratio, 4))
            compared += outcome.compared
            undetermined += outcome.undetermined
            if outcome.problem:
                failures.append({"case": str(case), "problem": outcome.problem})
    except BrokenProcessPool as error:
        failures.insert(0, {"case": "", "problem": f"a process is lost, and with it all cases not counted: {error}"})
    return {
        "cases": sum(counts["op"].values()),
        "failed": len(failures),
        "elements": compared,
        "undetermined": undetermined,
        "worst error / bound": dict(sorted(margins.items())),
        "classes": {field: dict(sorted(counter.items())) for field, counter in sorted(counts.items())},
        "failures": failures[:50],
    }


def classes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What a case counts for: (class, member)."""
    case = outcome.case
    yield from (("op", case.op), ("dtype", case.result), ("policy", case.policy), ("out", case.out))
    yield from (("kernel", outcome.kernel), ("library", case.lender), ("dimensions", str(len(case.shape))))
    yield "fusion", case.fusion.name if case.fusion else "none"
    yield "cast from", case.dtype if case.cast else "none"
    yield "axis", "last" if not case.shape or case.axis in (-1, len(case.shape) - 1) else "other"
    for k, (kind, layout) in enumerate(zip(case.kinds, case.memory, strict=False)):
        yield f"values of input {k}", kind
        yield f"layout of input {k}", layout


def about() -> dict[str, str]:
    """What it ran on."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return {
        "gpu": properties["name"].decode(),
        "driver": str(cupy.cuda.runtime.driverGetVersion()),
        "nvrtc": compiler.nvrtc_version(),
        "cupy": cupy.__version__,
        "numpy": np.__version__,
        "sources": compiler.sources_digest(),
        "date": datetime.date.today().isoformat(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardware.random_cases", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", nargs="+", default=["oneflow", "fast"])
    parser.add_argument("--fused", type=float, default=FUSED, help="the share of fused cases")
    parser.add_argument("--most", type=int, default=MOST, help="elements of an array (one row may have more)")
    parser.add_argument("--least", type=int, default=0, help="columns at least: then all lengths up to --longest")
    parser.add_argument("--longest", type=int, default=LONGEST, help="columns at most")
    parser.add_argument("--sms", type=int, default=0, help="number of SMs to plan for, with more rows; 0: all")
    parser.add_argument("--families", nargs="+", default=[], help="families of kernels that shapes are for, or: all")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=np.inf, help="end after so long, with fewer cases")
    parser.add_argument("--json", type=Path, help="write the summary there")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    lengths = {"most": given.most, "least": given.least, "longest": given.longest}
    drawn: dict[str, Any] = {**lengths, "fused": given.fused, "sms": given.sms, "families": tuple(given.families)}
    drawing = Drawing(given.seed, tuple(given.policies), **drawn)
    wanted = {aim.family for aim in drawing.aims}
    kernels: set[str] = set()
    record = summary(outcomes(drawing, given.count, given.processes, given.seconds, kernels))
    cut = f" --seconds {given.seconds:g}" if given.seconds < np.inf else ""
    command = f"python -m tests.hardware.random_cases --count {given.count}{cut} {drawing.options}"
    record = {
        "command": command,
        **about(),
        "seconds": round(time.monotonic() - started),
        "kernels": sorted(kernels),
        "missing": sorted(wanted - kernels),
        **record,
    }
    for failure in record["failures"][:10]:
        sms = f" --sms {drawing.sms}" if drawing.sms else ""
        again = f"\n  python -m tests.random_cases --gpu{sms} --case '{failure['case']}'" if failure["case"] else ""
        print(f"{failure['problem']}{again}")
    print({key: value for key, value in record.items() if key not in ("failures", "classes")})
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if record["failed"] or record["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
