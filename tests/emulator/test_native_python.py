"""Functions compiled from Python give what Python gives."""

from __future__ import annotations

import os
import subprocess
import sys
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
def test_a_function_is_compiled_when_it_is_hot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native_python, "is_stored", lambda key: False)
    compiled = CompiledFunction(_plus)
    assert compiled.ready("all")
    assert not compiled.ready("none")
    asked = sum(not compiled.ready("hot") for _ in range(2000))
    assert 100 < asked < 2000


@needs_llvm
def test_a_function_that_processes_before_asked_for_is_compiled_sooner(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native_python, "started", lambda: True)
    asked = []
    for _ in range(4):
        compiled = CompiledFunction(_plus)
        asked.append(sum(not compiled.ready("hot") for _ in range(600)))
    # A process tells what it has asked when that has doubled: 320 times of 600 here, where it begins with 5.
    assert asked[:2] == [600, 600]
    assert 300 < asked[2] < 400
    assert asked[3] < 100


@needs_llvm
def test_llvm_is_started_when_all_functions_together_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_python, "is_stored", lambda key: True)
    monkeypatch.setattr(native_python, "started", lambda: False)
    monkeypatch.setattr(CompiledFunction, "_asked_of_all", 0.0)
    one, other, rare = (CompiledFunction(_plus) for _ in range(3))
    for _ in range(10):
        assert not one.ready("hot", 14.0)
        assert not other.ready("hot", 14.0)  # 280 together
    assert not rare.ready("hot", 3.0)
    assert one.ready("hot", 20.0)
    assert other.ready("hot")
    assert not rare.ready("hot", 0.5)  # it is not worth reading yet
    assert rare.ready("hot")


def _thrice(i: int) -> int:
    return 3 * i + LIMIT


@needs_llvm
def test_machine_code_is_kept_for_later_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled = CompiledFunction(_thrice)
    assert not any(compiled.ready("hot") for _ in range(600))
    assert compiled.call(4) == 12 + LIMIT
    (path,) = tmp_path.rglob("*.txt")
    later = CompiledFunction(_thrice)
    assert sum(not later.ready("hot") for _ in range(600)) < 400

    def unwanted() -> str:
        raise AssertionError("it is on the disk")

    compiler = native._Compiler()  # the code lives as long as it
    assert native_python.callable_at(compiler.stored(path.stem, unwanted), "thrice")(5) == 15 + LIMIT
    monkeypatch.setitem(_thrice.__globals__, "LIMIT", 10)  # what it reads is another one now
    assert not any(CompiledFunction(_thrice).ready("hot") for _ in range(600))


def test_machine_code_is_that_of_this_function_alone() -> None:
    text = (
        "LIMIT = 3\ndef helper(a: int) -> int:\n    return a + LIMIT\ndef f(a: int) -> int:\n    return helper(a) * 2\n"
    )
    others = ("LIMIT = 4", "a - LIMIT", "helper(a) * 3", "f(a: float)", "def f(a: int) -> int:\n    a += 1")
    parts = ("LIMIT = 3", "a + LIMIT", "helper(a) * 2", "f(a: int)", "def f(a: int) -> int:")

    def key(text: str) -> str:
        names: dict = {}
        exec("from __future__ import annotations\n" + text, names)
        return CompiledFunction(names["f"])._key

    keys = [key(text.replace(part, other)) for part, other in zip(parts, others, strict=True)]
    assert len({key(text), *keys}) == 1 + len(parts)
    assert key(text) == key("# a comment\n\n" + text)


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


#: Threads that compile different functions of one form, beginning with the compiler itself.
_TOGETHER = """
import ctypes, sys, threading
from softlab.emulator.machine import native

TEXT = 'define i64 @"loop"(i64 %"x") {{\\n  %"y" = add i64 %"x", {0}\\n  ret i64 %"y"\\n}}\\n'
sys.setswitchinterval(1e-5)
wrong, start = [], threading.Barrier(4)

def work(thread):
    start.wait()
    for number in range(100 * thread, 100 * thread + 10):
        address = native.compiled_function(TEXT.format(number))
        found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(1)
        if found != number + 1:
            wrong.append((number, found))

threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(wrong)
"""
#: A process whose modules end before a compiled function of Python does.
_ENDS = """
import sys
from softlab.emulator.machine import native_python
from tests.emulator.test_native_python import _plus
sys.kept = [native_python.CompiledFunction(_plus).call for _ in range(100)]
print([])
"""


@needs_llvm
@pytest.mark.parametrize("script", [_TOGETHER, _ENDS], ids=["threads that compile at once", "the end of the process"])
def test_nothing_is_freed_that_somebody_still_calls(script: str) -> None:
    """Freed memory is overwritten in this process (glibc)."""
    environment = os.environ | {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    command = [sys.executable, "-X", "faulthandler", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
