"""The emulator's counters are the hardware's: every counter, no tolerance.

Here run the patterns of the galleries and a choice of the softmax kernels, since CUB takes the compiler a second each;
``python -m tests.hardware.compare`` runs every case that is recorded.
"""

from __future__ import annotations

import dataclasses

import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel import Kernel
from tests.hardware.cases import all_cases
from tests.hardware.compare import COMPARED, emulate
from tests.hardware.record import recording
from tests.sampled import each, one_of

CASES = {case.name: case for case in all_cases()}
#: Each kind of softmax kernel, each dtype, layout and pack size is among them.
_SOFTMAX = (
    "softmax float16 33x5",
    "softmax float32 33x333",
    "softmax bfloat16 16x1022",
    "log_softmax float32 9x1025",
    "softmax float16 5x13000",
    "log_softmax float64 33x5",
    "softmax float64 9x2048",
    "layout column float32 pack 2 1024 block 256",
    "layout row bfloat16 pack 2 1500 block 128",
    "layout row_scalar float16 pack 2 1500 block 128",
    "layout row float32 pack 1 4096 block 1024",
)
_GALLERY = [name for name in CASES if "softmax" not in name and "layout" not in name]
needs_nvdisasm = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, int]]:
    return recording()["cases"]


def test_every_case_has_a_recording(recorded):
    assert set(recorded) == set(CASES)
    assert set(_SOFTMAX) < set(CASES)


@needs_nvdisasm
@pytest.mark.parametrize("name", [*one_of(4, _GALLERY, lambda name: CASES[name].launch().file), *each(3, _SOFTMAX)])
def test_counters_are_those_of_the_hardware(name: str, recorded):
    """`.ci/run` takes a quarter of each file of the gallery, `make test` all."""
    case = CASES[name]
    run = emulate(case)
    hardware = recorded[case.name]
    assert run.level == "machine code"
    assert {name: run.counters[name] for name in COMPARED} == {name: hardware[name] for name in COMPARED}
    # Equal but for the softmax kernels that were recorded before their code changed by an instruction per warp.
    changed = case.name in _SOFTMAX
    assert run.counters["instructions"] == pytest.approx(hardware["instructions"], rel=0.002 if changed else 0)


def test_the_load_store_pipe_counts_no_fewer_wavefronts_than_its_instructions_take(recorded):
    """The recording is sound: waits only add, and add little. Stores showed none at all."""
    for name, counters in recorded.items():
        excess = counters["pipe_shared_load_wavefronts"] - counters["shared_load_wavefronts"]
        assert 0 <= excess <= 0.12 * counters["shared_load_wavefronts"], name
        assert counters["pipe_shared_store_wavefronts"] == counters["shared_store_wavefronts"], name


def test_without_a_disassembler_the_ptx_is_counted(monkeypatch, recorded):
    """The same run without nvdisasm: it says so, and it shows what the machine code is needed for."""
    monkeypatch.setattr("softlab.cuda.disassembly._tool", lambda: None)
    case = CASES["shared structures of 4"]
    how = case.launch()
    program = dataclasses.replace(how.compile())
    run = Kernel.from_program(program).run(how.grid, how.block, case.arguments(), smem=how.smem)
    assert run.level == "PTX"
    assert run.fused == ()
    # Four stores side by side that the machine code makes in one.
    assert run.counters["shared_store_instructions"] == 4 * recorded[case.name]["shared_store_instructions"]
    assert run.counters["global_load_sectors"] == recorded[case.name]["global_load_sectors"]
