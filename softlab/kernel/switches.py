"""Kernels and macros that stand in a part of a file which no macro of the program switches on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from softlab.cuda.device_code import DeviceCode
from softlab.cuda.given_options import macros_in

_DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b")
#: Macros of the compiler, and those for other compilers and machines.
_NOT_OURS = re.compile(r"__|\w*(?:HIP|ROCM|AMD|SYCL|OPENCL|MUSA|METAL|_MSC_VER|WIN32|APPLE)")
#: Lines from the start of a kernel's declaration to its name, at most.
_HEAD_LINES = 6
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
#: A macro that is 0 where the command that builds the program does not define it.
_DEFAULT_OFF = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]+(?:0|false)\b[^\n]*\n[ \t]*#[ \t]*endif",
    re.MULTILINE,
)
#: What a conditional asks of one macro: that it is defined, or its value.
_ASKED = re.compile(r"\(*\s*(?:defined\s*\(?\s*)?([A-Za-z_]\w*)\s*(?:(==|>=|>)\s*(\d+))?[\s)]*")


def switches(code: DeviceCode, name: str, log: str, options: Sequence[str]) -> dict[str, str]:
    """Macro -> value, for the conditionals around the kernel, or around the macros that the compiler lacks.

    Only macros that nothing defines, or that are 0 by default, and conditionals that ask for such macros alone.
    ``log``: the compiler's.
    """
    written = [name for text in _texts(code) for name in re.findall(r"^[ \t]*#\s*define\s+(\w+)", text, re.MULTILINE)]
    defined = set(written) - {
        name for text in _texts(code) for name in _DEFAULT_OFF.findall(text) if written.count(name) == 1
    }
    defined |= macros_in(options)
    found: dict[str, str] = {}
    for places in ([around_kernel(code, name, log)], *_around_macros(code, log)):
        ways: list[dict[str, str]] = []
        for conditions in places:
            asked = [_asked(condition) for _, condition in conditions if not _holds(condition, defined)]
            values = {macro: value for one in asked for macro, value in (one or {"": ""}).items()}
            if values and not any(macro in ("", *defined) or _NOT_OURS.match(macro) for macro in values):
                ways.append(values)
        found |= sorted(ways, key=len)[0] if ways else {}
    return found


def around_kernel(code: DeviceCode, name: str, log: str) -> list[tuple[int, str]]:
    """The conditionals around a kernel that the preprocessor drops, with their lines; none for other faults."""
    if "__nv_name_map" not in log:
        return []
    base = name.partition("<")[0]
    line = next((kernel.line for kernel in code.kernels if kernel.name == base), 0)
    word = re.compile(rf"\b{re.escape(base.split('::')[-1])}\b")
    for text in _texts(code):
        if word.search("\n".join(text.splitlines()[max(0, line - 1) : line + _HEAD_LINES])):
            return _around(text, line)
    return []


def said_of(code: DeviceCode, name: str, log: str) -> str:
    """What to say of a kernel that the preprocessor drops."""
    conditions = around_kernel(code, name, log)
    if not conditions:
        return ""
    listed = ", ".join(f"{text} (line {number})" for number, text in conditions)
    return f"\nThe kernel stands inside {listed}. options=['-DNAME=value'] defines what that asks for."


def _texts(code: DeviceCode) -> tuple[str, ...]:
    return (code.source, *code.headers.values())


def _around_macros(code: DeviceCode, log: str) -> Iterator[list[list[tuple[int, str]]]]:
    """The conditionals around the definitions of each macro that the log calls undefined."""
    for name in dict.fromkeys(_UNDEFINED.findall(log)):
        written = re.compile(rf"^[ \t]*#\s*define\s+{name}\b", re.MULTILINE)
        places = [(text, match) for text in _texts(code) for match in written.finditer(text)]
        yield [_around(text, text.count("\n", 0, match.end()) + 1) for text, match in places]


def _around(text: str, line: int) -> list[tuple[int, str]]:
    """The conditionals that are open at a line, with their own lines."""
    found: list[tuple[int, str]] = []
    for number, written in enumerate(text.splitlines()[: max(0, line - 1)], 1):
        directive = _DIRECTIVE.match(written)
        if directive and directive[1] == "endif":
            del found[-1:]
        elif directive and directive[1] in ("elif", "else"):
            found[-1:] = [(number, f"{written.strip()} of {found[-1][1]}" if found else written.strip())]
        elif directive:
            found.append((number, written.strip()))
    return found


def _holds(condition: str, defined: Collection[str]) -> bool:
    """Whether a conditional holds as it is: a guard, or what stands for macros that nothing defines."""
    if re.match(r"#\s*(?:ifndef\b|if\s+!\s*defined\b)", condition):
        return True
    other = re.fullmatch(r"#\s*else\b.*? of (.*)", condition)
    asked = _asked(other[1]) if other else None
    return bool(asked) and not set(asked or ()) & set(defined)


def _asked(condition: str) -> Mapping[str, str] | None:
    """Macro -> value, for a conditional that is a conjunction of such; of several alternatives the first one."""
    match = re.fullmatch(r"#\s*(ifdef|if)\s+(.*?)\s*(?://.*|/\*.*)?", condition)
    if match is None:
        return None
    parts = match[2].split("||")[0].split("&&")
    asked = [_ASKED.fullmatch(part.strip()) for part in parts]
    if not all(asked):
        return None
    return {one[1]: str(int(one[3] or 1) + (one[2] == ">")) for one in asked if one}
