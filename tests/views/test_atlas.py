"""The atlas' pictures: bars in proportion on their axis, curves through their points, Little's law where it bends."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from softlab.hardware import atlas
from softlab.hardware.atlas import Atlas
from softlab.views.atlas import LADDER, latency_ladder, littles_law


def made(**rows: float) -> Atlas:
    listed = [
        {"key": key.replace("__", "."), "family": "x", "unit": "cycles", "value": value, "spread": 0.0}
        for key, value in rows.items()
    ]
    record = {"device": "GPU & co", "date": "2026-11-22", "command": "c", "method": "m", "versions": {"driver": "1"}}
    return atlas.parse({**record, "clocks": {}, "rows": listed, "failed": []})


@pytest.fixture
def some() -> Atlas:
    curve = {f"bandwidth__DRAM__read__{n}": value for n, value in ((512, 100.0), (4096, 800.0), (65536, 2000.0))}
    return made(latency__FFMA=4.0, latency__LDS=16.0, latency__DRAM=256.0, **curve)


def groups(text: str, name: str) -> dict[str, ElementTree.Element]:
    return {g.get(name, ""): g for g in ElementTree.fromstring(text).iter("g") if g.get(name) is not None}


def test_bars_are_logarithms_of_their_cycles(some: Atlas) -> None:
    bars = groups(latency_ladder(some), "data-key")
    widths = {key: float(g.find("rect").get("width")) for key, g in bars.items()}  # type: ignore[union-attr,arg-type]
    assert widths["latency.LDS"] / widths["latency.DRAM"] == pytest.approx(math.log(16) / math.log(256), abs=1e-3)
    assert set(widths) == {"latency.FFMA", "latency.LDS", "latency.DRAM"}


def test_what_was_not_measured_is_named(some: Atlas) -> None:
    words = ElementTree.fromstring(latency_ladder(some)).itertext()
    said = next(word for word in words if word.startswith("Not measured"))
    listed = said.removeprefix("Not measured: ").removesuffix(".")
    assert listed == ", ".join(name for key, name in LADDER if key not in some)


def test_little_needs_latency_times_bandwidth(some: Atlas) -> None:
    """2000 bytes per cycle at 256 cycles: 512 000 bytes in flight, on 132 SMs."""
    laws = groups(littles_law(some), "data-law")
    assert float(laws["bandwidth.DRAM.read"].get("data-knee", "")) == pytest.approx(2000 * 256 / 132, abs=1)


def test_a_curve_goes_through_its_points(some: Atlas) -> None:
    curve = groups(littles_law(some), "data-curve")["bandwidth.DRAM.read"].find("polyline")
    assert curve is not None
    (x1, y1), (x2, y2), (x3, y3) = [map(float, pair.split(",")) for pair in curve.get("points", "").split()]
    assert (x2 - x1) / (x3 - x1) == pytest.approx(math.log(8) / math.log(128), abs=1e-3)
    assert (y1 - y2) / (y1 - y3) == pytest.approx(math.log(8) / math.log(20), abs=1e-3)


def test_an_atlas_without_curves_says_so() -> None:
    assert "no curve" in littles_law(made(latency__DRAM=256.0))


def test_a_mark_beyond_the_axis_stays_in_the_picture(some: Atlas) -> None:
    lines = list(ElementTree.fromstring(littles_law(some, here=1e9)).iter("line"))
    assert all(0 <= float(line.get("x1", "")) <= 860 for line in lines)
