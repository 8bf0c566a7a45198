"""Lanes that name each other in a warp-synchronous operation must come with the same mask."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

OPERATIONS = {
    "shuffle": "__shfl_xor_sync(mask, v, 1)",
    "vote": "__ballot_sync(mask, v > 3)",
    "reduce": "(int)__reduce_add_sync(mask, (unsigned)v)",
    "match": "(int)__match_any_sync(mask, v & 1)",
    "syncwarp": "(__syncwarp(mask), v)",
}


def run(body: str, threads: int = 64, **options):
    source = f"""extern "C" __global__ void k(int* out) {{ int lane = threadIdx.x % 32, v = threadIdx.x;
{body} }}"""
    out = np.zeros(threads, np.int32)
    return Kernel(source, "k").run(1, threads, (out,), **options), out


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "body",
    [
        "unsigned mask = lane < 16 ? 0xffffffffu : 0xffff0000u;\nint r = {}; out[threadIdx.x] = r;",
        "unsigned mask = 0xffffffffu;\nif (lane < 16) {{ int r = {}; out[threadIdx.x] = r; }}\n"
        "else {{ mask = 0xffff0000u; int r = {}; out[threadIdx.x] = r + 1; }}",
        "unsigned mask = lane < 16 ? 0xffffffffu : 0xffff0000u; if (lane >= 16)\n"
        "{{ int r = {}; out[threadIdx.x] = r; return; }} int r = {}; out[threadIdx.x] = r + 1;",
    ],
    ids=["one place", "two branches", "early end"],
)
def test_a_lane_that_comes_with_another_mask_and_ends(operation, body):
    with pytest.raises(KernelFault, match="inactive-lane: ") as caught:
        run(body.format(*[OPERATIONS[operation]] * 2))
    assert caught.value.kind == "inactive-lane"
    run(body.format(*[OPERATIONS[operation]] * 2), check=False)


@pytest.mark.parametrize(
    "body",
    [
        # Groups with masks of their own.
        "unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u; out[threadIdx.x] = __shfl_xor_sync(mask, v, 1);",
        # The other lanes do something among themselves, and then come.
        "int r = 0; if (lane >= 16) r = __shfl_xor_sync(0xffff0000u, v, 1);\n"
        "out[threadIdx.x] = r + __shfl_xor_sync(0xffffffffu, v, 2);",
        # Lanes that have ended before need not come.
        "if (lane >= 16) return;\nout[threadIdx.x] = (int)__ballot_sync(0xffffffffu, v > 3);",
        # Each turn of a loop has a mask of its own; whoever leaves is no longer in it.
        "unsigned mask = 0xffffffffu; int sum = 0; for (int i = 0; ; ++i) {\n"
        "mask = __ballot_sync(mask, i < lane % 5); if (i >= lane % 5) break; sum += __popc(mask); }\n"
        "out[threadIdx.x] = sum;",
    ],
)
def test_masks_that_agree(body):
    run(body)


def test_collected():
    body = "unsigned mask = lane < 16 ? 0xffffffffu : 0xffff0000u;\nout[threadIdx.x] = (int)__ballot_sync(mask, v > 3);"
    findings = run(body, check="collect")[0].findings
    assert [(f.kind, f.line, f.severity) for f in findings] == [("inactive-lane", 3, "error")]
