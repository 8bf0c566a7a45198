"""The claims ledger's last column: does the timing model see what the recording shows?

    python -m softlab.bench.claims_seen        estimate the launches again (some minutes, no GPU)

Each claim is split into cases of two launches: the ratio of their times is at least the claimed one, or one reads less
from DRAM. The recording says for each case whether that is true, and so does the model. It sees a claim as far as the
two agree, whether the claim holds or not. The estimates are a table, as in :mod:`softlab.bench.estimated`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.bench import claims, estimated, recordings
from softlab.bench.cases import DTYPES, ITEM_BYTES
from softlab.bench.recordings import Recording, select
from softlab.operators import estimate
from softlab.plans import Plan, forced

FILE = estimated.FILE.with_name("claims_h200.json")
KEY = ("kernel", "block_size", "pack_size", "layout", "dtype")
#: A claim that is seen in at least this share of its cases is seen.
MOST = 0.9


@dataclass(frozen=True)
class Case:
    """Is ``mine`` at least ``times`` as fast as ``other`` (None: as a device copy)? ``traffic``: instead, does
    it read at most ``times`` as many bytes from DRAM?"""

    claim: int
    mine: Plan
    other: Plan | None
    times: float
    traffic: bool = False


@dataclass(frozen=True)
class Seen:
    """In how many of the ``cases`` of a claim the model and the recording ``agree``."""

    claim: int
    agree: int
    cases: int

    def __str__(self) -> str:
        if not self.cases:
            return "-"
        word = "yes" if self.agree >= MOST * self.cases else "in part" if 2 * self.agree > self.cases else "no"
        return f"{word}, {self.agree} of {self.cases} cases"


def cases(recording: Recording) -> Iterator[Case]:
    """The cases of all claims, at a few of the recorded row lengths."""
    for dtype in DTYPES:
        plans = {made.cols: made for made in claims.planned(recording, dtype)}
        for cols in (256, 1022, 4096, 8192, 12_272, 65_536):
            yield Case(1, plans[cols], None, claims.CLOSE)
        for cols in (1024, 4096, 12_272):
            made = {
                layout: forced(
                    plans[cols].rows, cols, dtype, kernel="block_smem", layout=layout, device=estimated.DEVICE
                )
                for layout in ("column", "row", "row_scalar")
            }
            yield from (Case(2, made["column"], made[name], 1 + claims.AT_LEAST) for name in ("row", "row_scalar"))
        for cols in (16_384, 65_536):
            sizes = {p.block_size: p for p in claims.alternatives(plans[cols], "block_uncached")}
            yield Case(3, sizes[1024], sizes[128], 1 - claims.NOISE, traffic=True)
        for cols in (32, 256, 1022):
            for other in claims.alternatives(plans[cols], "block_smem"):
                yield Case(4, plans[cols], other, 1 + claims.NOISE)
        for cols in (2048, 8192):
            for other in claims.alternatives(plans[cols], "block_smem"):
                if other.block_size != plans[cols].block_size:
                    yield Case(5, plans[cols], other, 1 - claims.NOISE)
        for cols in (512, 2048, 8192):
            one, two = (_packed(plans[cols], pack) for pack in (1, 2))
            yield Case(6, two, one, 1 + claims.NOISE)


def _packed(made: Plan, pack: int) -> Plan:
    """The planned launch with another pack."""
    choices: dict[str, Any] = {"kernel": made.kernel, "pack_size": pack}
    if made.kernel != "warp":
        choices |= {"block_size": made.block_size}
    return forced(made.rows, made.cols, made.dtype, device=estimated.DEVICE, **choices)


def seen(recording: Recording) -> tuple[Seen, ...]:
    """For each claim, how far the model sees it."""
    agree: dict[int, list[bool]] = {}
    for case in cases(recording):
        agree.setdefault(case.claim, []).append(_true(case, recording) == _predicted(case))
    return tuple(Seen(claim, sum(found), len(found)) for claim, found in sorted(agree.items()))


def _true(case: Case, recording: Recording) -> bool:
    if case.traffic:
        reads = claims.rereads(recording)
        mine, other = (
            float(select(reads, dtype=p.dtype, cols=p.cols, block_size=p.block_size)["dram"][0])
            for p in (case.mine, case.other)
            if p
        )
        return mine <= case.times * other
    other = claims.speed(recording, case.other) if case.other else claims.copy_gb_per_second(recording)
    return claims.speed(recording, case.mine) >= case.times * other


def _predicted(case: Case) -> bool:
    if case.traffic and case.other:
        return _read_bytes(case.mine) <= case.times * _read_bytes(case.other)
    other = _speed(case.other) if case.other else float(estimated.copies(16)[1].max())
    return _speed(case.mine) >= case.times * other


def _size(made: Plan) -> int:
    return made.rows * made.cols * ITEM_BYTES[made.dtype]


def _speed(made: Plan) -> float:
    return 2 * _size(made) / float(_row(made)["microseconds"][0]) / 1e3


def _read_bytes(made: Plan) -> float:
    """Bytes from DRAM without those that are written: the result, once."""
    return float(_row(made)["dram_bytes"][0]) - _size(made)


def _row(made: Plan) -> recordings.Table:
    return select(
        table().tables["claims"], kernel=made.kernel, block_size=made.block_size, pack_size=made.pack_size,
        layout=made.layout or "", dtype=made.dtype, cols=made.cols,
    )  # fmt: skip


@lru_cache(maxsize=1)
def table() -> Recording:
    """The estimates of all cases."""
    return recordings.read(FILE)


def estimate_all(recording: Recording) -> Recording:
    """The table of all launches of the cases."""
    plans = {p: None for case in cases(recording) for p in (case.mine, case.other) if p}
    rows: list[dict[str, Any]] = []
    for made in plans:
        key = (made.kernel, made.block_size, made.pack_size, made.layout or "", made.dtype)
        found = estimate(made, device=estimated.DEVICE)
        figures = {"microseconds": _short(found.microseconds), "dram_bytes": _short(found.dram_bytes)}
        rows.append({**dict(zip(KEY, key, strict=True)), "cols": made.cols, "rows": made.rows, **figures})
    unique = {tuple(row.values()): row for row in rows}
    about = "Estimates of the launches of the claims ledger."
    return estimated.described(
        FILE.stem, about, "python -m softlab.bench.claims_seen", {"claims": list(unique.values())}
    )


def _short(value: float) -> float:
    return float(np.format_float_positional(value, precision=4, fractional=False))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", default=FILE, help="the file to write (default: the shipped one)")
    given = parser.parse_args(arguments)
    given.out.parent.mkdir(exist_ok=True)
    recording = recordings.load()
    recordings.write(given.out, estimate_all(recording), {"claims": KEY})
    for found in seen(recording):
        print(f"{found.claim}. {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
