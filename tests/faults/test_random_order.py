"""Random orders of warps: they show faults that lock step hides, and accuse no good kernel."""

from __future__ import annotations

import pytest

from softlab.findings import Finding
from softlab.kernel import Kernel
from tests.faults.registry import Case, good_cases, planted_cases
from tests.sampled import sampled

#: Lock step gives all blocks the order in which these do no harm.
HIDDEN = (
    "fifth/grid_barrier_that_opens_once",
    "sixth/sequence_lock_of_plain_words",
)
#: Warps of these pass a cluster's barrier one by one, or end while others wait at a barrier that is complete for them.
SHOWN_BY_ORDER = (
    "good/split histogram",
    "course/cluster_histogram",
    "fifth/distributed_bins",
    "sixth/one_producer_and_three_warps_that_consume",
)
_EACH = 60
_GOOD = {case.name: number for number, case in enumerate(good_cases())}


def _findings(case: Case, number: int) -> tuple[Finding, ...]:
    kernel = Kernel.from_program(case.compile())
    options: dict = {"check": "collect", "record": False, "cooperative": case.cooperative, "random_order": number}
    return kernel.run(case.grid, case.block, case.arguments(), case.smem, **options).findings


@pytest.mark.parametrize("name", HIDDEN)
def test_a_fault_that_lock_step_hides_is_found(name: str) -> None:
    """So it is in most orders, and always at its lines."""
    case = next(case for case in planted_cases() if case.name == name)
    found = [_findings(case, number) for number in range(6)]
    assert sum(map(bool, found)) >= 4
    assert {f.kind for findings in found for f in findings} == {"race"}
    assert {line for findings in found for f in findings for line in (f.line, f.other_line)} <= set(case.lines)


@pytest.mark.parametrize(
    "case",
    sampled(good_cases(), lambda case: case.name in SHOWN_BY_ORDER or _GOOD[case.name] % _EACH == 0),
    ids=lambda case: case.name,
)
def test_no_good_kernel_is_accused_in_another_order(case: Case) -> None:
    """`.ci/run` takes a sixtieth and those that were accused once, `make test` all."""
    assert _findings(case, 1) == ()


@pytest.mark.parametrize(
    "name",
    ["planted/race: the next tile too soon", "fourth/work_item_replaced_while_read", "seventh/list_ranked_in_place"],
)
def test_a_warp_still_behind_a_barrier_does_not_go_around_it(name: str) -> None:
    """A race behind a barrier in a loop is called one, also where another warp waits at the barrier again."""
    case = next(case for case in planted_cases() if case.name == name)
    assert {f.kind for f in _findings(case, 1)} == {"race"}
