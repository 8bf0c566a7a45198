"""The shipped table of registers against the compiler; a table that does not belong here is never believed."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from functools import lru_cache

import pytest

import softlab
from softlab.cuda import compile as compiler
from softlab.cuda import digests
from softlab.errors import CompileError
from softlab.hardware import devices
from softlab.plans import instantiations, planner, resources
from softlab.plans.resources import StaleTableWarning, refresh
from tests.sampled import sampled

read_table = resources.read_table  # as it is; the fixture ``table`` replaces the module's
SHIPPED = read_table(resources.table_path())
WARP = next(k for k in instantiations.tabulated() if k.file == "softmax_warp.cuh")


@pytest.fixture
def table(monkeypatch):
    """Replace the shipped table: ``table(nvrtc="...")``. It belongs to these sources unless told."""

    def put(**changes):
        sources = {file: digests.file_digest(file) for file in SHIPPED.sources}
        changed = replace(SHIPPED, **{"sources": sources, **changes})
        monkeypatch.setattr(resources, "read_table", lambda path: changed)
        for name in ("shipped", "made_here", "_compiled"):
            fresh = lru_cache(getattr(resources, name).__wrapped__)
            for module in (resources, refresh):
                monkeypatch.setattr(module, name, fresh, raising=False)

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


def test_the_table_is_well_formed_and_small():
    """Whether it is up to date is no test: ``python -m softlab.plans.resources --check`` says it before a release."""
    assert set(SHIPPED.architectures) == set(resources.ARCHITECTURES) == set(devices.architectures())
    assert resources.table_path().stat().st_size < 300_000
    for name in SHIPPED.kernels:
        for arch in SHIPPED.architectures:
            found = SHIPPED.find(name, arch)
            assert 10 <= found.registers <= 255
            assert 0 <= found.static_smem_bytes < 2048


def test_the_names_of_the_table_are_distinct():
    names = [kernel.name for kernel in instantiations.tabulated()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("part", sampled(range(9), lambda part: part == 0))
def test_a_sample_of_the_table_equals_the_compiler(part):
    """One compilation of a kernel alone, for kernels and architectures drawn at random.

    `.ci/run` compiles a ninth of them, with each file; `make test` compiles all.
    """
    if (SHIPPED.nvrtc, SHIPPED.cub) != (resources.nvrtc_version(), resources.cub_version()):
        pytest.skip(f"the table is NVRTC {SHIPPED.nvrtc}'s; here is {resources.nvrtc_version()}")
    draw = random.Random(7)
    kernels = [k for k in instantiations.tabulated() if k.name in SHIPPED.kernels and SHIPPED.belongs_to(k.file)]
    counts = (("warp", 24), ("block_smem", 3), ("block_uncached", 2), ("backward_warp", 12), ("backward_block_smem", 2))
    for file, count in ((f"softmax_{kernel}.cuh", count) for kernel, count in counts):
        of_file = [k for k in kernels if k.file == file]
        chosen = draw.sample(of_file, min(count, len(of_file)))  # none where the file has changed since
        architectures = [draw.choice(list(SHIPPED.architectures)) for _ in chosen]
        for kernel, arch in list(zip(chosen, architectures, strict=True))[part::9]:
            program = compiler.compile_program(compiler.kernel_sources()[file], kernel.name, arch=arch, file=file)
            found = SHIPPED.find(kernel.name, arch)
            expected = (program.registers, program.static_smem_bytes, program.local_bytes, program.spill_bytes)
            assert (found.registers, found.static_smem_bytes, found.local_bytes, found.spill_bytes) == expected, kernel


def test_the_dispatcher_needs_only_the_table():
    """Every kernel that a plan can name, and that its block-size choice asks about, for every device."""
    names = {kernel.name for kernel in instantiations.tabulated()}
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
    assert {arch for _, arch in asked} <= set(resources.ARCHITECTURES)


def test_the_table_answers_without_the_compiler(table, compiled):
    table(nvrtc=resources.nvrtc_version(), cub=resources.cub_version())
    found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert found == replace(SHIPPED.find(WARP.name, "sm_80"), nvrtc=resources.nvrtc_version())
    assert compiled == []


@pytest.mark.parametrize("change", [{"nvrtc": "1.0"}, {"cub": "1"}])
def test_a_table_of_another_compiler_is_not_used(table, compiled, change):
    table(**{"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version(), **change})
    found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert compiled == [WARP.name]
    assert found == resources.Resources(11, 22, 33, 44, "99.9")


@pytest.mark.parametrize("change", [{"sources": {WARP.file: "another"}}, {"sources": {}}, {"kernels": {}}])
def test_a_stale_or_missing_entry_costs_a_warning_and_a_compilation(table, compiled, change):
    table(**{"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version(), **change})
    with pytest.warns(StaleTableWarning, match=r"with: python -m softlab\.plans\.resources$"):
        found = resources.resources(WARP.file, WARP.name, "sm_80")
    assert compiled == [WARP.name]
    assert found == resources.Resources(11, 22, 33, 44, "99.9")
    with pytest.warns(StaleTableWarning):
        assert resources.resources(WARP.file, WARP.name, "sm_80") == found
    assert len(compiled) == 1


def test_the_warning_is_shown_once(table, compiled, monkeypatch, recwarn):
    table(kernels={})
    warnings.simplefilter("default")
    names = [kernel.name for kernel in instantiations.tabulated() if kernel.file == WARP.file][:3]
    plans = [planner.compiled(instantiations.Instantiation(WARP.file, name), "sm_80", ()) for name in names]
    assert len(plans) == len(compiled) == 3
    assert [warning.category for warning in recwarn] == [StaleTableWarning]


def test_a_kernel_that_no_table_has_is_compiled_without_a_warning(table, compiled):
    table()
    fused = instantiations.fused(WARP, "L", "S").name
    assert resources.resources(WARP.file, fused, "sm_80").registers == 11
    assert resources.resources(WARP.file, WARP.name, "sm_90a").registers == 11
    assert compiled == [fused, WARP.name]


def test_options_are_compiled(table, compiled):
    table(nvrtc=resources.nvrtc_version(), cub=resources.cub_version())
    assert resources.resources(WARP.file, WARP.name, "sm_80", ("-DSOFTLAB_ACCURATE",)).registers == 11
    assert compiled == [WARP.name]


def test_without_a_table_everything_is_compiled(monkeypatch, table, compiled, tmp_path):
    table()
    monkeypatch.setattr(resources, "read_table", lambda path: (tmp_path / "absent").read_text())
    with pytest.warns(StaleTableWarning):
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
    with pytest.warns(StaleTableWarning), pytest.raises(CompileError, match="cannot be loaded"):
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


NAMES = (
    "softmax_warp<float, Algorithm::softmax, 2, 4, 32, 1, true>",
    "softmax_warp<float, Algorithm::log_softmax, 2, 32, 32, 1, true>",
)


@pytest.mark.parametrize("processes", [1, 2])
def test_measure_write_and_read(tmp_path, processes):
    """The generator on two kernels: what it writes is what a compilation of the kernel alone says."""
    jobs = [refresh.Job(WARP.file, NAMES, arch) for arch in ("sm_75", "sm_90")]
    figures = {name: {} for name in NAMES}
    try:
        for job, reports in refresh.measure(jobs, processes):
            for name, report in reports.items():
                figures[name][job.arch] = report
    except CompileError as error:
        pytest.skip(str(error))
    path = tmp_path / "data" / "table.json"
    refresh.write_table(path, figures)
    written = resources.read_table(path)
    assert (written.nvrtc, written.cub) == (compiler.nvrtc_version(), resources.cub_version())
    assert written.belongs_to(WARP.file)
    assert not written.belongs_to("softmax_block_smem.cuh")
    for name in NAMES:
        for arch in ("sm_75", "sm_90"):
            program = compiler.compile_program(compiler.kernel_sources()[WARP.file], name, arch=arch, file=WARP.file)
            found = written.find(name, arch)
            assert (found.registers, found.static_smem_bytes) == (program.registers, program.static_smem_bytes)
    assert written.find("softmax_warp<int>", "sm_75") is None
    assert written.find(NAMES[0], "sm_80") is None


def test_only_what_is_stale_or_missing_is_compiled(table):
    here = {"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version()}
    wanted = [kernel for kernel in instantiations.tabulated() if kernel.name in SHIPPED.kernels]
    table(**here)
    kept = refresh.current()
    assert set(kept) == set(SHIPPED.kernels)
    assert kept[WARP.name]["sm_80"]["registers"] == SHIPPED.find(WARP.name, "sm_80").registers
    assert refresh.missing(kept, wanted) == []
    table(**here, sources={file: digests.file_digest(file) for file in SHIPPED.sources if file != WARP.file})
    jobs = refresh.missing(refresh.current(), wanted)
    assert {job.file for job in jobs} == {WARP.file}
    assert sorted(name for job in jobs if job.arch == "sm_80" for name in job.names) == sorted(
        kernel.name for kernel in wanted if kernel.file == WARP.file
    )
    table(**here, architectures={arch: k for arch, k in SHIPPED.architectures.items() if arch != "sm_87"})
    assert {job.arch for job in refresh.missing(refresh.current(), wanted)} == {"sm_87"}
    table(nvrtc="1.0")
    assert refresh.current() == {}


def test_an_interrupted_refresh_keeps_the_files_that_are_done(table, monkeypatch, tmp_path):
    """The second file fails: the table has the first, and says nothing of the second."""
    table(nvrtc=resources.nvrtc_version(), cub=resources.cub_version())
    files = ("softmax_block_smem.cuh", "softmax_warp.cuh")
    known = {name: figures for name, figures in refresh.current().items() if refresh._file(name) not in files}
    jobs = refresh.missing(known, instantiations.tabulated())

    def made_up(job):
        if job.file == files[1]:
            raise CompileError("no")
        return {name: dict.fromkeys(resources.FIELDS, 7) for name in job.names}

    monkeypatch.setattr(refresh, "_compile", made_up)
    with pytest.raises(CompileError, match="no"):
        refresh.refresh(tmp_path / "table.json", jobs, known, 1)
    written = read_table(tmp_path / "table.json")
    assert set(SHIPPED.sources) - set(written.sources) == {files[1]}
    assert written.find("softmax_block_smem<float, Algorithm::softmax, 2, 128, Layout::column>", "sm_80").registers == 7


def test_the_command_checks_without_compiling(table, monkeypatch, capsys):
    monkeypatch.setattr(refresh, "_compile", None)
    here = {"nvrtc": resources.nvrtc_version(), "cub": resources.cub_version()}
    wanted = {kernel.name for kernel in instantiations.tabulated()}
    table(**here, sources={file: digests.file_digest(file) for file in SHIPPED.sources if file != WARP.file})
    assert refresh.main(["--check"]) == 1
    of_file = sum(name.startswith("softmax_warp<") for name in wanted)
    assert f"{WARP.file}: {of_file} kernels for 13 architectures" in capsys.readouterr().out.splitlines()
    with pytest.raises(SystemExit):
        refresh.main(["--jobs", "0"])
