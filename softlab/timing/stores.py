"""Stores that an SM merges before they leave it.

An SM keeps some lines that its warps have begun to store to. A further store of the same warp to one of them joins what
is there: its sectors go to L2 once, and as a whole where several stores together fill them. When a further line is
begun, the one that was stored to longest ago goes. The load and store unit takes the stores of the four schedulers in
turn, so that each scheduler that stores has its part of these lines. So it was measured: rows
``bandwidth.L2.words.W.of.P.turns.T.warps.N`` of the atlas, where each lane stores W neighbouring words one by one. Four
warps merge pieces of 4 lines each, and two warps pieces of 8 lines. Four warps do not merge pieces of 8 lines.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence

_SECTOR = 32.0
#: log2 of the sectors of a line.
_LINE = 2
#: A warp, and the number of a line.
Begun = tuple[int, int]


class BegunLines:
    """The lines that the warps of an SM have begun to store to, at most ``most`` of them."""

    def __init__(self, most: int):
        self.most = most
        #: Of each scheduler the lines, the one stored to last at the end: sector -> bytes stored.
        self._begun: tuple[OrderedDict[Begun, dict[int, float]], ...] = tuple(OrderedDict() for _ in range(4))
        #: The schedulers that stored last.
        self._recent: deque[int] = deque(maxlen=2 * most)

    def store(self, sectors: Sequence[int], each: float, warp: int, scheduler: int) -> tuple[int, int, int]:
        """A store of a warp, ``each`` bytes to each of the sectors, which are ascending.

        Returns how many sectors it begins, in how many lines that are not begun yet, and how many sectors it fills that
        were begun before.
        """
        self._recent.append(scheduler)
        room, kept = self.most // len(set(self._recent)), self._begun[scheduler]
        while len(kept) > room:
            kept.popitem(last=False)
        begun = lines = filled = 0
        line: dict[int, float] = {}
        last = -1
        for sector in sectors:
            if sector >> _LINE != last:
                last = sector >> _LINE
                found = kept.get((warp, last))
                if found is None:
                    lines += 1
                    line = kept[warp, last] = {}
                    if len(kept) > room:
                        kept.popitem(last=False)
                else:
                    line = found
                    kept.move_to_end((warp, last))
            before = line.get(sector)
            if before is None:
                begun += 1
                line[sector] = each
            else:
                line[sector] = before + each
                filled += before < _SECTOR <= before + each
        return begun, lines, filled
