"""Integer constants of a C++ source: what a launch's ``<<<grid, block, smem>>>`` comes to, where the text tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Sizes in bytes, for ``sizeof``.
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "float": 4, "double": 8,
          "long long": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4}  # fmt: skip
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
_DEPTH = 20


@dataclass(frozen=True)
class Constants:
    """Names and their texts: macros and integer variables with a value, ``dim3`` variables, and functions of one
    expression: their parameters' names and that expression."""

    values: Mapping[str, str]
    extents: Mapping[str, str]
    functions: Mapping[str, tuple[tuple[str, ...], str]]

    @classmethod
    def of(cls, text: str) -> Constants:
        """The macros and constants of a whole file. A name with two values has none."""
        values: dict[str, str] = {}
        twice: set[str] = set()
        pairs = [(m.group(1), m.group(2)) for m in _MACRO.finditer(text)]
        for declaration in _VARIABLES.finditer(text):
            if "const" in declaration.group(0):
                pairs += [(m.group(1), m.group(2)) for m in map(_VARIABLE.fullmatch, _split(declaration.group(1))) if m]
        for name, value in pairs:
            if values.setdefault(name, value) != value:
                twice.add(name)
        functions = {
            match.group(1): (tuple(re.findall(r"(\w+)\s*(?:,|$)", match.group(2).strip())), match.group(3))
            for pattern in (_FUNCTION, _MACRO_FUNCTION)
            for match in pattern.finditer(text)
        }
        return cls({name: value for name, value in values.items() if name not in twice}, {}, functions)

    def inside(self, function: str) -> Constants:
        """These, and the variables of one function. A variable that is assigned again has no value."""
        values, extents = dict(self.values), dict(self.extents)
        for declaration in _VARIABLES.finditer(function):
            for variable in map(_VARIABLE.fullmatch, _split(declaration.group(1))):
                if variable and re.search(_CHANGED.format(name=variable.group(1)), function[declaration.end() :]):
                    values.pop(variable.group(1), None)
                elif variable:
                    values[variable.group(1)] = variable.group(2)
        for match in _DIM3.finditer(function):
            for variable in map(_DIM3_VARIABLE.fullmatch, _split(match.group(1))):
                if variable:
                    extents[variable.group(1)] = variable.group(2)
        return Constants(values, extents, self.functions)

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
        text = re.sub(r"sizeof\s*\(\s*([\w ]+?)\s*\)", lambda m: str(_SIZES.get(m.group(1), m.group(1))), text)
        text = re.sub(r"\(\s*(?:unsigned|int|size_t|unsigned int|float|double|uint32_t|int32_t)\s*\)", "", text)
        text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
        try:
            tree = ast.parse(text.strip().replace("&&", " and ").replace("||", " or "), mode="eval").body
        except (SyntaxError, ValueError):
            return None
        return self._evaluate(tree, depth)

    def _evaluate(self, node: ast.expr, depth: int) -> int | None:
        match node:
            case ast.Constant(value=int() as literal):
                return int(literal)
            case ast.Name(id=name):
                return self._value(self.values[name], depth + 1) if name in self.values else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._evaluate(operand, depth)
                return None if value is None else -value
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
