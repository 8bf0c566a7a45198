"""What the schedule must know of a block's first instruction before it runs: which lanes it names, what it awaits.

The values that the instruction reads are then still in the registers of the run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.flow import mask_of
from softlab.emulator.machine.lowering import immediate, lowered
from softlab.emulator.memory.elements import moved
from softlab.emulator.opcodes.effects import Effect
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.syntax import DTYPES, Address, Immediate, Instruction, Operand, Register, Symbol
from softlab.emulator.ptx.unsupported import unsupported


class FirstInstructions:
    """Evaluates the operands of blocks' first instructions in the registers of one run."""

    def __init__(self, program: EmulatedProgram, units: Units, registers: list[Value]) -> None:
        self._program = program
        self._units = units
        self._registers = registers
        self._conditions: dict[int, tuple[Effect, Callable[..., Value]]] = {}

    def named_lanes(self, block: Block, lanes: Lanes) -> Value:
        """The mask of lanes that a warp-synchronous instruction names.

        A lane whose guard does not hold does not execute the instruction: it names itself alone.
        """
        instruction = self._instruction(block)
        mask = mask_of(instruction)
        named = np.uint32(0xFFFFFFFF)
        if isinstance(mask, Register | Immediate):
            named = self._operand(lanes, mask, "u32")
        if instruction.guard is None:
            return named
        guard = self._guard(lanes, instruction, instruction.guard)
        return np.where(guard, named, np.uint32(1) << (lanes.column_index % WARP).astype(np.uint32))

    def event_occurred(self, block: Block, lanes: Lanes) -> Value:
        """Lanes whose awaited event has occurred. A lane whose guard does not hold awaits none."""
        instruction = self._instruction(block)
        if instruction.guard is not None:
            asked, rest = lanes.split(self._guard(lanes, instruction, instruction.guard))
            if asked is None:
                return np.bool_(True)
            if rest is not None:
                occurred = asked.put(np.bool_(True), self._occurred(block, asked), False)
                return lanes.take(np.broadcast_to(occurred, (lanes.blocks, lanes.threads)))
        return self._occurred(block, lanes)

    def _occurred(self, block: Block, lanes: Lanes) -> Value:
        effect, occurred = self._condition(block)
        kinds = ((operand, "u64" if kind == "address" else kind) for operand, kind in effect.sources)
        return occurred(lanes, effect.site, *(self._operand(lanes, operand, kind) for operand, kind in kinds))

    def _condition(self, block: Block) -> tuple[Effect, Callable[..., Value]]:
        found = self._conditions.get(block.index)
        if found is None:
            instruction = self._instruction(block)
            try:
                effect = lowered(instruction, block.start, self._program.image)
            except NotImplementedError as error:
                raise unsupported(instruction, str(error), file=self._program.image.module.file) from error
            assert isinstance(effect, Effect)
            assert effect.occurred is not None
            found = self._conditions[block.index] = effect, effect.occurred(self._units)
        return found

    def _instruction(self, block: Block) -> Instruction:
        return self._program.image.instructions[block.start]

    def _guard(self, lanes: Lanes, instruction: Instruction, guard: Register) -> Value:
        return self._operand(lanes, guard, "pred") ^ np.bool_(instruction.negated)

    def _operand(self, lanes: Lanes, operand: Operand, kind: str) -> Value:
        """An operand's value before its block has begun; addresses with their offsets."""
        dtype = DTYPES[kind]
        if isinstance(operand, Address):
            base = operand.base
            if isinstance(base, Register):
                address = self._operand(lanes, base, f"u{DTYPES[base.type].itemsize * 8}")
                return moved(address, operand.offset).astype("u8")
            at = self._program.image.addresses[base.name] if isinstance(base, Symbol) else 0
            return np.uint64(at + operand.offset)
        if isinstance(operand, Register):
            value = lanes.take(self._registers[self._program.registers[operand.name]])
            return value.view(dtype) if value.dtype.itemsize == dtype.itemsize else value.astype(dtype)
        return immediate(operand.value, dtype) if isinstance(operand, Immediate) else dtype.type(0)
