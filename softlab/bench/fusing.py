"""What fusing saves: the same masked softmax as one kernel, and as the kernels that it would take apart.

The separate kernels are as fast as such kernels can be: each reads its input once and writes its result once, in packs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softlab import fused, operators
from softlab.cuda.structs import Struct
from softlab.dtypes import element_type
from softlab.kernel import Kernel
from softlab.operators.functors import BroadcastLayout, Causal, Dropout, Fusion
from softlab.operators.rows import PlanKey
from softlab.plans import Plan, plan

#: What can be fused, in the order in which it is applied; the softmax comes before dropout.
PARTS = ("scale", "bias", "mask", "causal", "dropout")
SCALE, DROPOUT, SEED = 0.125, 0.1, 2026
#: Elements that a thread of a separate kernel moves at once.
PACK = 4
BLOCK = 256
SOURCE = """
#include "arithmetic.cuh"
#include "dropout.cuh"
#include "pack.cuh"

template<typename T, typename Change>
__device__ void elementwise(const T* x, T* y, long long n, Change change) {
  const long long first = 4 * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first >= n) { return; }
  Pack<T, 4> pack;
  pack.word = reinterpret_cast<const Pack<T, 4>*>(x)[first / 4].word;
  float values[4];
  for (int i = 0; i < 4; ++i) { values[i] = static_cast<float>(pack.elem[i]); }
  change(values, first);
  for (int i = 0; i < 4; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
  reinterpret_cast<Pack<T, 4>*>(y)[first / 4].word = pack.word;
}

template<typename T>
__global__ void scale(const T* x, T* y, long long n, float factor) {
  elementwise(x, y, n, [=](float* values, long long) {
    for (int i = 0; i < 4; ++i) { values[i] *= factor; }
  });
}

// The bias and the mask are one matrix for all: `period` elements.
template<typename T>
__global__ void bias(const T* x, T* y, long long n, const T* added, long long period) {
  elementwise(x, y, n, [=](float* values, long long first) {
    Pack<T, 4> pack;
    pack.word = reinterpret_cast<const Pack<T, 4>*>(added)[first % period / 4].word;
    for (int i = 0; i < 4; ++i) { values[i] += static_cast<float>(pack.elem[i]); }
  });
}

template<typename T>
__global__ void mask(const T* x, T* y, long long n, const unsigned char* kept, long long period) {
  elementwise(x, y, n, [=](float* values, long long first) {
    Pack<unsigned char, 4> pack;
    pack.word = reinterpret_cast<const Pack<unsigned char, 4>*>(kept)[first % period / 4].word;
    for (int i = 0; i < 4; ++i) { values[i] = pack.elem[i] ? values[i] : minus_infinity<float>(); }
  });
}

template<typename T>
__global__ void causal(const T* x, T* y, long long n, long long rows, long long cols) {
  elementwise(x, y, n, [=](float* values, long long first) {
    const long long row = first / cols % rows, col = first % cols;
    for (int i = 0; i < 4; ++i) { values[i] = col + i <= row ? values[i] : minus_infinity<float>(); }
  });
}

template<typename T>
__global__ void dropout(const T* x, T* y, long long n, Dropout<float> which) {
  elementwise(x, y, n, [=](float* values, long long first) { which.apply<4>(values, 0, first); });
}
"""


@dataclass(frozen=True)
class SeparateKernel:
    """One separate kernel: ``further`` are its arguments after (x, y, n). The softmax itself has none and a plan."""

    part: str
    further: tuple[Any, ...] = ()
    plan: Plan | None = None


@dataclass(frozen=True)
class FusionCase:
    """Softmax of (matrices, rows, cols), and what is fused to it. Bias and mask are (rows, cols): the same for all.

    ``parts``: of :data:`PARTS`. ``device``: as for :func:`softlab.plan`.

    Raises:
        ValueError: an unknown part; cols no multiple of 4; double, which the separate kernels are not written for.
    """

    matrices: int
    rows: int
    cols: int
    dtype: str = "float32"
    parts: tuple[str, ...] = ("scale", "mask")
    device: Any = "H200"

    def __post_init__(self) -> None:
        if unknown := set(self.parts) - set(PARTS):
            raise ValueError(f"parts {sorted(unknown)} are not among {', '.join(PARTS)}")
        if self.cols % PACK or self.dtype == "float64":
            raise ValueError(f"cols = {self.cols} must be a multiple of {PACK}, dtype {self.dtype} not float64")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of x."""
        return self.matrices, self.rows, self.cols

    @property
    def size(self) -> int:
        """Elements of x."""
        return self.matrices * self.rows * self.cols

    @property
    def element(self) -> Any:
        """The record of its element type."""
        return element_type(self.dtype)

    def x(self) -> np.ndarray:
        """Scores as attention has them."""
        return self._random(0, self.shape)

    def _random(self, seed: int, shape: Sequence[int]) -> np.ndarray:
        return (np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * 4).astype(self.element.numpy)

    @cached_property
    def operands(self) -> dict[str, Any]:
        """The arrays of the parts that have one."""
        given: dict[str, Any] = {}
        if "bias" in self.parts:
            given["bias"] = self._random(1, self.shape[1:])
        if "mask" in self.parts:
            given["mask"] = np.random.default_rng(2).random(self.shape[1:]) < 0.75
            given["mask"][:, 0] = True  # no row without an element
        return given

    @property
    def fusing(self) -> dict[str, Any]:
        """What :func:`softlab.fused.softmax` takes, but the operands."""
        return {
            **({"scale": SCALE} if "scale" in self.parts else {}),
            **({"causal": True} if "causal" in self.parts else {}),
            **({"dropout": DROPOUT, "seed": SEED} if "dropout" in self.parts else {}),
        }

    @property
    def fusion(self) -> Fusion:
        """The same for a launch."""
        layouts: dict[str, Any] = {name: BroadcastLayout.of(a.shape, self.shape) for name, a in self.operands.items()}
        return Fusion(
            scale=SCALE if "scale" in self.parts else None,
            causal=Causal(self.rows, 0) if "causal" in self.parts else None,
            dropout=Dropout(DROPOUT, SEED) if "dropout" in self.parts else None,
            **layouts,
        )

    def fused_plan(self) -> Plan:
        """The plan of the one kernel."""
        device = self.plain_plan().device
        rows = PlanKey(self.matrices * self.rows, self.cols, self.dtype, "softmax", "oneflow", device)
        return fused.plan(rows, fusion=self.fusion)

    def plain_plan(self) -> Plan:
        """The plan of softmax alone."""
        return plan(self.matrices * self.rows, self.cols, self.dtype, device=self.device)

    def steps(self, operands: Mapping[str, Any]) -> tuple[SeparateKernel, ...]:
        """The kernels one after the other."""
        period = np.int64(self.rows * self.cols)
        further = {
            "scale": lambda: (np.float32(SCALE),),
            "bias": lambda: (operands["bias"], period),
            "mask": lambda: (operands["mask"], period),
            "causal": lambda: (np.int64(self.rows), np.int64(self.cols)),
            "dropout": lambda: (Dropout(DROPOUT, SEED).struct(self.element, self.size),),
        }
        made = [SeparateKernel(part, further[part]()) for part in PARTS if part in self.parts]
        at = sum(step.part != "dropout" for step in made)
        return (*made[:at], SeparateKernel("softmax", plan=self.plain_plan()), *made[at:])

    def grid(self) -> int:
        """Blocks of a separate kernel."""
        return -(-self.size // (PACK * BLOCK))

    def least_bytes(self) -> tuple[int, int]:
        """(fused, separate): bytes that must be read and written. A matrix that all share counts once per kernel.

        What the causal mask spares the fused kernel is not counted: see the counters.
        """
        itemsize, whole = self.element.itemsize, self.size * self.element.itemsize
        period = self.rows * self.cols
        shared = period * (itemsize * ("bias" in self.parts) + ("mask" in self.parts))
        one = 2 * whole + shared + whole * ("dropout" in self.parts)
        return one, 2 * whole * (len(self.parts) + 1) + shared


def counters(problem: FusionCase) -> tuple[Mapping[str, int], dict[str, Mapping[str, int]]]:
    """Counters of the fused kernel, and of each separate one by its name, from runs in the emulator.

    Raises:
        AssertionError: the two results differ by more than the rounding of what is stored in between.
    """
    x = problem.x()
    one = fused.trace(x, device=problem.device, **problem.operands, **problem.fusing)
    kernels: dict[str, Mapping[str, int]] = {}
    arch, apart = one.plan.arch, x
    operands = {name: np.ascontiguousarray(a) for name, a in problem.operands.items()}
    for step in problem.steps(operands):
        if step.plan:
            done = operators.trace(apart, device=problem.device)
            kernels[step.part], apart = done.counters, done.output
            continue
        kernel = Kernel(SOURCE, f"{step.part}<{problem.element.cuda}>", arch=arch)
        result = np.empty_like(apart)
        run = kernel.run(problem.grid(), BLOCK, (apart, result, np.int64(problem.size), *step.further))
        kernels[step.part], apart = run.counters, result
    tolerance = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 2e-1}[problem.dtype]
    fused_wide, apart_wide = one.output.astype(np.float64), apart.astype(np.float64)
    if not np.allclose(fused_wide, apart_wide, rtol=tolerance, atol=1e-6):
        raise AssertionError(f"{problem}: fused and separate differ by {np.abs(fused_wide - apart_wide).max()}")
    return one.counters, kernels


def arguments(problem: FusionCase, x: Any, y: Any, dropped: Any, operands: Mapping[str, Any]) -> tuple[Any, ...]:
    """The fused kernel's arguments, on either executor."""
    fusion, element = problem.fusion, problem.element
    load: Struct = fusion.load(element, problem.cols, x, **operands).struct
    store: Struct = fusion.store(element, problem.cols, y, dropped).struct
    return load, store, np.int64(problem.matrices * problem.rows), np.int64(problem.cols)
