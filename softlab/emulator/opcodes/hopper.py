"""What thread-block clusters add to the opcodes: addresses of other blocks, and the barrier of a cluster."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.clusters import mapped_generic, mapped_shared
from softlab.emulator.opcodes.effects import EFFECTS, Effect, space_of
from softlab.emulator.opcodes.registry import Semantics, last_type, operands_of
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite


@EFFECTS.opcode("mapa")
def _map(instruction: Instruction, index: int, image: Image) -> Semantics:
    """The address of the same variable in another block of the cluster."""
    kind = last_type(instruction, ("u32", "u64"))
    if space_of(instruction) == "cluster":
        return Semantics(mapped_shared, (kind, "u32"), (kind,))
    if kind == "u32":
        raise NotImplementedError("a generic address of 32 bits")
    return Semantics(mapped_generic, ("u64", "u32"), ("u64",))


@EFFECTS.opcode("getctarank")
def _rank(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = last_type(instruction, ("u32", "u64"))
    destination, address = operands_of(instruction, 2)
    site = InstructionSite(index, instruction, space_of(instruction))
    return Effect(lambda units: units.cluster.rank_of, site, ((address, kind),), (destination,), ("u32",))


_BARRIER_MODIFIERS = {"cluster", "arrive", "wait", "aligned", "release", "acquire", "relaxed"}


def _barrier_site(instruction: Instruction, index: int) -> InstructionSite:
    if not _BARRIER_MODIFIERS.issuperset(instruction.modifiers):
        raise NotImplementedError(instruction.text)
    return InstructionSite(index, instruction)


@EFFECTS.opcode("barrier.cluster", has_result=False)
def _unknown_half(instruction: Instruction, index: int, image: Image) -> Effect:
    """A barrier of a cluster is two instructions, arrive and wait."""
    raise NotImplementedError(instruction.text)


@EFFECTS.opcode("barrier.cluster.arrive", has_result=False)
def _arrive(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect(lambda units: units.cluster_barrier.arrive, _barrier_site(instruction, index))


@EFFECTS.opcode("barrier.cluster.wait", has_result=False, waits="blocks")
def _wait(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect(
        lambda units: units.cluster_barrier.wait,
        _barrier_site(instruction, index),
        occurred=lambda units: units.cluster_barrier.has_completed,
    )


@EFFECTS.opcode("createpolicy")
def _policy(instruction: Instruction, index: int, image: Image) -> Effect:
    """A cache policy: any number does, since there is no cache."""
    if not instruction.operands:
        raise NotImplementedError(instruction.text)
    return Effect(
        lambda units: _any_policy, InstructionSite(index, instruction), (), instruction.operands[:1], ("b64",)
    )


def _any_policy(lanes: Lanes, site: InstructionSite) -> Value:
    return np.uint64(0)
