"""Compiled loops beside NumPy: operands with and without gaps, lengths around a part, all types, turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import NativeFunction, available
from softlab.emulator.machine.native_loop import Loop, constant, memory_type
from softlab.emulator.machine.operations import Operation, Turns

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

#: A part has 128 lanes.
LENGTHS = (0, 1, 127, 128, 129, 256, 257, 300)
GUARD = 0x5A


def operation(results: Sequence[str], sources: Sequence[str], native: Any) -> Operation:
    return Operation(tuple(results), "", tuple(sources), native)


def dtypes(**kinds: str) -> dict[str, np.dtype]:
    return {name: np.dtype(kind) for name, kind in kinds.items()}


def any_array(random: np.random.Generator, kind: str, count: int, step: int) -> np.ndarray:
    """``count`` elements, ``step`` apart; backwards for a negative step."""
    return random.integers(0, 100, count * abs(step)).astype(kind)[::step]


@pytest.fixture(scope="module")
def sums() -> Any:
    """d = a + b and e = (a < b), of int32."""
    made = [operation(["d"], ["a", "b"], lambda e, a, b: e.add(a, b)),
            operation(["e"], ["a", "b"], lambda e, a, b: e.icmp_signed("<", a, b))]  # fmt: skip
    return NativeFunction(made, ("a", "b"), ("d", "e"), dtypes(a="i4", b="i4", d="i4", e="?"), {}, ("a", "b"))


@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (1, 3), (-1, 1), (2, -2)])
@pytest.mark.parametrize("count", LENGTHS)
def test_lengths_and_steps(sums: NativeFunction, count: int, steps: tuple[int, int]) -> None:
    random = np.random.default_rng(count)
    a, b = (any_array(random, "i4", count, step) for step in steps)
    d, e = sums.ufunc(a, b)
    np.testing.assert_array_equal(d, a + b)
    np.testing.assert_array_equal(e, a < b)
    assert (d.dtype, e.dtype) == (np.int32, np.bool_)


@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (1, 5), (3, 2)])
@pytest.mark.parametrize("count", LENGTHS)
def test_results_with_gaps(sums: NativeFunction, count: int, steps: tuple[int, int]) -> None:
    """Between the elements of a result nothing changes."""
    random = np.random.default_rng(count)
    a, b = any_array(random, "i4", count, 1), any_array(random, "i4", count, 1)
    whole = np.full(count * steps[0] + 1, GUARD, np.int32), np.full(count * steps[1] + 1, GUARD, np.uint8)
    d, e = whole[0][:-1][:: steps[0]], whole[1][:-1][:: steps[1]].view(bool)
    sums.ufunc(a, b, out=(d, e))
    np.testing.assert_array_equal(d, a + b)
    np.testing.assert_array_equal(e, a < b)
    for array, step, width in zip(whole, steps, (4, 1), strict=True):
        inside = np.zeros(len(array), bool)
        inside[:-1][::step] = True
        assert (array[~inside] == GUARD).all(), width


def test_rows_and_columns_that_broadcast(sums: NativeFunction) -> None:
    a, b = np.arange(5, dtype=np.int32)[:, None], np.arange(0, 900, 3, dtype=np.int32)[None]
    d, e = sums.ufunc(a, b)
    np.testing.assert_array_equal(d, a + b)
    np.testing.assert_array_equal(e, a < b)
    d, e = sums.ufunc(a.T, b.T[::2])
    np.testing.assert_array_equal(d, a.T + b.T[::2])
    assert sums.ufunc(np.int32(3), np.int32(4)) == (7, True)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("step", [1, 2])
def test_a_source_that_all_lanes_share(count: int, step: int) -> None:
    """It does not move: it is read where it stands."""
    made = [operation(["d"], ["a", "b"], lambda e, a, b: e.sub(a, b))]
    function = NativeFunction(made, ("a", "b"), ("d",), dtypes(a="i8", b="i8", d="i8"), {}, ("a",))
    a = any_array(np.random.default_rng(count), "i8", count, step)
    np.testing.assert_array_equal(function.ufunc(a, np.int64(1 << 40)), a - (1 << 40))


@pytest.mark.parametrize("kind", ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
@pytest.mark.parametrize("step", [1, 2])
def test_each_type_moves_as_it_is(kind: str, step: int) -> None:
    """The bits of a chosen source: NaNs of any bits, half precision, truth values of one byte."""
    made = [operation(["d"], ["p", "a", "b"], lambda e, p, a, b: e.select(p, a, b))]
    function = NativeFunction(made, ("p", "a", "b"), ("d",), dtypes(p="?", a=kind, b=kind, d=kind), {},
                              ("p", "a", "b"))  # fmt: skip
    random, size = np.random.default_rng(3), np.dtype(kind).itemsize
    raw = random.integers(0, 256, (2, 300 * step * size), np.uint8)
    a, b = (raw % 2 if kind == "?" else raw).view(kind)[:, ::step]
    p = random.random(300) < 0.5
    found = function.ufunc(p, a, b)
    assert found.dtype == np.dtype(kind)
    assert found.tobytes() == np.where(p, a.view(f"u{size}"), b.view(f"u{size}")).tobytes()


@pytest.mark.parametrize(
    "value",
    [np.bool_(True), np.bool_(False), np.uint8(200), np.int16(-3), np.float16(-1.5), np.float32(np.pi), np.int64(-1),
     np.float64(-0.0), np.uint64(1 << 63), np.uint32(0x7FC00001).view(np.float32)],
    ids=repr,
)  # fmt: skip
def test_constants_with_all_their_bits(value: np.generic) -> None:
    kind = value.dtype.str[1:] if value.dtype != bool else "?"
    made = [operation(["d"], ["p", "c", "a"], lambda e, p, c, a: e.select(p, c, a))]
    function = NativeFunction(made, ("p", "a"), ("d",), dtypes(p="?", a=kind, d=kind), {"c": value}, ("p", "a"))
    p, a = np.arange(130) % 2 == 0, np.zeros(130, kind)
    found = function.ufunc(p, a)
    assert found[p].tobytes() == value.tobytes() * 65
    assert not found[~p].any()


def test_operations_that_need_each_other() -> None:
    """The value of one is the source of the next; an operation may have two results."""
    made = [operation(["s", "t"], ["a", "b"], lambda e, a, b: (e.add(a, b), e.mul(a, b))),
            operation(["d"], ["s", "t"], lambda e, s, t: e.sub(s, t))]  # fmt: skip
    function = NativeFunction(made, ("a", "b"), ("d", "t"), dtypes(a="i4", b="i4", t="i4", d="i4"), {}, ("a", "b"))
    a, b = np.arange(200, dtype=np.int32), np.arange(200, dtype=np.int32)[::-1]
    d, t = function.ufunc(a, b)
    np.testing.assert_array_equal(d, a + b - a * b)
    np.testing.assert_array_equal(t, a * b)


def turns(condition: str | None, made: str) -> NativeFunction:
    """x is doubled and y takes the old x in each turn, while the new x is below a limit: at most n turns."""
    steps = [operation(["twice"], ["x"], lambda e, x: e.mul(x, x.type(2))),
             operation(["going"], ["twice", "most"], lambda e, x, most: e.icmp_signed("<", x, most))]  # fmt: skip
    kinds = dtypes(x="i8", y="i8", n="i8", most="i8", twice="i8", going="?", made="i8")
    results = ("twice", "y", *([made] if made else []))
    rest = Turns({"x": "twice", "y": "x"}, "n", condition, made)
    return NativeFunction(steps, ("x", "y", "n", "most"), results, kinds, {}, ("x", "y", "n"), rest)


@pytest.mark.parametrize("condition", [None, "going"])
@pytest.mark.parametrize("made", ["", "made"])
@pytest.mark.parametrize("step", [1, 3])
def test_lanes_take_as_many_turns_as_they_need(condition: str | None, made: str, step: int) -> None:
    random, function = np.random.default_rng(1), turns(condition, made)
    x, y, n = (random.integers(1, most, 150 * step)[::step] for most in (20, 20, 9))
    most = 100
    found = function.ufunc(x, y, n, np.int64(most))
    for lane in range(150):
        values, count = [int(y[lane]), int(x[lane])], 0
        while not count or (count < n[lane] and (condition is None or values[-1] < most)):
            values.append(values[-1] * 2)
            count += 1
        expected = [values[-1], values[-3]] + [count] * bool(made)  # y has what x was one turn before
        assert [int(array[lane]) for array in found] == expected, lane


def test_the_text_says_what_llvm_shall_do() -> None:
    """The plain loop is vectorized, the others are not; each loop has its hint."""
    made = [operation(["d"], ["a"], lambda e, a: e.add(a, a.type(1)))]
    text = Loop(made, ("a",), ("d",), dtypes(a="i4", d="i4"), {}, [np.dtype("i4")] * 2, [True, True]).text()
    for name, number in (("packed", 900), ("parts", 910), ("copy", 920)):
        assert f'label %"{name}_end", !llvm.loop !{number}' in text
    assert text.count('define internal void @"copy_4"') == 1, "one for both operands"


def test_types_in_memory() -> None:
    from llvmlite import ir

    kinds = {"?": "i8", "u1": "i8", "f2": "i16", "i4": "i32", "f4": "float", "u8": "i64", "f8": "double"}
    assert {kind: str(memory_type(ir, np.dtype(kind))) for kind in kinds} == kinds
    assert str(constant(ir, np.bool_(True))) == "i1 1"
    assert str(constant(ir, np.int16(-3))) == "i16 65533"
