"""Random kernels of CUDA C++: always the same, the same both ways, and as an H100 had them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz import differential, kernels
from tests.fuzz.kernels import RandomKernel


def _kernel(*results: str, ulps: int = 0) -> RandomKernel:
    return RandomKernel("k", "sweep", (), 1, 2, results, tuple(ulps for _ in results), "")


def _sorts(kind: str, got: int, expected: int, approximate: bool = False, ulps: int = 0) -> list[str]:
    sides = [np.array([5, word, *[0] * differential.CELLS], np.uint64) for word in (got, expected)]
    return [sort for sort, _ in differential.differences(_kernel(kind, ulps=ulps), *sides, approximate)]


@pytest.mark.parametrize(
    ("kind", "got", "expected", "sorts"),
    [
        ("f32", 0x7FFFFFFF, 0xFFC00001, ["NaN"]), ("f32", 0x7FFFFFFF, 0x7F800000, ["value"]),
        ("f32", 0, 0x80000000, ["value"]), ("b64", 7, 7, []), ("b64", 7, 8, ["value"]),
        ("f64", 0x3FF << 52, (0x3FF << 52) + 1, ["value"]), ("f64", 1, 2**63, ["value"]),
        ("f64", 0x7FF8 << 48, 0xFFFF << 48, ["NaN"]), ("bf16", 0x7FFF, 0x7F81, ["NaN"]),
        ("f16", 0x7E00, 0x7C00, ["value"]), ("f16x2", 0x7E003C00, 0x7FFF3C00, ["NaN"]),
        ("f16x2", 0x7E003C00, 0x7FFF3C01, ["value"]), ("bf16x2", 0x3F807F80, 0x3F807F81, ["value"]),
    ],
)  # fmt: skip
def test_sorts_of_differences(kind: str, got: int, expected: int, sorts: list[str]) -> None:
    assert _sorts(kind, got, expected) == sorts


def test_an_approximation_may_be_off_on_both_sides() -> None:
    assert _sorts("f32", 0x3F800000, 0x3F800003, approximate=True, ulps=2) == ["ulps"]
    assert _sorts("f32", 0x3F800000, 0x3F800005, approximate=True, ulps=2) == ["value"]
    assert _sorts("f32", 0x3F800000, 0x3F800001, approximate=False, ulps=2) == ["value"]
    assert _sorts("f64", 0x7FF << 52, 0x7FE << 52, approximate=True, ulps=1 << 20) == ["value"]


def test_differing_cells_are_seen() -> None:
    sides = [np.array([1, 2, cell, *[0] * (differential.CELLS - 1)], np.uint64) for cell in (3, 4)]
    found = list(differential.differences(_kernel("b64"), *sides, False))
    assert [sort for sort, _ in found] == ["value"]
    assert "(cells, 1 lanes), lane 0: 0x3 in the emulator, 0x4 on the GPU" in found[0][1]


@pytest.mark.parametrize("number", range(len(kernels.FAMILIES)))
def test_a_module_of_each_family(number: int) -> None:
    group = kernels.group(number)
    assert kernels.source(group) == kernels.source(kernels.group(number)), "a number has one source"
    module = differential.compiled(group)
    kernel = min(group, key=lambda kernel: len(kernel.text))
    assert differential.same_both_ways(kernel, module), kernel.name


def test_a_sweep_has_every_expression() -> None:
    step = kernels.TOGETHER * len(kernels.FAMILIES) * len(kernels.OPTIONS)
    firsts = range(0, step * (len(kernels.SWEEP) // (kernels.TOGETHER * kernels.SWEPT) + 1), step)
    numbers = [first + index for first in firsts for index in range(kernels.TOGETHER)]
    assert {row for number in numbers for row in kernels.swept(number)} == set(kernels.SWEEP)
    assert len(kernels.SWEEP) > 1000
