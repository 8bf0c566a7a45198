"""What every policy shares: the request, the recorded steps, the choice that comes out, and the operators.

A policy is a function ``choose(request, steps) -> Choice``. :mod:`softlab.plans.oneflow` has that of "oneflow", and
:mod:`softlab.plans.fast` that of "fast" and "invariant".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from softlab.dtypes import ElementType
from softlab.hardware.devices import Device
from softlab.plans.instantiations import Instantiation, WarpShape
from softlab.plans.resources import Resources, resources

#: (instantiation, architecture, options) -> its registers and shared memory.
Lookup = Callable[[Instantiation, str, tuple[str, ...]], Resources]


def compiled(instantiation: Instantiation, arch: str, options: tuple[str, ...]) -> Resources:
    """The :data:`Lookup` that knows the real kernels: their registers and shared memory as compiled."""
    return resources(instantiation.file, instantiation.name, arch, options)


@dataclass(frozen=True)
class Operator:
    """What dispatch has to know of an operator.

    ``algorithm`` is its name in the kernels. ``warp_cols`` is the longest row that goes to the warp kernel: the
    reference asks cols < 1024 for softmax, cols <= 1024 for the others. ``rows_kept`` is how many rows a block keeps in
    shared memory: a gradient needs y and dy. ``uncached_reads`` is how many elements the uncached kernel reads for each
    that it writes. A gradient needs no maximum, so its kernel makes two passes. The first pass of log_softmax's
    gradient sums dy alone.
    """

    name: str
    algorithm: str
    backward: bool
    warp_cols: int
    rows_kept: int
    uncached_reads: int


OPERATORS = {
    operator.name: operator
    for operator in (
        Operator("softmax", "softmax", False, 1023, 1, 3),
        Operator("log_softmax", "log_softmax", False, 1024, 1, 3),
        Operator("softmax_backward", "softmax", True, 1024, 2, 4),
        Operator("log_softmax_backward", "log_softmax", True, 1024, 2, 3),
    )
}


@dataclass(frozen=True)
class Step:
    """One choice: the ``question``, the ``values`` that decide it (name -> value), the ``answer``, and the ``rule``.

    ``choices`` are all possible answers, in the order in which they are tried. They are empty where the answer is a
    number that was computed.
    """

    question: str
    values: dict[str, Any] = field(hash=False)
    answer: Any
    rule: str = ""
    choices: tuple[Any, ...] = ()

    def __str__(self) -> str:
        values = ", ".join(f"{name} {shown(value)}" for name, value in self.values.items())
        return f"{self.question} {shown(self.answer)}" + (f"  ({values})" if values else "")


class StepLog:
    """Records the choices of one plan, in order."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    @property
    def steps(self) -> tuple[Step, ...]:
        """The choices so far."""
        return tuple(self._steps)

    def note(self, question: str, answer: Any, rule: str = "", choices: tuple[Any, ...] = (), /, **values: Any) -> Any:
        """Record a choice and return its answer. A yes or no needs no ``choices``."""
        if isinstance(answer, bool):
            choices = (True, False)
        self._steps.append(Step(question, values, answer, rule, choices))
        return answer


@dataclass(frozen=True)
class FusedSteps:
    """What fused steps add to a row: the bytes of an element of each operand that varies along the row.

    ``shared``: rows share one of them. ``causal``: rows have a causal mask. ``drops``: there is dropout. ``alike``: a
    number of elements. If rows share an operand, its row and the row of x begin at the same place of a pack that has
    this number. ``own``: the bytes of those that a tile of rows can take with it; 0 if one of one dimension is shared.
    """

    operands: tuple[int, ...] = ()
    shared: bool = False
    causal: bool = False
    drops: bool = False
    alike: int = 1
    own: int = 0


@dataclass(frozen=True)
class PlanRequest:
    """The problem to plan, checked. ``kernel``, ``pack_size`` and ``block_size`` are None where the policy chooses.
    ``stride``: from one element of a row to the next. ``fused``: of a fused operator."""

    rows: int
    cols: int
    element: ElementType
    operator: Operator
    device: Device
    options: tuple[str, ...] = ()
    lookup: Lookup = compiled
    kernel: str | None = None
    pack_size: int | None = None
    block_size: int | None = None
    layout: str = "column"
    policy: str = "oneflow"
    stride: int = 1
    fused: FusedSteps | None = None

    def resources(self, instantiation: Instantiation) -> Resources:
        """Registers and static shared memory of a kernel, compiled as this request compiles it."""
        return self.lookup(instantiation, self.device.arch, self.options)


@dataclass(frozen=True)
class Choice:
    """What dispatch decided: see :class:`softlab.plans.Plan` for the fields that it shares with it."""

    kernel: str
    pack_size: int
    block: tuple[int, int]
    grid: int
    instantiation: Instantiation | None
    smem_bytes: int = 0
    warp: WarpShape | None = None
    layout: str | None = None
    cluster: int | None = None
    cooperative: bool = False
    workspace_bytes: int = 0
    read_again: int = 0


def nothing_to_do(request: PlanRequest, log: StepLog) -> bool:
    """Whether the input is empty; a step says so."""
    if request.rows and request.cols:
        return False
    log.note("Is there anything to do?", False, rows=request.rows, cols=request.cols)
    return True


def shown(value: Any) -> str:
    """A value or answer of a step as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {entry}" for name, entry in value.items()) + "}"
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
