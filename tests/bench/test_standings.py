"""Standings of a recording made up by hand: shares and ratios that can be worked out in the head."""

from __future__ import annotations

import pytest

from softlab.bench import recordings, standings
from softlab.bench.record.fast import TABLE_KEYS, wanted
from softlab.bench.record.fast_workloads import Workload, workloads
from softlab.bench.recordings import Recording, table_of
from softlab.bench.selections import EVERYTHING, Selection


def rows(table: str, op: str, dtype: str, cols: int, n: int, **microseconds: float) -> list[tuple[str, dict]]:
    """Launches that move a million bytes each: 1 us is 1000 GB/s."""
    return [
        (table, {"op": op, "dtype": dtype, "peer": peer, "kernel": "fast_warp" if peer == "fast" else "", "cols": cols,
                 "rows": n, "microseconds": spent, "gigabytes_per_second": 1000 / spent})
        for peer, spent in microseconds.items()
    ]  # fmt: skip


ROWS = [
    *rows("forward", "softmax", "float32", 64, 9, copy=1.0, fast=1.25, torch=2.5, oneflow=1.0),
    *rows("forward", "softmax", "float32", 1023, 7, copy=2.0, fast=1.0, torch=4.0, quack=3.0),
    *rows("forward", "softmax", "float16", 64, 9, copy=1.0, fast=2.0),
    *rows("gradients", "softmax_backward", "float32", 64, 9, copy=1.0, fast=1.0, torch=1.5),
    *rows("few", "softmax", "float32", 64, 1, copy=3.0, fast=4.0, torch=8.0),
    *rows("few", "softmax", "float32", 64, 8, copy=4.0, fast=8.0, torch=4.0),
    *rows("few", "softmax", "float32", 128, 8, torch=4.0),
]


def made(name: str = "made", first: int = 64) -> Recording:
    """``first`` columns instead of the 64 above."""
    tables = {of: table_of([row for table, row in ROWS if table == of]) for of in ("forward", "gradients", "few")}
    for table in tables.values():
        table["cols"][table["cols"] == 64] = first
    return Recording(name, "about", "NVIDIA H200", "2026-01-02", "a command", "method", {"driver": "1"}, "s", tables)


@pytest.fixture
def recording() -> Recording:
    return made()


def test_cells_are_held_to_the_copy_and_to_the_best_peer(recording):
    found = standings.comparisons(recording, Selection.of(tables="forward"))
    assert [(c.op, c.dtype, c.cols, c.best_peer) for c in found] == [
        ("softmax", "float32", 64, "oneflow"), ("softmax", "float32", 1023, "quack"), ("softmax", "float16", 64, None),
    ]  # fmt: skip
    assert [c.of_copy() for c in found] == pytest.approx([0.8, 1.0, 0.5]), "the copy of 1023 columns is no ceiling"
    assert [c.times_best for c in found] == [0.8, 3.0, None]


def test_few_rows_have_the_copy_of_their_own_size(recording):
    found = standings.comparisons(recording, Selection.of(tables="few"))
    assert [(c.rows, c.of_copy(), c.times_best) for c in found] == [(1, 0.75, 2.0), (8, 0.5, 0.5)]


def test_summaries(recording):
    summary, *others = standings.summaries(standings.comparisons(recording))
    assert (summary.cells, summary.ahead, summary.compared) == (2, 1, 2)
    assert (summary.least_of_copy, summary.median_of_copy) == pytest.approx((0.8, 0.9))
    assert (summary.least_times_best, summary.median_times_best) == pytest.approx((0.8, 1.9))
    assert [(s.table, s.dtype) for s in others] == [
        ("forward", "float16"), ("gradients", "float32"), ("few", "float32"),
    ]  # fmt: skip
    assert (others[0].least_times_best, others[0].compared) == (None, 0)


def test_a_selection_of_peers_changes_who_is_best(recording):
    found = standings.comparisons(recording, Selection.of(tables="forward", dtypes="float32", peers="fast,torch"))
    assert [(c.best_peer, c.times_best) for c in found] == [("torch", 2.0), ("torch", 4.0)]


def test_what_is_narrowed_and_written_says_the_same_when_it_is_read(recording, tmp_path):
    selection = Selection.of(ops="softmax", cols="1023", dtypes="float32")
    path = tmp_path / "part.json"
    recordings.write(path, standings.narrowed(recording, selection), TABLE_KEYS)
    part = recordings.opened(str(path))
    assert standings.comparisons(part) == standings.comparisons(recording, selection)
    assert set(part.tables) == {"forward"}
    assert part.tables["forward"]["peer"].tolist().count("copy") == 2, "that of 64 columns is the ceiling"


def test_changes_are_of_problems_that_both_have(recording):
    old = standings.comparisons(recording, Selection.of(dtypes="float32"))
    (change,) = standings.speedups(old[1:2], standings.comparisons(recording, Selection.of(tables="forward")))
    assert (change.new.cols, change.times) == (1023, 1.0)


def test_panels(recording):
    wide, half, gradient, few = standings.panels(standings.comparisons(recording))
    assert wide[:3] == ("softmax, float32", "columns", "device copy")
    assert list(wide[3]) == ["softlab, fast", "softlab, oneflow", "PyTorch", "QuACK"]
    assert wide[3]["softlab, fast"] == [(64, 0.8, 1.25, "fast_warp"), (1023, 1.0, 1.0, "fast_warp")]
    assert list(half[3]) == ["softlab, fast"]
    assert gradient[2] == "sum of two arrays"
    assert few[:2] == ("softmax, float32, rows of 64 columns", "rows")
    assert few[3]["PyTorch"] == [(1, 0.375, 8.0, "PyTorch"), (8, 1.0, 4.0, "PyTorch")]


def test_selections_say_what_there_is():
    for words, message in (
        ({"ops": "softmx"}, "no operator 'softmx': .* Did you mean 'softmax'"), ({"dtypes": "f32"}, "no dtype 'f32'"),
        ({"peers": "tourch"}, "Did you mean 'torch'"), ({"cols": "1k"}, "cols = 1k: whole numbers"),
        ({"cols": "0"}, "at least one column"), ({"tables": "all"}, "forward, gradients, few"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            Selection.of(**words)
    assert Selection.of(cols=" 32, 64,32 ").cols == (32, 64)


def test_any_row_length_can_be_measured_and_a_ceiling_with_it():
    selection = Selection.of(tables="forward", ops="softmax", dtypes="float16", cols="777", peers="fast,torch")
    odd, ceiling = workloads(selection)
    assert (odd.cols, odd.rows, ceiling.cols) == (777, 2**27 // 777, 4096)
    names = ("copy", "fast", "oneflow", "torch")
    assert [name for name in names if wanted(odd, name, (), selection)] == ["copy", "fast", "torch"]
    assert [name for name in names if wanted(ceiling, name, (), selection)] == ["copy"]
    chosen = Selection.of(tables="forward", ops="softmax", dtypes="float16", cols="777,64")
    assert [c.cols for c in workloads(chosen)] == [
        777, 64,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="33554432 of float64 are all"):
        list(workloads(Selection.of(cols="67108864")))
    assert len(list(workloads(Selection.of(cols="67108864", dtypes="float32", tables="forward")))) == 2


def test_nothing_asked_for_is_everything_on_the_page():
    few = [cell for cell in workloads(EVERYTHING) if cell.table == "few"]
    assert few[:2] == [
        Workload("few", "softmax", "float32", 1, 32_000),
        Workload("few", "softmax", "float32", 8, 32_000),
    ]
    assert list(workloads(Selection.of(tables="few", ops="log_softmax"))) == []


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"tables": {"forward": {}}}'])
def test_what_is_no_recording_is_told_by_name(tmp_path, text):
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"wrong\.json is no recording"):
        recordings.opened(str(path))
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        recordings.opened(str(tmp_path / "none.json"))
