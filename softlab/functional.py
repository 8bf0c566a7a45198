"""The thin front of the reference design: ``dim`` and ``dtype``, as ``oneflow.nn.functional`` has them.

It is the reference design throughout, kernels too: by default it asks for policy="oneflow" wherever the arrays are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab import operators


def softmax(input: Any, dim: int | None = None, dtype: Any = None, *, policy: str = "oneflow") -> Any:
    """Softmax along ``dim``.

    Arguments:
        input: as in :func:`softlab.softmax`.
        dim: the axis; negative ones count from the end. None means 0 for 0-, 1- and 3-D input and 1 for all other.
        dtype: the input is cast to it first, and the result has it. None: the input's own.
        policy: as for :func:`softlab.softmax`.

    Raises:
        TypeError, ValueError: as :func:`softlab.softmax`.
    """
    return operators.softmax(input, axis=_dim(input, dim), dtype=dtype, policy=policy)


def log_softmax(input: Any, dim: int | None = None, dtype: Any = None, *, policy: str = "oneflow") -> Any:
    """log(softmax) along ``dim``, as (x - max) - log(sum(exp(x - max))). Arguments and errors as :func:`softmax`."""
    return operators.log_softmax(input, axis=_dim(input, dim), dtype=dtype, policy=policy)


def _dim(input: Any, dim: int | None) -> int:
    """The reference's rule for a missing ``dim``: 0 for 0-, 1- and 3-D, else 1."""
    if dim is not None:
        return dim
    dimensions = input.ndim if hasattr(input, "ndim") else np.ndim(input)
    return 0 if dimensions in (0, 1, 3) else 1
