"""Programs and streams by hand: rows of instructions with known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from softlab.timing.blocks import BlockClock
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters
from softlab.timing.program import Action, Pipe, Row, TimedProgram
from softlab.timing.sharing import Sharing
from softlab.timing.sm import SmRun, simulate
from softlab.timing.work import BlockWork, MemoryRequest, WarpWork, lines_and_banks

#: Nothing but the SM itself: code and constants are there, blocks start at once.
BARE = Parameters(
    "H200", icache_miss=0, icache_line=0,
    block_intervals=((1.0, 0.0),), block_turnarounds=((1.0, 0.0),), second_wave=0.0,
    branch_taken=1, barrier_stagger=2,
    barrier_latency=20, l2_latency=280, l2_spread=((1.0, 0.0),), dram_latency=660, loaded=((0.0, 0.0), (1.0, 0.0)),
    drain=(((1.0, 0.0),), ((1.0, 0.0),)), bsync=1,
)  # fmt: skip


def row(
    pipe: Pipe = Pipe.NONE, *, action: Action = Action.FIXED, interval: float = 1, stall: int = 1,
    wait: tuple[int, ...] = (), write: int = -1, read: int = -1, latency: float = 0,
    banks: tuple[float, float] = (0, 0), reused: tuple[int, int] | None = None, integer: float = 0.0,
) -> Row:  # fmt: skip
    cached = banks if reused is None else reused
    return (int(action), int(pipe), interval, stall, wait, write, read, latency, *banks, *cached, -1, integer)


END = row(Pipe.BRANCH, action=Action.EXIT)


def run(
    rows: list[Row], *, warps: int = 1, blocks: int = 1, repeat: int = 1, resident: int = 32, active: int = 132,
    parameters: Parameters = BARE, requests=None, details=None, warm: float = 0.0, sharing: Sharing | None = None,
    splits: Mapping[int, int] | None = None, **options: int,
) -> tuple[SmRun, Memory]:  # fmt: skip
    """Each warp executes the rows ``repeat`` times and then ends. ``requests``: (block, warp) -> list of requests;
    ``options``: of :func:`simulate`."""
    rows = [*rows, END]
    code = [*list(range(len(rows) - 1)) * repeat, len(rows) - 1]
    program = TimedProgram((), tuple(rows), details or {}, tuple(range(1, len(rows) + 1)))
    made = [
        BlockWork.of(b, [WarpWork(code, requests(b, w) if requests else [], splits or {}) for w in range(warps)])
        for b in range(blocks)
    ]
    memory = Memory(parameters, sharing or Sharing.none(), active, warm, 0)
    clock = BlockClock(parameters, resident, active)
    return simulate(program, made, parameters, memory, clock, **options), memory


def request(
    kind: int, sectors: Sequence[int], *, position: int = 0, space: int = 0, wavefronts: int = 1, lanes: int = 32,
    width: int = 4, bypass: int = 0,
) -> MemoryRequest:  # fmt: skip
    """One request; ``kind`` and ``space`` as in :mod:`softlab.sass.streams`."""
    lines, banks = lines_and_banks(np.array([len(sectors)]), np.array(sectors, np.int64))
    return (
        position, space, kind, wavefronts, tuple(sectors), lanes, width, bypass, int(lines[0]), int(banks[0])
    )  # fmt: skip


def access(memory: Memory, t: float, made: MemoryRequest, latency: float = 30.0) -> tuple[float, float, float]:
    """What the memory system makes of a request of warp 0."""
    return memory.access(t, *made[1:5], latency, *made[5:], 0)


def load(position: int, sectors: Sequence[int], lanes: int = 32, width: int = 4) -> MemoryRequest:
    return request(
        0, sectors, position=position, wavefronts=max(1, len(sectors) // 4), lanes=lanes, width=width
    )  # fmt: skip


def store(position: int, sectors: Sequence[int], lanes: int = 32, width: int = 4) -> MemoryRequest:
    return request(
        1, sectors, position=position, wavefronts=max(1, len(sectors) // 4), lanes=lanes, width=width
    )  # fmt: skip


def shared(position: int, wavefronts: int) -> MemoryRequest:
    return request(0, (), position=position, space=1, wavefronts=wavefronts)
