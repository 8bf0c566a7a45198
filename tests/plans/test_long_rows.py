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
from softlab.plans.fast_ring import STEP_GAIN, RingShape, best_of_steps, ring_shape, stepped_microseconds
from softlab.plans.fast_rows import Row, row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources

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
    cut = Cut(16, 256, 9)
    memory = 492 * (272_472 // 8) * 32 / (0.92 * 4.8e6)
    waited = 492 / (7 * 3.5) * (1 + 9 * 0.04 + 0.7)
    assert long_rows.microseconds(request, row, cut) == pytest.approx(math.sqrt(memory**2 + waited**2) + 5)
    request, row = asked(492, 272_473, "float16", "softmax_backward")
    memory = 492 * (272_473 // 8) * 48 / (0.95 * 4.8e6)
    waited = 492 / (7 * 1.5) * (1 + 5 * 0.04 + 2 * 0.15)
    assert long_rows.microseconds(request, row, Cut(16, 512, 5)) == pytest.approx(math.hypot(memory, waited) + 5)
    assert long_rows.microseconds(request, row, Cut(8, 512, 9)) == math.inf
    assert long_rows.microseconds(request, row, Cut(16, 128, 17)) == math.inf
    ring = best_of_steps(request, row)
    assert ring
    assert long_rows.microseconds(request, row, ring) == stepped_microseconds(request, row, ring) + 9


def test_the_longest_row_of_each_cut_is_looked_at_and_no_longer_one() -> None:
    for dtype in ("float16", "float32"):
        for op in ("softmax", "log_softmax_backward"):
            for ends in (0, 1):
                request, row = asked(500, 131_072 + ends, dtype, op)
                kind = (request.element.itemsize, row.inputs, row.unaligned)
                for (*known, threads), (first, registers) in long_rows.REGISTERS.items():
                    if (*known,) != kind:
                        continue
                    last = first + len(registers) - 1
                    for more, packs in ((0, last), (1, None), (-16 * threads * len(registers), None)):
                        longer = replace(row, packs=16 * threads * last + more)
                        found = {
                            cut.block_size: cut.taken(longer.packs)
                            for cut in long_rows._cuts(request, longer)
                            if not cut.resident or more == 0
                        }
                        assert found.get(threads) == packs, (kind, threads, more)


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
        if now is shape:
            continue
        changed[type(shape).__name__, type(now).__name__] += 1
        times = [long_rows.microseconds(request, row, one) for one in (shape, now)]
        if isinstance(now, Cut) and isinstance(shape, Cut) and now.resident and now.block_size == shape.block_size:
            assert times[1] <= times[0], "the same threads, and registers as the plan wants them"
        elif isinstance(now, Cut) and isinstance(shape, Cut) and now.block_size < shape.block_size:
            assert times[1] < (1 + STEP_GAIN) * times[0], "smaller blocks that take about as long"
        else:
            assert times[1] < (1 - STEP_GAIN) * times[0]
        if isinstance(now, Cut):
            assert (now.cluster, row.packs <= now.most) == (16, True)
            others = [long_rows.microseconds(request, row, cut) for cut in long_rows._cuts(request, row)]
            assert (1 - STEP_GAIN) * times[1] <= min(others)
            assert request.rows >= 140
    assert min(changed[a, b] for a in ("Cut", "RingShape") for b in ("Cut", "RingShape")) > 0, changed


def test_where_nothing_else_is_looked_at() -> None:
    """An H100, few rows, doubles, exact sums, narrow packs and shorter rows keep what was found."""
    for rows, cols, dtype, op, device, policy in (
        (507, 264_286, "float16", GRADIENT, H100, "fast"), (139, 264_286, "float16", GRADIENT, H200, "fast"),
        (507, 264_286, "float16", GRADIENT, H200, "invariant"), (200, 150_000, "float64", GRADIENT, H200, "fast"),
        (1100, 130_000, "float16", GRADIENT, H200, "fast"),
    ):  # fmt: skip
        request, row = asked(rows, cols, dtype, op, device, policy)
        found = Cut(16, 512, 5)
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
    """117 to 123 registers for 512 threads leave room for one block: 0.63 of a copy (bfloat16 gradient x 393 951)."""
    assert made(340, 393_951, "bfloat16", "softmax_backward").kernel == "fast_ring"
    assert made(340, 393_951, "bfloat16", "softmax_backward", H100).kernel != "fast_cluster"


def test_clusters_keep_to_the_registers_of_one_more_block() -> None:
    """More than 64 registers for 512 threads leave room for one block, 64 for two."""
    name = "fast_cluster_backward<__half, Algorithm::softmax, 8, 5, 512, 16, true"
    assert made(507, 264_286, "float16", "softmax_backward").name == f"{name}, 2>"
    assert made(507, 264_286, "float16", "softmax_backward", H100).name == f"{name}>"
    assert made(507, 264_286, "float16", "softmax_backward").steps[-2].answer == 2
    log = "fast_cluster_backward<__nv_bfloat16, Algorithm::log_softmax, 8, 6, 512, 16, true, 2>"
    assert made(377, 355_630, "bfloat16", "log_softmax_backward").name == log
    assert made(377, 355_630, "bfloat16", "softmax_backward").name == log.replace("log_softmax", "softmax")
    ahead = "fast_cluster<__half, Algorithm::softmax, 8, 10, 256, 16, true, 4>"
    assert made(448, 299_109, "float16").name == ahead
    assert made(297, 451_001, "float16", "log_softmax").kernel == "fast_ring", "its results need no exponentials"


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("<__nv_bfloat16, Algorithm::softmax, 8, 9, 256, 16, false, 4>", 256),
        ("<__half, Algorithm::softmax, 8, 10, 256, 16, true, 4>", 256),
        ("<__half, Algorithm::log_softmax, 8, 12, 256, 16, false, 3>", 256),
        ("<__nv_bfloat16, Algorithm::softmax, 8, 13, 256, 16, false, 3>", 256),
        ("<float, Algorithm::log_softmax, 4, 14, 256, 16, true, 3>", 256),
        ("_backward<__nv_bfloat16, Algorithm::log_softmax, 8, 6, 512, 16, true, 2>", 512),
        ("_backward<__half, Algorithm::softmax, 8, 5, 512, 16, true, 2>", 512),
        ("_backward<__half, Algorithm::log_softmax, 8, 8, 256, 16, true, 3>", 256),
        ("_backward<double, Algorithm::log_softmax, 2, 5, 512, 16, true, 2>", 512),
        ("_backward<double, Algorithm::log_softmax, 2, 8, 256, 16, true, 3>", 256),
    ],
)
def test_an_sm_holds_as_many_blocks_as_the_plan_says(name: str, threads: int) -> None:
    source, name = kernel_sources()["fast_cluster.cuh"], f"fast_cluster{name}"
    report = compile_reports(source, [name], arch="sm_90", file="fast_cluster.cuh")[name]
    held = occupancies.occupancy(H200, threads=threads, registers=report["registers"]).blocks_per_sm
    assert held == int(name[-2])
    assert report["spill_bytes"] <= (128 if "double, Algorithm::log_softmax, 2, 8, 256" in name else 64)


def test_the_time_of_a_cluster_whose_registers_the_plan_decides() -> None:
    request, row = asked(448, 299_109, "float16")
    cut = Cut(16, 256, 10)
    memory = 448 * (299_109 // 8) * 32 / (0.92 * 4.8e6)
    for resident, held in ((0, 3), (4, 4), (2, 2)):
        waited = 448 / (7 * (held - 0.5)) * (1 + 10 * 0.04 + 0.7)
        time = long_rows.microseconds(request, row, replace(cut, resident=resident))
        assert time == pytest.approx(math.hypot(memory, waited) + 5)


def test_a_ring_gives_way_to_a_cluster() -> None:
    """Float32 gradients of 2^17.4 columns, 512 threads of 6 packs: two blocks on an SM."""
    plan = made(386, 173_596, "float32", "softmax_backward")
    assert plan.name == "fast_cluster_backward<float, Algorithm::softmax, 4, 6, 512, 16, false>"
    assert made(386, 173_596, "float32", "softmax_backward", H100).kernel == "fast_ring"
