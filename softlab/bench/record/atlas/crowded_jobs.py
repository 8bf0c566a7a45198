"""What is measured of many warps beside each other: chains, pairs of pipes that share register banks, branches,
barriers that combine a value, local memory of lanes at different words, and the load and store unit's classes in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from softlab.bench.record.atlas import icache
from softlab.bench.record.atlas.core import CLASSES, MIXED
from softlab.bench.record.atlas.records import Job, Source, pieces
from softlab.bench.record.atlas.templates import PtxStep, stream

_KERNELS: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "branching": ("loop", ("FADD", "BSSY", "BSYNC"), (256, 16, 16)),
    "reducing_barriers": ("any", (r"BAR\.RED\..*",), (-16,)),
    "local_apart": ("any", (r"STL(\..*)?", r"LDL(\..*)?"), (-8, -8)),
    "shuffle_global": ("loop", (r"SHFL\.BFLY", r"LDG\.E\.STRONG\.SM|LDG\.E"), (8, 8)),
    "shuffle_shared": ("loop", (r"SHFL\.BFLY", "LDS"), (8, 8)),
    "shuffle_store": ("loop", (r"SHFL\.BFLY", r"STG\.E"), (8, 8)),
    "shared_global": ("loop", ("LDS", r"LDG\.E\.STRONG\.SM|LDG\.E"), (8, 8)),
    "global_store": ("loop", (r"LDG\.E\.STRONG\.SM|LDG\.E", r"STG\.E"), (8, 8)),
}
#: Warps of a scheduler, and of an SM.
_SCHEDULER, _SM = (1, 2, 3, 4, 6, 8, 16), (1, 4, 8, 16, 32)
#: Classes whose instructions each need the one before.
CHAINED = (
    "FFMA", "LOP3", "IMAD", "MUFU.EX2", "SHFL.BFLY", "FFMA+LOP3", "FFMA+IMAD", "IMAD+IADD3", "IADD3+LOP3",
    "MUFU.EX2+LOP3",
)  # fmt: skip
#: Pairs of classes in turn whose sources are ours, see :data:`softlab.bench.record.atlas.patching.PATTERNS`.
PAIRS_BANKS = tuple(
    f"{pair}.banks.{pattern}{stall}"
    for pair, pattern, stall in product(
        ("FFMA+LOP3", "FFMA+IADD3", "IMAD+IADD3"),
        ("first", "turns", "halves", "every.4", "before.same"),
        ("", ".stall.2"),
    )
)
#: KiB of code in the loop of the rows ``icache.loop.crowded``.
_CODE = (1, 2, 4, 8, 12)


def crowded_sources() -> dict[str, Source]:
    """Name -> kernel."""
    found = pieces(_KERNELS, "crowded.cu")
    for name in CHAINED:
        entry = (CLASSES | MIXED)[name]
        assert entry.stream is not None
        text = stream(entry.stream, 1, entry.second)
        found[f"stream.{name}.chained"] = Source(text, "k", "stream", entry.wanted, (), "", entry.stream.kind)
    for name in PAIRS_BANKS:
        entry = MIXED[name.partition(".banks.")[0]]
        assert entry.stream is not None
        found[f"stream.{name}"] = Source(
            stream(entry.stream, entry.streams, entry.second), "k", "stream", ("|".join(entry.wanted),)
        )
    step = replace(CLASSES["FFMA"], stream=PtxStep("fma.rn.f32 {x}, {x}, 0f3f80000f, {a};", "f")).stream
    assert step is not None
    found["stream.FFMA.immediate"] = Source(stream(step), "k", "stream", ("FFMA",), (), "", "f", "f")
    found["icache_crowded"] = Source(
        icache.source("icache_crowded", each=True), "icache_crowded", "any", ("FADD",), (-icache.CHUNKS * icache.STEPS,)
    )
    return found


def crowded_jobs() -> Iterator[Job]:
    """All jobs of this part."""
    for name in CHAINED:
        for warps in _SCHEDULER:
            yield Job((f"interval.{name}.chained.warps.{warps}",), "chains", "cycles", "stream",
                      (f"stream.{name}.chained",), {"warps": 4 * warps, "per": "scheduler"},
                      note="of one instruction, or one of each, that needs the one before it")  # fmt: skip
    for name in PAIRS_BANKS:
        for warps in (1, 8):
            yield Job((f"interval.mixed.{name}.warps.{warps}",), "mixed", "cycles", "stream", (f"stream.{name}",),
                      {"warps": 4 * warps, "per": "scheduler"})  # fmt: skip
    for warps in (1, 8):
        yield Job((f"interval.FFMA.immediate.warps.{warps}",), "fp32", "cycles", "stream", ("stream.FFMA.immediate",),
                  {"warps": 4 * warps, "per": "scheduler"})  # fmt: skip
    yield from _control()
    yield from _units()


def _rounds(key: str, family: str, kernel: str, per: int, rounds: tuple[int, int], **how: int) -> Job:
    return Job((key,), family, "cycles", "rounds_of_warps", (kernel,), {"rounds": list(rounds), "per": per, **how})


def _control() -> Iterator[Job]:
    for mode, name in enumerate(("not_taken", "taken", "divergent", "in_turn")):
        for warps in _SM:
            key = f"interval_sm.BRA.{name}.warps.{warps}"
            yield _rounds(key, "control", "branching", 16 * warps, (16, 48), warps=warps, mode=mode)
    for mode, name in enumerate(("OR", "POPC")):
        for blocks, warps in product((1, 2, 4), (1, 2, 4, 8, 16, 32)):
            if blocks * warps > 64:
                continue
            key = f"latency.BAR.RED.{name}.blocks.{blocks}.warps.{warps}"
            yield _rounds(key, "control", "reducing_barriers", 8, (16, 48), warps=warps, grid=132 * blocks, mode=mode)
    for kib, warps in product(_CODE, _SM):
        key = f"icache.loop.crowded.{2048 * kib}.warps.{warps}"
        per = icache.STEPS * kib * warps
        yield _rounds(key, "instruction cache", "icache_crowded", per, (8, 24), warps=warps, p0=kib, p1=1)


def _units() -> Iterator[Job]:
    for mode, name in enumerate(("STL", "LDL", "STL+LDL")):
        for words, apart, grid in product((16, 64), (0, 1, 5), (1, 132)):
            where = ".all_sms" if grid > 1 else ""
            key = f"interval_sm.{name}.apart.{apart}.words.{words}.warps.16{where}"
            yield _rounds(key, "local memory", "local_apart", 16 * words, (8, 24), warps=16, grid=grid, mode=mode,
                          p0=words, p1=apart)  # fmt: skip
    pairs = {
        "shuffle_global": "SHFL+LDG", "shuffle_shared": "SHFL+LDS", "shuffle_store": "SHFL+STG",
        "shared_global": "LDS+LDG", "global_store": "LDG+STG",
    }  # fmt: skip
    for kernel, name in pairs.items():
        for (mode, lanes), warps in product(enumerate(("", ".broadcast")), _SM):
            key = f"interval_sm.{name}{lanes}.warps.{warps}"
            yield _rounds(key, "load and store unit", kernel, 8 * warps, (16, 48), warps=warps, mode=mode)
