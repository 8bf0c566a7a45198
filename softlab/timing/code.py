"""The instruction caches of one SM.

A launch finds the code of the launch before, which was the same kernel, in the first cache if it fits there, and else
in the second one: "cold" means an L2 that holds nothing of the launch, not a kernel that never ran. So it was measured:
rows ``icache.again.N`` of the atlas, with a flush of L2 and without. What the caches hold follows from the rows
``icache.loop.N``: a loop has another time per instruction beyond 32 KiB, and beyond 128 KiB. Of the launch before the
second cache still has some code even if it does not hold all of it (``Parameters.icache_again``). The other lines come
from L2, or once each from DRAM where L2 is cold.
"""

from __future__ import annotations

from collections import OrderedDict

from softlab.timing.parameters import Parameters, interpolated

PER_LINE = 3  # log2 of the instructions in a line
_LINE = 128


class CodeCaches:
    """Which lines of code are there: ``lines`` are those that a warp executes."""

    def __init__(self, parameters: Parameters, lines: int, cold: float = 0.0):
        """``cold``: cycles by which a line behind another one comes later from DRAM."""
        self.first: OrderedDict[int, float] = OrderedDict()
        self.first_lines = parameters.icache_bytes // _LINE
        self.kept = lines <= self.first_lines
        #: Whether the second cache holds all lines, and how many of the launch before are still in it.
        self.second = lines * _LINE <= parameters.icache_second_bytes
        self.again = interpolated(parameters.icache_again, lines * _LINE) / _LINE
        #: Cycles of a line behind another one, and of one after a jump: from the second cache, from L2, and from DRAM
        #: more than from L2.
        self.near = parameters.icache_line, parameters.icache_miss
        self.far = parameters.icache_line_l2, parameters.icache_miss + parameters.l2_latency
        self.later = (cold, parameters.dram_latency - parameters.l2_latency) if cold else (0.0, 0.0)
        self.brought: set[int] = set()
        #: When the last line has come from the second cache, which gives one line per ``passing`` cycles.
        self.free, self.passing = 0.0, parameters.icache_line

    def fetch(self, line: int, now: float) -> float:
        """When a line is in the first cache, for a warp that comes to it now.

        The line behind one that is there is on its way already, since that one came: warps that are at different places
        of the code have their lines each. So is the first line of the kernel: an empty kernel, whose time is in
        ``launch_microseconds``, fetches that, too.
        """
        if self.kept:
            return now
        there = self.first.get(line)
        if there is not None:
            self.first.move_to_end(line)
            return there
        before = self.first.get(line - 1)
        jumped = before is None
        first = line not in self.brought
        self.brought.add(line)
        if len(self.brought) <= self.again if first else self.second:
            cycles = self.near[jumped]
        else:
            cycles = self.far[jumped] + (self.later[jumped] if first else 0.0)
        arrived = (now if before is None else before) + cycles
        if line:
            self.free = arrived = max(arrived, self.free + self.passing)
        there = max(now, arrived) if line else now
        self.first[line] = there
        if len(self.first) > self.first_lines:
            self.first.popitem(last=False)
        return there
