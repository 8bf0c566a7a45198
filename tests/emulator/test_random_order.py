"""The warps of all blocks in turns that are drawn: any of them may come first, and the same number draws the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.emulator.test_warp_order import MIXED

# The order in which warps draw their tickets, and a wait that only another block can end.
TICKETS = """
extern "C" __global__ void tickets(unsigned* count, unsigned* drawn, volatile int* flag) {
  if (threadIdx.x % 32) return;
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  drawn[warp] = atomicAdd(count, 1);
  if (blockIdx.x == 0) while (*flag == 0) {}
  else if (warp == 5) *flag = 1;
}
"""


def _tickets(number: int | None) -> list[int]:
    drawn = np.zeros(6, np.uint32)
    arguments = [np.zeros(1, np.uint32), drawn, np.zeros(1, np.int32)]
    Kernel(TICKETS, "tickets").run(3, 64, arguments, record=False, random_order=number, cooperative=True)
    return drawn.tolist()


def test_each_number_is_an_order_of_the_warps_of_all_blocks() -> None:
    orders = [_tickets(number) for number in range(8)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len({tuple(order) for order in orders}) >= 6
    assert len({order.index(0) // 2 for order in orders}) > 1, "the first warp is not always one of the first block"
    assert _tickets(3) == orders[3]


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_results_and_counters_do_not_depend_on_the_order(compiled: str) -> None:
    kernel, x = Kernel(MIXED, "mixed"), np.arange(1000, dtype=np.int32)
    expected, y = np.full(128, -7, np.int32), np.full(128, -7, np.int32)
    in_step = kernel.run(1, 128, (x, expected, 1000))
    in_turns = kernel.run(1, 128, (x, y, 1000), random_order=5, compiled=compiled)
    assert y.tolist() == expected.tolist()
    assert in_turns.counters == in_step.counters


def test_one_order_at_a_time() -> None:
    kernel, arguments = Kernel(MIXED, "mixed"), (np.zeros(8, np.int32), np.zeros(128, np.int32), 8)
    with pytest.raises(ValueError, match="two orders"):
        kernel.run(1, 64, arguments, warp_order=(1, 0), random_order=1)
    with pytest.raises(ValueError, match="random_order = -1: pass a number that is not negative"):
        kernel.run(1, 64, arguments, random_order=-1)
