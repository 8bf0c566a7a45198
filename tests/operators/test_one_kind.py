"""Calls with tensors of one kind: in Python and as machine code, which do the same."""

from __future__ import annotations

import gc
import itertools
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from softlab.cuda import native_functions
from softlab.errors import Error
from softlab.operators import one_kind

BIG = 1 << 50


class Tensor:
    """What a call of one kind asks of a tensor."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def data_ptr(self) -> int:
        return self.pointer


class Context:
    """What it asks of autograd's context."""

    def __init__(self) -> None:
        self.saved: list[tuple[Any, ...]] = []

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved.append(tensors)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "to_save":
            return self.assign(value)
        super().__setattr__(name, value)

    def assign(self, tensors: Any) -> None:
        assert type(tensors) is tuple
        self.saved.append(tensors)


@pytest.fixture(params=["Python", "machine code"])
def forms(request: pytest.FixtureRequest) -> Iterator[tuple[Callable[..., Any], Callable[..., Any]]]:
    """The functions that make a launcher and a chooser."""
    if request.param == "Python":
        yield one_kind._python_launcher, one_kind._python_chooser
        return
    pytest.importorskip("llvmlite")
    assert one_kind._methods() is not None
    yield one_kind._native_launcher, one_kind._native_chooser


class Steps:
    """A launch whose steps are noted. ``broken``: the step that raises, and what."""

    like = ((4, 8), (8, 1), "f32")

    def __init__(
        self, form: Callable[..., Any], *, bits: int = 0, several: bool = False, assigns: bool = False
    ) -> None:
        self.taken: list[Any] = []
        self.broken: tuple[str, type[BaseException]] | None = None
        self.current = 3
        self.new = Tensor(BIG + 32)
        self.new.data_ptr = self.result_address  # type: ignore[method-assign]
        self.launch = one_kind.KnownLaunch(
            self.launch_on, bits, self.allocate, self.like, 3, self.stream, self.gpu if several else None, assigns
        )
        self.run = form(self.launch, lambda ctx, x: ("otherwise", ctx, x))

    def step(self, name: str, *given: Any) -> None:
        self.taken.append((name, *given))
        if self.broken and self.broken[0] == name:
            raise self.broken[1](name)

    def gpu(self) -> int:
        self.step("gpu")
        return self.current

    def allocate(self, *given: Any) -> Tensor:
        self.step("allocate", *given)
        return self.new

    def result_address(self) -> int:
        self.step("result")
        return self.new.pointer

    def stream(self, gpu_index: int) -> int:
        self.step("stream", gpu_index)
        return 7 + gpu_index

    def launch_on(self, *given: int) -> None:
        self.step("launch", *given)

    def tensor(self, pointer: int) -> Tensor:
        steps = self

        class Source(Tensor):
            def data_ptr(self) -> int:
                steps.step("source")
                return self.pointer

        return Source(pointer)

    def context(self) -> Context:
        steps = self

        class Keeping(Context):
            def save_for_backward(self, *tensors: Any) -> None:
                assert not steps.launch.assigns
                steps.step("save")
                super().save_for_backward(*tensors)

            def assign(self, tensors: Any) -> None:
                assert steps.launch.assigns
                steps.step("save")
                super().assign(tensors)

        return Keeping()


STEPS = ("gpu", "source", "allocate", "stream", "result", "launch", "save")


@pytest.mark.usefixtures("nothing_before_is_collected")
class TestLauncher:
    def test_what_is_launched(self, forms: Any) -> None:
        steps = Steps(forms[0])
        assert steps.run(None, Tensor(BIG + 16)) is steps.new
        *_, launched = steps.taken
        assert launched == ("launch", 10, BIG + 16, BIG + 32)
        assert ("allocate", *Steps.like) in steps.taken
        assert ("stream", 3) in steps.taken
        assert not any(name == "gpu" for name, *_ in steps.taken)

    @pytest.mark.parametrize("assigns", [False, True])
    def test_the_context_keeps_the_result(self, forms: Any, assigns: bool) -> None:
        steps = Steps(forms[0], assigns=assigns)
        context = steps.context()
        assert steps.run(context, Tensor(BIG)) is steps.new
        assert context.saved == [(steps.new,)]

    @pytest.mark.parametrize("bits", [0, 4, 15])
    def test_other_low_bits_are_left_to_the_other_function(self, forms: Any, bits: int) -> None:
        steps = Steps(forms[0], bits=bits)
        for low in range(32):
            x, context = Tensor(BIG + low), Context()
            taken = low % 16 == bits
            assert steps.run(context, x) == (steps.new if taken else ("otherwise", context, x))
            assert len(context.saved) == taken

    def test_another_gpu_is_left_to_the_other_function(self, forms: Any) -> None:
        steps, x = Steps(forms[0], several=True), Tensor(BIG)
        assert steps.run(None, x) is steps.new
        steps.current = 2
        assert steps.run(None, x) == ("otherwise", None, x)
        assert [name for name, *_ in steps.taken].count("launch") == 1

    @pytest.mark.parametrize("error", [Error, TypeError, ValueError, RuntimeError, RecursionError])
    @pytest.mark.parametrize("assigns", [False, True])
    @pytest.mark.parametrize("step", STEPS)
    def test_after_an_error_the_other_function_takes_the_call(
        self, forms: Any, step: str, error: Any, assigns: bool
    ) -> None:
        steps = Steps(forms[0], several=True, assigns=assigns)
        x, context = steps.tensor(BIG), steps.context()
        assert steps.run(context, x) is steps.new
        assert [name for name, *_ in steps.taken] == list(STEPS)
        steps.broken = step, error
        context.saved.clear()
        assert steps.run(context, x) == ("otherwise", context, x)
        assert context.saved == []
        assert steps.taken[-1][0] == step
        steps.broken = None
        assert steps.run(context, x) is steps.new

    @pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, MemoryError])
    @pytest.mark.parametrize("assigns", [False, True])
    @pytest.mark.parametrize("step", STEPS)
    def test_another_error_is_raised(self, forms: Any, step: str, error: Any, assigns: bool) -> None:
        steps = Steps(forms[0], several=True, assigns=assigns)
        steps.broken = step, error
        with pytest.raises(error, match=step):
            steps.run(steps.context(), steps.tensor(BIG))

    def test_an_error_of_the_other_function_is_raised(self, forms: Any) -> None:
        steps = Steps(forms[0])
        run = forms[0](steps.launch, lambda ctx, x: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(None, Tensor(BIG + 1))

    @pytest.mark.parametrize("given", [(), (None,), (None, Tensor(BIG), 1)])
    def test_another_number_of_arguments_is_an_error(self, forms: Any, given: tuple[Any, ...]) -> None:
        steps = Steps(forms[0])
        with pytest.raises(TypeError):
            steps.run(*given)
        assert not steps.taken

    @pytest.mark.parametrize("assigns", [False, True])
    def test_no_reference_is_lost_or_left(self, forms: Any, assigns: bool) -> None:
        steps = Steps(forms[0], several=True, assigns=assigns)
        x, context = steps.tensor(BIG), steps.context()
        watched = (x, context, x.pointer, steps.new, steps.new.pointer, steps.like, steps.like[0], one_kind.EXPLAINED)
        gc.collect()
        before = [sys.getrefcount(value) for value in watched]
        for broken in (None, *itertools.product(STEPS, (RuntimeError, KeyError))):
            steps.broken = broken
            for _ in range(50):
                with suppress(KeyError):
                    steps.run(context, x)
                with suppress(KeyError):
                    steps.run(None, Tensor(BIG + 1))
            steps.taken.clear()
            context.saved.clear()
        gc.collect()
        assert [sys.getrefcount(value) for value in watched] == before

    def test_nothing_is_kept_alive_beyond_it(self, forms: Any) -> None:
        class Other:
            def __call__(self, ctx: Any, x: Any) -> str:
                return "otherwise"

        other = Other()
        gone = weakref.ref(other)
        run = forms[0](replace(Steps(forms[0]).launch, current_gpu=None), other)
        del other
        gc.collect()
        assert run(None, Tensor(BIG + 1)) == "otherwise"
        del run
        gc.collect()
        assert gone() is None


@pytest.mark.usefixtures("nothing_before_is_collected")
class TestChooser:
    def test_a_kind_runs_that_x_is_like(self, forms: Any) -> None:
        seen: list[Any] = []
        kinds: list[Any] = [None, None]
        call = forms[1]([(-1, None, kinds)], lambda *given: ("otherwise", *given))
        assert call("x", -1, None, None) == ("otherwise", "x", -1, None, None)
        kinds[0] = (lambda x: seen.append(x) or x in "xy", lambda x: ("first", x))
        assert call("x", -1, None, None) == ("first", "x")
        kinds[1] = (lambda x: seen.append(x) or x == "y", lambda x: ("second", x))
        assert call("y", -1, None, None) == ("second", "y")
        assert call("x", -1, None, None) == ("first", "x")
        assert call("z", -1, None, None) == ("otherwise", "z", -1, None, None)
        assert seen == ["x", "y", "x", "x", "z", "z"]

    @pytest.mark.parametrize("axis", [1.0, True, 0, -1, None, "1", 2])
    @pytest.mark.parametrize("policy", [None, "fast", "oneflow"])
    def test_axis_and_policy_must_be_the_same_objects(self, forms: Any, axis: Any, policy: Any) -> None:
        calls = [
            (2, "fast", [None, (lambda x: True, lambda x: "a")]),
            (1, None, [(lambda x: True, lambda x: "b"), None]),
        ]
        call = forms[1](calls, lambda *given: given)
        found = {(2, "fast"): "a"}.get((axis, policy), (5, axis, None, policy))
        assert call(5, axis, None, policy) == found
        assert call(5, 1, None, None) == "b"
        calls.append((axis, policy, [(lambda x: True, lambda x: "c"), None]))
        assert call(5, axis, None, policy) in ("a", "c")

    def test_only_without_a_dtype(self, forms: Any) -> None:
        call = forms[1]([(-1, None, [(lambda x: True, lambda x: "a"), None])], lambda *given: given)
        assert call(5, -1, "f16", None) == (5, -1, "f16", None)

    @pytest.mark.parametrize("answer", [1, "yes", False, None])
    def test_only_true_is_an_answer(self, forms: Any, answer: Any) -> None:
        call = forms[1]([(-1, None, [(lambda x: answer, lambda x: "a")] * 2)], lambda *given: "otherwise")
        assert call(5, -1, None, None) == "otherwise"

    def test_errors_are_raised(self, forms: Any) -> None:
        kinds = [(lambda x: 1 / 0, None), (lambda x: x > 5, lambda x: 1 // (x - 7))]
        call = forms[1]([(-1, None, kinds)], lambda *given: given)
        assert call(8, -1, None, None) == 1
        for x in (7, 5):
            with pytest.raises(ZeroDivisionError):
                call(x, -1, None, None)
        with pytest.raises(TypeError):
            call("a", -1, None, None)

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
    def test_another_number_of_arguments_is_an_error(self, forms: Any, count: int) -> None:
        call = forms[1]([(-1, None, [None, None])], lambda x, axis, dtype, policy: "otherwise")
        with pytest.raises(TypeError):
            call(*range(count))

    def test_kinds_may_be_replaced_while_they_are_asked(self, forms: Any) -> None:
        kinds: list[Any] = [None, None]

        class Answer:
            def __init__(self, value: Any) -> None:
                self.value = value

            def __call__(self, x: Any) -> Any:
                kinds[:] = [None, None]
                gc.collect()
                return self.value

        call = forms[1]([(-1, None, kinds)], lambda *given: "otherwise")
        kinds[1] = (Answer(True), Answer("ran"))
        assert call(5, -1, None, None) == "ran"
        kinds[:] = [(Answer(True), Answer("first")), (Answer(False), None)]
        assert call(5, -1, None, None) == "otherwise"

    def test_no_reference_is_lost_or_left(self, forms: Any) -> None:
        kinds: list[Any] = [(lambda x: x is None, lambda x: 1 / 0), (lambda x: x == BIG, lambda x: x)]
        entry = (-1, None, kinds)
        call = forms[1]([entry], lambda *given: given[0])
        x, other = BIG + 0, BIG + 1
        watched = (x, other, entry, kinds, *kinds, *kinds[0], *kinds[1])
        before = [sys.getrefcount(value) for value in watched]
        for _ in range(500):
            call(x, -1, None, None)
            call(other, -1, None, None)
            call(other, -1, "f16", None)
            with pytest.raises(ZeroDivisionError):
                call(None, -1, None, None)
        gc.collect()
        assert [sys.getrefcount(value) for value in watched] == before


def test_without_llvmlite_it_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    one_kind._methods.cache_clear()
    monkeypatch.setattr(native_functions, "_compiles", lambda: False)
    try:
        launch = Steps(one_kind._python_launcher).launch
        made = one_kind.launcher(launch, lambda ctx, x: None), one_kind.chooser([], lambda *given: None)
    finally:
        one_kind._methods.cache_clear()
    assert [type(function).__name__ for function in made] == ["function", "function"]


def test_with_llvmlite_it_is_machine_code() -> None:
    pytest.importorskip("llvmlite")
    launch = Steps(one_kind._python_launcher).launch
    made = one_kind.launcher(launch, lambda ctx, x: None), one_kind.chooser([], lambda *given: None)
    assert [type(function).__name__ for function in made] == ["builtin_function_or_method"] * 2
