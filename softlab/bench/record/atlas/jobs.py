"""What the recorder measures: every job, with its kernel, its launch and the key of its row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from softlab.bench.record.atlas import icache
from softlab.bench.record.atlas.arranged_jobs import arranged_jobs, arranged_sources
from softlab.bench.record.atlas.contention_jobs import contention_jobs, contention_sources
from softlab.bench.record.atlas.core import CLASSES, HALVES, MIXED, Class
from softlab.bench.record.atlas.crowded_jobs import crowded_jobs, crowded_sources
from softlab.bench.record.atlas.launched_jobs import launched_jobs, launched_sources
from softlab.bench.record.atlas.memory_steps import MEMORY_CLASSES, SHARED_WORDS
from softlab.bench.record.atlas.patching import PATTERNS
from softlab.bench.record.atlas.records import Job, Source, pieces
from softlab.bench.record.atlas.templates import chain, stream
from softlab.bench.record.atlas.tensor_jobs import tensor_jobs, tensor_sources

#: Dynamic shared memory of the kernels that read words of it.
SMEM = 4 * SHARED_WORDS
WARPS = (1, 2, 4, 8, 16)
DEGREES = (1, 2, 4, 8, 16, 32)
#: (warps per block, packs of 512 bytes per warp, blocks per SM): bytes in flight per SM.
IN_FLIGHT = (
    (1, 1, 1), (2, 1, 1), (4, 1, 1), (4, 2, 1), (8, 2, 1), (12, 2, 1), (16, 2, 1), (12, 4, 1), (16, 4, 1), (24, 4, 1),
    (32, 4, 1), (24, 4, 2), (32, 4, 2),
)  # fmt: skip
LOADED = ((1, 1), (4, 1), (8, 1), (8, 2), (16, 2), (24, 2), (16, 4), (20, 4), (24, 4), (30, 4))
#: Bytes from lane to lane of loads that touch many lines and no bank twice: odd numbers of words. 256: one bank.
APART = (20, 36, 52, 68, 100, 132, 136, 144, 160, 176, 208, 256, 260, 272, 288, 320, 400)
#: KiB of a region that is read again and again: in L1 (per block), in L2, and too large for L2.
L1_KIB, L2_KIB, DRAM_KIB = 32, 16384, 4 << 20


def sources() -> dict[str, Source]:
    """Name -> kernel, for all jobs."""
    found: dict[str, Source] = {}
    for name, entry in (CLASSES | MIXED | MEMORY_CLASSES).items():
        for form, step in (("chain", entry.chain), ("stream", entry.stream)):
            if step is None:
                continue
            text = chain(step) if form == "chain" else stream(step, entry.streams, entry.second)
            wanted = entry.stream_wanted if form == "stream" and entry.stream_wanted else entry.wanted
            operand = step.operand or step.kind
            found[f"{form}.{name}"] = Source(text, "k", form, wanted, (), entry.other, step.kind, operand)
    for name in BANKS:
        found[f"stream.{name}"] = found[f"stream.{name.partition('.')[0]}"]
    for name in STALLED:
        found[f"stream.{name}"] = found[f"stream.{name.partition('.stall.')[0]}"]
    for name, (uniform, kernel, pattern) in UNIFORM.items():
        text = found["stream.IADD3"].text
        found[f"stream.{name}"] = Source(text, "k", "stream", (uniform,), model=(kernel, pattern))
    for name in UNIFORM_BESIDE_IMAD:
        uniform, kernel, pattern = UNIFORM[name]
        text = found["stream.IMAD+IADD3"].text
        found[f"stream.{name}+IMAD"] = Source(text, "k", "stream", (uniform, "IMAD"), model=(kernel, pattern))
    for name, products in AMONG_FFMA.items():
        mixed = MIXED["IMAD.HI+FFMA" if products else "FFMA+IADD3"]
        found[f"stream.{name}.of.4.FFMA"] = _among_ffma(mixed, *UNIFORM.get(name, (mixed.wanted[0], "", "")))
    found |= contention_sources() | launched_sources() | arranged_sources() | crowded_sources()
    found |= tensor_sources()
    found |= pieces(_MEMORY, "memory.cu") | pieces(_CONTROL, "control.cu")
    for name in ("icache", "icache_other"):
        found[name] = Source(icache.source(name), name, "any", ("FADD",), (-icache.CHUNKS * icache.STEPS,))
    return found


def _among_ffma(mixed: Class, pattern: str, *model: str) -> Source:
    """A stream of which one of four is the class of ``mixed`` that is not FFMA, or the model in its place."""
    steps = dict(zip(mixed.wanted, (mixed.stream, mixed.second), strict=True))
    ffma = steps.pop("FFMA")
    assert ffma is not None
    text = stream(ffma, second=steps.popitem()[1], every=4)
    return Source(text, "k", "stream", (f"FFMA|{pattern}",), model=(model[0], model[1]))


#: Streams with registers of our choice: class, how many different sources are in one bank, in which pattern, reuse.
BANKS = (
    *(f"FFMA.banks.{n}{reuse}" for n in (1, 2, 3) for reuse in ("", ".reuse")),
    *(f"FFMA.banks.{pattern}" for pattern in PATTERNS if pattern != "turns"),
    *(f"FFMA.banks.{pattern}.to.{bank}" for pattern in ("before.both", "twice") for bank in ("even", "odd")),
    *(
        f"FFMA.banks.{pattern}.stall.2"
        for pattern in ("first", "before.both", "before.same", "twice", "turns", "halves")
    ),
    *(f"{name}.banks.{n}" for name in ("IMAD", "IADD3", "LOP3") for n in (1, 2, 3)),
    *(f"{name}.banks.3.reuse" for name in ("IMAD", "IADD3", "LOP3")),
    *(f"{name}.banks.turns" for name in ("FFMA", "IMAD", "IADD3", "LOP3")),
)
#: Streams of products of 64 bits with another stall count, of a warp alone.
STALLED = tuple(f"IMAD.WIDE.stall.{cycles}" for cycles in (1, 2, 3, 4, 5, 6, 7, 8, 10))
#: Pairs that are measured with one warp per scheduler, too.
PAIRS_ALONE = tuple(name for name in MIXED if name.startswith(("IMAD.WIDE", "IMAD.HI")))
#: Classes of the uniform datapath that are measured beside IMAD, too: whether they take turns with it.
UNIFORM_BESIDE_IMAD = ("UIMAD", "UIMAD.WIDE", "UIADD3")
#: Classes that are one of four instructions, where three are FFMA; and whether they are products.
AMONG_FFMA = {"UIADD3": False, "ULOP3": False, "UIMAD": False, "IMAD.HI": True}
#: Class -> its pattern, and a kernel with such an instruction, as it is printed: the compiler writes no stream of them.
UNIFORM = {
    "UIADD3": ("UIADD3", "bulk", r"UIADD3 UR\d+, UR\d+, UR\d+, URZ"),
    "ULOP3": (r"ULOP3\.LUT", "dsm_stream", r"ULOP3\.LUT UR\d+, UR\d+, 0x1, .*"),
    "USHF": (r"USHF\.L\.U32", "loaded_1", r"USHF\.L\.U32 UR\d+, UR\d+, 0x\w+, URZ"),
    "UIMAD": ("UIMAD", "bulk", r"UIMAD UR\d+, UR\d+, UR\d+, URZ"),
    "UIMAD.WIDE": (r"UIMAD\.WIDE\.U32", "partial", r"UIMAD\.WIDE\.U32 UR\d+, UR\d+, UR\d+, URZ"),
    "UPOPC": ("UPOPC", "loaded_1", r"UPOPC UR\d+, UR\d+"),
    "ULDC": ("ULDC", "bulk", r"ULDC UR\d+, c\[0x0\]\[0x228\]"),
}
_STORE = r"STG\.E\..*"
_MEMORY: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "links": ("any", (_STORE,), (1,)),
    "flush": ("any", (_STORE,), (1,)),
    "lines": ("any", (r"LDG\.E\.64\.STRONG\.GPU",), (1,)),
    "chase_ca": ("loop", (r"LDG\.E\.64",), (16,)),
    "chase_cg": ("loop", (r"LDG\.E\.64\.STRONG\.GPU",), (16,)),
    **{f"read_{u}": ("flight", (r"LDG\.E\.128",), (u,)) for u in (1, 2, 4)},
    **{f"read_cg_{u}": ("flight", (r"LDG\.E\.128\.STRONG\.GPU",), (u,)) for u in (1, 2, 4)},
    "write_4": ("loop", (r"STG\.E\.128",), (4,)),
    **{f"copy_{u}": ("flight", (r"LDG\.E\.128", r"STG\.E\.128"), (u, u)) for u in (1, 2, 4)},
    **{f"loaded_{u}": ("flight", (r"LDG\.E\.128\.STRONG\.GPU",), (u,)) for u in (1, 2, 4)},
    **{f"strided_{p}": ("flight", (r"LDG\.E\.STRONG\.GPU",), (8,)) for p in (32, 64, 128, 256, 512)},
    "scattered": ("flight", (r"LDG\.E\.STRONG\.GPU", r"STG\.E"), (4, 4)),
    "partial": ("any", (r"STG\.E", r"STG\.E\.64", r"STG\.E\.128"), (1, 1, 1)),
    "bulk": ("any", (r"UBLKCP.*", r"SYNCS\.ARRIVE.*"), (-1, -1)),
    "mbarrier_phase": ("loop", (r"SYNCS\.ARRIVE.*",), (1,)),
    "mbarrier_try": ("any", (r"SYNCS\.PHASECHK.*",), (-1,)),
    "dsm_chase": ("loop", (r"LD\.E\.64|LD\.64",), (4,)),
    "dsm_atomic": ("loop", (r"ATOM.*",), (1,)),
    "dsm_pingpong": ("any", (r"ST\..*|ST",), (-1,)),
    "dsm_stream": ("any", (r"LD\..*128.*", r"ST\..*128.*"), (4, 4)),
    **{
        f"cluster_barrier_{n}": ("loop", (r"UCGABAR_ARV|CGABAR_ARV.*", r"UCGABAR_WAIT|CGABAR_WAIT.*"), (1, 1))
        for n in (2, 4, 8)
    },
    "cluster_barrier_relaxed": ("loop", (r"UCGABAR_ARV|CGABAR_ARV.*", r"UCGABAR_WAIT|CGABAR_WAIT.*"), (1, 1)),
    "pages": ("any", (r"LDG\.E\.STRONG\.GPU",), (-1,)),
}
_CONTROL: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "empty": ("any", ("EXIT",), (1,)),
    "small": ("any", (r"STG\.E",), (1,)),
    "blocks": ("any", (r"CS2R.*|S2UR",), (-1,)),
    "frequency": ("any", (r"CS2R.*|S2UR",), (-1,)),
    "branches": ("any", ("IMAD", "BSSY", "BSYNC"), (512, -1, -1)),
    "ldc_chase": ("loop", ("LDC",), (8,)),
    "ldc_stream": ("loop", ("LDC",), (64,)),
    "constant_operands": ("loop", ("LDC", "IMAD"), (24, 24)),
    "special": ("any", (r"S2R|S2UR",), (-1,)),
    "clock_reads": ("loop", (r"CS2R.*|S2UR",), (65,)),
    "sleep": ("loop", ("NANOSLEEP",), (1,)),
    "calls": ("any", (r"CALL.*", r"RET.*"), (1, 1)),
}


def jobs() -> Iterator[Job]:
    """All jobs, in the order of measuring: the core first, then memory, then what takes long."""
    yield from _register_jobs()
    yield from _shared_jobs()
    yield from _global_jobs()
    yield from _control_jobs()
    yield from _bandwidth_jobs()
    yield from _launch_jobs()
    yield from contention_jobs()
    yield from launched_jobs()
    yield from arranged_jobs()
    yield from crowded_jobs()
    yield from tensor_jobs()


def _chain(key: str, name: str, entry: Class, threads: int = 32, **parameters: Any) -> Job:
    return Job(
        (key,), entry.family, "cycles", "chain", (f"chain.{name}",), {"threads": threads, **parameters}, entry.less
    )


def _stream(key: str, name: str, family: str, per: str, warps: int, **parameters: Any) -> Job:
    values = {"warps": warps, "per": per, **parameters}
    return Job((key,), family, "cycles", "stream", (f"stream.{name}",), values)


def _register_jobs() -> Iterator[Job]:
    for name, entry in CLASSES.items():
        if entry.chain:
            yield _chain(f"latency.{name}", name, entry)
        if entry.stream:
            for warps in WARPS:
                yield _stream(f"interval.{name}.warps.{warps}", name, entry.family, "scheduler", 4 * warps)
    for name in UNIFORM:
        for warps in WARPS:
            yield _stream(f"interval.{name}.warps.{warps}", name, "uniform", "scheduler", 4 * warps)
    for name, entry in MIXED.items():
        yield _stream(f"interval.mixed.{name}", name, entry.family, "scheduler", 32)
    for name in PAIRS_ALONE:
        yield _stream(f"interval.mixed.{name}.warps.1", name, "mixed", "scheduler", 4)
    for name, warps in product(HALVES, (1, 2, 4)):
        yield _stream(f"interval.mixed.{name}.warps.{warps}", name, "mixed", "scheduler", 4 * warps)
    for name in STALLED:
        yield _stream(f"interval.{name}", name, "integer", "scheduler", 4)
    for name in UNIFORM_BESIDE_IMAD:
        yield _stream(f"interval.mixed.{name}+IMAD", f"{name}+IMAD", "mixed", "scheduler", 32)
    for name in AMONG_FFMA:
        yield _stream(f"interval.mixed.{name}.of.4.FFMA", f"{name}.of.4.FFMA", "mixed", "scheduler", 32)
    for name in BANKS:
        family = CLASSES[name.partition(".")[0]].family
        for warps, suffix in ((8, ""), (1, ".warps.1")):
            yield _stream(f"interval.{name}{suffix}", name, family, "scheduler", 4 * warps)


def _shared_jobs() -> Iterator[Job]:
    widths = {"": 4, ".64": 8, ".128": 16}
    for suffix, width in widths.items():
        name = f"LDS{suffix}"
        yield _chain(f"latency.{name}", name, MEMORY_CLASSES[name], p0=width, smem=SMEM)
        for kind in ("LDS", "STS"):
            for degree in DEGREES:
                key = f"interval_sm.{kind}{suffix}" + (f".conflict.{degree}" if degree > 1 else "")
                yield _stream(key, kind + suffix, "shared memory", "sm", 32, p0=width * degree, smem=SMEM)
        yield _stream(f"interval_sm.{name}.warps.1", name, "shared memory", "sm", 1, p0=width, smem=SMEM)
        yield _stream(f"interval_sm.{name}.warps.4", name, "shared memory", "sm", 4, p0=width, smem=SMEM)
        for degree in DEGREES:
            yield _chain(f"latency.{name}.conflict.{degree}", name, MEMORY_CLASSES[name], p0=width * degree, smem=SMEM)
    yield _stream("interval_sm.LDS.broadcast", "LDS", "shared memory", "sm", 32, p0=0, smem=SMEM)
    yield _chain("latency.STS.LDS", "STS.LDS", MEMORY_CLASSES["STS.LDS"], p0=4, smem=SMEM)
    for name in ("ATOMS.ADD", "ATOMS.CAS"):
        yield _chain(f"latency.{name}", name, MEMORY_CLASSES[name], p0=1, p1=1, smem=SMEM)
        for lanes in DEGREES:
            key = f"interval_sm.{name}.lanes.{lanes}"
            yield _stream(key, name, "shared memory", "sm", 32, p0=lanes, p1=1, smem=SMEM)
            yield _chain(f"latency.{name}.lanes.{lanes}", name, MEMORY_CLASSES[name], p0=lanes, p1=1, smem=SMEM)
        for warps in (1, 2, 4, 8, 16, 32):
            key = f"interval_sm.{name}.warps.{warps}"
            yield _stream(key, name, "shared memory", "sm", warps, p0=32, p1=32, smem=SMEM)


_PARTITIONS = ("latency.L2.partition.near", "latency.L2.partition.far", "latency.L2.partition.far_share")


def _global_jobs() -> Iterator[Job]:
    for suffix, width in {"": 4, ".64": 8, ".128": 16}.items():
        name = f"LDG{suffix}"
        yield _chain(f"latency.L1{suffix}", name, MEMORY_CLASSES[name], p0=width, p1=512)
        yield _stream(f"interval_sm.{name}", name, "global memory", "sm", 32, p0=width, p1=512)
        yield _stream(f"interval_sm.{name}.unaligned", name, "global memory", "sm", 32, p0=width, p1=512 + width)
        yield _stream(f"interval_sm.STG{suffix}", f"STG{suffix}", "global memory", "sm", 32, p0=width, p1=512)
        yield _stream(
            f"interval_sm.STG{suffix}.all_sms", f"STG{suffix}", "global memory", "sm", 32, p0=width, p1=512, grid="sms"
        )
    for sectors, pitch in ((1, 0), (4, 4), (8, 8), (16, 16), (32, 32)):
        yield _stream(f"interval_sm.LDG.sectors.{sectors}", "LDG", "global memory", "sm", 32, p0=pitch, p1=0)
    yield _stream("interval_sm.LDG.lines.32", "LDG", "global memory", "sm", 32, p0=128, p1=0)
    for pitch in APART:
        yield _stream(f"interval_sm.LDG.apart.{pitch}", "LDG", "global memory", "sm", 32, p0=pitch, p1=0)
        yield _chain(f"latency.L1.apart.{pitch}", "LDG", MEMORY_CLASSES["LDG"], p0=pitch, p1=0)
    for name in ("ATOMG.ADD", "ATOMG.CAS", "ATOMG.EXCH", "ATOMG.MAX", "ATOMG.ADD.F32"):
        yield _chain(f"latency.{name}", name, MEMORY_CLASSES[name], p0=1, p1=1)
    for name in ("ATOMG.ADD", "ATOMG.CAS", "ATOMG.ADD.F32", "RED.ADD", "RED.ADD.F32"):
        for lanes in DEGREES:
            yield _stream(f"interval_gpu.{name}.lanes.{lanes}", name, "atomics", "gpu", 1, p0=lanes, p1=1)
        for warps in (2, 4, 8, 16, 32):
            yield _stream(f"interval_gpu.{name}.warps.{warps}", name, "atomics", "gpu", warps, p0=32, p1=32)
        for sms in (1, 2, 8, 32, 132):
            yield _stream(f"interval_gpu.{name}.sms.{sms}", name, "atomics", "gpu", 1, p0=32, p1=1 << 20, grid=sms)
            yield _stream(f"interval_gpu.{name}.apart.{sms}", name, "atomics", "gpu", 8, p0=1, p1=1, grid=sms)
    for name in ("MEMBAR.GPU", "MEMBAR.CTA"):
        yield _chain(f"latency.{name}", name, MEMORY_CLASSES[name], p0=4, p1=512)
    for name in ("LDGSTS", "LDGSTS.4"):
        yield _chain(f"latency.{name}", name, MEMORY_CLASSES[name], p0=16, p1=512, smem=SMEM)
    for kib in (16, 64, 128, 192, 224, 256, 512, 2048, 8192, 16384, 24576, 32768, 49152, 65536, 131072):
        yield Job((f"latency.chase.{kib}",), "global memory", "cycles", "chase", ("chase_ca", "links"), {"kib": kib},
                  note="links in random order over that many KiB, all in one ring")  # fmt: skip
    keys = ("latency.L2.near", "latency.L2.far", "latency.L2", "latency.L2.far_share", *_PARTITIONS)
    yield Job(keys, "global memory", "cycles",
              "near_and_far", ("lines", "chase_cg", "links"))  # fmt: skip
    yield Job(("latency.DRAM",), "global memory", "cycles", "dram", ("chase_cg", "links", "flush", "pages"))
    for mib in (32, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768):
        yield Job((f"latency.TLB.{mib}",), "global memory", "cycles", "tlb", ("chase_cg", "links"), {"mib": mib},
                  note="lines in L2, one per 2 MiB page")  # fmt: skip


def _slope(key: str, family: str, kernel: str, rounds: tuple[int, int] = (64, 192), **parameters: Any) -> Job:
    return Job((key,), family, "cycles", "slope", (kernel,), {"rounds": list(rounds), **parameters})


def _control_jobs() -> Iterator[Job]:
    for warps in (1, 2, 4, 8, 16, 32):
        yield _chain(f"latency.BAR.SYNC.{warps}", "BAR.SYNC", MEMORY_CLASSES["BAR.SYNC"], threads=32 * warps)
    for mode, name in enumerate(("not_taken", "taken", "divergent")):
        yield Job((f"cost.BRA.{name}",), "control", "cycles", "branches", ("branches",), {"mode": mode},
                  note="BSSY, LOP3 to a predicate, BRA, BSYNC; without the 128 cycles of a body that runs")  # fmt: skip
    yield _slope("cost.loop", "control", "special", mode=1)
    yield _slope("latency.S2R+loop", "uniform", "special", mode=0)
    yield _slope("cost.CALL_RET+loop", "control", "calls", mode=0)
    yield _slope("latency.NANOSLEEP.0", "control", "sleep", p0=0)
    yield Job(("interval.CS2R",), "uniform", "cycles", "single", ("clock_reads",), {"divisor": 64})
    yield _slope("latency.SYNCS.PHASE", "control", "mbarrier_phase", threads=1)
    yield _slope("latency.SYNCS.TRYWAIT", "control", "mbarrier_try", threads=1)
    for kib in (1, 2, 4, 8, 16, 32, 48, 64):
        yield Job((f"latency.LDC.KiB.{kib}",), "constants", "cycles", "constants", ("ldc_chase",), {"kib": kib})
    yield Job(("interval_sm.LDC",), "constants", "cycles", "constant_stream", ("ldc_stream",), {"warps": 32})
    yield Job(("interval_sm.LDC.warps.4",), "constants", "cycles", "constant_stream", ("ldc_stream",), {"warps": 4})
    yield Job(("latency.CONSTANT.miss", "latency.CONSTANT.hit"), "constants", "cycles", "cold_constants",
              ("constant_operands", "icache_other"))  # fmt: skip
    for chunks in icache.SIZES:
        nbytes = chunks * icache.CHUNK_BYTES
        yield Job(
            (f"icache.loop.{nbytes}",), "instruction cache", "cycles", "code_loop", ("icache",), {"chunks": chunks}
        )
    for grid in (1, 132):
        where = ".all_sms" if grid > 1 else ""
        keys = (f"icache.cold{where}", f"icache.cold.DRAM{where}", f"icache.warm{where}")
        yield Job(keys, "instruction cache", "cycles", "cold_code", ("icache", "icache_other", "flush"),
                  {"chunks": 32, "grid": grid}, note="per 128 bytes, 8 of them for issue; 64 KiB of code")  # fmt: skip
    yield from _cluster_jobs()
    yield from _bulk_copy_jobs()


def _cluster_jobs() -> Iterator[Job]:
    yield _slope("latency.DSM.LD", "clusters", "dsm_chase", grid=2, divisor=4)
    yield _slope("latency.DSM.ATOM.EXCH", "clusters", "dsm_atomic", grid=2)
    yield _slope("latency.DSM.ST", "clusters", "dsm_pingpong", grid=2, divisor=2)
    for mode, name in enumerate(("LD", "ST")):
        yield Job((f"bandwidth.DSM.{name}",), "clusters", "bytes/cycle", "slope", ("dsm_stream",),
                  {"rounds": [64, 192], "mode": mode, "grid": 2, "threads": 512, "bytes": 4 * 512 * 16})  # fmt: skip
    for size in (2, 4, 8):
        yield _slope(f"latency.CLUSTER.BARRIER.{size}", "clusters", f"cluster_barrier_{size}", grid=size, threads=128)
    yield _slope("latency.CLUSTER.BARRIER.relaxed.4", "clusters", "cluster_barrier_relaxed", grid=4, threads=128)


def _bulk_copy_jobs() -> Iterator[Job]:
    for nbytes in (16, 128, 512, 1024, 2048, 4096, 8192, 16384):
        yield _slope(f"latency.UBLKCP.{nbytes}", "asynchronous copies", "bulk", (16, 80), threads=1, p0=nbytes, p1=1,
                     smem=65536)  # fmt: skip
        count = min(8, 65536 // nbytes)
        how = {"rounds": [16, 80], "threads": 1, "p0": nbytes, "p1": count, "bytes": nbytes * count, "smem": 65536}
        yield Job((f"bandwidth.UBLKCP.{nbytes}",), "asynchronous copies", "bytes/cycle", "slope", ("bulk",), how)


def _bandwidth(key: str, kernel: str, warps: int, **parameters: Any) -> Job:
    return Job((key,), "bandwidth", "bytes/cycle", "bandwidth", (kernel,), {"warps": warps, **parameters})


def _bandwidth_jobs() -> Iterator[Job]:
    yield from _in_flight_jobs()
    yield from _stride_jobs()
    yield from _few_sms_jobs()
    yield from _scattered_jobs()
    yield from _small_array_jobs()
    yield from _loaded_jobs()


def _in_flight_jobs() -> Iterator[Job]:
    for warps, packs, blocks in IN_FLIGHT:
        n = 512 * warps * packs * blocks
        moved = {"bytes": 512 * packs, "blocks": blocks}
        yield _bandwidth(f"bandwidth.L1.{n}", f"read_{packs}", warps, mode=1, p0=L1_KIB, per_sm=1, mib=1024, **moved)
        yield _bandwidth(f"bandwidth.L2.read.{n}", f"read_cg_{packs}", warps, p0=L2_KIB, mib=512, **moved)
        yield _bandwidth(f"bandwidth.DRAM.read.{n}", f"read_cg_{packs}", warps, p0=DRAM_KIB, mib=512, **moved)
        yield _bandwidth(
            f"bandwidth.DRAM.copy.{n}",
            f"copy_{packs}",
            warps,
            p0=DRAM_KIB,
            p1=4096,
            mib=256,
            **moved | {"bytes": 1024 * packs},
        )
        yield _bandwidth(
            f"bandwidth.L2.copy.{n}", f"copy_{packs}", warps, p0=8192, p1=8, mib=256, **moved | {"bytes": 1024 * packs}
        )
    for warps in (1, 2, 4, 8, 16, 32):
        n = 2048 * warps
        yield _bandwidth(f"bandwidth.DRAM.write.{n}", "write_4", warps, p0=DRAM_KIB, mib=512, bytes=2048)
        yield _bandwidth(f"bandwidth.L2.write.{n}", "write_4", warps, p0=L2_KIB, mib=512, bytes=2048)


def _stride_jobs() -> Iterator[Job]:
    for pitch in (32, 64, 128, 256, 512):
        yield _bandwidth(f"bandwidth.DRAM.stride.{pitch}", f"strided_{pitch}", 32, p0=DRAM_KIB, mib=256, bytes=8 * 1024)
    for pitch in (64, 128, 256, 512):
        yield _bandwidth(f"bandwidth.L2.stride.{pitch}", f"strided_{pitch}", 32, p0=L2_KIB, mib=256, bytes=8 * 1024)
    for where, kib in (("L2", L2_KIB), ("DRAM", DRAM_KIB)):
        for pitch in (32, 64, 128, 256, 512):
            yield _bandwidth(
                f"bandwidth.{where}.write_stride.{pitch}", "strided_write", 32, p0=kib, p1=pitch, mib=128, bytes=8192
            )


def _few_sms_jobs() -> Iterator[Job]:
    for sms in (1, 2, 4, 8, 16, 33, 66):
        # Long launches: the clock of the events is coarse, and what few SMs read from DRAM must not stay in L2.
        far, near = max(256, 16 * sms), max(32, 8 * sms)
        yield _bandwidth(f"bandwidth.L2.read.sms.{sms}", "read_cg_4", 32, p0=8192, mib=near, bytes=2048, sms=sms)
        yield _bandwidth(f"bandwidth.DRAM.read.sms.{sms}", "read_cg_4", 32, p0=DRAM_KIB, mib=far, bytes=2048, sms=sms)
        yield _bandwidth(f"bandwidth.L2.write.sms.{sms}", "write_4", 32, p0=8192, mib=2 * sms, bytes=2048, sms=sms)


def _scattered_jobs() -> Iterator[Job]:
    for where, kib in (("L2", L2_KIB), ("DRAM", DRAM_KIB)):
        for write, name in enumerate(("read", "write")):
            yield _bandwidth(
                f"bandwidth.{where}.scattered.{name}", "scattered", 32, p0=kib, p1=write, mib=256, bytes=4 * 1024
            )
        for nbytes in (4, 8, 16, 32):
            moved = {"bytes": 512 if nbytes == 32 else 32 * nbytes}
            key = f"bandwidth.{'STG' if where == 'L2' else 'DRAM'}.partial.{nbytes}"
            yield _bandwidth(key, "partial", 32, p0=kib, p1=nbytes, mib=8 * nbytes, **moved)


def _small_array_jobs() -> Iterator[Job]:
    """Loads of N KiB by all SMs past L1: of lines at random, and of the same lines at the same time.

    The warps of a block have 64 KiB in flight, so that every N / 64th block begins at the first place again.
    """
    for kib in (1, 4, 16, 32, 64, 128, 256, 1024):
        yield _bandwidth(f"bandwidth.L2.scattered.read.{kib}", "scattered", 32, p0=kib, p1=0, mib=256, bytes=4 * 1024)
    for kib in (64, 256, 1024, 4096):
        yield _bandwidth(f"bandwidth.L2.together.{kib}", "read_cg_4", 32, p0=kib, mib=512, bytes=2048)


def _loaded_jobs() -> Iterator[Job]:
    for where, kib in (("L2", 8192), ("DRAM", DRAM_KIB)):
        for warps, packs in LOADED:
            n = 512 * warps * packs
            keys = (f"loaded_latency.{where}.{n}", f"loaded_bandwidth.{where}.{n}")
            yield Job(keys, "bandwidth", "cycles", "loaded", (f"loaded_{packs}", "links", "flush"),
                      {"warps": warps, "kib": kib, "cold": where == "DRAM"})  # fmt: skip


def _launch_jobs() -> Iterator[Job]:
    yield Job(("launch.empty",), "launches", "us", "graph", ("empty",), {"grid": 1, "threads": 32})
    for blocks in (1, 132, 264, 1056, 4224):
        yield Job((f"launch.small.{blocks}",), "launches", "us", "graph", ("small",), {"grid": blocks, "threads": 128})
    for threads in (32, 128, 256, 1024):
        yield Job((f"launch.block_interval.threads.{threads}",), "launches", "cycles", "block_interval", ("empty",),
                  {"threads": threads})  # fmt: skip
        yield Job((f"launch.block_turnaround.threads.{threads}",), "launches", "cycles", "turnaround", ("blocks",),
                  {"threads": threads, "smem": 200 << 10})  # fmt: skip
    for pages in (16, 128, 1024):
        yield Job((f"launch.cold_TLB.{2 * pages}", f"launch.warm_TLB.{2 * pages}"), "launches", "us", "first_touch",
                  ("pages",), {"pages": pages})  # fmt: skip
