"""The compiler: programs, their cache, and what its errors say."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from softlab.cuda import compile as compiler
from softlab.cuda.compile import CUTLASS, Program, compile_program, included
from softlab.cuda.disassembly import disassemble
from softlab.cuda.logs import kernels_of, rejection
from softlab.errors import CompileError
from softlab.kernel import Kernel
from tests.sampled import each

SCALE = """
template <typename T, int times>
__global__ void scale(T* x) {
  x[threadIdx.x] *= times;
}

extern "C" __global__ void set(float* x) {
  __shared__ float word[32];
  word[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = word[31 - threadIdx.x];
}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder for this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return compiler.cache_folder() / "programs"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that really went to NVRTC."""
    names: list[str] = []
    original = compiler._compile

    def counted(source: str, name: str, *rest: object) -> Program:
        names.append(name)
        return original(source, name, *rest)

    monkeypatch.setattr(compiler, "_compile", counted)
    return names


@pytest.fixture
def no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where CuPy is not installed."""
    compiler._found_nvrtc.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "cupy.cuda", None)
    yield
    compiler._found_nvrtc.cache_clear()


def test_program_of_an_extern_c_kernel(cache: Path) -> None:
    program = compile_program(SCALE, "set", arch="sm_80", file="lesson.cu")
    assert program.entry == "set"
    assert ".target sm_80" in program.ptx
    assert ".visible .entry set(" in program.ptx
    assert 'lesson.cu"' in program.ptx  # the line table's file
    assert program.static_smem_bytes == 32 * 4
    assert 8 <= program.registers <= 32
    assert (program.local_bytes, program.spill_bytes) == (0, 0)


def test_program_of_an_instantiation(cache: Path) -> None:
    program = compile_program(SCALE, "scale<double, 3>")
    assert f".entry {program.entry}(" in program.ptx
    assert "f64" in program.ptx


def test_the_cubin_is_a_whole_elf_file(cache: Path) -> None:
    cubin = compile_program(SCALE, "set").cubin
    assert cubin[:4] == b"\x7fELF"
    program_headers, section_headers = struct.unpack_from("<QQ", cubin, 32)
    sizes = struct.unpack_from("<4H", cubin, 54)
    assert len(cubin) >= max(program_headers + sizes[0] * sizes[1], section_headers + sizes[2] * sizes[3])


def test_shipped_headers_and_cub_can_be_included(cache: Path) -> None:
    source = '#include "block_reduce.cuh"\n#include "arithmetic.cuh"\n' + SCALE
    assert compile_program(source, "set").entry == "set"


def test_options_reach_the_compiler(cache: Path) -> None:
    source = 'extern "C" __global__ void k(int* x) { x[0] = NUMBER; }'
    assert "4711" in compile_program(source, "k", options=["-DNUMBER=4711"]).ptx


def test_second_compilation_comes_from_the_cache(cache: Path, compilations: list[str]) -> None:
    first = compile_program(SCALE, "set")
    assert compile_program(SCALE, "set") == first
    assert compilations == ["set"]
    compile_program(SCALE, "set", cache=False)
    assert compilations == ["set", "set"]


TWO = """
extern "C" __global__ void first(float* x) { x[threadIdx.x] += 1; }
static __device__ float third(float x) { return x / 3; }
__global__ void __launch_bounds__(64) second(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = third(x[i]); }
__global__ void twice(float* x) { x[0] *= 2; }
__global__ void twice(double* x) { x[0] *= 2; }
template <typename T> __global__ void of(T* x) { x[0] += 1; }
"""


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_one_compilation_serves_all_kernels_of_a_source(cache: Path, compilations: list[str], order) -> None:
    made = {name: compile_program(TWO, name) for name in order}
    assert compilations == [order[0]]
    for name, program in made.items():
        alone = compile_program(TWO, name, cache=False)
        assert (program.name, program.entry, program.registers) == (name, alone.entry, alone.registers)
        assert (program.ptx, program.cubin) == (alone.ptx, alone.cubin)
    assert made["first"].registers != made["second"].registers


def test_the_kernels_of_a_source() -> None:
    source = """
    template<int n> __global__ void CLUSTER(n) __launch_bounds__(64, min(2, n)) first(float* x, int n);
    __global__ void __maxnreg__(40) second(void (*f)(int), int n = (1 + 2) * 3) { third(f); }
    extern "C" __global__ void fourth() {}
    int __global__x(int);
    """
    assert kernels_of(source) == ["first", "second", "fourth"]


def test_what_another_compilation_does_not_have_is_compiled(cache: Path, compilations: list[str]) -> None:
    compile_program(TWO, "first")
    for name in ("of<float>", "of<double>"):
        assert compile_program(TWO, name).name == name
    with pytest.raises(CompileError, match="twice"):  # of two kernels of that name none is meant for certain
        compile_program(TWO, "twice")
    with pytest.raises(CompileError, match="has no kernel 'thirds'"):
        compile_program(TWO, "thirds")
    with pytest.raises(CompileError, match="has no kernel 'third'"):
        compile_program(TWO, "third")
    assert compilations == ["first", "of<float>", "of<double>", "twice", "thirds", "third"]


def test_the_emulator_runs_both_kernels_of_one_compilation(cache: Path, compilations: list[str]) -> None:
    x = np.arange(4, dtype=np.float32)
    for name, arguments in (("first", (x,)), ("second", (x, 4))):
        run = Kernel(TWO, name).run(1, 4, arguments)
        assert max(run.by_line()) == {"first": 2, "second": 4}[name]
    assert x.tolist() == (np.float32([1, 2, 3, 4]) / np.float32(3)).tolist()
    assert compilations == ["first"]


@pytest.mark.parametrize(
    "change",
    [
        {"source": SCALE + "// changed"},
        {"name": "scale<float, 2>"},
        {"arch": "sm_80"},
        {"options": ("-DX",)},
        {"file": "other.cu"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_matters_is_in_the_key(cache: Path, compilations: list[str], change: dict) -> None:
    asked = {"source": SCALE, "name": "set"}
    compile_program(**asked)
    compile_program(**{**asked, **change})
    assert len(compilations) == 2


def test_another_nvrtc_or_other_headers_compile_anew(
    cache: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = dict(compiler.kernel_sources())
    source = f'#include "load_store.cuh"\n{SCALE}'
    compile_program(source, "set")
    # load_store.cuh includes pack.cuh: a change there matters, one in a header that is not included does not.
    for changed, compiled in (("algorithm.cuh", 1), ("pack.cuh", 2)):
        shipped[changed] += "// other\n"
        monkeypatch.setattr(compiler, "kernel_sources", lambda: shipped)
        compile_program(source, "set")
        assert len(compilations) == compiled, changed
    monkeypatch.setattr(compiler, "nvrtc_version", lambda: "99.0")
    compile_program(source, "set")
    assert len(compilations) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: "",
        lambda record: record[: len(record) // 2],
        lambda record: "null",
        lambda record: "[]",
        lambda record: json.dumps({**json.loads(record), "cubin": "xyz"}),
        lambda record: json.dumps({k: v for k, v in json.loads(record).items() if k != "entry"}),
        lambda record: json.dumps({**json.loads(record), "unknown": 1}),
    ],
    ids=["empty", "truncated", "null", "list", "no-hex", "field-missing", "field-unknown"],
)
def test_a_damaged_entry_is_compiled_and_written_anew(cache: Path, compilations: list[str], damage) -> None:
    program = compile_program(SCALE, "set")
    (entry,) = cache.iterdir()
    entry.write_text(damage(entry.read_text()))
    assert compile_program(SCALE, "set") == program
    assert compile_program(SCALE, "set") == program
    assert len(compilations) == 2


@pytest.mark.parametrize("field", each(3, ["ptx", "cubin", "registers", "arch", "entry", "source", "digest"]))
def test_a_changed_entry_is_compiled_anew(cache: Path, compilations: list[str], field: str) -> None:
    """The entry is still whole and of the right form: only the digest tells."""
    program = compile_program(SCALE, "set")
    (entry,) = cache.iterdir()
    record = json.loads(entry.read_text())
    value = record[field]
    record[field] = value + 1 if isinstance(value, int) else value[:-1] + ("2" if value[-1] == "1" else "1")
    assert record[field] != value
    entry.write_text(json.dumps(record))
    assert compile_program(SCALE, "set") == program
    assert len(compilations) == 2
    assert json.loads(entry.read_text())[field] == value


def test_an_entry_of_another_kernel_is_compiled_anew(cache: Path, compilations: list[str]) -> None:
    compile_program(SCALE, "scale<float, 3>")
    (other,) = cache.iterdir()
    program = compile_program(SCALE, "set")
    (entry,) = set(cache.iterdir()) - {other}
    entry.write_bytes(other.read_bytes())
    assert compile_program(SCALE, "set") == program
    assert len(compilations) == 3


@pytest.mark.parametrize("given", [{"source": SCALE + "\n\0 more"}, {"name": "set\0x"}, {"options": ["-DA=\0"]},
                                   {"file": "k\0.cu"}], ids=lambda given: next(iter(given)))  # fmt: skip
def test_a_nul_character_is_refused(cache: Path, given: dict) -> None:
    with pytest.raises(ValueError, match="has a NUL character in line"):
        compile_program(**{"source": SCALE, "name": "set", **given})
    with pytest.raises(TypeError, match="the source must be a string, not bytes"):
        compile_program(b"", "set")


def test_an_entry_that_is_no_text(cache: Path, compilations: list[str]) -> None:
    program = compile_program(SCALE, "set")
    (entry,) = cache.iterdir()
    entry.write_bytes(b"\xff\xfe\x00\x80" * 100)
    assert compile_program(SCALE, "set") == program
    assert len(compilations) == 2


def test_a_cache_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file instead of the folder: permissions would not stop a test that runs as root.
    blocked = tmp_path / "cache"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert compile_program(SCALE, "set").entry == "set"
    assert compile_program(SCALE, "set").entry == "set"


def test_a_full_disk_leaves_no_rubbish(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("softlab.cuda.cache.os.replace", full)
    assert compile_program(SCALE, "set").entry == "set"
    assert list(cache.iterdir()) == []


@pytest.mark.further
def test_two_processes_at_once(cache: Path) -> None:
    """Both start with an empty cache and compile the same kernels; both get them, and what stays is readable."""
    script = textwrap.dedent(
        """
        import sys
        from softlab.cuda.compile import compile_program
        source = sys.stdin.read()
        print([compile_program(source, f"scale<float, {n}>").registers for n in range(2, 12)])
        """
    )
    command = [sys.executable, "-c", script]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.write(SCALE)
        process.stdin.close()
    answers = [(process.stdout.read(), process.stderr.read(), process.wait(timeout=120)) for process in processes]
    for process in processes:
        process.stdout.close()
        process.stderr.close()
    assert [code for *_, code in answers] == [0, 0], answers
    assert answers[0][0] == answers[1][0]
    entries = list(cache.iterdir())
    assert len(entries) == 10
    assert all(compiler._read_cache(entry) for entry in entries)


def message_of(*args: object, **options: object) -> str:
    with pytest.raises(CompileError) as caught:
        compile_program(*args, cache=False, **options)
    return str(caught.value)


def test_a_syntax_error_shows_the_numbered_lines() -> None:
    source = '// a lesson\n\nextern "C" __global__ void k(float* x) {\n  x[0] = y;\n}\n'
    with pytest.raises(CompileError) as caught:
        compile_program(source, "k", file="lesson.cu", cache=False)
    assert 'identifier "y" is undefined' in caught.value.log
    shown = str(caught.value).rpartition("\n\nlesson.cu:\n")[2].splitlines()
    assert shown == ['     3 | extern "C" __global__ void k(float* x) {', ">    4 |   x[0] = y;", "     5 | }"]


def test_an_error_inside_a_shipped_header_shows_its_lines_too() -> None:
    source = '#include "pack.cuh"\nextern "C" __global__ void k(float* x) {\n  Pack<float, 3> pack;\n}\n'
    message = message_of(source, "k")
    assert ">    3 |   Pack<float, 3> pack;" in message
    assert "| union Pack {" in message


def test_a_kernel_that_is_not_in_the_source() -> None:
    message = message_of(SCALE, "scal<float, 3>")
    assert "has no kernel 'scal<float, 3>'; it has scale, set." in message


COPY = "template <typename T> __global__ void copy(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x]; }"


def test_a_template_without_its_arguments_is_not_called_missing() -> None:
    said = "kernel.cu has the kernel copy as a template: give its arguments, as in 'copy<float, 4>'."
    assert message_of(COPY, "copy").startswith(said)


@pytest.mark.parametrize(
    ("name", "header"),
    [("__half", "cuda_fp16.h"), ("half2", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")],
)
def test_a_type_of_a_name_whose_header_is_missing(name: str, header: str) -> None:
    message = message_of(COPY, f"copy<{name}>")
    assert message.startswith(f"kernel.cu has the kernel copy, but no 'copy<{name}>': give arguments that its template")
    assert message.endswith(f"{name} comes with #include <{header}>.")


def test_a_source_without_any_kernel() -> None:
    assert "no kernel at all" in message_of("__device__ int one() { return 1; }", "one")


def test_a_missing_header() -> None:
    message = message_of('#include "nowhere.h"\n' + SCALE, "set")
    assert '"nowhere.h"' in message
    assert '>    1 | #include "nowhere.h"' in message


def test_an_unknown_option() -> None:
    assert "-nonsense" in message_of(SCALE, "set", options=["-nonsense"])


def test_an_architecture_that_nvrtc_does_not_know() -> None:
    message = message_of(SCALE, "set", arch="sm_13")
    assert "sm_13" in message
    assert "sm_90" in message


@pytest.mark.parametrize("arch", ["90", "sm90", "compute_90", "", None, 90])
def test_what_is_no_architecture(arch: object) -> None:
    with pytest.raises(ValueError, match="is not an architecture: give a name such as 'sm_90'"):
        compile_program(SCALE, "set", arch=arch)


@pytest.mark.usefixtures("no_nvrtc")
def test_missing_nvrtc_says_what_to_install() -> None:
    with pytest.raises(CompileError, match=r"pip install 'softlab\[cuda12\]'"):
        compile_program(SCALE, "set")


def test_many_kernels_at_once_have_the_resources_of_one_by_one(cache: Path) -> None:
    names = ["set", "scale<float, 2>", "scale<double, 5>"]
    reports = compiler.compile_reports(SCALE, names, arch="sm_80")
    for name in names:
        program = compile_program(SCALE, name, arch="sm_80")
        assert reports[name]["registers"] == program.registers
        assert reports[name]["static_smem_bytes"] == program.static_smem_bytes


@pytest.mark.further
def test_many_programs_at_once_run_as_those_of_one_by_one(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["set", "scale<float, 2>", "scale<double, 5>"]
    with pytest.raises(TypeError, match="the name must be a string, not int"):
        compiler.compile_programs(SCALE, ["set", 3])
    programs = compiler.compile_programs(SCALE, names, arch="sm_80")
    assert [program.name for program in programs] == names
    assert len({program.cubin for program in programs}) == 1
    monkeypatch.setattr(compiler, "_compile_all", None)
    assert compiler.compile_programs(SCALE, names, arch="sm_80") == programs
    assert [compile_program(SCALE, name, arch="sm_80") for name in names] == programs
    monkeypatch.undo()
    for name, program in zip(names, programs, strict=True):
        alone = compile_program(SCALE, name, arch="sm_80", cache=False)
        assert (alone.entry, alone.registers) == (program.entry, program.registers)
        assert alone.reports.items() <= program.reports.items()
        # But for the numbers of labels.
        code = [disassemble(made, alone=True).kernel.instructions for made in (alone, program)]
        one, other = ([i.text.partition("`")[0] for i in instructions] for instructions in code)
        assert one == other


@pytest.mark.gpu
def test_beside_a_driver_a_second_compilation_is_reported_too():
    """The driver's cache has the machine code then; without --no-cache the assembler said nothing."""
    source = 'extern "C" __global__ void seen_twice(float* x) { x[threadIdx.x] *= 3; }'
    first, second = (compile_program(source, "seen_twice", cache=False) for _ in range(2))
    assert first.registers == second.registers > 0


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ('mma.h(3): catastrophic error: cannot open source file "crt/mma.h"', r"pip install 'softlab\[ptx\]'"),
        (
            'a.cu(1): catastrophic error: cannot open source file "curand_kernel.h"',
            r"curand_kernel.h comes with pip install 'softlab\[curand\]'",
        ),
        (
            "ptxas application ptx input, line 9; error   : Instruction 'tcgen05.ld' not known\nptxas fatal : aborted",
            "sm_100a",
        ),
        ('k.cu(1): error: identifier "texture" is undefined', "takes a softlab.Texture"),
    ],
)
def test_advice_on_errors(line: str, advice: str) -> None:
    with pytest.raises(CompileError, match=advice) as caught:
        raise rejection("k", "k.cu", {"k.cu": "x\ny\n"}, line, ValueError("no log"))
    assert line in str(caught.value)


def test_a_message_has_the_errors_and_not_the_warnings() -> None:
    warning = (
        "k.cu(1): warning #47-D: incompatible redefinition\n  #define A\n          ^\n\nRemark: The warnings can be\n"
    )
    errors = "".join(f"k.cu(2): error: number {k}\n  y\n  ^\nx.h(3): note: why {k}\n\n" for k in range(20))
    log = f"{warning}{errors}20 errors detected in the compilation of k.cu.\n"
    error = rejection("k", "k.cu", {"k.cu": "x\ny\n"}, log, ValueError("no log"))
    text = str(error)
    assert "incompatible" not in text
    assert "number 7\n  y\n  ^\nx.h(3): note: why 7" in text
    assert "number 8" not in text
    assert "... and 12 more\n20 errors detected" in text
    assert error.log == log.strip()


def test_blank_lines_cost_nothing() -> None:
    # Where a file's host code stood, a source has blank lines.
    source = "\n" * 200_000 + "__global__ void k(int* x) { x[0] = 1; }\n"
    before = time.process_time()
    assert included(source) == ()
    assert not CUTLASS.search(source)
    assert time.process_time() - before < 1
