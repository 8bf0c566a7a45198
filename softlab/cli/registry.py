"""What a subcommand is, and how a function becomes one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """One subcommand: ``arguments`` declares its options on a parser, ``run`` does it and gives the exit status."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Run


COMMANDS: dict[str, Command] = {}


def command(name: str, help: str, arguments: Callable[[argparse.ArgumentParser], None]) -> Callable[[Run], Run]:
    """Declare the decorated function as the subcommand ``name``."""

    def register(run: Run) -> Run:
        COMMANDS[name] = Command(name, help, arguments, run)
        return run

    return register


def json_option(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def rest_option(parser: argparse.ArgumentParser) -> None:
    """All further options, handed on as they are."""
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="further options, handed on as they are")
