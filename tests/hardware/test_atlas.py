"""The atlas: its rows by key, its curves, and errors that help."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.hardware import atlas
from softlab.hardware.atlas import Atlas

RECORD = {
    "device": "NVIDIA H200",
    "date": "2026-11-22",
    "command": "python -m softlab.bench.record.atlas",
    "method": "each figure twice",
    "versions": {"driver": "580"},
    "clocks": {"SM": 1980.0},
    "rows": [
        {"key": "latency.IMAD", "family": "integer", "unit": "cycles", "value": 4.0, "spread": 0.0, "sass": "IMAD"},
        *(
            {"key": f"bandwidth.L1.{n}", "family": "memory", "unit": "bytes/cycle", "value": v, "spread": 0.5}
            for n, v in ((4096, 100.0), (512, 30.0))
        ),
        {"key": "bandwidth.L1.128.note", "family": "memory", "unit": "bytes/cycle", "value": 7.0, "spread": 0.5},
    ],
    "failed": [{"key": "latency.DADD", "error": "the driver refused"}],
}


@pytest.fixture
def parsed() -> Atlas:
    return atlas.parse(RECORD)


def test_a_row_by_its_key(parsed: Atlas) -> None:
    assert parsed["latency.IMAD"] == 4.0
    assert parsed.row("latency.IMAD").sass == "IMAD"
    assert "latency.IMAD" in parsed
    assert "latency.DADD" not in parsed
    assert parsed.get("latency.DADD", 8.0) == 8.0
    assert parsed.get("latency.IMAD", 8.0) == 4.0


def test_a_curve_is_in_order_of_its_numbers(parsed: Atlas) -> None:
    at, values = parsed.series("bandwidth.L1")
    np.testing.assert_array_equal(at, [512, 4096])
    np.testing.assert_array_equal(values, [30, 100])
    with pytest.raises(KeyError, match=r"no curve 'bandwidth\.L3'"):
        parsed.series("bandwidth.L3")


def test_an_unknown_key_names_those_like_it(parsed: Atlas) -> None:
    with pytest.raises(KeyError, match=r"no row 'latency\.IMD'; like it: latency\.IMAD"):
        parsed["latency.IMD"]
    with pytest.raises(KeyError, match=r"could not measure 'latency\.DADD': the driver refused"):
        parsed["latency.DADD"]


def test_a_device_without_an_atlas_says_which_have_one() -> None:
    with pytest.raises(ValueError, match="no atlas of V100; there are: "):
        atlas.load("V100")
    with pytest.raises(ValueError, match="unknown"):
        atlas.load("no such GPU")
