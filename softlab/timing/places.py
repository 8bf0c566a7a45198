"""Which set of L1 a line lies in.

L1 has 512 sets of four lines, however much of it is shared memory, and the line that was used longest ago leaves its
set. The set is a hash of the line's number by exclusive or. On an H200 (2026-11-29) one lane walked four lines of a set
and one more, each of the 2 097 152 lines of 256 MiB in turn: 4092 of them do not fit beside the four, the same ones
again in a second pass. They give the sets of the bits of a line's number below, whose names are chosen so that the
lowest nine bits are the set. A walk of 384 to 1280 lines that lie 3, 5, 7 .. 259 lines apart loses 72 lines in the
mean, and by this hash 0.7 more or fewer.

The local memory of a warp lies together. Where it lies differs from SM to SM and from warp to warp. Eight warps lose no
line up to 96 lines each. Of 12 and 16 warps with 72 lines each the SMs lose 3 and 8 % of the lines in the mean, and the
slowest tenth of 132 SMs 9 and 16 % and more. A launch ends when its slowest SM does. Lines that lie by lot lose 9 and
19 %. So the lines of local memory lie by lot, the same in each estimate, where an SM has more than eight warps. That
is an inference: how the lines of warps lie to each other was not found. 16 warps with 16 or 20 lines each lose none on
any of 132 SMs, and 32 warps with 16 do on the slowest ones. So few lines lose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: The sets of the lines 1, 2, 4 .. 2 097 152. Of higher bits nothing is known.
_OF_BITS = (
    0b000000001, 0b000000010, 0b000000100, 0b000001000, 0b000010000, 0b000100000, 0b001000000, 0b010000000,
    0b100000000, 0b001110001, 0b000011011, 0b101110110, 0b101001001, 0b000111001, 0b111100001, 0b111011101,
    0b011101110, 0b110010100, 0b010001101, 0b110101100, 0b011110100, 0b100101111,
)  # fmt: skip
SETS = 512
#: log2 of the lines that the numbers of local memory leave for a warp, and how many warps, and how many lines of all
#: warps, lose none of theirs.
_WARP, _ALONE, _FEW = 22, 8, 384


class Places(dict[int, int]):
    """Line -> its set. Lines below 0 are of local memory: the complement of the warp and of the line in its own."""

    def __init__(self, local_lines: int, warps: int):
        """``local_lines``: of the local memory that a warp has. ``warps``: of the SM at one time."""
        super().__init__()
        self.local_lines, self.by_lot = local_lines, warps > _ALONE and warps * local_lines > _FEW

    def __missing__(self, line: int) -> int:
        if line >= 0:
            place = _hashed(line)
        elif self.by_lot:
            place = _lot(~line)
        else:
            warp, number = divmod(~line, 1 << _WARP)
            place = _hashed(warp * self.local_lines + number)
        self[line] = place
        return place

    def of(self, lines: np.ndarray) -> np.ndarray:
        """The sets of these lines: int64."""
        if not len(lines) or lines.min() >= 0:
            return _hashes(lines)
        below = ~lines
        if self.by_lot:
            local = _lots(below)
        else:
            local = _hashes((below >> _WARP) * self.local_lines + (below & (1 << _WARP) - 1))
        return np.where(lines >= 0, _hashes(lines), local)


def _of_each(bits: Sequence[int]) -> tuple[int, ...]:
    """The exclusive or of some of these numbers, for each number whose bits say of which."""
    found = [0]
    for bit in bits:
        found += [one ^ bit for one in found]
    return tuple(found)


#: The sets of the lower half of the bits, and of the upper one.
_HALF = len(_OF_BITS) // 2
_LOWER, _UPPER = _of_each(_OF_BITS[:_HALF]), _of_each(_OF_BITS[_HALF:])
_LOWERS, _UPPERS = np.array(_LOWER), np.array(_UPPER)


def _hashed(line: int) -> int:
    """The exclusive or of the sets of its bits."""
    return _LOWER[line & len(_LOWER) - 1] ^ _UPPER[line >> _HALF & len(_UPPER) - 1]


def _hashes(lines: np.ndarray) -> np.ndarray:
    """As :func:`_hashed`."""
    return _LOWERS[lines & len(_LOWERS) - 1] ^ _UPPERS[lines >> _HALF & len(_UPPERS) - 1]


def _lots(lines: np.ndarray) -> np.ndarray:
    """As :func:`_lot`: a product's lowest 32 bits do not depend on what is lost beyond 64 bits."""
    mixed = (lines ^ lines >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return (mixed ^ mixed >> 15) % SETS


def _lot(line: int) -> int:
    """A set that belongs to the line, the same in each run."""
    mixed = (line ^ line >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return (mixed ^ mixed >> 15) % SETS
