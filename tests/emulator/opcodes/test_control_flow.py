"""The ends of basic blocks: where each lane goes on, beside a model that asks lane after lane."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.opcodes.control_flow import fall, terminator_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.errors import Error, KernelFault

ROWS, THREADS = 3, 96
INDEX = 7
Lane = tuple[int, int]


class Schedule:
    """Where lanes were sent: (row, column) -> what happens to it."""

    def __init__(self) -> None:
        self.sent: dict[Lane, Any] = {}

    def _send(self, lanes: Lanes, where: Any) -> None:
        for row, column in np.argwhere(lanes.mask):
            assert (int(row), int(column)) not in self.sent, "a lane goes one way"
            self.sent[int(row), int(column)] = where

    def add(self, index: int, lanes: Lanes) -> None:
        self._send(lanes, index)

    def exit(self, lanes: Lanes) -> None:
        self._send(lanes, "exit")

    def arrive(self, barrier: int, count: int | None, block: Any, lanes: Lanes, *, waits: bool,
               predicate: Any = None) -> None:  # fmt: skip
        self._send(lanes, None)
        votes = [None] * lanes.count if predicate is None else (
            np.broadcast_to(predicate, lanes.extent).reshape(-1).tolist())  # fmt: skip
        for (row, column), vote in zip(np.argwhere(lanes.mask), votes, strict=True):
            self.sent[int(row), int(column)] = (barrier, count, waits, vote)


class Faults:
    """Keeps what is reported, and makes faults that can be raised."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, int]] = []

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Lanes, bad: Any) -> KernelFault:
        assert np.asarray(bad).all()
        return KernelFault(kind, f"{sentence}: {lanes.count}")

    def report(self, fault: KernelFault, *, severity: str = "error", count: int = 1) -> None:
        self.kept.append((str(fault), count))


def run(opcode: str, lanes: Lanes, decision: Any, *modifiers: str, targets: tuple[int, ...] = ()) -> Any:
    """What a terminator does with lanes: the schedule, and the faults."""
    instruction = Instruction(opcode, modifiers, (), text=".".join((opcode, *modifiers)))
    block: Any = SimpleNamespace(index=INDEX, terminator=instruction, targets=targets)
    schedule, faults = Schedule(), Faults()
    terminator_of(block)(schedule, faults, block, lanes, decision)  # type: ignore[arg-type]
    return schedule.sent, faults.kept


def any_lanes(random: np.random.Generator) -> Lanes:
    mask = (random.random((ROWS, 1)) < 0.8) & (random.random(THREADS) < 0.7)
    if random.random() < 0.4:
        mask &= random.random((ROWS, THREADS)) < 0.7
    mask[1, 5] = True
    return lanes_of(mask)


def any_value(random: np.random.Generator, lanes: Lanes, choices: list[Any], kind: Any) -> Any:
    """The same for all lanes, for all blocks, for all threads of a block, or for none."""
    shapes: list[tuple[int, ...]] = [(), lanes.extent]
    if len(lanes.extent) == 2:
        shapes += [(1, lanes.extent[1]), (lanes.extent[0], 1)]
    return random.choice(np.array(choices, kind), shapes[random.integers(len(shapes))])[()]


def of_lanes(lanes: Lanes, value: Any) -> dict[Lane, Any]:
    flat = np.broadcast_to(np.asarray(value), lanes.extent).reshape(-1).tolist()
    return {(int(row), int(column)): each for (row, column), each in zip(np.argwhere(lanes.mask), flat, strict=True)}


def any_guard(random: np.random.Generator, lanes: Lanes) -> tuple[Any, dict[Lane, bool]]:
    """A guard, or None for all; and whether it holds in each lane."""
    guard = None if random.random() < 0.3 else any_value(random, lanes, [False, True], bool)
    return guard, of_lanes(lanes, True if guard is None else guard)


def test_a_block_without_an_end_goes_on_with_the_next() -> None:
    block: Any = SimpleNamespace(index=INDEX, terminator=None)
    assert terminator_of(block) is fall
    schedule, lanes = Schedule(), any_lanes(np.random.default_rng(0))
    fall(schedule, Faults(), block, lanes, None)  # type: ignore[arg-type]
    assert set(schedule.sent.values()) == {INDEX + 1}
    assert len(schedule.sent) == lanes.count


@pytest.mark.parametrize("seed", range(12))
def test_branches_and_exits(seed: int) -> None:
    random = np.random.default_rng(seed)
    lanes = any_lanes(random)
    guard, holds = any_guard(random, lanes)
    sent, _ = run("bra", lanes, guard, targets=(2,))
    assert sent == {lane: 2 if truth else INDEX + 1 for lane, truth in holds.items()}
    for opcode in ("ret", "exit"):
        sent, _ = run(opcode, lanes, guard)
        assert sent == {lane: "exit" if truth else INDEX + 1 for lane, truth in holds.items()}


@pytest.mark.parametrize("seed", range(20))
def test_a_table_of_targets(seed: int) -> None:
    random, targets = np.random.default_rng(seed), (4, 9, 1)
    lanes = any_lanes(random)
    guard, holds = any_guard(random, lanes)
    choice = any_value(random, lanes, [0, 1, 2], np.uint32)
    sent, _ = run("brx", lanes, (guard, (choice,)), "idx", targets=targets)
    numbers = of_lanes(lanes, choice)
    assert sent == {lane: targets[numbers[lane]] if truth else INDEX + 1 for lane, truth in holds.items()}


def test_a_jump_beyond_the_table() -> None:
    lanes = lanes_of(np.arange(THREADS) < np.full((ROWS, 1), 2))
    with pytest.raises(Error, match=r"`brx.idx` jumps beyond its table"):
        run("brx", lanes, (None, (np.array([[1, 2]], np.uint32),)), "idx", targets=(4, 9))
    sent, _ = run("brx", lanes, (np.array([[True, False]]), (np.array([[1, 2]], np.uint32),)), "idx", targets=(4, 9))
    assert {column: where for (_, column), where in sent.items()} == {0: 9, 1: INDEX + 1}, "the guard keeps it from it"
    sent, _ = run("brx", lanes, (np.bool_(False), (np.uint32(7),)), "idx", targets=(4, 9))
    assert set(sent.values()) == {INDEX + 1}


@pytest.mark.parametrize("modifiers", [("sync",), ("arrive",), ("red", "popc", "u32")])
@pytest.mark.parametrize("operands", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_barriers(seed: int, operands: int, modifiers: tuple[str, ...]) -> None:
    """Lanes of different barriers and thread counts arrive apart. ``arrive`` does not wait, and ``red`` votes."""
    random = np.random.default_rng(seed)
    lanes = any_lanes(random)
    guard, holds = any_guard(random, lanes)
    numbers = [any_value(random, lanes, choices, np.uint32) for choices in ([0, 1, 15], [32, 64])[:operands]]
    votes = any_value(random, lanes, [0, 1, 6], np.uint32)
    of_taken, taken = [*numbers, *([votes] if "red" in modifiers else [])], lanes
    sent, kept = run("bar", taken, (guard, of_taken), *modifiers)
    each = [of_lanes(lanes, value) for value in (*numbers, votes)]
    expected: dict[Lane, Any] = {}
    for lane, truth in holds.items():
        barrier, count = (each[0][lane] if operands else 0), (each[1][lane] if operands > 1 else None)
        vote = each[-1][lane] != 0 if "red" in modifiers else None
        expected[lane] = (barrier, count, modifiers[0] != "arrive", vote) if truth else INDEX + 1
    assert sent == expected
    assert kept == []


@pytest.mark.parametrize(
    ("barrier", "count", "said"),
    [
        (15, 32, ""), (16, 32, "comes to barrier 16: a block has the barriers 0 to 15"), (0, 1024, ""),
        (3, 0, "comes to a barrier for 0 threads, which is no multiple of 32 above 0: it counts whole warps"),
        (3, 48, "comes to a barrier for 48 threads, which is no multiple of 32 above 0: it counts whole warps"),
        (3, -32, "comes to a barrier for -32 threads, which is no multiple"), (-1, None, "comes to barrier -1: a"),
        (0, None, ""),
    ],
)  # fmt: skip
def test_numbers_that_no_gpu_takes(barrier: int, count: int | None, said: str) -> None:
    lanes = lanes_of(np.arange(THREADS) < np.full((ROWS, 1), 5))
    operands = [np.int32(barrier), *([] if count is None else [np.int32(count)])]
    sent, kept = run("barrier", lanes, (None, operands), "sync")
    assert set(sent.values()) == {(barrier, count, True, None)}
    assert len(kept) == bool(said)
    for sentence, lanes_named in kept:
        assert sentence.startswith(f"the thread {said}")
        assert sentence.endswith(": 15")
        assert lanes_named == 15


@pytest.mark.parametrize(
    ("opcode", "modifiers", "kind", "said"),
    [("trap", (), "trap", "executes a trap"), ("call", ("nothing",), "trap", "where no function with such parameters"),
     ("__assertfail", (), "assert", "fails an assertion")],
)  # fmt: skip
def test_what_stops_the_kernel(opcode: str, modifiers: tuple[str, ...], kind: str, said: str) -> None:
    lanes = lanes_of(np.arange(THREADS) < np.full((ROWS, 1), 4))
    if opcode == "call":
        opcode, modifiers = "call.nothing", ()
    for guard, count in ((None, 12), (np.array([[True, False, True, False]]), 6)):
        with pytest.raises(KernelFault, match=said) as stopped:
            run(opcode, lanes, guard, *modifiers)
        assert stopped.value.kind == kind
        assert str(stopped.value).endswith(f": {count}"), "the lanes where the guard holds"
    sent, _ = run(opcode, lanes, np.zeros((1, 4), bool), *modifiers)
    assert set(sent.values()) == {INDEX + 1}
    assert len(sent) == 12
