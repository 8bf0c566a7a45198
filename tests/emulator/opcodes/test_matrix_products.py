"""Products of matrices beside those that an H200 computed, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.emulator.opcodes.matrices import product_of
from tests.hardware.matrix_cases import by_register, forms, registers

RECORDED = np.load(Path(__file__).parents[2] / "data" / "matrix_products_h200.npz")
CASES = [key for key in RECORDED.files if key != "about"]


def test_every_form_is_recorded() -> None:
    assert [key.split(" ")[1] for key in CASES] == forms()


@pytest.mark.parametrize("case", CASES)
def test_a_product_has_the_bits_of_an_h200(case: str) -> None:
    seed, form = case.split(" ")
    expected = by_register(RECORDED[case])
    with np.errstate(all="ignore"):
        found = product_of(form.split(".")).of_registers(*registers(form, int(seed), len(expected)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("form", "unit", "small", "expected"),
    [
        # A sum between two subnormals of f16, and what tips the scales: an H200 drops what is below 2**-46.
        ("m16n8k16.row.col.f16.f16.f16.f16", -25, -46, 3),
        ("m16n8k16.row.col.f16.f16.f16.f16", -25, -47, 2),
        # A sum of f32 that is cut towards zero: an H200 drops what is below 2**-158.
        ("m16n8k16.row.col.f32.bf16.bf16.f32", -149, -158, 0x80000004),
        ("m16n8k16.row.col.f32.bf16.bf16.f32", -149, -159, 0x80000005),
    ],
)
def test_the_unit_of_very_small_sums(form: str, unit: int, small: int, expected: int) -> None:
    product = product_of(form.split("."))
    kind, dtype = product.kinds[1], product.element_types[1]
    numbers = {"f16": lambda x: np.float16(x).view("u2"), "bf16": lambda x: np.float32(x).view("u4") >> 16}[kind]
    sign = 1 if kind == "f16" else -1
    a, b = np.zeros((16, 16), dtype), np.zeros((8, 16), dtype)
    a[0, :2] = numbers(sign * 5 * 2.0 ** (unit // 2)), numbers(2.0 ** (small // 2))
    b[0, :2] = numbers(2.0 ** (unit - unit // 2)), numbers(2.0 ** (small - small // 2))
    d = product.multiply(a, b, np.zeros((16, 8), product.element_types[3]))
    assert int(d[0, 0]) == expected


@pytest.mark.parametrize(
    "form",
    [
        "m16n8k16.row.col.f32.f16.bf16.f32",
        "m16n8k32.row.col.f32.f16.f16.f32",
        "m16n8k16.row.row.f32.f16.f16.f32",
        "m16n8k16.row.col.f32.f16.f16.f16",
        "m8n8k128.row.col.s32.b1.b1.s32",
        "sp.m16n8k32.row.col.f32.f16.f16.f32",
    ],
)
def test_a_form_that_ptx_does_not_have_is_refused(form: str) -> None:
    with pytest.raises(NotImplementedError):
        product_of(form.split("."))
