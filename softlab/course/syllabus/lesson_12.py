"""Notebook 12: loads and stores as function objects, and what fusing saves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from softlab import fused
from softlab.bench.fusing import FusionCase
from softlab.course.catalogue import Lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.kernels import Attempt, KernelSlip, LaunchCase, WriteKernel
from softlab.course.predictions import Question
from softlab.course.requirements import at_most
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.errors import CompileError, KernelFault
from softlab.kernel import Kernel

#: What a score is held to by the load that the learner writes.
CAP = 5.0


def bytes_of(parts: tuple[str, ...], *, separate: bool) -> float:
    """Bytes per element of float32 that one kernel, or several, must move."""
    problem = FusionCase(1, 64, 64, parts=parts)
    return problem.least_bytes()[separate] / problem.size


def share_read(cols: int) -> float:
    """How much of a square matrix the causal load reads, from a run."""
    counted = fused.trace(np.zeros((cols, cols), np.float32), causal=True).counters
    return counted["global_load_sectors"] / (cols * cols // 8)


def kernels_of(moved: float) -> str:
    """How many kernels of 8 bytes that many bytes are, and what is left."""
    kernels, rest = divmod(moved, 8)
    left = f", and {spaced(rest)} byte{'s' * (rest != 1)} besides" if rest else ""
    return f"That is {kernels:g} kernel{'s' * (kernels != 1)} that move 4 bytes each way{left}."


def columns_of(cols: int, share: float) -> str:
    """How many columns of a row such a share is on average."""
    if share > 1:
        return "A share is at most 1: is that a number of elements, of sectors, of columns?"
    return f"That is {spaced(share * cols)} of {cols} columns per row, on average. Row 0 reads a whole sector already."


def capped() -> Iterator[LaunchCase]:
    """Rows that a warp keeps, with scores far beyond the cap."""
    for rows, cols in ((8, 64), (4, 50), (12, 2)):
        x = (np.random.default_rng(cols).standard_normal((rows, cols)) * 20).astype(np.float32)
        v = CAP * np.tanh(x.astype(np.float64) / CAP)
        e = np.exp(v - v.max(axis=1, keepdims=True))
        right = (e / e.sum(axis=1, keepdims=True)).astype(np.float32)
        args = {"x": x, "y": np.full_like(x, np.nan), "rows": np.int64(rows), "cols": np.int64(cols)}
        yield LaunchCase(2, (32, 4), args, {"y": right}, relative=1e-4, about=f"{rows} rows of {cols}")


#: A kernel beside the learner's struct: it loads one pack into memory that is larger.
PROBE = """
extern "C" __global__ void softlab_probe(const float* x, float* y) {
  CapLoad load{{x, 8}, 5.0f};
  load.load<2>(y, 0, 0);
}
"""


def pack_alone(attempt: Attempt) -> str:
    """Requirement: ``load<2>`` leaves alone what lies after its pack."""
    x, y = np.linspace(-9, 9, 8, dtype=np.float32), np.full(8, 7, np.float32)
    try:
        Kernel(attempt.kernel.program.source + PROBE, "softlab_probe").run(1, 1, (x, y), record=False)
    except CompileError:  # a struct of another name: there is nothing to probe
        return ""
    except KernelFault as fault:
        return f"`load<2>` ends with a fault, {fault.kind}: it may change destination[0] to destination[pack_size - 1]."
    if (y[2:] == 7).all():
        return ""
    return "`load<2>` changes numbers beyond its pack: the loop ends at pack_size."


def _sectors(launch: LaunchCase) -> int:
    """x once: rows begin where a sector may not, so one more a row is allowed."""
    x = launch.args["x"]
    return x.nbytes // 32 + x.shape[0]


def causal_exercise(cols: int) -> Number:
    """How much of a square matrix the causal load reads."""
    return Number(
        id="12-half-a-matrix",
        answer=lambda: share_read(cols),
        means=partial(columns_of, cols),
        formula=Formula(
            "(cols + sector) / (2 * cols)",
            {
                "cols": Quantity("the columns", cols, ((64, "those of the matrix above"),)),
                "sector": Quantity(
                    "the numbers of a sector",
                    8,
                    (
                        (1, "single elements"),
                        (2, "packs of 2"),
                        (4, "packs of 4"),
                        (16, "sectors of float16"),
                        (32, "the bytes of a sector"),
                    ),
                ),
            },
        ),
        absolute=0.002,
        unit="parts of 1",
        slips=(
            (0.5, "Half the elements, but what is read are whole sectors of 8 numbers, up to the diagonal."),
            ((cols + 1) / (2 * cols), "That counts elements. What is read are whole sectors of 8 numbers."),
            (lambda: share_read(cols) * cols * cols, "That is a number of elements. What share of the matrix is it?"),
            (lambda: share_read(cols) * cols, "So many columns a row reads on average. What share of a row is that?"),
            (lambda: 1 - share_read(cols), "That is the share that is not read, beyond the diagonal."),
            (1, "A pack that lies beyond the diagonal is not read at all."),
            (lambda: share_read(64), "That was the matrix of 64 columns. Sectors count for less in a larger one."),
            (lambda: share_read(cols) * cols * cols / 8, "That is a number of sectors. What share of all is it?"),
        ),
        hint="Row r reads the columns 0 to r, rounded up to sectors of 8 numbers. Run it, or sum it up.",
        because="A half, and half a sector for each row.",
    )


LESSON = Lesson(
    number="12",
    notebook="12-fusing.ipynb",
    title="Fusing: loads and stores as functions",
    minutes=30,
    objectives=(
        "say how many bytes a chain of kernels moves, and how many it would as one",
        "read the type of a fused load from the inside out, and write a load of your own",
        "say why dropout by counting needs no mask in memory, not even for the gradient",
    ),
    exercises=(
        Number(
            id="12-four-kernels",
            answer=lambda: bytes_of(("scale", "mask", "dropout"), separate=True),
            means=kernels_of,
            formula=Formula(
                "kernels * (read + write) + mask",
                {
                    "kernels": Quantity("the kernels", 4, ((3, "softmax or another one left out"), (1, "all in one"))),
                    "read": Quantity(
                        "the bytes that each reads", 4, ((2, "those of a float16"), (8, "those of a double"))
                    ),
                    "write": Quantity("the bytes that each writes", 4, ((2, "those of a float16"),)),
                    "mask": Quantity("the byte of the mask", 1, ((4, "as much as a float32"), (2, "read twice"))),
                },
            ),
            unit="bytes",
            absolute=0.01,
            slips=(
                (32, "The mask kernel also reads the mask: a byte an element."),
                (36, "An element of the mask has one byte, not 4."),
                (34, "Dropout by counting reads no mask: only one kernel reads one."),
                (9, "That is one kernel for three steps. Here four kernels run apart, and each reads and writes."),
                (17, "An element of float32 has 4 bytes, not 2."),
                (25, "That was without dropout, which reads what softmax has written and writes once more."),
                (lambda: bytes_of(("scale", "mask", "dropout"), separate=False), "That is what the one kernel moves."),
            ),
            hint="Each kernel reads 4 bytes per element and writes 4; one of them also reads a byte of mask.",
            because="Four kernels of 8 bytes, and a byte of mask. The fused kernel moves 13: it writes two results.",
        ),
        causal_exercise(128),
        MultipleChoice(
            id="12-memory-of-dropout",
            answers=("the mask of dropout", "x", "y without dropout, and the seed", "nothing"),
            right="y without dropout, and the seed",
            slips={
                "the mask of dropout": "A mask follows from the seed and the elements' numbers: why keep it?",
                "x": "The gradient needs what softmax made of x, not x.",
                "nothing": "dx = (dy - sum(y * dy)) * y: there is something in it that dy does not tell.",
            },
            hint="What stands in dx = (dy - sum(y * dy)) * y, and what does dropout do to dy before?",
        ),
        WriteKernel(
            id="12-your-own-load",
            kernel="softmax_capped",
            parameters="const float* x, float* y, long long rows, long long cols",
            launches=capped,
            requirements=(
                at_most("global_load_sectors", _sectors, "Change the numbers where they are: in registers."),
                at_most("global_store_sectors", _sectors, "Only the result is written."),
                pack_alone,
            ),
            slips=(
                KernelSlip("`tanf` is the tangent. The hyperbolic one is `tanhf`.", "result", r"\btanf?\("),
                KernelSlip("To cut off is not to cap: 5 * tanh(x / 5) is smooth.", "result", r"f?min|clamp|\?"),
                KernelSlip("The score is divided by the cap first, within tanh.", "result", r"tanhf?\([^/;]*\)"),
                KernelSlip("tanh lies between -1 and 1: times the cap.", "result", r"[^*]=\s*tanhf?\([^*;]*;"),
                KernelSlip("The cap is 5.", "result", r"\{x, cols\},(?!\s*5)"),
                KernelSlip("inner.load brings the scores: keep that line.", "uninitialized-local"),
            ),
            hint="After inner.load each destination[i], for all i below pack_size, is a score: it gives way to its "
            "capped value. (`tanhf` is C's tanh of a float, and `cap` is a member of the struct.)",
            because="The kernel is the shipped one; only its load is yours.",
        ),
    ),
    predictions=(
        Question(
            id="12-three-kernels",
            question="How many times as many bytes do the three kernels move?",
            answers={
                "as many": "Each kernel reads the whole matrix and writes it. The two results in between are extra.",
                "1.5 times": (
                    "Count for one element: 8 bytes for the scale, 9 for the mask, 8 for softmax, beside 9 in "
                    "one kernel."
                ),
                "2.8 times": "25 bytes per element in three kernels, 9 in one.",
                "9 times": "9 is how many bytes *one* kernel moves per element. The three kernels move 25.",
            },
        ),
    ),
    varied={
        "12-half-a-matrix": Varied(
            (128, 96, 160, 256),
            (
                "How much of a square matrix of 128 x 128 `float32`",
                "How much of a square matrix of {n} x {n} `float32`",
            ),
            causal_exercise,
        ),
    },
)
