"""The kernels that wait and publish: none has a race, with blocks of two batches, in both ways of running."""

from __future__ import annotations

import re

import pytest

from softlab.bench import waits
from softlab.emulator.machine.native import available

WAYS = ["none", pytest.param("all", marks=pytest.mark.skipif(not available(), reason="llvmlite is not installed"))]


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("name", waits.KERNELS)
def test_no_kernel_has_a_finding(name: str, compiled: str) -> None:
    blocks = 4 if waits.KERNELS[name].cooperative else 70
    run = waits.KERNELS[name].launch(name, blocks)
    assert run(check="collect", compiled=compiled).findings == ()


def test_a_row_says_how_many_times_as_long_as_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "_REPEATS", 1)
    assert re.fullmatch(r"\| look_back \| 2 \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", waits.row("look_back", 2))
