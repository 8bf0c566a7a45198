"""Every planted fault of the registry is found at its line, and no good kernel is accused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.faults.course_eighth_good import GOOD_EIGHTH
from tests.faults.course_eleventh_good import GOOD_ELEVENTH
from tests.faults.course_fifth_good import GOOD_FIFTH
from tests.faults.course_fourth_good import GOOD_FOURTH
from tests.faults.course_good_blocks import BLOCKS
from tests.faults.course_good_together import TOGETHER
from tests.faults.course_ninth_good import GOOD_NINTH
from tests.faults.course_others import GOOD_OTHERS
from tests.faults.course_patterns import GOOD_PATTERNS
from tests.faults.course_seventh_good import GOOD_SEVENTH
from tests.faults.course_sixth_good import GOOD_SIXTH
from tests.faults.course_tenth_good import GOOD_TENTH
from tests.faults.course_thirteenth_good import GOOD_THIRTEENTH
from tests.faults.course_twelfth_good import GOOD_TWELFTH
from tests.faults.outcome import outcome
from tests.faults.registry import Case, good_cases, planted_cases
from tests.sampled import one_of

#: The others have their tests in test_faults.py, test_good_kernels.py and tests/instruments/test_global_hazards.py.
NEW = ("course/", "refused/")
#: The later sets.
LATER = ("fourth/", "fifth/", "sixth/", "seventh/", "eighth/", "ninth/", "tenth/", "eleventh/", "twelfth/",
         "thirteenth/")  # fmt: skip


def _parameters(cases: tuple[Case, ...], names: tuple[str, ...] = NEW) -> list:
    """One parameter for each case with such a name; a known miss must fail."""
    chosen = [case for case in cases if case.name.startswith(names)]
    return [
        pytest.param(
            case,
            id=case.name,
            marks=_marks(case),
        )
        for case in chosen
    ]


def _marks(case: Case) -> list:
    return [pytest.mark.xfail(strict=True, reason=case.missed)] if case.missed else []


def test_the_registry_is_large_and_every_family_is_planted() -> None:
    planted, good = planted_cases(), good_cases()
    assert len(planted) >= 150
    assert len(good) >= 100
    names = [case.name for case in planted + good]
    assert len(set(names)) == len(names)
    assert min(Counter(case.family for case in planted).values()) >= 3
    assert all(case.lines or case.refusal for case in planted)


def _patterns(cases: tuple[Case, ...]) -> list:
    later = one_of(
        32,
        _parameters(cases, LATER),
        lambda case: case.family,
    )
    return [*one_of(16, _parameters(cases, ("pattern/", "other/")), lambda case: case.family), *later]


@pytest.mark.parametrize(
    "case",
    [*one_of(8, _parameters(planted_cases()), lambda case: case.family), *_patterns(planted_cases())],
)
def test_a_planted_fault_is_found_at_its_line(case: Case) -> None:
    """`.ci/run` takes an eighth of each family, a 16th of the patterns and a 32nd of the later sets.

    So it does in the next test.
    """
    result = outcome(case)
    assert result.found, result.said
    assert result.in_place, result.findings
    assert result.raised


@pytest.mark.parametrize(
    "case",
    [*one_of(8, _parameters(good_cases()), lambda case: case.family), *_patterns(good_cases())],
)
def test_a_good_kernel_is_not_accused(case: Case) -> None:
    result = outcome(case)
    assert result.findings == ()
    assert result.raised


_WITH_RESULTS = [case for case in BLOCKS + TOGETHER + GOOD_PATTERNS + GOOD_OTHERS if case.expected]
_LATER_SETS = GOOD_FOURTH + GOOD_FIFTH + GOOD_SIXTH + GOOD_SEVENTH + GOOD_EIGHTH + GOOD_NINTH + GOOD_TENTH
_LATER = [case for case in (*_LATER_SETS, *GOOD_ELEVENTH, *GOOD_TWELFTH, *GOOD_THIRTEENTH) if case.expected]


@pytest.mark.parametrize(
    "case",
    [*one_of(4, _WITH_RESULTS, lambda case: case.file), *one_of(16, _LATER, lambda case: case.file)],
    ids=lambda case: case.kernel,
)
def test_a_good_kernel_computes_what_it_should(case) -> None:
    arguments = case.arguments()
    expected = case.expected([array.copy() if isinstance(array, np.ndarray) else array for array in arguments])
    kernel = Kernel.from_program(case.compile())
    kernel.run(case.grid, case.block, arguments, case.smem, record=False, check=False, cooperative=case.cooperative)
    for number, values in expected.items():
        np.testing.assert_allclose(arguments[number], np.asarray(values).reshape(-1), rtol=1e-4, atol=1e-3)


def test_the_page_lists_the_known_misses() -> None:
    page = (Path(__file__).parents[2] / "docs" / "faults.md").read_text().split("## Known misses")[1]
    listed = {line.removeprefix("- ").split(":")[0] for line in page.splitlines() if line.startswith("- ")}
    assert listed == {c.name.partition("/")[2] for c in planted_cases() + good_cases() if c.missed}
