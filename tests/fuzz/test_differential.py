"""Random kernels of CUDA C++: always the same, the same both ways, and as an H100 had them."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest

from tests.emulator.opcodes.hardware import FORMS
from tests.fuzz import differential, inline, kernels, scope, statements
from tests.fuzz.kernels import RandomKernel
from tests.fuzz.vocabulary import EXPRESSIONS
from tests.sampled import sampled


def _kernel(*results: str, ulps: int = 0) -> RandomKernel:
    return RandomKernel("k", "sweep", (), 1, (2,), results, tuple(ulps for _ in results), "")


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


@pytest.mark.parametrize(
    ("number", "alone"),
    sampled(
        itertools.product(range(len(kernels.FAMILIES)), (True, False)), lambda number, alone: alone and number % 4 == 3
    ),
)
def test_the_smallest_kernel_of_each_family(number: int, alone: bool) -> None:
    """`.ci/run` takes every fourth family, compiled alone; `make test` all, also with the other kernels of a module."""
    group = kernels.group(number)
    assert kernels.source(group) == kernels.source(kernels.group(number)), "a number has one source"
    kernel = min(group, key=lambda kernel: len(kernel.text))
    module = differential.compiled([kernel] if alone else group)
    assert differential.same_both_ways(kernel, module), kernel.name


def test_a_sweep_has_every_expression() -> None:
    step = kernels.TOGETHER * len(kernels.FAMILIES) * len(kernels.OPTIONS)
    firsts = range(0, step * (len(kernels.SWEEP) // (kernels.TOGETHER * kernels.SWEPT) + 1), step)
    numbers = [first + index for first in firsts for index in range(kernels.TOGETHER)]
    assert {row for number in numbers for row in kernels.swept(number)} == set(kernels.SWEEP)
    assert len(kernels.SWEEP) > 1000


def test_what_the_assembler_gets_wrong_is_left_out() -> None:
    """Negatives of a short that may be -32768 or go into a minimum of three; 64 bits from an odd multiple of 2."""
    assert not {"-$s", "abs($s)"} & set(EXPRESSIONS["s"])
    assert not any("3_s32" in text and "$i,$i,$i" in text for text in EXPRESSIONS["i"])
    assert statements.copied_from("w") == [0, 1, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16]
    assert statements.copied_from("i") == list(range(17))
    called = {int(number) for texts in inline.inline_expressions().values() for text in texts
              for number in re.findall(r"ptx_(\d+)\(", text)}  # fmt: skip
    left_out = {text for number, text in enumerate(FORMS) if number not in called}
    assert {"neg.s16 d, a", "abs.s16 d, a", "sin.approx.f32 d, a"} <= left_out
    assert len(called) > 700


@pytest.mark.parametrize(("form", "body"), [
    ("add.s32 d, a, b", '"{ add.s32 %0, %1, %2; }" : "=r"(x) : "r"(a0), "r"(a1)); return x;'),
    ("selp.f32 d, a, b, p", '"{ .reg .pred p2; setp.ne.s32 p2, %3, 0; selp.f32 %0, %1, %2, p2; }" : "=f"(x) : '
                            '"f"(a0), "f"(a1), "r"((int)a2)); return x;'),
    ("setp.gt.s16 p, a, b", '"{ .reg .pred q; setp.gt.s16 q, %1, %2; selp.b32 %0, 1, 0, q; }" : "=r"(x) : '
                            '"h"(a0), "h"(a1)); return x != 0;'),
])  # fmt: skip
def test_a_function_of_one_instruction(form: str, body: str) -> None:
    number = FORMS.index(form)
    assert body in inline.inline_functions(f"x = ptx_{number}(y); z = ptx_{number}(x);")


def test_constants_divide() -> None:
    drawn = scope.Scope(random.Random(1), False)
    for letter in "iulw":
        texts = [drawn.constant(letter) for _ in range(500)]
        numbers = [int(re.sub(r"\(.*?\)\(|\)|ull|ll|u", "", text)) for text in texts]
        assert not {0, -1} & set(numbers)
        assert min(numbers) < 0 if letter in "il" else min(numbers) > 0
    assert {drawn.constant("s") for _ in range(500)} == {str(amount) for amount in range(1, 32)}
