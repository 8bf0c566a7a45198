"""What the figures of each line are, and when the advice speaks and when it is silent."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.traces import Run
from softlab.workbench import access_figures, advice
from softlab.workbench.figures import unrecorded_lines
from tests.workbench.kernels import OTHERS, TRANSPOSE


@cache
def kernel(name: str) -> softlab.Kernel:
    """A kernel of the sources, by one compilation for the plain ones."""
    if name.startswith("transpose"):
        return softlab.Kernel(TRANSPOSE.format(width=name.removeprefix("transpose")), "transpose")
    first = softlab.Kernel(OTHERS, "columns")
    return first if name == "columns" else first.sibling(name)


def transposed(width: int) -> Run:
    x = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    y = np.zeros_like(x)
    run = kernel(f"transpose{width}").run((4, 4), (32, 8), (x, y, 128))
    assert np.array_equal(y, x.T)
    return run


def run(name: str, n: int, *, block: int = 128, grid: int = 4, integers: Any = None) -> Run:
    x = np.zeros(1 << 14, np.float32) if integers is None else np.asarray(integers, np.int32)
    return kernel(name).run(grid, block, (x, np.zeros(1 << 12, x.dtype), n))


def rules(run: Run) -> set[str]:
    return {one.rule for one in advice(run)}


def test_a_bank_conflict_is_named_with_its_cost_and_cure() -> None:
    (found,) = advice(transposed(32))
    assert (found.rule, found.line, found.counter) == ("bank-conflicts", 8, "shared_load_wavefronts")
    assert found.excess == 16384 - 512
    assert "32-way bank conflict" in found.sentence
    assert "1 of 32 banks" in found.sentence
    assert "padding" in found.sentence
    assert str(found).startswith("line 8: ")


def test_padding_silences_the_rule() -> None:
    assert advice(transposed(33)) == ()


def test_figures_of_a_tile() -> None:
    load, stored, store, read = access_figures(transposed(32))
    assert [one.kind for one in (load, stored, store, read)] == [
        "global load", "shared store", "global store", "shared load",
    ]  # fmt: skip
    assert (load.requests, load.moved, load.least, load.stride, load.width) == (512, 2048, 2048, 4, 4)
    assert (read.requests, read.moved, read.least, read.stride) == (512, 16384, 512, 128)
    assert (load.bytes_used, load.bytes_moved, load.lanes, load.same_sectors) == (4096, 4096, 32, 1)
    assert read.per_request == 32
    assert read.least_per_request == 1


@pytest.mark.parametrize(
    ("name", "bad", "good", "rule", "words"),
    [
        ("columns", 128, 1, "uncoalesced", "512 bytes apart"),
        ("shifted", 1, 8, "unaligned", "begin within a sector"),
        ("reloads", 32, 1, "reloads", "shared memory or a register"),
        ("branches", 3, 32, "idle-lanes", "same branch"),
    ],
)
def test_a_rule_speaks_of_the_problem_alone(name: str, bad: int, good: int, rule: str, words: str) -> None:
    found = [one for one in advice(run(name, bad)) if one.rule == rule]
    assert len(found) == 1
    assert words in found[0].sentence
    assert rule not in rules(run(name, good))


def test_fields_of_a_struct_want_arrays_of_their_own() -> None:
    found = [one for one in advice(run("fields", 0)) if one.rule == "uncoalesced"]
    assert len(found) == 1
    assert "array of its own" in found[0].sentence
    assert found[0].excess == 16 * (16 - 4)  # 16 warps, 16 sectors of which 4 would do


def test_atomics_that_meet() -> None:
    side_by_side = run("counts", 1 << 12, integers=np.arange(1 << 12))
    assert side_by_side.counters["global_reduction_sectors"] == 4 * side_by_side.counters["global_reduction_requests"]
    assert "contended-atomics" not in rules(side_by_side)
    assert "contended-atomics" in rules(run("counts", 32 * 64, integers=np.arange(1 << 12) * 64))


def test_a_small_block_has_idle_lanes() -> None:
    found = [one for one in advice(run("shifted", 8, block=20)) if one.rule == "idle-lanes"]
    assert len(found) == 1
    assert "a multiple of 32" in found[0].sentence


def test_a_block_that_is_not_recorded_is_said() -> None:
    source = """
extern "C" __global__ void last(float* x) {
  if (blockIdx.x == 1)
    x[threadIdx.x] = 1;
}"""
    x = np.zeros(32, np.float32)
    only_first = softlab.Kernel(source, "last").run(2, 32, (x,))
    assert unrecorded_lines(only_first) == (4,)
    assert access_figures(only_first) == ()


def test_a_run_without_counters_is_refused() -> None:
    x = np.zeros(32, np.float32)
    bare = kernel("shifted").run(1, 32, (x, x.copy(), 0), record=False)
    with pytest.raises(ValueError, match="has no counters"):
        advice(bare)
