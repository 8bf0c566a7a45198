"""Records of runs: what a file keeps of them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.traces import Accesses, Run, Shuffles


def assert_equal(one: object, other: object) -> None:
    """Field by field; arrays by dtype, shape and value."""
    assert type(one) is type(other)
    for column in fields(one):  # type: ignore[arg-type]
        mine, others = getattr(one, column.name), getattr(other, column.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == others.dtype, column.name
            assert np.array_equal(mine, others), column.name
        elif isinstance(mine, Accesses | Shuffles) or column.name == "instructions":
            assert_equal(mine, others)
        else:
            assert mine == others, column.name


@pytest.mark.parametrize("cols", [100, 2048])  # shuffles only; shared memory, barriers and fused accesses, too
def test_a_saved_run_is_the_run(tmp_path: Path, cols: int) -> None:
    run = softlab.trace(np.random.default_rng(0).standard_normal((3, cols)).astype(np.float32)).run
    assert len(run.shuffles)
    assert len(run.global_)
    path = tmp_path / "run"
    run.save(path)
    loaded = Run.load(path)
    assert_equal(run, loaded)
    assert loaded.counters == run.counters
    assert loaded.by_line() == run.by_line()


def test_a_run_without_counters(tmp_path: Path) -> None:
    run = Run(executor="gpu", grid=(1, 1, 1), block=(32, 1, 1), arch="sm_90", file="k.cu", source="// empty")
    run.save(tmp_path / "gpu.npz")
    loaded = Run.load(tmp_path / "gpu.npz")
    assert loaded.instructions is None
    assert loaded.counters == {}
    assert loaded.block == (32, 1, 1)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text, arrays = tmp_path / "text", tmp_path / "arrays.npz"
    text.write_text("no run")
    np.savez(arrays, x=np.zeros(3))
    for path in (text, arrays):
        with pytest.raises(ValueError, match="not a run that softlab saved"):
            Run.load(path)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(executor="gpu", grid=(1, 1, 1), block=(1, 1, 1), arch="sm_90", file="k.cu", source="")
    monkeypatch.setattr("softlab.traces._FORMAT", 0)
    run.save(tmp_path / "old")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has the format 0"):
        Run.load(tmp_path / "old")
