"""What a call is made of before a kernel runs: problem, arrays, the memory of results. Kernels are stand-ins."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.errors import Error
from softlab.hardware.devices import Device
from softlab.operators import estimates, executors, rows
from softlab.operators.executors import Executor
from softlab.operators.row_view import RowView, StridedView
from softlab.operators.rows import Launcher, OperatorCall, PlanKey


class Kernels:
    """Plans that are asked for, and what their kernels would get. Each kernel stores 1 + the sum of its inputs."""

    def __init__(self, patch: pytest.MonkeyPatch, grid: int = 4, pack_size: int = 4, in_place: bool = True) -> None:
        self.asked: list[tuple[PlanKey, bool]] = []
        self.launched: list[tuple[Any, tuple, bool]] = []
        self._made = SimpleNamespace(grid=grid, pack_size=pack_size, in_place=in_place)
        executor = Executor(np, executors.arrays.host_array, executors.arrays.from_host, lambda x, info: nullcontext(),
                            self.ready)  # fmt: skip
        patch.setattr(rows.executors, "executor_for", lambda on_gpu: executor)
        self.launcher = Launcher(self.plan, lambda plan, inputs, output, *further: (*inputs, output, *further), 0)

    def plan(self, problem: PlanKey, single: bool) -> Any:
        self.asked.append((problem, single))
        return SimpleNamespace(**{**vars(self._made), "pack_size": 1}) if single else self._made

    def ready(self, plan: Any, args: tuple, record: bool) -> Any:
        def run() -> str:
            self.launched.append((plan, args, record))
            *inputs, output = args
            output[...] = 1 + sum(inputs)
            return "run"

        return run

    @property
    def singles(self) -> list[bool]:
        return [single for _, single in self.asked]


def call(**given: Any) -> OperatorCall:
    return OperatorCall("softmax", **{"device": "H200", **given})


def test_a_problem_is_that_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    for policy, axis in product((None, "oneflow", "fast", "invariant"), range(-3, 3)):
        kernels = Kernels(monkeypatch)
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        found = rows.apply(call(axis=axis, policy=policy), (x,), launcher=kernels.launcher)
        shape = (2, 3, 4)[axis]
        stride = {1: 4, 0: 12}.get(axis % 3, 1) if policy == "fast" else 1
        key = PlanKey(24 // shape, shape, "float32", "softmax", policy or "oneflow", Device.named("H200"), stride)
        assert kernels.asked == [(key, False)]
        assert np.array_equal(found.output, x + 1)
        assert found.output.flags.c_contiguous
        assert (found.run, found.further, found.plan) == ("run", (), kernels._made)


@pytest.mark.parametrize("policy", ["fast", "oneflow"])
def test_rows_stay_where_they_lie_where_they_can(monkeypatch: pytest.MonkeyPatch, policy: str) -> None:
    """A launcher that takes no strided rows, and an array whose exchange is no copy, get rows of the last axis."""
    kernels = Kernels(monkeypatch)
    x = np.zeros((3, 4), np.float32)
    rows.apply(call(axis=0, policy=policy), (x,), launcher=kernels.launcher)
    rows.apply(call(axis=0, policy=policy), (np.zeros((4, 3), np.float32).T,), launcher=kernels.launcher)
    unstrided = Launcher(kernels.plan, kernels.launcher.arguments, strided=False)
    rows.apply(call(axis=0, policy=policy), (x,), launcher=unstrided)
    assert [problem.stride for problem, _ in kernels.asked] == [4 if policy == "fast" else 1, 1, 1]
    assert {(problem.rows, problem.cols) for problem, _ in kernels.asked} == {(4, 3)}


@pytest.mark.parametrize("in_place", [True, False])
def test_an_out_that_the_kernel_writes(monkeypatch: pytest.MonkeyPatch, in_place: bool) -> None:
    """It writes into ``out`` where that has the rows' order, and lies apart from the input or upon it."""
    memory = np.arange(200, dtype=np.float32)
    x = memory[40:64].reshape(4, 6)
    outs = {
        "apart": (memory[80:104].reshape(4, 6), True, False), "upon": (x, True, not in_place),
        "before": (memory[16:40].reshape(4, 6), True, False), "behind": (memory[64:88].reshape(4, 6), True, False),
        "shifted": (memory[44:68].reshape(4, 6), False, False), "turned": (memory[80:104].reshape(6, 4).T, False,
        False),
        "within a pack": (memory[81:105].reshape(4, 6), True, True),
    }  # fmt: skip
    for name, (out, direct, single) in outs.items():
        kernels, before, right = Kernels(monkeypatch, in_place=in_place), memory.copy(), x + 1
        found = rows.apply(call(out=out), (x,), launcher=kernels.launcher)
        assert found.output is out
        assert np.array_equal(out, right), name
        ((plan, args, record),) = kernels.launched
        assert np.shares_memory(args[-1], memory) == direct, name
        assert (kernels.singles, plan.pack_size) == (([False, True], 1) if single else ([False], 4)), name
        assert not record
        memory[:] = before


def test_inputs_that_begin_within_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = np.arange(200, dtype=np.float32)
    for start, pack_size in product(range(9), (1, 2, 4)):
        kernels = Kernels(monkeypatch, pack_size=pack_size)
        rows.apply(call(), (memory[start : start + 24].reshape(4, 6),), launcher=kernels.launcher)
        assert kernels.singles == ([False] if start % pack_size == 0 else [False, True]), (start, pack_size)
    kernels = Kernels(monkeypatch)
    both = OperatorCall("softmax_backward", device="H200", names=("dy", "y"))
    rows.apply(both, (memory[:24].reshape(4, 6), memory[25:49].reshape(4, 6)), launcher=kernels.launcher)
    assert kernels.singles == [False, True], "any of the inputs"


def test_further_results_and_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels(monkeypatch)
    given: list[tuple] = []

    def arguments(plan: Any, inputs: tuple, output: np.ndarray, *further: np.ndarray) -> tuple:
        given.append((inputs, output, further))
        for number, array in enumerate(further):
            array[...] = 10 + number
        return (inputs[0], output)

    x, operand = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.zeros((3, 1), np.float16).T
    launcher = Launcher(kernels.plan, arguments, further=2)
    asked = call(axis=1, names=("x", "mask"))
    found = rows.apply(asked, (x,), (operand,), launcher=launcher)
    (inputs, output, further) = given[0]
    assert inputs[1] is operand, "as it is"
    assert inputs[0].shape == output.shape == (8, 3)
    assert [array.shape for array in further] == [(8, 3)] * 2
    assert [array.shape for array in found.further] == [(2, 3, 4)] * 2
    assert [set(array.reshape(-1).tolist()) for array in found.further] == [{10.0}, {11.0}]
    assert np.array_equal(found.output, x + 1)
    out = np.zeros_like(x)
    again = rows.apply(call(axis=1, names=("x", "mask"), out=out), (x,), (operand,), launcher=launcher)
    assert again.output is out
    assert [set(array.reshape(-1).tolist()) for array in again.further] == [{10.0}, {11.0}]


def test_nothing_to_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels(monkeypatch, grid=0)
    out = np.full((0, 4), 7, np.float32)
    for given in (None, out):
        found = rows.apply(call(out=given), (np.zeros((0, 4), np.float32),), launcher=kernels.launcher)
        assert found.run is None
        assert found.output.shape == (0, 4)
    assert kernels.launched == []
    assert kernels.singles == [False, False]


def test_inputs_that_do_not_fit() -> None:
    x = np.zeros((2, 3), np.float32)
    names = OperatorCall("softmax_backward", device="H200", names=("dy", "y"))
    with pytest.raises(
        TypeError, match=r"^dy has dtype float32, y float64: give both in one dtype, or name with dtype="
    ):
        rows.apply(names, (x, x.astype(np.float64)))
    for shape in ((3, 2), (2, 2), (2, 4), (6,)):
        words = rf"^dy has shape \(2, 3\), y \({shape[0]},.*\): give arrays of one shape$"
        with pytest.raises(ValueError, match=words):
            rows.apply(names, (x, np.zeros(shape, np.float32)))
    with pytest.raises(TypeError, match=r"^y of dtype str32 cannot be cast to float32"):
        rows.apply(OperatorCall("softmax_backward", dtype="float32", names=("dy", "y")), (x, np.array([["a"] * 3] * 2)))


def test_what_no_policy_means() -> None:
    assert [rows.policy_of(None, on_gpu=on_gpu) for on_gpu in (False, True)] == ["oneflow", "fast"]
    for asked, on_gpu in product(("fast", "oneflow", "invariant", ""), (False, True)):
        assert rows.policy_of(asked, on_gpu=on_gpu) == asked


def test_the_arguments_of_a_plain_kernel() -> None:
    """The stride comes last, where it is not 1."""
    for stride in (1, 2, 5):
        plan: Any = SimpleNamespace(rows=6, cols=64, stride=stride)
        expected = (6, 64) if stride == 1 else (6, 64, stride)
        assert executors.integers(plan) == expected
        *arrays, _ = found = executors.arguments(plan, ("x", "y"), "out")
        assert arrays[:3] == ["x", "y", "out"]
        assert found[3:] == expected
        assert {type(one) for one in found[3:]} == {np.int64}


def test_the_executor_of_arrays_on_the_host() -> None:
    found = executors.executor_for(False)
    assert found.xp is np
    assert (found.to_kernel, found.from_kernel, found.ready) == (
        executors.arrays.host_array, executors.arrays.from_host, executors.emulation
    )  # fmt: skip
    with found.on_stream_of(None, None) as nothing:
        assert nothing is None


@pytest.mark.parametrize(
    ("shape", "axis", "last"), [((2, 3), 1, True), ((2, 3), 0, False), ((), 0, True), ((4,), 0, True)]
)
def test_the_order_of_rows(shape: tuple[int, ...], axis: int, last: bool) -> None:
    assert RowView(shape, axis).axis_is_last == RowView(shape, axis).keeps_order == last
    assert RowView(shape, axis).stride == 1
    if shape:
        assert StridedView(shape, axis).keeps_order
        assert StridedView(shape, axis).stride == int(np.prod(shape[axis + 1 :]))


def test_the_launch_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple] = []
    monkeypatch.setattr(estimates.Kernel, "from_program", lambda *given: made.append(given) or "kernel")
    launched = SimpleNamespace(program="program", arguments=lambda: ("x", "y"), variables="variables")
    run: Any = SimpleNamespace(launched=launched, grid=3, block=64, smem_bytes=128)
    launch = {"grid": 3, "block": 64, "args": ("x", "y"), "smem": 128, "device": "H100"}
    assert estimates._of_run(run, "H100") == ("kernel", launch)
    assert made == [("program", "variables")]
    with pytest.raises(Error, match=r"a run from a file does not know its arguments: call kernel.estimate"):
        estimates._of_run(SimpleNamespace(launched=None), None)


def test_which_subject_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = softlab.plan(6, 64, device="H200")
    monkeypatch.setattr(estimates, "_of_plan", lambda plan, device: ("plan", plan, device))
    monkeypatch.setattr(estimates, "_of_run", lambda run, device: ("run", run, device))
    trace = softlab.trace(np.zeros((1, 4), np.float32))
    assert estimates._launch(plan, "H100") == ("plan", plan, "H100")
    assert estimates._launch(trace, None) == ("plan", trace.plan, None)
    assert estimates._launch(trace.run, None) == ("run", trace.run, None)
    without = estimates.Trace(output=trace.output, plan=None, run=trace.run)
    assert estimates._launch(without, None) == ("run", trace.run, None)
