"""No fault is reported where there is none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab import plans
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.faults.cases import GOOD, Good
from tests.faults.cases_cluster import CLUSTER, EXPECTED
from tests.faults.cases_objects import OBJECTS, UNDEFINED
from tests.hardware.cases import CounterCase, all_cases
from tests.kernels.cases import kernel_of, matrix
from tests.sampled import each, one_of, sampled


def same_with_and_without_checks(kernel: Kernel, grid, block, arguments, smem: int) -> None:
    """It runs clean, and watching changes nothing."""
    checked = arguments()
    unchecked = [None if argument is None else argument.copy() for argument in checked]
    kernel.run(grid, block, checked, smem, check=True, record=False)
    kernel.run(grid, block, unchecked, smem, check=False, record=False)
    assert all(a is b or a.tobytes() == b.tobytes() for a, b in zip(checked, unchecked, strict=True))


@pytest.mark.parametrize("good", each(3, [pytest.param(good, id=name) for name, good in GOOD.items()]))
def test_the_kernels_in_which_faults_are_planted(good: Good) -> None:
    same_with_and_without_checks(Kernel.from_program(good.compile()), good.grid, good.block, good.arguments, good.smem)


@pytest.mark.parametrize("name", CLUSTER)
def test_the_kernels_of_clusters_and_asynchronous_copies(name: str) -> None:
    good = CLUSTER[name]
    kernel = Kernel.from_program(good.compile())
    same_with_and_without_checks(kernel, good.grid, good.block, good.arguments, good.smem)
    arguments = good.arguments()
    kernel.run(good.grid, good.block, arguments, good.smem)
    expected = np.asarray(EXPECTED[name](arguments[0])).reshape(-1)
    np.testing.assert_allclose(arguments[1].reshape(-1), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("good", [pytest.param(good, id=name) for name, good in (OBJECTS | UNDEFINED).items()])
def test_the_kernels_of_several_arrays_and_of_values_that_are_not_used(good: Good) -> None:
    kernel = Kernel.from_program(good.compile())
    same_with_and_without_checks(kernel, good.grid, good.block, good.arguments, good.smem)
    assert kernel.run(good.grid, good.block, good.arguments(), good.smem, check="collect").findings == ()


#: Of the recorded cases: thread 127 reads element 128 * stride, which is beyond what all threads write.
READ_THE_UNWRITTEN = {f"shared unsigned {kind} stride {stride}" for kind in ("char", "short") for stride in (1, 3)}
#: The gallery has kernels for the assembler alone, too, whose threads race on purpose.
FILES = {
    "transpose.cu", "reduction.cu", "scan.cu", "histogram.cu", "matrix_product.cu", "stencil.cu", "bitonic_sort.cu",
    "global_access.cu", "shared_access.cu", "blocked_product.cu", "convolution.cu", "loops.cu", "stencil_3d.cu",
    "structures.cu", "warps.cu",
}  # fmt: skip
_CASES = [case for case in all_cases() if not case.name.startswith(("softmax", "log_softmax"))]
RECORDED = [case for case in _CASES if case.name.startswith("layout") or case.launch().file in FILES]


def test_one_gallery_kernel_reads_what_nobody_wrote() -> None:
    for case in RECORDED:
        if case.name in READ_THE_UNWRITTEN:
            launch = case.launch()
            with pytest.raises(KernelFault, match=r"thread \(127, 0, 0\)") as caught:
                Kernel.from_program(launch.compile()).run(launch.grid, launch.block, case.arguments(), launch.smem)
            assert caught.value.kind == "uninitialized-shared"


_CLEAN = [pytest.param(case, id=case.name) for case in RECORDED if case.name not in READ_THE_UNWRITTEN]


@pytest.mark.parametrize("case", one_of(6, _CLEAN, lambda case: case.launch().file))
def test_the_gallery(case: CounterCase) -> None:
    """`.ci/run` takes a sixth of each file, `make test` all."""
    launch = case.launch()
    kernel = Kernel.from_program(launch.compile())
    same_with_and_without_checks(kernel, launch.grid, launch.block, case.arguments, launch.smem)


_SOFTMAX = product(("float16", "float32", "float64"), ("softmax", "log_softmax"))
_ONE_OPERATOR = {("float16", "softmax"), ("float32", "log_softmax"), ("float64", "softmax")}


@pytest.mark.parametrize(("dtype", "op"), sampled(_SOFTMAX, lambda *case: case in _ONE_OPERATOR))
def test_softmax_of_many_shapes(dtype: str, op: str) -> None:
    """`.ci/run` takes one operator per type, `make test` both."""
    for rows, cols in product((1, 7), (1, 3, 8, 33, 96, 1023, 1025, 3000, 13001)):
        plan = plans.plan(rows, cols, dtype, op=op, device="H200")
        x = matrix(rows, cols, dtype)
        arguments = (x, np.zeros_like(x), np.int64(rows), np.int64(cols))
        kernel_of(plan).run(plan.grid, plan.block, arguments, plan.smem_bytes, check=True, record=False)
