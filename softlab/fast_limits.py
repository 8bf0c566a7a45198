"""Thresholds of the policy "fast", in packs: a pack of 16 bytes costs the same whatever its type.

They were measured on an H200 (kernels/FAST.md has the table); other GPUs take the same.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP_BLOCK = 128
GROUP_WIDTHS = (1, 2, 4, 8, 16, 32)
BLOCK_SIZES = (64, 128, 256, 512, 1024)
#: The largest block that takes a row alone where the GPU has clusters: two blocks of 512 beat one of 1024.
BLOCK_BEFORE_CLUSTERS = 512
#: The most that a thread's registers keep where there are no clusters.
MOST_PACKS = 8
#: Blocks of a grid along x, in whole clusters (CUDA C++ Programming Guide, "Compute Capabilities": 2^31 - 1).
MOST_BLOCKS = 2**31 - 16
#: Few rows: not even every second SM would have one.
FEW_ROWS_A_SM = 0.5
#: Rows of fewer packs are not worth a cluster, even if they are few: 16 KiB are read in the time of one exchange.
FEW_ROWS_PACKS = 1024
#: Clusters of more than 8 blocks are not portable; these compute capabilities grant 16.
SIXTEEN_BLOCKS = ((9, 0), (10, 0), (10, 3))
#: 1 KiB of an SM's shared memory belongs to the driver for each block; the exchange takes up to 9 KiB of a block's.
EXCHANGE_BYTES = 9 * 1024
#: The ring kernel: packs of a thread, all together, and those of them that registers can keep beside.
RING_PACKS, RING_REGISTER_PACKS = 16, 3
#: The grid kernel: threads of a block that work on the row, and those that exchange letters; what its static shared
#: memory takes at most; 8-byte words of a group's workspace before the letters, and of a letter.
GRID_BLOCK, GRID_LETTER_WRITERS = 512, 64
GRID_STATIC_BYTES = 3 * 1024
LETTER_HEADER_WORDS = 16
#: Packs of a thread and pass in the stream kernel.
STREAM_PACKS = 4


@dataclass(frozen=True)
class Cut:
    """How a cluster, or all blocks that share a row, cut it: ``cluster`` blocks of ``block_size`` threads, at most
    ``packs`` packs of each input a thread."""

    cluster: int
    block_size: int
    packs: int

    @property
    def most(self) -> int:
        """The longest row in packs. Shares are multiples of 8 packs: whole lines of 128 bytes."""
        return self.cluster * (self.packs * self.block_size // 8 * 8)

    def taken(self, packs: int) -> int:
        """Packs a thread that a row of so many takes."""
        share = -(-packs // self.cluster)
        share = -(-share // 8) * 8 if self.cluster > 1 else share
        return max(1, -(-share // self.block_size))

    def fill(self, packs: int) -> float:
        """How much of what the threads then hold is the row."""
        return packs / (self.cluster * self.block_size * self.taken(packs))


@dataclass(frozen=True)
class Shared:
    """When blocks all over the GPU share a row, and how: rows of more than ``beyond`` packs of each input; as many rows
    at once as leave a thread at most ``packs`` of them; at most ``lag`` rows that wait for an answer."""

    beyond: int
    packs: int
    lag: int


@dataclass(frozen=True)
class Limits:
    """How far each kernel goes, in packs of each input, for elements of one size and one or two inputs.

    ``lane`` packs a lane of the warp kernel takes before the group of lanes is made wider, ``warp`` is its longest row;
    ``thread`` packs a thread takes before the block is made larger, ``largest`` before a cluster takes the row, and
    ``block`` is the largest block that takes a row alone where the GPU has clusters. Fewer packs a thread are more
    threads and more rows in flight; more are fewer instructions for each byte, which double precision needs (its
    exponential takes some thirty). ``cuts`` and ``rings``: ways to cut a row for the cluster and the ring kernel, of
    which the first that does is taken; of a thread's packs in a ring registers keep one, but of more than ``ring_one``
    packs ``RING_REGISTER_PACKS``. ``shared``: see :class:`Shared`.
    """

    lane: int
    warp: int
    thread: int
    largest: int
    cuts: tuple[Cut, ...]
    rings: tuple[Cut, ...]
    shared: Shared
    block: int = BLOCK_BEFORE_CLUSTERS
    ring_one: int = RING_PACKS


#: Beyond 128 KiB more blocks of fewer threads: all of a cluster wait for the slowest.
_LONG_CUTS = (Cut(16, 128, 10), Cut(8, 256, 8), Cut(16, 256, 10), Cut(16, 512, 8), Cut(8, 512, 8))
_FORWARD_CUTS = (Cut(2, 512, 4), Cut(2, 256, 8), Cut(4, 512, 4), Cut(4, 256, 8), *_LONG_CUTS)
#: 16-bit elements: twice the blocks of half the threads. Where registers bound an SM it then holds more of them.
_HALF_CUTS = (Cut(4, 256, 4), Cut(8, 256, 4), Cut(4, 256, 8), *_LONG_CUTS)
_BACKWARD_CUTS = (
    Cut(2, 512, 2), Cut(2, 256, 4), Cut(4, 512, 2), Cut(4, 256, 4), Cut(8, 512, 2), Cut(8, 256, 4), Cut(16, 256, 5),
    Cut(16, 512, 5), Cut(8, 512, 5),
)  # fmt: skip
#: 20480 to 28672 packs: with heads and tails, 4 packs of each input take more than 64 registers a thread, and an SM
#: then holds one block of 512; of those of 256 with 7 packs it holds two or three.
_DOUBLE_BACKWARD_CUTS = (*_BACKWARD_CUTS[:-2], Cut(16, 256, 7), *_BACKWARD_CUTS[-2:])
#: The smaller block, two an SM, if it suffices.
_RINGS = (Cut(8, 512, RING_PACKS), Cut(16, 512, RING_PACKS), Cut(16, 1024, RING_PACKS), Cut(8, 1024, RING_PACKS))
#: Double precision: every thread merges the statistics of all warps that share a row, an exponential for each 32 of
#: them, beside 2 a pack of its own; so few warps with many packs each. In shared memory these cost no registers, and an
#: SM holds 24 to 64 warps: up to 128 KiB one block has the row to itself, up to 512 KiB clusters of small blocks.
_DOUBLE_RINGS = (
    Cut(1, 256, 10), Cut(1, 512, RING_PACKS), Cut(8, 128, RING_PACKS), Cut(8, 256, 13), Cut(16, 128, RING_PACKS),
    *_RINGS,
)  # fmt: skip
#: (bytes of an element, inputs) -> limits. Gradients have no rings: up to 151936 doubles reading twice was faster.
LIMITS = {
    (2, 1): Limits(2, 96, 3, 4, _HALF_CUTS, _RINGS, Shared(65536, 4, 4)),
    (4, 1): Limits(2, 96, 3, 3, _FORWARD_CUTS, _RINGS, Shared(40960, 3, 4)),
    (8, 1): Limits(2, 128, 4, 4, (), _DOUBLE_RINGS, Shared(65536, 8, 4), block=256, ring_one=8),
    (2, 2): Limits(1, 96, 2, 2, _BACKWARD_CUTS, (), Shared(40960, 2, 5)),
    (4, 2): Limits(1, 96, 2, 2, _BACKWARD_CUTS, (), Shared(40960, 2, 5)),
    (8, 2): Limits(1, 96, 2, 2, _DOUBLE_BACKWARD_CUTS, (), Shared(40960, 2, 4)),
}
#: A cut is taken if its threads are so full; in a fuller one fewer lanes idle while the others wait for memory.
FULL = 0.85
#: The same for few rows: as many SMs as can help, and few packs a thread, since what counts is the time of one row.
FEW_ROWS = {
    1: (Cut(8, 128, 2), Cut(8, 256, 2), Cut(8, 256, 4), Cut(16, 256, 4), Cut(16, 256, 8), Cut(16, 512, 8)),
    2: (Cut(8, 128, 2), Cut(8, 256, 2), Cut(16, 256, 2), Cut(16, 256, 4), Cut(16, 512, 5)),
}
