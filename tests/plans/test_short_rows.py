"""Short rows: which of two warp kernels the policy "fast" takes, and that its costs count what the kernels do."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import plans
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.operators.functions import trace_plan
from softlab.plans import Plan, short_rows
from softlab.plans.planner import OPERATORS
from softlab.plans.resources import Resources
from softlab.plans.short_rows import Problem
from tests.kernels.cases import dealt
from tests.sampled import sampled

EVERY = [(op, dtype) for op in OPERATORS for dtype in ELEMENT_TYPES]
SINGLE = [(op, dtype) for op, dtype in EVERY if dtype != "float64"]


def made(cols: int, dtype: str, op: str, *, rows: int = 1000, kernel: str | None = None, **more: object) -> Plan:
    """A plan without compiling anything: of the policy "fast", or of a kernel of either policy."""
    policy = "oneflow" if kernel == "warp" else "fast"
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    choices = {"op": op, "policy": policy, "device": "H200", "lookup": lookup, **more}
    return plans.forced(rows, cols, dtype, kernel=kernel, **choices)


def costs(cols: int, dtype: str, op: str, rows: int = 1000) -> dict[str, short_rows.Cost]:
    """What 32 rows cost in each of the two kernels."""
    itemsize = element_type(dtype).itemsize
    problem = Problem(cols, itemsize, 2 if op.endswith("_backward") else 1, op)
    ours, theirs = (made(cols, dtype, op, rows=rows, kernel=kernel) for kernel in ("fast_warp", "warp"))
    return {
        "fast_warp": short_rows.of_fast(problem, shape(ours), unaligned=cols * itemsize % 16 != 0),
        "warp": short_rows.of_reference(problem, shape(theirs)),
    }


def shape(plan: Plan) -> plans.instantiations.WarpShape:
    """The fields of a plan for one of the warp kernels."""
    fields = (plan.pack_size, plan.cols_per_thread, plan.thread_group_width, plan.rows_per_access, plan.padding)
    return plans.instantiations.WarpShape(*fields)


@pytest.mark.parametrize(("dtype", "pack"), [("float32", 1), ("float32", 4), ("float16", 8), ("float64", 2)])
def test_one_lane_has_room_for_the_longest_head_and_tail(dtype: str, pack: int) -> None:
    """A head ends at the next sector of 32 bytes, a tail has one element less than a pack; alone, a lane moves both."""
    itemsize = element_type(dtype).itemsize
    problem, form = Problem(64, itemsize, 1, "softmax"), plans.instantiations.WarpShape(pack, 64, 1, 1, False)
    aligned, unaligned = (short_rows.of_fast(problem, form, unaligned=odd) for odd in (False, True))
    most = 32 // itemsize - 1 + pack - 1
    assert unaligned.issue - aligned.issue == pytest.approx(most * problem.weights.single)


@pytest.mark.parametrize(
    ("op", "dtype", "ours", "theirs"),
    [
        ("softmax", "float32", 4 * (3.5 + 2 * 2 + 0.2), 4 * (1 + 8 + 0.2)),
        ("log_softmax", "float16", 4 * (3.5 + 2 * 2 + 0.2), 4 * (1 + 8 + 0.2)),
        ("softmax_backward", "float32", 4 * (3.5 + 2 * 2 + 0.2), 4 * (1 + 8 * 0.8 + 0.2)),
        ("softmax_backward", "float64", 4 * (3.5 + 2 * 2 + 0.2), 4 * (1 + 8 * 0.8 + 0.2)),
        ("softmax", "float64", 4 * (4.5 + 2 * 2.33 * 4 + 0.7), 4 * (1.3 + 8 * 4 + 0.7)),
        ("log_softmax", "float64", 4 * (4.5 + 2 * 2.33 * 4 + 0.7), 4 * (4.8 + 8 * 4 + 0.7)),
        ("log_softmax_backward", "float64", 4 * (4.5 + 2 * 2.33 * 4 + 0.7), 4 * (4.8 + 8 * 4 + 0.7)),
    ],
)
def test_what_four_lanes_with_two_packs_of_four_cost(op: str, dtype: str, ours: float, theirs: float) -> None:
    """Four lanes, each with a row's instructions, its elements and two butterflies; two rows at a time."""
    problem = Problem(32, element_type(dtype).itemsize, 2 if op.endswith("_backward") else 1, op)
    form, alone = (plans.instantiations.WarpShape(4, 8, 4, rows, False) for rows in (2, 1))
    assert short_rows.of_fast(problem, form, unaligned=False).issue == pytest.approx(ours)
    cost = short_rows.of_reference(problem, form)
    assert cost.issue == pytest.approx(theirs)
    double = dtype == "float64" and op != "softmax_backward"
    assert short_rows.of_reference(problem, alone).issue == pytest.approx(theirs + 4 * (1 if double else 1.2))
    moved = 32 * (problem.inputs + 1) * 32 * problem.itemsize
    assert (cost.memory, cost.sectors) == (pytest.approx(moved / 118), 0)


@pytest.mark.parametrize(("op", "dtype"), EVERY)
def test_a_row_of_one_element_goes_to_the_reference(op: str, dtype: str) -> None:
    """A lane of fast_warp would ask for a pack and for the most elements of a head and a tail, to move one element."""
    plan = made(1, dtype, op)
    assert (plan.kernel, plan.policy, plan.file) == ("warp", "fast", plan.name.partition("<")[0] + ".cuh")
    assert (plan.thread_group_width, plan.cols_per_thread, plan.rows_per_access, plan.padding) == (1, 1, 2, False)
    assert plan.block == (1, 128)
    few, tiles_save, which = plan.steps[:3]
    assert (few.answer, tiles_save.answer) == (False, False)
    assert which.answer == "warp"
    assert which.values["warp"] < which.values["fast_warp"]


@pytest.mark.parametrize(("op", "dtype"), EVERY)
def test_rows_of_whole_packs_and_long_rows_stay(op: str, dtype: str) -> None:
    packs = 16 // element_type(dtype).itemsize
    for cols in (packs, 2 * packs, 4 * packs, 33, 45, 63, 100, 255, 1000):
        assert made(cols, dtype, op).kernel in ("fast_warp", "fast_block"), cols


def test_one_row_at_a_time_costs_the_reference_more() -> None:
    """An odd number of rows: its kernel then takes them one by one."""
    assert made(6, "float32", "softmax", rows=1000).kernel == "warp"
    assert made(6, "float32", "softmax", rows=1001).kernel == "fast_warp"
    assert costs(6, "float32", "softmax", 1001)["warp"].issue > costs(6, "float32", "softmax", 1000)["warp"].issue


def test_the_question_is_asked_only_where_the_reference_has_several_rows_in_a_warp() -> None:
    question = "Which kernel needs less of an SM's time for 32 rows?"
    plans_of = {cols: made(cols, "float32", "softmax") for cols in range(1, 200)}
    asked = {cols for cols, plan in plans_of.items() if question in [step.question for step in plan.steps]}
    assert asked == {*range(1, 17), *range(18, 33, 2)}


@pytest.mark.parametrize("cols", [1, 2, 3, 8])
def test_arrays_that_begin_anywhere(cols: int) -> None:
    """With packs of one element both kernels move as few bytes; the reference's is chosen by the same costs."""
    plan = made(cols, "float16", "softmax", pack_size=1)
    assert plan.pack_size == 1
    assert plan.kernel in ("warp", "fast_warp")
    assert plan.thread_group_width * plan.cols_per_thread >= cols


def test_the_reference_is_its_own_only_alternative_of_a_warp() -> None:
    others = made(1, "float16", "softmax").alternatives(lookup=lambda *_: Resources(32, 0, 0, 0, ""))
    assert [(other.kernel, other.chosen) for other in others][:2] == [("warp", True), ("block_smem", False)]


def test_bytes_are_counted_once() -> None:
    assert made(1, "float16", "softmax", rows=100).global_bytes == 100 * 2 * 2
    assert made(1, "float16", "softmax_backward", rows=100).global_bytes == 100 * 3 * 2


def test_memory_bounds_both_kernels_alike() -> None:
    """Where memory is the most, costs are equal, and the row stays with fast_warp."""
    both = costs(16, "float32", "softmax_backward")
    assert both["fast_warp"].most == both["fast_warp"].memory == both["warp"].most
    assert made(16, "float32", "softmax_backward").kernel == "fast_warp"


def in_turns(op: str, dtype: str) -> bool:
    """Each type with half of the operators, and the other way round."""
    return (list(OPERATORS).index(op) + list(ELEMENT_TYPES).index(dtype)) % 2 == 0


@pytest.mark.parametrize(("op", "dtype"), sampled(SINGLE, in_turns))
def test_issue_is_what_the_emulator_counts(op: str, dtype: str) -> None:
    """A unit of the cost is about 25 PTX instructions of a warp, half of that where a lane has a row of its own."""
    rows, draw = 256, np.random.default_rng(3)
    for cols in dealt((1, 3, 5, 6, 12, 17, 20), dtype, op):
        given = [
            draw.standard_normal((rows, cols)).astype(element_type(dtype).numpy) for _ in range(op.count("_back") + 1)
        ]
        for kernel, cost in costs(cols, dtype, op, rows).items():
            policy = "oneflow" if kernel == "warp" else "fast"
            plan = plans.forced(rows, cols, dtype, kernel=kernel, op=op, policy=policy, device="H200")
            instructions = trace_plan(plan, *given).counters["ptx_instructions"] / (rows / 32)
            assert 12 < instructions / cost.issue < 35, (kernel, cols)


@pytest.mark.parametrize(("cols", "dtype"), [(15, "float16"), (7, "float32")])
def test_sectors_are_what_the_emulator_counts(cols: int, dtype: str) -> None:
    """A quarter of the count, or less, is the difference: the heads of rows differ from their mean."""
    rows = 256
    x = np.zeros((rows, cols), element_type(dtype).numpy)
    plan = plans.forced(rows, cols, dtype, kernel="fast_warp", policy="fast", device="H200")
    counted = trace_plan(plan, x).counters
    touched = (counted["global_load_sectors"] + counted["global_store_sectors"]) / (rows / 32)
    cost = costs(cols, dtype, "softmax")["fast_warp"].sectors / short_rows.SECTOR_TIME[x.itemsize]
    assert abs(cost - touched) < touched / 4
