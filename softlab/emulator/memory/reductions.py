"""What bulk copies that reduce do with the elements of their destination (``cp.reduce.async.bulk``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softlab.emulator.memory.atomics import atomic_function

_INTEGERS = ("u32", "s32", "u64", "s64")
#: Operation -> the types that have it (PTX ISA, "cp.reduce.async.bulk").
_TYPES = {
    "add": (*_INTEGERS, "f16", "bf16", "f32", "f64"),
    "min": (*_INTEGERS, "f16", "bf16"),
    "max": (*_INTEGERS, "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("b32", "b64", *_INTEGERS),
    "or": ("b32", "b64", *_INTEGERS),
    "xor": ("b32", "b64", *_INTEGERS),
}
OPERATIONS = tuple(_TYPES)
_DTYPES = {
    "u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
_FLOAT_ORDER: dict[str, Callable] = {"min": np.fmin, "max": np.fmax}


@dataclass(frozen=True)
class Reduction:
    """An operation on elements of a PTX type: "add.f32"."""

    name: str
    dtype: np.dtype
    function: Callable[..., np.ndarray]

    def apply(self, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        """The bytes of the results, of the bytes that stand there and those that come; whole elements each."""
        before, given = (np.ascontiguousarray(part).view(self.dtype) for part in (old, new))
        with np.errstate(all="ignore"):
            return np.asarray(self.function(before, given)).astype(self.dtype, copy=False).view(np.uint8)


def reduction(operation: str, kind: str) -> Reduction:
    """The reduction by its operation ("add") and PTX type ("f32").

    Raises:
        NotImplementedError: PTX has no such one.
    """
    if kind not in _TYPES[operation]:
        raise NotImplementedError(f"a bulk copy with .{operation} of {kind}")
    name = f"{operation}.{kind}"
    function = _ordered(operation, kind) if operation in _FLOAT_ORDER and "f" in kind else atomic_function(name)
    return Reduction(name, np.dtype(_DTYPES[kind]), function)


def _ordered(operation: str, kind: str) -> Callable[..., np.ndarray]:
    """``min`` and ``max`` of 16-bit floats: a NaN loses against a number."""
    import ml_dtypes

    inner = np.dtype(ml_dtypes.bfloat16 if kind == "bf16" else np.float16)

    def apply(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        wide = [part.view(inner).astype(np.float32) for part in (old, new)]
        return np.asarray(_FLOAT_ORDER[operation](*wide).astype(inner).view(old.dtype))

    return apply
