"""Plans, occupancy and traces: what the library knows, as tables or JSON."""

from __future__ import annotations

import argparse
from typing import Any

import softlab
from softlab.cli.output import print_json, print_table, print_tree, text_of
from softlab.cli.registry import command, json_option
from softlab.dtypes import ELEMENT_TYPES

OPERATORS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")


# Options


def _problem(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rows", type=int, help="rows: the product of the leading dimensions")
    parser.add_argument("cols", type=int, help="columns: the last dimension")
    parser.add_argument("--dtype", default="float32", help=f"{', '.join(ELEMENT_TYPES)} (default: float32)")
    parser.add_argument("--op", default="softmax", help=f"{', '.join(OPERATORS)} (default: softmax)")
    parser.add_argument(
        "--policy", default="oneflow", help="oneflow, the reference design (default), or fast, the operators' on a GPU"
    )
    _device(parser)


def _device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", help="a GPU's name or an architecture (default: the GPU present, else H200)")
    json_option(parser)


def _plan_arguments(parser: argparse.ArgumentParser) -> None:
    _problem(parser)
    parser.add_argument("--alternatives", action="store_true", help="what every other kernel and block would give")
    parser.add_argument("--tree", action="store_true", help="the way through the dispatch, and the ways not taken")
    force = parser.add_argument_group("take a choice out of the dispatcher's hands")
    force.add_argument("--kernel", help="warp, block_smem, block_uncached")
    force.add_argument("--pack-size", type=int, help="elements that a thread moves at once: 1, 2, 4, 8")
    force.add_argument("--block-size", type=int, help="threads a block: 128, 256, 512, 1024")
    force.add_argument("--layout", help="shared memory: column, row, row_scalar")
    force.add_argument("--accurate", action="store_true", help="accurate arithmetic instead of fast intrinsics")


def _occupancy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, nargs="+", help="threads a block (default: every multiple of 32)")
    parser.add_argument("--registers", type=int, nargs="+", required=True, help="registers a thread")
    parser.add_argument(
        "--smem", type=int, nargs="+", default=[0], help="static + dynamic shared memory, bytes a block"
    )
    parser.add_argument("--no-opt-in", action="store_true", help="the kernel does not ask for more than 48 KiB a block")
    _device(parser)


def _trace_arguments(parser: argparse.ArgumentParser) -> None:
    _problem(parser)
    parser.add_argument("--by-line", action="store_true", help="the counters of each line of the kernel")


# Commands


@command("plan", "Which kernel, pack, block and grid a softmax takes, and why.", _plan_arguments)
def _plan(options: argparse.Namespace) -> int:
    from softlab.plans import forced

    plan = forced(
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
    alternatives = plan.alternatives() if options.alternatives else ()
    if options.json:
        record = plan.record() | {"occupancy": plan.occupancy.record() if plan.grid else None}
        if options.alternatives:
            record["alternatives"] = [_alternative(a) for a in alternatives]
        return print_json(record)
    figures = {
        "kernel": plan.kernel,
        "elements a thread moves at once": plan.pack_size,
        "block": f"{plan.block[0]} x {plan.block[1]} threads",
        "grid": f"{plan.grid} blocks",
    }
    if plan.grid:
        held = plan.occupancy
        figures |= {
            "registers a thread": plan.registers,
            "shared memory a block": f"{plan.static_smem_bytes} static + {plan.smem_bytes} dynamic bytes",
            "occupancy": f"{held.blocks_per_sm} blocks an SM, {held.fraction:.0%} of its warps, "
            f"limited by {' and '.join(held.limiters)}",
            "waves": f"{plan.waves:.2f}",
            "global memory": f"{plan.global_bytes} bytes",
            "compiled": f"{plan.name} of {plan.file}",
        }
    title = f"{plan.op} of {plan.rows} x {plan.cols} {plan.dtype} on {plan.device.name} ({plan.arch})"
    print_table(title, ("", ""), figures.items())
    rows = [(str(k), s.question, text_of(s.answer), text_of(s.values), s.rule) for k, s in enumerate(plan.steps, 1)]
    print_table("Steps", ("", "question", "answer", "values", "rule"), rows)
    if options.tree:
        print_tree(plan.tree())
    if options.alternatives:
        print_table(
            "Alternatives (* is the plan)",
            ("", "kernel", "block", "registers", "blocks/SM", "warps/SM", "grid", "bytes of global memory", ""),
            [_alternative_row(a) for a in alternatives],
        )
    return 0


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


@command("occupancy", "How many blocks of a kernel an SM holds, and what limits them.", _occupancy_arguments)
def _occupancy(options: argparse.Namespace) -> int:
    from itertools import product

    from softlab.devices import resolve

    device = resolve(options.device)
    threads = options.threads or range(device.warp_size, device.max_threads_per_block + 1, device.warp_size)
    found = [
        softlab.occupancy(device, threads=t, registers=r, smem=s, opt_in=not options.no_opt_in)
        for t, r, s in product(threads, options.registers, options.smem)
    ]
    if options.json:
        return print_json([held.record() for held in found])
    rows = [
        (h.threads, h.registers, h.smem, h.blocks_per_sm, h.warps_per_sm, f"{h.fraction:.0%}",
         ", ".join(h.limiters), *h.record()["limits"].values(), h.reason)
        for h in found
    ]  # fmt: skip
    head = ("threads", "registers", "smem", "blocks/SM", "warps/SM", "occupancy", "limited by")
    limits = tuple(f"by {name}" for name in found[0].limits)
    print_table(f"Occupancy on {device.name} ({device.arch})", (*head, *limits, ""), rows)
    return 0


@command("trace", "Run a softmax of random numbers in the emulator and count what its warps did.", _trace_arguments)
def _trace(options: argparse.Namespace) -> int:
    import numpy as np

    from softlab.dtypes import element_type

    x = np.random.default_rng(0).standard_normal((options.rows, options.cols))
    trace = softlab.trace(
        x.astype(element_type(options.dtype).numpy), op=options.op, policy=options.policy, device=options.device
    )
    lines = trace.by_line() if options.by_line else {}
    if options.json:
        record = {"plan": trace.plan.record(), "counters": dict(trace.counters)}
        return print_json(record | ({"by_line": lines} if options.by_line else {}))
    print_table(repr(trace.plan).strip("<>"), ("counter", "value"), trace.counters.items())
    if lines:
        source = trace.run.source.splitlines()
        names = [name for name in trace.counters if any(counts[name] for counts in lines.values())]
        rows = [(n, source[n - 1].strip(), *(c[name] or "" for name in names)) for n, c in lines.items()]
        print_table(trace.run.file, ("line", "source", *(name.replace("_", " ") for name in names)), rows)
    return 0


@command("devices", "The GPUs that softlab knows, and the one that is present.", _device)
def _devices(options: argparse.Namespace) -> int:
    from softlab.devices import Device, names, resolve

    present = Device.present()
    wanted = [resolve(options.device)] if options.device else [*map(Device.named, names())]
    if options.json:
        return print_json({"present": present and vars(present), "devices": [vars(device) for device in wanted]})
    head = ("name", "arch", "SMs", "threads/SM", "blocks/SM", "registers/SM", "smem/SM", "L2 MiB", "GB/s", "source")
    rows = [_device_row(device) for device in wanted]
    print_table("Devices", head, rows)
    print_table("Present", head, [_device_row(present)] if present else [("none",)])
    return 0


def _device_row(device: Any) -> tuple[Any, ...]:
    return (
        device.name, device.arch, device.sm_count, device.max_threads_per_sm, device.max_blocks_per_sm,
        device.registers_per_sm, device.smem_per_sm,
        "" if device.l2_bytes is None else f"{device.l2_bytes / 2**20:g}",
        "" if device.memory_bandwidth is None else f"{device.memory_bandwidth / 1e9:.0f}",
        device.source,
    )  # fmt: skip


@command("doctor", "What this machine has, and what each missing part costs.", json_option)
def _doctor(options: argparse.Namespace) -> int:
    from softlab import doctor

    findings = doctor.examine()
    print(doctor.to_json(findings) if options.json else doctor.render(findings))
    return doctor.exit_status(findings)
