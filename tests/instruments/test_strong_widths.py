"""Random strong accesses of 4 and 8 bytes beside plain ones: compiled code finds the races that NumPy finds.

Some steps are of few lanes at few words, others of whole warps at rows of words, so that words are told and asked one
by one and as rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.kernel import Kernel
from tests.sampled import each

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

BLOCKS, THREADS, STEPS, WORDS = 3, 96, 10, 640
#: The number of words in the first array. The others are in the second.
FIRST = 208
#: PTX of one access to ``a``, of the 32-bit value ``v`` and the 64-bit value ``w``.
ACCESSES = [
    "ld.relaxed.gpu.u32 %0, [%2];", "st.relaxed.gpu.u32 [%2], %0;", "atom.relaxed.gpu.exch.b32 %0, [%2], %0;",
    "ld.relaxed.gpu.u64 %1, [%2];", "st.release.gpu.u64 [%2], %1;", "atom.acq_rel.gpu.add.u64 %1, [%2], %1;",
    "ld.acquire.gpu.u64 %1, [%2];", "ld.u32 %0, [%2];", "st.u32 [%2], %0;", "atom.relaxed.cta.exch.b64 %1, [%2], %1;",
    "st.volatile.u64 [%2], %1;", "red.release.cta.add.u32 [%2], %0;", "st.u64 [%2], %1;", "ld.volatile.u32 %0, [%2];",
    "ld.acquire.cta.u32 %0, [%2];", "red.gpu.add.u64 [%2], %1;", "st.volatile.u32 [%2], %0;",
    "ld.volatile.u64 %1, [%2];",
]  # fmt: skip
#: Of these the first seeds draw, then of volatile accesses alone.
ANY, VOLATILE = range(len(ACCESSES)), [10, 13, 16, 17]
FENCE, BLOCK_FENCE, BARRIER, WARP_SYNC = range(100, 104)
CASES = "".join(
    f'      case {number}: asm volatile("{text}" : "+r"(v), "+l"(w) : "l"(a) : "memory"); break;\n'
    for number, text in enumerate(ACCESSES)
)
SOURCE = f"""
extern "C" __global__ void k(const int* __restrict__ kinds, const int* __restrict__ places, unsigned* cells,
                             unsigned* more, unsigned long long* seen) {{
  int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  unsigned long long w = me * 3 + 1;
  for (int step = 0; step < {STEPS}; ++step) {{
    int kind = kinds[step * all + me], place = places[step * all + me];
    unsigned v = me + step;
    unsigned* a = place < {FIRST} ? cells + place : more + (place - {FIRST});
    if (place >= 0) switch (kind) {{
{CASES}
      case {FENCE}: __threadfence(); break;
      case {BLOCK_FENCE}: __threadfence_block(); break;
      case {BARRIER}: __syncthreads(); break;
      case {WARP_SYNC}: __syncwarp(); break;
    }}
    w += v;
  }}
  seen[me] = w;
}}
"""


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The kind and the place of each step and thread."""
    random = np.random.default_rng(seed)
    everyone = BLOCKS * THREADS
    kinds = np.full((STEPS, everyone), WARP_SYNC, np.int32)
    places = np.full((STEPS, everyone), -1, np.int32)
    few = int(random.choice([4, 16, WORDS // 2]))
    drawn_from = VOLATILE if seed >= 12 else ANY
    for step in range(STEPS):
        for block in range(BLOCKS):
            threads = slice(block * THREADS, (block + 1) * THREADS)
            if random.random() < 0.15:
                kinds[step, threads], places[step, threads] = BARRIER, 0
                continue
            for first in range(threads.start, threads.stop, 32):
                lanes = slice(first, first + 32)
                how = random.random()
                if how < 0.2:
                    kinds[step, lanes] = random.choice([FENCE, BLOCK_FENCE, WARP_SYNC])
                    places[step, lanes] = 0
                    continue
                kinds[step, lanes] = kind = int(random.choice(drawn_from))
                size = 2 if "64" in ACCESSES[kind].split()[0] else 1
                if how < 0.6:  # a row
                    start = 64 * int(random.integers(0, 6)) + int(random.choice([0, 0, 0, 2]))
                    places[step, lanes] = start + size * np.arange(32)
                else:
                    where = random.integers(0, few, 32) // size * size
                    places[step, lanes] = np.where(random.random(32) < random.choice([0.04, 0.3]), where, -1)
    return kinds, places


@pytest.mark.parametrize("seed", each(5, range(20)))
def test_compiled_code_finds_what_numpy_finds(seed: int) -> None:
    kinds, places = drawn(seed)
    found: list[Any] = []
    for how in ("none", "all"):
        cells, more = np.arange(FIRST, dtype=np.uint32), np.arange(WORDS - FIRST, dtype=np.uint32)
        seen = np.zeros(BLOCKS * THREADS, np.uint64)
        run = Kernel(SOURCE, "k").run(BLOCKS, THREADS, (kinds, places, cells, more, seen), check="collect",
                                      compiled=how, record=False)  # fmt: skip
        found.append((sorted(map(repr, run.findings)), cells.tolist(), more.tolist(), seen.tolist()))
    assert found[0] == found[1]


def test_the_cases_have_races_and_orders() -> None:
    """Of each kind of access some are races, so that the comparison above is one of what is found."""
    lines = set()
    for seed in range(0, 12, 3):
        kinds, places = drawn(seed)
        cells, more = np.zeros(FIRST, np.uint32), np.zeros(WORDS - FIRST, np.uint32)
        arguments = (kinds, places, cells, more, np.zeros(288, np.uint64))
        run = Kernel(SOURCE, "k").run(BLOCKS, THREADS, arguments, check="collect", compiled="none", record=False)
        lines |= {finding.line for finding in run.findings}
    assert len(lines) >= 8
