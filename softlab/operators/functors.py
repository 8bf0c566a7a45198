"""The function objects of ``kernels/fused_load.cuh`` and ``fused_store.cuh``: their C++ types and their fields.

A :class:`Fusion` says what is fused. Its loads and stores are built from the inside out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np

from softlab.cuda.structs import Struct
from softlab.dtypes import ElementType, element_type

#: Values of a random word, which is 32 bits.
_WORDS = 2**32
_MASK_TYPE = "unsigned char"


@dataclass(frozen=True)
class Functor:
    """A function object: its C++ type, and its fields for the kernel."""

    cuda: str
    struct: Struct


@dataclass(frozen=True)
class BroadcastLayout:
    """The layout of a broadcast operand in memory: the template arguments and fields of ``Broadcast``.

    Arguments:
        sizes: of the dimensions that make up the rows; neighbours are merged if they can be.
        strides: of those dimensions, in elements; 0 if the operand does not vary.
        along_row: the operand varies along the row; else it has one element for the row.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    along_row: bool

    @classmethod
    def of(cls, operand: Sequence[int], shape: Sequence[int]) -> BroadcastLayout:
        """The layout of a C-contiguous operand, whose shape broadcasts to ``shape``, with the row's axis last in both.

        >>> BroadcastLayout.of((2, 1, 4, 8), (2, 3, 4, 8))
        BroadcastLayout(sizes=(2, 3, 4), strides=(32, 0, 8), along_row=True)
        >>> BroadcastLayout.of((4, 1), (2, 3, 4, 8))  # the first two dimensions are as one
        BroadcastLayout(sizes=(6, 4), strides=(0, 1), along_row=False)
        """
        padded = (1,) * (len(shape) - len(operand)) + tuple(operand)
        merged: list[tuple[int, int]] = []
        for k, (size, own) in enumerate(zip(shape[:-1], padded[:-1], strict=True)):
            stride = prod(padded[k + 1 :]) if own > 1 else 0
            if size == 1:
                continue
            if merged and merged[-1][1] == stride * size:
                merged[-1] = (merged[-1][0] * size, stride)
            else:
                merged.append((size, stride))
        sizes, strides = zip(*(merged or [(1, 0)]), strict=True)
        return cls(sizes, strides, padded[-1] > 1 or shape[-1] == 1)

    def whole(self, cols: int) -> bool:
        """Whether each row has elements of its own, so that the operand lies as the rows of ``cols`` columns do."""
        return self.along_row and (self.strides == (cols,) or self.sizes == (1,))

    def alike(self, cols: int, most: int) -> int:
        """The widest pack, in elements, for which each row begins at the same place of a pack as the row of x does.

        It is a power of two up to ``most``. ``cols``: elements of a row of x.

        >>> BroadcastLayout.of((64, 7), (4, 64, 7)).alike(7, 8), BroadcastLayout.of((4, 1, 7), (4, 64, 7)).alike(7, 8)
        (8, 1)
        """
        step, together = cols, most
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if size > 1:
                together = gcd(together, stride - step)
            step *= size
        return together

    def functor(self, cuda: str, array: Any) -> Functor:
        """The operand with elements of a C++ type."""
        along_row = "true" if self.along_row else "false"
        fields = (array, *map(np.int64, self.sizes), *map(np.int64, self.strides))
        return Functor(f"Broadcast<{cuda}, {len(self.sizes)}, {along_row}>", Struct(*fields))


@dataclass(frozen=True)
class Causal:
    """Of each matrix of ``matrix_rows`` rows, row r keeps the columns up to r + ``diagonal``."""

    matrix_rows: int
    diagonal: int

    @property
    def fields(self) -> tuple[np.int64, np.int64]:
        """As the kernels' function objects have them."""
        return np.int64(self.matrix_rows), np.int64(self.diagonal)


@dataclass(frozen=True)
class Dropout:
    """Each element is dropped with a ``probability`` (to within 2^-33); its index and the ``seed`` decide."""

    probability: float
    seed: int

    @property
    def threshold(self) -> int:
        """An element is dropped if its random word is less."""
        return min(round(self.probability * _WORDS), _WORDS - 1)

    def struct(self, element: ElementType, cols: int) -> Struct:
        """As the kernels' ``Dropout`` has it."""
        compute = _compute(element)
        scale = compute(1 / (1 - self.probability))
        return Struct(np.uint64(self.seed), np.int64(cols), np.uint32(self.threshold), scale)


@dataclass(frozen=True)
class Fusion:
    """What is fused to a softmax: before it v = scale * x + bias, with ``fill`` for masked elements; after it dropout.

    None: not fused. Bias and mask are given by their layouts; their arrays come with each launch.
    """

    scale: float | None = None
    bias: BroadcastLayout | None = None
    mask: BroadcastLayout | None = None
    fill: float = -np.inf
    causal: Causal | None = None
    dropout: Dropout | None = None

    def load(self, element: ElementType, cols: int, x: Any, bias: Any = None, mask: Any = None) -> Functor:
        """The load of the forward kernel. Without arrays (None) its type alone is right."""
        compute, c = _compute(element), _cuda_compute(element)
        load = _direct("Load", element, cols, x)
        if self.scale is not None:
            load = _around("ScaleLoad", c, load, fields=(compute(self.scale),))
        if self.bias is not None:
            added = self.bias.functor(element.cuda, bias)
            load = _around("BiasLoad", c, load, element.cuda, added.cuda, fields=(added.struct,))
        if self.mask is not None:
            kept = self.mask.functor(_MASK_TYPE, mask)
            load = _around("MaskLoad", c, load, kept.cuda, fields=(kept.struct, compute(self.fill)))
        if self.causal is not None:
            load = _around("CausalLoad", c, load, fields=(*self.causal.fields, compute(self.fill)))
        return load

    def store(self, element: ElementType, cols: int, y: Any, dropped: Any = None) -> Functor:
        """The store of the forward kernel: of y, or with dropout of y and ``dropped``."""
        result = _direct("Store", element, cols, y)
        if self.dropout is None:
            return result
        also = _direct("Store", element, cols, dropped)
        c = _cuda_compute(element)
        fields = (also.struct, self.dropout.struct(element, cols))
        return _around("DropoutStore", c, result, also.cuda, fields=fields)

    def gradient_load(self, element: ElementType, cols: int, dy: Any) -> Functor:
        """The gradient kernel's load of dy, the gradient with respect to what the forward kernel stored last."""
        load = _direct("Load", element, cols, dy)
        if self.dropout is None:
            return load
        return _around("DropoutLoad", _cuda_compute(element), load, fields=(self.dropout.struct(element, cols),))

    def gradient_store(self, element: ElementType, cols: int, dx: Any, mask: Any = None) -> Functor:
        """The gradient kernel's store of dx. It undoes the forward load's steps in the reverse order."""
        compute, c = _compute(element), _cuda_compute(element)
        store = _direct("Store", element, cols, dx)
        if self.scale is not None:
            store = _around("ScaleStore", c, store, fields=(compute(self.scale),))
        if self.mask is not None:
            kept = self.mask.functor(_MASK_TYPE, mask)
            store = _around("MaskStore", c, store, kept.cuda, fields=(kept.struct,))
        if self.causal is not None:
            store = _around("CausalStore", c, store, fields=self.causal.fields)
        return store


def _direct(kind: str, element: ElementType, cols: int, array: Any) -> Functor:
    cuda = f"Direct{kind}<{element.cuda}, {_cuda_compute(element)}>"
    return Functor(cuda, Struct(array, np.int64(cols)))


def _around(template: str, compute: str, inner: Functor, *arguments: str, fields: Sequence[Any]) -> Functor:
    """``template<compute, inner, arguments...>``, whose first field is the inner function object."""
    return Functor(f"{template}<{', '.join((compute, inner.cuda, *arguments))}>", Struct(inner.struct, *fields))


def _compute(element: ElementType) -> type[np.floating]:
    return np.dtype(element.compute).type


def _cuda_compute(element: ElementType) -> str:
    return element_type(element.compute).cuda
