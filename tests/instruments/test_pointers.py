"""Which accesses need no watching for races: those to arrays that no instruction may write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab import Kernel
from softlab.instruments.pointers import PointerAnalysis, PointerFlow

_SIGNATURE = 'extern "C" __global__ void k(const float* a, const float* b, float* y, const float* const* table) {\n'
_BEFORE = "  __device__ float kept[32]; __device__ const float* chosen;\n"
#: What each analysis found, and the instructions that it looked at.
Analyses = list[tuple[PointerAnalysis, tuple[Any, ...]]]


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> Analyses:
    """All analyses of the test."""
    found: Analyses = []
    analyse = PointerFlow.analyse

    def kept(flow: PointerFlow, *given: object) -> PointerAnalysis:
        found.append((analyse(flow, *given), tuple(flow._image.instructions)))  # type: ignore[arg-type]
        return found[-1][0]

    monkeypatch.setattr(PointerFlow, "analyse", kept)
    return found


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
def test_loads_of_what_nobody_writes_are_quiet(body: str, quiet: set[str], analyses: Analyses) -> None:
    """The names stand for the loads: one load per name, and no store is quiet."""
    a, b, y = (np.ones(128, np.float32) for _ in range(3))
    kernel = Kernel(_BEFORE + _SIGNATURE + "  " + body + "\n}", "k")
    kernel.run(1, 32, (a, b, y, np.zeros(4, np.uint64)), check="collect")
    ((analysis, instructions),) = analyses
    assert len(analysis.quiet) == len(quiet)
    assert {instructions[index].opcode for index in analysis.quiet} == {"ld"}


@pytest.mark.parametrize(("first", "second", "read", "quiet"), [
    ("ay", "zb", "a", False), ("ay", "zb", "b", False), ("ay", "zb", "y", False), ("ay", "zb", "z", False),
    ("ab", "yz", "b", True), ("yz", "ab", "a", True), ("yz", "ab", "y", False), ("yz", "ab", "z", False),
])  # fmt: skip
def test_pointers_that_come_in_pairs(first: str, second: str, read: str, quiet: bool, analyses: Analyses) -> None:
    """The kernel loads two pointers of its parameters by one instruction, and writes to the arrays y and z.

    Each register of a pair may have either pointer.
    """
    names = first + second
    ptx = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k({", ".join(f".param .u64 {name}" for name in names)}, .param .u64 out) {{
  .reg .b64 %d<9>, {", ".join(f"%{name}" for name in names)}; .reg .f32 %f<3>; .reg .b32 %r<3>;
  ld.param.v2.u64 {{%{first[0]}, %{first[1]}}}, [{first[0]}];
  ld.param.v2.u64 {{%{second[0]}, %{second[1]}}}, [{second[0]}];
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %y, %d2; st.global.u32 [%d3], %r1;
  add.u64 %d4, %z, %d2; st.global.u32 [%d4], %r1;
  add.u64 %d5, %{read}, %d2; ld.global.f32 %f1, [%d5];
  add.u64 %d6, %d1, %d2; st.global.f32 [%d6], %f1;
  ret;
}}
"""
    arrays = [np.ones(32, np.float32) for _ in range(5)]
    Kernel.from_ptx(ptx, "k").run(1, 32, arrays, check="collect")
    ((analysis, instructions),) = analyses
    (load,) = (index for index, one in enumerate(instructions) if one.text.startswith("ld.global"))
    assert set(analysis.quiet) == ({load} if quiet else set())


@pytest.mark.parametrize("written", [False, True])
def test_a_copy_from_an_array_that_nobody_writes_is_quiet(written: bool, analyses: Analyses) -> None:
    """Of the two addresses of a copy to shared memory the second one is in global memory."""
    ptx = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .b32 %r<3>; .reg .b64 %d<6>; .shared .align 16 .b8 s[512];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d4, %d1, %d3;
  shl.b32 %r2, %r1, 2;
  cp.async.ca.shared.global [%r2], [%d4], 4;
  cp.async.wait_all;
  add.u64 %d5, {"%d1" if written else "%d2"}, %d3;
  st.global.u32 [%d5], %r1;
  ret;
}}
"""
    Kernel.from_ptx(ptx, "k").run(1, 32, (np.ones(32, np.uint32), np.zeros(32, np.uint32)), check="collect")
    ((analysis, instructions),) = analyses
    opcodes = [instruction.opcode for instruction in instructions]
    assert (opcodes.index("cp") in analysis.quiet) == (not written)
    assert opcodes.index("st") not in analysis.quiet
