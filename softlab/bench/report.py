"""A recording of the reference design as ``softlab bench`` shows it: speeds at some row lengths, and the claims."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from softlab.bench import claims
from softlab.bench.cases import DTYPES
from softlab.bench.consequences import copy_gb_per_second
from softlab.bench.recordings import Recording

#: Row lengths of the table: one from each stretch that has its own kernel or block size, and the ends.
COLS = (32, 256, 1023, 1024, 4096, 8192, 12_272, 12_274, 16_384, 32_768, 65_536, 262_144)


def record(recording: Recording) -> dict[str, Any]:
    """Speeds and claims as plain data."""
    return {
        "recorded": recording.stamp,
        "device_copy_gb_per_second": round(copy_gb_per_second(recording)),
        "speeds": speeds(recording),
        "claims": [{**asdict(claim), "verdict": claim.verdict} for claim in claims.judge(recording)],
    }


def speeds(recording: Recording) -> list[dict[str, float | int | str]]:
    """The planned kernel and its peers at ``COLS``, in 10^9 bytes per second."""
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
