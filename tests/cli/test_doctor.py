"""The doctor tells the truth about parts that are there, missing and broken, and never raises."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys

import pytest

from softlab.cli import doctor
from softlab.cli.doctor import Diagnosis
from softlab.cuda import compile as compiler
from softlab.cuda import shipped_programs
from softlab.errors import CompileError


@pytest.fixture(scope="module")
def findings() -> dict[str, Diagnosis]:
    return {finding.name: finding for finding in doctor.examine()}


def test_what_this_machine_certainly_has(findings):
    assert findings["Python"].present
    assert findings["Python"].detail.startswith(".".join(map(str, sys.version_info[:3])))
    for name in ("NumPy", "jupyterlab", "ipywidgets", "plotly", "anywidget"):
        assert findings[name].present, findings[name]


def test_the_compiler_is_found(findings):
    assert findings["NVRTC"].detail.startswith(compiler.nvrtc_version())
    assert findings["CUDA headers, CUB"].present, findings["CUDA headers, CUB"].detail


def test_the_emulator_runs(findings):
    assert findings["Emulator"].present, findings["Emulator"].detail


def test_the_cache_folder_is_named(findings):
    assert findings["Cache folder"].detail == str(compiler.cache_folder())


@pytest.mark.gpu
def test_the_gpu_is_named(findings):
    assert findings["NVIDIA driver"].present
    assert "sm_" in findings["GPU"].detail


def test_a_missing_part_says_what_it_costs_and_how_to_get_it(findings):
    for finding in findings.values():
        if finding.present:
            assert (finding.cost, finding.remedy) == ("", "")
        else:
            assert finding.detail
            assert finding.cost
            assert finding.remedy


def test_no_chromium(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "chromium", lambda: None)
    finding = one("Chromium")
    assert (finding.present, finding.detail, finding.essential) == (False, "none found", False)


def test_chromium_on_the_path_comes_first(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho Chromium 1.2.3\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert doctor.chromium() == program
    assert one("Chromium").detail == f"Chromium 1.2.3, {program}"


def test_no_compiler(monkeypatch):
    def missing():
        raise CompileError("NVRTC cannot be loaded: libnvrtc.so.12 not found")

    monkeypatch.setattr(compiler, "supported_architectures", missing)
    finding = one("NVRTC")
    assert not finding.present
    assert "libnvrtc.so.12" in finding.detail
    assert "softlab[cuda12]" in finding.remedy
    # The lessons' kernels come compiled.
    assert doctor.exit_status([finding]) == 0


def test_no_compiled_kernels(monkeypatch):
    assert one("Compiled kernels").present
    monkeypatch.setattr(shipped_programs, "shipped_count", lambda: 0)
    finding = one("Compiled kernels")
    assert (finding.present, finding.essential) == (False, True)
    assert doctor.exit_status([finding]) == 1


def test_headers_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setattr(compiler, "include_options", lambda: ())
    finding = one("CUDA headers, CUB")
    assert not finding.present
    assert "cuda_fp16.h" in finding.detail


def test_a_cache_folder_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(compiler, "cache_folder", lambda: tmp_path / "file" / "softlab")
    finding = one("Cache folder")
    assert not finding.present
    assert str(tmp_path / "file" / "softlab") in finding.detail
    assert doctor.exit_status([finding]) == 0


def test_an_emulator_that_is_wrong_is_found(monkeypatch):
    import softlab

    monkeypatch.setattr(softlab, "softmax", lambda x: x * 0 + 0.5, raising=False)
    finding = one("Emulator")
    assert not finding.present
    assert "0.5" in finding.detail


def test_nvidia_smi_that_fails_is_no_failure(monkeypatch, tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("nvidia-smi") == str(program)
    assert doctor._first_line("nvidia-smi") == ""
    assert doctor._first_line("no-such-program") == ""


EXAMPLES = (
    Diagnosis("NumPy", True, "2.4", essential=True),
    Diagnosis("CuPy", False, "no module", "no GPU runs", "pip install cupy", True),
    Diagnosis("GPU", False, "none", "nothing is timed", "buy one"),
)


def test_json_has_every_field():
    assert json.loads(doctor.to_json(EXAMPLES))[1] == {
        "name": "CuPy",
        "present": False,
        "detail": "no module",
        "cost": "no GPU runs",
        "remedy": "pip install cupy",
        "essential": True,
    }


def test_text_tells_essential_from_useful():
    lines = doctor.render(EXAMPLES, width=80).splitlines()
    assert [line.split()[:2] for line in lines if line[:1].strip()][:3] == [
        ["ok", "NumPy"],
        ["MISSING", "CuPy"],
        ["missing", "GPU"],
    ]
    assert lines[-1] == "Essential and missing: CuPy. The lessons do not run."
    assert doctor.render(EXAMPLES[:1]).endswith("Everything is here.")
    assert "you lose only" in doctor.render([EXAMPLES[0], EXAMPLES[2]])


@pytest.mark.parametrize("width", [40, 80, 100])
def test_text_fits_the_terminal(width):
    long = Diagnosis("GPU", False, "none", "nothing can be timed on this machine, and " * 5, "buy one")
    assert max(map(len, doctor.render([long], width=width).splitlines()[:-2])) <= width


def test_exit_status():
    assert doctor.exit_status(EXAMPLES) == 1
    assert doctor.exit_status([EXAMPLES[0], EXAMPLES[2]]) == 0


def one(name: str) -> Diagnosis:
    (part,) = (part for part in doctor._PARTS if part.name == name)
    return doctor._examined(part)
