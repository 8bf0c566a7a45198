"""Device-side printf: reads the format and the packed arguments as the GPU's runtime does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import LocalMemory
from softlab.emulator.opcodes.conversions import Conversion
from softlab.emulator.ptx.linker import LOCAL_WINDOW
from softlab.emulator.sites import InstructionSite, Site

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d{1,9})?(?:\.(\*|-?\d{0,9}))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")
_MAX_TEXT = 4096


def printf(
    local: LocalMemory,
    allocations: Allocations,
    lanes: Lanes,
    site: InstructionSite,
    text: Value,
    arguments: Value,
    result: Value,
) -> Iterator[str]:
    """The text of each lane, in the order of the lanes. ``text``, ``arguments`` and ``result`` are addresses on the
    stack, ``local``; the strings are in ``allocations``.

    The result of the call, the number of arguments, is written where the caller reads it.
    """
    pointer = Site(site.index, site.instruction, "local", np.dtype(np.uint64))
    formats = lanes.full_extent(local.load(lanes, pointer, text))
    packed = lanes.full_extent(local.load(lanes, pointer, arguments))
    rows = np.broadcast_to(lanes.row_index, lanes.extent).reshape(-1)
    columns = np.broadcast_to(lanes.column_index, lanes.extent).reshape(-1)
    count = 0
    for address, start, row, column in zip(formats, packed, rows, columns, strict=True):
        stack = local.data[row * lanes.threads + column]
        reader = _ArgumentReader(allocations, stack, int(start) - LOCAL_WINDOW)
        yield reader.formatted(reader.text(int(address)))
        count = reader.count
    returned = Site(site.index, site.instruction, "local", np.dtype(np.int32), store=True)
    local.store(lanes, returned, result, np.int32(count))


class _ArgumentReader:
    """The strings and the packed arguments of one thread. Text is bytes as characters, as C counts a width."""

    def __init__(self, allocations: Allocations, stack: np.ndarray, at: int) -> None:
        self._allocations, self._stack, self._at = allocations, stack, at
        self.count = 0

    def take(self, kind: str) -> int | float:
        """The next argument; ``kind`` is its NumPy dtype. 0 behind the last one."""
        dtype = np.dtype(kind)
        at = -(-self._at // dtype.itemsize) * dtype.itemsize
        if at < 0 or at + dtype.itemsize > len(self._stack):
            return 0
        self._at, self.count = at + dtype.itemsize, self.count + 1
        return self._stack[at : at + dtype.itemsize].view(dtype)[0].item()

    def text(self, address: int) -> str:
        """The zero-terminated string at a generic address."""
        if not address:
            return "(null)"
        at = address - LOCAL_WINDOW
        found = self._allocations.nearest(address)
        if 0 <= at < len(self._stack):
            raw = self._stack[at:]
        elif found is not None and found.base <= address < found.end:
            raw = found.data[address - found.base :]
        else:
            return f"(no string at {address:#x})"
        return raw[:_MAX_TEXT].tobytes().split(b"\0", 1)[0].decode("latin-1")

    def formatted(self, text: str) -> str:
        """The format with each conversion replaced by its argument."""
        return _CONVERSION.sub(self._convert, text).encode("latin-1").decode("utf-8", "replace")

    def _convert(self, found: re.Match[str]) -> str:
        flags, width, precision, size, letter = found.groups()
        if letter == "%":
            return "%"
        conversion = Conversion.of(flags, self._number(width) or 0, self._number(precision), letter)
        if letter in "diouxX":
            # An argument is 4 bytes or 8; "h" and "hh" name the part of it that counts.
            raw = int(self.take("u8" if size in ("l", "ll", "j", "z", "t") else "u4")).to_bytes(8, "little")
            bytes_ = {"hh": 1, "h": 2, None: 4, "L": 4}.get(size, 8)
            return conversion.integer(int.from_bytes(raw[:bytes_], "little", signed=letter in "di"))
        if letter in "eEfFgGaA":
            return conversion.floating(float(self.take("f8")))
        if letter == "c":
            return conversion.text(chr(int(self.take("i4")) & 0xFF))
        address = int(self.take("u8"))
        if letter == "s":
            return conversion.text(self.text(address))
        return conversion.text(f"{address:#x}" if address else "(nil)")

    def _number(self, given: str | None) -> int | None:
        """A width or precision: None for none, 0 for a precision without digits."""
        return int(self.take("i4")) if given == "*" else None if given is None else int(given or 0)
