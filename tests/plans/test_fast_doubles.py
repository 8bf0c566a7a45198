"""Doubles where threads take longer than memory: the grid kernel or the ring kernel, by the times of both."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import Plan, fast_doubles, fast_ring, long_rows
from softlab.plans.fast_cuts import GridShape, grid_shape
from softlab.plans.fast_limits import Cut
from softlab.plans.fast_rows import Row, row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources

H200, H100 = Device.named("H200"), Device.named("H100")
OPS = [op for op in OPERATORS if op.endswith(("softmax", "softmax_backward"))]


def taken(*_: object) -> Resources:
    """Every kernel takes 64 registers: nothing is compiled."""
    return Resources(64, 2048, 0, 0, "")


def made(rows: int, cols: int, op: str = "softmax", device: Device = H200, dtype: str = "float64") -> Plan:
    return plans.plan(rows, cols, dtype, op=op, policy="fast", device=device, lookup=taken)


def asked(rows: int, cols: int, op: str = "softmax", device: Device = H200, dtype: str = "float64"
          ) -> tuple[PlanRequest, Row]:  # fmt: skip
    request = PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], device, lookup=taken, policy="fast")
    return request, row_of(request, StepLog())


def problems(count: int) -> list[tuple[int, int, str]]:
    """256 MiB of each input, or less, in rows of 2^17 to 2^22 doubles."""
    draw = Random(41)
    found = []
    for _ in range(count):
        cols = int(2 ** draw.uniform(17, 22))
        found.append((int((1 << 28) // (cols * 8) * draw.choice((1, 1, 0.5))), cols, draw.choice(OPS)))
    return found


def test_where_threads_take_longer_than_memory_the_times_choose() -> None:
    """A pack of 512 threads on all SMs is 2.2 MB in and out: 0.51 us of an H200's memory, 0.73 us of an H100's.

    Its softmax takes 0.42 us, and half a step of 0.27 us.
    """
    for bandwidth, waits in ((4.8e12, True), (4.43e12, True), (4.42e12, False), (3.35e12, False)):
        device = replace(H200, memory_bandwidth=bandwidth)
        request, _ = asked(100, 500_000, device=device)
        assert fast_doubles.are_timed(request) is waits, bandwidth
    assert not fast_doubles.are_timed(asked(100, 500_000, dtype="float32")[0])


def test_an_h100_keeps_its_kernels_and_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [made(*problem, device=H100).name for problem in problems(80)]
    monkeypatch.setattr(fast_ring, "doubles_wait", lambda request: False)
    monkeypatch.setattr(fast_doubles, "doubles_wait", lambda request: False)
    assert before == [made(*problem, device=H100).name for problem in problems(80)]
    assert before != [made(*problem).name for problem in problems(80)]


@pytest.mark.parametrize(
    ("rows", "cols", "op", "kernel"),
    [
        (128, 262_144, "softmax", "fast_grid"), (32, 1_048_576, "softmax", "fast_grid"),
        (16, 2_026_327, "softmax", "fast_ring"), (128, 262_144, "log_softmax", "fast_ring"),
        (32, 1_048_576, "log_softmax", "fast_ring"), (32, 1_048_576, "softmax_backward", "fast_ring"),
        (79, 420_656, "softmax_backward", "fast_ring"), (79, 420_656, "log_softmax_backward", "fast_ring"),
    ],
)  # fmt: skip
def test_the_kernel_that_was_faster_on_an_h200(rows: int, cols: int, op: str, kernel: str) -> None:
    """The one is 4 to 30 % faster than the other there (kernels/FAST.md)."""
    assert made(rows, cols, op).kernel == kernel


def test_four_rows_fit_the_stages_of_the_grid_kernel() -> None:
    """Of 28 stages a row of one thread has 7 at most. Two groups would need 8: then one has 4."""
    request, row = asked(70, 478_822)
    shape = grid_shape(request, row, False)
    assert shape
    assert (shape.groups, shape.packs) == (2, 8)
    shape = grid_shape(request, row, False, fast_doubles.grid_packs(request, row))
    assert shape
    assert (shape.groups, shape.packs, shape.rows_in_flight) == (1, 4, 4)
    for rows, cols, op in problems(60):
        request, row = asked(rows, cols, op)
        shape = grid_shape(request, row, False, fast_doubles.grid_packs(request, row))
        if shape and shape.groups > 1 and not fast_ring.needs_grid(request, row):
            assert 4 * shape.packs <= fast_ring.grid_stages(request, row), (rows, cols, op)


def test_rows_that_fit_the_chip_together_keep_their_cut() -> None:
    request, row = asked(2, 1_000_000)
    assert fast_ring.needs_grid(request, row)
    assert fast_doubles.grid_packs(request, row) is None
    assert fast_doubles.grid_packs(*asked(100, 1_000_000, device=H100)) is None
    assert fast_doubles.grid_packs(*asked(100, 500_000)) == 7
    assert fast_doubles.grid_packs(*asked(100, 500_000, "softmax_backward")) == 2
    small = replace(H200, smem_per_block_optin=16 * 1024)
    assert fast_doubles.grid_packs(*asked(100, 500_000, device=small)) == 1


def test_the_time_of_the_grid_kernel_by_hand() -> None:
    """Three groups of 44 blocks; a thread has 6 packs of its row, two rows wait for 45 statistics."""
    request, row = asked(135, 246_805, "log_softmax")
    shape = GridShape(44, 3, 6, 24, 2)
    bandwidth = 0.906 * 4.8e6  # bytes per microsecond
    memory = 2 * 16 * (246_805 // 2) * 3 / bandwidth * (1 + 0.002 * 2)
    threads = 0.56 + 6 * 0.34 * 0.92 + 0.26 * 2 / 2
    lag = 24 * 512 * 132 / 2 * 32 / bandwidth
    expected = 45 * (memory**6 + threads**6) ** (1 / 6) + 0.3 * lag
    assert fast_doubles.grid_microseconds(request, row, shape) == pytest.approx(expected)
    wider = replace(shape, packs=8)
    threads = 0.56 + 8 * 0.34 * 0.92 + 0.26 * 2 / 2
    lacking = (4 * 8 - 28) * 512 * 132 * 32 / bandwidth
    expected = 45 * ((memory**6 + threads**6) ** (1 / 6) + 0.3 * lacking) + 0.3 * lag
    assert fast_doubles.grid_microseconds(request, row, wider) == pytest.approx(expected)


def test_the_time_of_a_ring_of_doubles_by_hand() -> None:
    """Two groups of 66 blocks, rows of 6 steps of two packs per thread."""
    request, row = asked(43, 779_000)
    ring = fast_ring.ring_shape(request, row)
    assert ring
    assert (ring.groups, ring.packs, ring.per_step, ring.stages, ring.ahead) == (2, 12, 2, 24, 1)
    bandwidth = 0.906 * 4.8e6
    memory = 2 * 8 * 779_000 * 2 / bandwidth * (1 + 0.002)
    threads = 0.78 + 6 * (0.27 + 2 * 0.42)
    lag = 22 * 512 * 132 * 32 / bandwidth
    expected = 22 * (memory**6 + threads**6) ** (1 / 6) + 0.3 * lag
    assert fast_ring.stepped_microseconds(request, row, ring) == pytest.approx(expected)


def test_the_grid_kernel_must_have_rows_in_flight_and_save_time(monkeypatch: pytest.MonkeyPatch) -> None:
    request, row = asked(128, 262_144)
    ring = fast_ring.ring_shape(request, row)
    shape = grid_shape(request, row, False, 7)
    assert ring
    assert shape
    faster = fast_doubles.ring_is_faster
    assert faster(ring, None, request, row)
    assert not faster(ring, shape, request, row)
    assert faster(ring, replace(shape, rows_in_flight=1), request, row)
    few, row_of_few = asked(2, 262_144)
    assert not faster(ring, shape, few, row_of_few), "a ring needs several rows"
    ours = fast_ring.stepped_microseconds(request, row, fast_ring.stepped(request, row, ring))
    for share, ring_is_faster in ((0.98, False), (0.99, True), (1.01, True)):
        monkeypatch.setattr(fast_doubles, "grid_microseconds", lambda *_, share=share: share * ours)
        assert faster(ring, shape, request, row) is ring_is_faster
    gradient, row_of_gradient = asked(128, 262_144, "softmax_backward")
    ring = fast_ring.ring_shape(gradient, row_of_gradient)
    assert ring
    monkeypatch.setattr(fast_doubles, "grid_microseconds", lambda *_: 1.0)
    for rows_in_flight, ring_is_faster in ((2, True), (3, True), (4, False)):
        assert faster(ring, replace(shape, rows_in_flight=rows_in_flight), gradient, row_of_gradient) is ring_is_faster


@pytest.mark.parametrize(("cols", "lines"), [(262_144, True), (262_160, True), (262_152, False), (262_145, False)])
def test_the_grid_kernel_takes_gradients_whose_rows_begin_at_lines(
    cols: int, lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 doubles are a line of 128 bytes. Forward rows may begin anywhere."""
    monkeypatch.setattr(fast_doubles, "grid_microseconds", lambda *_: 1.0)
    assert made(120, cols, "softmax_backward").kernel == ("fast_grid" if lines else "fast_ring")
    assert made(120, cols).kernel == "fast_grid"


def test_doubles_take_other_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = dict.fromkeys(OPS, 0)
    for rows, cols, op in problems(80):
        plan = made(rows, cols, op)
        with monkeypatch.context() as patched:
            patched.setattr(long_rows, "stepped", lambda request, row, shape: shape)
            patched.setattr(fast_doubles, "ring_is_faster", lambda *asked, plan=plan: plan.kernel == "fast_ring")
            changed[op] += made(rows, cols, op).name != plan.name
    assert all(changed[op] for op in OPS)


def test_forward_rings_of_doubles_have_registers_for_their_packs() -> None:
    """Four packs of a step need 120 registers: 448 threads and the mailbox's 64 have 128 each, 512 have 112."""
    request, row = asked(100, 500_000, "log_softmax")
    assert not fast_ring._spills(request, row, 448, 4)
    assert fast_ring._spills(request, row, 512, 4)
    assert not fast_ring._spills(request, row, 576, 3)
    assert not fast_ring._spills(*asked(100, 500_000, "log_softmax_backward"), 832, 3), "gradients were measured so"
    found = 0
    for rows, cols, op in problems(60):
        request, row = asked(rows, cols, op)
        if row.inputs == 1 and (ring := fast_ring.best_of_steps(request, row)):
            found += 1
            assert ring.per_step * ring.block_size <= max(4 * 448, 3 * 576)
            assert 384 <= ring.block_size <= 576
            assert ring.row_steps <= 8
            assert rows >= 16 * ring.groups
    assert found > 10


@pytest.mark.parametrize(
    ("cols", "op", "shape"),
    [
        (128, "softmax", "2, 4, 16"), (103, "log_softmax", "2, 4, 16"), (78, "softmax", "2, 5, 8"),
        (78, "log_softmax", "2, 3, 16"), (131, "softmax", "2, 5, 16"), (152, "softmax", "2, 5, 16"),
        (112, "log_softmax", "2, 2, 32"),
        (224, "softmax", "2, 4, 32"), (318, "log_softmax", "2, 5, 32"),
    ],
)  # fmt: skip
def test_lanes_bring_most_of_what_a_row_of_doubles_needs_in_flight(cols: int, op: str, shape: str) -> None:
    """The fastest on an H200, or within 2 % of it (2026-12-01, 58 cells; kernels/FAST.md)."""
    assert made((1 << 25) // cols, cols, op).name == (
        f"fast_warp<double, Algorithm::{op}, {shape}, 1, {str(cols % 2 > 0).lower()}>"
    )
    before = made((1 << 25) // cols, cols, op, H100)
    if cols > 256:
        assert before.kernel == "fast_block"


def test_the_bytes_in_flight_of_lanes_by_hand() -> None:
    """Four packs take 40 registers: 12 blocks of 128 threads, each with 8 rows of 16 lanes, 51 of 64 places full."""
    request, row = asked(10_000, 103)
    assert fast_doubles._lanes_in_flight(request, row, 16, 4) == 12 * 8 * 824 / (56 * 1024)
    assert fast_doubles._lanes_in_flight(request, row, 32, 2) == 16 * 4 * 824 / (52 * 1024)
    assert fast_doubles.lanes(request, row) == (16, 4)
    # Of what is enough the widest, and nothing for rows that are shorter or longer than the measured ones.
    request, row = asked(10_000, 256)
    assert fast_doubles._lanes_in_flight(request, row, 32, 4) > 1
    assert fast_doubles.lanes(request, row) == (32, 4)
    for cols, op, device in ((62, "softmax", H200), (386, "softmax", H200), (103, "softmax", H100),
                             (103, "softmax_backward", H200)):  # fmt: skip
        assert fast_doubles.lanes(*asked(10_000, cols, op, device)) is None
    assert fast_doubles.lanes(*asked(10_000, 103, dtype="float32")) is None


def test_longer_rows_stay_in_a_warp() -> None:
    """Five packs per lane are fuller than three per thread of two warps."""
    for cols, op, device, kernel in (
        (320, "log_softmax", H200, "fast_warp"), (321, "softmax", H200, "fast_warp"),
        (322, "softmax", H200, "fast_block"),
        (258, "softmax", H100, "fast_block"), (258, "log_softmax", H100, "fast_block"),
        (258, "softmax_backward", H200, "fast_block"),
    ):  # fmt: skip
        assert made(100_000, cols, op, device).kernel == kernel, (cols, op, device.name)


@pytest.mark.parametrize(
    ("cols", "op", "kernel", "shape"),
    [
        (590, "softmax", "fast_block", "2, 5, 64"), (630, "log_softmax", "fast_block", "2, 5, 64"),
        (1536, "softmax", "fast_block", "2, 3, 256"), (2048, "log_softmax", "fast_block", "2, 4, 256"),
        (1534, "softmax", "fast_pipeline", "2, 1, 5, 128, 1"), (2049, "softmax", "fast_pipeline", "2, 1, 7, 128, 1"),
        (692, "softmax", "fast_block", "2, 3, 128"), (1158, "log_softmax", "fast_block", "2, 5, 128"),
        (1182, "softmax", "fast_block", "2, 5, 128"), (1333, "log_softmax", "fast_pipeline", "2, 1, 5, 128, 1"),
        (2275, "log_softmax", "fast_pipeline", "2, 3, 6, 128, 1"),
        (3400, "softmax", "fast_pipeline", "2, 1, 6, 256, 1"),
        (4568, "log_softmax", "fast_pipeline", "2, 3, 6, 128, 2"),
        (8550, "softmax", "fast_pipeline", "2, 3, 6, 128, 4"),
        (16_300, "softmax", "fast_pipeline", "2, 1, 7, 256, 4"),
        (40_861, "softmax", "fast_pipeline", "2, 3, 7, 256, 8"),
        (63_096, "softmax", "fast_pipeline", "2, 3, 13, 128, 16"),
        (98_722, "softmax", "fast_pipeline", "2, 3, 10, 256, 16"),
    ],
)  # fmt: skip
def test_blocks_and_pipelines_that_were_faster(cols: int, op: str, kernel: str, shape: str) -> None:
    """The fastest on an H200, or within 3 % of it (kernels/FAST.md). An H100 was not measured."""
    rows = (1 << 25) // cols
    plan = made(rows, cols, op)
    assert plan.name.startswith(f"{kernel}<double, Algorithm::{op}, {shape}"), plan.name
    request, row = asked(rows, cols, op)
    assert fast_doubles.are_many(request, row)
    assert fast_doubles.PIPELINES[-1].most >= row.packs


def test_the_bytes_in_flight_of_blocks_by_hand() -> None:
    """Five packs of 64 threads take 48 registers: 20 blocks. Three of 128 take 40: 12 blocks, more threads idle."""
    request, row = asked(56_871, 590)
    small, large = Cut(1, 64, 5), Cut(1, 128, 5)
    assert fast_doubles._block_in_flight(request, row, small) == 20 * 4720 / (75 * 1024)
    assert fast_doubles._block_in_flight(request, row, large) == 12 * 4720 / (52 * 1024)
    assert (small.fill(295), large.fill(295)) == (295 / 320, 295 / 384)
    assert fast_doubles.block(request, row) == small
    assert fast_doubles.block(*asked(10_000, 1281)) == large, "640 packs"
    assert fast_doubles.block(*asked(10_000, 1282)) is None


def test_few_rows_of_doubles_keep_more_threads() -> None:
    """SMs hold all of them at once: 96 KiB per SM."""
    enough = -(-132 * 96 * 1024 // (1344 * 8))
    assert made(enough, 1344).kernel == "fast_pipeline"
    assert made(enough - 1, 1344).kernel == "fast_block"
    for rows, cols, op, device in ((enough, 1344, "softmax_backward", H200), (enough, 1344, "softmax", H100)):
        assert not fast_doubles.are_many(*asked(rows, cols, op, device))


def test_gradients_of_doubles_in_clusters_or_a_ring() -> None:
    """On an H200. Two blocks of 256 threads with up to 13 packs of each input; an H100 was not measured."""
    for rows, cols, op, cut in (
        (625, 53_608, "log_softmax_backward", "14, 128, 16, false"),
        (476, 70_363, "log_softmax_backward", "9, 256, 16, true, 2"),
        (380, 87_768, "softmax_backward", "11, 256, 16, false, 2"),
        (334, 100_437, "softmax_backward", "13, 256, 16, true, 2"),
    ):  # fmt: skip
        plan = made(rows, cols, op)
        assert plan.name == f"fast_cluster_backward<double, Algorithm::{op.removesuffix('_backward')}, 2, {cut}>"
        assert made(rows, cols, op, H100).name != plan.name
    assert made(334, 100_437, "log_softmax_backward").kernel == "fast_ring", "13 packs would spill"
