"""Races in global memory are found where they are planted, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.faults.global_cases import GLOBAL_CASES
from tests.faults.planted.global_races import GLOBAL_RACES, GlobalRace
from tests.sampled import one_of


@pytest.mark.parametrize("name", GLOBAL_CASES)
def test_no_race_is_found_in_a_good_kernel(name: str) -> None:
    case = GLOBAL_CASES[name]
    kernel = Kernel.from_program(case.compile())
    kernel.run(case.grid, case.block, case.arguments(), cooperative=case.cooperative, record=False)


@pytest.mark.parametrize(
    "planted",
    one_of(2, GLOBAL_RACES, lambda planted: planted.kernel),
    ids=lambda planted: f"{planted.kernel}: {planted.name}",
)
def test_a_planted_race_is_found(planted: GlobalRace) -> None:
    """`.ci/run` takes half of each kernel's races, `make test` all."""
    case = planted.good
    grid, block = planted.grid or case.grid, planted.block or case.block
    kernel = Kernel.from_program(case.compile(planted.source))
    with pytest.raises(KernelFault) as caught:
        kernel.run(grid, block, case.arguments(), cooperative=case.cooperative, record=False)
    fault = caught.value
    assert fault.kind == "race", fault
    assert {fault.line, fault.other_line} == planted.lines, fault
    assert fault.symbol is not None
    assert fault.symbol.startswith(planted.symbol), fault
    assert fault.symbol in str(fault) or "shared memory" in str(fault)
    assert fault.address is not None
    assert (fault.thread, fault.block) != (fault.other_thread, fault.other_block)
    for index, size in ((fault.thread, block), (fault.other_thread, block), (fault.block, grid)):
        assert index is not None
        assert 0 <= index[0] < size


def test_each_launch_has_its_own_arrays() -> None:
    """Reading a neighbour is a race where input and output are one array, and nowhere else."""
    source = """extern "C" __global__ void shifted(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1]; }"""
    kernel = Kernel(source, "shifted")
    x, y = np.zeros(65, np.float32), np.zeros(65, np.float32)
    for _ in range(2):
        kernel.run(1, 64, (x, y), record=False)
        with pytest.raises(KernelFault) as caught:
            kernel.run(1, 64, (x, x), record=False)
        assert caught.value.kind == "race"
