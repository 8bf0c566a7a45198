"""The states of the site: what the pages show is what Python shows."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from softlab.explorers import BandwidthExplorer, CacheExplorer, LittlesLawExplorer, RowExplorer
from softlab.site.grids import ALL, GRIDS, Grid
from softlab.site.packing import Nodes, decoded, key_of, packed, unpacked
from softlab.site.scenes import plain, snapshot_of
from softlab.site.stores import MOST_CHARACTERS, Lone, files_of, shared, store_of
from softlab.site.sweeps import put, swept

#: Two explorers whose pictures need no run, on a part of their grids.
CASES = [
    (LittlesLawExplorer, Grid({"warps": (1, 16, 64), "loads": (1, 4), "bytes": ALL, "memory": ALL},
                              ({"warps": (1, 16, 64), "loads": (1, 4), "bytes": ALL, "memory": ALL},))),
    (CacheExplorer, Grid({"cols": ALL, "block_size": ALL, "blocks": ALL}, ({"block_size": ALL, "blocks": ALL},))),
]  # fmt: skip


def loaded(files: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a page reads from the files of a store: what all states share, and the states."""
    texts = {name: re.findall(r'"([A-Za-z0-9+/=]{9,})"\);', text)[0] for name, text in files.items()}
    about = unpacked(texts.pop("store.js"))
    states: dict[str, Any] = {}
    for text in texts.values():
        chunk = unpacked(text)
        for key, refs in chunk["states"].items():
            states[key] = {
                tuple(slot): decoded(chunk["nodes"], ref) for slot, ref in zip(about["slots"], refs, strict=True)
            }
    return about, states


def shown(about: dict[str, Any], state: dict[tuple[int, str], Any]) -> dict[tuple[int, str], Any]:
    fixed = {(int(where.split()[0]), where.split()[1]): value for where, value in about["fixed"].items()}
    return {slot: value for slot, value in (fixed | state).items() if slot[1] != "stops" and value is not None}


@pytest.mark.parametrize(("cls", "grid"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_random_states_are_those_of_python(cls, grid):
    about, states = loaded(files_of("case", swept(cls(), grid, ())))
    chosen = random.Random(0).sample(sorted(states), 8)
    for key in chosen:
        fresh = cls()
        put(fresh, dict(zip(grid.traits, json.loads(key), strict=True)))
        python = {slot: value for slot, value in snapshot_of(fresh.widget).items() if value is not None}
        assert shown(about, states[key]) == python, key
    assert (
        len({packed(shown(about, states[key])[max(about["slots"]) and tuple(about["slots"][-1])]) for key in chosen})
        > 1
    )


def test_each_control_moves_from_a_start():
    grid = Grid({"warps": (1, 2), "loads": (1, 2), "bytes": ALL, "memory": ALL})
    found = swept(LittlesLawExplorer(), grid, [{"warps": 40, "loads": 3, "bytes": 16, "memory": "L2"}])
    assert key_of([40, 3, 16, "L2"]) in found.states
    assert key_of([1, 3, 16, "L2"]) in found.states
    assert key_of([1, 2, 16, "L2"]) not in found.states, "one control at a time"


def test_a_value_that_the_explorer_does_not_take_leads_to_the_one_that_it_took():
    found = swept(CacheExplorer(), Grid({"cols": (12_288, 13_000)}), ())
    assert found.at[key_of([13_000])] == key_of([12_288])


def test_a_set_of_switches_is_one_trait():
    found = swept(BandwidthExplorer(), Grid({"shown": ()}, switches={"switches": "shown"}), ())
    assert {label for _, _, trait, label in found.inputs if trait == "shown"} >= {"PyTorch", "cuDNN"}


def test_the_row_is_one_state_and_a_link():
    found = swept(RowExplorer(), GRIDS["RowExplorer"], ())
    assert list(found.states) == ["[]"]
    assert [(link[1], link[3]) for link in found.links] == [("value", "position")]
    files = files_of("row", found)
    assert set(files) == {"store.js", "0.js"}
    assert sum(map(len, files.values())) < 20_000


@pytest.mark.parametrize(
    "value",
    [1, -2.5, True, None, "a", [], {}, [1, [2, 2], [2, 2]], {"a": {"b": [None]}},
     "<svg><g>" + "<rect/>" * 30 + "</g></svg><p>" + "x" * 80 + "</p>", "<" * 100],
    ids=repr,
)  # fmt: skip
def test_packing_keeps_every_value(value):
    nodes = Nodes()
    number = nodes.add(value)
    assert nodes.value(number) == value
    chunk = unpacked(packed(nodes.chunk({"key": [number]})))
    assert decoded(chunk["nodes"], chunk["states"]["key"][0]) == value


def test_one_is_not_true():
    nodes = Nodes()
    assert nodes.add(1) != nodes.add(True)
    assert type(nodes.value(nodes.add(True))) is bool


def test_numbers_are_written_as_javascript_writes_them():
    assert key_of(plain([1.0, 0.5, "e^x", False, ("a", 2)])) == '[1,0.5,"e^x",false,["a",2]]'


def test_an_explorer_of_a_lessons_objects_is_not_shared():
    assert shared(CacheExplorer(cols=16_384)) == shared(CacheExplorer())
    assert shared(BandwidthExplorer(recording="fast_h200")) != shared(BandwidthExplorer())
    explorer = CacheExplorer()
    explorer._made_with = ((), {"recording": object()})
    with pytest.raises(TypeError):
        shared(explorer)


def test_every_explorer_has_a_grid_of_its_controls():
    from softlab.explorers.gallery import catalogue

    assert {cls.__name__ for cls in catalogue().values()} == set(GRIDS)


def test_a_long_store_is_cut_by_its_first_trait(monkeypatch):
    monkeypatch.setattr("softlab.site.stores.MOST_CHARACTERS", 100)
    files = store_of("case", LittlesLawExplorer(), (), CASES[0][1]).files
    assert MOST_CHARACTERS > 100
    assert set(files) == {"store.js", "0.js", "1.js", "2.js"}


def test_a_picture_without_controls_is_a_store_too():
    assert store_of("lone", Lone(RowExplorer().picture)).states == 1
