"""Exercises that ask for a kernel: CUDA C++, run in the emulator at several hidden sizes, with limits on counters.

The verdict names the first problem, in this order: the compiler's error with its line, an argument that does not fit a
parameter, a fault (a race, an access out of bounds) with its line, a wrong result with its index and both values, a
requirement that is not met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from softlab.course.behaviour import LESS_INFINITY, OVER_ZERO, OVER_ZERO_OR_LOGARITHM, OVERFLOWS, behaviour
from softlab.course.causes import fault_cause
from softlab.course.diagnosis import pattern, unwritten
from softlab.course.exercises import DOES_NOT_COMPILE, Exercise, different, first_difference
from softlab.course.launch_cases import LaunchCase
from softlab.course.places import outside
from softlab.course.verdicts import Verdict
from softlab.emulator.lanes import WARP
from softlab.errors import CompileError, Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.traces import Run

#: The name of the learner's source in errors, as ``%%cuda`` has it.
FILE = "cell.cu"
#: Instructions that the blocks of one launch may issue: ten times what the longest right answer needs.
BUDGET = 200_000


@dataclass(frozen=True)
class Attempt:
    """A launch of the learner's kernel that ended with the right result. args: the arguments as it left them."""

    kernel: Kernel
    launch: LaunchCase
    run: Run
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KernelSlip:
    """A hint to a typical wrong kernel.

    says: the hint; when: the kind of fault that the kernel has, "result" for a wrong result, "nan" or "inf" for a
    result that has such a number where none belongs, "-inf" or "overflow" where the run shows that it comes of -inf -
    -inf or of a number that is too large, "counter" for a requirement that it does not meet, "" for any; seen: a
    regular expression that the kernel's code has (without comments; "." is any character), "" for any.
    """

    says: str
    when: str = ""
    seen: str = ""

    def fits(self, when: str, source: str) -> bool:
        """Whether the hint is for this kernel."""
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)
        return self.when in ("", when) and bool(re.search(self.seen, code, re.DOTALL))


#: The key of a hint to races whose two accesses are on one line: threads that update one word together.
ON_ONE_LINE = "race on one line"
#: The code of a kernel in which nobody waits.
NO_BARRIER = r"^(?!.*(__syncthreads|sync\(|bar\.sync|barrier))"
#: Hints to mistakes that any kernel may have. They come after those of an exercise, and before its fault hints.
COMMON = (
    KernelSlip("`__syncwarp()` waits for the lanes of one warp, and another warp wrote here.", "race", "__syncwarp"),
    KernelSlip("A fence orders what a thread does, but nobody waits at it.", "race", "__threadfence"),
    KernelSlip("`volatile` makes nobody wait.", "race", r"volatile\s+(__shared__|\w+\s*\*)|__shared__ volatile"),
    KernelSlip(
        "No barrier stands between the thread that writes a word and the one that reads it.", "race", NO_BARRIER
    ),
    KernelSlip("An array of n elements ends at index n - 1, so the test is `<` and not `<=`.", "global-out-of-bounds",
               r"(?<![<>=])<=\s*(n|count|rows|cols|size)\b(?!\s*-)"),
)  # fmt: skip


#: A hint for kernels in which whole warps reduce.
FIVE_STEPS = KernelSlip(
    "32 lanes take five steps, the first one over 16 lanes.", "result", r"=\s*8\s*;[^;]*;[^;]*__shfl"
)

#: A function that says what an attempt lacks, "" for nothing. See ``softlab.course.requirements``.
Requirement = Callable[[Attempt], str]


@dataclass(frozen=True, kw_only=True)
class WriteKernel(Exercise):
    """A kernel to write.

    kernel: its name; parameters: as the learner must declare them, "const float* x, float* y, int n"; launches: makes
    the launches that it is tested with; requirements: limits that hold for all of them; arch: the architecture to
    compile for; fault_hints: fault kind, or ``ON_ONE_LINE``, -> a hint to add to the report of such a fault; slips:
    hints that come before these and before ``hint``, of which the first that fits is taken; start: the kernel as a
    learner finds it, "" where the notebook alone has it; any_order: whether the first launch runs with its last warp
    first, too.
    """

    kernel: str
    parameters: str
    launches: Callable[[], Iterable[LaunchCase]]
    requirements: tuple[Requirement, ...] = ()
    arch: str = "sm_90"
    fault_hints: Mapping[str, str] = field(default_factory=dict)
    slips: tuple[KernelSlip, ...] = ()
    start: str = ""
    any_order: bool = False

    def judge(self, answer: Any) -> Verdict:
        """CUDA C++ with the kernel in it, as text; None or blank text: not answered."""
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            return self.unanswered(f"Write {self.declaration}.")
        if not isinstance(answer, str):
            return self.verdict(f"CUDA C++ is asked for, as text, and this is {answer!r}.")
        launches = tuple(self.launches())
        if not re.search(rf"\b{self.kernel}\s*\(", answer):
            return self._judged(f"there is no kernel {self.kernel!r}. Write {self.declaration}.", launches[0])
        try:
            kernel = Kernel(answer, self.kernel, arch=self.arch, file=FILE)
        except CompileError as error:
            return self._judged(_compile_problem(error), launches[0])
        attempts = []
        for launch, order in self._runs(launches):
            args = launch.fresh()
            about = f"{launch.about}, and the last warp first" if order else launch.about
            try:
                run = kernel.run(
                    launch.grid, launch.block, tuple(args.values()), launch.smem, budget=BUDGET, warp_order=order
                )
            except (TypeError, ValueError) as error:
                return self._judged(f"{_misfit(error, args)}. The parameters are ({self.parameters}).", launch)
            except Error as error:
                return self._judged(self._fault_problem(error, launch, answer), launch)
            for name, expected in launch.expected.items():
                if difference := first_difference(name, args[name], expected, launch.relative):
                    did = self._did(kernel, launch, name, args[name])
                    said = self._said_of_result(args[name], expected, launch, name, answer, did)
                    said = " ".join(filter(None, (did, said)))
                    return self._judged(f"with {about}, {difference}. {said}", launch, run)
            attempts.append(Attempt(kernel, launch, run, args))
        # Results come first: the counters of a wrong kernel mean nothing.
        for attempt in attempts:
            for requirement in self.requirements:
                if lack := requirement(attempt):
                    problem = f"with {attempt.launch.about}, {lack} {self._slip('counter', answer)}".rstrip()
                    return self._judged(problem, attempt.launch, attempt.run)
        return self._judged("", attempts[0].launch, attempts[0].run)

    def _runs(self, launches: Sequence[LaunchCase]) -> Iterator[tuple[LaunchCase, tuple[int, ...] | None]]:
        """The launches, and the order of the warps: None for all at once."""
        yield from ((launch, None) for launch in launches)
        if self.any_order:
            block = launches[0].block
            threads = block if isinstance(block, int) else prod(block)
            yield launches[0], tuple(reversed(range(-(-threads // WARP))))

    def _said_of_result(
        self, got: np.ndarray, wanted: np.ndarray, launch: LaunchCase, name: str, answer: str, did: str
    ) -> str:
        """What the wrong elements have in common, and the hint. did: what is known of the kernel's numbers."""
        block = launch.block
        threads = 0 if launch.grid in (1, (1,), (1, 1), (1, 1, 1)) else block if isinstance(block, int) else prod(block)
        wrong = different(got, wanted, launch.relative) & ~unwritten(got, launch.args[name])
        number = got.dtype.kind in "fV"
        kinds = [kind for kind, words in (("-inf", LESS_INFINITY), ("overflow", OVERFLOWS)) if words in did]
        kinds += ["nan"] if number and np.isnan(got[wrong].astype(np.float64)).any() else []
        kinds += (
            ["inf"]
            if number
            and did not in (OVER_ZERO, OVER_ZERO_OR_LOGARITHM)
            and np.isinf(got[wrong].astype(np.float64)).any()
            else []
        )
        hints = (self._slip(kind, answer) for kind in (*kinds, "result"))
        hint = next((hint for hint in hints if hint), self.hint)
        return f"{pattern(got, wanted, threads, launch.relative)} {hint}".strip()

    def _slip(self, when: str, answer: str) -> str:
        """The hint to a typical wrong kernel; "" for none."""
        return next((slip.says for slip in self.slips if slip.fits(when, answer)), "")

    def _did(self, kernel: Kernel, launch: LaunchCase, name: str, got: np.ndarray) -> str:
        """What a kernel with a wrong result did instead."""
        return behaviour(kernel, launch, name, got)

    def _cause(self, fault: KernelFault, launch: LaunchCase, answer: str) -> str:
        """What causes a fault."""
        cause = fault_cause(fault, answer, launch)
        if fault.kind != "global-out-of-bounds" or fault.argument is None or not fault.line:
            return cause
        name, store = list(launch.args)[fault.argument], "the thread writes" in str(fault)
        way = outside(Kernel(answer, self.kernel, arch=self.arch, file=FILE), launch, name, fault.line, store=store)
        return f"{cause} {way}".strip()

    def _general(self, fault: KernelFault, answer: str, cause: str) -> str:
        """What any exercise says of such a fault, and then this one. A cause says what stands between two accesses."""
        known = fault.kind == "race" and cause
        common = "" if known else next((slip.says for slip in COMMON if slip.fits(fault.kind, answer)), "")
        one_line = self.fault_hints.get(ON_ONE_LINE, "") if _on_one_line(fault) else ""
        return f"{common} {one_line or self.fault_hints.get(fault.kind, '')}".strip()

    @property
    def declaration(self) -> str:
        """The kernel's first line."""
        return f"__global__ void {self.kernel}({self.parameters})"

    def _judged(self, problem: str, launch: LaunchCase, run: Run | None = None) -> Verdict:
        verdict = self.verdict(problem)
        return Verdict(self.id, verdict.state, verdict.message, run, launch)

    def _fault_problem(self, error: Error, launch: LaunchCase, answer: str) -> str:
        sentence = str(error).partition("\n  at ")[0].rstrip(".")
        if isinstance(error, KernelFault):
            if error.argument is not None:
                sentence = sentence.replace(f"argument {error.argument}", list(launch.args)[error.argument])
            where = f" on line {error.line}" if error.line else ""
            if error.other_line not in (None, error.line):
                where += f" and line {error.other_line}"
            cause = self._cause(error, launch, answer)
            hint = self._slip(error.kind, answer) or self._general(error, answer, cause)
            hint = f"{cause} {hint}".strip()
            sentence = sentence.removeprefix(f"{error.kind}: ")
            return f"{error.kind}{where}, with {launch.about}: {sentence}. {hint}".strip()
        if isinstance(error, UnsupportedInstruction):
            return f"the emulator does not know an instruction of it: {sentence}."
        return f"it does not run: {sentence}."


def _on_one_line(fault: KernelFault) -> bool:
    return fault.kind == "race" and fault.line is not None and fault.line == fault.other_line


def _misfit(error: Exception, args: Mapping[str, Any]) -> str:
    """What does not fit, with the parameter's name. How to convert an argument helps only who launches."""
    said = str(error).partition(". ")[0].rstrip(".")
    return re.sub(r"^argument (\d+)\b", lambda found: f"{list(args)[int(found[1])]}, argument {found[1]},", said)


def _compile_problem(error: CompileError) -> str:
    """The compiler's first error, with its line. Warnings may come before it in the log."""
    found = re.search(rf"^{re.escape(FILE)}\((\d+)\): (?:catastrophic )?error:?\s*(.*)$", error.log, re.MULTILINE)
    return f"{DOES_NOT_COMPILE} Line {found.group(1)}: {found.group(2)}." if found else f"{DOES_NOT_COMPILE} {error}"
