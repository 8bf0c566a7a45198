"""Observers hear of a loop that runs as one call what they hear of its single turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Box
from softlab.emulator.machine import looping, machine
from softlab.emulator.machine.loop_records import LoopCode, WantedRows
from softlab.emulator.machine.native import available
from softlab.emulator.machine.observers import Observer, listeners
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.machine.region_runs import RegionRuns
from softlab.emulator.machine.regions import RegionCode
from softlab.kernel import Kernel
from softlab.kernel.emulation import EmulatedKernel

SOURCE = """
extern "C" __global__ void turns(unsigned* y, int n) {
  unsigned u = threadIdx.x;
  #pragma unroll 1
  for (int k = 0; k < n; ++k) { u = u * 1664525u + 1013904223u; u ^= u >> 13; }
  y[blockIdx.x * blockDim.x + threadIdx.x] = u;
}
"""


class _Blocks(Observer):
    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def block(self, block: Any, lanes: Any) -> None:
        self.heard.append(("block", block.index, lanes.count))


class _Edges(Observer):
    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def edge(self, block: Any, target: int, lanes: Any) -> None:
        self.heard.append(("edge", block.index, target, lanes.count))


class _Both(_Blocks):
    edge = _Edges.edge


def _heard(kinds: tuple[type, ...], how: str, turns: int) -> tuple[list[list[tuple[Any, ...]]], np.ndarray, int]:
    y, observers = np.zeros(64, np.uint32), [kind() for kind in kinds]
    program = EmulatedKernel(Kernel(SOURCE, "turns").program).program
    launch, _ = prepare(
        program, (2, 1, 1), (32, 1, 1), [y, np.int32(turns)], observers=observers, compiled=how, budget=100_000
    )
    total = machine.run(launch)
    return [observer.heard for observer in observers], y, total


@pytest.mark.parametrize("kinds", [(_Blocks,), (_Edges,), (_Both,), (_Blocks, _Edges), ()])
@pytest.mark.parametrize("how", ["none", pytest.param("all", marks=pytest.mark.skipif(not available(), reason="llvm"))])
@pytest.mark.parametrize("turns", [1, 2, 65, 200])
def test_each_turn_is_told(kinds: tuple[type, ...], how: str, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told, y, total = _heard(kinds, how, turns)
    with monkeypatch.context() as patch:
        patch.setattr(looping, "_MOST_TURNS_IN_NUMPY", 1)
        single, expected, steps = _heard(kinds, "none", turns)
    assert told == single
    assert total == steps
    np.testing.assert_array_equal(y, expected)
    for events in told:
        assert len(events) >= turns


def test_one_callable_tells_all_that_listen() -> None:
    one, other = _Blocks(), _Blocks()
    assert listeners([_Edges()], "block") is None
    assert listeners([_Edges(), one], "block") == one.block
    tell = listeners([one, _Edges(), other], "block")
    assert tell is not None
    block = type("Block", (), {"index": 3})
    tell(block, Box(1, 32, None, None))
    assert one.heard == other.heard == [("block", 3, 32)]


class _Rows(Observer):
    """Wants some rows of a batch, and accesses of some width."""

    def __init__(self, wanted: WantedRows | None, widths: list[int] | None) -> None:
        self._wanted, self._widths = wanted, widths

    def loop_rows(self) -> WantedRows | None:
        return self._wanted

    def loop_widths(self, loads: Any) -> list[int] | None:
        return self._widths


def _runs(*observers: Observer) -> RegionRuns:
    return RegionRuns({}, observers, None, [], None, "all")  # type: ignore[arg-type]


def test_the_warps_of_wanted_blocks_are_recorded() -> None:
    blocks = np.array([False, True, True])
    nobody, none_left = _Rows(WantedRows(~blocks & blocks, 9), None), _Rows(WantedRows(blocks, 0), None)
    one_warp, three_warps = Box(3, 32, None, None), Box(3, 96, None, None)
    wanted, most = _runs(_Rows(None, None), nobody, none_left, _Rows(WantedRows(blocks, 7), None))._recorded(
        three_warps
    )
    assert (wanted.tolist(), wanted.dtype, most) == ([0, 0, 0, 1, 1, 1, 1, 1, 1], np.uint8, 7)
    assert _runs(_Rows(WantedRows(blocks, 1), None))._recorded(one_warp)[0].tolist() == [0, 1, 1]
    for observers in ((), (nobody,), (none_left,)):
        wanted, most = _runs(*observers)._recorded(three_warps)
        assert (wanted.tolist(), most) == ([0] * 9, 0)


def test_which_loads_are_told_and_how_addresses_are_rounded() -> None:
    """By the widths of the machine code where an observer knows them, else by those of PTX."""
    sites = [
        type("Site", (), {"space": space, "width": width})
        for space, width in (("global", 4), ("const", 8), ("global", 16))
    ]
    code = type("Code", (RegionCode,), {"__init__": lambda self: None})()
    code.__dict__["loop"] = LoopCode((), sites, np.arange(3))
    nothing, mask = [0, 0], lambda width: [1, (1 << 64) - width]
    assert _runs(_Rows(None, None))._told(code).tolist() == [mask(4), nothing, mask(16)]
    assert _runs(_Rows(None, None), _Rows(None, [8, 16, 0]))._told(code).tolist() == [mask(8), nothing, nothing]
