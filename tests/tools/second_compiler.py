"""How many kernels run the same when clang compiles them: cell by cell, with results, findings and counters.

    python -m tests.tools.second_compiler                    all sources of kernels, a line for each that differs
    python -m tests.tools.second_compiler lessons clinic     some of them
    python -m tests.tools.second_compiler --all --out t.md   a line for each kernel, and the table as a file

It needs NVRTC and ``pip install 'softlab[clang]'``. Each launch runs three times on copies of its arguments: as it is,
with NVRTC's PTX and without machine code, and with clang's PTX. The last two are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.cuda import clang
from softlab.cuda.compile import CHOICE, Program, compile_program
from softlab.errors import CompileError, Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.traces import Run

ROOT = Path(__file__).resolve().parents[2]
#: Counters that depend on the compiler's choice of instructions, and are not compared.
_OF_INSTRUCTIONS = ("instructions", "ptx_instructions")
#: The columns of the table, each a field of :class:`Outcome`.
COLUMNS = ("compiled", "ran", "results", "findings", "counters", "lines")


@dataclass(frozen=True)
class Outcome:
    """One launch by both compilers.

    compiled, ran: whether clang's program compiles and the emulator takes it; results: the same bits in all arrays;
    findings: the same faults, races and warnings on the same lines; counters: the same accesses, wavefronts and
    conflicts; lines: the same ones per line; note: what differs.
    """

    where: str
    kernel: str
    compiled: bool
    ran: bool = False
    results: bool = False
    findings: bool = False
    counters: bool = False
    lines: bool = False
    note: str = ""

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return all(getattr(self, column) for column in COLUMNS)


@dataclass(frozen=True)
class _Half:
    """What one compiler's program did: the run or the fault, and the arrays."""

    run: Run | None
    fault: tuple[Any, ...]
    arrays: tuple[np.ndarray, ...]


@contextmanager
def compiled_by(name: str) -> Iterator[None]:
    """Everything that is compiled meanwhile is compiled by this compiler."""
    before = os.environ.get(CHOICE)
    os.environ[CHOICE] = name
    try:
        yield
    finally:
        os.environ.pop(CHOICE) if before is None else os.environ.update({CHOICE: before})


@lru_cache(maxsize=512)
def _twin(program: Program) -> Kernel:
    """The kernel of a program's source by clang."""
    with compiled_by("clang"):
        return Kernel.from_program(
            compile_program(
                *(program.source, program.name),
                arch=program.arch,
                options=program.options,
                file=program.file,
                headers=program.headers,
            )
        )


@lru_cache(maxsize=512)
def _plain(program: Program) -> Kernel:
    """The kernel without its machine code: it counts the PTX."""
    kernel = Kernel.from_program(program)
    kernel._emulated.__dict__["machine_code"] = None
    return kernel


@contextmanager
def watched(seen: Callable[[Outcome], None], where: Callable[[], str]) -> Iterator[None]:
    """Meanwhile each launch in the emulator runs by both compilers, too. ``where``: what the launch belongs to."""
    original = Kernel.run

    def run(kernel: Kernel, grid: Any, block: Any, args: Any = (), *rest: Any, **further: Any) -> Run:
        if kernel.program.nvrtc and not further.get("compared"):
            given = _copies(args)
            try:
                return original(kernel, grid, block, args, *rest, **further)
            finally:
                again = (grid, block, given, rest, further)
                seen(_compared(kernel, where(), lambda one: _half(original, one, kernel, *again)))
        return original(kernel, grid, block, args, *rest, **further)

    Kernel.run = run  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Kernel.run = original  # type: ignore[method-assign]


def _copies(args: Sequence[Any]) -> list[Any]:
    """The arguments, each array copied; one array that is given twice is one again."""
    copies: dict[int, Any] = {}
    return [copies.setdefault(id(a), a.copy()) if isinstance(a, np.ndarray) else a for a in args]


def _half(
    run: Callable[..., Run], kernel: Kernel, first: Kernel, grid: Any, block: Any, given: Any, rest: Any, further: Any
) -> _Half:
    args = _copies(given)
    for symbol in first.variables.declared:
        if symbol in kernel.variables.declared and (data := first.variables.data(symbol)) is not None:
            kernel.variables.write(symbol, 0, data.tobytes(), first.variables.pointers.get(symbol, ()))
    arrays = tuple(a for a in args if isinstance(a, np.ndarray))
    try:
        return _Half(run(kernel, grid, block, args, *rest, **further), (), arrays)
    except KernelFault as fault:
        return _Half(None, (fault.kind, fault.line), arrays)


def _compared(kernel: Kernel, where: str, half: Callable[[Kernel], _Half]) -> Outcome:
    name = kernel.program.name
    try:
        twin = _twin(kernel.program)
    except CompileError as error:
        return Outcome(where, name, False, note=_first_error(error))
    try:
        ours = half(twin)
    except UnsupportedInstruction as error:
        return Outcome(where, name, True, note=str(error).partition("\n")[0])
    except (Error, TypeError, ValueError) as error:
        try:
            half(_plain(kernel.program))
        except (Error, TypeError, ValueError) as other:
            if type(other) is type(error):
                return Outcome(where, name, *[True] * len(COLUMNS))
        return Outcome(where, name, True, note=f"{type(error).__name__}: {error}".partition("\n")[0])
    theirs = half(_plain(kernel.program))
    notes = [*_difference_of_arrays(ours, theirs)]
    results = not notes
    notes += _differences("findings", _found(ours), _found(theirs))
    findings = len(notes) == (not results)
    counted = _differences("counters", _counters(ours), _counters(theirs))
    lines = _differences("lines", _by_line(ours), _by_line(theirs))
    note = "; ".join([*notes, *(counted or lines)])
    return Outcome(where, name, True, True, results, findings, not counted, not lines, note)


def _first_error(error: CompileError) -> str:
    lines = (error.log or str(error)).splitlines()
    return next((line for line in lines if "error:" in line), lines[0] if lines else "")[:200]


def _difference_of_arrays(ours: _Half, theirs: _Half) -> Iterator[str]:
    for k, (a, b) in enumerate(zip(ours.arrays, theirs.arrays, strict=True)):
        if a.tobytes() == b.tobytes():
            continue
        if a.dtype.names or a.dtype.kind not in "fV":
            yield f"array {k} differs"
            continue
        wide = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.nanmax(np.abs(wide[0] - wide[1]) / np.maximum(np.abs(wide[1]), 1e-30), initial=0)
        yield f"array {k}: {np.count_nonzero(a != b)} of {a.size} elements, by {far:.1e} of it at most"


def _found(half: _Half) -> set[Any]:
    found = half.run.findings if half.run else ()
    return {(one.kind, one.severity, one.line, one.other_line) for one in found} | ({half.fault} - {()})


def _counters(half: _Half) -> Mapping[str, int]:
    counters = half.run.counters if half.run else {}
    return {name: n for name, n in counters.items() if name not in _OF_INSTRUCTIONS}


def _by_line(half: _Half) -> Mapping[Any, int]:
    lines = half.run.by_line() if half.run else {}
    return {
        (line, name): n for line, row in lines.items() for name, n in row.items() if n and name not in _OF_INSTRUCTIONS
    }


def _differences(what: str, ours: Any, theirs: Any) -> list[str]:
    if ours == theirs:
        return []
    if isinstance(ours, set):
        return [f"{what}: {sorted(map(str, ours - theirs))} for {sorted(map(str, theirs - ours))}"]
    keys = [key for key in {**theirs, **ours} if ours.get(key, 0) != theirs.get(key, 0)]
    return [f"{what}: " + ", ".join(f"{key} {ours.get(key, 0)} for {theirs.get(key, 0)}" for key in keys[:3])]


# What is run ------------------------------------------------------------------------------------------------


def lessons(see: Callable[[Outcome], None]) -> None:
    """All launches of all cells of the notebooks, starting points of exercises among them."""
    import nbformat

    from tests.tools import notebooks

    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        for path in sorted(notebooks.NOTEBOOKS.glob("*.ipynb")):
            notebook, record = notebooks.read(path.read_text("utf-8")), Path(folder) / f"{path.stem}.jsonl"
            record.touch()
            start = f"from tests.tools.second_compiler import watch_cells\nwatch_cells({str(record)!r}, {path.stem!r})"
            notebook.cells.insert(0, nbformat.v4.new_code_cell(start))
            notebooks.executed(notebook, path.parent)
            for line in record.read_text().splitlines():
                see(Outcome(**json.loads(line)))


def watch_cells(record: str, lesson: str) -> None:
    """In a notebook's process: write down each launch of each later cell."""
    from IPython import get_ipython

    state: dict[str, Any] = {"cell": 0, "first": ""}

    def begin(info: Any) -> None:
        state["cell"] += 1
        state["first"] = info.raw_cell.strip().partition("\n")[0][:40]

    get_ipython().events.register("pre_run_cell", begin)

    def see(outcome: Outcome) -> None:
        with Path(record).open("a") as stream:
            stream.write(json.dumps(asdict(outcome), default=bool) + "\n")

    # Kept as long as the cells run: it ends when nothing refers to it.
    state["watch"] = watched(see, lambda: f"{lesson}, cell {state['cell']}: {state['first']}")
    state["watch"].__enter__()


def exercises(see: Callable[[Outcome], None]) -> None:
    """Every answer to every exercise that asks for a kernel: right and wrong ones, and what stands there at first."""
    from softlab.course.catalogue import lessons as all_lessons
    from softlab.course.kernels import WriteKernel
    from tests.course.answers import all_answers

    for lesson in all_lessons():
        for exercise in lesson.exercises:
            if not isinstance(exercise, WriteKernel):
                continue
            known = all_answers().get(exercise.id)
            given = [("start", exercise.start)] if exercise.start else []
            if known:
                given += [("right", answer) for answer in known.right]
                given += [("wrong", answer) for answer, _ in known.wrong]
            for k, (kind, answer) in enumerate(given):
                where = f"{exercise.id}, {kind} {k}"
                if isinstance(answer, str):
                    with watched(see, lambda where=where: where):
                        exercise.judge(answer)


def clinic(see: Callable[[Outcome], None]) -> None:
    """Every bug of the clinic with each of its launches. The repaired kernels are answers to exercises."""
    from softlab.course.clinic.bugs import bugs

    for bug in bugs():
        kernel = Kernel(bug.source, bug.exercise.kernel, arch=bug.exercise.arch)
        with watched(see, lambda name=bug.name: name):
            for launch in bug.exercise.launches():
                kernel.run(launch.grid, launch.block, tuple(launch.fresh().values()), launch.smem, check="collect")


def gallery(see: Callable[[Outcome], None]) -> None:
    """The kernels of the gallery, and those of the reference design, with the data whose counters are recorded."""
    from tests.hardware.cases import all_cases

    for case in all_cases():
        launch = case.launch()
        with watched(see, lambda name=case.name: name):
            kernel = Kernel.from_program(launch.compile())
            kernel.run(launch.grid, launch.block, case.arguments(), launch.smem, check="collect")


def shipped(see: Callable[[Outcome], None]) -> None:
    """The kernels of policy "fast" and "invariant", forward and backward, from short rows to long ones."""
    import softlab

    calls = ("softmax", "log_softmax", "softmax_backward")
    for policy in ("fast", "invariant", "oneflow"):
        for dtype in ("float32", "float16"):
            for cols in (1, 7, 32, 100, 1024, 5000, 20000, 200_000):
                for call in calls:
                    x = np.random.default_rng(cols).standard_normal((2, cols)).astype(dtype)
                    given = (x, softlab.softmax(x, policy=policy)) if call.endswith("backward") else (x,)
                    where = f"{call} {dtype} x {cols}, {policy}"
                    with watched(see, lambda where=where: where):
                        getattr(softlab, call)(*given, policy=policy)


SOURCES = {"lessons": lessons, "exercises": exercises, "clinic": clinic, "gallery": gallery, "shipped": shipped}


def table(found: Mapping[str, Sequence[Outcome]]) -> str:
    """How many launches of each source have what, as Markdown."""
    rows = ["| launches of | all | " + " | ".join(COLUMNS) + " |", "|---" * (2 + len(COLUMNS)) + "|"]
    for name, outcomes in found.items():
        counts = [sum(getattr(one, column) for one in outcomes) for column in COLUMNS]
        rows.append(f"| {name} | {len(outcomes)} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print what differs and the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sources", nargs="*", choices=[*SOURCES, []], help="default: all")
    parser.add_argument("--all", action="store_true", help="print a line for each launch")
    parser.add_argument("--out", type=Path, help="a file for the lines and the table")
    options = parser.parse_args(arguments)
    if not clang.has_clang():
        parser.error("clang is not installed: pip install 'softlab[clang]'")
    found: dict[str, list[Outcome]] = {}
    lines: list[str] = []
    for name in options.sources or SOURCES:
        found[name] = []
        SOURCES[name](found[name].append)
        for one in found[name]:
            if options.all or not one.same:
                missing = [column for column in COLUMNS if not getattr(one, column)]
                lines.append(f"{name}: {one.where}, {one.kernel}: {', '.join(missing) or 'same'} {one.note}".rstrip())
                print(lines[-1], flush=True)
    print(table(found))
    if options.out:
        options.out.write_text("\n".join([*lines, "", table(found), ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
