"""Bytes in flight: how much of an SM's registers waits for memory, and how much of it the speed of memory needs.

A kernel that keeps rows in registers asks for a row, waits, computes and writes. While some blocks wait, others write.
So the bytes of all rows that an SM holds at once decide the speed, whatever the length of a row. In 234 cells of a
sweep over random lengths (H200, 16- and 32-bit elements) they predict the share of a copy to 2 % in the mean:

    share = x / (1 + x^6)^(1/6)      x = bytes in flight per SM / bytes needed

The blocks of a cluster wait for the slowest of them, so clusters need more, and some SMs are not in any cluster.

Instructions bound a kernel as well: idle lanes and threads spend them, too. While they take at most 0.9 of the time of
memory, memory hides them, and beyond that the share falls (:func:`enough_time`). So rows of a group of lanes or of a
block alone take the smaller x of both (:func:`bounded`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from softlab.dtypes import ElementType
from softlab.hardware import occupancies
from softlab.hardware.devices import Device
from softlab.plans.fast_cuts import clusters_of
from softlab.plans.fast_limits import WARP_BLOCK, Cut
from softlab.plans.instantiations import WARP_SIZE

#: Bytes per SM at which x is 1: Little's law with the speed of a copy and the latency of a busy memory.
NEEDED_BYTES = 40 * 1024
#: The same for groups of lanes: each warp waits, computes and writes for itself.
NEEDED_BYTES_OF_WARPS = 28 * 1024
#: A cluster of twice the blocks needs so much more.
NEEDED_PER_DOUBLING = 0.15
#: Part of a block that is not in flight, as blocks compute and write: rows of one input, of two.
IDLE_BLOCKS = {1: 0.25, 2: 0.75}
#: Schedulers of an SM, and the warps that keep one busy: an instruction waits four cycles for the one before it.
SCHEDULERS, BUSY_WARPS = 4, 4
#: Unaligned rows of 16-bit elements: the most warps that share a row, per pack of a thread. Beyond that the exchange
#: takes longer than the packs, whatever is in flight (H200, float16 x 16 715: 10.7 warps per pack 0.84, 3.2 0.97).
WARPS_PER_PACK = 4
#: The largest block of their clusters. Smaller blocks in larger clusters wait less for the warp that has head and tail
#: (H100, 2026-11-27: float16 x 47 225 in 2 blocks of 512 threads 0.92, in 8 of 128 or 256 0.99; of 8 lengths from
#: 38 011 to 205 648 columns none is faster with 512).
BLOCK_OF_UNALIGNED_HALVES = 256
#: The largest block of clusters for rows of 16-bit elements with exact sums, where such clusters hold the row. A row is
#: exchanged twice, and smaller blocks wait less (H100, 2026-11-27: bfloat16 x 84 411 in 8 blocks of 256 threads 0.85,
#: in 16 of 128 0.91; of 10 lengths from 40 000 to 118 000 columns one is slower, by 1 %).
BLOCK_OF_EXACT_HALVES = 128
#: The x that is enough: 0.97 of what memory gives. Clusters for unaligned rows of 16-bit elements need more: their last
#: warp has head and tail beside its packs (H200, bfloat16 x 87 247: 1.38 gives 0.91, 1.59 gives 0.97).
ENOUGH, ENOUGH_OF_UNALIGNED_HALVES = 1.3, 1.5
#: Times what the instructions of a row take that memory must take for it (H200, 2026-11-29, 163 cuts of 16-bit rows of
#: 500 to 12 000 bytes with enough in flight: up to 0.89 all have 0.95 of the copy and more, from 0.9 on 4 of 7 have
#: 0.89 to 0.92; kernels/FAST.md, "Instructions beside bytes in flight"). Blocks of bfloat16 need more: the formula
#: counts the same instructions for both types (2026-12-01, 86 blocks: from 1.2 on all have 0.97 and more, from 1.1 to
#: 1.2 0.89 to 1.00). Groups of lanes do not: with 1.2 they lost 1.3 % in the median of 17 lengths, and up to 4 %.
ENOUGH_TIME, ENOUGH_TIME_OF_BFLOAT16 = 1.1, 1.2
#: Registers of a thread of the block and cluster kernels with 1, 2, ... packs of each input, for sm_90: the most of all
#: types of an element's size and both operators. (bytes of an element, inputs, unaligned) -> registers. These are the
#: kernels of 2026-11-29, which had a loop over rows and with which the constants were fitted. Without it some take up
#: to 16 more or fewer. With those numbers 79 cells that would change were 1.001 times as fast (H200, 2026-11-30).
REGISTERS = {
    (2, 1, False): (32, 32, 40, 40, 40, 40, 56, 56, 56, 56),
    (2, 1, True): (32, 40, 32, 40, 48, 48, 56, 56, 64, 72),
    (4, 1, False): (32, 32, 32, 40, 40, 48, 56, 56, 56, 64),
    (4, 1, True): (32, 32, 40, 40, 48, 48, 56, 56, 64, 64),
    (8, 1, False): (32, 40, 40, 48, 48, 48, 56, 56, 64, 80),
    (8, 1, True): (40, 48, 48, 56, 48, 56, 56, 80, 80, 72),
    (2, 2, False): (32, 32, 40, 48, 56, 72),
    (2, 2, True): (40, 40, 40, 48, 64, 64),
    (4, 2, False): (32, 32, 40, 48, 56, 64),
    (4, 2, True): (32, 40, 48, 56, 64, 64),
    (8, 2, False): (32, 40, 48, 56, 64, 72, 80),
    (8, 2, True): (40, 48, 56, 56, 64, 80, 88),
}
#: The same where sums are exact (kernels/exact_operator.cuh).
EXACT_REGISTERS = {
    **REGISTERS,
    (2, 1, False): (32, 32, 40, 48, 48, 56, 56, 64, 64, 64),
    (2, 1, True): (32, 40, 48, 48, 56, 64, 64, 64, 72, 72),
    (2, 2, False): (40, 40, 64, 80, 80, 128),
    (2, 2, True): (40, 48, 64, 80, 128, 128),
    (4, 2, False): (32, 40, 64, 64, 80, 112),
    (4, 2, True): (32, 40, 64, 64, 80, 128),
    (8, 2, False): (32, 48, 56, 72, 88, 104, 120),
    (8, 2, True): (40, 48, 64, 72, 96, 104, 120),
}
#: The same for clusters of 256 threads with exact sums, where they differ.
EXACT_REGISTERS_OF_CLUSTERS = {
    (2, 1, False): (32, 40, 48, 48, 64, 56, 64, 104, 104, 88),
    (2, 1, True): (32, 40, 48, 56, 56, 80, 80, 80, 80, 80),
}
#: Clusters of large blocks for which the compiler takes more: (the key above, threads, packs) -> registers.
REGISTERS_OF_CLUSTERS = {((2, 2, False), 512, 3): 64, ((2, 2, True), 512, 6): 80}
#: Exact sums take a second exchange and more instructions, so a row stays in its registers longer. Rows of 16-bit
#: elements need this multiple of the bytes in flight: in blocks and clusters, in groups of lanes.
EXACT_NEEDED_OF_HALVES, EXACT_NEEDED_OF_WARPS = 1.5, 2.0
#: Gradients of 16 and 32 bits need this multiple of the bytes if a thread has 1, 2 or 3 packs of each input between the
#: two exchanges (H200, float16 gradient x 32 000, at the same bytes in flight: 2 packs 0.80, 4 packs 0.97).
EXACT_NEEDED_OF_GRADIENTS = (2.0, 1.7, 1.4)
#: The most packs that a lane of the warp kernel keeps, and where sums are exact.
WARP_PACKS, EXACT_WARP_PACKS = 6, 8
#: With exact sums an element of a 16-bit gradient takes many instructions: idle lanes cost more than registers, up to
#: this number of packs (H100, 2026-11-27: bfloat16 x 301 with 2 packs on 32 lanes 0.88, with 5 on 8 lanes 1.01).
EXACT_PACKS_OF_FULL_LANES = 5


def most_packs(itemsize: int, inputs: int, exact: bool = False) -> int:
    """Packs of each input that :data:`REGISTERS` knows, or :data:`EXACT_REGISTERS`."""
    return len((EXACT_REGISTERS if exact else REGISTERS)[itemsize, inputs, True])


def of_block(
    device: Device,
    cut: Cut,
    packs: int,
    row_bytes: int,
    itemsize: int,
    inputs: int,
    unaligned: bool,
    exact: bool = False,
) -> float:
    """The x of a row of ``packs`` packs and ``row_bytes`` bytes of all inputs, divided by a cut.

    ``exact``: the kernel's sums are exact.
    """
    taken = cut.taken(packs)
    blocks = cut.resident or _blocks_per_sm(
        device, cut.block_size, _registers(cut, taken, (itemsize, inputs, unaligned), exact)
    )
    used = clusters_of(device, cut.cluster) * cut.cluster / device.sm_count
    needed = NEEDED_BYTES * (1 + NEEDED_PER_DOUBLING * (cut.cluster.bit_length() - 1))
    needed *= _needed_by_exact(itemsize, inputs, taken) if exact else 1
    return max(0.0, blocks - IDLE_BLOCKS[inputs]) * row_bytes / cut.cluster * used / needed


def _registers(cut: Cut, taken: int, key: tuple[int, int, bool], exact: bool) -> int:
    """Registers of a thread with ``taken`` packs of each input."""
    registers = (EXACT_REGISTERS if exact else REGISTERS)[key][taken - 1]
    if cut.cluster > 1 and exact:
        return EXACT_REGISTERS_OF_CLUSTERS.get(key, EXACT_REGISTERS[key])[taken - 1]
    return REGISTERS_OF_CLUSTERS.get((key, cut.block_size, taken), registers) if cut.cluster > 1 else registers


def _needed_by_exact(itemsize: int, inputs: int, packs: int) -> float:
    """How many times the bytes rows with exact sums need, with ``packs`` packs of each input per thread."""
    if inputs == 2:
        return EXACT_NEEDED_OF_GRADIENTS[packs - 1] if itemsize < 8 and packs <= len(EXACT_NEEDED_OF_GRADIENTS) else 1.0
    return EXACT_NEEDED_OF_HALVES if itemsize == 2 else 1.0


def of_warps(
    device: Device, width: int, packs: int, row_bytes: int, itemsize: int, inputs: int, exact: bool = False
) -> float:
    """The x of rows of ``row_bytes`` bytes of all inputs, of which ``width`` lanes keep ``packs`` packs each."""
    # As compiled for sm_90: 24 or 32 registers and 8 for each pack (of each of two inputs: 16 would spill, 8 do).
    registers = 8 * (packs + (3 if inputs == 1 else 4))
    blocks = _blocks_per_sm(device, WARP_BLOCK, registers)
    needed = NEEDED_BYTES_OF_WARPS * (EXACT_NEEDED_OF_WARPS if exact and (itemsize, inputs) == (2, 1) else 1)
    return blocks * WARP_BLOCK // width * row_bytes / needed


def enough_time(element: ElementType, threads: int) -> float:
    """Times what the instructions of a row of ``threads`` threads take that memory must take to hide them."""
    return ENOUGH_TIME_OF_BFLOAT16 if element.name == "bfloat16" and threads > WARP_SIZE else ENOUGH_TIME


def bounded(x: float, memory: float, issue: float, enough: float) -> float:
    """The x of rows whose instructions take ``issue`` where memory takes ``memory`` units of time.

    Memory hides them where it takes ``enough`` times as long (:func:`enough_time`).
    """
    return min(x, ENOUGH * memory / issue / enough)


@lru_cache(maxsize=1024)
def _blocks_per_sm(device: Device, threads: int, registers: int) -> int:
    return occupancies.occupancy(device, threads=threads, registers=registers).blocks_per_sm


def widest_of_few(
    device: Device, rows: int, chosen: tuple[int, int], shapes: Iterable[tuple[int, int]]
) -> tuple[int, int]:
    """The chosen lanes and packs of a group; of few rows the widest group of ``shapes`` whose lanes all have a pack.

    Few rows have at most :data:`BUSY_WARPS` warps per scheduler. Then more lanes take no time from other warps, and
    each has fewer packs. ``shapes`` come from narrow to wide.
    """
    most = BUSY_WARPS * SCHEDULERS * device.sm_count * WARP_SIZE // rows
    before = 0
    for width, packs in shapes:
        if chosen[0] < width <= most and before != 1:
            chosen = width, packs
        before = packs
    return chosen


def shared_by_few(cut: Cut, packs: int, itemsize: int, inputs: int, unaligned: bool) -> bool:
    """Whether a thread has enough packs between exchanges: see :data:`WARPS_PER_PACK`."""
    if not unaligned or (itemsize, inputs) != (2, 1):
        return True
    return cut.cluster * cut.block_size // 32 <= WARPS_PER_PACK * cut.taken(packs)


def best(candidates: Iterable[tuple[float, Cut]], enough: float = ENOUGH) -> Cut | None:
    """The first candidate that is enough, else the one with the most in flight."""
    listed = list(candidates)
    first = next((cut for x, cut in listed if x >= enough), None)
    return first or max(listed, key=lambda pair: pair[0], default=(0.0, None))[1]
