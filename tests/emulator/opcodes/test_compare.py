"""Comparison and selection against Python's comparisons."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import as_type, bits, evaluate, lower, sampled, samples

ORDERED: dict[str, Callable] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")


def floats(array: np.ndarray, name: str) -> list[float]:
    return (array.view(ml_dtypes.bfloat16) if name == "bf16" else array).astype(np.float64).tolist()


def unordered_or(compare: Callable) -> Callable:
    return lambda a, b: math.isnan(a) or math.isnan(b) or compare(a, b)


def ordered_and(compare: Callable) -> Callable:
    return lambda a, b: not math.isnan(a) and not math.isnan(b) and compare(a, b)


FLOAT: dict[str, Callable] = {
    **{name: ordered_and(compare) for name, compare in ORDERED.items()},
    **{f"{name}u": unordered_or(compare) for name, compare in ORDERED.items()},
    "num": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "nan": lambda a, b: math.isnan(a) or math.isnan(b),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    for comparison, compare in (ORDERED | (UNSIGNED if name[0] == "u" else {})).items():
        (a, b), (got,) = sampled(f"setp.{comparison}.{name} p, a, b")
        a, b = as_type(a, name), as_type(b, name)
        assert got.tolist() == [compare(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], comparison


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    for comparison, compare in FLOAT.items():
        (a, b), (got,) = sampled(f"setp.{comparison}.{name} p, a, b", 1500)
        pairs = zip(floats(a, name), floats(b, name), strict=True)
        assert got.tolist() == [compare(x, y) for x, y in pairs], comparison


def test_untyped_bits() -> None:
    (a, b), (got,) = sampled("setp.eq.b32 p, a, b")
    np.testing.assert_array_equal(got, a == b)
    with pytest.raises(UnsupportedInstruction):
        lower("setp.lt.b32 p, a, b")


JOINS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


@pytest.mark.parametrize("join", JOINS)
def test_joined_with_a_predicate(join: str) -> None:
    (a, b, c), (p, q) = sampled(f"setp.lt.{join}.f32 p|q, a, b, c")
    for lane in range(len(a)):
        less = bool(a[lane] < b[lane])
        assert bool(p[lane]) == JOINS[join](less, bool(c[lane]))
        assert bool(q[lane]) == JOINS[join](not less, bool(c[lane]))
    (alone,) = evaluate(f"setp.lt.{join}.f32 p, a, b, c", a, b, c)
    np.testing.assert_array_equal(alone, p)


def test_the_second_predicate_is_the_opposite() -> None:
    (a, _), (p, q) = sampled("setp.ltu.f32 p|q, a, b")
    np.testing.assert_array_equal(p, ~q)
    assert (np.isnan(a) & p).any()


def test_flushed() -> None:
    a, b = np.array([1e-40, 1e-40, 1e-30], np.float32), np.array([0, -1e-40, 0], np.float32)
    assert evaluate("setp.gt.f32 p, a, b", a, b)[0].tolist() == [True, True, True]
    assert evaluate("setp.gt.ftz.f32 p, a, b", a, b)[0].tolist() == [False, False, True]


def halves(array: np.ndarray, element: str) -> list[tuple[float, float]]:
    pairs = array.view(np.uint16).reshape(-1, 2).view(np.float16 if element == "f16" else ml_dtypes.bfloat16)
    return [tuple(row) for row in pairs.astype(np.float64).tolist()]


def ordinary_pairs(element: str, count: int, seed: int) -> np.ndarray:
    return samples(element, 2 * count, seed).view(np.uint32)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_pairs(element: str) -> None:
    a, b = ordinary_pairs(element, 600, 1), ordinary_pairs(element, 600, 2)
    one = {"f16": 0x3C00, "bf16": 0x3F80}[element]
    for comparison, compare in FLOAT.items():
        low, high = evaluate(f"setp.{comparison}.{element}x2 p|q, a, b", a, b)
        (mask,) = evaluate(f"set.{comparison}.u32.{element}x2 d, a, b", a, b)
        (ones,) = evaluate(f"set.{comparison}.{element}x2.{element}x2 d, a, b", a, b)
        for lane, (x, y) in enumerate(zip(halves(a, element), halves(b, element), strict=True)):
            wanted = compare(x[0], y[0]), compare(x[1], y[1])
            assert (bool(low[lane]), bool(high[lane])) == wanted
            assert int(mask[lane]) == 0xFFFF * wanted[0] + 0xFFFF0000 * wanted[1]
            assert int(ones[lane]) == one * wanted[0] + (one << 16) * wanted[1]


@pytest.mark.parametrize(
    ("result", "true"),
    [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000), ("f16", 0x3C00), ("bf16", 0x3F80), ("u16", 0xFFFF)],
)
def test_set(result: str, true: int) -> None:
    for source in ("s32", "f32", "f16", "bf16"):
        (a, b), (got,) = sampled(f"set.lt.{result}.{source} d, a, b")
        (p,) = evaluate(f"setp.lt.{source} p, a, b", a, b)
        assert bits(got).tolist() == [true if less else 0 for less in p]
    (a, b, c), (got,) = sampled(f"set.lt.xor.{result}.s32 d, a, b, c")
    assert bits(got).tolist() == [true if (x < y) != z else 0 for x, y, z in zip(a, b, c, strict=True)]


@pytest.mark.parametrize("name", ["b16", "b32", "b64", "s16", "u32", "s64", "f32", "f64"])
def test_selp(name: str) -> None:
    (a, b, p), (got,) = sampled(f"selp.{name} d, a, b, p")
    wanted = [x if take else y for x, y, take in zip(bits(a), bits(b), p, strict=True)]
    np.testing.assert_array_equal(bits(got), np.array(wanted))


def test_slct() -> None:
    for name in ("b16", "u32", "f32", "f64"):
        for test in ("s32", "f32"):
            (a, b, c), (got,) = sampled(f"slct.{name}.{test} d, a, b, c")
            wanted = [x if z >= 0 else y for x, y, z in zip(bits(a), bits(b), c, strict=True)]
            np.testing.assert_array_equal(bits(got), np.array(wanted))
    c = np.array([-0.0, -1e-40, np.nan, 1.0], np.float32)
    a, b = np.arange(4, dtype=np.uint32), np.arange(10, 14, dtype=np.uint32)
    assert evaluate("slct.u32.f32 d, a, b, c", a, b, c)[0].tolist() == [0, 11, 12, 3]
    assert evaluate("slct.ftz.u32.f32 d, a, b, c", a, b, c)[0].tolist() == [0, 1, 12, 3]
