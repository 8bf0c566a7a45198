"""Parameter types of a kernel from its mangled name (Itanium C++ ABI, section "Mangling").

Only the part of the grammar that kernels use is read: built-in types, classes and templates, pointers, arrays,
qualifiers, substitutions, template parameters and literals. Whatever else a name contains makes its types unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
#: Namespaces that the compiler makes up for what other files cannot see.
_HIDDEN = re.compile(r"_INTERNAL_|_GLOBAL__N_")
_QUALIFIERS = {"K": "const", "V": "volatile", "r": "__restrict__"}


class _Unknown(Exception):
    """The name has a part that is not read here."""


def parameter_types(mangled: str) -> tuple[str, ...] | None:
    """The types of a function's parameters as C++ writes them: ("const float*", "int").

    None if the name is not mangled (``extern "C"``), or has a part that is not read here.
    """
    if not mangled.startswith("_Z"):
        return None
    try:
        return tuple(_Reader(mangled[2:]).parameters())
    except (_Unknown, IndexError, ValueError):
        return None


def template_types(mangled: str) -> tuple[str, ...]:
    """The template arguments of a function as C++ writes them: ("float[3][4]", "2").

    An argument that is not read here, such as the type of a function, is "", and so are those after it.
    """
    reader = _Reader(mangled[2:])
    try:
        reader._name()
    except (_Unknown, IndexError, ValueError):
        return (*reader.seen, "")
    return tuple(reader.template_arguments)


def qualified_name(symbol: str) -> str:
    """A variable's name with its namespaces: "outer::table". Those without a name are left out.

    A variable of a function has the function's name before it: "kernel::seen". A name that is not read here stays as
    it is.
    """
    if not symbol.startswith("_Z"):
        return symbol
    reader = _Reader(symbol[2:])
    try:
        local = reader._take("Z")
        reader._take("L")
        name = reader._name()[0]
        if local:
            while not reader._take("E"):
                reader._type()
            name += "::" + reader._name()[0]
    except (_Unknown, IndexError, ValueError):
        return symbol
    return "::".join(part for part in name.split("::") if not _HIDDEN.match(part))


@dataclass
class _Reader:
    """Reads a mangled name from left to right. Types are texts; ``substitutions`` are those that ``S_`` refers to."""

    text: str
    at: int = 0
    substitutions: list[str] = field(default_factory=list)
    template_arguments: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def parameters(self) -> list[str]:
        name, is_template = self._name()
        if not name:
            raise _Unknown
        if is_template:
            self._type()  # a template's name is followed by its return type
        types = []
        while self.at < len(self.text) and self.text[self.at] not in "._":  # a suffix such as ".static" ends the name
            types.append(self._type())
        return [] if types == ["void"] else types

    def _take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _name(self, of_function: bool = True) -> tuple[str, bool]:
        """(name, whether it ends with template arguments)."""
        if self._take("N"):
            return self._nested(of_function)
        if self.text.startswith("St", self.at):
            self.at += 2
            name = f"std::{self._identifier()}"
        else:
            name = self._identifier()
        if self.text[self.at : self.at + 1] != "I":
            return name, False
        self.substitutions.append(name)
        return name + self._arguments(of_function), True

    def _nested(self, of_function: bool) -> tuple[str, bool]:
        name, is_template = "", False
        while not self._take("E"):
            if self._take("St"):
                name = "std"
            elif self.text[self.at] == "I":
                name, is_template = name + self._arguments(of_function), True
            elif self.text[self.at] == "S":
                name, is_template = self._substitution(), False
                continue
            else:
                part = self._identifier()
                name, is_template = f"{name}::{part}" if name else part, False
            if self.text[self.at] != "E":  # the whole is no candidate of its own: a type adds it, a function does not
                self.substitutions.append(name)
        return name, is_template

    def _identifier(self) -> str:
        start = self.at
        while self.text[self.at].isdigit():
            self.at += 1
        if start == self.at:
            raise _Unknown
        length = int(self.text[start : self.at])
        self.at += length
        if self.at > len(self.text):
            raise _Unknown
        return self.text[self.at - length : self.at]

    def _arguments(self, of_function: bool) -> str:
        """Template arguments. Those of the function itself are what ``T_`` refers to."""
        self.at += 1
        found = []
        while not self._take("E"):
            found.append(self._argument())
            if of_function:
                self.seen.append(found[-1])
        if of_function:
            self.template_arguments = found
        return f"<{', '.join(found)}>"

    def _argument(self) -> str:
        if self._take("L"):
            start = self.at
            self._type()
            value = self.at
            while self.text[self.at] != "E":
                self.at += 1
            self.at += 1
            return self.text[value : self.at - 1] if value > start else ""
        return self._type()

    def _type(self) -> str:
        letter = self.text[self.at]
        if letter in _QUALIFIERS:
            words = []
            while self.text[self.at] in _QUALIFIERS:
                words.append(_QUALIFIERS[self.text[self.at]])
                self.at += 1
            inner = self._type()
            return self._candidate(" ".join([inner, *words]) if inner.endswith("*") else " ".join([*words, inner]))
        if letter == "A":
            return self._candidate(self._array())
        if letter in "PRO":
            self.at += 1
            return self._candidate(self._type() + {"P": "*", "R": "&", "O": "&&"}[letter])
        if letter == "T":
            return self._candidate(self._template_parameter())
        if letter == "S" and self.text[self.at + 1] != "t":
            found = self._substitution()
            if self.text[self.at : self.at + 1] == "I":
                return self._candidate(found + self._arguments(False))
            return found
        if letter in _BUILTIN:
            self.at += 1
            return _BUILTIN[letter]
        if letter == "N" or letter == "S" or letter.isdigit():
            return self._candidate(self._name(of_function=False)[0])
        raise _Unknown

    def _array(self) -> str:
        """``A3_A4_f`` is float[3][4]."""
        end = self.text.index("_", self.at)
        count, self.at = int(self.text[self.at + 1 : end]), end + 1
        element, bracket, inner = self._type().partition("[")
        return f"{element}[{count}]{bracket}{inner}"

    def _candidate(self, text: str) -> str:
        self.substitutions.append(text)
        return text

    def _number(self) -> int:
        """``_`` is 0, ``0_`` is 1, ``Z_`` is 36."""
        end = self.text.index("_", self.at)
        digits, self.at = self.text[self.at : end], end + 1
        return int(digits, 36) + 1 if digits else 0

    def _substitution(self) -> str:
        self.at += 1
        if self.text[self.at] in "tabsiod":
            raise _Unknown
        return self.substitutions[self._number()]

    def _template_parameter(self) -> str:
        self.at += 1
        return self.template_arguments[self._number()]
