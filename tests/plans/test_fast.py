"""Plans of the policy "fast": every row fits what its kernel is told to hold, on every GPU; each choice is a step."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softlab import plans
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.errors import PlanError
from softlab.hardware import devices
from softlab.hardware.devices import Device
from softlab.plans import Plan
from softlab.plans.fast_cuts import clusters_of
from softlab.plans.fast_limits import MOST_BLOCKS
from softlab.plans.fast_rows import KERNELS
from softlab.plans.planner import OPERATORS
from softlab.plans.resources import Resources
from tests.sampled import each

#: Kernels whose blocks share rows all over the GPU.
ACROSS = ("fast_grid", "fast_ring")
#: How the name of a ring of float32 begins.
RING = "fast_ring<float, Algorithm::softmax, 4, "


def made(rows: int, cols: int, dtype: str = "float32", device: str = "H200", **more: object) -> Plan:
    """A plan without compiling anything: every kernel takes 64 registers."""
    lookup = more.pop("lookup", lambda *_: Resources(64, 2048, 0, 0, ""))
    return plans.plan(rows, cols, dtype, policy="fast", device=device, lookup=lookup, **more)


def numbers(plan: Plan) -> list[int]:
    """The template's numbers, from the kernel's name: pack size first."""
    return [int(word) for word in re.findall(r"(?<=, )\d+", plan.name)]


def held_packs(plan: Plan) -> tuple[int, int]:
    """(packs that the threads of a share can hold, shares of a row), by the kernels' own headers."""
    _, *rest = numbers(plan)
    if plan.kernel == "fast_warp":
        packs, width, _ = rest
        return packs * width, 1
    if plan.kernel == "fast_block":
        packs, block_size = rest
        return packs * block_size, 1
    if plan.kernel == "fast_cluster":
        packs, block_size, cluster, *_resident = rest
        return packs * block_size, cluster
    if plan.kernel in ACROSS:
        packs, *_, kept, block_size, shares = rest
        return (packs + (kept if plan.kernel == "fast_ring" else 0)) * block_size, shares
    register_packs, stage_packs, block_size, cluster = rest
    return (register_packs + stage_packs) * block_size, cluster


def needed_packs(plan: Plan, shares: int) -> int:
    """Whole packs of the largest share of a row: shares are whole lines of 8 packs. A ring begins at such a line."""
    packs = plan.cols // plan.pack_size + (7 if plan.kernel == "fast_ring" else 0)
    return packs if shares == 1 else math.ceil(math.ceil(packs / shares) / 8) * 8


problems = st.tuples(
    st.integers(1, 5000), st.one_of(st.integers(1, 3000), st.integers(1, 1_500_000)),
    st.sampled_from(list(ELEMENT_TYPES)), st.sampled_from(list(OPERATORS)), st.sampled_from(devices.names()),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(problems)
@example(problem=(140, 229385, "float16", "softmax_backward", "GH200"))
def test_a_row_fits_its_kernel(problem: tuple[int, int, str, str, str]) -> None:
    rows, cols, dtype, op, name = problem
    plan, device = made(rows, cols, dtype, name, op=op), Device.named(name)
    if plan.kernel == "warp":
        assert_the_reference_holds_its_rows(plan)
        return
    if plan.kernel == "fast_tile":
        assert_the_tiles_hold_their_rows(plan)
        return
    itemsize = element_type(dtype).itemsize
    assert plan.kernel in KERNELS
    assert plan.pack_size == numbers(plan)[0]
    # Few rows that 16 bytes do not divide may move in packs that do.
    assert plan.pack_size * itemsize == 16 or (rows <= 4 * device.sm_count and cols % plan.pack_size == 0)
    # Clusters that keep to registers say behind it for how many blocks.
    assert re.search(r", (true|false)(?:, [2-9])?>$", plan.name)[1] == ("true" if cols % plan.pack_size else "false")
    assert plan.cluster is None or plan.grid % plan.cluster == 0
    static = 3 * 1024 if plan.kernel in ACROSS else 10 * 1024
    assert plan.smem_bytes + static <= device.smem_per_block_optin or not plan.smem_bytes
    assert plan.block_size <= 1024
    if device.compute_capability < (9, 0):
        assert plan.cluster in (None, 1)
    if plan.kernel != "fast_stream":
        holds, shares = held_packs(plan)
        if plan.kernel in ACROSS:
            assert_the_grid_holds_its_rows(plan, device)
        else:
            assert shares == (plan.cluster or 1)
            assert (plan.cooperative, plan.workspace_bytes) == (False, 0)
        assert needed_packs(plan, shares) <= holds
    assert [step.answer for step in plan.steps][-1] == plan.grid


def assert_the_tiles_hold_their_rows(plan: Plan) -> None:
    """The lanes' vectors are just enough, and one element remains only where it must (kernels/fast_tile.cuh)."""
    _, vector_size, vectors, width, slabs, block_size, _ = numbers(plan)
    odd = plan.cols % vector_size
    assert ", true, " in plan.name if odd else ", false, " in plan.name
    assert odd in (0, 1)
    assert width * (vectors - 1) < (plan.cols - odd) // vector_size <= width * vectors or plan.cols == 1
    assert plan.grid == math.ceil(plan.rows / (slabs * block_size))


def assert_the_reference_holds_its_rows(plan: Plan) -> None:
    """A short row, and everything but the policy and the steps is as where the reference's kernel is asked for."""
    assert plan.cols <= 32
    assert plan.thread_group_width * plan.cols_per_thread >= plan.cols
    shape = (plan.rows, plan.cols, plan.dtype)
    lookup = lambda *_: Resources(64, 2048, 0, 0, "")  # noqa: E731
    forced = plans.forced(*shape, kernel="warp", op=plan.op, device=plan.device, lookup=lookup)
    assert replace(forced, policy="fast", steps=plan.steps) == plan
    assert plan.steps[-1].answer == plan.grid


def assert_the_grid_holds_its_rows(plan: Plan, device: Device) -> None:
    """Its blocks fit the GPU at once, shared memory the rows that wait, its workspace two partials for each of them."""
    pack_size, packs, *more, block_size, blocks_per_row = numbers(plan)
    inputs = 2 if plan.op.endswith("_backward") else 1
    unaligned = plan.cols % pack_size != 0
    assert plan.cooperative
    assert plan.block_size == block_size + 64
    assert plan.grid % blocks_per_row == 0
    assert plan.grid <= device.sm_count
    assert plan.grid // blocks_per_row <= plan.rows
    if plan.kernel == "fast_grid":
        stages, rows_in_flight = more
        assert packs * (rows_in_flight + 1) <= stages
        slots = rows_in_flight + 1
    else:
        per_step, stages, ahead, _, again, kept = more
        lag, row_steps = stages // per_step - ahead, math.ceil(packs / per_step)
        assert stages % per_step == 0
        assert row_steps - again <= lag
        assert kept % per_step == 0
        assert kept == 0 or lag < 2 * row_steps, "the kernel's invariant 8"
        slots = math.ceil(lag / (row_steps + again))
    assert plan.smem_bytes == stages * block_size * inputs * 16
    itemsize = max(4, element_type(plan.dtype).itemsize)
    partial = max(16, (1 if inputs == 2 else 2) * itemsize * 2)  # each 32-bit word with 32 bits of tag
    group = 128 + 2 * slots * (blocks_per_row + unaligned) * partial
    assert plan.workspace_bytes == plan.grid // blocks_per_row * group


@pytest.mark.parametrize(
    ("rows", "cols", "dtype", "kernel"),
    [
        (1 << 20, 32, "float16", "fast_warp<__half, Algorithm::softmax, 8, 2, 2, 1, false>"),
        (65536, 1023, "float32", "fast_block<float, Algorithm::softmax, 4, 2, 128, true>"),
        (8192, 8192, "float32", "fast_cluster<float, Algorithm::softmax, 4, 2, 512, 2, false>"),
        (1024, 131072, "float16", "fast_cluster<__half, Algorithm::softmax, 8, 8, 128, 16, false>"),
        (4096, 32768, "float16", "fast_cluster<__half, Algorithm::softmax, 8, 4, 256, 4, false>"),
        (2048, 65536, "bfloat16", "fast_cluster<__nv_bfloat16, Algorithm::softmax, 8, 4, 256, 8, false>"),
        (131072, 256, "float64", "fast_warp<double, Algorithm::softmax, 2, 4, 32, 1, false>"),
        (16384, 2048, "float64", "fast_block<double, Algorithm::softmax, 2, 4, 256, false>"),
        (8192, 4096, "float64", "fast_pipeline<double, Algorithm::softmax, 2, 1, 7, 128, 2, false>"),
        (2048, 16384, "float64", "fast_pipeline<double, Algorithm::softmax, 2, 1, 7, 256, 4, false>"),
        (667, 50257, "float64", "fast_pipeline<double, Algorithm::softmax, 2, 3, 10, 128, 16, true>"),
        (441, 151_936, "float32", "fast_cluster<float, Algorithm::softmax, 4, 19, 128, 16, false, 5>"),
        (256, 262_144, "float32", RING + "4, 4, 20, 1, 1, 0, 0, 512, 33, false, false>"),
        (335, 200_000, "float32", "fast_cluster<float, Algorithm::softmax, 4, 13, 256, 16, false>"),
        (270, 248_000, "float32", RING + "4, 4, 24, 1, 1, 0, 0, 384, 44, false, false>"),
        (9, 7_000_000, "float32", RING + "18, 2, 32, 1, 1, 0, 12, 448, 132, true, false>"),
        (64, 1 << 20, "float32", RING + "4, 4, 20, 1, 1, 0, 0, 512, 132, false, false>"),
        (
            128,
            1 << 20,
            "float16",
            "fast_ring<__half, Algorithm::softmax, 8, 4, 4, 20, 1, 1, 0, 0, 512, 66, false, false>",
        ),
        (220, 151_936, "float64", "fast_grid<double, Algorithm::softmax, 2, 7, 28, 2, 512, 22, false>"),
        (1, 262_144, "float32", "fast_grid<float, Algorithm::softmax, 4, 1, 1, 0, 512, 132, false>"),
        (64, 1 << 23, "float32", RING + "20, 2, 32, 1, 1, 0, 16, 448, 132, true, false>"),
        (1, 1 << 24, "float32", RING + "55, 2, 32, 1, 1, 13, 16, 448, 132, true, false>"),
        (1, 32000, "float32", "fast_cluster<float, Algorithm::softmax, 4, 4, 128, 16, false>"),
    ],
)
def test_the_kernels_of_the_h200(rows: int, cols: int, dtype: str, kernel: str) -> None:
    assert made(rows, cols, dtype).name == kernel


def test_few_rows_take_more_sms_per_row() -> None:
    assert made(1, 32000).cluster > made(100_000, 32000).cluster
    long_doubles = made(1, 32000, "float64")
    question = next(step for step in long_doubles.steps if "half as many rows" in step.question)
    assert question.answer is True
    assert question.values == {"rows": 1, "sms": 132}


def test_a_block_has_a_pipeline_alone_only_if_every_sm_has_a_row() -> None:
    for rows, device, cluster in (
        (132, "H100", 1),
        (131, "H100", 8),
        (132, "H200", 4),
        (131, "H200", 4),
        (80, "H200", 8),
    ):
        plan = made(rows, 16384, "float64", device=device)
        assert (plan.kernel, plan.cluster) == ("fast_pipeline", cluster), (rows, device)


def test_a_long_gradient_of_doubles_has_smaller_blocks() -> None:
    plan = made(667, 50257, "float64", op="log_softmax_backward")
    assert plan.name == "fast_cluster_backward<double, Algorithm::log_softmax, 2, 13, 128, 16, true>"


def test_no_clusters_of_sixteen_where_eight_are_the_most() -> None:
    assert {made(1000, cols, device="sm_120").cluster for cols in range(1000, 400_000, 9973)} <= {None, 2, 4, 8}
    assert made(1000, 140_000, device="H200").cluster == 16


def a_long_pipeline(rows: int) -> Plan:
    """Doubles that begin anywhere are moved one by one: packs of 8 bytes, for which the grid kernel is not."""
    lookup = lambda *_: Resources(64, 2048, 0, 0, "")  # noqa: E731
    return plans.forced(rows, 250_000, "float64", pack_size=1, policy="fast", device="H200", lookup=lookup)


def test_the_pipeline_fills_the_gpu_once_where_a_block_has_its_sm_alone() -> None:
    alone = a_long_pipeline(64)
    assert alone.name == "fast_pipeline<double, Algorithm::softmax, 1, 3, 13, 1024, 16, false>"
    assert alone.grid == 16 * clusters_of(Device.named("H200"), 16) == 112
    several = made(261, 128_256, "float64")
    assert several.kernel == "fast_pipeline"
    assert several.grid == 261 * several.cluster


def test_occupancy_is_that_of_a_kernel_that_asks_for_its_shared_memory() -> None:
    """The reference never asks for more than 48 KiB; the pipeline kernel here has 104, the grid kernel 224."""
    pipeline, grid = a_long_pipeline(64), made(64, 1 << 20, "float64")
    assert pipeline.smem_bytes == 13 * 1024 * 8
    assert pipeline.occupancy.blocks_per_sm == 1
    assert pipeline.waves == 112 / 132
    assert grid.smem_bytes == 28 * 512 * 16
    assert (grid.occupancy.blocks_per_sm, grid.waves) == (1, 1.0)


def test_rows_in_flight() -> None:
    """As many as help, fewer where there are few rows or they are long; none where the GPU lacks mbarriers."""
    rows_in_flight = {rows: numbers(made(rows, 1 << 20))[3] for rows in (1, 2, 3, 6)}
    assert rows_in_flight == {1: 0, 2: 1, 3: 2, 6: 4}
    assert numbers(made(100, 650_000, "float64"))[3] == 3
    assert numbers(made(100, 850_000, "float64"))[3] == 2
    assert made(64, 1 << 20, device="sm_80").kernel != "fast_grid"
    assert made(64, 1 << 20, device="sm_80").workspace_bytes == 0


def test_a_ring_takes_rows_that_leave_the_grid_kernel_waiting() -> None:
    """All but rows that fit the chip together."""
    assert made(153, 437_701).kernel == made(64, 1 << 20).kernel == made(4, 1 << 22).kernel == "fast_ring"
    assert made(2, 1 << 22).kernel == made(8, 800_001).kernel == "fast_grid"
    assert made(60, 300_001, "float64", op="log_softmax", device="H100").kernel == "fast_ring"
    assert made(153, 437_701, device="sm_80").kernel == "fast_stream"
    later = replace(devices.resolve("H200"), compute_capability=(10, 0))
    assert made(153, 437_701, device=later).kernel == "fast_ring", "GPUs after the H200 have what it needs, too"


def test_softmax_of_doubles_stays_in_the_grid_kernel_while_it_holds_four_rows() -> None:
    """It keeps their exponentials. A block has 28 stages: four rows of 7 packs per thread, three of 8.

    So on an H100. Where memory is as fast as an H200's, the times of both kernels choose (test_fast_doubles.py).
    """
    thread = 132 * 512 * 2  # doubles of one pack per thread
    packs_and_kernels = {packs: made(100, packs * thread, "float64", device="H100").kernel for packs in (5, 7, 8, 16)}
    assert packs_and_kernels == {5: "fast_grid", 7: "fast_grid", 8: "fast_ring", 16: "fast_ring"}
    assert made(2, 8 * thread, "float64").kernel == "fast_grid", "the rows fit the chip together"


def test_a_ring_holds_few_rows_at_once() -> None:
    """As few as keep its threads from being the bound: a row's start and end cost what its packs must outlast."""

    def rows_at_once(rows: int, cols: int, dtype: str = "float32", op: str = "softmax") -> int:
        questions = {step.question: step.answer for step in made(rows, cols, dtype, op=op).steps}
        return questions["How many rows at once?"]

    assert rows_at_once(60, 1 << 20) == rows_at_once(60, 1 << 20, op="softmax_backward") == 1
    assert 1 < rows_at_once(256, 1 << 18) <= 4
    assert rows_at_once(600, 600_000, "float16") <= rows_at_once(600, 600_001, "float16"), "a head and a tail cost more"


def test_a_ring_is_no_longer_than_a_row_and_the_answer_need() -> None:
    """One step of copies ahead, a row's packs, and what is loaded until the row's statistic is known, in steps."""
    _, packs, per_step, stages, ahead, _, again, kept, _, blocks = numbers(made(60, 1 << 20))
    assert (packs, per_step, ahead, again, kept, blocks) == (4, 4, 1, 0, 0, 132)
    assert packs + ahead * per_step < stages == packs + ahead * per_step + 12 < 28
    assert made(60, 1 << 20).smem_bytes == stages * 512 * 16


@pytest.mark.parametrize(
    ("cols", "dtype", "op", "kept", "again"),
    [
        (4_700_000, "float32", "softmax", 0, 0), (7_000_000, "float32", "softmax", 12, 0),
        (8_000_000, "float32", "softmax", 16, 0), (13_000_000, "float32", "softmax", 16, 5),
        (2_000_000, "float32", "softmax_backward", 0, 0), (4_000_000, "float32", "softmax_backward", 7, 0),
        (8_000_000, "bfloat16", "softmax_backward", 7, 0), (4_000_000, "float64", "softmax", 0, 2),
    ],
)  # fmt: skip
def test_registers_keep_what_the_ring_does_not(cols: int, dtype: str, op: str, kept: int, again: int) -> None:
    """All packs of a thread are in registers, in the ring or read again. Where the ring has room for the row and almost
    for the answer, registers hold none, nor do those of softmax of doubles.
    """
    plan = made(20, cols, dtype, op=op)
    _, packs, per_step, stages, ahead, _, *found, block_size, blocks = numbers(plan)
    assert found == [again, kept]
    assert packs <= stages - ahead * per_step + again * per_step
    assert (kept + packs) * block_size * blocks * plan.pack_size >= cols
    assert block_size == (448 if kept else 512)


def test_registers_keep_no_more_packs_than_shorten_the_wait() -> None:
    """Stripes: an H200. The H100 keeps as many as fit, and only where a row would wait longer."""
    for rows, cols, dtype, op, most, h100 in (
        (20, 2_600_000, "float32", "softmax_backward", 3, 0), (20, 2_800_000, "float32", "softmax_backward", 4, 5),
        (20, 5_100_000, "bfloat16", "softmax_backward", 3, 0), (20, 5_300_000, "float32", "softmax", 6, 0),
        (20, 1_240_000, "float64", "log_softmax_backward", 3, 0),
    ):  # fmt: skip
        assert numbers(made(rows, cols, dtype, op=op))[7] == most, (cols, dtype, op)
        assert numbers(made(rows, cols, dtype, op=op, device="H100"))[7] == h100, (cols, dtype, op)


def test_a_thread_of_a_ring_counts_its_packs_in_an_int() -> None:
    """A row of 132 x 512 threads with 2^31 - 1 packs each; it begins up to 7 packs behind a line."""
    longest = (132 * 512 * (2**31 - 1) - 7) * 4
    plans_of = {cols: made(1, cols) for cols in (longest, longest + 4, longest + 132 * 512 * 4)}
    assert [plan.kernel == "fast_ring" for plan in plans_of.values()] == [True, False, False]
    assert numbers(plans_of[longest])[1] == 2**31 - 1


def test_a_small_ring_writes_half_of_the_packs_itself() -> None:
    """Registers hold at most half of the packs, where a GPU's shared memory holds few."""
    _, packs, _, _, _, _, _, kept, *_ = numbers(made(20, 8_500_000, "float16", device=Device.named("RTX 5090")))
    assert 0 < kept <= packs < 16


def test_few_rows_leave_two_blocks_on_an_sm() -> None:
    """Exponentials of long rows of doubles: the time of a row says too little of them."""
    for rows, cols in ((42, 6848), (32, 28_924), (24, 18_508)):
        assert made(rows, cols, "float64").grid <= 2 * 132, (rows, cols)
    assert made(10, 12_974, "float64").cluster == 8


def test_few_long_rows_are_taken_at_once() -> None:
    """Two rounds of four rows, not three of three."""
    questions = {step.question: step.answer for step in made(8, 262_144).steps}
    assert questions["How many rows at once?"] == 4
    assert questions["How many blocks share a row?"] == 33
    assert made(8, 262_144).grid == 132


def test_arrays_that_begin_anywhere() -> None:
    plan = plans.forced(10, 1000, "float16", pack_size=1, policy="fast", lookup=lambda *_: Resources(64, 0, 0, 0, ""))
    assert plan.pack_size == 1
    assert plan.name == "fast_block<__half, Algorithm::softmax, 1, 4, 256, false>"


@pytest.mark.parametrize("pack_size", each(2, [1, 2, 4, 8]))
def test_short_rows_of_halves_in_any_packs(pack_size: int) -> None:
    """200 packs of one element are more than 32 lanes hold in six packs each."""
    for cols in (192, 200, 248, 256):
        plan = plans.forced(100_000, cols, "float16", policy="fast", device="H200", pack_size=pack_size)
        assert plan.kernel.startswith(("fast_", "warp")), cols


def test_a_grid_has_its_limit() -> None:
    """A kernel with a loop over rows takes more rows than a grid has blocks, the others do not."""
    plan = made(2**33, 40_000, "float64")
    assert (plan.kernel, plan.grid) == ("fast_pipeline", MOST_BLOCKS)
    assert MOST_BLOCKS < 2**31
    with pytest.raises(PlanError, match=rf"a grid has at most {MOST_BLOCKS} blocks; {2**33} rows take {2**33}"):
        made(2**33, 2000)


def test_kernels_of_the_reference_are_not_for_this_policy() -> None:
    with pytest.raises(PlanError, match=r"force the policy 'oneflow'"):
        plans.forced(10, 100, kernel="warp", policy="fast")
    with pytest.raises(PlanError, match=r"belongs to policy='fast'"):
        plans.forced(10, 100, kernel="fast_warp")
    with pytest.raises(PlanError, match=r"at most 96 packs; 4000 columns are 1000"):
        plans.forced(10, 4000, kernel="fast_warp", policy="fast")


def test_nothing_to_do() -> None:
    assert (made(0, 5).kernel, made(5, 0).grid) == ("none", 0)


def test_a_plan_says_what_it_reads_and_what_else_there_was() -> None:
    stream, once = made(64, 1 << 23, device="sm_80"), made(64, 1000)
    assert stream.global_bytes == 3 * 64 * (1 << 23) * 4
    ring = made(64, 1 << 24)
    assert ring.read_again == 132 * 13 * 2 * 448 * 4, "13 steps of two packs of each of 132 x 448 threads"
    assert ring.global_bytes == (2 * (1 << 24) + ring.read_again) * 64 * 4
    gradient = made(8, 1 << 23, op="softmax_backward")
    assert gradient.global_bytes == (3 * (1 << 23) + 2 * gradient.read_again) * 8 * 4
    assert made(16, 1 << 22).read_again == 0
    assert once.global_bytes == 2 * 64 * 1000 * 4
    others = once.alternatives(lookup=lambda *_: Resources(32, 0, 0, 0, ""))
    assert [other.kernel for other in others if other.chosen] == ["fast_block"]
    assert {other.kernel for other in others} == {"fast_block", "warp", "block_smem", "block_uncached"}


def test_the_reference_is_untouched() -> None:
    """The policy is a field of a request, and nothing of "oneflow" asks for it."""
    plan = plans.plan(32, 1000, device="H200")
    assert (plan.policy, plan.kernel, plan.cluster) == ("oneflow", "warp", None)


@pytest.mark.parametrize("policy", ["fast", "oneflow", "invariant"])
def test_rows_along_the_last_axis_have_stride_1(policy: str) -> None:
    plan = plans.plan(50, 100, policy=policy, device="H200", lookup=lambda *_: Resources(64, 0, 0, 0, ""))
    assert plan.stride == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["softmax", "log_softmax", "softmax_backward"])
def test_blocks_all_over_the_gpu_share_rows_from_some_length_on(op: str, dtype: str) -> None:
    """Rows of more than 640 KiB of each input, of doubles forward of more than 1 MiB; there a pipeline goes before.
    Where threads count beside memory, as on an H200, the time decides (test_long_rows.py)."""
    itemsize = element_type(dtype).itemsize
    forward_doubles = itemsize == 8 and not op.endswith("_backward")
    most = (1 << 20 if forward_doubles else 640 << 10) // itemsize
    pack = 16 // itemsize
    kernels = [made(1024, cols, dtype, op=op, device="H100").kernel for cols in (most, most + pack)]
    assert kernels == ["fast_pipeline" if forward_doubles else "fast_cluster", "fast_ring"]
