"""The parameters of the timing model from an atlas: which row of :mod:`softlab.hardware.atlas` gives which figure."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import log2
from typing import Any

import numpy as np

from softlab.hardware.atlas import Atlas
from softlab.timing import measured_launches as whole
from softlab.timing.memory import WAYS
from softlab.timing.parameters import Parameters

#: Field -> key of the row that it is.
_KEYS = {
    "l1_latency": "latency.L1",
    "l2_latency": "latency.L2",
    "dram_latency": "latency.DRAM",
    "membar_gpu": "latency.MEMBAR.GPU.alone.sms.1",
    "membar_cta": "latency.MEMBAR.CTA",
    "l2_sm_write_bytes": "bandwidth.L2.write.sms.1",
    "distributed_latency": "latency.DSM.LD",
    "l2_sm_bytes": "bandwidth.L2.read.sms.1",
    "launch_microseconds": "launch.empty",
}
#: Opcodes of instructions on matrices. An atlas that has no row of them takes those of a GPU with the same core.
_MATRICES = ("HMMA", "IMMA", "DMMA", "MOVM", "LDSM")
#: Matrices that an instruction loads, one wavefront each.
_LOADED = {"2": 2, "4": 4}
#: Loads of shared memory -> the passes of one without conflicts, and cycles by which each further pass makes a result
#: later: the rows ``latency.LDS.conflict.N``, ``.64.conflict.N`` and ``.128.conflict.N``.
_PASSES, _LATER = {"LDS.64": 2, "LDS.128": 4}, 2
#: A time on a pipe this close to a whole number of cycles is that number: the recorder counts a loop's end, too.
_WHOLE = 0.06
#: Cycles of the loop of ``cost.loop`` by the stall counts of its other instructions: VIADD 2, IMAD 3, ISETP 13.
_LOOP_WITHOUT_BRANCH = 18
#: Cycles from one barrier to the next in the kernel of ``latency.BAR.RED.POPC`` without the B2R that brings its
#: result: LOP3 13, IADD 5, and 17 of the barrier.
_REDUCING_WITHOUT = 35
#: KiB of rings that L1 has no room for.
_FULL = (224, 256)
#: Shared memory that the SM had taken from L1 for that ring: its blocks have one warp, and an SM has room for 32 of
#: them, for each of which the driver keeps 1 KiB.
RING_CARVED = 32 << 10
#: The stall count of IMAD.WIDE in the kernel of ``interval.IMAD.WIDE.warps.1``; the rows ``.stall.N`` have others.
_WIDE_STALL = 4
#: Points of a curve above this share of its peak show the queue in front of the memory, which the model has itself.
_BELOW_PEAK = 0.93
#: Schedulers of an SM, and by what factor stores are faster at least if most of them are merged: between the rows of
#: 16 lines (3.7 to 8.3) and those of 32 (0.8 to 1.9).
_SCHEDULERS, _MERGED = 4, 2.5
#: Bytes of the rows ``RED.ADD.placed.N`` and ``RED.ADD.random.N``, which say how many units of L2 an array has.
_PLACED, _RANDOM = (128, 256, 512, 1024, 2048, 4096, 16384, 65536), (131072, 262144, 4194304)


def with_atlas(given: Parameters, atlas: Atlas, core: Atlas | None = None) -> Parameters:
    """The same figures with an atlas in place of what it has measured.

    Arguments:
        core: the atlas of a GPU with the same core, for instructions on matrices that ``atlas`` has no rows of.
    """
    known: dict[str, Any] = {name: atlas[key] for name, key in _KEYS.items() if key in atlas}
    known |= _memory(atlas) | _control(atlas) | _atomics(atlas) | _fences(atlas)
    known |= whole.of_launches(atlas) | whole.of_lines(atlas) | whole.of_branches(atlas)
    interval = dict(given.interval) | {name: _whole(value) for name, value in _intervals(atlas).items()}
    latency = dict(given.latency) | _classes(atlas, "latency.")
    if reducing := atlas.get("latency.BAR.RED.POPC.blocks.1.warps.1", 0.0):
        latency["B2R"] = reducing - _REDUCING_WITHOUT
    for one in (core, atlas) if core is not None else (atlas,):
        of_matrices = _matrices(one)
        interval |= of_matrices[0]
        latency |= of_matrices[1]
    for name, passes in _PASSES.items():
        if f"latency.{name}" in atlas:
            latency[name] -= _LATER * (passes - 1)
    latency["LDC"] = atlas.get("latency.LDC.KiB.1", latency.get("LDC", 38.0))
    known |= _matches(latency, interval)
    provisional = {name: why for name, why in given.provisional.items() if name not in known and name != "all"}
    return replace(given, interval=interval, latency=latency, provisional=provisional, **known)


def _whole(value: float) -> float:
    near = round(value)
    return float(near) if near and abs(value / near - 1) < _WHOLE else value


def _classes(atlas: Atlas, prefix: str) -> dict[str, float]:
    """Class -> value of the rows of one prefix that are about a class alone, without a number behind it."""
    found = {key.removeprefix(prefix): row.value for key, row in atlas.rows.items() if key.startswith(prefix)}
    return {name: value for name, value in found.items() if name.count(".") < 2 and "+" not in name}


def _intervals(atlas: Atlas) -> dict[str, float]:
    """Class -> cycles on the pipe: with as many warps as gave the least."""
    found: dict[str, float] = {}
    for key, row in atlas.rows.items():
        name = key.removeprefix("interval.")
        if name == key or any(word in name for word in ("banks", "chained", "immediate", "mixed", "stall", "unkept")):
            continue
        name = name.partition(".warps.")[0]
        found[name] = min(row.value, found.get(name, row.value))
    return found


def _matches(latency: dict[str, float], interval: dict[str, float]) -> dict[str, Any]:
    """MATCH.ANY takes the values one after the other: its rows have 32 that differ, those of MATCH.ALL one."""
    one, all_ = "MATCH.ALL", "MATCH.ANY"
    if not all(name in rows for name in (one, all_) for rows in (latency, interval)):
        return {}
    known = {"match_value": interval[all_] / 32 / _SCHEDULERS, "match_later": (latency[all_] - latency[one]) / 31}
    latency[all_], interval[all_] = latency[one], interval[one]
    return known


def _matrices(atlas: Atlas) -> tuple[dict[str, float], dict[str, float]]:
    """Class -> cycles on the pipe, and until the result is there, of instructions on matrices.

    Types of bytes are alike. A load's result comes after its last wavefront, which is counted by itself.
    """
    interval = {name: _whole(value) for name, value in _intervals(atlas).items() if name.startswith(_MATRICES)}
    interval |= {name.removesuffix(".S8.S8"): value for name, value in interval.items() if name.endswith(".S8.S8")}
    latency: dict[str, float] = {}
    for key, row in atlas.rows.items():
        name = key.removeprefix("latency.")
        if name == key or not name.startswith(_MATRICES) or "operand" in name or "conflict" in name:
            continue
        latency[name] = row.value - _LATER * (_LOADED.get(name.rpartition(".")[2], 1) - 1) * name.startswith("LDSM")
    return interval, latency


def _curve(atlas: Atlas, key: str) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        return atlas.series(key)
    except KeyError:
        return None


def _memory(atlas: Atlas) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if curve := _curve(atlas, "bandwidth.L2.read"):
        known["l2_bytes"] = float(curve[1].max())
        known["l2_loaded"] = _loaded(*curve)
    if curve := _curve(atlas, "bandwidth.DRAM.read"):
        in_flight, rate = curve
        known["dram_bytes"] = float(rate.max())
        known["loaded"] = _loaded(in_flight, rate)
        if written := _curve(atlas, "bandwidth.DRAM.write"):
            known["dram_write"] = float(rate.max() / written[1].max())
            if copied := _curve(atlas, "bandwidth.DRAM.copy"):
                known["loaded_copy"] = _loaded(copied[0], copied[1] / 2)
                # A copy of n bytes reads n and writes n: 2 n / copy = n / read + n * (write + turn) / read.
                known["dram_turn"] = max(0.0, float(2 * rate.max() / copied[1].max() - 1) - known["dram_write"])
        known |= _sparse(atlas)
    if "interval_sm.LDG.apart.132" in atlas:  # 32 lanes, 32 lines
        known["l1_lines"] = 32 / _whole(atlas["interval_sm.LDG.apart.132"])
    known |= _l1_capacity(atlas)
    known |= _merged(atlas) | _local_in_part(atlas)
    partial, whole = atlas.get("bandwidth.STG.partial.16", 0.0), atlas.get("bandwidth.STG.partial.32", 0.0)
    if partial and whole:
        known["partial_store"] = max(1.0, whole / partial / 2)
    if written := _curve(atlas, "bandwidth.L2.write"):
        known["l2_write_bytes"] = float(written[1].max())
    if known.get("l2_bytes") and (alone := atlas.get("bandwidth.L2.stride.128", 0.0)):
        known["l2_line_least"] = max(1.0, known["l2_bytes"] / alone)
    if known.get("l2_write_bytes") and (alone := atlas.get("bandwidth.L2.write_stride.128", 0.0)):
        known["l2_line_least_stored"] = max(1.0, known["l2_write_bytes"] / alone)
    in_part = [(n, atlas.get(f"bandwidth.L2.write_stride.{128 // n}", 0.0)) for n in (1, 2, 4)]
    if known.get("l2_write_bytes") and all(rate for _, rate in in_part):
        known["l2_parts"] = tuple((float(n), n * known["l2_write_bytes"] / rate) for n, rate in in_part)
    return known


def _local_in_part(atlas: Atlas) -> dict[str, Any]:
    """Lanes that each store a word of local memory by themselves touch 32 sectors in 32 lines if they lie at 32 words,
    and in 16 lines if they lie at 16."""
    rows = [
        [atlas.get(f"interval_sm.STL.apart.1.words.{words}.warps.16{sms}", 0.0) for words in (64, 16)]
        for sms in ("", ".all_sms")
    ]
    if not all(map(all, rows)):
        return {}
    sectors = [(2 * few - many) / 32 for many, few in rows]
    return {"local_in_part": tuple((row[0] / 32 - each, each) for row, each in zip(rows, sectors, strict=True))}


def _merged(atlas: Atlas) -> dict[str, Any]:
    """The most lines that an SM merges the stores of. The warps of its schedulers begin this number of lines at one
    time, and their stores are ``_MERGED`` times as fast as those that have other warps' stores between them."""
    lines = []
    for warps, (words, turns) in product((1, 2, 4, 8), ((4, 1), (8, 1), (4, 2), (4, 4))):
        name = f"{words}.of.{words}.turns.{turns}.warps"
        rate, apart = (atlas.get(f"bandwidth.L2.words.{name}.{n}", 0.0) for n in (warps, "32.apart"))
        if apart and rate > _MERGED * apart:
            lines.append(words * turns * min(warps, _SCHEDULERS))
    return {"store_lines": max(lines)} if lines else {}


def _l1_capacity(atlas: Atlas) -> dict[str, Any]:
    """A ring of N lines in C places misses in the sets that have a line too many: (N - C) * (ways + 1) lines."""
    rows = {kib: atlas.get(f"latency.chase.{kib}", 0.0) for kib in (128, *_FULL, 512)}
    if not all(rows.values()):
        return {}
    missed = {kib: (rows[kib] - rows[128]) / (rows[512] - rows[128]) for kib in _FULL}
    ring = int(np.mean([kib * (1 - missed[kib] / (WAYS + 1)) for kib in _FULL]) * 1024)
    return {"l1_capacity": ring + RING_CARVED}


def _sparse(atlas: Atlas) -> dict[str, Any]:
    """What the DRAM takes for sectors without their neighbours. A load brings 64 bytes: of 256 bytes a quarter."""
    known: dict[str, Any] = {}
    read = [atlas.get(f"bandwidth.DRAM.stride.{pitch}", 0.0) for pitch in (32, 128, 256)]
    if not all(read):
        return known
    all_, two, one = 256.0, 64 * read[0] / read[1], 32 * read[0] / read[2]
    known["dram_pieces"] = (0.0, one, two, (two + all_) / 2, all_)
    written = [atlas.get(f"bandwidth.DRAM.write_stride.{pitch}", 0.0) for pitch in (256, 128, 64, 32)]
    if all(written):
        known["dram_sparse_write"] = tuple(read[0] / rate for rate in written)
    return known


def _loaded(in_flight: np.ndarray, rate: np.ndarray) -> tuple[tuple[float, float], ...]:
    """By how much a load takes longer at a share of the DRAM's bandwidth: bytes in flight over bandwidth is the time
    that a byte is in flight (Little's law); what it is above the time of an idle memory is due to the load."""
    latency, share = in_flight * 132 / rate, rate / rate.max()
    idle = latency.min()
    points = sorted(
        (float(s), float(max(0.0, t - idle))) for s, t in zip(share, latency, strict=True) if s < _BELOW_PEAK
    )
    rising: list[tuple[float, float]] = [(0.0, 0.0)]
    for s, extra in points:
        rising.append((s, max(extra, rising[-1][1])))
    return tuple(rising)


def _control(atlas: Atlas) -> dict[str, Any]:
    known: dict[str, Any] = {}
    banks = [atlas.get(f"interval.FFMA.banks.{n}", 0.0) for n in (1, 2, 3)]
    if all(banks):
        known["bank_reads"] = (0.0, *(_whole(value) for value in banks))
    known |= _wide(atlas)
    if barrier := _curve(atlas, "latency.BAR.SYNC"):
        warps, cycles = barrier
        some = warps >= 2
        slope, first = np.polyfit(warps[some] - 1, cycles[some], 1)
        known |= {"barrier_stagger": float(max(0.0, slope)), "barrier_latency": float(first)}
    if "cost.loop" in atlas:
        known["branch_taken"] = max(1.0, float(atlas["cost.loop"]) - _LOOP_WITHOUT_BRANCH)
    known |= _instruction_caches(atlas)
    near, behind = (atlas.get(f"latency.LDC.KiB.{kib}", 0.0) for kib in (1, 16))
    if near and behind:
        # Constants and code share the second cache: a line of code takes as long to come from there as a constant.
        known |= {"constant_miss": behind - near, "icache_miss": behind - near}
    for field, key in (
        ("block_intervals", "launch.block_interval.threads"), ("block_turnarounds", "launch.block_turnaround.threads")
    ):  # fmt: skip
        if curve := _curve(atlas, key):
            known[field] = tuple((float(n), float(value)) for n, value in zip(*curve, strict=True))
    return known


def _wide(atlas: Atlas) -> dict[str, Any]:
    """Products of 64 bits. In the kernel of the pair every second IMAD.WIDE has two LOP3 behind it, which take the
    integer pipe together with it."""
    known: dict[str, Any] = {}
    if alone := atlas.get("interval.IMAD.WIDE.warps.1", 0.0):
        known["wide_wait"] = max(0.0, _whole(alone) - _WIDE_STALL)
    rows = [atlas.get(f"interval.{name}", 0.0) for name in ("mixed.IMAD.WIDE+LOP3", "IMAD.WIDE", "LOP3")]
    if all(rows):
        pair, wide, logic = map(_whole, rows)
        known["wide_integer"] = max(0.0, 2 * pair - wide - 2 * logic)
    return known


def _instruction_caches(atlas: Atlas) -> dict[str, Any]:
    """A loop that fits into the second cache alone, and one that fits into none: cycles per 128 bytes of code."""
    second, memory = (atlas.get(f"icache.loop.{size << 10}", 0.0) for size in (64, 192))
    lines = {"icache_line": 8 * second, "icache_line_l2": 8 * memory}
    return {name: value for name, value in lines.items() if value}


def _atomics(atlas: Atlas) -> dict[str, Any]:
    """A line of 128 bytes has 4 sectors in one unit. What all of L2 takes says how many units there are."""
    rows = {
        "atomic_lane": ("interval_gpu.RED.ADD.sms.132", 32),
        "atomic_float_lane": ("interval_gpu.RED.ADD.F32.sms.132", 32),
        "atomic_pass": ("interval_gpu.RED.ADD.line.128.sms.132", 4),
        "atomic_slow_pass": ("interval_gpu.ATOMG.CAS.line.128.sms.132", 4),
        "atomic_sector": ("interval_gpu.RED.ADD.line.4194304.sms.132", 4),
        "atomic_sm": ("interval_gpu.RED.ADD.apart.1", 4),
        "atomic_sm_return": ("interval_gpu.ATOMG.ADD.apart.1", 32),
    }
    known: dict[str, Any] = {name: float(atlas[key]) / parts for name, (key, parts) in rows.items() if key in atlas}
    shared = [atlas.get(f"interval_sm.ATOMS.{name}.lanes.32", 0.0) / 32 for name in ("ADD", "CAS")]
    if all(shared):
        known["shared_atomic"] = tuple(shared)
    known |= _swaps(atlas)
    line, random = (atlas.get(f"interval_gpu.ATOMG.ADD.{where}.262144.sms.132", 0.0) for where in ("line", "random"))
    if line and random and "atomic_sector" in known:
        # 32 lanes of a line lie in 4 sectors, random ones in 32. A sector and its value share the way.
        sector = max(0.0, (random - line) / 28 - known["atomic_sector"])
        lanes = line - 4 * (known["atomic_sector"] + sector)
        known |= {"atomic_return_sector": sector, "atomic_return": max(0.0, lanes / 32)}
    placed = [(n, atlas.get(f"interval_gpu.RED.ADD.placed.{n}.sms.132", 0.0)) for n in _PLACED]
    lanes_at = [(n, atlas.get(f"interval_gpu.RED.ADD.random.{n}.sms.132", 0.0)) for n in _RANDOM]
    if "atomic_lane" in known and all(cycles for _, cycles in placed + lanes_at):
        units = [(log2(n), placed[0][1] / cycles) for n, cycles in placed]
        units += [(log2(n), 32 * known["atomic_lane"] / cycles) for n, cycles in lanes_at]
        known["atomic_spread"] = tuple(units)
    return known


def _swaps(atlas: Atlas) -> dict[str, Any]:
    """A loop that adds a float to shared memory by compare-and-swap, with 32 lanes at 8 words and at 256.

    One warp takes a turn per lane of its busiest bank, as many as ``ATOMS.ADD`` takes passes. 32 warps want each of the
    8 words 4 times each.
    """
    few, many = (f"interval_sm.ATOMS.{{}}.random.{words}" for words in (8, 256))
    loop, passes = "CAST.SPIN", "ADD"
    keys = [few.format(loop) + ".warps.1", many.format(loop) + ".warps.1", few.format(passes), many.format(passes)]
    if not all(key in atlas for key in (*keys, few.format(loop))):
        return {}
    slow, quick, most, least = (float(atlas[key]) for key in keys)
    return {
        "shared_swap": (slow - quick) / (most - least),
        "shared_swap_apart": float(atlas[few.format(loop)]) * 8 / 32,
    }


def _fences(atlas: Atlas) -> dict[str, Any]:
    """64 warps of an SM fence one after the other."""
    known: dict[str, Any] = {}
    if curve := _curve(atlas, "latency.MEMBAR.GPU.sms"):
        known["membar_stored"] = tuple((float(n), float(value)) for n, value in zip(*curve, strict=True))
    for name, key in (("membar_interval", "alone.warps.64"), ("membar_stored_interval", "warps.64")):
        if f"latency.MEMBAR.GPU.{key}" in atlas:
            known[name] = float(atlas[f"latency.MEMBAR.GPU.{key}"]) / 64
    return known
