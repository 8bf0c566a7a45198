"""The compiled opcodes of floats give the bits that NumPy gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab.emulator.machine.native import NativeFunction, available
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.convert import integer_to_float
from softlab.emulator.opcodes.floats import NATIVE, canonical, extreme, flush
from softlab.emulator.opcodes.rounding import add_f32, fma_f64, fused_f32, mul_f32
from softlab.sass.native_floats import LaneFunction
from softlab.sass.opcodes import conversions, doubles, floats, special
from tests.compilers import another_compiler

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

_SPECIAL = np.array(
    [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x3F800000,
     0xBF800000, 0x3F7FFFFF, 0x3F800001, 0x7E800000, 0xFE800000, 0x7E800001, 0x7F000000, 0x7F7FFFFF, 0xFF7FFFFF,
     0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F800001, 0xC2FC0000, 0xC2FC0001, 0x43000000, 0x33800000],
    np.uint32,
)  # fmt: skip
_PLAIN = ((False, False, False),) * 3


class _Modifiers:
    """What ``finished`` asks of a form."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def has(self, *names: str) -> bool:
        return any(name in self._names for name in names)


def _operands(count: int) -> tuple[np.ndarray, ...]:
    """All pairs or triples of special values, and random bits."""
    random = np.random.default_rng(count).integers(0, 1 << 32, (count, 20_000), dtype=np.uint64).astype(np.uint32)
    near = np.random.default_rng(count).integers(0x3F000000, 0x40800000, (count, 20_000)).astype(np.uint32)
    special_values = np.array(list(product(_SPECIAL, repeat=count)), np.uint32).T
    return tuple(np.concatenate([special_values, random, near], axis=1))


def _hold(native, function, count, tests=False, marks=_PLAIN):
    made = LaneFunction(native, marks[:count], np.uint32, tests)
    made.compile()
    given = _operands(count)
    with np.errstate(all="ignore"):
        wanted = function(*(one.view(np.float32) for one in given))
        found = made.ufunc(*given)
        one = made.ufunc(*(value[7] for value in given))
    np.testing.assert_array_equal(found, wanted if tests else wanted.view(np.uint32))
    assert found.dtype == (np.bool_ if tests else np.uint32)
    assert isinstance(one, np.generic)
    assert one == found[7]


def test_machine_code_is_kept(tmp_path, monkeypatch):
    """What one process compiled, a later one finds when NumPy has taken less than compiling takes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    another_compiler(monkeypatch)  # not that of the tests before
    native_form = floats._native("add", False, False)
    one, other, third = (LaneFunction(native_form, _PLAIN[:2], np.uint32, False) for _ in range(3))
    one.take(0.001, "hot")
    assert one.ufunc is None
    one.take(10.0, "hot")
    another_compiler(monkeypatch)
    other.take(0.05, "hot")
    a, b = _operands(2)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(other.ufunc(a, b), one.ufunc(a, b))
    assert LaneFunction.of_ufunc(other.ufunc) is other
    for path in tmp_path.rglob("*.*"):
        path.unlink()
    another_compiler(monkeypatch)
    third.take(0.031, "hot")
    assert third.ufunc is None
    fourth = LaneFunction(native_form, _PLAIN[:2], np.uint32, False)
    fourth.take(0.001, "hot")
    assert fourth.ufunc is not None  # with what the third one took it is enough


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("modifiers", [(), ("FTZ",), ("SAT",), ("FTZ", "SAT")])
@pytest.mark.parametrize("name", ["add", "mul", "fma"])
def test_arithmetic(name, modifiers, mode):
    form = _Modifiers(*modifiers)
    plain = {"add": (add_f32, None), "mul": (mul_f32, np.multiply), "fma": (fused_f32, lambda a, b, c: a * b + c)}
    make, wide = plain[name]
    native = floats._native(name, form.has("FTZ"), form.has("SAT"), mode)
    _hold(native, floats.finished(form, make(mode), wide), 3 if name == "fma" else 2)


@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("name", list(floats.COMPARE))
def test_comparisons(name, ftz):
    compare = floats.COMPARE[name]
    function = (lambda a, b: compare(flush(a), flush(b))) if ftz else compare
    _hold(floats.compare_native(name, ftz), function, 2, tests=True)


@pytest.mark.parametrize(("name", "propagate", "ftz"), list(product(("min", "max"), (False, True), (False, True))))
def test_extremes(name, propagate, ftz):
    ready = flush if ftz else (lambda value: value)
    function = extreme(name, "f32", propagate)
    _hold(floats._extreme_native(name, propagate, ftz), lambda a, b: canonical(function(ready(a), ready(b))), 2)


@pytest.mark.parametrize("name", sorted(special._NATIVE))
def test_special_functions(name):
    _hold(special._NATIVE[name], lambda a: canonical(special._FUNCTIONS[name](a)), 1)


def test_all_special_functions_are_compiled():
    assert set(special._NATIVE) == set(special._FUNCTIONS)


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", ["SIN", "COS"])
def test_multiples_of_an_eighth_of_a_turn(name):
    """The compiled form gives NumPy's bits near them, and both an exact 0 where the sine or cosine is 0."""
    made = LaneFunction(special._NATIVE[name], _PLAIN[:1], np.uint32, False)
    made.compile()
    turns = (np.concatenate([np.arange(-40, 41), 2.0 ** np.arange(6, 40), 1 - 2.0 ** np.arange(6, 23)]) / 8)[:, None]
    turns = (turns * np.array([1, 1 - 2.0**-24, 1 + 2.0**-23])).astype(np.float32)
    wanted = special._FUNCTIONS[name](turns)
    np.testing.assert_array_equal(made.ufunc(turns.view(np.uint32)), wanted.view(np.uint32))
    shift = 0.25 if name == "COS" else 0.0
    np.testing.assert_array_equal(wanted == 0, np.fmod(turns.astype(np.float64) + shift, 0.5) == 0)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_conversions_of_integers(kind, mode):
    convert, dtype = integer_to_float("f32", kind, mode), np.int32 if kind == "s32" else np.uint32
    _hold(conversions._native_from_word(kind == "s32", mode), lambda a: convert(a.view(dtype)), 1)


def test_the_check_of_a_division():
    _hold(special._native_may_go_wrong, special._may_go_wrong, 2, tests=True)


def test_signs_of_operands():
    marks = ((True, True, False), (False, True, False))
    _hold(floats._native("add", False, False), lambda a, b: canonical(-np.abs(a) + -b), 2, marks=marks)


def test_doubles_but_for_nan():
    random = np.random.default_rng(1)
    values = np.concatenate([random.standard_normal(30_000), [0.0, -0.0, 5e-324, 1e308, -1e-300, np.inf]])
    a, b, c = (random.permutation(values) for _ in range(3))
    made = LaneFunction(NATIVE["fma"], _PLAIN, np.uint64, False)
    made.compile()
    with np.errstate(all="ignore"):
        wanted, found = fma_f64(a, b, c), made.ufunc(*(one.view(np.uint64) for one in (a, b, c)))
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found.view(np.float64)), ~number)
    np.testing.assert_array_equal(found[number], wanted.view(np.uint64)[number])


#: Doubles: zeros, the least and greatest ones, NaN of all kinds, and ordinary numbers.
_DOUBLES = np.array(
    [0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, 0xBFF << 52, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF,
     0x7FF << 52, 0xFFF << 52, 0x7FF8000000000000, 0xFFF8000000001234, 0x7FF0000000000001, 0xFFF4000000000009,
     0x4340000000000001, 0x3CA0000000000000, 0x0370000000000000],
    np.uint64,
)  # fmt: skip


def _doubles(count: int) -> tuple[np.ndarray, ...]:
    """All pairs or triples of special values, any bits, and numbers near 1."""
    random = np.random.default_rng(count)
    anything = random.integers(0, 1 << 64, (count, 5000), dtype=np.uint64)
    near = random.integers(0x3FE << 52, 0x401 << 52, (count, 5000), dtype=np.uint64)
    return tuple(np.concatenate([np.array(list(product(_DOUBLES, repeat=count)), np.uint64).T, anything, near], axis=1))


@np.errstate(all="ignore")
@pytest.mark.parametrize(
    ("form", "function", "count"),
    [
        (doubles._native_sum, np.add, 2),
        (doubles._native_product, np.multiply, 2),
        (doubles._native_fused, fma_f64, 3),
        (doubles._native_extreme(True), extreme("max", "f64"), 2),
        (doubles._native_extreme(False), extreme("min", "f64"), 2),
    ],
)
def test_doubles_have_the_bits_of_numpy(form, function, count):
    made = LaneFunction(form, _PLAIN[:count], np.uint64, False)
    made.compile()
    given = _doubles(count)
    wanted = function(*(one.view(np.float64) for one in given))
    np.testing.assert_array_equal(made.ufunc(*given), wanted.view(np.uint64))


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", sorted(floats.COMPARE))
def test_comparisons_of_doubles_are_those_of_numpy(name):
    made = LaneFunction(floats.compare_native(name, False), _PLAIN[:2], np.uint64, True)
    made.compile()
    a, b = _doubles(2)
    wanted = floats.COMPARE[name](a.view(np.float64), b.view(np.float64))
    np.testing.assert_array_equal(made.ufunc(a, b), wanted)


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", ["RCP64H", "RSQ64H"])
def test_reciprocals_of_upper_words_are_those_of_numpy(name):
    made = LaneFunction(special._native_upper(name == "RSQ64H"), _PLAIN[:1], np.uint32, False)
    made.compile()
    words = np.concatenate([(one >> np.uint64(32)).astype(np.uint32) for one in _doubles(2)])
    whole = (words.astype(np.uint64) << np.uint64(32)).view(np.float64)
    wanted = special._UPPER[name](whole)
    np.testing.assert_array_equal(made.ufunc(words), (wanted.view(np.uint64) >> np.uint64(32)).astype(np.uint32))


@np.errstate(all="ignore")
@pytest.mark.parametrize("flushes", [True, False])
def test_conversions_between_floats_are_those_of_numpy(flushes):
    def compiled(native_form, source, result):
        operation = Operation(("d",), "", ("s0",), lambda e, a: e.bits(native_form(e, e.as_float(a))))
        made = NativeFunction([operation], ("s0",), ("d",), {"s0": np.dtype(source), "d": np.dtype(result)}, {}, ["s0"])
        return made.ufunc

    words, longs = np.concatenate(_operands(2)), np.concatenate(_doubles(2))
    ready = flush if flushes else lambda value: value
    wider = ready(words.view(np.float32)).astype(np.float64).view(np.uint64)
    narrower = canonical(ready(longs.view(np.float64).astype(np.float32))).view(np.uint32)
    found = compiled(conversions._native_wider(flushes), np.uint32, np.uint64)(words)
    np.testing.assert_array_equal(found, wider)
    found = compiled(conversions._native_narrower(flushes), np.uint64, np.uint32)(longs)
    np.testing.assert_array_equal(found, narrower)
