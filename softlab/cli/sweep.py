"""``softlab sweep``: the plans of many row lengths, and where a choice changes."""

from __future__ import annotations

import argparse

from softlab.cli.output import print_json, print_table
from softlab.cli.registry import OPERATORS, command, device_option, json_option
from softlab.dtypes import ELEMENT_TYPES

#: What the table shows if --columns names nothing else.
COLUMNS = ("kernel", "block_size", "pack_size")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cols", help="row lengths: a list (128,1000,4096), first:last or first:last:step")
    parser.add_argument("--rows", type=int, default=65_536, help="rows (default: 65536)")
    parser.add_argument("--dtype", default="float32", help=f"{', '.join(ELEMENT_TYPES)} (default: float32)")
    parser.add_argument("--op", default="softmax", help=f"{', '.join(OPERATORS)} (default: softmax)")
    parser.add_argument("--policy", default="oneflow", help="oneflow: the reference design (default); fast; invariant")
    device_option(parser)
    parser.add_argument(
        "--columns",
        default=",".join(COLUMNS),
        help="figures to show, separated by commas; a line of the table ends where one of them changes "
        "(default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, help="processes; -1 for all cores (default: 1)")
    json_option(parser)


@command("sweep", "Show the plans of many row lengths, and where a choice changes.", _arguments)
def _sweep(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.plans import sweeps

    device = resolve(options.device)
    table = sweeps.plan_columns(
        row_lengths(options.cols),
        rows=options.rows,
        dtype=options.dtype,
        op=options.op,
        policy=options.policy,
        device=device,
        jobs=options.jobs,
        progress=not options.json,
    )
    names = options.columns.split(",")
    if unknown := [name for name in names if name not in table]:
        raise ValueError(f"--columns: no column {unknown[0]!r}; there are {', '.join(table)}")
    if options.json:
        changes = [vars(change) for name in names for change in sweeps.changes(table, name)]
        columns = {name: values.tolist() for name, values in table.items()}
        return print_json({"device": device.name, "columns": columns, "changes": changes})
    title = f"{options.op} of {options.rows} rows of {options.dtype} on {device.name} ({device.arch}): {options.policy}"
    found = sweeps.intervals(table, names)
    print_table(title, ("from", "to", *names), [(each.first, each.last, *each.answers) for each in found])
    return 0


def row_lengths(text: str) -> list[int]:
    """The row lengths that a command line names: "1024:2048:2" includes 2048.

    Raises:
        ValueError: it is neither a list of numbers nor first:last or first:last:step, or it names no length.
    """
    try:
        if ":" not in text:
            return [int(word) for word in text.split(",")]
        first, last, step = map(int, (text if text.count(":") == 2 else f"{text}:1").split(":"))
    except ValueError:
        raise ValueError(
            f"row lengths {text!r}: give a list such as 128,1000,4096, first:last or first:last:step"
        ) from None
    if step < 1 or last < first:
        raise ValueError(f"row lengths {text!r}: there is none from {first} to {last} in steps of {step}")
    return list(range(first, last + 1, step))
