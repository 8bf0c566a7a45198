"""Tensor instructions and copies by tensor maps: the emulator beside what an H200 computed and counted, no tolerance.

``python -m tests.hardware.record_tensor`` made the recording.
"""

from __future__ import annotations

import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from tests.hardware.record_tensor import METRICS, TensorCase, digest, recording, tensor_cases
from tests.sampled import one_of

CASES = {case.name: case for case in tensor_cases()}


def test_every_case_has_a_recording() -> None:
    assert set(recording()["cases"]) == set(CASES)


@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
@pytest.mark.parametrize(
    "case", one_of(6, CASES.values(), lambda case: case.name.split()[0]), ids=lambda case: case.name
)
def test_results_and_counters_are_those_of_the_hardware(case: TensorCase) -> None:
    hardware = recording()["cases"][case.name]
    run, result = case.emulate()
    assert run.level == "machine code"
    assert digest(result) == hardware["digest"]
    assert {name: run.counters[name] for name in METRICS} == {name: hardware[name] for name in METRICS}


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gpu_that_is_present_computes_the_same(case: TensorCase) -> None:
    cupy = pytest.importorskip("cupy")
    present = softlab.Device.present()
    if present is None or present.arch != "sm_90":
        pytest.skip("the emulator has the tensor cores of sm_90")
    arguments, written = case.arguments(cupy.asarray)
    softlab.Kernel.from_program(case.compile()).run(case.grid, case.block, tuple(arguments), smem=case.smem)
    assert digest(written[0].get()) == recording()["cases"][case.name]["digest"]
