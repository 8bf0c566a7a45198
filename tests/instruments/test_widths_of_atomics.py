"""Atomics of different widths on the same bytes do not synchronise."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.kernel import Kernel

_SOURCE = """extern "C" __global__ void k(unsigned long long* sums, int n) {
  for (int turn = 0; turn < 3; ++turn) {
    if (blockIdx.x == 0) atomicAdd(reinterpret_cast<FIRST*>(sums), static_cast<FIRST>(1));
    else atomicAdd(reinterpret_cast<SECOND*>(sums) + n, static_cast<SECOND>(1));
  }
}"""


@pytest.mark.parametrize("compiled", ["none", "all"] if available() else ["none"])
@pytest.mark.parametrize(
    ("first", "second", "place", "races"),
    [
        ("unsigned", "unsigned", 0, False),
        ("unsigned", "unsigned long long", 0, True),
        ("unsigned long long", "unsigned", 1, True),
        ("unsigned long long", "unsigned", 2, False),
        ("unsigned long long", "unsigned long long", 0, False),
    ],
)
def test_atomics_of_two_widths(first: str, second: str, place: int, races: bool, compiled: str) -> None:
    kernel = Kernel(_SOURCE.replace("FIRST", first).replace("SECOND", second), "k")
    run = kernel.run(2, 40, (np.zeros(2, np.uint64), place), check="collect", compiled=compiled, record=False)
    assert {(finding.kind, finding.line, finding.other_line) for finding in run.findings} <= {
        ("race", 3, 4),
        ("race", 4, 3),
    }
    assert bool(run.findings) == races
    assert all("different widths" in finding.message for finding in run.findings)


@pytest.mark.parametrize(("second", "races"), [("__half", False), ("unsigned", True)])
def test_an_atomic_on_a_pair_is_one_on_each_number(second: str, races: bool) -> None:
    """PTX ISA, "Packed Data Types"."""
    source = """#include <cuda_fp16.h>
extern "C" __global__ void k(__half2* sums, __half* one) {
  atomicAdd(one, __half(1));
  if (blockIdx.x == 0) atomicAdd(sums, __half2(1, 1));
  else atomicAdd(reinterpret_cast<SECOND*>(sums), SECOND(1));
}""".replace("SECOND", second)
    arguments = np.zeros(2, np.float16), np.zeros(1, np.float16)
    run = Kernel(source, "k").run(2, 40, arguments, check="collect", record=False)
    assert [finding.kind for finding in run.findings] == ["race"] * races


_EXCHANGE = """{ .reg .b128 old, both; mov.b128 both, {%0, %0}; atom.global.exch.b128 old, [%1], both; }"""


@pytest.mark.parametrize("compiled", ["none", "all"] if available() else ["none"])
@pytest.mark.parametrize(
    ("second", "races"),
    [
        ("atomicAdd(words + 1, 1ull)", True),
        ("atomicAdd(words + 2, 1ull)", False),
        ("atomicAdd(reinterpret_cast<unsigned*>(words) + 3, 1u)", True),
        (f'asm volatile("{_EXCHANGE}" :: "l"(1ull), "l"(words) : "memory")', False),
    ],
)
def test_atomics_of_16_bytes_where_others_access_single_bytes(second: str, races: bool, compiled: str) -> None:
    """Any two widths differ, also where both are wider than the narrowest access of the kernel."""
    source = f"""extern "C" __global__ void k(unsigned long long* words, unsigned char* bytes) {{
  bytes[blockIdx.x] = 1;
  if (blockIdx.x == 0) asm volatile("{_EXCHANGE}" :: "l"(1ull), "l"(words) : "memory");
  else {second};
}}"""
    arguments = np.zeros(4, np.uint64), np.zeros(2, np.uint8)
    run = Kernel(source, "k").run(2, 1, arguments, check="collect", compiled=compiled, record=False)
    assert [(f.kind, {f.line, f.other_line}) for f in run.findings] == [("race", {3, 4})] * races
    assert all("different widths" in finding.message for finding in run.findings)
