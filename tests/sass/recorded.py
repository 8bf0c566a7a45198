"""A recorded launch, interpreted and held to the PTX emulator and to the hardware."""

from __future__ import annotations

import numpy as np

from softlab.kernel import Kernel
from softlab.sass import interpret
from tests.hardware.cases import CounterCase


def held_to_both(case: CounterCase, instructions: int | None) -> None:
    """Outputs bit for bit those of the PTX emulator, and as many instructions as the hardware executed."""
    how = case.launch()
    kernel = Kernel.from_program(how.compile())
    given = case.arguments()
    found = interpret(kernel, how.grid, how.block, given, smem=how.smem)
    expected = case.arguments()
    for before, fresh in zip(given, expected, strict=True):
        if isinstance(before, np.ndarray):
            assert before.tobytes() == fresh.tobytes(), "an argument was changed"
    kernel.run(how.grid, how.block, expected, smem=how.smem, check=False, record=False)
    for number, array in enumerate(expected):
        if isinstance(array, np.ndarray):
            assert found.output(number).tobytes() == array.tobytes(), f"argument {number}"
    assert found.instructions == sum(len(stream) for stream in found.streams)
    if instructions is not None:
        assert found.instructions == instructions
