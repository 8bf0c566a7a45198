"""How whole launches are measured, and loads of several lines. It needs only NumPy and CuPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from softlab.bench.record.atlas.contention_methods import _read_much, _spent
from softlab.bench.record.atlas.memory_methods import PAGE, _followed
from softlab.bench.record.atlas.methods import BASE, REPEATS, Bench, Parameters, _how, _middle

#: Cycles for which blocks do nothing. The clock of the events is coarse: many lengths average it out.
_SPINS = range(600, 2600, 80)
_QUEUED = 120_000
_ROUNDS = (16, 48)


def beyond_spin(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of a launch beyond an empty one and beyond those for which its blocks do nothing: cold and warm.

    The middle half of many lengths, each beside an empty launch, gives the mean.
    """
    grid, threads = parameters["grid"], parameters["threads"]
    megahertz, found = bench.megahertz(), []
    for cold in (True, False):
        rest = []
        for cycles in _SPINS:
            bench.launch(kernels[1], grid, threads, p0=cycles)
            inside = float(bench.words(1, BASE)[0])
            took = _one(bench, partial(bench.launch, kernels[0], grid, threads, p0=cycles), cold)
            empty = _one(bench, partial(bench.launch, "empty", 1, 32), cold)
            rest.append((took - empty) * megahertz - inside)
        found.append(float(np.mean(sorted(rest)[len(rest) // 4 : -len(rest) // 4])))
    return found


def again(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Microseconds of a launch beyond an empty one: cold and warm."""
    launch = partial(bench.launch, kernels[0], parameters["grid"], parameters["threads"], **_how(parameters))
    return [
        _middle([_one(bench, launch, cold) for _ in range(REPEATS)])
        - _middle([_one(bench, partial(bench.launch, "empty", 1, 32), cold) for _ in range(REPEATS)])
        for cold in (True, False)
    ]


def _one(bench: Bench, launch: Callable[[], None], cold: bool) -> float:
    """Microseconds of one launch between two events. The host queues it while the GPU works."""
    from cupy.cuda import Event, get_elapsed_time

    launch()
    start, stop = Event(), Event()
    if cold:
        _read_much(bench)
    bench.launch("frequency", 1, 32, rounds=_QUEUED)
    if not cold:
        launch()
    start.record()
    launch()
    stop.record()
    stop.synchronize()
    return 1000.0 * float(get_elapsed_time(start, stop))


def gathered(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles per load of one warp of each SM, from two numbers of rounds."""
    grid, found = parameters["grid"], []
    for _ in range(REPEATS):
        spans = []
        for rounds in _ROUNDS:
            launch = partial(bench.launch, kernels[0], grid, 32, rounds=rounds, **_how(parameters, "mode"))
            if parameters["cold"]:
                _read_much(bench)
            else:
                launch()
            launch()
            rows = bench.words(4 * grid).reshape(-1, 4)[:, :3]
            spans.append(_middle([_spent(rows[rows[:, 0] == sm]) for sm in np.unique(rows[:, 0])]))
        found.append((spans[1] - spans[0]) / (_ROUNDS[1] - _ROUNDS[0]))
    return [_middle(found)]


def in_order(bench: Bench, kernels: Sequence[str], parameters: Parameters) -> list[float]:
    """Cycles of a load that misses L2, each some bytes behind the one before it."""
    rng, found = np.random.default_rng(8), []
    count = 1024
    for _ in range(REPEATS):
        start = int(rng.integers(512, 4096)) * PAGE
        offsets = np.uint64(start) + np.arange(count, dtype=np.uint64) * np.uint64(parameters["pitch"])
        bench.links(offsets)
        _read_much(bench)
        bench.wait()
        found.append(_followed(bench, kernels[0], offsets, count // 16) / count)
    return [_middle(found)]
