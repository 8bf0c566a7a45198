"""The instruction caches of one SM.

A launch finds the code of the launch before, which was the same kernel, in the first cache if it fits there, and else
in the second one: "cold" means an L2 that holds nothing of the launch, not a kernel that never ran. So it was measured:
rows ``icache.again.N`` of the atlas, with a flush of L2 and without. What the caches hold follows from the rows
``icache.loop.N``: a loop has another time per instruction beyond 32 KiB, and beyond 128 KiB. Of the launch before the
second cache still has some code even if it does not hold all of it (``Parameters.icache_again``). The other lines come
from L2, or once each from DRAM where L2 is cold.

What the caches hold lies in two tables of :class:`softlab.timing.state.State`, where :func:`fetch` reads and changes
it. The loop over the instructions calls that, so it is written for :mod:`softlab.emulator.machine.native_python`.
"""

from __future__ import annotations

from softlab.emulator.machine.native_python import Floats, Int64s, out_of_line
from softlab.timing.parameters import Parameters, interpolated

PER_LINE = 3  # log2 of the instructions in a line
_LINE = 128

# The table of whole numbers: lines that the first cache holds at most, and now; the one that was used first and last of
# these (line + 1; 0: none); lines that have been brought; whether the second cache holds all. Behind them lie three
# numbers per line: whether it has been brought, and the lines that were used before it and after it.
_ROOM, _HELD, _OLDEST, _NEWEST, _BROUGHT, _SECOND, LINE_NUMBERS = range(7)
PER_LINE_NUMBERS = 3
# The table of floats: lines of the launch before that are in the second cache; cycles of a line behind another one, and
# of one after a jump: from the second cache, from L2, and from DRAM more than from L2; cycles from one line to the next
# that the second cache gives, when the last one has come, and the answer. Behind them: when each line came, or
# ``_ABSENT``.
_AGAIN, _NEAR, _FAR, _LATER, _PASSING, _LAST, THERE, LINE_TIMES = 0, 1, 3, 5, 7, 8, 9, 10
_ABSENT = -1.0


class CodeCaches:
    """Which lines of code are there: ``lines`` are those that a warp executes."""

    def __init__(self, parameters: Parameters, lines: int, cold: float = 0.0):
        """``cold``: cycles by which a line behind another one comes later from DRAM."""
        first_lines = parameters.icache_bytes // _LINE
        #: Whether the first cache holds all lines.
        self.kept = lines <= first_lines
        self._whole = [first_lines, 0, 0, 0, 0, lines * _LINE <= parameters.icache_second_bytes]
        later = (cold, parameters.dram_latency - parameters.l2_latency) if cold else (0.0, 0.0)
        self._real = [
            interpolated(parameters.icache_again, lines * _LINE) / _LINE,
            *(parameters.icache_line, parameters.icache_miss),
            *(parameters.icache_line_l2, parameters.icache_miss + parameters.l2_latency),
            *later,
            *(parameters.icache_line, 0.0, 0.0),
        ]

    def tables(self, lines: int) -> tuple[list[int], list[float]]:
        """The two tables before the first line is fetched. lines: of the whole kernel."""
        return [*self._whole, *[0] * PER_LINE_NUMBERS * lines], [*self._real, *[_ABSENT] * lines]


@out_of_line
def fetch(ints: Int64s, floats: Floats, whole: int, real: int, line: int, now: float) -> int:
    """Put into ``floats[real + THERE]`` when a line is in the first cache, for a warp that comes to it now.

    The line behind one that is there is on its way already, since that one came: warps that are at different places
    of the code have their lines each. So is the first line of the kernel: an empty kernel, whose time is in
    ``launch_microseconds``, fetches that, too.

    Arguments:
        whole, real: where the tables begin.
    """
    own, at = whole + LINE_NUMBERS + PER_LINE_NUMBERS * line, real + LINE_TIMES + line
    there = floats[at]
    if there >= 0:
        _take_out(ints, whole, line)
        _move_last(ints, whole, line)
        floats[real + THERE] = there
        return 0
    jumped, arrived = 1, now
    if line > 0 and floats[at - 1] >= 0:
        jumped, arrived = 0, floats[at - 1]
    first, near = ints[own] == 0, ints[whole + _SECOND]
    if first:
        ints[own] = 1
        ints[whole + _BROUGHT] += 1
        near = ints[whole + _BROUGHT] <= floats[real + _AGAIN]
    cycles = floats[real + (_NEAR if near else _FAR) + jumped]
    if first and near == 0:
        cycles += floats[real + _LATER + jumped]
    arrived += cycles
    there = now
    if line > 0:
        arrived = max(arrived, floats[real + _LAST] + floats[real + _PASSING])
        floats[real + _LAST] = arrived
        there = max(now, arrived)
    floats[at] = there
    floats[real + THERE] = there
    _move_last(ints, whole, line)
    _make_room(ints, floats, whole, real)
    return 0


def _make_room(ints: Int64s, floats: Floats, whole: int, real: int) -> int:
    """One line more: where there is no room for it, the one that was used first goes."""
    if ints[whole + _HELD] < ints[whole + _ROOM]:
        ints[whole + _HELD] += 1
    else:
        oldest = ints[whole + _OLDEST] - 1
        _take_out(ints, whole, oldest)
        floats[real + LINE_TIMES + oldest] = _ABSENT
    return 0


def _move_last(ints: Int64s, whole: int, line: int) -> int:
    """A line is the one that was used last."""
    last, own = ints[whole + _NEWEST], whole + LINE_NUMBERS + PER_LINE_NUMBERS * line
    ints[own + 1] = last
    ints[own + 2] = 0
    if last > 0:
        ints[whole + LINE_NUMBERS + PER_LINE_NUMBERS * (last - 1) + 2] = line + 1
    else:
        ints[whole + _OLDEST] = line + 1
    ints[whole + _NEWEST] = line + 1
    return 0


def _take_out(ints: Int64s, whole: int, line: int) -> int:
    """A line has no place any more among those that were used."""
    own = whole + LINE_NUMBERS + PER_LINE_NUMBERS * line
    before, after = ints[own + 1], ints[own + 2]
    if before > 0:
        ints[whole + LINE_NUMBERS + PER_LINE_NUMBERS * (before - 1) + 2] = after
    else:
        ints[whole + _OLDEST] = after
    if after > 0:
        ints[whole + LINE_NUMBERS + PER_LINE_NUMBERS * (after - 1) + 1] = before
    else:
        ints[whole + _NEWEST] = before
    return 0
