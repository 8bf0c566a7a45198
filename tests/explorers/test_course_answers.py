"""The exercises of notebooks 07 to 11: right answers are taken, plausible wrong ones get a hint."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
OCCUPANCY = "07-occupancy.ipynb"
BLOCK_SIZE = "08-block-size-choice.ipynb"
DISPATCH = "09-dispatch.ipynb"
LEDGER = "11-claims-ledger.ipynb"
#: What an exercise's cell needs from the cells before it.
RECORDING = "recording = recordings.load()\n"


@lru_cache
def sources(name: str) -> dict[str, str]:
    return {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS / name, as_version=4).cells}


def said(name: str, cell_id: str, replacements: dict[str, str], capsys) -> str:
    """What the exercise's cell prints once the learner has replaced its texts."""
    cells = sources(name)
    source = cells[cell_id]
    for old, new in replacements.items():
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {cell_id}"
        source = source.replace(old, new)
    before = cells["imports"] + "\n" + (RECORDING if "recordings" in cells["imports"] else "")
    capsys.readouterr()
    exec(compile(before + source, cell_id, "exec"), {})
    return capsys.readouterr().out


ANSWERS = [
    # 233472 / 8 - 1024 = 28160; without the driver's share, and rounded to a kibibyte
    (OCCUPANCY, "exercise-smem", "28_160", ["29_184", "27_648"]),
    (OCCUPANCY, "exercise-registers", "64", ["63", "255"]),
    (BLOCK_SIZE, "exercise-step", "6194", ["6144", "7026"]),
    (BLOCK_SIZE, "exercise-t4", "256", ["128", "512"]),
    # 100000 rows / 2 a group / 4 groups; without the two rows, and capped where it need not be
    (DISPATCH, "exercise-grid", "12_500", ["25_000", "67_584"]),
    (DISPATCH, "exercise-lanes", "9", ["17", "18"]),
    (LEDGER, "exercise-cudnn", "17", ["0", "44"]),
    (LEDGER, "exercise-flight", "49.5", ["12.4", "51.9"]),
    (LEDGER, "exercise-claim", "10", ["9", "0"]),
]


@pytest.mark.parametrize(("name", "cell_id", "right", "wrong"), ANSWERS, ids=[answer[1] for answer in ANSWERS])
def test_numbers(name, cell_id, right, wrong, capsys):
    assert said(name, cell_id, {}, capsys) == "Not answered yet.\n"
    assert said(name, cell_id, {"answer = None": f"answer = {right}"}, capsys) == "Right.\n"
    for other in wrong:
        assert said(name, cell_id, {"answer = None": f"answer = {other}"}, capsys).startswith(
            f"Not yet: {int(float(other))}"
        )


HELD = """  float held[48];
  for (int i = 0; i < 48; ++i) held[i] = x[i * 256 + threadIdx.x];
  float largest = held[0];
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, held[i]);
  float sum = 0;
  for (int i = 0; i < 48; ++i) sum += __expf(held[i] - largest);
"""
READ_AGAIN = """  float largest = x[threadIdx.x];
  #pragma unroll 4
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, x[i * 256 + threadIdx.x]);
  float sum = 0;
  #pragma unroll 4
  for (int i = 0; i < 48; ++i) sum += __expf(x[i * 256 + threadIdx.x] - largest);
"""


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        (HELD, READ_AGAIN, "Right."),
        (HELD, READ_AGAIN.replace("int i = 0", "int i = 1"), "Wrong: element 0 is "),
        ("void log_sum_exp", "void __launch_bounds__(256, 8) log_sum_exp", "Not yet: what does not fit"),
        ("void log_sum_exp", "void __launch_bounds__(256) log_sum_exp", "Not yet: 4. So many blocks fit."),
    ],
)
def test_kernel_with_few_registers(old, new, answer, capsys):
    assert answer in said(OCCUPANCY, "exercise-kernel", {old: new}, capsys)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("return max(size for size in blocks if size == 128 or blocks[size] == blocks[128])", "Right."),
        ("return max(blocks, key=lambda size: (blocks[size] * size, size))", "Not yet: 1024 at 1024 columns"),
        ("return max(blocks, key=lambda size: blocks[size])", "Not yet: 128 at "),
        ("return 128", "Not yet: 128 at "),
    ],
)
def test_rule(body, answer, capsys):
    assert said(BLOCK_SIZE, "exercise-rule", {"    return None\n\n\ndef": f"    {body}\n\n\ndef"}, capsys).startswith(
        answer
    )


@pytest.mark.parametrize(
    ("kernel", "block_size", "answer"),
    [
        ("block_uncached", 256, "Right."),
        ("block_uncached", 512, "Not yet: 58%."),
        ("block_uncached", 1024, "Not yet: 41%."),
    ],
)
def test_beat_the_plan(kernel, block_size, answer, capsys):
    mine = {"kernel, block_size = None, None": f"kernel, block_size = {kernel!r}, {block_size}"}
    assert said(DISPATCH, "exercise-beat", mine, capsys).startswith(answer)
