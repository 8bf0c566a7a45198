"""Values of the sources of executed machine instructions, each given to the counter by hand."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.instruments.execution_counter import ExecutionCounter
from softlab.instruments.executions import Edge, Executions, Runs, Sums, Turns


@pytest.fixture
def counter() -> ExecutionCounter:
    """Block 0 has two instructions and block 1 three; an edge costs five more, and a turn of an atomic seven."""
    sources = (Runs(0), Runs(1), Edge(0, 1), Edge(1, 1), Turns(4))
    terms = {"instructions": np.array([[2, 0, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, 5, 11, 0], [0, 0, 0, 0, 7]])}
    return ExecutionCounter(Executions(sources, terms, np.array([0, 0, 1, 0, 0]), ()))


def counted(counter: ExecutionCounter) -> tuple[list[int], int]:
    counts, estimated = counter.result({0: 10, 1: 20})
    return counts["instructions"].tolist(), estimated


def test_blocks_count_as_often_as_warps_ran_them(counter):
    assert counted(counter) == ([20, 60, 0, 0], 0)


def test_edges_add_up_over_batches_and_others_do_not_count(counter):
    counter.edges({(0, 1): 4, (2, 3): 100})
    counter.edges({(0, 1): 2, (1, 1): 1, (1, 0): 100})
    assert counted(counter) == ([20, 60, 6 * 5 + 11, 0], 6)


def test_turns_add_up_and_those_of_other_instructions_do_not_count(counter):
    counter.turns(4, 3)
    counter.turns(4, 2)
    counter.turns(5, 100)
    assert counted(counter) == ([20, 60, 0, 35], 0)


def test_an_edge_counts_the_warps_that_take_it(counter):
    """Also where only some lanes of them do; an edge that has no source does not count."""
    lanes = lanes_of(np.arange(96)[None] % 40 == np.zeros((2, 1), int))  # lanes 0, 40 and 80 of two blocks
    counter.edge(0, 1, lanes)
    counter.edge(1, 1, lanes_of(np.arange(96)[None] < np.array([[1], [33]])))
    counter.edge(1, 0, lanes)
    assert counted(counter) == ([20, 60, 6 * 5 + 3 * 11, 0], 6)
    assert not counter.watches({0, 1})


def test_sums_are_products_with_the_matrix() -> None:
    random = np.random.default_rng(4)
    for rows, columns, part in ((1, 1, 1), (7, 5, 0.3), (50, 9, 0.05), (6, 40, 0.5), (5, 3, 0)):
        terms = random.integers(-9, 10, (rows, columns)) * (random.random((rows, columns)) < part)
        values = random.integers(0, 1 << 40, columns)
        assert Sums.of(terms).total(values).tolist() == (terms @ values).tolist()
