"""Runs of a kernel with changed inputs, and words for the elements of an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from softlab.course.exercises import different
from softlab.course.launch_cases import LaunchCase
from softlab.errors import Error
from softlab.kernel import Kernel

#: Inputs that are changed, one at a time, per array; arrays with more elements are left alone.
_PROBES, _LARGEST = 14, 16_384
#: Instructions that the blocks of such a launch may issue: other inputs must not make it endless.
_BUDGET = 200_000
#: How many elements a sentence names.
NAMED = 3


@dataclass(frozen=True)
class Seen:
    """A wrong result, and runs of the same kernel with other inputs."""

    kernel: Kernel
    launch: LaunchCase
    name: str
    got: np.ndarray
    #: Instructions that the blocks of a launch may issue.
    budget: ClassVar[int] = _BUDGET

    @property
    def wanted(self) -> np.ndarray:
        """What is right."""
        return self.launch.expected[self.name]

    @property
    def block(self) -> int:
        """Threads per block."""
        return self.launch.block if isinstance(self.launch.block, int) else prod(self.launch.block)

    @property
    def threads(self) -> int:
        """How many threads the launch has."""
        return self.block * (self.launch.grid if isinstance(self.launch.grid, int) else prod(self.launch.grid))

    @cached_property
    def wrong(self) -> np.ndarray:
        """Which elements are wrong."""
        return different(self.got, self.wanted, self.launch.relative)

    @cached_property
    def unwritten(self) -> np.ndarray:
        """Which elements have the bits with which they began."""
        start = self.launch.args[self.name]
        bits = f"u{self.got.dtype.itemsize}"
        return np.asarray(np.ascontiguousarray(self.got).view(bits) == np.ascontiguousarray(start).view(bits))

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays that the kernel reads: not those that begin as NaN, nor single flags."""
        return {
            name: value
            for name, value in self.launch.args.items()
            if isinstance(value, np.ndarray)
            and 1 < value.size <= _LARGEST
            and value.dtype.kind in "fi"
            and not (value.dtype.kind == "f" and np.isnan(value).all())
            and not (name in self.launch.expected and not value.any())
        }

    def run(self, changed: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """The array ``name`` after a run with other inputs; None where the kernel does not come to its end."""
        launch = replace(self.launch, args={**self.launch.args, **changed})
        args = launch.fresh()
        try:
            given = tuple(args.values())
            self.kernel.run(launch.grid, launch.block, given, launch.smem, budget=self.budget, record=False)
        except Error:
            return None
        return args[self.name]


def with_change(array: np.ndarray, index: int, by: int) -> np.ndarray:
    """The array with one element changed by so much; an infinite one becomes that number."""
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[index] = flat[index] + by if np.isfinite(flat[index]) else by
    return changed


def raised_to_most(array: np.ndarray, index: int) -> np.ndarray:
    """The array with one element as large as the largest of its row."""
    changed = array.copy()
    flat, cols = changed.reshape(-1), array.shape[-1]
    flat[index] = flat[index // cols * cols : (index // cols + 1) * cols].max()
    return changed


def places_to_change(array: np.ndarray, wrong: np.ndarray) -> list[int]:
    """Where to change an input: ends of the array, of warps and rows, and around the first wrong element."""
    size, cols = array.size, array.shape[-1]
    first = int(np.argmax(wrong.reshape(-1))) if wrong.size == size else 0
    near = (0, size - 1, first, first + 1, size // 2, 1, 32, size - 2, 31, first - 1, first + 2, cols - 1, cols)
    asked = (*near, 64, 33, size // 4, 3 * size // 4, 7, 8)
    return sorted(list(dict.fromkeys(place for place in asked if 0 <= place < size))[:_PROBES])


def elements(name: str, indices: np.ndarray, size: int) -> str:
    """ "y[32] to y[63] are", "y[1] to y[63] in steps of 2 are", "y[3], y[9] and 1 more are"."""
    first, last = int(indices[0]), int(indices[-1])
    steps = set(np.diff(indices).tolist())
    if len(indices) == 1:
        return f"{name}[{first}] is"
    end = ", the last one," if last == size - 1 else ""
    if steps == {1}:
        return f"{name}[{first}] to {name}[{last}]{end} are"
    if len(steps) == 1:
        return f"{name}[{first}] to {name}[{last}] in steps of {steps.pop()} are"
    return f"{name}[{first}], {name}[{int(indices[1])}] and {len(indices) - 2} more are"


def listed(name: str, array: np.ndarray, places: Sequence[int]) -> str:
    """ "x[0], x[1] and x[63]": the first and the last ones of those that were tried."""
    shown = places if len(places) <= NAMED else [places[0], places[1], places[-1]]
    words = [f"{name}[{', '.join(map(str, map(int, np.unravel_index(place, array.shape))))}]" for place in shown]
    if len(places) > NAMED:
        return f"{words[0]}, {words[1]} and others up to {words[2]}"
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
