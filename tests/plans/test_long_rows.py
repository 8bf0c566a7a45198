"""Cluster or ring: the registers are the compiler's, the times are those of the formula, and the least is taken."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from softlab import plans
from softlab.cuda.compile import compile_reports, kernel_sources
from softlab.dtypes import element_type
from softlab.hardware import occupancies
from softlab.hardware.devices import Device
from softlab.plans import fast, long_rows
from softlab.plans.fast_limits import Cut
from softlab.plans.fast_ring import FEWEST_PACKS, STEP_GAIN, RingShape, best_of_steps, ring_shape, stepped_microseconds
from softlab.plans.fast_rows import Row, row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources
from tests.sampled import each

H200, H100 = Device.named("H200"), Device.named("H100")
GRADIENT = "softmax_backward"
MEASURED = [(dtype, op) for dtype in ("float16", "bfloat16", "float32") for op in OPERATORS if "softmax" in op]


def taken(*_: object) -> Resources:
    """Every kernel takes 64 registers: nothing is compiled."""
    return Resources(64, 2048, 0, 0, "")


def made(rows: int, cols: int, dtype: str, op: str = "softmax", device: Device | str = H200, policy: str = "fast"
         ) -> plans.Plan:  # fmt: skip
    return plans.plan(rows, cols, dtype, op=op, policy=policy, device=device, lookup=taken)


def asked(rows: int, cols: int, dtype: str, op: str = "softmax", device: Device = H200, policy: str = "fast"
          ) -> tuple[PlanRequest, Row]:  # fmt: skip
    request = PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], device, lookup=taken, policy=policy)
    return request, row_of(request, StepLog())


def problems(count: int) -> Iterator[tuple[int, int, str, str]]:
    """256 MiB of each input in rows of 2^17 to 2^19 columns."""
    draw = Random(25)
    for _ in range(count):
        cols = int(2 ** draw.uniform(17, 19))
        dtype, op = draw.choice(MEASURED)
        cols = cols if draw.random() < 0.6 else cols // 8 * 8
        yield (1 << 28) // (cols * element_type(dtype).itemsize), cols, dtype, op


@pytest.mark.parametrize(
    ("dtype", "op", "name", "unaligned", "threads", "packs"),
    [
        ("bfloat16", "softmax", "<__nv_bfloat16, Algorithm::softmax, 8, 9, 256, 16, false>", False, 256, 9),
        ("bfloat16", "log_softmax", "<__nv_bfloat16, Algorithm::log_softmax, 8, 6, 256, 16, true>", True, 256, 6),
        ("bfloat16", "softmax", "<__nv_bfloat16, Algorithm::softmax, 8, 7, 512, 16, false>", False, 512, 7),
        ("float32", "softmax", "<float, Algorithm::softmax, 4, 11, 256, 16, true>", True, 256, 11),
        ("float32", "softmax", "<float, Algorithm::softmax, 4, 10, 256, 16, true>", True, 256, 10),
        (
            "float16",
            "log_softmax_backward",
            "_backward<__half, Algorithm::log_softmax, 8, 5, 512, 16, true>",
            True,
            512,
            5,
        ),
        ("float32", "softmax_backward", "_backward<float, Algorithm::softmax, 4, 6, 512, 16, false>", False, 512, 6),
        ("float16", "softmax_backward", "_backward<__half, Algorithm::softmax, 8, 6, 512, 16, false>", False, 512, 6),
        ("float16", "softmax_backward", "_backward<__half, Algorithm::softmax, 8, 7, 256, 16, false>", False, 256, 7),
    ],
)
def test_registers_of_clusters_are_as_compiled(
    dtype: str, op: str, name: str, unaligned: bool, threads: int, packs: int
) -> None:
    """To the blocks that an SM holds by them."""
    source, name = kernel_sources()["fast_cluster.cuh"], f"fast_cluster{name}"
    report = compile_reports(source, [name], arch="sm_90", file="fast_cluster.cuh")[name]
    assert report["spill_bytes"] == 0
    inputs = 2 if op.endswith("_backward") else 1
    first, registers = long_rows.REGISTERS[element_type(dtype).itemsize, inputs, unaligned, threads]
    known = long_rows.MORE_REGISTERS.get((dtype, op, unaligned, threads, packs), registers[packs - first])
    held = [
        occupancies.occupancy(H200, threads=threads, registers=count).blocks_per_sm
        for count in (known, report["registers"])
    ]
    assert held[0] == held[1]


def test_what_takes_more_registers_leaves_room_for_fewer_clusters() -> None:
    for (dtype, op, unaligned, threads, packs), more in long_rows.MORE_REGISTERS.items():
        inputs = 2 if op.endswith("_backward") else 1
        first, registers = long_rows.REGISTERS[element_type(dtype).itemsize, inputs, unaligned, threads]
        held = [
            occupancies.occupancy(H200, threads=threads, registers=count).blocks_per_sm
            for count in (registers[packs - first], more)
        ]
        assert held[1] < held[0]
    for (itemsize, inputs, _, threads), (first, registers) in long_rows.REGISTERS.items():
        assert {count % 8 for count in registers} == {0}
        assert first * threads * 16 * 16 // itemsize <= (1 << 18) * (2 if inputs == 1 else 1)


def test_the_time_of_clusters_by_hand() -> None:
    """Nine packs of 256 threads take 64 registers aligned, so an SM holds four blocks; seven clusters per block."""
    request, row = asked(492, 272_472, "bfloat16")
    memory = 492 * (272_472 // 8) * 32 / (0.943 * 4.8e6)
    waited = 492 / (7 * 3.8) * (2 + 9 * 0.04 + 0.4)
    assert long_rows.microseconds(request, row, Cut(16, 256, 9)) == pytest.approx(math.hypot(memory, waited) + 5)
    request, row = asked(492, 272_473, "float16", "softmax_backward")
    memory = 492 * (272_473 // 8) * 48 / (0.93 * 4.8e6)
    waited = 492 / (7 * 0.9) * (0.5 + 2 * 0.1)
    assert long_rows.microseconds(request, row, Cut(16, 512, 5)) == pytest.approx(math.hypot(memory, waited) + 5)
    # The registers of 34 packs of 128 threads, and of 9 of 512, are not known.
    assert long_rows.microseconds(request, row, Cut(8, 128, 40)) == math.inf
    assert long_rows.microseconds(request, row, Cut(8, 512, 9)) == math.inf
    ring = best_of_steps(request, row)
    assert ring
    assert long_rows.microseconds(request, row, ring) == stepped_microseconds(request, row, ring) + 9


def test_the_time_of_eight_blocks_by_hand() -> None:
    """11 packs of 128 threads take 72 registers, so an SM holds seven blocks; the GPU has 15 clusters per block."""
    request, row = asked(1541, 87_062, "bfloat16")
    memory = 1541 * (87_062 // 8) * 32 / (0.943 * 4.8e6)
    waited = 1541 / (15 * 6.8) * (2 + 11 * 0.04 + 0.2 + 0.4)
    assert long_rows.microseconds(request, row, Cut(8, 128, 12)) == pytest.approx(math.hypot(memory, waited) + 5)
    assert long_rows.quickest(request, row, Cut(8, 256, 8)) == Cut(8, 128, 24)


def test_the_longest_row_of_each_cut_is_looked_at_and_no_longer_one() -> None:
    for dtype, op in (*MEASURED, ("float64", "softmax_backward")):
        for ends in (0, 1):
            request, row = asked(500, 131_072 + ends, dtype, op)
            kind = (request.element.itemsize, row.inputs, row.unaligned)
            for *known, threads in long_rows.REGISTERS:
                if (*known,) != kind:
                    continue
                first, registers = long_rows.REGISTERS[(*kind, threads)]
                resident = long_rows.RESIDENT.get((*kind, threads), {})
                last = max(first + len(registers) - 1, *resident, 0)
                if (dtype, op, threads, last) in long_rows.NOT_RESIDENT:
                    continue
                for packs, found in ((last, last), (last + 1, None), (first, first), (first - 1, None)):
                    held = replace(row, packs=16 * threads * packs)
                    cuts = [
                        cut for cut in long_rows._cuts(request, held) if (cut.cluster, cut.block_size) == (16, threads)
                    ]
                    slower = (dtype, op, threads, packs) in long_rows.SLOWER
                    expected = [] if found is None or slower else [found]
                    assert [cut.taken(held.packs) for cut in cuts] == expected, (kind, threads, packs)
                    assert [cut.resident for cut in cuts] == [resident.get(packs, 0)] * len(expected)


def test_eight_blocks_are_looked_at_for_sixteen_bits_forward_alone() -> None:
    for cols, dtype, op, fewer in (
        (40_960, "float16", "softmax", 0), (40_968, "float16", "softmax", 1), (98_304, "bfloat16", "log_softmax", 1),
        (98_312, "bfloat16", "log_softmax", 0), (60_000, "float32", "softmax", 0),
        (60_000, "float16", "softmax_backward", 0),
    ):  # fmt: skip
        cuts = list(long_rows._cuts(*asked(1000, cols, dtype, op)))
        assert [cut.block_size for cut in cuts if cut.cluster == 8] == [128] * fewer, (cols, dtype, op)


@pytest.mark.further
def test_what_is_taken_saves_time_and_holds_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    changed: Counter[tuple[str, str]] = Counter()
    found = {}

    def kept(request: PlanRequest, row: Row, shape: Cut | RingShape) -> Cut | RingShape:
        now = long_rows.quickest(request, row, shape)
        found[request.rows, request.cols, request.element.name, request.operator.name] = request, row, shape, now
        return now

    monkeypatch.setattr(fast, "long_rows", type("", (), {"quickest": staticmethod(kept)}))
    for problem in (*problems(300), (583, 229_904, "float16", GRADIENT)):
        made(*problem)
    for request, row, shape, now in found.values():
        if now is shape or (isinstance(now, Cut) and shape == replace(now, packs=shape.packs)):
            continue
        changed[type(shape).__name__, type(now).__name__] += 1
        times = [long_rows.microseconds(request, row, one) for one in (shape, now)]
        if isinstance(now, Cut) and isinstance(shape, Cut) and now.resident and now.block_size == shape.block_size:
            assert times[1] <= times[0], "the same threads, and registers as the plan wants them"
        elif isinstance(now, Cut) and isinstance(shape, Cut) and now.block_size < shape.block_size:
            assert times[1] <= (1 + STEP_GAIN) * times[0], "smaller blocks that take about as long"
        elif isinstance(shape, Cut) or shape.row_steps * shape.per_step >= FEWEST_PACKS:
            assert times[1] < (1 - STEP_GAIN) * times[0]
        if isinstance(now, Cut):
            assert row.packs <= now.most
            assert now.cluster == 16 or (now.cluster, now.block_size) == (8, 128)
            others = [long_rows.microseconds(request, row, cut) for cut in long_rows._cuts(request, row)]
            assert (1 - STEP_GAIN) * times[1] <= min(others)
            assert request.rows >= 140
    kinds = ("Cut", "Cut"), ("RingShape", "RingShape"), ("RingShape", "Cut")
    assert all(changed[kind] > 20 for kind in kinds), changed


def test_where_nothing_else_is_looked_at() -> None:
    """An H100, few rows, exact sums, narrow packs, and gradients in clusters that were not measured keep them."""
    for rows, cols, dtype, op, device, policy, found in (
        (507, 264_286, "float16", GRADIENT, H100, "fast", Cut(16, 512, 5)),
        (139, 264_286, "float16", GRADIENT, H200, "fast", Cut(16, 512, 5)),
        (507, 264_286, "float16", GRADIENT, H200, "invariant", Cut(16, 512, 5)),
        (200, 150_000, "float64", "softmax", H100, "fast", Cut(16, 512, 5)),
        (1900, 70_000, "float16", GRADIENT, H200, "fast", Cut(4, 512, 5)),
    ):  # fmt: skip
        request, row = asked(rows, cols, dtype, op, device, policy)
        assert long_rows.quickest(request, row, found) is found, (rows, cols, dtype, device.name, policy)
    request, row = asked(507, 264_286, "float16", GRADIENT)
    assert long_rows.quickest(request, row, Cut(16, 512, 5)) != Cut(16, 512, 5)
    one = replace(request, pack_size=1)
    assert long_rows.quickest(one, row_of(one, StepLog()), Cut(16, 512, 5)) == Cut(16, 512, 5)
    far, long = asked(30, 8_000_000, "float32")
    ring = ring_shape(far, long)
    assert ring
    assert ring.again or ring.kept
    assert long_rows.quickest(far, long, ring) is ring


def test_a_cluster_that_has_an_sm_alone_gives_way() -> None:
    """15 packs of both inputs do not fit the registers of two blocks: 0.855 of the sum (bfloat16 x 478 133)."""
    assert made(280, 478_133, "bfloat16", "softmax_backward").kernel == "fast_ring"
    assert made(280, 478_133, "bfloat16", "softmax_backward", H100).kernel != "fast_cluster"
    # One block of 512 threads on an SM: 0.86 of the sum, and 0.99 with three of 256.
    name = "fast_cluster_backward<float, Algorithm::log_softmax, 4, 6, 256, 16, true>"
    assert made(807, 83_137, "float32", "log_softmax_backward").name == name


def test_clusters_keep_to_the_registers_of_one_more_block() -> None:
    for rows, cols, dtype, op, numbers in (
        (507, 264_286, "float16", "softmax_backward", "17, 128, 16, true, 3"),
        (377, 355_630, "bfloat16", "log_softmax_backward", "11, 256, 16, true, 2"),
        (377, 355_630, "bfloat16", "softmax_backward", "11, 256, 16, true, 2"),
        (490, 273_896, "bfloat16", "softmax_backward", "17, 128, 16, false, 3"),
        (448, 299_109, "float16", "softmax", "19, 128, 16, true, 5"),
        (400, 335_000, "bfloat16", "log_softmax", "21, 128, 16, false, 4"),
        (350, 95_870, "float64", "softmax_backward", "12, 256, 16, false, 2"),
    ):  # fmt: skip
        plan = made(rows, cols, dtype, op)
        assert plan.name.endswith(f", {numbers}>"), (cols, dtype, op, plan.name)
        assert plan.steps[-2].answer == int(numbers[-1])
        assert not made(rows, cols, dtype, op, H100).name.endswith(f", {numbers}>")
    assert made(270, 497_001, "float16", "log_softmax").kernel == "fast_ring", "its results need no exponentials"


def test_gradients_of_softmax_take_more_threads_where_two_blocks_fit() -> None:
    """Of 16 bits, and 20 packs of 128 threads: five of 512 threads, not ten of 256."""
    for op, numbers in (("softmax_backward", "5, 512, 16, true>"), ("log_softmax_backward", "10, 256, 16, true, 2>")):
        assert made(420, 317_321, "bfloat16", op).name.endswith(numbers)


@pytest.mark.parametrize(
    ("name", "threads"),
    each(
        2,
        [
            ("<__nv_bfloat16, Algorithm::softmax, 8, 9, 256, 16, false, 4>", 256),
            ("<__half, Algorithm::softmax, 8, 10, 256, 16, true, 4>", 256),
            ("<__half, Algorithm::log_softmax, 8, 12, 256, 16, false, 3>", 256),
            ("<float, Algorithm::log_softmax, 4, 14, 256, 16, true, 3>", 256),
            ("<__nv_bfloat16, Algorithm::softmax, 8, 19, 128, 16, true, 5>", 128),
            ("<__half, Algorithm::log_softmax, 8, 24, 128, 16, true, 4>", 128),
            ("<float, Algorithm::softmax, 4, 19, 128, 16, true, 5>", 128),
            ("_backward<__nv_bfloat16, Algorithm::log_softmax, 8, 6, 512, 16, true, 2>", 512),
            ("_backward<__half, Algorithm::log_softmax, 8, 8, 256, 16, true, 3>", 256),
            ("_backward<__nv_bfloat16, Algorithm::softmax, 8, 14, 256, 16, true, 2>", 256),
            ("_backward<float, Algorithm::softmax, 4, 14, 256, 16, false, 2>", 256),
            ("_backward<__half, Algorithm::softmax, 8, 19, 128, 16, true, 3>", 128),
            ("_backward<double, Algorithm::softmax, 2, 13, 256, 16, true, 2>", 256),
            ("_backward<double, Algorithm::log_softmax, 2, 15, 128, 16, true, 3>", 128),
        ],
    ),
)
def test_an_sm_holds_as_many_blocks_as_the_plan_says(name: str, threads: int) -> None:
    source, name = kernel_sources()["fast_cluster.cuh"], f"fast_cluster{name}"
    report = compile_reports(source, [name], arch="sm_90", file="fast_cluster.cuh")[name]
    held = occupancies.occupancy(H200, threads=threads, registers=report["registers"]).blocks_per_sm
    assert held == int(name[-2])
    assert report["spill_bytes"] <= 16


def test_the_time_of_a_cluster_whose_registers_the_plan_decides() -> None:
    request, row = asked(448, 299_109, "float16")
    cut = Cut(16, 256, 10)
    memory = 448 * (299_109 // 8) * 32 / (0.943 * 4.8e6)
    for resident, held in ((0, 3), (4, 4), (2, 2)):
        waited = 448 / (7 * (held - 0.2)) * (2 + 10 * 0.04 + 0.4)
        time = long_rows.microseconds(request, row, replace(cut, resident=resident))
        assert time == pytest.approx(math.hypot(memory, waited) + 5)


def test_a_ring_gives_way_to_a_cluster() -> None:
    """Float32 gradients of 2^17.4 columns, 256 threads of 11 packs: two blocks on an SM."""
    plan = made(386, 173_596, "float32", "softmax_backward")
    assert plan.name == "fast_cluster_backward<float, Algorithm::softmax, 4, 11, 256, 16, false, 2>"
    assert made(386, 173_596, "float32", "softmax_backward", H100).kernel == "fast_ring"
