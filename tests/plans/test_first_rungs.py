"""Plans that are forced to the first rungs of the ladder, and their results on the emulator and the GPU."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.errors import PlanError
from softlab.operators.executors import arguments, gpu_launch
from softlab.plans.resources import Resources
from tests.kernels.cases import matrix
from tests.reference import assert_within, reference

KERNELS = ("naive_row", "naive_block", "online_warp")


def figures(*_):
    return Resources(32, 0, 0, 0, "")


@pytest.mark.parametrize(
    ("kernel", "shape", "dtype", "block", "grid", "smem_bytes", "reads"),
    [
        ("naive_row", (300, 70), "float32", 128, 3, 0, 3),
        ("naive_row", (128, 70_000), "float64", 128, 1, 0, 3),
        ("naive_block", (300, 70), "float16", 128, 300, 512, 1),
        ("naive_block", (5, 64), "float32", 64, 5, 256, 1),
        ("naive_block", (5, 65), "float64", 128, 5, 1024, 1),
        ("naive_block", (5, 1), "bfloat16", 1, 5, 4, 1),
        ("naive_block", (5, 1024), "float32", 1024, 5, 4096, 1),
        ("online_warp", (9, 5000), "bfloat16", 128, 3, 0, 2),
    ],
)
def test_the_launch(kernel, shape, dtype, block, grid, smem_bytes, reads):
    plan = softlab.forced(*shape, dtype, kernel=kernel, device="H200", lookup=figures)
    found = (plan.kernel, plan.block, plan.grid, plan.smem_bytes, plan.pack_size)
    assert found == (kernel, (block, 1), grid, smem_bytes, 1)
    assert (plan.file, plan.name) == (f"{kernel}.cuh", f"{kernel}<{element_type(dtype).cuda}>")
    assert plan.global_bytes == (reads + 1) * shape[0] * shape[1] * element_type(dtype).itemsize
    assert [step.answer for step in plan.steps] == [kernel, block, grid]
    others = plan.alternatives(lookup=figures)
    assert [other.kernel for other in others if other.chosen] == [kernel]
    assert {other.kernel for other in others} == {kernel, "warp", "block_smem", "block_uncached"}


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_result_in_the_emulator(kernel, dtype):
    x = matrix(9, 77, dtype)
    trace = softlab.trace_plan(softlab.forced(*x.shape, dtype, kernel=kernel, device="H200"), x)
    expected = reference(x)
    roundings = 3 * x.shape[1] * float(np.finfo(np.float64 if dtype == "float64" else np.float32).eps)
    assert_within(trace.output, expected.value, expected.tolerance + roundings, f"{kernel}, {dtype}")
    assert trace.counters["global_load_requests"] > 0


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gpu_gives_the_same(kernel):
    import cupy

    x = matrix(300, 77, "float32")
    plan = softlab.forced(*x.shape, kernel=kernel)
    source, target = cupy.asarray(x), cupy.empty(x.shape, "float32")
    gpu_launch(plan, arguments(plan, (source,), target))()
    np.testing.assert_allclose(cupy.asnumpy(target), softlab.trace_plan(plan, x).output, rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    ("problem", "keywords", "message"),
    [
        ((8, 1025), {"kernel": "naive_block"}, r"at most 1024 in a block; a row of 1025 columns has 1 too many"),
        ((8, 64), {"kernel": "naive_row", "op": "log_softmax"}, "naive_row computes softmax alone, not log_softmax"),
        ((8, 64), {"kernel": "online_warp", "op": "softmax_backward"}, "softmax alone, not softmax_backward"),
        ((8, 64), {"kernel": "naive_row", "pack_size": 2}, "one element at a time, not packs of 2"),
        ((8, 64), {"kernel": "naive_block", "block_size": 128}, "blocks of 64 threads here, not 128"),
        ((2**31, 4), {"kernel": "naive_block"}, "needs 2147483648 blocks"),
        ((8, 64), {"kernel": "naive_row", "policy": "fast"}, "force the policy 'oneflow'"),
    ],
)
def test_what_they_do_not_take(problem, keywords, message):
    with pytest.raises(PlanError, match=message):
        softlab.forced(*problem, device="H200", lookup=figures, **keywords)


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_empty_input_launches_nothing(kernel):
    assert softlab.forced(0, 5, kernel=kernel, device="H200").grid == 0
