"""Results that are no numbers, too large, or lose an addend, against the same rules for one lane at a time."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.numbers import ABSORBED, NOT_A_NUMBER, OVERFLOW, _troubles, number_findings
from softlab.kernel import Kernel

VALUES = [0.0, 1.0, -1.0, 2048.0, 60000.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("opcode", ["add", "mul", "rcp", "rsqrt", "lg2"])
def test_troubles_are_those_of_each_lane(opcode: str, dtype: type) -> None:
    pairs = list(itertools.product(VALUES, VALUES))
    for start in range(0, len(pairs), 32):
        one, other = (np.array(part, dtype) for part in zip(*pairs[start : start + 32], strict=True))
        with np.errstate(all="ignore"):
            alone = {"rcp": 1 / one, "rsqrt": 1 / np.sqrt(one), "lg2": np.log2(one)}  # infinity for 0 alone
            result = {"add": one + other, "mul": one * other, **alone}[opcode].astype(dtype)
        operands = [one] if opcode in alone else [one, other]
        found = dict(_troubles(Instruction(opcode, ("f32",), ()), operands, result))
        for lane, (values, value) in enumerate(zip(zip(*operands, strict=True), result, strict=True)):
            finite = all(math.isfinite(v) for v in values)
            assert found[NOT_A_NUMBER][lane] == (math.isnan(value) and not any(math.isnan(v) for v in values))
            if opcode in alone:
                assert OVERFLOW not in found
            else:
                assert found[OVERFLOW][lane] == (finite and math.isinf(value))
            if opcode == "add" and dtype == np.float16:
                lost = any(value == kept and added != 0 for kept, added in (values, values[::-1]))
                assert found[ABSORBED][lane] == (finite and lost)
            else:
                assert ABSORBED not in found


def test_a_finding_names_the_first_lane_that_runs() -> None:
    source = """
extern "C" __global__ void k(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x >= 8) {
    v = v * 3e38f;
    x[threadIdx.x] = v;
  }
}"""
    x = np.where(np.arange(32) == 20, 0.5, 2).astype(np.float32)
    (finding,) = number_findings(Kernel(source, "k").steps(1, 32, (x,)))
    assert (finding.kind, finding.line, finding.thread) == (OVERFLOW, 5, (8, 0, 0))
