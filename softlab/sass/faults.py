"""The faults of machine code, in the words of those of a run: what is wrong, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softlab.emulator.machine.faults import Index3, location
from softlab.emulator.ptx.places import Place
from softlab.errors import FaultSite, KernelFault
from softlab.sass.streams import Space

if TYPE_CHECKING:
    from softlab.sass.decode import Instruction


class MachineFault(KernelFault):
    """A fault of interpreted machine code. ``address``: in its ``space``, None where the fault is of no access."""

    space: Space | None = None


def machine_fault(
    kind: str,
    sentence: str,
    instruction: Instruction,
    where: tuple[Index3, Index3] | None = None,
    *,
    space: Space | None = None,
    address: int | None = None,
) -> MachineFault:
    """The fault, with its location beneath the sentence.

    Arguments:
        where: the thread and the block, each (x, y, z).
        space, address: of the memory that the instruction accesses; in shared memory the address counts from the
            beginning of what the SM gives to the block, in local memory from the beginning of the thread's.
    """
    thread, block = where or (None, None)
    place = instruction.place
    message = f"{kind}: {sentence}\n  at {location(place, thread, block, f'machine code `{instruction.text}`')}"
    fault = MachineFault(kind, message, site_of(place, thread, block, address))
    fault.space = space
    return fault


def site_of(
    place: Place, thread: Index3 | None = None, block: Index3 | None = None, address: int | None = None
) -> FaultSite:
    """The fields of a fault in this place of the source."""
    return FaultSite(place.line, thread, block, address, file=place.file or None, header=place.header)
