"""``softlab plan``: every choice before a launch, with its reason."""

from __future__ import annotations

import argparse
from typing import Any

from softlab.cli.output import print_json, print_table, print_tree, text_of
from softlab.cli.registry import command, json_option, problem_options


def _arguments(parser: argparse.ArgumentParser) -> None:
    problem_options(parser)
    json_option(parser)
    parser.add_argument("--alternatives", action="store_true", help="also show every other kernel and block size")
    parser.add_argument("--tree", action="store_true", help="also show the dispatcher's questions as a tree")
    force = parser.add_argument_group("choose yourself what the dispatcher would choose")
    force.add_argument("--kernel", help="warp, block_smem or block_uncached; or naive_row, naive_block or online_warp")
    force.add_argument("--pack-size", type=int, help="elements that a thread moves by one instruction: 1, 2, 4, 8")
    force.add_argument("--block-size", type=int, help="threads per block: 128, 256, 512, 1024")
    force.add_argument("--layout", help="layout of the row in shared memory: column, row, row_scalar")
    force.add_argument("--accurate", action="store_true", help="accurate arithmetic instead of fast intrinsics")


@command("plan", "Show which kernel, pack, block and grid a softmax takes, and why.", _arguments)
def _plan(options: argparse.Namespace) -> int:
    plan = _planned(options)
    alternatives = plan.alternatives() if options.alternatives else None
    if options.json:
        record = plan.record() | {"occupancy": plan.occupancy.record() if plan.grid else None}
        if alternatives is not None:
            record["alternatives"] = [_alternative(a) for a in alternatives]
        return print_json(record)
    title = f"{plan.op} of {plan.rows} x {plan.cols} {plan.dtype} on {plan.device.name} ({plan.arch})"
    print_table(title, ("", ""), _figures(plan).items())
    rows = [(str(k), s.question, text_of(s.answer), text_of(s.values), s.rule) for k, s in enumerate(plan.steps, 1)]
    print_table("Steps", ("", "question", "answer", "values", "rule"), rows)
    if options.tree:
        print_tree(plan.tree())
    if alternatives is not None:
        print_table(
            "Alternatives (* is the plan)",
            ("", "kernel", "block", "registers", "blocks/SM", "warps/SM", "grid", "bytes of global memory", ""),
            [_alternative_row(a) for a in alternatives],
        )
    return 0


def _planned(options: argparse.Namespace) -> Any:
    from softlab.plans import forced

    return forced(
        options.rows,
        options.cols,
        options.dtype,
        kernel=options.kernel,
        pack_size=options.pack_size,
        block_size=options.block_size,
        layout=options.layout,
        op=options.op,
        policy=options.policy,
        device=options.device,
        options=("-DSOFTLAB_ACCURATE",) if options.accurate else (),
    )


def _figures(plan: Any) -> dict[str, Any]:
    """What the plan launches, by the name of each figure."""
    figures = {
        "kernel": plan.kernel,
        "elements per pack": plan.pack_size,
        "block": f"{plan.block[0]} x {plan.block[1]} threads",
        "grid": f"{plan.grid} blocks",
    }
    if not plan.grid:
        return figures
    held = plan.occupancy
    return figures | {
        "registers per thread": plan.registers,
        "shared memory per block": f"{plan.static_smem_bytes} static + {plan.smem_bytes} dynamic bytes",
        "occupancy": f"{held.blocks_per_sm} blocks per SM, {held.fraction:.0%} of its warps, "
        f"limited by {' and '.join(held.limiters)}",
        "waves": f"{plan.waves:.2f}",
        "global memory": f"{plan.global_bytes} bytes",
        "compiled": f"{plan.name} of {plan.file}",
    }


def _alternative(alternative: Any) -> dict[str, Any]:
    plan = alternative.plan
    found = plan and {
        "registers": plan.registers,
        "static_smem_bytes": plan.static_smem_bytes,
        "grid": plan.grid,
        "global_bytes": plan.global_bytes,
        "occupancy": plan.occupancy.record(),
    }
    head = {"kernel": alternative.kernel, "block_size": alternative.block_size, "chosen": alternative.chosen}
    return {**head, "plan": found, "reason": alternative.reason}


def _alternative_row(alternative: Any) -> tuple[Any, ...]:
    head = ("*" if alternative.chosen else "", alternative.kernel, alternative.block_size)
    plan = alternative.plan
    if plan is None:
        return (*head, "", "", "", "", "", alternative.reason)
    held = plan.occupancy
    return (*head, plan.registers, held.blocks_per_sm, held.warps_per_sm, plan.grid, plan.global_bytes, "")
