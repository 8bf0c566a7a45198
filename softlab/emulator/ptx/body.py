"""The body of a PTX function: scopes, registers, labels, instructions and their operands."""

from __future__ import annotations

import re
from collections.abc import Callable

from softlab.emulator.ptx.merged_loads import with_lines_of_uses
from softlab.emulator.ptx.source_locations import SourceLocations
from softlab.emulator.ptx.syntax import (
    DTYPES,
    REFUSED_TYPES,
    REGISTER_PARTS,
    Address,
    Frame,
    Function,
    Immediate,
    Instruction,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)
from softlab.emulator.ptx.tokens import Tokens, number

#: Special registers that the driver sets, or that profilers read. The emulator has only those of a cooperative launch.
DRIVER_REGISTERS = (
    *(f"envreg{number}" for number in range(32)),
    *(f"pm{number}" for number in range(8)), *(f"pm{number}_64" for number in range(8)),
    *(f"reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0")),
)  # fmt: skip
#: Where cooperative groups keep the barriers of tiles of several warps, in shared memory that the driver reserves
#: (``cooperative_groups/details/memory.h``). Here it is one more variable in shared memory. Its size is what a GPU of
#: sm_80 or newer reserves per block, so that all other addresses stay in their banks.
RESERVED_SHARED = Variable("%reserved_smem_offset_1", "shared", "b8", 128, 1024)
#: Those with the two halves of the address of a cooperative launch's workspace, the high one first, and 0 in other
#: launches. ``cooperative_groups/details/driver_abi.h`` reads them so.
GRID_WORKSPACE = ("envreg1", "envreg2")
#: Special registers (PTX ISA, "Special Registers"), without the ``.x`` of the four that are vectors.
SPECIAL_REGISTERS = frozenset((
    "tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi",
    "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "lanemask_eq", "lanemask_le", "lanemask_lt",
    "lanemask_ge", "lanemask_gt", "dynamic_smem_size", "total_smem_size", "aggr_smem_size", "is_explicit_cluster",
    "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
    "current_graph_exec", *DRIVER_REGISTERS,
))  # fmt: skip
SPACES = (".global", ".const", ".shared", ".local", ".param")
#: Takes a declaration of variables: (scope, suffix of their unique names).
Declaration = Callable[["Scope", str], list[Variable]]


class Scope:
    """Names of one pair of braces. A name that an outer scope has already gets a suffix, so that it is unique."""

    def __init__(self, outer: Scope | None) -> None:
        self.outer = outer
        self.names: dict[str, str] = {}
        self.stems: dict[str, tuple[int, str]] = {}

    def find(self, name: str) -> str | None:
        """The unique name that this name has here; None where it is not declared."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


class Body:
    """Parses the statements of one function, from its opening brace.

    ``declaration(scope, suffix)`` is the parser's, for variables; the scope has the function's parameters.
    """

    def __init__(self, tokens: Tokens, locations: SourceLocations, scope: Scope, declaration: Declaration) -> None:
        self.tokens = tokens
        self.locations = locations
        self._declaration = declaration
        self.scope = Scope(scope)
        self.registers: dict[str, str] = {}
        self.used: set[str] = set(scope.names.values())
        self.variables: list[Variable] = []
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.used_bytes: int | None = None
        self._parts: list[str] = []
        self._without_line: set[int] = set()

    def parse(self, name: str, entry: bool, params: tuple[Variable, ...], results: tuple[Variable, ...]) -> Function:
        """The function."""
        self.tokens.take("{")
        self._declare_labels()
        self._statements()
        return Function(
            name,
            entry,
            params,
            results,
            self.registers,
            tuple(self.variables),
            with_lines_of_uses(self.instructions, self._without_line),
            self.labels,
            self.tables,
        )

    def _statements(self) -> None:
        """All statements up to the closing brace of the function."""
        tokens = self.tokens
        directives = {
            ".reg": self._registers,
            ".loc": self._location,
            ".pragma": self._pragma,
            ".section": tokens.skip_section,
        }
        depth = 1
        while depth:
            word = tokens.here
            if tokens.took("{"):
                depth += 1
                self.scope = Scope(self.scope)
                self._declare_labels()
            elif tokens.took("}"):
                depth -= 1
                self.scope = self.scope.outer or self.scope
            elif tokens.took(";"):
                continue
            elif word in directives:
                directives[word]()
            elif word in SPACES or word.split("::")[0] in SPACES:
                known = self.scope.find(tokens.here) is not None
                before = len(self.variables)
                self.variables += self._declaration(self.scope, f"@{before}" if depth > 1 or known else "")
            elif tokens.tokens[tokens.at + 1].text == ":":
                self._label()
            else:
                self._instruction()
                if not self.locations.line_is_known:
                    self._without_line.add(len(self.instructions) - 1)

    def _pragma(self) -> None:
        """A pragma, of which only the bytes that the next load needs are kept."""
        tokens = self.tokens
        start = tokens.next.start
        tokens.skip_statement()
        found = re.search(r'"used_bytes_mask\s+(\w+)"', tokens.text[start : tokens.tokens[tokens.at - 1].end])
        self.used_bytes = int(found[1], 0) if found and re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", found[1]) else None

    def _location(self) -> None:
        self.locations.take(self.tokens)

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self.used:
            count += 1
            unique = f"{name}@{count}"
        self.used.add(unique)
        return unique

    def _declare_labels(self) -> None:
        """Enter the labels of this pair of braces (not of inner ones) in its scope: a use may precede the label."""
        tokens, depth, at = self.tokens.tokens, 0, self.tokens.at
        while tokens[at].kind != "end":
            text = tokens[at].text
            if text == "{":
                depth += 1
            elif text == "}":
                depth -= 1
                if depth < 0:
                    return
            elif depth == 0 and tokens[at].kind == "word" and tokens[at + 1].text == ":":
                self.scope.names[text] = self._unique(text)
            at += 1

    def _label(self) -> None:
        tokens = self.tokens
        name = self.scope.names[tokens.take()]
        tokens.take(":")
        if tokens.took(".branchtargets"):
            targets = []
            while not tokens.took(";"):
                targets.append(self._name(tokens.take()))
                tokens.took(",")
            self.tables[name] = tuple(targets)
        elif tokens.here in (".callprototype", ".calltargets"):
            tokens.skip_statement()
        else:
            self.labels[name] = len(self.instructions)

    def _name(self, name: str) -> str:
        return self.scope.find(name) or name

    def _registers(self) -> None:
        tokens = self.tokens
        tokens.take(".reg")
        kind = tokens.take()[1:]
        if kind not in DTYPES and kind not in REFUSED_TYPES:
            raise tokens.error(f"registers of type .{kind} are not taken")
        while True:
            name = tokens.take()
            if tokens.took("<"):
                count = tokens.integer()
                tokens.take(">")
                # %r<N> declares N registers; they are entered when first seen, so that a scope costs nothing.
                self.scope.stems[name] = (count, kind)
            else:
                self._register(self.scope, name, kind)
            if not tokens.took(","):
                break
        tokens.take(";")

    def _register(self, scope: Scope, name: str, kind: str) -> str:
        unique = self._unique(name)
        scope.names[name] = unique
        self.registers[unique] = kind
        return unique

    def _find_register(self, name: str) -> str | None:
        scope: Scope | None = self.scope
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
        tokens = self.tokens
        start = tokens.next.start
        guard, negated = None, False
        if tokens.took("@"):
            negated = tokens.took("!")
            operand = self._word(tokens.take())
            if not isinstance(operand, Register):
                raise tokens.error("a guard must be a predicate register")
            guard = operand
        token = tokens.next
        if token.kind != "word" or token.text.startswith((".", "%")):
            raise tokens.error(f"an instruction is expected, not {token.text!r}")
        opcode, *modifiers = tokens.take().split(".")
        operands: list[Operand] = []
        while not tokens.took(";"):
            operands.append(self._operand())
            modifiers += [f"{len(operands) - 1}.{part}" for part in self._parts]
            self._parts.clear()
            if tokens.here != ";":
                # `shfl ... [a], [b]` and calls separate by commas; a newline alone is a missing semicolon.
                tokens.take(",")
        end = tokens.tokens[tokens.at - 1].end
        text = " ".join(tokens.text[start:end].split())
        line = tokens.line(start)
        self.instructions.append(
            Instruction(
                opcode,
                tuple(modifiers),
                tuple(operands),
                guard,
                negated,
                self.locations.at(line),
                text,
                line,
                self.used_bytes if opcode == "ld" else None,
            )
        )
        self.used_bytes = None

    def _operand(self) -> Operand:
        tokens = self.tokens
        token = tokens.next
        if tokens.took("{"):
            return Vector(self._list("}"))
        if tokens.took("("):
            return Vector(self._list(")"))
        if tokens.took("["):
            parts: list[Operand] = [self._address()]
            while not tokens.took("]"):  # the coordinates of a texture or a tensor
                tokens.take(",")
                parts.append(self._operand())
            return parts[0] if len(parts) == 1 else Vector(tuple(parts))
        if tokens.took("!"):
            return self._negation(self._operand())
        if token.kind in ("number",) or token.text == "-":
            sign = -1 if tokens.took("-") else 1
            if tokens.next.kind == "word":
                self._parts.append("minus")
                return self._word(tokens.take())
            return Immediate(sign * number(tokens.take()))
        first = self._word(tokens.take())
        if tokens.took("|"):
            second = self._word(tokens.take())
            if not isinstance(first, Register | None) or not isinstance(second, Register | None):
                raise tokens.error("a pair a|b must be of registers")
            return Pair(first, second)
        if isinstance(first, Symbol) and tokens.here in ("+", "-"):
            sign = 1 if tokens.take() == "+" else -1
            return Address(first, sign * tokens.integer())
        return first

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return self.locations.at(self.tokens.line(self.tokens.next.start))

    def _negation(self, operand: Operand) -> Register:
        """``!p`` as a source: a register of its own that holds the negation."""
        if not isinstance(operand, Register):
            raise self.tokens.error("only a predicate register can be negated")
        name = self._unique("%not")
        self.registers[name] = "pred"
        negation = Register(name, "pred")
        self.instructions.append(Instruction("not", ("pred",), (negation, operand), frames=self._frames))
        return negation

    def _list(self, end: str) -> tuple[Operand, ...]:
        elements: list[Operand] = []
        while not self.tokens.took(end):
            elements.append(self._operand())
            if not self.tokens.took(",") and self.tokens.here != end:
                raise self.tokens.error(f"expected ',' or {end!r}")
        return tuple(elements)

    def _address(self) -> Address:
        tokens = self.tokens
        if tokens.next.kind == "number":
            return Address(None, tokens.integer())
        base = self._word(tokens.take())
        if not isinstance(base, Register | Symbol):
            raise tokens.error("an address is a register or a symbol, with or without an offset")
        offset = 0
        while tokens.here in ("+", "-"):
            sign = 1 if tokens.take() == "+" else -1
            offset += sign * tokens.integer()
        return Address(base, offset)

    def _word(self, word: str) -> Operand:
        if word == "_":
            return None
        register = self._find_register(word)
        if register in self.registers:
            return Register(register, self.registers[register])
        if word == RESERVED_SHARED.name:
            if RESERVED_SHARED not in self.variables:
                self.variables.append(RESERVED_SHARED)
            return Symbol(word)
        if word.startswith("%") and word[1:].partition(".")[0] in SPECIAL_REGISTERS:
            return Special(word[1:])
        if word == "WARP_SZ":
            return Immediate(32)
        whole, _, part = word.rpartition(".")
        if part in REGISTER_PARTS and (register := self._find_register(whole)) in self.registers:
            self._parts.append(part)
            return Register(register, self.registers[register])
        if word.startswith("%"):
            raise self.tokens.error(f"register {word} is not declared")
        return Symbol(register or word)
