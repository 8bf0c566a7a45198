"""What a caller wants fused to a softmax: as it was given, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from softlab.dtypes import element_type
from softlab.operators.functors import BroadcastLayout, Causal, Dropout, Fusion
from softlab.operators.row_view import RowView


@dataclass(frozen=True)
class FusedArguments:
    """The arguments that say what is fused, as the caller gave them."""

    scale: Any = None
    bias: Any = None
    mask: Any = None
    fill: Any = -np.inf
    causal: Any = False
    diagonal: Any = 0
    dropout: Any = 0.0
    seed: Any = None


def fusion_of(given: FusedArguments, view: RowView, operands: Mapping[str, Any]) -> Fusion:
    """What is fused, checked."""
    shape = view.swapped_shape
    layouts = {name: BroadcastLayout.of(view.swapped(array.shape), shape) for name, array in operands.items()}
    return Fusion(
        scale=None if given.scale is None else _number("scale", given.scale),
        fill=_number("fill", given.fill),
        causal=_causal(given, view),
        dropout=_dropout(given.dropout, given.seed),
        **layouts,
    )


def as_array(x: Any) -> Any:
    """x itself if it is an array of any library, else as a NumPy array."""
    return x if hasattr(x, "shape") and hasattr(x, "ndim") else np.asarray(x)


def checked_operand(name: str, array: Any, x: Any, x_name: str) -> Any:
    """A bias or mask that fits x.

    Raises:
        TypeError: of another dtype. ValueError: of a shape that does not broadcast to x's.
    """
    array = as_array(array)
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
    except OverflowError:
        raise ValueError(f"{name} is an integer beyond the largest float64") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real number, not {value!r}") from None


def _integer(name: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def _causal(given: FusedArguments, view: RowView) -> Causal | None:
    diagonal = _integer("diagonal", given.diagonal)
    if not isinstance(given.causal, bool | np.bool_):
        raise TypeError(f"causal must be True or False, not {given.causal!r}; an offset is given as diagonal=")
    if not given.causal:
        if diagonal:
            raise ValueError(f"diagonal = {diagonal} without causal=True: it is the causal mask's offset")
        return None
    if len(view.shape) < 2 or view.axis != len(view.shape) - 1:
        raise ValueError(
            f"a causal mask covers the last two dimensions: the array has shape {view.shape} and axis {view.axis}; "
            "give two dimensions or more, and the last axis"
        )
    return Causal(view.shape[-2], diagonal)


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
