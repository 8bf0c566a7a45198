"""Counts what the hardware counts, a warp at a time, by PTX instruction.

Which wavefronts and sectors an access takes is decided by the pure rules of :mod:`softlab.instruments.banks` and
:mod:`softlab.instruments.coalescing`; here they are asked once a pattern and remembered: an access repeats its pattern in
every block, and in every turn of a loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.flow import Block, is_warp_synchronous
from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.linker import Image
from softlab.emulator.memory import Site
from softlab.emulator.observers import Observer
from softlab.emulator.ptx import Instruction
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import global_sectors
from softlab.traces import COUNTERS, InstructionCounters

_COLUMN = {name: number for number, name in enumerate(COUNTERS)}
#: Patterns repeat when all addresses move by this: a turn around all banks.
_BANK_PERIOD = 128
#: Widest access that the coalescing rule takes; a wider, aligned one lies in the sector of its first bytes.
_RULE_WIDTH = 16
_SECTOR = 32
#: Remembered patterns; beyond it memory would grow with the run.
_REMEMBERED = 4096

#: (address (n, 32), active (n, 32), width, store) -> one row of figures a warp, (n, figures).
_Rule = Callable[[np.ndarray, np.ndarray, int, bool], np.ndarray]


def _bank_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    return np.stack(wavefronts_and_conflicts(address, active, width, store), axis=1)


def _sector_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    return global_sectors(address, active, min(width, _RULE_WIDTH))[:, None]


class PatternMemory:
    """Totals of a rule over the warps of an access, each different pattern worked out once.

    ``period``: moving all addresses by it changes nothing.
    """

    def __init__(self, rule: _Rule, period: int) -> None:
        self._rule = rule
        self._period = period
        self._known: dict[tuple, np.ndarray] = {}

    def total(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        """The rule's figures summed over all warps of the set: (figures,) int64."""
        if not isinstance(lanes, Box):
            return self._each_warp(site, lanes, address)
        if not isinstance(address, np.ndarray):
            address = np.full((1, 1), address)
        first = address[:, :1]
        relative = address - first
        if len(relative) > 1:
            if relative.shape[1] > 1 and (relative != relative[0]).any():
                return self._each_warp(site, lanes, address)
            relative = relative[:1]
        phase = first[:, 0] & first.dtype.type(self._period - 1)
        times = lanes.extent[0] // len(phase)
        if (phase == phase[0]).all():
            return self._block(site, lanes, relative, int(phase[0])) * (times * len(phase))
        values, counts = np.unique(phase, return_counts=True)
        return sum(  # type: ignore[return-value]
            self._block(site, lanes, relative, int(value)) * (times * int(count))
            for value, count in zip(values, counts, strict=True)
        )

    def _block(self, site: Site, lanes: Box, relative: np.ndarray, phase: int) -> np.ndarray:
        """The figures of one block whose first lane's address is ``phase`` and the others relative to it."""
        columns = b"" if lanes.columns is None else lanes.columns.tobytes()
        key = (site.width, site.store, phase, columns, lanes.threads, relative.shape[1], relative.tobytes())
        found = self._known.get(key)
        if found is None:
            # Away from zero, so that addresses before the first lane's stay positive.
            middle = relative.dtype.type(1 << 30) + relative.dtype.type(phase)
            address = lanes.spread(np.broadcast_to(relative + middle, (1, lanes.extent[1])))
            found = self._solve(site, address, lanes.warp_mask)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = found
        return found

    def _each_warp(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        spread = lanes.spread(np.broadcast_to(address, lanes.extent))
        return self._solve(site, spread, lanes.warp_mask)

    def _solve(self, site: Site, address: np.ndarray, active: np.ndarray) -> np.ndarray:
        active = np.broadcast_to(active, address.shape).reshape(-1, WARP)
        some = active.any(axis=1)
        return self._rule(address.reshape(-1, WARP)[some], active[some], site.width, site.store).sum(axis=0)


class Counters(Observer):
    """Counts a run. Read :meth:`result` when it is over.

    ``image`` is the kernel's, its instructions are the rows.
    """

    def __init__(self, image: Image) -> None:
        self._image = image
        self._counts = np.zeros((len(image.instructions), len(COUNTERS)), np.int64)
        self._warps: dict[int, int] = {}
        self._ranges: dict[int, tuple[int, int]] = {}
        self._banks = PatternMemory(_bank_figures, _BANK_PERIOD)
        self._sectors = PatternMemory(_sector_figures, _SECTOR)

    def block(self, block: Block, lanes: Lanes) -> None:
        """Every instruction of the block is issued once a warp."""
        index = block.index
        self._warps[index] = self._warps.get(index, 0) + lanes.warps
        self._ranges[index] = (block.start, block.stop)

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Wavefronts and conflicts of a load or store; atomics have counters of their own on hardware."""
        if site.operation:
            return
        counts = self._counts[site.index]
        wavefronts, conflicts = self._banks.total(site, lanes, address)
        counts[_COLUMN["shared_store_wavefronts" if site.store else "shared_load_wavefronts"]] += wavefronts
        counts[_COLUMN["bank_conflicts"]] += conflicts
        if not site.instruction.has("shared", "shared::cta", "shared::cluster"):  # a generic address
            counts[_COLUMN["shared_store_instructions" if site.store else "shared_load_instructions"]] += lanes.warps

    def global_access(self, site: Site, lanes: Lanes, address: Value) -> None:
        """Requests and sectors of a load or store of global memory."""
        if site.operation or site.space == "const":
            return
        kind = "store" if site.store else "load"
        counts = self._counts[site.index]
        counts[_COLUMN[f"global_{kind}_requests"]] += lanes.warps
        counts[_COLUMN[f"global_{kind}_sectors"]] += self._sectors.total(site, lanes, address)[0]

    def result(self) -> InstructionCounters:
        """The counters of every instruction of the kernel."""
        counts = self._counts.copy()
        issued = np.zeros(len(counts), np.int64)
        for index, (start, stop) in self._ranges.items():
            issued[start:stop] += self._warps[index]
        instructions = self._image.instructions
        for number, instruction in enumerate(instructions):
            for name in _counted_when_issued(instruction):
                counts[number, _COLUMN[name]] += issued[number]
        return InstructionCounters(
            tuple(i.text for i in instructions),
            tuple(tuple((f.file, f.line) for f in i.frames) for i in instructions),
            counts,
        )


def _counted_when_issued(instruction: Instruction) -> tuple[str, ...]:
    """The counters that an instruction adds to once a warp, whatever its lanes do.

    What the parser and the linker have put in themselves has no text and is no instruction of the machine.
    """
    if not instruction.text:
        return ()
    names = ["instructions"]
    if instruction.opcode == "shfl":
        names.append("shuffle_instructions")
    elif instruction.opcode in ("bar", "barrier") and not is_warp_synchronous(instruction):
        names.append("barriers")
    elif instruction.opcode in ("ld", "st") and instruction.has("shared", "shared::cta", "shared::cluster"):
        names.append("shared_load_instructions" if instruction.opcode == "ld" else "shared_store_instructions")
    return tuple(names)
