"""Occupancy: how many blocks of a kernel an SM holds at once, and what stops it from holding more.

The arithmetic is that of NVIDIA's ``cuda_occupancy.h`` (CUDA 12.9, compute capability 7.0 to 12.1, the whole of an SM's
shared memory as its carve-out). A test compares the two on a million random cases. The formulas have no branches and
take Python ints and NumPy arrays alike, so that a picture of thousands of cases costs one evaluation.

The header's fifth limit, barriers, is left out: it cannot bind for a kernel with one block barrier, the usual
``__syncthreads()``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from operator import index
from typing import Any

import numpy as np

from softlab.hardware.devices import Device, resolve

#: The resources that can limit, in the order of ``Occupancy.limits``.
LIMITERS = ("threads", "registers", "smem", "blocks")
#: The limit of a resource that a kernel does not use at all (INT_MAX, as ``cuda_occupancy.h`` has it).
UNLIMITED = 2**31 - 1
# cuda_occupancy.h refuses a kernel with more than 256 registers per thread; the instruction set can name 255.
_HEADER_MAX_REGISTERS = 256


@dataclass(frozen=True)
class Occupancy:
    """What an SM holds of one kernel.

    ``blocks_per_sm`` is the least of ``limits``: resource -> blocks that it alone would allow (``UNLIMITED`` where the
    kernel takes none of it); ``limiters`` are all the resources that bind. ``warps_per_sm`` counts the warps of those
    blocks and ``fraction`` is their share of the warps that the SM can hold. ``registers_per_block`` and
    ``smem_allocated`` are what a block gets after rounding. A kernel that does not fit has 0 blocks, and
    ``reason`` says which limit is broken and by how much (empty otherwise).
    """

    device: Device
    threads: int
    registers: int
    smem: int
    opt_in: bool
    blocks_per_sm: int
    warps_per_sm: int
    fraction: float
    limiters: tuple[str, ...]
    limits: dict[str, int]
    registers_per_block: int
    smem_allocated: int
    reason: str = ""

    @property
    def threads_per_sm(self) -> int:
        """Threads of the blocks that an SM holds."""
        return self.blocks_per_sm * self.threads

    def record(self) -> dict[str, Any]:
        """The same as plain data, the device by name and a limit of ``UNLIMITED`` as None (for tables and JSON)."""
        limits = {name: None if limit == UNLIMITED else limit for name, limit in self.limits.items()}
        return {**asdict(self), "device": self.device.name, "limits": limits, "limiters": list(self.limiters)}

    def __str__(self) -> str:
        head = f"{self.device.name}, {self.threads} threads, {self.registers} registers, {self.smem} bytes shared: "
        if self.reason:
            return f"{head}does not fit. {self.reason}"
        limits = ", ".join(f"{k} {'no limit' if v == UNLIMITED else v}" for k, v in self.limits.items())
        return (
            f"{head}{self.blocks_per_sm} blocks, {self.warps_per_sm} of {self.device.max_warps_per_sm} warps "
            f"({self.fraction:.0%}), limited by {' and '.join(self.limiters)} (blocks by {limits})"
        )


def occupancy(
    device: Any = None,
    *,
    threads: int | None = None,
    registers: int | None = None,
    smem: int = 0,
    opt_in: bool | None = None,
) -> Occupancy:
    """The number of blocks per SM, and what limits it.

    Arguments:
        device: a name ("H200", "sm_80"), a :class:`~softlab.hardware.devices.Device`, or None for the GPU present. Or a
            compiled kernel, which brings its registers and static shared memory: a ``Plan``, which needs nothing else;
            a ``Program`` or a ``Kernel``, which needs ``threads``. ``smem`` is then its dynamic shared memory, and the
            device is the flagship of its architecture.
        threads: threads per block.
        registers: registers per thread.
        smem: static + dynamic shared memory, bytes per block.
        opt_in: whether the kernel asked for more shared memory than 48 KiB per block where the device has it. True by
            default; False for a ``Plan`` of the policy "oneflow", since the reference design never asks.

    Raises:
        ValueError: no launch has these values (0 or 2000 threads, negative shared memory, an unknown device); the
            message says which limit is broken and by how much. A kernel whose values are possible one by one but do
            not fit together is an answer, not an error: 0 blocks, with ``limiters`` and ``reason``.
        TypeError: a value that is not an integer, or one that is missing.
    """
    if not (device is None or isinstance(device, str | Device)):
        return _of_kernel(device, threads, registers, smem, opt_in)
    if threads is None or registers is None:
        raise TypeError("occupancy takes threads and registers by name: occupancy('H200', threads=256, registers=32)")
    return _occupancy(resolve(device), threads, registers, smem, True if opt_in is None else opt_in)


def limits(device: Any, threads: Any, registers: Any, smem: Any, opt_in: Any = True) -> tuple[Any, Any, Any, Any]:
    """The blocks that each of ``LIMITERS`` alone allows, in that order: the arithmetic itself, nothing checked.

    ``threads``, ``registers`` and ``smem`` may be ints or integer arrays that broadcast; ``device`` a Device, or any
    object with its fields as arrays (see :func:`columns`).
    """
    warps = _divide_up(threads, device.warp_size)
    by_threads = (threads <= device.max_threads_per_block) * (device.max_threads_per_sm // device.warp_size // warps)

    registers_per_warp = _round_up(registers * device.warp_size, device.register_allocation_unit)
    # The launch check counts as if every sub-partition held as many warps of the block as the fullest one.
    registers_checked = registers_per_warp * _round_up(warps, device.sub_partitions)
    register_fits = (registers_checked <= device.registers_per_block) & (registers <= _HEADER_MAX_REGISTERS)
    no_registers = registers_per_warp == 0
    warps_each = device.registers_per_sm // device.sub_partitions // (registers_per_warp + no_registers)
    by_registers = register_fits * _either(no_registers, UNLIMITED, warps_each * device.sub_partitions // warps)

    allocated = _round_up(smem + device.smem_reserved_per_block, device.smem_allocation_unit)
    most = _either(opt_in, device.smem_per_block_optin, device.smem_per_block) + device.smem_reserved_per_block
    no_smem = allocated == 0
    by_smem = (allocated <= most) * _either(no_smem, UNLIMITED, device.smem_per_sm // (allocated + no_smem))

    return by_threads, by_registers, by_smem, device.max_blocks_per_sm + 0 * by_threads


def blocks(device: Any, threads: Any, registers: Any, smem: Any, opt_in: Any = True) -> np.ndarray:
    """Blocks per SM for arrays of cases that broadcast, int64. Nothing is checked; see :func:`limits`."""
    wide = [np.asarray(value, dtype=np.int64) for value in (threads, registers, smem)]
    found = limits(device, wide[0], wide[1], wide[2], opt_in)
    return np.minimum.reduce(np.broadcast_arrays(*found))


def columns(devices: Sequence[Device]) -> Any:
    """The devices' limits as one record of arrays, for :func:`limits` over cases that differ in device."""

    class Columns:
        def __getattr__(self, name: str) -> np.ndarray:
            return np.array([getattr(device, name) for device in devices], dtype=np.int64)

    return Columns()


def table(
    device: Device | str | None = None,
    *,
    threads: int | Iterable[int] = range(32, 1025, 32),
    registers: int | Iterable[int] = 32,
    smem: int | Iterable[int] = 0,
    opt_in: bool = True,
) -> dict[str, np.ndarray]:
    """Occupancy over all combinations of threads, registers and shared memory, each column an array (n,).

    ``pandas.DataFrame(table(...))`` takes it as it is. Columns: threads, registers, smem, blocks_per_sm, warps_per_sm,
    fraction, limit_<resource> and limited_by_<resource> (bool) for each of ``LIMITERS``.
    """
    device = resolve(device)
    lists = [[v] if isinstance(v, int) else list(v) for v in (threads, registers, smem)]
    for name, values in zip(("threads", "registers", "smem"), lists, strict=True):
        for value in values:
            _check(device, **{"threads": 1, "registers": 0, "smem": 0, name: value})
    cases = np.array(list(product(*lists)), dtype=np.int64).reshape(-1, 3)
    found = limits(device, cases[:, 0], cases[:, 1], cases[:, 2], opt_in)
    least = np.minimum.reduce(found)
    warps = least * _divide_up(cases[:, 0], device.warp_size)
    return {
        **dict(zip(("threads", "registers", "smem"), cases.T.copy(), strict=True)),
        "blocks_per_sm": least,
        "warps_per_sm": warps,
        "fraction": warps / device.max_warps_per_sm,
        **{f"limit_{name}": limit for name, limit in zip(LIMITERS, found, strict=True)},
        **{f"limited_by_{name}": limit == least for name, limit in zip(LIMITERS, found, strict=True)},
    }


def best_block_size(found: Mapping[str, np.ndarray]) -> int:
    """The block size with the most threads per SM in a :func:`table` over block sizes; 0 if no block fits.

    Of several such sizes it is the largest, as for ``cudaOccupancyMaxPotentialBlockSize``.
    """
    threads_per_sm = found["blocks_per_sm"] * found["threads"]
    return int(found["threads"][threads_per_sm == threads_per_sm.max()].max()) if threads_per_sm.any() else 0


def _occupancy(device: Device, threads: int, registers: int, smem: int, opt_in: bool) -> Occupancy:
    threads, registers, smem = _check(device, threads=threads, registers=registers, smem=smem)
    found = dict(zip(LIMITERS, map(int, limits(device, threads, registers, smem, opt_in)), strict=True))
    least = min(found.values())
    warps = -(-threads // device.warp_size)
    unit = device.register_allocation_unit
    return Occupancy(
        device=device,
        threads=threads,
        registers=registers,
        smem=smem,
        opt_in=opt_in,
        blocks_per_sm=least,
        warps_per_sm=least * warps,
        fraction=least * warps / device.max_warps_per_sm,
        limiters=tuple(name for name, limit in found.items() if limit == least),
        limits=found,
        registers_per_block=_round_up(registers * device.warp_size, unit) * warps,
        smem_allocated=_round_up(smem + device.smem_reserved_per_block, device.smem_allocation_unit),
        reason="" if least else " ".join(_reasons(device, threads, registers, smem, opt_in, found)),
    )


def _of_kernel(kernel: Any, threads: int | None, registers: int | None, smem: int, opt_in: bool | None) -> Occupancy:
    """Of a Plan, a Program or a Kernel, told apart by their attributes, so that this module imports none of theirs."""
    program = getattr(kernel, "program", kernel)
    if not hasattr(program, "static_smem_bytes"):
        raise TypeError(
            "occupancy is of a device (a name or softlab.Device), a Plan, a Program or a Kernel, "
            f"not {type(kernel).__name__}"
        )
    if registers is not None:
        raise TypeError("the registers are the compiled kernel's own: leave registers out")
    if hasattr(program, "smem_bytes"):
        if threads is not None or smem:
            raise TypeError("a plan has its own threads and shared memory: leave both out")
        x, y = program.block
        total = program.static_smem_bytes + program.smem_bytes
        return _occupancy(
            program.device, x * y, program.registers, total, program.policy != "oneflow" if opt_in is None else opt_in
        )
    if threads is None:
        raise TypeError("a compiled kernel has no block size of its own: give threads=")
    total = program.static_smem_bytes + smem
    return _occupancy(resolve(program.arch), threads, program.registers, total, True if opt_in is None else opt_in)


def _check(device: Device, *, threads: int, registers: int, smem: int) -> tuple[int, int, int]:
    values = {"threads": threads, "registers": registers, "smem": smem}
    for name, value in values.items():
        if isinstance(value, bool):
            raise TypeError(f"{name} must be an integer, not {value!r}")
        try:
            values[name] = index(value)
        except TypeError:
            raise TypeError(f"{name} must be an integer, not {value!r}") from None
    most = device.max_threads_per_block
    if not 1 <= values["threads"] <= most:
        off = f"{values['threads'] - most} too many" if values["threads"] > most else f"{1 - values['threads']} too few"
        raise ValueError(f"threads = {values['threads']}: a block of {device.name} has 1 to {most} threads, {off}")
    for name, unit in (("registers", "registers per thread"), ("smem", "bytes of shared memory")):
        if values[name] < 0:
            raise ValueError(f"{name} = {values[name]}: a kernel takes 0 or more {unit}, {-values[name]} too few")
    return values["threads"], values["registers"], values["smem"]


def _reasons(
    device: Device, threads: int, registers: int, smem: int, opt_in: bool, found: dict[str, int]
) -> Iterable[str]:
    """One sentence for each resource that allows no block: what is asked, what there is, how much is missing."""
    if not found["registers"]:
        if registers > _HEADER_MAX_REGISTERS:
            most = device.max_registers_per_thread
            yield f"registers: {registers} per thread, at most {most}: {registers - most} too many."
        else:
            per_warp = _round_up(registers * device.warp_size, device.register_allocation_unit)
            warps = _round_up(-(-threads // device.warp_size), device.sub_partitions)
            asked, most = per_warp * warps, device.registers_per_block
            fit = most // warps // device.register_allocation_unit * device.register_allocation_unit
            yield (
                f"registers: {warps} warps of {per_warp} take {asked} of a block's {most}: {asked - most} too many "
                f"(with this block at most {fit // device.warp_size} per thread)."
            )
    if not found["smem"]:
        most = device.smem_per_block_optin if opt_in else device.smem_per_block
        hint = "" if opt_in else f"; with opt-in {device.smem_per_block_optin}"
        yield f"smem: {smem} bytes per block, at most {most}{hint}: {smem - most} too many."


def _divide_up(value: Any, unit: Any) -> Any:
    return -(-value // unit)


def _round_up(value: Any, unit: Any) -> Any:
    return -(-value // unit) * unit


def _either(condition: Any, yes: Any, no: Any) -> Any:
    """``yes if condition else no`` for ints and integer arrays alike."""
    return condition * yes + (1 - condition) * no
