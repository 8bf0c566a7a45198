"""Processes that run and estimate kernels in several threads, and end: ``python -m tests.fuzz.exits --count N``.

Machine code and Python keep addresses of what threads, or the end of a process, might free too early. Here freed memory
is overwritten (``MALLOC_PERTURB_`` of glibc), so that a use of it does harm at once. Each process begins without
machine code in memory, and every second one without any on the disk.

Each failure is shown with its number. The exit status is 1 where one failed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

_SECONDS = 300
#: What a process does. Its arguments: the number of the case, and the number of threads.
_SCRIPT = """
import sys, threading
import numpy as np, softlab
from softlab.emulator.machine.native import compiling

SOURCE = '''
__global__ void sums(const float* x, float* sums, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * FACTOR;
  atomicAdd(&sums[threadIdx.x & 7], sum);
}
__global__ void sorted(const float* x, float* sorted, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int before = 0;
    for (int k = 0; k < n; k++) before += x[k] < x[i] || (x[k] == x[i] && k < i);
    sorted[before] = expf(x[i]);
  }
}
'''
number, threads = map(int, sys.argv[1:])
start, wrong = threading.Barrier(threads), []

def work(thread):
    source = SOURCE.replace("FACTOR", f"{number + thread + 1}.f")
    kernels = [softlab.Kernel(source, name) for name in ("sums", "sorted")]
    x = np.arange(200, dtype=np.float32)[::-1] / 100
    for kernel in kernels if thread % 2 else kernels[::-1]:
        start.wait()
        with compiling("all"):
            out = np.zeros(8 if kernel is kernels[0] else len(x), np.float32)
            kernel.estimate(2, 64, (x, out, len(x)))
            kernel.run(1, 64, (x, out, len(x)), record=thread % 3 == 0)
        right = x.sum() * (number + thread + 1) if kernel is kernels[0] else np.exp(x).sum()
        if abs(out.sum() / right - 1) > 1e-3:
            wrong.append((thread, kernel, out.sum(), right))

every = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
for one in every:
    one.start()
for one in every:
    one.join()
assert not wrong, wrong
print("all is done")
"""


def failure(number: int, cache: Path | None = None) -> str:
    """What a process with this number has said where it failed, else "". cache: the folder of its machine code."""
    environment = os.environ | {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": str(number % 254 + 1)}
    environment |= {"XDG_CACHE_HOME": str(cache)} if cache is not None else {}
    threads = random.Random(number).randint(1, 5)
    command = [sys.executable, "-X", "faulthandler", "-c", _SCRIPT, str(number), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=environment)
    ended = done.returncode == 0 and done.stdout.endswith("all is done\n")
    return "" if ended else f"exit status {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}"


def main() -> int:
    """Run the processes one after another; 1 where one failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    failed = 0
    for number in range(given.first, given.first + given.count):
        with tempfile.TemporaryDirectory() as folder:
            found = failure(number, Path(folder) if number % 2 else None)
        if found:
            failed += 1
            print(f"process {number}: {found}", flush=True)
    print(f"{given.count - failed} of {given.count} processes ended well")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
