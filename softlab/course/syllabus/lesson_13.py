"""Notebook 13: write your own kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.kernels import FIVE_STEPS, KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import at_most


def differences() -> Iterator[LaunchCase]:
    """n numbers; the last element of d keeps what it was."""
    for n, block in ((1000, 256), (1024, 128), (1, 32)):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        d = np.full(n, -1, np.float32)
        right = np.append(x[1:] - x[:-1], d[-1:])
        yield LaunchCase(-(-n // block), block, {"x": x, "d": d, "n": n}, {"d": right}, about=f"n = {n}")


def turns() -> Iterator[LaunchCase]:
    """Blocks of 256 numbers to be turned round."""
    for blocks in (4, 1):
        x = np.random.default_rng(blocks).standard_normal(blocks * 256, dtype=np.float32)
        right = x.reshape(blocks, 256)[:, ::-1].reshape(-1).copy()
        yield LaunchCase(
            blocks, 256, {"x": x, "t": np.full_like(x, np.nan)}, {"t": right}, about=f"{blocks * 256} numbers"
        )


def sums() -> Iterator[LaunchCase]:
    """4096 whole numbers, so that the sum is exact in any order."""
    for seed in range(2):
        x = np.random.default_rng(seed).integers(-8, 9, 4096).astype(np.float32)
        total = np.full(1, np.nan, np.float32)
        yield LaunchCase(1, 256, {"x": x, "total": total}, {"total": x.sum(keepdims=True)}, about="4096 numbers")


LESSON = Lesson(
    number="13",
    notebook="13-write-your-own-kernel.ipynb",
    title="Write your own kernel",
    minutes=25,
    objectives=(
        "write a CUDA kernel in a cell, run it without a GPU, and read its counters line by line",
        "find an access out of bounds and a race from their reports, and repair them",
        "let the lanes of a warp and the warps of a block add up together",
    ),
    exercises=(
        WriteKernel(
            id="13-mend-the-difference",
            kernel="difference",
            parameters="const float* x, float* d, int n",
            launches=differences,
            hint="d[i] is x[i + 1] - x[i] for each i below n - 1, whatever n is; d[n - 1] stays as it was.",
            slips=(
                KernelSlip(
                    "x[i - 1] is the left neighbour. The difference is x[i + 1] - x[i].", "", r"\[\s*i\s*-\s*1\s*\]"
                ),
                KernelSlip("The right neighbour comes first: x[i + 1] - x[i].", "result", r"x\[i\]\s*-\s*x\[i \+ 1\]"),
            ),
            fault_hints={
                "global-out-of-bounds": "Thread n - 1 has no right neighbour: which i may read x[i + 1]? And threads "
                "from n on have no number at all."
            },
        ),
        WriteKernel(
            id="13-find-what-is-missing",
            kernel="turn",
            parameters="const float* x, float* t",
            launches=turns,
            hint="Within its block, number k goes to index 255 - k: the order is turned.",
            fault_hints={
                "race": "What must the one thread have done before the other goes on? The barrier belongs between "
                "the write and the read.",
                "barrier-divergence": "All threads of the block come to the barrier, under no condition.",
                "shared-out-of-bounds": "The largest index is 255.",
            },
        ),
        WriteKernel(
            id="13-let-all-lanes-help",
            kernel="add_up",
            parameters="const float* x, float* total",
            launches=sums,
            requirements=(
                at_most("barriers", 8, "Eight warps, one barrier each. Inside a warp, shuffles need none."),
                at_most("instructions", 1000, "Let a warp add up its 32 sums by five shuffles."),
            ),
            slips=(
                FIVE_STEPS,
                KernelSlip(
                    "`up` brings lane 0 nothing: the sums go down to it, or to all lanes with `xor`.",
                    "result",
                    "__shfl_up",
                ),
            ),
            fault_hints={
                "shared-out-of-bounds": "`part` has a word per warp: the index is threadIdx.x / 32, and there are 8 "
                "warps.",
                "uninitialized-shared": "There are eight warps, so eight words are written.",
            },
            hint="All 4096 numbers count once: each warp adds up its 32 sums in five steps, 16 to 1, then the eight "
            "results are added, and thread 0's own is one of them.",
        ),
    ),
    predictions=(
        Question(
            id="13-every-eighth",
            question="How many sectors does a warp's load of every eighth number touch?",
            answers={
                "4 sectors": "32 neighbours need 4 sectors: 128 bytes. Here the 32 numbers lie 32 bytes apart.",
                "8 sectors": "8 numbers of 4 bytes fill a sector, so every eighth number lies in a sector of its own.",
                "32 sectors": "Eight numbers of 4 bytes are 32 bytes: each lane's number lies in a sector of its own.",
            },
        ),
    ),
)
