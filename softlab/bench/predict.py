"""The timing model beside recorded softmax timings of an H200: ``python -m softlab.bench.predict [--every N]``.

No figure of the model was fitted to these recordings. Each cell is a plan of today's softlab; a cell whose kernel has
changed since the recording is left out, and counted. In the recordings each launch works on other memory than the last,
so that L2 is cold; the input does not matter, and is zeros here.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.bench.recordings import load, select
from softlab.dtypes import ELEMENT_TYPES
from softlab.errors import Error
from softlab.operators import estimate
from softlab.plans import Plan, forced, plan

#: Launches of one replay where rows are few, each on other memory, and bytes that L2 holds for certain.
_LAUNCHES, _FITS = 48, 30 << 20


@dataclass(frozen=True)
class RecordedCell:
    """One recorded timing: its ``group`` in the report, its plan, ``microseconds`` as measured, and whether the buffers
    of all launches of a replay fit in L2 together ("warm") or are far larger ("cold").
    """

    group: str
    plan: Plan
    microseconds: float
    cache: str = "cold"


@dataclass(frozen=True)
class Prediction:
    """A cell beside its estimate in microseconds; ``bound`` by the estimate."""

    cell: RecordedCell
    microseconds: float
    bound: str

    @property
    def error(self) -> float:
        """Relative: -0.1 is a tenth too short."""
        return self.microseconds / self.cell.microseconds - 1


def cells(
    left_out: Counter[str] | None = None, wanted: Callable[[str, str, str, int], bool] = lambda *_: True
) -> Iterator[RecordedCell]:
    """The recorded softmax cells of both policies, and of the claims' forced kernels.

    ``wanted(group, op, dtype, cols)`` says which ones. No others are planned: a plan may have to compile its kernel.
    """
    out = Counter() if left_out is None else left_out
    yield from _of_policies(out, wanted)
    claimed = select(load("claims_h200").tables["timings"], kernel=["warp", "block_smem", "block_uncached"])
    for kernel, size, pack, layout, dtype, cols, count, took in _rows(
        claimed,
        *("kernel", "block_size", "pack_size", "layout", "dtype", "cols", "rows", "microseconds"),
    ):
        if not wanted("claims", "softmax", dtype, cols):
            continue
        choices = {"kernel": kernel, "pack_size": pack}
        choices |= {"block_size": size} if kernel != "warp" else {}
        choices |= {"layout": layout} if layout else {}
        yield RecordedCell("claims", forced(count, cols, dtype, device="H200", **choices), took)


def _of_policies(out: Counter[str], wanted: Callable[[str, str, str, int], bool]) -> Iterator[RecordedCell]:
    recording = load("fast_h200")
    for table in ("forward", "gradients", "few"):
        rows = select(recording.tables[table], peer=["fast", "oneflow"])
        for op, dtype, peer, kernel, cols, count, took in _rows(
            rows, "op", "dtype", "peer", "kernel", "cols", "rows", "microseconds"
        ):
            if not wanted(f"{peer} {table}", op, dtype, cols):
                continue
            made = plan(count, cols, dtype, op=op, policy=peer, device="H200")
            size = _LAUNCHES * 2 * count * cols * ELEMENT_TYPES[dtype].itemsize
            if made.kernel != kernel:
                out[f"{peer} {table}: the plan has another kernel now"] += 1
            elif table == "few" and _FITS < size < 4 * _FITS:
                out[f"{peer} {table}: the buffers of a replay fit in L2 in part"] += 1
            else:
                warm = table == "few" and size <= _FITS
                yield RecordedCell(f"{peer} {table}", made, took, "warm" if warm else "cold")


def _rows(table: dict[str, np.ndarray], *names: str) -> Iterator[tuple]:
    yield from zip(*(table[name].tolist() for name in names), strict=True)


def predictions(chosen: Sequence[RecordedCell], left_out: Counter[str]) -> Iterator[Prediction]:
    """The estimates of cells; those that the model refuses are counted with its words."""
    for cell in chosen:
        try:
            found = estimate(cell.plan, device="H200", cache=cell.cache)
        except Error as error:
            left_out[f"{cell.group}: {str(error)[:100]}"] += 1
            continue
        yield Prediction(cell, found.microseconds, found.bound)


def _summary(name: str, found: Sequence[Prediction]) -> str:
    errors = np.array([abs(one.error) for one in found])
    bias = np.median([one.error for one in found])
    return (
        f"{name:<18} {len(found):4} cells  median {np.median(errors):6.1%}  p90 {np.quantile(errors, 0.9):6.1%}  "
        f"bias {bias:+6.1%}"
    )


def main() -> None:
    """Print the errors by group, and the worst cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every N-th cell alone")
    parser.add_argument("--verbose", action="store_true", help="a line per cell")
    options = parser.parse_args()
    left_out: Counter[str] = Counter()
    found: list[Prediction] = []
    for one in predictions(list(cells(left_out))[:: options.every], left_out):
        found.append(one)
        if options.verbose:
            print(_line(one), flush=True)
    for group in dict.fromkeys(one.cell.group for one in found):
        print(_summary(group, [one for one in found if one.cell.group == group]))
    print(_summary("all", found))
    for why, count in left_out.items():
        print(f"left out, {count} cells: {why}")
    print("worst:")
    for one in sorted(found, key=lambda one: -abs(one.error))[:15]:
        print(_line(one))


def _line(one: Prediction) -> str:
    p = one.cell.plan
    return (
        f"  {one.error:+6.1%}  {one.microseconds:9.2f} {one.cell.microseconds:9.2f} us  {one.cell.group}, {p.op} "
        f"{p.kernel} {p.dtype} {p.rows} x {p.cols}, {p.grid} blocks of {p.block_size}, pack {p.pack_size}; {one.bound}"
    )


if __name__ == "__main__":
    main()
