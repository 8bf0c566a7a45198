"""The variables of a kernel in shared and local memory, and which of them each access may use.

Of local variables the PTX has only the beginnings: the stack plus a constant. One of them ends where the next begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.machine.origins import Origin, Origins, PointerOrigins
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Register

_ACCESSES = ("ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix")
#: Origins of a pointer that may point anywhere.
_ANYWHERE = ("loaded", "unknown", "stack")


@dataclass(frozen=True)
class Variable:
    """A variable in shared or local memory: bytes ``start`` to ``end``; ``end`` is None for dynamic shared memory."""

    symbol: str
    start: int
    end: int | None


@dataclass(frozen=True)
class VariableTable:
    """The variables that each access may use: instruction -> variables, for shared and for local memory.

    ``shared_variables``: all of shared memory, in the order of their addresses. ``origins``: where the address of each
    access comes from. An instruction whose pointer may come from anywhere is in neither table.
    """

    shared: dict[int, tuple[Variable, ...]]
    local: dict[int, tuple[Variable, ...]]
    shared_variables: tuple[Variable, ...]
    origins: dict[int, Origins]

    @classmethod
    def of(cls, image: Image) -> VariableTable:
        """The table of a kernel."""
        shared, pointers = _shared_variables(image), PointerOrigins(image)
        local = _local_variables(image, pointers)
        of_shared: dict[int, tuple[Variable, ...]] = {}
        of_local: dict[int, tuple[Variable, ...]] = {}
        origins = {}
        for index, instruction in enumerate(image.instructions):
            address = address_operand(instruction)
            found = pointers.of_address(address) if address is not None else frozenset()
            if found:
                origins[index] = found
            if not found or any(o.kind in _ANYWHERE for o in found):
                continue
            if variables := {shared[o.name] for o in found if o.kind == "shared"}:
                of_shared[index] = _ordered(variables)
            if variables := {local[o] for o in found if o in local}:
                of_local[index] = _ordered(variables)
        return cls(of_shared, of_local, _ordered(shared.values()), origins)


def may_leave_a_variable(image: Image) -> bool:
    """Whether a kernel has two variables in shared memory, or any in local memory."""
    spaces = list(image.spaces.values())
    return spaces.count("shared") > 1 or any(_is_stack(name) for name in image.spaces)


def address_operand(instruction: Instruction) -> Address | None:
    """The operand of an access that is its address; of a copy that in shared memory."""
    if instruction.opcode not in _ACCESSES:
        return None
    addresses = [o for o in instruction.operands if isinstance(o, Address)]
    spaces = [m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in ("shared", "global")]
    by_map = instruction.has("tensor")  # then the address in global memory is a map with coordinates
    second = instruction.opcode == "cp" and spaces[:1] == ["global"] and not by_map
    return addresses[second] if len(addresses) > second else None


def _ordered(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(set(variables), key=lambda v: v.start))


def _is_stack(name: str) -> bool:
    return name.startswith("__local_depot")


def _sizes(image: Image) -> dict[str, int | None]:
    functions = image.module.functions.values()
    own = (v for function in functions for v in function.variables)
    return {v.name: v.size for v in (*image.module.variables.values(), *own)}


def _shared_variables(image: Image) -> dict[str, Variable]:
    """The variables of shared memory by their names. All that are dynamic are one, as they begin at one address."""
    sizes = _sizes(image)
    found = {}
    for name, space in image.spaces.items():
        if space == "shared":
            start, size = image.addresses[name], sizes.get(name)
            found[name] = Variable(name, start, None if size is None else start + size)
    dynamic = next((v for v in found.values() if v.end is None), None)
    return {name: v if v.end is not None or dynamic is None else dynamic for name, v in found.items()}


def _local_variables(image: Image, origins: PointerOrigins) -> dict[Origin, Variable]:
    """The variables of local memory by where they begin."""
    sizes = _sizes(image)
    starts: dict[str, set[int]] = {}
    for instruction in image.instructions:
        if instruction.opcode == "add":
            for origin in origins.of(instruction.operands[0]):
                if origin.kind == "local":
                    starts.setdefault(origin.name, set()).add(origin.offset)
    for stack, inside in _insides(image, origins, starts):
        starts[stack].discard(inside)
    found = {}
    for stack, offsets in starts.items():
        size = sizes.get(stack.partition("#")[0]) or 0
        base, ordered = image.addresses[stack], sorted(offsets)
        for start, end in zip(ordered, [*ordered[1:], size], strict=True):
            found[Origin("local", stack, start)] = Variable("", base + start, base + end)
    return found


def _insides(image: Image, origins: PointerOrigins, starts: dict[str, set[int]]) -> list[tuple[str, int]]:
    """Beginnings that lie inside a variable: a constant offset from an earlier beginning reaches them."""
    definitions: dict[str, int] = {}
    uses_at_first: dict[str, list[str]] = {}
    for instruction in image.instructions:
        uses, names = uses_and_definitions(instruction)
        for name in names:
            definitions[name] = definitions.get(name, 0) + (1 if instruction.opcode == "add" else 2)
            uses_at_first.setdefault(name, uses)
    found = []
    for instruction in image.instructions:
        address = address_operand(instruction)
        if address is None or not isinstance(address.base, Register) or definitions.get(address.base.name) != 1:
            continue
        for origin in origins.of_address(address):
            if origin.kind == "local" and len(origins.of_address(address)) == 1:
                count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
                width = DTYPES[instruction.modifiers[-1]].itemsize * count
                reached = origin.offset + address.offset + width
                exact = _is_stack_alone(uses_at_first[address.base.name])
                found += [(origin.name, s) for s in starts[origin.name] if exact and origin.offset < s < reached]
    return found


def _is_stack_alone(uses: Sequence[str]) -> bool:
    """Whether a register that is made of these holds the beginning of a variable itself: the stack plus a constant."""
    return len(uses) == 1 and uses[0].startswith("%SP")
