"""The bars of fused and separate kernels show the counters, to one scale."""

from __future__ import annotations

from itertools import pairwise

import pytest

from softlab.views.fusing import traffic_bars
from softlab.views.svg import BAND
from tests.views.drawn import marks, words


def counted(read: int, written: int) -> dict[str, int]:
    return {"global_load_sectors": read, "global_store_sectors": written, "instructions": 1}


SEPARATE = {"scale": counted(100, 100), "mask": counted(125, 100), "softmax": counted(100, 90)}
FUSED = counted(125, 91)


@pytest.fixture(scope="module")
def picture() -> str:
    return traffic_bars(FUSED, SEPARATE, title="Traffic <here>")


def test_each_kernel_has_a_piece_for_each_form(picture: str) -> None:
    pieces = marks(picture, form="separate")
    assert [(p["kernel"], p["role"], p["sectors"]) for p in pieces] == [
        ("scale", "load", "100"), ("scale", "store", "100"), ("mask", "load", "125"), ("mask", "store", "100"),
        ("softmax", "load", "100"), ("softmax", "store", "90"),
    ]  # fmt: skip
    assert pieces[2]["tip"] == "mask: 125 sectors read"
    assert [p["sectors"] for p in marks(picture, form="fused")] == ["125", "91"]


def test_one_scale_and_no_gaps(picture: str) -> None:
    pieces = marks(picture, form=None)
    assert len({round(float(p["width"]) / int(p["sectors"]), 2) for p in pieces}) == 1
    for form in ("separate", "fused"):
        row = marks(picture, form=form)
        for left, right in pairwise(row):
            assert float(left["x"]) + float(left["width"]) == pytest.approx(float(right["x"]), abs=0.02)


def test_words(picture: str) -> None:
    shown = words(picture)
    assert shown[0] == "Traffic <here>"
    assert {"separate", "fused", "615", "216", "scale", "mask", "softmax"} <= set(shown)


def test_what_is_written_has_a_band(picture: str) -> None:
    """The colour says that it is global memory, as in every picture; the band that it is written."""
    bands = picture.count(BAND)
    assert bands == len(marks(picture, role="store")) + 1, "one for each piece, and the legend's"
