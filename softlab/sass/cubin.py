"""Constant banks of a kernel, from the sections of its cubin.

A cubin is an ELF file of 64 bits (little-endian). ``.nv.constant2.KERNEL`` holds the compiler's own constants and the
tables of jumps, ``.nv.constant3`` the variables of ``__constant__``, ``.nv.constant4`` the addresses of variables,
which relocations name. ``.nv.info`` holds attributes of kernels; NVIDIA does not document it, ``cuobjdump -elf`` prints
the attributes' names.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
#: Bytes of an address.
_ADDRESS = 8
_NOTHING, _SYMBOLS, _RELA, _NO_BITS, _REL = 0, 2, 4, 8, 9
#: An attribute: its format, its number and a value of two bytes. With the format SIZED, the value is the size of what
#: follows.
_ATTRIBUTE = struct.Struct("<BBH")
_SIZED, _MIN_STACK_SIZE, _PARAMETER = 4, 0x12, 0x17
#: What stands of a parameter: an index, its number, its offset among the parameters, and its size among other bits.
_OF_PARAMETER, _SIZE_SHIFT = struct.Struct("<IHHI"), 18


@dataclass(frozen=True)
class Section:
    """One section: its name, type, content, and the fields that lead to other sections."""

    name: str
    kind: int
    data: bytes
    link: int
    info: int


@dataclass(frozen=True)
class Symbol:
    """A symbol: its name, the number of its section, its offset there and its size in bytes."""

    name: str
    section: int
    value: int
    size: int


class Cubin:
    """The sections and symbols of a cubin."""

    def __init__(self, data: bytes) -> None:
        header = _HEADER.unpack_from(data)
        start, size, count, names = header[6], header[11], header[12], header[13]
        raw = [_SECTION.unpack_from(data, start + size * k) for k in range(count)]
        table = data[raw[names][4] : raw[names][4] + raw[names][5]]
        self.sections = [
            Section(
                _text(table, name),
                kind,
                b"" if kind in (_NOTHING, _NO_BITS) else data[offset : offset + length],
                link,
                info,
            )
            for name, kind, _, _, offset, length, link, info, _, _ in raw
        ]
        self.symbols = list(self._symbols())
        self._variables: dict[str, dict[str, tuple[int, int]]] = {}
        self._banks: dict[tuple[int, str], tuple[bytes, list[tuple[int, str, int]]] | None] = {}

    def _symbols(self) -> Iterator[Symbol]:
        for section in self.sections:
            if section.kind == _SYMBOLS:
                names = self.sections[section.link].data
                for name, _, _, section_index, value, size in _SYMBOL.iter_unpack(section.data):
                    yield Symbol(_text(names, name), section_index, value, size)

    def section(self, name: str) -> Section | None:
        """The section of this name."""
        return next((section for section in self.sections if section.name == name), None)

    def constant_bank(self, number: int, kernel: str, addresses: Mapping[str, int]) -> bytearray | None:
        """The bank's content, with ``addresses`` of variables where relocations ask for them; None without a bank."""
        found = self._bank(number, kernel)
        if found is None:
            return None
        data = bytearray(found[0])
        for offset, name, addend in found[1]:
            if name in addresses:
                data[offset : offset + _ADDRESS] = (addresses[name] + addend).to_bytes(_ADDRESS, "little")
        return data

    def _bank(self, number: int, kernel: str) -> tuple[bytes, list[tuple[int, str, int]]] | None:
        """A bank as it is in the file, and its relocations; None without one."""
        if (number, kernel) not in self._banks:
            names = f".nv.constant{number}.{kernel}", f".nv.constant{number}"
            section = next((found for name in names if (found := self.section(name)) is not None), None)
            self._banks[number, kernel] = (
                None if section is None else (section.data, list(self._relocations(section.name, len(section.data))))
            )
        return self._banks[number, kernel]

    def _relocations(self, name: str, size: int) -> Iterator[tuple[int, str, int]]:
        """Where a section of ``size`` bytes has addresses, of which symbols, and what is added to them."""
        for section in self.sections:
            if section.kind not in (_RELA, _REL) or not section.name.startswith(".rel"):
                continue
            if not section.name.endswith(name):
                continue
            if section.kind == _RELA:
                entries = list(_RELOCATION.iter_unpack(section.data))
            else:
                entries = [(offset, info, 0) for offset, info in struct.iter_unpack("<QQ", section.data)]
            for offset, info, addend in entries:
                if offset + _ADDRESS <= size:
                    yield offset, self.symbols[info >> 32].name, addend

    def stack_bytes(self, kernel: str) -> int:
        """Bytes of the stack that a thread of a kernel needs with all functions that it may call.

        Functions that call themselves are not in it: the assembler does not know how deep.
        """
        for value in self._attributes(".nv.info", _MIN_STACK_SIZE):
            if len(value) == 8:
                symbol, size = struct.unpack("<II", value)
                if self.symbols[symbol].name == kernel:
                    return int(size)
        return 0

    def parameters_of(self, kernel: str) -> dict[int, tuple[int, int]]:
        """Number of a parameter -> (offset among the parameters, size). The assembler aligns them in the constant bank,
        which begins at no multiple of 32."""
        found = (_OF_PARAMETER.unpack(value) for value in self._attributes(f".nv.info.{kernel}", _PARAMETER))
        return {number: (offset, bits >> _SIZE_SHIFT) for _, number, offset, bits in found}

    def _attributes(self, name: str, wanted: int) -> Iterator[bytes]:
        """The values of an attribute with a size of its own in a section."""
        section = self.section(name)
        at, data = 0, section.data if section is not None else b""
        while at + _ATTRIBUTE.size <= len(data):
            form, number, value = _ATTRIBUTE.unpack_from(data, at)
            at += _ATTRIBUTE.size
            if form == _SIZED:
                if number == wanted:
                    yield data[at : at + value]
                at += value

    def functions_of(self, kernel: str) -> dict[str, int]:
        """Device function -> its address in the code of a kernel, of those that it calls or takes the address of."""
        number = next((k for k, found in enumerate(self.sections) if found.name == f".text.{kernel}"), -1)
        prefix = f"${kernel}$"
        inside = (s for s in self.symbols if s.section == number and s.name.startswith(prefix))
        return {s.name.removeprefix(prefix): s.value for s in inside}

    @cached_property
    def undefined(self) -> list[str]:
        """The symbols that the driver defines, such as ``vprintf``."""
        return [s.name for s in self.symbols if s.section == 0 and s.name]

    def variables_of(self, section: str) -> Mapping[str, tuple[int, int]]:
        """Symbol -> (offset, size) of the variables of a section."""
        if section not in self._variables:
            number = next((k for k, found in enumerate(self.sections) if found.name == section), -1)
            own = (s for s in self.symbols if s.section == number and s.name and s.size)
            self._variables[section] = {s.name: (s.value, s.size) for s in own}
        return self._variables[section]


def _text(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode()
