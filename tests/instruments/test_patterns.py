"""Totals by pattern of addresses, against the rule for each warp of the mask by itself."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import Box, lanes_of
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.patterns import PatternCache, bank_figures, matrix_figures, sector_figures

BLOCKS, THREADS = 3, 96
RULES = {"banks": (bank_figures, 128, 2), "matrices": (matrix_figures, 128, 2), "sectors": (sector_figures, 32, 1)}


def masks(random: np.random.Generator) -> np.ndarray:
    """Lanes in one of the forms that a set of lanes has: rows and columns, or scattered ones."""
    rows, columns = random.random(BLOCKS) < 0.7, random.random(THREADS) < random.choice([0.2, 0.9, 1.0])
    rows[random.integers(BLOCKS)] = columns[random.integers(THREADS)] = True
    scattered = random.random((BLOCKS, THREADS)) < 0.4
    scattered[0, 0] = True
    return scattered if random.random() < 0.2 else rows[:, None] & columns


def addresses(random: np.random.Generator, width: int) -> np.ndarray | np.uint64:
    """Aligned addresses: one for all, one per block, of threads in a row or at random, alike in each block or not."""
    start = random.integers(1 << 20, 1 << 21, (BLOCKS, 1)) * width
    stride = random.choice([0, 1, 2, 3, 16, 33]) * width * random.choice([-1, 1])
    threads = (
        np.arange(THREADS)[None] * stride if random.random() < 0.6 else random.integers(0, 99, (1, THREADS)) * width
    )
    forms = {
        "one": start[0, 0],
        "per block": start,
        "per thread": start[:1] + threads,
        "alike": start + threads,
        "any": start + random.integers(0, 99, (BLOCKS, THREADS)) * width,
    }
    return np.uint64(forms[random.choice(list(forms))])


@pytest.mark.parametrize("name", RULES)
def test_the_total_is_that_of_each_warp(name: str) -> None:
    """One cache for many accesses: a pattern that was seen at other addresses or lanes is none that is alike."""
    rule, period, figures = RULES[name]
    cache, random, shared = PatternCache(rule, period, figures), np.random.default_rng(8), 0
    for width in random.choice([1, 2, 4, 8, 16], 300).tolist():
        store = bool(random.random() < 0.5)
        item = np.dtype(f"u{width}") if width < 16 else np.dtype("u8")
        site = Site(0, Instruction("ld", (), ()), "global", item, 1 if width < 16 else 2, store=store)
        mask, address = masks(random), addresses(random, width)
        lanes = lanes_of(mask)
        full = np.broadcast_to(address, mask.shape)
        whole = [(full[b, w : w + 32], mask[b, w : w + 32]) for b in range(BLOCKS) for w in range(0, THREADS, 32)]
        if name == "sectors":
            wanted = [sum(len(set((a[m] // np.uint64(32)).tolist())) for a, m in whole)]
        else:
            each = [rule(a[None].astype(np.int64), m[None], width, store)[0] for a, m in whole]
            wanted = np.sum(each, axis=0).tolist()
        own = lanes.take(address)
        assert cache.total(site, lanes, own).tolist() == wanted, (width, store, address.shape)
        known = KnownAddresses().of(own) if isinstance(lanes, Box) else None
        if known is not None:
            assert isinstance(lanes, Box)
            other = cache if random.random() < 0.5 else PatternCache(rule, period, figures)
            assert other.of_known(site, lanes, known).tolist() == wanted, (width, store, address.shape)
            shared += 1
    assert shared > 50
