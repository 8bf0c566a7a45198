"""Explorer of softmax's numbers: what becomes of the exponentials when a row moves up or down."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Bool, Dict, Enum, Int, validate

from softlab.dtypes import element_type
from softlab.errors import Error
from softlab.explorers.explorer import Explorer, buttons, named, side_by_side, slider, steady
from softlab.kernel import Kernel
from softlab.plans.instantiations import WARP_SIZE
from softlab.views import tables
from softlab.views.numerics import Format, range_chart

#: Softmax of one row of 32 numbers by one warp, in the type of the elements throughout: as it should not be done.
SOURCE = """\
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float exponential(float x) { return __expf(x); }
__device__ __half exponential(__half x) { return hexp(x); }
__device__ __nv_bfloat16 exponential(__nv_bfloat16 x) { return hexp(x); }

template<typename T, bool take_maximum_away>
__global__ void softmax_of_one_row(const T* x, T* power, T* sum, T* y) {
  const T mine = x[threadIdx.x];
  T largest = mine;
  for (int mask = 16; mask > 0; mask /= 2) {
    const T other = __shfl_xor_sync(0xffffffff, largest, mask);
    if (other > largest) largest = other;
  }
  const T e = take_maximum_away ? exponential(mine - largest) : exponential(mine);
  T total = e;
  for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(0xffffffff, total, mask);
  power[threadIdx.x] = e;
  if (threadIdx.x == 0) *sum = total;
  y[threadIdx.x] = e / total;
}
"""
#: Largest, smallest normal and smallest number of each (IEEE 754; bfloat16: the upper half of a float32).
FORMATS = {
    "float16": Format("float16", 65504.0, 2.0**-14, 2.0**-24),
    "bfloat16": Format("bfloat16", (2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
    "float32": Format("float32", (2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-149),
}
MOST_SHIFT = 120


@lru_cache(maxsize=8)
def _kernel(dtype: str, subtract: bool) -> Kernel:
    name = f"softmax_of_one_row<{element_type(dtype).cuda}, {str(subtract).lower()}>"
    return Kernel(SOURCE, name, file="softmax_of_one_row.cu")


def example_row() -> np.ndarray:
    """32 numbers from -3 to 3 in eighths, so that small shifts change none of their differences. float64."""
    return np.round(np.random.default_rng(7).uniform(-3, 3, WARP_SIZE) * 8) / 8


class NumericsExplorer(Explorer):
    """A row of 32 numbers, moved up and down: its exponentials, in the range of a number format, and its shares.

    >>> explorer = NumericsExplorer(shift=100)
    >>> explorer.summary["overflows"], explorer.summary["nan"]
    (32, 32)
    >>> explorer.subtract = True
    >>> explorer.summary["overflows"], explorer.summary["nan"]
    (0, 0)

    Each change runs a small kernel that does all its arithmetic in ``dtype``, in the emulator.

    Traits: ``shift``: added to each number; ``dtype``: "float16", "bfloat16" or "float32"; ``subtract``: whether the
    row's maximum is taken away first. ``summary``: overflows, zeros (exponentials that are inf, or 0), nan (shares that
    are NaN), sum (of the exponentials), total (of the shares), error (the largest of the shares' relative errors beside
    float64, None if one is NaN).
    """

    lesson = "01"
    shift = Int(0).tag(state=True)
    dtype = Enum(tuple(FORMATS), "float32").tag(state=True)
    subtract = Bool(False).tag(state=True)
    summary = Dict()

    def __init__(self, shift: int = 0, dtype: str = "float32", *, subtract: bool = False) -> None:
        super().__init__(shift=shift, dtype=dtype, subtract=subtract)
        self.shift_slider = slider(-MOST_SHIFT, MOST_SHIFT, "shift")
        self.dtype_buttons = buttons(tuple(FORMATS), "the type of all the arithmetic")
        self.subtract_buttons = buttons([("e^x", False), ("e^(x - maximum)", True)], "what is summed")
        self.message, self.picture = widgets.HTML(), widgets.HTML()
        for trait, control in (
            ("shift", self.shift_slider),
            ("dtype", self.dtype_buttons),
            ("subtract", self.subtract_buttons),
        ):
            self.bind(trait, control)
        self.widget = widgets.VBox(
            [
                side_by_side([self.shift_slider, named("dtype", self.dtype_buttons)]),
                named("of", self.subtract_buttons),
                steady(self.message, 3),
                self.picture,
            ]
        )
        self.observe(lambda change: self._run(), ("shift", "dtype", "subtract"))
        self._run()

    @validate("shift")
    def _within(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), -MOST_SHIFT), MOST_SHIFT)

    def _run(self) -> None:
        element = element_type(self.dtype).numpy
        x = (example_row() + self.shift).astype(element)
        power, y, total = np.zeros_like(x), np.zeros_like(x), np.zeros(1, element)
        try:
            kernel = _kernel(self.dtype, self.subtract)
            kernel.run(1, WARP_SIZE, (x, power, total, y), check=False, record=False)
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        exact = np.exp(x.astype(np.float64) - x.astype(np.float64).max())
        exact /= exact.sum()
        shares, powers = y.astype(np.float64), power.astype(np.float64)
        lost = int(np.isnan(shares).sum())
        self.summary = {
            "overflows": int(np.isinf(powers).sum()),
            "zeros": int((powers == 0).sum()),
            "nan": lost,
            "sum": float(total[0]),
            "total": float(shares.sum()),
            "error": None if lost else float(np.abs(shares / exact - 1).max()),
        }
        what = "e^(x - maximum)" if self.subtract else "e^x"
        self.message.value = tables.lines(self._sentences(x.astype(np.float64), what))
        self.picture.value = range_chart(powers.tolist(), shares.tolist(), FORMATS[self.dtype], named=what)

    def _sentences(self, x: np.ndarray, what: str) -> list[str]:
        found = self.summary
        if found["nan"]:
            verdict = f"{found['nan']} of {len(x)} shares are NaN: nothing is known of them."
        else:
            verdict = f"The shares add up to {found['total']:.6g}; the worst of them is off by {found['error']:.1%}."
            if found["error"] < 0.001:
                verdict = f"The shares add up to {found['total']:.6g}; each is right to {found['error']:.1e}."
        return [
            f"The row's values are from {x.min():g} to {x.max():g}. Its {what} add up to {found['sum']:.4g}"
            f" ({found['overflows']} are infinite, {found['zeros']} are 0).",
            f"{verdict} From a run of softmax_of_one_row in the emulator, all in {self.dtype}.",
        ]
