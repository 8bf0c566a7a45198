"""The exercise to repair a bug of the clinic: its verdict also says what the run of a wrong fix shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from softlab.course.causes import only_buffers
from softlab.course.clinic.looks import look
from softlab.course.diagnosis import pattern
from softlab.course.kernels import BUDGET, FILE, WriteKernel
from softlab.course.launch_cases import LaunchCase
from softlab.emulator.lanes import WARP
from softlab.errors import Error, KernelFault
from softlab.kernel import Kernel

#: Kinds of faults of which the report says nothing of what was changed.
_COMPARED = ("race", "misaligned")


@dataclass(frozen=True, kw_only=True)
class Repair(WriteKernel):
    """A kernel with a bug, in ``start``, to be repaired."""

    def _did(self, kernel: Kernel, launch: LaunchCase, name: str, got: np.ndarray) -> str:
        threads = _threads(launch)
        return look(kernel, launch, name, got) or pattern(got, launch.expected[name], threads, launch.relative)

    def _said_of_result(
        self,
        got: np.ndarray,
        wanted: np.ndarray,
        launch: LaunchCase,
        name: str,
        answer: str,
        did: str,
    ) -> str:
        """The hint; what the wrong elements have in common comes with what the kernel did."""
        return self._slip("result", answer) or self.hint

    def _general(self, fault: KernelFault, answer: str, cause: str) -> str:
        """Nothing: the cause of the fault says it."""
        return ""

    def _cause(self, fault: KernelFault, launch: LaunchCase, answer: str) -> str:
        said = super()._cause(fault, launch, answer)
        if "reads the register of a lane" in str(fault):
            said = f"{self._lane_that_is_read(fault, launch, answer)} {said}".strip()
        if fault.kind == "race":
            said = f"{said} {self._never_used(fault, launch, answer)}".strip()
        if fault.kind in _COMPARED and self._is_that_of_the_start(fault, launch, answer):
            said = f"{said} The kernel with the bug has the same report: your change does not come between."
        return said.strip()

    def _lane_that_is_read(self, fault: KernelFault, launch: LaunchCase, answer: str) -> str:
        """ "Lane 19 reads lane 20." """
        try:
            run = self._run(answer, launch, check=False)
        except Error:
            return ""
        here = run.shuffles.line == (fault.line or 0)
        for source, active in zip(run.shuffles.source[here], run.shuffles.active[here], strict=True):
            lanes = [lane for lane in range(WARP) if active[lane] and not active[source[lane]]]
            if lanes:
                return f"Lane {lanes[0]} reads lane {source[lanes[0]]}, which does not come."
        if fault.thread is None or not here.any():
            return ""
        lane = fault.thread[0] % WARP
        return f"Lane {lane} reads lane {run.shuffles.source[here][0][lane]}, and the mask does not name both."

    def _never_used(self, fault: KernelFault, launch: LaunchCase, answer: str) -> str:
        """ "No thread comes to ring[3]: ...": buffers of an array in shared memory that a ring leaves out."""
        array = only_buffers(answer)
        if array is None or fault.argument is not None:
            return ""
        try:
            run = self._run(answer, launch, check=False)
        except Error:
            return ""
        name, buffers, size = array
        active, store = run.shared.active, run.shared.store.astype(bool)
        buffer = run.shared.address // size
        used = set(np.unique(buffer[active]).tolist())
        stored = [np.unique(row[lanes]) for row, lanes in zip(buffer[store], active[store], strict=True)]
        again = Counter(np.concatenate(stored).tolist()) if stored else Counter()
        left = sorted(set(range(buffers)) - used)
        # A ring comes round: some buffer is filled again by the same warp.
        if not left or max(again.values(), default=0) <= -(-_threads(launch) // WARP):
            return ""
        return f"No thread comes to {name}[{left[0]}]: of the {buffers} buffers of {name}, {len(used)} are in use."

    def _is_that_of_the_start(self, fault: KernelFault, launch: LaunchCase, answer: str) -> bool:
        """Whether the start has the same fault, between lines with the same text."""
        if answer.split() == self.start.split():
            return False
        try:
            self._run(self.start, launch, check=True)
        except KernelFault as other:
            return other.kind == fault.kind and _lines(other, self.start) == _lines(fault, answer)
        except Error:
            pass
        return False

    def _run(self, source: str, launch: LaunchCase, *, check: bool) -> Any:
        kernel = Kernel(source, self.kernel, arch=self.arch, file=FILE)
        args = tuple(launch.fresh().values())
        return kernel.run(launch.grid, launch.block, args, launch.smem, check=check, budget=BUDGET, record=not check)


def _threads(launch: LaunchCase) -> int:
    return launch.block if isinstance(launch.block, int) else prod(launch.block)


def _lines(fault: KernelFault, source: str) -> list[str]:
    lines = source.splitlines()
    return ["".join(lines[line - 1].split()) for line in (fault.line, fault.other_line) if line]
