"""The compiled forms between float32 and the formats of 16 bits give the bits of the NumPy forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from softlab.emulator.machine.native import NativeFunction, available
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.emitter import NativeForm
from softlab.emulator.opcodes.floats import canonical
from softlab.emulator.opcodes.formats import NARROW, WIDEN, nudged
from softlab.emulator.opcodes.halves import flush_f16
from softlab.emulator.opcodes.native_formats import NATIVE_NARROW, NATIVE_WIDEN, native_flush_f16, native_nudged
from tests.emulator.opcodes.cases import bits, lower
from tests.emulator.opcodes.hardware import FORMS

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")

FORMATS = ("f16", "bf16")
#: The dtype that holds a format of 16 bits.
HOLDS = {"f16": np.dtype(np.float16), "bf16": np.dtype(np.uint16)}
#: Infinity of a format, and how many bits its fraction has.
INFINITY, FRACTION = {"f16": 0x7C00, "bf16": 0x7F80}, {"f16": 10, "bf16": 7}
ALL = np.arange(1 << 16, dtype=np.uint16)
MANY = 1 << 20


def compiled(
    native: NativeForm, result: type[np.generic] | np.dtype, *sources: type[np.generic] | np.dtype
) -> Callable:
    """The compiled form as a function of arrays."""
    names = [f"a{number}" for number in range(len(sources))]
    dtypes = {name: np.dtype(kind) for name, kind in zip([*names, "r"], [*sources, result], strict=True)}
    return NativeFunction([Operation(("r",), "", tuple(names), native)], names, ["r"], dtypes, {}, names).ufunc


def check(function: Callable, wanted: Callable, *sources: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        got, want = bits(function(*sources)), bits(wanted(*sources))
    assert got.dtype == want.dtype
    wrong = np.flatnonzero(got != want)
    if len(wrong):
        lane = wrong[0]
        given = [hex(bits(source)[lane]) for source in sources]
        pytest.fail(f"{len(wrong)} differ: {given}: compiled {got[lane]:#x}, NumPy {want[lane]:#x}")


def float32_of_all_kinds(seed: int) -> np.ndarray:
    """All bits at random; those next to what 16 bits hold, and to the middles between them; special ones."""
    generator = np.random.default_rng(seed)
    steps = np.arange(-2, 3).astype(np.uint32)[:, None]
    upper = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    middles = upper | np.uint32(0x8000)
    halves = bits(ALL.view(np.float16).astype(np.float32))
    # Between two float16 there are at most 2**13 float32 (fewer for subnormals, which float32 has in full).
    between = ((halves[:-1].view(np.float32).astype(np.float64) + halves[1:].view(np.float32)) / 2).astype(np.float32)
    near = [(base + steps).ravel() for base in (upper, middles, halves, bits(between))]
    return np.concatenate([generator.integers(0, 1 << 32, 2 * MANY, dtype=np.uint32), *near]).view(np.float32)


@pytest.mark.parametrize("name", FORMATS)
def test_each_pattern_is_widened_as_by_numpy(name: str) -> None:
    kind = HOLDS[name]
    check(compiled(NATIVE_WIDEN[name], np.float32, kind), WIDEN[name], ALL.view(kind))


@pytest.mark.parametrize("name", FORMATS)
def test_float32_is_narrowed_as_by_numpy(name: str) -> None:
    with np.errstate(all="ignore"):
        values = float32_of_all_kinds(seed=1)
    check(compiled(NATIVE_NARROW[name], HOLDS[name], np.float32), NARROW[name], values)


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_widened_is_narrowed_to_the_same(name: str) -> None:
    """All but NaN, which has the bits of hardware then."""
    kind = HOLDS[name]

    def there_and_back(e, value):
        return NATIVE_NARROW[name](e, NATIVE_WIDEN[name](e, value))

    got = bits(compiled(there_and_back, kind, kind)(ALL.view(kind)))
    assert np.array_equal(got, np.where(INFINITY[name] < ALL & 0x7FFF, 0x7FFF, ALL))


def test_each_float16_is_flushed_as_by_numpy() -> None:
    check(compiled(native_flush_f16, np.float16, np.float16), flush_f16, ALL.view(np.float16))


def halves_of_all_kinds(name: str, count: int, seed: int) -> np.ndarray:
    """Patterns of 16 bits as float64: any, subnormals, the greatest, powers of two and neighbours, special ones."""
    generator = np.random.default_rng([seed, *name.encode()])
    infinity, fraction = INFINITY[name], FRACTION[name]
    one = 1 << fraction
    powers = (generator.integers(0, infinity >> fraction, count) << fraction) + generator.integers(-2, 3, count)
    kinds = [
        generator.integers(0, infinity, count),
        generator.integers(0, one, count),
        infinity - generator.integers(1, 9, count),
        powers % infinity,
        generator.choice(
            [0, 1, one - 1, one, infinity - 1, infinity, infinity + 1, infinity + one // 2, 0x7FFF], count
        ),
        # Near 1: their products and sums are often halfway between two.
        (0x3C00 if name == "f16" else 0x3F80) + generator.integers(-2 * one, 2 * one, count),
    ]
    picked = np.choose(generator.integers(0, len(kinds), count), kinds) | generator.integers(0, 2, count) << 15
    with np.errstate(all="ignore"):
        return WIDEN[name](picked.astype(np.uint16).view(HOLDS[name])).astype(np.float64)


def check_nudged(*sources: np.ndarray) -> None:
    """The float32, any two NaN alike (processors and LLVM choose whose bits a sum has), and what it is narrowed to."""
    kinds = [np.float64] * len(sources)
    numbers = compiled(lambda e, *a: e.canonical(native_nudged(e, *a)), np.float32, *kinds)
    check(numbers, lambda *a: canonical(nudged(*a)), *sources)
    for name in FORMATS:
        rounded = compiled(lambda e, *a, n=name: NATIVE_NARROW[n](e, native_nudged(e, *a)), HOLDS[name], *kinds)
        check(rounded, lambda *a, n=name: NARROW[n](nudged(*a)), *sources)


@pytest.mark.parametrize("name", FORMATS)
def test_products_are_nudged_as_by_numpy(name: str) -> None:
    a, b = (halves_of_all_kinds(name, MANY, seed) for seed in (1, 2))
    with np.errstate(all="ignore"):
        check_nudged(a * b)


@pytest.mark.parametrize("name", FORMATS)
def test_sums_of_products_are_nudged_as_by_numpy(name: str) -> None:
    a, b, c = (halves_of_all_kinds(name, MANY, seed) for seed in (3, 4, 5))
    with np.errstate(all="ignore"):
        product = a * b
    check_nudged(product, c)
    check_nudged(product, -product)
    # The least addends push a product that is halfway between two to one side; and the other way round.
    check_nudged(product, np.copysign(2.0 ** (-24 if name == "f16" else -133), c))
    check_nudged(product * 2.0**-60, c)


def test_float64_of_any_bits_is_nudged_as_by_numpy() -> None:
    """Also what is halfway between two float32, or two of a narrow format, and its neighbours."""
    generator = np.random.default_rng(6)
    plain = generator.integers(0, 1 << 64, MANY // 2, dtype=np.uint64)
    short = plain & ~np.uint64((1 << 40) - 1)
    near = short + generator.integers(-2, 3, len(short)).astype(np.uint64)
    exponent = generator.integers(1023 - 160, 1023 + 140, len(short), dtype=np.uint64) << np.uint64(52)
    ordinary = [exponent | values & np.uint64(0x800FFFFFFFFFFFFF) for values in (plain, short, near)]
    values = np.concatenate([plain, short, near, *ordinary]).view(np.float64)
    check_nudged(values)
    check_nudged(values, generator.permutation(values))


@pytest.mark.parametrize("name", FORMATS)
def test_a_product_is_rounded_once(name: str) -> None:
    """Held to integers: the nearest of the format, of two that are as near the even one."""
    narrow = NATIVE_NARROW[name]
    function = compiled(lambda e, a: narrow(e, native_nudged(e, a)), HOLDS[name], np.float64)
    bits_kept = FRACTION[name] + 1
    one = 1 << FRACTION[name]
    a, b = np.meshgrid(np.arange(one, 2 * one), np.arange(one, 2 * one, 7))
    product = (a * b).ravel()
    drop = np.floor(np.log2(product)).astype(int) + 1 - bits_kept
    kept, rest, half = product >> drop, product & (1 << drop) - 1, 1 << drop - 1
    kept += (rest > half) | ((rest == half) & (kept & 1 == 1))
    got = WIDEN[name](function(product * 2.0 ** (-2 * FRACTION[name])))
    assert np.array_equal(got, kept * 2.0 ** (drop - 2 * FRACTION[name]))


def test_arithmetic_and_comparisons_of_halves_are_compiled() -> None:
    opcodes = {"add", "sub", "mul", "fma", "abs", "neg", "min", "max", "setp", "set"}
    forms = [text for text in FORMS if text.split(".")[0] in opcodes and "f16" in text.split()[0]]
    assert {text.split(".")[0] for text in forms} == opcodes
    assert [text for text in forms if lower(text).native is None] == []
