"""Two runs side by side: totals, lines, results, and what could not be compared."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import softlab
from softlab.workbench.comparison import array_comparison
from tests.workbench.kernels import TRANSPOSE
from tests.workbench.test_advice import kernel


def test_padding_beside_none() -> None:
    x = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    y, z = np.zeros_like(x), np.zeros_like(x)
    old, new = (kernel(f"transpose{w}").run((4, 4), (32, 8), (x, out, 128)) for w, out in ((32, y), (33, z)))
    found = softlab.compare(old, new)
    assert found.totals["bank_conflicts"] == (15872, 0)
    assert found.facts["shared memory per block"] == (4096, 4224)
    assert found.same_results is True
    (line,) = [one for one in found.lines if "bank_conflicts" in one.counters]
    assert (line.old_line, line.new_line, line.counters["bank_conflicts"]) == (8, 8, (15872, 0))
    assert found.estimates is not None
    assert found.estimates[1].microseconds < found.estimates[0].microseconds
    text = repr(found)
    assert "equal, bit for bit" in text
    assert "15872, then 0" in text
    assert len(text.splitlines()) <= 25
    page = found._repr_html_()
    assert "What changed" in page
    assert "conflicts" in page


def test_lines_are_aligned_as_a_diff_does() -> None:
    shifted = TRANSPOSE.format(width=32).replace("  int col", "  // a comment\n  int col")
    x = np.zeros((32, 32), np.float32)
    runs = [
        one.run(1, (32, 8), (x, np.zeros_like(x), 32))
        for one in (kernel("transpose32"), softlab.Kernel(shifted, "transpose"))
    ]
    found = softlab.compare(*runs, device=None)
    assert [(one.old_line, one.new_line) for one in found.lines if one.old_line in (5, 8)] == [(5, 6), (8, 9)]
    assert all(old == new for one in found.lines for old, new in one.counters.values())
    assert found.estimates is None
    assert not found.changed_totals()
    assert "No counter changed" in repr(found)


@pytest.mark.usefixtures("nothing_before_is_collected")
def test_what_was_not_compared_is_said() -> None:
    x = np.zeros((32, 32), np.float32)
    y = np.zeros_like(x)
    runs = [kernel("transpose32").run(1, (32, 8), (x, y, 32)) for _ in range(2)]
    found = softlab.compare(*runs, device=None)
    assert found.same_results is None
    assert "Argument 1 was not compared: both runs had the same array" in repr(found)
    del y
    gc.collect()
    assert "the array is gone" in repr(softlab.compare(*runs, device=None))
    given = softlab.compare(*runs, device=None, results=([x], [x + 1]))
    assert given.same_results is False
    assert given.arrays[0].different == x.size


def test_how_arrays_differ() -> None:
    a = np.array([1, 2, 3, np.nan], np.float32)
    b = np.array([1, 2.5, 3, np.nan], np.float32)
    found = array_comparison(0, a, b)
    assert (found.different, found.size, found.largest, found.at) == (1, 4, 0.5, (1,))
    assert array_comparison(0, a, a.copy()).different == 0
    assert "not alike" in array_comparison(0, a, b.astype(np.float64)).note
    assert array_comparison(0, np.float32([0.0]), np.float32([-0.0])).different == 1


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(TypeError, match="takes two runs or traces"):
        softlab.compare(1, 2)  # type: ignore[arg-type]
