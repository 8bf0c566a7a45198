"""The host of a batch: its clock, who lives, and whether whole warps come to what is aligned."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.machine.batch_host import BatchHost
from softlab.emulator.machine.clocks import MORE_TURNS, WAITS
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.specials import special_registers
from softlab.emulator.ptx.syntax import Instruction

BLOCKS, THREADS = 3, 96
GEOMETRY = Geometry((6, 1, 1), (THREADS, 1, 1), 2)
BARRIER = Instruction("barrier", ("sync", "aligned"), ())


class Sink:
    """Keeps what is reported."""

    collects = True

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def report(self, fault: Any, *, severity: str = "error", count: int = 1) -> None:
        self.kept.append(fault)


def host(live: np.ndarray | None, *, check: bool = True) -> tuple[BatchHost, Sink]:
    sink, image = Sink(), SimpleNamespace(reserved_shared=b"", cluster=None)
    launch: Any = SimpleNamespace(program=SimpleNamespace(image=image),
        grid=(6, 1, 1), block=(THREADS, 1, 1), blocks=6, threads=THREADS, lanes=THREADS, sm_count=4, check=check,
        sink=sink, file="k.cu", names=None, cluster=(1, 1, 1), blocks_per_cluster=1, dynamic_shared=0,
        shared_bytes=0, cooperative=False, grid_workspace=0,
    )  # fmt: skip
    made = BatchHost(launch, BLOCKS, GEOMETRY)
    schedule: Any = SimpleNamespace(live=None if live is None else lanes_of(live))
    made.begin(GEOMETRY, schedule)
    return made, sink


def lanes(*columns: Any) -> Lanes:
    """In each block, the lanes of these ranges."""
    mask = np.zeros((BLOCKS, THREADS), bool)
    for column in columns:
        mask[:, column] = True
    return lanes_of(mask)


EVERY = np.ones((BLOCKS, THREADS), bool)


def test_blocks_whose_threads_have_ended() -> None:
    ended = EVERY.copy()
    ended[1] = False
    ended[2, 1:] = False
    assert host(ended)[0].ended_rows().tolist() == [False, True, False]
    assert host(EVERY)[0].ended_rows() is None
    assert host(None)[0].ended_rows() is None
    assert host(None)[0].live_mask() is None
    np.testing.assert_array_equal(host(ended)[0].live_mask(), ended)


@pytest.mark.parametrize("name", ["clock", "clock64"])
def test_the_clock_goes_on_with_instructions_and_with_waits(name: str) -> None:
    """Waits become longer and come to an end; a new batch begins at the start."""
    made, _ = host(EVERY)
    start = int(made.special(lanes(slice(0, 32)), name))
    made.steps = 5
    after = int(made.special(lanes(slice(0, 32)), name))
    assert after > start
    turns = [made.pass_time(turn) for turn in range(1, len(WAITS) + MORE_TURNS + 2)]
    assert turns == [True] * (len(WAITS) + MORE_TURNS) + [False]
    made.steps = 0
    passed = int(made.special(lanes(slice(0, 32)), name)) - start
    made.begin(GEOMETRY, made._schedule)
    assert int(made.special(lanes(slice(0, 32)), name)) == start
    made.steps = sum(WAITS)
    assert int(made.special(lanes(slice(0, 32)), name)) - start == passed, "each wait counts once"


def test_special_registers_of_some_lanes() -> None:
    made, _ = host(EVERY)
    some = lanes(slice(3, 6))
    assert np.broadcast_to(made.special(some, "tid.x"), (3, 3)).tolist() == [[3, 4, 5]] * 3
    assert np.broadcast_to(made.special(some, "ctaid.x"), (3, 3)).tolist() == [[2] * 3, [3] * 3, [4] * 3]


@pytest.mark.parametrize(
    ("here", "gone", "bad"),
    [
        ((slice(0, 64),), (), []), ((slice(0, 32),), (), []), ((slice(32, 64),), (), []),
        ((slice(0, 31),), (), range(31)), ((slice(0, 31),), (31,), []), ((slice(5, 64),), (), range(5, 32)),
        ((slice(0, 20), slice(32, 64)), (), range(20)), ((7,), (slice(8, 32),), [7]),
    ],
)  # fmt: skip
def test_whole_warps_come_to_what_is_aligned(here: Any, gone: Any, bad: Any) -> None:
    """Threads that have ended need not come. The fault is that of the lanes of torn warps."""
    live = EVERY.copy()
    for column in gone:
        live[:, column] = False
    made, sink = host(live)
    named: list[list[int]] = []
    plain = made.faults.not_aligned
    made.faults.not_aligned = lambda instruction, of, which: (  # type: ignore[method-assign]
        named.append(
            np.broadcast_to(of.put(np.zeros((1, 1), bool), which, False), EVERY.shape)[0].nonzero()[0].tolist()
        ),
        plain(instruction, of, which),
    )[1]
    made.check_aligned(lanes(*here), BARRIER)
    assert len(sink.kept) == bool(bad)
    assert named == ([list(bad)] if bad else [])
    for fault in sink.kept:
        assert (fault.kind, fault.thread, fault.block) == ("barrier-divergence", (bad[0], 0, 0), (2, 0, 0))


def test_nothing_is_checked_where_nobody_asks_for_it() -> None:
    for made, sink in (host(EVERY, check=False), host(None)):
        made.check_aligned(lanes(slice(0, 31)), BARRIER)
        assert not sink.kept


def test_special_registers_of_all_threads() -> None:
    """Each beside its meaning for one thread: a grid of 4 x 3 x 2 blocks in clusters of 2 x 1 x 2, blocks of 5 x 4 x 3.

    Blocks go in the order of their clusters. This batch begins with the second cluster.
    """
    grid, block, cluster, first, blocks = (4, 3, 2), (5, 4, 3), (2, 1, 2), 4, 8
    image = SimpleNamespace(reserved_shared=b"12", cluster=cluster)
    launch: Any = SimpleNamespace(lanes=THREADS, sm_count=3, shared_bytes=100, dynamic_shared=30, blocks_per_cluster=4,
                                  grid_workspace=(7 << 32) + 9, program=SimpleNamespace(image=image))  # fmt: skip
    values = {
        name: np.broadcast_to(value, (blocks, THREADS))
        for name, value in special_registers(launch, Geometry(grid, block, first, cluster), blocks).items()
    }
    for row, column in product(range(blocks), range(THREADS)):
        lane, number = column % 32, first + row
        of_cluster, rank = number // 4, number % 4
        at_cluster = of_cluster % 2, of_cluster // 2 % 3, of_cluster // 6
        in_cluster = rank % 2, 0, rank // 2
        expected = {
            "laneid": lane, "warpid": column // 32, "lanemask_eq": 1 << lane, "lanemask_lt": (1 << lane) - 1,
            "lanemask_le": (2 << lane) - 1, "lanemask_gt": (1 << 32) - (2 << lane),
            "lanemask_ge": (1 << 32) - (1 << lane), "smid": number % 3, "cluster_ctarank": rank, "nwarpid": 64,
            "nsmid": 3, "gridid": 0, "dynamic_smem_size": 30, "total_smem_size": 98, "aggr_smem_size": 98,
            "is_explicit_cluster": 1, "cluster_nctarank": 4, "current_graph_exec": 0, "envreg1": 7, "envreg2": 9,
        }  # fmt: skip
        thread = column % 5, column // 5 % 4, column // 20
        for k, axis in enumerate("xyz"):
            expected |= {
                f"tid.{axis}": thread[k], f"ntid.{axis}": block[k], f"nctaid.{axis}": grid[k],
                f"ctaid.{axis}": at_cluster[k] * cluster[k] + in_cluster[k], f"clusterid.{axis}": at_cluster[k],
                f"nclusterid.{axis}": grid[k] // cluster[k], f"cluster_ctaid.{axis}": in_cluster[k],
                f"cluster_nctaid.{axis}": cluster[k],
            }  # fmt: skip
        assert {name: int(value[row, column]) for name, value in values.items()} == expected, (row, column)
