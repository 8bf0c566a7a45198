"""Programs that softlab brings compiled: what a machine without NVRTC and nvdisasm gets."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import softlab
from softlab.cuda import compile as compiler
from softlab.cuda import disassembly, shipped_programs
from softlab.cuda.compile import compile_program
from softlab.errors import CompileError
from softlab.sass.cubin import Cubin
from tests.tools.programs import entry, without_compiler

SOURCE = """#include <cuda_fp16.h>
__constant__ float factors[2];
extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= factors[threadIdx.x % 2]; }
extern "C" __global__ void widen(const __half* x, float* y) { y[threadIdx.x] = __half2float(x[threadIdx.x]); }
"""


@pytest.fixture(scope="module")
def program():
    return compile_program(SOURCE, "scale", file="mine.cu")


@pytest.fixture(scope="module")
def programs(program):
    return dict([entry(program)])


@pytest.fixture
def archive(programs, monkeypatch, tmp_path):
    """An archive of one program, and a softlab that finds no tool of NVIDIA."""
    file = tmp_path / "programs.zip"
    shipped_programs.write_shipped(programs, file)
    monkeypatch.setattr(compiler, "shipped_program", lambda key: shipped_programs.shipped_program(key, file))
    monkeypatch.setattr(
        disassembly, "shipped_machine_code", lambda cubin: shipped_programs.shipped_machine_code(cubin, file)
    )
    monkeypatch.setattr(compiler, "_found_nvrtc", lambda: (None, "there is none"))
    monkeypatch.setattr(disassembly, "_tool", lambda: None)
    return file


def test_a_shipped_program_is_what_the_compiler_made(program, archive):
    found = compile_program(SOURCE, "scale", file="mine.cu")
    assert replace(found, ptx="", cubin=b"") == replace(program, ptx="", cubin=b"")
    assert found.reports == program.reports
    assert [line for line in found.ptx.splitlines() if ".file" not in line] == [
        line for line in program.ptx.splitlines() if ".file" not in line
    ]


def test_its_machine_code_and_constants_are_there(program, archive, monkeypatch):
    found = compile_program(SOURCE, "scale", file="mine.cu")
    listing = disassembly.disassemble(found)
    assert Cubin(found.cubin).variables_of(".nv.constant3") == Cubin(program.cubin).variables_of(".nv.constant3")
    monkeypatch.undo()
    assert listing == disassembly.disassemble(program)


def test_it_runs_with_the_same_counters(archive):
    x, y = np.arange(32, dtype=np.float16), np.zeros(32, np.float32)
    run = softlab.Kernel(SOURCE, "widen", file="mine.cu").run(1, 32, (x, y))
    assert y.tolist() == x.tolist()
    assert run.counters["instructions"] > 0
    assert not run.remarks


def test_a_kernel_of_the_same_compilation_is_there_too(archive):
    assert compile_program(SOURCE, "widen", file="mine.cu").entry == "widen"


@pytest.mark.parametrize(
    "change",
    [{"source": SOURCE + " "}, {"arch": "sm_80"}, {"options": ["-DN=1"]}, {"file": "other.cu"}, {"name": "nothing"}],
)
def test_what_is_not_there_is_an_error_that_says_why(archive, change):
    asked = {"source": SOURCE, "name": "scale", "file": "mine.cu", **change}
    with pytest.raises(CompileError, match=r"NVRTC.* cannot be loaded: there is none(.|\n)*it is changed, or new"):
        compile_program(**asked)


def test_no_folder_of_the_machine_is_in_an_archive(program, archive):
    found = compile_program(SOURCE, "scale", file="mine.cu")
    for text in (found.ptx, disassembly.printed(found)):
        assert '"mine.cu"' in text
        assert '"/' not in text


def test_the_same_programs_give_the_same_bytes(programs, archive, tmp_path):
    again = tmp_path / "again.zip"
    shipped_programs.write_shipped(programs, again)
    assert again.read_bytes() == archive.read_bytes()


def test_an_archive_of_another_format_has_nothing(programs, monkeypatch, tmp_path):
    file = tmp_path / "other.zip"
    with monkeypatch.context() as patched:
        patched.setattr(shipped_programs, "_FORMAT", 0)
        shipped_programs.write_shipped(programs, file)
    assert shipped_programs.shipped_count(file) == 0


def test_without_a_compiler_a_lessons_kernel_runs_and_a_changed_one_says_why(tmp_path):
    """In a process that finds neither CuPy nor NVIDIA's packages."""
    script = """
import importlib.util, numpy as np, softlab
from softlab.errors import CompileError
assert importlib.util.find_spec("cupy") is None and importlib.util.find_spec("nvidia") is None
from softlab.explorers import StepperExplorer
assert len(StepperExplorer.example().record) > 100
try:
    softlab.Kernel("extern \\"C\\" __global__ void mine(float* x) { x[0] = 41; }", "mine")
except CompileError as error:
    print(error)
"""
    environment = without_compiler() | {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "it is changed, or new" in done.stdout
