"""Sweeps: the same answers in one process, in several and on a cluster; the thresholds that come out of them."""

from __future__ import annotations

import operator
import os
from itertools import pairwise

import numpy as np
import pytest

import softlab
from softlab.plans import sweeps
from softlab.plans.resources import Resources

pytest.importorskip("joblib")


def figures(instantiation, arch, options):
    return Resources(32, 64, 0, 0, "")


def test_cases_are_all_combinations():
    assert sweeps.cases(cols=[1, 2], dtype="float16", rows=np.array([3])) == [
        {"cols": 1, "dtype": "float16", "rows": 3},
        {"cols": 2, "dtype": "float16", "rows": 3},
    ]
    assert len(sweeps.cases(a=range(3), b=range(4), c=5)) == 12
    assert sweeps.cases(a=[], b=[1]) == []


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_a_sweep_keeps_the_order(chunk):
    over = sweeps.cases(threads=range(32, 1025, 32), registers=[32, 64, 128])
    found = sweeps.sweep(_blocks, over, chunk=chunk, progress=False)
    assert found == [softlab.occupancy("A100", **case).blocks_per_sm for case in over]
    assert sweeps.sweep(_blocks, [], progress=False) == []


def _blocks(**case):
    return softlab.occupancy("A100", **case).blocks_per_sm


def test_several_processes_give_the_same():
    over = sweeps.cases(threads=range(32, 1025, 32), registers=[32, 64])
    assert sweeps.sweep(_blocks, over, jobs=2, progress=False) == sweeps.sweep(_blocks, over, progress=False)


def test_a_failure_names_its_case():
    with pytest.raises(ValueError, match="threads = 0") as caught:
        sweeps.sweep(_blocks, sweeps.cases(threads=[32, 0], registers=8), progress=False)
    assert caught.value.__notes__ == ["in the case threads=0, registers=8"]
    with pytest.raises(ValueError, match="chunk = 0"):
        sweeps.sweep(_blocks, [], chunk=0)


def test_a_long_sweep_shows_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sweeps, "PROGRESS_AFTER", 0.0)
    over = [{"k": k} for k in range(100)]
    sweeps.sweep(_double, over, chunk=10)
    assert "100/100" in capsys.readouterr().err
    sweeps.plan_columns(range(1, 11), device="H200", lookup=figures)
    assert "10/10" in capsys.readouterr().err
    sweeps.sweep(_double, over, progress=False)
    assert capsys.readouterr().err == ""


def _double(k):
    return operator.mul(k, 2)


@pytest.mark.further
def test_the_thresholds_of_the_reference():
    """Where the kernel changes with the length of a row: nothing else decides it, for any of the operators."""
    for op, first_long in (("softmax", 1024), ("log_softmax", 1025)):
        table = sweeps.plan_columns(range(1000, 12_300), op=op, device="H200", lookup=figures, progress=False)
        found = [(change.at, change.before, change.after) for change in sweeps.changes(table, "kernel")]
        assert found == [(first_long, "warp", "block_smem"), (12_273, "block_smem", "block_uncached")]
    widths = sweeps.plan_columns(range(2, 130, 2), device="H200", lookup=figures, progress=False)
    found = [(change.at, change.after) for change in sweeps.changes(widths, "thread_group_width")]
    assert found == [(4, 2), (6, 4), (10, 8), (18, 16), (34, 32)]


def test_the_columns_are_the_plans():
    rows = {"rows": 77, "dtype": "float16", "device": "T4", "lookup": figures}
    table = sweeps.plan_columns([5, 3000, 50_000, 0], progress=False, **rows)
    for k, cols in enumerate((5, 3000, 50_000)):
        plan = softlab.plan(cols=cols, **rows)
        for name in sweeps.PLAN_COLUMNS:
            assert table[name][k] == getattr(plan, name)
        assert table["fraction"][k] == plan.occupancy.fraction
        assert table["limiters"][k].split() == list(plan.occupancy.limiters)
    assert (table["kernel"][3], table["blocks_per_sm"][3]) == ("none", 0)
    frame = pytest.importorskip("pandas").DataFrame(table)
    assert frame.shape == (4, len(sweeps.PLAN_COLUMNS) + 4)
    assert sweeps.columns([]) == {}


def test_a_column_has_its_own_type() -> None:
    rows = [{"of": 5, "share": 0.5, "name": "a", "width": None}, {"of": 7, "share": 1.0, "name": "b", "width": 3}]
    found = sweeps.columns(rows)
    assert "".join(column.dtype.kind for column in found.values()) == "ifUO"
    assert {name: column.tolist() for name, column in found.items()} == {
        name: [row[name] for row in rows] for name in rows[0]
    }


def test_changes_of_a_column():
    table = {"cols": np.array([1, 2, 3, 4]), "block_size": np.array([128, 128, 256, 128])}
    first, second = sweeps.changes(table, "block_size")
    assert (first.at, first.before, first.after) == (3, 128, 256)
    assert (second.at, type(second.after)) == (4, int)


def test_changes_of_random_columns():
    draw = np.random.default_rng(17)
    for size in (0, 1, 2, 9, 30):
        table = {
            "cols": np.zeros(size),
            "rows": np.cumsum(draw.integers(1, 5, size)),
            "grid": draw.integers(1, 4, size),
        }
        rows, grid = table["rows"].tolist(), table["grid"].tolist()
        edges = [k for k in range(1, size) if grid[k] != grid[k - 1]]
        found = [(one.at, one.column, one.before, one.after) for one in sweeps.changes(table, "grid", along="rows")]
        assert found == [(rows[k], "grid", grid[k - 1], grid[k]) for k in edges]
        runs = [(one.first, one.last, one.answers) for one in sweeps.intervals(table, ["grid"], along="rows")]
        assert runs == [
            (rows[begin], rows[end - 1], (grid[begin],)) for begin, end in pairwise([0, *edges, size]) if begin < end
        ]


def test_intervals_of_columns():
    table = {"cols": np.array([1, 2, 4, 5]), "kernel": np.array(["a", "a", "a", "b"]), "pack": np.array([1, 2, 2, 2])}
    found = [(each.first, each.last, each.answers) for each in sweeps.intervals(table, ["kernel", "pack"])]
    assert found == [(1, 1, ("a", 1)), (2, 4, ("a", 2)), (5, 5, ("b", 2))]
    assert sweeps.intervals({"cols": np.array([]), "kernel": np.array([])}, ["kernel"]) == ()


@pytest.mark.further
def test_on_a_dask_cluster():
    """Two workers in processes of their own, found through joblib's configuration alone."""
    distributed = pytest.importorskip("distributed")
    import joblib

    over = sweeps.cases(rows=64, cols=range(1, 2000, 9), dtype=["float16", "float32"], device="A100", lookup=[figures])
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        found = sweeps.sweep(softlab.plan, over, progress=False)
        processes = set(sweeps.sweep(_process, [{}] * 8, chunk=1, progress=False))
    assert found == [softlab.plan(**case) for case in over]
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes


def _process():
    return os.getpid()
