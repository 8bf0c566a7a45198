"""Integer constants of a C++ source: what a launch's ``<<<grid, block, smem>>>`` comes to, where the text tells."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

#: Sizes in bytes, for ``sizeof``.
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "float": 4, "double": 8,
          "long long": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4, "float2": 8,
          "float4": 16, "double2": 16, "int2": 8, "int4": 16, "uint4": 16, "half2": 4, "__half2": 4, "__nv_bfloat16": 2,
          "uint128_t": 16, "cute::uint128_t": 16, "cutlass::uint128_t": 16, "half_t": 2, "cute::half_t": 2,
          "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2}  # fmt: skip
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.+?)[ \t]*(?://.*|/\*.*)?$", re.MULTILINE)
_INTEGER = r"(?:(?:static|const|constexpr|unsigned|signed|long|short|int|size_t|u?int\d+_t|uint|bool|auto)\s+)+"
_VARIABLES = re.compile(rf"\b{_INTEGER}(\w+\s*=[^;{{}}]+);")
_VARIABLE = re.compile(r"\s*(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)
_DIM3 = re.compile(r"\bdim3\s+(?:const\s+)?([^;]*);")
_DIM3_VARIABLE = re.compile(r"\s*(\w+)\s*(?:=\s*(?:dim3)?\s*)?[({](.*)[)}]\s*", re.DOTALL)
_FUNCTION = re.compile(rf"\b{_INTEGER}(\w+)\s*\(([^(){{}};]*)\)\s*{{\s*return\s+([^;]+);\s*}}")
_MACRO_FUNCTION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w, ]+)\)[ \t]+(.+?)[ \t]*$", re.MULTILINE)
#: Assigned again, counted up or down, or its address taken.
_CHANGED = r"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\b{name}\s*(?:\+\+|--)|(?:\+\+|--)\s*{name}\b|&{name}\b"
_COMMENT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|/\*.*?\*/|//[^\n]*", re.DOTALL)
_DEPTH = 20
_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)


def has_size(kind: str) -> bool:
    """Whether ``sizeof`` of this type is known."""
    return kind in _SIZES


@lru_cache(maxsize=64)
def _variables_of(function: str) -> tuple[tuple[tuple[str, str | None], ...], tuple[tuple[str, str], ...]]:
    """The integer variables that a function declares with a value, None for one that is assigned again, and its
    ``dim3`` variables. One function may have hundreds of launches."""
    function = _COMMENT.sub(_without_comment, function)
    values: list[tuple[str, str | None]] = []
    for declaration in _VARIABLES.finditer(function):
        for variable in map(_VARIABLE.fullmatch, _split(declaration.group(1))):
            if variable:
                changed = re.compile(_CHANGED.format(name=variable.group(1))).search(function, declaration.end())
                values.append((variable.group(1), None if changed else variable.group(2)))
    extents: list[tuple[str, str]] = []
    for match in _DIM3.finditer(function):
        parts = map(_DIM3_VARIABLE.fullmatch, _split(match.group(1)))
        extents += [(variable.group(1), variable.group(2)) for variable in parts if variable]
    return tuple(values), tuple(extents)


@dataclass(frozen=True)
class Constants:
    """Names and their texts: macros and integer variables with a value, ``dim3`` variables, and functions of one
    expression: their parameters' names and that expression."""

    values: Mapping[str, str]
    extents: Mapping[str, str]
    functions: Mapping[str, tuple[tuple[str, ...], str]]

    @classmethod
    def of(cls, text: str, others: Sequence[str] = ()) -> Constants:
        """The macros and constants of a whole file. A name with two values has none.

        ``others``: further files of its program, such as its headers, for what the file itself does not have.
        """
        values = _with_one_value(_pairs(text))
        further = [pair for other in others for pair in _pairs(other) if pair[0] not in values]
        known = {name: value for name, value in {**_with_one_value(further), **values}.items() if value is not None}
        functions = {
            match.group(1): (tuple(re.findall(r"(\w+)\s*(?:,|$)", match.group(2).strip())), match.group(3))
            for pattern in (_FUNCTION, _MACRO_FUNCTION)
            for match in pattern.finditer(text)
        }
        return cls(known, {}, functions)

    def inside(self, function: str, bound: Mapping[str, str] = MappingProxyType({})) -> Constants:
        """These, and the variables of one function. A variable that is assigned again has no value.

        ``bound``: the template arguments of the function by its parameters' names.
        """
        assigned, extents = _variables_of(function)
        values = {**self.values, **bound}
        for name, value in assigned:
            if value is None:
                values.pop(name, None)
            else:
                values[name] = value
        return Constants(values, {**self.extents, **dict(extents)}, self.functions)

    @staticmethod
    def declared(function: str) -> set[str]:
        """The integer variables that a function declares with a value."""
        return {name for name, _ in _variables_of(function)[0]}

    def number(self, text: str) -> int | str:
        """The value of an expression, or its text."""
        value = self._value(text, 0)
        return " ".join(text.split()) if value is None else value

    def extent(self, text: str) -> tuple[int, ...] | str:
        """A grid or a block: a tuple of ints, or the text."""
        shown = " ".join(text.split())
        inner = (
            re.fullmatch(r"(?:dim3\s*)?[({](.*)[)}]", text.strip(), re.DOTALL)
            if "dim3" in text or "{" in text
            else None
        )
        listed = inner.group(1) if inner else self.extents.get(text.strip(), text)
        parts = [self._value(part, 0) for part in _split(listed)]
        return shown if None in parts or not parts else tuple(part for part in parts if part is not None)

    def _value(self, text: str, depth: int) -> int | None:
        """The integer that an expression comes to, or None."""
        if depth > _DEPTH:
            return None
        text = re.sub(r"sizeof\s*\(\s*([\w ]+?)\s*\)", lambda m: str(self._size(m.group(1))), text)
        text = re.sub(r"\(\s*(?:unsigned|int|size_t|unsigned int|float|double|uint32_t|int32_t)\s*\)", "", text)
        text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
        try:
            tree = ast.parse(_as_python(text.strip()), mode="eval").body
        except (SyntaxError, ValueError):
            return None
        return self._evaluate(tree, depth)

    def _size(self, kind: str) -> int | str:
        """The bytes of a type, which may be a template argument; its text where they are not known."""
        return _SIZES.get(self.values.get(kind, kind), kind)

    def _evaluate(self, node: ast.expr, depth: int) -> int | None:
        match node:
            case ast.Constant(value=int() as literal):
                return int(literal)
            case ast.Name(id=name):
                return self._value(self.values[name], depth + 1) if name in self.values else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._evaluate(operand, depth)
                return None if value is None else -value
            case ast.IfExp(test=test, body=chosen, orelse=other):
                value = self._evaluate(test, depth)
                return None if value is None else self._evaluate(chosen if value else other, depth)
            case ast.BoolOp(op=op, values=parts):
                values = [self._evaluate(part, depth) for part in parts]
                if None in values:
                    return None
                return int(all(values) if isinstance(op, ast.And) else any(values))
            case ast.Compare(left=left, ops=[compared], comparators=[right]) if type(compared) in _COMPARISONS:
                if any(isinstance(one, ast.BinOp) and isinstance(one.op, _BITS) for one in (left, right)):
                    return None  # without parentheses C++ compares first, and Python last
                a, b = self._evaluate(left, depth), self._evaluate(right, depth)
                return None if a is None or b is None else int(_COMPARISONS[type(compared)](a, b))
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._evaluate(left, depth), self._evaluate(right, depth)
                return None if a is None or b is None else _operate(op, a, b)
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in self.functions:
                names, body = self.functions[name]
                numbers = [self._evaluate(argument, depth) for argument in given]
                if len(numbers) == len(names) and None not in numbers:
                    called = {**self.values, **dict(zip(names, map(str, numbers), strict=True))}
                    return Constants(called, {}, self.functions)._value(body, depth + 1)
        return None


def _without_comment(found: re.Match[str]) -> str:
    """A string as it is, and a blank for a comment."""
    return found[0] if found[0].startswith('"') else " "


def _pairs(text: str) -> list[tuple[str, str]]:
    """The macros and the constants of a text, with their values."""
    text = _COMMENT.sub(_without_comment, text)
    pairs = [(m.group(1), m.group(2)) for m in _MACRO.finditer(text)]
    for declaration in _VARIABLES.finditer(text):
        if "const" in declaration.group(0):
            pairs += [(m.group(1), m.group(2)) for m in map(_VARIABLE.fullmatch, _split(declaration.group(1))) if m]
    return pairs


def _with_one_value(pairs: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """The names with their values; None for a name with several."""
    values: dict[str, str | None] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            values[name] = None
    return values


def _operate(op: ast.operator, a: int, b: int) -> int | None:
    """C's arithmetic of integers; None for what C leaves undefined and for what is none of them."""
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div() if b:
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case ast.Mod() if b:
            return abs(a) % abs(b) * (1 if a >= 0 else -1)
        case ast.LShift() if 0 <= b < 64:
            return a << b
        case ast.RShift() if 0 <= b < 64:
            return a >> b
        case ast.BitAnd():
            return a & b
        case ast.BitOr():
            return a | b
    return None


def _as_python(text: str) -> str:
    """An expression of C++ as Python writes it: ``a if c else b`` for ``c ? a : b``."""
    if "?" not in text:
        return text.replace("&&", " and ").replace("||", " or ")
    if len(parts := _split(text)) > 1:
        return ", ".join(map(_as_python, parts))
    depth, opened, question, marks, found = 0, 0, -1, 0, ""
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 1 and character in "([{":
            opened = at
        elif depth == 0 and character in ")]}":
            found += f"({_as_python(text[opened + 1 : at])})"
        elif depth == 0 and character == "?":
            marks += 1
            question = at if question < 0 else question
        elif depth == 0 and character == ":":
            marks -= 1
            if marks == 0:
                yes, no = text[question + 1 : at], text[at + 1 :]
                return f"(({_as_python(yes)}) if ({_as_python(text[:question])}) else ({_as_python(no)}))"
        elif depth == 0:
            found += character
    return found


def _split(text: str) -> list[str]:
    """The parts of a list between commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
