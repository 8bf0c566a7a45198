"""How a right number follows from the numbers of its exercise, and which slip on that way gives another number.

A formula is an expression of named quantities. A slip is the same expression with one thing changed: a quantity left
out, doubled, exchanged for another one, a rounding that goes the other way. The hint to a wrong number says which
changes give just that number. It is a guess about the learner, and is worded as one.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

#: Changes that a sentence names.
_NAMED = 2
#: Numbers below this one come out of many pairs of changes, so a pair says nothing about them.
_TELLING = 12
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "ceil": lambda number: math.ceil(number - 1e-9),
    "log2": math.log2,
    "log": math.log,
    "gcd": lambda one, other: math.gcd(int(one), int(other)),
}
_TIMES = {0.5: "half", 2: "twice", 3: "three times", 4: "four times"}


@dataclass(frozen=True)
class Quantity:
    """A number of an exercise.

    what: a name for the sentence, "the threads of a block"; value: the number; instead: other values that a learner
    may take, each with its reason: "as many as a warp has".
    """

    what: str
    value: float
    instead: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Formula:
    """The expression of a right number. text: Python with +, -, *, / and ``ceil``, ``log2``, ``gcd``."""

    text: str
    quantities: Mapping[str, Quantity]

    @property
    def value(self) -> float:
        """The right number."""
        return _value(self._tree, self._values)

    def slips(
        self, given: float, near: Callable[[float, float], bool], *, one_off: bool = False, likely: bool = False
    ) -> str:
        """ "This is what you get without the threads of a block.", or "" where no change gives the number.

        near: whether two numbers are alike; one_off: whether the number is the right one but for 1, which many changes
        give by chance; likely: whether to leave out changes that few learners make, since something else is said.
        """
        if not math.isfinite(given):
            return ""
        telling = given >= _TELLING or not float(given).is_integer()
        if likely and "*" not in self.text and "/" not in self.text:
            telling = False  # any number is a sum of some of the others
        pairs = ((self._pairs,),) if telling else ()
        further = ((self._operations,), *pairs) if likely else ((self._others,), *pairs, (self._more,))
        for level in ((self._nearest, self._parts), *(() if one_off else further)):
            hits = [list(dict.fromkeys(words for words, number in kind() if near(given, number))) for kind in level]
            # The first of each kind, then the others.
            found = [words for rank in zip_longest(*hits) for words in rank if words]
            if likely and level in pairs and len(found) > 1:
                return ""  # a number that many changes give says nothing
            if found:
                return f"This is what you get {', or '.join(found[:_NAMED])}."
        return ""

    @cached_property
    def _tree(self) -> ast.expr:
        return ast.parse(self.text, mode="eval").body

    @property
    def _values(self) -> dict[str, float]:
        return {name: quantity.value for name, quantity in self.quantities.items()}

    def _parts(self) -> Iterator[tuple[str, float]]:
        """The quantities themselves, and the steps on the way."""
        for quantity in self.quantities.values():
            yield f"from {quantity.what} alone", quantity.value
        for node in ast.walk(self._tree):
            if isinstance(node, ast.BinOp | ast.Call) and node is not self._tree:
                names = dict.fromkeys(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
                listed = _listed([self.quantities[name].what for name in names if name in self.quantities])
                if (number := self._try(node)) is not None and not _is_rounding(node, self._tree):
                    yield f"from {listed} alone", number
        for times in (2, 0.5):
            yield f"if all of it counts {_TIMES[times]}", times * self.value

    def _nearest(self) -> Iterator[tuple[str, float]]:
        """A quantity left out or taken for another number, a rounding."""
        yield from self._tried(self._simple(self._tree))

    def _simple(self, tree: ast.expr) -> Iterator[tuple[str, ast.expr, Mapping[str, float]]]:
        yield from ((words, changed, {}) for words, changed in self._left_out(tree))
        yield from ((words, changed, {}) for words, changed in self._roundings(tree))
        left = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for name, quantity in self.quantities.items():
            for number, reason in quantity.instead if name in left else ():
                yield f"with {number:g} for {quantity.what}, {reason}", tree, {name: number}

    def _operations(self) -> Iterator[tuple[str, float]]:
        """Another operation."""
        yield from self._tried((words, tree, {}) for words, tree in self._operators())
        upside_down = _over(ast.Constant(1), self._tree)
        yield from self._tried([("with the fraction upside down", upside_down, {})])

    def _others(self) -> Iterator[tuple[str, float]]:
        """Another operation, and quantities that are doubled or exchanged."""
        yield from self._operations()
        yield from self._tried(self._exchanged())
        if "*" in self.text:
            added = ast.parse(self.text.replace("*", "+"), mode="eval").body
            yield from self._tried([("if all of them are added, not multiplied", added, {})])

    def _tried(self, changes: Iterable[tuple[str, ast.expr, Mapping[str, float]]]) -> Iterator[tuple[str, float]]:
        for words, tree, other in changes:
            if (number := self._try(tree, {**self._values, **other})) is not None:
                yield words, number

    def _pairs(self) -> Iterator[tuple[str, float]]:
        """Two of the nearest changes at a time."""
        for words, tree, values in self._simple(self._tree):
            for more, other, further in self._simple(tree):
                if more == words or values.keys() & further.keys() or " and not what " in words + more:
                    continue
                if (number := self._try(other, {**self._values, **values, **further})) is not None:
                    yield _both(*sorted((words, more), key=_order)), number

    def _try(self, tree: ast.expr, values: Mapping[str, float] | None = None) -> float | None:
        try:
            return _value(tree, values or self._values)
        except (ArithmeticError, ValueError):
            return None

    def _exchanged(self) -> Iterator[tuple[str, ast.expr, Mapping[str, float]]]:
        for one, quantity in self.quantities.items():
            yield f"with {quantity.what} taken twice", self._tree, {one: quantity.value**2}
            for other, second in self.quantities.items():
                if other > one:
                    both = {one: second.value, other: quantity.value}
                    yield f"with {quantity.what} and {second.what} exchanged", self._tree, both

    def _more(self) -> Iterator[tuple[str, float]]:
        """A quantity that counts once more or once less, and a step that counts twice where nothing else does."""
        for times in (3, 4):
            yield f"if all of it counts {_TIMES[times]}", times * self.value
        for quantity in self.quantities.values():
            if abs(quantity.value) > 1:
                yield f"with {quantity.what} once less", self.value - quantity.value
                yield f"with {quantity.what} once more", self.value + quantity.value
        for words, number in list(self._parts()):
            if words.startswith("from"):
                yield f"{words}, counted twice", 2 * number

    def _left_out(self, tree: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        """The expression without one operand; its quantities name it."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.BinOp):
                continue
            for gone, kept in ((node.left, node.right), (node.right, node.left)):
                names = dict.fromkeys(one.id for one in ast.walk(gone) if isinstance(one, ast.Name))
                what = [self.quantities[name].what for name in names if name in self.quantities]
                if not what:
                    continue
                if isinstance(node.op, ast.Sub) and gone is node.left:
                    yield f"with {self._said(kept)} and not what is left without it", _with(tree, node, kept)
                    continue
                turned = gone is node.left and isinstance(node.op, ast.Div)
                rest = _over(ast.Constant(1), kept) if turned else kept
                yield f"without {_listed(what)}", _with(tree, node, rest)

    def _roundings(self, tree: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ceil":
                yield "if the result is not rounded", _with(tree, node, node.args[0])
                down = ast.BinOp(node.args[0], ast.FloorDiv(), ast.Constant(1))
                yield "if the result is rounded down", _with(tree, node, down)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                exact = ast.BinOp(node.left, ast.Div(), node.right)
                up = ast.Call(ast.Name("ceil"), [exact], [])
                yield "if the result is not rounded", _with(tree, node, exact)
                yield "if the result is rounded up", _with(tree, node, up)

    def _operators(self) -> Iterator[tuple[str, ast.expr]]:
        """One operation in place of another one."""
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.BinOp):
                continue
            if any(isinstance(side, ast.BinOp) for side in (node.left, node.right)):
                continue  # what is a sum of sums has no short name
            left, right = self._said(node.left), self._said(node.right)
            for wrong, words in _INSTEAD.get(type(node.op), ()):
                changed = ast.BinOp(node.left, wrong(), node.right)
                yield f"if {left} and {right} are {words}", _with(self._tree, node, changed)

    def _said(self, node: ast.expr) -> str:
        names = dict.fromkeys(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        return _listed([self.quantities[name].what for name in names if name in self.quantities]) or ast.unparse(node)


_INSTEAD: Mapping[type[ast.operator], tuple[tuple[type[ast.operator], str], ...]] = {
    ast.Add: ((ast.Mult, "multiplied, not added"), (ast.Sub, "subtracted, not added")),
    ast.Sub: ((ast.Add, "added, not subtracted"),),
    ast.Mult: ((ast.Add, "added, not multiplied"), (ast.Div, "divided, not multiplied"), (ast.Pow, "a power")),
    ast.Div: ((ast.Mult, "multiplied, not divided"), (ast.Sub, "subtracted, not divided")),
    ast.FloorDiv: ((ast.Mult, "multiplied, not divided"),),
}
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: math.floor(a / b + 1e-9),
    ast.Pow: lambda a, b: float(a) ** b,
}


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return float(values[node.id])
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return float(_FUNCTIONS[node.func.id](*(_value(one, values) for one in node.args)))
    raise ValueError(f"a formula has no {ast.unparse(node)}")


def _both(one: str, other: str) -> str:
    """Words for two changes: "without the rows and the columns"."""
    return f"{one} and {other.removeprefix('without ') if one.startswith('without ') else other}"


def _order(words: str) -> tuple[bool, bool, str]:
    return not words.startswith("without "), words.startswith("if "), words


def _over(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.BinOp(one, ast.Div(), other)


def _with(tree: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    """The tree with one node, by identity, in place of another. Nodes that do not change are shared."""
    if tree is old:
        return new
    if isinstance(tree, ast.BinOp):
        return ast.BinOp(_with(tree.left, old, new), tree.op, _with(tree.right, old, new))
    if isinstance(tree, ast.Call):
        return ast.Call(tree.func, [_with(one, old, new) for one in tree.args], [])
    return tree


def _is_rounding(node: ast.expr, tree: ast.expr) -> bool:
    """Whether a step is all that a rounding around it rounds: it is the result, not rounded."""
    return isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "ceil" and node is tree.args[0]


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
