"""``softlab estimate`` and ``softlab run``: against the public API, what they take from the file, how they end."""

from __future__ import annotations

import json

import numpy as np
import pytest

import softlab
from softlab import cli
from softlab.timing.what_if import CHANGES
from softlab.views.estimates import estimate_sentences

FILE = """\
#include <cstdio>
template <typename T> __global__ void twice(const T* __restrict__ x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}
__global__ void turn(float* x) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = part[63 - threadIdx.x];
}
__global__ void dynamic(float* x) {
  extern __shared__ float held[];
  held[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = held[threadIdx.x];
}
int main(int count, char**) {
  const int n = 4096;
  twice<float><<<n / 256, 256>>>(x, y, n);
  turn<<<1, 64>>>(x);
  turn<<<count, 64>>>(x);
  dynamic<<<1, 64, 256>>>(x);
}
"""
TWICE = ("--kernel", "twice", "--args", "x=random(4096), y=zeros(4096), n=4096")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.cu"
    path.write_text(FILE)
    return path


def run(capsys, *arguments):
    """(exit status, standard output, standard error) of the command."""
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def test_estimate_as_json(capsys, file):
    status, out, _ = run(capsys, "estimate", file, *TWICE, "--device", "H100", "--cache", "warm", "--json")
    kernel = softlab.Kernel.from_file(file, "twice")
    args = (np.zeros(4096, np.float32), np.zeros(4096, np.float32), 4096)
    expected = kernel.estimate(16, 256, args, device="H100", cache="warm")
    record = json.loads(out)
    assert status == 0
    for name in (
        "microseconds",
        "cycles",
        "bound",
        "stalls",
        "occupancy",
        "dram_bytes",
        "validated",
        "device",
        "cache",
    ):
        assert record[name] == getattr(expected, name)
    assert record["grid"] == list(expected.grid)
    assert {int(line) for line in record["by_line"]} == set(expected.by_line())
    assert record["by_line"]["4"]["cycles"] == expected.by_line()[4].cycles


def test_estimate_in_words(capsys, file):
    status, out, _ = run(capsys, "estimate", file, *TWICE, "--grid", 8, "--block", "256")
    args = (np.zeros(4096, np.float32), np.zeros(4096, np.float32), 4096)
    expected = softlab.Kernel.from_file(file, "twice").estimate(8, 256, args)
    assert status == 0
    for sentence in estimate_sentences(expected, FILE):
        assert sentence in " ".join(out.split())
    assert "if (i < n) y[i] = x[i] + x[i];" in out
    assert "Races are not looked for, and other faults only in the blocks that were interpreted." in out
    assert "of the file" not in out


def test_the_launch_of_the_file(capsys, file):
    _, out, _ = run(capsys, "run", file, *TWICE, "--json")
    record = json.loads(out)
    assert (record["grid"], record["block"]) == ([16, 1, 1], [256, 1, 1])
    assert record["from_the_file"] == [
        "--grid 16 is that of the launch in line 18 of the file.",
        "--block 256 is that of the launch in line 18 of the file.",
    ]
    _, out, _ = run(capsys, "run", file, "--kernel", "dynamic", "--args", "random(64)", "--json")
    assert json.loads(out)["smem_bytes"] == 256
    _, out, _ = run(capsys, "run", file, "--kernel", "turn", "--args", "random(64)")
    assert "--grid 1 is that of the launch in line 19 of the file." in out


def test_run_against_the_kernel(capsys, file):
    status, out, _ = run(capsys, "run", file, *TWICE, "--json")
    x, y = np.random.default_rng(0).standard_normal(4096, np.float32), np.zeros(4096, np.float32)
    expected = softlab.Kernel.from_file(file, "twice").run(16, 256, (x, y, 4096))
    record = json.loads(out)
    assert status == 0
    assert record["counters"] == expected.counters
    assert record["findings"] == []
    assert record["arrays"]["y"]["changed"] == 4096
    assert record["arrays"]["y"]["first_values"] == y[:8].tolist()


def test_run_shows_what_is_wrong(capsys, file):
    status, out, _ = run(capsys, "run", file, "--kernel", "turn", "--args", "x=arange(64)")
    assert status == 1
    assert "error: race" in out
    assert "x[threadIdx.x] = part[63 - threadIdx.x];" in out
    assert "shared_load_wavefronts" in out
    status, out, _ = run(capsys, "run", file, "--kernel", "turn", "--args", "x=arange(64)", "--json")
    assert (status, json.loads(out)["findings"][0]["kind"]) == (1, "race")


def test_numbers_that_json_does_not_have(capsys, file):
    _, out, _ = run(capsys, "run", file, "--kernel", "twice", "--args", "full(4096, 3e38), zeros(4096), 4096", "--json")
    record = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert record["arrays"]["y"]["first_values"][0] == "inf"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kernel", "twice"), "no value for x, y, n"),
        ((), "has 3 kernels: say which"),
        (("--kernel", "none"), "has no kernel 'none'"),
        ((*TWICE, "--grid", "no"), "one to three whole numbers"),
        ((*TWICE, "--device", "A100"), "compute capability 9.0"),
        ((*TWICE, "--block", "2048"), "2048"),
        (("--kernel", "twice", "--args", "zeros(16), zeros(4096), 4096"), "softlab run with the same arguments"),
    ],
)
def test_wrong_arguments_of_estimate(capsys, file, arguments, words):
    status, out, error = run(capsys, "estimate", file, *arguments)
    assert (status, out) == (2, "")
    assert error.startswith("softlab estimate: ")
    assert words in error


def test_a_file_that_is_not_there(capsys, tmp_path):
    status, _, error = run(capsys, "run", tmp_path / "none.cu")
    assert status == 2
    assert "cannot be read: No such file" in error


def test_a_launch_that_the_file_does_not_know(capsys, tmp_path):
    path = tmp_path / "my.cu"
    path.write_text("__global__ void k(float* x) { x[threadIdx.x] = 1; }\nint f(int n) { k<<<n, 32>>>(x); }\n")
    status, _, error = run(capsys, "estimate", path, "--args", "zeros(32)")
    assert status == 2
    assert "does not say which grid the kernel has: give --grid" in error
    assert "line 2: k with grid=n, block=(32,)" in error
    status, _, error = run(capsys, "estimate", path, "--args", "zeros(32)", "--grid", "1")
    assert (status, error) == (0, "")


def test_the_picture_is_a_page(capsys, file, tmp_path):
    page = tmp_path / "out.html"
    status, out, _ = run(capsys, "estimate", file, *TWICE, "--picture", page)
    text = page.read_text()
    assert status == 0
    assert "Estimated" in out
    assert 'data-line="4"' in text
    assert "FP32 operations per byte of DRAM" in text
    status, _, error = run(capsys, "estimate", file, *TWICE, "--picture", tmp_path / "out.gif")
    assert (status, "ends in .html" in error) == (2, True)
    status, _, error = run(capsys, "estimate", file, *TWICE, "--picture", tmp_path / "none" / "out.html")
    assert (status, "cannot be written" in error) == (2, True)


def test_what_if_in_words_and_as_json(capsys, file):
    status, out, _ = run(capsys, "estimate", file, *TWICE, "--what-if")
    assert status == 0
    text = " ".join(out.split())
    assert "As it is:" in text
    for name, meaning in CHANGES.items():
        assert f"With {name} ({meaning}):" in text
    record = json.loads(run(capsys, "estimate", file, *TWICE, "--what-if", "--json")[1])
    kernel, args = softlab.Kernel.from_file(file, "twice"), (np.zeros(4096, np.float32), np.zeros(4096, np.float32))
    expected = kernel.what_if(16, 256, (*args, 4096))
    assert {k: one["microseconds"] for k, one in record["what_if"].items()} == {
        k: one.microseconds for k, one in expected.changed.items()
    }
    assert "what_if" not in json.loads(run(capsys, "estimate", file, *TWICE, "--json")[1])


def test_the_page_has_the_sm_in_cycles_and_what_if(capsys, file, tmp_path):
    page = tmp_path / "page.html"
    status, out, _ = run(capsys, "estimate", file, *TWICE, "--picture", page)
    assert status == 0
    assert "As it is" not in out
    text = page.read_text()
    for words in ("One SM, cycle by cycle", "What if?", "Cycles of a warp on each line", "Roofline"):
        assert words in text
