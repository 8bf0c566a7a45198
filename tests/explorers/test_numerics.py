"""The numerics explorer: its runs held to NumPy's own float16, float32 and bfloat16, its picture to the run."""

from __future__ import annotations

import math
import re

import ml_dtypes
import numpy as np
import pytest

from softlab.explorers import NumericsExplorer
from softlab.explorers.numerics import FORMATS, MOST_SHIFT, example_row

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}


@pytest.fixture(scope="module")
def explorer() -> NumericsExplorer:
    return NumericsExplorer()


def bars(explorer, kind: str) -> list[float]:
    return [float(value) for value in re.findall(rf'data-{kind}="([^"]*)"', explorer.picture.value)]


@pytest.mark.parametrize("dtype", FORMATS)
def test_formats_are_numpys(dtype):
    info = ml_dtypes.finfo(DTYPES[dtype])
    found = FORMATS[dtype]
    assert (found.largest, found.normal) == (float(info.max), float(info.smallest_normal))
    assert found.smallest == float(info.smallest_subnormal)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("shift", [-110, -20, 0, 8, 12, 90, 120])
def test_exponentials_leave_the_format_where_they_must(explorer, dtype, shift):
    explorer.dtype, explorer.subtract, explorer.shift = dtype, False, shift
    x = (example_row() + shift).astype(DTYPES[dtype]).astype(float)
    largest, smallest = FORMATS[dtype].largest, FORMATS[dtype].smallest
    overflow = [math.exp(v) > largest * 1.01 for v in x]
    fits = [v for v in x if math.exp(v) < largest * 0.99]
    found = explorer.summary
    assert sum(overflow) <= found["overflows"] <= len(x) - len(fits)
    vanish = sum(math.exp(v) < smallest / 4 for v in x)
    assert vanish <= found["zeros"] <= sum(math.exp(v) < 100 * FORMATS[dtype].normal for v in x)
    drawn = bars(explorer, "power")
    assert len(drawn) == len(bars(explorer, "share")) == 32
    assert sum(map(math.isinf, drawn)) == found["overflows"]
    assert drawn.count(0.0) == found["zeros"]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("shift", [-MOST_SHIFT, -3, 0, 40, MOST_SHIFT])
def test_with_the_maximum_taken_away_nothing_is_lost(explorer, dtype, shift):
    explorer.dtype, explorer.subtract, explorer.shift = dtype, True, shift
    found = explorer.summary
    assert (found["overflows"], found["zeros"], found["nan"]) == (0, 0, 0)
    assert 1 <= found["sum"] <= 32
    assert found["error"] < {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6}[dtype]
    assert found["total"] == pytest.approx(1, abs=32 * found["error"])


def test_the_quiet_failure(explorer):
    """No exponential is infinite and no share is NaN, but the sum overflows."""
    explorer.dtype, explorer.subtract, explorer.shift = "float16", False, 8
    found = explorer.summary
    assert (found["overflows"], found["nan"], found["total"]) == (0, 0, 0.0)
    assert math.isinf(found["sum"])
    assert found["error"] == 1.0


def test_controls_and_traits_go_together(explorer):
    explorer.shift_slider.value = 7
    assert explorer.shift == 7
    explorer.shift = 999
    assert (explorer.shift, explorer.shift_slider.value) == (MOST_SHIFT, MOST_SHIFT)
    explorer.dtype_buttons.value = "float32"
    explorer.subtract_buttons.value = False
    assert "32 of 32 shares are NaN" in explorer.message.value
    assert 'data-power="inf"' in explorer.picture.value
    assert ">inf<" in explorer.picture.value, "colour is never the only sign"
    explorer.subtract = True
    assert explorer.subtract_buttons.value is True
    assert "in the emulator" in explorer.message.value
    assert repr(explorer) == "NumericsExplorer(dtype='float32', shift=120, subtract=True)"
