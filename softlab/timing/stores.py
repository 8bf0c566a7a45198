"""Stores that an SM merges before they leave it.

An SM keeps some lines that its warps have begun to store to. A store to one of them joins what is there: its sectors go
to L2 once, and as a whole where several stores together fill them. When a further line is begun, the one that was
stored to longest ago goes. So it was measured: rows ``bandwidth.L2.words.W.of.P.turns.T.warps.N`` of the atlas, where
each lane stores W neighbouring words one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

_SECTOR = 32.0
#: log2 of the sectors of a line.
_LINE = 2


class BegunLines:
    """The lines that an SM has begun to store to, at most ``most`` of them: line -> sector -> bytes stored."""

    def __init__(self, most: int):
        self.most = most
        self._lines: OrderedDict[int, dict[int, float]] = OrderedDict()

    def store(self, sectors: Sequence[int], each: float) -> tuple[int, int, int]:
        """A store of ``each`` bytes to each of the sectors, ascending: how many sectors it begins, in how many lines
        that are not begun yet, and how many sectors it fills that were begun before."""
        begun = lines = filled = 0
        kept, line, last = self._lines, {}, -1
        for sector in sectors:
            if sector >> _LINE != last:
                last = sector >> _LINE
                found = kept.get(last)
                if found is None:
                    lines += 1
                    line = kept[last] = {}
                    if len(kept) > self.most:
                        kept.popitem(last=False)
                else:
                    line = found
                    kept.move_to_end(last)
            before = line.get(sector)
            if before is None:
                begun += 1
                line[sector] = each
            else:
                line[sector] = before + each
                filled += before < _SECTOR <= before + each
        return begun, lines, filled
