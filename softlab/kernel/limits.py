"""The size of a launch, and the limits that a GPU checks before it takes one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from operator import index
from typing import Any

from softlab.cuda.compile import Program
from softlab.errors import Error
from softlab.hardware.devices import Device
from softlab.hardware.occupancies import Occupancy, occupancy

Index3 = tuple[int, int, int]

#: Largest grid and block (CUDA C++ Programming Guide, "Compute Capabilities", the same since 3.0).
_GRID_LIMIT = (2**31 - 1, 65535, 65535)
_BLOCK_LIMIT = (1024, 1024, 64)
#: Blocks per cluster that every GPU with clusters takes, and that some take if the launch allows it (CUDA C++
#: Programming Guide, "Thread Block Clusters").
_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16
_WARP = 32
#: No size or count of a launch has more.
_MOST_BITS = 64


@dataclass(frozen=True)
class LaunchShape:
    """The size of a launch: blocks of the grid, threads per block, and dynamic shared memory per block in bytes."""

    grid: Index3
    block: Index3
    smem: int

    @classmethod
    def of(cls, grid: Any, block: Any, smem: Any) -> LaunchShape:
        """The shape from an int or up to three ints each.

        Raises:
            TypeError: a value that is not an integer. ValueError: a value out of range.
        """
        return cls(_three("grid", grid, _GRID_LIMIT), _three("block", block, _BLOCK_LIMIT), _count("smem", smem))

    @property
    def threads(self) -> int:
        """Threads per block."""
        return prod(self.block)


def check_launch(program: Program, shape: LaunchShape) -> None:
    """Refuse a launch that no GPU of the program's architecture takes.

    Raises:
        ValueError: the message has the limit and the numbers.
    """
    _check_cluster(program, shape.grid)
    device = Device.named(program.arch)
    if shape.threads > device.max_threads_per_block:
        raise ValueError(
            f"block {shape.block} has {shape.threads} threads; a block of {program.arch} has at most "
            f"{device.max_threads_per_block}. Use a smaller block and more of them"
        )
    _check_bounds(program, shape)
    total = program.static_smem_bytes + shape.smem
    if total > device.smem_per_block_optin:
        raise ValueError(
            f"a block needs {total} bytes of shared memory ({program.static_smem_bytes} static, {shape.smem} "
            f"dynamic); {program.arch} has at most {device.smem_per_block_optin} per block. Keep less there"
        )
    held = _occupancy(program, shape)
    if not held.blocks_per_sm:
        raise ValueError(
            f"no block of {shape.threads} threads with {program.registers} registers per thread fits on an SM of the "
            f"{device.name}, limited by {' and '.join(held.limiters)}. {held.reason}"
        )


def check_cooperative(program: Program, shape: LaunchShape) -> None:
    """Refuse a cooperative launch of more blocks than the GPU holds at once, as the driver does.

    Raises:
        Error: the message has both numbers.
    """
    device = Device.named(program.arch)
    held = _occupancy(program, shape)
    most = held.blocks_per_sm * device.sm_count
    if prod(shape.grid) > most:
        raise Error(
            f"the grid {shape.grid} has {prod(shape.grid)} blocks, and a cooperative launch runs all of them at once; "
            f"the {device.name} holds {most}: {held.blocks_per_sm} on each of its {device.sm_count} SMs, limited by "
            f"{' and '.join(held.limiters)}. {held.reason or 'Launch fewer blocks, and let each do more'}"
        )


def cluster_of(program: Program) -> Index3:
    """Blocks per cluster along x, y and z, as ``__cluster_dims__`` has them; (1, 1, 1) without."""
    return _directives(program.entry, program.ptx).get("reqnctapercluster", (1, 1, 1))


def warp_order(given: Sequence[int] | None, block: Index3) -> tuple[int, ...]:
    """A checked order of a block's warps; () for lock step."""
    if given is None:
        return ()
    warps = -(-prod(block) // _WARP)
    if not isinstance(given, Iterable):
        raise TypeError(f"warp_order = {given!r}: give a sequence of warps, such as (1, 0)")
    order = tuple(_integer("warp_order", warp) for warp in given)
    if sorted(order) != list(range(warps)):
        raise ValueError(
            f"warp_order = {order}: a block of {block} has the warps 0 to {warps - 1}; name each of them once"
        )
    return order


def random_order(given: int | None, warp_order: Sequence[int] | None) -> int | None:
    """A checked number of a random order; None for none."""
    if given is None:
        return None
    if warp_order is not None:
        raise ValueError("warp_order and random_order are two orders: pass one of them")
    number = _integer("random_order", given)
    if number < 0:
        raise ValueError(
            f"random_order = {_shown(number)}: pass a number that is not negative; another one gives another order"
        )
    return number


def recorded_blocks(given: Any, grid: Index3) -> tuple[int, ...]:
    """The checked linear indices of the blocks to record.

    Raises:
        TypeError: no sequence of integers. ValueError: a block that the grid does not have.
    """
    try:
        blocks = tuple(index(block) for block in given)
    except TypeError:
        raise TypeError(f"blocks = {given!r}: give a sequence of linear block indices, such as (0, 1)") from None
    for block in blocks:
        if not 0 <= block < prod(grid):
            raise ValueError(
                f"blocks has {_shown(block)}; the grid {grid} has the blocks 0 to {prod(grid) - 1}. Record one of them"
            )
    return blocks


def instruction_budget(given: Any) -> int:
    """The checked number of instructions that a batch of blocks may issue.

    Raises:
        TypeError: no integer. ValueError: less than 1.
    """
    return _count("budget", given, least=1)


def _check_bounds(program: Program, shape: LaunchShape) -> None:
    """The block fits what the kernel declares: ``__launch_bounds__``, or ``__block_size__`` for the exact size."""
    declared = _directives(program.entry, program.ptx)
    most = prod(declared.get("maxntid", (shape.threads, 1, 1)))
    if shape.threads > most:
        raise ValueError(
            f"block {shape.block} has {shape.threads} threads; {program.name} is compiled for at most {most} "
            "(__launch_bounds__). Use a smaller block, or declare larger bounds"
        )
    exact = declared.get("reqntid", shape.block)
    if shape.block != exact:
        raise ValueError(f"block is {shape.block}; {program.name} is compiled for blocks of exactly {exact}")


def _check_cluster(program: Program, grid: Index3) -> None:
    cluster = cluster_of(program)
    blocks = prod(cluster)
    if blocks > _LARGEST_CLUSTER:
        raise ValueError(
            f"clusters of {cluster} have {blocks} blocks; a cluster has at most {_LARGEST_CLUSTER}, and more than "
            f"{_PORTABLE_CLUSTER} not on every GPU that has clusters. Compile with smaller __cluster_dims__"
        )
    for axis, size, inner in zip("xyz", grid, cluster, strict=True):
        if size % inner:
            raise ValueError(
                f"grid.{axis} is {size}, no multiple of {inner}, the kernel's clusters of {cluster} blocks along "
                f"{axis}. Launch whole clusters: {-(-size // inner) * inner} blocks"
            )


@lru_cache(maxsize=256)
def _directives(entry: str, ptx: str) -> dict[str, Index3]:
    """The sizes that the PTX declares for an entry: directive -> (x, y, z)."""
    header = re.search(rf"\.entry\s+{re.escape(entry)}\b[^{{]*", ptx)
    found = re.findall(r"\.(reqnctapercluster|maxntid|reqntid)\s+([\d, ]+)", header[0] if header else "")
    sizes = {name: (*(int(size) for size in text.split(",")), 1, 1) for name, text in found}
    return {name: (x, y, z) for name, (x, y, z, *_) in sizes.items()}


def _occupancy(program: Program, shape: LaunchShape) -> Occupancy:
    smem = program.static_smem_bytes + shape.smem
    return _occupancy_of(program.arch, shape.threads, program.registers, smem)


@lru_cache(maxsize=256)
def _occupancy_of(arch: str, threads: int, registers: int, smem: int) -> Occupancy:
    return occupancy(arch, threads=threads, registers=registers, smem=smem)


def _count(name: str, value: Any, least: int = 0) -> int:
    number = _integer(name, value)
    if number < least:
        raise ValueError(f"{name} = {_shown(number)}: it must be {least} or more")
    if number.bit_length() > _MOST_BITS:
        raise ValueError(f"{name} is {_shown(number)}: it must have {_MOST_BITS} bits at most")
    return number


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool):  # Python counts True as 1: it is rather an argument in the wrong place
        raise TypeError(f"{name} must be an integer, not {value!r}")
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def _shown(number: int) -> str:
    """The number for a message: Python refuses to write integers of thousands of digits."""
    bits = number.bit_length()
    return str(number) if bits <= _MOST_BITS else f"an integer of {bits} bits"


def _three(name: str, value: int | Sequence[int], limits: Index3) -> Index3:
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{name} {value!r} has {len(values)} sizes: give an int, or up to three")
    sizes = [_integer(name, size) for size in values] + [1] * (3 - len(values))
    for axis, size, limit in zip("xyz", sizes, limits, strict=True):
        if not 1 <= size <= limit:
            raise ValueError(f"{name}.{axis} is {_shown(size)}: it must be from 1 to {limit}")
    return sizes[0], sizes[1], sizes[2]
