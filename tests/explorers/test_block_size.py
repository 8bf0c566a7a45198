"""The explorer of the block size: every threshold is found; queries are the plan's, speeds where recorded."""

from __future__ import annotations

from itertools import pairwise

import pytest

from softlab.explorers import BlockSizeExplorer
from softlab.explorers.block_size import stretches
from softlab.plans import plan
from tests.sampled import each


@pytest.mark.parametrize(
    ("dtype", "op", "device", "parity"),
    each(
        2,
        [
            ("float32", "softmax", "H200", 0),
            ("float16", "log_softmax", "T4", 1),
            ("bfloat16", "softmax", "RTX 4090", 0),
        ],
    ),
)
def test_no_threshold_is_missed(dtype, op, device, parity):
    """Against the dispatcher, asked about every single row length."""
    turns, before = [], None
    for cols in range(256 + parity, 16_385, 2):
        made = plan(65_536, cols, dtype, op=op, device=device)
        answer = made.block_size if made.kernel == "block_smem" else made.kernel
        if answer != before:
            turns.append((cols, answer))
        before = answer
    assert [(stretch.first, stretch.answer) for stretch in stretches(dtype, op, device, parity=parity)] == turns


def test_stretches_cover_everything_once():
    found = stretches("float32", "softmax", "H200")
    assert found[0].first == 256
    assert found[-1].last == 16_384
    assert all(right.first == left.last + 1 for left, right in pairwise(found))


def test_summary_follows_the_controls():
    explorer = BlockSizeExplorer(cols=4096)
    assert explorer.summary["block_size"] == 128
    assert explorer.summary["blocks_per_sm"] == {128: 13, 256: 8, 512: 4, 1024: 2}
    explorer.cols_slider.value = 12_272
    assert explorer.summary["blocks_per_sm"] == {128: 4, 256: None, 512: None, 1024: None}
    explorer.device_menu.value = "T4"
    explorer.op_buttons.value = "log_softmax"
    explorer.dtype_menu.value = "float16"
    made = plan(65_536, 12_272, "float16", op="log_softmax", device="T4")
    assert (explorer.summary["kernel"], explorer.summary["block_size"]) == (made.kernel, made.block_size)


def test_recorded_speeds_only_where_they_were_measured():
    explorer = BlockSizeExplorer(cols=4096)
    assert set(explorer.summary["recorded"]) == {128, 256, 512, 1024}
    assert "recorded at 4\u202f096 columns" in explorer.sizes.value
    for trait, value in (("device", "A100"), ("op", "log_softmax"), ("dtype", "bfloat16")):
        other = BlockSizeExplorer(cols=4096)
        setattr(other, trait, value)
        assert other.summary["recorded"] == {}
        assert "no time recorded" in other.sizes.value


def test_rows_that_a_warp_takes():
    explorer = BlockSizeExplorer(cols=512)
    assert explorer.summary["kernel"] == "warp"
    assert explorer.summary["asked"] == []
    assert "warp" in explorer.message.value


def test_columns_stay_on_the_slider():
    explorer = BlockSizeExplorer(cols=99_999)
    assert explorer.cols == 16_384
    explorer.cols = 3
    assert explorer.cols == 256


def test_estimates_stand_beside_the_recording():
    explorer = BlockSizeExplorer(cols=4096)
    assert set(explorer.summary["estimated"]) == {128, 256, 512, 1024}
    assert "How long?" in explorer.times.value
    assert explorer.times.value.count('data-kind="recorded"') == 4
    assert explorer.times.value.count('data-kind="estimated"') == 4
    explorer.cols = 4200
    assert "The nearest row length that there is: estimated for rows of 4\u202f096" in explorer.times.value
    explorer.dtype = "bfloat16"
    assert explorer.summary["estimated"] == {}
    assert "No estimate" in explorer.times.value
