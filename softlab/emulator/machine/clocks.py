"""The clocks of a batch: they count the instructions that it issues, and go on alone while all lanes wait."""

from __future__ import annotations

import numpy as np

#: Registers that tell the time: they grow while a batch runs.
CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")

#: How far the clocks go on, turn by turn, while all lanes wait and nothing changes: three times as far each time, up to
#: some 30 years of nanoseconds. (No power of two: the low 32 bits of a clock must change, too.)
WAITS = tuple(1000 * 3**turn for turn in range(32))
#: Turns after that: what a kernel draws from the clock may end a loop by chance.
MORE_TURNS = 500


def clock(name: str, steps: int) -> np.generic:
    """A clock: the instructions issued so far. It grows, which is all that a kernel may count on."""
    if name in ("clock64", "globaltimer"):
        return np.uint64(steps)
    return np.uint32(steps >> 32 if name.endswith("_hi") else steps & 0xFFFFFFFF)
