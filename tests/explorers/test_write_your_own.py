"""The exercises of "Write your own kernel": reference solutions are taken as right, plausible wrong ones get a hint."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "13-write-your-own-kernel.ipynb"

REFERENCE_SUM = """  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int far = 4; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
    if (threadIdx.x == 0) *total = sum;
  }
}"""
TREE_SUM = """  part[threadIdx.x] = sum;
  for (int far = 128; far; far /= 2) {
    __syncthreads();
    if (threadIdx.x < far) part[threadIdx.x] += part[threadIdx.x + far];
  }
  if (threadIdx.x == 0) *total = part[0];
}"""


@pytest.fixture(scope="module")
def notebook():
    """Cell id -> source, and a function that runs a source as the notebook would."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}

    def run(source: str) -> None:
        shell.run_cell(source).raise_error()

    run(cells["imports"])
    run(cells["data"])
    run(cells["sum-data"])
    yield cells, run
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def said(notebook, exercise: str, text: str, better: str, capsys) -> str:
    """What the check of an exercise prints once the learner has replaced ``text`` and all that follows it."""
    cells, run = notebook
    run(cells.get(f"exercise-{exercise}-data") or cells[f"{exercise}-data"])
    source = cells[f"exercise-{exercise}"]
    assert source.count(text) == 1, f"{text!r} stands {source.count(text)} times in the exercise {exercise}"
    run(source.partition(text)[0] + better)
    capsys.readouterr()
    run(cells[f"check-{exercise}"])
    return capsys.readouterr().out


def test_difference(notebook, capsys):
    text = "if (i < n) d[i] = x[i + 1] - x[i];"
    assert said(notebook, "difference", text, f"{text}\n}}", capsys).startswith("Not yet: it does not run")
    assert said(notebook, "difference", text, "if (i < n - 1) d[i] = x[i + 1] - x[i];\n}", capsys) == "Right.\n"
    assert said(notebook, "difference", text, "if (i + 2 < n) d[i] = x[i + 1] - x[i];\n}", capsys).startswith(
        "Not yet: 998.0"
    )


def test_turn(notebook, capsys):
    text = "  t[first + threadIdx.x] = part[255 - threadIdx.x];"
    rest = f"{text}\n}}"
    assert said(notebook, "turn", text, rest, capsys).startswith("Not yet: the report")
    assert said(notebook, "turn", text, f"__syncthreads();\n{rest}", capsys) == "Right.\n"
    # A barrier for a warp alone is not enough: other warps wrote what is read.
    assert said(notebook, "turn", text, f"__syncwarp();\n{rest}", capsys).startswith("Not yet: the report")
    straight = "t[first + threadIdx.x] = part[threadIdx.x];\n}"
    assert said(notebook, "turn", text, straight, capsys).startswith("Not yet: 1024")


@pytest.mark.parametrize(
    ("better", "answer"),
    [
        (REFERENCE_SUM, "Right.\n"),
        (TREE_SUM, "Not yet: 8 warps wait 64 times"),
        (REFERENCE_SUM.replace("far = 4", "far = 2"), "Wrong: the sum is 12285, not "),
        (REFERENCE_SUM.replace("__syncthreads();", ""), "Not yet: it does not run to its end"),
        ("}", "Wrong: the sum is 12285, not 0."),
    ],
)
def test_sum(notebook, better, answer, capsys):
    text = "  part[threadIdx.x] = sum;"
    assert said(notebook, "sum", text, better, capsys).startswith(answer)


def test_sum_as_it_stands(notebook, capsys):
    cells, _ = notebook
    text = "  part[threadIdx.x] = sum;"
    rest = text + cells["exercise-sum"].partition(text)[2]
    found = said(notebook, "sum", text, rest, capsys)
    assert found.startswith("Not yet: ")
    assert "So many instructions are issued" in found
