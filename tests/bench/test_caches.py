"""What was recorded of the cache, arranged; the arithmetic held to sums written out here."""

from __future__ import annotations

import pytest

from softlab.bench import caches
from softlab.plans import forced


@pytest.mark.parametrize(
    ("block_size", "cols", "grid", "rows"),
    [
        (1024, 65_536, None, 2 * 132),  # 2048 threads per SM, 132 SMs
        (512, 65_536, None, 4 * 132),
        (256, 262_144, None, 256),  # as many rows as there are
        (1024, 65_536, 66, 66),
    ],
)
def test_rows_in_flight(block_size, cols, grid, rows):
    made = forced((1 << 26) // cols, cols, kernel="block_uncached", block_size=block_size, device="H200")
    found = caches.flight(made, grid)
    assert (found.rows, found.bytes) == (rows, rows * cols * 4)
    assert found.mib == pytest.approx(rows * cols * 4 / 1048576)


def test_every_launch_read_once_at_least_and_three_times_at_most():
    found = caches.recorded()
    assert len(found) > 50
    for point in found:
        assert 0.99 < point.dram_read < 3.01
        assert 0.85 < point.dram_written < 1.01
        assert 0.1 < point.of_copy < 1
    assert {point.by_hand for point in found} == {False, True}


def test_dram_is_never_faster_than_its_datasheet():
    """4800 GB/s: what DRAM moved is counted by one instrument, the time by another."""
    assert all(point.dram_gb_per_second < 4800 for point in caches.recorded())
    assert max(point.dram_gb_per_second for point in caches.recorded()) > 3500


def test_the_curve_rises():
    """With little in flight a row is read once, with much three times, and in between something in between."""
    for point in caches.recorded():
        if point.flight.mib < 20:
            assert point.dram_read < 1.02
        if point.flight.mib > 100:
            assert point.dram_read > 2.8
