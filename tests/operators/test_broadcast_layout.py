"""The layout of a broadcast operand reads the elements that NumPy's broadcasting reads."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np

from softlab.operators.functors import BroadcastLayout


def test_each_row_reads_what_numpy_reads() -> None:
    """Every operand of up to three dimensions, or of none, for shapes with dimensions of 1, 2 and 3."""
    for shape in itertools.product((1, 2, 3), repeat=3):
        operands = {operand for own in itertools.product((True, False), repeat=3) for operand in
                    [tuple(n if kept else 1 for n, kept in zip(shape, own, strict=True))]}  # fmt: skip
        operands |= {operand[cut:] for operand in operands for cut in (1, 2, 3)}
        for operand in operands:
            layout = BroadcastLayout.of(operand, shape)
            assert prod(layout.sizes) == prod(shape[:-1])
            elements = np.broadcast_to(np.arange(prod(operand)).reshape(operand), shape).reshape(-1, shape[-1])
            starts = [sum(map(int.__mul__, at, layout.strides)) for at in itertools.product(*map(range, layout.sizes))]
            along = np.arange(shape[-1]) if layout.along_row else np.zeros(shape[-1], int)
            assert (elements == np.array(starts)[:, None] + along).all(), (operand, shape, layout)


def test_each_row_of_four_dimensions_reads_what_numpy_reads() -> None:
    """Three dimensions of rows: the last two may be as one where the first is not, and the first two alike."""
    shape = (2, 3, 4, 2)
    for own in itertools.product((True, False), repeat=4):
        operand = tuple(n if kept else 1 for n, kept in zip(shape, own, strict=True))
        layout = BroadcastLayout.of(operand, shape)
        elements = np.broadcast_to(np.arange(prod(operand)).reshape(operand), shape)[..., 0].reshape(-1)
        starts = [sum(map(int.__mul__, at, layout.strides)) for at in itertools.product(*map(range, layout.sizes))]
        assert starts == elements.tolist(), (operand, layout)
        assert layout.along_row == own[-1]
    assert BroadcastLayout.of((1, 3, 4, 2), shape) == BroadcastLayout((2, 12), (0, 2), True)
    assert BroadcastLayout.of((2, 3, 1, 2), shape) == BroadcastLayout((6, 4), (2, 0), True)


def test_dimensions_that_lie_in_a_row_are_one() -> None:
    assert BroadcastLayout.of((2, 3, 4, 8), (2, 3, 4, 8)) == BroadcastLayout((24,), (8,), True)
    assert BroadcastLayout.of((2, 1, 4, 8), (2, 1, 4, 8)) == BroadcastLayout((8,), (8,), True)
    assert BroadcastLayout.of((8,), (2, 3, 4, 8)) == BroadcastLayout((24,), (0,), True)
    assert BroadcastLayout.of((1, 1), (1, 1)) == BroadcastLayout((1,), (0,), True)
