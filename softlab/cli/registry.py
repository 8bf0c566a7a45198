"""What a subcommand is, how a function becomes one, and the options that several subcommands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from softlab.dtypes import ELEMENT_TYPES

OPERATORS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """One subcommand: ``arguments`` adds its options to a parser, ``run`` executes it and returns the exit status."""

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
    """All further options, which another program gets unchanged."""
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="further options for the server, after --")


def device_option(parser: argparse.ArgumentParser) -> None:
    """``--device``."""
    parser.add_argument("--device", help="a GPU's name or an architecture (default: the GPU present, else H200)")


def problem_options(parser: argparse.ArgumentParser) -> None:
    """A softmax problem: rows, columns, ``--dtype``, ``--op``, ``--policy`` and ``--device``."""
    parser.add_argument("rows", type=int, help="rows: the product of the leading dimensions")
    parser.add_argument("cols", type=int, help="columns: the last dimension")
    parser.add_argument("--dtype", default="float32", help=f"{', '.join(ELEMENT_TYPES)} (default: float32)")
    parser.add_argument("--op", default="softmax", help=f"{', '.join(OPERATORS)} (default: softmax)")
    parser.add_argument(
        "--policy",
        default="oneflow",
        help="oneflow: the reference design (default); fast: what the operators take on a GPU; invariant: the same "
        "bits for a row in any batch",
    )
    device_option(parser)
