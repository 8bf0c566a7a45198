"""A kernel goes to another process by pickle: with its program, and with what its variables hold."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

SOURCE = """
__constant__ float factors[4];
__device__ int launches;
__device__ const float* table;
extern "C" __global__ void scale(float* x, int n) {
  int i = threadIdx.x;
  if (i == 0) ++launches;
  if (i < n) x[i] *= factors[i % 4] + (table ? table[i % 2] : 0.0f);
}
"""


def scaled(kernel: Kernel, n: int = 8) -> list[float]:
    x = np.ones(8, np.float32)
    kernel.run(1, 32, [x, n], record=False)
    return x.tolist()


def _faulty(kernel: Kernel) -> list[float]:
    return scaled(kernel, 9)


def test_a_kernel_that_has_run_keeps_what_its_variables_hold() -> None:
    kernel = Kernel(SOURCE, "scale")
    kernel.constants["factors"] = np.array([1, 2, 3, 4], "f4")
    kernel.globals["table"] = np.array([10, 20], "f4")
    assert scaled(kernel) == [11, 22, 13, 24] * 2
    for again in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert again.program == kernel.program
        assert int(again.globals["launches"]) == 1
        assert scaled(again) == [11, 22, 13, 24] * 2
        assert int(again.globals["launches"]) == 2
        assert not any("factors" in remark for remark in again.run(1, 32, [np.ones(8, "f4"), 8]).remarks)
        again.constants["factors"] = np.zeros(4, "f4")
    assert scaled(kernel) == [11, 22, 13, 24] * 2, "a copy shares nothing"


def test_a_kernel_that_has_not_run() -> None:
    again = pickle.loads(pickle.dumps(Kernel(SOURCE, "scale")))
    assert scaled(again) == [0] * 8
    assert "factors" in again.run(1, 32, [np.ones(8, "f4"), 8]).remarks[0]


def test_what_was_reset_is_not_kept() -> None:
    kernel = Kernel(SOURCE, "scale")
    kernel.constants["factors"] = np.ones(4, "f4")
    scaled(kernel)
    kernel.reset()
    again = pickle.loads(pickle.dumps(kernel))
    assert int(again.globals["launches"]) == 0
    assert scaled(again) == [0] * 8


@pytest.mark.slow
def test_a_pool_of_processes_runs_it_and_gives_its_fault() -> None:
    kernel = Kernel(SOURCE, "scale")
    kernel.constants["factors"] = np.array([1, 2, 3, 4], "f4")
    scaled(kernel)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(scaled, kernel).result() == [1, 2, 3, 4] * 2
        with pytest.raises(KernelFault, match="global-out-of-bounds") as caught:
            pool.submit(_faulty, kernel).result()
    assert caught.value.line == 8
