"""Every family of shipped kernels under compute-sanitizer: memcheck, racecheck, initcheck, synccheck.

    python -m tests.hardware.sanitize --json tests/data/sanitizer_operators_h200.json

First a run without a tool compiles the kernels and compares each result with the oracle. Then each tool watches one
process per policy and dtype, all at the same time. There each result, and all memory around it, must have the same bits
as without a tool: that costs less than the oracle. A control shows that each tool reports its kind of fault
here: a kernel with such a fault. Every array is an allocation of its own (CuPy's memory pool would hide an
access beyond its end). Exit status 1 where anything is reported, a result is wrong, or a control is not found.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

import softlab
from softlab import plans
from softlab.cuda import gpu
from softlab.dtypes import ELEMENT_TYPES
from softlab.operators import executors
from softlab.plans.instantiations import WIDEST_PACK_BYTES
from softlab.plans.planner import OPERATORS
from tests.hardware.random_cases import Gpu, about
from tests.random_cases import oracle
from tests.random_cases.bounds import Arithmetic, compare
from tests.random_cases.cases import BACKWARD, Case
from tests.random_cases.check import CaseExecutor, judge, perform
from tests.random_cases.families import Aim, aims
from tests.random_cases.fusions import CaseFusion
from tests.random_cases.prepare import prepare

#: A group of lanes with and without padding, both widths of a lane's columns, unaligned lengths, the longest row of
#: each kernel, and (float64, or beyond it) the uncached one.
LENGTHS = (1, 5, 31, 32, 66, 500, 1023, 1024, 1025, 2050, 6136, 6141, 12272, 12275)
#: Lengths of the cluster kernel, the pipeline, the grid kernel and the kernel that reads rows again.
FAST_LENGTHS = (3000, 20_000, 70_000, 100_001, 140_001, 400_001, 1_100_000)
#: Rows and columns of doubles for the pipeline. Fewer rows than half the SMs go to clusters.
PIPELINES = ((70, 3000), (140, 12_289), (70, 40_001))
#: The longest rows, by the bytes of an element: SMs, rows, columns. They are planned for a GPU of few SMs, where
#: shorter rows than on a whole one go through a ring, or are longer than it: some that registers and the ring hold
#: together, and some that are read again. So each tool takes a few seconds for them.
FEW_SMS = {
    2: ((16, 6, 328_800), (16, 6, 328_803), (16, 4, 1_200_003), (3, 4, 450_000), (4, 2, 2_097_603)),
    4: ((16, 6, 164_400), (16, 6, 164_403), (16, 4, 600_003), (3, 4, 225_000), (4, 2, 1_048_803)),
    8: ((16, 6, 132_002), (16, 6, 132_003), (16, 4, 300_003), (3, 4, 112_500), (4, 2, 524_403)),
}
#: Rows whose ring has steps of three and five packs, on few SMs that have the memory of as many SMs of a whole GPU.
LARGE_STEPS = {2: (40, 20, 328_800), 4: (32, 20, 280_000)}
#: Rows that begin at no multiple of a pack move one element at a time. Rows that no kernel holds so are read twice.
SINGLE_ELEMENTS = {2: (2, 70_001), 4: (2, 262_145), 8: (2, 262_145)}
#: racecheck follows no order through __syncwarp(). With this option all lanes of a warp arrive at the mbarriers of the
#: grid and the ring kernel, and not one for all. Nothing else changes, so the bits are the same.
EVERY_LANE = ("-DSOFTLAB_EVERY_LANE_ARRIVES",)
#: Arrays of two dimensions of which the first is the axis: whole rows in a thread, a cluster, shifted packs in a block
#: (of doubles; then of all types, in an array that ends with a pack); and shifted packs in a cluster, which only long
#: arrays take. racecheck is too slow for those.
STRIDED, STRIDED_IN_CLUSTERS = ((9, 640), (2000, 40), (21, 9001), (32, 9001)), ((700, 5001),)
#: Elements and stride of long rows along another axis: blocks all over the GPU share them, and doubles are read twice.
LONG_STRIDED = ((60_000, 20), (60_000, 21))
#: Many short rows, which move in tiles.
TILES = ((40_000, 3), (40_000, 10))
#: Matrices of fused tiles, and whether each row has a bias and a mask of its own, which move with the tile.
FUSED_TILES = tuple(product(((1700, 20, 20), (680, 50, 35)), (False, True)))
#: Families that no launch above takes. Problems are drawn at random, and the plan says which of them a family takes.
#: Below: the SMs of the GPU that is planned for, the problems that are drawn, and the most elements of an array.
SELDOM = {
    "fast": ("fast_columns_backward",),
    "invariant": ("invariant_stream", "invariant_stream_backward", "invariant_tile", "invariant_tile_backward"),
}
SELDOM_SMS, SELDOM_DRAWN, SELDOM_ELEMENTS = 4, 3000, 140_000
#: The longest row under a tool. racecheck is slow: it runs no pipelines, and no rows above that begin in the
#: middle of a pack. In double precision 140 001 columns take the other kernels.
LONGEST = {"memcheck": 1_100_000, "racecheck": 140_001, "initcheck": 1_100_000, "synccheck": 1_100_000}
ROWS = {True: 6, False: 3}  # even, so that a warp takes two short rows; odd and few where they are long
#: Everything that can be fused, in each kernel: operands along the row, or with one element per row.
FUSED_LENGTHS = (5, 64, 1100, 12275)
#: The same under policy "fast": lanes with packs of one element and of 16 bytes, a block, a cluster.
FAST_FUSED_LENGTHS = (5, 64, 1100, 20_000)
OPERANDS = ((True, True), (True, False), (False, True))
#: What dispatch never chooses but a lesson can force: wider packs, other layouts, other blocks.
FORCED_LENGTHS = (64, 1000)
FORCED: tuple[Mapping[str, Any], ...] = (
    *({"kernel": "warp", "pack_size": pack} for pack in (4, 8)),
    *({"kernel": "block_uncached", "pack_size": pack, "block_size": 256} for pack in (1, 4, 8)),
    *(
        {"kernel": "block_smem", "pack_size": pack, "layout": layout, "block_size": 128}
        for pack, layout in product((1, 2, 4, 8), ("column", "row", "row_scalar"))
    ),
)
#: The tool whose processes have one operator each: it takes longest.
SLOWEST = "racecheck"
#: Seconds per process where nothing else runs on the machine.
LIMIT = 360


@dataclass(frozen=True)
class LaunchSelection:
    """The launches of one process, or of all."""

    policies: tuple[str, ...] = ("oneflow", "fast", "invariant")
    ops: tuple[str, ...] = tuple(OPERATORS)
    dtypes: tuple[str, ...] = tuple(ELEMENT_TYPES)
    longest: int = max(LONGEST.values())
    only: str = ""

    def options(self) -> list[str]:
        """As options of this command."""
        several = ["--policies", *self.policies, "--ops", *self.ops, "--dtypes", *self.dtypes]
        return [*several, "--longest", str(self.longest), *(("--only", self.only) if self.only else ())]


@dataclass(frozen=True)
class Ran:
    """What a call left in memory, in copies on the host, and the check with the oracle: "" or what is wrong."""

    arrays: tuple[np.ndarray, ...]
    check: Callable[[], str]

    @property
    def digest(self) -> int:
        """A number of all bits."""
        return reduce(lambda so_far, array: zlib.crc32(array.tobytes(), so_far), self.arrays, 0)


@dataclass(frozen=True)
class CheckedCall:
    """One call, under its name."""

    name: str
    launch: Callable[[CaseExecutor], Ran]

    def run(self, executor: CaseExecutor) -> str:
        """What is wrong with the result; "" if nothing."""
        return self.launch(executor).check()


def launches(selection: LaunchSelection) -> Iterator[CheckedCall]:
    """The launches that each tool watches."""
    return (launch for launch in _every_launch(selection) if selection.only in launch.name)


def _every_launch(selection: LaunchSelection) -> Iterator[CheckedCall]:
    for policy, op, dtype, cols in product(selection.policies, selection.ops, selection.dtypes, LENGTHS):
        for layout in ("plain", "shifted"):
            case = _case(op, dtype, cols, layout, policy)
            yield CheckedCall(str(case), partial(_run_case, case))
    # Other kernels take shifted arrays, whose elements move one by one, than the same rows in packs.
    slow = selection.longest <= LONGEST["racecheck"]
    layouts = ("plain",) if slow else ("plain", "shifted")
    for op, dtype, cols, layout in product(selection.ops, selection.dtypes, FAST_LENGTHS, layouts):
        if "fast" in selection.policies and cols <= selection.longest:
            case = _case(op, dtype, cols, layout, "fast")
            yield CheckedCall(str(case), partial(_run_case, case))
    if "fast" in selection.policies:
        for op, dtype, shape in product(selection.ops, selection.dtypes, TILES):
            case = replace(_case(op, dtype, shape[1], "plain", "fast"), shape=shape)
            yield CheckedCall(str(case), partial(_run_case, case))
    if "fast" in selection.policies and "float64" in selection.dtypes and not slow:
        for op, shape in product(selection.ops, PIPELINES):
            case = replace(_case(op, "float64", shape[1], "plain", "fast"), shape=shape)
            yield CheckedCall(str(case), partial(_run_case, case))
    if "fast" in selection.policies:
        for op, dtype in product(selection.ops, selection.dtypes):
            for sms, rows, cols in FEW_SMS[ELEMENT_TYPES[dtype].itemsize]:
                run = partial(_run_on_few_sms, op, dtype, sms, rows, cols, EVERY_LANE if slow else ())
                yield CheckedCall(f"{op} {dtype} {rows} x {cols} on {sms} SMs", run)
            if steps := LARGE_STEPS.get(ELEMENT_TYPES[dtype].itemsize):
                run = partial(_run_in_large_steps, op, dtype, *steps, EVERY_LANE if slow else ())
                yield CheckedCall(f"{op} {dtype} {steps[1]} x {steps[2]} in large steps on {steps[0]} SMs", run)
            rows, cols = SINGLE_ELEMENTS[ELEMENT_TYPES[dtype].itemsize]
            single = partial(_run_in_single_elements, op, dtype, rows, cols)
            yield CheckedCall(f"{op} {dtype} {rows} x {cols} in single elements", single)
            for shape in (*STRIDED, *(() if slow else STRIDED_IN_CLUSTERS)):
                case = replace(_case(op, dtype, shape[1], "plain", "fast"), shape=shape, axis=0)
                yield CheckedCall(str(case), partial(_run_case, case))
            for cols, stride in LONG_STRIDED:
                run = partial(_run_strided, op, dtype, cols, stride, EVERY_LANE if slow else ())
                yield CheckedCall(f"{op} {dtype} {cols} x {stride} along the first axis", run)
        yield from _fused_launches(selection, "fast", FAST_FUSED_LENGTHS)
        for op, dtype, (shape, own) in product(selection.ops, selection.dtypes, FUSED_TILES):
            fusion = _everything(op, (True, True, True))
            if not own:
                fusion = replace(fusion, bias=None, mask=None)
            case = replace(_case(op, dtype, shape[-1], "plain", "fast"), shape=shape, fusion=fusion)
            yield CheckedCall(str(case), partial(_run_case, case))
    if "oneflow" in selection.policies:
        yield from _other_launches(selection)
    for policy in selection.policies:
        yield from _seldom_launches(selection, policy)


def _seldom_launches(selection: LaunchSelection, policy: str) -> Iterator[CheckedCall]:
    """The largest problem of each of the policy's families of ``SELDOM``, by operator and type."""
    if policy not in SELDOM:
        return
    few = replace(softlab.Device.present() or softlab.Device.named("H200"), sm_count=SELDOM_SMS)
    found = aims(few, SELDOM_ELEMENTS, SELDOM[policy], (policy,), tried=SELDOM_DRAWN)
    for op, dtype, family in product(selection.ops, selection.dtypes, SELDOM[policy]):
        of_it = [aim for aim in found if (aim.family, aim.op, aim.dtype) == (family, op, dtype)]
        largest = max(of_it, key=lambda aim: aim.elements, default=None)
        if largest is not None and largest.cols <= selection.longest:
            shape = f"{largest.outer} x {largest.cols} x {largest.stride}"
            run = partial(_run_aim, largest)
            yield CheckedCall(f"{op} {dtype} {shape} in {family} by plan", run)


def _other_launches(selection: LaunchSelection) -> Iterator[CheckedCall]:
    """Only for policy "oneflow": fused kernels, and forced ones."""
    yield from _fused_launches(selection, "oneflow", FUSED_LENGTHS)
    for op, dtype, cols, forced in product(selection.ops, selection.dtypes, FORCED_LENGTHS, FORCED):
        if forced["pack_size"] * ELEMENT_TYPES[dtype].itemsize <= WIDEST_PACK_BYTES:
            yield CheckedCall(f"{op} {dtype} {cols} {dict(forced)}", partial(_run_forced, op, dtype, cols, forced))


def _fused_launches(selection: LaunchSelection, policy: str, lengths: Sequence[int]) -> Iterator[CheckedCall]:
    layout = "shifted" if policy == "oneflow" else "plain"
    for op, dtype, cols, varies in product(selection.ops, selection.dtypes, lengths, OPERANDS):
        case = replace(_case(op, dtype, cols, layout, policy), fusion=_everything(op, varies))
        yield CheckedCall(str(case), partial(_run_case, case))


def _case(op: str, dtype: str, cols: int, layout: str, policy: str) -> Case:
    inputs = 2 if op in BACKWARD else 1
    return Case(
        op=op, shape=(ROWS[cols < 100], cols), axis=-1, dtype=dtype, draw=cols, kinds=("normal",) * inputs,
        memory=(layout,) * (inputs + 1), out="own with any layout", policy=policy,
    )  # fmt: skip


def _everything(op: str, varies: tuple[bool, ...]) -> CaseFusion:
    bias = None if op in BACKWARD else varies
    dropout = 0.0 if op.startswith("log") else 0.5
    return CaseFusion(scale=0.125, bias=bias, mask=varies, causal=True, diagonal=1, dropout=dropout, seed=7)


def _run_case(case: Case, executor: CaseExecutor) -> Ran:
    done = perform(prepare(case), executor)
    if done.raised:
        return Ran((), lambda: done.raised)
    left = tuple(executor.fetch(array) for array in (*done.results, *done.memories))
    return Ran(left, lambda: judge(done, executor).problem)


def _run_forced(op: str, dtype: str, cols: int, forced: Mapping[str, Any], executor: CaseExecutor) -> Ran:
    """A kernel that is asked for."""
    return _run_plan(plans.forced(ROWS[False], cols, dtype, op=op, **forced), executor)


def _run_on_few_sms(
    op: str, dtype: str, sms: int, rows: int, cols: int, options: tuple[str, ...], executor: CaseExecutor
) -> Ran:
    """The plan for a GPU of few SMs."""
    few = replace(softlab.Device.present() or softlab.Device.named("H200"), sm_count=sms)
    return _run_plan(plans.plan(rows, cols, dtype, op=op, policy="fast", device=few, options=options), executor)


def _run_aim(aim: Aim, executor: CaseExecutor) -> Ran:
    """A problem that a family takes on few SMs."""
    few = replace(softlab.Device.present() or softlab.Device.named("H200"), sm_count=SELDOM_SMS)
    return _run_plan(aim.plan(few), executor)


def _run_in_large_steps(
    op: str, dtype: str, sms: int, rows: int, cols: int, options: tuple[str, ...], executor: CaseExecutor
) -> Ran:
    """The plan of an H200 with so few SMs, and their part of its bandwidth."""
    whole = softlab.Device.named("H200")
    few = replace(whole, sm_count=sms, memory_bandwidth=whole.memory_bandwidth * sms / whole.sm_count)
    return _run_plan(plans.plan(rows, cols, dtype, op=op, policy="fast", device=few, options=options), executor)


def _run_strided(op: str, dtype: str, cols: int, stride: int, options: tuple[str, ...], executor: CaseExecutor) -> Ran:
    """Rows along the first of two axes."""
    plan = plans.plan(stride, cols, dtype, op=op, policy="fast", options=options, stride=stride)
    return _run_plan(plan, executor)


def _run_in_single_elements(op: str, dtype: str, rows: int, cols: int, executor: CaseExecutor) -> Ran:
    """A row that no kernel holds in packs of one element."""
    return _run_plan(plans.forced(rows, cols, dtype, op=op, policy="fast", pack_size=1), executor)


def _run_plan(plan: plans.Plan, executor: CaseExecutor) -> Ran:
    """A plan, on plain arrays. If it has a stride, its rows lie along the middle one of three axes."""
    case = _case(plan.op, plan.dtype, plan.cols, "plain", plan.policy)
    random = np.random.default_rng(0)
    element, inputs = ELEMENT_TYPES[plan.dtype], len(case.kinds)
    shape = (plan.rows // plan.stride, plan.cols, plan.stride)
    hosts = [random.standard_normal(shape).astype(element.numpy) for _ in range(inputs)]
    arrays = [executor.memory(host, case) for host in hosts]
    output = executor.memory(np.full_like(hosts[0], 12345), case)
    on_gpu = not isinstance(output, np.ndarray)
    executors.executor_for(on_gpu).ready(plan, executors.arguments(plan, arrays, output), False)()
    result = executor.fetch(output)

    def check() -> str:
        arithmetic = Arithmetic(element.compute, fast=element.compute == "float32")
        formula: Any = {**oracle.FORWARD, **oracle.BACKWARD}[plan.op]
        rows = [np.swapaxes(host, 1, 2) for host in hosts]
        expected = formula(arithmetic, *map(arithmetic.exact, rows), oracle.evaluation(plan))
        wrong = compare(np.swapaxes(result, 1, 2), expected, element.compute).wrong
        return f"{np.count_nonzero(wrong)} elements are off" if wrong.any() else ""

    return Ran((result,), check)


# What runs under a tool


def watched(selection: LaunchSelection, known: Mapping[str, int]) -> int:
    """Run all launches; the last line of the output sums them up for the parent process.

    Arguments:
        known: name of a call -> the digest that it must have. The oracle judges the others.
    """
    import cupy

    cupy.cuda.set_allocator(None)
    names: set[str] = set()
    load = gpu._function

    def noted(program: Any, device: int) -> Any:
        names.add(program.name)
        return load(program, device)

    gpu._function = noted  # every launch asks it for the kernel, or has asked it when it was made ready
    failed, digests = [], {}
    for one in launches(selection):
        print(one.name, flush=True)  # where a process that is killed has come to
        ran = one.launch(Gpu())
        digests[one.name] = ran.digest
        if problem := problem_of(ran, known.get(one.name)):
            failed.append(f"{one.name}: {problem}")
    families = sorted({name.partition("<")[0] for name in names})
    about_it = {"launches": len(digests), "kernels": len(names), "families": families, "wrong": failed[:20]}
    print(json.dumps({**about_it, "digests": digests}))
    return 1 if failed else 0


def problem_of(ran: Ran, known: int | None) -> str:
    """What is wrong with a call whose digest is known; without that, what the oracle finds."""
    if known is None:
        return ran.check()
    return "" if ran.digest == known else "not the bits of the run without a tool"


#: A fault of the kind that a tool is for: (source of kernel k(int* x), elements of x, whether x is written first).
CONTROLS: Mapping[str, tuple[str, int, bool]] = MappingProxyType(
    {
        "memcheck": ("x[64 + t] = 1;", 64, True),
        "racecheck": ("__shared__ int w[64]; w[t] = x[t]; x[t] = w[63 - t];", 64, True),
        "initcheck": ("x[t] = x[t + 64] + 1;", 128, False),
        "synccheck": ("if (x[t] >= 0 && t < 16) { __syncthreads(); } x[t] = 1;", 64, True),
    }
)


def control(tool: str) -> None:
    """Launch the tool's control."""
    import cupy

    cupy.cuda.set_allocator(None)
    body, size, written = CONTROLS[tool]
    source = f'extern "C" __global__ void k(int* x) {{ const int t = threadIdx.x; {body} }}'
    kernel = softlab.Kernel(source, "k", arch=softlab.Device.present().arch)
    x = cupy.zeros(size, np.int32) if written else cupy.empty(size, np.int32)
    gpu.launch(kernel.program, (1,), (64,), (x,), 0)
    cupy.cuda.Device().synchronize()


# The parent process

#: How the line begins by which a process sums itself up. The lines before it are the names of launches.
_SUMMED_UP = '{"launches"'
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
_REPORT = re.compile(r"^========= (?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|\s)(.+)$", re.MULTILINE)


def watching(tool: str, arguments: Sequence[str], limit: int = LIMIT) -> dict[str, Any]:
    """This command under a tool."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "5"]
    return read(process([*command, sys.executable, "-m", "tests.hardware.sanitize", *arguments], limit))


def read(found: dict[str, Any]) -> dict[str, Any]:
    """With what the tool reports: ``errors`` is None where it did not come to its end."""
    summary = _SUMMARY.search(found["output"])
    errors = int(summary.group(1)) if summary else None
    return {**found, "errors": errors, "reports": _REPORT.findall(found["output"])[:5]}


def process(command: Sequence[str], limit: int = LIMIT) -> dict[str, Any]:
    """Run it to its end or the limit: exit status, time, the launch it reached, output, and what its last line says."""
    started = time.monotonic()
    done = subprocess.run(["timeout", "-s", "KILL", str(limit), *command], capture_output=True, text=True, check=False)
    own = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(_SUMMED_UP)]
    named = [line for line in done.stdout.splitlines() if line and not line.startswith(("=====", _SUMMED_UP))]
    about_it = {
        "exit": done.returncode, "seconds": round(time.monotonic() - started), "reached": named[-1] if named else "",
    }  # fmt: skip
    return {**about_it, **(own[0] if own else {}), "output": done.stdout + done.stderr}


def summed_up(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The answers of one tool's processes as one; their output where one did not come to its end."""
    errors = [answer.get("errors") for answer in answers]
    kept = {
        "errors": None if None in errors else sum(errors),
        "exit": [answer["exit"] for answer in answers],
        "launches": sum(answer.get("launches", 0) for answer in answers),
        "kernels": sum(answer.get("kernels", 0) for answer in answers),
        "families": sorted({family for answer in answers for family in answer.get("families", ())}),
        "wrong": [name for answer in answers for name in answer.get("wrong", ())],
        "reports": [report for answer in answers for report in answer.get("reports", ())],
        "seconds": max(answer["seconds"] for answer in answers),
    }
    lost = [
        [f"ended in {answer['reached']!r}", *answer["output"][-1500:].splitlines()]
        for answer in answers
        if "launches" not in answer
    ]
    return {**kept, "lost": lost} if lost else kept


def clean(answer: Mapping[str, Any]) -> bool:
    """Every process came to its end with nothing to report, and every result was right."""
    return answer["errors"] == 0 and not any(answer["exit"]) and not answer["wrong"] and "lost" not in answer


def said(command: Sequence[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def recorded(selection: LaunchSelection, tools: Sequence[str], limit: int = LIMIT) -> dict[str, Any]:
    """Run all: without a tool first, then under each of them."""
    watched = [sys.executable, "-m", "tests.hardware.sanitize", "--watched"]
    each = [
        replace(selection, policies=(policy,), dtypes=(dtype,))
        for policy, dtype in product(selection.policies, selection.dtypes)
    ]
    singles = [replace(part, ops=(op,)) for part, op in product(each, selection.ops)]
    divided = {tool: singles if tool == SLOWEST else each for tool in tools}
    with TemporaryDirectory() as folder, ThreadPoolExecutor(len(tools) + sum(map(len, divided.values()))) as pool:
        before = list(pool.map(lambda part: process([*watched, *part.options()], limit), singles))
        known = Path(folder) / "digests.json"
        known.write_text(
            json.dumps({name: one for answer in before for name, one in answer.get("digests", {}).items()})
        )
        under: dict[tuple[str, str], list[Future[dict[str, Any]]]] = defaultdict(list)
        for tool in sorted(tools, key=lambda tool: tool != SLOWEST):
            for part in divided[tool]:
                shorter = replace(part, longest=min(part.longest, LONGEST[tool]))
                options = ["--watched", *shorter.options(), "--digests", str(known)]
                under[tool, part.policies[0]].append(pool.submit(watching, tool, options, limit))
        controls = {tool: pool.submit(watching, tool, ["--control", tool], limit) for tool in tools}
    shown = ("errors", "reports", "exit")
    return {
        "command": " ".join(["python -m tests.hardware.sanitize", *selection.options()]),
        **about(),
        "sanitizer": re.findall(r"Version (\S+)", said(["compute-sanitizer", "--version"])),
        "without a tool": summed_up([{"errors": 0, **answer} for answer in before]),
        "tools": {
            f"{tool}, {policy}": summed_up([future.result() for future in futures])
            for (tool, policy), futures in under.items()
        },
        "controls": {tool: {key: future.result()[key] for key in shown} for tool, future in controls.items()},
    }


def passed(record: Mapping[str, Any]) -> bool:
    """All controls were found, and nothing else."""
    found = all(answer["errors"] for answer in record["controls"].values())
    return found and clean(record["without a tool"]) and all(clean(answer) for answer in record["tools"].values())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardware.sanitize", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the summary there, beside what other tools and policies gave")
    parser.add_argument("--tools", nargs="+", default=list(CONTROLS), choices=CONTROLS)
    every = LaunchSelection()
    for name in ("policies", "ops", "dtypes"):
        parser.add_argument(f"--{name}", nargs="+", default=list(getattr(every, name)))
    parser.add_argument("--longest", type=int, default=every.longest, help="columns of a row at most")
    parser.add_argument("--only", default="", help="launches whose name has this text: ' SMs' for the longest rows")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds per process; more beside other work")
    parser.add_argument("--watched", action="store_true", help="only run the launches, in this process")
    parser.add_argument("--digests", type=Path, help="the digests of the run without a tool, for --watched")
    parser.add_argument("--control", choices=CONTROLS, help="only run that tool's control, in this process")
    given = parser.parse_args(arguments)
    chosen = (tuple(given.policies), tuple(given.ops), tuple(given.dtypes))
    selection = LaunchSelection(*chosen, given.longest, given.only)
    if given.control:
        control(given.control)
        return 0
    if given.watched:
        return watched(selection, json.loads(given.digests.read_text()) if given.digests else {})
    record = recorded(selection, given.tools, given.limit)
    print(json.dumps(record, indent=1))
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(beside(given.json, record), indent=1) + "\n")
    return 0 if passed(record) else 1


def beside(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """The record with what is in the file of other tools and policies, if that is of the same kernels."""
    try:
        earlier = json.loads(path.read_text())
    except FileNotFoundError:
        return record
    if earlier["sources"] != record["sources"]:
        return record
    return {**record, **{part: {**earlier[part], **record[part]} for part in ("tools", "controls")}}


if __name__ == "__main__":
    sys.exit(main())
