"""The plans of fused operators under the policy "fast": what holds a row, and what is left to the reference."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from softlab import Plan, plans
from softlab.dtypes import element_type
from softlab.plans import fast_fused
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources

LENGTHS = (1, 5, 64, 77, 512, 1000, 2048, 4099, 12_288, 32_768, 50_257)


def planned(rows: int, cols: int, dtype: str, **choices: Any) -> Plan:
    made: dict[str, Any] = {"device": "H200", "policy": "fast", "fused": FusedSteps((1,)), **choices}
    return plans.plan(rows, cols, dtype, lookup=lambda *_: Resources(32, 1024, 0, 0, ""), **made)


@pytest.mark.parametrize(
    ("dtype", "op"), [*product(("float16", "float32", "float64"), ("softmax", "softmax_backward"))]
)
def test_the_threads_hold_the_row(dtype: str, op: str) -> None:
    for cols in LENGTHS:
        plan = planned(5000, cols, dtype, op=op)
        if plan.kernel == "block_uncached":
            continue
        assert cols % plan.pack_size == 0 or plan.name.endswith(("true, true>", "true, false>"))
        assert plan.pack_size * element_type(dtype).itemsize <= 16
        packs, threads = (int(n) for n in plan.name.rstrip(">").split(", ")[3:5])
        held = packs * threads * (plan.cluster or 1) * plan.pack_size + plan.pack_size - 1
        assert cols <= held, plan
        assert plan.kernel == "fast_warp" or plan.cluster or held < 4 * cols, "a smaller block would do"


@pytest.mark.parametrize(
    ("op", "steps", "per_row"),
    [
        ("softmax", FusedSteps(), 4 + 4),
        ("softmax", FusedSteps((1,)), 4 + 4 + 1),
        ("softmax", FusedSteps((4, 1)), 4 + 4 + 5),
        ("softmax", FusedSteps((4, 1), shared=True), 4 + 4),
        ("softmax", FusedSteps((1,), causal=True), 2 + 4 + 1),
        ("softmax", FusedSteps((1,), drops=True), 4 + 8 + 1),
        ("softmax_backward", FusedSteps(), 8 + 4),
        ("softmax_backward", FusedSteps((1,)), 8 + 4 + 1),
        ("softmax_backward", FusedSteps((1,), causal=True), 8 + 4 + 1),
        ("softmax_backward", FusedSteps((1,), drops=True), 8 + 4 + 1),
    ],
)
def test_bytes_that_memory_moves_for_an_element(op: str, steps: FusedSteps, per_row: int) -> None:
    """A float32 of each input and result, operands of their own; half of a causal input; two results of dropout."""
    found: list[float] = []
    row_of = fast_fused._row

    def kept(*given: Any) -> Any:
        found.append((row := row_of(*given)).moved)
        return row

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fused, "_row", kept)
        planned(5000, 1024, "float32", op=op, fused=steps)
    assert found == [1024 * per_row]


def test_what_no_cluster_holds_goes_to_the_reference_and_the_plan_says_so() -> None:
    plan = planned(100, 600_000, "float32")
    assert plan.kernel == "block_uncached"
    assert any("registers of a block or a cluster" in step.question and not step.answer for step in plan.steps)
    assert planned(100, 60_000, "float32", device="sm_80").kernel == "block_uncached", "no clusters"


def test_more_operands_in_flight_leave_room_for_fewer_elements() -> None:
    few, many = (planned(10_000, 12_288, "float32", fused=FusedSteps(steps)) for steps in ((), (4, 1)))
    assert (few.kernel, many.kernel) == ("fast_block", "fast_cluster")


def test_operands_of_unaligned_rows_lie_apart_where_rows_that_share_them_begin_elsewhere() -> None:
    kinds = (FusedSteps((1,)), FusedSteps((1,), shared=True), FusedSteps((1,), shared=True, alike=8))
    names = [planned(5000, cols, "float16", fused=steps).name for cols in (512, 517) for steps in kinds]
    assert [name.rsplit(", ", 2)[1:] for name in names] == [
        ["false", "false>"], ["false", "false>"], ["false", "false>"],
        ["true", "false>"], ["true", "true>"], ["true", "false>"],
    ]  # fmt: skip


def test_few_rows_are_shared_by_more_blocks() -> None:
    assert (planned(4, 16_384, "float16").cluster or 1) > (planned(4000, 16_384, "float16").cluster or 1)


def test_one_element_per_pack_where_an_array_begins_anywhere() -> None:
    lookup = lambda *_: Resources(32, 1024, 0, 0, "")  # noqa: E731
    same: Any = {"policy": "fast", "device": "H200", "fused": FusedSteps(), "lookup": lookup}
    plan = plans.forced(100, 64, "float16", pack_size=1, **same)
    assert (plan.kernel, plan.pack_size) == ("fast_warp", 1)


def test_many_short_rows_that_no_pack_divides_move_as_tiles() -> None:
    many = {cols: planned(1 << 20, cols, "float16", fused=FusedSteps()).kernel for cols in (23, 24, 35, 91, 136)}
    assert many == {23: "fast_tile", 24: "fast_warp", 35: "fast_tile", 91: "fast_tile", 136: "fast_warp"}
    assert planned(1000, 23, "float16", fused=FusedSteps()).kernel == "fast_warp", "few rows"
    ends = {
        "an odd row begins elsewhere in a pair than the operand's does": (FusedSteps((1,), True), "true, false>"),
        "pairs lie as those of x": (FusedSteps((1,), True, alike=2), "false, false>"),
        "the mask moves with the tile": (FusedSteps((1,), own=1), "false, true>"),
    }
    for why, (steps, expected) in ends.items():
        assert planned(1 << 20, 23, "float16", fused=steps).name.endswith(expected), why


def test_few_of_the_shortest_rows_go_to_the_reference() -> None:
    for cols, steps in ((1, FusedSteps(causal=True)), (2, FusedSteps((1,), own=1)), (2, FusedSteps((2, 1), True))):
        assert planned(1000, cols, "float16", fused=steps).kernel == "warp"


@pytest.mark.parametrize(
    ("dtype", "steps", "expected"),
    [
        ("float16", FusedSteps((1,), own=1), "tile 1 2 3 12 63, fast_warp 28 65"),
        ("float32", FusedSteps((4,), own=4), "tile 1 25, fast_warp 2 27"),
        ("float16", FusedSteps((2,), causal=True, own=2), "tile 1 2 65 74 127, fast_warp 68 129"),
        ("float64", FusedSteps((8, 1)), "fast_warp 1 2"),
        ("bfloat16", FusedSteps((1,), drops=True), "tile 1 40 72 104 107 127, fast_warp 32 64 112 128 129"),
        ("float32", FusedSteps((4, 1), True), "tile 1 2 3 47, fast_warp 49"),
        ("float16", FusedSteps((1,), True), "tile 1 127, fast_warp 128"),
        ("float32", FusedSteps(causal=True), "tile 1 2 47, fast_warp 49"),
        ("float16", FusedSteps(causal=True), "tile 1 2 3 125"),
    ],
)
def test_what_is_fused_decides_which_short_rows_move_as_tiles(dtype: str, steps: FusedSteps, expected: str) -> None:
    """Head and tail of an unaligned row have up to 22 elements of 16 bits or 10 of 32: 4.8 times that is 105 or 48."""
    for kernel, *lengths in map(str.split, expected.split(",")):
        for cols in map(int, lengths):
            made = planned(1 << 20, cols, dtype, fused=steps).kernel
            assert made.removeprefix("fast_" if kernel == "tile" else "") == kernel, cols


def test_the_shortest_rows_of_a_gradient_stay_with_the_fast_kernels() -> None:
    given: Any = {"op": "softmax_backward", "fused": FusedSteps((1,))}
    kernels = {cols: planned(1 << 20, cols, "float16", **given).kernel for cols in (1, 2, 40)}
    assert kernels == {1: "fast_tile", 2: "fast_tile", 40: "fast_warp"}


def test_packed_elements_leave_a_thread_more_packs() -> None:
    plain, masked = (planned(50_000, 3400, "float16", fused=FusedSteps(steps)) for steps in ((), (1,)))
    assert packs_of(plain) > packs_of(masked)


def test_few_threads_hold_a_row_of_16_bits() -> None:
    """A row costs each thread more instructions than memory allows for a few elements."""
    both, mask = FusedSteps((2, 1), shared=True), FusedSteps((1,), shared=True)
    for cols, steps, op in ((647, both, "softmax"), (9785, both, "softmax"), (9351, mask, "softmax_backward")):
        plan = planned(30_000, cols, "float16", fused=steps, op=op)
        assert packs_of(plan) >= 3, plan.name
        assert plan.block[0] <= 256, plan.name


def packs_of(plan: Plan) -> int:
    """Packs of a thread."""
    return int(plan.name.rstrip(">").split(", ")[3])


def test_the_compiler_gives_eight_more_registers_per_pack_where_rows_share_an_operand() -> None:
    """Values of 16-bit elements; where each row has its own operand, fewer addresses are kept at the same time."""
    row = fast_fused._FusedRow(
        pack_size=8, packs=64, unaligned=False, apart=True, edges=0, words=1, in_flight=4, nbytes=2, keeps=False,
        halves=True, values=(16.0, 8.0), moved=0.0, found=0.0, element=0.0,
    )  # fmt: skip
    assert [row.registers(packs, 64) for packs in (1, 2, 3, 4, 5, 6)] == [40, 48, 56, 64, 64, 64]
    assert row.registers(7, 64) == 72, "more than the compiler has: what is needed"
    own = replace(row, apart=False)
    assert [own.registers(packs, 64) for packs in (1, 2, 3, 4)] == [32, 40, 48, 64]


def test_the_best_cut_where_bytes_in_flight_and_instructions_bound_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bounds of 1 together allow 2 ** (-1 / 6), which is 0.891; one bound alone allows all of it.

    A later cut must be better by more than 1 %: beyond 0.891 * 1.01, which is 0.8998.
    """
    first, second = (fast_fused.Cut(1, size, 4) for size in (128, 256))
    monkeypatch.setattr(fast_fused, "_issue", lambda row, cut: 1.0 if cut is first else 1e9)
    row: Any = SimpleNamespace(keeps=True, halves=False)
    for x, best in ((0.8997, first), (0.8999, second), (0.0, first), (0.88, first)):
        assert fast_fused._best(row, [(1.0, first), (x, second)]) is best, x
    assert fast_fused._best(row, [(0.0, first)]) is None
    halves: Any = SimpleNamespace(keeps=False, halves=True)
    assert fast_fused._best(halves, [(1.0, first), (0.8999, second)]) is second
