"""The exercise that asks for a kernel: CUDA C++, run on the emulator at several hidden sizes, held to counters.

What is wrong is named in this order: the compiler's error with its line, a parameter that does not fit, a fault (a
race, an access out of bounds) with its line, a wrong result with its index and both values, a requirement not met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlab.course.exercises import Exercise, first_difference
from softlab.course.verdicts import Verdict
from softlab.errors import CompileError, Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.traces import Run

#: The name of the learner's source in errors, as ``%%cuda`` has it.
FILE = "cell.cu"


@dataclass(frozen=True)
class Launch:
    """One launch that a kernel must get right.

    grid, block: as ``Kernel.run`` takes them; args: parameter name -> array or number, in the order of the parameters;
    expected: name -> what that array must hold afterwards; smem: dynamic shared memory in bytes; relative: how far off
    a number may be; about: "1000 numbers", for messages.
    """

    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: Mapping[str, Any]
    expected: Mapping[str, np.ndarray]
    smem: int = 0
    relative: float = 0.0
    about: str = ""

    def fresh(self) -> dict[str, Any]:
        """The arguments, arrays copied: a run changes them."""
        return {name: a.copy() if isinstance(a, np.ndarray) else a for name, a in self.args.items()}


@dataclass(frozen=True)
class Attempt:
    """A launch of the learner's kernel that ended with the right result."""

    kernel: Kernel
    launch: Launch
    run: Run


#: What an attempt lacks, "" for nothing. See ``softlab.course.requirements``.
Requirement = Callable[[Attempt], str]


@dataclass(frozen=True, kw_only=True)
class WriteKernel(Exercise):
    """A kernel to write.

    kernel: its name; parameters: as the learner must declare them, "const float* x, float* y, int n"; launches: makes
    those it is tried with; requirements: what it must keep to in every one of them; arch: what it is compiled for;
    fault_hints: fault kind -> what to add to the report of such a fault.
    """

    kernel: str
    parameters: str
    launches: Callable[[], Iterable[Launch]]
    requirements: tuple[Requirement, ...] = ()
    arch: str = "sm_90"
    fault_hints: Mapping[str, str] = field(default_factory=dict)

    def judge(self, answer: Any) -> Verdict:
        """CUDA C++ with the kernel in it, as text; None or blank text: not answered."""
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            return self.unanswered(f"Write {self.declaration}.")
        if not isinstance(answer, str):
            return self.verdict(f"CUDA C++ is asked for, as text, and this is {answer!r}.")
        launches = tuple(self.launches())
        if not re.search(rf"\b{self.kernel}\s*\(", answer):
            return self._said(f"there is no kernel {self.kernel!r}. Write {self.declaration}.", launches[0])
        try:
            kernel = Kernel(answer, self.kernel, arch=self.arch, file=FILE)
        except CompileError as error:
            return self._said(_compile_problem(error), launches[0])
        attempts = []
        for launch in launches:
            args = launch.fresh()
            try:
                run = kernel.run(launch.grid, launch.block, tuple(args.values()), launch.smem)
            except (TypeError, ValueError) as error:
                return self._said(f"{error}. The parameters are ({self.parameters}).", launch)
            except Error as error:
                return self._said(self._fault_problem(error, launch), launch)
            for name, expected in launch.expected.items():
                if difference := first_difference(name, args[name], expected, launch.relative):
                    return self._said(f"with {launch.about}, {difference}. {self.hint}", launch, run)
            attempts.append(Attempt(kernel, launch, run))
        # The results first: a kernel that is wrong has no business being fast.
        for attempt in attempts:
            for requirement in self.requirements:
                if lack := requirement(attempt):
                    return self._said(f"with {attempt.launch.about}, {lack}", attempt.launch, attempt.run)
        return self._said("", attempts[0].launch, attempts[0].run)

    @property
    def declaration(self) -> str:
        """The kernel's first line."""
        return f"__global__ void {self.kernel}({self.parameters})"

    def _said(self, problem: str, launch: Launch, run: Run | None = None) -> Verdict:
        said = self.verdict(problem)
        return Verdict(self.id, said.state, said.message, run, launch)

    def _fault_problem(self, error: Error, launch: Launch) -> str:
        sentence = str(error).partition("\n  at ")[0].rstrip(".")
        names = list(launch.args)
        sentence = re.sub(
            r"\bargument (\d+)",
            lambda found: names[int(found.group(1))] if int(found.group(1)) < len(names) else found.group(),
            sentence,
        )
        if isinstance(error, KernelFault):
            where = f" on line {error.line}" if error.line else ""
            hint = self.fault_hints.get(error.kind, "")
            sentence = sentence.removeprefix(f"{error.kind}: ")
            return f"{error.kind}{where}, with {launch.about}: {sentence}. {hint}".strip()
        if isinstance(error, UnsupportedInstruction):
            return f"the emulator does not know an instruction of it: {sentence}."
        return f"it does not run: {sentence}."


def _compile_problem(error: CompileError) -> str:
    """The compiler's first error, with its line; warnings may stand before it."""
    found = re.search(rf"^{re.escape(FILE)}\((\d+)\): (?:catastrophic )?error:?\s*(.*)$", error.log, re.MULTILINE)
    return (
        f"it does not compile. Line {found.group(1)}: {found.group(2)}." if found else f"it does not compile. {error}"
    )
