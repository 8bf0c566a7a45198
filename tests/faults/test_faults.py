"""Each planted fault is reported as what it is and where it is."""

from __future__ import annotations

from collections import Counter

import pytest

from softlab.errors import FAULT_KINDS, KernelFault
from softlab.kernel import Kernel
from tests.faults.cases import GOOD
from tests.faults.planted import PLANTED, PLANTED_CLUSTER, PLANTED_OBJECTS, Planted
from tests.faults.table import recorded, row

#: Instructions after which a loop counts as endless: the good kernels need a tenth of it.
BUDGET = 20_000
ALL = PLANTED + PLANTED_CLUSTER + PLANTED_OBJECTS


def test_every_kind_is_planted() -> None:
    assert set(Counter(planted.kind for planted in ALL)) == set(FAULT_KINDS)
    assert min(Counter(planted.kind for planted in ALL).values()) >= 6
    assert len({(planted.kind, planted.name) for planted in ALL}) == len(ALL)


@pytest.mark.parametrize("planted", ALL, ids=lambda planted: f"{planted.kind}: {planted.name}")
def test_a_planted_fault_is_found(planted: Planted) -> None:
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


def test_the_record_of_compute_sanitizer_is_of_these_faults() -> None:
    record = recorded()
    assert [(row["kind"], row["name"]) for row in record["planted"]] == [(p.kind, p.name) for p in PLANTED]
    assert all(tool["ran"] == tool["of"] == len(GOOD) for tool in record["good"].values())


@pytest.mark.parametrize("planted", [p for p in PLANTED if p.kind != "infinite-loop"][::6], ids=lambda p: p.name)
def test_a_row_of_the_table(planted: Planted) -> None:
    """What memcheck finds on the hardware it finds at the line that softlab names."""
    found = row(planted)
    assert found.softlab.startswith(planted.kind)
    assert "not as planted" not in found.softlab
    if found.sanitizer.get("memcheck", "hangs") != "hangs":
        assert found.at_the_line
