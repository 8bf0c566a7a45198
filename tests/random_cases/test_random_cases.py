"""Random cases in the emulator (a few hundred) and, marked ``gpu``, on the GPU; and that a broken operator is found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softlab
from softlab import fused, plans
from softlab.hardware import devices
from softlab.plans.resources import Resources
from tests.hardware.random_cases import Drawing
from tests.random_cases import fusions, layouts, oracle, values
from tests.random_cases.__main__ import main
from tests.random_cases.cases import (
    BACKWARD,
    COLS,
    DTYPES,
    FORWARD,
    LONGEST,
    OUTS,
    Case,
    drawn,
    parsed,
    shrunk,
    simpler,
)
from tests.random_cases.check import Emulator, run
from tests.random_cases.few_sms import plan_for
from tests.random_cases.oracle import evaluation
from tests.random_cases.prepare import Placed, prepare
from tests.sampled import in_sample, sampled

#: Cases of this seed run in each test run: other cases each time would make a run either green or red by chance.
SEED, COUNT, PORTIONS = 2026, 400, 8
MOST = 6_000


#: The portion that `.ci/run` takes.
SAMPLE = 0
EVERY_PORTION = sampled(range(PORTIONS), lambda portion: portion == SAMPLE)


@pytest.mark.parametrize("portion", EVERY_PORTION)
def test_cases_in_the_emulator(portion: int) -> None:
    """`.ci/run` runs 50 cases, `make test` all 400."""
    check(portion, Emulator())


@pytest.mark.parametrize("op", sampled([*FORWARD, *BACKWARD], lambda op: op == BACKWARD[1]))
def test_every_kernel_of_long_rows_has_an_evaluation(op: str) -> None:
    for dtype, cols in product(DTYPES, (70_000, 400_001, 3_000_000)):
        plan = softlab.plan(4, cols, dtype, op=op, policy="fast", device="H200")
        assert evaluation(plan).additions >= 1, (dtype, plan.kernel)


def test_the_sample_covers_every_class() -> None:
    """Each operator with each type, each kind of values, memory, `out` and fusion, each policy."""
    portions = [portion for (portion,) in in_sample(EVERY_PORTION)]
    cases = [drawn(SEED, k, most=MOST) for portion in portions for k in range(portion, COUNT, PORTIONS)]
    assert {(case.op, case.result) for case in cases} == set(product((*FORWARD, *BACKWARD), DTYPES))
    assert {case.out for case in cases} == set(OUTS)
    assert {kind for case in cases for kind in case.kinds} == set(values.KINDS)
    assert {kind for case in cases for kind in case.memory} == set(layouts.KINDS)
    assert {case.policy for case in cases} >= {"oneflow", "fast"}
    parts = {part for case in cases if case.fusion for part in case.fusion.name.split("+")}
    assert parts == {"scale", "bias", "mask", "causal", "dropout"}


@pytest.mark.gpu
@pytest.mark.parametrize("portion", range(PORTIONS))
def test_cases_on_the_gpu(portion: int) -> None:
    from tests.hardware.random_cases import Gpu

    check(portion, Gpu())


def check(portion: int, executor: Any) -> None:
    failed = []
    for number in range(portion, COUNT, PORTIONS):
        outcome = run(drawn(SEED, number, most=MOST), executor)
        if outcome.problem:
            failed.append(f"{outcome.problem}\n  python -m tests.random_cases --case '{outcome.case}'")
    assert not failed, "\n".join(failed)


@pytest.mark.further
def test_few_sms_bring_tiles_to_small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles take 256 rows per SM, 33 792 of an H100: random cases reach them with plans for four SMs."""
    monkeypatch.setitem(devices._NAMED, devices.DEFAULT_NAME, devices.resolve())  # the default again, afterwards
    plan_for(4)
    drawing = Drawing(5, ("fast",), most=150_000, least=1, longest=128, fused=0.5, sms=4)
    cases = [case for case in map(drawing.case, range(30)) if case.rows * case.cols <= 30_000]
    outcomes = [run(case, Emulator()) for case in cases]
    assert not [(outcome.problem, str(outcome.case)) for outcome in outcomes if outcome.problem]
    assert {outcome.kernel for outcome in outcomes if outcome.case.fusion} >= {"fast_tile", "fast_warp"}
    assert {outcome.kernel for outcome in outcomes if not outcome.case.fusion} >= {"fast_tile", "fast_warp"}


EVERYTHING = fusions.CaseFusion(
    scale=0.5, bias=(True, True), mask=(True, True), causal=True, diagonal=9, dropout=0.5, seed=3
)


def plain_case(**parts: Any) -> Case:
    given = {"op": "softmax", "shape": (4, 33), "axis": -1, "dtype": "float32", "draw": 1, "kinds": ("normal",)}
    return Case(**{**given, "memory": ("plain", "plain"), **parts})


class TestEvaluations:
    @pytest.mark.parametrize(
        ("shape", "dtype", "kernel"),
        [((64, 1 << 23), "float32", "fast_ring"), ((16, 1 << 22), "float32", "fast_ring"),
         ((6, 1 << 20), "float32", "fast_grid"), ((8192, 8192), "float32", "fast_cluster")],
    )  # fmt: skip
    def test_long_rows_have_one(self, shape: tuple[int, int], dtype: str, kernel: str) -> None:
        """Few cases are so long, so the sample alone would not find a kernel without one."""
        lookup = lambda *_: Resources(64, 2048, 0, 0, "")  # noqa: E731
        plan = plans.plan(*shape, dtype, policy="fast", device="H200", lookup=lookup)
        assert plan.kernel == kernel
        assert oracle.evaluation(plan).additions > math.log2(shape[1])


class TestDrawing:
    def test_the_same_numbers_give_the_same_case(self) -> None:
        assert drawn(1, 5, most=MOST) == drawn(1, 5, most=MOST)
        assert drawn(1, 5, most=MOST) != drawn(2, 5, most=MOST)
        one, other = (prepare(drawn(1, 5, most=MOST)).inputs[0].memory for _ in range(2))
        assert one.tobytes() == other.tobytes()

    def test_rows_of_any_length_from_the_least_one_on(self) -> None:
        given = {"most": 10**6, "least": 60_000, "longest": 500_000}
        cols = [drawn(3, number, **given).cols for number in range(50)]
        assert min(cols) >= 60_000
        assert max(cols) <= 500_000
        assert len(set(cols)) == 50
        assert not {60_000, 500_000} & set(cols), "none is cut to an end"

    def test_a_printed_case_is_read_again(self) -> None:
        for number in range(50):
            case = drawn(3, number, most=MOST)
            assert parsed(str(case)) == case

    def test_every_class_is_drawn(self) -> None:
        cases = [drawn(SEED, number, most=MOST) for number in range(1500)]
        assert {case.op for case in cases} == {*FORWARD, *BACKWARD}
        assert {case.result for case in cases} == set(DTYPES)
        assert {case.out for case in cases} == set(OUTS)
        assert {kind for case in cases for kind in case.kinds} == set(values.KINDS)
        assert {kind for case in cases for kind in case.memory} == set(layouts.KINDS)
        lengths = {min(cols, LONGEST) for pool in (*COLS.values(), fusions.COLS) for cols in pool}
        assert {case.cols for case in cases} == lengths
        assert {case.policy for case in cases} == {"oneflow", "fast"}
        parts = {part for case in cases if case.fusion for part in case.fusion.name.split("+")}
        assert parts == {"scale", "bias", "mask", "causal", "dropout"}
        assert {len(case.shape) for case in cases} == set(range(6))
        assert max(case.rows * case.cols for case in cases if case.rows > 1) <= MOST


class TestLayouts:
    @pytest.mark.parametrize("kind", layouts.KINDS)
    def test_indices(self, kind: str) -> None:
        """Every index is within the memory, unique where it must be, and a view agrees with them."""
        for seed in range(30):
            random = np.random.default_rng(seed)
            shape = tuple(int(size) for size in random.integers(1, 6, seed % 6))
            layout = layouts.KINDS[kind](random, shape)
            indices = layout.indices(shape)
            assert indices.min() >= 0
            assert indices.max() < layout.size
            assert kind == "broadcast" or np.unique(indices).size == indices.size
            memory = np.arange(layout.size)
            assert np.array_equal(Emulator().view(memory, layout, shape), Placed(memory, layout, shape).array)

    def test_some_are_what_they_are_called(self) -> None:
        shape = (3, 4, 5)
        drawn_layouts = {
            kind: [draw(np.random.default_rng(seed), shape) for seed in range(40)]
            for kind, draw in layouts.KINDS.items()
        }
        assert any(min(layout.strides) < 0 for layout in drawn_layouts["reversed_axes"])
        assert any(0 in layout.strides for layout in drawn_layouts["broadcast"])
        assert any(layout.strides[0] < layout.strides[2] for layout in drawn_layouts["permuted"])
        assert all(layout.offset for layout in drawn_layouts["shifted"])


def test_the_record_of_all_cases_on_the_gpu() -> None:
    """100 000 cases of all classes: none failed, and the bounds hold and are not far too wide."""
    record = json.loads((Path(__file__).parents[1] / "data" / "random_cases_h200.json").read_text())
    assert record["cases"] >= 100_000
    assert record["failed"] == 0
    assert set(record["classes"]["op"]) == {*FORWARD, *BACKWARD}
    assert set(record["classes"]["policy"]) == {"oneflow", "fast", "invariant"}
    margins = record["worst error / bound"]
    assert max(margins.values()) <= 1
    # Kernels that only the longest rows take had a few cases each: fewer than 8 per type and operator.
    seldom = {"none", *(kernel for kernel, cases in record["classes"]["kernel"].items() if cases < 4 * 4 * 8)}
    often = [margin for name, margin in margins.items() if name.rsplit(maxsplit=1)[1] not in seldom]
    # A kernel and a type that meet in few cases may stay far below their bound.
    assert sum(margin > 0.3 for margin in often) >= 0.98 * len(often) > 100


def test_the_record_of_an_h100() -> None:
    """All policies, with kernels of the longest rows among them."""
    record = json.loads((Path(__file__).parents[1] / "data" / "random_cases_h100.json").read_text())
    assert record["cases"] >= 100_000
    assert record["failed"] == 0
    assert max(record["worst error / bound"].values()) <= 1
    assert {"fast_ring", "fast_grid", "invariant_stream"} <= set(record["classes"]["kernel"])


def test_the_record_of_long_rows_on_an_h100() -> None:
    """Rows of any length from 60 000 columns on."""
    record = json.loads((Path(__file__).parents[1] / "data" / "random_long_cases_h100.json").read_text())
    assert record["cases"] > 500
    assert record["failed"] == 0
    assert max(record["worst error / bound"].values()) <= 1
    assert min(record["classes"]["kernel"][name] for name in ("fast_ring", "fast_grid", "fast_cluster")) >= 20


# Each operator has one error. The search must find it and reduce it to a small case


def without_last_column(x: np.ndarray, **_: Any) -> np.ndarray:
    """Where the length is odd and more than a warp, the last column stays as it was."""
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    if x.shape[-1] % 2 and x.shape[-1] > 32:
        y[..., -1] = 7
    return y.astype(x.dtype)


def summed_in_half(x: np.ndarray, **_: Any) -> np.ndarray:
    """float16 adds in float16, not in float."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True, dtype=x.dtype)).astype(x.dtype)


def writes_beyond(x: np.ndarray, *, out: np.ndarray, **_: Any) -> np.ndarray:
    """Writes the element behind the result."""
    right = x.astype(np.float64)
    right = np.exp(right - right.max(axis=-1, keepdims=True))
    out[...] = right / right.sum(axis=-1, keepdims=True)
    np.ndarray(1, out.dtype, out.base, (out.base.size - 1) * out.itemsize)[0] = 1
    return out


def last_nan_lost(x: np.ndarray, **_: Any) -> np.ndarray:
    """A row with NaN is NaN but for positions of -inf."""
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float64) - np.fmax.reduce(x, axis=-1, keepdims=True, initial=-np.inf))
        y = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.isneginf(x), 0, y).astype(x.dtype)


@pytest.mark.parametrize(
    ("broken", "case", "wrong"),
    [
        (without_last_column, plain_case(), "elements are off"),
        (summed_in_half, plain_case(shape=(4, 200), dtype="float16"), "elements are off"),
        (writes_beyond, plain_case(out="own with any layout", memory=("plain", "sliced")), "changes beyond out"),
        (last_nan_lost, plain_case(shape=(64, 200), kinds=("not_a_number",)), "elements are off"),
        (lambda x, **_: x.astype(np.float64), plain_case(), "the result is float64"),
        (lambda x, **_: 1 / 0, plain_case(), "ZeroDivisionError"),
        (lambda x, out, **_: x, plain_case(out="own"), "the result is not out"),
    ],
)
def test_a_broken_operator_is_found(
    broken: Callable[..., Any], case: Case, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not run(case, Emulator()).problem
    monkeypatch.setattr(softlab, "softmax", broken)
    assert wrong in run(case, Emulator()).problem


@pytest.mark.parametrize(
    "wrong",
    [{"scale": 0.501}, {"diagonal": 10}, {"seed": 4}, {"dropout": 0.51}, {"fill": 0.0}, {"mask": None}, {"bias": None}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_broken_fusion_is_found(wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    case = plain_case(fusion=EVERYTHING, shape=(3, 5, 33))
    assert not run(case, Emulator()).problem
    right = fused.softmax
    monkeypatch.setattr(fused, "softmax", lambda *arrays, **keywords: right(*arrays, **{**keywords, **wrong}))
    assert "elements are off" in run(case, Emulator()).problem


def test_dropout_that_returns_no_softmax_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fused.softmax
    monkeypatch.setattr(fused, "softmax", lambda *arrays, **keywords: right(*arrays, **keywords)[0])
    assert run(plain_case(fusion=EVERYTHING), Emulator()).problem == "1 results, expected 2"


def test_a_failing_case_is_made_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(softlab, "softmax", without_last_column)
    case = plain_case(shape=(2, 3, 4, 127), memory=("permuted", "plain"), kinds=("few",))
    small = shrunk(case, lambda other: bool(run(other, Emulator()).problem))
    assert small.shape == (33,)
    assert small.memory == ("plain", "plain")
    assert small.kinds == ("normal",)
    assert main(["--case", str(replace(small, axis=0))]) == 1
    assert "python -m tests.random_cases --case" in capsys.readouterr().out


def test_simpler_cases_are_other_cases_and_can_be_run() -> None:
    case = drawn(SEED, 11, most=300)
    found = simpler(case)
    assert case not in found
    assert len(found) == len(set(found))
    for other in found[::3]:
        assert not run(other, Emulator()).problem
