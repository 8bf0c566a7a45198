"""The arrays of a case: each in memory of its own, or ``out`` in that of an input, with a pattern all around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from softlab.dtypes import element_type
from tests.random_cases import fusions, layouts, values
from tests.random_cases.cases import DTYPES, Case
from tests.random_cases.layouts import Layout


@dataclass(frozen=True)
class Placed:
    """An array in host memory: all of the memory, and the array's layout in it."""

    memory: np.ndarray
    layout: Layout
    shape: tuple[int, ...]

    @cached_property
    def indices(self) -> np.ndarray:
        return self.layout.indices(self.shape)

    @property
    def array(self) -> np.ndarray:
        return self.memory[self.indices]


@dataclass(frozen=True)
class PreparedCase:
    """The inputs, ``out``, which is in the memory of the input ``shared`` where that is set, and a fusion's operands.

    ``operands`` are named as the operator names them.
    """

    case: Case
    inputs: tuple[Placed, ...]
    out: Placed | None
    shared: int | None
    operands: Mapping[str, Placed] = field(default_factory=dict)

    @property
    def memories(self) -> list[np.ndarray]:
        """All memory: of the inputs, of the operands, of ``out`` where it has its own."""
        placed = [*self.inputs, *self.operands.values()]
        if self.out is not None and self.shared is None:
            placed.append(self.out)
        return [one.memory for one in placed]

    @property
    def holds_out(self) -> int | None:
        """The memory that holds ``out``."""
        if self.out is None:
            return None
        return len(self.memories) - 1 if self.shared is None else self.shared


def prepare(case: Case) -> PreparedCase:
    """Make the arrays."""
    inputs = [_placed(case, f"layout {k}", case.memory[k], _values(case, k)) for k in range(len(case.kinds))]
    operands = _operands(case)
    if case.out == "none":
        return PreparedCase(case, tuple(inputs), None, None, operands)
    if not case.out.startswith("input"):
        out = _placed(case, "out", case.memory[-1], np.zeros(case.shape, element_type(case.result).numpy))
        return PreparedCase(case, tuple(inputs), out, None, operands)
    shared = int(case.random("shared").integers(len(inputs)))
    given = inputs[shared]
    move = 0 if case.out == "input" else int(case.random("shift").integers(1, 2 * max(case.cols, 2)))
    memory = np.concatenate([given.memory, _pattern(case, move, given.memory.dtype)])
    inputs[shared] = Placed(memory, given.layout, case.shape)
    moved = Layout(given.layout.size + move, given.layout.offset + move, given.layout.strides)
    return PreparedCase(case, tuple(inputs), Placed(memory, moved, case.shape), shared, operands)


def _placed(case: Case, name: str, kind: str, array: np.ndarray) -> Placed:
    layout = layouts.KINDS[kind](case.random(name), array.shape)
    memory = _pattern(case, layout.size, array.dtype)
    memory[layout.indices(array.shape)] = array
    return Placed(memory, layout, array.shape)


def _operands(case: Case) -> dict[str, Placed]:
    """Bias and mask of the case's fusion."""
    found: dict[str, Placed] = {}
    fusion = case.fusion
    if fusion is not None and fusion.bias is not None:
        random = case.random("bias")
        dtype = case.result if random.random() < 0.8 else str(random.choice(DTYPES))
        shape = fusions.operand_shape(fusion.bias, case.shape)
        array = values.values(fusion.kind, random, shape or (1,), dtype).reshape(shape)
        found["bias"] = _placed(case, "layout of bias", fusion.layout, array)
    if fusion is not None and fusion.mask is not None:
        random = case.random("mask")
        shape = fusions.operand_shape(fusion.mask, case.shape)
        stays = random.random(shape) < random.choice([0.0, 0.1, 0.5, 0.9, 1.0], (*shape[:-1], 1)[: len(shape)])
        array = stays if fusion.mask_dtype == "bool" else stays * random.integers(1, 256, shape).astype(np.uint8)
        found["mask"] = _placed(case, "layout of mask", fusion.layout, array)
    return found


def _values(case: Case, k: int) -> np.ndarray:
    """Values along the axis. A gradient's y is mostly what the forward operator gives, else any numbers."""
    axis = case.axis if case.shape else 0
    shape = list(case.shape or (1,))
    shape[axis], shape[-1] = shape[-1], shape[axis]
    random = case.random(f"values {k}")
    array = values.values(case.kinds[k], random, tuple(shape), case.dtype)
    if k == 1 and array.dtype.kind not in "iub" and random.random() < 0.7:
        with np.errstate(all="ignore"):
            x = array.astype(np.float64)
            d = x - np.fmax.reduce(x, axis=-1, keepdims=True, initial=-np.inf)
            total = np.exp(d).sum(axis=-1, keepdims=True)
            array = (np.exp(d) / total if case.op == "softmax_backward" else d - np.log(total)).astype(array.dtype)
    return np.swapaxes(array, axis, -1) if case.shape else array.reshape(())


def _pattern(case: Case, size: int, dtype: np.dtype) -> np.ndarray:
    """Memory that nobody has written yet: any bytes, but no bool beside 0 and 1."""
    if dtype.kind == "b":
        return case.random("pattern").integers(0, 2, size).astype(bool)
    return np.frombuffer(case.random("pattern").bytes(size * dtype.itemsize), np.uint8).view(dtype).copy()
