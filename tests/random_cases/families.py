"""Random cases for kernels that random shapes seldom reach: each gets a shape for which the plan takes its family.

A family is a kernel without its template arguments, such as ``fast_ring_backward``. Nobody lists the shapes: problems
are drawn at random, and the plan says which family takes each (:func:`aims`). Plans for a GPU of few SMs
(:mod:`tests.random_cases.few_sms`) bring the kernels of long rows, and of many rows, to small arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlab import plans
from softlab.errors import PlanError
from softlab.hardware.devices import Device
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources
from tests.random_cases.cases import BACKWARD, DTYPES, FORWARD, Case, Generator, completed, factors

POLICIES = ("oneflow", "fast", "invariant")
#: Problems that are drawn, and how many of them are kept per family, operator and type.
DRAWN, KEPT = 12_000, 3
#: Rows that lie along another axis, fused rows, and rows that begin at no multiple of a pack, of those that can.
_STRIDED, _FUSED, _SINGLE = 0.45, 0.3, 0.3
#: The share of cases whose arrays are all plain, so that the plan's kernel is the one that runs.
_PLAIN = 0.7


@dataclass(frozen=True)
class Aim:
    """A problem that a family of kernels takes.

    ``outer`` times ``stride`` rows of ``cols`` elements; ``stride`` elements lie between neighbours of a row.
    ``single``: the arrays begin at no multiple of a pack.
    """

    family: str
    policy: str
    op: str
    dtype: str
    outer: int
    cols: int
    stride: int
    single: bool
    fused: bool

    @property
    def elements(self) -> int:
        """Of an array."""
        return self.outer * self.cols * self.stride

    def plan(self, device: Device, **more: Any) -> plans.Plan:
        """What the policy makes of it on a device; ``more`` as for :func:`softlab.plan`."""
        choices = {"op": self.op, "policy": self.policy, "device": device, "stride": self.stride, **more}
        choices["fused"] = FusedSteps() if self.fused else None
        if self.single:
            return plans.forced(self.outer * self.stride, self.cols, self.dtype, pack_size=1, **choices)
        return plans.plan(self.outer * self.stride, self.cols, self.dtype, **choices)


def family_of(plan: plans.Plan, fused: bool) -> str:
    """The kernel that a plan takes, without template arguments."""
    return plan.name.partition("<")[0] + ("_fused" if fused else "")


def aims(
    device: Device,
    most: int,
    wanted: Iterable[str] = (),
    policies: Sequence[str] = POLICIES,
    *,
    tried: int = DRAWN,
    kept: int = KEPT,
) -> tuple[Aim, ...]:
    """Problems for each family that the policies take on a device; the same ones for the same arguments.

    Arguments:
        most: elements of an array at most.
        wanted: families; none: all that are found.
        tried: problems that are drawn.
        kept: how many of them are kept per family, operator and type.

    Raises:
        ValueError: no problem was found for a family that is wanted.
    """
    wanted = set(wanted)
    found: dict[tuple[str, str, str], list[Aim]] = defaultdict(list)
    for aim in _problems(device, most, tuple(policies), tried):
        if not wanted or aim.family in wanted:
            alike = found[aim.family, aim.op, aim.dtype]
            if len(alike) < kept:
                alike.append(aim)
    every = tuple(aim for alike in found.values() for aim in alike)
    if missing := wanted - {aim.family for aim in every}:
        raise ValueError(f"no array of {most} elements takes {', '.join(sorted(missing))} on {device.sm_count} SMs")
    return every


@lru_cache(maxsize=4)
def _problems(device: Device, most: int, policies: tuple[str, ...], tried: int) -> tuple[Aim, ...]:
    """All problems that are drawn and have a plan. Several choices of families share them."""
    random = np.random.default_rng(0)
    drawn = (_drawn(random, device, most, policies) for _ in range(tried))
    return tuple(aim for aim in drawn if aim is not None)


def _drawn(random: Generator, device: Device, most: int, policies: Sequence[str]) -> Aim | None:
    """A problem, log-uniform in columns and rows; None where no plan is for it."""
    policy, op = str(random.choice(policies)), str(random.choice(FORWARD + BACKWARD))
    dtype, chances = str(random.choice(DTYPES)), random.random(3)
    cols = int(most ** random.random())
    rows = int((most / cols) ** random.random())
    strided = policy == "fast" and rows > 1 and bool(chances[0] < _STRIDED)
    fused = not strided and policy != "invariant" and bool(chances[1] < _FUSED)
    single = not strided and not fused and policy != "oneflow" and bool(chances[2] < _SINGLE)
    outer = int((rows / 2) ** random.random()) if strided else rows
    stride = rows // outer if strided else 1
    aim = Aim("", policy, op, dtype, outer, cols, stride, single, fused)
    try:
        return replace(aim, family=family_of(aim.plan(device, lookup=few_registers), fused))
    except PlanError:
        return None


def few_registers(*_: object) -> Resources:
    """In place of what the compiler says: no policy chooses a family by it."""
    return Resources(registers=32, static_smem_bytes=64, local_bytes=0, spill_bytes=0, nvrtc="")


def aimed(seed: int, number: int, chosen: Sequence[Aim]) -> Case:
    """The case of that seed and number: a family first, all with the same chance, then one of its problems.

    The rest is drawn as for any case. Not every case runs the kernel that it aims at: values, layouts and ``out`` are
    any, and some of them make the operator copy, or take packs of one element.
    """
    random = np.random.default_rng([seed, number, 1])
    families = sorted({aim.family for aim in chosen})
    family = families[int(random.integers(len(families)))]
    of_family = [aim for aim in chosen if aim.family == family]
    aim = of_family[int(random.integers(len(of_family)))]
    outer = factors(random, aim.outer, int(random.integers(0 if aim.outer == 1 else 1, 4)))
    inner = factors(random, aim.stride, int(random.integers(1, 3))) if aim.stride > 1 else ()
    shape, axis = (*outer, aim.cols, *inner), len(outer)
    axis = axis if random.random() < 0.5 else axis - len(shape)
    return completed(
        random, aim.op, shape, axis, aim.dtype, None, policies=(aim.policy,), fused=aim.fused,
        layout=("shifted" if aim.single else "plain") if random.random() < _PLAIN else None,
    )  # fmt: skip
