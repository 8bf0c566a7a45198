"""Bulk copies (cp.async.bulk): one instruction of a warp moves a piece of memory. It is done at once.

Copies by a tensor map are refused where a lane executes them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.sass.access import RANK_SHIFT
from softlab.sass.faults import machine_fault
from softlab.sass.form import Form
from softlab.sass.lanes import first_lane
from softlab.sass.machine import Machine
from softlab.sass.opcodes.mbarriers import update
from softlab.sass.registry import Action, effect
from softlab.sass.streams import Kind, Space

_OFFSET = (1 << RANK_SHIFT) - 1
#: The size of a bulk copy is counted in these.
_UNIT = 16


@effect("UBLKCP")
def _bulk_copy(form: Form, machine: Machine) -> Action:
    """UBLKCP.TO.FROM [to], [from], size / 16; S is shared memory and G global memory.

    The register behind a target in shared memory has the address of the mbarrier on which the bytes count.
    """
    spaces = [m for m in form.modifiers if m in ("S", "G")]
    form.only("S", "G")
    if len(spaces) != 2 or form.operands[2].kind != "UR":
        raise NotImplementedError("a bulk copy of this form")
    to_shared, from_shared = (space == "S" for space in spaces)
    bases = [form.operands[k].uniform for k in (0, 1)]
    if None in bases or any(form.operands[k].value for k in (0, 1)):
        raise NotImplementedError("a bulk copy with these addresses")
    to, source = (_address(form, k, shared) for k, shared in ((0, to_shared), (1, from_shared)))
    barrier = form.after_of(bases[0], 1) if to_shared and bases[0] is not None else None
    size, guard = form.u32(2), form.guard

    def step(r: list) -> None:
        now = machine.now
        masks = now.masks if guard is None else now.truth(guard(r))
        for row in np.flatnonzero(masks).tolist():
            lane = int(first_lane(masks[row : row + 1])[0])
            nbytes = _UNIT * int(now.spread(size(r))[row, lane])
            addresses = [int(now.spread(read(r))[row, lane]) for read in (to, source)]
            block = int(machine.setup.row_of_block[now.warps[row]])
            machine.changes += 1
            data = _bytes(form, machine, row, addresses[1], nbytes, from_shared, block, store=False).copy()
            target = _row(machine, row, addresses[0], block) if to_shared else block
            _bytes(form, machine, row, addresses[0], nbytes, to_shared, target, store=True)[...] = data
            if barrier is not None:
                at = int(now.spread(barrier(r))[row, lane])
                update(machine, _row(machine, row, at, block), at & _OFFSET, 0, 0, nbytes)

    return step


@effect("UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF")
def _tensor_copy(form: Form, machine: Machine) -> Action:
    """A copy by a tensor map, which has no row in the atlas."""

    def step(r: list) -> None:
        if machine.held is None or machine.held.any():
            raise form.instruction.unsupported("copies by a tensor map (cp.async.bulk.tensor) have not been measured")

    return step


def _address(form: Form, number: int, shared: bool) -> Callable[[list], np.ndarray]:
    """The address: a register, or a pair of them for global memory."""
    base = form.operands[number].uniform
    assert base is not None
    low, high = form.bits_of(base), None if shared else form.after_of(base, 1)
    if high is None:
        return lambda r: np.asarray(low(r)).astype(np.int64)[()]
    return lambda r: (low(r).astype(np.int64) | high(r).astype(np.int64) << 32)[()]


def _row(machine: Machine, row: int, address: int, block: int) -> int:
    """The index of the block whose shared memory an address is of."""
    setup = machine.setup
    if setup.blocks_per_cluster == 1:
        return block
    cluster = int(setup.cluster_of[machine.now.warps[row]])
    return int(setup.row_of_rank[cluster, min(address >> RANK_SHIFT, setup.blocks_per_cluster - 1)])


def _bytes(
    form: Form, machine: Machine, row: int, address: int, nbytes: int, shared: bool, block: int, *, store: bool
) -> np.ndarray:
    """The bytes of one side, as a view where they are written."""
    space = Space.SHARED if shared else Space.GLOBAL
    if shared:
        address &= _OFFSET
        memory = machine.shared
        found = None
        if address + nbytes <= memory.nbytes:
            found = memory.data[block * memory.nbytes + address : block * memory.nbytes + address + nbytes]
    else:
        found = machine.setup.memory.span(address, nbytes, store=store)
    if found is None:
        raise machine_fault(
            f"{'shared' if shared else 'global'}-out-of-bounds",
            f"the thread copies {nbytes} bytes {'to' if store else 'from'} address {address:#x}",
            form.instruction,
            space=space,
            address=address,
        )
    kind = Kind.STORE if store and not shared else Kind.ASYNC_COPY
    machine.log.span(row, machine.offset, space, kind, address, nbytes)
    return found
