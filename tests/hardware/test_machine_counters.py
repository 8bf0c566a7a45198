"""Atomics and executed machine instructions are those that a GPU counted.

``python -m tests.hardware.record_machine`` made the recording.
"""

from __future__ import annotations

import pytest

from softlab.cuda.disassembly import find_nvdisasm
from tests.hardware.cases import CounterCase
from tests.hardware.compare import emulate
from tests.hardware.machine_cases import PATTERNS, machine_cases
from tests.hardware.record_machine import METRICS, recording
from tests.sampled import one_of

CASES = {case.name: case for case in machine_cases()}
#: Loops of compare-and-swap. How often a warp repeats one depends on the other warps, in every run in another way.
CONTENDED = [
    name
    for name in CASES
    if name.startswith(("shared atomic add float", "shared atomic add double", "shared atomic add unsigned"))
]
#: A loop in the source whose iterations depend on the order in which the blocks run.
_UNORDERED = ("largest float",)
EXACT = [name for name in CASES if name not in (*CONTENDED, *_UNORDERED)]
#: An atomic on 8 bytes per lane at scattered addresses, two loops, and rows with idle lanes: the largest differences
#: that are known.
_WITHIN = {
    "global atomic add double random of 500": 0.006,
    "global atomic max unsigned long long random of 500": 0.006,
    "global atomic result exchange unsigned long long random of 500": 0.006,
    "continue and break 40": 0.0002,
    "calls 7": 0.008,
    "fast softmax float32 33x5": 0.006,
    "fast softmax float16 64x100": 0.006,
    "fast softmax float32 4x20000": 0.005,
}
needs_nvdisasm = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")


def _without_pattern(name: str) -> str:
    """What the cases of one kernel have in common."""
    return next((name.removesuffix(pattern) for pattern in PATTERNS if name.endswith(pattern)), name)


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, int]]:
    return recording()["cases"]


def test_every_case_has_a_recording(recorded):
    assert set(recorded) == set(CASES)


@needs_nvdisasm
@pytest.mark.parametrize("name", one_of(6, EXACT, _without_pattern))
def test_counters_are_those_of_the_hardware(name: str, recorded):
    """`.ci/run` takes a sixth of the patterns of each atomic, `make test` all."""
    case = CASES[name]
    run = emulate(case)
    hardware = recorded[case.name]
    assert run.level == "machine code"
    found = {name: run.counters[name] for name in METRICS}
    if case.name in _WITHIN:
        assert found == pytest.approx({name: hardware[name] for name in METRICS}, rel=_WITHIN[case.name])
    else:
        assert found == {name: hardware[name] for name in METRICS}
    if "generic" not in case.name and "__half2" not in case.name:  # the metric counts generic atomics, too
        assert run.counters["shared_atomic_wavefronts"] == hardware["shared_atomic_wavefronts"]


@needs_nvdisasm
@pytest.mark.parametrize("case", [CASES[name] for name in CONTENDED], ids=CONTENDED)
def test_loops_of_compare_and_swap_take_at_least_their_own_turns(case: CounterCase, recorded):
    """A GPU needs more turns, since other warps are in the way: the counters say that they are estimated."""
    run = emulate(case)
    hardware = recorded[case.name]
    assert run.estimated_instructions > 0
    for name in ("instructions", "shared_atomic_instructions", "shared_load_instructions"):
        # Warps of one block that hardly meet: the least turns are a few too many where two lanes share a bank.
        assert 0.3 * hardware[name] <= run.counters[name] <= 1.01 * hardware[name], name
    assert run.counters["shared_store_instructions"] == hardware["shared_store_instructions"]
