"""The layout of an array in memory: the order of its axes, gaps, reversed and repeated axes, and what comes before it.

A layout is drawn by the name of its kind, so that a case can name it and a summary can count it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Generator = np.random.Generator
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A view of memory of ``size`` elements: the first element at ``offset``, ``strides`` in elements."""

    size: int
    offset: int
    strides: tuple[int, ...]

    def indices(self, shape: Shape) -> np.ndarray:
        """The index of each element in memory."""
        indices = np.full(shape, self.offset)
        for axis, stride in enumerate(self.strides):
            along = np.arange(shape[axis]) * stride
            indices = indices + along.reshape((-1,) + (1,) * (len(shape) - axis - 1))
        return indices


def laid_out(shape: Shape, order: Shape, steps: Shape, before: int = 0, behind: int = 0) -> Layout:
    """Axes from the outermost to the innermost, each with a step: 2 leaves gaps, -1 goes backwards, 0 repeats."""
    strides, offset, length = [0] * len(shape), before, 1
    for axis in reversed(order):
        step = steps[axis]
        strides[axis] = length * step
        if step < 0:
            offset += (shape[axis] - 1) * length * -step if shape[axis] else 0
        if step:
            length *= max(shape[axis], 1) * abs(step)
    return Layout(before + length + behind, offset, tuple(strides))


Kind = Callable[[Generator, Shape], Layout]
KINDS: dict[str, Kind] = {}


def _kind(draw: Kind) -> Kind:
    KINDS[draw.__name__] = draw
    return draw


@_kind
def plain(random: Generator, shape: Shape) -> Layout:
    """C-contiguous, at the start of its memory."""
    return laid_out(shape, tuple(range(len(shape))), (1,) * len(shape))


@_kind
def shifted(random: Generator, shape: Shape) -> Layout:
    """C-contiguous, but it starts some elements after an aligned address."""
    before = int(random.choice([1, 1, 2, 3, 4, 7, 8, 15, 16, 33]))
    return laid_out(shape, tuple(range(len(shape))), (1,) * len(shape), before, int(random.integers(0, 9)))


@_kind
def permuted(random: Generator, shape: Shape) -> Layout:
    """The axes in another order."""
    return laid_out(shape, _any_order(random, shape), (1,) * len(shape))


@_kind
def sliced(random: Generator, shape: Shape) -> Layout:
    """With gaps along some axes."""
    return laid_out(shape, tuple(range(len(shape))), _steps(random, shape, [1, 1, 2, 3]), behind=5)


@_kind
def reversed_axes(random: Generator, shape: Shape) -> Layout:
    """Some axes backwards."""
    return laid_out(shape, tuple(range(len(shape))), _steps(random, shape, [1, -1]))


@_kind
def broadcast(random: Generator, shape: Shape) -> Layout:
    """Some axes of the stride 0: one element for all positions."""
    return laid_out(shape, tuple(range(len(shape))), _steps(random, shape, [0, 1]))


@_kind
def anyhow(random: Generator, shape: Shape) -> Layout:
    """Order, gaps, directions and start together."""
    before = int(random.integers(0, 20))
    return laid_out(shape, _any_order(random, shape), _steps(random, shape, [1, 1, 2, -1, -2]), before, 7)


#: The kinds in which every element has an index of its own, as an output must.
DISTINCT = tuple(name for name in KINDS if name != "broadcast")


def _any_order(random: Generator, shape: Shape) -> Shape:
    return tuple(int(axis) for axis in random.permutation(len(shape)))


def _steps(random: Generator, shape: Shape, choices: list[int]) -> Shape:
    return tuple(int(step) for step in random.choice(choices, len(shape)))
