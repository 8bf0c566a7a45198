"""Blocks and steps of the ring that fit the row: where the plan takes them, and what stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import Plan, fast, fast_ring, long_rows
from softlab.plans.fast_limits import GRID_BLOCK, Cut
from softlab.plans.fast_ring import RingShape, fitted, ring_shape, stepped
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


def rings(count: int) -> Iterator[tuple[PlanRequest, Row, RingShape]]:
    """The rings of those problems that have one."""
    for problem in problems(count):
        request = asked(*problem)
        row = row_of(request, StepLog())
        ring = ring_shape(request, row)
        if ring is not None and row.packs > row.limits.grid.beyond:
            yield request, row, ring


def same_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on a ring has other steps, but no cluster takes its place, and no ring that of a cluster."""

    def steps_alone(request: PlanRequest, row: Row, found: Cut | RingShape) -> Cut | RingShape:
        return found if isinstance(found, Cut) else stepped(request, row, found)

    monkeypatch.setattr(long_rows, "quickest", steps_alone)


def plain_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on rings have blocks of GRID_BLOCK threads, and steps of STEPS packs."""
    for place, name in ((fast, "fitted"), (long_rows, "quickest")):
        monkeypatch.setattr(place, name, lambda request, row, shape: shape)


def test_blocks_that_fit_change_neither_the_kernel_nor_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    same_kernels(monkeypatch)
    fitting = {problem: made(*problem) for problem in problems(150)}
    plain_rings(monkeypatch)
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
    plain_rings(monkeypatch)
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
    for request, row, ring in rings(150):
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


def steps_of(rows: int, cols: int, dtype: str, op: str, device: Device = H200
             ) -> tuple[PlanRequest, Row, RingShape, RingShape]:  # fmt: skip
    """A request, its row, the fitted ring, and the one whose steps suit the row."""
    request, row, _, fits = shapes(rows, cols, dtype, op, device)
    return request, row, fits, stepped(request, row, fits)


def test_a_forward_row_is_one_step_of_more_packs() -> None:
    """Four steps of two packs, the last of them a third full, become one of three."""
    _, row, fits, steps = steps_of(148, 902_496, "float16", "log_softmax")
    assert (fits.per_step, fits.row_steps) == (2, 4)
    assert (steps.per_step, steps.row_steps) == (3, 1)
    assert fits.filled(row) < 0.85 < 0.95 < steps.filled(row)


def test_other_steps_save_time_by_the_prediction_and_bring_not_too_much() -> None:
    changed = {(size, inputs, ends): 0 for size in (2, 4) for inputs in (1, 2) for ends in (False, True)}
    for request, row, ring in rings(300):
        fits = fitted(request, row, ring)
        steps = stepped(request, row, fits)
        if steps is fits:
            continue
        kind = request.element.itemsize, row.inputs
        changed[*kind, row.unaligned] += 1
        old, new = (fast_ring.stepped_microseconds(request, row, shape) for shape in (fits, steps))
        assert new < (1 - fast_ring.STEP_GAIN) * old or fits.row_steps * fits.per_step < fast_ring.FEWEST_PACKS
        assert (steps.kept, steps.again, steps.late) == (0, 0, 0)
        under_way = (steps.ahead + steps.fetched) * steps.per_step * row.inputs * steps.block_size * 16
        assert under_way <= fast_ring.STEP_UNDER_WAY[row.inputs]
        assert steps.row_steps == 1 or row.inputs == 2
        assert steps.row_steps * steps.per_step >= 2
        assert request.rows >= fast_ring.STEP_ITERATIONS * steps.groups
        assert request.cols >= fast_ring.STEP_COLUMNS[kind[0]]
        assert steps.block_size in fast_ring.STEP_BLOCKS[row.inputs]
    assert min(changed.values()) > 0, changed


@pytest.mark.parametrize(("dtype", "cols"), [("float32", 264_384), ("bfloat16", 521_096)])
def test_a_row_of_one_pack_gives_way_to_any_other_shape(dtype: str, cols: int) -> None:
    """Its prediction is too good: it promised to lose less than STEP_GAIN, and lost 4 and 9 % (H200, 2026-12-01)."""
    rows = (1 << 28) // (cols * element_type(dtype).itemsize)
    request, row, fits, steps = steps_of(rows, cols, dtype, "log_softmax_backward")
    times = [fast_ring.stepped_microseconds(request, row, shape) for shape in (fits, steps)]
    assert fits.row_steps * fits.per_step == 1
    assert steps.row_steps * steps.per_step >= 2
    assert times[1] > (1 - fast_ring.STEP_GAIN) * times[0]


def waited_bytes(row: Row, shape: RingShape) -> float:
    """What an SM moves from the last step of a row to its first result."""
    waited = shape.lag - shape.row_steps * shape.per_step
    return waited * shape.block_size * 16 * (row.inputs + 1)


def test_gradients_in_several_groups_wait_for_fewer_bytes_where_that_promises_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = asked(180, 745_580, "float16", "softmax_backward")
    row = row_of(request, StepLog())
    shorter = fast_ring.best_of_steps(request, row)
    monkeypatch.setattr(fast_ring, "ANSWER_BYTES_OF_GROUPS", fast_ring.ANSWER_BYTES)
    longer = fast_ring.best_of_steps(request, row)
    assert shorter
    assert longer
    assert shorter.groups > 1
    assert 144 * 1024 <= waited_bytes(row, shorter) < 160 * 1024 <= waited_bytes(row, longer)
    times = [fast_ring.stepped_microseconds(request, row, shape) for shape in (shorter, longer)]
    assert times[0] * (1 + fast_ring.SHORT_ANSWER) < times[1]


def test_other_gradients_wait_for_all_bytes_of_an_answer() -> None:
    shorter = 0
    for request, row, ring in rings(300):
        fits = fitted(request, row, ring)
        steps = stepped(request, row, fits)
        if steps is fits:
            continue
        several = steps.groups > 1 and row.inputs > 1
        assert waited_bytes(row, steps) >= (144 if several else 160) * 1024
        shorter += waited_bytes(row, steps) < 160 * 1024
    assert shorter > 0


def test_few_rows_doubles_rows_beyond_the_ring_and_an_h100_keep_their_steps() -> None:
    h100 = Device.named("H100")
    for rows, cols, dtype, op, device in (
        (30, 563_488, "float16", "log_softmax", H200), (238, 563_488, "float16", "log_softmax", h100),
        (335, 130_000, "float32", "softmax", H200),
        (10, 700_000, "float64", "log_softmax", H200), (40, 8_000_000, "float32", "softmax", H200),
        (30, 30_000_000, "float16", "softmax", H200),
    ):  # fmt: skip
        _, _, fits, steps = steps_of(rows, cols, dtype, op, device)
        assert steps is fits, (rows, cols, dtype, op)


def test_two_steps_of_prefetches_only_where_memory_can_follow() -> None:
    """Three steps of 24 KiB may be under way, but not three of 32 KiB."""
    request = asked(64, 1 << 20)
    row = row_of(request, StepLog())
    fetched = {}
    for packs in (2, 3, 4):
        shape = fast_ring._shape(request, row, 1, 0, 512, packs)
        assert shape
        fetched[packs] = shape.fetched
    assert fetched == {2: 2, 3: 2, 4: 1}


def test_the_prediction_of_steps_by_hand() -> None:
    """One group of 132 blocks, a row of one step of three packs per thread."""
    request = asked(97, 686_712, op="log_softmax")
    row = row_of(request, StepLog())
    shape = fast_ring._shape(request, row, 1, 0, 512, 3)
    assert shape
    assert (shape.row_steps, shape.stages) == (1, 18)
    bandwidth = 0.906 * 4.8e6  # bytes per microsecond
    memory, lag = 2 * 4 * 686_712 / bandwidth, 15 * 512 * 132 * 32 / bandwidth
    threads = 0.27 + 3 * 0.215
    expected = 97 * (memory**6 + threads**6) ** (1 / 6) + 0.3 * lag
    assert fast_ring.stepped_microseconds(request, row, shape) == pytest.approx(expected)
    unaligned = asked(97, 686_713, op="log_softmax")
    ends = 0.5 + 0.3
    assert fast_ring.stepped_microseconds(unaligned, row_of(unaligned, StepLog()), shape) == pytest.approx(
        97 * (memory**6 + threads**6 + ends**6) ** (1 / 6) + 0.3 * lag
    )
    request = asked(97, 2 * 686_712, "float16", "log_softmax")
    threads = 0.25 + 0.27 + 3 * 0.215 * 0.77
    assert fast_ring.stepped_microseconds(request, row_of(request, StepLog()), shape) == pytest.approx(
        97 * (memory**6 + threads**6) ** (1 / 6) + 0.3 * lag
    )


@pytest.mark.parametrize("device", ["H200", "GH200", "B200", "H100", "H100 PCIe", "RTX 5090"])
def test_blocks_with_packs_in_registers_take_stripes_where_memory_is_fast(device: str) -> None:
    gpu, kept = Device.named(device), set()
    for rows, cols, dtype, op in problems(60):
        request = asked(rows, cols, dtype, op, gpu)
        row = row_of(request, StepLog())
        shape = ring_shape(request, row)
        if shape is None:
            continue
        kept.add(shape.kept > 0)
        assert shape.stripes is (shape.kept > 0 and device in ("H200", "GH200", "B200"))
        plan = made(rows, cols, dtype, op, gpu)
        if plan.kernel == "fast_ring" and shape.kept:
            assert plan.name.split(", ")[-2] == str(shape.stripes).lower()
            (step,) = [step for step in plan.steps if step.question == "How do the blocks divide the row?"]
            assert step.answer == ("stripes" if shape.stripes else "slices")
    assert kept == {True, False}


@pytest.mark.parametrize(("dtype", "op", "cols"), [
    ("float32", "softmax_backward", 2_600_000), ("bfloat16", "log_softmax_backward", 5_100_000),
    ("float64", "softmax_backward", 1_300_000), ("float32", "softmax", 5_300_000),
    ("float16", "log_softmax", 11_000_000),
])  # fmt: skip
def test_registers_keep_the_fewest_packs_with_which_a_row_waits_the_least(dtype: str, op: str, cols: int) -> None:
    request = asked(20, cols, dtype, op)
    row = row_of(request, StepLog())
    per_step = fast_ring.STEPS[row.inputs][0]
    waits = {}
    for most in range(0, fast_ring.KEPT[row.inputs] + 1, per_step):
        shape = fast_ring._shape(request, row, 1, most)
        assert shape
        waits[shape.kept] = shape.late
    found = ring_shape(request, row)
    assert found
    assert found.kept == min(kept for kept, late in waits.items() if late == min(waits.values())) > 0
    assert waits[0] > fast_ring.KEPT_PACKS_OF_STRIPES[row.inputs]
    assert waits[0] > waits[found.kept] == found.late


def test_gradients_lose_a_hundredth_by_several_steps() -> None:
    """Of a row's time, not of what a launch takes at its start and end. Forward rows and doubles lose none."""
    for dtype, op, lost in (
        ("float16", "softmax_backward", 0.01), ("float32", "log_softmax_backward", 0.01),
        ("float32", "softmax", 0.0), ("float64", "softmax_backward", 0.0),
    ):  # fmt: skip
        request = asked(100, 800_000, dtype, op)
        row = row_of(request, StepLog())
        shape = fast_ring._shape(request, row, 1, 0, 512, 1)
        assert shape
        assert shape.row_steps > 1
        more = replace(request, rows=300)
        further = fast_ring.stepped_microseconds(more, row, shape) - fast_ring.stepped_microseconds(request, row, shape)
        times = fast_ring.STEP_TIMES[request.element.itemsize, row.inputs]
        memory = fast_ring.steady_microseconds(request, row, row.packs)
        threads = times.row + shape.row_steps * (0.27 + times.of_pack(request))
        assert further / 200 == pytest.approx((1 + lost) * fast_ring.side_by_side(memory, threads))


@pytest.mark.parametrize(("device", "op", "fetched"), [
    ("H200", "softmax", 1), ("H200", "softmax_backward", 2), ("H100", "softmax", 1), ("H100", "softmax_backward", 1),
])  # fmt: skip
def test_prefetches_beside_packs_in_registers_last_as_long_as_memory_takes(device: str, op: str, fetched: int) -> None:
    """Of 132 SMs, 448 threads each: a step brings 1.9 MB, of which results are half or a third more."""
    for cols in (7_000_000, 12_000_000):
        shape = shapes(8, cols, "float32", op, Device.named(device))[2]
        assert shape.kept
        assert shape.fetched == fetched
        step = shape.per_step * (shape.block_size * 132) * 16 * (3 if op.endswith("backward") else 2)
        microseconds = 1e6 * step / (0.88 * (4.8e12 if device == "H200" else 3.35e12))
        assert fetched * microseconds <= 1.5 or fetched == 1
        assert (fetched + 1) * microseconds > 1.5


def test_prefetches_of_few_sms_keep_to_what_an_sm_waits_for() -> None:
    """Their share of a whole GPU's memory is large: time alone would allow far more steps."""
    few = replace(H200, sm_count=4)
    shape = shapes(64, 300_000, "float32", "softmax_backward", few)[2]
    assert shape.kept
    waits = (shape.ahead + shape.fetched) * shape.per_step * 2 * shape.block_size * 16
    assert fast_ring.MOST_UNDER_WAY - 2 * 448 * 16 < waits <= fast_ring.MOST_UNDER_WAY


def in_stripes(shape: RingShape, before: int, packs: int) -> list[range]:
    """The packs of each step in the order of kernels/fast_ring.cuh: those in registers first. ``before``: packs of
    the first line that belong to no row."""
    piece = shape.per_step * shape.block_size
    steps = shape.kept // shape.per_step + shape.row_steps
    found = []
    for step in range(steps):
        starts = [(step * shape.blocks_per_row + block) * piece - before for block in range(shape.blocks_per_row)]
        assert [start + piece for start in starts[:-1]] == starts[1:]
        found.append(range(max(0, starts[0]), max(0, min(packs, starts[-1] + piece))))
    return found


@pytest.mark.parametrize(("op", "cols"), [
    ("softmax", 5_600_000), ("softmax", 10_878_332), ("softmax", 10_900_000), ("softmax", 16_000_001),
    ("softmax_backward", 3_200_000), ("softmax_backward", 5_300_000), ("softmax_backward", 9_000_003),
])  # fmt: skip
def test_stripes_have_the_row_and_what_is_read_again(op: str, cols: int) -> None:
    _, row, shape, _ = shapes(6, cols, "float32", op)
    assert shape.stripes
    for before in range(8):
        steps = in_stripes(shape, before, row.packs)
        assert (steps[0].start, steps[-1].stop) == (0, row.packs)
        assert all(first.stop == second.start for first, second in pairwise(steps))
    kept = shape.kept // shape.per_step
    again = in_stripes(shape, 0, row.packs)[kept : kept + shape.again]
    assert shape.packs_read_again(row) == sum(map(len, again))
    assert (shape.again > 0) == (shape.packs_read_again(row) > 0)
