"""Device-side printf: reads the format and the packed arguments as the GPU's runtime does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.linker import LOCAL_WINDOW
from softlab.emulator.memory import Site

if TYPE_CHECKING:
    from softlab.emulator.machine import Batch

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcspn%])")
_MAX_TEXT = 4096


def formatted(batch: Batch, lanes: Lanes, place: Place, text: Value, arguments: Value, result: Value) -> Iterator[str]:
    """The text of each lane, in the order of the lanes. ``text``, ``arguments`` and ``result`` are addresses on the
    stack.

    The result of the call, the number of arguments, is written where the caller reads it.
    """
    pointer = Site(place.index, place.instruction, "local", np.dtype(np.uint64))
    formats = lanes.full_extent(batch.local.load(lanes, pointer, text))
    packed = lanes.full_extent(batch.local.load(lanes, pointer, arguments))
    rows = np.broadcast_to(lanes.row_index, lanes.extent).reshape(-1)
    columns = np.broadcast_to(lanes.column_index, lanes.extent).reshape(-1)
    count = 0
    for address, start, row, column in zip(formats, packed, rows, columns, strict=True):
        stack = batch.local.data[row * lanes.threads + column]
        line, count = _format(batch, _text(batch, int(address)), stack, int(start) - LOCAL_WINDOW)
        yield line
    returned = Site(place.index, place.instruction, "local", np.dtype(np.int32), store=True)
    batch.local.store(lanes, returned, result, np.int32(count))


def _text(batch: Batch, address: int) -> str:
    """The zero-terminated string at a global address."""
    found = batch.global_.nearest(address)
    if found is None or not found.base <= address < found.end:
        return "(null)"
    raw = found.data[address - found.base :][:_MAX_TEXT].tobytes()
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def _format(batch: Batch, text: str, stack: np.ndarray, at: int) -> tuple[str, int]:
    count = 0

    def take(kind: str) -> int | float:
        nonlocal at, count
        dtype = np.dtype(kind)
        at = -(-at // dtype.itemsize) * dtype.itemsize
        if at < 0 or at + dtype.itemsize > len(stack):
            return 0
        value = stack[at : at + dtype.itemsize].view(dtype)[0]
        at += dtype.itemsize
        count += 1
        return value.item()

    def convert(found: re.Match[str]) -> str:
        flags, width, precision, size, letter = found.groups()
        if letter == "%":
            return "%"
        width = str(take("i4")) if width == "*" else width or ""
        precision = str(take("i4")) if precision == "*" else precision
        shape = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        wide = size in ("l", "ll", "j", "z", "t")
        if letter in "diouxX":
            kind = ("i" if letter in "di" else "u") + ("8" if wide else "4")
            return (shape + ("d" if letter == "u" else letter)) % take(kind)
        if letter in "eEfFgG":
            return (shape + letter) % take("f8")
        if letter in "aA":
            return float(take("f8")).hex()
        if letter == "c":
            return (shape + "c") % chr(int(take("i4")) & 0xFF)
        if letter == "s":
            return (shape + "s") % _text(batch, int(take("u8")))
        return f"{int(take('u8')):#x}"

    return _CONVERSION.sub(convert, text), count
