"""The function objects of the fused kernels: their C++ types and fields, each step in its place; what callers give."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.cuda.structs import Struct
from softlab.dtypes import ELEMENT_TYPES, ElementType
from softlab.operators.functors import BroadcastLayout, Causal, Dropout, Functor, Fusion
from softlab.operators.fused_arguments import FusedArguments, checked_operand, fusion_of
from softlab.operators.row_view import RowView

COLS, CUDA = 24, {"float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double"}
ROW, MATRIX = BroadcastLayout((6,), (0,), True), BroadcastLayout((2, 3), (0, 1), False)
CAUSAL, DROPOUT = Causal(7, -2), Dropout(0.75, 2**63 + 1)
FILL = -3.0


def steps() -> Iterator[Fusion]:
    """Each step is there or not, in every combination."""
    for scale, bias, mask, causal, dropout in product((None, 0.5), (None, ROW), (None, MATRIX), (None, CAUSAL),
                                                      (None, DROPOUT)):  # fmt: skip
        yield Fusion(scale, bias, mask, FILL, causal, dropout)


def plain(found: Functor) -> tuple[str, tuple]:
    """The type, and the fields as Python's values; an array is its name."""

    def values(struct: Struct) -> tuple:
        return tuple(values(field) if isinstance(field, Struct) else field for field in struct.fields)

    return found.cuda, values(found.struct)


class Expected:
    """The types and fields of a kernel's header, written out: a step is put around the one before."""

    def __init__(self, element: ElementType, kind: str, array: str) -> None:
        self.t, self.c = CUDA[element.name], "double" if element.name == "float64" else "float"
        self.cuda, self.fields = f"Direct{kind}<{self.t}, {self.c}>", (array, COLS)

    def around(self, name: str, *types: str, fields: tuple) -> None:
        self.cuda = f"{name}<{', '.join((self.c, self.cuda, *types))}>"
        self.fields = (self.fields, *fields)

    @property
    def plain(self) -> tuple[str, tuple]:
        return self.cuda, self.fields


#: The layouts ROW and MATRIX over an array.
ROW_FIELDS, MATRIX_FIELDS = (6, 0), (2, 3, 0, 1)
#: Seed, columns, threshold of a word, and what is kept times 1 / (1 - 0.75).
DROPOUT_FIELDS = (2**63 + 1, COLS, 3 * 2**30, 4.0)


@pytest.mark.parametrize("name", list(ELEMENT_TYPES))
def test_the_forward_kernels_load_and_store(name: str) -> None:
    element = ELEMENT_TYPES[name]
    for fusion in steps():
        load = Expected(element, "Load", "x")
        if fusion.scale is not None:
            load.around("ScaleLoad", fields=(0.5,))
        if fusion.bias is not None:
            load.around("BiasLoad", CUDA[name], f"Broadcast<{CUDA[name]}, 1, true>", fields=(("b", *ROW_FIELDS),))
        if fusion.mask is not None:
            kept = ("m", *MATRIX_FIELDS)
            load.around("MaskLoad", "Broadcast<unsigned char, 2, false>", fields=(kept, FILL))
        if fusion.causal is not None:
            load.around("CausalLoad", fields=(7, -2, FILL))
        assert plain(fusion.load(element, COLS, Named("x"), Named("b"), Named("m"))) == load.plain
        store = Expected(element, "Store", "y")
        if fusion.dropout is not None:
            store.around("DropoutStore", f"DirectStore<{store.t}, {store.c}>", fields=(("d", COLS), DROPOUT_FIELDS))
        assert plain(fusion.store(element, COLS, Named("y"), Named("d"))) == store.plain


@pytest.mark.parametrize("name", list(ELEMENT_TYPES))
def test_the_gradient_kernels_load_and_store(name: str) -> None:
    """A bias has no step there: its gradient is the result."""
    element = ELEMENT_TYPES[name]
    for fusion in steps():
        load = Expected(element, "Load", "dy")
        if fusion.dropout is not None:
            load.around("DropoutLoad", fields=(DROPOUT_FIELDS,))
        assert plain(fusion.gradient_load(element, COLS, Named("dy"))) == load.plain
        store = Expected(element, "Store", "dx")
        if fusion.scale is not None:
            store.around("ScaleStore", fields=(0.5,))
        if fusion.mask is not None:
            store.around("MaskStore", "Broadcast<unsigned char, 2, false>", fields=(("m", *MATRIX_FIELDS),))
        if fusion.causal is not None:
            store.around("CausalStore", fields=(7, -2))
        assert plain(fusion.gradient_store(element, COLS, Named("dx"), Named("m"))) == store.plain


class Named(np.ndarray):
    """An array that is equal to its name."""

    def __new__(cls, name: str) -> Named:
        made = np.zeros(1, np.float32).view(cls)
        made.name = name
        return made

    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return self.name == other

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("name", list(ELEMENT_TYPES))
def test_fields_have_the_types_of_the_header(name: str) -> None:
    """A C++ struct's layout follows from them."""
    element = ELEMENT_TYPES[name]
    compute = np.float64 if name == "float64" else np.float32
    assert [type(field) for field in DROPOUT.struct(element, COLS).fields] == [np.uint64, np.int64, np.uint32, compute]
    assert [type(field) for field in CAUSAL.fields] == [np.int64, np.int64]
    load = Fusion(scale=0.1, causal=CAUSAL).load(element, COLS, Named("x")).struct
    assert [type(field) for field in load.fields[1:]] == [np.int64, np.int64, compute]
    assert load.fields[3] == -np.inf, "without a fill value"
    assert load.fields[0].fields[1] == compute(0.1)
    assert type(load.fields[0].fields[1]) is compute
    assert {type(field) for field in MATRIX.functor("float", Named("b")).struct.fields[1:]} == {np.int64}


@pytest.mark.parametrize("probability", [0.1, 0.25, 0.4, 0.5, 0.9, 1 - 2.0**-20])
def test_what_dropout_keeps_has_the_mean_of_all(probability: float) -> None:
    dropout = Dropout(probability, 3)
    assert dropout.threshold == math.floor(probability * 2**32 + 0.5)
    scale = dropout.struct(ELEMENT_TYPES["float64"], 5).fields[3]
    assert scale * (1 - probability) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("layout", "cols", "whole"),
    [
        (BroadcastLayout((6,), (8,), True), 8, True),
        (BroadcastLayout((6,), (8,), True), 7, False),
        (BroadcastLayout((6,), (8,), False), 8, False),
        (BroadcastLayout((1,), (0,), True), 8, True),
        (BroadcastLayout((1,), (0,), False), 8, False),
        (BroadcastLayout((6,), (0,), True), 8, False),
        (BroadcastLayout((2, 3), (8, 0), True), 8, False),
    ],
)
def test_an_operand_that_lies_as_the_rows_do(layout: BroadcastLayout, cols: int, whole: bool) -> None:
    assert layout.whole(cols) == whole


def fused(shape: tuple[int, ...] = (2, 3, 4), axis: int = 2, **given: Any) -> Fusion:
    return fusion_of(FusedArguments(**given), RowView(shape, axis), {})


def test_what_is_fused() -> None:
    assert fused() == Fusion(None, None, None, -math.inf, None, None)
    assert fused(scale=0, fill=2, causal=True, diagonal=-1, dropout=0.5, seed=0) == Fusion(
        0.0, None, None, 2.0, Causal(3, -1), Dropout(0.5, 0)
    )
    assert fused((3, 4), 1, causal=np.bool_(True)).causal == Causal(3, 0)
    assert fused(dropout=0, seed=None).dropout is None
    for probability in (2.0**-60, 1 - 2.0**-53):
        assert fused(dropout=probability, seed=2**64 - 1).dropout == Dropout(probability, 2**64 - 1)
    bias, mask = np.zeros((3, 4), np.float32), np.zeros((2, 1, 1), bool)
    found = fusion_of(FusedArguments(), RowView((2, 3, 4), 0), {"bias": bias, "mask": mask})
    assert found.bias == BroadcastLayout.of((4, 3, 1), (4, 3, 2))
    assert found.mask == BroadcastLayout.of((1, 1, 2), (4, 3, 2))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        *[({"scale": value}, TypeError, f"scale must be a real number, not {value!r}")
          for value in (True, np.bool_(True), 1j, "2", [1.0], np.zeros(1), object)],
        ({"fill": "x"}, TypeError, "fill must be a real number, not 'x'"),
        ({"scale": 10**400}, ValueError, "scale is an integer beyond the largest float64"),
        ({"diagonal": 1.0, "causal": True}, TypeError, "diagonal must be an integer, not 1.0"),
        ({"diagonal": 2}, ValueError, "diagonal = 2 without causal=True: it is the causal mask's offset"),
        ({"causal": 1}, TypeError, "causal must be True or False, not 1; an offset is given as diagonal="),
        ({"causal": True, "shape": (4,), "axis": 0}, ValueError, "the array has shape (4,) and axis 0"),
        ({"causal": True, "axis": 1}, ValueError, "the array has shape (2, 3, 4) and axis 1"),
        ({"causal": True, "shape": (), "axis": 0}, ValueError, "the array has shape () and axis 0"),
        *[({"dropout": value, "seed": 1}, ValueError, f"dropout = {value}: it is a probability, from 0 to less than 1")
          for value in (1.0, -0.25, 1.5, -5e-324, math.nan)],
        ({"dropout": 0.5}, ValueError, "dropout needs a seed, an integer"),
        ({"dropout": 0.5, "seed": 0.5}, TypeError, "seed must be an integer, not 0.5"),
        *[({"dropout": 0.5, "seed": value}, ValueError, f"seed = {value}: it is from 0 to 2**64 - 1")
          for value in (-1, -(2**64), 2**64, 2**64 + 1)],
    ],
)  # fmt: skip
def test_what_cannot_be_fused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        fused(**given)


def test_operands_that_fit() -> None:
    x = np.zeros((2, 3, 4))
    for shape in ((), (4,), (1,), (3, 1), (1, 1, 4), (2, 3, 4)):
        for dtype in ("bool", "uint8"):
            mask = np.zeros(shape, dtype)
            assert checked_operand("mask", mask, x, "x") is mask
        for dtype in CUDA:
            bias = np.zeros(shape, ELEMENT_TYPES[dtype].numpy)
            assert checked_operand("bias", bias, x, "x") is bias
    for shape in ((3,), (2, 4), (2, 2, 4), (1, 2, 3, 4), (0,)):
        words = f"bias has shape {shape}, which does not broadcast to dy's (2, 3, 4): each size"
        with pytest.raises(ValueError, match=re.escape(words)):
            checked_operand("bias", np.zeros(shape, np.float32), x, "dy")
    with pytest.raises(ValueError, match=re.escape("mask has shape (1, 4), which does not broadcast to x's (4,)")):
        checked_operand("mask", np.zeros((1, 4), bool), np.zeros(4), "x")
    for dtype in ("int8", "float32", "uint16"):
        with pytest.raises(TypeError, match=f"^mask has dtype {dtype}: give bool"):
            checked_operand("mask", np.zeros(4, dtype), x, "x")
    for dtype in ("bool", "int32", "uint8"):
        with pytest.raises(TypeError, match=f"dtype {dtype} is not supported"):
            checked_operand("bias", np.zeros(4, dtype), x, "x")
