"""The bank rule against the hardware's recordings and against a brute-force oracle that goes byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softlab.instruments.banks import assign_wavefronts, wavefronts_and_conflicts, words

DATA = Path(__file__).parent.parent / "data"


def oracle_groups(address: list[int], active: list[bool], width: int, store: bool) -> list[list[int]]:
    """The active lanes that go together, plainly."""
    together = {8: 16, 16: 8}.get(width, 32)
    if not store and width > 4:
        for form in (1, 2):
            if all(address[a] == address[a ^ form] for a in range(32) if active[a] and active[a ^ form]):
                together = {8: 32, 16: 16}[width]
    groups = [[lane for lane in range(start, start + together) if active[lane]] for start in range(0, 32, together)]
    return [group for group in groups if group]


def oracle(address: list[int], active: list[bool], width: int, store: bool) -> tuple[int, int]:
    """(wavefronts, conflicts): count the different words of each bank, a byte at a time."""
    wavefronts = conflicts = 0
    for group in oracle_groups(address, active, width, store):
        banks: dict[int, set[int]] = {}
        for lane in group:
            for byte in range(address[lane], address[lane] + width):
                banks.setdefault(byte // 4 % 32, set()).add(byte // 4)
        fullest = max(len(found) for found in banks.values())
        wavefronts += fullest
        conflicts += fullest - 1
    return wavefronts, conflicts


def ask(address: list[int], active: list[bool], width: int, store: bool) -> tuple[int, int]:
    arguments = (np.array([address]), np.array([active], bool), width, store)
    wavefronts, conflicts = wavefronts_and_conflicts(*arguments)
    return int(wavefronts[0]), int(conflicts[0])


def recorded() -> list[tuple[str, list[int], list[bool], int, bool, int, int | None]]:
    """(kind, address, active, width, store, wavefronts, conflicts) of every pattern measured on the H200."""
    found = []
    for pattern in json.loads((DATA / "bank_patterns_h200.json").read_text())["patterns"]:
        width = int(pattern["kind"][2:]) // 8
        active = [bool(flag) for flag in pattern["active"]]
        store = pattern["kind"].startswith("st")
        address = [index * width for index in pattern["index"]]
        found.append((pattern["kind"], address, active, width, store, int(pattern["wavefronts"]), None))
    with np.load(DATA / "lane_patterns_h200.npz") as file:
        columns = [file[name].tolist() for name in ("kind", "index", "active", "wavefronts", "conflicts")]
    for kind, index, mask, wavefronts, conflicts in zip(*columns, strict=True):
        if kind[0] == "s":
            width = int(kind[3:]) // 8
            active = [bool(mask >> lane & 1) for lane in range(32)]
            found.append((kind, [i * width for i in index], active, width, kind[1] == "s", wavefronts, conflicts))
    return found


RECORDED = recorded()


def test_recording_is_whole():
    assert len(RECORDED) == 180 + 1026
    assert {pattern[0] for pattern in RECORDED} >= {"ld32", "st128", "sld8", "sst16", "sld128"}


@pytest.mark.parametrize("rule", [oracle, ask])
def test_the_hardware_agrees(rule):
    for kind, address, active, width, store, wavefronts, conflicts in RECORDED:
        found = rule(address, active, width, store)
        expected = (wavefronts, found[1] if conflicts is None else conflicts)
        assert found == expected, (kind, address, active)


@st.composite
def accesses(draw):
    width = draw(st.sampled_from((1, 2, 4, 8, 16)))
    store = draw(st.booleans())
    element = st.integers(0, draw(st.sampled_from((1, 3, 40, 500))))
    index = draw(st.lists(element, min_size=32, max_size=32))
    form = draw(st.sampled_from((0, 1, 2, 3)))
    index = [index[lane & ~form] for lane in range(32)]
    mask = draw(st.one_of(st.just(2**32 - 1), st.integers(0, 2**32 - 1)))
    return [i * width for i in index], [bool(mask >> lane & 1) for lane in range(32)], width, store


@settings(max_examples=300, deadline=None)
@given(accesses())
def test_rule_equals_the_oracle(access):
    assert ask(*access) == oracle(*access)


#: Half a warp takes 1 wavefront, the other half 16.
UNEVEN = ([8 * lane if lane < 16 else 128 * lane for lane in range(32)], [True] * 32, 8, True)


@settings(max_examples=150, deadline=None)
@example(UNEVEN)
@given(accesses())
def test_the_schedule_obeys_the_banks(access):
    address, active, width, store = access
    wave = assign_wavefronts(np.array([address]), np.array([active], bool), width, store)[0].tolist()
    assert [number == -1 for number in wave] == [not flag for flag in active]
    used = sorted(set(wave) - {-1})
    assert used == list(range(ask(*access)[0]))
    groups = oracle_groups(address, active, width, store)
    for number in used:
        lanes = [lane for lane in range(32) if wave[lane] == number]
        assert any(set(lanes) <= set(group) for group in groups), "lanes of two groups in one wavefront"
        banks: dict[int, set[int]] = {}
        for lane in lanes:
            for byte in range(address[lane], address[lane] + width):
                banks.setdefault(byte // 4 % 32, set()).add(byte // 4)
        assert all(len(found) == 1 for found in banks.values()), "two words of one bank in one wavefront"


def test_many_warps_at_once_equal_one_at_a_time():
    rng = np.random.default_rng(5)
    address, active = rng.integers(0, 200, (64, 32)) * 8, rng.random((64, 32)) < 0.8
    store = rng.random(64) < 0.5
    expected = [oracle(address[i].tolist(), active[i].tolist(), 8, bool(store[i])) for i in range(64)]
    found = wavefronts_and_conflicts(address, active, 8, store)
    assert [numbers.tolist() for numbers in found] == [list(numbers) for numbers in zip(*expected, strict=True)]


def test_no_warps_and_no_lanes():
    for numbers in wavefronts_and_conflicts(np.zeros((0, 32)), np.zeros((0, 32), bool), 4, True):
        assert numbers.shape == (0,)
    assert ask([0] * 32, [False] * 32, 16, False) == (0, 0)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_neighbours_never_conflict(width):
    for mask in (2**32 - 1, 0xFFFF, 0xFF00FF00, 1, 0):
        active = [bool(mask >> lane & 1) for lane in range(32)]
        for store in (False, True):
            assert ask([lane * width for lane in range(32)], active, width, store)[1] == 0


def test_words():
    assert words(np.array([120]), 16).tolist() == [[30, 31, 32, 33]]
    assert words(np.array([3, 4]), 1).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("address", "active", "width", "message"),
    [
        (np.zeros((1, 32)), np.ones((1, 32), bool), 3, "must be one of"),
        (np.zeros((1, 31)), np.ones((1, 31), bool), 4, "one row per warp"),
        (np.zeros(32), np.ones(32, bool), 4, "one row per warp"),
        (np.full((1, 32), 4), np.ones((1, 32), bool), 8, "multiple of the access width"),
    ],
)
def test_wrong_arguments_are_named(address, active, width, message):
    with pytest.raises(ValueError, match=message):
        wavefronts_and_conflicts(address, active, width, False)
