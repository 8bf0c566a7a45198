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
