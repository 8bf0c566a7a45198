"""The gallery's attention beside NumPy in double precision, with all checks on."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from tests.sampled import each

SCALE = 1 / 8


def weights(q: np.ndarray, k: np.ndarray, causal: bool) -> np.ndarray:
    """The softmax of the scores, (heads, length, length)."""
    scores = np.einsum("hid,hjd->hij", q.astype(float), k.astype(float)) * SCALE
    if causal:
        position = np.arange(scores.shape[-1])
        scores = np.where(position > position[:, None], -np.inf, scores)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("heads", "length", "causal", "size"),
    each(2, [(1, 64, False, 1), (2, 200, False, 1), (2, 200, True, 1), (1, 1, True, 1), (1, 130, False, 20)]),
)
def test_it_computes_attention(heads: int, length: int, causal: bool, size: int) -> None:
    rng = np.random.default_rng(length)
    q, k, v = (rng.standard_normal((heads, length, 64)).astype(np.float16) for _ in range(3))
    q *= np.float16(size)  # scores of some hundreds: their exponentials alone would overflow
    output = np.full_like(q, np.nan)
    maps = (softlab.TensorMap(x, (1, 64, 64), "128B") for x in (q, k, v, output))
    kernel = softlab.Kernel((softlab.kernel_folder() / "gallery" / "flash_attention.cu").read_text(), "flash_attention")
    arguments = (*maps, length, np.float32(SCALE), int(causal))
    run = kernel.run((-(-length // 64), heads), 128, arguments, smem=5 * 8192)
    assert run.findings == ()
    expected = weights(q, k, causal)
    # Weights and results are rounded to f16, half of 2^-10 of their size each; scores to f32, sums of 64 terms.
    room = 2.0**-11 * (expected @ np.abs(v.astype(float)) + np.abs(expected @ v)) * 1.1 + 2.0**-18 * size
    assert (np.abs(output - expected @ v) <= room).all()
    assert run.counters["bank_conflicts"] == 0
    assert (run.counters["global_load_requests"], run.counters["global_store_requests"]) == (0, 0)
