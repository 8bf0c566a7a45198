"""Where a program defines what one of its files only declares: a function or a variable of the device.

nvcc compiles each file of such a program as relocatable device code and links the results. softlab takes the defining
files into the one source that it compiles, without their kernels and their host part. nvJitLink would be the other way.
It gives the machine code, and PTX, which the emulator runs, only of the compiler's intermediate code. It is a further
package, and the second compiler has no such linker. One source needs none of that, and the compiler sees all functions
together. The price: two files must not give different things the same name. Macros are each file's own, see
:mod:`softlab.cuda.macro_scopes`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from softlab.cuda.declared import defined
from softlab.cuda.source_files import nearness, sources_near
from softlab.cuda.syntax import WORD

#: Larger files are data.
_MOST_BYTES = 2 << 20
#: What may be a function with a body, or a variable.
_DEFINITION = rb"\b%s\s*\([^;{}]*\)[^;{}]*\{|\b%s\s*(?:\[[^;{}]*\]\s*)*[=;{]"
_HEAD = rb"\b%s\s*\(([^;{}]*)\)[^;{}]*\{"
#: What the assembler says: of a function that is called, and of one in a table of virtual functions.
_UNRESOLVED = re.compile(r"(?:Unresolved extern|Cannot take address of) function '([^']+)'")


@dataclass(frozen=True)
class Definitions:
    """The ``files`` that define some names. ``remarks`` say which file was taken for which name; ``open_questions``,
    which names no file or several define."""

    files: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def unresolved(log: str) -> list[str]:
    """The names of functions that the log says nothing defines, without parameters: "f", "Sphere::hit"."""
    return [_plain_name(symbol) for symbol in _UNRESOLVED.findall(log)]


def overloads_of(log: str) -> dict[str, set[frozenset[str]]]:
    """The same names, each with the classes that the parameters of what is missing name: of ``f(const Scene&, Ray)``
    Scene and Ray."""
    found: dict[str, set[frozenset[str]]] = {}
    for symbol in _UNRESOLVED.findall(log):
        name, names = _plain_name(symbol), _names_in(symbol)
        found.setdefault(name, set()).add(frozenset(names) - set(name.split("::")))
    return found


def _names_in(symbol: str) -> list[str]:
    """The names in a mangled name, each once behind its length."""
    names: list[str] = []
    while found := re.search(r"(\d+)(?=[A-Za-z_])", symbol):
        end = found.end() + int(found[1])
        names.append(symbol[found.end() : end])
        symbol = symbol[end:]
    return names


def _plain_name(symbol: str) -> str:
    """The last two parts of a mangled name (Itanium C++ ABI), or its only one; the class for a constructor."""
    rest = re.sub(r"^_ZN?[rVK]*", "", symbol)
    names = []
    while found := re.match(r"L?(\d+)", rest):
        names.append(rest[found.end() : found.end() + int(found[1])])
        rest = rest[found.end() + int(found[1]) :]
        if not symbol.startswith("_ZN"):
            break
    return "::".join(names[-1:] if rest.startswith(("C1", "C2")) else names[-2:]) or symbol


def definitions(
    path: Path,
    names: Collection[str],
    folders: Sequence[Path] = (),
    taken: Collection[Path] = (),
    overloads: Mapping[str, Collection[frozenset[str]]] = MappingProxyType({}),
) -> Definitions:
    """The files near ``path`` that define these names for the device.

    A name's file is the only one in the checkout that defines it, or the nearest of several where no other is as near.
    Of files that define the method of several classes, it is one for the class that the name has before "::".
    ``folders``: further folders for headers. ``taken``: files that are a part of the program and do not define them,
    even if they have other functions of these names. ``overloads``: classes in the parameters of what is missing, as
    :func:`overloads_of` has them: of several files those are taken whose functions of that name have them.
    """
    places: dict[str, dict[Path, bool]] = {name: {} for name in names}
    further = [file for file in sources_near(path) if file.resolve() not in taken] if names else []
    for _, group in groupby(further, lambda file: nearness(file, path)):
        left = [name for name in names if not any(places[name].values())]
        for file in group if left else ():
            for name, is_whole in _defined(file, left, folders).items():
                places[name][file] = is_whole
    files: dict[Path, None] = {}
    remarks, questions = [], []
    for name, likely in places.items():
        found = [file for file, is_whole in likely.items() if is_whole] or list(likely)
        shared = [nearness(file, path) for file in found]
        nearest = [file for file, depth in zip(found, shared, strict=True) if depth == max(shared)]
        chosen = nearest if len(nearest) == 1 else _fitting(nearest, name, overloads.get(name, ()))
        written = [Path(os.path.relpath(file, path.resolve().parent)).as_posix() for file in chosen or nearest]
        if chosen:
            files |= dict.fromkeys(file.resolve() for file in chosen)
            declared = f"{path.name} declares {name}, which"
            remarks += [f"{declared} {one} defines: that is compiled with it" for one in written]
        elif nearest:
            questions.append(f"{name} is defined in {', '.join(written)}: say which by files=[...]")
        else:
            questions.append(f"{name} is declared, and no file beside it or in its checkout defines it")
    return Definitions(tuple(files), tuple(remarks), tuple(questions))


def _fitting(files: list[Path], name: str, overloads: Collection[frozenset[str]]) -> list[Path]:
    """Those of several files that alone have one of these overloads."""
    found: dict[Path, None] = {}
    for words in overloads:
        fitting = [file for file in files if _has_parameters(file, name, words)]
        found |= dict.fromkeys(fitting if len(fitting) == 1 else ())
    return list(found)


def _has_parameters(file: Path, name: str, words: frozenset[str]) -> bool:
    """Whether a function of that name in a file has parameters with these words."""
    head = re.compile(_HEAD % name.rpartition("::")[2].encode())
    wanted = {word.encode() for word in words}
    return any(wanted <= set(WORD.findall(match[1])) for match in head.finditer(file.read_bytes()))


def _defined(file: Path, names: Collection[str], folders: Sequence[Path]) -> dict[str, bool]:
    """Those of the names whose last part a file defines, and whether it does so for all of their parts."""
    if file.stat().st_size > _MOST_BYTES:
        return {}
    content = file.read_bytes()
    last = {name: name.rpartition("::")[2] for name in names}
    likely = [name for name in names if re.search(_DEFINITION % ((last[name].encode(),) * 2), content)]
    own = defined(file, folders) if likely else set()
    return {name: set(name.split("::")) <= own for name in likely if last[name] in own}
