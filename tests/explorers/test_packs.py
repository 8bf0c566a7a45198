"""The pack explorer on the real kernels: sectors and requests held to arithmetic on bytes, pictures to the run."""

from __future__ import annotations

import numpy as np
import pytest
from traitlets import TraitError

from softlab.explorers import PackExplorer
from softlab.explorers.packs import MOST_OFFSET, one_row, shifted_run
from softlab.operators import trace_plan
from softlab.views.sectors import sector_card
from tests.sampled import each

ITEM = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


def sectors_of(first_byte: int, nbytes: int) -> set[int]:
    return {byte // 32 for byte in range(first_byte, first_byte + nbytes)}


@pytest.fixture(scope="module")
def explorer() -> PackExplorer:
    return PackExplorer(cols=256, pack=1)


@pytest.mark.parametrize(
    ("dtype", "pack", "cols", "offset"),
    each(2, [
        ("float32", 1, 256, 0), ("float32", 1, 256, 3), ("float32", 2, 250, 2), ("float32", 4, 200, 4),
        ("float16", 1, 101, 1), ("float16", 8, 256, 8), ("float16", 2, 66, 6),
    ]),
)  # fmt: skip
def test_every_load_moves_the_sectors_of_its_bytes(dtype, pack, cols, offset):
    explorer = PackExplorer(cols=cols, pack=pack, dtype=dtype, offset=offset)
    start, width = offset * ITEM[dtype], pack * ITEM[dtype]
    total = 0
    for access in range(explorer.access_slider.max + 1):
        explorer.access = access
        lanes = [lane for lane in range(32) if (32 * access + lane) * pack < cols]
        moved = set().union(*(sectors_of(start + (32 * access + lane) * width, width) for lane in lanes))
        found = explorer.summary
        assert (found["lanes"], found["bytes"], found["load_sectors"]) == (len(lanes), width, len(moved))
        total += len(moved)
    assert explorer.summary["requests"] == explorer.access_slider.max + 1 == -(-cols // (32 * pack))
    assert explorer.summary["sectors"] == total
    assert explorer.summary["least"] == -(-cols * ITEM[dtype] // 32)


def test_the_picture_has_every_lane_at_its_bytes_and_what_comes_along(explorer):
    explorer.pack, explorer.cols, explorer.offset, explorer.access = 2, 256, 2, 1
    (panel,) = explorer.diagram.data["panels"]
    drawn = {
        row * 32 + column + k: cell["lanes"]
        for cell in panel["cells"]
        for row, column in [(cell["row"], cell["column"])]
        for k in range(cell["span"])
    }
    first_line = int(panel["rows"][0]["label"].split()[1]) // 4  # in words
    words = {first_line + row: lanes for row, lanes in drawn.items()}
    # Load 1, lane l: elements 64 + 2 l and the next one, 2 elements after an aligned address.
    wanted = {2 + 64 + 2 * lane + i: [lane] for lane in range(32) for i in range(2)}
    moved = {word for first in wanted for word in range(first // 8 * 8, first // 8 * 8 + 8)}
    assert words == {**{word: [] for word in moved}, **wanted}
    idle = [cell for cell in panel["cells"] if cell["role"] == "idle"]
    assert sum(cell["span"] for cell in idle) == len(moved) - len(wanted) == 8
    assert any(entry["role"] == "idle" for entry in explorer.diagram.data["legend"])
    explorer.offset = 0
    assert all(cell["role"] != "idle" for cell in explorer.diagram.data["panels"][0]["cells"])


@pytest.mark.parametrize(("kernel", "reads"), each(3, [("warp", 1), ("block_smem", 1), ("block_uncached", 3)]))
def test_kernels_read_a_row_as_often_as_they_must(kernel, reads):
    explorer = PackExplorer(cols=1024, pack=4, kernel=kernel)
    assert explorer.summary["sectors"] == reads * explorer.summary["least"]
    assert explorer.summary["requests"] == reads * 1024 // (32 * 4)


def test_without_an_offset_it_is_the_operators_own_run():
    plan = one_row(200, 2, "float32", "warp")
    run, start = shifted_run(plan, 0)
    trace = trace_plan(plan, np.zeros((1, 200)))
    assert run.counters == trace.counters
    for index in range(len(run.global_)):
        if not run.global_.store[index]:
            theirs = sector_card(trace.global_, index, trace.buffers)
            assert sector_card(run.global_, index, (start,)) == theirs


def test_an_offset_that_packs_do_not_fit_is_the_gpus_error(explorer):
    explorer.pack, explorer.cols = 2, 256
    explorer.offset_slider.value = 1
    assert explorer.summary == {"fault": "misaligned"}
    assert "4 is no multiple of 8" in explorer.message.value
    assert explorer.diagram.data["panels"] == []
    explorer.access = 3  # nothing to choose from
    assert explorer.access == 0
    explorer.pack_buttons.value = 1
    assert explorer.summary["fault"] == ""
    explorer.offset = 0


@pytest.mark.further
def test_values_that_no_kernel_has_are_replaced(explorer):
    explorer.dtype = "float16"
    explorer.pack = 8
    assert explorer.pack_buttons.value == 8
    explorer.dtype = "float32"
    assert explorer.pack == 4
    explorer.pack = 8
    assert (explorer.pack, explorer.pack_buttons.value) == (4, 4)
    assert "16 bytes" in explorer.message.value
    explorer.cols = 255
    assert (explorer.cols, explorer.cols_slider.value) == (252, 252)
    explorer.cols = 4096
    assert explorer.cols == 1024
    assert "The registers of a warp keep 1024" in explorer.message.value
    explorer.kernel = "block_smem"
    explorer.cols = 4096
    explorer.kernel_buttons.value = "warp"
    assert explorer.cols == 1024
    explorer.offset = 99
    assert explorer.offset == MOST_OFFSET
    with pytest.raises(TraitError):
        explorer.kernel = "thread"


def test_the_chosen_lane_goes_to_the_view_and_back(explorer):
    explorer.diagram.lane = 5
    assert explorer.lane == 5
    explorer.lane = 9
    assert explorer.diagram.lane == 9


def test_it_says_which_run_it_shows(explorer):
    explorer.offset = 0
    assert "emulator" in explorer.text.value
    assert "softmax_warp.cuh, line" in explorer.text.value
    assert "ld.global" in explorer.summary["ptx"]
    assert repr(explorer).startswith("PackExplorer(cols=")


def test_a_fault_names_the_pack_and_what_was_changed():
    explorer = PackExplorer(cols=256, pack=1, offset=3, dtype="float64")
    explorer.pack = 2
    assert explorer.summary == {"fault": "misaligned"}
    assert "Packs of 2 float64 are loads of 16 bytes" in explorer.message.value
    explorer.pack_buttons.value = 4
    assert explorer.pack == 2
    assert "A pack of 4 float64 is more than the 16 bytes" in explorer.message.value


@pytest.mark.further
def test_packs_are_estimated_beside_each_other():
    explorer = PackExplorer(cols=1024, pack=2)
    assert set(explorer.summary["estimated"]) == {1, 2, 4}
    explorer.offset = 2
    assert "begin at an aligned address" in explorer.times.value
    explorer.dtype = "float64"
    assert explorer.summary["estimated"] == {}
    assert "No estimate" in explorer.times.value
