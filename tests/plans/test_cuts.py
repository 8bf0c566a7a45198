"""Which blocks and clusters hold a row under the policy "fast": the documented order beside a search over all cuts."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import fast, fast_cuts, fast_doubles, fast_fused, flight, short_rows
from softlab.plans.fast_cuts import most_blocks
from softlab.plans.fast_limits import BLOCK_SIZES, CLUSTERS, LIMITS, STREAM_PACKS, Cut
from softlab.plans.fast_rows import row_of
from softlab.plans.instantiations import WarpShape
from softlab.plans.planner import OPERATORS, FusedSteps, PlanRequest, StepLog
from softlab.plans.resources import Resources

DEVICES = ("H200", "sm_80", "RTX 5090")
PROBLEMS = tuple(product(("float16", "float32", "float64"), ("softmax", "softmax_backward")))
#: Columns, from short rows to those that no cluster holds.
LENGTHS = (3, 40, 300, 600, 1024, 1025, 3000, 6144, 6145, 9000, 12_288, 16_500, 30_000, 50_257, 100_000, 400_001)


def _asked(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[tuple[tuple[Any, ...], Any]]:
    """The calls of a function of a module, and what they gave."""
    found: list[tuple[tuple[Any, ...], Any]] = []
    function = getattr(module, name)

    def noted(*arguments: Any) -> Any:
        found.append((arguments, function(*arguments)))
        return found[-1][1]

    monkeypatch.setattr(module, name, noted)
    return found


def _plan(rows: int, cols: int, dtype: str, **more: Any) -> plans.Plan:
    return plans.plan(rows, cols, dtype, policy="fast", lookup=lambda *_: Resources(32, 2048, 0, 0, ""), **more)


def _enough_or_most(candidates: list[tuple[float, Cut]]) -> Cut | None:
    for x, cut in candidates:
        if x >= flight.ENOUGH:
            return cut
    most = max((x for x, _ in candidates), default=None)
    return next((cut for x, cut in candidates if x == most), None)


def _largest_share(candidates: list[tuple[float, Cut]], row: Any) -> Cut | None:
    """Bytes in flight and instructions bound a row that stays packed; a later cut must be 1 % better to count."""
    best, most = None, 0.0
    for x, cut in candidates:
        share = 1 / np.linalg.norm([1 / x, 1 / fast_fused._issue(row, cut)], 6) if x else 0.0
        if share > 1.01 * most:
            best, most = cut, float(share)
    return best


def _expected_of_fused(request: Any, row: Any, largest: int, clusters: int) -> Cut | None:
    def holds(cut: Cut) -> bool:
        return bool(row.registers(cut.taken(row.packs), cut.block_size) <= fast_fused.MOST_REGISTERS)

    least = LIMITS[request.element.itemsize, request.operator.rows_kept].thread
    blocks = [cut for size in BLOCK_SIZES if size <= largest and holds(cut := Cut(1, size, 32))]
    bytes_of = {cut: cut.taken(row.packs) * row.pack_size * request.element.itemsize for cut in blocks}
    order = [cut for cut in blocks if bytes_of[cut] <= 16 * least][:1]
    order += sorted(blocks, key=lambda cut: cut.taken(row.packs))
    if row.nbytes > 16 * 1024:
        sizes = [size for size in reversed(BLOCK_SIZES) if 128 <= size <= largest]
        order += [cut for c in CLUSTERS if c <= clusters for size in sizes if holds(cut := Cut(c, size, 32))]
    candidates = [(fast_fused._of_blocks(request, row, cut), cut) for cut in order]
    return _largest_share(candidates, row) if row.keeps or row.halves else _enough_or_most(candidates)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "op"), PROBLEMS)
def test_fused_rows(device: str, dtype: str, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few packs in a small block first, then blocks by packs, then clusters, of few large blocks first.

    Rows of 16 bits take blocks of more than 256 threads only where no others hold them.
    """
    calls = _asked(monkeypatch, fast_fused, "_cut")
    for cols, fused in product(LENGTHS, (FusedSteps(), FusedSteps((1, 4)))):
        _plan(5000, cols, dtype, op=op, device=device, fused=fused)
    assert calls
    clusters = most_blocks(Device.named(device))
    for (request, row), chosen in calls:
        largest = 512 if clusters else 1024
        expected = None
        if row.halves and clusters:
            expected = _expected_of_fused(request, row, 256, clusters)
        expected = expected or _expected_of_fused(request, row, largest, clusters)
        assert chosen == expected, (request.cols, row)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "op"), PROBLEMS)
def test_lanes_of_a_warp(device: str, dtype: str, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As few lanes as hold the row in a few packs each; of long rows fewer, if that brings more in flight, or saves
    instructions that memory does not hide.
    """
    calls = _asked(monkeypatch, fast, "_lanes")
    for cols in (*range(8, 900, 13), 1024, 1536, 2048, 3000):
        _plan(5000, cols, dtype, op=op, device=device)
    assert len(calls) > 10
    for (request, row), shape in calls:
        packs = shape.cols_per_thread // shape.pack_size
        assert shape.pack_size == row.pack_size
        assert packs * shape.thread_group_width >= row.packs > (packs - 1) * shape.thread_group_width
        _check_width(request, row, shape.thread_group_width, packs)


def _check_hidden(row: Any, problem: short_rows.Problem, width: int, first: int) -> None:
    """Instructions take at most 0.95 of memory's time, or no lanes cost less.

    With a head and a tail, no more lanes do.
    """

    def cost(lanes: int) -> float:
        packs = -(-row.packs // lanes)
        shape = WarpShape(row.pack_size, packs * row.pack_size, lanes, 1, padding=True)
        return short_rows.of_fast(problem, shape, unaligned=row.unaligned).blended / problem.memory

    fewest = 1 if row.packs == 1 else 4 if row.unaligned else 2
    costs = {w: cost(w) for w in (1, 2, 4, 8, 16, 32) if w >= fewest and row.packs <= 6 * w}
    if min(costs.values()) > 1.1:
        assert costs[width] == min(costs.values()), (problem, width)
        return
    assert costs[width] <= 1.1, (problem, width)
    if row.unaligned or costs.get(first, 2) > 1.1:
        assert all(costs[w] > 1.1 for w in costs if w > width), (problem, width)
    else:
        assert width == first, (problem, width)


@pytest.mark.parametrize("op", [op for dtype, op in PROBLEMS if dtype == "float16"])
def test_memory_hides_the_instructions_of_short_halves(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _asked(monkeypatch, fast, "_beside_memory")
    for cols in range(2, 257):
        _plan(100_000, cols, "float16", op=op, device="H200")
    changed = 0
    for (request, row, before), shape in calls:
        problem = short_rows.Problem(request.cols, 2, row.inputs, request.operator.name)
        _check_hidden(row, problem, shape.thread_group_width, before.thread_group_width)
        changed += shape != before
    assert len(calls) > changed > 0


def _check_width(request: PlanRequest, row: Any, width: int, packs: int) -> None:
    if request.element.itemsize == 8 and (timed := fast_doubles.lanes(request, row)):
        assert (width, packs) == timed
        return
    wanted = 2 if row.unaligned and row.packs > 1 else row.limits.lane
    fewest = 1 if row.packs == 1 else 4 if row.unaligned else 1 if request.element.itemsize == 8 else 2
    first = next((w for w in (1, 2, 4, 8, 16, 32) if w >= fewest and w * wanted >= row.packs), 32)
    row_bytes = request.cols * request.element.itemsize
    itemsize = request.element.itemsize
    problem = short_rows.Problem(request.cols, itemsize, row.inputs, request.operator.name)
    flights = {}
    for w in (1, 2, 4, 8, 16, 32):
        packs_of = -(-row.packs // w)
        if w <= first and (w == first or packs_of <= flight.WARP_PACKS):
            x = flight.of_warps(request.device, w, packs_of, row_bytes * row.inputs, itemsize, row.inputs)
            issue = short_rows.issue(problem, row.pack_size, packs_of, w, unaligned=row.unaligned)
            flights[w] = x if itemsize == 8 else min(x, flight.ENOUGH * problem.memory / issue / flight.ENOUGH_TIME)
    assert width in flights, (request.cols, width, packs)
    if width != first:
        assert flights[first] < flight.ENOUGH
        assert flights[width] >= flight.ENOUGH or flights[width] == max(flights.values())
        assert all(x < flight.ENOUGH for w, x in flights.items() if w > width)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "op"), PROBLEMS)
def test_rows_that_are_read_again(device: str, dtype: str, op: str) -> None:
    """As many blocks as a cluster may have, of half the threads; one large block where there are no clusters. A row of
    packs goes through a ring where there are clusters, even if the ring does not hold it."""
    lookup = lambda *_: Resources(32, 2048, 0, 0, "")  # noqa: E731
    size = (5000, 30_000_000, dtype)
    plan = plans.forced(*size, op=op, policy="fast", device=device, pack_size=1, lookup=lookup)
    ring = _plan(*size, op=op, device=device)
    assert (ring.kernel, ring.read_again > 0) == (("fast_ring", True) if most_blocks(Device.named(device)) else
                                                  ("fast_stream", False))  # fmt: skip
    assert plan.kernel == "fast_stream"
    clusters = most_blocks(Device.named(device))
    assert (plan.cluster or 1, plan.block[0]) == ((clusters, 512) if clusters else (1, 1024))
    inputs = 2 if op == "softmax_backward" else 1
    numbers = [int(word) for word in plan.name.rstrip(">").split(", ") if word.isdigit()]
    assert STREAM_PACKS[element_type(dtype).itemsize, inputs] in numbers
    (step,) = [step for step in plan.steps if step.answer == "fast_stream"]
    assert "twice" in step.rule


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("policy", ["fast", "invariant"])
def test_the_words_of_a_plan_are_those_of_its_kernel(device: str, policy: str) -> None:
    """The rule speaks of a cluster where blocks share a row, and of as many reads as the kernel does."""
    lookup = lambda *_: Resources(32, 2048, 0, 0, "")  # noqa: E731
    pipelines = set()
    for (dtype, op), rows, cols in product(PROBLEMS, (20, 5000), (*LENGTHS, 131_072)):
        plan = plans.plan(rows, cols, dtype, op=op, policy=policy, device=device, lookup=lookup)
        rule = next((step.rule for step in plan.steps if step.answer == plan.kernel), "")
        if plan.kernel in ("fast_block", "fast_cluster", "fast_pipeline"):
            shared = "cluster" in rule or "several SMs" in rule
            assert shared == ((plan.cluster or 1) > 1), (plan, rule)
            assert shared != ("block hold" in rule or "a block " in rule), (plan, rule)
        if plan.kernel == "fast_pipeline":
            pipelines.add((plan.cluster or 1) > 1)
        if plan.kernel == "fast_stream":
            assert rule.endswith("three times" if policy == "invariant" else "twice")
    if policy == "fast" and device != "sm_80":
        assert pipelines == {False, True}


@pytest.mark.parametrize(("dtype", "op"), [one for one in PROBLEMS if "backward" not in one[1]])
def test_a_pipeline_leaves_9_kib_of_a_block_to_the_exchange_and_the_driver(dtype: str, op: str) -> None:
    """In one byte less of shared memory the first pipeline that holds the row does not fit."""
    element, device = element_type(dtype), Device.named("H200")
    for cols in (100_000, 150_000, 200_000):
        stages = []
        for less in (0, 1):
            request = PlanRequest(4000, cols // 16 * 16, element, OPERATORS[op], device, policy="fast")
            row = row_of(request, StepLog())
            cut = next(cut for cut in row.limits.pipelines if row.packs <= cut.most and cut.cluster <= 16)
            staged = cut.taken(row.packs) - (1 if cut.taken(row.packs) <= row.limits.one_register_pack else 3)
            needed = min(staged, 13) * cut.block_size * 16 + 9 * 1024
            small = replace(device, smem_per_block_optin=needed - less)
            found = fast_cuts.pipeline_cut(
                PlanRequest(**{**vars(request), "device": small}), row, 16, row.limits.pipelines
            )
            stages.append(found == cut)
        assert stages == [True, False]
