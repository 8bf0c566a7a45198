"""An estimate in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.timing.estimates import BOUNDS, Estimate, LineTime
from softlab.timing.stalls import REASONS
from softlab.views.estimates import BOUND_WORDS, STALL_WORDS, duration, estimate_sentences

SOURCE = "__global__ void k(float* x) {\n  float v = x[0];\n  x[1] = v * v;\n}\n"


def made(**fields) -> Estimate:
    lines = {
        1: LineTime(1, 20.0, 0.02, "imc_miss", None),
        2: LineTime(2, 180.0, 0.18, "wait", None),
        3: LineTime(3, 800.0, 0.8, "long_scoreboard", 2),
    }
    given = {
        "kernel": "k", "device": "H200", "cache": "cold", "grid": (132, 1, 1), "block": (64, 1, 1),
        "microseconds": 12.34, "cycles": 22000.0, "launch_microseconds": 1.2, "bound": "dram",
        "stalls": {"long_scoreboard": 0.8, "selected": 0.2}, "use": {"dram": 0.9, "fma": 0.1, "l2": 0.5},
        "occupancy": 0.5, "dram_bytes": 1e6, "l1_hit_rate": 0.0, "l2_hit_rate": 0.25, "instructions": 1e5,
        "blocks": 2, "validated": "not validated: no launch", "notes": ("blocks differ",), "_lines": lines,
    }  # fmt: skip
    return Estimate(**{**given, **fields})


def test_the_sentences():
    assert estimate_sentences(made(), SOURCE) == (
        "Estimated 12.3 us on an H200 with a cold L2 cache, bound by the bandwidth of DRAM.",
        "Line 3 (x[1] = v * v;) takes 80% of a warp's time: mostly a wait for L1, L2 or DRAM (long_scoreboard), for "
        "the result of line 2.",
        "Not validated: no launch.",
        "Note: blocks differ.",
    )


def test_a_line_without_a_wait_and_no_lines():
    alone = {2: LineTime(2, 9.0, 1.0, "", None)}
    assert estimate_sentences(made(_lines=alone))[1] == (
        "Line 2 takes 100% of a warp's time: its instructions issue without a wait."
    )
    assert len(estimate_sentences(replace(made(), _lines={}, notes=()))) == 2


def test_every_bound_and_reason_has_words():
    assert set(BOUND_WORDS) == set(BOUNDS)
    assert set(STALL_WORDS) == set(REASONS) - {"selected"}


@pytest.mark.parametrize(
    ("microseconds", "text"), [(2.345, "2.3 us"), (99.94, "99.9 us"), (456.7, "457 us"), (1234.5, "1.23 ms")]
)
def test_durations(microseconds, text):
    assert duration(microseconds) == text
