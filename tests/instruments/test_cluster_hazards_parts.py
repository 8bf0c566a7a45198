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


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("cause", ["nothing", "own read", "own write", "remote read", "remote write", "conflict",
                                   "other block reads", "other block writes"])  # fmt: skip
def test_what_a_copy_is_unordered_with(cause: str, changes: bool, writes: bool) -> None:
    """Of three copies the first goes to the own block, the others to another one; each cause is there for all."""
    asked: list[tuple[bool, bool]] = []
    all_of, none = np.ones(3, bool), np.zeros(3, bool)

    class Shadow:
        def track_remote(self) -> Any:
            return SimpleNamespace(read="read", written="written", unordered=self.unordered)

        def unordered(self, table: str, owner: Any, word: Any, acquired: Any, strong: bool) -> np.ndarray:
            assert strong == (changes and table == "written")
            return all_of if cause == f"remote {'read' if table == 'read' else 'write'}" else none

        def acquired(self, row: Any, thread: Any) -> Any:
            return None

        def used_before_copy(
            self, owner: Any, word: Any, thread: Any, *, wrote: bool, strong: bool = False
        ) -> np.ndarray:
            assert strong == (changes and wrote)
            return all_of if cause == f"own {'write' if wrote else 'read'}" else none

        def remote_conflict(self, owner: Any, word: Any, who: Any, *, store: bool, strong: bool) -> Any:
            assert (store, strong) == (writes, changes)
            return (all_of, None) if cause == "conflict" else None

        def used_in_another_block(self, owner: Any, word: Any, who: Any, *, wrote: bool, strong: bool) -> np.ndarray:
            asked.append((wrote, strong))
            return all_of if cause == f"other block {'writes' if wrote else 'reads'}" else none

    watch = Watch()
    watch.shadow = Shadow()
    copy: Any = SimpleNamespace(owner=np.array([1, 0, 2]), lane=np.arange(3), writes=writes, changes=changes)
    who: Any = SimpleNamespace(row=np.array([1, 1, 1]), thread=np.arange(3))
    found = watch._unordered_with_copy(copy, np.zeros((3, 1), int), who).tolist()
    own, other = [True, False, False], [False, True, True]
    expected = {
        "nothing": [False] * 3, "own read": own if writes else [False] * 3, "own write": own,
        "remote read": [writes] * 3, "remote write": [True] * 3, "conflict": other,
        "other block reads": other if writes else [False] * 3, "other block writes": other,
    }  # fmt: skip
    assert found == expected[cause]
    assert sorted(asked) == sorted((wrote, changes) for wrote in ((True, False) if writes else (True,)))


@pytest.mark.parametrize("writes", [[], [True], [False, True]])
def test_a_block_that_ends_before_its_copies(writes: list[bool]) -> None:
    """Each copy that nobody has waited for is a race, said of the lane that issued it, for each of its lanes."""
    said: list[tuple[Any, ...]] = []

    class Ends(Watch):
        def _fault_of(self, *given: Any) -> Any:
            return given

        def report(self, fault: Any, bad: np.ndarray, *more: Any) -> None:
            said.append((*fault, len(bad)))

    watch = Ends()
    copies = [SimpleNamespace(writes=one, site=f"site {n}", lane=np.array([7 + n, 40]), offset=np.array([64, 80]))
              for n, one in enumerate(writes)]  # fmt: skip
    watch.watched = SimpleNamespace(bulk=SimpleNamespace(unfinished=lambda: copies))
    watch._last = SimpleNamespace(time=np.full(BLOCKS, -1))  # type: ignore[assignment]
    watch.done()
    assert len(said) == len(writes)
    for n, (one, (kind, sentence, of, lane, offset, count)) in enumerate(zip(writes, said, strict=True)):
        assert (kind, of, lane, offset, count) == ("race", f"site {n}", 7 + n, 64, 2)
        assert sentence == (
            f"the block ends while a bulk copy still {'writes' if one else 'reads'} its shared memory. Wait for the "
            "copy before the end (cp.async.bulk.wait_group.read, or the mbarrier that it is bound to)"
        )
