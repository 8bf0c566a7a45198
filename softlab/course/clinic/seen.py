"""A wrong result of a kernel, and more runs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softlab.course.diagnosis import unwritten
from softlab.course.exercises import different
from softlab.course.kernels import BUDGET
from softlab.course.launch_cases import LaunchCase
from softlab.errors import Error
from softlab.kernel import Kernel


@dataclass(frozen=True)
class Seen:
    """A wrong result. name: of the array; got: what it held after the launch."""

    kernel: Kernel
    launch: LaunchCase
    name: str
    got: np.ndarray

    @property
    def wanted(self) -> np.ndarray:
        """What it should hold."""
        return self.launch.expected[self.name]

    @cached_property
    def wrong(self) -> np.ndarray:
        """Where it is wrong."""
        return different(self.got, self.wanted, self.launch.relative)

    @cached_property
    def unwritten(self) -> np.ndarray:
        """Where the array has the bits with which it began."""
        return unwritten(self.got, self.launch.args[self.name])

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays of floats or integers that the kernel reads."""
        return {
            name: value
            for name, value in self.launch.args.items()
            if isinstance(value, np.ndarray) and value.size > 1 and value.dtype.kind in "fi" and value.any()
            and not (value.dtype.kind == "f" and np.isnan(value).all())
        }  # fmt: skip

    def run(self, changed: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """The array after a run with other arguments; None where the kernel does not come to its end."""
        launch = replace(self.launch, args={**self.launch.args, **changed})
        args = launch.fresh()
        try:
            self.kernel.run(launch.grid, launch.block, tuple(args.values()), launch.smem, budget=BUDGET, record=False)
        except Error:
            return None
        return args[self.name]


def element(name: str, array: np.ndarray, index: int) -> str:
    """ "x[1, 3]": the element of a flat index."""
    return f"{name}[{', '.join(str(int(place)) for place in np.unravel_index(index, array.shape))}]"
