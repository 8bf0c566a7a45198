"""From a public call to a kernel: the number of Python frames."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

import softlab

#: Frames on the stack while the emulator executes the first opcode of a kernel: those of the public function, of the
#: generated function of the kernel's first basic block, and of all functions between them. The first opcode is executed
#: in the generated function itself.
MOST_FRAMES = 8


def frames_to_the_first_opcode(call: Any, *arguments: Any) -> list[str]:
    """The names of the functions from ``call`` to the first generated block function."""
    found: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        generated = code.co_filename.startswith("<block ") and code.co_name.startswith("block_")
        if event == "call" and generated and not found:
            caller: FrameType | None = frame
            while caller is not None and caller.f_code is not call.__code__:
                found.append(caller.f_code.co_qualname)
                caller = caller.f_back
            assert caller is not None
            found.append(caller.f_code.co_qualname)

    sys.setprofile(profile)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
    return found[::-1]


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "softmax_backward", "log_softmax_backward"])
def test_frames(op: str) -> None:
    x = np.ones((4, 64), np.float32)
    inputs = (x, x) if "backward" in op else (x,)
    frames = frames_to_the_first_opcode(getattr(softlab, op), *inputs)
    assert frames[0] == op
    assert frames[-1].rpartition(".")[2].startswith("block_")
    assert len(frames) <= MOST_FRAMES, frames


def test_the_count_sees_one_frame_more() -> None:
    x = np.ones((4, 64), np.float32)

    def outer(x: np.ndarray) -> np.ndarray:
        return softlab.softmax(x)

    assert len(frames_to_the_first_opcode(outer, x)) == 1 + len(frames_to_the_first_opcode(softlab.softmax, x))
