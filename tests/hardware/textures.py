"""Texture fetches of the emulator beside a GPU's, at random coordinates.

``python -m tests.hardware.textures tests/data/textures.json`` runs every mode on the GPU that is present and writes
how far the emulator is from it. ``weights`` says by which rule the GPU makes the weights of a linear fetch.
"""

from __future__ import annotations

import datetime
import json
import platform
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import softlab

SAMPLES = 100_000
MODES = (("clamp", False), ("border", False), ("clamp", True), ("border", True), ("wrap", True), ("mirror", True))
SOURCE = """
extern "C" __global__ void fetch1(cudaTextureObject_t t, const float4* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex1D<float>(t, x[i].x);
}
extern "C" __global__ void fetch2(cudaTextureObject_t t, const float4* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex2D<float>(t, x[i].x, x[i].y);
}
extern "C" __global__ void fetch3(cudaTextureObject_t t, const float4* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex3D<float>(t, x[i].x, x[i].y, x[i].z);
}
"""
_SHAPES = {1: (37,), 2: (29, 37), 3: (11, 29, 37)}
#: Bits after the point of the coordinates that show how weights are rounded.
_FINE_BITS = 12
#: A difference of more than a weight's step is another element, not another rounding.
_FAR = 2**-8


def fetched(kernel: softlab.Kernel, array: np.ndarray, places: np.ndarray, module: Any, **modes: Any) -> np.ndarray:
    """The values at these coordinates, ``module``: numpy for the emulator, cupy for the GPU."""
    count = len(places)
    y = module.zeros(count, np.float32)
    texture = softlab.Texture(module.asarray(array), **modes)
    kernel.run((count + 255) // 256, 256, (texture, module.asarray(places), y, count), record=False, check=False)
    return y if module is np else y.get()


@lru_cache(maxsize=1)
def kernels() -> list[softlab.Kernel]:
    """The kernel of each number of dimensions."""
    present = softlab.Device.present()
    arch = present.arch if present is not None else "sm_90"
    return [softlab.Kernel(SOURCE, f"fetch{dimensions}", arch=arch) for dimensions in (1, 2, 3)]


def cases() -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(dimensions, dtype, modes): floats in every mode, integers in one."""
    for dimensions in _SHAPES:
        for filter in ("point", "linear"):
            for address, normalized in MODES:
                modes = {"filter": filter, "address": address, "normalized": normalized}
                yield dimensions, "float32", {**modes, "read": "element"}
            for dtype in ("int8", "uint16"):
                yield dimensions, dtype, {"filter": filter, "normalized": True, "read": "normalized"}


def texels(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random elements that a fetch reads as values from -1 (or 0) to 1."""
    if dtype == "float32":
        return rng.uniform(-1, 1, shape).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def compared(gpu: Any, samples: int = SAMPLES) -> list[dict[str, Any]]:
    """One record per mode. Values are from -1 to 1, so that differences are parts of the range."""
    rng = np.random.default_rng(20)
    found = []
    for dimensions, dtype, modes in cases():
        kernel, shape = kernels()[dimensions - 1], _SHAPES[dimensions]
        array = texels(dtype, shape, rng)
        scale = np.ones(4)
        if not modes["normalized"]:
            scale[:dimensions] = shape[::-1]
        places = (rng.uniform(-0.6, 1.6, (samples, 4)) * scale).astype(np.float32)
        here, there = (fetched(kernel, array, places, module, **modes) for module in (np, gpu))
        difference = np.abs(here.astype(np.float64) - there)
        record = {"equal": int((here == there).sum()), "largest_difference": float(difference.max())}
        far = int((difference > _FAR).sum())
        found.append({"dimensions": dimensions, "dtype": dtype, **modes, "samples": samples, **record, "far": far})
    return found


def weights(gpu: Any) -> dict[str, int]:
    """Rule -> coordinates, of one interval in steps of 2^-12, at which it gives the GPU's weight."""
    steps = np.arange(1 << _FINE_BITS)
    places = np.zeros((len(steps), 4), np.float32)
    places[:, 0] = 0.5 + steps / (1 << _FINE_BITS)
    there = fetched(kernels()[0], np.array([0, 1], np.float32), places, gpu) * 256
    at = steps / (1 << _FINE_BITS - 8)
    rules = {"nearest, halves up": np.floor(at + 0.5), "nearest, halves to even": np.round(at), "down": np.floor(at)}
    return {name: int((rule == there).sum()) for name, rule in rules.items()} | {"coordinates": len(steps)}


def main(path: str) -> None:
    """Compare, and write the record."""
    import cupy

    device = softlab.Device.present()
    if device is None:
        raise SystemExit("no GPU: this script compares the emulator with one")
    version = cupy.cuda.runtime.driverGetVersion()
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": f"python -m tests.hardware.textures {path}",
        "device": device.name,
        "versions": {"python": platform.python_version(), "cupy": cupy.__version__, "driver_cuda": version},
        "weights": weights(cupy),
        "modes": compared(cupy),
    }
    Path(path).write_text(json.dumps(record, indent=1) + "\n")
    for mode in record["modes"]:
        print(*mode.values())
    print(record["weights"])


if __name__ == "__main__":
    main(sys.argv[1])
