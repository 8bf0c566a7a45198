"""What the watch of clusters says of arrivals and of other accesses, beside slow loops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments.cluster_hazards import ClusterHazards
from softlab.instruments.hazards import SharedAccess
from softlab.instruments.remote_accesses import Accessors

BLOCKS, THREADS, WORDS = 3, 96, 21


class Watch(ClusterHazards):
    """One whose faults are kept, and that watches what the test says."""

    shadow: Any = SimpleNamespace(words=WORDS)
    watched: Any = SimpleNamespace(blocks=BLOCKS, threads=THREADS)

    def __init__(self) -> None:
        self.late: list[np.ndarray] = []

    def fault(self, kind: str, sentence: str, access: SharedAccess, bad: np.ndarray) -> Any:
        assert (kind, "later phase than other lanes of its warp" in sentence) == ("mbarrier-misuse", True)
        return kind

    def report(self, fault: Any, bad: np.ndarray, *more: Any) -> None:
        self.late.append(bad)


@pytest.mark.parametrize("seed", range(20))
def test_lanes_that_arrive_in_a_later_phase_than_others_of_their_warp(seed: int) -> None:
    random, count = np.random.default_rng(seed), 60
    row, own, word = (random.integers(0, most, count) for most in (BLOCKS, BLOCKS, 3))
    word = word * 9
    thread, phase = random.integers(0, THREADS, count), random.integers(0, 2, count) + 4
    access = SharedAccess(None, None, None, row, thread, word[:, None])  # type: ignore[arg-type]
    watch = Watch()
    watch._check_phases(access, Accessors(own, thread, own), phase)
    keys = list(zip(row.tolist(), own.tolist(), word.tolist(), (thread // WARP).tolist(), strict=True))
    first = {key: min(p for k, p in zip(keys, phase.tolist(), strict=True) if k == key) for key in keys}
    late = [p > first[key] for key, p in zip(keys, phase.tolist(), strict=True)]
    assert [one.tolist() for one in watch.late] == [late]
    same = Watch()
    same._check_phases(access, Accessors(own, thread, own), phase * 0 + 7)
    assert not same.late
