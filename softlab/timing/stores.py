"""Stores that an SM merges before they leave it.

An SM keeps some lines that its warps have begun to store to. A further store of the same warp to one of them joins what
is there: its sectors go to L2 once, and as a whole where several stores together fill them. When a further line is
begun, the one that was stored to longest ago goes. The load and store unit takes the stores of schedulers that wait for
it in turn. So a scheduler whose store waits has its part of these lines: as many as schedulers had a store taken since
it was issued share them. One that finds the unit idle has all. So it was measured: rows
``bandwidth.L2.words.W.of.P.turns.T.warps.N`` of the atlas, where each lane stores W neighbouring words one by one. Four
warps merge pieces of 4 lines each, and two warps pieces of 8 lines. Four warps do not merge pieces of 8 lines. These
rows are about stores without an end. That warps which come one after the other merge more lines each follows from
this, and was not measured by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

_SECTOR = 32.0
#: log2 of the sectors of a line.
_LINE = 2
#: A scheduler, its warp, and the number of a line.
Begun = tuple[int, int, int]


class BegunLines:
    """The lines that the warps of an SM have begun to store to, at most ``most`` of them."""

    def __init__(self, most: int):
        self.most = most
        #: The lines, the one stored to last at the end: sector -> bytes stored.
        self._begun: OrderedDict[Begun, dict[int, float]] = OrderedDict()
        #: Of each scheduler how many lines it has begun, and when its last store was taken.
        self._lines = [0] * 4
        self._taken = [-1.0] * 4

    def store(
        self, sectors: Sequence[int], each: float, warp: int, scheduler: int, issued: float, taken: float
    ) -> tuple[int, int, int]:
        """A store of a warp, ``each`` bytes to each of the sectors, which are ascending.

        Arguments:
            issued, taken: when the warp issued it, and when the load and store unit has taken it.

        Returns how many sectors it begins, in how many lines that are not begun yet, and how many sectors it fills that
        were begun before.
        """
        self._taken[scheduler] = taken
        room, kept = self.most // sum(at > issued for at in self._taken), self._begun
        begun = lines = filled = 0
        line: dict[int, float] = {}
        last = -1
        for sector in sectors:
            if sector >> _LINE != last:
                last = sector >> _LINE
                found = kept.get((scheduler, warp, last))
                if found is None:
                    lines += 1
                    self._make_room(scheduler, room)
                    line = kept[scheduler, warp, last] = {}
                    self._lines[scheduler] += 1
                else:
                    line = found
                    kept.move_to_end((scheduler, warp, last))
            before = line.get(sector)
            if before is None:
                begun += 1
                line[sector] = each
            else:
                line[sector] = before + each
                filled += before < _SECTOR <= before + each
        return begun, lines, filled

    def _make_room(self, scheduler: int, room: int) -> None:
        """Lines go until there is a place for one more of a scheduler that has places for ``room`` of them."""
        kept, lines = self._begun, self._lines
        while lines[scheduler] >= room:
            gone = next(line for line in kept if line[0] == scheduler)
            del kept[gone]
            lines[scheduler] -= 1
        if len(kept) >= self.most:
            gone, _ = kept.popitem(last=False)
            lines[gone[0]] -= 1
