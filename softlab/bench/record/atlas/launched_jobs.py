"""What is measured of whole launches, of warps that touch several lines, and of groups of instructions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from softlab.bench.record.atlas.records import Job, Source, pieces

_LOAD, _WIDE = r"LDG\.E\.STRONG\.GPU", r"LDG\.E\.128\.STRONG\.GPU"
_KERNELS: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "spin_only": ("any", (r"CS2R.*|S2UR",), (-1,)),
    "spin_store": ("any", (r"STG\.E",), (1,)),
    "spin_load_store": ("any", (r"STG\.E", _LOAD), (1, 1)),
    "gathered": ("loop", (_LOAD,), (1,)),
    "gathered_wide": ("loop", (_WIDE,), (1,)),
    "read_once": ("any", (_WIDE,), (4,)),
    "copy_once": ("any", (_WIDE, r"STG\.E\.128"), (4, 4)),
    "arrays_together": ("any", (_LOAD, r"STG\.E"), (8, 1)),
    "arrays_in_turn": ("any", (_LOAD, r"STG\.E"), (8, 1)),
    "strided_sectors": ("loop", (r"STG\.E\.128",), (8,)),
    "branches_8": ("loop", ("IMAD", "BSSY", "BSYNC"), (128, 16, 16)),
    "branches_16": ("loop", ("IMAD", "BSSY", "BSYNC"), (256, 16, 16)),
    "leave": ("loop", ("IMAD",), (8,)),
    "divisions": ("any", ("FCHK",), (4,)),
    "divisions_f64": ("any", (r"MUFU\.RCP64H",), (-4,)),
    "remainders": ("any", (r"I2F\.U32\.RP",), (-4,)),
    "remainders_64": ("any", (r"CALL.*",), (-4,)),
    "squares": ("loop", ("FMUL",), (64,)),
}
#: Kernel -> name of its operation, and the numbers that it takes.
OPERATIONS = {
    "divisions": ("DIV.F32", 1000, 1), "divisions_f64": ("DIV.F64", 1000, 1),
    "remainders": ("REM.U32", 0x7FFFFFFF, 7), "remainders_64": ("REM.U64", 0x7FFFFFFF, 7),
}  # fmt: skip
#: Blocks and threads per block of launches that do nothing for a while.
SPINS = ((1, 32), (1, 1024), (8, 128), (33, 128), (132, 128), (132, 1024), (264, 256))
#: MiB that one launch after the other reads or copies.
AGAIN = (4, 8, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80)
#: MiB from one array of a launch to its next one.
APART = 64
#: Bytes of code, in chunks, that several warps run.
CODE = (4, 8, 12, 16, 32, 56, 64, 80)


def launched_sources() -> dict[str, Source]:
    """Name -> kernel."""
    return pieces(_KERNELS, "launched.cu")


def launched_jobs() -> Iterator[Job]:
    """All jobs of this part."""
    yield from _launches()
    yield from _lines()
    yield from _code()
    yield from _control()
    yield from _orders()


def _launches() -> Iterator[Job]:
    for kernel in ("spin_only", "spin_store", "spin_load_store"):
        what = kernel.removeprefix("spin_")
        for grid, threads in SPINS:
            keys = tuple(f"start.{state}.spin.{what}.{grid}.threads.{threads}" for state in ("cold", "warm"))
            yield Job(keys, "launches", "cycles", "beyond_spin", (kernel, "spin_store", "empty", "read_cg_4"),
                      {"grid": grid, "threads": threads},
                      note="of a launch beyond an empty one and beyond the cycles for which its blocks do "
                      "nothing")  # fmt: skip
    for kernel in ("read_once", "copy_once"):
        what = kernel.removesuffix("_once")
        for mib in AGAIN:
            each = mib if what == "read" else mib // 2
            keys = tuple(f"launch.{what}.{state}.{mib}" for state in ("cold", "warm"))
            yield Job(keys, "launches", "us", "again", (kernel, "empty", "read_cg_4"),
                      {"grid": 64 * each, "threads": 256, "p1": each},
                      note="beyond an empty one; of that many MiB; warm: after the same launch")  # fmt: skip
    for how in ("together", "in_turn"):
        for arrays, grid in product((1, 2, 4, 8), (132, 1056)):
            keys = tuple(f"launch.arrays.{how}.{state}.{arrays}.blocks.{grid}" for state in ("cold", "warm"))
            yield Job(keys, "launches", "us", "again", (f"arrays_{how}", "empty", "read_cg_4"),
                      {"grid": grid, "threads": 256, "p0": APART, "p1": arrays},
                      note="beyond an empty one; each thread loads a word of that many arrays and stores "
                      "one")  # fmt: skip


def _lines() -> Iterator[Job]:
    for where, kib in (("L2", 8192), ("DRAM", 4 << 20)):
        how = {"p0": kib, "cold": int(where == "DRAM")}
        for sms in (1, 132):
            for lines in (1, 2, 4, 8, 16, 32):
                yield _gathered(f"latency.{where}.lines.{lines}.sms.{sms}", how, sms, 0, 32 // lines)
            for name, lines in (("gathered", 1), ("gathered_wide", 4)):
                yield _gathered(f"latency.{where}.whole.{128 * lines}.sms.{sms}", how, sms, 1, 32, name)
    for pitch in (32, 64, 128, 256, 512, 1024, 4096):
        yield Job((f"latency.DRAM.in_order.{pitch}",), "global memory", "cycles", "in_order",
                  ("chase_cg", "links", "read_cg_4"), {"pitch": pitch},
                  note="a load that needs the one before it, that many bytes further")  # fmt: skip
    for where, kib in (("L2", 16384), ("DRAM", 4 << 20)):
        for pitch in (64, 128, 256):
            how = {"warps": 32, "p0": kib, "p1": pitch, "mib": 128, "bytes": 4096}
            key = f"bandwidth.{where}.write_whole.{pitch}"
            yield Job((key,), "bandwidth", "bytes/cycle", "bandwidth", ("strided_sectors",), how)


def _gathered(key: str, how: dict[str, Any], sms: int, mode: int, p1: int, kernel: str = "gathered") -> Job:
    note = "a load of a warp that needs the one before it, with the loop around it"
    parameters = {**how, "grid": sms, "mode": mode, "p1": p1}
    return Job((key,), "global memory", "cycles", "gathered", (kernel, "read_cg_4"), parameters, note=note)


def _code() -> Iterator[Job]:
    for chunks in CODE:
        yield Job((f"icache.loop.warps.4.{2048 * chunks}",), "instruction cache", "cycles", "code_loop", ("icache",),
                  {"chunks": chunks, "warps": 4})  # fmt: skip
    for chunks in (4, 8, 16, 32):
        keys = tuple(f"icache.again.{state}.warps.4.{2048 * chunks}" for state in ("cold", "warm"))
        yield Job(keys, "instruction cache", "cycles", "code_again", ("icache", "read_cg_4"),
                  {"chunks": chunks, "grid": 132, "warps": 4},
                  note="per 128 bytes of code that the launch before executed, too")  # fmt: skip


def _control() -> Iterator[Job]:
    for over in (8, 16):
        for mode, name in enumerate(("not_taken", "taken", "divergent")):
            how = {"rounds": [64, 192], "mode": mode, "p1": 3, "divisor": 16}
            yield Job((f"cost.BRA.{name}.over.{over}",), "control", "cycles", "slope", (f"branches_{over}",), how,
                      note="of one branch, with its instructions and the IMAD that run")  # fmt: skip
    for exits in (1, 2, 4, 8, 16, 32):
        yield Job((f"cost.leave.{exits}",), "control", "cycles", "slope", ("leave",),
                  {"rounds": [64, 192], "mode": exits, "p1": 3}, note="32 turns of a loop")  # fmt: skip
    for kernel, (name, a, b) in OPERATIONS.items():
        for key, warps in ((f"latency.{name}", 1), (f"interval_sm.{name}", 32)):
            how = {"rounds": [16, 48], "p0": a, "p1": b, "warps": warps, "per": 4 * warps}
            yield Job((key,), "operations", "cycles", "rounds_of_warps", (kernel,), how,
                      note="with an addition in front of it")  # fmt: skip
    how = {"rounds": [16, 48], "p0": 0, "warps": 32, "per": 64 * 32}
    yield Job(("interval_sm.FMUL.squares",), "fp32", "cycles", "rounds_of_warps", ("squares",), how,
              note="both operands are one register")  # fmt: skip


def _orders() -> Iterator[Job]:
    for nbytes in (512, 1024, 4096, 32768):
        yield _red(f"interval_gpu.RED.ADD.order.{nbytes}.sms.132", nbytes, 2, "all warps in the same order")
    for nbytes in (128, 256, 512, 1024, 2048, 4096, 16384, 65536):
        note = "all warps in the same order; the mean of 16 places in memory"
        yield _red(f"interval_gpu.RED.ADD.placed.{nbytes}.sms.132", nbytes, 2, note, places=16)
    for nbytes in (8192, 16384, 65536, 131072):
        yield _red(f"interval_gpu.RED.ADD.random.{nbytes}.sms.132", nbytes, 0, "each lane at a random element")
    yield _red("interval_gpu.RED.ADD.line.4096.sms.132", 4096, 1, "32 neighbours from a random place on")


def _red(key: str, nbytes: int, mode: int, note: str, **more: int) -> Job:
    how = {"p0": nbytes, "p1": 1, "mode": mode, "sms": 132, "warps": 8, **more}
    return Job((key,), "atomics", "cycles", "per_instruction", ("red_add",), how, note=f"over that many bytes: {note}")
