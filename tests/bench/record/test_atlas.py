"""The recorder of the atlas: its machine code, its arithmetic, and that a fault costs no more than its row."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from dataclasses import asdict
from functools import lru_cache
from itertools import chain as chained
from pathlib import Path
from typing import Any

import pytest

from softlab.bench.record.atlas import checks, collect, jobs, measure, patching, prepare
from softlab.bench.record.atlas.checks import CheckError
from softlab.bench.record.atlas.core import CLASSES
from softlab.bench.record.atlas.prepare import built, section_offset
from softlab.bench.record.atlas.records import COMMON, Job, Source
from softlab.bench.record.atlas.templates import PtxStep, chain, stream
from softlab.cuda.compile import Program, compile_program
from softlab.cuda.disassembly import disassemble, find_nvdisasm
from softlab.cuda.machine_instructions import MachineInstruction
from softlab.hardware import atlas
from tests.sampled import sampled

FAKE = Path(__file__).parent / "fake_cupy"
ROOT = Path(__file__).parents[3]
needs_disassembler = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm")
SAMPLE = ("chain.IMAD", "stream.HFMA2", "stream.FFMA.banks.3.reuse", "chain.ATOMS.ADD", "read_4", "dsm_chase")


#: Instructions whose registers are changed, and how: sources in the bank of the accumulator, and whether they are kept.
_PATCHED = ("FFMA", "IMAD", "IADD3", "LOP3")
_BANKS = ((1, False), (2, False), (3, False), (3, True))


sources = lru_cache(maxsize=1)(jobs.sources)
all_jobs = lru_cache(maxsize=1)(prepare.all_jobs)


def _job(key: str) -> Job:
    return next(job for job in all_jobs() if key in job.keys)


def _every_kernel() -> list[Any]:
    """All kernels. In the sample: the first kernel of each second method, and of each form of source every 72nd one."""
    forms = defaultdict(list)
    for name in sorted({name for job in all_jobs() for name in job.kernels} | set(COMMON)):
        forms[sources()[name].form, sources()[name].kind].append(name)
    methods = {job.method: job.kernels[0] for job in reversed(all_jobs()) if job.kernels}
    kept = {*COMMON, *SAMPLE, *list(methods.values())[::2], *(name for names in forms.values() for name in names[::72])}
    kept -= {"icache", "icache_crowded"}  # 8 s each
    return sampled(sorted(chained.from_iterable(forms.values())), lambda name: name in kept)


@pytest.mark.parametrize("name", _every_kernel())
def test_the_machine_code_has_what_is_measured(name: str) -> None:
    """Each kernel that a row uses: the measured instructions are there, and as many as there must be.

    `.ci/run` looks at a sample, `make test` at all. Who prepares a recording has all of them checked, too.
    """
    _, facts = built(name, sources()[name])
    assert facts["count"] > 0
    assert facts["sass"]


@needs_disassembler
def test_steps_that_the_compiler_removes_are_found() -> None:
    """The largest of two numbers, again and again, is one instruction."""
    step = PtxStep("max.u32 {x}, {x}, {a};")
    for form, text in (("chain", chain(step)), ("stream", stream(step))):
        with pytest.raises(CheckError, match=r"gone: .*VIMNMX|1 instructions"):
            built("gone", Source(text, form=form, wanted=(r"VIMNMX\.U32",)))


@needs_disassembler
def test_the_constants_are_in_the_cubin() -> None:
    """The recorder writes the links into the cubin before it loads it."""
    text = sources()["ldc_chase"].text.replace("table[16384]", "table[16384] = {0xfeedbeef, 0xdeadcafe}")
    cubin = compile_program(text, "ldc_chase").cubin
    at = section_offset(cubin, ".nv.constant3")
    assert cubin[at : at + 8] == bytes.fromhex("efbeedfefecaadde")
    plain = compile_program(sources()["ldc_chase"].text, "ldc_chase").cubin
    at = section_offset(plain, ".nv.constant3")
    assert plain[at : at + 65536] == bytes(65536)
    with pytest.raises(CheckError, match="no section"):
        section_offset(cubin, ".nv.constant17")


@needs_disassembler
def test_loads_that_wait_for_each_other_are_found() -> None:
    body = " ".join(f"sum += memory[sum + {k}];" for k in range(4))
    text = f"""extern "C" __global__ void k(unsigned* out, const unsigned* memory, unsigned rounds) {{
      unsigned sum = 0;
      #pragma unroll 1
      for (unsigned r = 0; r < rounds; ++r) {{ {body} }}
      out[0] = sum; }}"""
    with pytest.raises(CheckError, match="waits for a load before the last load"):
        built("waiting", Source(text, form="flight", wanted=(r"LDG\.E(\.CONSTANT)?",), counts=(4,)))


@needs_disassembler
def test_another_instruction_than_the_wanted_one_is_found() -> None:
    source = sources()["chain.IMAD"]
    with pytest.raises(CheckError, match=r"chain\.IMAD: between the clocks there are .*IMAD"):
        built("chain.IMAD", Source(source.text, form="chain", wanted=("FFMA",)))


@needs_disassembler
@pytest.mark.parametrize(
    ("name", "count", "reuse"),
    sampled(
        [(name, *banks) for name in _PATCHED for banks in _BANKS],
        lambda name, *banks: _PATCHED.index(name) == _BANKS.index(banks),
    ),
)
def test_patched_sources_are_in_the_banks(name: str, count: int, reuse: bool) -> None:
    """`.ci/run` takes one of the four cases per instruction, in turns, `make test` all."""
    source = sources()[f"stream.{name}"]
    program = patching.banks(compile_program(source.text, "k"), source.wanted[0], count, reuse)
    steps = _steps(program, source.wanted[0])
    assert len(steps) > 100
    for step, numbers in steps:
        accumulator = int(step.operands[0][1:])
        assert accumulator in numbers
        assert sum(n % 2 == accumulator % 2 for n in numbers) == count
        assert (".reuse" in step.text) == reuse


@needs_disassembler
@pytest.mark.parametrize(
    ("pattern", "reads"),
    [
        ("turns", [(2, 1), (1, 2)]),
        ("every.4", [(2, 1), (0, 1), (0, 1), (0, 1)]),
        ("halves", [(2, 0), (0, 2)]),
        ("apart", [(2, 1), (1, 1), (1, 2), (1, 1)]),
    ],
)
def test_the_bank_with_two_sources_changes_as_the_pattern_says(pattern: str, reads: list[tuple[int, int]]) -> None:
    """Different sources in the even and in the odd bank, instruction by instruction, in both loops."""
    source = sources()["stream.FFMA"]
    steps = _steps(patching.banks_in_turn(compile_program(source.text, "k"), "FFMA", pattern), "FFMA")
    found = [(sum(n % 2 == 0 for n in numbers), sum(n % 2 for n in numbers)) for _, numbers in steps]
    assert found == reads * (len(steps) // len(reads))
    assert len({step.operands[0] for step, _ in steps}) >= 8


@pytest.mark.further
@needs_disassembler
def test_sources_are_kept_and_results_and_stalls_are_as_the_row_says() -> None:
    program = compile_program(sources()["stream.FFMA"].text, "k")
    kept = [step.text.count(".reuse") for step, _ in _steps(patching.banks_in_turn(program, "FFMA", "kept"), "FFMA")]
    assert kept == [1, 0] * (len(kept) // 2)
    apart = _steps(patching.banks_in_turn(program, "FFMA", "twice", "even", 2), "FFMA")
    assert {int(step.operands[0][1:]) % 2 for step, _ in apart} == {0}
    assert {step.control.stall_cycles for step, _ in apart if step.control} == {2}
    wide = patching.stalled(compile_program(sources()["stream.IMAD.WIDE"].text, "k"), r"IMAD\.WIDE\.U32", 7)
    listed = [i for i in disassemble(wide).kernel.instructions if i.opcode == "IMAD" and "WIDE" in i.modifiers]
    assert {i.control.stall_cycles for i in listed if i.control} == {7}


@pytest.mark.further
@needs_disassembler
def test_a_uniform_stream_keeps_the_counter_of_its_loop() -> None:
    program, facts = built("stream.UIADD3.of.4.FFMA", sources()["stream.UIADD3.of.4.FFMA"])
    counters = [i for i in disassemble(program).kernel.instructions if i.opcode == "IADD3" and " 0x1, " in i.text]
    assert len(counters) == 2  # of the short and of the long loop
    assert facts["count"] == 128


def _steps(program: Program, wanted: str) -> list[tuple[MachineInstruction, set[int]]]:
    """The instructions of a stream that have registers alone, and the numbers of their sources."""
    listed = [i for i in disassemble(program).kernel.instructions if re.fullmatch(wanted, checks.full_name(i))]
    sources_of = [(i, [o.removesuffix(".reuse")[1:] for o in i.operands[1:4]]) for i in listed]
    return [(i, set(map(int, numbers))) for i, numbers in sources_of if all(n.isdigit() for n in numbers)]


def test_every_class_of_the_list_has_rows() -> None:
    """At least 80 rows, and all that a key of the docstring promises for the core."""
    keys = {key for job in all_jobs() for key in job.keys}
    assert len(keys) >= 80
    assert {f"latency.{name}" for name, entry in CLASSES.items() if entry.chain} <= keys
    for key in ("latency.L2.near", "latency.DRAM", "bandwidth.DRAM.read.32768", "interval_sm.LDS.128.conflict.4",
                "latency.BAR.SYNC.32", "icache.cold", "launch.empty", "latency.DSM.LD", "loaded_latency.DRAM.8192",
                "interval_gpu.RED.ADD.sms.132", "latency.TLB.32768", "bandwidth.STG.partial.4",
                "interval_gpu.RED.ADD.random.4096.sms.132", "latency.MEMBAR.GPU.sms.132",
                "interval_sm.ATOMS.POPC.INC.random.256", "start.cold.store.132.threads.128"):  # fmt: skip
        assert key in keys


def _folder(folder: Path, keys: list[str]) -> list[Job]:
    """A plan as ``prepare`` writes it, for some jobs, whose kernels are only names."""
    folder.mkdir()
    listed = [_job(key) for key in keys]
    found = sources()
    kernels: dict[str, Any] = {}
    with zipfile.ZipFile(folder / "kernels.zip", "w") as archive:
        for name in {name for job in listed for name in job.kernels} | set(COMMON):
            entry, kind = found[name].entry, {"kind": found[name].kind, "operand": found[name].operand}
            kernels[name] = {"entry": entry, "count": 128, "registers": 24, "sass": "X", "constants": 64, **kind}
            archive.writestr(name, entry.encode().ljust(64 + 65536, b"\0"))
    plan = {"nvrtc": "12.9", "digest": "0", "kernels": kernels, "jobs": [asdict(job) for job in listed]}
    (folder / "plan.json").write_text(json.dumps(plan))
    return listed


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(FAKE), str(ROOT))), **more}


def _measured(folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch, **more: str) -> dict[str, Any]:
    for name, value in _environment(**more).items():
        monkeypatch.setenv(name, value)
    measure.measure(folder, out)
    return json.loads((out / "atlas.json").read_text())


@pytest.mark.further
def test_each_method_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One job of each method, and two of those whose parameters differ most."""
    first = {job.method: job.keys[0] for job in reversed(all_jobs())}
    keys = [*first.values(), "interval.IMAD.warps.16", "bandwidth.L1.131072", "loaded_latency.L2.512", "latency.DADD"]
    listed = _folder(tmp_path / "folder", list(dict.fromkeys(keys)))
    record = _measured(tmp_path / "folder", tmp_path / "out", monkeypatch)
    assert record["failed"] == {}
    assert [set(part) for part in record["passes"]] == 2 * [{key for job in listed for key in job.keys}]
    made = collect.recording(record)
    parsed = atlas.parse(made)
    assert parsed.device == "NVIDIA H200 (fake)"
    assert parsed.clocks["SM"] == 1980.0
    assert not parsed.failed
    assert json.loads(collect.text_of(made)) == made


def test_a_fault_of_the_gpu_costs_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["latency.SYNCS.PHASE", "latency.NANOSLEEP.0", "cost.loop"]
    _folder(tmp_path / "folder", keys)
    record = _measured(tmp_path / "folder", tmp_path / "out", monkeypatch, FAKE_FAULT="sleep")
    assert set(record["passes"][1]) == {"latency.SYNCS.PHASE", "cost.loop"}
    assert list(record["failed"]) == ["latency.NANOSLEEP.0"]
    assert "illegal memory access" in record["failed"]["latency.NANOSLEEP.0"]


@pytest.mark.further
def test_a_kernel_that_does_not_end_costs_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SECONDS_PER_ROW", 2)
    keys = ["latency.SYNCS.PHASE", "latency.NANOSLEEP.0", "cost.loop"]
    _folder(tmp_path / "folder", keys)
    record = _measured(tmp_path / "folder", tmp_path / "out", monkeypatch, FAKE_HANG="sleep")
    assert set(record["passes"][1]) == {"latency.SYNCS.PHASE", "cost.loop"}
    assert record["failed"] == {"latency.NANOSLEEP.0": "no result after 2 s"}


@pytest.mark.further
def test_rows_without_time_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _folder(tmp_path / "folder", ["latency.NANOSLEEP.0", "cost.loop"])
    for name, value in _environment(FAKE_HANG="sleep").items():
        monkeypatch.setenv(name, value)
    measure.measure(tmp_path / "folder", tmp_path / "out", seconds=3)
    made = collect.recording(json.loads((tmp_path / "out" / "atlas.json").read_text()))
    assert {row["key"]: row["error"] for row in made["failed"]} == {
        "latency.NANOSLEEP.0": "the time was over",
        "cost.loop": "there was no time for it",
    }


def test_a_bare_machine_is_enough(tmp_path: Path) -> None:
    """``measure`` imports nothing but NumPy and CuPy."""
    program = """
import sys
from importlib.abc import MetaPathFinder
class Bare(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition('.')[0] in {'platformdirs', 'filelock', 'tqdm', 'rich', 'ml_dtypes', 'typing_extensions'}:
            raise ImportError(name)
sys.meta_path.insert(0, Bare())
import softlab.bench.record.atlas.measure, softlab.bench.record.atlas.methods
import softlab.bench.record.atlas.memory_methods, softlab.bench.record.atlas.contention_methods
import softlab.bench.record.atlas.__main__
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=_environment(), cwd=tmp_path)


def test_what_a_row_is_less() -> None:
    """ISETP is measured with a SEL behind it, VOTE with an ISETP before it."""
    jobs = [asdict(_job(f"latency.{name}")) for name in ("SEL", "ISETP", "VOTE")]
    kernels = {job["kernels"][0]: {"sass": "X"} for job in jobs}
    values = {"latency.SEL": 4.0, "latency.ISETP": 9.0, "latency.VOTE": 17.0}
    record = {"jobs": jobs, "kernels": kernels, "passes": [values, values], "failed": {}, "seconds": 1, "digest": "0",
              "device": "NVIDIA H200", "date": "2026-11-22", "versions": {}, "clocks": {}}  # fmt: skip
    parsed = atlas.parse(collect.recording(record))
    assert [parsed[f"latency.{name}"] for name in ("SEL", "ISETP", "VOTE")] == [4.0, 5.0, 12.0]
    assert parsed.row("latency.VOTE").note == "less the latency of ISETP"


def test_rows_are_added_to_a_recording_with_their_date() -> None:
    kept = {"device": "NVIDIA H200", "rows": [{"key": "b", "value": 1}], "failed": [{"key": "a", "error": "no time"}]}
    made = {"device": "NVIDIA H200", "date": "2026-11-23", "rows": [{"key": "a", "value": 2, "note": "in L1"}]}
    found = collect.added(kept, made)
    note = "in L1, measured on 2026-11-23"
    assert found == {**kept, "rows": [{"key": "a", "value": 2, "note": note}, *kept["rows"]], "failed": []}
    with pytest.raises(SystemExit, match="NVIDIA H100"):
        collect.added(kept, {**made, "device": "NVIDIA H100"})


def test_rows_that_do_not_repeat_are_named() -> None:
    rows = [
        {"key": k, "value": v, "spread": s} for k, v, s in (("a", 4.0, 0.9), ("b", 600.0, 12.0), ("c", 600.0, 25.0))
    ]
    assert [row["key"] for row in collect.unsteady(rows)] == ["c"]


@pytest.mark.further
@needs_disassembler
def test_products_keep_no_source_where_the_row_says_so() -> None:
    name = "stream.HMMA.16816.F32"
    kept, unkept, stalled = (
        _steps(built(key, sources()[key])[0], r"HMMA\.16816\.F32")
        for key in (name, f"{name}.unkept", f"{name}.stall.2")
    )
    assert sum(".reuse" in step.text for step, _ in kept) > 200
    assert not any(".reuse" in step.text for step, _ in unkept)
    assert {step.control.stall_cycles for step, _ in stalled if step.control} == {2}
