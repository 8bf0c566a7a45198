"""A stamp stands for several warps, and the last of them accesses the word again: what it has heard of the first."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import Box
from softlab.instruments.cluster_shadow import ClusterShadow

BLOCKS, THREADS = 3, 96
WORD, FLAG = np.array([[5]]), np.array([[9]])
FIRST, LAST = 3, 40


def shadow(told: bool, heard: bool, synced: bool) -> ClusterShadow:
    """The first thread reads a word and sets a flag, then the last one reads it, and may wait for the flag."""
    made, row = ClusterShadow(4 * 96, BLOCKS, THREADS, 4), np.array([1])
    first, last = np.array([FIRST]), np.array([LAST])
    made.tell_apart()
    made.write(row, WORD, first)
    made.barrier(Box(BLOCKS, THREADS, None, None))
    made.read(row, WORD, first)
    if told:
        made.fence(row, first)
        made.release(row, FLAG, first)
    made.read(row, WORD, last)
    if heard:
        made.acquire(row, FLAG, last)
    if synced:
        made.warp_sync(Box(BLOCKS, THREADS, None, None), np.uint32(0xFFFFFFFF))
    return made


@pytest.mark.parametrize(
    ("told", "heard", "synced", "free"),
    [
        (True, True, False, [LAST]), (True, True, True, [LAST, LAST + 1]), (True, False, False, []),
        (True, False, True, []),
        (False, True, False, []), (False, False, True, []),
    ],
)  # fmt: skip
def test_who_may_write_what_two_warps_have_read(told: bool, heard: bool, synced: bool, free: list[int]) -> None:
    """The last one, once it has heard of the first; with it its warp, if that came together since."""
    made = shadow(told, heard, synced)
    for thread in (FIRST, FIRST + 1, LAST, LAST + 1):
        found = made.read_by_another(np.array([1]), WORD, np.array([thread]))
        assert found.tolist() == [thread not in free], thread
    assert made.read_by_another(np.array([0]), WORD, np.array([LAST])).tolist() == [False], "another block"
