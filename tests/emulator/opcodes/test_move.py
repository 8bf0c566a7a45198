"""Moves, vectors in a register, and the machinery of the table."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.opcodes import PURE
from softlab.emulator.opcodes.forms import TypedOpcodes, unary
from softlab.emulator.opcodes.registry import OpcodeTable, Registry
from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import bits, evaluate, instruction, lower, sampled


@pytest.mark.parametrize("name", ["b16", "u16", "b32", "s32", "b64", "u64", "f32", "f64", "f16", "pred"])
def test_mov_is_the_identity(name: str) -> None:
    (source,), (got,) = sampled(f"mov.{name} d, a")
    np.testing.assert_array_equal(bits(got), bits(source))


@pytest.mark.parametrize(("whole", "count"), [(32, 2), (64, 2), (64, 4), (32, 4)])
def test_packing_and_unpacking(whole: int, count: int) -> None:
    """The first element is the lowest part, as in memory."""
    names = ", ".join(f"a{index}" for index in range(count))
    sources, (got,) = sampled(f"mov.b{whole} d, {{{names}}}")
    in_memory = np.stack(sources, axis=1)
    np.testing.assert_array_equal(got, np.ascontiguousarray(in_memory).view(f"u{whole // 8}")[:, 0])
    parts = evaluate(f"mov.b{whole} {{{names}}}, d", got)
    for part, source in zip(parts, sources, strict=True):
        np.testing.assert_array_equal(part, source)


def test_global_addresses_are_generic() -> None:
    for form in ("cvta.global.u64", "cvta.to.global.u64", "cvta.const.u64", "cvta.to.param.u64"):
        (source,), (got,) = sampled(f"{form} d, a")
        np.testing.assert_array_equal(got, source)


@pytest.mark.parametrize("space", ["shared", "shared::cta", "shared::cluster", "local"])
def test_windows_of_generic_addresses(space: str) -> None:
    """There and back again; null stays null, and byte 0 of a space is not null."""
    inside = np.array([0, 8, 4096], np.uint64)
    (generic,) = evaluate(f"cvta.{space}.u64 d, a", inside)
    assert (generic != 0).all()
    np.testing.assert_array_equal(*evaluate(f"cvta.to.{space}.u64 d, a", generic), inside)
    np.testing.assert_array_equal(
        *evaluate(f"cvta.to.{space}.u64 d, a", np.zeros(3, np.uint64)), np.zeros(3, np.uint64)
    )


@pytest.mark.parametrize(
    "text",
    ["wgmma.mma_async d, a", "add.s32.f32.mystery d, a, b", "add.mystery.s32 d, a, b", "add d, a, b"],
)
def test_what_is_not_known_is_named(text: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=text.split()[0].replace(".", r"\.")):
        lower(text)


def test_a_meaning_is_registered_once() -> None:
    opcode = TypedOpcodes(OpcodeTable("pure", Registry()))
    opcode("twice", types=("s32",))(lambda form: unary(np.negative, "s32"))
    with pytest.raises(ValueError, match="registered twice"):
        opcode("twice", types=("s32",))(lambda form: unary(np.negative, "s32"))


def test_types_tell_meanings_apart() -> None:
    assert PURE.lower(instruction("add.s32 d, a, b")).sources == ("b32", "b32")
    assert PURE.lower(instruction("add.f32 d, a, b")).sources == ("f32", "f32")
    assert PURE.lower(instruction("add.f16x2 d, a, b")).sources == ("b32", "b32")
