"""Prepared launches of CuPy's arrays, with stand-ins for them: which call is taken, and what the launch gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.operators import executors, prepared, rows
from softlab.operators.functions import trace_plan
from softlab.plans import plan as plan_for
from tests.sampled import each

NBYTES = 128


class Array:
    """What the fast path asks of a CuPy array."""

    def __init__(self, shape: tuple[int, ...] = (4, 8), dtype: Any = np.float32, *, at: int = 9 * 1024,
                 contiguous: bool = True, gpu: int = 0) -> None:  # fmt: skip
        self.shape, self.dtype, self._c_contiguous = shape, dtype, contiguous
        self.data = SimpleNamespace(ptr=at, device_id=gpu)


class Ready:
    """A launch that keeps what it gets."""

    def __init__(self, in_place: bool = True) -> None:
        self.nbytes, self.in_place, self.launched = NBYTES, in_place, []

    def launch(self, stream: int, *pointers: int) -> None:
        self.launched.append((stream, list(pointers)))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple]]:
    """What launches are prepared for; ``ready`` is what they are."""
    problems: list[tuple] = []
    ready = Ready()
    monkeypatch.setattr(prepared, "_prepare", lambda *problem: problems.append(problem) or ready)
    problems.append(ready)
    return problems


def path(*, several: bool = False, current: int = 0) -> Any:
    stream = lambda gpu: SimpleNamespace(ptr=7 + gpu)  # noqa: E731
    return prepared._cupy_fast_path(Array, stream, lambda: current, several)


def test_what_a_launch_gets(asked: list[Any]) -> None:
    ready, launch = asked[0], path()
    x, y, out = Array(at=1024), Array(at=2048 + 8), Array(at=4096 + 4)
    made = launch("softmax", (x,), -1, None, "fast", "H200")
    assert (type(made), made.shape, made.dtype) == (Array, (4, 8), np.float32)
    assert launch("softmax_backward", (x, y), 1, out, None, None) is out
    assert launch("softmax_backward", (y, x), 1, None, None, None).data.ptr == 9 * 1024
    assert asked[1:] == [
        ("softmax", (4, 8), np.float32, 0, 0, -1, "fast", "H200"),
        ("softmax_backward", (4, 8), np.float32, 0, 12, 1, None, None),
        ("softmax_backward", (4, 8), np.float32, 0, 8, 1, None, None),
    ]
    assert ready.launched == [(7, [1024, 9216]), (7, [1024, 2056, 4100]), (7, [2056, 1024, 9216])]


@pytest.mark.parametrize("change", [{"shape": (8, 4)}, {"shape": (4, 7)}, {"dtype": np.float64}, {"contiguous": False}])
def test_arrays_that_differ(asked: list[Any], change: dict[str, Any]) -> None:
    launch, x, other = path(), Array(at=1024), Array(at=2048, **change)
    assert launch("softmax_backward", (x, other), -1, None, None, None) is None
    assert launch("softmax", (x,), -1, other, None, None) is None
    assert launch("softmax_backward", (x, x, other), -1, None, None, None) is None
    assert len(asked) == 1
    if change == {"contiguous": False}:
        assert launch("softmax", (other,), -1, None, None, None) is None
        assert launch("softmax", (other,), -1, x, None, None) is None
    assert asked[0].launched == []


def test_arrays_of_another_type(asked: list[Any]) -> None:
    class Derived(Array):
        pass

    for other in (Derived(at=2048), np.zeros((4, 8), np.float32)):
        assert path()("softmax_backward", (Array(at=1024), other), -1, None, None, None) is None
        assert path()("softmax", (Array(at=1024),), -1, other, None, None) is None


@pytest.mark.parametrize("in_place", [True, False])
def test_an_out_that_overlaps_an_input(asked: list[Any], in_place: bool) -> None:
    """The same memory where the kernel allows it; never a part of it, on either side."""
    asked[0].in_place = in_place
    for distance in (-129, -128, -127, -1, 0, 1, 127, 128, 129):
        taken = abs(distance) >= NBYTES or (distance == 0 and in_place)
        x, other, out = Array(at=4096), Array(at=8192), Array(at=4096 + distance)
        for op, inputs in (("softmax", (x,)), ("softmax_backward", (x, other)), ("softmax_backward", (other, x))):
            found = path()(op, inputs, -1, out, None, None)
            assert found is (out if taken else None), (op, distance)


def test_all_arrays_are_on_the_current_gpu(asked: list[Any]) -> None:
    for current, first, second, third in product(range(2), repeat=4):
        x, y, out = Array(at=1024, gpu=first), Array(at=2048, gpu=second), Array(at=4096, gpu=third)
        for inputs, target in (((x,), None), ((x, y), None), ((x, y), out), ((x,), out)):
            asked[0].launched.clear()
            found = path(several=True, current=current)("softmax", inputs, -1, target, None, None)
            gpus = {one.data.device_id for one in (*inputs, target or x)}
            assert (found is not None) == (gpus == {current})
            assert [stream for stream, _ in asked[0].launched] == [7 + current] * (found is not None)
        assert path(current=current)("softmax", (x,), -1, None, None, None) is not None, "one GPU: nothing is asked"
    assert {problem[3] for problem in asked[1:]} == {0, 1}


def test_without_a_launch_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_prepare", lambda *problem: None)
    assert path()("softmax", (Array(),), -1, None, None, None) is None
    assert path()("softmax", (Array(),), -1, Array(at=4096), None, None) is None


@pytest.mark.parametrize(
    ("shape", "axis", "policy", "rows_cols_stride"),
    [
        ((4, 8), -1, "oneflow", (4, 8, 1)), ((4, 8), 1, None, (4, 8, 1)), ((4, 8), 0, "fast", (8, 4, 8)),
        ((3, 4, 8), 1, "fast", (24, 4, 8)), ((3, 4, 8), 0, None, (32, 3, 32)), ((3, 4, 8), 2, "invariant", (12, 8, 1)),
        ((3, 4, 8), -2, "fast", (24, 4, 8)), ((8,), 0, "oneflow", (1, 8, 1)), ((), -1, "oneflow", (1, 1, 1)),
        ((4, 8), 0, "oneflow", None), ((4, 8), 0, "invariant", None), ((0, 8), -1, "fast", None),
        ((4, 0), -1, "fast", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("op", each(2, ["softmax", "log_softmax_backward"]))
def test_what_is_prepared_is_the_plan(
    monkeypatch: pytest.MonkeyPatch, op: str, shape: tuple[int, ...], axis: int, policy: str | None,
    rows_cols_stride: tuple[int, int, int] | None,
) -> None:  # fmt: skip
    made: list[tuple] = []
    monkeypatch.setattr(prepared, "program_of", lambda plan: plan)
    monkeypatch.setattr(prepared.gpu, "launcher", lambda *given, **named: made.append((given, named)) or "launch")
    prepare = prepared._prepare.__wrapped__
    for bits in (0, 4, 12):
        found = prepare(op, shape, np.dtype(np.float32), 3, bits, axis, policy, "H200")
        if rows_cols_stride is None:
            assert found is None
            continue
        (plan, grid, block, smem, pointers, integers, gpu), named = made.pop()
        assert (plan.rows, plan.cols, plan.stride) == rows_cols_stride
        assert (plan.op, plan.policy, plan.device.name) == (
            op,
            policy or "fast",
            plan_for(1, 1, device="H200").device.name,
        )
        assert bits % (plan.pack_size * 4) == 0
        usual = rows.planned(rows.PlanKey(*rows_cols_stride[:2], "float32", op, plan.policy, plan.device,
                                          rows_cols_stride[2]))  # fmt: skip
        assert (plan == usual) == (bits % (usual.pack_size * 4) == 0)
        assert (grid, block, smem) == ((plan.grid, 1, 1), (*plan.block, 1), plan.smem_bytes)
        assert (pointers, integers, gpu) == (3 if "backward" in op else 2, executors.integers(plan), 3)
        assert named == {"cooperative": plan.cooperative, "workspace_bytes": plan.workspace_bytes}
        assert (found.launch, found.nbytes, found.in_place) == ("launch", int(np.prod(shape)) * 4, plan.in_place)
    assert not made


def test_what_try_launch_leaves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dtype to cast to, an axis that is no int, and every error that the general path explains."""
    given: list[tuple] = []
    monkeypatch.setattr(prepared, "_fast_path", lambda kind: lambda *call: given.append(call) or "taken")
    x = object()
    assert prepared.try_launch("softmax", (x,), -1, None, None, "fast", "H200") == "taken"
    assert given == [("softmax", (x,), -1, None, "fast", "H200")]
    for axis, dtype in ((True, None), (1.0, None), (np.int64(1), None), (1, "float32"), (None, None)):
        assert prepared.try_launch("softmax", (x,), axis, dtype, None, None, None) is None
    for error in (softlab.errors.Error, TypeError, ValueError, RuntimeError):

        def refuse(*call: Any, error: type[Exception] = error) -> None:
            raise error("no")

        monkeypatch.setattr(prepared, "_fast_path", lambda kind, refuse=refuse: refuse)
        assert prepared.try_launch("softmax", (x,), -1, None, None, None, None) is None
    monkeypatch.setattr(prepared, "_fast_path", lambda kind: None)
    assert prepared.try_launch("softmax", (x,), -1, None, None, None, None) is None


@pytest.mark.parametrize(("module", "name", "gpu", "made"), [
    ("cupy", "ndarray", True, True), ("cupy", "ndarray", False, False), ("cupy", "matrix", True, False),
    ("torch", "Tensor", True, True), ("torch.nn", "Tensor", True, False),
])  # fmt: skip
def test_the_libraries_with_a_fast_path(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str, gpu: bool, made: bool
) -> None:
    kind = type(name, (), {"__module__": module})
    monkeypatch.setattr(prepared, "_FAST_PATHS", {key: lambda array: array for key in prepared._FAST_PATHS})
    monkeypatch.setattr(prepared.Device, "present", lambda: gpu)
    assert prepared._fast_path.__wrapped__(kind) is (kind if made else None)


def test_a_plan_runs_on_inputs_of_its_own_shape() -> None:
    plan = softlab.plan(2, 64, device="H200")
    x = np.random.default_rng(0).standard_normal((2, 64))
    assert np.array_equal(trace_plan(plan, x).output, softlab.softmax(x.astype(np.float32), policy="oneflow"))
    for shape in ((2, 63), (2, 65), (1, 64), (3, 64), (64, 2), (128,)):
        words = rf"x has the shape \({', '.join(map(str, shape))},?\), the plan is for \(2, 64\) and {plan.grid} blocks"
        with pytest.raises(ValueError, match=words):
            trace_plan(plan, np.zeros(shape, np.float32))
    for wrong in ((), (x, x)):
        with pytest.raises(ValueError, match=rf"softmax takes 1 input\(s\), got {len(wrong)}"):
            trace_plan(plan, *wrong)
    with pytest.raises(ValueError, match=r"the plan is for \(0, 64\) and 0 blocks"):
        trace_plan(softlab.plan(0, 64, device="H200"), np.zeros((0, 64)))
    backward = softlab.plan(2, 64, op="softmax_backward", device="H200")
    with pytest.raises(ValueError, match=r"x has the shape \(2, 63\)"):
        trace_plan(backward, x, np.zeros((2, 63)))


def test_an_operator_with_a_launch_of_its_own_gets_all_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each public operator hands all that it was given to both paths."""
    x, y, out = np.zeros((2, 4), np.float32), np.ones((2, 4), np.float32), np.zeros((2, 4), np.float32)
    functions = softlab.operators.functions
    for op in ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"):
        inputs = (x, y) if "backward" in op else (x,)
        calls: list[tuple] = []
        monkeypatch.setattr(functions.prepared, "try_launch", lambda *call, calls=calls: calls.append(call) or "ready")
        given = {"dtype": np.float16, "out": out, "policy": "fast", "device": "H100"}
        assert getattr(softlab, op)(*inputs, 0, **given) == "ready"
        assert getattr(softlab, op)(*inputs) == "ready"
        assert calls == [(op, inputs, 0, np.float16, out, "fast", "H100"), (op, inputs, -1, None, None, None, None)]
        monkeypatch.setattr(functions.prepared, "try_launch", lambda *call: None)
        asked: list[tuple] = []
        monkeypatch.setattr(
            functions, "apply", lambda *given, asked=asked: asked.append(given) or SimpleNamespace(output="general")
        )
        assert getattr(softlab, op)(*inputs, 0, **given) == "general"
        names = ("dy", "y") if "backward" in op else ("x",)
        assert asked == [(rows.OperatorCall(op, 0, np.float16, out, "fast", "H100", names), inputs)]
        monkeypatch.undo()


def test_a_plan_of_packs_of_one_element_says_why() -> None:
    problem = rows.PlanKey(6, 64, "float32", "softmax", "fast", plan_for(1, 1, device="H200").device)
    usual, single = rows.planned(problem), rows.planned(problem, True)
    assert usual.pack_size > single.pack_size == 1
    assert single.steps[0].question == "Do the arrays start at a multiple of a pack, and lie apart?"
    assert (single.steps[0].answer, single.steps[0].values) == (False, {})
    assert usual == plan_for(6, 64, "float32", policy="fast", device="H200")
    other = rows.planned(replace(problem, stride=64, rows=64, cols=6))
    assert other == plan_for(64, 6, "float32", policy="fast", device="H200", stride=64)
