"""Shuffle trace: for each warp shuffle, which lane gave what to whom."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.instruments.banks import WARP
from softlab.traces import Run, Shuffles

#: What 32 bits that a shuffle carries can be read as.
DTYPES = ("float32", "int32", "uint32")
#: How the lanes of each kind of shuffle find the lane that they read (PTX ISA, "shfl.sync").
MODES = {"bfly": "xor", "down": "down", "up": "up", "idx": "from lane"}


@dataclass(frozen=True)
class ShuffleStep:
    """One shuffle of one warp.

    mode: "bfly" (``__shfl_xor_sync``), "down", "up" or "idx" (``__shfl_sync``); distance: the mask of a bfly, how far
    down or up, the lane that all read of an idx; None where the lanes differ; line: of the kernel's CUDA file (0:
    unknown); instruction: index into ``Run.instructions``; source (32,) int8: the lane that each lane reads, its own
    where the one it asks for is out of range; active (32,) bool: the lanes that take part; given, received (32,)
    ``dtype``: what each lane offers and what it gets, 0 where it does not take part.
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
        """(giver, taker, value) of every active lane, by taker. A lane whose source is itself keeps its value."""
        takers = np.flatnonzero(self.active)
        return tuple((int(self.source[lane]), int(lane), self.received[lane].item()) for lane in takers)


def shuffle_steps(run: Run, *, block: int = 0, warp: int = 0, dtype: str | None = None) -> tuple[ShuffleStep, ...]:
    """The shuffles of one warp in the order they ran.

    Arguments:
        run: of the emulator; the block must be one of its recorded ones.
        block, warp: linear index of the block, and the warp in it.
        dtype: read the 32 bits as "float32", "int32" or "uint32". By default each shuffle is read as the next
            instruction does that uses its result.

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
    """Shuffles sorted into all-reduces, each the steps of one, in the order they ran; several may run by turns.

    A step goes on with a reduction if the lanes give what ``combine`` makes of what they gave and got before.
    """
    found: list[list[ShuffleStep]] = []
    for step in steps:
        mine = next((chain for chain in found if _goes_on(chain[-1], step, combine)), None)
        if mine is None:
            found.append([step])
        else:
            mine.append(step)
    return tuple(tuple(chain) for chain in found)


def held_values(
    reduction: Sequence[ShuffleStep], combine: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """What each lane holds before each step of a reduction, and after the last: (steps + 1, 32).

    All but the last row are recorded; the last is what ``combine`` makes of the row before, as it did in every step
    that :func:`reductions` joined.
    """
    last = reduction[-1]
    return np.stack([*(step.given for step in reduction), combine(last.given, last.received)])


def _goes_on(before: ShuffleStep, step: ShuffleStep, combine: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> bool:
    same = before.dtype == step.dtype and before.line == step.line and np.array_equal(before.active, step.active)
    return same and np.array_equal(combine(before.given, before.received)[step.active], step.given[step.active])


def value_type(texts: tuple[str, ...], index: int) -> str:
    """What the result of the shuffle ``texts[index]`` is: the type of the first instruction after it that reads it."""
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
        # `mov.b32 %f1, %r1` only moves the bits into a register of another kind: its name tells which.
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
    """The one distance of all lanes that read another lane's value; 0 where each reads its own."""
    lane = np.arange(WARP)
    away = {"bfly": source ^ lane, "down": source - lane, "up": lane - source, "idx": source.astype(np.int64)}[mode]
    found = set(away[active].tolist()) if mode == "idx" else set(away[active & (source != lane)].tolist())
    if len(found) > 1:
        return None
    return found.pop() if found else 0
