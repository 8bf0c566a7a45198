"""PTX text -> :class:`~softlab.emulator.ptx.syntax.Module`.

Written for what NVRTC and nvcc emit (PTX ISA 6 to 9) with inline assembly in it: scopes that redeclare names, vectors,
calls, initialised variables, ``.loc`` lines with ``inlined_at``.
"""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from functools import lru_cache

from softlab.emulator.ptx.body import SPACES, Body, Scope
from softlab.emulator.ptx.source_locations import SourceLocations
from softlab.emulator.ptx.syntax import DTYPES, Function, Module, Relocation, Variable
from softlab.emulator.ptx.tokens import Tokens, number, pack_literal

_LINKAGE = (".visible", ".weak", ".extern", ".common", ".hidden")


def parse(text: str, *, file: str | None = None) -> Module:
    """Parse a PTX file.

    Arguments:
        text: the PTX.
        file: the name that the main source file gets in the frames; it is found among the ``.file`` lines as the path
            that ends in this name. Other files are named as one includes them ("cub/block/block_reduce.cuh").

    Raises:
        Error: the text is not PTX that this parser takes; the message names the line.
    """
    parser = _Parser(text, file)
    try:
        return parser.module()
    except (ValueError, KeyError, IndexError, RecursionError, OverflowError, struct.error) as error:
        raise parser.tokens.error(f"{type(error).__name__}: {error}") from error


@lru_cache(maxsize=4)
def parsed(text: str, file: str) -> Module:
    """As :func:`parse`: the PTX of a compilation, parsed once for all its kernels and for all that look at it."""
    return parse(text, file=file)


class _Parser:
    def __init__(self, text: str, file: str | None) -> None:
        self.version = _directive(text, "version")
        self.target = _directive(text, "target").split(",")[0].strip()
        self.file = file
        self.locations = SourceLocations(text, file)
        self.tokens = Tokens(text)
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function] = {}

    def module(self) -> Module:
        while self.tokens.next.kind != "end":
            word = self.tokens.here
            if word in _LINKAGE:
                self.tokens.take()
            elif word in (".entry", ".func"):
                function = self.function()
                if function.instructions is not None or function.name not in self.functions:
                    self.functions[function.name] = function
            elif word in SPACES:
                for variable in self.declaration(Scope(None)):
                    self.variables[variable.name] = variable
            elif word == ".section":
                self.tokens.skip_section()
            elif word == ".loc":
                self.locations.take(self.tokens)
            elif word in (".pragma", ".alias", ".managed"):
                self.tokens.skip_statement()
            else:
                raise self.tokens.error(f"{word!r} is not expected at module level")
        return Module(self.version, self.target, self.variables, self.functions, self.file)

    def declaration(self, scope: Scope, unique: str = "") -> list[Variable]:
        """``.space .align n .type name[size] = initialiser, ...;`` or one parameter (no semicolon)."""
        space = self.tokens.take()[1:].split("::")[0]
        align, kind, vector = self.properties()
        itemsize = DTYPES[kind].itemsize * vector
        variables = []
        while True:
            name = self.tokens.take()
            size = self.size(itemsize)
            data: bytes = b""
            relocations: tuple[Relocation, ...] = ()
            if self.tokens.took("="):
                data, relocations = self.initialiser(kind)
                if size is None:
                    size = len(data)
            scope.names[name] = name + unique
            variables.append(Variable(name + unique, space, kind, align or itemsize, size, data, relocations))
            if not self.tokens.took(","):
                break
            if self.tokens.here.startswith("."):  # the next parameter of a list
                self.tokens.at -= 1
                return variables
        self.tokens.took(";")
        return variables

    def properties(self) -> tuple[int, str, int]:
        """(alignment or 0, element type, elements of a vector) of a declaration."""
        align, kind, vector = 0, "b8", 1
        while self.tokens.next.kind == "word" and self.tokens.here.startswith("."):
            word = self.tokens.take()
            if word == ".align":
                align = self.tokens.integer()
            elif word == ".attribute":
                self.tokens.skip_past(")")
            elif word in (".v2", ".v4"):
                vector = int(word[2:])
            elif word[1:] in DTYPES:
                kind = word[1:]
            elif word not in (".ptr", *SPACES):
                raise self.tokens.error(f"{word!r} is not expected in a declaration")
        return align, kind, vector

    def size(self, itemsize: int) -> int | None:
        """Bytes of a variable of ``[n][m]`` items; None for ``[]``."""
        size: int | None = itemsize
        while self.tokens.took("["):
            count = None if self.tokens.here == "]" else self.tokens.integer()
            self.tokens.take("]")
            size = None if count is None or size is None else size * count
        return size

    def initialiser(self, kind: str) -> tuple[bytes, tuple[Relocation, ...]]:
        data = bytearray()
        relocations: list[Relocation] = []
        size = DTYPES[kind].itemsize
        depth = 0
        while True:
            if self.tokens.took("{"):
                depth += 1
                continue
            if self.tokens.took("}"):
                depth -= 1
            elif self.tokens.next.kind == "word":
                generic = self.tokens.took("generic")
                if generic:
                    self.tokens.take("(")
                symbol = self.tokens.take()
                if generic:
                    self.tokens.take(")")
                addend = 0
                if self.tokens.here in "+-":
                    addend = (1 if self.tokens.take() == "+" else -1) * self.tokens.integer()
                relocations.append(Relocation(len(data), symbol, addend, generic, size))
                data += bytes(size)
            else:
                sign = -1 if self.tokens.took("-") else 1
                value = sign * number(self.tokens.take())
                data += pack_literal(value, kind)
            while depth and self.tokens.took("}"):
                depth -= 1
            if not depth:
                return bytes(data), tuple(relocations)
            self.tokens.took(",")

    def function(self) -> Function:
        entry = self.tokens.take() == ".entry"
        scope = Scope(None)
        results = self.parameters(scope) if self.tokens.here == "(" else ()
        name = self.tokens.take()
        params = self.parameters(scope) if self.tokens.here == "(" else ()
        cluster: tuple[int, int, int] | None = None
        while self.tokens.here not in ("{", ";"):  # .maxntid, .minnctapersm, .noreturn, ...
            if self.tokens.take() == ".reqnctapercluster":
                cluster = self.three()
        if self.tokens.took(";"):
            return Function(name, entry, params, results, {}, (), None, {}, {})
        body = Body(self.tokens, self.locations, scope, self.declaration).parse(name, entry, params, results)
        return replace(body, cluster=cluster)

    def three(self) -> tuple[int, int, int]:
        """``4, 2`` as (4, 2, 1)."""
        sizes = [self.tokens.integer()]
        while self.tokens.took(","):
            sizes.append(self.tokens.integer())
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def parameters(self, scope: Scope) -> tuple[Variable, ...]:
        self.tokens.take("(")
        variables: list[Variable] = []
        while not self.tokens.took(")"):
            if self.tokens.took(","):
                continue
            if self.tokens.here == ".reg":
                raise self.tokens.error("functions with register parameters are not taken")
            variables += self.declaration(scope)
        return tuple(variables)


def _directive(text: str, name: str) -> str:
    found = re.search(rf"^\s*\.{name}\s+([^\n/]+)", text, re.MULTILINE)
    return found.group(1).strip() if found else ""
