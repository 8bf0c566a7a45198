"""Votes of a block: the predicates that threads bring to ``bar.red``, and what the barrier makes of them."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.sites import InstructionSite


class BlockVotes:
    """The votes of one batch. A lane arrives with its predicate; the barrier counts; then the lane reads the result.

    The counts are kept per lane: threads of one block may be at several barriers at the same time.
    """

    def __init__(self, blocks: int, threads: int) -> None:
        self._predicate: Value = np.bool_(False)
        self._holding = np.zeros((blocks, threads), np.uint32)
        self._voters = np.zeros((blocks, threads), np.uint32)

    def arrive(self, lanes: Lanes, predicate: Value) -> None:
        """These lanes come to a barrier with this predicate, a value of the set."""
        self._predicate = lanes.put(self._predicate, predicate, False)

    def count(self, voters: np.ndarray) -> None:
        """A barrier releases these lanes, (blocks, threads) bool: count the votes of each block."""
        holding = (voters & self._predicate).sum(axis=1, keepdims=True, dtype=np.uint32)
        np.copyto(self._holding, holding, where=voters)
        np.copyto(self._voters, voters.sum(axis=1, keepdims=True, dtype=np.uint32), where=voters)

    def result(self, lanes: Lanes, site: InstructionSite) -> Value:
        """What ``bar.red`` gives each lane: the number of predicates that hold, or whether all or any of them do."""
        holding = lanes.take(self._holding)
        if site.mode == "popc":
            result = holding.copy()
        else:
            result = holding == lanes.take(self._voters) if site.mode == "and" else holding > 0
        one_per_block = result.ndim == 2 and bool((result == result[:, :1]).all())
        return result[:, :1] if one_per_block else result
