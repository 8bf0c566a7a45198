"""Pairs of halves take both halves of the pipe of FFMA, and HFMA2.MMA runs beside them, as the atlas has measured."""

from __future__ import annotations

import pytest

from softlab.hardware.atlas import load
from softlab.timing.program import Pipe
from tests.timing.hand_made import row, run

ATLAS = load("H200")
#: Pipe and interval of an instruction.
CLASSES = {
    "HADD2": (Pipe.FMA, 2.0),
    "HFMA2.MMA": (Pipe.TENSOR, 2.0),
    "FFMA": (Pipe.FMA, 1.0),
    "IMAD": (Pipe.FMA_HEAVY, 2.0),
    "LOP3": (Pipe.ALU, 2.0),
}


@pytest.mark.parametrize(("pair", "tolerance"), [
    ("HADD2+FFMA", 0.06), ("HADD2+IMAD", 0.02), ("HADD2+LOP3", 0.02), ("HFMA2.MMA+HADD2", 0.02),
    ("HFMA2.MMA+LOP3", 0.03),
])  # fmt: skip
def test_two_classes_in_turn_take_what_the_atlas_has_measured(pair: str, tolerance: float) -> None:
    rows = [row(CLASSES[name][0], interval=CLASSES[name][1]) for name in pair.split("+")]
    cycles = [run(rows, warps=32, repeat=repeat)[0].cycles for repeat in (50, 150)]
    per_scheduler = (cycles[1] - cycles[0]) / (100 * 8)
    assert per_scheduler == pytest.approx(ATLAS[f"interval.mixed.{pair}"], rel=tolerance)
