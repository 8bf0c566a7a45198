"""Where the lanes of a batch are in a grid of clusters, beside loops over all blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.faults import Geometry

Index3 = tuple[int, int, int]


def places(sizes: Index3) -> list[Index3]:
    """All (x, y, z), x the fastest."""
    return [(x, y, z) for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]


@pytest.mark.parametrize(
    ("grid", "cluster"),
    [
        ((5, 1, 1), (1, 1, 1)), ((3, 4, 5), (1, 1, 1)), ((6, 1, 1), (3, 1, 1)), ((2, 6, 4), (1, 3, 2)),
        ((4, 6, 2), (2, 3, 2)), ((4, 2, 6), (4, 1, 3)),
    ],
)  # fmt: skip
def test_blocks_come_in_the_order_of_their_clusters(grid: Index3, cluster: Index3) -> None:
    clusters = (grid[0] // cluster[0], grid[1] // cluster[1], grid[2] // cluster[2])
    wanted = [
        (x * cluster[0] + i, y * cluster[1] + j, z * cluster[2] + k)
        for x, y, z in places(clusters)
        for i, j, k in places(cluster)
    ]
    linear = {place: number for number, place in enumerate(places(grid))}
    for first in (0, 1, len(wanted) // 2):
        geometry = Geometry(grid, (32, 1, 1), first, cluster)
        assert geometry.clusters == clusters
        assert geometry.blocks_per_cluster == len(places(cluster))
        rows = np.arange(len(wanted) - first)
        assert [geometry.block_index(row) for row in rows] == wanted[first:]
        assert list(zip(*(axis.tolist() for axis in geometry.block_indices(rows)), strict=True)) == wanted[first:]
        assert geometry.linear(rows).tolist() == [linear[place] for place in wanted[first:]]


@pytest.mark.parametrize("block", [(7, 1, 1), (4, 3, 1), (3, 2, 5), (1, 1, 6)])
def test_threads_come_in_the_order_of_x(block: Index3) -> None:
    geometry = Geometry((1, 1, 1), block)
    assert [geometry.thread(number) for number in range(len(places(block)))] == places(block)
