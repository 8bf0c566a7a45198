"""Records of runs: what a file keeps of them."""

from __future__ import annotations

import json
import pickle
import re
import tracemalloc
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.archives import write_archive
from softlab.traces import COUNTERS, Accesses, InstructionCounters, Run, Shuffles
from softlab.views.runs import run_report


def assert_equal(one: object, other: object) -> None:
    """Field by field; arrays by dtype, shape and value."""
    assert type(one) is type(other)
    for column in (c for c in fields(one) if c.compare):  # type: ignore[arg-type]
        mine, others = getattr(one, column.name), getattr(other, column.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == others.dtype, column.name
            assert np.array_equal(mine, others), column.name
        elif isinstance(mine, Accesses | Shuffles) or column.name == "instructions":
            assert_equal(mine, others)
        else:
            assert mine == others, column.name


def test_a_run_comes_from_another_process() -> None:
    trace = softlab.trace(np.ones((2, 64), np.float32))
    again = pickle.loads(pickle.dumps(trace))
    assert_equal(again.run, trace.run)
    assert again == trace
    assert hash(again) == hash(trace)
    assert again.run.launched is None
    assert trace.run.launched is not None


@pytest.mark.parametrize("cols", [100, 2048])  # shuffles only; shared memory, barriers and fused accesses, too
def test_a_saved_run_is_the_run(tmp_path: Path, cols: int) -> None:
    run = softlab.trace(np.random.default_rng(0).standard_normal((3, cols)).astype(np.float32)).run
    assert len(run.shuffles)
    assert len(run.global_)
    path = tmp_path / "run"
    run.save(path)
    loaded = Run.load(path)
    assert_equal(run, loaded)
    assert loaded == run
    assert {run: cols}[loaded] == cols
    assert loaded.counters == run.counters
    assert loaded.by_line() == run.by_line()


def changed(value: object) -> object:
    """Another value: of an array one with another last element, of a text or tuple a part."""
    if isinstance(value, np.ndarray):
        other = value.copy()
        other.reshape(-1)[-1:] = "up" if value.dtype.kind == "U" else ~value.reshape(-1)[-1:]
        return other
    if isinstance(value, Accesses | Shuffles | InstructionCounters):
        name = fields(value)[-1].name
        return replace(value, **{name: changed(getattr(value, name))})
    assert isinstance(value, str | tuple)
    return value[:-1] if value else ("more",)


def test_a_run_with_another_part_is_another_run() -> None:
    run = softlab.trace(np.random.default_rng(0).standard_normal((3, 2048)).astype(np.float32)).run
    assert run == replace(run, launched=None)
    numbers = ("lane_instructions", "registers", "spill_bytes", "static_smem_bytes", "smem_bytes")
    for column in (c for c in fields(run) if c.compare):
        before = getattr(run, column.name)
        other = 1234567 if column.name in (*numbers, "estimated_instructions") else changed(before)
        assert replace(run, **{column.name: other}) != run, column.name
    assert run != run.counters
    assert run.instructions != replace(run.instructions, text=run.instructions.text[::-1])


@pytest.mark.parametrize("name", ["shared", "global_", "shuffles"])
def test_a_log_with_another_column_is_another_log(name: str) -> None:
    log = getattr(softlab.trace(np.random.default_rng(0).standard_normal((3, 2048)).astype(np.float32)).run, name)
    assert log == replace(log)
    assert hash(log) == hash(replace(log))
    assert log.select(np.arange(len(log)) > 0) != log
    for column in fields(log):
        whole = getattr(log, column.name)
        assert replace(log, **{column.name: changed(whole)}) != log, column.name
        assert replace(log, **{column.name: whole.astype("U9" if whole.dtype.kind == "U" else "c16")}) != log
        assert replace(log, **{column.name: whole[None]}) != log


def test_the_bits_of_an_output_decide() -> None:
    trace = softlab.trace(np.full((2, 64), np.nan, np.float32))
    again = replace(trace, output=trace.output.copy())
    assert np.isnan(again.output).all()
    assert again == trace
    assert replace(trace, output=np.zeros(2)) != replace(trace, output=-np.zeros(2))
    assert replace(trace, plan=softlab.plan(3, 64)) != trace
    assert trace != trace.run


def test_a_run_without_counters(tmp_path: Path) -> None:
    run = Run(executor="gpu", grid=(1, 1, 1), block=(32, 1, 1), arch="sm_90", file="k.cu", source="// empty")
    run.save(tmp_path / "gpu.npz")
    loaded = Run.load(tmp_path / "gpu.npz")
    assert loaded.instructions is None
    assert loaded.counters == {}
    assert loaded.block == (32, 1, 1)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text, arrays = tmp_path / "text", tmp_path / "arrays.npz"
    text.write_text("no run")
    np.savez(arrays, x=np.zeros(3))
    for path in (text, arrays):
        with pytest.raises(ValueError, match="not a run that softlab saved"):
            Run.load(path)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(executor="gpu", grid=(1, 1, 1), block=(1, 1, 1), arch="sm_90", file="k.cu", source="")
    monkeypatch.setattr("softlab.traces.runs._FORMAT", 0)
    run.save(tmp_path / "old")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has the format 0"):
        Run.load(tmp_path / "old")


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[Run, Path]:
    """A run with shared memory, shuffles and fused accesses, and its file."""
    run = softlab.trace(np.random.default_rng(0).standard_normal((2, 2048)).astype(np.float32)).run
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    run.save(path)
    return run, path


def with_parts(path: Path, target: Path, header: dict | None = None, **columns: object) -> Path:
    """The file with other fields and columns, and a digest that is right."""
    arrays = dict(np.load(path))
    text = {**json.loads(str(arrays["header"])), **(header or {})}
    write_archive(target, {**arrays, "header": np.array(json.dumps(text)), **columns})
    return target


def test_any_changed_byte_is_found(saved, tmp_path: Path) -> None:
    _, path = saved
    content = path.read_bytes()
    random = np.random.default_rng(13)
    for at, flip in zip(random.integers(0, len(content), 400), random.integers(1, 256, 400), strict=True):
        damaged = bytearray(content)
        damaged[at] ^= int(flip)
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match=re.escape(str(tmp_path / "damaged"))):
            Run.load(tmp_path / "damaged")


def test_without_a_digest_damage_is_an_error_or_changes_nothing(saved, tmp_path: Path) -> None:
    """A file of before: the flips reach zipfile, NumPy and the checks of the fields."""
    run, path = saved
    old = tmp_path / "old"
    arrays = dict(np.load(path))
    header = json.dumps({**json.loads(str(arrays.pop("header"))), "format": 1})
    with old.open("wb") as stream:
        np.savez_compressed(stream, header=np.array(header), **arrays)
    assert_equal(Run.load(old), run)
    content = old.read_bytes()
    random = np.random.default_rng(14)
    refused = unchanged = 0
    for at, flip in zip(random.integers(0, len(content), 400), random.integers(1, 256, 400), strict=True):
        damaged = bytearray(content)
        damaged[at] ^= int(flip)
        old.write_bytes(damaged)
        try:
            loaded = Run.load(old)
        except ValueError as error:
            refused += str(old) in str(error)
        else:
            assert_equal(loaded, run)
            unchanged += 1
    assert refused + unchanged == 400
    assert refused > 300


def test_a_cut_file_is_found(saved, tmp_path: Path) -> None:
    content = saved[1].read_bytes()
    for size in (0, 1, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "cut").write_bytes(content[:size])
        with pytest.raises(ValueError, match="cut"):
            Run.load(tmp_path / "cut")


@pytest.mark.further
def test_a_bomb_is_refused_before_it_is_decompressed(saved, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("header.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (1 << 26,)})
        for _ in range(1 << 9):
            member.write(bytes(1 << 20))
    assert bomb.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb .*more than 134217728"):
        Run.load(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


@pytest.mark.parametrize(
    "header",
    [
        {"arch": "sm_90; rm"}, {"arch": 90}, {"arch": None}, {"grid": [1, 1]}, {"grid": [0, 1, 1]}, {"grid": 5},
        {"block": ["a", 1, 1]}, {"executor": "cpu"}, {"level": 3}, {"source": None}, {"registers": -1},
        {"registers": 1.5}, {"lane_instructions": 10**30}, {"smem_bytes": True}, {"buffers": [{"index": 0}]},
        {"buffers": [{"index": 0, "base": -1, "nbytes": 4, "dtype": "f4"}]}, {"buffers": 7}, {"instructions": 7},
        {"instructions": {"text": [], "frames": []}}, {"fused": [{}]}, {"fused": None},
        {"fused": [{"carrier": 1, "parts": ["x"], "width": 8, "text": ""}]},
    ],
    ids=str,
)  # fmt: skip
def test_fields_of_a_saved_run_are_checked(saved, tmp_path: Path, header) -> None:
    with pytest.raises(ValueError, match=r"odd is damaged"):
        Run.load(with_parts(saved[1], tmp_path / "odd", header))


@pytest.mark.parametrize(
    "columns",
    [
        {"shared.line": np.zeros(3, np.int32)}, {"shared.line": np.zeros(277, np.float32)},
        {"global_.address": np.zeros((64, 31), np.uint64)}, {"shuffles.mode": np.array(["abcd"])},
        {"instructions.counts": np.zeros((2, 2), np.int64)}, {"shared.line": np.array(5, np.int32)},
    ],
    ids=lambda columns: next(iter(columns)),
)  # fmt: skip
def test_columns_of_a_saved_run_are_checked(saved, tmp_path: Path, columns) -> None:
    with pytest.raises(ValueError, match=r"odd is damaged"):
        Run.load(with_parts(saved[1], tmp_path / "odd", **columns))


def test_a_saved_run_needs_its_digest(saved, tmp_path: Path) -> None:
    with (tmp_path / "plain").open("wb") as stream:
        np.savez_compressed(stream, **np.load(saved[1]))
    with pytest.raises(ValueError, match="its digest is missing"):
        Run.load(tmp_path / "plain")
    with pytest.raises(FileNotFoundError):
        Run.load(tmp_path / "nothing")


def test_a_run_that_is_too_large_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softlab.archives.MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="record less"):
        Run(executor="gpu", grid=(1, 1, 1), block=(1, 1, 1), arch="sm_90", file="k.cu", source="x" * 999).save(
            tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()


def test_a_run_of_before_has_no_facts_of_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = softlab.trace(np.ones((2, 100), np.float32)).run
    assert run.registers
    with monkeypatch.context() as patch:
        patch.setattr("softlab.traces.runs._PLAIN", ("executor", "grid", "block", "arch", "file", "source",
                                                "lane_instructions", "level"))  # fmt: skip
        run.save(tmp_path / "old")
    loaded = Run.load(tmp_path / "old")
    assert (loaded.name, loaded.registers, loaded.smem_bytes) == ("", None, 0)
    assert loaded.counters == run.counters
    assert "occupancy on" in run._repr_html_()
    assert "occupancy on" not in loaded._repr_html_()


def test_texts_are_short_and_name_what_ran() -> None:
    trace = softlab.trace(np.ones((3, 2048), np.float32))
    lines = repr(trace.run).splitlines()
    assert len(lines) <= 25
    assert lines[0].startswith("Run of softmax_block_smem<float")
    assert f"block {trace.run.block}, in the emulator, compiled for sm_90" in lines[0]
    assert f"  barriers                   {trace.counters['barriers']}" in lines
    assert f"  recorded: {len(trace.shared)} shared and" in lines[-1]
    assert len(max(lines, key=len)) < 250
    assert repr(trace).startswith("Trace: output float32 (3, 2048), kernel block_smem, grid (3, 1, 1)")
    assert repr(trace).splitlines()[1:] == lines[1:]


def test_a_text_says_how_many_counters_it_leaves_out() -> None:
    counts = np.arange(1, len(COUNTERS) + 1)[None]
    counters = InstructionCounters(("x;",), ((("k.cu", 1),),), counts)
    run = Run("emulator", (1, 1, 1), (32, 1, 1), "sm_90", "k.cu", "x", instructions=counters)
    text = repr(run).splitlines()
    assert len(text) == 25
    assert text[1].split() == [COUNTERS[0], "1"]
    assert text[-2] == f"  and {len(COUNTERS) - 22} more counters in run.counters"


def test_a_run_without_counters_says_so() -> None:
    run = Run(executor="gpu", grid=(1, 1, 1), block=(32, 1, 1), arch="sm_90", file="k.cu", source="// empty")
    assert repr(run).splitlines() == [
        "Run of k.cu: grid (1, 1, 1), block (32, 1, 1), on a GPU",
        "  no counters: they need the emulator with record=True",
    ]


def test_cards_show_the_source_with_its_counters() -> None:
    source = 'extern "C" __global__ void twice(float* x) {\n  x[threadIdx.x] *= 2;\n}'
    kernel = softlab.Kernel(source, "twice")
    run = kernel.run(1, 64, (np.ones(64, np.float32),), smem=128)
    card = run._repr_html_()
    for words in ("twice", "ran: 1 block of 64 threads", "128 bytes (0 static, 128 dynamic)", "threadIdx.x"):
        assert words in card, words
    assert str(kernel.program.registers) in dict(run_report(run).facts).values()
    trace = softlab.trace(np.ones((3, 100), np.float32))
    assert "Trace: output float32 (3, 100), kernel warp" in trace._repr_html_()
    assert trace.run._repr_html_() in trace._repr_html_()


def test_two_launches_alike_have_equal_records() -> None:
    one, other = (softlab.trace(np.ones((2, 100), np.float32)) for _ in range(2))
    assert one == other
    assert one != softlab.trace(np.zeros((2, 100), np.float32))
    assert len({one, other, one.run, other.run, one.run.shared, one.run.shuffles, one.run.instructions}) == 5
