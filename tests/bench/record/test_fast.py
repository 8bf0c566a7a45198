"""The recording of policy "fast", and what the ladder's page says of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlab.bench import recordings
from softlab.bench.record import fast, fast_peers
from softlab.bench.record.fast_workloads import COLS, FEW_COLS, FEW_ROWS, INPUT_BYTES, Workload, workloads

RECORDED = recordings.load("fast_h200")
SHORT_OF_MEGABYTES = [cols for cols in COLS if cols <= 151_936]


def column(table: str, peer: str, field: str = "gigabytes_per_second", **of: object) -> dict[tuple[int, int], float]:
    """(rows, cols) -> figure of a peer."""
    found = recordings.select(RECORDED.tables[table], peer=peer, **of)
    return {(int(r), int(c)): float(v) for r, c, v in zip(found["rows"], found["cols"], found[field], strict=True)}


def ceiling(table: str, **of: object) -> float:
    """The copy's speed where its size is a power of two; the copy of an odd size is slower."""
    return float(np.median([speed for speed in column(table, "copy", **of).values() if speed > 3500]))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_forward_is_as_near_the_copy_as_the_page_says(op: str, dtype: str) -> None:
    fast = column("forward", "fast", op=op, dtype=dtype)
    assert sorted(cols for _, cols in fast) == sorted(COLS)
    parts = {cols: speed / ceiling("forward", op=op, dtype=dtype) for (_, cols), speed in fast.items()}
    assert min(parts[cols] for cols in SHORT_OF_MEGABYTES) > 0.96
    assert min(parts.values()) > 0.9, "megabytes a row, shared by the whole GPU, too"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_no_peer_is_far_ahead(dtype: str) -> None:
    """QuACK is at most 1 % ahead in 16-bit rows of 32 768 columns."""
    fast = column("forward", "fast", op="softmax", dtype=dtype)
    peers = [name for name in fast_peers.PEERS if name not in ("copy", "fast")]
    best = {at: max(column("forward", peer, op="softmax", dtype=dtype).get(at, 0) for peer in peers) for at in fast}
    parts = {cols: fast[rows, cols] / best[rows, cols] for rows, cols in fast}
    assert min(parts.values()) > 0.98
    assert parts[32_768] > 0.989
    assert min(part for cols, part in parts.items() if cols > 8192 and cols != 32_768) > 0.995


def test_the_cells_behind_a_peer_are_as_many_as_the_page_says() -> None:
    behind = 0
    for dtype in ("float32", "float16", "bfloat16"):
        for op in ("softmax", "log_softmax"):
            fast = column("forward", "fast", op=op, dtype=dtype)
            peers = [column("forward", name, op=op, dtype=dtype) for name in fast_peers.PEERS if name != "copy"]
            behind += sum(fast[at] < max(peer.get(at, 0) for peer in peers) for at in fast)
    assert behind == 13


def test_few_rows_are_ahead_of_every_peer_but_quack() -> None:
    behind = set()
    for dtype in ("float32", "float16", "bfloat16"):
        fast = column("few", "fast", "microseconds", dtype=dtype)
        assert sorted(fast) == [(rows, cols) for rows in FEW_ROWS for cols in FEW_COLS]
        for peer in ("oneflow", "torch", "liger", "triton", "quack"):
            others = column("few", peer, "microseconds", dtype=dtype)
            behind |= {(peer, dtype, *at) for at, spent in others.items() if fast[at] >= spent}
    assert {peer for peer, *_ in behind} == {"quack"}
    assert len(behind) == 3


def test_every_peer_of_the_recording_has_a_version_or_is_softlab() -> None:
    measured = set(RECORDED.tables["forward"]["peer"]) - {"copy", "fast", "oneflow"}
    named = {
        "torch": "PyTorch",
        "inductor": "PyTorch",
        "cudnn": "cuDNN",
        "liger": "Liger",
        "quack": "QuACK",
        "flashinfer": "FlashInfer",
        "triton": "Triton",
        "jax": "JAX",
        "cupy": "CuPy",
    }
    assert {named[peer] for peer in measured} <= set(RECORDED.versions)


def test_a_cell_counts_each_input_once() -> None:
    assert Workload("forward", "softmax", "float16", 10, 20).nbytes == 2 * 10 * 20 * 2
    assert Workload("gradients", "softmax_backward", "float64", 10, 20).nbytes == 3 * 10 * 20 * 8


def test_every_cell_is_planned() -> None:
    """Problems of 256 MiB, and those with few rows, for each dtype."""
    cells = list(workloads())
    assert len(cells) == 4 * 4 * len(COLS) + 3 * len(FEW_COLS) * len(FEW_ROWS)
    assert all(cell.rows * cell.cols * 8 <= INPUT_BYTES * 4 for cell in cells)


def test_what_is_not_measured() -> None:
    slow = [1024]
    wanted = fast.wanted
    assert wanted(Workload("forward", "softmax", "float32", 1, 1024), "quack", slow)
    assert not wanted(Workload("forward", "softmax", "float32", 1, 1023), "quack", slow)
    assert not wanted(Workload("few", "softmax", "float32", 1, 1024), "jax", slow)
    assert not wanted(Workload("forward", "softmax", "float64", 1, 1024), "liger", slow)


def test_peers_refuse_what_they_do_not_have() -> None:
    output = SimpleNamespace(shape=(2, 3), dtype="float32", element_size=lambda: 4)
    for peer in (fast_peers.torch_compiled, fast_peers.triton_rows, fast_peers.jax_compiled):
        with pytest.raises(fast_peers.Refused):
            peer("softmax_backward", [None, None], output)


def test_the_command_of_a_recording_names_every_option(monkeypatch, tmp_path) -> None:
    class Stopped(Exception):
        pass

    def measured(name, command, selection, slow_cols, report):
        assert slow_cols == [32, 1024]
        raise Stopped(command)

    monkeypatch.setattr(fast, "recorded", measured)
    with pytest.raises(Stopped, match=r"record.fast a.json --peers fast,quack --slow-cols 32,1024$"):
        fast.main([str(tmp_path / "a.json"), "--slow-cols", "32,1024", "--peers", "fast,quack"])
