"""Damaged PTX: whatever it says, the emulator ends within its budget with a result or a softlab error, and touches
nothing but the arrays it was given. ``python -m tests.fuzz ptx`` runs many.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import FrameType

import numpy as np

from softlab.errors import Error
from softlab.kernel import Kernel
from tests.faults.cases import GOOD, Good

#: Instructions a mutant may issue, and the seconds of CPU time after which one counts as hanging.
BUDGET = 3000
SECONDS = 20
GUARD = 4096
KERNELS = [name for name in GOOD if not name.startswith("CUB")]

_REGISTER = re.compile(r"%[a-z]+\d+")
_NUMBER = re.compile(r"(?<![\w%.$])-?(?:0[xX][0-9a-fA-F]+|\d+)(?![\w.])")
_TYPE = re.compile(r"\.(?:[bus](?:8|16|32|64)|f(?:16|32|64)|bf16|f16x2|e[45]m[23]x2|m\d+n\d+k\d+|x[124]|pred|v[24])\b")
_LABEL = re.compile(r"\$L__BB\d+_\d+")
_SPACE = re.compile(r"\.(?:global|shared|local|param|const)\b")
_NUMBERS = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "31",
    "32",
    "255",
    "4096",
    "2147483647",
    "-2147483648",
    "4294967295",
    "0x7fffffffffffffff",
    "18446744073709551615",
    "99999999999999999999999",
    "1099511627776",
    "0f7FC00000",
]
_TYPES = [
    ".b8",
    ".u8",
    ".s16",
    ".b16",
    ".u32",
    ".s32",
    ".b32",
    ".f32",
    ".u64",
    ".b64",
    ".f64",
    ".f16",
    ".bf16",
    ".f16x2",
    ".pred",
    ".v2",
    ".v4",
    ".b128",
    ".wide",
    ".sat",
    ".ftz",
    ".e4m3x2",
    ".m16n8k16",
    ".m8n8k4",
    ".x2",
    ".trans",
]
_SPACES = [".global", ".shared", ".local", ".param", ".const", ""]
_ODD = [
    "bra $L__BB0_1;",
    "exit;",
    "trap;",
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "@%p1 ret;",
    "}",
    "{",
    "brkpt;",
    ".reg .b32 %z;",
    "call foo;",
    "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
    "bar.warp.sync -1;",
    "vote.sync.ballot.b32 %r1, %p1, 15;",
    ".shared .align 4 .b8 big[1073741824];",
    ".local .b8 deep[1073741824];",
    "st.shared.u32 [%r1], %r2;",
    "ld.global.u64 %rd1, [%rd1+4096];",
    "st.global.u32 [%rd1-4], %r1;",
    "atom.global.add.u32 %r1, [%rd2], 1;",
    "mov.u64 %rd1, 0;",
    "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [0];",
    "setp.eq.s32 %p1, 0, 0;",
    "/*",
    "@",
    ";;",
    "nanosleep.u32 4000000000;",
    "activemask.b32 %r1;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, "
    "{%f1, %f2, %f3, %f4};",
    "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%r1, %r2}, {%r1}, {%r2}, {%r3, %r4};",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r1];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
    "wmma.load.a.sync.aligned.row.m16n16k16.u8 {%r1, %r2}, [%rd1], %r3;",
    "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;",
    "\x00\x7f",
    "é",
]


@lru_cache(maxsize=64)
def compiled(name: str):
    return GOOD[name].compile()


def mutated(text: str, draw: random.Random) -> str:
    """The PTX with one to four random changes, most of them in the kernel's body."""
    lines = text.splitlines()
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randrange(0 if draw.random() < 0.1 else min(len(lines) - 1, 8), len(lines))
        line = lines[at]
        match draw.randrange(12):
            case 0:
                del lines[at]
            case 1:
                lines.insert(draw.randrange(len(lines)), line)
            case 2:
                other = draw.randrange(len(lines))
                lines[at], lines[other] = lines[other], line
            case 3 | 4:
                lines[at] = _swap(line, _REGISTER, _REGISTER.findall(text), draw)
            case 5 | 6:
                lines[at] = _swap(line, _NUMBER, _NUMBERS, draw)
            case 7:
                lines[at] = _swap(line, _TYPE, _TYPES, draw)
            case 8:
                lines[at] = _swap(line, _LABEL, _LABEL.findall(text), draw)
            case 9:
                lines[at] = _swap(line, _SPACE, _SPACES, draw)
            case 10:
                lines.insert(at, draw.choice(_ODD))
            case _:
                cut = draw.randrange(len(line) + 1)
                lines[at] = line[:cut] + draw.choice(["", line[cut + 1 :], chr(draw.randrange(32, 127)) + line[cut:]])
    return "\n".join(lines) + "\n"


def _swap(line: str, what: re.Pattern, by: list[str], draw: random.Random) -> str:
    """The line with one of the matches replaced."""
    matches = list(what.finditer(line))
    if not matches or not by:
        return line
    match = draw.choice(matches)
    return line[: match.start()] + draw.choice(by) + line[match.end() :]


class Hangs(BaseException):
    """Not an Exception, so that no handler in between catches it."""


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def on_alarm(number: int, frame: FrameType | None) -> None:
        raise Hangs

    # CPU time: on a busy machine a good case takes long by the clock. A case that sleeps takes none, so that a wait of
    # many times as long counts as well.
    before = [signal.signal(which, on_alarm) for which in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for which, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(which, handler)


def _guarded(arguments: list, draw: random.Random) -> tuple[list, list[tuple[np.ndarray, int, int]]]:
    """The arguments with each array inside a larger one, and (that one, start, end)."""
    placed, guards = [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            around = np.frombuffer(draw.randbytes(argument.nbytes + 2 * GUARD), np.uint8).copy()
            inside = around[GUARD : GUARD + argument.nbytes].view(argument.dtype).reshape(argument.shape)
            inside[...] = argument
            guards.append((around, GUARD, GUARD + argument.nbytes))
            placed.append(inside)
        else:
            placed.append(argument)
    return placed, guards


def outcome(number: int) -> str:
    """Run one mutant: "result", or the error's name.

    Raises:
        AssertionError, Hangs: it did what it must not; anything else that comes out is a failure as well.
    """
    draw = random.Random(f"mutant {number}")
    name = draw.choice(KERNELS)
    good: Good = GOOD[name]
    program = compiled(name)
    text = mutated(program.ptx, draw)
    arguments, guards = _guarded(good.arguments(), draw)
    before = [(around[:start].tobytes(), around[end:].tobytes()) for around, start, end in guards]
    with _alarm(SECONDS):
        try:
            kernel = Kernel.from_program(replace(program, ptx=text))
            kernel.run(good.grid, good.block, arguments, good.smem, draw.random() < 0.8, record=False, budget=BUDGET)
            told = "result"
        except Error as error:
            told = type(error).__name__ + (f" {error.kind}" if hasattr(error, "kind") else "")
        except (TypeError, ValueError) as error:
            # The parameters were changed, so that the arguments do not fit any more.
            if not re.match(r"the kernel takes|argument \d|the kernel writes to", str(error)):
                raise
            told = "argument"
    after = [(around[:start].tobytes(), around[end:].tobytes()) for around, start, end in guards]
    assert before == after, "memory beside the arrays was written"
    return told
