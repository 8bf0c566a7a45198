"""The row maximum of :mod:`softlab.bench.emulator_speed` in numba's CUDA simulator, for comparison.

``NUMBA_ENABLE_CUDASIM=1 python -m softlab.bench.numba_simulator ROWS COLS BLOCK`` prints the seconds. The simulator
replaces the module's ``cuda``, so the kernel is at the top of its own module.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import cuda, float32

BLOCK = int(sys.argv[3])


@cuda.jit
def row_maximum(x, y):  # type: ignore[no-untyped-def]
    """y[row] = max(x[row]): one block per row, halving in shared memory."""
    best = cuda.shared.array(BLOCK, float32)
    thread = cuda.threadIdx.x
    largest = x[cuda.blockIdx.x, thread]
    for column in range(thread, x.shape[1], BLOCK):
        largest = max(largest, x[cuda.blockIdx.x, column])
    best[thread] = largest
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if thread < half:
            best[thread] = max(best[thread], best[thread + half])
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        y[cuda.blockIdx.x] = best[0]


def main() -> None:
    """Run it on all rows, check it, print the seconds."""
    rows, cols = int(sys.argv[1]), int(sys.argv[2])
    x = np.random.default_rng(0).standard_normal((rows, cols)).astype(np.float32)
    y = np.empty(rows, np.float32)
    start = time.perf_counter()
    row_maximum[rows, BLOCK](x, y)
    seconds = time.perf_counter() - start
    if not np.array_equal(y, x.max(axis=1)):
        raise SystemExit("the simulator's row maximum is wrong")
    print(seconds)


if __name__ == "__main__":
    main()
