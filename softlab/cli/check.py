"""``softlab check``: faults, races and required counters of a kernel in a .cu file, for CI."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from softlab.cli.launches import asked_request, launch_options
from softlab.cli.output import print_json
from softlab.cli.registry import command, json_option

#: The exit status where a check fails.
FAILED = 1


def _arguments(parser: argparse.ArgumentParser) -> None:
    launch_options(parser)
    parser.add_argument("--spec", metavar="CHECKS.toml", help="launches and what they require, instead of the options")
    parser.add_argument(
        "--require", action="append", default=[], metavar="COMPARISON",
        help="such as 'bank_conflicts == 0' or 'global_load_sectors <= 1.02 * ideal'; may be given several times",
    )  # fmt: skip
    parser.add_argument("--device", default="H200", help="the GPU or architecture to compile for (default: H200)")
    parser.add_argument("--warnings", choices=("allow", "fail"), default="allow", help="whether a warning fails")
    parser.add_argument("--sarif", metavar="OUT.sarif", help="write the problems as SARIF 2.1.0")
    json_option(parser)
    parser.epilog = (
        "Example: softlab check my.cu --grid 16 --block 256 --args 'x=zeros(4096), n=4096' "
        "--require 'bank_conflicts == 0'. The exit status is 0 where every check passes, 1 where one fails, 2 where "
        "the options or the file of checks are wrong."
    )


@command("check", "Check a kernel of a .cu file for faults, races and required counters, for CI.", _arguments)
def _check(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.workbench.checks import Check, read_checks, run_check
    from softlab.workbench.requirements import Requirement
    from softlab.workbench.sarif import sarif

    if options.spec:
        names = ("kernel", "grid", "block", "smem", "args", "constant", "option", "require")
        given = [name for name in names if getattr(options, name)]
        if given:
            raise ValueError(f"--spec has the launches: leave out --{given[0]}")
        checks = read_checks(options.spec, options.file)
    else:
        resolve(options.device)
        required = tuple(Requirement.parse(text) for text in options.require)
        strict = options.warnings == "fail"
        checks = (Check(Path(options.file).stem, asked_request(options), required, options.device, strict),)
    if not Path(options.file).is_file():
        raise ValueError(f"{options.file} cannot be read: no such file")
    results = [run_check(check) for check in checks]
    if options.sarif:
        try:
            Path(options.sarif).write_text(json.dumps(sarif(results), indent=2), encoding="utf-8")
        except OSError as error:
            raise ValueError(f"--sarif {options.sarif} cannot be written: {error.strerror or error}") from None
    failed = sum(not result.passed for result in results)
    if options.json:
        print_json([
            {"check": r.check.name, "passed": r.passed, "problems": [vars(one) for one in r.problems],
             "counters": dict(r.run.counters) if r.run else None, "remarks": r.run.remarks if r.run else ()}
            for r in results
        ])  # fmt: skip
        return FAILED if failed else 0
    for result in results:
        for problem in result.problems:
            print(problem)
        for remark in result.run.remarks if result.run else ():
            print(f"{result.check.request.file}: note: {remark}")
        print(f"{result.check.name}: {'passed' if result.passed else 'failed'}")
    return FAILED if failed else 0
