"""The ``softlab bench`` command: recorded results, marked as recorded; and how to record one's own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from softlab.bench import claims, recordings
from softlab.bench.cases import DTYPES
from softlab.bench.consequences import copy_gb_per_second

#: Row lengths of the table: one from each stretch that has its own kernel or block size, and the ends.
COLS = (32, 256, 1023, 1024, 4096, 8192, 12_272, 12_274, 16_384, 32_768, 65_536, 262_144)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a recording."""
    parser = argparse.ArgumentParser(
        prog="softlab bench",
        description="Recorded speeds of the planned kernels and their peers, and the claims judged by them.",
        epilog="To record on a GPU of your own: python -m softlab.bench.record_claims OUT.json",
    )
    parser.add_argument("recording", nargs="?", default="claims_h200", help="a name, or the path of a JSON file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(None if arguments is None else list(arguments))
    path = recordings.Path(options.recording)
    recording = recordings.read(path) if path.suffix == ".json" else recordings.load(options.recording)
    judged = claims.judge(recording)
    if options.json:
        record = {
            "recorded": recording.stamp,
            "device_copy_gb_per_second": round(copy_gb_per_second(recording)),
            "speeds": speeds(recording),
            "claims": [{**asdict(claim), "verdict": claim.verdict} for claim in judged],
        }
        print(json.dumps(record, indent=2))
        return 0
    _print(recording, judged)
    return 0


def speeds(recording: recordings.Recording) -> list[dict[str, float | int | str]]:
    """The planned kernel and its peers at ``COLS``, in 10^9 bytes a second."""
    found: list[dict[str, float | int | str]] = []
    for dtype in DTYPES:
        peers = {
            peer: dict(zip(*(a.tolist() for a in claims.peer_speeds(recording, peer, dtype)), strict=True))
            for peer in ("torch", "cudnn")
        }
        for made in claims.planned(recording, dtype):
            if made.cols in COLS:
                row: dict[str, float | int | str] = {"dtype": dtype, "cols": made.cols, "kernel": made.kernel}
                row |= {"block_size": made.block_size, "softlab": round(claims.speed(recording, made))}
                row |= {peer: round(table[made.cols]) for peer, table in peers.items() if made.cols in table}
                found.append(row)
    return found


def _print(recording: recordings.Recording, judged: Sequence[claims.Claim]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=200)
    ceiling = copy_gb_per_second(recording)
    shown = Table(
        title=f"Softmax, GB/s; a device copy has {ceiling:.0f}", title_justify="left", caption=recording.stamp
    )
    rows = speeds(recording)
    for name in rows[0]:
        shown.add_column(name, justify="left" if name in ("dtype", "kernel") else "right")
    for row in rows:
        shown.add_row(*(str(row.get(name, "")) for name in rows[0]))
    console.print(shown)
    for claim in judged:
        console.print(str(claim), markup=False, highlight=False)
    console.print(f"\n{recording.stamp}. {recording.method}", markup=False, highlight=False)
