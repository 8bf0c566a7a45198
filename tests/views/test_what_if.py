"""What if, drawn and in words."""

from __future__ import annotations

import pytest

from softlab.timing.what_if import WhatIf
from softlab.views.what_if import gain_words, what_if_bars, what_if_sentences
from tests.views.drawn import marks, words
from tests.views.test_estimate_charts import LineTime, made

BASE = made(
    {2: LineTime(2, 1000.0, 1.0, "mio_throttle", None, {"mio_throttle": 800.0, "selected": 200.0})},
    stalls={"mio_throttle": 0.8, "selected": 0.2},
    bound="shared",
)
FASTER = made(
    {2: LineTime(2, 250.0, 1.0, "wait", None, {"wait": 50.0, "selected": 200.0})},
    stalls={"wait": 0.2, "selected": 0.8}, bound="issue", microseconds=4.0,
)  # fmt: skip
FOUND = WhatIf(BASE, {"no bank conflicts": FASTER, "infinite L2": made(microseconds=9.9, stalls={"selected": 1.0})})


def test_bars_are_as_long_as_their_times_and_stacked_by_their_waits():
    bars = {(one["change"], one["group"]): float(one["width"]) for one in marks(what_if_bars(FOUND), change=None)}
    whole = bars["as it is", "issues"] + bars["as it is", "shared memory, shuffles, special functions"]
    assert bars["as it is", "issues"] == pytest.approx(0.2 * whole)
    assert bars["no bank conflicts", "issues"] == pytest.approx(0.8 * 0.4 * whole)
    shown = words(what_if_bars(FOUND))
    assert "2.5 times as fast; bound by issue" in shown
    assert "no change; bound by dram" in shown


def test_the_wait_that_goes_away_is_named():
    assert next(iter(FOUND.removed("no bank conflicts").items())) == ("mio_throttle", 800.0)
    first, second, third = what_if_sentences(FOUND)
    assert first == "As it is: 10.0 us, bound by the wavefronts of shared memory."
    assert second.endswith(
        "2.5 times as fast. What goes away is mostly the wait for a free entry in the queue of shared memory, shuffles "
        "and special functions (mio_throttle)."
    )
    assert third.endswith("no change that the model can tell.")


@pytest.mark.parametrize(
    ("gain", "said"), [(2.54, "2.5 times as fast"), (1.04, "4% faster"), (0.95, "5% slower"), (0.5, "2 times as long")]
)
def test_gains_in_words(gain, said):
    assert gain_words(gain) == said
