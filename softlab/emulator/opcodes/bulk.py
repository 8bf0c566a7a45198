"""The opcodes of bulk copies, with and without a tensor map, and of asynchronous stores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softlab.emulator.memory.atomics import check_operation
from softlab.emulator.memory.bulk_copies import BulkSites
from softlab.emulator.memory.reductions import OPERATIONS, Reduction, reduction
from softlab.emulator.memory.tensor_copies import TensorSites
from softlab.emulator.opcodes.asynchronous import ends, mbarrier_at, offset_of
from softlab.emulator.opcodes.effects import EFFECTS, Effect, ignored, without_policy
from softlab.emulator.opcodes.registry import counted, last_type, modifier_of, operands_of
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Operand, Vector
from softlab.emulator.sites import InstructionSite, Site

_BYTE: np.dtype = np.dtype(np.uint8)
_COMPLETE = "mbarrier::complete_tx::bytes"
_AXES = {f"{axes}d": axes for axes in range(1, 6)}
#: Modes of tensor copies that are no tiles, and forms of sm_100.
_OTHER_MODES = (
    "cp_mask",
    "im2col",
    "im2col_no_offs",
    "tile::gather4",
    "tile::scatter4",
    "cta_group::1",
    "cta_group::2",
)


def _spaces(instruction: Instruction) -> tuple[str, str]:
    """The spaces of both ends of a copy."""
    found = [m for m in instruction.modifiers if m.split("::")[0] in ("shared", "global")]
    if len(found) != 2 or instruction.has(*_OTHER_MODES):
        raise NotImplementedError("cp.async.bulk")
    return found[0], found[1]


def _site(instruction: Instruction, index: int, space: str, offset: int, *, store: bool) -> Site:
    name = "global" if space == "global" else "cluster"
    return Site(index, instruction, name, _BYTE, offset=offset, store=store)


def _check_completion(instruction: Instruction, wanted: str) -> None:
    if not instruction.has(wanted):
        raise NotImplementedError(f"{instruction.opcode} without .{wanted}")


@EFFECTS.opcode("cp.async.bulk", has_result=False)
def _bulk(instruction: Instruction, index: int, image: Image) -> Effect:
    group = InstructionSite(index, instruction)
    if instruction.has("commit_group"):
        return Effect(lambda units: units.bulk.commit, group)
    if instruction.has("wait_group"):
        (newest,) = operands_of(instruction, 1)
        return Effect(lambda units: units.bulk.wait, group, ((newest, "u32"),))
    return _copy(instruction, index, None)


@EFFECTS.opcode("cp.reduce.async.bulk", has_result=False)
def _reducing(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = last_type(instruction, DTYPES)
    return _copy(instruction, index, reduction(modifier_of(instruction, *OPERATIONS), kind))


@EFFECTS.opcode("cp.async.bulk.prefetch", has_result=False)
def _prefetch(instruction: Instruction, index: int, image: Image) -> Effect:
    return ignored(instruction, index)


def _copy(instruction: Instruction, index: int, reduces: Reduction | None) -> Effect:
    """A copy of a run of bytes."""
    spaces = _spaces(instruction)
    target, source, size, *rest = counted(without_policy(instruction), 3, 5)
    into = _site(instruction, index, spaces[0], offset_of(target), store=True)
    out_of = _site(instruction, index, spaces[1], offset_of(source), store=False)
    sources = (*ends(target, source), (size, "u32"))
    if spaces[0] == "global":
        _check_completion(instruction, "bulk_group")
        counted(tuple(rest), 0)
        return Effect(lambda units: units.bulk.store, BulkSites(into, out_of, reduction=reduces), sources)
    _check_completion(instruction, _COMPLETE)
    multicast = instruction.has("multicast::cluster")
    mbarrier, *mask = counted(tuple(rest), 1 + multicast)
    sites = BulkSites(into, out_of, mbarrier_at(index, instruction, offset_of(mbarrier)), multicast, reduces)
    return Effect(lambda units: units.bulk.load, sites, (*sources, *ends(mbarrier), *((m, "u16") for m in mask)))


def _map_and_coordinates(instruction: Instruction, operand: Operand) -> tuple[Address, tuple[Operand, ...]]:
    """(map, coordinates) of ``[map, {x, y}]``."""
    if not isinstance(operand, Vector) or not isinstance(operand.elements[0], Address):
        raise NotImplementedError("a tensor copy without a tensor map")
    place, *rest = operand.elements
    assert isinstance(place, Address)
    coordinates = rest[0].elements if len(rest) == 1 and isinstance(rest[0], Vector) else tuple(rest)
    return place, counted(coordinates, _AXES[modifier_of(instruction, *_AXES)])


@EFFECTS.opcode("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", has_result=False)
def _tensor(instruction: Instruction, index: int, image: Image) -> Effect:
    spaces = _spaces(instruction)
    first, second, *rest = counted(without_policy(instruction), 2, 4)
    loads = spaces[1] == "global"
    place, coordinates = _map_and_coordinates(instruction, second if loads else first)
    tile = first if loads else second
    into = _site(instruction, index, spaces[0], offset_of(tile) if loads else 0, store=True)
    out_of = _site(instruction, index, spaces[1], 0 if loads else offset_of(tile), store=False)
    numbers = tuple((c, "s32") for c in coordinates)
    if not loads:
        _check_completion(instruction, "bulk_group")
        counted(tuple(rest), 0)
        operation = modifier_of(instruction, *OPERATIONS) if instruction.has("reduce") else ""
        sites = TensorSites(BulkSites(into, out_of), place.offset, len(coordinates), operation)
        return Effect(lambda units: units.tensors.store, sites, (*ends(place, tile), *numbers))
    _check_completion(instruction, _COMPLETE)
    multicast = instruction.has("multicast::cluster")
    mbarrier, *mask = counted(tuple(rest), 1 + multicast)
    bulk = BulkSites(into, out_of, mbarrier_at(index, instruction, offset_of(mbarrier)), multicast)
    sites = TensorSites(bulk, place.offset, len(coordinates))
    sources = (*ends(tile, place, mbarrier), *numbers, *((m, "u16") for m in mask))
    return Effect(lambda units: units.tensors.load, sites, sources)


@EFFECTS.opcode("cp.async.bulk.prefetch.tensor", has_result=False)
def _tensor_prefetch(instruction: Instruction, index: int, image: Image) -> Effect:
    if instruction.has(*_OTHER_MODES):
        raise NotImplementedError("cp.async.bulk.prefetch.tensor")
    (operand,) = counted(without_policy(instruction), 1)
    place, coordinates = _map_and_coordinates(instruction, operand)
    site = _site(instruction, index, "global", 0, store=False)
    sites = TensorSites(BulkSites(site, site), place.offset, len(coordinates))
    numbers = ((c, "s32") for c in coordinates)
    return Effect(lambda units: units.tensors.prefetch, sites, (*ends(place), *numbers))


@EFFECTS.opcode("st.async", "red.async", has_result=False)
def _send(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = last_type(instruction, DTYPES)
    _check_completion(instruction, _COMPLETE)
    target, value, mbarrier = operands_of(instruction, 3)
    values = value.elements if isinstance(value, Vector) else (value,)
    into = Site(index, instruction, "cluster", DTYPES[kind], len(values), offset_of(target), store=True)
    if instruction.opcode == "red":
        into = replace(into, operation=f"{modifier_of(instruction, *OPERATIONS)}.{kind}")
        check_operation(into.operation)
    sites = BulkSites(into, into, mbarrier_at(index, instruction, offset_of(mbarrier)))
    return Effect(lambda units: units.bulk.send, sites, (*ends(target, mbarrier), *((v, kind) for v in values)))
