"""What atomics do with a cell: their operation, and the dtype of the memory."""

from __future__ import annotations

import numpy as np

from softlab.sass.form import Form

_OPERATIONS = {
    "ADD": "add", "MIN": "min", "MAX": "max", "AND": "and", "OR": "or", "XOR": "xor", "EXCH": "exch", "CAS": "cas",
    "INC": "inc", "DEC": "dec", "CAST": "cas",
}  # fmt: skip
_TYPES: dict[str, tuple[type, str]] = {
    "F32": (np.float32, "f32"),
    "F64": (np.float64, "f64"),
    "S32": (np.int32, "s32"),
    "S64": (np.int64, "s64"),
    "64": (np.uint64, "u64"),
    "F16x2": (np.uint32, "f16x2"),
    "BF16x2": (np.uint32, "bf16x2"),
    "BF16_V2": (np.uint32, "bf16x2"),
}


def meaning(form: Form) -> tuple[np.dtype, str]:
    """(dtype of the memory, the operation's name)."""
    name = next((m for m in form.modifiers if m in _OPERATIONS), "")
    if not name:
        raise NotImplementedError("this operation")
    kind, suffix = next((_TYPES[m] for m in form.modifiers if m in _TYPES), (np.uint32, "u32"))
    if form.has("64") and form.has("S64"):
        kind, suffix = np.int64, "s64"
    operation = f"{_OPERATIONS[name]}.{suffix}"
    if suffix == "f32" and form.has("FTZ") and name not in ("ADD", "EXCH"):
        raise NotImplementedError("flushed float32")
    return np.dtype(kind), operation
