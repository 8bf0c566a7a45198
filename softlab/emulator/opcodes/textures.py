"""Texture fetches (``tex``, ``tld4``) and surfaces (``suld``, ``sust``)."""

from __future__ import annotations

from softlab.emulator.memory.textures import DIMENSIONS
from softlab.emulator.opcodes.effects import EFFECTS, Effect
from softlab.emulator.opcodes.registry import counted
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Operand, Vector
from softlab.emulator.sites import InstructionSite

_RESULTS = ("f32", "u32", "s32")
_BITS = {"b8": "8", "b16": "16", "b32": "32", "b64": "64"}
_OUTSIDE = ("trap", "clamp", "zero")


def _address(operand: Operand) -> tuple[Operand, tuple[Operand, ...]]:
    """(handle, coordinates) of ``[handle, {x, y}]``."""
    if not isinstance(operand, Vector) or not isinstance(operand.elements[0], Address):
        raise NotImplementedError("a texture that is no object")
    handle, *rest = operand.elements
    assert isinstance(handle, Address)
    if len(rest) != 1 or handle.offset:
        raise NotImplementedError("a texture with a sampler of its own")
    coordinates = rest[0].elements if isinstance(rest[0], Vector) else (rest[0],)
    return handle.base, coordinates


@EFFECTS.opcode("tex")
def _tex(instruction: Instruction, index: int, image: Image) -> Effect:
    geometry = next((m for m in instruction.modifiers if m in DIMENSIONS), None)
    *rest, into, kind = instruction.modifiers
    if geometry is None or into not in _RESULTS or kind not in ("f32", "s32") or "v4" not in rest:
        raise NotImplementedError("this kind of texture")
    if {*rest} - {geometry, "v4", "base", "level", "grad"} or (kind == "s32" and geometry != "1d"):
        raise NotImplementedError("this kind of fetch")
    # A level of detail or gradients choose a mip level, and there is one.
    result, address, *_ = counted(instruction.operands, 2, 4)
    handle, coordinates = _address(address)
    types = ["u32" if geometry.startswith("a") and axis == 0 else kind for axis in range(len(coordinates))]
    return Effect(
        lambda units: units.textures.fetch,
        InstructionSite(index, instruction, f"{geometry} {kind} {into}"),
        ((handle, "u64"), *zip(coordinates, types, strict=True)),
        (result,),
        (into,) * 4,
    )


@EFFECTS.opcode("tld4")
def _tld4(instruction: Instruction, index: int, image: Image) -> Effect:
    component, *rest = instruction.modifiers
    into = rest[-2] if len(rest) > 1 else ""
    if component not in ("r", "g", "b", "a") or rest[:2] != ["2d", "v4"] or into not in _RESULTS or rest[-1] != "f32":
        raise NotImplementedError("this kind of gather")
    result, address = counted(instruction.operands, 2)
    handle, coordinates = _address(address)
    return Effect(
        lambda units: units.textures.gather,
        InstructionSite(index, instruction, f"{component} {into}"),
        ((handle, "u64"), *((c, "f32") for c in coordinates)),
        (result,),
        (into,) * 4,
    )


def _surface(instruction: Instruction) -> tuple[str, str, int]:
    """(mode of the site, type of the elements, their number)."""
    geometry = next((m for m in instruction.modifiers if m in DIMENSIONS), None)
    kind = next((m for m in instruction.modifiers if m in _BITS), None)
    outside = next((m for m in instruction.modifiers if m in _OUTSIDE), None)
    count = 4 if instruction.has("v4") else 2 if instruction.has("v2") else 1
    if instruction.modifiers[0] != "b" or geometry is None or kind is None or outside is None:
        raise NotImplementedError("this kind of surface")
    return f"{geometry} {_BITS[kind]} {count} {outside}", kind, count


@EFFECTS.opcode("suld")
def _suld(instruction: Instruction, index: int, image: Image) -> Effect:
    mode, kind, count = _surface(instruction)
    result, address = counted(instruction.operands, 2)
    handle, coordinates = _address(address)
    return Effect(
        lambda units: units.textures.load,
        InstructionSite(index, instruction, mode),
        ((handle, "u64"), *((c, "u32") for c in coordinates)),
        (result,),
        (f"u{_BITS[kind]}",) * count,
    )


@EFFECTS.opcode("sust", has_result=False)
def _sust(instruction: Instruction, index: int, image: Image) -> Effect:
    mode, kind, count = _surface(instruction)
    address, value = counted(instruction.operands, 2)
    handle, coordinates = _address(address)
    values = value.elements if isinstance(value, Vector) else (value,)
    types = [(c, "u32") for c in coordinates] + [(v, f"u{_BITS[kind]}") for v in counted(values, count)]
    return Effect(
        lambda units: units.textures.store, InstructionSite(index, instruction, mode), ((handle, "u64"), *types)
    )
