"""Philox4x32-10 in NumPy, from the paper's definition: the oracle of dropout.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
"""

from __future__ import annotations

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
_WORD = (1 << 32) - 1

#: (counter, key, output): the published known answers (Random123, kat_vectors, "philox4x32 10").
KNOWN_ANSWERS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((_WORD,) * 4, (_WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


def philox(counters: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """(n, 4) words of the (n, 4) counters, uint32, under a key."""
    c = [counters[:, i].astype(np.uint64) for i in range(4)]
    word = np.uint64(_WORD)
    for number in range(ROUNDS):
        k = [np.uint64((key[i] + number * WEYL[i]) & _WORD) for i in range(2)]
        first, second = c[0] * np.uint64(MULTIPLIERS[0]), c[2] * np.uint64(MULTIPLIERS[1])
        high = np.uint64(32)
        c = [(second >> high) ^ c[1] ^ k[0], second & word, (first >> high) ^ c[3] ^ k[1], first & word]
    return np.stack(c, axis=1).astype(np.uint32)


def words(count: int, seed: int) -> np.ndarray:
    """The random word of each of the first elements: word n % 4 of counter n // 4, the seed as key."""
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    counters = np.zeros((blocks.size, 4), np.uint64)
    counters[:, 0], counters[:, 1] = blocks & np.uint64(_WORD), blocks >> np.uint64(32)
    return philox(counters, (seed & _WORD, seed >> 32)).reshape(-1)[:count]


def kept(shape: tuple[int, ...], probability: float, seed: int) -> np.ndarray:
    """Which elements dropout keeps: True with 1 - probability."""
    threshold = min(round(probability * 2**32), 2**32 - 1)
    return (words(int(np.prod(shape)), seed) >= threshold).reshape(shape)
