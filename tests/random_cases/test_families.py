"""Shapes for every family of kernels that a plan can take, from the plan itself."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from softlab.cuda.compile import kernel_sources
from softlab.hardware import devices
from softlab.hardware.devices import Device
from tests.hardware.random_cases import Drawing
from tests.random_cases.cases import Case
from tests.random_cases.check import Emulator, run
from tests.random_cases.families import POLICIES, Aim, aims, few_registers
from tests.random_cases.few_sms import plan_for

#: No plan takes these: the first rungs, which a lesson asks for, and the gradient of a pipeline, whose rows all go to
#: clusters, rings or streams (tests/kernels runs all four).
UNPLANNED = {"naive_row", "naive_block", "online_warp", "fast_pipeline_backward"}
#: Elements of an array with which all families are found on four SMs and on a whole GPU.
FEW, WHOLE = (4, 400_000), (132, 1_100_000)
_ENTRY = re.compile(
    r"__global__\s+void\s+(?:(?:__launch_bounds__|SOFTLAB_CLUSTER)"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)*(\w+)\s*\("
)


def entries() -> set[str]:
    """The kernels of all files, by the text alone."""
    texts = [re.sub(r"//.*", "", text) for text in kernel_sources().values()]
    found = [name for text in texts for name in _ENTRY.findall(text)]
    assert len(found) == sum(text.count("__global__") for text in texts), "an entry is not read"
    return set(found)


def few(sms: int) -> Device:
    return replace(Device.named("H200"), sm_count=sms)


@pytest.fixture
def four_sms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(devices._NAMED, devices.DEFAULT_NAME, devices.resolve())  # the default again, afterwards
    plan_for(4)


@pytest.mark.further
def test_every_family_of_the_plans_has_shapes() -> None:
    """Each kernel that a file has is drawn, but for those that no plan takes."""
    found = {aim.family for sms, most in (FEW, WHOLE) for aim in aims(few(sms), most)}
    assert found == entries() - UNPLANNED


def test_shapes_are_what_they_are_for() -> None:
    wanted = ("fast_ring", "fast_shifted", "fast_tile_fused", "invariant_stream", "fast_columns_backward")
    chosen = aims(few(4), FEW[1], wanted)
    assert {aim.family for aim in chosen} == set(wanted)
    assert aims(few(4), FEW[1], tried=300) == aims(few(4), FEW[1], tried=300)
    for aim in chosen:
        assert aim.elements <= FEW[1]
        assert aim.family.startswith(aim.plan(few(4), lookup=few_registers).name.partition("<")[0])
    with pytest.raises(ValueError, match="no array of 100 elements takes fast_ring on 4 SMs"):
        aims(few(4), 100, ("fast_ring", "fast_warp"), tried=300)


def taken(case: Case, device: Device) -> str:
    """The kernel of a case that is not fused, where arrays are copied only if their layout asks for that."""
    stride = case.stride if case.policy == "fast" else 1
    single = "shifted" in case.memory[: len(case.kinds)]
    aim = Aim("", case.policy, case.op, case.result, case.rows // stride, case.cols, stride, single, False)
    return aim.plan(device, lookup=few_registers).name.partition("<")[0]


def test_cases_run_the_families_that_they_are_for(four_sms: None) -> None:
    """Most of them; the others have arrays that are copied, or that begin at no multiple of a pack."""
    wanted = ("fast_ring", "fast_shifted", "fast_shifted_backward", "fast_tile", "fast_tile_backward", "invariant_tile",
              "invariant_stream", "fast_columns_backward", "fast_stream")  # fmt: skip
    drawing = Drawing(1, POLICIES, most=FEW[1], sms=4, families=wanted)
    found = [taken(drawing.case(number), few(4)) for number in range(400)]
    assert set(wanted) <= set(found)
    assert sum(name in wanted for name in found) > 0.6 * len(found)
    assert drawing.options == f"--seed 1 --policies {' '.join(POLICIES)} --most 400000 --sms 4 --families " + " ".join(
        wanted
    )


@pytest.mark.further
def test_some_in_the_emulator(four_sms: None) -> None:
    wanted = ("fast_columns_backward", "fast_shifted_backward", "fast_tile", "invariant_tile_backward")
    drawing = Drawing(2, POLICIES, most=6000, sms=4, families=wanted)
    outcomes = [run(drawing.case(number), Emulator()) for number in range(12)]
    assert not [(outcome.problem, str(outcome.case)) for outcome in outcomes if outcome.problem]
    assert len({outcome.kernel for outcome in outcomes}) > 3


def test_the_records_have_every_family() -> None:
    """Those of an H200. No case of single families failed."""
    folder = Path(__file__).parents[1] / "data"
    names = ("random_cases_h200", "random_cases_families_h200", "random_cases_fused_tiles_h200")
    records = [json.loads((folder / f"{name}.json").read_text()) for name in names]
    assert {kernel for record in records for kernel in record["kernels"]} == entries() - UNPLANNED
    families = records[1]
    assert families["cases"] > 4000
    assert set(families["missing"]) <= set(records[2]["kernels"])
    for record in records[1:]:
        assert record["failed"] == 0
        assert max(record["worst error / bound"].values()) <= 1
