"""The launches that compute-sanitizer watches, in the emulator; and what counts as clean."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlab.hardware.devices import Device
from softlab.plans import forced, plan
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources
from tests.hardware import sanitize
from tests.hardware.sanitize import CONTROLS, FEW_SMS, LaunchSelection, launches, passed, summed_up, watching
from tests.random_cases.check import Emulator
from tests.random_cases.families import family_of
from tests.random_cases.test_families import UNPLANNED, entries
from tests.sampled import each, sampled

REPORT = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at k+0x80 in k.cu:1
=========     by thread (0,0,0) in block (0,0,0)
{"launches": 3, "kernels": 2, "families": ["k"], "wrong": []}
========= ERROR SUMMARY: 64 errors
"""


@pytest.mark.parametrize("part", sampled(range(9), lambda part: part == 0))
def test_some_launches_in_the_emulator(part: int) -> None:
    """Each 13th launch; `.ci/run` runs a ninth of them, `make test` all."""
    every = list(launches(LaunchSelection(ops=("softmax", "log_softmax_backward"), dtypes=("float32",))))
    for launch in every[13 * part :: 117]:
        assert launch.run(Emulator()) == "", launch.name


@pytest.mark.parametrize("longest", each(2, sorted(set(sanitize.LONGEST.values()))))
def test_every_kernel_that_a_plan_takes_is_launched(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name alone: no family of kernels is forgotten, under racecheck neither, which has no longer rows."""
    found = set()
    monkeypatch.setattr(sanitize, "_run_case", lambda case, executor: found.update(_planned_of_case(case)))
    monkeypatch.setattr(sanitize, "_run_on_few_sms", lambda *problem: found.update(_planned_on_few(*problem)))
    single = lambda *problem: found.update(_planned_in_single_elements(*problem))  # noqa: E731
    monkeypatch.setattr(sanitize, "_run_in_single_elements", single)
    monkeypatch.setattr(sanitize, "_run_strided", lambda *problem: found.update(_planned_strided(*problem)))
    monkeypatch.setattr(sanitize, "_run_aim", lambda aim, executor: found.add(aim.family))
    monkeypatch.setattr(sanitize, "_run_forced", lambda *problem: None)
    monkeypatch.setattr(sanitize, "_run_in_large_steps", lambda *problem: None)
    for launch in launches(LaunchSelection(longest=longest)):
        launch.launch(Emulator())
    assert found == entries() - UNPLANNED


_FEW = Resources(registers=32, static_smem_bytes=64, local_bytes=0, spill_bytes=0, nvrtc="")


def _planned_of_case(case: Any) -> set[str]:
    stride = case.stride if case.policy == "fast" else 1
    steps = FusedSteps() if case.fusion else None
    more: dict[str, Any] = {"policy": case.policy, "stride": stride, "lookup": lambda *_: _FEW, "fused": steps}
    found = plan(case.rows, case.cols, case.result, op=case.op, **more)
    return {family_of(found, case.fusion is not None)} if found.grid else set()


def _planned_on_few(op: str, dtype: str, sms: int, rows: int, cols: int, *_: Any) -> set[str]:
    device = replace(Device.named("H200"), sm_count=sms)
    found = plan(rows, cols, dtype, op=op, policy="fast", device=device, lookup=lambda *_: _FEW)
    others = dtype == "float64" and op in ("softmax", "log_softmax") and rows > 2  # the grid kernel, or the pipeline
    assert found.kernel == "fast_ring" or others
    assert found.read_again > 0 or rows > 2, "neither ring nor registers hold the longest rows"
    return {family_of(found, False)}


def _planned_strided(op: str, dtype: str, cols: int, stride: int, *_: Any) -> set[str]:
    more: dict[str, Any] = {"policy": "fast", "device": "H200", "stride": stride, "lookup": lambda *_: _FEW}
    found = plan(stride, cols, dtype, op=op, **more)
    assert (found.kernel == "fast_strip_grid") == (dtype != "float64")
    return {family_of(found, False)}


def _planned_in_single_elements(op: str, dtype: str, rows: int, cols: int, _: Any) -> set[str]:
    found = forced(rows, cols, dtype, op=op, policy="fast", device="H200", pack_size=1, lookup=lambda *_: _FEW)
    assert found.kernel == "fast_stream"
    return {family_of(found, False)}


def test_rows_in_ring_and_registers_are_watched() -> None:
    """One input and two; the ring and the registers hold the whole row, and not."""
    found = set()
    for op, dtype in product(("softmax", "softmax_backward"), ("float16", "float32")):
        for sms, rows, cols in FEW_SMS[2 if dtype == "float16" else 4]:
            device = replace(Device.named("H200"), sm_count=sms)
            made = plan(rows, cols, dtype, op=op, policy="fast", device=device, lookup=lambda *_: _FEW)
            if made.kernel == "fast_ring":
                kept = int(made.name.split(", ")[9])
                found.add((op, kept > 0, made.read_again > 0))
    assert {(op, *held) for op in ("softmax", "softmax_backward") for held in product((True,), (True, False))} < found


@pytest.mark.further
def test_rings_with_large_steps_are_watched(monkeypatch) -> None:
    """Of float32 all operators have steps of three or five packs, of 16 bits the gradients."""
    made = []
    monkeypatch.setattr(sanitize, "_run_plan", lambda plan, _: made.append(plan))
    for op, dtype in product(("softmax", "softmax_backward"), ("float16", "float32")):
        sanitize._run_in_large_steps(op, dtype, *sanitize.LARGE_STEPS[2 if dtype == "float16" else 4], (), None)
    steps = {(one.op, one.dtype): int(one.name.split(", ")[4]) for one in made if one.kernel == "fast_ring"}
    assert steps["softmax", "float32"] == 5
    assert steps["softmax_backward", "float32"] == steps["softmax_backward", "float16"] == 3


def test_only_some_launches() -> None:
    named = [launch.name for launch in launches(LaunchSelection(policies=("fast",), dtypes=("float32",), only=" SMs"))]
    assert len(named) == 24
    assert all(name.endswith(" SMs") for name in named)


def test_a_tool_asks_for_the_bits_of_the_run_without_one() -> None:
    plain = sanitize.Ran((np.arange(3), np.float32([1, np.nan])), lambda: "the oracle's answer")
    other = sanitize.Ran((np.arange(3), np.float32([1, 2])), lambda: "")
    assert sanitize.problem_of(plain, None) == "the oracle's answer"
    assert sanitize.problem_of(plain, plain.digest) == ""
    assert sanitize.problem_of(other, plain.digest)


def test_what_a_tool_reports_is_read() -> None:
    script = f"import sys; sys.stdout.write({REPORT!r})"
    found = sanitize.read(sanitize.process([sys.executable, "-c", script]))
    assert found["errors"] == 64
    assert found["reports"] == ["Invalid __global__ write of size 4 bytes"]
    assert found["launches"] == 3


def answer(**changed: Any) -> dict[str, Any]:
    plain = {"errors": 0, "exit": 0, "launches": 3, "kernels": 2, "families": ["k"], "wrong": [], "seconds": 1}
    return {**plain, "reports": [], "output": "", "reached": "", **changed}


def test_a_process_that_is_lost_says_which_launch_it_had_reached() -> None:
    names = [launch.name for launch in launches(LaunchSelection(policies=("fast",), dtypes=("float64",)))]
    for reached in (names[0], next(name for name in names if name.endswith(" SMs"))):
        script = f"print('a'); print({reached!r}); print('========= Error', flush=True); raise SystemError('failure')"
        lost = sanitize.read(sanitize.process([sys.executable, "-c", script]))
        (told,) = summed_up([answer(), lost])["lost"]
        assert told[0] == f"ended in {reached!r}"
        assert told[-1] == "SystemError: failure"


@pytest.mark.parametrize(
    "wrong",
    [{"errors": 1}, {"errors": None}, {"exit": 137}, {"wrong": ["k: 3 elements are off"]}],
)
def test_what_is_not_clean(wrong: dict[str, Any]) -> None:
    def record(**changed: Any) -> dict[str, Any]:
        fine = summed_up([answer(), answer()])
        controls = {tool: answer(errors=1) for tool in CONTROLS}
        return {"without a tool": fine, "tools": dict.fromkeys(CONTROLS, fine), "controls": controls, **changed}

    assert passed(record())
    bad = summed_up([answer(), answer(**wrong)])
    assert not passed(record(tools={"memcheck": bad}))
    assert not passed(record(**{"without a tool": bad}))
    lost = {key: value for key, value in answer().items() if key != "launches"}
    assert not passed(record(tools={"memcheck": summed_up([lost])}))
    assert not passed(record(controls={"memcheck": answer()}))


@pytest.mark.parametrize("longest", [5, 130_000, 2_000_000])
def test_no_tool_runs_longer_rows_than_asked_for(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that a user asks for, and of these what the tool can bear."""
    seen: dict[str, set[int]] = {}

    def process(command: Any, limit: int = 0) -> dict[str, Any]:
        if "--longest" in command:
            tool = command[command.index("--tool") + 1] if "--tool" in command else "none"
            seen.setdefault(tool, set()).add(int(command[command.index("--longest") + 1]))
        return answer(output="========= ERROR SUMMARY: 0 errors")

    monkeypatch.setattr(sanitize, "process", process)
    monkeypatch.setattr(sanitize, "said", lambda command: "")
    monkeypatch.setattr(sanitize, "about", dict)
    sanitize.recorded(LaunchSelection(("fast",), ("softmax",), ("float16",), longest), list(CONTROLS))
    assert seen == {"none": {longest}, **{tool: {min(longest, most)} for tool, most in sanitize.LONGEST.items()}}


def test_every_process_has_the_time_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a tool, and the controls; beside other work they take longer."""
    given: list[int] = []
    done = answer(output="========= ERROR SUMMARY: 0 errors")
    monkeypatch.setattr(sanitize, "process", lambda command, limit: given.append(limit) or done)
    monkeypatch.setattr(sanitize, "said", lambda command: "")
    monkeypatch.setattr(sanitize, "about", dict)
    options = ["--policies", "fast", "--ops", "softmax", "--dtypes", "float16"]
    sanitize.main([*options, "--limit", "700"])
    assert given == [700] * 9, "one without a tool, one under each, and a control for each"
    given.clear()
    sanitize.main(options)
    assert set(given) == {sanitize.LIMIT}


def test_what_other_tools_gave_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    first = {"sources": "a", "tools": {"memcheck, fast": 1}, "controls": {"memcheck": 1}}
    assert sanitize.beside(path, first) == first
    path.write_text(json.dumps(first))
    second = {"sources": "a", "tools": {"racecheck, fast": 2}, "controls": {"racecheck": 2}}
    assert set(sanitize.beside(path, second)["tools"]) == {"memcheck, fast", "racecheck, fast"}
    assert sanitize.beside(path, {**second, "sources": "b"}) == {**second, "sources": "b"}


def test_the_record_is_clean() -> None:
    record = json.loads((Path(__file__).parents[1] / "data" / "sanitizer_operators_h200.json").read_text())
    assert passed(record)
    assert set(record["controls"]) == set(CONTROLS)


def test_the_record_of_an_h100_has_no_report() -> None:
    """All launches of all policies came to their end under all tools."""
    record = json.loads((Path(__file__).parents[1] / "data" / "sanitizer_operators_h100.json").read_text())
    assert passed(record)
    assert len(record["tools"]) == 12
    assert set(record["controls"]) == set(CONTROLS)


def test_the_record_of_an_h200_has_every_kernel_that_a_plan_takes() -> None:
    """Each tool saw all families."""
    record = json.loads((Path(__file__).parents[1] / "data" / "sanitizer_operators_h200.json").read_text())
    for tool in CONTROLS:
        answers = [answer for of, answer in record["tools"].items() if of.startswith(tool)]
        assert {family for answer in answers for family in answer["families"]} == entries() - UNPLANNED


def test_without_the_tool_nothing_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError):
        watching("memcheck", [])


def test_a_selection_as_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the parent process asks of a watched one."""
    seen: list[LaunchSelection] = []
    monkeypatch.setattr(sanitize, "watched", lambda selection, known: seen.append(selection) or 0)
    part = LaunchSelection(("fast",), ("softmax",), ("float64", "float16"), 1000, " SMs")
    assert sanitize.main(["--watched", *part.options()]) == 0
    assert seen == [part]
