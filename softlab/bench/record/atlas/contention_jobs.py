"""What is measured of contention, and of the beginning of a launch: jobs and kernels of ``contention.cu``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softlab.bench.record.atlas.records import Job, Source, pieces

#: Kernel -> class of its atomics, as in the keys.
ATOMICS = {
    "red_add": "RED.ADD", "red_add_f32": "RED.ADD.F32", "red_max": "RED.MAX", "red_add_64": "RED.ADD.64",
    "red_add_f64": "RED.ADD.F64", "red_add_f16x2": "RED.ADD.F16x2", "atom_add": "ATOMG.ADD", "atom_cas": "ATOMG.CAS",
}  # fmt: skip
SHARED = {
    "atoms_inc": "ATOMS.POPC.INC", "atoms_add": "ATOMS.ADD", "atoms_add_returned": "ATOMS.ADD.returned",
    "atoms_cas": "ATOMS.CAS.returned", "atoms_cas_64": "ATOMS.CAS.64.returned", "atoms_max": "ATOMS.MAX",
    "atoms_add_f32": "ATOMS.CAST.SPIN", "lds_random": "LDS",
}  # fmt: skip
_RED = r"RED[G]?\.E\..*"
_ATOM = r"ATOM[G]?\.E\..*"
_ROUNDS = [64, 192]
_KERNELS: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    **dict.fromkeys(
        ("red_add", "red_add_f32", "red_max", "red_add_64", "red_add_f64", "red_add_f16x2"), ("any", (_RED,), (-4,))
    ),
    **dict.fromkeys(("atom_add", "atom_cas"), ("any", (_ATOM,), (-4,))),
    "atoms_inc": ("any", (r"ATOMS\.POPC\.INC.*",), (-4,)),
    "atoms_add": ("any", (r"ATOMS\.ADD",), (-4,)),
    "atoms_add_returned": ("any", (r"ATOMS\.ADD",), (-4,)),
    "atoms_cas": ("any", (r"ATOMS\.CAS",), (-4,)),
    "atoms_cas_64": ("any", (r"ATOMS\.CAS\.64",), (-4,)),
    "atoms_max": ("any", (r"ATOMS\.MAX.*",), (-4,)),
    "atoms_add_f32": ("any", (r"ATOMS\.CAST\.SPIN.*",), (-4,)),
    "lds_random": ("any", (r"LDS",), (-4,)),
    "fence_gpu": ("loop", (r"MEMBAR\.SC\.GPU", r"STG\.E"), (1, 1)),
    "fence_cta": ("loop", (r"MEMBAR\.SC\.CTA", r"STG\.E"), (1, 1)),
    "barriers": ("loop", (r"BAR\.SYNC.*",), (8,)),
    "strided_write": ("loop", (r"STG\.E",), (8,)),
    "start": ("loop", (r"LDG\.E\.STRONG\.GPU",), (1,)),
    "start_parameter": ("any", ("EXIT",), (-1,)),
    "start_store": ("any", (r"STG\.E",), (1,)),
}


def contention_sources() -> dict[str, Source]:
    """Name -> kernel."""
    return pieces(_KERNELS, "contention.cu")


def contention_jobs() -> Iterator[Job]:
    """All jobs of this part."""
    yield from _global_atomics()
    yield from _shared_atomics()
    yield from _waits()
    yield from _starts()


def _atomic(kernel: str, spread: str, nbytes: int, sms: int, warps: int = 8) -> Job:
    key = f"interval_gpu.{ATOMICS[kernel]}.{spread}.{nbytes}.sms.{sms}" + (f".warps.{warps}" if warps != 8 else "")
    how = {"p0": nbytes, "p1": 1, "mode": int(spread == "line"), "sms": sms, "warps": warps}
    note = "each lane at a random element" if spread == "random" else "32 neighbours from a random place on"
    return Job((key,), "atomics", "cycles", "per_instruction", (kernel,), how, note=f"{note} of that number of bytes")


def _global_atomics() -> Iterator[Job]:
    for nbytes in (32, 128, 1024, 4096, 32768, 262144, 4 << 20):
        for sms in (1, 8, 32, 132):
            yield _atomic("red_add", "random", nbytes, sms)
    for nbytes in (128, 1024, 32768, 262144, 4 << 20):
        for sms in (1, 8, 132):
            yield _atomic("red_add", "line", nbytes, sms)
    for kernel in ("red_add_f32", "red_max", "red_add_64", "red_add_f64", "red_add_f16x2", "atom_add", "atom_cas"):
        for nbytes in (128, 4096, 262144, 4 << 20):
            yield _atomic(kernel, "random", nbytes, 132)
        for nbytes in (128, 262144):
            yield _atomic(kernel, "line", nbytes, 132)
    for kernel in ("red_add_f32", "atom_add"):
        for nbytes in (128, 4096, 262144):
            yield _atomic(kernel, "random", nbytes, 1)
    for kernel in ("red_add", "atom_add"):
        for nbytes in (128, 262144):
            yield _atomic(kernel, "random", nbytes, 132, 1)
            yield _atomic(kernel, "random", nbytes, 132, 32)


def _shared_atomics() -> Iterator[Job]:
    for kernel, name in SHARED.items():
        for words in (1, 2, 4, 8, 32, 256, 4096):
            if kernel == "atoms_add_f32" and words < 8:
                continue
            for warps in (1, 32):
                key = f"interval_sm.{name}.random.{words}" + (".warps.1" if warps == 1 else "")
                how = {"rounds": _ROUNDS, "p0": words, "p1": 3, "warps": warps, "per": 4 * warps}
                yield Job((key,), "shared memory", "cycles", "rounds_of_warps", (kernel,), how,
                          note="each lane at a random word of that number")  # fmt: skip
        if kernel != "lds_random":
            how = {"rounds": _ROUNDS, "p0": 4096, "p1": 3, "warps": 32, "per": 128, "mode": 1}
            yield Job((f"interval_sm.{name}.line.4096",), "shared memory", "cycles", "rounds_of_warps", (kernel,), how)


def _warps(key: str, kernel: str, per: int, warps: int, grid: int, **parameters: Any) -> Job:
    how = {"rounds": [16, 48], "warps": warps, "grid": grid, "per": per, **parameters}
    return Job((key,), "control", "cycles", "rounds_of_warps", (kernel,), how)


def _waits() -> Iterator[Job]:
    for mode, name in enumerate(("MEMBAR.GPU", "MEMBAR.GPU.alone")):
        for sms in (1, 8, 32, 132):
            yield _warps(f"latency.{name}.sms.{sms}", "fence_gpu", 1, 1, sms, mode=mode)
        for warps in (2, 4, 8, 32):
            yield _warps(f"latency.{name}.warps.{warps}", "fence_gpu", 1, warps, 132, mode=mode)
            yield _warps(f"latency.{name}.one_sm.warps.{warps}", "fence_gpu", 1, warps, 1, mode=mode)
        yield _warps(f"latency.{name}.warps.64", "fence_gpu", 1, 32, 264, mode=mode)
    for warps in (1, 8, 32):
        yield _warps(f"latency.MEMBAR.CTA.warps.{warps}", "fence_cta", 1, warps, 132)
    for warps in (1, 2, 4, 8, 16, 32):
        for blocks in (2, 4, 8):
            if warps * blocks <= 64:
                key = f"latency.BAR.SYNC.blocks.{blocks}.warps.{warps}"
                yield _warps(key, "barriers", 8, warps, 132 * blocks)


def _starts() -> Iterator[Job]:
    parts = ("parameter", "first_load", "load", "outside")
    for name, pitch, apart in (("pages", 2048, 128), ("lines", 1, 128)):
        for grid in (1, 132):
            keys = tuple(f"start.{state}.{name}.{part}.blocks.{grid}" for state in ("cold", "warm") for part in parts)
            how = {"grid": grid, "pitch": pitch, "apart": apart}
            kernels = ("start", "empty", "read_cg_4")
            yield Job(keys, "launches", "cycles", "started", kernels, how,
                      note="cycles until a parameter is there, of a block's first load and of its later ones, and of "
                      "the launch beyond an empty one and beyond what its blocks see")  # fmt: skip
    for kernel, name in (("start_parameter", "parameter"), ("start_store", "store")):
        for grid, threads in ((1, 32), (1, 1024), (132, 128), (132, 1024)):
            keys = tuple(f"start.{state}.{name}.{grid}.threads.{threads}" for state in ("cold", "warm"))
            yield Job(keys, "launches", "cycles", "beyond_empty", (kernel, "empty", "read_cg_4"),
                      {"grid": grid, "threads": threads})  # fmt: skip
    for chunks in (1, 4, 8, 16, 32, 56):
        for grid in (1, 132):
            where = ".all_sms" if grid > 1 else ""
            keys = tuple(f"icache.again.{state}{where}.{2048 * chunks}" for state in ("cold", "warm"))
            yield Job(keys, "instruction cache", "cycles", "code_again", ("icache", "read_cg_4"),
                      {"chunks": chunks, "grid": grid},
                      note="per 128 bytes of code that the launch before executed, too")  # fmt: skip
