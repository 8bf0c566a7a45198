"""A wrong result of a kernel, and more runs of it."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from softlab.course import probes
from softlab.course.kernels import BUDGET


class Seen(probes.Seen):
    """A wrong result of a fix. Its runs have the budget of the grading, and arrays of any size are inputs."""

    budget: ClassVar[int] = BUDGET

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays of floats or integers that the kernel reads."""
        return {
            name: value
            for name, value in self.launch.args.items()
            if isinstance(value, np.ndarray) and value.size > 1 and value.dtype.kind in "fi" and value.any()
            and not (value.dtype.kind == "f" and np.isnan(value).all())
        }  # fmt: skip


def element(name: str, array: np.ndarray, index: int) -> str:
    """ "x[1, 3]": the element of a flat index."""
    return f"{name}[{', '.join(str(int(place)) for place in np.unravel_index(index, array.shape))}]"
