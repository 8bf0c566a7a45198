"""The lines that a thread passes from one access of a race to the other, also through two calls of one function."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from softlab.course.code_lines import Code, first_line, last_line


@dataclass(frozen=True)
class Way:
    """words: a clause that names the two accesses; lines: what is passed; calls: whether each has a call of its own."""

    words: str
    lines: frozenset[int]
    calls: bool = False

    @classmethod
    def between(cls, first: int, then: int, code: Code) -> Way | None:
        """None: neither line comes after the other."""
        loop = code.loop(first, then)
        if then > first:
            return cls(f"Line {then} comes after line {first}", frozenset(range(first, then + 1)))
        if loop is None:
            return cls._through_calls(first, then, code) if then < first else None
        lines = frozenset([*range(first, last_line(loop) + 1), *range(first_line(loop), then + 1)])
        if then < first:
            return cls(f"Line {then} in the loop's next round comes after line {first}", lines)
        return cls(f"Line {then} comes round again, and in each round another thread is at the same line", lines)

    @classmethod
    def _through_calls(cls, first: int, then: int, code: Code) -> Way | None:
        """The later line of a function in one call, and the earlier one in the next call."""
        function = code.function(first)
        if function is None or function != code.function(then):
            return None
        name, start, end = function
        within = {*range(first, end + 1), *range(start, then + 1)}
        calls = [line for line, called in code.calls(name) if called.partition("<")[0] == name]
        between = [range(one, other + 1) for one, other in pairwise(sorted(calls))]
        if len(calls) == 1 and (loop := code.loop(calls[0], calls[0])) is not None:
            between = [range(first_line(loop), last_line(loop) + 1)]
        ways = [frozenset(within.union(lines)) for lines in between]
        if not ways:
            return None
        # The fault does not say which two calls meet: those between which nobody waits.
        lines = min(ways, key=lambda way: sum(line in way for line in code.barriers))
        words = f"Line {then} in the next call of {name} comes after line {first} in the call before"
        return cls(words, lines, calls=True)
