"""Dominance and control dependence of a graph of basic blocks: which branch decides whether a block runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class ControlGraph:
    """Dominance and control dependence of a graph of blocks.

    ``follow``: the blocks to which control may go after each block. It starts at block 0; ``len(follow)`` means
    the end. A block depends on a branch if one edge of the branch always leads to it and another may not.
    ``self.follow`` and ``self.before`` are the successors and predecessors of each block.
    J. Ferrante, K. Ottenstein, J. Warren, The program dependence graph and its use in optimization, ACM TOPLAS 9, 1987.
    """

    def __init__(self, follow: Sequence[Sequence[int]]) -> None:
        follow = [*follow, ()]
        self.follow = follow
        before: list[list[int]] = [[] for _ in follow]
        for block, targets in enumerate(follow):
            for target in targets:
                before[target].append(block)
        self.before = before
        self._dominators = _dominators(before, 0)
        after = _dominators(follow, len(follow) - 1)
        self._parents: list[set[int]] = [set() for _ in follow]
        for branch, targets in enumerate(follow):
            for target in targets if len(targets) > 1 else ():
                for block in _members(after[target] & ~(after[branch] & ~(1 << branch))):
                    self._parents[block].add(branch)

    def parents(self, block: int) -> set[int]:
        """The blocks whose branch directly decides whether this block runs."""
        return self._parents[block]

    def all_parents(self, block: int) -> set[int]:
        """The parents, their parents, and so on."""
        found: set[int] = set()
        waiting = [block]
        while waiting:
            new = self._parents[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def dominates(self, block: int, other: int) -> bool:
        """Whether every path to ``other`` passes ``block``."""
        return bool(self._dominators[other] >> block & 1)


def _dominators(before: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block the set, as bits, of blocks that every path from the root to it passes, including itself.

    The set of a block that no path reaches has only the block itself.
    """
    everything = (1 << len(before)) - 1
    found = [everything] * len(before)
    found[root] = 1 << root
    changed = True
    while changed:
        changed = False
        for block, sources in enumerate(before):
            if block == root:
                continue
            common = everything
            for source in sources:
                common &= found[source]
            common |= 1 << block
            if common != found[block]:
                found[block] = common
                changed = True
    return [1 << block if bits == everything else bits for block, bits in enumerate(found)]


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
