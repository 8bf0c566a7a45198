"""The opcodes of asynchronous copies and of mbarriers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softlab.emulator.bulk_copies import BulkSites
from softlab.emulator.copies import CopySites
from softlab.emulator.effects import EFFECTS, Effect, Place, space_of, without_policy
from softlab.emulator.linker import Image
from softlab.emulator.mbarriers import pending_count
from softlab.emulator.memory import ITEMS, Site
from softlab.emulator.ptx import DTYPES, Address, Immediate, Instruction, Operand, Register, Vector
from softlab.emulator.registry import Semantics

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


@EFFECTS.opcode("cp.async")
def _copy(instruction: Instruction, index: int, image: Image) -> Effect:
    if instruction.has("bulk"):
        return _bulk(instruction, index, image)
    place = Place(index, instruction)
    if instruction.has("mbarrier"):
        site = Site(index, instruction, space_of(instruction), _OBJECT, store=True, operation="mbarrier")
        return Effect("m.copies.arrive", site, ((instruction.operands[0], "address"),))
    if instruction.has("commit_group"):
        return Effect("m.copies.commit", place)
    if instruction.has("wait_all"):
        return Effect("m.copies.wait", place)
    if instruction.has("wait_group"):
        return Effect("m.copies.wait", place, ((instruction.operands[0], "u32"),))
    target, source, size, *rest = without_policy(instruction)
    width = int(size.value) if isinstance(size, Immediate) else 0
    if width not in (4, 8, 16) or len(rest) > 1 or not instruction.has("global"):
        raise NotImplementedError("cp.async")
    into = Site(index, instruction, "shared", ITEMS[width], offset=_at(target), store=True)
    out_of = Site(index, instruction, "global", ITEMS[width], offset=_at(source))
    if not rest:
        return Effect("m.copies.fetch", CopySites(into, out_of), _ends(target, source))
    ignored = isinstance(rest[0], Register) and rest[0].type == "pred"
    sites = CopySites(into, out_of, "ignore" if ignored else "size")
    return Effect("m.copies.fetch", sites, (*_ends(target, source), (rest[0], "pred" if ignored else "u32")))


def _bulk(instruction: Instruction, index: int, image: Image) -> Effect:
    place = Place(index, instruction)
    if instruction.has("commit_group"):
        return Effect("m.bulk.commit", place)
    if instruction.has("wait_group"):
        return Effect("m.bulk.wait", place, ((instruction.operands[0], "u32"),))
    if instruction.has("prefetch"):
        return Effect("m.nothing", place)
    spaces = [m for m in instruction.modifiers if m.split("::")[0] in ("shared", "global")]
    if instruction.has("tensor", "cp_mask", "im2col") or len(spaces) != 2:
        raise NotImplementedError("cp.async.bulk.tensor")
    target, source, size, *rest = without_policy(instruction)

    def site(operand: Operand, space: str, store: bool) -> Site:
        name = "global" if space == "global" else "cluster"
        return Site(index, instruction, name, _BYTE, offset=_at(operand), store=store)

    into, out_of = site(target, spaces[0], True), site(source, spaces[1], False)
    if spaces[0] == "global":
        if rest or not instruction.has("bulk_group"):
            raise NotImplementedError("cp.async.bulk to global memory")
        return Effect("m.bulk.store", BulkSites(into, out_of), (*_ends(target, source), (size, "u32")))
    if not instruction.has("mbarrier::complete_tx::bytes"):
        raise NotImplementedError("cp.async.bulk into shared memory")
    mbarrier, *mask = rest
    multicast = instruction.has("multicast::cluster")
    if len(mask) != multicast:
        raise NotImplementedError("cp.async.bulk")
    sites = BulkSites(into, out_of, _object(index, instruction, _at(mbarrier)), multicast)
    sources = (*_ends(target, source), (size, "u32"), *_ends(mbarrier))
    return Effect("m.bulk.load", sites, (*sources, *((m, "u16") for m in mask)))


def _object(index: int, instruction: Instruction, offset: int = 0, space: str = "cluster") -> Site:
    return Site(index, instruction, space, _OBJECT, offset=offset, store=True, operation="mbarrier")


@EFFECTS.opcode("st.async")
def _store(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = instruction.modifiers[-1]
    if not instruction.has("mbarrier::complete_tx::bytes") or kind not in DTYPES:
        raise NotImplementedError("st.async")
    target, value, mbarrier = instruction.operands
    values = value.elements if isinstance(value, Vector) else (value,)
    into = Site(index, instruction, "cluster", DTYPES[kind], len(values), _at(target), store=True)
    sites = BulkSites(into, into, _object(index, instruction, _at(mbarrier)))
    return Effect("m.bulk.send", sites, (*_ends(target, mbarrier), *((v, kind) for v in values)))


@EFFECTS.opcode("mbarrier")
def _mbarrier(instruction: Instruction, index: int, image: Image) -> Effect | Semantics:
    name = instruction.modifiers[0]
    if name == "pending_count":
        return Semantics(pending_count, ("u64",), ("u32",))
    space = space_of(instruction)
    if space not in _OBJECT_SPACES:
        raise NotImplementedError(space)
    site = _object(index, instruction, space=space)
    operands = instruction.operands
    if name in ("init", "expect_tx", "complete_tx"):
        method = {"init": "init", "expect_tx": "expect", "complete_tx": "complete"}[name]
        return Effect(f"m.mbarriers.{method}", site, ((operands[0], "address"), (operands[1], "u32")))
    if name == "inval":
        return Effect("m.mbarriers.invalidate", site, ((operands[0], "address"),))
    if name in ("arrive", "arrive_drop"):
        state, address, *rest = operands if not isinstance(operands[0], Address) else (None, *operands)
        number = rest[0] if rest else Immediate(1)
        count, nbytes = (Immediate(1), number) if instruction.has("expect_tx") else (number, Immediate(0))
        sources = ((address, "address"), (count, "u32"), (nbytes, "u32"))
        return Effect("m.mbarriers.arrive", site, sources, (state,), ("u64",))
    if name in ("test_wait", "try_wait"):
        return lower_wait(instruction, index, image)
    raise NotImplementedError(name)


def lower_wait(instruction: Instruction, index: int, image: Image) -> Effect:
    """``mbarrier.test_wait`` and ``try_wait``; a time to wait for is not kept: they wait until nothing else can run."""
    result, address, phase, *_ = instruction.operands
    site = _object(index, instruction, space=space_of(instruction))
    kind = "u32" if instruction.has("parity") else "u64"
    return Effect("m.mbarriers.test", site, ((address, "address"), (phase, kind)), (result,), ("pred",))
