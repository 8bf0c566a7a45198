"""The opcodes of asynchronous copies and of mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from softlab.emulator.lanes import Value
from softlab.emulator.memory.copies import CopySites
from softlab.emulator.memory.mbarriers import pending_count
from softlab.emulator.opcodes.effects import EFFECTS, Binding, Effect, space_of, without_policy
from softlab.emulator.opcodes.registry import Semantics, counted, operands_of
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Immediate, Instruction, Operand, Register
from softlab.emulator.sites import ITEMS, InstructionSite, Site

_OBJECT: np.dtype = np.dtype(np.uint64)
_OBJECT_SPACES = ("generic", "shared", "cluster")


def ends(*addresses: Operand) -> tuple[tuple[Operand, str], ...]:
    """The sources of an effect: addresses without their offsets, which go to the sites."""
    return tuple((replace(_address(a), offset=0), "address") for a in addresses)


def offset_of(operand: Operand) -> int:
    """The constant offset of an address."""
    return _address(operand).offset


def _address(operand: Operand) -> Address:
    if not isinstance(operand, Address):
        raise NotImplementedError(f"address {operand!r}")
    return operand


@EFFECTS.opcode("cp.async", has_result=False)
def _copy(instruction: Instruction, index: int, image: Image) -> Effect:
    site = InstructionSite(index, instruction)
    if instruction.has("mbarrier"):
        (address,) = operands_of(instruction, 1)
        return Effect(
            lambda units: units.copies.arrive,
            mbarrier_at(index, instruction, space=_object_space(instruction)),
            ((address, "address"),),
        )
    if instruction.has("commit_group"):
        return Effect(lambda units: units.copies.commit, site)
    if instruction.has("wait_all"):
        return Effect(lambda units: units.copies.wait, site)
    if instruction.has("wait_group"):
        (newest,) = operands_of(instruction, 1)
        return Effect(lambda units: units.copies.wait, site, ((newest, "u32"),))
    target, source, size, *rest = counted(without_policy(instruction), 3, 4)
    width = int(size.value) if isinstance(size, Immediate) else 0
    if width not in (4, 8, 16) or not instruction.has("global"):
        raise NotImplementedError("cp.async")
    into = Site(index, instruction, "shared", ITEMS[width], offset=offset_of(target), store=True)
    out_of = Site(index, instruction, "global", ITEMS[width], offset=offset_of(source))
    if not rest:
        return Effect(lambda units: units.copies.fetch, CopySites(into, out_of), ends(target, source))
    ignored = isinstance(rest[0], Register) and rest[0].type == "pred"
    sites = CopySites(into, out_of, "ignore" if ignored else "size")
    sources = (*ends(target, source), (rest[0], "pred" if ignored else "u32"))
    return Effect(lambda units: units.copies.fetch, sites, sources)


def mbarrier_at(index: int, instruction: Instruction, offset: int = 0, space: str = "cluster") -> Site:
    """The site of an mbarrier object."""
    return Site(index, instruction, space, _OBJECT, offset=offset, store=True, operation="mbarrier")


def _object_space(instruction: Instruction) -> str:
    space = space_of(instruction)
    if space not in _OBJECT_SPACES:
        raise NotImplementedError(f"an mbarrier in {space} memory")
    return space


_UPDATES: dict[str, Binding] = {
    "init": lambda units: units.mbarriers.init,
    "expect_tx": lambda units: units.mbarriers.expect,
    "complete_tx": lambda units: units.mbarriers.complete,
}


@EFFECTS.opcode("mbarrier")
def _mbarrier(instruction: Instruction, index: int, image: Image) -> Effect | Semantics:
    name = instruction.modifiers[0] if instruction.modifiers else ""
    if name == "pending_count":
        return Semantics(pending_count, ("u64",), ("u32",))
    site = mbarrier_at(index, instruction, space=_object_space(instruction))
    if name in _UPDATES:
        address, number = operands_of(instruction, 2)
        return Effect(_UPDATES[name], site, ((address, "address"), (number, "u32")))
    if name == "inval":
        (address,) = operands_of(instruction, 1)
        return Effect(lambda units: units.mbarriers.invalidate, site, ((address, "address"),))
    if name not in ("arrive", "arrive_drop"):
        raise NotImplementedError(name)
    operands = instruction.operands
    with_state = operands if operands and not isinstance(operands[0], Address) else (None, *operands)
    state, address, *rest = counted(with_state, 2, 3)
    number = rest[0] if rest else Immediate(1)
    count, nbytes = (Immediate(1), number) if instruction.has("expect_tx") else (number, Immediate(0))
    sources = ((address, "address"), (count, "u32"), (nbytes, "u32"))
    return Effect(lambda units: units.mbarriers.arrive, site, sources, (state,), ("u64",))


@EFFECTS.opcode("mbarrier.test_wait", "mbarrier.try_wait", waits="polls")
def _wait(instruction: Instruction, index: int, image: Image) -> Effect:
    """A time limit is not kept: the lanes wait until nothing else can run."""
    result, address, phase, *_ = operands_of(instruction, 3, 4)
    site = mbarrier_at(index, instruction, space=_object_space(instruction))
    kind = "u32" if instruction.has("parity") else "u64"
    return Effect(
        lambda units: units.mbarriers.test,
        site,
        ((address, "address"), (phase, kind)),
        (result,),
        ("pred",),
        occurred=_phase_has_completed,
    )


def _phase_has_completed(units: Units) -> Callable[..., Value]:
    return partial(units.mbarriers.has_completed, finish=units.copies.finish)
