"""Which accesses need no watching for races: those to arrays that no instruction may write."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import Kernel
from softlab.instruments.pointers import PointerAnalysis, PointerFlow

_SIGNATURE = 'extern "C" __global__ void k(const float* a, const float* b, float* y, const float* const* table) {\n'
_BEFORE = "  __device__ float kept[32]; __device__ const float* chosen;\n"


@pytest.mark.parametrize(
    ("body", "quiet"),
    [
        ("y[threadIdx.x] = a[threadIdx.x];", {"a"}),
        ("y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];", {"a", "b"}),
        ("y[threadIdx.x] = a[threadIdx.x] + y[threadIdx.x + 32];", {"a"}),
        ("const float* p = a[0] > 0 ? a : b; y[threadIdx.x] = p[threadIdx.x + 1];", {"a", "a or b"}),
        ("const float* p = a[0] > 0 ? b : y; y[threadIdx.x] = p[threadIdx.x + 1];", {"a"}),
        ("y[threadIdx.x] = a[threadIdx.x] + kept[threadIdx.x];", {"a", "kept"}),
        ("kept[threadIdx.x] = a[threadIdx.x]; y[threadIdx.x] = kept[threadIdx.x ^ 1];", {"a"}),
        ("y[threadIdx.x] = table[0][threadIdx.x];", {"table"}),
        ("y[threadIdx.x] = chosen ? chosen[threadIdx.x] : a[threadIdx.x];", {"chosen"}),
        ("atomicAdd(y, a[threadIdx.x]);", {"a"}),
        ("atomicAdd(const_cast<float*>(b), a[threadIdx.x]); y[0] = b[threadIdx.x];", {"a"}),
    ],
)
def test_loads_of_what_nobody_writes_are_quiet(body: str, quiet: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The names stand for the loads: one load per name, and no store is quiet."""
    found: list[PointerAnalysis] = []
    opcodes: list[str] = []
    analyse = PointerFlow.analyse

    def kept(flow: PointerFlow, *given: object) -> PointerAnalysis:
        found.append(analyse(flow, *given))  # type: ignore[arg-type]
        opcodes[:] = [instruction.opcode for instruction in flow._image.instructions]
        return found[-1]

    monkeypatch.setattr(PointerFlow, "analyse", kept)
    a, b, y = (np.ones(128, np.float32) for _ in range(3))
    kernel = Kernel(_BEFORE + _SIGNATURE + "  " + body + "\n}", "k")
    kernel.run(1, 32, (a, b, y, np.zeros(4, np.uint64)), check="collect")
    (analysis,) = found
    assert len(analysis.quiet) == len(quiet)
    assert {opcodes[index] for index in analysis.quiet} == {"ld"}
