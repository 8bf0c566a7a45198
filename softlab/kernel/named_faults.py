"""The faults of interpreted machine code, with their addresses as the source names them: the argument, the element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.structs import Struct
from softlab.emulator.machine.prepare import pack_and_map
from softlab.emulator.machine.reports import HINTS
from softlab.emulator.memory.allocations import Allocations
from softlab.errors import KernelFault
from softlab.sass.constants import RESERVED_SHARED
from softlab.sass.faults import MachineFault
from softlab.sass.streams import Space

if TYPE_CHECKING:
    from softlab.kernel.kernel import Kernel

#: Bytes around address 0 that count as an offset from a null pointer.
_NULL_BYTES = 1 << 32
_MISALIGNED = ". A vector access needs an address that is a multiple of its size"


def named_fault(fault: KernelFault, kernel: Kernel, args: Sequence[Any], smem: int) -> KernelFault:
    """The fault with a sentence that says where its address lies, and with the fields that follow from it.

    Its ``address`` counts from the start of the array, of the block's shared memory, or of the thread's local memory,
    as that of a run does. A fault without an address, or far from all arrays, has no such sentence.

    Arguments:
        args: as the interpreter has taken them: it gives the same arrays the same addresses each time.
        smem: dynamic shared memory of a block in bytes.
    """
    if not isinstance(fault, MachineFault):
        return fault
    if fault.address is None:
        return _plain(fault)
    if fault.space == Space.LOCAL:
        offset = fault.address - (1 << 32) if fault.address >= 1 << 31 else fault.address
        return _with(fault, f"byte {offset} of the thread's local memory", address=offset)
    if fault.space != Space.GLOBAL:
        offset, size = fault.address - RESERVED_SHARED, kernel.program.static_smem_bytes + smem
        return _with(fault, f"byte {offset} of the block's shared memory, which has {size} bytes", address=offset)
    memory = Allocations()
    parameters, _ = pack_and_map(kernel._emulated.program.image, args, memory)
    near = memory.nearest(fault.address)
    if near is None:
        return _through_null(fault, kernel, args)
    offset = fault.address - near.base
    symbol = None
    if near.index is not None:
        variable, at = kernel._emulated.program.image.params[near.index]
        pointer = int.from_bytes(parameters[at : at + 8], "little")
        if variable.size == 8 and near.base <= pointer <= near.end:  # else it is in a structure or a table
            symbol = kernel._emulated.names.argument_element(near.index, fault.address - pointer)
    where = f"{symbol}, byte" if symbol else "byte"
    place = f"{where} {offset} of {near.name}, which has {near.nbytes} bytes"
    return _with(fault, place, address=offset, argument=near.index, symbol=symbol)


def _through_null(fault: MachineFault, kernel: Kernel, args: Sequence[Any]) -> KernelFault:
    """A fault near address 0: through the null pointer of a kernel that has one alone, and no other pointers that may
    be null, else through any."""
    assert fault.address is not None
    address = fault.address - (1 << 64) if fault.address >= 1 << 63 else fault.address
    if not -_NULL_BYTES < address < _NULL_BYTES:
        return _plain(fault)
    pointers = kernel._emulated.names.parameters
    null = [k for k, one in enumerate(pointers) if one.itemsize and isinstance(args[k], np.uint64) and not args[k]]
    if len(null) != 1 or any(isinstance(one, Struct) for one in args):
        hint = ". Let the pointer point to an array, or test it before the access"
        return _with(fault, f"{address}: the access goes through a null pointer", hint)
    name, itemsize = pointers[null[0]].name, pointers[null[0]].itemsize or 1
    symbol = f"{name}[{address // itemsize}]"
    hint = ". Pass an array for it, or test the pointer before the access"
    return _with(fault, f"{symbol}, but {name} is a null pointer", hint, argument=null[0], symbol=symbol)


def _with(fault: MachineFault, place: str, hint: str = "", **fields: Any) -> KernelFault:
    """The fault with the place of its address in words, and with these fields. hint: by default that of its kind."""
    usual = _MISALIGNED if fault.kind == "misaligned" else HINTS[fault.kind]
    found = _plain(fault).with_note(f"That address is {place}{hint or usual}")
    vars(found).update(fields)
    return found


def _plain(fault: MachineFault) -> KernelFault:
    """The fault as one of a run: without the space of its address."""
    found = KernelFault(fault.kind, str(fault))
    vars(found).update({name: value for name, value in vars(fault).items() if name in vars(found)})
    return found
