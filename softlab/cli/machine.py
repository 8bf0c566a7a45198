"""The hardware: occupancy, the GPUs that softlab knows, and what this machine has."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import softlab
from softlab.cli.output import print_json, print_table
from softlab.cli.registry import command, device_option, json_option

if TYPE_CHECKING:
    from softlab.hardware.devices import Device


def _occupancy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, nargs="+", help="threads per block (default: every multiple of 32)")
    parser.add_argument("--registers", type=int, nargs="+", required=True, help="registers per thread")
    parser.add_argument(
        "--smem", type=int, nargs="+", default=[0], help="static + dynamic shared memory, bytes per block"
    )
    parser.add_argument(
        "--no-opt-in", action="store_true", help="the kernel does not ask for more than 48 KiB per block"
    )
    device_option(parser)
    json_option(parser)


@command("occupancy", "Show how many blocks of a kernel an SM holds, and what limits them.", _occupancy_arguments)
def _occupancy(options: argparse.Namespace) -> int:
    from itertools import product

    from softlab.hardware.devices import resolve

    device = resolve(options.device)
    _check_possible(device, options.registers, options.smem)
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


def _check_possible(device: Device, registers: Sequence[int], smem: Sequence[int]) -> None:
    """No kernel on this device has more, whatever else it has.

    Raises:
        ValueError: a number is greater than the device's limit; the message has both.
    """
    given = {
        "registers": (registers, device.max_registers_per_thread, "a thread on {} has at most {}"),
        "smem": (smem, device.smem_per_block_optin, "a block on {} has at most {} bytes of shared memory"),
    }
    for name, (values, most, limit) in given.items():
        for value in values:
            if value > most:
                raise ValueError(f"{name} = {value}: {limit.format(device.name, most)}. Give fewer.")


def _devices_arguments(parser: argparse.ArgumentParser) -> None:
    device_option(parser)
    json_option(parser)


@command("devices", "Show the GPUs that softlab knows, and the one that is present.", _devices_arguments)
def _devices(options: argparse.Namespace) -> int:
    from softlab.hardware.devices import Device, names, resolve

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


@command("doctor", "Show what this machine has, and what you lose without each missing part.", json_option)
def _doctor(options: argparse.Namespace) -> int:
    from softlab.cli import doctor

    findings = doctor.examine()
    print(doctor.to_json(findings) if options.json else doctor.render(findings))
    return doctor.exit_status(findings)
