"""The bank explorer on the real kernel: the three layouts are what the notebook says of them."""

from __future__ import annotations

import pytest

from softlab.explorers import BankExplorer, PlanExplorer
from softlab.views.banks import describe_access


def stores(**problem) -> dict:
    return BankExplorer(**problem).summary


def test_column_stores_one_element_at_a_time_without_conflict():
    found = stores(cols=1024, pack=2, layout="column")
    assert (found["instructions"], found["wavefronts"], found["bank_conflicts"]) == (32, 32, 0)
    assert (found["bytes"], found["lanes"]) == (4, 32)


def test_row_stores_a_whole_pack_at_once_without_conflict():
    found = stores(cols=1024, pack=2, layout="row")
    assert (found["instructions"], found["wavefronts"], found["bank_conflicts"]) == (16, 32, 0)
    assert found["bytes"] == 8


def test_row_scalar_meets_twice_in_each_bank():
    found = stores(cols=1024, pack=2, layout="row_scalar")
    assert (found["instructions"], found["wavefronts"], found["bank_conflicts"]) == (32, 64, 32)


def test_packs_of_eight_halves_do_conflict_in_rows():
    column, row = (stores(cols=1024, pack=8, layout=layout, dtype="float16") for layout in ("column", "row"))
    assert (row["instructions"], row["wavefronts"], row["bank_conflicts"]) == (8, 64, 32)
    assert (column["wavefronts"], column["bank_conflicts"]) == (32, 0)


def test_the_parts_add_up_to_the_kernels_own_counters():
    explorer = BankExplorer(cols=1500, pack=2, layout="row_scalar")
    shared = explorer.trace.shared
    costs = [describe_access(shared, index) for index in range(len(shared))]
    counters = explorer.summary["counters"]
    assert sum(cost["conflicts"] for cost in costs) == counters["bank_conflicts"]
    for kind in ("load", "store"):
        wavefronts = sum(cost["wavefronts"] for cost in costs if cost["what"] == kind)
        assert wavefronts == counters[f"shared_{kind}_wavefronts"]


def test_the_picture_shows_every_lane_that_took_part():
    explorer = BankExplorer(cols=100, pack=2, layout="row")
    panels = explorer.diagram.data["panels"]
    for panel in panels:
        assert sorted({lane for cell in panel["cells"] for lane in cell["lanes"]}) == list(range(32))
    explorer.access = explorer.access_slider.max
    assert explorer.summary["lanes"] == 50 - 32


@pytest.mark.parametrize(
    ("cols", "kernel", "reads"), [(1000, "warp", 1), (1024, "block_smem", 1), (12_274, "block_uncached", 3)]
)
def test_plan_explorer_counts_the_reads_of_each_kernel(cols, kernel, reads):
    explorer = PlanExplorer(rows=2, cols=cols)
    counters = explorer.execute()
    assert explorer.summary["kernel"] == kernel
    assert counters["global_load_sectors"] == reads * counters["global_store_sectors"]


@pytest.mark.further
def test_layouts_are_estimated_beside_each_other():
    explorer = BankExplorer(cols=1024, pack=2)
    assert set(explorer.summary["estimated"]) == {"column", "row", "row_scalar"}
    assert "How long?" in explorer.times.value
    explorer.dtype = "float64"
    assert explorer.summary["estimated"] == {}
    assert "No estimate" in explorer.times.value
