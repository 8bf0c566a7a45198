"""Wrong functions that differ from a right one by a slip, each with words for it.

A model is a right function as a learner might write it. A mutant is the model with one thing changed in its syntax
tree: a part left out, an operation or a comparison exchanged, another argument in its place, a rounding. A learner's
function that returns what a mutant returns, in every call, has probably made that slip. The hint is worded as a guess.
"""

from __future__ import annotations

import ast
import inspect
import re
import statistics
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

#: Words for a change, and the node that takes the place of another one; None where a statement is left out.
_Change = tuple[str, ast.AST, ast.AST | None]
_Function = Callable[..., Any]
_COMPARED: Mapping[type[ast.cmpop], tuple[tuple[type[ast.cmpop], str], ...]] = {
    ast.Eq: (
        (ast.GtE, "if {0} may also be more than {1}"),
        (ast.LtE, "if {0} may also be less than {1}"),
        (ast.NotEq, "if {0} is not {1}"),
    ),
    ast.LtE: ((ast.Lt, "if {0} that is just {1} does not count"), (ast.Gt, "if {0} has to be more than {1}")),
    ast.GtE: ((ast.Gt, "if {0} that is just {1} does not count"), (ast.Lt, "if {0} has to be less than {1}")),
    ast.Lt: ((ast.LtE, "if {0} that is just {1} counts, too"), (ast.Gt, "if {0} has to be more than {1}")),
    ast.Gt: ((ast.GtE, "if {0} that is just {1} counts, too"), (ast.Lt, "if {0} has to be less than {1}")),
}
_WORKED: Mapping[type[ast.operator], tuple[tuple[type[ast.operator], str], ...]] = {
    ast.Add: ((ast.Mult, "multiplied, not added"), (ast.Sub, "subtracted, not added")),
    ast.Sub: ((ast.Add, "added, not subtracted"), (ast.Div, "divided, not subtracted")),
    ast.Mult: ((ast.Add, "added, not multiplied"), (ast.Div, "divided, not multiplied")),
    ast.Div: ((ast.Mult, "multiplied, not divided"), (ast.FloorDiv, "divided by `//`, without the fraction")),
}
#: A function -> others that a learner may take, each with its words.
_CALLED: Mapping[str, Mapping[str, tuple[_Function, str]]] = {
    "max": {
        "min": (lambda *x: np.min(x[0] if len(x) == 1 else x), "with the smallest in place of the largest"),
        "mean": (lambda *x: np.mean(x[0] if len(x) == 1 else x), "with the mean in place of the largest"),
        "sum": (lambda *x: np.sum(x[0] if len(x) == 1 else x), "with the sum in place of the largest"),
        "size": (lambda *x: np.max(np.abs(x)), "with the largest in size, whatever its sign"),
    },
    "median": {
        "fmean": (np.mean, "with the mean in place of the median"),
        "least": (np.min, "with the least in place of the median"),
        "most": (np.max, "with the largest in place of the median"),
        "total": (np.sum, "with the sum in place of the median"),
        "low": (statistics.median_low, "with the lower one of the middle two, where their mean is the median"),
        "high": (statistics.median_high, "with the upper one of the middle two, where their mean is the median"),
        "first": (lambda x: x[0], "with the first one in place of the median"),
        "last": (lambda x: x[-1], "with the last one in place of the median"),
        "middle": (lambda x: x[len(x) // 2], "with the middle of what is not sorted"),
    },
    "all": {"any": (any, "if one case is enough where all have to be")},
    "any": {"all": (all, "if all cases have to be where one is enough")},
    "sum": {
        "average": (np.mean, "with the mean in place of the sum"),
        "top": (np.max, "with the largest, not the sum"),
    },
    "exp": {"exp2": (np.exp2, "with powers of 2 in place of powers of e")},
    "log": {"log2": (np.log2, "with the logarithm of base 2"), "log10": (np.log10, "with the logarithm of base 10")},
}
#: What stays away where a function of one argument is left out.
_GONE = {"abs": "the absolute value", "exp": "the power of e", "log": "the logarithm", "max": "the largest",
         "sum": "the sum", "len": "the number of them", "median": "the median"}  # fmt: skip
#: Numbers that a learner may take for a constant.
_CONSTANTS: tuple[Callable[[float], float], ...] = (
    lambda c: 2 * c, lambda c: c / 2, lambda c: c + 1, lambda c: c - 1, lambda c: 10 * c, lambda c: c / 10,
    lambda c: c * 1000, lambda c: c * 10**6, lambda c: 100 * c,
)  # fmt: skip
_SIZES: tuple[Callable[[float], float], ...] = (lambda c: c * 1.024, lambda c: c / 1.024)
_NAMED = 2
#: Words for a change of a constant.
_OTHER_NUMBER = re.compile(r"with ([-\d]|a (smaller|larger) number)")
#: Constants below this one are no sizes, in which a thousand may be taken for 1024.
_SIZE = 1000
#: An operation of two names, as its result is called.
_RESULTS: Mapping[type[ast.operator], str] = {
    ast.Add: "{0} plus {1}", ast.Sub: "{0} less {1}", ast.Mult: "{0} times {1}", ast.Div: "{0} over {1}",
}  # fmt: skip


def one_slip(models: Mapping[str, _Function], same: Callable[[_Function], bool]) -> str:
    """ "This is what you get with the smallest in place of the largest.", or "" where no mutant is the same.

    Arguments:
        models: words -> a function as a learner might write it, "" and blanks -> right ones. The names in their
            sources stand in hints, so they are words that the exercise uses.
        same: whether a function returns what the learner's does, in every call.
    """
    said: list[str] = []
    for first, model in models.items():
        for words, mutant in _single(model):
            both = f"{first}, and {words}" if first.strip() else words
            if said and _OTHER_NUMBER.match(words):  # many numbers may fit where something else does
                break
            if both not in said and same(mutant):
                said.append(both)
            if len(said) == _NAMED:
                break
        if said:
            return f"This is what you get {', or '.join(said)}."
    return ""


def two_slips(model: _Function, same: Callable[[_Function], bool]) -> str:
    """The same for two changes at a time, of which the first that is found is named."""
    try:
        tree = _tree(model)
    except OSError:  # the source is not there
        return ""
    alone = {words for words, _ in _changed(tree)}
    for words, changed in _changed(tree):
        for more, other in _changed(changed):
            # Either order gives the same function, where the first change does not make the second one possible.
            if (more >= words or more not in alone) and same(_function(other, model)):
                return f"This is what you get {words}, {'in both places' if more == words else f'and {more}'}."
    return ""


@cache
def _single(model: _Function) -> tuple[tuple[str, _Function], ...]:
    try:
        return tuple((words, _function(tree, model)) for words, tree in _changed(_tree(model)))
    except OSError:
        return ()


def _tree(model: _Function) -> ast.FunctionDef:
    found = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(found, ast.FunctionDef)
    found.body = found.body[isinstance(found.body[0], ast.Expr) :]  # without the docstring
    return found


def _function(tree: ast.FunctionDef, model: _Function) -> _Function:
    others = {f"_{name}": function for kind in _CALLED.values() for name, (function, _) in kind.items()}
    names: dict[str, Any] = {**getattr(model, "__globals__", {}), **others}
    with warnings.catch_warnings(action="ignore"):  # of a mutant that makes no sense
        exec(compile(ast.fix_missing_locations(ast.Module([tree], [])), "a wrong function", "exec"), names)
    return names[tree.name]  # type: ignore[no-any-return]


def _changed(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each tree with one change, and its words; other constants come last, since many of them may fit."""
    kinds = {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in tree.args.args}
    changes = list(_Changes(kinds).of(tree))
    for words, old, new in sorted(changes, key=_by_chance):
        changed = _Exchange(old, new).visit(tree)
        assert isinstance(changed, ast.FunctionDef)
        yield words, changed


def _by_chance(change: _Change) -> int:
    """What comes last: one more or less, and other constants, of which many may fit."""
    words, old, _ = change
    return 2 if isinstance(old, ast.Constant) else 1 if "one more" in words or "one less" in words else 0


class _Exchange(ast.NodeTransformer):
    """A copy of a tree with one node, by identity, in place of another. Nodes that do not change are shared."""

    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        """The node, or a copy with the change in it."""
        if node is self.old:
            return self.new
        if not any(one is self.old for one in ast.walk(node)):
            return node
        fields = {name: self._field(value) for name, value in ast.iter_fields(node)}
        return type(node)(**fields)

    def _field(self, value: Any) -> Any:
        if isinstance(value, list):
            return [new for one in value if (new := self.visit(one) if isinstance(one, ast.AST) else one) is not None]
        return self.visit(value) if isinstance(value, ast.AST) else value


@dataclass(frozen=True)
class _Changes:
    """The changes of a function. parameters: the name of each -> its type, as the source has it."""

    parameters: Mapping[str, str]

    def of(self, tree: ast.FunctionDef) -> Iterator[_Change]:
        """Those of each node."""
        asked = [node for node in tree.body if isinstance(node, ast.If)]
        for first, second in pairwise(asked):
            body = [second if one is first else first if one is second else one for one in tree.body]
            turned = ast.FunctionDef(**{**dict(ast.iter_fields(tree)), "body": body})
            one, other = self._question(first.test), self._question(second.test)
            if one != other:  # two questions that read alike cannot be exchanged in words
                yield f"if the question {other} comes before that {one}", tree, turned
        yield from self._everywhere(tree)
        compared = {name for node in ast.walk(tree) if isinstance(node, ast.Compare) for name in _named(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                target = self._said(node.targets[0])
                if isinstance(node.value, ast.Constant):
                    yield from self._constant(node.value, target, bool(compared.intersection(_named(node.targets[0]))))
                inside = (change for one in ast.walk(node.value) for change in self._of_expression(one))
                for words, old, new in inside:
                    yield words if re.search(rf"\b{target}\b", words) else f"{words} in {target}", old, new
            elif isinstance(node, ast.If):
                yield f"without asking {self._question(node.test)}", node, None
                yield from (change for one in ast.walk(node.test) for change in self._of_expression(one))
            elif isinstance(node, ast.For):
                yield from (change for one in ast.walk(node.iter) for change in self._of_expression(one))
            elif isinstance(node, ast.Expr):
                yield from (change for one in ast.walk(node.value) for change in self._of_expression(one))
            elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
                for other in dict.fromkeys(self._texts(tree)):
                    if other != node.value.value:
                        yield f"with {other!r} in place of {node.value.value!r}", node.value, ast.Constant(other)
            elif isinstance(node, ast.Return) and node.value is not None:
                yield from (change for one in ast.walk(node.value) for change in self._of_expression(one))

    def _of_expression(self, node: ast.AST) -> Iterator[_Change]:
        if isinstance(node, ast.Compare):
            yield from self._compare(node)
        elif isinstance(node, ast.BinOp):
            yield from self._operation(node)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.IfExp):
            yield f"with the cases of {self._names(node.test)} exchanged", node.test, _not(node.test)
            for case in (node.orelse, node.body):
                yield f"with {self._said(case)} whatever {self._names(node.test)} is", node, case
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.parameters:
            yield from self._parameter(node)
        elif isinstance(node, ast.Subscript):
            yield from self._part(node)
        elif isinstance(node, ast.comprehension) and node.ifs:
            bare = ast.comprehension(node.target, node.iter, [], node.is_async)
            yield f"without the condition on {self._names(node.ifs[0])}", node, bare

    def _compare(self, node: ast.Compare) -> Iterator[_Change]:
        left, right = self._said(node.left), self._said(node.comparators[0])
        for wrong, words in _COMPARED.get(type(node.ops[0]), ()):
            yield words.format(left, right), node, ast.Compare(node.left, [wrong()], node.comparators)
        if isinstance(node.ops[0], ast.Eq):
            for less, words in (
                (ast.BinOp(node.comparators[0], ast.Div(), ast.Constant(2)), "half of"),
                (ast.BinOp(node.comparators[0], ast.Sub(), ast.Constant(1)), "one less than"),
            ):
                yield f"if {words} {right} is enough for {left}", node, ast.Compare(node.left, [ast.GtE()], [less])

    def _operation(self, node: ast.BinOp) -> Iterator[_Change]:
        left, right = self._said(node.left), self._said(node.right)
        for wrong, words in _WORKED.get(type(node.op), ()):
            both = f"{left} is" if left == right else f"{left} and {right} are"
            yield f"if {both} {words}", node, ast.BinOp(node.left, wrong(), node.right)
        if isinstance(node.op, ast.Sub | ast.Div):
            turned = "with the fraction upside down" if isinstance(node.op, ast.Div) else f"with {right} less {left}"
            yield turned, node, ast.BinOp(node.right, node.op, node.left)
        yield f"without {right}", node, node.left
        yield f"without {left}", node, node.right

    def _call(self, node: ast.Call) -> Iterator[_Change]:
        name = _called(node)
        for other, (_, words) in _CALLED.get(name, {}).items():
            yield words, node.func, ast.Name(f"_{other}", ast.Load())
        if name == "max" and len(node.args) > 1:
            for one in node.args:
                yield f"with {self._said(one)} in place of the largest", node, one
        if name in _GONE and len(node.args) == 1:
            yield f"without {_GONE[name]} of {self._said(node.args[0])}", node, node.args[0]

    def _everywhere(self, tree: ast.FunctionDef) -> Iterator[_Change]:
        """Another function in all the places in which one is called."""
        for name, others in _CALLED.items():
            places = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == name]
            for other, (_, words) in others.items() if len(places) > 1 else ():
                changed = tree
                for place in places:
                    changed = _Exchange(place, ast.Name(f"_{other}", ast.Load())).visit(changed)
                yield words, tree, changed

    def _constant(self, node: ast.Constant, name: str, limit: bool) -> Iterator[_Change]:
        assert isinstance(node.value, int | float)
        for other in (*_CONSTANTS, *(_SIZES if abs(node.value) >= _SIZE else ())):
            number = other(node.value)
            number = int(number) if number == int(number) else number
            # A limit lies between two calls, and any number between these two is like another one.
            near = abs(number - node.value) <= 1 or abs(node.value) < _SIZE
            said = f"a {'smaller' if number < node.value else 'larger'} number" if limit and not near else f"{number:g}"
            yield f"with {said} for {name}", node, ast.Constant(number)

    def _texts(self, tree: ast.FunctionDef) -> Iterator[str]:
        """The texts that a function returns."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and type(node.value.value) is str:
                yield node.value.value

    def _parameter(self, node: ast.Name) -> Iterator[_Change]:
        kind = self.parameters[node.id]
        for other in self.parameters:
            if other != node.id and self.parameters[other] == kind:
                yield f"with {other} for {node.id}", node, ast.Name(other, ast.Load())
        if kind.startswith("Sequence"):
            ordered = ast.Call(ast.Name("sorted", ast.Load()), [node], [])
            yield f"if {node.id} is sorted first", node, ordered
        if kind == "int":
            for step, words in ((1, "one more"), (-1, "one less")):
                yield f"with {node.id} {words}", node, ast.BinOp(node, ast.Add(), ast.Constant(step))

    def _part(self, node: ast.Subscript) -> Iterator[_Change]:
        whole = self._said(node.value)
        if not isinstance(node.slice, ast.Slice):
            return
        yield f"with all of {whole}", node, node.value
        if node.slice.upper is None and node.slice.lower is not None:
            start = node.slice.lower
            ends = ast.Subscript(node.value, ast.Slice(None, start), ast.Load())
            yield f"with the beginning of {whole}, and not what comes after it", node, ends
            length = ast.Call(ast.Name("len", ast.Load()), [node.value], [])
            cut = ast.Subscript(node.value, ast.Slice(None, ast.BinOp(length, ast.Sub(), start)), ast.Load())
            yield f"if the end of {whole} is left out, and not the beginning", node, cut

    def _said(self, node: ast.AST) -> str:
        """The name of an expression, what a short one is called, or "the part with" the names in it."""
        names = self._names(node)
        if isinstance(node, ast.Name | ast.Constant) or not _named(node):
            return names
        if isinstance(node, ast.BinOp) and type(node.op) in _RESULTS and _is_short(node.left) and _is_short(node.right):
            return _RESULTS[type(node.op)].format(self._said(node.left), self._said(node.right))
        if isinstance(node, ast.Subscript) and _is_short(node.value) and _is_short(node.slice):
            return f"{self._said(node.value)}[{self._said(node.slice)}]"
        if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) in _GONE:
            return f"{_GONE[_called(node)]} of {self._said(node.args[0])}"
        return f"the part with {names}"

    def _question(self, test: ast.expr) -> str:
        """ "for share and limit", "whether b is 0", "whether all of the cases are true"."""
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            return f"whether {self._said(test.left)} is {self._said(test.comparators[0])}"
        if isinstance(test, ast.Call) and _called(test) in ("all", "any"):
            return f"whether {_called(test)} of {self._names(test)} are true"
        return f"for {self._names(test)}"

    def _names(self, node: ast.AST) -> str:
        """The names in an expression, of which those of functions and constants of the module do not count."""
        names = [name if name in self.parameters else _plainly(name) for name in _named(node)]
        return " and ".join(names) or ast.unparse(node).replace("INF", "inf")


def _plainly(name: str) -> str:
    """The name of a variable in words; a single letter is marked, since it reads like a word."""
    return name.replace("_", " ") if name[1:] else f"`{name}`"


def _is_short(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _named(node: ast.AST) -> list[str]:
    called = {id(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
    modules = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    found = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in called | modules]
    return [name for name in dict.fromkeys(found) if not name.isupper()]


def _not(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)
