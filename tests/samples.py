"""Inputs of the operators' tests."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Values of the standard normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


class UserArray(np.ndarray):
    """A subclass as users make them."""
