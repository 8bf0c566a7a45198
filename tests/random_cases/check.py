"""Run a case on an executor and compare: the result with the oracle, and all other memory with what it was.

Each input and ``out`` lies in memory of its own, or ``out`` in an input's; around and between their elements there is a
pattern, and none of it may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Any, Protocol

import numpy as np

import softlab
from softlab import plans
from softlab.dtypes import element_type
from softlab.plans import Plan
from tests.random_cases import layouts, oracle, values
from tests.random_cases.bounds import Approx, Arithmetic, Verdict, compare
from tests.random_cases.cases import Case
from tests.random_cases.layouts import Layout


class Executor(Protocol):
    """Where arrays are put and operators run.

    ``aligns``: arrays are copied to where every pack is aligned. ``repeats``: a second call on like arrays may take
    another way than the first, so some cases are called twice.
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
class Placed:
    """An array in host memory: all of the memory, and where the array lies in it."""

    memory: np.ndarray
    layout: Layout
    shape: tuple[int, ...]

    @cached_property
    def places(self) -> np.ndarray:
        return self.layout.places(self.shape)

    @property
    def array(self) -> np.ndarray:
        return self.memory[self.places]


@dataclass(frozen=True)
class Prepared:
    """A case's arrays: the inputs, and ``out``, which lies in the memory of the input ``shared`` where that is set."""

    case: Case
    inputs: tuple[Placed, ...]
    out: Placed | None
    shared: int | None


@dataclass(frozen=True)
class Performed:
    """What came back, where the executor computes: the result, and all memory (the inputs', then ``out``'s).

    ``raised`` says what the operator raised instead.
    """

    prepared: Prepared
    result: Any = None
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


def prepare(case: Case) -> Prepared:
    """Make the arrays."""
    inputs = [_placed(case, k) for k in range(len(case.kinds))]
    shared = None
    if case.out.startswith("input"):
        shared = int(case.random("shared").integers(len(inputs)))
        given = inputs[shared]
        move = 0 if case.out == "input" else int(case.random("shift").integers(1, 2 * max(case.cols, 2)))
        tail = _pattern(case, move, given.memory.dtype)
        inputs[shared] = given = Placed(np.concatenate([given.memory, tail]), given.layout, case.shape)
        moved = Layout(given.layout.size + move, given.layout.offset + move, given.layout.strides)
        return Prepared(case, tuple(inputs), Placed(given.memory, moved, case.shape), shared)
    if case.out == "none":
        return Prepared(case, tuple(inputs), None, None)
    layout = layouts.KINDS[case.memory[-1]](case.random("out"), case.shape)
    memory = _pattern(case, layout.size, element_type(case.result).numpy)
    return Prepared(case, tuple(inputs), Placed(memory, layout, case.shape), None)


def _placed(case: Case, k: int) -> Placed:
    layout = layouts.KINDS[case.memory[k]](case.random(f"layout {k}"), case.shape)
    array = _values(case, k)
    memory = _pattern(case, layout.size, array.dtype)
    memory[layout.places(case.shape)] = array
    return Placed(memory, layout, case.shape)


def _values(case: Case, k: int) -> np.ndarray:
    """Values along the axis. A gradient's y is mostly what the forward operator gives, else any numbers."""
    axis = case.axis if case.shape else 0
    shape = list(case.shape or (1,))
    shape[axis], shape[-1] = shape[-1], shape[axis]
    random = case.random(f"values {k}")
    array = values.values(case.kinds[k], random, tuple(shape), case.dtype)
    if k == 1 and array.dtype.kind not in "iub" and random.random() < 0.7:
        with np.errstate(all="ignore"):
            x = array.astype(np.float64)
            d = x - np.fmax.reduce(x, axis=-1, keepdims=True, initial=-np.inf)
            total = np.exp(d).sum(axis=-1, keepdims=True)
            array = (np.exp(d) / total if case.op == "softmax_backward" else d - np.log(total)).astype(array.dtype)
    return np.swapaxes(array, axis, -1) if case.shape else array.reshape(())


def _pattern(case: Case, size: int, dtype: np.dtype) -> np.ndarray:
    """Memory that nobody has written yet: any bytes, but no bool beside 0 and 1."""
    if dtype.kind == "b":
        return case.random("pattern").integers(0, 2, size).astype(bool)
    return np.frombuffer(case.random("pattern").bytes(size * dtype.itemsize), np.uint8).view(dtype).copy()


def perform(prepared: Prepared, executor: Executor) -> Performed:
    """Call the operator; on a GPU this does not wait for it."""
    if executor.repeats and prepared.case.random("repeat").random() < 0.5:
        first = _called(prepared, executor)
        if first.raised:
            return first
    return _called(prepared, executor)


def _called(prepared: Prepared, executor: Executor) -> Performed:
    """The operator on new copies of the arrays."""
    case, out = prepared.case, None
    memories = [executor.memory(placed.memory, case) for placed in prepared.inputs]
    pairs = zip(memories, prepared.inputs, strict=True)
    arrays = [executor.view(memory, placed.layout, placed.shape) for memory, placed in pairs]
    if prepared.out is not None:
        if prepared.shared is None:
            memories.append(executor.memory(prepared.out.memory, case))
        memory = memories[-1 if prepared.shared is None else prepared.shared]
        out = executor.view(memory, prepared.out.layout, case.shape)
    try:
        with np.errstate(over="ignore"):  # a cast to a smaller type: NumPy warns of infinities
            result = getattr(softlab, case.op)(*arrays, axis=case.axis, dtype=case.cast, out=out, policy=case.policy)
    except Exception as error:
        return Performed(prepared, raised=f"{type(error).__name__}: {error}")
    if out is not None and result is not out:
        return Performed(prepared, raised="the result is not out")
    return Performed(prepared, result, tuple(memories))


def judge(performed: Performed, executor: Executor) -> Outcome:
    """Compare with the oracle and look after the rest of the memory."""
    prepared, case = performed.prepared, performed.prepared.case
    if performed.raised:
        return Outcome(case, performed.raised)
    got, wanted = executor.fetch(performed.result), element_type(case.result).numpy
    if got.shape != case.shape or got.dtype != wanted:
        return Outcome(case, f"the result is {got.dtype} {got.shape}, expected {wanted} {case.shape}")
    if changed := _changed(prepared, [executor.fetch(memory) for memory in performed.memories]):
        return Outcome(case, changed)
    if not got.size:
        return Outcome(case, "")
    ways = _plans(case, executor)
    way = reduce(or_, map(oracle.way, ways))
    expected, compute = _expected(prepared, executor, way)
    turned = np.swapaxes(got, case.axis, -1) if case.shape else got.reshape(1)
    verdict = compare(turned, expected, compute)
    problem = _difference(turned, expected, verdict) if verdict.wrong.any() else ""
    return Outcome(case, problem, verdict.ratio, verdict.compared, verdict.undetermined, ways[0].kernel)


def run(case: Case, executor: Executor) -> Outcome:
    """Prepare, perform, judge."""
    return judge(perform(prepare(case), executor), executor)


def _changed(prepared: Prepared, after: Sequence[np.ndarray]) -> str:
    """What memory changed that had no business to; "" if none."""
    before = [placed.memory for placed in prepared.inputs]
    holds_out = prepared.shared
    if prepared.out is not None and holds_out is None:
        holds_out = len(before)
        before.append(prepared.out.memory)
    for k, (old, new) in enumerate(zip(before, after, strict=True)):
        same = (_bytes(old) == _bytes(new)).all(axis=1)
        if prepared.out is not None and k == holds_out:
            same[prepared.out.places] = True
        if not same.all():
            return f"memory {k} changed outside of out: first at element {int(np.argmin(same))} of {len(old)}"
    return ""


def _bytes(memory: np.ndarray) -> np.ndarray:
    return memory.view(np.uint8).reshape(-1, memory.itemsize)


def _expected(prepared: Prepared, executor: Executor, way: oracle.Way) -> tuple[Approx, str]:
    """The oracle's answer with the axis last, and the compute type."""
    case = prepared.case
    element = element_type(case.result)
    arithmetic = Arithmetic(element.compute, fast=element.compute == "float32")
    axis = case.axis if case.shape else 0
    inputs = []
    for placed in prepared.inputs:
        array = executor.cast(placed.array, element.numpy) if case.cast else placed.array
        inputs.append(arithmetic.exact(np.swapaxes(array.reshape(case.shape or (1,)), axis, -1)))
    formula = oracle.BACKWARD[case.op] if case.backward else oracle.FORWARD[case.op]
    return formula(arithmetic, *inputs, way), element.compute


def _plans(case: Case, executor: Executor) -> list[Plan]:
    """The plan, and the one with packs of one element where the arrays may not be aligned to a pack."""
    problem = (case.rows, case.cols, case.result, case.op, case.policy)
    aligned = executor.aligns or (set(case.memory) == {"plain"} and case.out != "input shifted")
    return [_planned(*problem, single) for single in ((False,) if aligned else (False, True))]


@lru_cache(maxsize=4096)
def _planned(rows: int, cols: int, dtype: str, op: str, policy: str, single: bool) -> Plan:
    if single:
        return plans.forced(rows, cols, dtype, pack_size=1, op=op, policy=policy)
    return plans.plan(rows, cols, dtype, op=op, policy=policy)


def _difference(got: np.ndarray, expected: Approx, verdict: Verdict) -> str:
    first = tuple(int(k) for k in np.argwhere(verdict.wrong)[0])
    return (
        f"{np.count_nonzero(verdict.wrong)} of {got.size} elements are off; the first at {first} (axis last): got "
        f"{got[first]!s}, expected {expected.value[first]!s} +- {float(expected.error[first]):.3g}"
    )
