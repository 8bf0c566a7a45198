"""The opcodes that are more than a function of a lane's own registers: memory, warp-wide, fences, printf.

One function an opcode says which method of the batch carries it out, and with which operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.atomics import check_operation
from softlab.emulator.linker import LOCAL_WINDOW, PARAMETER_BASE, SHARED_WINDOW, Image
from softlab.emulator.memory import Site
from softlab.emulator.ptx import DTYPES, Address, Instruction, Operand, Pair, Register, Symbol, Vector
from softlab.emulator.registry import OpcodeTable, Semantics


@dataclass(frozen=True, eq=False)
class Place:
    """What a warp-wide or other effect needs to know of its instruction: ``index`` in the image and a ``mode``."""

    index: int
    instruction: Instruction
    mode: str = ""


@dataclass(frozen=True)
class Effect:
    """``method(lanes, site, *sources)`` on the batch gives the results.

    ``method`` is a path from the batch, ``m``. ``sources`` are (operand, PTX type), the type "address" for an address:
    its base is the value and its offset goes to the site. ``results`` are the types of ``destinations``.
    """

    method: str
    site: Any
    sources: tuple[tuple[Operand, str], ...] = ()
    destinations: tuple[Operand, ...] = ()
    results: tuple[str, ...] = ()


Lowering = Callable[[Instruction, int, Image], Effect | Semantics]


class EffectTable(OpcodeTable[Lowering]):
    """Opcode name, or opcode and first modifier ("cp.async"), -> function that gives an instruction's :class:`Effect`.

    The longer name goes first.
    """

    def find(self, instruction: Instruction) -> Lowering | None:
        """The function for an instruction, None where it has no effect or is not known."""
        long = f"{instruction.opcode}.{instruction.modifiers[0]}" if instruction.modifiers else ""
        return next((self[name] for name in (long, instruction.opcode) if name in self), None)


EFFECTS = EffectTable()

METHODS = {
    "cluster": "m.cluster",
    "global": "m.global_",
    "const": "m.global_",
    "shared": "m.shared",
    "local": "m.local",
    "generic": "m.generic",
}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
#: Modifiers of loads and stores that change nothing here: every access is done at once and in order.
_ORDER = {
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys", "sc",
    "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified",
}  # fmt: skip
_SPACES = ("global", "const", "shared", "local", "param")


def space_of(instruction: Instruction) -> str:
    """The state space that an instruction names, "generic" without; "cluster" for ``shared::cluster``."""
    if "shared::cluster" in instruction.modifiers:
        return "cluster"
    return next((m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in _SPACES), "generic")


def _element(instruction: Instruction) -> tuple[str, int]:
    """(type, elements) of a load or store; a modifier that nobody knows is refused."""
    count = next((_VECTORS[m] for m in instruction.modifiers if m in _VECTORS), 1)
    kind = instruction.modifiers[-1]
    for modifier in instruction.modifiers[:-1]:
        known = modifier in _ORDER or modifier in _VECTORS or modifier.split("::")[0] in (*_SPACES, "L1", "L2")
        if not known:
            raise NotImplementedError(modifier)
    if kind not in DTYPES or kind == "pred":
        raise NotImplementedError(kind)
    return kind, count


def without_policy(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands but for the cache policy, which changes nothing here."""
    return instruction.operands[:-1] if instruction.has("L2::cache_hint") else instruction.operands


def _parameter_space(operand: Operand, image: Image) -> str:
    """``.param`` is the kernel's parameters (constants of the launch) or, for a call, a variable on the stack.

    An address in a register is one of a kernel's parameter: variables on the stack go by their names.
    """
    if isinstance(operand, Address) and isinstance(operand.base, Symbol):
        return image.spaces.get(operand.base.name, "param")
    return "const"


@EFFECTS.opcode("ld", "ldu")
def _load(instruction: Instruction, index: int, image: Image) -> Effect:
    kind, count = _element(instruction)
    destination, address = without_policy(instruction)
    space = space_of(instruction)
    if space == "param":
        space = _parameter_space(address, image)
        if space == "kernel-param":
            offset = image.addresses[address.base.name] - PARAMETER_BASE + address.offset  # type: ignore[union-attr]
            place = Place(index, instruction, f"{DTYPES[kind].str} {offset} {count}")
            return Effect("m.parameter", place, (), (destination,), (kind,) * count)
        if space == "param":
            space = "generic"
    site = Site(index, instruction, space, DTYPES[kind], count)
    return Effect(f"{METHODS[space]}.load", site, ((address, "address"),), (destination,), (kind,) * count)


@EFFECTS.opcode("st")
def _store(instruction: Instruction, index: int, image: Image) -> Effect:
    kind, count = _element(instruction)
    address, value = without_policy(instruction)
    space = space_of(instruction)
    if space == "param":
        space = _parameter_space(address, image)
        if space in ("param", "kernel-param", "const"):
            raise NotImplementedError("a store to a kernel's parameter")
    site = Site(index, instruction, space, DTYPES[kind], count, store=True)
    values = value.elements if isinstance(value, Vector) else (value,)
    return Effect(f"{METHODS[space]}.store", site, ((address, "address"), *((v, kind) for v in values)))


_ATOMIC = ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")


@EFFECTS.opcode("atom", "red")
def _atomic(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = instruction.modifiers[-1]
    operation = next((m for m in instruction.modifiers[:-1] if m in _ATOMIC), None)
    allowed = {*_ORDER, *_ATOMIC, "noftz", "L2::cache_hint"}
    unknown = [m for m in instruction.modifiers[:-1] if m not in allowed and m.split("::")[0] not in _SPACES]
    if operation is None or unknown or kind not in DTYPES:
        raise NotImplementedError(operation or kind)
    operands = list(without_policy(instruction))
    destinations = (operands.pop(0),) if instruction.opcode == "atom" else ()
    address, *values = operands
    if any(isinstance(v, Vector) for v in values):
        raise NotImplementedError("a vector of atomics")
    site = Site(index, instruction, space_of(instruction), DTYPES[kind], store=True, operation=f"{operation}.{kind}")
    check_operation(site.operation)
    return Effect(
        "m.atomics.fetch" if destinations else "m.atomics.reduce",
        site,
        ((address, "address"), *((v, kind) for v in values)),
        destinations,
        (kind,) if destinations else (),
    )


@EFFECTS.opcode("cvta")
def _convert_address(instruction: Instruction, index: int, image: Image) -> Semantics:
    """Global, const and param addresses are generic here already; shared and local ones lie in windows."""
    space = space_of(instruction).replace("cluster", "shared")
    kind = instruction.modifiers[-1]
    base = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    if kind != "u64":
        raise NotImplementedError("cvta.u32")
    if base == 0:
        return Semantics(lambda a: a, ("u64",), ("u64",))
    step = np.uint64(base)
    function = np.subtract if instruction.has("to") else np.add
    return Semantics(lambda a: function(a, step), ("u64",), ("u64",))


@EFFECTS.opcode("isspacep")
def _is_space(instruction: Instruction, index: int, image: Image) -> Effect:
    place = Place(index, instruction, space_of(instruction))
    return Effect("m.is_space", place, ((instruction.operands[1], "u64"),), instruction.operands[:1], ("pred",))


@EFFECTS.opcode("shfl")
def _shuffle(instruction: Instruction, index: int, image: Image) -> Effect:
    if not instruction.has("sync"):
        raise NotImplementedError("shfl without .sync")
    destination, value, lane, clamp, members = instruction.operands
    mode = next(m for m in instruction.modifiers if m in ("bfly", "down", "up", "idx"))
    paired = isinstance(destination, Pair)
    return Effect(
        "m.warps.shuffle",
        Place(index, instruction, mode),
        ((value, "b32"), (lane, "u32"), (clamp, "u32"), (members, "u32")),
        (destination if paired else Pair(destination, None),),  # type: ignore[arg-type]
        ("b32", "pred"),
    )


@EFFECTS.opcode("vote")
def _vote(instruction: Instruction, index: int, image: Image) -> Effect:
    if not instruction.has("sync"):
        raise NotImplementedError("vote without .sync")
    destination, predicate, members = instruction.operands
    mode = next(m for m in instruction.modifiers if m in ("all", "any", "uni", "ballot"))
    result = "b32" if mode == "ballot" else "pred"
    place = Place(index, instruction, mode)
    return Effect("m.warps.vote", place, ((predicate, "pred"), (members, "u32")), (destination,), (result,))


@EFFECTS.opcode("match")
def _match(instruction: Instruction, index: int, image: Image) -> Effect:
    destination, value, members = instruction.operands
    mode = next(m for m in instruction.modifiers if m in ("any", "all"))
    place = Place(index, instruction, mode)
    sources = ((value, instruction.modifiers[-1]), (members, "u32"))
    pair = destination if isinstance(destination, Pair) else Pair(destination, None)  # type: ignore[arg-type]
    return Effect("m.warps.match", place, sources, (pair,), ("b32", "pred"))


@EFFECTS.opcode("redux")
def _redux(instruction: Instruction, index: int, image: Image) -> Effect:
    destination, value, members = instruction.operands
    kind = instruction.modifiers[-1]
    mode = next(m for m in instruction.modifiers if m in ("add", "min", "max", "and", "or", "xor"))
    if kind == "f32" or len(instruction.modifiers) != 3:
        raise NotImplementedError("redux of floats")
    place = Place(index, instruction, mode)
    return Effect("m.warps.reduce", place, ((value, kind), (members, "u32")), (destination,), (kind,))


@EFFECTS.opcode("activemask")
def _activemask(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect("m.warps.active", Place(index, instruction), (), instruction.operands[:1], ("b32",))


@EFFECTS.opcode("elect")
def _elect(instruction: Instruction, index: int, image: Image) -> Effect:
    pair, members = instruction.operands
    return Effect("m.warps.elect", Place(index, instruction), ((members, "u32"),), (pair,), ("b32", "pred"))


@EFFECTS.opcode("barred")
def _barrier_result(instruction: Instruction, index: int, image: Image) -> Effect:
    """What follows a ``bar.red``: the reduction over the threads of the block."""
    destination, predicate = instruction.operands
    mode = instruction.modifiers[0]
    result = "u32" if mode == "popc" else "pred"
    place = Place(index, instruction, mode)
    return Effect("m.warps.block_vote", place, ((predicate, "pred"),), (destination,), (result,))


@EFFECTS.opcode("vprintf")
def _printf(instruction: Instruction, index: int, image: Image) -> Effect:
    operands = instruction.operands
    result, text, arguments = operands
    addresses = tuple((Address(o, 0), "address") for o in (text, arguments) if isinstance(o, Symbol))
    destination = Address(result, 0) if isinstance(result, Symbol) else None
    return Effect("m.printf", Place(index, instruction), (*addresses, (destination, "address")))


@EFFECTS.opcode("bar", "barrier")
def _warp_barrier(instruction: Instruction, index: int, image: Image) -> Effect:
    """``bar.warp.sync``: the machine has brought the lanes together already."""
    if not instruction.has("warp"):
        raise NotImplementedError("barrier")
    return Effect("m.warps.sync", Place(index, instruction), ((instruction.operands[0], "u32"),))


@EFFECTS.opcode(
    "membar", "fence", "nanosleep", "prefetch", "prefetchu", "pmevent", "discard", "applypriority", "setmaxnreg",
    "griddepcontrol",
)  # fmt: skip
def _nothing(instruction: Instruction, index: int, image: Image) -> Effect:
    """No effect here: every access is done at once, in order, there is no cache, and a kernel runs alone."""
    return Effect("m.nothing", Place(index, instruction))


__all__ = ["EFFECTS", "Effect", "EffectTable", "Place", "Register"]
