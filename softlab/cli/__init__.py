"""The ``softlab`` command: plans, traces, kernels of .cu files and speeds as tables or JSON, the course, this machine.

A wrong argument ends with one line on standard error and exit status 2. Without a command it prints its help.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import softlab
from softlab.cli import (  # registers them  # noqa: F401
    bench,
    check,
    classroom,
    compare,
    course,
    estimate,
    machine,
    plan,
    run,
    sweep,
    trace,
)
from softlab.cli.registry import COMMANDS
from softlab.errors import Error

BAD_ARGUMENTS = 2
#: What a shell reports for a command that Ctrl-C ended.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (``sys.argv`` where None) and return the exit status: 0, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(prog="softlab", description="A laboratory for GPU kernels.")
    parser.add_argument("--version", action="version", version=f"softlab {softlab.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for declared in COMMANDS.values():
        declared.arguments(commands.add_parser(declared.name, help=declared.help, description=declared.help))
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return COMMANDS[options.command].run(options)
    except BrokenPipeError:  # the reader closed the pipe: softlab plan ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"softlab {options.command}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (Error, ValueError, TypeError) as error:
        print(f"softlab {options.command}: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except MemoryError as error:  # NumPy says how much it needed
        said = str(error).rstrip(".") or "memory ran out"
        print(f"softlab {options.command}: {said}. Take a smaller problem.", file=sys.stderr)
        return BAD_ARGUMENTS
