"""Run a case on an executor and compare: the result with the oracle, and all other memory with what it was.

Around and between the elements of every array there is a pattern (:mod:`tests.random_cases.prepare`), and none of it
may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import or_
from typing import Any, Protocol

import numpy as np

import softlab
from softlab import fused, plans
from softlab.dtypes import element_type
from softlab.plans import Plan
from softlab.plans.instantiations import BLOCK_SIZES
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources
from tests.kernels import philox
from tests.random_cases import oracle
from tests.random_cases.bounds import Approx, Arithmetic, Judgement, compare, stored
from tests.random_cases.cases import Case
from tests.random_cases.fusions import CaseFusion
from tests.random_cases.layouts import Layout
from tests.random_cases.prepare import Placed, PreparedCase, prepare


class CaseExecutor(Protocol):
    """Where arrays are put and operators run.

    ``aligns``: arrays are copied to where every pack is aligned. ``repeats``: a second call on like arrays may take
    another path than the first, so some cases are called twice.
    """

    aligns: bool
    repeats: bool

    def memory(self, host: np.ndarray, case: Case) -> Any:
        """A copy of one-dimensional host memory where the executor computes."""

    def view(self, memory: Any, layout: Layout, shape: tuple[int, ...]) -> Any:
        """An array of the caller's library over it."""

    def fetch(self, array: Any) -> np.ndarray:
        """A copy in host memory."""

    def cast(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """What the library's own cast makes of the values."""


class Emulator:
    """NumPy arrays, in the emulator, whose memory is a GPU's: every array starts an allocation there."""

    aligns = True
    repeats = False

    def memory(self, host: np.ndarray, case: Case) -> np.ndarray:
        return host.copy()

    def view(self, memory: np.ndarray, layout: Layout, shape: tuple[int, ...]) -> np.ndarray:
        strides = tuple(stride * memory.itemsize for stride in layout.strides)
        return np.ndarray(shape, memory.dtype, memory, layout.offset * memory.itemsize, strides)

    def fetch(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def cast(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(dtype)


@dataclass(frozen=True)
class Performed:
    """What came back, where the executor computes: the results (two with dropout), and all memory.

    ``raised`` says what the operator raised instead.
    """

    prepared: PreparedCase
    results: tuple[Any, ...] = ()
    memories: tuple[Any, ...] = ()
    raised: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a case went: what is wrong, "" if nothing, and how near to its bound the result came."""

    case: Case
    problem: str
    ratio: float = 0.0
    compared: int = 0
    undetermined: int = 0
    kernel: str = "none"


def perform(prepared: PreparedCase, executor: CaseExecutor) -> Performed:
    """Call the operator; on a GPU this does not wait for it."""
    if executor.repeats and prepared.case.random("repeat").random() < 0.5:
        first = _called(prepared, executor)
        if first.raised:
            return first
    return _called(prepared, executor)


def _called(prepared: PreparedCase, executor: CaseExecutor) -> Performed:
    """The operator on new copies of the arrays."""
    case, out = prepared.case, None
    memories = [executor.memory(memory, case) for memory in prepared.memories]
    placed = [*prepared.inputs, *prepared.operands.values()]
    arrays = [executor.view(memory, one.layout, one.shape) for memory, one in zip(memories, placed, strict=False)]
    if prepared.out is not None:
        out = executor.view(memories[prepared.holds_out], prepared.out.layout, case.shape)
    inputs, operands = arrays[: len(prepared.inputs)], arrays[len(prepared.inputs) :]
    keywords = {"axis": case.axis, "dtype": case.cast, "out": out, "policy": case.policy}
    keywords |= dict(zip(prepared.operands, operands, strict=True))
    operators = softlab
    if case.fusion is not None:
        operators, keywords = fused, {**keywords, **_numbers(case, case.fusion)}
    try:
        with np.errstate(over="ignore"):  # a cast to a smaller type: NumPy warns of infinities
            result = getattr(operators, case.op)(*inputs, **keywords)
    except Exception as error:
        return Performed(prepared, raised=f"{type(error).__name__}: {error}")
    results = result if isinstance(result, tuple) else (result,)
    if out is not None and results[0] is not out:
        return Performed(prepared, raised="the result is not out")
    return Performed(prepared, results, tuple(memories))


def _numbers(case: Case, fusion: CaseFusion) -> dict[str, Any]:
    """What a fused operator takes beside arrays."""
    given: dict[str, Any] = {"scale": fusion.scale, "causal": fusion.causal, "diagonal": fusion.diagonal}
    if not case.backward:
        given["fill"] = fusion.fill
    if fusion.dropout:
        given |= {"dropout": fusion.dropout, "seed": fusion.seed}
    return given


def judge(performed: Performed, executor: CaseExecutor) -> Outcome:
    """Compare with the oracle and look after the rest of the memory."""
    prepared, case = performed.prepared, performed.prepared.case
    if performed.raised:
        return Outcome(case, performed.raised)
    results, wanted = [executor.fetch(result) for result in performed.results], element_type(case.result).numpy
    for got in results:
        if got.shape != case.shape or got.dtype != wanted:
            return Outcome(case, f"the result is {got.dtype} {got.shape}, expected {wanted} {case.shape}")
    if changed := _changed(prepared, [executor.fetch(memory) for memory in performed.memories]):
        return Outcome(case, changed)
    if not results[0].size:
        return Outcome(case, "")
    taken_plans = _plans(case, executor)
    expected, compute = _expected(prepared, executor, reduce(or_, map(oracle.evaluation, taken_plans)))
    if len(results) != len(expected):
        return Outcome(case, f"{len(results)} results, expected {len(expected)}")
    problem, verdicts = "", []
    for number, (got, wanted_values) in enumerate(zip(results, expected, strict=True)):
        turned = np.swapaxes(got, case.axis, -1) if case.shape else got.reshape(1)
        verdicts.append(compare(turned, wanted_values, compute))
        if verdicts[-1].wrong.any() and not problem:
            problem = f"result {number}: {_difference(turned, wanted_values, verdicts[-1])}"
    return Outcome(
        case,
        problem,
        max(verdict.ratio for verdict in verdicts),
        sum(verdict.compared for verdict in verdicts),
        sum(verdict.undetermined for verdict in verdicts),
        taken_plans[0].kernel,
    )


def run(case: Case, executor: CaseExecutor) -> Outcome:
    """Prepare, perform, judge."""
    return judge(perform(prepare(case), executor), executor)


def _changed(prepared: PreparedCase, after: Sequence[np.ndarray]) -> str:
    """What memory changed that had no business to; "" if none."""
    for k, (old, new) in enumerate(zip(prepared.memories, after, strict=True)):
        same = (_bytes(old) == _bytes(new)).all(axis=1)
        if prepared.out is not None and k == prepared.holds_out:
            same[prepared.out.indices] = True
        if not same.all():
            return f"memory {k} has changes beyond out: first at element {int(np.argmin(same))} of {len(old)}"
    return ""


def _bytes(memory: np.ndarray) -> np.ndarray:
    return memory.view(np.uint8).reshape(-1, memory.itemsize)


def _expected(
    prepared: PreparedCase, executor: CaseExecutor, evaluation: oracle.Evaluation
) -> tuple[tuple[Approx, ...], str]:
    """The oracle's answers with the axis last, and the compute type."""
    case, fusion = prepared.case, prepared.case.fusion
    element = element_type(case.result)
    arithmetic = Arithmetic(element.compute, fast=element.compute == "float32")
    axis = case.axis if case.shape else 0

    def turned(array: np.ndarray) -> np.ndarray:
        """Broadcast to the inputs' shape, the axis last."""
        return np.swapaxes(np.broadcast_to(array, case.shape).reshape(case.shape or (1,)), axis, -1)

    def numbers(placed: Placed) -> Approx:
        same = placed.memory.dtype == element.numpy
        return arithmetic.exact(turned(placed.array if same else executor.cast(placed.array, element.numpy)))

    inputs = [numbers(placed) for placed in prepared.inputs]
    if fusion is None:
        formula = oracle.BACKWARD[case.op] if case.backward else oracle.FORWARD[case.op]
        return (formula(arithmetic, *inputs, evaluation),), element.compute
    operands = prepared.operands
    kept = turned(operands["mask"].array != 0) if "mask" in operands else np.True_
    if fusion.causal:
        rows, cols = np.indices(inputs[0].value.shape[-2:])
        kept = kept & (cols <= rows + fusion.diagonal)
    stays = philox.kept(inputs[0].value.shape, fusion.dropout, fusion.seed) if fusion.dropout else None
    if case.backward:
        if stays is not None:
            inputs[0] = oracle.dropped(arithmetic, inputs[0], fusion, stays)
        return (
            oracle.fused_gradient(arithmetic, oracle.BACKWARD[case.op](arithmetic, *inputs, evaluation), fusion, kept),
        ), element.compute
    bias = numbers(operands["bias"]) if "bias" in operands else None
    y = oracle.FORWARD[case.op](arithmetic, oracle.fused_input(arithmetic, inputs[0], fusion, bias, kept), evaluation)
    if stays is None:
        return (y,), element.compute
    converted = evaluation.drops_stored and element.numpy != element.compute
    whole = stored(y, element.numpy) if converted else y
    return (oracle.dropped(arithmetic, whole, fusion, stays), y), element.compute


def _plans(case: Case, executor: CaseExecutor) -> list[Plan]:
    """The plan, and the one with packs of one element where the arrays may not be aligned to a pack."""
    problem = (case.rows, case.cols, case.result, case.op, case.policy)
    strided = case.policy == "fast" and case.fusion is None and case.stride > 1 and case.rows
    strides = (case.stride, 1) if strided else (1,)
    aligned = executor.aligns or (set(case.memory) == {"plain"} and case.out != "input shifted")
    singles = (False,) if aligned else (False, True)
    # Another axis than the last goes to another kernel, but not where it lies last in memory.
    if case.fusion is None:
        return [_planned(*problem, single, stride) for stride in strides for single in singles]
    itemsize = element_type(case.result).itemsize
    steps = [
        FusedSteps(operands, shared, bool(case.fusion.causal), bool(case.fusion.dropout), alike)
        for operands in ((), (1,), (itemsize,), (itemsize, 1))
        for shared in ((True, False) if operands else (False,))
        for alike in ((1, 2, 4, 8) if shared else (1,))
    ]
    found = [_planned(*problem, single, 1, fused) for single in singles for fused in steps]
    # A fused kernel takes other registers, and so perhaps another block.
    return [
        replace(plan, block=(size, 1)) if plan.kernel == "block_smem" else plan
        for plan in found
        for size in BLOCK_SIZES
    ]


@lru_cache(maxsize=4096)
def _planned(
    rows: int, cols: int, dtype: str, op: str, policy: str, single: bool, stride: int, fused: FusedSteps | None = None
) -> Plan:
    """The plan of a fused operator does not ask what its kernel takes, so any answer does."""
    same: Any = {"op": op, "policy": policy, "stride": stride, "fused": fused}
    same["lookup"] = (lambda *_: Resources(32, 1024, 0, 0, "")) if fused else None
    if single:
        return plans.forced(rows, cols, dtype, pack_size=1, **same)
    return plans.plan(rows, cols, dtype, **same)


def _difference(got: np.ndarray, expected: Approx, verdict: Judgement) -> str:
    first = tuple(int(k) for k in np.argwhere(verdict.wrong)[0])
    return (
        f"{np.count_nonzero(verdict.wrong)} of {got.size} elements are off; the first at {first} (axis last): got "
        f"{got[first]!s}, expected {expected.value[first]!s} +- {float(expected.error[first]):.3g}"
    )
