"""Each rule of the advice on kernels with its problem, on the same kernels after the advice was followed, and on
kernels without the problem."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlab.traces import Run
from softlab.workbench.advice import advice, rules
from softlab.workbench.figures import occupancy_of
from softlab.workbench.launches import recorded
from tests.sampled import in_sample, one_of, sampled
from tests.workbench.advised_cases import Case, cases, pairs

EVERY = [case for rule in rules() for case in cases(rule)]
PAIRS = [pair for rule in rules() for pair in pairs(rule)]
#: `.ci/run` takes an eighth of each rule's pairs, and of its kernels without the problem; `make test` takes all.
EACH_PAIR = one_of(8, PAIRS, lambda pair: pair[0].rule)
_CLEAN = one_of(8, [case for case in EVERY if case.kind == "clean"], lambda case: case.rule)
_CHOSEN = [*(case for (pair,) in in_sample(EACH_PAIR) for case in pair), *(case for (case,) in in_sample(_CLEAN))]
SAMPLE = {(case.rule, case.name) for case in _CHOSEN}
#: Of each rule, kernels with the problem and kernels without it.
LEAST = 5


@cache
def ran(case: Case) -> tuple[Run, tuple[Any, ...]]:
    """The run of a case, and its arguments as it left them."""
    launch = case.launch()
    return recorded(launch, check="collect"), launch.args


def cost(run: Run, counter: str) -> float:
    """What a sentence of advice says will fall."""
    if counter == "occupancy":
        held = occupancy_of(run)
        assert held is not None
        return 1 - held.fraction
    return run.spill_bytes if counter == "spill_bytes" else run.counters[counter]


@pytest.mark.parametrize("rule", rules())
def test_each_rule_has_kernels_with_the_problem_and_without(rule: str) -> None:
    for kind in ("problem", "repaired", "clean"):
        assert len([case for case in cases(rule) if case.kind == kind]) >= LEAST
    # A repaired kernel may still have some of the problem: its counter fell.
    said = {(case.kind, rule in {name for name, _ in case.said}) for case in cases(rule) if case.kind != "repaired"}
    assert said == {("problem", True), ("clean", False)}


def test_the_time_on_a_gpu_was_recorded_for_every_pair() -> None:
    """The time falls where the advice does not say that it may stay."""
    rows = json.loads((Path(__file__).parents[1] / "data/advice_h200.json").read_text())["pairs"]
    assert {(name, row["repaired"]) for name, row in rows.items()} == {(a.name, b.name) for a, b in PAIRS}
    asked = [row["gpu"] for row in rows.values() if row["time_asked"]]
    assert sum(after < before for before, after in asked) >= 0.95 * len(asked) > 40


@pytest.mark.parametrize(
    "case", sampled(EVERY, lambda case: (case.rule, case.name) in SAMPLE), ids=lambda case: case.name
)
def test_the_advice_says_what_is_marked_and_no_more(case: Case) -> None:
    run, _ = ran(case)
    assert [one for one in run.findings if one.severity == "error"] == []
    assert {(one.rule, one.line) for one in advice(run)} == case.said


@pytest.mark.parametrize("pair", EACH_PAIR, ids=lambda pair: pair[0].name)
def test_the_counter_falls_once_the_advice_is_followed(pair: tuple[Case, Case]) -> None:
    (before, old), (after, new) = map(ran, pair)
    said = [one for one in advice(before) if one.rule == pair[0].rule]
    assert said
    for one in said:
        assert cost(after, one.counter) < cost(before, one.counter)
    if "layout" not in pair[1].keys:
        close = "close" in pair[1].keys
        for a, b in zip(old, new, strict=True):
            if isinstance(a, np.ndarray):
                assert np.allclose(a, b, rtol=1e-4, atol=1e-4) if close else np.array_equal(a, b)
