"""What the warps of the sampled blocks executed, as plain lists, which are quick in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.sass.streams import Kind, Space, WarpStream

#: (position, space, kind, wavefronts, sectors, lanes, bytes per lane, whether it passes L1 by; of an atomic: its code)
MemoryRequest = tuple[int, int, int, int, tuple[int, ...], int, int, int]
#: Atomics that take their unit of L2 for longer: 1 adds floats, which waits longer for the same word; 2 adds doubles or
#: compares; 0 are all others.
ATOMIC_CODES = (0, 1, 2)
#: Loads that every reader has to see as L2 has it pass L1 by (PTX ISA: ld.relaxed, ld.acquire, ld.volatile).
_STRONG = frozenset(("STRONG", "GPU", "SYS", "MMIO"))

#: Whether a request of each kind changes memory.
_WRITES = np.array([kind in (Kind.STORE, Kind.ATOMIC, Kind.REDUCTION) for kind in Kind])
_BRANCHES = frozenset(("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"))
_ATOMICS = frozenset(("ATOM", "ATOMG", "RED", "REDG"))
_FLOATS = frozenset(("F32", "F16", "F16x2", "BF16", "BF16_V2", "FTZ"))
_SLOW = frozenset(("CAS", "F64"))


@dataclass(frozen=True)
class WarpWork:
    """The instructions of one warp by index, and its requests in order; ``splits``: the positions of the branches at
    which its lanes part."""

    code: list[int]
    requests: list[MemoryRequest]
    splits: frozenset[int] = frozenset()


@dataclass(frozen=True)
class BlockWork:
    """One block: its linear index in the grid and its warps."""

    block: int
    warps: tuple[WarpWork, ...]

    @property
    def instructions(self) -> int:
        """Instructions that its warps issue."""
        return sum(len(warp.code) for warp in self.warps)


def block_work(streams: Sequence[WarpStream], code: Sequence[MachineInstruction]) -> list[BlockWork]:
    """The blocks of the streams, in order of their index."""
    widths = [access_width(one) for one in code]
    strong = [_atomic_code(one) if one.opcode in _ATOMICS else int(bool(_STRONG & set(one.modifiers))) for one in code]
    branches = np.array([one.opcode in _BRANCHES for one in code], bool)
    blocks: dict[int, list[WarpStream]] = {}
    for stream in streams:
        blocks.setdefault(stream.block, []).append(stream)
    return [
        BlockWork(index, tuple(_warp(s, widths, strong, branches) for s in sorted(blocks[index], key=lambda s: s.warp)))
        for index in sorted(blocks)
    ]


def access_width(one: MachineInstruction) -> int:
    """Bytes per lane that an instruction accesses."""
    if one.width:
        return one.width
    return 8 if "64" in one.modifiers else 16 if "128" in one.modifiers else 4


def _atomic_code(one: MachineInstruction) -> int:
    modifiers = set(one.modifiers)
    return 2 if modifiers & _SLOW else int(bool(modifiers & _FLOATS))


def _warp(stream: WarpStream, widths: list[int], strong: list[int], branches: np.ndarray) -> WarpWork:
    accesses = stream.accesses
    code = stream.instructions.tolist()
    offsets, sectors = accesses.offsets.tolist(), accesses.sectors.tolist()
    lanes = np.bitwise_count(stream.active[accesses.position]).tolist()
    requests: list[MemoryRequest] = []
    columns = (
        accesses.position.tolist(),
        accesses.space.tolist(),
        accesses.kind.tolist(),
        accesses.wavefronts.tolist(),
    )
    for k, (position, space, kind, wavefronts) in enumerate(zip(*columns, strict=True)):
        touched = () if space == Space.SHARED else tuple(sectors[offsets[k] : offsets[k + 1]])
        one = code[position]
        requests.append((position, space, kind, wavefronts, touched, lanes[k], widths[one], strong[one]))
    before, after = stream.active[:-1], stream.active[1:]
    parts = (before != after) & (after & ~before == 0) & branches[stream.instructions[:-1]]
    return WarpWork(code, requests, frozenset(np.flatnonzero(parts).tolist()))


def touched(streams: Sequence[WarpStream], stored: bool = False) -> list[np.ndarray]:
    """The distinct sectors of global memory that each block touches, or stores: int64 (m,) per block, ascending."""
    found: dict[int, list[np.ndarray]] = {}
    for stream in streams:
        accesses = stream.accesses
        wanted = accesses.space == Space.GLOBAL
        if stored:
            wanted &= _WRITES[accesses.kind]
        sectors = accesses.sectors
        if not wanted.all():
            sectors = sectors[np.repeat(wanted, np.diff(accesses.offsets))]
        found.setdefault(stream.block, []).append(sectors)
    return [distinct(np.concatenate(found[block])) for block in sorted(found)]


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values in ascending order. ``np.unique`` sorts small integers by hash, which takes far longer."""
    values = np.sort(values)
    kept = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=kept[1:])
    return values[kept]


def local_bytes(streams: Sequence[WarpStream]) -> float:
    """Bytes of local memory that a warp uses, in the mean."""
    used = 0
    for stream in streams:
        accesses = stream.accesses
        local = accesses.space == Space.LOCAL
        if local.any():
            used += 32 * len(distinct(accesses.sectors[np.repeat(local, np.diff(accesses.offsets))]))
    return used / max(1, len(streams))


def stored_bytes(streams: Sequence[WarpStream], code: Sequence[MachineInstruction]) -> int:
    """The bytes that the stores of all streams write to global memory."""
    widths = np.array([access_width(one) for one in code])
    stored = 0
    for stream in streams:
        accesses = stream.accesses
        position = accesses.position[(accesses.space == Space.GLOBAL) & (accesses.kind == Kind.STORE)]
        if len(position):
            lanes = np.bitwise_count(stream.active[position])
            stored += int((lanes * widths[stream.instructions[position]]).sum())
    return stored
