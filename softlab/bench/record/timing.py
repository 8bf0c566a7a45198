"""How long work on a GPU takes: CUDA events around launches that queue up.

A launch takes the host a few microseconds, so all repeats are queued before any is waited for; the GPU then never waits
for the host. Each repeat works on other memory than the one before it, so that no cache holds its input.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

REPEATS = 15
#: The launches between two events take about this long together; there are at most `_MOST`.
_MICROSECONDS_PER_REPEAT = 500.0
_MOST = 8


def microseconds(launch: Callable[[int], Any], *, repeats: int = REPEATS) -> float:
    """The median time of one launch in microseconds, after a warm-up.

    ``launch(turn)`` queues the work on CuPy's current stream; ``turn`` counts up, to take other memory each time.
    """
    import cupy

    once = _spans(cupy, launch, 3, 1)[-1]
    inner = max(1, min(_MOST, int(_MICROSECONDS_PER_REPEAT / once)))
    return statistics.median(_spans(cupy, launch, repeats, inner)) / inner


def _spans(cupy: Any, launch: Callable[[int], Any], repeats: int, inner: int) -> list[float]:
    """Microseconds of ``repeats`` groups of ``inner`` launches."""
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(repeats)]
    iteration = 0
    for start, stop in events:
        start.record()
        for _ in range(inner):
            launch(iteration)
            iteration += 1
        stop.record()
    events[-1][1].synchronize()
    return [1000.0 * cupy.cuda.get_elapsed_time(start, stop) for start, stop in events]
