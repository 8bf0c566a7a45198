"""Stored headers: what is stored, that it serves only what it fits, and that the code is the same."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import pytest

from softlab.cuda import compile as compiler
from softlab.cuda import precompiled
from softlab.cuda.compile import Program, compile_program, kernel_sources
from softlab.cuda.precompiled import begins_with_large_headers, first_directives, stored_headers
from softlab.errors import CompileError
from tests.sampled import one_of

GROUPS = """#include <cooperative_groups.h>
extern "C" __global__ void sum(int* x) {{
  cooperative_groups::this_thread_block().sync();
  x[threadIdx.x] += {};
}}
"""
SMALL = """#include "value.h"
extern "C" __global__ void add(int* x) { x[0] += VALUE; }
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing is stored before; temporary files go here."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept: OrderedDict[str, int | None] = OrderedDict()
    monkeypatch.setattr(precompiled, "_kept", lambda process: kept)
    yield tmp_path
    for file in kept.values():
        if file is not None:
            os.close(file)


@pytest.fixture
def uses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the compiler did with stored headers, one word per compilation: create, use or none."""
    words: list[str] = []
    original = compiler._nvrtc()

    class Nvrtc:
        def __getattr__(self, name):
            return getattr(original, name)

        def compileProgram(self, handle, flags):
            words.extend(re.findall(r"--(\w+)-pch=", " ".join(flags)) or ["none"])
            original.compileProgram(handle, flags)

    monkeypatch.setattr(compiler, "_nvrtc", Nvrtc)
    return words


def test_the_first_directives():
    source = '// #include <a>\n/* #include\n<b> */\n#pragma once\n\n#define A \\\n  1\n#include "c"\nint x;\n#if A'
    assert first_directives(source).split("\n") == ["#pragma once", "#define A    1", '#include "c"']
    assert first_directives("#include <a>\n#pragma once\n # pragma  nv_hdrstop\n#include <b>") == (
        "#include <a>\n#pragma once"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#include <cooperative_groups/reduce.h>", True),
        ("#include <cub/cub.cuh>", True),
        ("#include <cuda/barrier>", True),
        ('#include "one.h"', True),
        ("#include <cuda_fp16.h>\n#include <cuda/std/cstdint>", False),
        ("int x;\n#include <cub/cub.cuh>", False),
        ('#include "circle.h"', False),
        (kernel_sources()["softmax_block_smem.cuh"], True),
        (kernel_sources()["fast_grid.cuh"], False),
    ],
)
def test_large_headers(source, expected):
    headers = {"one.h": '#include "two.h"', "two.h": "#include <cuda/atomic>", "circle.h": '#include "circle.h"'}
    assert begins_with_large_headers(source, {**kernel_sources(), **headers}) is expected


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch):
    """A function that compiles a source whose header counts as large here."""
    monkeypatch.setattr(precompiled, "_LARGE", re.compile("value.h"))

    def small_(value="1", options=(), begins="", file="kernel.cu") -> Program:
        headers = {"value.h": f"#define VALUE {value}"}
        return compile_program(begins + SMALL, "add", headers=headers, options=options, file=file, cache=False)

    return small_


def test_later_compilations_start_from_stored_headers(uses, monkeypatch, temporary):
    """Also after a source that was rejected. The code is that of a compilation without them."""
    with pytest.raises(CompileError, match='expected a ";"'):
        compile_program(GROUPS.format("2 }"), "sum", cache=False)
    stored = compile_program(GROUPS.format(2), "sum", cache=False)
    assert uses == ["create", "use"]
    assert list(temporary.iterdir()) == [], "the file has no name any more"
    monkeypatch.setattr(precompiled, "_SINCE", (99, 0))
    plain = compile_program(GROUPS.format(2), "sum", cache=False)
    assert uses[2:] == ["none"]
    # Names of internal symbols end with a number of the compilation.
    first, second = (re.sub(r"_INTERNAL_\w{50}", "", program.ptx) for program in (stored, plain))
    assert first == second
    assert stored.registers == plain.registers


@pytest.mark.further
def test_headers_before_a_pragma_are_stored(uses, monkeypatch):
    """Sources that differ behind it share them, with one that has no pragma, too."""
    source = GROUPS.replace("\n", "\n#pragma nv_hdrstop\n#define ADDED {}\n#include <cuda/atomic>\n", 1)
    compile_program(source.format(1, 1), "sum", file="a.cu", cache=False)
    stored = compile_program(source.format(2, "ADDED"), "sum", cache=False)
    compile_program(GROUPS.format(3), "sum", cache=False)
    assert uses == ["create", "use", "use"]
    monkeypatch.setattr(precompiled, "_SINCE", (99, 0))
    plain = compile_program(source.format(2, "ADDED"), "sum", cache=False)
    first, second = (re.sub(r"_INTERNAL_\w{50}", "", program.ptx) for program in (stored, plain))
    assert first == second
    assert stored.registers == plain.registers


def test_another_text_of_a_header_and_other_options_are_stored_anew(uses, small):
    assert "1;" in small().ptx
    assert "10;" in small(value="10").ptx
    small(options=("-DOTHER",))
    small()
    assert uses == ["create", "create", "create", "use"]


NAMED = """#include <cooperative_groups.h>
namespace {
__device__ int calls;
template <typename T> __global__ void add(T* x) { x[0] += __LINE__ + sizeof(__FILE__) + atomicAdd(&calls, 1); }
template __global__ void add<int>(int*);
}
static __global__ void hidden(int* x) { cooperative_groups::this_thread_block().sync(), x[1] = calls; }
__global__ void last(int* x) { x[2] = calls; }
"""


@pytest.mark.parametrize("options", one_of(2, [(), ("-G", "--relocatable-device-code=true")], lambda _: 0))
def test_a_source_of_another_name_starts_from_the_same_headers(uses, monkeypatch, options):
    """Its code is that of a compilation without them: its lines, and names that come of the file's name, too."""
    compile_program(GROUPS.format(2), "sum", file="a.cu", options=options, cache=False)
    stored = compile_program(NAMED, "last", file="another.cuh", options=options, cache=False)
    assert uses == ["create", "use"]
    monkeypatch.setattr(precompiled, "_SINCE", (99, 0))
    plain = compile_program(NAMED, "last", file="another.cuh", options=options, cache=False)
    assert stored == plain
    assert "another_cuh" in stored.ptx


@pytest.mark.parametrize("begins", ["", "#pragma once\n"])
def test_a_source_in_another_folder_or_one_that_is_read_once_is_stored_anew(uses, small, begins):
    for file in ("a.cu", "b.cu", "folder/a.cu"):
        small(begins=begins, file=file)
    assert uses == ["create", "create" if begins else "use", "create"]


def test_a_damaged_file_is_compiled_without(uses, small):
    small()
    (stored,) = precompiled._kept(os.getpid()).values()
    os.truncate(f"/proc/self/fd/{stored}", 100_000)
    assert small().entry == "add"
    assert uses == ["create", "use", "none"]


def test_a_full_disk_stores_nothing(uses, small, monkeypatch):
    monkeypatch.setattr(precompiled, "_LEAST_FREE", 2**80)
    assert [small().entry, small().entry] == ["add", "add"]
    assert uses == ["none", "none"]


def test_the_least_recently_used_are_closed(monkeypatch):
    monkeypatch.setattr(precompiled, "_KEPT", 2)

    def offered(number):
        with stored_headers(f"#include <cub/cub.cuh>\n#define A {number}", "a.cu", {}, [], (12, 9)) as (_, option):
            word, _, path = option.partition("=")
            if word == "--create-pch":
                Path(path).write_text(str(number))
            return word, Path(path).read_text()

    assert [offered(k)[0] for k in (1, 2, 1, 3)] == ["--create-pch", "--create-pch", "--use-pch", "--create-pch"]
    assert [os.pread(file, 9, 0) for file in precompiled._kept(os.getpid()).values()] == [b"1", b"3"]
    assert offered(1) == ("--use-pch", "1")
    assert offered(2) == ("--create-pch", "2")
