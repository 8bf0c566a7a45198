"""How policy "fast" compares in a recording of ``record.fast``: beside a device copy, and beside the best of its peers.

A peer is every other softmax of the recording, the reference design (``oneflow``) included; a device copy is none.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from softlab.bench import ladder
from softlab.bench.curves import PEER_LABELS
from softlab.bench.recordings import Recording, Table
from softlab.bench.selections import DTYPES, EVERYTHING, OPERATORS, TABLES, Selection

#: No softmax of others: they are what is compared.
_OURS = ("copy", "fast")


@dataclass(frozen=True)
class Timing:
    """One launch of a peer: median microseconds, GB/s (10^9 bytes: each input once in, the result once out), and, of
    softlab's own, the kernel."""

    microseconds: float
    gb_per_second: float
    kernel: str


@dataclass(frozen=True)
class Comparison:
    """One problem of a table of a recording. peers: name -> what was measured; copied: GB/s of the ceiling, 0 if
    unknown."""

    table: str
    op: str
    dtype: str
    rows: int
    cols: int
    peers: dict[str, Timing]
    copied: float

    def of_copy(self, peer: str = "fast") -> float | None:
        """The part of a device copy's speed that a peer has. None where no copy was measured."""
        return self.peers[peer].gb_per_second / self.copied if self.copied else None

    @property
    def best_peer(self) -> str | None:
        """The fastest softmax that is not policy "fast". None where there is no other."""
        others = [name for name in self.peers if name not in _OURS]
        return min(others, key=lambda name: self.peers[name].microseconds, default=None)

    @property
    def times_best(self) -> float | None:
        """How many times as fast as the best peer policy "fast" is. None where there is no other."""
        best = self.best_peer
        return self.peers[best].microseconds / self.peers["fast"].microseconds if best else None


def comparisons(recording: Recording, selection: Selection = EVERYTHING) -> tuple[Comparison, ...]:
    """The selected problems in which policy "fast" was measured: by table, operator and dtype, then by columns, rows.

    The ceiling is :func:`ladder.ceiling` of the table and dtype; with few rows it is the copy of the very same size.
    """
    return tuple(one for one in _every_comparison(recording, selection) if "fast" in one.peers)


def _every_comparison(recording: Recording, selection: Selection) -> Iterator[Comparison]:
    for name in TABLES:
        groups: dict[tuple[str, str], dict[tuple[int, int], dict[str, Timing]]] = {}
        for op, dtype, cols, rows, peer, timing in _rows(recording.tables.get(name, {})):
            if selection.takes(name, op, dtype) and selection.takes_peer(peer):
                groups.setdefault((op, dtype), {}).setdefault((cols, rows), {})[peer] = timing
        for op, dtype in sorted(groups, key=lambda of: (OPERATORS.index(of[0]), DTYPES.index(of[1]))):
            copied = 0.0 if name == "few" else ladder.ceiling(recording, name, dtype)
            for (cols, rows), peers in sorted(groups[op, dtype].items()):
                if selection.cols and cols not in selection.cols:
                    continue
                own = peers["copy"].gb_per_second if name == "few" and "copy" in peers else 0.0
                yield Comparison(name, op, dtype, rows, cols, peers, own or copied)


def _rows(table: Table) -> Iterator[tuple[str, str, int, int, str, Timing]]:
    names = ("op", "dtype", "cols", "rows", "peer", "microseconds", "gigabytes_per_second", "kernel")
    for op, dtype, cols, rows, peer, *timing in zip(*(table[name].tolist() for name in names if table), strict=True):
        yield op, dtype, cols, rows, peer, Timing(*timing)


@dataclass(frozen=True)
class Summary:
    """The problems of one table, operator and dtype together. The least and the median part of a device copy, and times
    the best peer (None where there is nothing to compare with); ahead: in how many of ``compared`` problems policy
    "fast" is at least as fast as the best peer."""

    table: str
    op: str
    dtype: str
    cells: int
    least_of_copy: float | None
    median_of_copy: float | None
    least_times_best: float | None
    median_times_best: float | None
    ahead: int
    compared: int


def summaries(found: Sequence[Comparison]) -> tuple[Summary, ...]:
    """One for each table, operator and dtype of the problems, in their order."""
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for one in found:
        groups.setdefault((one.table, one.op, one.dtype), []).append(one)
    return tuple(_summary(of, group) for of, group in groups.items())


def _summary(of: tuple[str, str, str], group: Sequence[Comparison]) -> Summary:
    parts = [part for one in group if (part := one.of_copy()) is not None]
    times = [part for one in group if (part := one.times_best) is not None]
    ahead = sum(part >= 1 for part in times)
    return Summary(*of, len(group), *_least_and_median(parts), *_least_and_median(times), ahead, len(times))


def _least_and_median(values: Sequence[float]) -> tuple[float | None, float | None]:
    return (min(values), statistics.median(values)) if values else (None, None)


@dataclass(frozen=True)
class Speedup:
    """One problem in two recordings; ``times`` as fast is the new one as the old."""

    old: Comparison
    new: Comparison
    times: float


def speedups(old: Sequence[Comparison], new: Sequence[Comparison]) -> tuple[Speedup, ...]:
    """The problems that both have, in the order of ``new``."""
    before = {_problem(one): one for one in old}
    pairs = [(before[_problem(one)], one) for one in new if _problem(one) in before]
    return tuple(
        Speedup(was, now, was.peers["fast"].microseconds / now.peers["fast"].microseconds) for was, now in pairs
    )


def _problem(one: Comparison) -> tuple[object, ...]:
    return one.table, one.op, one.dtype, one.rows, one.cols


def narrowed(recording: Recording, selection: Selection) -> Recording:
    """The recording with the selected rows alone. Of an operator and dtype that is left all copies are kept, since the
    ceiling is theirs."""
    tables = {}
    for name, table in recording.tables.items():
        wanted = partial(_is_wanted, name, selection)
        columns = (table[field].tolist() for field in ("op", "dtype", "cols", "peer"))
        if any(keep := [wanted(*row) for row in zip(*columns, strict=True)]):
            tables[name] = {field: column[keep] for field, column in table.items()}
    return replace(recording, tables=tables)


def _is_wanted(table: str, selection: Selection, op: str, dtype: str, cols: int, peer: str) -> bool:
    here = not selection.cols or cols in selection.cols or (peer == "copy" and table != "few")
    return here and selection.takes(table, op, dtype) and selection.takes_peer(peer)


#: Position along the axis, part of a device copy, microseconds, what ran.
Point = tuple[int, float, float, str]


def panels(found: Sequence[Comparison]) -> tuple[tuple[str, str, str, dict[str, list[Point]]], ...]:
    """What a picture of the problems draws: (title, what the lines are over, the ceiling's name, label -> points
    ascending), one for each table, operator and dtype; over the columns or, with few rows, over the rows, and one for
    each row length.

    Softlab's own lines come first; a device copy, which is 1 everywhere, is left out.
    """
    groups: dict[tuple[str, str, str, int], list[Comparison]] = {}
    for one in found:
        if one.copied:
            few = one.cols if one.table == "few" else 0
            groups.setdefault((one.table, one.op, one.dtype, few), []).append(one)
    return tuple(
        (
            f"{op}, {dtype}" + (f", rows of {few:,} columns" if few else ""),
            "rows" if few else "columns",
            "sum of two arrays" if table == "gradients" else "device copy",
            _lines(group),
        )
        for (table, op, dtype, few), group in groups.items()
    )


def _lines(group: Sequence[Comparison]) -> dict[str, list[Point]]:
    lines: dict[str, list[Point]] = {}
    for peer, label in PEER_LABELS.items():
        for one in group:
            if peer != "copy" and (timing := one.peers.get(peer)) is not None:
                at = one.rows if one.table == "few" else one.cols
                part = timing.gb_per_second / one.copied
                lines.setdefault(label, []).append((at, part, timing.microseconds, timing.kernel or label))
    return lines
