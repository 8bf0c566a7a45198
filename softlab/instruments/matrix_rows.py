"""Which lanes take part in the access to each word of the rows that ``ldmatrix`` and ``stmatrix`` move.

A lane gives the address of a row of 8 elements of 16 bits, and other lanes get the elements, or have them. The PTX ISA
orders neither with what the lanes of the warp did before.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.sites import Site

MATRIX_OPCODES = ("ldmatrix", "stmatrix")
#: Rows of a matrix, and elements of a row.
_SIZE = 8


def accessors_of_rows(
    site: Site, row: np.ndarray, word: np.ndarray, thread: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One access per lane that takes part and word: (row, word, thread), (n,), (n, 1), (n,). Those of a row follow.

    Arguments:
        site: the ``ldmatrix`` or ``stmatrix``.
        row: the block of each lane that gives an address, (lanes,).
        word: the watched words of the lane's row, (lanes, words).
        thread: the lane's thread, (lanes,).
    """
    count = word.shape[1]
    parts = max(_SIZE, count)
    element = np.arange(parts) * _SIZE // parts
    first, number = thread - thread % WARP, thread % _SIZE
    lane = 4 * element + number[:, None] // 2 if site.instruction.has("trans") else 4 * number[:, None] + element // 2
    others = first[:, None] + lane
    words = np.hstack([word, word[:, np.arange(parts) * count // parts]])
    threads = np.hstack([np.broadcast_to(thread[:, None], word.shape), others])
    return np.repeat(row, words.shape[1]), words.reshape(-1, 1), threads.reshape(-1)
