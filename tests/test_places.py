"""Faults and unknown instructions in headers: the user's line first, then the header's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.errors import KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.magics.command import read_command
from softlab.magics.execution import execute

HEADER = """#pragma once

template <class T>
__device__ T load(const T* x, int i) {
  return x[i];
}
__device__ inline int unknown() {
  int value;
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(value) : "l"(0ll));
  return value;
}
__device__ __noinline__ int unknown_call(int n) {
  return n + unknown();
}
template <class T>
__global__ void whole(T* x) {
  x[threadIdx.x + 1] = 0;
}
template <class T>
__global__ void whole_unknown(T* x) {
  x[threadIdx.x] = unknown();
}
"""
FAULTY = (
    '#include "tile.cuh"\nextern "C" __global__ void k(const float* x, float* y) {\n  y[0] =\n    load(x, 64);\n}\n'
)


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "tile.cuh").write_text(HEADER)
    return (f"-I{tmp_path}",)


def test_a_fault_in_a_header(options: tuple[str, ...]) -> None:
    kernel = Kernel(FAULTY, "k", options=options, file="mine.cu")
    args = (np.zeros(4, np.float32), np.zeros(1, np.float32))
    with pytest.raises(KernelFault, match=r"at line 4 of mine.cu, in line 5 of \S*tile.cuh") as caught:
        kernel.run(1, 1, args)
    assert (caught.value.line, caught.value.file) == (4, "mine.cu")
    assert caught.value.header.endswith("tile.cuh")
    assert caught.value.header.startswith("line 5 of ")
    (found,) = kernel.run(1, 1, args, check="collect").findings
    assert (found.line, found.file, found.header) == (4, "mine.cu", caught.value.header)


def test_a_race_in_a_header_names_both_places(options: tuple[str, ...]) -> None:
    source = '#include "tile.cuh"\nextern "C" __global__ void k(int* x) {\n  x[threadIdx.x] = 1;\n' \
        "  x[threadIdx.x + 64] =\n    load(x, threadIdx.x ^ 40);\n}\n"  # fmt: skip
    run = Kernel(source, "k", options=options).run(1, 64, (np.zeros(128, np.int32),), check="collect")
    (found,) = [f for f in run.findings if f.kind == "race"]
    assert (found.line, found.other_line) == (5, 3)
    assert (found.file, found.other_file) == ("kernel.cu", "kernel.cu")
    assert found.header is not None
    assert found.other_header is None


@pytest.mark.parametrize(("call", "header_line"), [("unknown()", 9), ("unknown_call(x[0])", 9)])
def test_an_unknown_instruction_in_a_header(options: tuple[str, ...], call: str, header_line: int) -> None:
    source = f'#include "tile.cuh"\n\nextern "C" __global__ void k(int* x) {{\n  x[0] = {call};\n}}\n'
    kernel = Kernel(source, "k", options=options, file="mine.cu")
    with pytest.raises(UnsupportedInstruction, match=rf"line 4 of mine.cu, in line {header_line} of \S*tile") as caught:
        kernel.run(1, 1, (np.zeros(1, np.int32),))
    error = caught.value
    assert (error.line, error.file) == (4, "mine.cu")
    assert error.header is not None
    assert error.header.startswith(f"line {header_line} of ")
    assert "txq" in error.instruction


def test_a_kernel_that_is_itself_in_a_header(options: tuple[str, ...]) -> None:
    """No line of the user's file is to blame: the header's line is not said to be one of the user's file."""
    source = '#include "tile.cuh"\n'
    with pytest.raises(KernelFault, match=r"at line 17 of \S*tile.cuh, thread") as caught:
        Kernel(source, "whole<int>", options=options).run(1, 4, (np.zeros(4, np.int32),))
    assert caught.value.line == 17
    assert caught.value.file.endswith("tile.cuh")
    assert caught.value.header is None
    with pytest.raises(UnsupportedInstruction, match=r"\(line 9 of \S*tile.cuh\)") as refused:
        Kernel(source, "whole_unknown<int>", options=options).run(1, 4, (np.zeros(4, np.int32),))
    assert refused.value.file.endswith("tile.cuh")


def test_the_card_puts_the_fault_at_the_users_line(options: tuple[str, ...]) -> None:
    names = {"x": np.zeros(4, np.float32), "y": np.zeros(1, np.float32)}
    report, *_ = execute(read_command(f"--args x,y --block 1 --option {options[0]}", FAULTY, names))
    ((line, text),) = report.notes
    assert line == 4
    assert "line 5 of" in text
    assert "tile.cuh" in text


def test_the_card_does_not_put_a_header_line_into_the_users_source(options: tuple[str, ...]) -> None:
    source = '#include "tile.cuh"\n' + "\n" * 30
    names = {"x": np.zeros(4, np.int32)}
    report, *_ = execute(read_command(f"--args x --block 4 --name whole<int> --option {options[0]}", source, names))
    assert report.notes == ()
    assert "line 17 of" in report.message
    assert "line 17 of" in repr(report)
