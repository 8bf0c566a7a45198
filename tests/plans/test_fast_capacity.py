"""What the policy "fast" keeps in shared memory fits into a block's shared memory, on GPUs that have less of it too.

The RTX 5090 has clusters and cooperative launches as the H200 has, and 99 KiB per block instead of 227.
"""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.hardware.devices import Device
from tests.sampled import each, turns

#: dtype and columns of 1024 rows that use much shared memory on an H200.
LONG_ROWS = [
    ("float64", 8192), ("float64", 65536), ("float64", 131072), ("float64", 262144),
    ("float32", 200_000), ("float32", 3_000_000), ("float16", 7_000_000), ("float16", 8_500_000),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "cols", "device"), turns(2, LONG_ROWS, ["H200", "RTX 5090"]))
def test_a_block_has_the_shared_memory_that_the_plan_takes(device: str, dtype: str, cols: int) -> None:
    plan = softlab.plan(1024, cols, dtype, policy="fast", device=device)
    assert plan.smem_bytes + plan.static_smem_bytes <= Device.named(device).smem_per_block_optin
    if plan.cooperative:  # the blocks that share a row hold it in shared memory and registers, or read it again
        kept = int(plan.name.split(", ")[9]) * (plan.block[0] - 64) * 16 if plan.kernel == "fast_ring" else 0
        assert plan.grid * (plan.smem_bytes + kept) >= (cols - plan.read_again) * np.dtype(dtype).itemsize


@pytest.mark.parametrize(("dtype", "cols"), each(2, [("float64", 2_500_000), ("float16", 16_000_000)]))
def test_rows_that_fit_on_one_gpu_only(dtype: str, cols: int) -> None:
    """An H200 keeps the row on the chip; where it does not fit, the plan reads it twice, or a part of it."""
    kept = softlab.plan(1024, cols, dtype, policy="fast", device="H200")
    assert kept.smem_bytes + kept.static_smem_bytes > Device.named("RTX 5090").smem_per_block_optin
    other = softlab.plan(1024, cols, dtype, policy="fast", device="RTX 5090")
    assert kept.read_again == 0
    assert other.smem_bytes == 0 or other.read_again
