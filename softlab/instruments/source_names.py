"""The names that the CUDA source gives to parameters and variables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from softlab.emulator.ptx.linker import Image

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NOT_A_TYPE = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|__grid_constant__|struct|typename|unsigned)\b")
#: Bytes of the types that pointers commonly point to.
_SIZES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "uchar": 1, "short": 2, "int16_t": 2, "uint16_t": 2, "__half": 2,
    "half": 2, "__nv_bfloat16": 2, "int": 4, "unsigned": 4, "signed": 4, "float": 4, "int32_t": 4, "uint32_t": 4,
    "uint": 4, "__half2": 4, "half2": 4, "long": 8, "long long": 8, "long long int": 8, "double": 8, "int64_t": 8,
    "uint64_t": 8, "size_t": 8, "float2": 8, "int2": 8, "uint2": 8, "float4": 16, "int4": 16, "uint4": 16,
    "double2": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its name, and bytes per element of what a pointer points to (None: not known)."""

    name: str
    itemsize: int | None


def parameters(source: str, kernel: str) -> tuple[Parameter, ...]:
    """The parameters of a kernel as its source declares them; empty where the declaration is not found."""
    base = re.sub(r"<.*", "", kernel, flags=re.DOTALL).rpartition("::")[2].strip()
    text = _COMMENT.sub(" ", source)
    for match in re.finditer(rf"\b{re.escape(base)}\s*\(", text):
        before = text[: match.start()]
        if "__global__" in before[max(before.rfind(mark) for mark in ";}") + 1 :]:
            return tuple(_parameter(part) for part in _arguments(text, match.end()) if part.strip())
    return ()


def _arguments(text: str, start: int) -> list[str]:
    """The parts between commas up to the closing parenthesis."""
    parts, depth = [""], 0
    for character in text[start:]:
        depth += (character in "([{<") - (character in ")]}>")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parameter(text: str) -> Parameter:
    text = text.partition("=")[0]
    names = re.findall(r"[A-Za-z_]\w*", text.partition("[")[0])
    name = names[-1] if names else "?"
    pointed = re.split(r"[*&\[]", text)[0]
    if text.count("*") > 1:
        return Parameter(name, 8)
    if "*" not in text:
        pointed = pointed.rpartition(name)[0]
    unsigned = "unsigned" in pointed.split()
    kind = " ".join(_NOT_A_TYPE.sub(" ", pointed).split())
    return Parameter(name, _SIZES.get(kind or ("unsigned" if unsigned else "")))


def variable_name(symbol: str) -> str:
    """A variable's name as the source spells it, of its name in the PTX (Itanium C++ ABI, "Mangling")."""
    if not symbol.startswith("_Z"):
        return symbol
    found, at = symbol, 2
    while at < len(symbol):
        literal = re.match(r"L[a-z]n?\d+E", symbol[at:])  # a number among the arguments of a template
        if literal is not None:
            at += len(literal[0])
            continue
        number = re.match(r"\d+", symbol[at:])
        if number is None:
            at += 1
            continue
        start = at + len(number[0])
        name = symbol[start : start + int(number[0])]
        if len(name) < int(number[0]) or not re.fullmatch(r"[A-Za-z_]\w*", name):  # a number, not a length
            at = start
            continue
        found, at = name, start + len(name)
    return found


def shared_symbol(image: Image, address: int, itemsize: int) -> str | None:
    """An address in shared memory as the source names it: the variable, and the element in it."""
    shared = [(image.addresses[name], name) for name, space in image.spaces.items() if space == "shared"]
    below = [variable for variable in shared if variable[0] <= address]
    if not below:
        return None
    base, symbol = max(below)
    variables = (*image.module.variables.values(), *image.module.functions[image.name].variables)
    size = next((v.size for v in variables if v.name == symbol), None)
    name = variable_name(symbol)
    return name if size == itemsize else f"{name}[{(address - base) // itemsize}]"


_DECLARATOR = r"\w+\s*(?:\[[^\]]*\]\s*)*(?:=[^,]*)?"
#: The beginning of a declaration: the words of a type, and declarators before the one that is looked for.
_DECLARATION = rf"^\s*(?:[A-Za-z_][\w:]*(?:<[^;]*>)?[\s*&]+)+(?:{_DECLARATOR},\s*)*"
_NO_DECLARATION = ("return", "else", "case", "goto", "throw", "extern")


def local_arrays_of_line(source: str, line: int | None, parameters: Sequence[str]) -> tuple[str, ...]:
    """The arrays that a line of the source indexes, and that the source declares as local variables before.

    Empty where the line also indexes what is neither an array of the source nor one of the ``parameters``: a pointer.
    """
    lines = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source).splitlines()
    if line is None or not 0 < line <= len(lines):
        return ()
    statements = [part for text in lines[:line] for part in re.split(r"[;{}]", text)]
    local = []
    for name in dict.fromkeys(re.findall(r"([A-Za-z_]\w*)\s*\[", lines[line - 1])):
        spaces = {space for text in statements if (space := _declares(text, name))}
        if spaces == {"local"}:
            local.append(name)
        elif not spaces and name not in parameters:
            return ()
    return tuple(local)


def _declares(statement: str, name: str) -> str:
    """Where a statement declares an array of that name: "local" or "elsewhere"; "" where it does not."""
    words = statement.split()
    if not words or words[0] in _NO_DECLARATION or not re.match(rf"{_DECLARATION}{re.escape(name)}\s*\[", statement):
        return ""
    return "elsewhere" if {"__shared__", "__constant__", "__device__"} & set(words) else "local"


def declared_sizes(source: str, name: str) -> tuple[int, ...]:
    """The sizes that the source gives a shared array, such as (32, 33); empty where it has other words than numbers."""
    text = _COMMENT.sub(" ", source)
    found = {
        tuple(re.findall(r"\[([^\]]*)\]", match[1]))
        for match in re.finditer(rf"__shared__[^;{{}}]*?\b{re.escape(name)}\s*((?:\[[^\]]*\]\s*)+)", text)
    }
    sizes = found.pop() if len(found) == 1 else ()
    return tuple(int(size) for size in sizes) if all(size.strip().isdigit() for size in sizes) else ()


def unset_variables_of_line(source: str, line: int | None) -> tuple[str, ...]:
    """The variables in a line of the source that the source declares before without a value."""
    lines = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source).splitlines()
    if line is None or not 0 < line <= len(lines):
        return ()
    statements = [part for text in lines[:line] for part in re.split(r"[;{}]", text)]
    named = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", lines[line - 1]))
    return tuple(name for name in named if any(_declares_unset(text, name) for text in statements))


def _declares_unset(statement: str, name: str) -> bool:
    """Whether a statement declares a local variable or array of that name and gives it no value."""
    words = statement.split()
    if not words or words[0] in _NO_DECLARATION or "(" in statement or {"__shared__", "extern"} & set(words):
        return False
    declarator = rf"{_DECLARATION}{re.escape(name)}\s*(?:\[[^\]]*\]\s*)*(?:,|$)"
    return bool(re.match(declarator, statement.rstrip()))
