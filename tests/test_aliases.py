"""Two arguments that are the same memory: both are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

SHIFT = 'extern "C" __global__ void k(const int* a, int* b) {\n  int v = a[threadIdx.x + 1];\n  b[threadIdx.x] = v;\n}'


def fault(*args: Any, source: str = SHIFT, block: int = 64) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(1, block, args)
    return caught.value


def test_a_race_on_the_same_array_names_both() -> None:
    x = np.zeros(65, np.int32)
    found = fault(x, x)
    assert found.kind == "race"
    assert found.symbol in ("a[1]", "b[1]", "a[32]", "b[32]")
    number = found.symbol[2:-1]
    assert f"a[{number}]" in str(found)
    assert f"b[{number}]" in str(found)
    assert "the same memory" in str(found)


def test_elements_of_overlapping_views_are_counted_from_each() -> None:
    x = np.zeros(70, np.int32)
    found = fault(x[4:], x[2:67], source=SHIFT.replace("threadIdx.x + 1", "threadIdx.x"))
    assert found.kind == "race"
    assert found.symbol is not None
    number = int(found.symbol[2:-1])
    assert found.symbol[0] == "a"
    assert f"a[{number}] (the same memory as b[{number + 2}])" in str(found)


def test_an_element_that_only_one_view_has_is_of_that_view() -> None:
    x = np.zeros(100, np.int32)
    source = 'extern "C" __global__ void k(int* a, int* b) {\n  if (threadIdx.x < 64) b[0] = threadIdx.x;\n}'
    found = fault(x[10:], x, source=source)
    assert found.symbol == "b[0]"
    assert "the same memory" not in str(found)


def test_one_array_once_is_named_as_before() -> None:
    found = fault(np.zeros(1, np.int32), source='extern "C" __global__ void k(int* c) {\n  c[0] += threadIdx.x;\n}')
    assert found.symbol == "c[0]"
    assert "the same memory" not in str(found)


def test_beyond_the_end_of_an_array_that_is_two_arguments() -> None:
    x = np.zeros(64, np.int32)
    found = fault(x, x)
    assert found.kind in ("global-out-of-bounds", "race")
    source = 'extern "C" __global__ void k(const int* a, int* b) {\n  b[threadIdx.x + 60] = 1;\n}'
    found = fault(x, x, source=source, block=32)
    assert found.kind == "global-out-of-bounds"
    assert "argument 0, which is also argument 1 and has 256 bytes" in str(found)
