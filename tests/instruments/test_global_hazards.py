"""Races in global memory are found where they are planted, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.faults.global_cases import GLOBAL_CASES
from tests.faults.planted.global_races import GLOBAL_RACES, GlobalRace
from tests.sampled import each, one_of


@pytest.mark.parametrize("name", each(3, GLOBAL_CASES))
def test_no_race_is_found_in_a_good_kernel(name: str) -> None:
    case = GLOBAL_CASES[name]
    kernel = Kernel.from_program(case.compile())
    kernel.run(case.grid, case.block, case.arguments(), cooperative=case.cooperative, record=False)


@pytest.mark.parametrize(
    "planted",
    one_of(4, GLOBAL_RACES, lambda planted: planted.kernel),
    ids=lambda planted: f"{planted.kernel}: {planted.name}",
)
def test_a_planted_race_is_found(planted: GlobalRace) -> None:
    """`.ci/run` takes a quarter of each kernel's races, `make test` all."""
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


SPLIT = """extern "C" __global__ void split(float* a, float* b, int same, int apart) {
  int t = threadIdx.x;
  float* mine = t % 2 ? b : a;
  mine[t / 2 + apart * 40] = t;
  if (t >= 32 && t < 36) mine[(t - 32) / 2 + same] = t;
}"""


@pytest.mark.parametrize(("same", "apart", "found"), [(0, 0, True), (40, 0, False), (40, 1, True), (0, 1, False)])
def test_one_instruction_may_reach_two_arrays(same: int, apart: int, found: bool) -> None:
    """Lanes with odd numbers store in one array, the others in another one: each array has its own history."""
    a, b = np.zeros(128, np.float32), np.zeros(128, np.float32)
    run = Kernel(SPLIT, "split").run(1, 64, (a, b, same, apart), check="collect", record=False)
    races = [f for f in run.findings if f.kind == "race"]
    assert bool(races) == found
    first = 40 * apart
    assert {f.symbol for f in races} <= {f"{name}[{first + n}]" for name in "ab" for n in (0, 1)}
    for race in races:
        assert {race.line, race.other_line} == {4, 5}
        lanes = [thread[0] for thread in (race.thread, race.other_thread)]
        array, word = race.symbol[0], int(race.symbol[2:-1]) - first
        assert sorted(lanes) == [2 * word + (array == "b"), 32 + 2 * word + (array == "b")]


READ_ONLY = """extern "C" __global__ void read_only(const float* x, float* y, float* z, int shift, int block) {
  int t = threadIdx.x;
  y[t] = 2 * x[t];
  __syncthreads();
  if (blockIdx.x == block) z[t] = __ldg(y + (t + shift) % 64);
}"""


@pytest.mark.parametrize(
    ("shift", "who"), [(0, "it"), (1, "another thread of its warp"), (40, "another thread of its block")]
)
def test_data_that_the_launch_wrote_are_not_read_only(shift: int, who: str) -> None:
    """``__ldg()`` may give the old value, also where a barrier orders the two."""
    arguments = np.ones(64, np.float32), np.zeros(64, np.float32), np.zeros(64, np.float32), shift, 0
    with pytest.raises(KernelFault, match="as read-only data") as caught:
        Kernel(READ_ONLY, "read_only").run(1, 64, arguments, record=False)
    fault = caught.value
    assert (fault.kind, fault.line, fault.other_line, fault.symbol) == ("restrict-alias", 5, 3, f"y[{shift}]")
    assert f"and {who} wrote it in this launch" in str(fault)
    assert fault.other_thread == (shift, 0, 0)


SHIFTED = """extern "C" __global__ void shifted(float* a) {
  float v = a[threadIdx.x + 1];
  a[threadIdx.x] = v;
}"""


@pytest.mark.parametrize(("threads", "advice"), [(32, "Put __syncwarp() between"), (64, "Put __syncthreads() between")])
def test_a_barrier_of_the_warp_is_advised_to_a_warp_that_is_alone(threads: int, advice: str) -> None:
    """Two lanes of a warp meet first, and in a larger block the warps meet as well."""
    with pytest.raises(KernelFault, match="another thread of its warp") as caught:
        Kernel(SHIFTED, "shifted").run(1, threads, (np.zeros(65, np.float32),), record=False)
    assert advice in str(caught.value)


AHEAD = """extern "C" __global__ void ahead(const float* x, float* y, float* z, int warp) {
  int t = threadIdx.x;
  y[t] = x[t];
  if (t / 32 == warp) asm volatile("bar.arrive 1, 96;" ::: "memory");
  else asm volatile("bar.sync 1, 96;" ::: "memory");
  z[t] = y[95 - t];
}"""


@pytest.mark.parametrize("warp", [0, 1, 2, 3])
def test_who_arrives_and_goes_on_comes_after_nobody(warp: int) -> None:
    arguments = np.ones(96, np.float32), np.zeros(96, np.float32), np.zeros(96, np.float32), warp
    findings = Kernel(AHEAD, "ahead").run(1, 96, arguments, check="collect", record=False).findings
    if warp in (1, 3):  # warp 1 reads what its own lanes wrote, which arrive together; nobody is warp 3
        assert findings == ()
    else:
        assert {(f.kind, f.line, f.other_line, f.count) for f in findings} == {("race", 6, 3, 32)}
        assert {f.thread[0] // 32 for f in findings} == {warp}
