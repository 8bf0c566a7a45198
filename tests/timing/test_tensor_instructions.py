"""The timing model has no time of tensor cores: an estimate is an error that names the instruction, never a number."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from tests.hardware.record_tensor import TensorCase, tensor_cases

CASES = {case.name: case for case in tensor_cases()}


@pytest.mark.parametrize(
    ("name", "opcode"),
    [
        ("tensor product", "LDSM"),
        ("mma m16n8k16.row.col.f32.f16.f16.f32", "HMMA"),
        ("mma m16n8k32.row.col.s32.s8.s8.s32", "IMMA"),
        ("mma m8n8k4.row.col.f64.f64.f64.f64", "DMMA"),
        ("wgmma m64n8k16.f32.f16.f16", "HGMMA|wgmma|WARPGROUP"),
        ("tensor map transpose", "cp.async.bulk.tensor"),
    ],
)
def test_an_estimate_names_what_is_not_modelled(name: str, opcode: str) -> None:
    case: TensorCase = CASES[name]
    arguments, _ = case.arguments(np.asarray)
    kernel = softlab.Kernel.from_program(case.compile())
    with pytest.raises(softlab.UnsupportedInstruction, match=opcode):
        kernel.estimate(case.grid, case.block, tuple(arguments), smem=case.smem)
