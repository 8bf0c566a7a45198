"""Plans against the reference design, stated here a second time: as lists to search, straight from its description."""

from __future__ import annotations

import json
import pickle
import time
import zlib
from dataclasses import FrozenInstanceError
from functools import cache

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab import plans
from softlab.cuda import compile as compiler
from softlab.errors import PlanError
from softlab.hardware import devices
from softlab.hardware.devices import Device
from softlab.plans.resources import Resources
from tests import nvidia_occupancy
from tests.sampled import each

DEVICES = [Device.named(name) for name in devices.names()]
OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
DTYPES = ("float16", "bfloat16", "float32", "float64")
CUDA = {"float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double"}


@cache
def invented(name: str, arch: str) -> Resources:
    """Registers and static shared memory made up from the kernel's name, so that every choice turns up in a test."""
    seed = zlib.crc32(f"{name} on {arch}".encode())
    most = 64 if ", 1024" in name else 128
    return Resources(16 + seed % (most - 15), 8 * (seed // 97 % 80), 0, 0, "")


def lookup(instantiation, arch, options):
    return invented(instantiation.name, arch)


def reference_warp(rows, cols, pack):
    """(group width, columns per lane, rows at a time): the first entry that the row fits."""
    for width in (1, 2, 4, 8, 16, 32):
        if cols <= width * pack:
            return width, pack, 2 if rows % 2 == 0 else 1
    for held in [2, 3, *range(4, 33)] if pack == 1 else range(4, 33, 2):
        if cols <= held * 32:
            return 32, held, 1
    raise AssertionError("no such row comes to the warp kernel")


def reference_grid(device, needed, block):
    return max(1, min(needed, device.sm_count * device.max_threads_per_sm // block * 32))


def reference_block(blocks_at):
    """The block size from {size: blocks per SM}, or None."""
    if blocks_at[128] == 0:
        return None
    for size in (1024, 512, 256):
        if blocks_at[size] == blocks_at[128]:
            return size
    return 128


def reference(rows, cols, dtype, op, device, blocks_at):
    """What the plan must be, as a dict; ``blocks_at`` is what the runtime's occupancy query answers by block size."""
    gradient, algorithm = op.endswith("backward"), op.removesuffix("_backward")
    template = ("softmax_backward_" if gradient else "softmax_") + "{}<" + f"{CUDA[dtype]}, Algorithm::{algorithm}, "
    pack = 1 if cols % 2 else 2
    absent = {"thread_group_width": None, "cols_per_thread": None, "rows_per_access": None, "padding": None}
    if dtype != "float64" and (cols < 1024 or (cols == 1024 and op != "softmax")):
        width, held, at_once = reference_warp(rows, cols, pack)
        padding = cols != held * width
        groups = rows // at_once
        needed = groups // (128 // width) + (groups % (128 // width) > 0)
        arguments = f"{pack}, {held}, {width}, {at_once}, {'true' if padding else 'false'}>"
        return {
            "kernel": "warp", "pack_size": pack, "block": (width, 128 // width), "smem_bytes": 0, "layout": None,
            "grid": reference_grid(device, needed, 128), "thread_group_width": width, "cols_per_thread": held,
            "rows_per_access": at_once, "padding": padding, "name": template.format("warp") + arguments,
        }  # fmt: skip
    size = None if dtype == "float64" else reference_block(blocks_at)
    if size:
        return {
            "kernel": "block_smem", "pack_size": pack, "block": (size, 1), "layout": "column", **absent,
            "smem_bytes": cols * 4 * (2 if gradient else 1), "grid": reference_grid(device, rows, size),
            "name": template.format("block_smem") + f"{pack}, {size}, Layout::column>",
        }  # fmt: skip
    pack = 2 if cols % 2 == 0 and not (gradient and cols <= 32) else 1
    return {
        "kernel": "block_uncached", "pack_size": pack, "block": (1024, 1), "smem_bytes": 0, "layout": None, **absent,
        "grid": reference_grid(device, rows, 1024), "name": template.format("block_uncached") + f"{pack}, 1024>",
    }  # fmt: skip


def random_problems(n, seed):
    """(rows, cols, dtype, op, index of the device): near the thresholds as often as anywhere."""
    rng = np.random.default_rng(seed)
    cols = np.select(
        [rng.random(n) < 0.35, rng.random(n) < 0.2, rng.random(n) < 0.4],
        [rng.integers(1, 1100, n), 1024 + rng.integers(-3, 4, n), rng.integers(5900, 12400, n)],
        np.exp(rng.uniform(0, np.log(300_000), n)).astype(int),
    )
    rows = np.exp(rng.uniform(0, np.log(2e6), n)).astype(int)
    return list(
        zip(
            rows.tolist(), cols.tolist(), rng.choice(DTYPES, n).tolist(), rng.choice(OPS, n).tolist(),
            rng.integers(0, len(DEVICES), n).tolist(), strict=True,
        )
    )  # fmt: skip


def blocks_by_nvidia(oracle, problems):
    """For each problem {block size: blocks per SM} by NVIDIA's header, for a kernel that never asks for opt-in."""
    asked = {k: [] for k in ("which", "threads", "registers", "fixed", "dynamic")}
    for _, cols, dtype, op, which in problems:
        gradient, algorithm = op.endswith("backward"), op.removesuffix("_backward")
        for size in (128, 256, 512, 1024):
            name = (
                f"softmax_{'backward_' if gradient else ''}block_smem<{CUDA[dtype]}, Algorithm::{algorithm}, "
                f"{2 - cols % 2}, {size}, Layout::column>"
            )
            taken = invented(name, DEVICES[which].arch)
            row = (which, size, taken.registers, taken.static_smem_bytes, cols * 4 * (1 + gradient))
            for column, value in zip(asked.values(), row, strict=True):
                column.append(value)
    found = oracle.ask(*asked.values(), np.zeros(len(asked["which"])))[:, 0].reshape(-1, 4)
    return [dict(zip((128, 256, 512, 1024), row, strict=True)) for row in found.tolist()]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    try:
        return nvidia_occupancy.Oracle(tmp_path_factory.mktemp("oracle"), DEVICES)
    except nvidia_occupancy.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("count", each(2, [25_000, 100_000]))
def test_a_hundred_thousand_plans_equal_the_reference(oracle, count):
    """`.ci/run` takes a quarter of them."""
    problems = random_problems(count, seed=4)
    seen = set()
    for (rows, cols, dtype, op, which), blocks_at in zip(problems, blocks_by_nvidia(oracle, problems), strict=True):
        plan = softlab.plan(rows, cols, dtype, op=op, device=DEVICES[which], lookup=lookup)
        expected = reference(rows, cols, dtype, op, DEVICES[which], blocks_at)
        found = {name: getattr(plan, name) for name in expected}
        assert found == expected, (rows, cols, dtype, op, DEVICES[which].name)
        taken = invented(plan.name, plan.arch)
        assert (plan.registers, plan.static_smem_bytes) == (taken.registers, taken.static_smem_bytes)
        seen.add((plan.kernel, plan.block, plan.pack_size))
    kernels = [kernel for kernel, *_ in seen]
    assert {kernel: kernels.count(kernel) for kernel in kernels} == {"warp": 11, "block_smem": 8, "block_uncached": 2}


def test_the_steps_of_a_block_size_choice():
    """Every query in the order of the reference, and what it was compared with."""

    def few_blocks(instantiation, arch, options):
        size = int(instantiation.name.split(", ")[3])
        return Resources({128: 40, 256: 40, 512: 40, 1024: 64}[size], 512, 0, 0, "")

    # 12 blocks of 128 threads by registers, but only 7 by shared memory: 512 threads hold 3, 256 hold 6, none holds 7.
    plan = softlab.plan(10_000, 7900, device="H200", lookup=few_blocks)
    queries = [step for step in plan.steps if "limits" in step.values]
    assert [(step.values["block_size"], step.answer) for step in queries] == [(128, 7), (1024, 1), (512, 3), (256, 6)]
    assert [step.values.get("wanted") for step in queries] == [None, 7, 7, 7]
    assert queries[0].values["limiters"] == ("smem",)
    assert queries[0].values["smem_bytes"] == 31_600
    assert (plan.block_size, plan.smem_bytes, plan.static_smem_bytes) == (128, 31_600, 512)


def test_the_query_stops_at_the_first_block_that_holds_as_many():
    plan = softlab.plan(10_000, 12_000, device="H200", lookup=lambda *_: Resources(40, 512, 0, 0, ""))
    queries = [(step.values["block_size"], step.answer) for step in plan.steps if "limits" in step.values]
    assert queries == [(128, 4), (1024, 1), (512, 3), (256, 4)]
    assert plan.block == (256, 1)


def test_48_kib_hold_static_and_dynamic_memory_together():
    """One word too many, and the row is not cached: the reference never opts in to more, on any GPU."""
    figures = lambda *_: Resources(32, 64, 0, 0, "")  # noqa: E731
    most = (48 * 1024 - 64) // 4
    for name in ("V100", "T4", "A100", "H200", "RTX 5090"):
        kept, beyond = (softlab.plan(8, cols, device=name, lookup=figures) for cols in (most, most + 1))
        assert (kept.kernel, beyond.kernel) == ("block_smem", "block_uncached")
        refusal = next(step for step in beyond.steps if step.answer == "block_uncached")
        assert "49156 bytes per block, at most 49152" in refusal.rule
        assert "4 too many" in refusal.rule
    gradients = [
        softlab.plan(8, cols, op="softmax_backward", lookup=figures).kernel for cols in (most // 2, most // 2 + 1)
    ]
    assert gradients == ["block_smem", "block_uncached"]


def test_the_real_kernels_figures():
    """Registers and static shared memory of a plan are those of its own compiled kernel."""
    for rows, cols, dtype, op, device in (
        (64, 100, "float16", "softmax", "H200"),
        (64, 777, "float32", "log_softmax", "T4"),
    ):
        plan = softlab.plan(rows, cols, dtype, op=op, device=device)
        program = compiler.compile_program(
            compiler.kernel_sources()[plan.file], plan.name, arch=plan.arch, options=plan.options, file=plan.file
        )
        assert (plan.registers, plan.static_smem_bytes) == (program.registers, program.static_smem_bytes)
        assert program.arch == plan.arch == Device.named(device).arch
        assert plan.occupancy.blocks_per_sm > 0


def test_a_plan_takes_under_a_millisecond():
    figures = lambda *_: Resources(32, 64, 0, 0, "")  # noqa: E731
    softlab.plan(4096, 4096, device="H200", lookup=figures)
    taken = []
    for cols in range(4096, 4196):
        start = time.perf_counter()
        softlab.plan(4096, cols, device="H200", lookup=figures)
        taken.append(time.perf_counter() - start)
    assert sorted(taken)[len(taken) // 2] < 1e-3


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_an_empty_input_launches_nothing(shape):
    plan = softlab.plan(*shape, device="H200")
    assert (plan.kernel, plan.grid, plan.block, plan.registers) == ("none", 0, (0, 0), 0)
    assert len(plan.steps) == 1
    assert plan.alternatives() == ()
    with pytest.raises(PlanError, match="launches nothing"):
        plan.occupancy  # noqa: B018
    json.dumps(plan.record())


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "message"),
    [
        ((-1, 4), {}, ValueError, "rows = -1: a shape has no negative size"),
        ((4, -7), {}, ValueError, "cols = -7"),
        ((True, 4), {}, TypeError, "rows must be an integer, not True"),
        ((4.0, 4), {}, TypeError, r"rows must be an integer, not 4\.0"),
        ((4, "4"), {}, TypeError, "cols must be an integer, not '4'"),
        ((4, 4, "int32"), {}, TypeError, "dtype int32 is not supported"),
        ((4, 4, np.bool_), {}, TypeError, "dtype bool is not supported"),
        ((4, 4), {"op": "softmin"}, ValueError, "op 'softmin' is not one of softmax, log_softmax"),
        ((4, 4), {"policy": "best"}, ValueError, "policy 'best' is not one of oneflow, fast"),
        ((4, 4), {"device": "K80"}, ValueError, "unknown device 'K80'"),
        ((4, 4), {"device": 90}, TypeError, "device 90 is not a name"),
    ],
)  # fmt: skip
def test_wrong_arguments(arguments, keywords, error, message):
    with pytest.raises(error, match=message):
        softlab.plan(*arguments, **keywords)


def test_spellings_of_the_same_problem():
    plan = softlab.plan(8, 100, device="H200", lookup=lookup)
    assert softlab.plan(np.int32(8), np.int64(100), np.float32, device=Device.named("h200"), lookup=lookup) == plan
    assert softlab.plan(8, 100, np.dtype("float32"), device="sm_90", lookup=lookup) == plan
    assert softlab.plan(8, 100, ml_dtypes.bfloat16, device="H200", lookup=lookup).dtype == "bfloat16"


def test_more_than_2_to_the_31_elements():
    plan = softlab.plan(2**33, 3 * 2**31, "float16", device="H200", lookup=lookup)
    assert (plan.kernel, plan.grid) == ("block_uncached", 8448)
    assert plan.global_bytes == 4 * 2 * 2**33 * 3 * 2**31


@pytest.mark.parametrize("policy", ["oneflow", "fast"])
@pytest.mark.parametrize(
    ("rows", "cols", "said"),
    [
        (10**400, 5, "rows is an integer of 1329 bits, and a kernel takes at most 63"),
        (5, 10**5000, "cols is an integer of 16610 bits"),
        (-(10**5000), 5, "rows is an integer of 16610 bits"),
        (2**63, 3, "rows is an integer of 64 bits"),
    ],
    ids=["rows", "columns", "negative", "just beyond"],
)
def test_sizes_beyond_any_memory_are_refused(rows, cols, said, policy):
    with pytest.raises(ValueError, match=said):
        plans.plan(rows, cols, policy=policy)
    with pytest.raises(ValueError, match=said):
        plans.forced(rows, cols, pack_size=1, policy=policy)
    assert plans.plan(2**63 - 1, 2**63 - 1, policy=policy).rows == 2**63 - 1


def test_a_plan_is_frozen_plain_and_printable():
    plan = softlab.plan(4096, 2048, device="H200", lookup=lookup)
    with pytest.raises(FrozenInstanceError):
        plan.grid = 1
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert len({plan, pickle.loads(pickle.dumps(plan)), softlab.plan(4096, 2049, device="H200", lookup=lookup)}) == 2
    record = json.loads(json.dumps(plan.record()))
    assert (record["device"], record["arch"], record["kernel"]) == ("H200", "sm_90", "block_smem")
    assert [step["question"] for step in record["steps"]] == [step.question for step in plan.steps]
    text = str(plan)
    assert text.splitlines()[0] == "softmax of 4096 x 2048 float32 on H200 (sm_90): block_smem"
    assert all(step.question in text for step in plan.steps)
    assert repr(plan).startswith("<Plan softmax 4096 x 2048 float32 on H200: block_smem, pack 2, ")


def test_every_choice_in_the_plan_is_the_answer_of_a_step():
    rng = np.random.default_rng(9)
    for rows, cols, dtype, op, which in random_problems(400, seed=int(rng.integers(1 << 30))):
        plan = softlab.plan(rows, cols, dtype, op=op, device=DEVICES[which], lookup=lookup)
        last = {step.question: step.answer for step in plan.steps}
        assert last["Which kernel?"] == plan.kernel
        assert last["How many elements does a thread move at once?"] == plan.pack_size
        assert last["How many blocks?"] == plan.grid
        if plan.kernel == "warp":
            assert last["How many lanes own a row?"] == plan.thread_group_width
            assert last["How many columns does a lane hold?"] == plan.cols_per_thread
            assert last["How many rows at a time?"] == plan.rows_per_access
            assert last["Do lanes hold columns beyond the row?"] == plan.padding
        else:
            assert last["Which block size?"] == plan.block_size
        assert all(step.rule or step.question.startswith("Do lanes") for step in plan.steps)
        assert all(step.answer in step.choices for step in plan.steps if "How many blocks" not in step.question)
        assert all(not step.choices for step in plan.steps if "How many blocks" in step.question)


def test_the_tree_is_lit_along_the_plans_steps():
    """From the root down the lit path: exactly one lit answer to each question, and the steps in their order."""

    def words(answer):
        return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)

    for rows, cols, dtype, op, which in random_problems(100, seed=5):
        plan = softlab.plan(rows, cols, dtype, op=op, device=DEVICES[which], lookup=lookup)
        node, path = plan.tree(), []
        while node.children:
            (node,) = (child for child in node.children if child.lit)
            path.append(node.label)
        expected = [text for step in plan.steps for text in (step.question, words(step.answer))]
        assert path == [*expected, f"{plan.kernel}, {plan.grid} blocks"]
    labels = [answer.label for answer in _question(plan.tree(), "Which kernel?").children]
    assert labels == ["warp", "block_smem", "block_uncached"]


def _question(node, label):
    return node if node.label == label else next(_question(child, label) for child in node.children if child.lit)


def test_traffic():
    """Read once and written once, or read three times; a gradient has two inputs and reads them twice at most."""
    figures = lambda *_: Resources(32, 64, 0, 0, "")  # noqa: E731
    plan = lambda cols, **k: softlab.plan(10, cols, "float16", lookup=figures, **k).global_bytes  # noqa: E731
    assert plan(100) == 10 * 100 * 2 * 2
    assert plan(50_000) == 10 * 50_000 * 2 * 4
    assert plan(100, op="softmax_backward") == 10 * 100 * 2 * 3
    assert plan(50_000, op="softmax_backward") == 10 * 50_000 * 2 * 5
    assert plan(50_000, op="log_softmax_backward") == 10 * 50_000 * 2 * 4


# Forced plans


def test_forcing_what_the_dispatcher_chooses_changes_nothing_but_the_steps():
    for rows, cols, dtype, op, which in random_problems(300, seed=11):
        device = DEVICES[which]
        plan = softlab.plan(rows, cols, dtype, op=op, device=device, lookup=lookup)
        again = plans.forced(
            rows, cols, dtype, kernel=plan.kernel, pack_size=plan.pack_size, block_size=plan.block_size,
            layout=plan.layout, op=op, device=device, lookup=lookup,
        )  # fmt: skip
        assert {**vars(again), "steps": ()} == {**vars(plan), "steps": ()}
        assert plans.forced(rows, cols, dtype, op=op, device=device, lookup=lookup) == plan


@pytest.mark.parametrize("block_size", [128, 256, 512, 1024])
@pytest.mark.parametrize("kernel", ["block_smem", "block_uncached"])
def test_forced_block_kernels(kernel, block_size):
    plan = plans.forced(33, 64, kernel=kernel, block_size=block_size, pack_size=4, device="H200", lookup=lookup)
    assert (plan.kernel, plan.block, plan.pack_size, plan.grid) == (kernel, (block_size, 1), 4, 33)
    assert f"4, {block_size}" in plan.name


def test_forced_layout_and_pack():
    plan = plans.forced(8, 2048, kernel="block_smem", layout="row_scalar", device="H200", lookup=lookup)
    assert plan.name.endswith("Layout::row_scalar>")
    assert plan.layout == "row_scalar"
    one = plans.forced(8, 64, pack_size=1, device="H200", lookup=lookup)
    assert (one.kernel, one.pack_size, one.cols_per_thread, one.thread_group_width) == ("warp", 1, 2, 32)
    eight = plans.forced(8, 1000, "float16", pack_size=8, device="H200", lookup=lookup)
    assert (eight.pack_size, eight.cols_per_thread, eight.padding) == (8, 32, True)
    assert plans.forced(8, 96, "float16", pack_size=8, device="H200", lookup=lookup).thread_group_width == 16


@pytest.mark.parametrize(
    ("problem", "keywords", "error", "message"),
    [
        ((8, 63), {"pack_size": 2}, PlanError, "packs of 2 do not divide a row of 63 columns"),
        ((8, 64, "float64"), {"pack_size": 4}, PlanError, "a pack of 4 float64 is 32 bytes"),
        ((8, 1500), {"kernel": "warp"}, PlanError, "at most 1024 columns; 1500 are 476 too many"),
        ((8, 64), {"kernel": "warp", "block_size": 256}, PlanError, "has blocks of 128 threads, not 256"),
        ((8, 20_000), {"kernel": "block_smem"}, PlanError, "does not fit in blocks of 128: smem: 80.*too many"),
        (
            (8, 64),
            {"kernel": "cache"},
            ValueError,
            "kernel 'cache' is not one of warp, block_smem, block_uncached",
        ),
        ((8, 64), {"pack_size": 3}, ValueError, "pack_size 3 is not one of 1, 2, 4, 8"),
        ((8, 64), {"pack_size": 0}, ValueError, "pack_size 0 is not one of"),
        ((8, 64), {"block_size": 96}, ValueError, "block_size 96 is not one of 128, 256, 512, 1024"),
        ((8, 64), {"layout": "diagonal"}, ValueError, "layout 'diagonal' is not one of column, row, row_scalar"),
    ],
)
def test_what_cannot_be_forced(problem, keywords, error, message):
    with pytest.raises(error, match=message):
        plans.forced(*problem, device="H200", lookup=lookup, **keywords)


def test_a_forced_block_size_leaves_the_kernel_open():
    """Too long for shared memory: the dispatcher still falls back, with the block that was asked for."""
    plan = plans.forced(8, 20_000, block_size=256, device="H200", lookup=lookup)
    assert (plan.kernel, plan.block_size) == ("block_uncached", 256)


def test_alternatives_are_the_counterfactuals():
    plan = softlab.plan(4096, 2048, device="H200", lookup=lookup)
    found = {(a.kernel, a.block_size): a for a in plan.alternatives(lookup=lookup)}
    assert len(found) == 9
    assert [a.plan for a in found.values() if a.chosen] == [plan]
    assert found["warp", 128].plan is None
    assert "2048 are 1024 too many" in found["warp", 128].reason
    for (kernel, block_size), alternative in found.items():
        if alternative.plan:
            assert (alternative.plan.kernel, alternative.plan.block_size) == (kernel, block_size)
            assert alternative.plan.registers == invented(alternative.plan.name, "sm_90").registers
            assert (alternative.plan.rows, alternative.plan.cols) == (4096, 2048)


def test_waves():
    plan = softlab.plan(132 * 16 * 3, 2048, device="H200", lookup=lambda *_: Resources(32, 64, 0, 0, ""))
    assert (plan.block_size, plan.occupancy.blocks_per_sm, plan.waves) == (128, 16, 3.0)


@pytest.mark.parametrize("kernel", ["block_smem", "block_uncached"])
@pytest.mark.parametrize("cols", [2000, 12_000])
@pytest.mark.parametrize("block_size", [None, 128, 1024])
@pytest.mark.parametrize("pack_size", [None, 1])
def test_a_rule_says_what_was_asked_for(kernel: str, cols: int, block_size: int | None, pack_size: int | None) -> None:
    """And nothing else was."""
    resources = [Resources(registers, 2048, 0, 0, "") for registers in (32, 255 // 4)]
    for few in resources:
        try:
            plan = plans.forced(1000, cols, kernel=kernel, block_size=block_size, pack_size=pack_size, device="H200",
                                lookup=lambda *_, few=few: few)  # fmt: skip
        except PlanError:
            assert (kernel, block_size) == ("block_smem", 1024) or cols > 2000
            continue
        rules = {step.question: step.rule for step in plan.steps}
        assert rules["Which kernel?"] == "asked for"
        assert (rules["How many elements does a thread move at once?"] == "asked for") == (pack_size is not None)
        assert (rules["Which block size?"] == "asked for") == (block_size is not None), rules["Which block size?"]
