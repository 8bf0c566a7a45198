"""What observers are asked and told of a loop that runs as one function (:mod:`softlab.emulator.machine.regions`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.emulator.ptx.blocks import Block
from softlab.emulator.sites import Site


@dataclass(frozen=True)
class LoopCode:
    """A loop that can run as one function.

    ``blocks``: its basic blocks; ``loads``: the sites of its loads of global or constant memory; ``load_indices``: the
    indices of these instructions, (loads,).
    """

    blocks: Sequence[Block]
    loads: Sequence[Site]
    load_indices: np.ndarray

    @cached_property
    def block_set(self) -> frozenset[int]:
        """The indices of the blocks."""
        return frozenset(block.index for block in self.blocks)

    @cached_property
    def instructions(self) -> frozenset[int]:
        """The indices of all instructions."""
        return frozenset(index for block in self.blocks for index in range(block.start, block.stop))

    @cached_property
    def variable_loads(self) -> frozenset[int]:
        """The indices of the loads of what is not constant."""
        return frozenset(site.index for site in self.loads if site.space != "const")


@dataclass(frozen=True)
class LoopRun:
    """What lanes did in a loop that ran as one function.

    ``warps``: how many warps ran each block, in all steps. ``edges``: (block, target) -> how many warps had lanes that
    went that way. ``requests`` and ``sectors``: the figures of its loads. ``accesses``: how many loads were told of,
    each time that one ran. ``rows``: those that are recorded, (n, 36): number of the access in this run, number of the
    load, warp of the batch, mask of its lanes and the address of each.
    """

    code: LoopCode
    warps: np.ndarray
    edges: Mapping[tuple[int, int], int]
    requests: np.ndarray
    sectors: np.ndarray
    accesses: int
    rows: np.ndarray


@dataclass(frozen=True)
class WantedRows:
    """``blocks``: which rows of the batch are recorded, (blocks,) bool; ``most``: how many rows of the log."""

    blocks: np.ndarray
    most: int
