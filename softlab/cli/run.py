"""``softlab run``: launch a kernel of a .cu file in the emulator; what it did, what is wrong with it, what it wrote."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from softlab.cli.launches import asked_launch, launch_options
from softlab.cli.output import print_json, print_table, print_text
from softlab.cli.pages import write_file, write_page
from softlab.cli.registry import command, json_option
from softlab.errors import KernelFault

if TYPE_CHECKING:
    from softlab.traces.runs import Run
    from softlab.workbench.launches import FileLaunch

#: The exit status of a run that found an error in the kernel.
FOUND = 1
#: Values of each array that JSON has.
_VALUES = 8


def _arguments(parser: argparse.ArgumentParser) -> None:
    launch_options(parser)
    parser.add_argument(
        "--check", choices=("all", "none"), default="all",
        help="all: collect every fault, race and misuse. none: only count, and stop at the first fault (default: all)",
    )  # fmt: skip
    parser.add_argument("--device", default="H200", help="the GPU or architecture to compile for (default: H200)")
    parser.add_argument(
        "--report", metavar="OUT",
        help="write OUT.html, a page with what each line moves and waits for and what to change, or OUT.json",
    )  # fmt: skip
    json_option(parser)
    parser.epilog = (
        'Example: softlab run my.cu --grid 16 --block 256 --args "x=random(4096), y=zeros(4096), n=4096". '
        "The exit status is 1 where the run finds an error in the kernel."
    )


@command("run", "Run a kernel of a .cu file in the emulator: its counters, its faults, its results.", _arguments)
def _run(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.views.reports import array_argument
    from softlab.workbench.advice import advice
    from softlab.workbench.launches import recorded

    if options.report and not options.report.endswith((".html", ".json")):
        raise ValueError(f"--report {options.report}: a name that ends in .html or .json")
    launch = asked_launch(options, resolve(options.device).arch)
    before = [_copied(value) for value in launch.args]
    try:
        run = recorded(launch, check="collect" if options.check == "all" else False)
    except KernelFault as fault:
        print_text(str(fault))
        return FOUND
    arrays = [
        array_argument(name, old, new)
        for name, old, new in zip(launch.names, map(_array, before), map(_array, launch.args), strict=True)
        if old is not None
    ]
    status = FOUND if any(finding.severity == "error" for finding in run.findings) else 0
    if options.report:
        _write_report(options, launch, run, before, arrays)
    if options.json:
        print_json(_record(run, launch, arrays, options.file))
        return status
    for sentence in launch.said:
        print_text(sentence)
    print_text(_findings(run, options.check))
    rows = [(a.name, a.dtype, str(a.shape), f"{a.changed} of {a.size}", a.values) for a in arrays]
    print_table("Arrays after the run", ("name", "dtype", "shape", "changed", "values"), rows)
    print_table(f"Counters of {run.name}", ("counter", "value"), [(k, v) for k, v in run.counters.items() if v])
    for remark in run.remarks:
        print_text(remark)
    for one in advice(run):
        print_text(f"To change: {one}")
    return status


def _array(value: Any) -> Any:
    """The array of an argument, also that of a surface; None for others. A kernel cannot change a texture."""
    from softlab.cuda.textures import Surface

    return value.array if isinstance(value, Surface) else value if hasattr(value, "dtype") else None


def _copied(value: Any) -> Any:
    from softlab.cuda.textures import Image

    if isinstance(value, Image):
        return value.with_array(lambda array: array.copy())
    return value.copy() if hasattr(value, "copy") else value


def _findings(run: Run, check: str) -> str:
    if run.findings:
        from softlab.views.findings import findings_text

        return findings_text(run.findings, run.source, run.file)
    return "The run found nothing wrong." if check == "all" else "The run did not look for races: --check none."


def _write_report(options: argparse.Namespace, launch: FileLaunch, run: Any, before: Any, arrays: Any) -> None:
    from softlab.hardware.devices import resolve
    from softlab.views.report_page import report_page
    from softlab.workbench.report import launch_report, report_record

    report = launch_report(launch, run, resolve(options.device), before)
    if options.report.endswith(".html"):
        write_page("--report", options.report, f"{run.name} in {options.file}", report_page(report, arrays))
    else:
        record = {**_record(run, launch, arrays, options.file), **report_record(report)}
        write_file("--report", options.report, json.dumps(record, indent=2))


def _record(run: Any, launch: FileLaunch, arrays: Any, file: str) -> dict[str, Any]:
    changed = {one.name: one for one in arrays}
    return {
        "file": file,
        "kernel": run.name,
        "grid": run.grid,
        "block": run.block,
        "smem_bytes": launch.smem,
        "from_the_file": launch.said,
        "remarks": run.remarks,
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
            for name, value in zip(launch.names, map(_array, launch.args), strict=True)
            if name in changed
        },
    }


def _json(value: Any) -> Any:
    """A number for JSON, which has no infinity and no NaN: these become text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
