"""Which edge of the machine code is which edge of the PTX, where nothing but the instructions behind them tells."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from softlab.instruments.executions import Edge, Runs, Turns, _Solver, _total


def solver(*parts: dict[int, int]) -> Any:
    """A solver whose block 0 jumps to block 1 or falls to block 2; ``parts``: PTX block -> copies behind each."""
    made: Any = _Solver.__new__(_Solver)
    made.graph = SimpleNamespace(dominated=lambda block, _: [block], dominates=lambda *_: False)
    made._parts = [Counter(), *map(Counter, parts)]
    made._branches = SimpleNamespace(
        taken=lambda branch: branch + 10,
        is_back=lambda *_: False,
        only_through=lambda branch, target: {7} if target == branch + 10 else {8},
    )
    return made


@pytest.mark.parametrize(
    ("taken", "fall", "same"),
    [
        ({7: 1}, {8: 1}, True), ({8: 1}, {7: 1}, False),
        ({7: 1}, {}, True), ({}, {7: 1}, False), ({8: 1}, {}, False), ({}, {8: 1}, True),
        ({}, {}, None), ({3: 5}, {4: 1}, None), ({7: 2}, {7: 2}, None), ({7: 1, 8: 1}, {}, None),
        ({7: 3, 8: 2}, {}, True), ({7: 2}, {7: 3}, False),
    ],
)  # fmt: skip
def test_the_side_with_more_of_its_own_instructions_decides(taken: dict, fall: dict, same: bool | None) -> None:
    block = SimpleNamespace(index=0, leaves=False, taken=1, fall=2)
    assert solver(taken, fall)._same_sense(block, 4) is same


def code(*blocks: dict[str, Any], **more: Any) -> Any:
    """A solver of these blocks of machine code; each says what it has beside one ordinary instruction."""
    usual = {"taken": None, "fall": None, "calls": None, "leaves": False, "branches": False, "synchronizes": False}
    made: Any = _Solver.__new__(_Solver)
    found = []
    for number, block in enumerate(blocks):
        texts = block.get("code", ("FADD",))
        parts, line = [text.split(".") for text in texts], block.get("line", 0)
        instructions = [SimpleNamespace(opcode=one, modifiers=more, ptx_line=line) for one, *more in parts]
        items = usual | {name: value for name, value in block.items() if name not in ("code", "line")}
        items["follow"] = tuple(t for t in (items["fall"], items["taken"]) if t is not None)
        found.append(SimpleNamespace(index=number, instructions=instructions, last=instructions[-1], **items))
    before = {n: [b.index for b in found if n in b.follow] for n in range(len(found))}
    made.graph = SimpleNamespace(blocks=found, before=before, joined={}, dominates=lambda a, b: a <= b,
                                 dominated=lambda block, _: [block])  # fmt: skip
    made._edges, made._counts, made._tails, made._atomics = {}, {}, set(), {}
    made.rare, made.estimated, made._passed_on = set(), set(), set()
    made._parts = [Counter(block.get("parts", {})) for block in blocks]
    made._branches = SimpleNamespace(block_of=lambda index: 40 + index)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_what_follows_an_atomic_that_is_not_global_never_runs() -> None:
    for opcode, applies in (("ATOM", True), ("ATOMS", False), ("RED", False)):
        made = code({"code": ("FADD", opcode, "BRA"), "taken": 2, "fall": 1}, {}, {})
        assert made._internal(made.graph.blocks[0]) is applies
        assert made._edges == ({(0, 1): {}} if applies else {})
    made = code({"code": ("ATOM",)})
    assert made._internal(made.graph.blocks[0]) is False


@pytest.mark.parametrize("jump", ["BRA.DIV", "BRA.U.ANY", "BRA.U", "BRA"])
def test_a_jump_for_operands_that_differ_is_never_taken(jump: str) -> None:
    made = code({"code": (jump,), "taken": 2, "fall": 1}, {}, {})
    applies = "DIV" in jump or "ANY" in jump
    assert made._internal(made.graph.blocks[0]) is applies
    assert made._edges == ({(0, 2): {}} if applies else {})
    for missing in ({"taken": 1}, {"fall": 1}):
        made = code({"code": (jump,), **missing}, {})
        assert made._internal(made.graph.blocks[0]) is False


def test_a_last_stage_behind_blocks_that_join_lanes() -> None:
    blocks = [{"code": ("BRA",), "taken": 2, "fall": 1}, {}, {"code": ("BSYNC", "BSSY"), "fall": 3},
              {"code": ("BSSY",), "fall": 4}, {"code": ("BSSY", "FADD"), "fall": 5}, {}]  # fmt: skip
    for tail in range(6):
        made = code(*blocks, _tails={tail})
        assert made._internal(made.graph.blocks[0]) is (tail == 4)
        assert made._behind_joins(2) == made._behind_joins(3) == made._behind_joins(4) == 4
        assert made._behind_joins(1) == 1


@pytest.mark.parametrize(
    ("back", "generic", "known"), [(1, False, True), (3, False, True), (1, True, True), (1, False, False)]
)
def test_an_atomic_is_repeated_until_each_lane_had_its_turn(back: int, generic: bool, known: bool) -> None:
    """The jump leads back, and the atomic cannot be of global memory."""
    other = {"code": ("ATOM",), "line": 9 if generic else 8}
    made = code({}, {}, {"code": ("BRA",), "line": 9, "taken": back, "fall": 3}, {}, other,
                _atomics={9: 5} if known else {})  # fmt: skip
    applies = back == 1 and not generic and known
    assert made._internal(made.graph.blocks[2]) is applies
    assert made._edges == ({(2, 1): {Turns(5): 1}, (2, 3): {Turns(5): 1, Runs(45): 1}} if applies else {})


@pytest.mark.parametrize("calls", [None, "taken", "fall", "both"])
def test_a_side_that_calls_is_for_rare_operands(calls: str | None) -> None:
    """Of two such sides the one that is fallen into."""
    fall, taken = ({"calls": 3 if calls in (side, "both") else None} for side in ("fall", "taken"))
    made = code({"code": ("BRA",), "line": 6, "taken": 2, "fall": 1}, fall, taken, {})
    assert made._internal(made.graph.blocks[0]) is (calls is not None)
    never = {None: None, "taken": 2, "fall": 1, "both": 1}[calls]
    assert made._edges == ({(0, never): {}} if never else {})
    assert made.rare == ({6} if calls else set())


def waiting_loop(**changes: Any) -> Any:
    """Block 0 asks an mbarrier first and jumps over block 1, which asks again; branches 4 and 7 are of its line."""
    first = {"code": ("SYNCS.TRYWAIT", "BRA"), "line": 3, "taken": 1, "fall": 2, **changes.get("first", {})}
    again = {"code": ("SYNCS.TRYWAIT", "BRA"), "line": 3, "taken": 1, "fall": 2, **changes.get("again", {})}
    made = code(first, again, {}, {"taken": 1} if changes.get("another") else {})
    alike = [4, 7]
    made._branches = SimpleNamespace(
        has=lambda line: line == 3, at=lambda line: 4, alike=lambda branch: alike, taken=lambda one: one + 10,
        is_back=lambda one, target: target == (one + 10 if one == 4 else one + 1),
    )  # fmt: skip
    return made


def test_questions_of_a_loop_that_waits() -> None:
    """Each branch of the line leads back on one side: by its jump, or behind it."""
    made = waiting_loop()
    assert made._waits() == {0, 1}
    repeats = {Edge(4, 14): 1, Edge(7, 8): 1}
    ends = {Edge(4, 5): 1, Edge(7, 17): 1, Edge(4, 14): -1, Edge(7, 8): -1}
    assert made._edges == {(0, 1): repeats, (1, 2): repeats, (0, 2): ends, (1, 1): {}}
    assert made.estimated == {1}


@pytest.mark.parametrize("changes", [
    {"first": {"code": ("FADD", "BRA")}}, {"again": {"code": ("FADD", "BRA")}}, {"again": {"line": 5}},
    {"first": {"fall": None}}, {"again": {"fall": None}}, {"again": {"taken": 2}}, {"another": True},
    {"first": {"code": ("SYNCS", "BRA")}},
])  # fmt: skip
def test_what_is_no_loop_that_waits(changes: dict[str, Any]) -> None:
    made = waiting_loop(**changes)
    assert made._waits() == set()
    assert not made._edges
    assert not made.estimated


def test_sums_of_counts() -> None:
    assert _total([]) == {}
    assert _total([{Runs(1): 2, Runs(2): 1}, {}, {Runs(1): 3}]) == {Runs(1): 5, Runs(2): 1}


def test_what_goes_out_of_a_block() -> None:
    """Where one way is left, and the others are never taken, all goes there."""
    count = {Runs(0): 2}
    made = code({"taken": 2, "fall": 1, "branches": True}, {"fall": 2}, {}, _counts={0: count, 1: {}, 2: count})
    blocks = made.graph.blocks
    assert made._leaving(blocks[0]) is False  # two ways, and nothing is known of them
    made._edges[0, 2] = {Runs(5): 1}
    assert made._leaving(blocks[0]) is False  # one is taken
    made._edges[0, 2] = {}
    assert made._leaving(blocks[0]) is True
    assert made._edges == {(0, 2): {}, (0, 1): count}
    assert made._passed_on == {(0, 1)}
    assert made._leaving(blocks[0]) is False  # nothing is left
    assert made._leaving(blocks[1]) is True  # it never runs
    assert made._edges[1, 2] == {}
    assert made._leaving(blocks[2]) is False
    made._counts[1] = count
    del made._edges[1, 2]
    assert made._leaving(blocks[1]) is True
    assert made._edges[1, 2] == count
    assert made._passed_on == {(0, 1), (1, 2)}


def test_doubt_goes_on_to_where_lanes_are_one_warp_again() -> None:
    made = code(
        {"fall": 1}, {"fall": 2}, {"fall": 3}, {"fall": 4}, {}, estimated={0}, _passed_on={(0, 1), (1, 2), (2, 3)}
    )
    made.graph.joined = {3: 0}
    made._spread_doubt()
    assert made.estimated == {0, 1, 2}
    made = code({"fall": 1}, {"fall": 2}, {}, estimated={0}, _passed_on={(1, 2)})
    made._spread_doubt()
    assert made.estimated == {0}


def test_a_block_runs_as_often_as_control_comes_to_it() -> None:
    one, two = {Runs(1): 1}, {Runs(2): 1, Runs(1): 2}
    blocks = [{"fall": 2}, {"fall": 2}, {}, {"calls": 2}]
    made = code(*blocks)
    target = made.graph.blocks[2]
    assert made._arriving(target) is None
    made._edges[0, 2] = one
    assert made._arriving(target) is None
    made._edges[1, 2] = two
    assert made._arriving(target) == {Runs(1): 3, Runs(2): 1}
    # Of a function those who call it count.
    made = code({}, {"calls": 3}, {"calls": 3}, {}, _counts={1: one})
    assert made._arriving(made.graph.blocks[3]) is None
    made._counts[2] = one
    assert made._arriving(made.graph.blocks[3]) == {Runs(1): 2}
    assert made._arriving(made.graph.blocks[0]) is None
    # A loop into which nothing goes runs never, though its own way back is not known.
    made = code({"fall": 1}, {"taken": 1, "fall": 2}, {}, _edges={(0, 1): {}})
    assert made._arriving(made.graph.blocks[1]) == {}
    made._edges[0, 1] = one
    assert made._arriving(made.graph.blocks[1]) is None


@pytest.mark.parametrize("leaks", [False, True])
def test_a_block_that_joins_lanes(leaks: bool) -> None:
    """It runs as often as the block where they parted, and as what comes by other ways."""
    one, two, own = {Runs(1): 1}, {Runs(2): 1}, {Runs(3): 1}
    made = code({"fall": 1}, {"fall": 3, "synchronizes": True}, {"fall": 3}, {"parts": {8: 5, 9: 4}}, {},
                _leaks=lambda start, join: leaks and (start, join) == (0, 3), _leaked=lambda block: own)  # fmt: skip
    made.graph.joined = {3: 0}
    target = made.graph.blocks[3]
    made._edges = {(1, 3): two, (2, 3): two}
    assert made._arriving(target) is None
    made._counts[0] = one
    assert made._arriving(target) == (own if leaks else {Runs(1): 1, Runs(2): 1})
    made._parts[3] = Counter()
    assert made._arriving(target) == {Runs(1): 1, Runs(2): 1}


def test_lanes_some_of_which_never_come() -> None:
    one = {Runs(1): 1}
    shape = [{"fall": 2}, {"fall": 2}, {"fall": 3, "synchronizes": True}, {"parts": {8: 4, 9: 5}}]
    made = code(*shape)
    target = made.graph.blocks[3]
    assert made._leaked(target) is None
    made._edges = {(0, 2): one, (1, 2): {}}
    assert made._leaked(target) == one
    made._edges = {(0, 2): one, (1, 2): one}
    assert made._leaked(target) == {Runs(9): 1}
    made = code(*[*shape[:2], {**shape[2], "synchronizes": False}, shape[3]], _edges={(0, 2): one, (1, 2): {}})
    assert made._leaked(made.graph.blocks[3]) == {Runs(9): 1}
