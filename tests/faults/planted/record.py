"""The record of a planted fault."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.cuda.compile import Program
from tests.faults.cases import GOOD, Good
from tests.faults.cases_cluster import CLUSTER
from tests.faults.cases_objects import OBJECTS, UNDEFINED

Index = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A fault in a good kernel: one replacement in its source, and where the fault must be found.

    ``kind``: the fault's kind; ``name``: what is wrong, in short; ``kernel``: name of the good kernel, in whose source
    ``old`` becomes ``new``. ``line``: a text that only the line to blame has, in the changed source; ``last_line``: if
    a whole loop is to blame, a text of its last line. ``thread``, ``block``, ``address`` and ``symbol``: what the fault
    must say, None if several answers are right.
    """

    kind: str
    name: str
    kernel: str
    old: str
    new: str
    line: str
    thread: Index | None = None
    block: Index | None = None
    address: int | None = None
    symbol: str | None = None
    last_line: str | None = None

    @property
    def good(self) -> Good:
        """The good kernel."""
        return (GOOD | CLUSTER | OBJECTS | UNDEFINED)[self.kernel]

    @property
    def source(self) -> str:
        """The changed source."""
        source = self.good.source
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {count} times in {self.kernel}, not once")
        return source.replace(self.old, self.new)

    @property
    def lines(self) -> range:
        """The numbers of the lines to blame: one, or those of a loop."""
        return range(self._number(self.line), self._number(self.last_line or self.line) + 1)

    def _number(self, text: str) -> int:
        found = [number for number, line in enumerate(self.source.splitlines(), 1) if text in line]
        if len(found) != 1:
            raise ValueError(f"{self.name}: {text!r} is in the lines {found}, not in one")
        return found[0]

    def compile(self) -> Program:
        """The program with the fault."""
        return self.good.compile(self.source)
