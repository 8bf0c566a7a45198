"""Atomics as the machine code has them, and what the hardware counts of each.

A PTX atomic becomes one of these:

* ``ATOMS`` on shared memory. ``ATOMS.POPC.INC`` adds up the lanes of an address first.
* A loop of ``LDS``, arithmetic and ``ATOMS.CAST.SPIN``, where the hardware lacks the operation on shared memory (adding
  floats or 64-bit integers). In each turn one lane per address succeeds, so a warp takes as many turns as it has lanes
  at the most popular address. Other warps at the same address may cost more turns, which a GPU does not repeat exactly.
* ``ATOMG`` or ``ATOM`` on global memory where the result is used, else ``RED``: ``op_atom`` and ``op_red`` in Nsight
  Compute.
* If all lanes use one address, the compiler adds up their values (``VOTE``, ``POPC``, ``REDUX``) and one lane is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.cuda.machine_instructions import Disassembly, MachineInstruction
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.banks import BANK_BYTES, BANKS, WARP, wavefronts_and_conflicts
from softlab.instruments.coalescing import sector_of

#: Lanes whose addresses in global memory differ by a multiple of this take turns.
TURN_PERIOD = 1024
#: More than any address, and the bits of a lane's number below it.
_NO_ADDRESS, _LANE_BITS = (1 << 58) - 1, 5
#: Wavefronts of a compare-and-swap, which compares first and swaps then.
_PASSES = 2
#: SASS opcodes of atomics on global memory -> whether the result is used.
_GLOBAL = {"ATOMG": True, "ATOM": True, "RED": False, "REDG": False}


@dataclass(frozen=True)
class MachineAtomic:
    """What the assembler made of one atomic.

    ``reduction``: on global memory no result comes back; ``elected``: one lane of a warp acts for all; ``counts``: on
    shared memory the lanes of an address are added up first; ``swaps``: it is a compare-and-swap; ``loop``: a loop of
    compare-and-swap.
    """

    reduction: bool = False
    elected: bool = False
    counts: bool = False
    swaps: bool = False
    loop: bool = False


def machine_atomics(image: Image, code: Disassembly) -> dict[int, MachineAtomic]:
    """Index of each atomic of the PTX -> what it is in the machine code. One that is not in the code is left out."""
    by_line: dict[int, list[MachineInstruction]] = {}
    for made_from in code.kernel.instructions:
        by_line.setdefault(made_from.ptx_line, []).append(made_from)
    found = {}
    for index, instruction in enumerate(image.instructions):
        made = by_line.get(instruction.line, ())
        if instruction.opcode in ("atom", "red") and (own := [i for i in made if is_atomic(i)]):
            found[index] = MachineAtomic(
                reduction=not any(_GLOBAL.get(i.opcode, False) for i in own),
                elected=all(i.guard for i in own) and any(i.opcode in ("VOTE", "VOTEU") for i in made),
                counts=any("POPC" in i.modifiers for i in own),
                swaps=any("CAS" in i.modifiers for i in own),
                loop=any("SPIN" in i.modifiers for i in own) and not any(i.opcode in _GLOBAL for i in own),
            )
    return found


def is_atomic(instruction: MachineInstruction) -> bool:
    """Whether a machine instruction is an atomic."""
    return instruction.opcode == "ATOMS" or instruction.opcode in _GLOBAL


def as_in_ptx(instruction: Instruction) -> MachineAtomic:
    """An atomic whose machine code is not known."""
    return MachineAtomic(reduction=instruction.opcode == "red")


def turns(address: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Which turn each lane takes if the lanes of a warp at one address go one after the other.

    address, active: (n, 32). Returns (n, 32) int64: 0 for the first lane at an address; -1 for an inactive lane.
    """
    one = np.where(active, address, 0).max(axis=1, keepdims=True)
    if ((address == one) | ~active).all():
        return np.where(active, active.cumsum(axis=1) - 1, -1)
    # Sort the lanes of each warp by address; a lane's turn is its distance from the first one with this address.
    position = np.arange(address.shape[1])
    key = np.where(active, address.astype(np.int64), _NO_ADDRESS) << _LANE_BITS | position
    key.sort(axis=1)
    new = np.ones(key.shape, bool)
    new[:, 1:] = key[:, 1:] >> _LANE_BITS != key[:, :-1] >> _LANE_BITS
    turn = np.empty(key.shape, np.int64)
    np.put_along_axis(
        turn, key & (WARP - 1), position - np.maximum.accumulate(np.where(new, position, 0), axis=1), axis=1
    )
    return np.where(active, turn, -1)


def atomic_sectors(address: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Sectors of a warp's atomic on global memory: (n,) int64. ``address`` (n, 32) bytes, ``active`` (n, 32).

    Lanes at one address take turns, and so do lanes whose addresses lie a multiple of 1024 bytes apart. A sector counts
    once for each turn in which a lane needs it. (An H200 differs from that by 0.6 % for scattered words of 8 bytes.)
    """
    turn = turns(address.astype(np.int64) % TURN_PERIOD, active)
    key = np.where(active, sector_of(address) * WARP + turn, -1)
    key.sort(axis=1)
    new = key >= 0
    new[:, 1:] &= key[:, 1:] != key[:, :-1]
    return new.sum(axis=1)


def shared_atomic_wavefronts(address: np.ndarray, active: np.ndarray, width: int, atomic: MachineAtomic) -> np.ndarray:
    """Wavefronts of a warp's ``ATOMS``: (n,) int64. ``address`` (n, 32) bytes, ``active`` (n, 32), ``width`` bytes.

    Lanes that meet in a bank go one after the other, at one address as at several. 8 bytes per lane go by half warps.
    A compare-and-swap passes twice.
    """
    if atomic.counts:
        return wavefronts_and_conflicts(address, active, width, True)[0]
    if atomic.loop:
        return loop_turns(address, active, width) * _PASSES * np.maximum(1, _halves_used(active) if width == 8 else 1)
    return _lanes_per_bank(address, active, width).sum(axis=1) * (_PASSES if atomic.swaps else 1)


def loop_turns(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """The least turns of a warp's compare-and-swap loop: (n,) int64. Each turn serves one lane per bank and address."""
    return np.maximum(_lanes_per_bank(address, active, width).max(axis=1), turns(address, active).max(axis=1) + 1)


def _lanes_per_bank(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """The most lanes that meet in a bank, for each group of lanes that goes together: (n, groups)."""
    groups = 2 if width == 8 else 1
    unit = address.astype(np.int64) // max(width, BANK_BYTES) % (BANKS // groups)
    shape = (len(address), groups, WARP // groups)
    found = turns(unit.reshape(-1, shape[2]), active.reshape(-1, shape[2])).max(axis=1) + 1
    return found.reshape(shape[:2])


def _halves_used(active: np.ndarray) -> np.ndarray:
    return active.reshape(-1, 2, WARP // 2).any(axis=2).sum(axis=1)


def elected_lane(active: np.ndarray) -> np.ndarray:
    """The lane that acts for each warp, the last active one: (n, 32) bool."""
    last = WARP - 1 - np.argmax(active[:, ::-1], axis=1)
    return active & (np.arange(WARP) == last[:, None])
