"""A race planted in a good kernel that shares global memory."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.global_case import GlobalCase
from tests.faults.global_cases import GLOBAL_CASES


@dataclass(frozen=True, kw_only=True)
class GlobalRace:
    """A race: ``old`` becomes ``new`` in the source of a good kernel.

    ``line`` and ``other`` are texts of the lines of the two accesses; each text is on one line of the changed source.
    ``symbol`` begins the name of the address that the finding must give. ``grid`` and ``block`` replace those of the
    good kernel where they are given.
    """

    kernel: str
    name: str
    old: str
    new: str
    line: str
    other: str
    symbol: str
    grid: int | None = None
    block: int | None = None

    @property
    def good(self) -> GlobalCase:
        """The good kernel."""
        return GLOBAL_CASES[self.kernel]

    @property
    def source(self) -> str:
        """The changed source."""
        source = self.good.source
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} is {source.count(self.old)} times in {self.kernel}, not once")
        return source.replace(self.old, self.new)

    @property
    def lines(self) -> set[int]:
        """The numbers of the two lines."""
        return {self._number(self.line), self._number(self.other)}

    def _number(self, text: str) -> int:
        found = [number for number, line in enumerate(self.source.splitlines(), 1) if text in line]
        if len(found) != 1:
            raise ValueError(f"{self.name}: {text!r} is in the lines {found}, not in one")
        return found[0]
