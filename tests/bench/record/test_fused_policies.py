"""The recorder of fused operators: which cells it draws, and the bytes that they must move."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.bench.record.fused_policies import PARTS, FusedCell, drawn


def test_cells_are_drawn_again_from_the_same_seed() -> None:
    cells = drawn(60, 3)
    assert cells == drawn(60, 3) != drawn(60, 4)
    assert {cell.dtype for cell in cells} == {"float16", "bfloat16", "float32"}
    assert {cell.parts for cell in cells if not cell.backward} == set(PARTS)
    assert any(cell.cols % 8 for cell in cells)
    assert not any("bias" in cell.parts for cell in cells if cell.backward)


@pytest.mark.parametrize("parts", PARTS)
def test_only_what_must_move_counts(parts: tuple[str, ...]) -> None:
    cell = FusedCell("softmax", "float16", 3, 5, 4, parts)
    kept = np.broadcast_to(np.tril(np.ones((5, 4), bool)) if "causal" in parts else True, cell.shape)
    beside = {"bias": 5 * 4 * 2, "mask": 3 * 5 * 4, "padding": 3 * 4}
    written = 60 * (2 if "dropout" in parts else 1)
    assert cell.nbytes() == 2 * (int(kept.sum()) + written) + sum(beside.get(part, 0) for part in parts)


def test_a_gradient_reads_all_of_both_inputs() -> None:
    assert FusedCell("softmax_backward", "float32", 2, 3, 8, ("scale", "causal")).nbytes() == 3 * 4 * 2 * 3 * 8


def test_operands_that_matrices_share_have_no_stride_there() -> None:
    fusion = FusedCell("softmax", "float32", 3, 5, 4, ("scale", "bias", "mask")).fusion()
    assert fusion.bias is not None
    assert fusion.mask is not None
    assert (fusion.bias.whole(4), fusion.mask.whole(4)) == (False, True)
