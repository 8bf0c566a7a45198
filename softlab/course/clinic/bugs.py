"""The bugs: kernels from ``bugs.cu``, texts and hints from ``bugs.toml``, launches from ``launches.py``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.course.causes import barrier_conditions, with_barrier_at_the_end
from softlab.course.clinic.checks import checked
from softlab.course.clinic.launches import LAUNCHES
from softlab.course.clinic.repair import Repair
from softlab.course.clinic.traffic import one_block_per_element, with_lanes
from softlab.course.kernels import BUDGET, FILE, Attempt, KernelSlip, LaunchCase, Requirement
from softlab.course.requirements import at_most, no_bank_conflicts
from softlab.errors import Error, KernelFault
from softlab.findings import Finding, headline, sentence
from softlab.instruments.banks import WARP
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.kernel import Kernel
from softlab.traces import Run

LESSON = "18"
_FOLDER = Path(__file__).parent
_SECTION = re.compile(r"^// == (\S+)\n(.*?)(?=^// == |\Z)", re.MULTILINE | re.DOTALL)
_MARK = "  // BUG"


@dataclass(frozen=True)
class Bug:
    """One bug of the clinic.

    name: "one-slot"; title, family, symptom: what a learner reads; lines: the source lines that a check has to name, in
    order; exercise: the exercise to fix it, whose ``start`` is the kernel.
    """

    name: str
    title: str
    family: str
    symptom: str
    lines: tuple[int, ...]
    exercise: Repair

    @property
    def source(self) -> str:
        """The kernel, with its bug."""
        return self.exercise.start

    def report(self) -> tuple[Finding, ...]:
        """What the checks say of the first launch of the kernel with its bug."""
        kernel = Kernel(self.source, self.exercise.kernel, arch=self.exercise.arch, file=FILE)
        return checked(kernel, next(iter(self.exercise.launches())))

    def __str__(self) -> str:
        numbered = "\n".join(f"{number:3} {line}" for number, line in enumerate(self.source.splitlines(), 1))
        said = "\n".join(f"{headline(one)}\n    {sentence(one).splitlines()[0]}" for one in self.report())
        return f"{self.title} ({self.exercise.id})\n{self.symptom}\n\n{numbered}\n\n{said}"


@cache
def bugs() -> tuple[Bug, ...]:
    """All bugs of the clinic, in the order of ``bugs.cu``."""
    texts = tomllib.loads((_FOLDER / "bugs.toml").read_text("utf-8"))
    sections = _SECTION.findall((_FOLDER / "bugs.cu").read_text("utf-8"))
    return tuple(_bug(name, source.rstrip(), texts["bug"][name]) for name, source in sections)


def bug(name: str) -> Bug:
    """The bug of that name, "one-slot", or of the id of its exercise, "18-one-slot".

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
    known = {found.name: found for found in bugs()}
    short = name.removeprefix(f"{LESSON}-")
    if short not in known:
        raise ValueError(f"no bug {name!r}: there are {', '.join(known)}")
    return known[short]


def _bug(name: str, marked: str, texts: Mapping[str, Any]) -> Bug:
    exercise = Repair(
        id=f"{LESSON}-{name}",
        kernel=texts["kernel"],
        parameters=texts["parameters"],
        launches=LAUNCHES[name],
        requirements=(
            _same_barrier,
            _barrier_outside,
            *((_as_written, one_block_per_element) if texts["family"] == "bounds" else ()),
            *_REQUIREMENTS.get(name, ()),
        ),
        hint=texts["hint"],
        because=texts["because"],
        slips=tuple(KernelSlip(**hint) for hint in texts.get("hints", ())),
        start=marked.replace(_MARK, ""),
        any_order=True,
    )
    lines = tuple(number for number, line in enumerate(marked.splitlines(), 1) if line.endswith(_MARK))
    return Bug(name, texts["title"], texts["family"], texts["symptom"], lines, exercise)


def _least_sectors(launch: LaunchCase) -> int:
    return -(-int(launch.args["x"].nbytes) // SECTOR_BYTES)


def _warps(launch: LaunchCase) -> int:
    assert isinstance(launch.grid, int)
    assert isinstance(launch.block, int)
    return launch.grid * -(-launch.block // WARP)


def _same_barrier(attempt: Attempt) -> str:
    """A GPU lets threads pass that meet at different barriers, as long as enough of them arrive."""
    for found in attempt.run.findings:
        if found.kind == "barrier-divergence":
            return (
                f"threads of the block wait on line {found.line} and others on line {found.other_line}. A GPU may let "
                "them pass, but CUDA allows it only where all threads of the block come to the same barrier."
            )
    return ""


def _barrier_outside(attempt: Attempt) -> str:
    """A barrier in a branch that some threads skip, and end: a GPU lets it pass, and CUDA does not allow it.

    With one more barrier at the kernel's end the threads that skip the branch meet there, and not those in it.
    """
    source, name = attempt.run.source, attempt.kernel.program.name
    conditions = barrier_conditions(source)
    longer = with_barrier_at_the_end(source, name) if conditions else ""
    if not longer:
        return ""
    try:
        found = _run_again(attempt, Kernel(longer, name, arch=attempt.kernel.program.arch, file=FILE)).findings
    except KernelFault as fault:
        found = (Finding.of(fault, "error", 1),)
    except Error:
        return ""
    for one in found:
        if one.kind == "barrier-divergence":
            line = one.line if one.line in conditions else next(iter(conditions))
            return (
                f"the barrier on line {line} stands under `{conditions[line]}`, which not all threads of the block "
                "take. The others end, so a GPU does not wait for them. But CUDA allows a barrier in a branch only "
                "where all threads take it. Move it out, or wait with a barrier of the threads that are there."
            )
    return ""


def _as_written(attempt: Attempt) -> str:
    """An access out of bounds that the compiler happened to move behind a test: it is there without optimisation."""
    name = attempt.kernel.program.name
    plain = Kernel(attempt.run.source, name, arch=attempt.kernel.program.arch, file=FILE, options=("-G",))
    try:
        _run_again(attempt, plain)
    except KernelFault as fault:
        what = sentence(Finding.of(fault, "error", 1))
        return f"{fault.kind} on line {fault.line}, where the compiler does not optimise: {what[:1].lower()}{what[1:]}"
    return ""


def _run_again(attempt: Attempt, kernel: Kernel) -> Run:
    launch = attempt.launch
    args = tuple(launch.fresh().values())
    return kernel.run(launch.grid, launch.block, args, launch.smem, budget=BUDGET, record=False)


def _volatile_is_no_fence(attempt: Attempt) -> str:
    """``volatile`` accesses race with nobody, but no fence orders them; the emulator runs them in order."""
    if "volatile" not in attempt.run.source or re.search(r"fence|release|acq_rel", attempt.run.source):
        return ""
    return (
        "no fence orders the stores. volatile makes each of them happen, but another block may see them in any order."
    )


def _parts_need_a_fence(attempt: Attempt) -> str:
    """Sums that go from block to block need a fence, whatever stores them; the emulator runs atomics in order."""
    handed_on = not np.isnan(attempt.args["part"]).all()
    if not handed_on or re.search(r"fence|release|acq_rel", attempt.run.source):
        return ""
    return (
        "no fence orders a block's sum before its count. An atomic by itself orders no other access: another block may "
        "see the count first."
    )


_NEIGHBOURS = "Which number does the neighbour of a lane access? It should be the next one in memory."
_ROWS = (
    "The way down the columns has moved to global memory. There, a warp goes along the rows, when it loads and stores."
)
_QUEUE = "Threads that meet at one word take turns."
_REQUIREMENTS: dict[str, tuple[Requirement, ...]] = {
    "last-block": (_volatile_is_no_fence, _parts_need_a_fence),
    "flag-too-early": (_volatile_is_no_fence,),
    "down-the-columns": (
        with_lanes(no_bank_conflicts(""), "shared"),
        with_lanes(at_most("global_load_sectors", _least_sectors, _ROWS), "load"),
        with_lanes(at_most("global_store_sectors", _least_sectors, _ROWS), "store"),
    ),
    "a-piece-for-each-thread": (
        with_lanes(at_most("global_load_sectors", _least_sectors, _NEIGHBOURS), "load"),
        with_lanes(at_most("global_store_sectors", _least_sectors, _NEIGHBOURS), "store"),
    ),
    "everybody-adds": (
        at_most("global_reduction_sectors", _warps, _QUEUE),
        at_most("global_atomic_sectors", _warps, _QUEUE),
    ),
}
