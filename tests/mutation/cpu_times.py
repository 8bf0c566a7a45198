"""A plugin of pytest: the CPU time of each test, so that a busy machine does not make a test look slow.

A fixture that several tests share is set up in the first of them. Alone, each of them would set it up, so its time is
kept apart.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

#: Shared fixtures that take fewer CPU seconds count as a part of the test.
_LEAST = 0.01


@dataclass
class Times:
    """CPU seconds of tests and of the fixtures that they share.

    ``tests``: test -> its seconds without those of shared fixtures; ``fixtures``: shared fixture -> the seconds that
    it takes; ``uses``: test -> the shared fixtures that it needs; ``makes``: test -> those that were set up in it.
    """

    tests: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, float] = field(default_factory=dict)
    uses: dict[str, list[str]] = field(default_factory=dict)
    makes: dict[str, list[str]] = field(default_factory=dict)

    def of(self, tests: Iterable[str]) -> float:
        """The seconds of these tests in one process, in which each shared fixture is set up once."""
        seconds, used = 0.0, set()
        for test in tests:
            seconds += self.tests[test]
            used.update(self.uses.get(test, ()))
        return seconds + sum(self.fixtures[name] for name in used)

    def add(self, test: str, seconds: float, made: dict[str, float], asked: Iterable[str]) -> None:
        """Add a test. ``seconds``: all of it; ``made``: the shared fixtures in it; ``asked``: the names it asks for."""
        made = {name: cost for name, cost in made.items() if cost >= _LEAST}
        for name, cost in made.items():
            self.fixtures[name] = max(cost, self.fixtures.get(name, 0.0))
        self.tests[test] = seconds - sum(made.values())
        names = set(asked)
        used = [name for name in self.fixtures if _reaches(name, test) and name.rpartition("::")[2] in names]
        self.uses |= {test: used} if used else {}
        self.makes |= {test: [*made]} if made else {}


def _reaches(fixture: str, test: str) -> bool:
    """Whether a test finds a fixture, as folder, file or class::name: in its own or in one above."""
    return test.startswith(fixture.rpartition("::")[0])


_TIMES, _MADE = pytest.StashKey[Times](), pytest.StashKey[dict[str, float]]()


def spent() -> float:
    """CPU seconds of this process and of those it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", type=Path, help="write the CPU seconds of each test to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TIMES] = Times()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Iterator[None]:
    start = spent()
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function":
            request.config.stash[_MADE][f"{fixturedef.baseid}::{fixturedef.argname}"] = spent() - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    start, made = spent(), item.config.stash.setdefault(_MADE, {})
    made.clear()
    try:
        return (yield)
    finally:
        item.config.stash[_TIMES].add(item.nodeid, spent() - start, made, getattr(item, "fixturenames", ()))


def pytest_unconfigure(config: pytest.Config) -> None:
    if (path := config.getoption("--cpu-times")) is not None:
        path.write_text(json.dumps(asdict(config.stash[_TIMES])))
