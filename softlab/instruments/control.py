"""Which branch decides about which block: dominance and control dependence of a graph of basic blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class ControlGraph:
    """Dominance and control dependence of a graph of blocks.

    ``follow`` are the blocks that control may go to after each block; it begins at block 0, and ``len(follow)`` stands
    for the end. A block depends on a branch when one way out of the branch always leads to it and another may not.
    ``self.follow`` and ``self.before`` are the blocks after and before each.
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
        """The blocks whose branch decides directly whether this one runs."""
        return self._parents[block]

    def all_parents(self, block: int) -> set[int]:
        """Those, and those that decide whether they run, and so on."""
        found: set[int] = set()
        waiting = [block]
        while waiting:
            new = self._parents[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def dominates(self, block: int, other: int) -> bool:
        """Whether every way to ``other`` leads through ``block``."""
        return bool(self._dominators[other] >> block & 1)


def _dominators(before: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block the set, as bits, of blocks that every way from the root to it passes, itself among them.

    A block that no way leads to has itself alone.
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
