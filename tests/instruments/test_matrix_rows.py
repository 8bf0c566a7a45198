"""Which lane gets which word of the rows of ``ldmatrix``: 8 x 8 elements of 16 bits, two in each lane's register."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.matrix_rows import accessors_of_rows


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [4, 8])
def test_each_element_goes_to_the_lane_that_gets_it(trans: bool, count: int) -> None:
    """A row has 4 words, or 8 halves where these are watched: the lane of its address, then those that get elements."""
    modifiers = ("sync", "aligned", "m8n8", "x4", *(("trans",) if trans else ()), "shared", "b16")
    site = Site(0, Instruction("ldmatrix", modifiers, ()), "shared", np.dtype("u4"), 4)
    thread = np.arange(32) + 64
    word = 1000 + np.arange(32)[:, None] * count + np.arange(count)
    found = accessors_of_rows(site, np.arange(32) // 16, word, thread)
    expected = set()
    for lane in range(32):
        number = lane % 8  # the row of its matrix whose address the lane gives
        for element in range(8):
            gets = 4 * element + number // 2 if trans else 4 * number + element // 2
            expected.add((lane // 16, int(word[lane, element * count // 8]), 64 + gets))
        expected |= {(lane // 16, int(one), 64 + lane) for one in word[lane]}
    assert set(zip(*(part.reshape(-1).tolist() for part in found), strict=True)) == expected
