"""Executed machine instructions of loops that the compiler unrolls, held to the interpreted machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from softlab.sass import interpret
from tests.sampled import each

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

_COPY = (
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(s + (t & 31))), '
    '"l"(x + ((i + t) & 63)) : "memory");'
)
#: Kernel -> its loop. The comments say what the counts once followed wrongly.
LOOPS = {
    "copies": f"for (int i = 0; i < n; ++i) {{ {_COPY} }}",  # the idle loads before a copy
    "copies_of_threads": f"for (int i = t; i < 200; i += 64) {{ {_COPY} }}",
    # two loads per vector
    "vectors": "for (int i = 0; i < n; ++i) { float4 q = ((const float4*)x)[(i + t) & 15]; v += q.x + q.w; }",
    "integers": "for (int i = t; i < 200; i += 64) u = u * 1664525u + i;",  # no access
    "lanes": "for (int i = 0; i < (t & 7) + n; ++i) v = v * 1.5f + i;",  # BREAK of another barrier
    "while": 'int i = 0; _Pragma("unroll 2") while (i < n * (1 + (t == 3))) { u = u * 1664525u + i; ++i; }',
}
SOURCE = "".join(
    f"""
extern "C" __global__ void {name}_loop(const float* x, float* y, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x; float v = t; unsigned u = t;
  s[t] = 0.f; __syncthreads();
  {loop}
  y[t] = v + (float)u + s[t];
}}"""
    for name, loop in LOOPS.items()
)


def _arguments(count: int) -> tuple[Any, ...]:
    return np.ones(64, np.float32), np.zeros(64, np.float32), np.int32(count)


@pytest.mark.parametrize("name", each(2, LOOPS))
def test_instructions_are_those_of_the_interpreted_machine_code(name):
    kernel = softlab.Kernel(SOURCE, f"{name}_loop")
    for count in (0, 3, 22):
        run = kernel.run(1, 64, _arguments(count), check=False)
        assert run.counters["instructions"] == interpret(kernel, 1, 64, _arguments(count)).instructions, count
        assert not run.estimated_instructions
        assert run.remarks == ()


def test_a_run_says_which_instructions_it_counts_without_rare_operands():
    source = 'extern "C" __global__ void k(float* x, float by) {\n  x[threadIdx.x] = x[threadIdx.x] / by;\n}'
    kernel = softlab.Kernel(source, "k")
    run = kernel.run(1, 64, (np.ones(64, np.float32), np.float32(3)))
    assert (
        run.counters["instructions"] == interpret(kernel, 1, 64, (np.ones(64, np.float32), np.float32(3))).instructions
    )
    (remark,) = run.remarks
    assert remark.startswith("line 2: 2 executions of div.rn.f32 by warps are counted in `instructions` without")
    assert remark in str(run)
    zeros = (np.zeros(64, np.float32), np.float32(3))
    assert run.counters["instructions"] < interpret(kernel, 1, 64, zeros).instructions, "that is what the remark is for"
