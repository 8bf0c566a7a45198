"""clang's line information, rewritten as NVRTC writes it.

clang names the functions that a line was inlined from only in a comment::

    .loc 2 73 1     // pack.cuh:73:1 @[ cell.cu:3:25 ]

The emulator reads ``.loc 2 73 1, function_name f, inlined_at 1 3 25``, as PTX has it from version 7.2 on. And ``.file``
has a folder and a name, where NVRTC has one name.
"""

from __future__ import annotations

import re

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"([^"]*)"(?:[ \t]+"([^"]*)")?[^\n]*\n?', re.MULTILINE)
_LOC = re.compile(r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)[^\n/]*//[ \t]*([^\n]*)$", re.MULTILINE)
_PLACE = re.compile(r"(\S+?):(\d+):(\d+)")


def with_inlined_lines(ptx: str, folders: tuple[str, ...]) -> str:
    """The PTX with ``.file`` at its beginning and ``inlined_at`` in its ``.loc``.

    folders: what stands before the names of headers, each with a slash at its end.
    """
    names: dict[str, int] = {}
    numbers = {int(n): _short(second or first, folders) for n, first, second in _FILE.findall(ptx)}

    def number(name: str) -> int:
        return names.setdefault(name, len(names) + 1)

    def located(found: re.Match[str]) -> str:
        line, column = found[2], found[3]
        chain = [(number(_short(path, folders)), a, b) for path, a, b in _PLACE.findall(found[4])]
        if line == "0" or len(chain) < 2:
            return f"\t.loc\t{number(numbers[int(found[1])])} {line} {column}"
        return "\n".join(_directives(chain))

    body = _LOC.sub(located, _FILE.sub("", ptx))
    files = "".join(f'.file\t{k} "{name}"\n' for name, k in names.items())
    at = body.index(".address_size")
    end = body.index("\n", at) + 1
    return f"{body[:end]}{files}{body[end:]}"


def _directives(chain: list[tuple[int, str, str]]) -> list[str]:
    """``.loc`` of each place of a chain, innermost first, beginning with the outermost, which the next one names."""
    lines, parent = [], ""
    for file, line, column in reversed(chain):
        place = f"{file} {line} {column}"
        lines.append(f"\t.loc\t{place}" + (f", function_name $L__name, inlined_at {parent}" if parent else ""))
        parent = place
    return lines


def _short(path: str, folders: tuple[str, ...]) -> str:
    """The name by which a header is included; the path of another file."""
    path = path.removeprefix("./")
    return next((path[len(folder) :] for folder in folders if path.startswith(folder)), path)
