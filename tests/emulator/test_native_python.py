"""Functions compiled from Python give what Python gives."""

from __future__ import annotations

from math import ceil, exp, inf
from pathlib import Path

import numpy as np
import pytest

from softlab.emulator.machine import native, native_python
from softlab.emulator.machine.native import available
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Floats, Int16s, Int64s, UInt32s

needs_llvm = pytest.mark.skipif(not available(), reason="llvmlite is not installed")
LIMIT = 9
INFINITE = inf
HALF = 0.5


def _plus(numbers: Int64s, i: int) -> int:
    if i < 0:
        return -1
    return numbers[i] + LIMIT


def _mixed(numbers: Int64s, short: Int16s, words: UInt32s, flags: Bytes, count: int) -> int:
    """Every construct of the language."""
    total = 0
    for i in range(count):
        if numbers[i] == 3 or (i > 0 and numbers[i - 1] > 100):
            continue
        short[i] = min(numbers[i], LIMIT) - 20
        words[i] = words[i] + max(numbers[i], -numbers[i])
        flags[i] ^= 255 if not numbers[i] & 1 else 1
        total += _plus(numbers, i) if i % 2 == 0 else short[i]
        left = i
        while left > 0:
            left = left // 2
            total ^= left << 3 | left
            if total > 10_000:
                break
    for i in range(count - 1, -1, -2):
        total += (i * numbers[i] >> 1) - (words[i] % 7) * (flags[i] != 0) + ~i
    if total == 0:
        return 1
    elif _plus(numbers, -1) < 0 or total < 0:
        total -= 1
    return total


@needs_llvm
def test_a_compiled_function_gives_what_python_gives() -> None:
    compiled, random = CompiledFunction(_mixed), np.random.default_rng(5)
    for count in (0, 1, 2, 40):
        made = [random.integers(-150, 150, 40), random.integers(-9, 9, 40).astype(np.int16)]
        made += [random.integers(0, 1 << 32, 40).astype(np.uint32), random.integers(0, 2, 40).astype(np.uint8)]
        other = [array.copy() for array in made]
        with np.errstate(over="ignore"):
            wanted = _mixed(*made, count)
        assert compiled.call(*map(id, other), count) == wanted
        for a, b in zip(made, other, strict=True):
            np.testing.assert_array_equal(a, b)


@needs_llvm
def test_a_function_is_compiled_when_it_is_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_python, "is_stored", lambda key: False)
    compiled = CompiledFunction(_plus)
    assert compiled.ready("all")
    assert not compiled.ready("none")
    asked = sum(not compiled.ready("hot") for _ in range(2000))
    assert 100 < asked < 2000


def _thrice(i: int) -> int:
    return 3 * i + LIMIT


@needs_llvm
def test_machine_code_is_kept_for_later_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "_stored_path", lambda key: tmp_path / key)
    compiled = CompiledFunction(_thrice)
    assert not any(compiled.ready("hot") for _ in range(600))
    assert compiled.call(4) == 12 + LIMIT
    (path,) = tmp_path.iterdir()
    later = CompiledFunction(_thrice)
    assert sum(not later.ready("hot") for _ in range(600)) < 400

    def unwanted() -> str:
        raise AssertionError("it is on the disk")

    compiler = native._Compiler()  # the code lives as long as it
    assert native_python._as_callable(compiler.stored(path.name, unwanted), "thrice")(5) == 15 + LIMIT
    monkeypatch.setitem(_thrice.__globals__, "LIMIT", 10)  # what it reads is another one now
    assert not any(CompiledFunction(_thrice).ready("hot") for _ in range(600))


@needs_llvm
def test_a_call_takes_whole_numbers_as_many_as_there_are_parameters() -> None:
    call = CompiledFunction(_thrice).call
    assert call(np.int64(-3)) == LIMIT - 9  # what has an index is a whole number
    for wrong in ((), (1, 2)):
        with pytest.raises(TypeError, match="bad argument"):
            call(*wrong)
    with pytest.raises(TypeError, match="integer"):
        call("4")
    with pytest.raises(OverflowError):
        call(1 << 63)


@needs_llvm
def test_a_damaged_file_is_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "_stored_path", lambda key: tmp_path / key)
    text = CompiledFunction(_thrice)._text
    native._Compiler().stored("key", text)
    path = tmp_path / "key"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    native._Compiler().stored("key", text)
    assert path.read_bytes() == whole


def _kept(values: Floats, at: int, value: float) -> int:
    values[at] = max(value, values[at]) - HALF
    return at


def _real(values: Floats, numbers: Int64s, count: int) -> int:
    """Floats and whole numbers together."""
    least, total = INFINITE, 0.0
    for i in range(count):
        value, square = values[i], numbers[i] * values[i]
        if value < 0 or numbers[i] in (1, 4):
            values[i] = ceil(-value)
            _kept(values, i, numbers[i])
        least = min(least, value)
        total += square / 3 if value > least else 2 * square - i
        total += exp(-value / 50)
        values[i] += total
    values[count] = least
    return count if total > numbers[0] else -count


@needs_llvm
def test_floats_are_those_of_python_to_the_last_bit() -> None:
    compiled, random = CompiledFunction(_real), np.random.default_rng(6)
    for count in (0, 1, 30):
        values, numbers = random.normal(0, 100, 31), random.integers(-3, 9, 31)
        other = values.copy()
        assert compiled.call(id(other), id(numbers), count) == _real(values, numbers, count)
        np.testing.assert_array_equal(values, other)
