"""Where the pointers of a kernel come from: the variables and parameters that reach each register.

The analysis is one fixed point over all registers, without the order of the instructions: a variable reaches a register
if any instruction computes the register from the variable's address. So it may find too many, never too few. A pointer
that arithmetic has changed in a way that hides its variable (a difference of two pointers, an exclusive or) has the
origin ``UNKNOWN``, and one that was loaded from memory has ``LOADED``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.linker import PARAMETER_BASE, Image
from softlab.emulator.ptx.syntax import Address, Immediate, Instruction, Operand, Register, Symbol, Vector


@dataclass(frozen=True, order=True)
class Origin:
    """What a pointer points to.

    ``kind``: "shared" or "global" (the variable ``name``); "parameter" (the pointer at byte ``offset`` of the kernel's
    parameters); "stack" (a thread's stack, ``name``); "local" (the variable that begins at byte ``offset`` of the stack
    ``name``); "loaded" or "unknown".
    """

    kind: str
    name: str = ""
    offset: int = 0


LOADED = Origin("loaded")
UNKNOWN = Origin("unknown")
Origins = frozenset[Origin]
_NONE: Origins = frozenset()
_HIDDEN: Origins = frozenset((UNKNOWN,))
_VARIABLES = ("shared", "global", "const")
#: Types that can hold an address.
_POINTER_TYPES = ("u32", "s32", "b32", "u64", "s64", "b64")
#: Opcodes whose result points to what their operands point to.
_SAME = ("mov", "cvta", "cvt", "mapa", "and", "or", "min", "max")


class PointerOrigins:
    """The origins of all registers of a kernel."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._of: dict[str, Origins] = {}
        self._stacks = {name for name, space in image.spaces.items() if space == "local" and "depot" in name}
        steps = [(i, self._destinations(i)) for i in image.instructions]
        steps = [(i, names) for i, names in steps if names]
        changed = True
        while changed:
            changed = False
            for instruction, names in steps:
                found = self._result(instruction)
                for name in names:
                    before = self._of.get(name, _NONE)
                    if not found <= before:
                        self._of[name] = before | found
                        changed = True

    def of_address(self, operand: Operand) -> Origins:
        """The origins of an address operand."""
        return self.of(operand.base) if isinstance(operand, Address) else _NONE

    def of(self, operand: Operand) -> Origins:
        """The origins of a register or a symbol."""
        if isinstance(operand, Register):
            return self._of.get(operand.name, _NONE)
        if isinstance(operand, Address):  # a symbol with an offset, as a value
            return self.of(operand.base)
        if isinstance(operand, Symbol):
            if operand.name in self._stacks:
                return frozenset((Origin("stack", operand.name),))
            if self._image.spaces.get(operand.name) in _VARIABLES:
                space = self._image.spaces[operand.name]
                return frozenset((Origin("shared" if space == "shared" else "global", operand.name),))
        return _NONE

    def _destinations(self, instruction: Instruction) -> list[str]:
        """The registers that an instruction writes; a store to a variable of a call counts as one."""
        if instruction.opcode == "st":
            slot = self._slot(instruction.operands[0]) if instruction.operands else None
            return [slot] if slot else []
        return uses_and_definitions(instruction)[1]

    def _slot(self, operand: Operand) -> str | None:
        """The name of a call's parameter variable, which holds one value."""
        if not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
            return None
        name = operand.base.name
        local = self._image.spaces.get(name) == "local" and name not in self._stacks
        return f"[{name}+{operand.offset}]" if local else None

    def _result(self, instruction: Instruction) -> Origins:
        """The origins of what an instruction computes."""
        opcode, operands = instruction.opcode, instruction.operands
        if opcode in ("ld", "ldu", "atom"):
            return self._loaded(instruction)
        if opcode == "st":
            return self._of_values(operands[1:])
        sources = operands[1:]
        if opcode in _SAME:
            return self._of_values(sources)
        if opcode == "selp":
            return self._of_values(sources[:2])
        if opcode == "add":
            return self._sum(instruction)
        if opcode == "sub" and len(sources) == 2:
            return _HIDDEN if self.of(sources[1]) - {LOADED} else self.of(sources[0])
        if opcode in ("mad", "fma") and len(sources) == 3:
            factors = self._of_values(sources[:2])
            return _HIDDEN if factors - {LOADED} else _plus(self.of(sources[2]), factors)
        found = self._of_values(sources)
        return _HIDDEN if found - {LOADED} else found

    def _of_values(self, operands: Iterable[Operand]) -> Origins:
        found = _NONE
        for operand in operands:
            parts = operand.elements if isinstance(operand, Vector) else (operand,)
            for part in parts:
                found |= self.of(part)
        return found

    def _sum(self, instruction: Instruction) -> Origins:
        """A pointer plus an integer. The compiler writes the address of a variable as the stack plus a constant."""
        first, second = instruction.operands[1:3]
        if isinstance(second, Immediate) and isinstance(second.value, int):
            left = self.of(first)
            stacks = [o for o in left if o.kind == "stack"]
            if stacks and len(left) == 1:
                return frozenset(Origin("local", o.name, second.value) for o in stacks)
        return _plus(self.of(first), self.of(second))

    def _loaded(self, instruction: Instruction) -> Origins:
        """What a load brings: a pointer of the parameters or of a call, or any pointer."""
        if instruction.modifiers[-1] not in _POINTER_TYPES:
            return _NONE
        address = next((o for o in instruction.operands if isinstance(o, Address)), None)
        slot = self._slot(address)
        if slot is not None:
            return self._of.get(slot, _NONE)
        if address is not None and isinstance(address.base, Symbol):
            name = address.base.name
            if self._image.spaces.get(name) == "kernel-param" and instruction.modifiers[-1].endswith("64"):
                first = self._image.addresses[name] - PARAMETER_BASE + address.offset
                count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4")), 1)
                return frozenset(Origin("parameter", name, first + 8 * i) for i in range(count))
            if self._image.spaces.get(name) == "kernel-param":
                return _NONE
        return frozenset((LOADED,))


def _plus(left: Origins, right: Origins) -> Origins:
    """The origins of a sum: what was loaded is an integer where the other term is a pointer."""
    both = left | right
    if both - {LOADED}:
        return both - {LOADED}
    return both
