"""Launch overhead: what was recorded, and on a GPU that it can be recorded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from softlab.bench import recordings
from softlab.bench.record import launch_overhead


@pytest.fixture
def recorded() -> dict[str, float]:
    table = recordings.load("launch_overhead_h200").tables["calls"]
    return dict(zip(table["call"].tolist(), table["microseconds"].tolist(), strict=True))


def test_a_call_costs_no_more_than_pytorchs(recorded: dict[str, float]) -> None:
    """The aims of the operators: with out= at most PyTorch's, without it at most 1.5 times PyTorch's."""
    assert recorded["softlab.softmax, out="] <= recorded["torch.softmax, out="]
    assert recorded["softlab.softmax"] <= 1.5 * recorded["torch.softmax"]


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_overhead.softlab.Device, "present", staticmethod(lambda: None))
    assert launch_overhead.main([]) == 1
    assert "no NVIDIA GPU" in capsys.readouterr().err


@pytest.mark.gpu
def test_it_can_be_recorded_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_overhead, "SPANS", 3)
    monkeypatch.setattr(launch_overhead, "CALLS", 5)
    path = tmp_path / "again.json"
    assert launch_overhead.main([str(path)]) == 0
    table = recordings.read(path).tables["calls"]
    assert "softlab.softmax, out=" in table["call"]
    assert (table["low"] <= table["microseconds"]).all()
    assert "cupy.empty_like" in capsys.readouterr().out
