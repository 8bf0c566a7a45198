"""Shuffle trace: which lane of a warp gave which value to which lane."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.instruments.banks import WARP
from softlab.traces import Run, Shuffles

#: Types as which the 32 bits of a shuffle can be read.
DTYPES = ("float32", "int32", "uint32")
#: How a lane finds the lane that it reads, for each kind of shuffle (PTX ISA, "shfl.sync").
MODES = {"bfly": "xor", "down": "down", "up": "up", "idx": "from lane"}


@dataclass(frozen=True)
class ShuffleStep:
    """One shuffle of one warp.

    mode: "bfly" (``__shfl_xor_sync``), "down", "up" or "idx" (``__shfl_sync``); distance: the mask of a bfly, the
    distance of a down or up, the lane that all read with idx; None if the lanes differ; line: of the kernel's CUDA file
    (0: unknown); instruction: index into ``Run.instructions``; source (32,) int8: the lane that each lane reads, its
    own if the one it asks for is out of range; active (32,) bool: the lanes that take part; given, received (32,)
    ``dtype``: the value that each lane gives and gets, 0 for a lane that does not take part.
    """

    mode: str
    distance: int | None
    line: int
    instruction: int
    block: int
    warp: int
    dtype: str
    source: np.ndarray
    active: np.ndarray
    given: np.ndarray
    received: np.ndarray

    @property
    def title(self) -> str:
        """The step in short: "xor 16", "down 1"."""
        return f"{MODES[self.mode]} {'that differs' if self.distance is None else self.distance}"

    def exchanges(self) -> tuple[tuple[int, int, float | int], ...]:
        """(source lane, lane, value) of every active lane, in order. A lane whose source is itself keeps its value."""
        takers = np.flatnonzero(self.active)
        return tuple((int(self.source[lane]), int(lane), self.received[lane].item()) for lane in takers)


def shuffle_steps(run: Run, *, block: int = 0, warp: int = 0, dtype: str | None = None) -> tuple[ShuffleStep, ...]:
    """The shuffles of one warp in the order they ran.

    Arguments:
        run: of the emulator; the block must be one of its recorded ones.
        block, warp: linear index of the block, and the warp in it.
        dtype: read the 32 bits as "float32", "int32" or "uint32". Default: the type with which the next instruction
            reads the result.

    Raises:
        ValueError: another dtype.
    """
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r}: a shuffle carries 32 bits, read as one of {', '.join(DTYPES)}")
    shuffles = run.shuffles
    mine = shuffles.select(np.flatnonzero((shuffles.block == block) & (shuffles.warp == warp)))
    texts = run.instructions.text if run.instructions else ()
    return tuple(
        _step(mine, number, dtype or value_type(texts, int(mine.instruction[number]))) for number in range(len(mine))
    )


def reductions(
    steps: Sequence[ShuffleStep], combine: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[tuple[ShuffleStep, ...], ...]:
    """Shuffles sorted into all-reduces: the steps of each, in the order they ran. Several may run interleaved.

    A step continues a reduction if the lanes give ``combine`` of what they gave and got in the step before.
    """
    found: list[list[ShuffleStep]] = []
    for step in steps:
        mine = next((chain for chain in found if _continues(chain[-1], step, combine)), None)
        if mine is None:
            found.append([step])
        else:
            mine.append(step)
    return tuple(tuple(chain) for chain in found)


def held_values(
    reduction: Sequence[ShuffleStep], combine: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """The value of each lane before each step of a reduction, and after the last: (steps + 1, 32).

    All rows but the last are recorded. The last is ``combine`` of the last step's values, as in every step that
    :func:`reductions` joined.
    """
    last = reduction[-1]
    return np.stack([*(step.given for step in reduction), combine(last.given, last.received)])


def _continues(before: ShuffleStep, step: ShuffleStep, combine: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> bool:
    same = before.dtype == step.dtype and before.line == step.line and np.array_equal(before.active, step.active)
    return same and np.array_equal(combine(before.given, before.received)[step.active], step.given[step.active])


def value_type(texts: tuple[str, ...], index: int) -> str:
    """The type of the result of the shuffle ``texts[index]``: that with which the next instruction reads it."""
    result = re.search(r"shfl\S*\s+(%\w+)", texts[index]) if index < len(texts) else None
    if result is None:
        return "float32"
    register = re.compile(re.escape(result.group(1)) + r"\b")
    for text in texts[index + 1 :]:
        opcode, _, operands = text.partition(" ")
        if opcode.startswith("@"):
            opcode, _, operands = operands.partition(" ")
        if not register.search(operands.partition(",")[2]):
            continue
        # `mov.b32 %f1, %r1` only moves the bits into a register of another type, which its name shows.
        if operands.startswith("%f"):
            return "float32"
        kind = opcode.rpartition(".")[2].rstrip(";")
        return {"s32": "int32", "s64": "int32", "f32": "float32", "f64": "float32"}.get(kind, "uint32")
    return "float32"


def _step(shuffles: Shuffles, number: int, dtype: str) -> ShuffleStep:
    mode, source, active = str(shuffles.mode[number]), shuffles.source[number], shuffles.active[number]
    return ShuffleStep(
        mode=mode,
        distance=_distance(mode, source, active),
        line=int(shuffles.line[number]),
        instruction=int(shuffles.instruction[number]),
        block=int(shuffles.block[number]),
        warp=int(shuffles.warp[number]),
        dtype=dtype,
        source=source,
        active=active,
        given=_read(shuffles.given[number], active, dtype),
        received=_read(shuffles.received[number], active, dtype),
    )


def _read(bits: np.ndarray, active: np.ndarray, dtype: str) -> np.ndarray:
    return np.where(active, bits, np.uint32(0)).astype(np.uint32).view(dtype)


def _distance(mode: str, source: np.ndarray, active: np.ndarray) -> int | None:
    """The distance that all lanes share which read another lane's value, else None; 0 if each lane reads its own."""
    lane = np.arange(WARP)
    away = {"bfly": source ^ lane, "down": source - lane, "up": lane - source, "idx": source.astype(np.int64)}[mode]
    found = set(away[active].tolist()) if mode == "idx" else set(away[active & (source != lane)].tolist())
    if len(found) > 1:
        return None
    return found.pop() if found else 0
