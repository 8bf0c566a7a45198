"""How the rows of contention and of the beginning of a launch are measured. It needs only NumPy and CuPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from softlab.bench.record.atlas.methods import BASE, REPEATS, Bench, Parameters, _how, _middle

#: Microseconds that the shorter of two launches is to take at least.
_LONG = 100.0
_ONE = 0x3F800000
#: Where what is read to empty L2 lies.
_BEHIND = 8 << 30
#: Words of a block's results in `start`, and its loads.
_START, _LOADS = 16, 8


def per_instruction(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of the whole GPU per warp instruction, 4 per round: from launches of n and of 2n rounds.

    With ``places``: the mean over that number of addresses, since L2 spreads lines by their address.
    """
    if places := parameters.get("places"):
        return [float(np.mean(list(_placed(bench, kernels, parameters, places))))]
    (name,) = kernels
    grid, threads = parameters["sms"], 32 * parameters["warps"]
    bench.runtime.memset(bench.memory, 0, min(bench.memory_bytes, 64 << 20))

    def timed(rounds: int, repeats: int) -> float:
        launch = partial(bench.launch, name, grid, threads, rounds=rounds, **_how(parameters, "mode"))
        return bench.microseconds(launch, repeats)

    rounds = 16
    while (spent := timed(rounds, 1)) < _LONG and rounds < 1 << 16:
        rounds = max(2 * rounds, int(rounds * min(16.0, _LONG / max(spent - 3.0, 1.0))))
    spans = [timed(k * rounds, REPEATS) for k in (1, 2)]
    return [(spans[1] - spans[0]) * bench.megahertz() / (4 * rounds * parameters["warps"] * grid)]


def _placed(bench: Bench, kernels: Sequence[str], parameters: Parameters, places: int) -> Iterator[float]:
    start, rng = bench.memory, np.random.default_rng(9)
    alone = {name: value for name, value in parameters.items() if name != "places"}
    try:
        for _ in range(places):
            bench.memory = start + int(rng.integers(1 << 20)) * 512
            yield per_instruction(bench, kernels, alone)[0]
    finally:
        bench.memory = start


def rounds_of_warps(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per round and warp instruction of an SM: the time of the SM over ``per``, from two numbers of rounds.

    Of several blocks per SM the clocks of all are compared.
    """
    (name,) = kernels
    grid, warps = parameters.get("grid", 1), parameters["warps"]
    found = []
    for _ in range(REPEATS):
        spans = []
        for rounds in parameters["rounds"]:
            bench.launch(name, grid, 32 * warps, rounds=rounds, **_how(parameters, "mode"))
            rows = bench.words(4 * grid * warps).reshape(-1, 4)[:, :3]
            spans.append(_middle([_spent(rows[rows[:, 0] == sm]) for sm in np.unique(rows[:, 0])]))
        less, more = parameters["rounds"]
        found.append((spans[1] - spans[0]) / (more - less))
    return [_middle(found) / parameters.get("per", 1)]


def _spent(rows: np.ndarray) -> float:
    begin, end = ((rows[:, k] - rows[0, 1]).astype(np.int32) for k in (1, 2))
    return float(end.max() - begin.min())


def started(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """How a launch begins, "cold" (L2 holds nothing of it) and "warm" (it ran just before), each: cycles until a
    parameter is there; of the first load and of the second; and of the launch beyond an empty one and beyond what the
    blocks see between their first and last clock."""
    grid, found = parameters["grid"], []
    empty = _one(bench, "empty", 1, {}, False)
    how = {"rounds": _LOADS, "p0": parameters["pitch"], "p1": parameters["apart"]}
    for cold in (True, False):
        first, loads, later, outside = [], [], [], []
        for _ in range(REPEATS):
            took = _one(bench, "start", grid, how, cold)
            rows = bench.words(_START * grid, BASE).reshape(-1, _START).astype(float)
            first.append(float(np.median(rows[:, 0])))
            loads.append(float(np.median(rows[:, 1])))
            later.append(float(np.median(rows[:, 2 : 1 + _LOADS])))
            outside.append((took - empty) * bench.mhz - float(rows[:, 9].max()))
        found += [_middle(first), _middle(loads), _middle(later), _middle(outside)]
    return found


def beyond_empty(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of a launch beyond those of an empty one, cold and warm."""
    grid, threads = parameters["grid"], parameters["threads"]
    empty = _one(bench, "empty", 1, {}, False)
    bench.megahertz()
    return [
        (_middle([_one(bench, kernels[0], grid, {"p0": 1}, cold, threads) for _ in range(2 * REPEATS)]) - empty)
        * bench.mhz
        for cold in (True, False)
    ]


def _one(bench: Bench, name: str, grid: int, how: Parameters, cold: bool, threads: int = 32) -> float:
    """Microseconds of one launch between two events, the median of a few. The host queues it while the GPU works."""
    from cupy.cuda import Event, get_elapsed_time

    bench.launch(name, grid, threads, **how)
    found = []
    for _ in range(3):
        start, stop = Event(), Event()
        if cold:
            _read_much(bench)
        else:
            bench.launch(name, grid, threads, **how)
        bench.launch("frequency", 1, 32, rounds=120_000)
        start.record()
        bench.launch(name, grid, threads, **how)
        stop.record()
        stop.synchronize()
        found.append(1000.0 * float(get_elapsed_time(start, stop)))
    return _middle(found)


def code_again(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per 128 bytes of code that the launch before executed, too: with a flush of L2 in between, and without."""
    chunks, grid, threads = parameters["chunks"], parameters["grid"], 32 * parameters.get("warps", 1)
    results = []
    for flushed in (True, False):
        found = []
        for _ in range(REPEATS):
            bench.launch(kernels[0], grid, threads, rounds=2, p0=chunks, p1=_ONE)
            if flushed:
                _read_much(bench)
            bench.launch("frequency", 1, 32, rounds=120_000)
            bench.launch(kernels[0], grid, threads, rounds=1, p0=chunks, p1=_ONE)
            first = bench.words(4 * grid, BASE).reshape(-1, 4)[:, 0].astype(float)
            found.append(float(np.median(first)) / (16 * chunks))
        results.append(_middle(found))
    return results


def _read_much(bench: Bench) -> None:
    """Read more than L2 holds, behind all that the launches touch: nothing is left to be written back."""
    start = bench.memory
    bench.memory = start + (_BEHIND if bench.memory_bytes > 2 * _BEHIND else 0)
    bench.launch("read_cg_4", bench.sms, 1024, rounds=24, p0=4 << 20)
    bench.memory = start
