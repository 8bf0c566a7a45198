"""What stays of the tiles of a product in flight when some of its warps have waited."""

from __future__ import annotations

import numpy as np

from softlab.emulator.memory.copies import Copy
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.cluster_hazards import _without

SITE, OTHER = (Site(index, Instruction("wgmma", (), ()), "shared", np.dtype("u4")) for index in range(2))


def product(site: Site, lanes: list[int]) -> Copy:
    lane = np.array(lanes, np.int64)
    return Copy(site, lane, lane // 128, lane * 16, 16, writes=False)


def test_the_tiles_of_warps_that_have_not_waited_stay() -> None:
    copy = product(SITE, [0, 32, 130, 300])
    (left,) = _without(copy, product(SITE, [32, 300, 301]))
    assert (left.lane.tolist(), left.owner.tolist(), left.offset.tolist()) == ([0, 130], [0, 1], [0, 2080])
    assert (left.site, left.nbytes) == (SITE, 16)
    assert _without(copy, product(SITE, [0, 32, 130, 300])) == []
    assert _without(copy, product(OTHER, [0, 32, 130, 300])) == [copy], "another instruction's product"
