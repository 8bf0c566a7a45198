"""Carries out the products of warpgroups (``wgmma``): reads tiles by descriptors, and knows what is still in flight.

A product takes effect where it is issued. What a GPU leaves open until ``wgmma.wait_group`` is an error where checks
are on: an access to its registers, and writes to its tiles, of which observers are told as of those of copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.copies import Copies, Copy
from softlab.emulator.opcodes.descriptors import PIECE, Descriptors
from softlab.emulator.opcodes.group_products import K_BYTES, ROWS, GroupProduct
from softlab.emulator.opcodes.matrix_unit import Matrices
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import ITEMS, InstructionSite, Site

#: Warps of a warpgroup.
GROUP = 4
_FAULT = "wgmma-misuse"


@dataclass(frozen=True, eq=False)
class GroupSite(InstructionSite):
    """A ``wgmma.mma_async``.

    ``product``: what it computes. ``tiles``: of A and B, whether each is in shared memory. ``along_k``: whether each is
    K-major. ``negative``: whether each has the other sign. ``registers``: those of D, and of A where it has some.
    """

    product: GroupProduct | None = None
    tiles: tuple[bool, bool] = (True, True)
    along_k: tuple[bool, bool] = (True, True)
    negative: tuple[bool, bool] = (False, False)
    registers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Pending:
    """A product in flight: of these warps, (blocks, warps) bool, with the number of its group in each of them."""

    site: GroupSite
    warps: np.ndarray
    group: np.ndarray
    copies: tuple[Copy, ...]


@dataclass(frozen=True)
class RegisterFacts:
    """What is known of the registers of ``wgmma`` before the kernel runs.

    ``touches``: instruction -> the registers of products that it accesses where one may be in flight. ``unfenced``:
    product -> the instruction that wrote one of its registers, with no ``wgmma.fence`` in between on some path.
    """

    touches: Mapping[int, frozenset[str]]
    unfenced: Mapping[int, int]


class GroupMatrices:
    """The products of warpgroups of one batch.

    ``threads``: of a block, without those that fill its last warp; ``lanes``: with them. ``check``: whether misuse is a
    fault. ``instructions`` and ``facts``: of the kernel.
    """

    def __init__(
        self,
        faults: FaultReporter,
        matrices: Matrices,
        shared: SharedMemory,
        copies: Copies,
        shape: tuple[int, int, int],
        *,
        check: bool,
        instructions: tuple[Instruction, ...],
        facts: RegisterFacts,
    ) -> None:
        self._faults = faults
        self._matrices = matrices
        self._shared = shared
        self._copies = copies
        self._blocks, self._threads, self._lanes = shape
        self._check = check
        self._instructions = instructions
        self._facts = facts
        self.clear()

    def clear(self) -> None:
        """For the next batch: none is in flight."""
        warps = self._blocks, self._lanes // WARP
        self._group = np.zeros(warps, np.int64)
        self._fenced = np.zeros(warps, bool)
        self._issued = np.zeros(warps, np.int64)
        self._pending: list[_Pending] = []
        self._last: tuple[GroupSite, Lanes] | None = None

    # Order

    def fence(self, lanes: Lanes, site: InstructionSite) -> None:
        """``wgmma.fence``: earlier accesses to registers come before the products that follow."""
        self._matrices.check_whole(lanes, site.instruction)
        self._fenced |= self._warps(lanes)

    def commit(self, lanes: Lanes, site: InstructionSite) -> None:
        """``wgmma.commit_group``."""
        self._matrices.check_whole(lanes, site.instruction)
        self._group += self._warps(lanes)

    def wait(self, lanes: Lanes, site: InstructionSite, newest: Value) -> None:
        """``wgmma.wait_group``: the warps' products end, but those of the newest groups."""
        self._matrices.check_whole(lanes, site.instruction)
        limit = np.where(self._warps(lanes), self._group - 1 - int(np.max(newest)), -1)
        rest = []
        for one in self._pending:
            ended = one.warps & (one.group <= limit)
            left = one.warps & ~ended
            for copy in one.copies if ended.any() else ():
                if (mine := self._of_warps(copy, ended)) is not None:
                    self._copies.end(mine, None)
            if left.any():
                copies = (self._of_warps(copy, left) for copy in one.copies)
                rest.append(replace(one, warps=left, copies=tuple(c for c in copies if c is not None)))
        self._pending = rest

    def touch(self, lanes: Lanes, index: int) -> None:
        """Lanes access registers that may belong to a product in flight."""
        names = self._facts.touches[index]
        here = self._warps(lanes) if self._pending else None
        for one in self._pending:
            if here is None or one.site.registers.isdisjoint(names) or not (hit := one.warps & here).any():
                continue
            sentence = (
                "the thread uses a register of a wgmma.mma_async that may not be done: its result, or its A. Put "
                "wgmma.commit_group after the product and wgmma.wait_group before the use"
            )
            there = lanes_of(np.repeat(one.warps, WARP, axis=1))
            self._misuse(sentence, self._instructions[index], lanes, hit, (one.site.instruction, there))

    def finish(self) -> None:
        """The batch is over: all four warps of a warpgroup have issued the same number of products."""
        counts = self._issued.reshape(self._blocks, -1, GROUP) if self._issued.shape[1] % GROUP == 0 else self._issued
        uneven = counts != counts[..., :1]
        if uneven.any() and self._check and self._last is not None:
            site, lanes = self._last
            self._faults.report(self._faults.fault(
                "inactive-lane",
                "the thread issues a wgmma.mma_async that other warps of its warpgroup do not. All 128 threads must "
                "come to it: let a branch depend on threadIdx.x / 128 alone",
                site.instruction, lanes, np.True_,
            ))  # fmt: skip

    def _misuse(
        self,
        sentence: str,
        instruction: Instruction,
        lanes: Lanes,
        warps: np.ndarray,
        other: tuple[Instruction, Lanes] | None = None,
    ) -> None:
        bad = lanes.take(np.repeat(warps, WARP, axis=1))
        fault = self._faults.fault(_FAULT, sentence, instruction, lanes, bad, other=other)
        self._faults.report(fault, count=int(warps.sum()))

    def _warps(self, lanes: Lanes) -> np.ndarray:
        """(blocks, warps) bool: those that are in the set."""
        return np.asarray(lanes.mask.reshape(self._blocks, -1, WARP).any(axis=2))

    def _of_warps(self, copy: Copy, warps: np.ndarray) -> Copy | None:
        """Those of a copy that these warps issued."""
        row, thread = np.divmod(copy.lane, self._lanes)
        mine = warps[row, thread // WARP]
        if mine.all():
            return copy
        if not mine.any():
            return None
        return replace(copy, lane=copy.lane[mine], owner=copy.owner[mine], offset=copy.offset[mine])

    # Products

    def multiply(self, lanes: Lanes, site: GroupSite, *values: Value) -> tuple[Value, ...]:
        """``wgmma.mma_async``: the registers of D, A as registers or a descriptor, B's descriptor, scale-d -> D."""
        self._matrices.check_whole(lanes, site.instruction)
        warps = self._warps(lanes)
        self._check_use(lanes, site, warps)
        product = site.product
        assert product is not None
        held = product.result.registers
        rows, numbers = np.nonzero(warps)
        at = lanes.spread_rows[rows]
        gathered = self._matrices.gather(lanes, values[:held])
        registers = np.ascontiguousarray(gathered[at if len(gathered) > 1 else 0, numbers])
        d_type, a_type, b_type = product.element_types
        c = product.result.matrix(registers.view(d_type))
        keeps = self._one_per_warp(lanes, site, values[-1], rows, numbers).astype(bool)
        c = np.where(keeps[:, None, None], c, d_type.type(0))
        copies: list[Copy] = []
        if site.tiles[0]:
            a = self._tile(lanes, site, 0, values[held], rows, numbers, a_type, copies)
        else:
            parts = self._matrices.gather(lanes, values[held : held + product.left.registers])
            parts = np.ascontiguousarray(parts[at if len(parts) > 1 else 0, numbers])
            a = product.left.matrix(parts.view(a_type))
        b = self._tile(lanes, site, 1, values[-2], rows, numbers, b_type, copies)
        a, b = (product.negative(i, part) if site.negative[i] else part for i, part in enumerate((a, b)))
        d = product.multiply(np.ascontiguousarray(a), np.ascontiguousarray(b), np.ascontiguousarray(c))
        self._pending.append(_Pending(site, warps, self._group.copy(), tuple(copies)))
        self._last = site, lanes
        spread = np.zeros((int(lanes.spread_rows[-1]) + 1, self._lanes // WARP, WARP, held), np.uint32)
        words = np.ascontiguousarray(product.result.spread(d.astype(d_type, copy=False)))
        spread[at, numbers] = words.view(np.uint32)
        found = self._matrices.scatter(lanes, spread)
        return found if isinstance(found, tuple) else (found,)

    def _check_use(self, lanes: Lanes, site: GroupSite, warps: np.ndarray) -> None:
        self._issued += warps
        if self._threads % (GROUP * WARP):
            self._faults.report(self._faults.fault(
                "inactive-lane",
                f"wgmma needs whole warpgroups of 128 threads, and the block has {self._threads}. Start blocks of a "
                "multiple of 128 threads",
                site.instruction, lanes, np.True_,
            ))  # fmt: skip
        if not self._check:
            return
        if (bad := warps & ~self._fenced).any():
            sentence = (
                "the thread issues its first wgmma.mma_async with no wgmma.fence before it. Put "
                'asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); before the products'
            )
            self._misuse(sentence, site.instruction, lanes, bad)
        elif site.index in self._facts.unfenced:
            sentence = (
                "the thread gives a register to wgmma.mma_async that it wrote after the last wgmma.fence. Put "
                'asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); between the two'
            )
            other = self._instructions[self._facts.unfenced[site.index]], lanes
            self._misuse(sentence, site.instruction, lanes, warps, other)

    def _one_per_warp(
        self, lanes: Lanes, site: GroupSite, value: Value, rows: np.ndarray, numbers: np.ndarray
    ) -> np.ndarray:
        """The value of each warp, whose lanes and whose warpgroup must agree in it, (n,)."""
        spread = lanes.spread(value)
        found = np.asarray(spread[lanes.spread_rows[rows] if len(spread) > 1 else 0, numbers])
        first = found[:, 0]
        same = (found == first[:, None]).all(axis=1)
        leader = np.zeros((self._blocks, self._lanes // WARP), first.dtype)
        leader[rows[::-1], numbers[::-1] // GROUP] = first[::-1]
        same &= first == leader[rows, numbers // GROUP]
        if not same.all():
            warps = np.zeros(self._group.shape, bool)
            warps[rows[~same], numbers[~same]] = True
            sentence = (
                "the thread gives wgmma.mma_async another descriptor, or another scale-d, than other threads of its "
                "warpgroup. Compute it from what all 128 threads share"
            )
            self._misuse(sentence, site.instruction, lanes, warps)
        return np.asarray(first)

    def _tile(
        self,
        lanes: Lanes,
        site: GroupSite,
        operand: int,
        value: Value,
        rows: np.ndarray,
        numbers: np.ndarray,
        dtype: np.dtype,
        copies: list[Copy],
    ) -> np.ndarray:
        """A (0) or B (1) of each warp from shared memory, (n, lines, k) elements. What is read joins ``copies``."""
        assert site.product is not None
        bits = self._one_per_warp(lanes, site, value, rows, numbers)
        descriptors = Descriptors.of(bits)
        count = site.product.n if operand else ROWS
        first = np.zeros(len(rows), np.int64) if operand else numbers % GROUP * ROWS
        along_k = site.along_k[operand]
        pieces = descriptors.pieces(first, count, K_BYTES // dtype.itemsize, along_k)
        self._check_bounds(lanes, site, pieces, rows, numbers)
        self._begin(lanes, site, pieces, rows, numbers, copies)
        items = self._shared.view(ITEMS[PIECE])[rows[:, None, None], pieces // PIECE]
        elements = np.ascontiguousarray(items).view(dtype)
        if along_k:
            return elements.reshape(len(rows), count, -1)
        lines = elements.reshape(len(rows), *pieces.shape[1:], -1)
        return np.swapaxes(lines, -1, -2).reshape(len(rows), count, -1)

    def _check_bounds(
        self, lanes: Lanes, site: GroupSite, pieces: np.ndarray, rows: np.ndarray, numbers: np.ndarray
    ) -> None:
        last = pieces.reshape(len(rows), -1).max(axis=1)
        beyond = last + PIECE > self._shared.nbytes
        if beyond.any():
            warps = np.zeros(self._group.shape, bool)
            warps[rows[beyond], numbers[beyond]] = True
            bad = lanes.take(np.repeat(warps, WARP, axis=1))
            raise self._faults.fault(
                "shared-out-of-bounds",
                f"the descriptor of a wgmma.mma_async leads to byte {int(last.max())} of the block's shared memory, "
                f"which has {self._shared.nbytes} bytes. Check its start, its two byte offsets and the dynamic shared "
                "memory of the launch (smem=)",
                site.instruction, lanes, bad, int(last.max()),
            )  # fmt: skip

    def _begin(
        self,
        lanes: Lanes,
        site: GroupSite,
        pieces: np.ndarray,
        rows: np.ndarray,
        numbers: np.ndarray,
        copies: list[Copy],
    ) -> None:
        """Tell that the pieces are read, each by the first lane of its warp."""
        if not self._copies.watched:
            return
        each = pieces.reshape(len(rows), -1)
        lane = np.repeat(rows * self._lanes + numbers * WARP, each.shape[1])
        access = Site(site.index, site.instruction, "shared", np.dtype(np.uint8), PIECE)
        copy = Copy(access, lane, lane // self._lanes, each.reshape(-1), PIECE, False)
        self._copies.begin(copy, lanes)
        copies.append(copy)
