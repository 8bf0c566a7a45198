"""Notebook 05: the warps of a block reduce together, and wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import NO_BARRIER, KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import MAXIMUM_FROM_ZERO, at_most
from softlab.course.values import spaced
from softlab.errors import KernelFault
from softlab.kernel import Kernel

# The barriers of "05-which-barrier-may-go" are left out one at a time.
THREE_BARRIERS = """
extern "C" __global__ void pass_on(const float* x, float* y) {
  __shared__ float part[256];
  part[threadIdx.x] = x[threadIdx.x];
  /*A*/ __syncthreads();
  float right = part[(threadIdx.x + 1) % 256];
  /*B*/ __syncthreads();
  part[threadIdx.x] = 2 * right;
  /*C*/ __syncthreads();
  y[threadIdx.x] = part[threadIdx.x];
}
"""
TREE = """
extern "C" __global__ void tree(const float* x, float* y) {
  __shared__ float part[1024];
  part[threadIdx.x] = x[threadIdx.x];
  for (int stride = 512; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  __syncthreads();
  y[threadIdx.x] = part[0];
}
"""


def barriers_of_a_tree() -> int:
    """Barriers that each warp of 1024 threads comes to in a tree, counted in a run."""
    x = np.ones(1024, np.float32)
    counted = Kernel(TREE, "tree").run(1, 1024, (x, np.zeros_like(x))).counters["barriers"]
    return counted // 32


def levels_of(barriers: float) -> str:
    """Which tree has that many barriers, or how many there are per level."""
    if barriers < 10 and barriers.is_integer():
        return f"A tree of {2 ** int(barriers - 1)} threads has so many." if barriers > 1 else ""
    return f"A tree of 1024 has 10 levels. That would be {spaced(barriers / 10)} barriers for each: when does one wait?"


@cache
def superfluous() -> str:
    """The barrier without which the kernel still has no race."""
    x = np.random.default_rng(0).random(256, dtype=np.float32)
    free = []
    for name in "ABC":
        source = THREE_BARRIERS.replace(f"/*{name}*/ __syncthreads();", "")
        try:
            Kernel(source, "pass_on").run(1, 256, (x, np.zeros_like(x)))
            free.append(name)
        except KernelFault:
            continue
    (only,) = free
    return only


def below_the_maximum() -> Iterator[LaunchCase]:
    """Each row less its maximum, a block a row: long and short rows, blocks whose warps are no power of two."""
    for rows, n, block in ((2, 1000, 256), (3, 77, 1024), (2, 500, 96), (1, 300, 64)):
        # Below -10, so that a maximum that begins with 0 is wrong.
        x = (-10 - 5 * np.random.default_rng(n).random((rows, n))).astype(np.float32)
        y = np.full_like(x, np.nan)
        right = x - x.max(axis=1, keepdims=True)
        about = f"{rows} rows of {n}, blocks of {block}"
        yield LaunchCase(rows, block, {"x": x, "y": y, "n": n}, {"y": right}, about=about)


def layer_norms() -> Iterator[LaunchCase]:
    """Rows of as many numbers as a block has threads."""
    for rows, threads in ((2, 256), (1, 1024), (3, 64)):
        x = np.random.default_rng(threads).integers(-9, 10, (rows, threads)).astype(np.float32)
        centred = x - x.astype(np.float64).mean(axis=1, keepdims=True)
        right = (centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))).astype(np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan)}
        # Both sums are rounded, and so is rsqrtf: a few units in the last place of numbers around 1.
        yield LaunchCase(rows, threads, args, {"y": right}, relative=2e-4, about=f"{rows} rows of {threads}")


def _warps(launch: LaunchCase) -> int:
    assert isinstance(launch.block, int)
    assert isinstance(launch.grid, int)
    return launch.grid * -(-launch.block // 32)


def _requests(launch: LaunchCase) -> int:
    """Each row twice, 32 numbers a request; and one more for each warp."""
    assert isinstance(launch.grid, int)
    return 2 * launch.grid * -(-launch.args["n"] // 32) + _warps(launch)


LESSON = Lesson(
    number="05",
    notebook="05-block-reduction-and-barriers.ipynb",
    title="Block reduction and barriers",
    minutes=40,
    objectives=(
        "let the warps of a block share a result, through shared memory and barriers",
        "recognise a race, a divergent barrier and unwritten shared memory, and say why a right result proves nothing",
        "say why `block_all_reduce` can be called twice in a row",
        "read off a timeline who waits for whom",
    ),
    exercises=(
        Number(
            id="05-barriers-of-a-tree",
            answer=barriers_of_a_tree,
            means=levels_of,
            formula=Formula(
                "log2(threads) + last",
                {
                    "threads": Quantity(
                        "the threads of the block",
                        1024,
                        (
                            (32, "those of a warp"),
                            (64, "a smaller block"),
                            (128, "a smaller block"),
                            (256, "a smaller block"),
                            (512, "those that add on the first level"),
                            (2048, "one level too many"),
                        ),
                    ),
                    "last": Quantity("the barrier behind the last level", 1, ((2, "one too many"),)),
                },
            ),
            slips=(
                (10, "The tree has 10 levels. But all threads must know the total at its end, too."),
                (2, "The sum by shuffles has 2. In a tree, each level reads what the level before wrote."),
                (
                    32,
                    "That is how many warps the block has. A barrier stops all of them together, one per level of the "
                    "tree. How many levels are there?",
                ),
                (9, "A tree of 256 threads has 9. How many more levels do 1024 threads need?"),
                (512, "That is how many threads add on the first level. How many levels are there?"),
                (1024, "A barrier stops a thread until all have come: that is one barrier, not one per thread."),
                (20, "That is two per level. One is enough: what a level has written is read by the next one."),
                (21, "That is two per level, and one. One per level is enough: the next level reads behind it."),
                (22, "That is two per level, and two. One per level is enough: the next level reads behind it."),
                (12, "One too many: is there one before the first level, and one behind it, and so on?"),
                (5, "Five levels are those of a warp, 32 threads. Here 1024 threads add."),
                (1023, "That is one per addition. All additions of a level need one barrier together."),
                (352, "The hardware counts 352, once for each of 32 warps. How many barriers does one warp reach?"),
            ),
            hint="Each level halves the threads that add, 512 to 1. Before each level, and after the last, all wait.",
        ),
        MultipleChoice(
            id="05-which-barrier-may-go",
            answers=("A", "B", "C"),
            right=superfluous,
            slips={
                "A": "Without it a thread may read its neighbour's word before the neighbour has written it.",
                "B": "Without it a thread may overwrite its word before its neighbour has read it.",
            },
            hint="For each barrier ask: which words does a thread touch before and after it, that others touch, too?",
            because="After it each thread reads the word that it has written itself, and no other thread touches that.",
        ),
        WriteKernel(
            id="05-call-it-twice",
            kernel="normalise",
            parameters="const float* x, float* y",
            launches=layer_norms,
            requirements=(
                at_most(
                    "barriers",
                    lambda launch: 2 * _warps(launch),
                    "One a call is enough, if the second call does not write where the first may still be read.",
                ),
            ),
            slips=(
                KernelSlip(
                    "The squares are those of the centred numbers, not of x.",
                    "result",
                    r"block_sum\w*\(\s*(x\[i\]|v)\s*\*",
                ),
                KernelSlip("Divide by the root: rsqrtf(v) is 1 / sqrtf(v).", "result", r"\*\s*sqrtf?\("),
                KernelSlip("Between what the warps write and what all read stands a barrier.", "race", NO_BARRIER),
            ),
            hint="A row less its mean, divided by the root of the mean of the squares of what is left.",
            fault_hints={
                "barrier-divergence": "All threads of the block have to come to a barrier, or none.",
                "uninitialized-shared": "Each call reads what this call's warps wrote.",
                "shared-out-of-bounds": "A block of 1024 threads has 32 warps, so there are 32 words.",
            },
        ),
        WriteKernel(
            id="05-below-the-maximum",
            kernel="below_maximum",
            parameters="const float* x, float* y, int n",
            launches=below_the_maximum,
            requirements=(
                at_most(
                    "barriers",
                    lambda launch: 2 * _warps(launch),
                    "Within a warp, shuffles need none. One before the warps' results are read, at most one more.",
                ),
                at_most("global_load_requests", _requests, "Let all lanes read, 32 neighbours at a time."),
            ),
            slips=(
                KernelSlip(
                    "All numbers of a row may be negative: a maximum begins with minus infinity, not with 0.",
                    "result",
                    MAXIMUM_FROM_ZERO,
                ),
                KernelSlip(
                    "Each warp has its own maximum. The warps of a block meet in shared memory.",
                    "result",
                    "^(?!.*__shared__)",
                ),
                KernelSlip(
                    "A row may be longer than the block: each thread takes every blockDim.x-th number, in a loop.",
                    "result",
                    r"if\s*\(\s*(threadIdx\.x|\w+)\s*<\s*n\s*\)",
                ),
            ),
            hint="A block's row begins at x + blockIdx.x * n. A thread that has no number must not raise the maximum. "
            "Of the warps' maxima the largest counts.",
            fault_hints={
                "race": "Who wrote that word, and which barrier stands between the two?",
                "barrier-divergence": "Threads without a number have to come to the barrier, too.",
                "uninitialized-shared": "A block of 96 threads has three warps: nobody writes for a fourth. And a warp "
                "whose threads have left writes nothing.",
                "shared-out-of-bounds": "A block of 1024 threads has 32 warps, so there are 32 words.",
                "inactive-lane": "Let all 32 lanes of a warp come to the shuffle; who has no number brings one that "
                "changes nothing.",
            },
        ),
    ),
    predictions=(
        Question(
            id="05-no-barrier",
            question="There is no barrier between the write and the read. What does y hold afterwards?",
            answers={
                "the right numbers": "That holds only if the warp that writes goes first, and nothing says so.",
                "zeros": "That holds only if the warp that reads goes first, and nothing says so.",
                "it depends on which warp goes first": "Nothing orders the write and the read: this is a race.",
            },
        ),
    ),
)
