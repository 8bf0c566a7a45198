"""Running one PTX instruction, written as text, on arrays; and arrays that look for trouble."""

from __future__ import annotations

import re

import numpy as np

from softlab.emulator.opcodes import PURE
from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.ptx.syntax import DTYPES, Immediate, Instruction, Operand, Pair, Register, Vector


def _operand(text: str) -> Operand:
    text = text.strip()
    if text.startswith("{"):
        return Vector(tuple(_operand(part) for part in text.strip("{}").split(",")))
    if "|" in text:
        first, second = (_operand(part) for part in text.split("|"))
        assert isinstance(first, Register)
        assert isinstance(second, Register)
        return Pair(first, second)
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text):
        return Immediate(int(text, 0))
    # "a:b32" declares a register wider than the instruction's type
    name, _, declared = text.partition(":")
    return Register(name, declared or "b8")


def instruction(text: str) -> Instruction:
    """``"add.sat.s32 d, a, b"`` as a record."""
    words, _, operands = text.partition(" ")
    opcode, *modifiers = words.split(".")
    parts = re.findall(r"\{[^}]*\}|[^,\s][^,]*", operands)
    return Instruction(opcode, tuple(modifiers), tuple(_operand(part) for part in parts), text=text)


def lower(text: str) -> Semantics:
    return PURE.lower(instruction(text))


def bits(value):
    """A value as unsigned integers of its width; a bool stays one."""
    array = np.asarray(value)
    return array if array.dtype == np.bool_ else array.view(f"u{array.dtype.itemsize}")


def same(got, expected, name: str) -> np.ndarray:
    """Where two results of this PTX type agree: bit by bit, any two NaN of a float type alike."""
    equal = bits(got) == bits(expected)
    if np.asarray(got).dtype.kind == "f":
        equal |= (got != got) & (expected != expected)
    return equal


def evaluate(text: str, *sources: np.ndarray) -> tuple[np.ndarray, ...]:
    """The instruction's results on these sources, one array each.

    Also checks what the machine relies on: the dtypes, sources left alone, and the same answers when lanes share
    a value, when all lanes do, and on (blocks, threads) arrays.
    """
    semantics = lower(text)
    assert len(sources) == len(semantics.sources), (text, semantics)
    kept = [source.copy() for source in sources]

    def call(*values) -> tuple:
        with np.errstate(all="ignore"):
            result = semantics.function(*values)
        return result if isinstance(result, tuple) else (result,)

    def check(got: tuple, wanted: list, what: str) -> None:
        for value, want, name in zip(got, wanted, semantics.results, strict=True):
            assert np.asarray(value).dtype == DTYPES[name], (
                f"{text}: {what} gives {np.asarray(value).dtype}, not {name}"
            )
            want = np.asarray(want)
            value = np.broadcast_to(value, want.shape)
            assert np.all(same(value, want, name)), f"{text}: {what} disagrees: {value} and {want}"

    for source, name in zip(sources, semantics.sources, strict=True):
        assert source.dtype == DTYPES[name], f"{text} takes {semantics.sources}, not {source.dtype}"
    results = call(*sources)
    for source, before in zip(sources, kept, strict=True):
        np.testing.assert_array_equal(bits(source), bits(before), err_msg=f"{text} wrote to a source")
    check(results, list(results), "an array")
    assert all(value.shape == sources[0].shape for value in results)
    for lane in range(0, len(sources[0]), max(1, len(sources[0]) // 13)):
        scalars = call(*(source[lane] for source in sources))
        assert all(np.ndim(value) == 0 and isinstance(value, np.generic) for value in scalars), f"{text}: no scalar"
        check(scalars, [value[lane] for value in results], "a scalar")
    for shared in range(len(sources)):
        mixed = [source[0] if index == shared else source for index, source in enumerate(sources)]
        full = [np.full_like(source, source[0]) if index == shared else source for index, source in enumerate(sources)]
        check(call(*mixed), list(call(*full)), "one shared source")
    if len(sources[0]) >= 12:
        few = [source[:12] for source in sources]
        square = call(*(value.reshape(3, 4) for value in few))
        check(square, [value[:12].reshape(3, 4) for value in results], "(blocks, threads)")
        edges = [few[0][:4].reshape(1, 4), *(value[:3].reshape(3, 1) for value in few[1:])]
        grid = [np.ascontiguousarray(np.broadcast_to(value, (3, 4))) for value in edges]
        if len(sources) > 1:
            check(call(*edges), list(call(*grid)), "blocks by threads")
    return results


_INTEGER_EDGES = (
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    24,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
)
_FLOAT_EDGES = (
    *(0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 3.5, 10.0, 100.0, 127.5, 255.5, 1000.0, 65504.0, 65519.0, 65520.0),
    *(float(2**k) for k in (-149, -148, -135, -134, -133, -126, -25, -24, -14, 10, 11, 23, 24, 31, 32, 52, 53, 63, 64)),
    *(2.0**31 - 1, 2.0**32 - 1, 2.0**126, 2.0**127, 1.0 + 2.0**-23, 1.0 - 2.0**-24, 1.0 + 2.0**-10, np.inf, np.nan),
)


def samples(name: str, count: int, seed: int) -> np.ndarray:
    """``count`` values of a PTX type in no order: edges, values near them, all kinds of bits, ordinary numbers."""
    generator = np.random.default_rng([seed, *name.encode()])
    dtype = DTYPES[name]
    if name == "pred":
        return generator.random(count) < 0.5
    any_bits = generator.integers(0, 256, (count, dtype.itemsize), dtype=np.uint8).view(dtype)[:, 0]
    kinds = generator.integers(0, 4, count)
    if dtype.kind == "f" or name == "bf16":
        edges = np.array(_FLOAT_EDGES) * np.where(generator.random(len(_FLOAT_EDGES)) < 0.5, 1, -1)
        picked = generator.choice(np.concatenate([edges, -edges]), count)
        ordinary = generator.normal(size=count) * 2.0 ** generator.integers(-4, 5, count)
        ordinary = np.where(generator.random(count) < 0.3, np.rint(ordinary), ordinary)
        as_type = _bf16 if name == "bf16" else (lambda a: a.astype(dtype))
        with np.errstate(all="ignore"):
            parts = [any_bits, as_type(picked), as_type(ordinary), as_type(ordinary)]
    else:
        limits = np.iinfo(dtype)
        edges = [value for value in _INTEGER_EDGES if value <= limits.max]
        edges += [limits.max - value for value in (0, 1, 2, 15)] + [limits.min + value for value in (0, 1, 2, 15)]
        edges += [-value for value in (1, 2, 7, 31)] if limits.min < 0 else []
        small = generator.integers(0, 100, count).astype(dtype)
        parts = [any_bits, np.array(edges, dtype)[generator.integers(0, len(edges), count)], small, any_bits]
    return np.choose(kinds, parts).astype(dtype) if dtype.kind != "f" else _choose(kinds, parts)


def _choose(kinds: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    return np.choose(kinds, [bits(part) for part in parts]).view(parts[0].dtype)


def _bf16(values: np.ndarray) -> np.ndarray:
    """float64 to bf16 bits by cutting: good enough for samples."""
    return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def sampled(text: str, count: int = 400, seed: int = 1) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """(sources, results) of the instruction on samples of its source types."""
    sources = tuple(samples(name, count, seed + 17 * index) for index, name in enumerate(lower(text).sources))
    return sources, evaluate(text, *sources)


def as_type(value: np.ndarray, name: str) -> np.ndarray:
    """An array's bits read as another PTX type of the same width."""
    return np.ascontiguousarray(value).view(DTYPES[name])
