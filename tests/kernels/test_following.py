"""Kernels that may start early wait before they touch memory, and each launch sees what the launch before it wrote."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

import softlab
from softlab import plans
from softlab.cuda import gpu
from softlab.operators.executors import program_of
from softlab.plans import fast_rows, fast_strided
from tests.sampled import sampled

#: Rows, columns, type, policy, and the elements from one element of a row to the next, of a plan of each family.
PROBLEMS = {
    "fast_tile": (1 << 20, 10, "float32", "fast", 1),
    "fast_warp": (1000, 100, "float32", "fast", 1),
    "fast_block": (1000, 1000, "float32", "fast", 1),
    "fast_cluster": (500, 50_000, "float16", "fast", 1),
    "fast_grid": (1, 400_000, "float32", "fast", 1),
    "fast_ring": (100, 400_001, "float32", "fast", 1),
    "fast_pipeline": (8192, 4096, "float64", "fast", 1),
    "fast_stream": (2, 1 << 25, "float16", "fast", 1),  # in packs of one element
    "fast_columns": (1 << 22, 10, "float32", "fast", 1 << 22),
    "fast_strided": (4096, 4096, "float32", "fast", 4096),
    "fast_shifted": (4097, 4096, "float16", "fast", 4097),
    "fast_strided_stream": (64, 1 << 20, "float32", "fast", 64),
    "fast_shifted_stream": (9001, 65_537, "float32", "fast", 9001),
    "fast_strip_grid": (32, 1 << 16, "float32", "fast", 32),
    "invariant_tile": (1 << 20, 10, "float32", "invariant", 1),
    "invariant_warp": (1000, 100, "float16", "invariant", 1),
    "invariant_block": (1000, 1000, "float32", "invariant", 1),
    "invariant_cluster": (500, 50_000, "float16", "invariant", 1),
    "invariant_stream": (100, 400_000, "float32", "invariant", 1),
}
OPS = ("softmax", "log_softmax_backward")
#: Gradients of doubles stay in registers: the plan takes no pipeline for them.
CASES = [case for case in product(PROBLEMS, OPS) if case != ("fast_pipeline", OPS[1])]
#: An access to global memory, as PTX has it.
_ACCESS = re.compile(
    r"\b(?:ld|st|atom|red|prefetch|cp\.async|cp\.reduce|multimem)\b[\w.:]*\.global\b|\bcp\.async\.bulk\b"
)


def planned(family: str, op: str) -> plans.Plan:
    rows, cols, dtype, policy, stride = PROBLEMS[family]
    pack_size = 1 if family == "fast_stream" else None
    return plans.forced(rows, cols, dtype, op=op, policy=policy, device="H200", stride=stride, pack_size=pack_size)


def test_each_family_has_a_problem() -> None:
    assert {*fast_rows.KERNELS, *fast_rows.INVARIANT_KERNELS, *fast_strided.KERNELS} == PROBLEMS.keys()


@pytest.mark.parametrize(
    ("family", "op"), sampled(CASES, lambda family, op: list(PROBLEMS).index(family) % 2 == OPS.index(op))
)
def test_a_kernel_waits_before_its_first_access(family: str, op: str) -> None:
    plan = planned(family, op)
    assert plan.kernel == family
    text = program_of(plan).ptx
    assert text.count("griddepcontrol.") == 2
    waits, allows = text.index("griddepcontrol.wait"), text.index("griddepcontrol.launch_dependents")
    first = _ACCESS.search(text)
    assert first
    assert waits < allows < first.start()
    assert not re.search(r"\bret;", text[:waits]), "no thread ends without it"


@pytest.mark.parametrize("policy", ["oneflow", "fast", "invariant"])
def test_what_does_not_wait_is_not_launched_early(policy: str) -> None:
    """The kernels of the reference design, and all of an older GPU."""
    text = program_of(plans.plan(100, 100, policy=policy, device="A100")).ptx
    assert gpu._WAITS not in text
    text = program_of(plans.plan(100, 100, policy=policy, device="H100")).ptx
    assert (gpu._WAITS in text) == (policy != "oneflow")


#: For warps, blocks, clusters, both kernels whose launches are cooperative, and tiles.
SHAPES = ((4096, 100), (2048, 2048), (64, 65_536), (24, 1_000_001), (1, 400_000), (1 << 20, 10))


@pytest.mark.gpu
@pytest.mark.parametrize("policy", ["fast", "invariant"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_launch_sees_what_the_one_before_wrote(shape: tuple[int, int], policy: str) -> None:
    """Sixty launches in turn, each of which reads the last one's results and overwrites what that one read."""
    import cupy

    def chain(wait: bool) -> Any:
        arrays = [cupy.random.RandomState(5).standard_normal(shape, dtype=np.float32) for _ in range(2)]
        for turn in range(60):
            op = softlab.log_softmax if turn % 3 else softlab.softmax
            op(arrays[turn % 2], out=arrays[1 - turn % 2], policy=policy)
            arrays[1 - turn % 2] *= 3
            if turn % 2:
                op(arrays[1 - turn % 2], out=arrays[1 - turn % 2], policy=policy)
            if wait:
                cupy.cuda.Device().synchronize()
        return arrays[0]

    expected = chain(wait=True)
    for _ in range(5):
        assert (chain(wait=False) == expected).all()
