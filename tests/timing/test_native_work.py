"""The compiled pass over what warps execute gives what NumPy gives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.streams import Accesses, Kind, Space, Streams
from softlab.timing.work import BlockWork, block_work

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")
_INSTRUCTIONS = 12


def _traits(random: np.random.Generator) -> Any:
    """What the model asks of a code whose instructions do anything."""
    flags = {name: random.random(_INSTRUCTIONS) < 0.3 for name in ("jumps", "ends", "meets", "parts", "yields")}
    widths, codes = random.choice([4, 8, 16], _INSTRUCTIONS), random.integers(0, 3, _INSTRUCTIONS)
    return SimpleNamespace(widths=widths, codes=codes, **flags)


def _streams(random: np.random.Generator, blocks: list[int]) -> Streams:
    """Three warps per block, the last one without instructions; few sets of lanes, so that they part and meet."""
    warps = 3 * len(blocks)
    lengths = np.where(np.arange(warps) % 3 == 2, 0, random.integers(1, 60, warps))
    asked = np.minimum(lengths, random.integers(0, 40, warps))
    total, limits = int(lengths.sum()), np.concatenate(([0], np.cumsum(lengths)))
    requests = np.concatenate(([0], np.cumsum(asked)))
    position = [np.sort(random.integers(0, max(1, n), m)) for n, m in zip(lengths, asked, strict=True)]
    counts = random.integers(0, 6, int(asked.sum()))
    parts = np.split(counts, requests[1:-1])
    sectors = [np.sort(random.integers(0, 40, n)) for n in counts]
    masks = np.array([0, 0x0F, 0xF0, 0xFF, 0x3C, 0xFFFFFFFF], np.uint32)
    return Streams(
        np.repeat(blocks, 3), np.tile(np.arange(3), len(blocks)),
        random.integers(0, _INSTRUCTIONS, total).astype(np.int32), random.choice(masks, total),
        random.choice(masks, total), limits,
        np.concatenate(position).astype(np.int32), random.integers(0, len(Space), len(counts)).astype(np.uint8),
        random.integers(0, len(Kind), len(counts)).astype(np.uint8),
        random.integers(1, 9, len(counts)).astype(np.int32),
        np.concatenate([np.concatenate(([0], np.cumsum(part))) for part in parts]),
        np.concatenate([*sectors, np.zeros(0, np.int64)]), requests,
        np.concatenate(([0], np.cumsum([part.sum() for part in parts]))), {1: np.array([3, -1])},
    )  # fmt: skip


def _shown(work: BlockWork) -> list[Any]:
    requests = work.requests
    arrays = work.code, work.splits, requests.numbers, requests.counts, requests.sectors, work.lengths, work.asked
    return [work.block, work.barriers, *((one.dtype, one.tolist()) for one in arrays)]


@pytest.mark.parametrize("seed", range(12))
def test_blocks_are_those_of_numpy(seed: int) -> None:
    """Of all blocks and of some; two parts were interpreted one after the other, so that the blocks do not ascend."""
    random = np.random.default_rng(seed)
    blocks = [2, 5, 9] if seed % 2 else [4, 7, 1, 6]
    streams, code = _streams(random, blocks), _traits(random)
    assert isinstance(streams[0].accesses, Accesses)
    for chosen in (None, blocks[1:3], [blocks[-1]], [100]):
        found = []
        for choice in ("none", "all"):
            with compiling(choice):
                found.append([_shown(work) for work in block_work(streams, code, chosen)])
        assert found[0] == found[1]
        assert [one[0] for one in found[0]] == sorted(set(chosen or blocks) & set(blocks))
