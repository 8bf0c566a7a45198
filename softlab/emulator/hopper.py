"""What thread-block clusters add to the opcodes: addresses of other blocks, and the barrier of a cluster."""

from __future__ import annotations

from softlab.emulator.clusters import mapped_generic, mapped_shared
from softlab.emulator.effects import EFFECTS, Effect, Place, space_of
from softlab.emulator.linker import Image
from softlab.emulator.ptx import Instruction
from softlab.emulator.registry import Semantics


@EFFECTS.opcode("mapa")
def _map(instruction: Instruction, index: int, image: Image) -> Semantics:
    """The address of the same variable in another block of the cluster."""
    kind = instruction.modifiers[-1]
    if kind not in ("u32", "u64"):
        raise NotImplementedError(kind)
    if space_of(instruction) == "cluster":
        return Semantics(mapped_shared, (kind, "u32"), (kind,))
    if kind == "u32":
        raise NotImplementedError("a generic address of 32 bits")
    return Semantics(mapped_generic, ("u64", "u32"), ("u64",))


@EFFECTS.opcode("getctarank")
def _rank(instruction: Instruction, index: int, image: Image) -> Effect:
    kind = instruction.modifiers[-1]
    place = Place(index, instruction, space_of(instruction))
    return Effect("m.cluster.rank_of", place, ((instruction.operands[1], kind),), instruction.operands[:1], ("u32",))


@EFFECTS.opcode("barrier.cluster")
def _cluster_barrier(instruction: Instruction, index: int, image: Image) -> Effect:
    known = {"cluster", "arrive", "wait", "aligned", "release", "acquire", "relaxed"}
    if not known.issuperset(instruction.modifiers) or not instruction.has("arrive", "wait"):
        raise NotImplementedError(instruction.text)
    half = "arrive" if instruction.has("arrive") else "wait"
    return Effect(f"m.cluster_barrier.{half}", Place(index, instruction))


@EFFECTS.opcode("createpolicy")
def _policy(instruction: Instruction, index: int, image: Image) -> Effect:
    """A cache policy: any number does, since there is no cache."""
    return Effect("m.policy", Place(index, instruction), (), instruction.operands[:1], ("b64",))
