"""Stores that an SM merges before they leave it.

An SM keeps some lines that its warps have begun to store to. A store to one of them joins what is there: its sectors go
to L2 once, and as a whole where several stores together fill them. When a further line is begun, the one that was
stored to longest ago goes. The load and store unit takes the stores of the four schedulers in turn, so that each
scheduler that stores has its part of these lines. So it was measured: rows
``bandwidth.L2.words.W.of.P.turns.T.warps.N`` of the atlas, where each lane stores W neighbouring words one by one. Four
warps merge pieces of 4 lines each, and two warps pieces of 8 lines. Four warps do not merge pieces of 8 lines.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence

_SECTOR = 32.0
#: log2 of the sectors of a line.
_LINE = 2


class BegunLines:
    """The lines that an SM has begun to store to, at most ``most`` of them: line -> sector -> bytes stored."""

    def __init__(self, most: int):
        self.most = most
        self._lines: dict[int, dict[int, float]] = {}
        #: The lines that each scheduler has begun, the one stored to last at the end; and who stored of late.
        self._begun: tuple[OrderedDict[int, None], ...] = tuple(OrderedDict() for _ in range(4))
        self._recent: deque[int] = deque(maxlen=2 * most)

    def store(self, sectors: Sequence[int], each: float, scheduler: int) -> tuple[int, int, int]:
        """A store of ``each`` bytes to each of the sectors, ascending: how many sectors it begins, in how many lines
        that are not begun yet, and how many sectors it fills that were begun before."""
        self._recent.append(scheduler)
        room, own = self.most // len(set(self._recent)), self._begun[scheduler]
        begun = lines = filled = 0
        line: dict[int, float] = {}
        last = -1
        for sector in sectors:
            if sector >> _LINE != last:
                last = sector >> _LINE
                lines += last not in self._lines
                line = self._at(last, own, room)
            before = line.get(sector)
            if before is None:
                begun += 1
                line[sector] = each
            else:
                line[sector] = before + each
                filled += before < _SECTOR <= before + each
        return begun, lines, filled

    def _at(self, number: int, own: OrderedDict[int, None], room: int) -> dict[int, float]:
        """What is stored in a line; begun now, or before by any scheduler."""
        found = self._lines.get(number)
        if found is None:
            found = self._lines[number] = {}
            own[number] = None
            while len(own) > room:
                del self._lines[own.popitem(last=False)[0]]
        elif number in own:
            own.move_to_end(number)
        return found
