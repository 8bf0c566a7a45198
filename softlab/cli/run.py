"""``softlab run``: launch a kernel of a .cu file in the emulator; what it did, what is wrong with it, what it wrote."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from softlab.cli.launches import asked_launch, launch_options
from softlab.cli.output import print_json, print_table, print_text
from softlab.cli.registry import command, json_option

if TYPE_CHECKING:
    from softlab.workbench.launches import FileLaunch

#: The exit status of a run that found an error in the kernel.
FOUND = 1
#: Values of each array that JSON has.
_VALUES = 8


def _arguments(parser: argparse.ArgumentParser) -> None:
    launch_options(parser)
    parser.add_argument("--device", default="H200", help="the GPU or architecture to compile for (default: H200)")
    json_option(parser)
    parser.epilog = (
        'Example: softlab run my.cu --grid 16 --block 256 --args "x=random(4096), y=zeros(4096), n=4096". '
        "The exit status is 1 where the run finds an error in the kernel."
    )


@command("run", "Run a kernel of a .cu file in the emulator: its counters, its faults, its results.", _arguments)
def _run(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.views.findings import findings_text
    from softlab.views.reports import array_argument
    from softlab.workbench.launches import recorded

    launch = asked_launch(options, resolve(options.device).arch)
    before = [value.copy() if hasattr(value, "copy") else None for value in launch.args]
    run = recorded(launch, check="collect")
    arrays = [
        array_argument(name, old, new)
        for name, old, new in zip(launch.names, before, launch.args, strict=True)
        if old is not None
    ]
    status = FOUND if any(finding.severity == "error" for finding in run.findings) else 0
    if options.json:
        print_json(_record(run, launch, arrays, options.file))
        return status
    for sentence in launch.said:
        print_text(sentence)
    print_text(findings_text(run.findings, run.source, run.file) if run.findings else "The run found nothing wrong.")
    rows = [(a.name, a.dtype, str(a.shape), f"{a.changed} of {a.size}", a.values) for a in arrays]
    print_table("Arrays after the run", ("name", "dtype", "shape", "changed", "values"), rows)
    print_table(f"Counters of {run.name}", ("counter", "value"), [(k, v) for k, v in run.counters.items() if v])
    for remark in run.remarks:
        print_text(remark)
    return status


def _record(run: Any, launch: FileLaunch, arrays: Any, file: str) -> dict[str, Any]:
    changed = {one.name: one for one in arrays}
    return {
        "file": file,
        "kernel": run.name,
        "grid": run.grid,
        "block": run.block,
        "smem_bytes": launch.smem,
        "from_the_file": launch.said,
        "counters": dict(run.counters),
        "findings": [
            {"severity": f.severity, "kind": f.kind, "line": f.line, "message": f.message} for f in run.findings
        ],
        "arrays": {
            name: {
                "dtype": changed[name].dtype,
                "shape": changed[name].shape,
                "changed": changed[name].changed,
                "first_values": [_json(one) for one in value.reshape(-1)[:_VALUES].tolist()],
            }
            for name, value in zip(launch.names, launch.args, strict=True)
            if name in changed
        },
    }


def _json(value: Any) -> Any:
    """A number for JSON, which has no infinity and no NaN: these become text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
