"""In which slot of an unrolled loop's stages a lane runs an iteration, beside a list of all slots."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.patterns import sector_figures
from softlab.instruments.unrolled import UnrolledCounter


def slots(total: int, longest: int, stages: tuple[int, ...]) -> list[int]:
    """The slots of a lane's iterations: whole turns of the first stage, then what the smaller stages take."""
    first, *rest = stages
    found = list(range(total - total % first))
    begin = longest + 1
    for size in rest:
        if total - len(found) >= size:
            found += range(begin, begin + size)
        begin += size
    return found


@pytest.mark.parametrize("stages", [(4, 2, 1), (2, 1), (8, 4, 2, 1), (16, 8, 4, 2, 1)])
@pytest.mark.parametrize("longest", [1, 3, 4, 5, 15, 16, 17, 40])
def test_the_slot_of_an_iteration(stages: tuple[int, ...], longest: int) -> None:
    loop: Any = SimpleNamespace(stages=stages, predicated=False)
    iterations = np.resize(np.arange(longest, -1, -1), (2, 32))
    all_slots = [slots(total, longest, stages) for total in iterations.ravel().tolist()]
    for done in range(longest):
        found = UnrolledCounter(loop)._slot(np.full(iterations.shape, done), iterations).ravel()
        for slot, of_lane in zip(found.tolist(), all_slots, strict=True):
            if done < len(of_lane):
                assert slot == of_lane[done]


@pytest.mark.parametrize("predicated", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_what_the_stages_issue_beside_what_the_iterations_do(seed: int, predicated: bool) -> None:
    """Lanes run other numbers of iterations: those of one slot are one instruction, and its sectors are counted."""
    random, stages = np.random.default_rng(seed), [(4, 2, 1), (2, 1)][seed % 2]
    blocks, threads, loop = 2, 96, SimpleNamespace(stages=stages, predicated=predicated)
    counter = UnrolledCounter(loop)  # type: ignore[arg-type]
    each = random.integers(0, 11, (blocks, threads))
    each[0, :WARP], each[1, WARP : 2 * WARP] = 7, 0  # a warp that agrees, and one that does not come
    one = Site(3, Instruction("ld", (), ()), "global", np.dtype("u4"))

    def rule(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
        return sector_figures(address, active, width, store)

    at: dict[tuple[int, int, int], int] = {}
    for done in range(int(each.max())):
        lanes = lanes_of(each > done)
        address = 4 * random.integers(0, 500, (blocks, threads))
        counter.iteration(lanes)
        counter.access(rule, one, lanes, lanes.take(address))
        at |= {(row, column, done): int(address[row, column]) for row, column in np.argwhere(each > done)}
    counter.settle()
    issued = figures = idle = 0
    for row in range(blocks):
        for warp in range(threads // WARP):
            columns = range(warp * WARP, warp * WARP + WARP)
            longest = int(each[row, warp * WARP : warp * WARP + WARP].max())
            if longest and predicated:
                idle += not any(each[row, c] % stages[-2] for c in columns)
            if len({int(each[row, c]) for c in columns} - {0}) < 2:
                continue
            before: dict[int, set[int]] = {}
            after: dict[int, set[int]] = {}
            top = int(each[each_differ(each)].max())
            for c in columns:
                placed = slots(int(each[row, c]), top, stages)
                for done in range(int(each[row, c])):
                    before.setdefault(done, set()).add(at[row, c, done] // 32)
                    after.setdefault(placed[done], set()).add(at[row, c, done] // 32)
            issued += len(after) - len(before)
            figures += sum(map(len, after.values())) - sum(map(len, before.values()))
    assert counter.issued == {3: issued}
    assert counter.figures[3].tolist() == [figures]
    assert counter.idle == idle


def each_differ(each: np.ndarray) -> np.ndarray:
    """The lanes of the warps whose lanes run other numbers of iterations, without those that run none."""
    warps = each.reshape(-1, WARP)
    most = warps.max(axis=1, keepdims=True)
    differ = (np.where(warps > 0, warps, most) != most).any(axis=1)
    return np.repeat(differ, WARP).reshape(each.shape)
