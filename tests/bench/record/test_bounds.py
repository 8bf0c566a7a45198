"""The cells whose counters are recorded are the slowest of each kernel in the recording."""

from __future__ import annotations

from softlab.bench import recordings
from softlab.bench.record import bounds


def row(kernel: str, speed: float, cols: int, *, op: str = "softmax", dtype: str = "float32", peer: str = "fast"):
    return {
        "op": op, "dtype": dtype, "peer": peer, "kernel": kernel, "cols": cols, "rows": 7, "microseconds": 1.0,
        "gigabytes_per_second": speed,
    }  # fmt: skip


def test_the_slowest_cell_of_each_kernel():
    forward = [
        row("fast_warp", 4000.0, 32), row("fast_warp", 3900.0, 64), row("fast_warp", 3000.0, 96, dtype="float64"),
        row("fast_block", 3800.0, 2048), row("block_smem", 100.0, 2048, peer="oneflow"),
    ]  # fmt: skip
    gradients = [row("fast_warp", 3950.0, 128, op="softmax_backward")]
    tables = {name: recordings.table_of(rows) for name, rows in (("forward", forward), ("gradients", gradients))}
    recording = recordings.Recording("a", "", "", "", "", "", {}, "", tables)
    found = [(kernel, cell.table, cell.dtype, cell.cols) for kernel, cell in bounds.slowest(recording)]
    assert found == [
        ("fast_block", "forward", "float32", 2048),
        ("fast_warp", "forward", "float32", 64),
        ("fast_warp", "forward", "float64", 96),
        ("fast_warp", "gradients", "float32", 128),
    ]


def speeds(recording: recordings.Recording) -> dict[tuple[str, str, str, int], float]:
    """GB/s of policy "fast" by kernel, operator, dtype and columns."""
    found = {}
    for name in ("forward", "gradients"):
        fast = recordings.select(recording.tables[name], peer="fast")
        *keys, speed = (fast[column].tolist() for column in ("kernel", "op", "dtype", "cols", "gigabytes_per_second"))
        found |= dict(zip(zip(*keys, strict=True), speed, strict=True))
    return found


def test_the_recorded_counters_are_of_the_recorded_speeds():
    """A kernel or a threshold that changed the slowest cells asks for counters of those.

    Both are records of their own, and two runs of one cell differ by one percent: so the counted cell of a kernel may
    be that much faster than its slowest one.
    """
    recording = recordings.load("fast_h200")
    counted = recordings.load("bounds_h200").tables["bounds"]
    cells = list(zip(*(counted[name].tolist() for name in ("kernel", "op", "dtype", "cols")), strict=True))
    speed = speeds(recording)
    slowest = {
        (kernel, cell.table == "gradients", cell.dtype == "float64"): speed[kernel, cell.op, cell.dtype, cell.cols]
        for kernel, cell in bounds.slowest(recording)
    }
    classes = {cell: (cell[0], cell[1].endswith("backward"), cell[2] == "float64") for cell in cells}
    assert set(classes.values()) == set(slowest)
    assert [cell for cell in cells if speed[cell] > slowest[classes[cell]] * 1.01] == []
