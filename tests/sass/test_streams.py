from collections.abc import Sequence

import numpy as np
import pytest

from softlab.sass import Accesses, WarpStream
from softlab.sass.streams import Streams


def test_an_empty_stream_has_no_requests_and_offsets_of_one_more():
    stream = WarpStream(3, 1, np.zeros(0, np.int32), np.zeros(0, np.uint32), Accesses.empty())
    assert len(stream) == 0
    assert len(stream.accesses) == 0
    assert len(stream.accesses.offsets) == len(stream.accesses) + 1


def _streams(blocks: Sequence[int]) -> Streams:
    """Two warps per block; warp k has k instructions, and each second one has two requests."""
    warps = 2 * len(blocks)
    lengths, many = np.arange(warps), 2 * (np.arange(warps) % 2)
    sectors = many * np.arange(warps)
    limits, requests, begins = (np.concatenate(([0], np.cumsum(one))) for one in (lengths, many, sectors))
    offsets = [np.arange(n + 1) * k for k, n in enumerate(many)]
    count = int(requests[-1])
    return Streams(
        np.repeat(np.array(blocks), 2), np.tile([0, 1], len(blocks)), np.arange(limits[-1], dtype=np.int32),
        np.arange(limits[-1], dtype=np.uint32), np.arange(limits[-1], dtype=np.uint32) + 1, limits,
        np.arange(count, dtype=np.int32),
        np.arange(count, dtype=np.uint8), np.arange(count, dtype=np.uint8) % 3, np.arange(count, dtype=np.int32) + 1,
        np.concatenate(offsets).astype(np.int64), np.arange(begins[-1]) * 7, requests, begins,
        {3: np.array([16]), 4: np.array([5, -1])},
    )  # fmt: skip


@pytest.mark.parametrize("chosen", [[], [9], [2, 7], [4, 9, 2, 7], [3]])
def test_streams_of_some_blocks(chosen: list[int]) -> None:
    """Two parts were interpreted one after the other: the blocks do not ascend."""
    whole = _streams([2, 4, 9, 1, 7])
    found = whole.of_blocks(chosen)
    wanted = sorted((one for one in whole if one.block in chosen), key=lambda one: (one.block, one.warp))
    assert len(found) == len(wanted)
    for one, expected in zip(found, wanted, strict=True):
        assert (one.block, one.warp) == (expected.block, expected.warp)
        for name in ("instructions", "active", "came", "barriers"):
            np.testing.assert_array_equal(getattr(one, name), getattr(expected, name))
        for name in ("position", "space", "kind", "wavefronts", "offsets", "sectors"):
            np.testing.assert_array_equal(getattr(one.accesses, name), getattr(expected.accesses, name))
