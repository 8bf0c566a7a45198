"""Each planted fault is reported as what it is and where it is."""

from __future__ import annotations

from collections import Counter

import pytest

from softlab.errors import FAULT_KINDS, KernelFault
from softlab.kernel import Kernel
from tests.faults.planted import PLANTED, PLANTED_CLUSTER, PLANTED_OBJECTS, Planted
from tests.faults.registry import Case, good_cases, planted_cases
from tests.faults.table import planted_table, recorded, row
from tests.sampled import each, one_of

#: Instructions after which a loop counts as endless: the good kernels need a tenth of it.
BUDGET = 20_000
ALL = PLANTED + PLANTED_CLUSTER + PLANTED_OBJECTS


def test_every_kind_is_planted() -> None:
    # tests/emulator/test_wgmma.py plants misuse of wgmma, tests/instruments/test_promised_reads.py the other kind.
    assert set(Counter(planted.kind for planted in ALL)) == set(FAULT_KINDS) - {"wgmma-misuse", "restrict-alias"}
    assert min(Counter(planted.kind for planted in ALL).values()) >= 6
    assert len({(planted.kind, planted.name) for planted in ALL}) == len(ALL)


@pytest.mark.parametrize(
    "planted", one_of(6, ALL, lambda planted: planted.kind), ids=lambda planted: f"{planted.kind}: {planted.name}"
)
def test_a_planted_fault_is_found(planted: Planted) -> None:
    """`.ci/run` takes a sixth of each kind, `make test` all."""
    good = planted.good
    kernel = Kernel.from_program(planted.compile())
    with pytest.raises(KernelFault) as caught:
        kernel.run(good.grid, good.block, good.arguments(), good.smem, record=False, budget=BUDGET)
    fault = caught.value
    assert fault.kind == planted.kind, fault
    assert fault.line in planted.lines, fault
    for name in ("thread", "block", "address", "symbol"):
        expected = getattr(planted, name)
        assert expected is None or getattr(fault, name) == expected, f"{name}: {fault}"
    assert fault.thread is not None
    assert all(index < size for index, size in zip(fault.thread, (*good.block, 1, 1), strict=False))
    assert all(index < size for index, size in zip(fault.block, (*good.grid, 1, 1), strict=False))
    assert f"line {fault.line} of {good.file}" in str(fault)


def test_a_fault_in_a_header_names_the_line_there_too() -> None:
    planted = next(p for p in PLANTED if p.kernel == "narrow softmax")
    good = planted.good
    with pytest.raises(KernelFault, match=r"line \d+ of softmax_warp.cuh, in line \d+ of load_store.cuh"):
        Kernel.from_program(planted.compile()).run(good.grid, good.block, good.arguments(), good.smem)


def test_the_record_of_compute_sanitizer_is_of_these_cases() -> None:
    assert set(recorded()["cases"]) <= {case.name for case in planted_cases() + good_cases()}


_ROWS = [case for case in planted_cases() if case.name.startswith("planted/") and not case.hangs][::12]


@pytest.mark.parametrize("case", each(2, _ROWS), ids=lambda case: case.name)
def test_a_row_of_the_table(case: Case) -> None:
    """What memcheck finds on the hardware it finds at the line that softlab names."""
    found = row(case)
    assert found.softlab.in_place
    if found.sanitizer.get("memcheck"):
        assert found.at_the_line


def test_the_tables_count_the_rows() -> None:
    case = next(case for case in planted_cases() if case.name == "planted/race: no barrier after loading")
    head, *rows = planted_table([row(case)])
    assert head.split()[:3] == ["planted", "faults", "planted"]
    assert [line.split()[:5] for line in rows] == [["races,", "shared", "1", "1", "1"], ["all", "1", "1", "1", "1"]]
