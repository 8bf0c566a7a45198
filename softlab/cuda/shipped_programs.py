"""Programs that softlab brings compiled, for machines without NVRTC and nvdisasm, such as a Mac.

``data/programs.zip`` has what NVRTC and nvdisasm made of the kernels of the lessons, the gallery and the explorers.
``make programs`` writes it. Each program is found by a digest of its source, its options and the headers that it
includes. So a changed source is not found, and nothing outdated is taken for it. Where NVRTC is installed, nobody asks
here.

The archive has an index and blocks of several programs: similar ones stand together, where they compress best.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

#: Raise when the meaning of the archive changes.
_FORMAT = 1
_INDEX = "index.json"
#: Programs of a block. Reading one program unpacks its block, which takes less than 0.1 s.
_PER_BLOCK = 32
#: In nvdisasm's text: the halves of an encoding, the start of a function, an instruction with its address.
_ENCODING = re.compile(r"[ \t]*/\* 0x[0-9a-f]{16} \*/(?:\n(?=\s*/\* 0x))?")
_CODE_SECTION = re.compile(r"\.section\s+(\.text\.[^,]+),")
_INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s")
#: The path of a source file in a line table, as far as it belongs to the machine that compiled it.
_FOLDER = re.compile(r'(?<=")/[^"\n]*?(?:/site-packages/(?=[^"\n]*")|/(?=[^"/\n]*"))')
_DEBUG = (".debug_", ".nv_debug_")
ARCHIVE = Path(__file__).parent / "data" / "programs.zip"
#: What a learner without NVRTC can do about a kernel that is not here.
ADVICE = (
    "softlab brings the kernels of the lessons, the gallery and the explorers compiled, but not this one: "
    "it is changed, or new. On Linux and Windows, NVRTC compiles it. On a Mac, clang does (softlab[clang])."
)


@dataclass(frozen=True)
class ShippedProgram:
    """One compiled program without its source.

    record: the fields of :class:`softlab.cuda.compile.Program` that the compiler made, as plain data, with the cubin in
    hexadecimal; sass: what nvdisasm printed of it. In the archive the cubin has no debug tables, and the text no
    encodings.
    """

    record: Mapping[str, Any]
    sass: str


def program_key(source: str, name: str, identity: Sequence[Any]) -> str:
    """What a program is found by. identity: all else that decides it, but for the compiler's version."""
    return hashlib.sha256(json.dumps([_FORMAT, source, name, *identity]).encode()).hexdigest()[:32]


def shipped_program(key: str, file: Path = ARCHIVE) -> ShippedProgram | None:
    """The program with that key, or None."""
    block = _index(file)["programs"].get(key)
    return None if block is None else _block(file, block)[key]


def shipped_machine_code(cubin: bytes, file: Path = ARCHIVE) -> str | None:
    """What nvdisasm printed of a program of the archive; None for another cubin."""
    key = _index(file)["cubins"].get(_cubin_key(cubin))
    found = None if key is None else shipped_program(key, file)
    return None if found is None else with_encodings(found.sass, cubin)


def shipped_compiler(file: Path = ARCHIVE) -> str:
    """The version of the NVRTC that compiled them, such as "12.9"; "" where there is no archive."""
    return str(_index(file)["nvrtc"])


def shipped_count(file: Path = ARCHIVE) -> int:
    """How many programs softlab brings compiled."""
    return len(_index(file)["programs"])


def write_shipped(programs: Mapping[str, ShippedProgram], file: Path = ARCHIVE) -> None:
    """Write the archive: the same bytes for the same programs."""
    kept = {key: _bare(one) for key, one in programs.items()}
    order = sorted(kept, key=lambda key: (kept[key].record["entry"], kept[key].record["ptx"], key))
    blocks = [order[k : k + _PER_BLOCK] for k in range(0, len(order), _PER_BLOCK)]
    index = {
        "format": _FORMAT,
        "nvrtc": "; ".join(sorted({one.record["nvrtc"] for one in kept.values()})),
        "programs": {key: number for number, block in enumerate(blocks) for key in block},
        "cubins": {_cubin_key(bytes.fromhex(kept[key].record["cubin"])): key for key in order},
    }
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, _INDEX, index)
        for number, block in enumerate(blocks):
            _add(archive, _member(number), {key: [dict(kept[key].record), kept[key].sass] for key in block})


def _bare(program: ShippedProgram) -> ShippedProgram:
    """A program without what nothing reads, and without the folders of the machine that compiled it."""
    cubin = without_debug(bytes.fromhex(program.record["cubin"])).hex()
    record = {**program.record, "ptx": _FOLDER.sub("", program.record["ptx"]), "cubin": cubin}
    return ShippedProgram(record, without_encodings(_FOLDER.sub("", program.sass)))


def without_debug(cubin: bytes) -> bytes:
    """A cubin whose debug tables are zero: nothing in softlab reads them, and zeros take no room in an archive."""
    bare = bytearray(cubin)
    for name, at, length in _sections(cubin):
        if name.removeprefix(".rela").removeprefix(".rel").startswith(_DEBUG):
            bare[at : at + length] = bytes(length)
    return bytes(bare)


def _sections(cubin: bytes) -> Iterator[tuple[str, int, int]]:
    """(name, offset, length in bytes) of each section of an ELF file of 64 bits."""
    (start,), (size, count, names) = struct.unpack_from("<Q", cubin, 40), struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<II16xQQ", cubin, start + size * k) for k in range(count)]
    table = headers[names][2]
    for name, _, at, length in headers:
        yield cubin[table + name : cubin.index(b"\0", table + name)].decode(), at, length


def without_encodings(sass: str) -> str:
    """nvdisasm's text without the bits of the instructions, which stand in the cubin, too."""
    return _ENCODING.sub("", sass)


def with_encodings(sass: str, cubin: bytes) -> str:
    """The text of :func:`without_encodings` with the bits again: 16 bytes per instruction, on two lines."""
    sections = {name: cubin[at : at + length] for name, at, length in _sections(cubin) if name.startswith(".text.")}
    code = b""
    lines = []
    for line in sass.split("\n"):
        if found := _CODE_SECTION.search(line):
            code = sections[found[1]]
        elif found := _INSTRUCTION.match(line):
            low, high = struct.unpack_from("<QQ", code, int(found[1], 16))
            line = f"{line} /* 0x{low:016x} */\n\t/* 0x{high:016x} */"
        lines.append(line)
    return "\n".join(lines)


def _cubin_key(cubin: bytes) -> str:
    return hashlib.sha256(cubin).hexdigest()[:32]


def _member(number: int) -> str:
    return f"{number:03}.json"


def _add(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    archive.writestr(member, json.dumps(content, sort_keys=True), zipfile.ZIP_LZMA)


@lru_cache(maxsize=4)
def _index(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {"nvrtc": "", "programs": {}, "cubins": {}}
    index = _read(file, _INDEX)
    return index if index["format"] == _FORMAT else {"nvrtc": "", "programs": {}, "cubins": {}}


@lru_cache(maxsize=4)
def _block(file: Path, number: int) -> dict[str, ShippedProgram]:
    return {key: ShippedProgram(record, sass) for key, (record, sass) in _read(file, _member(number)).items()}


def _read(file: Path, member: str) -> Any:
    with zipfile.ZipFile(file) as archive:
        return json.loads(archive.read(member))
