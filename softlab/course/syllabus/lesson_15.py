"""Notebook 15: what a warp waits for, and how other warps hide it."""

from __future__ import annotations

import math
from functools import cache, partial

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Number
from softlab.course.formulas import Formula, Quantity
from softlab.course.predictions import Question
from softlab.course.values import spaced
from softlab.course.variants import Varied
from softlab.cuda.disassembly import disassemble
from softlab.hardware import atlas
from softlab.kernel import Kernel

#: The kernel of the notebook.
SOURCE = """__global__ void scaled(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  float w = x[i + n];
  float s = v * a + 1.0f;
  y[i] = s + w;
}
"""
LANES, SMS = 32, 132


def chain(instructions: int = 1000) -> float:
    """Cycles of dependent FFMA of one warp."""
    return instructions * atlas.load("H200")["latency.FFMA"]


@cache
def line_waited_for() -> int:
    """The line of the load that the FADD of line 7 waits for: by its wait mask, the load that sets the scoreboard."""
    code = disassemble(Kernel(SOURCE, "scaled").program).kernel.instructions
    setters: dict[int, int] = {}
    for one in code:
        if one.control is None:
            continue
        if one.opcode == "FADD":
            return next(setters[board] for board in one.control.waits)
        if one.control.write_barrier is not None:
            setters[one.control.write_barrier] = one.frames[0][1]
    raise LookupError("the kernel has no FADD")


def bandwidth() -> float:
    """The recorded peak at which an H200 reads DRAM."""
    _, rate = atlas.load("H200").series("bandwidth.DRAM.read")
    return float(rate.max())


def bytes_on_the_way() -> float:
    """Bytes per SM that Little's law asks for, to read DRAM at the recorded peak."""
    return bandwidth() * atlas.load("H200")["latency.DRAM"] / SMS


def warps(size: int = 16) -> int:
    """Warps per SM with one load of ``size`` bytes per lane."""
    return math.ceil(bytes_on_the_way() / (LANES * size))


def loads(held: int = 32, size: int = 4) -> int:
    """Loads per thread, of ``size`` bytes each, with ``held`` warps per SM."""
    return math.ceil(bytes_on_the_way() / (held * LANES * size))


def cycles_of_one(instructions: int, cycles: float) -> str:
    """How many cycles each of the instructions takes."""
    return f"That is {spaced(cycles / instructions)} cycles for each FFMA."


def no_line(line: float) -> str:
    """What to say to a number that is no line of the kernel."""
    return f"`scaled` has no line {line:g}: it has 8."


def on_the_way(held: float, size: int, bytes_asked: float) -> str:
    """What that many warps have on the way, beside what the law asks for."""
    if not held.is_integer():
        return ""
    found = held * LANES * size
    enough = "more than the law asks for. Are fewer enough?" if found >= bytes_asked else "less than the law asks for."
    return f"That would be {spaced(found)} bytes on the way per SM, {enough}"


def chain_exercise(instructions: int) -> Number:
    """How many cycles that many dependent FFMA take."""
    return Number(
        id="15-a-chain",
        answer=lambda: chain(instructions),
        means=partial(cycles_of_one, instructions),
        formula=Formula(
            "instructions * latency",
            {
                "instructions": Quantity("the instructions", instructions),
                "latency": Quantity(
                    "the cycles of each",
                    chain(1),
                    (
                        (1, "one per cycle"),
                        (2, "two"),
                        (29, "those of shared memory"),
                    ),
                ),
            },
        ),
        relative=0.01,
        slips=(
            (instructions, "So it would be if they did not depend on each other: one per cycle."),
            (4, "That is one of them."),
            (
                instructions / 4,
                "Each depends on the one before, so one scheduler alone has work, and each takes its latency.",
            ),
            (32 * instructions, "The 32 lanes of a warp work at the same time."),
            (128 * instructions, "The 32 lanes of a warp work at the same time."),
            (
                lambda: instructions * atlas.load("H200")["latency.DRAM"],
                "That is the latency of DRAM. An FFMA takes its numbers from registers.",
            ),
        ),
        hint="Each starts when the result of the one before is there: the atlas says after how many cycles, "
        "latency.FFMA.",
    )


def loads_exercise(held: int) -> Number:
    """How many loads of 4 bytes each thread must have on their way, with that many warps per SM."""
    exact = bytes_on_the_way() / (held * LANES * 4)
    return Number(
        id="15-loads-on-the-way",
        answer=lambda: loads(held),
        means=lambda each: on_the_way(each * held, 4, bytes_on_the_way()),
        formula=Formula(
            "ceil(rate * latency / sms / (warps * lanes * size))",
            {
                "rate": Quantity("the bandwidth", bandwidth()),
                "latency": Quantity("the latency", atlas.load("H200")["latency.DRAM"]),
                "sms": Quantity("the SMs", SMS),
                "warps": Quantity("the warps of an SM", held, ((64, "as many as fit"),)),
                "lanes": Quantity("the lanes of a warp", LANES),
                "size": Quantity("the bytes of a load", 4, ((16, "those of a pack"), (8, "those of a smaller pack"))),
            },
        ),
        slips=(
            (math.floor(exact), "Nearly: that is a little too few. Round up."),
            (1, f"{held} warps with one load of 4 bytes per lane have {held * 128} bytes on the way."),
            (warps, "That is how many warps are enough with loads of 16 bytes. Asked is for the loads of each thread."),
            (lambda: loads(held, 1), "A load brings 4 bytes per lane."),
            (lambda: loads(1, 4), f"That is for one warp. There are {held}."),
            (lambda: math.ceil(exact * SMS), "That is for the whole GPU, and the bytes are those of 132 SMs."),
            (math.floor(exact * SMS), "That is for the whole GPU, and the bytes are those of 132 SMs."),
        ),
        hint=f"The bytes that the law asks for, over {held} warps x 32 lanes x 4 bytes. A part of a load is a load: "
        f"round "
        "up.",
        because="Loads that do not depend on each other: an unrolled loop has them.",
    )


LESSON = Lesson(
    number="15",
    notebook="15-what-a-warp-waits-for.ipynb",
    title="What a warp waits for",
    minutes=40,
    objectives=(
        "read the control code of a machine instruction: stall count, scoreboards, wait mask",
        "say how many cycles a result takes, from an addition to a load from DRAM",
        "use Little's law to compute how many bytes an SM must have in flight",
        "ask the timing model which wait goes away without its cause",
    ),
    predictions=(
        Question(
            id="15-two-loads",
            question="How many loads has a warp on the way when it stops for the first of the two numbers?",
            answers={
                "one": "The warp goes on after a load. It stops at the first instruction that needs a loaded number.",
                "two": "No instruction between the loads needs a loaded number, so the warp issues both.",
            },
        ),
    ),
    exercises=(
        chain_exercise(1000),
        Number(
            id="15-the-second-wait",
            answer=line_waited_for,
            means=no_line,
            slips=(
                (4, "The FFMA of line 6 has waited for that one already."),
                (1, "That is the head of the kernel. Which line loads what line 7 adds?"),
                (2, "That line computes the index. It loads no number of an array."),
                (3, "No number is loaded there. The first line of the kernel has the number 1."),
                (8, "That line closes the kernel. Which line loads what line 7 adds?"),
                (6, "Line 6 is arithmetic: its result comes after a fixed time, and the stall count covers it."),
                (7, "That is the line that waits."),
            ),
            hint="Set explorer.line = 7 and read the control code of the FADD.",
        ),
        Number(
            id="15-enough-warps",
            answer=warps,
            means=lambda held: on_the_way(held, 16, bytes_on_the_way()),
            formula=Formula(
                "ceil(rate * latency / sms / (lanes * size))",
                {
                    "rate": Quantity("the bandwidth", bandwidth()),
                    "latency": Quantity("the latency", atlas.load("H200")["latency.DRAM"]),
                    "sms": Quantity("the SMs", SMS),
                    "lanes": Quantity("the lanes of a warp", LANES),
                    "size": Quantity(
                        "the bytes of a lane",
                        16,
                        ((4, "those of a float"), (8, "those of a smaller pack"), (2, "those of a float16")),
                    ),
                },
            ),
            slips=(
                (lambda: warps(4), "That is for loads of 4 bytes. Here a lane loads 16."),
                (lambda: warps() * SMS, "That is for the whole GPU."),
                (
                    64,
                    "That is how many warps an SM holds at most. Fewer bring enough for bandwidth x latency: how many?",
                ),
                (32, "That is how many lanes a warp has, or half the warps that fit. How many are needed?"),
                (lambda: warps(16 * LANES), "A load of a warp brings 16 bytes for each of its 32 lanes."),
                (lambda: math.floor(bytes_on_the_way() / (LANES * 16)), "Nearly: that is a little too few. Round up."),
            ),
            hint="Bytes on the way = bandwidth x latency, over 132 SMs. One load of a warp brings 32 x 16 of them. A "
            "part of "
            "a warp is a warp: round up.",
        ),
        loads_exercise(32),
    ),
    varied={
        "15-loads-on-the-way": Varied(
            (32, 16, 24, 48),
            ("its registers leave room for 32 warps.", "its registers leave room for {n} warps."),
            loads_exercise,
        ),
        "15-a-chain": Varied(
            (1000, 500, 750, 1500, 2000),
            ("It executes 1000 `FFMA`, and each needs", "It executes {n} `FFMA`, and each needs"),
            chain_exercise,
        ),
    },
)
