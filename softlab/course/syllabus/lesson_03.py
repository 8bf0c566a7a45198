"""Notebook 03: how the lanes of a warp reduce a row among themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number, Slip
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import EXP_OF_X, at_most, no_shared_memory
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.kernel import Kernel
from softlab.operators import trace_plan
from softlab.plans import forced

#: A sum that is stopped after the masks 16 and 8.
STOPPED = """
extern "C" __global__ void stopped(float* y) {
  float v = threadIdx.x;
  for (int mask = 16; mask > 4; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
  y[threadIdx.x] = v;
}
"""


def shuffles(width: int, rows_at_once: int) -> int:
    """Shuffles that one warp of the warp kernel executes for rows of ``width`` columns, a column a lane."""
    groups = 128 // width
    plan = forced(groups * rows_at_once + (rows_at_once == 1), width, kernel="warp", pack_size=1, device="H200")
    trace = trace_plan(plan, np.zeros((plan.rows, width)))
    return int((trace.shuffles.warp == 0).sum())


def held_by(lane: int) -> float:
    """What a lane holds when the sum is stopped."""
    y = np.zeros(32, np.float32)
    Kernel(STOPPED, "stopped").run(1, 32, (y,))
    return float(y[lane])


def still_to_come(lane: int, held: float) -> str:
    """What the second step would have to bring to a lane that holds that sum."""
    first = lane + (lane ^ 16)
    if held <= first:
        return f"After mask 16 alone, lane {lane} holds {lane} + {lane ^ 16}, which is not less than that."
    far = lane ^ 8
    return f"After mask 16 lane {lane} holds {first}. So lane {far} would have to give {spaced(held - first)}: does it?"


def butterflies(shuffles: float) -> str:
    """How many butterflies of four lanes that many shuffles are."""
    return f"Four lanes take two steps, so that would be {spaced(shuffles / 2)} butterflies. Which ones are there?"


def lanes_named(mask: float) -> str:
    """Which lanes a mask names."""
    if not mask.is_integer() or mask >= 2**32:
        return "A mask is a whole number of 32 bits."
    lanes = [lane for lane in range(32) if int(mask) >> lane & 1]
    runs = [(lane, next(k for k in range(lane, 33) if k + 1 not in lanes)) for lane in lanes if lane - 1 not in lanes]
    said = " and ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in runs)
    return f"{int(mask):#x} names lane{'s' * (len(lanes) > 1)} {said}."


def maxima() -> Iterator[LaunchCase]:
    """Rows of 32, one a warp: negative throughout, and with the largest at either end."""
    for seed, (blocks, threads) in enumerate(((1, 32), (1, 128), (3, 64))):
        x = -1 - np.random.default_rng(seed).random((blocks * threads // 32, 32), np.float32)
        x[0, 31], x[-1, 0] = -0.5, -0.25
        right = np.repeat(x.max(axis=1, keepdims=True), 32, axis=1)
        about = f"{len(x)} row{'s' * (len(x) > 1)}, {blocks} block{'s' * (blocks > 1)} of {threads} threads"
        yield LaunchCase(blocks, threads, {"x": x, "y": np.full_like(x, np.nan)}, {"y": right}, about=about)


def short_rows() -> Iterator[LaunchCase]:
    """Rows of 8, 16 to a block of 128 threads; the last block has rows for some of its groups only."""
    for rows in (16, 5, 100):
        x = 4 * np.random.default_rng(rows).standard_normal((rows, 8), dtype=np.float32)
        x[0] += 200  # without the maximum taken away, e^x overflows
        x[1, 0] -= 200  # neither the first nor the last number may stand for the maximum
        x[2, -1] -= 200
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        right = (e / e.sum(axis=1, keepdims=True)).astype(np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan), "rows": rows}
        yield LaunchCase(-(-rows // 16), 128, args, {"y": right}, relative=1e-5, about=f"{rows} rows")


def _warps(launch: LaunchCase) -> int:
    return int(np.prod(launch.grid) * np.prod(launch.block)) // 32


def of_other_masks(lane: int) -> Iterator[Slip]:
    """What a lane holds after other masks than 16 and 8."""
    pairs = [chosen for chosen in combinations((16, 8, 4, 2, 1), 2) if chosen != (16, 8)]
    for chosen in (*pairs, (16, 8, 4), (8, 4, 2)):
        lanes = [lane]
        for mask in chosen:
            lanes += [one ^ mask for one in lanes]
        listed = f"{', '.join(map(str, chosen[:-1]))} and {chosen[-1]}"
        yield (
            sum(lanes),
            f"That is what lane {lane} holds after the masks {listed}. Which masks does the loop take, from 16 on?",
        )


def stopped_slips(lane: int) -> tuple[Slip, ...]:
    """Typical wrong sums of a lane."""
    near, far, both = lane ^ 16, lane ^ 8, lane ^ 24
    return (
        (
            lane + near,
            f"That is lanes {lane} and {near}, after the first step. In the second, lane {far} has added two as well.",
        ),
        (lane + near + far, f"Lane {far} gives what it holds by then, and that is more than its own number."),
        (
            lane + far,
            f"Lane {far} has given already what it got in the first step, from lane {both}. And lane "
            f"{lane} has added lane {near} before.",
        ),
        (496, "That is the sum of all 32. The masks 4, 2 and 1 are still to come."),
        (
            both,
            f"Is that the number of a lane, or the sum of {lane}, 16 and 8? What the partners hold is added, not the "
            "masks.",
        ),
        (lane + 24, "A mask says which lane is the partner. What is added is what that lane holds, not the mask."),
        (24, "Those are the two masks. What is added is what the partners hold."),
        *of_other_masks(lane),
    )


def stopped_exercise(lane: int) -> Number:
    """What a lane holds after the masks 16 and 8."""
    near, far, both = lane ^ 16, lane ^ 8, lane ^ 24
    return Number(
        id="03-stopped-half-way",
        answer=lambda: held_by(lane),
        means=partial(still_to_come, lane),
        formula=Formula(
            "own + near + far + both",
            {
                "own": Quantity("the number of the lane itself", lane),
                "near": Quantity("what the lane gets with mask 16", near),
                "far": Quantity("the own number of its partner with mask 8", far),
                "both": Quantity("what that partner got with mask 16", both),
            },
        ),
        slips=stopped_slips(lane),
        further=(
            f"A lane meets the lane whose number differs in one bit: {lane} ^ 16 is {near}, {lane} ^ 8 is {far}.",
            f"After mask 16, lane {lane} holds {lane} + {near} and lane {far} holds {far} + {both}. The next step adds "
            "these two.",
            "A similar one: lane 0 after masks 2 and 1. It holds 0 + 2, lane 1 holds 1 + 3, and together they are 6.",
        ),
        hint=f"With mask 16, lane {lane} adds lane {near}. With mask 8 it adds what lane {far} holds by then.",
        because=f"{lane} + {near} + {far} + {both}: the four lanes that differ from {lane} in the bits of value 16 "
        "and 8 alone.",
    )


LESSON = Lesson(
    number="03",
    notebook="03-warp-shuffle-reduction.ipynb",
    title="Warp shuffle reduction",
    minutes=35,
    objectives=(
        "follow a butterfly of shuffles step by step, and say what each lane holds after each of them",
        "say why every lane ends with the result, and with the very same bits",
        "share a warp among several short rows, and name the lanes that take part",
        "write a reduction without shared memory and without a barrier",
    ),
    exercises=(
        stopped_exercise(5),
        Number(
            id="03-shuffles-of-a-group",
            answer=lambda: shuffles(4, 2),
            means=butterflies,
            formula=Formula(
                "log2(lanes) * results * rows",
                {
                    "lanes": Quantity(
                        "the lanes of a group", 4, ((8, "three steps"), (16, "four steps"), (32, "five steps"))
                    ),
                    "results": Quantity("the two results, maximum and sum,", 2, ((1, "one of them"),)),
                    "rows": Quantity("the rows of a group at once", 2, ((1, "one row"),)),
                },
            ),
            slips=(
                (4, "That is for one row of each group. It works on two rows at once."),
                (2, "Two steps for one result. A softmax wants a maximum and a sum, of each row."),
                (64, "A shuffle is one instruction of the warp: it serves all eight groups."),
                (12, "That would be groups of 8: three steps. How many steps do 4 lanes need?"),
                (20, "That would be groups of 32: five steps. How many steps do 4 lanes need?"),
            ),
            further=(
                "A butterfly over n lanes takes log2(n) shuffles. A softmax needs two: one for the maximum, one "
                "for the sum.",
                "Four lanes need 2 shuffles for one butterfly. Now count the butterflies: maximum and sum, for "
                "each of two rows.",
                "A similar one: 8 lanes, one row at a time. 3 shuffles for the maximum and 3 for the sum: 6.",
            ),
            hint="Steps for 4 lanes, times maximum and sum, times the rows of a group at once.",
        ),
        Number(
            id="03-name-the-lanes",
            answer=lambda: sum(1 << lane for lane in range(16, 24)),
            means=lanes_named,
            formula=Formula(
                "(2 ** lanes - 1) * 2 ** first",
                {
                    "lanes": Quantity(
                        "the lanes of the group",
                        8,
                        (
                            (7, "one too few"),
                            (9, "one too many"),
                            (4, "a smaller group"),
                            (16, "a larger group"),
                            (32, "the whole warp"),
                        ),
                    ),
                    "first": Quantity(
                        "the first lane of the third group",
                        16,
                        (
                            (8, "the second group"),
                            (24, "the fourth group"),
                            (0, "the first group"),
                            (15, "one place too low"),
                            (17, "one place too high"),
                            (2, "the number of the group"),
                            (3, "the number of the group"),
                        ),
                    ),
                },
            ),
            slips=(
                (0xFFFFFFFF, "That names all lanes. Those of the other groups may be elsewhere by then."),
                (0xFF, "Those are lanes 0 to 7."),
                (0xFF00, "Those are lanes 8 to 15, the second group."),
                (0xFF000000, "Those are lanes 24 to 31, the last group."),
                (16, "A mask has one bit for each lane: bit 16 for lane 16, and so on."),
                (sum(range(16, 24)), "That is the sum of the lanes' numbers. A mask has a bit for each of them."),
                (0x7F0000, "Those are seven lanes. A group has eight."),
            ),
            further=(
                "Eight ones in a row are `0xff`. They have to stand at the bits of the group's lanes.",
                "The first group has bits 0 to 7, the second 8 to 15. So `0xff` moves up by 8 for each group before.",
                "A similar one: the second group of 4 lanes has lanes 4 to 7. Four ones, moved up by 4: `0xf0`.",
            ),
            hint="Bit l of the mask stands for lane l. The third group has lanes 16 to 23: eight ones, and where?",
        ),
        WriteKernel(
            id="03-write-the-butterfly",
            kernel="largest",
            parameters="const float* x, float* y",
            launches=maxima,
            requirements=(
                no_shared_memory(),
                at_most(
                    "global_load_requests",
                    _warps,
                    "Each lane loads its own number, once. The others' it gets from their registers.",
                ),
                at_most(
                    "shuffle_instructions",
                    lambda launch: 5 * _warps(launch),
                    "After one step a lane knows two numbers, after two steps four. How many steps to 32?",
                ),
            ),
            further=(
                "Each lane loads its own number `x[i]`. Then the lanes exchange: after a step each knows twice "
                "as many.",
                "`v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, 16))` is one of the five steps. The others have "
                "smaller masks.",
                "A similar one, a sum of 4 lanes: `v += __shfl_xor_sync(m, v, 2); v += __shfl_xor_sync(m, v, 1);`",
            ),
            slips=(
                KernelSlip(
                    "With `down` or `up` one lane alone has the result. With `xor` the lanes swap, so all have it.",
                    "",
                    "__shfl_(down|up)",
                ),
                KernelSlip("Of two numbers keep the larger one: fmaxf.", "result", r"^(?!.*(max|>\s*\w+\s*\?))"),
                KernelSlip("An int loses what follows the point: keep floats.", "result", r"\bint\s+\w+\s*=\s*x"),
            ),
            hint="Every lane of a warp writes the largest of the warp's 32 numbers. It takes five steps, with each of "
            "the masks 16, 8, 4, 2, 1 once.",
            because="Five steps, and nobody has to be told the result: all have it.",
            fault_hints={"inactive-lane": "Do all lanes that the first argument names come to the shuffle?"},
        ),
        WriteKernel(
            id="03-softmax-of-eight",
            kernel="softmax8",
            parameters="const float* x, float* y, int rows",
            launches=short_rows,
            requirements=(
                no_shared_memory(),
                at_most("global_load_requests", _warps, "A lane's number stays in its register: load it once."),
                at_most(
                    "shuffle_instructions",
                    lambda launch: 6 * _warps(launch),
                    "Three steps for the maximum and three for the sum serve all four rows of a warp.",
                ),
            ),
            slips=(
                KernelSlip("e^x overflows for large x: subtract the row's maximum first.", "overflow", EXP_OF_X),
                KernelSlip(
                    "With `down` or `up` one lane alone has the result, and all eight need it: `xor`.",
                    "result",
                    "__shfl_(down|up)",
                ),
                KernelSlip(
                    "A row has 8 lanes, and each step of 8 or more leaves the row.", "result", r"=\s*(16|8)\s*;"
                ),
                KernelSlip(
                    "Eight lanes take three steps, with masks 4, 2 and 1.", "result", r"mask\s*=\s*[21]\s*;[^;]*>"
                ),
                KernelSlip(
                    "A share is the exponential divided by the sum of its row.", "result", r"y\[[^\]]*\]\s*=\s*\w+\s*;"
                ),
            ),
            hint="Lane threadIdx.x % 8 of a group has column threadIdx.x % 8 of its row. The maximum, too, goes "
            "through the eight lanes by shuffles, and row i / 8 is below `rows`.",
            because="Four rows in a warp, six shuffles for all of them, and no lane is idle.",
            fault_hints={
                "global-out-of-bounds": "The last block may have more groups than there are rows.",
                "inactive-lane": "The mask must name the lanes that come to the shuffle, and no others that wait.",
            },
        ),
    ),
    predictions=(
        Question(
            id="03-how-many-steps",
            question="How many such steps does it take until each of 32 lanes knows the maximum of all 32 numbers?",
            answers={
                "5": "After each step a lane knows twice as many numbers: 2, 4, 8, 16, 32.",
                "16": (
                    "Half of the lanes could give their number to the other half in one step, since all exchange "
                    "at once."
                ),
                "31": "One after the other, one lane would need 31 comparisons. Here all lanes compare at once.",
                "32": "One after the other, one lane would look at 32 numbers. Here all lanes compare at once.",
            },
        ),
    ),
    varied={
        "03-stopped-half-way": Varied(
            (5, 3, 4, 6, 7), ("What does lane 5 hold?", "What does lane {n} hold?"), stopped_exercise
        ),
    },
)
