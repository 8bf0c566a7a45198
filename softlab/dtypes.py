"""The element types: one frozen record each, which holds its name, size, CUDA type and compute type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ElementType:
    """An element type of the operators.

    ``name`` is NumPy's name, ``cuda`` the C++ type, ``itemsize`` in bytes, ``compute`` the name of the type that the
    arithmetic is done in (half and bfloat16 compute in float; spec of the reference design).
    """

    name: str
    cuda: str
    itemsize: int
    compute: str

    @property
    def numpy(self) -> np.dtype:
        """The NumPy dtype (bfloat16 is ml_dtypes.bfloat16)."""
        if self.name == "bfloat16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(self.name)


ELEMENT_TYPES: dict[str, ElementType] = {
    t.name: t
    for t in (
        ElementType("float16", "__half", 2, "float32"),
        ElementType("bfloat16", "__nv_bfloat16", 2, "float32"),
        ElementType("float32", "float", 4, "float32"),
        ElementType("float64", "double", 8, "float64"),
    )
}


def element_type(dtype: Any) -> ElementType:
    """The record of a dtype given by name, NumPy dtype or NumPy scalar type, or PyTorch's dtype.

    Raises:
        TypeError: it is not one of the four; the message names it, what is taken and what to do.
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            name = repr(dtype).removeprefix("torch.")
    if name not in ELEMENT_TYPES:
        advice = "Cast the input first, for instance x.astype('float32')"
        if name.startswith("complex"):
            advice = "Take x.real or abs(x) first"
        raise TypeError(f"dtype {name} is not supported: softmax takes {', '.join(ELEMENT_TYPES)}. {advice}.")
    return ELEMENT_TYPES[name]
