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

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_NOTHING, _SYMBOLS, _RELA, _NO_BITS, _REL = 0, 2, 4, 8, 9
#: An attribute: its format, its number and a value of two bytes. With the format SIZED, the value is the size of what
#: follows.
_ATTRIBUTE = struct.Struct("<BBH")
_SIZED, _MIN_STACK_SIZE = 4, 0x12


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
        for name in (f".nv.constant{number}.{kernel}", f".nv.constant{number}"):
            section = self.section(name)
            if section is None:
                continue
            data = bytearray(section.data)
            for relocation in self.sections:
                if (
                    relocation.kind in (_RELA, _REL)
                    and relocation.name.endswith(name)
                    and relocation.name[:4] in (".rel",)
                ):
                    self._relocate(data, relocation, addresses)
            return data
        return None

    def _relocate(self, data: bytearray, relocation: Section, addresses: Mapping[str, int]) -> None:
        if relocation.kind == _RELA:
            entries = list(_RELOCATION.iter_unpack(relocation.data))
        else:
            entries = [(offset, info, 0) for offset, info in struct.iter_unpack("<QQ", relocation.data)]
        for offset, info, addend in entries:
            symbol = self.symbols[info >> 32]
            if symbol.name in addresses and offset + 8 <= len(data):
                value = addresses[symbol.name] + addend
                data[offset : offset + 8] = value.to_bytes(8, "little")

    def stack_bytes(self, kernel: str) -> int:
        """Bytes of the stack that a thread of a kernel needs with all functions that it may call.

        Functions that call themselves are not in it: the assembler does not know how deep.
        """
        section = self.section(".nv.info")
        at, data = 0, section.data if section is not None else b""
        while at + _ATTRIBUTE.size <= len(data):
            form, number, value = _ATTRIBUTE.unpack_from(data, at)
            at += _ATTRIBUTE.size
            if form == _SIZED:
                if number == _MIN_STACK_SIZE and value == 8:
                    symbol, size = struct.unpack_from("<II", data, at)
                    if self.symbols[symbol].name == kernel:
                        return int(size)
                at += value
        return 0

    def functions_of(self, kernel: str) -> dict[str, int]:
        """Device function -> its address in the code of a kernel, of those that it calls or takes the address of."""
        number = next((k for k, found in enumerate(self.sections) if found.name == f".text.{kernel}"), -1)
        prefix = f"${kernel}$"
        inside = (s for s in self.symbols if s.section == number and s.name.startswith(prefix))
        return {s.name.removeprefix(prefix): s.value for s in inside}

    @property
    def undefined(self) -> list[str]:
        """The symbols that the driver defines, such as ``vprintf``."""
        return [s.name for s in self.symbols if s.section == 0 and s.name]

    def variables_of(self, section: str) -> dict[str, tuple[int, int]]:
        """Symbol -> (offset, size) of the variables of a section."""
        number = next((k for k, found in enumerate(self.sections) if found.name == section), -1)
        return {s.name: (s.value, s.size) for s in self.symbols if s.section == number and s.name and s.size}


def _text(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode()
