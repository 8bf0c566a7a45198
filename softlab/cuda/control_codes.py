"""Control codes: what the assembler tells the GPU's scheduler with each machine instruction.

A GPU of compute capability 7.0 or later does not check by itself whether the operands of an instruction are ready. Its
assembler knows the latency of most instructions and writes into each 128-bit instruction how long the warp waits. For
loads and other instructions whose latency varies, six counters per warp, the scoreboards, take the place of the fixed
time: one instruction sets a scoreboard, and a later one waits until that scoreboard is zero.

The fields, as bits of the 128-bit encoding:

======== ============== ==========================================================================================
105-108  stall count    cycles until the warp may issue its next instruction
109      yield bit      a hint to the scheduler, see below
110-112  write barrier  the scoreboard that is released when the result is written (7: none)
113-115  read barrier   the scoreboard that is released when the source registers have been read (7: none)
116-121  wait mask      the scoreboards that must be zero before this instruction is issued, one bit for each
122-125  reuse          operands that are kept in the register file's cache, one bit for each operand slot
======== ============== ==========================================================================================

Sources: Z. Jia, M. Maggioni, B. Staiger, D. P. Scarpazza, Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking, arXiv 1804.06826, section 2.1; the encoder of Mesa's compiler NAK for compute capability 7.0 and
later; R. Huerta et al., Analyzing Modern NVIDIA GPU Cores, arXiv 2503.20481, section 4. NVIDIA documents none of it.

An architecture is in ``CONFIRMED`` if two checks of the shipped kernels' machine code hold for it
(``tests/cuda/test_control_codes.py``, ``tests/instruments/test_scoreboards.py``): the reuse bits are as many as the
operands that nvdisasm prints with ``.reuse``, and the scoreboards cover every result of variable latency, along all
paths (:mod:`softlab.instruments.scoreboards`). For other architectures the control code is not known here.

**The yield bit.** The published readings disagree. Jia et al. find on Volta that a set bit makes the scheduler prefer
the same warp, and a cleared bit another one; assemblers for Turing print a cleared bit as "yield". Huerta et al. say
that an instruction with "Yield" is not followed by one of the same warp in the next cycle, and do not say which value
means that. NAK sets the bit at barriers and calls this a yield. In the shipped kernels the bit is always clear where
the stall count is 0, or 12 and more, and set at every BAR and BSYNC. That decides nothing, so :class:`ControlCode` has
the bit as it stands, and no sentence of softlab says what it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The architectures whose layout is confirmed by the checks above.
CONFIRMED = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
#: The number of scoreboards per warp.
SCOREBOARDS = 6
#: The value of a barrier field that names no scoreboard.
_NONE = 7
_LOWEST = 105
_STALL, _YIELD, _WRITE, _READ, _WAIT, _REUSE = (0, 4), (4, 1), (5, 3), (8, 3), (11, 6), (17, 4)
_FIELDS = ((1 << 21) - 1) << _LOWEST
_ARCHITECTURE = re.compile(r"(sm_\d+)[af]?")


@dataclass(frozen=True, slots=True)
class ControlCode:
    """The scheduling fields of one machine instruction.

    ``stall_cycles``: 0 to 15, the cycles until the warp may issue its next instruction; ``yields``: the yield bit as it
    stands in the encoding (the module says why its meaning is open); ``write_barrier`` and ``read_barrier``: the
    scoreboard, 0 to 5, that the instruction sets until its result is written or its sources are read, None for none;
    ``wait_mask``: bit k is set if the instruction waits for scoreboard k; ``reuse``: one bit per operand slot.
    """

    stall_cycles: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int

    def __post_init__(self) -> None:
        limits = {"stall_cycles": 15, "wait_mask": 63, "reuse": 15}
        for name, most in limits.items():
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} {getattr(self, name)}: it is a number from 0 to {most}")
        for name in ("write_barrier", "read_barrier"):
            number = getattr(self, name)
            if number is not None and not 0 <= number < _NONE:
                raise ValueError(f"{name} {number}: it is None, or a scoreboard from 0 to {SCOREBOARDS - 1}")

    @property
    def waits(self) -> tuple[int, ...]:
        """The scoreboards that the instruction waits for, in ascending order."""
        return tuple(number for number in range(SCOREBOARDS) if self.wait_mask >> number & 1)


def known(arch: str) -> bool:
    """Whether the layout of that architecture ("sm_90", "sm_90a") is confirmed."""
    found = _ARCHITECTURE.fullmatch(arch)
    return found is not None and found[1] in CONFIRMED


def decode(encoding: int, arch: str) -> ControlCode | None:
    """The control code of a 128-bit instruction, None if the architecture's layout is not confirmed.

    Raises:
        ValueError: the encoding has more than 128 bits or is negative.
    """
    _check(encoding)
    if not known(arch):
        return None
    write, read = _get(encoding, _WRITE), _get(encoding, _READ)
    return ControlCode(
        _get(encoding, _STALL),
        bool(_get(encoding, _YIELD)),
        None if write == _NONE else write,
        None if read == _NONE else read,
        _get(encoding, _WAIT),
        _get(encoding, _REUSE),
    )


def encode(encoding: int, code: ControlCode, arch: str) -> int:
    """The 128-bit instruction with this control code instead of its own; all other bits stay.

    Raises:
        ValueError: the layout of the architecture is not confirmed, or the encoding has more than 128 bits.
    """
    _check(encoding)
    if not known(arch):
        raise ValueError(f"the control codes of {arch!r} are not known; they are for {', '.join(CONFIRMED)}")
    fields = (
        (_STALL, code.stall_cycles),
        (_YIELD, int(code.yields)),
        (_WRITE, _NONE if code.write_barrier is None else code.write_barrier),
        (_READ, _NONE if code.read_barrier is None else code.read_barrier),
        (_WAIT, code.wait_mask),
        (_REUSE, code.reuse),
    )
    return encoding & ~_FIELDS | sum(value << _LOWEST + low for (low, _), value in fields)


def _get(encoding: int, field: tuple[int, int]) -> int:
    low, width = field
    return encoding >> _LOWEST + low & (1 << width) - 1


def _check(encoding: int) -> None:
    if not 0 <= encoding < 1 << 128:
        raise ValueError(f"encoding {encoding:#x}: a machine instruction has 128 bits")
