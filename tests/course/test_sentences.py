"""What is said of wrong kernels and functions is what was recorded."""

from __future__ import annotations

import json

import pytest

# Each module with hints, so that a change of one is seen to be asked here.
from softlab.course import (  # noqa: F401
    behaviour,
    causes,
    diagnosis,
    differences,
    exponentials,
    places,
    probes,
    relations,
)
from tests.course.sentences import MAKERS, RECORD, digests
from tests.sampled import sampled

#: Makers with looks in common stand together. The first two take 6 s each, the last 1 s: `.ci/run` takes it.
GROUPS = ("kernels lines", "calls", "moved rows faults")


def test_every_maker_is_asked() -> None:
    assert sorted(" ".join(GROUPS).split()) == sorted(MAKERS)


@pytest.mark.parametrize("makers", sampled(GROUPS, lambda makers: makers == GROUPS[-1]))
def test_no_hint_has_changed(makers: str) -> None:
    recorded, now = json.loads(RECORD.read_text()), digests(*makers.split())
    assert [name for name in recorded if name in now] == list(now)
    assert now
    changed = [name for name in now if now[name] != recorded[name]]
    assert not changed, (
        f"what {changed} say has changed. `python -m tests.course.sentences show NAME` prints it; without arguments it "
        "records all anew."
    )


@pytest.mark.further
def test_all_looks_are_recorded() -> None:
    assert list(digests()) == list(json.loads(RECORD.read_text()))
