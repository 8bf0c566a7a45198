"""Loads whose value a compare-and-swap checks, as in ``old = *p; do { assumed = old; old = atomicCAS(p, assumed,
f(assumed)); } while (assumed != old)``, the loop of the CUDA C++ Programming Guide, "Atomic Functions".

Such a load may find any earlier value: the swap happens only if the word still has it. So it does not race with the
atomics of other threads.
"""

from __future__ import annotations

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Operand, Register, Symbol

_QUALIFIED = ("volatile", "relaxed", "acquire", "mmio", "nc")


def checked_guesses(image: Image) -> frozenset[int]:
    """The indices of these loads: plain ones whose value reaches nothing but swaps at their address and branches."""
    if not any(_is_swap(i) for i in image.instructions):
        return frozenset()
    places = _Places(image)
    swapped = {places.of(i) for i in image.instructions if _is_swap(i)}
    return frozenset(
        index
        for index, load in enumerate(image.instructions)
        if load.opcode == "ld"
        and places.of(load) in swapped
        and isinstance(load.operands[0], Register)
        and not load.has(*_QUALIFIED)
        and _is_checked(image, index, load.operands[0].name, places)
    )


def _is_swap(instruction: Instruction) -> bool:
    return instruction.opcode == "atom" and instruction.has("cas")


class _Places:
    """Where instructions access memory: (register or variable, offset). A copy of an address is that address."""

    def __init__(self, image: Image) -> None:
        definitions: dict[str, list[Instruction]] = {}
        for instruction in image.instructions:
            for name in uses_and_definitions(instruction)[1]:
                definitions.setdefault(name, []).append(instruction)
        self._copies = {
            name: made[0].operands[1]
            for name, made in definitions.items()
            if len(made) == 1 and made[0].opcode in ("mov", "cvta") and made[0].guard is None
        }

    def of(self, access: Instruction) -> tuple[Operand, int]:
        """The place of a load or an atomic."""
        address = access.operands[1]
        base: Operand = address.base if isinstance(address, Address) else address
        while isinstance(base, Register) and isinstance(self._copies.get(base.name), Register | Symbol):
            base = self._copies[base.name]
        return base, address.offset if isinstance(address, Address) else 0


def _is_checked(image: Image, load: int, register: str, places: _Places) -> bool:
    """``same`` registers may hold the loaded value, ``derived`` ones what was computed from it."""
    same, derived, swaps = {register}, {register}, False
    place = places.of(image.instructions[load])
    grows = True
    while grows:
        grows = False
        for index, instruction in enumerate(image.instructions):
            uses, definitions = uses_and_definitions(instruction)
            if index == load or instruction.opcode == "bra" or derived.isdisjoint(uses):
                continue
            if _is_swap(instruction):
                compared = instruction.operands[2]
                if places.of(instruction) != place or not isinstance(compared, Register) or compared.name not in same:
                    return False
                swaps = True
                continue
            opcode = OPCODES.find(instruction)
            if opcode is None or opcode.kind != "pure":
                return False
            grows |= not derived.issuperset(definitions)
            derived.update(definitions)
            if instruction.opcode == "mov" and instruction.guard is None and same.intersection(uses):
                grows |= not same.issuperset(definitions)
                same.update(definitions)
    return swaps
