"""The opcodes of asynchronous copies and of mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from softlab.emulator.lanes import Value
from softlab.emulator.memory.bulk_copies import BulkSites
from softlab.emulator.memory.copies import CopySites
from softlab.emulator.memory.mbarriers import pending_count
from softlab.emulator.opcodes.effects import EFFECTS, Binding, Effect, ignored, space_of, without_policy
from softlab.emulator.opcodes.registry import Semantics, counted, last_type, operands_of
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Immediate, Instruction, Operand, Register, Vector
from softlab.emulator.sites import ITEMS, InstructionSite, Site

_BYTE: np.dtype = np.dtype(np.uint8)
_OBJECT: np.dtype = np.dtype(np.uint64)
_OBJECT_SPACES = ("generic", "shared", "cluster")


def _ends(*addresses: Operand) -> tuple[tuple[Operand, str], ...]:
    """Addresses without their offsets, which go to the sites."""
    return tuple((replace(_address(a), offset=0), "address") for a in addresses)


def _at(operand: Operand) -> int:
    return _address(operand).offset


def _address(operand: Operand) -> Address:
    if not isinstance(operand, Address):
        raise NotImplementedError(f"address {operand!r}")
    return operand


@EFFECTS.opcode("cp.async", has_result=False)
def _copy(instruction: Instruction, index: int, image: Image) -> Effect:
    if instruction.has("bulk"):
        return _bulk(instruction, index, image)
    site = InstructionSite(index, instruction)
    if instruction.has("mbarrier"):
        (address,) = operands_of(instruction, 1)
        return Effect(
            lambda units: units.copies.arrive,
            _object(index, instruction, space=_object_space(instruction)),
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
    into = Site(index, instruction, "shared", ITEMS[width], offset=_at(target), store=True)
    out_of = Site(index, instruction, "global", ITEMS[width], offset=_at(source))
    if not rest:
        return Effect(lambda units: units.copies.fetch, CopySites(into, out_of), _ends(target, source))
    ignored = isinstance(rest[0], Register) and rest[0].type == "pred"
    sites = CopySites(into, out_of, "ignore" if ignored else "size")
    sources = (*_ends(target, source), (rest[0], "pred" if ignored else "u32"))
    return Effect(lambda units: units.copies.fetch, sites, sources)


def _bulk(instruction: Instruction, index: int, image: Image) -> Effect:
    group = InstructionSite(index, instruction)
    if instruction.has("commit_group"):
        return Effect(lambda units: units.bulk.commit, group)
    if instruction.has("wait_group"):
        (newest,) = operands_of(instruction, 1)
        return Effect(lambda units: units.bulk.wait, group, ((newest, "u32"),))
    if instruction.has("prefetch"):
        return ignored(instruction, index)
    spaces = [m for m in instruction.modifiers if m.split("::")[0] in ("shared", "global")]
    if instruction.has("tensor", "cp_mask", "im2col") or len(spaces) != 2:
        raise NotImplementedError("cp.async.bulk.tensor")
    target, source, size, *rest = counted(without_policy(instruction), 3, 5)

    def site(operand: Operand, space: str, store: bool) -> Site:
        name = "global" if space == "global" else "cluster"
        return Site(index, instruction, name, _BYTE, offset=_at(operand), store=store)

    into, out_of = site(target, spaces[0], True), site(source, spaces[1], False)
    if spaces[0] == "global":
        if rest or not instruction.has("bulk_group"):
            raise NotImplementedError("cp.async.bulk to global memory")
        return Effect(lambda units: units.bulk.store, BulkSites(into, out_of), (*_ends(target, source), (size, "u32")))
    if not instruction.has("mbarrier::complete_tx::bytes"):
        raise NotImplementedError("cp.async.bulk into shared memory")
    multicast = instruction.has("multicast::cluster")
    mbarrier, *mask = counted(tuple(rest), 1 + multicast)
    sites = BulkSites(into, out_of, _object(index, instruction, _at(mbarrier)), multicast)
    sources = (*_ends(target, source), (size, "u32"), *_ends(mbarrier))
    return Effect(lambda units: units.bulk.load, sites, (*sources, *((m, "u16") for m in mask)))


def _object(index: int, instruction: Instruction, offset: int = 0, space: str = "cluster") -> Site:
    return Site(index, instruction, space, _OBJECT, offset=offset, store=True, operation="mbarrier")


def _object_space(instruction: Instruction) -> str:
    space = space_of(instruction)
    if space not in _OBJECT_SPACES:
        raise NotImplementedError(f"an mbarrier in {space} memory")
    return space


@EFFECTS.opcode("st.async", has_result=False)
def _store(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = last_type(instruction, DTYPES)
    if not instruction.has("mbarrier::complete_tx::bytes"):
        raise NotImplementedError("st.async")
    target, value, mbarrier = operands_of(instruction, 3)
    values = value.elements if isinstance(value, Vector) else (value,)
    into = Site(index, instruction, "cluster", DTYPES[kind], len(values), _at(target), store=True)
    sites = BulkSites(into, into, _object(index, instruction, _at(mbarrier)))
    return Effect(lambda units: units.bulk.send, sites, (*_ends(target, mbarrier), *((v, kind) for v in values)))


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
    site = _object(index, instruction, space=_object_space(instruction))
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
    site = _object(index, instruction, space=_object_space(instruction))
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
