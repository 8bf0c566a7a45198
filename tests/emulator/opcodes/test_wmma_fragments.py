"""Fragments of ``wmma``: register counts of the PTX ISA, and where an H100 has each element (docs/tensor_cores.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from softlab.emulator.opcodes.fragments import fragment
from softlab.emulator.opcodes.wmma import places, tiled_product

#: (shape, type of A and B) -> registers of A and of B (PTX ISA, "Matrix Fragments for WMMA").
COUNTS = {
    ("m16n16k16", "f16"): (8, 8), ("m32n8k16", "f16"): (8, 8), ("m8n32k16", "f16"): (8, 8),
    ("m16n16k16", "bf16"): (4, 4), ("m32n8k16", "bf16"): (8, 2), ("m8n32k16", "bf16"): (2, 8),
    ("m16n16k16", "s8"): (2, 2), ("m32n8k16", "s8"): (4, 1), ("m8n32k16", "s8"): (1, 4),
    ("m16n16k16", "u8"): (2, 2), ("m16n16k8", "tf32"): (4, 4), ("m8n8k4", "f64"): (1, 1),
    ("m8n8k32", "s4"): (1, 1), ("m8n8k32", "u4"): (1, 1), ("m8n8k128", "b1"): (1, 1),
}  # fmt: skip
LANE = np.arange(32)[:, None, None]


def sizes(shape: str) -> tuple[int, int, int]:
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


@pytest.mark.parametrize(("shape", "kind"), COUNTS)
def test_each_element_is_in_one_place(shape: str, kind: str) -> None:
    """Of b1 a word of 32 bits is an element."""
    m, n, k = sizes(shape)
    k = k // 32 if kind == "b1" else k
    of_c = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "f64": ("f64",)}.get(kind, ("s32",))
    operands = [("a", kind, m, k, COUNTS[shape, kind][0]), ("b", kind, k, n, COUNTS[shape, kind][1])]
    operands += [("c", one, m, n, m * n // 32 // (2 if one == "f16" else 1)) for one in of_c]
    for operand, of_type, rows, columns, registers in operands:
        found = places(operand, shape, of_type)
        assert found.registers == registers
        seen = (found.row * columns + found.column).reshape(-1)
        assert sorted(seen.tolist()) == list(range(rows * columns)), (operand, of_type)


Where = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@pytest.mark.parametrize(
    ("operand", "shape", "kind", "registers", "held", "where"),
    [
        ("c", "m16n16k16", "f32", 8, 1, lambda r, e: (LANE // 4 + r % 4 // 2 * 8, LANE % 4 * 2 + r % 2 + r // 4 * 8)),
        ("c", "m16n16k16", "f16", 4, 2, lambda r, e: (LANE // 4 + r % 2 * 8, LANE % 4 * 2 + e + r // 2 * 8)),
        ("c", "m32n8k16", "f32", 8, 1, lambda r, e: (LANE // 4 + r // 2 * 8, LANE % 4 * 2 + r % 2)),
        ("c", "m8n32k16", "f32", 8, 1, lambda r, e: (LANE % 4 * 2 + r % 2, LANE // 4 + r // 2 * 8)),
        ("c", "m8n8k4", "f64", 2, 1, lambda r, e: (LANE // 4, LANE % 4 * 2 + r)),
        ("a", "m16n16k16", "f16", 4, 2, lambda r, e: (LANE // 4 + r % 2 * 8, LANE % 4 * 2 + e + r // 2 * 8)),
        ("a", "m32n8k16", "bf16", 8, 2,
         lambda r, e: (LANE // 4 + r % 2 * 8 + r // 4 * 16, LANE % 4 * 2 + e + r % 4 // 2 * 8)),
        ("a", "m8n32k16", "bf16", 2, 2, lambda r, e: (LANE // 4, LANE % 4 * 2 + e + r * 8)),
        ("a", "m16n16k16", "s8", 2, 4, lambda r, e: (LANE // 4 + r * 8, LANE % 4 * 4 + e)),
        ("a", "m16n16k8", "tf32", 4, 1, lambda r, e: (LANE // 4 + r % 2 * 8, LANE % 4 + r // 2 * 4)),
        ("a", "m8n8k32", "s4", 1, 8, lambda r, e: (LANE // 4, LANE % 4 * 8 + e)),
        ("a", "m8n8k128", "b1", 1, 1, lambda r, e: (LANE // 4, LANE % 4)),
        ("b", "m16n16k16", "f16", 4, 2, lambda r, e: (LANE % 4 * 2 + e + r % 2 * 8, LANE // 4 + r // 2 * 8)),
        ("b", "m32n8k16", "bf16", 2, 2, lambda r, e: (LANE % 4 * 2 + e + r * 8, LANE // 4)),
        ("b", "m8n32k16", "bf16", 8, 2,
         lambda r, e: (LANE % 4 * 2 + e + r % 4 // 2 * 8, LANE // 4 + r % 2 * 8 + r // 4 * 16)),
        ("b", "m16n16k16", "u8", 2, 4, lambda r, e: (LANE % 4 * 4 + e, LANE // 4 + r * 8)),
        ("b", "m16n16k8", "tf32", 4, 1, lambda r, e: (LANE % 4 + r % 2 * 4, LANE // 4 + r // 2 * 8)),
        ("b", "m8n8k4", "f64", 1, 1, lambda r, e: (LANE % 4, LANE // 4)),
    ],
)  # fmt: skip
def test_where_the_elements_are(operand: str, shape: str, kind: str, registers: int, held: int, where: Where) -> None:
    """As in fragments of ``mma.sync`` (PTX ISA), one tile after the other."""
    found = places(operand, shape, kind)
    register, element = np.arange(registers)[None, :, None], np.arange(held)[None, None]
    row, column = np.broadcast_arrays(*where(register, element), np.zeros((32, registers, held), int))[:2]
    np.testing.assert_array_equal(found.row, row)
    np.testing.assert_array_equal(found.column, column)


def test_what_a_product_is_asked_for() -> None:
    """Of f16, PTX names only D and C. In the transposed product B's tiles come from the left."""
    plain = tiled_product(("mma", "sync", "aligned", "row", "col", "m16n16k16", "f32", "f16", "satfinite"))
    assert (plain.tile.kinds, plain.counts) == (("f32", "f16", "f16", "f16"), (8, 8, 8, 4))
    assert plain.tile.saturate
    turned = tiled_product(("mma", "sync", "aligned", "row", "row", "m8n32k16", "s32", "s8", "s8", "s32"))
    assert (turned.tile.kinds, turned.counts) == (("s32", "s8", "s8", "s32"), (8, 1, 4, 8))
    assert not turned.tile.saturate
    of_f64 = tiled_product(("mma", "sync", "aligned", "row", "col", "m8n8k4", "rz", "f64", "f64", "f64", "f64"))
    assert (of_f64.tile.rounding, of_f64.counts) == ("rz", (2, 1, 1, 2))
    bits = tiled_product(("mma", "xor", "popc", "sync", "aligned", "row", "col", "m8n8k128", "s32", "b1", "b1", "s32"))
    assert (bits.tile.operation, bits.tile.rounding) == ("xor", "rn")


@pytest.mark.parametrize(
    "words",
    ["m16n16k16.f32", "m16n16k8.f32.f32", "m8n8k4.f32.f32", "m16n16k4.f32.f32", "m16n16k16.f32.tf32.tf32.f32",
     "m16n16k16.s32.s4.s4.s32", "m16n16k16.f32.bf16.bf16.f32.f32", "m32n8k16.f64.f64.f64.f64"],
)  # fmt: skip
def test_forms_that_there_are_not(words: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"^wmma\.mma\.sync\.aligned\.row\.col\.{words}$"):
        tiled_product(("mma", "sync", "aligned", "row", "col", *words.split(".")))
    with pytest.raises(NotImplementedError, match="m16n8k16"):
        places("a", "m16n8k16", "f16")


@pytest.mark.parametrize("left_out", [0, 1, 5, 63])
def test_a_fragment_holds_the_whole_matrix(left_out: int) -> None:
    """A place that leaves an element of 8 x 8 out, as it has the one behind it twice, is refused."""
    numbers = np.arange(64)
    numbers[left_out] = (left_out + 1) % 64

    def place(numbers: np.ndarray) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        return lambda lane, register, element: np.divmod(numbers[2 * lane + element], 8)

    whole = fragment(8, 8, 1, 2, place(np.arange(64)[::-1]))
    assert whole.position.tolist() == np.arange(64)[::-1].reshape(8, 8).tolist()
    with pytest.raises(AssertionError, match="an element of the matrix is in no lane"):
        fragment(8, 8, 1, 2, place(numbers))
