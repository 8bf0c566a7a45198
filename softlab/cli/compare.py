"""``softlab compare``: the kernels of two .cu files side by side, launched alike in the emulator."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from softlab.cli.launches import asked_launch, shape_options
from softlab.cli.output import print_json, print_table, print_text
from softlab.cli.pages import write_page
from softlab.cli.registry import command, json_option
from softlab.cli.run import FOUND

if TYPE_CHECKING:
    from softlab.workbench.launches import FileLaunch

#: The exit status where the results differ.
DIFFERENT = 1


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", help="a .cu file")
    parser.add_argument("new", help="a .cu file whose kernel takes the same arguments")
    shape_options(parser)
    parser.add_argument("--device", default="H200", help="the GPU of the estimates: H200 (default) or H100")
    parser.add_argument("--picture", metavar="OUT.html", help="write a page")
    json_option(parser)
    parser.epilog = (
        'Example: softlab compare old.cu new.cu --grid 16 --block 256 --args "x=random(4096), y=zeros(4096), n=4096". '
        "The exit status is 1 where the results differ, or a run finds an error in a kernel."
    )


@command("compare", "Compare the kernels of two .cu files: counters, registers, estimated time, results.", _arguments)
def _compare(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.workbench import compare
    from softlab.workbench.launches import recorded

    device = resolve(options.device)
    launches, runs = [], []
    for file in (options.old, options.new):
        launch = asked_launch(options, device.arch, file)
        args = tuple(value.copy() if hasattr(value, "copy") else value for value in launch.args)
        launches.append(replace(launch, args=args))
        runs.append(recorded(launches[-1], check="collect"))
    found = [finding for run in runs for finding in run.findings if finding.severity == "error"]
    comparison = compare(*runs, device=device)
    status = FOUND if found else DIFFERENT if comparison.same_results is False else 0
    if options.picture:
        from softlab.views.comparison import comparison_html

        write_page("--picture", options.picture, f"{options.old}, then {options.new}", comparison_html(comparison))
    if options.json:
        print_json(_record(comparison, launches))
        return status
    for sentence in dict.fromkeys(said for launch in launches for said in launch.said):
        print_text(sentence)
    for file, run in zip((options.old, options.new), runs, strict=True):
        errors = sum(finding.severity == "error" for finding in run.findings)
        if errors:
            print_text(f"{file}: {errors} error{'' if errors == 1 else 's'}. softlab run {file} shows them.")
    for sentence in comparison.sentences():
        print_text(sentence)
    from softlab.workbench.comparison import shown_change

    rows = [(name, shown_change(*pair)) for name, pair in comparison.changed_totals().items()]
    print_table("What changed", ("", "old, then new"), rows)
    print_table("Line by line", ("old", "new", "changed (old, new)", "source"), list(_lines(comparison)))
    return status


def _lines(comparison: Any) -> Any:
    for one in comparison.lines:
        changed = {name: pair for name, pair in one.counters.items() if pair[0] != pair[1]}
        if changed:
            words = "; ".join(f"{name} {old}, {new}" for name, (old, new) in changed.items())
            yield one.old_line, one.new_line, words, one.text


def _record(comparison: Any, launches: list[FileLaunch]) -> dict[str, Any]:
    names = launches[1].names
    return {
        "totals": dict(comparison.totals),
        "facts": dict(comparison.facts),
        "estimated_microseconds": [one.microseconds for one in comparison.estimates] if comparison.estimates else None,
        "same_results": comparison.same_results,
        "arrays": [
            {
                "name": names[one.argument],
                "different": one.different,
                "size": one.size,
                "largest": None if one.largest in (None, float("inf")) else one.largest,
                "note": one.note,
            }
            for one in comparison.arrays
        ],
        "lines": [
            {"old": one.old_line, "new": one.new_line, "text": one.text, "counters": dict(one.counters)}
            for one in comparison.lines
        ],
        "notes": list(comparison.notes),
    }
