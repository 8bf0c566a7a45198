"""PTX text -> :class:`~softlab.emulator.ptx.Module`.

Written for what NVRTC and nvcc emit (PTX ISA 6 to 9) with inline assembly in it: scopes that redeclare names, vectors,
calls, initialised variables, ``.loc`` lines with ``inlined_at``.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from softlab.emulator.ptx import (
    DTYPES,
    Address,
    Frame,
    Function,
    Immediate,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Relocation,
    Special,
    Symbol,
    Variable,
    Vector,
)
from softlab.errors import Error

#: Special registers (PTX ISA, "Special Registers"), without the ``.x`` of the four that are vectors.
SPECIAL_REGISTERS = frozenset(
    "tid ntid ctaid nctaid laneid warpid nwarpid smid nsmid gridid clock clock_hi clock64 globaltimer globaltimer_lo "
    "globaltimer_hi lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt dynamic_smem_size total_smem_size "
    "aggr_smem_size is_explicit_cluster clusterid nclusterid cluster_ctaid cluster_nctaid cluster_ctarank "
    "cluster_nctarank current_graph_exec".split()
)
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<number>0[fF][0-9a-fA-F]{8} | 0[dD][0-9a-fA-F]{16} | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U?)(?![\w$])
    | (?P<word>\.reg(?=\.)                      # cuda_fp16.h writes `.reg.b32` without a space
        | [.%$A-Za-z_](?:[\w$.]|::)*)
    | (?P<mark>[@!{}()\[\]<>,;:|+=*~&^/?-])""",
    re.VERBOSE | re.DOTALL,
)
_LINKAGE = (".visible", ".weak", ".extern", ".common", ".hidden")
_SPACES = (".global", ".const", ".shared", ".local", ".param")
#: Directives on a line of their own, ended by the line's end, that change nothing in what the program computes.
_LINE_DIRECTIVES = re.compile(r"^[ \t]*\.(?:version|target|address_size|file)\b[^\n]*", re.MULTILINE)
_INCLUDE_FOLDER = re.compile(r".*/(?:include|_cccl/\w+)/")


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


class _Scope:
    """Names of one pair of braces. A name that an outer scope has already gets a suffix, so that it is unique."""

    def __init__(self, outer: _Scope | None) -> None:
        self.outer = outer
        self.names: dict[str, str] = {}
        self.stems: dict[str, tuple[int, str]] = {}

    def find(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


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
    except (ValueError, KeyError, IndexError, RecursionError, StopIteration, OverflowError, struct.error) as error:
        raise parser.error(f"{type(error).__name__}: {error}") from error


class _Parser:
    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.version = self._directive("version")
        self.target = self._directive("target").split(",")[0].strip()
        self.files = _file_names(text, file)
        self.tokens = list(self._tokenize(text))
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.at = 0
        self.places: dict[tuple[str, str, str], tuple[Frame, ...]] = {}
        self.frames: tuple[Frame, ...] = ()
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function] = {}

    def _directive(self, name: str) -> str:
        found = re.search(rf"^\s*\.{name}\s+([^\n/]+)", self.text, re.MULTILINE)
        return found.group(1).strip() if found else ""

    def _tokenize(self, text: str) -> Iterator[_Token]:
        text = _LINE_DIRECTIVES.sub(lambda found: " " * len(found.group()), text)
        position, length = 0, len(text)
        match = _TOKEN.match
        while position < length:
            found = match(text, position)
            if found is None:
                line = text.count("\n", 0, position) + 1
                raise Error(f"PTX line {line}: unexpected character {text[position]!r}")
            if found.lastgroup:
                yield _Token(found.lastgroup, found.group(), position, found.end())
            position = found.end()
        yield _Token("end", "", length, length)

    # Tokens

    def error(self, what: str) -> Error:
        token = self.tokens[min(self.at, len(self.tokens) - 1)]
        line = self.text.count("\n", 0, token.start) + 1
        shown = self.text.splitlines()[line - 1 : line]
        return Error(f"PTX line {line}: {what}\n  {shown[0].strip() if shown else '(end of the text)'}")

    @property
    def here(self) -> str:
        return self.tokens[self.at].text

    def take(self, expected: str | None = None) -> str:
        token = self.tokens[self.at]
        if token.kind == "end" or (expected is not None and token.text != expected):
            raise self.error(f"expected {expected!r}, found {token.text or 'the end'!r}")
        self.at += 1
        return token.text

    def took(self, *texts: str) -> bool:
        if self.tokens[self.at].text in texts:
            self.at += 1
            return True
        return False

    def integer(self) -> int:
        sign = -1 if self.took("-") else 1
        value = _number(self.take())
        if not isinstance(value, int):
            raise self.error("an integer is needed here")
        return sign * value

    # Module level

    def module(self) -> Module:
        while self.tokens[self.at].kind != "end":
            word = self.here
            if word in _LINKAGE:
                self.take()
            elif word in (".entry", ".func"):
                function = self.function()
                if function.instructions is not None or function.name not in self.functions:
                    self.functions[function.name] = function
            elif word in _SPACES:
                for variable in self.declaration(_Scope(None)):
                    self.variables[variable.name] = variable
            elif word == ".section":
                self.skip_section()
            elif word == ".loc":
                self.location()
            elif word in (".pragma", ".alias", ".managed"):
                self.skip_statement()
            else:
                raise self.error(f"{word!r} is not expected at module level")
        return Module(self.version, self.target, self.variables, self.functions)

    def skip_statement(self) -> None:
        while self.take() != ";":
            pass

    def skip_section(self) -> None:
        while self.take() != "{":
            pass
        while self.take() != "}":
            pass

    def declaration(self, scope: _Scope, unique: str = "") -> list[Variable]:
        """``.space .align n .type name[size] = initialiser, ...;`` or one parameter (no semicolon)."""
        space = self.take()[1:].split("::")[0]
        align, kind, vector = 0, "b8", 1
        while self.tokens[self.at].kind == "word" and self.here.startswith("."):
            word = self.take()
            if word == ".align":
                align = self.integer()
            elif word == ".attribute":
                while self.take() != ")":
                    pass
            elif word in (".v2", ".v4"):
                vector = int(word[2:])
            elif word[1:] in DTYPES:
                kind = word[1:]
            elif word not in (".ptr", *_SPACES):
                raise self.error(f"{word!r} is not expected in a declaration")
        itemsize = DTYPES[kind].itemsize * vector
        variables = []
        while True:
            name = self.take()
            counts: list[int | None] = []
            while self.took("["):
                counts.append(None if self.here == "]" else self.integer())
                self.take("]")
            size: int | None = itemsize
            for count in counts:
                size = None if count is None or size is None else size * count
            data, relocations = b"", ()
            if self.took("="):
                data, relocations = self.initialiser(kind)
                if size is None:
                    size = len(data)
            scope.names[name] = name + unique
            variables.append(Variable(name + unique, space, kind, align or itemsize, size, data, relocations))
            if not self.took(","):
                break
            if self.here.startswith("."):  # the next parameter of a list
                self.at -= 1
                return variables
        self.took(";")
        return variables

    def initialiser(self, kind: str) -> tuple[bytes, tuple[Relocation, ...]]:
        data = bytearray()
        relocations: list[Relocation] = []
        size = DTYPES[kind].itemsize
        depth = 0
        while True:
            if self.took("{"):
                depth += 1
                continue
            if self.took("}"):
                depth -= 1
            elif self.tokens[self.at].kind == "word":
                generic = self.took("generic")
                if generic:
                    self.take("(")
                symbol = self.take()
                if generic:
                    self.take(")")
                addend = 0
                if self.here in "+-":
                    addend = (1 if self.take() == "+" else -1) * self.integer()
                relocations.append(Relocation(len(data), symbol, addend, generic, size))
                data += bytes(size)
            else:
                sign = -1 if self.took("-") else 1
                value = sign * _number(self.take())
                data += _pack(value, kind)
            while depth and self.took("}"):
                depth -= 1
            if not depth:
                return bytes(data), tuple(relocations)
            self.took(",")

    # Functions

    def function(self) -> Function:
        entry = self.take() == ".entry"
        scope = _Scope(None)
        results = self.parameters(scope) if self.here == "(" else ()
        name = self.take()
        params = self.parameters(scope) if self.here == "(" else ()
        while self.here not in ("{", ";"):  # .maxntid, .minnctapersm, .noreturn, ...
            self.take()
        if self.took(";"):
            return Function(name, entry, params, results, {}, (), None, {}, {})
        return _Body(self, scope).parse(name, entry, params, results)

    def parameters(self, scope: _Scope) -> tuple[Variable, ...]:
        self.take("(")
        variables: list[Variable] = []
        while not self.took(")"):
            if self.took(","):
                continue
            if self.here == ".reg":
                raise self.error("functions with register parameters are not taken")
            variables += self.declaration(scope)
        return tuple(variables)

    # Source places

    def location(self) -> None:
        """``.loc file line column [, function_name label[+n], inlined_at file line column]``.

        The parent place is named by position only, which recursion makes ambiguous: the newest of that position is
        meant. Line 0 (no line) keeps the place before.
        """
        self.take(".loc")
        key = (self.take(), self.take(), self.take())
        parents: tuple[Frame, ...] = ()
        while self.took(","):
            what = self.take()
            if what == "inlined_at":
                parent = (self.take(), self.take(), self.take())
                parents = self.places.get(parent) or self._frame(parent)
            else:
                self.take()
                if self.took("+"):
                    self.take()
        if int(key[1]) == 0:
            return
        self.frames = self.places[key] = self._frame(key) + parents

    def _frame(self, key: tuple[str, str, str]) -> tuple[Frame, ...]:
        return (Frame(self.files.get(int(key[0]), f"file {key[0]}"), int(key[1])),)


class _Body:
    """The statements of one function."""

    def __init__(self, parser: _Parser, scope: _Scope) -> None:
        self.parser = parser
        self.scope = _Scope(scope)
        self.registers: dict[str, str] = {}
        self.used: set[str] = set(scope.names.values())
        self.variables: list[Variable] = []
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.scopes: list[_Scope] = [self.scope]

    def parse(self, name: str, entry: bool, params: tuple[Variable, ...], results: tuple[Variable, ...]) -> Function:
        parser = self.parser
        parser.take("{")
        self._declare_labels()
        depth = 1
        statements = {
            ".reg": self._registers,
            ".loc": parser.location,
            ".pragma": parser.skip_statement,
            ".section": parser.skip_section,
        }
        while depth:
            word = parser.here
            if parser.took("{"):
                depth += 1
                self.scope = _Scope(self.scope)
                self._declare_labels()
            elif parser.took("}"):
                depth -= 1
                self.scope = self.scope.outer or self.scope
            elif parser.took(";"):
                continue
            elif word in statements:
                statements[word]()
            elif word in _SPACES or word.split("::")[0] in _SPACES:
                known = self.scope.find(parser.here) is not None
                before = len(self.variables)
                self.variables += parser.declaration(self.scope, f"@{before}" if depth > 1 or known else "")
            elif parser.tokens[parser.at + 1].text == ":":
                self._label()
            else:
                self._instruction()
        return Function(
            name,
            entry,
            params,
            results,
            self.registers,
            tuple(self.variables),
            tuple(self.instructions),
            self.labels,
            self.tables,
        )

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self.used:
            count += 1
            unique = f"{name}@{count}"
        self.used.add(unique)
        return unique

    def _declare_labels(self) -> None:
        """Labels may be used before they stand: enter those of this pair of braces (not of inner ones) in its scope."""
        tokens, depth, at = self.parser.tokens, 0, self.parser.at
        previous = ";"
        while tokens[at].kind != "end":
            text = tokens[at].text
            if text == "{":
                depth += 1
            elif text == "}":
                depth -= 1
                if depth < 0:
                    return
            elif (
                depth == 0
                and tokens[at].kind == "word"
                and tokens[at + 1].text == ":"
                and (previous != "?" and tokens[at + 1].end - tokens[at + 1].start == 1)
            ):
                self.scope.names[text] = self._unique(text)
            previous = text
            at += 1

    def _label(self) -> None:
        parser = self.parser
        name = self.scope.names[parser.take()]
        parser.take(":")
        if parser.took(".branchtargets"):
            targets = []
            while not parser.took(";"):
                targets.append(self._name(parser.take()))
                parser.took(",")
            self.tables[name] = tuple(targets)
        elif parser.here in (".callprototype", ".calltargets"):
            parser.skip_statement()
        else:
            self.labels[name] = len(self.instructions)

    def _name(self, name: str) -> str:
        return self.scope.find(name) or name

    def _registers(self) -> None:
        parser = self.parser
        parser.take(".reg")
        kind = parser.take()[1:]
        if kind not in DTYPES:
            raise parser.error(f"registers of type .{kind} are not taken")
        while True:
            name = parser.take()
            if parser.took("<"):
                count = parser.integer()
                parser.take(">")
                # %r<N> declares N registers; they are entered when first seen, so that a scope costs nothing.
                self.scope.stems[name] = (count, kind)
            else:
                self._register(self.scope, name, kind)
            if not parser.took(","):
                break
        parser.take(";")

    def _register(self, scope: _Scope, name: str, kind: str) -> str:
        unique = self._unique(name)
        scope.names[name] = unique
        self.registers[unique] = kind
        return unique

    def _find_register(self, name: str) -> str | None:
        scope: _Scope | None = self.scope
        stem = name.rstrip("0123456789")
        number = name[len(stem) :]
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            if number and stem in scope.stems and int(number) < scope.stems[stem][0]:
                return self._register(scope, name, scope.stems[stem][1])
            scope = scope.outer
        return None

    def _instruction(self) -> None:
        parser = self.parser
        start = parser.tokens[parser.at].start
        guard, negated = None, False
        if parser.took("@"):
            negated = parser.took("!")
            operand = self._word(parser.take())
            if not isinstance(operand, Register):
                raise parser.error("a guard must be a predicate register")
            guard = operand
        token = parser.tokens[parser.at]
        if token.kind != "word" or token.text.startswith((".", "%")):
            raise parser.error(f"an instruction is expected, not {token.text!r}")
        opcode, *modifiers = parser.take().split(".")
        operands: list[Operand] = []
        while not parser.took(";"):
            operands.append(self._operand())
            if parser.here != ";":
                # `shfl ... [a], [b]` and calls separate by commas; a newline alone is a missing semicolon.
                parser.take(",")
        end = parser.tokens[parser.at - 1].end
        text = " ".join(parser.text[start:end].split())
        line = bisect_right(parser.line_starts, start)
        self.instructions.append(
            Instruction(opcode, tuple(modifiers), tuple(operands), guard, negated, parser.frames, text, line)
        )

    def _operand(self) -> Operand:
        parser = self.parser
        token = parser.tokens[parser.at]
        if parser.took("{"):
            return Vector(self._list("}"))
        if parser.took("("):
            return Vector(self._list(")"))
        if parser.took("["):
            address = self._address()
            while not parser.took("]"):  # the coordinates of a tensor: kept out, the opcode is refused anyway
                parser.take()
            return address
        if parser.took("!"):
            return self._negation(self._operand())
        if token.kind in ("number",) or token.text == "-":
            sign = -1 if parser.took("-") else 1
            return Immediate(sign * _number(parser.take()))
        first = self._word(parser.take())
        if parser.took("|"):
            second = self._word(parser.take())
            if not isinstance(first, Register | None) or not isinstance(second, Register | None):
                raise parser.error("a pair a|b must be of registers")
            return Pair(first, second)
        if isinstance(first, Symbol) and parser.here in ("+", "-"):
            sign = 1 if parser.take() == "+" else -1
            return Address(first, sign * parser.integer())
        return first

    def _negation(self, operand: Operand) -> Register:
        """``!p`` as a source: a register of its own that holds the negation."""
        if not isinstance(operand, Register):
            raise self.parser.error("only a predicate register can be negated")
        name = self._unique("%not")
        self.registers[name] = "pred"
        negation = Register(name, "pred")
        self.instructions.append(Instruction("not", ("pred",), (negation, operand), frames=self.parser.frames))
        return negation

    def _list(self, end: str) -> tuple[Operand, ...]:
        elements: list[Operand] = []
        while not self.parser.took(end):
            elements.append(self._operand())
            if not self.parser.took(",") and self.parser.here != end:
                raise self.parser.error(f"expected ',' or {end!r}")
        return tuple(elements)

    def _address(self) -> Address:
        parser = self.parser
        if parser.tokens[parser.at].kind == "number":
            return Address(None, parser.integer())
        base = self._word(parser.take())
        if not isinstance(base, Register | Symbol):
            raise parser.error("an address is a register or a symbol, with or without an offset")
        offset = 0
        while parser.here in ("+", "-"):
            offset += parser.integer() if parser.took("+") else -_number(self._minus())
        return Address(base, offset)

    def _minus(self) -> str:
        self.parser.take("-")
        return self.parser.take()

    def _word(self, word: str) -> Operand:
        if word == "_":
            return None
        register = self._find_register(word)
        if register in self.registers:
            return Register(register, self.registers[register])
        if word.startswith("%") and word[1:].partition(".")[0] in SPECIAL_REGISTERS:
            return Special(word[1:])
        if word == "WARP_SZ":
            return Immediate(32)
        if word.startswith("%"):
            raise self.parser.error(f"register {word} is not declared")
        return Symbol(register or word)


def _number(text: str) -> int | float:
    if text[:2] in ("0f", "0F"):
        return struct.unpack(">f", bytes.fromhex(text[2:]))[0]
    if text[:2] in ("0d", "0D"):
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0]
    text = text.rstrip("U")
    if text[:2] in ("0x", "0X", "0b", "0B"):
        return int(text, 0)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)


def _pack(value: int | float, kind: str) -> bytes:
    size = DTYPES[kind].itemsize
    if isinstance(value, float):
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
    return (value & (256**size - 1)).to_bytes(size, "little")


def _file_names(text: str, main: str | None) -> dict[int, str]:
    """Number -> short name of each ``.file``: relative to the main file's folder, else as one includes it."""
    paths = {int(number): path for number, path in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.MULTILINE)}
    folder = next(
        (path[: -len(main)] for path in paths.values() if main and (path == main or path.endswith(f"/{main}"))), None
    )

    def short(path: str) -> str:
        if folder is not None and path.startswith(folder):
            return path[len(folder) :]
        return _INCLUDE_FOLDER.sub("", path)

    return {number: short(path) for number, path in paths.items()}
