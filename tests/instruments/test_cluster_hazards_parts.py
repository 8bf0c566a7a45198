"""What the watch of clusters says of arrivals and of other accesses, beside slow loops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
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


@pytest.mark.parametrize(
    ("action", "words", "told"),
    [
        ("init", "init", ["mbarriers_begin"]), ("invalidate", "inval", []), ("wait", "try_wait", ["acquire_from"]),
        ("arrive", "arrive", ["fence", "release_to"]), ("arrive", "arrive.relaxed", []),
    ],
)  # fmt: skip
def test_arrivals_alone_pass_on_what_their_threads_did(action: str, words: str, told: list[str]) -> None:
    """A wait learns of it. A new object begins with nothing; one that is invalidated tells nothing."""
    watch, called = Watch(), list[str]()

    class Recording:
        words = WORDS

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: called.append(name) if name != "track_remote" else None

    watch.shadow, watch._unread, watch._known_objects = Recording(), frozenset(), {}
    watch._objects = SimpleNamespace(begin=lambda *more: None, end=lambda *more: None)  # type: ignore[assignment]
    watch.watched = SimpleNamespace(
        blocks=BLOCKS, threads=THREADS, geometry=SimpleNamespace(blocks_per_cluster=BLOCKS), batch=None
    )
    for name in ("_record_initialisation", "_check_initialised", "_check_phases", "record_last"):
        setattr(watch, name, lambda *arguments: None)
    lanes = lanes_of(np.ones((BLOCKS, THREADS), bool))
    count = lanes.count
    site = Site(0, Instruction("mbarrier", (*words.split("."), "shared", "b64"), ()), "shared", np.dtype("u8"))
    watch.words_at = lambda site, offset: offset[:, None] // 4  # type: ignore[assignment,method-assign]
    watch.mbarrier(site, lanes, lanes.positions.rows, np.full(count, 8), action, np.zeros(1, int))
    assert called == told
