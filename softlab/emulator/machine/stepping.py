"""A program whose code tells of each instruction that it has executed: for a record of all that a warp does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.compiler import BlockWriter, EmulatedProgram
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.syntax import Instruction, Module

#: Called as listener(index, lanes, guard, *values) when these lanes have executed the instruction of that index in the
#: image. ``guard``: where they did what it says, None for everywhere. ``values``: what the registers that it writes
#: hold now, in the order of :func:`written`. Of an instruction that ends a block it is called before the lanes go on.
StepListener = Callable[..., Any]


def written(instruction: Instruction) -> tuple[str, ...]:
    """The registers that an instruction writes, each once."""
    return tuple(dict.fromkeys(uses_and_definitions(instruction)[1]))


class SteppedProgram(EmulatedProgram):
    """A kernel that tells ``listener`` of each instruction. It runs with ``compiled="none"`` only.

    Compiled blocks would join instructions, and the listener would miss them.
    """

    def __init__(self, module: Module, entry: str, listener: StepListener) -> None:
        super().__init__(module, entry)
        self._listener = listener

    def writer(self, block: Block) -> BlockWriter:
        """One that adds a call of the listener to each instruction."""
        return _SteppedWriter(self, block)

    def bind_listener(self, units: Units) -> StepListener:
        """The same for every batch."""
        return self._tell

    def _tell(self, index: int, lanes: Lanes, guard: Value | None, *values: Value) -> None:
        self._listener(index, lanes, guard, *values)


class _SteppedWriter(BlockWriter):
    program: SteppedProgram

    def _instruction(self, instruction: Instruction, index: int) -> None:
        guard = self._guard(instruction)  # before the instruction, which may change it
        super()._instruction(instruction, index)
        self._step(index, guard, [self._newest(name) for name in written(instruction)])

    def _newest(self, register: str) -> str:
        """The variable that holds a register now, in any type."""
        forms = self.values.get(register)
        return next(iter(forms.values())) if forms else self._as(register, self.program.dtype(register))

    def _decision(self, instruction: Instruction) -> tuple[str, tuple[str, ...]]:
        decision = super()._decision(instruction)
        self._step(self.block.stop - 1, self._guard(instruction), [])
        return decision

    def _step(self, index: int, guard: str | None, values: list[str]) -> None:
        tell = self.bound(self.program.bind_listener, "step")
        call = f"{tell}({', '.join([str(index), 'L', guard or 'None', *values])})"
        self.operations.append(Operation((), call, (*([guard] if guard else []), *values)))
