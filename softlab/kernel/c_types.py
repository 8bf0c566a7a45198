"""The C++ types that a kernel declares for its parameters, as far as they are known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from softlab.cuda.compile import Program
from softlab.kernel.mangled_names import parameter_types

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECORATION = re.compile(r"\b(?:__restrict__|__restrict|__grid_constant__|register)\b")
_SPELLINGS = {
    "unsigned": "unsigned int", "signed": "int", "signed int": "int", "short int": "short", "long int": "long",
    "unsigned short int": "unsigned short", "short unsigned int": "unsigned short", "long long int": "long long",
    "unsigned long int": "unsigned long", "long unsigned int": "unsigned long", "size_t": "unsigned long",
    "unsigned long long int": "unsigned long long", "long long unsigned int": "unsigned long long",
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long", "uint64_t": "unsigned long", "half": "__half",
    "nv_bfloat16": "__nv_bfloat16", "half2": "__half2", "nv_bfloat162": "__nv_bfloat162",
}  # fmt: skip
_WORDS = re.compile(r"(?:unsigned|signed|short|long|int|char|float|double|bool|void|\s)+")


@dataclass(frozen=True)
class CType:
    """One declared type: ``text`` as a person writes it, ``element`` behind ``pointers`` stars, without qualifiers."""

    text: str
    element: str
    pointers: int

    @classmethod
    def parse(cls, text: str) -> CType | None:
        """The type of a text such as "const float*"; None for references and arrays of pointers to functions."""
        if any(character in text for character in "&()[]"):
            return None
        plain = re.sub(r"\b(?:const|volatile)\b", " ", _DECORATION.sub(" ", text))
        element = " ".join(plain.replace("*", " ").split()).removeprefix("std::")
        return cls(" ".join(text.split()), _SPELLINGS.get(element, element), plain.count("*"))


@lru_cache(maxsize=256)
def declared_types(program: Program) -> tuple[CType | None, ...] | None:
    """The declared type of each parameter, None for one that is not known; None if nothing is known.

    They come from the mangled name, or, for an ``extern "C"`` kernel, from the source.
    """
    texts = parameter_types(program.entry)
    if texts is None and not program.entry.startswith("_Z"):
        texts = _from_source(program.source, program.entry)
    return None if texts is None else tuple(map(CType.parse, texts))


def _from_source(source: str, name: str) -> tuple[str, ...] | None:
    """The parameter types of the only ``__global__`` function of that name; None without one, or with several."""
    plain = _COMMENT.sub(" ", source)
    start = rf"\b__global__\b(?:[^;{{}}()]|\([^()]*\))*?\b{re.escape(name)}\s*\(([^()]*)\)"
    found = {" ".join(text.split()) for text in re.findall(start, plain)}
    if len(found) != 1:
        return None
    (text,) = found
    if "#" in text or "<" in text:  # the preprocessor, or commas of template arguments
        return None
    defined = set(re.findall(r"#\s*define\s+(\w+)", plain))
    parts = [part.partition("=")[0] for part in text.split(",")] if text not in ("", "void") else []
    return tuple("&" if defined & set(re.findall(r"\w+", part)) else _without_name(part) for part in parts)


def _without_name(parameter: str) -> str:
    """ "const float* x" -> "const float*". A parameter may have no name: then the last word is the type."""
    text = _DECORATION.sub(" ", parameter).strip()
    array = re.fullmatch(r"(.*?)(\w+)\s*\[[^\]]*\]", text)
    if array:
        return f"{array[1]}*"
    named = re.fullmatch(r"(.*[\s*&])(\w+)", text)
    without = named[1].strip() if named else ""
    if not without or not re.sub(r"\b(?:const|volatile|struct)\b", "", without).strip() or _WORDS.fullmatch(text):
        return text
    return without
