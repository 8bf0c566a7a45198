"""The stages of a compiled access to global memory: what each asks of which order, and what is left to NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from softlab.instruments import native_access as compiled
from softlab.instruments.global_shadow import IN_BLOCK, TIME_SHIFT
from softlab.instruments.known_steps import (
    EXCHANGE,
    FENCE,
    FENCE_FIRST,
    OF_BYTES,
    READ,
    REMEMBER,
    RISING,
    ROWS,
    TO_ALL,
    WRITE,
)
from softlab.instruments.native_global import NO_ROOM, OTHER_READS, SHARED_CELLS, UNKNOWN, are_rows
from softlab.instruments.node_layout import HAS_FAR, HEAD, LANES_SHARE, THREADS

TRUTH = (0, 1)
#: Stage -> what it is for, and the number of its order.
STAGES = {0: ("fence", 0), 1: ("fence", 1), 2: ("before", 0), 3: ("before", 1), 5: ("after", 0), 6: ("after", 1)}


def frame(**items: int) -> list[Any]:
    found = [0] * compiled.FRAME
    for name, value in items.items():
        found[getattr(compiled, name.upper())] = value
    return found


def shared(orders: int = 2, remembers: int = 0, **more: Any) -> list[Any]:
    """What all frames share. The tables of the two orders are their names."""
    found: list[Any] = [0] * compiled.TABLES
    found[compiled.ORDERS], found[compiled.REMEMBERS] = orders, remembers
    found[compiled.ROOM : compiled.ROOM + compiled.ROOMS] = [f"room {k}" for k in range(compiled.ROOMS)]
    for name, value in more.items():
        found[getattr(compiled, name.upper())] = value
    return found


def test_addresses_in_an_array() -> None:
    for first, end in ((4096, 4160), (0, 1)):
        inside = [first, end - 1, (first + end) // 2]
        assert compiled.are_inside(inside, 3, first, end, 0)  # type: ignore[arg-type]
        for bad in (first - 1, end, end + 100, first - 100, -1):
            for at in range(3):
                addresses = inside.copy()
                addresses[at] = bad
                assert not compiled.are_inside(addresses, 3, first, end, 0)  # type: ignore[arg-type]
                assert bool(compiled.are_inside(addresses, at, first, end, 0))  # type: ignore[arg-type]


def test_rows_of_addresses_in_an_array() -> None:
    """Of each row the first and the last address tell."""
    rows = [*range(400, 528, 4), *range(100, 228, 4)]
    for first, end in ((100, 528), (100, 525), (0, 600), (101, 528), (100, 524), (300, 528), (100, 300)):
        inside = compiled.are_inside(rows, 64, first, end, 1)  # type: ignore[arg-type]
        assert bool(inside) == all(first <= address < end for address in rows)


@pytest.mark.parametrize("each", [2, 4])
def test_the_words_of_lanes(each: int) -> None:
    addresses, lanes = [4096, 4106, 8], [5, 33, 70]
    words, of_lanes = [-1] * 3 * each, [-1] * 3 * each
    compiled.fill_words(words, of_lanes, addresses, lanes, 3, each)  # type: ignore[arg-type]
    assert words == [address // 4 + k for address in addresses for k in range(each)]
    assert of_lanes == [lane for lane in lanes for _ in range(each)]


def test_each_stage_is_of_an_order() -> None:
    assert {stage: compiled.order_of(stage) for stage in STAGES} == {
        stage: order for stage, (_, order) in STAGES.items()
    }


def asked(stage: int, orders: int, remembers: int, far: int, does: dict[str, int]) -> tuple[int, int] | None:
    """(operation, flags) of a stage by the rules; None for nothing.

    A release makes a fence in each order. Strong accesses meet at words where words matter. A mere store publishes
    behind the search for races, and all else learns before it. In the order of reads with later writes whoever writes
    makes a fence first. In the first order reads are remembered, where that is asked for.
    """
    kind, order = STAGES[stage]
    if order >= orders:
        return None
    to_all = TO_ALL * does["to_others"]
    if kind == "fence":
        return (FENCE, to_all) if does["releases"] else None
    if not does["is_strong"] or not (remembers or orders == 2 or far):
        return None
    mere_store = does["stores"] and not does["operates"]
    if kind != ("after" if mere_store else "before"):
        return None
    operation = EXCHANGE if does["operates"] else WRITE if mere_store else READ
    fence_first = FENCE_FIRST * (order == 1 and operation != READ)
    remember = REMEMBER * (order == 0 and bool(remembers) and operation != WRITE)
    return operation, to_all | fence_first | remember


def test_what_a_stage_asks_of_its_order() -> None:
    names = ("stores", "operates", "releases", "is_strong", "to_others")
    for stage, orders, remembers, far, *values in product(STAGES, (1, 2), TRUTH, TRUTH, *[TRUTH] * len(names)):
        does = dict(zip(names, values, strict=True))
        if does["operates"] and not does["stores"]:
            continue
        first = [0] * HEAD
        first[HAS_FAR] = far
        found = compiled.asked_of_order(frame(**does), shared(orders, remembers), first, stage)  # type: ignore[arg-type]
        wanted = asked(stage, orders, remembers, far, does)
        assert (found if found < 0 else (found % 16, found // 16)) == (-1 if wanted is None else wanted)


@pytest.mark.parametrize("far", TRUTH)
def test_an_order_that_knows_nothing_beyond_blocks_leaves_out_what_tells_nothing(
    far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[Any, ...]] = []
    monkeypatch.setattr(compiled, "step", lambda *given: steps.append(given) or 77)
    for operation, flags in product(
        (FENCE, READ, WRITE, EXCHANGE), (0, TO_ALL, FENCE_FIRST, REMEMBER, TO_ALL | REMEMBER, RISING, RISING | REMEMBER)
    ):
        s: list[int] = [0] * HEAD
        s[HAS_FAR] = far
        steps.clear()
        found = compiled.tell("near", s, operation, "words", "lanes", 9, 3, 50, flags)  # type: ignore[arg-type]
        tells = bool(far or operation == FENCE or flags & (FENCE_FIRST | REMEMBER))
        assert found == (77 if tells else 9)
        assert steps == ([("near", s, operation, "words", "words", "lanes", 9, 3, 50, flags)] if tells else [])
        assert s[HAS_FAR] == tells


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_of_an_order(stage: int, words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on where it was, says where there is no more room, and whether lanes of a warp shared a word."""
    arenas: list[list[int]] = [[0] * HEAD, [0] * HEAD]
    told: list[tuple[Any, ...]] = []
    kind, order = STAGES[stage]
    common = shared()
    common += ["near 0", "far 0", arenas[0], "near 1", "far 1", arenas[1]]
    ends = (5, 6, 11, 12, 23, 24)
    for operation, flags, done, shares in product((FENCE, READ, WRITE, EXCHANGE), (0, FENCE_FIRST), ends, TRUTH):
        in_rows = words == 1 and done % 2
        if (operation == FENCE) != (kind == "fence") or (operation == FENCE and flags):
            continue
        monkeypatch.setattr(compiled, "asked_of_order", lambda f, c, first, at, o=operation, g=flags: (
            g * 16 + o if (first is arenas[0] and at == stage) else -2))  # fmt: skip
        monkeypatch.setattr(compiled, "tell", lambda *given, d=done: told.append(given) or d)
        items = 6 if operation == FENCE else 6 * words
        whole = items * (2 if flags else 1)
        if done > whole:
            continue
        f = frame(stage=stage, at=2, words=words, in_rows=in_rows)
        arenas[order][LANES_SHARE] = shares
        told.clear()
        found = compiled.told_order(f, common, "lanes", "addresses", 6, 50)  # type: ignore[arg-type]
        several = ("addresses", "lanes") if words == 1 else ("room 3", "room 4")
        of = ("lanes", "lanes") if operation == FENCE else several
        more = RISING * (operation == FENCE or words == 1)  # of several words a lane comes several times
        if operation != FENCE and words == 1:
            more |= OF_BYTES | ROWS * in_rows
        assert told == [(f"near {order}", arenas[order], operation, *of, items, 2, 50, flags | more)]
        if done < whole:
            assert (found, f[compiled.AT]) == (compiled.FULL, done)
            assert arenas[order][LANES_SHARE] == shares
            continue
        follow = operation == EXCHANGE and shares
        assert (found, f[compiled.AT]) == (compiled.LANES_FOLLOW if follow else compiled.ALL_DONE, 0)
        assert arenas[order][LANES_SHARE] == (0 if operation == EXCHANGE else shares)
    monkeypatch.setattr(compiled, "asked_of_order", lambda *given: -1)
    told.clear()
    assert compiled.told_order(frame(stage=stage, words=words), common, "lanes", "at", 6, 50) == compiled.ALL_DONE  # type: ignore[arg-type]
    assert not told


@pytest.mark.parametrize("orders", [1, 2])
def test_the_search_of_an_access(orders: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    common = [*shared(orders, begin=4), "near 0", "far 0", "arena 0", "near 1", "far 1", "arena 1"]
    last = orders - 1
    for answer, stores, operates, in_block in product(
        (0, SHARED_CELLS, OTHER_READS, SHARED_CELLS | OTHER_READS, UNKNOWN, NO_ROOM), TRUTH, TRUTH, (0, IN_BLOCK)
    ):
        if answer > 0 and ((answer & OTHER_READS and stores) or (answer & SHARED_CELLS and not stores)):
            continue  # a store keeps no reads, and reads share cells
        monkeypatch.setattr(compiled, "access", lambda *given, a=answer: asked.append(given) or a)
        has = [0, 1, 0]
        f = frame(cells=3, origin=4096, shift=2, flags=in_block, stores=stores, operates=operates, in_rows=operates)
        asked.clear()
        found = compiled.searched(f, common, ["w", "r", "o", has], "lanes", "addresses", 6, 50)  # type: ignore[arg-type]
        ((*tables, begin, room, more, most, lanes, addresses), rest) = asked[0][:15], asked[0][15:]
        of_orders = [f"{name} {order}" for order in (0, last) for name in ("near", "far", "arena")]
        assert tables == ["w", "r", "o", *of_orders]
        assert (begin, room, more, most, lanes, addresses) == (4, "room 0", "room 1", "room 2", "lanes", "addresses")
        assert rest == (6, 3, 4096, 2, in_block, 50, stores, 1, operates)
        if answer in (UNKNOWN, NO_ROOM):
            assert found == (compiled.LOOK if answer == UNKNOWN else compiled.ALL_FULL)
            assert has == [0, 1, 0]
            continue
        assert has == [stores, 1, int(answer == OTHER_READS)]
        lost = answer == SHARED_CELLS and (not operates or in_block)
        assert found == (compiled.LOST if lost else compiled.ALL_DONE)
    asked.clear()
    common[compiled.APART] = 1
    assert compiled.searched(frame(), common, [], "lanes", "addresses", 6, 50) == compiled.LOOK  # type: ignore[arg-type]
    assert not asked


def test_what_a_shadow_has_is_noted() -> None:
    for before, store, other in product(product(TRUTH, TRUTH, TRUTH), TRUTH, TRUTH):
        has = [*before]
        compiled.has_recorded(has, store, other)  # type: ignore[arg-type]
        assert has == [before[0] | store, before[1] | (1 - store), before[2] | other]
        assert [bool(compiled.has_any(has, k)) for k in range(3)] == [bool(one) for one in has]  # type: ignore[arg-type]


@pytest.mark.parametrize("strong", TRUTH)
@pytest.mark.parametrize("stops", [None, *range(7)])
def test_all_stages_of_an_access(stops: int | None, strong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run one after the other until one says something, and go on from there. Times of words are one later."""
    ran: list[tuple[Any, ...]] = []
    answers = {stops: compiled.FULL}

    def stage(f: Any, *given: Any) -> int:
        ran.append((f[compiled.STAGE], given[-1]))
        return answers.pop(f[compiled.STAGE], compiled.ALL_DONE)

    filled: list[tuple[Any, ...]] = []
    monkeypatch.setattr(compiled, "told_order", stage)
    monkeypatch.setattr(compiled, "searched", stage)
    monkeypatch.setattr(compiled, "fill_words", lambda *given: filled.append(given))
    monkeypatch.setattr(compiled, "keep_blind", lambda *given: ran.append(("blind", given[-1])))
    f, common = frame(until=7, base=100, end=200, is_strong=strong, words=2), [*shared(), *range(6)]
    assert compiled.whole_access(f, common, [5, 9], [100, 250], 2, 50) == compiled.OUTSIDE  # type: ignore[arg-type]
    assert compiled.whole_access(f, common, [5, 9], [99, 150], 2, 50) == compiled.OUTSIDE  # type: ignore[arg-type]
    assert not ran
    expected: list[Any] = [(stage, 50 if stage == compiled.SEARCH else 51) for stage in range(7)]
    expected.append(("blind", 50))
    found = compiled.whole_access(f, common, [5, 9], [100, 199], 2, 50)  # type: ignore[arg-type]
    assert filled == ([("room 3", "room 4", [100, 199], [5, 9], 2, 2)] if strong else [])
    if stops is None:
        assert (found, ran, f[compiled.STAGE]) == (compiled.ALL_DONE, expected, 0)
        return
    assert (found, ran, f[compiled.STAGE]) == (compiled.FULL, expected[: stops + 1], stops)
    ran.clear()
    assert compiled.whole_access(f, common, [5, 9], [100, 199], 2, 50) == compiled.ALL_DONE  # type: ignore[arg-type]
    assert ran == expected[stops:]
    assert f[compiled.STAGE] == 0


def test_an_access_of_which_nobody_asks_words(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    for stage, inside, answer in product(
        (compiled.FENCES, compiled.SEARCH, compiled.AFTER), TRUTH, (compiled.ALL_DONE, compiled.LOOK)
    ):
        monkeypatch.setattr(compiled, "searched", lambda *given, a=answer: ran.append("searched") or a)
        monkeypatch.setattr(compiled, "keep_blind", lambda *given: ran.append("kept"))
        f, addresses = frame(stage=stage, base=100, end=200), [100, 150 if inside else 200]
        ran.clear()
        found = compiled.plain_access(f, [0] * 99, [5, 9], addresses, 2, 50)  # type: ignore[arg-type]
        if stage == compiled.FENCES and not inside:
            assert (found, ran) == (compiled.OUTSIDE, [])
        elif stage == compiled.AFTER:
            assert (found, ran) == (compiled.ALL_DONE, ["kept"])
        else:
            assert (found, ran) == (answer, ["searched", "kept"][: 2 - (answer == compiled.LOOK)])
        assert f[compiled.STAGE] == (0 if found == compiled.ALL_DONE else stage)


def test_blind_atomics_are_kept_behind_whole_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[tuple[Any, ...]] = []
    monkeypatch.setattr(compiled, "record", lambda *given: kept.append(given))
    items = {"cells": 2, "origin": 4096, "shift": 2, "flags": 7, "in_rows": 1}
    arena = [0] * HEAD
    arena[THREADS] = 64
    for blind, until in product((0, 10), (compiled.AFTER, compiled.DONE)):
        f = frame(blind=blind, blind_other=11, until=until, **items)
        kept.clear()
        compiled.keep_blind(f, shared(begin=4), arena, "lanes", "addresses", 6, 50)  # type: ignore[arg-type]
        expected = (10, 11, "addresses", "lanes", 6, 2, 4096, 2, 50 << TIME_SHIFT | 7, 4, 64, 1)
        assert kept == ([expected] if blind and until == compiled.DONE else [])


def test_which_accesses_are_in_rows() -> None:
    lanes, addresses = [*range(32, 96)], [*range(400, 528, 4), *range(100, 228, 4)]
    for cells, words, shift in product((1, 2), (1, 2), (2, 1)):
        f = frame(base=100, end=528, cells=cells, words=words, shift=shift)
        assert compiled.begins(f, lanes, addresses, 64)  # type: ignore[arg-type]
        assert bool(f[compiled.IN_ROWS]) == (cells == words == 1 and shift == 2)
    for change in (lanes.__setitem__, addresses.__setitem__):
        change(63, 99 if change == lanes.__setitem__ else 300)
        f = frame(base=100, end=528, cells=1, words=1, shift=2)
        assert compiled.begins(f, lanes, addresses, 64)  # type: ignore[arg-type]
        assert not f[compiled.IN_ROWS]
        lanes[63] = 95
    assert not are_rows(lanes[:63], addresses, 63, 4)  # type: ignore[arg-type]


def test_an_access_or_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "whole_access", lambda *given: ("access", *given))
    monkeypatch.setattr(compiled, "step", lambda *given: ("step", *given))
    f = frame(common=8)
    f[0], f[1] = "near", "arena"
    found: Any = compiled.access_or_step(f, "lanes", "words", "earlier", 3, 50, -1, 1, 2)  # type: ignore[arg-type]
    assert found == ("access", f, 8, "lanes", "words", 3, 50)
    for operation in (FENCE, READ):
        found = compiled.access_or_step(f, "lanes", "words", "earlier", 3, 50, operation, 1, 2)  # type: ignore[arg-type]
        assert found == ("step", "near", "arena", operation, "words", "earlier", "lanes", 3, 1, 50, 2)
