"""Diagram data drawn from hand-made accesses: each lane's word in its bank, each wavefront within the banks' limits."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from softlab.traces import Accesses, Buffer
from softlab.views.banks import MOST_LINES, bank_card, describe_access, total_cost
from softlab.views.diagrams import ranges, short
from softlab.views.sectors import sector_card
from softlab.views.style import ROLES, ink_on


def access(address, *, width=4, store=True, active=None) -> Accesses:
    one = np.ones(1, np.int64)
    mask = np.ones(32, bool) if active is None else np.asarray(active, bool)
    return Accesses(
        line=one * 68,
        instruction=one * 0,
        store=one * store > 0,
        width=one * width,
        block=one * 0,
        warp=one * 3,
        step=one * 0,
        address=np.asarray(address, np.uint64)[None],
        active=mask[None],
    )


def words_drawn(panel) -> dict[tuple[int, int], tuple[int, ...]]:
    """(row, bank) -> lanes, for every column that a cell covers."""
    return {
        (cell["row"], cell["column"] + k): tuple(cell["lanes"]) for cell in panel["cells"] for k in range(cell["span"])
    }


LANE = np.arange(32)


def test_no_conflict_is_one_full_wavefront():
    card = bank_card(access(LANE * 4), 0)
    memory, served = card["panels"]
    assert words_drawn(served) == {(0, lane): (lane,) for lane in range(32)}
    assert words_drawn(memory) == words_drawn(served)
    assert [row["mark"] for row in served["rows"]] == [""]
    assert {cell["role"] for cell in served["cells"]} == {"served"}


def test_two_way_conflict_stands_out():
    card = bank_card(access(LANE * 8), 0)
    memory, served = card["panels"]
    assert [row["mark"] for row in served["rows"]] == ["", "extra"]
    assert words_drawn(served) == {(lane // 16, lane * 2 % 32): (lane,) for lane in range(32)}
    assert [row["label"] for row in memory["rows"]] == ["words 0-31", "words 32-63"]
    late = {lane for cell in served["cells"] if cell["role"] == "conflict" for lane in cell["lanes"]}
    assert late == set(range(16, 32))
    assert any(entry["role"] == "conflict" for entry in card["legend"])


def test_a_wide_access_spans_its_banks():
    card = bank_card(access(LANE * 8, width=8), 0)
    served = card["panels"][1]
    assert {cell["span"] for cell in served["cells"]} == {2}
    assert words_drawn(served) == {(lane // 16, lane * 2 % 32 + k): (lane,) for lane in range(32) for k in (0, 1)}
    assert [row["mark"] for row in served["rows"]] == ["", ""], "two wavefronts are needed for 256 bytes"


def test_a_broadcast_is_one_cell_of_all_lanes():
    served = bank_card(access(LANE * 0, store=False), 0)["panels"][1]
    assert words_drawn(served) == {(0, 0): tuple(range(32))}
    assert served["cells"][0]["text"] == "0-31"


def test_idle_lanes_are_not_drawn():
    active = LANE < 5
    card = bank_card(access(LANE * 4, active=active), 0)
    assert sorted(lane for cell in card["panels"][0]["cells"] for lane in cell["lanes"]) == [0, 1, 2, 3, 4]
    assert "5 lanes" in card["title"]
    assert bank_card(access(LANE * 4, active=LANE < 0), 0)["panels"][1]["rows"] == []


def test_scattered_accesses_draw_no_more_than_the_limit():
    card = bank_card(access(LANE * 16 * 99, width=16), 0)
    memory = card["panels"][0]
    assert len(memory["rows"]) <= MOST_LINES + 1
    assert all(cell["row"] < MOST_LINES for cell in memory["cells"])


def test_every_tip_names_lane_word_bank_and_wavefront():
    served = bank_card(access(LANE * 8), 0)["panels"][1]
    tip = next(cell["tip"] for cell in served["cells"] if cell["lanes"] == [17])
    assert tip.startswith("lane 17 writes word 34 (bytes 136 to 139), bank 2, in wavefront 1")
    assert "bank conflict" in tip


def test_description_of_an_access():
    assert describe_access(access(LANE * 8), 0) == {
        "what": "store", "bytes": 4, "lanes": 32, "wavefronts": 2, "least": 1, "conflicts": 1,
    }  # fmt: skip


def test_costs_of_accesses_of_several_widths_add_up():
    parts = [access(LANE * 8), access(LANE * 8, width=8), access(LANE * 0, store=False), access(LANE * 128)]
    together = Accesses(**{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Accesses)})
    assert total_cost(together) == {"instructions": 4, "wavefronts": 2 + 2 + 1 + 32, "bank_conflicts": 1 + 31}


def test_sectors_count_from_the_start_of_their_array():
    base = 1 << 40
    card = sector_card(access(base + 64 + LANE * 2, width=2, store=False), 0, (Buffer(0, base, 4096, "float16"),))
    panel = card["panels"][0]
    assert [row["label"] for row in panel["rows"]] == ["bytes 0 on"]
    assert words_drawn(panel) == {(0, 16 + pair): (2 * pair, 2 * pair + 1) for pair in range(16)}
    assert "touches 2 sectors (least 2)" in card["title"]


def test_what_comes_along_with_a_sector_is_idle():
    base = 1 << 40
    card = sector_card(access(base + LANE * 8, store=False), 0, (Buffer(0, base, 4096, "float32"),))
    (panel,) = card["panels"]
    drawn = words_drawn(panel)
    assert drawn == {(lane // 16, 2 * lane % 32): (lane,) for lane in range(32)} | {
        (lane // 16, 2 * lane % 32 + 1): () for lane in range(32)
    }
    assert {cell["role"] for cell in panel["cells"] if not cell["lanes"]} == {"idle"}
    assert [(band["columns"], band["text"]) for band in panel["bands"]] == [(8, f"sector {k}") for k in range(4)]
    assert panel["columnLabels"][:3] == ["0", "4", "8"]
    assert card["legend"][-1]["role"] == "idle"


def test_diagrams_are_json():
    for card in (bank_card(access(LANE * 8), 0), sector_card(access(LANE * 8), 0)):
        assert json.loads(json.dumps(card)) == card


def test_ranges():
    assert ranges([]) == ""
    assert ranges([3, 1, 2, 9, 2]) == "1-3, 9"
    assert short(tuple(range(32))) == "0-31"
    assert short((0, 2, 4, 6)) == "\N{MULTIPLICATION SIGN}4"


@pytest.mark.parametrize("role", ROLES)
def test_text_on_every_colour_can_be_read(role):
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    bright, dark = sorted((luminance(ROLES[role]), luminance(ink_on(ROLES[role]))), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 4.5, "WCAG AA"
