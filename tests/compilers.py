"""LLVM's compiler as a new process has it."""

from __future__ import annotations

from functools import cache

import pytest

from softlab.emulator.machine import native

#: Those of former tests. Functions that they compiled are shared by all tests, and their machine code has to stay.
_KEPT: list[native._Compiler] = []


def another_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on in this test code is compiled as in a process that has compiled nothing yet."""

    def made() -> native._Compiler:
        _KEPT.append(native._Compiler())
        return _KEPT[-1]

    monkeypatch.setattr(native, "_only_compiler", cache(made))
