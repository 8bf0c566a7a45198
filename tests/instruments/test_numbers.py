"""Results that are no numbers, too large, or lose an addend, against the same rules for one lane at a time."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.numbers import ABSORBED, NOT_A_NUMBER, OVERFLOW, _finding, _troubles, number_findings
from softlab.kernel import Kernel

VALUES = [0.0, 1.0, -1.0, 2048.0, 60000.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "div", "ex2", "sqrt", "rcp", "rsqrt", "lg2"])
def test_troubles_are_those_of_each_lane(opcode: str, dtype: type) -> None:
    pairs = list(itertools.product(VALUES, VALUES))
    for start in range(0, len(pairs), 32):
        one, other = (np.array(part, dtype) for part in zip(*pairs[start : start + 32], strict=True))
        with np.errstate(all="ignore"):
            alone = {"rcp": 1 / one, "rsqrt": 1 / np.sqrt(one), "lg2": np.log2(one)}  # infinity for 0 alone
            single = {"ex2": np.exp2(one), "sqrt": np.sqrt(one), **alone}
            double = {"add": one + other, "sub": one - other, "mul": one * other, "div": one / other}
            result = (single | double)[opcode].astype(dtype)
        operands = [one] if opcode in single else [one, other]
        found = dict(_troubles(Instruction(opcode, ("f32",), ()), operands, result))
        for lane, (values, value) in enumerate(zip(zip(*operands, strict=True), result, strict=True)):
            finite = all(math.isfinite(v) for v in values)
            assert found[NOT_A_NUMBER][lane] == (math.isnan(value) and not any(math.isnan(v) for v in values))
            if opcode in alone:
                assert OVERFLOW not in found
            else:
                over_zero = opcode == "div" and values[1] == 0
                assert found[OVERFLOW][lane] == (finite and math.isinf(value) and not over_zero)
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


@pytest.mark.parametrize("lanes", [1 << 31, 0xF000_0000, 0x0000_0FF0])
def test_lanes_that_do_not_run_make_no_trouble(lanes: int) -> None:
    """In one step x becomes 2, in the next one the lanes that run double it; all others hold infinity then."""
    text = "mov.f32 %f1, 0f40000000; mul.f32 %f2, %f1, %f1;"
    body = parse(f".version 8.8\n.target sm_90\n.visible .entry k() {{ .reg .f32 %f<3>; {text} ret; }}").functions["k"]
    runs = lanes >> np.arange(32) & 1
    two, doubled = np.full(32, 2, np.float32), np.where(runs, 4, np.inf).astype(np.float32)
    writes = np.zeros(2, [("step", "i4"), ("register", "i4"), ("lanes", "u4"), ("values", "u8", 32)])
    writes["step"], writes["register"], writes["lanes"] = [0, 1], [0, 1], [2**32 - 1, lanes]
    writes["values"] = np.stack([two, doubled]).view(np.uint32)
    record: Any = SimpleNamespace(
        steps={"instruction": np.array([0, 1])},
        writes=writes,
        image=SimpleNamespace(instructions=body.instructions),
        registers=("%f1", "%f2"),
        line=lambda step: 3 + step,
        program=SimpleNamespace(file="k.cu"),
        warp=2,
    )
    assert number_findings(record) == ()
    writes["values"][1] = np.full(32, np.inf, np.float32).view(np.uint32)
    (finding,) = number_findings(record)
    assert (finding.kind, finding.line, finding.thread) == (OVERFLOW, 4, (64 + int(runs.argmax()), 0, 0))


@pytest.mark.parametrize(
    ("kind", "opcode", "words"),
    [
        *((OVERFLOW, opcode, "finite numbers give infinity: the result is too large for its type")
          for opcode in ("add", "sqrt", "lg2")),
        *((NOT_A_NUMBER, opcode, "numbers give NaN, such as infinity less infinity, or infinity by infinity")
          for opcode in ("add", "div", "rcp")),
        (NOT_A_NUMBER, "lg2", "the logarithm of a number below 0 is NaN"),
        (NOT_A_NUMBER, "sqrt", "the square root of a number below 0 is NaN"),
        (NOT_A_NUMBER, "rsqrt", "the square root of a number below 0 is NaN"),
        (ABSORBED, "add", "a number that is not 0 is added and the sum stays as it was: the type has too few bits"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("other", "warp"), [(None, 0), (0, 1), (7, 3)])
def test_what_a_finding_says(kind: str, opcode: str, words: str, other: int | None, warp: int) -> None:
    record: Any = SimpleNamespace(warp=warp, program=SimpleNamespace(file="cell.cu"))
    found = _finding(record, kind, 9, other, 5, opcode)
    assert (found.kind, found.severity, found.message) == (kind, "error", f"{kind}: {words}")
    assert (found.line, found.file, found.thread) == (9, "cell.cu", (32 * warp + 5, 0, 0))
    assert (found.other_line, found.other_file) == ((other, "cell.cu") if other else (None, None))
