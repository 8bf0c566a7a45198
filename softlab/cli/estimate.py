"""``softlab estimate``: how long a kernel of a .cu file takes on a GPU, what bounds it, what each line waits for."""

from __future__ import annotations

import argparse
from html import escape
from typing import TYPE_CHECKING, Any

from softlab.cli.launches import asked_launch, launch_options
from softlab.cli.output import print_json, print_table, print_text
from softlab.cli.pages import check_page_name, write_page
from softlab.cli.registry import command, json_option
from softlab.errors import KernelFault
from softlab.hardware.devices import with_article

if TYPE_CHECKING:
    from softlab.timing.what_if import WhatIf
    from softlab.workbench.launches import FileLaunch

#: Stall reasons that the table of the whole launch has.
_STALLS = 6
_NOT_CHECKED = (
    "Races are not looked for, and other faults only in the blocks that were interpreted. softlab run looks for all."
)


def _arguments(parser: argparse.ArgumentParser) -> None:
    launch_options(parser)
    parser.add_argument("--device", default="H200", help="H200 (default) or H100")
    parser.add_argument(
        "--cache", choices=("cold", "warm"), default="cold", help="whether L2 holds the arrays before (default: cold)"
    )
    parser.add_argument(
        "--picture", metavar="OUT.html",
        help="write a page: what each line waits for, one SM in cycles, the roofline, and what if",
    )  # fmt: skip
    parser.add_argument(
        "--what-if", action="store_true",
        help="also without bank conflicts, with twice the occupancy, with an infinite L2, with free barriers",
    )  # fmt: skip
    json_option(parser)
    parser.epilog = (
        'Example: softlab estimate my.cu --grid 16 --block 256 --args "x=random(4096), y=zeros(4096), n=4096"'
    )


@command("estimate", "Estimate the time of a kernel in a .cu file, without a GPU.", _arguments)
def _estimate(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import resolve
    from softlab.kernel.estimation import sample_launch
    from softlab.timing.parameters import parameters
    from softlab.timing.what_if import CHANGES, WhatIf

    if options.picture:
        check_page_name("--picture", options.picture)
    device = resolve(options.device)
    parameters(device)  # refuses a GPU without figures, before anything is compiled
    launch = asked_launch(options, device.arch)
    try:
        changes = tuple(CHANGES) if options.what_if or options.picture else ()
        sampled = sample_launch(
            launch.kernel, launch.grid, launch.block, launch.args, launch.smem, device, names=changes
        )
        what_if = sampled.what_if(device, options.cache, changes, timeline=bool(options.picture))
    except KernelFault as fault:
        raise fault.with_note("softlab run with the same arguments shows all that is wrong") from None
    if options.picture:
        _draw(what_if, launch, options.picture)
    if not options.what_if:
        what_if = WhatIf(what_if.base)
    return print_json(_record(what_if, launch, options.file)) if options.json else _print(what_if, launch)


def _draw(what_if: WhatIf, launch: FileLaunch, file: str) -> None:
    """A page that needs no network: the sentences, the bars of the lines, one SM in cycles, what if, the roofline."""
    import plotly.io

    from softlab.views.estimates import estimate_sentences, stall_bars
    from softlab.views.roofline import roofline
    from softlab.views.sm_timeline import sm_timeline
    from softlab.views.what_if import what_if_bars

    found, source = what_if.base, launch.kernel.program.source
    words = " ".join(escape(sentence) for sentence in estimate_sentences(found, source))
    chart = plotly.io.to_html(roofline({found.kernel: found}), include_plotlyjs=True, full_html=False)
    pictures = [stall_bars(found, source), what_if_bars(what_if)]
    if found.timeline is not None:
        pictures.insert(1, sm_timeline(found.timeline, source=source))
    body = f"<p>{words}</p>{''.join(f'<p>{picture}</p>' for picture in pictures)}{chart}"
    write_page("--picture", file, found.kernel, body)


def _record(what_if: WhatIf, launch: FileLaunch, file: str) -> dict[str, Any]:
    found = what_if.base
    names = (
        "kernel", "device", "cache", "grid", "block", "microseconds", "cycles", "launch_microseconds", "bound",
        "stalls", "use", "occupancy", "dram_bytes", "l1_hit_rate", "l2_hit_rate", "instructions", "fp32_operations",
        "blocks", "validated", "notes",
    )  # fmt: skip
    lines = {
        line: {name: getattr(one, name) for name in ("cycles", "share", "reason", "waits_for", "states")}
        for line, one in found.by_line().items()
    }
    record = {name: getattr(found, name) for name in names}
    record = {"file": file, "smem_bytes": launch.smem, "from_the_file": launch.said, **record, "by_line": lines}
    if what_if.changed:
        brief = ("microseconds", "bound", "stalls", "notes")
        record["what_if"] = {k: {name: getattr(one, name) for name in brief} for k, one in what_if.changed.items()}
    return record


def _print(what_if: WhatIf, launch: FileLaunch) -> int:
    from softlab.views.estimates import STALL_WORDS, estimate_sentences
    from softlab.views.what_if import what_if_sentences

    found = what_if.base
    program = launch.kernel.program
    for sentence in (*launch.said, *estimate_sentences(found, program.source), _NOT_CHECKED):
        print_text(sentence)
    dims = ["x".join(map(str, size)) for size in (launch.grid, launch.block)]
    rows = [
        ("time", f"{found.microseconds:.2f} us, {found.launch_microseconds:.2f} of them for an empty kernel"),
        ("cycles", f"{found.cycles:.0f}"),
        ("units in use", _shares(found.use, 3)),
        ("warp states", _shares(found.stalls, _STALLS)),
        ("occupancy", f"{found.occupancy:.0%}"),
        ("DRAM", f"{found.dram_bytes / 1e6:.2f} MB"),
        ("hits of loads", f"L1 {found.l1_hit_rate:.0%}, L2 {found.l2_hit_rate:.0%}"),
        ("simulated", f"{found.blocks} of {dims[0]} blocks of {dims[1]} threads"),
    ]
    print_table(f"{found.kernel} on {with_article(found.device)}", ("", ""), rows)
    source = program.source.splitlines()
    print_table(
        "What a warp spends its time on",
        ("line", "cycles", "share", "first reason", "it waits for", "of line", "source"),
        [
            (n, f"{one.cycles:.0f}", f"{one.share:.0%}", one.reason, STALL_WORDS.get(one.reason, ""), one.waits_for,
             source[n - 1].strip() if 1 <= n <= len(source) else "")
            for n, one in found.by_line().items()
        ],
    )  # fmt: skip
    for sentence in what_if_sentences(what_if) if what_if.changed else ():
        print_text(sentence)
    return 0


def _shares(shares: Any, most: int) -> str:
    top = sorted(shares.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"{name} {share:.0%}" for name, share in top)
