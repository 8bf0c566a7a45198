"""What a caller wants fused to a softmax, as it was given: checked, and turned as the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from softlab import arrays
from softlab.dtypes import element_type
from softlab.functors import Causal, Dropout, Fusion, Places


@dataclass(frozen=True)
class Fusing:
    """What the caller wants fused, as it was given."""

    scale: Any = None
    bias: Any = None
    mask: Any = None
    fill: Any = -np.inf
    causal: Any = False
    diagonal: Any = 0
    dropout: Any = 0.0
    seed: Any = None


@dataclass(frozen=True)
class Turn:
    """An array's axis put last: what :mod:`softlab.rows` does to x, done to the shapes and arrays of operands."""

    shape: tuple[int, ...]
    axis: int

    def turned(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to the array's, in as many dimensions, the axis last."""
        full = [1] * (len(self.shape) - len(shape)) + list(shape)
        if full:
            full[self.axis], full[-1] = full[-1], full[self.axis]
        return tuple(full or (1,))

    def operand(self, array: Any) -> Any:
        """An operand turned likewise, C-contiguous: itself where it is so already."""
        full = array.reshape((1,) * (len(self.shape) - array.ndim) + array.shape)
        turned = full.swapaxes(self.axis, -1) if full.ndim else full
        return turned if turned.flags.c_contiguous else turned.copy(order="C")


def fusion_of(fusing: Fusing, turn: Turn, operands: Mapping[str, Any]) -> Fusion:
    """What is fused, checked."""
    shape = turn.turned(turn.shape)
    places = {name: Places.of(turn.turned(array.shape), shape) for name, array in operands.items()}
    return Fusion(
        scale=None if fusing.scale is None else _number("scale", fusing.scale),
        fill=_number("fill", fusing.fill),
        causal=_causal(fusing, turn),
        dropout=_dropout(fusing.dropout, fusing.seed),
        **places,
    )


def as_array(x: Any) -> Any:
    """x if it is an array of any library, else what NumPy makes of it."""
    return x if hasattr(x, "shape") and hasattr(x, "ndim") else np.asarray(x)


def checked_operand(name: str, array: Any, x: Any, x_name: str) -> Any:
    """A bias or mask that fits x.

    Raises:
        TypeError: of another library, place or dtype. ValueError: of a shape that does not broadcast to x's.
    """
    array = as_array(array)
    arrays.check_together((x, array), (x_name, name))
    dtype = str(array.dtype).removeprefix("torch.")
    if name == "mask" and dtype not in ("bool", "uint8"):
        raise TypeError(
            f"mask has dtype {dtype}: give bool (or uint8), True where an element stays; an array that is added, such "
            "as 0 and -inf, is a bias"
        )
    if name == "bias":
        element_type(dtype)
    try:
        fits = np.broadcast_shapes(tuple(array.shape), tuple(x.shape)) == tuple(x.shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, which does not broadcast to {x_name}'s {tuple(x.shape)}: each "
            "size, from the last backwards, is the same or 1"
        )
    return array


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | np.bool_ | complex | str) or np.ndim(value):
        raise TypeError(f"{name} must be a real number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real number, not {value!r}") from None


def _integer(name: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def _causal(fusing: Fusing, turn: Turn) -> Causal | None:
    diagonal = _integer("diagonal", fusing.diagonal)
    if not isinstance(fusing.causal, bool | np.bool_):
        raise TypeError(f"causal must be True or False, not {fusing.causal!r}; an offset is given as diagonal=")
    if not fusing.causal:
        if diagonal:
            raise ValueError(f"diagonal = {diagonal} without causal=True: it is the causal mask's offset")
        return None
    if len(turn.shape) < 2 or turn.axis != len(turn.shape) - 1:
        raise ValueError(
            f"a causal mask lies over the last two dimensions: the array has shape {turn.shape} and axis {turn.axis}; "
            "give two dimensions or more, and the last axis"
        )
    return Causal(turn.shape[-2], diagonal)


def _dropout(probability: Any, seed: Any) -> Dropout | None:
    probability = _number("dropout", probability)
    if not 0 <= probability < 1:
        raise ValueError(f"dropout = {probability}: it is a probability, from 0 to less than 1")
    if not probability:
        return None
    if seed is None:
        raise ValueError("dropout needs a seed, an integer: give another one at each call, and the gradient the same")
    seed = _integer("seed", seed)
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed = {seed}: it is from 0 to 2**64 - 1")
    return Dropout(probability, seed)
