"""A plugin of pytest: the CPU time of each test, so that a busy machine does not make a test look slow."""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

_TIMES = pytest.StashKey[Counter]()


def spent() -> float:
    """CPU seconds of this process and of those it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", type=Path, help="write the CPU seconds of each test to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TIMES] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    start = spent()
    try:
        return (yield)
    finally:
        item.config.stash[_TIMES][item.nodeid] += spent() - start


def pytest_unconfigure(config: pytest.Config) -> None:
    if (path := config.getoption("--cpu-times")) is not None:
        path.write_text(json.dumps(config.stash[_TIMES]))
