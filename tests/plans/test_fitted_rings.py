"""Blocks of the ring that fit the row: where the plan takes them, and what stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import Plan, fast, fast_ring
from softlab.plans.fast_limits import GRID_BLOCK
from softlab.plans.fast_ring import RingShape, fitted, ring_shape
from softlab.plans.fast_rows import Row, row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources

H200 = Device.named("H200")
#: Types and operators whose thread times were measured, and doubles.
MEASURED = [(dtype, op) for dtype in ("float16", "bfloat16", "float32") for op in OPERATORS if "softmax" in op]


def taken(*_: object) -> Resources:
    """Every kernel takes 64 registers: nothing is compiled."""
    return Resources(64, 2048, 0, 0, "")


def made(rows: int, cols: int, dtype: str, op: str, device: Device | str = H200) -> Plan:
    return plans.plan(rows, cols, dtype, op=op, policy="fast", device=device, lookup=taken)


def asked(rows: int, cols: int, dtype: str = "float32", op: str = "softmax", device: Device = H200) -> PlanRequest:
    return PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], device, lookup=taken, policy="fast")


def shapes(rows: int, cols: int, dtype: str = "float32", op: str = "softmax", device: Device = H200
           ) -> tuple[PlanRequest, Row, RingShape, RingShape]:  # fmt: skip
    """A request, its row, the ring for blocks of GRID_BLOCK threads, and the fitted one."""
    request = asked(rows, cols, dtype, op, device)
    row = row_of(request, StepLog())
    ring = ring_shape(request, row)
    assert ring
    return request, row, ring, fitted(request, row, ring)


def problems(count: int) -> Iterator[tuple[int, int, str, str]]:
    """256 MiB of each input in rows of 2^17.3 to 2^24 columns."""
    draw = Random(9)
    for _ in range(count):
        cols = int(2 ** draw.uniform(17.3, 24))
        dtype, op = draw.choice(MEASURED)
        yield (1 << 28) // (cols * element_type(dtype).itemsize), cols, dtype, op


def test_blocks_that_fit_change_neither_the_kernel_nor_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    fitting = {problem: made(*problem) for problem in problems(150)}
    monkeypatch.setattr(fast, "fitted", lambda request, row, shape: shape)
    changed = 0
    for problem, plan in fitting.items():
        plain = made(*problem)
        assert (plan.kernel, plan.read_again, plan.cooperative) == (plain.kernel, plain.read_again, plain.cooperative)
        changed += plan.name != plain.name
        if plan.name != plain.name:
            assert plan.kernel == "fast_ring"
    assert changed > 25


def test_an_h100_keeps_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory gives an SM 25 GB/s instead of 36, and its threads are as fast: 512 of them keep up with it."""
    names = [made(*problem, device="H100").name for problem in problems(150)]
    monkeypatch.setattr(fast, "fitted", lambda request, row, shape: shape)
    assert names == [made(*problem, device="H100").name for problem in problems(150)]


@pytest.mark.parametrize(("dtype", "op"), MEASURED)
def test_only_memory_decides_whether_threads_count(dtype: str, op: str) -> None:
    """An H200 with the memory of an H100 keeps its blocks of 512, too. With twice its memory no type does."""
    for share, counts in ((3350 / 4800, False), (1.0, True), (2.0, True)):
        device = replace(H200, memory_bandwidth=int(share * (H200.memory_bandwidth or 0)))
        request, row, *_ = shapes(100, 700_001, dtype, op, device)
        assert fast_ring._threads_count(request, row, fast_ring.THREAD_TIMES[request.element.itemsize, row.inputs]) is (
            counts
        ), (dtype, op, share)


def test_a_fitted_block_has_fewer_idle_threads() -> None:
    """Two packs of 512 threads leave a third of them idle. Blocks of 576 take one row at once more, and fill 0.97."""
    _, row, ring, fits = shapes(191, 349_700, op="softmax_backward")
    assert (ring.block_size, ring.packs) == (GRID_BLOCK, 2)
    assert ring.filled(row) == pytest.approx(349_700 // 4 / (ring.blocks_per_row * 512 * 2))
    assert fits.block_size != GRID_BLOCK
    assert ring.filled(row) < 0.7 < 0.9 < fits.filled(row)


def test_a_fitted_block_saves_time_by_the_prediction_and_holds_the_row_with_its_answer() -> None:
    fitting = 0
    for problem in problems(150):
        request = asked(*problem)
        row = row_of(request, StepLog())
        ring = ring_shape(request, row)
        if ring is None or row.packs <= row.limits.grid.beyond:
            continue
        fits = fitted(request, row, ring)
        if fits is ring:
            continue
        fitting += 1
        times = fast_ring.THREAD_TIMES[request.element.itemsize, row.inputs]
        old, new = (fast_ring._microseconds(request, row, shape, times) for shape in (ring, fits))
        assert new < (1 - times.gain) * old
        assert fits.block_size in fast_ring.FITTED_BLOCKS
        assert fits.groups <= ring.groups + fast_ring.MORE_GROUPS
        assert request.rows >= fast_ring.FITTED_ITERATIONS * fits.groups
        assert (fits.again, fits.kept, fits.late) == (0, 0, 0)
        assert fits.row_steps >= times.steps
        assert fits.row_steps * fits.per_step <= fits.stages - fits.ahead * fits.per_step
    assert fitting > 25


def test_few_rows_doubles_and_rows_beyond_the_ring_stay_as_they_are() -> None:
    for rows, cols, dtype, op in (
        (20, 299_981, "float32", "softmax"), (5, 700_000, "float16", "softmax_backward"),
        (100, 700_000, "float64", "log_softmax"), (30, 8_000_000, "float32", "softmax"),
        (30, 30_000_000, "float16", "softmax"),
    ):  # fmt: skip
        _, _, ring, fits = shapes(rows, cols, dtype, op)
        assert fits is ring, (rows, cols, dtype, op)
    (_, _, ring, few), (_, _, same, enough) = (shapes(rows, 349_700, op="softmax_backward") for rows in (7, 160))
    assert few is ring
    assert enough is not same


def test_a_ring_of_unknown_memory_is_planned_as_an_h200s() -> None:
    unknown = replace(H200, memory_bandwidth=None)
    for problem in problems(20):
        assert made(*problem, device=unknown).name == made(*problem).name


def test_the_time_of_threads_grows_with_their_packs_and_with_the_block() -> None:
    times = fast_ring.ThreadTime(0.5, 0.1, 0.2, 2, 0.02)
    assert times.of_packs(3, 512) == pytest.approx(0.9)
    assert times.of_packs(3, 768) == pytest.approx(1.2)
    assert times.of_packs(6, 512) == pytest.approx(1.8)


def test_the_prediction_by_hand() -> None:
    """One group of 132 blocks: memory and threads of a row, as the cube root of their cubes, and the lag one way."""
    request, row, ring, _ = shapes(64, 1 << 20)
    assert (ring.groups, ring.row_steps, ring.per_step, ring.stages, ring.ahead) == (1, 2, 2, 16, 1)
    bandwidth = 0.88 * 4.8e6  # bytes per microsecond
    memory = 2 * 4 * (1 << 20) / bandwidth
    threads = 4 * (0.1 + 0.155)
    lag = 14 * 512 * 132 * 32 / bandwidth
    expected = 64 * (memory**3 + threads**3) ** (1 / 3) + 0.3 * lag
    times = fast_ring.THREAD_TIMES[4, 1]
    assert fast_ring._microseconds(request, row, ring, times) == pytest.approx(expected)
    unaligned, narrow, _, _ = shapes(64, (1 << 20) + 1)
    more = fast_ring._microseconds(unaligned, narrow, ring, times)
    threads += fast_ring.UNALIGNED_MICROSECONDS
    assert more == pytest.approx(64 * (memory**3 + threads**3) ** (1 / 3) + 0.3 * lag)
    two = replace(ring, groups=2)
    assert fast_ring._microseconds(request, row, two, times) == pytest.approx(
        32 * ((2 * 1.006 * memory) ** 3 + (threads - fast_ring.UNALIGNED_MICROSECONDS) ** 3) ** (1 / 3) + 0.3 * lag
    )
