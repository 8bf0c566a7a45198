"""How policy "fast" stands in a recording of ``record_fast``: beside a device copy, and beside the best of its peers.

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
class Cell:
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


def cells(recording: Recording, selection: Selection = EVERYTHING) -> tuple[Cell, ...]:
    """The selected problems in which policy "fast" was measured: by table, operator and dtype, then by columns, rows.

    The ceiling is :func:`ladder.ceiling` of the table and dtype; with few rows it is the copy of the very same size.
    """
    return tuple(cell for cell in _every_cell(recording, selection) if "fast" in cell.peers)


def _every_cell(recording: Recording, selection: Selection) -> Iterator[Cell]:
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
                yield Cell(name, op, dtype, rows, cols, peers, own or copied)


def _rows(table: Table) -> Iterator[tuple[str, str, int, int, str, Timing]]:
    names = ("op", "dtype", "cols", "rows", "peer", "microseconds", "gigabytes_per_second", "kernel")
    for op, dtype, cols, rows, peer, *timing in zip(*(table[name].tolist() for name in names if table), strict=True):
        yield op, dtype, cols, rows, peer, Timing(*timing)


@dataclass(frozen=True)
class Summary:
    """The cells of one table, operator and dtype together. The smallest and the median part of a device copy, and
    times the best peer (None where nothing was there to compare with); ahead: in how many of ``compared`` cells policy
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


def summaries(found: Sequence[Cell]) -> tuple[Summary, ...]:
    """One for each table, operator and dtype of the cells, in their order."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in found:
        groups.setdefault((cell.table, cell.op, cell.dtype), []).append(cell)
    return tuple(_summary(of, group) for of, group in groups.items())


def _summary(of: tuple[str, str, str], group: Sequence[Cell]) -> Summary:
    parts = [part for cell in group if (part := cell.of_copy()) is not None]
    times = [part for cell in group if (part := cell.times_best) is not None]
    ahead = sum(part >= 1 for part in times)
    return Summary(*of, len(group), *_least_and_median(parts), *_least_and_median(times), ahead, len(times))


def _least_and_median(values: Sequence[float]) -> tuple[float | None, float | None]:
    return (min(values), statistics.median(values)) if values else (None, None)


@dataclass(frozen=True)
class Change:
    """One problem in two recordings; ``times`` as fast is the new one as the old."""

    old: Cell
    new: Cell
    times: float


def changes(old: Sequence[Cell], new: Sequence[Cell]) -> tuple[Change, ...]:
    """The problems that both have, in the order of ``new``."""
    before = {_problem(cell): cell for cell in old}
    pairs = [(before[_problem(cell)], cell) for cell in new if _problem(cell) in before]
    return tuple(
        Change(was, now, was.peers["fast"].microseconds / now.peers["fast"].microseconds) for was, now in pairs
    )


def _problem(cell: Cell) -> tuple[object, ...]:
    return cell.table, cell.op, cell.dtype, cell.rows, cell.cols


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


#: Place along the axis, part of a device copy, microseconds, what ran.
Point = tuple[int, float, float, str]


def panels(found: Sequence[Cell]) -> tuple[tuple[str, str, str, dict[str, list[Point]]], ...]:
    """What a picture of the cells draws: (title, what the lines are over, the ceiling's name, label -> points
    ascending), one for each table, operator and dtype; over the columns or, with few rows, over the rows, and one for
    each row length.

    Softlab's own lines come first; a device copy, which is 1 everywhere, is left out.
    """
    groups: dict[tuple[str, str, str, int], list[Cell]] = {}
    for cell in found:
        if cell.copied:
            few = cell.cols if cell.table == "few" else 0
            groups.setdefault((cell.table, cell.op, cell.dtype, few), []).append(cell)
    return tuple(
        (
            f"{op}, {dtype}" + (f", rows of {few:,} columns" if few else ""),
            "rows" if few else "columns",
            "sum of two arrays" if table == "gradients" else "device copy",
            _lines(group),
        )
        for (table, op, dtype, few), group in groups.items()
    )


def _lines(group: Sequence[Cell]) -> dict[str, list[Point]]:
    lines: dict[str, list[Point]] = {}
    for peer, label in PEER_LABELS.items():
        for cell in group:
            if peer != "copy" and (timing := cell.peers.get(peer)) is not None:
                at = cell.rows if cell.table == "few" else cell.cols
                part = timing.gb_per_second / cell.copied
                lines.setdefault(label, []).append((at, part, timing.microseconds, timing.kernel or label))
    return lines
