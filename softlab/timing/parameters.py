"""The figures of a GPU that the timing model takes: each from the atlas of the GPU, or from a published source.

No figure here was fitted to the time of a kernel. Where the atlas (:mod:`softlab.hardware.atlas`) has a row, the row
counts. Where it has none, the figure is provisional, and ``Parameters.provisional`` names it with its source:

- "guide": CUDA C++ Programming Guide, "Arithmetic Instructions" (results per cycle and SM, compute capability 9.0)
- "dissecting": W. Luo et al., Dissecting the NVIDIA Hopper Architecture through Microbenchmarking, arXiv 2501.12084,
  and Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, arXiv 2402.13499
- "cores": R. Huerta et al., Analyzing Modern NVIDIA GPU Cores, arXiv 2503.20481
- "probe": single measurements on an H200 at 1980 MHz, before there was an atlas
- "assumed": nobody measured it
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import log2
from typing import Any

from softlab.hardware.devices import Device

#: Ascending (x, y).
Curve = tuple[tuple[float, float], ...]
#: The devices that the model has figures for. Both have the same core (compute capability 9.0) at the same clock.
DEVICES = ("H200", "H100")


@dataclass(frozen=True)
class Parameters:
    """Figures of one GPU. Times are cycles of the SM's clock; rates are bytes per cycle of the whole GPU.

    ``interval``: class of instruction -> cycles that it takes on the pipe of one scheduler. ``latency``: class ->
    cycles from issue to the issue of an instruction that waits for its scoreboard. ``loaded``: (share of the DRAM's
    bandwidth, cycles that a load then takes longer), ascending.
    ``block_intervals`` and ``block_turnarounds``: (threads per block, cycles), ascending. ``provisional``: name of a
    figure -> source, for those that the atlas does not have.
    """

    device: str
    clock_mhz: float = 1980.0
    sm_count: int = 132
    interval: Mapping[str, float] = field(default_factory=dict)
    latency: Mapping[str, float] = field(default_factory=dict)
    # Memory
    l1_latency: float = 35.0
    # Lines of one request that L1 finds per cycle
    l1_lines: float = 4.0
    l2_latency: float = 280.0
    # By the lines that a request touches: cycles by which L2 answers later, beyond one cycle per line
    l2_spread: Curve = ((1.0, 0.0), (32.0, 50.0))
    dram_latency: float = 660.0
    dram_bytes: float = 2070.0
    # The DRAM's time in read bytes: of 0 to 4 pieces of 64 bytes in 256 bytes; per stored byte; in addition, where as
    # much is read; per byte of sectors that are stored in part, where 1, 2, 4 and 8 of 8 neighbours are stored
    dram_pieces: tuple[float, ...] = (0.0, 64.0, 128.0, 192.0, 256.0)
    dram_write: float = 1.0
    dram_turn: float = 0.2
    dram_sparse_write: tuple[float, ...] = (8.0, 6.0, 3.0, 2.0)
    l2_bytes: float = 2900.0
    l2_write_bytes: float = 2400.0
    # Bytes per cycle of stores that L2 would take if it had to write nothing: they share its ways with loads
    l2_passing_bytes: float = 2900.0
    l2_sm_bytes: float = 64.0
    l2_sm_write_bytes: float = 32.0
    # Bytes per cycle that one SM gets from DRAM, by SMs at work
    dram_sm_bytes: Curve = ((1.0, 64.0),)
    # The share of a launch's memory that the same launch finds in L2 again, by its bytes
    again: Curve = ((40e6, 1.0), (50e6, 0.0))
    # Standard deviations of a DRAM access in cycles: of pairs of sectors of a row, and of rows
    dram_spread: tuple[float, float] = (0.0, 0.0)
    # Cycles until the address of a page of memory is known
    dram_new_page: float = 0.0
    # Sectors whose time a line takes in L2 at least: loaded, and stored
    l2_line_least: float = 2.0
    l2_line_least_stored: float = 2.0
    distributed_latency: float = 180.0
    # Shared memory of another SM: cycles of a load per line and per sector, of a store per piece of 16 bytes or whole
    # sector, and of an atomic per sector or lane at the same word. Four SMs of an H200 took per instruction of a warp,
    # 2026-11-28: loads of 32 lanes in 32 sectors of 8 lines 60.6 cycles, and at random 87; stores of lanes that lie
    # 8, 32 and 128 bytes apart 25.8, 51 and 49.8 cycles; atomics there 27.6, 108.6 and 103.3, all on one word 96.6
    distributed_load: tuple[float, float] = (1.67, 1.476)
    distributed_store: float = 1.6
    distributed_atomic: float = 3.4
    partial_store: float = 2.0
    # Whole sectors in whose time L2 writes parts of 1, 2 and 4 sectors of a line
    l2_parts: Curve = ((1.0, 2.0), (2.0, 3.0), (4.0, 5.0))
    # Stores of local memory that fill their sectors in part: cycles per line and per sector by one SM, and by each of
    # all SMs
    local_in_part: tuple[tuple[float, float], tuple[float, float]] = ((1.0, 1.0), (1.8, 2.4))
    # Cycles of L2 per line of local memory that each of all SMs stores: of a whole one, and of one in parts at most.
    # Lines of local memory lie unevenly in L2, and a launch ends with its slowest SM: one that has N lines waits longer
    # than the mean SM by the last figure over the root of N. H200 with 1 to 32 warps on each SM, 2026-11-29
    local_line: tuple[float, float] = (7.7, 9.2)
    local_uneven: float = 4.0
    # Lines that an SM has begun to store to, and with which it merges further stores
    store_lines: int = 16
    l2_capacity: int = 50 << 20
    l1_capacity: int = 256 << 10
    loaded: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.5, 60.0), (0.8, 200.0), (1.0, 440.0))
    # The same where as much is written as read, and of L2
    loaded_copy: Curve = ((0.0, 0.0), (0.5, 60.0), (0.8, 200.0), (1.0, 440.0))
    l2_loaded: Curve = ((0.0, 0.0),)
    # Queues of the load and store unit, in instructions per scheduler
    mio_queue: int = 6
    lg_queue: int = 10
    mio_interval: float = 2.0
    # Atomics of L2 (:mod:`softlab.timing.atomics`). Cycles of a unit per pass: of one lane; of one lane that adds a
    # float to the same word as the one before it; of a whole sector; of one that adds doubles or compares. Cycles of
    # the whole GPU per sector of a request, and per lane and per sector that gets a value back. Cycles of one SM per
    # pass, and per lane that gets a value back. Units.
    atomic_lane: float = 1.0
    atomic_float_lane: float = 1.0
    atomic_pass: float = 1.0
    atomic_slow_pass: float = 2.0
    atomic_sector: float = 0.025
    atomic_return: float = 0.0025
    atomic_return_sector: float = 0.0
    atomic_sm: float = 1.25
    atomic_sm_return: float = 0.3
    # By the logarithm to base 2 of an array's bytes: units of L2 that it lies in
    atomic_spread: Curve = ((7.0, 1.0), (18.0, 80.0))
    # Atomics of shared memory: cycles per pass, and of one that compares
    shared_atomic: tuple[float, float] = (1.0, 2.0)
    # A loop that loads, computes and swaps in shared memory: cycles of a turn, and of a word from one swap to the next
    shared_swap: float = 94.0
    shared_swap_apart: float = 47.0
    # Bulk stores: bytes per cycle of an SM, and cycles until the thread knows that shared memory has been read. On an
    # H100 one of 64, 1024, 4000, 8000 and 32000 bytes and its wait took 193, 215, 308, 433 and 1183 cycles; of two
    # blocks per SM each had half of the rate
    bulk_bytes: float = 32.0
    bulk_latency: float = 183.0
    # MATCH.ANY: cycles of the SM per value that differs, and by which each further one makes the result later; both of
    # values of 64 bits
    match_value: float = 2.0
    match_later: float = 11.0
    match_wide: tuple[float, float] = (4.0, 13.0)
    # Register banks: cycles of a bank's port for 0, 1, 2 and 3 operands of it in one instruction
    bank_reads: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    # Control
    branch_taken: float = 7.0
    # Cycles by which a warp waits longer behind IMAD.WIDE and IMAD.HI than their stall count says; and cycles of the
    # integer pipe that IMAD.WIDE takes
    wide_wait: float = 0.0
    wide_integer: float = 2.0
    # Cycles of a BSYNC, and of a divergence: lanes that go another way, and come back to the others later
    bsync: float = 5.0
    divergence: float = 0.0
    # Cycles by which a warp waits longer where some of its lanes jump ahead; where it goes on with a third set of lanes
    # or a further one; and with further lanes that WARPSYNC.EXCLUSIVE keeps apart
    parted: tuple[float, float, float] = (9.3, 28.0, 35.0)
    # The same behind YIELD: alone, and while other lanes wait
    yielded: tuple[float, float] = (54.4, 105.6)
    call: float = 10.0
    barrier_latency: float = 20.0
    barrier_stagger: float = 2.0
    # Of a cluster's barrier, from its last arrival on
    cluster_barrier: float = 66.0
    # Cycles that a cluster's barrier of one block takes the SM's unit for barriers at least
    cluster_message: float = 16.0
    # Instruction caches: cycles per line of 128 bytes that comes from the second cache, and from L2; bytes of the
    # first and of the second cache; cycles until a line after a jump is there
    icache_line: float = 17.8
    icache_line_l2: float = 45.0
    icache_bytes: int = 32 << 10
    icache_second_bytes: int = 128 << 10
    icache_miss: float = 70.0
    # By bytes of code: those that the second cache still has of the launch before. Straight code of 64 to 384 KiB took
    # an H200 (2026-11-29) 18, 22, 26, 33, 35, 37, 39 and 41.5 cycles per line with 64, 120, 132, 144, 160, 192, 256 and
    # 384 KiB where L2 is warm. Where it is cold it took 79, 85, 92.5 and 99.5 with 160 to 384 KiB on one SM. These are
    # the times of lines from the second cache, from L2 and from DRAM if so much is still there
    icache_again: Curve = (
        (106496.0, 106496.0), (122880.0, 106496.0), (135168.0, 98304.0), (147456.0, 61440.0), (163840.0, 59392.0),
    )  # fmt: skip
    # By SMs at work: cycles by which a line behind another one comes later from DRAM than from L2: the same launches
    icache_cold: Curve = ((8.0, 69.0), (33.0, 57.0))
    constant_miss: float = 70.0
    # Cycles by which the result of LDC comes later per further word that its lanes want: 28, 39, 61, 105, 193 and 369
    # cycles took a chain of them on an H100 where each warp wanted 1, 2, 4, 8, 16 and 32 words, 4 to 64 bytes apart
    constant_word: float = 11.0
    # By SMs at work: cycles by which constants come later where L2 is cold
    constant_cold: Curve = ((1.0, 0.0),)
    # Fences: cycles of one alone, and behind a store, by the number of SMs; cycles between two of an SM, likewise
    membar_gpu: float = 600.0
    membar_stored: tuple[tuple[float, float], ...] = ((1.0, 600.0),)
    membar_interval: float = 10.0
    membar_stored_interval: float = 20.0
    membar_cta: float = 20.0
    # Launches
    block_intervals: tuple[tuple[float, float], ...] = ((1024, 1.18),)
    block_turnarounds: tuple[tuple[float, float], ...] = ((1024, 300.0),)
    # By which the second wave comes later to SMs that hold several blocks, which end at about the same time: grids of
    # 1.25 to 1.5 waves of blocks that spin for 3000 to 5000 cycles took 229 to 251 cycles longer on an H200
    # (2026-11-29) than with the turnaround of an SM with one block
    second_wave: float = 240.0
    launch_microseconds: float = 1.0
    # By SMs at work, where L2 is cold and where it is warm: cycles of a launch whose blocks do nothing beyond an empty
    # one, without the starts of its blocks; from the last store to the end of the launch; and by which the first load
    # takes longer than a later one
    start: tuple[Curve, Curve] = (((1.0, 0.0),), ((1.0, 0.0),))
    drain: tuple[Curve, Curve] = (((1.0, 400.0),), ((1.0, 400.0),))
    first_load: tuple[Curve, Curve] = (((1.0, 0.0),), ((1.0, 0.0),))
    provisional: Mapping[str, str] = field(default_factory=dict)

    def with_constant_miss(self, cycles: float) -> Parameters:
        """The same, but for the cycles of a line of constant memory that is not there."""
        if cycles not in self._of_constant_misses:
            self._of_constant_misses[cycles] = replace(self, constant_miss=cycles)
        return self._of_constant_misses[cycles]

    @cached_property
    def _of_constant_misses(self) -> dict[float, Parameters]:
        """What :meth:`with_constant_miss` has given."""
        return {}

    def block_interval(self, threads: int) -> float:
        """Cycles of the whole GPU between the starts of two blocks of this size."""
        return interpolated(self.block_intervals, threads)

    def block_turnaround(self, threads: int) -> float:
        """Cycles from the end of a block to the start of the next one in its place."""
        return interpolated(self.block_turnarounds, threads)

    def evenness(self, nbytes: int) -> float:
        """The share of L2's units that loads of lines at random from an array keep at work.

        A line lies in one unit of each half of L2, where all SMs of that half want it, so that few lines use the units
        as twice as many do that lie in one place each: ``atomic_spread`` is about these.
        """
        return min(1.0, interpolated(self.atomic_spread, log2(2 * nbytes)) / self.atomic_spread[-1][1])

    @property
    def atlas(self) -> bool:
        """Whether an atlas of this GPU was there."""
        return "all" not in self.provisional


def interpolated(table: Sequence[tuple[float, float]], at: float) -> float:
    """The value of a table of ascending (x, y) at x, straight between its points and level outside."""
    if at <= table[0][0]:
        return table[0][1]
    place = bisect_left(table, (at,))
    if place == len(table):
        return table[-1][1]
    (a, ya), (b, yb) = table[place - 1], table[place]
    return ya + (yb - ya) * (at - a) / (b - a)


#: Class -> cycles on one scheduler's pipe, and source. A pipe that gives 16 results per cycle takes a warp for 2.
_INTERVALS = {
    "FFMA": (1, "guide"),
    "FADD": (1, "guide"),
    "FMUL": (1, "guide"),
    "HFMA2": (1, "guide"),
    "IMAD": (2, "probe"),
    "IMAD.WIDE": (4, "assumed"),
    "IMAD.HI": (4, "assumed"),
    "IADD3": (2, "guide"),
    "SHF": (2, "probe"),
    "DFMA": (2, "probe"),
    "MUFU": (8, "probe"),
    "POPC": (8, "guide"),
    "F2F.F64.F32": (8, "guide"),
    "LDC": (8, "probe"),
    "UIADD3": (2, "cores"),
    "R2UR": (2, "assumed"),
    "S2R": (8, "assumed"),
    "SHFL": (4, "guide"),
    "VOTE": (2, "guide"),
    "REDUX": (8, "guide"),
    "MATCH": (8, "assumed"),
}
_LATENCIES = {
    "LDS": (23.5, "probe"),
    "LDS.64": (25.0, "assumed"),
    "LDS.128": (30.0, "assumed"),
    "MUFU": (17.5, "probe"),
    "SHFL": (24.0, "dissecting"),
    "POPC": (17.5, "assumed"),
    "F2I": (17.5, "assumed"),
    "F2F": (17.5, "assumed"),
    "LDC": (38.0, "assumed"),
    "S2R": (22.0, "assumed"),
    "S2UR": (22.0, "assumed"),
    "R2UR": (11.0, "assumed"),
    "REDUX": (22.0, "assumed"),
    "MATCH": (25.0, "assumed"),
    "VOTE": (12.0, "assumed"),
    "ATOMS.ADD": (50.0, "assumed"),
    "ATOMS.CAS": (50.0, "assumed"),
    "ATOMG.ADD": (480.0, "assumed"),
    "SYNCS": (30.0, "assumed"),
    "DFMA": (16.0, "assumed"),
}
_SOURCES = {
    "l1_latency": "probe", "l2_latency": "dissecting", "l2_spread": "assumed", "dram_latency": "probe",
    "dram_bytes": "probe", "l2_bytes": "assumed",
    "l2_write_bytes": "assumed", "loaded": "assumed", "partial_store": "probe",
    "branch_taken": "assumed", "barrier_latency": "assumed", "barrier_stagger": "probe", "cluster_barrier": "assumed",
    "icache_line": "probe",
    "icache_line_l2": "assumed",
    "icache_miss": "assumed", "constant_miss": "assumed", "membar_gpu": "assumed", "block_intervals": "probe",
    "block_turnarounds": "assumed", "launch_microseconds": "assumed", "mio_queue": "assumed", "lg_queue": "assumed",
    "atomic_lane": "assumed", "atomic_float_lane": "assumed", "atomic_sector": "assumed", "atomic_sm": "assumed",
    "bank_reads": "cores", "l2_sm_bytes": "assumed", "l1_lines": "probe",
}  # fmt: skip
#: Bytes per cycle that the DRAM of each device gives while it reads: measured on an H200; the H100's by the ratio of
#: two device copies.
_DRAM = {"H200": 4.1e12 / 1.98e9, "H100": 4.1e12 / 1.98e9 * 2949 / 4171}


#: The GPU whose rows about instructions on matrices count for those that have none.
_MATRICES_OF = "H100"


@lru_cache(maxsize=8)
def parameters(device: Device) -> Parameters:
    """The figures of a GPU: its atlas, and provisional ones where the atlas has none.

    Raises:
        ValueError: the model has no figures for this GPU.
    """
    if device.compute_capability != (9, 0):
        raise ValueError(
            f"the timing model knows compute capability 9.0, and {device.name} has "
            f"{'.'.join(map(str, device.compute_capability))}: estimate for one of {', '.join(DEVICES)}"
        )
    found = Parameters(
        device.name,
        sm_count=device.sm_count,
        interval={name: float(value) for name, (value, _) in _INTERVALS.items()},
        latency={name: float(value) for name, (value, _) in _LATENCIES.items()},
        dram_bytes=_DRAM.get(device.name, (device.memory_bandwidth or 3.35e12) * 0.86 / 1.98e9),
        l2_capacity=device.l2_bytes or 50 << 20,
        provisional={**_SOURCES, "all": "there is no atlas of this GPU"},
    )
    atlas = _atlas(device)
    if atlas is None:
        return found
    from softlab.timing.measured import with_atlas

    return with_atlas(found, atlas, _atlas(_MATRICES_OF))


def _atlas(device: Device | str) -> Any:
    try:
        from softlab.hardware.atlas import load
    except ImportError:
        return None
    try:
        return load(device)
    except ValueError:
        return None
