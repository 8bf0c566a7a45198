"""What the parts of a batch count together: each change counts, and each part is cleared."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from softlab.emulator.opcodes.units import Units

#: Part -> what it counts: writes of memory, and what lanes wait for.
WRITES = {"global_": ["writes"], "shared": ["writes"], "local": ["writes"], "cluster_barrier": ["completions"],
          "mbarriers": ["events", "changes"], "atomics": ["writes"], "copies": ["writes"], "textures": ["writes"],
          "heap": ["changes"], "children": ["changes"]}  # fmt: skip
EVENTS = {"cluster_barrier": ["completions"], "mbarriers": ["events"], "copies": ["bindings"]}
CLEARED = ("shared", "local", "cluster_barrier", "mbarriers", "copies", "bulk", "group_matrices")


class Part(SimpleNamespace):
    """Counts that are different powers of two, and what it was asked to do."""

    def __init__(self, number: int) -> None:
        names = ("writes", "completions", "events", "changes", "bindings")
        super().__init__(**{name: 1 << 5 * number + k for k, name in enumerate(names)}, done=[])

    def clear(self) -> None:
        self.done.append("clear")

    def settle(self) -> None:
        self.done.append("settle")


@pytest.fixture
def units() -> Any:
    return Units(**{field.name: Part(number) for number, field in enumerate(fields(Units))})  # type: ignore[arg-type]


def test_every_change_counts_once(units: Any) -> None:
    assert units.writes() == sum(
        getattr(getattr(units, part), name) for part, names in WRITES.items() for name in names
    )
    assert units.events() == sum(
        getattr(getattr(units, part), name) for part, names in EVENTS.items() for name in names
    )
    assert units.cluster_barrier.done == ["settle"], "a barrier that can be complete is"


def test_a_batch_begins_with_memories_of_its_own(units: Any) -> None:
    units.clear()
    done = {field.name for field in fields(Units) if getattr(units, field.name).done == ["clear"]}
    assert done == set(CLEARED), "global memory stays"
