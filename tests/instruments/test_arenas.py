"""Arrays that launches use one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.errors import KernelFault
from softlab.instruments import arenas, blind_atomics, global_shadow, native_order
from softlab.instruments.arenas import Arenas
from softlab.kernel import Kernel
from tests.sampled import each


def test_an_array_that_nobody_uses_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest that is large enough; of too many the largest ones are kept."""
    monkeypatch.setattr(arenas, "_MOST_BYTES", 8 * 60)
    pool = Arenas()
    small, large = pool.take(10), pool.take(40)
    for array in (small, large):
        pool.give(array)
    again = pool.take(8)
    assert (len(again), again.base is small) == (8, True)
    larger = pool.take(20)
    assert (len(larger), larger.base is large) == (20, True)
    assert pool.take(1).base is None, "both are in use"
    pool.give(larger)
    pool.give(again)
    pool.give(np.empty(15, np.int64))
    whole = [pool.take(1).base for _ in range(2)]
    assert [one is not None and len(one) for one in whole] == [15, 40], "one of 10 items was too many"
    assert pool.take(1).base is None
    pool.give(np.empty(61, np.int64))
    assert pool.take(1).base is None


def test_zeros_are_zeros_whatever_an_array_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small and large ones are new each time."""
    monkeypatch.setattr(arenas, "_LEAST_ZEROS", 8 * 10)
    monkeypatch.setattr(arenas, "_MOST_ZEROS", 8 * 40)
    pool = Arenas()
    for items, again in ((9, False), (10, True), (40, True), (41, False)):
        first = pool.zeros(items)
        first[:] = 7
        pool.give_zeros(first)
        second = pool.zeros(items)
        assert (len(second), second.any(), second.base is first) == (items, False, again)


COUNTED = """extern "C" __global__ void counted(int* x, unsigned* count) {
  x[blockIdx.x * 32 + threadIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) atomicAdd(count, 1);
  x[threadIdx.x + (blockIdx.x == 1 ? 1000 : 0)] = 2;
}"""


class Watched(Arenas):
    """Counts what is in use."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = self.used = 0

    def take(self, items: int) -> np.ndarray:
        self.taken += 1
        self.used += 1
        return super().take(items)

    def give(self, array: np.ndarray) -> None:
        self.used -= 1
        super().give(array)


@pytest.mark.parametrize("check", each(2, [True, "collect"]))
def test_a_launch_gives_its_arenas_back_also_after_a_fault(check: bool | str, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    for module in (native_order, global_shadow, blind_atomics):
        monkeypatch.setattr(module, "ARENAS", watched)
    monkeypatch.setattr(arenas, "_LEAST_ZEROS", 1)
    kernel = Kernel(COUNTED, "counted")
    arguments = np.zeros(64, np.int32), np.zeros(1, np.uint32)
    if check is True:
        with pytest.raises(KernelFault):
            kernel.run(2, 32, arguments, check=check, record=False, compiled="all")
    else:
        assert kernel.run(2, 32, arguments, check=check, record=False, compiled="all").findings
    assert watched.taken >= 5, "of orders, of two arrays, and of the atomics"
    assert watched.used == 0


LATER = """extern "C" __global__ void later(int* x) {
  if (threadIdx.x == 0 && (blockIdx.x == 0 || blockIdx.x == 100)) x[0] = blockIdx.x + 1;
  __syncthreads();
  if (blockIdx.x == 0) asm volatile("trap;");
}"""


WAYS = ["none", pytest.param("all", marks=pytest.mark.skipif(not available(), reason="needs llvmlite"))]


@pytest.mark.parametrize("compiled", WAYS)
def test_a_run_that_collects_knows_what_was_accessed_before_a_fault(compiled: str) -> None:
    """The first batch of blocks ends by a trap; a block of the next one writes what it wrote."""
    run = Kernel(LATER, "later").run(128, 256, [np.zeros(20_000, np.int32)], check="collect", compiled=compiled)
    assert [(finding.kind, finding.line) for finding in run.findings] == [("trap", 4), ("race", 2)]
