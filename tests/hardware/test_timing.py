"""The sets of launches of the timing model: what they hold, and that their predictions were made for them."""

from __future__ import annotations

import json
import subprocess
from math import prod
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.hardware import (
    eighth_cases,
    fifth_cases,
    fourth_cases,
    seventh_cases,
    sixth_cases,
    twenty_sixth_cases,
)
from tests.hardware.record_stalls import METRIC, REASONS, absent, shares
from tests.hardware.record_timing import (
    SETS,
    SMALL_SETS,
    _pairs,
    _print_errors,
    _Timer,
    _worst,
    main,
    measure_all,
    settled,
)
from tests.hardware.timing_cases import Array

DATA = Path(__file__).parent.parent / "data"
#: Set -> kernels that the model of that time refused. All of them have estimates since (docs/estimates.md).
NOT_PREDICTED = {"eighth": {"fft_256"}, "eleventh": {"pollard_rho"}, "twelfth": {"mma_half", "mma_bytes"}}
NOT_PREDICTED |= {"thirteenth": {"tf32_product", "hmm_forward", "attend_mma", "double_product"}}
NOT_PREDICTED |= {"fifteenth": {"hamming_mma"}, "seventeenth": {"kirsch_edges", "lowest_balances"}}
NOT_PREDICTED |= {"nineteenth": {"dealt_primes"}, "twentieth": {"mean_differences"}}


@pytest.mark.parametrize("name", SETS)
def test_the_set_has_launches_of_many_kinds(name):
    chosen = SETS[name]
    found = chosen.cases()
    assert len(found) >= SMALL_SETS.get(name, 120)
    assert len({case.name for case in found}) == len(found)
    assert sum(case.category not in chosen.DRAM for case in found) >= 2 / 3 * len(found)
    assert len({case.category for case in found}) >= 12


@pytest.mark.parametrize("name", SETS)
def test_every_launch_has_a_prediction(name):
    predicted = json.loads((DATA / f"{name}_predicted.json").read_text())["cases"]
    assert set(predicted) == {case.name for case in SETS[name].cases()}
    refused = {launch for launch, case in predicted.items() if "error" in case}
    assert {launch.partition(",")[0] for launch in refused} == NOT_PREDICTED.get(name, set())
    for launch in predicted.keys() - refused:
        assert predicted[launch]["H200.cold"] > 0, launch
        assert predicted[launch]["H200.warm"] > 0, launch


@pytest.mark.parametrize("gpu", ["h200", "h100"])
def test_every_launch_of_the_fourth_set_is_measured_or_named(gpu):
    record = json.loads((DATA / f"fourth_{gpu}.json").read_text())
    missing = {case.name: case.kernel for case in fourth_cases.cases() if case.name not in record["cases"]}
    named = {*fourth_cases.NOT_MEASURED}
    assert {kernel for name, kernel in missing.items() if name not in record["failed"]} == named
    assert not record["faults"]


def test_every_launch_of_the_fifth_set_is_measured():
    record = json.loads((DATA / "fifth_h200.json").read_text())
    assert set(record["cases"]) == {case.name for case in fifth_cases.cases()}
    assert not record["faults"]
    assert not record["failed"]


def test_every_launch_of_the_sixth_set_is_measured_or_named():
    record = json.loads((DATA / "sixth_h200.json").read_text())
    missing = {case.kernel for case in sixth_cases.cases() if case.name not in record["cases"]}
    assert missing == set(sixth_cases.NOT_MEASURED)
    assert not record["faults"]
    assert not record["failed"]


def test_every_launch_of_the_seventh_set_is_measured():
    record = json.loads((DATA / "seventh_h100.json").read_text())
    assert set(record["cases"]) == {case.name for case in seventh_cases.cases()}
    assert not record["faults"]
    assert not record["failed"]


def test_every_launch_of_the_eighth_set_is_measured():
    record = json.loads((DATA / "eighth_h100.json").read_text())
    assert set(record["cases"]) == {case.name for case in eighth_cases.cases()}
    assert not record["faults"]
    assert not record["failed"]


def test_every_launch_of_the_twenty_sixth_set_is_measured_or_named():
    record = json.loads((DATA / "twenty_sixth_h200.json").read_text())
    missing = {case.name: case.kernel for case in twenty_sixth_cases.cases() if case.name not in record["cases"]}
    assert missing.keys() == record["failed"].keys()
    assert {missing[name] for name in record["faults"]} == set(twenty_sixth_cases.NOT_MEASURED)
    assert {missing[name] for name in missing.keys() - record["faults"].keys()} == {"film_ratings"}


#: Two kernels with one name: 3 x 3 matrices of doubles in the eighteenth set, 6 x 6 of floats in the fifteenth.
SAME_NAME = {"matrix_exponentials"}


def test_no_kernel_is_in_two_sets():
    known: set[str] = set()
    for chosen in SETS.values():
        kernels = {case.kernel.partition("<")[0] for case in chosen.cases()}
        assert known & kernels <= SAME_NAME
        known |= kernels


@pytest.mark.parametrize("chosen", [one for name, one in SETS.items() if name != "timing"])
def test_a_series_differs_only_in_its_block_size_or_its_tile(chosen):
    """The numbers of a template are the tile; shared memory may be by thread."""
    series = chosen.series()
    assert len(series) >= 5
    by_name = {case.name: case for case in chosen.cases()}
    for names in series.values():
        found = [by_name[name] for name in names]
        assert len({(case.kernel, case.block) for case in found}) == len(found) >= 3
        assert len({(case.kernel.partition("<")[0], case.arguments) for case in found}) == 1
        sizes = [case.smem for case in sorted(found, key=lambda case: prod(case.block))]
        assert sizes == sorted(sizes)


def test_the_first_stall_reason_is_that_of_nsight_compute():
    """Of the launches that were profiled; the predictions are those made before."""
    predicted = json.loads((DATA / "validation_predicted.json").read_text())["cases"]
    measured = json.loads((DATA / "validation_stalls_h100.json").read_text())["cases"]
    first = {name: next(iter(shares)) for name, shares in measured.items()}
    same = [predicted[name]["stall"] == reason for name, reason in first.items()]
    assert len(same) >= 50
    assert sum(same) >= 0.85 * len(same)


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        ("fourteenth", "h100"),
        ("sixteenth", "h100"),
        ("seventeenth", "h100"),
        ("eighteenth", "h200"),
        ("nineteenth", "h200"),
        ("twentieth", "h200"),
        ("twenty_first", "h200"),
        ("twenty_second", "h200"),
        ("twenty_third", "h200"),
        ("twenty_fourth", "h200"),
        ("twenty_fifth", "h200"),
        ("twenty_sixth", "h200"),
    ],
)
def test_docs_say_in_how_many_launches_of_a_blind_set_the_first_stall_reason_is_right(name, gpu):
    predicted = json.loads((DATA / f"{name}_predicted.json").read_text())["cases"]
    measured = json.loads((DATA / f"{name}_stalls_{gpu}.json").read_text())["cases"]
    same = sum(predicted[launch].get("stall") == next(iter(shares)) for launch, shares in measured.items())
    page = (Path(__file__).parents[2] / "docs" / "estimates.md").read_text()
    assert f"{same} of {len(measured)} launches" in page


class _HostBusy:
    """A GPU whose host is late for the first repeats; such a repeat takes 90 us, another one 2 us."""

    def __init__(self, late):
        self.late, self.turns, gpu = late, 0, self

        class Event:
            done = property(lambda self: gpu.turns <= gpu.late)

            def record(self):
                gpu.turns += 1

            def synchronize(self):
                pass

        self.cuda = SimpleNamespace(Event=Event, get_elapsed_time=lambda a, b: self.elapsed())
        self.zeros = np.zeros

    def elapsed(self):
        return 0.090 if self.turns <= self.late else 0.002


def _timer(gpu):
    return _Timer(gpu, dict.fromkeys(("read_all", "write_all", "spin"), lambda *launch: None))


def test_a_repeat_for_which_the_host_was_late_does_not_count():
    timer = _timer(_HostBusy(late=10))
    assert timer.times(lambda: None) == {"cold": 2.0, "dirty": 2.0, "warm": 2.0}
    assert timer.late == 5
    with pytest.raises(RuntimeError, match="host cannot queue"):
        _timer(_HostBusy(late=10_000)).times(lambda: None)


def test_a_launch_whose_passes_do_not_agree_is_named():
    empty = [{"cold": 1.0, "warm": 1.0}]
    steady, other = {"cold": 5.0, "warm": 3.0}, {"cold": 5.1, "warm": 3.1}
    disturbed = {"cold": 5.0, "warm": 70.0}
    found = settled({"a": [steady, other], "b": [disturbed, steady, other], "c": [disturbed, steady]}, empty)
    assert found["cases"] == {"a": {"cold": 4.05, "warm": 2.05}, "b": {"cold": 4.05, "warm": 2.05}}
    assert list(found["failed"]) == ["c"]


class _Processes:
    """``subprocess.run``: each process but the third fails. It has measured one more launch, unless ``crashing``."""

    def __init__(self, out, crashing):
        self.path, self.crashing, self.commands = out / "eighth_h100.json", crashing, []

    def run(self, command, check):
        self.commands.append(command[3:5])
        if not self.crashing:
            passes = {f"launch {k}": [{}] for k in range(len(self.commands))}
            self.path.write_text(json.dumps({"faults": {}, "passes": passes}))
        return SimpleNamespace(returncode=int(self.crashing or len(self.commands) < 3))


@pytest.mark.parametrize("crashing", [False, True])
def test_processes_measure_until_nothing_is_left(monkeypatch, tmp_path, crashing):
    processes = _Processes(tmp_path, crashing)
    monkeypatch.setattr(subprocess, "run", processes.run)
    (tmp_path / "programs.json.xz").write_bytes(b"")
    if crashing:
        with pytest.raises(SystemExit, match="measured nothing"):
            measure_all(eighth_cases, tmp_path, tmp_path)
    else:
        measure_all(eighth_cases, tmp_path, tmp_path)
    assert processes.commands == [["measure", "eighth"]] * (2 if crashing else 3)


def test_offsets_rise_to_the_number_of_elements():
    lengths = np.diff(Array("offsets", "i4", 1001, 7).make())
    assert lengths.sum() == 7000
    assert lengths.min() >= 1
    assert lengths.max() <= 13
    assert len(set(lengths)) > 7


def test_a_ring_leads_through_the_whole_table():
    ring = Array("ring", "i4", 1 << 12, 65).make()
    at, seen = 0, set()
    while at not in seen:
        seen.add(at)
        at = int(ring[at])
    assert len(seen) == 1 << 12
    assert ring.dtype == np.int32


def test_the_report_compares_what_was_measured(capsys):
    predicted = {f"launch {n}": {"category": "tiny", "H200.cold": 1.1 * n, "roofline": 0.5 * n} for n in range(1, 12)}
    measured = {f"launch {n}": {"cold": float(n)} for n in range(1, 12)}
    pairs = _pairs(predicted, measured, "H200", "cold")
    _print_errors("H200, cold", pairs)
    text = capsys.readouterr().out
    assert "median  10.0%  p90  10.0%  roofline  50.0%" in text
    assert "rank correlation 1.0000" in text
    assert len(_worst(pairs)) == 10
    assert _worst(pairs)[0][2] / _worst(pairs)[0][3] == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: command, set"),
        (["mesure", "sixth", "out"], "invalid choice: 'mesure'"),
        (["measure", "sixth", "folder"], "measure: missing a required argument: 'out'"),
    ],
)
def test_a_command_that_lacks_something_says_so(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_report_says_which_block_sizes_and_reasons_are_right(tmp_path, capsys):
    """Three of the launches of each series: the model takes the second one, and is right in the first series alone."""
    series = {"right": ["a", "b", "c"], "wrong": ["d", "e", "f"], "alone": ["g"], "refused": ["h", "i"]}
    times = dict(zip("abcdefghi", (2, 1.01, 1, 1, 2, 3, 1, 1, 2), strict=True))
    predicted = {
        name: {
            "category": "alu", "bound": "alu", "stall": "wait", "roofline": 1,
            "H200.cold": 1 if name in "be" else 2, "H200.warm": times[name],
        }
        for name in times
    }  # fmt: skip
    predicted |= {name: {"category": "alu", "error": "too long"} for name in "hi"}
    measured = {"cases": {name: {"cold": took, "warm": took} for name, took in times.items()}}
    stalls = {"cases": {"a": {"wait": 0.9, "barrier": 0.1}, "b": {"barrier": 0.9}, "h": {"wait": 1.0}}}
    chosen = SimpleNamespace(series=lambda: series)
    for name, record in (("x_h200", measured), ("x_stalls_h200", stalls)):
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    (tmp_path / "predicted").write_text(json.dumps({"cases": predicted}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SETS, "x", chosen)
        main(["report", "x", str(tmp_path / "predicted"), str(tmp_path)])
    said = capsys.readouterr().out
    assert "best block size within 3 %: 1 of 3 series" in said
    assert "best block size within 3 %: 2 of 3 series" in said
    assert "+100%  wrong" in said
    assert "+inf%  refused" in said
    assert "H200: first reason of stalls as by Nsight Compute: 1 of 3; others:" in said
    assert "wait instead of barrier  b" in said
    assert "none instead of wait  h" in said


def test_shares_of_stalls_are_read_as_nsight_compute_prints_them():
    names = ["ID", "Kernel Name", *map(METRIC.format, REASONS)]
    rows = [names, ["", "", *("inst" for _ in REASONS)]]
    for number, (wait, barrier) in enumerate(((3, 1), (0, 1200))):
        ratios = {"wait": f"{wait}", "barrier": f"{barrier:,}", "drain": "0.004"}
        rows.append([str(number), "k", *(ratios.get(reason, "0") for reason in REASONS)])
    text = "==PROF== Connected\n" + "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    assert shares(text) == [{"wait": 0.7493, "barrier": 0.2498}, {"barrier": 1.0}]
    assert absent(text) == []
    assert absent(text.replace(METRIC.format("branch_resolving"), METRIC.format("branch"))) == ["branch_resolving"]


@pytest.mark.parametrize("path", sorted(DATA.glob("*_stalls_*.json")), ids=lambda path: path.stem)
def test_docs_name_the_records_of_stalls_without_branches(path):
    seen = any("branch_resolving" in shares for shares in json.loads(path.read_text())["cases"].values())
    page = (Path(__file__).parents[2] / "docs" / "estimates_history.md").read_text()
    without = page.partition("## Where the reasons of stalls differ")[2].partition("\n## ")[0]
    assert (f"`{path.stem}`" in without) != seen
