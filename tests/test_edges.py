"""The edges of row softmax on both executors, and the recorded table of what they and other libraries do there."""

from __future__ import annotations

import pytest

from tests import edge_cases
from tests.edge_cases import EDGES, RIGHT, Edge

EXECUTORS = [edge_cases.emulator, pytest.param(edge_cases.on_gpu, marks=pytest.mark.gpu)]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("edge", [edge for edge in EDGES if not edge.big], ids=lambda edge: edge.name)
def test_edge(edge: Edge, executor) -> None:
    assert edge_cases.verdict(edge, executor()) == RIGHT


@pytest.mark.gpu
@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge.big], ids=lambda edge: edge.name)
def test_big_edge(edge: Edge) -> None:
    assert edge_cases.verdict(edge, edge_cases.on_gpu()) == RIGHT
