"""Small launches of the kernels of a set: in the emulator, beside what NumPy computes.

The kernels of a set are compiled at once, but for templates: each instance compiles the whole file again. The sample,
which `.ci/run` runs, is compiled without the other kernels: that takes a tenth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import softlab
from tests.hardware.launch_sets import launches
from tests.hardware.timing_cases import TimingCase

#: A kernel at the left margin, with its template parameters.
_KERNEL = re.compile(r"^(?:template <[^\n]*>\n)?__global__ .*?^}$", re.MULTILINE | re.DOTALL)


def only(source: str, kernels: Collection[str]) -> str:
    """The source without its other kernels. Their lines are empty, so that all others keep their numbers."""

    def kept(definition: re.Match[str]) -> str:
        named = any(re.search(rf"\b{name}\(", definition[0]) for name in kernels)
        return definition[0] if named else "\n" * definition[0].count("\n")

    return _KERNEL.sub(kept, source)


class Small(NamedTuple):
    """A small launch and what it has to give.

    ``outputs``: the numbers of the arguments that are compared. ``seen``: what is compared of an output. ``expected``:
    a function of the arguments before the launch, or None.
    """

    case: TimingCase
    outputs: tuple[int, ...]
    relative: float
    absolute: float
    seen: Callable[[np.ndarray], Any]
    expected: Callable[..., Any] | None


class SmallLaunches:
    """The small launches of a set, ``chosen``: as a decorator it registers one, by the name of its kernel.

    ``sample``: the kernels that `.ci/run` launches.
    """

    def __init__(self, chosen: Any, sample: Collection[str]) -> None:
        self.chosen = chosen
        self.sample = sample
        self.launches: dict[str, Small] = {}

    @cached_property
    def source(self) -> str:
        """The CUDA source of the set."""
        return self.chosen.SOURCE.read_text()

    @cached_property
    def sample_source(self) -> str:
        """The CUDA source with no kernels but those of the sample."""
        return only(self.source, self.sample)

    def constants(self, name: str) -> list[float]:
        """The numbers of a constant array of the source."""
        (inside,) = re.findall(name + r"\[\d+\] = {([^}]*)}", self.source)
        return [float(x.strip().rstrip("f")) for x in inside.split(",")]

    def __call__(
        self,
        kernel: str,
        grid: Any,
        block: Any,
        *arguments: Any,
        smem: int = 0,
        output: int | tuple[int, ...] = 1,
        tolerance: float = 0,
        absolute: float | None = None,
        seen: Callable[[np.ndarray], Any] = np.asarray,
    ) -> Callable[[Any], None]:
        """Register a launch and the function that gives the expected output, or None.

        That function gives one array, or a tuple of as many as ``output`` has. ``tolerance``: relative and absolute,
        unless ``absolute`` is given.
        """

        def register(expected: Any) -> None:
            (case,) = launches([lambda add: add("", kernel, grid, block, *arguments, smem=smem)])
            outputs = output if isinstance(output, tuple) else (output,)
            apart = tolerance if absolute is None else absolute
            self.launches[kernel.partition("<")[0]] = Small(case, outputs, tolerance, apart, seen, expected)

        return register

    def run(self, name: str) -> tuple[list[Any], list[Any]]:
        """The arguments before and after a small launch in which the emulator finds nothing."""
        case = self.launches[name].case
        before, after = case.make(), case.make()
        source = self.sample_source if name in self.sample else self.source
        kernel = softlab.Kernel(source, case.kernel, file=self.chosen.FILE)
        run = kernel.run(case.grid, case.block, after, case.smem, record=False)
        assert not run.findings
        return before, after

    def again(self, name: str) -> str:
        """What a second launch on the same arrays does that the first one did not; "" for nothing.

        A launch that is measured runs dozens of times on the same arrays, and the prediction is of the first time. So
        the second one must not fault, and each line must count the same.
        """
        case = self.launches[name].case
        source = self.sample_source if name in self.sample else self.source
        kernel = softlab.Kernel(source, case.kernel, file=self.chosen.FILE)
        arguments = case.make()
        first = kernel.run(case.grid, case.block, arguments, case.smem).by_line()
        try:
            run = kernel.run(case.grid, case.block, arguments, case.smem)
        except softlab.KernelFault as fault:
            return str(fault)
        other = sorted(line for line, counted in run.by_line().items() if counted != first.get(line))
        return "".join(map(str, run.findings)) or (f"other counters in lines {other}" if other else "")

    def check(self, name: str) -> None:
        """Run a small launch and compare its outputs."""
        before, after = self.run(name)
        small = self.launches[name]
        if small.expected is None:
            return
        expected = small.expected(*before)
        expected = expected if len(small.outputs) > 1 else (expected,)
        for number, right in zip(small.outputs, expected, strict=True):
            found = small.seen(after[number])
            np.testing.assert_allclose(found, right, rtol=small.relative, atol=small.absolute)
