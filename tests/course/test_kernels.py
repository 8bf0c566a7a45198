"""What an exercise for a kernel says of a fault or a wrong result, branch by branch and without a run."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import kernels
from softlab.course.behaviour import LESS_INFINITY, OVER_ZERO, OVERFLOWS
from softlab.course.kernels import ON_ONE_LINE, KernelSlip, WriteKernel
from softlab.course.launch_cases import LaunchCase
from softlab.errors import Error, FaultSite, KernelFault, UnsupportedInstruction

ARGS = {"x": np.zeros(4, np.float32), "y": np.zeros(4, np.float32)}
LAUNCH = LaunchCase(1, 32, ARGS, {}, about="4 numbers")


def exercise(**given: Any) -> WriteKernel:
    return WriteKernel(
        id="99-k", kernel="k", parameters="const float* x, float* y", launches=lambda: [LAUNCH], hint="The hint.",
        **given,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("block", "warps"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 3), ((16, 4), 2), ((3, 11, 2), 3), ((40,), 2)]
)
@pytest.mark.parametrize("any_order", [False, True])
def test_the_first_launch_runs_a_second_time_with_the_last_warp_first(block: Any, warps: int, any_order: bool) -> None:
    first, second = (LaunchCase(1, size, ARGS, {}) for size in (block, 256))
    runs = list(exercise(any_order=any_order)._runs([first, second]))
    again = [(first, tuple(range(warps))[::-1])] if any_order else []
    assert runs == [(first, None), (second, None), *again]


@pytest.mark.parametrize("kind", ["global-out-of-bounds", "barrier-divergence", "race"])
@pytest.mark.parametrize("argument", [None, 0, 1])
@pytest.mark.parametrize("line", [None, 3])
@pytest.mark.parametrize("message", ["the thread writes 4 bytes", "the thread reads 4 bytes"])
def test_which_way_leads_outside(
    monkeypatch: pytest.MonkeyPatch, kind: str, argument: int | None, line: int | None, message: str
) -> None:
    """It is asked where an access beyond an array of an argument has a line."""
    asked: list[tuple] = []

    def outside(kernel: Any, launch: LaunchCase, name: str, line: int, *, store: bool) -> str:
        asked.append((kernel.text, launch, name, line, store))
        return "The way."

    monkeypatch.setattr(kernels, "Kernel", lambda text, name, **given: SimpleNamespace(text=(text, name, given)))
    monkeypatch.setattr(kernels, "outside", outside)
    monkeypatch.setattr(kernels, "fault_cause", lambda fault, answer, launch: "The cause.")
    fault = KernelFault(kind, message, FaultSite(line=line, argument=argument))
    said = exercise()._cause(fault, LAUNCH, "the code")
    if kind != "global-out-of-bounds" or argument is None or line is None:
        assert (said, asked) == ("The cause.", [])
        return
    assert said == "The cause. The way."
    code = ("the code", "k", {"arch": "sm_90", "file": "cell.cu"})
    assert asked == [(code, LAUNCH, "xy"[argument], 3, "writes" in message)]


@pytest.mark.parametrize(("line", "other"), [(None, None), (3, None), (3, 3), (3, 5), (5, 3)])
@pytest.mark.parametrize("cause", ["", "The cause."])
@pytest.mark.parametrize("kind", ["race", "global-out-of-bounds", "trap"])
def test_the_report_of_a_fault(
    monkeypatch: pytest.MonkeyPatch, line: int | None, other: int | None, cause: str, kind: str
) -> None:
    """Where, with which launch, what happened, why, and one hint: a slip's, one that any kernel has, or a fault's."""
    monkeypatch.setattr(WriteKernel, "_cause", lambda self, fault, launch, answer: cause)
    fault = KernelFault(kind, "argument 1 is too short", FaultSite(line=line, other_line=other, argument=1))
    hints = {ON_ONE_LINE: "On one line.", "race": "A race.", "trap": "A trap."}
    where = "" if line is None else " on line 3 and line 5" if (line, other) == (3, 5) else f" on line {line}"
    if (line, other) == (5, 3):
        where += " and line 3"
    for answer, slips in product(("__syncwarp();", "__syncthreads();"), ((), (KernelSlip("The slip.", kind),))):
        said = exercise(fault_hints=hints, slips=slips)._fault_problem(fault, LAUNCH, answer)
        common = "`__syncwarp()` waits for the lanes of one warp, and another warp wrote here."
        one_line = kind == "race" and line is not None and line == other
        hint = hints[ON_ONE_LINE] if one_line else hints.get(kind, "")
        if kind == "race" and not cause and "syncwarp" in answer:
            hint = f"{common} {hint}"
        hint = "The slip." if slips else hint
        words = " ".join(filter(None, (cause, hint)))
        assert said == f"{kind}{where}, with 4 numbers: y is too short. {words}".strip()


def test_a_kernel_that_does_not_run_as_it_is() -> None:
    asked = exercise()._fault_problem
    unknown = str(UnsupportedInstruction("not known yet", instruction="foo.bar")).partition("\n")[0].rstrip(".")
    words = f"the emulator does not know an instruction of it: {unknown}."
    assert asked(UnsupportedInstruction("not known yet", instruction="foo.bar"), LAUNCH, "") == words
    assert asked(Error("it ends.\n  at line 3"), LAUNCH, "") == "it does not run: it ends."
    assert asked(KernelFault("trap", "it stops.", FaultSite()), LAUNCH, "") == "trap, with 4 numbers: it stops."


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("argument 1 is float64. Convert it.", "y, argument 1, is float64"),
        ("argument 0: too short", "x, argument 0,: too short"),
        ("it takes 2 arguments, not argument 1.", "it takes 2 arguments, not argument 1"),
    ],
)
def test_what_does_not_fit_is_named(error: str, words: str) -> None:
    assert kernels._misfit(TypeError(error), ARGS) == words


SLIPS = tuple(KernelSlip(f"A slip of {kind}.", kind) for kind in ("result", "nan", "inf", "-inf", "overflow"))


@pytest.mark.parametrize(
    ("got", "did", "hint"),
    [
        ([1, 2, 3, 9], "", "result"),
        ([1, 2, np.nan, 9], "", "nan"),
        ([1, 2, np.inf, 9], "", "inf"),
        ([1, 2, np.inf, np.nan], "", "nan"),
        ([1, 2, np.inf, np.nan], OVERFLOWS, "overflow"),
        ([1, 2, np.inf, np.nan], f"{OVERFLOWS} {LESS_INFINITY}", "-inf"),
        ([1, 2, np.inf, 9], OVER_ZERO, "result"),
        ([1, 2, np.nan, 9], OVER_ZERO, "nan"),
    ],
)
def test_which_hint_a_wrong_result_gets(got: list[float], did: str, hint: str) -> None:
    """What the run shows comes first, then NaN, then infinity; infinity says nothing where a divisor is 0."""
    said = exercise(slips=SLIPS)._said_of_result(np.float32(got), np.float32([1, 2, 3, 4]), LAUNCH, "y", "", did)
    assert said.endswith(f"A slip of {hint}.")


@pytest.mark.parametrize(("kinds", "hint"), [(("result", "nan"), "The hint."), (("overflow",), "A slip of overflow.")])
def test_of_integers_only_the_result_is_asked(kinds: tuple[str, ...], hint: str) -> None:
    """Where no slip fits, the exercise's own hint stays."""
    slips = tuple(slip for slip in SLIPS if slip.when in kinds and slip.when != "result")
    ask = exercise(slips=slips)._said_of_result
    assert ask(np.int32([7, 1, 1, 1]), np.int32([1, 1, 1, 1]), LAUNCH, "y", "", OVERFLOWS).endswith(hint)


@pytest.mark.parametrize("grid", [1, (1,), (1, 1), (1, 1, 1), 2, (2, 1)])
@pytest.mark.parametrize("block", [64, (16, 4)])
def test_threads_of_several_blocks_are_told_apart(monkeypatch: pytest.MonkeyPatch, grid: Any, block: Any) -> None:
    """What wrong elements have in common is asked with the threads per block, or with 0 for a single block."""
    asked: list[tuple] = []
    monkeypatch.setattr(kernels, "pattern", lambda *how: asked.append(how[2:]) or "")
    launch = LaunchCase(grid, block, ARGS, {}, relative=0.5)
    exercise()._said_of_result(np.full(4, 9, np.float32), ARGS["x"], launch, "y", "", "")
    several = grid in (2, (2, 1))
    assert asked == [(64 if several else 0, 0.5)]
