"""Compile every kernel of the atlas and check its machine code: ``prepare FOLDER``. It needs no GPU."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from softlab.bench.record.atlas import checks, patching
from softlab.bench.record.atlas.checks import CheckError
from softlab.bench.record.atlas.jobs import jobs, sources
from softlab.bench.record.atlas.records import COMMON, Job, Source
from softlab.cuda.compile import Program, compile_program, nvrtc_version
from softlab.cuda.disassembly import disassemble
from softlab.cuda.machine_instructions import MachineInstruction

#: Registers of a thread beyond which an SM holds less than 64 warps.
MOST_REGISTERS = 32
#: Names of streams whose registers are ours.
_BANKS = re.compile(
    r"stream\.[\w+]+\.banks\.((?P<count>\d)(?P<reuse>\.reuse)?|(?P<pattern>[a-z]+(\.[a-z0-9]+)?)"
    r"(\.to\.(?P<to>even|odd))?(\.stall\.(?P<stall>\d+))?)"
)
_STALLS = re.compile(r"stream\.[\w.]+\.stall\.(?P<cycles>\d+)")


def built(name: str, source: Source) -> tuple[Program, dict[str, Any]]:
    """A kernel's program, and what its machine code has: ``count`` (steps), ``sass``, ``registers``.

    Raises:
        CheckError: the machine code is not what is to be measured; the message begins with the kernel's name.
    """
    program = compile_program(source.text, source.entry, file=f"{name}.cu" if source.entry == "k" else "atlas.cu")
    try:
        if source.other:
            program = patching.only(program, source.wanted[0], source.other)
        if source.model[0]:
            program = patching.uniform(program, _model(*source.model))
        if found := _BANKS.fullmatch(name):
            wanted = source.wanted[0]
            if found["pattern"]:
                program = patching.banks_in_turn(
                    program, wanted, found["pattern"], found["to"] or "", int(found["stall"] or 1)
                )
            else:
                program = patching.banks(program, wanted, int(found["count"]), bool(found["reuse"]))
        elif found := _STALLS.fullmatch(name):
            program = patching.stalled(program, source.wanted[0], int(found["cycles"]))
        elif name.endswith(".unkept"):
            program = patching.unkept(program, source.wanted[0])
        return program, {"registers": program.registers, **_checked(program, source)}
    except CheckError as error:
        raise CheckError(f"{name}: {error}") from None


@lru_cache(maxsize=16)
def _model(kernel: str, pattern: str) -> MachineInstruction:
    """The first instruction of a kernel whose text matches."""
    program, _ = built(kernel, sources()[kernel])
    for instruction in disassemble(program).kernel.instructions:
        if re.fullmatch(pattern, instruction.text):
            return instruction
    raise CheckError(f"{kernel} has no instruction {pattern}")


def _checked(program: Program, source: Source) -> dict[str, Any]:
    instructions = disassemble(program).kernel.instructions
    if source.form == "chain":
        count, more = checks.chain_count(instructions, source.wanted)
        return {"count": count, "sass": _named(more, source.wanted)}
    if source.form == "stream":
        count, more, others = checks.stream_count(instructions, source.wanted)
        return {"count": count, "sass": _named(more, source.wanted), "others": others}
    parts = checks.loops(instructions) if source.form in ("loop", "flight") else [instructions]
    for wanted, count in zip(source.wanted, source.counts, strict=True):
        found = [checks.matching(checks.counted(part), wanted) for part in parts]
        if not any(n == count or (count < 0 and n >= -count) for n in found):
            raise CheckError(f"{found} of {wanted}, not {count}; there are {dict(checks.counted(instructions))}")
        if source.form == "flight" and count > 1 and "LDG" in wanted:
            checks.in_flight(parts[found.index(count)], wanted)
    return {"count": 1, "sass": _named(checks.counted(instructions), source.wanted)}


def _named(names: Iterable[str], wanted: Iterable[str]) -> str:
    """The names that match, in the order of the patterns."""
    listed = sorted(names)
    return ", ".join(dict.fromkeys(n for pattern in wanted for n in listed if re.fullmatch(pattern, n)))


@lru_cache(maxsize=1)
def all_jobs() -> tuple[Job, ...]:
    """All jobs. No two have a row in common.

    Raises:
        CheckError: a key is there twice, or a job names a kernel that does not exist.
    """
    listed = tuple(jobs())
    keys = [key for job in listed for key in job.keys]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    missing = sorted({k for job in listed for k in job.kernels} - set(sources()))
    if twice or missing:
        raise CheckError(f"keys that are there twice: {twice}; kernels that are missing: {missing}")
    return listed


def prepare(folder: Path, beginnings: Sequence[str] = ("",)) -> None:
    """Write ``plan.json`` (jobs and kernels) and ``kernels.zip`` (cubins) into a folder.

    beginnings: only jobs with a row whose key begins with one of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [job for job in all_jobs() if any(key.startswith(tuple(beginnings)) for key in job.keys)]
    used = {name for job in chosen for name in job.kernels} | set(COMMON)
    kernels: dict[str, dict[str, Any]] = {}
    with zipfile.ZipFile(folder / "kernels.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, source in sources().items():
            if name not in used:
                continue
            program, facts = built(name, source)
            how = {"entry": program.entry, "kind": source.kind, "operand": source.operand}
            kernels[name] = {**how, **facts}
            if "__constant__" in source.text and "word(" in source.text and "LDC" in source.wanted:
                kernels[name]["constants"] = section_offset(program.cubin, ".nv.constant3")
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), program.cubin, zipfile.ZIP_DEFLATED)
    listed = [asdict(job) for job in kept(chosen, kernels)]
    plan = {"nvrtc": nvrtc_version(), "digest": _digest(), "kernels": kernels, "jobs": listed}
    (folder / "plan.json").write_text(json.dumps(plan, indent=0))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(kernels)} kernels, {len(listed)} jobs, {sum(len(j['keys']) for j in listed)} rows, {size >> 10} KiB")


def kept(listed: Iterable[Job], kernels: dict[str, dict[str, Any]]) -> list[Job]:
    """The jobs that can be measured: 16 warps per scheduler only of kernels with few enough registers."""
    return [
        replace(job, parameters=dict(job.parameters))
        for job in listed
        if job.parameters.get("warps", 0) <= 32 or kernels[job.kernels[0]]["registers"] <= MOST_REGISTERS
    ]


def section_offset(cubin: bytes, name: str) -> int:
    """Where a section of an ELF file of 64 bits begins in it.

    Raises:
        CheckError: there is none of that name, or it has no bytes in the file.
    """
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + k * size) for k in range(count)]
    for at, kind, _, _, offset, _ in headers:
        start = headers[names][4] + at
        if cubin[start : cubin.index(b"\0", start)].decode() == name and kind == 1:
            return int(offset)
    raise CheckError(f"the cubin has no section {name} with bytes")


def _digest() -> str:
    """A digest of everything that is compiled."""
    digest = hashlib.sha256()
    for name, source in sources().items():
        digest.update(f"{name}\0{source.text}\0".encode())
    return digest.hexdigest()[:16]
