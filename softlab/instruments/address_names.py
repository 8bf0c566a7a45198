"""Addresses as the source names them, for the messages of faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from math import prod

from softlab.emulator.machine.faults import Described, source_line
from softlab.emulator.machine.origins import LOADED, Origin
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.source_names import Parameter, declared_sizes, local_arrays_of_line, variable_name
from softlab.instruments.variables import Variable, VariableTable

#: Bytes around address 0 that count as an offset from a null pointer.
_NULL_BYTES = 1 << 32
_ADDRESSES = 1 << 64
Spans = tuple[tuple[int, int], ...]
_CHECK_INDEX = ". Check the index against the size of the array"


class AddressNames:
    """Names the addresses of one kernel.

    Arguments:
        parameters: the kernel's parameters as its source declares them; empty where that is not known.
        source: the text of the kernel's own file.
    """

    def __init__(self, image: Image, source: str, file: str, parameters: Sequence[Parameter] = ()) -> None:
        self._image = image
        self._source = source
        self._file = file
        self.parameters = parameters
        self._spans: tuple[int, dict[int, Spans], dict[int, Spans]] = -1, {}, {}

    @cached_property
    def table(self) -> VariableTable:
        """The variables that each access may use."""
        return VariableTable.of(self._image)

    def spans(self, shared_bytes: int) -> tuple[dict[int, Spans], dict[int, Spans]]:
        """Index of each access -> where the variables begin and end that it may use: shared ones, and local ones.

        ``shared_bytes``: shared memory of a block. One array that fills it needs no look.
        """
        if self._spans[0] != shared_bytes:
            shared = {index: _spans_of(found, shared_bytes) for index, found in self.table.shared.items()}
            shared = {index: spans for index, spans in shared.items() if spans != ((0, shared_bytes),)}
            local = {index: _spans_of(found, 0) for index, found in self.table.local.items()}
            self._spans = shared_bytes, shared, local
        return self._spans[1:]

    def described(self, site: Site, address: int, parameters: bytes, shared_bytes: int) -> Described | None:
        """An address outside the array that it was computed from; None where the array is not known.

        Arguments:
            address: in its own space, offset included.
            parameters: the bytes of the launch's parameters.
            shared_bytes: shared memory of a block.
        """
        if site.space in ("shared", "cluster"):
            return self._shared(site, address, shared_bytes)
        if site.space == "local":
            return self._local(site, address)
        return self._null(site, address, parameters)

    def pointer_of(self, site: Site) -> int | None:
        """The byte of the parameters where the only pointer is that an access may use; None where it is not known."""
        origins = self.table.origins.get(site.index, frozenset())
        return next((one.offset for one in origins if len(origins) == 1 and one.kind == "parameter"), None)

    def argument_element(self, number: int, offset: int) -> str | None:
        """The byte ``offset`` of an array argument as an element: "x[64]"; None where its name or type is not known."""
        parameter = self.parameters[number] if number < len(self.parameters) else None
        return f"{parameter.name}[{offset // parameter.itemsize}]" if parameter and parameter.itemsize else None

    def shared_element(self, index: int, address: int, itemsize: int, shared_bytes: int) -> Described | None:
        """An address in shared memory, counted from the variable that instruction ``index`` began with."""
        variables = self.table.shared.get(index)
        if not variables:
            return None
        variable = _nearest(variables, address)
        name, end = variable_name(variable.symbol), shared_bytes if variable.end is None else variable.end
        symbol = self.element(variable, address, itemsize)
        ends = ((v, shared_bytes if v.end is None else v.end) for v in self.table.shared_variables)
        hit = next((v for v, its_end in ends if v.start <= address < its_end), None)
        there = "" if hit is None else f". Instead there is {self.element(hit, address, itemsize)}"
        where = "before the beginning" if address < variable.start else "beyond the end"
        others = [variable_name(v.symbol) for v in variables if v is not variable]
        also = f" (the pointer may also be one to {' or '.join(others)})" if others else ""
        words = f"{symbol}{also}, {where} of {name}, which has {end - variable.start} bytes{there}"
        dynamic = variable.end is None and address >= variable.start
        return Described(words, symbol, hint=None if dynamic else _CHECK_INDEX)

    def element(self, variable: Variable, address: int, itemsize: int) -> str:
        """An address as an element of a variable: by its dimensions where the source has them as numbers."""
        name, offset = variable_name(variable.symbol), address - variable.start
        sizes = declared_sizes(self._source, name) if variable.end is not None else ()
        count = prod(sizes)
        if not sizes or count == 0 or ((variable.end or 0) - variable.start) % count:
            return f"{name}[{offset // itemsize}]"
        number, inner = offset // (((variable.end or 0) - variable.start) // count), ""
        for size in reversed(sizes[1:]):
            number, last = divmod(number, size)
            inner = f"[{last}]{inner}"
        return f"{name}[{number}]{inner}"

    def _shared(self, site: Site, address: int, shared_bytes: int) -> Described | None:
        signed = address - _ADDRESSES if address >= 1 << 63 else address - (1 << 32) if address >= 1 << 31 else address
        return self.shared_element(site.index, signed, site.dtype.itemsize, shared_bytes)

    def _local(self, site: Site, address: int) -> Described | None:
        variables = self.table.local.get(site.index)
        if not variables:
            return None
        signed = address - _ADDRESSES if address >= 1 << 63 else address
        variable = _nearest(variables, signed)
        assert variable.end is not None
        element = (signed - variable.start) // site.dtype.itemsize
        line = source_line(site.instruction.frames, self._file)
        names = local_arrays_of_line(self._source, line, [parameter.name for parameter in self.parameters])
        symbol = f"{names[0]}[{element}]" if len(names) == 1 else None
        among = f" ({' or '.join(names)})" if names else ""
        shown = symbol or f"element {element} of a local array{among}"
        where = "before the beginning" if signed < variable.start else "beyond the end"
        size = variable.end - variable.start
        return Described(f"{shown}, {where} of the array, which has at most {size} bytes", symbol, hint=_CHECK_INDEX)

    def _null(self, site: Site, address: int, parameters: bytes) -> Described | None:
        """A null pointer, or an offset from one."""
        offset = address - _ADDRESSES if address >= 1 << 63 else address
        if not -_NULL_BYTES < offset < _NULL_BYTES:
            return None
        element = offset // site.dtype.itemsize
        origins = self.table.origins.get(site.index, frozenset())
        pointers = sorted(o for o in origins if o.kind == "parameter")
        null = [o for o in pointers if not any(parameters[o.offset : o.offset + 8])]
        if len(null) == 1 and len(origins) == 1:
            name, argument, inside = self._argument(null[0])
            hint = ". Pass an array for it, or test the pointer before the access"
            if inside is not None:
                words = f"element {element} through a null pointer: the one at byte {inside} of {name}"
                return Described(words, None, argument, hint)
            symbol = f"{name}[{element}]"
            return Described(f"{symbol}, but {name} is a null pointer", symbol, argument, hint)
        came = " that was loaded from memory" if LOADED in origins else ""
        words = f"{site.width} bytes through a null pointer{came}: the address is {offset}"
        return Described(words, None, hint=". Let the pointer point to an array, or test it before the access")

    def _argument(self, origin: Origin) -> tuple[str, int, int | None]:
        """(name, number, byte in the struct or None) of the argument that holds a pointer of the parameters."""
        number, inside = next(
            (i, origin.offset - offset)
            for i, (variable, offset) in enumerate(self._image.params)
            if offset <= origin.offset < offset + (variable.size or 8)
        )
        name = self.parameters[number].name if number < len(self.parameters) else f"argument {number}"
        return name, number, inside if self._image.params[number][0].type == "b8" else None

    def trap_hint(self, instruction: Instruction) -> str:
        """A trap in a line that has none in the source: the compiler knows that the line must not be reached."""
        lines = self._source.splitlines()
        frames = instruction.frames
        if not frames or frames[0].file != self._file or not 0 < frames[0].line <= len(lines):
            return ""
        if re.search(r"trap|unreachable|assert", lines[frames[0].line - 1]):
            return ""
        return (
            ". The source has no trap in this line. The compiler writes one where it knows that C++ leaves the result "
            "undefined, such as an access through a null pointer"
        )


def _spans_of(variables: Sequence[Variable], nbytes: int) -> Spans:
    return tuple((v.start, nbytes if v.end is None else v.end) for v in variables)


def _nearest(variables: Sequence[Variable], address: int) -> Variable:
    """The variable that an address outside of all lies next to."""
    return min(variables, key=lambda v: max(v.start - address, address - (v.end or v.start)))
