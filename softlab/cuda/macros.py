"""The macros of a CUDA C++ file and of the headers beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from softlab.cuda.macro_calls import Macros, header_names
from softlab.cuda.source_files import Places
from softlab.cuda.syntax import WORD

NO_MACROS: Macros = MappingProxyType({})
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:(\([^)]*\))|(?=[ \t\n]))((?:.*\\\n)*.*)$", re.MULTILINE)
#: What the body of a macro has that stands for attributes of a function alone.
_FUNCTION_ATTRIBUTES = re.compile(
    rb"(?:\s|\\\n|\b__\w+__\b(?:\s*\((?:[^()]|\([^()]*\))*\))?|\b(?:inline|static|extern|constexpr|_Noreturn"
    rb"|__inline|__forceinline|__declspec\s*\((?:[^()]|\([^()]*\))*\)|__attribute__\s*\(\(.*?\)\))|\[\[[^\[\]]*\]\])*"
)
_INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)', re.MULTILINE)
#: Headers of CUTLASS, and the macros with which programs mark functions that these bring.
_CUTLASS = re.compile(rb"(?:cute|cutlass)/")
_OF_CUTLASS: Macros = {
    b"CUTE_HOST_DEVICE": (b"", b"__forceinline__ __host__ __device__"),
    b"CUTE_DEVICE": (b"", b"__forceinline__ __device__"),
    b"CUTE_HOST": (b"", b"__forceinline__ __host__"),
    b"CUTLASS_HOST_DEVICE": (b"", b"__forceinline__ __device__ __host__"),
    b"CUTLASS_DEVICE": (b"", b"__forceinline__ __device__"),
    b"CUTLASS_HOST": (b"", b"__host__"),
    b"CUTLASS_GLOBAL": (b"", b"__global__ static"),
}
_BY_MACRO = re.compile(rb"^[ \t]*#[ \t]*include[ \t]+([A-Za-z_].*)$", re.MULTILINE)


def standing_for(words: str, macros: Macros) -> str:
    """A pattern of these words, and of the macros that have one in their bodies, directly or not."""
    pattern = re.compile(words.encode())
    known = new = {name for name, (_, body) in macros.items() if pattern.search(body)}
    while new := {name for name, (_, body) in macros.items() if not new.isdisjoint(_words(body))} - known:
        known = known | new
    return "|".join([words, *(rf"\b{name.decode()}\b" for name in sorted(known))])


def reachable(text: bytes, macros: Macros) -> Macros:
    """Those of the macros that a text names, directly or by the bodies of others: the others change nothing in it."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    pending = set(WORD.findall(text)) & macros.keys()
    while pending:
        found |= {name: macros[name] for name in pending}
        pending = {word for name in pending for word in _words(macros[name][1]) if word in macros and word not in found}
    return found


def macros_of(text: bytes, path: Path | None, places: Places) -> dict[bytes, tuple[bytes, bytes]]:
    """The macros of a text and of the files that it includes, as :data:`Macros`. ``places``: where its headers are."""
    own, included, by_macros = _read(text)
    found = {**_OF_CUTLASS, **own} if any(_CUTLASS.match(name) for name in included) else dict(own)
    for name in included:
        found = {**_macros_beside(path, name.decode(errors="replace"), places), **found}
    for written in by_macros:
        for header in header_names(written.decode(errors="replace"), found):
            found = {**_macros_beside(path, header, places), **found}
    return found


def own_macros(text: bytes) -> Macros:
    """The macros that a text itself defines."""
    return _read(text)[0]


def definitions_in(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The macros that a text itself defines, each with the directive as it is written; several of one name may be."""
    return ((match[1], match[0]) for match in _MACRO.finditer(text))


@lru_cache(maxsize=1 << 10)
def _read(text: bytes) -> tuple[dict[bytes, tuple[bytes, bytes]], list[bytes], list[bytes]]:
    """The macros of a text alone, the headers that it includes, and those whose names macros make."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    for match in _MACRO.finditer(text):
        _, other = found.get(match[1], (b"", b""))  # that of another branch of a conditional
        found[match[1]] = (match[2] or b"", match[3] + other)
    return found, _INCLUDED.findall(text), _BY_MACRO.findall(text)


def _macros_beside(path: Path | None, name: str, places: Places) -> Macros:
    """The macros of a header, which is read once per program; none while it is being read."""
    local = places.beside(path, name)
    if local is None:
        return {}
    if local not in places.macros:
        places.macros[local] = {}
        places.macros[local] = macros_of(local.read_bytes(), local, places)
    return places.macros[local]


def attribute_macros(macros: Macros) -> set[bytes]:
    """The macros that stand for attributes of functions alone, directly or by other such macros."""
    found = new = {name for name, (_, body) in macros.items() if _is_attribute(body)}
    while new := {
        name
        for name, (_, body) in macros.items()
        if name not in found and not new.isdisjoint(_words(body)) and _is_attribute(_without(body, found))
    }:
        found = found | new
    return found


def _without(body: bytes, known: set[bytes]) -> bytes:
    return WORD.sub(lambda match: b"" if match[0] in known else match[0], body)


@lru_cache(maxsize=1 << 14)
def _is_attribute(body: bytes) -> bool:
    return _FUNCTION_ATTRIBUTES.fullmatch(body) is not None


@lru_cache(maxsize=1 << 14)
def _words(body: bytes) -> frozenset[bytes]:
    return frozenset(WORD.findall(body))


def passed_attributes(macros: Macros) -> re.Pattern[bytes] | None:
    """A pattern of calls such as ``IF_HOST(constexpr)``: attributes as the argument of a macro that is its argument or
    nothing. None where there is no such macro."""
    names = [
        name
        for name, (parameters, body) in macros.items()
        if parameters and _words(body) <= _words(parameters) and re.fullmatch(rb"[\w\s]*", body)
    ]
    if not names:
        return None
    return re.compile(rb"\b(?:%s)[ \t]*\((?=[^\s)])%s\)(?=\s*\w)" % (b"|".join(names), _FUNCTION_ATTRIBUTES.pattern))
