"""Thresholds of the policy "fast", in packs: a pack of 16 bytes costs the same for every type.

They were measured on an H200 (kernels/FAST.md has the table). Other GPUs use the same thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP_BLOCK = 128
GROUP_WIDTHS = (1, 2, 4, 8, 16, 32)
BLOCK_SIZES = (64, 128, 256, 512, 1024)
#: Blocks of a cluster.
CLUSTERS = (2, 4, 8, 16)
#: The largest block that takes a row alone where the GPU has clusters: two blocks of 512 beat one of 1024.
BLOCK_BEFORE_CLUSTERS = 512
#: The most that a thread's registers keep where there are no clusters.
MOST_PACKS = 8
#: Blocks of a grid along x, in whole clusters (CUDA C++ Programming Guide, "Compute Capabilities": 2^31 - 1).
MOST_BLOCKS = 2**31 - 16
#: Few rows: less than one for every second SM.
FEW_ROWS_PER_SM = 0.5
#: Rows of fewer packs are not worth a cluster, even if they are few: 16 KiB are read in the time of one exchange.
FEW_ROWS_PACKS = 1024
#: Clusters of more than 8 blocks are not portable; these compute capabilities grant 16.
SIXTEEN_BLOCKS = ((9, 0), (10, 0), (10, 3))
#: 1 KiB of an SM's shared memory belongs to the driver for each block; the exchange takes up to 9 KiB of a block's.
EXCHANGE_BYTES = 9 * 1024
#: The pipeline kernel: the most packs per thread, and how many of them registers can keep.
PIPELINE_PACKS, PIPELINE_REGISTER_PACKS = 16, 3
#: The grid kernel: threads per block that work on the row, and threads of the two mailbox warps; the most bytes of
#: static shared memory; words of 8 bytes in a group's workspace before the mailbox.
GRID_BLOCK, GRID_MAILBOX_THREADS = 512, 64
GRID_STATIC_BYTES = 3 * 1024
MAILBOX_HEADER_WORDS = 16
#: Packs of each input per thread and pass in the stream kernel, by (bytes of an element, inputs). An SM has one block
#: of 512 threads if rows are few. Floats gain by 64 KiB in flight; the others are up to 14 % slower with 8 packs.
STREAM_PACKS = {(2, 1): 4, (4, 1): 8, (8, 1): 4, (2, 2): 4, (4, 2): 4, (8, 2): 4}


@dataclass(frozen=True)
class Cut:
    """How the blocks of a cluster, or of a grid, divide a row.

    There are ``cluster`` blocks of ``block_size`` threads, with at most ``packs`` packs of each input per thread. The
    compiler gives a thread so few registers that an SM holds ``resident`` blocks; with 0 it gives what it likes.
    """

    cluster: int
    block_size: int
    packs: int
    resident: int = 0

    @property
    def most(self) -> int:
        """The longest row in packs. Each block has a multiple of 8 packs: whole lines of 128 bytes."""
        return self.cluster * (self.packs * self.block_size // 8 * 8)

    def taken(self, packs: int) -> int:
        """Packs per thread for a row of ``packs`` packs."""
        return max(1, -(-self.per_block(packs) // self.block_size))

    def per_block(self, packs: int) -> int:
        """Packs of a block of a row of ``packs`` packs: whole lines of 128 bytes where blocks share the row."""
        per_block = -(-packs // self.cluster)
        return -(-per_block // 8) * 8 if self.cluster > 1 else per_block

    def fill(self, packs: int) -> float:
        """The fraction of the threads' packs that the row fills."""
        return packs / (self.cluster * self.block_size * self.taken(packs))


@dataclass(frozen=True)
class GridLimits:
    """When blocks all over the GPU share a row, and how.

    Rows of more than ``beyond`` packs of each input are shared so. As many rows run at once as leave a thread at most
    ``packs`` packs. At most ``rows_in_flight`` rows wait for their statistic.
    """

    beyond: int
    packs: int
    rows_in_flight: int


@dataclass(frozen=True)
class Limits:
    """How far each kernel goes, in packs of each input, for elements of one size and one or two inputs.

    A lane of the warp kernel takes ``lane`` packs before the group of lanes grows; ``warp`` is its longest row. A
    thread takes ``thread`` packs before the block grows, and ``largest`` before a cluster takes the row. ``block`` is
    the largest block that takes a row alone where the GPU has clusters. Fewer packs per thread mean more threads and
    more rows in flight. More packs mean fewer instructions per byte, which double precision needs: its exponential
    takes about thirty. ``cuts`` and ``pipelines`` are divisions of a row for the cluster and the pipeline kernel; the
    first that fits is taken. In a pipeline, registers keep one pack per thread, or ``PIPELINE_REGISTER_PACKS`` if a
    thread has more than ``one_register_pack`` packs. ``grid``: see :class:`GridLimits`.
    """

    lane: int
    warp: int
    thread: int
    largest: int
    cuts: tuple[Cut, ...]
    pipelines: tuple[Cut, ...]
    grid: GridLimits
    block: int = BLOCK_BEFORE_CLUSTERS
    one_register_pack: int = PIPELINE_PACKS


#: Beyond 128 KiB, more blocks of fewer threads: all blocks of a cluster wait for the slowest.
_LONG_CUTS = (Cut(16, 128, 10), Cut(8, 256, 8), Cut(16, 256, 10), Cut(16, 512, 8), Cut(8, 512, 8))
_FORWARD_CUTS = (Cut(2, 512, 4), Cut(2, 256, 8), Cut(4, 512, 4), Cut(4, 256, 8), *_LONG_CUTS)
#: 16-bit elements: twice the blocks of half the threads. If registers limit an SM, it then holds more of them.
_HALF_CUTS = (Cut(4, 256, 4), Cut(8, 256, 4), Cut(4, 256, 8), *_LONG_CUTS)
_BACKWARD_CUTS = (
    Cut(2, 512, 2), Cut(2, 256, 4), Cut(4, 512, 2), Cut(4, 256, 4), Cut(8, 512, 2), Cut(8, 256, 4), Cut(16, 256, 5),
    Cut(16, 512, 5), Cut(8, 512, 5),
)  # fmt: skip
#: 20480 to 28672 packs: with heads and tails, 4 packs of each input take more than 64 registers per thread, and an SM
#: then holds one block of 512. It holds two or three blocks of 256 threads with 7 packs.
_DOUBLE_BACKWARD_CUTS = (*_BACKWARD_CUTS[:-2], Cut(16, 256, 7), *_BACKWARD_CUTS[-2:])
#: The smaller block, two per SM, if it suffices.
_PIPELINES = tuple(Cut(*size, PIPELINE_PACKS) for size in ((8, 512), (16, 512), (16, 1024), (8, 1024)))
#: Double precision: every thread merges the statistics of all warps that share a row. That takes one exponential for
#: each 32 warps, beside 2 per pack of its own. So a row has few warps with many packs each. In shared memory the packs
#: cost no registers, and an SM holds 24 to 64 warps. Up to 128 KiB one block has the row alone, up to 512 KiB a cluster
#: of small blocks.
_DOUBLE_PIPELINES = (
    Cut(1, 256, 10), Cut(1, 512, PIPELINE_PACKS), Cut(8, 128, PIPELINE_PACKS), Cut(8, 256, 13),
    Cut(16, 128, PIPELINE_PACKS), *_PIPELINES,
)  # fmt: skip
#: (bytes of an element, inputs) -> limits. Gradients have no pipelines: up to 151936 doubles, two reads
#: were faster.
LIMITS = {
    (2, 1): Limits(2, 96, 3, 4, _HALF_CUTS, _PIPELINES, GridLimits(40960, 4, 4)),
    (4, 1): Limits(2, 96, 3, 3, _FORWARD_CUTS, _PIPELINES, GridLimits(40960, 3, 4)),
    (8, 1): Limits(2, 128, 4, 4, (), _DOUBLE_PIPELINES, GridLimits(65536, 8, 4), block=256, one_register_pack=8),
    (2, 2): Limits(1, 96, 2, 2, _BACKWARD_CUTS, (), GridLimits(40960, 2, 5)),
    (4, 2): Limits(1, 96, 2, 2, _BACKWARD_CUTS, (), GridLimits(40960, 2, 5)),
    (8, 2): Limits(1, 96, 2, 2, _DOUBLE_BACKWARD_CUTS, (), GridLimits(40960, 2, 4)),
}
#: The longest rows of a warp of 16-bit elements, where others end at ``Limits.warp``: with exact sums, because a block
#: exchanges twice (H200, bfloat16 x 801: 0.98 instead of 0.70), and unaligned rows of one input, because head and tail
#: keep one warp of a block longer than the other (x 1047: 0.98 instead of 0.89).
EXACT_HALVES_OF_A_WARP, UNALIGNED_HALVES_OF_A_WARP = 256, 160
#: The fraction of a cut's packs that a row must fill. In a fuller cut fewer lanes are idle.
FULL = 0.85
#: Cuts for few rows: as many SMs as can help, and few packs per thread, because the time of one row counts.
FEW_ROWS = {
    1: (
        Cut(8, 128, 2), Cut(8, 256, 2), Cut(8, 256, 4), Cut(16, 256, 4), Cut(16, 256, 8), Cut(16, 512, 8),
        Cut(8, 512, 4), Cut(4, 256, 2), Cut(4, 128, 4), Cut(4, 256, 4), Cut(4, 512, 4),
    ),
    2: (Cut(8, 128, 2), Cut(8, 256, 2), Cut(16, 256, 2), Cut(16, 256, 4), Cut(16, 512, 5)),
}  # fmt: skip
#: Blocks of few rows on an SM: more of them only wait for one another in the exchange.
FEW_ROWS_BLOCKS_PER_SM = 2
