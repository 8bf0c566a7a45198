"""The opcodes that are more than a function of a lane's own registers: memory, warp-wide, fences, printf.

One function per opcode says which unit of the machine carries it out, and with which operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.atomics import check_operation
from softlab.emulator.opcodes.printf import printf
from softlab.emulator.opcodes.registry import (
    OPCODES,
    OpcodeTable,
    Semantics,
    counted,
    last_type,
    modifier_of,
    operands_of,
)
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.linker import PARAMETER_BASE, Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Operand, Pair, Register, Symbol, Vector
from softlab.emulator.sites import InstructionSite, Site
from softlab.errors import Error

#: Finds what carries out an effect: units -> function(lanes, site, *values) -> results. It is called once per block of
#: code and batch.
Binding = Callable[[Units], Callable[..., Any]]


@dataclass(frozen=True)
class Effect:
    """``bind(units)(lanes, site, *values)`` carries the instruction out and gives the results.

    ``sources`` are (operand, PTX type), the type "address" for an address: its base is the value and its offset goes to
    the site. ``results`` are the types of ``destinations``. ``occurred``, of an instruction that waits, is bound and
    called likewise before it runs: it gives the lanes whose awaited event has occurred.
    """

    bind: Binding
    site: Any
    sources: tuple[tuple[Operand, str], ...] = ()
    destinations: tuple[Operand, ...] = ()
    results: tuple[str, ...] = ()
    occurred: Binding | None = None


#: (instruction, its index in the image, image) -> what it does.
Lowering = Callable[[Instruction, int, Image], Effect | Semantics]
EFFECTS: OpcodeTable[Lowering] = OpcodeTable("effect", OPCODES)

_LOADS: dict[str, Binding] = {
    "cluster": lambda units: units.cluster.load,
    "global": lambda units: units.global_.load,
    "const": lambda units: units.global_.load,
    "shared": lambda units: units.shared.load,
    "local": lambda units: units.local.load,
    "generic": lambda units: units.generic.load,
}
_STORES: dict[str, Binding] = {
    "cluster": lambda units: units.cluster.store,
    "global": lambda units: units.global_.store,
    "const": lambda units: units.global_.store,
    "shared": lambda units: units.shared.store,
    "local": lambda units: units.local.store,
    "generic": lambda units: units.generic.store,
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
    """(type, elements) of a load or store; an unknown modifier is refused."""
    count = next((_VECTORS[m] for m in instruction.modifiers if m in _VECTORS), 1)
    kind = last_type(instruction, DTYPES.keys() - {"pred"})
    for modifier in instruction.modifiers[:-1]:
        known = modifier in _ORDER or modifier in _VECTORS or modifier.split("::")[0] in (*_SPACES, "L1", "L2")
        if not known:
            raise NotImplementedError(modifier)
    return kind, count


def without_policy(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands without the cache policy, which changes nothing here."""
    return instruction.operands[:-1] if instruction.has("L2::cache_hint") else instruction.operands


def _parameter_space(operand: Operand, image: Image) -> str:
    """``.param`` is the kernel's parameters (constants of the launch) or, for a call, a variable on the stack.

    An address in a register is one of a kernel's parameter: variables on the stack go by their names.
    """
    if isinstance(operand, Address) and isinstance(operand.base, Symbol):
        return image.spaces.get(operand.base.name, "generic")
    return "const"


@EFFECTS.opcode("ld", "ldu")
def _load(instruction: Instruction, index: int, image: Image) -> Effect:
    kind, count = _element(instruction)
    destination, address = counted(without_policy(instruction), 2)
    space = space_of(instruction)
    if space == "param":
        space = _parameter_space(address, image)
        if space == "kernel-param":
            offset = image.addresses[address.base.name] - PARAMETER_BASE + address.offset  # type: ignore[union-attr]
            site = Site(index, instruction, "param", DTYPES[kind], count, offset)
            return Effect(_parameters, site, (), (destination,), (kind,) * count)
    site = Site(index, instruction, space, DTYPES[kind], count)
    return Effect(_LOADS[space], site, ((address, "address"),), (destination,), (kind,) * count)


def _parameters(units: Units) -> Callable[..., Any]:
    return partial(_parameter, units)


def _parameter(units: Units, lanes: Lanes, site: Site) -> Any:
    """A kernel parameter: the same for all lanes."""
    if site.offset < 0 or site.offset + site.width > len(units.parameters):
        raise Error(f"`{site.instruction.text}` reads beyond the kernel's parameters")
    values = np.frombuffer(units.parameters, site.dtype, site.elements, site.offset)
    return values[0] if site.elements == 1 else tuple(values)


@EFFECTS.opcode("st", has_result=False)
def _store(instruction: Instruction, index: int, image: Image) -> Effect:
    kind, count = _element(instruction)
    address, value = counted(without_policy(instruction), 2)
    space = space_of(instruction)
    if space == "param":
        space = _parameter_space(address, image)
        if space in ("generic", "kernel-param", "const"):
            raise NotImplementedError("a store to a kernel's parameter")
    site = Site(index, instruction, space, DTYPES[kind], count, store=True)
    values = counted(value.elements if isinstance(value, Vector) else (value,), count)
    return Effect(_STORES[space], site, ((address, "address"), *((v, kind) for v in values)))


_ATOMIC = ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")


@EFFECTS.opcode("atom")
@EFFECTS.opcode("red", has_result=False)
def _atomic(instruction: Instruction, index: int, image: Image) -> Effect:
    if instruction.has("b128"):
        return _wide_atomic(instruction, index)
    kind = last_type(instruction, DTYPES)
    operation = modifier_of(instruction, *_ATOMIC)
    allowed = {*_ORDER, *_ATOMIC, "noftz", "L2::cache_hint"}
    unknown = [m for m in instruction.modifiers[:-1] if m not in allowed and m.split("::")[0] not in _SPACES]
    space = space_of(instruction)
    if unknown or space in ("const", "param"):
        raise NotImplementedError(f"an atomic with .{(*unknown, space)[0]}")
    count = 3 if operation == "cas" else 2
    operands = list(counted(without_policy(instruction), count + (instruction.opcode == "atom")))
    destinations = (operands.pop(0),) if instruction.opcode == "atom" else ()
    address, *values = operands
    if any(isinstance(v, Vector) for v in values):
        raise NotImplementedError("a vector of atomics")
    site = Site(
        index,
        instruction,
        space,
        DTYPES[kind],
        store=True,
        operation=f"{operation}.{kind}",
        vector_bytes=instruction.vector_bytes,
    )
    check_operation(site.operation)
    return Effect(
        (lambda units: units.atomics.fetch) if destinations else (lambda units: units.atomics.reduce),
        site,
        ((address, "address"), *((v, kind) for v in values)),
        destinations,
        (kind,) if destinations else (),
    )


def _wide_atomic(instruction: Instruction, index: int) -> Effect:
    """``atom.exch.b128`` and ``atom.cas.b128``: each value is two registers of 64 bits."""
    operation, space = modifier_of(instruction, "exch", "cas"), space_of(instruction)
    destination, address, *values = counted(without_policy(instruction), 4 if operation == "cas" else 3)
    site = Site(index, instruction, space, np.dtype("c16"), store=True, operation=f"{operation}.b128")
    halves = [half for value in values if isinstance(value, Vector) for half in value.elements]
    counted(tuple(halves), 2 * len(values))
    sources = ((address, "address"), *((half, "b64") for half in halves))
    return Effect(lambda units: units.atomics.fetch_wide, site, sources, (destination,), ("b64", "b64"))


@EFFECTS.opcode("isspacep")
def _is_space(instruction: Instruction, index: int, image: Image) -> Effect:
    destination, address = operands_of(instruction, 2)
    site = InstructionSite(index, instruction, space_of(instruction))
    return Effect(lambda units: partial(_lies_in, units), site, ((address, "u64"),), (destination,), ("pred",))


def _lies_in(units: Units, lanes: Lanes, site: InstructionSite, address: Value) -> Value:
    """Whether each lane's address is in a space."""
    if site.mode == "cluster":
        return units.generic.space_of(address, "shared")
    found = units.generic.space_of(address, site.mode)
    if site.mode == "shared" and units.cluster.size > 1:
        return found & units.cluster.is_own(lanes, address)
    return found


def _need_sync(instruction: Instruction) -> None:
    """Refuse the forms without a mask, which GPUs since sm_70 do not have."""
    if not instruction.has("sync"):
        raise NotImplementedError(f"{instruction.opcode} without .sync")


def _paired(destination: Operand) -> Pair:
    """A destination that may be a pair, as one."""
    if isinstance(destination, Pair):
        return destination
    if not isinstance(destination, Register | None):
        raise NotImplementedError(f"destination {destination!r}")
    return Pair(destination, None)


@EFFECTS.opcode("shfl", warp_synchronous=True)
def _shuffle(instruction: Instruction, index: int, image: Image) -> Effect:
    _need_sync(instruction)
    destination, value, lane, clamp, members = operands_of(instruction, 5)
    return Effect(
        lambda units: units.warps.shuffle,
        InstructionSite(index, instruction, modifier_of(instruction, "bfly", "down", "up", "idx")),
        ((value, "b32"), (lane, "u32"), (clamp, "u32"), (members, "u32")),
        (_paired(destination),),
        ("b32", "pred"),
    )


@EFFECTS.opcode("vote", warp_synchronous=True)
def _vote(instruction: Instruction, index: int, image: Image) -> Effect:
    _need_sync(instruction)
    destination, predicate, members = operands_of(instruction, 3)
    mode = modifier_of(instruction, "all", "any", "uni", "ballot")
    result = "b32" if mode == "ballot" else "pred"
    site = InstructionSite(index, instruction, mode)
    sources = ((predicate, "pred"), (members, "u32"))
    return Effect(lambda units: units.warps.vote, site, sources, (destination,), (result,))


@EFFECTS.opcode("match", warp_synchronous=True)
def _match(instruction: Instruction, index: int, image: Image) -> Effect:
    _need_sync(instruction)
    destination, value, members = operands_of(instruction, 3)
    site = InstructionSite(index, instruction, modifier_of(instruction, "any", "all"))
    sources = ((value, last_type(instruction, ("b32", "b64"))), (members, "u32"))
    return Effect(lambda units: units.warps.match, site, sources, (_paired(destination),), ("b32", "pred"))


@EFFECTS.opcode("redux", warp_synchronous=True)
def _redux(instruction: Instruction, index: int, image: Image) -> Effect:
    _need_sync(instruction)
    destination, value, members = operands_of(instruction, 3)
    kind = last_type(instruction, ("b32", "s32", "u32"))
    mode = modifier_of(instruction, "add", "min", "max", "and", "or", "xor")
    if len(instruction.modifiers) != 3:
        raise NotImplementedError("redux of floats")
    site = InstructionSite(index, instruction, mode)
    sources = ((value, kind), (members, "u32"))
    return Effect(lambda units: units.warps.reduce, site, sources, (destination,), (kind,))


@EFFECTS.opcode("activemask")
def _activemask(instruction: Instruction, index: int, image: Image) -> Effect:
    site = InstructionSite(index, instruction)
    return Effect(lambda units: units.warps.active, site, (), operands_of(instruction, 1), ("b32",))


@EFFECTS.opcode("elect", warp_synchronous=True)
def _elect(instruction: Instruction, index: int, image: Image) -> Effect:
    _need_sync(instruction)
    pair, members = operands_of(instruction, 2)
    site = InstructionSite(index, instruction)
    return Effect(lambda units: units.warps.elect, site, ((members, "u32"),), (_paired(pair),), ("b32", "pred"))


@EFFECTS.opcode("barred")
def _barrier_result(instruction: Instruction, index: int, image: Image) -> Effect:
    """What follows a ``bar.red``: the result that the barrier has computed."""
    destinations = operands_of(instruction, 1)
    mode = modifier_of(instruction, "popc", "and", "or")
    result = "u32" if mode == "popc" else "pred"
    site = InstructionSite(index, instruction, mode)
    return Effect(lambda units: units.block_votes.result, site, (), destinations, (result,))


@EFFECTS.opcode("vprintf", has_result=False)
def _printf(instruction: Instruction, index: int, image: Image) -> Effect:
    result, text, arguments = _on_stack(instruction, 3)
    sources = (text, arguments, result)
    return Effect(lambda units: partial(_print, units), InstructionSite(index, instruction), sources)


def _print(units: Units, lanes: Lanes, site: InstructionSite, *addresses: Value) -> None:
    for line in printf(units.local, units.global_.allocations, lanes, site, *addresses):
        units.output(line)


@EFFECTS.opcode("malloc", has_result=False)
def _malloc(instruction: Instruction, index: int, image: Image) -> Effect:
    result, size = _on_stack(instruction, 2)
    return Effect(lambda units: units.heap.malloc, InstructionSite(index, instruction), (size, result))


@EFFECTS.opcode("free", has_result=False)
def _free(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect(lambda units: units.heap.free, InstructionSite(index, instruction), _on_stack(instruction, 1))


@EFFECTS.opcode("__cudaCDP2GetParameterBufferV2", has_result=False)
def _parameter_buffer(instruction: Instruction, index: int, image: Image) -> Effect:
    result, *arguments = _on_stack(instruction, 5)
    return Effect(lambda units: units.children.buffer, InstructionSite(index, instruction), (*arguments, result))


@EFFECTS.opcode("__cudaCDP2LaunchDeviceV2", has_result=False)
def _launch(instruction: Instruction, index: int, image: Image) -> Effect:
    result, buffer, stream = _on_stack(instruction, 3)
    return Effect(lambda units: units.children.launch, InstructionSite(index, instruction), (buffer, stream, result))


def _on_stack(instruction: Instruction, count: int) -> tuple[tuple[Operand, str], ...]:
    """The operands of a call of a function that the machine brings itself: addresses of variables on the stack."""
    operands = operands_of(instruction, count)
    if not all(isinstance(o, Symbol) for o in operands):
        raise NotImplementedError(f"{instruction.opcode} of what is no variable on the stack")
    return tuple((Address(o, 0), "address") for o in operands)  # type: ignore[arg-type]


@EFFECTS.opcode("bar.warp", "barrier.warp", warp_synchronous=True, has_result=False)
def _warp_barrier(instruction: Instruction, index: int, image: Image) -> Effect:
    """``bar.warp.sync``: the machine has brought the lanes together already."""
    (members,) = operands_of(instruction, 1)
    return Effect(lambda units: units.warps.sync, InstructionSite(index, instruction), ((members, "u32"),))


@EFFECTS.opcode(
    "nanosleep", "prefetch", "prefetchu", "pmevent", "discard", "applypriority", "setmaxnreg", "griddepcontrol",
    has_result=False,
)  # fmt: skip
def _no_effect(instruction: Instruction, index: int, image: Image) -> Effect:
    """Every access is done at once, in order, there is no cache, and a kernel runs alone."""
    return ignored(instruction, index)


def ignored(instruction: Instruction, index: int) -> Effect:
    """An instruction that has no effect here."""
    return Effect(lambda units: _ignore, InstructionSite(index, instruction))


def _ignore(lanes: Lanes, site: InstructionSite) -> None:
    pass


@EFFECTS.opcode("membar", "fence", has_result=False)
def _fence(instruction: Instruction, index: int, image: Image) -> Effect:
    """Accesses are in order without it; observers are told."""
    return Effect(lambda units: partial(_tell_of_fence, units), InstructionSite(index, instruction))


def _tell_of_fence(units: Units, lanes: Lanes, site: InstructionSite) -> None:
    if units.on_fence is not None:
        units.on_fence(site, lanes)
