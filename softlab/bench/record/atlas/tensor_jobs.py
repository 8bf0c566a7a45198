"""What is measured of matrix instructions: products, loads and stores of matrices in shared memory, and transposes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from softlab.bench.record.atlas.memory_steps import SHARED_WORDS
from softlab.bench.record.atlas.records import Job, Source
from softlab.bench.record.atlas.templates import chain, stream
from softlab.bench.record.atlas.tensor_steps import (
    AMONG,
    MATRIX_LOADS,
    MATRIX_STORES,
    MOVED,
    OTHERS,
    PAIRS,
    PRODUCTS,
    STALLS,
    STORED_AND_LOADED,
    UNKEPT,
    WORKED_ON,
    worked_on,
)

_WARPS = (1, 2, 4, 8, 16)
#: Rows of a matrix that share their banks, and bytes from row to row.
_CONFLICTS = {1: 16, 2: 32, 4: 64, 8: 128}
_SMEM = 4 * SHARED_WORDS
_MOVE = "MOVM.16.MT88"


def tensor_sources() -> dict[str, Source]:
    """Name -> kernel."""
    found: dict[str, Source] = {}
    for name, entry in PRODUCTS.items():
        kind, wanted = entry.chain.kind, (entry.wanted,)
        found[f"chain.{name}"] = Source(chain(entry.chain), "k", "chain", wanted, kind=kind, operand=kind)
        if entry.operand:
            found[f"chain.{name}.operand"] = Source(chain(entry.operand), "k", "chain", wanted, kind=kind, operand=kind)
        text = stream(entry.chain, entry.streams)
        found[f"stream.{name}"] = Source(text, "k", "stream", wanted, kind=kind, operand=kind)
        if other := PAIRS.get(name):
            text = stream(entry.chain, entry.streams, PRODUCTS[other].chain)
            found[f"stream.{name}+{other}"] = Source(text, "k", "stream", (entry.wanted, PRODUCTS[other].wanted))
        for other, count in product(AMONG.get(name, ()), WORKED_ON[kind]):
            text, either = stream(worked_on(name, other, count), entry.streams), f"{entry.wanted}|{OTHERS[other][0]}"
            key = f"stream.{name}.of.{count + 1}.{other}"
            found[key] = Source(text, "k", "stream", (either,), kind=kind, operand=kind)
    for name in UNKEPT:
        for suffix in ("unkept", *(f"stall.{cycles}" for cycles in STALLS)):
            found[f"stream.{name}.{suffix}"] = found[f"stream.{name}"]
    for name, (pattern, step) in MATRIX_LOADS.items():
        found[f"chain.{name}"] = Source(chain(step), "k", "chain", (pattern,))
    for name, (pattern, step) in (MATRIX_LOADS | MATRIX_STORES).items():
        found[f"stream.{name}"] = Source(stream(step), "k", "stream", (pattern,))
    both = (MATRIX_STORES["STSM.16.M88"][0], "LDS")
    found["chain.STSM.16.M88.LDS"] = Source(chain(STORED_AND_LOADED), "k", "chain", both)
    found[f"chain.{_MOVE}"] = Source(chain(MOVED), "k", "chain", (r"MOVM\.16\.MT88",))
    found[f"stream.{_MOVE}"] = Source(stream(MOVED), "k", "stream", (r"MOVM\.16\.MT88",))
    return found


def _chain(key: str, name: str, family: str, note: str = "", **how: int) -> Job:
    return Job((key,), family, "cycles", "chain", (f"chain.{name}",), {"threads": 32, **how}, note=note)


def _stream(key: str, name: str, family: str, per: str, warps: int, **how: int) -> Job:
    return Job((key,), family, "cycles", "stream", (f"stream.{name}",), {"warps": warps, "per": per, **how})


def tensor_jobs() -> Iterator[Job]:
    """All jobs of this part."""
    family = "tensor"
    for name, entry in PRODUCTS.items():
        yield _chain(f"latency.{name}", name, family, "each adds to the result of the one before")
        if entry.operand:
            note = "each multiplies the result of the one before"
            yield _chain(f"latency.{name}.operand", f"{name}.operand", family, note)
        for warps in _WARPS:
            yield _stream(f"interval.{name}.warps.{warps}", name, family, "scheduler", 4 * warps)
        for warps in (1, 8) if name in UNKEPT else ():
            key = f"interval.{name}.unkept.warps.{warps}"
            yield _stream(key, f"{name}.unkept", family, "scheduler", 4 * warps)
        for cycles in STALLS if name in UNKEPT else ():
            yield _stream(f"interval.{name}.stall.{cycles}", f"{name}.stall.{cycles}", family, "scheduler", 4)
        if other := PAIRS.get(name):
            yield _stream(f"interval.mixed.{name}+{other}", f"{name}+{other}", "mixed", "scheduler", 32)
        for other, count in product(AMONG.get(name, ()), WORKED_ON[entry.chain.kind]):
            key = f"{name}.of.{count + 1}.{other}"
            yield _stream(f"interval.mixed.{key}", key, "mixed", "scheduler", 32)
    yield from _moves()


def _moves() -> Iterator[Job]:
    family = "matrices in shared memory"
    for name in MATRIX_LOADS:
        for rows, pitch in _CONFLICTS.items():
            suffix = f".conflict.{rows}" if rows > 1 else ""
            yield _chain(f"latency.{name}{suffix}", name, family, p0=pitch, smem=_SMEM)
    for name in (*MATRIX_LOADS, *MATRIX_STORES):
        for rows, pitch in _CONFLICTS.items():
            suffix = f".conflict.{rows}" if rows > 1 else ""
            yield _stream(f"interval_sm.{name}{suffix}", name, family, "sm", 32, p0=pitch, smem=_SMEM)
        for warps in (1, 4):
            yield _stream(f"interval_sm.{name}.warps.{warps}", name, family, "sm", warps, p0=16, smem=_SMEM)
    note = "a store and a load of a word of it"
    yield _chain("latency.STSM.16.M88.LDS", "STSM.16.M88.LDS", family, note, p0=16, smem=_SMEM)
    yield _chain(f"latency.{_MOVE}", _MOVE, "tensor")
    for warps in _WARPS:
        yield _stream(f"interval.{_MOVE}.warps.{warps}", _MOVE, "tensor", "scheduler", 4 * warps)
