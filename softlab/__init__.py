"""softlab: a laboratory for GPU kernels. One CUDA source, two executors (GPU, CPU emulator), one trace."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "softmax": "operators",
    "log_softmax": "operators",
    "softmax_backward": "operators",
    "log_softmax_backward": "operators",
    "trace": "operators",
    "trace_plan": "operators",
    "estimate": "operators",
    "what_if": "operators",
    "compare": "workbench",
    "plan": "plans",
    "forced": "plans",
    "Plan": "plans",
    "Step": "plans",
    "Device": "hardware.devices",
    "occupancy": "hardware.occupancies",
    "Occupancy": "hardware.occupancies",
    "Kernel": "kernel",
    "Texture": "cuda.textures",
    "Surface": "cuda.textures",
    "TensorMap": "cuda.tensor_maps",
    "kernel_folder": "cuda.compile",
    "kernel_sources": "cuda.compile",
    "Run": "traces",
    "Trace": "traces",
    "Error": "errors",
    "CompileError": "errors",
    "KernelFault": "errors",
    "UnsupportedInstruction": "errors",
    "PlanError": "errors",
    "EstimateError": "errors",
}
_MODULES = ("functional", "fused", "torch")

__all__ = [*_EXPORTS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(importlib.import_module(f"softlab.{_EXPORTS[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"softlab.{name}")
    else:
        raise AttributeError(f"module 'softlab' has no attribute {name!r}")
    globals()[name] = value
    return value


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext softlab``: adds the cell magic ``%%cuda``."""
    from softlab.magics import load_ipython_extension as load

    load(ipython)


def __dir__() -> list[str]:
    return sorted(__all__)
