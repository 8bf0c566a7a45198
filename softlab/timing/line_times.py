"""The time of each line of the source, made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.timing.estimates import LineTime
from softlab.timing.stalls import REASONS


@dataclass(frozen=True, eq=False)
class LineTimes(Mapping[int, LineTime]):
    """Line -> its time.

    ``reasons``, ``instructions`` and ``cycles`` (n,): in which state, and before which instruction, warps were for how
    many cycles. ``waits``: (waiting instruction, the one that it waits for) -> cycles of all these waits. ``lines``: of
    each instruction. ``total``: the sum of all cycles. ``warps``: how many warps they are of.
    """

    reasons: np.ndarray
    instructions: np.ndarray
    cycles: np.ndarray
    waits: Mapping[tuple[int, int], float]
    lines: tuple[int, ...]
    total: float
    warps: float

    def __getitem__(self, line: int) -> LineTime:
        return self._found[line]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @cached_property
    def _found(self) -> dict[int, LineTime]:
        """In the order in which the lines come first."""
        own = np.array(self.lines, np.int64)[self.instructions]
        names, first, line = np.unique(own, return_index=True, return_inverse=True)
        # Sums in the order of the entries.
        sums = np.bincount(line * len(REASONS) + self.reasons, self.cycles, len(names) * len(REASONS))
        values = sums.reshape(-1, len(REASONS)).tolist()
        behind: dict[int, dict[int, float]] = {}
        for (waiting, setter), value in self.waits.items():
            found = behind.setdefault(self.lines[waiting], {})
            found[self.lines[setter]] = found.get(self.lines[setter], 0.0) + value
        lines = [(name, values[k]) for k, name in enumerate(names.tolist())]
        return {name: self._line(name, own, behind.get(name, {})) for name, own in (lines[k] for k in first.argsort())}

    def _line(self, line: int, values: list[float], behind: Mapping[int, float]) -> LineTime:
        worst = max(range(1, len(REASONS)), key=values.__getitem__)
        reason = REASONS[worst] if values[worst] else ""
        waits = reason in ("long_scoreboard", "short_scoreboard") and behind
        states = {name: value / self.warps for name, value in zip(REASONS, values, strict=True) if value}
        setter = max(behind, key=behind.__getitem__) if waits else None
        return LineTime(line, sum(values) / self.warps, sum(values) / self.total, reason, setter, states)
