"""The edges of row softmax on both executors, and the recorded table of what they and other libraries do there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.plans import POLICIES
from softlab.plans.fast import MOST_EXACT_COLS
from tests import edge_cases
from tests.edge_cases import EDGES, RIGHT, EdgeCase, Library, Refusal, verdict
from tests.hardware import edges
from tests.sampled import sampled

#: Policy "invariant" adds whole numbers, so it bounds the length of a row.
TOO_LONG = Refusal("PlanError", (f"2^{MOST_EXACT_COLS.bit_length() - 1} elements exactly",))
_SMALL = [edge for edge in EDGES if not edge.big]
#: `.ci/run` takes one policy for each edge, in turns, `make test` all of them.
_IN_TURNS = {(edge.name, POLICIES[k % len(POLICIES)]) for k, edge in enumerate(_SMALL)}
EXECUTORS = [edge_cases.emulator, pytest.param(edge_cases.on_gpu, marks=pytest.mark.gpu)]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("edge", "policy"),
    sampled(product(_SMALL, POLICIES), lambda edge, policy: (edge.name, policy) in _IN_TURNS),
    ids=lambda value: getattr(value, "name", value),
)
def test_edge(edge: EdgeCase, policy: str, executor: Callable[[str], Library]) -> None:
    assert verdict(edge, executor(policy)) == RIGHT


@pytest.mark.gpu
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge.big], ids=lambda edge: edge.name)
def test_big_edge(edge: EdgeCase, policy: str) -> None:
    wanted = TOO_LONG if (edge.name, policy) == ("more than 2^31 elements, one row", "invariant") else edge.wanted
    assert verdict(replace(edge, wanted=wanted), edge_cases.on_gpu(policy)) == RIGHT


def naive(op: str, x: Any, axis: int, options: dict[str, Any]) -> np.ndarray:
    """A softmax as one writes it first: no maximum, sums in x's own type, all types taken."""
    with np.errstate(all="ignore"):
        exponential = np.exp(x)
        y = exponential / exponential.sum(axis=axis, keepdims=True)
        return y if op == "softmax" else np.log(y)


def test_a_naive_softmax_is_found_out() -> None:
    """What a first softmax gets wrong is not judged right."""
    library = replace(edge_cases.emulator(), name="naive", call=naive)
    wrong = {edge.name for edge in EDGES if not edge.big and not verdict(edge, library).startswith(RIGHT)}
    assert {
        "half 65504",
        "differences beyond float's range",
        "log_softmax at an offset of 1e7",
        "log_softmax far from the maximum",
        "int32",
        "out of another shape",
    } <= wrong
    assert "one column" not in wrong
    assert "row with NaN" not in wrong


class TestTheRecordedTable:
    """What an H200 gave."""

    recorded = json.loads(edges.RECORDING.read_text())

    def test_it_has_the_edges_that_there_are(self) -> None:
        assert list(self.recorded["edges"]) == [edge.name for edge in EDGES]

    def test_softlab_is_right_everywhere(self) -> None:
        for edge in EDGES:
            verdicts = self.recorded["edges"][edge.name]
            assert verdicts["softlab, GPU"] == RIGHT
            assert verdicts["softlab, emulator"] == ("not run: too big" if edge.big else RIGHT)


class TestTheTable:
    """A peer's fault is noted, and the table goes on."""

    def run(self, monkeypatch: pytest.MonkeyPatch, fault: str) -> dict[str, str]:
        """The column of a library whose second edge meets with a fault."""
        script = (
            "import json, sys, os, time\n"
            f"for k in range(int(sys.argv[-1]), 4):\n    if k == 1: {fault}\n"
            "    print(json.dumps({'edge': f'edge {k}', 'verdict': 'right', 'context_lost': False}), flush=True)\n"
        )
        monkeypatch.setattr(edges, "EDGES", tuple(EdgeCase(f"edge {k}", None) for k in range(4)))
        monkeypatch.setattr(edges, "_COMMAND", (*edges._COMMAND[:1], "-c", script))
        monkeypatch.setattr(edges, "_PATIENCE", 2.0)
        return edges._column("mine")

    def test_a_process_that_dies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        column = self.run(monkeypatch, "sys.stderr.write('segments\\n'); os._exit(139)")
        assert list(column.values()) == [RIGHT, "process ended with 139: segments", RIGHT, RIGHT]

    def test_a_process_that_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        column = self.run(monkeypatch, "time.sleep(60)")
        assert list(column.values()) == [RIGHT, "no answer in 2 s", RIGHT, RIGHT]

    def test_a_context_that_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lost = "print(json.dumps({'edge': 'edge 1', 'verdict': 'crash', 'context_lost': True}), flush=True); continue"
        column = self.run(monkeypatch, lost)
        assert list(column.values()) == [RIGHT, "crash", RIGHT, RIGHT]

    def test_markdown(self) -> None:
        table = {"a": {"mine": RIGHT, "theirs": "x | y"}, "b": {"mine": RIGHT, "theirs": f"{RIGHT} (TypeError)"}}
        lines = edges.markdown(table).splitlines()
        assert lines[2] == "| a | right | x \\| y |"
        assert lines[-1] == "| **right** | 2 of 2 | 1 of 2 |"
