"""The shipped table of registers against the compiler; a table that does not belong here is never believed."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import pytest

import softlab
from softlab import compile as compiler
from softlab import devices, instantiations, resources
from softlab.errors import CompileError

SHIPPED = resources.read_table(resources.table_path())
WARP = next(k for k in instantiations.tabulated() if k.file == "softmax_warp.cuh")


@pytest.fixture
def table(monkeypatch):
    """Put another table in the shipped one's place: ``table(nvrtc="...")``."""

    def put(**changes):
        changed = replace(SHIPPED, **changes)
        monkeypatch.setattr(resources, "read_table", lambda path: changed)
        for name in ("_shipped", "_exact", "_compiled"):
            monkeypatch.setattr(resources, name, lru_cache(getattr(resources, name).__wrapped__))

    return put


@pytest.fixture
def compiled(monkeypatch):
    """The names that were compiled, and no compiler: the figures are made up."""
    names = []

    def fake(source, name, *, arch, options, file):
        names.append(name)
        return compiler.Program(source, name, file, arch, options, "99.9", "k", "", b"", 11, 22, 33, 44)

    monkeypatch.setattr(compiler, "compile_program", fake)
    return names


def test_the_table_belongs_to_these_sources():
    """Red after a change of a kernel: bring the table up to date with ``python -m softlab.resources``."""
    files = {kernel.file for kernel in instantiations.tabulated()}
    assert SHIPPED.sources == {file: compiler.file_digest(file) for file in files}


def test_the_table_is_complete_and_small():
    names = [kernel.name for kernel in instantiations.tabulated()]
    assert len(set(names)) == len(names)
    assert set(SHIPPED.kernels) == set(names)
    assert set(SHIPPED.architectures) == set(resources.ARCHITECTURES) == set(devices.architectures())
    assert resources.table_path().stat().st_size < 300_000
    for name in names:
        for arch in SHIPPED.architectures:
            found = SHIPPED.find(name, arch)
            assert 10 <= found.registers <= 255
            assert 0 <= found.static_smem_bytes < 2048


def test_a_sample_of_the_table_equals_the_compiler():
    """One compilation of a kernel alone, for kernels and architectures drawn at random."""
    if (SHIPPED.nvrtc, SHIPPED.cub) != (resources.nvrtc_version(), resources.cub_version()):
        pytest.skip(f"the table is NVRTC {SHIPPED.nvrtc}'s; here is {resources.nvrtc_version()}")
    draw = random.Random(7)
    kernels = list(instantiations.tabulated())
    counts = (("warp", 24), ("block_smem", 3), ("block_uncached", 2), ("backward_warp", 12), ("backward_block_smem", 2))
    for file, count in ((f"softmax_{kernel}.cuh", count) for kernel, count in counts):
        for kernel in draw.sample([k for k in kernels if k.file == file], count):
            arch = draw.choice(list(SHIPPED.architectures))
            program = compiler.compile_program(compiler.kernel_sources()[file], kernel.name, arch=arch, file=file)
            found = SHIPPED.find(kernel.name, arch)
            expected = (program.registers, program.static_smem_bytes, program.local_bytes, program.spill_bytes)
            assert (found.registers, found.static_smem_bytes, found.local_bytes, found.spill_bytes) == expected, kernel


def test_the_dispatcher_needs_nothing_outside_the_table():
    """Every kernel that a plan can name, and that its block-size choice asks about, for every device."""
    names = set(SHIPPED.kernels)
    asked = set()

    def lookup(instantiation, arch, options):
        asked.add((instantiation.name, arch))
        return resources.Resources(32, 64, 0, 0, "")

    for op in ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"):
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            for cols in [*range(1, 1030), 5000, 5001, 20_000, 20_001]:
                for rows in (3, 4) if cols < 70 else (4,):
                    softlab.plan(rows, cols, dtype, op=op, device="H200", lookup=lookup)
    assert {name for name, _ in asked} <= names
    assert {arch for _, arch in asked} <= set(SHIPPED.architectures)


def test_the_table_answers_without_the_compiler(table, compiled):
    table(nvrtc=resources.nvrtc_version(), cub=resources.cub_version())
    found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert found == replace(SHIPPED.find(WARP.name, "sm_80"), nvrtc=resources.nvrtc_version())
    assert compiled == []


@pytest.mark.parametrize(
    "change", [{"sources": {WARP.file: "another"}}, {"nvrtc": "1.0"}, {"cub": "1"}, {"kernels": {}}]
)
def test_a_table_that_does_not_belong_here_is_not_used(table, compiled, change):
    table(**{"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version(), **change})
    found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert compiled == [WARP.name]
    assert found == resources.Resources(11, 22, 33, 44, "99.9")
    assert resources.resources(WARP.file, WARP.name, "sm_80") == found
    assert len(compiled) == 1


def test_options_are_compiled(table, compiled):
    table(nvrtc=resources.nvrtc_version(), cub=resources.cub_version())
    assert resources.resources(WARP.file, WARP.name, "sm_80", ("-DSOFTLAB_ACCURATE",)).registers == 11
    assert compiled == [WARP.name]


def test_without_a_table_everything_is_compiled(monkeypatch, table, compiled, tmp_path):
    table()
    monkeypatch.setattr(resources, "read_table", lambda path: (tmp_path / "absent").read_text())
    assert resources.resources(WARP.file, WARP.name, "sm_80").registers == 11


def no_nvrtc(*_, **__):
    raise CompileError("NVRTC cannot be loaded")


@pytest.fixture
def without_nvrtc(monkeypatch):
    for name in ("compile_program", "supported_architectures", "nvrtc_version"):
        monkeypatch.setattr(compiler, name, no_nvrtc)
    monkeypatch.setattr(resources, "nvrtc_version", no_nvrtc)


def test_without_nvrtc_the_table_serves(table, without_nvrtc):
    table(nvrtc="12.3")
    found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert found.nvrtc == "12.3"
    with pytest.raises(CompileError, match="cannot be loaded"):
        resources.resources(WARP.file, "softmax_warp<float, Algorithm::softmax, 4, 4, 1, 1, false>", "sm_80")


def test_without_nvrtc_a_table_of_other_sources_does_not(table, without_nvrtc):
    table(sources={WARP.file: "another"})
    with pytest.raises(CompileError, match="cannot be loaded"):
        resources.resources(WARP.file, WARP.name, "sm_80")


def test_an_architecture_that_nvrtc_has_dropped_comes_from_the_table(table, monkeypatch):
    table(nvrtc="12.3")
    monkeypatch.setattr(compiler, "compile_program", no_nvrtc)
    monkeypatch.setattr(compiler, "supported_architectures", lambda: ("sm_90",))
    assert resources.resources(WARP.file, WARP.name, "sm_70").nvrtc == "12.3"
    with pytest.raises(CompileError):
        resources.resources(WARP.file, WARP.name, "sm_90")


def test_an_unknown_file_says_what_there_is(table):
    table()
    with pytest.raises(CompileError, match=r"no kernel file 'softmax\.cuh'; it has .*softmax_warp\.cuh"):
        resources.resources("softmax.cuh", "softmax<float>", "sm_90")


def test_the_wheels_version_is_the_loaded_compilers():
    try:
        assert resources.nvrtc_version() == compiler.nvrtc_version()
    except CompileError as error:
        pytest.skip(str(error))


def test_write_measure_and_read(tmp_path):
    """The generator on two kernels: what it writes is what a compilation of the kernel alone says."""
    kernels = [
        (WARP.file, "softmax_warp<float, Algorithm::softmax, 2, 4, 32, 1, true>"),
        (WARP.file, "softmax_warp<float, Algorithm::log_softmax, 2, 32, 32, 1, true>"),
    ]
    try:
        figures = resources.measure(kernels, ["sm_75", "sm_90"])
    except CompileError as error:
        pytest.skip(str(error))
    path = tmp_path / "data" / "table.json"
    resources.write_table(path, figures)
    written = resources.read_table(path)
    assert (written.nvrtc, written.cub) == (compiler.nvrtc_version(), resources.cub_version())
    assert written.belongs_to(WARP.file)
    assert not written.belongs_to("softmax_block_smem.cuh")
    for _, name in kernels:
        for arch in ("sm_75", "sm_90"):
            program = compiler.compile_program(compiler.kernel_sources()[WARP.file], name, arch=arch, file=WARP.file)
            found = written.find(name, arch)
            assert (found.registers, found.static_smem_bytes) == (program.registers, program.static_smem_bytes)
    assert written.find("softmax_warp<int>", "sm_75") is None
    assert written.find(kernels[0][1], "sm_80") is None


def test_what_belongs_here_is_not_compiled_again(table):
    """Only a changed file's kernels are missing from what the generator starts from."""
    here = {"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version()}
    table(**here)
    kept = resources.current()
    assert set(kept) == set(SHIPPED.kernels)
    assert kept[WARP.name]["sm_80"]["registers"] == SHIPPED.find(WARP.name, "sm_80").registers
    table(**here, sources={**SHIPPED.sources, WARP.file: "another"})
    assert {name.partition("<")[0] for name in set(kept) - set(resources.current())} == {"softmax_warp"}
    table(nvrtc="1.0")
    assert resources.current() == {}
