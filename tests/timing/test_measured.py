"""Figures from an atlas by hand."""

from __future__ import annotations

import pytest

from softlab.hardware.atlas import Atlas, Row
from softlab.hardware.devices import resolve
from softlab.timing.measured import with_atlas
from softlab.timing.parameters import Parameters, interpolated, parameters


def atlas(**rows: float) -> Atlas:
    named = {
        key.replace("__", "."): Row(key.replace("__", "."), "", "cycles", value, 0.0) for key, value in rows.items()
    }
    return Atlas("H200", "", "", "", {}, {}, named, {})


def given() -> Parameters:
    return Parameters("H200", provisional={"all": "none", "l1_latency": "probe", "l2_bytes": "assumed"})


def test_a_measured_row_takes_the_place_of_a_provisional_one():
    found = with_atlas(given(), atlas(latency__L1=33.4, interval__IMAD__warps__8=2.02, interval__IMAD__warps__1=4.1))
    assert found.l1_latency == 33.4
    assert found.interval["IMAD"] == 2.0
    assert found.atlas
    assert set(found.provisional) == {"l2_bytes"}


def test_a_barrier_has_a_latency_and_a_step_per_warp():
    found = with_atlas(given(), atlas(**{f"latency__BAR__SYNC__{n}": 18.0 + 1.5 * (n - 1) for n in (1, 2, 8, 32)}))
    assert found.barrier_latency == pytest.approx(18)
    assert found.barrier_stagger == pytest.approx(1.5)


def test_the_loaded_latency_follows_from_the_bytes_in_flight():
    # 600 cycles when idle, 750 at 80 % of the peak: bytes in flight per SM = rate * cycles / 132.
    curve = {200.0: 600.0, 1600.0: 750.0, 2000.0: 1200.0}
    rows = {f"bandwidth__DRAM__read__{round(rate * t / 132)}": rate for rate, t in curve.items()}
    rows |= {"bandwidth__DRAM__copy__8192": 1900.0}
    found = with_atlas(given(), atlas(**rows))
    assert found.dram_bytes == 2000
    assert interpolated(found.loaded, 0.8) == pytest.approx(150, abs=2)
    assert interpolated(found.loaded, 1.0) == pytest.approx(150, abs=2)
    assert found.dram_write == pytest.approx(2 * 2000 / 1900 - 1)


def test_every_figure_without_an_atlas_has_a_source():
    found = parameters(resolve("H200"))
    assert found.atlas or {"l2_near", "dram_latency", "block_intervals"} <= set(found.provisional)
    with pytest.raises(ValueError, match=r"9\.0"):
        parameters(resolve("A100"))
