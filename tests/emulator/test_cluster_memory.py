"""Which bytes an address of ``shared::cluster`` means: at the first and the last place that is allowed, and beyond."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Box
from softlab.emulator.memory.clusters import ClusterMemory, mapped_shared
from softlab.emulator.ptx.linker import RANK_SHIFT
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site

LANES = Box(4, 32, None, None)


class Refused(Exception):
    """Stands for the fault that the machine raises."""


class Faults:
    def memory_fault(self, kind: str, *_: Any) -> Exception:
        """The kind alone."""
        return Refused(kind)

    def cluster_fault(self, kind: str, *_: Any) -> Exception:
        """The kind alone."""
        return Refused(kind)


def _memory(nbytes: int, ended: np.ndarray | None = None) -> ClusterMemory:
    host: Any = SimpleNamespace(faults=Faults(), ended_rows=lambda: ended)
    shared: Any = SimpleNamespace(nbytes=nbytes)
    return ClusterMemory(host, shared, 2)


def _site(width: int, offset: int = 0) -> Site:
    return Site(0, Instruction("ld", ("shared::cluster", "u32"), ()), "cluster", np.dtype(f"u{width}"), offset=offset)


def _located(nbytes: int, width: int, address: int, rank: int, offset: int = 0) -> tuple[list[int], int]:
    mapped = mapped_shared(np.full((1, 1), address, np.uint32), np.uint32(rank))
    rows, found = _memory(nbytes).locate(LANES, _site(width, offset), mapped)
    return np.broadcast_to(rows, (4, 1)).reshape(-1).tolist(), int(np.asarray(found).flat[0])


def test_the_block_and_the_offset() -> None:
    assert _located(16, 4, 12, 0) == ([0, 0, 2, 2], 12)
    assert _located(16, 4, 12, 1) == ([1, 1, 3, 3], 12)
    assert _located(16, 4, 12, 1, -8) == ([1, 1, 3, 3], 4)
    assert _located(16, 8, 8, 1) == ([1, 1, 3, 3], 8)
    assert _located(4, 4, 0, 1) == ([1, 1, 3, 3], 0)


@pytest.mark.parametrize(
    ("nbytes", "width", "address", "rank", "kind"),
    [
        (16, 4, 16, 0, "shared-out-of-bounds"),
        (16, 8, 12, 0, "shared-out-of-bounds"),
        (0, 4, 0, 1, "shared-out-of-bounds"),
        (4, 8, 0, 1, "shared-out-of-bounds"),
        (16, 4, 2, 1, "misaligned"),
        (16, 8, 4, 1, "misaligned"),
        (16, 4, 0, 2, "no-block"),
    ],
)
def test_what_is_refused(nbytes: int, width: int, address: int, rank: int, kind: str) -> None:
    with pytest.raises(Refused, match=kind):
        _located(nbytes, width, address, rank)


def test_a_block_that_has_ended_is_no_target() -> None:
    mapped = mapped_shared(np.zeros((1, 1), np.uint32), np.uint32(1))
    first = Box(4, 32, np.array([True, False, False, False]), None)
    with pytest.raises(Refused, match="ended"):
        _memory(16, np.array([False, True, False, False])).locate(first, _site(4), mapped)
    rows, _ = _memory(16, np.array([True, False, True, False])).locate(LANES, _site(4), mapped)
    assert np.broadcast_to(rows, (4, 1)).reshape(-1).tolist() == [1, 1, 3, 3]


@pytest.mark.parametrize(
    ("nbytes", "address", "offset", "expected"),
    [
        (16, 12, 0, 12), (16, 0, 0, 0), (16, 8, -4, 4), (16, 8, 4, 12), (16, 16, 0, -1), (16, 13, 0, -1),
        (16, 2, 0, -1), (16, 1, 0, -1), (16, 9, 0, -1), (16, 11, 0, -1), (16, 9, 3, 12), (0, 0, 0, -1),
        (2, 0, 0, -1), ((1 << RANK_SHIFT) + 3, 4, 0, 4),
        ((1 << RANK_SHIFT) + 4, 4, 0, -1),
    ],
)  # fmt: skip
def test_one_offset_of_all_blocks(nbytes: int, address: int, offset: int, expected: int) -> None:
    assert _memory(nbytes).own_offset(_site(4, offset), np.uint32(address)) == expected
