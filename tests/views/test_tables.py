"""Tables and charts of plans and counters say what the records hold, and nothing else."""

from __future__ import annotations

import re

from softlab.traces import COUNTERS
from softlab.views.counters import COUNTED, MEANING, counter_bars, counters_table
from softlab.views.style import ROLES
from softlab.views.tables import code, shown, table


def cells(html: str) -> list[list[str]]:
    return [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", html, re.S)]


def test_text_is_escaped():
    assert cells(table(["a"], [["<b> & co"]]))[1] == ["&lt;b&gt; &amp; co"]
    assert "st.shared [%rd1], {%f1};" in code("st.shared [%rd1], {%f1};")
    assert "&lt;script&gt;" in code("<script>")


def test_values_are_shown_as_readers_want_them():
    assert shown(1234567) == "1\u202f234\u202f567"
    assert shown(True) == "yes"
    assert shown((128, 1)) == "128, 1"
    assert shown({"warps": 64, "fits": False}) == "warps 64, fits no"


def test_every_counter_is_explained():
    assert set(MEANING) == set(COUNTERS)


def counters(conflicts: int) -> dict[str, int]:
    return {name: 10 * number for number, name in enumerate(COUNTERS)} | {"bank_conflicts": conflicts}


def test_counters_of_two_runs_side_by_side():
    html = counters_table({"column": counters(0), "row_scalar": counters(8)})
    rows = cells(html)[1:]
    assert [row[0] for row in rows] == list(COUNTERS)
    assert rows[0][1:3] == ["0", "0"]
    assert rows[COUNTERS.index("bank_conflicts")][1:3] == ["0", "8"]
    assert html.count("box-shadow") == 1, "only the conflicts above zero are highlighted"


def test_bars_hold_the_counters():
    names = ("shared_store_wavefronts", "bank_conflicts")
    figure = counter_bars({"column": counters(0), "row": counters(3)}, names, title="t")
    assert [bar.name for bar in figure.data] == ["column", "row"]
    assert list(figure.data[1].y) == [counters(3)[name] for name in names]
    assert figure.layout.yaxis.title.text == "count per warp"
    assert [note.text for note in figure.layout.annotations] == [COUNTED], "a picture says where it is from"


def test_what_a_mark_means_is_seen_in_its_colour():
    conflict, choice = (table(["a"], [[1]], marked=[(0, 0)], mark=mark) for mark in ("conflict", "choice"))
    assert ROLES["conflict"] in conflict
    assert ROLES["choice"] in choice
    assert ROLES["conflict"] not in choice
    assert "box-shadow" not in table(["a"], [[1]])
