"""The pictures of an estimate: bars as long as their cycles, points where their operations and bytes put them."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import softlab
from softlab.timing.estimates import Estimate, LineTime
from softlab.timing.stalls import REASONS
from softlab.views.estimates import GROUPS, MOST_LINES, stall_bars
from softlab.views.roofline import roofline
from tests.views.drawn import marks, words

SOURCE = "__global__ void k(float* x) {\n  float v = x[0] < 1 ? x[0] : 1;\n  x[1] = v * v;\n}\n"


def made(lines: dict[int, LineTime] | None = None, **fields) -> Estimate:
    if lines is None:
        lines = {
            2: LineTime(2, 200.0, 0.2, "wait", None, {"selected": 50.0, "wait": 150.0}),
            3: LineTime(3, 800.0, 0.8, "long_scoreboard", 2, {"long_scoreboard": 600.0, "lg_throttle": 200.0}),
        }
    given = {
        "kernel": "k<float>", "device": "H200", "cache": "cold", "grid": (132, 1, 1), "block": (64, 1, 1),
        "microseconds": 10.0, "cycles": 18000.0, "launch_microseconds": 1.0, "bound": "dram", "stalls": {}, "use": {},
        "occupancy": 0.5, "dram_bytes": 1e6, "l1_hit_rate": 0.0, "l2_hit_rate": 0.0, "instructions": 1e5,
        "blocks": 2, "validated": "not validated", "fp32_operations": 5e5, "_lines": lines,
    }  # fmt: skip
    return Estimate(**{**given, **fields})


def test_bars_are_as_long_as_their_cycles():
    bars = marks(stall_bars(made(), SOURCE), line=None)
    lengths = {(bar["line"], bar["group"]): float(bar["width"]) for bar in bars}
    assert set(lengths) == {("2", "issues"), ("2", "fixed latency"), ("3", "L1, L2, DRAM")}
    assert lengths["2", "fixed latency"] == pytest.approx(3 * lengths["2", "issues"])
    assert lengths["3", "L1, L2, DRAM"] == pytest.approx(800 / 50 * lengths["2", "issues"])
    (loads,) = (bar["tip"] for bar in bars if bar["line"] == "3")
    assert loads == "line 3, L1, L2, DRAM: long_scoreboard 600, lg_throttle 200 of 800 cycles"


def test_the_source_and_the_first_reason_stand_beside_the_bars():
    shown = words(stall_bars(made(), SOURCE))
    assert "float v = x[0] < 1 ? x[0] : 1;" in shown
    assert "80% long_scoreboard, line 2" in shown
    assert "barrier" not in shown


def test_of_many_lines_the_costliest_are_shown_in_order():
    lines = {n: LineTime(n, float(n), n / 820, "wait", None, {"wait": float(n)}) for n in range(1, 41)}
    picture = stall_bars(made(lines), "")
    assert [int(bar["line"]) for bar in marks(picture, line=None)] == list(range(11, 11 + MOST_LINES))
    assert "and 10 more lines with 6.7% of the cycles" in words(picture)


def test_no_lines():
    assert ElementTree.fromstring(stall_bars(made({}), "")) is not None


def test_every_state_belongs_to_one_group():
    assert sorted(name for _, names in GROUPS.values() for name in names) == sorted(REASONS)


def test_a_point_is_where_its_operations_and_bytes_put_it():
    figure = roofline({"mine": made()})
    point = next(trace for trace in figure.data if trace.mode == "markers")
    assert (point.x[0], point.y[0]) == pytest.approx((0.5, 5e5 / 10e-6 / 1e9))
    assert point.name == "mine: 10.0 us, bound by dram"
    assert figure.layout.yaxis.title.text == "GFLOP/s"
    (low, high), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert low < np.log10(0.5) < high
    assert bottom < np.log10(50) < top


def test_the_roofs_of_an_h200():
    """128 lanes of 132 SMs with two operations at 1980 MHz; the slopes meet the flat roof."""
    dram, l2, flat = roofline({"mine": made()}).data[:3]
    assert flat.y[0] == pytest.approx(2 * 128 * 132 * 1.98, rel=0.01)
    assert dram.y[-1] == pytest.approx(flat.y[0])
    assert l2.y[-1] == pytest.approx(flat.y[0])
    assert 3500 < dram.y[0] / dram.x[0] < 4900  # GB/s
    assert l2.y[0] / l2.x[0] > dram.y[0] / dram.x[0]


def test_without_fp32_operations_it_counts_instructions():
    figure = roofline({"mine": made(), "copy": made(fp32_operations=0.0)})
    assert figure.layout.yaxis.title.text == "1e9 warp instructions/s"
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [point.x[0] for point in points] == pytest.approx([0.1, 0.1])


def test_a_kernel_without_bytes_of_dram_is_a_line():
    figure = roofline({"mine": made(dram_bytes=0.0)})
    (line,) = (trace for trace in figure.data if trace.name == "mine: no bytes of DRAM")
    assert list(line.y) == pytest.approx([50.0, 50.0])


def test_a_roofline_is_that_of_one_device():
    with pytest.raises(ValueError, match="one device"):
        roofline({"a": made(), "b": made(device="H100")})
    with pytest.raises(ValueError, match="one device"):
        roofline({})


def test_what_the_pictures_take_from_an_estimate():
    """FP32 operations of active lanes alone; the states of a line add up to its cycles."""
    kernel = softlab.Kernel(
        'extern "C" __global__ void k(float* x, float a) {\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (threadIdx.x < 48) x[i] = (x[i] * a + 1.0f) * (a + x[i]);\n}",
        "k",
    )
    found = kernel.estimate(200, 64, (np.zeros(12800, np.float32), 2.0))
    assert found.fp32_operations == 200 * 48 * 4
    for one in found.by_line().values():
        assert sum(one.states.values()) == pytest.approx(one.cycles)
        stalls = {"": 0.0} | {name: value for name, value in one.states.items() if name != "selected"}
        assert one.reason == max(stalls, key=stalls.__getitem__)


def test_ticks_are_numbers_in_full():
    axis = roofline({"mine": made()}).layout.yaxis
    assert list(axis.ticktext) == [f"{value:,.10g}".replace(",", "\u202f") for value in axis.tickvals]
    assert "1\u202f000" in axis.ticktext
    assert all(low < high for low, high in pairwise(axis.tickvals))
    assert len(axis.tickvals) <= 12
